// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps that add up: which tasks count on which CPU, and when. The sums are the core's (`uclamp_sum.h`).

use pelton_core::fair::{task_inv_weight, task_weight};
use pelton_core::{NO_GROUP, UclampSumRq, UclampSumTask, dequeue, group_est};
use pelton_schema::HookSite;

use crate::class::levels::ROOT;
use crate::class::weight_level;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// The root queue of CPU `c` was updated.
    #[inline]
    pub(crate) fn sums_follow(&mut self, c: u32) {
        if self.uses.clamp_sums {
            self.follow_root(c);
        }
    }

    fn follow_root(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        let before = cpu.clamp_sum;
        cpu.clamp_sum.follow(&cpu.rq.cfs);
        self.sums_changed(c, &before);
    }

    /// Averages of task `t` on CPU `c`, or its clamps, may be others now.
    #[inline]
    pub(crate) fn sums_update(&mut self, c: u32, t: u32) {
        if self.uses.clamp_sums {
            self.update_sums(c, t);
        }
    }

    fn update_sums(&mut self, c: u32, t: u32) {
        self.learn_clamps(t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let before = cpu.clamp_sum;
        cpu.clamp_sum.update(self.policy.get(), &mut task.clamp_sum, task.se.avg.util_avg as u32);
        self.sums_changed(c, &before);
    }

    /// The request of CPU `c` is made of its sums, too.
    fn sums_changed(&mut self, c: u32, before: &UclampSumRq) {
        let now = &self.cpus[c as usize].clamp_sum;
        if (now.root, now.bias, now.debt) != (before.root, before.bias, before.debt) {
            self.request_changes(c);
        }
    }

    /// Task `t` is about to join the fair class of CPU `c`, or a delayed one to be taken back.
    pub(crate) fn sums_before_enqueue(&mut self, c: u32, t: u32) {
        if self.uses.limits_groups {
            return self.limited_before_enqueue(c, t);
        }
        if !self.uses.clamp_sums {
            return;
        }
        if self.tasks[t as usize].clamp_sum.counted == 0 {
            self.age_clamp(c, t);
            self.learn_clamps(t);
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.clamp_sum.est_enqueue(&mut task.clamp_sum, task.se.util_est(self.policy.get()));
    }

    /// Adds the estimate of a task before it is enqueued, where groups are limited: within the part that its group
    /// counts for here, and without sums.
    fn limited_before_enqueue(&mut self, c: u32, t: u32) {
        let max = if self.uses.clamped { self.clamps_of(t).1 } else { u32::MAX };
        let throttle = self.throttle_of(t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let est = group_est(task.se.util_est(self.policy.get()), max, throttle, cpu.rq.cap_orig);
        task.clamp_sum = UclampSumTask { max: u32::MAX, ..task.clamp_sum };
        cpu.clamp_sum.est_enqueue(&mut task.clamp_sum, est);
    }

    /// Part of a CPU that the group of task `t` counts for at most.
    pub(crate) fn throttle_of(&self, t: u32) -> u32 {
        match self.tasks[t as usize].group {
            ROOT => NO_GROUP,
            group => self.groups.list[group as usize].throttle,
        }
    }

    /// Task `t` is queued on CPU `c` when clamps begin to be in use.
    pub(crate) fn sums_begin(&mut self, c: u32, t: u32) {
        if !self.tasks[t as usize].fair.is_delayed() {
            self.sums_before_dequeue(c, t);
            self.sums_before_enqueue(c, t);
        } else if self.uses.clamp_sums {
            self.age_clamp(c, t);
            self.learn_clamps(t);
        }
        self.sums_enqueue(c, t);
    }

    /// Task `t` joined the fair class of CPU `c`.
    pub(crate) fn sums_enqueue(&mut self, c: u32, t: u32) {
        if !self.uses.clamp_sums || self.tasks[t as usize].clamp_sum.counted != 0 {
            return;
        }
        self.request_changes(c);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.clamp_sum.enqueue(self.policy.get(), &mut task.clamp_sum, task.se.avg.util_avg as u32);
        if task.clamp_sum.calls(self.policy.get()) {
            self.hook_event(c, HookSite::Uclamp, 0);
        }
    }

    /// Task `t` is about to leave the fair class of CPU `c`, or its dequeue to be delayed, until whose end it counts.
    pub(crate) fn sums_before_dequeue(&mut self, c: u32, t: u32) {
        if self.uses.clamp_sums || self.uses.limits_groups {
            self.cpus[c as usize].clamp_sum.est_dequeue(&mut self.tasks[t as usize].clamp_sum);
        }
    }

    /// Task `t` left the fair class of CPU `c`.
    pub(crate) fn sums_dequeue(&mut self, c: u32, t: u32, flags: u32) {
        if !self.uses.clamp_sums {
            return;
        }
        self.request_changes(c);
        let migrates = flags & dequeue::MIGRATE != 0;
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cut = cpu.clamp_sum.dequeue(self.policy.get(), &mut task.clamp_sum, migrates);
        if cut > 0 {
            self.take_bias(c, t, cut);
        }
    }

    /// Task `t` of CPU `c` sets its clamps: it is taken off its queue and put back, which is no migration, so that what
    /// its old cap cut off goes from the averages (sched_setattr; a board shows it, docs/gaps.md F-290).
    pub(crate) fn sums_requeue(&mut self, c: u32, t: u32) {
        if !self.uses.clamp_sums || self.tasks[t as usize].clamp_sum.counted == 0 {
            return;
        }
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cut = cpu.clamp_sum.dequeue(self.policy.get(), &mut task.clamp_sum, false);
        if cut > 0 {
            self.take_bias(c, t, cut);
        }
        self.learn_clamps(t);
        let (cpu, task) = (&mut self.cpus[c as usize], &mut self.tasks[t as usize]);
        cpu.clamp_sum.enqueue(self.policy.get(), &mut task.clamp_sum, task.se.avg.util_avg as u32);
        self.request_changes(c);
    }

    /// Takes what a cap cut off out of the averages of a task, of its queue and of all above.
    fn take_bias(&mut self, c: u32, t: u32, cut: u32) {
        let mut slot = self.task_slot(c, t).unwrap_or(ROOT);
        let (policy, cpu) = (self.policy.get(), &mut self.cpus[c as usize]);
        self.tasks[t as usize].se.avg.take_bias(policy, cut);
        while slot != ROOT {
            let own = cpu.levels.at_mut(slot);
            let (se, load) = own.records();
            load.avg.take_bias(policy, cut);
            se.avg.take_bias(policy, cut);
            slot = own.parent();
        }
        cpu.rq.cfs.avg.take_bias(policy, cut);
    }

    /// Task `t`, which sleeps, takes its averages away from its CPU.
    pub(crate) fn sums_leave_asleep(&mut self, t: u32) {
        if self.uses.clamp_sums {
            let c = self.tasks[t as usize].cpu;
            self.age_clamp(c, t);
            self.cpus[c as usize].clamp_sum.leave(&mut self.tasks[t as usize].clamp_sum);
        }
    }

    /// Decays a sleeper's clamps up to the last update of its queue.
    fn age_clamp(&mut self, c: u32, t: u32) {
        let slot = self.task_slot(c, t);
        let (cpu, task) = (&self.cpus[c as usize], &mut self.tasks[t as usize]);
        let cfs = slot.map_or(&cpu.rq.cfs, |slot| cpu.levels.at(slot).load());
        task.clamp_sum.age(&task.se.avg, cfs.avg.last_update_time_ns);
    }

    /// Fills the fields of a task that the core's sums read.
    fn learn_clamps(&mut self, t: u32) {
        let (min, max) = self.clamps_of(t);
        let task = &mut self.tasks[t as usize];
        let level = weight_level(task.policy()).unwrap_or(u32::MAX);
        let (weight, inv_weight) = (task_weight(level), task_inv_weight(level));
        task.clamp_sum = UclampSumTask { id: t, weight, inv_weight, min, max, ..task.clamp_sum };
    }
}
