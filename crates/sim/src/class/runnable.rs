// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers of a CPU's tasks, over all classes.

use crate::class::Class;
use crate::class::fair::FairRq;
use crate::class::levels::ROOT;
use crate::state::{CpuState, NO_TASK};

impl CpuState {
    /// Its running task is of this class.
    #[inline]
    pub(crate) fn runs(&self, class: Class) -> bool {
        self.running == Some(class)
    }

    /// Tasks of all classes that are queued or run: with those that sleep and whose dequeue is delayed.
    pub(crate) fn nr_running(&self) -> u32 {
        self.nr_runnable() + self.fair.nr_delayed()
    }

    /// All its tasks are idle ones: of SCHED_IDLE, or in idle groups.
    #[inline]
    pub(crate) fn is_sched_idle(&self) -> bool {
        self.fair.nr_idle_tasks() > 0 && pelton_core::sched_idle_rq(self.nr_running(), self.fair.nr_idle_tasks())
    }

    /// Runnable tasks of all classes, including the running one.
    pub(crate) fn nr_runnable(&self) -> u32 {
        let other = u32::from(matches!(self.running, Some(c) if c != Class::Fair));
        let rt = if self.rt_throttled() { 0 } else { self.rt.len() };
        self.fair.nr_runnable() + rt + self.dl.len() + self.workers.len() + other
    }

    /// Real-time tasks may not run now.
    #[inline]
    pub(crate) fn rt_throttled(&self) -> bool {
        self.rt.is_throttled()
    }

    /// RT tasks, waiting and running.
    pub(crate) fn rt_nr_running(&self) -> u32 {
        if self.rt_throttled() {
            return 0;
        }
        self.rt.len() + u32::from(self.runs(Class::Realtime))
    }

    /// Nothing to run and nothing running.
    pub(crate) fn is_idle(&self) -> bool {
        self.curr == NO_TASK && self.nr_running() == 0
    }

    /// A queue by its slot.
    pub(crate) fn queue_at(&self, slot: u32) -> &FairRq {
        if slot == ROOT { &self.fair } else { &self.levels.queues[slot as usize] }
    }
}
