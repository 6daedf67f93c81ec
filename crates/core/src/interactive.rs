// SPDX-License-Identifier: GPL-2.0-or-later
//! The interactive governor: records and methods of `interactive.h`.

use crate::ffi;
use crate::governors::{DbsTimes, table_len};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::records::{LayoutRow, mirror};

mirror! {
    /// interactive: a frequency domain.
    Interactive = "pelton_interactive" {
        /// End of the boost for a while, us.
        pulse_end_us: u64,
        /// Present frequency.
        cur_khz: u32,
        /// Lower limit.
        min_khz: u32,
        /// Upper limit.
        max_khz: u32,
        /// The frequency to jump to.
        hispeed_khz: u32,
        /// As the last timer found it, or since a boost began.
        boosted: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// interactive: a CPU.
    InteractiveCpu = "pelton_interactive_cpu" {
        /// Idle time when it was last looked at, us.
        idle_us: u64,
        /// When that was, us.
        seen_us: u64,
        /// Busy time times frequency since the timer was set.
        busy_khz_us: u64,
        /// When that was, us.
        since_us: u64,
        /// When the floor was last confirmed on any CPU of the domain, us.
        pol_floor_us: u64,
        /// And on this one, us.
        loc_floor_us: u64,
        /// When what the domain has now was found, us.
        pol_hispeed_us: u64,
        /// When this CPU last found what it asks for, us.
        loc_hispeed_us: u64,
        /// What it asks for.
        target_khz: u32,
        /// What it does not fall below for a while.
        floor_khz: u32,
        /// Load at its last timer, percent.
        load: u32,
        /// Unused.
        reserved: u32,
    }
}

/// Do the CPUs of the policy's governor have timers?
#[must_use]
pub fn governor_timers(pol: &Policy) -> bool {
    ffi::pelton_x_governor_timers(pol) != 0
}

/// The load a CPU shall have at this frequency, percent.
#[must_use]
pub fn interactive_target_load(pol: &Policy, khz: u32) -> u32 {
    ffi::pelton_x_interactive_target_load(pol, khz)
}

/// How long a rise from this frequency waits, us.
#[must_use]
pub fn interactive_delay_us(pol: &Policy, khz: u32) -> u32 {
    ffi::pelton_x_interactive_delay_us(pol, khz)
}

impl Interactive {
    /// The governor starts on a domain that runs at `cur` within its limits.
    #[must_use]
    pub fn start(pol: &Policy, limits: Limits, cur: u32) -> Interactive {
        let mut domain = Interactive::default();
        ffi::pelton_x_interactive_start(pol, &mut domain, limits.min_khz, limits.max_khz, cur);
        domain
    }

    /// The operating point at which this load (kHz times percent) is the target load.
    #[must_use]
    pub fn choose(&self, pol: &Policy, khz: &[u32], load: u32) -> u32 {
        // SAFETY: there are as many frequencies as told.
        unsafe { ffi::pelton_x_interactive_choose(pol, self, khz.as_ptr(), table_len(khz), load) }
    }

    /// A CPU's timer; true = the thread is woken.
    pub fn timer(&mut self, pol: &Policy, cpu: &mut InteractiveCpu, times: &DbsTimes, khz: &[u32]) -> bool {
        // SAFETY: there are as many frequencies as told.
        unsafe { ffi::pelton_x_interactive_timer(pol, self, cpu, times, khz.as_ptr(), table_len(khz)) != 0 }
    }

    /// The thread looks at the CPUs of the domain: what the driver is asked for, if anything.
    pub fn adjust(&self, cpus: &mut [InteractiveCpu], khz: &[u32]) -> Option<u32> {
        let nr = u32::try_from(cpus.len()).unwrap_or(u32::MAX);
        // SAFETY: there are as many CPUs and frequencies as told.
        let khz =
            unsafe { ffi::pelton_x_interactive_adjust(self, cpus.as_mut_ptr(), nr, khz.as_ptr(), table_len(khz)) };
        Some(khz).filter(|&khz| khz > 0)
    }

    /// A program asks for a boost for a while: true = it begins.
    pub fn pulse(&mut self, pol: &Policy, now_us: u64) -> bool {
        ffi::pelton_x_interactive_pulse(pol, self, now_us) != 0
    }
}

impl InteractiveCpu {
    /// The governor starts on it.
    #[must_use]
    pub fn join(pol: &Policy, domain: &Interactive, times: &DbsTimes) -> InteractiveCpu {
        let mut cpu = InteractiveCpu::default();
        ffi::pelton_x_interactive_join(pol, domain, &mut cpu, times);
        cpu
    }

    /// Counts what it did since it was last looked at; before each change of the domain's frequency.
    pub fn account(&mut self, pol: &Policy, domain: &Interactive, times: &DbsTimes) {
        ffi::pelton_x_interactive_account(pol, domain, self, times);
    }

    /// Its timer is set anew.
    pub fn rearm(&mut self, pol: &Policy, times: &DbsTimes) {
        ffi::pelton_x_interactive_rearm(pol, self, times);
    }

    /// Is it woken from idle for its timer?
    #[must_use]
    pub fn watches(&self, pol: &Policy, domain: &Interactive) -> bool {
        ffi::pelton_x_interactive_watches(pol, domain, self) != 0
    }

    /// A boost begins; true = the thread is woken.
    pub fn boost(&mut self, domain: &Interactive, now_us: u64) -> bool {
        ffi::pelton_x_interactive_boost(domain, self, now_us) != 0
    }

    /// The domain has new limits.
    pub fn limits(&mut self, domain: &Interactive) {
        ffi::pelton_x_interactive_limits(domain, self);
    }
}

/// The Rust side of the layout comparison.
pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    Interactive::layout(rows);
    InteractiveCpu::layout(rows);
}
