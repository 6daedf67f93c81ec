/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of more than 64 CPUs, for cpus.h: W = PELTON_PLACE_CPUS_MAX / 64 words, CPU c in word c / 64.
 *
 *   walk from CPU k     word k / 64 without the bits below k, the words after it, those before it, the bits below k
 *
 * Source: cpus.h. Deviations: those of cpus.h.
 */
#ifndef PELTON_CPUS_WIDE_H
#define PELTON_CPUS_WIDE_H

#include "cpus.h"

#define PELTON_CPUS_WORDS (PELTON_PLACE_CPUS_MAX / 64u)

typedef struct {
	u64 words[PELTON_CPUS_WORDS];
} pelton_cpus;

typedef struct {
	pelton_cpus left;
	u64 behind; /* bits of the first word that come last */
	u32 start;  /* the first word */
	u32 word;
	u32 turns; /* words left behind */
} pelton_walk;

typedef struct {
	const u64 *a;
	const u64 *b;
	u64 bits; /* of this word, not yet visited */
	u32 word;
	u32 end;      /* the last word with members */
	u32 left_out; /* a CPU that is not visited, or PELTON_NO_CPU */
} pelton_members;

typedef struct {
	u64 number;
} pelton_span;

#define PELTON_SPAN_NONE ((pelton_span){ 0 })

PELTON_INLINE u32 pelton_cpus_has(pelton_cpus set, u32 cpu)
{
	return cpu < PELTON_PLACE_CPUS_MAX && (set.words[cpu / 64u] >> (cpu & 63u) & 1u);
}

PELTON_INLINE pelton_cpus pelton_cpus_alone(u32 cpu)
{
	pelton_cpus set = { { 0 } };

	set.words[cpu / 64u & (PELTON_CPUS_WORDS - 1u)] = pelton_cpus_of(cpu);
	return set;
}

PELTON_INLINE u32 pelton_cpus_any(pelton_cpus set)
{
	u64 all = 0;
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS; i++)
		all |= set.words[i];
	return all != 0;
}

PELTON_INLINE u32 pelton_cpus_count(pelton_cpus set)
{
	u32 i, count = 0;

	for (i = 0; i < PELTON_CPUS_WORDS; i++)
		count += pelton_cpus_weight(set.words[i]);
	return count;
}

PELTON_INLINE pelton_cpus pelton_cpus_and(pelton_cpus a, pelton_cpus b)
{
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS; i++)
		a.words[i] &= b.words[i];
	return a;
}

PELTON_INLINE pelton_cpus pelton_cpus_or(pelton_cpus a, pelton_cpus b)
{
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS; i++)
		a.words[i] |= b.words[i];
	return a;
}

PELTON_INLINE pelton_cpus pelton_cpus_without(pelton_cpus a, pelton_cpus b)
{
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS; i++)
		a.words[i] &= ~b.words[i];
	return a;
}

/* Of a set that is not empty. */
PELTON_INLINE u32 pelton_cpus_first(pelton_cpus set)
{
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS - 1u && !set.words[i]; i++)
		;
	return 64u * i + pelton_cpus_lowest(set.words[i]);
}

/* A walk from CPU `first` on, which all its functions get. */
PELTON_INLINE pelton_walk pelton_walk_from(pelton_cpus set, u32 first)
{
	u64 from = ~0ull << (first & 63u);
	pelton_walk walk = { .left = set, .start = first / 64u & (PELTON_CPUS_WORDS - 1u) };

	walk.word = walk.start;
	walk.behind = set.words[walk.start] & ~from;
	walk.left.words[walk.start] &= from;
	return walk;
}

/* Goes on to a word with members. */
PELTON_INLINE u32 pelton_walk_more(pelton_walk *walk)
{
	for (; walk->turns <= PELTON_CPUS_WORDS; walk->turns++) {
		if (walk->left.words[walk->word & (PELTON_CPUS_WORDS - 1u)])
			return 1;
		walk->word = (walk->word + 1u) & (PELTON_CPUS_WORDS - 1u);
		if (walk->word == walk->start)
			walk->left.words[walk->start & (PELTON_CPUS_WORDS - 1u)] = walk->behind;
	}
	return 0;
}

PELTON_INLINE u32 pelton_walk_at(const pelton_walk *walk, u32 first)
{
	u32 word = walk->word & (PELTON_CPUS_WORDS - 1u);

	(void)first;
	return 64u * word + pelton_cpus_lowest(walk->left.words[word]);
}

PELTON_INLINE void pelton_walk_step(pelton_walk *walk)
{
	u64 *word = &walk->left.words[walk->word & (PELTON_CPUS_WORDS - 1u)];

	*word &= *word - 1;
}

/* These CPUs are not visited any more. */
PELTON_INLINE void pelton_walk_skip(pelton_walk *walk, pelton_cpus set, u32 first)
{
	(void)first;
	walk->left = pelton_cpus_without(walk->left, set);
	walk->behind &= ~set.words[walk->start & (PELTON_CPUS_WORDS - 1u)];
}

PELTON_INLINE void pelton_members_read(pelton_members *m)
{
	u32 word = m->word & (PELTON_CPUS_WORDS - 1u);

	m->bits = m->a[word] & m->b[word];
	if (m->left_out / 64u == word)
		m->bits &= ~pelton_cpus_of(m->left_out);
}

/* Goes on to a word with members. */
PELTON_INLINE u32 pelton_members_more(pelton_members *m)
{
	u32 i;

	for (i = 0; i < PELTON_CPUS_WORDS && !m->bits && m->word < m->end; i++) {
		m->word++;
		pelton_members_read(m);
	}
	return m->bits != 0;
}

PELTON_INLINE u32 pelton_members_at(const pelton_members *m)
{
	return 64u * m->word + pelton_cpus_lowest(m->bits);
}

PELTON_INLINE void pelton_members_step(pelton_members *m)
{
	m->bits &= m->bits - 1;
}

PELTON_INLINE pelton_span pelton_span_alone(u32 cpu)
{
	return (pelton_span){ 1u + (cpu & (PELTON_PLACE_CPUS_MAX - 1u)) };
}

PELTON_INLINE u32 pelton_span_any(pelton_span span)
{
	return span.number != 0;
}

#endif
