// SPDX-License-Identifier: GPL-2.0-or-later
//! Load balancing of one domain for one CPU (`balance.h`, `balance_move.h`). Each method is the C function of the same
//! name.

use crate::policy::Policy;
use crate::record::{Snapshot, rule};
pub use crate::sys::NR_MIGRATE;
pub use crate::sys::cache_nice_tries;
use crate::sys::{self, CpuLoad, Lb, LbDomain, LbEnv, LbTask, Placement, SchedDomain};

/// Factor by which a busy CPU waits longer for its next balance than an idle one.
pub const BUSY_FACTOR: u64 = sys::BUSY_FACTOR as u64;

/// Types of groups, by number; what a worse one lacks is looked at first.
pub const GROUP_TYPES: [&str; 7] = [
    "has spare",
    "fully busy",
    "misfit task",
    "threads share a core",
    "imbalanced",
    "tasks prefer the cache",
    "overloaded",
];

impl LbEnv {
    /// Is it up to this CPU to balance its domain?
    #[must_use]
    pub fn should_we_balance(&self, policy: &Policy, record: &impl Snapshot) -> bool {
        rule!(record, should_we_balance, policy, self) != 0
    }

    /// CPUs of the group to take from, one bit each, and in `lb` why; 0 = the domain is balanced.
    pub fn find_src_group(&self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb) -> u64 {
        rule!(record, find_src_group, policy, self, lb)
    }

    /// After that search: what it summed up of caches is kept.
    pub fn record_llc_stats(&self, policy: &Policy, record: &mut Placement) {
        sys::record_sg_llc_stats(policy, record, self);
    }

    /// The CPU of that group to take from.
    pub fn find_src_rq(&self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb) -> Option<u32> {
        let cpu = rule!(record, find_src_rq, policy, self, lb);
        (cpu != crate::NO_CPU).then_some(cpu)
    }

    /// Nothing is to be moved: is the group no longer said to be kept out of balance by pinned tasks?
    #[must_use]
    pub fn clears_imbalance(&self, policy: &Policy) -> bool {
        sys::lb_clears_imbalance(policy, self) != 0
    }

    /// May the task move?
    pub fn can_migrate_task(&mut self, policy: &Policy, record: &impl Snapshot, task: &LbTask, migration: u32) -> bool {
        rule!(record, can_migrate_task, policy, self, task, migration) != 0
    }

    /// Does the task move? Then less remains to be moved.
    pub fn detach_task(&mut self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb, task: &LbTask) -> bool {
        rule!(record, detach_task, policy, self, lb, task) != 0
    }

    /// Does a task that may move go, for what is to be moved? Then less remains.
    pub fn takes(&self, policy: &Policy, lb: &mut Lb, task: &LbTask) -> bool {
        sys::lb_takes(policy, self, lb, task) != 0
    }

    /// Is the running task of `src_cpu` to be moved?
    #[must_use]
    pub fn need_active_balance(&self, policy: &Policy, record: &impl Snapshot, migration: u32) -> bool {
        rule!(record, need_active_balance, policy, self, migration) != 0
    }
}

impl LbDomain {
    /// A domain that was never balanced, of a machine of at most 64 CPUs.
    #[must_use]
    pub fn new(domain: &SchedDomain, now_ticks: u64) -> LbDomain {
        LbDomain::of_cpus(domain.span.count_ones(), now_ticks)
    }

    /// A domain of so many CPUs that was never balanced.
    #[must_use]
    pub fn of_cpus(weight: u32, now_ticks: u64) -> LbDomain {
        let mut own = LbDomain::default();
        sys::lb_domain_init(&mut own, weight, now_ticks);
        own
    }

    /// Ticks between two balances.
    ///
    /// ```
    /// use pelton_core::{LbDomain, Policy, SchedDomain};
    /// let own = LbDomain::new(&SchedDomain { span: 0xff, ..SchedDomain::default() }, 0);
    /// let ticks = |profile: &str, busy| own.interval_ticks(&Policy::profile(profile).unwrap(), busy, 4_000_000, 8);
    /// assert_eq!((ticks("7.2", false), ticks("7.2", true), ticks("5.4", true)), (2, 31, 64));
    /// ```
    #[must_use]
    pub fn interval_ticks(&self, policy: &Policy, busy: bool, tick_ns: u64, cpus: u32) -> u64 {
        sys::sd_balance_interval(policy, self, busy.into(), tick_ns, cpus)
    }

    /// A CPU that is about to go idle and has searched for `spent_ns` leaves this domain and larger ones out.
    #[must_use]
    pub fn newidle_skips(&self, avg_idle_ns: u64, spent_ns: u64) -> bool {
        sys::lb_newidle_skips(self, avg_idle_ns, spent_ns) != 0
    }

    /// Cost, ns, at which a search that took `cost_ns` counts: in some kernels one that finds nothing counts for more.
    #[must_use]
    pub fn newidle_counts_for(&self, policy: &Policy, cost_ns: u64, found: bool) -> u64 {
        sys::lb_newidle_counts_for(policy, self, cost_ns, found.into())
    }

    /// The CPU searched this domain, which counts for `cost_ns`.
    pub fn newidle_searched(&mut self, policy: &Policy, cost_ns: u64, now_ns: u64) {
        sys::lb_newidle_searched(policy, self, cost_ns, now_ns);
    }

    /// Are dice thrown whether this domain is searched before the CPU goes idle?
    #[must_use]
    pub fn newidle_throws(&self, policy: &Policy) -> bool {
        sys::lb_newidle_throws(policy, self) != 0
    }

    /// `draw` came, any number: is it searched?
    ///
    /// ```
    /// use pelton_core::{LbDomain, SchedDomain};
    /// let own = LbDomain::new(&SchedDomain::default(), 0);
    /// assert!(own.newidle_wins(513) && !own.newidle_wins(514) && own.newidle_wins(1024));
    /// ```
    #[must_use]
    pub fn newidle_wins(&self, draw: u32) -> bool {
        sys::lb_newidle_wins(self, draw) != 0
    }

    /// Number of searches that one which finds something counts for, with those that the dice left out.
    #[must_use]
    pub fn newidle_weight(&self, policy: &Policy) -> u32 {
        sys::lb_newidle_weight(policy, self)
    }

    /// A search found something `hits` times, or dice left it out.
    pub fn update_newidle_stats(&mut self, policy: &Policy, hits: u32, now_ns: u64) {
        sys::update_newidle_stats(policy, self, hits, now_ns);
    }

    /// At the periodic balance costs fade; true when this one did.
    pub fn newidle_decay(&mut self, now_ns: u64) -> bool {
        sys::lb_newidle_decay(self, now_ns) != 0
    }

    /// Nothing was to be moved, or nothing may be.
    pub fn balanced(&mut self, policy: &Policy, env: &LbEnv, migration: u32, weight: u32) {
        sys::lb_balanced(policy, self, env, migration, weight);
    }

    /// The running task that was to be moved may not.
    pub fn may_wait(&mut self, policy: &Policy, env: &LbEnv, migration: u32, weight: u32) {
        sys::lb_may_wait(policy, self, env, migration, weight);
    }

    /// Tasks were moved.
    pub fn moved(&mut self, weight: u32) {
        sys::lb_moved(self, weight);
    }

    /// Something was to be moved, and nothing could be; `again` or `activated` follows.
    pub fn failed(&mut self, policy: &Policy, env: &LbEnv, migration: u32) {
        sys::lb_failed(policy, self, env, migration);
    }

    /// The domain is unbalanced: it is looked at again soon.
    pub fn again(&mut self, weight: u32) {
        sys::lb_again(self, weight);
    }

    /// An active balance was asked for after that.
    pub fn activated(&mut self, policy: &Policy, record: &impl Snapshot, env: &LbEnv, migration: u32) {
        rule!(record, lb_activated, policy, self, env, migration);
    }
}

impl CpuLoad {
    /// A tick with a load of `now`.
    pub fn tick(&mut self, now: u64, now_ticks: u64) {
        sys::cpu_load_tick(self, now, now_ticks);
    }

    /// The tick stops.
    pub fn nohz_start(&mut self, now: u64) {
        sys::cpu_load_nohz_start(self, now);
    }

    /// The tick starts again, or a balance is made for a CPU without tick and without load.
    pub fn nohz(&mut self, now: u64, now_ticks: u64) {
        sys::cpu_load_nohz(self, now, now_ticks);
    }
}

/// Does a CPU count as busy? `idle`: a number of [`crate::balance_idle`]; from 5.10 on tasks of `SCHED_IDLE` alone do
/// not make
/// it so.
#[must_use]
pub fn lb_is_busy(policy: &Policy, idle: u32, idle_tasks_only: bool) -> bool {
    sys::lb_is_busy(policy, idle, idle_tasks_only.into()) != 0
}

/// Can a count of tasks alone say that the smallest domain of a CPU is balanced? `flags`: of that domain.
#[must_use]
pub fn lb_can_be_calm(policy: &Policy, flags: u32, energy_aware: bool) -> bool {
    sys::lb_can_be_calm(policy, flags, energy_aware.into()) != 0
}

/// A fair task left a CPU: does it balance at its next tick, for it has nothing but idle tasks now?
#[must_use]
pub fn lb_at_once(policy: &Policy, idle_only_before: bool, idle_only: bool) -> bool {
    sys::lb_at_once(policy, idle_only_before.into(), idle_only.into()) != 0
}

/// Domains are looked at one after the other, and what the one before said is `before`: does what a CPU remembers of
/// all fade?
#[must_use]
pub fn lb_newidle_fades(policy: &Policy, before: bool, faded: bool) -> bool {
    sys::lb_newidle_fades(policy, before.into(), faded.into()) != 0
}

/// Are groups compared by their loads where a task goes the slow way, not by types?
#[must_use]
pub fn dst_group_by_load(policy: &Policy) -> bool {
    sys::dst_group_by_load(policy) != 0
}

/// Does a balance look first at the task that was queued last?
#[must_use]
pub fn lb_newest_first(policy: &Policy) -> bool {
    sys::lb_newest_first(policy) != 0
}
