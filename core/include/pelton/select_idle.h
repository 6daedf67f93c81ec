/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search for an idle CPU near the place where a task that wakes is wanted. The first that holds:
 *
 *    1  target is idle, and the task fits                            -> target
 *    2  prev is idle, fits, shares target's cache                    -> prev; beyond the cluster it is only remembered
 *    3  a kernel thread of this CPU woke it, prev is here            -> prev
 *    4  the CPU before prev: as 2
 *    5  CPUs are unequal: the first idle one that fits, else the best    (select_idle_capacity)
 *    6  threads: no core is idle: an idle thread of prev's core
 *    7  the cache's CPUs after target, the cluster's first; whole cores while there are any; at most nr_idle_scan
 *    8  what 2 and 4 remembered
 *    9  target
 *
 *   to 5.10: 7 is three passes: whole cores, CPUs as long as the mean idle time allows, threads of target
 *   5.4      no 3 and 5; in the passes a CPU that runs SCHED_IDLE tasks only is second to one that is idle
 *   4.16 to 5.4: CPUs that the task may not use count as looked at; 4.12: none is counted, and there is no 4
 *
 *   unequal CPUs, best first      core idle              a thread of its core is busy
 *     fits                        taken at once          -2
 *     floor lost                  -4                     -1
 *     does not fit                -3                      0       among equals the largest capacity
 *
 * Source: Linux 7.2 kernel/sched/fair.c (select_idle_sibling, select_idle_capacity, select_idle_cpu, select_idle_core,
 * select_idle_smt, asym_fits_cpu); 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18 the same; 4.12, 4.16.13, 4.19, 5.4
 * (select_idle_sibling, select_idle_core, select_idle_cpu, select_idle_smt).
 * Deviations: the time that a scan of 4.12 to 5.10 takes is what the host says, for the CPUs that it looked at.
 */
#ifndef PELTON_SELECT_IDLE_H
#define PELTON_SELECT_IDLE_H

#include "feec.h"

/* What the scan of a cache group carries along. */
struct pelton_idle_scan {
	pelton_cpus cpus; /* not yet ruled out */
	u32 thread;       /* an idle thread of a core that is not */
	u32 by_cores;     /* whole cores are looked for */
	s32 left;         /* CPUs that may still be looked at */
	u32 seen;         /* CPUs or cores that were */
	u32 done;
};

/* On a machine with unequal CPUs: does the task fit, and is the core its own? */
PELTON_INLINE u32 pelton_asym_fits_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_placed *out, u32 cpu)
{
	u32 whole_core = s->smt && pol->capacity_search == PELTON_CAPACITY_SEARCH_CORES;

	if (!s->asymmetric || pol->capacity_search == PELTON_CAPACITY_SEARCH_OFF)
		return 1;
	return (!whole_core || pelton_is_core_idle(s, cpu)) && pelton_task_fits(pol, s, out, cpu) > 0;
}

/*
 * How many CPUs of a domain a scan may look at: fewer, the more its CPUs are utilized. `sum_util`: of all of them;
 * kernel/sched/fair.c update_idle_cpu_scan.
 */
PELTON_INLINE u32 pelton_nr_idle_scan(u64 sum_util, u32 weight, u32 imbalance_pct)
{
	u64 x = pelton_div_floor(sum_util, weight);
	u64 busy = x * x * imbalance_pct * imbalance_pct / (10000u * (u64)PELTON_CAPACITY_SCALE);

	busy = pelton_min_u64(busy, PELTON_CAPACITY_SCALE);
	return (u32)((PELTON_CAPACITY_SCALE - busy) * weight / PELTON_CAPACITY_SCALE);
}

/* As many CPUs as there are. */
#define PELTON_SCAN_UNLIMITED 0x7fffffff

/* How many CPUs a scan looks at, and one. */
PELTON_INLINE s32 pelton_scan_limit(const struct pelton_sched_domain *d, u32 nr_idle_scan)
{
	if (!d->has_shared || nr_idle_scan == PELTON_NO_LIMIT)
		return PELTON_SCAN_UNLIMITED;
	return (s32)pelton_min_u32(nr_idle_scan, PELTON_SCAN_UNLIMITED - 1u) + 1;
}

/* Keeps by what a search is limited, and to how many CPUs; `left`: one more than that. */
PELTON_INLINE void pelton_scan_limited(struct pelton_placed *out, u32 rule, s32 left)
{
	out->scan_rule = left == PELTON_SCAN_UNLIMITED ? (u32)PELTON_SCAN_ALL : rule;
	out->scan_limit = left == PELTON_SCAN_UNLIMITED ? PELTON_NO_LIMIT : (u32)left - 1u;
}

/* Rank of an idle CPU of an unequal machine; lower is better, 1 = take it. */
PELTON_INLINE s32 pelton_capacity_rank(s32 fits, u32 core_idle)
{
	if (fits > 0)
		return core_idle ? 1 : -2;
	return core_idle ? fits - 3 : fits;
}

/* Capacity by which CPUs of equal rank are compared. */
PELTON_INLINE u32 pelton_ranked_capacity(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
					 s32 fits)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (fits >= 0)
		return c->capacity;
	if (pol->energy_aware == PELTON_ENERGY_AWARE_ACTUAL)
		return pelton_actual_capacity(pol, s, cpu);
	return pelton_sub_floor_u32(c->state.cap_orig, c->hw_pressure);
}

/* What the scan of unequal CPUs has found. */
struct pelton_ranked {
	u32 cpu;
	u32 capacity;
	s32 rank;
	s32 left; /* CPUs that may still be looked at */
};

/* Looks at one CPU; 1 = the scan ends with what was found. */
PELTON_INLINE u32 pelton_rank_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				  struct pelton_placed *out, struct pelton_ranked *best, u32 cpu, u32 by_cores)
{
	s32 fits, rank;
	u32 capacity;

	if (!by_cores && --best->left <= 0)
		return 1;
	out->scan_seen++;
	if (!pelton_choose_idle_cpu(pol, s, cpu))
		return 0;
	fits = pelton_task_fits(pol, s, out, cpu);
	rank = pelton_capacity_rank(fits, !by_cores || pelton_is_core_idle(s, cpu));
	capacity = pelton_ranked_capacity(pol, s, cpu, fits);
	if (rank > 0 || rank < best->rank || (rank == best->rank && capacity > best->capacity)) {
		best->cpu = cpu;
		best->capacity = capacity;
		best->rank = rank;
	}
	return rank > 0;
}

/* Idle CPU of the smallest domain of unequal CPUs around target, PELTON_NO_CPU = none. */
PELTON_INLINE u32 pelton_select_idle_capacity(const struct pelton_policy *pol, const struct pelton_placement *s,
					      struct pelton_placed *out, u32 level, u32 target)
{
	const struct pelton_sched_domain *d = pelton_place_domain(s, target, level);
	const struct pelton_place_cpu *t = pelton_place_cpu_of(s, target);
	u32 limited = pol->capacity_search == PELTON_CAPACITY_SEARCH_CORES;
	u32 by_cores = limited && s->smt && t->has_idle_cores;
	struct pelton_ranked best = { .cpu = PELTON_NO_CPU, .left = PELTON_SCAN_UNLIMITED };
	pelton_walk walk;

	if (limited)
		best.left = pelton_scan_limit(d, t->nr_idle_scan_asym);
	pelton_scan_limited(out, by_cores ? PELTON_SCAN_CORES : PELTON_SCAN_UTILIZATION, best.left);
	if (best.left == 1)
		return PELTON_NO_CPU;
	walk = pelton_walk_from(pelton_span_allowed(s, d->span), target);
	for (; pelton_walk_more(&walk); pelton_walk_step(&walk))
		if (pelton_rank_cpu(pol, s, out, &best, pelton_walk_at(&walk, target), by_cores))
			return best.cpu;
	if (by_cores && best.rank > -3)
		out->no_idle_core = target;
	return best.cpu;
}

/* Idle thread of prev's core. */
PELTON_INLINE u32 pelton_select_idle_smt(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, pelton_span span, u32 prev)
{
	pelton_cpus cpus = pelton_cpus_and(pelton_span_allowed(s, pelton_place_cpu_of(s, prev)->threads),
					   pelton_span_cpus(s, span));
	pelton_walk walk = pelton_walk_from(pelton_cpus_without(cpus, pelton_cpus_alone(prev)), 0);

	for (; pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		out->scan_seen++;
		if (pelton_choose_idle_cpu(pol, s, pelton_walk_at(&walk, 0)))
			return pelton_walk_at(&walk, 0);
	}
	return PELTON_NO_CPU;
}

/* Is the CPU's whole core idle? If not, remembers an idle thread of it. */
PELTON_INLINE u32 pelton_select_idle_core(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_idle_scan *scan, u32 cpu)
{
	pelton_members m = pelton_members_core(s, cpu);
	u32 idle = 1;

	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		u32 thread = pelton_members_at(&m);
		u32 free = pelton_cpus_has(scan->cpus, thread);

		if (!pelton_available_idle_cpu(s, thread)) {
			idle = 0;
			if (scan->thread != PELTON_NO_CPU)
				break;
			if (free && pelton_choose_sched_idle(pol, s, thread)) {
				scan->thread = thread;
				break;
			}
		} else if (scan->thread == PELTON_NO_CPU && free) {
			scan->thread = thread;
		}
	}
	if (!idle)
		scan->cpus = pelton_cpus_without(scan->cpus, pelton_place_core(s, cpu));
	return idle ? cpu : PELTON_NO_CPU;
}

/* Looks at one CPU; `scan->done` ends the search with what is returned. */
PELTON_INLINE u32 pelton_scan_step(const struct pelton_policy *pol, const struct pelton_placement *s,
				   struct pelton_idle_scan *scan, u32 cpu)
{
	u32 core;

	if (scan->by_cores) {
		if (!pelton_cpus_has(scan->cpus, cpu))
			return PELTON_NO_CPU;
		scan->seen++;
		core = pelton_select_idle_core(pol, s, scan, cpu);
		scan->done = core != PELTON_NO_CPU;
		return core;
	}
	if (--scan->left <= 0) {
		scan->done = 1;
		return PELTON_NO_CPU;
	}
	scan->seen++;
	scan->done = pelton_choose_idle_cpu(pol, s, cpu);
	return scan->done ? cpu : PELTON_NO_CPU;
}

PELTON_INLINE u32 pelton_scan_set(const struct pelton_policy *pol, const struct pelton_placement *s,
				  struct pelton_idle_scan *scan, pelton_cpus set, u32 target)
{
	pelton_walk walk = pelton_walk_from(set, target + 1);
	u32 found = PELTON_NO_CPU;

	for (; pelton_walk_more(&walk) && !scan->done; pelton_walk_step(&walk))
		found = pelton_scan_step(pol, s, scan, pelton_walk_at(&walk, target + 1));
	return scan->done ? found : PELTON_NO_CPU;
}

/* Span of the largest domain of a CPU that is smaller than one with `weight` CPUs; the CPU alone when there is none. */
PELTON_INLINE pelton_span pelton_group_of(const struct pelton_placement *s, u32 cpu, u32 weight, u32 *level)
{
	u32 i, levels = pelton_place_levels(s, cpu);
	pelton_span span = pelton_span_alone(cpu);

	for (i = 0; i < levels; i++) {
		pelton_span of = pelton_place_domain(s, cpu, i)->span;

		if (pelton_span_weight(s, of) >= weight)
			break;
		span = of;
	}
	*level = i;
	return span;
}

/* CPUs of target's cluster, which are looked at first. */
PELTON_INLINE pelton_span pelton_cluster_first(const struct pelton_policy *pol, const struct pelton_placement *s,
					       const struct pelton_sched_domain *d, u32 target)
{
	u32 level;
	pelton_span group = pelton_group_of(s, target, pelton_span_weight(s, d->span), &level);

	if (pol->idle_search != PELTON_IDLE_SEARCH_CLUSTERS || !s->clusters || !level ||
	    !(pelton_place_domain(s, target, level - 1)->flags & PELTON_SD_CLUSTER))
		return PELTON_SPAN_NONE;
	return group;
}

/* Idle CPU, or whole idle core, of target's cache group; PELTON_NO_CPU = none was seen. */
PELTON_INLINE u32 pelton_select_idle_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, const struct pelton_sched_domain *d, u32 by_cores,
					 u32 target)
{
	struct pelton_idle_scan scan = { .cpus = pelton_span_allowed(s, d->span),
					 .thread = PELTON_NO_CPU,
					 .by_cores = by_cores };
	pelton_cpus cluster = pelton_cpus_and(pelton_span_cpus(s, pelton_cluster_first(pol, s, d, target)), scan.cpus);
	pelton_cpus rest = pelton_cpus_without(scan.cpus, cluster);
	u32 found;

	scan.left = pelton_scan_limit(d, pelton_place_cpu_of(s, target)->nr_idle_scan_llc);
	pelton_scan_limited(out, by_cores ? PELTON_SCAN_CORES : PELTON_SCAN_UTILIZATION, scan.left);
	/* 7.2 ends here when the task may use none of the CPUs, others note that no core of them is idle. */
	if (scan.left == 1 || (!pelton_cpus_any(scan.cpus) && pol->capacity_search == PELTON_CAPACITY_SEARCH_CORES))
		return PELTON_NO_CPU;
	found = pelton_scan_set(pol, s, &scan, cluster, target);
	scan.cpus = pelton_cpus_without(scan.cpus, cluster);
	if (!scan.done)
		found = pelton_scan_set(pol, s, &scan, rest, target);
	out->scan_seen += scan.seen;
	if (by_cores && !scan.done)
		out->no_idle_core = target;
	return scan.done ? found : scan.thread;
}

PELTON_INLINE u32 pelton_placed_at(struct pelton_placed *out, u32 cpu, u32 how)
{
	out->cpu = cpu;
	out->how = how;
	return cpu;
}

/* 2 and 4: an idle CPU near target that the task has been on. Beyond the cluster it is only remembered in `beyond`. */
PELTON_INLINE u32 pelton_select_known(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_placed *out, u32 cpu, u32 target, u32 *beyond)
{
	if (!pelton_cpus_share_cache(s, cpu, target) || !pelton_choose_idle_cpu(pol, s, cpu) ||
	    !pelton_asym_fits_cpu(pol, s, out, cpu))
		return 0;
	if (pol->idle_search != PELTON_IDLE_SEARCH_CLUSTERS || !s->clusters ||
	    pelton_cpus_share_resources(s, cpu, target))
		return 1;
	*beyond = cpu;
	return 0;
}

/* 3: the kernel thread that woke it is about to sleep. */
PELTON_INLINE u32 pelton_select_beside_kthread(const struct pelton_policy *pol, const struct pelton_placement *s,
					       const struct pelton_placed *out)
{
	return pol->idle_search >= PELTON_IDLE_SEARCH_PASSES && s->waker.pinned_kthread && s->prev_cpu == s->this_cpu &&
	       pelton_place_cpu_of(s, s->this_cpu)->nr_running <= 1 && pelton_asym_fits_cpu(pol, s, out, s->prev_cpu);
}

/* To 5.10: how many CPUs the second pass looks at, from the mean idle time and the mean cost of a scan; 4.12: all. */
PELTON_INLINE s32 pelton_scan_in_proportion(const struct pelton_policy *pol, const struct pelton_placement *s,
					    pelton_span span)
{
	u64 cost = s->avg_scan_cost_ns + 1;
	u64 idle = pelton_span_weight(s, span) * (s->avg_idle_ns / 512u);

	if (pol->idle_search == PELTON_IDLE_SEARCH_ALL)
		return PELTON_SCAN_UNLIMITED;
	if (idle <= 4u * cost)
		return 4;
	return (s32)pelton_min_u64(pelton_div_floor(idle, cost), PELTON_SCAN_UNLIMITED);
}

/* Mean time of a CPU's searches after one of `ns`: an eighth of the difference is taken over, towards 0. */
PELTON_INLINE u64 pelton_update_scan_cost(u64 avg, u64 ns)
{
	return avg + (u64)((s64)(ns - avg) / 8);
}

/* First pass: a core all of whose threads are idle. */
PELTON_INLINE u32 pelton_pass_cores(const struct pelton_placement *s, struct pelton_placed *out, pelton_cpus cpus,
				    u32 target)
{
	pelton_walk walk = pelton_walk_from(cpus, target);

	for (; pelton_walk_more(&walk);) {
		u32 cpu = pelton_walk_at(&walk, target);

		out->scan_seen++;
		if (pelton_available_idle_cpu(s, cpu) && pelton_is_core_idle(s, cpu))
			return cpu;
		pelton_walk_skip(&walk, pelton_place_core(s, cpu), target);
	}
	out->no_idle_core = target;
	return PELTON_NO_CPU;
}

/* Would the task run on a CPU at once? 5.4 keeps the first that runs SCHED_IDLE tasks only as a second choice. */
PELTON_INLINE u32 pelton_pass_takes(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
				    u32 *second)
{
	if (pol->idle_search != PELTON_IDLE_SEARCH_SECOND)
		return pelton_choose_idle_cpu(pol, s, cpu);
	if (*second == PELTON_NO_CPU && pelton_choose_sched_idle(pol, s, cpu))
		*second = cpu;
	return pelton_available_idle_cpu(s, cpu);
}

/*
 * Second pass: an idle CPU among as many as there is time for. The second choice counts when time is up, not at the
 * end. A pass that is cut short does not count for the mean cost.
 */
PELTON_INLINE u32 pelton_pass_cpus(const struct pelton_policy *pol, const struct pelton_placement *s,
				   struct pelton_placed *out, pelton_span span, u32 target)
{
	s32 nr = pelton_scan_in_proportion(pol, s, span);
	u32 cpu = target, seen = 0, second = PELTON_NO_CPU;
	pelton_cpus cpus =
		pol->idle_search < PELTON_IDLE_SEARCH_PASSES ? pelton_span_cpus(s, span) : pelton_span_allowed(s, span);
	pelton_walk walk;

	if (pelton_place_cpu_of(s, s->this_cpu)->llc_domain >= PELTON_DOMAINS_MAX)
		return PELTON_NO_CPU;
	pelton_scan_limited(out, PELTON_SCAN_PROPORTION, nr);
	for (walk = pelton_walk_from(cpus, target); pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		cpu = pelton_walk_at(&walk, target);
		if (!--nr) {
			out->scan_seen += seen;
			return second;
		}
		seen++;
		if (pelton_place_allowed(s, cpu) && pelton_pass_takes(pol, s, cpu, &second))
			break;
	}
	out->scan_seen += seen;
	out->scan_timed = seen;
	return pelton_walk_more(&walk) ? cpu : PELTON_NO_CPU;
}

/* Third pass: a thread of target's core, target among them. */
PELTON_INLINE u32 pelton_pass_threads(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, u32 target)
{
	pelton_members m = pelton_members_of(s, pelton_place_cpu_of(s, target)->threads, s->task.allowed);
	u32 second = PELTON_NO_CPU;

	for (; s->smt && pelton_members_more(&m); pelton_members_step(&m)) {
		out->scan_seen++;
		if (pelton_pass_takes(pol, s, pelton_members_at(&m), &second))
			return pelton_members_at(&m);
	}
	return second;
}

/* To 5.10. */
PELTON_INLINE u32 pelton_select_in_passes(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_placed *out, u32 target)
{
	const struct pelton_place_cpu *t = pelton_place_cpu_of(s, target);
	pelton_span span = pelton_place_domain(s, target, t->llc_domain)->span;
	u32 found = PELTON_NO_CPU;

	if (s->smt && t->has_idle_cores)
		found = pelton_pass_cores(s, out, pelton_span_allowed(s, span), target);
	if (found == PELTON_NO_CPU)
		found = pelton_pass_cpus(pol, s, out, span, target);
	if (found == PELTON_NO_CPU)
		found = pelton_pass_threads(pol, s, out, target);
	if (found == PELTON_NO_CPU)
		return pelton_placed_at(out, target, PELTON_HOW_NOTHING_IDLE);
	return pelton_placed_at(out, found, PELTON_HOW_SCAN);
}

/* 6 to 9. */
PELTON_INLINE u32 pelton_select_in_llc(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_placed *out, u32 target, u32 prev_beyond, u32 recent_beyond)
{
	const struct pelton_place_cpu *t = pelton_place_cpu_of(s, target);
	const struct pelton_sched_domain *d = pelton_place_domain(s, target, t->llc_domain);
	u32 found, by_cores = s->smt && t->has_idle_cores;

	if (s->smt && !by_cores && pelton_cpus_share_cache(s, s->prev_cpu, target)) {
		found = pelton_select_idle_smt(pol, s, out, d->span, s->prev_cpu);
		if (found != PELTON_NO_CPU)
			return pelton_placed_at(out, found, PELTON_HOW_THREAD);
	}
	found = pelton_select_idle_cpu(pol, s, out, d, by_cores, target);
	if (found != PELTON_NO_CPU)
		return pelton_placed_at(out, found, PELTON_HOW_SCAN);
	if (prev_beyond != PELTON_NO_CPU)
		return pelton_placed_at(out, prev_beyond, PELTON_HOW_CLUSTER_PREV);
	if (recent_beyond != PELTON_NO_CPU)
		return pelton_placed_at(out, recent_beyond, PELTON_HOW_CLUSTER_RECENT);
	return pelton_placed_at(out, target, PELTON_HOW_NOTHING_IDLE);
}

/* 5 to 9, none of the CPUs that are known by name will do. */
PELTON_INLINE u32 pelton_select_by_search(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_placed *out, u32 target, u32 prev_beyond, u32 recent_beyond)
{
	const struct pelton_place_cpu *t = pelton_place_cpu_of(s, target);

	if (s->asymmetric && t->asym_domain < PELTON_DOMAINS_MAX &&
	    pol->capacity_search != PELTON_CAPACITY_SEARCH_OFF) {
		u32 found = pelton_select_idle_capacity(pol, s, out, t->asym_domain, target);

		if (found == PELTON_NO_CPU)
			return pelton_placed_at(out, target, PELTON_HOW_CAPACITY_NONE);
		return pelton_placed_at(out, found, PELTON_HOW_CAPACITY);
	}
	if (t->llc_domain >= PELTON_DOMAINS_MAX)
		return pelton_placed_at(out, target, PELTON_HOW_NO_LLC);
	if (pol->idle_search <= PELTON_IDLE_SEARCH_PASSES)
		return pelton_select_in_passes(pol, s, out, target);
	return pelton_select_in_llc(pol, s, out, target, prev_beyond, recent_beyond);
}

PELTON_INLINE u32 pelton_select_idle_sibling(const struct pelton_policy *pol, const struct pelton_placement *s,
					     struct pelton_placed *out, u32 target)
{
	u32 recent = s->task.recent_cpu, prev_beyond = PELTON_NO_CPU, recent_beyond = PELTON_NO_CPU;

	if (s->asymmetric && pol->capacity_search != PELTON_CAPACITY_SEARCH_OFF)
		pelton_sync_entity_load_avg(pol, s, out);
	if (pelton_choose_idle_cpu(pol, s, target) && pelton_asym_fits_cpu(pol, s, out, target))
		return pelton_placed_at(out, target, PELTON_HOW_TARGET);
	if (s->prev_cpu != target && pelton_select_known(pol, s, out, s->prev_cpu, target, &prev_beyond))
		return pelton_placed_at(out, s->prev_cpu, PELTON_HOW_PREV);
	if (pelton_select_beside_kthread(pol, s, out))
		return pelton_placed_at(out, s->prev_cpu, PELTON_HOW_KTHREAD);
	/* To 5.10 only a hit is remembered. */
	if (pol->idle_search > PELTON_IDLE_SEARCH_PASSES)
		out->recent_cpu = s->prev_cpu;
	if (pol->idle_search != PELTON_IDLE_SEARCH_ALL && recent != s->prev_cpu && recent != target &&
	    pelton_place_allowed(s, recent) && pelton_select_known(pol, s, out, recent, target, &recent_beyond)) {
		out->recent_cpu = s->prev_cpu;
		return pelton_placed_at(out, recent, PELTON_HOW_RECENT);
	}
	return pelton_select_by_search(pol, s, out, target, prev_beyond, recent_beyond);
}

#endif
