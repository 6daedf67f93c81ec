/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement by energy with a margin: the previous CPU stays unless another saves a sixteenth of all.
 *
 *   candidates   of each performance domain the CPU with most room, of those that the task fits
 *   added(c)     E(its domain, task on c) - E(its domain, task nowhere)
 *   moves when   added(prev) - added(best) > (added(prev) + sum of E(d, nowhere)) / 16
 *
 *   quantity   unit                              range
 *   energy     cost * capacity (energy.h)        u64
 *
 * Source: Linux 5.4 and 5.10.262 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy). Deviations: none
 * known.
 */
#ifndef PELTON_FEEC_MARGIN_H
#define PELTON_FEEC_MARGIN_H

#include "feec_energy.h"

/* What the search carries from one performance domain to the next. */
struct pelton_feec_margin {
	u64 base;
	u64 prev_delta;
	u64 best_delta;
	u32 best_cpu;
	u32 max_spare_cpu; /* of the domain that is looked at */
	u32 max_spare;
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

PELTON_INLINE void pelton_margin_domain(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, struct pelton_feec_margin *f, u32 index,
					pelton_span span)
{
	struct pelton_feec_clamps clamps = pelton_feec_task_clamps(s);
	u64 delta, base = pelton_energy_anew(pol, s, out, index, PELTON_NO_CPU);
	pelton_cpus cpus = pelton_span_allowed(s, pelton_perf_domain_of(s, index)->cpus);
	pelton_walk walk;

	f->base += base;
	f->max_spare = 0;
	f->max_spare_cpu = PELTON_NO_CPU;
	cpus = pelton_cpus_and(cpus, pelton_span_cpus(s, span));
	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		u32 cpu = pelton_walk_at(&walk, 0);
		u32 util = pelton_place_util(pol, s, out, cpu, cpu, 0);
		u32 fits = pelton_feec_fits(pol, s, out, &clamps, &util, cpu) != PELTON_FITS_NOT;
		u32 spare = pelton_place_spare(pol, s, out, util, cpu);

		if (!fits)
			continue;
		if (cpu == s->prev_cpu) {
			f->prev_delta = pelton_energy_anew(pol, s, out, index, cpu) - base;
			f->best_delta = pelton_min_u64(f->best_delta, f->prev_delta);
		}
		if (spare > f->max_spare) {
			f->max_spare = spare;
			f->max_spare_cpu = cpu;
		}
	}
	if (f->max_spare_cpu == PELTON_NO_CPU || f->max_spare_cpu == s->prev_cpu)
		return;
	delta = pelton_energy_anew(pol, s, out, index, f->max_spare_cpu) - base;
	if (delta < f->best_delta) {
		f->best_delta = delta;
		f->best_cpu = f->max_spare_cpu;
	}
}

PELTON_INLINE void pelton_feec_by_margin(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, pelton_span span)
{
	struct pelton_feec_margin f = { .prev_delta = ~0ull, .best_delta = ~0ull, .best_cpu = s->prev_cpu };
	u32 i, domains = pelton_min_u32(s->nr_perf_domains, PELTON_PERF_DOMAINS_MAX);

	for (i = 0; i < domains; i++)
		pelton_margin_domain(pol, s, out, &f, i, span);
	if (f.prev_delta == ~0ull || f.prev_delta - f.best_delta > (f.prev_delta + f.base) >> 4)
		out->cpu = f.best_cpu;
}

#endif
