// SPDX-License-Identifier: GPL-2.0-only
//! Where a waking task goes. Each function is the C function of the same name.

use crate::ffi;
use crate::policy::Policy;
use crate::records::Wake;

/// Does the waking CPU attract the task it wakes?
///
/// ```
/// use pelton_core::{Policy, Wake};
/// // Two tasks on either CPU, everybody as heavy as the other; nobody sleeps after the wake-up.
/// let wake = Wake { this_load: 2048, prev_load: 2048, task_load: 1024, this_running: 2, ..Wake::full_capacity() };
/// let of = |profile| pelton_core::wake_affine(&Policy::profile(profile).unwrap(), &wake);
/// assert!(!of("4.12") && !of("7.2"));
/// ```
#[inline]
#[must_use]
pub fn wake_affine(policy: &Policy, wake: &Wake) -> bool {
    ffi::pelton_x_wake_affine(policy, wake) != 0
}

/// Do the two talk to so many others that they should not be pulled together?
///
/// ```
/// assert!(pelton_core::wake_wide(64, 8, 8) && !pelton_core::wake_wide(63, 8, 8) && !pelton_core::wake_wide(64, 7, 8));
/// ```
#[inline]
#[must_use]
pub fn wake_wide(waker_flips: u32, wakee_flips: u32, llc_size: u32) -> bool {
    ffi::pelton_x_wake_wide(waker_flips, wakee_flips, llc_size) != 0
}

impl Wake {
    /// A wake-up between two cores of full capacity.
    #[must_use]
    pub fn full_capacity() -> Wake {
        Wake { this_capacity: 1024, prev_capacity: 1024, ..Wake::default() }
    }
}
