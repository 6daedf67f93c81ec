// SPDX-License-Identifier: GPL-2.0-or-later
//! Fair queues of one CPU when there are task groups: a group that has tasks here owns a queue and is an entity on the
//! queue of its parent. What a group has on a CPU has a slot, made when its first task comes here; parents before
//! children.

use pelton_core::{Avg, CfsRq, CfsRuntime, Rq, Se, THROTTLED_GROUPS_MAX, ThrottledGroup, group_rest};

use super::fair::{Entities, FairEntity, FairRq};
use crate::state::{NO_TASK, Task};

/// In place of a group or a slot: the root.
pub(crate) const ROOT: u32 = pelton_model::groups::ROOT;
/// No slot yet.
const NONE: u32 = u32::MAX;
/// Entity numbers with this bit are groups, the rest of the number is the slot; others are tasks.
const GROUP: u32 = 1 << 31;

/// Entity number of a slot.
pub(crate) fn entity_of(slot: u32) -> u32 {
    slot | GROUP
}

/// Slot of an entity that is a group.
#[inline]
pub(crate) fn slot_of(entity: u32) -> Option<u32> {
    (entity & GROUP != 0 && entity != NO_TASK).then_some(entity & !GROUP)
}

/// Load-tracking records of a group on one CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Number of the group.
    group: u32,
    /// Slot of its parent, or [`ROOT`].
    pub(super) parent: u32,
    /// Part of the CPU that it counts for at most, where groups are limited.
    throttle: u32,
    /// Its entity is on its parent's queue.
    pub(super) queued: bool,
    /// Part that it has of its group's quota.
    runtime: CfsRuntime,
    /// Number of groups from this one up that are throttled.
    throttled_above: u32,
    /// Its entity is kept off its parent's queue, with all that waits below.
    pub(super) cut_off: bool,
    /// Record of its entity.
    pub(super) se: Se,
    /// Record of its queue.
    load: CfsRq,
}

impl Slot {
    /// Number of the group.
    #[inline]
    pub(crate) fn group(&self) -> u32 {
        self.group
    }

    /// Slot of its parent, or [`ROOT`].
    #[inline]
    pub(crate) fn parent(&self) -> u32 {
        self.parent
    }

    /// Sets the part of the CPU that it counts for at most from now on.
    pub(crate) fn counts_for(&mut self, throttle: u32) {
        self.throttle = throttle;
    }

    /// Record of its entity.
    #[inline]
    pub(crate) fn se(&self) -> &Se {
        &self.se
    }

    /// Its entity is on its parent's queue.
    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.queued
    }

    /// Its entity is kept off its parent's queue, with all that waits below.
    #[inline]
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// Its entity left its parent's queue and stays away.
    pub(crate) fn is_kept_off(&mut self) {
        self.cut_off = true;
    }

    /// Its entity may be on its parent's queue again.
    pub(crate) fn may_rejoin(&mut self) {
        self.cut_off = false;
    }

    /// Number of groups from this one up that are throttled.
    #[inline]
    pub(crate) fn throttle_count(&self) -> u32 {
        self.throttled_above
    }

    /// One more group from this one up is throttled; how many are.
    pub(crate) fn throttles(&mut self) -> u32 {
        self.throttled_above += 1;
        self.throttled_above
    }

    /// One group from this one up is no longer throttled; how many are.
    pub(crate) fn unthrottles(&mut self) -> u32 {
        self.throttled_above -= 1;
        self.throttled_above
    }

    /// Part that it has of its group's quota, for the core's functions.
    #[inline]
    pub(crate) fn runtime(&mut self) -> &mut CfsRuntime {
        &mut self.runtime
    }

    /// True if it is throttled.
    #[inline]
    pub(crate) fn is_throttled(&self) -> bool {
        self.runtime.throttled != 0
    }

    /// True if it has nothing left of its group's quota.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.runtime.remaining_ns <= 0
    }

    /// Record of its queue.
    #[inline]
    pub(crate) fn load(&self) -> &CfsRq {
        &self.load
    }

    /// Records of its entity and of its queue, for the core's functions.
    #[inline]
    pub(crate) fn records(&mut self) -> (&mut Se, &mut CfsRq) {
        (&mut self.se, &mut self.load)
    }
}

/// Slots that a walk comes to, one bit each: those that are not in it cost nothing.
#[derive(Debug, Default)]
struct Listed {
    words: Vec<u64>,
    len: usize,
}

impl Listed {
    fn has(&self, slot: u32) -> bool {
        self.words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    fn set(&mut self, slot: u32, is: bool) {
        if self.has(slot) == is {
            return;
        }
        let at = slot as usize / 64;
        self.words.resize(self.words.len().max(at + 1), 0);
        self.words[at] ^= 1 << (slot % 64);
        self.len = if is { self.len + 1 } else { self.len - 1 };
    }

    /// The highest below another.
    fn below(&self, slot: u32) -> Option<u32> {
        let (index, bit) = (slot as usize / 64, slot % 64);
        let within = self.words.get(index).map_or(0, |word| word & ((1 << bit) - 1));
        let lower = || self.words.iter().enumerate().take(index).rev().find(|(_, word)| **word != 0);
        let (index, word) = if within != 0 { (index, within) } else { lower().map(|(index, word)| (index, *word))? };
        Some(index as u32 * 64 + word.ilog2())
    }
}

/// Groups of a CPU as the core limits them.
pub(crate) struct Throttled {
    groups: [ThrottledGroup; THROTTLED_GROUPS_MAX],
    len: usize,
    /// Place of the group that was asked for.
    asked_for: Option<usize>,
}

impl Throttled {
    pub(crate) fn list(&self) -> &[ThrottledGroup] {
        &self.groups[..self.len]
    }

    /// Utilization of the group that was asked for, and what a root queue with `root` has without it.
    pub(crate) fn parts(&self, root: u32, capacity: u32) -> (u32, i32) {
        let util = self.asked_for.map_or(0, |own| self.groups[own].util);
        (util, group_rest(root, self.list(), self.asked_for, capacity))
    }
}

/// Queues and entities of all groups on one CPU; empty when there are no groups.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// Slot of each group.
    slot_of_group: Vec<u32>,
    pub(super) slots: Vec<Slot>,
    listed: Listed,
    pub(super) queues: Vec<FairRq>,
    pub(super) entities: Vec<FairEntity>,
    /// Tasks that left throttled queues, by slot.
    limbo: Vec<Vec<u32>>,
    /// Slots of idle groups.
    pub(super) idle: u32,
}

/// Weight of a group's entity before its first task comes.
const WEIGHT_AT_START: u64 = 1024;

impl Levels {
    /// For so many groups.
    pub(crate) fn new(groups: usize) -> Levels {
        Levels { slot_of_group: vec![NONE; groups], ..Levels::default() }
    }

    /// Slot of a group, if it has one here; [`ROOT`] for the root.
    #[inline]
    pub(crate) fn slot(&self, group: u32) -> Option<u32> {
        if group == ROOT {
            return Some(ROOT);
        }
        self.slot_of_group.get(group as usize).copied().filter(|&slot| slot != NONE)
    }

    /// Record of the group of a slot on this CPU.
    #[inline]
    pub(crate) fn at(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// Record of the group of a slot on this CPU, to be changed.
    #[inline]
    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// Number of slots.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Makes a slot for a group whose parent has one (or is the root). Its records are as if it had been here, empty,
    /// for long: the kernel makes them when the group is made.
    pub(crate) fn add(&mut self, rq: &Rq, group: u32, parent: u32, (throttle, idle): (u32, bool)) -> u32 {
        let above = if parent == ROOT { &rq.cfs } else { &self.slots[parent as usize].load };
        let (last_update_time_ns, period_contrib) = (above.avg.last_update_time_ns, above.avg.period_contrib);
        let avg = Avg { last_update_time_ns, period_contrib, ..Avg::default() };
        let slot = self.slots.len() as u32;
        let se = Se { avg, weight: WEIGHT_AT_START, ..Se::default() };
        let mut load = CfsRq { avg, ..CfsRq::default() };
        // sync_throttle(): its clock is that of the queue above.
        (load.throttled_clock_pelt_ns, load.throttled_at_ns) = (above.throttled_clock_pelt_ns, above.throttled_at_ns);
        load.throttle_count = above.throttle_count;
        let (throttled_above, runtime) = (self.throttle_count(parent), CfsRuntime::default());
        let (queued, cut_off) = (false, false);
        self.slots.push(Slot { group, parent, throttle, queued, runtime, throttled_above, cut_off, se, load });
        self.limbo.push(Vec::new());
        self.queues.push(FairRq::default());
        self.entities.push(FairEntity::of_weight(WEIGHT_AT_START));
        self.entities[slot as usize].se.idle_policy = idle.into();
        self.idle += u32::from(idle);
        self.slot_of_group[group as usize] = slot;
        slot
    }

    /// The groups that count here, each with its limit, and where among them that of slot `own` is.
    pub(crate) fn throttled(&self, own: Option<u32>) -> Throttled {
        let mut out = Throttled { groups: [ThrottledGroup::default(); THROTTLED_GROUPS_MAX], len: 0, asked_for: None };
        let counts = |slot: &&(usize, &Slot)| slot.1.load.avg.util_avg > 0;
        for (at, slot) in self.slots.iter().enumerate().filter(|slot| counts(&slot)).take(THROTTLED_GROUPS_MAX) {
            if own == Some(at as u32) {
                out.asked_for = Some(out.len);
            }
            out.groups[out.len] = ThrottledGroup { util: slot.load.avg.util_avg as u32, throttle: slot.throttle };
            out.len += 1;
        }
        out
    }

    /// The records of a level: the queue its entity is on (`None` = the root queue), and its own.
    #[inline]
    pub(crate) fn records(&mut self, slot: u32) -> (Option<&mut CfsRq>, &mut Slot) {
        let (above, from) = self.slots.split_at_mut(slot as usize);
        let own = &mut from[0];
        (above.get_mut(own.parent as usize).map(|parent| &mut parent.load), own)
    }

    /// The records of a slot's queue; `None` = the root queue.
    #[inline]
    pub(crate) fn queue_records(&mut self, slot: u32) -> Option<&mut CfsRq> {
        self.slots.get_mut(slot as usize).map(|slot| &mut slot.load)
    }

    /// Record of a slot's queue; `None` = the root queue.
    #[inline]
    pub(crate) fn load(&self, slot: u32) -> Option<&CfsRq> {
        self.slots.get(slot as usize).map(|slot| &slot.load)
    }

    /// The queue of a slot; `None` = the root queue.
    #[inline]
    pub(crate) fn queue(&self, slot: u32) -> Option<&FairRq> {
        self.queues.get(slot as usize)
    }

    /// The queue of a slot has no entity.
    #[inline]
    pub(crate) fn is_empty(&self, slot: u32) -> bool {
        self.queues[slot as usize].nr_queued() == 0
    }

    /// The entity of a slot's group.
    pub(crate) fn entity(&self, slot: u32) -> &FairEntity {
        &self.entities[slot as usize]
    }

    /// Task `t` left the queue of a slot, which is throttled.
    pub(crate) fn enters_limbo(&mut self, slot: u32, t: u32) {
        self.limbo[slot as usize].push(t);
    }

    /// A task that left the queue of a slot comes back.
    pub(crate) fn leaves_limbo(&mut self, slot: u32) -> Option<u32> {
        self.limbo[slot as usize].pop()
    }

    /// Walks come to the queue of a slot.
    #[inline]
    pub(crate) fn is_listed(&self, slot: u32) -> bool {
        self.listed.has(slot)
    }

    /// Sets whether walks come to the queue of a slot.
    #[inline]
    pub(crate) fn set_listed(&mut self, slot: u32, is: bool) {
        self.listed.set(slot, is);
    }

    /// The highest slot below another whose queue walks come to.
    #[inline]
    pub(crate) fn listed_below(&self, slot: u32) -> Option<u32> {
        self.listed.below(slot)
    }

    /// Number of groups from this queue up that are throttled.
    pub(crate) fn throttle_count(&self, slot: u32) -> u32 {
        self.slots.get(slot as usize).map_or(0, |slot| slot.throttled_above)
    }

    /// True if the queue of a slot is the one of `top`, or below it.
    pub(crate) fn is_below(&self, mut slot: u32, top: u32) -> bool {
        while slot != ROOT && slot != top {
            slot = self.slots[slot as usize].parent;
        }
        slot == top
    }

    /// No queue from this one up is kept off its parent's: its tasks are among the CPU's runnable ones.
    pub(crate) fn is_open(&self, mut slot: u32) -> bool {
        while slot != ROOT {
            let own = &self.slots[slot as usize];
            if own.cut_off {
                return false;
            }
            slot = own.parent;
        }
        true
    }

    /// Some queue is kept off its parent's.
    pub(crate) fn cuts_off_a_queue(&self) -> bool {
        self.slots.iter().any(|own| own.cut_off)
    }

    /// Slot of the queue an entity is on when it is queued.
    #[inline]
    pub(crate) fn home(&self, tasks: &[Task], entity: u32) -> u32 {
        if self.slots.is_empty() {
            return ROOT;
        }
        match slot_of(entity) {
            Some(slot) => self.slots[slot as usize].parent,
            None => self.slot(tasks[entity as usize].group).unwrap_or(ROOT),
        }
    }

    /// Queues that a walk comes to.
    pub(crate) fn listed(&self) -> usize {
        self.listed.len
    }

    /// Its queues do not have to be walked while all of it is gone.
    pub(crate) fn has_listed(&self) -> bool {
        self.listed.len > 0
    }
}

/// Tasks and the groups of one CPU as entities.
pub(crate) struct Mixed<'a> {
    pub tasks: &'a mut Vec<Task>,
    pub groups: &'a mut Vec<FairEntity>,
}

impl Entities for Mixed<'_> {
    #[inline]
    fn fair(&self, entity: u32) -> &FairEntity {
        if entity & GROUP == 0 { &self.tasks[entity as usize].fair } else { &self.groups[(entity & !GROUP) as usize] }
    }

    #[inline]
    fn fair_mut(&mut self, entity: u32) -> &mut FairEntity {
        if entity & GROUP == 0 {
            &mut self.tasks[entity as usize].fair
        } else {
            &mut self.groups[(entity & !GROUP) as usize]
        }
    }
}

#[cfg(test)]
impl Levels {
    /// Tasks that left the queue of a slot.
    pub(crate) fn limbo(&self, slot: u32) -> &[u32] {
        &self.limbo[slot as usize]
    }

    /// Records of all groups on this CPU.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// A group's queue.
    pub(crate) fn queue_mut(&mut self, slot: u32) -> &mut FairRq {
        &mut self.queues[slot as usize]
    }
}
