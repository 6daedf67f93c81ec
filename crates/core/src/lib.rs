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
mod ffi;
mod ffi_balance;
mod ffi_caches;
mod ffi_idle_groups;
mod ffi_server;
mod ffi_settled;
mod ffi_weights;

mod ffi_wide;
mod governor;
mod governors;
mod group_throttle;
pub mod hook;
mod idle;
mod idle_group;
mod idle_records;
mod interactive;
mod limits;
mod meta;
mod newidle;
mod pelt;
mod place;
mod placement;
mod placement_records;
mod policy;
mod prefer_idle;
mod priced;
mod raw_rows;
mod record;
mod record_kept;
mod records;
mod rq;
mod rt_limit;
mod sched_domain;
mod select_class;
mod settled;
mod stable;
mod thermal;
mod uclamp;
mod uclamp_sum;
pub mod value;

pub use arithmetic::Arithmetic;
pub use balance::{
    BUSY_FACTOR, CpuLoad, GROUP_TYPES, Lb, LbDomain, LbEnv, LbGroup, LbTask, NR_MIGRATE, balance_idle,
    cache_nice_tries, dst_group_by_load, lb_at_once, lb_can_be_calm, lb_is_busy, lb_newest_first, lb_newidle_fades,
    lbf, migrate,
};
pub use bandwidth::{capacity_greater, cpu_bw_dl, dl_bw, fits, fits_capacity, freq_scale, scale_load, scale_load_down};
pub use boost::{
    BOOST_GROUPS, BoostCpu, BoostGroup, boost_full, boost_group_limit, boost_margin, boosted, filter_accepts,
    filter_accepts_by, filter_form, filter_normalize, filter_payoff,
};
pub use cache_aware::{CacheCpu, CacheGroup, CacheTime, llc_epoch_ticks, sched_cache_enabled};
pub use cfs_bandwidth::{CfsBandwidth, CfsRuntime, RUNTIME_INF, quota};
pub use deadline::{DL_LIMIT_NONE, DL_LIMIT_PERIOD_NS, DL_LIMIT_RUNTIME_NS, dl_overflow};
pub use dl_server::{DlServer, ServerBw};
pub use energy::EnergyModel;
pub use ffi::Ctx;
pub use governor::{
    ASKS_WHY, FAIR_WHY, KHZ_INEFFICIENT, KHZ_NONE, NO_LARGEST, SUM_WHY, apply_headroom, commit, default_rate_limit_us,
    first_largest, hook_flag, perf_clamped, scale_irq, sugov_keeps, verdict,
};
pub use governors::{
    Dbs, DbsCpu, DbsTimes, SchedDvfs, Vote, dbs_sampling_us, governor_samples, governor_votes, sched_dvfs_request,
    sched_dvfs_usage, sched_dvfs_window_ns, vote,
};
pub use group_throttle::{
    NO_GROUP, THROTTLED_GROUPS_MAX, ThrottledGroup, group_est, group_limited, group_rest, group_throttled_util,
};
pub use idle::{idle_single, woke};
pub use idle_group::{
    h_nr_idle_above, has_idle_groups, sched_idle_rq, set_idle_delta, shares_when_idle, shares_writable,
};
pub use idle_records::{IDLE_STATES_MAX, IdleChoice, IdleLast, IdleNow, IdleState, IdleTable, Menu, Teo};
pub use interactive::{Interactive, InteractiveCpu, governor_timers, interactive_delay_us, interactive_target_load};
pub use limits::{Limits, Pressure};
pub use meta::{Bound, bounds, layouts};
pub use newidle::{MIGRATION_COST_NS, WALK_BALANCE, WALK_STATS, blocked_due, blocked_scans, blocked_walks};
pub use pelt::{decay_load, dequeue, ev, ramp, runs, shares_of_weight, time_to, update, weight_of_shares};
pub use place::{WakeShift, effective_load, h_load, record_wakee, wake_affine, wake_reads_runnable, wake_wide};
pub use placement::{
    AFFINE, DST_WHY, HOW, NO_CPU, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, SCAN, WEIGHED, nr_idle_scan, sd,
    update_scan_cost, wf,
};
pub use placement_records::{
    DOMAINS_MAX, DstWalk, GroupSums, PERF_DOMAINS_MAX, PLACE_CPUS_MAX, PLACE_ENERGIES_MAX, PLACE_STATES_MAX,
    PerfDomain, PlaceCpu, PlaceEnergy, PlaceTask, PlaceWaker, Placed, Placement, SchedDomain, SdLevel,
};
pub use policy::{FIELD_NAMES, FROM_PLATFORM, Parameter, Policy, PolicyError, Switch, parameters, profiles, switches};
pub use prefer_idle::{IdleCandidate, PreferIdle};
pub use priced::Priced;
pub use record::{Form, Held, PLACE_CPUS_LARGEST, PLACE_SETS_MAX, PlaceSet, Record, Snapshot, Wide, WidePlacement};
pub use record_kept::LbPart;
pub use records::{
    Avg, CfsRq, Clock, CpuState, Decision, DlEntity, EmState, Gate, IdleWalk, LayoutRow, Newidle, Number, Numbers,
    PerfTerms, Rq, RtLimit, RtShare, Se, SugovCpu, SugovPolicy, TaskGroup, Wake,
};
pub use rt_limit::{RR_TIMESLICE_NS, RT_PERIOD_NS, RT_RUNTIME_NS};
pub use sched_domain::imb_numa_nr;
pub use select_class::{
    ClassCpu, ClassCurr, ClassSearch, ClassTask, NO_DEADLINE, affinity_rank, need_pull_rt, rt_overloaded,
};
pub use settled::{PackedRequests, SugovKnown, SugovRequest, sugov_settles};
pub use stable::{RulesOfRelease, StableRule, StableSeries, rules_of_release, stable_rules, stable_series};
pub use thermal::{
    COOLING_MAX, Cooling, CoolingTable, Ipa, NO_TARGET, TRIPS_MAX, ThermalInstance, Trip, Zone, cooling_load,
};
pub use uclamp::{
    UCLAMP_BUCKETS, UCLAMP_ROOT, UclampBucket, UclampLimits, UclampRq, UclampTask, group_clamps, uclamp_inherits,
    uclamp_is_used, uclamp_of_percent,
};
pub use uclamp_sum::{UclampSumRq, UclampSumTask};

/// Hash of all headers of the core, for logs: two runs with different hashes may differ in arithmetic.
pub const CORE_HASH: &str = env!("PELTON_CORE_HASH");
