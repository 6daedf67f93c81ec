/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement by energy with a margin: the previous CPU stays unless another saves a sixteenth of all.
 *
 *   candidates   of each performance domain the CPU with most room, of those that the task fits; in 5.15 the one with
 *                most room beside the previous CPU, which is a candidate when the task fits it
 *   added(c)     E(its domain, task on c) - E(its domain, task nowhere); 5.15: below 0 the task stays
 *   moves when   added(prev) - added(best) > (added(prev) + sum of E(d, nowhere)) / 16
 *                5.15: the sum is of domains with a candidate, and any CPU is better than a previous one that the
 *                task does not fit
 *   E(d, c)      of sums up to 5.10; 5.15: cost(min(max_util * 5/4, left)) * sum of min(busy, left), where the task's
 *                estimate is added to what c has
 *
 *   quantity   unit                              range
 *   left       capacity                          0 .. 1024
 *   energy     cost * capacity (energy.h)        u64
 *
 * Source: Linux 5.4, 5.10.262 and 5.15.215 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy), 5.15.215
 * include/linux/energy_model.h (em_cpu_energy). Deviations: none known.
 */
#ifndef PELTON_FEEC_MARGIN_H
#define PELTON_FEEC_MARGIN_H

#include "feec_domain.h"

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

/* 5.15 */
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
