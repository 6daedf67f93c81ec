// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_DEADLINE at run time: budgets and their timers, the active bandwidth of each CPU, and moving waiting tasks.

use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, Task};

impl<S: Run> Engine<'_, S> {
    /// A throttled task gets its next budget.
    pub(crate) fn dl_replenish(&mut self, t: u32) {
        let now = self.now;
        let c = self.tasks[t as usize].cpu;
        self.exec = c;
        let deadline_ns = self.tasks[t as usize].dl.replenish(now);
        if !self.tasks[t as usize].is_runnable() || self.cpus[c as usize].curr == t {
            return;
        }
        self.account(c);
        self.update_clock(c);
        self.tasks[t as usize].sched.waiting_since_ns = now;
        self.cpus[c as usize].dl.enqueue(deadline_ns, t);
        self.dl_waits(c);
        self.note_load(c);
        self.check_preempt(c, t);
    }

    /// The task that `c` would push next: the earliest that waits and may move, unless it is about to run there.
    fn pushable_dl(&self, c: u32) -> Option<u32> {
        let cpu = &self.cpus[c as usize];
        let mut waiting = cpu.dl.waiting().filter(|&(_, t)| self.tasks[t as usize].may_move());
        let (deadline_ns, t) = waiting.next()?;
        let runs = cpu.runs(Class::Deadline);
        let soon = |curr: &Task| deadline_ns < curr.dl.deadline_ns() && curr.may_move();
        (!(runs && soon(&self.tasks[cpu.curr as usize]))).then_some(t)
    }

    /// CPU `c` keeps a deadline task waiting: it goes where it is the earliest, and that CPU chooses again
    /// (`push_dl_task()`). True when it went.
    pub(crate) fn push_dl(&mut self, c: u32) -> bool {
        let Some(t) = self.pushable_dl(c) else { return false };
        let deadline_ns = self.tasks[t as usize].dl.deadline_ns();
        let later = self.later_rq_of(t).filter(|&to| to != c && deadline_ns < self.dl_earliest_ns(to));
        let Some(target) = later else { return false };
        self.move_dl(t, c, target);
        self.resched_cpu(target);
        true
    }

    /// CPU `c` would run something weaker than a deadline task that waits elsewhere: take the earliest.
    pub(crate) fn pull_dl(&mut self, c: u32) {
        let mut best: Option<(u64, u32, u32)> = None;
        for from in self.waiting.dl().iter().filter(|&f| f != c) {
            // The head of a CPU that runs no deadline task is about to run there.
            let running = matches!(self.cpus[from as usize].running, Some(Class::Deadline | Class::Worker));
            for (deadline_ns, t) in self.cpus[from as usize].dl.waiting().skip(usize::from(!running)) {
                if self.tasks[t as usize].may_run_on(c) && best.is_none_or(|(b, _, _)| deadline_ns < b) {
                    best = Some((deadline_ns, t, from));
                }
            }
        }
        if let Some((_, t, from)) = best {
            self.move_dl(t, from, c);
        }
    }

    fn move_dl(&mut self, t: u32, from: u32, to: u32) {
        let waiting_since_ns = self.tasks[t as usize].sched.waiting_since_ns;
        self.account(from);
        self.update_clock(from);
        self.leave_queue(from, t);
        self.set_task_cpu(t, to);
        self.enqueue(to, t, false);
        self.tasks[t as usize].sched.waiting_since_ns = waiting_since_ns;
    }
}
