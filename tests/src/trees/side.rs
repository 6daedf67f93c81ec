// SPDX-License-Identifier: GPL-2.0-or-later
//! One of the two that are compared: all records of a tree, and what is done to them.

use std::fmt::Debug;

use crate::conformance::layout::{Names, Record, Words};

use super::CPUS;

/// A queue of a CPU: a group's, or the root's.
pub type Queue = Option<usize>;

/// An entity on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A task.
    Task(usize),
    /// A group's.
    Group(usize),
}

/// An entity and the queue it sits on.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// CPU.
    pub cpu: usize,
    /// Queue.
    pub queue: Queue,
    /// Entity.
    pub entity: Entity,
}

impl Level {
    /// The group whose queue the entity owns.
    pub fn owned(&self) -> Queue {
        match self.entity {
            Entity::Group(group) => Some(group),
            Entity::Task(_) => None,
        }
    }
}

/// Step of an entity on its queue; numbers: change of runnable tasks, flags.
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    /// Is queued.
    Enqueue(i32),
    /// Stays queued while something below comes or goes.
    Update(i32),
    /// Leaves.
    Dequeue(i32, u32),
    /// Begins to run.
    SetNext,
    /// Stops running.
    PutPrev,
    /// Its tick.
    Tick,
    /// Its averages, with flags.
    Age(u32),
    /// Comes into being, empty.
    Online,
    /// Is taken off the queue's averages.
    Detach,
    /// Leaves its averages behind, asleep.
    Remove,
    /// The queue's estimate takes it in, or not any more.
    Estimate(bool),
    /// Is placed for the first time.
    PostInit,
    /// Gets its group's share.
    Shares,
    /// The walk over blocked load, at this wall time.
    Walk(u64),
}

/// Step of a quota on a CPU.
#[derive(Clone, Copy, Debug)]
pub enum Quota {
    /// Runtime, length of a period, burst, ns.
    Limit(u64, u64, u64),
    /// Entities ran for so long.
    Ran(u64),
    /// The first entity comes.
    Comes,
    /// Without runtime, with entities or without.
    Throttle(bool),
    /// A task comes while it is throttled.
    Wanted,
    /// The last entity left.
    GivesBack,
    /// The period's timer.
    PeriodEnds,
    /// The timer of gathered runtime.
    Gathered,
}

/// Bits that a quota answers with; the CPUs that may go on, one bit each, are above them.
pub mod said {
    /// The period's timer starts.
    pub const START: u64 = 1;
    /// The timer of gathered runtime starts.
    pub const SLACK: u64 = 2;
    /// Exhausted: no runtime is left.
    pub const EXHAUSTED: u64 = 4;
    /// Throttled: the queue has to wait.
    pub const THROTTLED: u64 = 8;
    /// Lowest bit of the CPUs.
    pub const FREED_SHIFT: u32 = 8;
}

/// Records and rules of one implementation.
pub trait Model {
    /// A CPU.
    type Rq: Copy + Debug + Record;
    /// A queue.
    type Cfs: Copy + Debug + Record;
    /// An entity.
    type Se: Copy + Debug + Record;
    /// Common record of a group's queues.
    type Tg: Copy + Debug + Record;
    /// A quota of a group.
    type Quota: Clone + Debug;

    /// The root queue of a CPU.
    fn root(rq: &mut Self::Rq) -> &mut Self::Cfs;
    /// Its clock comes to `now`.
    fn clock(&self, rq: &mut Self::Rq, now: u64, idle: bool) -> u64;
    /// Enters idle.
    fn enter_idle(&self, rq: &mut Self::Rq);
    /// Its other classes' averages, idle, and the root queue's.
    fn age_cpu(&self, rq: &mut Self::Rq, now: u64) -> u64;
    /// Something happens to an entity.
    fn act(&self, rq: &Self::Rq, verb: Verb, at: At<'_, Self>) -> u64;
    /// A sleeping task of a queue is woken on another CPU.
    fn migrate(&self, rq: &Self::Rq, cfs: &mut Self::Cfs, se: &mut Self::Se, idle: bool, now: u64);
    /// The group's load takes in what its queue has.
    fn contrib(&self, tg: &mut Self::Tg, cfs: &mut Self::Cfs, now: u64) -> u64;
    /// A queue's clock stops, or goes on.
    fn freeze(&self, rq: &Self::Rq, cfs: &mut Self::Cfs, stops: bool);
    /// May the walk leave this queue out?
    fn is_decayed(&self, cfs: &Self::Cfs) -> bool;
    /// The estimate of a task takes a sample.
    fn sample(&self, rq: &Self::Rq, se: &mut Self::Se);
    /// The task belongs to no queue.
    fn forget(se: &mut Self::Se);
    /// Another number of shares.
    fn set_shares(tg: &mut Self::Tg, shares: u64);
    /// Something happens to a quota.
    fn quota(&self, quota: &mut Self::Quota, cpu: usize, what: Quota, now: u64) -> u64;
    /// Timers that run: of the period, of gathered runtime.
    fn timers(quota: &Self::Quota) -> [Option<u64>; 2];
}

/// Queue, entity, queue that the entity owns, and what a group shares.
#[derive(Debug)]
pub struct At<'a, M: Model + ?Sized> {
    /// Queue.
    pub cfs: &'a mut M::Cfs,
    /// Entity.
    pub se: &'a mut M::Se,
    /// Queue that it owns.
    pub owned: Option<&'a mut M::Cfs>,
    /// Of the group.
    pub tg: Option<&'a mut M::Tg>,
}

/// A record, to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A CPU.
    Rq(usize),
    /// A group's queue on a CPU.
    Cfs(usize, usize),
    /// A group's entity on a CPU.
    GroupSe(usize, usize),
    /// A task.
    Task(usize),
    /// Common record of a group's queues.
    Group(usize),
}

/// All records of one implementation.
#[derive(Debug)]
pub struct Side<M: Model> {
    /// Rules.
    pub model: M,
    /// CPUs.
    pub rq: Vec<M::Rq>,
    /// Queues of groups.
    pub cfs: Vec<[M::Cfs; CPUS]>,
    /// Entities of groups.
    pub group_se: Vec<[M::Se; CPUS]>,
    /// Tasks.
    pub tasks: Vec<M::Se>,
    /// Groups.
    pub groups: Vec<M::Tg>,
    /// Quotas.
    pub quotas: Vec<M::Quota>,
}

impl<M: Model> Side<M> {
    fn queue(&mut self, queue: Queue, cpu: usize) -> &mut M::Cfs {
        match queue {
            Some(group) => &mut self.cfs[group][cpu],
            None => M::root(&mut self.rq[cpu]),
        }
    }

    fn entity(&mut self, entity: Entity, cpu: usize) -> &mut M::Se {
        match entity {
            Entity::Task(task) => &mut self.tasks[task],
            Entity::Group(group) => &mut self.group_se[group][cpu],
        }
    }

    /// Something happens to an entity.
    pub fn act(&mut self, verb: Verb, level: Level) -> u64 {
        let Level { cpu, queue, entity } = level;
        let (rq, mut cfs, mut se) = (self.rq[cpu], *self.queue(queue, cpu), *self.entity(entity, cpu));
        let mut owned = level.owned().map(|group| self.cfs[group][cpu]);
        let mut tg = level.owned().map(|group| self.groups[group]);
        let at = At { cfs: &mut cfs, se: &mut se, owned: owned.as_mut(), tg: tg.as_mut() };
        let answer = self.model.act(&rq, verb, at);
        *self.queue(queue, cpu) = cfs;
        *self.entity(entity, cpu) = se;
        if let (Some(group), Some(owned), Some(tg)) = (level.owned(), owned, tg) {
            (self.cfs[group][cpu], self.groups[group]) = (owned, tg);
        }
        answer
    }

    /// A sleeping task leaves its CPU.
    pub fn migrate(&mut self, task: usize, queue: Queue, cpu: usize, idle: bool, now: u64) {
        let (rq, mut cfs, mut se) = (self.rq[cpu], *self.queue(queue, cpu), self.tasks[task]);
        self.model.migrate(&rq, &mut cfs, &mut se, idle, now);
        *self.queue(queue, cpu) = cfs;
        self.tasks[task] = se;
    }

    /// Name and value of each field of a record that differs.
    pub fn fields(&self, slot: Slot) -> Vec<(String, u64)> {
        match slot {
            Slot::Rq(cpu) => fields(&self.rq[cpu]),
            Slot::Cfs(group, cpu) => fields(&self.cfs[group][cpu]),
            Slot::GroupSe(group, cpu) => fields(&self.group_se[group][cpu]),
            Slot::Task(task) => fields(&self.tasks[task]),
            Slot::Group(group) => fields(&self.groups[group]),
        }
    }

    /// Values of a record without their names.
    pub fn words(&self, slot: Slot) -> Vec<u64> {
        match slot {
            Slot::Rq(cpu) => words(&self.rq[cpu]),
            Slot::Cfs(group, cpu) => words(&self.cfs[group][cpu]),
            Slot::GroupSe(group, cpu) => words(&self.group_se[group][cpu]),
            Slot::Task(task) => words(&self.tasks[task]),
            Slot::Group(group) => words(&self.groups[group]),
        }
    }
}

fn words(record: &impl Record) -> Vec<u64> {
    let mut words = Words::default();
    record.fields(&mut words);
    words.list
}

fn fields(record: &impl Record) -> Vec<(String, u64)> {
    let (mut names, words) = (Names::default(), words(record));
    record.fields(&mut names);
    let value = |half: usize, width: usize| crate::conformance::suite::field(&words, half, width);
    names.list.into_iter().map(|(name, half, width)| (name, value(half, width))).collect()
}
