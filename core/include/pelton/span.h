/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules ask of the sets of CPUs that a record keeps.
 *
 *   up to 64 CPUs     a pelton_span is the set
 *   more              number 0 = none, 1 + c = CPU c alone, 1 + PELTON_PLACE_CPUS_MAX + i = the record's sets[i]
 *
 * Source: cpus.h. Deviations: those of cpus.h.
 */
#ifndef PELTON_SPAN_H
#define PELTON_SPAN_H

#include "cpus.h"
#include "placement.h"

#if PELTON_PLACE_CPUS_MAX <= 64u

PELTON_INLINE pelton_cpus pelton_span_cpus(const struct pelton_placement *s, pelton_span span)
{
	(void)s;
	return span;
}

PELTON_INLINE u32 pelton_span_has(const struct pelton_placement *s, pelton_span span, u32 cpu)
{
	(void)s;
	return pelton_cpus_has(span, cpu);
}

PELTON_INLINE u32 pelton_span_weight(const struct pelton_placement *s, pelton_span span)
{
	(void)s;
	return pelton_cpus_weight(span);
}

/* Of a set that is not empty. */
PELTON_INLINE u32 pelton_span_first(const struct pelton_placement *s, pelton_span span)
{
	(void)s;
	return pelton_cpus_lowest(span);
}

PELTON_INLINE u32 pelton_span_is_all(const struct pelton_placement *s, pelton_span span)
{
	return span == (s->nr_cpus >= 64 ? ~0ull : pelton_cpus_of(s->nr_cpus) - 1);
}

/* CPUs that are in both sets. */
PELTON_INLINE pelton_members pelton_members_of(const struct pelton_placement *s, pelton_span a, pelton_span b)
{
	(void)s;
	return pelton_walk_of(a & b);
}

/* CPUs of a set without one. */
PELTON_INLINE pelton_members pelton_members_without(const struct pelton_placement *s, pelton_span span, u32 cpu)
{
	(void)s;
	return pelton_walk_of(span & ~pelton_cpus_of(cpu));
}

/* Threads of a CPU's core, this one among them. */
PELTON_INLINE pelton_members pelton_members_core(const struct pelton_placement *s, u32 cpu)
{
	return pelton_walk_of(pelton_place_cpu_of(s, cpu)->threads | pelton_cpus_of(cpu));
}

PELTON_INLINE u32 pelton_span_meets(const struct pelton_placement *s, pelton_span a, pelton_span b)
{
	(void)s;
	return (a & b) != 0;
}

/* Number of cores of a group. */
PELTON_INLINE u32 pelton_span_cores(const struct pelton_placement *s, pelton_span group)
{
	u32 cores = 0;
	u64 left;

	if (pelton_cpus_weight(group) == 1)
		return 1;
	for (left = group; left; left &= left - 1) {
		cores++;
		left &= ~pelton_place_cpu_of(s, pelton_cpus_lowest(left))->threads |
			pelton_cpus_of(pelton_cpus_lowest(left));
	}
	return cores;
}

/* A step of a walk over groups, which meets each at its first CPU: leaves that and all others of the group behind. */
PELTON_INLINE void pelton_walk_leave(const struct pelton_placement *s, pelton_walk *walk, pelton_span group, u32 first)
{
	(void)s;
	pelton_walk_step(walk);
	pelton_walk_skip(walk, group, first);
}

/* The group of a CPU in its domain `level`: the record keeps it with that domain. */
PELTON_INLINE const struct pelton_sched_domain *pelton_span_group(const struct pelton_placement *s, pelton_span group,
								  u32 cpu, u32 level)
{
	(void)group;
	return pelton_place_domain(s, cpu, level);
}

#else

PELTON_INLINE u32 pelton_span_is_alone(pelton_span span)
{
	return span.number - 1u < PELTON_PLACE_CPUS_MAX;
}

PELTON_INLINE const struct pelton_place_set *pelton_span_set(const struct pelton_placement *s, pelton_span span)
{
	return &s->sets[(span.number - 1u - PELTON_PLACE_CPUS_MAX) & (PELTON_PLACE_SETS_MAX - 1u)];
}

PELTON_INLINE pelton_cpus pelton_span_cpus(const struct pelton_placement *s, pelton_span span)
{
	pelton_cpus none = { { 0 } };

	if (!span.number)
		return none;
	if (pelton_span_is_alone(span))
		return pelton_cpus_alone((u32)span.number - 1u);
	return pelton_span_set(s, span)->cpus;
}

PELTON_INLINE u32 pelton_span_has(const struct pelton_placement *s, pelton_span span, u32 cpu)
{
	if (!span.number || cpu >= PELTON_PLACE_CPUS_MAX)
		return 0;
	if (pelton_span_is_alone(span))
		return span.number == 1ull + cpu;
	return (u32)(pelton_span_set(s, span)->cpus.words[cpu / 64u] >> (cpu & 63u)) & 1u;
}

PELTON_INLINE u32 pelton_span_weight(const struct pelton_placement *s, pelton_span span)
{
	if (span.number <= PELTON_PLACE_CPUS_MAX)
		return span.number != 0;
	return pelton_span_set(s, span)->weight;
}

/* Of a set that is not empty. */
PELTON_INLINE u32 pelton_span_first(const struct pelton_placement *s, pelton_span span)
{
	if (span.number <= PELTON_PLACE_CPUS_MAX)
		return span.number ? (u32)span.number - 1u : 0;
	return pelton_span_set(s, span)->first;
}

PELTON_INLINE u32 pelton_span_is_all(const struct pelton_placement *s, pelton_span span)
{
	return pelton_span_weight(s, span) >= s->nr_cpus;
}

/* One CPU, or none. */
PELTON_INLINE pelton_members pelton_members_one(u32 cpu, u32 there)
{
	pelton_members m = { .word = cpu / 64u, .end = cpu / 64u, .left_out = PELTON_NO_CPU };

	m.bits = there ? pelton_cpus_of(cpu) : 0;
	return m;
}

/* CPUs that are in both sets. */
PELTON_INLINE pelton_members pelton_members_of(const struct pelton_placement *s, pelton_span a, pelton_span b)
{
	pelton_members m = { .left_out = PELTON_NO_CPU };
	const struct pelton_place_set *set = pelton_span_set(s, a);

	if (!a.number || !b.number)
		return m;
	if (pelton_span_is_alone(a))
		return pelton_members_one((u32)a.number - 1u, pelton_span_has(s, b, (u32)a.number - 1u));
	if (pelton_span_is_alone(b))
		return pelton_members_one((u32)b.number - 1u, pelton_span_has(s, a, (u32)b.number - 1u));
	m.a = set->cpus.words;
	m.b = pelton_span_set(s, b)->cpus.words;
	m.word = set->first / 64u;
	m.end = set->last / 64u;
	pelton_members_read(&m);
	return m;
}

/* CPUs of a set without one. */
PELTON_INLINE pelton_members pelton_members_without(const struct pelton_placement *s, pelton_span span, u32 cpu)
{
	pelton_members m = pelton_members_of(s, span, span);

	m.left_out = cpu;
	if (m.word == cpu / 64u)
		m.bits &= ~pelton_cpus_of(cpu);
	return m;
}

/* Threads of a CPU's core, this one among them. */
PELTON_INLINE pelton_members pelton_members_core(const struct pelton_placement *s, u32 cpu)
{
	pelton_span threads = pelton_place_cpu_of(s, cpu)->threads;

	return pelton_members_of(s, threads, threads);
}

PELTON_INLINE u32 pelton_span_meets(const struct pelton_placement *s, pelton_span a, pelton_span b)
{
	pelton_members m = pelton_members_of(s, a, b);

	return pelton_members_more(&m);
}

/* Number of cores of a group. */
PELTON_INLINE u32 pelton_span_cores(const struct pelton_placement *s, pelton_span group)
{
	return pelton_span_is_alone(group) ? 1u : pelton_span_set(s, group)->cores;
}

/* A step of a walk over groups, which meets each at its first CPU: leaves that and all others of the group behind. */
PELTON_INLINE void pelton_walk_leave(const struct pelton_placement *s, pelton_walk *walk, pelton_span group, u32 first)
{
	const struct pelton_place_set *set = pelton_span_set(s, group);
	u32 i, start = walk->start & (PELTON_CPUS_WORDS - 1u);

	(void)first;
	pelton_walk_step(walk);
	if (pelton_span_is_alone(group))
		return;
	for (i = set->first / 64u; i < PELTON_CPUS_WORDS && i <= set->last / 64u; i++)
		walk->left.words[i] &= ~set->cpus.words[i];
	walk->behind &= ~set->cpus.words[start];
}

/* The group of a CPU in its domain `level`: kept once for all its CPUs, with a CPU that is alone by itself. */
PELTON_INLINE const struct pelton_sched_domain *pelton_span_group(const struct pelton_placement *s, pelton_span group,
								  u32 cpu, u32 level)
{
	if (pelton_span_is_alone(group))
		return pelton_place_domain(s, cpu, level);
	return &pelton_span_set(s, group)->group;
}

#endif

/* CPUs of a set that the task may use. */
PELTON_INLINE pelton_cpus pelton_span_allowed(const struct pelton_placement *s, pelton_span span)
{
	return pelton_cpus_and(pelton_span_cpus(s, span), pelton_span_cpus(s, s->task.allowed));
}

/* Threads of a CPU's core, this one among them. */
PELTON_INLINE pelton_cpus pelton_place_core(const struct pelton_placement *s, u32 cpu)
{
	return pelton_cpus_or(pelton_span_cpus(s, pelton_place_cpu_of(s, cpu)->threads), pelton_cpus_alone(cpu));
}

/* The other threads. */
PELTON_INLINE pelton_cpus pelton_place_siblings(const struct pelton_placement *s, u32 cpu)
{
	return pelton_cpus_without(pelton_span_cpus(s, pelton_place_cpu_of(s, cpu)->threads), pelton_cpus_alone(cpu));
}

#endif
