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

#endif
