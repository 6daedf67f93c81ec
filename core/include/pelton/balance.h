/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load balancing of one domain for one CPU: what a balance reads beside the snapshot of placement.h, what it finds, and
 * what it leaves behind for the next one.
 *
 *   record              what it holds
 *   pelton_lb_env       which CPU balances which domain, and the CPUs that are still considered
 *   pelton_lb_group     sums of one group of the domain
 *   pelton_lb           the local and the busiest group, what is to be moved, from which CPU
 *   pelton_lb_domain    what a CPU remembers of one of its domains
 *
 *   interval between two balances, ms       in a domain of n CPUs: n at first and after a move that was needed
 *     found balanced, or nothing may move   doubled up to 2n, up to 512 while no task may move
 *     busy CPU                              16 times, less one tick; to 5.4 32 times
 *     bounds                                a tick, a tenth of a second for each CPU of the machine
 *
 *   a balance that moved nothing            one more failure, unless the CPU just became idle (or, from 6.12, a task
 *                                           too big for its CPU was looked for; in 7.2, or one stayed for the sake
 *                                           of its cache); success or balance: none
 *   an active balance was asked for         5.10: failures = tries + 1, and the interval backs off
 *
 *   quantity             unit
 *   interval_ms          ms
 *   *_ticks              ticks (jiffies)
 *
 *   to 4.19 a newly idle CPU makes the interval longer as well
 *
 *   dice before a search of a CPU that goes idle (stable 6.1 and 6.12, 7.2)
 *     searched when       draw mod 1024 <= 1 + ratio; from a ratio of 1024 on without dice (7.2)
 *     found something     counts (1024 + w / 2) / w hits, w = 1 + ratio; the others count none
 *     each 1024 calls     ratio = hits, in 7.2 + time since the last count / 2^22 ns, at most 1024; calls and hits are halved
 *     at first            512 calls, 256 hits, ratio 512
 *
 * Source: Linux 4.12.3, 4.16.13, 4.19.48, 5.4, 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2, 7.2.12 kernel/sched/fair.c
 * (load_balance, later sched_balance_rq; get_sd_balance_interval, update_max_interval, should_we_balance,
 * sched_balance_newidle, update_newidle_stats, update_newidle_cost), kernel/sched/topology.c (sd_init).
 * Deviations: no NUMA balancing, no asymmetric packing, no core scheduling.
 */
#ifndef PELTON_BALANCE_H
#define PELTON_BALANCE_H

#include "newidle.h"
#include "select_group.h"

/* Kinds of balance, as the kernel's enum cpu_idle_type. */
#define PELTON_CPU_NOT_IDLE 0u
#define PELTON_CPU_IDLE 1u
#define PELTON_CPU_NEWLY_IDLE 2u

/* Units of an imbalance, as the kernel's enum migration_type. */
#define PELTON_MIGRATE_LOAD 0u
#define PELTON_MIGRATE_UTIL 1u
#define PELTON_MIGRATE_TASK 2u
#define PELTON_MIGRATE_MISFIT 3u
#define PELTON_MIGRATE_LLC_TASK 4u

/* Findings of a balance that looked at tasks; bits. */
#define PELTON_LBF_ALL_PINNED 0x1u
#define PELTON_LBF_DST_PINNED 0x4u
#define PELTON_LBF_SOME_PINNED 0x8u
#define PELTON_LBF_ACTIVE_LB 0x10u
#define PELTON_LBF_LLC_PINNED 0x20u    /* a task stays for the sake of its cache */
#define PELTON_LBF_ACTIVE_LB_LLC 0x40u /* an active balance takes what prefers the cache */
#define PELTON_LBF_LLC_FORGET 0x80u    /* ours: the last task's process is to forget its preferred cache */

/* Most tasks that one balance looks at (sysctl_sched_nr_migrate). */
#define PELTON_NR_MIGRATE 32u
#define PELTON_BUSY_FACTOR 16u
#define PELTON_BUSY_FACTOR_LOADS 32u /* to 5.4 */
#define PELTON_PINNED_INTERVAL_MAX_MS 512u

struct pelton_lb_env {
	pelton_span cpus; /* that are considered */
	u32 dst_cpu;
	u32 level; /* of dst_cpu's domains */
	u32 idle;  /* PELTON_CPU_* */
	u32 nr_balance_failed;
	u32 cache_nice_tries;
	u32 flags;       /* PELTON_LBF_* */
	u32 new_dst_cpu; /* with PELTON_LBF_DST_PINNED: a CPU of the group that may take a task instead */
	u32 src_cpu;
	u32 curr_util;    /* 7.2: of the running fair task of src_cpu, 0 without one */
	u32 curr_misfits; /* 7.2: it fits its CPU and not dst_cpu */
};

struct pelton_lb_group {
	pelton_span cpus;
	u64 load;
	u64 util;
	u64 runnable;
	u64 avg_load; /* from 5.10: of an overloaded group */
	u64 misfit_load;
	u32 capacity;
	u32 min_capacity;
	u32 max_capacity;
	u32 weight;
	u32 nr_running;   /* tasks of all classes */
	u32 h_nr_running; /* fair tasks */
	u32 idle_cpus;
	u32 type;  /* PELTON_GROUP_* */
	u32 flags; /* of the domain below, which the group is */
	u32 cores;
	u32 overutilized;
	u32 smt_balance;
	u32 imbalanced;      /* pinned tasks kept a balance below from succeeding */
	u32 llc_balance;     /* tasks may go to the cache of the balancing CPU, which they prefer */
	u64 runnable_load;   /* to 4.19: of its tasks, whatever `load` was compared by */
	u64 load_per_task;   /* to 5.4 */
	u32 nr_pref_dst_llc; /* tasks that prefer the cache of the balancing CPU */
	u32 reserved;
};

struct pelton_lb {
	s64 imbalance; /* in what `migration` says */
	u64 total_load;
	u64 total_capacity;
	u64 avg_load;
	u32 migration; /* PELTON_MIGRATE_* */
	u32 src_cpu;   /* PELTON_NO_CPU: none */
	u32 prefer_sibling;
	u32 overloaded;   /* some CPU has two tasks, or one that is too big for it */
	u32 overutilized; /* some CPU has more to do than it can */
	u32 reserved;
	struct pelton_lb_group local;
	struct pelton_lb_group busiest; /* no CPUs: there is none */
	struct pelton_lb_group group;   /* the one that is being looked at */
};

/* pelton_lb_domain_init() starts it. */
struct pelton_lb_domain {
	u64 last_balance_ticks;
	u32 interval_ms;
	u32 nr_balance_failed;
	u64 newidle_cost_ns; /* of a search before it goes idle */
	u64 newidle_decayed_ns;
	u64 newidle_since_ns; /* when the calls were counted last */
	u32 newidle_calls;    /* searches and those left out by dice, halved at each count */
	u32 newidle_hits;     /* of them, searches that found something */
	u32 newidle_ratio;    /* of 1024 */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_lb_env) == 48, "layout");
_Static_assert(sizeof(struct pelton_lb_group) == 128, "layout");
_Static_assert(sizeof(struct pelton_lb) == 440, "layout");
_Static_assert(sizeof(struct pelton_lb_domain) == 56, "layout");

PELTON_INLINE const struct pelton_sched_domain *pelton_lb_sd(const struct pelton_placement *s,
							     const struct pelton_lb_env *env)
{
	return pelton_place_domain(s, env->dst_cpu, env->level);
}

/* CPUs of a group that are considered. */
PELTON_INLINE pelton_cpus pelton_lb_considered(const struct pelton_placement *s, const struct pelton_lb_env *env,
					       pelton_span group)
{
	return pelton_cpus_and(pelton_span_cpus(s, group), pelton_span_cpus(s, env->cpus));
}

/* Is this the largest domain? */
PELTON_INLINE u32 pelton_lb_is_root(const struct pelton_placement *s, const struct pelton_lb_env *env)
{
	return env->level + 1 >= pelton_place_levels(s, env->dst_cpu);
}

/* Number of times that a domain's balance may fail before tasks that ran lately are moved. */
PELTON_INLINE u32 pelton_cache_nice_tries(const struct pelton_sched_domain *d)
{
	if (d->flags & PELTON_SD_SHARE_CPUCAPACITY)
		return 0;
	return d->flags & PELTON_SD_NUMA ? 2 : 1;
}

/* Did other classes take a noticeable part of a CPU's capacity? */
PELTON_INLINE u32 pelton_check_cpu_capacity(const struct pelton_place_cpu *c, u32 imbalance_pct)
{
	return c->capacity * imbalance_pct < c->state.cap_orig * 100u;
}

PELTON_INLINE u64 pelton_lb_avg_load(u64 load, u64 capacity)
{
	return pelton_div_floor(load * PELTON_CAPACITY_SCALE, capacity);
}

/* `weight`: CPUs of the domain. */
PELTON_INLINE void pelton_lb_domain_init(struct pelton_lb_domain *st, u32 weight, u64 now_ticks)
{
	st->last_balance_ticks = now_ticks;
	st->interval_ms = weight;
	st->nr_balance_failed = 0;
	st->newidle_cost_ns = 0;
	st->newidle_decayed_ns = 0;
	st->newidle_since_ns = 0;
	st->newidle_calls = PELTON_NEWIDLE_CALLS / 2u;
	st->newidle_hits = PELTON_NEWIDLE_CALLS / 4u;
	st->newidle_ratio = PELTON_NEWIDLE_CALLS / 2u;
	st->reserved = 0;
}

/* Does the CPU count as busy? From 5.10 on not with tasks of SCHED_IDLE alone. */
PELTON_INLINE u32 pelton_lb_is_busy(const struct pelton_policy *pol, u32 idle, u32 idle_tasks_only)
{
	return idle != PELTON_CPU_IDLE && !(pol->balance >= PELTON_BALANCE_TYPES && idle_tasks_only);
}

/*
 * A fair task left: does the CPU balance at its next tick? When nothing but idle tasks is left, from 5.10 on
 * (dequeue_task_fair, dequeue_entities).
 */
PELTON_INLINE u32 pelton_lb_at_once(const struct pelton_policy *pol, u32 idle_only_before, u32 idle_only)
{
	return pol->balance >= PELTON_BALANCE_TYPES && !idle_only_before && idle_only;
}

/* Ticks between two balances of a domain. */
PELTON_INLINE u64 pelton_sd_balance_interval(const struct pelton_policy *pol, const struct pelton_lb_domain *st,
					     u32 busy, u64 tick_ns, u32 nr_cpus)
{
	u32 factor = pol->balance >= PELTON_BALANCE_TYPES ? PELTON_BUSY_FACTOR : PELTON_BUSY_FACTOR_LOADS;
	u64 ms = (u64)st->interval_ms * (busy ? factor : 1u);
	u64 ticks = pelton_div_floor(ms * 1000000u + tick_ns - 1, tick_ns);
	u64 longest = pelton_max_u64(pelton_div_floor(1000000000ull, tick_ns) * nr_cpus / 10u, 1);

	if (busy && pol->balance >= PELTON_BALANCE_TYPES)
		ticks -= 1;
	return pelton_min_u64(pelton_max_u64(ticks, 1), longest);
}

/*
 * Is it up to this CPU to balance its domain? The first idle CPU of its group does, before others one of an idle core;
 * in 6.6 the group's first CPU as well, unless there is an idle core.
 */
PELTON_INLINE u32 pelton_should_we_balance(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_lb_env *env)
{
	const struct pelton_sched_domain *d = pelton_lb_sd(s, env);
	const struct pelton_place_cpu *dst = pelton_place_cpu_of(s, env->dst_cpu);
	u32 level, cores = pol->balance >= PELTON_BALANCE_CORES && s->smt && !(d->flags & PELTON_SD_SHARE_CPUCAPACITY);
	pelton_span group;
	pelton_members m;
	u32 thread = PELTON_NO_CPU;

	if (!pelton_span_has(s, env->cpus, env->dst_cpu))
		return 0;
	if (env->idle == PELTON_CPU_NEWLY_IDLE)
		return pol->balance <= PELTON_BALANCE_CAPACITIES || (!dst->nr_running && !dst->ttwu_pending);
	group = pelton_group_of(s, env->dst_cpu, pelton_span_weight(s, d->span), &level);
	m = pelton_members_of(s, group, env->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		u32 cpu = pelton_members_at(&m);

		if (!pelton_available_idle_cpu(s, cpu))
			continue;
		if (!cores || pelton_is_core_idle(s, cpu))
			return cpu == env->dst_cpu;
		if (thread == PELTON_NO_CPU)
			thread = cpu;
	}
	if (pol->balance == PELTON_BALANCE_CORES && pelton_span_first(s, group) == env->dst_cpu)
		return 1;
	return (thread != PELTON_NO_CPU ? thread : pelton_span_first(s, group)) == env->dst_cpu;
}

/*
 * A CPU that is about to go idle and has spent `spent_ns` on searches: does it leave out this domain and larger ones?
 */
PELTON_INLINE u32 pelton_lb_newidle_skips(const struct pelton_lb_domain *st, u64 avg_idle_ns, u64 spent_ns)
{
	return avg_idle_ns < spent_ns + st->newidle_cost_ns;
}

/* Does it throw dice whether to search this domain? */
PELTON_INLINE u32 pelton_lb_newidle_throws(const struct pelton_policy *pol, const struct pelton_lb_domain *st)
{
	if (pol->newidle_dice == PELTON_NEWIDLE_DICE_RATE)
		return st->newidle_ratio < PELTON_NEWIDLE_CALLS;
	return pol->newidle_dice == PELTON_NEWIDLE_DICE_SUCCESS;
}

/* Dice of which `draw` came, any number: is the domain searched? */
PELTON_INLINE u32 pelton_lb_newidle_wins(const struct pelton_lb_domain *st, u32 draw)
{
	return draw % PELTON_NEWIDLE_CALLS <= 1u + st->newidle_ratio;
}

/* Number of searches that one which finds something counts for: it stands for those that the dice left out. */
PELTON_INLINE u32 pelton_lb_newidle_weight(const struct pelton_policy *pol, const struct pelton_lb_domain *st)
{
	u32 weight = 1u + st->newidle_ratio;

	if (!pelton_lb_newidle_throws(pol, st))
		return 1;
	return (u32)pelton_div_floor(PELTON_NEWIDLE_CALLS + weight / 2u, weight);
}

/* A search that found something `hits` times, or one that the dice left out. */
PELTON_INLINE void pelton_update_newidle_stats(const struct pelton_policy *pol, struct pelton_lb_domain *st, u32 hits,
					       u64 now_ns)
{
	s64 past_ns = (s64)(now_ns - st->newidle_since_ns);
	u32 ratio = 0;

	if (pol->newidle_dice == PELTON_NEWIDLE_DICE_OFF)
		return;
	st->newidle_calls++;
	st->newidle_hits += hits;
	if (st->newidle_calls < PELTON_NEWIDLE_CALLS)
		return;
	if (pol->newidle_dice == PELTON_NEWIDLE_DICE_RATE) {
		ratio = past_ns > 0 ? (u32)((u64)past_ns >> PELTON_NEWIDLE_RATE_SHIFT) : 0;
		st->newidle_since_ns = now_ns;
	}
	ratio += st->newidle_hits;
	/* An int, as the kernel's: after 104 days without a count it is negative, and no dice are thrown either. */
	if (pol->newidle_dice == PELTON_NEWIDLE_DICE_RATE && (s32)ratio > (s32)PELTON_NEWIDLE_CALLS)
		ratio = PELTON_NEWIDLE_CALLS;
	st->newidle_ratio = ratio;
	st->newidle_calls /= 2u;
	st->newidle_hits /= 2u;
}

/* At the periodic balance: what it remembers of costs fades by a hundredth a second. 1 = it has. */
PELTON_INLINE u32 pelton_lb_newidle_decay(struct pelton_lb_domain *st, u64 now_ns)
{
	if (now_ns <= st->newidle_decayed_ns + PELTON_NEWIDLE_DECAY_NS)
		return 0;
	st->newidle_cost_ns = st->newidle_cost_ns * 253u / 256u;
	st->newidle_decayed_ns = now_ns;
	return 1;
}

/*
 * Cost, ns, at which a search of `cost_ns` counts for its domain: in some kernels one that finds nothing counts for
 * more.
 */
PELTON_INLINE u64 pelton_lb_newidle_counts_for(const struct pelton_policy *pol, const struct pelton_lb_domain *st,
					       u64 cost_ns, u32 found)
{
	return pol->newidle_fails == PELTON_NEWIDLE_FAILS_DEARER && !found ? 3u * st->newidle_cost_ns / 2u : cost_ns;
}

/*
 * The CPU searched this domain, which counts for `cost_ns`. A search that counts for no more lets the cost of the
 * domain fade as well (from 6.1).
 */
PELTON_INLINE void pelton_lb_newidle_searched(const struct pelton_policy *pol, struct pelton_lb_domain *st, u64 cost_ns,
					      u64 now_ns)
{
	u32 raises = cost_ns > st->newidle_cost_ns;

	if (raises)
		st->newidle_cost_ns = pol->newidle_fails == PELTON_NEWIDLE_FAILS_DEARER
					      ? pelton_min_u64(cost_ns, PELTON_NEWIDLE_DEAREST_NS)
					      : cost_ns;
	if (pol->newidle == PELTON_NEWIDLE_MIGRATION_COST)
		return;
	if (raises)
		st->newidle_decayed_ns = now_ns;
	else
		pelton_lb_newidle_decay(st, now_ns);
}

/*
 * Its domains are looked at one after the other, and what the one before said is `before`: does what the CPU remembers
 * of all fade as well? From 6.1 the last domain that is looked at decides.
 */
PELTON_INLINE u32 pelton_lb_newidle_fades(const struct pelton_policy *pol, u32 before, u32 faded)
{
	return pol->newidle == PELTON_NEWIDLE_MIGRATION_COST ? (before | faded) : faded;
}

/* Doubles the time to the next balance, within bounds. */
PELTON_INLINE void pelton_lb_back_off(struct pelton_lb_domain *st, u32 weight, u32 all_pinned)
{
	if ((all_pinned && st->interval_ms < PELTON_PINNED_INTERVAL_MAX_MS) || st->interval_ms < 2u * weight)
		st->interval_ms *= 2u;
}

/* Nothing could be done about this domain: it may wait longer. */
PELTON_INLINE void pelton_lb_may_wait(const struct pelton_policy *pol, struct pelton_lb_domain *st,
				      const struct pelton_lb_env *env, u32 migration, u32 weight)
{
	u32 misfit = pol->balance >= PELTON_BALANCE_MISFIT_APART && migration == PELTON_MIGRATE_MISFIT;
	u32 newly_idle = env->idle == PELTON_CPU_NEWLY_IDLE && pol->balance >= PELTON_BALANCE_LOADS;

	if (!newly_idle && !misfit)
		pelton_lb_back_off(st, weight, env->flags & PELTON_LBF_ALL_PINNED);
}

/* Nothing is to be moved: is the group no longer said to be kept out of balance by pinned tasks? To 4.19 always. */
PELTON_INLINE u32 pelton_lb_clears_imbalance(const struct pelton_policy *pol, const struct pelton_lb_env *env)
{
	return pol->balance < PELTON_BALANCE_LOADS || !(env->flags & PELTON_LBF_ALL_PINNED);
}

/* Nothing was to be moved, or everything is pinned: no failure. */
PELTON_INLINE void pelton_lb_balanced(const struct pelton_policy *pol, struct pelton_lb_domain *st,
				      const struct pelton_lb_env *env, u32 migration, u32 weight)
{
	st->nr_balance_failed = 0;
	pelton_lb_may_wait(pol, st, env, migration, weight);
}

/* Tasks were moved. */
PELTON_INLINE void pelton_lb_moved(struct pelton_lb_domain *st, u32 weight)
{
	st->nr_balance_failed = 0;
	st->interval_ms = weight;
}

/* Something was to be moved, and nothing could be. pelton_lb_again() or pelton_lb_activated() follows. */
PELTON_INLINE void pelton_lb_failed(const struct pelton_policy *pol, struct pelton_lb_domain *st,
				    const struct pelton_lb_env *env, u32 migration)
{
	u32 counts = pol->balance < PELTON_BALANCE_MISFIT_APART || migration != PELTON_MIGRATE_MISFIT;

	/* 5.10 has another mark in this bit. */
	if (pol->cache_aware && env->flags & PELTON_LBF_LLC_PINNED)
		return;
	if (env->idle != PELTON_CPU_NEWLY_IDLE && counts)
		st->nr_balance_failed++;
}

/* The domain is unbalanced: it is looked at again soon. */
PELTON_INLINE void pelton_lb_again(struct pelton_lb_domain *st, u32 weight)
{
	st->interval_ms = weight;
}

#endif
