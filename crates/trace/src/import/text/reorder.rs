// SPDX-License-Identifier: GPL-2.0-or-later
//! Events into time order, within a window.
//!
//! Recorders write what several CPUs record into one stream; neighbours may be exchanged. The window holds the last
//! [`WINDOW`] events sorted by time, equal times in the order of the file. What is older than anything already handed
//! out comes too late: the caller reports it as damage, it is never handed out of order.

use std::collections::VecDeque;

use pelton_schema::Event;

use crate::import::Timed;

/// Events held back.
pub(crate) const WINDOW: usize = 2048;

/// The window.
#[derive(Default)]
pub(crate) struct Reorder {
    waiting: VecDeque<Timed>,
    handed_out_ns: u64,
}

impl Reorder {
    /// True when an event of this time can still be handed out in order.
    pub(crate) fn takes(&self, time_ns: u64) -> bool {
        time_ns >= self.handed_out_ns
    }

    /// Adds an event that [`Reorder::takes`].
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        let timed = Timed { time_ns, event };
        if self.waiting.back().is_none_or(|last| last.time_ns <= time_ns) {
            self.waiting.push_back(timed);
        } else {
            let at = self.waiting.partition_point(|other| other.time_ns <= time_ns);
            self.waiting.insert(at, timed);
        }
    }

    /// The oldest event, when the window is full or nothing follows.
    pub(crate) fn pop(&mut self, nothing_follows: bool) -> Option<Timed> {
        if self.waiting.len() <= WINDOW && !nothing_follows {
            return None;
        }
        let oldest = self.waiting.pop_front()?;
        self.handed_out_ns = oldest.time_ns;
        Some(oldest)
    }

    /// Bytes of memory held.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Timed>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(cpu: u32) -> Event {
        Event::CpuIdle { cpu, state: 0 }
    }

    #[test]
    fn equal_times_keep_the_order_of_the_file() {
        let mut window = Reorder::default();
        for (cpu, time_ns) in [(0, 5), (1, 3), (2, 5), (3, 3), (4, 4)] {
            assert!(window.takes(time_ns));
            window.push(time_ns, event(cpu));
        }
        let order: Vec<(u64, Event)> = std::iter::from_fn(|| window.pop(true)).map(|t| (t.time_ns, t.event)).collect();
        assert_eq!(order, [(3, event(1)), (3, event(3)), (4, event(4)), (5, event(0)), (5, event(2))]);
    }

    #[test]
    fn what_comes_too_late_is_refused_and_the_window_is_bounded() {
        let mut window = Reorder::default();
        for time_ns in 10..10 + WINDOW as u64 + 1 {
            assert_eq!(window.pop(false), None);
            window.push(time_ns, event(0));
        }
        assert_eq!(window.pop(false).map(|timed| timed.time_ns), Some(10));
        assert_eq!(window.pop(false), None);
        assert!(window.takes(10) && !window.takes(9));
        assert!(window.buffered_bytes() < 1 << 20);
    }
}
