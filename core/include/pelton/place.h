/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a fair task that wakes is put before an idle CPU near that place is looked for: on the CPU that wakes it, or on
 * the one it last ran on.
 *
 *   runnable_load (4.12)       R = load of the tasks that are runnable on a CPU
 *     alone:  R(this) is nothing but a waker that is about to sleep             -> this, when cap(prev) allows it
 *     here  = 100    * cap(prev) * (R(this) - waker + task)
 *     there = margin * cap(this) * R(prev)
 *     here <= there                                                             -> this, else prev
 *
 *   later                      L = R (4.16 to 5.4), or a CPU's load average, sleeping tasks included (5.10)
 *     this CPU is idle, same cache: prev if it is idle, else this
 *     the waker is about to sleep and alone: this
 *     idle_first (6.1): prev is idle: prev
 *     the waker is about to sleep and L(this) < waker: this
 *     here  = 100    * cap(prev) * (L(this) - waker + task)
 *     there = margin * cap(this) * (L(prev) - task)
 *     runnable_even (4.16): here <= there                                       -> this, else prev
 *     all others: here < there + 1 if the waker is about to sleep               -> this, else prev
 *
 *   margin = 100 + (imbalance - 100) / 2
 *   imbalance = 110 between threads of a core, 117 within a cache, beyond it 125 (to 5.4) or 117 (5.10)
 *
 *   quantity       unit      range
 *   load           weight    0 .. 88761 * tasks
 *   capacity       1/1024    0 .. 1024
 *   imbalance      percent
 *
 * Source: Linux kernel/sched/fair.c: 4.12 (wake_affine), 4.16, 4.17, 4.19, 5.4, 5.10, 6.1, 6.6, 6.12, 6.18, 7.2
 * (wake_affine_idle, wake_affine_weight); kernel/sched/topology.c of the same releases (sd_init).
 * Deviations: sums below zero count as zero, which needs groups in 4.12's form; place_group.h has what groups make of
 * the loads.
 */
#ifndef PELTON_PLACE_H
#define PELTON_PLACE_H

#include "arith.h"
#include "policy.h"

/* Inputs of the choice between the waking and the previous CPU. */
struct pelton_wake {
	u64 this_load;
	u64 prev_load;
	u64 task_load;
	u64 waker_load;
	u32 this_capacity;
	u32 prev_capacity;
	u32 siblings;  /* both CPUs are threads of one core */
	u32 sync;      /* the waker is about to sleep */
	u32 this_idle; /* the waking CPU runs nothing, and shares its cache with prev */
	u32 prev_idle;
	u32 this_running; /* runnable tasks of the waking CPU */
	u32 far;          /* the two CPUs share no cache */
};

_Static_assert(sizeof(struct pelton_wake) == 64, "size of pelton_wake");

/* Load that stays on the waking CPU. */
PELTON_INLINE u64 pelton_wake_stays(const struct pelton_wake *w)
{
	return w->sync ? pelton_sub_floor(w->this_load, w->waker_load) : w->this_load;
}

/* Do loads of a CPU leave out tasks that sleep? */
PELTON_INLINE u32 pelton_wake_reads_runnable(const struct pelton_policy *pol)
{
	return pol->wake_affine <= PELTON_WAKE_AFFINE_RUNNABLE_LESS;
}

/* Half of the difference of load that is no reason to move, percent. */
PELTON_INLINE u64 pelton_wake_margin(const struct pelton_policy *pol, const struct pelton_wake *w)
{
	u32 imbalance_pct = w->far && pelton_wake_reads_runnable(pol) ? 125 : 117;

	if (w->siblings)
		imbalance_pct = 110;
	return 100u + (imbalance_pct - 100u) / 2u;
}

/* Does the waking CPU attract the task? Nothing but loads is asked. */
PELTON_INLINE u32 pelton_wake_by_runnable_load(const struct pelton_policy *pol, const struct pelton_wake *w)
{
	u64 stays = pelton_wake_stays(w);
	u64 here = 100u * (u64)w->prev_capacity;
	u64 there = pelton_wake_margin(pol, w) * w->this_capacity;

	/* Nothing stays: only capacity decides. */
	if (stays) {
		here *= stays + w->task_load;
		there *= w->prev_load;
	}
	return here <= there;
}

/* Does the waking CPU attract the task, once idle CPUs have not decided? */
PELTON_INLINE u32 pelton_wake_affine_weight(const struct pelton_policy *pol, const struct pelton_wake *w)
{
	u64 here, there;

	if (w->sync && w->waker_load > w->this_load)
		return 1;
	here = 100u * (u64)w->prev_capacity * (pelton_wake_stays(w) + w->task_load);
	there = pelton_wake_margin(pol, w) * w->this_capacity * pelton_sub_floor(w->prev_load, w->task_load);
	if (pol->wake_affine == PELTON_WAKE_AFFINE_RUNNABLE_EVEN)
		return here <= there;
	return here < there + (w->sync != 0);
}

/* 1 = the search for an idle CPU starts at the waking CPU, 0 = at the previous one. */
PELTON_INLINE u32 pelton_wake_affine(const struct pelton_policy *pol, const struct pelton_wake *w)
{
	if (pol->wake_affine == PELTON_WAKE_AFFINE_RUNNABLE_LOAD)
		return pelton_wake_by_runnable_load(pol, w);
	if (w->this_idle)
		return !w->prev_idle;
	if (w->sync && w->this_running == 1)
		return 1;
	if (w->prev_idle && pol->wake_affine == PELTON_WAKE_AFFINE_IDLE_FIRST)
		return 0;
	return pelton_wake_affine_weight(pol, w);
}

/* A waker and a wakee that talk to many others should not be pulled together: `flips` count changes of partner. */
PELTON_INLINE u32 pelton_wake_wide(u32 waker_flips, u32 wakee_flips, u32 llc_size)
{
	u32 more = pelton_max_u32(waker_flips, wakee_flips);
	u32 less = pelton_min_u32(waker_flips, wakee_flips);

	return less >= llc_size && more >= (u64)less * llc_size;
}

#endif
