/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One CPU as a candidate of placement by energy, and the energy of its domain with the task there.
 *
 *   room(c)    = cap(c) - util of c with the task, of the CPUs that the task fits (fits.h)
 *   E(d, dst)  = cost of the state that serves the busiest CPU * (busy + what the task runs, when it comes to d)
 *
 *   quantity       unit                              range
 *   util, cap      capacity                          0 .. 1024
 *   energy         cost * capacity (energy.h)        u64
 *
 * Source: Linux 7.2 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy); with a margin 5.4, 5.10.262 and
 * 5.15.215. Deviations: those of feec.h.
 */
#ifndef PELTON_FEEC_CANDIDATE_H
#define PELTON_FEEC_CANDIDATE_H

#include "feec_energy.h"

/* State that the search carries from one performance domain to the next. */
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

/* State that the search carries from one performance domain to the next. */
struct pelton_feec_margin {
	u64 base;
	u64 prev_delta;
	u64 best_delta;
	u32 best_cpu;
	u32 max_spare_cpu; /* of the domain that is looked at */
	u32 max_spare;
};

/* The domain that is looked at. */
struct pelton_margin_domain {
	u64 base; /* energy without the task */
	u32 index;
	struct pelton_feec_clamps clamps;
};

/* Energy of a domain with the task on `dst`, all CPUs counted anew. */
PELTON_INLINE u64 pelton_energy_anew(const struct pelton_policy *pol, const struct pelton_placement *s,
				     struct pelton_placed *out, u32 index, u32 dst)
{
	struct pelton_place_energy e = { .cpu = dst, .perf_domain = index };
	u64 busy = pelton_eenv_pd_busy_time(pol, s, out, index, dst);

	e.busy = (u32)busy;
	e.max_util = pelton_eenv_pd_max_util(pol, s, out, index, dst);
	e.energy = pelton_place_em_energy(pol, s, index, e.max_util, busy, PELTON_CAPACITY_SCALE);
	pelton_note_energy(out, &e);
	return e.energy;
}

/* Looks at one CPU of a domain: is it the previous one, or the one with most room so far? */
PELTON_INLINE void pelton_margin_consider(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_placed *out, struct pelton_feec_margin *f,
					  struct pelton_margin_domain *at, u32 cpu)
{
	u32 util = pelton_place_util(pol, s, out, cpu, cpu, 0);
	u32 fits = pelton_feec_fits(pol, s, out, &at->clamps, &util, cpu) != PELTON_FITS_NOT;
	u32 spare = pelton_place_spare(pol, s, out, util, cpu);

	if (!fits)
		return;
	if (cpu == s->prev_cpu) {
		f->prev_delta = pelton_energy_anew(pol, s, out, at->index, cpu) - at->base;
		f->best_delta = pelton_min_u64(f->best_delta, f->prev_delta);
	}
	if (spare > f->max_spare) {
		f->max_spare = spare;
		f->max_spare_cpu = cpu;
	}
}

/* State that the search with a margin of 5.15 carries from one performance domain to the next. */
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

/* Energy of a domain with the task on `dst`, each CPU and the largest held under what cooling leaves. */
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

/* Looks at one CPU of a domain: is it the previous one, or the one with most room beside that? */
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

#endif
