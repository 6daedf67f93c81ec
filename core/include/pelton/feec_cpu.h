/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What placement by energy asks of one CPU: how busy it is, what it asks for, and whether the task fits.
 *
 *   busy(c)      (util + rt + dl) * (cap_orig - irq) / cap_orig + irq         time, no clamps
 *   asks(c)      the same with the clamps of the CPU's tasks and, on its destination, of the task
 *     to 6.7     clamp(util + rt), irq, deadline reservation; the margin of a quarter is added by the energy model
 *     6.8        max(min, min(5/4 * util, max))
 *
 *   quantity   unit       range
 *   all        capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/fair.c (eenv_pd_max_util), kernel/sched/syscalls.c (effective_cpu_util); 6.1.192
 * kernel/sched/core.c (effective_cpu_util), kernel/sched/sched.h (uclamp_rq_util_with); 5.10.262 kernel/sched/
 * cpufreq_schedutil.c (schedutil_cpu_util). Deviations: none known.
 */
#ifndef PELTON_FEEC_CPU_H
#define PELTON_FEEC_CPU_H

#include "fits.h"
#include "perf.h"

/* Clamps that the task and the tasks beside it would be under. */
struct pelton_feec_clamps {
	u32 min;
	u32 max;
};

PELTON_INLINE struct pelton_feec_clamps pelton_feec_task_clamps(const struct pelton_placement *s)
{
	struct pelton_feec_clamps clamps = { 0, PELTON_CAPACITY_SCALE };

	if (s->uclamp_used) {
		clamps.min = s->task.uclamp_min;
		clamps.max = s->task.uclamp_max;
	}
	return clamps;
}

/* Fit of the task on a CPU where clamps add up. A task that fits with its clamps takes that much room. */
PELTON_INLINE s32 pelton_feec_fits_clamped(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u32 *util, u32 cpu)
{
	u32 clamped = pelton_place_util_clamped(pol, s, out, cpu, cpu, 0);
	s32 fits = pelton_clamped_fits_cpu(pol, s, *util, clamped, cpu);

	if (fits == PELTON_FITS)
		*util = clamped;
	return fits;
}

/* Does `util` fit a CPU under the larger of the task's clamps and its own? */
PELTON_INLINE s32 pelton_feec_fits(const struct pelton_policy *pol, const struct pelton_placement *s,
				   const struct pelton_placed *out, struct pelton_feec_clamps *clamps, u32 *util,
				   u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (pelton_place_sums_clamps(pol, s))
		return pelton_feec_fits_clamped(pol, s, out, util, cpu);

	/* An idle CPU's clamps are left over: those of the CPU before it stay in force, as in the kernel. */
	if (s->uclamp_used && !c->uclamp_idle) {
		clamps->min = pelton_max_u32(c->state.uclamp_min, s->task.uclamp_min);
		clamps->max = pelton_max_u32(c->state.uclamp_max, s->task.uclamp_max);
	}
	return pelton_util_fits_cpu(pol, s, *util, clamps->min, clamps->max, cpu);
}

/* Time that a CPU with this utilization of the fair class is busy. */
PELTON_INLINE u32 pelton_energy_util(const struct pelton_cpu_state *c, u32 util)
{
	if (c->util_irq >= c->cap_orig)
		return c->cap_orig;
	util += c->util_rt + c->util_dl;
	if (util >= c->cap_orig)
		return c->cap_orig;
	return pelton_min_u32(c->cap_orig, pelton_scale_irq(util, c->util_irq, c->cap_orig));
}

/* Signals of a CPU with this utilization of the fair class. */
PELTON_INLINE struct pelton_cpu_state pelton_state_with(const struct pelton_placement *s, u32 cpu, u32 util)
{
	struct pelton_cpu_state state = pelton_place_cpu_of(s, cpu)->state;

	state.util_cfs = util;
	state.runnable_cfs = 0;
	state.util_est = 0;
	state.uclamp_used = s->uclamp_used;
	return state;
}

/* Is the CPU's clamp one that no runnable task asks for? 5.4 does not look. */
PELTON_INLINE u32 pelton_clamp_is_stale(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu)
{
	return pelton_place_cpu_of(s, cpu)->uclamp_idle && pol->util_fits != PELTON_UTIL_FITS_CAPACITY;
}

/* To 6.7: the clamps are part of the sum. */
PELTON_INLINE u32 pelton_asks_clamped(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
				      u32 dst, struct pelton_cpu_state *state)
{
	struct pelton_perf_terms t;

	if (cpu == dst && pelton_clamp_is_stale(pol, s, cpu)) {
		state->uclamp_min = s->task.uclamp_min;
		state->uclamp_max = s->task.uclamp_max;
	} else if (cpu == dst) {
		state->uclamp_min = pelton_max_u32(state->uclamp_min, s->task.uclamp_min);
		state->uclamp_max = pelton_max_u32(state->uclamp_max, s->task.uclamp_max);
	}
	return pelton_effective_cpu_util(pol, state, &t);
}

/* Capacity that one CPU asks of its domain with the task on `dst`. */
PELTON_INLINE u32 pelton_eenv_cpu_max_util(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u32 cpu, u32 dst)
{
	u32 sums = pelton_place_sums_clamps(pol, s);
	u32 util = sums ? pelton_place_util_clamped(pol, s, out, cpu, dst, 1)
			: pelton_place_util(pol, s, out, cpu, dst, 1);
	struct pelton_cpu_state state = pelton_state_with(s, cpu, util);
	struct pelton_perf_terms t;

	if (pol->perf_form != PELTON_PERF_SUM_THEN_CLAMP)
		return sums ? pelton_effective_cpu_util(pol, &state, &t)
			    : pelton_asks_clamped(pol, s, cpu, dst, &state);
	util = pelton_effective_cpu_util(pol, &state, &t);
	if (cpu == dst && s->uclamp_used && !sums) {
		t.min = pelton_max_u32(t.min, s->task.uclamp_min);
		if (pelton_place_cpu_of(s, cpu)->uclamp_idle)
			t.max = s->task.uclamp_max;
		else
			t.max = pelton_max_u32(t.max, s->task.uclamp_max);
	}
	return pelton_perf_within(pol, util, t.min, t.max);
}

/* Busy time of one CPU with the task on `dst`, as 5.15 counts it. */
PELTON_INLINE u32 pelton_limited_busy(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_placed *out, u32 cpu, u32 dst)
{
	u32 util = pelton_place_util(pol, s, out, cpu, cpu == dst ? PELTON_NO_CPU : dst, 0);

	if (cpu == dst)
		util += pelton_task_util_est(pol, &out->se);
	return pelton_energy_util(&pelton_place_cpu_of(s, cpu)->state, util);
}

#endif
