/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of an energy model that serves a domain, and the energy of the domain in it.
 *
 *   energy = cost(state) * sum_util             by performance: the lowest efficient state with performance >= max_util
 *   energy = cost(state) * sum_util / cap_orig  by frequency: energy.h says which state
 *
 *   quantity   unit              range
 *   util       capacity          0 .. 1024
 *   energy     cost * capacity   u64, only ratios mean something
 *
 * Source: Linux 7.2 include/linux/energy_model.h (em_cpu_energy, em_pd_get_efficient_state); 5.10.262, 6.1.192 the same
 * file (em_cpu_energy). Deviations: those of energy.h.
 */
#ifndef PELTON_ENERGY_DOMAIN_H
#define PELTON_ENERGY_DOMAIN_H

#include "energy.h"
#include "margins.h"

/* A state by its number, which is below PELTON_EM_STATES_MAX: not every verifier sees that. */
PELTON_INLINE const struct pelton_em_state *pelton_em_at(const struct pelton_em_state *states, u32 i)
{
	return &states[i & (PELTON_EM_STATES_MAX - 1u)];
}

/* The state that serves a utilization, between the slowest and the fastest allowed one. */
PELTON_INLINE u32 pelton_em_state_for(const struct pelton_em_state *states, u32 n, u32 lowest, u32 highest,
				      u64 max_util)
{
	u32 i, end;

	n = pelton_em_count(n);
	end = pelton_min_u32(pelton_min_u32(highest, PELTON_EM_STATES_MAX - 1u) + 1u, n);
	for (i = 0; i < end && i < PELTON_EM_STATES_MAX; i++)
		if (pelton_em_serves(states, i, lowest, max_util))
			return i;
	return end ? end - 1 : 0;
}

/* The state that serves a frequency. */
PELTON_INLINE u32 pelton_em_state_of_frequency(const struct pelton_policy *pol, const struct pelton_em_state *states,
					       u32 n, u64 khz)
{
	u32 passes_over = pelton_em_passes_over(pol);
	u32 i;

	for (i = 0; i + 1 < n && i < PELTON_EM_STATES_MAX; i++)
		if (pelton_em_reaches(states, i, khz, passes_over))
			return i;
	return n - 1;
}

/* The state that serves `max_util`, of which no more than `allowed_cap` can be had. */
PELTON_INLINE u32 pelton_em_state_by_performance(const struct pelton_em_state *states, u32 n, u32 lowest, u32 highest,
						 u64 max_util, u64 allowed_cap)
{
	return pelton_em_state_for(states, n, lowest, highest, pelton_min_u64(max_util, allowed_cap));
}

/* The state that serves `max_util`, chosen by frequency; there is a state. */
PELTON_INLINE u32 pelton_em_state_by_frequency(const struct pelton_policy *pol, const struct pelton_em_state *states,
					       u32 n, u32 cap_orig, u64 max_util, u64 allowed_cap)
{
	u64 max_khz = pelton_em_at(states, n - 1)->freq_khz, khz;

	if (pol->headroom == PELTON_HEADROOM_UTILIZATION)
		max_util = pelton_plus_headroom(pol, max_util);
	if (pol->headroom == PELTON_HEADROOM_FREQUENCY)
		khz = pelton_div_floor(pelton_plus_headroom(pol, max_khz) * max_util, cap_orig);
	else
		khz = pelton_div_floor(max_khz * pelton_min_u64(max_util, allowed_cap), cap_orig);
	return pelton_em_state_of_frequency(pol, states, n, khz);
}

/* Energy of a domain whose busiest CPU has `max_util` and whose CPUs have `sum_util` together. */
PELTON_INLINE u64 pelton_em_cpu_energy(const struct pelton_em_state *states, u32 n, u32 lowest, u32 highest,
				       u64 max_util, u64 sum_util, u64 allowed_cap)
{
	u32 i;

	if (!sum_util || !pelton_em_count(n))
		return 0;
	i = pelton_em_state_by_performance(states, n, lowest, highest, max_util, allowed_cap);
	return pelton_em_at(states, i)->cost * sum_util;
}

/* Energy of a domain by frequency. */
PELTON_INLINE u64 pelton_em_energy_by_frequency(const struct pelton_policy *pol, const struct pelton_em_state *states,
						u32 n, u32 cap_orig, u64 max_util, u64 sum_util, u64 allowed_cap)
{
	u32 i;

	n = pelton_em_count(n);
	if (!sum_util || !n)
		return 0;
	i = pelton_em_state_by_frequency(pol, states, n, cap_orig, max_util, allowed_cap);
	return pelton_div_floor(pelton_em_at(states, i)->cost * sum_util, cap_orig);
}

#endif
