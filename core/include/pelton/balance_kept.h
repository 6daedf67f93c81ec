/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Balances of more than 64 CPUs: what groups have is kept, so that a search for the busiest one looks at a number for
 * each group and at no CPU.
 *
 *   sums       each set of CPUs has the sums over its CPUs; a CPU that changed is taken out and put in as it is now
 *   rank       a number for each group of a domain, made of its sums: the higher one is the busier group
 *              (type + 1) << 57 | measure      0 = no fair task
 *
 *     type                              measure                                        of equal ones the busier is
 *     overloaded                        load for its capacity                          the first
 *     tasks prefer the cache            how many                                       the first
 *     imbalanced                        0                                              the first
 *     threads of a core                 as with spare; without an idle CPU all alike   the first
 *     misfit (lone task, reduced CPU)   load of the largest                            the first, to 6.6 the last
 *     fully busy                        0                                              the last, of cores the first; to
 *                                                                                      6.1 the first
 *     has spare                         (2^20 - 1 - idle CPUs) << 32 | tasks           the first
 *
 *   A rank is made anew at the next search after a CPU of its group changed. First and last are meant in the order of a
 *   walk that begins at the balancing CPU: ranks lie in the order of CPUs, and a host keeps none where the groups are
 *   not met in that order from each CPU.
 *
 * Not kept, so that all CPUs are read: searches of busy CPUs (fewer by a factor of 16), those that some CPUs are left
 * out of, unequal CPUs, machines placed on by energy, and releases up to 5.4. Groups with tasks that prefer the cache
 * of the balancing CPU are read as well.
 *
 * Source: none, our own way to what balance_group.h says. Deviations: none: tests hold both against each other.
 */
#ifndef PELTON_BALANCE_KEPT_H
#define PELTON_BALANCE_KEPT_H

#include "balance_sums.h"

#if PELTON_PLACE_CPUS_MAX > 64u

#define PELTON_RANK_TYPE_SHIFT 57u
#define PELTON_RANK_MEASURE_MAX ((1ull << PELTON_RANK_TYPE_SHIFT) - 1u)
#define PELTON_RANK_SPARE_CPUS ((1ull << 20) - 1u)

/* Values of a CPU that are summed up, as its row is. */
PELTON_INLINE struct pelton_lb_part pelton_lb_part_of(const struct pelton_policy *pol, const struct pelton_placement *s,
						      u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 level, levels = pelton_place_levels(s, cpu);
	struct pelton_lb_part part = {
		.load = c->load,
		.util = pelton_cpu_util(pol, &c->state, 0),
		.runnable = c->state.runnable_cfs,
		.nr_running = c->nr_running,
		.h_nr_running = pelton_lb_tasks(pol, c),
		.idle_cpus = pelton_available_idle_cpu(s, cpu),
		.crowded = c->nr_running > 1,
	};

	if (part.idle_cpus || c->capacity >= c->state.cap_orig)
		return part;
	for (level = 0; level < levels; level++)
		part.reduced |= pelton_lb_is_reduced(pol, c, c->domains[level].imbalance_pct) << level;
	return part;
}

PELTON_INLINE u32 pelton_lb_part_is(const struct pelton_lb_part *a, const struct pelton_lb_part *b)
{
	return !((a->load ^ b->load) | (a->util ^ b->util) | (a->runnable ^ b->runnable) |
		 (u64)((a->nr_running ^ b->nr_running) | (a->h_nr_running ^ b->h_nr_running) |
		       (a->idle_cpus ^ b->idle_cpus) | (a->crowded ^ b->crowded) | (a->reduced ^ b->reduced)));
}

/* To the sums of a set comes what one of its CPUs has more than before; `bit`: of the domain that it is a group of. */
PELTON_INLINE void pelton_lb_part_adds(struct pelton_lb_part *sum, const struct pelton_lb_part *more,
				       const struct pelton_lb_part *now, const struct pelton_lb_part *before, u32 bit)
{
	sum->load += more->load;
	sum->util += more->util;
	sum->runnable += more->runnable;
	sum->nr_running += more->nr_running;
	sum->h_nr_running += more->h_nr_running;
	sum->idle_cpus += more->idle_cpus;
	sum->crowded += more->crowded;
	if (more->reduced)
		sum->reduced += (now->reduced >> bit & 1u) - (before->reduced >> bit & 1u);
}

/* Differences between a CPU's values now and before, in whole numbers that wrap; of `reduced` whether it changed. */
PELTON_INLINE struct pelton_lb_part pelton_lb_part_more(const struct pelton_lb_part *now,
							const struct pelton_lb_part *before)
{
	return (struct pelton_lb_part){
		.load = now->load - before->load,
		.util = now->util - before->util,
		.runnable = now->runnable - before->runnable,
		.nr_running = now->nr_running - before->nr_running,
		.h_nr_running = now->h_nr_running - before->h_nr_running,
		.idle_cpus = now->idle_cpus - before->idle_cpus,
		.crowded = now->crowded - before->crowded,
		.reduced = now->reduced ^ before->reduced,
	};
}

/* The rank of the group of a CPU in its domain `level` is to be made anew. */
PELTON_INLINE void pelton_lb_rank_changes(struct pelton_placement *s, u32 cpu, u32 level)
{
	u32 rank = s->kept.rank_of[cpu & (PELTON_PLACE_CPUS_MAX - 1u)][pelton_min_u32(level, PELTON_DOMAINS_MAX - 1u)];

	if (rank < PELTON_RANKS_MAX)
		s->kept.stale[rank / 64u] |= 1ull << (rank & 63u);
}

/* The row of a CPU is another one: the sums that it is in follow, and ranks are to be made anew. */
PELTON_INLINE void pelton_lb_follow(const struct pelton_policy *pol, struct pelton_placement *s, u32 cpu)
{
	struct pelton_lb_part now = pelton_lb_part_of(pol, s, cpu), more;
	struct pelton_lb_part *before = &s->kept.parts[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
	u32 level, levels = pelton_place_levels(s, cpu);

	if (pelton_lb_part_is(&now, before))
		return;
	more = pelton_lb_part_more(&now, before);
	for (level = 0; level < levels; level++) {
		pelton_span span = pelton_place_domain(s, cpu, level)->span;
		u32 row = (u32)(span.number - 1u - PELTON_PLACE_CPUS_MAX) & (PELTON_PLACE_SETS_MAX - 1u);

		pelton_lb_part_adds(&s->sets[row].kept, &more, &now, before, level + 1u);
		pelton_lb_rank_changes(s, cpu, level);
	}
	*before = now;
}

PELTON_INLINE void pelton_lb_take(struct pelton_lb_group *g, const struct pelton_lb_part *sum)
{
	g->load = sum->load;
	g->util = sum->util;
	g->runnable = sum->runnable;
	g->nr_running = sum->nr_running;
	g->h_nr_running = sum->h_nr_running;
	g->idle_cpus = sum->idle_cpus;
}

/* Load of the largest lone task of a group on a CPU whose capacity others took. */
PELTON_INLINE u64 pelton_lb_reduced_load(const struct pelton_policy *pol, const struct pelton_placement *s,
					 pelton_span group, u32 imbalance_pct)
{
	pelton_members m = pelton_members_of(s, group, group);
	u64 load = 0;

	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		const struct pelton_place_cpu *c = pelton_place_cpu_of(s, pelton_members_at(&m));

		if (!pelton_available_idle_cpu(s, pelton_members_at(&m)) && pelton_lb_is_reduced(pol, c, imbalance_pct))
			load = pelton_max_u64(load, c->load);
	}
	return load;
}

/* The group of a CPU in its domain `level` from sums: what pelton_update_sg_lb_stats makes of it for an idle CPU. */
PELTON_INLINE struct pelton_lb_group pelton_lb_kept_group(const struct pelton_policy *pol,
							  const struct pelton_placement *s, u32 cpu, u32 level,
							  u32 local)
{
	const struct pelton_sched_domain *d = pelton_place_domain(s, cpu, level);
	struct pelton_lb_group g = { .load = 0 };
	const struct pelton_lb_part *sum;
	u32 reduced;

	g.cpus = level ? pelton_place_domain(s, cpu, level - 1u)->span : pelton_span_alone(cpu);
	sum = level ? &pelton_span_set(s, g.cpus)->kept : &s->kept.parts[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
	pelton_lb_take(&g, sum);
	pelton_lb_facts(s, &g, cpu, level);
	reduced = level ? sum->reduced : sum->reduced & 1u;
	if (!local) {
		g.smt_balance = pelton_lb_is_full_core(pol, &g);
		if (reduced)
			g.misfit_load = pelton_lb_reduced_load(pol, s, g.cpus, d->imbalance_pct);
	}
	pelton_lb_conclude(pol, s, &g, d->imbalance_pct, pelton_span_group(s, g.cpus, cpu, level)->group_imbalance);
	return g;
}

PELTON_INLINE u64 pelton_lb_rank_spare(const struct pelton_lb_group *g)
{
	return (PELTON_RANK_SPARE_CPUS - g->idle_cpus) << 32 | g->nr_running;
}

PELTON_INLINE u64 pelton_lb_rank_measure(const struct pelton_lb_group *g)
{
	switch (g->type) {
	case PELTON_GROUP_OVERLOADED:
		return g->avg_load;
	case PELTON_GROUP_LLC_BALANCE:
		return g->nr_pref_dst_llc;
	case PELTON_GROUP_SMT_BALANCE:
		return g->idle_cpus ? pelton_lb_rank_spare(g) : PELTON_RANK_MEASURE_MAX;
	case PELTON_GROUP_MISFIT_TASK:
		return g->misfit_load;
	case PELTON_GROUP_HAS_SPARE:
		return pelton_lb_rank_spare(g);
	default:
		return 0;
	}
}

PELTON_INLINE u64 pelton_lb_rank(const struct pelton_lb_group *g)
{
	if (!g->h_nr_running)
		return 0;
	return (u64)(g->type + 1u) << PELTON_RANK_TYPE_SHIFT |
	       pelton_min_u64(pelton_lb_rank_measure(g), PELTON_RANK_MEASURE_MAX);
}

/* The types of which the last of several groups with the same rank is the busiest: a bit for each, and one. */
PELTON_INLINE u64 pelton_lb_rank_ties_last(const struct pelton_policy *pol, u32 cores)
{
	u64 misfit = pol->balance < PELTON_BALANCE_MISFIT_APART, full = pol->balance >= PELTON_BALANCE_CORES && !cores;

	return misfit << (PELTON_GROUP_MISFIT_TASK + 1u) | full << (PELTON_GROUP_FULLY_BUSY + 1u);
}

/* Makes the ranks of the groups of a CPU's domain `level` anew that changed. */
PELTON_INLINE void pelton_lb_rank_groups(const struct pelton_policy *pol, struct pelton_placement *s, u32 cpu,
					 u32 level)
{
	const struct pelton_place_set *set = pelton_span_set(s, pelton_place_domain(s, cpu, level)->span);
	u32 word, end = pelton_min_u32(set->first_rank + set->nr_ranks, PELTON_RANKS_MAX);

	for (word = set->first_rank / 64u; word < (end + 63u) / 64u && word < PELTON_RANKS_MAX / 64u; word++) {
		u32 from = pelton_sub_floor_u32(set->first_rank, 64u * word), to = end - 64u * word;
		u64 mine = ~0ull << from & (to < 64u ? (1ull << to) - 1u : ~0ull), left = s->kept.stale[word] & mine;

		s->kept.stale[word] &= ~mine;
		for (; left; left &= left - 1) {
			u32 at = 64u * word + pelton_cpus_lowest(left);
			struct pelton_lb_group g = pelton_lb_kept_group(pol, s, s->kept.cpus[at], level, 0);

			s->kept.ranks[at] = pelton_lb_rank(&g);
		}
	}
}

/* Is what this search is about kept? */
PELTON_INLINE u32 pelton_lb_is_kept(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_lb_env *env)
{
	pelton_span span = pelton_lb_sd(s, env)->span;

	return env->idle && pol->balance > PELTON_BALANCE_LOADS && !s->energy_aware &&
	       env->cpus.number == span.number && pelton_span_set(s, span)->nr_ranks;
}

/* Has a group tasks that prefer the cache of the balancing CPU? */
PELTON_INLINE u32 pelton_lb_group_prefers(const struct pelton_placement *s, u32 cpu, u32 level)
{
	pelton_span span;
	const struct pelton_place_set *set;
	u32 word;

	if (!level)
		return pelton_cpus_has(s->kept.prefers, cpu);
	span = pelton_place_domain(s, cpu, level - 1u)->span;
	set = pelton_span_set(s, span);
	for (word = set->first / 64u; word <= set->last / 64u && word < PELTON_CPUS_WORDS; word++)
		if (set->cpus.words[word] & s->kept.prefers.words[word])
			return 1;
	return 0;
}

/* The group of a CPU, into lb->group: from its sums, or from its CPUs where one of them has a task that prefers. */
PELTON_INLINE void pelton_lb_group_now(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_lb_env *env, struct pelton_lb *lb, u32 cpu, u32 local)
{
	if (s->kept.any_prefers && pelton_lb_group_prefers(s, cpu, env->level))
		pelton_update_sg_lb_stats(pol, s, env, lb, cpu, pelton_span_weight(s, env->cpus));
	else
		lb->group = pelton_lb_kept_group(pol, s, cpu, env->level, local);
}

/* The best of a search among ranks: its number, PELTON_RANKS_MAX: none. */
struct pelton_lb_best {
	u64 rank;
	u64 ties_last; /* a bit for each type, and one: of equal ranks the last group is the busiest */
	u32 at;
};

PELTON_INLINE void pelton_lb_best_takes(struct pelton_lb_best *best, u64 rank, u32 at)
{
	if (rank > best->rank || (rank == best->rank && best->ties_last >> (rank >> PELTON_RANK_TYPE_SHIFT) & 1u)) {
		best->rank = rank;
		best->at = at;
	}
}

/* Ranks from `at` on, before `end`. */
PELTON_INLINE void pelton_lb_best_of(struct pelton_lb_best *best, const struct pelton_placement *s, u32 at, u32 end)
{
	const u64 *ranks = s->kept.ranks;
	u64 rank = best->rank;

	for (end = pelton_min_u32(end, PELTON_RANKS_MAX); at < end; at++) {
		if (ranks[at] < rank)
			continue;
		pelton_lb_best_takes(best, ranks[at], at);
		rank = best->rank;
	}
}

/*
 * Ranks from `at` on, before `end`: those of groups with tasks that prefer the balancing CPU's cache are worked out
 * anew.
 */
PELTON_INLINE void pelton_lb_best_now(struct pelton_lb_best *best, const struct pelton_policy *pol,
				      const struct pelton_placement *s, const struct pelton_lb_env *env,
				      struct pelton_lb *lb, u32 at, u32 end)
{
	for (; at < end && at < PELTON_RANKS_MAX; at++) {
		u64 rank = s->kept.ranks[at];

		if (pelton_lb_group_prefers(s, s->kept.cpus[at], env->level)) {
			pelton_update_sg_lb_stats(pol, s, env, lb, s->kept.cpus[at], pelton_span_weight(s, env->cpus));
			rank = pelton_lb_rank(&lb->group);
		}
		pelton_lb_best_takes(best, rank, at);
	}
}

/* Of the ranks of the domain the highest that stands behind `own` in their circle; PELTON_RANKS_MAX: none. */
PELTON_INLINE u32 pelton_lb_highest(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_lb_env *env, struct pelton_lb *lb, u32 own)
{
	const struct pelton_place_set *set = pelton_span_set(s, env->cpus);
	u32 first = set->first_rank, end = first + set->nr_ranks;
	struct pelton_lb_best best = { .at = PELTON_RANKS_MAX };

	best.ties_last = pelton_lb_rank_ties_last(pol, lb->local.flags & PELTON_SD_SHARE_CPUCAPACITY);
	if (s->kept.any_prefers) {
		pelton_lb_best_now(&best, pol, s, env, lb, own + 1u, end);
		pelton_lb_best_now(&best, pol, s, env, lb, first, own);
	} else {
		pelton_lb_best_of(&best, s, own + 1u, end);
		pelton_lb_best_of(&best, s, first, own);
	}
	return best.rank ? best.at : PELTON_RANKS_MAX;
}

/* The local and the busiest group from what is kept; 0 = it is not. */
PELTON_INLINE u32 pelton_lb_search_kept(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	const struct pelton_place_set *set = pelton_span_set(s, pelton_lb_sd(s, env)->span);
	u32 dst = env->dst_cpu & (PELTON_PLACE_CPUS_MAX - 1u), found;

	if (!pelton_lb_is_kept(pol, s, env))
		return 0;
	pelton_lb_group_now(pol, s, env, lb, dst, 1);
	lb->local = lb->group;
	found = pelton_lb_highest(pol, s, env, lb,
				  s->kept.rank_of[dst][pelton_min_u32(env->level, PELTON_DOMAINS_MAX - 1u)]);
	if (found < PELTON_RANKS_MAX) {
		pelton_lb_group_now(pol, s, env, lb, s->kept.cpus[found], 0);
		lb->busiest = lb->group;
	}
	lb->total_load = set->kept.load;
	lb->total_capacity = set->group.group_capacity;
	lb->overloaded = set->kept.crowded && (pol->balance < PELTON_BALANCE_RUNNABLE || pelton_lb_is_root(s, env));
	lb->overutilized = 0;
	return 1;
}

#else

/* Up to 64 CPUs nothing is kept. */
PELTON_INLINE u32 pelton_lb_search_kept(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_lb_env *env, struct pelton_lb *lb)
{
	(void)pol;
	(void)s;
	(void)env;
	(void)lb;
	return 0;
}

#endif

#endif
