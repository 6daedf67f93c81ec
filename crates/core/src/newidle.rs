// SPDX-License-Identifier: GPL-2.0-or-later
//! CPUs that go idle or are. Each function is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, IdleWalk, Newidle};
pub use crate::sys::{WALK_BALANCE, WALK_STATS};

/// A task that ran this recently is cache-hot (`sysctl_sched_migration_cost`), ns.
pub const MIGRATION_COST_NS: u64 = sys::MIGRATION_COST_NS as u64;

impl Newidle {
    /// A CPU that was never idle.
    #[must_use]
    pub fn new() -> Newidle {
        let mut own = Newidle::default();
        sys::newidle_init(&mut own);
        own
    }

    /// The CPU was idle for `stay_ns`.
    ///
    /// ```
    /// let mut cpu = pelton_core::Newidle::new();
    /// cpu.woke(100_000);
    /// assert_eq!(cpu.avg_idle_ns, 1_000_000 - 900_000 / 8);
    /// ```
    pub fn woke(&mut self, stay_ns: u64) {
        sys::newidle_woke(self, stay_ns);
    }

    /// The only CPU of a machine refreshes its own load for a look, although there is nothing to look at.
    #[must_use]
    pub fn looks_alone(policy: &Policy) -> bool {
        sys::newidle_alone(policy) != 0
    }

    /// True where the CPU does not even refresh its own load for a look.
    #[must_use]
    pub fn closed(&self, policy: &Policy) -> bool {
        sys::newidle_closed(policy, self) != 0
    }

    /// True where the CPU goes idle without a look for a task elsewhere.
    #[must_use]
    pub fn skips(&self, policy: &Policy) -> bool {
        sys::newidle_skips(policy, self) != 0
    }

    /// The CPU looked, which took `cost_ns`.
    pub fn searched(&mut self, policy: &Policy, cost_ns: u64, now_ns: u64) {
        sys::newidle_searched(policy, self, cost_ns, now_ns);
    }

    /// All its searches before it went idle took `spent_ns`.
    pub fn spent(&mut self, spent_ns: u64) {
        sys::newidle_spent(self, spent_ns);
    }

    /// Its periodic balance: costs fade.
    pub fn decay(&mut self, now_ns: u64) {
        sys::newidle_decay(self, now_ns);
    }

    /// Nothing fades: [`Newidle::decay`] may be left out.
    #[must_use]
    pub fn rests(&self, policy: &Policy) -> bool {
        sys::newidle_rests(policy, self) != 0
    }

    /// The costs of some domains faded: that of the smallest is `lowest_ns`, of all `sum_ns`.
    pub fn faded(&mut self, lowest_ns: u64, sum_ns: u64) {
        sys::newidle_faded(self, lowest_ns, sum_ns);
    }
}

impl IdleWalk {
    /// Reasons for which a tick of a CPU with a task sends an idle CPU on the walk, [`WALK_STATS`] and
    /// [`WALK_BALANCE`]; 0: none.
    #[must_use]
    pub fn kick(&self, policy: &Policy) -> u32 {
        sys::idle_walk_kick(policy, self)
    }

    /// Does a CPU that goes idle make the walk?
    #[must_use]
    pub fn newly(&self, policy: &Policy, cpu: &Newidle) -> bool {
        sys::idle_walk_newly(policy, self, cpu) != 0
    }

    /// Tick from which the next walk for load is due.
    #[must_use]
    pub fn next(now_ticks: u64, tick_ns: u64) -> u64 {
        sys::idle_walk_next(now_ticks, tick_ns)
    }
}

/// Do CPUs walk over idle CPUs for their load?
#[must_use]
pub fn blocked_walks(policy: &Policy) -> bool {
    sys::blocked_walks(policy) != 0
}

/// Does a CPU that looks for a task refresh the load of the idle CPUs it looks at?
#[must_use]
pub fn blocked_scans(policy: &Policy) -> bool {
    sys::blocked_scans(policy) != 0
}

/// Is the load of an idle CPU due that was refreshed at tick `last`, in a walk over idle CPUs or in a search?
#[must_use]
pub fn blocked_due(policy: &Policy, now_ticks: u64, last_ticks: u64, tick_ns: u64, walk: bool) -> bool {
    sys::blocked_due(policy, now_ticks, last_ticks, tick_ns, walk.into()) != 0
}
