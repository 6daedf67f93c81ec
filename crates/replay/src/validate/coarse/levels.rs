// SPDX-License-Identifier: GPL-2.0-or-later
//! Queues of task groups on a CPU, where a trace says which group each task is in: a run of ours does, with the paths
//! of its groups. Elsewhere every task counts as one of the CPU's own queue.
//!
//! The moment at which a group's queue is updated, and takes out the tasks that left it in their sleep, is not read off
//! the schedule: every such update shows in the averages of the queue, or of the group's entity.

use std::collections::BTreeMap;

use pelton_core::{Avg, CfsRq, Policy, Rq, Se, update};

use super::machine::{Cpu, holding};

/// In place of a level: the CPU's own queue.
pub(super) const ROOT: usize = usize::MAX;
/// Weight of a group's entity; utilization does not depend on it.
const WEIGHT: u64 = 1024;

/// The groups of a run by number, 0 is the root.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Number of the group above.
    parent: Vec<u32>,
}

impl Groups {
    /// Groups with these paths, of which each is there with those above it.
    pub(super) fn of(paths: &[String]) -> Groups {
        let numbers: BTreeMap<&str, u32> = paths.iter().map(String::as_str).zip(0..).collect();
        let above = |path: &String| path.rsplit_once('/').and_then(|(above, _)| numbers.get(above)).copied();
        Groups { parent: paths.iter().map(|path| above(path).unwrap_or(0)).collect() }
    }

    /// True when no groups are recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The group above; none above the root or one that was not named.
    fn above(&self, group: u32) -> Option<u32> {
        self.parent.get(group as usize).copied().filter(|_| group != 0)
    }
}

/// State of a group on a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    group: u32,
    /// Place of the level above, or [`ROOT`].
    parent: usize,
    se: Se,
    pub(super) cfs: CfsRq,
    /// The queue's utilization follows from what is known, and so does its entity's.
    known: bool,
    entity_known: bool,
    /// Values taken over for them last, with their times.
    told: Option<(u64, u32)>,
    entity_told: Option<(u64, u32)>,
}

/// One step at a level: the queue its entity is on (`None` = the CPU's own), its entity, the queue of the group.
type Step<'a> = &'a mut dyn FnMut(&mut Rq, Option<&mut CfsRq>, &mut Se, &mut CfsRq);

impl Cpu {
    /// The level of a group, made with those above it when it is the first time.
    pub(super) fn level(&mut self, groups: &Groups, group: u32) -> usize {
        let Some(above) = groups.above(group) else { return ROOT };
        if let Some(at) = self.levels.iter().position(|level| level.group == group) {
            return at;
        }
        let parent = self.level(groups, above);
        let position = self.queue(parent).avg;
        let (last_update_time_ns, period_contrib) = (position.last_update_time_ns, position.period_contrib);
        let avg = Avg { last_update_time_ns, period_contrib, ..Avg::default() };
        let (se, cfs) = (Se { avg, weight: WEIGHT, ..Se::default() }, CfsRq { avg, ..CfsRq::default() });
        let (told, entity_told) = (None, None);
        self.levels.push(Level { group, parent, se, cfs, known: true, entity_known: true, told, entity_told });
        self.levels.len() - 1
    }

    /// The queue of a level.
    pub(super) fn queue(&self, at: usize) -> &CfsRq {
        self.levels.get(at).map_or(&self.rq.cfs, |level| &level.cfs)
    }

    /// The CPU, and the queue of a level as the core's functions take it.
    fn on(&mut self, at: usize) -> (&mut Rq, Option<&mut CfsRq>) {
        (&mut self.rq, self.levels.get_mut(at).map(|level| &mut level.cfs))
    }

    /// One step at a level; the level above.
    fn step(&mut self, at: usize, now: u64, step: Step<'_>) -> usize {
        let at = at.min(self.levels.len());
        let (above, from) = self.levels.split_at_mut(at);
        let Some(own) = from.first_mut() else { return ROOT };
        let queue = above.get_mut(own.parent);
        // What is not known spoils the queue that it propagates to.
        if !own.known && own.cfs.propagate != 0 && queue.is_none() {
            (self.known_ns, self.since_ns) = (None, now);
        }
        let queue = queue.map(|queue| {
            queue.known &= own.known || own.cfs.propagate == 0;
            &mut queue.cfs
        });
        step(&mut self.rq, queue, &mut own.se, &mut own.cfs);
        own.parent
    }

    /// Goes from a level up to the CPU's own queue.
    fn climb(&mut self, mut at: usize, now: u64, step: Step<'_>) {
        while at != ROOT {
            at = self.step(at, now, step);
        }
    }

    /// A task is on the queue of a level from now on.
    pub(super) fn enqueue(&mut self, pol: &Policy, at: usize, se: &mut Se, now: u64, idle: bool) {
        self.rq.enqueue_begin(pol, se, now, 0, idle);
        let (rq, queue) = self.on(at);
        rq.enqueue_finish_on(pol, queue, se);
        self.climb(at, now, &mut |rq, queue, se, own| {
            let on_rq = se.on_rq != 0;
            if on_rq {
                rq.update_ancestor(pol, queue, se, Some(own), 1);
            } else {
                rq.enqueue_entity(pol, queue, se, Some(own), 1);
            }
        });
    }

    /// A task leaves the queue of a level; groups that have nothing left leave theirs.
    pub(super) fn dequeue(&mut self, pol: &Policy, at: usize, se: &mut Se, (now, idle): (u64, bool), flags: u32) {
        let (rq, queue) = self.on(at);
        rq.dequeue_task_on(pol, queue, se, now, idle, flags);
        self.climb(at, now, &mut |rq, queue, se, own| {
            if own.nr_queued == 0 && se.on_rq != 0 {
                rq.dequeue_entity(pol, queue, se, Some(own), -1, 0);
            } else {
                rq.update_ancestor(pol, queue, se, Some(own), -1);
            }
        });
    }

    /// The task that runs goes back, and so do the groups above it.
    pub(super) fn put(&mut self, pol: &Policy, at: usize, se: &mut Se, now: u64) {
        let (rq, queue) = self.on(at);
        rq.put_prev_entity(pol, queue, se, None);
        self.climb(at, now, &mut |rq, queue, se, own| {
            rq.put_prev_entity(pol, queue, se, Some(own));
        });
    }

    /// A task is the one that runs, and so are the groups above it.
    pub(super) fn set(&mut self, pol: &Policy, at: usize, se: &mut Se, now: u64) {
        let (rq, queue) = self.on(at);
        rq.set_next_entity(pol, queue, se, None);
        self.climb(at, now, &mut |rq, queue, se, own| {
            rq.set_next_entity(pol, queue, se, Some(own));
        });
    }

    /// A sleeping task's averages leave the queue of its level when that is next updated.
    pub(super) fn remove(&mut self, pol: &Policy, at: usize, se: &mut Se, now: u64, idle: bool) {
        let (rq, queue) = self.on(at);
        rq.migrate_sleeping(pol, queue, se, idle, now);
    }

    /// A task on no queue takes its averages from one level to another.
    pub(super) fn regroup(&mut self, pol: &Policy, (from, to): (usize, usize), se: &mut Se, now: u64) {
        let (rq, queue) = self.on(from);
        rq.switched_from_fair(pol, queue, se);
        self.hand_up(pol, from, now);
        se.avg.last_update_time_ns = 0;
        let (rq, queue) = self.on(to);
        rq.switched_to_fair(pol, queue, se);
        self.hand_up(pol, to, now);
    }

    /// Propagates a change in the queue of a level.
    fn hand_up(&mut self, pol: &Policy, at: usize, now: u64) {
        self.climb(at, now, &mut |rq, queue, se, own| {
            rq.update_load_avg(pol, queue, se, Some(own), update::TG);
        });
    }

    /// The queue of a level is brought up to the present clock.
    pub(super) fn update_queue(&mut self, pol: &Policy, at: usize) {
        if let Some(level) = self.levels.get_mut(at) {
            let ctx = self.rq.ctx(pol, &level.cfs);
            level.cfs.update(&ctx);
        }
    }

    /// The entity of a level is, which takes over what its queue has.
    pub(super) fn update_entity(&mut self, pol: &Policy, at: usize, now: u64) {
        self.step(at, now, &mut |rq, queue, se, own| {
            rq.update_load_avg(pol, queue, se, Some(own), update::TG);
        });
    }

    /// Takes a level's queue, or its entity, that is recorded once more in the moment in which it was taken over.
    pub(super) fn tell_again(&mut self, at: usize, entity: bool, util: u32, now: u64) {
        let Some(level) = self.levels.get_mut(at) else { return };
        let told = if entity { &mut level.entity_told } else { &mut level.told };
        *told = told.filter(|(then, _)| *then == now).map(|_| (now, util));
    }

    /// Utilization of a level's queue, or of its entity; none where it does not follow from what is known.
    pub(super) fn level_util(&self, at: usize, entity: bool) -> Option<u64> {
        let level = self.levels.get(at)?;
        let known = if entity { level.entity_known } else { level.known };
        known.then_some(if entity { level.se.avg.util_avg } else { level.cfs.avg.util_avg })
    }

    /// From here on the utilization of a level's queue, or of its entity, is this.
    pub(super) fn learn_level(&mut self, pol: &Policy, at: usize, entity: bool, util: u32, now: u64) {
        let Some(level) = self.levels.get_mut(at) else { return };
        if !entity {
            (level.cfs.avg, level.known, level.told) = (holding(pol, &level.cfs.avg, util), true, Some((now, util)));
            return;
        }
        level.se.avg = holding(pol, &level.se.avg, util);
        (level.entity_known, level.entity_told) = (true, Some((now, util)));
        // How much of it the queue above has already is not known.
        match level.parent {
            ROOT => (self.known_ns, self.since_ns) = (None, now),
            parent => self.levels[parent].known = false,
        }
    }

    /// Holds values taken over in this moment for its end: an entity that came or left in it is part of them.
    pub(super) fn hold_levels(&mut self, pol: &Policy, now: u64) {
        self.levels.iter_mut().for_each(|level| level.hold(pol, now));
    }

    /// Forgets every level.
    pub(super) fn forget_levels(&mut self) {
        self.levels.iter_mut().for_each(|level| (level.known, level.entity_known) = (false, false));
    }

    /// An entity of unknown utilization came or went at a level.
    pub(super) fn spoil_level(&mut self, at: usize, now: u64) {
        let mut at = at;
        while let Some(level) = self.levels.get_mut(at) {
            (level.known, level.entity_known, at) = (false, false, level.parent);
        }
        (self.known_ns, self.since_ns) = (None, now);
    }
}

impl Level {
    /// Holds the values taken over in this moment.
    fn hold(&mut self, pol: &Policy, now: u64) {
        let of = |told: Option<(u64, u32)>| told.filter(|(at, _)| *at == now).map(|(_, util)| util);
        if let Some(util) = of(self.told) {
            self.cfs.avg = holding(pol, &self.cfs.avg, util);
        }
        if let Some(util) = of(self.entity_told) {
            self.se.avg = holding(pol, &self.se.avg, util);
        }
    }
}
