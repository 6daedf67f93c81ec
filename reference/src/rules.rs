// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes between kernels, as plain enums (docs/rules/README.md).
//!
//! The names of switches and values equal those of `policy.h`; the defaults per kernel are written here a second time,
//! from the specification, so that a slip in either table is found.

/// Declares the enums, [`Rules`], and the mapping from names.
macro_rules! rules {
    ($($(#[$doc:meta])* $field:ident: $type:ident { $($name:literal => $variant:ident),+ $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $type {
                $(#[doc = concat!("Value `", $name, "`.")] $variant),+
            }

            impl $type {
                fn from_name(name: &str) -> Option<Self> {
                    match name {
                        $($name => Some(Self::$variant),)+
                        _ => None,
                    }
                }
            }
        )+

        /// One kernel's rule set, as far as this crate models it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Rules {
            $($(#[$doc])* pub $field: $type,)+
            /// Headroom above utilization, percent.
            pub headroom_pct: u64,
            /// Capacity that a utilization of 1024 needs.
            pub capacity_margin: u64,
        }

        impl Rules {
            /// Names of the switches, in the order of the fields.
            pub const SWITCHES: &[&str] = &[$(stringify!($field)),+];

            /// Builds rules from the value name of every switch; the error names the switch that was not understood.
            pub fn from_names<'a>(mut value: impl FnMut(&str) -> &'a str) -> Result<Self, String> {
                Ok(Self {
                    $($field: {
                        let name = value(stringify!($field));
                        $type::from_name(name).ok_or_else(|| format!("{}={name}", stringify!($field)))?
                    },)+
                    headroom_pct: 25,
                    capacity_margin: 1280,
                })
            }
        }
    };
}

rules! {
    /// Does the clock slow down, or is the contribution scaled?
    invariance: Invariance { "contribution" => Contribution, "clock" => Clock }
    /// Constant LOAD_AVG_MAX, or the maximum at the present position.
    divisor: Divisor { "constant" => Constant, "moving" => Moving }
    /// The load sum of an entity that joins.
    attach_load_sum: AttachLoadSum { "exact" => Exact, "least_one" => LeastOne }
    /// Are sums kept at or above average times MIN_DIVIDER, or made anew, after a subtraction?
    sum_floor: SumFloor { "off" => Off, "on" => On, "wraps" => Wraps, "rebuilt" => Rebuilt, "rebuilt_load" => RebuiltLoad }
    /// Way in which the sums follow averages that are carried up.
    propagation: Propagation { "full_period" => FullPeriod, "rebuilt" => Rebuilt, "difference" => Difference, "rebuilt_changed" => RebuiltChanged }
    /// Half of what may a new task have at most?
    init_util: InitUtil { "scale" => Scale, "capacity" => Capacity }
    /// Unit of the weight in a new task's utilization.
    init_weight: InitWeight { "unscaled" => Unscaled, "scaled" => Scaled }
    /// Moment at which the clock of a CPU that goes idle catches up.
    idle_clock: IdleClock { "later" => Later, "at_once" => AtOnce }
    /// The clock that the time of a throttled queue is taken from.
    throttle_clock: ThrottleClock { "task" => Task, "pelt" => Pelt }
    /// Search for a CPU of a real-time task that cannot run where it was.
    rt_search: RtSearch { "first" => First, "fits" => Fits, "spread" => Spread, "push" => Push }
    /// Search for a CPU of a deadline task that cannot run where it was.
    dl_search: DlSearch { "latest" => Latest, "first" => First, "fits" => Fits, "spread" => Spread }
    /// Part of the kernel that says that a trip is reached.
    thermal_trips: ThermalTrips { "governor" => Governor, "core" => Core }
    /// step_wise while it gets cooler.
    step_wise: StepWise { "down" => Down, "hold" => Hold, "lower" => Lower, "release" => Release }
    /// Division of power by power_allocator, and the errors that its sum counts.
    ipa: Ipa { "truncates" => Truncates, "rounds" => Rounds, "idle_max" => IdleMax }
    /// Load of a CPU as power_allocator takes it.
    cooling_load: CoolingLoad { "idle_time" => IdleTime, "utilization" => Utilization }
    /// Effect of the end of a group's period on the pool and on the runtime that queues hold.
    bandwidth_refill: Refill { "expires_late" => ExpiresLate, "expires" => Expires, "quota" => Quota, "burst" => Burst }
    /// Place of a throttled queue in the list, and a second request to the pool.
    bandwidth_throttle: ThrottleForm { "head" => Head, "tail" => Tail, "retry" => Retry, "at_once" => AtOnce }
    /// A second return of runtime before the first is handed out.
    bandwidth_slack: SlackForm { "pushed" => Pushed, "kept" => Kept }
    /// Time that counts as throttled.
    bandwidth_time: ThrottledTime { "throttled" => Throttled, "waiting" => Waiting }
    /// Is the time an idle CPU did not account taken off a task that leaves it?
    migration_lag: MigrationLag { "off" => Off, "on" => On }
    /// Way in which a task leaves that moves while it is runnable.
    queued_migrant: QueuedMigrant { "removed" => Removed, "detached" => Detached }
    /// Is a group's load refreshed at most once per ms and queue?
    tg_limit: TgLimit { "off" => Off, "on" => On }
    /// Does a queue stay in the walk while its part of the group's load stands?
    decayed_contrib: DecayedContrib { "off" => Off, "on" => On }
    /// Load from which a CPU's share is worked out.
    shares_load: SharesLoad { "weight" => Weight, "larger" => Larger }
    /// Does an empty group queue keep its entity's weight?
    shares_keep_empty: SharesKeepEmpty { "off" => Off, "on" => On }
    /// Does a group's entity get the weight it has once more?
    shares_set_same: SharesSetSame { "off" => Off, "on" => On }
    /// RT utilization signal.
    rt_signal: RtSignal { "off" => Off, "on" => On }
    /// DL utilization signal.
    dl_signal: DlSignal { "off" => Off, "on" => On }
    /// IRQ utilization signal.
    irq_signal: IrqSignal { "off" => Off, "on" => On }
    /// Hardware (thermal) pressure signal.
    hw_signal: HwSignal { "off" => Off, "on" => On }
    /// Capacity of a CPU that is left for fair tasks.
    capacity_left: CapacityLeft { "rt_share" => RtShare, "used" => Used, "actual" => Actual }
    /// Variant of the utilization estimate.
    util_est: UtilEst { "off" => Off, "u1" => U1, "u2" => U2, "u3" => U3, "u4" => U4, "u1_any" => U1Any }
    /// Is the sample taken before the entity is updated to now?
    util_est_stale: UtilEstStale { "off" => Off, "on" => On }
    /// Moment at which a task's estimate leaves the CPU's.
    estimate_leaves: EstimateLeaves { "last" => Last, "first" => First }
    /// CFS or EEVDF?
    fair_class: FairClass { "cfs" => Cfs, "eevdf" => Eevdf }
    /// Does an entity that is not eligible stay queued when it sleeps?
    delayed_dequeue: DelayedDequeue { "off" => Off, "on" => On }
    /// Is a weight's virtual time multiplied with its inverse, or divided?
    virtual_time: VirtualTime { "multiply" => Multiply, "divide" => Divide }
    /// Length of a request.
    base_slice: BaseSlice { "750_us" => Us750, "700_us" => Us700 }
    /// May a task ask for a slice?
    custom_slice: CustomSlice { "off" => Off, "on" => On }
    /// Does what is left of a request move along?
    rel_deadline: RelDeadline { "off" => Off, "on" => On }
    /// A new task's first request.
    initial_slice: InitialSlice { "whole" => Whole, "half" => Half }
    /// CFS slices.
    cfs_slice: CfsSlice { "plain" => Plain, "floored" => Floored }
    /// CFS places a long sleeper without a look at its old place.
    long_sleeper: LongSleeper { "off" => Off, "on" => On }
    /// CFS gives SCHED_IDLE less credit.
    idle_credit: IdleCredit { "off" => Off, "on" => On }
    /// Are there idle groups, and what is looked at first?
    group_idle: GroupIdle { "off" => Off, "tasks_first" => TasksFirst, "levels" => Levels }
    /// Zero of the sums of EEVDF.
    fair_zero: FairZero { "min_vruntime" => MinVruntime, "average" => Average }
    /// Weights in the sums of EEVDF.
    fair_weight: FairWeight { "down" => Down, "full" => Full }
    /// Most lag.
    lag_limit: LagLimit { "own_slice" => OwnSlice, "longest_slice" => LongestSlice }
    /// Time for which the running entity is safe from wake-ups.
    run_to_parity: RunToParity {
        "request" => Request, "short" => Short, "shortest" => Shortest, "shortest_each" => ShortestEach,
    }
    /// Is a new task looked at?
    fork_preempts: ForkPreempts { "off" => Off, "on" => On }
    /// Sched_yield().
    fair_yield: FairYield { "deadline" => Deadline, "forfeit" => Forfeit }
    /// Changes by another weight.
    fair_reweight: FairReweight {
        "request" => Request, "average" => Average, "anew" => Anew, "lag" => Lag, "anew_protected" => AnewProtected,
        "others" => Others,
    }
    /// Lag of an entity whose dequeue was delayed.
    delayed_lag: DelayedLag { "zero" => Zero, "kept" => Kept }
    /// Does runnable_avg raise the utilization for frequency selection?
    runnable_boost: RunnableBoost { "off" => Off, "on" => On }
    /// Meaning of the runnable signal: tasks without weights, or load (to 5.4).
    runnable_signal: RunnableSignal { "off" => Off, "on" => On, "load" => Load, "load_whole" => LoadWhole }
    /// Request of an RT task.
    rt_rule: RtRule {
        "flag_max" => FlagMax, "runnable_max" => RunnableMax,
        "runnable_max_unless_uclamp" => RunnableMaxUnlessUclamp, "none" => None,
    }
    /// Is RT utilization added to the fair request?
    rt_in_sum: RtInSum { "off" => Off, "on" => On }
    /// Is the utilization of a fair class without queued tasks left out?
    cfs_if_queued: CfsIfQueued { "off" => Off, "on" => On }
    /// Request of DL tasks.
    dl_rule: DlRule { "flag_max" => FlagMax, "bw_on_top" => BwOnTop, "bw_floor" => BwFloor }
    /// Order of sum, clamp and IRQ scaling.
    perf_form: PerfForm {
        "flags" => Flags, "bw" => Bw, "rt_sum" => RtSum,
        "clamp_then_sum" => ClampThenSum, "sum_then_clamp" => SumThenClamp,
    }
    /// Is the boost limited by the clamps?
    uclamp_iowait: UclampIowait { "off" => Off, "on" => On }
    /// Place at which the 25 % are added.
    headroom: Headroom { "frequency" => Frequency, "utilization" => Utilization, "before_clamps" => BeforeClamps }
    /// Frequency for a request of the whole scale.
    ref_freq: RefFreq { "highest" => Highest, "capacity" => Capacity }
    /// Margin above utilization, and the part of a CPU that a utilization may fill.
    margins: Margins { "fixed" => Fixed, "scaled" => Scaled, "tick" => Tick }
    /// Moment at which the rate-limit window is re-armed.
    gate: Gate {
        "r0a" => R0a, "r0b" => R0b, "r1_trailing" => R1Trailing, "r1_sliding" => R1Sliding, "r1_asym" => R1Asym,
        "r2_linear" => R2Linear, "r2_hyperbolic" => R2Hyperbolic, "up_down" => UpDown,
    }
    /// Do RT and DL increases pass the window?
    gate_bypass: GateBypass { "off" => Off, "r3a" => R3a, "r3b" => R3b }
    /// Is the frequency lowered to the recent maximum only?
    gate_peak: GatePeak { "off" => Off, "on" => On }
    /// Do decreases wait twice as long?
    gate_asymmetry: GateAsymmetry { "off" => Off, "on" => On, "falls" => Falls }
    /// Rate limit derived from the driver's latency.
    rate_limit_default: RateLimitDefault {
        "latency_x1000" => LatencyX1000, "capped_10ms" => Capped10ms,
        "capped_2ms" => Capped2ms, "one_and_half" => OneAndHalf,
    }
    /// Form of the I/O-wait boost.
    iowait_boost: IowaitBoost {
        "off" => Off, "jump" => Jump, "frequency" => Frequency, "frequency_shared" => FrequencyShared,
        "frequency_reset" => FrequencyReset, "capacity" => Capacity,
    }
    /// DL increase that ignores the rate limit.
    dl_bypass: DlBypass { "off" => Off, "bandwidth" => Bandwidth, "floor" => Floor }
    /// Effects of new limits and the deadline override beside opening the gate.
    limits_update: LimitsUpdate {
        "forget" => Forget, "compare" => Compare, "ask_driver" => AskDriver, "repeat" => Repeat,
    }
    /// Hold filter of single-CPU policies.
    hold: Hold {
        "off" => Off, "keep_cache" => KeepCache, "drop_cache" => DropCache, "drop_unless_needed" => DropUnlessNeeded,
        "restore_cache" => RestoreCache, "restore_unless_capped" => RestoreUnlessCapped,
    }
    /// Is a CPU whose last hook is older than a tick skipped?
    stale_cpu: StaleCpu { "skip" => Skip, "skip_fair" => SkipFair, "count" => Count }
    /// May a request arrive while the slow path is pending?
    while_busy: WhileBusy { "refuse" => Refuse, "overwrite" => Overwrite }
    /// CPUs that may drive a domain from outside.
    remote: Remote { "local_only" => LocalOnly, "fast_only" => FastOnly, "all" => All }
    /// Does the average update itself call the hook?
    hook_in_average: HookInAverage { "off" => Off, "on" => On }
    /// Average updates that call.
    hook_decay: HookDecay { "off" => Off, "local" => Local, "remote" => Remote }
    /// Calls at attach and detach.
    hook_attach: HookAttach { "off" => Off, "on" => On }
    /// Explicit calls at the tick.
    hook_tick: HookTick { "off" => Off, "on" => On }
    /// Calls of the RT class.
    hook_rt: HookRt { "accounting" => Accounting, "enqueue" => Enqueue, "off" => Off }
    /// Calls of the deadline class.
    hook_dl: HookDl { "accounting" => Accounting, "bandwidth" => Bandwidth, "off" => Off }
    /// Calls of the blocked walk.
    hook_blocked: HookBlocked { "off" => Off, "per_cfs_rq" => PerCfsRq, "once" => Once }
    /// Calls for I/O waiters.
    hook_iowait: HookIowait { "off" => Off, "on" => On }
    /// Are the tasks in a group below the root?
    /// Which of them reach the governor.
    hook_filter: HookFilter { "h0" => H0, "h1" => H1, "h2" => H2, "h3" => H3, "h4" => H4, "composite" => Composite }
    /// Utilization clamps.
    uclamp: Uclamp {
        "off" => Off, "max" => Max, "group_throttle" => GroupThrottle, "sum" => Sum, "bias" => Bias, "bias_weighted" => BiasWeighted, "debt" => Debt,
    }
    /// Effect of a group's clamps on a task's.
    uclamp_limit: UclampLimit { "ceiling" => Ceiling, "range" => Range }
    /// Since when clamps count.
    uclamp_used: UclampUsed { "always" => Always, "once_asked" => OnceAsked }
    /// A CPU that had no task yet.
    uclamp_first: UclampFirst { "zero" => Zero, "left_over" => LeftOver }
    /// A group whose files were not written.
    uclamp_new_group: UclampNewGroup { "parents" => Parents, "own" => Own }
    /// The mark of an idle CPU when the group of its only task changes.
    uclamp_change: UclampChange { "keeps_mark" => KeepsMark, "clears_mark" => ClearsMark }
}

/// Declares [`Numbers`] from the names of parameters.
macro_rules! numbers {
    ($($(#[$doc:meta])* $field:ident,)+) => {
        /// The numbers of a policy; [`FROM_PLATFORM`] leaves one to the platform.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Numbers {
            $($(#[$doc])* pub $field: u64,)+
        }

        impl Numbers {
            /// From the value of every parameter.
            pub fn from_values(mut value: impl FnMut(&str) -> u64) -> Self {
                Self { $($field: value(stringify!($field)),)+ }
            }
        }
    };
}

/// A number that the platform knows.
pub const FROM_PLATFORM: u64 = 0xffff_ffff;

numbers! {
    /// Headroom above utilization.
    headroom_pct,
    /// Capacity that a utilization needs.
    capacity_margin,
    /// Smallest change of utilization that is reported.
    hook_epsilon,
    /// Cost of a transition.
    gate_cost_ns,
    /// Kappa.
    gate_kappa,
    /// W_min.
    gate_window_min_us,
    /// W_max.
    gate_window_max_us,
    /// D_min.
    gate_spacing_min_us,
    /// D_max.
    gate_spacing_max_us,
    /// E0.
    gate_error_low,
    /// E1.
    gate_error_high,
    /// Limit of increases.
    up_rate_limit_us,
    /// Limit of decreases.
    down_rate_limit_us,
    /// Sched-DVFS's window.
    sched_dvfs_throttle_us,
    /// Time between samples.
    sampling_rate_us,
    /// Load above which the frequency rises.
    up_threshold,
    /// Periods at the maximum; samples between looks downwards.
    sampling_down_factor,
    /// Load below which conservative lowers the frequency.
    down_threshold,
    /// Conservative's step.
    freq_step,
    /// ondemand's bias.
    powersave_bias,
    /// Nice time is idle.
    ignore_nice_load,
    /// Waiting for I/O is busy.
    io_is_busy,
    /// The one frequency of userspace.
    userspace_khz,
    /// interactive: `hispeed_khz`.
    hispeed_khz,
    /// interactive: `go_hispeed_load`.
    go_hispeed_load,
    /// interactive: `target_load`.
    target_load,
    /// interactive: `target_load_2_from_khz`.
    target_load_2_from_khz,
    /// interactive: `target_load_2`.
    target_load_2,
    /// interactive: `target_load_3_from_khz`.
    target_load_3_from_khz,
    /// interactive: `target_load_3`.
    target_load_3,
    /// interactive: `above_hispeed_delay_us`.
    above_hispeed_delay_us,
    /// interactive: `above_hispeed_delay_2_from_khz`.
    above_hispeed_delay_2_from_khz,
    /// interactive: `above_hispeed_delay_2_us`.
    above_hispeed_delay_2_us,
    /// interactive: `above_hispeed_delay_3_from_khz`.
    above_hispeed_delay_3_from_khz,
    /// interactive: `above_hispeed_delay_3_us`.
    above_hispeed_delay_3_us,
    /// interactive: `min_sample_time_us`.
    min_sample_time_us,
    /// interactive: `timer_rate_us`.
    timer_rate_us,
    /// interactive: `timer_slack_us`.
    timer_slack_us,
    /// interactive: `boost_val`.
    boost_val,
    /// interactive: `boostpulse_duration_us`.
    boostpulse_duration_us,
    /// Pause between refreshes.
    blocked_update_us,
    /// A queue's portion of its group's pool.
    bandwidth_slice_us,
    /// The fair server's runtime.
    fair_server_runtime_us,
    /// Its period.
    fair_server_period_us,
}

/// Kernels that have a profile, oldest first.
pub const PROFILES: [&str; 12] =
    ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

/// Runs of equal defaults: "value" holds from the named kernel on, until the next entry.
const HISTORY: &[(&str, &[(&str, &str)])] = &[
    ("invariance", &[("4.12", "contribution"), ("5.4", "clock")]),
    ("divisor", &[("4.12", "constant"), ("4.16", "moving")]),
    ("attach_load_sum", &[("4.12", "exact"), ("5.10", "least_one")]),
    ("sum_floor", &[("4.12", "off"), ("5.10", "rebuilt"), ("5.15", "rebuilt_load"), ("6.1", "wraps"), ("7.2", "on")]),
    (
        "propagation",
        &[("4.12", "full_period"), ("5.10", "rebuilt"), ("5.15", "rebuilt_changed"), ("6.1", "difference")],
    ),
    ("init_util", &[("4.12", "scale"), ("4.19", "capacity")]),
    ("init_weight", &[("4.12", "unscaled"), ("6.12", "scaled")]),
    ("idle_clock", &[("4.12", "later"), ("6.1", "at_once")]),
    ("migration_lag", &[("4.12", "off"), ("6.1", "on")]),
    ("throttle_clock", &[("4.12", "task"), ("5.10", "pelt")]),
    ("rt_search", &[("4.12", "first"), ("5.10", "fits"), ("5.15", "spread"), ("6.12", "push")]),
    ("dl_search", &[("4.12", "latest"), ("4.16", "first"), ("5.10", "fits"), ("5.15", "spread")]),
    ("thermal_trips", &[("4.12", "governor"), ("6.12", "core")]),
    ("step_wise", &[("4.12", "down"), ("4.16", "hold"), ("6.12", "release"), ("6.18", "lower"), ("7.2", "release")]),
    ("ipa", &[("4.12", "truncates"), ("5.15", "rounds"), ("6.18", "idle_max")]),
    ("cooling_load", &[("4.12", "idle_time"), ("5.15", "utilization")]),
    ("bandwidth_refill", &[("4.12", "expires_late"), ("4.19", "expires"), ("5.4", "quota"), ("5.15", "burst")]),
    ("bandwidth_throttle", &[("4.12", "head"), ("4.19", "tail"), ("5.10", "retry"), ("7.2", "at_once")]),
    ("bandwidth_slack", &[("4.12", "pushed"), ("5.4", "kept")]),
    ("bandwidth_time", &[("4.12", "throttled"), ("6.6", "waiting")]),
    ("queued_migrant", &[("4.12", "removed"), ("4.16", "detached")]),
    ("tg_limit", &[("4.12", "off"), ("6.8", "on")]),
    ("decayed_contrib", &[("4.12", "on"), ("4.16", "off"), ("6.12", "on")]),
    ("shares_load", &[("4.12", "weight"), ("4.16", "larger")]),
    ("shares_keep_empty", &[("4.12", "off"), ("6.12", "on")]),
    ("shares_set_same", &[("4.12", "on"), ("6.8", "off")]),
    ("rt_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("dl_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("irq_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("hw_signal", &[("4.12", "off"), ("5.10", "on")]),
    ("capacity_left", &[("4.12", "rt_share"), ("4.19", "used"), ("6.12", "actual")]),
    ("util_est", &[("4.12", "off"), ("4.19", "u1_any"), ("5.4", "u1"), ("5.10", "u2"), ("6.8", "u3"), ("6.18", "u4")]),
    ("util_est_stale", &[("4.12", "off"), ("6.12", "on"), ("7.2", "off")]),
    ("estimate_leaves", &[("4.12", "last"), ("5.10", "first")]),
    ("runnable_boost", &[("4.12", "off"), ("6.6", "on")]),
    ("runnable_signal", &[("4.12", "load_whole"), ("4.16", "load"), ("5.10", "on")]),
    ("rt_rule", &[("4.12", "flag_max"), ("4.19", "runnable_max"), ("5.4", "runnable_max_unless_uclamp")]),
    ("rt_in_sum", &[("4.12", "off"), ("4.19", "on")]),
    ("cfs_if_queued", &[("4.12", "off")]),
    ("dl_rule", &[("4.12", "flag_max"), ("4.16", "bw_on_top"), ("6.8", "bw_floor")]),
    ("uclamp_iowait", &[("4.12", "off"), ("5.15", "on"), ("6.8", "off")]),
    (
        "perf_form",
        &[("4.12", "flags"), ("4.16", "bw"), ("4.19", "rt_sum"), ("5.4", "clamp_then_sum"), ("6.8", "sum_then_clamp")],
    ),
    ("headroom", &[("4.12", "frequency"), ("5.15", "utilization"), ("6.8", "before_clamps")]),
    ("ref_freq", &[("4.12", "highest"), ("6.8", "capacity")]),
    ("margins", &[("4.12", "fixed")]),
    ("gate", &[("4.12", "r0b")]),
    ("gate_bypass", &[("4.12", "off")]),
    ("gate_peak", &[("4.12", "off")]),
    ("gate_asymmetry", &[("4.12", "off")]),
    ("rate_limit_default", &[("4.12", "latency_x1000"), ("4.16", "capped_10ms"), ("6.12", "one_and_half")]),
    (
        "iowait_boost",
        &[("4.12", "jump"), ("4.16", "frequency_shared"), ("4.19", "frequency_reset"), ("5.4", "capacity")],
    ),
    ("dl_bypass", &[("4.12", "off"), ("4.19", "bandwidth"), ("6.8", "floor")]),
    (
        "limits_update",
        &[("4.12", "forget"), ("4.19", "compare"), ("5.10", "ask_driver"), ("6.6", "repeat"), ("6.12", "ask_driver")],
    ),
    (
        "hold",
        &[
            ("4.12", "keep_cache"),
            ("4.16", "drop_cache"),
            ("5.4", "drop_unless_needed"),
            ("5.10", "restore_cache"),
            ("6.1", "restore_unless_capped"),
        ],
    ),
    ("stale_cpu", &[("4.12", "skip"), ("4.16", "skip_fair"), ("4.19", "count")]),
    ("while_busy", &[("4.12", "refuse"), ("4.19", "overwrite")]),
    ("remote", &[("4.12", "local_only"), ("4.16", "fast_only"), ("5.10", "all")]),
    ("hook_in_average", &[("4.12", "on"), ("5.10", "off")]),
    ("hook_decay", &[("4.12", "local"), ("4.16", "remote")]),
    ("hook_attach", &[("4.12", "on")]),
    ("hook_tick", &[("4.12", "off")]),
    ("hook_rt", &[("4.12", "accounting"), ("4.19", "enqueue")]),
    ("hook_dl", &[("4.12", "accounting"), ("4.16", "bandwidth")]),
    ("hook_blocked", &[("4.12", "per_cfs_rq"), ("5.10", "once")]),
    ("hook_iowait", &[("4.12", "on")]),
    ("hook_filter", &[("4.12", "h0")]),
    ("fair_class", &[("4.12", "cfs"), ("6.6", "eevdf")]),
    ("delayed_dequeue", &[("4.12", "off"), ("6.12", "on")]),
    ("virtual_time", &[("4.12", "multiply"), ("7.2", "divide")]),
    ("base_slice", &[("4.12", "750_us"), ("6.12", "700_us")]),
    ("custom_slice", &[("4.12", "off"), ("6.12", "on")]),
    ("rel_deadline", &[("4.12", "off"), ("6.12", "on")]),
    ("initial_slice", &[("4.12", "whole"), ("6.12", "half")]),
    ("cfs_slice", &[("4.12", "plain"), ("5.10", "floored"), ("6.6", "plain")]),
    ("long_sleeper", &[("4.12", "off"), ("5.10", "on"), ("6.6", "off")]),
    ("idle_credit", &[("4.12", "off"), ("6.1", "on"), ("6.6", "off")]),
    ("group_idle", &[("4.12", "off"), ("5.15", "tasks_first"), ("6.12", "levels")]),
    ("fair_zero", &[("4.12", "min_vruntime"), ("6.12", "average"), ("6.18", "min_vruntime"), ("7.2", "average")]),
    ("fair_weight", &[("4.12", "down"), ("7.2", "full")]),
    ("lag_limit", &[("4.12", "own_slice"), ("7.2", "longest_slice")]),
    ("run_to_parity", &[("4.12", "request"), ("6.12", "short"), ("6.18", "shortest"), ("7.2", "shortest_each")]),
    ("fork_preempts", &[("4.12", "on"), ("7.2", "off")]),
    ("fair_yield", &[("4.12", "deadline"), ("6.12", "forfeit")]),
    ("fair_reweight", &[("4.12", "request"), ("6.8", "others"), ("6.12", "average"), ("6.18", "anew"), ("7.2", "lag")]),
    ("delayed_lag", &[("4.12", "zero"), ("7.2", "kept")]),
    ("uclamp", &[("4.12", "off"), ("5.4", "max")]),
    ("uclamp_limit", &[("4.12", "ceiling"), ("5.10", "range")]),
    ("uclamp_used", &[("4.12", "always"), ("5.10", "once_asked")]),
    ("uclamp_first", &[("4.12", "zero"), ("5.10", "left_over")]),
    ("uclamp_new_group", &[("4.12", "parents"), ("5.4", "own")]),
    ("uclamp_change", &[("4.12", "keeps_mark"), ("5.10", "clears_mark")]),
];

fn profile_index(profile: &str) -> Option<usize> {
    PROFILES.iter().position(|&p| p == profile)
}

/// Default of one switch in one kernel.
fn default_value(switch: &str, profile: usize) -> &'static str {
    let (_, history) = HISTORY.iter().find(|(name, _)| *name == switch).expect("every switch has a history");
    let in_force = history.iter().rfind(|(since, _)| profile_index(since) <= Some(profile));
    in_force.expect("every history starts with the oldest profile").1
}

impl Rules {
    /// Rules of the kernel named in [`PROFILES`].
    pub fn profile(name: &str) -> Option<Self> {
        let index = profile_index(name)?;
        Some(Self::from_names(|switch| default_value(switch, index)).expect("the history uses known names"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_every_switch() {
        assert_eq!(HISTORY.len(), Rules::SWITCHES.len());
        for profile in PROFILES {
            assert!(Rules::profile(profile).is_some(), "{profile}");
        }
        assert!(Rules::profile("3.8").is_none());
    }

    #[test]
    fn an_unknown_value_is_named() {
        assert_eq!(Rules::from_names(|_| "sideways"), Err("invariance=sideways".into()));
    }
}
