// SPDX-License-Identifier: GPL-2.0-only
//! A table that is written line by line.

use super::{Work, bar, watched};
use crate::args::Global;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::{Pending, create};
use crate::units::human_ns;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// The table, packed when its name says so.
pub(super) struct Lines {
    out: Box<dyn Finish>,
    pending: Pending,
    failed: Option<io::Error>,
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

/// Lets `poll` take records until the time is over, the command has ended, Ctrl-C was pressed or the table cannot be written.
/// It gets the time since the start, ns, and returns how many records there are, which are called `what`.
pub(super) fn take(
    lines: &mut Option<Lines>,
    work: &mut Work,
    until_ns: u64,
    global: &Global,
    what: &str,
    mut poll: impl FnMut(&mut dyn FnMut(&str), u64) -> Result<u64, Failure>,
) -> Result<(), Failure> {
    let (bar, start) = (bar(global), Instant::now());
    watched();
    loop {
        let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let records = poll(&mut |line| lines.iter_mut().for_each(|lines| lines.put(line)), elapsed_ns)?;
        bar.set_message(format!("{}: {records} {what}", human_ns(elapsed_ns)));
        bar.tick();
        let have_failed = lines.as_ref().is_some_and(Lines::have_failed);
        if interrupt::is_requested() || have_failed || elapsed_ns >= until_ns || work.is_over() {
            interrupt::notice();
            bar.finish_and_clear();
            return Ok(());
        }
    }
}

impl Lines {
    pub fn create(table: &Path) -> Result<Lines, Failure> {
        let pending = create(table, false)?;
        let file = BufWriter::new(pending.writer()?);
        let packed = table.extension().is_some_and(|end| end == "gz");
        let out: Box<dyn Finish> =
            if packed { Box::new(GzEncoder::new(file, Compression::fast())) } else { Box::new(file) };
        Ok(Lines { out, pending, failed: None })
    }

    pub fn put(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(line.as_bytes()).err();
        }
    }

    fn have_failed(&self) -> bool {
        self.failed.is_some()
    }

    pub fn finish(self) -> Result<(), Failure> {
        let end = self.out.finish();
        let written = self.failed.map_or(end, Err);
        written.map_err(|e| Failure::cannot(format!("cannot write the table: {e}"), "is the disk full?"))?;
        self.pending.keep()
    }
}
