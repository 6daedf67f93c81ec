/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadline server of the fair class. After policy_deadline.h. */

static struct task_struct o_srv_idle;
static struct task_struct *o_srv_old_idle;
static u64 o_srv_bw;

/* CPU 0 runs its idle task, with or without something to run. */
static void server_cpu_in(const struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);

	dl_task_in(&o_dl_task);
	dl_queue_in(s->now);
	memset(&o_srv_idle, 0, sizeof(o_srv_idle));
	o_srv_idle.prio = MAX_PRIO;
	o_srv_idle.sched_class = &idle_sched_class;
	o_srv_idle.se.exec_start = s->now - (s->into ? s->irq : 0);
	o_srv_old_idle = rq->idle;
	rq->curr = rq->idle = &o_srv_idle;
	rcu_assign_pointer(rq->donor, &o_srv_idle);
	rq->nr_running = s->idle ? 0 : 5;
	rq->clock_update_flags = RQCF_ACT_SKIP;
	o_srv_bw = rq->dl.running_bw;
	cpumask_bits(&__cpu_online_mask)[0] |= 1;
}

static void server_timer_in(struct hrtimer *timer, u64 at)
{
	memset(timer, 0, sizeof(*timer));
	timer->base = &o_dl_base;
	hrtimer_set_expires(timer, at);
	o_dl_queued(timer, at != 0);
}

static struct sched_dl_entity *server_in(const struct oracle_state *s)
{
	struct sched_dl_entity *k = &cpu_rq(0)->fair_server;

	server_cpu_in(s);
	memset(k, 0, sizeof(*k));
	RB_CLEAR_NODE(&k->rb_node);
	k->rq = cpu_rq(0);
#ifdef CONFIG_RT_MUTEXES
	k->pi_se = k;
#endif
	k->runtime = s->server.dl.runtime_ns;
	k->deadline = s->server.dl.deadline_ns;
	k->dl_runtime = s->server.dl.dl_runtime_ns;
	k->dl_deadline = s->server.dl.dl_deadline_ns;
	k->dl_period = s->server.dl.dl_period_ns;
	k->dl_bw = s->server.dl.dl_bw;
	k->dl_density = s->server.dl.dl_density;
	k->dl_throttled = s->server.dl.dl_throttled;
	k->dl_server = k->dl_defer = 1;
	k->dl_server_active = s->server.dl_server_active;
	k->dl_defer_running = s->server.dl_defer_running;
	k->dl_defer_armed = s->server.dl_defer_armed;
	k->dl_non_contending = s->server.dl_non_contending;
#if ORACLE_VERSION >= 700
	k->dl_defer_idle = s->server.dl_defer_idle;
	k->dl_bw_attached = 1;
#endif
	server_timer_in(&k->dl_timer, s->server.timer_ns);
	server_timer_in(&k->inactive_timer, s->server.inactive_ns);
	if (s->server.on_dl_rq)
		__enqueue_dl_entity(k);
	cpu_rq(0)->nr_running = s->idle ? 0 : 5;
	return k;
}

static u64 server_timer_out(struct hrtimer *timer)
{
	return hrtimer_is_queued(timer) ? hrtimer_get_expires(timer) : 0;
}

/* ret: what became of the running bandwidth. */
static void server_out(struct oracle_state *s)
{
	struct sched_dl_entity *k = &cpu_rq(0)->fair_server;
	u64 bw = cpu_rq(0)->dl.running_bw;

	s->ret = bw > o_srv_bw ? 1 : bw < o_srv_bw ? 2 : 0;
	s->server.dl.runtime_ns = k->runtime;
	s->server.dl.deadline_ns = k->deadline;
	s->server.dl.dl_throttled = k->dl_throttled;
	s->server.dl.dl_yielded = k->dl_yielded;
	s->server.timer_ns = server_timer_out(&k->dl_timer);
	s->server.inactive_ns = server_timer_out(&k->inactive_timer);
	s->server.dl_server_active = k->dl_server_active;
	s->server.dl_defer_running = k->dl_defer_running;
	s->server.dl_defer_armed = k->dl_defer_armed;
#if ORACLE_VERSION >= 700
	s->server.dl_defer_idle = k->dl_defer_idle;
#else
	s->server.dl_defer_idle = 0;
#endif
	s->server.dl_non_contending = k->dl_non_contending;
	s->server.on_dl_rq = on_dl_rq(k);
	cpu_rq(0)->clock_update_flags = RQCF_UPDATED;
	cpu_rq(0)->idle = cpu_rq(0)->curr = o_srv_old_idle;
	rcu_assign_pointer(cpu_rq(0)->donor, o_srv_old_idle);
}

void k_server_start(struct oracle_state *s)
{
	dl_server_start(server_in(s));
	server_out(s);
}

void k_server_stop(struct oracle_state *s)
{
	dl_server_stop(server_in(s));
	server_out(s);
}

/* Fair tasks ran for `irq`, or with `idle` the CPU was idle. */
void k_server_update(struct oracle_state *s)
{
	struct sched_dl_entity *k = server_in(s);

#if ORACLE_VERSION < 700
	if (!k->dl_server_active) {
		server_out(s);
		return;
	}
#else
	if (s->idle)
		dl_server_update_idle(k, s->irq);
	else
#endif
	dl_server_update(k, s->irq);
	server_out(s);
}

#if ORACLE_VERSION < 700
void k_server_idle(struct oracle_state *s)
{
	server_in(s);
	o_srv_idle.se.exec_start = s->now - s->irq;
	dl_server_update_idle_time(cpu_rq(0), &o_srv_idle);
	server_out(s);
}
#endif

/* Its timer expires; with `into` the CPU was idle for `irq` and its server has not heard of it. */
void k_server_timer(struct oracle_state *s)
{
	struct sched_dl_entity *k = server_in(s);
	enum hrtimer_restart again;

	hrtimer_set_expires(&k->dl_timer, s->now);
	o_dl_queued(&k->dl_timer, false);
	o_dl_in_timer = true;
	again = dl_server_timer(&k->dl_timer, k);
	o_dl_in_timer = false;
	if (again == HRTIMER_RESTART)
		o_dl_queued(&k->dl_timer, true);
	server_out(s);
}

void k_server_inactive(struct oracle_state *s)
{
	struct sched_dl_entity *k = server_in(s);

	o_dl_queued(&k->inactive_timer, false);
	inactive_task_timer(&k->inactive_timer);
	server_out(s);
}
