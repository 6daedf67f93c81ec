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
	u64 mean;
	u64 variance;
	u32 count;
	u32 min;
	u32 max;
};

/* To 6.12: collects the stays below `high`. */
PELTON_INLINE void pelton_menu_gather(const struct pelton_menu *m, u64 high, struct pelton_menu_sample *s)
{
	u32 i, us;

	s->sum = 0;
	s->count = 0;
	s->min = 0xffffffffu;
	s->max = 0;
	for (i = 0; i < PELTON_MENU_INTERVALS; i++) {
		us = m->interval_us[i];
		if (us >= high)
			continue;
		s->count++;
		s->sum += us;
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

/* To 6.12: the longest stay that is looked at, and 1. */
PELTON_INLINE u64 pelton_menu_longest(const struct pelton_policy *pol)
{
	if (pol->menu_form <= PELTON_MENU_FORM_4_19)
		return 0x100000000ull;
	return 0x80000000ull;
}

/* These stays are not worth a look. `timer_us`: what is expected from the timer alone. */
PELTON_INLINE u32 pelton_menu_useless(const struct pelton_policy *pol, const struct pelton_menu_sample *s, u32 timer_us)
{
	if (pol->menu_form <= PELTON_MENU_FORM_4_19)
		return 0;
	return pol->menu_form <= PELTON_MENU_FORM_6_1 ? s->min >= timer_us : !s->max;
}

/* Puts two stays into order. */
PELTON_INLINE void pelton_menu_order(u32 *us, u32 first, u32 second)
{
	u32 shorter = pelton_min_u32(us[first], us[second]);

	us[second] = pelton_max_u32(us[first], us[second]);
	us[first] = shorter;
}

/* Sorts the eight stays: a network of 19 comparisons, without a branch. */
PELTON_INLINE void pelton_menu_sort(u32 *us)
{
	pelton_menu_order(us, 0, 2);
	pelton_menu_order(us, 1, 3);
	pelton_menu_order(us, 4, 6);
	pelton_menu_order(us, 5, 7);
	pelton_menu_order(us, 0, 4);
	pelton_menu_order(us, 1, 5);
	pelton_menu_order(us, 2, 6);
	pelton_menu_order(us, 3, 7);
	pelton_menu_order(us, 0, 1);
	pelton_menu_order(us, 2, 3);
	pelton_menu_order(us, 4, 5);
	pelton_menu_order(us, 6, 7);
	pelton_menu_order(us, 2, 4);
	pelton_menu_order(us, 3, 5);
	pelton_menu_order(us, 1, 4);
	pelton_menu_order(us, 3, 6);
	pelton_menu_order(us, 1, 2);
	pelton_menu_order(us, 3, 4);
	pelton_menu_order(us, 5, 6);
}

/* Sorted stays of which the first `low` and those from `high` on are dropped. */
struct pelton_menu_sorted {
	u32 us[PELTON_MENU_INTERVALS];
	u32 low;
	u32 high;
	u64 sum;        /* of the others */
	u64 square_sum; /* modulo 2^64 */
};

/* Sorts the stays; what is none is dropped. */
PELTON_INLINE void pelton_menu_start_sorted(const struct pelton_menu *m, struct pelton_menu_sorted *s)
{
	u32 i;

	for (i = 0; i < PELTON_MENU_INTERVALS; i++)
		s->us[i] = m->interval_us[i];
	pelton_menu_sort(s->us);
	s->low = 0;
	s->sum = 0;
	s->square_sum = 0;
	for (i = 0; i < PELTON_MENU_INTERVALS && s->us[i] != PELTON_MENU_NO_INTERVAL_US; i++) {
		s->sum += s->us[i];
		s->square_sum += (u64)s->us[i] * s->us[i];
	}
	s->high = i;
}

/* One stay less. */
PELTON_INLINE void pelton_menu_less(struct pelton_menu_sorted *s, u64 us)
{
	s->sum -= us;
	s->square_sum -= us * us;
}

/* Drops every stay of the length that is farthest from the mean. */
PELTON_INLINE void pelton_menu_drop(struct pelton_menu_sorted *s, u64 mean)
{
	u32 shortest = s->us[s->low], longest = s->us[s->high - 1];

	if (mean - shortest > longest - mean)
		for (; s->low < s->high && s->us[s->low] == shortest; s->low++)
			pelton_menu_less(s, shortest);
	else
		for (; s->low < s->high && s->us[s->high - 1] == longest; s->high--)
			pelton_menu_less(s, longest);
}

/* From 6.18 on: the same over sorted stays, whose ends are what may be dropped. */
PELTON_INLINE u32 pelton_menu_typical_sorted(const struct pelton_menu *m)
{
	struct pelton_menu_sorted s;
	u64 mean, variance;
	u32 round, count;

	pelton_menu_start_sorted(m, &s);
	for (round = 0; round < PELTON_MENU_ROUNDS; round++) {
		count = s.high - s.low;
		if (!count || !s.us[s.high - 1])
			break;
		mean = pelton_div_floor(s.sum, count);
		variance = pelton_div_floor(s.square_sum, count) - mean * mean;
		if (pelton_menu_agree(mean, variance, count))
			return (u32)mean;
		if (count * 4 <= PELTON_MENU_INTERVALS * 3)
			break;
		pelton_menu_drop(&s, mean);
	}
	return PELTON_MENU_NO_INTERVAL_US;
}

/* The length that most of the last stays had, us; PELTON_MENU_NO_INTERVAL_US when there is no such length. */
PELTON_INLINE u32 pelton_menu_typical(const struct pelton_policy *pol, const struct pelton_menu *m, u32 timer_us)
{
	u64 high = pelton_menu_longest(pol);
	struct pelton_menu_sample s;
	u32 round;

	if (pol->menu_form >= PELTON_MENU_FORM_6_18)
		return pelton_menu_typical_sorted(m);
	for (round = 0; round < PELTON_MENU_ROUNDS; round++) {
		pelton_menu_gather(m, high, &s);
		if (!s.count || pelton_menu_useless(pol, &s, timer_us))
			break;
		s.mean = pelton_div_floor(s.sum, s.count);
		s.variance = pelton_menu_distances(m, high, &s);
		if (pelton_menu_agree(s.mean, s.variance, s.count))
			return (u32)s.mean;
		if (s.count * 4 <= PELTON_MENU_INTERVALS * 3)
			break;
		high = s.max;
	}
	return PELTON_MENU_NO_INTERVAL_US;
}

#endif
