/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SchedTune's boost: how much a CPU pretends to be busier than it is, and whose boost counts.
 *
 *   margin(s, b)   rfc           ((1024 - s) * b * 1311) >> 17
 *                  later, hold   (full - s) * b / 100; b < 0: -(s * |b| / 100);   full = 1024; hold: the CPU's capacity
 *   boosted(s, b)  s + margin(s, b), not below 0
 *
 *   boost of a CPU = the largest boost of its active groups; group 0 is the root
 *     rfc     the root always, another group while it has runnable tasks here
 *     later   every group while it has runnable tasks here; none: 0
 *     hold    the root always, another group with runnable tasks or within 50 ms of the last that was stamped; not below 0
 *
 *   rfc, boosts 10 (root), 60, 30:   no task 10 | a task of group 1 wakes 60 | it sleeps, one of group 2 wakes 30
 *
 *   quantity          unit       range
 *   signal, margin    capacity   0 .. 1024; a CPU's signal may pass it while tasks join
 *   boost             percent    -100 .. 100; rfc and hold know 0 .. 100
 *   time              ns         scheduler clock, any origin
 *
 * Source: the SchedTune posting of August 2015 and its trees (kernel/sched/tune.c schedtune_boostgroup_update,
 * schedtune_tasks_update, schedtune_cpu_update; fair.c schedtune_margin) for rfc; Android common 4.4 for later; Android
 * common 4.14 for hold (tune.c schedtune_boost_group_active, schedtune_boost_timeout, schedtune_cpu_boost,
 * schedtune_can_attach). No Linux release has any of them.
 * Deviations: later and hold move the counts of a runnable task that changes its group, rfc leaks them (as posted); the
 * margin is 0 where the signal exceeds its full value, the sources' is negative or wraps there.
 */
#ifndef PELTON_BOOST_H
#define PELTON_BOOST_H

#include "arith.h"
#include "perf.h"
#include "policy.h"

/* Groups of the largest form, the root included. */
#define PELTON_BOOST_GROUPS 5u
#define PELTON_BOOST_GROUPS_RFC 4u
#define PELTON_BOOST_HOLD_NS 50000000u

/* A boost group on one CPU. */
struct pelton_boost_group {
	u64 stamp_ns; /* hold: when a task last came whose kind is stamped */
	s32 boost;
	u32 tasks; /* runnable here */
} PELTON_ALIGNED64;

/* Boost groups on one CPU. */
struct pelton_boost_cpu {
	struct pelton_boost_group group[PELTON_BOOST_GROUPS];
	u64 stamp_ns; /* hold: of the group whose boost is the largest */
	s32 boost_max;
	u32 reserved;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_boost_cpu) == 96, "layout");

/* Number of groups of a form, the root included; one more is refused with -ENOSPC. */
PELTON_INLINE u32 pelton_boost_group_limit(const struct pelton_policy *pol)
{
	return pol->boost_form == PELTON_BOOST_FORM_RFC ? PELTON_BOOST_GROUPS_RFC : PELTON_BOOST_GROUPS;
}

/* Capacity of which the margin is a part: the scale, or the most that the CPU can do. */
PELTON_INLINE u32 pelton_boost_full(const struct pelton_policy *pol, u32 cap_orig)
{
	return pol->boost_form == PELTON_BOOST_FORM_HOLD ? cap_orig : PELTON_CAPACITY_SCALE;
}

/* Margin that a boost adds to a signal, or takes from it. rfc reads a negative boost as none. */
PELTON_INLINE s32 pelton_boost_margin(const struct pelton_policy *pol, u32 full, u32 signal, s32 boost)
{
	u32 headroom = pelton_sub_floor_u32(full, signal);

	if (boost < 0 && pol->boost_form == PELTON_BOOST_FORM_RFC)
		return 0;
	if (boost < 0)
		return -(s32)((u64)signal * (u32)-boost / 100u);
	if (pol->boost_form == PELTON_BOOST_FORM_RFC)
		return (s32)(((u64)headroom * (u32)boost * 1311u) >> 17);
	return (s32)((u64)headroom * (u32)boost / 100u);
}

/* A signal with its margin. */
PELTON_INLINE u32 pelton_boosted(const struct pelton_policy *pol, u32 full, u32 signal, s32 boost)
{
	s64 value = (s64)signal + pelton_boost_margin(pol, full, signal, boost);

	return value < 0 ? 0 : (u32)value;
}

/* Has what was stamped at `stamp_ns` been held long enough? */
PELTON_INLINE u32 pelton_boost_timeout(u64 now, u64 stamp_ns)
{
	return now - stamp_ns > PELTON_BOOST_HOLD_NS;
}

/* Has the group tasks here, or is its boost held for one that left? */
PELTON_INLINE u32 pelton_boost_group_active(const struct pelton_policy *pol, const struct pelton_boost_cpu *b, u32 idx,
					    u64 now)
{
	const struct pelton_boost_group *g = &b->group[pelton_min_u32(idx, PELTON_BOOST_GROUPS - 1u)];

	if (g->tasks)
		return 1;
	return pol->boost_form == PELTON_BOOST_FORM_HOLD && !pelton_boost_timeout(now, g->stamp_ns);
}

/* Does the root count without a task of its own? */
PELTON_INLINE u32 pelton_boost_root_counts(const struct pelton_policy *pol, const struct pelton_boost_cpu *b)
{
	return pol->boost_form != PELTON_BOOST_FORM_LATER || b->group[0].tasks;
}

/* The largest boost of the active groups. hold: of equals the last, whose stamp is kept. */
PELTON_INLINE void pelton_boost_cpu_update(const struct pelton_policy *pol, struct pelton_boost_cpu *b, u64 now)
{
	u32 hold = pol->boost_form == PELTON_BOOST_FORM_HOLD;
	u32 found = pelton_boost_root_counts(pol, b), i;
	s32 max = found ? b->group[0].boost : 0;
	u64 stamp_ns = now;

	for (i = 1; i < PELTON_BOOST_GROUPS; i++) {
		const struct pelton_boost_group *g = &b->group[i];

		if (!pelton_boost_group_active(pol, b, i, now) || (found && g->boost < max))
			continue;
		found = 1;
		max = g->boost;
		stamp_ns = g->stamp_ns;
	}
	b->boost_max = hold && max < 0 ? 0 : max;
	b->stamp_ns = stamp_ns;
}

/* One runnable task more or less; never below none. */
PELTON_INLINE void pelton_boost_count(struct pelton_boost_group *g, u32 comes)
{
	if (comes)
		g->tasks++;
	else if (g->tasks)
		g->tasks--;
}

/*
 * A task of group `idx` becomes runnable on the CPU (`comes`), or leaves it. `stamps`: hold keeps its boost for 50 ms
 * (real-time tasks; all of them with the feature SCHEDTUNE_BOOST_HOLD_ALL). A task that exits is not counted at its
 * last dequeue; the host takes it out once.
 */
PELTON_INLINE void pelton_boost_tasks_update(const struct pelton_policy *pol, struct pelton_boost_cpu *b, u32 idx,
					     u32 comes, u32 stamps, u64 now)
{
	struct pelton_boost_group *g = &b->group[pelton_min_u32(idx, PELTON_BOOST_GROUPS - 1u)];
	u32 hold = pol->boost_form == PELTON_BOOST_FORM_HOLD;

	pelton_boost_count(g, comes);
	if (hold && comes && stamps)
		g->stamp_ns = now;
	if (hold ? comes && g->tasks == 1 : g->tasks <= 1)
		pelton_boost_cpu_update(pol, b, now);
}

/* A user writes a group's boost; called once for each CPU. The group of `idx` that goes away is written 0. */
PELTON_INLINE void pelton_boost_write(const struct pelton_policy *pol, struct pelton_boost_cpu *b, u32 idx, s32 boost,
				      u64 now)
{
	struct pelton_boost_group *g = &b->group[pelton_min_u32(idx, PELTON_BOOST_GROUPS - 1u)];
	s32 old = g->boost;

	g->boost = boost;
	if (boost > b->boost_max && pelton_boost_group_active(pol, b, idx, now)) {
		b->boost_max = boost;
		b->stamp_ns = g->stamp_ns;
	} else if (b->boost_max == old && boost < old) {
		pelton_boost_cpu_update(pol, b, now);
	}
}

/* A runnable task of the CPU changes its group. rfc notices nothing. */
PELTON_INLINE void pelton_boost_move(const struct pelton_policy *pol, struct pelton_boost_cpu *b, u32 from, u32 to,
				     u64 now)
{
	struct pelton_boost_group *dst = &b->group[pelton_min_u32(to, PELTON_BOOST_GROUPS - 1u)];

	if (pol->boost_form == PELTON_BOOST_FORM_RFC || from == to)
		return;
	pelton_boost_count(&b->group[pelton_min_u32(from, PELTON_BOOST_GROUPS - 1u)], 0);
	pelton_boost_count(dst, 1);
	if (pol->boost_form == PELTON_BOOST_FORM_LATER) {
		pelton_boost_cpu_update(pol, b, now);
		return;
	}
	dst->stamp_ns = now;
	b->stamp_ns = now - PELTON_BOOST_HOLD_NS - 1u;
}

/* Boost of the CPU now: that of its groups; hold looks again when the one it has may be over. */
PELTON_INLINE s32 pelton_boost_cpu(const struct pelton_policy *pol, struct pelton_boost_cpu *b, u64 now)
{
	if (pol->boost_form == PELTON_BOOST_FORM_HOLD && pelton_boost_timeout(now, b->stamp_ns))
		pelton_boost_cpu_update(pol, b, now);
	return b->boost_max;
}

/* schedutil sees boosted utilization: the inputs of an evaluation as if the fair class were that busy. */
PELTON_INLINE void pelton_boost_state(const struct pelton_policy *pol, struct pelton_cpu_state *s, s32 boost)
{
	u32 util = pelton_cpu_util(pol, s, pol->runnable_boost);

	if (!boost)
		return;
	s->util_cfs = pelton_boosted(pol, pelton_boost_full(pol, s->cap_orig), util, boost);
	s->runnable_cfs = 0;
	s->util_est = 0;
}

#endif
