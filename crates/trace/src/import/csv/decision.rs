// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions of a kernel about frequency and placement: one row per decision.

use pelton_schema::{CPU_UNKNOWN, EVENTS, Event};

use super::columns::{Columns, Row, Values, columns_enum};
use super::table::Table;
use crate::import::Format;
use crate::import::text::number::decimal;
use crate::import::text::source::{Bad, Output};

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
    Col, NAMES {
        Ts "ts", Kind "kind", Cpu "cpu", Pid "pid", Comm "comm", A0 "a0", A1 "a1", A2 "a2", A3 "a3", A4 "a4", A5 "a5",
        A6 "a6",
    }
}

/// A table of frequency and placement decisions.
#[derive(Default)]
pub struct Decisions;

impl Table for Decisions {
    const FORMAT: Format = Format::DecisionCsv;
    const NAMES: &'static [&'static str] = NAMES;
    const NEEDED: &'static [&'static str] = &["ts", "kind", "cpu", "a0"];
    const HELP: &'static str = "a table of decisions has the columns ts, kind, cpu, pid, comm, a0 to a6, with or without a first line of names";

    fn is_row(row: &Row<'_>) -> bool {
        row.len() >= NAMES.len() && decimal(row.field(0)).is_some() && KINDS.contains(&row.field(1))
    }

    /// Rows have all their figures or do not fit the table, so all columns are there when all of the table's are.
    fn header(&mut self, columns: &Columns, out: &mut Output) -> Result<(), Bad> {
        let complete = columns.has_all();
        for event in EVENTS.iter().filter(|info| complete && EVENT_NAMES.contains(&info.name)) {
            out.notes.info.has_all_columns(event);
        }
        Ok(())
    }

    fn row(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
        decision(row, out)
    }
}

fn decision(row: &Values<'_>, out: &mut Output) -> Result<(), Bad> {
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
            raw_khz: 0,
            next_khz: 0,
            forced: 0,
            domain_cpus: 0,
            idle_calls: 0,
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
            out.notes.info.skip(&String::from_utf8_lossy(&unknown[..unknown.len().min(64)]));
            return Ok(());
        }
    };
    out.cpu(cpu);
    if tid != 0 {
        out.notes.name(tid, row.text(Col::Comm));
    }
    out.event(time_ns, event);
    Ok(())
}
