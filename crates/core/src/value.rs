// SPDX-License-Identifier: GPL-2.0-only
//! Values of the switches that are not off/on; compared with the C table in `tests/profiles.rs`.

/// Name, value name and number of every constant of this module, for that comparison.
#[doc(hidden)]
pub const ALL: &[(&str, &str, u32)] = &[
    ("invariance", "contribution", INVARIANCE_CONTRIBUTION),
    ("invariance", "clock", INVARIANCE_CLOCK),
    ("divisor", "constant", DIVISOR_CONSTANT),
    ("divisor", "moving", DIVISOR_MOVING),
    ("sum_floor", "off", SUM_FLOOR_OFF),
    ("sum_floor", "on", SUM_FLOOR_ON),
    ("sum_floor", "wraps", SUM_FLOOR_WRAPS),
    ("sum_floor", "rebuilt", SUM_FLOOR_REBUILT),
    ("propagation", "full_period", PROPAGATION_FULL_PERIOD),
    ("propagation", "rebuilt", PROPAGATION_REBUILT),
    ("propagation", "difference", PROPAGATION_DIFFERENCE),
    ("init_util", "scale", INIT_UTIL_SCALE),
    ("init_util", "capacity", INIT_UTIL_CAPACITY),
    ("init_weight", "unscaled", INIT_WEIGHT_UNSCALED),
    ("init_weight", "scaled", INIT_WEIGHT_SCALED),
    ("idle_clock", "later", IDLE_CLOCK_LATER),
    ("idle_clock", "at_once", IDLE_CLOCK_AT_ONCE),
    ("queued_migrant", "removed", QUEUED_MIGRANT_REMOVED),
    ("queued_migrant", "detached", QUEUED_MIGRANT_DETACHED),
    ("shares_load", "weight", SHARES_LOAD_WEIGHT),
    ("shares_load", "larger", SHARES_LOAD_LARGER),
    ("capacity_left", "rt_share", CAPACITY_LEFT_RT_SHARE),
    ("capacity_left", "used", CAPACITY_LEFT_USED),
    ("capacity_left", "actual", CAPACITY_LEFT_ACTUAL),
    ("util_est", "off", UTIL_EST_OFF),
    ("util_est", "u1", UTIL_EST_U1),
    ("util_est", "u2", UTIL_EST_U2),
    ("util_est", "u3", UTIL_EST_U3),
    ("util_est", "u4", UTIL_EST_U4),
    ("util_est", "u1_any", UTIL_EST_U1_ANY),
    ("estimate_leaves", "last", ESTIMATE_LEAVES_LAST),
    ("estimate_leaves", "first", ESTIMATE_LEAVES_FIRST),
    ("rt_rule", "flag_max", RT_RULE_FLAG_MAX),
    ("rt_rule", "runnable_max", RT_RULE_RUNNABLE_MAX),
    ("rt_rule", "runnable_max_unless_uclamp", RT_RULE_RUNNABLE_MAX_UNLESS_UCLAMP),
    ("rt_rule", "none", RT_RULE_NONE),
    ("dl_rule", "flag_max", DL_RULE_FLAG_MAX),
    ("dl_rule", "bw_on_top", DL_RULE_BW_ON_TOP),
    ("dl_rule", "bw_floor", DL_RULE_BW_FLOOR),
    ("perf_form", "flags", PERF_FORM_FLAGS),
    ("perf_form", "bw", PERF_FORM_BW),
    ("perf_form", "rt_sum", PERF_FORM_RT_SUM),
    ("perf_form", "clamp_then_sum", PERF_FORM_CLAMP_THEN_SUM),
    ("perf_form", "sum_then_clamp", PERF_FORM_SUM_THEN_CLAMP),
    ("headroom", "frequency", HEADROOM_FREQUENCY),
    ("headroom", "utilization", HEADROOM_UTILIZATION),
    ("headroom", "before_clamps", HEADROOM_BEFORE_CLAMPS),
    ("gate", "r0a", GATE_R0A),
    ("gate", "r0b", GATE_R0B),
    ("gate", "r1_trailing", GATE_R1_TRAILING),
    ("gate", "r1_sliding", GATE_R1_SLIDING),
    ("gate", "r1_asym", GATE_R1_ASYM),
    ("gate", "r2_linear", GATE_R2_LINEAR),
    ("gate", "r2_hyperbolic", GATE_R2_HYPERBOLIC),
    ("gate", "up_down", GATE_UP_DOWN),
    ("gate_bypass", "off", GATE_BYPASS_OFF),
    ("gate_bypass", "r3a", GATE_BYPASS_R3A),
    ("gate_bypass", "r3b", GATE_BYPASS_R3B),
    ("gate_asymmetry", "off", GATE_ASYMMETRY_OFF),
    ("gate_asymmetry", "on", GATE_ASYMMETRY_ON),
    ("gate_asymmetry", "falls", GATE_ASYMMETRY_FALLS),
    ("rate_limit_default", "latency_x1000", RATE_LIMIT_DEFAULT_LATENCY_X1000),
    ("rate_limit_default", "capped_10ms", RATE_LIMIT_DEFAULT_CAPPED_10MS),
    ("rate_limit_default", "capped_2ms", RATE_LIMIT_DEFAULT_CAPPED_2MS),
    ("rate_limit_default", "one_and_half", RATE_LIMIT_DEFAULT_ONE_AND_HALF),
    ("iowait_boost", "off", IOWAIT_BOOST_OFF),
    ("iowait_boost", "jump", IOWAIT_BOOST_JUMP),
    ("iowait_boost", "frequency", IOWAIT_BOOST_FREQUENCY),
    ("iowait_boost", "frequency_shared", IOWAIT_BOOST_FREQUENCY_SHARED),
    ("iowait_boost", "frequency_reset", IOWAIT_BOOST_FREQUENCY_RESET),
    ("iowait_boost", "capacity", IOWAIT_BOOST_CAPACITY),
    ("dl_bypass", "off", DL_BYPASS_OFF),
    ("dl_bypass", "bandwidth", DL_BYPASS_BANDWIDTH),
    ("dl_bypass", "floor", DL_BYPASS_FLOOR),
    ("limits_update", "forget", LIMITS_UPDATE_FORGET),
    ("limits_update", "compare", LIMITS_UPDATE_COMPARE),
    ("limits_update", "ask_driver", LIMITS_UPDATE_ASK_DRIVER),
    ("limits_update", "repeat", LIMITS_UPDATE_REPEAT),
    ("hold", "off", HOLD_OFF),
    ("hold", "keep_cache", HOLD_KEEP_CACHE),
    ("hold", "drop_cache", HOLD_DROP_CACHE),
    ("hold", "drop_unless_needed", HOLD_DROP_UNLESS_NEEDED),
    ("hold", "restore_cache", HOLD_RESTORE_CACHE),
    ("hold", "restore_unless_capped", HOLD_RESTORE_UNLESS_CAPPED),
    ("stale_cpu", "skip", STALE_CPU_SKIP),
    ("stale_cpu", "skip_fair", STALE_CPU_SKIP_FAIR),
    ("stale_cpu", "count", STALE_CPU_COUNT),
    ("while_busy", "refuse", WHILE_BUSY_REFUSE),
    ("while_busy", "overwrite", WHILE_BUSY_OVERWRITE),
    ("remote", "local_only", REMOTE_LOCAL_ONLY),
    ("remote", "fast_only", REMOTE_FAST_ONLY),
    ("remote", "all", REMOTE_ALL),
    ("worker", "fifo50", WORKER_FIFO50),
    ("worker", "deadline", WORKER_DEADLINE),
    ("hook_decay", "off", HOOK_DECAY_OFF),
    ("hook_decay", "local", HOOK_DECAY_LOCAL),
    ("hook_decay", "remote", HOOK_DECAY_REMOTE),
    ("hook_rt", "accounting", HOOK_RT_ACCOUNTING),
    ("hook_rt", "enqueue", HOOK_RT_ENQUEUE),
    ("hook_rt", "off", HOOK_RT_OFF),
    ("hook_dl", "accounting", HOOK_DL_ACCOUNTING),
    ("hook_dl", "bandwidth", HOOK_DL_BANDWIDTH),
    ("hook_dl", "off", HOOK_DL_OFF),
    ("hook_blocked", "off", HOOK_BLOCKED_OFF),
    ("hook_blocked", "per_cfs_rq", HOOK_BLOCKED_PER_CFS_RQ),
    ("hook_blocked", "once", HOOK_BLOCKED_ONCE),
    ("hook_filter", "h0", HOOK_FILTER_H0),
    ("hook_filter", "h1", HOOK_FILTER_H1),
    ("hook_filter", "h2", HOOK_FILTER_H2),
    ("hook_filter", "h3", HOOK_FILTER_H3),
    ("hook_filter", "h4", HOOK_FILTER_H4),
    ("hook_filter", "composite", HOOK_FILTER_COMPOSITE),
    ("fair_class", "cfs", FAIR_CLASS_CFS),
    ("fair_class", "eevdf", FAIR_CLASS_EEVDF),
    ("virtual_time", "multiply", VIRTUAL_TIME_MULTIPLY),
    ("virtual_time", "divide", VIRTUAL_TIME_DIVIDE),
    ("base_slice", "750_us", BASE_SLICE_750_US),
    ("base_slice", "700_us", BASE_SLICE_700_US),
    ("initial_slice", "whole", INITIAL_SLICE_WHOLE),
    ("initial_slice", "half", INITIAL_SLICE_HALF),
    ("cfs_slice", "plain", CFS_SLICE_PLAIN),
    ("cfs_slice", "floored", CFS_SLICE_FLOORED),
    ("fair_zero", "min_vruntime", FAIR_ZERO_MIN_VRUNTIME),
    ("fair_zero", "average", FAIR_ZERO_AVERAGE),
    ("fair_weight", "down", FAIR_WEIGHT_DOWN),
    ("fair_weight", "full", FAIR_WEIGHT_FULL),
    ("lag_limit", "own_slice", LAG_LIMIT_OWN_SLICE),
    ("lag_limit", "longest_slice", LAG_LIMIT_LONGEST_SLICE),
    ("run_to_parity", "request", RUN_TO_PARITY_REQUEST),
    ("run_to_parity", "short", RUN_TO_PARITY_SHORT),
    ("run_to_parity", "shortest", RUN_TO_PARITY_SHORTEST),
    ("run_to_parity", "shortest_each", RUN_TO_PARITY_SHORTEST_EACH),
    ("fair_yield", "deadline", FAIR_YIELD_DEADLINE),
    ("fair_yield", "forfeit", FAIR_YIELD_FORFEIT),
    ("fair_reweight", "request", FAIR_REWEIGHT_REQUEST),
    ("fair_reweight", "average", FAIR_REWEIGHT_AVERAGE),
    ("fair_reweight", "anew", FAIR_REWEIGHT_ANEW),
    ("fair_reweight", "lag", FAIR_REWEIGHT_LAG),
    ("delayed_lag", "zero", DELAYED_LAG_ZERO),
    ("delayed_lag", "kept", DELAYED_LAG_KEPT),
    ("rt_limit", "throttle", RT_LIMIT_THROTTLE),
    ("rt_limit", "fair_server", RT_LIMIT_FAIR_SERVER),
    ("dl_runtime", "wall", DL_RUNTIME_WALL),
    ("dl_runtime", "scaled", DL_RUNTIME_SCALED),
    ("dl_constrained", "plain", DL_CONSTRAINED_PLAIN),
    ("dl_constrained", "revised", DL_CONSTRAINED_REVISED),
    ("dl_admission", "cpus", DL_ADMISSION_CPUS),
    ("dl_admission", "capacity", DL_ADMISSION_CAPACITY),
    ("dl_enforcement", "tick", DL_ENFORCEMENT_TICK),
    ("dl_enforcement", "timer", DL_ENFORCEMENT_TIMER),
    ("newidle", "always", NEWIDLE_ALWAYS),
    ("newidle", "migration_cost", NEWIDLE_MIGRATION_COST),
    ("newidle", "domain_cost", NEWIDLE_DOMAIN_COST),
    ("newidle", "at_switch", NEWIDLE_AT_SWITCH),
    ("balance", "pull", BALANCE_PULL),
    ("balance", "loads_newly", BALANCE_LOADS_NEWLY),
    ("balance", "loads_zero", BALANCE_LOADS_ZERO),
    ("balance", "loads_biased", BALANCE_LOADS_BIASED),
    ("balance", "loads", BALANCE_LOADS),
    ("balance", "types", BALANCE_TYPES),
    ("balance", "reduced", BALANCE_REDUCED),
    ("balance", "cores", BALANCE_CORES),
    ("balance", "misfit_apart", BALANCE_MISFIT_APART),
    ("balance", "runnable", BALANCE_RUNNABLE),
    ("balance", "overutilized", BALANCE_OVERUTILIZED),
    ("balance_capacity", "after", BALANCE_CAPACITY_AFTER),
    ("balance_capacity", "before", BALANCE_CAPACITY_BEFORE),
    ("idle_walk", "balance", IDLE_WALK_BALANCE),
    ("idle_walk", "stats", IDLE_WALK_STATS),
    ("idle_walk", "stats_asym", IDLE_WALK_STATS_ASYM),
    ("idle_walk", "entry", IDLE_WALK_ENTRY),
    ("uclamp", "off", UCLAMP_OFF),
    ("uclamp", "max", UCLAMP_MAX),
    ("uclamp", "sum", UCLAMP_SUM),
    ("uclamp", "bias", UCLAMP_BIAS),
    ("uclamp", "bias_weighted", UCLAMP_BIAS_WEIGHTED),
    ("uclamp", "debt", UCLAMP_DEBT),
    ("idle_governor", "menu", IDLE_GOVERNOR_MENU),
    ("idle_governor", "teo", IDLE_GOVERNOR_TEO),
    ("idle_governor", "next_timer", IDLE_GOVERNOR_NEXT_TIMER),
    ("menu_form", "4_12", MENU_FORM_4_12),
    ("menu_form", "4_16", MENU_FORM_4_16),
    ("menu_form", "4_19", MENU_FORM_4_19),
    ("menu_form", "5_4", MENU_FORM_5_4),
    ("menu_form", "5_10", MENU_FORM_5_10),
    ("menu_form", "6_1", MENU_FORM_6_1),
    ("menu_form", "6_6", MENU_FORM_6_6),
    ("menu_form", "6_12", MENU_FORM_6_12),
    ("menu_form", "6_18", MENU_FORM_6_18),
    ("menu_form", "7_2", MENU_FORM_7_2),
    ("idle_tick", "stops", IDLE_TICK_STOPS),
    ("idle_tick", "governor", IDLE_TICK_GOVERNOR),
    ("wake_queue", "far", WAKE_QUEUE_FAR),
    ("wake_queue", "far_or_idle", WAKE_QUEUE_FAR_OR_IDLE),
    ("wake_affine", "runnable_load", WAKE_AFFINE_RUNNABLE_LOAD),
    ("wake_affine", "runnable_even", WAKE_AFFINE_RUNNABLE_EVEN),
    ("wake_affine", "runnable_less", WAKE_AFFINE_RUNNABLE_LESS),
    ("wake_affine", "load_avg", WAKE_AFFINE_LOAD_AVG),
    ("wake_affine", "idle_first", WAKE_AFFINE_IDLE_FIRST),
    ("energy_model", "milliwatts", ENERGY_MODEL_MILLIWATTS),
    ("energy_model", "scaled", ENERGY_MODEL_SCALED),
    ("energy_model", "microwatts", ENERGY_MODEL_MICROWATTS),
    ("energy_model", "performance", ENERGY_MODEL_PERFORMANCE),
    ("energy_aware", "off", ENERGY_AWARE_OFF),
    ("energy_aware", "margin", ENERGY_AWARE_MARGIN),
    ("energy_aware", "rank", ENERGY_AWARE_RANK),
    ("energy_aware", "actual", ENERGY_AWARE_ACTUAL),
    ("energy_full_cpu", "skipped", ENERGY_FULL_CPU_SKIPPED),
    ("energy_full_cpu", "candidate", ENERGY_FULL_CPU_CANDIDATE),
    ("energy_runnable", "off", ENERGY_RUNNABLE_OFF),
    ("energy_runnable", "before_task", ENERGY_RUNNABLE_BEFORE_TASK),
    ("energy_runnable", "with_task", ENERGY_RUNNABLE_WITH_TASK),
    ("util_fits", "capacity", UTIL_FITS_CAPACITY),
    ("util_fits", "floor", UTIL_FITS_FLOOR),
    ("util_fits", "rank", UTIL_FITS_RANK),
    ("overutilized", "capacity", OVERUTILIZED_CAPACITY),
    ("overutilized", "clamps", OVERUTILIZED_CLAMPS),
    ("overutilized", "clamps_energy", OVERUTILIZED_CLAMPS_ENERGY),
    ("overutilized", "maximum_energy", OVERUTILIZED_MAXIMUM_ENERGY),
    ("misfit", "off", MISFIT_OFF),
    ("misfit", "load", MISFIT_LOAD),
    ("misfit", "pinned", MISFIT_PINNED),
    ("misfit", "biggest", MISFIT_BIGGEST),
    ("sched_idle_cpu", "off", SCHED_IDLE_CPU_OFF),
    ("sched_idle_cpu", "on", SCHED_IDLE_CPU_ON),
    ("sched_idle_cpu", "yields", SCHED_IDLE_CPU_YIELDS),
    ("idle_search", "passes", IDLE_SEARCH_PASSES),
    ("idle_search", "scan", IDLE_SEARCH_SCAN),
    ("idle_search", "clusters", IDLE_SEARCH_CLUSTERS),
    ("capacity_search", "off", CAPACITY_SEARCH_OFF),
    ("capacity_search", "first", CAPACITY_SEARCH_FIRST),
    ("capacity_search", "rank", CAPACITY_SEARCH_RANK),
    ("capacity_search", "cores", CAPACITY_SEARCH_CORES),
    ("dst_group", "load", DST_GROUP_LOAD),
    ("dst_group", "types_near", DST_GROUP_TYPES_NEAR),
    ("dst_group", "types", DST_GROUP_TYPES),
    ("dst_group", "types_energy", DST_GROUP_TYPES_ENERGY),
    ("dst_group_cpus", "all", DST_GROUP_CPUS_ALL),
    ("dst_group_cpus", "allowed", DST_GROUP_CPUS_ALLOWED),
    ("governor", "schedutil", GOVERNOR_SCHEDUTIL),
    ("governor", "sched_dvfs", GOVERNOR_SCHED_DVFS),
    ("governor", "sched_dvfs_v7", GOVERNOR_SCHED_DVFS_V7),
    ("governor", "ondemand", GOVERNOR_ONDEMAND),
    ("governor", "conservative", GOVERNOR_CONSERVATIVE),
    ("governor", "performance", GOVERNOR_PERFORMANCE),
    ("governor", "powersave", GOVERNOR_POWERSAVE),
    ("governor", "userspace", GOVERNOR_USERSPACE),
    ("governor", "interactive", GOVERNOR_INTERACTIVE),
    ("boost_form", "rfc", BOOST_FORM_RFC),
    ("boost_form", "later", BOOST_FORM_LATER),
    ("boost_form", "hold", BOOST_FORM_HOLD),
    ("conservative_form", "steps", CONSERVATIVE_FORM_STEPS),
    ("conservative_form", "steps_if_idle", CONSERVATIVE_FORM_STEPS_IF_IDLE),
    ("conservative_form", "stops_below", CONSERVATIVE_FORM_STOPS_BELOW),
    ("conservative_form", "stops", CONSERVATIVE_FORM_STOPS),
    ("sampling_form", "4_5", SAMPLING_FORM_4_5),
    ("sampling_form", "6_12", SAMPLING_FORM_6_12),
    ("blocked_update", "own", BLOCKED_UPDATE_OWN),
    ("blocked_update", "scan", BLOCKED_UPDATE_SCAN),
    ("blocked_update", "interval", BLOCKED_UPDATE_INTERVAL),
    ("blocked_update", "lazy", BLOCKED_UPDATE_LAZY),
    ("newidle_own", "free", NEWIDLE_OWN_FREE),
    ("newidle_own", "counted", NEWIDLE_OWN_COUNTED),
    ("bandwidth", "off", BANDWIDTH_OFF),
    ("bandwidth", "group", BANDWIDTH_GROUP),
    ("bandwidth", "task", BANDWIDTH_TASK),
    ("bandwidth_refill", "expires_late", BANDWIDTH_REFILL_EXPIRES_LATE),
    ("bandwidth_refill", "expires", BANDWIDTH_REFILL_EXPIRES),
    ("bandwidth_refill", "quota", BANDWIDTH_REFILL_QUOTA),
    ("bandwidth_refill", "burst", BANDWIDTH_REFILL_BURST),
    ("bandwidth_throttle", "head", BANDWIDTH_THROTTLE_HEAD),
    ("bandwidth_throttle", "tail", BANDWIDTH_THROTTLE_TAIL),
    ("bandwidth_throttle", "retry", BANDWIDTH_THROTTLE_RETRY),
    ("bandwidth_throttle", "at_once", BANDWIDTH_THROTTLE_AT_ONCE),
    ("bandwidth_slack", "pushed", BANDWIDTH_SLACK_PUSHED),
    ("bandwidth_slack", "kept", BANDWIDTH_SLACK_KEPT),
    ("bandwidth_time", "throttled", BANDWIDTH_TIME_THROTTLED),
    ("bandwidth_time", "waiting", BANDWIDTH_TIME_WAITING),
    ("bandwidth_phase", "aligned", BANDWIDTH_PHASE_ALIGNED),
    ("bandwidth_phase", "random", BANDWIDTH_PHASE_RANDOM),
    ("throttle_clock", "task", THROTTLE_CLOCK_TASK),
    ("throttle_clock", "pelt", THROTTLE_CLOCK_PELT),
    ("rt_search", "first", RT_SEARCH_FIRST),
    ("rt_search", "fits", RT_SEARCH_FITS),
    ("rt_search", "spread", RT_SEARCH_SPREAD),
    ("rt_search", "push", RT_SEARCH_PUSH),
    ("dl_search", "latest", DL_SEARCH_LATEST),
    ("dl_search", "first", DL_SEARCH_FIRST),
    ("dl_search", "fits", DL_SEARCH_FITS),
    ("dl_search", "spread", DL_SEARCH_SPREAD),
];

/// `invariance = contribution`.
pub const INVARIANCE_CONTRIBUTION: u32 = 0;
/// `invariance = clock`.
pub const INVARIANCE_CLOCK: u32 = 1;
/// `divisor = constant`.
pub const DIVISOR_CONSTANT: u32 = 0;
/// `divisor = moving`.
pub const DIVISOR_MOVING: u32 = 1;
/// `sum_floor = off`.
pub const SUM_FLOOR_OFF: u32 = 0;
/// `sum_floor = on`.
pub const SUM_FLOOR_ON: u32 = 1;
/// `sum_floor = wraps`.
pub const SUM_FLOOR_WRAPS: u32 = 2;
/// `sum_floor = rebuilt`.
pub const SUM_FLOOR_REBUILT: u32 = 3;
/// `propagation = full_period`.
pub const PROPAGATION_FULL_PERIOD: u32 = 0;
/// `propagation = rebuilt`.
pub const PROPAGATION_REBUILT: u32 = 1;
/// `propagation = difference`.
pub const PROPAGATION_DIFFERENCE: u32 = 2;
/// `init_util = scale`.
pub const INIT_UTIL_SCALE: u32 = 0;
/// `init_util = capacity`.
pub const INIT_UTIL_CAPACITY: u32 = 1;
/// `init_weight = unscaled`.
pub const INIT_WEIGHT_UNSCALED: u32 = 0;
/// `init_weight = scaled`.
pub const INIT_WEIGHT_SCALED: u32 = 1;
/// `idle_clock = later`.
pub const IDLE_CLOCK_LATER: u32 = 0;
/// `idle_clock = at_once`.
pub const IDLE_CLOCK_AT_ONCE: u32 = 1;
/// `queued_migrant = removed`.
pub const QUEUED_MIGRANT_REMOVED: u32 = 0;
/// `queued_migrant = detached`.
pub const QUEUED_MIGRANT_DETACHED: u32 = 1;
/// `shares_load = weight`.
pub const SHARES_LOAD_WEIGHT: u32 = 0;
/// `shares_load = larger`.
pub const SHARES_LOAD_LARGER: u32 = 1;
/// `capacity_left = rt_share`.
pub const CAPACITY_LEFT_RT_SHARE: u32 = 0;
/// `capacity_left = used`.
pub const CAPACITY_LEFT_USED: u32 = 1;
/// `capacity_left = actual`.
pub const CAPACITY_LEFT_ACTUAL: u32 = 2;
/// `util_est = off`.
pub const UTIL_EST_OFF: u32 = 0;
/// `util_est = u1`.
pub const UTIL_EST_U1: u32 = 1;
/// `util_est = u2`.
pub const UTIL_EST_U2: u32 = 2;
/// `util_est = u3`.
pub const UTIL_EST_U3: u32 = 3;
/// `util_est = u4`.
pub const UTIL_EST_U4: u32 = 4;
/// `util_est = u1_any`.
pub const UTIL_EST_U1_ANY: u32 = 5;
/// `estimate_leaves = last`.
pub const ESTIMATE_LEAVES_LAST: u32 = 0;
/// `estimate_leaves = first`.
pub const ESTIMATE_LEAVES_FIRST: u32 = 1;
/// `rt_rule = flag_max`.
pub const RT_RULE_FLAG_MAX: u32 = 0;
/// `rt_rule = runnable_max`.
pub const RT_RULE_RUNNABLE_MAX: u32 = 1;
/// `rt_rule = runnable_max_unless_uclamp`.
pub const RT_RULE_RUNNABLE_MAX_UNLESS_UCLAMP: u32 = 2;
/// `rt_rule = none`.
pub const RT_RULE_NONE: u32 = 3;
/// `dl_rule = flag_max`.
pub const DL_RULE_FLAG_MAX: u32 = 0;
/// `dl_rule = bw_on_top`.
pub const DL_RULE_BW_ON_TOP: u32 = 1;
/// `dl_rule = bw_floor`.
pub const DL_RULE_BW_FLOOR: u32 = 2;
/// `perf_form = flags`.
pub const PERF_FORM_FLAGS: u32 = 0;
/// `perf_form = bw`.
pub const PERF_FORM_BW: u32 = 1;
/// `perf_form = rt_sum`.
pub const PERF_FORM_RT_SUM: u32 = 2;
/// `perf_form = clamp_then_sum`.
pub const PERF_FORM_CLAMP_THEN_SUM: u32 = 3;
/// `perf_form = sum_then_clamp`.
pub const PERF_FORM_SUM_THEN_CLAMP: u32 = 4;
/// `headroom = frequency`.
pub const HEADROOM_FREQUENCY: u32 = 0;
/// `headroom = utilization`.
pub const HEADROOM_UTILIZATION: u32 = 1;
/// `headroom = before_clamps`.
pub const HEADROOM_BEFORE_CLAMPS: u32 = 2;
/// `gate = r0a`.
pub const GATE_R0A: u32 = 0;
/// `gate = r0b`.
pub const GATE_R0B: u32 = 1;
/// `gate = r1_trailing`.
pub const GATE_R1_TRAILING: u32 = 2;
/// `gate = r1_sliding`.
pub const GATE_R1_SLIDING: u32 = 3;
/// `gate = r1_asym`.
pub const GATE_R1_ASYM: u32 = 4;
/// `gate = r2_linear`.
pub const GATE_R2_LINEAR: u32 = 5;
/// `gate = r2_hyperbolic`.
pub const GATE_R2_HYPERBOLIC: u32 = 6;
/// `gate = up_down`.
pub const GATE_UP_DOWN: u32 = 7;
/// `gate_bypass = off`.
pub const GATE_BYPASS_OFF: u32 = 0;
/// `gate_bypass = r3a`.
pub const GATE_BYPASS_R3A: u32 = 1;
/// `gate_bypass = r3b`.
pub const GATE_BYPASS_R3B: u32 = 2;
/// `gate_asymmetry = off`.
pub const GATE_ASYMMETRY_OFF: u32 = 0;
/// `gate_asymmetry = on`.
pub const GATE_ASYMMETRY_ON: u32 = 1;
/// `gate_asymmetry = falls`.
pub const GATE_ASYMMETRY_FALLS: u32 = 2;
/// `rate_limit_default = latency_x1000`.
pub const RATE_LIMIT_DEFAULT_LATENCY_X1000: u32 = 0;
/// `rate_limit_default = capped_10ms`.
pub const RATE_LIMIT_DEFAULT_CAPPED_10MS: u32 = 1;
/// `rate_limit_default = capped_2ms`.
pub const RATE_LIMIT_DEFAULT_CAPPED_2MS: u32 = 2;
/// `rate_limit_default = one_and_half`.
pub const RATE_LIMIT_DEFAULT_ONE_AND_HALF: u32 = 3;
/// `iowait_boost = off`.
pub const IOWAIT_BOOST_OFF: u32 = 0;
/// `iowait_boost = jump`.
pub const IOWAIT_BOOST_JUMP: u32 = 1;
/// `iowait_boost = frequency`.
pub const IOWAIT_BOOST_FREQUENCY: u32 = 2;
/// `iowait_boost = frequency_shared`.
pub const IOWAIT_BOOST_FREQUENCY_SHARED: u32 = 3;
/// `iowait_boost = frequency_reset`.
pub const IOWAIT_BOOST_FREQUENCY_RESET: u32 = 4;
/// `iowait_boost = capacity`.
pub const IOWAIT_BOOST_CAPACITY: u32 = 5;
/// `dl_bypass = off`.
pub const DL_BYPASS_OFF: u32 = 0;
/// `dl_bypass = bandwidth`.
pub const DL_BYPASS_BANDWIDTH: u32 = 1;
/// `dl_bypass = floor`.
pub const DL_BYPASS_FLOOR: u32 = 2;
/// `limits_update = forget`.
pub const LIMITS_UPDATE_FORGET: u32 = 0;
/// `limits_update = compare`.
pub const LIMITS_UPDATE_COMPARE: u32 = 1;
/// `limits_update = ask_driver`.
pub const LIMITS_UPDATE_ASK_DRIVER: u32 = 2;
/// `limits_update = repeat`.
pub const LIMITS_UPDATE_REPEAT: u32 = 3;
/// `hold = off`.
pub const HOLD_OFF: u32 = 0;
/// `hold = keep_cache`.
pub const HOLD_KEEP_CACHE: u32 = 1;
/// `hold = drop_cache`.
pub const HOLD_DROP_CACHE: u32 = 2;
/// `hold = drop_unless_needed`.
pub const HOLD_DROP_UNLESS_NEEDED: u32 = 3;
/// `hold = restore_cache`.
pub const HOLD_RESTORE_CACHE: u32 = 4;
/// `hold = restore_unless_capped`.
pub const HOLD_RESTORE_UNLESS_CAPPED: u32 = 5;
/// `stale_cpu = skip`.
pub const STALE_CPU_SKIP: u32 = 0;
/// `stale_cpu = skip_fair`.
pub const STALE_CPU_SKIP_FAIR: u32 = 1;
/// `stale_cpu = count`.
pub const STALE_CPU_COUNT: u32 = 2;
/// `while_busy = refuse`.
pub const WHILE_BUSY_REFUSE: u32 = 0;
/// `while_busy = overwrite`.
pub const WHILE_BUSY_OVERWRITE: u32 = 1;
/// `remote = local_only`.
pub const REMOTE_LOCAL_ONLY: u32 = 0;
/// `remote = fast_only`.
pub const REMOTE_FAST_ONLY: u32 = 1;
/// `remote = all`.
pub const REMOTE_ALL: u32 = 2;
/// `worker = fifo50`.
pub const WORKER_FIFO50: u32 = 0;
/// `worker = deadline`.
pub const WORKER_DEADLINE: u32 = 1;
/// `hook_decay = off`.
pub const HOOK_DECAY_OFF: u32 = 0;
/// `hook_decay = local`.
pub const HOOK_DECAY_LOCAL: u32 = 1;
/// `hook_decay = remote`.
pub const HOOK_DECAY_REMOTE: u32 = 2;
/// `hook_rt = accounting`.
pub const HOOK_RT_ACCOUNTING: u32 = 0;
/// `hook_rt = enqueue`.
pub const HOOK_RT_ENQUEUE: u32 = 1;
/// `hook_rt = off`.
pub const HOOK_RT_OFF: u32 = 2;
/// `hook_dl = accounting`.
pub const HOOK_DL_ACCOUNTING: u32 = 0;
/// `hook_dl = bandwidth`.
pub const HOOK_DL_BANDWIDTH: u32 = 1;
/// `hook_dl = off`.
pub const HOOK_DL_OFF: u32 = 2;
/// `hook_blocked = off`.
pub const HOOK_BLOCKED_OFF: u32 = 0;
/// `hook_blocked = per_cfs_rq`.
pub const HOOK_BLOCKED_PER_CFS_RQ: u32 = 1;
/// `hook_blocked = once`.
pub const HOOK_BLOCKED_ONCE: u32 = 2;
/// `hook_filter = h0`.
pub const HOOK_FILTER_H0: u32 = 0;
/// `hook_filter = h1`.
pub const HOOK_FILTER_H1: u32 = 1;
/// `hook_filter = h2`.
pub const HOOK_FILTER_H2: u32 = 2;
/// `hook_filter = h3`.
pub const HOOK_FILTER_H3: u32 = 3;
/// `hook_filter = h4`.
pub const HOOK_FILTER_H4: u32 = 4;
/// `hook_filter = composite`.
pub const HOOK_FILTER_COMPOSITE: u32 = 5;
/// `fair_class = cfs`.
pub const FAIR_CLASS_CFS: u32 = 0;
/// `fair_class = eevdf`.
pub const FAIR_CLASS_EEVDF: u32 = 1;
/// `virtual_time = multiply`.
pub const VIRTUAL_TIME_MULTIPLY: u32 = 0;
/// `virtual_time = divide`.
pub const VIRTUAL_TIME_DIVIDE: u32 = 1;
/// `base_slice = 750_us`.
pub const BASE_SLICE_750_US: u32 = 0;
/// `base_slice = 700_us`.
pub const BASE_SLICE_700_US: u32 = 1;
/// `initial_slice = whole`.
pub const INITIAL_SLICE_WHOLE: u32 = 0;
/// `initial_slice = half`.
pub const INITIAL_SLICE_HALF: u32 = 1;
/// `cfs_slice = plain`.
pub const CFS_SLICE_PLAIN: u32 = 0;
/// `cfs_slice = floored`.
pub const CFS_SLICE_FLOORED: u32 = 1;
/// `fair_zero = min_vruntime`.
pub const FAIR_ZERO_MIN_VRUNTIME: u32 = 0;
/// `fair_zero = average`.
pub const FAIR_ZERO_AVERAGE: u32 = 1;
/// `fair_weight = down`.
pub const FAIR_WEIGHT_DOWN: u32 = 0;
/// `fair_weight = full`.
pub const FAIR_WEIGHT_FULL: u32 = 1;
/// `lag_limit = own_slice`.
pub const LAG_LIMIT_OWN_SLICE: u32 = 0;
/// `lag_limit = longest_slice`.
pub const LAG_LIMIT_LONGEST_SLICE: u32 = 1;
/// `run_to_parity = request`.
pub const RUN_TO_PARITY_REQUEST: u32 = 0;
/// `run_to_parity = short`.
pub const RUN_TO_PARITY_SHORT: u32 = 1;
/// `run_to_parity = shortest`.
pub const RUN_TO_PARITY_SHORTEST: u32 = 2;
/// `run_to_parity = shortest_each`.
pub const RUN_TO_PARITY_SHORTEST_EACH: u32 = 3;
/// `fair_yield = deadline`.
pub const FAIR_YIELD_DEADLINE: u32 = 0;
/// `fair_yield = forfeit`.
pub const FAIR_YIELD_FORFEIT: u32 = 1;
/// `fair_reweight = request`.
pub const FAIR_REWEIGHT_REQUEST: u32 = 0;
/// `fair_reweight = average`.
pub const FAIR_REWEIGHT_AVERAGE: u32 = 1;
/// `fair_reweight = anew`.
pub const FAIR_REWEIGHT_ANEW: u32 = 2;
/// `fair_reweight = lag`.
pub const FAIR_REWEIGHT_LAG: u32 = 3;
/// `delayed_lag = zero`.
pub const DELAYED_LAG_ZERO: u32 = 0;
/// `delayed_lag = kept`.
pub const DELAYED_LAG_KEPT: u32 = 1;
/// `rt_limit = throttle`.
pub const RT_LIMIT_THROTTLE: u32 = 0;
/// `rt_limit = fair_server`.
pub const RT_LIMIT_FAIR_SERVER: u32 = 1;
/// `dl_runtime = wall`.
pub const DL_RUNTIME_WALL: u32 = 0;
/// `dl_runtime = scaled`.
pub const DL_RUNTIME_SCALED: u32 = 1;
/// `dl_constrained = plain`.
pub const DL_CONSTRAINED_PLAIN: u32 = 0;
/// `dl_constrained = revised`.
pub const DL_CONSTRAINED_REVISED: u32 = 1;
/// `dl_admission = cpus`.
pub const DL_ADMISSION_CPUS: u32 = 0;
/// `dl_admission = capacity`.
pub const DL_ADMISSION_CAPACITY: u32 = 1;
/// `dl_enforcement = tick`.
pub const DL_ENFORCEMENT_TICK: u32 = 0;
/// `dl_enforcement = timer`.
pub const DL_ENFORCEMENT_TIMER: u32 = 1;
/// `newidle = always`.
pub const NEWIDLE_ALWAYS: u32 = 0;
/// `newidle = migration_cost`.
pub const NEWIDLE_MIGRATION_COST: u32 = 1;
/// `newidle = domain_cost`.
pub const NEWIDLE_DOMAIN_COST: u32 = 2;
/// `newidle = at_switch`.
pub const NEWIDLE_AT_SWITCH: u32 = 3;
/// `balance = pull`.
pub const BALANCE_PULL: u32 = 0;
/// `balance = loads_newly`.
pub const BALANCE_LOADS_NEWLY: u32 = 1;
/// `balance = loads_zero`.
pub const BALANCE_LOADS_ZERO: u32 = 2;
/// `balance = loads_biased`.
pub const BALANCE_LOADS_BIASED: u32 = 3;
/// `balance = loads`.
pub const BALANCE_LOADS: u32 = 4;
/// `balance = types`.
pub const BALANCE_TYPES: u32 = 5;
/// `balance = reduced`.
pub const BALANCE_REDUCED: u32 = 6;
/// `balance = cores`.
pub const BALANCE_CORES: u32 = 7;
/// `balance = misfit_apart`.
pub const BALANCE_MISFIT_APART: u32 = 8;
/// `balance = runnable`.
pub const BALANCE_RUNNABLE: u32 = 9;
/// `balance = overutilized`.
pub const BALANCE_OVERUTILIZED: u32 = 10;
/// `balance_capacity = after`.
pub const BALANCE_CAPACITY_AFTER: u32 = 0;
/// `balance_capacity = before`.
pub const BALANCE_CAPACITY_BEFORE: u32 = 1;
/// `idle_walk = balance`.
pub const IDLE_WALK_BALANCE: u32 = 0;
/// `idle_walk = stats`.
pub const IDLE_WALK_STATS: u32 = 1;
/// `idle_walk = stats_asym`.
pub const IDLE_WALK_STATS_ASYM: u32 = 2;
/// `idle_walk = entry`.
pub const IDLE_WALK_ENTRY: u32 = 3;
/// `uclamp = off`.
pub const UCLAMP_OFF: u32 = 0;
/// `uclamp = max`.
pub const UCLAMP_MAX: u32 = 1;
/// `uclamp = sum`.
pub const UCLAMP_SUM: u32 = 2;
/// `uclamp = bias`.
pub const UCLAMP_BIAS: u32 = 3;
/// `uclamp = bias_weighted`.
pub const UCLAMP_BIAS_WEIGHTED: u32 = 4;
/// `uclamp = debt`.
pub const UCLAMP_DEBT: u32 = 5;
/// `idle_governor = menu`.
pub const IDLE_GOVERNOR_MENU: u32 = 0;
/// `idle_governor = teo`.
pub const IDLE_GOVERNOR_TEO: u32 = 1;
/// `idle_governor = next_timer`.
pub const IDLE_GOVERNOR_NEXT_TIMER: u32 = 2;
/// `menu_form = 4_12`.
pub const MENU_FORM_4_12: u32 = 0;
/// `menu_form = 4_16`.
pub const MENU_FORM_4_16: u32 = 1;
/// `menu_form = 4_19`.
pub const MENU_FORM_4_19: u32 = 2;
/// `menu_form = 5_4`.
pub const MENU_FORM_5_4: u32 = 3;
/// `menu_form = 5_10`.
pub const MENU_FORM_5_10: u32 = 4;
/// `menu_form = 6_1`.
pub const MENU_FORM_6_1: u32 = 5;
/// `menu_form = 6_6`.
pub const MENU_FORM_6_6: u32 = 6;
/// `menu_form = 6_12`.
pub const MENU_FORM_6_12: u32 = 7;
/// `menu_form = 6_18`.
pub const MENU_FORM_6_18: u32 = 8;
/// `menu_form = 7_2`.
pub const MENU_FORM_7_2: u32 = 9;
/// `idle_tick = stops`.
pub const IDLE_TICK_STOPS: u32 = 0;
/// `idle_tick = governor`.
pub const IDLE_TICK_GOVERNOR: u32 = 1;
/// `wake_queue = far`.
pub const WAKE_QUEUE_FAR: u32 = 0;
/// `wake_queue = far_or_idle`.
pub const WAKE_QUEUE_FAR_OR_IDLE: u32 = 1;
/// `wake_affine = runnable_load`.
pub const WAKE_AFFINE_RUNNABLE_LOAD: u32 = 0;
/// `wake_affine = runnable_even`.
pub const WAKE_AFFINE_RUNNABLE_EVEN: u32 = 1;
/// `wake_affine = runnable_less`.
pub const WAKE_AFFINE_RUNNABLE_LESS: u32 = 2;
/// `wake_affine = load_avg`.
pub const WAKE_AFFINE_LOAD_AVG: u32 = 3;
/// `wake_affine = idle_first`.
pub const WAKE_AFFINE_IDLE_FIRST: u32 = 4;
/// `energy_model = milliwatts`.
pub const ENERGY_MODEL_MILLIWATTS: u32 = 0;
/// `energy_model = scaled`.
pub const ENERGY_MODEL_SCALED: u32 = 1;
/// `energy_model = microwatts`.
pub const ENERGY_MODEL_MICROWATTS: u32 = 2;
/// `energy_model = performance`.
pub const ENERGY_MODEL_PERFORMANCE: u32 = 3;
/// `energy_aware = off`.
pub const ENERGY_AWARE_OFF: u32 = 0;
/// `energy_aware = margin`.
pub const ENERGY_AWARE_MARGIN: u32 = 1;
/// `energy_aware = rank`.
pub const ENERGY_AWARE_RANK: u32 = 2;
/// `energy_aware = actual`.
pub const ENERGY_AWARE_ACTUAL: u32 = 3;
/// `energy_full_cpu = skipped`.
pub const ENERGY_FULL_CPU_SKIPPED: u32 = 0;
/// `energy_full_cpu = candidate`.
pub const ENERGY_FULL_CPU_CANDIDATE: u32 = 1;
/// `energy_runnable = off`.
pub const ENERGY_RUNNABLE_OFF: u32 = 0;
/// `energy_runnable = before_task`.
pub const ENERGY_RUNNABLE_BEFORE_TASK: u32 = 1;
/// `energy_runnable = with_task`.
pub const ENERGY_RUNNABLE_WITH_TASK: u32 = 2;
/// `util_fits = capacity`.
pub const UTIL_FITS_CAPACITY: u32 = 0;
/// `util_fits = floor`.
pub const UTIL_FITS_FLOOR: u32 = 1;
/// `util_fits = rank`.
pub const UTIL_FITS_RANK: u32 = 2;
/// `overutilized = capacity`.
pub const OVERUTILIZED_CAPACITY: u32 = 0;
/// `overutilized = clamps`.
pub const OVERUTILIZED_CLAMPS: u32 = 1;
/// `overutilized = clamps_energy`.
pub const OVERUTILIZED_CLAMPS_ENERGY: u32 = 2;
/// `overutilized = maximum_energy`.
pub const OVERUTILIZED_MAXIMUM_ENERGY: u32 = 3;
/// `misfit = off`.
pub const MISFIT_OFF: u32 = 0;
/// `misfit = load`.
pub const MISFIT_LOAD: u32 = 1;
/// `misfit = pinned`.
pub const MISFIT_PINNED: u32 = 2;
/// `misfit = biggest`.
pub const MISFIT_BIGGEST: u32 = 3;
/// `sched_idle_cpu = off`.
pub const SCHED_IDLE_CPU_OFF: u32 = 0;
/// `sched_idle_cpu = on`.
pub const SCHED_IDLE_CPU_ON: u32 = 1;
/// `sched_idle_cpu = yields`.
pub const SCHED_IDLE_CPU_YIELDS: u32 = 2;
/// `idle_search = passes`.
pub const IDLE_SEARCH_PASSES: u32 = 0;
/// `idle_search = scan`.
pub const IDLE_SEARCH_SCAN: u32 = 1;
/// `idle_search = clusters`.
pub const IDLE_SEARCH_CLUSTERS: u32 = 2;
/// `capacity_search = off`.
pub const CAPACITY_SEARCH_OFF: u32 = 0;
/// `capacity_search = first`.
pub const CAPACITY_SEARCH_FIRST: u32 = 1;
/// `capacity_search = rank`.
pub const CAPACITY_SEARCH_RANK: u32 = 2;
/// `capacity_search = cores`.
pub const CAPACITY_SEARCH_CORES: u32 = 3;
/// `dst_group = load`.
pub const DST_GROUP_LOAD: u32 = 0;
/// `dst_group = types_near`.
pub const DST_GROUP_TYPES_NEAR: u32 = 1;
/// `dst_group = types`.
pub const DST_GROUP_TYPES: u32 = 2;
/// `dst_group = types_energy`.
pub const DST_GROUP_TYPES_ENERGY: u32 = 3;
/// `dst_group_cpus = all`.
pub const DST_GROUP_CPUS_ALL: u32 = 0;
/// `dst_group_cpus = allowed`.
pub const DST_GROUP_CPUS_ALLOWED: u32 = 1;
/// `governor = schedutil`.
pub const GOVERNOR_SCHEDUTIL: u32 = 0;
/// `governor = sched_dvfs`.
pub const GOVERNOR_SCHED_DVFS: u32 = 1;
/// `governor = sched_dvfs_v7`.
pub const GOVERNOR_SCHED_DVFS_V7: u32 = 2;
/// `governor = ondemand`.
pub const GOVERNOR_ONDEMAND: u32 = 3;
/// `governor = conservative`.
pub const GOVERNOR_CONSERVATIVE: u32 = 4;
/// `governor = performance`.
pub const GOVERNOR_PERFORMANCE: u32 = 5;
/// `governor = powersave`.
pub const GOVERNOR_POWERSAVE: u32 = 6;
/// `governor = userspace`.
pub const GOVERNOR_USERSPACE: u32 = 7;
/// `governor = interactive`.
pub const GOVERNOR_INTERACTIVE: u32 = 8;
/// `boost_form = rfc`.
pub const BOOST_FORM_RFC: u32 = 0;
/// `boost_form = later`.
pub const BOOST_FORM_LATER: u32 = 1;
/// `boost_form = hold`.
pub const BOOST_FORM_HOLD: u32 = 2;
/// `conservative_form = steps`.
pub const CONSERVATIVE_FORM_STEPS: u32 = 1;
/// `conservative_form = steps_if_idle`.
pub const CONSERVATIVE_FORM_STEPS_IF_IDLE: u32 = 2;
/// `conservative_form = stops_below`.
pub const CONSERVATIVE_FORM_STOPS_BELOW: u32 = 3;
/// `conservative_form = stops`.
pub const CONSERVATIVE_FORM_STOPS: u32 = 0;
/// `sampling_form = 4_5`.
pub const SAMPLING_FORM_4_5: u32 = 1;
/// `sampling_form = 6_12`.
pub const SAMPLING_FORM_6_12: u32 = 0;
/// `blocked_update = own`.
pub const BLOCKED_UPDATE_OWN: u32 = 0;
/// `blocked_update = scan`.
pub const BLOCKED_UPDATE_SCAN: u32 = 1;
/// `blocked_update = interval`.
pub const BLOCKED_UPDATE_INTERVAL: u32 = 2;
/// `blocked_update = lazy`.
pub const BLOCKED_UPDATE_LAZY: u32 = 3;
/// `newidle_own = free`.
pub const NEWIDLE_OWN_FREE: u32 = 0;
/// `newidle_own = counted`.
pub const NEWIDLE_OWN_COUNTED: u32 = 1;
/// `bandwidth = off`.
pub const BANDWIDTH_OFF: u32 = 0;
/// `bandwidth = group`.
pub const BANDWIDTH_GROUP: u32 = 1;
/// `bandwidth = task`.
pub const BANDWIDTH_TASK: u32 = 2;
/// `bandwidth_refill = expires_late`.
pub const BANDWIDTH_REFILL_EXPIRES_LATE: u32 = 0;
/// `bandwidth_refill = expires`.
pub const BANDWIDTH_REFILL_EXPIRES: u32 = 1;
/// `bandwidth_refill = quota`.
pub const BANDWIDTH_REFILL_QUOTA: u32 = 2;
/// `bandwidth_refill = burst`.
pub const BANDWIDTH_REFILL_BURST: u32 = 3;
/// `bandwidth_throttle = head`.
pub const BANDWIDTH_THROTTLE_HEAD: u32 = 0;
/// `bandwidth_throttle = tail`.
pub const BANDWIDTH_THROTTLE_TAIL: u32 = 1;
/// `bandwidth_throttle = retry`.
pub const BANDWIDTH_THROTTLE_RETRY: u32 = 2;
/// `bandwidth_throttle = at_once`.
pub const BANDWIDTH_THROTTLE_AT_ONCE: u32 = 3;
/// `bandwidth_slack = pushed`.
pub const BANDWIDTH_SLACK_PUSHED: u32 = 0;
/// `bandwidth_slack = kept`.
pub const BANDWIDTH_SLACK_KEPT: u32 = 1;
/// `bandwidth_time = throttled`.
pub const BANDWIDTH_TIME_THROTTLED: u32 = 0;
/// `bandwidth_time = waiting`.
pub const BANDWIDTH_TIME_WAITING: u32 = 1;
/// `bandwidth_phase = aligned`.
pub const BANDWIDTH_PHASE_ALIGNED: u32 = 0;
/// `bandwidth_phase = random`.
pub const BANDWIDTH_PHASE_RANDOM: u32 = 1;
/// `throttle_clock = task`.
pub const THROTTLE_CLOCK_TASK: u32 = 0;
/// `throttle_clock = pelt`.
pub const THROTTLE_CLOCK_PELT: u32 = 1;
/// `rt_search = first`.
pub const RT_SEARCH_FIRST: u32 = 0;
/// `rt_search = fits`.
pub const RT_SEARCH_FITS: u32 = 1;
/// `rt_search = spread`.
pub const RT_SEARCH_SPREAD: u32 = 2;
/// `rt_search = push`.
pub const RT_SEARCH_PUSH: u32 = 3;
/// `dl_search = latest`.
pub const DL_SEARCH_LATEST: u32 = 0;
/// `dl_search = first`.
pub const DL_SEARCH_FIRST: u32 = 1;
/// `dl_search = fits`.
pub const DL_SEARCH_FITS: u32 = 2;
/// `dl_search = spread`.
pub const DL_SEARCH_SPREAD: u32 = 3;
