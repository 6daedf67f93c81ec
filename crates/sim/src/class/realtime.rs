// SPDX-License-Identifier: GPL-2.0-or-later
//! RT runqueue: strict priority, FIFO within a priority; SCHED_RR rotates after its quantum.

use pelton_core::{RR_TIMESLICE_NS, RtLimit};
use pelton_model::workload::SchedPolicy;

/// RT part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct RtEntity {
    /// 1..=99.
    priority: u8,
    /// SCHED_RR.
    round_robin: bool,
    /// Goes behind its equals when it is put back.
    rotate: bool,
    /// Lets the first of its equals go before it, once.
    makes_room: bool,
    /// Rest of the quantum, ns.
    quantum_left_ns: u64,
}

impl RtEntity {
    /// The task is scheduled by this policy from now on.
    pub(crate) fn adopts(&mut self, policy: SchedPolicy) {
        match policy {
            SchedPolicy::Fifo { priority } => (self.priority, self.round_robin) = (priority, false),
            SchedPolicy::RoundRobin { priority } => (self.priority, self.round_robin) = (priority, true),
            _ => {}
        }
    }

    /// 1..=99.
    #[inline]
    pub(crate) fn priority(&self) -> u8 {
        self.priority
    }

    /// Its time begins anew.
    pub(crate) fn renews_quantum(&mut self) {
        self.quantum_left_ns = RR_TIMESLICE_NS;
    }

    /// Takes running time from its quantum.
    #[inline]
    pub(crate) fn runs(&mut self, delta_ns: u64) {
        self.quantum_left_ns = self.quantum_left_ns.saturating_sub(delta_ns);
    }

    /// True if it takes turns with its equals, and its time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.round_robin && self.quantum_left_ns == 0
    }

    /// Puts it behind its equals when it goes back to its queue.
    pub(crate) fn goes_behind(&mut self) {
        self.rotate = true;
    }

    /// Lets the first of its equals go before it, once.
    pub(crate) fn makes_room(&mut self) {
        self.makes_room = true;
    }

    /// No other task of its priority waits to go before it.
    #[inline]
    pub(crate) fn stays(&mut self) {
        (self.rotate, self.makes_room) = (false, false);
    }

    /// Clears the marks for its way back to its queue; true: it goes before its equals.
    pub(crate) fn is_put_back(&mut self) -> bool {
        self.makes_room = false;
        !std::mem::take(&mut self.rotate)
    }

    /// A waiting task of this priority goes before it.
    pub(crate) fn gives_way_to(&self, priority: u8) -> bool {
        priority > self.priority || (priority == self.priority && (self.rotate || self.makes_room))
    }
}

/// RT queue of one CPU: runnable tasks except the running one, strongest first.
#[derive(Clone, Debug)]
pub(crate) struct RtRq {
    queue: Vec<(u8, u32)>,
    /// Share of the class: a record of the core.
    limit: RtLimit,
}

impl Default for RtRq {
    fn default() -> RtRq {
        RtRq { queue: Vec::new(), limit: RtLimit::new() }
    }
}

impl RtRq {
    /// The class ran for so long.
    #[inline]
    pub(crate) fn ran(&mut self, delta_ns: u64) {
        self.limit.time_ns += delta_ns;
    }

    /// The class has used up its share.
    #[inline]
    pub(crate) fn is_throttled(&self) -> bool {
        self.limit.throttled != 0
    }

    /// Share of the class, for the core's functions.
    pub(crate) fn limit(&mut self) -> &mut RtLimit {
        &mut self.limit
    }

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
