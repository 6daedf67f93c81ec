// SPDX-License-Identifier: GPL-2.0-or-later
//! Random scheduler events that could happen: tasks wake, run, sleep, migrate, change group or class; CPUs tick,
//! switch, idle, change frequency; other classes and interrupts take time. Each event becomes the calls a kernel would
//! make.

use rand_core::Rng;
use rand_pcg::Pcg32;

use super::episode::{Episode, random_policy};
use super::governor::Setting;
use super::ops::Op;
use super::twin::speed_word;
use super::world::{CPUS, GROUPS, Slot, TASKS, address, groups_from, queue_above};

/// `PELTON_DO_ATTACH`.
const DO_ATTACH: u64 = 4;
/// `PELTON_DO_DETACH`.
const DO_DETACH: u64 = 8;
/// `PELTON_UPDATE_UTIL_EST`.
const UPDATE_UTIL_EST: u64 = 16;
/// Weights of some nice values, lightest and heaviest included.
const WEIGHTS: [u64; 6] = [15, 110, 820, 1024, 3121, 88_761];

/// Load that a CPU runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    Idle,
    Fair(usize),
    Rt,
    Dl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Dead,
    Asleep,
    Queued,
    Delayed,
    /// In another class.
    Away,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) life: Life,
    pub(super) cpu: usize,
    /// 0: the root queue; n: group n - 1.
    pub(super) group: usize,
}

/// Reason for which a task leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Sleep = 1,
    Migrate = 2,
}

/// One level of a task's hierarchy: its entity, the queue it sits on, the queue it owns.
#[derive(Clone, Copy, Debug)]
struct Level {
    cfs: Slot,
    se: Slot,
    owned: Option<Slot>,
}

/// Makes one episode.
#[derive(Debug)]
pub struct Grammar {
    pub(super) episode: Episode,
    pub(super) rng: Pcg32,
    pub(super) now: u64,
    pub(super) runs: [Runs; CPUS],
    pub(super) tasks: [Task; TASKS],
    pub(super) governor: Setting,
}

/// An episode of at least `calls` calls.
pub fn episode(seed: u64, calls: usize) -> Episode {
    let mut rng = Pcg32::new(seed, 0x9e37_79b9);
    let policy = random_policy(&mut rng);
    let now = 1_000_000_000 + u64::from(rng.next_u32());
    let capacities = [1024, 1 + u64::from(rng.next_u32() % 1024)];
    let tick_ns = [1_000_000, 4_000_000, 10_000_000][rng.next_u32() as usize % 3];
    let clamps = rng.next_u32().is_multiple_of(2);
    let mut grammar = Grammar {
        governor: Setting { tick_ns, idle_calls: [0; CPUS], clamps, keeps: pelton_core::sugov_keeps(&policy) },
        episode: Episode::new(seed, &policy, now, capacities),
        rng,
        now,
        runs: [Runs::Idle; CPUS],
        tasks: [Task { life: Life::Dead, cpu: 0, group: 0 }; TASKS],
    };
    grammar.set_up_domains();
    grammar.set_up_idle();
    grammar.set_up_groups();
    grammar.set_up_gates();
    while grammar.episode.calls.len() < calls {
        grammar.event();
    }
    grammar.episode
}

impl Grammar {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        u64::from(self.rng.next_u32()) % n
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn switch_is(&self, name: &str, value: &str) -> bool {
        super::world::value_of(&self.episode.world.policy, name) == value
    }

    /// Time since the last event: nothing, less than a unit, microseconds, a tick, a sleep, very long.
    fn advance(&mut self) {
        let span = match self.below(20) {
            0 => 1,
            1 => 1024,
            2..=6 => 200_000,
            7..=13 => 2_000_000,
            14..=17 => 20_000_000,
            18 => 400_000_000,
            _ => 4_000_000_000,
        };
        self.now += self.below(span);
    }

    fn irq_ns(&mut self) -> u64 {
        match self.below(16) {
            0 => self.below(50_000),
            1 => self.below(5_000_000),
            _ => 0,
        }
    }

    pub(super) fn is_idle(&self, cpu: usize) -> u64 {
        (self.runs[cpu] == Runs::Idle).into()
    }

    fn levels(task: usize, group: usize, cpu: usize) -> Vec<Level> {
        let se = Slot::Task(task);
        let Some(lowest) = group.checked_sub(1) else {
            return vec![Level { cfs: Slot::Root(cpu), se, owned: None }];
        };
        let leaf = Level { cfs: Slot::Cfs(lowest, cpu), se, owned: None };
        let of = |g| Level { cfs: queue_above(g, cpu), se: Slot::GroupSe(g, cpu), owned: Some(Slot::Cfs(g, cpu)) };
        std::iter::once(leaf).chain(groups_from(lowest).map(of)).collect()
    }

    fn levels_of(&self, task: usize) -> Vec<Level> {
        Self::levels(task, self.tasks[task].group, self.tasks[task].cpu)
    }

    pub(super) fn leaf(&self, task: usize) -> u64 {
        address(self.levels_of(task)[0].cfs)
    }

    pub(super) fn call(&mut self, op: Op, args: &[u64]) -> u64 {
        self.episode.call(op, args)
    }

    pub(super) fn clock(&mut self, cpu: usize) {
        let irq_ns = self.irq_ns();
        self.call(Op::ClockUpdate, &[address(Slot::Rq(cpu)), self.now, irq_ns, self.is_idle(cpu)]);
    }

    fn at_level(&mut self, op: Op, cpu: usize, level: &Level, rest: &[u64]) {
        let owned = level.owned.map_or(0, address);
        let mut args = vec![address(Slot::Rq(cpu)), address(level.cfs), address(level.se), owned];
        args.extend_from_slice(rest);
        self.call(op, &args);
    }

    fn is_queued(&self, slot: Slot) -> bool {
        match slot {
            Slot::Task(task) => self.episode.world.tasks[task].on_rq != 0,
            Slot::GroupSe(group, cpu) => self.episode.world.group_se[group][cpu].on_rq != 0,
            _ => false,
        }
    }

    fn is_empty(&self, queue: Option<Slot>) -> bool {
        match queue {
            Some(Slot::Cfs(group, cpu)) => self.episode.world.cfs[group][cpu].nr_queued == 0,
            _ => true,
        }
    }

    pub(super) fn enqueue(&mut self, task: usize) {
        let Task { cpu, group, .. } = self.tasks[task];
        let (rq, se) = (address(Slot::Rq(cpu)), address(Slot::Task(task)));
        self.tasks[task].life = Life::Queued;
        if group == 0 {
            let irq_ns = self.irq_ns();
            self.call(Op::RqEnqueueTask, &[rq, se, self.now, irq_ns, self.is_idle(cpu)]);
            return;
        }
        self.clock(cpu);
        self.call(Op::UtilEstEnqueue, &[address(Slot::Root(cpu)), se]);
        for level in self.levels_of(task) {
            let op = if self.is_queued(level.se) { Op::UpdateAncestor } else { Op::EnqueueEntity };
            self.at_level(op, cpu, &level, &[1]);
        }
    }

    pub(super) fn dequeue(&mut self, task: usize, why: Why) {
        let Task { cpu, group, life } = self.tasks[task];
        let (rq, se) = (address(Slot::Rq(cpu)), address(Slot::Task(task)));
        self.tasks[task].life = Life::Asleep;
        if group == 0 {
            let irq_ns = self.irq_ns();
            let later = u64::from(self.one_in(2));
            self.call(Op::RqDequeueTask, &[rq, se, self.now, irq_ns, self.is_idle(cpu), why as u64 | later << 2]);
            if later != 0 && life != Life::Delayed {
                self.call(Op::RqEstimateLast, &[rq, se, (why == Why::Sleep).into()]);
            }
            return;
        }
        debug_assert_eq!(life, Life::Queued);
        self.clock(cpu);
        self.call(Op::UtilEstDequeue, &[address(Slot::Root(cpu)), se]);
        self.sample(task, why, "on");
        for level in self.levels_of(task) {
            self.leave_level(cpu, &level, why);
        }
        if why == Why::Migrate && self.switch_is("queued_migrant", "removed") {
            self.call(Op::RemoveSleeping, &[rq, self.leaf(task), se]);
        }
        if why == Why::Migrate {
            self.call(Op::Poke, &[se, 0]);
        }
        self.sample(task, why, "off");
    }

    fn samples_inside(&self) -> bool {
        self.switch_is("util_est", "u4") && self.switch_is("util_est_stale", "off")
    }

    /// Samples the estimate where the policy does it outside the update.
    fn sample(&mut self, task: usize, why: Why, stale: &str) {
        if self.switch_is("util_est_stale", stale) && !self.samples_inside() {
            let cap_orig = self.episode.world.rq[self.tasks[task].cpu].cap_orig;
            let sleeps = (why == Why::Sleep).into();
            self.call(Op::UtilEstUpdate, &[address(Slot::Task(task)), cap_orig, sleeps]);
        }
    }

    fn leave_level(&mut self, cpu: usize, level: &Level, why: Why) {
        let mut flags = 0;
        if level.owned.is_none() && why == Why::Migrate && self.switch_is("queued_migrant", "detached") {
            flags |= DO_DETACH;
        }
        if level.owned.is_none() && why == Why::Sleep && self.samples_inside() {
            flags |= UPDATE_UTIL_EST;
        }
        let minus_one = u64::from(-1i32 as u32);
        if self.is_empty(level.owned) {
            self.at_level(Op::DequeueEntity, cpu, level, &[minus_one, flags]);
        } else {
            self.at_level(Op::UpdateAncestor, cpu, level, &[minus_one]);
        }
    }

    fn every_level(&mut self, op: Op, task: usize) {
        let cpu = self.tasks[task].cpu;
        for level in self.levels_of(task) {
            self.at_level(op, cpu, &level, &[]);
        }
    }

    /// The fair class hands the CPU from one of its tasks to another, or goes idle.
    pub(super) fn switch_fair(&mut self, cpu: usize, next: Option<usize>) {
        let prev = match self.runs[cpu] {
            Runs::Fair(task) => Some(task),
            _ => None,
        };
        let root = |grammar: &Self, task: Option<usize>| task.is_none_or(|task| grammar.tasks[task].group == 0);
        if root(self, prev) && root(self, next) {
            let word = |task: Option<usize>| task.map_or(0, |task| address(Slot::Task(task)));
            let irq_ns = self.irq_ns();
            let args = [address(Slot::Rq(cpu)), word(prev), word(next), self.now, irq_ns, self.is_idle(cpu)];
            self.call(Op::RqSwitchFair, &args);
            return;
        }
        self.clock(cpu);
        if let Some(prev) = prev {
            self.every_level(Op::PutPrevEntity, prev);
        }
        if let Some(next) = next {
            self.every_level(Op::SetNextEntity, next);
        }
    }

    pub(super) fn go_idle(&mut self, cpu: usize) {
        let rq = address(Slot::Rq(cpu));
        match self.runs[cpu] {
            Runs::Fair(task) if self.tasks[task].group != 0 => {
                self.switch_fair(cpu, None);
                self.call(Op::ClockEnterIdle, &[rq]);
            }
            runs => {
                let prev = if let Runs::Fair(task) = runs { address(Slot::Task(task)) } else { 0 };
                let irq_ns = self.irq_ns();
                self.call(Op::RqSwitchIdle, &[rq, prev, self.now, irq_ns, self.is_idle(cpu)]);
            }
        }
        self.runs[cpu] = Runs::Idle;
        self.governor.idle_calls[cpu] += 1;
    }

    pub(super) fn tick(&mut self, cpu: usize) {
        let rq = address(Slot::Rq(cpu));
        match self.runs[cpu] {
            Runs::Fair(task) if self.tasks[task].group == 0 => {
                let irq_ns = self.irq_ns();
                self.call(Op::RqTickFair, &[rq, address(Slot::Task(task)), self.now, irq_ns]);
            }
            Runs::Fair(task) => {
                self.clock(cpu);
                self.every_level(Op::TickEntity, task);
                self.refresh_groups(cpu);
            }
            Runs::Rt => {
                self.clock(cpu);
                self.call(Op::UpdateRt, &[rq, 1]);
            }
            Runs::Dl => {
                self.clock(cpu);
                self.call(Op::UpdateDl, &[rq, 1]);
            }
            Runs::Idle => self.clock(cpu),
        }
        self.call(Op::RtShareAge, &[rq]);
        if self.one_in(3) {
            let lost = self.below(1100);
            self.call(Op::UpdateHw, &[rq, lost]);
        }
    }

    /// In half of the episodes the groups exist before their first task; in the others the first enqueue attaches them.
    fn set_up_groups(&mut self) {
        if self.one_in(2) {
            return;
        }
        for cpu in 0..CPUS {
            for group in 0..GROUPS {
                let parent = queue_above(group, cpu);
                let words = [Slot::Rq(cpu), parent, Slot::GroupSe(group, cpu)].map(address);
                self.call(Op::GroupOnline, &words);
            }
        }
    }

    /// Group loads and weights on one CPU.
    pub(super) fn refresh_groups(&mut self, cpu: usize) {
        for group in 0..GROUPS {
            let (tg, owned) = (address(Slot::Group(group)), address(Slot::Cfs(group, cpu)));
            self.call(Op::TgContrib, &[tg, owned, self.now]);
            let parent = queue_above(group, cpu);
            let (parent, se) = (address(parent), address(Slot::GroupSe(group, cpu)));
            if self.one_in(2) {
                self.call(Op::RefreshShares, &[parent, se, owned, tg]);
                continue;
            }
            let present = self.episode.world.group_se[group][cpu].full_weight;
            let weight = self.call(Op::GroupShares, &[owned, tg, present]);
            self.call(Op::Reweight, &[parent, se, weight]);
        }
    }

    /// Decays the averages queued on group queues, bottom up.
    pub(super) fn walk_groups(&mut self, cpu: usize) {
        for group in (0..GROUPS).rev() {
            let parent = queue_above(group, cpu);
            let owned = Slot::Cfs(group, cpu);
            if self.one_in(2) {
                let words = [Slot::Rq(cpu), parent, Slot::GroupSe(group, cpu), owned, Slot::Group(group)].map(address);
                self.call(Op::WalkGroup, &[&words[..], &[self.now]].concat());
                self.call(Op::GroupIsDecayed, &[address(owned)]);
                continue;
            }
            self.call(Op::UpdateCfsRq, &[address(Slot::Rq(cpu)), address(owned)]);
            let level = Level { cfs: parent, se: Slot::GroupSe(group, cpu), owned: Some(owned) };
            self.at_level(Op::UpdateLoadAvg, cpu, &level, &[1]);
        }
    }

    /// A sleeping task changes its group on its CPU.
    pub(super) fn move_group(&mut self, task: usize, group: usize) {
        let Task { cpu, group: old, .. } = self.tasks[task];
        let se = address(Slot::Task(task));
        self.clock(cpu);
        let [from, to] = [old, group].map(|group| Self::levels(task, group, cpu));
        self.at_level(Op::UpdateLoadAvg, cpu, &from[0], &[0]);
        self.call(Op::Detach, &[address(from[0].cfs), se]);
        self.call(Op::Poke, &[se, 0]);
        for level in &from[1..] {
            self.at_level(Op::UpdateLoadAvg, cpu, level, &[1]);
        }
        self.attach_to(task, cpu, &to[0]);
        for level in &to[1..] {
            self.at_level(Op::UpdateLoadAvg, cpu, level, &[1]);
        }
        self.tasks[task].group = group;
    }

    /// The update attaches a task that belongs to no queue, or the caller does after it.
    fn attach_to(&mut self, task: usize, cpu: usize, level: &Level) {
        if self.one_in(2) {
            self.at_level(Op::UpdateLoadAvg, cpu, level, &[DO_ATTACH]);
            return;
        }
        self.at_level(Op::UpdateLoadAvg, cpu, level, &[0]);
        self.call(Op::Attach, &[address(level.cfs), address(Slot::Task(task))]);
    }

    fn event(&mut self) {
        self.advance();
        let cpu = self.below(CPUS as u64) as usize;
        match self.below(32) {
            0..=7 => self.wake_someone(),
            8..=14 => self.tick(cpu),
            15..=20 => self.block(cpu),
            21..=24 => self.reschedule(cpu),
            25 => self.migrate_queued(cpu),
            26 => self.change_speed(cpu),
            27 => self.refresh_blocked(cpu),
            28 | 29 => self.change_someone(),
            30 => self.throttle(cpu),
            _ => self.try_loose(cpu),
        }
        match self.below(8) {
            0..=2 => self.hook(cpu),
            3 => self.around_the_governor(),
            4 if self.one_in(8) => self.idle_period(),
            5 if self.one_in(6) => {
                self.knob();
                self.clamps();
                self.clamps_by_maximum();
                self.cfs_bandwidth();
            }
            5 | 6 => self.filter(cpu),
            7 if self.one_in(2) => self.placement(),
            7 if self.one_in(2) => self.balance(),
            7 if self.one_in(2) => self.caches(),
            7 => self.deadline(),
            _ => {}
        }
    }

    pub(super) fn random_weight(&mut self) -> u64 {
        WEIGHTS[self.below(WEIGHTS.len() as u64) as usize]
    }

    pub(super) fn speed(&mut self, cpu: usize) -> [u64; 2] {
        let freq = 1 + self.below(1024);
        [speed_word(cpu), self.episode.world.rq[cpu].cap_orig | freq << 32]
    }
}
