// SPDX-License-Identifier: GPL-2.0-or-later
//! Times that a task waits, and times that it runs.

use super::states::{ACTIVE, RUNNABLE, WAKING};
use super::tasks::{Stay, stays};
use super::{Seen, seconds, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;

/// Stays that the task left by executing.
fn before_active(stays: &[Stay], state: u32) -> Vec<Stay> {
    stays.iter().filter(|stay| stay.state == Some(state) && stay.next == Some(ACTIVE)).copied().collect()
}

/// Time from each wake-up to the first instruction.
pub(super) fn wakeup(seen: &Seen<'_>) -> Result<Table, LabError> {
    let waited = before_active(&stays(seen)?, WAKING);
    Ok(Table::of(vec![
        time(waited.iter().map(|stay| stay.at_ns)),
        Column::new("wakeup_latency", "s", "Time to the first instruction.", lengths(&waited)),
        Column::new("cpu", "", "CPU that executes the wake-up.", Values::U32(waited.iter().map(|s| s.cpu).collect())),
        Column::new("target_cpu", "", "CPU.", Values::U32(waited.iter().map(|stay| stay.target_cpu).collect())),
    ]))
}

/// Time that each preemption took.
pub(super) fn preemption(seen: &Seen<'_>) -> Result<Table, LabError> {
    let waited = before_active(&stays(seen)?, RUNNABLE);
    Ok(Table::of(vec![
        time(waited.iter().map(|stay| stay.at_ns)),
        Column::new("preempt_latency", "s", "Time until it executes again.", lengths(&waited)),
        Column::new("cpu", "", "CPU.", Values::U32(waited.iter().map(|stay| stay.cpu).collect())),
    ]))
}

fn lengths(stays: &[Stay]) -> Values {
    Values::F64(stays.iter().map(|stay| seconds(stay.length_ns.unwrap_or(0))).collect())
}

/// Time from each wake-up to the one before.
pub(super) fn activations(seen: &Seen<'_>) -> Result<Table, LabError> {
    let woken: Vec<u64> =
        stays(seen)?.iter().filter(|stay| stay.state == Some(WAKING)).map(|stay| stay.at_ns).collect();
    let since = |at: usize| at.checked_sub(1).map(|before| seconds(woken[at].saturating_sub(woken[before])));
    let intervals: Vec<Option<f64>> = (0..woken.len()).map(since).collect();
    Ok(Table::of(vec![
        time(woken.iter().copied()),
        Column::optional("activation_interval", "s", "Time since the wake-up before.", &intervals),
    ]))
}

/// Time executing since the last wake-up, at each stop.
pub(super) fn runtimes(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut made: Vec<(u64, Option<u32>, u64)> = Vec::new();
    let mut ran_ns = 0;
    for stay in stays(seen)? {
        match stay.state {
            Some(WAKING) => ran_ns = 0,
            Some(ACTIVE) => ran_ns += stay.length_ns.unwrap_or(0),
            state => made.push((stay.at_ns, state, ran_ns)),
        }
    }
    let states = Values::U32(made.iter().map(|row| row.1.unwrap_or(0)).collect());
    let known = made.iter().any(|row| row.1.is_none()).then(|| made.iter().map(|row| row.1.is_some()).collect());
    Ok(Table::of(vec![
        time(made.iter().map(|row| row.0)),
        Column { known, ..Column::new("curr_state", "", "State from now on.", states) },
        Column::new("running_time", "s", "Time executing.", Values::F64(made.iter().map(|r| seconds(r.2)).collect())),
    ]))
}
