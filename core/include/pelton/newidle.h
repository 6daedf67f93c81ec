/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a CPU that runs out of tasks look for one elsewhere? Not when it usually has one again before the search pays.
 *
 *   mean idle time   avg_idle += (stay - avg_idle) >> 3, at most 2 * max_cost; 1 ms at first
 *   skipped when     avg_idle < 500 us (migration_cost, to 5.10), or avg_idle < cost of searching the domain. Before
 *                    that second test the CPU refreshes its own load (to 5.10; later the test is the first one, too)
 *   a search of cost c: cost of the domain = max(itself, c), max_cost = max(itself, c)
 *   once a second    cost of the domain = cost * 253 / 256,  max_cost = max(500 us, sum of the costs of all domains)
 *
 *   quantity       unit
 *   times, costs   ns
 *
 * Source: Linux kernel/sched/core.c of 4.12 to 6.18 (ttwu_do_wakeup, ttwu_do_activate), 7.2 (update_rq_avg_idle);
 * kernel/sched/fair.c (4.12 idle_balance, later newidle_balance and sched_balance_newidle, rebalance_domains,
 * update_newidle_cost).
 * Deviations: the dice of NI_RANDOM are thrown for each domain (balance.h), not here.
 */
#ifndef PELTON_NEWIDLE_H
#define PELTON_NEWIDLE_H

#include "arith.h"
#include "policy.h"

#define PELTON_MIGRATION_COST_NS 500000ull
#define PELTON_NEWIDLE_DECAY_NS 1000000000ull
/* The dearest that searches which find nothing make a domain (newidle_fails=dearer). */
#define PELTON_NEWIDLE_DEAREST_NS (PELTON_MIGRATION_COST_NS + 200ull)
/* Of the dice (balance.h): their sides, which are also the calls after which the rate of success is worked out. */
#define PELTON_NEWIDLE_CALLS 1024u
#define PELTON_NEWIDLE_RATE_SHIFT 22u

/* Averages of a CPU's idle times and costs of its searches; pelton_newidle_init() starts them. */
struct pelton_newidle {
	u64 avg_idle_ns;
	u64 max_cost_ns;
	u64 domain_cost_ns;
	u64 decayed_at_ns;
};

_Static_assert(sizeof(struct pelton_newidle) == 32, "size of pelton_newidle");

PELTON_INLINE void pelton_newidle_init(struct pelton_newidle *n)
{
	n->avg_idle_ns = 2u * PELTON_MIGRATION_COST_NS;
	n->max_cost_ns = PELTON_MIGRATION_COST_NS;
	n->domain_cost_ns = 0;
	n->decayed_at_ns = 0;
}

/* The CPU was idle for `stay_ns`. */
PELTON_INLINE void pelton_newidle_woke(struct pelton_newidle *n, u64 stay_ns)
{
	s64 change = (s64)(stay_ns - n->avg_idle_ns) >> 3;

	n->avg_idle_ns = pelton_min_u64(n->avg_idle_ns + (u64)change, 2u * n->max_cost_ns);
}

/* 1 = it does not even refresh its own load for a look. */
PELTON_INLINE u32 pelton_newidle_closed(const struct pelton_policy *pol, const struct pelton_newidle *n)
{
	if (pol->newidle == PELTON_NEWIDLE_ALWAYS)
		return 0;
	if (pol->newidle == PELTON_NEWIDLE_MIGRATION_COST)
		return n->avg_idle_ns < PELTON_MIGRATION_COST_NS;
	return n->avg_idle_ns < n->domain_cost_ns;
}

/*
 * 1 = a machine of one CPU, which has no domain to look at, refreshes its own load for a look all the same (to 5.10).
 */
PELTON_INLINE u32 pelton_newidle_alone(const struct pelton_policy *pol)
{
	return pol->newidle < PELTON_NEWIDLE_DOMAIN_COST;
}

/* 1 = it goes idle without a look. */
PELTON_INLINE u32 pelton_newidle_skips(const struct pelton_policy *pol, const struct pelton_newidle *n)
{
	if (pol->newidle == PELTON_NEWIDLE_ALWAYS)
		return 0;
	return pelton_newidle_closed(pol, n) || n->avg_idle_ns < n->domain_cost_ns;
}

/* The CPU searched, and that took `cost_ns`. */
PELTON_INLINE void pelton_newidle_searched(const struct pelton_policy *pol, struct pelton_newidle *n, u64 cost_ns,
					   u64 now_ns)
{
	if (cost_ns > n->domain_cost_ns) {
		n->domain_cost_ns = cost_ns;
		if (pol->newidle != PELTON_NEWIDLE_MIGRATION_COST)
			n->decayed_at_ns = now_ns;
	}
	n->max_cost_ns = pelton_max_u64(n->max_cost_ns, cost_ns);
}

/* All searches before it went idle took `spent_ns`. */
PELTON_INLINE void pelton_newidle_spent(struct pelton_newidle *n, u64 spent_ns)
{
	n->max_cost_ns = pelton_max_u64(n->max_cost_ns, spent_ns);
}

/* At its periodic balance: what it remembers of costs fades. */
PELTON_INLINE void pelton_newidle_decay(struct pelton_newidle *n, u64 now_ns)
{
	if (now_ns <= n->decayed_at_ns + PELTON_NEWIDLE_DECAY_NS)
		return;
	n->domain_cost_ns = n->domain_cost_ns * 253u / 256u;
	n->decayed_at_ns = now_ns;
	n->max_cost_ns = pelton_max_u64(PELTON_MIGRATION_COST_NS, n->domain_cost_ns);
}

/* 1 = nothing fades: its decay may be left out, for what that notes a search notes anew. */
PELTON_INLINE u32 pelton_newidle_rests(const struct pelton_policy *pol, const struct pelton_newidle *n)
{
	return pol->newidle != PELTON_NEWIDLE_MIGRATION_COST && !n->domain_cost_ns &&
	       n->max_cost_ns == PELTON_MIGRATION_COST_NS;
}

/* The costs of some of its domains faded: `lowest_ns` is that of the smallest, `sum_ns` that of all. */
PELTON_INLINE void pelton_newidle_faded(struct pelton_newidle *n, u64 lowest_ns, u64 sum_ns)
{
	n->domain_cost_ns = lowest_ns;
	n->max_cost_ns = pelton_max_u64(PELTON_MIGRATION_COST_NS, sum_ns);
}

#endif
