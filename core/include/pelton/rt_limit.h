/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of the real-time class: its share of every period, and what a CPU borrows from the others.
 *
 *   each CPU: runtime (950 ms at first), time used, throttled
 *   at a tick with a real-time task running, unless throttled or runtime = period:
 *     time > runtime, rt_runtime_share: from each other CPU, min((its runtime - its time) / CPUs, period - runtime)
 *     time > runtime still                                                         -> throttled
 *   at the end of a period (of `overrun` periods at once):
 *     no sharing: runtime = 950 ms; sharing: a throttled CPU borrows again
 *     time = time - min(time, overrun * runtime);  throttled and time < runtime    -> not throttled
 *
 *   quantity       unit      range
 *   time           ns        0 .. 2^63
 *   runtime        ns        0 .. period
 *   period         ns        10^9 (sysctl_sched_rt_period), runtime 950 * 10^6 (sysctl_sched_rt_runtime)
 *   RR_TIMESLICE   ns        10^8 (sched_rr_timeslice at first): SCHED_RR takes turns after it
 *
 * Source: Linux kernel/sched/rt.c of 4.12, 4.16, 4.17, 4.19, 5.4, 5.10, 6.1, 6.6 (do_balance_runtime,
 * sched_rt_runtime_exceeded, do_sched_rt_period_timer), features.h (RT_RUNTIME_SHARE). From 6.12 on the fair server
 * keeps the class in bounds.
 * Deviations: time is checked at ticks, not also when a task blocks; no groups of real-time tasks; no change of the
 * sysctls.
 */
#ifndef PELTON_RT_LIMIT_H
#define PELTON_RT_LIMIT_H

#include "arith.h"
#include "policy.h"

#define PELTON_RT_PERIOD_NS 1000000000ull
#define PELTON_RT_RUNTIME_NS 950000000ull
#define PELTON_RR_TIMESLICE_NS 100000000ull

/* One CPU's share. */
struct pelton_rt_limit {
	u64 time_ns;
	u64 runtime_ns;
	u32 throttled;
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_rt_limit) == 24, "size of pelton_rt_limit");

/* 1 where the CPU used more than it has, and there may be more to have. */
PELTON_INLINE u32 pelton_rt_over(const struct pelton_rt_limit *own)
{
	return own->runtime_ns < PELTON_RT_PERIOD_NS && own->time_ns > own->runtime_ns;
}

/* Moves part of the unused runtime of another of `cpus` CPUs. */
PELTON_INLINE void pelton_rt_borrow(struct pelton_rt_limit *own, struct pelton_rt_limit *other, u32 cpus)
{
	u64 spare = pelton_sub_floor(other->runtime_ns, other->time_ns);
	u64 moved = pelton_div_floor(spare, pelton_max_u32(cpus, 1));

	moved = pelton_min_u64(moved, pelton_sub_floor(PELTON_RT_PERIOD_NS, own->runtime_ns));
	other->runtime_ns -= moved;
	own->runtime_ns += moved;
}

/* After borrowing: throttles a CPU that is over its limit. 1 = it just was. */
PELTON_INLINE u32 pelton_rt_exceeded(struct pelton_rt_limit *own)
{
	if (own->throttled || !pelton_rt_over(own))
		return 0;
	own->throttled = 1;
	return 1;
}

/* `overrun` periods are over. 1 = the CPU is no longer throttled. */
PELTON_INLINE u32 pelton_rt_replenish(struct pelton_rt_limit *own, u64 overrun)
{
	own->time_ns -= pelton_min_u64(own->time_ns, overrun * own->runtime_ns);
	if (!own->throttled || own->time_ns >= own->runtime_ns)
		return 0;
	own->throttled = 0;
	return 1;
}

/* Before that: without sharing every CPU has the same again. */
PELTON_INLINE void pelton_rt_equal(const struct pelton_policy *pol, struct pelton_rt_limit *own)
{
	if (!pol->rt_runtime_share)
		own->runtime_ns = PELTON_RT_RUNTIME_NS;
}

#endif
