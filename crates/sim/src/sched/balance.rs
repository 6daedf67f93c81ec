// SPDX-License-Identifier: GPL-2.0-or-later
//! A simple balancer (`balance=pull`), which no kernel has: an idle CPU pulls a waiting task; a busy CPU with two wakes
//! an idle one up for it. Elsewhere `balancing/` does this.

use pelton_core::{MIGRATION_COST_NS, Newidle, PLACE_CPUS_MAX, value};
use pelton_schema::{Sink, WalkWhy};

use crate::sched::topology::BUSY_BALANCE_NS_PER_CPU;
use crate::state::Engine;

/// Shortest time between two periodic balances of one busy CPU: that of a domain of one CPU.
const BALANCE_PERIOD_NS: u64 = BUSY_BALANCE_NS_PER_CPU;

impl<S: Sink> Engine<'_, S> {
    /// CPU `c` is about to go idle: take a waiting fair task from the most loaded CPU, if there is time to look for
    /// one.
    pub(crate) fn newidle_pull(&mut self, c: u32) -> bool {
        let cpu = &mut self.cpus[c as usize];
        cpu.sched.idle_stamp_ns = Some(self.now);
        let asked = std::mem::take(&mut cpu.sched.pulls);
        let has_domain = self.m.cpus.len() > 1 || Newidle::looks_alone(self.policy);
        cpu.sched.looked = asked || (has_domain && self.sched.overload && !cpu.sched.newidle.closed(self.policy));
        if self.balancing.decides {
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
            return found;
        }
        if self.policy.host == value::HOST_LIVE {
            return self.scx_newidle(c);
        }
        if !cpu.sched.looked || !(asked || self.looks(c)) {
            return false;
        }
        self.sched.overload = self.is_overloaded();
        if self.sched.overloaded.is_empty() || self.placing.holds_balance() {
            return false;
        }
        let found = self.pull_fair(c, 0).is_some();
        if found {
            self.cpus[c as usize].sched.idle_stamp_ns = None;
        }
        found
    }

    /// Some CPU has two tasks, or one that is too big for it.
    fn is_overloaded(&self) -> bool {
        // Quotas change what may run when no task comes or goes: all CPUs are asked then.
        // Not of large machines in debug builds, lest what is counted there grow with them.
        let again = cfg!(debug_assertions) && self.cpus.len() <= PLACE_CPUS_MAX;
        let asked = (self.uses.quotas || again).then(|| self.cpus.iter().any(|cpu| cpu.nr_running() >= 2));
        let kept = !self.sched.crowded.is_empty();
        debug_assert!(self.uses.quotas || asked.is_none_or(|asked| asked == kept), "kept set of CPUs with two tasks");
        (if self.uses.quotas { asked == Some(true) } else { kept }) || self.placing.has_misfit()
    }

    /// The look of CPU `c`, which goes idle, at all CPUs near: it takes time, and that decides whether the next one
    /// takes place. False when there is none after all.
    fn looks(&mut self, c: u32) -> bool {
        let before_ns = self.path_left_ns(c);
        if self.policy.blocked_update != value::BLOCKED_UPDATE_LAZY {
            self.signal_blocked(c, self.runs(c), WalkWhy::GoesIdle);
        }
        let own_ns = self.path_left_ns(c) - before_ns;
        let looks = !self.cpus[c as usize].sched.newidle.skips(self.policy);
        if looks {
            self.scan_blocked(c);
            let near = self.llc(c).len() as u64;
            self.charge_cost(c, self.m.costs.balance_cpu_ns * near);
        }
        let all_ns = self.path_left_ns(c) - before_ns;
        let cpu = &mut self.cpus[c as usize];
        cpu.search.lasts_until(if all_ns > 0 { self.now + before_ns + all_ns } else { 0 });
        self.row_changes(c);
        let cpu = &mut self.cpus[c as usize];
        if looks {
            let free_ns = if self.policy.newidle_own == value::NEWIDLE_OWN_FREE { own_ns } else { 0 };
            cpu.sched.newidle.searched(self.policy, all_ns - free_ns, self.now);
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

    /// Moves one waiting task from the busiest CPU that has one to give and at least 2 more runnable tasks than `own`.
    fn pull_fair(&mut self, c: u32, own: u32) -> Option<u32> {
        let mut best: Option<(u32, u32, u32)> = None;
        for from in self.sched.overloaded.iter().filter(|&b| b != c) {
            let nr = self.cpus[from as usize].nr_runnable();
            if nr > best.map_or(own + 1, |(nr, _, _)| nr)
                && let Some(t) = self.movable(from, c)
            {
                best = Some((nr, from, t));
            }
        }
        let (_, from, t) = best?;
        self.move_fair(t, from, c);
        Some(t)
    }

    fn movable(&self, from: u32, to: u32) -> Option<u32> {
        let movable = |&t: &u32| {
            let task = &self.tasks[t as usize];
            let hot = self.now - task.sched.last_ran_ns < MIGRATION_COST_NS && task.sched.last_ran_ns > 0;
            task.may_run_on(to) && !task.fair.is_delayed() && !hot && !self.is_throttled_at(to, t)
        };
        self.cpus[from as usize].find_waiting(&movable)
    }

    /// At the tick of a busy CPU.
    pub(crate) fn periodic_balance(&mut self, c: u32) {
        if self.sched.overloaded.contains(c) {
            self.kick_idle(c);
        }
        if self.sched.overloaded.is_empty()
            || self.placing.holds_balance()
            || self.now - self.cpus[c as usize].sched.last_balance_ns < BALANCE_PERIOD_NS
        {
            return;
        }
        self.cpus[c as usize].sched.last_balance_ns = self.now;
        self.sched.overload = self.is_overloaded();
        if let Some(t) = self.pull_fair(c, self.cpus[c as usize].nr_runnable()) {
            self.check_preempt(c, t);
        }
    }

    /// Wakes an idle CPU that may take one of the waiting tasks.
    fn kick_idle(&mut self, c: u32) {
        let idle = |i: u32| !self.cpus[i as usize].is_awake();
        let target = self.sched.idle_cpus.ring(c).find(|&i| idle(i) && self.movable(c, i).is_some());
        if let Some(target) = target {
            self.cpus[target as usize].sched.pulls = true;
            self.resched_cpu(target);
        }
    }
}
