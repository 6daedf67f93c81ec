// SPDX-License-Identifier: GPL-2.0-or-later
//! Updates what a CPU knows of itself and of idle CPUs near.

use pelton_core::{IdleWalk, blocked_due, blocked_scans, runs};
use pelton_schema::WalkWhy;

use crate::class::Class;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Class whose time passes on CPU `c`, or idle, as the signals count it.
    pub(crate) fn runs(&self, c: u32) -> u32 {
        match self.cpus[c as usize].running {
            None => runs::IDLE,
            Some(Class::Fair) => runs::FAIR,
            Some(Class::Realtime) => runs::RT,
            Some(Class::Deadline | Class::Worker) => runs::DL,
        }
    }

    /// Updates what a CPU knows of itself.
    pub(crate) fn refresh_records(&mut self, c: u32) {
        if !self.balancing.decides {
            self.fade_search_cost(c);
        }
        let (runs, cpu) = (self.runs(c), &self.cpus[c as usize]);
        // The tick of a fair task updates the CPU's own queue; that of an idle CPU does not.
        if runs != runs::FAIR || cpu.rq.others_have_blocked() || cpu.levels.has_listed() {
            self.signal_blocked(c, runs, WalkWhy::Periodic);
        }
        // Of averages that are up to date.
        self.refresh_capacity(c);
    }

    /// CPU `c` looks for a task: it refreshes the load of the idle CPUs it looks at, where the release does.
    pub(crate) fn scan_blocked(&mut self, c: u32) {
        if !blocked_scans(self.policy.get()) || !self.sched.idle_blocked {
            return;
        }
        let (now_ticks, mut again) = (self.now_ticks(), false);
        for at in 0..self.llc(c).len() {
            let near = self.llc(c)[at];
            let cpu = &self.cpus[near as usize];
            if !self.nohz.idle().contains(near) || !self.is_blocked(near) {
                continue;
            }
            if blocked_due(self.policy.get(), now_ticks, cpu.updates.blocked_ticks(), self.tick_ns, false) {
                self.cpus[near as usize].report.blocked_scans += 1;
                self.refresh_blocked(near, WalkWhy::Search);
            }
            again |= self.is_blocked(near);
        }
        let all_near = self.nohz.idle().iter().all(|i| self.same_llc(i, c));
        if again && all_near {
            self.sched.next_blocked_ticks = IdleWalk::next(now_ticks, self.tick_ns);
        }
    }

    pub(crate) fn refresh_blocked(&mut self, c: u32, why: WalkWhy) {
        self.account(c);
        self.update_clock(c);
        self.signal_blocked(c, self.runs(c), why);
    }

    /// Decays the search costs that CPU `c` remembers (`sched/balance.rs`).
    pub(crate) fn fade_search_cost(&mut self, c: u32) {
        self.cpus[c as usize].sched.newidle.decay(self.now);
        self.note_search_cost(c);
    }

    /// Walks over idle CPUs come to CPU `c` while it remembers costs of searches.
    pub(crate) fn note_search_cost(&mut self, c: u32) {
        self.sched.fading.set(c, !self.cpus[c as usize].sched.newidle.rests(self.policy.get()));
    }
}
