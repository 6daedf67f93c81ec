// SPDX-License-Identifier: GPL-2.0-only
//! What a kernel decided about frequency and placement: one row per decision.

use std::io::BufRead;
use std::path::Path;

use pelton_schema::{CPU_UNKNOWN, EVENTS, Event};

use super::columns::{Columns, Row, Values, columns_enum};
use crate::import::text::number::decimal;
use crate::import::text::source::{Bad, Output, Parser, Seen, TextLines, bad};
use crate::import::{Format, ImportError, Source, Timed, TraceInfo};

/// Columns without which it is no such table.
pub(super) const NEEDED: &[&str] = &["ts", "kind", "cpu", "a0"];
/// Kinds of rows.
const KINDS: [&[u8]; 7] = [b"next_freq", b"eff_perf", b"cpu_util", b"select", b"energy", b"freq", b"overutil"];
/// The events they become.
const EVENT_NAMES: [&str; 7] = [
    "sugov_next_freq",
    "sugov_effective_cpu_perf",
    "effective_cpu_util",
    "select_task_rq",
    "sched_compute_energy",
    "cpu_frequency",
    "sched_overutilized",
];

columns_enum! {
    Col, NAMES, COUNT {
        Ts "ts", Kind "kind", Cpu "cpu", Pid "pid", Comm "comm", A0 "a0", A1 "a1", A2 "a2", A3 "a3", A4 "a4", A5 "a5",
        A6 "a6",
    }
}

/// True for a row of such a table that has no header.
pub(super) fn is_row(row: &Row<'_>) -> bool {
    row.len() >= COUNT && decimal(row.field(0)).is_some() && KINDS.contains(&row.field(1))
}

/// A table of frequency and placement decisions as a trace.
pub struct DecisionCsv(TextLines<DecisionTable>);

impl DecisionCsv {
    /// Reads the table; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path) -> DecisionCsv {
        DecisionCsv(TextLines::new(Box::new(reader), path, Format::DecisionCsv, DecisionTable::default()))
    }

    /// Bytes of memory held for lines and events.
    pub fn buffered_bytes(&self) -> usize {
        self.0.buffered_bytes()
    }
}

impl Source for DecisionCsv {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        self.0.next()
    }

    fn info(&self) -> &TraceInfo {
        self.0.info()
    }
}

#[derive(Default)]
struct DecisionTable {
    columns: Option<Columns<COUNT>>,
}

impl Parser for DecisionTable {
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            return Ok(Seen::Passed);
        }
        let first = self.columns.is_none();
        if first {
            let row = Row::split(line);
            let header = !is_row(&row);
            let columns = if header { Columns::of_header(&row, &NAMES) } else { Columns::in_order(&NAMES) };
            let missing = [Col::Ts, Col::Kind, Col::Cpu, Col::A0].into_iter().find(|&column| !columns.has(column));
            if let Some(column) = missing {
                return bad(0, format!("no column `{}`", NAMES[column as usize]));
            }
            carried(&columns, out);
            self.columns = Some(columns);
            if header {
                return Ok(Seen::Understood);
            }
        }
        let Some(columns) = &self.columns else { return Ok(Seen::Passed) };
        let row = columns.row(line)?;
        decision(&Values { columns, row: &row, names: &NAMES }, out)?;
        Ok(Seen::Understood)
    }

    fn help(&self) -> &'static str {
        "a table of decisions has the columns ts, kind, cpu, pid, comm, a0 to a6, with or without a first line of names"
    }
}

/// Rows have all their figures or do not fit the table, so all columns are there when all of the table's are.
fn carried(columns: &Columns<COUNT>, out: &mut Output) {
    let complete = (0..COUNT).all(|column| columns.has(column));
    for event in EVENTS.iter().filter(|info| complete && EVENT_NAMES.contains(&info.name)) {
        out.info.has_all_columns(event);
    }
}

fn decision(row: &Values<'_, COUNT>, out: &mut Output) -> Result<(), Bad> {
    [Col::Ts, Col::Kind, Col::Cpu].into_iter().try_for_each(|column| row.needed(column))?;
    let time_ns = row.u64(Col::Ts)?;
    let (cpu, tid) = (row.cpu(Col::Cpu)?, row.u32(Col::Pid)?);
    let (util, target) = (|column| row.u32(column), || row.cpu(Col::A0));
    let event = match row.text(Col::Kind) {
        b"next_freq" => Event::NextFreq {
            cpu: target()?,
            util: util(Col::A1)?,
            max: util(Col::A2)?,
            resolved_khz: row.u32(Col::A3)?,
            cur_khz: row.u32(Col::A4)?,
            max_khz: row.u32(Col::A5)?,
        },
        b"eff_perf" => Event::EffectivePerf {
            cpu: target()?,
            actual: util(Col::A1)?,
            min: util(Col::A2)?,
            max: util(Col::A3)?,
            perf: util(Col::A4)?,
        },
        b"cpu_util" => Event::EffectiveUtil {
            cpu: target()?,
            util_cfs: util(Col::A1)?,
            min: util(Col::A2)?,
            max: util(Col::A3)?,
            util: util(Col::A4)?,
        },
        b"select" => Event::SelectTaskRq {
            cpu,
            tid,
            prev_cpu: target()?,
            wake_flags: row.u32(Col::A1)?,
            chosen_cpu: row.cpu(Col::A2)?,
            util_avg: util(Col::A3)?,
            util_est: util(Col::A4)?,
            uclamp_min: util(Col::A5)?,
            uclamp_max: util(Col::A6)?,
        },
        b"energy" => Event::ComputeEnergy {
            cpu,
            tid,
            dst_cpu: if row.u64(Col::A0)? == u64::MAX { CPU_UNKNOWN } else { target()? },
            energy: row.u64(Col::A1)?,
            max_util: row.u64(Col::A2)?,
            busy_time: row.u64(Col::A3)?,
        },
        b"freq" => Event::CpuFrequency { cpu: target()?, freq_khz: row.u32(Col::A1)? },
        b"overutil" => Event::SchedOverutilized { overutilized: row.u32(Col::A0)? },
        unknown => {
            out.info.skip(&String::from_utf8_lossy(&unknown[..unknown.len().min(64)]));
            return Ok(());
        }
    };
    out.cpu(cpu);
    if tid != 0 {
        out.name(tid, row.text(Col::Comm));
    }
    out.event(time_ns, event);
    Ok(())
}
