// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks of a CPU and of a throttled queue. */
#include "host.h"

/* Kernels before 6.0 do not remember when a CPU went idle. */
static void settle_idle_clock(struct oracle_state *k, struct oracle_state *p)
{
	if (oracle_version >= 600)
		return;
	p->r.clock.clock_idle_ns = k->r.clock.clock_idle_ns;
	p->r.clock.clock_pelt_idle_ns = k->r.clock.clock_pelt_idle_ns;
}

static void make_clock(struct oracle_state *s)
{
	u64 delta = below(4) ? below(1 << 26) : below(1ull << 36);

	a_rq(&s->r);
	s->now = s->r.clock.clock_ns + delta;
	s->irq = chance(60) ? 0 : below(delta + delta / 4 + 2);
	s->idle = chance(30);
}

static void run_clock(struct oracle_state *s)
{
	pelton_clock_update(&oracle_policy, &s->r, s->now, s->irq, s->idle);
}

static void make_idle(struct oracle_state *s)
{
	a_rq(&s->r);
	if (chance(50))
		s->r.cfs.avg.util_sum = PELTON_SATURATED_UTIL_SUM + (u32)below(30000) - (u32)below(60000);
}

static void run_idle(struct oracle_state *s)
{
	pelton_update_idle_rq_clock_pelt(&oracle_policy, &s->r);
}

/* A queue that is throttled, or was. */
static void make_throttled(struct oracle_state *s)
{
	u64 published;

	a_rq(&s->r);
	a_cfs(&s->g);
	published = s->r.clock.clock_pelt_ns - s->r.clock.lost_idle_ns;
	s->g.throttle_count = (u32)below(3);
	s->g.throttled_at_ns = published - below(1ull << 32);
	s->g.throttled_clock_pelt_ns = chance(30) ? 0 : below(1ull << 32);
}

static void run_cfs_clock(struct oracle_state *s)
{
	s->ret = pelton_cfs_rq_clock_pelt(&oracle_policy, &s->r, &s->g);
}

/* No task is queued, so that nothing but the clock is touched. */
static void make_throttling(struct oracle_state *s)
{
	make_throttled(s);
	s->g.nr_queued = s->g.h_nr_runnable = s->g.has_curr = 0;
	s->g.load_weight = 0;
	s->g.weight_rest = 0;
}

static void make_unthrottling(struct oracle_state *s)
{
	make_throttling(s);
	s->g.throttle_count = 1 + (u32)below(2);
}

static void run_throttle(struct oracle_state *s)
{
	pelton_throttle_clock(&oracle_policy, &s->r, &s->g);
}

static void run_unthrottle(struct oracle_state *s)
{
	pelton_unthrottle_clock(&oracle_policy, &s->r, &s->g);
}

/* The drivers of these show the group's queue alone. */
static void settle_group(struct oracle_state *k, struct oracle_state *p)
{
	k->r = p->r;
}

const struct oracle_op ops_clock[] = {
	{ "update_rq_clock_task", "pelton_clock_update", make_clock, k_clock_update, run_clock, settle_idle_clock, 0 },
	{ "update_idle_rq_clock_pelt", "pelton_update_idle_rq_clock_pelt", make_idle, k_enter_idle, run_idle,
	  settle_idle_clock, 0 },
	{ "cfs_rq_clock_pelt", "pelton_cfs_rq_clock_pelt", make_throttled, k_cfs_clock, run_cfs_clock, settle_group,
	  0 },
	{ "tg_throttle_down", "pelton_throttle_clock", make_throttling, k_throttle_clock, run_throttle, settle_group,
	  0 },
	{ "tg_unthrottle_up", "pelton_unthrottle_clock", make_unthrottling, k_unthrottle_clock, run_unthrottle,
	  settle_group, 0 },
	{ 0 },
};
