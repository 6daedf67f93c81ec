// SPDX-License-Identifier: GPL-2.0-or-later
//! Place of each task in its program, and objects that programs share.

use pelton_model::Workload;
use pelton_model::workload::TaskSpec;

use crate::program::calls::Call;
use crate::program::sync::Objects;

/// Position in a program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub phase: u32,
    pub op: u32,
    pub phase_rounds: u64,
    pub rounds: u64,
    /// The phase's own settings were applied.
    pub entered: bool,
}

/// A waking time grid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimerState {
    /// Next expiry; meaningful once `armed`.
    pub next_ns: u64,
    pub armed: bool,
}

/// A task's place in its program.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Place {
    pub at: Position,
    /// System call in progress.
    pub call: Option<Call>,
    /// Mutex to take again after a wait on a condition.
    pub relock: Option<u32>,
    pub timers: Vec<TimerState>,
    /// Time at which the stopwatch was last read, ns.
    pub lap_start_ns: Option<u64>,
    /// Time at which the task started, ns: the origin of its timers.
    pub started_ns: u64,
    pub perf_index_sum: i64,
}

impl Place {
    /// Before the start, with so many timers.
    pub(crate) fn new(own_timers: u32) -> Place {
        Place {
            at: Position::default(),
            call: None,
            relock: None,
            timers: vec![TimerState::default(); own_timers as usize],
            lap_start_ns: None,
            started_ns: 0,
            perf_index_sum: 0,
        }
    }

    /// rt-app's performance index, in thousandths: the mean of so many activations.
    pub(crate) fn perf_index_milli(&self, activations: i64) -> Option<i64> {
        (activations > 0).then(|| self.perf_index_sum / activations)
    }
}

/// Objects that programs share.
#[derive(Debug)]
pub(crate) struct Programs {
    pub objects: Objects,
    pub shared_timers: Vec<TimerState>,
    /// Tasks that the run waits for and that exist, or will without being forked.
    living: u32,
    /// Nothing but background: the run waits for that.
    waits_for_all: bool,
    /// A task that spins without consuming time.
    pub spinning: Option<u32>,
}

impl Programs {
    /// Of a workload, before its tasks.
    pub(crate) fn new(w: &Workload) -> Programs {
        let shared_timers = vec![TimerState::default(); w.shared_timers as usize];
        let waits_for_all = w.tasks.iter().all(|task| task.background);
        Programs { objects: Objects::new(w), shared_timers, living: 0, waits_for_all, spinning: None }
    }

    /// A task comes.
    pub(crate) fn gains(&mut self, spec: &TaskSpec) {
        self.living += u32::from(self.waits_for_all || !spec.background);
    }

    /// A task has ended.
    pub(crate) fn loses(&mut self, spec: &TaskSpec) {
        self.living -= u32::from(self.waits_for_all || !spec.background);
    }

    /// All tasks that the run waits for have ended.
    #[inline]
    pub(crate) fn are_over(&self) -> bool {
        self.living == 0
    }

    /// Task `t` executes operations and time does not advance.
    pub(crate) fn spins(&mut self, t: u32) {
        self.spinning = Some(t);
    }

    /// A task that spins without consuming time.
    #[inline]
    pub(crate) fn spinning(&self) -> Option<u32> {
        self.spinning
    }
}
