// SPDX-License-Identifier: GPL-2.0-or-later
//! Wake-ups that a CPU has yet to carry out (`rq->ttwu_pending`): CPUs that woke a task put it on the list of the one
//! that gets it, and send that one an interrupt.

use crate::state::CpuState;

/// Tasks in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct WakeList {
    tasks: Vec<u32>,
}

impl WakeList {
    /// Some task waits to be enqueued.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Task `t` is on the list.
    #[cfg(test)]
    pub(crate) fn contains(&self, t: u32) -> bool {
        self.tasks.contains(&t)
    }

    pub(crate) fn push(&mut self, t: u32) {
        self.tasks.push(t);
    }

    /// The tasks; the list is empty from now on.
    pub(crate) fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.tasks)
    }

    /// Memory of the next list: that of an old one.
    pub(crate) fn keep_room(&mut self, mut old: Vec<u32>) {
        if self.tasks.is_empty() {
            old.clear();
            self.tasks = old;
        }
    }
}

impl CpuState {
    /// Idle, and nothing is about to be enqueued (`idle_cpu()`).
    #[inline]
    pub(crate) fn idle_cpu(&self) -> bool {
        self.is_idle() && !self.wake_list.is_pending()
    }
}
