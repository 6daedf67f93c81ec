// SPDX-License-Identifier: GPL-2.0-or-later
//! Averages and task groups as a trace has them, and taking them over.

use pelton_core::{Avg, runs};

use super::machine::{Machine, holding};
use crate::validate::object::OBJECTS_MAX;

/// Recorded values: what they say, and taking them over.
impl Machine {
    /// From here on the queue's utilization is this.
    pub fn learn_queue(&mut self, now: u64, cpu: u32, util: u32) {
        let pol = self.pol;
        let c = self.started(cpu, now);
        c.rq.cfs.avg = holding(&pol, &c.rq.cfs.avg, util);
        (c.known_ns, c.told_ns) = (Some(now), Some(now));
    }

    /// Holds the queues of groups on a CPU that were taken over in this moment.
    pub fn hold_groups(&mut self, now: u64, cpu: u32) {
        let pol = self.pol;
        if let Some(c) = self.cpus.get_mut(&cpu) {
            c.hold_levels(&pol, now);
        }
    }

    /// The present utilization of a task on a CPU, and its time on the queue; `None` when it does not follow from what
    /// is known.
    pub fn task_values(&mut self, now: u64, tid: u32, cpu: u32) -> Option<(u64, u64)> {
        let pol = self.pol;
        let known = self.is_known(cpu, now);
        let task = self.tasks.get(&tid).copied().filter(|task| task.cpu == cpu && known && self.knows(task, now))?;
        let c = self.cpus.get_mut(&cpu)?;
        let at = c.level(&self.groups, task.group);
        let mut se = task.se;
        if se.running == 0 {
            se.update(&c.rq.ctx(&pol, c.queue(at)));
        }
        Some((se.avg.util_avg, se.avg.load_avg))
    }

    /// From here on a task's utilization is this.
    pub fn learn_task(&mut self, now: u64, tid: u32, cpu: u32, util: u32) {
        let pol = self.pol;
        // One that was never seen is part of its queue already; one that is on its way joins with this utilization.
        let on_its_way = self.tasks.get(&tid).is_some_and(|task| task.se.avg.last_update_time_ns == 0);
        let Some(mut task) = self.task(tid, cpu, now).filter(|task| task.cpu == cpu) else { return };
        self.started(cpu, now);
        let Some(c) = self.cpus.get_mut(&cpu) else { return };
        let at = c.level(&self.groups, task.group);
        c.update_queue(&pol, at);
        let avg = holding(&pol, &c.queue(at).avg, util);
        task.se.avg = Avg { load_avg: task.se.avg.load_avg, load_sum: task.se.avg.load_sum, ..avg };
        if on_its_way {
            task.se.avg.last_update_time_ns = 0;
        }
        (task.known, task.since_ns) = (true, now);
        self.tasks.insert(tid, task);
    }

    /// Puts a task into its group, which was not recorded before or was another one.
    pub fn join_group(&mut self, now: u64, tid: u32, group: u32) {
        if self.groups.is_empty() || self.membership.len() >= OBJECTS_MAX {
            return;
        }
        self.membership.insert(tid, group);
        let Some(mut task) = self.tasks.get(&tid).copied().filter(|task| task.group != group) else { return };
        let (pol, from) = (self.pol, task.group);
        task.group = group;
        if let Some(c) = self.cpus.get_mut(&task.cpu).filter(|_| task.joined && task.se.avg.last_update_time_ns != 0) {
            let (from, to) = (c.level(&self.groups, from), c.level(&self.groups, group));
            let (on_rq, running, idle) = (task.se.on_rq != 0, task.se.running != 0, c.class == runs::IDLE);
            c.rq.clock_update(&pol, now, 0, idle);
            if on_rq {
                c.dequeue(&pol, from, &mut task.se, (now, idle), 0);
            }
            if running {
                c.put(&pol, from, &mut task.se, now);
            }
            c.regroup(&pol, (from, to), &mut task.se, now);
            if on_rq {
                c.enqueue(&pol, to, &mut task.se, now, idle);
            }
            if running {
                c.set(&pol, to, &mut task.se, now);
            }
            self.changed.push(task.cpu);
        }
        self.tasks.insert(tid, task);
    }

    /// The queue of a group on a CPU, or its entity, was updated: its utilization then, unless that does not follow
    /// from what is known; or `told` counts from here on.
    pub fn update_group(&mut self, now: u64, cpu: u32, (group, entity): (u32, bool), told: u32) -> Option<u64> {
        let pol = self.pol;
        self.started(cpu, now);
        let c = self.cpus.get_mut(&cpu)?;
        let at = c.level(&self.groups, group);
        c.rq.clock_update(&pol, now, 0, c.class == runs::IDLE);
        if entity {
            c.update_entity(&pol, at, now);
        } else {
            c.update_queue(&pol, at);
        }
        c.tell_again(at, entity, told, now);
        let util = c.level_util(at, entity);
        if util.is_none() {
            c.learn_level(&pol, at, entity, told, now);
        }
        util
    }

    /// Utilization of a group's queue on a CPU, or of its entity.
    pub fn group_util(&mut self, cpu: u32, group: u32, entity: bool) -> Option<u64> {
        let c = self.cpus.get_mut(&cpu)?;
        let at = c.level(&self.groups, group);
        c.level_util(at, entity)
    }

    /// True when the groups of tasks are recorded.
    pub fn tells_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Share of the time with a runnable task, of 1024.
    pub fn occupied(&self, cpu: u32) -> u64 {
        self.cpus.get(&cpu).map_or(0, |c| c.occupied.util_avg)
    }
}
