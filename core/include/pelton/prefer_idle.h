/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SchedTune's prefer_idle: a task of such a group goes to an idle CPU, whatever that costs.
 *
 *   a CPU can be it   it is idle, and max(boosted task, others' utilization + task) is not above what the CPU can do
 *   a better one      boosted task: more capacity; else: less. Of equals: in a shallower idle state, else the one found first
 *   none              the task is placed as any other
 *
 *   500 of a task, idle CPUs of 446 and 1024: 1024; 100 of a task: 446, with a boost 1024
 *
 *   quantity      unit       range
 *   capacity      capacity   0 .. 1024; utilization may pass it while tasks join
 *   idle state    index      0 = shallowest
 *
 * Source: kernel/sched/fair.c of Android's 4.4 for the Pixel 2 (find_best_target case A.1, cpu_util_wake,
 * boosted_task_util, select_energy_cpu_brute, start_cpu). No Linux release has it.
 * Deviations: where no CPU is idle the kernel has rules of its own for such tasks (cases A.2 and A.3: most spare
 * capacity at the present frequency, least contention); here the task is placed as any other (F-260).
 */
#ifndef PELTON_PREFER_IDLE_H
#define PELTON_PREFER_IDLE_H

#include "arith.h"

/* A CPU that is looked at. */
struct pelton_idle_candidate {
	u32 cpu;
	u32 cap_orig;
	u32 util; /* of the others there */
	u32 idle;
	u32 state;
	u32 reserved;
};

/* A search, and what it found. */
struct pelton_prefer_idle {
	u32 boosted; /* the task's boost is above 0 */
	u32 task_util;
	u32 min_util; /* the same with its boost */
	u32 found;
	u32 cpu;
	u32 capacity;
	u32 state;
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_idle_candidate) == 24, "layout");
_Static_assert(sizeof(struct pelton_prefer_idle) == 32, "layout");

/* Is there room for the task? */
PELTON_INLINE u32 pelton_prefer_idle_fits(const struct pelton_prefer_idle *s, const struct pelton_idle_candidate *c)
{
	u32 others = pelton_min_u32(c->util, c->cap_orig);

	return pelton_max_u32(s->min_util, others + s->task_util) <= c->cap_orig;
}

/* Is it worse than the one that was found, or as good? */
PELTON_INLINE u32 pelton_prefer_idle_loses(const struct pelton_prefer_idle *s, const struct pelton_idle_candidate *c)
{
	if (!s->found)
		return 0;
	if (c->cap_orig == s->capacity)
		return s->state <= c->state;
	return s->boosted ? c->cap_orig < s->capacity : c->cap_orig > s->capacity;
}

/*
 * Looks at the next CPU. The first is one of the biggest for a boosted task, of the smallest for another; then upwards.
 */
PELTON_INLINE void pelton_prefer_idle_look(struct pelton_prefer_idle *s, const struct pelton_idle_candidate *c)
{
	if (!c->idle || !pelton_prefer_idle_fits(s, c) || pelton_prefer_idle_loses(s, c))
		return;
	s->found = 1;
	s->cpu = c->cpu;
	s->capacity = c->cap_orig;
	s->state = c->state;
}

#endif
