// SPDX-License-Identifier: GPL-2.0-or-later
//! Content of a file, in rt-app's own words and units (microseconds), with places. Nothing is interpreted yet.

use super::json::Span;
use crate::diagnostic::{Diagnostics, SourceFile};

/// A word or a number and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// Word or number as written.
    pub value: T,
    /// Place in the text.
    pub span: Span,
}

/// A file that follows the grammar. It may still be refused when it is lowered.
#[derive(Clone, Debug)]
pub struct RtAppFile {
    /// The text.
    pub source: SourceFile,
    /// The `global` object; defaults where it is silent.
    pub global: Global,
    /// The `resources` object of the oldest grammar, in order.
    pub resources: Vec<Resource>,
    /// Tasks in order.
    pub tasks: Vec<Task>,
    /// The file has a `tasks` object (fragments for rt-app's merge script may have none).
    pub has_tasks: bool,
    /// Template words that have no value yet.
    pub placeholders: Vec<Spanned<String>>,
    /// Warnings on parts that can be read but probably mean something else.
    pub warnings: Diagnostics,
    /// Keys that have no meaning in a simulation, with their line.
    pub ignored: Vec<(String, usize)>,
    /// Keys that rt-app does not read, with their line; 0 where it was not looked up.
    pub passed_over: Vec<(String, usize)>,
}

/// The `global` object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Global {
    /// Seconds; not positive = no limit.
    pub duration_s: Option<Spanned<i64>>,
    /// Nanoseconds per loop of the calibrated work, or the CPU to measure it on.
    pub calibration: Option<Spanned<Calibration>>,
    /// Policy of tasks that name none.
    pub default_policy: Option<Spanned<PolicyName>>,
    /// Mutexes with priority inheritance.
    pub pi_enabled: bool,
    /// Slack is summed over the timers of a phase.
    pub cumulative_slack: Option<Spanned<bool>>,
    /// File that `iorun` writes to; `/dev/null` when none is named.
    pub io_device: Option<Spanned<String>>,
    /// Most bytes of one write of `iorun`; 4 MiB when none are given.
    pub mem_buffer_size: Option<Spanned<i64>>,
    /// Start of task i is delayed by (i + 1) times this, microseconds (oldest grammar).
    pub spacing_us: i64,
}

/// Calibration of `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibration {
    /// Nanoseconds per loop.
    NsPerLoop(i64),
    /// Measured at the start, on this CPU.
    OnCpu(u32),
}

/// A scheduling policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyName {
    /// SCHED_OTHER
    Other,
    /// SCHED_BATCH
    Batch,
    /// SCHED_IDLE
    Idle,
    /// SCHED_FIFO
    Fifo,
    /// SCHED_RR
    RoundRobin,
    /// SCHED_DEADLINE
    Deadline,
}

impl PolicyName {
    /// All names as they are written.
    pub const NAMES: [(&'static str, PolicyName); 6] = [
        ("SCHED_OTHER", PolicyName::Other),
        ("SCHED_BATCH", PolicyName::Batch),
        ("SCHED_IDLE", PolicyName::Idle),
        ("SCHED_FIFO", PolicyName::Fifo),
        ("SCHED_RR", PolicyName::RoundRobin),
        ("SCHED_DEADLINE", PolicyName::Deadline),
    ];

    /// Name of the policy in a file.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }

    /// Served by the fair class.
    pub fn is_fair(self) -> bool {
        matches!(self, PolicyName::Other | PolicyName::Batch | PolicyName::Idle)
    }
}

/// A declared resource of the oldest grammar.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Name.
    pub name: Spanned<String>,
    /// mutex, wait, signal, broadcast, sync, sleep or run.
    pub kind: ResourceKind,
    /// The `wait` resource that a signal, broadcast or sync wakes.
    pub target: Option<Spanned<String>>,
}

/// Effect of a resource of the oldest grammar when it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// Locks.
    Mutex,
    /// Waits for a condition.
    Wait,
    /// Wakes one waiter.
    Signal,
    /// Wakes all waiters.
    Broadcast,
    /// Wakes one waiter and waits.
    SignalAndWait,
    /// Sleeps.
    Sleep,
    /// Computes.
    Run,
}

/// One entry of `tasks`.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Thread name.
    pub name: Spanned<String>,
    /// Copies; 0 = only forked.
    pub instances: Spanned<i64>,
    /// Microseconds before it starts.
    pub delay_us: Option<Spanned<i64>>,
    /// Properties of the whole task.
    pub props: Props,
    /// Phases in order; at least one.
    pub phases: Vec<Phase>,
    /// The file writes `phases`; otherwise the events stand in the task itself.
    pub has_phases: bool,
}

/// Properties that tasks and phases share. What is not written is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Props {
    /// Repetitions, -1 = for ever.
    pub repeat: Option<Spanned<i64>>,
    /// Allowed CPUs.
    pub cpus: Option<Spanned<Vec<u32>>>,
    /// Memory nodes.
    pub nodes: Option<Span>,
    /// Policy.
    pub policy: Option<Spanned<PolicyName>>,
    /// Nice value or real-time priority.
    pub priority: Option<Spanned<i64>>,
    /// Deadline budget, or slice of the fair class, microseconds.
    pub dl_runtime_us: Option<Spanned<i64>>,
    /// Deadline period, microseconds.
    pub dl_period_us: Option<Spanned<i64>>,
    /// Relative deadline, microseconds.
    pub dl_deadline_us: Option<Spanned<i64>>,
    /// Names of deadline parameters in tasks until October 2015: `runtime`, `period`, `deadline`.
    pub older: [Option<Spanned<i64>>; 3],
    /// Unused deadline bandwidth is reclaimed (GRUB).
    pub dl_reclaim: Option<Spanned<bool>>,
    /// Lower utilization clamp; -1 = as it was.
    pub util_min: Option<Spanned<i64>>,
    /// Upper utilization clamp; -1 = as it was.
    pub util_max: Option<Spanned<i64>>,
    /// Task group.
    pub taskgroup: Option<Spanned<String>>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Name; empty when the task has no `phases`.
    pub name: Spanned<String>,
    /// Properties; empty when the task has no `phases`, except `repeat`.
    pub props: Props,
    /// Body of the phase.
    pub body: Body,
}

/// Actions of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A list of events.
    Events(Vec<Event>),
    /// The oldest grammar: compute for `exec` in every `period` while taking resources.
    Exec(Exec),
}

/// A body of the oldest grammar.
#[derive(Clone, Debug, PartialEq)]
pub struct Exec {
    /// Work per period, microseconds.
    pub exec_us: Spanned<i64>,
    /// Period, microseconds.
    pub period_us: Option<Spanned<i64>>,
    /// Relative deadline, microseconds.
    pub deadline_us: Option<Spanned<i64>>,
    /// Sleeps until the next period.
    pub sleeps: bool,
    /// Resources taken one after the other.
    pub lock_order: Vec<Spanned<String>>,
    /// Time that each resource is used, and the resources that have to be taken before it.
    pub uses: Vec<ResourceUse>,
}

/// An entry of a task's `resources` in the oldest grammar.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceUse {
    /// Resource.
    pub name: Spanned<String>,
    /// Work while it is held, microseconds.
    pub duration_us: i64,
    /// Resources taken before it.
    pub access: Vec<Spanned<String>>,
}

/// One event and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// Place of its key.
    pub span: Span,
}

/// A step of a task. Times in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Calibrated work.
    Run(Spanned<i64>),
    /// Busy for this wall-clock time.
    Runtime(Spanned<i64>),
    /// Sleep.
    Sleep(Spanned<i64>),
    /// Wait for a timer.
    Timer(Timer),
    /// Take a mutex.
    Lock(Spanned<String>),
    /// Release a mutex.
    Unlock(Spanned<String>),
    /// Wait on a condition.
    Wait(CondRef),
    /// Wake one.
    Signal(Spanned<String>),
    /// Wake all.
    Broadcast(Spanned<String>),
    /// Wake one and wait.
    Sync(CondRef),
    /// Sleep until resumed; the name, if one is written.
    Suspend(Option<Spanned<String>>),
    /// Wake whoever is suspended under this name.
    Resume(Spanned<String>),
    /// Wait for the others.
    Barrier(Spanned<String>),
    /// Give up the CPU.
    Yield,
    /// Start a task.
    Fork(Spanned<String>),
    /// Load a program; its name is not used.
    Exec(Spanned<String>),
    /// Increase a semaphore.
    SemPost(Spanned<String>),
    /// Decrease a semaphore or wait.
    SemWait(Spanned<String>),
    /// Write so many bytes to memory.
    Mem(Spanned<i64>),
    /// Write so many bytes to the device.
    IoRun(Spanned<i64>),
    /// An event that reads well but has no model. The word names it.
    NoModel(&'static str),
}

/// A timer event.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer {
    /// Name; names that begin with `unique` are private to the task.
    pub name: Spanned<String>,
    /// Period, microseconds.
    pub period_us: Spanned<i64>,
    /// The grid never moves.
    pub absolute: bool,
}

impl Timer {
    /// Private to each copy of the task.
    pub fn is_unique(&self) -> bool {
        self.name.value.starts_with("unique")
    }
}

/// A condition and the mutex that guards it.
#[derive(Clone, Debug, PartialEq)]
pub struct CondRef {
    /// Condition.
    pub cond: Spanned<String>,
    /// Mutex.
    pub mutex: Spanned<String>,
}
