// SPDX-License-Identifier: GPL-2.0-only
//! Queueing, picking and preempting through the levels of task groups (SPEC J.2, groups). Each level is an ordinary fair
//! queue; a walk goes from a task's queue up to the root, or down from it to pick.

use super::fair::{FairKind, FairRq, preempts_by_policy};
use super::levels::{Levels, Mixed, ROOT, entity_of, slot_of};
use super::{cfs, eevdf};
use crate::state::{NO_TASK, Task};

/// How far up the leaving of an entity reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leave {
    /// The highest entity that leaves its queue.
    pub top: u32,
    /// The group above it, when that is empty now and its dequeue is delayed; else `NO_TASK`.
    pub delayed: u32,
}

/// The levels of one CPU, borrowed for one operation.
pub(crate) struct Tree<'a> {
    pub kind: FairKind,
    /// Dequeues of entities that are not eligible are delayed.
    pub delays: bool,
    pub root: &'a mut FairRq,
    pub levels: &'a mut Levels,
    pub tasks: &'a mut Vec<Task>,
}

impl Tree<'_> {
    fn at(&mut self, slot: u32) -> (&mut FairRq, Mixed<'_>) {
        let queue = if slot == ROOT { &mut *self.root } else { &mut self.levels.queues[slot as usize] };
        (queue, Mixed { tasks: self.tasks, groups: &mut self.levels.entities })
    }

    fn queue(&self, slot: u32) -> &FairRq {
        if slot == ROOT { self.root } else { &self.levels.queues[slot as usize] }
    }

    pub(crate) fn home(&self, entity: u32) -> u32 {
        self.levels.home(self.tasks, entity)
    }

    /// The group above an entity, `NO_TASK` when that is the root.
    pub(crate) fn above(&self, entity: u32) -> u32 {
        let home = self.home(entity);
        if home == ROOT { NO_TASK } else { entity_of(home) }
    }

    pub(crate) fn is_delayed(&self, entity: u32) -> bool {
        match slot_of(entity) {
            Some(slot) => self.levels.entities[slot as usize].delayed,
            None => self.tasks[entity as usize].fair.delayed,
        }
    }

    /// A group's entity takes the weight of its record.
    fn sync_weight(&mut self, entity: u32) {
        let Some(slot) = slot_of(entity) else { return };
        let record = &self.levels.slots[slot as usize];
        let (weight, queued, home) = (record.se.weight, record.queued, record.parent);
        if self.levels.entities[slot as usize].weight != weight {
            let kind = self.kind;
            let (queue, mut e) = self.at(home);
            queue.reweight(kind, &mut e, entity, queued, weight);
        }
    }

    /// A group asks for the shortest slice of its entities.
    fn sync_slice(&mut self, slot: u32) {
        if slot != ROOT
            && let FairKind::Eevdf(p) = self.kind
        {
            let (queue, e) = self.at(slot);
            let shortest = eevdf::min_custom_slice_ns(queue, p, &e);
            self.levels.entities[slot as usize].custom_slice_ns = shortest;
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
    fn slice_ns(&mut self, entity: u32, joins: bool) -> u64 {
        let FairKind::Cfs(p) = self.kind else { return 0 };
        let (mut entity, mut joins) = (entity, joins);
        let mut slice = p.period_ns(self.queue(self.home(entity)).nr_queued() + u32::from(joins));
        loop {
            let home = self.home(entity);
            let (queue, e) = self.at(home);
            slice = cfs::share_ns(queue, &e, entity, joins, slice);
            if home == ROOT {
                return slice;
            }
            entity = entity_of(home);
            joins = !self.levels.slots[home as usize].queued;
        }
    }

    /// A task becomes runnable; groups above that were empty are queued as well.
    pub(crate) fn enqueue(&mut self, task: u32, wakeup: bool) {
        self.join(task, wakeup);
        let mut slot = self.home(task);
        if slot != ROOT {
            self.root.below += 1;
        }
        while slot != ROOT {
            let entity = entity_of(slot);
            self.sync_slice(slot);
            self.sync_weight(entity);
            if !self.levels.slots[slot as usize].queued {
                self.join(entity, true);
            } else if self.levels.entities[slot as usize].delayed {
                self.rejoin(entity);
            }
            slot = self.levels.slots[slot as usize].parent;
        }
    }

    fn join(&mut self, entity: u32, wakeup: bool) {
        let (kind, home) = (self.kind, self.home(entity));
        let slice_ns = self.slice_ns(entity, true);
        let (queue, mut e) = self.at(home);
        queue.enqueue_with(kind, &mut e, entity, wakeup, slice_ns);
        self.note_group(entity, true);
    }

    /// A group's entity joined or left its queue.
    fn note_group(&mut self, entity: u32, queued: bool) {
        if let Some(slot) = slot_of(entity) {
            self.levels.slots[slot as usize].queued = queued;
            self.count_group(entity, queued);
        }
    }

    /// A group's entity became or ceased to be one of the root's that stand for runnable tasks.
    fn count_group(&mut self, entity: u32, stands: bool) {
        if self.home(entity) == ROOT {
            self.root.below += if stands { -1 } else { 1 };
        }
    }

    /// A delayed group gets a task again.
    fn rejoin(&mut self, entity: u32) {
        let (kind, home) = (self.kind, self.home(entity));
        let (queue, mut e) = self.at(home);
        queue.requeue(kind, &mut e, entity);
        self.count_group(entity, true);
    }

    /// A delayed task is woken.
    pub(crate) fn requeue(&mut self, task: u32) {
        let (kind, home) = (self.kind, self.home(task));
        let (queue, mut e) = self.at(home);
        queue.requeue(kind, &mut e, task);
        if home != ROOT {
            self.root.below += 1;
        }
    }

    /// True when the dequeue of an entity that wants to leave its queue is delayed.
    pub(crate) fn is_over_served(&mut self, entity: u32) -> bool {
        let home = self.home(entity);
        let delays = self.delays;
        let (queue, e) = self.at(home);
        delays && eevdf::over_served(queue, &e, entity)
    }

    /// The dequeue of a task is delayed.
    pub(crate) fn delay(&mut self, task: u32) {
        self.tasks[task as usize].fair.delayed = true;
        let home = self.home(task);
        self.at(home).0.delayed += 1;
        if home != ROOT {
            self.root.below -= 1;
        }
    }

    /// What the leaving of an entity brings about above: groups that have nothing left leave their queues, too.
    pub(crate) fn plan(&mut self, entity: u32) -> Leave {
        let mut top = entity;
        loop {
            let home = self.home(top);
            if home == ROOT || self.queue(home).nr_queued() > 1 {
                return Leave { top, delayed: NO_TASK };
            }
            let group = entity_of(home);
            if self.is_over_served(group) {
                return Leave { top, delayed: group };
            }
            top = group;
        }
    }

    /// Carries a plan out, after the records were told of it. `sleeping`: the task keeps its lag for its next wake-up.
    pub(crate) fn leave(&mut self, entity: u32, sleeping: bool, plan: Leave) {
        if slot_of(entity).is_none() && self.home(entity) != ROOT && !self.is_delayed(entity) {
            self.root.below -= 1;
        }
        let (mut leaving, mut sleeping) = (entity, sleeping);
        loop {
            self.leave_level(leaving, sleeping);
            if leaving == plan.top {
                break;
            }
            (leaving, sleeping) = (self.above(leaving), true);
        }
        if let Some(slot) = slot_of(plan.delayed) {
            self.levels.entities[slot as usize].delayed = true;
            let home = self.home(plan.delayed);
            self.at(home).0.delayed += 1;
            self.count_group(plan.delayed, false);
        }
        self.sync_above(self.home(plan.top));
    }

    fn leave_level(&mut self, entity: u32, sleeping: bool) {
        let (kind, home, stood) = (self.kind, self.home(entity), !self.is_delayed(entity));
        let (queue, mut e) = self.at(home);
        queue.dequeue(kind, &mut e, entity, sleeping);
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
        let kind = self.kind;
        let mut slot = ROOT;
        loop {
            let (queue, e) = self.at(slot);
            let entity = queue.pick(kind, &e);
            match slot_of(entity) {
                Some(below) if !self.levels.entities[below as usize].delayed => slot = below,
                _ => return entity,
            }
        }
    }

    /// The entity that runs at the lowest level at which one does, `NO_TASK` when the fair class does not run.
    pub(crate) fn lowest_curr(&self) -> u32 {
        let mut entity = self.root.curr;
        while let Some(slot) = slot_of(entity) {
            match self.levels.queues[slot as usize].curr {
                NO_TASK => break,
                below => entity = below,
            }
        }
        entity
    }

    /// Is the entity the task, or a group above it?
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
        let (queue, e) = self.at(home);
        queue.put_curr(&e);
    }

    /// A queued entity becomes the running one of its level; false when it is.
    pub(crate) fn set_level(&mut self, entity: u32) -> bool {
        let (kind, home) = (self.kind, self.home(entity));
        let (queue, mut e) = self.at(home);
        let changes = queue.curr != entity;
        if changes {
            queue.set_curr(kind, &mut e, entity);
        }
        changes
    }

    /// Charges run time at every level; true when a request is used up and somebody else waits at its level.
    pub(crate) fn charge(&mut self, delta_ns: u64) -> bool {
        let kind = self.kind;
        let (mut slot, mut used_up) = (ROOT, false);
        loop {
            let (queue, mut e) = self.at(slot);
            let curr = queue.curr;
            used_up |= queue.charge(kind, &mut e, delta_ns);
            match slot_of(curr) {
                Some(below) => slot = below,
                None => return used_up,
            }
        }
    }

    /// At the tick: should the running task, or a group it is in, give way?
    pub(crate) fn tick_preempts(&mut self) -> bool {
        let kind = self.kind;
        let mut entity = self.lowest_curr();
        while entity != NO_TASK {
            let slice_ns = self.slice_ns(entity, false);
            let home = self.home(entity);
            let (queue, e) = self.at(home);
            if !queue.queue.is_empty() && queue.tick_preempts_with(kind, &e, slice_ns) {
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

    /// Does the woken task preempt the running one? They, or their groups, are compared at the lowest level they share.
    pub(crate) fn wakeup_preempts(&mut self, curr: u32, wakee: u32) -> bool {
        if let Some(decided) = preempts_by_policy(&self.tasks[curr as usize].fair, &self.tasks[wakee as usize].fair) {
            return decided;
        }
        let (mut old, mut new) = (curr, wakee);
        while self.home(old) != self.home(new) {
            let (old_depth, new_depth) = (self.depth(old), self.depth(new));
            if old_depth >= new_depth {
                old = self.above(old);
            }
            if new_depth >= old_depth {
                new = self.above(new);
            }
        }
        let (kind, home) = (self.kind, self.home(new));
        let (queue, mut e) = self.at(home);
        queue.curr == NO_TASK || queue.entity_preempts(kind, &mut e, new)
    }

    /// The running task yields to the others of its queue.
    pub(crate) fn yield_task(&mut self, task: u32) {
        let (kind, home) = (self.kind, self.home(task));
        let (queue, mut e) = self.at(home);
        if queue.curr == task {
            queue.yield_curr(kind, &mut e);
        }
    }

    /// A task is made by one that runs here; see [`FairRq::fork`].
    pub(crate) fn fork(&mut self, task: u32) {
        let (kind, home) = (self.kind, self.home(task));
        let slice_ns = self.slice_ns(task, true);
        let (queue, mut e) = self.at(home);
        queue.fork_with(kind, &mut e, task, slice_ns);
    }

    /// A task that sleeps wakes on another CPU.
    pub(crate) fn leave_asleep(&mut self, task: u32) {
        let home = self.home(task);
        let queue = if home == ROOT { &*self.root } else { &self.levels.queues[home as usize] };
        queue.leave_asleep(self.kind, &mut self.tasks[task as usize].fair);
    }
}
