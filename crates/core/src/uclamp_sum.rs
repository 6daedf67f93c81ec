// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps that add up: records and methods of `core/include/pelton/uclamp_sum.h`.

use crate::policy::Policy;
use crate::sys::{self, Avg, CfsRq, CpuState, UclampSumRq, UclampSumTask};

impl UclampSumTask {
    /// A sleeper's value up to `now_ns`; called before its record `avg` is brought there.
    pub fn age(&mut self, avg: &Avg, now_ns: u64) {
        sys::uclamp_sum_age_task(self, avg, now_ns);
    }

    /// Does this task, which joined just now, call the governor?
    #[inline]
    #[must_use]
    pub fn calls(&self, policy: &Policy) -> bool {
        sys::uclamp_sum_calls(policy, self) != 0
    }
}

impl UclampSumRq {
    /// Follows the root queue, which was just updated.
    #[inline]
    pub fn follow(&mut self, root: &CfsRq) {
        sys::uclamp_sum_follow(self, root);
    }

    /// The utilization of a counted task was published, or its clamps changed.
    #[inline]
    pub fn update(&mut self, policy: &Policy, task: &mut UclampSumTask, util: u32) {
        sys::uclamp_sum_update(policy, self, task, util);
    }

    /// A task joins; called when its averages have.
    ///
    /// ```
    /// use pelton_core::{Policy, UclampSumRq, UclampSumTask, value};
    /// let mut policy = Policy::profile("6.12").expect("a profile");
    /// policy.uclamp = value::UCLAMP_BIAS;
    /// let mut cpu = UclampSumRq::default();
    /// let mut hog = UclampSumTask { max: 200, ..UclampSumTask::default() };
    /// cpu.enqueue(&policy, &mut hog, 1024);
    /// assert_eq!((cpu.bias, cpu.util(&policy, 1024)), (-824, 200));
    /// ```
    #[inline]
    pub fn enqueue(&mut self, policy: &Policy, task: &mut UclampSumTask, util: u32) {
        sys::uclamp_sum_enqueue(policy, self, task, util);
    }

    /// A task leaves; called when its averages are up to date. What has to be taken out of the averages of the task and
    /// of every queue and entity above it ([`Avg::take_bias`]).
    #[inline]
    #[must_use]
    pub fn dequeue(&mut self, policy: &Policy, task: &mut UclampSumTask, migrates: bool) -> u32 {
        sys::uclamp_sum_dequeue(policy, self, task, migrates.into())
    }

    /// A sleeping task wakes elsewhere, or ends; it was aged up to its queue's last update.
    pub fn leave(&mut self, task: &mut UclampSumTask) {
        sys::uclamp_sum_leave(self, task);
    }

    /// Before a task joins: its estimate.
    #[inline]
    pub fn est_enqueue(&mut self, task: &mut UclampSumTask, est: u32) {
        sys::uclamp_sum_est_enqueue(self, task, est);
    }

    /// Before a task leaves.
    #[inline]
    pub fn est_dequeue(&mut self, task: &mut UclampSumTask) {
        sys::uclamp_sum_est_dequeue(self, task);
    }

    /// Clamped utilization of a CPU whose root queue has this utilization.
    #[inline]
    #[must_use]
    pub fn util(&self, policy: &Policy, util: u32) -> u32 {
        sys::uclamp_sum_util(policy, self, util)
    }

    /// Puts the clamps into the inputs of an evaluation. `rt_min` (`debt`): largest lower clamp of runnable RT tasks.
    #[inline]
    pub fn apply(&self, policy: &Policy, rt_min: u32, state: &mut CpuState) {
        sys::uclamp_sum_state(policy, self, rt_min, state);
    }
}

impl Avg {
    /// Takes a negative bias out of utilization.
    pub fn take_bias(&mut self, policy: &Policy, cut: u32) {
        sys::uclamp_take_bias(policy, self, cut);
    }
}
