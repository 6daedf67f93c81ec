// SPDX-License-Identifier: GPL-2.0-only
//! A recorded log in another form.

use std::fmt;
use std::io::{self, Read, Write};

use pelton_schema::Sink;

use crate::log::{LogError, LogReader, PeltonLog};
use crate::perfetto::PerfettoTrace;
use crate::table::{CsvEvents, EventSelection, JsonLines};
use crate::text::TextDump;

/// Form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One line per event, for people and `diff`.
    Text,
    /// Table with one column per distinct name.
    Csv,
    /// One JSON object per event.
    Json,
    /// Perfetto trace; takes every event, whatever is selected.
    Perfetto,
    /// Our own log.
    Log,
}

/// What an export did.
#[derive(Debug)]
pub struct Exported {
    /// Events read from the log.
    pub events: u64,
    /// What the log's schema and this build's do not share, as sentences.
    pub differences: Vec<String>,
    /// Why the log could not be read to its end; everything before was exported.
    pub damage: Option<LogError>,
}

/// Why nothing, or not everything, was exported.
#[derive(Debug)]
pub enum ExportError {
    /// The input is no log, or its header is damaged.
    Log(LogError),
    /// The output failed.
    Output(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Log(error) => error.fmt(f),
            ExportError::Output(error) => write!(f, "cannot write the export: {error}"),
        }
    }
}

impl std::error::Error for ExportError {}

/// Writes the events of the log `input` to `out`.
///
/// # Errors
/// When the log cannot even be opened, or when `out` fails. A log that is damaged further on is exported as far as it
/// goes: see [`Exported::damage`].
///
/// ```
/// use pelton_schema::{Event, Sink};
/// use pelton_trace::{EventSelection, ExportFormat, PeltonLog, RunHeader, export};
///
/// let mut file = Vec::new();
/// let mut log = PeltonLog::new(&mut file, &RunHeader::default());
/// log.event(7, &Event::CpuIdle { cpu: 1, state: 0 });
/// log.finish().unwrap();
///
/// let mut text = Vec::new();
/// let selection = EventSelection::of(["cpu_idle"]).unwrap();
/// let exported = export(&file[..], &mut text, ExportFormat::Text, &selection).unwrap();
/// assert_eq!((exported.events, exported.damage.is_none()), (1, true));
/// assert!(text.ends_with(b"0.000000007 cpu_idle cpu=1 state=0\n"));
/// ```
pub fn export(
    input: impl Read,
    out: impl Write,
    format: ExportFormat,
    selection: &EventSelection,
) -> Result<Exported, ExportError> {
    let mut reader = LogReader::open(input).map_err(ExportError::Log)?;
    let run = reader.header().clone();
    let all = EventSelection::all();
    let (events, damage) = match format {
        ExportFormat::Text => {
            let sink = TextDump::with_header(out, &run);
            copy(&mut reader, selection, sink, |dump| dump.finish().map(drop))
        }
        ExportFormat::Csv => {
            let sink = CsvEvents::new(out, selection.clone());
            copy(&mut reader, &all, sink, |csv| csv.finish().map(drop))
        }
        ExportFormat::Json => {
            let sink = JsonLines::new(out, selection.clone());
            copy(&mut reader, &all, sink, |lines| lines.finish().map(drop))
        }
        ExportFormat::Perfetto => {
            let sink = PerfettoTrace::new(out, &run);
            copy(&mut reader, &all, sink, |trace| trace.finish().map(drop))
        }
        ExportFormat::Log => {
            let sink = PeltonLog::new(out, &run);
            copy(&mut reader, selection, sink, |log| log.finish().map(drop))
        }
    }
    .map_err(ExportError::Output)?;
    Ok(Exported { events, differences: reader.differences().to_vec(), damage })
}

/// Sends the selected events to `sink` until the log ends or is damaged, and ends the sink.
fn copy<R: Read, S: Sink>(
    reader: &mut LogReader<R>,
    selection: &EventSelection,
    mut sink: S,
    finish: impl Fn(S) -> io::Result<()>,
) -> io::Result<(u64, Option<LogError>)> {
    let (mut events, mut damage) = (0, None);
    for event in reader {
        match event {
            Ok((time_ns, event)) => {
                events += 1;
                if selection.contains(&event) {
                    sink.event(time_ns, &event);
                }
            }
            Err(error) => damage = Some(error),
        }
    }
    finish(sink)?;
    Ok((events, damage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perfetto::read::{PerfettoReader, Record};
    use pelton_schema::Event;

    fn recorded() -> Vec<u8> {
        let mut file = Vec::new();
        let mut log = PeltonLog::new(&mut file, &crate::RunHeader::default());
        log.event(5, &Event::CpuIdle { cpu: 1, state: 0 });
        log.event(9, &Event::PeltRt { cpu: 2, util_avg: 300 });
        log.finish().expect("a vector takes everything");
        file
    }

    fn lines(format: ExportFormat, names: &[&str]) -> Vec<String> {
        let mut out = Vec::new();
        let selection = EventSelection::of(names.iter().copied()).expect("known names");
        export(&recorded()[..], &mut out, format, &selection).expect("a good log");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_selected_events_are_written() {
        assert_eq!(lines(ExportFormat::Csv, &["pelt_rt"]).last().map(String::as_str), Some("9,pelt_rt,2,300"));
        assert_eq!(lines(ExportFormat::Json, &["cpu_idle"]).len(), 2, "units and one event");
        let text = lines(ExportFormat::Text, &["cpu_idle"]);
        assert_eq!(text.iter().filter(|line| !line.starts_with('#')).count(), 1);
    }

    #[test]
    fn a_log_becomes_the_trace_of_its_run() {
        let mut out = Vec::new();
        export(&recorded()[..], &mut out, ExportFormat::Perfetto, &EventSelection::all()).expect("a good log");
        let records: Vec<_> = PerfettoReader::new(&out[..]).collect::<Result<_, _>>().expect("a good trace");
        let event = Event::CpuIdle { cpu: 1, state: 0 };
        assert!(records.contains(&Record::Ftrace { time_ns: 5, pid: 0, event }));
    }

    #[test]
    fn a_full_disk_is_not_blamed_on_the_log() {
        let mut room = [0; 4];
        let failure = export(&recorded()[..], &mut room[..], ExportFormat::Text, &EventSelection::all());
        assert!(matches!(failure, Err(ExportError::Output(_))));
    }

    #[test]
    fn a_cut_log_is_exported_as_far_as_it_goes() {
        let file = recorded();
        let exported = export(&file[..file.len() - 1], io::sink(), ExportFormat::Text, &EventSelection::all());
        let exported = exported.expect("it opens");
        assert!(exported.events == 2 && matches!(exported.damage, Some(LogError::Truncated { events: 2 })));
    }
}
