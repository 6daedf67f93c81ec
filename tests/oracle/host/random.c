// SPDX-License-Identifier: GPL-2.0-or-later
/* Random states that a kernel can reach. */
#include <string.h>

#include "host.h"

static u64 rng;

void rng_seed(u64 seed)
{
	rng = seed * 0x9e3779b97f4a7c15ull + 1;
}

u64 rng_next(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dull;
}

u64 below(u64 n)
{
	return n ? (rng_next() >> 11) % n : 0;
}

u32 chance(u32 percent)
{
	return below(100) < percent;
}

static const u32 nice_weights[] = { 88761, 71755, 9548, 1991, 1277, 1024, 820, 335, 110, 15, 3, 2 };

u64 nice_weight(void)
{
	return nice_weights[below(sizeof(nice_weights) / sizeof(nice_weights[0]))];
}

u64 a_weight(void)
{
	return chance(70) ? nice_weight() : 2 + below(100000);
}

/* What the units of a group's weight, or of a queue's, leave out: less than 2 units are 2. */
s32 a_rest(u64 units)
{
	s64 least = units == PELTON_WEIGHT_MIN ? 2 - 2 * 1024 : 0;

	return units && chance(50) ? (s32)(least + (s64)below((u64)(1024 - least))) : 0;
}

/* A group's weight as the kernel stores it. */
u64 a_group_weight(void)
{
	u64 units = a_weight();

	return pelton_full_weight(units, a_rest(units));
}

/* Elapsed time: within a unit, a period, many periods, very long, backwards. */
u64 a_delta(void)
{
	switch (below(8)) {
	case 0:
		return below(2048);
	case 1:
		return below(1 << 20);
	case 2:
		return below(1ull << 35);
	case 3:
		return below(4) ? below(1ull << 27) : -below(1 << 20);
	default:
		return below(1 << 24);
	}
}

/* Averages near their sums, or what attach and detach leave behind. */
static void averages(struct pelton_avg *a, u32 div, u64 weight, u32 tasks, u32 queue)
{
	a->load_avg = (queue ? 1 : weight) * a->load_sum / div;
	a->runnable_avg = a->runnable_sum / div;
	a->util_avg = a->util_sum / div;
	if (chance(20)) {
		a->util_avg = below(1026);
		a->runnable_avg = below(1025 * tasks);
	}
}

/* Sums below their maximum. A queue's load sum holds the weights, an entity's does not. */
void an_avg(struct pelton_avg *a, u64 weight, u32 tasks, u32 queue)
{
	u32 div;

	memset(a, 0, sizeof(*a));
	a->last_update_time_ns = ((1ull << 30) + below(1ull << 40)) & ~(chance(90) ? 1023ull : 0);
	a->period_contrib = below(1024);
	div = PELTON_MIN_DIVISOR + a->period_contrib;
	if (chance(10))
		return;
	a->load_sum = below((queue ? weight : 1) * div + 1);
	a->runnable_sum = below((u64)div * 1024 * tasks + 1);
	a->util_sum = chance(5) ? div * 1024 : (u32)below(div * 1024u + 1);
	averages(a, div, weight, tasks, queue);
}

static void estimates(struct pelton_avg *a)
{
	a->util_est_enqueued = (u32)below(1025) | (chance(30) ? PELTON_UTIL_EST_UNCHANGED : 0);
	if (oracle_version < 608)
		a->util_est_ewma = (u32)below(1025);
}

void an_se(struct pelton_se *se, u32 group)
{
	memset(se, 0, sizeof(*se));
	se->weight = a_weight();
	se->weight_rest = group ? a_rest(se->weight) : 0;
	se->on_rq = chance(70);
	se->running = se->on_rq && chance(50);
	se->nr_runnable = group ? (u32)below(6) : 1;
	if (oracle_version >= 612 && !group && se->on_rq && !se->running && chance(10)) {
		se->delayed = 1;
		se->nr_runnable = 0;
	}
	an_avg(&se->avg, se->weight, group ? 5 : 1, 0);
	if (!group)
		estimates(&se->avg);
}

static void a_removal(struct pelton_cfs_rq *q)
{
	q->removed_nr = 1 + (u32)below(3);
	q->removed_load = below(q->avg.load_avg + 20);
	q->removed_util = below(q->avg.util_avg + 20);
	q->removed_runnable = below(q->avg.runnable_avg + 20);
}

void a_cfs(struct pelton_cfs_rq *q)
{
	memset(q, 0, sizeof(*q));
	q->nr_queued = (u32)below(6);
	q->h_nr_runnable = q->nr_queued + (u32)below(3);
	q->load_weight = q->nr_queued ? a_weight() * q->nr_queued : 0;
	q->weight_rest = a_rest(q->load_weight);
	q->has_curr = q->nr_queued && chance(70);
	an_avg(&q->avg, 1 + q->load_weight + a_weight(), 8, 1);
	q->avg.util_est_enqueued = 0;
	q->util_est = (u32)below(3000);
	q->propagate = chance(30);
	if (q->propagate)
		q->prop_runnable_sum = (s64)below(200000) - 100000;
	if (chance(25))
		a_removal(q);
	q->tg_load_avg_contrib = below(q->avg.load_avg * 2 + 2);
}

static void clocks(struct pelton_clock *c)
{
	c->clock_ns = (1ull << 41) + below(1ull << 40);
	c->clock_task_ns = c->clock_ns + PELTON_CLOCK_ORIGIN_NS - below(1 << 29);
	c->clock_pelt_ns = c->clock_task_ns - below(1 << 28);
	c->lost_idle_ns = below(1 << 26);
	c->clock_idle_ns = c->clock_ns - below(1 << 28);
	c->clock_pelt_idle_ns = c->clock_pelt_ns - below(1 << 28);
}

void a_rq(struct pelton_rq *r)
{
	u64 published;

	memset(r, 0, sizeof(*r));
	r->cap_orig = chance(30) ? 1024 : 1 + (u32)below(1024);
	r->freq_scale = chance(30) ? 1024 : 1 + (u32)below(1024);
	a_cfs(&r->cfs);
	an_avg(&r->rt, 1, 1, 0);
	an_avg(&r->dl, 1, 1, 0);
	an_avg(&r->irq, 1, 1, 0);
	an_avg(&r->hw, 1024, 1, 1);
	clocks(&r->clock);
	published = r->clock.clock_pelt_ns - r->clock.lost_idle_ns;
	r->rt.last_update_time_ns = published - a_delta();
	r->dl.last_update_time_ns = published - a_delta();
	r->irq.last_update_time_ns = r->clock.clock_ns - a_delta();
	r->hw.last_update_time_ns = r->clock.clock_task_ns - a_delta();
}
