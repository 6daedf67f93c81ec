/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The deadline server of the fair class, in each of its states. */
#include "host.h"

#define START (1ull << 40)

enum { OFF, WAITS, IDLES, SERVES, SPENT };

static void in_phase(struct pelton_dl_server *s, u32 phase)
{
	s->dl_server_active = phase != OFF;
	s->dl_defer_armed = phase == WAITS || phase == IDLES;
	s->dl_defer_idle = phase == IDLES;
	s->on_dl_rq = phase == SERVES;
	s->dl.dl_throttled = s->dl_defer_armed || phase == SPENT;
	s->dl_defer_running = phase == WAITS || phase == IDLES ? 0 : chance(80);
}

/* What is left of a period, and the moment: its deadline, its last moment, a little before, any. */
static void a_moment(struct oracle_state *s)
{
	struct pelton_dl_entity *dl = &s->server.dl;

	switch (below(5)) {
	case 0:
		s->now = dl->deadline_ns + below(3) - 1;
		break;
	case 1:
		s->now = dl->deadline_ns - (u64)dl->runtime_ns + below(4001) - 2000;
		break;
	case 2:
		s->now = dl->deadline_ns - (u64)dl->runtime_ns - 1000000 + below(4001) - 2000;
		break;
	case 3:
		s->now = dl->deadline_ns + below(2 * dl->dl_period_ns);
		break;
	default:
		s->now = dl->deadline_ns - below(dl->dl_period_ns);
	}
}

static void make(struct oracle_state *s)
{
	struct pelton_dl_entity *dl = &s->server.dl;
	u64 period = chance(50) ? 1000000000 : 100000 + below(1ull << 32);
	u64 runtime = chance(50) ? period / 20 : 1024 + (period >> 18) + below(period - 1024 - (period >> 17));

	pelton_setparam_dl(dl, runtime, period, period);
	dl->deadline_ns = START + below(1ull << 33);
	dl->runtime_ns = (s64)below(runtime + 1);
	in_phase(&s->server, (u32)below(oracle_version >= 700 ? 5 : 4));
	if (oracle_version < 700 && s->server.dl_defer_idle)
		in_phase(&s->server, SPENT);
	if (s->server.dl.dl_throttled && !s->server.dl_defer_armed)
		dl->runtime_ns = -(s64)below(chance(50) ? 4000000 : 2 * runtime);
	a_moment(s);
	if (dl->dl_throttled)
		s->server.timer_ns = dl->deadline_ns - below(runtime);
	s->server.dl_non_contending = !s->server.dl_server_active && chance(50);
	if (s->server.dl_non_contending)
		s->server.inactive_ns = s->now + below(period);
	s->irq = chance(10) ? 0 : chance(50) ? below(4000000) : below(2 * runtime);
	s->idle = oracle_version >= 700 && chance(40);
}

/* Nothing has run since its server last heard of the CPU. */
static void make_start(struct oracle_state *s)
{
	make(s);
	if (chance(60)) {
		in_phase(&s->server, OFF);
		s->server.timer_ns = 0;
	}
}

static void make_timer(struct oracle_state *s)
{
	make(s);
	s->server.timer_ns = s->now;
	s->into = chance(50);
}

static void run_start(struct oracle_state *s)
{
	s->ret = pelton_dl_server_start(&oracle_policy, &s->server, s->now);
}

/* 6.12 stops what is stopped: it asks whoever calls. */
static void make_stop(struct oracle_state *s)
{
	make(s);
	if (!s->server.dl_server_active)
		in_phase(&s->server, SERVES);
	s->server.dl_non_contending = 0;
	s->server.inactive_ns = 0;
}

static void run_stop(struct oracle_state *s)
{
	s->ret = pelton_dl_server_stop(&s->server, s->now);
}

static void run_update(struct oracle_state *s)
{
	pelton_dl_server_update(&oracle_policy, &s->server, s->now, s->irq, s->idle);
}

static void run_idle(struct oracle_state *s)
{
	pelton_dl_server_update_idle_time(&s->server, s->irq);
}

static void run_timer(struct oracle_state *s)
{
	if (pelton_dl_server_expire(&oracle_policy, &s->server) && s->into)
		pelton_dl_server_update(&oracle_policy, &s->server, s->now, s->irq, s->idle);
	s->ret = pelton_dl_server_timer(&s->server, s->now);
}

static void run_inactive(struct oracle_state *s)
{
	s->ret = pelton_dl_server_inactive(&s->server);
}

const struct oracle_op ops_server[] = {
	{ "dl_server_start", "pelton_dl_server_start", make_start, k_server_start, run_start, 0, 0 },
	{ "dl_server_stop", "pelton_dl_server_stop", make_stop, k_server_stop, run_stop, 0, 0 },
	{ "dl_server_update", "pelton_dl_server_update", make, k_server_update, run_update, 0, 0 },
	{ "dl_server_update_idle_time", "pelton_dl_server_update_idle_time", make, k_server_idle, run_idle, 0, 0 },
	{ "dl_server_timer", "pelton_dl_server_timer", make_timer, k_server_timer, run_timer, 0, 0 },
	{ "inactive_task_timer", "pelton_dl_server_inactive", make, k_server_inactive, run_inactive, 0, 0 },
	{ 0 },
};
