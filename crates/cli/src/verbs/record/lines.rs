// SPDX-License-Identifier: GPL-2.0-or-later
//! A table that is written line by line.

use crate::exit::Failure;
use crate::output::{Pending, create};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The table, packed when its name says so.
pub(in crate::verbs) struct Lines {
    out: Box<dyn Finish>,
    pending: Pending,
    failed: Option<io::Error>,
}

/// An output that has to be ended.
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

    pub fn have_failed(&self) -> bool {
        self.failed.is_some()
    }

    pub fn finish(self) -> Result<(), Failure> {
        let end = self.out.finish();
        let written = self.failed.map_or(end, Err);
        written.map_err(|e| Failure::cannot(format!("cannot write the table: {e}"), "is the disk full?"))?;
        self.pending.keep()
    }
}
