/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runnable load of 4.12 to 5.4: load of what is queued, without what sleeps. Kept in runnable_sum and runnable_avg,
 * which hold the unweighted average from 5.7 on.
 *
 *   entity    R = runnable weight, as stored      task: its weight
 *                                                 group: shares * runnable / load, 2 .. shares as stored, where
 *                                                        runnable = max(g.runnable_avg, g.R)
 *                                                        load     = max(g.load_avg, g.weight)
 *             r = R * load_sum / divisor
 *   queue     sums r and R of what is queued      join: += r   leave: -= r, not below 0   between: ages with the sum of R
 *
 *   a group of weight 1024 whose eight busy tasks have just gone to sleep, but for one: R = 1024 * 1024 / 8192 = 128 units
 *
 *   quantity          unit            range
 *   runnable_weight   weight << 10    0 .. 262144 << 10 of an entity
 *   runnable_avg      weight          0 .. sum of weights
 *
 * Source: Linux 4.16.13, 4.19 and 5.4 kernel/sched/fair.c (enqueue_runnable_load_avg, dequeue_runnable_load_avg,
 * calc_group_runnable, reweight_entity, update_tg_cfs_runnable, attach_entity_load_avg, init_entity_runnable_average);
 * 4.12 (enqueue_entity_load_avg, dequeue_entity_load_avg, update_tg_cfs_load), in which a group counts whole.
 * Deviations: 4.12 made the queue's sum anew from its average where a group's load changed.
 */
#ifndef PELTON_RUNNABLE_LOAD_H
#define PELTON_RUNNABLE_LOAD_H

#include "policy.h"
#include "weight.h"

PELTON_INLINE u32 pelton_keeps_runnable_load(const struct pelton_policy *pol)
{
	return pol->runnable_signal == PELTON_RUNNABLE_LOAD || pol->runnable_signal == PELTON_RUNNABLE_LOAD_WHOLE;
}

/* These releases know no least weight when they scale down. */
PELTON_INLINE u64 pelton_runnable_units(u64 runnable_weight)
{
	return runnable_weight >> PELTON_WEIGHT_SHIFT;
}

/* Factor of an entity's sum that leads to its average. */
PELTON_INLINE u64 pelton_se_runnable_factor(const struct pelton_policy *pol, const struct pelton_se *se)
{
	return pelton_keeps_runnable_load(pol) ? pelton_runnable_units(se->runnable_weight) : 1;
}

PELTON_INLINE void pelton_enqueue_runnable_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
						    const struct pelton_se *se)
{
	if (!pelton_keeps_runnable_load(pol))
		return;
	cfs->runnable_weight += se->runnable_weight;
	cfs->avg.runnable_avg += se->avg.runnable_avg;
	cfs->avg.runnable_sum += pelton_runnable_units(se->runnable_weight) * se->avg.runnable_sum;
}

PELTON_INLINE void pelton_dequeue_runnable_load_avg(const struct pelton_policy *pol, struct pelton_cfs_rq *cfs,
						    const struct pelton_se *se)
{
	u64 sum = pelton_runnable_units(se->runnable_weight) * se->avg.runnable_sum;

	if (!pelton_keeps_runnable_load(pol))
		return;
	cfs->runnable_weight = pelton_sub_floor(cfs->runnable_weight, se->runnable_weight);
	cfs->avg.runnable_avg = pelton_sub_floor(cfs->avg.runnable_avg, se->avg.runnable_avg);
	cfs->avg.runnable_sum = pelton_sub_floor(cfs->avg.runnable_sum, sum);
}

/* The part of a group's entity of weight `shares` that is runnable, both as stored. */
PELTON_INLINE u64 pelton_calc_group_runnable(const struct pelton_policy *pol, const struct pelton_cfs_rq *g, u64 shares)
{
	u64 runnable, load;

	if (pol->runnable_signal != PELTON_RUNNABLE_LOAD)
		return shares;
	load = pelton_max_u64(g->avg.load_avg, g->load_weight);
	runnable = pelton_max_u64(g->avg.runnable_avg, pelton_runnable_units(g->runnable_weight)) * shares;
	if (load)
		runnable /= load;
	return pelton_min_u64(pelton_max_u64(runnable, PELTON_MIN_SHARES), shares);
}

/* A group entity's load sum became `sum`. The queue's sum gives back the weight's part, as these releases have it. */
PELTON_INLINE void pelton_carry_runnable_load(const struct pelton_policy *pol, struct pelton_cfs_rq *q,
					      struct pelton_se *se, u64 sum, u32 divisor)
{
	u64 weighted = pelton_runnable_units(se->runnable_weight) * sum, avg = weighted / divisor;

	if (!pelton_keeps_runnable_load(pol))
		return;
	if (se->on_rq) {
		q->avg.runnable_avg = pelton_shift_by(q->avg.runnable_avg, se->avg.runnable_avg, avg);
		q->avg.runnable_sum = pelton_shift_by(q->avg.runnable_sum, se->weight * se->avg.runnable_sum, weighted);
	}
	se->avg.runnable_sum = sum;
	se->avg.runnable_avg = avg;
}

#endif
