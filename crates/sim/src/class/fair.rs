// SPDX-License-Identifier: GPL-2.0-or-later
//! Fair runqueue: which entities are on it, and the search among them. What is done to them is the core's (`fair.h`).
//!
//! The running entity is not in `queue`.

use pelton_core::fair::{self, FairSe, FairTunables};
use pelton_core::{Policy, scale_load, scale_load_down, value};

use super::{pick, weight_level};
use crate::shape::{Rules, Run};
use crate::state::NO_TASK;
use pelton_model::workload::SchedPolicy;

/// Rules and parameters of the fair class of a run.
pub(crate) struct FairRules<'p, S> {
    pub policy: Rules<'p, S>,
    pub tunables: FairTunables,
    /// The least vruntime of a queue is kept.
    pub keeps_min: bool,
}

impl<'p, S: Run> FairRules<'p, S> {
    pub(crate) fn new(policy: &'p Policy, nr_cpus: u32, tick_ns: u64) -> Self {
        let mut tunables = FairTunables::default();
        fair::fair_tunables_init(policy, &mut tunables, nr_cpus, tick_ns);
        FairRules { policy: Rules::of(policy), tunables, keeps_min: fair::keeps_min_vruntime(policy) }
    }

    pub(crate) fn is_cfs(&self) -> bool {
        self.policy.fair_class == value::FAIR_CLASS_CFS
    }
}

/// Fair part of a task, or of a group on one CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct FairEntity {
    pub se: FairSe,
    /// SCHED_BATCH or SCHED_IDLE: does not preempt.
    pub batch: bool,
    /// Never enqueued before.
    pub fresh: bool,
    /// Enqueued for the first time, and not yet checked for preemption.
    pub just_made: bool,
    /// vruntime is relative to `min_vruntime` of no queue (CFS migration).
    pub detached: bool,
}

impl FairEntity {
    /// One of this weight, scaled down.
    pub(crate) fn of_weight(weight: u64) -> FairEntity {
        let mut entity = FairEntity::default();
        entity.se.weight = scale_load(weight);
        entity
    }

    /// One of a task that was never enqueued.
    pub(crate) fn fresh() -> FairEntity {
        FairEntity { fresh: true, ..FairEntity::of_weight(1024) }
    }

    /// The core's record.
    #[inline]
    pub(crate) fn se(&self) -> &FairSe {
        &self.se
    }

    /// Leaves the class: its deadline is that of no queue.
    pub(crate) fn leaves_class(&mut self) {
        self.se.rel_deadline = 0;
    }

    /// Marks the entity as enqueued before the run began.
    pub(crate) fn was_here(&mut self) {
        self.fresh = false;
    }

    /// The task is scheduled by this policy from now on.
    pub(crate) fn adopts(&mut self, policy: SchedPolicy) {
        self.batch = matches!(policy, SchedPolicy::Batch { .. });
        self.se.idle_policy = u32::from(policy == SchedPolicy::Idle);
        if let SchedPolicy::Normal { slice_ns, .. } = policy {
            (self.se.slice_ns, self.se.custom_slice) = (slice_ns, u32::from(slice_ns != 0));
        }
        if let Some(level) = weight_level(policy) {
            self.se.weight = scale_load(fair::task_weight(level).into());
            self.se.inv_weight = fair::task_inv_weight(level);
        }
    }

    /// Weight, scaled down.
    pub(crate) fn weight(&self) -> u64 {
        scale_load_down(self.se.weight)
    }

    pub(crate) fn is_delayed(&self) -> bool {
        self.se.delayed != 0
    }
}

/// Fair queue of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct FairRq {
    /// Queued tasks except the running one.
    pub queue: Vec<u32>,
    /// Running fair task or `NO_TASK`.
    pub curr: u32,
    /// Sums and counts, running entity included where it belongs.
    pub(crate) rq: fair::FairRq,
    /// CFS: passed over at the next choice, for it yielded.
    pub(super) skip: u32,
    /// Queued entities with a pending delayed dequeue.
    pub(super) nr_delayed_here: u32,
    /// Root queue: runnable tasks in groups, less the groups' entities that are queued here and not delayed.
    pub below: i32,
    /// Root queue: tasks with a pending delayed dequeue, here and in groups that are not cut off.
    pub delayed_tasks: u32,
    /// Tasks here and in groups that are not cut off which count as idle ones.
    pub(super) idle_tasks: u32,
}

impl Default for FairRq {
    fn default() -> Self {
        let rq = fair::FairRq::default();
        let (nr_delayed_here, below, delayed_tasks, idle_tasks) = (0, 0, 0, 0);
        FairRq {
            queue: Vec::new(),
            curr: NO_TASK,
            rq,
            skip: NO_TASK,
            nr_delayed_here,
            below,
            delayed_tasks,
            idle_tasks,
        }
    }
}

/// Access to the fair part of tasks by number.
pub(crate) trait Entities {
    /// Fair part of a task.
    fn fair(&self, task: u32) -> &FairEntity;
    /// Fair part of a task, writable.
    fn fair_mut(&mut self, task: u32) -> &mut FairEntity;
}

impl FairRq {
    /// The running entity, or `NO_TASK`.
    #[inline]
    pub(crate) fn curr(&self) -> u32 {
        self.curr
    }

    /// Its waiting entities.
    #[inline]
    pub(crate) fn waiting(&self) -> &[u32] {
        &self.queue
    }

    /// Runnable tasks including the running one, without delayed ones; of the root queue.
    pub(crate) fn nr_runnable(&self) -> u32 {
        (self.queue.len() as u32 + u32::from(self.curr != NO_TASK)).wrapping_add_signed(self.below)
            - self.nr_delayed_here
    }

    /// Tasks of the root queue and of those below it, the running one and delayed ones included.
    pub(crate) fn h_nr_queued(&self) -> u32 {
        self.nr_runnable() + self.delayed_tasks
    }

    /// Of these, those of SCHED_IDLE and of idle groups.
    pub(crate) fn nr_idle_tasks(&self) -> u32 {
        self.idle_tasks
    }

    /// Queued entities with a pending delayed dequeue.
    #[cfg(test)]
    pub(crate) fn nr_delayed_here(&self) -> u32 {
        self.nr_delayed_here
    }

    /// Of these, those with a pending delayed dequeue.
    pub(crate) fn nr_delayed(&self) -> u32 {
        self.delayed_tasks
    }

    /// A runnable task waits, of the root queue.
    pub(crate) fn has_waiting(&self) -> bool {
        (self.queue.len() as u32).wrapping_add_signed(self.below) > self.nr_delayed_here
    }

    /// All entities of the queue, the running one included.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.queue.iter().copied().chain((self.curr != NO_TASK).then_some(self.curr))
    }

    /// Weight of all entities.
    #[cfg(test)]
    pub(crate) fn load_weight(&self) -> u64 {
        self.rq.load_weight
    }

    /// Entities competing, including the running one and delayed ones.
    pub(crate) fn nr_queued(&self) -> u32 {
        self.rq.nr_queued
    }

    /// Counts an idle task that is not there.
    #[cfg(test)]
    pub(crate) fn spoil_idle_tasks(&mut self) {
        self.idle_tasks += 1;
    }

    /// Entities of SCHED_IDLE and of idle groups.
    #[cfg(test)]
    pub(crate) fn idle_entities(&self) -> u32 {
        self.rq.nr_idle
    }

    /// Nothing but SCHED_IDLE and idle groups competes.
    pub(crate) fn is_idle_only(&self) -> bool {
        self.rq.nr_queued > 0 && self.rq.nr_idle == self.rq.nr_queued
    }

    pub(super) fn running<E: Entities>(&self, e: &E) -> Option<FairSe> {
        (self.curr != NO_TASK).then(|| e.fair(self.curr).se)
    }

    /// The waiting entity of least vruntime.
    pub(super) fn first<E: Entities>(&self, e: &E) -> Option<FairSe> {
        self.queue.iter().map(|&t| e.fair(t).se).min_by_key(|se| se.vruntime)
    }

    /// Shortest and longest slice of all entities, or of those that wait.
    pub(super) fn look_at_slices<E: Entities>(&mut self, e: &E, waiting_only: bool) {
        let runs = self.curr != NO_TASK && !waiting_only;
        let (mut least, mut most) = if runs { [e.fair(self.curr).se.slice_ns; 2].into() } else { (u64::MAX, 0) };
        for &t in &self.queue {
            let slice_ns = e.fair(t).se.slice_ns;
            (least, most) = (least.min(slice_ns), most.max(slice_ns));
        }
        (self.rq.min_slice_ns, self.rq.max_slice_ns) = (least, most);
    }

    /// Shortest slice of the queue.
    pub(super) fn shortest_slice_ns<E: Entities>(&mut self, e: &E) -> Option<u64> {
        self.look_at_slices(e, false);
        (self.rq.min_slice_ns != u64::MAX).then_some(self.rq.min_slice_ns)
    }

    fn insert<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E, task: u32) {
        if !rules.is_cfs() {
            fair::avg_vruntime_add(rules.policy.get(), &mut self.rq, &e.fair(task).se);
        }
        self.queue.push(task);
    }

    fn remove<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E, task: u32) {
        if let Some(i) = self.queue.iter().position(|&t| t == task) {
            self.queue.remove(i);
            if !rules.is_cfs() {
                fair::avg_vruntime_sub(rules.policy.get(), &mut self.rq, &e.fair(task).se);
            }
        }
    }

    /// A group that is queued here becomes idle, or ceases to be.
    pub(super) fn count_idle_entity(&mut self, idle: bool) {
        self.rq.nr_idle = self.rq.nr_idle.wrapping_add_signed(if idle { 1 } else { -1 });
    }

    /// An entity is one of the queue's now, or no longer.
    fn count<E: Entities>(&mut self, e: &mut E, task: u32, joins: bool) {
        let se = &mut e.fair_mut(task).se;
        se.on_rq = joins.into();
        let (rq, weight, idle) = (&mut self.rq, se.weight, u32::from(se.idle_policy != 0));
        if joins {
            (rq.nr_queued, rq.nr_idle, rq.load_weight) = (rq.nr_queued + 1, rq.nr_idle + idle, rq.load_weight + weight);
        } else {
            (rq.nr_queued, rq.nr_idle, rq.load_weight) = (rq.nr_queued - 1, rq.nr_idle - idle, rq.load_weight - weight);
        }
    }

    /// CFS: the period of the queue that an entity shares in; `all` runnable tasks are on the CPU.
    pub(super) fn period_ns<S: Run, E: Entities>(&self, rules: &FairRules<'_, S>, e: &E, entity: u32, all: u32) -> u64 {
        fair::slice_period(rules.policy.get(), &rules.tunables, &self.rq, &e.fair(entity).se, all)
    }

    /// CFS: what an entity gets of a time that belongs to all of the queue.
    pub(super) fn share_ns<S: Run, E: Entities>(
        &self,
        rules: &FairRules<'_, S>,
        e: &E,
        entity: u32,
        whole_ns: u64,
    ) -> u64 {
        fair::slice_share(rules.policy.get(), &self.rq, &e.fair(entity).se, whole_ns)
    }

    /// Puts an entity that becomes runnable here in its place. CFS: `slice_ns` is its slice.
    pub(super) fn enqueue<S: Run, E: Entities>(
        &mut self,
        rules: &FairRules<'_, S>,
        e: &mut E,
        task: u32,
        wakeup: bool,
        slice_ns: u64,
    ) {
        if rules.is_cfs() {
            self.place_cfs(rules, e.fair_mut(task), wakeup, slice_ns);
        } else {
            self.place(rules, e, task);
        }
        let entity = e.fair_mut(task);
        entity.just_made = entity.fresh;
        entity.fresh = false;
        let delayed = entity.is_delayed();
        self.count(e, task, true);
        self.insert(rules, e, task);
        self.nr_delayed_here += u32::from(delayed);
        self.advance_min(rules, e);
    }

    /// New entities start one slice behind; sleepers get a bounded credit.
    fn place_cfs<S: Run>(&self, rules: &FairRules<'_, S>, entity: &mut FairEntity, wakeup: bool, slice_ns: u64) {
        if entity.fresh {
            entity.se.vruntime = self.rq.zero_vruntime;
            self.place_entity_cfs(rules, entity, true, slice_ns);
        } else if entity.detached {
            entity.se.vruntime += self.rq.zero_vruntime;
        }
        entity.detached = false;
        if wakeup {
            self.place_entity_cfs(rules, entity, false, slice_ns);
        }
    }

    /// No simulated sleep is so long that a comparison of vruntimes could wrap.
    fn place_entity_cfs<S: Run>(
        &self,
        rules: &FairRules<'_, S>,
        entity: &mut FairEntity,
        initial: bool,
        slice_ns: u64,
    ) {
        let (p, t) = (rules.policy.get(), &rules.tunables);
        fair::place_entity_cfs(p, t, &self.rq, &mut entity.se, initial.into(), slice_ns, 0);
    }

    fn place<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, task: u32) {
        let curr = self.running(e);
        let entity = e.fair_mut(task);
        let initial = entity.fresh.into();
        fair::place_entity(rules.policy.get(), &rules.tunables, &mut self.rq, curr.as_ref(), &mut entity.se, initial);
    }

    /// A task is made by the one that runs here. CFS places it on its parent's queue, wherever it will run. On a queue
    /// where it is alone it owes no more than a brother between others.
    pub(super) fn fork<S: Run, E: Entities>(&self, rules: &FairRules<'_, S>, e: &mut E, task: u32, slice_ns: u64) {
        if !rules.is_cfs() {
            return;
        }
        let parent = self.running(e);
        let entity = e.fair_mut(task);
        entity.se.vruntime = parent.map_or(entity.se.vruntime, |parent| parent.vruntime);
        self.place_entity_cfs(rules, entity, true, slice_ns);
        entity.fresh = false;
        entity.just_made = true;
        self.make_relative(entity);
    }

    /// CFS: vruntime relative to this queue's minimum.
    fn make_relative(&self, entity: &mut FairEntity) {
        if !entity.detached && !entity.fresh {
            entity.se.vruntime -= self.rq.zero_vruntime;
            entity.detached = true;
        }
    }

    /// An entity gets another weight, with its inverse when that is a task's.
    pub(super) fn reweight<S: Run, E: Entities>(
        &mut self,
        rules: &FairRules<'_, S>,
        e: &mut E,
        entity: u32,
        weight: (u64, u32),
    ) {
        let (curr, runs) = (self.running(e), self.curr == entity);
        self.look_at_slices(e, false);
        let se = &mut e.fair_mut(entity).se;
        let (p, t) = (rules.policy.get(), &rules.tunables);
        fair::reweight_entity_fair(p, t, &mut self.rq, curr.as_ref(), se, runs, weight);
        self.advance_min(rules, e);
    }

    /// Takes a task off. `sleeping` keeps its lag for the next wake-up, otherwise it moves to another queue.
    pub(crate) fn dequeue<S: Run, E: Entities>(
        &mut self,
        rules: &FairRules<'_, S>,
        e: &mut E,
        task: u32,
        sleeping: bool,
    ) {
        if rules.is_cfs() {
            if !sleeping {
                self.make_relative(e.fair_mut(task));
            }
        } else {
            self.leave(rules, e, task, sleeping);
        }
        if self.skip == task {
            self.skip = NO_TASK;
        }
        if self.curr == task {
            self.curr = NO_TASK;
        } else {
            self.remove(rules, e, task);
        }
        self.count(e, task, false);
        self.advance_min(rules, e);
    }

    /// EEVDF: remembers the lag of an entity that leaves.
    fn leave<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, task: u32, sleeping: bool) {
        let curr = self.running(e);
        self.look_at_slices(e, false);
        let se = &mut e.fair_mut(task).se;
        fair::leave_entity(rules.policy.get(), &rules.tunables, &mut self.rq, curr.as_ref(), se, sleeping.into());
        if se.delayed != 0 {
            self.nr_delayed_here -= 1;
            // One that moves stays what it is.
            if sleeping {
                fair::finish_delayed_dequeue(se);
            }
        }
    }

    /// EEVDF: an entity that is not eligible stays queued when it wants to sleep.
    pub(crate) fn delay<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, task: u32) {
        let curr = self.running(e);
        self.look_at_slices(e, false);
        let se = &mut e.fair_mut(task).se;
        if fair::delay_dequeue(rules.policy.get(), &rules.tunables, &mut self.rq, curr.as_ref(), se) == 0 {
            se.delayed = 1;
        }
        self.nr_delayed_here += 1;
    }

    /// True when the task has received more than its share (its dequeue is delayed).
    pub(crate) fn is_over_served<S: Run, E: Entities>(&self, rules: &FairRules<'_, S>, e: &E, task: u32) -> bool {
        fair::entity_eligible(rules.policy.get(), &self.rq, self.running(e).as_ref(), &e.fair(task).se) == 0
    }

    /// A task whose dequeue was delayed is woken: it keeps its place, or is placed anew.
    pub(crate) fn requeue<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, task: u32) {
        let (curr, waits) = (self.running(e), self.curr != task);
        self.look_at_slices(e, false);
        // The sums hold an entity as it was placed.
        let placed = e.fair(task).se;
        let se = &mut e.fair_mut(task).se;
        let anew = fair::requeue_delayed(rules.policy.get(), &rules.tunables, &mut self.rq, curr.as_ref(), se) != 0;
        se.delayed = 0;
        self.nr_delayed_here -= 1;
        if !anew {
            return;
        }
        self.rq.nr_queued -= 1;
        if waits {
            fair::avg_vruntime_sub(rules.policy.get(), &mut self.rq, &placed);
        }
        self.place(rules, e, task);
        if waits {
            self.queue.retain(|&t| t != task);
            self.insert(rules, e, task);
        }
        self.rq.nr_queued += 1;
    }

    /// A task that sleeps wakes on another queue: CFS takes its place relative to this one along, EEVDF has its lag.
    pub(crate) fn leave_asleep<S: Run>(&self, rules: &FairRules<'_, S>, entity: &mut FairEntity) {
        if rules.is_cfs() {
            self.make_relative(entity);
        }
    }

    /// The chosen task becomes the running one.
    pub(crate) fn set_curr<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, task: u32) {
        self.remove(rules, e, task);
        self.look_at_slices(e, true);
        self.curr = task;
        let se = &mut e.fair_mut(task).se;
        se.ran_ns = 0;
        if !rules.is_cfs() {
            fair::set_protect_slice(rules.policy.get(), &self.rq, se);
        }
        if self.skip == task {
            self.skip = NO_TASK;
        }
    }

    /// The running task goes back to the queue, still runnable.
    pub(crate) fn put_curr<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E) {
        let task = std::mem::replace(&mut self.curr, NO_TASK);
        if task != NO_TASK {
            self.insert(rules, e, task);
        }
    }

    /// Charges `delta_ns` to the running task; true when it has to give way.
    pub(crate) fn charge<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E, delta_ns: u64) -> bool {
        if self.curr == NO_TASK || delta_ns == 0 {
            return false;
        }
        let p = rules.policy.get();
        let se = &mut e.fair_mut(self.curr).se;
        let mut gives_way = false;
        if rules.is_cfs() {
            fair::update_curr(p, se, delta_ns);
        } else {
            gives_way = fair::update_curr_eevdf(p, &rules.tunables, &mut self.rq, se, delta_ns);
        }
        self.advance_min(rules, e);
        gives_way
    }

    /// At the tick: should the running entity, whose slice is known, give way? EEVDF decides when it is
    /// charged.
    pub(super) fn tick_preempts<S: Run, E: Entities>(&self, rules: &FairRules<'_, S>, e: &E, slice_ns: u64) -> bool {
        let (Some(curr), Some(first)) = (self.running(e), self.first(e)) else { return false };
        rules.is_cfs() && fair::check_preempt_tick(&rules.tunables, &curr, &first, slice_ns) != 0
    }

    /// Yields: the running task goes behind the others.
    pub(crate) fn yield_curr<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &mut E) {
        if rules.is_cfs() {
            self.skip = self.curr;
            return;
        }
        fair::yield_entity(rules.policy.get(), &rules.tunables, &mut self.rq, &mut e.fair_mut(self.curr).se);
        self.advance_min(rules, e);
    }

    /// The task to run next, which may be the running one or a delayed one; `NO_TASK` when empty.
    pub(crate) fn pick<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E) -> u32 {
        let picked = pick::next(self, rules, e);
        if picked == self.skip {
            self.skip = NO_TASK;
        }
        picked
    }

    #[inline]
    fn advance_min<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E) {
        if rules.keeps_min {
            self.update_min(rules, e);
        }
    }

    fn update_min<S: Run, E: Entities>(&mut self, rules: &FairRules<'_, S>, e: &E) {
        let (curr, first) = (self.running(e), self.first(e));
        fair::update_min_vruntime(rules.policy.get(), &mut self.rq, curr.as_ref(), first.as_ref());
    }
}
