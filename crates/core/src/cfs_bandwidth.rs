// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: records and methods of `core/include/pelton/cfs_bandwidth.h`. Each function is the C function
//! of the same name; times are the kernel's clock, ns.

use crate::ffi;
use crate::policy::Policy;
use crate::records::{LayoutRow, mirror};

/// "No limit" in place of a quota.
pub const RUNTIME_INF: u64 = u64::MAX;

/// What a step asks of its host.
pub mod quota {
    /// Arm the period timer for `period_end_ns`.
    pub const START: u32 = 1;
    /// Arm the slack timer for `slack_end_ns`.
    pub const SLACK: u32 = 2;
    /// Nothing is left: the CPU has to reschedule.
    pub const EXHAUSTED: u32 = 4;
    /// The queue is throttled now.
    pub const THROTTLED: u32 = 8;
    /// Hand the pool to throttled queues.
    pub const DISTRIBUTE: u32 = 16;
}

mirror! {
    /// What the queues of a group share of its quota.
    CfsBandwidth = "pelton_cfs_bandwidth" {
        /// Runtime of a period; [`RUNTIME_INF`] = no limit.
        quota_ns: u64,
        /// Length of a period.
        period_ns: u64,
        /// How much that was not used may be kept.
        burst_ns: u64,
        /// The pool.
        runtime_ns: u64,
        /// The same after the last refill.
        runtime_snap_ns: u64,
        /// When what is handed out now is lost.
        runtime_expires_ns: u64,
        /// When the period timer expires, or last expired.
        period_end_ns: u64,
        /// When the slack timer expires.
        slack_end_ns: u64,
        /// Time for which queues were throttled, summed over CPUs.
        throttled_time_ns: u64,
        /// Time used beyond the quota.
        burst_time_ns: u64,
        /// Periods that ended.
        nr_periods: u32,
        /// Those at whose end a queue was throttled.
        nr_throttled: u32,
        /// Those in which more than the quota was used.
        nr_burst: u32,
        /// Queues that are throttled.
        nr_waiting: u32,
        /// Number of the refill, where runtime expires.
        expires_seq: u32,
        /// No queue took from the pool since the last refill.
        idle: u32,
        /// The period timer runs.
        period_active: u32,
        /// The slack timer runs.
        slack_started: u32,
    }
}

mirror! {
    /// What the queue of a group has on one CPU.
    CfsRuntime = "pelton_cfs_runtime" {
        /// Runtime left; below 0 after an overrun.
        remaining_ns: i64,
        /// When it is lost.
        expires_ns: u64,
        /// Since when its time counts as throttled; 0 = it does not.
        throttled_clock_ns: u64,
        /// Number of the refill that it is from.
        expires_seq: u32,
        /// It may not run.
        throttled: u32,
    }
}

pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    CfsBandwidth::layout(rows);
    CfsRuntime::layout(rows);
}

impl CfsBandwidth {
    /// Sets quota, period and burst, ns, and fills the pool.
    #[must_use]
    pub fn set(&mut self, policy: &Policy, limit_ns: (u64, u64, u64), now: u64) -> u32 {
        ffi::pelton_x_set_cfs_bandwidth(policy, self, limit_ns.0, limit_ns.1, limit_ns.2, now)
    }

    /// Entities of the queue ran for `delta` ns.
    #[must_use]
    pub fn account(&mut self, policy: &Policy, q: &mut CfsRuntime, delta: u64, now: u64, tick_ns: u64) -> u32 {
        ffi::pelton_x_account_cfs_rq_runtime(policy, self, q, delta, now, tick_ns)
    }

    /// The queue gets its first entity: does it have runtime?
    #[must_use]
    pub fn enqueue(&mut self, policy: &Policy, q: &mut CfsRuntime, now: u64, tick_ns: u64) -> u32 {
        ffi::pelton_x_enqueue_cfs_rq_runtime(policy, self, q, now, tick_ns)
    }

    /// Throttles a queue without runtime, unless some came meanwhile; `queued`: entities are on it.
    #[must_use]
    pub fn throttle(&mut self, policy: &Policy, q: &mut CfsRuntime, queued: bool, now: u64) -> u32 {
        ffi::pelton_x_throttle_cfs_rq(policy, self, q, queued.into(), now)
    }

    /// The queue may run again.
    pub fn unthrottle(&mut self, q: &mut CfsRuntime, now: u64) {
        ffi::pelton_x_unthrottle_cfs_rq(self, q, now);
    }

    /// Gives a throttled queue of the pool; true: it may run again.
    #[must_use]
    pub fn distribute(&mut self, q: &mut CfsRuntime) -> bool {
        ffi::pelton_x_distribute_cfs_runtime(self, q) != 0
    }

    /// The last entity left the queue.
    #[must_use]
    pub fn give_back(&mut self, policy: &Policy, q: &mut CfsRuntime, now: u64) -> u32 {
        ffi::pelton_x_return_cfs_rq_runtime(policy, self, q, now)
    }

    /// The slack timer expired.
    #[must_use]
    pub fn slack_timer(&mut self, policy: &Policy, now: u64) -> u32 {
        ffi::pelton_x_cfs_slack_timer(policy, self, now)
    }

    /// The period timer expired; without `START` it stops.
    #[must_use]
    pub fn period_timer(&mut self, policy: &Policy, now: u64) -> u32 {
        ffi::pelton_x_cfs_period_timer(policy, self, now)
    }
}

impl CfsRuntime {
    /// The limit changes: nothing is left.
    pub fn set(&mut self, policy: &Policy) {
        ffi::pelton_x_set_cfs_runtime(policy, self);
    }

    /// A task waits for the throttled queue.
    pub fn note_throttled(&mut self, now: u64) {
        ffi::pelton_x_note_throttled(self, now);
    }
}
