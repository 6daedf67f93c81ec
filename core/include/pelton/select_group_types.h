/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From 5.10 on: which group of a domain a task that is placed through the groups goes to, and which CPU of it.
 *
 *   local against best other group, of equal type
 *     overloaded, busy    leave when 100 * local load > pct * other load, and the difference is above pct - 100 %
 *     misfit              leave for larger CPUs
 *     has spare           leave when the other has more idle CPUs; between nodes only when enough tasks differ
 *
 *   quantity   unit     range
 *   load       weight   relative to the group's capacity
 *
 * Source: Linux 7.2 kernel/sched/fair.c (sched_balance_find_dst_group, sched_balance_find_dst_group_cpu,
 * adjust_numa_imbalance). Deviations: those of select_group.h.
 */
#ifndef PELTON_SELECT_GROUP_TYPES_H
#define PELTON_SELECT_GROUP_TYPES_H

#include "select_group_load.h"

/* Between nodes a few tasks more do not count. */
PELTON_INLINE u32 pelton_adjust_numa_imbalance(u32 imbalance, u32 running, u32 imb_numa_nr)
{
	return running <= imb_numa_nr && imbalance <= 2 ? 0 : imbalance;
}

/* May a node have more tasks than another one while so many run on its CPUs? 5.15. */
PELTON_INLINE u32 pelton_allow_numa_imbalance(u32 running, u32 weight)
{
	return running < weight >> 2;
}

/* Both have idle CPUs and lie on different nodes: 1 = stay, 2 = leave, 0 = let the number of idle CPUs decide. */
PELTON_INLINE u32 pelton_spare_between_nodes(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
					     const struct pelton_group_sums *best)
{
	u32 imb_numa_nr = d->imb_numa_nr, differ;

	if (pelton_span_has(s, local->cpus, s->task.numa_cpu))
		return 1;
	if (pelton_span_has(s, best->cpus, s->task.numa_cpu))
		return 2;
	if (pol->dst_group == PELTON_DST_GROUP_TYPES_NEAR)
		return local->idle_cpus != 0;
	if (pol->dst_group == PELTON_DST_GROUP_TYPES_QUARTER)
		return pelton_allow_numa_imbalance(local->nr_running + 1, pelton_span_weight(s, local->cpus));
	if (!pelton_span_is_all(s, s->task.allowed))
		imb_numa_nr = pelton_min_u32(pelton_cpus_count(pelton_span_allowed(s, local->cpus)), imb_numa_nr);
	differ = local->idle_cpus > best->idle_cpus ? local->idle_cpus - best->idle_cpus
						    : best->idle_cpus - local->idle_cpus;
	return !pelton_adjust_numa_imbalance(differ, local->nr_running + 1, imb_numa_nr);
}

PELTON_INLINE u32 pelton_leaves_for_load(const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
					 const struct pelton_group_sums *best)
{
	u64 margin = PELTON_CAPACITY_SCALE * (d->imbalance_pct - 100u) / 100u;

	if ((d->flags & PELTON_SD_NUMA) && best->avg_load + margin >= local->avg_load)
		return 0;
	return best->avg_load < local->avg_load + margin && 100u * local->avg_load > d->imbalance_pct * best->avg_load;
}

/* Does the task go from the local group to the best other one? What decides is kept in `why`. */
PELTON_INLINE u32 pelton_leaves_group(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
				      const struct pelton_group_sums *best, u32 *why)
{
	u32 nodes;

	*why = PELTON_DST_TYPE;
	if (local->type != best->type)
		return local->type > best->type;
	*why = PELTON_DST_LOAD;
	if (local->type == PELTON_GROUP_OVERLOADED || local->type == PELTON_GROUP_FULLY_BUSY)
		return pelton_leaves_for_load(d, local, best);
	*why = PELTON_DST_CAPACITY;
	if (local->type == PELTON_GROUP_MISFIT_TASK)
		return local->max_capacity < best->max_capacity;
	*why = PELTON_DST_EQUALS;
	if (local->type != PELTON_GROUP_HAS_SPARE)
		return 0;
	nodes = d->flags & PELTON_SD_NUMA ? pelton_spare_between_nodes(pol, s, d, local, best) : 0;
	*why = nodes ? PELTON_DST_NODES : PELTON_DST_IDLE_CPUS;
	return nodes ? nodes == 2 : local->idle_cpus < best->idle_cpus;
}

/* Are groups compared by their loads, not by types? */
PELTON_INLINE u32 pelton_dst_group_by_load(const struct pelton_policy *pol)
{
	return pol->dst_group <= PELTON_DST_GROUP_LOAD_EST;
}

/* The group of `of` in a domain of `cpu`, as groups are compared; for accounts of a decision. */
PELTON_INLINE void pelton_dst_group_sums(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out, u32 cpu, u32 level, u32 of,
					 struct pelton_group_sums *g)
{
	const struct pelton_sched_domain *d = pelton_place_domain(s, cpu, level);

	if (pelton_dst_group_by_load(pol))
		pelton_idlest_sums(pol, s, out, d, of, g);
	else
		pelton_update_sg_wakeup_stats(pol, s, out, d, of, g);
}

/* CPUs of the group to go to; 0 = the task stays in the group of `cpu`. */
PELTON_INLINE pelton_span pelton_find_dst_group(const struct pelton_policy *pol, const struct pelton_placement *s,
						struct pelton_placed *out, const struct pelton_sched_domain *d, u32 cpu)
{
	struct pelton_group_sums empty = { .load = 0 };
	pelton_walk walk = pelton_walk_from(pelton_span_cpus(s, d->span), cpu);

	if (pelton_dst_group_by_load(pol))
		return pelton_find_idlest_group(pol, s, out, d, cpu);
	out->local = empty;
	out->idlest = empty;
	for (; pelton_walk_more(&walk);) {
		u32 first = pelton_walk_at(&walk, cpu);

		pelton_update_sg_wakeup_stats(pol, s, out, d, first, &out->group);
		pelton_walk_leave(s, &walk, out->group.cpus, cpu);
		pelton_dst_group_look(s, out, cpu);
	}
	out->dst_why = PELTON_DST_NO_OTHER;
	if (!pelton_span_any(out->idlest.cpus))
		return PELTON_SPAN_NONE;
	out->dst_why = PELTON_DST_NO_OWN;
	if (pelton_span_any(out->local.cpus) &&
	    !pelton_leaves_group(pol, s, d, &out->local, &out->idlest, &out->dst_why))
		return PELTON_SPAN_NONE;
	return out->idlest.cpus;
}

/*
 * Shallowest idle CPU of a group, among equals the one that went idle last; else the least loaded. One that runs
 * SCHED_IDLE tasks only is taken at once, in 5.4 when none is idle.
 */
PELTON_INLINE u32 pelton_find_dst_group_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
					    pelton_span group, u32 cpu)
{
	struct pelton_dst_cpu best = {
		.least = ~0ull, .idle = PELTON_NO_CPU, .second = PELTON_NO_CPU, .latency = 0xffffffffu, .loaded = cpu
	};
	pelton_members m;

	if (pelton_span_weight(s, group) == 1)
		return pelton_span_first(s, group);
	m = pelton_members_of(s, group, s->task.allowed);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		if (pelton_dst_cpu_look(pol, s, &best, cpu, pelton_members_at(&m)))
			return pelton_members_at(&m);
	if (best.idle != PELTON_NO_CPU)
		return best.idle;
	return best.second != PELTON_NO_CPU ? best.second : best.loaded;
}

#endif
