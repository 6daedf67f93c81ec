// SPDX-License-Identifier: GPL-2.0-or-later
//! Choosing what a CPU runs: the common part of all classes, in the order of the kernel's `__schedule()`.

use pelton_schema::{Event, STATE_DEAD, STATE_RUNNABLE, STATE_SLEEPING, STATE_UNINTERRUPTIBLE};

use crate::class::Class;
use crate::sched::classes::{Leaves, Outgoing};
use crate::sched::parts::IdleLoop;
use crate::shape::Run;
use crate::state::{Engine, NO_TASK, Task};

/// Result of a call of `schedule()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// The CPU does not choose now.
    Nothing,
    /// The CPU idles, or its task goes on with what it does.
    Runs,
    /// Its task fetches its next operation at once.
    Fetches,
}

impl<S: Run> Engine<'_, S> {
    /// Chooses the next task of CPU `c` and switches to it. What remains is the caller's: the task's next operation,
    /// then [`Engine::balance_callbacks`].
    pub(crate) fn schedule(&mut self, c: u32) -> Chosen {
        let cpu = &self.cpus[c as usize];
        if !cpu.is_awake() || cpu.line.in_irq() {
            return Chosen::Nothing;
        }
        self.exec = c;
        self.account(c);
        // What it finds is answered by this choice.
        self.update_curr(c);
        self.clear_resched(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.sched.idle_loop = IdleLoop::Out;
        let (prev, walks, restarts) = (cpu.curr, cpu.search.walk().is_some(), cpu.sched.tick_stopped);
        if walks {
            self.walk_stops(c);
        }
        if restarts {
            self.restart_tick(c);
        }
        self.update_clock(c);
        let mut on_rq = prev != NO_TASK && self.stays_queued(c, prev);
        on_rq = self.check_runtime(c, prev, on_rq);
        let next = self.pick_next(c, prev, on_rq);
        // Picking may have completed a delayed dequeue of the outgoing task.
        on_rq = on_rq && (self.tasks[prev as usize].is_runnable() || self.tasks[prev as usize].fair.is_delayed());
        let fetches = if next == prev {
            if prev != NO_TASK && !on_rq {
                // It left, and came back before another task was found.
                let class = self.tasks[prev as usize].class();
                self.set_next_task(c, prev, Some(class));
            }
            self.stay(c, prev)
        } else {
            self.switch(c, prev, next, on_rq)
        };
        if fetches { Chosen::Fetches } else { Chosen::Runs }
    }

    /// The task that ran leaves its queue unless it may go on here. True when it is still on it.
    #[inline]
    fn stays_queued(&mut self, c: u32, prev: u32) -> bool {
        if !self.tasks[prev as usize].is_runnable() {
            return self.deactivate(c, prev);
        }
        self.account_dl(c);
        let task = &mut self.tasks[prev as usize];
        if !task.may_run_on(c) {
            self.push_away(c, prev);
        } else if task.sched.pulled_to.is_some()
            && let Some(target) = self.taken_by(c, prev)
        {
            self.move_away(c, prev, target);
        } else if self.tasks[prev as usize].class() == Class::Deadline && self.tasks[prev as usize].dl.throttled() {
            self.dl_leave_throttled(c);
        } else {
            return true;
        }
        false
    }

    /// `__balance_callbacks()`: after the switch, waiting tasks of the real-time and deadline classes are pushed away.
    pub(crate) fn balance_callbacks(&mut self, c: u32) {
        if self.waiting.rt().contains(c) || self.waiting.dl().contains(c) {
            self.push_waiting(c);
        }
        self.note_load(c);
    }

    /// Keeps the running task (or the CPU idle). True when the task has to fetch its next operation.
    fn stay(&mut self, c: u32, task: u32) -> bool {
        if task == NO_TASK {
            self.go_idle(c);
            return false;
        }
        // No other task of its priority waits to go before it.
        self.tasks[task as usize].rt.stays();
        self.cache_looks(c);
        let fetches = self.tasks[task as usize].progress.fetches();
        if !fetches {
            self.arm_segment(c);
        }
        fetches
    }

    fn pick_next(&mut self, c: u32, prev: u32, on_rq: bool) -> u32 {
        let class = (prev != NO_TASK).then(|| self.tasks[prev as usize].class());
        let (runnable, leaves) = if on_rq { (class, None) } else { (None, class) };
        self.pick_task(c, Outgoing { task: prev, runnable, leaves })
    }

    /// The real-time task that runs next, `NO_TASK` when none may.
    pub(super) fn pick_rt(&self, c: u32, prev: Outgoing) -> u32 {
        if self.cpus[c as usize].rt_throttled() {
            return NO_TASK;
        }
        let first = self.cpus[c as usize].rt.first();
        if prev.runnable != Some(Class::Realtime) {
            return first.map_or(NO_TASK, |(_, t)| t);
        }
        let own = &self.tasks[prev.task as usize].rt;
        match first {
            Some((p, t)) if own.gives_way_to(p) => t,
            _ => prev.task,
        }
    }

    /// True when the next task has to fetch its next operation.
    fn switch(&mut self, c: u32, prev: u32, next: u32, on_rq: bool) -> bool {
        let prev_class = self.cpus[c as usize].running;
        if prev == NO_TASK {
            self.server_idled(c, false);
        } else {
            self.put_prev(c, prev, next, on_rq);
        }
        let cpu = &mut self.cpus[c as usize];
        cpu.curr = next;
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        cpu.running = (next != NO_TASK).then(|| self.tasks[next as usize].class());
        self.class_changes(c, prev_class);
        self.emit_switch(c, prev, next);
        if prev != NO_TASK && self.tasks[prev as usize].is_dead() && prev_class == Some(Class::Fair) {
            // core.c finish_task_switch(): the next task takes the averages of one that ended out of the queue.
            self.signal_exit(c, prev);
        }
        if next == NO_TASK {
            self.cpus[c as usize].line.set_request_timer(None);
            self.signal_enter_idle(c);
            self.server_idles(c);
            self.go_idle(c);
            return false;
        }
        if prev == NO_TASK && self.policy.newidle == pelton_core::value::NEWIDLE_AT_SWITCH {
            self.idle_time_ends(c);
        }
        self.cpus[c as usize].report.switches += 1;
        self.cpus[c as usize].sched.idle_path = false;
        self.set_next_task(c, next, prev_class);
        self.hook_switch(c, prev_class, next);
        self.charge_cost(c, self.m.costs.context_switch_ns);
        if std::mem::take(&mut self.tasks[next as usize].sched.cold) {
            self.charge_cost(c, self.m.costs.migration_ns);
        }
        self.note_running(c, next);
        self.returns_to_user(c, next);
        self.cache_looks(c);
        let fetches = self.tasks[next as usize].progress.fetches() && self.cpus[c as usize].line.path_ns() == 0;
        if !fetches {
            self.arm_segment(c);
        }
        fetches
    }

    fn emit_switch(&mut self, c: u32, prev: u32, next: u32) {
        if !S::ACTIVE {
            return;
        }
        let prio = |t: u32| if t == NO_TASK { 120 } else { self.tasks[t as usize].prio() };
        // A task that sleeps says so although it may stay queued for a while.
        let prev_state = match prev {
            NO_TASK => STATE_RUNNABLE,
            _ if self.tasks[prev as usize].is_dead() => STATE_DEAD,
            _ if self.tasks[prev as usize].is_runnable() => STATE_RUNNABLE,
            _ if self.tasks[prev as usize].sleep.in_iowait() => STATE_UNINTERRUPTIBLE,
            _ => STATE_SLEEPING,
        };
        let event = Event::SchedSwitch {
            cpu: c,
            prev_tid: Task::tid(prev),
            prev_prio: prio(prev),
            prev_state,
            next_tid: Task::tid(next),
            next_prio: prio(next),
        };
        self.emit(event);
    }

    /// Task `t` was switched to; it executes when the kernel is done.
    fn note_running(&mut self, c: u32, t: u32) {
        let (now, left_ns) = (self.now, self.cpus[c as usize].line.path_ns());
        let task = &mut self.tasks[t as usize];
        task.sleep.io_is_over();
        task.report.switches += 1;
        task.report.wait_ns += now - task.sched.waiting_since_ns;
        if let Some(woken) = task.sched.woken_ns.take() {
            let latency = now + left_ns - woken;
            task.report.wakeup_latency_ns.add(latency);
            task.activation.waited(latency);
        }
    }

    /// Takes the outgoing task off the CPU; back to its queue when it is still runnable.
    fn put_prev(&mut self, c: u32, t: u32, next: u32, on_rq: bool) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        task.sched.waiting_since_ns = now;
        task.sched.last_ran_ns = now;
        self.put_prev_task(c, t, next, on_rq);
    }

    /// The running task stops being runnable. True when it stays queued (delayed dequeue).
    fn deactivate(&mut self, c: u32, t: u32) -> bool {
        let dead = self.tasks[t as usize].is_dead();
        self.clamps_out(c, t);
        self.count_boost(c, t, false);
        self.dequeue_task(c, t, if dead { Leaves::Ends } else { Leaves::Sleeps })
    }

    /// CPU `c` ran a task of class `before` and runs one of another class now: a running RT task counts in its request.
    fn class_changes(&mut self, c: u32, before: Option<Class>) {
        let realtime = Some(Class::Realtime);
        if before == realtime || self.cpus[c as usize].running == realtime {
            self.request_changes(c);
        }
    }

    /// The running task moves to a CPU that takes it, or to where its new program shall run.
    fn move_away(&mut self, c: u32, t: u32, target: u32) {
        self.leave_queue(c, t);
        if std::mem::take(&mut self.tasks[t as usize].sched.loads_program) {
            return self.put_elsewhere(t, target);
        }
        if !self.balancing.decides {
            // Its cache is warm here: it is not pulled back at once.
            self.tasks[t as usize].sched.last_ran_ns = self.now;
        }
        self.put_elsewhere(t, target);
        self.took_running(c, target);
    }

    /// The CPU that takes the running task, if that may still go there.
    fn taken_by(&mut self, c: u32, t: u32) -> Option<u32> {
        let target = self.tasks[t as usize].sched.pulled_to.take()?;
        (target != c && self.tasks[t as usize].may_run_on(target)).then_some(target)
    }

    pub(crate) fn put_elsewhere(&mut self, t: u32, target: u32) {
        self.set_task_cpu(t, target);
        self.enqueue(target, t, false);
        self.check_preempt(target, t);
    }
}
