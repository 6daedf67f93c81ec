// SPDX-License-Identifier: GPL-2.0-or-later
//! Limit of real-time tasks up to 6.8: they may not take a CPU for longer than a part of each period. Later there is a
//! server of the fair class (`server.rs`).

use pelton_core::RT_PERIOD_NS;

use crate::class::Class;
use crate::engine::queue::Ev;
use crate::shape::Run;
use crate::state::Engine;

/// The limit up to 6.8: one timer for all CPUs, which share what they do not use or each have their own.
impl<S: Run> Engine<'_, S> {
    /// A real-time task is queued: periods run from now on.
    pub(crate) fn start_rt_period(&mut self) {
        if self.waiting.rt_period_end_ns == 0 && !self.has_fair_server() {
            self.end_rt_periods(1);
            self.next_rt_period(self.now);
        }
    }

    fn next_rt_period(&mut self, start_ns: u64) {
        self.waiting.rt_period_end_ns = start_ns + RT_PERIOD_NS;
        if self.waiting.rt_period_end_ns <= self.end_ns {
            self.queue.push(self.waiting.rt_period_end_ns, Ev::RtPeriod);
        }
    }

    /// The period is over; another one begins unless no CPU needs it.
    pub(crate) fn rt_period(&mut self) {
        let end_ns = std::mem::take(&mut self.waiting.rt_period_end_ns);
        if self.end_rt_periods(1) {
            self.next_rt_period(end_ns);
        }
    }

    /// Gives all CPUs new time. True when a CPU has used some, or a task waits for it.
    fn end_rt_periods(&mut self, overrun: u64) -> bool {
        let mut needed = false;
        for c in 0..self.cpus.len() as u32 {
            self.account(c);
            let cpu = &mut self.cpus[c as usize];
            cpu.rt.limit().equal(self.policy.get());
            if cpu.rt.is_throttled() {
                self.balance_rt_runtime(c);
            }
            let cpu = &mut self.cpus[c as usize];
            let freed = cpu.rt.limit().replenish(overrun);
            let tasks = cpu.rt.len() > 0 || cpu.runs(Class::Realtime);
            needed |= tasks || cpu.rt.limit().time_ns > 0;
            if freed && tasks {
                self.request_changes(c);
                self.exec = c;
                self.resume_rt(c);
            }
        }
        needed
    }

    /// A CPU that used up its share takes what the others leave.
    fn balance_rt_runtime(&mut self, c: u32) {
        let share = self.policy.rt_runtime_share != 0;
        if !share || !self.cpus[c as usize].rt.limit().over() {
            return;
        }
        let mut own = *self.cpus[c as usize].rt.limit();
        let cpus = self.cpus.len() as u32;
        for other in 0..cpus {
            if other != c {
                own.borrow(self.cpus[other as usize].rt.limit(), cpus);
            }
        }
        *self.cpus[c as usize].rt.limit() = own;
    }

    /// Ends the run of real-time tasks, at a tick of one, when the class has used up its share.
    pub(crate) fn check_rt_limit(&mut self, c: u32) {
        if self.has_fair_server() || self.cpus[c as usize].rt_throttled() {
            return;
        }
        self.balance_rt_runtime(c);
        if self.cpus[c as usize].rt.limit().exceeded() {
            self.request_changes(c);
            self.hook_rt(c);
            self.resched_cpu(c);
        }
    }

    fn resume_rt(&mut self, c: u32) {
        self.update_clock(c);
        self.hook_rt(c);
        self.resched_cpu(c);
    }
}
