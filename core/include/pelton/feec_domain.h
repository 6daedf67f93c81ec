/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One performance domain in placement by energy: its candidates, and what they would add.
 *
 *   candidates   the previous CPU, when it is one of the domain, and the CPU with most room
 *   added(c)     E(domain, task on c) - E(domain, task nowhere)
 *
 *   quantity   unit                              range
 *   energy     cost * capacity (energy.h)        u64
 *
 * Source: Linux 7.2 kernel/sched/fair.c (find_energy_efficient_cpu); with a margin 5.4, 5.10.262 and 5.15.215.
 * Deviations: those of feec.h.
 */
#ifndef PELTON_FEEC_DOMAIN_H
#define PELTON_FEEC_DOMAIN_H

#include "feec_candidate.h"

/* Finds the previous CPU and the one with most room in a domain; 0 = the task fits nowhere in it. */
PELTON_INLINE u32 pelton_feec_candidates(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out, struct pelton_feec_domain *d,
					 pelton_span span)
{
	const struct pelton_perf_domain *pd = &pelton_rows(s)->perf_domains[d->index & (PELTON_PERF_DOMAINS_MAX - 1u)];
	struct pelton_feec_clamps clamps = pelton_feec_task_clamps(s);
	pelton_cpus cpus = pelton_cpus_and(pelton_span_allowed(s, pd->cpus), pelton_span_cpus(s, span));
	pelton_walk walk;

	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		pelton_feec_consider(pol, s, out, d, &clamps, pelton_walk_at(&walk, 0));
	return d->prev_spare > d->none || d->max_spare_cpu != PELTON_NO_CPU;
}

/* Energy that the previous CPU, which is in this domain, would add. */
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

/* Energy that the CPU with most room would add, when it can be better than the best before. */
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
	pelton_span cpus = pelton_rows(s)->perf_domains[index & (PELTON_PERF_DOMAINS_MAX - 1u)].cpus;
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

PELTON_INLINE void pelton_margin_domain(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, struct pelton_feec_margin *f, u32 index,
					pelton_span span)
{
	struct pelton_margin_domain at = { .base = pelton_energy_anew(pol, s, out, index, PELTON_NO_CPU),
					   .index = index,
					   .clamps = pelton_feec_task_clamps(s) };
	pelton_cpus cpus = pelton_span_allowed(s, pelton_perf_domain_of(s, index)->cpus);
	u64 delta;
	pelton_walk walk;

	f->base += at.base;
	f->max_spare = 0;
	f->max_spare_cpu = PELTON_NO_CPU;
	cpus = pelton_cpus_and(cpus, pelton_span_cpus(s, span));
	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		pelton_margin_consider(pol, s, out, f, &at, pelton_walk_at(&walk, 0));
	if (f->max_spare_cpu == PELTON_NO_CPU || f->max_spare_cpu == s->prev_cpu)
		return;
	delta = pelton_energy_anew(pol, s, out, index, f->max_spare_cpu) - at.base;
	if (delta < f->best_delta) {
		f->best_delta = delta;
		f->best_cpu = f->max_spare_cpu;
	}
}

/* Energy that a CPU adds to its domain; 0 with f->stays when that is less than nothing. */
PELTON_INLINE u64 pelton_limited_added(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_placed *out, struct pelton_feec_limited *f, u32 index, u64 base,
				       u32 cpu)
{
	u64 with = pelton_energy_limited(pol, s, out, index, cpu);

	f->stays |= with < base;
	return pelton_sub_floor(with, base);
}

PELTON_INLINE void pelton_limited_domain(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, struct pelton_feec_limited *f, u32 index,
					 pelton_span span)
{
	struct pelton_feec_clamps clamps = pelton_feec_task_clamps(s);
	pelton_cpus cpus = pelton_span_allowed(s, pelton_perf_domain_of(s, index)->cpus);
	u64 base, delta;
	pelton_walk walk;

	f->max_spare = 0;
	f->has_prev = 0;
	f->max_spare_cpu = PELTON_NO_CPU;
	cpus = pelton_cpus_and(cpus, pelton_span_cpus(s, span));
	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		pelton_limited_consider(pol, s, out, f, &clamps, pelton_walk_at(&walk, 0));
	if (f->max_spare_cpu == PELTON_NO_CPU && !f->has_prev)
		return;
	base = pelton_energy_limited(pol, s, out, index, PELTON_NO_CPU);
	f->base += base;
	if (f->has_prev) {
		f->prev_delta = pelton_limited_added(pol, s, out, f, index, base, s->prev_cpu);
		f->best_delta = pelton_min_u64(f->best_delta, f->prev_delta);
	}
	if (f->stays || f->max_spare_cpu == PELTON_NO_CPU)
		return;
	delta = pelton_limited_added(pol, s, out, f, index, base, f->max_spare_cpu);
	if (!f->stays && delta < f->best_delta) {
		f->best_delta = delta;
		f->best_cpu = f->max_spare_cpu;
	}
}

#endif
