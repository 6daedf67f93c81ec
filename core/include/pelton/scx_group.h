/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Task groups where the core is the scheduler of sched_ext, whose CPUs have one queue each without groups in it.
 *
 *   weight   of a task in its queue: its part of what the groups above it are entitled to, level by level
 *              weight * shares / load
 *            `load`: weights of the group's tasks and groups that run or wait anywhere, its own among them
 *   quota    each group has one pool of time for all CPUs; what runs takes from it, and waits while it is empty. What
 *            was taken too much is missing later, so that the quota holds on average.
 *
 *   group A of shares 1024 with three tasks of 1024, group B of the same with one:   A's tasks have 341, B's 1024
 *   quota 20 ms, burst 10 ms, 5 ms left at the end of a period:                      25 ms; of 12 ms, 30 ms
 *
 *   quantity       unit                     range
 *   weight         1024 << 10 = nice 0      2 .. 2^28
 *   shares         1024 = nice 0            2 .. 2^18
 *   load           1024 = nice 0            any
 *   quota, burst   ns                       1 .. 2^54
 *   left           ns                       -2^54 .. 2^55
 *
 * Source: our own rules; what Linux 7.2 kernel/sched/fair.c (calc_group_shares, update_cfs_group,
 * __refill_cfs_bandwidth_runtime) comes to while tasks run on.
 * Deviations: weights of what is runnable now, where the kernel has load averages of what was; no slices for CPUs.
 */
#ifndef PELTON_SCX_GROUP_H
#define PELTON_SCX_GROUP_H

#include "fair_weight.h"

#define PELTON_SCX_WEIGHT_MIN 2u

/* Weight that is left of `weight` one level up. It is a part of the load, whatever others just made of that. */
PELTON_INLINE u64 pelton_scx_share(u64 weight, u64 shares, s64 load)
{
	u64 own = pelton_max_u64(1, pelton_scale_load_down(weight)), all = load > (s64)own ? (u64)load : own;

	return pelton_max_u64(PELTON_SCX_WEIGHT_MIN, weight * shares / all);
}

/* Periods that have ended since `ends_ns`, the one that ends then among them. */
PELTON_INLINE u64 pelton_scx_periods(u64 now, u64 ends_ns, u64 period_ns)
{
	return now < ends_ns ? 0 : 1 + (now - ends_ns) / pelton_max_u64(1, period_ns);
}

/* Time that a pool gets at the end of so many periods. */
PELTON_INLINE u64 pelton_scx_refill(s64 left, u64 quota_ns, u64 burst_ns, u64 periods)
{
	s64 room = (s64)(quota_ns + burst_ns) - left;

	if (room <= 0)
		return 0;
	return periods > (u64)room / pelton_max_u64(1, quota_ns) ? (u64)room : periods * quota_ns;
}

#endif
