// SPDX-License-Identifier: GPL-2.0-or-later
//! A task comes to a CPU or leaves it: what every class does then, and which parts have to know.

use pelton_schema::Event;

use crate::sched::classes::Leaves;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, Task};

impl<S: Run> Engine<'_, S> {
    /// Puts a runnable task on CPU `c`, or one from elsewhere whose dequeue is delayed.
    pub(crate) fn enqueue(&mut self, c: u32, t: u32, wakeup: bool) {
        self.account(c);
        self.update_clock(c);
        self.tasks[t as usize].sched.waiting_since_ns = self.now;
        if !self.tasks[t as usize].fair.is_delayed() {
            self.clamps_in(c, t);
            self.count_boost(c, t, true);
        }
        self.enqueue_task(c, t, wakeup);
        self.note_load(c);
    }

    /// Takes a queued task (running, waiting, or one whose dequeue is delayed) off CPU `c` because it moves.
    pub(crate) fn leave_queue(&mut self, c: u32, t: u32) {
        if !self.tasks[t as usize].fair.is_delayed() {
            self.clamps_out(c, t);
            self.count_boost(c, t, false);
        }
        self.dequeue_task(c, t, Leaves::Moves);
        self.note_load(c);
    }

    /// Records a change of CPU.
    pub(crate) fn set_task_cpu(&mut self, t: u32, target: u32) {
        let task = &mut self.tasks[t as usize];
        if task.cpu == target {
            return;
        }
        (task.sched.pulled_to, task.sched.loads_program) = (None, false);
        let (orig, prio) = (task.cpu, task.prio());
        if !task.is_fair() {
            self.signal_move_detached(t, orig, target);
        }
        if self.balancing.decides {
            // What migrate_task_rq_fair() makes of exec_start: it is not hot there.
            self.tasks[t as usize].sched.last_ran_ns = 0;
        }
        let task = &mut self.tasks[t as usize];
        // The core says of a fair task which CPU is remembered.
        if !task.is_fair() {
            task.sched.recent_cpu = orig;
        }
        task.cpu = target;
        task.report.migrations += 1;
        let event =
            Event::SchedMigrateTask { cpu: self.exec, tid: Task::tid(t), prio, orig_cpu: orig, dest_cpu: target };
        self.emit(event);
        self.tasks[t as usize].sched.cold = true;
    }

    /// Keeps the sets of idle CPUs and of CPUs with two tasks or more current.
    pub(crate) fn note_load(&mut self, c: u32) {
        self.row_changes(c);
        let cpu = &self.cpus[c as usize];
        let nr_runnable = cpu.nr_runnable();
        let nr_running = nr_runnable + cpu.fair.nr_delayed();
        let idle = nr_running == 0 && cpu.curr == NO_TASK && !cpu.wake_list.is_pending();
        debug_assert_eq!(idle, cpu.idle_cpu());
        self.sched.overload |= nr_running >= 2;
        let noted = u8::from(nr_running >= 2) | u8::from(idle) << 1;
        if std::mem::replace(&mut self.cpus[c as usize].sched.noted, noted) != noted {
            self.sched.crowded.set(c, nr_running >= 2);
            self.sched.idle_cpus.set(c, idle);
        }
        if idle {
            self.note_idle_core(c);
        }
    }

    /// Updates the sets of CPUs for those on which a queue may run again.
    pub(crate) fn note_freed(&mut self) {
        while let Some(c) = self.waiting.take_freed() {
            self.note_load(c);
        }
    }
}
