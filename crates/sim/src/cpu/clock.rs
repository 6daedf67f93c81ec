// SPDX-License-Identifier: GPL-2.0-or-later
//! The clocks of a CPU, and time as the signals see it.

use std::num::NonZeroU32;

use pelton_schema::Event;

use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

/// Time in which every kernel's signals halve, ms.
const HALF_LIFE_MS: u128 = 32;

/// Time since boot as the signals see it. In a world where they halve in another time it runs faster or slower than the
/// machine's, which is how kernels that offer such a choice do it, too.
#[derive(Clone, Copy)]
pub(crate) struct SignalClock {
    pub boot_ns: u64,
    /// `None` = the kernel's.
    pub half_life_ms: Option<NonZeroU32>,
}

impl SignalClock {
    /// At this time of the run, ns.
    pub(crate) fn at(self, now_ns: u64) -> u64 {
        let wall_ns = self.boot_ns + now_ns;
        let Some(half_life_ms) = self.half_life_ms else { return wall_ns };
        (u128::from(wall_ns) * HALF_LIFE_MS / u128::from(half_life_ms.get())) as u64
    }
}

impl<S: Run> Engine<'_, S> {
    /// Brings a CPU's clocks up to now, handing over the interrupt time since the last time.
    pub(crate) fn update_clock(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        let irq_ns = std::mem::take(&mut cpu.line.irq_pending_ns);
        let decayed =
            cpu.rq.clock_update(self.policy.get(), self.signal_clock.at(self.now), irq_ns, cpu.curr == NO_TASK);
        if decayed {
            self.request_changes(c);
        }
        if S::ACTIVE && decayed {
            let util_avg = self.cpus[c as usize].rq.irq.util_avg as u32;
            self.emit(Event::PeltIrq { cpu: c, util_avg });
        }
    }

    /// Ticks since the start (jiffies).
    pub(crate) fn now_ticks(&self) -> u64 {
        (self.now + self.tick_ns - self.tick_phase_ns) / self.tick_ns
    }
}
