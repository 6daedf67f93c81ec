// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of a frequency domain (`limits.h`).

use crate::count;
use crate::policy::Policy;
use crate::sys::{self, Dbs};

/// Capacity that limits take from a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// In this moment, as placement reads it.
    pub now: u32,
    /// Input of the average that the hardware-pressure record keeps.
    pub averaged: u32,
}

impl Pressure {
    /// Of a CPU that has `cap_orig` at `ref_khz`, limited to `policy_khz`, of which cooling asks for `cooling_khz`.
    #[must_use]
    pub fn of(pol: &Policy, cap_orig: u32, ref_khz: u32, policy_khz: u32, cooling_khz: u32) -> Pressure {
        let lost = |khz| sys::lost_capacity(cap_orig, khz, ref_khz);
        let (policy, cooling) = (lost(policy_khz), lost(cooling_khz));
        let now = sys::pressure_now(pol, policy, cooling);
        Pressure { now, averaged: sys::pressure_averaged(pol, cooling) }
    }
}

/// Limits in force, kHz: operating points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lower.
    pub min_khz: u32,
    /// Upper.
    pub max_khz: u32,
}

impl Limits {
    /// Limits of `min..=max` kHz, as operating points of a domain that has the points `khz`, ascending.
    ///
    /// ```
    /// let limits = pelton_core::Limits::of(&[500_000, 1_000_000, 2_000_000], 400_000, 1_100_000);
    /// assert_eq!((limits.min_khz, limits.max_khz), (500_000, 1_000_000));
    /// ```
    #[must_use]
    pub fn of(khz: &[u32], min: u32, max: u32) -> Limits {
        let n = count(khz);
        // SAFETY: there are `n` frequencies.
        let max_khz = unsafe { sys::limits_max(khz.as_ptr(), n, max) };
        // SAFETY: there are `n` frequencies.
        let min_khz = unsafe { sys::limits_min(khz.as_ptr(), n, min, max_khz) };
        Limits { min_khz, max_khz }
    }

    /// Frequency that the governor asks for at once, kHz, if any. `cur`: the present frequency; `wanted`: the one that
    /// it asked for last, or was set to.
    #[must_use]
    pub fn target(self, pol: &Policy, khz: &[u32], cur: u32, wanted: u32, fast_switch: bool) -> Option<u32> {
        let Limits { min_khz: min, max_khz: max } = self;
        let (at, n) = (khz.as_ptr(), count(khz));
        // SAFETY: there are `n` frequencies.
        let target = unsafe { sys::limits_target(pol, at, n, min, max, cur, wanted, fast_switch.into()) };
        Some(target).filter(|&khz| khz > 0)
    }
}

impl Dbs {
    /// New limits, and the frequency that they led to: the next sample is due.
    pub fn limits(&mut self, pol: &Policy, limits: Limits, cur: u32) {
        sys::limits_dbs(pol, self, limits.min_khz, limits.max_khz, cur);
    }
}
