// SPDX-License-Identifier: GPL-2.0-or-later
//! Signals of load tracking.

use super::{Rows, Seen, picked, time};
use crate::table::{Column, Table, Values};
use pelton_lab::run::{Fault, LabError};

/// Events with signals of CPUs, and the signals: name, place of the event, column, unit, meaning.
pub(super) const CPU_EVENTS: [&str; 6] =
    ["pelt_cfs", "pelt_rt", "pelt_dl", "pelt_irq", "pelt_hw", "sched_cpu_capacity"];
const CPU_SIGNALS: [Signal; 9] = [
    ("util", 0, "util_avg_of_1024", "0..1024", "Utilization by the fair class."),
    ("load", 0, "load_avg_weight", "weight", "Load of the fair class."),
    ("runnable", 0, "runnable_avg_1024ths", "1024 per task", "Runnable fair tasks."),
    ("enqueued", 0, "util_est_of_1024", "0..1024", "Sum of the queued tasks' estimates."),
    ("rt", 1, "util_avg_of_1024", "0..1024", "Utilization by the RT class."),
    ("dl", 2, "util_avg_of_1024", "0..1024", "Utilization by the deadline class."),
    ("irq", 3, "util_avg_of_1024", "0..1024", "Utilization by interrupts."),
    ("hw", 4, "load_avg_of_1024", "0..1024", "Capacity that is lost."),
    ("capacity", 5, "capacity_of_1024", "0..1024", "Capacity left for the fair class."),
];
const TASK_SIGNALS: [Signal; 4] = [
    ("util", 0, "util_avg_of_1024", "0..1024", "Share of time executing."),
    ("load", 0, "load_avg_weight", "weight", "Weighted share of time on the queue."),
    ("runnable", 0, "runnable_avg_of_1024", "0..1024", "Share of time on the queue."),
    ("enqueued", 0, "util_est_of_1024", "0..1024", "Estimated utilization."),
];

type Signal = (&'static str, usize, &'static str, &'static str, &'static str);

fn found(seen: &Seen<'_>, signals: &'static [Signal]) -> Result<&'static Signal, LabError> {
    let name = seen.question.signal.as_deref().unwrap_or("util");
    signals.iter().find(|signal| signal.0 == name).ok_or_else(|| {
        let known: Vec<&str> = signals.iter().map(|signal| signal.0).collect();
        let hint = format!("known are {}", known.join(", "));
        LabError::refused(Fault::Request, format!("there is no signal `{name}`"), &hint)
    })
}

/// The values of a signal in some rows.
fn values(rows: Rows<'_>, signal: &Signal, places: &[usize]) -> Column {
    let &(name, _, column, unit, doc) = signal;
    rows.column(column, places, (name, unit, doc))
}

/// A signal of all CPUs, or of one.
pub(super) fn cpus(seen: &Seen<'_>) -> Result<Table, LabError> {
    let signal = found(seen, &CPU_SIGNALS)?;
    let rows = Rows(&seen.tables[signal.1]);
    let cpus = rows.u32s("cpu");
    let only = seen.question.cpu.map(|_| seen.cpu()).transpose()?;
    let places = rows.places(|at| only.is_none_or(|cpu| cpus[at] == cpu));
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        rows.column("cpu", &places, ("cpu", "", "CPU.")),
        values(rows, signal, &places),
    ]))
}

/// A signal of all tasks.
pub(super) fn tasks(seen: &Seen<'_>) -> Result<Table, LabError> {
    of_tasks(seen, None)
}

/// A signal of one task.
pub(super) fn task(seen: &Seen<'_>) -> Result<Table, LabError> {
    of_tasks(seen, Some(seen.tid("tid")?))
}

fn of_tasks(seen: &Seen<'_>, only: Option<u32>) -> Result<Table, LabError> {
    let signal = found(seen, &TASK_SIGNALS)?;
    let rows = seen.table();
    let tids = rows.u32s("tid");
    let places = rows.places(|at| only.is_none_or(|only| only == tids[at]));
    let tids = picked(tids, &places);
    Ok(Table::of(vec![
        time(places.iter().map(|&at| rows.times()[at])),
        seen.comms(&tids),
        rows.column("cpu", &places, ("cpu", "", "CPU whose queue holds the task.")),
        Column::new("pid", "", "Task.", Values::U32(tids)),
        values(rows, signal, &places),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventTables;

    #[test]
    fn every_signal_is_a_column_of_its_event() {
        let columns = |event: &str| EventTables::of([event]).expect("declared").finish().remove(0).1;
        for (name, event, column, unit, _) in CPU_SIGNALS {
            let table = columns(CPU_EVENTS[event]);
            assert_eq!(table.column(column).map(|found| found.unit), Some(unit), "{name}");
        }
        for (name, _, column, unit, _) in TASK_SIGNALS {
            assert_eq!(columns("pelt_se").column(column).map(|found| found.unit), Some(unit), "{name}");
        }
    }
}
