// SPDX-License-Identifier: GPL-2.0-or-later
//! Records of a run, a CPU, a task and a domain: each has a part of each room, whose fields are that room's own, and
//! facts that all rooms read. This file stands beside the rooms; a part changes by the verbs of its room.

use pelton_core::{BoostCpu, Rq, Se, UclampRq, UclampSumRq, UclampSumTask, UclampTask};
use pelton_model::machine::Machine;
use pelton_model::workload::Workload;

use crate::class::Class;
use crate::class::deadline::{DlEntity, DlRq};
use crate::class::fair::{Entities, FairEntity, FairRq, FairRules};
use crate::class::levels::Levels;
use crate::class::realtime::{RtEntity, RtRq};
use crate::class::worker::WorkerRq;
use crate::cpu::cache_aware::CacheAware;
use crate::cpu::clock::SignalClock;
use crate::cpu::line::{Line, Lines};
use crate::cpu::progress::Progress;
use crate::cpu::quota::Budgets;
use crate::cpu::requests::Targets;
use crate::cpu::resched::Resched;
use crate::cpu::search::Search;
use crate::cpu::server::Server;
use crate::cpu::timers::Sleep;
use crate::cpu::wake_list::WakeList;
use crate::engine::activation::Activation;
use crate::engine::life::{Being, Kind};
use crate::engine::nohz::Nohz;
use crate::engine::queue::EventQueue;
use crate::engine::rest::Rows;
use crate::engine::rng::RunRng;
use crate::engine::timers::Timers;
use crate::freq::parts::{CpuGoverned, DomainGoverned, Governing};
use crate::hw::idle::IdleGovernor;
use crate::hw::power::CpuPower;
use crate::hw::speed::{Clocked, Hardware};
use crate::program::place::{Place, Programs};
use crate::report::{CpuReport, DomainReport, TaskReport};
use crate::rq::boosts::Boosts;
use crate::rq::groups::Groups;
use crate::rq::parts::{Counted, Updates, Waiting};
use crate::run::dispatch::Pace;
use crate::sched::balancing::Balancing;
use crate::sched::parts::{CpuSched, Sched, TaskSched};
use crate::sched::placing::Placing;
use crate::shape::{Code, Rules, Run, Used};

/// "No task": the CPU is idle.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// Speed of a CPU of capacity 1024 at its highest frequency; work is counted in ns times this.
pub(crate) const SPEED_SHIFT: u32 = pelton_model::workload::PARTS_SHIFT;

/// Features that the inputs use. All are constant, except that clamps may come into use during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Some groups have a quota, and it is kept.
    pub quotas: bool,
    /// Utilization clamps were asked for by now (`sched_uclamp_used`).
    pub clamped: bool,
    /// Clamps are in use, and they add up.
    pub clamp_sums: bool,
    /// Groups count for a part of each CPU at most.
    pub limits_groups: bool,
    /// Some boost is set, at the start or later.
    pub boosts: bool,
    /// Tasks are counted in boost groups. Without groups all have one boost.
    pub boost_groups: bool,
}

impl Uses {
    /// No feature.
    pub(crate) const NONE: Uses = Uses {
        quotas: false,
        clamped: false,
        clamp_sums: false,
        limits_groups: false,
        boosts: false,
        boost_groups: false,
    };
}

/// One run in progress.
pub(crate) struct Engine<'a, S: Run> {
    pub m: &'a Machine,
    pub w: &'a Workload,
    pub policy: Rules<'a, S>,
    pub now: u64,
    /// CPU that executes the code of the current event.
    pub exec: u32,
    /// The kernel's clocks at time 0 of the run.
    pub boot_ns: u64,
    pub end_ns: u64,
    pub tick_ns: u64,
    pub tick_phase_ns: u64,
    pub queue: EventQueue,
    pub rng: RunRng,
    pub sink: S,
    pub cpus: Vec<CpuState>,
    pub tasks: Vec<Task>,
    pub domains: Vec<DomainState>,
    pub uses: Used<S>,
    pub fair_rules: FairRules<'a, S>,
    /// Time as the signals see it.
    pub signal_clock: SignalClock,
    pub lines: Lines,
    /// Request of each CPU to its frequency domain.
    pub targets: Targets,
    /// Caches that tasks prefer, from 7.2 on.
    pub caches: CacheAware,
    pub hw: Hardware,
    pub freq: Governing,
    /// Quotas of the task groups.
    pub budgets: Budgets,
    /// Task groups of the workload.
    pub groups: Groups,
    /// Boost groups of the workload.
    pub boosts: Boosts,
    pub waiting: Waiting,
    pub sched: Sched,
    /// Placement of fair tasks, from 5.10 on.
    pub placing: Placing,
    /// Load balancing between CPUs, from 5.10 on.
    pub balancing: Balancing,
    pub nohz: Nohz,
    /// CPUs of whose state placement and balancing know all.
    pub fresh_rows: Rows,
    pub programs: Programs,
    pub pace: Pace,
    /// A kernel's own code, where that decides.
    pub kernel: Code<'a, S>,
}

/// A CPU at run time. What most events look at lies together, at the beginning.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CpuState {
    pub curr: u32,
    pub running: Option<Class>,
    pub resched: Resched,
    pub wake_list: WakeList,
    pub hw: CpuPower,
    pub line: Line,
    pub search: Search,
    pub sched: CpuSched,
    pub fair: FairRq,
    pub freq: CpuGoverned,
    /// The kernel's own record, which functions of the core take.
    pub rq: Rq,
    pub rt: RtRq,
    pub dl: DlRq,
    pub workers: WorkerRq,
    /// Armed expiries of tasks that sleep here: (time, task).
    pub timers: Timers,
    pub idle: IdleGovernor,
    pub report: CpuReport,
    /// Queues of task groups below `fair`.
    pub levels: Levels,
    /// Clamps of its runnable tasks: a record as `rq`.
    pub uclamp: UclampRq,
    /// Effect of the clamps on its utilization, where they add up: a record as `rq`.
    pub clamp_sum: UclampSumRq,
    /// Boosts of its runnable tasks: a record as `rq`.
    pub boost: BoostCpu,
    /// Keeps its fair tasks from starving.
    pub server: Server,
    pub updates: Updates,
}

/// A task at run time. What most events look at lies together, at the beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Task {
    pub kind: Kind,
    pub cpu: u32,
    /// Number of its task group.
    pub group: u32,
    pub being: Being,
    pub progress: Progress,
    /// The kernel's own record, which functions of the core take.
    pub se: Se,
    pub fair: FairEntity,
    pub sched: TaskSched,
    pub sleep: Sleep,
    pub program: Place,
    pub activation: Activation,
    pub dl: DlEntity,
    pub rt: RtEntity,
    /// Its clamps where they count: a record as `se`.
    pub uclamp: UclampTask,
    /// Effect of the clamps on its utilization, where they add up: a record as `se`.
    pub clamp_sum: UclampSumTask,
    pub counted: Counted,
    pub name: String,
    pub report: TaskReport,
}

impl Entities for Vec<Task> {
    fn fair(&self, task: u32) -> &FairEntity {
        &self[task as usize].fair
    }
    fn fair_mut(&mut self, task: u32) -> &mut FairEntity {
        &mut self[task as usize].fair
    }
}

/// A frequency domain at run time.
#[derive(Debug)]
pub(crate) struct DomainState {
    pub hw: Clocked,
    pub freq: DomainGoverned,
    pub report: DomainReport,
}
