/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records over time: pelt.c through its callers, the clocks, joining and leaving of a queue. After fair_records.h. */

void k_update_se(struct oracle_state *s)
{
	struct sched_entity *k;

	current_of(ROOT, NULL);
	k = se_in(&s->se, ROOT, s->group);
	s->ret = __update_load_avg_se(s->now, ROOT, k) != 0;
	se_out(k, &s->se);
}

void k_update_blocked_se(struct oracle_state *s)
{
	struct sched_entity *k = se_in(&s->se, ROOT, s->group);

	s->ret = __update_load_avg_blocked_se(s->now, k) != 0;
	se_out(k, &s->se);
}

void k_age_cfs_rq(struct oracle_state *s)
{
	cfs_in(ROOT, &s->q);
	s->ret = __update_load_avg_cfs_rq(s->now, ROOT) != 0;
	cfs_out(ROOT, &s->q);
}

void k_update_rt(struct oracle_state *s)
{
	k_rq_in(&s->r);
	s->ret = update_rt_rq_load_avg(rq_clock_pelt(cpu_rq(0)), cpu_rq(0), s->running);
	k_rq_out(&s->r);
}

void k_update_dl(struct oracle_state *s)
{
	k_rq_in(&s->r);
	s->ret = update_dl_rq_load_avg(rq_clock_pelt(cpu_rq(0)), cpu_rq(0), s->running);
	k_rq_out(&s->r);
}

#if ORACLE_VERSION < 610
#define update_hw_load_avg update_thermal_load_avg
#endif

void k_update_hw(struct oracle_state *s)
{
	k_rq_in(&s->r);
	s->ret = update_hw_load_avg(rq_clock_task(cpu_rq(0)), cpu_rq(0), s->lost);
	k_rq_out(&s->r);
}

void k_update_irq(struct oracle_state *s)
{
	k_rq_in(&s->r);
	s->ret = update_irq_load_avg(cpu_rq(0), s->irq) != 0;
	k_rq_out(&s->r);
}

/* The blocked walk's refresh of all other classes; `flags` says whose task runs: 1 real-time, 2 deadline. */
void k_others(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);
	bool done = true;

	k_rq_in(&s->r);
	oracle_lost[0] = s->lost;
	o_task.sched_class = s->flags == 1 ? &rt_sched_class : s->flags == 2 ? &dl_sched_class : &fair_sched_class;
	rq->curr = &o_task;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, &o_task);
#endif
	s->ret = __update_blocked_others(rq, &done) != 0;
	s->aux = !done;
	rq->curr = rq->idle;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, rq->idle);
#endif
	oracle_lost[0] = 0;
	o_task.sched_class = &fair_sched_class;
	k_rq_out(&s->r);
}

void k_enter_idle(struct oracle_state *s)
{
	k_rq_in(&s->r);
	update_idle_rq_clock_pelt(cpu_rq(0));
	k_rq_out(&s->r);
}

void k_cfs_clock(struct oracle_state *s)
{
	k_rq_in(&s->r);
	group_in(&s->g, NULL);
	s->ret = cfs_rq_clock_pelt(&o_gq);
}

/*
 * From 6.18 on the clock stops when the last task of the group has left; the functions do more than this record shows.
 */
#if ORACLE_VERSION < 618
static void throttle_move(struct oracle_state *s, int (*move)(struct task_group *, void *))
{
	k_rq_in(&s->r);
	group_in(&s->g, NULL);
	o_gq.on_list = 0;
	INIT_LIST_HEAD(&o_gq.leaf_cfs_rq_list);
	move(&o_tg, cpu_rq(0));
	cfs_out(&o_gq, &s->g);
	INIT_LIST_HEAD(&cpu_rq(0)->leaf_cfs_rq_list);
	cpu_rq(0)->tmp_alone_branch = &cpu_rq(0)->leaf_cfs_rq_list;
}

void k_throttle_clock(struct oracle_state *s)
{
	throttle_move(s, tg_throttle_down);
}

void k_unthrottle_clock(struct oracle_state *s)
{
	throttle_move(s, tg_unthrottle_up);
}
#endif

void k_update_cfs_rq(struct oracle_state *s)
{
	clock_at(s->now);
	cfs_in(ROOT, &s->q);
	s->ret = update_cfs_rq_load_avg(s->now, ROOT) != 0;
	cfs_out(ROOT, &s->q);
}

void k_attach(struct oracle_state *s)
{
	struct sched_entity *k;

	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, s->group);
	attach_entity_load_avg(ROOT, k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

void k_detach(struct oracle_state *s)
{
	struct sched_entity *k;

	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, s->group);
	detach_entity_load_avg(ROOT, k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

/* A task joins or leaves the fair class. */
void k_attach_to_fair(struct oracle_state *s)
{
	struct sched_entity *k;

	clock_at(s->now);
	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, 0);
	attach_entity_cfs_rq(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

void k_detach_from_fair(struct oracle_state *s)
{
	struct sched_entity *k;

	clock_at(s->now);
	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, 0);
	detach_entity_cfs_rq(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

/* The new task is attached as well before 6.0; the averages of its start are what is asked for. */
void k_post_init(struct oracle_state *s)
{
	struct pelton_se before = s->se;
	struct sched_entity *k;

	oracle_cap[0] = s->cap;
	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, 0);
	o_task.sched_class = &fair_sched_class;
	post_init_entity_util_avg(&o_task);
	s->se.avg.util_avg = k->avg.util_avg;
	s->se.avg.runnable_avg = k->avg.runnable_avg;
	before.avg.util_avg = s->se.avg.util_avg;
	before.avg.runnable_avg = s->se.avg.runnable_avg;
	s->se = before;
}

void k_remove_sleeping(struct oracle_state *s)
{
	struct sched_entity *k;

	cfs_in(ROOT, &s->q);
	k = se_in(&s->se, ROOT, 0);
	remove_entity_load_avg(k);
	se_out(k, &s->se);
	cfs_out(ROOT, &s->q);
}

/* A task that sleeps on CPU 0 is woken elsewhere at `now`; CPU 0 is idle or runs a task. */
void k_migrate(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);
	struct sched_entity *k;

	k_rq_in(&s->r);
	oracle_now = s->now;
	k = se_in(&s->se, ROOT, 0);
	o_task.on_rq = 0;
	rq->curr = s->idle ? rq->idle : k_some_task();
	migrate_task_rq_fair(&o_task, 1);
	rq->curr = rq->idle;
	se_out(k, &s->se);
	k_rq_out(&s->r);
}

void k_capacity_of(struct oracle_state *s)
{
	k_rq_in(&s->r);
	s->ret = scale_rt_capacity(0);
	s->ret += !s->ret; /* update_cpu_capacity() */
}
