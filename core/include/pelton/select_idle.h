/* SPDX-License-Identifier: GPL-2.0-or-later */
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

#include "select_idle_scan.h"

/*
 * Number of CPUs of a domain that a scan may look at: fewer, the more its CPUs are utilized. `sum_util`: of all of
 * them; kernel/sched/fair.c update_idle_cpu_scan.
 */
PELTON_INLINE u32 pelton_nr_idle_scan(u64 sum_util, u32 weight, u32 imbalance_pct)
{
	u64 x = pelton_div_floor(sum_util, weight);
	u64 busy = x * x * imbalance_pct * imbalance_pct / (10000u * (u64)PELTON_CAPACITY_SCALE);

	busy = pelton_min_u64(busy, PELTON_CAPACITY_SCALE);
	return (u32)((PELTON_CAPACITY_SCALE - busy) * weight / PELTON_CAPACITY_SCALE);
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
