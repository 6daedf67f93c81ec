// SPDX-License-Identifier: GPL-2.0-or-later
//! Traces held against the core, and traces with faults put into them.

use pelton_replay::validate::{Altered, Comparison, Divergence, FaultResult, Field, SingleCalls};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Result of comparing a trace with the core.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Validated {
    /// The verdict in a word: `holds`, `nothing-checked`, `open` or `differs`.
    pub verdict: &'static str,
    /// The verdict in a line.
    pub summary: String,
    /// The file.
    pub trace: String,
    /// Kernel whose rules were used.
    pub profile: String,
    /// Platform given for capacities, frequencies and energies; null = what the trace shows.
    pub platform: Option<String>,
    /// Further files of the same recording.
    pub with: Vec<String>,
    /// Records held against the core.
    pub updates: u64,
    /// Records it does not reproduce.
    pub divergent: u64,
    /// Records that only classes explain which let errors pass.
    pub left_open: u64,
    /// First record that is not reproduced.
    pub first: Option<First>,
    /// The first few, as they were found.
    pub divergences: Vec<Divergence>,
    /// By signal.
    pub signals: BTreeMap<&'static str, Signal>,
    /// Errors that each class would have let pass.
    pub classes: BTreeMap<&'static str, Class>,
    /// Records whose numbers no kernel can have; they were not used.
    pub damaged: u64,
    /// Averages rebuilt from the schedule beside recorded ones.
    pub comparisons: Vec<Comparison>,
    /// Frequency changes predicted from signals.
    pub frequency_from_signals: Option<Prediction>,
    /// Parts of the trace that were not checked, and why.
    pub not_measured: BTreeMap<String, String>,
    /// Switches that contradict the one before: events are missing.
    pub holes: u64,
    /// Differences in such stretches, which are not counted.
    pub differences_in_holes: u64,
    /// Events the recorder lost.
    pub lost: u64,
    /// Nothing is missing.
    pub complete: bool,
    /// Facts that limit what the numbers mean.
    pub remarks: Vec<String>,
    /// Events read.
    pub events: u64,
    /// Switches whose values the recording can distinguish; with --distinguish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinguishes: Option<Distinguishes>,
}

/// Records of one signal.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Signal {
    /// Held against the core.
    pub checked: u64,
    /// Equal in every integer.
    pub exact: u64,
    /// Seen again as they were; not counted as checked.
    pub unchanged: u64,
    /// Looks older than what was known; not counted as checked.
    pub earlier: u64,
    /// Equal under an assumption, by its name.
    pub classes: BTreeMap<&'static str, u64>,
    /// Equal under an assumption that lets errors pass.
    pub not_decided: u64,
    /// Not reproduced.
    pub divergent: u64,
    /// Page of its rule.
    pub rule: &'static str,
}

/// A class asked about states that never were.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Class {
    /// Changed versions of states it was asked about.
    pub changed_states: u64,
    /// Those it explained all the same.
    pub explained_all_the_same: u64,
    /// Few enough to decide.
    pub decides: bool,
}

/// A record that is not reproduced, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct First {
    /// The record.
    #[serde(flatten)]
    pub place: Divergence,
    /// Task; 0 = none.
    pub tid: u32,
    /// Its name.
    pub task: String,
    /// State before, as far as known.
    pub before: BTreeMap<&'static str, u64>,
    /// The result, kernel beside ours.
    pub fields: Vec<Field>,
    /// Page of the rule.
    pub rule: &'static str,
}

/// Frequency changes predicted from signals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// Source of the signals.
    pub from: &'static str,
    /// Changes recorded.
    pub recorded: u64,
    /// Changes predicted.
    pub predicted: u64,
    /// Predicted with the right frequency in time.
    pub exact: u64,
    /// One operating point off.
    pub one_step_off: u64,
    /// Mean distance in time, ns.
    pub apart_ns_mean: Option<u64>,
    /// Largest distance in time, ns.
    pub apart_ns_max: u64,
    /// Within what is allowed.
    pub inside: bool,
}

/// Switches whose values a recording can distinguish.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distinguishes {
    /// Switches at other values.
    pub switches: Vec<SwitchTold>,
    /// By profile.
    pub profiles: BTreeMap<&'static str, AnswerTold>,
}

/// A switch at other values.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SwitchTold {
    /// Switch.
    pub switch: &'static str,
    /// Its value in the profile.
    pub value: &'static str,
    /// Answers of the trace about its other values.
    pub alternatives: BTreeMap<&'static str, AnswerTold>,
}

/// Answer of a trace about one value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerTold {
    /// In a word or two.
    pub answer: &'static str,
    /// First record that refutes it, when one record does.
    pub first: Option<Refuting>,
}

/// A record that refutes a value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Refuting {
    /// Number of the event.
    pub event: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Signal.
    pub signal: &'static str,
}

/// Faults put into a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SelfTest {
    /// The file.
    pub trace: String,
    /// Kernel whose rules were used.
    pub profile: String,
    /// One fault at a time.
    pub faults: Vec<FaultResult>,
    /// Single calls taken out.
    pub single_calls: SingleCalls,
    /// Single records altered.
    pub altered_records: Vec<Altered>,
}
