// SPDX-License-Identifier: GPL-2.0-or-later
/* A task of a group is queued, or leaves: estimates, the task's queue, the group's load, its entity on the root. */
#include "host.h"

/* Tasks of the CPU, as the kernel's side says. */
#define LEVEL_TASKS 5

static void a_level(struct pelton_cfs_rq *q, u32 others)
{
	a_cfs(q);
	q->nr_queued = others;
	q->h_nr_runnable = others + (u32)below(3) * (others > 0);
	q->load_weight = others ? a_weight() * others : 0;
	q->weight_rest = a_rest(q->load_weight);
	q->has_curr = others && chance(70);
}

static void an_entity_of(struct pelton_cfs_rq *q, struct pelton_se *se, u32 group, u32 queued)
{
	an_se(se, group);
	se->delayed = 0;
	se->nr_runnable = group ? se->nr_runnable : 1;
	se->on_rq = queued;
	se->running = 0;
	if (!queued)
		return;
	q->nr_queued++;
	pelton_update_load_add(q, se);
}

/* A record that is as old as its queue, or older; a task may never have been anywhere. */
static void ages(struct oracle_state *s)
{
	s->q.avg.last_update_time_ns = s->g.avg.last_update_time_ns = s->now - below(1 << 24);
	s->gse.avg.last_update_time_ns = s->q.avg.last_update_time_ns - below(1 << 20);
	s->se.avg.last_update_time_ns = chance(15) ? 0 : s->g.avg.last_update_time_ns - below(1 << 22);
	s->g.tg_update_ns = s->now - below(2000000);
	if (!s->g.propagate)
		s->g.prop_runnable_sum = 0;
}

/* Some of the CPU's five tasks are idle ones, the task and its group may be. */
static void idle_levels(struct oracle_state *s, u32 queued)
{
	s->level[1].idle = pelton_has_idle_groups(&oracle_policy) && chance(40);
	s->level[2].idle = chance(30);
	s->level[1].h_nr_idle = (u32)below(s->g.h_nr_runnable + 1 - queued) + (queued ? s->level[2].idle : 0);
	s->level[0].h_nr_idle = (u32)below(4) + (queued ? s->level[2].idle || s->level[1].idle : 0);
}

/* The root queue has another task beside the group: the fair server neither starts nor stops. */
static void make_levels(struct oracle_state *s, u32 queued)
{
	u32 others = chance(40) ? 0 : 1 + (u32)below(4);

	s->now = (1ull << 40) + below(1ull << 40);
	s->cap = chance(50) ? 1024 : 1 + (u32)below(1024);
	s->sleeps = chance(75);
	a_level(&s->g, others);
	an_entity_of(&s->g, &s->se, 0, queued);
	s->g.h_nr_runnable += queued;
	a_level(&s->q, 1 + (u32)below(4));
	an_entity_of(&s->q, &s->gse, 1, others || queued);
	s->q.h_nr_runnable += s->gse.on_rq ? s->g.h_nr_runnable : 0;
	s->gse.nr_runnable = s->g.h_nr_runnable;
	s->tg.load_avg = s->g.tg_load_avg_contrib + below(400000);
	s->tg.shares = 2 + below(20000);
	idle_levels(s, queued);
	ages(s);
}

static void make_enqueue(struct oracle_state *s)
{
	make_levels(s, 0);
	s->iowait = chance(20);
	/* Another task of the group runs. */
	s->gse.running = s->g.has_curr;
	s->q.has_curr |= s->gse.running;
}

static void make_dequeue(struct oracle_state *s)
{
	make_levels(s, 1);
	if (s->g.has_curr || chance(50)) {
		s->gse.running = s->g.has_curr = s->q.has_curr = 1;
		s->se.running = s->g.nr_queued == 1 || chance(60);
	}
	if (!s->se.avg.last_update_time_ns)
		s->se.avg.last_update_time_ns = s->g.avg.last_update_time_ns;
}

static void told(struct oracle_state *s, u32 ev, u32 before)
{
	u32 moved = ev & (PELTON_EV_ATTACH | PELTON_EV_DETACH);

	s->ret = before + !!(ev & PELTON_EV_ATTACH) + !!(ev & PELTON_EV_DETACH) + ((ev & PELTON_EV_DECAYED) && !moved);
	s->aux = ev & PELTON_EV_REMOVED;
}

static void group_changed(struct oracle_state *s, u32 ev)
{
	if (ev & PELTON_EV_TG_LOAD)
		pelton_update_tg_load_avg(&oracle_policy, &s->tg, &s->g, s->now);
}

static void shares_follow(struct oracle_state *s)
{
	pelton_update_cfs_group(&oracle_policy, &s->q, &s->gse, &s->g, &s->tg);
}

/* A task comes (1) or leaves (-1): the counts of idle ones, and whether the CPU's next balance comes early. */
static void count_idle(struct oracle_state *s, s32 tasks)
{
	s32 idle = tasks * (s32)s->level[2].idle;
	u32 before = s->level[0].h_nr_idle;

	s->level[1].h_nr_idle += (u32)idle;
	s->level[0].h_nr_idle += (u32)pelton_h_nr_idle_above(s->level[1].idle, tasks, idle);
	s->lost = tasks < 0 && pelton_lb_at_once(&oracle_policy, pelton_sched_idle_rq(LEVEL_TASKS, before),
						 pelton_sched_idle_rq(LEVEL_TASKS - 1, s->level[0].h_nr_idle));
}

static void run_enqueue(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, s->cap);
	u32 ev;

	count_idle(s, 1);
	pelton_util_est_enqueue(&oracle_policy, &s->q, &s->se);
	group_changed(s, pelton_enqueue_entity(&ctx, &s->g, &s->se, 0, 1));
	if (s->gse.on_rq)
		ev = pelton_update_ancestor(&ctx, &s->q, &s->gse, &s->g, 1);
	else
		ev = pelton_enqueue_entity(&ctx, &s->q, &s->gse, &s->g, 1);
	shares_follow(s);
	told(s, ev, s->iowait);
}

static void run_dequeue(struct oracle_state *s)
{
	u32 flags = s->sleeps ? PELTON_DEQUEUE_SLEEP : 0,
	    update = pelton_leave_update(&oracle_policy, s->sleeps, flags);
	struct pelton_rq r = { .cap_orig = s->cap, .cfs = s->q };
	struct pelton_ctx ctx = ctx_at(s->now, s->cap);
	u32 ev;

	count_idle(s, -1);
	pelton_rq_estimate_before(&oracle_policy, &r, &s->se, s->sleeps);
	group_changed(s, pelton_dequeue_entity(&ctx, &s->g, &s->se, 0, -1, update));
	s->q = r.cfs;
	if (s->g.load_weight)
		ev = pelton_update_ancestor(&ctx, &s->q, &s->gse, &s->g, -1);
	else
		ev = pelton_dequeue_entity(&ctx, &s->q, &s->gse, &s->g, -1, 0);
	shares_follow(s);
	r.cfs = s->q;
	pelton_rq_estimate_end(&oracle_policy, &r, &s->se, s->sleeps, 0);
	s->q = r.cfs;
	told(s, ev, 0);
}

/* Canary: tasks of an idle group are idle ones only when they are of SCHED_IDLE. */
void levels_no_idle_group(struct oracle_state *s)
{
	s32 idle = (s32)s->level[2].idle;

	run_enqueue(s);
	s->level[0].h_nr_idle -= (u32)(pelton_h_nr_idle_above(s->level[1].idle, 1, idle) - idle);
}

/* Canaries: a weight that follows the group's load of before; a group without tasks that stays queued. */
void levels_old_load(struct oracle_state *s)
{
	struct pelton_tg before = s->tg;
	u64 weight;

	run_enqueue(s);
	weight = pelton_calc_group_shares(&oracle_policy, &s->g, &before, pelton_se_full_weight(&s->gse));
	s->gse.weight = pelton_scale_load_down(weight);
	s->gse.weight_rest = pelton_weight_rest(weight, s->gse.weight);
}

void levels_empty_stays(struct oracle_state *s)
{
	run_dequeue(s);
	if (s->gse.on_rq)
		return;
	s->gse.on_rq = 1;
	s->q.nr_queued++;
	pelton_update_load_add(&s->q, &s->gse);
}

/* As settle_update(). A task's count of runnable tasks is never read. */
static void settle(struct oracle_state *k, struct oracle_state *p)
{
	if (p->aux && k->ret)
		p->ret = k->ret;
	if (oracle_version < 607)
		p->g.tg_update_ns = k->g.tg_update_ns;
	p->se.nr_runnable = k->se.nr_runnable;
	p->aux = k->aux;
}

const struct oracle_op ops_levels[] = {
	{ "enqueue_task_fair", "pelton_enqueue_entity, pelton_update_ancestor, pelton_update_cfs_group", make_enqueue,
	  k_enqueue_task, run_enqueue, settle, 0 },
	{ "dequeue_task_fair", "pelton_dequeue_entity, pelton_update_ancestor, pelton_rq_estimate_end", make_dequeue,
	  k_dequeue_task, run_dequeue, settle, 0 },
	{ 0 },
};
