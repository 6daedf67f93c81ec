// SPDX-License-Identifier: GPL-2.0-only
//! Events of one kind as a table, with a unit in the name of every column that has one: what pandas, polars and DuckDB
//! read as it is.

use std::io::{self, Write};

use pelton_schema::{Column, Event, EventInfo, Sink, Unit};

use crate::output::Output;
use crate::parquet::{Parquet, ParquetColumn};
use crate::text::{each_column, try_each_column};

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
    /// How names of such files end.
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
        Unit::Khz => "_khz",
        Unit::Ns => "_ns",
        Unit::Uw => "_uw",
        Unit::Mw => "_mw",
        Unit::MilliC => "_mc",
    };
    let has_it = column.name.ends_with(unit) || column.name.contains(&format!("{unit}_"));
    if has_it { column.name.to_owned() } else { format!("{}{unit}", column.name) }
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
        if event.code() != self.info.code {
            return;
        }
        let (info, names) = (self.info, &self.names);
        match &mut self.rows {
            Rows::Csv(output) => output.append(|text| {
                write!(text, "{time_ns}")?;
                try_each_column(info, event, |_, number| write!(text, ",{number}"))?;
                writeln!(text)
            }),
            Rows::Json(output) => output.append(|text| {
                write!(text, "{{\"time_ns\":{time_ns}")?;
                let mut names = names.iter();
                try_each_column(info, event, |_, number| {
                    write!(text, ",\"{}\":{number}", names.next().map_or("", String::as_str))
                })?;
                writeln!(text, "}}")
            }),
            Rows::Parquet(parquet) => {
                let mut values = vec![time_ns];
                event.each_value(|stored| values.push(stored));
                parquet.row(values.into_iter());
            }
        }
    }
}

impl<W: Write> EventTable<W> {
    /// Starts a table.
    pub fn new(out: W, info: &'static EventInfo, form: TableForm) -> Self {
        let names: Vec<String> = info.columns.iter().map(column_name).collect();
        let rows = match form {
            TableForm::Csv => {
                let mut output = Output::new(out);
                output.append(|text| writeln!(text, "time_ns,{}", names.join(",")));
                Rows::Csv(output)
            }
            TableForm::Json => Rows::Json(Output::new(out)),
            TableForm::Parquet => {
                let column =
                    |(name, column): (&String, &Column)| ParquetColumn { name: name.clone(), signed: column.signed };
                let time = ParquetColumn { name: "time_ns".to_owned(), signed: false };
                let columns = std::iter::once(time).chain(names.iter().zip(info.columns).map(column)).collect();
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

/// Writes events of any kind as one tidy table: a row for each number of each event. `number` counts events, so that what
/// belongs together can be put together again.
pub struct LongTable<W: Write> {
    output: Output<W>,
    json: bool,
    number: u64,
}

impl<W: Write> Sink for LongTable<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(info) = EventInfo::of_code(event.code()) else { return };
        let (number, json) = (self.number, self.json);
        self.number += 1;
        let mut columns = info.columns.iter().map(column_name);
        self.output.append(|text| {
            let mut result = Ok(());
            each_column(info, event, |_, value| {
                let (event, column) = (info.name, columns.next().unwrap_or_default());
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
