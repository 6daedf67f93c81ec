// SPDX-License-Identifier: GPL-2.0-or-later
//! Contents of a recording, counted while it passes.

use std::collections::BTreeMap;

use pelton_schema::{Event, EventInfo};

/// Counts of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events by name.
    pub events: BTreeMap<&'static str, u64>,
    /// Records for which a buffer had no room.
    pub lost: u64,
    /// Records that reached the reader too late to keep their time.
    pub late: u64,
    /// Runs of programs that the kernel left out because an interrupt came while the same one ran on that CPU.
    pub skipped: u64,
    /// Records of unknown form; always 0 unless program and reader disagree.
    pub malformed: u64,
    /// Switches whose previous task is not the one switched to before on that CPU: the kernel hid events between them.
    pub holes: u64,
    /// Switches on a CPU that had one before.
    pub switches: u64,
    /// Time of the first event.
    pub first_ns: u64,
    /// Time of the last event.
    pub last_ns: u64,
    /// Tracepoints this kernel does not have.
    pub missing: Vec<&'static str>,
    /// Requests that could not be met, as sentences.
    pub notes: Vec<String>,
    /// Paths of task groups by their number in events.
    pub groups: Vec<String>,
    running: BTreeMap<u32, u32>,
}

impl Summary {
    /// A summary with nothing counted yet.
    pub(crate) fn new(missing: Vec<&'static str>, notes: Vec<String>) -> Summary {
        Summary { missing, notes, ..Summary::default() }
    }

    /// Events in total.
    pub fn total(&self) -> u64 {
        self.events.values().sum()
    }

    /// Counts one event.
    pub(crate) fn count(&mut self, time_ns: u64, event: &Event) {
        if self.first_ns == 0 {
            self.first_ns = time_ns;
        }
        self.last_ns = time_ns;
        let name = EventInfo::of_code(event.code()).map_or("unknown", |info| info.name);
        *self.events.entry(name).or_default() += 1;
        match *event {
            Event::SchedSwitch { cpu, prev_tid, next_tid, .. } => {
                if let Some(running) = self.running.insert(cpu, next_tid) {
                    self.switches += 1;
                    self.holes += u64::from(running != prev_tid);
                }
            }
            Event::LostEvents { cpu, count } => {
                self.lost += count;
                self.running.remove(&cpu);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(cpu: u32, prev_tid: u32, next_tid: u32) -> Event {
        Event::SchedSwitch { cpu, prev_tid, prev_prio: 120, prev_state: 0, next_tid, next_prio: 120 }
    }

    #[test]
    fn a_switch_from_a_task_that_was_not_running_is_a_hole() {
        let mut summary = Summary::default();
        for event in [switch(0, 0, 5), switch(1, 0, 9), switch(0, 5, 6), switch(0, 7, 0)] {
            summary.count(1, &event);
        }
        assert_eq!((summary.holes, summary.switches, summary.total()), (1, 2, 4));
    }

    #[test]
    fn after_a_known_loss_there_is_no_hole() {
        let mut summary = Summary::default();
        for event in [switch(0, 0, 5), Event::LostEvents { cpu: 0, count: 3 }, switch(0, 7, 0)] {
            summary.count(1, &event);
        }
        assert_eq!((summary.holes, summary.lost), (0, 3));
    }
}
