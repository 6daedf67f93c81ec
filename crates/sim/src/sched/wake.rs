// SPDX-License-Identifier: GPL-2.0-or-later
//! Waking a task: where it goes, which CPU enqueues it, and whether it runs at once.

use pelton_core::value;
use pelton_schema::Event;

use crate::engine::Wakeup;
use crate::engine::life::Life;
use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, Task};
use pelton_model::workload::CpuSet;

impl<S: Run> Engine<'_, S> {
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
        let target = self.select_cpu(t, exec, sync);
        self.emit_wakeup(t, exec, target, true);
        if target != prev_cpu {
            self.migrate_task_rq(t);
        }
        self.set_task_cpu(t, target);
        if self.ttwu_queue_cond(exec, target) {
            self.ttwu_queue_wakelist(target, t);
        } else {
            self.ttwu_do_activate(target, t);
        }
    }

    /// True if the target enqueues the task itself. It then pays for that, and for the hook.
    fn ttwu_queue_cond(&self, exec: u32, target: u32) -> bool {
        let idle_too = self.policy.wake_queue == value::WAKE_QUEUE_FAR_OR_IDLE;
        let idles = || self.cpus[target as usize].nr_running() == 0;
        let far = exec != target && (!self.same_llc(exec, target) || (idle_too && idles()));
        // Tasks of sched_ext are enqueued by who wakes them (scx_allow_ttwu_queue).
        far && self.policy.host == value::HOST_KERNEL
    }

    /// Task `t` waits for CPU `c` to enqueue it: until then it is in no queue, and no signal counts it.
    fn ttwu_queue_wakelist(&mut self, c: u32, t: u32) {
        self.tasks[t as usize].is_on_wake_list();
        self.cpus[c as usize].wake_list.push(t);
        self.note_load(c);
        // The interrupt is sent at the end of the path that wakes the task.
        let at_ns = self.now + self.path_left_ns(self.exec);
        if at_ns == self.now {
            self.takes_wakes(c);
        } else {
            self.expect_reaction(c, at_ns);
        }
    }

    /// Handles the requests of other CPUs that arrive at CPU `c`: wake-ups and rescheduling.
    pub(crate) fn reacts(&mut self, c: u32) {
        if self.cpus[c as usize].wake_list.is_pending() {
            self.takes_wakes(c);
        }
        if self.cpus[c as usize].resched.take_remote() {
            self.react(c);
        }
    }

    /// The interrupt for tasks on its wake list comes to CPU `c`: none is sent to one that idles and watches for it.
    fn takes_wakes(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        let interrupted = match cpu.power() {
            Power::Idle { .. } => self.idle_needs_ipi(c),
            Power::Exiting { .. } => false,
            Power::Awake => cpu.curr != NO_TASK,
        };
        if interrupted {
            self.charge_cost(c, self.m.costs.ipi_ns);
        }
        if self.cpus[c as usize].is_awake() {
            self.sched_ttwu_pending(c);
            self.exit_to_user(c);
        } else {
            self.cpus[c as usize].resched.looks_when_awake();
            self.leave_idle(c);
        }
    }

    /// CPU `c` enqueues the tasks that other CPUs woke for it.
    pub(crate) fn sched_ttwu_pending(&mut self, c: u32) {
        if !self.cpus[c as usize].wake_list.is_pending() {
            return;
        }
        let exec = std::mem::replace(&mut self.exec, c);
        let mut tasks = self.cpus[c as usize].wake_list.take();
        for t in tasks.drain(..) {
            self.tasks[t as usize].rises();
            self.ttwu_do_activate(c, t);
        }
        self.cpus[c as usize].wake_list.keep_room(tasks);
        self.exec = exec;
    }

    /// Task `t` comes to CPU `c`; the CPU that executes this may be another one.
    fn ttwu_do_activate(&mut self, c: u32, t: u32) {
        self.enqueue(c, t, true);
        self.note_overutilized(c);
        self.emit_wakeup(t, self.exec, c, false);
        self.check_preempt(c, t);
        if self.policy.newidle != value::NEWIDLE_AT_SWITCH {
            self.idle_time_ends(c);
        }
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
