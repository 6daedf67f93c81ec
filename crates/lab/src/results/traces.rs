// SPDX-License-Identifier: GPL-2.0-or-later
//! Content of traces.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Content of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Info {
    /// The file.
    pub trace: String,
    /// Kind of file.
    pub format: &'static str,
    /// CPUs, as far as the header or the events show.
    pub cpus: u32,
    /// Release of the kernel that was recorded; null where the trace does not name it.
    pub kernel: Option<String>,
    /// Steps of the time stamps, ns.
    pub resolution_ns: u64,
    /// First event, ns on the trace's clock; null without events.
    pub first_ns: Option<u64>,
    /// Last event, ns.
    pub last_ns: Option<u64>,
    /// Longest time without an event, ns.
    pub longest_silence_ns: u64,
    /// Facts for people: tracer, clock, hardware.
    pub remarks: Vec<String>,
    /// Events by name.
    pub events: BTreeMap<String, u64>,
    /// Events that have no meaning here, by the file's name for them.
    pub skipped: BTreeMap<String, u64>,
    /// Events the recorder says it lost, as far as it says how many.
    pub lost: u64,
    /// Places where it lost an unknown number.
    pub lost_unknown: u64,
    /// Places that could not be read.
    pub damaged: u64,
    /// The first few of them.
    pub damage: Vec<Damage>,
    /// The tasks switched to most often.
    pub tasks: Vec<Task>,
}

/// A place that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Damage {
    /// Line of a text, from 1; byte of a binary file.
    pub position: u64,
    /// Description of the damage.
    pub what: String,
}

/// A task of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Task {
    /// Number.
    pub tid: u32,
    /// Last known name.
    pub name: String,
    /// Switches to it.
    pub switches: u64,
}
