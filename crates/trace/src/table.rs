// SPDX-License-Identifier: GPL-2.0-only
//! Events as tables: CSV and JSON lines, with the column names of the schema.

use std::fmt;
use std::io::{self, Write};

use pelton_schema::{Column, EVENTS, Event, EventInfo, Sink};

use crate::output::Output;
use crate::text::{Number, each_column, try_each_column};

/// Which events a table shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSelection([bool; 256]);

/// A name that is no event's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// The name asked for.
    pub name: String,
}

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = EVENTS.iter().map(|info| info.name).collect();
        write!(f, "no event is called `{}`; there are: {}", self.name, names.join(", "))
    }
}

impl std::error::Error for UnknownEvent {}

impl EventSelection {
    /// Every event.
    pub fn all() -> Self {
        EventSelection([true; 256])
    }

    /// The events of these names.
    ///
    /// ```
    /// use pelton_trace::EventSelection;
    /// assert!(EventSelection::of(["sched_switch"]).is_ok());
    /// assert!(EventSelection::of(["context_switch"]).is_err());
    /// ```
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownEvent> {
        let mut selection = EventSelection([false; 256]);
        for name in names {
            let info = EVENTS.iter().find(|info| info.name == name);
            let info = info.ok_or_else(|| UnknownEvent { name: name.to_owned() })?;
            selection.0[usize::from(info.code)] = true;
        }
        Ok(selection)
    }

    /// True when `event` is selected.
    pub fn contains(&self, event: &Event) -> bool {
        self.0[usize::from(event.code())]
    }

    fn infos(&self) -> impl Iterator<Item = &'static EventInfo> + '_ {
        EVENTS.iter().filter(|info| self.0[usize::from(info.code)])
    }

    /// The declaration of `event` when it is selected.
    fn info(&self, event: &Event) -> Option<&'static EventInfo> {
        EventInfo::of_code(event.code()).filter(|_| self.contains(event))
    }
}

/// Writes events as CSV: `time_ns,event` and one column per distinct name among the selected events, empty where an
/// event has no such column. `#` lines above the names say the unit of every column.
pub struct CsvEvents<W: Write> {
    output: Output<W>,
    selection: EventSelection,
    /// For each code, the table column of each of the event's columns.
    places: Vec<Vec<usize>>,
    /// The cells of the row being written.
    cells: Vec<Option<Number>>,
}

impl<W: Write> CsvEvents<W> {
    /// Starts a table and writes its head.
    pub fn new(out: W, selection: EventSelection) -> Self {
        let columns = distinct_columns(&selection);
        let mut places = vec![Vec::new(); 256];
        for info in selection.infos() {
            let place = |column: &Column| columns.iter().position(|c| c.name == column.name);
            places[usize::from(info.code)] = info.columns.iter().filter_map(place).collect();
        }
        let mut output = Output::new(out);
        output.append(|text| write_csv_head(text, &columns));
        let cells = vec![None; columns.len()];
        CsvEvents { output, selection, places, cells }
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }

    fn fill_cells(&mut self, info: &EventInfo, event: &Event) {
        self.cells.fill(None);
        let mut places = self.places[usize::from(info.code)].iter();
        each_column(info, event, |_, number| {
            if let Some(&place) = places.next() {
                self.cells[place] = Some(number);
            }
        });
    }
}

impl<W: Write> Sink for CsvEvents<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(info) = self.selection.info(event) else { return };
        self.fill_cells(info, event);
        self.output.append(|text| write_row(text, time_ns, info.name, &self.cells));
    }
}

/// Writes events as JSON lines: first `{"units":{column: unit}}` per event name, then one object per event.
///
/// ```
/// use pelton_schema::{Event, Sink};
/// use pelton_trace::{EventSelection, JsonLines};
/// let mut text = Vec::new();
/// let mut lines = JsonLines::new(&mut text, EventSelection::of(["cpu_idle"]).unwrap());
/// lines.event(7, &Event::CpuIdle { cpu: 1, state: 0 });
/// lines.finish().unwrap();
/// let text = String::from_utf8(text).unwrap();
/// assert_eq!(text.lines().next(), Some(r#"{"units":{"cpu_idle":{"time_ns":"ns","cpu":"id","state":"code"}}}"#));
/// assert_eq!(text.lines().nth(1), Some(r#"{"time_ns":7,"event":"cpu_idle","cpu":1,"state":0}"#));
/// ```
pub struct JsonLines<W: Write> {
    output: Output<W>,
    selection: EventSelection,
}

impl<W: Write> JsonLines<W> {
    /// Starts the lines with the line of units.
    pub fn new(out: W, selection: EventSelection) -> Self {
        let mut output = Output::new(out);
        output.append(|text| write_units(text, &selection));
        JsonLines { output, selection }
    }

    /// Writes what is buffered; returns the length of the text or the first error.
    pub fn finish(self) -> io::Result<u64> {
        self.output.finish()
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn event(&mut self, time_ns: u64, event: &Event) {
        let Some(info) = self.selection.info(event) else { return };
        self.output.append(|text| write_object(text, time_ns, info, event));
    }
}

/// Columns of the selected events, each name once, in order of declaration.
fn distinct_columns(selection: &EventSelection) -> Vec<&'static Column> {
    let mut columns: Vec<&'static Column> = Vec::new();
    for column in selection.infos().flat_map(|info| info.columns) {
        if columns.iter().all(|known| known.name != column.name) {
            columns.push(column);
        }
    }
    columns
}

fn write_csv_head(out: &mut Vec<u8>, columns: &[&Column]) -> io::Result<()> {
    writeln!(out, "# time_ns: ns since the start of the run")?;
    columns.iter().try_for_each(|column| writeln!(out, "# {}: {}", column.name, column.unit.name()))?;
    write!(out, "time_ns,event")?;
    columns.iter().try_for_each(|column| write!(out, ",{}", column.name))?;
    writeln!(out)
}

fn write_row(out: &mut Vec<u8>, time_ns: u64, name: &str, cells: &[Option<Number>]) -> io::Result<()> {
    write!(out, "{time_ns},{name}")?;
    for cell in cells {
        match cell {
            Some(number) => write!(out, ",{number}")?,
            None => out.push(b','),
        }
    }
    writeln!(out)
}

fn write_units(out: &mut Vec<u8>, selection: &EventSelection) -> io::Result<()> {
    write!(out, "{{\"units\":{{")?;
    for (index, info) in selection.infos().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}\"{}\":{{\"time_ns\":\"ns\"", info.name)?;
        info.columns.iter().try_for_each(|c| write!(out, ",\"{}\":\"{}\"", c.name, c.unit.name()))?;
        write!(out, "}}")?;
    }
    writeln!(out, "}}}}")
}

fn write_object(out: &mut Vec<u8>, time_ns: u64, info: &EventInfo, event: &Event) -> io::Result<()> {
    write!(out, "{{\"time_ns\":{time_ns},\"event\":\"{}\"", info.name)?;
    try_each_column(info, event, |name, number| write!(out, ",\"{name}\":{number}"))?;
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS_SHOWN: [(u64, Event); 2] =
        [(5, Event::CpuIdle { cpu: 1, state: 0 }), (9, Event::PeltRt { cpu: 2, util_avg: 300 })];

    #[test]
    fn csv_has_one_column_per_name_and_says_units() {
        let selection = EventSelection::of(["cpu_idle", "pelt_rt"]).expect("known names");
        let mut text = Vec::new();
        let mut csv = CsvEvents::new(&mut text, selection);
        EVENTS_SHOWN.iter().for_each(|(time_ns, event)| csv.event(*time_ns, event));
        csv.event(10, &Event::PeltDl { cpu: 0, util_avg: 1 });
        csv.finish().expect("a vector takes everything");
        let text = String::from_utf8(text).expect("ASCII");
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "# time_ns: ns since the start of the run",
                "# cpu: id",
                "# state: code",
                "# util_avg: 0..1024",
                "time_ns,event,cpu,state,util_avg",
                "5,cpu_idle,1,0,",
                "9,pelt_rt,2,,300",
            ]
        );
    }

    #[test]
    fn a_wrong_event_name_is_answered_with_the_right_ones() {
        let text = EventSelection::of(["nosuch"]).expect_err("unknown").to_string();
        assert!(text.starts_with("no event is called `nosuch`; there are: sched_switch, "), "{text}");
    }
}
