// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor: records and methods of `interactive.h`.

use crate::count;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::sys::{self, DbsTimes, Interactive, InteractiveCpu};
pub use crate::sys::{interactive_delay_us, interactive_target_load};

/// Do the CPUs of the policy's governor have timers?
#[must_use]
pub fn governor_timers(pol: &Policy) -> bool {
    sys::governor_timers(pol) != 0
}

impl Interactive {
    /// The governor starts on a domain that runs at `cur` within its limits.
    #[must_use]
    pub fn start(pol: &Policy, limits: Limits, cur: u32) -> Interactive {
        let mut domain = Interactive::default();
        sys::interactive_start(pol, &mut domain, limits.min_khz, limits.max_khz, cur);
        domain
    }

    /// The operating point at which this load (kHz times percent) is the target load.
    #[must_use]
    pub fn choose(&self, pol: &Policy, khz: &[u32], load: u32) -> u32 {
        // SAFETY: the length is that of `khz`.
        unsafe { sys::interactive_choose(pol, self, khz.as_ptr(), count(khz), load) }
    }

    /// A CPU's timer; true = the thread is woken.
    pub fn timer(&mut self, pol: &Policy, cpu: &mut InteractiveCpu, times: &DbsTimes, khz: &[u32]) -> bool {
        // SAFETY: the length is that of `khz`.
        unsafe { sys::interactive_timer(pol, self, cpu, times, khz.as_ptr(), count(khz)) != 0 }
    }

    /// The thread looks at the CPUs of the domain: what the driver is asked for, if anything.
    pub fn adjust(&self, cpus: &mut [InteractiveCpu], khz: &[u32]) -> Option<u32> {
        let (nr, cpus) = (count(cpus), cpus.as_mut_ptr());
        // SAFETY: the lengths are those of `cpus` and `khz`.
        let khz = unsafe { sys::interactive_adjust(self, cpus, nr, khz.as_ptr(), count(khz)) };
        Some(khz).filter(|&khz| khz > 0)
    }

    /// A program asks for a boost for a while: true = it begins.
    pub fn pulse(&mut self, pol: &Policy, now_us: u64) -> bool {
        sys::interactive_pulse(pol, self, now_us) != 0
    }
}

impl InteractiveCpu {
    /// The governor starts on it.
    #[must_use]
    pub fn join(pol: &Policy, domain: &Interactive, times: &DbsTimes) -> InteractiveCpu {
        let mut cpu = InteractiveCpu::default();
        sys::interactive_join(pol, domain, &mut cpu, times);
        cpu
    }

    /// Counts what it did since it was last looked at; before each change of the domain's frequency.
    pub fn account(&mut self, pol: &Policy, domain: &Interactive, times: &DbsTimes) {
        sys::interactive_account(pol, domain, self, times);
    }

    /// Its timer is set anew.
    pub fn rearm(&mut self, pol: &Policy, times: &DbsTimes) {
        sys::interactive_rearm(pol, self, times);
    }

    /// Is it woken from idle for its timer?
    #[must_use]
    pub fn watches(&self, pol: &Policy, domain: &Interactive) -> bool {
        sys::interactive_watches(pol, domain, self) != 0
    }

    /// A boost begins; true = the thread is woken.
    pub fn boost(&mut self, domain: &Interactive, now_us: u64) -> bool {
        sys::interactive_boost(domain, self, now_us) != 0
    }

    /// The domain has new limits.
    pub fn limits(&mut self, domain: &Interactive) {
        sys::interactive_limits(domain, self);
    }
}
