// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_DEADLINE: earliest deadline first among tasks held to their reservation by a constant bandwidth server
//! (docs/rules/deadline.md).

use pelton_core::{ClassTask, Policy};
use pelton_model::workload::SchedPolicy;

/// Deadline part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct DlEntity {
    /// The server itself.
    cbs: pelton_core::DlEntity,
    /// Time it ran since its runtime was last accounted, ns.
    ran_ns: u64,
    /// Its bandwidth counts in `running_bw` of this CPU.
    active: bool,
    /// Time at which the high-resolution tick looks at its runtime, where there is one, ns.
    hrtick_at_ns: Option<u64>,
    /// Of the replenishment timer: an older event is stale.
    throttle_generation: u32,
    /// Of the 0-lag timer.
    zero_lag_generation: u32,
}

impl DlEntity {
    /// The task is scheduled by this policy from now on.
    pub(crate) fn adopts(&mut self, policy: SchedPolicy) {
        if let SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns } = policy {
            self.cbs.set(runtime_ns, deadline_ns, period_ns);
        }
    }

    #[inline]
    pub(crate) fn deadline_ns(&self) -> u64 {
        self.cbs.deadline_ns
    }

    /// Its bandwidth counts in `running_bw` of its CPU.
    #[cfg(test)]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Its bandwidth counts, or no longer; true when that is new.
    pub(crate) fn becomes_active(&mut self, active: bool) -> bool {
        std::mem::replace(&mut self.active, active) != active
    }

    /// Bandwidth that it reserves, Q20.
    pub(crate) fn bw_q20(&self) -> u64 {
        self.cbs.dl_bw
    }

    /// Fills the fields that a search for a CPU reads.
    pub(crate) fn fill(&self, searches: &mut ClassTask) {
        searches.deadline_ns = self.cbs.deadline_ns;
        searches.dl_runtime_ns = self.cbs.dl_runtime_ns;
        searches.dl_deadline_ns = self.cbs.dl_deadline_ns;
        searches.dl_density = self.cbs.dl_density;
    }

    /// Adds running time, which is accounted later.
    #[inline]
    pub(crate) fn runs(&mut self, delta_ns: u64) {
        self.ran_ns += delta_ns;
    }

    /// Takes the time that it ran from its runtime; true: it is throttled from now on.
    pub(crate) fn accounts(&mut self, policy: &Policy, freq_scale: u32, cap: u32) -> bool {
        let ran_ns = std::mem::take(&mut self.ran_ns);
        !self.throttled() && self.cbs.ran(policy, ran_ns, freq_scale, cap)
    }

    /// Gives the rest of its budget away.
    pub(crate) fn yields(&mut self) {
        self.cbs.dl_yielded = 1;
    }

    /// Starts the next budget; returns its deadline.
    pub(crate) fn replenish(&mut self, now_ns: u64) -> u64 {
        self.cbs.replenish(now_ns);
        self.cbs.deadline_ns
    }

    /// Begin of its next period, ns.
    pub(crate) fn next_period_ns(&self) -> u64 {
        self.cbs.next_period_ns()
    }

    /// Throttled, it waits for a timer.
    pub(crate) fn waits_for_budget(&self, now_ns: u64) -> bool {
        self.cbs.timer_starts(now_ns) && self.cbs.next_period_ns() > now_ns
    }

    /// Until when its bandwidth counts once it sleeps.
    pub(crate) fn zero_lag_ns(&self) -> u64 {
        self.cbs.zero_lag_ns()
    }

    /// Starts the high-resolution tick that looks at its runtime, when it runs from `now_ns` on; `None`: there is none.
    pub(crate) fn start_hrtick(&mut self, now_ns: Option<u64>) {
        self.hrtick_at_ns = now_ns.map(|now_ns| now_ns.saturating_add(self.cbs.hrtick_ns()));
    }

    /// Time at which the high-resolution tick looks at its runtime, ns.
    #[inline]
    pub(crate) fn hrtick_at_ns(&self) -> Option<u64> {
        self.hrtick_at_ns
    }

    /// The high-resolution tick has come: it is over.
    #[inline]
    pub(crate) fn takes_hrtick(&mut self, now_ns: u64) -> bool {
        self.hrtick_at_ns.take_if(|at| *at <= now_ns).is_some()
    }

    /// The timer of this generation is the one that brings its next budget.
    pub(crate) fn awaits_budget(&self, generation: u32) -> bool {
        self.throttle_generation == generation
    }

    /// The timer of this generation is that of its 0-lag time.
    pub(crate) fn awaits_zero_lag(&self, generation: u32) -> bool {
        self.zero_lag_generation == generation
    }

    #[inline]
    pub(crate) fn throttled(&self) -> bool {
        self.cbs.dl_throttled != 0
    }

    /// Becomes runnable; false: it waits for its replenishment. A reservation that was never used starts a period.
    pub(crate) fn enqueue(&mut self, policy: &Policy, now_ns: u64, wakeup: bool) -> bool {
        if self.cbs.deadline_ns == 0 {
            self.cbs.new_period(now_ns);
            return true;
        }
        self.cbs.enqueue(policy, now_ns, wakeup)
    }

    /// Waits for its next budget; returns the generation of the timer.
    pub(crate) fn start_throttle(&mut self) -> u32 {
        self.throttle_generation += 1;
        self.throttle_generation
    }

    /// Leaves the class: nothing of the server remains but its parameters.
    pub(crate) fn reset(&mut self) {
        (self.cbs.dl_throttled, self.cbs.deadline_ns, self.cbs.runtime_ns) = (0, 0, 0);
        (self.ran_ns, self.hrtick_at_ns) = (0, None);
        self.throttle_generation += 1;
        self.stop_zero_lag();
    }

    /// Sleeps with bandwidth; returns the generation of its 0-lag timer.
    pub(crate) fn start_zero_lag(&mut self) -> u32 {
        self.zero_lag_generation += 1;
        self.zero_lag_generation
    }

    /// Awake again, or moved.
    pub(crate) fn stop_zero_lag(&mut self) {
        self.zero_lag_generation += 1;
    }
}

/// Deadline queue of one CPU: runnable, not throttled, not running; earliest deadline first.
#[derive(Clone, Debug, Default)]
pub(crate) struct DlRq {
    queue: Vec<(u64, u32)>,
    /// Sum of active reservations, Q20.
    running_bw_q20: u64,
}

impl DlRq {
    /// Sum of active reservations, Q20.
    #[inline]
    pub(crate) fn running_bw_q20(&self) -> u64 {
        self.running_bw_q20
    }

    /// A reservation becomes active here, or ceases to be.
    pub(crate) fn counts(&mut self, bw_q20: u64, active: bool) {
        let sum = self.running_bw_q20;
        self.running_bw_q20 = if active { sum + bw_q20 } else { sum.saturating_sub(bw_q20) };
    }

    /// Adds a task.
    pub(crate) fn enqueue(&mut self, deadline_ns: u64, task: u32) {
        let i = self.queue.partition_point(|&(d, _)| d <= deadline_ns);
        self.queue.insert(i, (deadline_ns, task));
    }

    /// Removes a task.
    pub(crate) fn dequeue(&mut self, task: u32) {
        self.queue.retain(|&(_, t)| t != task);
    }

    /// Earliest deadline and its task.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.queue.first().copied()
    }

    /// Waiting tasks, earliest deadline first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.queue.iter().copied()
    }

    /// Number of waiting tasks.
    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }
}
