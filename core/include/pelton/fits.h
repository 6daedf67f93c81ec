/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a task fit a CPU?
 *
 *   A          = cap_orig - max(hw pressure, cpufreq pressure)
 *   cap        = what is left of it for the fair class
 *   fits(u)    : u * 1280 < cap * 1024
 *   capped     : max <= cap_orig, and not both are 1024
 *   floor lost : u < min' and min' > A,  min' = min(min, max)
 *
 *   util_fits_cpu        floor lost   else
 *   fits or capped       -1           1
 *   neither              0            0
 *
 *   over-utilized        nothing fits what runs there now, its lower clamps left out
 *   misfit               the running task has a bigger CPU to go to and does not fit here
 *
 *   quantity       unit       range
 *   capacity, u    capacity   0 .. 1024
 *   clamps         capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/fair.c (util_fits_cpu, task_fits_cpu, cpu_overutilized, update_misfit_status,
 * get_actual_cpu_capacity). Deviations: none known.
 */
#ifndef PELTON_FITS_H
#define PELTON_FITS_H

#include "bandwidth.h"
#include "cpu_util.h"

/* Does a CPU that is limited leave less than the clamps ask for, although the task would fit? */
#define PELTON_FITS_NOT 0
#define PELTON_FITS 1
#define PELTON_FITS_BELOW_FLOOR (-1)

PELTON_INLINE u32 pelton_actual_capacity(const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	return pelton_sub_floor_u32(c->state.cap_orig, pelton_max_u32(c->hw_pressure, c->cpufreq_pressure));
}

PELTON_INLINE s32 pelton_util_fits_cpu(const struct pelton_placement *s, u32 util, u32 min, u32 max, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 cap_orig = c->state.cap_orig;
	u32 fits = pelton_fits_capacity(util, c->capacity);

	if (!s->uclamp_used)
		return (s32)fits;
	if (!(cap_orig == PELTON_CAPACITY_SCALE && max == PELTON_CAPACITY_SCALE) && max <= cap_orig)
		fits = 1;
	min = pelton_min_u32(min, max);
	if (fits && util < min && min > pelton_actual_capacity(s, cpu))
		return PELTON_FITS_BELOW_FLOOR;
	return (s32)fits;
}

PELTON_INLINE s32 pelton_task_fits(const struct pelton_policy *pol, const struct pelton_placement *s,
				   const struct pelton_placed *out, u32 cpu)
{
	return pelton_util_fits_cpu(s, pelton_task_util_est(pol, &out->se), s->task.uclamp_min, s->task.uclamp_max, cpu);
}

/* Has a CPU more to do than it can? On a machine that places by energy only. */
PELTON_INLINE u32 pelton_cpu_overutilized(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 max = s->uclamp_used ? c->state.uclamp_max : PELTON_CAPACITY_SCALE;

	if (!s->energy_aware)
		return 0;
	return !pelton_util_fits_cpu(s, pelton_cpu_util(pol, &c->state, 0), 0, max, cpu);
}

/*
 * Load of a running task that waits for a bigger CPU; 0 = it may stay. `biggest`: highest original capacity among the CPUs
 * that it may use.
 */
PELTON_INLINE u64 pelton_misfit_load(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_placed *out, u32 cpu, u32 biggest)
{
	if (!s->asymmetric || pelton_cpus_weight(s->task.allowed) == 1)
		return 0;
	if (pelton_place_cpu_of(s, cpu)->state.cap_orig == biggest || pelton_task_fits(pol, s, out, cpu) > 0)
		return 0;
	return pelton_max_u64(pelton_place_h_load(s, out), 1);
}

#endif
