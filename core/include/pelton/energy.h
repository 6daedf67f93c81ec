/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The energy model: what the CPUs of one frequency domain would draw at an assumed utilization.
 *
 *   performance = cap_orig * f / f_max
 *   cost        = 10 * power / performance           "energy per unit of utilization"
 *   energy      = cost(state) * sum_util             state: the lowest efficient one with performance >= max_util
 *
 *   performance  123      197      271      346      cap_orig 346, 500/800/1100/1400 MHz
 *   power, mW     40       75      130      210
 *   cost        3252     3807     4797     6069      max_util 200 asks for the third: energy = 4797 * sum_util
 *
 *   quantity               unit                      range
 *   performance, util      capacity                  0 .. 1024
 *   power                  uW                        0 .. 2^44
 *   cost                   10 uW per capacity unit   u64
 *   energy                 cost * capacity           u64, only ratios mean something
 *
 * A state that costs no less than some faster one is inefficient: the faster one does the same work for less.
 *
 *   by frequency (to 6.8)   cost = f_max * power / f,  energy = cost(state) * sum_util / cap_orig
 *     5.4, 5.10             state: the lowest with f >= (f_max + f_max / 4) * max_util / cap_orig; inefficient ones count
 *     6.1, 6.6              state: the lowest efficient one with f >= f_max * min(max_util * 5/4, allowed) / cap_orig
 *     6.8                   the same with min(max_util, allowed): the quarter is in max_util
 *
 * Source: Linux 7.2 kernel/power/energy_model.c (em_init_performance, em_compute_costs), include/linux/energy_model.h
 * (em_cpu_energy, em_pd_get_efficient_state); 5.10.262, 6.1.192 and 6.8 the same files (em_create_perf_table,
 * em_cpu_energy); 6.1 drivers/opp/of.c (_get_power), which 6.12 and 6.18.2 call dev_pm_opp_calc_power.
 * Deviations: none known; without any utilization there is no energy, as in the kernel.
 */
#ifndef PELTON_ENERGY_H
#define PELTON_ENERGY_H

#include "arith.h"
#include "policy.h"

#define PELTON_EM_STATES_MAX 256u
#define PELTON_EM_COST_SCALE 10u

/* One row of a domain's table, slowest first. The host gives frequency and power. */
struct pelton_em_state {
	u64 power_uw;
	u64 performance;
	u64 cost;
	u32 freq_khz;
	u32 inefficient;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_em_state) == 32, "layout");

/*
 * Power of a busy CPU by the coefficient of its device tree: whole millivolts squared times whole megahertz. The
 * product has 64 bits, as the kernel's.
 */
PELTON_INLINE u64 pelton_em_power_uw(u64 coefficient, u32 uv, u32 khz)
{
	u64 mv = uv / 1000u, mhz = khz / 1000u;

	return coefficient * mv * mv * mhz / 1000000u;
}

PELTON_INLINE u32 pelton_em_count(u32 n)
{
	PELTON_ASSERT(n <= PELTON_EM_STATES_MAX);
	return pelton_min_u32(n, PELTON_EM_STATES_MAX);
}

PELTON_INLINE void pelton_em_fill_state(struct pelton_em_state *state, u32 cap_orig, u32 max_khz)
{
	state->performance = pelton_div_floor((u64)cap_orig * state->freq_khz, max_khz);
	state->cost = pelton_div_floor(PELTON_EM_COST_SCALE * state->power_uw, state->performance);
}

/* Work out performance, cost and efficiency of all states from frequency and power. */
PELTON_INLINE void pelton_em_fill(struct pelton_em_state *states, u32 n, u32 cap_orig)
{
	u64 cheapest = ~0ull;
	u32 i;

	n = pelton_em_count(n);
	for (i = n; i > 0; i--) {
		struct pelton_em_state *state = &states[i - 1];

		pelton_em_fill_state(state, cap_orig, states[n - 1].freq_khz);
		state->inefficient = state->cost >= cheapest;
		cheapest = pelton_min_u64(cheapest, state->cost);
	}
}

/* Does a state serve a utilization? None below the slowest allowed one does. */
PELTON_INLINE u32 pelton_em_serves(const struct pelton_em_state *states, u32 i, u32 lowest, u64 max_util)
{
	return states[i].performance >= max_util && !states[i].inefficient && i >= lowest;
}

/* Power in the unit in which a release keeps it. */
PELTON_INLINE u64 pelton_em_power(const struct pelton_policy *pol, u64 power_uw)
{
	if (pol->energy_model == PELTON_ENERGY_MODEL_MICROWATTS)
		return power_uw;
	return power_uw / 1000u * (pol->energy_model == PELTON_ENERGY_MODEL_SCALED ? 1000u : 1u);
}

/* The table of states for releases that choose by frequency. */
PELTON_INLINE void pelton_em_fill_by_frequency(const struct pelton_policy *pol, struct pelton_em_state *states, u32 n,
					       u32 cap_orig)
{
	u64 cheapest = ~0ull;
	u32 i;

	n = pelton_em_count(n);
	for (i = n; i > 0; i--) {
		struct pelton_em_state *state = &states[i - 1];
		u64 max_khz = states[n - 1].freq_khz;

		state->performance = pelton_div_floor((u64)cap_orig * state->freq_khz, max_khz);
		state->cost = pelton_div_floor(max_khz * pelton_em_power(pol, state->power_uw), state->freq_khz);
		state->inefficient = state->cost >= cheapest;
		cheapest = pelton_min_u64(cheapest, state->cost);
	}
}

/* Works out the table as the release does. */
PELTON_INLINE void pelton_em_create(const struct pelton_policy *pol, struct pelton_em_state *states, u32 n,
				    u32 cap_orig)
{
	if (pol->energy_model == PELTON_ENERGY_MODEL_PERFORMANCE)
		pelton_em_fill(states, n, cap_orig);
	else
		pelton_em_fill_by_frequency(pol, states, n, cap_orig);
}

/* Does the release pass over inefficient states, and its governor over their frequencies? 5.4 and 5.10 do not. */
PELTON_INLINE u32 pelton_em_passes_over(const struct pelton_policy *pol)
{
	return pol->energy_model == PELTON_ENERGY_MODEL_MICROWATTS ||
	       pol->energy_model == PELTON_ENERGY_MODEL_PERFORMANCE;
}

/* Does a state serve a frequency? */
PELTON_INLINE u32 pelton_em_reaches(const struct pelton_em_state *states, u32 i, u64 khz, u32 passes_over)
{
	return states[i].freq_khz >= khz && !(passes_over && states[i].inefficient);
}

#endif
