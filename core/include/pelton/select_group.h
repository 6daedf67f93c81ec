/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for a CPU of a task that is new or loads another program: from the largest domain down, the group with
 * most to spare, in it the CPU that is idle least deeply, else the least loaded.
 *
 *   a group's type        when, all sums without the task
 *     overloaded          more tasks than CPUs, and capacity * 100 < util * pct or capacity * pct < runnable * 100;
 *                         in 7.2 never here while the kernel is energy-aware
 *     imbalanced          pinned tasks kept a balance from succeeding
 *     misfit              unequal CPUs, and the task fits none of them
 *     has spare           fewer tasks than CPUs, or capacity * 100 > util * pct and not capacity * pct < runnable * 100
 *     fully busy          else
 *
 *   local against best other group, of equal type
 *     overloaded, busy    leave when 100 * local load > pct * other load, and the difference is above pct - 100 %
 *     misfit              leave for larger CPUs
 *     has spare           leave when the other has more idle CPUs; between nodes only when enough tasks differ
 *
 *   quantity         unit       range
 *   util, capacity   capacity   sums over the group
 *   load, runnable   weight, capacity * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (sched_balance_find_dst_cpu, sched_balance_find_dst_group,
 * sched_balance_find_dst_group_cpu, update_sg_wakeup_stats, update_pick_idlest, group_classify, adjust_numa_imbalance);
 * 5.10.262, 6.1.192 and 6.6 the same under the names find_idlest_cpu, find_idlest_group, find_idlest_group_cpu; the
 * last one of 4.12 (find_idlest_cpu), 4.16.13, 4.19 and 5.4. select_group_load.h has how releases up to 5.4 compare
 * groups.
 * Deviations: types of asymmetric packing, busy cores and saturated caches do not occur at this moment.
 */
#ifndef PELTON_SELECT_GROUP_H
#define PELTON_SELECT_GROUP_H

#include "select_group_step.h"

/*
 * Brings the task's signals up to date, which room is compared with; not in 4.12. 1 = it may use CPUs of the domain.
 * 4.16 does the former before it asks the latter.
 */
PELTON_INLINE u32 pelton_find_dst_begin(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, pelton_span span)
{
	u32 any = pelton_span_meets(s, span, s->task.allowed);

	if (!(s->flags & PELTON_WF_FORK) && pol->dst_group != PELTON_DST_GROUP_LOAD_ORIG &&
	    (any || pol->dst_group == PELTON_DST_GROUP_LOAD))
		pelton_sync_entity_load_avg(pol, s, out);
	return any;
}

/* Begins in a domain of `cpu`; 0 = the task may use none of its CPUs. */
PELTON_INLINE u32 pelton_find_dst_start(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, u32 cpu, u32 level, struct pelton_dst_walk *w)
{
	w->cpu = cpu;
	w->level = level;
	w->result = pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG ? s->prev_cpu : cpu;
	w->compared = 0;
	w->stepped = pelton_place_domain(s, cpu, level)->span;
	w->group = PELTON_SPAN_NONE;
	return pelton_find_dst_begin(pol, s, out, w->stepped);
}

/* From a domain of `cpu` down to one CPU. */
PELTON_INLINE u32 pelton_find_dst_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, u32 cpu, u32 level)
{
	struct pelton_dst_walk w;
	u32 rounds;

	if (!pelton_find_dst_start(pol, s, out, cpu, level, &w))
		return s->prev_cpu;
	for (rounds = 0; rounds < 2u * PELTON_DOMAINS_MAX && w.level < PELTON_DOMAINS_MAX; rounds++)
		pelton_find_dst_step(pol, s, out, &w);
	return w.result;
}

#endif
