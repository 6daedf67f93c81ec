// SPDX-License-Identifier: GPL-2.0-or-later
//! Placement of real-time and deadline tasks (`select_class.h`).

use crate::placement::NO_CPU;
use crate::policy::Policy;
pub use crate::sys::affinity_rank;
use crate::sys::{self, ClassCpu, ClassCurr, ClassSearch, ClassTask};

/// No deadline task.
pub const NO_DEADLINE: u64 = sys::NO_DEADLINE;

impl ClassTask {
    /// Does a real-time task that wakes look for another CPU than its last one, of this capacity?
    #[must_use]
    pub fn rt_looks(&self, policy: &Policy, curr: &ClassCurr, capacity: u32) -> bool {
        sys::rt_looks(policy, self, curr, capacity) != 0
    }

    /// Does a deadline task that wakes look for another CPU than its last one, of this capacity?
    #[must_use]
    pub fn dl_looks(&self, policy: &Policy, curr: &ClassCurr, capacity: u32) -> bool {
        sys::dl_looks(policy, self, curr, capacity) != 0
    }

    /// Does the next search of the same CPU go on behind what was found?
    #[must_use]
    pub fn spreads(&self, policy: &Policy, found: Option<u32>, deadline: bool) -> bool {
        sys::class_spreads(policy, self, found.unwrap_or(NO_CPU), deadline.into()) != 0
    }
}

/// May real-time tasks of a CPU be moved away? It has `nr`, of which `waiting` wait and may move.
#[must_use]
pub fn rt_overloaded(policy: &Policy, nr: u32, waiting: u32) -> bool {
    sys::rt_overloaded(policy, nr, waiting) != 0
}

/// Does a CPU whose task of strength `prev` leaves ask others for real-time tasks? `prio` is the strongest it has.
#[must_use]
pub fn need_pull_rt(prev: u32, prio: u32) -> bool {
    sys::need_pull_rt(prev, prio) != 0
}

impl ClassSearch {
    /// Looks at CPUs for a real-time task.
    #[must_use]
    pub fn lowest(policy: &Policy, task: &ClassTask, cpus: impl Iterator<Item = ClassCpu>) -> ClassSearch {
        let mut search = ClassSearch::default();
        sys::class_begin(&mut search);
        cpus.for_each(|cpu| sys::find_lowest(policy, task, &cpu, &mut search));
        search
    }

    /// Looks at CPUs for a deadline task.
    #[must_use]
    pub fn later(policy: &Policy, task: &ClassTask, cpus: impl Iterator<Item = ClassCpu>) -> ClassSearch {
        let mut search = ClassSearch::default();
        sys::class_begin(&mut search);
        cpus.for_each(|cpu| sys::find_later(policy, task, &cpu, &mut search));
        search
    }

    /// CPU that a real-time task may be moved to.
    #[must_use]
    pub fn lowest_rq(&self, task: &ClassTask) -> Option<u32> {
        Some(sys::lowest_rq(task, self)).filter(|&cpu| cpu != NO_CPU)
    }

    /// CPU that a deadline task may be moved to.
    #[must_use]
    pub fn later_rq(&mut self, policy: &Policy, task: &ClassTask) -> Option<u32> {
        Some(sys::later_rq(policy, task, self)).filter(|&cpu| cpu != NO_CPU)
    }

    /// CPU of a real-time task that wakes and looked.
    #[must_use]
    pub fn select_rt(&self, policy: &Policy, task: &ClassTask, curr: &ClassCurr) -> u32 {
        sys::select_rt(policy, task, curr, self)
    }
}
