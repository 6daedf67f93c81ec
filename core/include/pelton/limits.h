/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a frequency domain: what several of them come to, and what a governor does at once when they change.
 *
 *   max   the smallest of all upper limits, down to an operating point; at least the lowest
 *   min   the largest of all lower limits, up to an operating point; not above max
 *
 *   governor                    at once
 *   performance, powersave      max, min
 *   userspace, sched_dvfs       what was asked for last, within the limits
 *   ondemand, conservative      max if the present frequency is above it, min if it is below; the next sample is due
 *   interactive                 the same; what its CPUs ask for is kept within the limits
 *   schedutil, slow driver      the same; it is asked again at the next call, whatever the window says
 *   schedutil, fast switch      nothing; it is asked again at the next call
 *
 *   limits 500 .. 1100 MHz of 500, 1000, 2000: 500 .. 1000; a lower limit of 1100 with them: 1000 .. 1000
 *
 *   quantity       unit   range
 *   frequencies    kHz    32 bits; 0 = nothing to do
 *
 * Source: drivers/cpufreq/cpufreq.c (cpufreq_set_policy, __resolve_freq), include/linux/cpufreq.h
 * (cpufreq_policy_apply_limits), kernel/sched/cpufreq_schedutil.c (sugov_limits), drivers/cpufreq/cpufreq_governor.c
 * (cpufreq_dbs_governor_limits), cpufreq_conservative.c (cs_limits), cpufreq_performance.c, cpufreq_powersave.c,
 * cpufreq_userspace.c (their limits functions) of Linux 6.1.192, 6.6, 6.12.117 and 7.2.12, the governors' also of
 * 4.12.3 and 5.4; sched-DVFS: cpufreq_sched_limits of the vendor trees of 2016.
 * Deviations: up to 5.10 limits are not moved to operating points, a limit between two of them is not modelled (F-230).
 */
#ifndef PELTON_LIMITS_H
#define PELTON_LIMITS_H

#include "governor.h"

/* The upper limit in force: the highest operating point at or below `max`, else the lowest. `khz` ascends. */
PELTON_INLINE u32 pelton_limits_max(const u32 *khz, u32 n, u32 max)
{
	u32 best = max, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++)
		if (!i || khz[i] <= max)
			best = khz[i];
	return best;
}

/* The lower limit in force: the lowest operating point at or above `min`, not above `max`, which is one of them. */
PELTON_INLINE u32 pelton_limits_min(const u32 *khz, u32 n, u32 min, u32 max)
{
	u32 best = min, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		best = khz[i];
		if (best >= min)
			break;
	}
	return pelton_min_u32(best, max);
}

/* Frequency that a driver is asked for where only the limits count; 0 = none. */
PELTON_INLINE u32 pelton_limits_apply(u32 min, u32 max, u32 cur)
{
	if (max < cur)
		return max;
	return min > cur ? min : 0;
}

/*
 * Operating point that a governor asks for at once when the limits are new; 0 = none. `cur`: the present frequency;
 * `wanted`: the one that the governor asked for last, or was set to (userspace).
 */
PELTON_INLINE u32 pelton_limits_target(const struct pelton_policy *pol, const u32 *khz, u32 n, u32 min, u32 max,
				       u32 cur, u32 wanted, u32 fast_switch)
{
	if (pol->governor == PELTON_GOVERNOR_PERFORMANCE)
		return max;
	if (pol->governor == PELTON_GOVERNOR_POWERSAVE)
		return min;
	if (pol->governor == PELTON_GOVERNOR_USERSPACE || pelton_governor_votes(pol))
		return pelton_limits_min(khz, n, pelton_clamp_u32(wanted, min, max), max);
	if (pol->governor == PELTON_GOVERNOR_SCHEDUTIL && fast_switch)
		return 0;
	return pelton_limits_apply(min, max, cur);
}

/* A sampling governor has new limits and runs at `cur` now: the next sample is due, whatever came next. */
PELTON_INLINE void pelton_limits_dbs(const struct pelton_policy *pol, struct pelton_dbs *d, u32 min, u32 max, u32 cur)
{
	d->min_khz = min;
	d->max_khz = max;
	d->delay_us = 0;
	if (pol->governor == PELTON_GOVERNOR_CONSERVATIVE && !pelton_conservative_stops(pol))
		d->requested_khz = cur;
}

#endif
