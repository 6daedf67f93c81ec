/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both forms of placement by energy ask of a performance domain: how busy its CPUs are, what the busiest asks for,
 * what that costs, and under which clamps the task would be on a CPU.
 *
 *   busy(c)      (util + rt + dl) * (cap_orig - irq) / cap_orig + irq         time, no clamps
 *   asks(c)      the same with the clamps of the CPU's tasks and, on its destination, of the task
 *     to 6.7     clamp(util + rt), irq, deadline reservation; the margin of a quarter is added by the energy model
 *     6.8        max(min, min(5/4 * util, max))
 *
 *   quantity   unit       range
 *   all        capacity   0 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/fair.c (eenv_pd_busy_time, eenv_pd_max_util), kernel/sched/syscalls.c
 * (effective_cpu_util); 6.1.192 kernel/sched/core.c (effective_cpu_util), kernel/sched/sched.h (uclamp_rq_util_with);
 * 5.10.262 kernel/sched/ cpufreq_schedutil.c (schedutil_cpu_util). Deviations: none known.
 */
#ifndef PELTON_FEEC_ENERGY_H
#define PELTON_FEEC_ENERGY_H

#include "energy_domain.h"
#include "feec_cpu.h"

PELTON_INLINE const struct pelton_perf_domain *pelton_perf_domain_of(const struct pelton_placement *s, u32 index)
{
	return &pelton_rows(s)->perf_domains[index & (PELTON_PERF_DOMAINS_MAX - 1u)];
}

/* Time that a CPU is busy with the task on `dst`. */
PELTON_INLINE u32 pelton_eenv_cpu_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					    const struct pelton_placed *out, u32 cpu, u32 dst)
{
	return pelton_energy_util(&pelton_place_cpu_of(s, cpu)->state, pelton_place_util(pol, s, out, cpu, dst, 0));
}

/* Sum of that over a domain with the task on `dst`. */
PELTON_INLINE u64 pelton_eenv_pd_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u32 index, u32 dst)
{
	pelton_cpus cpus = pelton_span_cpus(s, pelton_perf_domain_of(s, index)->cpus);
	pelton_walk walk;
	u64 busy = 0;

	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		busy += pelton_eenv_cpu_busy_time(pol, s, out, pelton_walk_at(&walk, 0), dst);
	return busy;
}

PELTON_INLINE u32 pelton_eenv_pd_max_util(const struct pelton_policy *pol, const struct pelton_placement *s,
					  const struct pelton_placed *out, u32 index, u32 dst)
{
	pelton_cpus cpus = pelton_span_cpus(s, pelton_perf_domain_of(s, index)->cpus);
	pelton_walk walk;
	u32 max_util = 0;

	for (walk = pelton_walk_from(cpus, 0); pelton_walk_more(&walk); pelton_walk_step(&walk))
		max_util =
			pelton_max_u32(max_util, pelton_eenv_cpu_max_util(pol, s, out, pelton_walk_at(&walk, 0), dst));
	return max_util;
}

/* Energy of a domain whose busiest CPU asks for `max_util`. */
PELTON_INLINE u64 pelton_place_em_energy(const struct pelton_policy *pol, const struct pelton_placement *s, u32 index,
					 u32 max_util, u64 busy, u32 allowed_cap)
{
	const struct pelton_perf_domain *pd = pelton_perf_domain_of(s, index);
	u32 first = pelton_min_u32(pd->first_state, PELTON_PLACE_STATES_MAX);
	u32 n = pelton_min_u32(pd->nr_states, PELTON_PLACE_STATES_MAX - first);
	const struct pelton_em_state *states = &pelton_rows(s)->states[first & (PELTON_PLACE_STATES_MAX - 1u)];

	if (pol->energy_model == PELTON_ENERGY_MODEL_PERFORMANCE)
		return pelton_em_cpu_energy(states, n, pd->min_state, pd->max_state, max_util, busy, allowed_cap);
	return pelton_em_energy_by_frequency(pol, states, n,
					     pelton_place_cpu_of(s, pelton_span_first(s, pd->cpus))->state.cap_orig,
					     max_util, busy, allowed_cap);
}

/* Keeps a comparison for explanations and checks. */
PELTON_INLINE void pelton_note_energy(struct pelton_placed *out, const struct pelton_place_energy *e)
{
	if (out->nr_energies < PELTON_PLACE_ENERGIES_MAX)
		out->energies[out->nr_energies++] = *e;
}

/* CPUs among which the choice may be made: the smallest domain of unequal CPUs that reaches the previous one. */
PELTON_INLINE pelton_span pelton_feec_span(const struct pelton_placement *s)
{
	u32 level, cpu = s->this_cpu, levels = pelton_place_levels(s, cpu);
	u32 lowest = pelton_place_cpu_of(s, cpu)->asym_domain;

	for (level = 0; level < levels; level++) {
		pelton_span span = pelton_place_domain(s, cpu, level)->span;

		if (level >= lowest && pelton_span_has(s, span, s->prev_cpu))
			return span;
	}
	return PELTON_SPAN_NONE;
}

/* The task's signals at the last update of its queue. */
PELTON_INLINE void pelton_sync_entity_load_avg(const struct pelton_policy *pol, const struct pelton_placement *s,
					       struct pelton_placed *out)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, s->task.cpu)->state;
	struct pelton_ctx ctx = { pol, s->task.queue_update_ns, c->cap_orig, PELTON_CAPACITY_SCALE };
	struct pelton_uclamp_sum_task t = { .value = out->uclamp_value, .counted = s->task.on_rq };

	pelton_uclamp_sum_age_task(&t, &out->se.avg, ctx.now);
	out->uclamp_value = t.value;
	pelton_update_load_avg_blocked_se(&ctx, &out->se);
}

#endif
