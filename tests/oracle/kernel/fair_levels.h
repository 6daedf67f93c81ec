/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A task of a group is queued, or leaves: enqueue_task_fair() and dequeue_task_fair() as a whole. After fair_select.h.
 */

#if ORACLE_VERSION >= 614
#define level_idle(q) ((q)->h_nr_idle)
#else
#define level_idle(q) ((q)->idle_h_nr_running)
#endif

static void level_in(struct cfs_rq *q, struct sched_entity *k)
{
	virtual_time_in(q, k);
	q->tasks_timeline = RB_ROOT_CACHED;
	q->on_list = 1;
	INIT_LIST_HEAD(&q->leaf_cfs_rq_list);
	if (k->on_rq && q->curr != k)
		__enqueue_entity(q, k);
}

static void level_out(struct cfs_rq *q, struct sched_entity *k)
{
	if (k->on_rq && q->curr != k)
		__dequeue_entity(q, k);
	q->tasks_timeline = RB_ROOT_CACHED;
	q->on_list = 0;
#if ORACLE_VERSION < 615
	q->next = NULL;
#endif
}

static void levels_in(const struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);

	oracle_now = s->now;
	clock_at(s->now);
	rq->nr_running = 5;
	rq->rd = &o_root_domain;
	o_root_domain.overutilized = 1;
	oracle_cap[0] = s->cap;
#if ORACLE_VERSION < 608
	rq->cpu_capacity_orig = s->cap;
#endif
	INIT_LIST_HEAD(&rq->cfs_tasks);
	INIT_LIST_HEAD(&o_task.se.group_node);
	group_in(&s->g, &s->tg);
	cfs_in(ROOT, &s->q);
	se_in(&s->gse, ROOT, 1);
	se_in(&s->se, &o_gq, 0);
	o_task.se.parent = &o_gse;
	o_task.sched_class = &fair_sched_class;
	o_task.prio = o_task.static_prio = 120;
	o_task.in_iowait = s->iowait;
	level_in(&o_gq, &o_task.se);
	level_in(ROOT, &o_gse);
	level_idle(&o_gq) = s->level[1].h_nr_idle;
	level_idle(ROOT) = s->level[0].h_nr_idle;
#if ORACLE_VERSION >= 601
	o_gq.idle = s->level[1].idle;
#endif
	o_task.policy = s->level[2].idle ? SCHED_IDLE : SCHED_NORMAL;
	rq->next_balance = jiffies + 1000;
}

/* `lost`: the CPU is to balance at once. */
static void levels_idle_out(struct oracle_state *s)
{
	s->level[0].h_nr_idle = level_idle(ROOT);
	s->level[1].h_nr_idle = level_idle(&o_gq);
	s->lost = cpu_rq(0)->next_balance == jiffies;
	level_idle(ROOT) = level_idle(&o_gq) = 0;
#if ORACLE_VERSION >= 601
	o_gq.idle = 0;
#endif
	o_task.policy = SCHED_NORMAL;
}

static void counts_out(const struct cfs_rq *k, struct pelton_cfs_rq *p)
{
#if ORACLE_VERSION >= 612
	p->h_nr_runnable = k->h_nr_runnable;
#else
	p->h_nr_runnable = k->h_nr_running;
#endif
#if ORACLE_VERSION >= 614
	p->nr_queued = k->nr_queued;
#else
	p->nr_queued = k->nr_running;
#endif
}

static void levels_out(struct oracle_state *s)
{
	levels_idle_out(s);
	s->se.on_rq = o_task.se.on_rq;
	s->gse.on_rq = o_gse.on_rq;
	s->gse.nr_runnable = o_gse.runnable_weight;
	se_out(&o_task.se, &s->se);
	se_out(&o_gse, &s->gse);
	counts_out(&o_gq, &s->g);
	counts_out(ROOT, &s->q);
	cfs_out(&o_gq, &s->g);
	cfs_out(ROOT, &s->q);
	s->tg.load_avg = atomic_long_read(&o_tg.load_avg);
	level_out(ROOT, &o_gse);
	level_out(&o_gq, &o_task.se);
	o_task.se.parent = NULL;
	o_task.in_iowait = 0;
	o_root_domain.overutilized = 0;
	oracle_cap[0] = 1024;
}

static void levels_move(struct oracle_state *s, int comes)
{
	static struct update_util_data data = { .func = o_hook };

	levels_in(s);
	o_hooks = 0;
	per_cpu(cpufreq_update_util_data, 0) = &data;
	if (comes)
		enqueue_task_fair(cpu_rq(0), &o_task, s->sleeps ? ENQUEUE_WAKEUP : 0);
	else
		dequeue_task_fair(cpu_rq(0), &o_task, s->sleeps ? DEQUEUE_SLEEP : 0);
	per_cpu(cpufreq_update_util_data, 0) = NULL;
	s->ret = o_hooks;
	levels_out(s);
}

void k_enqueue_task(struct oracle_state *s)
{
	levels_move(s, 1);
}

void k_dequeue_task(struct oracle_state *s)
{
	levels_move(s, 0);
}
