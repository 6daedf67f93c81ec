/* SPDX-License-Identifier: GPL-2.0-or-later */
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
 * uclamp_rq_util_with). feec_margin.h has the forms up to 5.15. Deviations: CPUs that are
 * offline are not in the record.
 */
#ifndef PELTON_FEEC_H
#define PELTON_FEEC_H

#include "feec_domain.h"
#include "feec_margin.h"

PELTON_INLINE u64 pelton_eenv_task_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_placed *out)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, s->prev_cpu)->state;
	u32 util = pelton_place_task_util(pol, s, out);

	if (c->util_irq >= c->cap_orig)
		return c->cap_orig;
	return pelton_mul_div_floor(util, c->cap_orig - c->util_irq, c->cap_orig);
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
	else if (pol->energy_aware == PELTON_ENERGY_AWARE_LIMITED)
		pelton_feec_by_limited_margin(pol, s, out, span);
	else
		pelton_feec_rank(pol, s, out, span);
	return 1;
}

#endif
