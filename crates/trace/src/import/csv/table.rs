// SPDX-License-Identifier: GPL-2.0-or-later
//! Common parts of the readers of tables: comments, a line of names, then rows.

use std::io::BufRead;
use std::path::Path;

use super::columns::{Columns, Row, Values};
use crate::import::Format;
use crate::import::text::source::{Bad, Output, Parser, Seen, TextLines, bad};

/// One kind of table.
pub trait Table: Default {
    /// Format of the table.
    const FORMAT: Format;
    /// The columns that mean something.
    const NAMES: &'static [&'static str];
    /// Columns without which it is no such table.
    const NEEDED: &'static [&'static str];
    /// Description of a proper table, for the help.
    const HELP: &'static str;

    /// True for a row of such a table that has no line of names.
    fn is_row(_row: &Row<'_>) -> bool {
        false
    }

    /// Reads a comment.
    fn comment(&mut self, _comment: &[u8], _out: &mut Output) -> Result<(), Bad> {
        Ok(())
    }

    /// Says what a table with these columns carries.
    fn header(&mut self, _columns: &Columns, _out: &mut Output) -> Result<(), Bad> {
        Ok(())
    }

    /// Reads a row.
    fn row(&mut self, row: &Values<'_>, out: &mut Output) -> Result<(), Bad>;

    /// Called at the end of the table.
    fn end(&mut self, _out: &mut Output) {}
}

/// Lines of a table.
#[derive(Default)]
pub struct Rows<T> {
    columns: Option<Columns>,
    table: T,
}

/// A table as a trace.
pub type CsvSource<T> = TextLines<Rows<T>>;

impl<T: Table> CsvSource<T> {
    /// Reads the table; the path is for messages.
    pub fn new(reader: impl BufRead + 'static, path: &Path) -> CsvSource<T> {
        TextLines::over(Box::new(reader), path, T::FORMAT, Rows { columns: None, table: T::default() })
    }
}

impl<T: Table> Parser for Rows<T> {
    fn line(&mut self, line: &[u8], out: &mut Output) -> Result<Seen, Bad> {
        if line.trim_ascii().is_empty() {
            return Ok(Seen::Passed);
        }
        if let Some(comment) = line.strip_prefix(b"#") {
            return self.table.comment(comment, out).map(|()| Seen::Passed);
        }
        if let Some(columns) = &self.columns {
            let row = columns.row(line)?;
            return self.table.row(&Values { columns, row: &row }, out).map(|()| Seen::Understood);
        }
        self.first_line(line, out).map(|()| Seen::Understood)
    }

    fn help(&self) -> &'static str {
        T::HELP
    }

    fn end(&mut self, out: &mut Output) {
        self.table.end(out);
    }
}

impl<T: Table> Rows<T> {
    /// The line of names; or already a row, where a table may have no names.
    fn first_line(&mut self, line: &[u8], out: &mut Output) -> Result<(), Bad> {
        let first = Row::split(line);
        let nameless = T::is_row(&first);
        let columns = if nameless { Columns::in_order(T::NAMES) } else { Columns::of_header(&first, T::NAMES) };
        if let Some(twice) = Columns::twice(&first, T::NAMES).filter(|_| !nameless) {
            return bad(0, format!("two columns `{twice}`"));
        }
        if let Some(missing) = columns.missing(T::NEEDED) {
            return bad(0, format!("no column `{missing}`"));
        }
        self.table.header(&columns, out)?;
        let columns = self.columns.insert(columns);
        if nameless {
            let row = columns.row(line)?;
            self.table.row(&Values { columns, row: &row }, out)?;
        }
        Ok(())
    }
}
