/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deliberately wrong rules, to prove that the suite can fail: -DPELTON_CANARY=n breaks one constant of the core.
 *
 * The header is included before the core, so that the core's own include guards keep the wrong value in place.
 */
#ifndef PELTON_TEST_CANARY_H
#define PELTON_TEST_CANARY_H

#if PELTON_CANARY == 1
#include "pelt_table.h"
#undef PELTON_LOAD_AVG_MAX
#define PELTON_LOAD_AVG_MAX 47741u
#elif PELTON_CANARY == 3
#include "pelt_table.h"
#undef PELTON_LOAD_AVG_MAX
#define PELTON_LOAD_AVG_MAX 47743u
#elif PELTON_CANARY == 2
#include "pelt_table.h"
/* One of the 32 decay factors is one too small. */
static inline const u32 *pelton_canary_inverse(void)
{
	static u32 table[32];
	u32 i;

	for (i = 0; i < 32; i++)
		table[i] = pelton_decay_inverse[i] - (i == 17);
	return table;
}
#define pelton_decay_inverse (pelton_canary_inverse())
#elif PELTON_CANARY == 4
#include "uclamp_sum.h"
/* Waiting tasks count on every CPU as they are, capped or not. */
#define pelton_uclamp_sum_boost(pol, clamped, util, runnable) pelton_max_u32(clamped, runnable)
#elif PELTON_CANARY == 5
#include "interactive.h"
/* What a timer has seen counts at the next one, too. */
#define pelton_interactive_rearm(pol, c, t) ((void)0)
#elif PELTON_CANARY == 6
#include "newidle.h"
/* The dice of a CPU that goes idle have a side too few. */
#undef PELTON_NEWIDLE_CALLS
#define PELTON_NEWIDLE_CALLS 1023u
#elif PELTON_CANARY == 7
#include "newidle.h"
/* Time makes the share of searches larger twice as fast. */
#undef PELTON_NEWIDLE_RATE_SHIFT
#define PELTON_NEWIDLE_RATE_SHIFT 21u
#elif PELTON_CANARY == 8
#include "uclamp_max.h"
/* A bucket of clamps forgets the largest one as soon as another comes. */
static inline void pelton_canary_forgets(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					 struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l)
{
	pelton_uclamp_rq_inc(pol, rq, t, l);
	pelton_uclamp_bucket_of(rq, 1, t->bucket[1])->value = t->value[1];
}
#define pelton_uclamp_rq_inc(pol, rq, t, l) pelton_canary_forgets(pol, rq, t, l)
#elif PELTON_CANARY == 9
#include "uclamp_max.h"
/* Buckets are as wide as a fifth that is rounded down. */
static inline void pelton_canary_rounds(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l)
{
	struct pelton_uclamp_bucket *bucket;

	pelton_uclamp_rq_inc(pol, rq, t, l);
	pelton_uclamp_bucket_of(rq, 1, t->bucket[1])->tasks--;
	t->bucket[1] = pelton_min_u32(t->value[1] / 204u, PELTON_UCLAMP_BUCKETS - 1u);
	bucket = pelton_uclamp_bucket_of(rq, 1, t->bucket[1]);
	bucket->tasks++;
	if (bucket->tasks == 1 || t->value[1] > bucket->value)
		bucket->value = t->value[1];
}
#define pelton_uclamp_rq_inc(pol, rq, t, l) pelton_canary_rounds(pol, rq, t, l)
#elif PELTON_CANARY == 10
#include "uclamp_max.h"
/* Groups limit no task. */
static inline void pelton_canary_unlimited(const struct pelton_policy *pol, struct pelton_uclamp_rq *rq,
					   struct pelton_uclamp_task *t, const struct pelton_uclamp_limits *l)
{
	struct pelton_uclamp_limits root = *l;

	root.in_group = 0;
	pelton_uclamp_rq_inc(pol, rq, t, &root);
}
#define pelton_uclamp_rq_inc(pol, rq, t, l) pelton_canary_unlimited(pol, rq, t, l)
#elif PELTON_CANARY == 11
#include "uclamp_max.h"
/* The upper clamp of the last task goes with it. */
static inline void pelton_canary_opens(struct pelton_uclamp_rq *rq, struct pelton_uclamp_task *t)
{
	pelton_uclamp_rq_dec(rq, t);
	if (rq->idle)
		rq->value[1] = PELTON_CAPACITY_SCALE;
}
#define pelton_uclamp_rq_dec(rq, t) pelton_canary_opens(rq, t)
#endif

#endif
