/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a task goes whose CPU is not among those that it may use from now on.
 *
 *   first    the smallest allowed CPU
 *   spread   the smallest allowed CPU above `prev`; there is none: the smallest allowed one
 *            prev = what the same CPU found last, also for a task that could stay; 0 = nothing yet
 *
 *   rank     smallest = chosen: first: cpu, spread: cpu + (cpu <= prev ? PELTON_AFFINITY_BEHIND : 0)
 *
 *   quantity    unit      range
 *   cpu, prev   number    0 .. 65535
 *
 * The choice does not ask whether a CPU is idle, fits, or shares a cache.
 *
 * Source: Linux 4.12, 5.4 kernel/sched/core.c (__set_cpus_allowed_ptr); 5.10.262, 6.1.192, 6.12.118, 7.2.12
 * kernel/sched/core.c (__set_cpus_allowed_ptr), lib/cpumask.c (cpumask_any_and_distribute).
 * Deviations: all CPUs are active, so that no task falls back to a CPU outside its mask.
 */
#ifndef PELTON_AFFINITY_H
#define PELTON_AFFINITY_H

#include "policy.h"

/* Above every number of a CPU. */
#define PELTON_AFFINITY_BEHIND 65536u

/* The allowed CPU of the smallest rank is chosen; `prev` is what the CPU that asks found last. */
PELTON_INLINE u32 pelton_affinity_rank(const struct pelton_policy *pol, u32 cpu, u32 prev)
{
	u32 behind = pol->affinity == PELTON_AFFINITY_SPREAD && cpu <= prev;

	return behind ? cpu + PELTON_AFFINITY_BEHIND : cpu;
}

#endif
