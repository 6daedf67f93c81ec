// SPDX-License-Identifier: GPL-2.0-or-later
//! A trace in another form.

use super::inputs::opened;
use crate::run::{Fault, LabError};
use crate::watch::{Amount, Watch, is_stopped};
use pelton_schema::{EVENTS, Sink};
use pelton_trace::import::{ConvertError, Converted, ExportFormat, Narrowed, Part, Source, TraceInfo, convert, copy};
use pelton_trace::{EventSelection, EventTable, LongTable, TableForm};
use serde::{Deserialize, Serialize};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Request: input, and the file to write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// The trace; `-` = standard input.
    pub trace: PathBuf,
    /// Kind of the file, when its content does not show it.
    pub input_format: Option<String>,
    /// Form to write.
    pub to: ExportForm,
    /// Only events of these names; none = all.
    pub events: Vec<String>,
    /// Only this long after the first event on, ns.
    pub from_ns: Option<u64>,
    /// Only until so long after the first event, ns.
    pub to_ns: Option<u64>,
    /// Only what happened on these CPUs; none = all.
    pub cpus: Vec<u32>,
    /// Only what is about these tasks, by name or id; none = all.
    pub tasks: Vec<String>,
}

/// Forms of an exported trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportForm {
    /// Perfetto trace.
    Perfetto,
    /// Text as tracefs has it.
    Ftrace,
    /// One line per event.
    Text,
    /// Our own log.
    #[default]
    Log,
    /// A table of one kind of event, or one row for each number.
    Csv,
    /// The tables of `Csv` as JSON lines.
    Json,
    /// A table of one kind of event.
    Parquet,
}

impl ExportForm {
    /// The form of its tables, where it is one of tables.
    pub fn table(self) -> Option<TableForm> {
        match self {
            ExportForm::Csv => Some(TableForm::Csv),
            ExportForm::Json => Some(TableForm::Json),
            ExportForm::Parquet => Some(TableForm::Parquet),
            _ => None,
        }
    }
}

impl ExportRequest {
    fn part(&self) -> Part {
        let (cpus, tasks) = (self.cpus.clone(), self.tasks.clone());
        Part { from_ns: self.from_ns, to_ns: self.to_ns, cpus, tasks }
    }

    /// The events that are meant.
    ///
    /// # Errors
    /// A name that no event has.
    pub fn selection(&self) -> Result<EventSelection, LabError> {
        if self.events.is_empty() {
            return Ok(EventSelection::all());
        }
        EventSelection::of(self.events.iter().map(String::as_str))
            .map_err(|error| LabError::refused(Fault::Request, error, "docs/reference/events.md lists the events"))
    }
}

/// Writes a trace in another form.
///
/// # Errors
/// When it cannot be read, the request contradicts itself, or `out` fails.
pub fn export(request: &ExportRequest, out: impl Write, watch: &dyn Watch) -> Result<Converted, LabError> {
    open(request, watch)?.write(out, watch)
}

/// A trace that is open and will be written.
pub struct Opened<'a> {
    request: &'a ExportRequest,
    selection: EventSelection,
    source: Box<dyn Source>,
}

/// Opens a trace, so that what is written comes to be only when there is something to write.
///
/// # Errors
/// When it cannot be read, or an event is not known.
pub fn open<'a>(request: &'a ExportRequest, watch: &dyn Watch) -> Result<Opened<'a>, LabError> {
    let selection = request.selection()?;
    let source = opened(&request.trace, request.input_format.as_deref(), watch)?;
    let part = request.part();
    let source = if part.is_all() { source } else { Box::new(Narrowed::new(source, part)) };
    Ok(Opened { request, selection, source })
}

impl Opened<'_> {
    /// About the trace, as far as it is read.
    pub fn info(&self) -> &TraceInfo {
        self.source.info()
    }

    /// Writes it to one file.
    ///
    /// # Errors
    /// When it cannot be read on, the form cannot hold what is asked for, or `out` fails.
    pub fn write(&mut self, out: impl Write, watch: &dyn Watch) -> Result<Converted, LabError> {
        let format = match self.request.to {
            ExportForm::Perfetto => ExportFormat::Perfetto,
            ExportForm::Ftrace => ExportFormat::Ftrace,
            ExportForm::Text => ExportFormat::Text,
            ExportForm::Log => ExportFormat::Log,
            ExportForm::Csv => return self.table(out, TableForm::Csv, watch),
            ExportForm::Json => return self.table(out, TableForm::Json, watch),
            ExportForm::Parquet => return self.table(out, TableForm::Parquet, watch),
        };
        watch.begins("events", Amount::Events);
        let (source, selection) = (&mut *self.source, &self.selection);
        let converted = convert(source, BufWriter::new(out), format, selection, |events| goes_on(watch, events));
        watch.ends();
        converted.map_err(failed)
    }

    fn table(&mut self, out: impl Write, form: TableForm, watch: &dyn Watch) -> Result<Converted, LabError> {
        let (converted, written) = match (self.request.events.as_slice(), form) {
            ([name], _) => {
                let info = EVENTS.iter().find(|info| info.name == name);
                let info = info.ok_or_else(|| LabError::input(format!("no event is called `{name}`")))?;
                let mut table = EventTable::new(out, info, form);
                (self.copy(&mut table, watch), table.finish())
            }
            (_, TableForm::Parquet) => {
                let hint = "name one event (--event), or a folder for one file per kind: -o NAME/";
                return Err(LabError::refused(Fault::Request, "a Parquet file has events of one kind", hint));
            }
            _ => {
                let mut table = LongTable::new(out, form == TableForm::Json);
                (self.copy(&mut table, watch), table.finish())
            }
        };
        let converted = converted?;
        written.map_err(LabError::Output)?;
        Ok(converted)
    }

    /// Sends the selected events to `sink`.
    ///
    /// # Errors
    /// When the trace cannot be read on.
    pub fn copy<S: Sink>(&mut self, sink: &mut S, watch: &dyn Watch) -> Result<Converted, LabError> {
        watch.begins("events", Amount::Events);
        let converted = copy(&mut *self.source, &self.selection, sink, &mut |events| goes_on(watch, events));
        watch.ends();
        converted.map_err(failed)
    }
}

fn goes_on(watch: &dyn Watch, events: u64) -> bool {
    watch.events(events);
    !events.is_multiple_of(4096) || !is_stopped(watch)
}

fn failed(error: ConvertError) -> LabError {
    match error {
        ConvertError::Trace(error) => error.into(),
        ConvertError::Output(error) => LabError::Output(error),
    }
}
