// SPDX-License-Identifier: GPL-2.0-or-later
//! Governor's threads that run before all other tasks of their CPU, in the order in which they came.

/// Waiting ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerRq {
    queue: Vec<u32>,
}

impl WorkerRq {
    /// Behind the others, or before them when it ran.
    pub(crate) fn enqueue(&mut self, task: u32, at_head: bool) {
        let at = if at_head { 0 } else { self.queue.len() };
        self.queue.insert(at, task);
    }

    pub(crate) fn dequeue(&mut self, task: u32) {
        self.queue.retain(|&waits| waits != task);
    }

    pub(crate) fn first(&self) -> Option<u32> {
        self.queue.first().copied()
    }

    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    #[cfg(test)]
    pub(crate) fn contains(&self, task: u32) -> bool {
        self.queue.contains(&task)
    }
}
