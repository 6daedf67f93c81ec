// SPDX-License-Identifier: GPL-2.0-or-later
/* Records over time, joining and leaving of a queue. */
#include "host.h"

static void make_se(struct oracle_state *s)
{
	s->group = chance(30);
	an_se(&s->se, s->group);
	s->now = s->se.avg.last_update_time_ns + a_delta();
}

static void run_update_se(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	s->ret = pelton_update_load_avg_se(&ctx, &s->se) != 0;
}

static void make_blocked_se(struct oracle_state *s)
{
	an_se(&s->se, 0);
	s->now = s->se.avg.last_update_time_ns + a_delta();
}

static void run_blocked_se(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	s->ret = pelton_update_load_avg_blocked_se(&ctx, &s->se) != 0;
}

static void make_queue(struct oracle_state *s)
{
	a_cfs(&s->q);
	s->now = s->q.avg.last_update_time_ns + a_delta();
}

static void run_age_cfs_rq(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	s->ret = pelton_update_load_avg_cfs_rq(&ctx, &s->q) != 0;
}

static void run_update_cfs_rq(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	s->ret = pelton_update_cfs_rq_load_avg(&ctx, &s->q) != 0;
}

static void make_class(struct oracle_state *s)
{
	a_rq(&s->r);
	s->running = chance(50);
	s->lost = (u32)below(s->r.cap_orig + 1);
	s->irq = below(1ull << below(26));
	s->flags = (u32)below(3);
}

static void run_rt(struct oracle_state *s)
{
	s->ret = pelton_update_rt(&oracle_policy, &s->r, s->running);
}

static void run_dl(struct oracle_state *s)
{
	s->ret = pelton_update_dl(&oracle_policy, &s->r, s->running);
}

static void run_hw(struct oracle_state *s)
{
	s->ret = pelton_update_hw(&oracle_policy, &s->r, s->lost);
}

static void run_irq(struct oracle_state *s)
{
	s->ret = pelton_update_irq(&oracle_policy, &s->r, s->irq) != 0;
}

static void run_others(struct oracle_state *s)
{
	s->ret = pelton_update_others(&oracle_policy, &s->r, s->flags == 1, s->flags == 2, s->lost) != 0;
	s->aux = pelton_others_have_blocked(&s->r);
}

static void make_member(struct oracle_state *s)
{
	s->group = chance(30);
	a_cfs(&s->q);
	an_se(&s->se, s->group);
	s->se.running = 0;
}

static void run_attach(struct oracle_state *s)
{
	pelton_attach_entity_load_avg(&oracle_policy, &s->q, &s->se);
}

static void run_detach(struct oracle_state *s)
{
	pelton_detach_entity_load_avg(&oracle_policy, &s->q, &s->se);
}

/* A task changes its class: it is attached to the root queue, which is up to date or not. */
static void make_class_change(struct oracle_state *s)
{
	a_cfs(&s->q);
	an_se(&s->se, 0);
	s->se.on_rq = s->se.running = s->se.delayed = 0;
	s->now = s->q.avg.last_update_time_ns + below(1 << 24);
	s->se.avg.last_update_time_ns = s->q.avg.last_update_time_ns - below(1 << 22);
}

static void run_attach_to_fair(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	pelton_switched_to_fair(&ctx, &s->q, &s->se);
}

static void run_detach_from_fair(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	pelton_switched_from_fair(&ctx, &s->q, &s->se);
}

static void make_post_init(struct oracle_state *s)
{
	s->cap = 1 + (u32)below(1024);
	a_cfs(&s->q);
	s->se.weight = a_weight();
	s->se.nr_runnable = 1;
	s->se.avg.load_avg = s->se.weight;
}

static void run_post_init(struct oracle_state *s)
{
	pelton_post_init_entity_util_avg(&oracle_policy, &s->q, &s->se, s->cap);
}

static void make_sleeper(struct oracle_state *s)
{
	a_cfs(&s->q);
	an_se(&s->se, 0);
	s->se.on_rq = s->se.running = s->se.delayed = 0;
	s->se.avg.last_update_time_ns = s->q.avg.last_update_time_ns - below(1 << 30);
}

static void run_remove(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(0, 1024);

	pelton_remove_sleeping(&ctx, &s->q, &s->se);
}

/* The CPU went idle a while ago, or runs something; its queue may have been throttled earlier. */
static void make_migration(struct oracle_state *s)
{
	a_rq(&s->r);
	an_se(&s->se, 0);
	s->se.on_rq = s->se.running = s->se.delayed = 0;
	s->idle = chance(70);
	s->r.clock.clock_pelt_idle_ns = s->r.clock.clock_pelt_ns - s->r.clock.lost_idle_ns - below(1 << 20);
	s->r.cfs.avg.last_update_time_ns = s->r.clock.clock_pelt_idle_ns - below(1 << 24) + below(1 << 18);
	s->se.avg.last_update_time_ns = s->r.cfs.avg.last_update_time_ns - below(1 << 28);
	s->now = s->r.clock.clock_ns + below(1ull << below(34));
}

/* Empty records are not aged by the kernel; where they stand in the period is set anew when they are attached. */
static void settle_migrate(struct oracle_state *k, struct oracle_state *p)
{
	const struct pelton_avg *a = &k->se.avg;

	if (!a->load_sum && !a->runnable_sum && !a->util_sum)
		p->se.avg.period_contrib = a->period_contrib;
}

static void run_migrate(struct oracle_state *s)
{
	pelton_rq_migrate_sleeping(&oracle_policy, &s->r, &s->se, s->idle, s->now);
}

static void make_capacity(struct oracle_state *s)
{
	a_rq(&s->r);
	s->r.hw.load_avg = below(s->r.cap_orig);
}

static void run_capacity(struct oracle_state *s)
{
	s->ret = pelton_capacity_of(&oracle_policy, &s->r, (u32)s->r.hw.load_avg, 0);
}

const struct oracle_op ops_pelt[] = {
	{ "__update_load_avg_se", "pelton_update_load_avg_se", make_se, k_update_se, run_update_se, 0, 0 },
	{ "__update_load_avg_blocked_se", "pelton_update_load_avg_blocked_se", make_blocked_se, k_update_blocked_se,
	  run_blocked_se, 0, 0 },
	{ "__update_load_avg_cfs_rq", "pelton_update_load_avg_cfs_rq", make_queue, k_age_cfs_rq, run_age_cfs_rq, 0, 0 },
	{ "update_cfs_rq_load_avg", "pelton_update_cfs_rq_load_avg", make_queue, k_update_cfs_rq, run_update_cfs_rq, 0,
	  0 },
	{ "update_rt_rq_load_avg", "pelton_update_rt", make_class, k_update_rt, run_rt, 0, 0 },
	{ "update_dl_rq_load_avg", "pelton_update_dl", make_class, k_update_dl, run_dl, 0, 0 },
	{ "update_hw_load_avg", "pelton_update_hw", make_class, k_update_hw, run_hw, 0, 0 },
	{ "update_irq_load_avg", "pelton_update_irq", make_class, k_update_irq, run_irq, 0, 0 },
	{ "__update_blocked_others", "pelton_update_others", make_class, k_others, run_others, 0, 0 },
	{ "attach_entity_load_avg", "pelton_attach_entity_load_avg", make_member, k_attach, run_attach, 0, 0 },
	{ "detach_entity_load_avg", "pelton_detach_entity_load_avg", make_member, k_detach, run_detach, 0, 0 },
	{ "attach_entity_cfs_rq", "pelton_switched_to_fair", make_class_change, k_attach_to_fair, run_attach_to_fair, 0,
	  0 },
	{ "detach_entity_cfs_rq", "pelton_switched_from_fair", make_class_change, k_detach_from_fair,
	  run_detach_from_fair, 0, 0 },
	{ "post_init_entity_util_avg", "pelton_post_init_entity_util_avg", make_post_init, k_post_init, run_post_init,
	  0, 0 },
	{ "remove_entity_load_avg", "pelton_remove_sleeping", make_sleeper, k_remove_sleeping, run_remove, 0, 0 },
	{ "migrate_task_rq_fair", "pelton_rq_migrate_sleeping", make_migration, k_migrate, run_migrate, settle_migrate,
	  0 },
	{ "scale_rt_capacity", "pelton_capacity_of", make_capacity, k_capacity_of, run_capacity, 0, 0 },
	{ 0 },
};
