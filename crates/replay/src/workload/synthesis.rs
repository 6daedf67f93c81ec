// SPDX-License-Identifier: GPL-2.0-only
//! From what tasks did to tasks that can be run again.
//!
//! | recorded | becomes |
//! |---|---|
//! | work between two sleeps | `Run`, so it takes longer on a slower CPU |
//! | time waiting for a CPU, preempted or just woken | nothing: the simulated scheduler decides it anew |
//! | sleep ended by another task | a semaphore for this pair of tasks, so the order survives any change of speed |
//! | sleep ended by a timer on a grid, or by an event from outside | an absolute timer: it comes when it came, early or late for the task |
//! | pause of fixed length | a sleep of the recorded length |
//! | priority change | a new phase |

use std::collections::{BTreeMap, BTreeSet};

use pelton_sim::workload::{CpuSet, Op, Phase, SchedPolicy, Start, TaskSpec, TimerId, TimerMode};
use pelton_sim::{Machine, Workload};

use super::habits::{Habit, Habits};
use super::record::{First, RecordedTask, Recording, Step};
use super::speed::WORK_SHIFT;

/// Kernel threads that belong to what is simulated: governor workers, and the stoppers that carry migrations out.
const REPLACED: [&str; 3] = ["sugov:", "kschedfreq:", "migration/"];
/// Kernel threads bound to the CPU in their name, before the number.
const PER_CPU: [&str; 5] = ["kworker/", "ksoftirqd/", "cpuhp/", "rcuc/", "watchdog/"];
/// Priority of real-time tasks in the kernel: 0 is the strongest.
const RT_PRIO_END: u32 = 100;
/// Kernel priority of nice 0.
const NICE_0_PRIO: i64 = 120;

/// What is replayed and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SynthesisOptions {
    /// Only tasks with these names or ids; empty = all.
    pub only: Vec<String>,
    /// Every burst on the CPU it was recorded on.
    pub pin: bool,
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
    /// What was decided where the trace leaves a choice.
    pub notes: Vec<String>,
}

struct Builder<'a> {
    recording: &'a Recording,
    habits: &'a Habits,
    machine: &'a Machine,
    options: &'a SynthesisOptions,
    kept: BTreeSet<u32>,
    semaphores: BTreeMap<(u32, u32), u32>,
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
    let is_replaced = |i: usize| REPLACED.iter().any(|prefix| names[i].starts_with(prefix));
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
        kept: sources.iter().map(|&i| i as u32).collect(),
        semaphores: BTreeMap::new(),
        deadline_tasks: 0,
        unpinned_tasks: 0,
    };
    let unique = unique_names(&sources, names, recording);
    let tasks = sources.iter().zip(unique).map(|(&i, name)| builder.task(i, name, &names[i])).collect();
    let workload = Workload {
        name: "trace".to_owned(),
        tasks,
        semaphores: vec![0; builder.semaphores.len()],
        duration_ns: Some(recording.to_ns.saturating_sub(recording.from_ns)),
        ..Workload::default()
    };
    let notes = builder.notes(names);
    Synthesis { workload, sources, replaced: all().filter(|&i| is_replaced(i)).collect(), notes }
}

/// Names that tell tasks apart: `name-tid` where several share one.
fn unique_names(sources: &[usize], names: &[String], recording: &Recording) -> Vec<String> {
    let mut uses = BTreeMap::<&str, u32>::new();
    for &i in sources {
        *uses.entry(&names[i]).or_default() += 1;
    }
    let name = |&i: &usize| {
        if uses[names[i].as_str()] > 1 { format!("{}-{}", names[i], recording.tasks[i].tid) } else { names[i].clone() }
    };
    sources.iter().map(name).collect()
}

/// The phases of one task while they are made.
struct Phases {
    done: Vec<Phase>,
    ops: Vec<Op>,
    policy: Option<SchedPolicy>,
    cpus: Option<CpuSet>,
    timer_ns: u64,
    timers: u32,
    /// Kernel scheduling policy that was told last.
    told: u32,
    /// Left over of the burst that is being put together.
    rest: u32,
}

impl Phases {
    fn close(&mut self) {
        if self.ops.is_empty() && self.cpus.is_none() && self.policy.is_none() {
            return;
        }
        let ops = std::mem::take(&mut self.ops);
        let (policy, cpus) = (self.policy.take(), self.cpus.take());
        self.done.push(Phase { loops: Some(1), ops, policy, cpus, ..Phase::default() });
    }
}

impl Phases {
    /// Goes on with the burst, or begins one.
    fn run(&mut self, work_ns: u64, rest: u16) {
        if let Some(Op::Run { work_ns: before }) = self.ops.last_mut() {
            self.rest += u32::from(rest);
            *before = before.saturating_add(work_ns).saturating_add(u64::from(self.rest >> WORK_SHIFT));
            self.rest &= (1 << WORK_SHIFT) - 1;
        } else if work_ns > 0 {
            self.rest = u32::from(rest);
            self.ops.push(Op::Run { work_ns });
        }
    }

    /// What follows has this policy, and may run on these CPUs.
    fn begin(&mut self, policy: Option<SchedPolicy>, cpus: Option<CpuSet>) {
        if !self.ops.is_empty() {
            self.close();
        }
        self.policy = policy.or(self.policy.take());
        self.cpus = cpus.or(self.cpus.take());
    }
}

impl Builder<'_> {
    fn notes(&self, names: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        let replaced: BTreeSet<&str> =
            names.iter().filter(|n| REPLACED.iter().any(|p| n.starts_with(p))).map(String::as_str).collect();
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
        let clamped = self.kept.iter().filter(|&&i| self.recording.tasks[i as usize].is_clamped()).count();
        if clamped > 0 {
            notes
                .push(format!("{clamped} tasks have utilization clamps, which the simulator does not model: left out"));
        }
        if self.unpinned_tasks > 0 {
            notes.push(format!(
                "{} tasks may run on any CPU: {} has none of those they were bound to",
                self.unpinned_tasks, self.machine.name
            ));
        }
        notes
    }

    fn task(&mut self, index: usize, name: String, comm: &str) -> TaskSpec {
        let task = &self.recording.tasks[index];
        let policy = self.policy(task.prio, task.attributes.map_or(0, |a| a.policy));
        let cpus = self.affinity(task, comm);
        let start_ns = match task.first {
            // Its creator goes on first: what that one does at the same instant is done when the new task is placed.
            First::Created(at_ns) => match at_ns.saturating_sub(self.recording.from_ns) {
                0 => 0,
                later_ns => later_ns + 1,
            },
            First::Runnable | First::Asleep => 0,
        };
        let told = task.attributes.map_or(0, |a| a.policy);
        let mut phases = Phases {
            done: Vec::new(),
            ops: Vec::new(),
            policy: None,
            cpus: None,
            timer_ns: start_ns,
            timers: 0,
            told,
            rest: 0,
        };
        let bound = cpus.clone().unwrap_or_else(|| CpuSet::first(self.machine.cpus.len() as u32));
        let mut steps = task.steps.as_slice();
        if !matches!(task.first, First::Created(_)) && self.has(task.first_cpu) {
            // What was there before begins where it was.
            phases.cpus = Some(CpuSet::of([task.first_cpu]));
            if let (First::Asleep, [sleep @ Step::Sleep { .. }, rest @ ..]) = (task.first, steps) {
                self.step(index, *sleep, &mut phases);
                steps = rest;
            }
            phases.close();
            phases.cpus = Some(bound);
        }
        self.body(index, steps, &mut phases);
        if task.ended_ns.is_none() {
            // Asleep at the end of the window, or still computing: it does not end.
            phases.ops.push(Op::Sleep { ns: self.recording.to_ns.saturating_sub(self.recording.from_ns).max(1) });
        }
        phases.close();
        // Not `AtStart`, which repetitions move at random: tasks keep their distances.
        let start = Start::After(start_ns);
        let own_timers = phases.timers;
        TaskSpec { name, policy, cpus, start, phases: phases.done, loops: Some(1), own_timers, ..TaskSpec::default() }
    }

    fn body(&mut self, index: usize, steps: &[Step], phases: &mut Phases) {
        let mut at_cpu = None;
        for (i, step) in steps.iter().enumerate() {
            if self.options.pin
                && let Some(cpu) = next_cpu(&steps[i..]).filter(|&cpu| self.has(cpu))
                && at_cpu != Some(cpu)
            {
                phases.close();
                phases.cpus = Some(CpuSet::of([cpu]));
                at_cpu = Some(cpu);
            }
            self.step(index, *step, phases);
        }
    }

    fn step(&mut self, index: usize, step: Step, phases: &mut Phases) {
        match step {
            Step::Run { work_ns, rest, .. } => phases.run(work_ns, rest),
            Step::Wake { task } => {
                if let Some(semaphore) = self.semaphore(index as u32, task) {
                    phases.ops.push(Op::SemPost(semaphore));
                }
            }
            Step::Sleep { at_ns, until_ns, by } => {
                let op = match self.semaphore(by, index as u32) {
                    Some(semaphore) => Op::SemWait(semaphore),
                    None => self.pause(index, at_ns, until_ns, phases),
                };
                phases.ops.push(op);
            }
            Step::Priority(prio) => phases.begin(Some(self.policy(prio, phases.told)), None),
            Step::Attributes { prio, policy, cpus_allowed } => {
                phases.told = policy;
                let cpus = self.here(&told_cpus(cpus_allowed));
                phases.begin(Some(self.policy(prio, policy)), cpus.filter(|_| !self.options.pin));
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

    /// The semaphore of a pair that depends on each other, when both are replayed.
    fn semaphore(&mut self, by: u32, task: u32) -> Option<u32> {
        let both = self.kept.contains(&by) && self.kept.contains(&task);
        if !both || !self.habits.depends(by, task) {
            return None;
        }
        let next = self.semaphores.len() as u32;
        Some(*self.semaphores.entry((by, task)).or_insert(next))
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
