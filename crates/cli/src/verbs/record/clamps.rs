// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --clamps`: what clamps come to in the running kernel, as a table that `pelton validate` reads.

use super::lines::{Lines, take};
use super::{Work, cannot};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::units::number;
use crate::verbs::common::{print, print_json};
use pelton_lab::results::traces::ClampsRecorded;
use pelton_live::loads::Load;
use pelton_live::{ClampSession, ClampSummary};
use std::path::Path;

/// Does what was asked.
pub fn record(table: &Path, load: Option<Load>, args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    output::spare(&[table], &[] as &[&Path])?;
    args.command.first().map_or(Ok(()), |program| super::can_start(program))?;
    let mut session = ClampSession::start().map_err(|e| cannot(&e))?;
    let mut lines = Some(Lines::create(table)?);
    lines.iter_mut().for_each(|lines| lines.put(&session.header()));
    let mut work = Work::start(args, load)?;
    work.say(global);
    let until_ns = work.until_ns(args);
    take(&mut lines, &mut work, until_ns, global, "decisions about clamps", |put, _| Ok(session.poll(put)))?;
    let mut put = |line: &str| lines.iter_mut().for_each(|lines| lines.put(line));
    let summary = session.finish(&mut put).map_err(|e| cannot(&e))?;
    lines.map_or(Ok(()), Lines::finish)?;
    let notes = work.load.iter().flat_map(|load| load.notes.clone()).collect();
    let ClampSummary { cpus, records, lost, seconds } = summary;
    let report = ClampsRecorded { file: table.display().to_string(), cpus, records, lost, seconds, notes };
    match global.format {
        Format::Json => print_json(&report)?,
        _ => print(&text(&report))?,
    }
    Ok(work.end())
}

fn text(report: &ClampsRecorded) -> String {
    let ClampsRecorded { cpus, records, lost, seconds, .. } = report;
    let mut out = format!("{records} decisions about clamps on {cpus} CPUs in {} s; lost: {lost}\n", number(*seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out
}
