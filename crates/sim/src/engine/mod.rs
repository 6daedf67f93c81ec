// SPDX-License-Identifier: GPL-2.0-or-later
//! The queue of events, the one way in which a run emits to a sink, and what every room asks of a task. Knows events
//! only.

pub(crate) mod activation;
pub(crate) mod life;
pub(crate) mod nohz;
pub(crate) mod queue;
pub(crate) mod rest;
pub(crate) mod rng;

pub(crate) mod timers;

use pelton_schema::{Event, Walk};

use crate::shape::Run;
use crate::state::Engine;

/// Request of a room to one above it: wake a task, on the CPU that executes the wake-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wakeup {
    pub task: u32,
    pub exec: u32,
}

impl<S: Run> Engine<'_, S> {
    /// Averages of CPU `c` may have load that still fades.
    #[inline]
    pub(crate) fn is_blocked(&self, c: u32) -> bool {
        self.nohz.blocked().contains(c)
    }

    /// Sets whether averages of CPU `c` may have load that still fades.
    #[inline]
    pub(crate) fn set_blocked(&mut self, c: u32, is: bool) {
        self.nohz.set_blocked(c, is);
    }

    /// Time since the machine's ticks were last due before `at`, ns.
    pub(crate) fn since_tick(&self, at: u64) -> u64 {
        (at + self.tick_ns - self.tick_phase_ns) % self.tick_ns
    }

    /// Passes an update of blocked load to a sink that takes balances.
    #[inline]
    pub(crate) fn tell_walk(&mut self, walk: &Walk) {
        if S::BALANCES {
            self.sink.walk(self.now, walk);
        }
    }

    /// Passes an event to the sink; free when the sink is off.
    #[inline]
    pub(crate) fn emit(&mut self, event: Event) {
        if S::ACTIVE {
            self.sink.event(self.now, &event);
        }
    }
}
