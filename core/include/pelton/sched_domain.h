/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scheduling domains: what a level of a machine becomes when the kernel builds the domains of a CPU.
 *
 *   level       imbalance_pct   to 5.4
 *   threads     110             110
 *   cache       117             117      a cluster is one too
 *   else        117             125
 *
 *   flag              set where
 *   BALANCE_EXEC, BALANCE_FORK, WAKE_AFFINE    everywhere, but not across nodes farther apart than 30
 *   PREFER_SIBLING    within a node; 4.12: not in a cache above threads. The level below unequal CPUs loses it, by the caller
 *   ASYM_CPUCAPACITY  capacities differ; found from 5.0 on, and not by the load balance of 4.12 to 4.19
 *   BALANCE_WAKE      to 5.4: where that is; the domains below have it too, by the caller
 *
 *   imb_numa_nr, tasks that may differ between groups: 0 up to a cache, then by the caches of a node
 *     levels of one cache of 8 CPUs, node of 32, two nodes of 64: 0, 4, 8
 *     one cache a node of 16 CPUs: 2
 *
 *   quantity     unit    range
 *   weight       CPUs    1 .. 64
 *   distance     as the firmware says it; 10 = the same node
 *
 * Source: kernel/sched/topology.c sd_init, build_sched_domains, sched_domain_topology, include/linux/topology.h: 4.12,
 * 4.16, 4.19, 5.4, 5.10.262, 6.1.192, 6.12.117, 7.2.12; sd_in_multi_llcs of 7.2.12, sched_is_eas_possible of 6.12,
 * build_perf_domains of 5.10 and 6.1.
 * Deviations: imb_numa_nr of 5.16 and 5.17 is not modelled. One distance for all machines (AMD's firmware may raise
 * it).
 */
#ifndef PELTON_SCHED_DOMAIN_H
#define PELTON_SCHED_DOMAIN_H

#include "bounds.h"
#include "placement.h"
#include "policy.h"

#define PELTON_SD_PCT_THREADS 110u
#define PELTON_SD_PCT 117u
#define PELTON_SD_PCT_FAR 125u
/* Farthest distance between nodes at which tasks are placed across. */
#define PELTON_SD_RECLAIM_DISTANCE 30u

struct pelton_sd_level {
	u32 shared;   /* PELTON_SD_SHARE_CPUCAPACITY, CLUSTER, SHARE_LLC, NUMA */
	u32 weight;   /* number of CPUs */
	u32 classes;  /* capacities among them */
	u32 distance; /* to the farthest node; 0 = of one node */
};

/* Are tasks balanced by loads? */
PELTON_INLINE u32 pelton_sd_by_loads(const struct pelton_policy *pol)
{
	return pol->balance <= PELTON_BALANCE_LOADS;
}

/* Does the release know clusters below a cache? */
PELTON_INLINE u32 pelton_sd_has_clusters(const struct pelton_policy *pol)
{
	return pol->idle_search > PELTON_IDLE_SEARCH_PASSES;
}

PELTON_INLINE u32 pelton_sd_imbalance_pct(const struct pelton_policy *pol, const struct pelton_sd_level *l)
{
	if (l->shared & PELTON_SD_SHARE_CPUCAPACITY)
		return PELTON_SD_PCT_THREADS;
	if (!(l->shared & PELTON_SD_SHARE_LLC) && pelton_sd_by_loads(pol))
		return PELTON_SD_PCT_FAR;
	return PELTON_SD_PCT;
}

/* Flags for unequal CPUs; `all`: capacities among all CPUs. */
PELTON_INLINE u32 pelton_sd_asym_flags(const struct pelton_policy *pol, const struct pelton_sd_level *l, u32 all)
{
	if (l->classes < 2 || (pelton_sd_by_loads(pol) && pol->balance < PELTON_BALANCE_LOADS))
		return 0;
	return PELTON_SD_ASYM_CPUCAPACITY | (l->classes == all ? PELTON_SD_ASYM_CPUCAPACITY_FULL : 0);
}

/* Are tasks spread over the groups of such a level? */
PELTON_INLINE u32 pelton_sd_spreads(const struct pelton_policy *pol, const struct pelton_sd_level *l)
{
	u32 cache = (l->shared & PELTON_SD_SHARE_LLC) && !(l->shared & PELTON_SD_SHARE_CPUCAPACITY);

	if (l->shared & PELTON_SD_NUMA)
		return 0;
	return !(pol->balance == PELTON_BALANCE_LOADS_NEWLY && cache);
}

PELTON_INLINE u32 pelton_sd_flags(const struct pelton_policy *pol, const struct pelton_sd_level *l, u32 all)
{
	u32 flags = l->shared | pelton_sd_asym_flags(pol, l, all);

	if (l->distance <= PELTON_SD_RECLAIM_DISTANCE)
		flags |= PELTON_SD_BALANCE_EXEC | PELTON_SD_BALANCE_FORK | PELTON_SD_WAKE_AFFINE;
	if (pelton_sd_spreads(pol, l))
		flags |= PELTON_SD_PREFER_SIBLING;
	if ((flags & PELTON_SD_ASYM_CPUCAPACITY) && pol->wake_cap != PELTON_WAKE_CAP_OFF)
		flags |= PELTON_SD_BALANCE_WAKE;
	return flags;
}

/* The flag of the smallest domain in which a CPU with room is looked for. */
PELTON_INLINE u32 pelton_sd_asym_searched(const struct pelton_policy *pol)
{
	return pol->capacity_search >= PELTON_CAPACITY_SEARCH_RANK ? PELTON_SD_ASYM_CPUCAPACITY_FULL
								   : PELTON_SD_ASYM_CPUCAPACITY;
}

/* Number of times that the smaller span fits into the larger, at least 1. */
PELTON_INLINE u32 pelton_sd_times(u32 weight, u32 below)
{
	u32 times = below ? weight / below : 0;

	return times ? times : 1u;
}

/* Position of the largest level that shares a cache; 0 without one. */
PELTON_INLINE u32 pelton_sd_cache(const struct pelton_sd_level *levels, u32 n)
{
	u32 i, cache = 0;

	for (i = 0; i < PELTON_SD_LEVELS_MAX && i < n; i++)
		if (levels[i].shared & PELTON_SD_SHARE_LLC)
			cache = i;
	return cache;
}

/* CPUs of the smallest level of several nodes; without one, of the level above the cache. */
PELTON_INLINE u32 pelton_sd_numa_span(const struct pelton_sd_level *levels, u32 n, u32 parent)
{
	u32 i;

	for (i = 0; i < PELTON_SD_LEVELS_MAX && i < n; i++)
		if (levels[i].shared & PELTON_SD_NUMA)
			return levels[i].weight;
	return parent;
}

/* Number of tasks by which the groups of the level `at` of a CPU's levels, smallest first, may differ. */
PELTON_INLINE u32 pelton_sd_imb_numa_nr(const struct pelton_sd_level *levels, u32 n, u32 at)
{
	u32 cache = pelton_sd_cache(levels, n), parent, caches, allowed;

	if (at <= cache || at >= n || at >= PELTON_SD_LEVELS_MAX || cache + 1 >= PELTON_SD_LEVELS_MAX)
		return 0;
	parent = levels[cache + 1].weight;
	caches = pelton_sd_times(parent, levels[cache].weight);
	allowed = caches == 1 ? pelton_max_u32(parent >> 3, 1u) : caches;
	if (at == cache + 1)
		return allowed;
	return allowed * pelton_sd_times(levels[at].weight, pelton_sd_numa_span(levels, n, parent));
}

/* Has this CPU's cache several CPUs, and others beside it? */
PELTON_INLINE u32 pelton_sd_in_multi_llcs(const struct pelton_place_cpu *c)
{
	return c->llc_domain < PELTON_DOMAINS_MAX && c->llc_domain + 1u < c->nr_domains;
}

/* Is there placement by energy, given an energy model that knows every power? */
PELTON_INLINE u32 pelton_sd_energy_aware(const struct pelton_policy *pol, u32 asymmetric, u32 threads, u32 invariant)
{
	u32 asks = pol->energy_aware > PELTON_ENERGY_AWARE_MARGIN;

	return pol->energy_aware != PELTON_ENERGY_AWARE_OFF && asymmetric && !threads && (invariant || !asks);
}

#endif
