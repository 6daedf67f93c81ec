// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording of the running kernel's scheduler: events, or a table of one kind of decision.

#[cfg(feature = "record")]
mod events;
#[cfg(feature = "record")]
mod tables;
#[cfg(feature = "record")]
mod work;

use crate::results::balances::BalancesRecorded;
use crate::results::recorded::{ClampsRecorded, GatesRecorded, PlacementsRecorded, RecordReport};
use crate::run::LabError;
#[cfg(feature = "record")]
use crate::watch::Watch;
#[cfg(feature = "record")]
pub use pelton_live::signal_event;
use pelton_schema::Event;
use pelton_trace::RunHeader;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Subject of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Events.
    #[default]
    Events,
    /// Placements of fair tasks: all that each could read, and what was chosen.
    Placements,
    /// Clamps, and the values that result from them.
    Clamps,
    /// Searches of CPUs before they go idle, made or left out, and balances of domains with their times.
    Gates,
    /// Balances, counted.
    Balances,
    /// Balances, counted, and a table of the searches that they make.
    Searches,
}

/// Request: subject, load and length of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordRequest {
    /// Subject of the recording.
    pub subject: Subject,
    /// Sets of events: sched, freq, idle, pelt, irq, energy; or all.
    pub events: Vec<String>,
    /// Every load-tracking call, before and after, where the kernel lets functions be traced.
    pub full: bool,
    /// Buffer of each CPU, MiB; none = by the number of CPUs.
    pub buffer_mib: Option<u32>,
    /// The kernel's type information; none = the running kernel's own.
    pub btf: Option<PathBuf>,
    /// A load that runs meanwhile: by its name, or parts as a run has them.
    pub load: Option<String>,
    /// A command that is started and recorded: program and arguments, which may be any bytes.
    pub command: Vec<PathBuf>,
    /// Length, ns; none = 10 s, or until the command ends.
    pub duration_ns: Option<u64>,
}

impl Default for RecordRequest {
    fn default() -> Self {
        RecordRequest {
            subject: Subject::default(),
            events: ["sched", "freq", "idle", "pelt", "energy"].map(str::to_owned).to_vec(),
            full: false,
            buffer_mib: None,
            btf: None,
            load: None,
            command: Vec::new(),
            duration_ns: None,
        }
    }
}

impl RecordRequest {
    /// Recorded work, in words: the load, or the command.
    pub fn workload(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        self.load.clone().unwrap_or_else(|| words.join(" "))
    }
}

/// Takes what is recorded.
pub trait RecordFiles {
    /// The recording has begun. What cannot be recorded has not touched an earlier file. Events have a header; a
    /// table's first line is its own.
    ///
    /// # Errors
    /// When nothing can be written.
    fn begin(&mut self, header: Option<&RunHeader>) -> Result<(), LabError>;

    /// An event.
    fn event(&mut self, time_ns: u64, event: &Event);

    /// A line of a table, its end included.
    fn line(&mut self, line: &str);

    /// True if the output could not be written: the recording ends.
    fn have_failed(&self) -> bool;

    /// Everything is there; `machine` is what a table needs beside it, JSON.
    ///
    /// # Errors
    /// When it could not be written.
    fn end(&mut self, machine: Option<&str>) -> Result<Written, LabError>;
}

/// Files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files.
    pub files: Vec<String>,
    /// Size of the event log, bytes.
    pub bytes: u64,
}

/// Content of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// Of events.
    Events(Box<RecordReport>),
    /// Of placements.
    Placements(PlacementsRecorded),
    /// Of clamps.
    Clamps(ClampsRecorded),
    /// Of gates.
    Gates(GatesRecorded),
    /// Of balances.
    Balances(Box<BalancesRecorded>),
}

/// Content of a recording, and the end of the recorded command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recorded {
    /// Content of the recording.
    pub report: Report,
    /// Exit code of the command, 128 and the signal that ended it; null without one, and when it still runs.
    pub command_code: Option<i32>,
}

/// Records until the time is over, the command has ended, `watch` says so or a file cannot be written.
///
/// # Errors
/// When the request names what there is not, when this machine cannot record, or when a file cannot be written.
#[cfg(feature = "record")]
pub fn record(request: &RecordRequest, files: &mut dyn RecordFiles, watch: &dyn Watch) -> Result<Recorded, LabError> {
    let mut work = work::Work::of(request)?;
    let report = match request.subject {
        Subject::Events => Report::Events(Box::new(events::record(request, &mut work, files, watch)?)),
        Subject::Placements => Report::Placements(tables::placements(&mut work, files, watch)?),
        Subject::Clamps => Report::Clamps(tables::clamps(&mut work, files, watch)?),
        Subject::Gates => Report::Gates(tables::gates(&mut work, files, watch)?),
        Subject::Balances => Report::Balances(Box::new(tables::balances(&mut work, files, watch, false)?)),
        Subject::Searches => Report::Balances(Box::new(tables::balances(&mut work, files, watch, true)?)),
    };
    Ok(Recorded { report, command_code: work.code })
}
