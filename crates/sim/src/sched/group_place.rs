// SPDX-License-Identifier: GPL-2.0-or-later
//! Loads of tasks in groups as placement reads them: the part that counts at the root of a CPU.

use pelton_core::{CfsRq, PlaceTask, PlaceWaker, Se, effective_load, h_load};

use crate::class::levels::{ROOT, slot_of};
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Load average of a task, or of a group on a CPU.
    pub(crate) fn entity_load(&self, c: u32, entity: u32) -> u64 {
        match slot_of(entity) {
            Some(slot) => self.cpus[c as usize].levels.at(slot).se().avg.load_avg,
            None => self.tasks[entity as usize].se.avg.load_avg,
        }
    }

    /// Shifts of load at the root, beyond the tasks' own loads, that groups cause when task `t` of this load comes to
    /// `exec` or stays on the CPU it was on, and when its waker sleeps.
    pub(crate) fn shift_loads(&self, t: u32, exec: u32, load: u64, task: &mut PlaceTask, waker: &mut PlaceWaker) {
        let (group, load) = (self.tasks[t as usize].group, load as i64);
        task.shift_here = self.load_shift(exec, group, load, load) - load;
        task.shift_there = self.load_shift(task.cpu, group, 0, load);
        let Some(curr) = self.tasks.get(self.cpus[exec as usize].curr as usize) else { return };
        let load = waker.load as i64;
        waker.shift_here = self.load_shift(exec, curr.group, -load, -load) + load;
        waker.shift_there = self.load_shift(task.cpu, curr.group, 0, -load);
    }

    /// Shift of the load at the root of CPU `c` when a group's queue there gets `wl` more and all of the group `wg`
    /// more.
    fn load_shift(&self, c: u32, group: u32, wl: i64, wg: i64) -> i64 {
        let (mut group, mut wl, mut wg) = (group, wl, wg);
        let absent = (CfsRq::default(), Se::default());
        while group != ROOT {
            let levels = &self.cpus[c as usize].levels;
            let own = levels.slot(group).map(|slot| levels.at(slot));
            let (cfs, se) = own.map_or((&absent.0, &absent.1), |own| (own.load(), own.se()));
            let at = self.groups.by_number(group);
            (wl, wg) = (effective_load(cfs, at.shared(), se, wl, wg), 0);
            group = at.above();
        }
        wl
    }

    /// The part of its CPU's load that is a task's.
    pub(crate) fn task_part(&self, t: u32) -> u64 {
        let task = &self.tasks[t as usize];
        match self.task_slot(task.cpu, t) {
            None => task.se.avg.load_avg,
            Some(slot) => {
                let queue = self.cpus[task.cpu as usize].levels.at(slot).load().avg.load_avg;
                h_load(self.queue_part(task.cpu, slot), task.se.avg.load_avg, queue)
            }
        }
    }

    /// The part of a CPU's load that is a group queue's.
    pub(crate) fn queue_part(&self, c: u32, slot: u32) -> u64 {
        let cpu = &self.cpus[c as usize];
        let own = cpu.levels.at(slot);
        let (part, queue) = match own.parent() {
            ROOT => (cpu.rq.cfs.avg.load_avg, cpu.rq.cfs.avg.load_avg),
            parent => (self.queue_part(c, parent), cpu.levels.at(parent).load().avg.load_avg),
        };
        h_load(part, own.se().avg.load_avg, queue)
    }
}
