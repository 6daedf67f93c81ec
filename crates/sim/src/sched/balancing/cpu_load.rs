// SPDX-License-Identifier: GPL-2.0-or-later
//! Loads that fade over ticks, which balances up to 4.19 compare (the core's `cpu_load.h`).

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// A tick of CPU `c`.
    pub(crate) fn fade_cpu_load(&mut self, c: u32) {
        if self.balancing.biased {
            let (load, now_ticks) = (self.runnable_load(c), self.now_ticks());
            self.balancing.cpu_loads[c as usize].tick(load, now_ticks);
            self.row_changes(c);
        }
    }

    /// The tick of CPU `c` stops.
    pub(crate) fn hold_cpu_load(&mut self, c: u32) {
        if self.balancing.biased && !self.cpus[c as usize].sched.tick_stopped {
            let load = self.runnable_load(c);
            self.balancing.cpu_loads[c as usize].nohz_start(load);
            self.row_changes(c);
        }
    }

    /// The tick of CPU `c` starts again.
    pub(crate) fn catch_up_cpu_load(&mut self, c: u32) {
        if self.balancing.biased {
            let (load, now_ticks) = (self.runnable_load(c), self.now_ticks());
            self.balancing.cpu_loads[c as usize].nohz(load, now_ticks);
            self.row_changes(c);
        }
    }

    /// A balance is made for CPU `c`, which is idle without its tick.
    pub(crate) fn catch_up_idle_cpu_load(&mut self, c: u32) {
        if self.balancing.biased && self.runnable_load(c) == 0 {
            let now_ticks = self.now_ticks();
            self.balancing.cpu_loads[c as usize].nohz(0, now_ticks);
            self.row_changes(c);
        }
    }
}
