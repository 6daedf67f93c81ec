/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way from the core's records to the kernel's and back. After fair.c. */
#include "sums.h"

static struct task_struct o_task;
#ifndef PELTON_IMAGE
static struct task_group o_tg;
static struct sched_entity o_other;
#if ORACLE_VERSION >= 702
static DEFINE_PER_CPU(struct cfs_tg_state, o_state);
#define o_gq (per_cpu(o_state, 0).cfs_rq)
#define o_gse (per_cpu(o_state, 0).se)
#else
static struct cfs_rq o_gq;
static struct sched_entity o_gse;
static struct cfs_rq *o_gq_of[8];
static struct sched_entity *o_gse_of[8];
#endif
#endif
#define ROOT (&cpu_rq(0)->cfs)

#ifndef PELTON_IMAGE
struct task_struct *k_some_task(void)
{
	return &o_task;
}
#endif

static void avg_in(struct sched_avg *k, const struct pelton_avg *p)
{
	sums_in(k, p);
#if ORACLE_VERSION >= 608
	k->util_est = p->util_est_enqueued;
#else
	k->util_est.enqueued = p->util_est_enqueued;
	k->util_est.ewma = p->util_est_ewma;
#endif
}

static void avg_out(const struct sched_avg *k, struct pelton_avg *p)
{
	sums_out(k, p);
#if ORACLE_VERSION >= 608
	p->util_est_enqueued = k->util_est;
	p->util_est_ewma = 0;
#else
	p->util_est_enqueued = k->util_est.enqueued;
	p->util_est_ewma = k->util_est.ewma;
#endif
}

static void current_of(struct cfs_rq *q, struct sched_entity *curr)
{
	q->curr = curr;
#if ORACLE_VERSION >= 703
	q->h_curr = curr;
#endif
}

/* A weight as the kernel stores it. */
static unsigned long full_weight(u64 units, s32 rest)
{
	return scale_load(units) + (long)rest;
}

/* `p` as entity `k` of queue `q`. */
static void entity_in(struct sched_entity *k, const struct pelton_se *p, struct cfs_rq *q)
{
	avg_in(&k->avg, &p->avg);
	k->load.weight = full_weight(p->weight, p->weight_rest);
	k->load.inv_weight = 0;
	k->on_rq = p->on_rq;
	k->runnable_weight = p->nr_runnable;
	k->cfs_rq = q;
	k->my_q = NULL;
	k->parent = NULL;
	k->exec_start = cpu_rq(0)->clock_task;
#if ORACLE_VERSION >= 612
	k->sched_delayed = p->delayed;
#endif
	if (p->running)
		current_of(q, k);
}

#ifdef PELTON_IMAGE
static struct sched_entity *se_in(const struct pelton_se *p, struct cfs_rq *q, u32 group)
{
	entity_in(&o_task.se, p, q);
	return &o_task.se;
}
#else
/* The entity of `p` on queue `q`: a task, or the group that owns o_gq. */
static struct sched_entity *se_in(const struct pelton_se *p, struct cfs_rq *q, u32 group)
{
	struct sched_entity *k = group ? &o_gse : &o_task.se;

	entity_in(k, p, q);
	if (group)
		k->my_q = &o_gq;
	return k;
}
#endif

static void se_out(const struct sched_entity *k, struct pelton_se *p)
{
	avg_out(&k->avg, &p->avg);
	p->weight = scale_load_down(k->load.weight);
	p->weight_rest = (s32)(k->load.weight - scale_load(p->weight));
}

#ifndef PELTON_IMAGE
/* update_curr() finds nothing to do: what runs was accounted up to now. */
static void other_in(struct cfs_rq *k, u32 has_curr)
{
	current_of(k, has_curr ? &o_other : NULL);
	o_other.exec_start = cpu_rq(0)->clock_task;
	o_other.cfs_rq = k;
	o_other.on_rq = 1;
}

static void counts_in(struct cfs_rq *k, const struct pelton_cfs_rq *p)
{
#if ORACLE_VERSION >= 612
	k->h_nr_runnable = k->h_nr_queued = p->h_nr_runnable;
#else
	k->h_nr_running = p->h_nr_runnable;
#endif
#if ORACLE_VERSION >= 614
	k->nr_queued = p->nr_queued;
#else
	k->nr_running = p->nr_queued;
#endif
}

static void throttle_in(struct cfs_rq *k, const struct pelton_cfs_rq *p)
{
	k->throttle_count = p->throttle_count;
	k->throttled_clock_pelt = p->throttled_at_ns;
	k->throttled_clock_pelt_time = p->throttled_clock_pelt_ns;
#if ORACLE_VERSION >= 618
	k->pelt_clock_throttled = p->throttle_count != 0;
#endif
#if ORACLE_VERSION >= 600
	k->throttled_pelt_idle = p->throttle_count ? U64_MAX : p->throttled_clock_pelt_ns;
#endif
}

static void cfs_in(struct cfs_rq *k, const struct pelton_cfs_rq *p)
{
	avg_in(&k->avg, &p->avg);
#if ORACLE_VERSION >= 608
	k->avg.util_est = p->util_est;
#else
	k->avg.util_est.enqueued = p->util_est;
#endif
	k->load.weight = full_weight(p->load_weight, p->weight_rest);
	k->load.inv_weight = 0;
	counts_in(k, p);
	other_in(k, p->has_curr);
	k->propagate = p->propagate;
	k->prop_runnable_sum = p->prop_runnable_sum;
	k->removed.nr = p->removed_nr;
	k->removed.load_avg = p->removed_load;
	k->removed.util_avg = p->removed_util;
	k->removed.runnable_avg = p->removed_runnable;
	k->tg_load_avg_contrib = p->tg_load_avg_contrib;
#if ORACLE_VERSION >= 607
	k->last_update_tg_load_avg = p->tg_update_ns;
#endif
	throttle_in(k, p);
}

static void cfs_out(const struct cfs_rq *k, struct pelton_cfs_rq *p)
{
	u32 own = p->avg.util_est_enqueued, ewma = p->avg.util_est_ewma;

	avg_out(&k->avg, &p->avg);
	p->util_est = p->avg.util_est_enqueued;
	p->avg.util_est_enqueued = own;
	p->avg.util_est_ewma = ewma;
	p->load_weight = scale_load_down(k->load.weight);
	p->weight_rest = (s32)(k->load.weight - scale_load(p->load_weight));
	p->propagate = k->propagate;
	p->prop_runnable_sum = k->prop_runnable_sum;
	p->removed_nr = k->removed.nr;
	p->removed_load = k->removed.load_avg;
	p->removed_util = k->removed.util_avg;
	p->removed_runnable = k->removed.runnable_avg;
	p->tg_load_avg_contrib = k->tg_load_avg_contrib;
#if ORACLE_VERSION >= 607
	p->tg_update_ns = k->last_update_tg_load_avg;
#endif
	p->throttle_count = k->throttle_count;
	p->throttled_at_ns = k->throttled_clock_pelt;
	p->throttled_clock_pelt_ns = k->throttled_clock_pelt_time;
}

static void clock_at(u64 now)
{
	struct rq *rq = cpu_rq(0);

	rq->clock_pelt = now;
	rq->lost_idle_time = 0;
	rq->clock = rq->clock_task = now;
}

/* The group of o_gse: it owns o_gq on CPU 0. */
static void group_in(const struct pelton_cfs_rq *g, const struct pelton_tg *tg)
{
#if ORACLE_VERSION >= 702
	o_tg.cfs_rq = &o_state.cfs_rq;
#else
	o_gq_of[0] = &o_gq;
	o_gse_of[0] = &o_gse;
	o_tg.cfs_rq = o_gq_of;
	o_tg.se = o_gse_of;
#endif
	o_tg.parent = &root_task_group;
	o_gq.tg = &o_tg;
	o_gq.rq = cpu_rq(0);
	if (g)
		cfs_in(&o_gq, g);
	if (tg) {
		o_tg.shares = scale_load(tg->shares);
		atomic_long_set(&o_tg.load_avg, tg->load_avg);
	}
}

static void clocks_in(const struct pelton_clock *c)
{
	struct rq *rq = cpu_rq(0);

	rq->clock = c->clock_ns;
	rq->clock_task = c->clock_task_ns;
	rq->clock_pelt = c->clock_pelt_ns;
	rq->lost_idle_time = c->lost_idle_ns;
#if ORACLE_VERSION >= 600
	rq->clock_idle = c->clock_idle_ns;
	rq->clock_pelt_idle = c->clock_pelt_idle_ns;
#endif
}

#if ORACLE_VERSION >= 610
#define o_avg_hw(rq) (&(rq)->avg_hw)
#else
#define o_avg_hw(rq) (&(rq)->avg_thermal)
#endif

void k_rq_in(const struct pelton_rq *r)
{
	struct rq *rq = cpu_rq(0);

	clocks_in(&r->clock);
	cfs_in(&rq->cfs, &r->cfs);
	avg_in(&rq->avg_rt, &r->rt);
	avg_in(&rq->avg_dl, &r->dl);
	avg_in(&rq->avg_irq, &r->irq);
	avg_in(o_avg_hw(rq), &r->hw);
	oracle_cap[0] = r->cap_orig;
	per_cpu(arch_freq_scale, 0) = r->freq_scale;
#if ORACLE_VERSION < 608
	rq->cpu_capacity_orig = r->cap_orig;
#endif
}

void k_rq_out(struct pelton_rq *r)
{
	struct rq *rq = cpu_rq(0);

	r->clock.clock_ns = rq->clock;
	r->clock.clock_task_ns = rq->clock_task;
	r->clock.clock_pelt_ns = rq->clock_pelt;
	r->clock.lost_idle_ns = rq->lost_idle_time;
#if ORACLE_VERSION >= 600
	r->clock.clock_idle_ns = rq->clock_idle;
	r->clock.clock_pelt_idle_ns = rq->clock_pelt_idle;
#endif
	cfs_out(&rq->cfs, &r->cfs);
	avg_out(&rq->avg_rt, &r->rt);
	avg_out(&rq->avg_dl, &r->dl);
	avg_out(&rq->avg_irq, &r->irq);
	avg_out(o_avg_hw(rq), &r->hw);
}
#endif
