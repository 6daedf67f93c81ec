/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a wake-up asks before it searches: this CPU or prev, and to 5.4 whether they are too small for the task.
 *
 *   this CPU against prev    (load here + task) * 100 * capacity there   <   (load there - task) * m * capacity here
 *   m = 100 + (pct - 100) / 2
 *
 *   quantity   unit       range
 *   load       weight     0 .. 88761 * tasks
 *   capacity   capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/fair.c (select_task_rq_fair, wake_affine, wake_affine_idle, wake_affine_weight); 4.12,
 * 4.16.13, 4.19, 5.4 with wake_cap. Deviations: those of select.h.
 */
#ifndef PELTON_SELECT_WAKE_H
#define PELTON_SELECT_WAKE_H

#include "place.h"
#include "select_group.h"

/* Tasks of a CPU whose dequeue is delayed do not count as running. */
PELTON_INLINE u32 pelton_nr_not_delayed(const struct pelton_place_cpu *c)
{
	return c->nr_running - (c->h_nr_queued - c->h_nr_runnable);
}

/* Keeps what is compared. */
PELTON_INLINE void pelton_weighed(struct pelton_placed *out, u64 this_eff, u64 prev_eff)
{
	out->weighed = PELTON_WEIGHED_LOADS;
	out->this_eff = this_eff;
	out->prev_eff = prev_eff;
}

/* 4.12: nothing but loads of runnable tasks is asked. */
PELTON_INLINE u32 pelton_place_wake_by_runnable(const struct pelton_placement *s, struct pelton_placed *out,
						u32 imbalance_pct, u32 sync)
{
	const struct pelton_place_cpu *here = pelton_place_cpu_of(s, s->this_cpu);
	const struct pelton_place_cpu *there = pelton_place_cpu_of(s, s->prev_cpu);
	u64 this_load = here->load, prev_load = there->load;
	u64 this_eff = 100u * (u64)there->capacity;
	u64 prev_eff = (100u + (imbalance_pct - 100u) / 2u) * (u64)here->capacity;

	if (sync) {
		this_load += (u64)s->waker.shift_here - s->waker.load;
		prev_load += (u64)s->waker.shift_there;
	}
	/* When nothing stays here only capacities decide. */
	if ((s64)this_load > 0) {
		this_eff *= this_load + out->se.avg.load_avg + (u64)s->task.shift_here;
		prev_eff *= prev_load + (u64)s->task.shift_there;
	}
	pelton_weighed(out, this_eff, prev_eff);
	return (s64)this_eff <= (s64)prev_eff ? s->this_cpu : s->prev_cpu;
}

/* Loads decide between this CPU and prev. */
PELTON_INLINE u32 pelton_place_wake_affine_weight(const struct pelton_policy *pol, const struct pelton_placement *s,
						  struct pelton_placed *out, u32 imbalance_pct, u32 sync)
{
	const struct pelton_place_cpu *here = pelton_place_cpu_of(s, s->this_cpu);
	const struct pelton_place_cpu *there = pelton_place_cpu_of(s, s->prev_cpu);
	u64 waker = pelton_div_floor(s->waker.load * s->waker.queue_h_load, s->waker.queue_load + 1);
	u64 task = pelton_place_h_load(s, out);
	u64 margin = 100u + (imbalance_pct - 100u) / 2u, load = here->load, this_eff, prev_eff;

	if (sync) {
		if (waker > load) {
			out->weighed = PELTON_WEIGHED_EMPTIED;
			return s->this_cpu;
		}
		load -= waker;
	}
	/* The previous CPU's load may be below the task's: the products are compared as signed numbers. */
	this_eff = (load + task) * 100u * there->capacity;
	prev_eff = (there->load - task) * margin * here->capacity;
	/* Up to 4.16 what is even goes to this CPU, later only when the waker is about to sleep. */
	prev_eff += sync || pol->wake_affine == PELTON_WAKE_AFFINE_RUNNABLE_EVEN;
	pelton_weighed(out, this_eff, prev_eff);
	return (s64)this_eff < (s64)prev_eff ? s->this_cpu : s->prev_cpu;
}

/* This CPU or prev: near which of them an idle CPU is looked for. */
PELTON_INLINE u32 pelton_place_wake_affine(const struct pelton_policy *pol, const struct pelton_placement *s,
					   struct pelton_placed *out, u32 imbalance_pct, u32 sync)
{
	u32 prev_idle = pelton_available_idle_cpu(s, s->prev_cpu);

	if (pol->wake_affine == PELTON_WAKE_AFFINE_RUNNABLE_LOAD) {
		out->affine = PELTON_AFFINE_WEIGHT;
		return pelton_place_wake_by_runnable(s, out, imbalance_pct, sync);
	}
	if (pelton_available_idle_cpu(s, s->this_cpu) && pelton_cpus_share_cache(s, s->this_cpu, s->prev_cpu)) {
		out->affine = PELTON_AFFINE_IDLE_HERE;
		return prev_idle ? s->prev_cpu : s->this_cpu;
	}
	if (sync && pelton_nr_not_delayed(pelton_place_cpu_of(s, s->this_cpu)) == 1) {
		out->affine = PELTON_AFFINE_SYNC;
		return s->this_cpu;
	}
	if (prev_idle && pol->wake_affine == PELTON_WAKE_AFFINE_IDLE_FIRST) {
		out->affine = PELTON_AFFINE_IDLE_PREV;
		return s->prev_cpu;
	}
	out->affine = PELTON_AFFINE_WEIGHT;
	return pelton_place_wake_affine_weight(pol, s, out, imbalance_pct, sync);
}

/* Walks up the domains: the target of a wake-up, or in `level` the domain from which a slow search starts. */
PELTON_INLINE u32 pelton_select_target(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_placed *out, u32 affine, u32 sync, u32 *level)
{
	u32 i, levels = pelton_place_levels(s, s->this_cpu);

	*level = PELTON_NO_DOMAIN;
	for (i = 0; i < levels; i++) {
		const struct pelton_sched_domain *d = pelton_place_domain(s, s->this_cpu, i);

		if (affine && (d->flags & PELTON_SD_WAKE_AFFINE) && pelton_span_has(s, d->span, s->prev_cpu)) {
			*level = PELTON_NO_DOMAIN;
			if (s->this_cpu == s->prev_cpu)
				return s->prev_cpu;
			return pelton_place_wake_affine(pol, s, out, d->imbalance_pct, sync);
		}
		if (d->flags & s->flags & PELTON_WF_KIND)
			*level = i;
		else if (!affine)
			break;
	}
	return s->prev_cpu;
}

/* To 5.4: is the smaller of this CPU and prev clearly smaller than the largest, and too small for the task? */
PELTON_INLINE u32 pelton_wake_cap(const struct pelton_policy *pol, const struct pelton_placement *s,
				  struct pelton_placed *out)
{
	u32 i, max = 0, nr_cpus = pelton_min_u32(s->nr_cpus, PELTON_PLACE_CPUS_MAX);
	u32 min = pelton_min_u32(pelton_place_cpu_of(s, s->this_cpu)->state.cap_orig,
				 pelton_place_cpu_of(s, s->prev_cpu)->state.cap_orig);

	if (pol->wake_cap == PELTON_WAKE_CAP_OFF || !s->asymmetric)
		return 0;
	for (i = 0; i < nr_cpus; i++)
		max = pelton_place_larger(s, max, i);
	if (max - min < max >> 3)
		return 0;
	pelton_sync_entity_load_avg(pol, s, out);
	if (pol->wake_cap == PELTON_WAKE_CAP_UTIL)
		return (u64)min * 1024u < out->se.avg.util_avg * pol->capacity_margin;
	return !pelton_fits(pol, pelton_task_util_est(pol, &out->se), min, min);
}

#endif
