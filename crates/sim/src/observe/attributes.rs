// SPDX-License-Identifier: GPL-2.0-or-later
//! Emits what a task is, so that a reader of the events can run them again.

use pelton_schema::{Event, pack_name};

use crate::engine::life::Kind;
use crate::shape::Run;
use crate::state::{Engine, Task};
use pelton_model::workload::{CpuSet, SchedPolicy};

/// Allowed CPUs an event has room for.
const CPUS_TOLD: u32 = 64;

impl<S: Run> Engine<'_, S> {
    /// Policy, priority and affinity of a task, at its start and whenever they change.
    pub(crate) fn tell_attributes(&mut self, t: u32) {
        if !S::ACTIVE {
            return;
        }
        let task = &self.tasks[t as usize];
        let event = Event::TaskAttributes {
            tid: Task::tid(t),
            policy: kernel_policy(task.policy()),
            prio: task.prio(),
            cpus_allowed: told(task.allowed()),
            uclamp_min: task.asked_clamps().map_or(0, |(min, _)| min),
            uclamp_max: task.asked_clamps().map_or(1024, |(_, max)| max),
            group: task.group.wrapping_add(1),
        };
        self.emit(event);
    }

    /// Introduces a new task: its name, where the header has none, and its attributes.
    pub(crate) fn introduce(&mut self, t: u32) {
        self.tell_name(t);
        self.tell_attributes(t);
    }

    /// The name of a task that was not there when the run began; the others are in the header of a log.
    fn tell_name(&mut self, t: u32) {
        let is_forked = matches!(self.tasks[t as usize].kind, Kind::Program { spec } if spec != t);
        if S::ACTIVE && is_forked {
            let (name_0, name_8) = pack_name(&self.tasks[t as usize].name);
            self.emit(Event::TaskName { tid: Task::tid(t), name_0, name_8 });
        }
    }
}

fn told(allowed: &CpuSet) -> u64 {
    allowed.iter().filter(|&cpu| cpu < CPUS_TOLD).fold(0, |bits, cpu| bits | 1 << cpu)
}

/// The kernel's number of a policy.
fn kernel_policy(policy: SchedPolicy) -> u32 {
    match policy {
        SchedPolicy::Normal { .. } => 0,
        SchedPolicy::Fifo { .. } => 1,
        SchedPolicy::RoundRobin { .. } => 2,
        SchedPolicy::Batch { .. } => 3,
        SchedPolicy::Idle => 5,
        SchedPolicy::Deadline { .. } => 6,
    }
}
