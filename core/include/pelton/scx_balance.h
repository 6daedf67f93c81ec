/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Balance where the core is the scheduler of sched_ext, whose tasks no balance of the kernel sees: a CPU without tasks
 * takes a waiting one, one with few looks for a longer queue now and then, a task that outgrew its CPU is sent on.
 *
 *   takes from   the CPU with most tasks, of those with `longer` more than its own and one that waits beside another;
 *                of its own cache first
 *   wakes        the largest idle CPU that the first waiting task may use; of the same cache first
 *   sends on     a running task that its CPU is too small for, to the largest idle CPU that is larger
 *
 * A host looks at all CPUs in order and keeps the best one; the functions here are one step of such a loop. As in the
 * kernel (sched_balance_find_src_group) nothing is taken while energy decides where tasks run and no CPU is
 * over-utilized.
 *
 *   CPU 0 idle, CPUs 1 to 3 with 2, 4, 3 tasks, 3 of another cache than the others:   0 takes from 2
 *   CPU 0 with 2, the same others:   looks for 4 and more, takes from 2
 *
 *   quantity       unit       range
 *   nr_queued      tasks      those of sched_ext that run or wait on the CPU
 *   cap_orig       capacity   1 .. 1024
 *
 * Source: our own rules. Linux 7.2 kernel/sched/ext.c has no balance, kernel/sched/fair.c has one
 * (sched_balance_newidle, nohz_balancer_kick).
 * Deviations: by number of tasks, not by load.
 */
#ifndef PELTON_SCX_BALANCE_H
#define PELTON_SCX_BALANCE_H

#include "arith.h"

/* By how many tasks a queue is longer that a CPU without tasks takes from, and one that looks at its tick. */
#define PELTON_SCX_LONGER_NEWIDLE 1u
#define PELTON_SCX_LONGER_TICK 2u
/* Ticks between two looks at the tick. */
#define PELTON_SCX_BALANCE_TICKS 4u
/* Blocked averages of idle CPUs are brought up to now so often (kernel/sched/fair.c, LOAD_AVG_PERIOD), ns. */
#define PELTON_SCX_REFRESH_NS 32000000u

/* Are tasks left where they are? */
PELTON_INLINE u32 pelton_scx_holds_balance(u32 energy_aware, u32 overutilized)
{
	return energy_aware && !overutilized;
}

/* Does a task wait beside the running one, if one of sched_ext runs? */
PELTON_INLINE u32 pelton_scx_is_long(u32 nr_queued, u32 has_curr)
{
	return nr_queued >= 1u + has_curr;
}

/*
 * Is this queue a better one to take from than the best so far, of `most` tasks and `most_near` its cache? `least`: the
 * taker's number of tasks and how many more there must be; `near`: of the taker's cache.
 */
PELTON_INLINE u32 pelton_scx_is_longer(u32 nr_queued, u32 has_curr, u32 near, u32 least, u32 most, u32 most_near)
{
	if (!pelton_scx_is_long(nr_queued, has_curr) || nr_queued < least)
		return 0;
	return near > most_near || (near == most_near && nr_queued > most);
}

/* Room of an idle CPU for a task that waits elsewhere: the CPU with the most is woken. `near`: of that one's cache. */
PELTON_INLINE u32 pelton_scx_idle_room(u32 cap_orig, u32 near)
{
	return cap_orig + (near << 16);
}

#endif
