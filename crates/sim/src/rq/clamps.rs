// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps: what each task asks for, and which tasks count on which CPU where the largest holds. What that
//! makes of the CPU's clamps is the core's (`uclamp_max.h`).

use pelton_core::{Policy, UclampLimits, UclampTask, uclamp_is_used, value};

use crate::class::Class;
use crate::class::levels::ROOT;
use crate::shape::Run;
use crate::state::Engine;
use pelton_model::workload::Workload;

/// Lower clamp of real-time tasks that ask for none (sysctl_sched_util_clamp_min_rt_default).
const RT_MIN: u32 = 1024;

/// Clamps are in use from the start of a run on.
pub(crate) fn are_used(w: &Workload, policy: &Policy) -> bool {
    uclamp_is_used(policy, w.starts_clamped())
}

/// Groups count for a part of each CPU at most.
pub(crate) fn limit_groups(w: &Workload, policy: &Policy) -> bool {
    policy.uclamp == value::UCLAMP_GROUP_THROTTLE && w.limits_groups()
}

/// Clamps of a CPU's tasks add up under this policy.
pub(crate) fn add_up(policy: &Policy) -> bool {
    policy.uclamp >= value::UCLAMP_SUM
}

impl<S: Run> Engine<'_, S> {
    /// A task or a group asks for a clamp: from the first one on clamps are in use (`sched_uclamp_used`). Tasks that
    /// are queued then count from their next enqueue on; sums, which no release has, count them at once.
    #[inline]
    pub(crate) fn use_clamps(&mut self) {
        if !self.uses.clamped && uclamp_is_used(self.policy.get(), true) {
            self.begin_clamps();
        }
    }

    #[cold]
    fn begin_clamps(&mut self) {
        self.uses.begins_clamps(add_up(self.policy.get()));
        for c in 0..self.cpus.len() as u32 {
            self.sums_follow(c);
            self.request_changes(c);
        }
        for t in 0..self.tasks.len() as u32 {
            let task = &mut self.tasks[t as usize];
            task.counts_later();
            if task.is_fair() && task.se.on_rq != 0 {
                let c = task.cpu;
                self.sums_begin(c, t);
            }
        }
    }

    /// Task `t` is taken off its queue and put back, where it is runnable: it counts from now on.
    pub(crate) fn clamps_requeue(&mut self, t: u32) {
        let task = &self.tasks[t as usize];
        if self.uses.clamped && task.waits_to_count() {
            self.clamps_in(task.cpu, t);
        }
    }

    /// Task `t` becomes runnable on CPU `c`.
    pub(crate) fn clamps_in(&mut self, c: u32, t: u32) {
        self.tasks[t as usize].counts_now();
        if !self.uses.clamped || !self.has_largest(self.tasks[t as usize].class()) {
            return;
        }
        self.ask_clamps(t);
        let limits = self.clamp_limits(t);
        self.cpus[c as usize].uclamp.inc(self.policy.get(), &mut self.tasks[t as usize].uclamp, &limits);
        self.request_changes(c);
    }

    /// Task `t` is no longer runnable on CPU `c`.
    pub(crate) fn clamps_out(&mut self, c: u32, t: u32) {
        if self.uses.clamped {
            self.cpus[c as usize].uclamp.dec(&mut self.tasks[t as usize].uclamp);
            self.request_changes(c);
        }
    }

    /// Clamps of a task: in force, or those it would get.
    pub(crate) fn clamps_of(&self, t: u32) -> (u32, u32) {
        let task = &self.tasks[t as usize];
        let mut clamps = task.uclamp;
        ask(&mut clamps, task.class(), task.asked_clamps());
        clamps.effective(self.policy.get(), &self.clamp_limits(t))
    }

    /// Limits of a task's request: its group's clamps.
    fn clamp_limits(&self, t: u32) -> UclampLimits {
        match self.tasks[t as usize].group {
            ROOT => UclampLimits::NONE,
            group => UclampLimits::of_group(self.groups.list[group as usize].clamps),
        }
    }

    /// Sets the task's request by its class.
    fn ask_clamps(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        let (class, clamps) = (task.class(), task.asked_clamps());
        ask(&mut task.uclamp, class, clamps);
    }

    /// A task's clamps are set. True when they are others; where clamps add up the same ones count again, too.
    pub(crate) fn change_clamps(&mut self, t: u32, clamps: (u32, u32)) -> bool {
        self.use_clamps();
        let differs = self.tasks[t as usize].asked_clamps() != Some(clamps);
        if !self.uses.clamped || !(differs || self.uses.clamp_sums) {
            return false;
        }
        self.tasks[t as usize].asks_clamps(clamps);
        self.sums_requeue(self.tasks[t as usize].cpu, t);
        self.clamps_requeue(t);
        self.clamps_change(t);
        differs
    }

    /// Counts task `t` anew after a change of its request or its group: it was taken off its queue and put back.
    pub(crate) fn clamps_change(&mut self, t: u32) {
        if !self.uses.clamped {
            return;
        }
        self.ask_clamps(t);
        let (c, limits, clamps) =
            (self.tasks[t as usize].cpu, self.clamp_limits(t), &mut self.tasks[t as usize].uclamp);
        if clamps.active != [0, 0] {
            let cpu = &mut self.cpus[c as usize].uclamp;
            cpu.dec(clamps);
            cpu.inc(self.policy.get(), clamps, &limits);
        }
        self.sums_update(c, t);
        self.request_changes(c);
    }

    /// The clamps of a task's group are others now: which of the lower and the upper one.
    pub(crate) fn limits_change(&mut self, t: u32, changed: [bool; 2]) {
        if !self.uses.clamped {
            return;
        }
        self.ask_clamps(t);
        let (c, limits) = (self.tasks[t as usize].cpu, self.clamp_limits(t));
        self.cpus[c as usize].uclamp.update(self.policy.get(), &mut self.tasks[t as usize].uclamp, &limits, changed);
        self.sums_update(c, t);
        self.request_changes(c);
    }

    /// The running task is of another class now.
    pub(crate) fn reclass_clamps(&mut self, c: u32, t: u32) {
        if self.uses.clamped {
            self.clamps_out(c, t);
            self.clamps_in(c, t);
        }
    }

    /// True if the largest clamp of the tasks of this class is kept. Where clamps add up that is at most for real-time
    /// tasks. Deadline tasks, and the worker that is one, have no clamps.
    pub(crate) fn has_largest(&self, class: Class) -> bool {
        match class {
            Class::Fair => !self.uses.clamp_sums,
            Class::Realtime => !self.uses.clamp_sums || self.policy.uclamp == value::UCLAMP_DEBT,
            Class::Deadline | Class::Worker => false,
        }
    }
}

/// Request of a task of this class: its own clamps, else those of its class.
fn ask(task: &mut UclampTask, class: Class, clamps: Option<(u32, u32)>) {
    let unset = if class == Class::Realtime { (RT_MIN, 1024) } else { (0, 1024) };
    task.requested = clamps.unwrap_or(unset).into();
    task.user_defined = [clamps.is_some().into(); 2];
}
