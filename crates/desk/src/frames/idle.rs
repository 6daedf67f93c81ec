// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle CPUs.

use super::{Rows, Seen, seconds, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;
use pelton_schema::IDLE_EXIT;
use std::collections::BTreeMap;

/// The state, -1 where the CPU is not idle.
fn states(rows: Rows<'_>, places: &[usize]) -> Vec<i64> {
    let states = rows.u32s("state");
    places.iter().map(|&at| if states[at] == IDLE_EXIT { -1 } else { i64::from(states[at]) }).collect()
}

/// Every event.
pub(super) fn cpus_idle(seen: &Seen<'_>) -> Result<Table, LabError> {
    Ok(events(seen, None))
}

/// Those of one CPU.
pub(super) fn cpu_idle(seen: &Seen<'_>) -> Result<Table, LabError> {
    Ok(events(seen, Some(seen.cpu()?)))
}

fn events(seen: &Seen<'_>, only: Option<u32>) -> Table {
    seen.by_cpu(only, |rows, places| {
        Column::new("state", "", "Idle state; -1: not idle.", Values::I64(states(rows, places)))
    })
}

/// 1 from when a CPU is not idle, 0 from when it is.
pub(super) fn active(seen: &Seen<'_>) -> Result<Table, LabError> {
    let (cpu, rows) = (seen.cpu()?, seen.table());
    let places = rows.places(|at| rows.u32s("cpu")[at] == cpu);
    let active = states(rows, &places).into_iter().map(|state| u32::from(state == -1)).collect();
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        Column::new("active", "", "1: not idle.", Values::U32(active)),
    ]))
}

/// Times at which CPUs leave idle states.
pub(super) fn wakeups(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let places = rows.places(|at| rows.u32s("state")[at] == IDLE_EXIT);
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        rows.column("cpu", &places, ("cpu", "", "CPU.")),
    ]))
}

/// Time of a CPU in each idle state, and outside of them (-1).
pub(super) fn residency(seen: &Seen<'_>) -> Result<Table, LabError> {
    let (cpu, rows) = (seen.cpu()?, seen.table());
    let places = rows.places(|at| rows.u32s("cpu")[at] == cpu);
    let states = states(rows, &places);
    let mut sums: BTreeMap<i64, u64> = BTreeMap::new();
    for (i, (&at, state)) in places.iter().zip(states).enumerate() {
        let to = places.get(i + 1).map_or(seen.facts.end_ns, |&next| rows.times()[next]);
        *sums.entry(state).or_default() += to.saturating_sub(rows.times()[at]);
    }
    Ok(Table::of(vec![
        Column::new("idle_state", "", "Idle state; -1: not idle.", Values::I64(sums.keys().copied().collect())),
        Column::new("time", "s", "Time in it.", Values::F64(sums.values().copied().map(seconds).collect())),
    ]))
}
