// SPDX-License-Identifier: GPL-2.0-or-later
//! Temperatures, what cools, and whether the machine is over-utilized.

use super::{Seen, seconds, time};
use crate::table::{Column, Table, Values, Words};
use pelton_lab::run::LabError;

/// Readings of thermal zones.
pub(super) fn temperature(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let zones = rows.u32s("zone");
    let name = |&zone: &u32| {
        let known = seen.subject.plan().and_then(|plan| plan.machine.thermal_zones.get(zone as usize));
        known.map_or_else(String::new, |zone| zone.name.clone())
    };
    let names: Words = zones.iter().map(name).collect();
    Ok(Table::of(vec![
        time(rows.times().iter().copied()),
        Column::new("id", "", "Zone.", Values::U32(zones.to_vec())),
        Column::words("thermal_zone", "Its name.", names),
        Column::new("temp", "mC", "Temperature.", Values::I64(rows.i64s("temp_mc").to_vec())),
    ]))
}

/// Cooling states of frequency domains.
pub(super) fn cooling_state(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let domains = rows.u32s("domain");
    let cpus = |&domain: &u32| {
        let known = seen.subject.plan().and_then(|plan| plan.machine.domains.get(domain as usize));
        known.map_or_else(String::new, |domain| pelton_schema::cpu_list(domain.cpus.iter().copied()))
    };
    let cpus: Words = domains.iter().map(cpus).collect();
    Ok(Table::of(vec![
        time(rows.times().iter().copied()),
        Column::words("cpus", "CPUs of the frequency domain.", cpus),
        Column::new("freq", "kHz", "Upper limit.", Values::U32(rows.u32s("max_khz").to_vec())),
        Column::new("cdev_state", "", "Cooling state; 0: no limit.", Values::U32(rows.u32s("state").to_vec())),
    ]))
}

/// Times from which the machine is over-utilized or not, and how long.
pub(super) fn overutilized(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let flags = rows.u32s("overutilized");
    let places = rows.places(|at| at == 0 || flags[at] != flags[at - 1]);
    let length = |i: usize| {
        let to = places.get(i + 1).map_or(seen.facts.end_ns, |&next| rows.times()[next]);
        seconds(to.saturating_sub(rows.times()[places[i]]))
    };
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        Column::new("overutilized", "", "1: it is.", Values::U32(places.iter().map(|&at| flags[at]).collect())),
        Column::new("len", "s", "Time until it changes.", Values::F64((0..places.len()).map(length).collect())),
    ]))
}
