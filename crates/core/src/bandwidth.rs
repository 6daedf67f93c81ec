// SPDX-License-Identifier: GPL-2.0-or-later
//! Reservations, capacity fit and frequency scale. Each function is the C function of the same name.

use crate::Policy;
use crate::sys;
/// One deadline reservation, Q20 of a CPU.
pub use crate::sys::dl_bw;
/// Current over reference frequency, 1024 = at the reference.
pub use crate::sys::freq_scale;
/// A load weight of averages, nice 0 = 1024, as 64-bit kernels store it.
pub use crate::sys::scale_load;
/// A load weight as 64-bit kernels store it, as averages use it: nice 0 = 1024.
pub use crate::sys::scale_load_down;

/// The active reservations of a CPU in capacity units.
///
/// ```
/// assert_eq!(pelton_core::cpu_bw_dl(104_857), 102);
/// ```
#[inline]
#[must_use]
pub fn cpu_bw_dl(running_bw: u64) -> u32 {
    // Nearly always no task has reserved anything.
    if running_bw == 0 { 0 } else { sys::cpu_bw_dl(running_bw) }
}

/// A utilization fits a capacity when it is below 80 % of it.
///
/// ```
/// assert!(pelton_core::fits_capacity(300, 383) && !pelton_core::fits_capacity(307, 383));
/// ```
#[inline]
#[must_use]
pub fn fits_capacity(util: u32, capacity: u32) -> bool {
    sys::fits_capacity(util.into(), capacity) != 0
}

/// A CPU of this original capacity, of which `capacity` is left, is large enough for a utilization (switch `margins`).
///
/// ```
/// let mut pol = pelton_core::Policy::profile("6.12").unwrap();
/// assert!(pelton_core::fits(&pol, 306, 383, 383));
/// pol.set("margins", "scaled").unwrap();
/// assert!(!pelton_core::fits(&pol, 306, 383, 383));
/// ```
#[inline]
#[must_use]
pub fn fits(pol: &Policy, util: u32, capacity: u32, cap_orig: u32) -> bool {
    sys::fits(pol, util, capacity, cap_orig) != 0
}

/// A capacity is more than a twentieth above another one.
#[inline]
#[must_use]
pub fn capacity_greater(a: u32, b: u32) -> bool {
    sys::capacity_greater(a, b) != 0
}
