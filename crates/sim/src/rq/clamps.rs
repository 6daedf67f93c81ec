// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps: what each task asks for, and which tasks count on which CPU where the largest holds. What that
//! makes of the CPU's clamps is the core's (`uclamp_max.h`).

use pelton_core::{Policy, UclampLimits, UclampTask, value};
use pelton_schema::Sink;

use crate::class::Class;
use crate::class::levels::ROOT;
use crate::engine::Engine;
use pelton_model::workload::Workload;

/// Lower clamp of real-time tasks that ask for none (sysctl_sched_util_clamp_min_rt_default).
const RT_MIN: u32 = 1024;

/// Somebody has set a clamp before the run, and the policy has them.
pub(crate) fn are_used(w: &Workload, policy: &Policy) -> bool {
    policy.uclamp != value::UCLAMP_OFF && w.starts_clamped()
}

/// Groups count for a part of each CPU at most.
pub(crate) fn limit_groups(w: &Workload, policy: &Policy) -> bool {
    policy.uclamp == value::UCLAMP_GROUP_THROTTLE && w.limits_groups()
}

/// Clamps of a CPU's tasks add up under this policy.
pub(crate) fn add_up(policy: &Policy) -> bool {
    policy.uclamp >= value::UCLAMP_SUM
}

impl<S: Sink> Engine<'_, S> {
    /// Somebody asks for a clamp: from the first time on they are in use (`sched_uclamp_used`). Tasks that are queued
    /// then count from their next enqueue on; sums, which no release has, count them at once.
    #[inline]
    pub(crate) fn use_clamps(&mut self) {
        if !self.clamped && self.policy.uclamp != value::UCLAMP_OFF {
            self.begin_clamps();
        }
    }

    #[cold]
    fn begin_clamps(&mut self) {
        (self.clamped, self.clamp_sums) = (true, add_up(self.policy));
        for c in 0..self.cpus.len() as u32 {
            self.sums_follow(c);
            self.request_changes(c);
        }
        for t in 0..self.tasks.len() as u32 {
            let task = &mut self.tasks[t as usize];
            task.counts_later();
            if task.class == Class::Fair && task.se.on_rq != 0 {
                let c = task.cpu;
                self.sums_begin(c, t);
            }
        }
    }

    /// Task `t` is taken off its queue and put back, where it is runnable: it counts from now on.
    pub(crate) fn clamps_requeue(&mut self, t: u32) {
        let task = &self.tasks[t as usize];
        if self.clamped && task.waits_to_count() {
            self.clamps_in(task.cpu, t);
        }
    }

    /// Task `t` becomes runnable on CPU `c`.
    pub(crate) fn clamps_in(&mut self, c: u32, t: u32) {
        self.tasks[t as usize].counts_now();
        if !self.clamped || !self.has_largest(self.tasks[t as usize].class) {
            return;
        }
        self.ask_clamps(t);
        let limits = self.clamp_limits(t);
        self.cpus[c as usize].uclamp.inc(&mut self.tasks[t as usize].uclamp, &limits);
        self.request_changes(c);
    }

    /// Task `t` is no longer runnable on CPU `c`.
    pub(crate) fn clamps_out(&mut self, c: u32, t: u32) {
        if self.clamped {
            self.cpus[c as usize].uclamp.dec(&mut self.tasks[t as usize].uclamp);
            self.request_changes(c);
        }
    }

    /// Clamps of a task: in force, or those it would get.
    pub(crate) fn clamps_of(&self, t: u32) -> (u32, u32) {
        let task = &self.tasks[t as usize];
        let asked = UclampTask { requested: asked(task.class, task.clamps), ..task.uclamp };
        asked.effective(&self.clamp_limits(t))
    }

    /// What limits a task's request: its group's clamps.
    fn clamp_limits(&self, t: u32) -> UclampLimits {
        match self.tasks[t as usize].group {
            ROOT => UclampLimits::NONE,
            group => {
                let (group_min, group_max) = self.groups.list[group as usize].clamps;
                UclampLimits { group_min, group_max, ..UclampLimits::NONE }
            }
        }
    }

    /// What the task asks for by its class.
    fn ask_clamps(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        task.uclamp.requested = asked(task.class, task.clamps);
    }

    /// A task's clamps are set. True when they are others; where clamps add up the same ones count again, too.
    pub(crate) fn change_clamps(&mut self, t: u32, clamps: (u32, u32)) -> bool {
        self.use_clamps();
        let differs = self.tasks[t as usize].clamps != Some(clamps);
        if !self.clamped || !(differs || self.clamp_sums) {
            return false;
        }
        self.tasks[t as usize].clamps = Some(clamps);
        self.sums_requeue(self.tasks[t as usize].cpu, t);
        self.clamps_requeue(t);
        self.limits_change(t);
        differs
    }

    /// What limits a task, or what it asks for, is another now.
    pub(crate) fn limits_change(&mut self, t: u32) {
        if !self.clamped {
            return;
        }
        self.ask_clamps(t);
        let (c, limits) = (self.tasks[t as usize].cpu, self.clamp_limits(t));
        self.cpus[c as usize].uclamp.update(&mut self.tasks[t as usize].uclamp, &limits);
        self.sums_update(c, t);
        self.request_changes(c);
    }

    /// The running task is of another class now.
    pub(crate) fn reclass_clamps(&mut self, c: u32, t: u32) {
        if self.clamped {
            self.clamps_out(c, t);
            self.clamps_in(c, t);
        }
    }

    /// Is the largest clamp of the tasks of this class kept? Where clamps add up that is at most for real-time tasks.
    /// Deadline tasks, and the worker that is one, have no clamps.
    pub(crate) fn has_largest(&self, class: Class) -> bool {
        match class {
            Class::Fair => !self.clamp_sums,
            Class::Realtime => !self.clamp_sums || self.policy.uclamp == value::UCLAMP_DEBT,
            Class::Deadline | Class::Worker => false,
        }
    }
}

fn asked(class: Class, clamps: Option<(u32, u32)>) -> [u32; 2] {
    let unset = if class == Class::Realtime { (RT_MIN, 1024) } else { (0, 1024) };
    let (min, max) = clamps.unwrap_or(unset);
    [min, max]
}
