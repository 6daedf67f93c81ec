// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle CPUs without tick: another CPU has to update their load, so that their share of the domain's request
//! fades. A busy CPU's tick wakes one of them for it, and that one walks over all; a CPU that goes idle may do so
//! itself.

use pelton_core::{IdleWalk, WALK_BALANCE, WALK_STATS, balance_idle, blocked_due, blocked_walks, value};
use pelton_schema::WalkWhy;

use crate::cpu::search::Walking;
use crate::sched::topology::IDLE_BALANCE_NS_PER_CPU;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    fn idle_walk(&self, c: u32) -> IdleWalk {
        let near = &self.sched.llc_sets[self.sched.llc_of[c as usize] as usize];
        IdleWalk {
            now_ticks: self.now_ticks(),
            next_blocked_ticks: self.sched.next_blocked_ticks,
            next_balance_ticks: self.sched.next_balance_ticks,
            has_blocked: self.sched.idle_blocked.into(),
            running: self.cpus[c as usize].nr_running(),
            busy_cpus: if self.llc(c).is_empty() { 0 } else { near.len_without(self.nohz.idle()) as u32 },
            asymmetric: self.sched.asymmetric.into(),
            wants: self.wants_more(c).into(),
            reserved: 0,
        }
    }

    /// The tick of a CPU with a task: it counts as busy, and sends an idle CPU on its walk when that is due.
    pub(crate) fn kick_walk(&mut self, c: u32) {
        self.nohz.leaves(c);
        let due = self.idle_walk(c);
        let why = due.kick(self.policy.get());
        if why & WALK_BALANCE != 0 {
            self.sched.next_balance_ticks = due.now_ticks + 1;
        }
        let sleeps = |i: u32| self.nohz.idle().contains(i) && !self.cpus[i as usize].is_awake();
        if why == 0 || self.policy.host == value::HOST_LIVE {
            return;
        }
        let Some(walker) = self.sched.idle_cpus.iter().find(|&i| sleeps(i)) else { return };
        if self.cpus[walker as usize].search.is_asked(why) {
            // Up to 5.4 a reschedule interrupt, which reaches a polling CPU as well.
            if self.policy.idle_walk != value::IDLE_WALK_ENTRY || self.idle_needs_ipi(walker) {
                self.charge_cost(walker, self.m.costs.ipi_ns);
            }
            self.leave_idle(walker);
        }
    }

    /// CPU `c` is awake: it walks if it was woken for that and has nothing else to do.
    pub(crate) fn walk_if_asked(&mut self, c: u32) {
        let why = self.cpus[c as usize].search.take_asked();
        if why != 0 && self.cpus[c as usize].idle_cpu() {
            self.walk_idle(c, why, false);
        }
    }

    /// CPU `c` goes idle: it walks if that is due and it expects to have the time.
    pub(crate) fn walk_newly_idle(&mut self, c: u32) {
        let inside = self.policy.idle_walk != value::IDLE_WALK_ENTRY;
        if inside && self.cpus[c as usize].sched.looked {
            return;
        }
        let due = self.idle_walk(c).newly(self.policy.get(), &self.cpus[c as usize].sched.newidle);
        if due && self.policy.host == value::HOST_KERNEL {
            self.walk_idle(c, WALK_STATS, inside);
        }
    }

    /// `inside`: of `schedule()`, before the CPU is idle for others.
    fn walk_idle(&mut self, c: u32, why: u32, inside: bool) {
        self.sched.idle_blocked &= why & WALK_STATS == 0;
        self.cpus[c as usize].search.walks(Walking { why, place: 0, inside });
        if why & WALK_BALANCE != 0 && self.fresh_rows.resting().is_on() {
            let now_ticks = self.now_ticks();
            self.fresh_rows.resting_mut().walk_begins(c, self.policy.idle_walk == value::IDLE_WALK_ENTRY, now_ticks);
        }
        self.walk_on(c);
    }

    /// Goes on with the walk of CPU `c`; where one CPU takes time, with the next one.
    pub(crate) fn walk_on(&mut self, c: u32) {
        let exec = std::mem::replace(&mut self.exec, c);
        while let Some(Walking { why, place, inside }) = self.cpus[c as usize].search.walk() {
            let next = self.next_of_walk(c, place, why);
            if next as usize == self.cpus.len() {
                self.cpus[c as usize].search.ends_walk();
                self.walk_ends(c, why);
                break;
            }
            self.cpus[c as usize].search.walks(Walking { why, place: next + 1, inside });
            self.fresh_rows.resting_mut().walk_is_at(next);
            if self.walk_over(self.walked(c, next), why) && self.m.costs.blocked() {
                if inside {
                    let until_ns = self.now + self.path_left_ns(c);
                    self.cpus[c as usize].search.lasts_until(until_ns);
                    self.row_changes(c);
                }
                break;
            }
        }
        self.exec = exec;
    }

    /// The CPU that the walk of CPU `c` comes to as its `n`th: itself last, the others from the first on, from 5.10 on
    /// from the next one on.
    fn walked(&self, c: u32, n: u32) -> u32 {
        let cpus = self.cpus.len() as u32;
        match n {
            _ if self.policy.idle_walk == value::IDLE_WALK_ENTRY => (c + 1 + n) % cpus,
            _ if n + 1 == cpus => c,
            _ => n + u32::from(n >= c),
        }
    }

    /// Place in the walk of CPU `c`, from its `n`th CPU on, of the next CPU for which something may be due; the number
    /// of CPUs when there is none.
    fn next_of_walk(&self, c: u32, n: u32, why: u32) -> u32 {
        let cpus = self.cpus.len() as u32;
        let other = match (why & WALK_BALANCE != 0, self.balancing.decides) {
            (true, true) => self.fresh_rows.resting().restless(),
            (true, false) => &self.sched.fading,
            (false, _) => self.nohz.blocked(),
        };
        let due = |from: u32| self.nohz.idle().next_in_either([self.nohz.blocked(), other], from);
        if n == cpus {
            return n;
        }
        let from = self.walked(c, n);
        if self.policy.idle_walk == value::IDLE_WALK_ENTRY {
            let above = due(from).filter(|&cpu| from > c || cpu <= c);
            let found = above.or_else(|| due(0).filter(|&cpu| from > c && cpu <= c));
            return found.map_or(cpus, |cpu| (cpu + cpus - c - 1) % cpus);
        }
        let others =
            if from == c { None } else { due(from).and_then(|cpu| if cpu == c { due(c + 1) } else { Some(cpu) }) };
        let own = || if due(c) == Some(c) { cpus - 1 } else { cpus };
        others.map_or_else(own, |cpu| cpu - u32::from(cpu > c))
    }

    /// CPU `c` has something to run: it leaves the rest of its walk.
    pub(crate) fn walk_stops(&mut self, c: u32) {
        if let Some(Walking { why, .. }) = self.cpus[c as usize].search.ends_walk() {
            self.sched.idle_blocked |= why & WALK_STATS != 0;
        }
    }

    /// One CPU of a walk; true when its load was refreshed.
    fn walk_over(&mut self, idle: u32, why: u32) -> bool {
        let cpu = &self.cpus[idle as usize];
        if !self.nohz.idle().contains(idle) || !cpu.idle_cpu() {
            return false;
        }
        let (blocked, last) = (self.is_blocked(idle), cpu.updates.blocked_ticks());
        let asked = why & WALK_STATS != 0 || self.policy.idle_walk != value::IDLE_WALK_ENTRY;
        let loads = asked && blocked_walks(self.policy.get());
        let due = loads && blocked && blocked_due(self.policy.get(), self.now_ticks(), last, self.tick_ns, true);
        if due {
            self.refresh_blocked(idle, WalkWhy::IdleWalk);
        }
        self.sched.idle_blocked |= loads && self.is_blocked(idle);
        if why & WALK_BALANCE != 0 && self.balancing.decides {
            self.balance_idle(idle);
        } else if why & WALK_BALANCE != 0 {
            self.fade_search_cost(idle);
        }
        due
    }

    /// Balances for an idle CPU without tick, when that is due.
    fn balance_idle(&mut self, c: u32) {
        self.settle_rest();
        if self.now_ticks() < self.balancing.next_ticks(c) {
            return;
        }
        self.account(c);
        self.update_clock(c);
        self.refresh_capacity(c);
        self.catch_up_idle_cpu_load(c);
        self.balance_domains(c, balance_idle::IDLE);
        self.may_rest(c);
    }

    fn walk_ends(&mut self, c: u32, why: u32) {
        let now_ticks = self.now_ticks();
        if why & WALK_STATS != 0 {
            self.sched.next_blocked_ticks = IdleWalk::next(now_ticks, self.tick_ns);
        }
        if why & WALK_BALANCE != 0 && self.balancing.decides {
            self.settle_rest();
            let looked =
                self.nohz.idle().both(self.fresh_rows.resting().restless()).map(|i| self.balancing.next_ticks(i)).min();
            let next = looked.into_iter().chain(self.fresh_rows.resting_mut().walk_ends()).min();
            self.sched.next_balance_ticks = next.unwrap_or(now_ticks + 1);
        } else if why & WALK_BALANCE != 0 {
            let interval_ns = IDLE_BALANCE_NS_PER_CPU * self.lowest_domain(c);
            self.sched.next_balance_ticks = now_ticks + (interval_ns / self.tick_ns).max(1);
        }
    }

    /// CPU `c` goes idle without its tick: it may have load that it does not refresh itself.
    pub(crate) fn enters_nohz(&mut self, c: u32) {
        self.nohz.enters(c);
        self.set_blocked(c, true);
        self.sched.idle_blocked = true;
    }
}
