/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of CPUs, one bit a CPU, and walks over them in the kernel's orders.
 *
 *   lowest(S)        number of the lowest member
 *   weight(S)        number of members
 *   turned(S, k)     S turned so that CPU k is bit 0: a walk over its bits visits the members from k on, then from 0
 *
 *   for (walk = pelton_walk(set, k); pelton_walk_more(&walk); pelton_walk_step(&walk))
 *           cpu = pelton_walk_at(&walk, k);
 *
 *   type          up to 64 CPUs    more
 *   pelton_cpus   a word           an array of words: a set in hand
 *   pelton_walk   a turned set     the members not yet visited, and where the walk stands
 *   pelton_members  a word         what is common to two sets of a record, read word by word: an ascending walk
 *   pelton_span   a word           a number: 0 = none, 1 + c = CPU c alone, else a row of the record's table of sets
 *
 * A record of a large machine has one row for each set that is a domain, and domains of many CPUs name it: copies of
 * wide sets would be most of the record. Both forms do the same; one word costs what a word costs.
 *
 * Source: Linux 7.2 include/linux/cpumask.h (for_each_cpu, for_each_cpu_wrap, cpumask_weight).
 * Deviations: at most PELTON_PLACE_CPUS_MAX CPUs.
 */
#ifndef PELTON_CPUS_H
#define PELTON_CPUS_H

#include "arith.h"
#include "bounds.h"

#define PELTON_NO_CPU 0xffffffffu

PELTON_INLINE u64 pelton_cpus_of(u32 cpu)
{
	return 1ull << (cpu & 63u);
}

/* Adds up the bits in pairs, fours, bytes: every target of the core can do that, BPF included. */
PELTON_INLINE u32 pelton_cpus_ones(u64 set)
{
	set -= set >> 1 & 0x5555555555555555ull;
	set = (set & 0x3333333333333333ull) + (set >> 2 & 0x3333333333333333ull);
	set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)(set * 0x0101010101010101ull >> 56);
}

/* Many sets have one CPU. */
PELTON_INLINE u32 pelton_cpus_weight(u64 set)
{
	if (!(set & (set - 1)))
		return set != 0;
	return pelton_cpus_ones(set);
}

/*
 * Of a set that is not empty. BPF has no instruction that counts zeros: it adds up the ones below, without a branch
 * that its verifier would follow both ways.
 */
PELTON_INLINE u32 pelton_cpus_lowest(u64 set)
{
#ifdef __bpf__
	return pelton_cpus_ones((set & (0 - set)) - 1) & 63u;
#else
	return set ? (u32)__builtin_ctzll(set) : 0;
#endif
}

PELTON_INLINE u64 pelton_cpus_turned(u64 set, u32 first)
{
	first &= 63u;
	return set >> first | set << ((64u - first) & 63u);
}

#if PELTON_PLACE_CPUS_MAX <= 64u

typedef u64 pelton_cpus;
typedef u64 pelton_span;

#define PELTON_SPAN_NONE 0

PELTON_INLINE u32 pelton_cpus_has(pelton_cpus set, u32 cpu)
{
	return cpu < PELTON_PLACE_CPUS_MAX && (set >> cpu & 1u);
}

PELTON_INLINE pelton_cpus pelton_cpus_alone(u32 cpu)
{
	return pelton_cpus_of(cpu);
}

PELTON_INLINE u32 pelton_cpus_any(pelton_cpus set)
{
	return set != 0;
}

PELTON_INLINE u32 pelton_cpus_count(pelton_cpus set)
{
	return pelton_cpus_weight(set);
}

PELTON_INLINE pelton_cpus pelton_cpus_and(pelton_cpus a, pelton_cpus b)
{
	return a & b;
}

PELTON_INLINE pelton_cpus pelton_cpus_or(pelton_cpus a, pelton_cpus b)
{
	return a | b;
}

PELTON_INLINE pelton_cpus pelton_cpus_without(pelton_cpus a, pelton_cpus b)
{
	return a & ~b;
}

/* Of a set that is not empty. */
PELTON_INLINE u32 pelton_cpus_first(pelton_cpus set)
{
	return pelton_cpus_lowest(set);
}

#ifdef __bpf__
/* A kernel's verifier has to count the steps of a loop to see that it ends. */
struct pelton_counted {
	u64 set;
	u32 left; /* steps */
};

typedef struct pelton_counted pelton_walk;
typedef struct pelton_counted pelton_members;

PELTON_INLINE struct pelton_counted pelton_walk_of(u64 set)
{
	struct pelton_counted walk = { set, 64u };

	return walk;
}

PELTON_INLINE u64 pelton_walk_left(const pelton_walk *walk)
{
	return walk->left ? walk->set : 0;
}

PELTON_INLINE void pelton_walk_keep(pelton_walk *walk, u64 set)
{
	walk->set &= set;
}

PELTON_INLINE void pelton_walk_step(pelton_walk *walk)
{
	walk->set &= walk->set - 1;
	walk->left--;
}
#else
typedef u64 pelton_walk;
typedef u64 pelton_members;

PELTON_INLINE u64 pelton_walk_of(u64 set)
{
	return set;
}

PELTON_INLINE u64 pelton_walk_left(const pelton_walk *walk)
{
	return *walk;
}

PELTON_INLINE void pelton_walk_keep(pelton_walk *walk, u64 set)
{
	*walk &= set;
}

PELTON_INLINE void pelton_walk_step(pelton_walk *walk)
{
	*walk &= *walk - 1;
}
#endif

/* A walk from CPU `first` on, which all its functions get. */
PELTON_INLINE pelton_walk pelton_walk_from(pelton_cpus set, u32 first)
{
	return pelton_walk_of(pelton_cpus_turned(set, first));
}

PELTON_INLINE u32 pelton_walk_more(const pelton_walk *walk)
{
	return pelton_walk_left(walk) != 0;
}

PELTON_INLINE u32 pelton_walk_at(const pelton_walk *walk, u32 first)
{
	return (pelton_cpus_lowest(pelton_walk_left(walk)) + first) & 63u;
}

/* These CPUs are not visited any more. */
PELTON_INLINE void pelton_walk_skip(pelton_walk *walk, pelton_cpus set, u32 first)
{
	pelton_walk_keep(walk, ~pelton_cpus_turned(set, first));
}

PELTON_INLINE u32 pelton_members_more(const pelton_members *m)
{
	return pelton_walk_more(m);
}

PELTON_INLINE u32 pelton_members_at(const pelton_members *m)
{
	return pelton_cpus_lowest(pelton_walk_left(m));
}

PELTON_INLINE void pelton_members_step(pelton_members *m)
{
	pelton_walk_step(m);
}

PELTON_INLINE pelton_span pelton_span_alone(u32 cpu)
{
	return pelton_cpus_of(cpu);
}

PELTON_INLINE u32 pelton_span_any(pelton_span span)
{
	return span != 0;
}

#else
#include "cpus_wide.h"
#endif

#endif
