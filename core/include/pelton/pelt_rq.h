/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a fair run queue: what is on it, what sleeps on it, what left it.
 *
 * A queue's averages contain its runnable tasks and its sleeping ("blocked") ones. An entity joins by attach and leaves
 * by detach; one that leaves in its sleep deposits its share in `removed`, taken out at the queue's next update.
 *
 *   attach:   q.X_avg += se.X_avg      q.X_sum += se.X_sum         X = util, runnable; load is weighted
 *   detach:   q.X_avg -= se.X_avg      q.X_sum -= se.X_sum         not below 0
 *             runnable where it is a load: joins and leaves with the queued entity, runnable_load.h
 *   floor:    q.X_sum >= q.X_avg * 46718                           after every subtraction (sum_floor = on, wraps);
 *                                                                  `wraps` cuts both sides to 32 bits first, `on`
 *                                                                  applies it when load is added too
 *   rebuilt:  q.X_sum := q.X_avg * divisor                         instead of the subtraction of sums
 *                                                                  `rebuilt_load`: of load too, whenever some leaves
 *
 *   quantity        unit            range
 *   removed_*       as averages     0 .. what the queue holds
 *   prop            load sum        signed, sum of entity load sums
 *
 * Source: Linux 4.16, 4.19, 5.4, 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2 and 7.2.12 kernel/sched/fair.c
 * (update_cfs_rq_load_avg, attach_entity_load_avg, detach_entity_load_avg, enqueue_load_avg, dequeue_load_avg,
 * reweight_entity, remove_entity_load_avg), kernel/sched/pelt.c (__update_load_avg_cfs_rq).
 * See docs/rules/load-tracking.md.
 * Deviations: 4.12 attached an entity with the sums it came with, and a change of weight left its load average alone
 * until the next update. Up to 5.4 weights below 2 units scaled down to 1 and 0, here to 2.
 */
#ifndef PELTON_PELT_RQ_H
#define PELTON_PELT_RQ_H

#include "pelt.h"
#include "weight.h"

/* A sum after a subtraction: not so small that it would reach zero before its average. */
PELTON_INLINE u64 pelton_floor_sum(const struct pelton_policy *pol, u64 sum, u64 avg)
{
	if (pol->sum_floor == PELTON_SUM_FLOOR_WRAPS)
		return pelton_max_u32((u32)sum, (u32)(avg * PELTON_MIN_DIVISOR));
	return pol->sum_floor == PELTON_SUM_FLOOR_ON ? pelton_max_u64(sum, avg * PELTON_MIN_DIVISOR) : sum;
}

/* Take `avg` and `sum` out of one signal of a queue. */
PELTON_INLINE void pelton_take_out(const struct pelton_policy *pol, u64 *q_avg, u64 *q_sum, u64 avg, u64 sum)
{
	*q_avg = pelton_sub_floor(*q_avg, avg);
	*q_sum = pelton_floor_sum(pol, pelton_sub_floor(*q_sum, sum), *q_avg);
}

/* Take `avg` and `sum` out where some kernels make a new sum from the average; `divisor` is the queue's. */
PELTON_INLINE void pelton_take_out_anew(const struct pelton_policy *pol, u64 *q_avg, u64 *q_sum, u64 avg, u64 sum,
					u32 divisor)
{
	pelton_take_out(pol, q_avg, q_sum, avg, sum);
	if (pol->sum_floor >= PELTON_SUM_FLOOR_REBUILT)
		*q_sum = *q_avg * divisor;
}

/* Take out utilization that sleepers took along; the one signal whose sum 5.10.262 does not make anew. */
PELTON_INLINE void pelton_take_removed_util(const struct pelton_policy *pol, struct pelton_avg *q, u64 avg, u32 divisor)
{
	u64 util_sum = q->util_sum;

	pelton_take_out(pol, &q->util_avg, &util_sum, avg, avg * divisor);
	if (pol->sum_floor >= PELTON_SUM_FLOOR_REBUILT)
		util_sum = pelton_max_u64(util_sum, (u32)(q->util_avg * PELTON_MIN_DIVISOR));
	q->util_sum = (u32)util_sum;
}

/* Note a change of load for the parent level. */
PELTON_INLINE void pelton_add_propagation(struct pelton_cfs_rq *cfs, s64 load_sum)
{
	cfs->propagate = 1;
	cfs->prop_runnable_sum += load_sum;
}

/* Change of the load sum by removed tasks; before 5.7 the record held the sum itself. */
PELTON_INLINE s64 pelton_removed_load_sum(const struct pelton_policy *pol, u64 runnable, u32 divisor)
{
	if (pol->runnable_signal != PELTON_RUNNABLE_ON)
		return -(s64)runnable;
	return -(s64)((runnable * divisor + PELTON_CAPACITY_SCALE - 1) >> PELTON_CAPACITY_SHIFT);
}

/* Take out what left in its sleep. Returns 1 if there was something. */
PELTON_INLINE u32 pelton_take_removed(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs)
{
	u32 divisor = pelton_divisor(pol, &cfs->avg);
	u64 runnable = cfs->removed_runnable;

	if (!cfs->removed_nr)
		return 0;
	pelton_take_out_anew(pol, &cfs->avg.load_avg, &cfs->avg.load_sum, cfs->removed_load,
			     cfs->removed_load * divisor, divisor);
	pelton_take_removed_util(pol, &cfs->avg, cfs->removed_util, divisor);
	if (pol->runnable_signal == PELTON_RUNNABLE_ON)
		pelton_take_out_anew(pol, &cfs->avg.runnable_avg, &cfs->avg.runnable_sum, runnable, runnable * divisor,
				     divisor);
	pelton_add_propagation(cfs, pelton_removed_load_sum(pol, runnable, divisor));
	cfs->removed_nr = 0;
	cfs->removed_load = 0;
	cfs->removed_util = 0;
	cfs->removed_runnable = 0;
	return 1;
}

/* Part that a queue contributes to its runnable sum. */
PELTON_INLINE u64 pelton_cfs_rq_runnable(const struct pelton_policy *pol, const struct pelton_cfs_rq *cfs)
{
	if (pelton_keeps_runnable_load(pol))
		return pelton_runnable_units(cfs->runnable_weight);
	return pol->runnable_signal == PELTON_RUNNABLE_ON ? cfs->h_nr_runnable : 0;
}

/* Age the queue's own record. Returns 1 if a period boundary was crossed. */
PELTON_INLINE u32 pelton_update_load_avg_cfs_rq(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs)
{
	u64 runnable = pelton_cfs_rq_runnable(ctx->pol, cfs);

	if (!pelton_update_load_sum(ctx, &cfs->avg, cfs->load_weight, runnable, cfs->has_curr))
		return 0;
	pelton_publish(ctx->pol, &cfs->avg, 1);
	return 1;
}

/*
 * Bring a queue up to ctx->now: removed tasks first, then time. Returns PELTON_EV_DECAYED and PELTON_EV_REMOVED bits.
 */
PELTON_INLINE u32 pelton_update_cfs_rq_load_avg(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs)
{
	u32 removed = pelton_take_removed(ctx->pol, cfs);
	u32 decayed = pelton_update_load_avg_cfs_rq(ctx, cfs);

	if (removed)
		removed = PELTON_EV_REMOVED | PELTON_EV_DECAYED;
	return removed | (decayed ? PELTON_EV_DECAYED : 0);
}

/* The load sum that belongs to an entity's load average at a queue's position in the period. */
PELTON_INLINE u64 pelton_attached_load_sum(const struct pelton_policy *pol, const struct pelton_se *se, u32 divisor)
{
	u64 sum = se->avg.load_avg * divisor;

	if (pol->attach_load_sum == PELTON_ATTACH_LOAD_SUM_LEAST_ONE && se->weight >= sum)
		return 1;
	return se->weight ? pelton_div_floor(sum, se->weight) : divisor;
}

/* Give the entity the sums that belong to its averages at the queue's position in the period. */
PELTON_INLINE void pelton_align_sums(const struct pelton_policy *pol, const struct pelton_cfs_rq *cfs,
				     struct pelton_se *se)
{
	u32 divisor = pelton_divisor(pol, &cfs->avg);

	se->avg.last_update_time_ns = cfs->avg.last_update_time_ns;
	se->avg.period_contrib = cfs->avg.period_contrib;
	se->avg.util_sum = (u32)(se->avg.util_avg * divisor);
	se->avg.load_sum = pelton_attached_load_sum(pol, se, divisor);
	se->avg.runnable_sum = pelton_keeps_runnable_load(pol) ? se->avg.load_sum : se->avg.runnable_avg * divisor;
}

PELTON_INLINE void pelton_enqueue_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					   const struct pelton_se *se)
{
	cfs->avg.load_avg += se->avg.load_avg;
	cfs->avg.load_sum += se->weight * se->avg.load_sum;
	if (pol->sum_floor == PELTON_SUM_FLOOR_ON)
		cfs->avg.load_sum = pelton_floor_sum(pol, cfs->avg.load_sum, cfs->avg.load_avg);
}

PELTON_INLINE void pelton_dequeue_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					   const struct pelton_se *se)
{
	pelton_take_out(pol, &cfs->avg.load_avg, &cfs->avg.load_sum, se->avg.load_avg, se->weight * se->avg.load_sum);
	if (pol->sum_floor == PELTON_SUM_FLOOR_REBUILT_LOAD)
		cfs->avg.load_sum = cfs->avg.load_avg * pelton_divisor(pol, &se->avg);
}

/* The entity's averages become part of the queue's. The caller fires the hook. */
PELTON_INLINE void pelton_attach_entity_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
						 struct pelton_se *se)
{
	pelton_align_sums(pol, cfs, se);
	pelton_enqueue_load_avg(pol, cfs, se);
	cfs->avg.util_avg += se->avg.util_avg;
	cfs->avg.util_sum += se->avg.util_sum;
	PELTON_ASSERT(cfs->avg.util_sum >= se->avg.util_sum);
	if (!pelton_keeps_runnable_load(pol)) {
		cfs->avg.runnable_avg += se->avg.runnable_avg;
		cfs->avg.runnable_sum += se->avg.runnable_sum;
	}
	pelton_add_propagation(cfs, (s64)se->avg.load_sum);
}

/* The entity's averages leave the queue's. The caller fires the hook. */
PELTON_INLINE void pelton_detach_entity_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
						 const struct pelton_se *se)
{
	u32 divisor = pelton_divisor(pol, &cfs->avg);
	u64 util_sum = cfs->avg.util_sum;

	pelton_dequeue_load_avg(pol, cfs, se);
	pelton_take_out_anew(pol, &cfs->avg.util_avg, &util_sum, se->avg.util_avg, se->avg.util_sum, divisor);
	cfs->avg.util_sum = (u32)util_sum;
	if (!pelton_keeps_runnable_load(pol))
		pelton_take_out_anew(pol, &cfs->avg.runnable_avg, &cfs->avg.runnable_sum, se->avg.runnable_avg,
				     se->avg.runnable_sum, divisor);
	pelton_add_propagation(cfs, -(s64)se->avg.load_sum);
}

/* An entity that is queued weighs on its queue, and up to 5.4 counts in its runnable load. */
PELTON_INLINE void pelton_enqueue_weight(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					 const struct pelton_se *se)
{
	pelton_update_load_add(cfs, se);
	pelton_enqueue_runnable_load_avg(pol, cfs, se);
}

PELTON_INLINE void pelton_dequeue_weight(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					 const struct pelton_se *se)
{
	pelton_update_load_sub(cfs, se);
	pelton_dequeue_runnable_load_avg(pol, cfs, se);
}

/* Averages with the weights as they are. */
PELTON_INLINE void pelton_reweight_avg(const struct pelton_policy *pol, struct pelton_se *se)
{
	u32 divisor = pelton_divisor(pol, &se->avg);
	u64 runnable = pelton_runnable_units(se->runnable_weight) * se->avg.runnable_sum;

	se->avg.load_avg = pelton_div_floor(se->weight * se->avg.load_sum, divisor);
	if (pelton_keeps_runnable_load(pol))
		se->avg.runnable_avg = pelton_div_floor(runnable, divisor);
}

/*
 * Change an entity's weight, which is given as a 64-bit kernel stores it. Its load average follows at once; utilization
 * and runnable average do not depend on it. The load contribution is exchanged for a blocked entity too, because it is
 * still part of the queue. `runnable` is the part that is runnable, as stored.
 */
PELTON_INLINE void pelton_reweight_entity(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					  struct pelton_se *se, u64 weight, u64 runnable)
{
	u32 attached = se->avg.last_update_time_ns != 0;

	if (se->on_rq)
		pelton_dequeue_weight(pol, cfs, se);
	if (attached)
		pelton_dequeue_load_avg(pol, cfs, se);
	se->weight = pelton_scale_load_down(weight);
	se->weight_rest = pelton_weight_rest(weight, se->weight);
	PELTON_ASSERT(runnable <= 0xffffffffu);
	se->runnable_weight = (u32)runnable;
	if (attached) {
		pelton_reweight_avg(pol, se);
		pelton_enqueue_load_avg(pol, cfs, se);
	}
	if (se->on_rq)
		pelton_enqueue_weight(pol, cfs, se);
}

/* Reweight to whole units: a task's weight. */
PELTON_INLINE void pelton_reweight(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs, struct pelton_se *se,
				   u64 weight)
{
	pelton_reweight_entity(pol, cfs, se, pelton_scale_load(weight), pelton_scale_load(weight));
}

/* Age a sleeping entity to its queue's last update, so that what it takes away is what the queue holds for it. */
PELTON_INLINE void pelton_sync_blocked(const struct pelton_ctx *ctx, const struct pelton_cfs_rq *cfs,
				       struct pelton_se *se)
{
	struct pelton_ctx at_queue = *ctx;

	at_queue.now = cfs->avg.last_update_time_ns;
	pelton_update_load_avg_blocked_se(&at_queue, se);
}

/* What a task that left in its sleep takes out of its queue, at the queue's next update. */
struct pelton_removed {
	u64 load;
	u64 util;
	u64 runnable;
};

PELTON_INLINE void pelton_removed_of(const struct pelton_policy *pol, const struct pelton_se *se,
				     struct pelton_removed *r)
{
	r->load = se->avg.load_avg;
	r->util = se->avg.util_avg;
	r->runnable = pol->runnable_signal == PELTON_RUNNABLE_ON ? se->avg.runnable_avg : se->avg.load_sum;
}

/* Leave shares of `nr` tasks behind. */
PELTON_INLINE void pelton_add_removed(struct pelton_cfs_rq *cfs, const struct pelton_removed *r, u32 nr)
{
	cfs->removed_nr += nr;
	cfs->removed_util += r->util;
	cfs->removed_load += r->load;
	cfs->removed_runnable += r->runnable;
}

/* Leave a share behind. */
PELTON_INLINE void pelton_deposit_removed(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
					  const struct pelton_se *se)
{
	struct pelton_removed r;

	pelton_removed_of(pol, se, &r);
	pelton_add_removed(cfs, &r, 1);
}

#endif
