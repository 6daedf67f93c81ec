/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When somebody brings the load of idle CPUs without tick up to date, so that it fades.
 *
 *   a CPU with a task, at its tick, sends an interrupt to the first idle CPU without tick, and that one walks all of them:
 *     to refresh load (stats, 4.17)   some has blocked load and now > next_blocked
 *     to balance                      now >= next_balance, and 2 tasks here or 2 CPUs busy in the cache group; that does
 *                                     not count on a machine with unequal capacities (stats_asym, 5.4)
 *   a CPU that goes idle walks itself (4.17), unless its mean idle time is below 500 us, when some has blocked load and
 *     now >= next_blocked
 *   after a walk for load: next_blocked = now + 32 ms rounded up to ticks
 *
 *   quantity       unit
 *   now, next_*    ticks (jiffies)
 *
 * Source: Linux kernel/sched/fair.c: 4.12, 4.16 (nohz_kick_needed, nohz_idle_balance, rebalance_domains); 4.17, 4.19, 5.4,
 * 5.10, 6.1, 6.6, 6.12, 6.18, 7.2 (nohz_balancer_kick, nohz_newidle_balance, _nohz_idle_balance, nohz_run_idle_balance).
 * Deviations: reduced capacity, packing and misfit tasks do not cause a kick.
 */
#ifndef PELTON_IDLE_WALK_H
#define PELTON_IDLE_WALK_H

#include "newidle.h"

#define PELTON_BLOCKED_PERIOD_NS 32000000ull

/* What the decision reads. Marks are 0 or 1. */
struct pelton_idle_walk {
	u64 now_ticks;
	u64 next_blocked_ticks;
	u64 next_balance_ticks;
	u32 has_blocked;
	u32 running;    /* tasks of the CPU that ticks */
	u32 busy_cpus;  /* of its cache group */
	u32 asymmetric; /* capacities differ */
};

_Static_assert(sizeof(struct pelton_idle_walk) == 40, "size of pelton_idle_walk");

#define PELTON_WALK_STATS 1u
#define PELTON_WALK_BALANCE 2u

/* Why a tick of a CPU with a task sends an idle one on the walk; 0 = it does not. */
PELTON_INLINE u32 pelton_idle_walk_kick(const struct pelton_policy *pol, const struct pelton_idle_walk *w)
{
	u32 spread = w->busy_cpus > 1 && !(w->asymmetric && pol->idle_walk >= PELTON_IDLE_WALK_STATS_ASYM);
	u32 why = 0;

	if (pol->idle_walk != PELTON_IDLE_WALK_BALANCE && w->has_blocked && w->now_ticks > w->next_blocked_ticks)
		why = PELTON_WALK_STATS;
	if (w->now_ticks >= w->next_balance_ticks && (w->running >= 2 || spread))
		why |= PELTON_WALK_BALANCE;
	if (why && pol->idle_walk != PELTON_IDLE_WALK_BALANCE)
		why |= PELTON_WALK_STATS;
	return why;
}

/* 1 = a CPU that goes idle makes the walk itself. */
PELTON_INLINE u32 pelton_idle_walk_newly(const struct pelton_policy *pol, const struct pelton_idle_walk *w,
					 const struct pelton_newidle *n)
{
	if (pol->idle_walk == PELTON_IDLE_WALK_BALANCE || n->avg_idle_ns < PELTON_MIGRATION_COST_NS)
		return 0;
	return w->has_blocked && w->now_ticks >= w->next_blocked_ticks;
}

/* When the next one for load is due. */
PELTON_INLINE u64 pelton_idle_walk_next(u64 now_ticks, u64 tick_ns)
{
	return now_ticks + pelton_div_floor(PELTON_BLOCKED_PERIOD_NS + tick_ns - 1, tick_ns);
}

#endif
