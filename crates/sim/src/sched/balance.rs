// SPDX-License-Identifier: GPL-2.0-or-later
//! A CPU runs out of tasks: whether it searches for one, and by whose rules. The kernel's search is in `balancing/`.

use pelton_core::{Newidle, value};
use pelton_schema::WalkWhy;

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// CPU `c` is about to go idle: it looks for a fair task elsewhere, if there is time to look. True when it found
    /// one.
    pub(crate) fn sched_balance_newidle(&mut self, c: u32) -> bool {
        let cpu = &mut self.cpus[c as usize];
        cpu.sched.idle_stamp_ns = Some(self.now);
        let has_domain = self.m.cpus.len() > 1 || Newidle::looks_alone(self.policy.get());
        cpu.sched.looked = has_domain && self.sched.overload && !cpu.sched.newidle.closed(self.policy.get());
        if self.balancing.decides {
            return self.newidle_by_domains(c);
        }
        if self.policy.host == value::HOST_LIVE {
            return self.scx_newidle(c);
        }
        if self.cpus[c as usize].sched.looked && self.looks_alone(c) {
            self.sched.overload = !self.sched.crowded.is_empty();
        }
        false
    }

    fn newidle_by_domains(&mut self, c: u32) -> bool {
        self.placing.forget_misfit(c);
        if !self.cpus[c as usize].sched.looked {
            self.newly_idle_without_search(c);
            return false;
        }
        // A task that an active balance brought counts as pulled, too.
        let found = self.newidle_balance(c) || self.cpus[c as usize].fair.nr_runnable() > 0;
        if found {
            self.cpus[c as usize].sched.idle_stamp_ns = None;
        }
        found
    }

    /// The look of the only CPU of a machine, which has no domain: it updates what it left blocked, and that takes
    /// time. False when there is none after all.
    fn looks_alone(&mut self, c: u32) -> bool {
        let before_ns = self.path_left_ns(c);
        if self.policy.blocked_update != value::BLOCKED_UPDATE_LAZY {
            self.signal_blocked(c, self.runs(c), WalkWhy::GoesIdle);
        }
        let own_ns = self.path_left_ns(c) - before_ns;
        let looks = !self.cpus[c as usize].sched.newidle.skips(self.policy.get());
        if looks {
            self.charge_cost(c, self.m.costs.balance_cpu_ns);
        }
        let all_ns = self.path_left_ns(c) - before_ns;
        let cpu = &mut self.cpus[c as usize];
        cpu.search.lasts_until(if all_ns > 0 { self.now + before_ns + all_ns } else { 0 });
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        if looks {
            let free_ns = if self.policy.newidle_own == value::NEWIDLE_OWN_FREE { own_ns } else { 0 };
            cpu.sched.newidle.searched(self.policy.get(), all_ns - free_ns, self.now);
            cpu.report.search_ns.add(all_ns);
            self.note_search_cost(c);
        }
        looks
    }

    /// A task was woken to run on `c`: an idle time that has begun is over.
    pub(crate) fn idle_time_ends(&mut self, c: u32) {
        let cpu = &mut self.cpus[c as usize];
        if let Some(since_ns) = cpu.sched.idle_stamp_ns.take() {
            cpu.sched.newidle.woke(self.now - since_ns);
        }
    }
}
