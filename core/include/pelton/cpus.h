/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of CPUs, one bit a CPU, and walks over them in the kernel's orders.
 *
 *   lowest(S)        number of the lowest member
 *   weight(S)        number of members
 *   turned(S, k)     S turned so that CPU k is bit 0: a walk over its bits visits the members from k on, then from 0
 *
 *   for (left = pelton_cpus_turned(set, k); left; left &= left - 1)
 *           cpu = pelton_cpus_next(left, k);
 *
 * Source: Linux 7.2 include/linux/cpumask.h (for_each_cpu, for_each_cpu_wrap, cpumask_weight).
 * Deviations: at most 64 CPUs.
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

PELTON_INLINE u32 pelton_cpus_has(u64 set, u32 cpu)
{
	return cpu < PELTON_PLACE_CPUS_MAX && (set >> cpu & 1u);
}

/*
 * Adds up the bits in pairs, fours, bytes: every target of the core can do that, BPF included. Many sets have one CPU.
 */
PELTON_INLINE u32 pelton_cpus_weight(u64 set)
{
	if (!(set & (set - 1)))
		return set != 0;
	set -= set >> 1 & 0x5555555555555555ull;
	set = (set & 0x3333333333333333ull) + (set >> 2 & 0x3333333333333333ull);
	set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)(set * 0x0101010101010101ull >> 56);
}

/* Of a set that is not empty. BPF has no instruction that counts zeros: it adds up the ones below. */
PELTON_INLINE u32 pelton_cpus_lowest(u64 set)
{
#ifdef __bpf__
	return pelton_cpus_weight((set & (0 - set)) - 1) & 63u;
#else
	return set ? (u32)__builtin_ctzll(set) : 0;
#endif
}

PELTON_INLINE u64 pelton_cpus_turned(u64 set, u32 first)
{
	first &= 63u;
	return first ? set >> first | set << (64u - first) : set;
}

/* A walk over groups of CPUs meets each at its first CPU from `first` on: what is left of a turned set after one. */
PELTON_INLINE u64 pelton_cpus_left_after(u64 turned, u64 group, u32 first)
{
	return turned & (turned - 1) & ~pelton_cpus_turned(group, first);
}

/* CPU of the lowest bit of a turned set. */
PELTON_INLINE u32 pelton_cpus_next(u64 turned, u32 first)
{
	return (pelton_cpus_lowest(turned) + first) & 63u;
}

#endif
