/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a balance sums up of one group of a domain, and of which type the group is: balance_group.h has the table.
 *
 *   quantity         unit
 *   capacity, util   capacity, sums over a group
 *   load             weight
 *
 * Source: that of balance_group.h (update_sg_lb_stats, group_classify).
 * Deviations: those of balance.h.
 */
#ifndef PELTON_BALANCE_SUMS_H
#define PELTON_BALANCE_SUMS_H

#include "balance_llc.h"

/* Fair tasks of a CPU as balances count them: with those whose dequeue is delayed, until 6.14. */
PELTON_INLINE u32 pelton_lb_tasks(const struct pelton_policy *pol, const struct pelton_place_cpu *c)
{
	return pol->balance >= PELTON_BALANCE_RUNNABLE ? c->h_nr_runnable : c->h_nr_queued;
}

/* Equal CPUs: has this one a lone task, and did others take a noticeable part of its capacity? */
PELTON_INLINE u32 pelton_lb_is_reduced(const struct pelton_policy *pol, const struct pelton_place_cpu *c,
				       u32 imbalance_pct)
{
	return pol->balance >= PELTON_BALANCE_REDUCED && pelton_lb_tasks(pol, c) == 1 &&
	       pelton_check_cpu_capacity(c, imbalance_pct);
}

/* A task that cannot have what it needs where it is. */
PELTON_INLINE void pelton_lb_add_misfit(const struct pelton_policy *pol, const struct pelton_sched_domain *d,
					const struct pelton_lb_env *env, struct pelton_lb *lb,
					const struct pelton_place_cpu *c, u32 root)
{
	struct pelton_lb_group *g = &lb->group;

	if (d->flags & PELTON_SD_ASYM_CPUCAPACITY) {
		if (g->misfit_load < c->misfit_load) {
			g->misfit_load = c->misfit_load;
			if (pol->balance < PELTON_BALANCE_OVERUTILIZED || root)
				lb->overloaded = 1;
		}
		return;
	}
	if (env->idle && pelton_lb_is_reduced(pol, c, d->imbalance_pct))
		g->misfit_load = pelton_max_u64(g->misfit_load, c->load);
}

/* Adds one CPU to a group's sums. */
PELTON_INLINE void pelton_lb_add(const struct pelton_policy *pol, const struct pelton_placement *s,
				 const struct pelton_lb_env *env, struct pelton_lb *lb, u32 cpu, u32 local)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	struct pelton_lb_group *g = &lb->group;
	u32 root = pelton_lb_is_root(s, env);

	g->load += c->load;
	g->util += pelton_cpu_util(pol, &c->state, 0);
	g->runnable += c->state.runnable_cfs;
	g->h_nr_running += pelton_lb_tasks(pol, c);
	g->nr_running += c->nr_running;
	if (c->llc != pelton_place_cpu_of(s, env->dst_cpu)->llc)
		g->nr_pref_dst_llc += c->nr_pref_dst_llc;
	if (pelton_cpu_overutilized(pol, s, cpu))
		g->overutilized = lb->overutilized = 1;
	if (c->nr_running > 1 && (pol->balance < PELTON_BALANCE_RUNNABLE || root))
		lb->overloaded = 1;
	if (pelton_available_idle_cpu(s, cpu)) {
		g->idle_cpus++;
		return;
	}
	if (!local)
		pelton_lb_add_misfit(pol, pelton_lb_sd(s, env), env, lb, c, root);
}

PELTON_INLINE u32 pelton_lb_is_overloaded(const struct pelton_policy *pol, const struct pelton_placement *s,
					  const struct pelton_lb_group *g, u32 imbalance_pct)
{
	if (pol->balance >= PELTON_BALANCE_OVERUTILIZED && s->energy_aware && !g->overutilized)
		return 0;
	return pelton_group_is_overloaded(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct);
}

PELTON_INLINE u32 pelton_lb_classify(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_lb_group *g, u32 imbalance_pct, u32 imbalanced)
{
	u32 spare;

	if (pelton_lb_is_overloaded(pol, s, g, imbalance_pct))
		return PELTON_GROUP_OVERLOADED;
	if (g->llc_balance)
		return PELTON_GROUP_LLC_BALANCE;
	if (imbalanced)
		return PELTON_GROUP_IMBALANCED;
	if (g->smt_balance)
		return PELTON_GROUP_SMT_BALANCE;
	if (g->misfit_load)
		return PELTON_GROUP_MISFIT_TASK;
	spare = pelton_group_has_capacity(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct);
	return spare ? PELTON_GROUP_HAS_SPARE : PELTON_GROUP_FULLY_BUSY;
}

/* Fixed values of a group, whatever its CPUs do; `cpu` is one of them, `level` that of its domain. */
PELTON_INLINE void pelton_lb_facts(const struct pelton_placement *s, struct pelton_lb_group *g, u32 cpu, u32 level)
{
	const struct pelton_sched_domain *own = pelton_span_group(s, g->cpus, cpu, level);

	g->capacity = own->group_capacity;
	g->min_capacity = own->group_min_capacity;
	g->max_capacity = own->group_max_capacity;
	g->weight = pelton_span_weight(s, g->cpus);
	g->flags = level ? pelton_place_domain(s, cpu, level - 1)->flags : 0;
	g->cores = pelton_span_cores(s, g->cpus);
}

/* Threads of a core with two fair tasks, which an idle CPU looks at. */
PELTON_INLINE u32 pelton_lb_is_full_core(const struct pelton_policy *pol, const struct pelton_lb_group *g)
{
	return pol->balance >= PELTON_BALANCE_CORES && (g->flags & PELTON_SD_SHARE_CPUCAPACITY) && g->h_nr_running > 1;
}

/* Values that follow from a group's sums. */
PELTON_INLINE void pelton_lb_conclude(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_lb_group *g, u32 imbalance_pct, u32 imbalanced)
{
	g->type = pelton_lb_classify(pol, s, g, imbalance_pct, imbalanced);
	if (g->type == PELTON_GROUP_OVERLOADED)
		g->avg_load = pelton_lb_avg_load(g->load, g->capacity);
}

/* The group of `cpu`, into lb->group. `weight`: CPUs of the domain. */
PELTON_INLINE void pelton_update_sg_lb_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_lb_env *env, struct pelton_lb *lb, u32 cpu, u32 weight)
{
	struct pelton_lb_group empty = { .load = 0 }, *g = &lb->group;
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env), *own;
	u32 level, local;
	pelton_members m;

	*g = empty;
	g->cpus = pelton_group_of(s, cpu, weight, &level);
	own = pelton_span_group(s, g->cpus, cpu, level);
	local = pelton_span_has(s, g->cpus, env->dst_cpu);
	m = pelton_members_of(s, g->cpus, env->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		pelton_lb_add(pol, s, env, lb, pelton_members_at(&m), local);
	pelton_lb_facts(s, g, cpu, level);
	g->smt_balance = !local && env->idle && pelton_lb_is_full_core(pol, g);
	g->llc_balance = !local && pelton_llc_balance(pol, s, env, lb);
	pelton_lb_conclude(pol, s, g, d->imbalance_pct, own->group_imbalance);
}

#endif
