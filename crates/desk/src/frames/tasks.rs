// SPDX-License-Identifier: GPL-2.0-or-later
//! States of tasks, and what follows from them.

use super::states::{ACTIVE, RUNNABLE, WAKING};
use super::{Rows, Seen, picked, seconds, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;
use std::collections::BTreeMap;

/// Kernel priorities below are those of real-time tasks.
const RT_PRIOS: u32 = 100;

/// Every change of state.
pub(super) fn states(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let places: Vec<usize> = (0..rows.0.rows()).collect();
    let pids = rows.u32s("pid").to_vec();
    let mut columns = vec![time(rows.times().iter().copied())];
    columns.push(Column::new("pid", "", "Task.", Values::U32(pids.clone())));
    columns.push(seen.comms(&pids));
    columns.extend(changes(rows, &places));
    Ok(Table::of(columns))
}

/// Those of one task.
pub(super) fn task_states(seen: &Seen<'_>) -> Result<Table, LabError> {
    let (rows, tid) = (seen.table(), seen.tid("pid")?);
    let places = rows.places(|at| rows.u32s("pid")[at] == tid);
    let mut columns = vec![time(places.iter().map(|&at| rows.times()[at]))];
    columns.extend(changes(rows, &places));
    Ok(Table::of(columns))
}

/// Columns of some changes.
fn changes(rows: Rows<'_>, places: &[usize]) -> Vec<Column> {
    let column = |name: &str, doc: &str| rows.column(name, places, (name, "", doc));
    let known = places.iter().map(|&at| rows.is_known("delta_ns", at)).collect();
    let delta = picked(rows.u64s("delta_ns"), places).into_iter().map(seconds).collect();
    vec![
        column("target_cpu", "Of a wake-up: CPU whose queue it is on."),
        column("cpu", "CPU; of a wake-up the one that executes it."),
        column("curr_state", "State from now on: the kernel's, 0x200 woken, 0x2000 running."),
        column("next_state", "State after it."),
        Column { known: Some(known), ..Column::new("delta", "s", "Time until the next state.", Values::F64(delta)) },
    ]
}

/// One state of a task.
#[derive(Clone, Copy)]
pub(super) struct Stay {
    /// Its begin.
    pub at_ns: u64,
    /// State; `None`: not recorded.
    pub state: Option<u32>,
    pub cpu: u32,
    pub target_cpu: u32,
    /// State after it.
    pub next: Option<u32>,
    /// Its length; `None`: it lasts to the end.
    pub length_ns: Option<u64>,
}

impl Stay {
    /// Length up to the end of all.
    fn up_to(&self, end_ns: u64) -> u64 {
        self.length_ns.unwrap_or_else(|| end_ns.saturating_sub(self.at_ns))
    }
}

/// States of the task that is asked for.
pub(super) fn stays(seen: &Seen<'_>) -> Result<Vec<Stay>, LabError> {
    let (rows, tid) = (seen.table(), seen.tid("pid")?);
    let stay = |at: usize| Stay {
        at_ns: rows.times()[at],
        state: rows.is_known("curr_state", at).then(|| rows.u32s("curr_state")[at]),
        cpu: rows.u32s("cpu")[at],
        target_cpu: rows.u32s("target_cpu")[at],
        next: rows.is_known("next_state", at).then(|| rows.u32s("next_state")[at]),
        length_ns: rows.is_known("delta_ns", at).then(|| rows.u64s("delta_ns")[at]),
    };
    Ok(rows.places(|at| rows.u32s("pid")[at] == tid).into_iter().map(stay).collect())
}

/// Time executing by task; what is still running at the end counts up to there.
pub(super) fn runtime(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for at in rows.places(|at| rows.u32s("curr_state")[at] == ACTIVE && rows.u32s("pid")[at] != 0) {
        *sums.entry(rows.u32s("pid")[at]).or_default() += length_ns(seen, at);
    }
    let pids: Vec<u32> = sums.keys().copied().collect();
    Ok(Table::of(vec![
        Column::new("pid", "", "Task.", Values::U32(pids.clone())),
        seen.comms(&pids),
        Column::new("runtime", "s", "Time executing.", Values::F64(sums.values().copied().map(seconds).collect())),
    ]))
}

/// Length of a state; the last of a task ends with the trace.
fn length_ns(seen: &Seen<'_>, at: usize) -> u64 {
    let rows = seen.table();
    if rows.is_known("delta_ns", at) {
        rows.u64s("delta_ns")[at]
    } else {
        seen.facts.end_ns.saturating_sub(rows.times()[at])
    }
}

/// Times from which a task executes (1), and from which it sleeps (0); time on a queue before it executes belongs to
/// the sleep, and a preemption to what it interrupts.
pub(super) fn activation(seen: &Seen<'_>) -> Result<Table, LabError> {
    let changes = stays(seen)?;
    let is_change = |stay: &&Stay| !matches!(stay.state, Some(WAKING | RUNNABLE));
    let mut made: Vec<Activation> = Vec::new();
    for stay in changes.iter().filter(is_change) {
        // A state that is not recorded may be a sleep or a preemption: the length of that execution is not known.
        if stay.state.is_none() {
            made.iter_mut().last().into_iter().for_each(|last| last.is_sure = false);
            continue;
        }
        let active = u32::from(stay.state == Some(ACTIVE));
        if made.last().is_none_or(|last| last.active != active) {
            made.push(Activation { at_ns: stay.at_ns, active, cpu: stay.cpu, is_sure: true });
        }
    }
    // The last one ends at an end that is not seen.
    let length = |at: usize| Some(made.get(at + 1)?.at_ns - made[at].at_ns).filter(|_| made[at].is_sure);
    let duty = |at: usize| {
        let (runs, sleeps) = (length(at).filter(|_| made[at].active == 1)?, length(at + 1)?);
        Some(runs as f64 / (runs + sleeps).max(1) as f64)
    };
    let duration: Vec<Option<f64>> = (0..made.len()).map(|at| length(at).map(seconds)).collect();
    let duty: Vec<Option<f64>> = (0..made.len()).map(duty).collect();
    Ok(Table::of(vec![
        time(made.iter().map(|row| row.at_ns)),
        Column::new("active", "", "1 executes, 0 sleeps.", Values::U32(made.iter().map(|row| row.active).collect())),
        Column::new("cpu", "", "CPU.", Values::U32(made.iter().map(|row| row.cpu).collect())),
        Column::optional("duration", "s", "Length.", &duration),
        Column::optional("duty_cycle", "", "Share of it of the time to the next.", &duty),
    ]))
}

/// A task begins to execute or to sleep.
struct Activation {
    at_ns: u64,
    active: u32,
    cpu: u32,
    /// Its end is known.
    is_sure: bool,
}

/// Time of a task on each CPU.
pub(super) fn total_residency(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut sums = vec![0u64; seen.facts.cpus as usize];
    for stay in stays(seen)?.iter().filter(|stay| stay.state == Some(ACTIVE)) {
        if let Some(sum) = sums.get_mut(stay.cpu as usize) {
            *sum += stay.up_to(seen.facts.end_ns);
        }
    }
    Ok(Table::of(vec![
        Column::new("cpu", "", "CPU.", Values::U32((0..seen.facts.cpus).collect())),
        Column::new("runtime", "s", "Time executing on it.", Values::F64(sums.into_iter().map(seconds).collect())),
    ]))
}

/// Wake-ups by task.
pub(super) fn wakeups(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    seen.table().u32s("tid").iter().for_each(|&tid| *counts.entry(tid).or_default() += 1);
    let pids: Vec<u32> = counts.keys().copied().collect();
    Ok(Table::of(vec![
        Column::new("pid", "", "Task.", Values::U32(pids.clone())),
        Column::new("wakeups", "", "Wake-ups, without that of its birth.", Values::U64(counts.into_values().collect())),
        seen.comms(&pids),
    ]))
}

/// Tasks that ran with a real-time or deadline priority.
pub(super) fn rt(seen: &Seen<'_>) -> Result<Table, LabError> {
    let rows = seen.table();
    let prio = |at: usize| rows.u32s("next_prio")[at].cast_signed();
    let all: std::collections::BTreeSet<(i32, u32)> = rows
        .places(|at| {
            rows.is_known("next_prio", at) && prio(at) < RT_PRIOS.cast_signed() && rows.u32s("next_tid")[at] != 0
        })
        .into_iter()
        .map(|at| (prio(at), rows.u32s("next_tid")[at]))
        .collect();
    let pids: Vec<u32> = all.iter().map(|(_, pid)| *pid).collect();
    let prios = all.iter().map(|(prio, _)| i64::from(*prio)).collect();
    Ok(Table::of(vec![
        Column::new("pid", "", "Task.", Values::U32(pids.clone())),
        Column::new("prio", "", "Kernel priority; -1: deadline.", Values::I64(prios)),
        seen.comms(&pids),
    ]))
}

/// Switches by CPU.
pub(super) fn context_switches(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut counts = vec![0u64; seen.facts.cpus as usize];
    for &cpu in seen.table().u32s("cpu") {
        if let Some(count) = counts.get_mut(cpu as usize) {
            *count += 1;
        }
    }
    Ok(Table::of(vec![
        Column::new("cpu", "", "CPU.", Values::U32((0..seen.facts.cpus).collect())),
        Column::new("context_switch_cnt", "", "Switches.", Values::U64(counts)),
    ]))
}
