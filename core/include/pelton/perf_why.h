/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of its terms decided a request, from what the request was made of. Nothing here takes part in a decision.
 *
 *   fair   the largest of util_avg, runnable_avg (6.6-) and util_est; of equals the first of this order
 *   sum    the terms as they were added, or what took their place (perf.h: effective)
 *   asks   the sum or the boost for I/O with its headroom, or the limit that took its place (perf.h: perf)
 *
 *   5.4    fair 0 + rt 0, uclamp_min 260       sum: uclamp_min     asks: the sum
 *   7.2    1023 + 255, within 0 .. 150         sum: the terms      asks: uclamp_max
 *
 *   quantity                    unit       range
 *   signals, clamps, terms      capacity   0 .. 1024
 *
 * Source: the rules are those of perf.h; the kernel has no such functions. Deviations: none known.
 */
#ifndef PELTON_PERF_WHY_H
#define PELTON_PERF_WHY_H

#include "perf.h"

/* Signals that the fair term is. */
#define PELTON_FAIR_UTIL_AVG 0u
#define PELTON_FAIR_RUNNABLE_AVG 1u
#define PELTON_FAIR_UTIL_EST 2u
#define PELTON_FAIR_NO_TASK 3u /* 4.17: without a fair task there is none */

/* Terms that decide the sum. */
#define PELTON_SUM_TERMS 0u
#define PELTON_SUM_CAPACITY 1u /* the terms reach the CPU's capacity */
#define PELTON_SUM_RT 2u       /* a runnable real-time task asks for all of it */
#define PELTON_SUM_IRQ 3u      /* interrupts leave nothing of it */
#define PELTON_SUM_UCLAMP_MIN 4u
#define PELTON_SUM_UCLAMP_MAX 5u
#define PELTON_SUM_DL_FLOOR 6u /* reservations demand more than the terms add up to */

/* Terms that decide what a CPU asks for. */
#define PELTON_ASKS_SUM 0u
#define PELTON_ASKS_IOWAIT 1u
#define PELTON_ASKS_UCLAMP_MIN 2u
#define PELTON_ASKS_UCLAMP_MAX 3u
#define PELTON_ASKS_CAPACITY 4u
#define PELTON_ASKS_RT 5u
#define PELTON_ASKS_DL_FLOOR 6u /* reservations and interrupts */
#define PELTON_ASKS_IRQ 7u
#define PELTON_ASKS_FLAG 8u /* to 4.16: the call said "maximum" */

PELTON_INLINE u32 pelton_fair_why(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	u32 util = s->util_cfs, why = PELTON_FAIR_UTIL_AVG;

	if (pol->cfs_if_queued && !s->cfs_nr_running)
		return PELTON_FAIR_NO_TASK;
	if (pol->runnable_boost && s->runnable_cfs > util) {
		util = s->runnable_cfs;
		why = PELTON_FAIR_RUNNABLE_AVG;
	}
	if (pol->util_est != PELTON_UTIL_EST_OFF && s->util_est > util)
		why = PELTON_FAIR_UTIL_EST;
	return why;
}

/* To 4.18. */
PELTON_INLINE u32 pelton_sum_why_plain(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				       const struct pelton_perf_terms *t)
{
	u32 sum = t->cfs + t->rt + t->dl;

	if (pelton_rt_wants_max(pol, s))
		return PELTON_SUM_RT;
	if (t->min > sum)
		return PELTON_SUM_DL_FLOOR;
	return sum > s->cap_orig ? PELTON_SUM_CAPACITY : PELTON_SUM_TERMS;
}

/* 4.19 to 6.7. */
PELTON_INLINE u32 pelton_sum_why_clamped(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
					 const struct pelton_perf_terms *t)
{
	u32 util = t->cfs + t->rt, within = pelton_fair_rt_within(pol, s, t), cap = s->cap_orig;

	if (pelton_rt_wants_max(pol, s))
		return PELTON_SUM_RT;
	if (t->irq >= cap)
		return PELTON_SUM_IRQ;
	if (within + s->util_dl >= cap)
		return within > util && util + s->util_dl < cap ? PELTON_SUM_UCLAMP_MIN : PELTON_SUM_CAPACITY;
	if (t->min > pelton_scale_irq(within, t->irq, cap) + t->dl)
		return PELTON_SUM_DL_FLOOR;
	if (pelton_scale_irq(within, t->irq, cap) + t->dl > cap)
		return PELTON_SUM_CAPACITY;
	if (within == util)
		return PELTON_SUM_TERMS;
	return within > util ? PELTON_SUM_UCLAMP_MIN : PELTON_SUM_UCLAMP_MAX;
}

/* Term that decides the sum of these terms, which are those of `s`. */
PELTON_INLINE u32 pelton_sum_why(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				 const struct pelton_perf_terms *t)
{
	if (pol->perf_form == PELTON_PERF_FLAGS || pol->perf_form == PELTON_PERF_BW)
		return pelton_sum_why_plain(pol, s, t);
	if (pol->perf_form != PELTON_PERF_SUM_THEN_CLAMP)
		return pelton_sum_why_clamped(pol, s, t);
	if (t->irq >= s->cap_orig)
		return PELTON_SUM_IRQ;
	return t->cfs + t->rt + t->dl >= s->cap_orig ? PELTON_SUM_CAPACITY : PELTON_SUM_TERMS;
}

/* Largest part of a lower limit. */
PELTON_INLINE u32 pelton_floor_why(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				   const struct pelton_perf_terms *t)
{
	if (t->irq >= s->cap_orig)
		return PELTON_ASKS_IRQ;
	if (pelton_rt_wants_max(pol, s))
		return PELTON_ASKS_RT;
	if (pelton_clamp_min(pol, s) >= t->irq + pelton_bw_floor(pol, s))
		return PELTON_ASKS_UCLAMP_MIN;
	return pelton_bw_floor(pol, s) ? PELTON_ASKS_DL_FLOOR : PELTON_ASKS_IRQ;
}

/* Term that decides what a CPU with these terms, which are those of `s`, asks for. */
PELTON_INLINE u32 pelton_asks_why(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				  const struct pelton_perf_terms *t)
{
	u32 util = pelton_max_u32(t->effective, t->iowait), wanted = pelton_with_headroom(pol, util);

	if (t->forced_max)
		return PELTON_ASKS_FLAG;
	if (pol->headroom == PELTON_HEADROOM_BEFORE_CLAMPS) {
		if (t->min > pelton_min_u32(wanted, t->max))
			return pelton_floor_why(pol, s, t);
		if (wanted > t->max)
			return pelton_clamp_max(pol, s) < s->cap_orig ? PELTON_ASKS_UCLAMP_MAX : PELTON_ASKS_CAPACITY;
	}
	return t->iowait > t->effective ? PELTON_ASKS_IOWAIT : PELTON_ASKS_SUM;
}

#endif
