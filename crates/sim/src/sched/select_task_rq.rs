// SPDX-License-Identifier: GPL-2.0-or-later
//! Choice of a CPU for a waking or new task, or one that loads a program. The core decides (`placing`, `class_search`).

use pelton_core::{PlaceWaker, record_wakee, value, wf};

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

const NS_PER_S: u64 = 1_000_000_000;

impl<S: Run> Engine<'_, S> {
    /// CPU for a fair task that wakes.
    pub(crate) fn select_task_rq_fair(&mut self, t: u32, exec: u32, sync: bool) -> u32 {
        if self.tasks[t as usize].may_move() {
            self.record_wakee(self.cpus[exec as usize].curr, t);
        }
        self.fade_all_for_reader();
        if let Some(cpu) = self.place_idle(t, exec, sync) {
            return cpu;
        }
        self.place(t, exec, wf::TTWU | if sync { wf::SYNC } else { 0 })
    }

    /// CPU for a new task: its parent's CPU, or the first one, executes the placement. A task of another class is a
    /// thread that was made as a fair one, and set its policy then.
    pub(crate) fn select_new(&mut self, t: u32) -> u32 {
        let parent_cpu = self.tasks[t as usize].sched.forked_on.unwrap_or(0);
        if self.tasks[t as usize].is_fair()
            && let Some(cpu) = self.place_idle(t, parent_cpu, false)
        {
            return cpu;
        }
        self.tasks[t as usize].cpu = parent_cpu;
        self.place(t, parent_cpu, wf::FORK)
    }

    /// CPU for the running task `t` of CPU `c`, which loads another program: only the fair class looks for one
    /// (select_task_rq_rt and select_task_rq_dl leave such a task where it is).
    pub(crate) fn select_exec(&mut self, t: u32, c: u32) -> u32 {
        if !self.tasks[t as usize].is_fair() {
            return c;
        }
        self.fade_all_for_reader();
        self.place(t, c, wf::EXEC)
    }

    /// CPU for a fair task. A scheduler of sched_ext looks at all CPUs first.
    fn place(&mut self, t: u32, exec: u32, flags: u32) -> u32 {
        if self.policy.host == value::HOST_LIVE && self.tasks[t as usize].may_move() {
            self.scx_looks_at_all();
        }
        self.place_fair(t, exec, flags)
    }

    /// The task that runs loads its program on CPU `target`: it goes there when its CPU reschedules.
    pub(crate) fn takes_program(&mut self, t: u32, target: u32) {
        let task = &mut self.tasks[t as usize];
        (task.sched.pulled_to, task.sched.loads_program) = (Some(target), true);
    }

    /// The worker stays where it last ran unless another deadline task runs there.
    pub(super) fn select_worker(&self, t: u32) -> u32 {
        let prev = self.allowed_or_first(t, self.tasks[t as usize].cpu);
        let busy = |c: u32| matches!(self.cpus[c as usize].running, Some(Class::Deadline | Class::Worker));
        if !busy(prev) {
            return prev;
        }
        self.tasks[t as usize].allowed().iter().find(|&c| !busy(c)).unwrap_or(prev)
    }

    /// Counts how often a waker changes its wakee.
    fn record_wakee(&mut self, waker: u32, wakee: u32) {
        let now = self.now;
        let Some(task) = self.tasks.get_mut(waker as usize) else { return };
        let sched = &mut task.sched;
        let expired = now > sched.flips_decay_ns + NS_PER_S;
        let (same_wakee, flips_expired) = ((sched.last_wakee == wakee).into(), expired.into());
        let partners =
            PlaceWaker { wakee_flips: sched.wakee_flips, same_wakee, flips_expired, ..PlaceWaker::default() };
        sched.wakee_flips = record_wakee(&partners);
        sched.last_wakee = wakee;
        if expired {
            sched.flips_decay_ns = now;
        }
    }
}
