// SPDX-License-Identifier: GPL-2.0-or-later
//! Reservations, capacity fit and frequency scale. Each function is the C function of the same name.

use crate::Policy;
use crate::sys;

/// One deadline reservation, Q20 of a CPU.
///
/// ```
/// assert_eq!(pelton_core::dl_bw(10_000_000, 100_000_000), 104_857);
/// ```
#[inline]
#[must_use]
pub fn dl_bw(runtime_ns: u64, period_ns: u64) -> u64 {
    sys::dl_bw(runtime_ns, period_ns)
}

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

/// Current over reference frequency, 1024 = at the reference.
///
/// ```
/// assert_eq!(pelton_core::freq_scale(432_000, 1_200_000), 368);
/// ```
#[inline]
#[must_use]
pub fn freq_scale(khz: u32, ref_khz: u32) -> u32 {
    sys::freq_scale(khz, ref_khz)
}

/// A load weight as 64-bit kernels store it, as averages use it: nice 0 = 1024.
///
/// ```
/// assert_eq!([0, 1, 3 << 10, 1024 << 10].map(pelton_core::scale_load_down), [0, 2, 3, 1024]);
/// ```
#[inline]
#[must_use]
pub fn scale_load_down(weight: u64) -> u64 {
    sys::scale_load_down(weight)
}

/// A load weight of averages, nice 0 = 1024, as 64-bit kernels store it.
///
/// ```
/// assert_eq!([0, 2, 1024].map(pelton_core::scale_load), [0, 2 << 10, 1024 << 10]);
/// ```
#[inline]
#[must_use]
pub fn scale_load(weight: u64) -> u64 {
    sys::scale_load(weight)
}
