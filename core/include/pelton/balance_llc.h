/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What balances make of the caches that tasks prefer (cache_aware.h): when a task may go there, or from there.
 *
 *   a cache has room      util * 100 < capacity * 50; 75 without threads
 *   is busier             util1 * 100 > util2 * 120
 *
 *   the task's utilization moves along
 *   neither has room      no restriction
 *   to the preferred      not where that would have no room and be busier; else towards the cache
 *   from the preferred    not where that would have room, or not be busier; else towards the cache
 *   unequal CPUs          not to one that the task does not fit, from one that it fits
 *   no preference, same cache, no end preferred, process with too many threads: no restriction
 *
 *   Balances that failed more often than tries ask for none of this.
 *
 *   quantity           unit
 *   util, capacity     capacity, sums over the CPUs of a cache as a balance that was not newly idle last made them
 *
 * Source: Linux 7.2.12 kernel/sched/fair.c (fits_llc_capacity, get_llc_stats, can_migrate_llc, task_misfits_asym_cpu,
 * can_migrate_llc_task, migrate_llc_task_wrong_dst, migrate_degrades_llc, alb_break_llc, record_sg_llc_stats,
 * llc_balance).
 * Deviations: those of cache_aware.h; llc_overaggr_pct is 50 and llc_imb_pct 20, as they are at first; no core
 * scheduling.
 */
#ifndef PELTON_BALANCE_LLC_H
#define PELTON_BALANCE_LLC_H

#include "balance.h"
#include "cache_aware.h"

#define PELTON_LLC_OVERAGGR_PCT 50u
#define PELTON_LLC_IMB_PCT 20u

/* Effects of the preference on a move, as the kernel's enum llc_mig. */
#define PELTON_LLC_MIG_FORBID 0u
#define PELTON_LLC_MIG_LLC 1u
#define PELTON_LLC_MIG_UNRESTRICTED 2u

/* Known sums of a cache; no capacity: none are known. */
struct pelton_llc_stats {
	u64 util;
	u64 capacity;
};

PELTON_INLINE u32 pelton_fits_llc_capacity(u32 smt_threads, u64 util, u64 capacity)
{
	u32 pct = smt_threads > 1 ? PELTON_LLC_OVERAGGR_PCT : PELTON_LLC_OVERAGGR_PCT * 3u / 2u;

	return util * 100u < capacity * pct;
}

PELTON_INLINE u32 pelton_util_greater(u64 a, u64 b)
{
	return a * 100u > b * (100u + PELTON_LLC_IMB_PCT);
}

#if PELTON_PLACE_CPUS_MAX > 64u

PELTON_INLINE struct pelton_llc_stats pelton_kept_llc_stats(const struct pelton_placement *s, u32 cpu, u32 llc_domain)
{
	const struct pelton_place_set *set = pelton_span_set(s, pelton_place_domain(s, cpu, llc_domain)->span);

	return (struct pelton_llc_stats){ .util = set->llc_util, .capacity = set->llc_capacity };
}

PELTON_INLINE void pelton_keep_llc(struct pelton_placement *s, pelton_span span, u32 util, u32 capacity)
{
	u32 row = (u32)(span.number - 1u - PELTON_PLACE_CPUS_MAX) & (PELTON_PLACE_SETS_MAX - 1u);

	s->sets[row].llc_util = util;
	s->sets[row].llc_capacity = capacity;
}

/* Utilization of the CPUs of a group that a balance considers. */
PELTON_INLINE u64 pelton_lb_group_util(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_lb_env *env, pelton_span group)
{
	pelton_members m = pelton_members_of(s, group, env->cpus);
	u64 util = 0;

	if (env->cpus.number == pelton_lb_sd(s, env)->span.number && !pelton_span_is_alone(group))
		return pelton_span_set(s, group)->kept.util;
	for (; pelton_members_more(&m); pelton_members_step(&m))
		util += pelton_cpu_util(pol, &pelton_place_cpu_of(s, pelton_members_at(&m))->state, 0);
	return util;
}

#else

PELTON_INLINE struct pelton_llc_stats pelton_kept_llc_stats(const struct pelton_placement *s, u32 cpu, u32 llc_domain)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	(void)llc_domain;
	return (struct pelton_llc_stats){ .util = c->llc_util, .capacity = c->llc_capacity };
}

PELTON_INLINE void pelton_keep_llc(struct pelton_placement *s, pelton_span span, u32 util, u32 capacity)
{
	pelton_members m = pelton_members_of(s, span, span);

	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		struct pelton_place_cpu *row =
			&pelton_rows(s)->cpus[pelton_members_at(&m) & (PELTON_PLACE_CPUS_MAX - 1u)];

		row->llc_util = util;
		row->llc_capacity = capacity;
	}
}

/* Utilization of the CPUs of a group that a balance considers. */
PELTON_INLINE u64 pelton_lb_group_util(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_lb_env *env, pelton_span group)
{
	pelton_members m = pelton_members_of(s, group, env->cpus);
	u64 util = 0;

	for (; pelton_members_more(&m); pelton_members_step(&m))
		util += pelton_cpu_util(pol, &pelton_place_cpu_of(s, pelton_members_at(&m))->state, 0);
	return util;
}

#endif

/* Of the cache of a CPU; none where no domain shares one. */
PELTON_INLINE struct pelton_llc_stats pelton_get_llc_stats(const struct pelton_placement *s, u32 cpu)
{
	u32 llc_domain = pelton_place_cpu_of(s, cpu)->llc_domain;
	struct pelton_llc_stats none = { .util = 0 };

	return llc_domain == PELTON_NO_DOMAIN ? none : pelton_kept_llc_stats(s, cpu, llc_domain);
}

/* May a task of this utilization move between two caches, to the one it prefers or from there? */
PELTON_INLINE u32 pelton_can_migrate_llc(u32 smt_threads, struct pelton_llc_stats src, struct pelton_llc_stats dst,
					 u64 util, u32 to_pref)
{
	u32 src_fits, dst_fits;

	src.util = pelton_sub_floor(src.util, util);
	dst.util += util;
	src_fits = pelton_fits_llc_capacity(smt_threads, src.util, src.capacity);
	dst_fits = pelton_fits_llc_capacity(smt_threads, dst.util, dst.capacity);
	if (!src_fits && !dst_fits)
		return PELTON_LLC_MIG_UNRESTRICTED;
	if (to_pref && !dst_fits && pelton_util_greater(dst.util, src.util))
		return PELTON_LLC_MIG_FORBID;
	if (!to_pref && (src_fits || !pelton_util_greater(src.util, dst.util)))
		return PELTON_LLC_MIG_FORBID;
	return PELTON_LLC_MIG_LLC;
}

/* Does a balance of this domain sum its groups up as caches? It is the one right above the CPU's cache. */
PELTON_INLINE u32 pelton_records_llc_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_lb_env *env)
{
	u32 own = pelton_place_cpu_of(s, env->dst_cpu)->llc_domain;
	u32 below = env->level ? env->level - 1 : PELTON_NO_DOMAIN;

	return pelton_sched_cache_enabled(pol, s) && env->idle != PELTON_CPU_NEWLY_IDLE && own == below;
}

/* After a search for the busiest group: what it summed up is kept, cache by cache; none where no domain shares one. */
PELTON_INLINE void pelton_record_sg_llc_stats(const struct pelton_policy *pol, struct pelton_placement *s,
					      const struct pelton_lb_env *env)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	u32 weight = pelton_span_weight(s, d->span), level;
	pelton_walk walk;

	if (!pelton_records_llc_stats(pol, s, env))
		return;
	walk = pelton_walk_from(pelton_span_cpus(s, d->span), env->dst_cpu);
	for (; pelton_walk_more(&walk);) {
		u32 first = pelton_walk_at(&walk, env->dst_cpu);
		u32 llc_domain = pelton_place_cpu_of(s, first)->llc_domain;
		pelton_span group = pelton_group_of(s, first, weight, &level);
		u64 util = pelton_lb_group_util(pol, s, env, group);

		if (llc_domain != PELTON_NO_DOMAIN)
			pelton_keep_llc(s, pelton_place_domain(s, first, llc_domain)->span, (u32)util,
					pelton_span_group(s, group, first, level)->group_capacity);
		pelton_walk_leave(s, &walk, group, env->dst_cpu);
	}
}

/*
 * May lb->group give tasks to the cache of this CPU, which they prefer? The sums of its own group are there; those of
 * the other one were not kept yet and are made here.
 */
PELTON_INLINE u32 pelton_llc_balance(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	const struct pelton_lb_group *g = &lb->group;
	u32 flags = pelton_lb_sd(s, env)->flags;
	struct pelton_llc_stats src, dst;

	if (!pelton_sched_cache_enabled(pol, s) || flags & PELTON_SD_SHARE_LLC || !g->nr_pref_dst_llc)
		return 0;
	if (flags & PELTON_SD_ASYM_CPUCAPACITY && g->misfit_load)
		return 0;
	if (env->nr_balance_failed >= env->cache_nice_tries + 1)
		return 0;
	src = pelton_get_llc_stats(s, pelton_span_first(s, g->cpus));
	dst = pelton_get_llc_stats(s, env->dst_cpu);
	if (pelton_span_any(lb->local.cpus) && pelton_records_llc_stats(pol, s, env) &&
	    pelton_place_cpu_of(s, env->dst_cpu)->llc_domain != PELTON_NO_DOMAIN) {
		dst.util = lb->local.util;
		dst.capacity = lb->local.capacity;
	}
	return pelton_can_migrate_llc(s->smt_threads, src, dst, 0, 1) == PELTON_LLC_MIG_LLC;
}

/* Would a task that fits its CPU be too big for the other one, where CPUs are unequal? */
PELTON_INLINE u32 pelton_task_misfits_asym_cpu(const struct pelton_placement *s, const struct pelton_lb_env *env,
					       u32 fits_src, u32 fits_dst)
{
	return pelton_lb_sd(s, env)->flags & PELTON_SD_ASYM_CPUCAPACITY && fits_src && !fits_dst;
}

/* Do all tasks of env->src_cpu prefer its cache, so that its running one is left there? */
PELTON_INLINE u32 pelton_alb_break_llc(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_lb_env *env, u32 migration)
{
	const struct pelton_place_cpu *src = pelton_place_cpu_of(s, env->src_cpu);

	if (!pelton_sched_cache_enabled(pol, s) || pelton_cpus_share_cache(s, env->src_cpu, env->dst_cpu))
		return 0;
	if (!src->nr_pref_llc_running || src->nr_pref_llc_running != src->h_nr_runnable)
		return 0;
	if (migration == PELTON_MIGRATE_MISFIT)
		return 0;
	if (src->nr_running <= 1)
		return 1;
	return pelton_task_misfits_asym_cpu(s, env, env->curr_misfits, 0) ||
	       pelton_can_migrate_llc(s->smt_threads, pelton_get_llc_stats(s, env->src_cpu),
				      pelton_get_llc_stats(s, env->dst_cpu), env->curr_util,
				      0) == PELTON_LLC_MIG_FORBID;
}

#endif
