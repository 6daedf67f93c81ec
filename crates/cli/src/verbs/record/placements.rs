// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --placements`: where the running kernel places fair tasks, as a table that `pelton validate` reads.

use super::lines::Lines;
use super::{Work, bar, cannot, watched};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output;
use crate::units::{human_ns, number};
use crate::verbs::common::{print, print_json};
use pelton_lab::results::traces::PlacementsRecorded;
use pelton_live::loads::Load;
use pelton_live::{PlacementSession, PlacementSummary};
use std::path::Path;
use std::time::Instant;

/// Does what was asked.
pub fn record(table: &Path, load: Option<Load>, args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    let beside = pelton_replay::placements::beside(table);
    output::spare(&[table, &beside], &[] as &[&Path])?;
    args.command.first().map_or(Ok(()), |program| super::can_start(program))?;
    let mut session = PlacementSession::start().map_err(|e| cannot(&e))?;
    let mut lines = Lines::create(table)?;
    lines.put(&session.header());
    let mut work = Work::start(args, load)?;
    work.say(global);
    watch(&mut session, &mut lines, &mut work, args, global);
    let summary = session.finish(&mut |line| lines.put(line)).map_err(|e| cannot(&e))?;
    lines.finish()?;
    output::write(&beside, &summary.machine)?;
    let notes = work.load.iter().flat_map(|load| load.notes.clone()).collect();
    let files = [table, &beside].map(|path| path.display().to_string()).to_vec();
    let PlacementSummary { cpus, decisions, lost, seconds, .. } = summary;
    let report = PlacementsRecorded { files, cpus, decisions, lost, seconds, notes };
    match global.format {
        Format::Json => print_json(&report)?,
        _ => print(&text(&report))?,
    }
    Ok(work.end())
}

/// Takes placements until the time is over, the command has ended, Ctrl-C was pressed or the table cannot be written.
fn watch(session: &mut PlacementSession, lines: &mut Lines, work: &mut Work, args: &RecordArgs, global: &Global) {
    let (until_ns, bar, start) = (work.until_ns(args), bar(global), Instant::now());
    watched();
    loop {
        let decisions = session.poll(&mut |line| lines.put(line));
        let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        bar.set_message(format!("{}: {decisions} placements", human_ns(elapsed_ns)));
        bar.tick();
        if interrupt::is_requested() || lines.have_failed() || elapsed_ns >= until_ns || work.is_over() {
            interrupt::notice();
            bar.finish_and_clear();
            return;
        }
    }
}

fn text(report: &PlacementsRecorded) -> String {
    let PlacementsRecorded { cpus, decisions, lost, seconds, .. } = report;
    let mut out = format!("{decisions} placements on {cpus} CPUs in {} s; lost: {lost}\n", number(*seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out + &format!("{} has what does not change\n", report.files[1])
}
