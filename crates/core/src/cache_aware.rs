// SPDX-License-Identifier: GPL-2.0-or-later
//! The cache that the threads of a process prefer (`cache_aware.h`). Each method is the C function of the same name.

use crate::policy::Policy;
use crate::record::{Snapshot, by_form, rule};
pub use crate::sys::llc_epoch_ticks;
use crate::sys::{self, CacheCpu, CacheGroup, CacheTime, PlaceCpu};

impl CacheGroup {
    /// A process without threads, in the epoch of `cpu`.
    #[must_use]
    pub fn new(cpu: &CacheCpu, now_ticks: u64) -> CacheGroup {
        let mut own = CacheGroup::default();
        sys::mm_init_sched(&mut own, cpu, now_ticks);
        own
    }

    /// Has it too few threads to gather, or too many for a cache of so many CPUs? `smt_threads`: of a core.
    #[must_use]
    pub fn invalid_llc_nr(&self, smt_threads: u32, llc_size: u32) -> bool {
        sys::invalid_llc_nr(smt_threads, self, llc_size) != 0
    }

    /// A thread ran on CPU `cpu` for `delta_ns`; `all`, `own`: what is kept of that CPU, and of the process
    /// there.
    pub fn account(
        &mut self,
        record: &impl Snapshot,
        (all, own): (&mut CacheCpu, &mut CacheTime),
        cpu: u32,
        delta_ns: u64,
        (now_ticks, period_ticks): (u64, u32),
    ) {
        by_form!(record, account_mm_sched(self, all, own, cpu, delta_ns, now_ticks, period_ticks));
    }

    /// The cache that threads prefer; [`crate::NO_CPU`]: none.
    #[must_use]
    pub fn preferred_llc(&self, record: &impl Snapshot) -> u32 {
        by_form!(record, get_pref_llc(self))
    }

    /// At a tick of a thread: does it ask for a look? `asked`: it has, and has not made it yet.
    pub fn tick(&mut self, cpu: &CacheCpu, asked: bool) -> bool {
        sys::task_tick_cache(self, cpu, asked.into()) != 0
    }

    /// The look, by a thread on CPU `cpu`: how many CPUs it read. `cpus`, `times`: an entry for each CPU of the record.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn look(
        &mut self,
        record: &impl Snapshot,
        (cpus, times): (&mut [CacheCpu], &mut [CacheTime]),
        cpu: u32,
        (now_ticks, period_ticks): (u64, u32),
    ) -> u32 {
        let read = record.form().nr_cpus() as usize;
        assert!(cpus.len() >= read && times.len() >= read, "an entry for each of {read} CPUs");
        let (cpus, times) = (cpus.as_mut_ptr(), times.as_mut_ptr());
        // SAFETY: there is an entry of both for each CPU that is read.
        unsafe { by_form!(record, task_cache_work(self, cpus, times, cpu, now_ticks, period_ticks)) }
    }
}

impl PlaceCpu {
    /// Has its cache several CPUs, and others beside it?
    #[must_use]
    pub fn is_in_multi_llcs(&self) -> bool {
        sys::sd_in_multi_llcs(self) != 0
    }
}

/// Does the kernel ask where tasks prefer to be?
#[must_use]
pub fn sched_cache_enabled(policy: &Policy, record: &impl Snapshot) -> bool {
    rule!(record, sched_cache_enabled, policy) != 0
}
