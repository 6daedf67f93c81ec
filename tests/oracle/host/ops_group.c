// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights, groups and the update that every event performs. */
#include "host.h"

static void make_reweight(struct oracle_state *s)
{
	s->group = chance(50);
	s->weight = s->group ? a_group_weight() : pelton_scale_load(a_weight());
	a_cfs(&s->q);
	an_se(&s->se, s->group);
	s->q.has_curr = s->se.running;
	if (s->se.delayed) {
		s->se.delayed = 0;
		s->se.nr_runnable = 1;
	}
	if (s->se.on_rq) {
		s->q.nr_queued++;
		pelton_update_load_add(&s->q, &s->se);
	}
}

static void run_reweight(struct oracle_state *s)
{
	pelton_reweight_entity(&oracle_policy, &s->q, &s->se, s->weight, s->weight);
}

static void make_propagate(struct oracle_state *s)
{
	a_cfs(&s->q);
	a_cfs(&s->g);
	s->g.removed_nr = 0;
	s->g.removed_load = s->g.removed_util = s->g.removed_runnable = 0;
	s->g.propagate = chance(90);
	if (!s->g.propagate)
		s->g.prop_runnable_sum = 0;
	an_se(&s->se, 1);
	s->se.running = 0;
}

static void run_propagate(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->q.avg.last_update_time_ns, 1024);

	s->ret = pelton_propagate_entity_load_avg(&ctx, &s->q, &s->se, &s->g);
}

static void make_shares(struct oracle_state *s)
{
	a_cfs(&s->g);
	s->tg.load_avg = s->g.tg_load_avg_contrib + below(400000);
	s->tg.shares = 2 + below(20000);
	if (!s->g.load_weight && oracle_policy.shares_keep_empty)
		s->g.load_weight = a_weight();
}

static void run_shares(struct oracle_state *s)
{
	s->ret = pelton_calc_group_shares(&oracle_policy, &s->g, &s->tg, 0);
}

/* The group's entity is queued when its queue holds something. */
static void make_cfs_group(struct oracle_state *s)
{
	make_shares(s);
	if (chance(15)) {
		s->g.load_weight = s->g.nr_queued = s->g.has_curr = 0;
		s->g.weight_rest = 0;
	}
	a_cfs(&s->q);
	an_se(&s->se, 1);
	s->q.has_curr = s->se.running;
	if (s->se.on_rq) {
		s->q.nr_queued++;
		pelton_update_load_add(&s->q, &s->se);
	}
}

static void run_cfs_group(struct oracle_state *s)
{
	pelton_update_cfs_group(&oracle_policy, &s->q, &s->se, &s->g, &s->tg);
}

/* Canary: a share that is cut to whole units, of which the kernel keeps 1/1024 as well. */
void shares_in_units(struct oracle_state *s)
{
	run_cfs_group(s);
	s->se.weight_rest = 0;
}

static void make_contrib(struct oracle_state *s)
{
	s->now = (1ull << 40) + below(1ull << 40);
	a_cfs(&s->g);
	s->tg.load_avg = s->g.tg_load_avg_contrib + below(400000);
	s->tg.shares = 1024;
	s->g.tg_update_ns = s->now - below(2000000);
}

static void run_contrib(struct oracle_state *s)
{
	pelton_update_tg_load_avg(&oracle_policy, &s->tg, &s->g, s->now);
}

/* Older kernels do not keep the time. */
static void settle_contrib(struct oracle_state *k, struct oracle_state *p)
{
	if (oracle_version < 607)
		p->g.tg_update_ns = k->g.tg_update_ns;
}

static void make_decayed(struct oracle_state *s)
{
	a_cfs(&s->g);
	if (chance(70)) {
		s->g.load_weight = 0;
		s->g.weight_rest = 0;
		s->g.nr_queued = s->g.has_curr = 0;
	}
	if (chance(70)) {
		struct pelton_avg none = { .last_update_time_ns = s->g.avg.last_update_time_ns };

		s->g.avg = none;
	}
	if (chance(50))
		s->g.tg_load_avg_contrib = 0;
	/* The core's walk goes on while something is still to be propagated; the kernel's test does not ask. */
	s->g.removed_nr = 0;
	s->g.propagate = 0;
}

static void run_decayed(struct oracle_state *s)
{
	s->ret = pelton_cfs_rq_is_decayed(&oracle_policy, &s->g);
}

/* An entity whose queue is as old as it; it comes, goes, stays or wants its estimate. */
static void make_update(struct oracle_state *s)
{
	s->group = chance(50);
	a_cfs(&s->q);
	an_se(&s->se, s->group);
	s->now = s->q.avg.last_update_time_ns + below(1 << 24);
	if (s->se.running)
		s->q.has_curr = 1;
	s->se.avg.last_update_time_ns = chance(15) ? 0 : s->q.avg.last_update_time_ns - below(1 << 22);
	if (s->group) {
		a_cfs(&s->g);
		if (!s->g.propagate)
			s->g.prop_runnable_sum = 0;
	}
	s->flags = chance(70) | chance(10) << 1 | chance(50) << 2;
	if (oracle_version >= 600 && chance(15) && s->se.avg.last_update_time_ns)
		s->flags = PELTON_DO_DETACH | PELTON_UPDATE_TG;
	if (oracle_policy.util_est == PELTON_UTIL_EST_U4 && !s->group && chance(30))
		s->flags |= PELTON_UPDATE_UTIL_EST;
}

/* ret: calls of the governor, one for each kind of event that makes one. */
static void run_update(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);
	u32 ev = pelton_update_load_avg(&ctx, &s->q, &s->se, s->group ? &s->g : 0, s->flags);
	u32 moved = ev & (PELTON_EV_ATTACH | PELTON_EV_DETACH);

	s->ret = !!(ev & PELTON_EV_ATTACH) + !!(ev & PELTON_EV_DETACH) + ((ev & PELTON_EV_DECAYED) && !moved);
	s->aux = ev & PELTON_EV_REMOVED;
}

/* How many calls a removal makes is not what the core counts. */
static void settle_update(struct oracle_state *k, struct oracle_state *p)
{
	if (p->aux && k->ret)
		p->ret = k->ret;
	p->aux = k->aux;
}

/* A task on a group's queue, the group's entity on the root. */
static void make_h_load(struct oracle_state *s)
{
	a_cfs(&s->q);
	a_cfs(&s->g);
	an_se(&s->gse, 1);
	an_se(&s->se, 0);
	s->gse.running = s->se.running = 0;
}

static void run_h_load(struct oracle_state *s)
{
	u64 part = pelton_h_load(s->q.avg.load_avg, s->gse.avg.load_avg, s->q.avg.load_avg);

	s->ret = pelton_h_load(part, s->se.avg.load_avg, s->g.avg.load_avg);
}

const struct oracle_op ops_group[] = {
	{ "reweight_entity", "pelton_reweight_entity", make_reweight, k_reweight, run_reweight, 0, 0 },
	{ "propagate_entity_load_avg", "pelton_propagate_entity_load_avg", make_propagate, k_propagate, run_propagate,
	  0, 0 },
	{ "calc_group_shares", "pelton_calc_group_shares", make_shares, k_group_shares, run_shares, 0, 0 },
	{ "update_cfs_group", "pelton_update_cfs_group", make_cfs_group, k_update_cfs_group, run_cfs_group, 0, 0 },
	{ "update_tg_load_avg", "pelton_update_tg_load_avg", make_contrib, k_tg_contrib, run_contrib, settle_contrib,
	  0 },
	{ "cfs_rq_is_decayed", "pelton_cfs_rq_is_decayed", make_decayed, k_is_decayed, run_decayed, 0, 0 },
	{ "update_load_avg", "pelton_update_load_avg", make_update, k_update_load_avg, run_update, settle_update, 0 },
	{ "task_h_load", "pelton_h_load", make_h_load, k_h_load, run_h_load, 0, 0 },
	{ 0 },
};
