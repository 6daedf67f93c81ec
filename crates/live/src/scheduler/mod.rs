// SPDX-License-Identifier: GPL-2.0-or-later
//! The policy core as a scheduler of the running kernel, through sched_ext.
//!
//! ```text
//! bpf/live*.h, scheduler.bpf.c   in the kernel: callbacks that call the core
//! machine.rs   CPUs, frequencies, energy model and domains, as this machine's /sys has them
//! refuse.rs    reasons why it cannot run here
//! attached.rs  loads, attaches, writes boosts, clamps and numbers, reads what the callbacks count
//! compared.rs  the kernel's load tracking beside the core's
//! energy.rs    energy of busy time at the kernel's frequencies and at the core's
//! observer.rs  the same calls of the core beside the kernel's own scheduler
//! given.rs     policy, settings and machine as the kernel's side takes them
//! readings.rs  state of CPUs, counts and decisions
//! recorded.rs  decisions with all that they were made of, for a recording
//! groups.rs    which boost group a cgroup's tasks are counted in
//! words.rs     names and values that both sides share
//! ```

mod attached;
mod compared;
mod energy;
mod given;
mod groups;
mod machine;
mod observer;
mod readings;
mod recorded;
mod refuse;
mod words;

pub use attached::Attached;
pub use compared::{Averages, Compared, Difference};
pub use energy::{Consumed, Energy, Powers, Stretch};
pub use machine::{Domains, EnergyDomain, Machine, MachineCpu};
pub use observer::{Observed, Observer};
pub use recorded::DecisionLog;
pub use refuse::refusals;

use std::time::Duration;

use pelton_core::Policy;

/// Source of the CPU that a task is placed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placing {
    /// The core's where the machine has an energy model and CPUs of unequal size, else the kernel's.
    #[default]
    Auto,
    /// The core's placement.
    Core,
    /// The kernel's search for an idle CPU.
    Kernel,
}

/// Choices of a start.
#[derive(Clone, Debug)]
pub struct Options {
    /// The policy; its switches hold until the end, its numbers can be set while it runs.
    pub policy: Policy,
    /// Frequencies are asked for; without, they are left to the kernel.
    pub frequencies: bool,
    /// Source of the CPUs of tasks.
    pub placing: Placing,
    /// Clamps of cgroups that were given here alone count, not what tasks asked the kernel for.
    pub own_clamps: bool,
    /// Every decision is handed out with all that it was made of ([`Records`]).
    pub record: bool,
    /// A scheduler that stops dispatching so long after it began; for tests of the kernel's watchdog.
    pub stall_after: Option<Duration>,
}

/// Clamps of a cgroup and its boost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Percent, -100 to 100.
    pub boost_percent: i32,
    /// Capacity, 0 to 1024.
    pub min: u32,
    /// Capacity, 0 to 1024.
    pub max: u32,
}

/// State of a CPU, as its last event left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuView {
    /// Number.
    pub cpu: u32,
    /// Capacity, of 1024.
    pub capacity: u32,
    /// True while it runs nothing.
    pub idle: bool,
    /// Queued tasks.
    pub queued: u32,
    /// Utilization, runnable average and estimate of its queue, capacity.
    pub util: u32,
    /// Runnable average.
    pub runnable: u32,
    /// Estimated utilization.
    pub util_est: u32,
    /// Utilization with the clamps in it.
    pub clamped: u32,
    /// Boost in force, percent.
    pub boost_percent: i32,
    /// Target that was handed to the kernel, of 1024.
    pub target: u32,
    /// Frequency that was decided, kHz; 0: frequencies are left alone.
    pub wanted_khz: u32,
    /// Frequency that the kernel last said, kHz; `None`: it says none.
    pub khz: Option<u32>,
}

/// A term of the last decision of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Name, as the simulator's explanations have it.
    pub name: &'static str,
    /// Value.
    pub value: u64,
}

/// The last decision of a CPU about its frequency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// CPU.
    pub cpu: u32,
    /// Age of the decision, ns.
    pub ago_ns: u64,
    /// Terms from utilization to the target, in the order in which they follow from each other.
    pub terms: Vec<Term>,
}

/// Reason for which the kernel ended a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The kernel's number of the kind.
    pub kind: u32,
    /// Exit code of the scheduler.
    pub code: i64,
    /// The kernel's words.
    pub reason: String,
    /// The message that came with it.
    pub message: String,
}

/// A running scheduler, as a control socket sees it.
pub trait Host {
    /// Seconds since it began.
    fn seconds(&self) -> f64;
    /// Counts of events by name, in a fixed order.
    fn counts(&self) -> Vec<(&'static str, u64)>;
    /// Every CPU.
    fn cpus(&self) -> Vec<CpuView>;
    /// Groups that were given boosts or clamps, by the path of their cgroup.
    fn groups(&self) -> Vec<(String, Group)>;
    /// Gives a cgroup (a path below /sys/fs/cgroup, or that itself for all tasks) boost and clamps.
    ///
    /// # Errors
    /// One sentence: no such cgroup, a value out of range, too many groups with boosts of their own.
    fn set_group(&mut self, cgroup: &str, group: Group) -> Result<(), String>;
    /// Sets a number of the policy.
    ///
    /// # Errors
    /// One sentence: no such number, a switch (which holds until the end), out of range.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String>;
    /// The last decision of a CPU; `None`: there was none.
    ///
    /// # Errors
    /// There is no such CPU.
    fn explain(&self, cpu: u32) -> Result<Option<Explanation>, String>;
    /// Reason of its end; `None` while it runs.
    fn ended(&self) -> Option<Ended>;
    /// The kernel's load tracking beside the core's; only an observer compares.
    fn compared(&self) -> Vec<Compared> {
        Vec::new()
    }
    /// Energy of busy time on both sides, in joules or a unit of its own; `None`: not known.
    fn energy(&self) -> Option<Consumed> {
        None
    }
}

/// Decisions of a running scheduler, or of an observer, with all that they were made of.
pub trait Records {
    /// Policies of the programs that were loaded, with all that only a running machine knows: one more for each number
    /// that was set.
    fn programs(&self) -> &[Policy];
    /// Passes `put` each record that was handed out since it was last asked: the number of the program, and the bytes
    /// of a record of `bpf/live_record.h`.
    fn recorded(&mut self, put: &mut dyn FnMut(u32, &[u8]));
    /// Records that had no room.
    fn unrecorded(&self) -> u64;
    /// Detaches; what was handed out until then can still be asked for.
    fn detach(&mut self);
}
