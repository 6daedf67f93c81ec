// SPDX-License-Identifier: GPL-2.0-or-later
/* Random queues of the fair class: near each other or far, around the wrap of virtual time or not. */
#include <string.h>

#include "fair.h"

/* A weight: of a task with its table's inverse, or a group's with a fraction. */
void a_fair_weight(struct pelton_fair_se *se)
{
	u32 level = (u32)below(PELTON_NICE_LEVELS + 1);

	if (chance(70)) {
		se->weight = (u64)pelton_task_weight(level) << PELTON_WEIGHT_SHIFT;
		se->inv_weight = pelton_task_inv_weight(level);
		return;
	}
	se->weight = chance(50) ? (2 + below(262143)) << PELTON_WEIGHT_SHIFT : 2048 + below(1ull << 28);
	se->inv_weight = 0;
}

/* What the queue keeps of its entities; CFS keeps no sums. */
void fair_sums(struct oracle_fair *f)
{
	struct pelton_fair_rq *q = &f->rq;
	u32 i;

	q->sum_w_vruntime = q->sum_weight = 0;
	q->load_weight = 0;
	q->min_slice_ns = ~0ull;
	q->max_slice_ns = 0;
	q->nr_idle = 0;
	for (i = 0; i < f->n; i++) {
		q->load_weight += f->se[i].weight;
		q->nr_idle += f->se[i].idle_policy;
		q->min_slice_ns = pelton_min_u64(q->min_slice_ns, f->se[i].slice_ns);
		q->max_slice_ns = pelton_max_u64(q->max_slice_ns, f->se[i].slice_ns);
		if ((s32)i != f->curr)
			pelton_avg_vruntime_add(&oracle_policy, q, &f->se[i]);
	}
	q->nr_queued = f->n;
	if (oracle_version < 606)
		q->sum_w_vruntime = q->sum_weight = 0;
}

static void an_entity(struct oracle_fair *f, u32 i, s64 base, u64 span)
{
	struct pelton_fair_se *se = &f->se[i];

	a_fair_weight(se);
	se->custom_slice = (u32)below(2);
	se->slice_ns = se->custom_slice ? 100000 + below(chance(50) ? 10000000 : 100000000) : f->tun.base_slice_ns;
	se->vruntime = base + (s64)below(span) - (s64)(span / 2);
	se->deadline = se->vruntime;
	if (chance(80))
		se->deadline += (s64)pelton_vtime(&oracle_policy, below(2 * se->slice_ns), se);
	se->vlag = (s64)below(40000000) - 20000000;
	se->vprot = chance(50) ? se->deadline : se->vruntime + (s64)below(4000000) - 1000000;
	se->ran_ns = below(40000000);
	se->on_rq = i < f->n;
}

/* Around which virtual time: anywhere, or where it wraps. */
static s64 a_base(void)
{
	if (chance(90))
		return (s64)(rng_next() >> 8) - (1ll << 55);
	return chance(50) ? (s64) ~(1ull << 63) - (s64)below(1000000) : -(s64)below(2000000);
}

/* A queue of at least `least` entities, which runs one if `runs`. */
void a_fair_queue(struct oracle_fair *f, u32 least, u32 runs)
{
	u64 span = chance(50) ? 20000000 : chance(50) ? 2000 : 2000000000;
	s64 base = a_base();
	u32 i;

	memset(f, 0, sizeof(*f));
	pelton_fair_tunables_init(&oracle_policy, &f->tun, 1 + (u32)below(12), ORACLE_TICK_NS);
	f->n = least + (u32)below(ORACLE_FAIR_MAX - 1 - least);
	f->all = f->n + (u32)below(8);
	f->curr = runs || (f->n && chance(60)) ? (s32)below(f->n) : -1;
	f->rq.zero_vruntime = (s64)((u64)base + below(span) - span / 2);
	for (i = 0; i < ORACLE_FAIR_MAX; i++)
		an_entity(f, i, base, span);
	fair_sums(f);
}

/*
 * Among waiting entities with equal deadlines the kernel's tree decides: such a queue ends before the second of them.
 */
void fair_distinct(struct oracle_fair *f)
{
	u32 i, j;

	for (i = 0; i < f->n; i++)
		for (j = 0; j < i; j++)
			if (f->se[i].deadline == f->se[j].deadline && (s32)i != f->curr && (s32)j != f->curr)
				f->n = i < 2 ? f->n : i;
	if (f->curr >= (s32)f->n)
		f->curr = -1;
	if (f->n > 1 && f->curr < 0 && f->se[0].deadline == f->se[1].deadline)
		f->se[0].deadline++;
	fair_sums(f);
}

const struct pelton_fair_se *fair_running(const struct oracle_fair *f)
{
	return f->curr >= 0 ? &f->se[f->curr] : 0;
}
