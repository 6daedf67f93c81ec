// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors other than schedutil: records and methods of `sched_dvfs.h`, `ondemand.h` and `governor.h`.

use crate::count;
use crate::policy::Policy;
use crate::sys::{self, Dbs, DbsCpu, DbsTimes, SchedDvfs, Vote, vote};
pub use crate::sys::{dbs_sampling_us, sched_dvfs_request, sched_dvfs_usage, sched_dvfs_window_ns};

impl SchedDvfs {
    /// The capacity that a tick asks for at this usage, if any.
    #[inline]
    #[must_use]
    pub fn tick(&self, cap_orig: u32, usage: u32) -> Option<u32> {
        Some(sys::sched_dvfs_tick(self, cap_orig, usage)).filter(|&cap| cap > 0)
    }

    /// First form: a CPU of the domain votes. There must be `nr_cpus` votes and the CPU one of them, else nothing
    /// happens.
    #[inline]
    pub fn set_cap(&mut self, votes: &mut [Vote], cpu: u32, cap: u32, cap_orig: u32, now: u64) -> u32 {
        if cpu >= self.nr_cpus || votes.len() < self.nr_cpus as usize {
            return vote::SAME;
        }
        // SAFETY: there are `nr_cpus` votes, the CPU's among them.
        unsafe { sys::sched_dvfs_set_cap(self, votes.as_mut_ptr(), cpu, cap, cap_orig, now) }
    }

    /// Last form: the vote of a CPU has new requests. As [`SchedDvfs::set_cap`].
    #[inline]
    pub fn update(&mut self, votes: &mut [Vote], cpu: u32, asks: bool, khz: &[u32]) -> u32 {
        if cpu >= self.nr_cpus || votes.len() < self.nr_cpus as usize {
            return vote::SAME;
        }
        let n = count(khz);
        // SAFETY: there are `nr_cpus` votes, the CPU's among them, and `n` frequencies.
        unsafe { sys::sched_dvfs_update(self, votes.as_mut_ptr(), cpu, asks.into(), khz.as_ptr(), n) }
    }

    /// Lowest operating point at or above `raw`.
    #[must_use]
    pub fn resolve(&self, khz: &[u32], raw: u32) -> u32 {
        // SAFETY: the length is that of `khz`.
        unsafe { sys::sched_dvfs_resolve(self, khz.as_ptr(), count(khz), raw) }
    }

    /// Time from which the worker may carry the request out, ns.
    #[must_use]
    pub fn due_ns(&self, pol: &Policy, now: u64) -> u64 {
        sys::sched_dvfs_due_ns(pol, self, now)
    }

    /// The driver returned.
    pub fn done(&mut self, khz: u32, now: u64) {
        sys::sched_dvfs_done(self, khz, now);
    }
}

impl Vote {
    /// Its CPU has no fair task left.
    #[inline]
    pub fn reset(&mut self) {
        sys::sched_dvfs_reset(self);
    }
}

/// Does the policy's governor take samples?
#[must_use]
pub fn governor_samples(pol: &Policy) -> bool {
    sys::governor_samples(pol) != 0
}

/// Does it take votes?
#[must_use]
pub fn governor_votes(pol: &Policy) -> bool {
    sys::governor_votes(pol) != 0
}

impl Dbs {
    /// Has enough time passed since the last sample?
    #[must_use]
    pub fn is_due(&self, now: u64) -> bool {
        sys::dbs_is_due(self, now) != 0
    }

    /// Time between samples that was last chosen, us.
    #[must_use]
    pub fn period_us(&self) -> u32 {
        sys::dbs_period_us(self)
    }

    /// Does the next sample look at the load? If not, it changes to the lower of two frequencies.
    #[must_use]
    pub fn measures(&self) -> bool {
        sys::dbs_measures(self) != 0
    }

    /// A look at the load begins.
    pub fn begin(&mut self, now: u64) {
        sys::dbs_begin(self, now);
    }

    /// Load of a CPU since its last sample, percent; the largest of the domain is kept.
    pub fn load(&mut self, pol: &Policy, cpu: &mut DbsCpu, times: &DbsTimes) -> u32 {
        sys::dbs_load(pol, self, cpu, times)
    }

    /// The frequency after a sample; `delay_us` says when the next one is due.
    pub fn sampled(&mut self, pol: &Policy, khz: &[u32]) -> u32 {
        // SAFETY: the length is that of `khz`.
        unsafe { sys::governor_sampled(pol, self, khz.as_ptr(), count(khz)) }
    }

    /// The frequency that the governor sets when it starts, if any.
    #[must_use]
    pub fn start_khz(&self, pol: &Policy, khz: &[u32]) -> Option<u32> {
        // SAFETY: the length is that of `khz`.
        let start = unsafe { sys::governor_start_khz(pol, self, khz.as_ptr(), count(khz)) };
        Some(start).filter(|&khz| khz > 0)
    }
}
