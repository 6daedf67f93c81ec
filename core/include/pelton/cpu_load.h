/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of a CPU that fade over ticks (cpu_load[]), which balances up to 4.19 compare instead of the present load.
 *
 *   at a tick                  load[0] = present
 *                              load[i] = (load[i] * (2^i - 1) + present) >> i, rounded up where it grows
 *   the tick stops             load[0] = present: what the CPU is taken to have while it does not tick
 *   n ticks were left out      before that, n - 1 times: load[i] = load[0] + (load[i] - load[0]) * (1 - 2^-i), by a table of
 *                              powers: bit j of n - 1 multiplies by floor(128 * (1 - 2^-i) ^ (2^j)) / 128
 *
 *   quantity   unit
 *   load       weight, of the runnable fair tasks
 *   ticks      ticks (jiffies)
 *
 * Source: Linux 4.12, 4.16, 4.19 kernel/sched/fair.c (cpu_load_update, decay_load_missed, cpu_load_update_nohz,
 * cpu_load_update_nohz_start, cpu_load_update_nohz_stop, cpu_load_update_periodic, cpu_load_update_idle).
 * Deviations: none known.
 */
#ifndef PELTON_CPU_LOAD_H
#define PELTON_CPU_LOAD_H

#include "arith.h"

#define PELTON_CPU_LOADS 5u

/* All zero at boot. */
struct pelton_cpu_load {
	u64 load[PELTON_CPU_LOADS];
	u64 last_ticks;
};

_Static_assert(sizeof(struct pelton_cpu_load) == 48, "layout");

/* Rest of 128 parts after 2^power steps of load[i], i = 1 to 4. */
PELTON_INLINE u32 pelton_cpu_load_kept(u32 i, u32 power)
{
	static const u8 kept[PELTON_CPU_LOADS - 1][8] = {
		{ 64, 32, 8, 0, 0, 0, 0, 0 },
		{ 96, 72, 40, 12, 1, 0, 0, 0 },
		{ 112, 98, 75, 43, 15, 1, 0, 0 },
		{ 120, 112, 98, 76, 45, 16, 2, 0 },
	};

	return kept[(i - 1) & 3u][power & 7u];
}

/* load[i] after `missed` ticks without load. */
PELTON_INLINE u64 pelton_decay_load_missed(u64 load, u64 missed, u32 i)
{
	static const u32 zero_after[PELTON_CPU_LOADS] = { 0, 8, 32, 64, 128 };
	u32 power;

	if (missed >= zero_after[i])
		return 0;
	if (i == 1)
		return load >> missed;
	for (power = 0; power < 7; power++)
		if (missed >> power & 1)
			load = load * pelton_cpu_load_kept(i, power) >> 7;
	return load;
}

/* `pending` ticks have passed since the last update; the load is `now` at the last of them. */
PELTON_INLINE void pelton_cpu_load_update(struct pelton_cpu_load *l, u64 now, u64 pending)
{
	u64 before = l->load[0];
	u32 i;

	l->load[0] = now;
	for (i = 1; i < PELTON_CPU_LOADS; i++) {
		u64 old = pelton_decay_load_missed(l->load[i], pending - 1, i), add = now;

		if (before)
			old += before - pelton_decay_load_missed(before, pending - 1, i);
		if (add > old)
			add += (1u << i) - 1;
		l->load[i] = (old * ((1u << i) - 1) + add) >> i;
	}
}

/* A tick. */
PELTON_INLINE void pelton_cpu_load_tick(struct pelton_cpu_load *l, u64 now, u64 now_ticks)
{
	l->last_ticks = now_ticks;
	pelton_cpu_load_update(l, now, 1);
}

/* The tick stops. */
PELTON_INLINE void pelton_cpu_load_nohz_start(struct pelton_cpu_load *l, u64 now)
{
	l->load[0] = now;
}

/* The tick starts again, or a balance is made for a CPU without tick and without load. */
PELTON_INLINE void pelton_cpu_load_nohz(struct pelton_cpu_load *l, u64 now, u64 now_ticks)
{
	u64 pending = now_ticks - l->last_ticks;

	if (!pending)
		return;
	l->last_ticks = now_ticks;
	pelton_cpu_load_update(l, now, pending);
}

#endif
