// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of verbs that read traces.

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
    pub divergences: Vec<Divergent>,
    /// By signal.
    pub signals: BTreeMap<&'static str, Signal>,
    /// Errors that each class would have let pass.
    pub classes: BTreeMap<&'static str, Class>,
    /// Records whose numbers no kernel can have; they were not used.
    pub damaged: u64,
    /// Averages rebuilt from the schedule beside recorded ones.
    pub comparisons: Vec<Average>,
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
    pub place: Divergent,
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

/// A record that is not reproduced.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Divergent {
    /// Number of the event, from 0.
    pub event: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Signal.
    pub signal: &'static str,
    /// Action of the kernel, as far as the trace shows it.
    pub what: &'static str,
    /// Number of the kernel object; 0 = none.
    pub object: u32,
}

/// One column of a record.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Field {
    /// Kernel name.
    pub field: &'static str,
    /// Value that the kernel recorded.
    pub kernel: u64,
    /// Value that the core computes.
    pub ours: u64,
}

/// A rebuilt average beside the recorded one; differences of 1024.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Average {
    /// Name of the average.
    pub what: String,
    /// Looks compared.
    pub n: u64,
    /// Mean difference.
    pub mean: f64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Within what is allowed.
    pub inside: bool,
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
    pub faults: Vec<Fault>,
    /// Single calls taken out.
    pub single_calls: SingleCalls,
    /// Single records altered.
    pub altered_records: Vec<Altered>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fault {
    /// Description of the fault.
    pub fault: &'static str,
    /// The trace has what it changes.
    pub possible: bool,
    /// True where it was noticed.
    pub found: bool,
    /// Records that diverged.
    pub divergent: u64,
}

/// Calls taken out one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SingleCalls {
    /// Calls.
    pub taken_out: u64,
    /// The next record of the object showed it.
    pub noticed: u64,
    /// Calls that had changed nothing.
    pub changed_nothing: u64,
    /// A class explained what followed.
    pub explained: u64,
}

/// Records altered one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Altered {
    /// By how much.
    pub size: &'static str,
    /// Records.
    pub altered: u64,
    /// Records that diverged.
    pub noticed: u64,
    /// The next record of the object did.
    pub noticed_at_next: u64,
    /// A class that is not decided explained them.
    pub not_decided: u64,
    /// Records that passed.
    pub let_pass: u64,
    /// Records that passed as equal.
    pub exact: u64,
    /// Records that passed under a class, by its name.
    pub classes: BTreeMap<&'static str, u64>,
}

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
