// SPDX-License-Identifier: GPL-2.0-or-later
//! Balance of the core as a scheduler of sched_ext, task groups there, and targets that were not followed. Each
//! function is the C function of the same name, a step of a loop over CPUs or groups.

use crate::sys;

/// By how many tasks a queue is longer that a CPU without tasks takes from.
pub const SCX_LONGER_NEWIDLE: u32 = sys::SCX_LONGER_NEWIDLE;
/// By how many tasks a queue is longer that a CPU takes from which looks at its tick.
pub const SCX_LONGER_TICK: u32 = sys::SCX_LONGER_TICK;
/// Ticks between two such looks.
pub const SCX_BALANCE_TICKS: u32 = sys::SCX_BALANCE_TICKS;
/// Time between two updates of blocked averages of idle CPUs, ns.
pub const SCX_REFRESH_NS: u64 = sys::SCX_REFRESH_NS as u64;

/// Tasks are left where they are.
#[must_use]
pub fn scx_holds_balance(energy_aware: bool, overutilized: bool) -> bool {
    sys::scx_holds_balance(energy_aware.into(), overutilized.into()) != 0
}

/// A task waits beside the running one, if one runs.
#[must_use]
pub fn scx_is_long(nr_queued: u32, has_curr: bool) -> bool {
    sys::scx_is_long(nr_queued, has_curr.into()) != 0
}

/// A queue to take from that is better than the best so far, `most`: its number of tasks, and whether it is of the
/// taker's cache.
///
/// ```
/// assert!(pelton_core::scx_is_longer(3, true, true, 1, (4, false)));
/// assert!(!pelton_core::scx_is_longer(4, true, false, 1, (4, false)));
/// ```
#[must_use]
pub fn scx_is_longer(nr_queued: u32, has_curr: bool, near: bool, least: u32, most: (u32, bool)) -> bool {
    sys::scx_is_longer(nr_queued, has_curr.into(), near.into(), least, most.0, most.1.into()) != 0
}

/// Utilization of a task within its clamps, lower and upper one.
#[must_use]
pub fn uclamp_clamped(util: u32, (min, max): (u32, u32)) -> u32 {
    sys::uclamp_clamped(util, min, max)
}

/// Room of an idle CPU for a task that waits elsewhere.
#[must_use]
pub fn scx_idle_room(cap_orig: u32, near: bool) -> u32 {
    sys::scx_idle_room(cap_orig, near.into())
}

/// Moment to look whether a target was followed.
#[must_use]
pub fn cpuperf_looks(now: u64, handed_ns: u64, insisted_ns: u64) -> bool {
    sys::cpuperf_looks(now, handed_ns, insisted_ns) != 0
}

/// A domain at speed `is` of 1024 is where the largest request of its CPUs leads to; `others`: need of real-time and
/// deadline tasks.
///
/// ```
/// assert!(pelton_core::cpuperf_is_followed(512, 1_200_000, 2_400_000, 0));
/// assert!(!pelton_core::cpuperf_is_followed(768, 1_200_000, 2_400_000, 100));
/// ```
#[must_use]
pub fn cpuperf_is_followed(is: u32, most_khz: u32, ref_khz: u32, others: u64) -> bool {
    sys::cpuperf_is_followed(is, most_khz, ref_khz, others) != 0
}

/// Weight of a task one level of groups further up: its part of the group's shares.
///
/// ```
/// // Three tasks of nice 0 in a group of the default weight.
/// assert_eq!(pelton_core::scx_share(1024 << 10, 1024, 3 * 1024), 341 << 10 | 341);
/// ```
#[must_use]
pub fn scx_share(weight: u64, shares: u64, load: i64) -> u64 {
    sys::scx_share(weight, shares, load)
}

/// Periods of a quota that have ended at `now`, ns.
#[must_use]
pub fn scx_periods(now: u64, ends_ns: u64, period_ns: u64) -> u64 {
    sys::scx_periods(now, ends_ns, period_ns)
}

/// Time that a pool of which `left` is there gets at the end of so many periods, ns.
#[must_use]
pub fn scx_refill(left: i64, quota_ns: u64, burst_ns: u64, periods: u64) -> u64 {
    sys::scx_refill(left, quota_ns, burst_ns, periods)
}
