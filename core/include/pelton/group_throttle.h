/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Utilization of a CPU whose task groups are each limited to a part of it, as Android does beside the largest clamps.
 *
 *   part(g)   = throttle(g) * cap_orig >> 10
 *   util      = sum over groups of min(util(g), part(g)) + max(root - sum over groups of util(g), 0)
 *   est       = sum over queued tasks of min(est, upper clamp, part(own group))
 *   the CPU's = max(util, est)
 *
 *   with a task that comes or goes: its own group's util +- task, before that is limited; in no group: util +- task
 *   a task's  = min(clamp(util, min, max), part(own group))
 *
 *   capacity 383, root 600, a group of 400 with throttle 512: min(400, 191) + 200 = 391, which the CPU limits to 383
 *
 *   quantity    unit       range
 *   util, est   capacity   0 .. tasks * 1024
 *   throttle    part       0 .. 1024 = all of the CPU
 *
 * Every group's queue on the CPU is looked at, nested ones beside those above them: what is in a group in a group
 * counts twice, in its sum and in what is left of the root. A reader of a CPU pays for every group on it.
 *
 * Source: kernels of the Pixel 6 of 2021 (5.10), drivers/soc/google/vh/kernel/sched/fair.c
 * (cpu_util_cfs_group_mod_no_est, cpu_util_cfs_group_mod, cpu_util_next, cpu_util_without, task_fits_capacity,
 * group_util_without, rvh_util_est_update_pixel_mod).
 * Deviations: a sample of an estimate is not limited when it is taken, the estimate is when its task is queued; waiting
 * tasks, which that kernel does not count, are no demand of a CPU whose groups are cut down; where a task goes is
 * otherwise the profile's choice, not find_best_target(). Later kernels keep averages of their own for sets of groups
 * and limit estimates by group.
 */
#ifndef PELTON_GROUP_THROTTLE_H
#define PELTON_GROUP_THROTTLE_H

#include "pelt.h"

#define PELTON_THROTTLED_GROUPS_MAX 64u

/* In place of a throttle: the task is in no group. */
#define PELTON_NO_GROUP 0xffffffffu

struct pelton_throttled_group {
	u32 util;     /* of the group's queue on this CPU */
	u32 throttle; /* 0 .. 1024, part of the CPU's capacity */
};

/* The most that a group counts for on a CPU. */
PELTON_INLINE u32 pelton_group_part(u32 throttle, u32 capacity)
{
	return throttle == PELTON_NO_GROUP ? ~0u : throttle * capacity >> PELTON_CAPACITY_SHIFT;
}

/* Utilization of a root queue with its groups limited, without estimates. */
PELTON_INLINE u32 pelton_group_limited(u32 root, const struct pelton_throttled_group *groups, u32 n, u32 capacity)
{
	u32 i, of_groups = 0, limited = 0;

	n = pelton_min_u32(n, PELTON_THROTTLED_GROUPS_MAX);
	for (i = 0; i < n; i++) {
		of_groups += groups[i].util;
		limited += pelton_min_u32(groups[i].util, pelton_group_part(groups[i].throttle, capacity));
	}
	return limited + pelton_sub_floor_u32(root, of_groups);
}

/* Utilization of a CPU whose groups are limited. */
PELTON_INLINE u32 pelton_group_throttled_util(u32 root, u32 util_est, const struct pelton_throttled_group *groups,
					      u32 n, u32 capacity)
{
	u32 util = pelton_group_limited(root, groups, n, capacity);

	return pelton_min_u32(pelton_max_u32(util, util_est), capacity);
}

/* Limited utilization of a root queue without the group at `own`; below 0 where the root has less than its groups. */
PELTON_INLINE s32 pelton_group_rest(u32 root, const struct pelton_throttled_group *groups, u32 n, u32 own, u32 capacity)
{
	u32 i;
	s32 rest = (s32)root;

	n = pelton_min_u32(n, PELTON_THROTTLED_GROUPS_MAX);
	for (i = 0; i < n; i++) {
		rest -= (s32)groups[i].util;
		if (i != own)
			rest += (s32)pelton_min_u32(groups[i].util, pelton_group_part(groups[i].throttle, capacity));
	}
	return rest;
}

/* An estimate as its CPU counts it. */
PELTON_INLINE u32 pelton_group_est(u32 est, u32 max, u32 throttle, u32 capacity)
{
	return pelton_min_u32(pelton_min_u32(est, max), pelton_group_part(throttle, capacity));
}

/* Puts limited groups into the inputs of an evaluation. `est`: of the queued tasks, each limited. */
PELTON_INLINE void pelton_group_throttle_state(const struct pelton_throttled_group *groups, u32 n, u32 est,
					       struct pelton_cpu_state *s)
{
	u32 util = pelton_group_limited(s->util_cfs, groups, n, s->cap_orig);

	if (util < s->util_cfs)
		s->runnable_cfs = 0;
	s->util_cfs = util;
	s->util_est = est;
}

#endif
