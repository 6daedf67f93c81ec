// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded decisions taken again: placements, searches of balances, clamps, decisions of `pelton live`.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

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
    pub placements: PlacementCounts,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<PlacementDifference>,
    /// Facts that limit what the numbers mean.
    pub remarks: Vec<String>,
}

/// Counts of placements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementCounts {
    /// All.
    #[serde(flatten)]
    pub all: PlacementTally,
    /// By the rule that decides.
    pub by_rule: BTreeMap<&'static str, PlacementTally>,
    /// Energies compared.
    pub energies: u64,
    /// Energies that differ.
    pub energies_differ: u64,
    /// Utilizations of CPUs (`cpu_util`) compared, in quiet decisions.
    pub utils: u64,
    /// Those that differ.
    pub utils_differ: u64,
    /// Utilizations of CPUs compared, in all decisions.
    pub utils_all: u64,
    /// Those that differ.
    pub utils_all_differ: u64,
    /// Those that differ and whose CPU or task had other signals afterwards.
    pub utils_all_moved: u64,
    /// Requests of CPUs, with their bounds (`effective_cpu_util`), compared, in quiet decisions.
    pub effective_utils: u64,
    /// Those that differ.
    pub effective_utils_differ: u64,
    /// Those that could read what many machines do not have.
    pub met: PlacementsMet,
}

/// Placements that could read what many machines do not have; the others prove nothing about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementsMet {
    /// Some CPU was in an idle state that takes time to leave.
    pub idle_states: u64,
    /// Some CPU's frequency was limited.
    pub pressure: u64,
    /// Some CPU had spent time in interrupts.
    pub interrupts: u64,
    /// The task was of SCHED_IDLE.
    pub sched_idle: u64,
    /// The task's queue had another load than its CPU, so it was a group's; counted in quiet decisions only.
    pub groups: u64,
    /// A domain of the executing CPU spans nodes.
    pub nodes: u64,
}

/// Counts of placements of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementTally {
    /// Decisions.
    pub decisions: u64,
    /// Those while nothing that was recorded changed.
    pub quiet: u64,
    /// Quiet ones that differ.
    pub quiet_divergent: u64,
    /// All that differ.
    pub divergent: u64,
    /// Those among them that come out as they did with some of the CPUs as they were afterwards; null where the table
    /// does not show that.
    pub between: Option<u64>,
}

/// A placement that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementDifference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// Task.
    pub tid: u64,
    /// Nothing that was recorded changed meanwhile.
    pub quiet: bool,
    /// Rule that decides here.
    pub rule: &'static str,
    /// Parts that differ.
    pub what: Vec<PlacementPart>,
    /// Columns of the table that had another value afterwards; empty where it does not show that.
    pub changed: Vec<String>,
}

/// A part of a placement that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlacementPart {
    /// Name of the part.
    pub what: &'static str,
    /// The kernel's.
    pub kernel: u64,
    /// Ours.
    pub ours: u64,
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
    pub clamps: ClampCounts,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<ClampDifference>,
    /// Facts that limit what the numbers mean.
    pub remarks: Vec<String>,
}

/// Counts of decisions about clamps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampCounts {
    /// All.
    #[serde(flatten)]
    pub all: ClampTally,
    /// By the kernel's function.
    pub by_kind: BTreeMap<&'static str, ClampTally>,
}

/// Counts of decisions about clamps of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampTally {
    /// Decisions.
    pub decisions: u64,
    /// Those of which too little is known.
    pub not_decided: u64,
    /// Those that differ.
    pub divergent: u64,
}

/// A decision about clamps that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampDifference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Task; 0 for a performance target.
    pub tid: u32,
    /// The kernel's function.
    pub kind: &'static str,
    /// Parts that differ.
    pub what: Vec<ClampPart>,
}

/// A part of a decision about clamps that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClampPart {
    /// Name of the part.
    pub what: &'static str,
    /// The kernel's.
    pub kernel: u64,
    /// Ours.
    pub ours: u64,
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
    /// Counts.
    pub decisions: DecisionCounts,
    /// The verdict in a word.
    pub verdict: &'static str,
    /// The first few differences.
    pub differences: Vec<DecisionDifference>,
}

/// Counts of decisions of the core as a scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionCounts {
    /// All.
    #[serde(flatten)]
    pub all: DecisionTally,
    /// By kind.
    pub by_kind: BTreeMap<&'static str, DecisionTally>,
}

/// Counts of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionTally {
    /// Decisions.
    pub decisions: u64,
    /// Decisions while another CPU wrote what they read.
    pub not_decided: u64,
    /// Decisions of which a number comes out otherwise.
    pub divergent: u64,
}

/// A decision that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionDifference {
    /// Table.
    pub table: &'static str,
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Kind of decision.
    pub kind: &'static str,
    /// Numbers that differ.
    pub what: Vec<DecisionPart>,
}

/// A number that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecisionPart {
    /// Column.
    pub what: String,
    /// Number as recorded.
    pub recorded: u64,
    /// Number of the core.
    pub ours: u64,
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
