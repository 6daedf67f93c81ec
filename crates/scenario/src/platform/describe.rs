// SPDX-License-Identifier: GPL-2.0-or-later
//! A platform for people: every figure with its quality and its source. Printing is the caller's.

use std::fmt::Display;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use pelton_model::machine::FreqDomain;

use super::builtin::source_in_words;
use super::file::{Arch, Domain, EnergyTable, IdleRow, PlatformFile};
use super::machine::{PlatformOptions, frequencies};
use super::power::PowerSource;
use super::provenance::{Quality, column_part, comment_above, comment_behind};
use crate::diagnostic::Diagnostics;

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fact {
    /// Key of the file.
    pub name: String,
    /// Value.
    pub value: String,
    /// Unit; empty when there is none.
    pub unit: String,
    /// Degree to which the figure can be trusted.
    pub quality: Quality,
    /// Source of the figure, in the words of the file.
    pub provenance: String,
}

/// A column of figures with one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Degree to which the figures can be trusted.
    pub quality: Quality,
    /// Source of the figures.
    pub provenance: String,
}

/// One operating point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OppDescription {
    /// Frequency, kHz.
    pub khz: u32,
    /// Capacity there, when the domain has one.
    pub capacity: Option<u32>,
    /// Voltage, microvolts.
    pub uv: Option<u32>,
    /// Power of one busy CPU as the kernel has it, microwatts (thousandths of the unit given in the description).
    pub power_uw: Option<u64>,
    /// Power that is drawn, where the file states it.
    pub drawn: Option<DrawnDescription>,
}

/// Power drawn at one operating point, microwatts (thousandths of the unit given in the description); where another
/// domain is on the supply, while that one asks for least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrawnDescription {
    /// One busy CPU.
    pub busy_uw: u64,
    /// One CPU in state 0.
    pub wfi_uw: Option<u64>,
    /// The part that the CPUs share, while one of them is awake.
    pub shared_uw: Option<u64>,
}

/// One idle state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IdleDescription {
    /// Name.
    pub name: String,
    /// Time to enter, us.
    pub entry_latency_us: u64,
    /// Time to leave, us.
    pub exit_latency_us: u64,
    /// Shortest stay that pays, us.
    pub min_residency_us: u64,
    /// Degree to which the figures can be trusted.
    pub quality: Quality,
    /// Source of the figures.
    pub provenance: String,
}

/// One domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DomainDescription {
    /// Name.
    pub id: String,
    /// Kind of CPU.
    pub core: String,
    /// CPU numbers.
    pub cpus: Vec<u32>,
    /// Every CPU has its own frequency.
    pub per_cpu_policy: bool,
    /// Single figures.
    pub facts: Vec<Fact>,
    /// Source of the power figures by which the kernel decides.
    pub power: String,
    /// Source of the power that is drawn: the table, and the origin of idle power; empty where the file states nothing.
    pub drawn: String,
    /// The columns of `opps`.
    pub columns: Vec<Column>,
    /// Operating points.
    pub opps: Vec<OppDescription>,
    /// Idle states including state 0.
    pub idle_states: Vec<IdleDescription>,
}

/// One energy table of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableDescription {
    /// Name.
    pub name: String,
    /// Quality.
    pub quality: Quality,
    /// Source.
    pub source: String,
    /// Unit.
    pub unit: String,
    /// Remarks.
    pub note: String,
    /// Number of rows.
    pub rows: usize,
    /// True for the table from which the power figures come.
    pub used: bool,
}

/// A whole platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Description {
    /// Short name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The chip.
    pub soc: String,
    /// Sort of device.
    pub kind: String,
    /// Sources that hold for the whole file.
    pub provenance: Vec<(String, String)>,
    /// Driver and costs.
    pub facts: Vec<Fact>,
    /// Unit of the kernel's power figures.
    pub power_unit: String,
    /// Unit of what is drawn.
    pub drawn_unit: String,
    /// Domains in the order of CPU numbers.
    pub domains: Vec<DomainDescription>,
    /// Energy tables.
    pub energy_tables: Vec<TableDescription>,
    /// Remarks.
    pub notes: Vec<(String, String)>,
    /// Facts that the file does not state, and the values taken instead.
    pub assumptions: Vec<String>,
    /// Reasons why the platform cannot be simulated; empty when it can.
    pub obstacles: Vec<String>,
}

/// Describes a platform by name or path.
pub fn show(name_or_path: &str, options: &PlatformOptions) -> Result<Description, Diagnostics> {
    super::load(name_or_path).map(|file| file.describe(options))
}

impl PlatformFile {
    /// Every figure with its quality and source. Works for machines that cannot be simulated, too.
    pub fn describe(&self, options: &PlatformOptions) -> Description {
        let built = self.build(options);
        let obstacles =
            built.as_ref().err().map_or_else(Vec::new, |d| d.iter().map(|d| d.message().to_owned()).collect());
        let sources = built.as_ref().map_or_else(|_| Vec::new(), |b| b.power.clone());
        let drawn = built.as_ref().ok().and_then(|b| b.drawn.as_deref());
        let mut order: Vec<&Domain> = self.domains.iter().collect();
        order.sort_by_key(|d| d.cpus.iter().map(|c| c.value).min());
        let describe = |d: &&Domain| {
            let source =
                sources.iter().find(|(id, _)| *id == d.id.value).map_or(PowerSource::Unknown, |(_, s)| s.clone());
            let machine = built.as_ref().ok().map(|b| &b.machine);
            let first = d.cpus.first().map_or(0, |c| c.value);
            let live = machine.map(|m| &m.domains[m.cpus[first as usize].domain as usize]);
            self.describe_domain(d, &source, live, drawn)
        };
        Description {
            name: self.name.value.clone(),
            title: self.title.clone(),
            soc: self.soc.clone(),
            kind: self.kind.clone(),
            provenance: self.provenance.clone(),
            facts: self.machine_facts(),
            power_unit: built.as_ref().map_or_else(|_| "mW".into(), |b| b.power_unit.clone()),
            drawn_unit: built.as_ref().map_or_else(|_| "mW".into(), |b| b.drawn_unit.clone()),
            domains: order.iter().map(describe).collect(),
            energy_tables: self.energy_tables.iter().map(|t| describe_table(t, &sources, drawn)).collect(),
            notes: self.notes.clone(),
            assumptions: built.as_ref().map_or_else(|_| Vec::new(), |b| b.assumptions.clone()),
            obstacles,
        }
    }

    fn fact(&self, name: &str, value: impl Display, unit: &str, span: &Range<usize>) -> Fact {
        let own = comment_behind(self.source.text(), span);
        let provenance = if own.is_empty() { comment_above(self.source.text(), span) } else { own };
        Fact {
            name: name.into(),
            value: value.to_string(),
            unit: unit.into(),
            quality: Quality::of(&provenance),
            provenance,
        }
    }

    fn machine_facts(&self) -> Vec<Fact> {
        let drv = &self.cpufreq;
        let mut facts = Vec::new();
        facts.extend(drv.driver.as_ref().map(|v| self.fact("driver", &v.value, "", &v.span)));
        facts.extend(drv.fast_switch.as_ref().map(|v| self.fact("fast_switch", v.value, "", &v.span)));
        facts.extend(
            drv.transition_latency_ns.as_ref().map(|v| self.fact("transition_latency_ns", v.value, "ns", &v.span)),
        );
        facts
            .extend(drv.transition_delay_us.as_ref().map(|v| self.fact("transition_delay_us", v.value, "us", &v.span)));
        facts.extend(drv.switch_time_us.as_ref().map(|v| self.fact("switch_time_us", v.value, "us", &v.span)));
        facts.extend(drv.firmware_poll_us.as_ref().map(|v| self.fact("firmware_poll_us", v.value, "us", &v.span)));
        facts.extend(drv.firmware_raise_us.as_ref().map(|v| self.fact("firmware_raise_us", v.value, "us", &v.span)));
        let after = drv.firmware_after_tick_us.as_ref();
        facts.extend(after.map(|v| self.fact("firmware_after_tick_us", v.value, "us", &v.span)));
        facts.extend(drv.driver_sleeps.as_ref().map(|v| self.fact("driver_sleeps", v.value, "", &v.span)));
        facts.extend(drv.rate_limit_us.as_ref().map(|v| self.fact("rate_limit_us", v.value, "us", &v.span)));
        facts.extend(drv.dvfs_from_any_cpu.as_ref().map(|v| self.fact("dvfs_from_any_cpu", v.value, "", &v.span)));
        let since = drv.freq_invariant_since.as_ref();
        facts.extend(since.map(|v| self.fact("freq_invariant_since", &v.value, "", &v.span)));
        facts.extend(drv.freq_invariant.as_ref().map(|v| self.fact("freq_invariant", v.value, "", &v.span)));
        let (table, limits) = (drv.frequency_table.as_ref(), drv.every_limit_change.as_ref());
        facts.extend(table.map(|v| self.fact("frequency_table", v.value, "", &v.span)));
        facts.extend(limits.map(|v| self.fact("every_limit_change", v.value, "", &v.span)));
        facts.extend(drv.emulated.as_ref().map(|v| self.fact("emulated", v.value, "", &v.span)));
        let topology = &self.topology;
        facts.extend(topology.smt_throughput.as_ref().map(|v| self.fact("smt_throughput", v.value, "", &v.span)));
        facts.extend(topology.one_clock.as_ref().map(|v| self.fact("one_clock", v.value, "", &v.span)));
        facts.extend(topology.one_at_a_time.as_ref().map(|v| self.fact("one_at_a_time", v.value, "", &v.span)));
        facts.extend(topology.idle_watches_flag.as_ref().map(|v| self.fact("idle_watches_flag", v.value, "", &v.span)));
        facts.extend(self.costs.iter().map(|(name, v)| self.fact(name, v.value, "ns", &v.span)));
        facts.extend(self.cluster_active_mw.as_ref().map(|v| self.fact("cluster_active_mw", v.value, "mW", &v.span)));
        facts.extend(self.rest_mw.as_ref().map(|v| self.fact("rest_mw", v.value, "mW", &v.span)));
        facts.extend(self.thermal_zones.iter().flat_map(super::thermal::facts));
        facts
    }

    fn describe_domain(
        &self,
        domain: &Domain,
        source: &PowerSource,
        live: Option<&FreqDomain>,
        table: Option<&str>,
    ) -> DomainDescription {
        let mut facts = Vec::new();
        facts.extend(domain.capacity.as_ref().map(|v| self.fact("capacity", v.value, "", &v.span)));
        facts.extend(domain.capacity_dmips_mhz.as_ref().map(|v| self.fact("capacity_dmips_mhz", v.value, "", &v.span)));
        facts.extend(
            domain
                .dynamic_power_coefficient
                .as_ref()
                .map(|v| self.fact("dynamic_power_coefficient", v.value, "uW/MHz/V^2", &v.span)),
        );
        facts.extend(domain.khz_base.as_ref().map(|v| self.fact("khz_base", v.value, "kHz", &v.span)));
        let turbo = domain.turbo_khz.iter().map(|k| k.value.to_string()).collect::<Vec<_>>().join(" ");
        let name = "turbo_khz_by_active_cores";
        facts.extend(domain.turbo_khz.first().map(|v| self.fact(name, turbo, "kHz", &v.span)));
        facts.extend(domain.scale_khz.as_ref().map(|v| self.fact("scale_khz", v.value, "kHz", &v.span)));
        let khz = frequencies(domain);
        let top = khz.last().copied().unwrap_or(1);
        let opp = |(i, &khz): (usize, &u32)| OppDescription {
            khz,
            // Energy Model: performance = capacity x f / f_max (docs/rules/placement.md#energy-model).
            capacity: domain.capacity.as_ref().map(|c| (u64::from(c.value) * u64::from(khz) / u64::from(top)) as u32),
            uv: domain.opps.get(i).and_then(|o| o.uv.as_ref()).map(|uv| uv.value),
            power_uw: live.and_then(|l| l.opps.get(i)).map(|o| o.power_uw).filter(|_| *source != PowerSource::Unknown),
            drawn: live.and_then(|l| drawn_at(l, i)),
        };
        DomainDescription {
            id: domain.id.value.clone(),
            core: domain.core.clone(),
            cpus: domain.cpus.iter().map(|c| c.value).collect(),
            per_cpu_policy: domain.per_cpu_policy,
            facts,
            power: source_in_words(source),
            drawn: drawn_in_words(domain, table),
            columns: self.columns(domain, source),
            opps: khz.iter().enumerate().map(opp).collect(),
            idle_states: self.describe_idle(domain),
        }
    }

    fn columns(&self, domain: &Domain, source: &PowerSource) -> Vec<Column> {
        let text = self.source.text();
        let at = domain.opps_span.clone().or_else(|| domain.khz_min.as_ref().map(|k| k.span.clone()));
        let comment = at.map_or_else(String::new, |span| comment_above(text, &span));
        let part = |name: &str| column_part(&comment, name).unwrap_or(&comment).to_owned();
        let column = |name: &str, unit: &str, provenance: String| Column {
            name: name.into(),
            unit: unit.into(),
            quality: Quality::of(&provenance),
            provenance,
        };
        let khz = column_part(&comment, "kHz").or_else(|| column_part(&comment, "OPPs")).unwrap_or(&comment);
        let mut columns = vec![column("khz", "kHz", khz.to_owned())];
        if domain.opps.iter().any(|o| o.uv.is_some()) {
            columns.push(column("uv", "uV", column_part(&comment, "uv").map_or_else(|| part("OPPs"), str::to_owned)));
        }
        let power = match source {
            PowerSource::Unknown => return columns,
            PowerSource::Written => part("power_mw"),
            PowerSource::Coefficient => "computed = coefficient * MHz * V^2".into(),
            PowerSource::Model => domain.quality.as_ref().map_or_else(String::new, |q| q.value.clone()),
            PowerSource::Table(name) => self
                .energy_tables
                .iter()
                .find(|t| t.name.value == *name)
                .map_or_else(String::new, |t| format!("{}: {}", t.quality, t.source)),
        };
        let mut power = column("power", "mW", power);
        // A power computed from an estimated voltage is an estimate.
        if matches!(source, PowerSource::Written | PowerSource::Coefficient) && power.quality == Quality::Computed {
            power.quality = columns.get(1).map_or(power.quality, |uv| uv.quality.max(power.quality));
        }
        columns.push(power);
        columns
    }

    fn describe_idle(&self, domain: &Domain) -> Vec<IdleDescription> {
        let (name, us) = if self.arch == Arch::Arm { ("WFI", 1) } else { ("POLL", 0) };
        let convention = "added by convention of the kernel".to_owned();
        let first = IdleDescription {
            name: name.into(),
            entry_latency_us: 0,
            exit_latency_us: us,
            min_residency_us: us,
            quality: Quality::Assumed,
            provenance: convention,
        };
        std::iter::once(first).chain(domain.idle_states.iter().map(|s| self.describe_state(s))).collect()
    }

    fn describe_state(&self, state: &IdleRow) -> IdleDescription {
        let text = self.source.text();
        let spans = [&state.min_residency_us.span, &state.exit_latency_us.span, &state.name.span];
        let behind = spans.into_iter().map(|span| comment_behind(text, span)).find(|c| !c.is_empty());
        let provenance = behind.unwrap_or_else(|| comment_above(text, &state.span));
        IdleDescription {
            name: state.name.value.clone(),
            entry_latency_us: state.entry_latency_us,
            exit_latency_us: state.exit_latency_us.value,
            min_residency_us: state.min_residency_us.value,
            quality: Quality::of(&provenance),
            provenance,
        }
    }
}

fn drawn_at(domain: &FreqDomain, opp: usize) -> Option<DrawnDescription> {
    let rail = domain.draws.rails.get(domain.draws.quiet_rail() as usize)?;
    Some(DrawnDescription {
        busy_uw: *rail.busy_uw.get(opp)?,
        wfi_uw: rail.idle_uw.first().and_then(|row| row.get(opp)).copied(),
        shared_uw: rail.shared_uw.get(opp).copied(),
    })
}

/// Source of the power that a domain draws, in words.
fn drawn_in_words(domain: &Domain, table: Option<&str>) -> String {
    let of_table = table.map(|name| format!("table {name}"));
    let idle = domain.idle_power.as_ref().map(|idle| format!("idle power ({}): {}", idle.quality, idle.source));
    of_table.into_iter().chain(idle).collect::<Vec<_>>().join("; ")
}

fn describe_table(table: &EnergyTable, sources: &[(String, PowerSource)], drawn: Option<&str>) -> TableDescription {
    TableDescription {
        name: table.name.value.clone(),
        quality: Quality::of(&table.quality),
        source: table.source.clone(),
        unit: table.unit.clone(),
        note: table.note.clone(),
        rows: table.rows.len(),
        used: drawn == Some(&table.name.value)
            || sources.iter().any(|(_, s)| *s == PowerSource::Table(table.name.value.clone())),
    }
}
