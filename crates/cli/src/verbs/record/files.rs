// SPDX-License-Identifier: GPL-2.0-or-later
//! The files of a recording.

use super::lines::Lines;
use crate::exit::Failure;
use crate::output::{self, Pending, create};
use pelton_lab::run::LabError;
use pelton_lab::verbs::record::{RecordFiles, Written, signal_event};
use pelton_schema::{Event, Sink};
use pelton_trace::{PeltonLog, PerfettoTrace, RunHeader};
use std::fs::File;
use std::path::PathBuf;

/// Paths of the files to write.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The event log.
    pub log: Option<PathBuf>,
    /// The Perfetto trace.
    pub perfetto: Option<PathBuf>,
    /// The table of decisions.
    pub table: Option<PathBuf>,
    /// Facts that do not change during the recording, beside the table.
    pub machine: Option<PathBuf>,
}

impl Names {
    pub fn all(&self) -> Vec<&PathBuf> {
        [&self.log, &self.perfetto, &self.table, &self.machine].into_iter().flatten().collect()
    }
}

/// The files, open once the recording has begun.
#[derive(Default)]
pub(super) struct Files {
    names: Names,
    log: Option<PeltonLog<File>>,
    perfetto: Option<PerfettoTrace<File>>,
    pending: Vec<Pending>,
    table: Option<Lines>,
    /// Reason why the files could not be written.
    pub failure: Option<Failure>,
}

impl Files {
    pub fn new(names: Names) -> Files {
        Files { names, ..Files::default() }
    }

    fn open_events(&mut self, header: &RunHeader) -> Result<(), Failure> {
        let pending = &mut self.pending;
        let mut open = |path: &PathBuf| {
            let file = create(path, true)?;
            let writer = file.writer()?;
            pending.push(file);
            Ok::<_, Failure>(writer)
        };
        self.log = self.names.log.as_ref().map(&mut open).transpose()?.map(|file| PeltonLog::new(file, header));
        let perfetto = self.names.perfetto.as_ref().map(&mut open).transpose()?;
        self.perfetto = perfetto.map(|file| PerfettoTrace::recorded(file, header));
        Ok(())
    }

    fn open_table(&mut self) -> Result<(), Failure> {
        self.table = self.names.table.as_deref().map(Lines::create).transpose()?;
        Ok(())
    }

    fn close(&mut self, machine: Option<&str>) -> Result<Written, Failure> {
        let log = self.log.take().map_or(Ok(0), |log| log.finish().map(|summary| summary.bytes));
        let perfetto = self.perfetto.take().map_or(Ok(()), |trace| trace.finish().map(drop));
        let bytes = perfetto.and(log);
        let bytes = bytes.map_err(|e| Failure::cannot(format!("cannot write the events: {e}"), "is the disk full?"))?;
        self.pending.drain(..).try_for_each(Pending::keep)?;
        self.table.take().map_or(Ok(()), Lines::finish)?;
        if let (Some(path), Some(machine)) = (&self.names.machine, machine) {
            output::write(path, machine)?;
        }
        Ok(Written { files: self.names.all().iter().map(|path| path.display().to_string()).collect(), bytes })
    }

    fn or_failed<T>(&mut self, result: Result<T, Failure>) -> Result<T, LabError> {
        result.map_err(|failure| {
            self.failure = Some(failure);
            LabError::Caller
        })
    }
}

impl RecordFiles for Files {
    fn begin(&mut self, header: Option<&RunHeader>) -> Result<(), LabError> {
        let opened = match header {
            Some(header) => self.open_events(header),
            None => self.open_table(),
        };
        self.or_failed(opened)
    }

    fn event(&mut self, time_ns: u64, event: &Event) {
        if let Some(log) = &mut self.log {
            log.event(time_ns, event);
        }
        if let Some(perfetto) = &mut self.perfetto {
            perfetto.event(time_ns, event);
            if let Some(average) = signal_event(event) {
                perfetto.event(time_ns, &average);
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.table.iter_mut().for_each(|table| table.put(line));
    }

    fn have_failed(&self) -> bool {
        self.log.as_ref().is_some_and(PeltonLog::has_failed)
            || self.perfetto.as_ref().is_some_and(PerfettoTrace::has_failed)
            || self.table.as_ref().is_some_and(Lines::have_failed)
    }

    fn end(&mut self, machine: Option<&str>) -> Result<Written, LabError> {
        let closed = self.close(machine);
        self.or_failed(closed)
    }
}
