// SPDX-License-Identifier: GPL-2.0-only
//! Continuous runs of tasks on CPUs, one per row, as switches to the task and away from it.
//!
//! Between two rows a CPU is taken for idle: the table does not tell what else ran.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use pelton_schema::{EVENTS, Event};

use super::columns::{Columns, Row, Values, columns_enum};
use crate::import::text::source::{Bad, Output, Parser, Seen, TextLines, bad};
use crate::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Columns without which it is no such table.
pub(super) const NEEDED: &[&str] = &["start_s", "duration_s", "cpu", "pid"];

columns_enum! { Col, NAMES, COUNT { Start "start_s", Duration "duration_s", Cpu "cpu", Pid "pid", Comm "comm" } }

/// A table of activations as a trace.
pub struct ActivationCsv(TextLines<Activations>);

impl ActivationCsv {
    /// Reads the table; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path) -> ActivationCsv {
        ActivationCsv(TextLines::new(Box::new(reader), path, Format::ActivationCsv, Activations::default()))
    }

    /// Bytes of memory held for lines and events.
    pub fn buffered_bytes(&self) -> usize {
        self.0.buffered_bytes()
    }
}

impl Source for ActivationCsv {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        self.0.next()
    }

    fn info(&self) -> &TraceInfo {
        self.0.info()
    }
}

#[derive(Default)]
struct Activations {
    columns: Option<Columns<COUNT>>,
    /// What runs on each CPU, and until when.
    running: BTreeMap<u32, (u64, u32)>,
}

impl Parser for Activations {
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            return Ok(Seen::Passed);
        }
        let Some(columns) = &self.columns else {
            self.columns = Some(header(line, out)?);
            return Ok(Seen::Understood);
        };
        let columns = columns.clone();
        let row = columns.row(line)?;
        self.activation(&Values { columns: &columns, row: &row, names: &NAMES }, out)?;
        Ok(Seen::Understood)
    }

    fn help(&self) -> &'static str {
        "a table of activations has a first line with at least the columns start_s, duration_s, cpu and pid"
    }

    fn end(&mut self, out: &mut Output) {
        self.end_before(None, out);
    }
}

fn header(line: &[u8], out: &mut Output) -> Result<Columns<COUNT>, Bad> {
    let columns = Columns::of_header(&Row::split(line), &NAMES);
    if let Some(missing) =
        NEEDED.iter().find(|&&needed| !NAMES.iter().enumerate().any(|(i, &name)| name == needed && columns.has(i)))
    {
        return bad(0, format!("no column `{missing}`"));
    }
    let switch = EVENTS.iter().find(|info| info.name == "sched_switch").expect("a declared event");
    ["cpu", "prev_tid", "next_tid"].into_iter().for_each(|column| out.info.has_column(switch, column));
    Ok(columns)
}

impl Activations {
    fn activation(&mut self, row: &Values<'_, COUNT>, out: &mut Output) -> Result<(), Bad> {
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
        out.name(tid, row.text(Col::Comm));
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
