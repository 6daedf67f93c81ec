// SPDX-License-Identifier: GPL-2.0-only
//! Deadline servers and changes of class at run time.

use pelton_core::value;
use pelton_schema::{HookSite, Sink};

use crate::class::{Class, kernel_prio, weight_of};
use crate::engine::Engine;
use crate::queue::Ev;
use crate::state::{Life, NO_TASK, Task};
use crate::workload::SchedPolicy;

impl<S: Sink> Engine<'_, S> {
    fn bw_q20(&self, t: u32) -> u64 {
        let dl = &self.tasks[t as usize].dl;
        pelton_core::dl_bw(dl.runtime_ns, dl.period_ns)
    }

    /// Counts or uncounts a task's reservation on CPU `c`; a change asks for a frequency where the profile does so.
    fn set_dl_active(&mut self, c: u32, t: u32, active: bool) {
        if self.tasks[t as usize].dl.active == active {
            return;
        }
        let bw = self.bw_q20(t);
        self.tasks[t as usize].dl.active = active;
        let dl = &mut self.cpus[c as usize].dl;
        dl.running_bw_q20 = if active { dl.running_bw_q20 + bw } else { dl.running_bw_q20.saturating_sub(bw) };
        if self.hooks.dl_bandwidth {
            self.hook(c, HookSite::Dl, 0);
        }
    }

    /// A deadline task becomes runnable on `c`.
    pub(crate) fn dl_wake(&mut self, c: u32, t: u32) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        task.timer_generation += 1;
        task.dl.non_contending = false;
        task.dl.wake(now);
        let deadline_ns = task.dl.deadline_ns;
        self.set_dl_active(c, t, true);
        self.cpus[c as usize].dl.enqueue(deadline_ns, t);
    }

    /// The running deadline task sleeps: its bandwidth counts until its 0-lag time.
    pub(crate) fn dl_sleep(&mut self, c: u32, t: u32) {
        let now = self.now;
        let task = &mut self.tasks[t as usize];
        let zero_lag = task.dl.zero_lag_ns();
        if zero_lag <= now || task.life == Life::Dead {
            self.set_dl_active(c, t, false);
            return;
        }
        task.dl.non_contending = true;
        if task.armed_ns.is_none() {
            task.timer_generation += 1;
        }
        let generation = task.timer_generation;
        self.queue.push(zero_lag, Ev::DlZeroLag { task: t, generation });
    }

    /// A sleeping deadline task passes its 0-lag time.
    pub(crate) fn dl_zero_lag(&mut self, t: u32) {
        let task = &mut self.tasks[t as usize];
        if task.life == Life::Sleeping && std::mem::take(&mut task.dl.non_contending) {
            let c = task.cpu;
            self.exec = c;
            self.account(c);
            self.update_clock(c);
            self.set_dl_active(c, t, false);
        }
    }

    /// The running deadline task has used its budget: it waits for the next period.
    pub(crate) fn dl_throttle(&mut self, c: u32, t: u32) {
        let now = self.now;
        let dl = &mut self.tasks[t as usize].dl;
        let at = dl.replenish_at_ns();
        if at <= now {
            dl.replenish(now);
            return;
        }
        dl.throttled = true;
        self.tasks[t as usize].timer_generation += 1;
        let generation = self.tasks[t as usize].timer_generation;
        self.queue.push(at, Ev::DlReplenish { task: t, generation });
        self.resched_cpu(c);
    }

    /// A throttled task gets its next budget.
    pub(crate) fn dl_replenish(&mut self, t: u32) {
        let now = self.now;
        let c = self.tasks[t as usize].cpu;
        self.exec = c;
        let dl = &mut self.tasks[t as usize].dl;
        dl.replenish(now);
        let deadline_ns = dl.deadline_ns;
        if self.tasks[t as usize].life != Life::Runnable || self.cpus[c as usize].curr == t {
            return;
        }
        self.account(c);
        self.update_clock(c);
        self.tasks[t as usize].waiting_since_ns = now;
        self.cpus[c as usize].dl.enqueue(deadline_ns, t);
        self.check_preempt(c, t);
    }

    /// A deadline task leaves CPU `c` (throttled, or moving).
    pub(crate) fn dl_leave(&mut self, c: u32, t: u32) {
        self.account_dl(c);
        self.cpus[c as usize].dl.dequeue(t);
        if !self.tasks[t as usize].dl.throttled {
            self.set_dl_active(c, t, false);
        }
    }

    /// RT runtime accounting of the running task (the hook of profiles that call it there).
    pub(crate) fn account_rt(&mut self, c: u32) {
        if self.hooks.rt_accounting && self.cpus[c as usize].class == Some(Class::Realtime) && self.ran_since_hook(c) {
            self.hook(c, HookSite::Rt, pelton_core::hook_flag::RT);
        }
    }

    /// Deadline runtime accounting of the running task.
    pub(crate) fn account_dl(&mut self, c: u32) {
        let dl = matches!(self.cpus[c as usize].class, Some(Class::Deadline | Class::Worker));
        if self.hooks.dl_accounting && dl && self.ran_since_hook(c) {
            self.hook(c, HookSite::Dl, pelton_core::hook_flag::DL);
        }
    }

    /// Runtime is accounted, and the hook called, only when some time has passed since the last accounting.
    fn ran_since_hook(&mut self, c: u32) -> bool {
        let now = self.now;
        std::mem::replace(&mut self.cpus[c as usize].runtime_accounted_ns, now) < now
    }

    /// The running task changes its policy.
    pub(crate) fn change_policy(&mut self, t: u32, policy: SchedPolicy) {
        if self.tasks[t as usize].policy == policy {
            return;
        }
        let c = self.tasks[t as usize].cpu;
        self.account(c);
        self.update_clock(c);
        let old = self.tasks[t as usize].class;
        self.take_off(c, t, old);
        apply_policy(&mut self.tasks[t as usize], policy);
        self.put_on(c, t, old);
        self.resched_cpu(c);
    }

    fn take_off(&mut self, c: u32, t: u32, old: Class) {
        match old {
            Class::Fair => {
                self.signal_dequeue(c, t, true);
                self.cpus[c as usize].fair.dequeue(self.fair_kind, &mut self.tasks, t, true);
                if self.cpus[c as usize].curr == t {
                    self.cpus[c as usize].fair.curr = NO_TASK;
                }
            }
            Class::Deadline => self.dl_leave(c, t),
            Class::Realtime => {
                self.account_rt(c);
                self.signal_rt(c, true);
            }
            Class::Worker => {}
        }
    }

    fn put_on(&mut self, c: u32, t: u32, old: Class) {
        let new = self.tasks[t as usize].class;
        if old == Class::Fair && new != Class::Fair {
            self.signal_leave_class(c, t);
        }
        self.cpus[c as usize].class = Some(new);
        match new {
            Class::Fair => {
                self.signal_enqueue(c, t);
                self.cpus[c as usize].fair.enqueue(self.fair_kind, &mut self.tasks, t, false);
                self.cpus[c as usize].fair.set_curr(self.fair_kind, &mut self.tasks, t);
                self.signal_set_next(c, t);
            }
            Class::Deadline => {
                self.dl_wake(c, t);
                self.cpus[c as usize].dl.dequeue(t);
                self.signal_dl(c, false);
            }
            Class::Realtime => {
                self.signal_rt(c, false);
                self.hook_rt(c);
            }
            Class::Worker => {}
        }
    }
}

/// Real-time tasks may run this long ...
const RT_RUNTIME_NS: u64 = 950_000_000;
/// ... in every period of this length (sysctl_sched_rt_runtime, _period).
const RT_PERIOD_NS: u64 = 1_000_000_000;

impl<S: Sink> Engine<'_, S> {
    /// Run time real-time tasks have left in this period; more than any segment when the limit does not bind.
    pub(crate) fn rt_left(&mut self, c: u32) -> u64 {
        let now = self.now;
        let cpu = &mut self.cpus[c as usize];
        if now >= cpu.rt_period_end_ns {
            cpu.rt_period_end_ns = now - now % RT_PERIOD_NS + RT_PERIOD_NS;
            cpu.rt_used_ns = 0;
        }
        match RT_RUNTIME_NS.saturating_sub(cpu.rt_used_ns) {
            0 => cpu.rt_period_end_ns - now,
            left => left,
        }
    }

    /// Throttles the real-time class of a CPU that used up its share, where the profile's rule says so.
    pub(crate) fn check_rt_limit(&mut self, c: u32) {
        let server = self.policy.rt_limit == value::RT_LIMIT_FAIR_SERVER;
        self.rt_left(c);
        let cpu = &mut self.cpus[c as usize];
        if cpu.class != Some(Class::Realtime) || cpu.rt_used_ns < RT_RUNTIME_NS || cpu.rt_throttled {
            return;
        }
        if server && cpu.fair.nr_runnable() == 0 {
            return;
        }
        cpu.rt_throttled = true;
        let at = cpu.rt_period_end_ns;
        self.queue.push(at, Ev::RtUnthrottle { cpu: c });
        self.hook_rt(c);
        self.resched_cpu(c);
    }

    /// The next period begins.
    pub(crate) fn rt_unthrottle(&mut self, c: u32) {
        self.exec = c;
        self.cpus[c as usize].rt_throttled = false;
        self.rt_left(c);
        if self.cpus[c as usize].rt.len() > 0 {
            self.account(c);
            self.update_clock(c);
            self.hook_rt(c);
            self.resched_cpu(c);
        }
    }
}

/// Derives everything that follows from a policy.
pub(crate) fn apply_policy(task: &mut Task, policy: SchedPolicy) {
    task.policy = policy;
    task.class = Class::of(policy);
    task.prio = kernel_prio(policy);
    task.fair.batch = matches!(policy, SchedPolicy::Batch { .. });
    task.fair.idle_policy = policy == SchedPolicy::Idle;
    match policy {
        SchedPolicy::Normal { slice_ns, .. } => task.fair.custom_slice_ns = slice_ns,
        SchedPolicy::Fifo { priority } => (task.rt.priority, task.rt.round_robin) = (priority, false),
        SchedPolicy::RoundRobin { priority } => (task.rt.priority, task.rt.round_robin) = (priority, true),
        SchedPolicy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            task.dl.runtime_ns = runtime_ns;
            task.dl.deadline_rel_ns = deadline_ns;
            task.dl.period_ns = period_ns;
        }
        _ => {}
    }
    let weight = weight_of(policy);
    if weight > 0 {
        task.fair.weight = weight;
        task.se.weight = weight;
    }
}
