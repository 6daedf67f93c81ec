// SPDX-License-Identifier: GPL-2.0-or-later
//! Progress of a running task: its present step, and how much of that is left.

use crate::state::SPEED_SHIFT;

/// The present step of a running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Step {
    /// The next operation has to be fetched.
    #[default]
    Fetch,
    /// Work left, ns << SPEED_SHIFT at capacity 1024.
    Work(u64),
    /// CPU time left, ns.
    Wall(u64),
    /// Ends at this time, whatever runs until then.
    Until(u64),
}

/// Progress of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    step: Step,
    /// Energy that its CPUs drew while it ran.
    energy_fj: u128,
}

impl Progress {
    #[inline]
    pub(crate) fn begins(&mut self, step: Step) {
        self.step = step;
    }

    /// Its operation is over, or interrupted for good.
    #[inline]
    pub(crate) fn ends(&mut self) {
        self.step = Step::Fetch;
    }

    /// True where the task has to fetch its next operation.
    #[inline]
    pub(crate) fn fetches(&self) -> bool {
        self.step == Step::Fetch
    }

    /// Nothing of its operation is left at time `now_ns`.
    #[inline]
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        match self.step {
            Step::Fetch => false,
            Step::Work(left) | Step::Wall(left) => left == 0,
            Step::Until(at_ns) => at_ns <= now_ns,
        }
    }

    /// Executes the task for `exec_ns` on a CPU of this speed; returns the work that it did, ns at capacity 1024.
    #[inline]
    pub(super) fn executes(&mut self, exec_ns: u64, speed: u64) -> u64 {
        match &mut self.step {
            Step::Work(left) => {
                let done = (exec_ns * speed).min(*left);
                *left -= done;
                return done >> SPEED_SHIFT;
            }
            Step::Wall(left) => *left = left.saturating_sub(exec_ns),
            Step::Fetch | Step::Until(_) => {}
        }
        0
    }

    /// Time that the task's operation still takes on a CPU of this speed that begins with it after `overhead_ns`, ns.
    #[inline]
    pub(super) fn left_ns(&self, speed: u64, now: u64, overhead_ns: u64) -> u64 {
        match self.step {
            Step::Fetch => 0,
            Step::Work(left) => left.div_ceil(speed.max(1)),
            Step::Wall(left) => left,
            Step::Until(at_ns) => at_ns.saturating_sub(now).saturating_sub(overhead_ns),
        }
    }

    #[inline]
    pub(super) fn draws(&mut self, energy_fj: u128) {
        self.energy_fj += energy_fj;
    }

    /// Energy that its CPUs drew while it ran, femtojoules.
    pub(crate) fn energy_fj(&self) -> u128 {
        self.energy_fj
    }
}
