// SPDX-License-Identifier: GPL-2.0-or-later
//! Heat in a device tree (binding `thermal/thermal-zones.yaml`): zones with passive trips that slow down CPUs. No tree
//! states how a board heats: such a zone can be shown, and is cooled once a stage is added.

use super::cells::{Node, Part, Tree};
use super::draft::Domain;
use crate::diagnostic::Diagnostic;
use crate::platform::thermal::{HYSTERESIS_C_MAX, PASSIVE_MS_MAX, POLLING_MS_MAX, SUSTAINABLE_MW_MAX, TEMPERATURE_C};
use pelton_core::TRIPS_MAX;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Interval of readings while a zone is cooled, where a tree gives none, ms.
const PASSIVE_MS: u64 = 250;

/// Zone in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zone {
    /// Name.
    pub id: String,
    /// CPUs that it slows down: whole domains.
    pub cpus: Vec<u32>,
    /// Time between readings while it is cooled, ms.
    pub passive_ms: u64,
    /// Time between readings otherwise, ms; 0 = the sensor interrupts.
    pub polling_ms: u64,
    /// Power that it can stand, mW.
    pub sustainable_mw: Option<u64>,
    /// Weight of each domain, when the tree has some.
    pub weights: Vec<u64>,
    /// Passive trips, coolest first.
    pub trips: Vec<Trip>,
}

/// Passive trip in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trip {
    /// Temperature, millidegrees Celsius.
    pub temp_mc: i64,
    /// Hysteresis, millidegrees.
    pub hysteresis_mc: i64,
    /// CPUs whose domains it slows down.
    pub cools: BTreeSet<u32>,
}

/// `THERMAL_NO_LIMIT`: as little, or as much, as the cooler can.
const NO_LIMIT: u64 = 0xffff_ffff;

/// An entry of `cooling-maps` that names CPUs.
struct Map {
    trip: Part,
    is_limited: bool,
    cpus: BTreeSet<u32>,
    contribution: Option<u64>,
}

/// Zones that slow down CPUs, whose nodes are in the order of their numbers. A CPU is in one zone: the first that names
/// it.
///
/// # Errors
/// Numbers that are none.
pub fn zones(
    tree: &Tree,
    cpus: &[&Node],
    domains: &[Domain],
    assumed: &mut Vec<String>,
) -> Result<Vec<Zone>, Diagnostic> {
    let mut zones: Vec<Zone> = Vec::new();
    for node in tree.root.child("thermal-zones").map_or(&[][..], |zones| &zones.children) {
        let Some(zone) = zone(tree, node, cpus, domains, assumed)? else { continue };
        match zones.iter().find(|first| first.cpus.iter().any(|cpu| zone.cpus.contains(cpu))) {
            None => zones.push(zone),
            Some(first) => assumed.push(format!(
                "thermal zone {} slows down CPUs of {} as well: left out, a CPU is in one zone here",
                zone.id, first.id
            )),
        }
    }
    if !zones.is_empty() {
        assumed.push("how zones heat is in no device tree: add [[thermal_zone.stage]] to have them cooled".to_owned());
    }
    Ok(zones)
}

fn zone(
    tree: &Tree,
    node: &Node,
    cpus: &[&Node],
    domains: &[Domain],
    assumed: &mut Vec<String>,
) -> Result<Option<Zone>, Diagnostic> {
    let id = node.base().strip_suffix("-thermal").unwrap_or(node.base()).to_owned();
    let mut maps = maps(tree, node, cpus)?;
    maps.iter_mut().for_each(|map| map.cpus = whole(&map.cpus, domains));
    let trips = trips(tree, node, &maps, &id, assumed)?;
    let cooled: BTreeSet<u32> = trips.iter().flat_map(|trip| &trip.cools).copied().collect();
    if cooled.is_empty() {
        return Ok(None);
    }
    Ok(Some(Zone {
        passive_ms: passive_ms(tree.number(node, "polling-delay-passive")?.unwrap_or(0), &id, assumed),
        polling_ms: tree.number(node, "polling-delay")?.unwrap_or(0).min(POLLING_MS_MAX),
        sustainable_mw: tree.number(node, "sustainable-power")?.filter(|mw| (1..=SUSTAINABLE_MW_MAX).contains(mw)),
        weights: weights(&maps, &cooled, domains),
        cpus: cooled.into_iter().collect(),
        trips,
        id,
    }))
}

fn passive_ms(told: u64, id: &str, assumed: &mut Vec<String>) -> u64 {
    if told == 0 {
        assumed.push(format!("thermal zone {id} names no delay while it is cooled: {PASSIVE_MS} ms are taken"));
        return PASSIVE_MS;
    }
    told.min(PASSIVE_MS_MAX)
}

/// `cooling-device` names a cooler and the least and most of its states. A CPU stands for its whole domain.
fn maps(tree: &Tree, zone: &Node, cpus: &[&Node]) -> Result<Vec<Map>, Diagnostic> {
    let mut maps = Vec::new();
    for node in zone.child("cooling-maps").map_or(&[][..], |maps| &maps.children) {
        let Some((trip, _)) = node.property("trip").and_then(|p| p.parts.first()) else { continue };
        let devices = node.property("cooling-device").map_or(&[][..], |p| &p.parts);
        let named = |part: &Part| cpus.iter().position(|cpu| tree.is(cpu, part)).map(|at| at as u32);
        let cpus: BTreeSet<u32> = devices.iter().step_by(3).filter_map(|(part, _)| named(part)).collect();
        if !cpus.is_empty() {
            let of_cpus = devices.chunks(3).filter(|cooler| named(&cooler[0].0).is_some());
            let is_limited = of_cpus.flatten().any(|(part, _)| is_limit(part));
            maps.push(Map { trip: trip.clone(), is_limited, cpus, contribution: tree.number(node, "contribution")? });
        }
    }
    Ok(maps)
}

/// True if this cell of a cooler is a state that it has to keep to. The least of all is none.
fn is_limit(part: &Part) -> bool {
    matches!(part, Part::Number(state) if *state != 0 && *state != NO_LIMIT)
}

/// Note on parts of a map that a zone here does not have: states that a cooler keeps to, and trips that are not
/// passive.
fn left_out(node: &Node, map: &Map, id: &str) -> Option<String> {
    let (trip, kind) = (node.base(), node.text("type").unwrap_or("of no type"));
    if kind != "passive" {
        return Some(format!("trip {trip} of thermal zone {id} is {kind}: that it slows down CPUs is left out"));
    }
    map.is_limited.then(|| format!("trip {trip} of thermal zone {id} names the states of its coolers: all are used"))
}

/// All CPUs of the domains of these.
fn whole(cpus: &BTreeSet<u32>, domains: &[Domain]) -> BTreeSet<u32> {
    let touched = domains.iter().filter(|domain| domain.cpus.iter().any(|cpu| cpus.contains(cpu)));
    touched.flat_map(|domain| if domain.per_cpu { keep(&domain.cpus, cpus) } else { domain.cpus.clone() }).collect()
}

fn keep(cpus: &[u32], named: &BTreeSet<u32>) -> Vec<u32> {
    cpus.iter().copied().filter(|cpu| named.contains(cpu)).collect()
}

/// Passive trips up to the last that slows a CPU down, coolest first.
fn trips(tree: &Tree, zone: &Node, maps: &[Map], id: &str, assumed: &mut Vec<String>) -> Result<Vec<Trip>, Diagnostic> {
    let mut trips = Vec::new();
    for node in zone.child("trips").map_or(&[][..], |trips| &trips.children) {
        let of_this = maps.iter().filter(|map| tree.is(node, &map.trip));
        assumed.extend(of_this.filter_map(|map| left_out(node, map, id)).next());
        if node.text("type") == Some("passive") {
            trips.push(trip(tree, node, maps)?);
        }
    }
    let last = trips.iter().filter(|trip| !trip.cools.is_empty()).map(|trip| trip.temp_mc).max();
    trips.sort_by_key(|trip| trip.temp_mc);
    trips.dedup_by(merge);
    trips
        .retain(|trip| last.is_some_and(|last| trip.temp_mc <= last) && TEMPERATURE_C.contains(&celsius(trip.temp_mc)));
    if trips.len() > TRIPS_MAX {
        assumed.push(format!("thermal zone {id} has {} passive trips: the {TRIPS_MAX} hottest are here", trips.len()));
        trips.drain(..trips.len() - TRIPS_MAX);
    }
    Ok(trips)
}

/// Two trips at one temperature are one.
fn merge(next: &mut Trip, kept: &mut Trip) -> bool {
    let is_same = next.temp_mc == kept.temp_mc;
    if is_same {
        kept.cools.append(&mut next.cools);
    }
    is_same
}

fn trip(tree: &Tree, node: &Node, maps: &[Map]) -> Result<Trip, Diagnostic> {
    // A cell of 32 bits holds a temperature below zero as its complement.
    let signed = |cell: u64| i64::from(cell as u32 as i32);
    let of_this = maps.iter().filter(|map| tree.is(node, &map.trip));
    Ok(Trip {
        temp_mc: signed(tree.number(node, "temperature")?.unwrap_or(u64::from(u32::MAX >> 1))),
        hysteresis_mc: signed(tree.number(node, "hysteresis")?.unwrap_or(0))
            .clamp(0, (HYSTERESIS_C_MAX * 1000.0) as i64),
        cools: of_this.flat_map(|map| map.cpus.iter().copied()).collect(),
    })
}

/// Weights, when every domain of the zone has one.
fn weights(maps: &[Map], cooled: &BTreeSet<u32>, domains: &[Domain]) -> Vec<u64> {
    let of_cpu = |cpu: u32| maps.iter().filter(|map| map.cpus.contains(&cpu)).find_map(|map| map.contribution);
    let of_domain = |domain: &Domain| -> Vec<Option<u64>> {
        let inside = keep(&domain.cpus, cooled);
        let count = if domain.per_cpu { inside.len() } else { inside.len().min(1) };
        inside.into_iter().take(count).map(of_cpu).collect()
    };
    let weights: Option<Vec<u64>> = domains.iter().flat_map(of_domain).collect();
    weights.unwrap_or_default()
}

/// Degrees of millidegrees.
fn celsius(mc: i64) -> f64 {
    mc as f64 / 1000.0
}

impl Zone {
    /// The table of a platform file.
    pub fn toml(&self, source: &str, out: &mut String) {
        let id = toml::Value::String(self.id.clone());
        let _ = writeln!(out, "\n[[thermal_zone]]\nid = {id}\nsource = \"{source}\"\ncpus = {:?}", self.cpus);
        if !self.weights.is_empty() {
            let _ = writeln!(out, "weights = {:?}", self.weights);
        }
        let _ = writeln!(out, "passive_ms = {}\npolling_ms = {}", self.passive_ms, self.polling_ms);
        if let Some(mw) = self.sustainable_mw {
            let _ = writeln!(out, "sustainable_mw = {mw}");
        }
        for trip in &self.trips {
            trip.toml(&self.cpus, out);
        }
    }
}

impl Trip {
    fn toml(&self, zone: &[u32], out: &mut String) {
        let _ = writeln!(out, "\n  [[thermal_zone.trip]]\n  temperature_c = {}", celsius(self.temp_mc));
        let _ = writeln!(out, "  hysteresis_c = {}", celsius(self.hysteresis_mc));
        if self.cools.is_empty() {
            out.push_str("  only_switches_on = true\n");
        } else if self.cools.len() < zone.len() {
            let _ = writeln!(out, "  cools = {:?}", self.cools.iter().collect::<Vec<_>>());
        }
    }
}
