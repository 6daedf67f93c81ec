// SPDX-License-Identifier: GPL-2.0-or-later
//! Steps of every task from the events: how much work between sleeps, when each sleep ended, and by which task.

use std::collections::BTreeMap;

use pelton_model::{GivenFrequency, Machine};

use super::groups::Groups;
use super::speed::{Speeds, WORK_SHIFT};
use super::totals::CPUS_MAX;

/// Most steps of all tasks together: 24 bytes each, about 200 MB.
pub const STEPS_MAX: usize = 8 << 20;
/// Most tasks.
pub const TASKS_MAX: usize = 1 << 20;

/// No task: woken by an interrupt, or the waker is not known.
pub const NOBODY: u32 = u32::MAX;

/// One step of a recorded task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Computed on one CPU: ns of work at capacity 1024.
    Run {
        /// Work.
        work_ns: u64,
        /// Remainder, in 65536ths of a nanosecond: a burst may have several parts.
        rest: u16,
        /// CPU on which it ran.
        cpu: u32,
    },
    /// Woke a task, which slept.
    Wake {
        /// Index of the task.
        task: u32,
    },
    /// Made a task.
    Fork {
        /// Index of the task.
        task: u32,
    },
    /// Slept.
    Sleep {
        /// Since when.
        at_ns: u64,
        /// Until the cause of the wake-up: the interrupt or timer, or the waker's action.
        until_ns: u64,
        /// Index of the task that ended it, or [`NOBODY`].
        by: u32,
    },
    /// Its kernel priority became this.
    Priority(u32),
    /// Change of its CPUs or of its policy.
    Attributes {
        /// Kernel priority.
        prio: u32,
        /// Kernel scheduling policy.
        policy: u32,
        /// Allowed CPUs 0..63 as bits.
        cpus_allowed: u64,
        /// Number of its task group, 0 = root.
        group: u32,
    },
}

/// State in which a task is met for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Runnable when the window began.
    Runnable,
    /// Asleep when the window began.
    Asleep,
    /// Created at this time, ns.
    Created(u64),
}

/// Record of one task in the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTask {
    /// Task id in the trace.
    pub tid: u32,
    /// State at its beginning.
    pub first: First,
    /// Index of the task that made it, when that one's steps say so.
    pub parent: Option<u32>,
    /// CPU it is first seen on.
    pub first_cpu: u32,
    /// Kernel priority at the beginning.
    pub prio: u32,
    /// Steps that it made.
    pub steps: Vec<Step>,
    /// Time at which it ended, if it did.
    pub ended_ns: Option<u64>,
    /// Attributes at the beginning, when the recorder had them.
    pub attributes: Option<Attributes>,
    /// Last published clamps.
    pub uclamp: Option<(u32, u32)>,
    /// CPUs it was seen running on, 0..63 as bits.
    pub seen_cpus: u64,
    /// Time it ran.
    pub run_ns: u64,
    /// CPU it runs or last ran on.
    pub(super) cpu: u32,
    pub(super) state: State,
    pub(super) work: u64,
    /// Costs of the scheduler's paths within what it will run next: a replay pays them anew.
    pub(super) costs: u64,
    pub(super) prio_now: u32,
    pub(super) attributes_now: Option<Attributes>,
    /// Waker and its CPU, far from where the task was, while the task's own CPU is not recorded yet.
    pub(super) woken_far: Option<(u32, u32)>,
}

/// CPUs of tasks that were woken by a task of another cache group while their own CPU was idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulls {
    /// To the waker's group.
    pub pulled: u64,
    /// Not there.
    pub stayed: u64,
}

impl RecordedTask {
    /// Last recorded clamps of the task; `None` when none were recorded that bind.
    pub fn clamps(&self) -> Option<(u32, u32)> {
        let mut told = self.attributes.map(|a| a.uclamp).into_iter().chain(self.uclamp);
        let bound = told.find(|&(min, max)| min > 0 || (1..1024).contains(&max))?;
        Some((bound.0.min(1024), if bound.1 == 0 { 1024 } else { bound.1.min(1024) }))
    }

    /// True when nothing is known of it but that it exists.
    pub(super) fn is_unseen(&self) -> bool {
        self.first == First::Asleep && self.steps.is_empty() && self.run_ns == 0
    }

    /// True when it has been made and did nothing yet.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.first, First::Created(_)) && self.steps.is_empty() && self.run_ns == 0
    }
}

/// Attributes of a task as the recorder has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Kernel scheduling policy.
    pub policy: u32,
    /// Allowed CPUs 0..63 as bits.
    pub cpus_allowed: u64,
    /// Requested clamps.
    pub uclamp: (u32, u32),
    /// Number of its task group, 0 = root.
    pub group: u32,
}

/// State of a task while events go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Events were lost.
    Unknown,
    Running {
        since_ns: u64,
    },
    /// Woken, or known to want the CPU.
    Runnable,
    /// Left the CPU without going to sleep, as far as the trace says.
    Preempted {
        at_ns: u64,
    },
    Asleep {
        at_ns: u64,
    },
    Dead,
}

/// Gaps of a trace and how each was treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Switches whose outgoing task was not the one believed to run.
    pub mismatched_switches: u64,
    /// Running time that was dropped because of them, ns.
    pub dropped_ns: u64,
    /// Sleeps whose end is the switch back, because no wake-up was recorded.
    pub unseen_wakeups: u64,
    /// Places where the recorder lost events.
    pub losses: u64,
    /// Running time before the first frequency event of its CPU (or without a platform), ns.
    pub assumed_speed_ns: u64,
    /// Running time in all.
    pub run_ns: u64,
}

/// Collects what every task did.
#[derive(Debug)]
pub struct Recorder {
    pub(super) speeds: Speeds,
    pub(super) from_ns: u64,
    pub(super) begun: bool,
    pub(super) now_ns: u64,
    pub(super) tasks: Vec<RecordedTask>,
    pub(super) by_tid: BTreeMap<u32, u32>,
    /// Task on each CPU: index, [`NOBODY`] = idle, `None` = not known.
    pub(super) current: Vec<Option<u32>>,
    pub(super) irq_depth: Vec<u32>,
    pub(super) busy_ns: Vec<u64>,
    pub(super) gaps: Gaps,
    pub(super) steps: usize,
    pub(super) steps_max: usize,
    pub(super) prev_state_known: bool,
    /// Frequency of each CPU when the window began or first known.
    pub(super) initial_khz: BTreeMap<u32, u32>,
    /// Wake-ups by (waker, woken).
    pub(super) pulls: BTreeMap<(u32, u32), Pulls>,
    /// Frequencies by domain of the machine: since when, kHz.
    pub(super) frequencies: Vec<Vec<(u64, u32)>>,
    pub(super) groups: Groups,
}

/// A recorder's result.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Begin of the window, trace time.
    pub from_ns: u64,
    /// End of the window.
    pub to_ns: u64,
    /// Tasks in order of first appearance.
    pub tasks: Vec<RecordedTask>,
    /// Gaps of the trace.
    pub gaps: Gaps,
    /// First known frequency of each CPU, kHz.
    pub initial_khz: BTreeMap<u32, u32>,
    /// Frequency of each domain of the machine: since when (ns since the window's begin), kHz. The first entry is that
    /// of the begin; where it is not known, the highest, which the work before the first event is counted with.
    pub frequencies: Vec<Vec<(u64, u32)>>,
    /// CPUs to which tasks went that were woken from afar, by (waker, woken).
    pub pulls: BTreeMap<(u32, u32), Pulls>,
    /// Time each CPU ran tasks.
    pub busy_ns: Vec<u64>,
    /// Task groups, where the log has them.
    pub groups: Groups,
    /// More steps than fit: everything after this time is missing.
    pub overflow_at_ns: Option<u64>,
}

impl Recording {
    /// The recorded frequencies as something to be given to a run on the recorded machine.
    pub fn given_frequencies(&self) -> Vec<Vec<GivenFrequency>> {
        let given = |&(at_ns, khz): &(u64, u32)| GivenFrequency { at_ns, khz };
        self.frequencies.iter().map(|domain| domain.iter().map(given).collect()).collect()
    }

    /// Share of the window that the busiest CPU ran tasks.
    pub fn busy_share(&self) -> f64 {
        let most = self.busy_ns.iter().copied().max().unwrap_or(0);
        most as f64 / self.to_ns.saturating_sub(self.from_ns).max(1) as f64
    }
}

impl Recorder {
    /// For a trace recorded on `machine`; steps before `from_ns` are followed but not kept.
    pub fn new(machine: Option<&Machine>, from_ns: u64) -> Recorder {
        Recorder {
            speeds: Speeds::new(machine),
            from_ns,
            begun: false,
            now_ns: from_ns,
            tasks: Vec::new(),
            by_tid: BTreeMap::new(),
            current: Vec::new(),
            irq_depth: Vec::new(),
            busy_ns: Vec::new(),
            gaps: Gaps::default(),
            steps: 0,
            steps_max: STEPS_MAX,
            prev_state_known: true,
            initial_khz: BTreeMap::new(),
            pulls: BTreeMap::new(),
            frequencies: Vec::new(),
            groups: Groups::default(),
        }
    }

    /// Keeps at most this many steps.
    #[must_use]
    pub fn with_steps_max(mut self, steps_max: usize) -> Recorder {
        self.steps_max = steps_max;
        self
    }

    /// Says that `prev_state` of a switch means nothing in this trace.
    pub fn without_prev_state(&mut self) {
        self.prev_state_known = false;
    }

    /// The paths of task groups by the numbers in events.
    pub fn name_groups(&mut self, paths: &[String]) {
        self.groups.name(paths);
    }

    /// True when no further step can be kept.
    pub fn is_full(&self) -> bool {
        self.steps >= self.steps_max || self.tasks.len() >= TASKS_MAX
    }

    /// The recording, which ends at `to_ns`.
    pub fn finish(mut self, to_ns: u64) -> Recording {
        if !self.begun {
            self.begin();
        }
        let full = self.is_full();
        for index in 0..self.tasks.len() {
            self.charge(index, to_ns);
            self.flush(index);
        }
        let overflow_at_ns = full.then_some(self.now_ns);
        Recording {
            from_ns: self.from_ns,
            to_ns,
            tasks: self.tasks,
            gaps: self.gaps,
            initial_khz: self.initial_khz,
            frequencies: self.frequencies,
            pulls: self.pulls,
            busy_ns: self.busy_ns,
            groups: self.groups,
            overflow_at_ns,
        }
    }

    /// The window begins: what tasks did before is forgotten, in which state they are is not.
    pub(super) fn begin(&mut self) {
        self.begun = true;
        let from_ns = self.from_ns;
        self.tasks.retain(|t| t.state != State::Dead);
        self.by_tid = self.tasks.iter().enumerate().map(|(i, t)| (t.tid, i as u32)).collect();
        for task in &mut self.tasks {
            (task.work, task.costs, task.run_ns, task.seen_cpus) = (0, 0, 0, 0);
            task.steps.clear();
            (task.parent, task.woken_far) = (None, None);
            (task.prio, task.first_cpu) = (task.prio_now, task.cpu);
            task.attributes = task.attributes_now;
            task.first = First::Runnable;
            match &mut task.state {
                State::Running { since_ns } => *since_ns = from_ns,
                State::Preempted { at_ns } => *at_ns = from_ns,
                State::Asleep { at_ns } => {
                    *at_ns = from_ns;
                    task.first = First::Asleep;
                }
                _ => {}
            }
        }
        for current in self.current.iter_mut().filter(|c| c.is_some_and(|index| index != NOBODY)) {
            *current = None;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            if let (State::Running { .. }, Some(current)) = (task.state, self.current.get_mut(task.cpu as usize)) {
                *current = Some(index as u32);
            }
        }
        self.busy_ns.fill(0);
        self.groups.begin();
        self.pulls.clear();
        self.frequencies = self.speeds.domain_khz().map(|khz| vec![(0, khz)]).collect();
        (self.gaps, self.steps) = (Gaps::default(), 0);
        let cpus = self.current.len().max(self.initial_khz.len()) as u32;
        self.initial_khz = (0..cpus).map(|c| (c, self.speeds.khz(c))).filter(|&(_, khz)| khz != 0).collect();
    }

    /// Adds what a task did since it was last looked at.
    pub(super) fn charge(&mut self, index: usize, now_ns: u64) {
        let task = &mut self.tasks[index];
        let State::Running { since_ns } = &mut task.state else { return };
        let ns = now_ns.saturating_sub(*since_ns);
        *since_ns = now_ns;
        let assumed = self.speeds.is_assumed(task.cpu);
        let done = ns.saturating_mul(self.speeds.speed(task.cpu));
        let paths = task.costs.min(done);
        task.costs -= paths;
        task.work = task.work.saturating_add(done - paths);
        task.run_ns = task.run_ns.saturating_add(ns);
        task.seen_cpus |= 1u64.checked_shl(task.cpu).unwrap_or(0);
        // A damaged trace may have thousands of tasks run at once.
        self.gaps.run_ns = self.gaps.run_ns.saturating_add(ns);
        if let Some(busy_ns) = self.busy_ns.get_mut(task.cpu as usize) {
            *busy_ns = busy_ns.saturating_add(ns);
        }
        self.gaps.assumed_speed_ns = self.gaps.assumed_speed_ns.saturating_add(if assumed { ns } else { 0 });
    }

    /// A path of the scheduler takes this much work of the task that runs.
    pub(super) fn pays(&mut self, index: usize, cost_ns: u64) {
        let costs = &mut self.tasks[index].costs;
        *costs = costs.saturating_add(cost_ns.saturating_mul(1 << WORK_SHIFT));
    }

    /// Writes the work done so far down.
    pub(super) fn flush(&mut self, index: usize) {
        let task = &mut self.tasks[index];
        let work = std::mem::take(&mut task.work);
        if work == 0 {
            return;
        }
        let (work_ns, rest) = (work >> WORK_SHIFT, work as u16);
        self.push(index, Step::Run { work_ns, rest, cpu: self.tasks[index].cpu });
    }

    pub(super) fn push(&mut self, index: usize, step: Step) {
        if self.steps < self.steps_max {
            self.steps += 1;
            self.tasks[index].steps.push(step);
        }
    }

    pub(super) fn slot(&mut self, cpu: u32) -> Option<usize> {
        if cpu >= CPUS_MAX {
            return None;
        }
        let index = cpu as usize;
        if index >= self.current.len() {
            self.current.resize(index + 1, None);
            self.irq_depth.resize(index + 1, 0);
            self.busy_ns.resize(index + 1, 0);
        }
        Some(index)
    }
}
