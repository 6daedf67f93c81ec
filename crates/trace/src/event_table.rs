// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of one kind as a table, with a unit in the name of every column that has one: what pandas, polars and DuckDB
//! read as it is.

use std::io::{self, Write};

use pelton_schema::{Column, Event, EventInfo, Sink, Unit};

use crate::output::Output;
use crate::parquet::{Kind, Parquet, ParquetColumn, Stored};
use crate::shown::one_line;
use crate::text::{Cell, NAME_FIRST, NAME_REST, each_cell, each_column};

/// Form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Comma-separated values below a line of names.
    Csv,
    /// One JSON object per line, all with the same names.
    Json,
    /// Parquet.
    Parquet,
}

impl TableForm {
    /// Ending of the names of such files.
    pub fn ending(self) -> &'static str {
        match self {
            TableForm::Csv => "csv",
            TableForm::Json => "jsonl",
            TableForm::Parquet => "parquet",
        }
    }
}

/// The name of a column with its unit: `freq_khz`, `util_avg_of_1024`; ids, codes and counts have none.
///
/// ```
/// let info = pelton_schema::EVENTS.iter().find(|info| info.name == "pelt_rt").unwrap();
/// let names: Vec<_> = info.columns.iter().map(pelton_trace::column_name).collect();
/// assert_eq!(names, ["cpu", "util_avg_of_1024"]);
/// ```
pub fn column_name(column: &Column) -> String {
    let unit = match column.unit {
        Unit::Id | Unit::Count | Unit::Code => return column.name.to_owned(),
        Unit::Capacity => "_of_1024",
        Unit::Load => "_weight",
        Unit::Runnable => "_1024ths",
        Unit::Khz => "_khz",
        Unit::Ns => "_ns",
        Unit::Uw => "_uw",
        Unit::Mw => "_mw",
        Unit::MilliC => "_mc",
    };
    let has_it = column.name.ends_with(unit) || column.name.contains(&format!("{unit}_"));
    if has_it { column.name.to_owned() } else { format!("{}{unit}", column.name) }
}

/// The columns of a kind of event as they stand in tables: a name, which an event carries in two numbers, is one text.
fn table_columns(info: &EventInfo) -> Vec<ParquetColumn> {
    let mut columns = Vec::new();
    for column in info.columns {
        match column.name {
            NAME_FIRST => columns.push(ParquetColumn { name: "name".to_owned(), kind: Kind::Text }),
            NAME_REST => {}
            _ => {
                let kind = if column.signed { Kind::Signed } else { Kind::Unsigned };
                columns.push(ParquetColumn { name: column_name(column), kind });
            }
        }
    }
    columns
}

/// Writes a cell; names come out of files that may hold anything.
fn write_cell(out: &mut impl Write, cell: &Cell, json: bool) -> io::Result<()> {
    match cell {
        Cell::Number(number) => write!(out, "{number}"),
        Cell::Unknown => write!(out, "{}", if json { "null" } else { "" }),
        Cell::Name(name) if json => write!(out, "\"{}\"", one_line(&name.replace('\\', "\\\\").replace('"', "\\\""))),
        Cell::Name(name) => write!(out, "\"{}{}\"", inert(name), one_line(name).replace('"', "\"\"")),
    }
}

/// Mark that keeps a spreadsheet from taking a name for a formula.
fn inert(name: &str) -> &'static str {
    if name.starts_with(['=', '+', '-', '@', '|']) { "'" } else { "" }
}

/// Writes the events of one kind: their times on the trace's own clock, then their columns.
pub struct EventTable<W: Write> {
    info: &'static EventInfo,
    names: Vec<String>,
    rows: Rows<W>,
}

enum Rows<W: Write> {
    Csv(Output<W>),
    Json(Output<W>),
    Parquet(Box<Parquet<W>>),
}

impl<W: Write> Sink for EventTable<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        if event.code() != self.info.code {
            return;
        }
        let mut cells = Vec::with_capacity(self.names.len());
        each_cell(self.info, event, known, |_, cell| cells.push(cell));
        let names = &self.names;
        match &mut self.rows {
            Rows::Csv(output) => output.append(|text| {
                write!(text, "{time_ns}")?;
                cells.iter().try_for_each(|cell| {
                    write!(text, ",")?;
                    write_cell(text, cell, false)
                })?;
                writeln!(text)
            }),
            Rows::Json(output) => output.append(|text| {
                write!(text, "{{\"time_ns\":{time_ns}")?;
                names.iter().zip(&cells).try_for_each(|(name, cell)| {
                    write!(text, ",\"{name}\":")?;
                    write_cell(text, cell, true)
                })?;
                writeln!(text, "}}")
            }),
            Rows::Parquet(parquet) => {
                let cells = cells.iter().map(|cell| match cell {
                    Cell::Number(number) => Stored::Bits(number.bits()),
                    Cell::Unknown => Stored::Nothing,
                    Cell::Name(name) => Stored::Text(name),
                });
                parquet.row(std::iter::once(Stored::Bits(time_ns)).chain(cells));
            }
        }
    }
}

impl<W: Write> EventTable<W> {
    /// Starts a table.
    pub fn new(out: W, info: &'static EventInfo, form: TableForm) -> Self {
        let columns = table_columns(info);
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let rows = match form {
            TableForm::Csv => {
                let mut output = Output::new(out);
                output.append(|text| writeln!(text, "time_ns,{}", names.join(",")));
                Rows::Csv(output)
            }
            TableForm::Json => Rows::Json(Output::new(out)),
            TableForm::Parquet => {
                let time = ParquetColumn { name: "time_ns".to_owned(), kind: Kind::Unsigned };
                let columns = std::iter::once(time).chain(columns).collect();
                Rows::Parquet(Box::new(Parquet::new(out, columns)))
            }
        };
        EventTable { info, names, rows }
    }

    /// Writes what is buffered; returns the length of the file or the first error.
    pub fn finish(self) -> io::Result<u64> {
        match self.rows {
            Rows::Csv(output) | Rows::Json(output) => output.finish(),
            Rows::Parquet(parquet) => parquet.finish(),
        }
    }
}

/// Writes events of any kind as one tidy table: a row for each number of each event. `number` counts events, so that
/// what belongs together can be put together again.
pub struct LongTable<W: Write> {
    output: Output<W>,
    json: bool,
    number: u64,
}

impl<W: Write> Sink for LongTable<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        self.event_known(time_ns, event, u64::MAX);
    }

    /// Leaves out the rows of columns that are not known.
    fn event_known(&mut self, time_ns: u64, event: &Event, known: u64) {
        let Some(info) = EventInfo::of_code(event.code()) else { return };
        let (number, json) = (self.number, self.json);
        self.number += 1;
        let (mut columns, mut left) = (info.columns.iter().map(column_name), known & !event.unknown());
        self.output.append(|text| {
            let mut result = Ok(());
            each_column(info, event, |_, value| {
                let (event, column) = (info.name, columns.next().unwrap_or_default());
                let is_known = left & 1 == 1;
                left >>= 1;
                if !is_known {
                    return;
                }
                let written = match json {
                    false => writeln!(text, "{number},{time_ns},{event},{column},{value}"),
                    true => writeln!(
                        text,
                        "{{\"number\":{number},\"time_ns\":{time_ns},\"event\":\"{event}\",\"column\":\"{column}\",\"value\":{value}}}"
                    ),
                };
                if result.is_ok() {
                    result = written;
                }
            });
            result
        });
    }
}

impl<W: Write> LongTable<W> {
    /// Starts a table of CSV, or of JSON lines.
    pub fn new(out: W, json: bool) -> Self {
        let mut output = Output::new(out);
        if !json {
            output.append(|text| writeln!(text, "number,time_ns,event,column,value"));
        }
        LongTable { output, json, number: 0 }
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_schema::EVENTS;

    fn written(form: TableForm) -> Vec<u8> {
        let info = EVENTS.iter().find(|info| info.name == "cpu_frequency").expect("declared");
        let mut out = Vec::new();
        let mut table = EventTable::new(&mut out, info, form);
        table.event(5, &Event::CpuFrequency { cpu: 1, freq_khz: 600_000 });
        table.event(6, &Event::CpuIdle { cpu: 1, state: 0 });
        table.finish().expect("a vector takes everything");
        out
    }

    #[test]
    fn tables_are_read_as_they_are() {
        assert_eq!(written(TableForm::Csv), b"time_ns,cpu,freq_khz\n5,1,600000\n");
        assert_eq!(written(TableForm::Json), b"{\"time_ns\":5,\"cpu\":1,\"freq_khz\":600000}\n");
        let parquet = written(TableForm::Parquet);
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1") && parquet.len() > 100);
    }

    #[test]
    fn what_is_not_known_is_empty_or_null_and_never_0() {
        let info = EVENTS.iter().find(|info| info.name == "pelt_rt").expect("declared");
        let of = |form| {
            let mut out = Vec::new();
            let mut table = EventTable::new(&mut out, info, form);
            table.event_known(5, &Event::PeltRt { cpu: 1, util_avg: 0 }, 1);
            table.finish().expect("a vector takes everything");
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(of(TableForm::Csv), "time_ns,cpu,util_avg_of_1024\n5,1,\n");
        assert_eq!(of(TableForm::Json), "{\"time_ns\":5,\"cpu\":1,\"util_avg_of_1024\":null}\n");
        let mut out = Vec::new();
        let mut table = LongTable::new(&mut out, false);
        table.event_known(5, &Event::PeltRt { cpu: 1, util_avg: 0 }, 1);
        table.finish().expect("a vector takes everything");
        assert!(out.ends_with(b"\n0,5,pelt_rt,cpu,1\n"));
    }

    #[test]
    fn a_name_is_one_text_and_no_two_numbers() {
        let info = EVENTS.iter().find(|info| info.name == "task_name").expect("declared");
        let of = |form, name: &str| {
            let (name_0, name_8) = pelton_schema::pack_name(name);
            let mut out = Vec::new();
            let mut table = EventTable::new(&mut out, info, form);
            table.event(5, &Event::TaskName { tid: 7, name_0, name_8 });
            table.finish().expect("a vector takes everything");
            out
        };
        let text = |form, name: &str| String::from_utf8(of(form, name)).expect("text");
        assert_eq!(text(TableForm::Csv, "a,\"b\""), "time_ns,tid,name\n5,7,\"a,\"\"b\"\"\"\n");
        assert_eq!(text(TableForm::Csv, "=cmd"), "time_ns,tid,name\n5,7,\"'=cmd\"\n");
        let json = text(TableForm::Json, "a\\\"\u{1b}");
        let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!((read["name"].as_str(), read["tid"].as_u64()), (Some("a\\\"\u{1b}"), Some(7)));
        let parquet = of(TableForm::Parquet, "surfaceflinger");
        assert!(parquet.windows(4).any(|w| w == b"name") && !parquet.windows(6).any(|w| w == b"name_0"));
    }

    #[test]
    fn the_long_form_has_a_row_for_each_number() {
        for (json, expected) in [
            (false, "number,time_ns,event,column,value\n0,5,pelt_rt,cpu,1\n0,5,pelt_rt,util_avg_of_1024,9\n"),
            (
                true,
                "{\"number\":0,\"time_ns\":5,\"event\":\"pelt_rt\",\"column\":\"cpu\",\"value\":1}\n\
                 {\"number\":0,\"time_ns\":5,\"event\":\"pelt_rt\",\"column\":\"util_avg_of_1024\",\"value\":9}\n",
            ),
        ] {
            let mut out = Vec::new();
            let mut table = LongTable::new(&mut out, json);
            table.event(5, &Event::PeltRt { cpu: 1, util_avg: 9 });
            table.finish().expect("a vector takes everything");
            assert_eq!(String::from_utf8(out).expect("text"), expected);
        }
    }

    #[test]
    fn names_of_columns_are_unique() {
        for info in EVENTS {
            let mut names: Vec<_> = info.columns.iter().map(column_name).chain(["time_ns".to_owned()]).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), info.columns.len() + 1, "{}", info.name);
        }
    }
}
