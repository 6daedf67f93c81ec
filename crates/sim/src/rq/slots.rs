// SPDX-License-Identifier: GPL-2.0-or-later
//! Slot of a task group on a CPU, and questions about it.

use crate::class::levels::ROOT;
use crate::rq::groups::Group;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Slot of the queue of a task in a group; `None` for a task of the root.
    pub(crate) fn task_slot(&self, c: u32, t: u32) -> Option<u32> {
        let group = self.tasks[t as usize].group;
        if !S::GROUPS || group == ROOT { None } else { self.cpus[c as usize].levels.slot(group) }
    }

    /// Slot of the queue of a task; [`ROOT`] for a task of the root.
    #[inline]
    pub(crate) fn home_of(&self, c: u32, t: u32) -> u32 {
        self.task_slot(c, t).unwrap_or(ROOT)
    }

    /// The blocked walk has to come to a queue and those above it; to the root it always does.
    #[inline]
    pub(crate) fn list(&mut self, c: u32, mut slot: u32) {
        if !S::GROUPS || slot == ROOT {
            return;
        }
        let levels = &mut self.cpus[c as usize].levels;
        if levels.load(slot).is_some_and(|load| load.throttle_count > 0) {
            return;
        }
        while slot != ROOT && !levels.is_listed(slot) {
            levels.set_listed(slot, true);
            slot = levels.at(slot).parent();
        }
    }

    /// Slot of a group on CPU `c`, made with those above it when this is its first task here.
    #[inline]
    pub(crate) fn slot_on(&mut self, c: u32, group: u32) -> u32 {
        match self.cpus[c as usize].levels.slot(group) {
            Some(slot) => slot,
            None => self.make_slot(c, group),
        }
    }

    #[cold]
    fn make_slot(&mut self, c: u32, group: u32) -> u32 {
        let Group { parent, throttle, idle, .. } = self.groups.list[group as usize];
        let parent = self.slot_on(c, parent);
        let cpu = &mut self.cpus[c as usize];
        cpu.levels.add(&cpu.rq, group, parent, (throttle, idle))
    }

    /// A task is not below a queue that is cut off.
    pub(crate) fn is_open(&self, c: u32, t: u32) -> bool {
        !self.uses.quotas || self.task_slot(c, t).is_none_or(|slot| self.cpus[c as usize].levels.is_open(slot))
    }

    /// True if the queue of a task on CPU `c`, or one above it, is throttled.
    pub(crate) fn is_throttled_at(&self, c: u32, t: u32) -> bool {
        let task = &self.tasks[t as usize];
        if !self.uses.quotas || !task.is_fair() {
            return false;
        }
        self.task_slot(c, t).is_some_and(|slot| self.cpus[c as usize].levels.throttle_count(slot) > 0)
    }
}
