// SPDX-License-Identifier: GPL-2.0-or-later
//! One stream in time order from one buffer per CPU.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::record::Record;

/// Brings the records of the buffers in order. What arrives after its time was handed out takes the time of what was
/// handed out last, and is counted. Of equal times the lower CPU comes first.
#[derive(Default)]
pub(crate) struct Merge {
    /// Records of each CPU in time order: all but sorted when they arrive.
    waiting: BTreeMap<u32, VecDeque<Record>>,
    /// Time and CPU of the first of each.
    firsts: BTreeSet<(u64, u32)>,
    handed_out_ns: u64,
    /// Records that came too late to keep their time.
    pub late: u64,
}

impl Merge {
    /// Takes a record.
    pub fn push(&mut self, mut record: Record) {
        if record.time_ns < self.handed_out_ns {
            record.time_ns = self.handed_out_ns;
            self.late += 1;
        }
        let (cpu, time_ns) = (record.cpu, record.time_ns);
        let queue = self.waiting.entry(cpu).or_default();
        // An interrupt may put its record into the buffer after the one it interrupted, and read the clock before.
        let behind = queue.iter().rev().take_while(|other| other.time_ns > time_ns).count();
        if behind == queue.len() {
            if let Some(first) = queue.front() {
                self.firsts.remove(&(first.time_ns, cpu));
            }
            self.firsts.insert((time_ns, cpu));
        }
        queue.insert(queue.len() - behind, record);
    }

    /// The earliest record, if it is not after `until_ns`.
    pub fn pop(&mut self, until_ns: u64) -> Option<Record> {
        let (time_ns, cpu) = *self.firsts.first().filter(|&&(time_ns, _)| time_ns <= until_ns)?;
        self.firsts.pop_first();
        let queue = self.waiting.get_mut(&cpu)?;
        let record = queue.pop_front();
        self.firsts.extend(queue.front().map(|next| (next.time_ns, cpu)));
        self.handed_out_ns = time_ns;
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Body, Kind, Note};

    fn record(time_ns: u64, cpu: u32) -> Record {
        Record { time_ns, cpu, kind: Kind::Idle, body: Body::Note(Note { a: [0; 6], w: [0; 4] }) }
    }

    #[test]
    fn records_of_two_cpus_come_in_time_order() {
        let mut merge = Merge::default();
        [(5, 0), (9, 0), (4, 1), (9, 1), (20, 1)].into_iter().for_each(|(t, c)| merge.push(record(t, c)));
        let order: Vec<_> = std::iter::from_fn(|| merge.pop(10)).map(|r| (r.time_ns, r.cpu)).collect();
        assert_eq!(order, [(4, 1), (5, 0), (9, 0), (9, 1)]);
        assert_eq!(merge.late, 0);
    }

    #[test]
    fn a_record_that_an_interrupt_overtook_keeps_its_time() {
        let mut merge = Merge::default();
        [(5, 0), (9, 0), (8, 0), (7, 1)].into_iter().for_each(|(t, c)| merge.push(record(t, c)));
        let order: Vec<_> = std::iter::from_fn(|| merge.pop(10)).map(|r| (r.time_ns, r.cpu)).collect();
        assert_eq!((order, merge.late), (vec![(5, 0), (7, 1), (8, 0), (9, 0)], 0));
    }

    #[test]
    fn what_comes_too_late_is_moved_and_counted() {
        let mut merge = Merge::default();
        merge.push(record(10, 0));
        assert!(merge.pop(10).is_some());
        merge.push(record(3, 1));
        assert_eq!(merge.pop(u64::MAX).map(|r| r.time_ns), Some(10));
        assert_eq!(merge.late, 1);
    }
}
