// SPDX-License-Identifier: GPL-2.0-or-later
//! Moments to which something was brought up: a queue that shows nothing may have been brought up there too.

use std::collections::{BTreeMap, VecDeque};

use super::advance::UNIT_SHIFT;
use super::object::OBJECTS_MAX;

/// Moments remembered of a CPU, and of a queue.
const MOMENTS_MAX: usize = 8;
/// A queue that is further behind its CPU was throttled.
const BEHIND_MIN: u64 = 4 << UNIT_SHIFT;

/// The last moments of each CPU and of the entities on each queue, and when tasks came to a CPU or went.
#[derive(Debug, Default)]
pub struct Moments {
    of_cpu: BTreeMap<u32, VecDeque<u64>>,
    on_queue: BTreeMap<u32, VecDeque<u64>>,
    counted: BTreeMap<u32, VecDeque<u64>>,
    /// Clocks of each CPU as they were recorded.
    clocks: BTreeMap<u32, VecDeque<u64>>,
    /// Time by which the clock of a queue is behind its CPU's: the time it was throttled.
    behind: BTreeMap<u32, u64>,
}

impl Moments {
    /// Something of this CPU was brought up.
    pub fn of_cpu(&mut self, cpu: u32, at_ns: u64) {
        add(&mut self.of_cpu, cpu, at_ns);
    }

    /// An entity of this queue was brought up.
    pub fn on_queue(&mut self, queue: u32, at_ns: u64) {
        add(&mut self.on_queue, queue, at_ns);
    }

    /// The number of runnable tasks of this CPU changed.
    pub fn counted(&mut self, cpu: u32, at_ns: u64) {
        add(&mut self.counted, cpu, at_ns);
    }

    /// The clock of a CPU.
    pub fn clock(&mut self, cpu: u32, clock_ns: u64) {
        add(&mut self.clocks, cpu, clock_ns);
    }

    /// A queue was brought up to the clock of its CPU.
    pub fn now(&mut self, cpu: u32, queue: u32, at_ns: u64) {
        let behind = self.clocks.get(&cpu).and_then(|clocks| clocks.back()?.checked_sub(at_ns));
        if let Some(behind) = behind.filter(|_| self.behind.len() < OBJECTS_MAX) {
            self.behind.insert(queue, behind);
        }
    }

    /// Recorded clocks of a CPU, on the clock of a queue that was throttled. The distance between the two is known to a
    /// unit.
    fn clocks_behind(&self, cpu: u32, queue: u32) -> impl Iterator<Item = u64> {
        let behind = self.behind.get(&queue).copied().filter(|&behind| behind > BEHIND_MIN);
        let clocks = self.clocks.get(&cpu).into_iter().flatten();
        let shifted = behind.map(|behind| clocks.filter_map(move |at| at.checked_sub(behind)));
        shifted.into_iter().flatten().flat_map(|at| [at, at + (1 << UNIT_SHIFT)])
    }

    /// Those of a CPU after one and before another, the oldest first.
    pub fn between(&self, cpu: u32, after_ns: u64, before_ns: u64) -> Vec<u64> {
        within(self.of_cpu.get(&cpu), after_ns, before_ns)
    }

    /// Moments of a CPU, with those of a queue and the times at which tasks came or went, each once and in order of
    /// time.
    pub fn near(&self, cpu: u32, queue: Option<u32>, after_ns: u64, before_ns: u64) -> Vec<u64> {
        let mut all = self.between(cpu, after_ns, before_ns);
        all.extend(within(self.counted.get(&cpu), after_ns, before_ns));
        all.extend(within(queue.and_then(|queue| self.on_queue.get(&queue)), after_ns, before_ns));
        let throttled = queue.into_iter().flat_map(|queue| self.clocks_behind(cpu, queue));
        all.extend(throttled.filter(|&at| after_ns < at && at < before_ns));
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn add(lists: &mut BTreeMap<u32, VecDeque<u64>>, key: u32, at_ns: u64) {
    if lists.len() >= OBJECTS_MAX && !lists.contains_key(&key) {
        return;
    }
    let list = lists.entry(key).or_default();
    if list.back() == Some(&at_ns) {
        return;
    }
    if list.len() == MOMENTS_MAX {
        list.pop_front();
    }
    list.push_back(at_ns);
}

fn within(list: Option<&VecDeque<u64>>, after_ns: u64, before_ns: u64) -> Vec<u64> {
    list.into_iter().flatten().copied().filter(|&at| after_ns < at && at < before_ns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_a_queue_outlasts_those_of_its_cpu() {
        let mut moments = Moments::default();
        moments.of_cpu(1, 10);
        moments.on_queue(7, 10);
        (20..).take(2 * MOMENTS_MAX).for_each(|at| moments.of_cpu(1, at));
        let last = 20 + 2 * MOMENTS_MAX as u64 - 1;
        assert_eq!(moments.near(1, Some(7), 0, 30).first(), Some(&10));
        assert!(!moments.near(1, Some(8), 0, 30).contains(&10) && !moments.between(1, 0, 30).contains(&10));
        assert_eq!(moments.near(1, None, last - 2, last), [last - 1], "neither end is in between");
        assert_eq!(moments.near(2, Some(7), 0, 30), [10], "nothing of another CPU");
    }

    #[test]
    fn clocks_of_a_cpu_are_moments_of_a_queue_that_was_throttled() {
        let (mut moments, unit) = (Moments::default(), 1 << UNIT_SHIFT);
        moments.clock(0, 1_000_000);
        moments.now(0, 3, 900_000);
        moments.now(0, 4, 999_000);
        moments.clock(0, 1_005_000);
        assert_eq!(moments.near(0, Some(3), 900_000, 950_000), [900_000 + unit, 905_000, 905_000 + unit]);
        assert!(moments.near(0, Some(4), 0, u64::MAX).is_empty(), "its clock is the CPU's");
    }

    #[test]
    fn moments_that_two_lists_tell_are_told_once() {
        let mut moments = Moments::default();
        for at in [30, 10, 10] {
            moments.of_cpu(0, at);
            moments.on_queue(3, at);
            moments.counted(0, at);
        }
        assert_eq!(moments.near(0, Some(3), 0, 100), [10, 30]);
    }
}
