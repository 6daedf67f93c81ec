// SPDX-License-Identifier: GPL-2.0-or-later
//! Real-time tasks run where something weaker runs: pushed away when they have to wait, pulled when a CPU would run
//! less.

use pelton_core::{need_pull_rt, rt_overloaded};

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

/// Strength of a deadline task: above every real-time priority.
const STRENGTH_DEADLINE: u32 = 100;

impl<S: Run> Engine<'_, S> {
    /// Makes CPUs with too many real-time tasks push what they can to `c`, whose task `prev` leaves, if the tasks that
    /// stay there are weaker. The interrupt that asks them takes no time.
    pub(crate) fn pull_rt(&mut self, c: u32, prev: u32) {
        let left = self.cpus[c as usize].rt.first().map_or(0, |(p, _)| p.into());
        if self.waiting.rt().is_empty() || !need_pull_rt(self.strength(prev), left) {
            return;
        }
        let overloaded: Vec<u32> = self.waiting.rt().iter().filter(|&from| from != c).collect();
        for from in overloaded {
            self.exec = from;
            self.push_rt_tasks(from, c);
        }
        self.exec = c;
    }

    /// Priority of a task as real-time tasks see it: above theirs when it is a deadline task, 0 when it is a fair one.
    fn strength(&self, t: u32) -> u32 {
        match self.tasks.get(t as usize) {
            Some(task) if task.class() == Class::Realtime => task.rt.priority().into(),
            Some(task) if task.class() < Class::Realtime => STRENGTH_DEADLINE,
            _ => 0,
        }
    }

    /// The task that `c` would push next: the strongest that waits and may move, unless it is about to run there.
    fn pushable_rt(&self, c: u32) -> Option<u32> {
        let cpu = &self.cpus[c as usize];
        let runs = cpu.runs(Class::Realtime);
        let mut waiting = cpu.rt.waiting().filter(|&(_, t)| self.tasks[t as usize].may_move());
        let (priority, t) = waiting.next()?;
        let nr = cpu.rt.len() + u32::from(runs);
        let waits = rt_overloaded(self.policy.get(), nr, 1 + waiting.count() as u32);
        (waits && u32::from(priority) <= self.strength(cpu.curr)).then_some(t)
    }

    /// Pushes the real-time tasks that wait on `c` as long as that succeeds; `asks` looks for its next task anyway.
    pub(crate) fn push_rt_tasks(&mut self, c: u32, asks: u32) {
        while let Some(t) = self.pushable_rt(c) {
            let Some(target) = self.lowest_rq_of(t).filter(|&target| target != c) else { return };
            self.move_rt(t, c, target);
            if target != asks {
                self.resched_cpu(target);
            }
        }
    }

    /// Tasks of the class just picked on `c` that wait there may run elsewhere.
    pub(crate) fn push_waiting(&mut self, c: u32) {
        match self.cpus[c as usize].running {
            Some(Class::Deadline | Class::Worker) => while self.push_dl(c) {},
            Some(Class::Realtime) => self.push_rt_tasks(c, c),
            _ => {}
        }
    }

    fn move_rt(&mut self, t: u32, from: u32, to: u32) {
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.set_task_cpu(t, to);
        let waiting_since_ns = self.tasks[t as usize].sched.waiting_since_ns;
        self.enqueue(to, t, false);
        self.tasks[t as usize].sched.waiting_since_ns = waiting_since_ns;
    }
}
