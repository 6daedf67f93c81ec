// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables in the words of LISA 3.1: its names and columns, where a run or a trace has what they are made of. `Time` is
//! the clock of the events in seconds. What LISA has as an index is the first column.

mod frequency;
mod idle;
mod latency;
mod rta;
mod signals;
pub(crate) mod states;
mod tasks;
mod thermal;

use crate::subject::{Facts, Subject};
use crate::table::{Column, Table, Values, Words};
use pelton_lab::run::{Fault, LabError};
use pelton_lab::watch::Watch;
use pelton_schema::EVENTS;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Question that a frame answers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// CPU.
    pub cpu: Option<u32>,
    /// Task.
    pub task: Option<TaskName>,
    /// Signal.
    pub signal: Option<String>,
}

/// A task by number or name.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum TaskName {
    /// Number.
    Tid(u32),
    /// Name.
    Name(String),
}

/// Parts that a frame is made of.
pub(crate) struct Seen<'a> {
    /// Tables of the events that it needs, in that order.
    tables: Vec<Arc<Table>>,
    /// Facts beside them.
    facts: Facts,
    subject: &'a Subject,
    question: &'a Question,
    watch: &'a dyn Watch,
}

/// Text of a name that is not known.
const NAMELESS: &str = "";

/// A frame: its name, the events that it needs, and how it is made.
struct Frame {
    name: &'static str,
    needs: &'static [&'static str],
    /// True where it is made of the states of tasks.
    has_states: bool,
    make: fn(&Seen<'_>) -> Result<Table, LabError>,
}

const fn of(
    name: &'static str,
    needs: &'static [&'static str],
    make: fn(&Seen<'_>) -> Result<Table, LabError>,
) -> Frame {
    Frame { name, needs, has_states: false, make }
}

/// A frame that is made of the states of tasks.
const fn of_states(name: &'static str, make: fn(&Seen<'_>) -> Result<Table, LabError>) -> Frame {
    Frame { name, needs: &[], has_states: true, make }
}

/// Every frame.
const FRAMES: [Frame; 30] = [
    of("cpus_frequency", &["cpu_frequency"], frequency::cpus_frequency),
    of("cpu_frequency", &["cpu_frequency"], frequency::cpu_frequency),
    of("cpu_frequency_residency", &["cpu_frequency", "cpu_idle"], frequency::residency),
    of("domain_frequency_residency", &["cpu_frequency", "cpu_idle"], frequency::domain_residency),
    of("cpu_frequency_transitions", &["cpu_frequency"], frequency::transitions),
    of("cpu_frequency_transition_rate", &["cpu_frequency"], frequency::transition_rate),
    of("cpus_signal", &signals::CPU_EVENTS, signals::cpus),
    of("tasks_signal", &["pelt_se"], signals::tasks),
    of("task_signal", &["pelt_se"], signals::task),
    of("cpus_idle", &["cpu_idle"], idle::cpus_idle),
    of("cpu_idle", &["cpu_idle"], idle::cpu_idle),
    of("cpu_active", &["cpu_idle"], idle::active),
    of("cpus_wakeups", &["cpu_idle"], idle::wakeups),
    of("cpu_idle_state_residency", &["cpu_idle"], idle::residency),
    of_states("tasks_states", tasks::states),
    of_states("task_states", tasks::task_states),
    of_states("tasks_runtime", tasks::runtime),
    of_states("task_activation", tasks::activation),
    of_states("task_total_residency", tasks::total_residency),
    of("tasks_wakeups", &["sched_wakeup"], tasks::wakeups),
    of("rt_tasks", &["sched_switch"], tasks::rt),
    of("context_switches", &["sched_switch"], tasks::context_switches),
    of_states("latency_wakeup", latency::wakeup),
    of_states("latency_preemption", latency::preemption),
    of_states("activations", latency::activations),
    of_states("runtimes", latency::runtimes),
    of("rtapp_stats", &["task_activation"], rta::stats),
    of("thermal_zones_temperature", &["thermal_temperature"], thermal::temperature),
    of("cpufreq_cooling_state", &["cdev_update"], thermal::cooling_state),
    of("overutilized", &["sched_overutilized"], thermal::overutilized),
];

/// Names of the frames.
pub fn names() -> Vec<&'static str> {
    FRAMES.iter().map(|frame| frame.name).collect()
}

/// Names of the events.
pub fn event_names() -> Vec<&'static str> {
    EVENTS.iter().map(|info| info.name).collect()
}

/// Makes a frame.
///
/// # Errors
/// When there is no such frame, the question leaves something out, or the run or trace cannot be gone through.
pub fn frame(name: &str, question: &Question, subject: &Subject, watch: &dyn Watch) -> Result<Table, LabError> {
    let found = FRAMES.iter().find(|frame| frame.name == name);
    let frame = found.ok_or_else(|| {
        let known = names().join(", ");
        LabError::refused(Fault::Request, format!("there is no table `{name}`"), &format!("known are {known}"))
    })?;
    let tables = match frame.has_states {
        true => vec![states::of(subject, watch)?],
        false => subject.events(frame.needs, watch)?,
    };
    // A run without such an event had none; of a trace that has none nothing is known.
    if subject.plan().is_none() && tables.iter().all(|table| table.rows() == 0) {
        let needs = if frame.has_states { "sched_switch".to_owned() } else { frame.needs.join(", ") };
        let damage = subject.facts().damage.map_or_else(String::new, |damage| format!(" ({damage})"));
        return Err(LabError::input(format!("`{name}` is not known: the trace has no event of {needs}{damage}")));
    }
    (frame.make)(&Seen { tables, facts: subject.facts(), subject, question, watch })
}

impl Seen<'_> {
    /// The first table it needs.
    fn table(&self) -> Rows<'_> {
        Rows(&self.tables[0])
    }

    /// Events of all CPUs, or of one: time, CPU and a value.
    fn by_cpu(&self, only: Option<u32>, value: impl FnOnce(Rows<'_>, &[usize]) -> Column) -> Table {
        let rows = self.table();
        let places = rows.places(|at| only.is_none_or(|cpu| rows.u32s("cpu")[at] == cpu));
        Table::of(vec![
            time(places.iter().map(|&at| rows.times()[at])),
            rows.column("cpu", &places, ("cpu", "", "CPU.")),
            value(rows, &places),
        ])
    }

    /// The CPU that is asked for.
    fn cpu(&self) -> Result<u32, LabError> {
        let cpu = self.question.cpu.ok_or_else(|| asked("cpu", "a number"))?;
        if cpu >= self.facts.cpus {
            let last = self.facts.cpus.saturating_sub(1);
            return Err(LabError::refused(
                Fault::Request,
                format!("there is no CPU {cpu}"),
                &format!("allowed: 0..={last}"),
            ));
        }
        Ok(cpu)
    }

    /// The number of the task that is asked for; `column` has the numbers of tasks that are known.
    fn tid(&self, column: &str) -> Result<u32, LabError> {
        let refused = |reason: String, hint: &str| Err(LabError::refused(Fault::Request, reason, hint));
        let tids: Vec<u32> = match self.question.task.as_ref().ok_or_else(|| asked("task", "a number or a name"))? {
            TaskName::Tid(tid) => vec![*tid],
            TaskName::Name(name) => {
                self.facts.names.iter().filter(|(_, known)| *known == name).map(|(tid, _)| *tid).collect()
            }
        };
        let is_there = |tid: &u32| self.facts.names.contains_key(tid) || self.table().u32s(column).contains(tid);
        match tids[..] {
            [0] => refused("task 0 is the idle task of every CPU".to_owned(), "cpu_idle has when a CPU is idle"),
            [tid] if is_there(&tid) => Ok(tid),
            [tid] => refused(format!("there is no task {tid}"), "give the name or the number of a task"),
            [] => {
                let known = self.facts.names.values().take(12).cloned().collect::<Vec<_>>().join(", ");
                refused("there is no task of that name".to_owned(), &format!("some: {known}"))
            }
            _ => refused(format!("{} tasks have that name: {tids:?}", tids.len()), "give the number of one"),
        }
    }

    /// Name of a task.
    fn comm(&self, tid: u32) -> Option<&str> {
        self.facts.names.get(&tid).map(String::as_str).or((tid == 0).then_some("swapper"))
    }

    fn comms(&self, tids: &[u32]) -> Column {
        let names: Words = tids.iter().map(|&tid| self.comm(tid).unwrap_or(NAMELESS)).collect();
        let known: Vec<bool> = tids.iter().map(|&tid| self.comm(tid).is_some()).collect();
        let known = known.contains(&false).then_some(known);
        Column { known, ..Column::words("comm", "Name of the task.", names) }
    }

    /// CPUs of the frequency domain of one.
    fn domain_of(&self, cpu: u32) -> Result<Vec<u32>, LabError> {
        let found = self.facts.domains.iter().find(|cpus| cpus.contains(&cpu)).cloned();
        found.ok_or_else(|| LabError::input("which CPUs share a clock is not known of this trace"))
    }

    /// Ends a long computation that is to be stopped.
    fn look(&self) -> Result<(), LabError> {
        match self.watch.stop().load(Ordering::Relaxed) {
            true => Err(LabError::Stopped("interrupted: no table".to_owned())),
            false => Ok(()),
        }
    }
}

fn asked(what: &str, kind: &str) -> LabError {
    LabError::refused(Fault::Request, format!("this table needs `{what}`"), &format!("give {what}=, {kind}"))
}

/// Columns of a table by name.
#[derive(Clone, Copy)]
struct Rows<'a>(&'a Table);

impl<'a> Rows<'a> {
    fn u32s(self, name: &str) -> &'a [u32] {
        match self.0.column(name).map(|column| &column.values) {
            Some(Values::U32(values)) => values,
            _ => &[],
        }
    }

    fn u64s(self, name: &str) -> &'a [u64] {
        match self.0.column(name).map(|column| &column.values) {
            Some(Values::U64(values)) => values,
            _ => &[],
        }
    }

    fn i64s(self, name: &str) -> &'a [i64] {
        match self.0.column(name).map(|column| &column.values) {
            Some(Values::I64(values)) => values,
            _ => &[],
        }
    }

    /// True where a column is known.
    fn is_known(self, name: &str, row: usize) -> bool {
        self.0.column(name).and_then(|column| column.known.as_ref()).is_none_or(|known| known[row])
    }

    /// Some rows of a column of whole numbers, under another name.
    fn column(self, from: &str, places: &[usize], (name, unit, doc): (&str, &'static str, &str)) -> Column {
        let values = match self.0.column(from).map(|column| &column.values) {
            Some(Values::U32(values)) => Values::U32(picked(values, places)),
            Some(Values::U64(values)) => Values::U64(picked(values, places)),
            Some(Values::I64(values)) => Values::I64(picked(values, places)),
            _ => Values::U32(Vec::new()),
        };
        let known: Vec<bool> = places.iter().map(|&at| self.is_known(from, at)).collect();
        Column { known: known.contains(&false).then_some(known), ..Column::new(name, unit, doc, values) }
    }

    /// Rows that hold what is asked.
    fn places(self, is_wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.0.rows()).filter(|&row| is_wanted(row)).collect()
    }

    fn times(self) -> &'a [u64] {
        self.u64s("time_ns")
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// `Time` of these rows.
fn time(times_ns: impl Iterator<Item = u64>) -> Column {
    Column::new("Time", "s", "Time on the clock of the events.", Values::F64(times_ns.map(seconds).collect()))
}

/// Some values of a column.
fn picked<T: Copy>(values: &[T], places: &[usize]) -> Vec<T> {
    places.iter().map(|&at| values[at]).collect()
}
