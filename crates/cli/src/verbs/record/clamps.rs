// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --clamps`: what clamps come to in the running kernel, as a table that `pelton validate` reads.

use super::lines::Lines;
use super::{Work, bar, cannot, watched};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output;
use crate::units::{human_ns, number};
use crate::verbs::common::{print, print_json};
use pelton_lab::results::traces::ClampsRecorded;
use pelton_live::loads::Load;
use pelton_live::{ClampSession, ClampSummary};
use std::path::Path;
use std::time::Instant;

/// Does what was asked.
pub fn record(table: &Path, load: Option<Load>, args: &RecordArgs, global: &Global) -> Result<Exit, Failure> {
    output::spare(&[table], &[] as &[&Path])?;
    args.command.first().map_or(Ok(()), |program| super::can_start(program))?;
    let mut session = ClampSession::start().map_err(|e| cannot(&e))?;
    let mut lines = Lines::create(table)?;
    lines.put(&session.header());
    let mut work = Work::start(args, load)?;
    work.say(global);
    watch(&mut session, &mut lines, &mut work, args, global);
    let summary = session.finish(&mut |line| lines.put(line)).map_err(|e| cannot(&e))?;
    lines.finish()?;
    let notes = work.load.iter().flat_map(|load| load.notes.clone()).collect();
    let ClampSummary { cpus, records, lost, seconds } = summary;
    let report = ClampsRecorded { file: table.display().to_string(), cpus, records, lost, seconds, notes };
    match global.format {
        Format::Json => print_json(&report)?,
        _ => print(&text(&report))?,
    }
    Ok(work.end())
}

/// Takes records until the time is over, the command has ended, Ctrl-C was pressed or the table cannot be written.
fn watch(session: &mut ClampSession, lines: &mut Lines, work: &mut Work, args: &RecordArgs, global: &Global) {
    let (until_ns, bar, start) = (work.until_ns(args), bar(global), Instant::now());
    watched();
    loop {
        let records = session.poll(&mut |line| lines.put(line));
        let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        bar.set_message(format!("{}: {records} decisions about clamps", human_ns(elapsed_ns)));
        bar.tick();
        if interrupt::is_requested() || lines.have_failed() || elapsed_ns >= until_ns || work.is_over() {
            interrupt::notice();
            bar.finish_and_clear();
            return;
        }
    }
}

fn text(report: &ClampsRecorded) -> String {
    let ClampsRecorded { cpus, records, lost, seconds, .. } = report;
    let mut out = format!("{records} decisions about clamps on {cpus} CPUs in {} s; lost: {lost}\n", number(*seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out
}
