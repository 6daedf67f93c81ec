// SPDX-License-Identifier: GPL-2.0-or-later
//! The limit of the real-time class. Each function is the C function of the same name.

use crate::ffi;
use crate::policy::Policy;
use crate::records::RtLimit;

/// Period of the limit, ns.
pub const RT_PERIOD_NS: u64 = 1_000_000_000;
/// What real-time tasks may run in it at first, ns.
pub const RT_RUNTIME_NS: u64 = 950_000_000;

/// After this time a task of SCHED_RR goes behind its equals, ns.
pub const RR_TIMESLICE_NS: u64 = 100_000_000;

impl RtLimit {
    /// A CPU at the start.
    #[must_use]
    pub fn new() -> RtLimit {
        RtLimit { runtime_ns: RT_RUNTIME_NS, ..RtLimit::default() }
    }

    /// It used more than it has.
    #[must_use]
    pub fn over(&self) -> bool {
        ffi::pelton_x_rt_over(self) != 0
    }

    /// Takes part of what another of `cpus` CPUs has not used.
    pub fn borrow(&mut self, other: &mut RtLimit, cpus: u32) {
        ffi::pelton_x_rt_borrow(self, other, cpus);
    }

    /// Throttles it when it is over its limit; true when it just was.
    pub fn exceeded(&mut self) -> bool {
        ffi::pelton_x_rt_exceeded(self) != 0
    }

    /// Periods are over; true when it is no longer throttled.
    pub fn replenish(&mut self, overrun: u64) -> bool {
        ffi::pelton_x_rt_replenish(self, overrun) != 0
    }

    /// Without sharing it has the same as all others again.
    pub fn equal(&mut self, policy: &Policy) {
        ffi::pelton_x_rt_equal(policy, self);
    }
}
