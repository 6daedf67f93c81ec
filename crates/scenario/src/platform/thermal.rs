// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones of a platform file: as they are written, what must hold for them, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use pelton_model::Machine;
use pelton_model::thermal::{HeatStage, ThermalZone, TripPoint};

use super::describe::Fact;
use super::file::PlatformFile;
use super::provenance::Quality;
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::tree::{At, Reader};

/// Temperature around a zone that says none, degrees Celsius.
const AMBIENT_C: f64 = 25.0;
/// Most domains of a zone.
const DOMAINS_MAX: usize = 16;
/// Temperatures that are taken, degrees Celsius.
pub(crate) const TEMPERATURE_C: RangeInclusive<f64> = -50.0..=200.0;
/// Largest hysteresis, degrees.
pub(crate) const HYSTERESIS_C_MAX: f64 = 100.0;
/// Longest times between readings, ms: while a zone is cooled, and otherwise.
pub(crate) const PASSIVE_MS_MAX: u64 = 60_000;
pub(crate) const POLLING_MS_MAX: u64 = 600_000;
/// Largest power that a zone can stand, mW.
pub(crate) const SUSTAINABLE_MW_MAX: u64 = 1_000_000;

/// `[[thermal_zone]]`.
#[derive(Clone, Debug)]
pub struct ZoneRow {
    /// Place of the table in the file.
    pub span: Range<usize>,
    /// Name.
    pub id: At<String>,
    /// Source of trips and delays.
    pub source: String,
    /// CPUs that heat it.
    pub cpus: Vec<At<u32>>,
    /// Weight of each domain.
    pub weights: Vec<At<u32>>,
    /// Time between readings while it is cooled.
    pub passive_ms: u32,
    /// Time between readings otherwise.
    pub polling_ms: u32,
    /// Power that it can stand.
    pub sustainable_mw: Option<At<u32>>,
    /// Temperature around it.
    pub ambient_c: Option<At<f64>>,
    /// Temperature at the start.
    pub start_c: Option<At<f64>>,
    /// Power of everything else.
    pub other_mw: Option<At<f64>>,
    /// Trips.
    pub trips: Vec<TripRow>,
    /// Way of heat.
    pub stages: Vec<HeatStage>,
    /// Degree to which the stages are known.
    pub stage_quality: Option<At<String>>,
    /// Source of the stages.
    pub stage_source: Option<At<String>>,
}

/// `[[thermal_zone.trip]]`.
#[derive(Clone, Debug)]
pub struct TripRow {
    /// Temperature.
    pub temperature_c: At<f64>,
    /// Hysteresis.
    pub hysteresis_c: f64,
    /// CPUs that it slows down.
    pub cools: Vec<At<u32>>,
    /// True where the trip cools nothing.
    pub only_switches_on: bool,
}

pub(super) fn zone(at: At<Reader<'_>>) -> Option<ZoneRow> {
    let table = at.value;
    Some(ZoneRow {
        span: at.span,
        id: table.text("id")?,
        source: table.text("source")?.value,
        cpus: table.ints("cpus"),
        weights: table.ints("weights"),
        passive_ms: table.int("passive_ms")?.value,
        polling_ms: table.int("polling_ms").map_or(0, |ms| ms.value),
        sustainable_mw: table.int("sustainable_mw"),
        ambient_c: table.real("ambient_c"),
        start_c: table.real("start_c"),
        other_mw: table.real("other_mw"),
        trips: table.tables("trip").into_iter().filter_map(|row| trip(row.value)).collect(),
        stages: table.tables("stage").into_iter().filter_map(|row| stage(row.value)).collect(),
        stage_quality: table.text("stage_quality"),
        stage_source: table.text("stage_source"),
    })
}

fn trip(row: Reader<'_>) -> Option<TripRow> {
    Some(TripRow {
        temperature_c: row.real("temperature_c")?,
        hysteresis_c: row.real("hysteresis_c").map_or(0.0, |c| c.value),
        cools: row.ints("cools"),
        only_switches_on: row.flag("only_switches_on").is_some_and(|f| f.value),
    })
}

fn stage(row: Reader<'_>) -> Option<HeatStage> {
    Some(HeatStage {
        mk_per_w: milli(row.real("k_per_w")?.value) as u32,
        mj_per_k: milli(row.real("j_per_k")?.value) as u32,
    })
}

/// Thousandths.
fn milli(value: f64) -> i64 {
    (value * 1000.0).round() as i64
}

impl ZoneRow {
    /// The zone of the machine, whose domains exist by now.
    pub(super) fn zone(&self, machine: &Machine) -> ThermalZone {
        let domains = domains(&self.cpus, machine);
        let ambient_c = self.ambient_c.as_ref().map_or(AMBIENT_C, |c| c.value);
        let trip = |row: &TripRow| TripPoint {
            temp_mc: milli(row.temperature_c.value) as i32,
            hysteresis_mc: milli(row.hysteresis_c) as i32,
            cools: match (row.only_switches_on, row.cools.is_empty()) {
                (true, _) => Vec::new(),
                (false, true) => domains.clone(),
                (false, false) => self::domains(&row.cools, machine),
            },
        };
        ThermalZone {
            name: self.id.value.clone(),
            weights: (0..domains.len()).map(|i| self.weights.get(i).map_or(0, |w| w.value)).collect(),
            ambient_mc: milli(ambient_c) as i32,
            start_mc: milli(self.start_c.as_ref().map_or(ambient_c, |c| c.value)) as i32,
            stages: self.stages.clone(),
            assumed: self.stage_quality.as_ref().is_some_and(|quality| quality.value == "assumed"),
            other_uw: milli(self.other_mw.as_ref().map_or(0.0, |mw| mw.value)) as u64,
            trips: self.trips.iter().map(trip).collect(),
            passive_ms: self.passive_ms,
            polling_ms: self.polling_ms,
            sustainable_mw: self.sustainable_mw.as_ref().map_or(0, |mw| mw.value),
            domains,
        }
    }
}

/// Frequency domains of these CPUs, ascending.
fn domains(cpus: &[At<u32>], machine: &Machine) -> Vec<u32> {
    let of = |cpu: &At<u32>| machine.cpus.get(cpu.value as usize).map(|cpu| cpu.domain);
    cpus.iter().filter_map(of).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Everything that is wrong with the zones of a file.
pub(super) fn check(file: &PlatformFile, found: &mut Diagnostics) {
    let (mut ids, mut owners) = (BTreeSet::new(), BTreeMap::new());
    for row in &file.thermal_zones {
        if !ids.insert(&row.id.value) {
            let at = file.source.error(row.id.span.clone(), format!("two thermal zones are called `{}`", row.id.value));
            found.push(at.help("give each [[thermal_zone]] its own id"));
        }
        whole_domains(file, row, found);
        trips(&file.source, row, found);
        quality(&file.source, row, found);
        for cpu in &row.cpus {
            if let Some(first) = owners.insert(cpu.value, &row.id.value) {
                let at = file.source.error(cpu.span.clone(), format!("CPU {} heats two zones", cpu.value));
                found.push(at.label(format!("also `{first}`")).help("name it in one zone"));
            }
        }
    }
}

fn whole_domains(file: &PlatformFile, row: &ZoneRow, found: &mut Diagnostics) {
    let named: BTreeSet<u32> = row.cpus.iter().map(|cpu| cpu.value).collect();
    let mut members = 0;
    for domain in &file.domains {
        let inside = domain.cpus.iter().filter(|cpu| named.contains(&cpu.value)).count();
        members += inside;
        if inside > 0 && inside < domain.cpus.len() && !domain.per_cpu_policy {
            let what = format!("`cpus` has a part of domain `{}`", domain.id.value);
            found.push(file.source.error(row.cpus[0].span.clone(), what).help("name all CPUs of the domain"));
        }
    }
    if let Some(cpu) =
        row.cpus.iter().find(|cpu| file.domains.iter().all(|d| d.cpus.iter().all(|c| c.value != cpu.value)))
    {
        found.push(file.source.error(cpu.span.clone(), format!("CPU {} does not exist", cpu.value)));
    } else if members == 0 {
        found.push(file.source.error(row.span.clone(), "`cpus` is empty").help("name the CPUs that heat the zone"));
    }
    let count = file.domains.iter().filter(|d| d.cpus.iter().any(|cpu| named.contains(&cpu.value)));
    let count: usize = count.map(|d| if d.per_cpu_policy { d.cpus.len() } else { 1 }).sum();
    if count > DOMAINS_MAX {
        let at = file.source.error(row.cpus[0].span.clone(), format!("{count} frequency domains in one zone"));
        found.push(at.allowed(format!("at most {DOMAINS_MAX}")));
    }
    if let Some(weight) = row.weights.first().filter(|_| row.weights.len() != count) {
        let at = file.source.error(weight.span.clone(), format!("{} weights for {count} domains", row.weights.len()));
        found.push(at.help("give a weight for each domain, in the order of CPU numbers"));
    }
}

fn trips(source: &SourceFile, row: &ZoneRow, found: &mut Diagnostics) {
    if row.trips.is_empty() {
        found.push(source.error(row.span.clone(), "the zone has no trip").help("add [[thermal_zone.trip]]"));
    }
    for pair in row.trips.windows(2) {
        if pair[1].temperature_c.value <= pair[0].temperature_c.value {
            let at = source.error(pair[1].temperature_c.span.clone(), "trips are out of order");
            found.push(
                at.allowed(format!("more than {}", pair[0].temperature_c.value)).help("list trips coolest first"),
            );
        }
    }
    let named: BTreeSet<u32> = row.cpus.iter().map(|cpu| cpu.value).collect();
    for cpu in row.trips.iter().flat_map(|trip| &trip.cools).filter(|cpu| !named.contains(&cpu.value)) {
        let at = source.error(cpu.span.clone(), format!("`cools` names CPU {}, which is not in the zone", cpu.value));
        found.push(at.help("a trip slows down CPUs of its zone"));
    }
    if let Some(last) = row.trips.last().filter(|trip| trip.only_switches_on) {
        let at = source.error(last.temperature_c.span.clone(), "the last trip cools nothing");
        found.push(at.help("power_allocator holds the temperature of the last trip: let it cool"));
    }
}

fn quality(source: &SourceFile, row: &ZoneRow, found: &mut Diagnostics) {
    if !row.stages.is_empty() && (row.stage_quality.is_none() || row.stage_source.is_none()) {
        let at = source.error(row.span.clone(), format!("zone `{}` does not say how `stage` is known", row.id.value));
        found.push(at.help("add `stage_quality` (measured, published or assumed) and `stage_source`"));
    }
}

/// Trips and way of heat of a zone, each with its source.
pub(super) fn facts(row: &ZoneRow) -> Vec<Fact> {
    let fact = |what: &str, value: String, unit: &str, quality: Quality, provenance: &str| Fact {
        name: format!("thermal_zone {}: {what}", row.id.value),
        value,
        unit: unit.into(),
        quality,
        provenance: provenance.to_owned(),
    };
    let trips: Vec<String> = row.trips.iter().map(|trip| trip.temperature_c.value.to_string()).collect();
    let mut facts =
        vec![fact("trips", trips.join(" "), "C", Quality::of(&format!("source: {}", row.source)), &row.source)];
    if let Some(mw) = &row.sustainable_mw {
        facts.push(fact(
            "sustainable",
            mw.value.to_string(),
            "mW",
            Quality::of(&format!("source: {}", row.source)),
            &row.source,
        ));
    }
    let of = |stage: &HeatStage| format!("{}/{}", f64::from(stage.mk_per_w) / 1e3, f64::from(stage.mj_per_k) / 1e3);
    let stages: Vec<String> = row.stages.iter().map(of).collect();
    if let (false, Some(quality), Some(source)) = (stages.is_empty(), &row.stage_quality, &row.stage_source) {
        let quality = if quality.value == "assumed" { Quality::of("ESTIMATE") } else { Quality::of(&quality.value) };
        facts.push(fact("stages", stages.join(" "), "K/W / J/K", quality, &source.value));
    }
    facts
}
