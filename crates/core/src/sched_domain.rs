// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduling domains (`sched_domain.h`).

use crate::count;
use crate::policy::Policy;
use crate::sys::{self, SchedDomain, SdLevel};

impl SdLevel {
    /// The scheduling domain over `span` that this level becomes; `all`: capacities among all CPUs of the machine.
    #[must_use]
    pub fn domain(&self, pol: &Policy, span: u64, all: u32) -> SchedDomain {
        SchedDomain {
            span,
            flags: sys::sd_flags(pol, self, all),
            imbalance_pct: sys::sd_imbalance_pct(pol, self),
            ..SchedDomain::default()
        }
    }
}

/// Tasks that may differ between the groups of one of a CPU's levels, smallest first (`imb_numa_nr`).
///
/// ```
/// use pelton_core::{SdLevel, imb_numa_nr, sd};
/// let level = |shared, weight, distance| SdLevel { shared, weight, classes: 1, distance };
/// let levels = [level(sd::SHARE_LLC, 8, 0), level(0, 32, 0), level(sd::NUMA, 64, 20)];
/// assert_eq!([0, 1, 2].map(|at| imb_numa_nr(&levels, at)), [0, 4, 4]);
/// ```
#[must_use]
pub fn imb_numa_nr(levels: &[SdLevel], at: usize) -> u32 {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    // SAFETY: there are so many levels.
    unsafe { sys::sd_imb_numa_nr(levels.as_ptr(), count(levels), at) }
}

impl Policy {
    /// Does the release know clusters below a cache?
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        sys::sd_has_clusters(self) != 0
    }

    /// The flag of the smallest domain in which a CPU with room is looked for, of [`crate::sd`].
    #[must_use]
    pub fn asym_searched(&self) -> u32 {
        sys::sd_asym_searched(self)
    }

    /// Is there placement by energy on a machine whose powers are all known?
    #[must_use]
    pub fn places_by_energy(&self, asymmetric: bool, threads: bool, invariant: bool) -> bool {
        sys::sd_energy_aware(self, asymmetric.into(), threads.into(), invariant.into()) != 0
    }
}
