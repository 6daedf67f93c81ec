// SPDX-License-Identifier: GPL-2.0-or-later
//! Which scheduler events call the governor: `hook.h`.

use crate::ffi;
use crate::policy::Policy;
use crate::records::{Rq, SugovCpu, SugovPolicy};

/// How an event came about; bits.
pub mod how {
    /// Another CPU executes it.
    pub const REMOTE: u32 = 1;
    /// Run time of a real-time or deadline task was accounted.
    pub const ACCOUNTING: u32 = 2;
    /// An average changed because an entity comes or goes: attach or detach follows.
    pub const ATTACHES: u32 = 4;
    /// Part of the tick.
    pub const TICK: u32 = 8;
    /// Attach or detach that is no wake-up, sleep or migration.
    pub const LEFTOVER: u32 = 16;
    /// What sleeping tasks took along was subtracted.
    pub const REMOVED: u32 = 32;
    /// The next tick is far away; see [`super::tick_is_long`].
    pub const LONG_TICK: u32 = 64;
    /// Switch: the next task woke from I/O.
    pub const IOWAIT: u32 = 128;
    /// Switch: both tasks have the same lower clamp.
    pub const SAME_CLAMP: u32 = 256;
    /// An average changed because a group's did, not by time.
    pub const PROPAGATED: u32 = 512;
}

/// What runs before and after a context switch.
pub mod class {
    /// A fair task.
    pub const FAIR: u32 = 0;
    /// A FIFO or RR task.
    pub const RT: u32 = 1;
    /// A deadline task.
    pub const DL: u32 = 2;
    /// No task: the CPU is idle.
    pub const IDLE: u32 = 3;
    /// The governor's own worker.
    pub const WORKER: u32 = 4;
    /// The stop class.
    pub const STOP: u32 = 5;
}

/// What becomes of an event.
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
}

/// [`how::LONG_TICK`] when ticks of this length are far apart, else 0.
#[must_use]
pub fn tick_is_long(tick_ns: u64) -> u32 {
    ffi::pelton_x_hook_tick_is_long(tick_ns)
}

/// How long after CPU 0 a CPU ticks (`tick.h`), ns; ticks are `tick_ns` long, the machine has `cpus` CPUs.
#[must_use]
pub fn tick_skew_ns(pol: &Policy, tick_ns: u64, cpu: u32, cpus: u32) -> u64 {
    ffi::pelton_x_tick_skew_ns(pol, tick_ns, cpu, cpus)
}

impl SugovCpu {
    /// An event of the kind with this number on the CPU of `rq`.
    #[inline]
    pub fn hook_event(&mut self, pol: &Policy, sp: &SugovPolicy, rq: &Rq, now: u64, kind: u32, how: u32) -> Outcome {
        Outcome::of(ffi::pelton_x_hook_event(pol, sp, self, rq, now, kind, how))
    }

    /// A context switch; `prev` and `next` are values of [`class`].
    #[inline]
    pub fn hook_switch(&mut self, pol: &Policy, prev: u32, next: u32, how: u32) -> Outcome {
        Outcome::of(ffi::pelton_x_hook_switch(pol, self, prev, next, how))
    }
}
