// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes of the states of tasks, in the order in which they happened: wake-ups and both sides of switches.

use crate::subject::Subject;
use crate::table::{Column, Table, Values};
use pelton_lab::run::LabError;
use pelton_lab::watch::Watch;
use pelton_schema::{Event, EventInfo, Sink};
use std::collections::BTreeMap;
use std::sync::Arc;

/// States beside the kernel's, as LISA numbers them: woken and not yet running, and running.
pub(super) const WAKING: u32 = 0x200;
pub(super) const ACTIVE: u32 = 0x2000;
/// On a queue, not running.
pub(super) const RUNNABLE: u32 = 0;

/// Name under which the table is kept.
pub(crate) const NAME: &str = "states of tasks";

/// The table: time_ns, pid, cpu, target_cpu, curr_state, next_state, delta_ns; what is not known is marked.
pub(super) fn of(subject: &Subject, watch: &dyn Watch) -> Result<Arc<Table>, LabError> {
    subject.kept_or(NAME, || {
        let mut seen = States::default();
        subject.follow(&mut seen, watch)?;
        Ok(seen.table())
    })
}

/// Collects them.
#[derive(Default)]
pub(crate) struct States {
    time_ns: Vec<u64>,
    pid: Vec<u32>,
    cpu: Vec<u32>,
    target_cpu: Vec<u32>,
    is_wakeup: Vec<bool>,
    state: Vec<u32>,
    is_known: Vec<bool>,
    /// State of each task so far; the idle task of each CPU is one of its own.
    now: BTreeMap<(u32, u32), u32>,
}

impl States {
    fn push(&mut self, time_ns: u64, (pid, cpu): (u32, u32), target_cpu: Option<u32>, state: Option<u32>) {
        self.time_ns.push(time_ns);
        self.pid.push(pid);
        self.cpu.push(cpu);
        self.target_cpu.push(target_cpu.unwrap_or(0));
        self.is_wakeup.push(target_cpu.is_some());
        self.state.push(state.unwrap_or(0));
        self.is_known.push(state.is_some());
        match state {
            Some(state) => drop(self.now.insert(key(pid, cpu), state)),
            None => drop(self.now.remove(&key(pid, cpu))),
        }
    }

    /// Kernels say of tasks that run or wait already that they wake, too: nothing changes.
    fn wakes(&mut self, time_ns: u64, tid: u32, cpu: u32, target_cpu: u32) {
        if !matches!(self.now.get(&key(tid, cpu)), Some(&(ACTIVE | RUNNABLE))) {
            self.push(time_ns, (tid, cpu), Some(target_cpu), Some(WAKING));
        }
    }

    /// Everything that was collected, as a table.
    pub(crate) fn table(self) -> Table {
        let rows = self.time_ns.len();
        let (mut next_state, mut delta_ns) = (vec![0; rows], vec![0; rows]);
        let (mut has_next, mut next_known) = (vec![false; rows], vec![false; rows]);
        let mut last: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for row in 0..rows {
            if let Some(before) = last.insert(key(self.pid[row], self.cpu[row]), row) {
                next_state[before] = self.state[row];
                delta_ns[before] = self.time_ns[row] - self.time_ns[before];
                has_next[before] = true;
                next_known[before] = self.is_known[row];
            }
        }
        let column = |name: &str, values| Column::new(name, "", "", values);
        Table::of(vec![
            column("time_ns", Values::U64(self.time_ns)),
            column("pid", Values::U32(self.pid)),
            column("cpu", Values::U32(self.cpu)),
            Column { known: Some(self.is_wakeup), ..column("target_cpu", Values::U32(self.target_cpu)) },
            Column { known: Some(self.is_known), ..column("curr_state", Values::U32(self.state)) },
            Column { known: Some(next_known), ..column("next_state", Values::U32(next_state)) },
            Column { known: Some(has_next), ..column("delta_ns", Values::U64(delta_ns)) },
        ])
    }
}

impl Sink for States {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        match *event {
            Event::SchedSwitch { cpu, prev_tid, prev_state, next_tid, .. } => {
                let prev_state = has(event, known, "prev_state").then_some(prev_state);
                self.push(time_ns, (prev_tid, cpu), None, prev_state);
                self.push(time_ns, (next_tid, cpu), None, Some(ACTIVE));
            }
            Event::SchedWakeup { cpu, tid, target_cpu, .. } | Event::SchedWakeupNew { cpu, tid, target_cpu, .. } => {
                self.wakes(time_ns, tid, cpu, target_cpu);
            }
            _ => {}
        }
    }
}

/// A task; the idle task of each CPU is one of its own.
fn key(pid: u32, cpu: u32) -> (u32, u32) {
    (pid, if pid == 0 { cpu } else { 0 })
}

/// True when a column of an event is known.
fn has(event: &Event, known: u64, column: &str) -> bool {
    let at = EventInfo::of_code(event.code()).and_then(|info| info.column(column));
    at.is_some_and(|at| known >> at & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_lasts_until_the_next_of_the_task() {
        let mut seen = States::default();
        let prio = 120;
        seen.event(5, &Event::SchedWakeup { cpu: 1, tid: 7, prio, target_cpu: 0 });
        let switch = |prev_tid, prev_state, next_tid| Event::SchedSwitch {
            cpu: 0,
            prev_tid,
            prev_prio: prio,
            prev_state,
            next_tid,
            next_prio: prio,
        };
        seen.event(8, &switch(0, 0, 7));
        seen.event(20, &switch(7, 1, 0));
        let table = seen.table();
        let rows = super::super::Rows(&table);
        assert_eq!(rows.u32s("curr_state"), [WAKING, 0, ACTIVE, 1, ACTIVE]);
        assert_eq!(rows.u64s("delta_ns"), [3, 12, 12, 0, 0]);
        let known = |name: &str| table.column(name).and_then(|column| column.known.clone()).expect("marked");
        assert_eq!(known("delta_ns"), [true, true, true, false, false]);
        assert_eq!(known("target_cpu"), [true, false, false, false, false]);
    }

    #[test]
    fn a_task_that_runs_is_not_woken_and_a_state_that_is_not_recorded_is_not_known() {
        let mut seen = States::default();
        let switch = |prev_tid, next_tid| Event::SchedSwitch {
            cpu: 0,
            prev_tid,
            prev_prio: 120,
            prev_state: 0,
            next_tid,
            next_prio: 120,
        };
        seen.event(5, &switch(0, 7));
        seen.event(7, &Event::SchedWakeup { cpu: 1, tid: 7, prio: 120, target_cpu: 0 });
        seen.event_known(9, &switch(7, 0), !(1 << 3));
        let table = seen.table();
        let rows = super::super::Rows(&table);
        assert_eq!((rows.u32s("pid"), rows.u64s("delta_ns")), (&[0, 7, 7, 0][..], &[4, 4, 0, 0][..]));
        assert!(!rows.is_known("curr_state", 2) && rows.is_known("curr_state", 1) && !rows.is_known("next_state", 1));
    }
}
