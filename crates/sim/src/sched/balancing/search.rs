// SPDX-License-Identifier: GPL-2.0-or-later
//! The balance of one domain for one CPU.

use pelton_core::{LbEnv, LbTask, NO_CPU, balance_idle, cache_nice_tries, lbf, migrate};
use pelton_schema::{Balance, BalanceEnd};

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Balances domain `level` of CPU `c`: how many tasks came, and whether larger domains are to be looked at as well.
    pub(super) fn balance_domain(&mut self, c: u32, level: u32, idle: u32) -> (u32, bool) {
        // All else is found before it is read.
        self.balancing.lb.migration = pelton_core::migrate::LOAD;
        let calm =
            level == 0 && self.kernel.is_none() && (!S::BALANCES || cfg!(debug_assertions)) && self.is_calm(c, idle);
        if calm && !cfg!(debug_assertions) {
            return self.balance_calm(c, idle);
        }
        let before = self.balancing.domains[c as usize][level as usize];
        self.fill_domain(c, level, idle);
        let mut env = self.lb_env(c, level, idle);
        let mut imbalance = 0;
        let (moved, end) = self.balance_once(c, &mut env, &mut imbalance);
        if calm {
            self.assert_calm(c, idle, before, (moved, end));
        }
        if S::BALANCES {
            let (read, found) = (self.placing.record(), &*self.balancing.lb);
            let span = self.placing.domain(c, level as usize).span;
            let told = Balance { env: &env, by: self.exec, found, imbalance, read, span, moved, end };
            self.sink.balance(self.now, &told);
        }
        (moved, end != BalanceEnd::OtherTurn)
    }

    /// Number of tasks that came, and why no more; `imbalance`: what was to be moved.
    fn balance_once(&mut self, c: u32, env: &mut LbEnv, imbalance: &mut i64) -> (u32, BalanceEnd) {
        loop {
            if !self.should_we_balance(env) {
                self.found_balance(c, env);
                return (0, BalanceEnd::OtherTurn);
            }
            let src = match self.busiest(env) {
                Ok(src) => src,
                Err(end) => {
                    self.found_balance(c, env);
                    return (0, end);
                }
            };
            *imbalance = self.balancing.lb.imbalance;
            env.src_cpu = src;
            env.flags |= lbf::ALL_PINNED;
            let moved = if self.cpus[src as usize].nr_running() > 1 { self.move_tasks(c, env) } else { 0 };
            if moved > 0 {
                let weight = self.placing.domain_weight(c, env.level as usize);
                self.own(c, env.level).moved(weight);
                return (moved, BalanceEnd::Moved);
            }
            if env.flags & lbf::ALL_PINNED == 0 || self.cpus[src as usize].nr_running() <= 1 {
                return (0, self.moved_nothing(c, env));
            }
            self.placing.leave_out(env, src);
            if self.placing.record().span_within(env.cpus, self.balancing.lb.local.cpus) {
                self.found_pinned(c, env);
                return (0, BalanceEnd::Pinned);
            }
        }
    }

    pub(super) fn own(&mut self, c: u32, level: u32) -> &mut pelton_core::LbDomain {
        &mut self.balancing.domains[c as usize][level as usize]
    }

    pub(super) fn lb_env(&mut self, c: u32, level: u32, idle: u32) -> LbEnv {
        let domain = *self.placing.domain(c, level as usize);
        LbEnv {
            cpus: domain.span,
            dst_cpu: c,
            level,
            idle,
            nr_balance_failed: self.own(c, level).nr_balance_failed,
            cache_nice_tries: cache_nice_tries(&domain),
            src_cpu: NO_CPU,
            ..LbEnv::default()
        }
    }

    /// Fills the rows of a domain's CPUs that a balance reads.
    fn fill_domain(&mut self, c: u32, level: u32, idle: u32) {
        let span = self.placing.domain(c, level as usize).span;
        let is_empty = self.balancing.emptied == Some(c) && self.fresh_rows.is_fresh(c);
        self.refresh_rows(span);
        if idle == balance_idle::NEWLY_IDLE && !is_empty {
            // It stays so until the search ends, or until something changes.
            self.placing.empty_row(self.policy.get(), c);
            self.balancing.emptied = Some(c);
        }
        self.placing.fill_balance(self.policy.get(), (c, level), self.uses.clamped);
        self.fill_preferences(c);
    }

    /// The CPU to take from; findings about the whole machine are kept.
    fn busiest(&mut self, env: &LbEnv) -> Result<u32, BalanceEnd> {
        let lb = &mut *self.balancing.lb;
        let group = env.find_src_group(self.policy.get(), self.placing.record(), lb);
        // Some stand for all, lest what is counted here grow with the machine.
        if cfg!(debug_assertions) && (self.now / 1_000).is_multiple_of(61) {
            self.placing.assert_kept(self.policy.get(), env, lb);
        }
        self.keep_llc_stats(env);
        let lb = &mut *self.balancing.lb;
        let core = if group == 0 { None } else { env.find_src_rq(self.policy.get(), self.placing.record(), lb) };
        let root = env.level as usize + 1 == self.balancing.domains[env.dst_cpu as usize].len();
        let (group, src) = self.kernel_src(env, root, (group, core));
        let lb = &*self.balancing.lb;
        let (overloaded, overutilized) = (lb.overloaded != 0, lb.overutilized != 0);
        if root {
            self.sched.overload = overloaded;
        }
        if root || overutilized {
            self.set_overutilized(overutilized);
        }
        if group == 0 {
            return Err(BalanceEnd::Balanced);
        }
        src.ok_or(BalanceEnd::NoQueue)
    }

    /// Nothing is to be moved. A group that pinned tasks kept out of balance is no longer said to be so.
    pub(super) fn found_balance(&mut self, c: u32, env: &LbEnv) {
        if env.clears_imbalance(self.policy.get()) {
            self.placing.set_group_imbalance(c, env.level as usize, false);
        }
        self.found_pinned(c, env);
    }

    fn found_pinned(&mut self, c: u32, env: &LbEnv) {
        let weight = self.placing.domain_weight(c, env.level as usize);
        let migration = self.balancing.lb.migration;
        let policy = self.policy.get();
        self.own(c, env.level).balanced(policy, env, migration, weight);
    }

    /// Something was to be moved and nothing could be: perhaps the running task.
    fn moved_nothing(&mut self, c: u32, env: &mut LbEnv) -> BalanceEnd {
        let (policy, migration) = (self.policy.get(), self.balancing.lb.migration);
        let weight = self.placing.domain_weight(c, env.level as usize);
        let own = self.own(c, env.level);
        own.failed(policy, env, migration);
        env.nr_balance_failed = own.nr_balance_failed;
        self.fill_curr(env);
        if !self.need_active_balance(env, migration) {
            self.own(c, env.level).again(weight);
            return BalanceEnd::Again;
        }
        let curr = self.cpus[env.src_cpu as usize].curr;
        let goes = self.tasks.get(curr as usize).is_some_and(|t| t.may_run_on(c));
        if !goes {
            self.own(c, env.level).may_wait(policy, env, migration, weight);
            return BalanceEnd::RunningPinned;
        }
        let own = &mut self.balancing.domains[c as usize][env.level as usize];
        own.activated(policy, self.placing.record(), env, migration);
        env.nr_balance_failed = own.nr_balance_failed;
        let cache = if migration == migrate::LLC_TASK { lbf::ACTIVE_LB_LLC } else { 0 };
        self.active_balance(env, cache, curr);
        BalanceEnd::Active
    }

    /// The running task of CPU `src` is stopped and goes to CPU `c`.
    fn take_running(&mut self, src: u32, t: u32, c: u32) {
        let task = &mut self.tasks[t as usize];
        if task.is_fair() && task.sched.pulled_to.is_none() {
            task.sched.pulled_to = Some(c);
            self.resched_cpu(src);
        }
    }

    /// active_load_balance_cpu_stop(): the first task of the other CPU that may go, a waiting one at once. `cache`: of
    /// those that prefer this CPU's.
    fn active_balance(&mut self, env: &LbEnv, cache: u32, curr: u32) {
        match self.detach_one_task(env, cache) {
            Some(t) if t == curr => self.take_running(env.src_cpu, t, env.dst_cpu),
            Some(t) => {
                self.detach(t, env.src_cpu, env.dst_cpu);
                self.attach(t, env.dst_cpu, false);
                self.took_running(env.src_cpu, env.dst_cpu);
            }
            None => {}
        }
    }

    /// The task that an active balance takes: of those that may go the one that ran longest ago. The running task is at
    /// the head of the list, so it comes last.
    fn detach_one_task(&mut self, env: &LbEnv, cache: u32) -> Option<u32> {
        let mut list = std::mem::take(&mut self.balancing.list);
        self.list_of(env.src_cpu, &mut list);
        let mut active = LbEnv { flags: lbf::ACTIVE_LB | cache, ..*env };
        let taken = list.iter().copied().find(|&t| {
            let task = LbTask { running: 0, ..self.lb_task(t, env) };
            !self.is_throttled_at(env.dst_cpu, t) && self.can_migrate_task(&mut active, &task, migrate::LOAD)
        });
        self.balancing.list = list;
        taken
    }

    /// The running task of CPU `src` was taken by CPU `c`: their smallest common domain has not failed.
    pub(crate) fn took_running(&mut self, src: u32, c: u32) {
        if !self.balancing.decides {
            return;
        }
        let levels = self.balancing.domains[c as usize].len();
        let spans = |level: usize| self.placing.record().span_has(self.placing.domain(c, level).span, src);
        let common = (0..levels).find(|&level| spans(level));
        if let Some(level) = common {
            self.balancing.domains[c as usize][level].nr_balance_failed = 0;
        }
    }
}
