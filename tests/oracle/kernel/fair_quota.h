/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quotas of task groups: the pool of a group, and what its queue on CPU 0 has of it. After fair_pelt.h. */

static struct hrtimer_clock_base o_quota_base;
/* A queue of another CPU that is throttled: only its place in the list is looked at. */
static struct list_head o_elsewhere;

/* kernel/time/hrtimer.c: the next end of an interval after `now`, and how many have ended. */
u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval)
{
	u64 overrun = 0;

	if (now >= hrtimer_get_expires(timer))
		overrun = (u64)(now - hrtimer_get_expires(timer)) / (u64)interval + 1;
	hrtimer_add_expires_ns(timer, overrun * interval);
	return overrun;
}

#if ORACLE_VERSION < 618
static ktime_t o_quota_time(void)
{
	return oracle_now;
}
#endif

static void quota_timer_in(struct hrtimer *timer, u64 expires)
{
	memset(timer, 0, sizeof(*timer));
	timer->base = &o_quota_base;
	hrtimer_set_expires(timer, expires);
}

static void quota_time_in(u64 now)
{
	clock_at(now);
	oracle_now = now;
#if ORACLE_VERSION < 618
	o_quota_base.get_time = o_quota_time;
#else
	k_ktime(now);
#endif
}

static void pool_in(const struct pelton_cfs_bandwidth *b)
{
	struct cfs_bandwidth *k = &o_tg.cfs_bandwidth;

	memset(k, 0, sizeof(*k));
	k->quota = b->quota_ns;
	k->period = b->period_ns;
	k->runtime = b->runtime_ns;
	k->idle = b->idle;
	k->period_active = b->period_active;
	k->slack_started = b->slack_started;
	k->nr_periods = b->nr_periods;
	k->nr_throttled = b->nr_throttled;
	k->throttled_time = b->throttled_time_ns;
#if ORACLE_VERSION >= 514
	k->burst = b->burst_ns;
	k->runtime_snap = b->runtime_snap_ns;
	k->nr_burst = b->nr_burst;
	k->burst_time = b->burst_time_ns;
#endif
	INIT_LIST_HEAD(&k->throttled_cfs_rq);
	if (b->nr_waiting)
		list_add(&o_elsewhere, &k->throttled_cfs_rq);
	quota_timer_in(&k->period_timer, b->period_end_ns);
	quota_timer_in(&k->slack_timer, b->slack_end_ns);
}

static void runtime_in(const struct pelton_cfs_runtime *q, u32 queued)
{
	struct pelton_cfs_rq none = { .nr_queued = queued, .h_nr_runnable = queued, .throttle_count = q->throttled };

	group_in(&none, NULL);
	o_gse.on_rq = 0;
	o_gq.on_list = 0;
	INIT_LIST_HEAD(&o_gq.leaf_cfs_rq_list);
	o_gq.runtime_enabled = 1;
	o_gq.runtime_remaining = q->remaining_ns;
	o_gq.throttled = q->throttled;
	o_gq.throttled_clock = q->throttled_clock_ns;
	INIT_LIST_HEAD(&o_gq.throttled_list);
#if ORACLE_VERSION >= 603
	o_gq.throttled_clock_self = 0;
	INIT_LIST_HEAD(&o_gq.throttled_csd_list);
	INIT_LIST_HEAD(&cpu_rq(0)->cfsb_csd_list);
#endif
#if ORACLE_VERSION >= 618
	INIT_LIST_HEAD(&o_gq.throttled_limbo_list);
#endif
}

/* The queue that waits is the only one of the list; another waits where it does not. */
static void quota_in(const struct oracle_state *s)
{
	INIT_LIST_HEAD(&o_tg.children);
	quota_time_in(s->now);
	runtime_in(&s->runtime, s->sleeps);
	pool_in(&s->quota);
	if (s->runtime.throttled) {
		INIT_LIST_HEAD(&o_tg.cfs_bandwidth.throttled_cfs_rq);
		list_add(&o_gq.throttled_list, &o_tg.cfs_bandwidth.throttled_cfs_rq);
	}
	current_of(&o_gq, s->running ? &o_other : NULL);
	o_other.cfs_rq = &o_gq;
	clear_tsk_thread_flag(cpu_rq(0)->curr, TIF_NEED_RESCHED);
}

static u32 waiting(void)
{
	struct list_head *at;
	u32 n = 0;

	list_for_each(at, &o_tg.cfs_bandwidth.throttled_cfs_rq) n++;
	return n;
}

static void pool_out(struct pelton_cfs_bandwidth *b)
{
	const struct cfs_bandwidth *k = &o_tg.cfs_bandwidth;

	b->quota_ns = k->quota;
	b->period_ns = k->period;
	b->runtime_ns = k->runtime;
	b->idle = k->idle;
	b->period_active = k->period_active;
	b->slack_started = k->slack_started;
	b->nr_periods = k->nr_periods;
	b->nr_throttled = k->nr_throttled;
	b->throttled_time_ns = k->throttled_time;
#if ORACLE_VERSION >= 514
	b->burst_ns = k->burst;
	b->runtime_snap_ns = k->runtime_snap;
	b->nr_burst = k->nr_burst;
	b->burst_time_ns = k->burst_time;
#endif
	b->nr_waiting = waiting();
	b->period_end_ns = hrtimer_get_expires(&k->period_timer);
}

static void quota_out(struct oracle_state *s)
{
	u32 slack_started = s->quota.slack_started;

	pool_out(&s->quota);
	if (s->quota.slack_started && !slack_started)
		s->quota.slack_end_ns = s->now + oracle_timer_at;
	s->runtime.remaining_ns = o_gq.runtime_remaining;
	s->runtime.throttled = o_gq.throttled;
	s->runtime.throttled_clock_ns = o_gq.throttled ? o_gq.throttled_clock : 0;
	o_gq.throttled = 0;
	o_gq.runtime_enabled = 0;
	current_of(&o_gq, NULL);
	INIT_LIST_HEAD(&cpu_rq(0)->leaf_cfs_rq_list);
	cpu_rq(0)->tmp_alone_branch = &cpu_rq(0)->leaf_cfs_rq_list;
}

void k_quota_refill(struct oracle_state *s)
{
	quota_in(s);
	__refill_cfs_bandwidth_runtime(&o_tg.cfs_bandwidth);
	quota_out(s);
}

void k_quota_assign(struct oracle_state *s)
{
	quota_in(s);
	s->ret = __assign_cfs_rq_runtime(&o_tg.cfs_bandwidth, &o_gq, s->weight) != 0;
	quota_out(s);
}

/* ret: the CPU has to choose again (to 6.12), or the queue is throttled (7.2). */
void k_quota_account(struct oracle_state *s)
{
	quota_in(s);
#if ORACLE_VERSION >= 702
	s->ret = __account_cfs_rq_runtime(&o_gq, s->irq);
#else
	__account_cfs_rq_runtime(&o_gq, s->irq);
	s->ret = test_tsk_thread_flag(cpu_rq(0)->curr, TIF_NEED_RESCHED);
	clear_tsk_thread_flag(cpu_rq(0)->curr, TIF_NEED_RESCHED);
#endif
	quota_out(s);
}

/* A queue that gets its first entity. */
void k_quota_enqueue(struct oracle_state *s)
{
	quota_in(s);
	check_enqueue_throttle(&o_gq);
	quota_out(s);
}

void k_quota_throttle(struct oracle_state *s)
{
	quota_in(s);
	s->ret = throttle_cfs_rq(&o_gq);
	quota_out(s);
}

void k_quota_unthrottle(struct oracle_state *s)
{
	quota_in(s);
	unthrottle_cfs_rq(&o_gq);
	quota_out(s);
}

void k_quota_return(struct oracle_state *s)
{
	quota_in(s);
	__return_cfs_rq_runtime(&o_gq);
	quota_out(s);
}

void k_quota_slack(struct oracle_state *s)
{
	quota_in(s);
	do_sched_cfs_slack_timer(&o_tg.cfs_bandwidth);
	quota_out(s);
}

/* ret: the timer goes on. */
void k_quota_period(struct oracle_state *s)
{
	quota_in(s);
	s->ret = sched_cfs_period_timer(&o_tg.cfs_bandwidth.period_timer) == HRTIMER_RESTART;
	quota_out(s);
}
