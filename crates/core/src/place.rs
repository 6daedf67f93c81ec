// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of a waking task. Each function is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, Wake};
pub use crate::sys::{effective_load, h_load, record_wakee};

/// Does the waking CPU attract the task it wakes?
///
/// ```
/// use pelton_core::{Policy, Wake};
/// // Two tasks on either CPU, all equally heavy; the waker does not sleep after the wake-up.
/// let wake = Wake { this_load: 2048, prev_load: 2048, task_load: 1024, this_running: 2, ..Wake::full_capacity() };
/// let of = |profile| pelton_core::wake_affine(&Policy::profile(profile).unwrap(), &wake);
/// assert!(!of("4.12") && !of("7.2"));
/// ```
#[inline]
#[must_use]
pub fn wake_affine(policy: &Policy, wake: &Wake) -> bool {
    sys::wake_affine(policy, wake) != 0
}

/// Do the loads that placement compares leave out tasks that sleep?
#[inline]
#[must_use]
pub fn wake_reads_runnable(policy: &Policy) -> bool {
    sys::wake_reads_runnable(policy) != 0
}

/// Do the two talk to so many others that they should not be pulled together?
///
/// ```
/// assert!(pelton_core::wake_wide(64, 8, 8) && !pelton_core::wake_wide(63, 8, 8) && !pelton_core::wake_wide(64, 7, 8));
/// ```
#[inline]
#[must_use]
pub fn wake_wide(waker_flips: u32, wakee_flips: u32, llc_size: u32) -> bool {
    sys::wake_wide(waker_flips, wakee_flips, llc_size) != 0
}

/// Load that a wake-up shifts at the root, when waker or wakee are in groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeShift {
    /// The waker's sleep, on the waking CPU.
    pub waker_here: i64,
    /// The waker's sleep, on the previous CPU.
    pub waker_there: i64,
    /// The wakee's coming, on the waking CPU.
    pub task_here: i64,
    /// The wakee's coming, on the previous CPU.
    pub task_there: i64,
}

impl Wake {
    /// The loads of the comparison by runnable load, with what groups make of them.
    pub fn in_groups(&mut self, s: WakeShift) {
        sys::wake_in_groups(self, s.waker_here, s.waker_there, s.task_here, s.task_there);
    }

    /// A wake-up between two cores of full capacity.
    #[must_use]
    pub fn full_capacity() -> Wake {
        Wake { this_capacity: 1024, prev_capacity: 1024, ..Wake::default() }
    }
}
