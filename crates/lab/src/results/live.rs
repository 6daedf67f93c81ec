// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of the policy core as a running scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a scheduler that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveReport {
    /// The machine, as lines for people.
    pub machine: Vec<String>,
    /// The policy: its profile.
    pub profile: String,
    /// Switches and numbers that differ from the profile.
    pub set: Vec<LiveNumber>,
    /// Reason for the end.
    pub end: End,
    /// State at the end.
    pub status: LiveStatus,
    /// The recording; null where none was asked for.
    pub recorded: Option<LiveRecorded>,
}

/// A recording of all decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveRecorded {
    /// Files written.
    pub files: Vec<String>,
    /// Calls of the governor in it.
    pub decisions: u64,
    /// Placements in it.
    pub placements: u64,
    /// Records that had no room in the buffer, or came cut off.
    pub lost: u64,
}

/// Reason for an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The time that was asked for is over.
    Time,
    /// A signal, as of Ctrl-C.
    Signal,
    /// `pelton live stop`.
    Request,
    /// The kernel ended it; `ended` of the state says why.
    Kernel,
}

/// State of a running scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveStatus {
    /// Seconds since it began.
    pub seconds: f64,
    /// Counts of events, in a fixed order.
    pub counts: Vec<LiveCount>,
    /// Every CPU.
    pub cpus: Vec<LiveCpu>,
    /// Cgroups that were given boosts or clamps.
    pub groups: Vec<LiveGroup>,
    /// End by the kernel; null while it runs.
    pub ended: Option<LiveEnded>,
}

/// Count of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveCount {
    /// Event.
    pub event: String,
    /// Count.
    pub count: u64,
}

/// State of a CPU, as its last event left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveCpu {
    /// Number.
    pub cpu: u32,
    /// Capacity, of 1024.
    pub capacity: u32,
    /// The CPU runs nothing.
    pub idle: bool,
    /// Queued tasks.
    pub queued: u32,
    /// Utilization of the queue, capacity.
    pub util: u32,
    /// Runnable average of the queue, capacity.
    pub runnable: u32,
    /// Estimated utilization of the queue, capacity.
    pub util_est: u32,
    /// Utilization with the clamps in it, capacity.
    pub clamped: u32,
    /// Boost in force, percent.
    pub boost_percent: i32,
    /// Performance target that was handed to the kernel, of 1024.
    pub target: u32,
    /// Frequency that was decided, kHz; null where frequencies are left alone.
    pub wanted_khz: Option<u32>,
    /// Frequency that the kernel last said, kHz; null where it says none.
    pub khz: Option<u32>,
}

/// Boost and clamps of a cgroup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveGroup {
    /// Path of the cgroup.
    pub cgroup: String,
    /// Boost, percent.
    pub boost_percent: i32,
    /// Lower clamp, of 1024.
    pub min: u32,
    /// Upper clamp, of 1024.
    pub max: u32,
}

/// End of a scheduler by the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveEnded {
    /// The kernel's number of the kind.
    pub kind: u32,
    /// Exit code of the scheduler.
    pub code: i64,
    /// The kernel's words.
    pub reason: String,
    /// The message that came with it.
    pub message: String,
}

/// A number of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveNumber {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Last decision of a CPU about its frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveExplained {
    /// CPU.
    pub cpu: u32,
    /// The decision; null where there was none.
    pub decision: Option<LiveDecision>,
}

/// A decision about a frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveDecision {
    /// Age, ns.
    pub ago_ns: u64,
    /// Terms from utilization to the target, as they follow from each other.
    pub terms: Vec<LiveTerm>,
}

/// A term of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveTerm {
    /// Name.
    pub name: String,
    /// Value.
    pub value: u64,
}

/// A scheduler that was asked to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveStopped {
    /// Seconds since it began.
    pub seconds: f64,
}

/// Decisions that the core would have made, beside those that the kernel made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveObserved {
    /// The machine, as lines for people.
    pub machine: Vec<String>,
    /// The policy: its profile.
    pub profile: String,
    /// Switches and numbers that differ from the profile.
    pub set: Vec<LiveNumber>,
    /// Reason for the end.
    pub end: End,
    /// Seconds that were observed.
    pub seconds: f64,
    /// Counts of events, in a fixed order.
    pub counts: Vec<LiveCount>,
    /// Every CPU.
    pub cpus: Vec<LiveObservedCpu>,
    /// The kernel's load tracking beside the core's, by signal.
    pub load_tracking: Vec<LiveCompared>,
    /// Energy of busy time; null where a frequency or its power is not known.
    pub energy: Option<LiveEnergy>,
    /// The recording; null where none was asked for.
    pub recorded: Option<LiveRecorded>,
}

/// Decisions about a CPU, the core's and the kernel's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveObservedCpu {
    /// Number.
    pub cpu: u32,
    /// Mean frequency that the core would have chosen, MHz; null where none is known.
    pub would_mhz: Option<f64>,
    /// Mean frequency, MHz; null where the kernel says none.
    pub was_mhz: Option<f64>,
    /// Changes of the frequency that the core would have made.
    pub would_changes: u64,
    /// Changes of the frequency.
    pub was_changes: u64,
    /// Wake-ups that were placed.
    pub wakeups: u64,
    /// Wake-ups that the core would have placed on the CPU that the kernel chose.
    pub agreed: u64,
}

/// A signal of load tracking as the kernel publishes it, beside what the core computes from the state before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveCompared {
    /// Signal: `task`, `rt`, `dl`.
    pub signal: String,
    /// Counts; null where the kernel does not publish it.
    pub counts: Option<LiveComparedCounts>,
    /// The first state that did not follow; null where all did.
    pub example: Option<LiveDifference>,
}

/// Counts of a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveComparedCounts {
    /// States that the kernel published.
    pub events: u64,
    /// Those in which every integer is as the core has it.
    pub equal: u64,
    /// Those that are the first of their task or CPU.
    pub first: u64,
    /// Those that do not follow from the state before by the core's rules.
    pub different: u64,
    /// Those that do not follow where a switch, a wake-up or a move in between was not seen.
    pub unseen: u64,
    /// States that were read between those, and had changed; they have to follow as well.
    pub looks: u64,
}

/// A state that did not follow from the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveDifference {
    /// CPU.
    pub cpu: u64,
    /// Moment at which it was read: `published`, or one between two that are.
    pub at: String,
    /// Weight of the task.
    pub weight: u64,
    /// Bits: queued 1, running 2, delayed 4; of a class 1 while a task of it runs.
    pub flags: u64,
    /// Bits at the state before.
    pub flags_before: u64,
    /// The task was on another queue before.
    pub moved: bool,
    /// State before it.
    pub before: LiveAverages,
    /// State that the core expects.
    pub core: LiveAverages,
    /// State that the kernel has.
    pub kernel: LiveAverages,
}

/// A state of load tracking, with the kernel's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveAverages {
    /// Time of its last update, ns of the queue's clock.
    pub last_update_time: u64,
    /// Sum of load.
    pub load_sum: u64,
    /// Sum of runnable time.
    pub runnable_sum: u64,
    /// Sum of running time.
    pub util_sum: u64,
    /// Units of the open period.
    pub period_contrib: u64,
    /// Average of load.
    pub load_avg: u64,
    /// Average of runnable time.
    pub runnable_avg: u64,
    /// Average of running time.
    pub util_avg: u64,
}

/// Energy of busy time at the kernel's frequencies, and of the same work at the core's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveEnergy {
    /// Unit: `J`, or `units` where the power of the platform is in a unit of its own.
    pub unit: String,
    /// At the kernel's frequencies.
    pub kernel: f64,
    /// At the core's, as far as there was time for the work.
    pub core: f64,
    /// The core's beside the kernel's, percent.
    pub difference_percent: f64,
    /// Busy time that was counted, s.
    pub busy_s: f64,
    /// Busy time of which a frequency or its power is not known, s.
    pub unknown_s: f64,
    /// Part of the work that did not fit at the core's frequencies, percent.
    pub left_percent: f64,
    /// Stretches between changes of frequency that were lost.
    pub lost: u64,
}
