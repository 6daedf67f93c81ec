/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far utilization gets in a given time, and how long it takes to get somewhere.
 *
 *   ramp(u, d)   utilization after d more units of running, starting from u at the beginning of a period
 *   time_to(u)   periods of running, from nothing, until utilization is at least u
 *
 *   utilization
 *        1024 |                    ____-----
 *             |             __----'            ramp(800, 4000) = 818
 *             |        _.--'
 *           0 |____.--'________________________ time      time_to(512) = 32, time_to(1024) = 323
 *
 *   quantity   unit       range
 *   u          capacity   0 .. 1024
 *   d          1024 ns    0 .. 2^31
 *   time_to    periods    0 .. 323
 *
 * Source: defined by us on the rules of pelt.h, in the sense of approximate_util_avg() and approximate_runtime() of the
 * 2023-2026 postings on removing fixed margins. Deviations: the divisor is the moving one in every profile.
 */
#ifndef PELTON_PELT_RAMP_H
#define PELTON_PELT_RAMP_H

#include "pelt.h"

/* No utilization takes longer than this to reach. */
#define PELTON_RAMP_MAX_PERIODS 1024u

/* Utilization after `delta_units` (of 1024 ns) of running, starting from `util`. */
PELTON_INLINE u32 pelton_ramp(u32 util, u32 delta_units)
{
	struct pelton_policy pol = { .invariance = PELTON_INVARIANCE_CLOCK, .divisor = PELTON_DIVISOR_MOVING };
	struct pelton_ctx ctx = { &pol, 0, PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE };
	struct pelton_avg avg = { .util_sum = pelton_min_u32(util, PELTON_CAPACITY_SCALE) * PELTON_MIN_DIVISOR };

	pelton_accumulate_sum(&ctx, &avg, delta_units, 1, 0, 1);
	return avg.util_sum / pelton_divisor(&pol, &avg);
}

/* Periods of running from nothing until utilization is at least `util`. */
PELTON_INLINE u32 pelton_time_to(u32 util)
{
	u32 target = pelton_min_u32(util, PELTON_CAPACITY_SCALE) * PELTON_MIN_DIVISOR;
	u32 sum = 0, n;

	for (n = 0; n < PELTON_RAMP_MAX_PERIODS && sum < target; n++)
		sum = (u32)pelton_decay_load(sum, 1) +
		      (pelton_accumulate_pelt_segments(1, PELTON_PERIOD_UNITS, 0) << PELTON_CAPACITY_SHIFT);
	return n;
}

#endif
