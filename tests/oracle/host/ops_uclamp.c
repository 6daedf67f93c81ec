// SPDX-License-Identifier: GPL-2.0-or-later
/* Clamps of tasks and CPUs. */
#include "host.h"

static void make_clamps(struct oracle_state *s)
{
	s->now = rng_next() | 1;
	s->events = 1 + (u32)below(40);
	s->highest = chance(50) ? 1024 : (u32)below(1025);
	/* cpu_util_update_eff() keeps a group's lower limit below its upper one. */
	s->lowest = chance(50) ? 0 : (u32)below(s->highest + 1);
	s->cap = chance(70) ? 1024 : (u32)below(1025);
	s->util = chance(70) ? 1024 : (u32)below(1025);
}

static void request(struct pelton_uclamp_task *t, u64 *rng)
{
	u32 max = oracle_step(rng) % 1025, min = oracle_step(rng) % (max + 1);

	t->requested[0] = min;
	t->requested[1] = max;
	t->user_defined[0] = t->user_defined[1] = 1;
}

static u64 hash_buckets(const struct pelton_uclamp_bucket *b, u64 hash)
{
	u32 i;

	for (i = 0; i < PELTON_UCLAMP_BUCKETS; i++)
		hash = (hash * 31 + b[i].tasks) * 31 + (b[i].tasks ? b[i].value : 0);
	return hash;
}

static u64 hash_clamps(const struct pelton_uclamp_rq *rq, u64 hash)
{
	hash = hash_buckets(rq->min, hash * 31 + rq->value[0]);
	hash = hash_buckets(rq->max, hash * 31 + rq->value[1]);
	return hash * 31 + rq->idle;
}

/* `forgets`: a wrong rule, by which a bucket does not remember its largest clamp. */
void clamps_under(struct oracle_state *s, u32 forgets)
{
	struct pelton_uclamp_limits root = { 0, 0, 1024, { s->cap, s->util } };
	struct pelton_uclamp_limits group = { 1, s->lowest, s->highest, { s->cap, s->util } };
	struct pelton_uclamp_task tasks[ORACLE_CLAMPED] = { 0 };
	struct pelton_uclamp_rq rq;
	u64 rng = s->now;
	u32 i;

	pelton_uclamp_init_rq(&oracle_policy, &rq);
	s->ret = hash_clamps(&rq, s->ret);
	for (i = 0; i < ORACLE_CLAMPED; i++)
		request(&tasks[i], &rng);
	for (i = 0; i < s->events; i++) {
		u32 n = oracle_step(&rng) % ORACLE_CLAMPED, kind = oracle_step(&rng);
		struct pelton_uclamp_task *t = &tasks[n];
		const struct pelton_uclamp_limits *limits = n % 2 ? &group : &root;

		if (!t->active[0]) {
			pelton_uclamp_rq_inc(&oracle_policy, &rq, t, limits);
			if (forgets)
				pelton_uclamp_bucket_of(&rq, 1, t->bucket[1])->value = t->value[1];
		} else if (kind % 4) {
			pelton_uclamp_rq_dec(&rq, t);
		} else {
			request(t, &rng);
			pelton_uclamp_update_active(&oracle_policy, &rq, t, limits, 3);
		}
		s->ret = hash_clamps(&rq, s->ret);
		s->aux = s->aux * 31 + pelton_uclamp_eff_value(&oracle_policy, t, limits, 0) * 1025 +
			 pelton_uclamp_eff_value(&oracle_policy, t, limits, 1);
	}
}

static void run_clamps(struct oracle_state *s)
{
	clamps_under(s, 0);
}

const struct oracle_op ops_uclamp[] = {
	{ "uclamp_rq_inc, uclamp_rq_dec, uclamp_eff_value",
	  "pelton_uclamp_rq_inc, pelton_uclamp_rq_dec, pelton_uclamp_update_active, pelton_uclamp_eff_value",
	  make_clamps, k_uclamp_life, run_clamps, 0, 0 },
	{ 0 },
};
