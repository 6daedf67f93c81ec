// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle groups (`cpu.idle`): their shares, and which tasks count as idle ones.

use crate::Policy;
use crate::sys;
pub use crate::sys::h_nr_idle_above;

/// Are there idle groups under this policy?
///
/// ```
/// let policy = |profile| pelton_core::Policy::profile(profile).expect("known");
/// assert!(!pelton_core::has_idle_groups(&policy("5.10")) && pelton_core::has_idle_groups(&policy("6.1")));
/// ```
#[must_use]
pub fn has_idle_groups(p: &Policy) -> bool {
    sys::has_idle_groups(p) != 0
}

/// Shares of a group whose `cpu.idle` is written.
#[must_use]
pub fn shares_when_idle(idle: bool) -> u64 {
    sys::shares_when_idle(idle.into())
}

/// May the weight of a group be written?
#[must_use]
pub fn shares_writable(idle: bool) -> bool {
    sys::shares_writable(idle.into()) != 0
}

/// A group with `queued` tasks on a CPU, `h_nr_idle` of them idle ones, becomes idle or ceases to be: what the queue
/// above has more.
#[must_use]
pub fn set_idle_delta(idle: bool, queued: u32, h_nr_idle: u32) -> i32 {
    sys::set_idle_delta(idle.into(), queued, h_nr_idle)
}

/// Does a CPU run idle tasks only?
#[inline]
#[must_use]
pub fn sched_idle_rq(nr_running: u32, h_nr_idle: u32) -> bool {
    sys::sched_idle_rq(nr_running, h_nr_idle) != 0
}
