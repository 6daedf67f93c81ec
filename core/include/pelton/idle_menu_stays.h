/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the idle governor "menu" remembers of a CPU, and the length that most of its last eight stays had.
 *
 *   typical = mean of the stays if they agree (standard deviation <= 20 us, or mean > 6 deviations with at least 6 of
 *   the 8); else drop what is farthest from the mean and try again; with 6 left, no answer
 *
 *   stays  |12 11 13 12 900 12 11 12|  mean 122, far apart  ->  drop 900  ->  mean 11, deviation below 1  ->  11 us
 *
 *   menu_form   dropped         variance                      left out from the start        no answer
 *   to 4.19     longest         mean of (stay - mean)^2       nothing                        never for this reason
 *   5.4 - 6.1   longest         the same                      stays of 2^31 us and more      shortest >= the timer's prediction
 *   6.6, 6.12   longest         the same                      the same                       longest is 0
 *   from 6.18   farthest        mean of stay^2 - mean^2       2^32 - 1 us                    longest is 0
 *
 *   quantity        unit            range
 *   factor          1 / 8192        1 .. 8192 = the whole time to the timer; 0 = never used, counts as 8192
 *   interval_us     us              0 .. 2^32 - 2; 2^32 - 1 = no sample
 *   next_timer_ns   ns              0 .. 440 s, or PELTON_IDLE_UNKNOWN_NS
 *
 * Source: Linux drivers/cpuidle/governors/menu.c get_typical_interval: 4.12, 4.16, 4.19, 5.4, 5.10.262, 6.1.192, 6.6,
 * 6.12.117, 6.18, 7.2.12.
 * Deviations: those of idle.h.
 */
#ifndef PELTON_IDLE_MENU_STAYS_H
#define PELTON_IDLE_MENU_STAYS_H

#include "idle.h"
#include "policy.h"

#define PELTON_MENU_BUCKETS 6u /* half of the factors: those without a task that waits for I/O */
#define PELTON_MENU_FACTORS 12u
#define PELTON_MENU_INTERVALS 8u
#define PELTON_MENU_NO_INTERVAL_US 0xffffffffu
/* Each round but the last drops at least one of the 8 stays, and 6 are the fewest that are looked at. */
#define PELTON_MENU_ROUNDS 3u

struct pelton_menu {
	struct pelton_idle_last last;
	u64 next_timer_ns;
	u32 bucket;
	u32 position;
	u32 factor[PELTON_MENU_FACTORS];
	u32 interval_us[PELTON_MENU_INTERVALS];
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_menu) == 120, "layout");

/* The stays within a range. */
struct pelton_menu_sample {
	u64 sum;
	u64 square_sum;
	u64 mean;
	u64 variance;
	u32 count;
	u32 min;
	u32 max;
};

/* Collects the stays in low <= stay < high; low <= high. */
PELTON_INLINE void pelton_menu_gather(const struct pelton_menu *m, u64 low, u64 high, struct pelton_menu_sample *s)
{
	u32 i, us;

	s->sum = 0;
	s->square_sum = 0;
	s->count = 0;
	s->min = 0xffffffffu;
	s->max = 0;
	for (i = 0; i < PELTON_MENU_INTERVALS; i++) {
		us = m->interval_us[i];
		if (us - low >= high - low)
			continue;
		s->count++;
		s->sum += us;
		s->square_sum += (u64)us * us;
		s->min = pelton_min_u32(s->min, us);
		s->max = pelton_max_u32(s->max, us);
	}
}

/* Mean of the squared distances from a whole mean. Squares beyond 2^64 wrap, as they do in the kernel. */
PELTON_INLINE u64 pelton_menu_distances(const struct pelton_menu *m, u64 high, const struct pelton_menu_sample *s)
{
	u64 sum = 0, distance;
	u32 i;

	for (i = 0; i < PELTON_MENU_INTERVALS; i++) {
		distance = m->interval_us[i] - s->mean;
		if (m->interval_us[i] < high)
			sum += distance * distance;
	}
	return pelton_div_floor(sum, s->count);
}

/* Do stays with this mean and variance agree? */
PELTON_INLINE u32 pelton_menu_agree(u64 mean, u64 variance, u32 count)
{
	if (variance > 0xffffffffffffffffull / 36)
		return 0;
	return variance <= 400 || (mean * mean > 36 * variance && count * 4 >= PELTON_MENU_INTERVALS * 3);
}

/* The longest stay that is looked at, and 1. */
PELTON_INLINE u64 pelton_menu_longest(const struct pelton_policy *pol)
{
	if (pol->menu_form <= PELTON_MENU_FORM_4_19)
		return 0x100000000ull;
	return pol->menu_form <= PELTON_MENU_FORM_6_12 ? 0x80000000ull : PELTON_MENU_NO_INTERVAL_US;
}

/* These stays are not worth a look. `timer_us`: what is expected from the timer alone. */
PELTON_INLINE u32 pelton_menu_useless(const struct pelton_policy *pol, const struct pelton_menu_sample *s, u32 timer_us)
{
	if (pol->menu_form <= PELTON_MENU_FORM_4_19)
		return 0;
	return pol->menu_form <= PELTON_MENU_FORM_6_1 ? s->min >= timer_us : !s->max;
}

/* The length that most of the last stays had, us; PELTON_MENU_NO_INTERVAL_US when there is no such length. */
PELTON_INLINE u32 pelton_menu_typical(const struct pelton_policy *pol, const struct pelton_menu *m, u32 timer_us)
{
	u64 low = 0, high = pelton_menu_longest(pol);
	struct pelton_menu_sample s;
	u32 round;

	for (round = 0; round < PELTON_MENU_ROUNDS; round++) {
		pelton_menu_gather(m, low, high, &s);
		if (!s.count || pelton_menu_useless(pol, &s, timer_us))
			break;
		s.mean = pelton_div_floor(s.sum, s.count);
		if (pol->menu_form >= PELTON_MENU_FORM_6_18)
			s.variance = pelton_div_floor(s.square_sum, s.count) - s.mean * s.mean;
		else
			s.variance = pelton_menu_distances(m, high, &s);
		if (pelton_menu_agree(s.mean, s.variance, s.count))
			return (u32)s.mean;
		if (s.count * 4 <= PELTON_MENU_INTERVALS * 3)
			break;
		if (pol->menu_form >= PELTON_MENU_FORM_6_18 && s.mean - s.min > s.max - s.mean)
			low = (u64)s.min + 1;
		else
			high = s.max;
	}
	return PELTON_MENU_NO_INTERVAL_US;
}

#endif
