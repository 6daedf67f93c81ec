/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stable releases: in which switches a release of a series differs from the profile of that series.
 *
 * A profile follows one release. Stable updates change rules, so 6.18.15 is not 6.18.2. A release that was read is
 * asked for by its number: it has its profile's values, but for the rows below.
 *
 *   value(series.number) = value of the last row of the series and switch with since <= number, else the profile's
 *
 * Units: numbers of releases. 6.18.15 is number 15 of series 6.18.
 *
 * Source: the texts of the releases that a row names (docs/rules/releases.md). Deviations: rules without a switch are
 * listed on that page.
 */
#ifndef PELTON_STABLE_H
#define PELTON_STABLE_H

#include "policy_table.h"

/* Positions of the profiles. */
enum {
	PELTON_SERIES_4_12,
	PELTON_SERIES_4_16,
	PELTON_SERIES_4_19,
	PELTON_SERIES_5_4,
	PELTON_SERIES_5_10,
	PELTON_SERIES_5_15,
	PELTON_SERIES_6_1,
	PELTON_SERIES_6_6,
	PELTON_SERIES_6_8,
	PELTON_SERIES_6_12,
	PELTON_SERIES_6_18,
	PELTON_SERIES_7_2
};

/*
 * Releases whose rules are known:  X(series, first, last). All between them were read, or lie between two texts that
 * are alike.
 */
#define PELTON_STABLE_READ(X) \
	X(4_12, 0, 0) \
	X(4_16, 13, 13) \
	X(4_19, 0, 0) \
	X(5_4, 0, 0) \
	X(5_10, 262, 265) \
	X(5_15, 215, 215) \
	X(6_1, 192, 192) \
	X(6_6, 0, 0) \
	X(6_8, 0, 0) \
	X(6_12, 117, 118) \
	X(6_18, 0, 35) \
	X(7_2, 12, 12)

/* A row:  X(series, switch, since, value, "what it does, and where that was read") */
#define PELTON_STABLE_RULES(X) \
	X(6_18, decayed_contrib, 0, PELTON_OFF, "As in 6.18 (cfs_rq_is_decayed of 6.18.0).") \
	X(6_18, decayed_contrib, 2, PELTON_ON, \
	  "A queue stays in the walk until its part is taken back (the same of 6.18.2).") \
	X(6_18, fair_yield, 0, PELTON_FAIR_YIELD_DEADLINE, "As in 6.18 (yield_task_fair of 6.18.0).") \
	X(6_18, fair_yield, 2, PELTON_FAIR_YIELD_FORFEIT, \
	  "An eligible task forfeits its request (the same of 6.18.2).") \
	X(6_18, newidle_fails, 3, PELTON_NEWIDLE_FAILS_MEASURED, \
	  "A search that finds nothing no longer makes itself look dearer (update_newidle_cost of 6.18.2 and 6.18.3).") \
	X(6_18, fair_zero, 4, PELTON_FAIR_ZERO_AVERAGE, \
	  "Sums are relative to an average (update_zero_vruntime of 6.18.4, whose moments are those of 7.2 from 6.18.22).") \
	X(6_18, newidle_dice, 5, PELTON_NEWIDLE_DICE_SUCCESS, \
	  "A CPU that runs out of tasks throws dice (sched_balance_newidle and NI_RANDOM of 6.18.4 and 6.18.5).") \
	X(6_18, server_restart, 9, PELTON_SERVER_RESTART_ANEW, \
	  "A fair server that starts anew is deferred again (update_dl_entity of 6.18.7 and 6.18.9).") \
	X(6_18, server_restart, 24, PELTON_SERVER_RESTART_REVISED, \
	  "One that starts again before its deadline goes on until then (the same of the review of 6.18.24 and of 6.18.35).") \
	X(6_18, lag_limit, 17, PELTON_LAG_LIMIT_LONGEST_SLICE, \
	  "Lag is at most the longest slice of the queue and a tick (update_entity_lag of 6.18.16 and 6.18.17).") \
	X(6_18, fair_reweight, 17, PELTON_FAIR_REWEIGHT_ANEW_PROTECTED, \
	  "Another weight keeps the rest of the protection (reweight_entity of 6.18.16 and 6.18.17).") \
	X(6_18, idle_tick, 20, PELTON_IDLE_TICK_AFTER_TICK, \
	  "Without idle driver a CPU keeps its tick until it has come once (cpuidle_idle_call of 6.18.19 and 6.18.20).") \
	X(6_18, run_to_parity, 33, PELTON_RUN_TO_PARITY_SHORTEST_EACH, \
	  "The protected slice is looked up again at every wake-up (check_preempt_wakeup_fair of 6.18.32 and 6.18.33).") \
	X(6_18, fork_preempts, 33, PELTON_OFF, \
	  "A task that was just made preempts by nothing but a shorter slice (check_preempt_wakeup_fair of 6.18.33).")

/* One series: which of its releases are known. */
struct pelton_stable_series {
	u32 profile;
	u32 first;
	u32 last;
};

/* One rule that came with a stable release. */
struct pelton_stable_rule {
	u32 profile;
	u32 index; /* of the switch */
	u32 since;
	u32 value;
	const char *why;
};

#define PELTON_STABLE_SERIES_ROW(series, first, last) { PELTON_SERIES_##series, first, last },
static const struct pelton_stable_series pelton_stable_table[] = { PELTON_STABLE_READ(PELTON_STABLE_SERIES_ROW) };

#define PELTON_STABLE_RULE_ROW(series, field, since, value, why) \
	{ PELTON_SERIES_##series, PELTON_SWITCH_##field, since, value, why },
static const struct pelton_stable_rule pelton_stable_rules[] = { PELTON_STABLE_RULES(PELTON_STABLE_RULE_ROW) };

#define PELTON_COUNT_SERIES(series, first, last) +1u
#define PELTON_STABLE_SERIES_COUNT (0u PELTON_STABLE_READ(PELTON_COUNT_SERIES))
#define PELTON_COUNT_RULE(series, field, since, value, why) +1u
#define PELTON_STABLE_RULE_COUNT (0u PELTON_STABLE_RULES(PELTON_COUNT_RULE))

/* Is this release one of those that were read? */
PELTON_INLINE u32 pelton_stable_is_known(u32 profile, u32 number)
{
	u32 i;

	for (i = 0; i < PELTON_STABLE_SERIES_COUNT; i++) {
		const struct pelton_stable_series *row = &pelton_stable_table[i];

		if (row->profile == profile)
			return row->first <= number && number <= row->last;
	}
	return 0;
}

/* The rules of a stable release. Returns 0, or 1 when it is none that was read. */
PELTON_INLINE u32 pelton_policy_for_stable(u32 profile, u32 number, struct pelton_policy *out)
{
	u32 i;

	if (!pelton_stable_is_known(profile, number) || pelton_policy_for_profile(profile, out))
		return 1;
	for (i = 0; i < PELTON_STABLE_RULE_COUNT; i++) {
		const struct pelton_stable_rule *row = &pelton_stable_rules[i];

		if (row->profile == profile && row->since <= number)
			((u32 *)out)[row->index] = row->value;
	}
	return 0;
}

#endif
