// SPDX-License-Identifier: GPL-2.0-or-later
//! A tree of a thousand task groups on four CPUs: tasks wake, run, sleep, move between CPUs and groups, use quotas up;
//! shares change; load fades. The core and its twin make every step, and every record that a step touches is compared
//! to the bit. The suite in `conformance` has every operation and every build, on a tree of seven groups.

mod events;
mod models;
mod records;
mod side;
mod sums;

use pelton_core::{Policy, RUNTIME_INF, value};
use pelton_reference::cfs_bandwidth;
use pelton_reference::clock::Clock;
use pelton_reference::pelt::Avg;
use pelton_reference::pressure::RtShare;
use pelton_reference::rq::CfsRq;
use rand_core::Rng;
use rand_pcg::Pcg32;

use crate::conformance::world::{numbers_of, rules_of};
use models::{Core, Twin, update};
use side::{Entity, Level, Model, Queue, Quota, Side, Slot, Verb, said};

/// CPUs.
pub const CPUS: usize = 4;
/// Groups that one lies in at most, itself included.
pub const DEPTH: usize = 6;
const TICK_NS: u64 = 4_000_000;
/// Weights of some nice values, lightest and heaviest included.
const WEIGHTS: [u64; 6] = [15, 110, 820, 1024, 3121, 88_761];
/// Runtime, period and burst, ns.
const LIMITS: [(u64, u64, u64); 3] =
    [(20_000_000, 100_000_000, 0), (3_000_000, 10_000_000, 2_000_000), (1_000_000, 50_000_000, 0)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    New,
    Asleep,
    Queued,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    life: Life,
    cpu: usize,
    group: Queue,
}

/// Size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Task groups.
    pub groups: usize,
    /// Tasks.
    pub tasks: usize,
    /// Events.
    pub events: usize,
}

/// Counts of what was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    /// Steps that both made.
    pub steps: u64,
    /// Times a group had to wait for its quota on a CPU.
    pub cuts: u64,
    /// Moves of tasks between CPUs, and between groups.
    pub moves: u64,
    /// Groups that a group lies in at most, itself included.
    pub depth: usize,
    /// Rest in the loads of groups of queues on which nothing is left, in the end.
    pub left: u64,
    /// The largest average of a queue whose sums are 0, in the end.
    pub left_avg: u64,
}

/// Both sides, and what the host knows.
#[derive(Debug)]
pub struct Tree {
    core: Side<Core>,
    twin: Side<Twin>,
    above: Vec<Queue>,
    /// Each group and those in it, ascending.
    below: Vec<Vec<usize>>,
    /// Quota of each group that has one.
    quota_of: Vec<Option<usize>>,
    limited: Vec<usize>,
    cut: Vec<[bool; CPUS]>,
    tasks: Vec<Task>,
    runs: [Option<usize>; CPUS],
    charged_ns: [u64; CPUS],
    rng: Pcg32,
    now: u64,
    total: Total,
}

type Outcome = Result<(), String>;

/// Runs a tree under the rules of a profile; the error is the first difference or broken sum.
pub fn run(profile: &str, seed: u64, size: Size) -> Result<Total, String> {
    let mut tree = Tree::new(profile, seed, size)?;
    for event in 0..size.events {
        tree.event().map_err(|error| format!("{profile}, seed {seed}, event {event}: {error}"))?;
        if event % 500 == 499 {
            tree.agrees()?;
            tree.sums_hold().map_err(|error| format!("{profile}, seed {seed}, event {event}: {error}"))?;
        }
    }
    tree.fades().map_err(|error| format!("{profile}, seed {seed}, at the end: {error}"))?;
    Ok(tree.total)
}

impl Tree {
    /// A tree in which nothing has run yet.
    pub fn new(profile: &str, seed: u64, size: Size) -> Result<Tree, String> {
        let policy = Policy::profile(profile).map_err(|error| error.to_string())?;
        let mut rng = Pcg32::new(seed, 0x7eee_0001);
        let now = 1_000_000_000 + u64::from(rng.next_u32());
        let above = shape(&mut rng, size.groups);
        let mut below: Vec<Vec<usize>> = (0..size.groups).map(|group| vec![group]).collect();
        for group in (0..size.groups).rev() {
            if let Some(parent) = above[group] {
                let own = below[group].clone();
                below[parent].extend(own);
            }
        }
        below.iter_mut().for_each(|all| all.sort_unstable());
        let limited: Vec<usize> = (0..size.groups).filter(|_| rng.next_u32().is_multiple_of(20)).collect();
        let mut quota_of = vec![None; size.groups];
        limited.iter().enumerate().for_each(|(i, &group)| quota_of[group] = Some(i));
        let any = |rng: &mut Pcg32, n: usize| rng.next_u32() as usize % n;
        let task = |rng: &mut Pcg32| {
            let group = (any(rng, 16) > 0).then(|| any(rng, size.groups));
            Task { life: Life::New, cpu: any(rng, CPUS), group }
        };
        let tasks = (0..size.tasks).map(|_| task(&mut rng)).collect();
        let depth = |group: usize| std::iter::successors(Some(group), |&group| above[group]).count();
        let total = Total { depth: (0..size.groups).map(depth).max().unwrap_or(0), ..Total::default() };
        let (core, twin) = sides(&policy, &mut rng, size, limited.len(), now)?;
        let mut tree = Tree {
            core,
            twin,
            above,
            below,
            quota_of,
            limited,
            cut: vec![[false; CPUS]; size.groups],
            tasks,
            runs: [None; CPUS],
            charged_ns: [now; CPUS],
            rng,
            now,
            total,
        };
        tree.set_up()?;
        Ok(tree)
    }

    /// Groups come into being, with random shares, some with quotas.
    fn set_up(&mut self) -> Outcome {
        for group in 0..self.above.len() {
            for cpu in 0..CPUS {
                self.act(Verb::Online, self.level_of_group(group, cpu))?;
            }
            self.set_shares(group)?;
        }
        for i in 0..self.limited.len() {
            let (runtime, period, burst) = LIMITS[self.below(3)];
            self.quota(i, 0, Quota::Limit(runtime, period, burst))?;
        }
        Ok(())
    }

    /// One more event; the error is the first difference.
    pub fn one_more(&mut self) -> Result<(), String> {
        self.event().and_then(|()| self.agrees())
    }

    /// One of the twin's groups gets a share more than the core's: a difference that has to be seen.
    pub fn spoil(&mut self, group: usize) {
        self.twin.groups[group].shares += 1;
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.next_u32() as usize % n
    }

    fn queue_of(&self, group: Queue, cpu: usize) -> &CfsRq {
        group.map_or(&self.twin.rq[cpu].cfs, |group| &self.twin.cfs[group][cpu])
    }

    fn level_of_group(&self, group: usize, cpu: usize) -> Level {
        Level { cpu, queue: self.above[group], entity: Entity::Group(group) }
    }

    fn level_of_task(&self, task: usize) -> Level {
        Level { cpu: self.tasks[task].cpu, queue: self.tasks[task].group, entity: Entity::Task(task) }
    }

    /// The group and those that it lies in, up to the root.
    fn groups_from(&self, group: Queue) -> Vec<usize> {
        std::iter::successors(group, |&group| self.above[group]).collect()
    }

    fn levels_of(&self, task: usize) -> Vec<Level> {
        let Task { cpu, group, .. } = self.tasks[task];
        let groups = self.groups_from(group);
        let above = groups.into_iter().map(|group| self.level_of_group(group, cpu));
        std::iter::once(self.level_of_task(task)).chain(above).collect()
    }

    /// Queued, with no group above it that waits for its quota.
    fn may_run(&self, task: usize) -> bool {
        let Task { life, cpu, group } = self.tasks[task];
        life == Life::Queued && self.groups_from(group).iter().all(|&group| !self.cut[group][cpu])
    }

    // Steps that both make.

    fn step(&mut self, what: &str, slots: &[Slot], answers: (u64, u64)) -> Outcome {
        self.total.steps += 1;
        if answers.0 != answers.1 {
            return Err(format!("{what}: the core answers {}, the twin {}", answers.0, answers.1));
        }
        slots.iter().try_for_each(|&slot| self.same(slot).map_err(|error| format!("{what}: {error}")))
    }

    fn same(&self, slot: Slot) -> Outcome {
        if self.core.words(slot) == self.twin.words(slot) {
            return Ok(());
        }
        let fields = self.core.fields(slot).into_iter().zip(self.twin.fields(slot));
        let differ = fields.filter(|(core, twin)| core.1 != twin.1);
        let text: Vec<String> =
            differ.map(|((_, core), (name, twin))| format!("{name}: core {core}, twin {twin}")).collect();
        Err(format!("{slot:?} differs: {}", text.join("; ")))
    }

    fn act(&mut self, verb: Verb, level: Level) -> Outcome {
        let answers = (self.core.act(verb, level), self.twin.act(verb, level));
        let Level { cpu, queue, entity } = level;
        let cfs = queue.map_or(Slot::Rq(cpu), |group| Slot::Cfs(group, cpu));
        let what = format!("{verb:?} of {level:?}");
        match entity {
            Entity::Task(task) => self.step(&what, &[cfs, Slot::Task(task)], answers),
            Entity::Group(group) => {
                let own = [Slot::GroupSe(group, cpu), Slot::Cfs(group, cpu), Slot::Group(group)];
                self.step(&what, &[cfs, own[0], own[1], own[2]], answers)
            }
        }
    }

    fn clock(&mut self, cpu: usize) -> Outcome {
        let idle = self.runs[cpu].is_none();
        let core = self.core.model.clock(&mut self.core.rq[cpu], self.now, idle);
        let twin = self.twin.model.clock(&mut self.twin.rq[cpu], self.now, idle);
        self.step("clock", &[Slot::Rq(cpu)], (core, twin))
    }

    fn enter_idle(&mut self, cpu: usize) -> Outcome {
        self.core.model.enter_idle(&mut self.core.rq[cpu]);
        self.twin.model.enter_idle(&mut self.twin.rq[cpu]);
        self.step("goes idle", &[Slot::Rq(cpu)], (0, 0))
    }

    fn contrib(&mut self, group: usize, cpu: usize) -> Outcome {
        let (core, twin) = (&mut self.core, &mut self.twin);
        let answers = (
            core.model.contrib(&mut core.groups[group], &mut core.cfs[group][cpu], self.now),
            twin.model.contrib(&mut twin.groups[group], &mut twin.cfs[group][cpu], self.now),
        );
        self.step("the group's load", &[Slot::Cfs(group, cpu), Slot::Group(group)], answers)
    }

    fn freeze(&mut self, group: usize, cpu: usize, stops: bool) -> Outcome {
        self.core.model.freeze(&self.core.rq[cpu], &mut self.core.cfs[group][cpu], stops);
        self.twin.model.freeze(&self.twin.rq[cpu], &mut self.twin.cfs[group][cpu], stops);
        self.step("a queue's clock", &[Slot::Cfs(group, cpu)], (0, 0))
    }

    fn set_shares(&mut self, group: usize) -> Outcome {
        let shares = [2, 100, 1024, 2048, 262_144][self.below(5)];
        Core::set_shares(&mut self.core.groups[group], shares);
        Twin::set_shares(&mut self.twin.groups[group], shares);
        self.step("shares", &[Slot::Group(group)], (0, 0))
    }

    fn forget(&mut self, task: usize) {
        Core::forget(&mut self.core.tasks[task]);
        Twin::forget(&mut self.twin.tasks[task]);
    }

    fn sample(&mut self, task: usize) -> Outcome {
        let cpu = self.tasks[task].cpu;
        self.core.model.sample(&self.core.rq[cpu], &mut self.core.tasks[task]);
        self.twin.model.sample(&self.twin.rq[cpu], &mut self.twin.tasks[task]);
        self.step("estimate", &[Slot::Task(task)], (0, 0))
    }

    /// Also compares timers; the answer.
    fn quota(&mut self, i: usize, cpu: usize, what: Quota) -> Result<u64, String> {
        let core = self.core.model.quota(&mut self.core.quotas[i], cpu, what, self.now);
        let twin = self.twin.model.quota(&mut self.twin.quotas[i], cpu, what, self.now);
        let timers = (Core::timers(&self.core.quotas[i]), Twin::timers(&self.twin.quotas[i]));
        if timers.0 != timers.1 {
            return Err(format!("{what:?}: timers of the core {:?}, of the twin {:?}", timers.0, timers.1));
        }
        self.step(&format!("{what:?} of quota {i} on CPU {cpu}"), &[], (core, twin))?;
        Ok(core)
    }
}

/// Every group's parent, which comes before it: a chain of six, then at random, none deeper.
fn shape(rng: &mut Pcg32, groups: usize) -> Vec<Queue> {
    let (mut above, mut depth): (Vec<Queue>, Vec<usize>) = (Vec::new(), Vec::new());
    for group in 0..groups {
        let parent = match group {
            0 => None,
            1..DEPTH => Some(group - 1),
            _ => (!rng.next_u32().is_multiple_of(10)).then(|| rng.next_u32() as usize % group),
        };
        let parent = parent.filter(|&parent| depth[parent] < DEPTH);
        depth.push(parent.map_or(1, |parent| depth[parent] + 1));
        above.push(parent);
    }
    above
}

/// Both sides at the start.
fn sides(
    policy: &Policy,
    rng: &mut Pcg32,
    size: Size,
    quotas: usize,
    now: u64,
) -> Result<(Side<Core>, Side<Twin>), String> {
    let capacities: [u32; CPUS] = std::array::from_fn(|cpu| if cpu == 0 { 1024 } else { 1 + rng.next_u32() % 1024 });
    let weights: Vec<u64> = (0..size.tasks).map(|_| WEIGHTS[rng.next_u32() as usize % WEIGHTS.len()]).collect();
    let group_se = pelton_core::Se { avg: pelton_core::Avg::default(), ..pelton_core::Se::new(1024) };
    let core = Side {
        model: Core { policy: *policy, tick_ns: TICK_NS },
        rq: capacities.map(|cap| pelton_core::Rq::new(policy, now, cap, 1024)).to_vec(),
        cfs: vec![[pelton_core::CfsRq::default(); CPUS]; size.groups],
        group_se: vec![[pelton_core::Se { nr_runnable: 0, ..group_se }; CPUS]; size.groups],
        tasks: weights.iter().map(|&weight| pelton_core::Se::new(weight)).collect(),
        groups: vec![pelton_core::TaskGroup { load_avg: 0, shares: 1024 }; size.groups],
        quotas: vec![models::CoreQuota::default(); quotas],
    };
    let rules = rules_of(policy)?;
    let group_se = pelton_reference::rq::Se { nr_runnable: 0, ..pelton_reference::event::se_init(1024) };
    let group_se = pelton_reference::rq::Se { avg: Avg::default(), ..group_se };
    let twin = Side {
        model: Twin { rules },
        rq: core.rq.iter().map(twin_of).collect(),
        cfs: vec![[CfsRq::default(); CPUS]; size.groups],
        group_se: vec![[group_se; CPUS]; size.groups],
        tasks: weights.iter().map(|&weight| pelton_reference::event::se_init(weight)).collect(),
        groups: vec![pelton_reference::group::TaskGroup { load_avg: 0, shares: 1024 }; size.groups],
        quotas: vec![cfs_bandwidth::Group::new(rules, &numbers_of(policy), CPUS, TICK_NS); quotas],
    };
    Ok((core, twin))
}

/// A CPU of the core on which nothing has run yet, as the twin has it.
fn twin_of(rq: &pelton_core::Rq) -> pelton_reference::clock::Rq {
    let at = |avg: &pelton_core::Avg| Avg { last_update_time_ns: avg.last_update_time_ns, ..Avg::default() };
    let clock = Clock {
        clock_ns: rq.clock.clock_ns,
        clock_task_ns: rq.clock.clock_task_ns,
        clock_pelt_ns: rq.clock.clock_pelt_ns,
        lost_idle_ns: rq.clock.lost_idle_ns,
        clock_idle_ns: rq.clock.clock_idle_ns,
        clock_pelt_idle_ns: rq.clock.clock_pelt_idle_ns,
    };
    pelton_reference::clock::Rq {
        clock,
        cfs: CfsRq { avg: at(&rq.cfs.avg), ..CfsRq::default() },
        rt: at(&rq.rt),
        dl: at(&rq.dl),
        irq: at(&rq.irq),
        hw: at(&rq.hw),
        rt_share: RtShare {
            sum: rq.rt_share.sum,
            age_stamp_ns: rq.rt_share.age_stamp_ns,
            counted_to_ns: rq.rt_share.counted_to_ns,
        },
        cap_orig: rq.cap_orig.into(),
        freq_scale: rq.freq_scale.into(),
    }
}
