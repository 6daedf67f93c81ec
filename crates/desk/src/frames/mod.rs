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
}

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
    (frame.make)(&Seen { tables, facts: subject.facts(), subject, question })
}

impl Seen<'_> {
    /// The first table it needs.
    fn table(&self) -> Rows<'_> {
        Rows(&self.tables[0])
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

    /// The numbers of the task that is asked for: a name may belong to several.
    fn tids(&self) -> Result<Vec<u32>, LabError> {
        let tids = match self.question.task.as_ref().ok_or_else(|| asked("task", "a number or a name"))? {
            TaskName::Tid(tid) => vec![*tid],
            TaskName::Name(name) => {
                self.facts.names.iter().filter(|(_, known)| *known == name).map(|(tid, _)| *tid).collect()
            }
        };
        if tids.is_empty() {
            let known = self.facts.names.values().take(12).cloned().collect::<Vec<_>>().join(", ");
            return Err(LabError::refused(Fault::Request, "there is no task of that name", &format!("some: {known}")));
        }
        Ok(tids)
    }

    /// Name of a task.
    fn comm(&self, tid: u32) -> &str {
        self.facts.names.get(&tid).map_or(if tid == 0 { "swapper" } else { "" }, String::as_str)
    }

    fn comms(&self, tids: &[u32]) -> Column {
        let names: Words = tids.iter().map(|&tid| self.comm(tid)).collect();
        Column::words("comm", "Name of the task.", names)
    }

    /// CPUs of the frequency domain of one; of a trace those whose frequencies always changed together.
    fn domain_of(&self, cpu: u32) -> Vec<u32> {
        match self.subject.plan() {
            Some(plan) => {
                let domain = plan.machine.cpus[cpu as usize].domain as usize;
                plan.machine.domains[domain].cpus.clone()
            }
            None => vec![cpu],
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
