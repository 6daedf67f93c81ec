// SPDX-License-Identifier: GPL-2.0-or-later
//! From what tasks did to tasks that can be run again.
//!
//! | recorded | becomes |
//! |---|---|
//! | work between two sleeps | `RunParts`, so it takes longer on a slower CPU |
//! | time waiting for a CPU, preempted or just woken | nothing: the simulated scheduler decides it anew |
//! | sleep ended by another task | a semaphore for this pair of tasks, so the order survives any change of speed; a pipe where the waker is about to sleep |
//! | task made by another one | that one makes it |
//! | sleep ended by a timer on a grid, or by an event from outside | an absolute timer: it comes when it came, early or late for the task |
//! | pause of fixed length | a sleep of the recorded length |
//! | priority change, move to another task group | a new phase |
//! | files of task groups, where a log has them | the same groups, with what was written into them |

use std::collections::{BTreeMap, BTreeSet};

use pelton_model::workload::{
    ChannelSpec, CpuSet, Op, Phase, Process, SchedPolicy, Start, TaskSpec, TimerId, TimerMode,
};
use pelton_model::{Machine, Workload};

use super::habits::{Habit, Habits};
use super::record::{First, RecordedTask, Recording, Step};
use super::speed::WORK_SHIFT;

/// Kernel threads that belong to what is simulated: the stoppers that carry migrations out, and governor workers.
const REPLACED: [&str; 3] = ["migration/", "sugov:", "kschedfreq:"];
/// Kernel threads bound to the CPU in their name, before the number.
const PER_CPU: [&str; 5] = ["kworker/", "ksoftirqd/", "cpuhp/", "rcuc/", "watchdog/"];
/// Priority of real-time tasks in the kernel: 0 is the strongest.
const RT_PRIO_END: u32 = 100;
/// Kernel priority of nice 0.
const NICE_0_PRIO: i64 = 120;

/// A pipe that is never full.
const PIPE: ChannelSpec = ChannelSpec::Pipe { pages: 1 << 20 };

/// Placement of the bursts of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// On the CPUs that the scheduler chooses.
    #[default]
    Free,
    /// On the CPUs they were recorded on: before each burst the task goes there, which is all that programs can do.
    Itself,
    /// On the CPUs they were recorded on: a task that sleeps wakes up there.
    Asleep,
}

/// Tasks to replay, and the ways to do it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SynthesisOptions {
    /// Only tasks with these names or ids; empty = all.
    pub only: Vec<String>,
    /// Placement of bursts.
    pub pin: Pin,
    /// No governor runs: what the recorded one's threads did is replayed like the rest.
    pub frequencies_given: bool,
}

impl SynthesisOptions {
    /// Beginnings of the names of threads that the simulator has itself.
    fn replaced(&self) -> &'static [&'static str] {
        if self.frequencies_given { &REPLACED[..1] } else { &REPLACED }
    }
}

/// A workload made from a recording.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The tasks.
    pub workload: Workload,
    /// Recorded task of each task of the workload.
    pub sources: Vec<usize>,
    /// Recorded tasks that were left out because the simulator has its own.
    pub replaced: Vec<usize>,
    /// Decisions that were made where the trace leaves a choice.
    pub notes: Vec<String>,
}

struct Builder<'a> {
    recording: &'a Recording,
    habits: &'a Habits,
    machine: &'a Machine,
    options: &'a SynthesisOptions,
    /// Task of the workload by recorded task.
    sources: BTreeMap<u32, u32>,
    semaphores: BTreeMap<(u32, u32), u32>,
    /// Wake-ups so far by pair, as the waker and as the woken one see them.
    numbers: [BTreeMap<(u32, u32), u64>; 2],
    /// Pairs by pipe.
    pipes: BTreeMap<(u32, u32), u32>,
    deadline_tasks: u32,
    unpinned_tasks: u32,
}

/// Makes the workload of a recording for `machine`; `names` are the tasks' names in the recording's order.
pub fn synthesise(
    recording: &Recording,
    habits: &Habits,
    names: &[String],
    machine: &Machine,
    options: &SynthesisOptions,
) -> Synthesis {
    let is_replaced = |i: usize| options.replaced().iter().any(|prefix| names[i].starts_with(prefix));
    let wanted = |i: usize| {
        let tid = recording.tasks[i].tid.to_string();
        options.only.is_empty() || options.only.iter().any(|only| *only == names[i] || *only == tid)
    };
    let did_something = |i: usize| !recording.tasks[i].steps.is_empty();
    let all = || 0..recording.tasks.len();
    let sources: Vec<usize> = all().filter(|&i| !is_replaced(i) && wanted(i) && did_something(i)).collect();
    let mut builder = Builder {
        recording,
        habits,
        machine,
        options,
        sources: sources.iter().enumerate().map(|(task, &i)| (i as u32, task as u32)).collect(),
        semaphores: BTreeMap::new(),
        numbers: Default::default(),
        pipes: BTreeMap::new(),
        deadline_tasks: 0,
        unpinned_tasks: 0,
    };
    let unique = unique_names(&sources, names, recording);
    let tasks = sources.iter().zip(unique).map(|(&i, name)| builder.task(i, name, &names[i])).collect();
    let mut workload = Workload {
        name: "trace".to_owned(),
        tasks,
        semaphores: vec![0; builder.semaphores.len()],
        channels: vec![PIPE; builder.pipes.len()],
        duration_ns: Some(recording.to_ns.saturating_sub(recording.from_ns)),
        ..Workload::default()
    };
    recording.groups.put_into(&mut workload);
    let notes = builder.notes(names);
    Synthesis { workload, sources, replaced: all().filter(|&i| is_replaced(i)).collect(), notes }
}

/// Names that differ for all tasks: `name-tid` where several share one. A number of a task that ended may come again,
/// and a name may look like that of another with its number: those get `-2`, `-3` behind.
fn unique_names(sources: &[usize], names: &[String], recording: &Recording) -> Vec<String> {
    let mut uses = BTreeMap::<&str, u32>::new();
    for &i in sources {
        *uses.entry(&names[i]).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let mut name = |&i: &usize| {
        let own = &names[i];
        let with_tid = || format!("{own}-{}", recording.tasks[i].tid);
        let first = if uses[own.as_str()] > 1 { with_tid() } else { own.clone() };
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let free = std::iter::once(first.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(first);
        taken.insert(free.clone());
        free
    };
    sources.iter().map(&mut name).collect()
}

/// The phases of one task while they are made.
struct Phases {
    done: Vec<Phase>,
    ops: Vec<Op>,
    policy: Option<SchedPolicy>,
    cpus: Option<CpuSet>,
    taskgroup: Option<String>,
    timer_ns: u64,
    timers: u32,
    /// Last recorded scheduling policy, by the kernel's number.
    told: u32,
}

impl Phases {
    /// From a start at `timer_ns`, with the kernel's number of the policy.
    fn new(timer_ns: u64, told: u32) -> Phases {
        let (done, ops) = (Vec::new(), Vec::new());
        Phases { done, ops, policy: None, cpus: None, taskgroup: None, timer_ns, timers: 0, told }
    }

    fn close(&mut self) {
        if self.ops.is_empty() && self.cpus.is_none() && self.policy.is_none() && self.taskgroup.is_none() {
            return;
        }
        let ops = std::mem::take(&mut self.ops);
        let (policy, cpus, taskgroup) = (self.policy.take(), self.cpus.take(), self.taskgroup.take());
        self.done.push(Phase { loops: Some(1), ops, policy, cpus, taskgroup, ..Phase::default() });
    }
}

impl Phases {
    /// Goes on with the burst, or begins one.
    fn run(&mut self, work_ns: u64, rest: u16) {
        let more = work_ns.saturating_mul(1 << WORK_SHIFT).saturating_add(u64::from(rest));
        if let Some(Op::RunParts { parts }) = self.ops.last_mut() {
            *parts = parts.saturating_add(more);
        } else if more > 0 {
            self.ops.push(Op::RunParts { parts: more });
        }
    }

    /// Begins a phase with this policy, on these CPUs.
    fn begin(&mut self, policy: Option<SchedPolicy>, cpus: Option<CpuSet>) {
        if !self.ops.is_empty() {
            self.close();
        }
        self.policy = policy.or(self.policy.take());
        self.cpus = cpus.or(self.cpus.take());
    }
}

/// Sides of a wake-up.
const WAKER: usize = 0;
const WOKEN: usize = 1;

/// Object that one task waits for and another one gives.
#[derive(Clone, Copy)]
enum Dependence {
    Semaphore(u32),
    /// Its writer is about to sleep.
    Pipe(u32),
}

impl Dependence {
    fn post(self) -> Op {
        match self {
            Dependence::Semaphore(id) => Op::SemPost(id),
            Dependence::Pipe(channel) => Op::Write { channel, bytes: 1, work_ns: 0 },
        }
    }

    fn wait(self) -> Op {
        match self {
            Dependence::Semaphore(id) => Op::SemWait(id),
            Dependence::Pipe(channel) => Op::Read { channel, bytes: 1, work_ns: 0 },
        }
    }
}

impl Builder<'_> {
    fn notes(&self, names: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        let replaced: BTreeSet<&str> = names
            .iter()
            .filter(|n| self.options.replaced().iter().any(|p| n.starts_with(p)))
            .map(String::as_str)
            .collect();
        if !replaced.is_empty() {
            let list = replaced.into_iter().collect::<Vec<_>>().join(", ");
            notes.push(format!("left out, the simulator has its own: {list}"));
        }
        if self.deadline_tasks > 0 {
            notes.push(format!(
                "{} deadline tasks run as FIFO 99: a trace does not tell their budget and period",
                self.deadline_tasks
            ));
        }
        let clamped = self.sources.keys().filter(|&&i| self.recording.tasks[i as usize].clamps().is_some()).count();
        if clamped > 0 {
            notes.push(format!(
                "{clamped} tasks have utilization clamps: those that the trace told last hold throughout, where the policy has \
                 clamps"
            ));
        }
        if self.unpinned_tasks > 0 {
            notes.push(format!(
                "{} tasks may run on any CPU: {} has none of those they were bound to",
                self.unpinned_tasks, self.machine.name
            ));
        }
        notes.extend(self.recording.groups.notes());
        notes
    }

    fn task(&mut self, index: usize, name: String, comm: &str) -> TaskSpec {
        let task = &self.recording.tasks[index];
        let policy = self.policy(task.prio, task.attributes.map_or(0, |a| a.policy));
        let cpus = self.affinity(task, comm);
        let (mut start, start_ns) = self.start(task);
        let told = task.attributes.map_or(0, |a| a.policy);
        let mut phases = Phases::new(start_ns, told);
        let bound = cpus.clone().unwrap_or_else(|| CpuSet::first(self.machine.cpus.len() as u32));
        let mut steps = task.steps.as_slice();
        let mut at_cpu = None;
        // What was there before begins where it was.
        let begins_on = Some(task.first_cpu).filter(|&c| !matches!(task.first, First::Created(_)) && self.has(c));
        if let (First::Asleep, [sleep @ Step::Sleep { .. }, rest @ ..], Some(cpu)) = (task.first, steps, begins_on) {
            start = Start::Asleep { cpu };
            at_cpu = next_cpu(rest).filter(|&cpu| self.options.pin == Pin::Asleep && self.has(cpu));
            phases.ops.extend(at_cpu.map(|cpu| Op::MoveAsleep { cpu }));
            self.step(index, *sleep, &mut phases);
            steps = rest;
        } else if let Some(cpu) = begins_on {
            phases.cpus = Some(CpuSet::of([cpu]));
            phases.close();
            phases.cpus = Some(bound);
        }
        self.body(index, steps, &mut phases, at_cpu);
        if task.ended_ns.is_none() {
            // Asleep at the end of the window, or still computing: it does not end.
            phases.ops.push(Op::Sleep { ns: self.recording.to_ns.saturating_sub(self.recording.from_ns).max(1) });
        }
        phases.close();
        let own_timers = phases.timers;
        let (uclamp, phases) = (self.recording.tasks[index].clamps(), phases.done);
        let group = self.recording.tasks[index].attributes.map_or(0, |a| a.group);
        let taskgroup = self.taskgroup(group).unwrap_or_default();
        // Traces do not say whose threads they are.
        let process = Process::Own;
        TaskSpec {
            name,
            policy,
            process,
            cpus,
            start,
            phases,
            uclamp,
            loops: Some(1),
            own_timers,
            taskgroup,
            ..TaskSpec::default()
        }
    }

    /// Path of a group, where the log has groups; a task moves to the one it is in already at no cost.
    fn taskgroup(&self, group: u32) -> Option<String> {
        let groups = &self.recording.groups;
        groups.path(group).filter(|_| groups.are_told()).map(str::to_owned)
    }

    /// Start of a task: its kind and time.
    fn start(&self, task: &RecordedTask) -> (Start, u64) {
        let First::Created(at_ns) = task.first else { return (Start::After(0), 0) };
        let at_ns = at_ns.saturating_sub(self.recording.from_ns);
        if task.parent.is_some_and(|parent| self.sources.contains_key(&parent)) {
            return (Start::OnFork, at_ns);
        }
        // Not `AtStart`, which repetitions move at random: tasks keep their distances. The task that wakes it at the
        // same instant goes on first.
        let later_ns = if at_ns == 0 { 0 } else { at_ns + 1 };
        (Start::After(later_ns), later_ns)
    }

    fn body(&mut self, index: usize, steps: &[Step], phases: &mut Phases, mut at_cpu: Option<u32>) {
        for (i, step) in steps.iter().enumerate() {
            if self.options.pin != Pin::Free
                && let Some(cpu) = next_cpu(&steps[i..]).filter(|&cpu| self.has(cpu))
                && at_cpu != Some(cpu)
            {
                let asleep = self.options.pin == Pin::Asleep && matches!(step, Step::Sleep { .. });
                if asleep && at_cpu.is_some() {
                    phases.ops.push(Op::MoveAsleep { cpu });
                } else {
                    phases.close();
                    phases.cpus = Some(CpuSet::of([cpu]));
                }
                at_cpu = Some(cpu);
            }
            self.step(index, *step, phases);
            // A new phase without CPUs of its own would end what holds the task where it was recorded.
            let begins = matches!(step, Step::Priority(_) | Step::Attributes { .. });
            if begins && self.options.pin != Pin::Free && phases.cpus.is_none() {
                phases.cpus = at_cpu.map(|cpu| CpuSet::of([cpu]));
            }
        }
    }

    fn step(&mut self, index: usize, step: Step, phases: &mut Phases) {
        match step {
            Step::Run { work_ns, rest, .. } => phases.run(work_ns, rest),
            Step::Wake { task } => phases.ops.extend(self.dependence(index as u32, task, WAKER).map(Dependence::post)),
            Step::Fork { task } => phases.ops.extend(self.sources.get(&task).map(|&task| Op::Spawn { task })),
            Step::Sleep { at_ns, until_ns, by } => {
                let op = match self.dependence(by, index as u32, WOKEN) {
                    Some(dependence) => dependence.wait(),
                    None => self.pause(index, at_ns, until_ns, phases),
                };
                phases.ops.push(op);
            }
            Step::Priority(prio) => phases.begin(Some(self.policy(prio, phases.told)), None),
            Step::Attributes { prio, policy, cpus_allowed, group } => {
                phases.told = policy;
                let cpus = self.here(&told_cpus(cpus_allowed));
                phases.begin(Some(self.policy(prio, policy)), cpus.filter(|_| self.options.pin == Pin::Free));
                phases.taskgroup = self.taskgroup(group).or(phases.taskgroup.take());
            }
        }
    }

    /// A sleep that no task ends.
    fn pause(&self, index: usize, at_ns: u64, until_ns: u64, phases: &mut Phases) -> Op {
        let length_ns = until_ns.saturating_sub(at_ns).max(1);
        if matches!(self.habits.habits[index], Habit::Pause { .. }) {
            return Op::Sleep { ns: length_ns };
        }
        let target_ns = until_ns.max(at_ns + 1).saturating_sub(self.recording.from_ns).max(phases.timer_ns);
        let period_ns = target_ns - phases.timer_ns;
        phases.timer_ns = target_ns;
        phases.timers = 1;
        Op::Timer { timer: TimerId::Own(0), period_ns, mode: TimerMode::Absolute }
    }

    /// Dependence within a pair, when both are replayed.
    fn dependence(&mut self, by: u32, task: u32, seen_by: usize) -> Option<Dependence> {
        if !self.sources.contains_key(&by) || !self.sources.contains_key(&task) {
            return None;
        }
        let count = self.numbers[seen_by].entry((by, task)).or_default();
        let number = *count;
        *count += 1;
        if !self.habits.depends(by, task, number) {
            return None;
        }
        let place = self.habits.place(by, task);
        let sync = self.habits.sync.contains(&place);
        let all = if sync { &mut self.pipes } else { &mut self.semaphores };
        let next = all.len() as u32;
        let id = *all.entry(place).or_insert(next);
        Some(if sync { Dependence::Pipe(id) } else { Dependence::Semaphore(id) })
    }

    fn has(&self, cpu: u32) -> bool {
        (cpu as usize) < self.machine.cpus.len()
    }

    fn affinity(&mut self, task: &RecordedTask, comm: &str) -> Option<CpuSet> {
        let told = task.attributes.map(|a| told_cpus(a.cpus_allowed));
        let by_name = || bound_by_name(comm).map(|cpu| CpuSet::of(Some(cpu).filter(|&cpu| self.has(cpu))));
        let set = told.or_else(by_name)?;
        let here = self.here(&set)?;
        (here.len() < self.machine.cpus.len()).then_some(here)
    }

    /// Those of the CPUs that this machine has.
    fn here(&mut self, set: &CpuSet) -> Option<CpuSet> {
        let here = CpuSet::of(set.iter().filter(|&cpu| self.has(cpu)));
        self.unpinned_tasks += u32::from(here.is_empty());
        (!here.is_empty()).then_some(here)
    }

    fn policy(&mut self, prio: u32, told: u32) -> SchedPolicy {
        if prio as i32 == -1 {
            self.deadline_tasks += 1;
            return SchedPolicy::Fifo { priority: 99 };
        }
        if prio < RT_PRIO_END {
            let priority = (RT_PRIO_END - 1 - prio).clamp(1, 99) as u8;
            return if told == 2 { SchedPolicy::RoundRobin { priority } } else { SchedPolicy::Fifo { priority } };
        }
        let nice = (i64::from(prio) - NICE_0_PRIO).clamp(-20, 19) as i8;
        match told {
            3 => SchedPolicy::Batch { nice },
            5 => SchedPolicy::Idle,
            _ => SchedPolicy::Normal { nice, slice_ns: 0 },
        }
    }
}

fn told_cpus(bits: u64) -> CpuSet {
    CpuSet::of((0..u64::BITS).filter(|cpu| bits >> cpu & 1 == 1))
}

/// CPU of the next burst.
fn next_cpu(steps: &[Step]) -> Option<u32> {
    steps.iter().find_map(|s| if let Step::Run { cpu, .. } = s { Some(*cpu) } else { None })
}

/// CPU in the name of a kernel thread that is bound to it: `kworker/3:1`, `ksoftirqd/0`.
fn bound_by_name(comm: &str) -> Option<u32> {
    let rest = PER_CPU.iter().find_map(|prefix| comm.strip_prefix(prefix))?;
    rest.split([':', '-']).next()?.parse().ok()
}
