// SPDX-License-Identifier: GPL-2.0-only
//! `pelton record --placements`: where the running kernel places fair tasks, as a table that `pelton validate` reads.

use super::{Work, bar, cannot, watched};
use crate::args::{Format, Global, RecordArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Pending, create};
use crate::units::{human_ns, number};
use crate::verbs::common::{print, print_json};
use flate2::Compression;
use flate2::write::GzEncoder;
use pelton_lab::results::traces::PlacementsRecorded;
use pelton_live::loads::Load;
use pelton_live::{PlacementSession, PlacementSummary};
use std::fs::File;
use std::io::{self, BufWriter, Write};
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
        if interrupt::is_requested() || lines.failed.is_some() || elapsed_ns >= until_ns || work.is_over() {
            interrupt::notice();
            bar.finish_and_clear();
            return;
        }
    }
}

/// The table, packed when its name says so.
pub(super) struct Lines {
    out: Box<dyn Finish>,
    pending: Pending,
    pub(super) failed: Option<io::Error>,
}

/// Something to write to that has an end.
trait Finish: Write {
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Finish for BufWriter<File> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()
    }
}

impl Finish for GzEncoder<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        GzEncoder::finish(*self)?.flush()
    }
}

impl Lines {
    pub(super) fn create(table: &Path) -> Result<Lines, Failure> {
        let pending = create(table, false)?;
        let file = BufWriter::new(pending.writer()?);
        let packed = table.extension().is_some_and(|end| end == "gz");
        let out: Box<dyn Finish> =
            if packed { Box::new(GzEncoder::new(file, Compression::fast())) } else { Box::new(file) };
        Ok(Lines { out, pending, failed: None })
    }

    pub(super) fn put(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(line.as_bytes()).err();
        }
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let end = self.out.finish();
        let written = self.failed.map_or(end, Err);
        written.map_err(|e| Failure::cannot(format!("cannot write the table: {e}"), "is the disk full?"))?;
        self.pending.keep()
    }
}

fn text(report: &PlacementsRecorded) -> String {
    let PlacementsRecorded { cpus, decisions, lost, seconds, .. } = report;
    let mut out = format!("{decisions} placements on {cpus} CPUs in {} s; lost: {lost}\n", number(*seconds));
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    out + &format!("{} has what does not change\n", report.files[1])
}
