// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings of the running kernel.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Printed result of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RecordReport {
    /// Sets of events that were asked for.
    pub sets: String,
    /// Every load-tracking call was asked for.
    pub full: bool,
    /// Files written.
    pub files: Vec<String>,
    /// From the first event to the last, s.
    pub seconds: f64,
    /// Events.
    pub total: u64,
    /// Size of the event log.
    pub bytes: u64,
    /// Events lost.
    pub lost: u64,
    /// Events that came too late to be put in order.
    pub late: u64,
    /// Times the kernel left a program out.
    pub skipped: u64,
    /// Switches that do not continue the one before.
    pub holes: u64,
    /// Switches.
    pub switches: u64,
    /// Events this kernel does not have.
    pub missing: Vec<&'static str>,
    /// Limits of the recording.
    pub notes: Vec<String>,
    /// Paths of task groups by number.
    pub groups: Vec<String>,
    /// Events by name.
    pub events: BTreeMap<&'static str, u64>,
}

/// Printed result of a recording of placements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementsRecorded {
    /// Files written: the table, and the machine beside it.
    pub files: Vec<String>,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Placements in the table.
    pub decisions: u64,
    /// Placements that had no room in the buffer, or came cut off.
    pub lost: u64,
    /// From the first placement to the last, s.
    pub seconds: f64,
    /// Parts that could not be done as asked.
    pub notes: Vec<String>,
}

/// Printed result of a recording of clamps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampsRecorded {
    /// The table.
    pub file: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Decisions in the table.
    pub records: u64,
    /// Decisions that had no room in the buffer, or came cut off.
    pub lost: u64,
    /// From the first decision to the last, s.
    pub seconds: f64,
    /// Parts that could not be done as asked.
    pub notes: Vec<String>,
}

/// Printed result of a recording of gates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GatesRecorded {
    /// Files written: the table, and the machine beside it.
    pub files: Vec<String>,
    /// Load that ran: one as `pelton run` has it, or a command.
    pub workload: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Gates in the table.
    pub decisions: u64,
    /// Gates that had no room in the buffer, came cut off, or began in the middle of another one.
    pub lost: u64,
    /// From the first gate to the last, s.
    pub seconds: f64,
    /// Parts that could not be done as asked.
    pub notes: Vec<String>,
}
