// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle CPUs that walks may pass over (`engine/rest.rs`): their balances would find all domains in which all CPUs are
//! idle as balanced as before.

use pelton_core::{DOMAINS_MAX, LbEnv, NO_CPU, NO_DOMAIN, balance_idle, value};

use crate::engine::rest::{Level, Standing};
use crate::shape::Run;
use crate::state::Engine;

const NS_PER_S: u64 = 1_000_000_000;

impl<S: Run> Engine<'_, S> {
    /// Domains of CPUs that do not rest any more were balanced when walks passed over them.
    #[inline]
    pub(crate) fn settle_rest(&mut self) {
        if self.fresh_rows.resting().is_used() {
            self.settle_woken();
        }
    }

    fn settle_woken(&mut self) {
        while let Some((c, standing, beyond)) = self.fresh_rows.resting_mut().take_woken() {
            let domains = &mut self.balancing.domains[c as usize];
            for (own, last_ticks) in domains.iter_mut().zip(standing.last_ticks()) {
                own.last_balance_ticks = last_ticks;
            }
            self.balancing.next_balance_ticks[c as usize] = standing.next_ticks(beyond);
        }
    }

    /// The balances of CPU `c`, which is idle without tick, were made: walks pass over it while they would find what
    /// they found now.
    pub(crate) fn may_rest(&mut self, c: u32) {
        if !self.fresh_rows.resting().is_on() || self.kernel.is_some() || !self.is_quiet(c) {
            return;
        }
        let levels = self.placing.record().rows()[c as usize].llc_domain as usize + 1;
        let Some(standing) = self.standing(c, levels) else { return };
        let beyond = &self.balancing.domains[c as usize][levels..];
        let due = |own: &pelton_core::LbDomain| own.last_balance_ticks + self.idle_interval(own);
        let due = beyond.iter().map(due).min().unwrap_or(u64::MAX);
        let wakes = due.min(self.fades_at(c));
        self.fresh_rows.resting_mut().begins(c, standing, wakes, due);
    }

    fn idle_interval(&self, own: &pelton_core::LbDomain) -> u64 {
        own.interval_ticks(self.policy.get(), false, self.tick_ns, self.cpus.len() as u32)
    }

    /// No CPU of the cache of CPU `c` has a task or load that fades, and others took none of its capacity.
    fn is_quiet(&self, c: u32) -> bool {
        let row = &self.placing.record().rows()[c as usize];
        let idle = |&o: &u32| {
            self.fresh_rows.is_fresh(o)
                && self.nohz.idle().contains(o)
                && self.cpus[o as usize].idle_cpu()
                && !self.is_blocked(o)
        };
        if row.llc_domain == NO_DOMAIN || !self.fresh_rows.resting().near(c).iter().all(idle) {
            return false;
        }
        let sums = self.placing.record().kept(row.domains[row.llc_domain as usize].span).unwrap_or_default();
        row.capacity == row.state.cap_orig && (sums.nr_running, sums.util, sums.load) == (0, 0, 0)
    }

    /// State of the balances of the smallest domains; none while they would not be as the last ones were.
    fn standing(&self, c: u32, count: usize) -> Option<Standing> {
        let mut levels = [Level::default(); DOMAINS_MAX];
        for (at, level) in levels[..count].iter_mut().enumerate() {
            let own = &self.balancing.domains[c as usize][at];
            if own.nr_balance_failed > 0 || own.interval_ms < 2 * self.placing.domain_weight(c, at) {
                return None;
            }
            *level = Level::new(own.last_balance_ticks, self.idle_interval(own), !self.has_turn(c, at));
        }
        Some(Standing::new(&levels[..count], self.now_ticks()))
    }

    /// Is it up to CPU `c` to balance its domain `level`?
    fn has_turn(&self, c: u32, level: usize) -> bool {
        let cpus = self.placing.domain(c, level).span;
        let (dst_cpu, level, idle) = (c, level as u32, balance_idle::IDLE);
        let env = LbEnv { cpus, dst_cpu, level, idle, src_cpu: NO_CPU, ..LbEnv::default() };
        env.should_we_balance(self.policy.get(), self.placing.record())
    }

    /// Tick at which what CPU `c` remembers of the costs of its searches fades next.
    fn fades_at(&self, c: u32) -> u64 {
        let domains = &self.balancing.domains[c as usize];
        let fades = domains.iter().any(|own| own.newidle_cost_ns > 0)
            || !self.cpus[c as usize].sched.newidle.rests(self.policy.get())
                && (self.policy.newidle != value::NEWIDLE_MIGRATION_COST || self.m.costs.balance_cpu_ns > 0);
        if !fades {
            return u64::MAX;
        }
        let first = domains.iter().map(|own| own.newidle_decayed_ns).min().unwrap_or(0);
        (first + NS_PER_S) / self.tick_ns + 1
    }
}
