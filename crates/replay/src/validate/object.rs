// SPDX-License-Identifier: GPL-2.0-or-later
//! State known of each kernel object: its last record, and the entities that may have joined or left a queue since.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::arrival::Arrivals;
use super::moments::Moments;
use pelton_core::{Avg, Se, scale_load_down};
use pelton_schema::{PELT_DELAYED, PELT_ON_RQ, PELT_ROOT, PELT_RUNNING, PeltSignal};

/// Objects followed at a time; of more a trace is checked as far as this goes.
pub const OBJECTS_MAX: usize = 1 << 17;
/// Joins and leaves remembered per queue.
pub const MOVES_MAX: usize = 24;
/// Deposits remembered per queue.
const DEPOSITS_MAX: usize = 16;
/// Updates remembered per queue.
const UPDATES_MAX: usize = 64;
/// Weights of tasks remembered; there are 40 nice values.
const WEIGHTS_MAX: usize = 64;
/// Changes of weight remembered per queue.
const REWEIGHTS_MAX: usize = 8;

/// An entity with its object number.
pub type Member = (u32, Se);

/// An entity before it got another weight, and that weight.
pub type Reweight = (Se, u64);

/// Key of a record: its kind and its object; blocked and queued entities are the same object.
pub type Key = (u32, u32);

/// The key of a record.
pub fn key(signal: PeltSignal, object: u32) -> Key {
    let signal = if signal == PeltSignal::BlockedEntity { PeltSignal::Entity } else { signal };
    (signal as u32, object)
}

/// The key of a record by the code of its signal.
pub fn key_of_codes(signal: u32, object: u32) -> Key {
    PeltSignal::of_code(signal).map_or((signal, object), |signal| key(signal, object))
}

/// A recorded state, with the inputs that were in force when it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Sums and averages; the estimate is kept beside them, 0 here.
    pub avg: Avg,
    /// Estimate with its mark, and whether the trace has it.
    pub util_est: u32,
    /// Bits of `pelt_state`.
    pub flags: u32,
    /// Runnable tasks it stands for or has.
    pub runnable: u32,
    /// Weight as the kernel stores it.
    pub weight: u64,
    /// Queue it is on.
    pub queue: u32,
    /// Task.
    pub tid: u32,
    /// CPU.
    pub cpu: u32,
    /// Time at which it was recorded, on the trace's clock.
    pub seen_ns: u64,
}

/// Sums that a queue has still to take out or to propagate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Load, runnable average and utilization of tasks that left in their sleep.
    pub removed: (u64, u64, u64),
    /// Change of the load sum that the level above has to follow.
    pub prop_runnable_sum: i64,
}

/// Inputs of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inputs {
    /// Load: 0 or 1 for an entity, the sum of weights for a queue.
    pub load: u64,
    /// Runnable tasks.
    pub runnable: u64,
    /// 1 when running.
    pub running: u64,
    /// Weight of the averages.
    pub weight: u64,
}

impl State {
    /// Inputs of the next update if nothing changes.
    pub fn inputs(&self, signal: PeltSignal) -> Inputs {
        let running = u64::from(self.flags & PELT_RUNNING != 0);
        match signal {
            PeltSignal::Entity => Inputs {
                load: u64::from(self.flags & PELT_ON_RQ != 0),
                runnable: u64::from(self.runnable),
                running,
                weight: scale_load_down(self.weight),
            },
            PeltSignal::BlockedEntity => Inputs { weight: scale_load_down(self.weight), ..Inputs::default() },
            PeltSignal::Queue => {
                Inputs { load: scale_load_down(self.weight), runnable: u64::from(self.runnable), running, weight: 1 }
            }
            _ => Inputs { load: running, runnable: running, running, weight: 1 },
        }
    }

    /// True for a group's entity.
    pub fn is_group(&self) -> bool {
        self.tid == 0
    }

    /// True for the top level.
    pub fn is_root(&self) -> bool {
        self.flags & PELT_ROOT != 0
    }

    /// True while its dequeue is delayed.
    pub fn is_delayed(&self) -> bool {
        self.flags & PELT_DELAYED != 0
    }

    /// The entity as the core knows it, without its estimate.
    pub fn entity(&self) -> Se {
        Se {
            avg: self.avg,
            weight: scale_load_down(self.weight),
            on_rq: u32::from(self.flags & PELT_ON_RQ != 0),
            running: u32::from(self.flags & PELT_RUNNING != 0),
            nr_runnable: self.runnable,
            delayed: u32::from(self.is_delayed()),
            runnable_weight: u32::try_from(self.weight).unwrap_or(u32::MAX),
            ..Se::default()
        }
    }
}

/// A state and when it was learned, in states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    stamp: u64,
    state: State,
}

/// Everything followed.
///
/// Forgetting a CPU costs nothing: states made before count as unknown from then on.
#[derive(Debug, Default)]
pub struct Objects {
    pub(super) states: BTreeMap<Key, Stamped>,
    queues: BTreeMap<u32, BTreeSet<u32>>,
    groups: BTreeMap<u32, BTreeSet<u32>>,
    joined: BTreeMap<u32, Vec<(State, &'static str)>>,
    /// Entities that left a queue in their sleep, as last seen on it.
    deposits: BTreeMap<u32, VecDeque<(u32, Option<Se>)>>,
    pub(super) pending: BTreeMap<u32, Pending>,
    announced: BTreeMap<u32, Pending>,
    reweights: BTreeMap<u32, VecDeque<Reweight>>,
    forgotten: BTreeMap<u32, u64>,
    forgotten_all: u64,
    stamp: u64,
    by_task: BTreeMap<u32, u32>,
    moves: BTreeMap<u32, VecDeque<Member>>,
    flying: VecDeque<Member>,
    pub(super) moments: Moments,
    updates: BTreeMap<u32, VecDeque<u64>>,
    /// Entities whose joining a queue only the queue has shown, by queue.
    newcomers: BTreeMap<u32, VecDeque<u32>>,
    arrivals: Arrivals,
    weights: BTreeSet<u64>,
    pub(super) owned: BTreeMap<u32, u32>,
    pub(super) owners: BTreeMap<u32, u32>,
    pub(super) unseen: BTreeSet<u32>,
    /// States that found no room.
    pub refused: u64,
}

impl Objects {
    /// The last known state.
    pub fn get(&self, key: Key) -> Option<&State> {
        self.states.get(&key).filter(|s| self.counts(s)).map(|s| &s.state)
    }

    /// True when nothing was forgotten since that could concern it.
    fn counts(&self, stamped: &Stamped) -> bool {
        let forgotten = self.forgotten.get(&stamped.state.cpu).copied().unwrap_or(0);
        stamped.stamp > forgotten.max(self.forgotten_all)
    }

    /// The last known state of a task's entity.
    pub fn of_task(&self, tid: u32) -> Option<&State> {
        self.get(key(PeltSignal::Entity, *self.by_task.get(&tid)?))
    }

    /// The object number of a task's entity.
    pub fn object_of_task(&self, tid: u32) -> Option<u32> {
        self.by_task.get(&tid).copied()
    }

    /// The last known state of a queue.
    pub fn queue(&self, queue: u32) -> Option<&State> {
        self.get(key(PeltSignal::Queue, queue))
    }

    /// Remembers a state. True when it was known before and had to be learned again.
    pub fn put(&mut self, key: Key, state: State) -> bool {
        let old = self.states.get(&key).copied();
        if self.states.len() >= OBJECTS_MAX && old.is_none() {
            self.refused += 1;
            return false;
        }
        if key.0 == PeltSignal::Entity as u32 {
            self.joined.remove(&key.1);
            self.unseen.remove(&key.1);
            if state.tid != 0 {
                self.by_task.insert(state.tid, key.1);
                if self.weights.len() < WEIGHTS_MAX {
                    self.weights.insert(scale_load_down(state.weight));
                }
            }
            self.index(key.1, old.map(|o| o.state.queue), &state);
            self.leaves_as(key.1, &state);
        } else if key.0 == PeltSignal::Queue as u32 {
            keep(&mut self.updates, key.1, state.avg.last_update_time_ns, UPDATES_MAX);
            self.arrivals.updated(state.cpu, state.avg.last_update_time_ns);
            match self.announced.remove(&key.1) {
                Some(pending) => drop(self.pending.insert(key.1, pending)),
                None => drop(self.pending.remove(&key.1)),
            }
        }
        self.stamp += 1;
        self.states.insert(key, Stamped { stamp: self.stamp, state });
        old.is_some_and(|old| !self.counts(&old))
    }

    /// Notes the states that an entity may have since its last record: a queue changed as if it had joined there, or
    /// handed something up.
    pub fn expects(&mut self, entity: u32, states: Vec<(State, &'static str)>) {
        if self.joined.len() < OBJECTS_MAX {
            let known = self.states.get(&(PeltSignal::Entity as u32, entity)).map(|known| known.state.queue);
            if let Some(queue) = states.first().map(|state| state.0.queue).filter(|queue| known != Some(*queue)) {
                keep(&mut self.newcomers, queue, entity, MOVES_MAX);
            }
            self.joined.insert(entity, states);
        }
    }

    /// States an entity may have if what its queue shows is so, and the name of that.
    pub fn expected(&self, key: Key) -> &[(State, &'static str)] {
        let known = self.joined.get(&key.1).filter(|_| key.0 == PeltSignal::Entity as u32);
        known.map_or(&[], Vec::as_slice)
    }

    /// An entity leaves its queue in its sleep or ends: its averages are taken out at a later update.
    pub fn deposits(&mut self, entity: u32, ends: bool) {
        let Some(queue) = self.states.get(&(PeltSignal::Entity as u32, entity)).map(|s| s.state.queue) else { return };
        if ends && let Some(members) = self.queues.get_mut(&queue) {
            members.remove(&entity);
        }
        // The end of a task is recorded twice, when it exits and when it last leaves its CPU.
        if self.deposits.get(&queue).is_none_or(|list| list.iter().all(|(other, _)| *other != entity)) {
            let last = self.get((PeltSignal::Entity as u32, entity)).map(State::entity);
            keep(&mut self.deposits, queue, (entity, last), DEPOSITS_MAX);
        }
    }

    /// Updates a task that left at its queue's clock once more, after the event of its leaving.
    fn leaves_as(&mut self, entity: u32, last: &State) {
        let list = self.deposits.get_mut(&last.queue).into_iter().flatten();
        list.filter(|(other, _)| *other == entity).for_each(|(_, se)| *se = Some(last.entity()));
    }

    /// Entities whose averages may still have to be taken out, the newest first.
    pub fn deposited(&self, queue: u32) -> Vec<Se> {
        self.deposits.get(&queue).into_iter().flatten().rev().filter_map(|(_, se)| *se).collect()
    }

    /// Deposits up to an update of the queue were taken out. A task that was updated at it left after it.
    pub fn withdraw(&mut self, queue: u32, at_ns: u64) {
        if let Some(list) = self.deposits.get_mut(&queue) {
            list.retain(|(_, se)| se.is_some_and(|se| se.avg.last_update_time_ns >= at_ns));
        }
    }

    /// The next state of this queue has this pending.
    pub fn announce(&mut self, queue: u32, pending: Pending) {
        if self.announced.len() < OBJECTS_MAX {
            self.announced.insert(queue, pending);
        }
    }

    /// Sums that the last state of this queue had pending, when the trace has them.
    pub fn pending(&self, queue: u32) -> Option<&Pending> {
        self.pending.get(&queue)
    }

    /// An entity of this queue got another weight.
    pub fn reweighted(&mut self, queue: u32, change: Reweight) {
        keep(&mut self.reweights, queue, change, REWEIGHTS_MAX);
    }

    /// Changes of weight that the queue may not have shown yet, the newest first.
    pub fn reweights(&self, queue: u32) -> Vec<Reweight> {
        self.reweights.get(&queue).map(|list| list.iter().rev().copied().collect()).unwrap_or_default()
    }

    /// Marks changes of weight as part of what the queue showed.
    pub fn settle_reweights(&mut self, queue: u32, settled: &[Reweight]) {
        if let Some(list) = self.reweights.get_mut(&queue) {
            list.retain(|change| !settled.contains(change));
        }
    }

    /// True when entities of task groups were seen on a queue.
    pub fn has_groups(&self, queue: u32) -> bool {
        self.groups.get(&queue).is_some_and(|groups| !groups.is_empty())
    }

    /// Entities that are expected to have joined a queue but have not shown it yet.
    pub fn expected_on(&self, queue: u32) -> impl Iterator<Item = Member> {
        let expected = self.newcomers.get(&queue).into_iter().flatten().rev();
        let states = expected.filter_map(|entity| Some((*entity, self.joined.get(entity)?.first()?.0)));
        states.filter(move |(_, state)| state.queue == queue && state.tid != 0).map(|(entity, s)| (entity, s.entity()))
    }

    /// Stamp at which an entity or the queue it stands for was last seen, in states.
    fn freshness(&self, entity: u32) -> u64 {
        let stamp = |key: Key| self.states.get(&key).map_or(0, |stamped| stamped.stamp);
        let own = self.owned.get(&entity).map_or(0, |queue| stamp((PeltSignal::Queue as u32, *queue)));
        own.max(stamp((PeltSignal::Entity as u32, entity)))
    }

    /// Entities of task groups on a queue; of many, those of which something was seen last.
    pub fn groups(&self, queue: u32, at_most: usize) -> Vec<(u32, State)> {
        let mut entities: Vec<u32> = self.groups.get(&queue).into_iter().flatten().rev().copied().collect();
        if entities.len() > at_most {
            entities.sort_by_cached_key(|entity| std::cmp::Reverse(self.freshness(*entity)));
            entities.truncate(at_most);
        }
        let last = |&e: &u32| {
            let known = self.get((PeltSignal::Entity as u32, e)).copied();
            let expected = self.joined.get(&e).filter(|_| known.is_some());
            let states = expected.map_or_else(|| known.into_iter().collect(), |e| e.iter().map(|s| s.0).collect());
            let states: Vec<State> = states;
            let known = known.filter(|known| !states.contains(known));
            states.into_iter().chain(known).map(move |state| (e, state))
        };
        entities.iter().flat_map(last).collect()
    }

    /// Keeps the list of entities by queue.
    fn index(&mut self, entity: u32, old: Option<u32>, new: &State) {
        if old == Some(new.queue) {
            return;
        }
        if let Some(left) = old.and_then(|old| self.queues.get_mut(&old)) {
            left.remove(&entity);
        }
        self.queues.entry(new.queue).or_default().insert(entity);
        if new.is_group() {
            self.groups.entry(new.queue).or_default().insert(entity);
        }
    }

    /// Forgets one object.
    pub fn forget(&mut self, key: Key) {
        if let Some(stamped) = self.states.get_mut(&key) {
            stamped.stamp = 0;
        }
    }

    /// Forgets every object of a CPU, or all.
    pub fn forget_cpu(&mut self, cpu: Option<u32>) {
        match cpu {
            Some(cpu) => drop(self.forgotten.insert(cpu, self.stamp)),
            None => self.forgotten_all = self.stamp,
        }
    }

    /// An entity may have joined or left this queue, with these averages.
    pub fn moved(&mut self, queue: u32, entity: Member) {
        keep(&mut self.moves, queue, entity, MOVES_MAX);
    }

    /// Weights of entities that were seen on a queue since, are about to leave it or to join, or left in their sleep;
    /// each once.
    pub fn weights_near(&self, queue: u32, since_ns: u64, at_most: usize) -> Vec<u64> {
        let near = |state: &&State| state.seen_ns >= since_ns || state.is_delayed();
        let members = self.queues.get(&queue).into_iter().flatten().rev();
        let members = members.filter_map(|entity| self.get((PeltSignal::Entity as u32, *entity)).filter(near));
        let left = self.deposited(queue).into_iter().map(|se| se.weight);
        let moving = self.moves(queue).into_iter().map(|(_, se)| se.weight);
        let mut weights: Vec<u64> = Vec::new();
        for weight in members.map(|state| scale_load_down(state.weight)).chain(left).chain(moving) {
            if weights.len() < at_most && !weights.contains(&weight) {
                weights.push(weight);
            }
        }
        weights
    }

    /// Known updates of this queue, the newest first.
    pub fn updates(&self, queue: u32) -> impl Iterator<Item = u64> {
        self.updates.get(&queue).into_iter().flatten().rev().copied()
    }

    /// Moments at which an entity may have joined the queue it is on now: at an update of the queue, the newest first,
    /// or after it was moved to the queue's CPU.
    pub fn joins_near(&self, entity: u32, seen: &State) -> impl Iterator<Item = u64> {
        let arrived = self.arrivals.updates(entity, seen.cpu);
        self.updates(seen.queue).chain(arrived)
    }

    /// Tasks that may have joined a queue of a CPU at these updates, as they were before.
    pub fn arrived(&self, cpu: u32) -> impl Iterator<Item = (Member, u64)> {
        let known = |entity| self.get((PeltSignal::Entity as u32, entity)).map(|state| (entity, state.entity()));
        self.arrivals.at(cpu).filter_map(move |(entity, at_ns)| Some((known(entity)?, at_ns)))
    }

    /// A task is on its way to a CPU.
    pub fn arrives(&mut self, entity: u32, cpu: u32) {
        self.arrivals.expect(entity, cpu);
    }

    /// Weights that tasks have had.
    pub fn weights(&self) -> impl Iterator<Item = u64> {
        self.weights.iter().copied()
    }

    /// An entity left a queue with these averages and may join any.
    pub fn flies(&mut self, entity: Member) {
        if self.flying.len() == MOVES_MAX {
            self.flying.pop_front();
        }
        self.flying.push_back(entity);
    }

    /// Entities that may have joined or left, the newest first.
    pub fn moves(&self, queue: u32) -> Vec<Member> {
        let own = self.moves.get(&queue).into_iter().flatten().rev();
        let mut moves: Vec<Member> = Vec::new();
        for entity in own.chain(self.flying.iter().rev()) {
            if !moves.contains(entity) {
                moves.push(*entity);
            }
        }
        moves
    }

    /// One of them is accounted for.
    pub fn settle(&mut self, queue: u32, entity: &Member) {
        if let Some(moves) = self.moves.get_mut(&queue)
            && let Some(index) = moves.iter().position(|other| other == entity)
        {
            moves.remove(index);
        }
        if let Some(index) = self.flying.iter().position(|other| other == entity) {
            self.flying.remove(index);
        }
    }

    /// Entities that were last seen on a queue, the newest first.
    pub fn members(&self, queue: u32, at_most: usize) -> Vec<Member> {
        let entities = self.queues.get(&queue).into_iter().flatten().rev().take(at_most);
        entities.filter_map(|&e| Some((e, self.get((PeltSignal::Entity as u32, e))?.entity()))).collect()
    }

    /// An entity last seen on another queue with just these averages.
    pub fn elsewhere(&self, queue: u32, averages: (u64, u64, u64), at_most: usize) -> Option<Member> {
        let entities = (PeltSignal::Entity as u32, 0)..=(PeltSignal::Entity as u32, u32::MAX);
        let same = |s: &State| (s.avg.load_avg, s.avg.runnable_avg, s.avg.util_avg) == averages;
        let mut found = self.states.range(entities).rev().take(at_most);
        let found = found.find(|(_, s)| s.state.queue != queue && s.state.tid != 0 && same(&s.state) && self.counts(s));
        found.map(|(k, s)| (k.1, s.state.entity()))
    }
}

/// Adds to a bounded list of a queue; the oldest goes.
fn keep<T>(lists: &mut BTreeMap<u32, VecDeque<T>>, queue: u32, entry: T, at_most: usize) {
    if lists.len() >= OBJECTS_MAX && !lists.contains_key(&queue) {
        return;
    }
    let list = lists.entry(queue).or_default();
    if list.len() == at_most {
        list.pop_front();
    }
    list.push_back(entry);
}
