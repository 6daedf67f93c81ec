// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded decisions taken again: placements, searches of balances, clamps, decisions of `pelton live`. Counts and
//! differences are those of `replay`.

use pelton_replay::{clamps, decisions, placements};
use schemars::JsonSchema;
use serde::Serialize;

/// Recorded placements, or searches of balances, decided again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Placements {
    /// The file.
    pub trace: String,
    /// Kind of its records: `placements`, or `searches` of balances for a group to take from.
    pub of: &'static str,
    /// Kernel whose rules were used.
    pub profile: String,
    /// Counts.
    pub placements: placements::Report,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<placements::Difference>,
    /// Facts that limit what the numbers mean.
    pub remarks: Vec<String>,
}

/// Wrong worlds put into recorded placements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementFaults {
    /// The file.
    pub trace: String,
    /// Kernel whose rules were used.
    pub profile: String,
    /// One at a time.
    pub faults: Vec<PlacementFault>,
    /// Number of faults that were noticed.
    pub found: u32,
}

/// One wrong world.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementFault {
    /// Description of the fault.
    pub fault: &'static str,
    /// True where it was noticed.
    pub found: bool,
    /// Quiet placements that differ.
    pub quiet_divergent: u64,
}

/// Recorded clamps computed again.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Clamps {
    /// The file.
    pub trace: String,
    /// Kernel whose rules were used.
    pub profile: String,
    /// Counts.
    pub clamps: clamps::Report,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<clamps::Difference>,
    /// Facts that limit what the numbers mean.
    pub remarks: Vec<String>,
}

/// Recorded clamps computed with wrong rules.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampFaults {
    /// The file.
    pub trace: String,
    /// Kernel whose rules were used.
    pub profile: String,
    /// One at a time.
    pub faults: Vec<ClampFault>,
    /// Number of faults that were noticed.
    pub found: u32,
}

/// One wrong rule.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampFault {
    /// Description of the fault.
    pub fault: &'static str,
    /// True where it was noticed.
    pub found: bool,
    /// Decisions that differ.
    pub divergent: u64,
}

/// Result of a recording of the core as a scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Decisions {
    /// The folder.
    pub trace: String,
    /// Release of the kernel.
    pub release: String,
    /// Profile of the policy.
    pub profile: String,
    /// Programs that were loaded one after the other: one more for each number that was set.
    pub programs: usize,
    /// Records that are missing: they had no room in the recorder's buffer, or came cut off; null where it does not
    /// say.
    pub lost: Option<u64>,
    /// Counts.
    pub decisions: decisions::Report,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<decisions::Difference>,
}

/// Wrong rules put into decisions on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionFaults {
    /// The folder.
    pub trace: String,
    /// One at a time.
    pub faults: Vec<DecisionFault>,
    /// Number of faults that were noticed.
    pub found: u32,
}

/// One wrong rule.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionFault {
    /// Description of the fault.
    pub fault: &'static str,
    /// True where it was noticed.
    pub found: bool,
    /// Decisions that differ.
    pub divergent: u64,
}
