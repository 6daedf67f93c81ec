/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Utilization clamps that add up: a CPU's clamped utilization is the sum of its queued tasks' clamped ones.
 *
 *   v = clamp(util, min, max)          of a task
 *
 *   sum     S = sum of queued v;  R -> S at once when S is larger, else R - S halves every 32 periods;  the CPU's is R
 *           asleep, v halves as utilization does; a task that leaves asleep takes it out of R
 *   bias    b = v - util, signed;  B = sum of queued b;  the CPU's is max(0, util + B)
 *           going to sleep, a negative b is taken out of the averages of the task and of every queue above it
 *   bias_weighted   the same, and no task is capped below what its weight entitles it to beside the hungriest one:
 *           k = v / weight of that one;  max' = max(max, k * own weight)
 *   debt    the CPU's is max(0, util + B - D);  D = sum of what sleep left of negative b, halving with utilization; a
 *           task that wakes or leaves takes its part out of D. The averages are left alone.
 *
 *   two tasks at 1024, capped to 200, on one CPU: 400 in all four, where the maximum gives 200
 *
 *   quantity              unit       range
 *   v, S, R, D, est       capacity   0 .. tasks * 1024
 *   b, B                  capacity   signed, of one task -1024 .. 1024
 *
 * Source: sum: H. Xia, 4 Oct 2023, [RFC PATCH 1/6, 2/6, 3/6] sched/uclamp (___update_util_avg_uclamp,
 * ___decay_util_avg_uclamp_towards, uclamp_rq_is_capped); bias: 24 Jun 2024, [PATCH 2/7, 4/7, 7/7] (util_bias_update,
 * cpu_util_uclamp, propagate_negative_bias); bias_weighted: 4 Mar 2025, [PATCH v2 7/8, 8/8]; debt is this project's
 * own. None of them is in a release. What Android does instead: group_throttle.h.
 * Deviations: a change of clamps counts at once, not when the task's average is published next; an estimate's clamped
 * form follows from the estimate, where the first posting filters clamped samples; queues of groups keep no sums, which
 * only the root's reader needs. The correction of negative sums is that of v2 (own divisor, then a floor).
 */
#ifndef PELTON_UCLAMP_SUM_H
#define PELTON_UCLAMP_SUM_H

#include "pelt.h"

/* Of a task. The host writes id, weight, inv_weight, min and max. */
struct pelton_uclamp_sum_task {
	u32 id;         /* unique on the machine */
	u32 weight;     /* nice 0 = 1024 */
	u32 inv_weight; /* 2^32 / weight */
	u32 min;        /* in force */
	u32 max;
	u32 counted; /* its CPU counts it */
	u32 value;   /* sum: v as its CPU counts it, or what sleep left of it; debt: what sleep left of a negative b */
	s32 bias;    /* b as its CPU counts it */
	u32 est;     /* clamped estimate, as its CPU counts it */
	u32 reserved;
};

/* Of a CPU. */
struct pelton_uclamp_sum_rq {
	u64 last_update_time_ns; /* of the root queue, as of which this is */
	u64 record;              /* v / weight of the hungriest queued task, times 2^32 */
	u32 period_contrib;
	u32 record_id; /* whose that is */
	u32 has_record;
	u32 queued;  /* S */
	u32 root;    /* R */
	u32 removed; /* v or debt of tasks that left asleep since the root queue last looked */
	s32 bias;    /* B */
	u32 debt;    /* D */
	u32 est;     /* of the queued tasks */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_uclamp_sum_task) == 40, "layout");
_Static_assert(sizeof(struct pelton_uclamp_sum_rq) == 56, "layout");

/* Raw utilization this far above the clamped one marks a capped CPU (sum, debt). */
#define PELTON_UCLAMP_CAPPED_MARGIN 80u

/* Utilization within clamps; an upper clamp below the lower one wins. */
PELTON_INLINE u32 pelton_uclamp_clamped(u32 util, u32 min, u32 max)
{
	return pelton_min_u32(pelton_max_u32(util, min), max);
}

/* The upper clamp that counts: utilization just above 1024 is not cut down to it. */
PELTON_INLINE u32 pelton_uclamp_cap(const struct pelton_policy *pol, u32 max)
{
	return max == PELTON_CAPACITY_SCALE && pol->uclamp != PELTON_UCLAMP_SUM ? ~0u : max;
}

/* Period boundaries between a position in time and a later one of the same record. */
PELTON_INLINE u64 pelton_periods_between(u64 last_ns, u32 period_contrib, u64 now)
{
	if (!last_ns || now <= last_ns)
		return 0;
	return (((now - last_ns) >> PELTON_UNIT_SHIFT) + period_contrib) / PELTON_PERIOD_UNITS;
}

/* Rest of a value after so many period boundaries; none leave it as it is. */
PELTON_INLINE u32 pelton_uclamp_fade(u32 value, u64 periods)
{
	return periods ? (u32)pelton_decay_load(value, periods) : value;
}

/* Fades a sleeper's value with time; called before its record is brought up to `now`. */
PELTON_INLINE void pelton_uclamp_sum_age_task(struct pelton_uclamp_sum_task *t, const struct pelton_avg *avg, u64 now)
{
	u64 periods = pelton_periods_between(avg->last_update_time_ns, avg->period_contrib, now);

	if (!t->counted)
		t->value = pelton_uclamp_fade(t->value, periods);
}

/* Follows the root queue, which was just updated. */
PELTON_INLINE void pelton_uclamp_sum_follow(struct pelton_uclamp_sum_rq *rq, const struct pelton_cfs_rq *root)
{
	const struct pelton_avg *avg = &root->avg;
	u64 periods = pelton_periods_between(rq->last_update_time_ns, rq->period_contrib, avg->last_update_time_ns);

	if (rq->removed && !root->removed_nr) {
		rq->root = pelton_sub_floor_u32(rq->root, rq->removed);
		rq->debt = pelton_sub_floor_u32(rq->debt, rq->removed);
		rq->removed = 0;
	}
	if (rq->root <= rq->queued)
		rq->root = rq->queued;
	else
		rq->root = rq->queued + pelton_uclamp_fade(rq->root - rq->queued, periods);
	rq->debt = avg->util_avg ? pelton_uclamp_fade(rq->debt, periods) : 0;
	rq->last_update_time_ns = avg->last_update_time_ns;
	rq->period_contrib = avg->period_contrib;
}

/* The upper clamp of a queued task beside the hungriest one of its CPU, which it may become. */
PELTON_INLINE u32 pelton_uclamp_fair_cap(struct pelton_uclamp_sum_rq *rq, const struct pelton_uclamp_sum_task *t,
					 u32 clamped, u32 max)
{
	u64 factor = (u64)t->inv_weight * clamped;

	if (!rq->has_record || rq->record_id == t->id || factor > rq->record) {
		rq->has_record = 1;
		rq->record_id = t->id;
		rq->record = factor;
		return max;
	}
	return pelton_max_u32(max, (u32)pelton_min_u64((rq->record * t->weight) >> 32, PELTON_CAPACITY_SCALE));
}

/* Clamped utilization of a task. */
PELTON_INLINE u32 pelton_uclamp_sum_value(const struct pelton_policy *pol, struct pelton_uclamp_sum_rq *rq,
					  const struct pelton_uclamp_sum_task *t, u32 util)
{
	u32 max = pelton_uclamp_cap(pol, t->max);
	u32 clamped = pelton_uclamp_clamped(util, t->min, max);

	if (pol->uclamp == PELTON_UCLAMP_BIAS_WEIGHTED && t->counted)
		clamped = pelton_uclamp_clamped(util, t->min, pelton_uclamp_fair_cap(rq, t, clamped, max));
	return clamped;
}

/* The average of a queued task was published, or its clamps changed. */
PELTON_INLINE void pelton_uclamp_sum_update(const struct pelton_policy *pol, struct pelton_uclamp_sum_rq *rq,
					    struct pelton_uclamp_sum_task *t, u32 util)
{
	u32 clamped;
	s32 bias;

	if (!t->counted)
		return;
	clamped = pelton_uclamp_sum_value(pol, rq, t, util);
	if (pol->uclamp == PELTON_UCLAMP_SUM) {
		rq->queued += clamped - t->value;
		t->value = clamped;
		return;
	}
	bias = (s32)(clamped - util);
	rq->bias += bias - t->bias;
	t->bias = bias;
}

/* A task joins its CPU; called when its averages have. */
PELTON_INLINE void pelton_uclamp_sum_enqueue(const struct pelton_policy *pol, struct pelton_uclamp_sum_rq *rq,
					     struct pelton_uclamp_sum_task *t, u32 util)
{
	if (pol->uclamp == PELTON_UCLAMP_DEBT)
		rq->debt = pelton_sub_floor_u32(rq->debt, t->value);
	t->value = 0;
	t->bias = 0;
	t->counted = 1;
	pelton_uclamp_sum_update(pol, rq, t, util);
	rq->root = pelton_max_u32(rq->root, rq->queued);
}

/*
 * A task leaves its CPU; called when its averages have been updated. Returns what has to be taken out of the
 * utilization of the task and of every queue and entity above it (pelton_uclamp_take_bias).
 */
PELTON_INLINE u32 pelton_uclamp_sum_dequeue(const struct pelton_policy *pol, struct pelton_uclamp_sum_rq *rq,
					    struct pelton_uclamp_sum_task *t, u32 migrates)
{
	u32 cut = t->bias < 0 && !migrates ? (u32)-t->bias : 0;

	if (!t->counted)
		return 0;
	t->counted = 0;
	rq->bias -= t->bias;
	t->bias = 0;
	if (rq->has_record && rq->record_id == t->id)
		rq->has_record = 0;
	if (pol->uclamp == PELTON_UCLAMP_SUM)
		rq->queued = pelton_sub_floor_u32(rq->queued, t->value);
	if (pol->uclamp != PELTON_UCLAMP_DEBT)
		return cut;
	t->value = cut;
	rq->debt += cut;
	return 0;
}

/* Takes a negative bias out of one record. */
PELTON_INLINE void pelton_uclamp_take_bias(const struct pelton_policy *pol, struct pelton_avg *avg, u32 cut)
{
	u64 sum = pelton_sub_floor(avg->util_sum, (u64)cut * pelton_divisor(pol, avg));

	avg->util_avg = pelton_sub_floor(avg->util_avg, cut);
	avg->util_sum = (u32)pelton_max_u64(sum, avg->util_avg * PELTON_MIN_DIVISOR);
}

/* A sleeping task wakes elsewhere, or ends. It was aged up to its queue's last update. */
PELTON_INLINE void pelton_uclamp_sum_leave(struct pelton_uclamp_sum_rq *rq, struct pelton_uclamp_sum_task *t)
{
	rq->removed += t->value;
	t->value = 0;
}

/* Before a task joins: its estimate within its clamps. */
PELTON_INLINE void pelton_uclamp_sum_est_enqueue(struct pelton_uclamp_sum_rq *rq, struct pelton_uclamp_sum_task *t,
						 u32 est)
{
	t->est = pelton_uclamp_clamped(est, t->min, t->max);
	rq->est += t->est;
}

/* Before a task leaves. */
PELTON_INLINE void pelton_uclamp_sum_est_dequeue(struct pelton_uclamp_sum_rq *rq, struct pelton_uclamp_sum_task *t)
{
	rq->est = pelton_sub_floor_u32(rq->est, t->est);
	t->est = 0;
}

/* Clamped utilization of a CPU whose root queue has this utilization. */
PELTON_INLINE u32 pelton_uclamp_sum_util(const struct pelton_policy *pol, const struct pelton_uclamp_sum_rq *rq,
					 u32 util)
{
	s64 clamped = (s64)util + rq->bias;

	if (pol->uclamp == PELTON_UCLAMP_SUM)
		return rq->root;
	if (pol->uclamp == PELTON_UCLAMP_DEBT)
		clamped -= rq->debt;
	return clamped > 0 ? (u32)clamped : 0;
}

/* Does a task that joined call the governor, whose last look was without its clamps? */
PELTON_INLINE u32 pelton_uclamp_sum_calls(const struct pelton_policy *pol, const struct pelton_uclamp_sum_task *t)
{
	if (pol->uclamp == PELTON_UCLAMP_BIAS_WEIGHTED)
		return t->bias > 0;
	return pol->uclamp != PELTON_UCLAMP_DEBT || t->bias != 0;
}

/* Are the tasks of a CPU capped so far that waiting is what their caps want, and no demand (sum, debt)? */
PELTON_INLINE u32 pelton_uclamp_rq_is_capped(const struct pelton_policy *pol, u32 clamped, u32 util)
{
	return (pol->uclamp == PELTON_UCLAMP_SUM || pol->uclamp == PELTON_UCLAMP_DEBT) &&
	       clamped < PELTON_CAPACITY_SCALE && util > clamped + PELTON_UCLAMP_CAPPED_MARGIN;
}

/* Clamped utilization, raised by waiting tasks. */
PELTON_INLINE u32 pelton_uclamp_sum_boost(const struct pelton_policy *pol, u32 clamped, u32 util, u32 runnable)
{
	if (pelton_uclamp_rq_is_capped(pol, clamped, util))
		return clamped;
	/* What is not utilized is not clamped either: without clamps in use debt is what none is. */
	if (pol->uclamp == PELTON_UCLAMP_SUM || (pol->uclamp == PELTON_UCLAMP_DEBT && !util))
		return pelton_max_u32(clamped, runnable);
	return util ? pelton_max_u32(clamped, pelton_mul_div_floor(clamped, runnable, util)) : clamped;
}

/*
 * Inputs of an evaluation with the clamps in them. `rt_min`: debt only, the largest lower clamp of runnable RT tasks.
 */
PELTON_INLINE void pelton_uclamp_sum_state(const struct pelton_policy *pol, const struct pelton_uclamp_sum_rq *rq,
					   u32 rt_min, struct pelton_cpu_state *s)
{
	u32 clamped = pelton_uclamp_sum_util(pol, rq, s->util_cfs);

	s->runnable_cfs = pelton_uclamp_sum_boost(pol, clamped, s->util_cfs, s->runnable_cfs);
	s->util_cfs = clamped;
	s->util_est = rq->est;
	s->uclamp_used = 1;
	s->uclamp_min = pol->uclamp == PELTON_UCLAMP_DEBT ? rt_min : 0;
	s->uclamp_max = PELTON_CAPACITY_SCALE;
}

#endif
