// SPDX-License-Identifier: GPL-2.0-only
//! Waking a task: where it goes, which CPU enqueues it, and whether it runs at once.

use pelton_core::value;
use pelton_schema::{Event, Sink};

use crate::engine::Wakeup;
use crate::engine::life::Life;
use crate::state::{Engine, Task};
use pelton_model::workload::CpuSet;

impl<S: Sink> Engine<'_, S> {
    /// Wakes a sleeping task; `exec` is the CPU that executes the wake-up.
    pub(crate) fn wake(&mut self, t: u32, exec: u32) {
        self.wake_up(t, exec, false);
    }

    /// Wakes a task as a waker does that will soon sleep (`WF_SYNC`).
    pub(crate) fn wake_sync(&mut self, t: u32, exec: u32) {
        self.wake_up(t, exec, true);
    }

    /// Carries out what a room below asks for.
    pub(crate) fn wake_asked(&mut self, asked: Option<Wakeup>) {
        if let Some(Wakeup { task, exec }) = asked {
            self.wake(task, exec);
        }
    }

    fn wake_up(&mut self, t: u32, exec: u32, sync: bool) {
        let task = &mut self.tasks[t as usize];
        if task.life() != Life::Sleeping {
            return;
        }
        task.rises();
        task.report.wakeups += 1;
        if self.cpus[task.cpu as usize].curr == t {
            // It has not left the CPU yet: the wake-up cancels the sleep.
            task.sleep.io_is_over();
            return;
        }
        task.sched.woken_ns = Some(self.now);
        if let Some(cpu) = task.sched.moves_to.take() {
            task.is_confined(CpuSet::of([cpu]));
        }
        task.activation.wakes(self.now, task.report.run_ns);
        self.charge_cost(exec, self.m.costs.wakeup_ns);
        if self.tasks[t as usize].fair.is_delayed() {
            self.requeue_delayed(t);
            return;
        }
        let prev_cpu = self.tasks[t as usize].cpu;
        self.record_wakee(self.cpus[exec as usize].curr, t);
        let target = self.select_wake(t, exec, sync);
        self.emit_wakeup(t, exec, target, true);
        if target != prev_cpu {
            self.migrate_task_rq(t);
        }
        self.set_task_cpu(t, target);
        let handed_over = self.hands_over(exec, target);
        self.exec = if handed_over { target } else { exec };
        self.enqueue(target, t, true);
        self.note_overutilized(target);
        self.emit_wakeup(t, self.exec, target, false);
        self.exec = exec;
        self.check_preempt(target, t);
        if handed_over {
            self.ipi_ends(target);
        }
        if self.policy.newidle != value::NEWIDLE_AT_SWITCH {
            self.idle_time_ends(target);
        }
    }

    /// Does the target enqueue the task itself? It then pays for that, and for the hook.
    fn hands_over(&self, exec: u32, target: u32) -> bool {
        let idle_too = self.policy.wake_queue == value::WAKE_QUEUE_FAR_OR_IDLE;
        exec != target && (!self.same_llc(exec, target) || (idle_too && self.cpus[target as usize].is_idle()))
    }

    fn requeue_delayed(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        let exec = self.exec;
        self.emit_wakeup(t, exec, c, true);
        self.account(c);
        self.update_clock(c);
        self.clamps_in(c, t);
        self.count_boost(c, t, true);
        self.fair_requeue(c, t);
        self.tasks[t as usize].sched.waiting_since_ns = self.now;
        self.check_enqueue_throttle(c, t);
        self.signal_enqueue(c, t);
        self.vote_usage(c);
        self.note_load(c);
        self.emit_wakeup(t, exec, c, false);
        self.check_preempt(c, t);
    }

    fn emit_wakeup(&mut self, t: u32, cpu: u32, target_cpu: u32, waking: bool) {
        let (tid, prio) = (Task::tid(t), self.tasks[t as usize].prio());
        self.emit(if waking {
            Event::SchedWaking { cpu, tid, prio, target_cpu }
        } else {
            Event::SchedWakeup { cpu, tid, prio, target_cpu }
        });
    }
}
