// SPDX-License-Identifier: GPL-2.0-or-later
//! The policy core in Rust: the C headers of `core/` behind safe types. No arithmetic of its own.

pub mod arithmetic;
mod balance;
mod bandwidth;
mod boost;
mod cache_aware;
mod cfs_bandwidth;
mod deadline;
mod dl_server;
mod energy;
pub mod fair;
mod governor;
mod governors;
mod group_throttle;
pub mod hook;
mod idle;
mod idle_group;
mod interactive;
pub mod kernel;
mod limits;
mod meta;
mod newidle;
mod numbers;
mod pelt;
mod place;
mod placement;
mod policy;
mod prefer_idle;
mod priced;
mod record;
mod record_kept;
mod rq;
mod rt_limit;
mod sched_domain;
mod scx;
mod select_class;
mod settled;
mod stable;
mod sys;
mod sys_wide;
mod thermal;
mod uclamp;
mod uclamp_sum;
pub mod value;

pub use arithmetic::Arithmetic;
pub use balance::{
    BUSY_FACTOR, GROUP_TYPES, NR_MIGRATE, cache_nice_tries, dst_group_by_load, lb_at_once, lb_can_be_calm, lb_is_busy,
    lb_newest_first, lb_newidle_fades,
};
pub use bandwidth::{capacity_greater, cpu_bw_dl, dl_bw, fits, fits_capacity, freq_scale, scale_load, scale_load_down};
pub use boost::{
    BOOST_GROUPS, boost_full, boost_group_limit, boost_margin, boosted, filter_accepts, filter_accepts_by,
    filter_normalize, filter_payoff,
};
pub use cache_aware::{llc_epoch_ticks, sched_cache_enabled};
pub use cfs_bandwidth::RUNTIME_INF;
pub use deadline::{DL_LIMIT_NONE, DL_LIMIT_PERIOD_NS, DL_LIMIT_RUNTIME_NS, dl_overflow};
pub use dl_server::ServerBw;
pub use energy::EnergyModel;
pub use governor::{
    ASKS_WHY, FAIR_WHY, KHZ_INEFFICIENT, KHZ_NONE, NO_LARGEST, SUM_WHY, apply_headroom, default_rate_limit_us,
    first_largest, perf_clamped, scale_irq, sugov_keeps,
};
pub use governors::{
    dbs_sampling_us, governor_samples, governor_votes, sched_dvfs_request, sched_dvfs_usage, sched_dvfs_window_ns,
};
pub use group_throttle::{NO_GROUP, THROTTLED_GROUPS_MAX, group_est, group_limited, group_rest, group_throttled_util};
pub use idle::{IDLE_STATES_MAX, idle_single};
pub use idle_group::{
    h_nr_idle_above, has_idle_groups, sched_idle_rq, set_idle_delta, shares_when_idle, shares_writable,
};
pub use interactive::{governor_timers, interactive_delay_us, interactive_target_load};
pub use limits::{Limits, Pressure};
pub use meta::{Bound, bounds};
pub use newidle::{MIGRATION_COST_NS, WALK_BALANCE, WALK_STATS, blocked_due, blocked_scans, blocked_walks};
pub use numbers::{Number, Numbers, below};
pub use pelt::{decay_load, ramp, shares_of_weight, time_to, update, weight_of_shares};
pub use place::{WakeShift, effective_load, h_load, record_wakee, wake_affine, wake_reads_runnable, wake_wide};
pub use placement::{
    AFFINE, DOMAINS_MAX, DST_WHY, HOW, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, PERF_DOMAINS_MAX, PLACE_CPUS_MAX,
    PLACE_ENERGIES_MAX, PLACE_STATES_MAX, SCAN, WEIGHED, nr_idle_scan, update_scan_cost,
};
pub use policy::{FIELD_NAMES, FROM_PLATFORM, Parameter, Policy, PolicyError, Switch, parameters, profiles, switches};
pub use priced::Priced;
pub use record::{Form, Held, PLACE_CPUS_LARGEST, PLACE_SETS_MAX, Record, Snapshot, Wide, WidePlacement};
pub use rt_limit::{RR_TIMESLICE_NS, RT_PERIOD_NS, RT_RUNTIME_NS};
pub use sched_domain::imb_numa_nr;
pub use scx::{
    SCX_BALANCE_TICKS, SCX_LONGER_NEWIDLE, SCX_LONGER_TICK, SCX_REFRESH_NS, cpuperf_is_followed, cpuperf_looks,
    scx_holds_balance, scx_idle_room, scx_is_long, scx_is_longer, scx_periods, scx_refill, scx_share, uclamp_clamped,
};
pub use select_class::{NO_DEADLINE, affinity_rank, need_pull_rt, rt_overloaded};
pub use settled::{PackedRequests, sugov_settles};
pub use stable::{RulesOfRelease, StableRule, StableSeries, rules_of_release, stable_rules, stable_series};
pub use thermal::{COOLING_MAX, CoolingTable, NO_TARGET, TRIPS_MAX, cooling_load};
pub use uclamp::{UCLAMP_BUCKETS, UCLAMP_ROOT, group_clamps, uclamp_inherits, uclamp_is_used, uclamp_of_percent};

pub use sys::{
    Avg, BoostCpu, BoostGroup, CacheCpu, CacheGroup, CacheTime, CfsBandwidth, CfsRq, CfsRuntime, ClassBest, ClassCpu,
    ClassCurr, ClassSearch, ClassTask, Clock, Cooling, CpuLoad, CpuState, Ctx, Dbs, DbsCpu, DbsTimes, Decision,
    DlEntity, DlServer, DstWalk, EmState, Gate, GroupSums, IdleCandidate, IdleChoice, IdleLast, IdleNow, IdleState,
    IdleTable, IdleWalk, Interactive, InteractiveCpu, Ipa, Lb, LbDomain, LbEnv, LbGroup, LbTask, Menu, Newidle,
    PerfDomain, PerfTerms, PlaceCpu, PlaceEnergy, PlaceTask, PlaceWaker, Placed, Placement, PreferIdle, Rq, RtLimit,
    RtShare, SchedDomain, SchedDvfs, SdLevel, Se, SugovCpu, SugovKnown, SugovPolicy, SugovRequest, TaskGroup, Teo,
    ThermalInstance, ThrottledGroup, Trip, UclampBucket, UclampLimits, UclampRq, UclampSumRq, UclampSumTask,
    UclampTask, Vote, Wake, Zone, balance_idle, commit, dequeue, ev, filter_form, hook_flag, lbf, migrate, quota, runs,
    sd, verdict, vote, wf, woke,
};
pub use sys_wide::{LbPart, PlaceSet};

/// Hash of all headers of the core, for logs: two runs with different hashes may differ in arithmetic.
pub const CORE_HASH: &str = env!("PELTON_CORE_HASH");

/// Length of a slice as the core takes it.
#[inline]
pub(crate) fn count<T>(of: &[T]) -> u32 {
    u32::try_from(of.len()).unwrap_or(u32::MAX)
}
