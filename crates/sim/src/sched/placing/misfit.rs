// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs with more to do than they can, and running tasks that have become too big for their CPU.

use pelton_core::value;

use crate::kernel_code::readable;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// A fair task woke on CPU `c`, or it ticked: has it more to do than it can? Only a look at all CPUs takes that
    /// back.
    pub(crate) fn note_overutilized(&mut self, c: u32) {
        if self.placing.holds_balance() && self.policy.host == value::HOST_KERNEL && self.is_overutilized(c) {
            self.placing.overutilized = true;
            self.placing.overutilized_since_ns = self.now;
        }
    }

    pub(in crate::sched) fn is_overutilized(&mut self, c: u32) -> bool {
        self.refresh_own_row(c);
        self.placing.record.uclamp_used = self.uses.clamped.into();
        let core = self.placing.record.cpu_overutilized(self.policy.get(), c);
        match (self.kernel.as_mut(), readable(&self.placing.record)) {
            (Some(kernel), Some(s)) => kernel.cpu_overutilized(self.now, s, c, core),
            _ => core,
        }
    }

    /// Task `t` of CPU `c` was chosen to run, or ticked.
    pub(crate) fn note_misfit(&mut self, c: u32, t: u32) {
        if self.sched.asymmetric && !self.balancing.biased {
            let load = self.load_of_misfit(c, t);
            self.placing.set_misfit(c, load);
        }
    }

    /// Task `t` ticks on CPU `c`. Whatever the rules in force make of it: is that CPU too small for it while a bigger
    /// one that it may use has nothing to do?
    pub(crate) fn note_outgrown(&mut self, c: u32, t: u32) {
        let own = self.m.cpus[c as usize].capacity;
        let task = &self.tasks[t as usize];
        let util = task.se.avg.util_avg.min(u64::from(u32::MAX)) as u32;
        if !self.sched.asymmetric
            || self.uses.clamped
            || self.uses.limits_groups
            || pelton_core::fits_capacity(util, own)
        {
            return;
        }
        let is_free = |i: u32| self.m.cpus[i as usize].capacity > own && self.cpus[i as usize].idle_cpu();
        if task.allowed().iter().any(is_free) {
            self.tasks[t as usize].report.outgrown_ns += self.tick_ns;
        }
    }

    fn load_of_misfit(&mut self, c: u32, t: u32) -> u64 {
        if t == NO_TASK || !self.tasks[t as usize].is_fair() {
            return 0;
        }
        let capacity = |c: u32| self.m.cpus[c as usize].capacity;
        let biggest = self.tasks[t as usize].allowed().iter().map(capacity).max().unwrap_or(0);
        self.refresh_own_row(c);
        self.mark_placed(c, t);
        let task = self.placed_task(t);
        let placing = &mut self.placing;
        placing.record.task = task;
        placing.record.uclamp_used = self.uses.clamped.into();
        let core = placing.record.misfit_load(self.policy.get(), &mut placing.placed, c, biggest);
        match (self.kernel.as_mut(), readable(&placing.record)) {
            (Some(kernel), Some(s)) => kernel.misfit_load(self.now, s, c, biggest, core),
            _ => core,
        }
    }

    /// Keeps a balance's finding: some CPU has more to do than it can.
    pub(crate) fn set_overutilized(&mut self, overutilized: bool) {
        if !self.placing.by_energy || overutilized == self.placing.overutilized {
            return;
        }
        if overutilized {
            self.placing.overutilized_since_ns = self.now;
        } else {
            self.placing.overutilized_ns += self.now - self.placing.overutilized_since_ns;
        }
        self.placing.overutilized = overutilized;
    }

    /// Time in which some CPU had too much to do, up to now.
    pub(crate) fn overutilized_ns(&self) -> Option<u64> {
        let since_ns = if self.placing.overutilized { self.now - self.placing.overutilized_since_ns } else { 0 };
        self.placing.by_energy.then_some(self.placing.overutilized_ns + since_ns)
    }
}
