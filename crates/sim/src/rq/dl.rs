// SPDX-License-Identifier: GPL-2.0-or-later
//! SCHED_DEADLINE on one CPU: budgets and their timers, and the active bandwidth.

use pelton_core::hook::how;
use pelton_core::value;
use pelton_schema::HookSite;

use crate::class::Class;
use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// RT runtime accounting of the running task (the hook of profiles that call it there).
    pub(crate) fn account_rt(&mut self, c: u32) {
        if self.cpus[c as usize].runs(Class::Realtime) && self.ran_since_hook(c) {
            self.hook_event(c, HookSite::Rt, how::ACCOUNTING);
        }
    }

    /// Deadline runtime accounting of the running task; the governor's own worker is not accounted.
    pub(crate) fn account_dl(&mut self, c: u32) {
        if self.cpus[c as usize].runs(Class::Deadline) && self.ran_since_hook(c) {
            self.hook_event(c, HookSite::Dl, how::ACCOUNTING);
        }
        self.update_curr_dl(c);
    }

    /// Runtime is accounted, and the hook called, only when some time has passed since the last accounting.
    pub(crate) fn ran_since_hook(&mut self, c: u32) -> bool {
        let now = self.now;
        std::mem::replace(&mut self.cpus[c as usize].updates.runtime_accounted_ns, now) < now
    }

    /// Bandwidth a task reserves, Q20.
    pub(crate) fn bw_q20(&self, t: u32) -> u64 {
        self.tasks[t as usize].dl.bw_q20()
    }

    /// Counts or uncounts a task's reservation on CPU `c`; a change asks for a frequency where the profile does so.
    pub(crate) fn set_dl_active(&mut self, c: u32, t: u32, active: bool) {
        if !self.tasks[t as usize].dl.becomes_active(active) {
            return;
        }
        let bw = self.bw_q20(t);
        self.request_changes(c);
        self.cpus[c as usize].dl.counts(bw, active);
        self.hook_event(c, HookSite::Dl, 0);
    }

    /// A deadline task becomes runnable on `c`; only a wake-up may start a new server period. A throttled one still
    /// waits for its budget.
    pub(crate) fn dl_enqueue(&mut self, c: u32, t: u32, wakeup: bool) {
        let now = self.now;
        let policy = self.policy.get();
        let dl = &mut self.tasks[t as usize].dl;
        dl.stop_zero_lag();
        let waited = dl.throttled();
        let runs = dl.enqueue(policy, now, wakeup);
        let deadline_ns = dl.deadline_ns();
        self.set_dl_active(c, t, true);
        if runs {
            self.cpus[c as usize].dl.enqueue(deadline_ns, t);
            self.waiting.dl_waiting.insert(c);
        } else if !waited {
            self.start_dl_timer(t);
        }
    }

    /// The running deadline task used its runtime: what it had since the last look is taken from it. One that is about
    /// to make its next call at this very moment makes it first.
    pub(crate) fn update_curr_dl(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if !cpu.runs(Class::Deadline) {
            return;
        }
        let (t, freq_scale, cap) = (cpu.curr, cpu.rq.freq_scale, cpu.rq.cap_orig);
        let (policy, overhead_ns) = (self.policy.get(), cpu.line.path_ns());
        let task = &mut self.tasks[t as usize];
        if task.is_runnable() && overhead_ns == 0 && task.progress.is_over(self.now) {
            return;
        }
        if task.dl.accounts(policy, freq_scale, cap) {
            self.dl_throttle(c, t);
        }
    }

    /// Task `t` runs from now on: the high-resolution tick looks after its runtime, where policy and machine have one.
    pub(crate) fn start_hrtick(&mut self, t: u32) {
        let timer = self.policy.dl_enforcement == value::DL_ENFORCEMENT_TIMER && self.m.defers_timers;
        self.tasks[t as usize].dl.start_hrtick(timer.then_some(self.now));
    }

    pub(crate) fn start_dl_timer(&mut self, t: u32) {
        let dl = &mut self.tasks[t as usize].dl;
        let (at, generation) = (dl.next_period_ns(), dl.start_throttle());
        self.queue.push(at, Ev::DlReplenish { task: t, generation });
    }

    /// A sleeping deadline task will wake on another CPU: its bandwidth leaves this one.
    pub(crate) fn dl_migrate_sleeping(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        self.tasks[t as usize].dl.stop_zero_lag();
        self.account(c);
        self.update_clock(c);
        self.set_dl_active(c, t, false);
    }

    /// The running deadline task sleeps: its bandwidth counts until its 0-lag time.
    pub(crate) fn dl_sleep(&mut self, c: u32, t: u32) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        let zero_lag = task.dl.zero_lag_ns();
        if zero_lag.wrapping_sub(now) as i64 <= 0 || task.is_dead() {
            self.set_dl_active(c, t, false);
            return;
        }
        let generation = task.dl.start_zero_lag();
        self.queue.push(zero_lag, Ev::DlZeroLag { task: t, generation });
    }

    /// A sleeping deadline task passes its 0-lag time.
    pub(crate) fn dl_zero_lag(&mut self, t: u32) {
        let c = self.tasks[t as usize].cpu;
        self.exec = c;
        self.account(c);
        self.update_clock(c);
        self.set_dl_active(c, t, false);
    }

    /// The running deadline task was throttled: it waits for the next period, or goes on when that has begun. A timer
    /// for a time that has just passed interrupts before anything else happens.
    pub(crate) fn dl_throttle(&mut self, c: u32, t: u32) {
        let now = self.now;
        let dl = &mut self.tasks[t as usize].dl;
        if dl.waits_for_budget(now) {
            self.start_dl_timer(t);
            return self.resched_cpu(c);
        }
        let deadline_ns = dl.replenish(now);
        if self.cpus[c as usize].dl.first().is_some_and(|(first, _)| first <= deadline_ns) {
            self.resched_cpu(c);
        }
    }

    /// The running deadline task `t` of `c` was throttled: it leaves the CPU, its bandwidth stays.
    pub(crate) fn dl_leave_throttled(&mut self, c: u32) {
        self.account_dl(c);
    }

    /// A deadline task leaves CPU `c` for another, or its class.
    pub(crate) fn dl_leave(&mut self, c: u32, t: u32) {
        self.account_dl(c);
        self.dl_dequeue(c, t);
        self.set_dl_active(c, t, false);
    }

    /// Takes a task off the deadline queue of `c`.
    pub(crate) fn dl_dequeue(&mut self, c: u32, t: u32) {
        self.cpus[c as usize].dl.dequeue(t);
        self.waiting.dl_waiting.set(c, self.cpus[c as usize].dl.len() > 0);
    }

    /// A deadline task waits on CPU `c`.
    pub(crate) fn dl_waits(&mut self, c: u32) {
        self.waiting.dl_waiting.insert(c);
    }

    /// The high-resolution tick of the deadline task that runs on CPU `c`.
    pub(crate) fn hrtick(&mut self, c: u32, t: u32) {
        if self.cpus[c as usize].curr != t || !self.tasks[t as usize].dl.takes_hrtick(self.now) {
            return;
        }
        self.account_dl(c);
        if !self.tasks[t as usize].dl.throttled() {
            self.start_hrtick(t);
            self.arm_segment(c);
        }
    }
}
