/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a task fit a CPU?
 *
 *   A          = cap_orig - max(hw pressure, cpufreq pressure)
 *   cap        = what is left of it for the fair class
 *   fits(u)    : u * 1280 < cap * 1024 (margins.h has other forms)
 *   capped     : max <= cap_orig, and not both are 1024
 *   floor lost : u < min' and min' > A,  min' = min(min, max)
 *
 *   util_fits_cpu        floor lost   else
 *   fits or capped       -1           1
 *   neither              0            0
 *
 *   over-utilized        what runs there does not fit
 *   misfit               the running task has a bigger CPU to go to and does not fit here
 *
 *   form       when a floor is lost
 *   capacity   never: clamps do not count at all (5.4)
 *   floor      the CPU does not fit, unless it is the biggest (5.10)
 *   rank       as above (6.1 and later)
 *
 *   where groups are limited (group_throttle.h)
 *     a task: its utilization within its clamps and its group's part; a CPU: with its groups limited, no clamps
 *   where clamps add up (uclamp_sum.h)
 *     1 when the clamped utilization fits, else -1 when the real one does (`sum` does not ask), else 0
 *
 *   quantity       unit       range
 *   capacity, u    capacity   0 .. 1024
 *   clamps         capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/fair.c (util_fits_cpu, task_fits_cpu, cpu_overutilized, update_misfit_status,
 * get_actual_cpu_capacity); 5.4 (task_fits_capacity, cpu_overutilized), 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.
 * Deviations: inverted capacity of 5.10 (a big CPU limited below a smaller one) is not modelled.
 */
#ifndef PELTON_FITS_H
#define PELTON_FITS_H

#include "bandwidth.h"
#include "cpu_util.h"
#include "margins.h"

/* Fit of a utilization on a CPU: no, yes, or yes but for its lower clamp, which the CPU's limits do not allow. */
#define PELTON_FITS_NOT 0
#define PELTON_FITS 1
#define PELTON_FITS_BELOW_FLOOR (-1)

/* Capacity that limits leave: of the moment to 6.9, then with the hardware's average. */
PELTON_INLINE u32 pelton_actual_capacity(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 lost = c->cpufreq_pressure;

	if (pol->energy_aware == PELTON_ENERGY_AWARE_ACTUAL)
		lost = pelton_max_u32(lost, c->hw_pressure);
	return pelton_sub_floor_u32(c->state.cap_orig, lost);
}

/* Is the floor of a utilization that would fit lost on this CPU? */
PELTON_INLINE u32 pelton_floor_is_lost(const struct pelton_policy *pol, const struct pelton_placement *s, u32 util,
				       u32 min, u32 cpu)
{
	if (pol->util_fits == PELTON_UTIL_FITS_FLOOR &&
	    pelton_place_cpu_of(s, cpu)->state.cap_orig == PELTON_CAPACITY_SCALE)
		return 0;
	return util < min && min > pelton_actual_capacity(pol, s, cpu);
}

PELTON_INLINE s32 pelton_util_fits_cpu(const struct pelton_policy *pol, const struct pelton_placement *s, u32 util,
				       u32 min, u32 max, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 cap_orig = c->state.cap_orig;
	u32 fits = pelton_fits(pol, util, c->capacity, cap_orig);

	if (!s->uclamp_used || pol->util_fits == PELTON_UTIL_FITS_CAPACITY)
		return (s32)fits;
	if (!(cap_orig == PELTON_CAPACITY_SCALE && max == PELTON_CAPACITY_SCALE) && max <= cap_orig)
		fits = 1;
	if (fits && pelton_floor_is_lost(pol, s, util, pelton_min_u32(min, max), cpu))
		return pol->util_fits == PELTON_UTIL_FITS_RANK ? PELTON_FITS_BELOW_FLOOR : PELTON_FITS_NOT;
	return (s32)fits;
}

/* Fit on a CPU where clamps add up: with clamps, or at least without. The first posting knows only the former. */
PELTON_INLINE s32 pelton_clamped_fits_cpu(const struct pelton_policy *pol, const struct pelton_placement *s, u32 util,
					  u32 clamped, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (pelton_fits(pol, clamped, c->capacity, c->state.cap_orig))
		return PELTON_FITS;
	if (!pelton_place_only_clamped(pol, s) && pelton_fits(pol, util, c->capacity, c->state.cap_orig))
		return PELTON_FITS_BELOW_FLOOR;
	return PELTON_FITS_NOT;
}

/* Fit on a CPU where groups are limited: within the task's clamps and its group's part. */
PELTON_INLINE s32 pelton_limited_fits_cpu(const struct pelton_policy *pol, const struct pelton_placement *s, u32 util,
					  u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	util = pelton_uclamp_clamped(util, s->task.uclamp_min, s->task.uclamp_max);
	util = pelton_min_u32(util, pelton_place_group_part(s, cpu));
	return (s32)pelton_fits(pol, util, c->capacity, c->state.cap_orig);
}

PELTON_INLINE s32 pelton_task_fits(const struct pelton_policy *pol, const struct pelton_placement *s,
				   const struct pelton_placed *out, u32 cpu)
{
	u32 util = pelton_task_util_est(pol, &out->se);

	if (pelton_place_sums_clamps(pol, s))
		return pelton_clamped_fits_cpu(pol, s, util, pelton_place_task_util_clamped(pol, s, out), cpu);
	if (pelton_place_limits_groups(pol, s))
		return pelton_limited_fits_cpu(pol, s, util, cpu);
	return pelton_util_fits_cpu(pol, s, util, s->task.uclamp_min, s->task.uclamp_max, cpu);
}

/* Has a CPU more to do than it can? */
PELTON_INLINE u32 pelton_cpu_overutilized(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, cpu)->state;
	u32 min = pol->overutilized == PELTON_OVERUTILIZED_MAXIMUM_ENERGY ? 0 : c->uclamp_min;

	if (pol->overutilized >= PELTON_OVERUTILIZED_CLAMPS_ENERGY && !s->energy_aware)
		return 0;
	if (pelton_place_sums_clamps(pol, s))
		return !pelton_clamped_fits_cpu(pol, s, pelton_cpu_util(pol, c, 0),
						pelton_place_cpu_clamped(pelton_place_cpu_of(s, cpu)), cpu);
	if (pelton_place_limits_groups(pol, s))
		return !pelton_fits(pol, pelton_place_cpu_clamped(pelton_place_cpu_of(s, cpu)),
				    pelton_place_cpu_of(s, cpu)->capacity, c->cap_orig);
	return !pelton_util_fits_cpu(pol, s, pelton_cpu_util(pol, c, 0), min, c->uclamp_max, cpu);
}

/* May a running task wait for a bigger CPU? `biggest`: highest original capacity among the CPUs that it may use. */
PELTON_INLINE u32 pelton_misfit_waits(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
				      u32 biggest)
{
	if (!s->asymmetric || pol->misfit == PELTON_MISFIT_OFF)
		return 0;
	if (pol->misfit >= PELTON_MISFIT_PINNED && pelton_span_weight(s, s->task.allowed) == 1)
		return 0;
	return pol->misfit != PELTON_MISFIT_BIGGEST || pelton_place_cpu_of(s, cpu)->state.cap_orig != biggest;
}

/* Load of the running task when it waits for a bigger CPU; 0 = it may stay. */
PELTON_INLINE u64 pelton_misfit_load(const struct pelton_policy *pol, const struct pelton_placement *s,
				     const struct pelton_placed *out, u32 cpu, u32 biggest)
{
	if (!pelton_misfit_waits(pol, s, cpu, biggest) || pelton_task_fits(pol, s, out, cpu) > 0)
		return 0;
	return pelton_max_u64(pelton_place_h_load(s, out), 1);
}

#endif
