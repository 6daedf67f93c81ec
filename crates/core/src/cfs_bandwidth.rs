// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: records and methods of `core/include/pelton/cfs_bandwidth.h`. Each function is the C function
//! of the same name; times are the kernel's clock, ns.

use crate::policy::Policy;
use crate::sys::{self, CfsBandwidth, CfsRuntime};

/// "No limit" in place of a quota.
pub const RUNTIME_INF: u64 = sys::RUNTIME_INF;

impl CfsBandwidth {
    /// Sets quota, period and burst, ns, and fills the pool.
    #[must_use]
    pub fn set(&mut self, policy: &Policy, limit_ns: (u64, u64, u64), now: u64) -> u32 {
        sys::set_cfs_bandwidth(policy, self, &[limit_ns.0, limit_ns.1, limit_ns.2], now)
    }

    /// Entities of the queue ran for `delta` ns.
    #[must_use]
    pub fn account(&mut self, policy: &Policy, q: &mut CfsRuntime, delta: u64, now: u64, tick_ns: u64) -> u32 {
        sys::account_cfs_rq_runtime(policy, self, q, delta, now, tick_ns)
    }

    /// The queue gets its first entity: does it have runtime?
    #[must_use]
    pub fn enqueue(&mut self, policy: &Policy, q: &mut CfsRuntime, now: u64, tick_ns: u64) -> u32 {
        sys::enqueue_cfs_rq_runtime(policy, self, q, now, tick_ns)
    }

    /// Throttles a queue without runtime, unless some came meanwhile; `queued`: entities are on it.
    #[must_use]
    pub fn throttle(&mut self, policy: &Policy, q: &mut CfsRuntime, queued: bool, now: u64) -> u32 {
        sys::throttle_cfs_rq(policy, self, q, queued.into(), now)
    }

    /// The queue may run again.
    pub fn unthrottle(&mut self, q: &mut CfsRuntime, now: u64) {
        sys::unthrottle_cfs_rq(self, q, now);
    }

    /// Gives a throttled queue of the pool; true: it may run again.
    #[must_use]
    pub fn distribute(&mut self, q: &mut CfsRuntime) -> bool {
        sys::distribute_cfs_runtime(self, q) != 0
    }

    /// The last entity left the queue.
    #[must_use]
    pub fn give_back(&mut self, policy: &Policy, q: &mut CfsRuntime, now: u64) -> u32 {
        sys::return_cfs_rq_runtime(policy, self, q, now)
    }

    /// The slack timer expired.
    #[must_use]
    pub fn slack_timer(&mut self, policy: &Policy, now: u64) -> u32 {
        sys::cfs_slack_timer(policy, self, now)
    }

    /// The period timer expired; without `START` it stops.
    #[must_use]
    pub fn period_timer(&mut self, policy: &Policy, now: u64) -> u32 {
        sys::cfs_period_timer(policy, self, now)
    }
}

impl CfsRuntime {
    /// The limit changes: nothing is left.
    pub fn set(&mut self, policy: &Policy) {
        sys::set_cfs_runtime(policy, self);
    }

    /// A task waits for the throttled queue.
    pub fn note_throttled(&mut self, now: u64) {
        sys::note_throttled(self, now);
    }
}
