// SPDX-License-Identifier: GPL-2.0-or-later
/* Quotas of task groups: one queue, its pool, and the two timers. */
#include "host.h"

#define MS 1000000ull

static void a_pool(struct pelton_cfs_bandwidth *b, u64 now)
{
	u64 most;

	b->period_ns = chance(50) ? 100 * MS : MS + below(999 * MS + 1);
	b->quota_ns = chance(8) ? PELTON_RUNTIME_INF : MS + below(chance(50) ? b->period_ns * 4 : 20 * MS);
	b->burst_ns =
		oracle_version < 514 || b->quota_ns == PELTON_RUNTIME_INF || chance(50) ? 0 : below(b->quota_ns + 1);
	most = b->quota_ns == PELTON_RUNTIME_INF ? 100 * MS : b->quota_ns + b->burst_ns;
	b->runtime_ns = chance(25) ? 0 : chance(30) ? below(8 * MS) : below(most + 1);
	if (oracle_version >= 514)
		b->runtime_snap_ns = below(most + 1);
	b->period_active = chance(85);
	/* The end of a period: to come, just over, long over. */
	b->period_end_ns = now + (chance(60)   ? below(b->period_ns)
				  : chance(40) ? below(12 * MS)
					       : -below(5 * b->period_ns));
	b->idle = chance(40);
	b->nr_waiting = chance(50);
	b->slack_started = chance(20);
	b->nr_periods = (u32)below(1000);
	b->nr_throttled = (u32)below(1000);
	b->throttled_time_ns = below(1ull << 40);
}

/* What a queue has: nothing, a little, a slice, a debt. */
static s64 a_remainder(void)
{
	if (chance(10))
		return 0;
	return (s64)below(chance(50) ? 12 * MS : 2 * MS) - (s64)(chance(50) ? 6 * MS : MS);
}

static void make_quota(struct oracle_state *s)
{
	s->now = (1ull << 40) + below(1ull << 40);
	s->running = 1;
	a_pool(&s->quota, s->now);
	s->runtime.remaining_ns = a_remainder();
	s->irq = chance(20) ? 0 : below(8 * MS);
	s->weight = chance(50) ? 1 : 1 + below(10 * MS);
}

/* The queue lacks what is asked for. */
static void make_assign(struct oracle_state *s)
{
	make_quota(s);
	if (s->runtime.remaining_ns > 0)
		s->runtime.remaining_ns = -s->runtime.remaining_ns;
}

static void make_account(struct oracle_state *s)
{
	make_quota(s);
	/* One that is throttled has no timer that could free it here. */
	if (chance(10)) {
		s->runtime.throttled = s->quota.nr_waiting = 1;
		s->runtime.throttled_clock_ns = s->now - below(50 * MS);
	}
}

static void make_enqueue(struct oracle_state *s)
{
	make_quota(s);
	s->running = 0;
	s->irq = 0;
}

static void make_throttle(struct oracle_state *s)
{
	make_assign(s);
	s->irq = 0;
	s->running = chance(50);
	/* From 6.18 on the time of throttled queues counts from the first task that is put aside. */
	s->sleeps = oracle_version < 618 && chance(50);
}

static void make_throttled(struct oracle_state *s)
{
	make_assign(s);
	s->running = 0;
	s->runtime.throttled = s->quota.nr_waiting = 1;
	if (!oracle_policy.bandwidth_time || chance(70))
		s->runtime.throttled_clock_ns = s->now - below(300 * MS);
}

/* It was given something before. */
static void make_unthrottle(struct oracle_state *s)
{
	make_throttled(s);
	s->runtime.remaining_ns = 1 + (s64)below(2 * MS);
}

static void make_timer(struct oracle_state *s)
{
	if (chance(60)) {
		make_throttled(s);
		return;
	}
	make_quota(s);
	s->quota.nr_waiting = 0;
	s->running = 0;
}

/* A timer that expires was active. */
static void make_period(struct oracle_state *s)
{
	make_timer(s);
	s->quota.period_active = 1;
}

static void run_refill(struct oracle_state *s)
{
	pelton_refill_cfs_bandwidth(&oracle_policy, &s->quota, s->now);
}

static void run_assign(struct oracle_state *s)
{
	pelton_assign_cfs_rq_runtime(&oracle_policy, &s->quota, &s->runtime, s->weight, s->now);
	s->ret = s->runtime.remaining_ns > 0;
}

static u32 account(struct oracle_state *s)
{
	return pelton_account_cfs_rq_runtime(&oracle_policy, &s->quota, &s->runtime, s->irq, s->now, ORACLE_TICK_NS);
}

static u32 throttle(struct oracle_state *s)
{
	return pelton_throttle_cfs_rq(&oracle_policy, &s->quota, &s->runtime, s->sleeps, s->now);
}

/* A queue that finds nothing left throttles at once in 7.2, and when its CPU chooses again before. */
static void run_account(struct oracle_state *s)
{
	u32 at_once = oracle_policy.bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_AT_ONCE, was = s->runtime.throttled;

	s->ret = (account(s) & PELTON_BANDWIDTH_EXHAUSTED) != 0;
	if (at_once && s->ret)
		throttle(s);
	if (at_once && was)
		s->ret = s->runtime.remaining_ns <= 0;
}

static void run_enqueue(struct oracle_state *s)
{
	pelton_enqueue_cfs_rq_runtime(&oracle_policy, &s->quota, &s->runtime, s->now, ORACLE_TICK_NS);
	if (s->runtime.remaining_ns <= 0)
		throttle(s);
}

/* 7.2's function asks for runtime first: for who runs, or as one that gets its first entity. */
static void run_throttle(struct oracle_state *s)
{
	if (oracle_policy.bandwidth_throttle != PELTON_BANDWIDTH_THROTTLE_AT_ONCE)
		throttle(s);
	else if (s->running)
		run_account(s);
	else
		run_enqueue(s);
	s->ret = s->runtime.throttled;
}

static void run_unthrottle(struct oracle_state *s)
{
	pelton_unthrottle_cfs_rq(&s->quota, &s->runtime, s->now);
}

static void run_return(struct oracle_state *s)
{
	pelton_return_cfs_rq_runtime(&oracle_policy, &s->quota, &s->runtime, s->now);
}

/* The host's part of a timer: one queue is on the list. */
static void distribute(struct oracle_state *s)
{
	if (s->quota.runtime_ns && pelton_distribute_cfs_runtime(&s->quota, &s->runtime))
		pelton_unthrottle_cfs_rq(&s->quota, &s->runtime, s->now);
}

static void run_slack(struct oracle_state *s)
{
	if (pelton_cfs_slack_timer(&oracle_policy, &s->quota, s->now) & PELTON_BANDWIDTH_DISTRIBUTE &&
	    s->runtime.throttled)
		distribute(s);
}

static void run_period(struct oracle_state *s)
{
	u32 said = pelton_cfs_period_timer(&oracle_policy, &s->quota, s->now);

	s->ret = (said & PELTON_BANDWIDTH_START) != 0;
	if (said & PELTON_BANDWIDTH_DISTRIBUTE)
		distribute(s);
}

/* Canaries: a first entity that brings a slice; a queue that keeps nothing; periods that count once. */
void quota_slice(struct oracle_state *s)
{
	account(s);
	if (s->runtime.remaining_ns <= 0)
		throttle(s);
}

void quota_keeps_nothing(struct oracle_state *s)
{
	run_return(s);
	if (s->runtime.remaining_ns != PELTON_MIN_CFS_RQ_RUNTIME_NS || s->quota.quota_ns == PELTON_RUNTIME_INF)
		return;
	s->quota.runtime_ns += (u64)s->runtime.remaining_ns;
	s->runtime.remaining_ns = 0;
}

void quota_counts_once(struct oracle_state *s)
{
	u32 before = s->quota.nr_periods;

	run_period(s);
	s->quota.nr_periods = pelton_min_u32(s->quota.nr_periods, before + 1);
}

/* Runtime does not expire in these releases; what is kept of it is never read. */
static void settle(struct oracle_state *k, struct oracle_state *p)
{
	p->runtime.expires_ns = k->runtime.expires_ns;
}

const struct oracle_op ops_quota[] = {
	{ "__refill_cfs_bandwidth_runtime", "pelton_refill_cfs_bandwidth", make_quota, k_quota_refill, run_refill, 0,
	  0 },
	{ "__assign_cfs_rq_runtime, start_cfs_bandwidth", "pelton_assign_cfs_rq_runtime", make_assign, k_quota_assign,
	  run_assign, 0, 0 },
	{ "__account_cfs_rq_runtime", "pelton_account_cfs_rq_runtime", make_account, k_quota_account, run_account, 0,
	  0 },
	{ "check_enqueue_throttle", "pelton_enqueue_cfs_rq_runtime, pelton_throttle_cfs_rq", make_enqueue,
	  k_quota_enqueue, run_enqueue, 0, 0 },
	{ "throttle_cfs_rq: the queue itself", "pelton_throttle_cfs_rq", make_throttle, k_quota_throttle, run_throttle,
	  0, 0 },
	{ "unthrottle_cfs_rq: the queue itself", "pelton_unthrottle_cfs_rq", make_unthrottle, k_quota_unthrottle,
	  run_unthrottle, 0, 0 },
	{ "__return_cfs_rq_runtime, start_cfs_slack_bandwidth", "pelton_return_cfs_rq_runtime", make_quota,
	  k_quota_return, run_return, 0, 0 },
	{ "do_sched_cfs_slack_timer, distribute_cfs_runtime", "pelton_cfs_slack_timer, pelton_distribute_cfs_runtime",
	  make_timer, k_quota_slack, run_slack, settle, 0 },
	{ "sched_cfs_period_timer, distribute_cfs_runtime", "pelton_cfs_period_timer, pelton_distribute_cfs_runtime",
	  make_period, k_quota_period, run_period, settle, 0 },
	{ 0 },
};
