/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SchedTune's filter: is a placement worth its energy? e is the change of energy, c that of capacity.
 *
 *                   | c > 0                       | c < 0
 *   e < 0           | accept                      | "constrain": saved energy against lost speed
 *   e > 0           | "boost": speed for energy   | reject
 *
 *   payoff = c * energy_gain - e * capacity_gain, accept when it is above 0: a straight cut through the origin. A boost
 *   of 0 .. 9 percent cuts vertically (only a saving counts), one of 90 and more horizontally (only speed counts).
 *
 *   boost 50:   e 10, c 20: payoff 60, accept   |   e 10, c 5: -15, reject   |   e -50, c -20: 100, accept
 *
 *   quantity   unit                                  range
 *   e          1024 = idle to full power of all CPUs   -2^20 .. 2^20
 *   c          capacity                                -1024 .. 1024
 *   boost      percent                                 0 .. 100
 *
 * Source: the SchedTune trees' kernel/sched/tune.c and fair.c (schedtune_accept_deltas, normalize_energy): posting of
 * August 2015 (rfc), Android common 3.18 (middle), Android common 4.4 (geometric). The three tables of gains differ;
 * the posting's payoff has the wrong sign in the boost region, so that more energy for less speed is taken there.
 * Deviations: the index of the posting is out of range at boost 0 and 100 (11 values for 10 rows); the last row counts
 * then.
 */
#ifndef PELTON_BOOST_FILTER_H
#define PELTON_BOOST_FILTER_H

#include "arith.h"

/* Forms of the filter, by age. */
#define PELTON_FILTER_RFC 0u
#define PELTON_FILTER_MIDDLE 1u
#define PELTON_FILTER_GEOMETRIC 2u

#define PELTON_FILTER_INDEXES 10u

/* Weights of a change of energy and of a change of capacity. */
struct pelton_filter_gain {
	u8 energy;
	u8 capacity;
};

static const struct pelton_filter_gain pelton_filter_gains[PELTON_FILTER_INDEXES] = {
	{ 0, 4 }, { 0, 4 }, { 1, 4 }, { 2, 4 }, { 3, 4 }, { 4, 3 }, { 4, 2 }, { 4, 1 }, { 4, 0 }, { 4, 0 },
};

static const struct pelton_filter_gain pelton_filter_gains_geometric[PELTON_FILTER_INDEXES] = {
	{ 0, 5 }, { 1, 5 }, { 2, 5 }, { 3, 5 }, { 4, 5 }, { 5, 4 }, { 5, 3 }, { 5, 2 }, { 5, 1 }, { 5, 0 },
};

/* Row of the tables for a boost. */
PELTON_INLINE u32 pelton_filter_index(u32 boost)
{
	return pelton_min_u32(boost / 10u, PELTON_FILTER_INDEXES - 1u);
}

/* Row for the constrain region. The posting's mirrors the boost; later both regions share one row. */
PELTON_INLINE u32 pelton_filter_index_constrain(u32 form, u32 boost)
{
	if (form == PELTON_FILTER_GEOMETRIC)
		return pelton_filter_index(boost);
	return pelton_filter_index(100u - pelton_min_u32(boost, 100));
}

/* A change of power as a share of the distance from idle to full power. The shift is one of 32 bits. */
PELTON_INLINE s32 pelton_filter_normalize(s32 power, u32 min_power, u32 max_power)
{
	u32 size = (u32)(power < 0 ? -(s64)power : (s64)power) << PELTON_CAPACITY_SHIFT;
	u32 share = (u32)pelton_div_floor(size, pelton_sub_floor_u32(max_power, min_power));

	return power < 0 ? (s32)(0u - share) : (s32)share;
}

/* Payoff of the change by a row of the form's table. */
PELTON_INLINE s64 pelton_filter_payoff(u32 form, u32 index, s32 e, s32 c)
{
	u32 row = pelton_min_u32(index, PELTON_FILTER_INDEXES - 1u);
	const struct pelton_filter_gain *g =
		form == PELTON_FILTER_GEOMETRIC ? &pelton_filter_gains_geometric[row] : &pelton_filter_gains[row];
	s64 payoff = (s64)c * g->energy - (s64)e * g->capacity;

	return form == PELTON_FILTER_RFC && c > 0 ? -payoff : payoff;
}

/* The region of speed for energy, with the border that the form counts to it. */
PELTON_INLINE u32 pelton_filter_is_boost(u32 form, s32 e, s32 c)
{
	return c > 0 && (form == PELTON_FILTER_RFC ? e > 0 : e >= 0);
}

/* The region of energy for speed, likewise. */
PELTON_INLINE u32 pelton_filter_is_constrain(u32 form, s32 e, s32 c)
{
	return e < 0 && (form == PELTON_FILTER_RFC ? c < 0 : c <= 0);
}

/* Is a change accepted by these rows of the form's table? */
PELTON_INLINE u32 pelton_filter_accepts_by(u32 form, u32 index_boost, u32 index_constrain, s32 e, s32 c)
{
	if (e < 0 && c > 0)
		return 1;
	if (pelton_filter_is_boost(form, e, c))
		return pelton_filter_payoff(form, index_boost, e, c) > 0;
	if (pelton_filter_is_constrain(form, e, c))
		return pelton_filter_payoff(form, index_constrain, e, c) > 0;
	return 0;
}

/* Is a change accepted under this boost? Without one only energy counts. */
PELTON_INLINE u32 pelton_filter_accepts(u32 form, u32 boost, s32 e, s32 c)
{
	if (!boost)
		return e < 0;
	return pelton_filter_accepts_by(form, pelton_filter_index(boost), pelton_filter_index_constrain(form, boost), e,
					c);
}

#endif
