// SPDX-License-Identifier: GPL-2.0-only
//! One stream in time order from one buffer per CPU.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::Record;

/// A record waiting for its turn; equal times keep the order in which they came.
struct Waiting {
    key: (u64, u64),
    record: Record,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Sorts what arrives within a bounded distance. What arrives later than that takes the time of what was handed out
/// last, and is counted.
#[derive(Default)]
pub(crate) struct Merge {
    waiting: BinaryHeap<Reverse<Waiting>>,
    arrived: u64,
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
        self.waiting.push(Reverse(Waiting { key: (record.time_ns, self.arrived), record }));
        self.arrived += 1;
    }

    /// The earliest record, if it is not after `until_ns`.
    pub fn pop(&mut self, until_ns: u64) -> Option<Record> {
        if self.waiting.peek()?.0.key.0 > until_ns {
            return None;
        }
        let Reverse(Waiting { record, .. }) = self.waiting.pop()?;
        self.handed_out_ns = record.time_ns;
        Some(record)
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
    fn what_comes_too_late_is_moved_and_counted() {
        let mut merge = Merge::default();
        merge.push(record(10, 0));
        assert!(merge.pop(10).is_some());
        merge.push(record(3, 1));
        assert_eq!(merge.pop(u64::MAX).map(|r| r.time_ns), Some(10));
        assert_eq!(merge.late, 1);
    }
}
