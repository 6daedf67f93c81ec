/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far above utilization the frequency is chosen, and up to which utilization a CPU is large enough for it.
 *
 *   margins   frequency for   a CPU of original capacity c, of which cap is left, is large enough when
 *   fixed     u + u * h/100   u * m < cap * 1024
 *   scaled    ramp(u, T)      u < ramp(0, time_to(c) * 1000 * c / 1024)
 *   tick      ramp(u, T)      u < ramp(0, time_to(c) * 1000 - T)
 *
 *   h: headroom_pct, 25; m: capacity_margin, 1280
 *   T: time until a frequency or a place can be corrected, 4000 units, a tick of 250 Hz
 *
 *   scaled, tick     u     0  200  400  600  800
 *   frequency for        83  266  450  634  818
 *
 *   quantity   unit       range
 *   u, c, cap  capacity   0 .. 1024
 *   T          1024 ns    4000
 *
 * Source: fixed: Linux (map_util_perf, fits_capacity). scaled: Q. Yousef, 8 Dec 2023 and 5 Feb 2024, and its table of
 * thresholds; tick: the same, 20 Aug 2024 and 3 May 2026, PATCH v2 4/13. None of them is in a release. Deviations: T
 * is that of 250 Hz whatever the tick and the rate limit are; the running task's slice and its waiting time, which some
 * of the postings look at, do not count.
 */
#ifndef PELTON_MARGINS_H
#define PELTON_MARGINS_H

#include "bandwidth.h"
#include "pelt_ramp.h"

#define PELTON_MARGIN_UNITS 4000u
/* Length that the postings take for a period. */
#define PELTON_MARGIN_PERIOD_UNITS 1000u

/* The kernel's headroom in percent, which it adds by a shift. */
#define PELTON_HEADROOM_PCT 25u

/* A utilization or a frequency with the fixed headroom. */
PELTON_INLINE u64 pelton_plus_headroom(const struct pelton_policy *pol, u64 value)
{
	if (pol->headroom_pct == PELTON_HEADROOM_PCT)
		return value + (value >> 2);
	return value + value * pol->headroom_pct / 100u;
}

/* Utilization with what it needs above it. */
PELTON_INLINE u32 pelton_with_headroom(const struct pelton_policy *pol, u32 util)
{
	if (pol->margins == PELTON_MARGINS_FIXED)
		return (u32)pelton_plus_headroom(pol, util);
	return pelton_ramp(util, PELTON_MARGIN_UNITS);
}

/* Is `capacity` so much above a utilization, or another capacity, as the policy says? */
PELTON_INLINE u32 pelton_fits_margin(const struct pelton_policy *pol, u64 util, u32 capacity)
{
	return util * pol->capacity_margin < (u64)capacity * PELTON_CAPACITY_SCALE;
}

/* Headroom first, then the clamps: a clamp is an exact limit, a floor passes without headroom. */
PELTON_INLINE u32 pelton_perf_within(const struct pelton_policy *pol, u32 util, u32 min, u32 max)
{
	return pelton_max_u32(min, pelton_min_u32(pelton_with_headroom(pol, util), max));
}

/* The smallest utilization for which a CPU of this original capacity is too small, without fixed margins. */
PELTON_INLINE u32 pelton_fits_threshold(const struct pelton_policy *pol, u32 cap_orig)
{
	u64 units = (u64)pelton_time_to(cap_orig) * PELTON_MARGIN_PERIOD_UNITS;

	if (pol->margins == PELTON_MARGINS_SCALED)
		units = (units * cap_orig) >> PELTON_CAPACITY_SHIFT;
	else
		units = pelton_sub_floor(units, PELTON_MARGIN_UNITS);
	return pelton_ramp(0, (u32)units);
}

/* Is a CPU large enough for a utilization? `capacity`: what is left of it. */
PELTON_INLINE u32 pelton_fits(const struct pelton_policy *pol, u32 util, u32 capacity, u32 cap_orig)
{
	if (pol->margins == PELTON_MARGINS_FIXED)
		return pelton_fits_margin(pol, util, capacity);
	return util < pelton_fits_threshold(pol, cap_orig);
}

#endif
