// SPDX-License-Identifier: GPL-2.0-only
//! Load balancing from 5.10 on: the host's side of the core's `balance.h`, `balance_group.h` and `balance_move.h`. When it
//! takes place: at ticks, for idle CPUs without tick, and before a CPU goes idle. `search.rs` balances one domain.

mod search;
mod tasks;

use pelton_core::{Lb, LbDomain, Placement, Policy, balance_idle, value};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::state::NO_TASK;

/// State of balancing.
pub(crate) struct Balancing {
    /// The core decides what is moved; else it is the simple form of `balance.rs`.
    pub decides: bool,
    /// What each CPU remembers of its domains, smallest first.
    domains: Vec<Vec<LbDomain>>,
    /// Tick at which each CPU next balances.
    next_balance_ticks: Vec<u64>,
    /// What the last balance found.
    lb: Box<Lb>,
    /// Stands for the heads of the CPUs' lists of tasks: grows with everything that is put there.
    head: u64,
}

impl Balancing {
    pub(crate) fn new(record: &Placement, policy: &Policy) -> Balancing {
        let own = |c: &pelton_core::PlaceCpu| -> Vec<LbDomain> {
            c.domains[..c.nr_domains as usize].iter().map(|d| LbDomain::new(d, 0)).collect()
        };
        let domains: Vec<_> = record.cpus().iter().map(own).collect();
        Balancing {
            decides: record.nr_cpus > 1 && policy.balance != value::BALANCE_PULL,
            next_balance_ticks: vec![0; domains.len()],
            domains,
            lb: Box::default(),
            head: 0,
        }
    }

    /// The place of what is put at the head of a CPU's list.
    pub(crate) fn at_head(&mut self) -> u64 {
        self.head += 1;
        self.head
    }

    /// Tick at which CPU `c` next balances.
    pub(crate) fn next_ticks(&self, c: u32) -> u64 {
        self.next_balance_ticks[c as usize]
    }

    fn earlier(&mut self, c: u32, ticks: u64) {
        let next = &mut self.next_balance_ticks[c as usize];
        *next = (*next).min(ticks);
    }
}

impl<S: Sink> Engine<'_, S> {
    /// At a tick of CPU `c`: its balance, when one is due, and before it what it knows of itself.
    pub(crate) fn balance_tick(&mut self, c: u32) {
        if self.now_ticks() < self.balancing.next_ticks(c) {
            return;
        }
        self.refresh_records(c);
        let idle = self.cpus[c as usize].is_idle();
        self.balance_domains(c, if idle { balance_idle::IDLE } else { balance_idle::NOT_IDLE });
    }

    /// All domains of CPU `c` that are due.
    pub(crate) fn balance_domains(&mut self, c: u32, idle: u32) {
        let (now_ticks, now, cpus) = (self.now_ticks(), self.now, self.cpus.len() as u32);
        let tick_ns = self.tick_ns;
        let (mut goes_on, mut idle) = (true, idle);
        let mut next = now_ticks + 60_000_000_000 / tick_ns;
        for level in 0..self.balancing.domains[c as usize].len() {
            let busy = self.is_busy(c, idle);
            let own = &mut self.balancing.domains[c as usize][level];
            own.newidle_decay(now);
            if !goes_on {
                continue;
            }
            let mut interval = own.interval_ticks(busy, tick_ns, cpus);
            if now_ticks >= self.balancing.domains[c as usize][level].last_balance_ticks + interval {
                let moved;
                (moved, goes_on) = self.balance_domain(c, level as u32, idle);
                if moved > 0 {
                    idle = if self.cpus[c as usize].is_idle() { balance_idle::IDLE } else { balance_idle::NOT_IDLE };
                }
                let busy = self.is_busy(c, idle);
                let own = &mut self.balancing.domains[c as usize][level];
                own.last_balance_ticks = now_ticks;
                interval = own.interval_ticks(busy, tick_ns, cpus);
            }
            next = next.min(self.balancing.domains[c as usize][level].last_balance_ticks + interval);
        }
        self.balancing.next_balance_ticks[c as usize] = next;
    }

    /// Not idle, nor with tasks of SCHED_IDLE alone.
    fn is_busy(&self, c: u32, idle: u32) -> bool {
        idle != balance_idle::IDLE && !self.cpus[c as usize].fair.is_idle_only()
    }

    /// CPU `c` is about to go idle: it looks for a task, domain by domain, while it may expect to have the time.
    pub(crate) fn newidle_balance(&mut self, c: u32) -> bool {
        let before_ns = self.path_left_ns(c);
        if self.policy.blocked_update != value::BLOCKED_UPDATE_LAZY {
            self.signal_blocked(c, self.runs(c));
        }
        let free = self.policy.newidle_own == value::NEWIDLE_OWN_FREE;
        let mut from_ns = if free { self.path_left_ns(c) } else { before_ns };
        let (mut spent_ns, mut found) = (0, false);
        for level in 0..self.balancing.domains[c as usize].len() {
            let own = &self.balancing.domains[c as usize][level];
            let next = own.last_balance_ticks + own.interval_ticks(false, self.tick_ns, self.cpus.len() as u32);
            let skips = own.newidle_skips(self.cpus[c as usize].newidle.avg_idle_ns, spent_ns);
            self.balancing.earlier(c, next);
            if skips {
                break;
            }
            let (moved, goes_on) = self.newidle_search(c, level);
            let to_ns = self.path_left_ns(c);
            self.note_search(c, level, to_ns - from_ns);
            spent_ns += to_ns - from_ns;
            from_ns = to_ns;
            found = moved > 0;
            if found || !goes_on {
                break;
            }
        }
        self.ends_search(c, before_ns, spent_ns);
        found
    }

    /// The look at one domain, and what that takes.
    fn newidle_search(&mut self, c: u32, level: usize) -> (u32, bool) {
        if level == 0 {
            self.scan_blocked(c);
        }
        let cpus = self.placing.domain(c, level).span.count_ones();
        self.charge_cost(c, self.m.costs.balance_cpu_ns * u64::from(cpus));
        self.balance_domain(c, level as u32, balance_idle::NEWLY_IDLE)
    }

    fn note_search(&mut self, c: u32, level: usize, cost_ns: u64) {
        self.balancing.domains[c as usize][level].newidle_searched(&self.policy, cost_ns, self.now);
        let cpu = &mut self.cpus[c as usize];
        if level == 0 {
            cpu.newidle.searched(&self.policy, cost_ns, self.now);
        }
        cpu.report.search_ns.add(cost_ns);
    }

    fn ends_search(&mut self, c: u32, before_ns: u64, spent_ns: u64) {
        let all_ns = self.path_left_ns(c) - before_ns;
        let cpu = &mut self.cpus[c as usize];
        cpu.newidle.spent(spent_ns);
        cpu.searching_until_ns = if all_ns > 0 { self.now + before_ns + all_ns } else { 0 };
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
