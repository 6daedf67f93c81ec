/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Energy-aware placement of a task that wakes: of each performance domain the CPU with most room, of those and the
 * previous CPU the one that adds least energy.
 *
 *   room(c)    = cap(c) - util of c with the task, of the CPUs that the task fits (fits.h)
 *   busy(d)    = sum of effective utilization of the domain's CPUs without the task, at most A * CPUs
 *   E(d, dst)  = cost of the state that serves the busiest CPU * (busy + what the task runs, when it comes to d)
 *   added      = E(d, dst) - E(d, nowhere)
 *
 *   a candidate that fits wins over one whose floor is lost; among those that fit the smallest addition wins, among those
 *   whose floor is lost the largest A; the previous CPU wins ties.
 *
 *   quantity       unit                              range
 *   util, cap, A   capacity                          0 .. 1024
 *   energy         cost * capacity (energy.h)        u64
 *
 * Source: Linux 7.2 kernel/sched/fair.c (find_energy_efficient_cpu, compute_energy, eenv_task_busy_time,
 * eenv_pd_busy_time, eenv_pd_max_util). Deviations: CPUs that are offline are not in the record.
 */
#ifndef PELTON_FEEC_H
#define PELTON_FEEC_H

#include "fits.h"

/* What the search carries from one performance domain to the next. */
struct pelton_feec {
	u64 task_busy;
	u64 prev_delta;
	u64 best_delta;
	u32 best_cpu;
	s32 prev_fits;
	s32 best_fits;
	u32 prev_actual;
	u32 best_actual;
	u32 done; /* the answer is the previous CPU, whatever comes */
};

/* The domain that is looked at. */
struct pelton_feec_domain {
	u64 busy; /* of its CPUs without the task */
	u64 capacity;
	u32 index;
	u32 actual; /* of each of its CPUs */
	s64 prev_spare;
	s64 max_spare;
	u32 max_spare_cpu;
	s32 max_fits;
	s32 prev_fits;
};

/* Clamps that the task and the tasks beside it would be under. */
struct pelton_feec_clamps {
	u32 min;
	u32 max;
};

PELTON_INLINE u64 pelton_eenv_task_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_placed *out)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, s->prev_cpu)->state;
	u32 util = pelton_task_util_est(pol, &out->se);

	if (c->util_irq >= c->cap_orig)
		return c->cap_orig;
	return pelton_mul_div_floor(util, c->cap_orig - c->util_irq, c->cap_orig);
}

/* Signals of a CPU with another utilization of the fair class. */
PELTON_INLINE struct pelton_cpu_state pelton_state_with(const struct pelton_placement *s, u32 cpu, u32 util)
{
	struct pelton_cpu_state state = pelton_place_cpu_of(s, cpu)->state;

	state.util_cfs = util;
	state.runnable_cfs = 0;
	state.util_est = 0;
	state.uclamp_used = s->uclamp_used;
	return state;
}

/* Sum of the time that the domain's CPUs are busy without the task. */
PELTON_INLINE u64 pelton_eenv_pd_busy_time(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u64 cpus)
{
	u64 left, busy = 0;

	for (left = cpus; left; left &= left - 1) {
		u32 cpu = pelton_cpus_lowest(left);
		u32 util = pelton_place_util(pol, s, out, cpu, 1, PELTON_NO_CPU, 0);
		struct pelton_cpu_state state = pelton_state_with(s, cpu, util);
		struct pelton_perf_terms terms;

		busy += pelton_effective_util(pol, &state, &terms);
	}
	return busy;
}

/* What one CPU asks of its domain with the task on `dst`. */
PELTON_INLINE u32 pelton_eenv_cpu_max_util(const struct pelton_policy *pol, const struct pelton_placement *s,
					   const struct pelton_placed *out, u32 cpu, u32 dst)
{
	u32 util = pelton_place_util(pol, s, out, cpu, 1, dst, 1);
	struct pelton_cpu_state state = pelton_state_with(s, cpu, util);
	struct pelton_perf_terms t;

	util = pelton_effective_util(pol, &state, &t);
	if (cpu == dst && s->uclamp_used) {
		t.min = pelton_max_u32(t.min, s->task.uclamp_min);
		if (pelton_place_cpu_of(s, cpu)->uclamp_idle)
			t.max = s->task.uclamp_max;
		else
			t.max = pelton_max_u32(t.max, s->task.uclamp_max);
	}
	return pelton_perf_clamped(util, t.min, t.max);
}

PELTON_INLINE u32 pelton_eenv_pd_max_util(const struct pelton_policy *pol, const struct pelton_placement *s,
					  const struct pelton_placed *out, u64 cpus, u32 actual, u32 dst)
{
	u64 left;
	u32 max_util = 0;

	for (left = cpus; left; left &= left - 1)
		max_util = pelton_max_u32(
			max_util, pelton_eenv_cpu_max_util(pol, s, out, pelton_cpus_lowest(left), dst));
	return pelton_min_u32(max_util, actual);
}

/* Keeps a comparison for explanations and checks. */
PELTON_INLINE void pelton_note_energy(struct pelton_placed *out, const struct pelton_place_energy *e)
{
	if (out->nr_energies < PELTON_PLACE_ENERGIES_MAX)
		out->energies[out->nr_energies++] = *e;
}

/* Energy of the domain with the task on `dst`; PELTON_NO_CPU: without it. */
PELTON_INLINE u64 pelton_compute_energy(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, const struct pelton_feec *f,
					const struct pelton_feec_domain *d, u32 dst)
{
	const struct pelton_perf_domain *pd = &s->perf_domains[d->index & (PELTON_PERF_DOMAINS_MAX - 1u)];
	u32 first = pelton_min_u32(pd->first_state, PELTON_PLACE_STATES_MAX);
	u32 states = pelton_min_u32(pd->nr_states, PELTON_PLACE_STATES_MAX - first);
	struct pelton_place_energy e = { .cpu = dst, .perf_domain = d->index };
	u64 busy = d->busy;

	if (dst != PELTON_NO_CPU)
		busy = pelton_min_u64(d->capacity, busy + f->task_busy);
	e.busy = (u32)busy;
	e.max_util = pelton_eenv_pd_max_util(pol, s, out, pd->cpus, d->actual, dst);
	e.energy = pelton_em_cpu_energy(&s->states[first & (PELTON_PLACE_STATES_MAX - 1u)], states, pd->min_state,
					pd->max_state, e.max_util, busy, d->actual);
	pelton_note_energy(out, &e);
	return e.energy;
}

/* Looks at one CPU as a place for the task: is it the previous one, or the one with most room so far? */
PELTON_INLINE void pelton_feec_consider(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_placed *out, struct pelton_feec_domain *d,
					struct pelton_feec_clamps *clamps, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 util = pelton_place_util(pol, s, out, cpu, 1, cpu, 0);
	s64 spare = pelton_sub_floor_u32(c->capacity, util);
	s32 fits;

	/* An idle CPU's clamps are left over: those of the CPU before it stay in force, as in the kernel. */
	if (s->uclamp_used && !c->uclamp_idle) {
		clamps->min = pelton_max_u32(c->state.uclamp_min, s->task.uclamp_min);
		clamps->max = pelton_max_u32(c->state.uclamp_max, s->task.uclamp_max);
	}
	fits = pelton_util_fits_cpu(s, util, clamps->min, clamps->max, cpu);
	if (!fits)
		return;
	if (cpu == s->prev_cpu) {
		d->prev_spare = spare;
		d->prev_fits = fits;
	} else if (fits > d->max_fits || (fits == d->max_fits && spare > d->max_spare)) {
		d->max_spare = spare;
		d->max_spare_cpu = cpu;
		d->max_fits = fits;
	}
}

/* Finds the previous CPU and the one with most room in a domain; 0 = the task fits nowhere in it. */
PELTON_INLINE u32 pelton_feec_candidates(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out, struct pelton_feec_domain *d, u64 span)
{
	const struct pelton_perf_domain *pd = &s->perf_domains[d->index & (PELTON_PERF_DOMAINS_MAX - 1u)];
	struct pelton_feec_clamps clamps = { 0, PELTON_CAPACITY_SCALE };
	u64 left = pd->cpus & span & s->task.allowed;

	if (s->uclamp_used) {
		clamps.min = s->task.uclamp_min;
		clamps.max = s->task.uclamp_max;
	}
	for (; left; left &= left - 1)
		pelton_feec_consider(pol, s, out, d, &clamps, pelton_cpus_lowest(left));
	return d->prev_spare >= 0 || d->max_spare_cpu != PELTON_NO_CPU;
}

/* What the previous CPU, which is in this domain, would add. */
PELTON_INLINE void pelton_feec_prev(const struct pelton_policy *pol, const struct pelton_placement *s,
				    struct pelton_placed *out, struct pelton_feec *f, const struct pelton_feec_domain *d,
				    u64 base)
{
	u64 with = pelton_compute_energy(pol, s, out, f, d, s->prev_cpu);

	if (with < base) {
		f->done = 1;
		return;
	}
	f->prev_fits = d->prev_fits;
	f->prev_delta = with - base;
	f->prev_actual = d->actual;
	f->best_delta = pelton_min_u64(f->best_delta, f->prev_delta);
}

/* What the CPU with most room would add, when it can be better than what was found before. */
PELTON_INLINE void pelton_feec_candidate(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, struct pelton_feec *f,
					 const struct pelton_feec_domain *d, u64 base)
{
	u64 with;

	if (d->max_fits < f->best_fits || (d->max_fits < 0 && d->actual <= f->best_actual))
		return;
	with = pelton_compute_energy(pol, s, out, f, d, d->max_spare_cpu);
	if (with < base) {
		f->done = 1;
		return;
	}
	if (d->max_fits > 0 && f->best_fits > 0 && with - base >= f->best_delta)
		return;
	f->best_delta = with - base;
	f->best_cpu = d->max_spare_cpu;
	f->best_fits = d->max_fits;
	f->best_actual = d->actual;
}

PELTON_INLINE void pelton_feec_domain(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, struct pelton_feec *f, u32 index, u64 span)
{
	u64 base, cpus = s->perf_domains[index & (PELTON_PERF_DOMAINS_MAX - 1u)].cpus;
	struct pelton_feec_domain d = {
		.index = index, .prev_spare = -1, .max_spare = -1, .max_spare_cpu = PELTON_NO_CPU, .max_fits = -1,
		.prev_fits = -1
	};

	if (!cpus)
		return;
	d.actual = pelton_actual_capacity(s, pelton_cpus_lowest(cpus));
	d.capacity = (u64)d.actual * pelton_cpus_weight(cpus);
	if (!pelton_feec_candidates(pol, s, out, &d, span))
		return;
	d.busy = pelton_min_u64(d.capacity, pelton_eenv_pd_busy_time(pol, s, out, cpus));
	base = pelton_compute_energy(pol, s, out, f, &d, PELTON_NO_CPU);
	if (d.prev_spare >= 0)
		pelton_feec_prev(pol, s, out, f, &d, base);
	if (!f->done && d.max_spare_cpu != PELTON_NO_CPU && d.max_spare > d.prev_spare)
		pelton_feec_candidate(pol, s, out, f, &d, base);
}

/* CPUs among which the choice may be made: the smallest domain of unequal CPUs that reaches the previous one. */
PELTON_INLINE u64 pelton_feec_span(const struct pelton_placement *s)
{
	u32 level, levels = pelton_place_levels(s, s->this_cpu);

	for (level = pelton_place_cpu_of(s, s->this_cpu)->asym_domain; level < levels; level++) {
		u64 span = pelton_place_domain(s, s->this_cpu, level)->span;

		if (pelton_cpus_has(span, s->prev_cpu))
			return span;
	}
	return 0;
}

/* Is what was found better than to stay? */
PELTON_INLINE u32 pelton_feec_moves(const struct pelton_feec *f)
{
	if (f->done)
		return 0;
	return f->best_fits > f->prev_fits || (f->best_fits > 0 && f->best_delta < f->prev_delta) ||
	       (f->best_fits < 0 && f->best_actual > f->prev_actual);
}

/* The task's signals at the last update of its queue. */
PELTON_INLINE void pelton_sync_entity_load_avg(const struct pelton_policy *pol, const struct pelton_placement *s,
					       struct pelton_placed *out)
{
	const struct pelton_cpu_state *c = &pelton_place_cpu_of(s, s->task.cpu)->state;
	struct pelton_ctx ctx = { pol, s->task.queue_update_ns, c->cap_orig, PELTON_CAPACITY_SCALE };

	pelton_update_blocked_se(&ctx, &out->se);
}

/* 1 = out->cpu is chosen, 0 = energy cannot decide here. */
PELTON_INLINE u32 pelton_find_energy_efficient_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
						   struct pelton_placed *out)
{
	struct pelton_feec f = { .prev_delta = ~0ull, .best_delta = ~0ull, .best_cpu = s->prev_cpu, .prev_fits = -1,
				 .best_fits = -1 };
	u32 i, domains = pelton_min_u32(s->nr_perf_domains, PELTON_PERF_DOMAINS_MAX);
	u64 span = domains ? pelton_feec_span(s) : 0;

	if (!span)
		return 0;
	out->cpu = s->prev_cpu;
	out->how = PELTON_HOW_ENERGY;
	pelton_sync_entity_load_avg(pol, s, out);
	if (!pelton_task_util_est(pol, &out->se) && !(s->uclamp_used && s->task.uclamp_min)) {
		out->how = PELTON_HOW_ENERGY_NO_UTIL;
		return 1;
	}
	f.task_busy = pelton_eenv_task_busy_time(pol, s, out);
	for (i = 0; i < domains && !f.done; i++)
		pelton_feec_domain(pol, s, out, &f, i, span);
	if (f.done)
		out->how = PELTON_HOW_ENERGY_FELL;
	else if (pelton_feec_moves(&f))
		out->cpu = f.best_cpu;
	return 1;
}

#endif
