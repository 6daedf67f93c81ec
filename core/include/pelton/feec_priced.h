/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that a comparison of placement by energy took a domain to be in, for explanations. Nothing here takes part
 * in a decision.
 *
 *   energy = cost(state) * busy              the comparison's busy
 *            cost(state) * busy / cap_orig   where cost is by frequency (to 6.7)
 *
 *   quantity   unit                    range
 *   busy       capacity                0 .. 1024 * CPUs
 *   cost       energy.h                u64
 *
 * Source: the rules are those of feec_energy.h; the kernel has no such functions. Deviations: none known.
 */
#ifndef PELTON_FEEC_PRICED_H
#define PELTON_FEEC_PRICED_H

#include "feec.h"

/* First CPU of the domain of a comparison. */
PELTON_INLINE u32 pelton_priced_cpu(const struct pelton_placement *s, const struct pelton_place_energy *e)
{
	return pelton_span_first(s, pelton_perf_domain_of(s, e->perf_domain)->cpus);
}

/* Capacity of a CPU up to which a comparison looks for a state. */
PELTON_INLINE u32 pelton_priced_allowed(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_place_energy *e)
{
	if (pol->energy_aware == PELTON_ENERGY_AWARE_MARGIN)
		return PELTON_CAPACITY_SCALE;
	return pelton_actual_capacity(pol, s, pelton_priced_cpu(s, e));
}

/* The state; there is one. */
PELTON_INLINE const struct pelton_em_state *pelton_priced_state(const struct pelton_policy *pol,
								const struct pelton_placement *s,
								const struct pelton_place_energy *e)
{
	const struct pelton_perf_domain *pd = pelton_perf_domain_of(s, e->perf_domain);
	u32 first = pelton_min_u32(pd->first_state, PELTON_PLACE_STATES_MAX);
	u32 n = pelton_em_count(pelton_min_u32(pd->nr_states, PELTON_PLACE_STATES_MAX - first));
	const struct pelton_em_state *states = &pelton_rows(s)->states[first & (PELTON_PLACE_STATES_MAX - 1u)];
	u32 allowed = pelton_priced_allowed(pol, s, e), i = 0;

	if (pol->energy_model == PELTON_ENERGY_MODEL_PERFORMANCE)
		i = pelton_em_state_by_performance(states, n, pd->min_state, pd->max_state, e->max_util, allowed);
	else if (n)
		i = pelton_em_state_by_frequency(pol, states, n,
						 pelton_place_cpu_of(s, pelton_priced_cpu(s, e))->state.cap_orig,
						 e->max_util, allowed);
	return pelton_em_at(states, i);
}

PELTON_INLINE u64 pelton_priced_cost(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_place_energy *e)
{
	return pelton_priced_state(pol, s, e)->cost;
}

PELTON_INLINE u32 pelton_priced_khz(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_place_energy *e)
{
	return pelton_priced_state(pol, s, e)->freq_khz;
}

/* By what cost times busy is divided. */
PELTON_INLINE u32 pelton_priced_divisor(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_place_energy *e)
{
	if (pol->energy_model == PELTON_ENERGY_MODEL_PERFORMANCE)
		return 1;
	return pelton_place_cpu_of(s, pelton_priced_cpu(s, e))->state.cap_orig;
}

#endif
