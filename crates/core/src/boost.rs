// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune: records and methods of `core/include/pelton/boost.h` and `boost_filter.h`.

use crate::policy::Policy;
use crate::sys::{self, BoostCpu, CpuState};
pub use crate::sys::{boost_full, boost_group_limit, boost_margin, boosted, filter_normalize, filter_payoff};

/// Boost groups of the largest form, the root included.
pub const BOOST_GROUPS: usize = sys::BOOST_GROUPS as usize;

impl BoostCpu {
    /// A task of group `idx` becomes runnable here, or leaves. `stamps`: its boost may be held.
    #[inline]
    pub fn count(&mut self, pol: &Policy, idx: u32, comes: bool, stamps: bool, now: u64) {
        sys::boost_tasks_update(pol, self, idx, comes.into(), stamps.into(), now);
    }

    /// A user writes a group's boost.
    pub fn write(&mut self, pol: &Policy, idx: u32, boost: i32, now: u64) {
        sys::boost_write(pol, self, idx, boost, now);
    }

    /// A runnable task of this CPU changes its group.
    pub fn relocate(&mut self, pol: &Policy, from: u32, to: u32, now: u64) {
        sys::boost_move(pol, self, from, to, now);
    }

    /// Looks up the largest boost of the active groups.
    pub fn refresh(&mut self, pol: &Policy, now: u64) {
        sys::boost_cpu_update(pol, self, now);
    }

    /// Boost of the CPU now.
    #[inline]
    pub fn boost(&mut self, pol: &Policy, now: u64) -> i32 {
        sys::boost_cpu(pol, self, now)
    }
}

impl CpuState {
    /// These inputs, with the fair class as busy as `boost` percent make it.
    #[inline]
    #[must_use]
    pub fn boosted(mut self, pol: &Policy, boost: i32) -> Self {
        sys::boost_state(pol, &mut self, boost);
        self
    }
}

/// Is a change of energy and capacity accepted under this boost?
///
/// ```
/// use pelton_core::{filter_accepts, filter_form::GEOMETRIC};
/// assert!(filter_accepts(GEOMETRIC, 50, 10, 20) && !filter_accepts(GEOMETRIC, 50, 10, 5));
/// ```
#[must_use]
pub fn filter_accepts(form: u32, boost: u32, energy: i32, capacity: i32) -> bool {
    sys::filter_accepts(form, boost, energy, capacity) != 0
}

/// Is it accepted by these rows of the form's table?
#[must_use]
pub fn filter_accepts_by(form: u32, rows: (u32, u32), energy: i32, capacity: i32) -> bool {
    sys::filter_accepts_by(form, rows.0, rows.1, energy, capacity) != 0
}
