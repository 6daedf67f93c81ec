/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a CPU's tick comes.
 *
 *   skew_tick   CPU c ticks
 *   off         with all others
 *   on          c times (half a tick / number of CPUs) after CPU 0, so that they do not all want the same lock at once
 *
 *   quantity   unit   range
 *   tick       ns     10^6 .. 10^7
 *   skew       ns     0 .. half a tick
 *
 * Source: tick_setup_sched_timer(), Linux 4.12 to 7.2 kernel/time/tick-sched.c. Example: 250 ticks a second, 8 CPUs:
 * CPU 3 ticks 3 * (2 000 000 / 8) = 750 000 ns after CPU 0.
 */
#ifndef PELTON_TICK_H
#define PELTON_TICK_H

#include "policy.h"

PELTON_INLINE u64 pelton_tick_skew_ns(const struct pelton_policy *pol, u64 tick_ns, u32 cpu, u32 nr_cpus)
{
	if (pol->skew_tick == PELTON_SKEW_TICK_OFF || !nr_cpus)
		return 0;
	return (tick_ns >> 1) / nr_cpus * cpu;
}

#endif /* PELTON_TICK_H */
