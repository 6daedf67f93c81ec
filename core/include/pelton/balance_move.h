/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tasks a balance moves, one after the other, and when it asks the other CPU to give up its running task.
 *
 *   a task stays when    it runs, is bound to its CPU or elsewhere, may not run on the other CPU
 *                        its dequeue is delayed, and not load is moved (6.18)
 *                        it is not eligible where others wait, and no balance failed yet (6.18)
 *                        it prefers to be where it is (7.2: balance_llc.h)
 *                        it ran less than 500 us ago, and balances have not failed often enough; threads share caches
 *   it is too big when   load, utilization >> failures is above the imbalance; to 5.4: load / 2
 *
 *   active balance       a task too big for its CPU; a lone task whose CPU lost capacity (idle CPUs); tasks are moved and
 *                        balances failed more than tries + 2 times (to 5.10: whatever is moved); a task that prefers
 *                        the cache. In 7.2 not where all tasks of the CPU prefer its cache, mostly
 *
 *   quantity          unit
 *   load              weight, the task's part of its CPU's
 *   util_est          capacity
 *   since_ran_ns      ns
 *
 * Source: Linux 4.12.3, 4.16.13, 4.19.48, 5.4, 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2, 7.2.12 kernel/sched/fair.c
 * (can_migrate_task, can_migrate_llc_task, migrate_degrades_llc, task_hot, detach_tasks, need_active_balance,
 * voluntary_active_balance of 5.10).
 * Deviations: those of balance.h; LB_MIN is off, as in all releases; throttled groups are the host's to leave out.
 */
#ifndef PELTON_BALANCE_MOVE_H
#define PELTON_BALANCE_MOVE_H

#include "balance_group.h"

/* Inputs of the decision about one task. Marks are 0 or 1. */
struct pelton_lb_task {
	pelton_span allowed;
	u64 load;
	s64 since_ran_ns; /* by the task clock of its CPU */
	u32 util_est;
	u32 running;
	u32 bound;      /* a kernel thread of one CPU */
	u32 sched_idle; /* never counts as hot */
	u32 delayed;
	u32 ineligible; /* and its queue on the other CPU is not empty */
	u32 next_buddy; /* marked to run next */
	u32 fits_src;   /* the CPU it is on is big enough */
	/* From here on 7.2, where caches are preferred. */
	u32 fits_dst;
	u32 util;
	u32 preferred_llc;  /* PELTON_NO_CPU: none */
	u32 preferred_cpu;  /* of its process, as it stands now; PELTON_NO_CPU: none */
	u32 invalid_llc_nr; /* of its process, for the cache of the other CPU */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_lb_task) == 80, "layout");

/* Did it run so lately that its data are in the cache? */
PELTON_INLINE u32 pelton_task_hot(const struct pelton_placement *s, const struct pelton_lb_env *env,
				  const struct pelton_lb_task *t)
{
	if (t->sched_idle || pelton_lb_sd(s, env)->flags & PELTON_SD_SHARE_CPUCAPACITY)
		return 0;
	if (t->next_buddy && pelton_place_cpu_of(s, env->dst_cpu)->nr_running)
		return 1;
	return t->since_ran_ns < (s64)PELTON_MIGRATION_COST_NS;
}

/* The task may not run on the other CPU: remember that, and whether another CPU of the group would do. */
PELTON_INLINE void pelton_lb_is_pinned(const struct pelton_placement *s, struct pelton_lb_env *env,
				       const struct pelton_lb_task *t)
{
	u32 level;
	pelton_span group = pelton_group_of(s, env->dst_cpu, pelton_span_weight(s, pelton_lb_sd(s, env)->span), &level);
	pelton_cpus others = pelton_cpus_and(pelton_lb_considered(s, env, group), pelton_span_cpus(s, t->allowed));

	env->flags |= PELTON_LBF_SOME_PINNED;
	if (env->idle == PELTON_CPU_NEWLY_IDLE || !pelton_cpus_any(others) ||
	    env->flags & (PELTON_LBF_DST_PINNED | PELTON_LBF_ACTIVE_LB))
		return;
	env->flags |= PELTON_LBF_DST_PINNED;
	env->new_dst_cpu = pelton_cpus_first(others);
}

/* Effect of the preference of the task's process on the move. A process with too many threads is to forget it. */
PELTON_INLINE u32 pelton_can_migrate_llc_task(const struct pelton_placement *s, struct pelton_lb_env *env,
					      const struct pelton_lb_task *t)
{
	u32 to_pref = pelton_cpus_share_cache(s, env->dst_cpu, t->preferred_cpu);

	if (pelton_task_misfits_asym_cpu(s, env, t->fits_src, t->fits_dst))
		return PELTON_LLC_MIG_FORBID;
	if (t->preferred_cpu == PELTON_NO_CPU || pelton_cpus_share_cache(s, env->src_cpu, env->dst_cpu))
		return PELTON_LLC_MIG_UNRESTRICTED;
	if (t->invalid_llc_nr) {
		env->flags |= PELTON_LBF_LLC_FORGET;
		return PELTON_LLC_MIG_UNRESTRICTED;
	}
	if (!to_pref && !pelton_cpus_share_cache(s, env->src_cpu, t->preferred_cpu))
		return PELTON_LLC_MIG_UNRESTRICTED;
	return pelton_can_migrate_llc(s->smt_threads, pelton_get_llc_stats(s, env->src_cpu),
				      pelton_get_llc_stats(s, env->dst_cpu), t->util, to_pref);
}

/* Tasks are taken that prefer this CPU's cache, and this one does not. */
PELTON_INLINE u32 pelton_migrate_llc_task_wrong_dst(const struct pelton_policy *pol, const struct pelton_placement *s,
						    const struct pelton_lb_env *env, const struct pelton_lb_task *t,
						    u32 migration)
{
	u32 by_llc = migration == PELTON_MIGRATE_LLC_TASK || env->flags & PELTON_LBF_ACTIVE_LB_LLC;

	return pelton_sched_cache_enabled(pol, s) && by_llc &&
	       t->preferred_llc != pelton_place_cpu_of(s, env->dst_cpu)->llc;
}

/* Does the task stay for the sake of its cache? Not any more when balances failed often. */
PELTON_INLINE u32 pelton_migrate_degrades_llc(const struct pelton_policy *pol, const struct pelton_placement *s,
					      struct pelton_lb_env *env, const struct pelton_lb_task *t, u32 migration)
{
	if (!pelton_sched_cache_enabled(pol, s) || env->nr_balance_failed >= env->cache_nice_tries + 1)
		return 0;
	if (!pelton_migrate_llc_task_wrong_dst(pol, s, env, t, migration) &&
	    pelton_can_migrate_llc_task(s, env, t) != PELTON_LLC_MIG_FORBID)
		return 0;
	if (migration != PELTON_MIGRATE_LLC_TASK)
		env->flags |= PELTON_LBF_LLC_PINNED;
	return 1;
}

/* May the task be moved to env->dst_cpu? */
PELTON_INLINE u32 pelton_can_migrate_task(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_lb_env *env, const struct pelton_lb_task *t, u32 migration)
{
	if (pol->balance >= PELTON_BALANCE_RUNNABLE && t->delayed && migration != PELTON_MIGRATE_LOAD)
		return 0;
	if (pol->balance >= PELTON_BALANCE_RUNNABLE && t->ineligible && !env->nr_balance_failed)
		return 0;
	if (t->bound)
		return 0;
	if (!pelton_span_has(s, t->allowed, env->dst_cpu)) {
		pelton_lb_is_pinned(s, env, t);
		return 0;
	}
	env->flags &= ~PELTON_LBF_ALL_PINNED;
	if (t->running)
		return 0;
	if (env->flags & PELTON_LBF_ACTIVE_LB && pol->balance > PELTON_BALANCE_TYPES)
		return !pelton_migrate_llc_task_wrong_dst(pol, s, env, t, migration);
	if (pelton_migrate_degrades_llc(pol, s, env, t, migration))
		return 0;
	return !pelton_task_hot(s, env, t) || env->nr_balance_failed > env->cache_nice_tries;
}

/* Is what the task brings more than what is to be moved? It counts less after failures. */
PELTON_INLINE u32 pelton_lb_is_too_much(const struct pelton_lb_env *env, const struct pelton_lb *lb, u64 amount)
{
	return (s64)(amount >> pelton_min_u32(env->nr_balance_failed, 63)) > lb->imbalance;
}

/* Does a balance look first at the task that was queued last? Later it begins with the one that ran longest ago. */
PELTON_INLINE u32 pelton_lb_newest_first(const struct pelton_policy *pol)
{
	return pol->balance == PELTON_BALANCE_LOADS_NEWLY;
}

/* By loads a task goes unless half of its load is more than what is to be moved. */
PELTON_INLINE u32 pelton_detach_load(struct pelton_lb *lb, u64 load)
{
	if ((s64)(load / 2) > lb->imbalance)
		return 0;
	lb->imbalance -= (s64)load;
	return 1;
}

/* Does a task that may be moved go, for what is to be moved? Then less remains. */
PELTON_INLINE u32 pelton_lb_takes(const struct pelton_policy *pol, const struct pelton_lb_env *env,
				  struct pelton_lb *lb, const struct pelton_lb_task *t)
{
	u64 amount = 1;

	if (pol->balance <= PELTON_BALANCE_LOADS)
		return pelton_detach_load(lb, t->load);
	if (lb->migration == PELTON_MIGRATE_MISFIT) {
		if (t->fits_src)
			return 0;
		lb->imbalance = 0;
		return 1;
	}
	if (lb->migration != PELTON_MIGRATE_TASK && lb->migration != PELTON_MIGRATE_LLC_TASK) {
		amount = lb->migration == PELTON_MIGRATE_LOAD ? pelton_max_u64(t->load, 1) : t->util_est;
		if (pelton_lb_is_too_much(env, lb, amount))
			return 0;
	}
	lb->imbalance -= (s64)amount;
	return 1;
}

/* 1 = the task goes, and what remains to be moved is less; 0 = it stays. */
PELTON_INLINE u32 pelton_detach_task(const struct pelton_policy *pol, const struct pelton_placement *s,
				     struct pelton_lb_env *env, struct pelton_lb *lb, const struct pelton_lb_task *t)
{
	return pelton_can_migrate_task(pol, s, env, t, lb->migration) && pelton_lb_takes(pol, env, lb, t);
}

/* Is the running task of env->src_cpu to be moved? */
PELTON_INLINE u32 pelton_need_active_balance(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_lb_env *env, u32 migration)
{
	const struct pelton_place_cpu *src = pelton_place_cpu_of(s, env->src_cpu);
	const struct pelton_place_cpu *dst = pelton_place_cpu_of(s, env->dst_cpu);
	u32 pct = pelton_lb_sd(s, env)->imbalance_pct;
	u32 often = env->nr_balance_failed > env->cache_nice_tries + 2;

	if (pelton_alb_break_llc(pol, s, env, migration))
		return 0;
	if (often && (migration == PELTON_MIGRATE_TASK || pol->balance <= PELTON_BALANCE_TYPES))
		return 1;
	if (env->idle && pelton_lb_tasks(pol, src) == 1 && pelton_check_cpu_capacity(src, pct) &&
	    src->capacity * pct < dst->capacity * 100u)
		return 1;
	return migration == PELTON_MIGRATE_MISFIT || migration == PELTON_MIGRATE_LLC_TASK;
}

/* Is it the kind of active balance after which 5.4 and 5.10 look again soon? */
PELTON_INLINE u32 pelton_lb_is_voluntary(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_lb_env *env, u32 migration)
{
	const struct pelton_place_cpu *src = pelton_place_cpu_of(s, env->src_cpu);
	const struct pelton_place_cpu *dst = pelton_place_cpu_of(s, env->dst_cpu);
	u32 pct = pelton_lb_sd(s, env)->imbalance_pct;

	if (pol->balance < PELTON_BALANCE_LOADS)
		return 0;
	return migration == PELTON_MIGRATE_MISFIT ||
	       (env->idle && src->h_nr_queued == 1 && pelton_check_cpu_capacity(src, pct) &&
		src->capacity * pct < dst->capacity * 100u);
}

/* An active balance was asked for: what the domain remembers of it. */
PELTON_INLINE void pelton_lb_activated(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_lb_domain *st, const struct pelton_lb_env *env, u32 migration)
{
	u32 weight = pelton_span_weight(s, pelton_lb_sd(s, env)->span);

	if (pol->balance <= PELTON_BALANCE_TYPES)
		st->nr_balance_failed = env->cache_nice_tries + 1;
	if (pol->balance <= PELTON_BALANCE_TYPES && !pelton_lb_is_voluntary(pol, s, env, migration))
		pelton_lb_back_off(st, weight, 0);
	else
		st->interval_ms = weight;
}

#endif
