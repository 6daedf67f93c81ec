// SPDX-License-Identifier: GPL-2.0-or-later
//! Continuous runs of tasks on CPUs, one per row, as switches to the task and away from it.
//!
//! Between two rows a CPU is taken for idle: the table does not hold what else ran.

use std::collections::BTreeMap;

use pelton_schema::{EVENTS, Event};

use super::columns::{Columns, Values, columns_enum};
use super::table::Table;
use crate::import::Format;
use crate::import::text::source::{Bad, Output};

columns_enum! { Col, NAMES { Start "start_s", Duration "duration_s", Cpu "cpu", Pid "pid", Comm "comm" } }

/// A table of activations.
#[derive(Default)]
pub struct Activations {
    /// Task that runs on each CPU, and the end of its run.
    running: BTreeMap<u32, (u64, u32)>,
}

impl Table for Activations {
    const FORMAT: Format = Format::ActivationCsv;
    const NAMES: &'static [&'static str] = NAMES;
    const NEEDED: &'static [&'static str] = &["start_s", "duration_s", "cpu", "pid"];
    const HELP: &'static str =
        "a table of activations has a first line with at least the columns start_s, duration_s, cpu and pid";

    fn header(&mut self, _columns: &Columns, out: &mut Output) -> Result<(), Bad> {
        let switch = EVENTS.iter().find(|info| info.name == "sched_switch").expect("a declared event");
        ["cpu", "prev_tid", "next_tid"].into_iter().for_each(|column| out.notes.info.has_column(switch, column));
        Ok(())
    }

    fn row(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        self.activation(row, out)
    }

    fn end(&mut self, out: &mut Output) {
        self.end_before(None, out);
    }
}

impl Activations {
    fn activation(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        let (start_ns, step_ns) = row.seconds(Col::Start)?;
        let (duration_ns, _) = row.seconds(Col::Duration)?;
        [Col::Cpu, Col::Pid].into_iter().try_for_each(|column| row.needed(column))?;
        let (cpu, tid) = (row.cpu(Col::Cpu)?, row.u32(Col::Pid)?);
        let Some(end_ns) = start_ns.checked_add(duration_ns) else {
            return row.bad(Col::Duration, "lasts longer than a clock counts");
        };
        self.end_before(Some(start_ns), out);
        let before = self.running.get(&cpu).copied();
        if before.is_some_and(|(until_ns, _)| until_ns > start_ns) {
            return row.bad(Col::Start, "is before the end of the row before it on this CPU");
        }
        let prev_tid = before.map_or(0, |(_, tid)| tid);
        self.running.insert(cpu, (end_ns, tid));
        out.resolution(step_ns);
        out.cpu(cpu);
        out.notes.name(tid, row.text(Col::Comm));
        out.event(start_ns, switch(cpu, prev_tid, tid));
        Ok(())
    }

    /// Ends what runs until before a time, oldest first.
    fn end_before(&mut self, time_ns: Option<u64>, out: &mut Output) {
        let due = |(_, (until_ns, _)): &(&u32, &(u64, u32))| time_ns.is_none_or(|time_ns| *until_ns < time_ns);
        let mut ended: Vec<(u64, u32)> = self.running.iter().filter(due).map(|(&cpu, end)| (end.0, cpu)).collect();
        ended.sort_unstable();
        for (end_ns, cpu) in ended {
            let tid = self.running.remove(&cpu).map_or(0, |(_, tid)| tid);
            out.event(end_ns, switch(cpu, tid, 0));
        }
    }
}

fn switch(cpu: u32, prev_tid: u32, next_tid: u32) -> Event {
    Event::SchedSwitch { cpu, prev_tid, prev_prio: 0, prev_state: 0, next_tid, next_prio: 0 }
}
