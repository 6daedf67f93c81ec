// SPDX-License-Identifier: GPL-2.0-or-later
//! A table of records: the first line names the columns, which are found by name.

use std::io::{BufRead, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use pelton_core::Placement;
use pelton_trace::decided::Row;
use pelton_trace::import::{ImportError, open_bytes};

use crate::columns::places;

/// Longest line.
const LINE_MAX: u64 = 256 * 1024;

/// Reads records, in bounded memory.
pub struct Table<R> {
    path: PathBuf,
    lines: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
    /// Columns of the file.
    width: usize,
    /// Place of each value of a record among them.
    order: Vec<usize>,
    values: Vec<u64>,
    rows: PhantomData<R>,
}

impl<R: Row> Table<R> {
    /// Reads the line of names.
    ///
    /// # Errors
    /// When it cannot be read, or a column is not there.
    pub fn open(path: &Path, cpus: usize) -> Result<Table<R>, ImportError> {
        let mut table = Table {
            path: path.to_owned(),
            lines: open_bytes(path)?,
            line: Vec::new(),
            number: 0,
            width: 0,
            order: Vec::new(),
            values: Vec::new(),
            rows: PhantomData,
        };
        table.read_line()?;
        let names = String::from_utf8_lossy(&table.line).into_owned();
        let known = places(names.trim_end().split(',').map(str::to_owned)).map_err(|twice| table.wrong(0, twice))?;
        table.width = known.len();
        for name in R::columns(cpus) {
            let Some(place) = known.get(&name) else {
                let help = "`pelton live --record` of this version writes such a table; record it again";
                return Err(ImportError::content(path, format!("has no column `{name}`")).help(help));
            };
            table.order.push(*place);
        }
        Ok(table)
    }

    /// False at the end.
    fn read_line(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        let read = self.lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| ImportError::io(&self.path, error))?;
        self.number += 1;
        if read as u64 == LINE_MAX {
            return Err(self.wrong(0, format!("is longer than {} KiB", LINE_MAX / 1024)));
        }
        Ok(read > 0)
    }

    /// The next record and its line; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, or a line has a value that cannot be.
    pub fn next(&mut self, machine: &Placement) -> Result<Option<(u64, R)>, ImportError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let mut all: Vec<u64> = Vec::with_capacity(self.width);
        let mut at = 0;
        for field in self.line.trim_ascii_end().split(|&byte| byte == b',') {
            let text = std::str::from_utf8(field).unwrap_or("");
            let value = text.parse().map_err(|_| self.wrong(at, format!("`{text}` is no whole number")))?;
            all.push(value);
            at += field.len() + 1;
        }
        if all.len() != self.width {
            return Err(self.wrong(0, format!("has {} values for {} columns", all.len(), self.width)));
        }
        self.values.clear();
        self.values.extend(self.order.iter().map(|place| all[*place]));
        Ok(Some((self.number, R::of_values(&self.values, machine))))
    }

    /// A message about the line; `column`: the first byte that is wrong, from 0.
    pub fn wrong(&self, column: usize, what: String) -> ImportError {
        // A line is long: what is shown begins a little before the place.
        let from = column.saturating_sub(40).min(self.line.len());
        let near = String::from_utf8_lossy(&self.line[from..self.line.len().min(from + 120)]).trim_end().to_owned();
        ImportError::content(&self.path, what)
            .at_line(self.number, column - from + 1, &near)
            .help("the recording was cut or altered there; record it again, or take the line out")
    }
}
