// SPDX-License-Identifier: GPL-2.0-or-later
//! The timer that ends the request of a running fair task for which others wait (`hrtick_start_fair`, `hrtick_update`):
//! there is one of each CPU, and it is not stopped when another task comes to run, only when none does.

use pelton_core::fair::{hrtick_start_fair, hrtick_stays};

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// True if a timer ends requests: the policy has one, and so has the machine.
    fn has_request_timer(&self) -> bool {
        self.policy.hrtick != 0 && self.m.defers_timers
    }

    /// Fair task `t` begins to run on CPU `c`, or others join it.
    pub(crate) fn start_hrtick_fair(&mut self, c: u32, t: u32) {
        let has_timer = self.has_request_timer();
        let cpu = &mut self.cpus[c as usize];
        // One that has come while something else ran is over.
        cpu.line.takes_request_timer(self.now);
        if !has_timer || cpu.fair.h_nr_queued() <= 1 {
            return;
        }
        let Some(left_ns) = hrtick_start_fair(self.tasks[t as usize].fair.se(), cpu.rq.irq.util_avg as u32) else {
            if cpu.curr == t {
                self.resched_cpu(c);
            }
            return;
        };
        let at_ns = self.now.saturating_add(left_ns);
        if !cpu.line.request_timer_ns().is_some_and(|at| hrtick_stays(at, at_ns)) {
            cpu.line.set_request_timer(Some(at_ns));
        }
    }

    /// A fair task joined CPU `c`: its timer starts when it has not.
    pub(crate) fn update_hrtick_fair(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        if !self.has_request_timer() || !cpu.runs(Class::Fair) || cpu.line.request_timer_ns().is_some() {
            return;
        }
        self.start_hrtick_fair(c, cpu.curr);
        if self.cpus[c as usize].line.request_timer_ns().is_some() {
            self.arm_segment(c);
        }
    }
}
