// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps: which tasks count on which CPU. What that makes of the CPU's clamps is the core's (`uclamp_max.h`).

use pelton_core::{Policy, UclampLimits, value};
use pelton_schema::Sink;

use crate::class::Class;
use crate::engine::Engine;
use crate::workload::Workload;

/// Lower clamp of real-time tasks that ask for none (sysctl_sched_util_clamp_min_rt_default).
const RT_MIN: u32 = 1024;

/// Somebody sets a clamp, and the policy has them.
pub(crate) fn are_used(w: &Workload, policy: &Policy) -> bool {
    let set = |t: &crate::workload::TaskSpec| t.uclamp.is_some() || t.phases.iter().any(|p| p.uclamp.is_some());
    policy.uclamp == value::UCLAMP_MAX && w.tasks.iter().any(set)
}

impl<S: Sink> Engine<'_, S> {
    /// Task `t` becomes runnable on CPU `c`.
    pub(crate) fn clamps_in(&mut self, c: u32, t: u32) {
        if !self.clamped || !has_clamps(self.tasks[t as usize].class) {
            return;
        }
        self.ask_clamps(t);
        self.cpus[c as usize].uclamp.inc(&mut self.tasks[t as usize].uclamp, &UclampLimits::NONE);
        self.request_changes(c);
    }

    /// Task `t` is no longer runnable on CPU `c`.
    pub(crate) fn clamps_out(&mut self, c: u32, t: u32) {
        if self.clamped {
            self.cpus[c as usize].uclamp.dec(&mut self.tasks[t as usize].uclamp);
            self.request_changes(c);
        }
    }

    /// What the task asks for by its class.
    fn ask_clamps(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        let unset = if task.class == Class::Realtime { (RT_MIN, 1024) } else { (0, 1024) };
        let (min, max) = task.clamps.unwrap_or(unset);
        task.uclamp.requested = [min, max];
    }

    /// The running task changes its clamps. True when they are others.
    pub(crate) fn change_clamps(&mut self, t: u32, clamps: (u32, u32)) -> bool {
        if !self.clamped || self.tasks[t as usize].clamps == Some(clamps) {
            return false;
        }
        self.tasks[t as usize].clamps = Some(clamps);
        self.ask_clamps(t);
        let c = self.tasks[t as usize].cpu;
        self.cpus[c as usize].uclamp.update(&mut self.tasks[t as usize].uclamp, &UclampLimits::NONE);
        self.request_changes(c);
        true
    }

    /// The running task is of another class now.
    pub(crate) fn reclass_clamps(&mut self, c: u32, t: u32) {
        if self.clamped {
            self.clamps_out(c, t);
            self.clamps_in(c, t);
        }
    }
}

/// Deadline tasks, and the worker that is one, have no clamps.
fn has_clamps(class: Class) -> bool {
    matches!(class, Class::Fair | Class::Realtime)
}
