/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Utilization clamps by maximum: a CPU's clamp is the largest of its runnable tasks'.
 *
 *   a task's clamp in force   its own, within its group's limits, not above the system's
 *   bucket                    clamp / 205, five of them: counts its tasks, remembers the largest value until it is empty
 *   a CPU's clamp             value of the highest bucket with a task
 *   the last task leaves      the lower clamp is gone, the upper one stays as that task's, marked as left over
 *   a task comes after that   its own clamps replace both
 *
 *   tasks of upper clamp 300 and 390 share bucket 1: when 390 leaves, the CPU keeps 390 until 300 has left as well
 *
 *   switch             5.4                                   from 5.10 on
 *   uclamp_limit       the group's value where the task's    the task's, within both of the group's
 *                      is larger or not its own choice
 *   uclamp_used        from the start                        from the first request for a clamp
 *   uclamp_first       a CPU without a task yet has 0        none, marked as left over
 *   uclamp_new_group   5.4.0: its parent's until written  its own, within its parent's
 *   uclamp_change      the mark stays                        the mark goes
 *
 *   quantity   unit       range
 *   clamps     capacity   0 .. 1024, lower <= upper is not required
 *
 * Source: Linux 5.10.262, 6.1.192, 6.12.117, 7.2.12 kernel/sched/core.c (uclamp_rq_inc_id, uclamp_rq_dec_id,
 * uclamp_rq_max_value, uclamp_idle_value, uclamp_idle_reset, uclamp_eff_get, uclamp_tg_restrict, cpu_util_update_eff,
 * capacity_from_percent), the same in all four; 5.4 kernel/sched/core.c (the same, uclamp_update_active, init_uclamp,
 * alloc_uclamp_sched_group).
 * Deviations: five buckets (CONFIG_UCLAMP_BUCKETS_COUNT), the default.
 */
#ifndef PELTON_UCLAMP_MAX_H
#define PELTON_UCLAMP_MAX_H

#include "arith.h"
#include "policy.h"

#define PELTON_UCLAMP_MIN 0u
#define PELTON_UCLAMP_MAX_ID 1u
#define PELTON_UCLAMP_IDS 2u
#define PELTON_UCLAMP_BUCKETS 5u
#define PELTON_UCLAMP_BUCKET_DELTA 205u /* 1024 / 5, rounded */

/* Clamps of a task, lower and upper. */
struct pelton_uclamp_task {
	u32 requested[PELTON_UCLAMP_IDS];
	u32 user_defined[PELTON_UCLAMP_IDS]; /* requested by the task, not what its class has by default */
	u32 value[PELTON_UCLAMP_IDS];        /* in force since it was last made runnable */
	u32 bucket[PELTON_UCLAMP_IDS];
	u32 active[PELTON_UCLAMP_IDS]; /* counted on its CPU */
};

/* Limits of a task's request: its group's, and the system's. */
struct pelton_uclamp_limits {
	u32 in_group; /* not the root's */
	u32 group_min;
	u32 group_max;
	u32 system[PELTON_UCLAMP_IDS];
};

struct pelton_uclamp_bucket {
	u32 value;
	u32 tasks;
};

/* Clamps of a CPU. */
struct pelton_uclamp_rq {
	struct pelton_uclamp_bucket min[PELTON_UCLAMP_BUCKETS];
	struct pelton_uclamp_bucket max[PELTON_UCLAMP_BUCKETS];
	u32 value[PELTON_UCLAMP_IDS];
	u32 idle; /* the upper clamp is left over */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_uclamp_rq) == 96, "layout");

/* Are clamps in use? `asked`: one was requested by now. */
PELTON_INLINE u32 pelton_uclamp_is_used(const struct pelton_policy *pol, u32 asked)
{
	return pol->uclamp != PELTON_UCLAMP_OFF && (asked || pol->uclamp_used == PELTON_UCLAMP_USED_ALWAYS);
}

/* A CPU that had no task yet. */
PELTON_INLINE void pelton_uclamp_init_rq(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq)
{
	struct pelton_uclamp_rq empty = { .value = { 0, 0 } };

	*rq = empty;
	if (pol->uclamp_first == PELTON_UCLAMP_FIRST_ZERO)
		return;
	rq->value[PELTON_UCLAMP_MAX_ID] = PELTON_CAPACITY_SCALE;
	rq->idle = 1;
}

PELTON_INLINE struct pelton_uclamp_bucket *pelton_uclamp_bucket_of(struct pelton_uclamp_rq *rq, u32 id, u32 bucket)
{
	bucket = pelton_min_u32(bucket, PELTON_UCLAMP_BUCKETS - 1u);
	return id == PELTON_UCLAMP_MIN ? &rq->min[bucket] : &rq->max[bucket];
}

/* A task's request within its group's limits. From 5.10 on a group's lower limit is not above its upper one. */
PELTON_INLINE u32 pelton_uclamp_tg_restrict(const struct pelton_policy *pol, const struct pelton_uclamp_limits *l,
					    const struct pelton_uclamp_task *t, u32 id)
{
	u32 requested = t->requested[id];
	u32 group = id == PELTON_UCLAMP_MIN ? l->group_min : l->group_max;

	if (!l->in_group)
		return requested;
	if (pol->uclamp_limit == PELTON_UCLAMP_LIMIT_RANGE)
		return pelton_min_u32(pelton_max_u32(requested, l->group_min), l->group_max);
	return requested > group || !t->user_defined[id] ? group : requested;
}

/* The clamp that a task's request comes to. */
PELTON_INLINE u32 pelton_uclamp_eff_get(const struct pelton_policy *pol, const struct pelton_uclamp_limits *l,
					const struct pelton_uclamp_task *t, u32 id)
{
	id = id ? PELTON_UCLAMP_MAX_ID : PELTON_UCLAMP_MIN;
	return pelton_min_u32(pelton_uclamp_tg_restrict(pol, l, t, id), l->system[id]);
}

/* Clamps of a group in force: no looser than those of the group above, the lower one not above the upper one. */
PELTON_INLINE void pelton_uclamp_group(const u32 above[2], const u32 asked[2], u32 out[2])
{
	out[PELTON_UCLAMP_MAX_ID] = pelton_min_u32(asked[PELTON_UCLAMP_MAX_ID], above[PELTON_UCLAMP_MAX_ID]);
	out[PELTON_UCLAMP_MIN] = pelton_min_u32(pelton_min_u32(asked[PELTON_UCLAMP_MIN], above[PELTON_UCLAMP_MIN]),
						out[PELTON_UCLAMP_MAX_ID]);
}

/*
 * Does a group whose files were not written have its parent's clamps in force, instead of its own ones within them? A
 * write into it or, with an effect, into one above it makes that right (cpu_util_update_eff).
 */
PELTON_INLINE u32 pelton_uclamp_inherits(const struct pelton_policy *pol, u32 written)
{
	return !written && pol->uclamp_new_group == PELTON_UCLAMP_NEW_GROUP_PARENTS;
}

/* A value of cpu.uclamp.min or max, in hundredths of a percent, as capacity. */
PELTON_INLINE u32 pelton_uclamp_of_percent(u32 hundredths)
{
	return (hundredths * PELTON_CAPACITY_SCALE + 5000u) / 10000u;
}

PELTON_INLINE void pelton_uclamp_inc_id(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l, u32 id)
{
	u32 value = pelton_uclamp_eff_get(pol, l, t, id);
	struct pelton_uclamp_bucket *bucket;

	t->value[id] = value;
	t->bucket[id] = pelton_min_u32(value / PELTON_UCLAMP_BUCKET_DELTA, PELTON_UCLAMP_BUCKETS - 1u);
	t->active[id] = 1;
	bucket = pelton_uclamp_bucket_of(rq, id, t->bucket[id]);
	bucket->tasks++;
	if (rq->idle)
		rq->value[id] = value;
	if (bucket->tasks == 1 || value > bucket->value)
		bucket->value = value;
	if (value > rq->value[id])
		rq->value[id] = value;
}

/* The value of the highest bucket with a task; without any, what an idle CPU keeps. */
PELTON_INLINE u32 pelton_uclamp_highest(struct pelton_uclamp_rq *rq, u32 id, u32 last)
{
	u32 i;

	for (i = PELTON_UCLAMP_BUCKETS; i > 0; i--) {
		const struct pelton_uclamp_bucket *bucket = pelton_uclamp_bucket_of(rq, id, i - 1);

		if (bucket->tasks)
			return bucket->value;
	}
	if (id == PELTON_UCLAMP_MIN)
		return 0;
	rq->idle = 1;
	return last;
}

PELTON_INLINE void pelton_uclamp_dec_id(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t, u32 id)
{
	struct pelton_uclamp_bucket *bucket;

	if (!t->active[id])
		return;
	bucket = pelton_uclamp_bucket_of(rq, id, t->bucket[id]);
	if (bucket->tasks)
		bucket->tasks--;
	t->active[id] = 0;
	if (!bucket->tasks && bucket->value >= rq->value[id])
		rq->value[id] = pelton_uclamp_highest(rq, id, t->value[id]);
}

/* A task becomes runnable on the CPU. */
PELTON_INLINE void pelton_uclamp_rq_inc(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l)
{
	pelton_uclamp_inc_id(pol, rq, t, l, PELTON_UCLAMP_MIN);
	pelton_uclamp_inc_id(pol, rq, t, l, PELTON_UCLAMP_MAX_ID);
	rq->idle = 0;
}

/* A task is no longer runnable on the CPU. */
PELTON_INLINE void pelton_uclamp_rq_dec(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t)
{
	pelton_uclamp_dec_id(rq, t, PELTON_UCLAMP_MIN);
	pelton_uclamp_dec_id(rq, t, PELTON_UCLAMP_MAX_ID);
}

/*
 * The clamps of a runnable task's group changed; `changed`: bit 0 the lower one, bit 1 the upper one. Where each limits
 * both of the task's, both count anew. In 5.4 the mark that the last task to leave sets stays: the next task that comes
 * replaces the clamps of those that are there.
 */
PELTON_INLINE void pelton_uclamp_update_active(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					       struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l,
					       u32 changed)
{
	u32 id;

	for (id = 0; id < PELTON_UCLAMP_IDS; id++) {
		u32 counts_anew = pol->uclamp_limit == PELTON_UCLAMP_LIMIT_RANGE || (changed >> id & 1u);

		if (!t->active[id] || !counts_anew)
			continue;
		pelton_uclamp_dec_id(rq, t, id);
		pelton_uclamp_inc_id(pol, rq, t, l, id);
		if (id == PELTON_UCLAMP_MAX_ID && pol->uclamp_change == PELTON_UCLAMP_CHANGE_CLEARS_MARK)
			rq->idle = 0;
	}
}

/* The clamp in force of a task that is counted, else the one it would get. */
PELTON_INLINE u32 pelton_uclamp_eff_value(const struct pelton_policy *pol, const struct pelton_uclamp_task *t,
					  const struct pelton_uclamp_limits *l, u32 id)
{
	id = id ? 1 : 0;
	return t->active[id] ? t->value[id] : pelton_uclamp_eff_get(pol, l, t, id);
}

#endif
