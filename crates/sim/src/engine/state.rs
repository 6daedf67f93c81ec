// SPDX-License-Identifier: GPL-2.0-only
//! Run-time state of tasks, CPUs and frequency domains.

use pelton_core::{Menu, Rq, Se, SugovCpu, SugovPolicy, Teo};

use crate::class::Class;
use crate::class::deadline::{DlEntity, DlRq};
use crate::class::fair::{Entities, FairEntity, FairRq};
use crate::class::levels::Levels;
use crate::class::realtime::{RtEntity, RtRq};
use crate::engine::queue::Moment;
use crate::engine::timers::Timers;
use crate::program::calls::Call;
use crate::report::{CpuReport, DomainReport, TaskReport};
use pelton_model::workload::{CpuSet, SchedPolicy};

/// "No task": the CPU is idle.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// Speed of a CPU of capacity 1024 at its highest frequency; work is counted in ns times this.
pub(crate) const SPEED_SHIFT: u32 = pelton_model::workload::PARTS_SHIFT;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Life {
    /// Does not exist yet.
    #[default]
    Unborn,
    /// On a runqueue or running.
    Runnable,
    /// Waiting for something.
    Sleeping,
    /// Ended.
    Dead,
}

/// What a running task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Step {
    /// The next operation has to be fetched.
    #[default]
    Fetch,
    /// Work left, ns << SPEED_SHIFT at capacity 1024.
    Work(u64),
    /// CPU time left, ns.
    Wall(u64),
    /// Ends at this time, whoever runs until then.
    Until(u64),
}

impl Step {
    /// Nothing of it is left at time `now_ns`.
    pub(crate) fn is_over(self, now_ns: u64) -> bool {
        match self {
            Step::Fetch => false,
            Step::Work(left) | Step::Wall(left) => left == 0,
            Step::Until(at_ns) => at_ns <= now_ns,
        }
    }
}

/// Who decides what a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Task `spec` of the workload.
    Program {
        /// Index into `Workload::tasks`.
        spec: u32,
    },
    /// The governor's worker thread of a domain.
    Worker {
        /// Domain.
        domain: u32,
    },
}

/// Position in a program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub phase: u32,
    pub op: u32,
    pub phase_rounds: u64,
    pub rounds: u64,
    /// The phase's own settings were applied.
    pub entered: bool,
}

/// Current activation of a task (what rt-app logs as one line).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activation {
    pub index: u64,
    pub start_ns: u64,
    pub wakeup_latency_ns: u64,
    pub run_ns_at_start: u64,
    /// Configured work since the start, ns at capacity 1024.
    pub work_ns: u64,
    /// When it last went to sleep without working since.
    pub paused_ns: Option<u64>,
    /// The round contained an operation that ended an activation.
    pub ended_in_round: bool,
}

/// A waking time grid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimerState {
    /// Next expiry; meaningful once `armed`.
    pub next_ns: u64,
    pub armed: bool,
}

/// A task at run time. What most events look at lies together, at the beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Task {
    pub kind: Kind,
    pub life: Life,
    pub class: Class,
    pub cpu: u32,
    pub prio: u32,
    pub recent_cpu: u32,
    /// Number of its task group.
    pub group: u32,
    pub step: Step,
    pub se: Se,
    pub fair: FairEntity,
    pub allowed: CpuSet,
    pub at: Position,
    pub activation: Activation,
    /// Armed expiry, if it sleeps on a timer.
    pub armed_ns: Option<u64>,
    pub timer_generation: u32,
    /// It slept waiting for I/O and has not run since.
    pub in_iowait: bool,
    /// The device that it asked last, and from which CPU.
    pub asked: (u32, u32),
    /// Changed CPU and has not run there yet.
    pub cold: bool,
    /// When it was woken and has not run since.
    pub woken_ns: Option<u64>,
    /// Since when it waits on a runqueue; meaningless while running.
    pub waiting_since_ns: u64,
    pub last_ran_ns: u64,
    /// Its place in its CPU's list of tasks: the head is highest.
    pub list_place: u64,
    pub energy_fj: u128,
    pub policy: SchedPolicy,
    /// System call in progress.
    pub call: Option<Call>,
    /// Mutex to take again after a wait on a condition.
    pub relock: Option<u32>,
    /// The CPU that takes it while it runs.
    pub pulled_to: Option<u32>,
    /// It goes there because it loads another program; no balance takes it.
    pub loads_program: bool,
    /// The only CPU it may run on from its next wake-up on.
    pub moves_to: Option<u32>,
    pub timers: Vec<TimerState>,
    pub dl: DlEntity,
    pub name: String,
    /// Where its parent ran when it made this task.
    pub forked_on: Option<u32>,
    /// Clamps it asks for; `None` = those of its class.
    pub clamps: Option<(u32, u32)>,
    /// Its clamps where they count.
    pub uclamp: pelton_core::UclampTask,
    /// It was queued before clamps were in use, and does not count yet.
    pub uncounted: bool,
    /// What they make of its utilization, where they add up.
    pub clamp_sum: pelton_core::UclampSumTask,
    /// Number of its boost group.
    pub boost_group: u32,
    pub rt: RtEntity,
    /// When the stopwatch was last read.
    pub lap_start_ns: Option<u64>,
    /// When it started: the origin of its timers.
    pub started_ns: u64,
    pub wakee_flips: u32,
    pub last_wakee: u32,
    pub flips_decay_ns: u64,
    pub perf_index_sum: i64,
    pub report: TaskReport,
}

/// Whether a CPU is in its idle task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleLoop {
    Out,
    In,
    /// A tick ended its last stay.
    Ticked,
}

impl Task {
    /// Clamps begin to be in use: it counts from its next enqueue on when it is queued now.
    pub(crate) fn counts_later(&mut self) {
        self.uncounted = self.life == Life::Runnable;
    }

    /// It is queued and does not count yet.
    pub(crate) fn waits_to_count(&self) -> bool {
        self.uncounted && self.life == Life::Runnable
    }

    /// It is queued and its clamps count.
    pub(crate) fn counts_now(&mut self) {
        self.uncounted = false;
    }

    /// Tid in events (0 is the idle task).
    pub(crate) fn tid(index: u32) -> u32 {
        index.wrapping_add(1)
    }

    /// Goes to sleep for what a device does.
    pub(crate) fn ask(&mut self, device: u32) {
        self.in_iowait = true;
        self.asked = (device, self.cpu);
    }

    /// The device that it asked last, and from which CPU.
    pub(crate) fn asked(&self) -> (u32, u32) {
        self.asked
    }

    /// Asleep, it wakes by itself: by its timer or its device.
    pub(crate) fn wakes(&self) -> bool {
        self.armed_ns.is_some() || self.in_iowait
    }
}

impl Entities for Vec<Task> {
    fn fair(&self, task: u32) -> &FairEntity {
        &self[task as usize].fair
    }
    fn fair_mut(&mut self, task: u32) -> &mut FairEntity {
        &mut self[task as usize].fair
    }
}

/// What an idle CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Executing something.
    Awake,
    /// In idle state `state`.
    Idle {
        /// Index into the domain's idle states.
        state: u32,
    },
    /// Leaving idle state `state`.
    Exiting {
        /// Index into the domain's idle states.
        state: u32,
    },
}

/// What an idle CPU does once it is awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// The timer of this task expired.
    Timer(u32),
    /// This interrupt source fired.
    Irq(u32),
    /// A device has done what this task waits for.
    Io(u32),
    /// This timer of a task group's quota expired.
    Quota(u32, crate::engine::queue::QuotaTimer),
}

/// A walk over idle CPUs, between two of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walking {
    pub why: u32,
    pub next: u32,
    /// It is part of `schedule()`.
    pub inside: bool,
}

/// A CPU at run time. What most events look at lies together, at the beginning.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CpuState {
    pub curr: u32,
    pub class: Option<Class>,
    pub need_resched: bool,
    /// It chooses again when it next returns to user mode (`TIF_NEED_RESCHED_LAZY`).
    pub need_resched_lazy: bool,
    pub tick_stopped: bool,
    /// As the sets of CPUs say, a bit each: a fair task waits behind another one, two are runnable, none.
    pub noted: u8,
    /// It was asked to reschedule while idle.
    pub wake_resched: bool,
    pub power: Power,
    pub irq_depth: u32,
    /// Operating point whose power it draws.
    pub power_opp: u32,
    pub accounted_ns: u64,
    /// Work per ns, in units of 1 << SPEED_SHIFT at capacity 1024.
    pub speed: u64,
    pub overhead_ns: u64,
    /// End of the running task's step.
    pub segment: Moment,
    pub tick: Moment,
    /// When the timer that ends the request of a fair task expires.
    pub request_timer_ns: Option<u64>,
    /// IRQ time not yet told to the clock.
    pub irq_pending_ns: u64,
    pub idle_generation: u32,
    /// In the idle task since it last chose what to run.
    pub idle_loop: IdleLoop,
    /// Paid for the way into the coming idle state.
    pub idle_path: bool,
    /// A tick came while it was idle.
    pub tick_due: bool,
    /// The time limit of polling came while it was idle.
    pub poll_limited: bool,
    /// It looked for a task when it last ran out of them.
    pub looked: bool,
    /// A busy CPU asked it to walk over the idle ones.
    pub walk: u32,
    /// The walk over idle CPUs that it makes.
    pub walking: Option<Walking>,
    /// Until when it looks for a task before it goes idle: not yet idle for others, and deaf to interrupts.
    pub searching_until_ns: u64,
    pub idle_since_ns: u64,
    /// Times it went idle with its tick stopped.
    pub idle_calls: u64,
    /// When it found nothing to run, unless that idle time is accounted for.
    pub idle_stamp_ns: Option<u64>,
    /// When another CPU's request to reschedule arrives.
    pub reaction: Moment,
    pub energy: crate::hw::energy::CpuEnergy,
    pub fair: FairRq,
    pub sugov: SugovCpu,
    pub rq: Rq,
    pub rt: RtRq,
    pub dl: DlRq,
    /// Share of the real-time class.
    pub rt_limit: pelton_core::RtLimit,
    pub workers: Vec<u32>,
    /// Armed expiries of tasks that sleep here: (time, task).
    pub timers: Timers,
    /// Tasks that sleep here and wait for I/O (`nr_iowait`).
    pub nr_iowait: u32,
    /// What came while the CPU was idle or leaving idle.
    pub deferred: Vec<Deferred>,
    /// How long it is idle on average, and what its searches for a task cost.
    pub newidle: pelton_core::Newidle,
    pub menu: Menu,
    pub report: CpuReport,
    /// Queues of task groups below `fair`.
    pub levels: Levels,
    /// Frequency and share of the core that its speed was worked out for.
    pub speed_of: (u32, (u64, u64)),
    /// Clamps of its runnable tasks.
    pub uclamp: pelton_core::UclampRq,
    /// What they make of its utilization, where they add up.
    pub clamp_sum: pelton_core::UclampSumRq,
    /// Boosts of its runnable tasks.
    pub boost: pelton_core::BoostCpu,
    /// Its timers of the governor.
    pub timers_of: crate::freq::timers::CpuTimers,
    /// Its last sample.
    pub dbs: pelton_core::DbsCpu,
    /// Idle time in which a task of it waited for I/O, where somebody asks.
    pub iowait_ns: u64,
    /// Time of its tasks with nice above 0, where somebody asks.
    pub nice_ns: u64,
    /// Keeps its fair tasks from starving.
    pub server: crate::cpu::server::Server,
    /// What its fair task ran and was not charged yet, ns: that happens where the kernel calls `update_curr()`.
    pub uncharged_ns: u64,
    /// Up to when RT or deadline runtime was accounted (frequency hook of old profiles).
    pub runtime_accounted_ns: u64,
    pub teo: Teo,
    pub last_balance_ns: u64,
    /// An idle CPU wakes to take a task from another one.
    pub pulls: bool,
    pub last_refresh_ns: u64,
    /// Tick at which its averages were last brought up to date for others.
    pub last_blocked_ticks: u64,
}

impl CpuState {
    /// A task that sleeps here waits for I/O.
    pub(crate) fn io_begins(&mut self) {
        self.nr_iowait += 1;
    }

    /// What one of them waited for is done.
    pub(crate) fn io_ends(&mut self) {
        self.nr_iowait -= 1;
    }

    /// Tasks that sleep here and wait for I/O.
    pub(crate) fn nr_iowait(&self) -> u32 {
        self.nr_iowait
    }

    /// Its fair task ran for so long and is charged at the next `update_curr()`.
    #[inline]
    pub(crate) fn charge_later(&mut self, delta_ns: u64) {
        self.uncharged_ns += delta_ns;
    }

    /// What is to be charged now; nothing afterwards.
    #[inline]
    pub(crate) fn take_uncharged(&mut self) -> u64 {
        std::mem::take(&mut self.uncharged_ns)
    }

    /// Tasks of all classes that are queued or run: with those that sleep and whose dequeue is delayed.
    pub(crate) fn nr_running(&self) -> u32 {
        self.nr_runnable() + self.fair.nr_delayed()
    }

    /// All its tasks are idle ones: of SCHED_IDLE, or in idle groups.
    #[inline]
    pub(crate) fn is_sched_idle(&self) -> bool {
        self.fair.nr_idle_tasks() > 0 && pelton_core::sched_idle_rq(self.nr_running(), self.fair.nr_idle_tasks())
    }

    /// Runnable tasks of all classes, including the running one.
    pub(crate) fn nr_runnable(&self) -> u32 {
        let other = u32::from(matches!(self.class, Some(c) if c != Class::Fair));
        let rt = if self.rt_throttled() { 0 } else { self.rt.len() };
        self.fair.nr_runnable() + rt + self.dl.len() + self.workers.len() as u32 + other
    }

    /// Real-time tasks may not run now.
    pub(crate) fn rt_throttled(&self) -> bool {
        self.rt_limit.throttled != 0
    }

    /// RT tasks, waiting and running.
    pub(crate) fn rt_nr_running(&self) -> u32 {
        if self.rt_throttled() {
            return 0;
        }
        self.rt.len() + u32::from(self.class == Some(Class::Realtime))
    }

    /// A fair task waits behind another task.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.fair.has_waiting() && self.nr_runnable() >= 2
    }

    /// Nothing to run and nothing running.
    pub(crate) fn is_idle(&self) -> bool {
        self.curr == NO_TASK && self.nr_running() == 0
    }
}

/// A frequency domain at run time.
#[derive(Debug)]
pub(crate) struct DomainState {
    pub sugov: SugovPolicy,
    /// sched-DVFS.
    pub sd: pelton_core::SchedDvfs,
    /// Votes of its CPUs.
    pub votes: Vec<pelton_core::Vote>,
    /// A kick of the worker is under way.
    pub kick_pending: bool,
    /// ondemand and conservative.
    pub dbs: pelton_core::Dbs,
    /// interactive.
    pub interactive: pelton_core::Interactive,
    /// A sample waits for a CPU to execute.
    pub sample_deferred: bool,
    /// Which timer counts.
    pub sample_generation: u32,
    pub limits: crate::freq::limits::DomainLimits,
    /// The frequency it started with, which userspace said.
    pub told_khz: u32,
    /// Index of the current OPP.
    pub opp: u32,
    pub khz: Vec<u32>,
    /// Those that the governor knows, with marks of those that it passes over; none where the driver has no table, and
    /// it may ask for anything.
    pub governor_khz: Vec<u32>,
    /// Task index of its worker thread, if it has one.
    pub worker: Option<u32>,
    /// Frequency the worker is setting.
    pub setting_khz: u32,
    pub in_driver: bool,
    /// A kick arrived while the worker was busy.
    pub kicked: bool,
    pub since_ns: u64,
    /// What the governor's formula asked for last, when somebody watches.
    pub needed_khz: u32,
    pub report: DomainReport,
}

impl DomainState {
    /// Frequencies that the governor knows.
    pub(crate) fn governor_table(&self) -> &[u32] {
        &self.governor_khz
    }

    /// The governor and its table.
    pub(crate) fn governor(&mut self) -> (&mut SugovPolicy, &[u32]) {
        (&mut self.sugov, &self.governor_khz)
    }

    /// What the hardware is set to when `khz` is asked for: without a table the lowest operating point that suffices.
    pub(crate) fn settable_khz(&self, khz: u32) -> u32 {
        if !self.governor_khz.is_empty() {
            return khz;
        }
        self.khz.iter().copied().find(|&k| k >= khz).or(self.khz.last().copied()).unwrap_or(khz)
    }
}
