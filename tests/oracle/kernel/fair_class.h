/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fair class: weights, CFS and EEVDF on a root queue of a few entities. After fair_place.h. */

static struct task_struct o_ft[ORACLE_FAIR_MAX];
static struct cfs_rq o_owned;

/* Which field of the entity holds the protection of the running one: before 6.18 the lag's. */
#define IN_PROT 1u
#define AS_GROUPS 2u

static void class_tunables(const struct pelton_fair_tunables *t)
{
#if ORACLE_VERSION >= 606
	sysctl_sched_base_slice = t->base_slice_ns;
#else
	sysctl_sched_latency = t->latency_ns;
	sysctl_sched_min_granularity = t->min_granularity_ns;
	sysctl_sched_wakeup_granularity = t->wakeup_granularity_ns;
	sched_nr_latency = DIV_ROUND_UP(sysctl_sched_latency, sysctl_sched_min_granularity);
#if ORACLE_VERSION >= 601
	sysctl_sched_idle_min_granularity = t->idle_min_granularity_ns;
#endif
#endif
}

static void class_se_in(struct sched_entity *k, const struct pelton_fair_se *p, u32 how)
{
	k->vruntime = p->vruntime;
	k->load.weight = p->weight;
	k->load.inv_weight = p->inv_weight;
	k->on_rq = p->on_rq;
	k->cfs_rq = ROOT;
	k->my_q = how & AS_GROUPS ? &o_owned : NULL;
	k->exec_start = cpu_rq(0)->clock_task;
	k->sum_exec_runtime = p->ran_ns;
	k->prev_sum_exec_runtime = 0;
#if ORACLE_VERSION >= 606
	k->deadline = p->deadline;
	k->vlag = p->vlag;
	k->slice = p->slice_ns;
	k->custom_slice = p->custom_slice;
	k->rel_deadline = p->rel_deadline;
	k->sched_delayed = p->delayed;
#if ORACLE_VERSION >= 618
	k->vprot = p->vprot;
#else
	if (how & IN_PROT)
		k->vlag = p->vprot;
#endif
#endif
}

static void class_se_out(const struct sched_entity *k, struct pelton_fair_se *p, u32 how)
{
	p->vruntime = k->vruntime;
	p->weight = k->load.weight;
	p->on_rq = k->on_rq;
	p->ran_ns = k->sum_exec_runtime;
#if ORACLE_VERSION >= 606
	p->deadline = k->deadline;
	p->slice_ns = k->slice;
	p->rel_deadline = k->rel_deadline;
	p->delayed = k->sched_delayed;
#if ORACLE_VERSION >= 618
	p->vlag = k->vlag;
	p->vprot = k->vprot;
#else
	if (how & IN_PROT)
		p->vprot = k->vlag;
	else
		p->vlag = k->vlag;
#endif
#endif
}

static void class_in(const struct oracle_fair *f, u32 how)
{
	struct cfs_rq *q = ROOT;
	struct rq *rq = cpu_rq(0);
	u32 i;

	class_tunables(&f->tun);
	q->tasks_timeline = RB_ROOT_CACHED;
	q->curr = q->next = NULL;
	q->load.weight = 0;
	q->load.inv_weight = 0;
#if ORACLE_VERSION >= 700
	q->sum_w_vruntime = q->sum_weight = q->sum_shift = 0;
	q->zero_vruntime = f->rq.zero_vruntime;
#elif ORACLE_VERSION >= 606
	q->avg_vruntime = q->avg_load = 0;
	q->zero_vruntime = f->rq.zero_vruntime;
#else
	q->min_vruntime = f->rq.zero_vruntime;
	q->last = q->skip = NULL;
#endif
	for (i = 0; i < ORACLE_FAIR_MAX; i++) {
		memset(&o_ft[i], 0, sizeof(o_ft[i]));
		o_ft[i].policy = f->se[i].idle_policy ? SCHED_IDLE : SCHED_NORMAL;
		o_ft[i].sched_class = &fair_sched_class;
		class_se_in(&o_ft[i].se, &f->se[i], how);
		if (i >= f->n)
			continue;
		update_load_add(&q->load, o_ft[i].se.load.weight);
		if ((s32)i == f->curr)
			q->curr = &o_ft[i].se;
		else
			__enqueue_entity(q, &o_ft[i].se);
	}
#if ORACLE_VERSION >= 614
	q->nr_queued = f->n;
#else
	q->nr_running = f->n;
#endif
#if ORACLE_VERSION >= 612
	q->h_nr_queued = q->h_nr_runnable = f->all;
#else
	q->h_nr_running = f->all;
#endif
#if ORACLE_VERSION >= 601 && ORACLE_VERSION < 606
	q->idle_nr_running = f->rq.nr_idle;
#endif
	rq->nr_running = f->n;
	rq->curr = f->curr >= 0 ? &o_ft[f->curr] : rq->idle;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, rq->curr);
#endif
}

static void class_out(struct oracle_fair *f, u32 how)
{
	struct cfs_rq *q = ROOT;
	struct rq *rq = cpu_rq(0);
	u32 i;

#if ORACLE_VERSION >= 700
	f->rq.zero_vruntime = q->zero_vruntime;
	f->rq.sum_w_vruntime = q->sum_w_vruntime;
	f->rq.sum_weight = q->sum_weight;
#elif ORACLE_VERSION >= 606
	f->rq.zero_vruntime = q->zero_vruntime;
	f->rq.sum_w_vruntime = q->avg_vruntime;
	f->rq.sum_weight = q->avg_load;
#else
	f->rq.zero_vruntime = q->min_vruntime;
#endif
	f->rq.load_weight = q->load.weight;
#if ORACLE_VERSION >= 614
	f->rq.nr_queued = q->nr_queued;
#else
	f->rq.nr_queued = q->nr_running;
#endif
	for (i = 0; i < ORACLE_FAIR_MAX; i++)
		class_se_out(&o_ft[i].se, &f->se[i], how);
	rq->curr = rq->idle;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, rq->curr);
#endif
	q->tasks_timeline = RB_ROOT_CACHED;
	q->curr = q->next = NULL;
}

/* Was the running task told to give way? */
static u32 class_resched(const struct oracle_fair *f)
{
	return f->curr >= 0 && task_thread_info(&o_ft[f->curr])->flags != 0;
}

static struct task_struct o_inner[2];
static struct cfs_rq o_inner_q[2];

/*
 * The task of entity `i`: itself, or one in the group that it stands for (`group`, by bit: the running one, the woken
 * one). `idle`: that group is idle; `sleeps`: the task is of SCHED_IDLE; `iowait`: the woken one is of SCHED_BATCH.
 */
static struct task_struct *class_task(const struct oracle_state *s, u32 which, u32 i)
{
	struct task_struct *p = &o_ft[i];
	struct cfs_rq *q = &o_inner_q[which];
	u32 below = s->group >> which & 1;

	if (below) {
		p = &o_inner[which];
		memset(p, 0, sizeof(*p));
		memset(q, 0, sizeof(*q));
		p->sched_class = &fair_sched_class;
		p->se.on_rq = 1;
		p->se.depth = 1;
		p->se.parent = &o_ft[i].se;
		p->se.cfs_rq = q;
		p->se.exec_start = cpu_rq(0)->clock_task;
		p->se.load.weight = NICE_0_LOAD;
		q->rq = cpu_rq(0);
		q->tg = &o_tg;
		q->curr = which ? NULL : &p->se;
		o_ft[i].se.my_q = q;
#if ORACLE_VERSION >= 601
		q->idle = s->idle >> which & 1;
#endif
	}
	p->policy = s->sleeps >> which & 1 ? SCHED_IDLE : which && s->iowait ? SCHED_BATCH : SCHED_NORMAL;
	return p;
}

/* The running task is `curr`, which may be in a group: is it told to give way when `woken` wakes? */
static struct task_struct *class_meeting(const struct oracle_state *s)
{
	struct task_struct *curr = class_task(s, 0, (u32)s->fair.curr);

	cpu_rq(0)->curr = curr;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(cpu_rq(0)->donor, curr);
#endif
	return curr;
}

void k_calc_delta_fair(struct oracle_state *s)
{
	const struct pelton_fair_se *p = &s->fair.se[0];
	struct load_weight load = { .weight = s->h_load, .inv_weight = 0 };
	struct sched_entity *k = &o_ft[0].se;

	k->load.weight = p->weight;
	k->load.inv_weight = p->inv_weight;
	s->ret = calc_delta_fair(s->now, k);
	s->aux = __calc_delta(s->now, s->weight, &load);
}

/* Number of an entity, from 1; 0 = none. */
static u32 class_index(const struct sched_entity *k)
{
	u32 i;

	for (i = 0; i < ORACLE_FAIR_MAX; i++)
		if (k == &o_ft[i].se)
			return i + 1;
	return 0;
}

/* The time of the queue's clock; what runs was accounted up to then. */
static void class_clock(void)
{
	clock_at(1ull << 60);
}

#if ORACLE_VERSION >= 606
void k_avg_vruntime(struct oracle_state *s)
{
	u32 i;

	class_clock();
	class_in(&s->fair, 0);
	for (i = 0; i < ORACLE_FAIR_MAX; i++)
		s->aux |= (u64) !!entity_eligible(ROOT, &o_ft[i].se) << i;
	s->ret = avg_vruntime(ROOT);
	class_out(&s->fair, 0);
}

/* `flags`: the running entity's protection counts. */
void k_pick_eevdf(struct oracle_state *s)
{
	struct sched_entity *k;

	class_clock();
	class_in(&s->fair, IN_PROT);
#if ORACLE_VERSION >= 700
	k = pick_eevdf(ROOT, s->flags);
#else
	k = pick_eevdf(ROOT);
#endif
	class_out(&s->fair, IN_PROT);
	s->ret = class_index(k);
}

/* `flags`: it is new. */
void k_place_eevdf(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	place_entity(ROOT, &o_ft[ORACLE_FAIR_NEW].se, s->flags ? ENQUEUE_INITIAL : 0);
	class_out(&s->fair, 0);
}

void k_update_deadline(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, IN_PROT);
	s->ret = update_deadline(ROOT, &o_ft[s->fair.curr].se);
	class_out(&s->fair, IN_PROT);
}

void k_entity_lag(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
#if ORACLE_VERSION >= 700
	s->ret = update_entity_lag(ROOT, &o_ft[s->cpu].se);
#else
	update_entity_lag(ROOT, &o_ft[s->cpu].se);
#endif
	class_out(&s->fair, 0);
}

/* Before 6.18 the running one's protection lies where the lag is; the lag is what is compared. */
void k_reweight_eevdf(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	reweight_entity(ROOT, &o_ft[s->cpu].se, s->weight);
	class_out(&s->fair, 0);
}

void k_requeue(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, AS_GROUPS);
	requeue_delayed_entity(&o_ft[s->cpu].se);
	class_out(&s->fair, 0);
}

void k_yield(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, IN_PROT);
	yield_task_fair(cpu_rq(0));
	class_out(&s->fair, IN_PROT);
}

/* The running entity ran for `now`. ret: it was told to give way. */
void k_update_curr(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, IN_PROT | AS_GROUPS);
	o_ft[s->fair.curr].se.exec_start -= s->now;
	update_curr(ROOT);
	s->ret = class_resched(&s->fair);
	class_out(&s->fair, IN_PROT);
}

void k_set_protect(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, IN_PROT);
#if ORACLE_VERSION >= 618
	set_protect_slice(ROOT, &o_ft[ORACLE_FAIR_NEW].se);
#else
	set_protect_slice(&o_ft[ORACLE_FAIR_NEW].se);
#endif
	class_out(&s->fair, IN_PROT);
}

/* Entity `cpu`, or a task of its group, wakes or is new (`flags`). */
void k_wakeup_eevdf(struct oracle_state *s)
{
	struct task_struct *curr, *woken;

	class_clock();
	class_in(&s->fair, IN_PROT);
	curr = class_meeting(s);
	woken = class_task(s, 1, s->cpu);
#if ORACLE_VERSION >= 700
	wakeup_preempt_fair(cpu_rq(0), woken, s->flags ? WF_FORK : WF_TTWU);
#else
	check_preempt_wakeup_fair(cpu_rq(0), woken, s->flags ? WF_FORK : WF_TTWU);
#endif
	s->ret = task_thread_info(curr)->flags != 0;
	class_out(&s->fair, IN_PROT);
}
#else
void k_sched_slice(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	s->ret = sched_slice(ROOT, &o_ft[s->cpu].se);
	class_out(&s->fair, 0);
}

/* It slept for `now`, or is new (`flags`). */
void k_place_cfs(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	o_ft[ORACLE_FAIR_NEW].se.exec_start = s->now ? cpu_rq(0)->clock_task - s->now : 0;
	place_entity(ROOT, &o_ft[ORACLE_FAIR_NEW].se, s->flags);
	class_out(&s->fair, 0);
}

void k_preempt_cfs(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	s->ret = (u64)(s64)wakeup_preempt_entity(&o_ft[0].se, &o_ft[1].se);
	class_out(&s->fair, 0);
}

/* Entity `cpu`, or a task of its group, wakes. */
void k_wakeup_cfs(struct oracle_state *s)
{
	struct task_struct *curr;

	class_clock();
	class_in(&s->fair, 0);
	curr = class_meeting(s);
	check_preempt_wakeup(cpu_rq(0), class_task(s, 1, s->cpu), 0);
	s->ret = task_thread_info(curr)->flags != 0;
	class_out(&s->fair, 0);
	ROOT->last = NULL;
}

void k_tick_cfs(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	check_preempt_tick(ROOT, &o_ft[s->fair.curr].se);
	s->ret = class_resched(&s->fair);
	class_out(&s->fair, 0);
}

void k_min_vruntime(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	update_min_vruntime(ROOT);
	class_out(&s->fair, 0);
}

void k_pick_skipped(struct oracle_state *s)
{
	class_clock();
	class_in(&s->fair, 0);
	ROOT->skip = &o_ft[s->fair.curr].se;
	s->ret = class_index(pick_next_entity(ROOT, &o_ft[s->fair.curr].se));
	class_out(&s->fair, 0);
	ROOT->skip = NULL;
}
#endif
