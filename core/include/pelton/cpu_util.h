/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Utilization of a CPU with the placed task taken away from one CPU and put on another.
 *
 *   util     the queue's; + task when it comes from elsewhere, - task when it leaves
 *   runnable the same; only when asked for ("boost"), the larger of the two counts; before_task (6.6): as it stands
 *   est      the queue's estimate; + task's on its destination, - task's elsewhere when it is queued or running (from 6.1)
 *   result   max(util, runnable, est), not above the CPU
 *
 *   limited  where groups are (group_throttle.h): the task's group with + or - the task, limited, and what is left
 *   clamped  where clamps add up (uclamp_sum.h): the CPU's clamped utilization; boosted first, then + or - the task's
 *
 *   quantity   unit       range
 *   all        capacity   0 .. 1024, runnable 0 .. 1024 * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (cpu_util, cpu_util_without); 5.10 and 6.1 (cpu_util_next), 6.6 and 6.18
 * (cpu_util); for what is clamped the postings that uclamp_sum.h names (cpu_util, cpu_util_uclamp); for what is limited
 * the kernels that group_throttle.h names.
 * Deviations: none known.
 */
#ifndef PELTON_CPU_UTIL_H
#define PELTON_CPU_UTIL_H

#include "group_throttle.h"
#include "perf.h"
#include "placement.h"
#include "uclamp_sum.h"

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

/* Utilization of a CPU, raised by waiting tasks, when the task comes or goes by `change`. */
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

/* Do clamps add up? */
PELTON_INLINE u32 pelton_place_sums_clamps(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	return s->uclamp_used && pol->uclamp >= PELTON_UCLAMP_SUM;
}

/* The first posting has clamped values only: real ones are not looked at. */
PELTON_INLINE u32 pelton_place_only_clamped(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	return s->uclamp_used && pol->uclamp == PELTON_UCLAMP_SUM;
}

/* The task's clamped utilization. */
PELTON_INLINE u32 pelton_place_task_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
					    const struct pelton_placed *out)
{
	if (pol->uclamp == PELTON_UCLAMP_SUM)
		return out->uclamp_value;
	return pelton_uclamp_clamped((u32)out->se.avg.util_avg, s->task.uclamp_min,
				     pelton_uclamp_cap(pol, s->task.uclamp_max));
}

/* The task's estimate within its clamps. */
PELTON_INLINE u32 pelton_place_est_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out)
{
	if (pol->util_est == PELTON_UTIL_EST_OFF)
		return 0;
	return pelton_uclamp_clamped(pelton_se_util_est(pol, &out->se), s->task.uclamp_min, s->task.uclamp_max);
}

/* The task's utilization, where clamps add up with them. */
PELTON_INLINE u32 pelton_place_task_util_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
						 const struct pelton_placed *out)
{
	return pelton_max_u32(pelton_place_task_clamped(pol, s, out), pelton_place_est_clamped(pol, s, out));
}

/* The task's utilization as time. */
PELTON_INLINE u32 pelton_place_task_util(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out)
{
	if (pelton_place_only_clamped(pol, s))
		return pelton_place_task_util_clamped(pol, s, out);
	return pelton_task_util_est(pol, &out->se);
}

/* Change that the clamps of a sleeping task make on its CPU when it wakes there. */
PELTON_INLINE s64 pelton_place_waking_bias(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out)
{
	s64 bias = (s64)pelton_place_task_clamped(pol, s, out) - (s64)out->se.avg.util_avg;

	if (pol->uclamp == PELTON_UCLAMP_SUM)
		return 0;
	return pol->uclamp == PELTON_UCLAMP_DEBT ? bias + out->uclamp_value : bias;
}

/*
 * A CPU's clamped utilization before estimates, with the task on `dst`. Waiting tasks raise it where and as they raise
 * one without clamps (pelton_boosted_util).
 */
PELTON_INLINE u32 pelton_place_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	s32 change = pelton_task_change(s, cpu, dst);
	s64 util = c->util_clamped;
	u32 clamped;

	if (boost && pol->energy_runnable == PELTON_ENERGY_RUNNABLE_BEFORE_TASK)
		util = pelton_uclamp_sum_boost(pol, c->util_clamped, c->state.util_cfs, c->state.runnable_cfs);
	if (s->task.cpu == cpu && !s->task.on_rq)
		util += pelton_place_waking_bias(pol, s, out);
	clamped = pelton_with_task(util > 0 ? (u32)util : 0, pelton_place_task_clamped(pol, s, out), change);
	if (!boost || pol->energy_runnable != PELTON_ENERGY_RUNNABLE_WITH_TASK)
		return clamped;
	return pelton_uclamp_sum_boost(pol, clamped,
				       pelton_with_task(c->state.util_cfs, (u32)out->se.avg.util_avg, change),
				       pelton_with_task(c->state.runnable_cfs, (u32)out->se.avg.runnable_avg, change));
}

/* Clamped utilization of `cpu` with the task on `dst`, PELTON_NO_CPU: nowhere. */
PELTON_INLINE u32 pelton_place_util_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
					    const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 util = pelton_place_clamped(pol, s, out, cpu, dst, boost);
	u32 own = pelton_place_est_clamped(pol, s, out), est = c->est_clamped;

	if (dst == cpu)
		est += own;
	else if (pelton_est_counts_task(s))
		est = pelton_sub_floor_u32(est, own);
	return pelton_min_u32(pelton_max_u32(util, est), c->state.cap_orig);
}

/* Clamped utilization of a CPU as it stands. */
PELTON_INLINE u32 pelton_place_cpu_clamped(const struct pelton_place_cpu *c)
{
	return pelton_min_u32(pelton_max_u32(c->util_clamped, c->est_clamped), c->state.cap_orig);
}

/* Is no group to count for more than its part of a CPU? */
PELTON_INLINE u32 pelton_place_limits_groups(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	return s->groups_limited && pol->uclamp == PELTON_UCLAMP_GROUP_THROTTLE;
}

/* The most that the task's group counts for on a CPU. */
PELTON_INLINE u32 pelton_place_group_part(const struct pelton_placement *s, u32 cpu)
{
	return pelton_group_part(s->task.throttle, pelton_place_cpu_of(s, cpu)->state.cap_orig);
}

/* Estimate of a CPU whose groups are limited, with the task on `dst`. */
PELTON_INLINE u32 pelton_place_est_limited(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u32 cpu, u32 dst)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 own = pelton_group_est(pelton_se_util_est(pol, &out->se), s->task.uclamp_max, s->task.throttle,
				   c->state.cap_orig);

	if (pol->util_est == PELTON_UTIL_EST_OFF)
		return 0;
	if (dst == cpu)
		return c->est_clamped + own;
	if (pol->energy_aware >= PELTON_ENERGY_AWARE_RANK && pelton_est_counts_task(s))
		return pelton_sub_floor_u32(c->est_clamped, own);
	return c->est_clamped;
}

/* Utilization of `cpu`, whose groups are limited, with the task on `dst`. */
PELTON_INLINE u32 pelton_place_util_limited(const struct pelton_policy *pol, const struct pelton_placement *s,
					    const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	s32 change = pelton_task_change(s, cpu, dst);
	u32 task = (u32)out->se.avg.util_avg;
	s64 util = c->group_rest;

	if (s->task.throttle == PELTON_NO_GROUP)
		util += (s64)change * task;
	else
		util += pelton_min_u32(pelton_with_task(c->group_util, task, change), pelton_place_group_part(s, cpu));
	util = util > 0 ? util : 0;
	if (boost && util >= pelton_with_task(c->state.util_cfs, task, change))
		util = pelton_max_u32((u32)util, pelton_boosted_util(pol, &c->state, out, change));
	return pelton_min_u32(pelton_max_u32((u32)util, pelton_place_est_limited(pol, s, out, cpu, dst)),
			      c->state.cap_orig);
}

/*
 * Limited utilization of a CPU without the task where that is counted `here`, else as it stands: not the task's group,
 * the whole CPU is less.
 */
PELTON_INLINE u32 pelton_cpu_util_without_limited(const struct pelton_policy *pol, const struct pelton_placement *s,
						  const struct pelton_placed *out, u32 cpu, u32 here)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 util = c->util_clamped, est = c->est_clamped;

	if (here) {
		util = pelton_sub_floor_u32(util, (u32)out->se.avg.util_avg);
		if (pelton_est_counts_task(s))
			est = pelton_sub_floor_u32(est, pelton_group_est(pelton_se_util_est(pol, &out->se),
									 s->task.uclamp_max, s->task.throttle,
									 c->state.cap_orig));
	}
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, est);
	return pelton_min_u32(util, c->state.cap_orig);
}

/* Room for the task on a CPU with this utilization: of the CPU, and of its group there. */
PELTON_INLINE u32 pelton_place_spare(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_placed *out, u32 util, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 spare = pelton_sub_floor_u32(c->capacity, util);

	if (!pelton_place_limits_groups(pol, s) || s->task.throttle == PELTON_NO_GROUP)
		return spare;
	return pelton_min_u32(spare, pelton_sub_floor_u32(pelton_place_group_part(s, cpu),
							  pelton_with_task(c->group_util, (u32)out->se.avg.util_avg,
									   pelton_task_change(s, cpu, cpu))));
}

/* Utilization of `cpu` with the task on `dst`, PELTON_NO_CPU: nowhere. */
PELTON_INLINE u32 pelton_place_util(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, cpu)->state;
	s32 change = pelton_task_change(s, cpu, dst);
	u32 util = pelton_with_task(c->util_cfs, (u32)out->se.avg.util_avg, change);

	if (pelton_place_only_clamped(pol, s))
		return pelton_place_util_clamped(pol, s, out, cpu, dst, boost);
	if (pelton_place_limits_groups(pol, s))
		return pelton_place_util_limited(pol, s, out, cpu, dst, boost);
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

	if (pelton_place_only_clamped(pol, s))
		return pelton_place_util_clamped(pol, s, out, cpu, here ? PELTON_NO_CPU : cpu, 0);
	if (pelton_place_limits_groups(pol, s))
		return pelton_cpu_util_without_limited(pol, s, out, cpu, here);
	if (here) {
		util = pelton_sub_floor_u32(util, (u32)out->se.avg.util_avg);
		/* Not in 4.19. */
		if (pol->dst_group > PELTON_DST_GROUP_LOAD_NODES && pelton_est_counts_task(s))
			est = pelton_sub_floor_u32(est, pelton_se_util_est(pol, &out->se));
	}
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, est);
	return pelton_min_u32(util, c->cap_orig);
}

#endif
