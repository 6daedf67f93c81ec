// SPDX-License-Identifier: GPL-2.0-or-later
//! Events in a tree: each becomes the steps that a kernel would make, in its order.

use super::*;

impl Tree {
    pub(super) fn event(&mut self) -> Outcome {
        let span = [1, 200_000, 200_000, 2_000_000, 2_000_000, 2_000_000, 20_000_000, 400_000_000][self.below(8)];
        self.now += u64::from(self.rng.next_u32()) % span;
        self.timers()?;
        let cpu = self.below(CPUS);
        match self.below(32) {
            0..=10 => self.wake_someone(),
            11..=16 => self.tick(cpu),
            17..=21 => self.block(cpu),
            22..=25 => self.reschedule(cpu),
            26 | 27 => self.move_queued(),
            28 | 29 => self.change_group(),
            30 => {
                let group = self.below(self.above.len());
                self.set_shares(group)
            }
            _ => self.walk(cpu),
        }
    }

    fn someone(&mut self, life: impl Fn(Life) -> bool) -> Option<usize> {
        let (first, many) = (self.below(self.tasks.len()), self.tasks.len());
        (0..many).map(|i| (first + i) % many).find(|&task| life(self.tasks[task].life))
    }

    fn wake_someone(&mut self) -> Outcome {
        let Some(task) = self.someone(|life| life != Life::Queued) else { return Ok(()) };
        let cpu = if self.below(2) == 0 { self.tasks[task].cpu } else { self.below(CPUS) };
        if self.tasks[task].life == Life::New {
            self.tasks[task].cpu = cpu;
            self.clock(cpu)?;
            self.act(Verb::PostInit, self.level_of_task(task))?;
        } else if cpu != self.tasks[task].cpu {
            self.leave_asleep(task, cpu)?;
        }
        self.enqueue(task)
    }

    /// A sleeping task is woken on another CPU.
    fn leave_asleep(&mut self, task: usize, to: usize) -> Outcome {
        let Task { cpu, group, .. } = self.tasks[task];
        let idle = self.runs[cpu].is_none();
        self.core.migrate(task, group, cpu, idle, self.now);
        self.twin.migrate(task, group, cpu, idle, self.now);
        let queue = group.map_or(Slot::Rq(cpu), |group| Slot::Cfs(group, cpu));
        self.step("leaves asleep", &[queue, Slot::Task(task)], (0, 0))?;
        self.tasks[task].cpu = to;
        self.total.moves += 1;
        Ok(())
    }

    fn enqueue(&mut self, task: usize) -> Outcome {
        let Task { cpu, group, .. } = self.tasks[task];
        self.clock(cpu)?;
        self.tasks[task].life = Life::Queued;
        let root = Level { cpu, queue: None, entity: Entity::Task(task) };
        self.act(Verb::Estimate(true), root)?;
        self.act(Verb::Enqueue(1), self.level_of_task(task))?;
        self.came(group, cpu)?;
        self.climb(group, cpu, 1)
    }

    /// An entity came to the queue of a group.
    fn came(&mut self, group: Queue, cpu: usize) -> Outcome {
        let Some(group) = group else { return Ok(()) };
        let Some(i) = self.quota_of[group] else { return Ok(()) };
        if self.cut[group][cpu] {
            self.quota(i, cpu, Quota::Wanted)?;
        } else if self.twin.cfs[group][cpu].nr_queued == 1 && self.quota(i, cpu, Quota::Comes)? & said::EXHAUSTED != 0 {
            self.may_cut(group, cpu)?;
        }
        Ok(())
    }

    /// The groups from `group` up have `delta` more runnable tasks, or less.
    fn climb(&mut self, group: Queue, cpu: usize, delta: i32) -> Outcome {
        for group in self.groups_from(group) {
            if self.cut[group][cpu] {
                return Ok(());
            }
            let (level, empty) = (self.level_of_group(group, cpu), self.twin.cfs[group][cpu].nr_queued == 0);
            let on_rq = self.twin.group_se[group][cpu].on_rq != 0;
            match (on_rq, empty) {
                (true, true) => {
                    self.act(Verb::Dequeue(delta, 0), level)?;
                    self.empties(group, cpu)?;
                }
                (true, false) => self.act(Verb::Update(delta), level)?,
                (false, false) => {
                    self.act(Verb::Enqueue(delta), level)?;
                    self.came(self.above[group], cpu)?;
                }
                (false, true) => {}
            }
            self.follow(group, cpu)?;
        }
        Ok(())
    }

    /// Weight and load of a group follow, or will later.
    fn follow(&mut self, group: usize, cpu: usize) -> Outcome {
        if self.below(4) > 0 {
            self.contrib(group, cpu)?;
        }
        if self.twin.cfs[group][cpu].throttle_count == 0 {
            self.act(Verb::Shares, self.level_of_group(group, cpu))?;
        }
        Ok(())
    }

    fn empties(&mut self, group: usize, cpu: usize) -> Outcome {
        match self.quota_of[group] {
            Some(i) if !self.cut[group][cpu] => self.quota(i, cpu, Quota::GivesBack).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn dequeue(&mut self, task: usize, sleeps: bool, flags: u32) -> Outcome {
        let Task { cpu, group, .. } = self.tasks[task];
        self.charge(cpu)?;
        self.tasks[task].life = Life::Asleep;
        let root = Level { cpu, queue: None, entity: Entity::Task(task) };
        self.act(Verb::Estimate(false), root)?;
        self.act(Verb::Dequeue(-1, flags), self.level_of_task(task))?;
        self.climb(group, cpu, -1)?;
        if self.runs[cpu] == Some(task) {
            self.put(cpu)?;
        }
        if sleeps { self.sample(task) } else { Ok(()) }
    }

    /// The running task of a CPU stops: no task runs there.
    fn put(&mut self, cpu: usize) -> Outcome {
        self.clock(cpu)?;
        let Some(task) = self.runs[cpu] else { return Ok(()) };
        for level in self.levels_of(task) {
            self.act(Verb::PutPrev, level)?;
        }
        self.runs[cpu] = None;
        self.enter_idle(cpu)
    }

    fn block(&mut self, cpu: usize) -> Outcome {
        match self.runs[cpu] {
            Some(task) => {
                self.clock(cpu)?;
                self.dequeue(task, true, 0)
            }
            None => self.reschedule(cpu),
        }
    }

    fn reschedule(&mut self, cpu: usize) -> Outcome {
        self.charge(cpu)?;
        self.put(cpu)?;
        let (first, many) = (self.below(self.tasks.len()), self.tasks.len());
        let mut all = (0..many).map(|i| (first + i) % many);
        let Some(next) = all.find(|&task| self.tasks[task].cpu == cpu && self.may_run(task)) else { return Ok(()) };
        for level in self.levels_of(next) {
            self.act(Verb::SetNext, level)?;
        }
        self.runs[cpu] = Some(next);
        self.charged_ns[cpu] = self.now;
        Ok(())
    }

    fn tick(&mut self, cpu: usize) -> Outcome {
        self.clock(cpu)?;
        if let Some(task) = self.runs[cpu] {
            for level in self.levels_of(task) {
                self.act(Verb::Tick, level)?;
            }
            for group in self.groups_from(self.tasks[task].group) {
                self.follow(group, cpu)?;
            }
        }
        self.charge(cpu)
    }

    /// Takes the time that ran on a CPU since it was last charged from the quotas above it; a group that used its quota
    /// up has to wait.
    fn charge(&mut self, cpu: usize) -> Outcome {
        let ns = self.now - std::mem::replace(&mut self.charged_ns[cpu], self.now);
        let Some(task) = self.runs[cpu] else { return Ok(()) };
        for group in self.groups_from(self.tasks[task].group) {
            let Some(i) = self.quota_of[group] else { continue };
            if self.quota(i, cpu, Quota::Ran(ns))? & said::EXHAUSTED != 0 {
                self.may_cut(group, cpu)?;
            }
        }
        Ok(())
    }

    /// A group without runtime on a CPU waits, unless some came meanwhile.
    fn may_cut(&mut self, group: usize, cpu: usize) -> Outcome {
        let (Some(i), queued) = (self.quota_of[group], self.twin.cfs[group][cpu].nr_queued > 0) else { return Ok(()) };
        if self.cut[group][cpu] || self.quota(i, cpu, Quota::Throttle(queued))? & said::THROTTLED == 0 {
            return Ok(());
        }
        self.total.cuts += 1;
        if self.runs[cpu].is_some_and(|task| self.groups_from(self.tasks[task].group).contains(&group)) {
            self.put(cpu)?;
        }
        self.clock(cpu)?;
        for own in self.below[group].clone() {
            self.freeze(own, cpu, true)?;
        }
        let runnable = self.twin.cfs[group][cpu].h_nr_runnable as i32;
        if self.twin.group_se[group][cpu].on_rq != 0 {
            self.act(Verb::Dequeue(-runnable, 0), self.level_of_group(group, cpu))?;
            if let Some(above) = self.above[group] {
                self.climb(Some(above), cpu, -runnable)?;
            }
        }
        self.cut[group][cpu] = true;
        Ok(())
    }

    /// A group may run again on a CPU.
    pub(super) fn uncut(&mut self, group: usize, cpu: usize) -> Outcome {
        if !std::mem::take(&mut self.cut[group][cpu]) {
            return Ok(());
        }
        self.clock(cpu)?;
        for own in self.below[group].clone() {
            self.freeze(own, cpu, false)?;
        }
        let runnable = self.twin.cfs[group][cpu].h_nr_runnable as i32;
        if self.twin.cfs[group][cpu].nr_queued > 0 { self.climb(Some(group), cpu, runnable) } else { Ok(()) }
    }

    /// Timers of quotas that are due.
    fn timers(&mut self) -> Outcome {
        for i in 0..self.limited.len() {
            let due = Twin::timers(&self.twin.quotas[i]).map(|at| at.is_some_and(|at| at <= self.now));
            for what in [Quota::PeriodEnds, Quota::Gathered].into_iter().zip(due).filter(|(_, due)| *due) {
                let freed = self.quota(i, 0, what.0)? >> said::FREED_SHIFT;
                for cpu in (0..CPUS).filter(|cpu| freed >> cpu & 1 != 0) {
                    self.uncut(self.limited[i], cpu)?;
                }
            }
        }
        Ok(())
    }

    /// A queued task goes to another CPU.
    fn move_queued(&mut self) -> Outcome {
        let Some(task) = self.someone(|life| life == Life::Queued) else { return Ok(()) };
        let detached = self.core.model.policy.queued_migrant == value::QUEUED_MIGRANT_DETACHED;
        self.clock(self.tasks[task].cpu)?;
        self.dequeue(task, false, if detached { update::DETACH } else { 0 })?;
        if !detached {
            self.act(Verb::Remove, self.level_of_task(task))?;
        }
        self.forget(task);
        self.tasks[task].cpu = self.below(CPUS);
        self.total.moves += 1;
        self.enqueue(task)
    }

    /// A task goes to another group, asleep or not.
    fn change_group(&mut self) -> Outcome {
        let Some(task) = self.someone(|life| life != Life::New) else { return Ok(()) };
        let queued = self.tasks[task].life == Life::Queued;
        self.clock(self.tasks[task].cpu)?;
        if queued {
            self.dequeue(task, false, 0)?;
        }
        let attached = self.twin.tasks[task].avg.last_update_time_ns != 0;
        if attached {
            self.act(Verb::Age(0), self.level_of_task(task))?;
            self.act(Verb::Detach, self.level_of_task(task))?;
            self.forget(task);
            self.carry_up(task)?;
        }
        self.tasks[task].group = (self.below(16) > 0).then(|| self.below(self.above.len()));
        self.total.moves += 1;
        if attached {
            self.act(Verb::Age(update::ATTACH), self.level_of_task(task))?;
            self.carry_up(task)?;
        }
        if queued { self.enqueue(task) } else { Ok(()) }
    }

    fn carry_up(&mut self, task: usize) -> Outcome {
        for level in &self.levels_of(task)[1..] {
            self.act(Verb::Age(update::TG), *level)?;
        }
        Ok(())
    }

    /// The walk over blocked load of a CPU: groups with anything left, children first, then the CPU.
    pub(super) fn walk(&mut self, cpu: usize) -> Outcome {
        self.clock(cpu)?;
        for group in (0..self.above.len()).rev() {
            let decayed = self.core.model.is_decayed(&self.core.cfs[group][cpu]);
            if decayed != self.twin.model.is_decayed(&self.twin.cfs[group][cpu]) {
                return Err(format!("group {group} on CPU {cpu}: the core says decayed {decayed}"));
            }
            if !decayed {
                self.act(Verb::Walk(self.now), self.level_of_group(group, cpu))?;
            }
        }
        if self.runs[cpu].is_some() {
            return Ok(());
        }
        let core = self.core.model.age_cpu(&mut self.core.rq[cpu], self.now);
        let twin = self.twin.model.age_cpu(&mut self.twin.rq[cpu], self.now);
        self.step("the CPU's own", &[Slot::Rq(cpu)], (core, twin))
    }

    /// No group has a limit any more, all tasks sleep, and load fades until nothing is left of it.
    pub(super) fn fades(&mut self) -> Outcome {
        for i in 0..self.limited.len() {
            self.quota(i, 0, Quota::Limit(RUNTIME_INF, 100_000_000, 0))?;
            (0..CPUS).try_for_each(|cpu| self.uncut(self.limited[i], cpu))?;
        }
        for task in 0..self.tasks.len() {
            if self.tasks[task].life == Life::Queued {
                self.clock(self.tasks[task].cpu)?;
                self.dequeue(task, true, 0)?;
            }
        }
        for _ in 0..4 {
            self.now += 3_000_000_000;
            (0..CPUS).try_for_each(|cpu| self.walk(cpu))?;
        }
        self.agrees()?;
        self.sums_hold()?;
        self.nothing_is_left()
    }
}
