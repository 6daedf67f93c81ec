// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --gates`: whether CPUs search before they go idle, and which domains are balanced when, as a table that
//! `pelton validate` reads.

use super::balances::SETTLES_NS;
use super::lines::{Lines, take};
use super::{Work, cannot};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::units::number;
use crate::verbs::common::{print, print_json};
use pelton_lab::results::traces::GatesRecorded;
use pelton_live::GateSession;
use pelton_live::loads::Load;
use std::path::Path;

/// Does what was asked.
pub fn record(table: &Path, load: Option<Load>, args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    let beside = pelton_replay::placements::beside(table);
    output::spare(&[table, beside.as_path()], &[] as &[&Path])?;
    args.command.first().map_or(Ok(()), |program| super::can_start(program))?;
    let mut session = GateSession::start().map_err(|e| cannot(&e))?;
    let mut lines = Some(Lines::create(table)?);
    lines.iter_mut().for_each(|lines| lines.put(&session.header()));
    let mut work = Work::start(args, load)?;
    work.say(global);
    let settles_ns = if work.load.is_some() { SETTLES_NS } else { 0 };
    let until_ns = work.until_ns(args).saturating_add(settles_ns);
    let mut records = false;
    take(&mut lines, &mut work, until_ns, global, "gates", |put, elapsed_ns| {
        if !records && elapsed_ns >= settles_ns {
            session.record(true).map_err(|e| cannot(&e))?;
            records = true;
        }
        Ok(session.poll(put))
    })?;
    let mut put = |line: &str| lines.iter_mut().for_each(|lines| lines.put(line));
    let summary = session.finish(&mut put).map_err(|e| cannot(&e))?;
    lines.map_or(Ok(()), Lines::finish)?;
    output::write(&beside, &summary.machine)?;
    let command = args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let report = GatesRecorded {
        files: [table, beside.as_path()].iter().map(|path| path.display().to_string()).collect(),
        workload: args.load.clone().unwrap_or(command),
        cpus: summary.cpus,
        decisions: summary.decisions,
        lost: summary.lost,
        seconds: summary.seconds,
        notes: work.load.iter().flat_map(|load| load.notes.clone()).collect(),
    };
    match global.format {
        Format::Json => print_json(&report)?,
        _ => print(&text(&report))?,
    }
    Ok(work.end())
}

fn text(report: &GatesRecorded) -> String {
    let GatesRecorded { cpus, decisions, lost, seconds, .. } = report;
    let mut out = format!("{decisions} gates of {cpus} CPUs in {} s; lost: {lost}\n", number(*seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out
}
