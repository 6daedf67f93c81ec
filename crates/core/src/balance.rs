// SPDX-License-Identifier: GPL-2.0-or-later
//! Load balancing of one domain for one CPU. Hand-written mirrors of the records of `core/include/pelton/balance.h` and
//! `balance_move.h`; each method is the C function of the same name.

use crate::placement_records::{Placement, SchedDomain};
use crate::policy::Policy;
use crate::record::{Snapshot, rule};
use crate::records::{LayoutRow, mirror};
use crate::{ffi_balance, ffi_idle_groups};

/// Most tasks that one balance looks at.
pub const NR_MIGRATE: u32 = 32;
/// How many times as long a busy CPU waits for its next balance as an idle one.
pub const BUSY_FACTOR: u64 = 16;

/// Kinds of balance.
pub mod balance_idle {
    /// The CPU has a task.
    pub const NOT_IDLE: u32 = 0;
    /// It is idle.
    pub const IDLE: u32 = 1;
    /// It is about to be.
    pub const NEWLY_IDLE: u32 = 2;
}

/// What an imbalance is measured in.
pub mod migrate {
    /// Load, weight.
    pub const LOAD: u32 = 0;
    /// Utilization.
    pub const UTIL: u32 = 1;
    /// Tasks.
    pub const TASK: u32 = 2;
    /// A task that is too big for its CPU.
    pub const MISFIT: u32 = 3;
    /// Tasks that prefer the cache.
    pub const LLC_TASK: u32 = 4;
}

/// What a balance met while it looked at tasks; bits.
pub mod lbf {
    /// No task may run on the CPU.
    pub const ALL_PINNED: u32 = 0x1;
    /// Another CPU of the group may take a task.
    pub const DST_PINNED: u32 = 0x4;
    /// Some task may not run on the CPU.
    pub const SOME_PINNED: u32 = 0x8;
    /// The running task is taken.
    pub const ACTIVE_LB: u32 = 0x10;
    /// A task stays for the sake of its cache.
    pub const LLC_PINNED: u32 = 0x20;
    /// The running task is taken when it prefers the cache.
    pub const ACTIVE_LB_LLC: u32 = 0x40;
    /// The process of the last task is to forget its preferred cache.
    pub const LLC_FORGET: u32 = 0x80;
}

mirror! {
    /// Loads of a CPU that fade over ticks, up to 4.19.
    CpuLoad = "pelton_cpu_load" {
        /// Load, weight; index 0 is the last one.
        load: [u64; 5],
        /// Ticks at the last update.
        last_ticks: u64,
    }
}

mirror! {
    /// Which CPU balances which domain, and the CPUs that are still considered.
    LbEnv = "pelton_lb_env" {
        /// CPUs that are considered, one bit each.
        cpus: u64,
        /// CPU for which it is done.
        dst_cpu: u32,
        /// Of its domains.
        level: u32,
        /// Number of [`crate::balance_idle`].
        idle: u32,
        /// Balances of this domain that moved nothing.
        nr_balance_failed: u32,
        /// How many may fail before tasks that ran lately move.
        cache_nice_tries: u32,
        /// Bits of [`crate::lbf`].
        flags: u32,
        /// With `DST_PINNED`: that CPU.
        new_dst_cpu: u32,
        /// CPU that is taken from.
        src_cpu: u32,
        /// 7.2: utilization of the running fair task of that CPU.
        curr_util: u32,
        /// 7.2: that task fits its CPU and not `dst_cpu`.
        curr_misfits: u32,
    }
}

mirror! {
    /// Sums of one group of a domain.
    LbGroup = "pelton_lb_group" {
        /// CPUs, one bit each; none: there is no group.
        cpus: u64,
        /// Load, weight.
        load: u64,
        /// Utilization.
        util: u64,
        /// Runnable averages.
        runnable: u64,
        /// Load relative to capacity, of an overloaded group.
        avg_load: u64,
        /// Load of a task that cannot have what it needs.
        misfit_load: u64,
        /// Capacity.
        capacity: u32,
        /// Of its smallest CPU.
        min_capacity: u32,
        /// Of its largest CPU.
        max_capacity: u32,
        /// CPUs.
        weight: u32,
        /// Tasks of all classes.
        nr_running: u32,
        /// Fair tasks.
        h_nr_running: u32,
        /// Idle CPUs.
        idle_cpus: u32,
        /// Type, see [`crate::GROUP_TYPES`].
        r#type: u32,
        /// Flags of the domain below, which it is.
        flags: u32,
        /// Cores.
        cores: u32,
        /// Some CPU has more to do than it can.
        overutilized: u32,
        /// Threads of a core with more than one fair task, seen by an idle CPU.
        smt_balance: u32,
        /// Pinned tasks kept a balance below from succeeding.
        imbalanced: u32,
        /// 7.2: tasks may go to the cache of the balancing CPU, which they prefer.
        llc_balance: u32,
        /// To 4.19: load of its tasks, whatever `load` was compared by.
        runnable_load: u64,
        /// To 5.4: load of one of its tasks.
        load_per_task: u64,
        /// 7.2: tasks that prefer the cache of the balancing CPU.
        nr_pref_dst_llc: u32,
        /// Zero.
        reserved: u32,
    }
}

mirror! {
    /// What a balance finds.
    Lb = "pelton_lb" {
        /// What is to be moved, in what `migration` says.
        imbalance: i64,
        /// Load of the domain.
        total_load: u64,
        /// Capacity of the domain.
        total_capacity: u64,
        /// One relative to the other.
        avg_load: u64,
        /// Number of [`crate::migrate`].
        migration: u32,
        /// CPU to take from, or [`crate::NO_CPU`].
        src_cpu: u32,
        /// Tasks are to be spread over groups.
        prefer_sibling: u32,
        /// Some CPU has two tasks, or one that is too big for it.
        overloaded: u32,
        /// Some CPU has more to do than it can.
        overutilized: u32,
        /// Unused.
        reserved: u32,
        /// The group of the CPU.
        local: LbGroup,
        /// The one to take from.
        busiest: LbGroup,
        /// The one looked at last.
        group: LbGroup,
    }
}

mirror! {
    /// What a CPU remembers of one of its domains.
    LbDomain = "pelton_lb_domain" {
        /// Tick of the last balance.
        last_balance_ticks: u64,
        /// Time between two balances of an idle CPU, ms.
        interval_ms: u32,
        /// Balances that moved nothing.
        nr_balance_failed: u32,
        /// What a search took before the CPU went idle, at most.
        newidle_cost_ns: u64,
        /// When that last faded.
        newidle_decayed_ns: u64,
        /// When such searches were counted last.
        newidle_since_ns: u64,
        /// Such searches, and those that dice left out, since about then.
        newidle_calls: u32,
        /// Those that found something.
        newidle_hits: u32,
        /// Their share, of 1024.
        newidle_ratio: u32,
        /// Unused.
        reserved: u32,
    }
}

mirror! {
    /// What the decision about one task reads.
    LbTask = "pelton_lb_task" {
        /// CPUs that it may use, one bit each.
        allowed: u64,
        /// Its part of its CPU's load, weight.
        load: u64,
        /// Since it last ran, by the task clock of its CPU.
        since_ran_ns: i64,
        /// Estimate of its utilization.
        util_est: u32,
        /// It runs.
        running: u32,
        /// A kernel thread of one CPU.
        bound: u32,
        /// Of SCHED_IDLE.
        sched_idle: u32,
        /// Its dequeue is delayed.
        delayed: u32,
        /// Not eligible, where others wait on the other CPU.
        ineligible: u32,
        /// Marked to run next.
        next_buddy: u32,
        /// The CPU it is on is big enough.
        fits_src: u32,
        /// 7.2: so is the other one.
        fits_dst: u32,
        /// 7.2: its utilization.
        util: u32,
        /// 7.2: the cache it prefers, as it last noted it; [`crate::NO_CPU`]: none.
        preferred_llc: u32,
        /// 7.2: a CPU of the cache that its process prefers; [`crate::NO_CPU`]: none.
        preferred_cpu: u32,
        /// 7.2: its process has too few or too many threads for the cache of the other CPU.
        invalid_llc_nr: u32,
        /// Zero.
        reserved: u32,
    }
}

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
        rule!(record, pelton_x_should_we_balance, policy, self) != 0
    }

    /// CPUs of the group to take from, one bit each, and in `lb` why; 0 = the domain is balanced.
    pub fn find_src_group(&self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb) -> u64 {
        rule!(record, pelton_x_find_src_group, policy, self, lb)
    }

    /// After that search: what it summed up of caches is kept.
    pub fn record_llc_stats(&self, policy: &Policy, record: &mut Placement) {
        ffi_balance::pelton_x_record_sg_llc_stats(policy, record, self);
    }

    /// The CPU of that group to take from.
    pub fn find_src_rq(&self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb) -> Option<u32> {
        let cpu = rule!(record, pelton_x_find_src_rq, policy, self, lb);
        (cpu != crate::NO_CPU).then_some(cpu)
    }

    /// Nothing is to be moved: is the group no longer said to be kept out of balance by pinned tasks?
    #[must_use]
    pub fn clears_imbalance(&self, policy: &Policy) -> bool {
        ffi_balance::pelton_x_lb_clears_imbalance(policy, self) != 0
    }

    /// May the task move?
    pub fn can_migrate_task(&mut self, policy: &Policy, record: &impl Snapshot, task: &LbTask, migration: u32) -> bool {
        rule!(record, pelton_x_can_migrate_task, policy, self, task, migration) != 0
    }

    /// Does the task move? Then less remains to be moved.
    pub fn detach_task(&mut self, policy: &Policy, record: &impl Snapshot, lb: &mut Lb, task: &LbTask) -> bool {
        rule!(record, pelton_x_detach_task, policy, self, lb, task) != 0
    }

    /// Is the running task of `src_cpu` to be moved?
    #[must_use]
    pub fn need_active_balance(&self, policy: &Policy, record: &impl Snapshot, migration: u32) -> bool {
        rule!(record, pelton_x_need_active_balance, policy, self, migration) != 0
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
        ffi_balance::pelton_x_lb_domain_init(&mut own, weight, now_ticks);
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
        ffi_balance::pelton_x_sd_balance_interval(policy, self, busy.into(), tick_ns, cpus)
    }

    /// A CPU that is about to go idle and has searched for `spent_ns` leaves this domain and larger ones out.
    #[must_use]
    pub fn newidle_skips(&self, avg_idle_ns: u64, spent_ns: u64) -> bool {
        ffi_balance::pelton_x_lb_newidle_skips(self, avg_idle_ns, spent_ns) != 0
    }

    /// What a search that took `cost_ns` counts for, ns: in some kernels one that finds nothing counts for more.
    #[must_use]
    pub fn newidle_counts_for(&self, policy: &Policy, cost_ns: u64, found: bool) -> u64 {
        ffi_balance::pelton_x_lb_newidle_counts_for(policy, self, cost_ns, found.into())
    }

    /// It searched this domain, which counts for `cost_ns`.
    pub fn newidle_searched(&mut self, policy: &Policy, cost_ns: u64, now_ns: u64) {
        ffi_balance::pelton_x_lb_newidle_searched(policy, self, cost_ns, now_ns);
    }

    /// Are dice thrown whether this domain is searched before the CPU goes idle?
    #[must_use]
    pub fn newidle_throws(&self, policy: &Policy) -> bool {
        ffi_balance::pelton_x_lb_newidle_throws(policy, self) != 0
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
        ffi_balance::pelton_x_lb_newidle_wins(self, draw) != 0
    }

    /// What a search that finds something counts for.
    #[must_use]
    pub fn newidle_weight(&self, policy: &Policy) -> u32 {
        ffi_balance::pelton_x_lb_newidle_weight(policy, self)
    }

    /// A search found something `hits` times, or dice left it out.
    pub fn update_newidle_stats(&mut self, policy: &Policy, hits: u32, now_ns: u64) {
        ffi_balance::pelton_x_update_newidle_stats(policy, self, hits, now_ns);
    }

    /// At the periodic balance costs fade; true when this one did.
    pub fn newidle_decay(&mut self, now_ns: u64) -> bool {
        ffi_balance::pelton_x_lb_newidle_decay(self, now_ns) != 0
    }

    /// Nothing was to be moved, or nothing may be.
    pub fn balanced(&mut self, policy: &Policy, env: &LbEnv, migration: u32, weight: u32) {
        ffi_balance::pelton_x_lb_balanced(policy, self, env, migration, weight);
    }

    /// The running task that was to be moved may not.
    pub fn may_wait(&mut self, policy: &Policy, env: &LbEnv, migration: u32, weight: u32) {
        ffi_balance::pelton_x_lb_may_wait(policy, self, env, migration, weight);
    }

    /// Tasks were moved.
    pub fn moved(&mut self, weight: u32) {
        ffi_balance::pelton_x_lb_moved(self, weight);
    }

    /// Something was to be moved, and nothing could be; `again` or `activated` follows.
    pub fn failed(&mut self, policy: &Policy, env: &LbEnv, migration: u32) {
        ffi_balance::pelton_x_lb_failed(policy, self, env, migration);
    }

    /// The domain is unbalanced: it is looked at again soon.
    pub fn again(&mut self, weight: u32) {
        ffi_balance::pelton_x_lb_again(self, weight);
    }

    /// An active balance was asked for after that.
    pub fn activated(&mut self, policy: &Policy, record: &impl Snapshot, env: &LbEnv, migration: u32) {
        rule!(record, pelton_x_lb_activated, policy, self, env, migration);
    }
}

impl CpuLoad {
    /// A tick with a load of `now`.
    pub fn tick(&mut self, now: u64, now_ticks: u64) {
        ffi_balance::pelton_x_cpu_load_tick(self, now, now_ticks);
    }

    /// The tick stops.
    pub fn nohz_start(&mut self, now: u64) {
        ffi_balance::pelton_x_cpu_load_nohz_start(self, now);
    }

    /// The tick starts again, or a balance is made for a CPU without tick and without load.
    pub fn nohz(&mut self, now: u64, now_ticks: u64) {
        ffi_balance::pelton_x_cpu_load_nohz(self, now, now_ticks);
    }
}

/// Does a CPU count as busy? `idle`: a number of [`balance_idle`]; from 5.10 on tasks of `SCHED_IDLE` alone do not make
/// it so.
#[must_use]
pub fn lb_is_busy(policy: &Policy, idle: u32, idle_tasks_only: bool) -> bool {
    ffi_balance::pelton_x_lb_is_busy(policy, idle, idle_tasks_only.into()) != 0
}

/// Can a count of tasks alone say that the smallest domain of a CPU is balanced? `flags`: of that domain.
#[must_use]
pub fn lb_can_be_calm(policy: &Policy, flags: u32, energy_aware: bool) -> bool {
    ffi_balance::pelton_x_lb_can_be_calm(policy, flags, energy_aware.into()) != 0
}

/// A fair task left a CPU: does it balance at its next tick, for it has nothing but idle tasks now?
#[must_use]
pub fn lb_at_once(policy: &Policy, idle_only_before: bool, idle_only: bool) -> bool {
    ffi_idle_groups::pelton_x_lb_at_once(policy, idle_only_before.into(), idle_only.into()) != 0
}

/// Domains are looked at one after the other, and what the one before said is `before`: does what a CPU remembers of
/// all fade?
#[must_use]
pub fn lb_newidle_fades(policy: &Policy, before: bool, faded: bool) -> bool {
    ffi_balance::pelton_x_lb_newidle_fades(policy, before.into(), faded.into()) != 0
}

/// Are groups compared by their loads where a task goes the slow way, not by types?
#[must_use]
pub fn dst_group_by_load(policy: &Policy) -> bool {
    ffi_balance::pelton_x_dst_group_by_load(policy) != 0
}

/// Does a balance look first at the task that was queued last?
#[must_use]
pub fn lb_newest_first(policy: &Policy) -> bool {
    ffi_balance::pelton_x_lb_newest_first(policy) != 0
}

/// How often a domain's balance may fail before tasks that ran lately are moved.
#[must_use]
pub fn cache_nice_tries(domain: &SchedDomain) -> u32 {
    ffi_balance::pelton_x_cache_nice_tries(domain)
}

pub(crate) fn layout(rows: &mut Vec<LayoutRow>) {
    CpuLoad::layout(rows);
    LbEnv::layout(rows);
    LbGroup::layout(rows);
    Lb::layout(rows);
    LbDomain::layout(rows);
    LbTask::layout(rows);
    crate::cache_aware::layout(rows);
}
