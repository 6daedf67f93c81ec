// SPDX-License-Identifier: GPL-2.0-only
//! What changes between kernels, as plain enums (docs/spec/README.md).
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
                })
            }
        }
    };
}

rules! {
    /// A.7: does the clock slow down, or is the contribution scaled?
    invariance: Invariance { "contribution" => Contribution, "clock" => Clock }
    /// A.5: constant LOAD_AVG_MAX, or the maximum at the present position.
    divisor: Divisor { "constant" => Constant, "moving" => Moving }
    /// A.10: the load sum of an entity that joins.
    attach_load_sum: AttachLoadSum { "exact" => Exact, "least_one" => LeastOne }
    /// A.8: are sums kept at or above average times MIN_DIVIDER, or made anew, after a subtraction?
    sum_floor: SumFloor { "off" => Off, "on" => On, "wraps" => Wraps, "rebuilt" => Rebuilt }
    /// A.11: how the sums follow averages that are carried up.
    propagation: Propagation { "full_period" => FullPeriod, "rebuilt" => Rebuilt, "difference" => Difference }
    /// A.13: half of what may a new task have at most?
    init_util: InitUtil { "scale" => Scale, "capacity" => Capacity }
    /// A.13: unit of the weight in a new task's utilization.
    init_weight: InitWeight { "unscaled" => Unscaled, "scaled" => Scaled }
    /// A.7.2: when does the clock of a CPU that goes idle catch up?
    idle_clock: IdleClock { "later" => Later, "at_once" => AtOnce }
    /// A.7.3: the clock that the time of a throttled queue is taken from.
    throttle_clock: ThrottleClock { "task" => Task, "pelt" => Pelt }
    /// Where a real-time task goes that cannot run where it was.
    rt_search: RtSearch { "first" => First, "fits" => Fits, "spread" => Spread, "push" => Push }
    /// Where a deadline task goes that cannot run where it was.
    dl_search: DlSearch { "latest" => Latest, "first" => First, "fits" => Fits, "spread" => Spread }
    /// Who says that a trip is reached.
    thermal_trips: ThermalTrips { "governor" => Governor, "core" => Core }
    /// step_wise while it gets cooler.
    step_wise: StepWise { "down" => Down, "hold" => Hold, "lower" => Lower, "release" => Release }
    /// How power_allocator divides, and what its sum of errors counts.
    ipa: Ipa { "truncates" => Truncates, "rounds" => Rounds, "idle_max" => IdleMax }
    /// What power_allocator takes for a CPU's load.
    cooling_load: CoolingLoad { "idle_time" => IdleTime, "utilization" => Utilization }
    /// What the end of a group's period does to the pool and to what queues hold.
    bandwidth_refill: Refill { "expires_late" => ExpiresLate, "expires" => Expires, "quota" => Quota, "burst" => Burst }
    /// Where a throttled queue stands, and whether it asks the pool once more.
    bandwidth_throttle: ThrottleForm { "head" => Head, "tail" => Tail, "retry" => Retry, "at_once" => AtOnce }
    /// A second return of runtime before the first is handed out.
    bandwidth_slack: SlackForm { "pushed" => Pushed, "kept" => Kept }
    /// What counts as throttled time.
    bandwidth_time: ThrottledTime { "throttled" => Throttled, "waiting" => Waiting }
    /// A.13: is the time an idle CPU did not account taken off a task that leaves it?
    migration_lag: MigrationLag { "off" => Off, "on" => On }
    /// A.13: how a task leaves that moves while it is runnable.
    queued_migrant: QueuedMigrant { "removed" => Removed, "detached" => Detached }
    /// A.12: is a group's load refreshed at most once per ms and queue?
    tg_limit: TgLimit { "off" => Off, "on" => On }
    /// A.12: does a queue stay in the walk while its part of the group's load stands?
    decayed_contrib: DecayedContrib { "off" => Off, "on" => On }
    /// A.12: what a CPU's share is worked out from.
    shares_load: SharesLoad { "weight" => Weight, "larger" => Larger }
    /// A.12: does an empty group queue keep its entity's weight?
    shares_keep_empty: SharesKeepEmpty { "off" => Off, "on" => On }
    /// A.12: does a group's entity get the weight it has once more?
    shares_set_same: SharesSetSame { "off" => Off, "on" => On }
    /// F.2: RT utilization signal.
    rt_signal: RtSignal { "off" => Off, "on" => On }
    /// F.2: DL utilization signal.
    dl_signal: DlSignal { "off" => Off, "on" => On }
    /// A.7.4: IRQ utilization signal.
    irq_signal: IrqSignal { "off" => Off, "on" => On }
    /// F.2: hardware (thermal) pressure signal.
    hw_signal: HwSignal { "off" => Off, "on" => On }
    /// F.4: what is left of a CPU for fair tasks.
    capacity_left: CapacityLeft { "rt_share" => RtShare, "used" => Used, "actual" => Actual }
    /// A.15: variant of the utilization estimate.
    util_est: UtilEst { "off" => Off, "u1" => U1, "u2" => U2, "u3" => U3, "u4" => U4, "u1_any" => U1Any }
    /// A.15, ordering trap: is the sample taken before the entity is brought up to now?
    util_est_stale: UtilEstStale { "off" => Off, "on" => On }
    /// A.15: when a task's estimate leaves the CPU's.
    estimate_leaves: EstimateLeaves { "last" => Last, "first" => First }
    /// J.2: CFS or EEVDF?
    fair_class: FairClass { "cfs" => Cfs, "eevdf" => Eevdf }
    /// J.2: does an entity that is not eligible stay queued when it sleeps?
    delayed_dequeue: DelayedDequeue { "off" => Off, "on" => On }
    /// J.2: is a weight's virtual time multiplied with its inverse, or divided?
    virtual_time: VirtualTime { "multiply" => Multiply, "divide" => Divide }
    /// J.2: length of a request.
    base_slice: BaseSlice { "750_us" => Us750, "700_us" => Us700 }
    /// J.2: may a task ask for a slice?
    custom_slice: CustomSlice { "off" => Off, "on" => On }
    /// J.2: does what is left of a request move along?
    rel_deadline: RelDeadline { "off" => Off, "on" => On }
    /// J.2: a new task's first request.
    initial_slice: InitialSlice { "whole" => Whole, "half" => Half }
    /// J.2: CFS slices.
    cfs_slice: CfsSlice { "plain" => Plain, "floored" => Floored }
    /// J.2: CFS places a long sleeper without a look at its old place.
    long_sleeper: LongSleeper { "off" => Off, "on" => On }
    /// J.2: CFS gives SCHED_IDLE less credit.
    idle_credit: IdleCredit { "off" => Off, "on" => On }
    /// J.2: are there idle groups, and what is looked at first?
    group_idle: GroupIdle { "off" => Off, "tasks_first" => TasksFirst, "levels" => Levels }
    /// J.2: what the sums of EEVDF are relative to.
    fair_zero: FairZero { "min_vruntime" => MinVruntime, "average" => Average }
    /// J.2: weights in the sums of EEVDF.
    fair_weight: FairWeight { "down" => Down, "full" => Full }
    /// J.2: most lag.
    lag_limit: LagLimit { "own_slice" => OwnSlice, "longest_slice" => LongestSlice }
    /// J.2: how long the running entity is safe from wake-ups.
    run_to_parity: RunToParity {
        "request" => Request, "short" => Short, "shortest" => Shortest, "shortest_each" => ShortestEach,
    }
    /// J.2: is a new task looked at?
    fork_preempts: ForkPreempts { "off" => Off, "on" => On }
    /// J.2: sched_yield().
    fair_yield: FairYield { "deadline" => Deadline, "forfeit" => Forfeit }
    /// J.2: what another weight changes.
    fair_reweight: FairReweight {
        "request" => Request, "average" => Average, "anew" => Anew, "lag" => Lag, "anew_protected" => AnewProtected,
    }
    /// J.2: lag of an entity whose dequeue was delayed.
    delayed_lag: DelayedLag { "zero" => Zero, "kept" => Kept }
    /// A.17: does runnable_avg raise the utilization for frequency selection?
    runnable_boost: RunnableBoost { "off" => Off, "on" => On }
    /// A.1: what the runnable signal is: tasks without weights, or load (to 5.4).
    runnable_signal: RunnableSignal { "off" => Off, "on" => On, "load" => Load, "load_whole" => LoadWhole }
    /// F.7: what an RT task asks for.
    rt_rule: RtRule {
        "flag_max" => FlagMax, "runnable_max" => RunnableMax,
        "runnable_max_unless_uclamp" => RunnableMaxUnlessUclamp, "none" => None,
    }
    /// F.3: is RT utilization added to the fair request?
    rt_in_sum: RtInSum { "off" => Off, "on" => On }
    /// B.5 (4.17): is the utilization of a fair class without queued tasks left out?
    cfs_if_queued: CfsIfQueued { "off" => Off, "on" => On }
    /// F.6: what DL asks for.
    dl_rule: DlRule { "flag_max" => FlagMax, "bw_on_top" => BwOnTop, "bw_floor" => BwFloor }
    /// B.4, B.5: order of sum, clamp and IRQ scaling.
    perf_form: PerfForm {
        "flags" => Flags, "bw" => Bw, "rt_sum" => RtSum,
        "clamp_then_sum" => ClampThenSum, "sum_then_clamp" => SumThenClamp,
    }
    /// B.7: is the boost limited by the clamps?
    uclamp_iowait: UclampIowait { "off" => Off, "on" => On }
    /// B.4, B.6: where the 25 % are added.
    headroom: Headroom { "frequency" => Frequency, "utilization" => Utilization, "before_clamps" => BeforeClamps }
    /// C.8: what is added above utilization, and what a CPU is large enough for.
    margins: Margins { "fixed" => Fixed, "scaled" => Scaled, "tick" => Tick }
    /// B.3: when the rate-limit window is re-armed.
    gate: Gate {
        "r0a" => R0a, "r0b" => R0b, "r1_trailing" => R1Trailing, "r1_sliding" => R1Sliding, "r1_asym" => R1Asym,
        "r2_linear" => R2Linear, "r2_hyperbolic" => R2Hyperbolic, "up_down" => UpDown,
    }
    /// C.5: do RT and DL increases pass the window?
    gate_bypass: GateBypass { "off" => Off, "r3a" => R3a, "r3b" => R3b }
    /// C.10: is the frequency lowered to the recent maximum only?
    gate_peak: GatePeak { "off" => Off, "on" => On }
    /// C.4: do decreases wait twice as long?
    gate_asymmetry: GateAsymmetry { "off" => Off, "on" => On, "falls" => Falls }
    /// B.11: rate limit derived from the driver's latency.
    rate_limit_default: RateLimitDefault {
        "latency_x1000" => LatencyX1000, "capped_10ms" => Capped10ms,
        "capped_2ms" => Capped2ms, "one_and_half" => OneAndHalf,
    }
    /// B.7: form of the I/O-wait boost.
    iowait_boost: IowaitBoost {
        "off" => Off, "jump" => Jump, "frequency" => Frequency, "frequency_shared" => FrequencyShared,
        "frequency_reset" => FrequencyReset, "capacity" => Capacity,
    }
    /// B.8: which DL increase ignores the rate limit.
    dl_bypass: DlBypass { "off" => Off, "bandwidth" => Bandwidth, "floor" => Floor }
    /// B.8: what new limits and the deadline override do beside opening the gate.
    limits_update: LimitsUpdate {
        "forget" => Forget, "compare" => Compare, "ask_driver" => AskDriver, "repeat" => Repeat,
    }
    /// B.9: hold filter of single-CPU policies.
    hold: Hold {
        "off" => Off, "keep_cache" => KeepCache, "drop_cache" => DropCache, "drop_unless_needed" => DropUnlessNeeded,
        "restore_cache" => RestoreCache, "restore_unless_capped" => RestoreUnlessCapped,
    }
    /// B.12: is a CPU whose last hook is older than a tick skipped?
    stale_cpu: StaleCpu { "skip" => Skip, "skip_fair" => SkipFair, "count" => Count }
    /// B.3: may a request arrive while the slow path is pending?
    while_busy: WhileBusy { "refuse" => Refuse, "overwrite" => Overwrite }
    /// B.3 step 1: who may drive a domain from outside.
    remote: Remote { "local_only" => LocalOnly, "fast_only" => FastOnly, "all" => All }
    /// A.9 step 4, B.13: does the average update itself call the hook?
    hook_in_average: HookInAverage { "off" => Off, "on" => On }
    /// B.13: average updates that call.
    hook_decay: HookDecay { "off" => Off, "local" => Local, "remote" => Remote }
    /// B.13: calls at attach and detach.
    hook_attach: HookAttach { "off" => Off, "on" => On }
    /// B.13: explicit calls at the tick.
    hook_tick: HookTick { "off" => Off, "on" => On }
    /// B.13: calls of the RT class.
    hook_rt: HookRt { "accounting" => Accounting, "enqueue" => Enqueue, "off" => Off }
    /// B.13: calls of the deadline class.
    hook_dl: HookDl { "accounting" => Accounting, "bandwidth" => Bandwidth, "off" => Off }
    /// B.13: calls of the blocked walk.
    hook_blocked: HookBlocked { "off" => Off, "per_cfs_rq" => PerCfsRq, "once" => Once }
    /// B.13: calls for I/O waiters.
    hook_iowait: HookIowait { "off" => Off, "on" => On }
    /// B.13, last paragraph of B.15: are the tasks in a group below the root?
    /// C.1, C.10: which of them reach the governor.
    hook_filter: HookFilter { "h0" => H0, "h1" => H1, "h2" => H2, "h3" => H3, "h4" => H4, "composite" => Composite }
    /// G.1: utilization clamps.
    uclamp: Uclamp {
        "off" => Off, "max" => Max, "group_throttle" => GroupThrottle, "sum" => Sum, "bias" => Bias, "bias_weighted" => BiasWeighted, "debt" => Debt,
    }
    /// G.1: what a group's clamps do to a task's.
    uclamp_limit: UclampLimit { "ceiling" => Ceiling, "range" => Range }
    /// G.1: since when clamps count.
    uclamp_used: UclampUsed { "always" => Always, "once_asked" => OnceAsked }
    /// G.1: a CPU that had no task yet.
    uclamp_first: UclampFirst { "zero" => Zero, "left_over" => LeftOver }
    /// G.1: a group whose files were not written.
    uclamp_new_group: UclampNewGroup { "parents" => Parents, "own" => Own }
    /// G.1: the mark of an idle CPU when the group of its only task changes.
    uclamp_change: UclampChange { "keeps_mark" => KeepsMark, "clears_mark" => ClearsMark }
}

/// Declares [`Numbers`] from the names of parameters.
macro_rules! numbers {
    ($($(#[$doc:meta])* $field:ident,)+) => {
        /// The numbers of a policy (C.1-C.7); [`FROM_PLATFORM`] leaves one to the platform.
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
    /// C.1: smallest change of utilization that is reported.
    hook_epsilon,
    /// C.3: cost of a transition.
    gate_cost_ns,
    /// C.3: kappa.
    gate_kappa,
    /// C.3: W_min.
    gate_window_min_us,
    /// C.3: W_max.
    gate_window_max_us,
    /// C.4: D_min.
    gate_spacing_min_us,
    /// C.4: D_max.
    gate_spacing_max_us,
    /// C.4: E0.
    gate_error_low,
    /// C.4: E1.
    gate_error_high,
    /// C.7: limit of increases.
    up_rate_limit_us,
    /// C.7: limit of decreases.
    down_rate_limit_us,
    /// D.5: sched-DVFS's window.
    sched_dvfs_throttle_us,
    /// D.7: time between samples.
    sampling_rate_us,
    /// D.7: load above which the frequency rises.
    up_threshold,
    /// D.7: periods at the maximum; samples between looks downwards.
    sampling_down_factor,
    /// D.7: load below which conservative lowers the frequency.
    down_threshold,
    /// D.7: conservative's step.
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
    /// I.3: pause between refreshes.
    blocked_update_us,
    /// A queue's portion of its group's pool.
    bandwidth_slice_us,
    /// The fair server's runtime.
    fair_server_runtime_us,
    /// Its period.
    fair_server_period_us,
}

/// Kernels that have a profile, oldest first.
pub const PROFILES: [&str; 10] = ["4.12", "4.16", "4.19", "5.4", "5.10", "6.1", "6.6", "6.12", "6.18", "7.2"];

/// Runs of equal defaults: "value" holds from the named kernel on, until the next entry.
const HISTORY: &[(&str, &[(&str, &str)])] = &[
    ("invariance", &[("4.12", "contribution"), ("5.4", "clock")]),
    ("divisor", &[("4.12", "constant"), ("4.16", "moving")]),
    ("attach_load_sum", &[("4.12", "exact"), ("5.10", "least_one")]),
    ("sum_floor", &[("4.12", "off"), ("5.10", "rebuilt"), ("6.1", "wraps"), ("7.2", "on")]),
    ("propagation", &[("4.12", "full_period"), ("5.10", "rebuilt"), ("6.1", "difference")]),
    ("init_util", &[("4.12", "scale"), ("4.19", "capacity")]),
    ("init_weight", &[("4.12", "unscaled"), ("6.12", "scaled")]),
    ("idle_clock", &[("4.12", "later"), ("6.1", "at_once")]),
    ("migration_lag", &[("4.12", "off"), ("6.1", "on")]),
    ("throttle_clock", &[("4.12", "task"), ("5.10", "pelt")]),
    ("rt_search", &[("4.12", "first"), ("5.10", "fits"), ("6.1", "spread"), ("6.12", "push")]),
    ("dl_search", &[("4.12", "latest"), ("4.16", "first"), ("5.10", "fits"), ("6.1", "spread")]),
    ("thermal_trips", &[("4.12", "governor"), ("6.12", "core")]),
    ("step_wise", &[("4.12", "down"), ("4.16", "hold"), ("6.12", "release"), ("6.18", "lower"), ("7.2", "release")]),
    ("ipa", &[("4.12", "truncates"), ("6.1", "rounds"), ("6.18", "idle_max")]),
    ("cooling_load", &[("4.12", "idle_time"), ("6.1", "utilization")]),
    ("bandwidth_refill", &[("4.12", "expires_late"), ("4.19", "expires"), ("5.4", "quota"), ("6.1", "burst")]),
    ("bandwidth_throttle", &[("4.12", "head"), ("4.19", "tail"), ("5.10", "retry"), ("7.2", "at_once")]),
    ("bandwidth_slack", &[("4.12", "pushed"), ("5.4", "kept")]),
    ("bandwidth_time", &[("4.12", "throttled"), ("6.6", "waiting")]),
    ("queued_migrant", &[("4.12", "removed"), ("4.16", "detached")]),
    ("tg_limit", &[("4.12", "off"), ("6.12", "on")]),
    ("decayed_contrib", &[("4.12", "on"), ("4.16", "off"), ("6.12", "on")]),
    ("shares_load", &[("4.12", "weight"), ("4.16", "larger")]),
    ("shares_keep_empty", &[("4.12", "off"), ("6.12", "on")]),
    ("shares_set_same", &[("4.12", "on"), ("6.12", "off")]),
    ("rt_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("dl_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("irq_signal", &[("4.12", "off"), ("4.19", "on")]),
    ("hw_signal", &[("4.12", "off"), ("5.10", "on")]),
    ("capacity_left", &[("4.12", "rt_share"), ("4.19", "used"), ("6.12", "actual")]),
    ("util_est", &[("4.12", "off"), ("4.19", "u1_any"), ("5.4", "u1"), ("5.10", "u2"), ("6.12", "u3"), ("6.18", "u4")]),
    ("util_est_stale", &[("4.12", "off"), ("6.12", "on"), ("7.2", "off")]),
    ("estimate_leaves", &[("4.12", "last"), ("5.10", "first")]),
    ("runnable_boost", &[("4.12", "off"), ("6.6", "on")]),
    ("runnable_signal", &[("4.12", "load_whole"), ("4.16", "load"), ("5.10", "on")]),
    ("rt_rule", &[("4.12", "flag_max"), ("4.19", "runnable_max"), ("5.4", "runnable_max_unless_uclamp")]),
    ("rt_in_sum", &[("4.12", "off"), ("4.19", "on")]),
    ("cfs_if_queued", &[("4.12", "off")]),
    ("dl_rule", &[("4.12", "flag_max"), ("4.16", "bw_on_top"), ("6.12", "bw_floor")]),
    ("uclamp_iowait", &[("4.12", "off"), ("6.1", "on"), ("6.12", "off")]),
    (
        "perf_form",
        &[("4.12", "flags"), ("4.16", "bw"), ("4.19", "rt_sum"), ("5.4", "clamp_then_sum"), ("6.12", "sum_then_clamp")],
    ),
    ("headroom", &[("4.12", "frequency"), ("6.1", "utilization"), ("6.12", "before_clamps")]),
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
    ("dl_bypass", &[("4.12", "off"), ("4.19", "bandwidth"), ("6.12", "floor")]),
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
    ("group_idle", &[("4.12", "off"), ("6.1", "tasks_first"), ("6.12", "levels")]),
    ("fair_zero", &[("4.12", "min_vruntime"), ("6.12", "average"), ("6.18", "min_vruntime"), ("7.2", "average")]),
    ("fair_weight", &[("4.12", "down"), ("7.2", "full")]),
    ("lag_limit", &[("4.12", "own_slice"), ("7.2", "longest_slice")]),
    ("run_to_parity", &[("4.12", "request"), ("6.12", "short"), ("6.18", "shortest"), ("7.2", "shortest_each")]),
    ("fork_preempts", &[("4.12", "on"), ("7.2", "off")]),
    ("fair_yield", &[("4.12", "deadline"), ("6.12", "forfeit")]),
    ("fair_reweight", &[("4.12", "request"), ("6.12", "average"), ("6.18", "anew"), ("7.2", "lag")]),
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
