/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement by energy with a margin under the capacity that cooling leaves: 5.15.
 *
 *   candidates   of each performance domain the CPU with most room beside the previous one, of those that the task fits
 *   E(d, c)      cost(min(max_util * 5/4, left)) * sum of min(busy, left); on c the task's estimate is added to its
 *                utilization
 *   added(c)     E(its domain, task on c) - E(its domain, task nowhere); below 0: the task stays
 *   moves when   the previous CPU is none, or added(prev) - added(best) > (added(prev) + sum of E(d, nowhere)) / 16,
 *                summed over domains with a candidate
 *
 *   quantity   unit                              range
 *   left       capacity                          0 .. 1024
 *   energy     cost * capacity (energy.h)        u64
 *
 * Source: Linux 5.15.215 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy), include/linux/energy_model.h
 * (em_cpu_energy). Deviations: none known.
 */
#ifndef PELTON_FEEC_LIMITED_H
#define PELTON_FEEC_LIMITED_H

#include "feec_domain.h"

/* What was found so far. */
struct pelton_feec_limited {
	u64 base;
	u64 prev_delta;
	u64 best_delta;
	u32 best_cpu;
	u32 max_spare_cpu; /* of the domain that is looked at */
	u32 max_spare;
	u32 has_prev;
	u32 stays;
};

/* Busy time of one CPU with the task on `dst`. */
PELTON_INLINE u32 pelton_limited_busy(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_placed *out, u32 cpu, u32 dst)
{
	u32 util = pelton_place_util(pol, s, out, cpu, cpu == dst ? PELTON_NO_CPU : dst, 0);

	if (cpu == dst)
		util += pelton_task_util_est(pol, &out->se);
	return pelton_energy_util(&pelton_place_cpu_of(s, cpu)->state, util);
}

/* Energy of a domain with the task on `dst`. */
PELTON_INLINE u64 pelton_energy_limited(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, u32 index, u32 dst)
{
	struct pelton_place_energy e = { .cpu = dst, .perf_domain = index };
	pelton_span span = pelton_perf_domain_of(s, index)->cpus;
	u32 left = pelton_actual_capacity(pol, s, pelton_span_first(s, span));
	pelton_walk walk;
	u64 busy = 0;

	for (walk = pelton_walk_from(pelton_span_cpus(s, span), 0); pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		u32 cpu = pelton_walk_at(&walk, 0);

		busy += pelton_min_u32(pelton_limited_busy(pol, s, out, cpu, dst), left);
		e.max_util = pelton_max_u32(e.max_util,
					    pelton_min_u32(pelton_eenv_cpu_max_util(pol, s, out, cpu, dst), left));
	}
	e.busy = (u32)busy;
	e.energy = pelton_place_em_energy(pol, s, index, e.max_util, busy, left);
	pelton_note_energy(out, &e);
	return e.energy;
}

/* Looks at one CPU of a domain: is it the previous one, or the one with most room beside it? */
PELTON_INLINE void pelton_limited_consider(const struct pelton_policy *pol, const struct pelton_placement *s,
					   struct pelton_placed *out, struct pelton_feec_limited *f,
					   struct pelton_feec_clamps *clamps, u32 cpu)
{
	u32 util = pelton_place_util(pol, s, out, cpu, cpu, 0);
	u32 fits = pelton_feec_fits(pol, s, out, clamps, &util, cpu) != PELTON_FITS_NOT;
	u32 spare = pelton_place_spare(pol, s, out, util, cpu);

	if (!fits)
		return;
	if (cpu == s->prev_cpu) {
		f->has_prev = 1;
	} else if (spare > f->max_spare) {
		f->max_spare = spare;
		f->max_spare_cpu = cpu;
	}
}

/* What a CPU adds to its domain; 0 with f->stays when that is less than nothing. */
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

PELTON_INLINE void pelton_feec_by_limited_margin(const struct pelton_policy *pol, const struct pelton_placement *s,
						 struct pelton_placed *out, pelton_span span)
{
	struct pelton_feec_limited f = { .prev_delta = ~0ull, .best_delta = ~0ull, .best_cpu = s->prev_cpu };
	u32 i, domains = pelton_min_u32(s->nr_perf_domains, PELTON_PERF_DOMAINS_MAX);

	for (i = 0; i < domains && !f.stays; i++)
		pelton_limited_domain(pol, s, out, &f, i, span);
	if (f.stays)
		return;
	if (f.prev_delta == ~0ull || f.prev_delta - f.best_delta > (f.prev_delta + f.base) >> 4)
		out->cpu = f.best_cpu;
}

#endif
