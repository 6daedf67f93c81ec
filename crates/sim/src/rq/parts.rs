// SPDX-License-Identifier: GPL-2.0-or-later
//! State of a run, a CPU and a task that belongs to the classes beside their queues.

use pelton_model::workload::CpuSet;

use crate::state::Task;

/// Of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// Queued before clamps were in use, and not counted yet.
    pub uncounted: bool,
    /// Number of its boost group.
    pub boost_group: u32,
}

impl Counted {
    /// In this boost group.
    pub(crate) fn of_boost_group(boost_group: u32) -> Counted {
        Counted { uncounted: false, boost_group }
    }
}

impl Task {
    /// Clamps begin to be in use: it counts from its next enqueue on when it is queued now.
    pub(super) fn counts_later(&mut self) {
        self.counted.uncounted = self.is_runnable();
    }

    /// True if it is queued and does not count yet.
    pub(super) fn waits_to_count(&self) -> bool {
        self.counted.uncounted && self.is_runnable()
    }

    /// Marks the clamps of a queued task as counted.
    #[inline]
    pub(super) fn counts_now(&mut self) {
        self.counted.uncounted = false;
    }
}

/// Of a CPU.
#[derive(Debug, Default)]
pub(crate) struct Updates {
    /// Up to when RT or deadline runtime was accounted (frequency hook of old profiles).
    pub runtime_accounted_ns: u64,
    /// Tick at which its averages were last updated for others.
    pub last_blocked_ticks: u64,
}

impl Updates {
    /// Tick at which its averages were last updated for others.
    #[inline]
    pub(crate) fn blocked_ticks(&self) -> u64 {
        self.last_blocked_ticks
    }
}

/// Of a run.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// CPUs on which an RT task waits (a pull can only succeed when there is one).
    pub rt_waiting: CpuSet,
    /// CPUs on which a deadline task waits.
    pub dl_waiting: CpuSet,
    /// End of the real-time limit's period; 0 = none is needed.
    pub rt_period_end_ns: u64,
    /// CPUs whose load is another, because a queue of theirs may run again.
    pub freed: Vec<u32>,
}

impl Waiting {
    /// CPUs on which an RT task waits.
    #[inline]
    pub(crate) fn rt(&self) -> &CpuSet {
        &self.rt_waiting
    }

    /// CPUs on which a deadline task waits.
    #[inline]
    pub(crate) fn dl(&self) -> &CpuSet {
        &self.dl_waiting
    }

    /// A CPU whose load changed because one of its queues may run again, once; none when all were taken.
    #[inline]
    pub(crate) fn take_freed(&mut self) -> Option<u32> {
        self.freed.pop()
    }
}
