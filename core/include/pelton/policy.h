/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every policy switch, its value in each kernel profile and one paragraph of why.
 *
 * A profile is nothing but a row of defaults. A published experiment is a profile plus one changed switch. Switches
 * combine freely; pelton_policy_check() (policy_table.h) names the two that contradict each other.
 *
 * A row:  X(field, "value names in order", (value of 4.12, since, value, since, value ...), "why")
 * The position of a name is its value; (0, 4_16, 1, 6_1, 2) is 0 in 4.12, 1 from 4.16 on and 2 from 6.1 on.
 *
 * One table, as long as there are switches: what a switch is stands in one place. A new one is one row here, one enum
 * below, one page or paragraph in docs/rules.
 *
 * Source: each value was read in the release's own text, recorded from it, or computed by its compiled code:
 * docs/fidelity/sources.md says how. 5.10, 6.1, 6.12 and 7.2 are the long-term states that Debian carries (5.10.262,
 * 6.1.192, 6.12.117, 7.2.12), 5.15 is 5.15.215, the other profiles are the plain releases.
 */
#ifndef PELTON_POLICY_H
#define PELTON_POLICY_H

#include "types.h"

/* Profiles, oldest first: X(number as part of a name, name, what the caller gives). */
#define PELTON_PROFILES(X, with) \
	X(4_12, "4.12", with) \
	X(4_16, "4.16", with) \
	X(4_19, "4.19", with) \
	X(5_4, "5.4", with) \
	X(5_10, "5.10", with) \
	X(5_15, "5.15", with) \
	X(6_1, "6.1", with) \
	X(6_6, "6.6", with) \
	X(6_8, "6.8", with) \
	X(6_12, "6.12", with) \
	X(6_18, "6.18", with) \
	X(7_2, "7.2", with)

enum {
#define PELTON_PROFILE_NUMBER(number, name, with) PELTON_PROFILE_##number,
	PELTON_PROFILES(PELTON_PROFILE_NUMBER, )
#undef PELTON_PROFILE_NUMBER
};

#define PELTON_COUNT_PROFILE(number, name, with) +1u
#define PELTON_PROFILE_COUNT (0u PELTON_PROFILES(PELTON_COUNT_PROFILE, ))

enum { PELTON_OFF, PELTON_ON };
enum { PELTON_INVARIANCE_CONTRIBUTION, PELTON_INVARIANCE_CLOCK };
enum { PELTON_DIVISOR_CONSTANT, PELTON_DIVISOR_MOVING };
enum { PELTON_RUNNABLE_OFF, PELTON_RUNNABLE_ON, PELTON_RUNNABLE_LOAD, PELTON_RUNNABLE_LOAD_WHOLE };
enum { PELTON_ATTACH_LOAD_SUM_EXACT, PELTON_ATTACH_LOAD_SUM_LEAST_ONE };
enum {
	PELTON_SUM_FLOOR_OFF,
	PELTON_SUM_FLOOR_ON,
	PELTON_SUM_FLOOR_WRAPS,
	PELTON_SUM_FLOOR_REBUILT,
	PELTON_SUM_FLOOR_REBUILT_LOAD
};
enum {
	PELTON_PROPAGATION_FULL_PERIOD,
	PELTON_PROPAGATION_REBUILT,
	PELTON_PROPAGATION_DIFFERENCE,
	PELTON_PROPAGATION_REBUILT_CHANGED
};
enum { PELTON_INIT_UTIL_SCALE, PELTON_INIT_UTIL_CAPACITY };
enum { PELTON_INIT_WEIGHT_UNSCALED, PELTON_INIT_WEIGHT_SCALED };
enum { PELTON_IDLE_CLOCK_LATER, PELTON_IDLE_CLOCK_AT_ONCE };
enum { PELTON_QUEUED_MIGRANT_REMOVED, PELTON_QUEUED_MIGRANT_DETACHED };
enum { PELTON_SHARES_LOAD_WEIGHT, PELTON_SHARES_LOAD_LARGER };
enum { PELTON_CAPACITY_LEFT_RT_SHARE, PELTON_CAPACITY_LEFT_USED, PELTON_CAPACITY_LEFT_ACTUAL };
enum {
	PELTON_UTIL_EST_OFF,
	PELTON_UTIL_EST_U1,
	PELTON_UTIL_EST_U2,
	PELTON_UTIL_EST_U3,
	PELTON_UTIL_EST_U4,
	PELTON_UTIL_EST_U1_ANY
};
enum { PELTON_ESTIMATE_LEAVES_LAST, PELTON_ESTIMATE_LEAVES_FIRST };
enum {
	PELTON_RT_RULE_FLAG_MAX,
	PELTON_RT_RULE_RUNNABLE_MAX,
	PELTON_RT_RULE_RUNNABLE_MAX_UNLESS_UCLAMP,
	PELTON_RT_RULE_NONE
};
enum { PELTON_DL_RULE_FLAG_MAX, PELTON_DL_RULE_BW_ON_TOP, PELTON_DL_RULE_BW_FLOOR };
enum { PELTON_PERF_FLAGS, PELTON_PERF_BW, PELTON_PERF_RT_SUM, PELTON_PERF_CLAMP_THEN_SUM, PELTON_PERF_SUM_THEN_CLAMP };
enum { PELTON_HEADROOM_FREQUENCY, PELTON_HEADROOM_UTILIZATION, PELTON_HEADROOM_BEFORE_CLAMPS };
enum { PELTON_REF_FREQ_HIGHEST, PELTON_REF_FREQ_CAPACITY };
enum { PELTON_MARGINS_FIXED, PELTON_MARGINS_SCALED, PELTON_MARGINS_TICK };
enum {
	PELTON_GATE_R0A,
	PELTON_GATE_R0B,
	PELTON_GATE_R1_TRAILING,
	PELTON_GATE_R1_SLIDING,
	PELTON_GATE_R1_ASYM,
	PELTON_GATE_R2_LINEAR,
	PELTON_GATE_R2_HYPERBOLIC,
	PELTON_GATE_UP_DOWN
};
enum { PELTON_GATE_ASYMMETRY_OFF, PELTON_GATE_ASYMMETRY_ON, PELTON_GATE_ASYMMETRY_FALLS };
enum { PELTON_GATE_BYPASS_OFF, PELTON_GATE_BYPASS_R3A, PELTON_GATE_BYPASS_R3B };
enum { PELTON_RATE_LATENCY_X1000, PELTON_RATE_CAPPED_10MS, PELTON_RATE_CAPPED_2MS, PELTON_RATE_ONE_AND_HALF };
enum {
	PELTON_IOWAIT_OFF,
	PELTON_IOWAIT_JUMP,
	PELTON_IOWAIT_FREQUENCY,
	PELTON_IOWAIT_FREQUENCY_SHARED,
	PELTON_IOWAIT_FREQUENCY_RESET,
	PELTON_IOWAIT_CAPACITY
};
enum { PELTON_DL_BYPASS_OFF, PELTON_DL_BYPASS_BANDWIDTH, PELTON_DL_BYPASS_FLOOR };
enum { PELTON_LIMITS_FORGET, PELTON_LIMITS_COMPARE, PELTON_LIMITS_ASK_DRIVER, PELTON_LIMITS_REPEAT };
enum {
	PELTON_HOLD_OFF,
	PELTON_HOLD_KEEP_CACHE,
	PELTON_HOLD_DROP_CACHE,
	PELTON_HOLD_DROP_UNLESS_NEEDED,
	PELTON_HOLD_RESTORE_CACHE,
	PELTON_HOLD_RESTORE_UNLESS_CAPPED
};
enum { PELTON_STALE_SKIP, PELTON_STALE_SKIP_FAIR, PELTON_STALE_COUNT };
enum { PELTON_BUSY_REFUSE, PELTON_BUSY_OVERWRITE };
enum { PELTON_REMOTE_LOCAL_ONLY, PELTON_REMOTE_FAST_ONLY, PELTON_REMOTE_ALL };
enum { PELTON_WORKER_FIFO50, PELTON_WORKER_DEADLINE };
enum { PELTON_HOOK_DECAY_OFF, PELTON_HOOK_DECAY_LOCAL, PELTON_HOOK_DECAY_REMOTE };
enum { PELTON_HOOK_RT_ACCOUNTING, PELTON_HOOK_RT_ENQUEUE, PELTON_HOOK_RT_OFF };
enum { PELTON_HOOK_DL_ACCOUNTING, PELTON_HOOK_DL_BANDWIDTH, PELTON_HOOK_DL_OFF };
enum { PELTON_HOOK_BLOCKED_OFF, PELTON_HOOK_BLOCKED_PER_CFS_RQ, PELTON_HOOK_BLOCKED_ONCE };
enum {
	PELTON_HOOK_FILTER_H0,
	PELTON_HOOK_FILTER_H1,
	PELTON_HOOK_FILTER_H2,
	PELTON_HOOK_FILTER_H3,
	PELTON_HOOK_FILTER_H4,
	PELTON_HOOK_FILTER_COMPOSITE
};
enum { PELTON_FAIR_CFS, PELTON_FAIR_EEVDF };
enum { PELTON_VIRTUAL_TIME_MULTIPLY, PELTON_VIRTUAL_TIME_DIVIDE };
enum { PELTON_BASE_SLICE_750_US, PELTON_BASE_SLICE_700_US };
enum { PELTON_INITIAL_SLICE_WHOLE, PELTON_INITIAL_SLICE_HALF };
enum { PELTON_CFS_SLICE_PLAIN, PELTON_CFS_SLICE_FLOORED };
enum { PELTON_FAIR_ZERO_MIN_VRUNTIME, PELTON_FAIR_ZERO_AVERAGE };
enum { PELTON_FAIR_WEIGHT_DOWN, PELTON_FAIR_WEIGHT_FULL };
enum { PELTON_LAG_LIMIT_OWN_SLICE, PELTON_LAG_LIMIT_LONGEST_SLICE };
enum { PELTON_DELAYED_LAG_ZERO, PELTON_DELAYED_LAG_KEPT };
enum {
	PELTON_RUN_TO_PARITY_REQUEST,
	PELTON_RUN_TO_PARITY_SHORT,
	PELTON_RUN_TO_PARITY_SHORTEST,
	PELTON_RUN_TO_PARITY_SHORTEST_EACH
};
enum {
	PELTON_FAIR_REWEIGHT_REQUEST,
	PELTON_FAIR_REWEIGHT_AVERAGE,
	PELTON_FAIR_REWEIGHT_ANEW,
	PELTON_FAIR_REWEIGHT_LAG,
	PELTON_FAIR_REWEIGHT_ANEW_PROTECTED,
	PELTON_FAIR_REWEIGHT_OTHERS
};
enum { PELTON_FAIR_YIELD_DEADLINE, PELTON_FAIR_YIELD_FORFEIT };
enum { PELTON_DL_RUNTIME_WALL, PELTON_DL_RUNTIME_SCALED };
enum { PELTON_DL_CONSTRAINED_PLAIN, PELTON_DL_CONSTRAINED_REVISED };
enum { PELTON_DL_ADMISSION_CPUS, PELTON_DL_ADMISSION_CAPACITY };
enum { PELTON_DL_ENFORCEMENT_TICK, PELTON_DL_ENFORCEMENT_TIMER };
enum { PELTON_RT_LIMIT_THROTTLE, PELTON_RT_LIMIT_FAIR_SERVER };
enum {
	PELTON_SERVER_RESTART_ANEW_RUNNING,
	PELTON_SERVER_RESTART_ANEW,
	PELTON_SERVER_RESTART_REVISED_RUNNING,
	PELTON_SERVER_RESTART_REVISED
};
enum { PELTON_SERVER_IDLE_TAKEN, PELTON_SERVER_IDLE_WAITS };
enum { PELTON_SERVER_LATE_REPLENISHED, PELTON_SERVER_LATE_ANEW };
enum { PELTON_NEWIDLE_ALWAYS, PELTON_NEWIDLE_MIGRATION_COST, PELTON_NEWIDLE_DOMAIN_COST, PELTON_NEWIDLE_AT_SWITCH };
enum {
	PELTON_BALANCE_LOADS_NEWLY,
	PELTON_BALANCE_LOADS_ZERO,
	PELTON_BALANCE_LOADS_BIASED,
	PELTON_BALANCE_LOADS,
	PELTON_BALANCE_TYPES,
	PELTON_BALANCE_CAPACITIES,
	PELTON_BALANCE_REDUCED,
	PELTON_BALANCE_CORES,
	PELTON_BALANCE_THREADS,
	PELTON_BALANCE_MISFIT_APART,
	PELTON_BALANCE_RUNNABLE,
	PELTON_BALANCE_OVERUTILIZED
};
enum { PELTON_BALANCE_CAPACITY_AFTER, PELTON_BALANCE_CAPACITY_BEFORE };
enum { PELTON_IDLE_WALK_BALANCE, PELTON_IDLE_WALK_STATS, PELTON_IDLE_WALK_STATS_ASYM, PELTON_IDLE_WALK_ENTRY };
enum {
	PELTON_UCLAMP_OFF,
	PELTON_UCLAMP_MAX,
	PELTON_UCLAMP_GROUP_THROTTLE,
	PELTON_UCLAMP_SUM,
	PELTON_UCLAMP_BIAS,
	PELTON_UCLAMP_BIAS_WEIGHTED,
	PELTON_UCLAMP_DEBT
};
enum { PELTON_UCLAMP_LIMIT_CEILING, PELTON_UCLAMP_LIMIT_RANGE };
enum { PELTON_UCLAMP_USED_ALWAYS, PELTON_UCLAMP_USED_ONCE_ASKED };
enum { PELTON_UCLAMP_FIRST_ZERO, PELTON_UCLAMP_FIRST_LEFT_OVER };
enum { PELTON_UCLAMP_NEW_GROUP_PARENTS, PELTON_UCLAMP_NEW_GROUP_OWN };
enum { PELTON_UCLAMP_CHANGE_KEEPS_MARK, PELTON_UCLAMP_CHANGE_CLEARS_MARK };
enum {
	PELTON_BLOCKED_UPDATE_OWN,
	PELTON_BLOCKED_UPDATE_SCAN,
	PELTON_BLOCKED_UPDATE_INTERVAL,
	PELTON_BLOCKED_UPDATE_LAZY
};
enum { PELTON_HRTICK_OFF, PELTON_HRTICK_ON };
enum { PELTON_PREEMPTION_FULL, PELTON_PREEMPTION_LAZY };
enum { PELTON_SKEW_TICK_OFF, PELTON_SKEW_TICK_ON };
enum { PELTON_NEWIDLE_OWN_FREE, PELTON_NEWIDLE_OWN_COUNTED };
enum { PELTON_NEWIDLE_FAILS_MEASURED, PELTON_NEWIDLE_FAILS_DEARER };
enum { PELTON_NEWIDLE_DICE_OFF, PELTON_NEWIDLE_DICE_SUCCESS, PELTON_NEWIDLE_DICE_RATE };
enum { PELTON_IDLE_MENU, PELTON_IDLE_TEO, PELTON_IDLE_NEXT_TIMER };
enum {
	PELTON_MENU_FORM_4_12,
	PELTON_MENU_FORM_4_16,
	PELTON_MENU_FORM_4_19,
	PELTON_MENU_FORM_5_4,
	PELTON_MENU_FORM_5_10,
	PELTON_MENU_FORM_6_1,
	PELTON_MENU_FORM_6_6,
	PELTON_MENU_FORM_6_12,
	PELTON_MENU_FORM_6_18,
	PELTON_MENU_FORM_7_2
};
enum {
	PELTON_TEO_FORM_5_4,
	PELTON_TEO_FORM_5_10,
	PELTON_TEO_FORM_6_1,
	PELTON_TEO_FORM_6_6,
	PELTON_TEO_FORM_6_12,
	PELTON_TEO_FORM_6_18,
	PELTON_TEO_FORM_7_2
};
enum { PELTON_IDLE_TICK_STOPS, PELTON_IDLE_TICK_GOVERNOR, PELTON_IDLE_TICK_AFTER_TICK };
enum { PELTON_WAKE_QUEUE_FAR, PELTON_WAKE_QUEUE_FAR_OR_IDLE };
enum { PELTON_THERMAL_OFF, PELTON_THERMAL_STEP_WISE, PELTON_THERMAL_POWER_ALLOCATOR };
enum { PELTON_THERMAL_TRIPS_GOVERNOR, PELTON_THERMAL_TRIPS_CORE };
enum { PELTON_STEP_WISE_DOWN, PELTON_STEP_WISE_HOLD, PELTON_STEP_WISE_LOWER, PELTON_STEP_WISE_RELEASE };
enum { PELTON_IPA_TRUNCATES, PELTON_IPA_ROUNDS, PELTON_IPA_IDLE_MAX };
enum { PELTON_COOLING_LOAD_IDLE_TIME, PELTON_COOLING_LOAD_UTILIZATION };
enum {
	PELTON_ENERGY_MODEL_MILLIWATTS,
	PELTON_ENERGY_MODEL_SCALED,
	PELTON_ENERGY_MODEL_MICROWATTS,
	PELTON_ENERGY_MODEL_PERFORMANCE
};
enum {
	PELTON_ENERGY_AWARE_OFF,
	PELTON_ENERGY_AWARE_MARGIN,
	PELTON_ENERGY_AWARE_LIMITED,
	PELTON_ENERGY_AWARE_RANK,
	PELTON_ENERGY_AWARE_ACTUAL
};
enum { PELTON_ENERGY_FULL_CPU_SKIPPED, PELTON_ENERGY_FULL_CPU_CANDIDATE };
enum { PELTON_ENERGY_ZERO_UTILIZATION, PELTON_ENERGY_ZERO_CLAMPED, PELTON_ENERGY_ZERO_NO_FLOOR };
enum { PELTON_ENERGY_RUNNABLE_OFF, PELTON_ENERGY_RUNNABLE_BEFORE_TASK, PELTON_ENERGY_RUNNABLE_WITH_TASK };
enum { PELTON_UTIL_FITS_CAPACITY, PELTON_UTIL_FITS_FLOOR, PELTON_UTIL_FITS_RANK };
enum {
	PELTON_OVERUTILIZED_CAPACITY,
	PELTON_OVERUTILIZED_CLAMPS,
	PELTON_OVERUTILIZED_CLAMPS_ENERGY,
	PELTON_OVERUTILIZED_MAXIMUM_ENERGY
};
enum { PELTON_MISFIT_OFF, PELTON_MISFIT_LOAD, PELTON_MISFIT_PINNED, PELTON_MISFIT_BIGGEST };
enum { PELTON_GROUP_IDLE_OFF, PELTON_GROUP_IDLE_TASKS_FIRST, PELTON_GROUP_IDLE_LEVELS };
enum { PELTON_SCHED_IDLE_CPU_OFF, PELTON_SCHED_IDLE_CPU_ON, PELTON_SCHED_IDLE_CPU_YIELDS };
enum {
	PELTON_IDLE_SEARCH_ALL,
	PELTON_IDLE_SEARCH_COUNTED,
	PELTON_IDLE_SEARCH_SECOND,
	PELTON_IDLE_SEARCH_PASSES,
	PELTON_IDLE_SEARCH_SCAN,
	PELTON_IDLE_SEARCH_CLUSTERS
};
enum {
	PELTON_CAPACITY_SEARCH_OFF,
	PELTON_CAPACITY_SEARCH_FIRST,
	PELTON_CAPACITY_SEARCH_RANK,
	PELTON_CAPACITY_SEARCH_CORES
};
enum {
	PELTON_DST_GROUP_LOAD_ORIG,
	PELTON_DST_GROUP_LOAD,
	PELTON_DST_GROUP_LOAD_NODES,
	PELTON_DST_GROUP_LOAD_EST,
	PELTON_DST_GROUP_TYPES_NEAR,
	PELTON_DST_GROUP_TYPES_QUARTER,
	PELTON_DST_GROUP_TYPES,
	PELTON_DST_GROUP_TYPES_ENERGY
};
enum { PELTON_WAKE_CAP_UTIL, PELTON_WAKE_CAP_EST, PELTON_WAKE_CAP_OFF };
enum { PELTON_DST_GROUP_CPUS_ALL, PELTON_DST_GROUP_CPUS_ALLOWED };
enum {
	PELTON_WAKE_AFFINE_RUNNABLE_LOAD,
	PELTON_WAKE_AFFINE_RUNNABLE_EVEN,
	PELTON_WAKE_AFFINE_RUNNABLE_LESS,
	PELTON_WAKE_AFFINE_LOAD_AVG,
	PELTON_WAKE_AFFINE_IDLE_FIRST
};
enum {
	PELTON_GOVERNOR_SCHEDUTIL,
	PELTON_GOVERNOR_SCHED_DVFS,
	PELTON_GOVERNOR_SCHED_DVFS_V7,
	PELTON_GOVERNOR_ONDEMAND,
	PELTON_GOVERNOR_CONSERVATIVE,
	PELTON_GOVERNOR_PERFORMANCE,
	PELTON_GOVERNOR_POWERSAVE,
	PELTON_GOVERNOR_USERSPACE,
	PELTON_GOVERNOR_INTERACTIVE
};
enum { PELTON_BOOST_FORM_RFC, PELTON_BOOST_FORM_LATER, PELTON_BOOST_FORM_HOLD };
enum { PELTON_SAMPLING_6_12, PELTON_SAMPLING_4_5 };
enum { PELTON_BANDWIDTH_OFF, PELTON_BANDWIDTH_GROUP, PELTON_BANDWIDTH_TASK };
enum {
	PELTON_BANDWIDTH_REFILL_EXPIRES_LATE,
	PELTON_BANDWIDTH_REFILL_EXPIRES,
	PELTON_BANDWIDTH_REFILL_QUOTA,
	PELTON_BANDWIDTH_REFILL_BURST
};
enum {
	PELTON_BANDWIDTH_THROTTLE_HEAD,
	PELTON_BANDWIDTH_THROTTLE_TAIL,
	PELTON_BANDWIDTH_THROTTLE_RETRY,
	PELTON_BANDWIDTH_THROTTLE_AT_ONCE
};
enum { PELTON_BANDWIDTH_SLACK_PUSHED, PELTON_BANDWIDTH_SLACK_KEPT };
enum { PELTON_BANDWIDTH_TIME_THROTTLED, PELTON_BANDWIDTH_TIME_WAITING };
enum { PELTON_BANDWIDTH_PHASE_ALIGNED, PELTON_BANDWIDTH_PHASE_RANDOM };
enum { PELTON_RT_SEARCH_FIRST, PELTON_RT_SEARCH_FITS, PELTON_RT_SEARCH_SPREAD, PELTON_RT_SEARCH_PUSH };
enum { PELTON_DL_SEARCH_LATEST, PELTON_DL_SEARCH_FIRST, PELTON_DL_SEARCH_FITS, PELTON_DL_SEARCH_SPREAD };
enum { PELTON_AFFINITY_FIRST, PELTON_AFFINITY_SPREAD };
enum { PELTON_THROTTLE_CLOCK_TASK, PELTON_THROTTLE_CLOCK_PELT };
enum {
	PELTON_CONSERVATIVE_FORM_STOPS,
	PELTON_CONSERVATIVE_FORM_STEPS,
	PELTON_CONSERVATIVE_FORM_STEPS_IF_IDLE,
	PELTON_CONSERVATIVE_FORM_STOPS_BELOW
};
enum { PELTON_HOST_KERNEL, PELTON_HOST_LIVE };

#define PELTON_SWITCHES(X) \
	X(invariance, "contribution|clock", (0, 5_4, 1), \
	  "How speed enters the signals. contribution: each slice of time is multiplied by frequency and capacity; " \
	  "an always running task converges to its speed. clock: time runs slower on a slow CPU and jumps ahead at " \
	  "idle; it converges to 1024 everywhere.") \
	X(divisor, "constant|moving", (0, 4_16, 1), \
	  "What a sum is divided by. constant: 47742 (a busy task's average swings between 1002 and 1024). moving: " \
	  "the largest sum possible at this position in the period.") \
	X(attach_load_sum, "exact|least_one", (0, 5_10, 1), \
	  "The load sum of an entity that joins a queue, made from its average: exact, or at least 1.") \
	X(sum_floor, "off|on|wraps|rebuilt|rebuilt_load", (0, 5_10, 3, 5_15, 4, 6_1, 2, 7_2, 1), \
	  "What keeps a sum from reaching zero before its average. off: nothing. rebuilt: after a detach or a " \
	  "removal the sum is average times divisor; only a removed utilization has a floor. rebuilt_load: the " \
	  "load's sum after a change of weight too. wraps: a floor of average * 46718 after every subtraction, in " \
	  "32 bits. on: in all bits, and when load is added.") \
	X(propagation, "full_period|rebuilt|difference|rebuilt_changed", (0, 5_10, 1, 5_15, 3, 6_1, 2), \
	  "Sums of a group's entity and of the queue above it, when averages are carried up. full_period: average " \
	  "* 47742, and the load's difference. rebuilt: average times divisor, in both; rebuilt_changed: for load " \
	  "only where its average changes. difference: the queue's sum changes by what the entity's does.") \
	X(init_util, "scale|capacity", (0, 4_19, 1), \
	  "Half of what a new task's utilization may be at most: of 1024, or of its CPU's capacity.") \
	X(init_weight, "unscaled|scaled", (0, 6_12, 1), \
	  "Weight in a new task's first utilization. unscaled: 1024 times the unit of the queue's load. scaled: " \
	  "the same unit.") \
	X(idle_clock, "later|at_once", (0, 6_1, 1), \
	  "When the slowed clock of a CPU that goes idle catches up: at the next update of its clocks, or at once.") \
	X(migration_lag, "off|on", (0, 6_1, 1), \
	  "A task that leaves an idle CPU in its sleep is decayed by the time that CPU did not account.") \
	X(queued_migrant, "removed|detached", (0, 4_16, 1), \
	  "What a runnable task that moves leaves behind. removed: its share goes at the queue's next update, and " \
	  "no detach is reported. detached: at once.") \
	X(tg_limit, "off|on", (0, 6_8, 1), "Refresh the load total of a task group at most once per ms and queue.") \
	X(decayed_contrib, "off|on", (1, 4_16, 0, 6_12, 1), \
	  "A group's queue without load stays in the walk over blocked load until its part of the group's load is " \
	  "taken back (in 4.12 always).") \
	X(shares_load, "weight|larger", (0, 4_16, 1), \
	  "What of a group's load a CPU's share is worked out from: the weight queued there, or the larger of it " \
	  "and the load average.") \
	X(shares_keep_empty, "off|on", (0, 6_12, 1), \
	  "An empty group queue keeps the last weight of its entity instead of computing a new one.") \
	X(shares_set_same, "off|on", (1, 6_8, 0), \
	  "A group's entity gets its weight again when that is the same; its load average then follows the sum. " \
	  "Recorded in 6.1, read in 6.6.") \
	X(rt_signal, "off|on", (0, 4_19, 1), "A load-tracking record for the time real-time tasks run.") \
	X(dl_signal, "off|on", (0, 4_19, 1), \
	  "A load-tracking record for the time deadline tasks run. It decides saturation, and from 6.8 it is part " \
	  "of the sum.") \
	X(irq_signal, "off|on", (0, 4_19, 1), \
	  "A load-tracking record for time in interrupts or stolen by a hypervisor. What is left of the CPU is " \
	  "what the classes share.") \
	X(hw_signal, "off|on", (0, 5_10, 1), \
	  "Time-weighted capacity lost to the hardware: thermal pressure (5.10), hardware pressure (6.12).") \
	X(capacity_left, "rt_share|used|actual", (0, 4_19, 1, 6_12, 2), \
	  "What is left of a CPU for fair tasks. rt_share: capacity times the part of the last second that others " \
	  "left. used: less real-time, deadline and thermal load, scaled by interrupts relative to the whole " \
	  "capacity. actual: relative to what lost capacity leaves.") \
	X(util_est, "off|u1|u2|u3|u4|u1_any", (0, 4_19, 5, 5_4, 1, 5_10, 2, 6_8, 3, 6_18, 4), \
	  "Memory of what a task reached before it slept. u1: filter with equal weight both ways, marked in bit 0. " \
	  "u1_any: without the capacity test. u2: rises at once. u3: a single field, not lowered for a task that " \
	  "was kept waiting. u4: u3 without the capacity test.") \
	X(util_est_stale, "off|on", (0, 6_12, 1, 7_2, 0), \
	  "The estimate is sampled before the entity is updated: a value up to one tick old. Up to 6.6 afterwards, " \
	  "in 7.2 inside the update.") \
	X(estimate_leaves, "last|first", (0, 5_10, 1), \
	  "A task that leaves takes its estimate off the CPU's: last (the frequency hook of the same event still " \
	  "sees it) or first.") \
	X(runnable_signal, "off|on|load|load_whole", (3, 4_16, 2, 5_10, 1), \
	  "What is averaged of time on the queue. on: without weights. load: with them; a group counts by its " \
	  "runnable part. load_whole: a group counts whole. off: nothing; wake-ups compare the sum of queued loads.") \
	X(runnable_boost, "off|on", (0, 6_6, 1), "Frequency follows the larger of utilization and runnable average.") \
	X(rt_rule, "flag_max|runnable_max|runnable_max_unless_uclamp|none", (0, 4_19, 1, 5_4, 2), \
	  "What a real-time task asks for. flag_max: maximum for hook calls with its flag. runnable_max: maximum " \
	  "while one is runnable. runnable_max_unless_uclamp: only while no clamps are in use (5.4: not built). " \
	  "none: its share of the sum.") \
	X(rt_in_sum, "off|on", (0, 4_19, 1), "Add real-time utilization to the fair request.") \
	X(cfs_if_queued, "off|on", (0), \
	  "Fair utilization counts only while a fair task is queued. 4.17 alone; no profile has it.") \
	X(dl_rule, "flag_max|bw_on_top|bw_floor", (0, 4_16, 1, 6_8, 2), \
	  "What deadline tasks ask for. flag_max: maximum by flag. bw_on_top: running bandwidth added to the sum, " \
	  "headroom included. bw_floor: running bandwidth is a floor without headroom.") \
	X(perf_form, "flags|bw|rt_sum|clamp_then_sum|sum_then_clamp", (0, 4_16, 1, 4_19, 2, 5_4, 3, 6_8, 4), \
	  "Order of summation, clamps and interrupt scaling. flags: fair utilization alone. bw: plus deadline " \
	  "bandwidth. rt_sum: plus real-time and interrupts. clamp_then_sum: clamps on fair and real-time. " \
	  "sum_then_clamp: sum first, minimum and maximum beside it.") \
	X(uclamp_iowait, "off|on", (0, 5_15, 1, 6_8, 0), \
	  "The boost of I/O waiters is limited by the clamps (not in 5.4 and 5.10; from 6.8 it joins the sum " \
	  "before the clamps).") \
	X(headroom, "frequency|utilization|before_clamps", (0, 5_15, 1, 6_8, 2), \
	  "Where the quarter is added: on the reference frequency, on the utilization, or on the utilization " \
	  "before it is clamped.") \
	X(ref_freq, "highest|capacity", (0, 6_8, 1), \
	  "What a request of 1024 asks for. highest: the highest frequency, or without invariance the present one. " \
	  "capacity: where the architecture names it (arm, arm64, riscv), the frequency that invariant signals are " \
	  "scaled to; else the highest, or without invariance a quarter above the present one.") \
	X(margins, "fixed|scaled|tick", (0), \
	  "How far above utilization the frequency is chosen, and how full a CPU may be for a task to fit. fixed: " \
	  "a quarter, and 80 %. Proposals: what can be reached in 4 ms; a CPU is too small from what is reached in " \
	  "the time to its capacity, scaled by that (scaled) or less a tick (tick).") \
	X(gate, "r0a|r0b|r1_trailing|r1_sliding|r1_asym|r2_linear|r2_hyperbolic|up_down", (1), \
	  "When the frequency may change. r0a, r0b: rate limit, restarted by every evaluation (4.7-4.11) or by a changed " \
	  "request (4.12). r1_*: window from the cost of a transition, with the maximum wanted in it. r2_*: the larger " \
	  "the error, the sooner. up_down: one limit per direction (vendor kernels).") \
	X(gate_bypass, "off|r3a|r3b", (0), \
	  "The RT and deadline classes raise the frequency whatever the window says. r3a restarts the window, r3b " \
	  "leaves it to the fair class (2017).") \
	X(gate_peak, "off|on", (0), "Lower the frequency only to the maximum wanted within the cost window.") \
	X(gate_asymmetry, "off|on|falls", (0), \
	  "The error-proportional gates (r2_*) wait twice as long before they lower the frequency (on), or wait, and leave " \
	  "out small errors, for decreases only: what is more is set at once (falls).") \
	X(rate_limit_default, "latency_x1000|capped_10ms|capped_2ms|one_and_half", (0, 4_16, 1, 6_12, 3), \
	  "Default rate limit: a thousand times the driver's latency, the same capped at 10 ms or at 2 ms (no " \
	  "profile), or one and a half times it.") \
	X(iowait_boost, "off|jump|frequency|frequency_shared|frequency_reset|capacity", (1, 4_16, 3, 4_19, 4, 5_4, 5), \
	  "Boost for tasks that wake from I/O. jump: to the maximum at once. frequency: doubles from the lowest " \
	  "frequency (4.17). frequency_shared: not in a domain of one CPU. frequency_reset: forgotten after a tick " \
	  "of silence. capacity: doubles from 128 of 1024.") \
	X(dl_bypass, "off|bandwidth|floor", (0, 4_19, 1, 6_8, 2), \
	  "A raised deadline bandwidth ignores the rate limit, and nothing else. bandwidth: compared with that of " \
	  "the last evaluation. floor: compared with the last minimum, which contains it, clamps and, from 6.8, " \
	  "the whole scale while a real-time task runs without clamps.") \
	X(limits_update, "forget|compare|ask_driver|repeat", (0, 4_19, 1, 5_10, 2, 6_6, 3, 6_12, 2), \
	  "What new limits and a deadline override do beside opening the gate. forget: the last request is " \
	  "forgotten. compare: an equal request changes nothing. ask_driver: unless the driver wants every change " \
	  "of limits. repeat: the driver is called in any case, such drivers at every later evaluation.") \
	X(hold, "off|keep_cache|drop_cache|drop_unless_needed|restore_cache|restore_unless_capped", \
	  (1, 4_16, 2, 5_4, 3, 5_10, 4, 6_1, 5), \
	  "A single-CPU domain does not go down while its CPU never went idle. After holding, the cached raw " \
	  "request is kept (4.12), dropped (4.16; in 5.4 not held after new limits) or restored (5.10); from 6.1 a " \
	  "CPU at its uclamp maximum, or with new limits, is not held.") \
	X(stale_cpu, "skip|skip_fair|count", (0, 4_16, 1, 4_19, 2), \
	  "What a shared domain knows of its other CPUs. skip: what they asked for at their last hook call, " \
	  "nothing when that is older than a tick. skip_fair: then their deadline bandwidth still counts. count: " \
	  "what they have now.") \
	X(while_busy, "refuse|overwrite", (0, 4_19, 1), \
	  "Until the driver has returned to the slow-path worker, refuse all evaluations; or replace the frequency " \
	  "that the worker will set, and wake it again when it has fetched the last.") \
	X(remote, "local_only|fast_only|all", (0, 4_16, 1, 5_10, 2), \
	  "Which CPUs outside a domain may drive it. local_only: none. fast_only: fast-switch domains need a " \
	  "driver that can, slow ones always work. all: the driver must be able to.") \
	X(worker, "fifo50|deadline", (0, 4_16, 1), \
	  "Class of the slow-path worker: FIFO priority 50, or deadline with a reservation that is never accounted.") \
	X(hook_decay, "off|local|remote", (1, 4_16, 2), \
	  "Call the governor when the root average decayed. local: only on the CPU concerned. off: update-hooks " \
	  "proposal of 2017.") \
	X(hook_in_average, "off|on", (1, 5_10, 0), \
	  "The decay call sits inside the average update: it precedes attach and detach, and a mere propagation " \
	  "does not cause it.") \
	X(hook_attach, "off|on", (1), \
	  "Call the governor when an entity is attached to or detached from the root queue.") \
	X(hook_tick, "off|on", (0), "Call the governor at every fair tick, decayed or not (update-hooks proposal).") \
	X(hook_rt, "accounting|enqueue|off", (0, 4_19, 1), \
	  "When the real-time class calls: each time run time is accounted, with a flag, or at every enqueue and " \
	  "dequeue at the top level.") \
	X(hook_dl, "accounting|bandwidth|off", (0, 4_16, 1), \
	  "When the deadline class calls: accounting, with a flag, or a change of the running bandwidth.") \
	X(hook_blocked, "off|per_cfs_rq|once", (1, 5_10, 2), \
	  "The walk that decays blocked load: a call from each average update inside it, or one at the end if " \
	  "anything decayed.") \
	X(hook_iowait, "off|on", (1), "Call the governor when a task is enqueued that slept in I/O wait.") \
	X(hook_filter, "h0|h1|h2|h3|h4|composite", (0), \
	  "Which of the events above reach the governor. h0: all (mainline). h1: attach, detach, every fair tick and " \
	  "the other classes (posted 2017). h2: all but changes smaller than hook_epsilon. h3: one call per context " \
	  "switch (posted 2024). h4: the fair tick alone. composite: h0 without small changes between ticks.") \
	X(fair_class, "cfs|eevdf", (0, 6_6, 1), \
	  "How the fair class picks: smallest virtual run time, or earliest eligible virtual deadline.") \
	X(delayed_dequeue, "off|on", (0, 6_12, 1), \
	  "A task that sleeps with negative lag stays queued, not runnable, until it is eligible.") \
	X(virtual_time, "multiply|divide", (0, 7_2, 1), \
	  "How real time becomes the virtual time of a weight. multiply: with the inverse of the weight in 32 " \
	  "bits, rounded down. divide: exactly (7.2, on 64-bit machines).") \
	X(base_slice, "750_us|700_us", (0, 6_12, 1), \
	  "Length of a request for which none was set, times 1 + log2 of the CPUs (at most 8): 0.75 ms in 6.6, 0.70 ms in " \
	  "6.12.117 and later. CFS has no requests.") \
	X(custom_slice, "off|on", (0, 6_12, 1), \
	  "A task may ask for a slice of its own, and a group asks for the shortest one in it.") \
	X(rel_deadline, "off|on", (0, 6_12, 1), \
	  "A task that moves to another queue while it is runnable takes along what is left of its request; else it " \
	  "starts a new one.") \
	X(initial_slice, "whole|half", (0, 6_12, 1), \
	  "First request of a new task: a whole slice on the queue it joins, or half of one.") \
	X(cfs_slice, "plain|floored", (0, 5_10, 1, 6_6, 0), \
	  "CFS. plain: the period grows with the entities of a level. floored: with the tasks of the CPU, and no " \
	  "slice is shorter than the minimum granularity.") \
	X(long_sleeper, "off|on", (0, 5_10, 1, 6_6, 0), \
	  "CFS. A task that slept for 2^53 ns is placed without a look at its old place.") \
	X(idle_credit, "off|on", (0, 6_1, 1, 6_6, 0), \
	  "CFS. A sleeper of SCHED_IDLE gets half of the minimum granularity as credit, and its slice may be 0.75 " \
	  "ms.") \
	X(group_idle, "off|tasks_first|levels", (0, 5_15, 1, 6_12, 2), \
	  "Whether groups may be idle (cpu.idle). off: no. tasks_first: yes; that a task is of SCHED_IDLE decides " \
	  "about a preemption before groups do. levels: only what meets is looked at, and an entity that gives way " \
	  "because it is idle has no protection.") \
	X(fair_zero, "min_vruntime|average", (0, 6_12, 1, 6_18, 0, 7_2, 1), \
	  "What the sums of EEVDF are relative to, and so where the first entity of an empty queue is placed. " \
	  "min_vruntime: the least virtual time, which never goes back. average: the average of the last look.") \
	X(fair_weight, "down|full", (0, 7_2, 1), \
	  "Weights in the sums of EEVDF: in units of 1024 of what is stored, or all of it, compared in 128 bits.") \
	X(lag_limit, "own_slice|longest_slice", (0, 7_2, 1), \
	  "Most lag that an entity takes along: twice its slice and at least a tick, or the longest slice of its " \
	  "queue and a tick.") \
	X(run_to_parity, "request|short|shortest|shortest_each", (0, 6_12, 1, 6_18, 2, 7_2, 3), \
	  "How long the running entity is safe from wake-ups. request: while its request lasts. short: an eligible " \
	  "wakee of shorter slice that would be next ends it. shortest: for the shortest slice of the queue. " \
	  "shortest_each: the same, looked up at every wake-up.") \
	X(fork_preempts, "off|on", (1, 7_2, 0), \
	  "A task that was just made may preempt the running one. 7.2 does not look, unless its slice is shorter.") \
	X(fair_yield, "deadline|forfeit", (0, 6_12, 1), \
	  "sched_yield() under EEVDF. deadline: the deadline moves by a request. forfeit: only when eligible, and " \
	  "then the virtual time moves to the deadline. CFS passes the task over once, in every release.") \
	X(fair_reweight, "request|average|anew|lag|anew_protected|others", (0, 6_8, 5, 6_12, 1, 6_18, 2, 7_2, 3), \
	  "What another weight of a queued entity changes beside it. request: the rest of its request. average: " \
	  "its lag, too. others: by the average of the others when it waits, without limit. anew: both, and it is " \
	  "placed as if it joined. anew_protected: with its protection (6.18.17). lag: as average, with its " \
	  "protection.") \
	X(delayed_lag, "zero|kept", (0, 7_2, 1), \
	  "Lag of an entity whose dequeue was delayed. zero: it gains none. kept: nor does it lose any to others " \
	  "that join or leave meanwhile.") \
	X(rt_limit, "throttle|fair_server", (0, 6_12, 1), \
	  "What keeps real-time tasks from starving the fair class. throttle: 950 ms of every second. fair_server: " \
	  "a deadline server runs fair tasks that had too little of a period; while active its bandwidth counts in " \
	  "what the CPU asks for.") \
	X(server_restart, "anew_running|anew|revised_running|revised", (0, 6_12, 2, 6_18, 0, 7_2, 2), \
	  "A fair server that starts again before its deadline with more left than fits. anew: a new period. " \
	  "anew_running: and it runs at once if it ran before. revised: it goes on until its deadline, with what " \
	  "fits. revised_running: that only if it ran before, else anew.") \
	X(server_idle, "taken|waits", (0, 7_2, 1), \
	  "What idle time is for a fair server. taken: it takes from the runtime, down to nothing. waits: as if " \
	  "fair tasks had run, and a server that finds its CPU idle when its time comes stops.") \
	X(server_late, "replenished|anew", (0, 6_18, 1), \
	  "A fair server that used its runtime when its next period has already begun. replenished: it goes on. " \
	  "anew: it waits for a period from now on.") \
	X(dl_runtime, "wall|scaled", (0, 4_16, 1), \
	  "What running takes from the runtime of a deadline reservation. wall: the time. scaled: the time at the " \
	  "current frequency and the CPU's capacity.") \
	X(dl_constrained, "plain|revised", (0, 4_16, 1), \
	  "Reservations whose deadline is shorter than their period. plain: a wake-up that would be too dense " \
	  "starts a period. revised: it keeps the deadline with the runtime that the density allows, and one that " \
	  "wakes between deadline and period waits with nothing left.") \
	X(dl_admission, "cpus|capacity", (0, 5_10, 1), \
	  "What 95 % of which deadline reservations may have: the number of CPUs, or the sum of their capacities.") \
	X(dl_enforcement, "tick|timer", (0, 7_2, 1), \
	  "When a deadline task without runtime is stopped: at the next tick or switch, or by a timer of its own " \
	  "(7.2 on x86 and not arm64).") \
	X(hrtick, "off|on", (0, 7_2, 1), \
	  "Whether a timer ends the request of a running fair task for which others wait (7.2 on x86 and not " \
	  "arm64), or only a tick or wake-up.") \
	X(preemption, "full|lazy", (0), \
	  "When a running fair task gives way to another fair task. full: at once. lazy: when its CPU next returns " \
	  "to user mode; one in user code notices another CPU's wake-up at its next interrupt " \
	  "(CONFIG_PREEMPT_LAZY).") \
	X(skew_tick, "off|on", (0), \
	  "When CPUs tick. off: together. on: each later than the CPU before it, by half a tick divided by the " \
	  "number of CPUs (boot parameter skew_tick=1).") \
	X(rt_runtime_share, "off|on", (1, 5_10, 0), \
	  "A CPU whose real-time tasks used up its share borrows what the other CPUs have not used: one busy " \
	  "real-time task on several CPUs is never throttled.") \
	X(newidle, "always|migration_cost|domain_cost|at_switch", (1, 6_1, 2, 7_2, 3), \
	  "When a CPU that runs out of tasks does not look elsewhere. migration_cost: while its mean idle time is " \
	  "below 500 us, or below what a search costs. domain_cost: only the latter. at_switch: the same, and an " \
	  "idle time ends with the switch to a task. always: it always looks.") \
	X(balance, \
	  "loads_newly|loads_zero|loads_biased|loads|types|capacities|reduced|cores|threads|misfit_apart|runnable|overutilized", \
	  (0, 4_16, 1, 4_19, 2, 5_4, 3, 5_10, 4, 5_15, 5, 6_1, 6, 6_6, 7, 6_8, 8, 6_12, 9, 6_18, 10, 7_2, 11), \
	  "How tasks are moved between CPUs. To 5.4 by the loads of groups of CPUs: of runnable tasks (loads); " \
	  "fading over ticks where a cache is not shared or the CPU is busy (loads_biased); also of a group with " \
	  "nothing to move (loads_zero); only a newly idle CPU takes from an overloaded group in any case " \
	  "(loads_newly). From 5.10 by types of groups (types). capacities: larger begins a twentieth above. " \
	  "reduced: a CPU whose capacity others took gives a lone task away. cores: tasks for each core are evened " \
	  "out. threads: without an idle core one idle " \
	  "thread balances. misfit_apart: a misfit task is no failure. runnable: delayed tasks do not count. " \
	  "overutilized: only groups with an over-utilized CPU are overloaded under placement by energy.") \
	X(balance_capacity, "after|before", (0, 6_1, 1, 6_6, 0, 6_12, 1, 6_18, 0, 7_2, 1), \
	  "When a group of bigger CPUs than this one is passed over. after: only when it ties with the busiest so " \
	  "far. before: always, and a task too big for its CPU goes to an idle core only.") \
	X(cache_aware, "off|on", (0, 7_2, 1), \
	  "Threads of one process prefer the cache in which they ran most; balances take or leave them there while " \
	  "it is not too full (CONFIG_SCHED_CACHE).") \
	X(idle_walk, "balance|stats|stats_asym|entry", (0, 4_19, 1, 5_4, 2, 5_10, 3), \
	  "Which CPU updates the load of idle CPUs without tick: an idle one that a busy CPU's tick wakes. " \
	  "balance: when there may be something to balance. stats: every 32 ms too, and a CPU that goes idle walks " \
	  "itself when due. stats_asym: with unequal capacities busy CPUs are no reason. entry: from its idle loop.") \
	X(uclamp, "off|max|group_throttle|sum|bias|bias_weighted|debt", (0, 5_4, 1), \
	  "Utilization clamps. off: none. max: the largest clamp of the runnable tasks. group_throttle: the same, " \
	  "and no task group counts for more than its part of a CPU (Android, 2021). The others add clamped " \
	  "utilizations up. sum: they fall as utilization does. bias: a signed difference to the utilization is " \
	  "kept. bias_weighted: no cap takes from others what their weight entitles them to. debt: as bias, with " \
	  "what a sleeper leaves beside the averages.") \
	X(uclamp_limit, "ceiling|range", (0, 5_10, 1), \
	  "What a group's clamps do to those of its tasks. ceiling: each takes the place of a task's that is larger " \
	  "or that the task did not choose itself. range: the task's are both kept between the group's two.") \
	X(uclamp_used, "always|once_asked", (0, 5_10, 1), \
	  "Since when clamps count. always: from the start, real-time tasks' lower one of 1024 too. once_asked: " \
	  "since the first request for one (sched_uclamp_used).") \
	X(uclamp_first, "zero|left_over", (0, 5_10, 1), \
	  "Clamps of a CPU that had no task yet. zero: 0 and 0. left_over: none, marked as those of an idle CPU.") \
	X(uclamp_new_group, "parents|own", (0, 5_4, 1), \
	  "Clamps in force of a group whose files were not written. parents: those of the group above; the root's " \
	  "are 1024 and 1024 (5.4.0). own: 0 and 1024 within those of the group above.") \
	X(uclamp_change, "keeps_mark|clears_mark", (0, 5_10, 1), \
	  "A group's clamps change while a CPU's only task is in it. keeps_mark: the CPU stays marked as idle, and " \
	  "the next task's clamps replace those of the one that runs. clears_mark: not so.") \
	X(idle_governor, "menu|teo|next_timer", (0), \
	  "Which governor chooses idle states. menu: from the last eight stays and the next timer. teo: from where " \
	  "between the states' residencies earlier stays ended. next_timer: the deepest state that pays until the " \
	  "next timer; the tick always stops.") \
	X(menu_form, "4_12|4_16|4_19|5_4|5_10|6_1|6_6|6_12|6_18|7_2", \
	  (0, 4_16, 1, 4_19, 2, 5_4, 3, 5_10, 4, 5_15, 5, 6_6, 6, 6_12, 7, 6_18, 8, 7_2, 9), \
	  "The form of menu, named by its release (docs/rules/idle.md).") \
	X(teo_form, "5_4|5_10|6_1|6_6|6_12|6_18|7_2", (0, 5_10, 1, 5_15, 2, 6_6, 3, 6_12, 4, 6_18, 5, 7_2, 6), \
	  "The form of teo, named by its release (docs/rules/idle.md); 4.12 to 4.19 have no teo, and get that of " \
	  "5.4.") \
	X(idle_tick, "stops|governor|after_tick", (0, 4_19, 1, 5_10, 2, 6_6, 1, 6_12, 2, 6_18, 1, 7_2, 2), \
	  "The tick of an idle CPU. stops: before the governor is asked. governor: it goes on when the governor " \
	  "expects the CPU back within it. after_tick: and without a second idle state it stops once it came.") \
	X(wake_queue, "far|far_or_idle", (0, 5_15, 1), \
	  "Which wake-ups are executed by the CPU that gets the task: those to another cache, or also those to a " \
	  "CPU that has nothing to run. It pays for enqueueing and for the governor then.") \
	X(wake_affine, "runnable_load|runnable_even|runnable_less|load_avg|idle_first", \
	  (0, 4_16, 1, 4_19, 2, 5_10, 3, 5_15, 4), \
	  "Whether the search for an idle CPU starts at the waker's or at the wakee's last one. runnable_load: by " \
	  "the load of runnable tasks. runnable_even: the waking CPU is asked first whether it is idle. " \
	  "runnable_less: what is even goes with the waker only when it is about to sleep. load_avg: by averages. " \
	  "idle_first: an idle last CPU comes before loads.") \
	X(wake_cap, "util|est|off", (0, 5_4, 1, 5_10, 2), \
	  "With unequal CPUs a task for which the smaller of the waker's and its last CPU is too small is not " \
	  "drawn to the waker. util: by its utilization. est: by its estimate, and it goes through the search for " \
	  "new tasks. off: not asked.") \
	X(energy_model, "milliwatts|scaled|microwatts|performance", (0, 5_10, 1, 6_1, 2, 6_12, 3), \
	  "The unit in which a state's cost is kept. milliwatts: highest frequency * mW / frequency. scaled: the " \
	  "same times 1000. microwatts: the power comes in uW. performance: 10 * uW / performance, and the state is " \
	  "chosen by performance.") \
	X(energy_aware, "off|margin|limited|rank|actual", (0, 5_4, 1, 5_15, 2, 6_1, 3, 6_12, 4), \
	  "How a waking task is placed by energy on unequal CPUs. off: not. margin: the previous CPU stays unless " \
	  "another saves a sixteenth. limited: the same, utilization cut at the capacity that cooling leaves. " \
	  "rank: the smallest addition wins, a CPU that cannot keep a lower clamp comes last. actual: the same " \
	  "under the capacity that limits leave.") \
	X(energy_full_cpu, "skipped|candidate", (0, 6_1, 1, 6_6, 0, 6_8, 1), \
	  "Whether a CPU without room may be chosen by energy when the task fits it by its clamps. skipped: no. " \
	  "candidate: yes.") \
	X(energy_zero, "utilization|clamped|no_floor", (0, 5_10, 2, 6_6, 1, 6_8, 2), \
	  "When a task has nothing that placement by energy could save with, and stays. utilization: it has none. " \
	  "clamped: it has none within its clamps. no_floor: it has none and no lower clamp.") \
	X(energy_runnable, "off|before_task|with_task", (0, 6_6, 1, 6_12, 2, 6_18, 1, 7_2, 2), \
	  "Waiting tasks raise what a CPU is expected to ask for. off: not. before_task: as they are before the task " \
	  "comes or goes. with_task: with it (stable 6.12, 7.2).") \
	X(util_fits, "capacity|floor|rank", (0, 5_10, 1, 6_1, 2), \
	  "When a task fits a CPU. capacity: utilization below four fifths of what is left for the fair class. " \
	  "floor: its clamps count, one that the CPU cannot keep is no fit. rank: such a CPU fits, but worse than " \
	  "others.") \
	X(overutilized, "capacity|clamps|clamps_energy|maximum_energy", \
	  (0, 5_10, 1, 5_15, 2, 6_6, 1, 6_12, 2, 7_2, 3), \
	  "When a CPU has too much to do for placement by energy. capacity: its utilization does not fit. clamps: " \
	  "not under its clamps. clamps_energy: the same, only while placement by energy is on. maximum_energy: its " \
	  "lower clamp does not count.") \
	X(misfit, "off|load|pinned|biggest", (0, 5_4, 1, 5_10, 2, 6_12, 3), \
	  "When a running task waits for a bigger CPU. off: never. load: its utilization does not fit. pinned: a " \
	  "task that may use one CPU only does not wait. biggest: nor one that already has the biggest it may use.") \
	X(sched_idle_cpu, "off|on|yields", (0, 5_4, 1, 7_2, 2), \
	  "Whether a CPU that runs SCHED_IDLE tasks only counts as idle for a task that wakes. off: no. on: yes. " \
	  "yields: not when the task is of SCHED_IDLE itself.") \
	X(idle_search, "all|counted|second|passes|scan|clusters", (0, 4_16, 1, 5_4, 2, 5_10, 3, 5_15, 4, 6_8, 5), \
	  "The search for an idle CPU in a cache group. all: cores, then all CPUs, then threads. counted: the CPU " \
	  "before the last one, too, and as many CPUs as the mean idle time leaves. second: one with SCHED_IDLE " \
	  "tasks only when none is idle. passes: the first of either kind; a kernel thread of its CPU leaves the " \
	  "task there. scan: as many CPUs as the group's utilization leaves. clusters: those of the same cluster " \
	  "first.") \
	X(capacity_search, "off|first|rank|cores", (0, 5_10, 1, 6_1, 2, 7_2, 3), \
	  "The search on unequal CPUs. off: as on any other. first: the first idle one that fits, else the " \
	  "biggest. rank: those that fit but for a lower clamp before others. cores: whole cores before threads, " \
	  "as many CPUs as the utilization leaves.") \
	X(dst_group, "load_orig|load|load_nodes|load_est|types_near|types_quarter|types|types_energy", \
	  (0, 4_16, 1, 4_19, 2, 5_4, 3, 5_10, 4, 5_15, 5, 6_1, 6, 7_2, 7), \
	  "Where a new task, or one that loads a program, goes. load_orig: to the group with least runnable load, " \
	  "a program to most room in the original capacity. load: in what is left of it. load_nodes: another node " \
	  "must have less by the whole margin. load_est: the task's own estimate is no load. types_near: groups " \
	  "are classified, a node with an idle CPU keeps its tasks. types_quarter: while less than a quarter of " \
	  "its CPUs run tasks. types: nodes may differ by some tasks. types_energy: no group is overloaded under " \
	  "placement by energy.") \
	X(dst_group_cpus, "all|allowed", (0, 5_10, 1, 6_6, 0, 6_12, 1, 6_18, 0, 7_2, 1), \
	  "Which CPUs of a group are summed for that: all of them, or those that the task may use (stable 5.10, 6.1 and 6.12; " \
	  "7.2).") \
	X(governor, \
	  "schedutil|sched_dvfs|sched_dvfs_v7|ondemand|conservative|performance|powersave|userspace|interactive", (0), \
	  "Which governor chooses frequencies. sched_dvfs: votes at wake-ups and sleeps, and a jump to the maximum " \
	  "at the tick (2015); sched_dvfs_v7: its last posting. ondemand, conservative: from the idle time between " \
	  "samples. performance, powersave: the limits. userspace: one frequency. interactive: with a frequency to " \
	  "jump to (Android 3.x to 4.9).") \
	X(boost_form, "rfc|later|hold", (0), \
	  "SchedTune. rfc: the posting of 2015, the root's boost always counts. later: Android 4.4, boosts may be " \
	  "negative, every group counts with runnable tasks only. hold: Android 4.14, a boost may outlive its task " \
	  "by 50 ms.") \
	X(sampling_form, "6_12|4_5", (0), \
	  "ondemand and conservative. 4_5: a period is 1000 latencies of the driver, at least 10 ms, and after a " \
	  "long time without sample the load before it counts. 6_12: two ticks or the driver's delay, and only " \
	  "idle time counts as long.") \
	X(conservative_form, "stops|steps|steps_if_idle|stops_below", \
	  (3, 4_19, 0, 5_10, 1, 6_6, 0, 6_12, 2, 6_18, 0, 7_2, 1), \
	  "conservative. stops: at a limit it asks for nothing, and a step down may lead below the lower limit. " \
	  "steps: a step ends at the limit. steps_if_idle: and the steps of periods without sample are taken only " \
	  "when the load is below down_threshold. stops_below: as stops, and those steps may lead below the lower " \
	  "limit too.") \
	X(blocked_update, "own|scan|interval|lazy", (0, 4_19, 1, 5_10, 0), \
	  "Whose load a CPU refreshes that looks for a task before it goes idle. own: its own. scan: also that of " \
	  "every idle CPU it looks at, once a tick. interval: the same, not within blocked_update_us of the last " \
	  "time (posting of 2021). lazy: none; a reader works out how far an idle CPU's load has faded.") \
	X(newidle_own, "free|counted", (0, 6_1, 1), \
	  "Refreshing its own load before such a look is part of its cost, or not.") \
	X(newidle_dice, "off|success|rate", (0, 6_1, 1, 6_6, 0, 6_12, 1, 6_18, 0, 7_2, 2), \
	  "Whether a CPU that runs out of tasks throws dice before it looks at a domain. success: it looks as often " \
	  "as looks found something. rate: the more often, too, the rarer it gets there.") \
	X(newidle_fails, "measured|dearer", (0, 6_18, 1, 7_2, 0), \
	  "What a fruitless search makes of a domain's remembered cost. measured: what it took. dearer: half more " \
	  "than the longest before, at most 0.5 ms (6.18.2 alone).") \
	X(bandwidth, "off|group|task", (1, 6_18, 2), \
	  "Quotas of task groups. off: none is kept. group: a queue that used its group's quota up is taken off " \
	  "its parent. task: it stays, and each of its tasks leaves when it would return to user space.") \
	X(bandwidth_refill, "expires_late|expires|quota|burst", (0, 4_19, 1, 5_4, 2, 5_15, 3), \
	  "What the end of a period does. expires: the pool is the quota again, and what queues hold is lost; " \
	  "expires_late: a tick after the next refill. quota: what they hold is theirs. burst: what was not used " \
	  "is kept up to the burst, and the pool is filled before the timer stops.") \
	X(bandwidth_throttle, "head|tail|retry|at_once", (0, 4_19, 1, 5_10, 2, 7_2, 3), \
	  "Where a throttled queue stands among those that wait for runtime. head: before the others. tail: behind " \
	  "them. retry: and it asks the pool once more before. at_once: throttled in the update that finds nothing " \
	  "left.") \
	X(bandwidth_slack, "pushed|kept", (0, 5_4, 1), \
	  "Runtime returned while other queues wait is handed out 5 ms later; another return pushes that moment " \
	  "back, or not.") \
	X(bandwidth_time, "throttled|waiting", (0, 6_6, 1), \
	  "throttled_usec counts the time for which a queue is throttled, or from when something waits on it.") \
	X(bandwidth_phase, "aligned|random", (0, 6_6, 1), \
	  "Periods end at multiples of the period since boot, or each group has an offset.") \
	X(throttle_clock, "task|pelt", (0, 5_10, 1), \
	  "The clock that a throttled queue's time is taken from. pelt: the one its averages follow. task: the one " \
	  "that no speed slows, so that averages of a queue that was throttled on a slow CPU jump.") \
	X(rt_search, "first|fits|spread|push", (0, 5_10, 1, 5_15, 2, 6_12, 3), \
	  "Where a real-time task goes that cannot run where it was. first: the first of the CPUs with the weakest " \
	  "real-time task. fits: of those whose capacity its clamps ask for. spread: none that has a deadline task, " \
	  "and behind the one found last. push: behind a deadline task it is queued, and pushed on.") \
	X(dl_search, "latest|first|fits|spread", (0, 4_16, 1, 5_10, 2, 5_15, 3), \
	  "Where a deadline task goes that cannot run where it was. latest: one CPU is known, the first without a " \
	  "deadline task, else that of the latest deadline. first: all CPUs without one, the first of them. fits: " \
	  "whose capacity its runtime and deadline ask for. spread: behind the one found last.") \
	X(affinity, "first|spread", (0, 5_10, 1), \
	  "Where a running task goes that may no longer run on its CPU. first: the first of those it may use. " \
	  "spread: the next one behind what the CPU that asks found last. Idle CPUs are not looked for.") \
	X(thermal, "off|step_wise|power_allocator", (0), \
	  "Which governor cools the platform's thermal zones. step_wise: a state deeper while it gets hotter above a " \
	  "trip. power_allocator: a budget from the distance to the last trip, divided by what each domain asks for. " \
	  "off: nothing gets hot.") \
	X(thermal_trips, "governor|core", (0, 6_12, 1), \
	  "What says that a trip is reached. governor: each compares with the trip's temperature. core: the thermal " \
	  "core, until the temperature is below the hysteresis.") \
	X(step_wise, "down|hold|lower|release", (0, 4_16, 1, 6_12, 3, 6_18, 2, 7_2, 3), \
	  "What step_wise does while it gets cooler. down: a state up, above the trip too. hold: below it only. " \
	  "lower: a state up above it, but one stays; below it all at once to the lowest, then released. release: " \
	  "below it released.") \
	X(ipa, "truncates|rounds|idle_max", (0, 5_15, 1, 6_18, 2), \
	  "power_allocator. truncates: what is left over is divided with fractions cut, the sum of errors counts " \
	  "10/1024. rounds: to the nearest, and the sum counts a tenth of k_pu. idle_max: domains that all ask for " \
	  "nothing may have all.") \
	X(cooling_load, "idle_time|utilization", (0, 5_15, 1), \
	  "What power_allocator takes for a CPU's load: the time it was not idle since the last look, or its " \
	  "utilization in this moment.") \
	X(host, "kernel|live", (0), \
	  "Scheduler around the core. kernel: the kernel's own classes and balances. live: sched_ext, as `pelton live` " \
	  "loads it: a CPU without tasks takes one from the longest queue, one that ticks looks for a longer queue, a " \
	  "task too big for its CPU is sent to an idle one, and each CPU hands its request to the kernel's own " \
	  "schedutil as a target.")

/* "Take what the platform says": its driver's cost, or the rate limit. */
#define PELTON_FROM_PLATFORM 0xffffffffu

/* Numbers of a policy:  X(field, "unit", smallest, largest, default of every profile, "why") */
#define PELTON_PARAMETERS(X) \
	X(headroom_pct, "%", 0, 100, 25, \
	  "What schedutil, and placement by energy as schedutil would, add to utilization or to the reference frequency " \
	  "(map_util_perf, get_next_freq; switch headroom says where). 25 in every release: 1.25 times.") \
	X(capacity_margin, "of 1024", 1024, 4096, 1280, \
	  "A CPU is large enough for a utilization that is less than its capacity when it is multiplied by so much " \
	  "(fits_capacity; capacity_margin to 5.4): 1280 in every release, i.e. 80 % of the capacity. 1024: all of it.") \
	X(hook_epsilon, "of 1024", 0, 1024, 16, \
	  "Smallest change of fair utilization since the last evaluation that hook_filter=h2 and composite report.") \
	X(gate_cost_ns, "ns", 0, 1000000000, PELTON_FROM_PLATFORM, \
	  "Cost of one transition, from which r1, r2 and gate_peak work out their windows. From the platform: the time of " \
	  "the driver, and on the slow path two context switches.") \
	X(gate_kappa, "1", 1, 10000, 100, \
	  "Transitions may take one part in this many of the time: the cost window is the cost times it.") \
	X(gate_window_min_us, "us", 0, 4000000, 0, \
	  "Shortest cost window, for drivers that are cheap but must not be called often.") \
	X(gate_window_max_us, "us", 0, 4000000, 10000, \
	  "Longest cost window, for drivers so slow that their window would make the governor blind.") \
	X(gate_spacing_min_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "D_min of r2: time between changes when the error is large. From the platform: a quarter of the cost window.") \
	X(gate_spacing_max_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "D_max of r2: time between changes when the error is small. From the platform: the rate limit.") \
	X(gate_error_low, "of 1024", 0, 1280, 0, \
	  "E0 of r2: errors below it change nothing. 0: only what ends at the same operating point is ignored.") \
	X(gate_error_high, "of 1024", 1, 1280, 256, \
	  "E1 of r2_linear: errors from here on wait D_min only. On a small CPU choose less than its capacity.") \
	X(up_rate_limit_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "Limit of increases with gate=up_down. From the platform: the rate limit. Vendor kernels use about 500.") \
	X(down_rate_limit_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "Limit of decreases with gate=up_down. From the platform: the rate limit. Vendor kernels use about 20000.") \
	X(boost, "%", 0, 100, 0, \
	  "SchedTune's boost of every task: so much of what a CPU's utilization lacks to the maximum is added to it.") \
	X(sched_dvfs_throttle_us, "us", 0, 10000000, PELTON_FROM_PLATFORM, \
	  "sched_dvfs: time after a driver call in which there is no other. From the platform: the driver's latency, 50 ms " \
	  "when it tells none.") \
	X(sampling_rate_us, "us", 1, 100000000, PELTON_FROM_PLATFORM, \
	  "ondemand, conservative: time between samples. From the platform: see sampling_form.") \
	X(up_threshold, "%", 1, 100, PELTON_FROM_PLATFORM, \
	  "ondemand, conservative: load above which the frequency goes up. From the platform: 95 and 80.") \
	X(sampling_down_factor, "1", 1, 100000, 1, \
	  "ondemand: periods until the next sample after the jump to the maximum. conservative: samples between two looks " \
	  "whether to go down.") \
	X(down_threshold, "%", 1, 99, 20, "conservative: load below which the frequency goes down.") \
	X(freq_step, "%", 0, 100, 5, "conservative: one step, of the highest frequency.") \
	X(powersave_bias, "of 1000", 0, 1000, 0, \
	  "ondemand: by so much the mean frequency is lower than what it chose.") \
	X(ignore_nice_load, "1", 0, 1, 0, \
	  "ondemand, conservative: 1 = the time of tasks with nice above 0 is idle time.") \
	X(io_is_busy, "1", 0, 1, 0, \
	  "ondemand, conservative, interactive: 1 = idle time in which a task waits for I/O is busy (ondemand on Intel), 0 = it is idle.") \
	X(userspace_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "governor=userspace: the frequency. From the platform: the one at the start.") \
	X(hispeed_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "interactive: the frequency to jump to (hispeed_freq). From the platform: the upper limit at the start.") \
	X(go_hispeed_load, "%", 0, 1000, 99, \
	  "interactive: load from which a CPU goes to hispeed_khz. Above 100: never by its load.") \
	X(target_load, "%", 1, 100, 90, "interactive: the load a CPU shall have (target_loads); lower means faster.") \
	X(target_load_2_from_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "interactive: from this frequency on target_load_2 counts. From the platform: nowhere.") \
	X(target_load_2, "%", 1, 100, 90, "interactive: the load a CPU shall have from target_load_2_from_khz on.") \
	X(target_load_3_from_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "interactive: from this frequency on target_load_3 counts, where it is above target_load_2_from_khz. From the platform: " \
	  "nowhere.") \
	X(target_load_3, "%", 1, 100, 90, "interactive: the load a CPU shall have from target_load_3_from_khz on.") \
	X(above_hispeed_delay_us, "us", 0, 100000000, 20000, \
	  "interactive: how long a rise from hispeed_khz or above waits (above_hispeed_delay).") \
	X(above_hispeed_delay_2_from_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "interactive: from this frequency on above_hispeed_delay_2_us counts. From the platform: nowhere.") \
	X(above_hispeed_delay_2_us, "us", 0, 100000000, 20000, \
	  "interactive: how long a rise from above_hispeed_delay_2_from_khz or above waits.") \
	X(above_hispeed_delay_3_from_khz, "kHz", 1, 16000000, PELTON_FROM_PLATFORM, \
	  "interactive: from this frequency on above_hispeed_delay_3_us counts. From the platform: nowhere.") \
	X(above_hispeed_delay_3_us, "us", 0, 100000000, 20000, \
	  "interactive: how long a rise from above_hispeed_delay_3_from_khz or above waits.") \
	X(min_sample_time_us, "us", 0, 100000000, 80000, \
	  "interactive: how long a frequency is kept before it falls (min_sample_time).") \
	X(timer_rate_us, "us", 1, 100000000, 20000, \
	  "interactive: time between two looks at a CPU, rounded up to ticks (timer_rate).") \
	X(timer_slack_us, "us", 0, 100000000, 80000, \
	  "interactive: an idle CPU that asks for more than the least is woken so long after its timer (timer_slack). " \
	  "100000000: never, the kernel's -1.") \
	X(boost_val, "1", 0, 1, 0, "interactive: 1 = hispeed_khz at least, all the time (boost).") \
	X(boostpulse_duration_us, "us", 0, 100000000, 80000, \
	  "interactive: how long hispeed_khz is asked for after a pulse (boostpulse_duration).") \
	X(blocked_update_us, "us", 0, 1000000, 50000, \
	  "Shortest time between two refreshes of an idle CPU's load with blocked_update=interval, in whole ticks. The " \
	  "posting has 50000 (HZ/20).") \
	X(bandwidth_slice_us, "us", 1, 1000000, 5000, \
	  "What a group's queue takes from the pool of its quota at once (sched_cfs_bandwidth_slice_us).") \
	X(fair_server_runtime_us, "us", 0, 4194304, 50000, \
	  "rt_limit=fair_server: what each CPU's server has in a period (debugfs sched/fair_server/cpu*/runtime). 0: none.") \
	X(fair_server_period_us, "us", 100, 4194304, 1000000, \
	  "rt_limit=fair_server: its period (debugfs sched/fair_server/cpu*/period).")

/* One u32 per switch and then one per parameter, in the order of the tables. */
struct pelton_policy {
#define PELTON_FIELD(field, values, since, why) u32 field;
	PELTON_SWITCHES(PELTON_FIELD)
#undef PELTON_FIELD
#define PELTON_NUMBER(field, unit, min, max, preset, why) u32 field;
	PELTON_PARAMETERS(PELTON_NUMBER)
#undef PELTON_NUMBER
};

#define PELTON_COUNT_ONE(field, values, since, why) +1u
#define PELTON_SWITCH_COUNT (0u PELTON_SWITCHES(PELTON_COUNT_ONE))

#define PELTON_COUNT_NUMBER(field, unit, min, max, preset, why) +1u
#define PELTON_PARAMETER_COUNT (0u PELTON_PARAMETERS(PELTON_COUNT_NUMBER))

_Static_assert(sizeof(struct pelton_policy) == 4u * (PELTON_SWITCH_COUNT + PELTON_PARAMETER_COUNT),
	       "a policy is an array of u32");

#endif
