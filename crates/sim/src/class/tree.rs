// SPDX-License-Identifier: GPL-2.0-or-later
//! Queueing, picking and preempting through the levels of task groups (docs/rules/groups.md). Each level is an
//! ordinary fair queue; a walk goes from a task's queue up to the root, or down from it to pick.

use pelton_core::{fair, h_nr_idle_above, set_idle_delta};

use super::fair::{Entities, FairRq, FairRules};
use super::levels::{Levels, Mixed, ROOT, entity_of, slot_of};
use super::pick;
use crate::shape::Run;
use crate::state::{NO_TASK, Task};

/// Extent of an entity's leaving, from its queue up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leave {
    /// The highest entity that leaves its queue.
    top: u32,
    /// The group above it, when that is empty now and its dequeue is delayed; else `NO_TASK`.
    delays: u32,
}

impl Leave {
    /// Slot of the highest entity that leaves, where that is a group.
    pub(crate) fn top_slot(self) -> Option<u32> {
        slot_of(self.top)
    }

    /// Slot of the group whose dequeue is delayed.
    pub(crate) fn delayed_slot(self) -> Option<u32> {
        slot_of(self.delays)
    }

    /// True for the highest entity that leaves.
    pub(crate) fn ends_at(self, entity: u32) -> bool {
        entity == self.top
    }
}

/// The levels of one CPU, borrowed for one operation.
pub(crate) struct Tree<'a, S> {
    pub rules: &'a FairRules<'a, S>,
    /// The root queue.
    pub whole: &'a mut FairRq,
    pub levels: &'a mut Levels,
    pub tasks: &'a mut Vec<Task>,
}

/// Does something on the queue of slot `home`. Where no group has a queue on the CPU, every entity is a task: this is
/// compiled for that case as well, in which no entity is asked what it is.
macro_rules! on_queue {
    ($tree:expr, $home:expr, |$queue:ident, $entities:ident| $body:expr) => {
        if !S::GROUPS || $tree.levels.slots.is_empty() {
            let ($queue, $entities) = (&mut *$tree.whole, &mut *$tree.tasks);
            $body
        } else {
            let ($queue, mut mixed) = $tree.level($home);
            let $entities = &mut mixed;
            $body
        }
    };
}

impl<S: Run> Tree<'_, S> {
    fn level(&mut self, slot: u32) -> (&mut FairRq, Mixed<'_>) {
        let queue = if slot == ROOT { &mut *self.whole } else { &mut self.levels.queues[slot as usize] };
        (queue, Mixed { tasks: self.tasks, groups: &mut self.levels.entities })
    }

    #[inline]
    fn queue(&self, slot: u32) -> &FairRq {
        if slot == ROOT { self.whole } else { &self.levels.queues[slot as usize] }
    }

    #[inline]
    pub(crate) fn home(&self, entity: u32) -> u32 {
        if S::GROUPS { self.levels.home(self.tasks, entity) } else { ROOT }
    }

    /// The group above an entity, `NO_TASK` when that is the root.
    pub(crate) fn above(&self, entity: u32) -> u32 {
        let home = self.home(entity);
        if home == ROOT { NO_TASK } else { entity_of(home) }
    }

    pub(crate) fn is_delayed(&self, entity: u32) -> bool {
        match slot_of(entity) {
            Some(slot) => self.levels.entities[slot as usize].is_delayed(),
            None => self.tasks[entity as usize].fair.is_delayed(),
        }
    }

    /// A group's entity takes the weight of its record.
    fn sync_weight(&mut self, entity: u32) {
        let Some(slot) = slot_of(entity) else { return };
        let record = &self.levels.slots[slot as usize];
        let (weight, home) = (record.se.full_weight(), record.parent);
        if self.levels.entities[slot as usize].se.weight != weight {
            let rules = self.rules;
            let (queue, mut e) = self.level(home);
            queue.reweight(rules, &mut e, entity, (weight, 0));
        }
    }

    /// A group asks for the shortest slice of its entities.
    fn sync_slice(&mut self, slot: u32) {
        if slot == ROOT || self.rules.is_cfs() || self.rules.policy.custom_slice == 0 {
            return;
        }
        let (queue, e) = self.level(slot);
        if let Some(shortest_ns) = queue.shortest_slice_ns(&e) {
            let se = &mut self.levels.entities[slot as usize].se;
            (se.slice_ns, se.custom_slice) = (shortest_ns, 1);
        }
    }

    /// Brings all groups from slot `slot` up to their records.
    pub(crate) fn sync_above(&mut self, mut slot: u32) {
        while slot != ROOT {
            self.sync_slice(slot);
            self.sync_weight(entity_of(slot));
            slot = self.levels.slots[slot as usize].parent;
        }
    }

    /// CFS: what an entity gets of the period of its queue, by its weight and that of the groups above.
    #[inline]
    fn slice_ns(&mut self, entity: u32) -> u64 {
        if self.rules.is_cfs() { self.cfs_slice_ns(entity) } else { 0 }
    }

    fn cfs_slice_ns(&mut self, entity: u32) -> u64 {
        let rules = self.rules;
        let all = self.whole.nr_runnable();
        let (lowest, mut at) = (self.home(entity), entity);
        let (queue, e) = self.level(lowest);
        let idle_only = queue.is_idle_only();
        let mut slice_ns = queue.period_ns(rules, &e, entity, all);
        while at != NO_TASK {
            let home = self.home(at);
            let (queue, e) = self.level(home);
            slice_ns = queue.share_ns(rules, &e, at, slice_ns);
            at = self.above(at);
        }
        let (_, e) = self.level(lowest);
        fair::slice_floor(rules.policy.get(), &rules.tunables, &e.fair(entity).se, idle_only.into(), slice_ns)
    }

    /// A task becomes runnable, or comes from another CPU; groups above that were empty are queued as well.
    pub(crate) fn enqueue(&mut self, task: u32, wakeup: bool) {
        self.join(task, wakeup);
        let slot = self.home(task);
        self.count_idle(slot, 1, self.idle_of(task));
        if self.is_delayed(task) {
            self.count_delayed(slot, 1)
        } else {
            self.count_below(slot, 1)
        }
        self.join_above(slot, false);
    }

    /// Runnable tasks of a group come or go: those of the CPU, unless the group or one above it is cut off.
    #[inline]
    pub(crate) fn count_below(&mut self, slot: u32, tasks: i32) {
        if slot != ROOT && self.levels.is_open(slot) {
            self.whole.below += tasks;
        }
    }

    /// 1 for a task of SCHED_IDLE or an idle group.
    fn idle_of(&self, entity: u32) -> i32 {
        let fair = match slot_of(entity) {
            Some(slot) => &self.levels.entities[slot as usize],
            None => &self.tasks[entity as usize].fair,
        };
        fair.se.idle_policy as i32
    }

    /// Tasks come to a queue, or leave it, `idle` of them idle ones there; up to a group that is cut off.
    #[inline]
    fn count_idle(&mut self, mut slot: u32, tasks: i32, mut idle: i32) {
        if idle == 0 && self.levels.idle == 0 {
            return;
        }
        loop {
            let queue = if slot == ROOT { &mut *self.whole } else { &mut self.levels.queues[slot as usize] };
            queue.idle_tasks = queue.idle_tasks.wrapping_add_signed(idle);
            if slot == ROOT || self.levels.slots[slot as usize].cut_off {
                return;
            }
            idle = h_nr_idle_above(self.levels.entities[slot as usize].se.idle_policy, tasks, idle);
            slot = self.levels.slots[slot as usize].parent;
        }
    }

    /// A group comes to its parent's queue with all its tasks, or leaves it (`sign` -1).
    fn count_idle_group(&mut self, slot: u32, sign: i32) {
        let idle = self.levels.queues[slot as usize].idle_tasks;
        if idle == 0 && self.levels.idle == 0 {
            return;
        }
        let tasks = self.queued_in(slot) as i32;
        let above = h_nr_idle_above(self.levels.entities[slot as usize].se.idle_policy, tasks, idle as i32);
        self.count_idle(self.levels.slots[slot as usize].parent, sign * tasks, sign * above);
    }

    /// sched_group_set_idle() on this CPU: its tasks count as idle ones above, or no longer.
    pub(crate) fn set_idle(&mut self, slot: u32, idle: bool) {
        let (tasks, own) = (self.queued_in(slot), self.levels.queues[slot as usize].idle_tasks);
        self.levels.entities[slot as usize].se.idle_policy = idle.into();
        self.levels.idle = self.levels.idle.wrapping_add_signed(if idle { 1 } else { -1 });
        let (home, more) = (self.levels.slots[slot as usize].parent, set_idle_delta(idle, tasks, own));
        if !self.levels.slots[slot as usize].queued {
            return;
        }
        let queue = if home == ROOT { &mut *self.whole } else { &mut self.levels.queues[home as usize] };
        queue.count_idle_entity(idle);
        self.count_idle(home, 0, more);
    }

    /// Tasks of a group, and of those below it that are not cut off, the running one and delayed ones included.
    fn queued_in(&self, slot: u32) -> u32 {
        let of = |&entity: &u32| slot_of(entity).map_or(1, |below| self.queued_in(below));
        let queue = self.queue(slot);
        let running = (queue.curr != NO_TASK).then_some(queue.curr);
        queue.queue.iter().chain(&running).map(of).sum()
    }

    /// Tasks whose dequeue is delayed come or go, of the group of a slot.
    #[inline]
    fn count_delayed(&mut self, slot: u32, tasks: i32) {
        if slot == ROOT || self.levels.is_open(slot) {
            self.whole.delayed_tasks = self.whole.delayed_tasks.wrapping_add_signed(tasks);
        }
    }

    /// Tasks of a group, and of those below it that are not cut off, whose dequeue is delayed.
    fn delayed_in(&self, slot: u32) -> i32 {
        let of = |&entity: &u32| match slot_of(entity) {
            Some(below) => self.delayed_in(below),
            None => i32::from(self.is_delayed(entity)),
        };
        let queue = self.queue(slot);
        let running = slot_of(queue.curr).map(|_| queue.curr);
        queue.queue.iter().chain(&running).map(of).sum()
    }

    /// The group of a slot, and those above it, are queued; up to one that is cut off. `anew`: one whose dequeue is
    /// delayed leaves first.
    fn join_above(&mut self, mut slot: u32, anew: bool) {
        while slot != ROOT && !self.levels.slots[slot as usize].cut_off {
            let entity = entity_of(slot);
            self.sync_slice(slot);
            self.sync_weight(entity);
            let delayed = self.levels.entities[slot as usize].is_delayed();
            if anew && delayed {
                self.leave_level(entity, true);
            }
            if !self.levels.slots[slot as usize].queued {
                self.join(entity, true);
            } else if delayed {
                self.rejoin(entity);
            }
            slot = self.levels.slots[slot as usize].parent;
        }
    }

    /// A group that was cut off is queued again, with `tasks` runnable ones.
    pub(crate) fn rejoin_group(&mut self, slot: u32, tasks: u32) {
        self.count_below(slot, tasks as i32);
        self.count_delayed(slot, self.delayed_in(slot));
        self.count_idle_group(slot, 1);
        self.join_above(slot, true);
    }

    /// A group leaves its parent's queue with `tasks` runnable ones, before it is cut off; see [`Tree::leave`].
    pub(crate) fn cut_off_group(&mut self, slot: u32, tasks: u32, plan: Leave) {
        self.count_below(slot, -(tasks as i32));
        self.count_delayed(slot, -self.delayed_in(slot));
        self.count_idle_group(slot, -1);
        self.leave(entity_of(slot), true, plan);
    }

    fn join(&mut self, entity: u32, wakeup: bool) {
        let (rules, home) = (self.rules, self.home(entity));
        let slice_ns = self.slice_ns(entity);
        on_queue!(self, home, |queue, e| queue.enqueue(rules, e, entity, wakeup, slice_ns));
        self.note_group(entity, true);
    }

    /// A group's entity joined or left its queue.
    #[inline]
    fn note_group(&mut self, entity: u32, queued: bool) {
        if let Some(slot) = slot_of(entity) {
            self.levels.slots[slot as usize].queued = queued;
            self.count_group(entity, queued);
        }
    }

    /// A group's entity became or ceased to be one of the root's that stand for runnable tasks.
    fn count_group(&mut self, entity: u32, stands: bool) {
        if self.home(entity) == ROOT {
            self.whole.below += if stands { -1 } else { 1 };
        }
    }

    /// A delayed group gets a task again.
    fn rejoin(&mut self, entity: u32) {
        let (rules, home) = (self.rules, self.home(entity));
        let (queue, mut e) = self.level(home);
        queue.requeue(rules, &mut e, entity);
        self.count_group(entity, true);
    }

    /// A delayed task is woken.
    pub(crate) fn requeue(&mut self, task: u32) {
        let (rules, home) = (self.rules, self.home(task));
        on_queue!(self, home, |queue, e| queue.requeue(rules, e, task));
        self.count_below(home, 1);
        self.count_delayed(home, -1);
    }

    /// True when the dequeue of an entity that wants to leave its queue is delayed.
    pub(crate) fn is_over_served(&mut self, entity: u32) -> bool {
        let (rules, home) = (self.rules, self.home(entity));
        let delays = !rules.is_cfs() && rules.policy.delayed_dequeue != 0;
        delays && on_queue!(self, home, |queue, e| queue.is_over_served(rules, &*e, entity))
    }

    /// The dequeue of a task is delayed.
    pub(crate) fn delay(&mut self, task: u32) {
        let (rules, home) = (self.rules, self.home(task));
        on_queue!(self, home, |queue, e| queue.delay(rules, e, task));
        self.count_below(home, -1);
        self.count_delayed(home, 1);
    }

    /// Plans the leaving of an entity: groups above that have nothing left leave their queues, too. `delays`: a group's
    /// dequeue may be delayed.
    pub(crate) fn plan(&mut self, entity: u32, delays: bool) -> Leave {
        let mut top = entity;
        loop {
            let home = self.home(top);
            if home == ROOT || self.queue(home).nr_queued() > 1 || !self.levels.slots[home as usize].queued {
                return Leave { top, delays: NO_TASK };
            }
            let group = entity_of(home);
            if delays && self.is_over_served(group) {
                return Leave { top, delays: group };
            }
            top = group;
        }
    }

    /// Carries a plan out, after the records were updated for it. `sleeping`: the task keeps its lag for its next
    /// wake-up.
    pub(crate) fn leave(&mut self, entity: u32, sleeping: bool, plan: Leave) {
        if slot_of(entity).is_none() {
            let home = self.home(entity);
            if self.is_delayed(entity) {
                self.count_delayed(home, -1)
            } else {
                self.count_below(home, -1)
            }
            self.count_idle(home, -1, -self.idle_of(entity));
        }
        let (mut leaving, mut sleeping) = (entity, sleeping);
        loop {
            self.leave_level(leaving, sleeping);
            if leaving == plan.top {
                break;
            }
            (leaving, sleeping) = (self.above(leaving), true);
        }
        if plan.delays != NO_TASK {
            let (rules, home) = (self.rules, self.home(plan.delays));
            let (queue, mut e) = self.level(home);
            queue.delay(rules, &mut e, plan.delays);
            self.count_group(plan.delays, false);
        }
        self.sync_above(self.home(plan.top));
    }

    fn leave_level(&mut self, entity: u32, sleeping: bool) {
        let (rules, home, stood) = (self.rules, self.home(entity), !self.is_delayed(entity));
        on_queue!(self, home, |queue, e| queue.dequeue(rules, e, entity, sleeping));
        if let Some(slot) = slot_of(entity) {
            self.levels.slots[slot as usize].queued = false;
            if stood {
                self.count_group(entity, false);
            }
            self.sync_weight(entity);
        }
    }

    /// The task to run next; or a delayed entity, which then has to leave; `NO_TASK` when there is nothing.
    pub(crate) fn pick(&mut self) -> u32 {
        let rules = self.rules;
        let mut slot = ROOT;
        loop {
            let entity = on_queue!(self, slot, |queue, e| queue.pick(rules, &*e));
            match slot_of(entity) {
                Some(below) if !self.levels.entities[below as usize].is_delayed() => slot = below,
                _ => return entity,
            }
        }
    }

    /// The entity that runs at the lowest level at which one does, `NO_TASK` when the fair class does not run.
    pub(crate) fn lowest_curr(&self) -> u32 {
        let mut entity = self.whole.curr;
        while let Some(slot) = slot_of(entity) {
            match self.levels.queues[slot as usize].curr {
                NO_TASK => break,
                below => entity = below,
            }
        }
        entity
    }

    /// True if the entity is the task, or a group above it.
    pub(crate) fn is_on_path(&self, entity: u32, task: u32) -> bool {
        let mut at = task;
        while at != NO_TASK {
            if at == entity {
                return true;
            }
            at = self.above(at);
        }
        false
    }

    /// The running entity of a level goes back to its queue.
    pub(crate) fn put_level(&mut self, home: u32) {
        let rules = self.rules;
        on_queue!(self, home, |queue, e| queue.put_curr(rules, &*e));
    }

    /// A queued entity becomes the running one of its level; false when it is.
    pub(crate) fn set_level(&mut self, entity: u32) -> bool {
        let (rules, home) = (self.rules, self.home(entity));
        let changes = self.queue(home).curr != entity;
        if changes {
            on_queue!(self, home, |queue, e| queue.set_curr(rules, e, entity));
        }
        changes
    }

    /// Charges run time at every level; true when a request is used up and another entity waits at its level.
    #[inline]
    pub(crate) fn charge(&mut self, delta_ns: u64) -> bool {
        if !S::GROUPS || self.levels.slots.is_empty() {
            return self.whole.charge(self.rules, self.tasks, delta_ns);
        }
        self.charge_levels(delta_ns)
    }

    fn charge_levels(&mut self, delta_ns: u64) -> bool {
        let rules = self.rules;
        let (mut slot, mut used_up) = (ROOT, false);
        loop {
            let curr = self.queue(slot).curr;
            used_up |= on_queue!(self, slot, |queue, e| queue.charge(rules, e, delta_ns));
            match slot_of(curr) {
                Some(below) => slot = below,
                None => return used_up,
            }
        }
    }

    /// True if the running task, or a group it is in, should give way at the tick.
    pub(crate) fn tick_preempts(&mut self) -> bool {
        let rules = self.rules;
        if !rules.is_cfs() {
            // EEVDF decided when its time was charged.
            return false;
        }
        let mut entity = self.lowest_curr();
        while entity != NO_TASK {
            let slice_ns = self.slice_ns(entity);
            let home = self.home(entity);
            let (queue, e) = self.level(home);
            if !queue.queue.is_empty() && queue.tick_preempts(rules, &e, slice_ns) {
                return true;
            }
            entity = self.above(entity);
        }
        false
    }

    fn depth(&self, entity: u32) -> u32 {
        let (mut depth, mut at) = (0, entity);
        while at != NO_TASK {
            (depth, at) = (depth + 1, self.above(at));
        }
        depth
    }

    /// find_matching_se(): two entities, or the groups they are in, at the lowest level they share.
    fn matching(&self, mut old: u32, mut new: u32) -> (u32, u32) {
        while self.home(old) != self.home(new) {
            let (old_depth, new_depth) = (self.depth(old), self.depth(new));
            if old_depth >= new_depth {
                old = self.above(old);
            }
            if new_depth >= old_depth {
                new = self.above(new);
            }
        }
        (old, new)
    }

    /// True if the woken task preempts the running one. They, or their groups, are compared at the lowest level they
    /// share.
    pub(crate) fn wakeup_preempts(&mut self, curr: u32, wakee: u32) -> bool {
        let is_new = std::mem::take(&mut self.tasks[wakee as usize].fair.just_made);
        let (old, new) = self.matching(curr, wakee);
        let idle = [curr, wakee].map(|entity| self.idle_of(entity) != 0);
        let at = [old, new].map(|entity| self.idle_of(entity) != 0);
        let (rules, home) = (self.rules, self.home(new));
        if let Some(decided) = pick::by_policy(rules, idle, at, self.tasks[wakee as usize].fair.batch) {
            let gives_up = decided && fair::idle_unprotected(rules.policy.get());
            on_queue!(self, home, |queue, e| queue.unprotect(rules, e, gives_up));
            return decided;
        }
        on_queue!(self, home, |queue, e| queue.curr == NO_TASK || queue.entity_preempts(rules, e, new, is_new))
    }

    /// The running task yields to the others of its queue; CFS passes over the groups above it as well.
    pub(crate) fn yield_from(&mut self, task: u32) {
        let (rules, mut entity) = (self.rules, task);
        while entity != NO_TASK {
            let home = self.home(entity);
            let (queue, mut e) = self.level(home);
            if queue.curr == entity {
                queue.yield_curr(rules, &mut e);
            }
            entity = if rules.is_cfs() { self.above(entity) } else { NO_TASK };
        }
    }

    /// A task is made by one that runs here; see [`FairRq::fork`].
    pub(crate) fn fork(&mut self, task: u32) {
        let (rules, home) = (self.rules, self.home(task));
        let slice_ns = self.slice_ns(task);
        let (queue, mut e) = self.level(home);
        queue.fork(rules, &mut e, task, slice_ns);
    }

    /// A task that sleeps wakes on another CPU.
    pub(crate) fn leave_asleep(&mut self, task: u32) {
        let home = self.home(task);
        let queue = if home == ROOT { &*self.whole } else { &self.levels.queues[home as usize] };
        queue.leave_asleep(self.rules, &mut self.tasks[task as usize].fair);
    }
}
