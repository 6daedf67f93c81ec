/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One domain down on the way from the largest domain to a CPU.
 *
 *   a group was chosen     its CPU; from there the largest smaller domain with the flag
 *   the task stays         the next smaller domain
 *
 *   quantity   unit       range
 *   level      position   PELTON_NO_DOMAIN: the way ends
 *
 * Source: Linux 7.2 kernel/sched/fair.c (sched_balance_find_dst_cpu); find_idlest_cpu before 6.10. Deviations: those of
 * select_group.h.
 */
#ifndef PELTON_SELECT_GROUP_STEP_H
#define PELTON_SELECT_GROUP_STEP_H

#include "select_group_types.h"

/* Highest domain of a CPU that is smaller than `weight` and has the flag; PELTON_NO_DOMAIN = none. */
PELTON_INLINE u32 pelton_domain_below(const struct pelton_placement *s, u32 cpu, u32 weight, u32 flag)
{
	u32 i, found = PELTON_NO_DOMAIN, levels = pelton_place_levels(s, cpu);

	for (i = 0; i < levels; i++) {
		const struct pelton_sched_domain *d = pelton_place_domain(s, cpu, i);

		if (pelton_span_weight(s, d->span) >= weight)
			break;
		if (d->flags & flag)
			found = i;
	}
	return found;
}

/* Position on the way down from a domain. */
struct pelton_dst_walk {
	u32 cpu;
	u32 level; /* PELTON_NO_DOMAIN: it ends */
	u32 result;
	u32 compared;        /* the last step compared the groups of its domain */
	pelton_span stepped; /* that domain's CPUs */
	pelton_span group;   /* the group that it went to; none: it stayed */
};

/* One domain down. */
PELTON_INLINE void pelton_find_dst_step(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, struct pelton_dst_walk *w)
{
	u32 next, flag = s->flags & PELTON_WF_KIND;
	const struct pelton_sched_domain *d = pelton_place_domain(s, w->cpu, w->level);

	w->compared = (d->flags & flag) != 0;
	w->stepped = d->span;
	w->group = PELTON_SPAN_NONE;
	if (w->compared)
		w->group = pelton_find_dst_group(pol, s, out, d, w->cpu);
	next = pelton_span_any(w->group) ? pelton_find_dst_group_cpu(pol, s, w->group, w->cpu) : w->cpu;
	if (pelton_span_any(w->group))
		w->result = next;
	if (next == w->cpu) {
		w->level = w->level ? w->level - 1 : PELTON_NO_DOMAIN;
		return;
	}
	w->cpu = next;
	w->level = pelton_domain_below(s, w->cpu, pelton_span_weight(s, d->span), flag);
}

#endif
