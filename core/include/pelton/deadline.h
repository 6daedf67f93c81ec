/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SCHED_DEADLINE: the constant bandwidth server of one task, and the admission of reservations.
 *
 *   before(a, b)          a - b < 0 as a signed number
 *   overflow(t)           (D >> 10) * (left >> 10)  >  ((d - t) >> 10) * (Q >> 10)
 *   new period at t       d = t + D, left = Q
 *   wake-up at t          d before t, or overflow: new period; but with D != P and d not before t: left = density * (d - t) >> 20
 *   activation at t       with D != P, d before t and t before the next period: throttled, nothing left
 *   runs for x            left -= (x * freq_scale >> 10) * cap >> 10;   left <= 0, or yielded: throttled until d - D + P
 *   replenishment at t    while left <= 0: d += P, left += Q;   d before t: new period
 *   0-lag time            d - left * P / Q
 *   admission             95 % of a CPU * CPUs (or of the capacity)  <  sum - old + new   -> refused
 *
 *   quantity                       unit     range
 *   Q (runtime), D, P              ns       1024 <= Q <= D <= P <= 2^22 us
 *   left                           ns       what is left of Q; below 0 after an overrun
 *   d                              ns       absolute deadline
 *   bw = Q / P, density = Q / D    Q20
 *
 * Source: Linux kernel/sched/deadline.c of 4.12, 4.16, 4.19, 5.4, 5.10, 6.1, 6.6, 6.12, 6.18, 7.2 (dl_entity_overflow,
 * update_dl_entity, update_dl_revised_wakeup, dl_check_constrained_dl, replenish_dl_entity, dl_next_period,
 * start_dl_timer, update_curr_dl, update_curr_dl_se, dl_scaled_delta_exec, task_non_contending, __dl_overflow,
 * __setparam_dl, enqueue_task_dl, enqueue_dl_entity). Deviations: no bandwidth reclaiming (SCHED_FLAG_RECLAIM), no
 * priority inheritance; the server of the fair class is in dl_server.h. A replenishment is one division instead of a
 * loop; a reservation of nothing gets one period of nothing.
 */
#ifndef PELTON_DEADLINE_H
#define PELTON_DEADLINE_H

#include "bandwidth.h"
#include "policy.h"

#define PELTON_DL_SCALE 10
#define PELTON_HRTICK_MIN_NS 10000
#define PELTON_DL_LIMIT_NONE (~0ull)
/* Largest limit that is one: all of a CPU. */
#define PELTON_DL_LIMIT_MAX (1ull << 20)

/* The kernel's sched_dl_entity, as far as it is arithmetic. */
struct pelton_dl_entity {
	s64 runtime_ns;  /* left */
	u64 deadline_ns; /* absolute */
	u64 dl_runtime_ns;
	u64 dl_deadline_ns;
	u64 dl_period_ns;
	u64 dl_bw;
	u64 dl_density;
	u32 dl_throttled;
	u32 dl_yielded;
};

_Static_assert(sizeof(struct pelton_dl_entity) == 64, "size of pelton_dl_entity");

PELTON_INLINE u32 pelton_dl_time_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* Parameters of a reservation; what it was in the middle of stays. */
PELTON_INLINE void pelton_setparam_dl(struct pelton_dl_entity *dl, u64 runtime_ns, u64 deadline_ns, u64 period_ns)
{
	dl->dl_runtime_ns = runtime_ns;
	dl->dl_deadline_ns = deadline_ns;
	dl->dl_period_ns = period_ns ? period_ns : deadline_ns;
	dl->dl_bw = pelton_dl_bw(runtime_ns, dl->dl_period_ns);
	dl->dl_density = pelton_dl_bw(runtime_ns, deadline_ns);
}

PELTON_INLINE u32 pelton_dl_is_implicit(const struct pelton_dl_entity *dl)
{
	return dl->dl_deadline_ns == dl->dl_period_ns;
}

PELTON_INLINE u64 pelton_dl_next_period(const struct pelton_dl_entity *dl)
{
	return dl->deadline_ns - dl->dl_deadline_ns + dl->dl_period_ns;
}

/* Would the rest of the runtime, used until the deadline, be denser than the reservation? */
PELTON_INLINE u32 pelton_dl_entity_overflow(const struct pelton_dl_entity *dl, u64 now_ns)
{
	/* Negative runtimes shift like the kernel's: the sign stays. */
	u64 left = (dl->dl_deadline_ns >> PELTON_DL_SCALE) * (u64)(dl->runtime_ns >> PELTON_DL_SCALE);
	u64 right = ((dl->deadline_ns - now_ns) >> PELTON_DL_SCALE) * (dl->dl_runtime_ns >> PELTON_DL_SCALE);

	return pelton_dl_time_before(right, left);
}

PELTON_INLINE void pelton_dl_new_period(struct pelton_dl_entity *dl, u64 now_ns)
{
	dl->deadline_ns = now_ns + dl->dl_deadline_ns;
	dl->runtime_ns = (s64)dl->dl_runtime_ns;
}

PELTON_INLINE void pelton_update_dl_revised_wakeup(struct pelton_dl_entity *dl, u64 now_ns)
{
	dl->runtime_ns = (s64)((dl->dl_density * (dl->deadline_ns - now_ns)) >> PELTON_BW_SHIFT);
}

/* A task wakes up: it goes on with its runtime and deadline, or gets new ones. */
PELTON_INLINE void pelton_update_dl_entity(const struct pelton_policy *pol, struct pelton_dl_entity *dl, u64 now_ns)
{
	u32 late = pelton_dl_time_before(dl->deadline_ns, now_ns);

	if (!late && !pelton_dl_entity_overflow(dl, now_ns))
		return;
	if (pol->dl_constrained == PELTON_DL_CONSTRAINED_REVISED && !pelton_dl_is_implicit(dl) && !late)
		pelton_update_dl_revised_wakeup(dl, now_ns);
	else
		pelton_dl_new_period(dl, now_ns);
}

/* A task that is activated between its deadline and its next period waits for that period. */
PELTON_INLINE void pelton_dl_check_constrained(const struct pelton_policy *pol, struct pelton_dl_entity *dl, u64 now_ns)
{
	if (!pelton_dl_time_before(dl->deadline_ns, now_ns) ||
	    !pelton_dl_time_before(now_ns, pelton_dl_next_period(dl)))
		return;
	dl->dl_throttled = 1;
	if (pol->dl_constrained == PELTON_DL_CONSTRAINED_REVISED && dl->runtime_ns > 0)
		dl->runtime_ns = 0;
}

/* A task becomes runnable. 1 = it may run; 0 = it waits for its replenishment. */
PELTON_INLINE u32 pelton_enqueue_dl(const struct pelton_policy *pol, struct pelton_dl_entity *dl, u64 now_ns,
				    u32 wakeup)
{
	if (!dl->dl_throttled && !pelton_dl_is_implicit(dl))
		pelton_dl_check_constrained(pol, dl, now_ns);
	if (dl->dl_throttled)
		return 0;
	if (wakeup)
		pelton_update_dl_entity(pol, dl, now_ns);
	return 1;
}

/* An entity that has nothing left moves on by as many periods as it takes to have something. */
PELTON_INLINE void pelton_dl_refill(struct pelton_dl_entity *dl)
{
	u64 periods;

	if (dl->runtime_ns > 0)
		return;
	periods = pelton_div_floor(0 - (u64)dl->runtime_ns, dl->dl_runtime_ns) + 1;
	dl->deadline_ns += periods * dl->dl_period_ns;
	dl->runtime_ns = (s64)((u64)dl->runtime_ns + periods * dl->dl_runtime_ns);
}

/* Next budget; an entity that is a period behind nevertheless starts anew. */
PELTON_INLINE void pelton_replenish_dl_entity(struct pelton_dl_entity *dl, u64 now_ns)
{
	if (!dl->dl_deadline_ns)
		pelton_dl_new_period(dl, now_ns);
	if (dl->dl_yielded && dl->runtime_ns > 0)
		dl->runtime_ns = 0;
	pelton_dl_refill(dl);
	if (pelton_dl_time_before(dl->deadline_ns, now_ns))
		pelton_dl_new_period(dl, now_ns);
	dl->dl_yielded = 0;
	dl->dl_throttled = 0;
}

PELTON_INLINE u32 pelton_dl_runtime_exceeded(const struct pelton_dl_entity *dl)
{
	return dl->runtime_ns <= 0;
}

PELTON_INLINE u64 pelton_dl_scaled_delta_exec(const struct pelton_policy *pol, u64 delta_ns, u32 freq_scale, u32 cap)
{
	if (pol->dl_runtime == PELTON_DL_RUNTIME_WALL)
		return delta_ns;
	return pelton_cap_scale(pelton_cap_scale(delta_ns, freq_scale), cap);
}

/* A task ran for delta_ns. 1 = it was throttled: a timer has to replenish it, or, when that is past, the caller. */
PELTON_INLINE u32 pelton_update_curr_dl(const struct pelton_policy *pol, struct pelton_dl_entity *dl, u64 delta_ns,
					u32 freq_scale, u32 cap)
{
	u64 used = 0;

	if ((s64)delta_ns > 0)
		used = pelton_dl_scaled_delta_exec(pol, delta_ns, freq_scale, cap);
	else if (!dl->dl_yielded)
		return 0;
	dl->runtime_ns = (s64)((u64)dl->runtime_ns - used);
	if (!pelton_dl_runtime_exceeded(dl) && !dl->dl_yielded)
		return 0;
	dl->dl_throttled = 1;
	return 1;
}

/* Time until the high-resolution tick asks again, where there is one, ns: not scaled runtime. */
PELTON_INLINE u64 pelton_dl_hrtick(const struct pelton_dl_entity *dl)
{
	s64 least = PELTON_HRTICK_MIN_NS;

	return (u64)(dl->runtime_ns > least ? dl->runtime_ns : least);
}

/* Does a timer for `at_ns` start? Not when that is at least a microsecond ago. */
PELTON_INLINE u32 pelton_dl_timer_starts(u64 at_ns, u64 now_ns)
{
	return (s64)(at_ns - now_ns) > -(s64)PELTON_NSEC_PER_USEC;
}

/* Time at which the bandwidth of a task that sleeps is free again, ns. */
PELTON_INLINE u64 pelton_dl_zero_lag(const struct pelton_dl_entity *dl)
{
	u64 product = (u64)dl->runtime_ns * dl->dl_period_ns;

	/* A signed division that cuts towards zero. */
	if ((s64)product < 0)
		return dl->deadline_ns + pelton_div_floor(0 - product, dl->dl_runtime_ns);
	return dl->deadline_ns - pelton_div_floor(product, dl->dl_runtime_ns);
}

/* Is there no room for `add` in place of `old`? limit_bw: what of one CPU may be reserved (0.95 of 2^20). */
PELTON_INLINE u32 pelton_dl_overflow(const struct pelton_policy *pol, u64 limit_bw, u64 total_bw, u64 old_bw,
				     u64 add_bw, u32 cpus, u64 capacity)
{
	u64 room;

	if (limit_bw > PELTON_DL_LIMIT_MAX)
		return 0;
	if (pol->dl_admission == PELTON_DL_ADMISSION_CAPACITY)
		room = (limit_bw * capacity) >> PELTON_CAPACITY_SHIFT;
	else
		room = limit_bw * cpus;
	return room < total_bw - old_bw + add_bw;
}

#endif
