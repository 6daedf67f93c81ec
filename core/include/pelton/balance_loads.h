/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Balance by loads, up to 5.4: which group of a domain has too much, how much load the local group should take, and
 * from which CPU. From 5.10 on it is balance_group.h.
 *
 *   load of a CPU        of its runnable fair tasks. To 4.19 with the domain's index: in the local group the larger of it and
 *                        cpu_load[index - 1] (cpu_load.h), in others the smaller. Index: newly idle 0; busy 2; idle 1
 *                        where no cache is shared; threads of a core 0
 *   avg_load             load * 1024 / capacity of the group;  load_per_task = load / tasks (to 4.19 without index)
 *   a group's type, the worst that holds
 *     overloaded         more fair tasks than CPUs, and capacity * 100 < util * pct; or tasks are to be spread, the local group
 *                        has capacity, and this one at least two tasks more
 *     imbalanced         pinned tasks kept a balance below from succeeding
 *     misfit (5.4)       unequal CPUs: a running task is too big for its CPU
 *     other              else
 *   has capacity         fewer tasks than CPUs, or capacity * 100 > util * pct
 *
 *   balanced             an energy-aware machine that is not over-utilized (5.4); no other CPU has a task; the local group is
 *                        above the busiest or the mean; an idle CPU: busiest not overloaded and idle CPUs differ by at
 *                        most one; others: 100 * busiest <= pct * local. Not asked: imbalanced and misfit groups, an
 *                        overloaded one where this CPU is idle (4.12: newly idle) and the local group has capacity
 *   imbalance            min(min(busiest - mean, above) * its capacity, (mean - local) * local's) / 1024; where both are
 *                        overloaded, above = (tasks * 1024 - capacity) * 1024 / capacity
 *   small imbalance      less than load_per_task L: L, where busiest + s >= local + n * s, s = L * 1024 / capacity, n = 2, or 1
 *                        where busiest's tasks are the heavier ones; or where moving L raises the sum of
 *                        capacity * min(load_per_task, avg_load) / 1024; else as it was
 *
 *   quantity             unit
 *   capacity, util       capacity, sums over a group
 *   load                 weight
 *
 * Source: Linux 4.12.3, 4.16.13, 4.19.48, 5.4 kernel/sched/fair.c (update_sg_lb_stats, group_classify,
 * update_sd_pick_busiest, update_sd_lb_stats, get_sd_load_idx, source_load, target_load, find_busiest_group,
 * calculate_imbalance, fix_small_imbalance, find_busiest_queue), kernel/sched/topology.c (sd_init).
 * Deviations: those of balance.h. The load of a CPU is what the host makes of it.
 */
#ifndef PELTON_BALANCE_LOADS_H
#define PELTON_BALANCE_LOADS_H

#include "balance.h"

/* Number of the load by which a CPU is compared: 0 = the present one, else cpu_load[index - 1]. */
PELTON_INLINE u32 pelton_sd_load_idx(const struct pelton_sched_domain *d, u32 idle)
{
	if (idle == PELTON_CPU_NEWLY_IDLE || d->flags & PELTON_SD_SHARE_CPUCAPACITY)
		return 0;
	if (d->flags & PELTON_SD_SHARE_LLC)
		return idle == PELTON_CPU_NOT_IDLE ? 2 : 0;
	if (d->flags & PELTON_SD_NUMA)
		return idle == PELTON_CPU_NOT_IDLE ? 3 : 2;
	return idle == PELTON_CPU_NOT_IDLE ? 2 : 1;
}

/* A CPU's load as its group counts it: the local group rather too much, others rather too little. */
PELTON_INLINE u64 pelton_lb_biased_load(const struct pelton_policy *pol, const struct pelton_place_cpu *c, u32 idx,
					u32 local)
{
	if (pol->balance >= PELTON_BALANCE_LOADS || !idx)
		return c->load;
	return local ? pelton_max_u64(c->cpu_load[idx - 1], c->load) : pelton_min_u64(c->cpu_load[idx - 1], c->load);
}

PELTON_INLINE u32 pelton_loads_has_capacity(const struct pelton_lb_group *g, u32 imbalance_pct)
{
	return g->h_nr_running < g->weight || (u64)g->capacity * 100u > g->util * imbalance_pct;
}

PELTON_INLINE u32 pelton_loads_no_capacity(const struct pelton_lb_group *g, u32 imbalance_pct)
{
	return g->h_nr_running > g->weight && (u64)g->capacity * 100u < g->util * imbalance_pct;
}

PELTON_INLINE u32 pelton_loads_classify(const struct pelton_lb_group *g, u32 no_capacity, u32 imbalanced)
{
	if (no_capacity)
		return PELTON_GROUP_OVERLOADED;
	if (imbalanced)
		return PELTON_GROUP_IMBALANCED;
	return g->misfit_load ? PELTON_GROUP_MISFIT_TASK : PELTON_GROUP_HAS_SPARE;
}

/* Adds one CPU to the sums of lb->group. */
PELTON_INLINE void pelton_loads_add(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_lb_env *env, struct pelton_lb *lb, u32 cpu, u32 local)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	struct pelton_lb_group *g = &lb->group;

	g->load += pelton_lb_biased_load(pol, c, pelton_sd_load_idx(d, env->idle), local);
	g->runnable_load += c->load;
	g->util += pelton_cpu_util(pol, &c->state, 0);
	g->h_nr_running += c->h_nr_queued;
	g->nr_running += c->nr_running;
	g->idle_cpus += pelton_available_idle_cpu(s, cpu);
	if (c->nr_running > 1)
		lb->overloaded = 1;
	if (pol->balance < PELTON_BALANCE_LOADS)
		return;
	if (pelton_cpu_overutilized(pol, s, cpu))
		g->overutilized = lb->overutilized = 1;
	if (d->flags & PELTON_SD_ASYM_CPUCAPACITY && g->misfit_load < c->misfit_load) {
		g->misfit_load = c->misfit_load;
		lb->overloaded = 1;
	}
}

/* The group of `cpu`, into lb->group. */
PELTON_INLINE void pelton_loads_group(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_lb_env *env, struct pelton_lb *lb, u32 cpu)
{
	struct pelton_lb_group empty = { .load = 0 }, *g = &lb->group;
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env), *own;
	u32 level, local;
	pelton_members m;

	*g = empty;
	g->cpus = pelton_group_of(s, cpu, pelton_span_weight(s, d->span), &level);
	own = pelton_span_group(s, g->cpus, cpu, level);
	local = pelton_span_has(s, g->cpus, env->dst_cpu);
	m = pelton_members_of(s, g->cpus, env->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		pelton_loads_add(pol, s, env, lb, pelton_members_at(&m), local);
	g->capacity = own->group_capacity;
	g->min_capacity = own->group_min_capacity;
	g->max_capacity = own->group_max_capacity;
	g->weight = pelton_span_weight(s, g->cpus);
	g->imbalanced = own->group_imbalance;
	g->avg_load = pelton_lb_avg_load(g->load, g->capacity);
	if (g->h_nr_running)
		g->load_per_task = pelton_div_floor(g->runnable_load, g->h_nr_running);
	g->type = pelton_loads_classify(g, pelton_loads_no_capacity(g, d->imbalance_pct), g->imbalanced);
}

/* Is lb->group the busiest so far? */
PELTON_INLINE u32 pelton_loads_pick_busiest(const struct pelton_policy *pol, const struct pelton_placement *s,
					    const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	const struct pelton_lb_group *g = &lb->group, *busiest = &lb->busiest;
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	u32 type = pelton_span_any(busiest->cpus) ? busiest->type : (u32)PELTON_GROUP_HAS_SPARE;

	if (g->type == PELTON_GROUP_MISFIT_TASK && (!pelton_fits_margin(pol, g->max_capacity, lb->local.max_capacity) ||
						    !pelton_loads_has_capacity(&lb->local, d->imbalance_pct)))
		return 0;
	if (g->type != type)
		return g->type > type;
	if (g->avg_load <= busiest->avg_load)
		return 0;
	if (!(d->flags & PELTON_SD_ASYM_CPUCAPACITY))
		return 1;
	if (g->h_nr_running <= g->weight && pelton_fits_margin(pol, lb->local.min_capacity, g->min_capacity))
		return 0;
	return g->type != PELTON_GROUP_MISFIT_TASK || g->misfit_load >= busiest->misfit_load;
}

/* Tasks are to be spread over groups: with two tasks more than a local group that has capacity, a group has none. */
PELTON_INLINE void pelton_loads_spread(const struct pelton_placement *s, const struct pelton_lb_env *env,
				       struct pelton_lb *lb)
{
	if (lb->prefer_sibling && pelton_loads_has_capacity(&lb->local, pelton_lb_sd(s, env)->imbalance_pct) &&
	    lb->group.h_nr_running > lb->local.h_nr_running + 1)
		lb->group.type = PELTON_GROUP_OVERLOADED;
}

/* Statistics of all groups of the domain, the local one first. */
PELTON_INLINE void pelton_loads_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	pelton_walk walk = pelton_walk_from(pelton_span_cpus(s, pelton_lb_sd(s, env)->span), env->dst_cpu);

	*lb = (struct pelton_lb){ .src_cpu = PELTON_NO_CPU };
	if (env->level)
		lb->prefer_sibling =
			(pelton_place_domain(s, env->dst_cpu, env->level - 1)->flags & PELTON_SD_PREFER_SIBLING) != 0;
	for (; pelton_walk_more(&walk);) {
		pelton_loads_group(pol, s, env, lb, pelton_walk_at(&walk, env->dst_cpu));
		pelton_walk_leave(s, &walk, lb->group.cpus, env->dst_cpu);
		if (pelton_span_has(s, lb->group.cpus, env->dst_cpu)) {
			lb->local = lb->group;
		} else {
			pelton_loads_spread(s, env, lb);
			if (pelton_loads_pick_busiest(pol, s, env, lb))
				lb->busiest = lb->group;
		}
		lb->total_load += lb->group.load;
		lb->total_capacity += lb->group.capacity;
	}
}

/* 1 where more gets done after one task has moved, by loads that no CPU of a group can exceed. */
PELTON_INLINE u32 pelton_loads_gains(const struct pelton_lb_group *local, const struct pelton_lb_group *busiest)
{
	u64 task = busiest->load_per_task, scaled = pelton_lb_avg_load(task, busiest->capacity);
	u64 now = busiest->capacity * pelton_min_u64(task, busiest->avg_load) +
		  local->capacity * pelton_min_u64(local->load_per_task, local->avg_load);
	u64 more = pelton_min_u64(busiest->avg_load * busiest->capacity, task * PELTON_CAPACITY_SCALE);
	u64 after = 0;

	if (busiest->avg_load > scaled)
		after = busiest->capacity * pelton_min_u64(task, busiest->avg_load - scaled);
	after += local->capacity *
		 pelton_min_u64(local->load_per_task, local->avg_load + pelton_div_floor(more, local->capacity));
	return after / PELTON_CAPACITY_SCALE > now / PELTON_CAPACITY_SCALE;
}

PELTON_INLINE void pelton_fix_small_imbalance(struct pelton_lb *lb)
{
	const struct pelton_lb_group *local = &lb->local, *busiest = &lb->busiest;
	u64 scaled = pelton_lb_avg_load(busiest->load_per_task, busiest->capacity);
	u32 n = local->h_nr_running && busiest->load_per_task > local->load_per_task ? 1 : 2;

	if (busiest->avg_load + scaled >= local->avg_load + scaled * n || pelton_loads_gains(local, busiest))
		lb->imbalance = (s64)busiest->load_per_task;
}

/* Most load to take where both groups are overloaded, so that no CPU of the busiest becomes idle. */
PELTON_INLINE u64 pelton_loads_above_capacity(const struct pelton_lb *lb)
{
	u64 tasks = (u64)lb->busiest.h_nr_running * PELTON_CAPACITY_SCALE;

	if (lb->local.type != PELTON_GROUP_OVERLOADED || lb->busiest.type != PELTON_GROUP_OVERLOADED ||
	    tasks <= lb->busiest.capacity)
		return ~0ull;
	return pelton_div_floor((tasks - lb->busiest.capacity) * PELTON_CAPACITY_SCALE, lb->busiest.capacity);
}

/* Load that is to be moved. Of a misfit group the differences may wrap, as in the kernel. */
PELTON_INLINE void pelton_loads_imbalance(struct pelton_lb *lb)
{
	struct pelton_lb_group *local = &lb->local, *busiest = &lb->busiest;
	u32 misfit = busiest->type == PELTON_GROUP_MISFIT_TASK;
	u64 pull, room, imbalance;

	lb->migration = misfit ? PELTON_MIGRATE_MISFIT : PELTON_MIGRATE_LOAD;
	lb->imbalance = 0;
	if (busiest->type == PELTON_GROUP_IMBALANCED)
		busiest->load_per_task = pelton_min_u64(busiest->load_per_task, lb->avg_load);
	if (!misfit && (busiest->avg_load <= lb->avg_load || local->avg_load >= lb->avg_load)) {
		pelton_fix_small_imbalance(lb);
		return;
	}
	pull = pelton_min_u64(busiest->avg_load - lb->avg_load, pelton_loads_above_capacity(lb)) * busiest->capacity;
	room = (lb->avg_load - local->avg_load) * local->capacity;
	imbalance = pelton_min_u64(pull, room) / PELTON_CAPACITY_SCALE;
	if (misfit)
		imbalance = pelton_max_u64(imbalance, busiest->misfit_load);
	lb->imbalance = (s64)imbalance;
	if (imbalance < busiest->load_per_task)
		pelton_fix_small_imbalance(lb);
}

/* Is the difference of loads no reason to move anything? */
PELTON_INLINE u32 pelton_loads_even(const struct pelton_placement *s, const struct pelton_lb_env *env,
				    const struct pelton_lb *lb)
{
	const struct pelton_lb_group *local = &lb->local, *busiest = &lb->busiest;

	if (local->avg_load >= busiest->avg_load || local->avg_load >= lb->avg_load)
		return 1;
	if (env->idle == PELTON_CPU_IDLE)
		return busiest->type != PELTON_GROUP_OVERLOADED && local->idle_cpus <= busiest->idle_cpus + 1;
	return 100u * busiest->avg_load <= pelton_lb_sd(s, env)->imbalance_pct * local->avg_load;
}

/* Is the domain balanced? `lb` has the statistics. */
PELTON_INLINE u32 pelton_loads_balanced(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_lb_env *env, struct pelton_lb *lb, u32 overutilized)
{
	const struct pelton_lb_group *local = &lb->local, *busiest = &lb->busiest;
	u32 hungry = pol->balance == PELTON_BALANCE_LOADS_NEWLY ? env->idle == PELTON_CPU_NEWLY_IDLE : env->idle != 0;

	if (pol->balance >= PELTON_BALANCE_LOADS && s->energy_aware && !overutilized)
		return 1;
	if (!pelton_span_any(busiest->cpus) || !busiest->h_nr_running)
		return 1;
	lb->avg_load = pelton_lb_avg_load(lb->total_load, lb->total_capacity);
	if (busiest->type == PELTON_GROUP_IMBALANCED || busiest->type == PELTON_GROUP_MISFIT_TASK)
		return 0;
	if (hungry && busiest->type == PELTON_GROUP_OVERLOADED &&
	    pelton_loads_has_capacity(local, pelton_lb_sd(s, env)->imbalance_pct))
		return 0;
	return pelton_loads_even(s, env, lb);
}

/* CPUs of the group to take from; 0 = balanced. To 4.16 a group is named with nothing to move as well. */
PELTON_INLINE pelton_span pelton_loads_find_src_group(const struct pelton_policy *pol, const struct pelton_placement *s,
						      const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	u32 over;

	pelton_loads_stats(pol, s, env, lb);
	over = lb->overutilized || (!pelton_lb_is_root(s, env) && s->overutilized);
	if (pelton_loads_balanced(pol, s, env, lb, over))
		return PELTON_SPAN_NONE;
	pelton_loads_imbalance(lb);
	return lb->imbalance || pol->balance <= PELTON_BALANCE_LOADS_ZERO ? lb->busiest.cpus : PELTON_SPAN_NONE;
}

/* May this CPU be taken from, by its one task and by its size? */
PELTON_INLINE u32 pelton_loads_gives(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_lb_env *env, const struct pelton_lb *lb,
				     const struct pelton_place_cpu *c)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	u32 asym = pol->balance >= PELTON_BALANCE_LOADS && d->flags & PELTON_SD_ASYM_CPUCAPACITY;

	if (c->nr_running != 1)
		return 1;
	if (asym && pelton_place_cpu_of(s, env->dst_cpu)->capacity < c->capacity)
		return 0;
	return c->load <= (u64)lb->imbalance || pelton_check_cpu_capacity(c, d->imbalance_pct);
}

/* The CPU of the group with most load for its capacity, or with the biggest misfit, into lb->src_cpu. */
PELTON_INLINE u32 pelton_loads_find_src_rq(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	u64 load = 0, capacity = 1;
	pelton_members m = pelton_members_of(s, lb->busiest.cpus, env->cpus);

	lb->src_cpu = PELTON_NO_CPU;
	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		const struct pelton_place_cpu *c = pelton_place_cpu_of(s, pelton_members_at(&m));
		u32 misfit = lb->migration == PELTON_MIGRATE_MISFIT;

		if (misfit ? c->misfit_load <= load
			   : !pelton_loads_gives(pol, s, env, lb, c) || c->load * capacity <= load * c->capacity)
			continue;
		load = misfit ? c->misfit_load : c->load;
		capacity = misfit ? 1 : c->capacity;
		lb->src_cpu = pelton_members_at(&m);
	}
	return lb->src_cpu;
}

#endif
