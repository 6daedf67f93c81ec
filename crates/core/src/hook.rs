// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler events that call the governor: `hook.h`.

use crate::policy::Policy;
/// [`how::LONG_TICK`] when ticks of this length are far apart, else 0.
pub use crate::sys::hook_tick_is_long as tick_is_long;
use crate::sys::{self, Rq, SugovCpu, SugovPolicy};
pub use crate::sys::{class, how, tick_skew_ns};

/// Result of an event: whether the governor is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// This kernel calls the governor here.
    pub offered: bool,
    /// The filter lets it through, or calls where the kernel does not.
    pub delivered: bool,
    /// Flags of the call.
    pub flags: u32,
}

impl Outcome {
    fn of(bits: u32) -> Self {
        Self { offered: bits & 1 != 0, delivered: bits & 2 != 0, flags: bits >> 8 }
    }

    /// The answer as the core gives it.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.offered) | u32::from(self.delivered) << 1 | self.flags << 8
    }
}

impl SugovCpu {
    /// An event of the kind with this number on the CPU of `rq`.
    #[inline]
    pub fn hook_event(&mut self, pol: &Policy, sp: &SugovPolicy, rq: &Rq, now: u64, kind: u32, how: u32) -> Outcome {
        Outcome::of(sys::hook_event(pol, sp, self, rq, now, kind, how))
    }

    /// A context switch; `prev` and `next` are values of [`class`].
    #[inline]
    pub fn hook_switch(&mut self, pol: &Policy, prev: u32, next: u32, how: u32) -> Outcome {
        Outcome::of(sys::hook_switch(pol, self, prev, next, how))
    }
}
