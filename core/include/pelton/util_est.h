/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * util_est: what a task reached before it went to sleep, so that a long sleep does not make it look small.
 *
 *   util_avg   /\      /\                    /\
 *             /  \    /  \                  /  \
 *            /    \__/    \________________/    \___
 *   estimate      -------- ------------------------   sampled each time the task sleeps
 *
 *   down by a quarter of the difference:  e' = (3 * e + u) / 4
 *   up:  u1 the same way,  u2 and later at once
 *   within the margin (10 of 1024): left alone
 *
 *   quantity            unit       range
 *   estimate, ewma      capacity   0 .. 1025, bit 31 (u1: bit 0) of `enqueued` is the mark "not published since"
 *   cfs.util_est        capacity   0 .. sum over queued tasks
 *
 * Source: Linux 4.17 and 4.19 (U1_ANY), 5.4 (U1), 5.10.262, 6.1.192 and 6.6 (U2), 6.8 and 6.12.117 (U3), 6.18.2 and
 * 7.2.12 (U4) kernel/sched/fair.c (util_est_update, util_est_enqueue, util_est_dequeue, _task_util_est).
 * Deviations: none known. U2 with the mark in bit 0 is no form of a profile: 5.5 (commit b8c96361402a) to 5.12, and
 * releases of 5.10 to 5.12 without commit 68d7a190682a of 5.13. Recordings of such kernels are read with it.
 */
#ifndef PELTON_UTIL_EST_H
#define PELTON_UTIL_EST_H

#include "pelt.h"

#define PELTON_UTIL_EST_MARGIN (PELTON_CAPACITY_SCALE / 100u)
#define PELTON_UTIL_EST_WEIGHT_SHIFT 2

/* The estimate itself. Up to 5.4 the mark is not masked out: 5.4 sets it, so that every estimate is odd. */
PELTON_INLINE u32 pelton_se_util_est(const struct pelton_policy *pol, const struct pelton_se *se)
{
	u32 e = pelton_max_u32(se->avg.util_est_ewma, se->avg.util_est_enqueued & ~PELTON_UTIL_EST_UNCHANGED);

	return pol->util_est == PELTON_UTIL_EST_U1 ? e | PELTON_UTIL_EST_UNCHANGED_LOW : e;
}

/* The estimate as the root queue adds it up: 4.19 sets the mark here only. */
PELTON_INLINE u32 pelton_queued_util_est(const struct pelton_policy *pol, const struct pelton_se *se)
{
	u32 e = pelton_se_util_est(pol, se);

	return pol->util_est == PELTON_UTIL_EST_U1_ANY ? e | PELTON_UTIL_EST_UNCHANGED_LOW : e;
}

/* A task's utilization as placement sees it. */
PELTON_INLINE u32 pelton_task_util_est(const struct pelton_policy *pol, const struct pelton_se *se)
{
	u32 util = (u32)se->avg.util_avg;

	return pol->util_est == PELTON_UTIL_EST_OFF ? util : pelton_max_u32(util, pelton_se_util_est(pol, se));
}

/* The task joins the root queue: before the entity walk, so that every hook of this event sees it. */
PELTON_INLINE void pelton_util_est_enqueue(const struct pelton_policy *pol, struct pelton_cfs_rq *root,
					   const struct pelton_se *se)
{
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		root->util_est += pelton_queued_util_est(pol, se);
}

/* The task leaves the root queue: before the entity walk, so that the hook no longer sees it (estimate_leaves). */
PELTON_INLINE void pelton_util_est_dequeue(const struct pelton_policy *pol, struct pelton_cfs_rq *root,
					   const struct pelton_se *se)
{
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		root->util_est = pelton_sub_floor_u32(root->util_est, pelton_queued_util_est(pol, se));
}

/* e + (u - e) / 4, without signed arithmetic. */
PELTON_INLINE u32 pelton_util_est_filter(u32 e, u32 u)
{
	return ((e << PELTON_UTIL_EST_WEIGHT_SHIFT) - e + u) >> PELTON_UTIL_EST_WEIGHT_SHIFT;
}

PELTON_INLINE void pelton_util_est_store(struct pelton_avg *avg, u32 enqueued, u32 ewma)
{
	avg->util_est_enqueued = enqueued | PELTON_UTIL_EST_UNCHANGED;
	avg->util_est_ewma = ewma;
}

/* U1, and U1_ANY with `cap_limit` = no limit. The marked sample takes part in the arithmetic. */
PELTON_INLINE void pelton_util_est_update_u1(struct pelton_avg *avg, u32 u, u32 cap_limit)
{
	u32 ewma = avg->util_est_ewma;
	u32 marked = u | PELTON_UTIL_EST_UNCHANGED_LOW;

	if (pelton_distance(marked, ewma) < PELTON_UTIL_EST_MARGIN || u > cap_limit)
		return;
	avg->util_est_enqueued = marked;
	avg->util_est_ewma = pelton_util_est_filter(ewma, marked);
}

PELTON_INLINE void pelton_util_est_update_u2(struct pelton_avg *avg, u32 u, u32 cap_orig)
{
	u32 last = avg->util_est_enqueued;
	u32 ewma = avg->util_est_ewma;

	if (ewma < u) {
		pelton_util_est_store(avg, u, u);
	} else if (ewma - u < PELTON_UTIL_EST_MARGIN) {
		if (pelton_distance(last, u) >= PELTON_UTIL_EST_MARGIN)
			pelton_util_est_store(avg, u, ewma);
	} else if (u <= cap_orig) {
		pelton_util_est_store(avg, u, pelton_util_est_filter(ewma, u));
	}
}

/*
 * U2 with the mark in bit 0 of the sample, where it takes part in the arithmetic. The distance to the last sample
 * counts since commit b89997aa88f0 (5.13, later releases of 5.10 to 5.12); before it a sample near the estimate was
 * not stored.
 */
PELTON_INLINE void pelton_util_est_update_u2_low(struct pelton_avg *avg, u32 u, u32 cap_orig)
{
	u32 last = avg->util_est_enqueued & ~PELTON_UTIL_EST_UNCHANGED_LOW;
	u32 marked = u | PELTON_UTIL_EST_UNCHANGED_LOW;
	u32 ewma = avg->util_est_ewma;

	if (ewma >= marked && ewma - marked < PELTON_UTIL_EST_MARGIN) {
		if (pelton_distance(last, marked) < PELTON_UTIL_EST_MARGIN)
			return;
	} else if (ewma < marked) {
		avg->util_est_ewma = marked;
	} else if (u <= cap_orig) {
		avg->util_est_ewma = pelton_util_est_filter(ewma, marked);
	} else {
		return;
	}
	avg->util_est_enqueued = marked;
}

/* U3, and U4 with `cap_limit` = no limit. */
PELTON_INLINE void pelton_util_est_update_single(struct pelton_avg *avg, u32 u, u32 cap_limit)
{
	u32 e = avg->util_est_enqueued;

	if (e <= u) {
		e = u;
	} else if (e - u >= PELTON_UTIL_EST_MARGIN) {
		if (u > cap_limit)
			return;
		if (u + PELTON_UTIL_EST_MARGIN >= avg->runnable_avg)
			e = pelton_util_est_filter(e, u);
	}
	pelton_util_est_store(avg, e, 0);
}

/* Sample the estimate. `task_sleeps` is 0 when the task leaves the queue for another reason. */
PELTON_INLINE void pelton_util_est_update(const struct pelton_policy *pol, struct pelton_se *se, u32 cap_orig,
					  u32 task_sleeps)
{
	const struct pelton_asked *asked = PELTON_ASKED(pol);
	u32 u = (u32)se->avg.util_avg;

	if (asked && asked->util_est) {
		asked->util_est(se, cap_orig, task_sleeps);
		return;
	}
	if (!task_sleeps || se->avg.util_est_enqueued & pelton_util_est_mark(pol))
		return;
	if (pol->util_est == PELTON_UTIL_EST_U1)
		pelton_util_est_update_u1(&se->avg, u, cap_orig);
	else if (pol->util_est == PELTON_UTIL_EST_U1_ANY)
		pelton_util_est_update_u1(&se->avg, u, ~0u);
	else if (pol->util_est == PELTON_UTIL_EST_U2)
		pelton_util_est_update_u2(&se->avg, u, cap_orig);
	else if (pol->util_est == PELTON_UTIL_EST_U3)
		pelton_util_est_update_single(&se->avg, u, cap_orig);
	else if (pol->util_est == PELTON_UTIL_EST_U4)
		pelton_util_est_update_single(&se->avg, u, ~0u);
}

#endif
