// SPDX-License-Identifier: GPL-2.0-only
//! Policy switches: reading, changing and checking them by name.

use std::ffi::{CStr, c_char};
use std::fmt;

use crate::ffi;

macro_rules! policy_fields {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// All switches and then all parameters of a policy, in the order of the tables in `policy.h`.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Policy { $($(#[$doc])* pub $field: u32,)* }

        impl Policy {
            fn slot(&mut self, index: usize) -> Option<&mut u32> {
                [$(&mut self.$field,)*].into_iter().nth(index)
            }

            /// All values in table order.
            #[must_use]
            pub fn values(&self) -> Vec<u32> {
                vec![$(self.$field,)*]
            }
        }

        /// Field names in table order, for comparison with the C table.
        #[doc(hidden)]
        pub const FIELD_NAMES: &[&str] = &[$(stringify!($field),)*];
    };
}

policy_fields! {
    /// Switch `invariance`: 0 = contribution, 1 = clock.
    invariance,
    /// Switch `divisor`: 0 = constant, 1 = moving.
    divisor,
    /// Switch `sum_floor`: 0 = off, 1 = on, 2 = wraps, 3 = rebuilt.
    sum_floor,
    /// Switch `propagation`: 0 = full_period, 1 = rebuilt, 2 = difference.
    propagation,
    /// Switch `init_util`: 0 = scale, 1 = capacity.
    init_util,
    /// Switch `init_weight`: 0 = unscaled, 1 = scaled.
    init_weight,
    /// Switch `idle_clock`: 0 = later, 1 = at_once.
    idle_clock,
    /// Switch `migration_lag`: 0 = off, 1 = on.
    migration_lag,
    /// Switch `queued_migrant`: 0 = removed, 1 = detached.
    queued_migrant,
    /// Switch `tg_limit`: 0 = off, 1 = on.
    tg_limit,
    /// Switch `decayed_contrib`: 0 = off, 1 = on.
    decayed_contrib,
    /// Switch `shares_load`: 0 = weight, 1 = larger.
    shares_load,
    /// Switch `shares_keep_empty`: 0 = off, 1 = on.
    shares_keep_empty,
    /// Switch `shares_set_same`: 0 = off, 1 = on.
    shares_set_same,
    /// Switch `rt_signal`: 0 = off, 1 = on.
    rt_signal,
    /// Switch `dl_signal`: 0 = off, 1 = on.
    dl_signal,
    /// Switch `irq_signal`: 0 = off, 1 = on.
    irq_signal,
    /// Switch `hw_signal`: 0 = off, 1 = on.
    hw_signal,
    /// Switch `capacity_left`: 0 = rt_share, 1 = used, 2 = actual.
    capacity_left,
    /// Switch `util_est`: 0 = off, 1 = u1, 2 = u2, 3 = u3, 4 = u4, 5 = u1_any.
    util_est,
    /// Switch `util_est_stale`: 0 = off, 1 = on.
    util_est_stale,
    /// Switch `estimate_leaves`: 0 = last, 1 = first.
    estimate_leaves,
    /// Switch `runnable_signal`: 0 = off, 1 = on.
    runnable_signal,
    /// Switch `runnable_boost`: 0 = off, 1 = on.
    runnable_boost,
    /// Switch `rt_rule`: 0 = flag_max, 1 = runnable_max, 2 = runnable_max_unless_uclamp, 3 = none.
    rt_rule,
    /// Switch `rt_in_sum`: 0 = off, 1 = on.
    rt_in_sum,
    /// Switch `cfs_if_queued`: 0 = off, 1 = on.
    cfs_if_queued,
    /// Switch `dl_rule`: 0 = flag_max, 1 = bw_on_top, 2 = bw_floor.
    dl_rule,
    /// Switch `perf_form`: 0 = flags, 1 = bw, 2 = rt_sum, 3 = clamp_then_sum, 4 = sum_then_clamp.
    perf_form,
    /// Switch `uclamp_iowait`: 0 = off, 1 = on.
    uclamp_iowait,
    /// Switch `headroom`: 0 = frequency, 1 = utilization, 2 = before_clamps.
    headroom,
    /// Switch `gate`: 0 = r0a, 1 = r0b, 2 to 4 = r1, 5 and 6 = r2, 7 = up_down.
    gate,
    /// Switch `gate_bypass`: 0 = off, 1 = r3a, 2 = r3b.
    gate_bypass,
    /// Switch `gate_peak`: 0 = off, 1 = on.
    gate_peak,
    /// Switch `gate_asymmetry`: 0 = off, 1 = on.
    gate_asymmetry,
    /// Switch `rate_limit_default`: 0 = latency_x1000, 1 = capped_10ms, 2 = capped_2ms, 3 = one_and_half.
    rate_limit_default,
    /// Switch `iowait_boost`: 0 = off, 1 = jump, 2 = frequency, 3 = frequency_shared, 4 = frequency_reset, 5 = capacity.
    iowait_boost,
    /// Switch `dl_bypass`: 0 = off, 1 = bandwidth, 2 = floor.
    dl_bypass,
    /// Switch `limits_update`: 0 = forget, 1 = compare, 2 = ask_driver, 3 = repeat.
    limits_update,
    /// Switch `hold`: 0 = off, 1 = keep_cache, 2 = drop_cache, 3 = drop_unless_needed, 4 = restore_cache,
    /// 5 = restore_unless_capped.
    hold,
    /// Switch `stale_cpu`: 0 = skip, 1 = skip_fair, 2 = count.
    stale_cpu,
    /// Switch `while_busy`: 0 = refuse, 1 = overwrite.
    while_busy,
    /// Switch `remote`: 0 = local_only, 1 = fast_only, 2 = all.
    remote,
    /// Switch `worker`: 0 = fifo50, 1 = deadline.
    worker,
    /// Switch `hook_decay`: 0 = off, 1 = local, 2 = remote.
    hook_decay,
    /// Switch `hook_in_average`: 0 = off, 1 = on.
    hook_in_average,
    /// Switch `hook_attach`: 0 = off, 1 = on.
    hook_attach,
    /// Switch `hook_tick`: 0 = off, 1 = on.
    hook_tick,
    /// Switch `hook_rt`: 0 = accounting, 1 = enqueue, 2 = off.
    hook_rt,
    /// Switch `hook_dl`: 0 = accounting, 1 = bandwidth, 2 = off.
    hook_dl,
    /// Switch `hook_blocked`: 0 = off, 1 = per_cfs_rq, 2 = once.
    hook_blocked,
    /// Switch `hook_iowait`: 0 = off, 1 = on.
    hook_iowait,
    /// Switch `hook_filter`: 0 = h0, 1 = h1, 2 = h2, 3 = h3, 4 = h4, 5 = composite.
    hook_filter,
    /// Switch `fair_class`: 0 = cfs, 1 = eevdf.
    fair_class,
    /// Switch `delayed_dequeue`: 0 = off, 1 = on.
    delayed_dequeue,
    /// Switch `virtual_time`: 0 = multiply, 1 = divide.
    virtual_time,
    /// Switch `base_slice`: 0 = 750_us, 1 = 700_us.
    base_slice,
    /// Switch `custom_slice`: 0 = off, 1 = on.
    custom_slice,
    /// Switch `rel_deadline`: 0 = off, 1 = on.
    rel_deadline,
    /// Switch `initial_slice`: 0 = whole, 1 = half.
    initial_slice,
    /// Switch `cfs_slice`: 0 = plain, 1 = floored.
    cfs_slice,
    /// Switch `long_sleeper`: 0 = off, 1 = on.
    long_sleeper,
    /// Switch `idle_credit`: 0 = off, 1 = on.
    idle_credit,
    /// Switch `fair_zero`: 0 = min_vruntime, 1 = average.
    fair_zero,
    /// Switch `fair_weight`: 0 = down, 1 = full.
    fair_weight,
    /// Switch `lag_limit`: 0 = own_slice, 1 = longest_slice.
    lag_limit,
    /// Switch `run_to_parity`: 0 = request, 1 = short, 2 = shortest, 3 = shortest_each.
    run_to_parity,
    /// Switch `fork_preempts`: 0 = off, 1 = on.
    fork_preempts,
    /// Switch `fair_yield`: 0 = deadline, 1 = forfeit.
    fair_yield,
    /// Switch `fair_reweight`: 0 = request, 1 = average, 2 = anew, 3 = lag.
    fair_reweight,
    /// Switch `delayed_lag`: 0 = zero, 1 = kept.
    delayed_lag,
    /// Switch `rt_limit`: 0 = throttle, 1 = fair_server.
    rt_limit,
    /// Switch `dl_runtime`: 0 = wall, 1 = scaled.
    dl_runtime,
    /// Switch `dl_constrained`: 0 = plain, 1 = revised.
    dl_constrained,
    /// Switch `dl_admission`: 0 = cpus, 1 = capacity.
    dl_admission,
    /// Switch `dl_enforcement`: 0 = tick, 1 = timer.
    dl_enforcement,
    /// Switch `rt_runtime_share`: 0 = off, 1 = on.
    rt_runtime_share,
    /// Switch `newidle`: 0 = always, 1 = migration_cost, 2 = domain_cost, 3 = at_switch.
    newidle,
    /// Switch `balance`: 0 = pull, 1 = types, 2 = reduced, 3 = cores, 4 = misfit_apart, 5 = runnable, 6 = overutilized.
    balance,
    /// Switch `balance_capacity`: 0 = after, 1 = before.
    balance_capacity,
    /// Switch `idle_walk`: 0 = balance, 1 = stats, 2 = stats_asym, 3 = entry.
    idle_walk,
    /// Switch `uclamp`: 0 = off, 1 = max, 2 = sum, 3 = bias, 4 = bias_weighted, 5 = debt.
    uclamp,
    /// Switch `idle_governor`: 0 = menu, 1 = teo, 2 = next_timer.
    idle_governor,
    /// Switch `menu_form`: 0 = 4_12, 1 = 4_16, 2 = 4_19, 3 = 5_4, 4 = 5_10, 5 = 6_1, 6 = 6_6, 7 = 6_12, 8 = 6_18, 9 = 7_2.
    menu_form,
    /// Switch `idle_tick`: 0 = stops, 1 = governor.
    idle_tick,
    /// Switch `wake_queue`: 0 = far, 1 = far_or_idle.
    wake_queue,
    /// Switch `wake_affine`: 0 = runnable_load, 1 = runnable_even, 2 = runnable_less, 3 = load_avg, 4 = idle_first.
    wake_affine,
    /// Switch `energy_model`: 0 = milliwatts, 1 = scaled, 2 = microwatts, 3 = performance.
    energy_model,
    /// Switch `energy_aware`: 0 = off, 1 = margin, 2 = rank, 3 = actual.
    energy_aware,
    /// Switch `energy_full_cpu`: 0 = skipped, 1 = candidate.
    energy_full_cpu,
    /// Switch `energy_runnable`: 0 = off, 1 = before_task, 2 = with_task.
    energy_runnable,
    /// Switch `util_fits`: 0 = capacity, 1 = floor, 2 = rank.
    util_fits,
    /// Switch `overutilized`: 0 = capacity, 1 = clamps, 2 = clamps_energy, 3 = maximum_energy.
    overutilized,
    /// Switch `misfit`: 0 = off, 1 = load, 2 = pinned, 3 = biggest.
    misfit,
    /// Switch `sched_idle_cpu`: 0 = off, 1 = on, 2 = yields.
    sched_idle_cpu,
    /// Switch `idle_search`: 0 = passes, 1 = scan, 2 = clusters.
    idle_search,
    /// Switch `capacity_search`: 0 = off, 1 = first, 2 = rank, 3 = cores.
    capacity_search,
    /// Switch `dst_group`: 0 = load, 1 = types_near, 2 = types, 3 = types_energy.
    dst_group,
    /// Switch `dst_group_cpus`: 0 = all, 1 = allowed.
    dst_group_cpus,
    /// Switch `governor`: 0 = schedutil, 1 = sched_dvfs, 2 = sched_dvfs_v7, 3 = ondemand,
    /// 4 = conservative, 5 = performance, 6 = powersave, 7 = userspace, 8 = interactive.
    governor,
    /// Switch `boost_form`: 0 = rfc, 1 = later, 2 = hold.
    boost_form,
    /// Switch `sampling_form`: 0 = 6_12, 1 = 4_5.
    sampling_form,
    /// Switch `conservative_form`: 0 = stops, 1 = steps, 2 = steps_if_idle, 3 = stops_below.
    conservative_form,
    /// Switch `blocked_update`: 0 = own, 1 = scan, 2 = interval, 3 = lazy.
    blocked_update,
    /// Switch `newidle_own`: 0 = free, 1 = counted.
    newidle_own,
    /// Switch `bandwidth`: 0 = off, 1 = group, 2 = task.
    bandwidth,
    /// Switch `bandwidth_refill`: 0 = expires_late, 1 = expires, 2 = quota, 3 = burst.
    bandwidth_refill,
    /// Switch `bandwidth_throttle`: 0 = head, 1 = tail, 2 = retry, 3 = at_once.
    bandwidth_throttle,
    /// Switch `bandwidth_slack`: 0 = pushed, 1 = kept.
    bandwidth_slack,
    /// Switch `bandwidth_time`: 0 = throttled, 1 = waiting.
    bandwidth_time,
    /// Switch `bandwidth_phase`: 0 = aligned, 1 = random.
    bandwidth_phase,
    /// Switch `throttle_clock`: 0 = task, 1 = pelt.
    throttle_clock,
    /// Switch `rt_search`: 0 = first, 1 = fits, 2 = spread, 3 = push.
    rt_search,
    /// Switch `dl_search`: 0 = latest, 1 = first, 2 = fits, 3 = spread.
    dl_search,
    /// Parameter `hook_epsilon`, of 1024.
    hook_epsilon,
    /// Parameter `gate_cost_ns`.
    gate_cost_ns,
    /// Parameter `gate_kappa`.
    gate_kappa,
    /// Parameter `gate_window_min_us`.
    gate_window_min_us,
    /// Parameter `gate_window_max_us`.
    gate_window_max_us,
    /// Parameter `gate_spacing_min_us`.
    gate_spacing_min_us,
    /// Parameter `gate_spacing_max_us`.
    gate_spacing_max_us,
    /// Parameter `gate_error_low`, of 1024.
    gate_error_low,
    /// Parameter `gate_error_high`, of 1024.
    gate_error_high,
    /// Parameter `up_rate_limit_us`.
    up_rate_limit_us,
    /// Parameter `down_rate_limit_us`.
    down_rate_limit_us,
    /// Parameter `boost`, %.
    boost,
    /// Parameter `sched_dvfs_throttle_us`.
    sched_dvfs_throttle_us,
    /// Parameter `sampling_rate_us`.
    sampling_rate_us,
    /// Parameter `up_threshold`, %.
    up_threshold,
    /// Parameter `sampling_down_factor`.
    sampling_down_factor,
    /// Parameter `down_threshold`, %.
    down_threshold,
    /// Parameter `freq_step`, %.
    freq_step,
    /// Parameter `powersave_bias`, of 1000.
    powersave_bias,
    /// Parameter `ignore_nice_load`.
    ignore_nice_load,
    /// Parameter `io_is_busy`.
    io_is_busy,
    /// Parameter `userspace_khz`.
    userspace_khz,
    /// Parameter `hispeed_khz`.
    hispeed_khz,
    /// Parameter `go_hispeed_load`, %.
    go_hispeed_load,
    /// Parameter `target_load`, %.
    target_load,
    /// Parameter `target_load_2_from_khz`.
    target_load_2_from_khz,
    /// Parameter `target_load_2`, %.
    target_load_2,
    /// Parameter `target_load_3_from_khz`.
    target_load_3_from_khz,
    /// Parameter `target_load_3`, %.
    target_load_3,
    /// Parameter `above_hispeed_delay_us`.
    above_hispeed_delay_us,
    /// Parameter `above_hispeed_delay_2_from_khz`.
    above_hispeed_delay_2_from_khz,
    /// Parameter `above_hispeed_delay_2_us`.
    above_hispeed_delay_2_us,
    /// Parameter `above_hispeed_delay_3_from_khz`.
    above_hispeed_delay_3_from_khz,
    /// Parameter `above_hispeed_delay_3_us`.
    above_hispeed_delay_3_us,
    /// Parameter `min_sample_time_us`.
    min_sample_time_us,
    /// Parameter `timer_rate_us`.
    timer_rate_us,
    /// Parameter `timer_slack_us`.
    timer_slack_us,
    /// Parameter `boost_val`.
    boost_val,
    /// Parameter `boostpulse_duration_us`.
    boostpulse_duration_us,
    /// Parameter `blocked_update_us`, us.
    blocked_update_us,
    /// Parameter `bandwidth_slice_us`, us.
    bandwidth_slice_us,
}

/// A switch: its name, its values, its default per profile, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Name, as written after `--set`.
    pub name: &'static str,
    /// Value names; the position is the value.
    pub values: Vec<&'static str>,
    /// Default per profile, in the order of [`profiles`].
    pub defaults: Vec<u32>,
    /// One paragraph.
    pub why: &'static str,
}

/// A number of a policy: its name, range, default, and why it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as written after `--set`.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Smallest value.
    pub min: u32,
    /// Largest value.
    pub max: u32,
    /// Default of every profile; [`FROM_PLATFORM`] = the platform knows.
    pub preset: u32,
    /// One paragraph.
    pub why: &'static str,
}

/// Value of a parameter that means: what the platform says. Written `platform`.
pub const FROM_PLATFORM: u32 = u32::MAX;

impl Parameter {
    /// Can it be left to the platform?
    #[must_use]
    pub fn has_platform_value(&self) -> bool {
        self.preset == FROM_PLATFORM
    }

    /// A value as it is written.
    #[must_use]
    pub fn text(&self, value: u32) -> String {
        if value == FROM_PLATFORM { "platform".to_owned() } else { value.to_string() }
    }

    /// What may be written.
    #[must_use]
    pub fn allowed(&self) -> String {
        let platform = if self.has_platform_value() { ", or platform" } else { "" };
        format!("{} .. {} ({}){platform}", self.min, self.max, self.unit)
    }

    fn parse(&self, text: &str) -> Option<u32> {
        if self.has_platform_value() && text == "platform" {
            return Some(FROM_PLATFORM);
        }
        text.parse().ok().filter(|value| (self.min..=self.max).contains(value))
    }
}

/// What is wrong with a switch, a value, a profile or a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// No such profile.
    UnknownProfile {
        /// What was written.
        name: String,
        /// What exists.
        candidates: Vec<&'static str>,
    },
    /// No such switch.
    UnknownSwitch {
        /// What was written.
        name: String,
        /// What exists.
        candidates: Vec<&'static str>,
    },
    /// The switch has no such value.
    UnknownValue {
        /// The switch.
        switch: &'static str,
        /// What was written.
        value: String,
        /// What exists.
        candidates: Vec<&'static str>,
    },
    /// The parameter cannot have this value.
    OutOfRange {
        /// The parameter.
        parameter: &'static str,
        /// What was written.
        value: String,
        /// What may be written.
        allowed: String,
    },
    /// Two switches contradict each other.
    Conflict {
        /// One of them.
        switch_a: &'static str,
        /// Its value.
        value_a: String,
        /// The other.
        switch_b: &'static str,
        /// Its value.
        value_b: String,
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProfile { name, candidates } => {
                write!(f, "unknown profile \"{name}\"; there are {}", candidates.join(", "))
            }
            Self::UnknownSwitch { name, candidates } => {
                write!(f, "unknown switch \"{name}\"; there are {}", candidates.join(", "))
            }
            Self::UnknownValue { switch, value, candidates } => {
                write!(f, "{switch} cannot be \"{value}\"; it can be {}", candidates.join(", "))
            }
            Self::OutOfRange { parameter, value, allowed } => {
                write!(f, "{parameter} cannot be \"{value}\"; it can be {allowed}")
            }
            Self::Conflict { switch_a, value_a, switch_b, value_b, reason } => {
                write!(f, "{switch_a}={value_a} and {switch_b}={value_b} contradict each other: {reason}")
            }
        }
    }
}

impl std::error::Error for PolicyError {}

/// A C string of the shim's tables.
pub(crate) fn text(p: *const c_char) -> &'static str {
    if p.is_null() {
        return "";
    }
    // SAFETY: the shim returns null or string literals with static lifetime.
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("")
}

/// Names of the kernel profiles, oldest first.
#[must_use]
pub fn profiles() -> Vec<&'static str> {
    (0..).map(|i| text(ffi::pelton_x_profile_name(i))).take_while(|name| !name.is_empty()).collect()
}

fn switch_at(index: u32) -> Option<Switch> {
    // SAFETY: the shim returns null or a pointer to a static row.
    let row = unsafe { ffi::pelton_x_switch_info(index).as_ref() }?;
    Some(Switch {
        name: text(row.name),
        values: text(row.values).split('|').collect(),
        defaults: row.defaults.to_vec(),
        why: text(row.why),
    })
}

/// All switches in table order.
#[must_use]
pub fn switches() -> Vec<Switch> {
    (0..ffi::pelton_x_switch_count()).filter_map(switch_at).collect()
}

fn parameter_at(index: u32) -> Option<Parameter> {
    // SAFETY: the shim returns null or a pointer to a static row.
    let row = unsafe { ffi::pelton_x_parameter_info(index).as_ref() }?;
    let (name, unit, why) = (text(row.name), text(row.unit), text(row.why));
    Some(Parameter { name, unit, min: row.min, max: row.max, preset: row.preset, why })
}

/// All parameters in table order; in a policy they follow the switches.
#[must_use]
pub fn parameters() -> Vec<Parameter> {
    (0..).map_while(parameter_at).collect()
}

fn find_parameter(name: &str) -> Option<(usize, Parameter)> {
    let found = parameters().into_iter().enumerate().find(|(_, p)| p.name == name);
    found.map(|(index, parameter)| (switches().len() + index, parameter))
}

fn name_at(index: u32) -> &'static str {
    let parameter = || parameter_at(index.checked_sub(ffi::pelton_x_switch_count())?).map(|p| p.name);
    switch_at(index).map(|s| s.name).or_else(parameter).unwrap_or("?")
}

fn find_switch(name: &str) -> Result<(usize, Switch), PolicyError> {
    let all = switches();
    let candidates = all.iter().map(|s| s.name).chain(parameters().iter().map(|p| p.name)).collect();
    all.into_iter()
        .enumerate()
        .find(|(_, s)| s.name == name)
        .ok_or_else(|| PolicyError::UnknownSwitch { name: name.to_owned(), candidates })
}

fn parse_value(switch: &Switch, value: &str) -> Result<u32, PolicyError> {
    let by_name = switch.values.iter().position(|v| *v == value);
    let by_number = value.parse::<usize>().ok().filter(|n| *n < switch.values.len());
    match by_name.or(by_number).map(u32::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => Err(PolicyError::UnknownValue {
            switch: switch.name,
            value: value.to_owned(),
            candidates: switch.values.clone(),
        }),
    }
}

impl Policy {
    /// The rule set of a kernel, for example `"7.2"`.
    ///
    /// ```
    /// let policy = pelton_core::Policy::profile("4.16").unwrap();
    /// assert_eq!(policy.get("invariance"), Ok("contribution"));
    /// ```
    pub fn profile(name: &str) -> Result<Self, PolicyError> {
        let candidates = profiles();
        let mut policy = Self::default();
        let index = candidates.iter().position(|p| *p == name).and_then(|i| u32::try_from(i).ok());
        match index.map(|i| ffi::pelton_x_policy_for_profile(i, &mut policy)) {
            Some(0) => Ok(policy),
            _ => Err(PolicyError::UnknownProfile { name: name.to_owned(), candidates }),
        }
    }

    /// Change one switch or parameter by name; the value is a value name or its number.
    ///
    /// ```
    /// let mut policy = pelton_core::Policy::profile("4.16").unwrap();
    /// policy.set("rt_signal", "on").unwrap();
    /// policy.set("rt_in_sum", "1").unwrap();
    /// policy.check().unwrap();
    /// ```
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), PolicyError> {
        if let Some((index, parameter)) = find_parameter(name) {
            return self.set_number(index, &parameter, value);
        }
        let (index, switch) = find_switch(name)?;
        let number = parse_value(&switch, value)?;
        if let Some(slot) = self.slot(index) {
            *slot = number;
        }
        Ok(())
    }

    fn set_number(&mut self, index: usize, parameter: &Parameter, text: &str) -> Result<(), PolicyError> {
        let (value, allowed) = (text.to_owned(), parameter.allowed());
        let refused = PolicyError::OutOfRange { parameter: parameter.name, value, allowed };
        let number = parameter.parse(text).ok_or(refused)?;
        if let Some(slot) = self.slot(index) {
            *slot = number;
        }
        Ok(())
    }

    /// Every switch and parameter with its value as it is written, in table order.
    #[must_use]
    pub fn written(&self) -> Vec<(&'static str, String)> {
        let (values, switches, parameters) = (self.values(), switches(), parameters());
        let name_of =
            |switch: &Switch, value: u32| switch.values.get(value as usize).map_or("?", |name| name).to_owned();
        let of_switch = |(switch, &value): (&Switch, &u32)| (switch.name, name_of(switch, value));
        let of_parameter = |(p, &value): (&Parameter, &u32)| (p.name, p.text(value));
        let rest = values.get(switches.len()..).unwrap_or_default();
        switches.iter().zip(&values).map(of_switch).chain(parameters.iter().zip(rest).map(of_parameter)).collect()
    }

    /// The value of a switch or parameter as it is written.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some((index, parameter)) = find_parameter(name) {
            return self.values().get(index).map(|value| parameter.text(*value));
        }
        self.get(name).ok().map(str::to_owned)
    }

    /// The value name of a switch.
    pub fn get(&self, name: &str) -> Result<&'static str, PolicyError> {
        let (index, switch) = find_switch(name)?;
        let value = self.values().get(index).copied().unwrap_or(0);
        Ok(switch.values.get(value as usize).copied().unwrap_or("?"))
    }

    /// Why a switch or number is not read under the other settings of this policy; `None` when it is, or is not known.
    pub fn without_effect(&self, name: &str) -> Option<&'static str> {
        let switches = switches();
        let at_switch = switches.iter().position(|s| s.name == name);
        let index = at_switch.or_else(|| Some(switches.len() + parameters().iter().position(|p| p.name == name)?))?;
        let row = ffi::pelton_x_policy_without_effect(self, u32::try_from(index).ok()?);
        (row != 0).then(|| text(ffi::pelton_x_condition_reason(row)))
    }

    /// Does any window of this policy come from schedutil's `rate_limit_us`?
    pub fn reads_rate_limit(&self) -> bool {
        ffi::pelton_x_policy_reads_rate_limit(self) != 0
    }

    /// Refuse combinations that have no meaning.
    pub fn check(&self) -> Result<(), PolicyError> {
        let (mut a, mut b) = (0, 0);
        let code = ffi::pelton_x_policy_check(self, &mut a, &mut b);
        if code == 0 {
            return Ok(());
        }
        let (switch_a, switch_b) = (name_at(a), name_at(b));
        Err(PolicyError::Conflict {
            switch_a,
            value_a: self.text(switch_a).unwrap_or_default(),
            switch_b,
            value_b: self.text(switch_b).unwrap_or_default(),
            reason: text(ffi::pelton_x_conflict_reason(code)),
        })
    }
}
