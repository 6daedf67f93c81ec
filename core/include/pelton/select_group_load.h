/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The group of a domain for a task that is new or loads another program, in releases up to 5.4; in 5.4 also for one
 * that wakes and finds its CPUs too small.
 *
 *   of each group     R = sum of loads of runnable tasks * 1024 / capacity         L = the same with tasks that sleep
 *                     S = most room of a CPU, capacity - utilization without the task
 *   m = 1024 * (pct - 100) / 100,  k = 100 + (pct - 100) / 2
 *
 *   idlest group      R below the least so far by more than m; or R not above it by m, and 100 * least L > k * L
 *   stays             not new:  S here > util / 2 and k * S here > 100 * most S
 *   leaves            not new:  most S > util / 2                                    to the group with most room
 *   stays             no other group
 *                     other node: its R + m >= R here                               (4.19)
 *                     its R > R here + m; or R here < its R + m and 100 * L here < k * its L
 *   leaves            else                                                           to the idlest group
 *
 *   quantity          unit       range
 *   R, L              weight     0 .. 88761 * tasks * 1024 / capacity
 *   S, util           capacity   0 .. 1024
 *
 * Sums wrap as the kernel's do: without an own group R and L here are the largest numbers there are (4.12: 0).
 *
 * Source: Linux 4.12, 4.16.13, 4.19, 5.4 kernel/sched/fair.c (find_idlest_group; capacity_spare_wake, in 5.4
 * capacity_spare_without). Deviations: none known.
 */
#ifndef PELTON_SELECT_GROUP_LOAD_H
#define PELTON_SELECT_GROUP_LOAD_H

#include "select_group_look.h"

/* By load: does a task of the local group leave for the idlest one? */
PELTON_INLINE u32 pelton_idlest_leaves(const struct pelton_policy *pol, const struct pelton_sched_domain *d,
				       const struct pelton_group_sums *local, const struct pelton_idlest *best)
{
	u64 other = best->min_runnable + best->margin;

	if (pol->dst_group >= PELTON_DST_GROUP_LOAD_NODES && (d->flags & PELTON_SD_NUMA) && other >= local->runnable)
		return 0;
	if (best->min_runnable > local->runnable + best->margin)
		return 0;
	return local->runnable >= other || 100u * local->load >= best->scale * best->min_load;
}

/* CPUs of the group to go to; 0 = the task stays in the local one. */
PELTON_INLINE pelton_span pelton_idlest_choice(const struct pelton_policy *pol, const struct pelton_placement *s,
					       struct pelton_placed *out, const struct pelton_sched_domain *d,
					       const struct pelton_idlest *best)
{
	u64 half = out->se.avg.util_avg / 2u;

	out->dst_why = PELTON_DST_ROOM;
	/* A new task has no utilization yet that room could be compared with. */
	if (!(s->flags & PELTON_WF_FORK)) {
		if (out->local.max_spare > half && best->scale * out->local.max_spare > 100u * best->most_spare)
			return PELTON_SPAN_NONE;
		if (best->most_spare > half)
			return best->roomiest;
	}
	out->dst_why = pelton_span_any(best->idlest) ? PELTON_DST_LOAD : PELTON_DST_NO_OTHER;
	if (!pelton_span_any(best->idlest) || !pelton_idlest_leaves(pol, d, &out->local, best))
		return PELTON_SPAN_NONE;
	return best->idlest;
}

/* CPUs of the group to go to after a look at all groups of a domain of `cpu`; 0 = the task stays in the local one. */
PELTON_INLINE pelton_span pelton_find_idlest_group(const struct pelton_policy *pol, const struct pelton_placement *s,
						   struct pelton_placed *out, const struct pelton_sched_domain *d,
						   u32 cpu)
{
	u64 unknown = pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG ? 0 : ~0ull;
	pelton_walk walk = pelton_walk_from(pelton_span_cpus(s, d->span), cpu);
	struct pelton_group_sums none = { .runnable = unknown, .load = unknown };
	struct pelton_idlest best = {
		.min_runnable = ~0ull,
		.min_load = ~0ull,
		.margin = PELTON_CAPACITY_SCALE * (d->imbalance_pct - 100u) / 100u,
		.scale = 100u + (d->imbalance_pct - 100u) / 2u,
	};

	out->local = none;
	out->idlest = none;
	for (; pelton_walk_more(&walk);) {
		u32 first = pelton_walk_at(&walk, cpu);

		pelton_idlest_sums(pol, s, out, d, first, &out->group);
		pelton_walk_leave(s, &walk, out->group.cpus, cpu);
		if (!pelton_span_meets(s, out->group.cpus, s->task.allowed))
			continue;
		if (pelton_span_has(s, out->group.cpus, cpu))
			out->local = out->group;
		else
			pelton_idlest_look(&best, out, &out->group);
	}
	return pelton_idlest_choice(pol, s, out, d, &best);
}

#endif
