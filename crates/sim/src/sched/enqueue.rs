// SPDX-License-Identifier: GPL-2.0-only
//! A task comes to a CPU or leaves it: what every class does then, and who has to know.

use pelton_core::dequeue;
use pelton_schema::{Event, Sink};

use crate::class::Class;
use crate::engine::Engine;
use crate::engine::state::{NO_TASK, Task};

impl<S: Sink> Engine<'_, S> {
    /// Puts a runnable task on CPU `c`.
    pub(crate) fn enqueue(&mut self, c: u32, t: u32, wakeup: bool) {
        self.account(c);
        self.update_clock(c);
        self.tasks[t as usize].waiting_since_ns = self.now;
        self.clamps_in(c, t);
        self.count_boost(c, t, true);
        match self.tasks[t as usize].class {
            Class::Fair => {
                self.tasks[t as usize].list_place = self.balancing.at_head();
                self.check_enqueue_throttle(c, t);
                self.signal_enqueue(c, t);
                self.fair_enqueue(c, t, wakeup);
                if wakeup {
                    self.vote_usage(c);
                }
                self.hook_second_task(c);
                self.check_fair_server(c);
                self.update_hrtick_fair(c);
            }
            Class::Realtime => {
                self.tasks[t as usize].rt.quantum_left_ns = crate::class::realtime::RR_QUANTUM_NS;
                self.rt_enqueue(c, t, false);
                self.hook_rt(c);
            }
            Class::Deadline => self.dl_enqueue(c, t, wakeup),
            Class::Worker => self.cpus[c as usize].workers.push(t),
        }
        self.note_load(c);
    }

    /// Takes a runnable task (running or waiting) off CPU `c` because it moves.
    pub(crate) fn leave_queue(&mut self, c: u32, t: u32) {
        self.clamps_out(c, t);
        self.count_boost(c, t, false);
        match self.tasks[t as usize].class {
            Class::Fair => self.fair_dequeue(c, t, dequeue::MIGRATE),
            Class::Realtime => {
                if self.cpus[c as usize].curr == t {
                    self.stop_rt(c);
                } else {
                    self.rt_dequeue(c, t);
                    self.hook_rt(c);
                }
            }
            Class::Deadline => self.dl_leave(c, t),
            Class::Worker => self.cpus[c as usize].workers.retain(|&w| w != t),
        }
        self.note_load(c);
    }

    /// Records a change of CPU.
    pub(crate) fn set_task_cpu(&mut self, t: u32, target: u32) {
        let task = &mut self.tasks[t as usize];
        if task.cpu == target {
            return;
        }
        task.pulled_to = None;
        let (orig, prio) = (task.cpu, task.prio);
        if task.class != Class::Fair {
            self.signal_move_detached(t, orig, target);
        }
        if self.balancing.decides {
            // What migrate_task_rq_fair() makes of exec_start: it is not hot there.
            self.tasks[t as usize].last_ran_ns = 0;
        }
        // Where the core decides it also says which CPU is remembered.
        let decided = self.placing.decides && self.tasks[t as usize].class == Class::Fair;
        let task = &mut self.tasks[t as usize];
        if !decided {
            task.recent_cpu = orig;
        }
        task.cpu = target;
        task.report.migrations += 1;
        let event =
            Event::SchedMigrateTask { cpu: self.exec, tid: Task::tid(t), prio, orig_cpu: orig, dest_cpu: target };
        self.emit(event);
        self.tasks[t as usize].cold = true;
    }

    /// Keeps the sets of idle CPUs and of CPUs on which a fair task waits behind another task current.
    pub(crate) fn note_load(&mut self, c: u32) {
        self.row_changes(c);
        let cpu = &self.cpus[c as usize];
        let nr_running = cpu.nr_running();
        let (over, idle) = (nr_running >= 2 && cpu.fair.has_waiting(), nr_running == 0 && cpu.curr == NO_TASK);
        debug_assert_eq!((over, idle), (cpu.is_overloaded(), cpu.is_idle()));
        self.chores.overload |= nr_running >= 2;
        self.overloaded.set(c, over);
        self.idle.set(c, idle);
        if idle {
            self.note_idle_core(c);
        }
    }

    /// The same for CPUs on which a queue may run again.
    pub(crate) fn note_freed(&mut self) {
        while let Some(c) = self.chores.freed.pop() {
            self.note_load(c);
        }
    }
}
