/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When another CPU updates the load of idle CPUs without tick, so that it fades.
 *
 *   a CPU with a task, at its tick, sends an interrupt to the first idle CPU without tick, and that one walks all of
 *   them:
 *     to refresh load (stats, 4.17)   some has blocked load and now > next_blocked
 *     to balance                      now >= next_balance, and 2 tasks here, or one that would have more elsewhere, or 2 CPUs
 *                                     busy in the cache group; that does not count on a machine with unequal capacities
 *                                     (stats_asym, 5.4)
 *   a CPU that goes idle walks itself (4.17), unless its mean idle time is below 500 us, when some has blocked load and
 *     now >= next_blocked
 *   after a walk for load: next_blocked = now + 32 ms rounded up to ticks
 *   an idle CPU whose load was refreshed at `last` is due again
 *     always                          in the walk (to 5.9)
 *     now > last + wait               in a search (blocked_update=scan, interval), and in the walk of 5.10.262 and later;
 *                                     wait = 0, or with blocked_update=interval blocked_update_us in whole ticks
 *   lazy: no walk for load and no refresh; a reader takes the record to now, which one step does as well as many
 *
 *   quantity          unit
 *   now, next_*, last ticks (jiffies)
 *
 * Source: Linux kernel/sched/fair.c: 4.12, 4.16 (nohz_kick_needed, nohz_idle_balance, rebalance_domains); 4.17, 4.19,
 * 5.4, 5.10, 6.1, 6.6, 6.12, 6.18, 7.2 (nohz_balancer_kick, nohz_newidle_balance, _nohz_idle_balance,
 * nohz_run_idle_balance). update_nohz_stats of 4.19, 5.4, 5.10.262 and 7.2. interval: a posting of January 2021
 * (update_nohz_stats with HZ/20). lazy is our own.
 * Deviations: packing does not cause a kick.
 */
#ifndef PELTON_IDLE_WALK_H
#define PELTON_IDLE_WALK_H

#include "newidle.h"

#define PELTON_BLOCKED_PERIOD_NS 32000000ull

/* Inputs of the decision on a walk. Marks are 0 or 1. */
struct pelton_idle_walk {
	u64 now_ticks;
	u64 next_blocked_ticks;
	u64 next_balance_ticks;
	u32 has_blocked;
	u32 running;    /* tasks of the CPU that ticks */
	u32 busy_cpus;  /* of its cache group */
	u32 asymmetric; /* capacities differ */
	u32 wants;      /* its running task would have more elsewhere: too big for it, or its capacity was taken */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_idle_walk) == 48, "size of pelton_idle_walk");

#define PELTON_WALK_STATS 1u
#define PELTON_WALK_BALANCE 2u

/* 1 = load of idle CPUs is refreshed by walks; 0 = by their readers. */
PELTON_INLINE u32 pelton_blocked_walks(const struct pelton_policy *pol)
{
	return pol->blocked_update != PELTON_BLOCKED_UPDATE_LAZY;
}

/* 1 = a CPU that looks for a task refreshes the load of the idle CPUs it looks at. */
PELTON_INLINE u32 pelton_blocked_scans(const struct pelton_policy *pol)
{
	return pol->blocked_update == PELTON_BLOCKED_UPDATE_SCAN ||
	       pol->blocked_update == PELTON_BLOCKED_UPDATE_INTERVAL;
}

/* Is the load of an idle CPU due, refreshed at `last_ticks`? `walk`: in the walk over idle CPUs, not in a search. */
PELTON_INLINE u32 pelton_blocked_due(const struct pelton_policy *pol, u64 now_ticks, u64 last_ticks, u64 tick_ns,
				     u32 walk)
{
	u64 wait = 0;

	if (walk && pol->idle_walk != PELTON_IDLE_WALK_ENTRY)
		return 1;
	if (pol->blocked_update == PELTON_BLOCKED_UPDATE_INTERVAL)
		wait = pelton_div_floor((u64)pol->blocked_update_us * 1000u, tick_ns);
	return now_ticks > last_ticks + wait;
}

/* Reasons for which a tick of a CPU with a task sends an idle one on the walk, PELTON_WALK_*; 0 = none. */
PELTON_INLINE u32 pelton_idle_walk_kick(const struct pelton_policy *pol, const struct pelton_idle_walk *w)
{
	u32 spread = w->busy_cpus > 1 && !(w->asymmetric && pol->idle_walk >= PELTON_IDLE_WALK_STATS_ASYM);
	u32 loads = pol->idle_walk != PELTON_IDLE_WALK_BALANCE && pelton_blocked_walks(pol);
	u32 why = 0;

	if (loads && w->has_blocked && w->now_ticks > w->next_blocked_ticks)
		why = PELTON_WALK_STATS;
	if (w->now_ticks >= w->next_balance_ticks && (w->running >= 2 || spread || w->wants))
		why |= PELTON_WALK_BALANCE;
	if (why && loads)
		why |= PELTON_WALK_STATS;
	return why;
}

/* 1 = a CPU that goes idle makes the walk itself. */
PELTON_INLINE u32 pelton_idle_walk_newly(const struct pelton_policy *pol, const struct pelton_idle_walk *w,
					 const struct pelton_newidle *n)
{
	if (pol->idle_walk == PELTON_IDLE_WALK_BALANCE || !pelton_blocked_walks(pol))
		return 0;
	if (n->avg_idle_ns < PELTON_MIGRATION_COST_NS)
		return 0;
	return w->has_blocked && w->now_ticks >= w->next_blocked_ticks;
}

/* Tick from which the next walk for load is due. */
PELTON_INLINE u64 pelton_idle_walk_next(u64 now_ticks, u64 tick_ns)
{
	return now_ticks + pelton_div_floor(PELTON_BLOCKED_PERIOD_NS + tick_ns - 1, tick_ns);
}

#endif
