/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weights and groups. After fair_pelt.h. */

#if ORACLE_VERSION >= 606
/* Weights of the queue's entities without `k`. The kernel divides by their sum where there are some. */
static s64 others_weight(const struct cfs_rq *q, const struct sched_entity *k)
{
	s64 others = scale_load_down(q->load.weight) - (k->on_rq ? scale_load_down(k->load.weight) : 0);

	return max_t(s64, others, 1);
}
#endif

/* All virtual times are 0: every task is eligible. */
static void virtual_time_in(struct cfs_rq *q, struct sched_entity *k)
{
#if ORACLE_VERSION >= 702
	q->sum_w_vruntime = q->sum_shift = 0;
	q->sum_weight = others_weight(q, k);
	q->zero_vruntime = 0;
#elif ORACLE_VERSION >= 606
	q->avg_vruntime = 0;
	q->avg_load = others_weight(q, k);
	q->zero_vruntime = 0;
#else
	q->min_vruntime = 0;
#endif
	o_other.vruntime = 0;
	o_other.load.weight = 0;
	k->vruntime = 0;
#if ORACLE_VERSION >= 606
	k->vlag = 0;
	k->deadline = 0;
#endif
}

/* An entity that waits stands in the tree, which reweight_entity() takes it out of. */
static struct sched_entity *in_tree(struct sched_entity *k)
{
	virtual_time_in(ROOT, k);
	if (k->on_rq && ROOT->curr != k)
		__enqueue_entity(ROOT, k);
	return k;
}

static void out_of_tree(struct sched_entity *k)
{
	if (k->on_rq && ROOT->curr != k)
		__dequeue_entity(ROOT, k);
	ROOT->tasks_timeline = RB_ROOT_CACHED;
}

void k_reweight(struct oracle_state *s)
{
	struct sched_entity *k;

	cfs_in(ROOT, &s->q);
	k = in_tree(se_in(&s->se, ROOT, s->group));
	reweight_entity(ROOT, k, s->weight);
	out_of_tree(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

void k_propagate(struct oracle_state *s)
{
	struct sched_entity *k;

	group_in(&s->g, NULL);
	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, 1);
	s->ret = propagate_entity_load_avg(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
	cfs_out(&o_gq, &s->g);
}

void k_group_shares(struct oracle_state *s)
{
	group_in(&s->g, &s->tg);
	s->ret = calc_group_shares(&o_gq);
}

/* The entity of a group gets the weight that is its share now. */
void k_update_cfs_group(struct oracle_state *s)
{
	struct sched_entity *k;

	group_in(&s->g, &s->tg);
	cfs_in(ROOT, &s->q);
	k = in_tree(se_in(&s->se, ROOT, 1));
	update_cfs_group(k);
	out_of_tree(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

void k_tg_contrib(struct oracle_state *s)
{
	group_in(&s->g, &s->tg);
	oracle_now = s->now;
	clock_at(s->now);
	update_tg_load_avg(&o_gq);
	s->tg.load_avg = atomic_long_read(&o_tg.load_avg);
	cfs_out(&o_gq, &s->g);
}

void k_is_decayed(struct oracle_state *s)
{
	group_in(&s->g, NULL);
	s->ret = cfs_rq_is_decayed(&o_gq) != 0;
}

static unsigned int o_hooks;

static void o_hook(struct update_util_data *data, u64 time, unsigned int flags)
{
	o_hooks++;
}

/* `ret`: how often the governor would have been called. The entity is a group's, which owns `g`, or a task. */
void k_update_load_avg(struct oracle_state *s)
{
	static struct update_util_data data = { .func = o_hook };
	struct sched_entity *k;

	o_hooks = 0;
	per_cpu(cpufreq_update_util_data, 0) = &data;
	clock_at(s->now);
	if (s->group)
		group_in(&s->g, NULL);
	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, s->group);
	update_load_avg(ROOT, k, s->flags);
	per_cpu(cpufreq_update_util_data, 0) = NULL;
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
	if (s->group)
		cfs_out(&o_gq, &s->g);
	s->ret = o_hooks;
}

/* A task of load average se.avg.load_avg on queue `g`, whose entity of load average gse.avg.load_avg is on the root. */
void k_h_load(struct oracle_state *s)
{
	struct sched_entity *k;

	group_in(&s->g, NULL);
	cfs_in(ROOT, &s->q);
	se_in(&s->gse, ROOT, 1);
	k = se_in(&s->se, &o_gq, 0);
	o_gse.parent = NULL;
	k->parent = &o_gse;
	ROOT->last_h_load_update = o_gq.last_h_load_update = jiffies - 1;
	s->ret = task_h_load(&o_task);
	k->parent = NULL;
}
