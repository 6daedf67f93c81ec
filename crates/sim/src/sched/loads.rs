// SPDX-License-Identifier: GPL-2.0-or-later
//! Loads as placement and balance read them.

use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// Load of the fair tasks that are runnable on a CPU: the average of it, where the release keeps one.
    pub(crate) fn runnable_load(&self, c: u32) -> u64 {
        let cpu = &self.cpus[c as usize];
        if let Some(load) = cpu.rq.cfs.runnable_load_avg(self.policy.get()) {
            return load;
        }
        let of = |&entity: &u32| self.entity_load(c, entity);
        let running = if cpu.fair.curr() == NO_TASK { 0 } else { of(&cpu.fair.curr()) };
        running + cpu.fair.waiting().iter().map(of).sum::<u64>()
    }

    /// CPU `c` still looks for a task before it goes idle.
    #[inline]
    pub(crate) fn searches(&self, c: u32) -> bool {
        self.now < self.cpus[c as usize].search.until_ns()
    }

    /// Load of a CPU as the placement of its profile reads it.
    #[inline]
    pub(crate) fn wake_load(&self, c: u32) -> u64 {
        if self.placing.by_runnable { self.runnable_load(c) } else { self.cpus[c as usize].rq.cfs.avg.load_avg }
    }
}
