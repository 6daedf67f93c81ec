/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of a group of CPUs for a task that is placed through the groups, and the group's type.
 *
 *   a group's type        select_group.h
 *   R, L, S (to 5.4)      select_group_load.h
 *
 *   quantity         unit       range
 *   util, capacity   capacity   sums over the group
 *   load, runnable   weight, capacity * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (update_sg_wakeup_stats, group_classify); 4.12 to 5.4 (find_idlest_group).
 * Deviations: those of select_group.h.
 */
#ifndef PELTON_SELECT_GROUP_SUMS_H
#define PELTON_SELECT_GROUP_SUMS_H

#include "select_group_cpu.h"

/* The group of `cpu` in domain `d`: its loads relative to its capacity, and its most room. */
PELTON_INLINE void pelton_idlest_sums(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_placed *out, const struct pelton_sched_domain *d, u32 cpu,
				      struct pelton_group_sums *g)
{
	struct pelton_group_sums empty = { .load = 0 };
	u32 level;
	pelton_members m;

	*g = empty;
	g->cpus = pelton_group_of(s, cpu, pelton_span_weight(s, d->span), &level);
	g->weight = pelton_span_weight(s, g->cpus);
	g->capacity = pelton_span_group(s, g->cpus, cpu, level)->group_capacity;
	m = pelton_members_of(s, g->cpus, g->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		u32 i = pelton_members_at(&m);

		g->runnable += pelton_place_cpu_of(s, i)->load;
		g->load += pelton_place_cpu_of(s, i)->load_avg;
		g->max_spare = pelton_max_u64(g->max_spare, pelton_capacity_spare(pol, s, out, i));
	}
	g->runnable = pelton_div_floor(g->runnable * PELTON_CAPACITY_SCALE, g->capacity);
	g->load = pelton_div_floor(g->load * PELTON_CAPACITY_SCALE, g->capacity);
}

enum {
	PELTON_GROUP_HAS_SPARE,
	PELTON_GROUP_FULLY_BUSY,
	PELTON_GROUP_MISFIT_TASK,
	PELTON_GROUP_SMT_BALANCE, /* in balances only */
	PELTON_GROUP_IMBALANCED,
	PELTON_GROUP_LLC_BALANCE, /* the same, 7.2 */
	PELTON_GROUP_OVERLOADED
};

/* More tasks than CPUs, and more to do than the group can; what wakes and what balances ask the same. */
PELTON_INLINE u32 pelton_group_is_overloaded(u32 nr_running, u32 weight, u64 capacity, u64 util, u64 runnable,
					     u32 imbalance_pct)
{
	if (nr_running <= weight)
		return 0;
	return capacity * 100u < util * imbalance_pct || capacity * imbalance_pct < runnable * 100u;
}

/* A CPU for each task, or less to do than the group can. */
PELTON_INLINE u32 pelton_group_has_capacity(u32 nr_running, u32 weight, u64 capacity, u64 util, u64 runnable,
					    u32 imbalance_pct)
{
	if (nr_running < weight)
		return 1;
	return capacity * imbalance_pct >= runnable * 100u && capacity * 100u > util * imbalance_pct;
}

PELTON_INLINE u32 pelton_group_classify(const struct pelton_group_sums *g, u32 imbalance_pct, u32 never_overloaded,
					u32 imbalanced, u32 misfits)
{
	u32 spare;

	if (!never_overloaded &&
	    pelton_group_is_overloaded(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct))
		return PELTON_GROUP_OVERLOADED;
	if (imbalanced)
		return PELTON_GROUP_IMBALANCED;
	if (misfits)
		return PELTON_GROUP_MISFIT_TASK;
	spare = pelton_group_has_capacity(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct);
	return spare ? PELTON_GROUP_HAS_SPARE : PELTON_GROUP_FULLY_BUSY;
}

/* Load relative to capacity counts where there is nothing to spare. */
PELTON_INLINE u64 pelton_group_avg_load(const struct pelton_group_sums *g)
{
	if (g->type != PELTON_GROUP_FULLY_BUSY && g->type != PELTON_GROUP_OVERLOADED)
		return 0;
	return pelton_div_floor(g->load * PELTON_CAPACITY_SCALE, g->capacity);
}

/* The group of `cpu` in domain `d`. */
PELTON_INLINE void pelton_update_sg_wakeup_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
						 const struct pelton_placed *out, const struct pelton_sched_domain *d,
						 u32 cpu, struct pelton_group_sums *g)
{
	struct pelton_group_sums empty = { .load = 0 };
	const struct pelton_sched_domain *record;
	u32 never_overloaded = s->energy_aware && pol->dst_group == PELTON_DST_GROUP_TYPES_ENERGY;
	u32 level;
	pelton_members m;

	*g = empty;
	g->cpus = pelton_group_of(s, cpu, pelton_span_weight(s, d->span), &level);
	m = pelton_group_counted(pol, s, g->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		pelton_group_add(pol, s, out, g, pelton_members_at(&m));
	record = pelton_span_group(s, g->cpus, cpu, level);
	g->capacity = record->group_capacity;
	g->max_capacity = record->group_max_capacity;
	g->weight = pelton_span_weight(s, g->cpus);
	g->type = pelton_group_classify(g, d->imbalance_pct, never_overloaded, record->group_imbalance,
					pelton_group_misfits(pol, s, out, d, g->cpus));
	g->avg_load = pelton_group_avg_load(g);
}

#endif
