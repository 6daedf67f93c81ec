/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which group of a domain has too much, how much of it the local group should take, and from which CPU, from 5.10 on.
 * Before that it is balance_loads.h, which is called from here.
 *
 *   a group's type, the worst that holds
 *     overloaded     more tasks than CPUs, and capacity * 100 < util * pct or capacity * pct < runnable * 100; from 7.2 on
 *                    an energy-aware machine only with an over-utilized CPU
 *     llc balance    tasks prefer the cache of this CPU and may go there (7.2)
 *     imbalanced     pinned tasks kept a balance below from succeeding
 *     smt balance    an idle CPU looks at threads of one core that run two fair tasks (6.6)
 *     misfit         unequal CPUs: a running task is too big for its CPU; equal ones: an idle CPU sees a lone task on a CPU
 *                    whose capacity others took (6.1)
 *     fully busy     no capacity to spare
 *     has spare      else
 *
 *   local            busiest                what moves
 *     any            misfit                 the task, or on equal CPUs its load
 *     any            smt balance, imbalanced  one task
 *     any            llc balance            one task that prefers the cache
 *     has spare      above fully busy       utilization: what local has left (domains without common cache), at least a task
 *     has spare      else                   half of the difference of tasks (single CPUs, or spread is wanted), else of idle
 *                                           CPUs; between nodes a few tasks do not count
 *     else                                  load: min((busiest - mean) * its capacity, (mean - local) * local's) / 1024
 *
 *   balanced: local is of a worse type; both overloaded and busiest at most pct % of local, or one on the wrong side of
 *   the mean; busiest not overloaded and this CPU busy, or idle CPUs differ by at most one, or it has one fair task; an
 *   energy-aware machine that is not over-utilized (but for misfits; 5.10: for them, too)
 *
 *   quantity         unit
 *   capacity, util   capacity, sums over a group
 *   load             weight
 *
 * Source: Linux 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2, 7.2.12 kernel/sched/fair.c (update_sg_lb_stats,
 * group_classify, update_sd_pick_busiest, update_sd_lb_stats, sibling_imbalance, calculate_imbalance,
 * llc_balance, update_llc_busiest, find_busiest_group, later sched_balance_find_src_group; find_busiest_queue, later
 * sched_balance_find_src_rq).
 * Deviations: those of balance.h.
 */
#ifndef PELTON_BALANCE_GROUP_H
#define PELTON_BALANCE_GROUP_H

#include "balance_kept.h"
#include "balance_loads.h"

/* May this CPU give a group's task that is too big what it needs? */
PELTON_INLINE u32 pelton_lb_helps_misfit(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	u32 core_idle = !s->smt || pelton_is_core_idle(s, env->dst_cpu);

	if (lb->local.type != PELTON_GROUP_HAS_SPARE)
		return 0;
	if (pol->balance == PELTON_BALANCE_TYPES)
		return pelton_fits_margin(pol, lb->group.max_capacity, lb->local.max_capacity);
	if (pol->balance_capacity == PELTON_BALANCE_CAPACITY_BEFORE && !core_idle)
		return 0;
	return pelton_capacity_greater(pelton_place_cpu_of(s, env->dst_cpu)->capacity, lb->group.max_capacity);
}

/* Would a task that has its CPU to itself get a smaller one? */
PELTON_INLINE u32 pelton_lb_shrinks(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	if (lb->group.type > PELTON_GROUP_FULLY_BUSY)
		return 0;
	if (pol->balance == PELTON_BALANCE_TYPES)
		return pelton_fits_margin(pol, lb->local.min_capacity, lb->group.min_capacity);
	return pelton_capacity_greater(lb->group.min_capacity, pelton_place_cpu_of(s, env->dst_cpu)->capacity);
}

/* Has the group fewer idle CPUs than the busiest so far, or more tasks? */
PELTON_INLINE u32 pelton_lb_spares_less(const struct pelton_lb_group *busiest, const struct pelton_lb_group *g)
{
	u32 idle = pelton_span_any(busiest->cpus) ? busiest->idle_cpus : 0xffffffffu;

	return g->idle_cpus < idle || (g->idle_cpus == idle && g->nr_running > busiest->nr_running);
}

/* Of two groups that have something to spare: one of threads of a core gives no lone task away (6.6). */
PELTON_INLINE u32 pelton_lb_busier_spare(const struct pelton_policy *pol, const struct pelton_lb_group *busiest,
					 const struct pelton_lb_group *g)
{
	u32 differ = (busiest->flags ^ g->flags) & PELTON_SD_SHARE_CPUCAPACITY;

	if (pol->balance >= PELTON_BALANCE_CORES && pelton_span_any(busiest->cpus) && differ)
		return !(g->flags & PELTON_SD_SHARE_CPUCAPACITY) || g->h_nr_running > 1;
	return pelton_lb_spares_less(busiest, g);
}

PELTON_INLINE u32 pelton_lb_busier_full(const struct pelton_policy *pol, const struct pelton_lb_group *busiest,
					const struct pelton_lb_group *g)
{
	if (pol->balance < PELTON_BALANCE_CORES)
		return g->avg_load > busiest->avg_load;
	if (g->avg_load != busiest->avg_load)
		return g->avg_load > busiest->avg_load;
	return !(busiest->flags & PELTON_SD_SHARE_CPUCAPACITY);
}

/* Of two groups of one type: is `g` the busier one? Ties of misfits went to the later group to 6.6. */
PELTON_INLINE u32 pelton_lb_busier(const struct pelton_policy *pol, const struct pelton_lb_group *busiest,
				   const struct pelton_lb_group *g)
{
	switch (g->type) {
	case PELTON_GROUP_OVERLOADED:
		return g->avg_load > busiest->avg_load;
	case PELTON_GROUP_LLC_BALANCE:
		return g->nr_pref_dst_llc > busiest->nr_pref_dst_llc;
	case PELTON_GROUP_IMBALANCED:
		return 0;
	case PELTON_GROUP_MISFIT_TASK:
		if (pol->balance < PELTON_BALANCE_MISFIT_APART)
			return g->misfit_load >= busiest->misfit_load;
		return g->misfit_load > busiest->misfit_load;
	case PELTON_GROUP_SMT_BALANCE:
		if (g->idle_cpus || busiest->idle_cpus)
			return pelton_lb_spares_less(busiest, g);
		return pelton_lb_busier_full(pol, busiest, g);
	case PELTON_GROUP_FULLY_BUSY:
		return pelton_lb_busier_full(pol, busiest, g);
	default:
		return pelton_lb_busier_spare(pol, busiest, g);
	}
}

/* Is lb->group the busiest so far? */
PELTON_INLINE u32 pelton_update_sd_pick_busiest(const struct pelton_policy *pol, const struct pelton_placement *s,
						const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	const struct pelton_lb_group *g = &lb->group;
	u32 asym = pelton_lb_sd(s, env)->flags & PELTON_SD_ASYM_CPUCAPACITY;
	u32 type = pelton_span_any(lb->busiest.cpus) ? lb->busiest.type : (u32)PELTON_GROUP_HAS_SPARE;
	u32 shrinks = asym && pelton_lb_shrinks(pol, s, env, lb);

	if (!g->h_nr_running)
		return 0;
	if (g->type == PELTON_GROUP_MISFIT_TASK && (asym || pol->balance <= PELTON_BALANCE_CAPACITIES) &&
	    !pelton_lb_helps_misfit(pol, s, env, lb))
		return 0;
	if (shrinks && pol->balance_capacity == PELTON_BALANCE_CAPACITY_BEFORE)
		return 0;
	if (g->type != type)
		return g->type > type;
	return pelton_lb_busier(pol, &lb->busiest, g) && !shrinks;
}

/* Statistics of all groups of the domain; the local one first, so that others can be compared with it. */
PELTON_INLINE void pelton_update_sd_lb_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	u32 weight = pelton_span_weight(s, d->span);
	pelton_walk walk = pelton_walk_from(pelton_span_cpus(s, d->span), env->dst_cpu);

	for (; pelton_walk_more(&walk);) {
		u32 first = pelton_walk_at(&walk, env->dst_cpu);

		pelton_update_sg_lb_stats(pol, s, env, lb, first, weight);
		pelton_walk_leave(s, &walk, lb->group.cpus, env->dst_cpu);
		if (pelton_span_has(s, lb->group.cpus, env->dst_cpu))
			lb->local = lb->group;
		else if (pelton_update_sd_pick_busiest(pol, s, env, lb))
			lb->busiest = lb->group;
		lb->total_load += lb->group.load;
		lb->total_capacity += lb->group.capacity;
	}
}

/* Sums of the groups of a domain and the busiest group, from kept sums where there are any. */
PELTON_INLINE void pelton_lb_search(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	*lb = (struct pelton_lb){ .src_cpu = PELTON_NO_CPU };
	if (!pelton_lb_search_kept(pol, s, env, lb))
		pelton_update_sd_lb_stats(pol, s, env, lb);
	if (pol->balance >= PELTON_BALANCE_CORES)
		lb->prefer_sibling =
			pelton_span_any(lb->busiest.cpus) && (lb->busiest.flags & PELTON_SD_PREFER_SIBLING);
	else
		lb->prefer_sibling = (lb->local.flags & PELTON_SD_PREFER_SIBLING) != 0;
}

/* Tasks that busiest has more than local, for each core alike (6.6). */
PELTON_INLINE u32 pelton_sibling_imbalance(const struct pelton_policy *pol, const struct pelton_lb_env *env,
					   const struct pelton_lb *lb)
{
	const struct pelton_lb_group *busiest = &lb->busiest, *local = &lb->local;
	u32 cores = local->cores + busiest->cores, more;

	if (pol->balance < PELTON_BALANCE_CORES)
		return pelton_sub_floor_u32(busiest->nr_running, local->nr_running);
	if (!env->idle || !busiest->nr_running)
		return 0;
	if (busiest->cores == local->cores)
		return pelton_sub_floor_u32(busiest->nr_running, local->nr_running);
	more = pelton_sub_floor_u32(local->cores * busiest->nr_running, busiest->cores * local->nr_running);
	more = (u32)pelton_div_floor(2u * more + cores, cores);
	return more <= 1 && !local->nr_running && busiest->nr_running > 1 ? 2 : more;
}

PELTON_INLINE void pelton_lb_moves(struct pelton_lb *lb, u32 migration, s64 imbalance)
{
	lb->migration = migration;
	lb->imbalance = imbalance;
}

/* Between nodes a few tasks do not count: of the busiest in 5.10, while the local one runs few for its CPUs in 5.15. */
PELTON_INLINE u32 pelton_lb_nodes_may_differ(const struct pelton_policy *pol, const struct pelton_lb *lb, u32 imbalance)
{
	if (pol->balance == PELTON_BALANCE_TYPES)
		return lb->busiest.nr_running <= 2;
	return pelton_allow_numa_imbalance(lb->local.nr_running + 1, lb->local.weight) && imbalance <= 2;
}

/* The local group has something to spare: tasks. The difference of idle CPUs has no sign, as in the kernel. */
PELTON_INLINE void pelton_lb_moves_tasks(const struct pelton_policy *pol, const struct pelton_sched_domain *d,
					 const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	u32 by_tasks = lb->busiest.weight == 1 || lb->prefer_sibling;
	u32 more = by_tasks ? pelton_sibling_imbalance(pol, env, lb) : lb->local.idle_cpus - lb->busiest.idle_cpus;

	if (pol->balance <= PELTON_BALANCE_CAPACITIES) {
		more >>= 1;
		if (d->flags & PELTON_SD_NUMA && pelton_lb_nodes_may_differ(pol, lb, more))
			more = 0;
	} else {
		if (d->flags & PELTON_SD_NUMA)
			more = pelton_adjust_numa_imbalance(more, lb->local.nr_running + 1, d->imb_numa_nr);
		more >>= 1;
	}
	pelton_lb_moves(lb, PELTON_MIGRATE_TASK, more);
}

/* The local group has something to spare: utilization, where no cache is shared. */
PELTON_INLINE void pelton_lb_moves_util(const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	u64 room = pelton_sub_floor(lb->local.capacity, lb->local.util);

	if (env->idle && !room)
		pelton_lb_moves(lb, PELTON_MIGRATE_TASK, 1);
	else
		pelton_lb_moves(lb, PELTON_MIGRATE_UTIL, (s64)room);
}

/* Nothing to spare: loads relative to capacity. */
PELTON_INLINE void pelton_lb_moves_load(struct pelton_lb *lb)
{
	u64 above, below;

	if (lb->local.type < PELTON_GROUP_OVERLOADED) {
		lb->local.avg_load = pelton_lb_avg_load(lb->local.load, lb->local.capacity);
		if (lb->local.avg_load >= lb->busiest.avg_load)
			return;
		lb->avg_load = pelton_lb_avg_load(lb->total_load, lb->total_capacity);
		if (lb->local.avg_load >= lb->avg_load)
			return;
	}
	above = (lb->busiest.avg_load - lb->avg_load) * lb->busiest.capacity;
	below = (lb->avg_load - lb->local.avg_load) * lb->local.capacity;
	pelton_lb_moves(lb, PELTON_MIGRATE_LOAD, (s64)(pelton_min_u64(above, below) / PELTON_CAPACITY_SCALE));
}

/* Amount to be moved from the busiest group to the local one. */
PELTON_INLINE void pelton_calculate_imbalance(const struct pelton_policy *pol, const struct pelton_placement *s,
					      const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);

	if (lb->busiest.type == PELTON_GROUP_MISFIT_TASK) {
		if (d->flags & PELTON_SD_ASYM_CPUCAPACITY || pol->balance <= PELTON_BALANCE_CAPACITIES)
			pelton_lb_moves(lb, PELTON_MIGRATE_MISFIT, 1);
		else
			pelton_lb_moves(lb, PELTON_MIGRATE_LOAD, (s64)lb->busiest.misfit_load);
		return;
	}
	if (lb->busiest.type == PELTON_GROUP_SMT_BALANCE || lb->busiest.type == PELTON_GROUP_IMBALANCED) {
		pelton_lb_moves(lb, PELTON_MIGRATE_TASK, 1);
		return;
	}
	if (lb->busiest.type == PELTON_GROUP_LLC_BALANCE) {
		pelton_lb_moves(lb, PELTON_MIGRATE_LLC_TASK, 1);
		return;
	}
	if (lb->local.type != PELTON_GROUP_HAS_SPARE)
		pelton_lb_moves_load(lb);
	else if (lb->busiest.type > PELTON_GROUP_FULLY_BUSY && !(d->flags & PELTON_SD_SHARE_LLC))
		pelton_lb_moves_util(env, lb);
	else
		pelton_lb_moves_tasks(pol, d, env, lb);
}

/* Are both overloaded, but not so unequally that it pays? */
PELTON_INLINE u32 pelton_lb_loads_balanced(const struct pelton_sched_domain *d, struct pelton_lb *lb)
{
	if (lb->local.avg_load >= lb->busiest.avg_load)
		return 1;
	lb->avg_load = pelton_lb_avg_load(lb->total_load, lb->total_capacity);
	if (lb->local.avg_load >= lb->avg_load)
		return 1;
	return 100u * lb->busiest.avg_load <= d->imbalance_pct * lb->local.avg_load;
}

/* The busiest group is not overloaded: is there nothing that an idle CPU should take? */
PELTON_INLINE u32 pelton_lb_idle_balanced(const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	if (!env->idle)
		return 1;
	if (lb->busiest.type == PELTON_GROUP_SMT_BALANCE &&
	    (lb->busiest.flags ^ lb->local.flags) & PELTON_SD_SHARE_CPUCAPACITY)
		return 0;
	if (lb->busiest.weight > 1 && lb->local.idle_cpus <= lb->busiest.idle_cpus + 1)
		return 1;
	return lb->busiest.h_nr_running == 1;
}

/* Is the domain balanced? `lb` has the statistics. */
PELTON_INLINE u32 pelton_lb_is_balanced(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_lb_env *env, struct pelton_lb *lb, u32 overutilized)
{
	u32 by_energy = s->energy_aware && !overutilized;

	if (!pelton_span_any(lb->busiest.cpus) || (by_energy && pol->balance <= PELTON_BALANCE_CAPACITIES))
		return 1;
	if (lb->busiest.type == PELTON_GROUP_MISFIT_TASK)
		return 0;
	if (by_energy)
		return 1;
	if (lb->busiest.type == PELTON_GROUP_IMBALANCED)
		return 0;
	if (lb->local.type > lb->busiest.type)
		return 1;
	if (lb->local.type == PELTON_GROUP_OVERLOADED && pelton_lb_loads_balanced(pelton_lb_sd(s, env), lb))
		return 1;
	if (lb->prefer_sibling && lb->local.type == PELTON_GROUP_HAS_SPARE &&
	    (lb->busiest.type == PELTON_GROUP_LLC_BALANCE || pelton_sibling_imbalance(pol, env, lb) > 1))
		return 0;
	return lb->busiest.type != PELTON_GROUP_OVERLOADED && pelton_lb_idle_balanced(env, lb);
}

/*
 * CPUs of the group to take from; 0 = balanced. The root domain's mark of over-utilization is the one that the
 * statistics just made, where they may make it: in the largest domain, and in others when it rises.
 */
PELTON_INLINE pelton_span pelton_find_src_group(const struct pelton_policy *pol, const struct pelton_placement *s,
						const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	u32 over;

	if (pol->balance <= PELTON_BALANCE_LOADS)
		return pelton_loads_find_src_group(pol, s, env, lb);
	pelton_lb_search(pol, s, env, lb);
	over = lb->overutilized || (!pelton_lb_is_root(s, env) && s->overutilized);
	if (pelton_lb_is_balanced(pol, s, env, lb, over))
		return PELTON_SPAN_NONE;
	pelton_calculate_imbalance(pol, s, env, lb);
	return lb->imbalance ? lb->busiest.cpus : PELTON_SPAN_NONE;
}

/* Best CPU that the choice has found so far. */
struct pelton_lb_busiest {
	u64 load;
	u64 capacity;
	u32 util;
	u32 tasks;
};

/* Has this CPU more to give, in what the imbalance is measured in? */
PELTON_INLINE u32 pelton_lb_gives_more(const struct pelton_policy *pol, const struct pelton_lb *lb,
				       struct pelton_lb_busiest *best, const struct pelton_place_cpu *c, u32 tasks,
				       u32 imbalance_pct)
{
	struct pelton_lb_busiest now = { .load = c->load, .capacity = c->capacity, .tasks = tasks };
	u32 more;

	now.util = pelton_cpu_util(pol, &c->state, pol->balance >= PELTON_BALANCE_CORES);
	switch (lb->migration) {
	case PELTON_MIGRATE_LOAD:
		more = (tasks != 1 || (s64)c->load <= lb->imbalance || pelton_check_cpu_capacity(c, imbalance_pct)) &&
		       now.load * best->capacity > best->load * now.capacity;
		break;
	case PELTON_MIGRATE_UTIL:
		more = tasks > 1 && best->util < now.util;
		break;
	case PELTON_MIGRATE_TASK:
		more = best->tasks < tasks;
		break;
	case PELTON_MIGRATE_LLC_TASK:
		now.tasks = c->nr_pref_dst_llc;
		more = best->tasks < now.tasks;
		break;
	default:
		now.load = c->misfit_load;
		more = best->load < now.load;
	}
	if (more)
		*best = now;
	return more;
}

/* The CPU of the group to take from, into lb->src_cpu; PELTON_NO_CPU = none. */
PELTON_INLINE u32 pelton_find_src_rq(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	u32 dst = pelton_place_cpu_of(s, env->dst_cpu)->capacity;
	struct pelton_lb_busiest best = { .capacity = 1 };
	pelton_members m = pelton_members_of(s, lb->busiest.cpus, env->cpus);

	if (pol->balance <= PELTON_BALANCE_LOADS)
		return pelton_loads_find_src_rq(pol, s, env, lb);
	lb->src_cpu = PELTON_NO_CPU;
	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		const struct pelton_place_cpu *c = pelton_place_cpu_of(s, pelton_members_at(&m));
		u32 tasks = pelton_lb_tasks(pol, c);
		u32 smaller = pol->balance == PELTON_BALANCE_TYPES ? dst < c->capacity
								   : !pelton_capacity_greater(dst, c->capacity);

		if (!tasks && pol->balance != PELTON_BALANCE_TYPES)
			continue;
		if (d->flags & PELTON_SD_ASYM_CPUCAPACITY && smaller && tasks == 1)
			continue;
		if (pelton_lb_gives_more(pol, lb, &best, c, tasks, d->imbalance_pct))
			lb->src_cpu = pelton_members_at(&m);
	}
	return lb->src_cpu;
}

#endif
