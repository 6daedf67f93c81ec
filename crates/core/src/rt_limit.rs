// SPDX-License-Identifier: GPL-2.0-or-later
//! The limit of the real-time class. Each function is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, RtLimit};

/// Period of the limit, ns.
pub const RT_PERIOD_NS: u64 = sys::RT_PERIOD_NS as u64;
/// Time that real-time tasks may run in a period at first, ns.
pub const RT_RUNTIME_NS: u64 = sys::RT_RUNTIME_NS as u64;

/// After this time a task of SCHED_RR goes behind its equals, ns.
pub const RR_TIMESLICE_NS: u64 = sys::RR_TIMESLICE_NS as u64;

impl RtLimit {
    /// A CPU at the start.
    #[must_use]
    pub fn new() -> RtLimit {
        RtLimit { runtime_ns: RT_RUNTIME_NS, ..RtLimit::default() }
    }

    /// True where the CPU used more than it has, and its limit is less than a whole period.
    #[must_use]
    pub fn over(&self) -> bool {
        sys::rt_over(self) != 0
    }

    /// Takes part of what another of `cpus` CPUs has not used.
    pub fn borrow(&mut self, other: &mut RtLimit, cpus: u32) {
        sys::rt_borrow(self, other, cpus);
    }

    /// Throttles it when it is over its limit; true when it just was.
    pub fn exceeded(&mut self) -> bool {
        sys::rt_exceeded(self) != 0
    }

    /// Periods are over; true when it is no longer throttled.
    pub fn replenish(&mut self, overrun: u64) -> bool {
        sys::rt_replenish(self, overrun) != 0
    }

    /// Without sharing it has the same as all others again.
    pub fn equal(&mut self, policy: &Policy) {
        sys::rt_equal(policy, self);
    }
}
