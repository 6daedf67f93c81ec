/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, value names, defaults and reasons of the policy switches, and which of them contradict each other.
 *
 * For hosts only: the BPF program receives a finished struct pelton_policy and needs no strings.
 *
 * Source: policy.h. Deviations: none, this is our own table.
 */
#ifndef PELTON_POLICY_TABLE_H
#define PELTON_POLICY_TABLE_H

#include "governor.h"
#include "policy.h"

/* One switch as the user sees it. */
struct pelton_switch_info {
	const char *name;
	const char *values; /* "a|b|c", the position is the value */
	const char *why;
	u32 defaults[PELTON_PROFILE_COUNT];
};

/* Value of a profile in a row of PELTON_SWITCHES: the one before the first change that comes after it. */
#define PELTON_SINCE_1(profile, value) (value)
#define PELTON_SINCE_3(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_1(profile, __VA_ARGS__))
#define PELTON_SINCE_5(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_3(profile, __VA_ARGS__))
#define PELTON_SINCE_7(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_5(profile, __VA_ARGS__))
#define PELTON_SINCE_9(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_7(profile, __VA_ARGS__))
#define PELTON_SINCE_11(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_9(profile, __VA_ARGS__))
#define PELTON_SINCE_13(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_11(profile, __VA_ARGS__))
#define PELTON_SINCE_15(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_13(profile, __VA_ARGS__))
#define PELTON_SINCE_17(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_15(profile, __VA_ARGS__))
#define PELTON_SINCE_19(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_17(profile, __VA_ARGS__))
#define PELTON_SINCE_21(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_19(profile, __VA_ARGS__))
#define PELTON_SINCE_23(profile, value, next, ...) \
	((profile) < PELTON_PROFILE_##next ? (value) : PELTON_SINCE_21(profile, __VA_ARGS__))
#define PELTON_SINCE_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, nth, ...) nth
#define PELTON_SINCE(profile, ...) \
	PELTON_SINCE_NTH(__VA_ARGS__, PELTON_SINCE_23, , PELTON_SINCE_21, , PELTON_SINCE_19, , PELTON_SINCE_17, , \
			 PELTON_SINCE_15, , PELTON_SINCE_13, , PELTON_SINCE_11, , PELTON_SINCE_9, , PELTON_SINCE_7, , \
			 PELTON_SINCE_5, , PELTON_SINCE_3, , PELTON_SINCE_1, )(profile, __VA_ARGS__)
#define PELTON_LISTED(...) __VA_ARGS__
#define PELTON_DEFAULT_OF(profile, ...) PELTON_SINCE(profile, __VA_ARGS__)
#define PELTON_DEFAULT(profile, since) PELTON_DEFAULT_OF(profile, PELTON_LISTED since)

#define PELTON_DEFAULT_IN(number, name, since) PELTON_DEFAULT(PELTON_PROFILE_##number, since),
#define PELTON_ROW_INFO(field, values, since, why) \
	{ #field, values, why, { PELTON_PROFILES(PELTON_DEFAULT_IN, since) } },
static const struct pelton_switch_info pelton_switch_table[PELTON_SWITCH_COUNT] = { PELTON_SWITCHES(PELTON_ROW_INFO) };

/* One number as the user sees it. */
struct pelton_parameter_info {
	const char *name;
	const char *unit;
	const char *why;
	u32 min;
	u32 max;
	u32 preset; /* PELTON_FROM_PLATFORM: the platform knows */
};

#define PELTON_NUMBER_INFO(field, unit, min, max, preset, why) { #field, unit, why, min, max, preset },
static const struct pelton_parameter_info pelton_parameter_table[PELTON_PARAMETER_COUNT] = { PELTON_PARAMETERS(
	PELTON_NUMBER_INFO) };

/* The policy of the newest profile. A caller that passes this very record lets a compiler know every value of it. */
#define PELTON_NEWEST_VALUE(field, values, since, why) .field = PELTON_DEFAULT(PELTON_PROFILE_COUNT - 1, since),
#define PELTON_NEWEST_NUMBER(field, unit, min, max, preset, why) .field = (preset),
__attribute__((unused)) static const struct pelton_policy pelton_policy_newest = { PELTON_SWITCHES(
	PELTON_NEWEST_VALUE) PELTON_PARAMETERS(PELTON_NEWEST_NUMBER) };

#define PELTON_NAME_ROW(number, name, with) name,
static const char *const pelton_profile_names[PELTON_PROFILE_COUNT] = { PELTON_PROFILES(PELTON_NAME_ROW, ) };

/* Position of a switch in the table and in struct pelton_policy. */
enum {
#define PELTON_INDEX_ROW(field, values, since, why) PELTON_SWITCH_##field,
	PELTON_SWITCHES(PELTON_INDEX_ROW)
#define PELTON_INDEX_NUMBER(field, unit, min, max, preset, why) PELTON_SWITCH_##field,
		PELTON_PARAMETERS(PELTON_INDEX_NUMBER)
};

/* Number of profiles; their names are pelton_profile_names. */
PELTON_INLINE u32 pelton_profile_count(void)
{
	return PELTON_PROFILE_COUNT;
}

/* Number of values a switch can take. */
PELTON_INLINE u32 pelton_switch_value_count(u32 index)
{
	const char *c = pelton_switch_table[index].values;
	u32 count = 1;

	for (; *c; c++)
		count += *c == '|';
	return count;
}

/* Read a switch or parameter by position; 0 beyond the tables. */
PELTON_INLINE u32 pelton_policy_get(const struct pelton_policy *pol, u32 index)
{
	return index < PELTON_SWITCH_COUNT + PELTON_PARAMETER_COUNT ? ((const u32 *)pol)[index] : 0;
}

/* Write a switch by position. Returns 0, or 1 when there is no such switch or value. */
PELTON_INLINE u32 pelton_policy_set(struct pelton_policy *pol, u32 index, u32 value)
{
	if (index >= PELTON_SWITCH_COUNT || value >= pelton_switch_value_count(index))
		return 1;
	((u32 *)pol)[index] = value;
	return 0;
}

/* The defaults of a kernel. Returns 0, or 1 when there is no such profile. */
PELTON_INLINE u32 pelton_policy_for_profile(u32 profile, struct pelton_policy *out)
{
	u32 i;

	if (profile >= PELTON_PROFILE_COUNT)
		return 1;
	for (i = 0; i < PELTON_SWITCH_COUNT; i++)
		((u32 *)out)[i] = pelton_switch_table[i].defaults[profile];
	for (i = 0; i < PELTON_PARAMETER_COUNT; i++)
		((u32 *)out)[PELTON_SWITCH_COUNT + i] = pelton_parameter_table[i].preset;
	return 0;
}

/*
 * Combinations without a meaning: X(first switch, second switch, condition that must not hold, reason).
 * The reason code returned by pelton_policy_check() is the position in this list, from 1.
 */
#define PELTON_CONFLICTS(X) \
	X(rt_in_sum, rt_signal, p->rt_in_sum && !p->rt_signal, \
	  "real-time utilization cannot be added to the sum without the signal that measures it") \
	X(util_est, runnable_signal, \
	  (p->util_est == PELTON_UTIL_EST_U3 || p->util_est == PELTON_UTIL_EST_U4) && \
		  p->runnable_signal != PELTON_RUNNABLE_ON, \
	  "u3 and u4 compare the estimate with the runnable average, which is switched off") \
	X(runnable_boost, runnable_signal, p->runnable_boost && p->runnable_signal != PELTON_RUNNABLE_ON, \
	  "the frequency cannot follow a runnable average that is switched off") \
	X(rt_rule, hook_rt, p->rt_rule == PELTON_RT_RULE_FLAG_MAX && p->hook_rt == PELTON_HOOK_RT_ENQUEUE, \
	  "flag_max needs hook calls that carry the real-time flag (hook_rt=accounting)") \
	X(dl_rule, hook_dl, p->dl_rule == PELTON_DL_RULE_FLAG_MAX && p->hook_dl == PELTON_HOOK_DL_BANDWIDTH, \
	  "flag_max needs hook calls that carry the deadline flag (hook_dl=accounting)") \
	X(dl_bypass, dl_rule, p->dl_bypass != PELTON_DL_BYPASS_OFF && p->dl_rule == PELTON_DL_RULE_FLAG_MAX, \
	  "a reservation can only bypass the rate limit where reservations are part of the request") \
	X(headroom, perf_form, \
	  p->headroom == PELTON_HEADROOM_BEFORE_CLAMPS && p->perf_form != PELTON_PERF_SUM_THEN_CLAMP, \
	  "only sum_then_clamp returns the clamps beside the sum, so only there headroom can come before them") \
	X(margins, headroom, p->margins != PELTON_MARGINS_FIXED && p->headroom != PELTON_HEADROOM_BEFORE_CLAMPS, \
	  "margins that are not fixed were posted for kernels that add headroom before the clamps (6.8 and later)") \
	X(uclamp, perf_form, p->uclamp != PELTON_UCLAMP_OFF && p->perf_form < PELTON_PERF_CLAMP_THEN_SUM, \
	  "this form of the sum has no place for clamps") \
	X(uclamp, util_fits, p->uclamp >= PELTON_UCLAMP_SUM && p->util_fits != PELTON_UTIL_FITS_RANK, \
	  "clamps that add up were posted for kernels in which a CPU may fit with a lower rank (6.1 and later)") \
	X(uclamp, blocked_update, \
	  p->uclamp == PELTON_UCLAMP_GROUP_THROTTLE && p->blocked_update == PELTON_BLOCKED_UPDATE_LAZY, \
	  "limits of groups need the groups of an idle CPU, and without walks a reader works out the root alone") \
	X(bandwidth_throttle, bandwidth, \
	  p->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_AT_ONCE && p->bandwidth == PELTON_BANDWIDTH_GROUP, \
	  "a queue that leaves its parent's with all that is on it cannot do so in the update of a running task") \
	X(fair_server_runtime_us, fair_server_period_us, p->fair_server_runtime_us > p->fair_server_period_us, \
	  "a server cannot have more runtime than its period is long") \
	X(delayed_dequeue, fair_class, p->delayed_dequeue && p->fair_class == PELTON_FAIR_CFS, \
	  "delayed dequeue pays off lag, which only EEVDF has") \
	X(gate_bypass, hook_filter, p->gate_bypass && p->hook_filter == PELTON_HOOK_FILTER_H4, \
	  "h4 delivers ticks alone; no call of a class is left that could pass the window") \
	X(gate_asymmetry, gate, \
	  p->gate_asymmetry && p->gate != PELTON_GATE_R2_LINEAR && p->gate != PELTON_GATE_R2_HYPERBOLIC, \
	  "only the error-proportional gates have a waiting time that could be doubled") \
	X(gate_peak, gate, p->gate_peak && p->gate == PELTON_GATE_R1_TRAILING, \
	  "r1_trailing keeps the maximum of its own window, which begins and ends elsewhere") \
	X(gate_error_high, gate_error_low, \
	  p->gate == PELTON_GATE_R2_LINEAR && p->gate_error_high <= p->gate_error_low, \
	  "the waiting time falls between the low and the high error, so the high one must be larger") \
	X(gate_window_max_us, gate_window_min_us, p->gate_window_max_us < p->gate_window_min_us, \
	  "the longest cost window must not be shorter than the shortest") \
	X(down_threshold, up_threshold, \
	  p->governor == PELTON_GOVERNOR_CONSERVATIVE && p->up_threshold != PELTON_FROM_PLATFORM && \
		  p->down_threshold >= p->up_threshold, \
	  "conservative must not go down at a load at which it goes up") \
	X(host, delayed_dequeue, p->host == PELTON_HOST_LIVE && p->delayed_dequeue, \
	  "under sched_ext a task that sleeps leaves its queue at once (delayed_dequeue=off)") \
	X(host, fair_class, p->host == PELTON_HOST_LIVE && p->fair_class == PELTON_FAIR_CFS, \
	  "the scheduler of `pelton live` orders its queues by virtual deadline, which only EEVDF has") \
	X(host, governor, p->host == PELTON_HOST_LIVE && p->governor != PELTON_GOVERNOR_SCHEDUTIL, \
	  "targets are handed to schedutil, no other governor takes them")

/* A contradiction as the user sees it. */
struct pelton_conflict_info {
	u32 field_a;
	u32 field_b;
	const char *reason;
};

#define PELTON_CONFLICT_ROW(a, b, condition, reason) { PELTON_SWITCH_##a, PELTON_SWITCH_##b, reason },
static const struct pelton_conflict_info pelton_conflict_table[] = { PELTON_CONFLICTS(PELTON_CONFLICT_ROW) };

#define PELTON_CONFLICT_COUNT ((u32)(sizeof(pelton_conflict_table) / sizeof(pelton_conflict_table[0])))

/* 0 when the policy makes sense, else the number of the first row of the list above that says no. */
PELTON_INLINE u32 pelton_policy_conflict(const struct pelton_policy *p)
{
	u32 row = 0, found = 0;

#define PELTON_CONFLICT_TEST(a, b, condition, reason) \
	row++; \
	if (!found && (condition)) \
		found = row;
	PELTON_CONFLICTS(PELTON_CONFLICT_TEST)
#undef PELTON_CONFLICT_TEST
	return found;
}

/* Returns as pelton_policy_conflict(), and names the two switches by position. */
PELTON_INLINE u32 pelton_policy_check(const struct pelton_policy *p, u32 *field_a, u32 *field_b)
{
	u32 code = pelton_policy_conflict(p);

	if (code) {
		*field_a = pelton_conflict_table[code - 1].field_a;
		*field_b = pelton_conflict_table[code - 1].field_b;
	}
	return code;
}

/* Does any rule work out a window from the cost of a transition? */
PELTON_INLINE u32 pelton_policy_counts_cost(const struct pelton_policy *p)
{
	u32 by_error = p->gate == PELTON_GATE_R2_LINEAR || p->gate == PELTON_GATE_R2_HYPERBOLIC;
	u32 by_cost = p->gate >= PELTON_GATE_R1_TRAILING && p->gate <= PELTON_GATE_R1_ASYM;

	return by_cost || p->gate_peak || (by_error && p->gate_spacing_min_us == PELTON_FROM_PLATFORM);
}

/* Does any window come from schedutil's rate limit? */
PELTON_INLINE u32 pelton_policy_reads_rate_limit(const struct pelton_policy *p)
{
	if (p->governor != PELTON_GOVERNOR_SCHEDUTIL)
		return 0;
	if (p->gate == PELTON_GATE_UP_DOWN)
		return p->up_rate_limit_us == PELTON_FROM_PLATFORM || p->down_rate_limit_us == PELTON_FROM_PLATFORM;
	if (p->gate == PELTON_GATE_R2_LINEAR || p->gate == PELTON_GATE_R2_HYPERBOLIC)
		return p->gate_spacing_max_us == PELTON_FROM_PLATFORM;
	return p->gate <= PELTON_GATE_R0B;
}

/*
 * Fields that are read only under other settings: X(switch or parameter, condition under which it is read, reason). The
 * number returned by pelton_policy_without_effect() is the position in this list, from 1.
 */
#define PELTON_CONDITIONS(X) \
	X(server_restart, p->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER, "only rt_limit=fair_server has a server") \
	X(server_idle, p->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER, "only rt_limit=fair_server has a server") \
	X(server_late, p->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER, "only rt_limit=fair_server has a server") \
	X(fair_server_runtime_us, p->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER, \
	  "only rt_limit=fair_server has a server") \
	X(fair_server_period_us, p->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER, "only rt_limit=fair_server has a server") \
	X(up_rate_limit_us, p->gate == PELTON_GATE_UP_DOWN, "only gate=up_down has a limit for increases") \
	X(thermal_trips, p->thermal != PELTON_THERMAL_OFF, "no zone is cooled (thermal)") \
	X(step_wise, p->thermal == PELTON_THERMAL_STEP_WISE, "only thermal=step_wise has steps") \
	X(ipa, p->thermal == PELTON_THERMAL_POWER_ALLOCATOR, "only thermal=power_allocator divides power") \
	X(cooling_load, p->thermal == PELTON_THERMAL_POWER_ALLOCATOR, "only thermal=power_allocator asks for loads") \
	X(down_rate_limit_us, p->gate == PELTON_GATE_UP_DOWN, "only gate=up_down has a limit for decreases") \
	X(gate_cost_ns, pelton_policy_counts_cost(p), \
	  "only the r1 gates, r2 and gate_peak work out a window from a cost") \
	X(gate_kappa, pelton_policy_counts_cost(p), \
	  "only the r1 gates, r2 and gate_peak work out a window from a cost") \
	X(gate_window_min_us, pelton_policy_counts_cost(p), "only the r1 gates, r2 and gate_peak have a cost window") \
	X(gate_window_max_us, pelton_policy_counts_cost(p), "only the r1 gates, r2 and gate_peak have a cost window") \
	X(gate_spacing_min_us, p->gate == PELTON_GATE_R2_LINEAR || p->gate == PELTON_GATE_R2_HYPERBOLIC, \
	  "only the r2 gates wait by the error") \
	X(gate_spacing_max_us, p->gate == PELTON_GATE_R2_LINEAR || p->gate == PELTON_GATE_R2_HYPERBOLIC, \
	  "only the r2 gates wait by the error") \
	X(gate_error_low, p->gate == PELTON_GATE_R2_LINEAR || p->gate == PELTON_GATE_R2_HYPERBOLIC, \
	  "only the r2 gates measure an error") \
	X(gate_error_high, p->gate == PELTON_GATE_R2_LINEAR, "only gate=r2_linear has a high error") \
	X(hook_epsilon, p->hook_filter == PELTON_HOOK_FILTER_H2 || p->hook_filter == PELTON_HOOK_FILTER_COMPOSITE, \
	  "only hook_filter=h2 and composite compare with a smallest change") \
	X(blocked_update_us, p->blocked_update == PELTON_BLOCKED_UPDATE_INTERVAL, \
	  "only blocked_update=interval waits between refreshes") \
	X(energy_model, p->energy_aware != PELTON_ENERGY_AWARE_OFF, "nothing is placed by energy (energy_aware)") \
	X(energy_runnable, p->energy_aware != PELTON_ENERGY_AWARE_OFF, "nothing is placed by energy (energy_aware)") \
	X(overutilized, p->energy_aware != PELTON_ENERGY_AWARE_OFF, \
	  "only placement by energy asks for it (energy_aware)") \
	X(cache_aware, p->balance >= PELTON_BALANCE_TYPES, "groups have no types in this balance (balance)") \
	X(dst_group_cpus, p->dst_group > PELTON_DST_GROUP_LOAD_EST, "dst_group=load_est and before sum all CPUs") \
	X(rel_deadline, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF has deadlines of requests (fair_class=eevdf)") \
	X(initial_slice, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF has requests (fair_class=eevdf)") \
	X(fair_zero, p->fair_class == PELTON_FAIR_EEVDF, "CFS always counts from min_vruntime (fair_class=eevdf)") \
	X(lag_limit, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF keeps a lag (fair_class=eevdf)") \
	X(run_to_parity, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF has requests (fair_class=eevdf)") \
	X(fair_yield, p->fair_class == PELTON_FAIR_EEVDF, "the yield of CFS has one form (fair_class=eevdf)") \
	X(delayed_lag, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF keeps a lag (fair_class=eevdf)") \
	X(fair_reweight, p->fair_class == PELTON_FAIR_EEVDF, "only EEVDF rescales a lag (fair_class=eevdf)") \
	X(cfs_slice, p->fair_class == PELTON_FAIR_CFS, "slices of EEVDF do not depend on the queue (fair_class=cfs)") \
	X(long_sleeper, p->fair_class == PELTON_FAIR_CFS, "only CFS places a sleeper by its time (fair_class=cfs)") \
	X(idle_credit, p->fair_class == PELTON_FAIR_CFS, "only CFS gives sleepers a credit (fair_class=cfs)") \
	X(menu_form, p->idle_governor == PELTON_IDLE_MENU, "only idle_governor=menu has this form") \
	X(teo_form, p->idle_governor == PELTON_IDLE_TEO, "only idle_governor=teo has this form") \
	X(sampling_form, pelton_governor_samples(p), "only ondemand and conservative take samples (governor)") \
	X(sampling_rate_us, pelton_governor_samples(p), "only ondemand and conservative take samples (governor)") \
	X(up_threshold, pelton_governor_samples(p), "only ondemand and conservative take samples (governor)") \
	X(sampling_down_factor, pelton_governor_samples(p), "only ondemand and conservative take samples (governor)") \
	X(down_threshold, p->governor == PELTON_GOVERNOR_CONSERVATIVE, "only governor=conservative has it") \
	X(freq_step, p->governor == PELTON_GOVERNOR_CONSERVATIVE, "only governor=conservative has steps") \
	X(conservative_form, p->governor == PELTON_GOVERNOR_CONSERVATIVE, "only governor=conservative has steps") \
	X(powersave_bias, p->governor == PELTON_GOVERNOR_ONDEMAND, "only governor=ondemand has it") \
	X(ignore_nice_load, pelton_governor_samples(p), "only ondemand and conservative take samples (governor)") \
	X(io_is_busy, pelton_governor_samples(p) || pelton_governor_timers(p), \
	  "only ondemand, conservative and interactive look at idle time (governor)") \
	X(hispeed_khz, pelton_governor_timers(p), "only governor=interactive has it") \
	X(go_hispeed_load, pelton_governor_timers(p), "only governor=interactive has it") \
	X(target_load, pelton_governor_timers(p), "only governor=interactive has it") \
	X(target_load_2_from_khz, pelton_governor_timers(p), "only governor=interactive has it") \
	X(target_load_2, pelton_governor_timers(p), "only governor=interactive has it") \
	X(target_load_3_from_khz, pelton_governor_timers(p), "only governor=interactive has it") \
	X(target_load_3, pelton_governor_timers(p), "only governor=interactive has it") \
	X(above_hispeed_delay_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(above_hispeed_delay_2_from_khz, pelton_governor_timers(p), "only governor=interactive has it") \
	X(above_hispeed_delay_2_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(above_hispeed_delay_3_from_khz, pelton_governor_timers(p), "only governor=interactive has it") \
	X(above_hispeed_delay_3_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(min_sample_time_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(timer_rate_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(timer_slack_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(boost_val, pelton_governor_timers(p), "only governor=interactive has it") \
	X(boostpulse_duration_us, pelton_governor_timers(p), "only governor=interactive has it") \
	X(userspace_khz, p->governor == PELTON_GOVERNOR_USERSPACE, "only governor=userspace is set to a frequency") \
	X(sched_dvfs_throttle_us, \
	  p->governor == PELTON_GOVERNOR_SCHED_DVFS || p->governor == PELTON_GOVERNOR_SCHED_DVFS_V7, \
	  "only governor=sched_dvfs and sched_dvfs_v7 have this window") \
	X(boost, p->governor <= PELTON_GOVERNOR_SCHED_DVFS_V7, "this governor does not look at utilization") \
	X(gate, p->governor == PELTON_GOVERNOR_SCHEDUTIL, "only governor=schedutil has a gate") \
	X(gate_bypass, p->governor == PELTON_GOVERNOR_SCHEDUTIL, "only governor=schedutil has a gate") \
	X(gate_peak, p->governor == PELTON_GOVERNOR_SCHEDUTIL, "only governor=schedutil has a gate") \
	X(headroom, p->governor == PELTON_GOVERNOR_SCHEDUTIL, "only governor=schedutil has this headroom") \
	X(headroom_pct, \
	  p->margins == PELTON_MARGINS_FIXED && (p->governor == PELTON_GOVERNOR_SCHEDUTIL || p->energy_aware), \
	  "only margins=fixed has a headroom in percent, and only schedutil and placement by energy read it") \
	X(capacity_margin, p->margins == PELTON_MARGINS_FIXED, "only margins=fixed has a part of the capacity") \
	X(hook_filter, p->governor == PELTON_GOVERNOR_SCHEDUTIL, "only governor=schedutil has these hooks")

/* Reasons why a switch or parameter that was set is not read, by number. */
#define PELTON_CONDITION_REASON(field, condition, reason) reason,
static const char *const pelton_condition_reasons[] = { PELTON_CONDITIONS(PELTON_CONDITION_REASON) };

#define PELTON_CONDITION_COUNT ((u32)(sizeof(pelton_condition_reasons) / sizeof(pelton_condition_reasons[0])))

/* 0 when the switch or parameter at `index` is read, else the number of the row of the list above that says why not. */
PELTON_INLINE u32 pelton_policy_without_effect(const struct pelton_policy *p, u32 index)
{
	u32 row = 0, found = 0;

#define PELTON_CONDITION_TEST(field, condition, reason) \
	row++; \
	if (index == PELTON_SWITCH_##field && !(condition)) \
		found = row;
	PELTON_CONDITIONS(PELTON_CONDITION_TEST)
#undef PELTON_CONDITION_TEST
	return found;
}

#endif
