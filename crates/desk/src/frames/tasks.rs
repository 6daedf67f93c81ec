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
    let (rows, tids) = (seen.table(), seen.tids()?);
    let places = rows.places(|at| tids.contains(&rows.u32s("pid")[at]));
    let mut columns = vec![time(places.iter().map(|&at| rows.times()[at]))];
    columns.extend(changes(rows, &places));
    Ok(Table::of(columns))
}

/// Columns of some changes.
fn changes(rows: Rows<'_>, places: &[usize]) -> Vec<Column> {
    let known = |name: &str| {
        let known = rows.0.column(name).and_then(|column| column.known.as_ref());
        known.map(|known| picked(known, places))
    };
    let column = |name: &str, doc: &str| Column {
        known: known(name),
        ..Column::new(name, "", doc, Values::U32(picked(rows.u32s(name), places)))
    };
    let delta = picked(rows.u64s("delta_ns"), places).into_iter().map(seconds).collect();
    vec![
        column("target_cpu", "Of a wake-up: CPU whose queue it is on."),
        column("cpu", "CPU; of a wake-up the one that executes it."),
        column("curr_state", "State from now on: the kernel's, 0x200 woken, 0x2000 running."),
        column("next_state", "State after it."),
        Column {
            known: known("delta_ns"),
            ..Column::new("delta", "s", "Time until the next state.", Values::F64(delta))
        },
    ]
}

/// One state of a task: its begin, state, CPU, length where it ended.
#[derive(Clone, Copy)]
pub(super) struct Stay {
    pub at_ns: u64,
    pub state: u32,
    pub cpu: u32,
    pub target_cpu: u32,
    pub next: Option<u32>,
    pub delta_ns: u64,
}

/// States of the task that is asked for, by task.
pub(super) fn stays(seen: &Seen<'_>) -> Result<Vec<Stay>, LabError> {
    let (rows, tids) = (seen.table(), seen.tids()?);
    let known = rows.0.column("next_state").and_then(|column| column.known.as_ref());
    let mut made = Vec::new();
    for tid in tids {
        made.extend(rows.places(|at| rows.u32s("pid")[at] == tid).into_iter().map(|at| Stay {
            at_ns: rows.times()[at],
            state: rows.u32s("curr_state")[at],
            cpu: rows.u32s("cpu")[at],
            target_cpu: rows.u32s("target_cpu")[at],
            next: known.is_some_and(|known| known[at]).then(|| rows.u32s("next_state")[at]),
            delta_ns: rows.u64s("delta_ns")[at],
        }));
    }
    Ok(made)
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
    let ended = rows.0.column("next_state").and_then(|column| column.known.as_ref()).is_none_or(|known| known[at]);
    if ended { rows.u64s("delta_ns")[at] } else { seen.facts.end_ns.saturating_sub(rows.times()[at]) }
}

/// Times from which a task executes (1), and from which it sleeps (0); time on a queue before it executes belongs to
/// the sleep, and a preemption to what it interrupts.
pub(super) fn activation(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut made: Vec<(u64, u32, u32, u64)> = Vec::new();
    for stay in stays(seen)?.iter().filter(|stay| stay.state != WAKING && stay.state != RUNNABLE) {
        let active = u32::from(stay.state == ACTIVE);
        match made.last_mut() {
            Some(last) if last.1 == active => last.3 = stay.at_ns + stay.delta_ns - last.0,
            _ => {
                if let Some(last) = made.last_mut() {
                    last.3 = stay.at_ns - last.0;
                }
                made.push((stay.at_ns, active, stay.cpu, stay.delta_ns));
            }
        }
    }
    let duty = |(at, row): (usize, &(u64, u32, u32, u64))| {
        let next = made.get(at + 1).filter(|_| row.1 == 1)?;
        Some(row.3 as f64 / (row.3 + next.3).max(1) as f64)
    };
    let duty: Vec<Option<f64>> = made.iter().enumerate().map(duty).collect();
    Ok(Table::of(vec![
        time(made.iter().map(|row| row.0)),
        Column::new("active", "", "1 executes, 0 sleeps.", Values::U32(made.iter().map(|row| row.1).collect())),
        Column::new("cpu", "", "CPU.", Values::U32(made.iter().map(|row| row.2).collect())),
        Column::new("duration", "s", "Length.", Values::F64(made.iter().map(|row| seconds(row.3)).collect())),
        Column::optional("duty_cycle", "", "Share of it of the time to the next.", &duty),
    ]))
}

/// Time of a task on each CPU.
pub(super) fn total_residency(seen: &Seen<'_>) -> Result<Table, LabError> {
    let mut sums = vec![0u64; seen.facts.cpus as usize];
    for stay in stays(seen)?.iter().filter(|stay| stay.state == ACTIVE) {
        let end_ns = if stay.next.is_some() { stay.at_ns + stay.delta_ns } else { seen.facts.end_ns };
        if let Some(sum) = sums.get_mut(stay.cpu as usize) {
            *sum += end_ns.saturating_sub(stay.at_ns);
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
        .places(|at| prio(at) < RT_PRIOS.cast_signed() && rows.u32s("next_tid")[at] != 0)
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
