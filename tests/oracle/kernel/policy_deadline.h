/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadline class. After deadline.c. */
#include <linux/cgroup.h>
#include "k.h"

static struct task_struct o_dl_task, o_dl_other;
static struct root_domain o_dl_domain;
static struct cpudl_item o_dl_items[8];
static struct hrtimer_clock_base o_dl_base;
static struct signal_struct o_dl_signal;
static struct cgroup o_dl_cgroup;
static struct css_set o_dl_css = { .dfl_cgrp = &o_dl_cgroup };
static u64 o_dl_now;
s64 oracle_timer_at;
static int o_dl_starts;

static void o_dl_queued(struct hrtimer *timer, bool queued);

/* Of a server: when it expires. */
static void o_dl_started(struct hrtimer *timer, ktime_t tim, const enum hrtimer_mode mode)
{
	if (timer != &o_dl_task.dl.dl_timer && timer != &o_dl_task.dl.inactive_timer) {
		hrtimer_set_expires(timer, mode & HRTIMER_MODE_REL ? (ktime_t)(o_dl_now + tim) : tim);
		o_dl_queued(timer, true);
	}
}

/* Timers note what they were asked for. */
void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t tim, u64 delta_ns, const enum hrtimer_mode mode)
{
	o_dl_starts++;
	oracle_timer_at = tim;
	o_dl_started(timer, tim, mode);
}

static bool o_dl_in_timer;

/* Queued or not, in the releases that have a server. */
static void o_dl_queued(struct hrtimer *timer, bool queued)
{
#if ORACLE_VERSION >= 700
	timer->is_queued = queued;
#else
	timer->state = queued ? HRTIMER_STATE_ENQUEUED : HRTIMER_STATE_INACTIVE;
#endif
}

bool hrtimer_active(const struct hrtimer *timer)
{
	return hrtimer_is_queued((struct hrtimer *)timer);
}

/* A timer that is being handled is not cancelled. */
int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	if (!hrtimer_is_queued(timer))
		return 0;
	if (o_dl_in_timer)
		return -1;
	o_dl_queued(timer, false);
	return 1;
}

#if ORACLE_VERSION >= 618
ktime_t hrtimer_cb_get_time(const struct hrtimer *timer)
{
	return o_dl_now;
}

ktime_t ktime_get(void)
{
	return o_dl_now;
}

/* What ktime_get() answers. */
void k_ktime(u64 now)
{
	o_dl_now = now;
}
#else
static ktime_t o_dl_time(void)
{
	return o_dl_now;
}
#endif

static void dl_task_in(struct task_struct *p)
{
	memset(p, 0, sizeof(*p));
	p->prio = p->normal_prio = p->static_prio = -1;
	p->policy = SCHED_DEADLINE;
	p->nr_cpus_allowed = 1;
	p->on_rq = TASK_ON_RQ_QUEUED;
	p->sched_class = &dl_sched_class;
#ifdef CONFIG_SMP
	RB_CLEAR_NODE(&p->pushable_dl_tasks);
#endif
	RB_CLEAR_NODE(&p->dl.rb_node);
	p->dl.dl_timer.base = p->dl.inactive_timer.base = &o_dl_base;
	refcount_set(&p->usage, 9);
	p->signal = &o_dl_signal;
	rcu_assign_pointer(p->cgroups, &o_dl_css);
#ifdef CONFIG_RT_MUTEXES
	p->dl.pi_se = &p->dl;
#endif
}

/* A queue with another, earlier task: its bookkeeping of CPUs is not what is compared. */
static void dl_queue_in(u64 now)
{
	struct rq *rq = cpu_rq(0);
	int i;

	for (i = 0; i < 8; i++)
		o_dl_items[i].idx = IDX_INVALID;
	memset(&o_dl_domain, 0, sizeof(o_dl_domain));
	o_dl_domain.cpudl.elements = o_dl_items;
	rq->rd = &o_dl_domain;
	rq->dl.root = RB_ROOT_CACHED;
	dl_task_in(&o_dl_other);
	o_dl_other.dl.deadline = 1;
	rb_link_node(&o_dl_other.dl.rb_node, NULL, &rq->dl.root.rb_root.rb_node);
	rb_insert_color_cached(&o_dl_other.dl.rb_node, &rq->dl.root, true);
	rq->dl.earliest_dl.curr = 1;
	rq->dl.dl_nr_running = 1;
	rq->dl.running_bw = 1ull << 40;
	rq->dl.this_bw = 1ull << 41;
	rq->nr_running = 5;
	rq->clock = rq->clock_task = now;
	rq->curr = &o_dl_task;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, &o_dl_task);
#endif
	o_dl_now = now;
	o_dl_starts = 0;
	oracle_timer_at = 0;
#if ORACLE_VERSION < 618
	o_dl_base.get_time = o_dl_time;
#endif
}

static void dl_in(const struct oracle_state *s)
{
	struct sched_dl_entity *k = &o_dl_task.dl;

	dl_task_in(&o_dl_task);
	dl_queue_in(s->now);
	k->runtime = s->dl.entity.runtime_ns;
	k->deadline = s->dl.entity.deadline_ns;
	k->dl_runtime = s->dl.entity.dl_runtime_ns;
	k->dl_deadline = s->dl.entity.dl_deadline_ns;
	k->dl_period = s->dl.entity.dl_period_ns;
	k->dl_bw = s->dl.entity.dl_bw;
	k->dl_density = s->dl.entity.dl_density;
	k->dl_throttled = s->dl.entity.dl_throttled;
	k->dl_yielded = s->dl.entity.dl_yielded;
}

static void dl_out(struct oracle_state *s)
{
	const struct sched_dl_entity *k = &o_dl_task.dl;

	s->dl.entity.runtime_ns = k->runtime;
	s->dl.entity.deadline_ns = k->deadline;
	s->dl.entity.dl_runtime_ns = k->dl_runtime;
	s->dl.entity.dl_deadline_ns = k->dl_deadline;
	s->dl.entity.dl_period_ns = k->dl_period;
	s->dl.entity.dl_bw = k->dl_bw;
	s->dl.entity.dl_density = k->dl_density;
	s->dl.entity.dl_throttled = k->dl_throttled;
	s->dl.entity.dl_yielded = k->dl_yielded;
}

void k_dl_before(struct oracle_state *s)
{
	s->ret = dl_time_before(s->now, s->dl.entity.deadline_ns);
}

void k_dl_setparam(struct oracle_state *s)
{
	struct sched_attr attr = {
		.sched_runtime = s->dl.entity.dl_runtime_ns,
		.sched_deadline = s->dl.entity.dl_deadline_ns,
		.sched_period = s->dl.entity.dl_period_ns,
	};

	dl_in(s);
	__setparam_dl(&o_dl_task, &attr);
	dl_out(s);
}

void k_dl_entity_overflow(struct oracle_state *s)
{
	dl_in(s);
	s->ret = dl_entity_overflow(&o_dl_task.dl, s->now);
}

void k_dl_update_entity(struct oracle_state *s)
{
	dl_in(s);
	update_dl_entity(&o_dl_task.dl);
	dl_out(s);
}

void k_dl_replenish(struct oracle_state *s)
{
	dl_in(s);
	replenish_dl_entity(&o_dl_task.dl);
	dl_out(s);
}

/* ret: a timer was started, aux: for when. */
void k_dl_start_timer(struct oracle_state *s)
{
	dl_in(s);
#if ORACLE_VERSION >= 608
	s->ret = start_dl_timer(&o_dl_task.dl);
#else
	s->ret = start_dl_timer(&o_dl_task);
#endif
	s->aux = s->ret ? oracle_timer_at : 0;
}

/* ret: it is in the queue. Wake-ups as far as the class has to do with them. */
void k_dl_enqueue(struct oracle_state *s)
{
	dl_in(s);
	enqueue_task_dl(cpu_rq(0), &o_dl_task, s->into ? ENQUEUE_WAKEUP : 0);
	s->ret = on_dl_rq(&o_dl_task.dl);
	dl_out(s);
}

/* The running task ran for `irq`. ret: it was told to wait. */
void k_dl_update_curr(struct oracle_state *s)
{
	dl_in(s);
	oracle_cap[0] = s->cap;
	per_cpu(arch_freq_scale, 0) = s->util;
	__enqueue_dl_entity(&o_dl_task.dl);
	o_dl_task.se.exec_start = s->now - s->irq;
#if ORACLE_VERSION >= 608
	update_curr_dl_se(cpu_rq(0), &o_dl_task.dl, s->irq);
#else
	update_curr_dl(cpu_rq(0));
#endif
	s->ret = o_dl_starts;
	per_cpu(arch_freq_scale, 0) = 1024;
	oracle_cap[0] = 1024;
	dl_out(s);
}

#if ORACLE_VERSION >= 612
void k_dl_scaled(struct oracle_state *s)
{
	dl_in(s);
	oracle_cap[0] = s->cap;
	per_cpu(arch_freq_scale, 0) = s->util;
	s->ret = dl_scaled_delta_exec(cpu_rq(0), &o_dl_task.dl, s->irq);
	per_cpu(arch_freq_scale, 0) = 1024;
	oracle_cap[0] = 1024;
}
#endif

/* ret: its bandwidth stays for a while, aux: for how long. */
void k_dl_sleep(struct oracle_state *s)
{
	dl_in(s);
#if ORACLE_VERSION >= 700
	task_non_contending(&o_dl_task.dl, true);
#elif ORACLE_VERSION >= 608
	task_non_contending(&o_dl_task.dl);
#else
	task_non_contending(&o_dl_task);
#endif
	s->ret = o_dl_starts;
	s->aux = o_dl_starts ? oracle_timer_at : 0;
}

void k_dl_room(struct oracle_state *s)
{
	struct dl_bw b = { .bw = s->dl.limit_bw, .total_bw = s->dl.total_bw };

	s->ret = __dl_overflow(&b, s->dl.capacity, s->dl.old_bw, s->dl.add_bw);
}

#if ORACLE_VERSION >= 612
#ifndef WITHOUT_POLICY_SERVER
#include "policy_server.h"
#endif
#endif
