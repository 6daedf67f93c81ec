// SPDX-License-Identifier: GPL-2.0-or-later
//! Where real-time and deadline tasks go (`select_class.h`).

use crate::ffi;
use crate::placement::NO_CPU;
use crate::policy::Policy;
use crate::records::{LayoutRow, mirror};

/// No deadline task.
pub const NO_DEADLINE: u64 = u64::MAX;

mirror! {
    /// A real-time or deadline task, and the CPU that asks where it may go.
    ClassTask = "pelton_class_task" {
        /// Absolute deadline.
        deadline_ns: u64,
        /// Runtime of its reservation.
        dl_runtime_ns: u64,
        /// Relative deadline.
        dl_deadline_ns: u64,
        /// Runtime over relative deadline, Q20.
        dl_density: u64,
        /// Real-time priority, 1 to 99.
        prio: u32,
        /// Lower clamp, capacity.
        uclamp_min: u32,
        /// Upper clamp, capacity.
        uclamp_max: u32,
        /// CPUs that it may use.
        nr_cpus_allowed: u32,
        /// It last ran there.
        cpu: u32,
        /// Asks.
        this_cpu: u32,
        /// What the last search of `this_cpu` found that [`ClassTask::spreads`].
        last_found: u32,
        /// CPUs of the machine.
        nr_cpus: u32,
        /// They differ in capacity.
        asymmetric: u32,
        /// Not read.
        reserved: u32,
    }
}

mirror! {
    /// A CPU as a search sees it.
    ClassCpu = "pelton_class_cpu" {
        /// Earliest deadline of its deadline tasks, or [`NO_DEADLINE`].
        deadline_ns: u64,
        /// Number.
        cpu: u32,
        /// The task may use it.
        allowed: u32,
        /// Priority of its strongest real-time task, 0 = none.
        prio: u32,
        /// Original capacity.
        capacity: u32,
        /// Number of the smallest wake-affine domain around the task's CPU that spans this one, or how many there are.
        distance: u32,
        /// Not read.
        reserved: u32,
    }
}

mirror! {
    /// What runs where the task last ran.
    ClassCurr = "pelton_class_curr" {
        /// Its deadline, or [`NO_DEADLINE`].
        deadline_ns: u64,
        /// Its real-time priority, 0 = none.
        prio: u32,
        /// CPUs that it may use.
        nr_cpus_allowed: u32,
    }
}

mirror! {
    /// The best CPU so far.
    ClassBest = "pelton_class_best" {
        /// The CPU.
        at: ClassCpu,
        /// Order among equals.
        key: u64,
        /// The lower, the better.
        level: u32,
        /// Not read.
        reserved: u32,
    }
}

mirror! {
    /// A search over CPUs.
    ClassSearch = "pelton_class_search" {
        /// Of those on which the task fits.
        fits: ClassBest,
        /// Of all.
        any: ClassBest,
        /// With the latest deadline.
        latest: ClassBest,
    }
}

pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    ClassTask::layout(rows);
    ClassCpu::layout(rows);
    ClassCurr::layout(rows);
    ClassBest::layout(rows);
    ClassSearch::layout(rows);
}

impl ClassTask {
    /// Does a real-time task that wakes look for another CPU than its last one, of this capacity?
    #[must_use]
    pub fn rt_looks(&self, policy: &Policy, curr: &ClassCurr, capacity: u32) -> bool {
        ffi::pelton_x_rt_looks(policy, self, curr, capacity) != 0
    }

    /// The same for a deadline task.
    #[must_use]
    pub fn dl_looks(&self, policy: &Policy, curr: &ClassCurr, capacity: u32) -> bool {
        ffi::pelton_x_dl_looks(policy, self, curr, capacity) != 0
    }

    /// Does the next search of the same CPU go on behind what was found?
    #[must_use]
    pub fn spreads(&self, policy: &Policy, found: Option<u32>, deadline: bool) -> bool {
        ffi::pelton_x_class_spreads(policy, self, found.unwrap_or(NO_CPU), deadline.into()) != 0
    }
}

/// Rank of a CPU for a running task that has to leave its own (`affinity.h`); the allowed one of the smallest is taken.
/// `prev`: what the CPU that asks found last.
#[must_use]
pub fn affinity_rank(policy: &Policy, cpu: u32, prev: u32) -> u32 {
    ffi::pelton_x_affinity_rank(policy, cpu, prev)
}

/// May real-time tasks of a CPU be moved away? It has `nr`, of which `waiting` wait and may move.
#[must_use]
pub fn rt_overloaded(policy: &Policy, nr: u32, waiting: u32) -> bool {
    ffi::pelton_x_rt_overloaded(policy, nr, waiting) != 0
}

/// Does a CPU whose task of strength `prev` leaves ask others for real-time tasks? `prio` is the strongest it has.
#[must_use]
pub fn need_pull_rt(prev: u32, prio: u32) -> bool {
    ffi::pelton_x_need_pull_rt(prev, prio) != 0
}

impl ClassSearch {
    /// Looks at CPUs for a real-time task.
    #[must_use]
    pub fn lowest(policy: &Policy, task: &ClassTask, cpus: impl Iterator<Item = ClassCpu>) -> ClassSearch {
        let mut search = ClassSearch::default();
        ffi::pelton_x_class_begin(&mut search);
        cpus.for_each(|cpu| ffi::pelton_x_find_lowest(policy, task, &cpu, &mut search));
        search
    }

    /// Looks at CPUs for a deadline task.
    #[must_use]
    pub fn later(policy: &Policy, task: &ClassTask, cpus: impl Iterator<Item = ClassCpu>) -> ClassSearch {
        let mut search = ClassSearch::default();
        ffi::pelton_x_class_begin(&mut search);
        cpus.for_each(|cpu| ffi::pelton_x_find_later(policy, task, &cpu, &mut search));
        search
    }

    /// CPU that a real-time task may be moved to.
    #[must_use]
    pub fn lowest_rq(&self, task: &ClassTask) -> Option<u32> {
        Some(ffi::pelton_x_lowest_rq(task, self)).filter(|&cpu| cpu != NO_CPU)
    }

    /// CPU that a deadline task may be moved to.
    #[must_use]
    pub fn later_rq(&mut self, policy: &Policy, task: &ClassTask) -> Option<u32> {
        Some(ffi::pelton_x_later_rq(policy, task, self)).filter(|&cpu| cpu != NO_CPU)
    }

    /// CPU of a real-time task that wakes and looked.
    #[must_use]
    pub fn select_rt(&self, policy: &Policy, task: &ClassTask, curr: &ClassCurr) -> u32 {
        ffi::pelton_x_select_rt(policy, task, curr, self)
    }
}
