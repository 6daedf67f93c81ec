/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle groups: sched_group_set_idle() with two groups, one below the other, and what a wake-up does between tasks in
 * groups that may be idle. After fair_class.h.
 */

#if ORACLE_VERSION >= 614
#define h_idle(q) ((q)->h_nr_idle)
#else
#define h_idle(q) ((q)->idle_h_nr_running)
#endif
#if ORACLE_VERSION >= 612
#define h_queued(q) ((q)->h_nr_queued)
#else
#define h_queued(q) ((q)->h_nr_running)
#endif

#if ORACLE_VERSION >= 601
static struct task_group o_below_tg;
#if ORACLE_VERSION >= 702
static DEFINE_PER_CPU(struct cfs_tg_state, o_below);
#define o_below_q (per_cpu(o_below, 0).cfs_rq)
#define o_below_se (per_cpu(o_below, 0).se)
#else
static struct cfs_rq o_below_q;
static struct sched_entity o_below_se;
static struct cfs_rq *o_below_q_of[8];
static struct sched_entity *o_below_se_of[8];
#endif

static void idle_level_in(struct cfs_rq *q, const struct oracle_level *l)
{
	q->idle = l->idle;
	h_queued(q) = l->h_nr_queued;
	h_idle(q) = l->h_nr_idle;
#if ORACLE_VERSION < 614
	q->idle_nr_running = l->nr_idle;
#endif
}

static void idle_level_out(const struct cfs_rq *q, struct oracle_level *l)
{
	l->idle = q->idle;
	l->h_nr_queued = h_queued(q);
	l->h_nr_idle = h_idle(q);
#if ORACLE_VERSION < 614
	l->nr_idle = q->idle_nr_running;
#endif
}

/* An entity without load on the queue of its parent: averages are not compared here. */
static void idle_se_in(struct sched_entity *k, struct cfs_rq *q, struct sched_entity *parent, struct cfs_rq *own)
{
	memset(k, 0, sizeof(*k));
	k->cfs_rq = q;
	k->parent = parent;
	k->my_q = own;
	k->load.weight = NICE_0_LOAD;
	own->load.weight = 0;
	own->curr = NULL;
}

static void idle_groups_in(const struct oracle_state *s)
{
	static const struct pelton_cfs_rq empty;
	static const struct pelton_tg tg;

	clock_at(s->now);
	oracle_now = s->now;
	cfs_in(ROOT, &empty);
	group_in(&empty, &tg);
	idle_se_in(&o_gse, ROOT, NULL, &o_gq);
	cfs_in(&o_below_q, &empty);
	o_below_q.tg = &o_below_tg;
	o_below_q.rq = cpu_rq(0);
	idle_se_in(&o_below_se, &o_gq, &o_gse, &o_below_q);
#if ORACLE_VERSION >= 702
	o_below_tg.cfs_rq = &o_below.cfs_rq;
#else
	o_below_q_of[0] = &o_below_q;
	o_below_se_of[0] = &o_below_se;
	o_below_tg.cfs_rq = o_below_q_of;
	o_below_tg.se = o_below_se_of;
#endif
	o_below_tg.parent = &o_tg;
	o_gse.on_rq = s->level[1].on_rq;
	o_below_se.on_rq = s->level[2].on_rq;
	o_tg.idle = s->level[1].idle;
	o_below_tg.idle = s->level[2].idle;
	idle_level_in(ROOT, &s->level[0]);
	idle_level_in(&o_gq, &s->level[1]);
	idle_level_in(&o_below_q, &s->level[2]);
}

/* `group`: 1 is the outer one, 2 the inner one; `into`: what is written; `flags`: into its weight instead. */
void k_set_idle(struct oracle_state *s)
{
	struct task_group *tg = s->group == 1 ? &o_tg : &o_below_tg;

	k_cpus(1);
	idle_groups_in(s);
	tg->shares = scale_load(s->tg.shares);
	if (s->flags)
		s->ret = (u64)(s64)sched_group_set_shares(tg, scale_load(s->weight));
	else
		s->ret = (u64)(s64)sched_group_set_idle(tg, s->into);
	s->tg.shares = scale_load_down(tg->shares);
	idle_level_out(ROOT, &s->level[0]);
	idle_level_out(&o_gq, &s->level[1]);
	idle_level_out(&o_below_q, &s->level[2]);
	ROOT->idle = o_gq.idle = 0;
	o_tg.idle = 0;
	o_gse.on_rq = 0;
	h_idle(ROOT) = h_queued(ROOT) = 0;
}
#endif
