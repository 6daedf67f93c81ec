// SPDX-License-Identifier: GPL-2.0-or-later
//! Single events of the grammar: wake-ups, blocks, moves, and the events around them.

use super::grammar::{Grammar, Life, Runs, Why};
use super::ops::Op;
use super::world::{CPUS, GROUPS, Slot, TASKS, address};

impl Grammar {
    fn random_task(&mut self) -> usize {
        self.below(TASKS as u64) as usize
    }

    fn is_running(&self, task: usize) -> bool {
        self.runs.contains(&Runs::Fair(task))
    }

    pub(super) fn wake_someone(&mut self) {
        let task = self.random_task();
        match self.tasks[task].life {
            Life::Dead => self.fork(task),
            Life::Asleep => self.wake(task),
            Life::Delayed => self.enqueue(task),
            Life::Away => self.join_fair(task),
            Life::Queued => {}
        }
        let cpu = self.tasks[task].cpu;
        if matches!(self.runs[cpu], Runs::Idle) || self.below(3) == 0 {
            self.reschedule(cpu);
        }
    }

    fn fork(&mut self, task: usize) {
        let cpu = self.below(CPUS as u64) as usize;
        let group = self.below(1 + GROUPS as u64) as usize;
        let weight = self.random_weight();
        (self.tasks[task].cpu, self.tasks[task].group) = (cpu, group);
        let (se, leaf) = (address(Slot::Task(task)), self.leaf(task));
        self.call(Op::SeInit, &[se, weight]);
        let cap_orig = self.episode.world.rq[cpu].cap_orig;
        self.call(Op::PostInit, &[leaf, se, cap_orig]);
        self.enqueue(task);
    }

    fn wake(&mut self, task: usize) {
        let old = self.tasks[task].cpu;
        let attached = self.episode.world.tasks[task].avg.last_update_time_ns != 0;
        if attached && self.below(3) == 0 {
            let args =
                [address(Slot::Rq(old)), self.leaf(task), address(Slot::Task(task)), self.is_idle(old), self.now];
            self.call(Op::MigrateSleeping, &args);
            self.tasks[task].cpu = (old + 1) % CPUS;
        }
        let se = address(Slot::Task(task));
        self.call(Op::TaskUtilEst, &[se]);
        self.enqueue(task);
    }

    /// The running fair task sleeps, or wants to.
    pub(super) fn block(&mut self, cpu: usize) {
        if let Runs::Fair(task) = self.runs[cpu] {
            let may_delay = self.tasks[task].group == 0 && self.switch_is("delayed_dequeue", "on");
            if self.tasks[task].life == Life::Queued && may_delay && self.below(2) == 0 {
                let args = [address(Slot::Rq(cpu)), address(Slot::Task(task)), self.now, 0, 0];
                self.call(Op::RqDelayTask, &args);
                self.tasks[task].life = Life::Delayed;
            } else {
                self.dequeue(task, Why::Sleep);
            }
        }
        self.reschedule(cpu);
    }

    fn candidate(&mut self, cpu: usize) -> Option<usize> {
        let ready = |&task: &usize| self.tasks[task].cpu == cpu && self.tasks[task].life == Life::Queued;
        let list: Vec<usize> = (0..TASKS).filter(ready).collect();
        (!list.is_empty()).then(|| list[self.below(list.len() as u64) as usize])
    }

    fn next_to_run(&mut self, cpu: usize) -> Runs {
        match self.below(12) {
            0 => Runs::Rt,
            1 => Runs::Dl,
            _ => self.candidate(cpu).map_or(Runs::Idle, Runs::Fair),
        }
    }

    /// The CPU picks again.
    pub(super) fn reschedule(&mut self, cpu: usize) {
        self.drop_delayed(cpu);
        let next = self.next_to_run(cpu);
        let rq = address(Slot::Rq(cpu));
        if next == self.runs[cpu] {
            return;
        }
        if let Runs::Rt | Runs::Dl = self.runs[cpu] {
            self.clock(cpu);
            let op = if self.runs[cpu] == Runs::Rt { Op::UpdateRt } else { Op::UpdateDl };
            self.call(op, &[rq, 1]);
        }
        match next {
            Runs::Idle => return self.go_idle(cpu),
            Runs::Fair(task) => self.switch_fair(cpu, Some(task)),
            Runs::Rt | Runs::Dl => {
                self.switch_fair(cpu, None);
                let op = if next == Runs::Rt { Op::UpdateRt } else { Op::UpdateDl };
                self.call(op, &[rq, 0]);
            }
        }
        self.runs[cpu] = next;
    }

    /// Tasks that wait to leave may go at any pick, unless they are current.
    fn drop_delayed(&mut self, cpu: usize) {
        for task in 0..TASKS {
            let waits = self.tasks[task].life == Life::Delayed && self.tasks[task].cpu == cpu;
            if waits && !self.is_running(task) && self.below(2) == 0 {
                self.dequeue(task, Why::Sleep);
            }
        }
    }

    /// A queued task that does not run moves to the other CPU, or one that waits to leave.
    pub(super) fn migrate_queued(&mut self, cpu: usize) {
        if self.below(3) == 0 {
            return self.migrate_delayed(cpu);
        }
        let Some(task) = self.candidate(cpu) else { return };
        if self.is_running(task) {
            return;
        }
        self.dequeue(task, Why::Migrate);
        self.tasks[task].cpu = (cpu + 1) % CPUS;
        self.enqueue(task);
    }

    fn migrate_delayed(&mut self, cpu: usize) {
        let waits = |&task: &usize| self.tasks[task].life == Life::Delayed && self.tasks[task].cpu == cpu;
        let Some(task) = (0..TASKS).filter(waits).find(|&task| !self.is_running(task)) else { return };
        self.dequeue(task, Why::Migrate);
        let to = (cpu + 1) % CPUS;
        self.tasks[task].cpu = to;
        self.clock(to);
        self.call(Op::RqEnqueueDelayed, &[address(Slot::Rq(to)), address(Slot::Task(task))]);
        self.tasks[task].life = Life::Delayed;
    }

    pub(super) fn change_speed(&mut self, cpu: usize) {
        self.clock(cpu);
        let speed = self.speed(cpu);
        self.call(Op::Poke, &speed);
    }

    pub(super) fn refresh_blocked(&mut self, cpu: usize) {
        let rq = address(Slot::Rq(cpu));
        let runs = match self.runs[cpu] {
            Runs::Fair(_) => 0,
            Runs::Rt => 1,
            Runs::Dl => 2,
            Runs::Idle => 3,
        };
        let lost = self.below(400);
        self.call(Op::RqUpdateBlocked, &[rq, self.now, 0, runs, lost]);
        self.walk_groups(cpu);
        let others = [rq, (runs == 1).into(), (runs == 2).into(), lost];
        self.call(Op::UpdateOthers, &others);
        let (hw, pressure) = (self.below(300), self.below(300));
        self.call(Op::CapacityOf, &[rq, hw, pressure]);
    }

    /// Weight, group, class or end of a task.
    pub(super) fn change_someone(&mut self) {
        let task = self.random_task();
        let (se, leaf) = (address(Slot::Task(task)), self.leaf(task));
        let rq = address(Slot::Rq(self.tasks[task].cpu));
        match (self.tasks[task].life, self.below(4)) {
            (Life::Asleep | Life::Queued, 0 | 1) => {
                self.clock(self.tasks[task].cpu);
                self.call(Op::UpdateSe, &[rq, leaf, se]);
                let weight = self.random_weight();
                self.call(Op::Reweight, &[leaf, se, weight * 1024]);
            }
            (Life::Asleep, 2) => {
                let group = self.below(1 + GROUPS as u64) as usize;
                self.move_group(task, group);
            }
            (Life::Asleep, _) => self.leave_fair(task),
            _ => {}
        }
    }

    /// A sleeping task ends or goes to another class.
    fn leave_fair(&mut self, task: usize) {
        let cpu = self.tasks[task].cpu;
        self.clock(cpu);
        let args = [address(Slot::Rq(cpu)), self.leaf(task), address(Slot::Task(task))];
        if self.below(2) == 0 {
            self.call(Op::RemoveSleeping, &args);
            self.tasks[task].life = Life::Dead;
        } else {
            self.call(Op::SwitchedFromFair, &args);
            self.tasks[task].life = Life::Away;
        }
    }

    fn join_fair(&mut self, task: usize) {
        let cpu = self.tasks[task].cpu;
        self.clock(cpu);
        let args = [address(Slot::Rq(cpu)), self.leaf(task), address(Slot::Task(task))];
        self.call(Op::SwitchedToFair, &args);
        self.tasks[task].life = Life::Asleep;
    }

    /// A group's queue loses or regains its bandwidth.
    pub(super) fn throttle(&mut self, cpu: usize) {
        let group = self.below(GROUPS as u64) as usize;
        self.clock(cpu);
        let args = [address(Slot::Rq(cpu)), address(Slot::Cfs(group, cpu))];
        let throttled = self.episode.world.cfs[group][cpu].throttle_count;
        let op = if throttled == 0 && self.below(3) == 0 { Op::Throttle } else { Op::Unthrottle };
        self.call(op, &args);
    }

    /// Functions that need no CPU, with any input they accept.
    pub(super) fn try_loose(&mut self, cpu: usize) {
        let scratch = address(Slot::Scratch);
        for _ in 0..4 {
            let lut = self.episode.world.scratch.last_update_time_ns;
            let span = [1u64 << 12, 1 << 21, 1 << 27, 1 << 31][self.below(4) as usize];
            let now = (lut + self.below(span)).saturating_sub(span / 16);
            let load = if self.below(3) == 0 { 0 } else { self.random_weight() };
            let speed = self.below(1025) << 32 | self.below(1025);
            let (runnable, running) = (self.below(65), self.below(2) * self.below(1025));
            self.call(Op::Accumulate, &[scratch, now, load, runnable, running, speed]);
        }
        let (high, low, periods) = (self.below(1 << 32), self.below(1 << 32), self.below(2200));
        self.call(Op::Decay, &[high << 32 | low, 1 + periods]);
        let (util, units) = (self.below(1025), self.below(1 << 31));
        self.call(Op::Ramp, &[util, units]);
        if self.below(8) == 0 {
            self.call(Op::TimeTo, &[util]);
        }
        self.try_bandwidth();
        self.tick(cpu);
    }

    fn try_bandwidth(&mut self) {
        let (runtime, period) = (self.below(1 << 31), self.below(4) * self.below(1 << 31));
        let bandwidth = self.call(Op::DlBw, &[runtime, period]);
        self.call(Op::CpuBwDl, &[bandwidth.min(1 << 22)]);
        let (util, capacity) = (self.below(1100), self.below(1025));
        self.call(Op::FitsCapacity, &[util, capacity]);
        let (khz, reference) = (self.below(4_000_000), self.below(5) * 1_000_000);
        self.call(Op::FreqScale, &[khz, reference]);
    }
}
