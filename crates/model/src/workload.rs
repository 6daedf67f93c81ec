// SPDX-License-Identifier: GPL-2.0-or-later
//! Work of the tasks: a small language that rt-app files, benchmark models and recorded traces are all lowered to.
//!
//! Work is given in nanoseconds at capacity 1024 (the biggest CPU at its highest frequency); a CPU at capacity `c`
//! takes `1024 / c` times as long.

use serde::Serialize;

pub use crate::cpu_set::CpuSet;
use crate::groups::{CLAMPS_DEFAULT, SHARES_DEFAULT, THROTTLE_DEFAULT};

/// Work is counted in parts: 2 to this power of them are a nanosecond at capacity 1024.
pub const PARTS_SHIFT: u32 = 16;

/// Shortest quota and period, ns (`min_cfs_quota_period`).
pub const QUOTA_NS_MIN: u64 = 1_000_000;
/// Longest quota, ns.
pub const QUOTA_NS_MAX: u64 = 1 << 44;
/// Longest period, ns (`max_cfs_quota_period`).
pub const PERIOD_NS_MAX: u64 = 1_000_000_000;
/// Period of a quota that comes without one, ns.
pub const PERIOD_NS_DEFAULT: u64 = 100_000_000;

/// All tasks and the objects they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Workload {
    /// Name, for reports.
    pub name: String,
    /// Tasks that exist at the start, and templates for `Op::Fork` (`start == Start::OnFork`).
    pub tasks: Vec<TaskSpec>,
    /// Task groups with other shares than the default; groups that tasks name need no entry.
    pub groups: Vec<GroupSpec>,
    /// Values that are written into the groups' files during the run.
    pub group_changes: Vec<GroupChange>,
    /// Boosts of groups of tasks (SchedTune), over time.
    pub boosts: Vec<BoostSpec>,
    /// Moments at which a program asks the interactive governor for a boost, ns.
    pub pulses: Vec<u64>,
    /// Limits of frequency domains, over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitChange>,
    /// Number of mutexes; `MutexId` indexes them.
    pub mutexes: u32,
    /// Mutexes use priority inheritance (rt-app `pi_enabled`).
    pub priority_inheritance: bool,
    /// Number of condition variables.
    pub conds: u32,
    /// Participants of each barrier.
    pub barriers: Vec<u32>,
    /// Initial value of each semaphore.
    pub semaphores: Vec<u32>,
    /// Pipes and sockets; `Op::Write` and the like index them.
    pub channels: Vec<ChannelSpec>,
    /// Number of lists of tasks to call.
    pub lists: u32,
    /// Number of shared timers (per-task timers are numbered in the task).
    pub shared_timers: u32,
    /// Interrupt sources that take CPU time.
    pub irqs: Vec<IrqSpec>,
    /// Devices that tasks wait for; `Op::Io` indexes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceSpec>,
    /// Length the file asks for, ns; `None` = until all tasks end or the run's own limit.
    pub duration_ns: Option<u64>,
    /// Longest idle exit latency that is tolerated, us (what a program writes to `/dev/cpu_dma_latency`); 0 allows
    /// state 0 only, `None` = no limit.
    pub cpu_dma_latency_us: Option<u32>,
    /// Names of mutexes, conds, barriers and semaphores, for messages: (kind, index, name).
    pub resource_names: Vec<(String, u32, String)>,
}

impl Workload {
    /// Some group has a quota.
    pub fn sets_quotas(&self) -> bool {
        let later = |change: &GroupChange| matches!(change.bandwidth, Some(Some(_)));
        self.groups.iter().any(|group| group.bandwidth.is_some()) || self.group_changes.iter().any(later)
    }

    /// The first group that is idle at some time.
    pub fn idle_group(&self) -> Option<&str> {
        let now = self.groups.iter().find(|group| group.idle).map(|group| &group.path);
        let later = self.group_changes.iter().find(|change| change.idle == Some(true)).map(|change| &change.path);
        now.or(later).map(String::as_str)
    }

    /// Some group counts for less than the whole of a CPU.
    pub fn limits_groups(&self) -> bool {
        let later = |change: &GroupChange| change.throttle.is_some_and(|throttle| throttle < THROTTLE_DEFAULT);
        self.groups.iter().any(|group| group.throttle < THROTTLE_DEFAULT) || self.group_changes.iter().any(later)
    }

    /// Utilization clamps are in use before anything runs, or at once: a task that is there at the
    /// start, or a group.
    pub fn starts_clamped(&self) -> bool {
        let at_once = |t: &TaskSpec| matches!(t.start, Start::AtStart | Start::After(0) | Start::Asleep { .. });
        let first = |t: &TaskSpec| t.phases.first().is_some_and(|phase| phase.uclamp.is_some());
        let of_task = |t: &TaskSpec| at_once(t) && (t.uclamp.is_some() || first(t));
        let of_group = |g: &GroupSpec| g.clamps != CLAMPS_DEFAULT;
        self.tasks.iter().any(of_task) || self.groups.iter().any(of_group)
    }

    /// Some task or group asks for utilization clamps, at some time.
    pub fn sets_clamps(&self) -> bool {
        let of_task =
            |t: &TaskSpec| t.uclamp.is_some() || t.frame_floor.is_some() || t.phases.iter().any(|p| p.uclamp.is_some());
        let of_group = |g: &GroupSpec| g.clamps != CLAMPS_DEFAULT;
        let later = |c: &GroupChange| c.clamp_min.is_some() || c.clamp_max.is_some();
        self.tasks.iter().any(of_task) || self.groups.iter().any(of_group) || self.group_changes.iter().any(later)
    }
}

/// A task group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupSpec {
    /// Path, such as `/a/b`.
    pub path: String,
    /// Shares, 2..=262144; 1024 is `cpu.weight` 100.
    pub shares: u64,
    /// Lower and upper clamp asked for, capacity 0..=1024 (`cpu.uclamp.min`, `cpu.uclamp.max`).
    pub clamps: (u32, u32),
    /// Quota (`cpu.max`, `cpu.max.burst`); `None` = no limit.
    pub bandwidth: Option<Bandwidth>,
    /// Part of each CPU that it counts for at most, 0..=1024 (`group_throttle` of Android's vendor groups).
    pub throttle: u32,
    /// True where the group is idle (`cpu.idle`): such a group has no weight of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

/// A task group changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupChange {
    /// Time of the change, ns; above 0.
    pub at_ns: u64,
    /// Path of the group.
    pub path: String,
    /// Its shares from then on; `None` = as before.
    pub shares: Option<u64>,
    /// Its quota from then on, `Some(None)` = no limit; `None` = as before.
    pub bandwidth: Option<Option<Bandwidth>>,
    /// True where the group is idle from then on; `None` = as before. An idle group loses its weight, and has the
    /// default one when it is no longer idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<bool>,
    /// Lower clamp from then on; `None` = as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp_min: Option<u32>,
    /// Upper clamp from then on; `None` = as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp_max: Option<u32>,
    /// Part of each CPU that it counts for at most from then on; `None` = as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<u32>,
}

/// Limit of the time that the tasks of a group may run in each period, on all CPUs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bandwidth {
    /// Time they may run, ns; at least 1 ms.
    pub quota_ns: u64,
    /// Length of a period, ns; 1 ms to 1 s.
    pub period_ns: u64,
    /// Unused time that may be kept for later, ns; at most the quota.
    pub burst_ns: u64,
}

impl Bandwidth {
    /// Can a group have it?
    pub fn is_in_range(&self) -> bool {
        (QUOTA_NS_MIN..=QUOTA_NS_MAX).contains(&self.quota_ns)
            && (QUOTA_NS_MIN..=PERIOD_NS_MAX).contains(&self.period_ns)
            && self.burst_ns <= self.quota_ns
    }
}

impl Default for GroupSpec {
    fn default() -> Self {
        let (shares, clamps) = (SHARES_DEFAULT, CLAMPS_DEFAULT);
        Self { path: String::new(), shares, clamps, bandwidth: None, throttle: THROTTLE_DEFAULT, idle: false }
    }
}

/// Tasks that have one boost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BoostSpec {
    /// Names of tasks, without the number of an instance, and paths of task groups, which begin with `/`; none = the
    /// root, i.e. all tasks.
    pub members: Vec<String>,
    /// From when on, ns, which boost, percent (-100..=100).
    pub boosts: Vec<(u64, i32)>,
    /// These tasks go to idle CPUs where there are any.
    pub prefer_idle: bool,
}

/// A source of limits of a frequency domain. The strictest limits of all sources hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum LimitSource {
    /// The user, who writes `scaling_min_freq` and `scaling_max_freq`.
    #[default]
    User,
    /// The kernel's cooling device of the CPUs.
    Cooling,
}

/// Number of sources of limits.
pub const LIMIT_SOURCES: usize = 2;

/// Limits of frequency domains change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitChange {
    /// Time of the change, ns.
    pub at_ns: u64,
    /// CPUs; each stands for its whole domain.
    pub cpus: CpuSet,
    /// Lower limit from then on, kHz; 0 = none.
    pub min_khz: u32,
    /// Upper limit from then on, kHz; `u32::MAX` = none.
    pub max_khz: u32,
    /// Source of the limits; they replace those that the same source asked for before.
    pub by: LimitSource,
}

/// A way for bytes from some tasks to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ChannelSpec {
    /// A pipe.
    Pipe {
        /// Room, in pages of 4096 bytes; at least 1.
        pages: u32,
    },
    /// One direction of a connected pair of unix stream sockets.
    Stream {
        /// Most that the sender's buffers are charged with before it waits, bytes; at least 4608.
        send_buffer_bytes: u32,
    },
}

impl ChannelSpec {
    /// A pipe as `pipe()` makes it.
    pub const PIPE: ChannelSpec = ChannelSpec::Pipe { pages: 16 };
    /// A socket as `socketpair()` makes it (`net.core.wmem_default`).
    pub const STREAM: ChannelSpec = ChannelSpec::Stream { send_buffer_bytes: 212_992 };
}

/// Scheduling class and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SchedPolicy {
    /// SCHED_OTHER with a nice value, -20..=19, and an optional custom slice (EEVDF), ns.
    Normal {
        /// Nice value.
        nice: i8,
        /// Custom slice, ns; 0 = default.
        slice_ns: u64,
    },
    /// SCHED_BATCH.
    Batch {
        /// Nice value.
        nice: i8,
    },
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO, priority 1..=99 (99 strongest).
    Fifo {
        /// Priority.
        priority: u8,
    },
    /// SCHED_RR, priority 1..=99.
    RoundRobin {
        /// Priority.
        priority: u8,
    },
    /// SCHED_DEADLINE, all in ns.
    Deadline {
        /// Budget per period.
        runtime_ns: u64,
        /// Relative deadline.
        deadline_ns: u64,
        /// Period.
        period_ns: u64,
    },
}

impl SchedPolicy {
    /// Is it one of those whose time governors may ignore: nice above 0?
    pub fn is_nice(self) -> bool {
        matches!(self, Self::Normal { nice, .. } | Self::Batch { nice } if nice > 0)
    }
}

impl Default for SchedPolicy {
    fn default() -> Self {
        SchedPolicy::Normal { nice: 0, slice_ns: 0 }
    }
}

/// Time at which a task starts to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Start {
    /// At this time of the run, ns.
    #[default]
    AtStart,
    /// After this delay, ns.
    After(u64),
    /// After a random delay of at most this, ns.
    Within(u64),
    /// Before the run: the task sleeps on this CPU in its first operation, which it need not run for.
    Asleep {
        /// The CPU.
        cpu: u32,
    },
    /// Only through `Op::Fork` or `Op::Spawn`.
    OnFork,
}

/// The process that a task is a thread of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Process {
    /// The one of this number, with all others that say so.
    Shared(u32),
    /// One of its own, and so is each task made from it.
    Own,
}

impl Default for Process {
    fn default() -> Self {
        Process::Shared(0)
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Process {
    /// Threads of one program are of one process.
    fn is_default(&self) -> bool {
        *self == Process::default()
    }
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskSpec {
    /// Thread name (`comm`).
    pub name: String,
    /// Scheduling policy.
    pub policy: SchedPolicy,
    /// Allowed CPUs; `None` = all.
    pub cpus: Option<CpuSet>,
    /// Time at which the task starts.
    pub start: Start,
    /// Phases, executed in order.
    pub phases: Vec<Phase>,
    /// Number of times that all phases are executed; `None` = for ever.
    pub loops: Option<u64>,
    /// Number of the first phases that come once, before the first round, and belong to no activation.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_phases: u32,
    /// Clamps at the start: (min, max), 0..=1024.
    pub uclamp: Option<(u32, u32)>,
    /// Its process.
    #[serde(skip_serializing_if = "Process::is_default")]
    pub process: Process,
    /// Path of its task group, such as `/a/b`; empty = root. It holds while the task is in the fair class.
    pub taskgroup: String,
    /// Per-task timers used (`TimerId::Own`).
    pub own_timers: u32,
    /// Time by which its timers expire later than asked (`PR_SET_TIMERSLACK` without another timer to share an
    /// interrupt with), ns.
    pub timer_slack_ns: u64,
    /// Capacity of the CPU on which its run times were measured; 0 = 1024. For what the program itself counts in them.
    pub run_capacity: u32,
    /// Its activations are frames that shall take at most this, ns; 0 = they are none.
    pub frame_ns: u64,
    /// Effect of its late frames on clamps; `None` = none.
    pub frame_floor: Option<FrameFloor>,
    /// Runs beside what is measured: a run ends when all other tasks have ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

/// Feedback of a user interface: behind a late frame its tasks have a higher lower clamp for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrameFloor {
    /// Lower clamp behind a late frame, 0..=1024.
    pub min: u32,
    /// Frames in time until it goes away.
    pub frames: u32,
    /// Number of the tasks listed right behind this one that have it, too.
    pub following: u32,
}

impl TaskSpec {
    /// All policies it ever has.
    pub fn policies(&self) -> impl Iterator<Item = SchedPolicy> + '_ {
        std::iter::once(self.policy).chain(self.phases.iter().filter_map(|p| p.policy))
    }

    /// Work that the task has done when it ends, ns at capacity 1024; `None` when it never ends or its work is not
    /// fixed.
    pub fn work_ns(&self) -> Option<u64> {
        let op = |op: &Op| match *op {
            Op::Run { work_ns } => Some(work_ns),
            Op::RunParts { parts } => Some(parts >> PARTS_SHIFT),
            // Enough when every message is read by one call.
            Op::Write { work_ns, .. } | Op::Read { work_ns, .. } => Some(work_ns),
            Op::Runtime { .. } | Op::Spin { .. } => None,
            _ => Some(0),
        };
        let phase = |p: &Phase| Some(p.loops?.max(1) * p.ops.iter().map(op).sum::<Option<u64>>()?);
        let all = |phases: &[Phase]| phases.iter().map(phase).sum::<Option<u64>>();
        let (first, round) = self.phases.split_at(self.phases.len().min(self.first_phases as usize));
        Some(all(first)? + self.loops?.max(1) * all(round)?)
    }

    /// Run time that is configured for each activation of one round through the task's phases, ns at capacity 1024.
    pub fn configured_ns(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for phase in &self.phases {
            // A phase without end is the last; its rounds are alike.
            let rounds = phase.loops.unwrap_or(1).min(ROUNDS_MAX) as usize;
            all.extend(std::iter::repeat_n(phase.configured_ns(), rounds).flatten());
            if phase.loops.is_none() {
                break;
            }
        }
        all
    }
}

/// Largest number of rounds of one phase that are distinguished; a log of that length is longer than any run.
const ROUNDS_MAX: u64 = 1_000_000;

impl Phase {
    /// Run time of each activation of a round.
    fn configured_ns(&self) -> Vec<u64> {
        let (mut work_ns, mut ended) = (0u64, false);
        let mut of_round = Vec::new();
        for op in &self.ops {
            match *op {
                Op::Run { work_ns: more } => work_ns = work_ns.saturating_add(more),
                Op::Timer { .. } | Op::EndActivation => {
                    of_round.push(std::mem::take(&mut work_ns));
                    ended = true;
                }
                _ => {}
            }
        }
        if !ended && !self.silent {
            of_round.push(work_ns);
        }
        of_round
    }
}

/// A part of a task: operations repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phase {
    /// Name.
    pub name: String,
    /// Repetitions; `None` = for ever.
    pub loops: Option<u64>,
    /// Operations in order.
    pub ops: Vec<Op>,
    /// Affinity set when the phase starts.
    pub cpus: Option<CpuSet>,
    /// Policy set when the phase starts.
    pub policy: Option<SchedPolicy>,
    /// Clamps set when the phase starts.
    pub uclamp: Option<(u32, u32)>,
    /// Task group joined when the phase starts; empty = root.
    pub taskgroup: Option<String>,
    /// A round is no activation unless an operation says so.
    pub silent: bool,
}

/// A timer: absolute grid shared by name, or private to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TimerId {
    /// Index into the task's own timers.
    Own(u32),
    /// Index into the workload's shared timers.
    Shared(u32),
}

/// Behaviour of a timer that is already late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum TimerMode {
    /// A missed expiry restarts the grid from now (rt-app "relative", its default).
    #[default]
    Relative,
    /// The grid never moves (rt-app "absolute").
    Absolute,
    /// The grid never moves, and expiries that have passed are left out (cyclictest).
    Skip,
}

/// One step of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Op {
    /// Compute: ns of work at capacity 1024.
    Run {
        /// Work.
        work_ns: u64,
    },
    /// Compute: work in 65536ths of a nanosecond at capacity 1024. The engine counts in them, so what a run did comes
    /// back to the nanosecond.
    RunParts {
        /// Work.
        parts: u64,
    },
    /// Busy until this time has gone by since it began, time in which others ran included (rt-app's `runtime`).
    Spin {
        /// Time of the clock.
        wall_ns: u64,
    },
    /// Busy for this time of a CPU, at any speed.
    Runtime {
        /// Wall time.
        wall_ns: u64,
    },
    /// Sleep.
    Sleep {
        /// Time.
        ns: u64,
    },
    /// Wait for the timer's next expiry.
    Timer {
        /// Timer.
        timer: TimerId,
        /// Period, ns.
        period_ns: u64,
        /// Behaviour when late.
        mode: TimerMode,
    },
    /// Take a mutex.
    Lock(u32),
    /// Release a mutex.
    Unlock(u32),
    /// Wait on a condition, releasing the mutex meanwhile.
    Wait {
        /// Condition.
        cond: u32,
        /// Mutex.
        mutex: u32,
    },
    /// Wake one waiter of a condition.
    Signal(u32),
    /// Wake all waiters of a condition.
    Broadcast(u32),
    /// Signal a condition and wait on it (rt-app `sync`).
    Sync {
        /// Condition.
        cond: u32,
        /// Mutex.
        mutex: u32,
    },
    /// Wait until a task resumes this queue (a condition without memory).
    Suspend(u32),
    /// Wake all tasks suspended on this queue.
    Resume(u32),
    /// Wait until all participants arrived.
    Barrier(u32),
    /// Give up the CPU once.
    Yield,
    /// Create a task from template `task` of the workload.
    Fork {
        /// Index into `Workload::tasks`.
        task: u32,
    },
    /// Create task `task` of the workload itself, which waits for that ([`Start::OnFork`]); a second time does nothing.
    Spawn {
        /// Index into `Workload::tasks`.
        task: u32,
    },
    /// Load another program: a fair task is placed anew and goes there at once (`sched_exec()`). Other classes stay.
    Exec,
    /// From the next wake-up on, run on this CPU only: another task moves it while it sleeps.
    MoveAsleep {
        /// The other CPU.
        cpu: u32,
    },
    /// Increase a semaphore.
    SemPost(u32),
    /// Decrease a semaphore, waiting while it is zero.
    SemWait(u32),
    /// Ends one activation without a timer (for logs and statistics).
    EndActivation,
    /// Write bytes into a channel, waiting for room.
    Write {
        /// Index into `Workload::channels`.
        channel: u32,
        /// Number of bytes.
        bytes: u32,
        /// Work of the call: entry, copy, exit.
        work_ns: u64,
    },
    /// Read bytes from a channel until this many have come, with as many calls as that takes.
    Read {
        /// Index into `Workload::channels`.
        channel: u32,
        /// Number of bytes.
        bytes: u32,
        /// Work of each call: entry, copy, exit.
        work_ns: u64,
    },
    /// Wait until a channel has something to read, and leave it there.
    Poll {
        /// Index into `Workload::channels`.
        channel: u32,
    },
    /// Reads the task's stopwatch and starts it again: a lap with this many operations; 0 = only starts it.
    Lap {
        /// Operations that a benchmark counts in this lap.
        ops: u64,
    },
    /// Counts finished records of a benchmark.
    Records(u64),
    /// Takes the time since the timer's last expiry: how late the task runs after the moment it asked for.
    TimerLatency(TimerId),
    /// Make a semaphore forget what was posted.
    SemDrain(u32),
    /// Put oneself on a list of tasks that another task will call. The operation that waits for the call comes later.
    Enlist(u32),
    /// Wait until the call has come, and take the time since: from before the first of the list was woken.
    AwaitCall,
    /// Call all tasks on a list, the latest first, and empty it.
    CallAll(u32),
    /// Ask a device and wait for it (`io_schedule()`): its interrupt comes to the CPU that asked.
    Io {
        /// Index into `Workload::devices`.
        device: u32,
    },
    /// Sleep of random length, uniform in `min_ns..=max_ns` (phases of periodic tasks between runs).
    SleepUniform {
        /// Least time.
        min_ns: u64,
        /// Most time.
        max_ns: u64,
    },
}

/// A device that tasks wait for, such as a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceSpec {
    /// Time that a request takes, ns.
    pub service_ns: u64,
    /// Random part of it besides, uniform in `0..=jitter_ns`.
    pub jitter_ns: u64,
    /// Requests that it works on at the same time, at least 1; others wait in the order in which they came.
    pub depth: u32,
    /// Wall-clock time of the handler of its interrupt, ns.
    pub irq_ns: u64,
}

/// Periodic interrupts that take time on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IrqSpec {
    /// CPU.
    pub cpu: u32,
    /// Time between interrupts, ns.
    pub period_ns: u64,
    /// Wall-clock time of the handler, ns.
    pub duration_ns: u64,
    /// Random part of each interval, uniform in `0..=jitter_ns`.
    pub jitter_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_run_times_follow_the_phases() {
        let timer = Op::Timer { timer: TimerId::Own(0), period_ns: 2_000_000, mode: TimerMode::Relative };
        let timed = Phase { ops: vec![Op::Run { work_ns: 100 }, timer], loops: Some(2), ..Phase::default() };
        let plain = Phase { ops: vec![Op::Run { work_ns: 7 }, Op::Sleep { ns: 5 }], ..Phase::default() };
        let spec = TaskSpec { name: "t-0".into(), phases: vec![timed, plain], ..TaskSpec::default() };
        assert_eq!(spec.configured_ns(), [100, 100, 7]);
    }
}
