// SPDX-License-Identifier: GPL-2.0-or-later
//! Load balancing: the host's side of the core's `balance.h`, `balance_loads.h`, `balance_group.h`, `balance_llc.h` and
//! `balance_move.h`. When it takes place: at ticks, for idle CPUs without tick, and before a CPU goes idle. `search.rs`
//! balances one domain.

mod calm;
mod cpu_load;
mod kernel;
mod llc;
mod rest;
mod search;
mod state;
mod tasks;

use pelton_core::{balance_idle, lb_at_once, lb_is_busy, lb_newidle_fades, value};
use pelton_schema::{Gate, WalkWhy};

pub(crate) use state::Balancing;

use crate::shape::Run;
use crate::state::{Engine, NO_TASK};

const NS_PER_S: u64 = 1_000_000_000;
impl<S: Run> Engine<'_, S> {
    /// At a tick of CPU `c`: its balance, when one is due, and before it what it knows of itself.
    pub(crate) fn balance_tick(&mut self, c: u32) {
        self.settle_rest();
        if self.now_ticks() < self.balancing.next_ticks(c) {
            return;
        }
        self.refresh_records(c);
        let idle = self.cpus[c as usize].idle_cpu();
        self.balance_domains(c, if idle { balance_idle::IDLE } else { balance_idle::NOT_IDLE });
    }

    /// All domains of CPU `c` that are due.
    pub(crate) fn balance_domains(&mut self, c: u32, idle: u32) {
        if S::BALANCES {
            self.sink.domains(self.now, c, self.exec, idle);
        }
        let (now_ticks, cpus) = (self.now_ticks(), self.cpus.len() as u32);
        let (tick_ns, policy) = (self.tick_ns, self.policy.get());
        let (mut goes_on, mut idle, mut faded, mut costs_ns) = (true, idle, false, 0);
        let mut next = now_ticks + 60_000_000_000 / tick_ns;
        for level in 0..self.balancing.domains[c as usize].len() {
            let busy = self.is_busy(c, idle);
            let own = &mut self.balancing.domains[c as usize][level];
            let fades = own.newidle_decay(now_ticks * tick_ns);
            faded = lb_newidle_fades(policy, faded, fades);
            costs_ns += own.newidle_cost_ns;
            if !goes_on && faded {
                continue;
            }
            if !goes_on {
                break;
            }
            let mut interval = own.interval_ticks(policy, busy, tick_ns, cpus);
            if now_ticks >= self.balancing.domains[c as usize][level].last_balance_ticks + interval {
                let moved;
                (moved, goes_on) = self.balance_domain(c, level as u32, idle);
                if moved > 0 {
                    idle = if self.cpus[c as usize].idle_cpu() { balance_idle::IDLE } else { balance_idle::NOT_IDLE };
                }
                let busy = self.is_busy(c, idle);
                let own = &mut self.balancing.domains[c as usize][level];
                own.last_balance_ticks = now_ticks;
                interval = own.interval_ticks(policy, busy, tick_ns, cpus);
            }
            next = next.min(self.balancing.domains[c as usize][level].last_balance_ticks + interval);
        }
        self.balancing.next_balance_ticks[c as usize] = next;
        let lowest_ns = self.balancing.domains[c as usize].first().map_or(0, |own| own.newidle_cost_ns);
        let newidle = &mut self.cpus[c as usize].sched.newidle;
        if faded {
            newidle.faded(lowest_ns, costs_ns);
        }
        newidle.domain_cost_ns = lowest_ns;
    }

    /// CPU `c` goes idle without a search: its next balance is no later than an idle CPU's.
    pub(crate) fn newly_idle_without_search(&mut self, c: u32) {
        self.settle_rest();
        self.tell_gate(c, self.sched.overload, 0);
        let Some(lowest) = self.balancing.domains[c as usize].first() else { return };
        let interval = lowest.interval_ticks(self.policy.get(), false, self.tick_ns, self.cpus.len() as u32);
        let next = lowest.last_balance_ticks + interval;
        self.balancing.earlier(c, next.min(self.now_ticks() + NS_PER_S / self.tick_ns));
    }

    fn is_busy(&self, c: u32, idle: u32) -> bool {
        lb_is_busy(self.policy.get(), idle, self.cpus[c as usize].is_sched_idle())
    }

    /// A fair task left CPU `c`, whose tasks were idle ones only before or not.
    #[inline]
    pub(crate) fn left_to_idle_tasks(&mut self, c: u32, before: bool) {
        if lb_at_once(self.policy.get(), before, self.cpus[c as usize].is_sched_idle()) {
            self.balancing.next_balance_ticks[c as usize] = self.now_ticks();
        }
    }

    /// CPU `c` is about to go idle: it looks for a task, domain by domain, while it may expect to have the time.
    pub(crate) fn newidle_balance(&mut self, c: u32) -> bool {
        self.settle_rest();
        let before_ns = self.path_left_ns(c);
        if self.policy.blocked_update != value::BLOCKED_UPDATE_LAZY {
            self.signal_blocked(c, self.runs(c), WalkWhy::GoesIdle);
        }
        let free = self.policy.newidle_own == value::NEWIDLE_OWN_FREE;
        let mut from_ns = if free { self.path_left_ns(c) } else { before_ns };
        let (mut spent_ns, mut found, mut searched) = (0, false, 0);
        let overloaded = self.sched.overload;
        self.balancing.earlier(c, self.now_ticks() + NS_PER_S / self.tick_ns);
        for level in 0..self.balancing.domains[c as usize].len() {
            let own = &self.balancing.domains[c as usize][level];
            let next = own.last_balance_ticks
                + own.interval_ticks(self.policy.get(), false, self.tick_ns, self.cpus.len() as u32);
            let skips = own.newidle_skips(self.cpus[c as usize].sched.newidle.avg_idle_ns, spent_ns);
            self.balancing.earlier(c, next);
            if skips {
                break;
            }
            if self.dice_leave_out(c, level) {
                continue;
            }
            let weight = self.balancing.domains[c as usize][level].newidle_weight(self.policy.get());
            let (moved, goes_on) = self.newidle_search(c, level);
            searched |= 1 << level;
            let to_ns = self.path_left_ns(c);
            self.note_search(c, level, to_ns - from_ns, weight * u32::from(moved > 0));
            spent_ns += to_ns - from_ns;
            from_ns = to_ns;
            found = moved > 0;
            if found || !goes_on {
                break;
            }
        }
        let all_ns = self.ends_search(c, before_ns, spent_ns);
        self.tell_gate(c, overloaded, searched);
        if searched != 0 {
            self.cpus[c as usize].report.search_ns.add(all_ns);
        }
        found
    }

    /// CPU `c` runs out of tasks and has looked at the domains `searched`.
    fn tell_gate(&mut self, c: u32, overloaded: bool, searched: u32) {
        if S::BALANCES {
            let newidle = &self.cpus[c as usize].sched.newidle;
            let (avg_idle_ns, cost_ns) = (newidle.avg_idle_ns, newidle.domain_cost_ns);
            self.sink.gate(self.now, &Gate { cpu: c, overloaded, avg_idle_ns, cost_ns, searched });
        }
    }

    /// The look at one domain, and what that takes.
    fn newidle_search(&mut self, c: u32, level: usize) -> (u32, bool) {
        if level == 0 {
            self.scan_blocked(c);
            if self.now_ticks() >= self.balancing.capacity_due_ticks[c as usize] {
                self.update_cpu_capacity(c);
            }
        }
        let cpus = self.placing.domain_weight(c, level);
        self.charge_cost(c, self.m.costs.balance_cpu_ns * u64::from(cpus));
        self.balance_domain(c, level as u32, balance_idle::NEWLY_IDLE)
    }

    /// Do the dice say that this domain is not searched?
    fn dice_leave_out(&mut self, c: u32, level: usize) -> bool {
        let Balancing { domains, dice, .. } = &mut self.balancing;
        let own = &mut domains[c as usize][level];
        if !own.newidle_throws(self.policy.get()) || own.newidle_wins(dice.up_to(u64::from(u32::MAX)) as u32) {
            return false;
        }
        own.update_newidle_stats(self.policy.get(), 0, self.now);
        true
    }

    /// A search took place, and found something `hits` times. One that takes no time is not counted.
    fn note_search(&mut self, c: u32, level: usize, cost_ns: u64, hits: u32) {
        let ticks_ns = self.now_ticks() * self.tick_ns;
        let own = &mut self.balancing.domains[c as usize][level];
        if cost_ns > 0 {
            own.update_newidle_stats(self.policy.get(), hits, self.now);
        }
        own.newidle_searched(self.policy.get(), own.newidle_counts_for(self.policy.get(), cost_ns, hits > 0), ticks_ns);
        let lowest_ns = own.newidle_cost_ns;
        let newidle = &mut self.cpus[c as usize].sched.newidle;
        newidle.spent(cost_ns);
        if level == 0 {
            newidle.domain_cost_ns = lowest_ns;
        }
    }

    fn ends_search(&mut self, c: u32, before_ns: u64, spent_ns: u64) -> u64 {
        let all_ns = self.path_left_ns(c) - before_ns;
        let cpu = &mut self.cpus[c as usize];
        cpu.sched.newidle.spent(spent_ns);
        cpu.search.lasts_until(if all_ns > 0 { self.now + before_ns + all_ns } else { 0 });
        self.balancing.emptied = None;
        self.row_changes(c);
        all_ns
    }

    /// The running task of CPU `c` would have more elsewhere: it is too big for it, or others took its capacity.
    pub(crate) fn wants_more(&self, c: u32) -> bool {
        if !self.balancing.decides || self.cpus[c as usize].curr == NO_TASK {
            return false;
        }
        let lowest = self.placing.domain(c, 0).imbalance_pct;
        let reduced = self.cpus[c as usize].fair.nr_runnable() >= 1 && self.placing.is_reduced(c, lowest);
        reduced || self.placing.misfit_load(c) > 0
    }
}
