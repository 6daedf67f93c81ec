// SPDX-License-Identifier: GPL-2.0-or-later
//! Preemption by a task that became runnable (`wakeup_preempt`), and other CPUs for it where it does not preempt.

use crate::class::Class;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// Reschedules CPU `c` if a task that just became runnable there deserves the CPU.
    pub(crate) fn check_preempt(&mut self, c: u32, t: u32) {
        let curr = self.cpus[c as usize].curr;
        if curr == NO_TASK || !self.tasks[curr as usize].is_runnable() {
            self.resched_cpu(c);
            return;
        }
        if self.wakeup_preempt(c, curr, t) {
            let fair = [curr, t].iter().all(|&t| self.tasks[t as usize].is_fair());
            if fair { self.resched_curr_lazy(c) } else { self.resched_cpu(c) }
        } else {
            self.task_woken(c, t);
        }
    }

    /// A real-time task that woke on `c` has to wait there: what waits is pushed, unless something else runs there
    /// soon.
    pub(crate) fn push_woken_rt(&mut self, c: u32, t: u32) {
        if self.makes_room(c, t) {
            return;
        }
        if !self.cpus[c as usize].resched.is_asked() && self.tasks[t as usize].may_move() {
            self.push_rt_tasks(c, c);
        }
    }

    /// A real-time task as strong as the one that runs on `c` can go nowhere else, and that one can: they change
    /// places.
    pub(crate) fn makes_room(&mut self, c: u32, t: u32) -> bool {
        let curr = self.cpus[c as usize].curr;
        let priority =
            |t: u32| (self.tasks[t as usize].class() == Class::Realtime).then(|| self.tasks[t as usize].rt.priority());
        if self.cpus[c as usize].resched.is_asked() || priority(curr) != priority(t) {
            return false;
        }
        if !self.may_go_elsewhere(curr) || self.may_go_elsewhere(t) {
            return false;
        }
        self.rt_dequeue(c, t);
        self.rt_enqueue(c, t, true);
        self.tasks[curr as usize].rt.makes_room();
        self.resched_cpu(c);
        true
    }
}
