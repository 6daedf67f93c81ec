// SPDX-License-Identifier: GPL-2.0-or-later
//! The books of task groups: each level's queue and records agree, each group's total is the sum of its parts, and what
//! happens in a group is what happens at the root (docs/rules/groups.md#signals).

use pelton_core::{CfsRq, Se, value};
use pelton_model::workload::SchedPolicy;

use crate::class::fair::FairRq;
use crate::class::levels::{ROOT, Slot, entity_of, slot_of};
use crate::engine::life::Life;
use crate::shape::Run;
use crate::state::{CpuState, Engine, NO_TASK, Task};

/// Utilization that a period of running adds at most: an entity and its queue are published at other places of a
/// period.
pub(super) const PERIOD_OF_UTIL: u64 = 24;

impl CpuState {
    /// All fair tasks that wait, delayed ones included.
    pub(crate) fn fair_waiting(&self) -> Vec<u32> {
        let found = std::cell::RefCell::new(Vec::new());
        self.find_waiting(&|&task| {
            found.borrow_mut().push(task);
            false
        });
        found.into_inner()
    }

    fn level(&self, slot: u32) -> (&FairRq, &CfsRq) {
        match self.levels.slots().get(slot as usize) {
            Some(own) => (self.queue_at(slot), own.load()),
            None => (&self.fair, &self.rq.cfs),
        }
    }
}

impl<S: Run> Engine<'_, S> {
    /// A throttled group keeps the task from running: on a queue that is cut off, or in limbo.
    pub(crate) fn is_held(&self, t: u32) -> bool {
        let task = &self.tasks[t as usize];
        let Some(slot) = self.task_slot(task.cpu, t).filter(|_| self.uses.quotas && task.is_fair()) else {
            return false;
        };
        let levels = &self.cpus[task.cpu as usize].levels;
        let waits = levels.queue(slot).expect("a queue").queue.contains(&t) && !levels.is_open(slot);
        waits || levels.limbo(slot).contains(&t)
    }

    /// Some group that a task is in has a quota, or had one.
    pub(crate) fn has_quota_above(&self, t: u32) -> bool {
        let mut group = self.tasks[t as usize].group;
        while let Some(own) = self.groups.list.get(group as usize) {
            if self.uses.quotas && self.budgets.used(group).0.period_ns > 0 {
                return true;
            }
            group = own.parent;
        }
        false
    }

    /// Each queue is held as often as groups above it are throttled, and one that waits for runtime is listed once.
    fn audit_quota(&self, c: u32, slot: u32) -> Result<(), String> {
        let levels = &self.cpus[c as usize].levels;
        let (mut count, mut at) = (0, slot);
        while at != ROOT {
            let own = levels.at(at);
            count += u32::from(own.is_throttled());
            at = own.parent();
        }
        let own = levels.at(slot);
        let listed = self.budgets.throttled(own.group()).iter().filter(|&&cpu| cpu == c).count();
        let limbo = levels.limbo(slot).len();
        if own.throttle_count() != count || listed != usize::from(own.is_throttled()) || (limbo > 0 && count == 0) {
            return Err(format!(
                "CPU {c}, slot {slot}: held {} times, not {count}; listed {listed} times, {limbo} in limbo",
                own.throttle_count()
            ));
        }
        Ok(())
    }

    /// Load-tracking record of an entity.
    pub(crate) fn record(&self, c: u32, entity: u32) -> &Se {
        match slot_of(entity) {
            Some(slot) => self.cpus[c as usize].levels.at(slot).se(),
            None => &self.tasks[entity as usize].se,
        }
    }

    /// Runnable tasks of a level and those below it.
    fn runnable_below(&self, c: u32, slot: u32) -> u32 {
        let of = |entity| match slot_of(entity) {
            Some(slot) => self.runnable_below(c, slot),
            None => u32::from(!self.tasks[entity as usize].fair.is_delayed()),
        };
        self.cpus[c as usize].level(slot).0.all().map(of).sum()
    }

    /// Tasks of a level, and of those below it that are not cut off, whose dequeue is delayed.
    fn delayed_below(&self, c: u32, slot: u32) -> u32 {
        let of = |entity| match slot_of(entity) {
            Some(slot) => self.delayed_below(c, slot),
            None => u32::from(self.tasks[entity as usize].fair.is_delayed()),
        };
        self.cpus[c as usize].level(slot).0.all().map(of).sum()
    }

    /// Tasks of a level and of those below it that count as idle ones.
    fn idle_below(&self, c: u32, slot: u32) -> u32 {
        let of = |entity| match slot_of(entity) {
            Some(below) => {
                let group = self.cpus[c as usize].levels.at(below).group();
                let idle = self.groups.list[group as usize].idle;
                if idle { self.queued_below(c, below) } else { self.idle_below(c, below) }
            }
            None => u32::from(self.tasks[entity as usize].policy() == SchedPolicy::Idle),
        };
        self.cpus[c as usize].level(slot).0.all().map(of).sum()
    }

    /// Tasks of a level and of those below it, delayed ones included.
    fn queued_below(&self, c: u32, slot: u32) -> u32 {
        let of = |entity| slot_of(entity).map_or(1, |below| self.queued_below(c, below));
        self.cpus[c as usize].level(slot).0.all().map(of).sum()
    }

    /// Utilization that left group queues of a CPU and is still in the root's: it fades there until their next update,
    /// and what was taken out of a queue since is propagated by the next event that reaches the root.
    pub(crate) fn removed_below(&self, c: u32) -> u64 {
        let cpu = &self.cpus[c as usize];
        let root_ns = cpu.rq.cfs.avg.last_update_time_ns;
        let of = |cfs: &CfsRq| {
            let periods = root_ns.saturating_sub(cfs.avg.last_update_time_ns) >> 20;
            pelton_core::decay_load(cfs.removed_util, periods)
        };
        let waits = |own: &Slot| match own.load().propagate {
            0 => 0,
            _ => own.se().avg.util_avg.saturating_sub(own.load().avg.util_avg),
        };
        cpu.levels.slots().iter().map(|own| of(own.load()) + waits(own)).sum()
    }

    /// Checks the levels of a CPU; the error names the fault.
    pub(crate) fn audit_levels(&self, c: u32) -> Result<(), String> {
        let slots = 0..self.cpus[c as usize].levels.len();
        slots.clone().chain([ROOT]).try_for_each(|slot| self.audit_level(c, slot))?;
        let (kept, counted) = (self.cpus[c as usize].fair.nr_delayed(), self.delayed_below(c, ROOT));
        if kept != counted {
            return Err(format!("CPU {c}: {kept} tasks whose dequeue is delayed are kept, {counted} are queued"));
        }
        slots.clone().try_for_each(|slot| self.audit_entity(c, slot))?;
        slots.clone().try_for_each(|slot| self.audit_quota(c, slot))?;
        self.audit_sums(c)
    }

    /// Utilization of each queue is the sum of what the entities attached to it have: tasks of its group, and groups
    /// one level below. An entity has its queue's clock, so that throttled groups are no exception.
    pub(super) fn audit_sums(&self, c: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        let mut parts = vec![(0, 0); cpu.levels.len() as usize + 1];
        let place = |slot: u32| (cpu.levels.len() as usize).min(slot as usize);
        let mut add = |home: u32, mut se: Se| {
            let cfs = self.cpus[c as usize].level(home).1;
            let mut ctx = cpu.rq.ctx(self.policy.get(), cfs);
            ctx.now = cfs.avg.last_update_time_ns;
            if se.on_rq != 0 {
                se.update(&ctx)
            } else {
                se.update_blocked(&ctx)
            };
            let (util, entities) = &mut parts[place(home)];
            (*util, *entities) = (*util + se.avg.util_avg, *entities + 1);
        };
        cpu.levels.slots().iter().for_each(|own| add(own.parent(), *own.se()));
        let attached = |t: &&(usize, &Task)| {
            let fair = t.1.cpu == c && t.1.is_fair() && !matches!(t.1.life(), Life::Unborn | Life::Dead);
            fair && t.1.se.avg.last_update_time_ns != 0
        };
        self.tasks.iter().enumerate().filter(|t| attached(&t)).for_each(|(t, own)| {
            add(self.task_slot(c, t as u32).unwrap_or(ROOT), own.se);
        });
        let slots = 0..cpu.levels.len();
        slots.chain([ROOT]).try_for_each(|slot| self.audit_sum(c, slot, parts[place(slot)]))
    }

    /// Up to 5.4 every propagation makes the queue's sum anew with the divisor of a whole period, on average 1 % too
    /// large, of which a period that goes by takes 2 %: where propagations follow each other, half of what is there.
    pub(super) fn sums_drift(&self, c: u32) -> bool {
        self.policy.propagation == value::PROPAGATION_FULL_PERIOD && !self.cpus[c as usize].levels.slots().is_empty()
    }

    /// The posted biases take what a cap cut off out of each average above the task, down to 0 at the least. A queue
    /// that was throttled has more than its entity, which time took on: less goes from the entity than from the queue
    /// above.
    fn cut_differently(&self, c: u32) -> bool {
        let biased = matches!(self.policy.uclamp, value::UCLAMP_BIAS | value::UCLAMP_BIAS_WEIGHTED);
        biased && self.cpus[c as usize].levels.slots().iter().any(|own| own.load().throttled_clock_pelt_ns > 0)
    }

    /// Subtractions round, those of entities that left as well. With scaled contributions an entity and its queue may
    /// be updated on different sides of a frequency change. Up to 5.4 the clock of a queue that was throttled goes
    /// backwards when it runs again, for the queue and for its entities at different moments.
    fn audit_sum(&self, c: u32, slot: u32, (util, entities): (u64, u64)) -> Result<(), String> {
        let cfs = self.cpus[c as usize].level(slot).1;
        let backwards = self.policy.throttle_clock == value::THROTTLE_CLOCK_TASK && cfs.throttled_clock_pelt_ns > 0;
        if backwards || self.sums_drift(c) || self.cut_differently(c) {
            return Ok(());
        }
        let scaled = self.policy.invariance == value::INVARIANCE_CONTRIBUTION;
        let slack = 32 + 8 * entities + if scaled { 64 } else { 0 };
        match cfs.avg.util_avg.abs_diff(util + cfs.removed_util) <= slack {
            true => Ok(()),
            false => Err(format!(
                "CPU {c}, slot {}: utilization {} is not the sum {util} of {entities} entities, and {} that left",
                slot as i32, cfs.avg.util_avg, cfs.removed_util
            )),
        }
    }

    fn audit_level(&self, c: u32, slot: u32) -> Result<(), String> {
        let (queue, cfs) = self.cpus[c as usize].level(slot);
        let at = |what: &str, is: u64, wanted: u64| match is == wanted {
            true => Ok(()),
            false => Err(format!("CPU {c}, slot {}: {what} {is}, not {wanted}", slot as i32)),
        };
        let weight = |entity: u32| self.record(c, entity).full_weight();
        let delayed = |&entity: &u32| match slot_of(entity) {
            Some(slot) => self.cpus[c as usize].levels.entity(slot).is_delayed(),
            None => self.tasks[entity as usize].fair.is_delayed(),
        };
        let idle = |&entity: &u32| match slot_of(entity) {
            Some(slot) => self.groups.list[self.cpus[c as usize].levels.at(slot).group() as usize].idle,
            None => self.tasks[entity as usize].policy() == SchedPolicy::Idle,
        };
        at("load weight", cfs.full_weight(), queue.all().map(weight).sum())?;
        if cfs.runnable_load_avg(self.policy.get()).is_some() {
            let runnable = |entity: u32| u64::from(self.record(c, entity).runnable_weight);
            at("runnable weight", cfs.runnable_weight, queue.all().map(runnable).sum())?;
        }
        at("weight of the entities", queue.load_weight(), queue.all().map(weight).sum())?;
        at("entities", cfs.nr_queued.into(), queue.nr_queued().into())?;
        at("runnable tasks", cfs.h_nr_runnable.into(), self.runnable_below(c, slot).into())?;
        at("idle tasks", queue.nr_idle_tasks().into(), self.idle_below(c, slot).into())?;
        at("idle entities", queue.idle_entities().into(), queue.all().filter(idle).count() as u64)?;
        at("delayed entities", queue.nr_delayed_here().into(), queue.all().filter(delayed).count() as u64)?;
        at("running entity", cfs.has_curr.into(), u64::from(queue.curr != NO_TASK))
    }

    fn audit_entity(&self, c: u32, slot: u32) -> Result<(), String> {
        let cpu = &self.cpus[c as usize];
        let (own, fair) = (cpu.levels.at(slot), cpu.levels.entity(slot));
        let (queue, _) = cpu.level(slot);
        let (above, _) = cpu.level(own.parent());
        let wrong = |what: &str| Err(format!("CPU {c}, slot {slot} (group {}): {what}", own.group()));
        let entity = entity_of(slot);
        if own.is_queued() != (own.se().on_rq != 0) || own.is_queued() != above.all().any(|e| e == entity) {
            return wrong("queued or not");
        }
        if own.is_cut_off() {
            return if own.is_queued() { wrong("cut off, but queued") } else { Ok(()) };
        }
        if own.is_queued() != (queue.nr_queued() > 0 || fair.is_delayed())
            || (fair.is_delayed() && queue.nr_queued() > 0)
        {
            return wrong("its queue and its entity disagree");
        }
        if (own.se().delayed != 0) != fair.is_delayed() || own.se().full_weight() != fair.se.weight {
            return wrong("the record's weight or delay is another");
        }
        if queue.curr != NO_TASK && above.curr != entity {
            return wrong("something below runs, the group does not");
        }
        if (own.se().running != 0) != (above.curr == entity) {
            return wrong("running or not");
        }
        if own.is_queued() && !cpu.levels.is_listed(slot) && own.load().throttle_count == 0 {
            return wrong("the blocked walk does not come here");
        }
        self.audit_group_util(c, slot)
    }

    /// Utilization of a group's entity is that of its queue.
    fn audit_group_util(&self, c: u32, slot: u32) -> Result<(), String> {
        let own = self.cpus[c as usize].levels.at(slot);
        // A queue that was throttled when the one above was not has another time.
        let above = self.cpus[c as usize].level(own.parent()).1;
        let same_clock = above.throttled_clock_pelt_ns == own.load().throttled_clock_pelt_ns;
        let same_time = same_clock && own.se().avg.last_update_time_ns == own.load().avg.last_update_time_ns;
        let (entity, queue) = (own.se().avg.util_avg, own.load().avg.util_avg);
        // What a period takes away grows with what is there: tasks that come from other CPUs add up beyond one.
        let most = PERIOD_OF_UTIL * (1 + queue.max(entity) / 1024);
        if same_time && own.load().propagate == 0 && entity.abs_diff(queue) > most {
            return Err(format!("CPU {c}, slot {slot}: utilization {entity} of the entity, {queue} of its queue"));
        }
        Ok(())
    }

    /// A group's load is the sum of what its queues gave.
    pub(crate) fn audit_groups(&self) -> Result<(), String> {
        for (number, group) in self.groups.list.iter().enumerate() {
            let of = |cpu: &CpuState| {
                let slot = cpu.levels.slot(number as u32)?;
                Some(cpu.levels.at(slot).load().tg_load_avg_contrib)
            };
            let sum: u64 = self.cpus.iter().filter_map(of).sum();
            if group.shared.load_avg != sum {
                return Err(format!("group {number}: load {} is not the sum {sum}", group.shared.load_avg));
            }
        }
        Ok(())
    }
}
