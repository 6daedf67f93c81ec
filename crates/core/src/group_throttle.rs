// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups that count for a part of each CPU at most: records and functions of
//! `core/include/pelton/group_throttle.h`.

pub use crate::sys::NO_GROUP;
pub use crate::sys::group_est;
use crate::sys::{self, CpuState, ThrottledGroup};

/// Most groups of a CPU that are looked at.
pub const THROTTLED_GROUPS_MAX: usize = sys::THROTTLED_GROUPS_MAX as usize;

/// Utilization, capacity, of a CPU whose root queue has `root` and whose groups are each limited to a part of
/// `capacity`; at least the sum of estimates `util_est`, at most the capacity.
///
/// ```
/// use pelton_core::{ThrottledGroup, group_throttled_util};
/// let background = ThrottledGroup { util: 400, throttle: 512 };
/// assert_eq!(group_throttled_util(400, 0, &[background], 383), 191);
/// ```
#[must_use]
pub fn group_throttled_util(root: u32, util_est: u32, groups: &[ThrottledGroup], capacity: u32) -> u32 {
    // SAFETY: the pointer and the length are those of one slice.
    unsafe { sys::group_throttled_util(root, util_est, groups.as_ptr(), groups.len() as u32, capacity) }
}

/// Utilization, capacity, of a root queue whose groups are each limited to a part of `capacity`, without estimates and
/// without the CPU's own limit.
#[must_use]
pub fn group_limited(root: u32, groups: &[ThrottledGroup], capacity: u32) -> u32 {
    // SAFETY: the pointer and the length are those of one slice.
    unsafe { sys::group_limited(root, groups.as_ptr(), groups.len() as u32, capacity) }
}

/// Utilization of [`group_limited`] without the group at place `own` (none: a place behind the last); below 0 where the
/// root queue has less than its groups.
#[must_use]
pub fn group_rest(root: u32, groups: &[ThrottledGroup], own: Option<usize>, capacity: u32) -> i32 {
    let own = own.map_or(u32::MAX, |own| own as u32);
    // SAFETY: the pointer and the length are those of one slice.
    unsafe { sys::group_rest(root, groups.as_ptr(), groups.len() as u32, own, capacity) }
}

impl CpuState {
    /// Puts limited groups into the inputs of an evaluation. `est`: of the queued tasks, each limited.
    pub fn limit_groups(&mut self, groups: &[ThrottledGroup], est: u32) {
        // SAFETY: the pointer and the length are those of one slice.
        unsafe { sys::group_throttle_state(groups.as_ptr(), groups.len() as u32, est, self) }
    }
}
