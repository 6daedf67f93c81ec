// SPDX-License-Identifier: GPL-2.0-or-later
//! The constant bandwidth server of a deadline task, and admission. Each function is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, DlEntity};

/// Period of the limit of reservations, ns.
pub const DL_LIMIT_PERIOD_NS: u64 = 1_000_000_000;
/// Part of that period that may be reserved of a CPU at first, ns.
pub const DL_LIMIT_RUNTIME_NS: u64 = 950_000_000;
/// Everything may be reserved.
pub const DL_LIMIT_NONE: u64 = sys::DL_LIMIT_NONE;

impl DlEntity {
    /// Takes the parameters of a reservation; a period of 0 is the deadline.
    pub fn set(&mut self, runtime_ns: u64, deadline_ns: u64, period_ns: u64) {
        sys::setparam_dl(self, runtime_ns, deadline_ns, period_ns);
    }

    /// True where the runtime that is left is more than the reservation allows until the deadline.
    #[must_use]
    pub fn overflows(&self, now_ns: u64) -> bool {
        sys::dl_entity_overflow(self, now_ns) != 0
    }

    /// Starts a period with a whole budget.
    pub fn new_period(&mut self, now_ns: u64) {
        sys::dl_new_period(self, now_ns);
    }

    /// Becomes runnable; false: it waits for its replenishment.
    pub fn enqueue(&mut self, policy: &Policy, now_ns: u64, wakeup: bool) -> bool {
        sys::enqueue_dl(policy, self, now_ns, wakeup.into()) != 0
    }

    /// Gets the next budget.
    ///
    /// ```
    /// let mut server = pelton_core::DlEntity::default();
    /// server.set(10_000, 100_000, 100_000);
    /// (server.deadline_ns, server.runtime_ns) = (200_000, -12_000);
    /// server.replenish(200_000);
    /// assert_eq!((server.deadline_ns, server.runtime_ns), (400_000, 8_000));
    /// ```
    pub fn replenish(&mut self, now_ns: u64) {
        sys::replenish_dl_entity(self, now_ns);
    }

    /// The task ran for `delta_ns` at the frequency `freq_scale` and the capacity `cap`, both of 1024; true: it is
    /// throttled.
    pub fn ran(&mut self, policy: &Policy, delta_ns: u64, freq_scale: u32, cap: u32) -> bool {
        sys::update_curr_dl(policy, self, delta_ns, freq_scale, cap) != 0
    }

    /// Begin of the next period.
    #[must_use]
    pub fn next_period_ns(&self) -> u64 {
        sys::dl_next_period(self)
    }

    /// Time until the high-resolution tick asks again, where there is one, ns.
    #[must_use]
    pub fn hrtick_ns(&self) -> u64 {
        sys::dl_hrtick(self)
    }

    /// Does the timer of its next period start?
    #[must_use]
    pub fn timer_starts(&self, now_ns: u64) -> bool {
        sys::dl_timer_starts(self.next_period_ns(), now_ns) != 0
    }

    /// Time at which the bandwidth of the sleeping task is free again, ns.
    #[must_use]
    pub fn zero_lag_ns(&self) -> u64 {
        sys::dl_zero_lag(self)
    }
}

/// Is there no room? `sums` are what is reserved, what of it goes and what comes, all Q20; `limit_bw` is what of one
/// CPU may be.
#[must_use]
pub fn dl_overflow(policy: &Policy, limit_bw: u64, sums: [u64; 3], cpus: u32, capacity: u64) -> bool {
    let [total_bw, old_bw, add_bw] = sums;
    sys::dl_overflow(policy, limit_bw, total_bw, old_bw, add_bw, cpus, capacity) != 0
}
