// SPDX-License-Identifier: GPL-2.0-only
//! RT runqueue: strict priority, FIFO within a priority; SCHED_RR rotates after its quantum.

/// SCHED_RR quantum, ns.
pub(crate) const RR_QUANTUM_NS: u64 = 100_000_000;

/// RT part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct RtEntity {
    /// 1..=99.
    pub priority: u8,
    /// SCHED_RR.
    pub round_robin: bool,
    /// Goes behind its equals when it is put back.
    pub rotate: bool,
    /// Lets the first of its equals go before it, once.
    pub makes_room: bool,
    /// Rest of the quantum, ns.
    pub quantum_left_ns: u64,
}

/// RT queue of one CPU: runnable tasks except the running one, strongest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct RtRq {
    queue: Vec<(u8, u32)>,
}

impl RtRq {
    /// Adds a task behind its equals, or before them when it was preempted.
    pub(crate) fn enqueue(&mut self, priority: u8, task: u32, at_head: bool) {
        let stays_before = |p: u8| if at_head { p > priority } else { p >= priority };
        let i = self.queue.partition_point(|&(p, _)| stays_before(p));
        self.queue.insert(i, (priority, task));
    }

    /// Removes a task.
    pub(crate) fn dequeue(&mut self, task: u32) {
        self.queue.retain(|&(_, t)| t != task);
    }

    /// Strongest waiting task with its priority.
    pub(crate) fn first(&self) -> Option<(u8, u32)> {
        self.queue.first().copied()
    }

    /// Waiting tasks, strongest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (u8, u32)> + '_ {
        self.queue.iter().copied()
    }

    /// Number of waiting tasks.
    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    /// A task of this priority waits.
    pub(crate) fn has_equal(&self, priority: u8) -> bool {
        self.queue.iter().any(|&(p, _)| p == priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strongest_first_equals_in_order_preempted_at_head() {
        let mut q = RtRq::default();
        q.enqueue(10, 1, false);
        q.enqueue(50, 2, false);
        q.enqueue(10, 3, false);
        q.enqueue(10, 4, true);
        let order: Vec<u32> = q.waiting().map(|(_, t)| t).collect();
        assert_eq!(order, [2, 4, 1, 3]);
        q.dequeue(4);
        assert_eq!(q.first(), Some((50, 2)));
        assert!(q.has_equal(10) && !q.has_equal(20));
    }
}
