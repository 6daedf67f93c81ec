// SPDX-License-Identifier: GPL-2.0-or-later
//! The periodic tick and NOHZ: a CPU ticks while it is not idle, on a common grid or, with `skew_tick`, on one of its
//! own.

use pelton_core::value;

use crate::class::Class;
use crate::engine::queue::Ev;
use crate::sched::topology::{BUSY_BALANCE_NS_PER_CPU, IDLE_BALANCE_NS_PER_CPU};
use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

impl<S: Run> Engine<'_, S> {
    /// Starts ticking again on the grid.
    pub(crate) fn restart_tick(&mut self, c: u32) {
        self.catch_up_cpu_load(c);
        self.cpus[c as usize].sched.tick_stopped = false;
        let skew_ns = pelton_core::hook::tick_skew_ns(self.policy.get(), self.tick_ns, c, self.cpus.len() as u32);
        let since = self.since_tick(self.now + self.tick_ns - skew_ns);
        self.arm_tick(c, self.now + self.tick_ns - since);
    }

    fn arm_tick(&mut self, c: u32, at: u64) {
        if at <= self.end_ns
            && let Some(generation) = self.cpus[c as usize].sched.tick.set(at)
        {
            self.queue.push(at, Ev::Tick { cpu: c, generation });
        }
    }

    /// A CPU goes idle without its tick.
    pub(crate) fn stop_tick(&mut self, c: u32) {
        self.hold_cpu_load(c);
        self.cpus[c as usize].sched.tick.cancel();
        self.cpus[c as usize].sched.tick_stopped = true;
    }

    /// One tick. An idle CPU that kept its tick is woken by it.
    pub(crate) fn tick(&mut self, c: u32) {
        self.exec = c;
        self.arm_tick(c, self.now + self.tick_ns);
        if self.cpus[c as usize].is_awake() {
            self.tick_work(c);
        } else {
            self.cpus[c as usize].sched.tick_due = true;
            self.leave_idle(c);
        }
    }

    /// Work of the tick once its CPU executes.
    pub(crate) fn tick_work(&mut self, c: u32) {
        self.account(c);
        self.update_clock(c);
        self.cpus[c as usize].report.ticks += 1;
        self.charge_cost(c, self.m.costs.tick_ns);
        let t = self.cpus[c as usize].curr;
        if t != NO_TASK {
            self.task_tick(c, t, false);
        } else if self.policy.server_idle == value::SERVER_IDLE_WAITS {
            self.server_idled(c, self.cpus[c as usize].is_idle());
        }
        self.exit_to_user(c);
        self.fade_cpu_load(c);
        self.cpus[c as usize].rq.rt_share_age();
        self.signal_hw(c);
        if t != NO_TASK {
            self.kick_walk(c);
        }
        if self.balancing.decides {
            self.balance_tick(c);
        } else if self.policy.host == value::HOST_LIVE {
            self.scx_tick(c);
        } else {
            self.refresh_own(c);
        }
        self.cache_looks(c);
    }

    /// Lets the timer of CPU `c` preempt its running task `t`, if the timer has come.
    pub(crate) fn hrtick_fair(&mut self, c: u32, t: u32) {
        let cpu = &mut self.cpus[c as usize];
        if !cpu.runs(Class::Fair) || !cpu.line.takes_request_timer(self.now) {
            return;
        }
        self.update_clock(c);
        self.task_tick(c, t, true);
    }

    /// A round-robin task whose time is over goes behind its equals.
    pub(super) fn rotate_rr(&mut self, c: u32, t: u32) {
        let rt = &mut self.tasks[t as usize].rt;
        if !rt.is_over() {
            return;
        }
        rt.renews_quantum();
        if self.cpus[c as usize].rt.has_equal(rt.priority()) {
            rt.goes_behind();
            self.resched_cpu(c);
        }
    }

    /// With the periodic balance of its lowest domain a busy CPU refreshes its own records: those of classes that do
    /// not run now fade.
    fn refresh_own(&mut self, c: u32) {
        let busy = self.cpus[c as usize].curr != NO_TASK;
        let per_cpu_ns = if busy { BUSY_BALANCE_NS_PER_CPU } else { IDLE_BALANCE_NS_PER_CPU };
        if self.now - self.cpus[c as usize].sched.last_refresh_ns < per_cpu_ns * self.lowest_domain(c) {
            return;
        }
        self.cpus[c as usize].sched.last_refresh_ns = self.now;
        self.refresh_records(c);
    }

    /// True if a tick, whose event comes out of the queue, is due; else queues the next event, if any.
    pub(crate) fn tick_due(&mut self, cpu: u32, generation: u32) -> bool {
        match self.cpus[cpu as usize].sched.tick.surface(self.now, generation) {
            Err(Some((at, generation))) => self.queue.push(at, Ev::Tick { cpu, generation }),
            other => return other.is_ok(),
        }
        false
    }
}
