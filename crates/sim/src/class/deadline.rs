// SPDX-License-Identifier: GPL-2.0-only
//! SCHED_DEADLINE: earliest deadline first among tasks held to their reservation by a constant bandwidth server (SPEC
//! J.3).

use pelton_core::Policy;

/// Deadline part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct DlEntity {
    /// The server itself.
    pub cbs: pelton_core::DlEntity,
    /// Time it ran since its runtime was last accounted, ns.
    pub ran_ns: u64,
    /// Its bandwidth counts in `running_bw` of this CPU.
    pub active: bool,
    /// When the high-resolution tick looks at its runtime, where there is one.
    pub hrtick_at_ns: Option<u64>,
    /// Of the replenishment timer: an older event is stale.
    pub throttle_generation: u32,
    /// Of the 0-lag timer.
    pub zero_lag_generation: u32,
}

impl DlEntity {
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
    pub running_bw_q20: u64,
}

impl DlRq {
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
