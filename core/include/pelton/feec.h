/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy-aware placement of a task that wakes: of each performance domain the CPU with most room, of those and the
 * previous CPU the one that adds least energy.
 *
 *   room(c)    = cap(c) - util of c with the task, of the CPUs that the task fits (fits.h)
 *   busy(d)    = sum of effective utilization of the domain's CPUs without the task, at most A * CPUs
 *   E(d, dst)  = cost of the state that serves the busiest CPU * (busy + what the task runs, when it comes to d)
 *   added      = E(d, dst) - E(d, nowhere)
 *
 *   a candidate that fits wins over one whose floor is lost; among those that fit the smallest addition wins, among
 *   those whose floor is lost the largest A; the previous CPU wins ties.
 *
 *   quantity       unit                              range
 *   util, cap, A   capacity                          0 .. 1024
 *   energy         cost * capacity (energy.h)        u64
 *
 * Source: Linux 7.2 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy, eenv_task_busy_time,
 * eenv_pd_busy_time, eenv_pd_max_util); 6.1.192, 6.12.117 the same; 6.1 kernel/sched/core.c (effective_cpu_util,
 * uclamp_rq_util_with). feec_margin.h has the form up to 5.15. Deviations: CPUs that are offline are not in the record.
 */
#ifndef PELTON_FEEC_H
#define PELTON_FEEC_H

#include "feec_energy.h"
#include "feec_margin.h"

/* What the search carries from one performance domain to the next. */
struct pelton_feec {
	u64 task_busy;
	u64 prev_delta;
	u64 best_delta;
	u32 best_cpu;
	s32 prev_fits;
	s32 best_fits;
	u32 prev_actual;
	u32 best_actual;
	u32 done; /* the answer is the previous CPU, whatever comes */
};

/* The domain that is looked at. */
struct pelton_feec_domain {
	u64 busy; /* of its CPUs without the task */
	u64 capacity;
	u32 index;
	u32 actual; /* of each of its CPUs */
	s64 none;   /* what counts as no room: none at all, or nothing looked at */
	s64 prev_spare;
	s64 max_spare;
	u32 max_spare_cpu;
	s32 max_fits;
	s32 prev_fits;
};

PELTON_INLINE u64 pelton_eenv_task_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_placed *out)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, s->prev_cpu)->state;
	u32 util = pelton_place_task_util(pol, s, out);

	if (c->util_irq >= c->cap_orig)
		return c->cap_orig;
	return pelton_mul_div_floor(util, c->cap_orig - c->util_irq, c->cap_orig);
}

/* Energy of the domain with the task on `dst`; PELTON_NO_CPU: without it. */
PELTON_INLINE u64 pelton_compute_energy(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, const struct pelton_feec *f,
					const struct pelton_feec_domain *d, u32 dst)
{
	struct pelton_place_energy e = { .cpu = dst, .perf_domain = d->index };
	u64 busy = d->busy;

	if (dst != PELTON_NO_CPU)
		busy = pelton_min_u64(d->capacity, busy + f->task_busy);
	e.busy = (u32)busy;
	e.max_util = pelton_min_u32(pelton_eenv_pd_max_util(pol, s, out, d->index, dst), d->actual);
	e.energy = pelton_place_em_energy(pol, s, d->index, e.max_util, busy, d->actual);
	pelton_note_energy(out, &e);
	return e.energy;
}

/* Looks at one CPU as a place for the task: is it the previous one, or the one with most room so far? */
PELTON_INLINE void pelton_feec_consider(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_placed *out, struct pelton_feec_domain *d,
					struct pelton_feec_clamps *clamps, u32 cpu)
{
	u32 util = pelton_place_util(pol, s, out, cpu, cpu, 0);
	s32 fits = pelton_feec_fits(pol, s, out, clamps, &util, cpu);
	s64 spare = pelton_place_spare(pol, s, out, util, cpu);

	if (!fits)
		return;
	if (cpu == s->prev_cpu) {
		d->prev_spare = spare;
		d->prev_fits = fits;
	} else if (fits > d->max_fits || (fits == d->max_fits && spare > d->max_spare)) {
		d->max_spare = spare;
		d->max_spare_cpu = cpu;
		d->max_fits = fits;
	}
}

/* Finds the previous CPU and the one with most room in a domain; 0 = the task fits nowhere in it. */
PELTON_INLINE u32 pelton_feec_candidates(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out, struct pelton_feec_domain *d,
					 pelton_span span)
{
	const struct pelton_perf_domain *pd = &s->perf_domains[d->index & (PELTON_PERF_DOMAINS_MAX - 1u)];
	struct pelton_feec_clamps clamps = pelton_feec_task_clamps(s);
	pelton_cpus cpus = pelton_cpus_and(pelton_span_allowed(s, pd->cpus), pelton_span_cpus(s, span));
	pelton_walk walk;

	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		pelton_feec_consider(pol, s, out, d, &clamps, pelton_walk_at(&walk, 0));
	return d->prev_spare > d->none || d->max_spare_cpu != PELTON_NO_CPU;
}

/* What the previous CPU, which is in this domain, would add. */
PELTON_INLINE void pelton_feec_prev(const struct pelton_policy *pol, const struct pelton_placement *s,
				    struct pelton_placed *out, struct pelton_feec *f,
				    const struct pelton_feec_domain *d, u64 base)
{
	u64 with = pelton_compute_energy(pol, s, out, f, d, s->prev_cpu);

	if (with < base) {
		f->done = 1;
		return;
	}
	f->prev_fits = d->prev_fits;
	f->prev_delta = with - base;
	f->prev_actual = d->actual;
	f->best_delta = pelton_min_u64(f->best_delta, f->prev_delta);
}

/* What the CPU with most room would add, when it can be better than what was found before. */
PELTON_INLINE void pelton_feec_candidate(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, struct pelton_feec *f,
					 const struct pelton_feec_domain *d, u64 base)
{
	u64 with;

	if (d->max_fits < f->best_fits || (d->max_fits < 0 && d->actual <= f->best_actual))
		return;
	with = pelton_compute_energy(pol, s, out, f, d, d->max_spare_cpu);
	if (with < base) {
		f->done = 1;
		return;
	}
	if (d->max_fits > 0 && f->best_fits > 0 && with - base >= f->best_delta)
		return;
	f->best_delta = with - base;
	f->best_cpu = d->max_spare_cpu;
	f->best_fits = d->max_fits;
	f->best_actual = d->actual;
}

/* May a CPU without room be chosen? The postings whose clamps add up take that back. */
PELTON_INLINE u32 pelton_feec_takes_full(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	return pol->energy_full_cpu == PELTON_ENERGY_FULL_CPU_CANDIDATE && !pelton_place_sums_clamps(pol, s);
}

PELTON_INLINE void pelton_feec_domain(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, struct pelton_feec *f, u32 index, pelton_span span)
{
	u64 base;
	pelton_span cpus = s->perf_domains[index & (PELTON_PERF_DOMAINS_MAX - 1u)].cpus;
	s64 none = pelton_feec_takes_full(pol, s) ? -1 : 0;
	struct pelton_feec_domain d = { .index = index,
					.none = none,
					.prev_spare = none,
					.max_spare = none,
					.max_spare_cpu = PELTON_NO_CPU,
					.max_fits = -1,
					.prev_fits = -1 };

	if (!pelton_span_any(cpus))
		return;
	d.actual = pelton_actual_capacity(pol, s, pelton_span_first(s, cpus));
	d.capacity = (u64)d.actual * pelton_span_weight(s, cpus);
	if (!pelton_feec_candidates(pol, s, out, &d, span))
		return;
	d.busy = pelton_min_u64(d.capacity, pelton_eenv_pd_busy_time(pol, s, out, index, PELTON_NO_CPU));
	base = pelton_compute_energy(pol, s, out, f, &d, PELTON_NO_CPU);
	if (d.prev_spare > d.none)
		pelton_feec_prev(pol, s, out, f, &d, base);
	if (!f->done && d.max_spare_cpu != PELTON_NO_CPU && d.max_spare > d.prev_spare)
		pelton_feec_candidate(pol, s, out, f, &d, base);
}

/* Is what was found better than to stay? */
PELTON_INLINE u32 pelton_feec_moves(const struct pelton_feec *f)
{
	if (f->done)
		return 0;
	return f->best_fits > f->prev_fits || (f->best_fits > 0 && f->best_delta < f->prev_delta) ||
	       (f->best_fits < 0 && f->best_actual > f->prev_actual);
}

/* The choice that does without a margin. */
PELTON_INLINE void pelton_feec_rank(const struct pelton_policy *pol, const struct pelton_placement *s,
				    struct pelton_placed *out, pelton_span span)
{
	struct pelton_feec f = {
		.prev_delta = ~0ull, .best_delta = ~0ull, .best_cpu = s->prev_cpu, .prev_fits = -1, .best_fits = -1
	};
	u32 i, domains = pelton_min_u32(s->nr_perf_domains, PELTON_PERF_DOMAINS_MAX);

	f.task_busy = pelton_eenv_task_busy_time(pol, s, out);
	for (i = 0; i < domains && !f.done; i++)
		pelton_feec_domain(pol, s, out, &f, i, span);
	if (f.done)
		out->how = PELTON_HOW_ENERGY_FELL;
	else if (pelton_feec_moves(&f))
		out->cpu = f.best_cpu;
}

/* Has the task anything that placement could save energy with? */
PELTON_INLINE u32 pelton_feec_has_util(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_placed *out)
{
	struct pelton_feec_clamps clamps = pelton_feec_task_clamps(s);
	u32 util = pelton_task_util_est(pol, &out->se);

	if (pelton_place_sums_clamps(pol, s))
		return pelton_place_task_util_clamped(pol, s, out) != 0;
	if (pol->energy_zero == PELTON_ENERGY_ZERO_UTILIZATION)
		return util != 0;
	if (pol->energy_zero == PELTON_ENERGY_ZERO_CLAMPED)
		return pelton_uclamp_clamped(util, clamps.min, clamps.max) != 0;
	return util || clamps.min;
}

/* 1 = out->cpu is chosen, 0 = energy cannot decide here. */
PELTON_INLINE u32 pelton_find_energy_efficient_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
						   struct pelton_placed *out)
{
	pelton_span span = s->nr_perf_domains ? pelton_feec_span(s) : PELTON_SPAN_NONE;

	if (!pelton_span_any(span) || pol->energy_aware == PELTON_ENERGY_AWARE_OFF)
		return 0;
	out->cpu = s->prev_cpu;
	out->how = PELTON_HOW_ENERGY;
	pelton_sync_entity_load_avg(pol, s, out);
	if (!pelton_feec_has_util(pol, s, out))
		out->how = PELTON_HOW_ENERGY_NO_UTIL;
	else if (pol->energy_aware == PELTON_ENERGY_AWARE_MARGIN)
		pelton_feec_by_margin(pol, s, out, span);
	else
		pelton_feec_rank(pol, s, out, span);
	return 1;
}

#endif
