// SPDX-License-Identifier: GPL-2.0-or-later
//! Rows of comma-separated fields, and columns found by name.

use crate::import::text::number::{CPU_RANGE, cpu_number, integer, narrow, number, seconds};
use crate::import::text::source::{Bad, bad};

/// Most fields of a row that are looked at.
const FIELDS_MAX: usize = 64;

/// Declares the columns of a table: their enum and their names.
macro_rules! columns_enum {
    ($col:ident, $names:ident { $($variant:ident $name:literal),* $(,)? }) => {
        /// A column of the table.
        #[derive(Clone, Copy)]
        pub(super) enum $col { $($variant),* }
        pub(super) const $names: &[&str] = &[$($name),*];
        impl From<$col> for usize {
            fn from(column: $col) -> usize {
                column as usize
            }
        }
    };
}
pub(super) use columns_enum;

/// A row cut at its commas; quotes around a field are taken off.
pub struct Row<'a> {
    line: &'a [u8],
    at: [(u32, u32); FIELDS_MAX],
    count: usize,
}

impl<'a> Row<'a> {
    /// Cuts a line; commas between quotes do not count.
    pub(crate) fn split(line: &'a [u8]) -> Row<'a> {
        let mut row = Row { line, at: [(0, 0); FIELDS_MAX], count: 0 };
        let (mut from, mut quoted) = (0, false);
        for (at, &byte) in line.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b',' if !quoted => {
                    row.push(from, at);
                    from = at + 1;
                }
                _ => {}
            }
        }
        row.push(from, line.len());
        row
    }

    fn push(&mut self, mut from: usize, mut to: usize) {
        if to - from >= 2 && self.line[from] == b'"' && self.line[to - 1] == b'"' {
            (from, to) = (from + 1, to - 1);
        }
        if let Some(place) = self.at.get_mut(self.count) {
            *place = (from as u32, to as u32);
        }
        self.count += 1;
    }

    /// Number of fields, those beyond the most looked at included.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// All fields looked at.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.count.min(FIELDS_MAX)).map(|index| self.field(index))
    }

    /// A field; empty when there is none.
    pub(crate) fn field(&self, index: usize) -> &'a [u8] {
        let (from, to) = self.at.get(index).copied().unwrap_or_default();
        &self.line[from as usize..to as usize]
    }

    /// Start of a field in the line.
    fn start(&self, index: usize) -> usize {
        self.at.get(index).map_or(self.line.len(), |place| place.0 as usize)
    }

    /// Joins the fields that a comma inside field `index` made, so that `len` remain.
    fn join(&mut self, index: usize, len: usize) {
        let surplus = self.count - len;
        if index + surplus >= FIELDS_MAX || self.count > FIELDS_MAX {
            return;
        }
        self.at[index].1 = self.at[index + surplus].1;
        self.at.copy_within(index + surplus + 1..self.count, index + 1);
        self.count = len;
    }
}

/// Places of the wanted columns of a table.
pub struct Columns {
    names: &'static [&'static str],
    /// By the number of the column.
    index: Vec<Option<u8>>,
    /// Fields of a row.
    count: usize,
    /// The column that may hold commas.
    free_text: Option<usize>,
}

impl Columns {
    /// Finds columns by the names in a header; unknown ones are passed over.
    pub(crate) fn of_header(header: &Row<'_>, names: &'static [&'static str]) -> Columns {
        let find = |name: &&str| header.fields().position(|field| field.trim_ascii() == name.as_bytes());
        let index: Vec<_> = names.iter().map(|name| find(name).map(|at| at as u8)).collect();
        let free_text = names.iter().position(|&name| name == "comm").and_then(|comm| index[comm]).map(usize::from);
        Columns { names, index, count: header.len(), free_text }
    }

    /// The first of the wanted columns whose name a header has twice.
    pub(crate) fn twice(header: &Row<'_>, names: &'static [&'static str]) -> Option<&'static str> {
        let count = |name: &str| header.fields().filter(|field| field.trim_ascii() == name.as_bytes()).count();
        names.iter().copied().find(|name| count(name) > 1)
    }

    /// Columns in the order of their names.
    pub(crate) fn in_order(names: &'static [&'static str]) -> Columns {
        let free_text = names.iter().position(|&name| name == "comm");
        Columns { names, index: (0..names.len()).map(|at| Some(at as u8)).collect(), count: names.len(), free_text }
    }

    /// True when the table has the column.
    pub(crate) fn has(&self, column: impl Into<usize>) -> bool {
        self.index[column.into()].is_some()
    }

    /// True when the table has every column.
    pub(crate) fn has_all(&self) -> bool {
        self.index.iter().all(Option::is_some)
    }

    /// The first of these columns that the table does not have.
    pub(crate) fn missing(&self, needed: &[&'static str]) -> Option<&'static str> {
        let has = |wanted: &str| self.names.iter().zip(&self.index).any(|(name, at)| *name == wanted && at.is_some());
        needed.iter().copied().find(|name| !has(name))
    }

    /// Cuts a line into a row of this table.
    pub(crate) fn row<'a>(&self, line: &'a [u8]) -> Result<Row<'a>, Bad> {
        let mut row = Row::split(line);
        if let Some(index) = self.free_text.filter(|_| row.len() > self.count) {
            row.join(index, self.count);
        }
        if row.len() != self.count {
            return bad(line.len(), format!("{} fields instead of {}", row.len(), self.count));
        }
        Ok(row)
    }
}

/// A row with its columns known.
pub struct Values<'a> {
    pub columns: &'a Columns,
    pub row: &'a Row<'a>,
}

impl<'a> Values<'a> {
    /// The text of a column; empty when the table has no such column.
    pub(crate) fn text(&self, column: impl Into<usize>) -> &'a [u8] {
        self.columns.index[column.into()].map_or(&[], |index| self.row.field(usize::from(index)).trim_ascii())
    }

    /// Error about a column.
    pub(crate) fn bad<T>(&self, column: impl Into<usize>, what: &str) -> Result<T, Bad> {
        let column = column.into();
        let at = self.columns.index[column].map_or(0, |index| self.row.start(usize::from(index)));
        bad(at, format!("`{}` {what}", self.columns.names[column]))
    }

    fn parsed<T: Default>(
        &self,
        column: impl Into<usize>,
        what: &str,
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, Bad> {
        let column = column.into();
        let text = self.text(column);
        if text.is_empty() {
            return Ok(T::default());
        }
        parse(text).map_or_else(|| self.bad(column, what), Ok)
    }

    /// A number; 0 when the field is empty or missing.
    pub(crate) fn u64(&self, column: impl Into<usize>) -> Result<u64, Bad> {
        self.parsed(column, "is no number of 64 bits", number)
    }

    /// Number within 32 bits; a negative one as the kernel stores it.
    pub(crate) fn u32(&self, column: impl Into<usize>) -> Result<u32, Bad> {
        self.parsed(column, "is no number of 32 bits", |text| narrow(number(text)?))
    }

    /// The number of a CPU.
    pub(crate) fn cpu(&self, column: impl Into<usize>) -> Result<u32, Bad> {
        self.parsed(column, CPU_RANGE, |text| cpu_number(number(text)?))
    }

    /// A number with sign.
    pub(crate) fn i64(&self, column: impl Into<usize>) -> Result<i64, Bad> {
        self.parsed(column, "is no number of 64 bits", integer)
    }

    /// Seconds as ns, and the step of the last decimal.
    pub(crate) fn seconds(&self, column: impl Into<usize>) -> Result<(u64, u64), Bad> {
        let column = column.into();
        self.needed(column)?;
        self.parsed(column, "is no time in seconds", seconds)
    }

    /// Complains about an empty field.
    pub(crate) fn needed(&self, column: impl Into<usize>) -> Result<(), Bad> {
        let column = column.into();
        if self.text(column).is_empty() { self.bad(column, "is empty") } else { Ok(()) }
    }

    /// True unless the field is empty or 0.
    pub(crate) fn is_set(&self, column: impl Into<usize>) -> bool {
        !matches!(self.text(column), b"" | b"0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["ts", "comm", "cpu"];

    fn read(header: &[u8], line: &[u8]) -> Result<(u64, Vec<u8>, u32), Bad> {
        let columns = Columns::of_header(&Row::split(header), NAMES);
        let row = columns.row(line)?;
        let values = Values { columns: &columns, row: &row };
        Ok((values.u64(0usize)?, values.text(1usize).to_vec(), values.u32(2usize)?))
    }

    #[test]
    fn a_wanted_column_that_stands_there_twice_is_named() {
        let twice = |header: &[u8]| Columns::twice(&Row::split(header), NAMES);
        assert_eq!([twice(b"cpu,x,x,ts"), twice(b"cpu,ts,x, ts")], [None, Some("ts")]);
    }

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        assert_eq!(read(b"cpu,x,ts,comm", b"3,,17,sh"), Ok((17, b"sh".to_vec(), 3)));
        assert_eq!(read(b"ts", b"17"), Ok((17, vec![], 0)));
    }

    #[test]
    fn a_comma_in_a_name_does_not_shift_the_columns() {
        assert_eq!(read(b"ts,comm,cpu", b"1,a,b,c,2"), Ok((1, b"a,b,c".to_vec(), 2)));
        assert_eq!(read(b"ts,comm,cpu", b"1,\"a,b\",2"), Ok((1, b"a,b".to_vec(), 2)));
        let many = [b"1,".to_vec(), vec![b','; 1000], b"2".to_vec()].concat();
        assert!(read(b"ts,comm,cpu", &many).is_err());
    }

    #[test]
    fn a_wrong_field_is_named_with_its_place() {
        let what = |line: &[u8]| read(b"ts,comm,cpu", line).map_err(|bad| (bad.at, bad.what.to_string()));
        assert_eq!(what(b"1,sh,x"), Err((5, "`cpu` is no number of 32 bits".to_owned())));
        assert_eq!(what(b"1,sh,4294967296"), Err((5, "`cpu` is no number of 32 bits".to_owned())));
        assert_eq!(what(b"1,2"), Err((3, "2 fields instead of 3".to_owned())));
    }
}
