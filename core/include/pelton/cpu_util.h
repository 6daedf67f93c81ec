/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Utilization of a CPU with the placed task taken away from one CPU and put on another.
 *
 *   util     the queue's; + task when it comes from elsewhere, - task when it leaves
 *   runnable the same; only when asked for ("boost"), the larger of the two counts; before_task (6.6): as it stands
 *   est      the queue's estimate; + task's on its destination, - task's elsewhere when it is queued or running (from 6.1)
 *   result   max(util, runnable, est), not above the CPU
 *
 *   quantity   unit       range
 *   all        capacity   0 .. 1024, runnable 0 .. 1024 * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (cpu_util, cpu_util_without); 5.10 and 6.1 (cpu_util_next), 6.6 and 6.18 (cpu_util).
 * Deviations: none known.
 */
#ifndef PELTON_CPU_UTIL_H
#define PELTON_CPU_UTIL_H

#include "perf.h"
#include "placement.h"

/* A signal of a CPU whose task is taken away or brought. */
PELTON_INLINE u32 pelton_with_task(u32 value, u32 task, s32 change)
{
	if (change > 0)
		return value + task;
	return change < 0 ? pelton_sub_floor_u32(value, task) : value;
}

/* 1 when the task comes to `cpu`, -1 when it leaves it, 0 when it is there or elsewhere before and after. */
PELTON_INLINE s32 pelton_task_change(const struct pelton_placement *s, u32 cpu, u32 dst)
{
	if (s->task.cpu != cpu)
		return dst == cpu;
	return dst == cpu ? 0 : -1;
}

/* Is part of the CPU's estimate the task's own? It is where the task is queued or runs. */
PELTON_INLINE u32 pelton_est_counts_task(const struct pelton_placement *s)
{
	return s->task.on_rq || pelton_place_cpu_of(s, s->task.cpu)->curr_is_task;
}

/* What waiting tasks make of a CPU's utilization when the task comes or goes by `change`. */
PELTON_INLINE u32 pelton_boosted_util(const struct pelton_policy *pol, const struct pelton_cpu_state *c,
				      const struct pelton_placed *out, s32 change)
{
	u32 task = (u32)out->se.avg.util_avg;

	if (pol->energy_runnable == PELTON_ENERGY_RUNNABLE_OFF)
		return pelton_with_task(c->util_cfs, task, change);
	if (pol->energy_runnable == PELTON_ENERGY_RUNNABLE_BEFORE_TASK)
		return pelton_with_task(pelton_max_u32(c->util_cfs, c->runnable_cfs), task, change);
	return pelton_max_u32(pelton_with_task(c->util_cfs, task, change),
			      pelton_with_task(c->runnable_cfs, (u32)out->se.avg.runnable_avg, change));
}

/* The estimate of a CPU's queue with the task on `dst`. */
PELTON_INLINE u32 pelton_place_est(const struct pelton_policy *pol, const struct pelton_placement *s,
				   const struct pelton_placed *out, u32 cpu, u32 dst)
{
	u32 est = pelton_place_cpu_of(s, cpu)->state.util_est;
	u32 own = pelton_se_util_est(pol, &out->se);

	if (dst == cpu)
		return est + own;
	if (pol->energy_aware >= PELTON_ENERGY_AWARE_RANK && pelton_est_counts_task(s))
		return pelton_sub_floor_u32(est, own);
	return est;
}

/* Utilization of `cpu` with the task on `dst`, PELTON_NO_CPU: nowhere. */
PELTON_INLINE u32 pelton_place_util(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, cpu)->state;
	s32 change = pelton_task_change(s, cpu, dst);
	u32 util = pelton_with_task(c->util_cfs, (u32)out->se.avg.util_avg, change);

	if (boost)
		util = pelton_boosted_util(pol, c, out, change);
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, pelton_place_est(pol, s, out, cpu, dst));
	return pelton_min_u32(util, c->cap_orig);
}

/* Utilization of `cpu` without the task when that is counted `here`, else as it stands. */
PELTON_INLINE u32 pelton_cpu_util_without(const struct pelton_policy *pol, const struct pelton_placement *s,
					  const struct pelton_placed *out, u32 cpu, u32 here)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, cpu)->state;
	u32 util = c->util_cfs, est = c->util_est;

	if (here) {
		util = pelton_sub_floor_u32(util, (u32)out->se.avg.util_avg);
		if (pelton_est_counts_task(s))
			est = pelton_sub_floor_u32(est, pelton_se_util_est(pol, &out->se));
	}
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, est);
	return pelton_min_u32(util, c->cap_orig);
}

#endif
