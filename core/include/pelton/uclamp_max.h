/* SPDX-License-Identifier: GPL-2.0-only */
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
 *   quantity   unit       range
 *   clamps     capacity   0 .. 1024, lower <= upper is not required
 *
 * Source: Linux 5.10.262, 6.1.192, 6.12.117, 7.2.12 kernel/sched/core.c (uclamp_rq_inc_id, uclamp_rq_dec_id,
 * uclamp_rq_max_value, uclamp_idle_value, uclamp_idle_reset, uclamp_eff_get, uclamp_tg_restrict, cpu_util_update_eff,
 * capacity_from_percent), the same in all four.
 * Deviations: five buckets (CONFIG_UCLAMP_BUCKETS_COUNT), the default.
 */
#ifndef PELTON_UCLAMP_MAX_H
#define PELTON_UCLAMP_MAX_H

#include "arith.h"

#define PELTON_UCLAMP_MIN 0u
#define PELTON_UCLAMP_MAX_ID 1u
#define PELTON_UCLAMP_IDS 2u
#define PELTON_UCLAMP_BUCKETS 5u
#define PELTON_UCLAMP_BUCKET_DELTA 205u /* 1024 / 5, rounded */

/* Clamps of a task, lower and upper. */
struct pelton_uclamp_task {
	u32 requested[PELTON_UCLAMP_IDS];
	u32 value[PELTON_UCLAMP_IDS]; /* in force since it was last made runnable */
	u32 bucket[PELTON_UCLAMP_IDS];
	u32 active[PELTON_UCLAMP_IDS]; /* counted on its CPU */
};

/* What limits a task's request: its group (not the root's), and the system. */
struct pelton_uclamp_limits {
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

/* A CPU without a task. */
PELTON_INLINE void pelton_uclamp_init_rq(struct pelton_uclamp_rq *rq)
{
	struct pelton_uclamp_rq empty = { .value = { 0, PELTON_CAPACITY_SCALE }, .idle = 1 };

	*rq = empty;
}

PELTON_INLINE struct pelton_uclamp_bucket *pelton_uclamp_bucket_of(struct pelton_uclamp_rq *rq, u32 id, u32 bucket)
{
	bucket = pelton_min_u32(bucket, PELTON_UCLAMP_BUCKETS - 1u);
	return id == PELTON_UCLAMP_MIN ? &rq->min[bucket] : &rq->max[bucket];
}

/* The clamp that a request comes to. A group's lower limit is not above its upper one. */
PELTON_INLINE u32 pelton_uclamp_effective(const struct pelton_uclamp_limits *l, u32 requested, u32 id)
{
	u32 value = pelton_min_u32(pelton_max_u32(requested, l->group_min), l->group_max);

	return pelton_min_u32(value, l->system[id ? 1 : 0]);
}

/* Clamps of a group in force: no looser than those of the group above, the lower one not above the upper one. */
PELTON_INLINE void pelton_uclamp_group(const u32 *above, const u32 *asked, u32 *out)
{
	out[PELTON_UCLAMP_MAX_ID] = pelton_min_u32(asked[PELTON_UCLAMP_MAX_ID], above[PELTON_UCLAMP_MAX_ID]);
	out[PELTON_UCLAMP_MIN] = pelton_min_u32(pelton_min_u32(asked[PELTON_UCLAMP_MIN], above[PELTON_UCLAMP_MIN]),
						out[PELTON_UCLAMP_MAX_ID]);
}

/* A value of cpu.uclamp.min or max, in hundredths of a percent, as capacity. */
PELTON_INLINE u32 pelton_uclamp_of_percent(u32 hundredths)
{
	return (hundredths * PELTON_CAPACITY_SCALE + 5000u) / 10000u;
}

PELTON_INLINE void pelton_uclamp_inc_id(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t,
					const struct pelton_uclamp_limits *l, u32 id)
{
	u32 value = pelton_uclamp_effective(l, t->requested[id], id);
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
PELTON_INLINE void pelton_uclamp_rq_inc(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t,
					const struct pelton_uclamp_limits *l)
{
	pelton_uclamp_inc_id(rq, t, l, PELTON_UCLAMP_MIN);
	pelton_uclamp_inc_id(rq, t, l, PELTON_UCLAMP_MAX_ID);
	rq->idle = 0;
}

/* A task is no longer runnable on the CPU. */
PELTON_INLINE void pelton_uclamp_rq_dec(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t)
{
	pelton_uclamp_dec_id(rq, t, PELTON_UCLAMP_MIN);
	pelton_uclamp_dec_id(rq, t, PELTON_UCLAMP_MAX_ID);
}

/* The limits of a runnable task, or its request, changed. */
PELTON_INLINE void pelton_uclamp_update_active(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t,
					       const struct pelton_uclamp_limits *l)
{
	u32 id;

	for (id = 0; id < PELTON_UCLAMP_IDS; id++) {
		if (!t->active[id])
			continue;
		pelton_uclamp_dec_id(rq, t, id);
		pelton_uclamp_inc_id(rq, t, l, id);
		if (id == PELTON_UCLAMP_MAX_ID)
			rq->idle = 0;
	}
}

/* The clamp in force of a task that is counted, else the one it would get. */
PELTON_INLINE u32 pelton_uclamp_eff_value(const struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l,
					  u32 id)
{
	id = id ? 1 : 0;
	return t->active[id] ? t->value[id] : pelton_uclamp_effective(l, t->requested[id], id);
}

#endif
