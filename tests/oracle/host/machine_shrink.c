// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the machine of a case simple: fewer CPUs, idle ones, fields without anything to say, smaller numbers. */
#include <string.h>

#include "machine.h"

#define ROUNDS 6

/* The case, and the field that differs in it. */
static const struct oracle_op *op;
static const struct oracle_state *in;
static u32 what;
static struct pelton_placement before;

/* Keeps what was changed since `before` if the case still differs in the same field. */
static u32 is_kept(void)
{
	static struct oracle_state k, p;

	if (machine_held.cpus[0].nr_domains && case_differs(op, in, &k, &p) == what)
		return 1;
	machine_held = before;
	return 0;
}

/* A set of CPUs without one of them; those after it move up. */
static u64 set_without(u64 set, u32 cpu)
{
	u64 low = (1ull << cpu) - 1;

	return (set & low) | (set >> 1 & ~low);
}

static u32 number_without(u32 number, u32 cpu)
{
	return number < PELTON_PLACE_CPUS_MAX && number > cpu ? number - 1 : number;
}

/* The first of a set that had `number` as its first. */
static u32 first_without(u32 number, u32 cpu)
{
	return number > cpu ? number - 1 : number;
}

/* Takes out a domain that is no larger than the one below it. */
static void drop_domain(struct pelton_place_cpu *c, u32 at)
{
	struct pelton_sched_domain *d = c->domains;

	if (at) {
		d[at - 1].flags |= d[at].flags & PELTON_SD_ASYM_CPUCAPACITY;
		d[at - 1].has_shared |= d[at].has_shared;
	}
	if (c->llc_domain != PELTON_NO_DOMAIN && c->llc_domain >= at)
		c->llc_domain = c->llc_domain ? c->llc_domain - 1 : PELTON_NO_DOMAIN;
	if (c->asym_domain != PELTON_NO_DOMAIN && c->asym_domain >= at)
		c->asym_domain = c->asym_domain ? c->asym_domain - 1 : PELTON_NO_DOMAIN;
	memmove(&d[at], &d[at + 1], (c->nr_domains - at - 1) * sizeof(*d));
	c->nr_domains--;
}

static void domains_without(struct pelton_place_cpu *c, u32 cpu)
{
	u32 i;

	for (i = 0; i < c->nr_domains; i++)
		c->domains[i].span = set_without(c->domains[i].span, cpu);
	for (i = 0; i < c->nr_domains;)
		if (pelton_cpus_weight(c->domains[i].span) < 2 || (i && c->domains[i].span == c->domains[i - 1].span))
			drop_domain(c, i);
		else
			i++;
}

static void cpu_without(struct pelton_place_cpu *c, u32 cpu, u32 of_cache)
{
	c->threads = set_without(c->threads, cpu);
	c->llc_size -= c->llc == of_cache;
	c->llc = first_without(c->llc, cpu);
	c->cluster = first_without(c->cluster, cpu);
	domains_without(c, cpu);
}

static void models_without(u32 cpu)
{
	struct pelton_perf_domain *d = machine_held.perf_domains;
	u32 i;

	for (i = 0; i < machine_held.nr_perf_domains;) {
		d[i].cpus = set_without(d[i].cpus, cpu);
		if (d[i].cpus) {
			i++;
			continue;
		}
		memmove(&d[i], &d[i + 1], (machine_held.nr_perf_domains - i - 1) * sizeof(*d));
		machine_held.nr_perf_domains--;
	}
}

/* Is there anything that needs this CPU? */
static u32 is_needed(u32 cpu)
{
	const struct pelton_place_task *t = &machine_held.task;

	return cpu == machine_held.this_cpu || cpu == machine_held.prev_cpu || cpu == t->cpu ||
	       t->allowed == 1ull << cpu;
}

static void remove_cpu(u32 cpu)
{
	struct pelton_placement *m = &machine_held;
	u32 i, of_cache = m->cpus[cpu].llc;

	memmove(&m->cpus[cpu], &m->cpus[cpu + 1], (m->nr_cpus - cpu - 1) * sizeof(m->cpus[0]));
	m->nr_cpus--;
	for (i = 0; i < m->nr_cpus; i++)
		cpu_without(&m->cpus[i], cpu, of_cache);
	models_without(cpu);
	m->prev_cpu = number_without(m->prev_cpu, cpu);
	m->task.cpu = number_without(m->task.cpu, cpu);
	m->task.recent_cpu = m->task.recent_cpu == cpu ? m->prev_cpu : number_without(m->task.recent_cpu, cpu);
	m->task.allowed = set_without(m->task.allowed, cpu);
}

static u32 fewer_cpus(void)
{
	u32 cpu, changed = 0;

	for (cpu = machine_held.nr_cpus - 1; cpu && machine_held.nr_cpus > 2; cpu--) {
		if (is_needed(cpu))
			continue;
		before = machine_held;
		remove_cpu(cpu);
		changed |= is_kept();
	}
	return changed;
}

static u32 set_and_keep(void *record, const struct machine_field *f, u64 value)
{
	before = machine_held;
	machine_set(record, f, value);
	return is_kept();
}

/* The smallest value down to the plain one with which the case still differs. */
static u32 smaller(void *record, const struct machine_field *f)
{
	u64 value = machine_get(record, f);
	u32 changed = 0;

	if (value == f->plain)
		return 0;
	if (set_and_keep(record, f, f->plain))
		return 1;
	if (!strcmp(f->name, "util_est") && value & PELTON_UTIL_EST_UNCHANGED &&
	    set_and_keep(record, f, value & ~(u64)PELTON_UTIL_EST_UNCHANGED))
		return 1;
	while (value > 1 && f->plain <= value / 2 && set_and_keep(record, f, value / 2)) {
		value /= 2;
		changed = 1;
	}
	return changed;
}

static u32 smaller_record(void *record, const struct machine_field *f)
{
	u32 changed = 0;

	for (; f->name; f++)
		changed |= smaller(record, f);
	return changed;
}

/* Nothing runs on a CPU. */
static u32 make_idle(struct pelton_place_cpu *c)
{
	if (c->curr_is_task || (c->curr_idle && !c->nr_running))
		return 0;
	before = machine_held;
	c->nr_running = c->state.rt_nr_running = c->h_nr_queued = c->h_nr_runnable = c->h_nr_idle = 0;
	c->misfit_load = 0;
	c->curr_idle = 1;
	return is_kept();
}

/* All of a CPU is left for fair tasks; fields whose plain value is another CPU's are not made smaller by halves. */
static u32 make_whole(struct pelton_place_cpu *c)
{
	if (c->capacity == c->state.cap_orig)
		return 0;
	before = machine_held;
	c->capacity = c->state.cap_orig;
	return is_kept();
}

static u32 simpler_cpu(struct pelton_place_cpu *c)
{
	const struct machine_field *f;
	u32 changed = make_idle(c) | make_whole(c);

	for (f = machine_cpu; f->name; f++)
		if (strcmp(f->name, "capacity_left") && !strstr(f->name, "nr_running") && strncmp(f->name, "h_nr", 4))
			changed |= smaller(c, f);
	return changed;
}

static u32 simpler_task(void)
{
	struct pelton_place_task *t = &machine_held.task;
	u64 all = machine_held.nr_cpus < 64 ? pelton_cpus_of(machine_held.nr_cpus) - 1 : ~0ull;
	u32 changed = 0;

	if (t->allowed != all) {
		before = machine_held;
		t->allowed = all;
		changed |= is_kept();
	}
	return changed | smaller_record(t, machine_task);
}

/* The machine that is held, as simple as it becomes while the case differs in the same field. */
void machine_shrink(const struct oracle_op *of, const struct oracle_state *state)
{
	static struct oracle_state k, p;
	u32 round, cpu, changed = 1;

	op = of;
	in = state;
	what = case_differs(op, in, &k, &p);
	for (round = 0; round < ROUNDS && changed; round++) {
		changed = fewer_cpus();
		for (cpu = 0; cpu < machine_held.nr_cpus; cpu++)
			changed |= simpler_cpu(&machine_held.cpus[cpu]);
		changed |= simpler_task() | smaller_record(&machine_held.waker, machine_waker) |
			   smaller_record(&machine_held, machine_facts);
	}
}
