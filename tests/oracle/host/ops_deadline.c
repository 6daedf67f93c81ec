// SPDX-License-Identifier: GPL-2.0-or-later
/* The deadline class: reservations, their servers and admission. */
#include "host.h"

#define START (1ull << 40)

/* Parameters that sched_setattr() accepts, of every size. */
static void a_reservation(struct oracle_state *s)
{
	u64 period = 100000 + below(1ull << (17 + below(16)));
	u64 relative = chance(40) ? period : 1024 + below(period - 1023);
	u64 runtime = 1024 + below(relative - 1023);

	pelton_setparam_dl(&s->dl.entity, runtime, relative, period);
}

/* What is left of a period, and the moment. */
static void a_server(struct oracle_state *s)
{
	struct pelton_dl_entity *dl = &s->dl.entity;

	a_reservation(s);
	dl->deadline_ns = START + below(1ull << 33);
	dl->runtime_ns = (s64)below(dl->dl_runtime_ns + 1);
	if (chance(30))
		dl->runtime_ns = -(s64)below(1ull << below(34));
	switch (below(6)) {
	case 0:
		s->now = dl->deadline_ns + below(3) - 1;
		break;
	case 1:
		s->now = pelton_dl_next_period(dl) + below(4001) - 2000;
		break;
	case 2:
		s->now = dl->deadline_ns + below(2 * dl->dl_period_ns);
		break;
	case 3: /* close to the density */
		s->now = dl->deadline_ns + below(4096) - 2048;
		if (dl->runtime_ns > 0)
			s->now -= (u64)((long double)dl->runtime_ns * dl->dl_deadline_ns / dl->dl_runtime_ns);
		break;
	default:
		s->now = dl->deadline_ns - below(dl->dl_deadline_ns);
	}
}

static void make_marked(struct oracle_state *s)
{
	a_server(s);
	s->dl.entity.dl_throttled = chance(50);
	s->dl.entity.dl_yielded = chance(30);
}

static void run_before(struct oracle_state *s)
{
	s->ret = pelton_dl_time_before(s->now, s->dl.entity.deadline_ns);
}

static void make_before(struct oracle_state *s)
{
	s->now = rng_next();
	s->dl.entity.deadline_ns = chance(50) ? rng_next() : s->now + below(5) - 2;
}

static void make_setparam(struct oracle_state *s)
{
	a_reservation(s);
	if (chance(20))
		s->dl.entity.dl_period_ns = 0;
	s->dl.entity.dl_bw = s->dl.entity.dl_density = 0;
}

static void run_setparam(struct oracle_state *s)
{
	struct pelton_dl_entity *dl = &s->dl.entity;

	pelton_setparam_dl(dl, dl->dl_runtime_ns, dl->dl_deadline_ns, dl->dl_period_ns);
}

static void run_overflow(struct oracle_state *s)
{
	s->ret = pelton_dl_entity_overflow(&s->dl.entity, s->now);
}

static void run_update_entity(struct oracle_state *s)
{
	pelton_update_dl_entity(&oracle_policy, &s->dl.entity, s->now);
}

static void run_replenish(struct oracle_state *s)
{
	pelton_replenish_dl_entity(&s->dl.entity, s->now);
}

static void run_start_timer(struct oracle_state *s)
{
	u64 at = pelton_dl_next_period(&s->dl.entity);

	s->ret = pelton_dl_timer_starts(at, s->now);
	s->aux = s->ret ? at : 0;
}

static void make_enqueue(struct oracle_state *s)
{
	a_server(s);
	s->into = chance(70);
	s->dl.entity.dl_throttled = chance(15);
}

static void run_enqueue(struct oracle_state *s)
{
	s->ret = pelton_enqueue_dl(&oracle_policy, &s->dl.entity, s->now, s->into);
}

/*
 * It was not throttled so far, and its next period begins later or just now: the other case has an operation of its
 * own.
 */
static void make_update_curr(struct oracle_state *s)
{
	a_server(s);
	if (s->dl.entity.runtime_ns <= 0)
		s->dl.entity.runtime_ns = 1 + (s64)below(s->dl.entity.dl_runtime_ns);
	s->now = pelton_dl_next_period(&s->dl.entity) - below(s->dl.entity.dl_period_ns);
	s->irq = chance(10) ? 0 : below(1ull << below(33));
	s->cap = chance(40) ? 1024 : 1 + (u32)below(1024);
	s->util = chance(40) ? 1024 : 1 + (u32)below(1024);
	s->dl.entity.dl_yielded = chance(10);
}

static void run_update_curr(struct oracle_state *s)
{
	s->ret = pelton_update_curr_dl(&oracle_policy, &s->dl.entity, s->irq, s->util, s->cap);
}

static void run_scaled(struct oracle_state *s)
{
	s->ret = pelton_dl_scaled_delta_exec(&oracle_policy, s->irq, s->util, s->cap);
}

static void run_sleep(struct oracle_state *s)
{
	s64 stays = (s64)(pelton_dl_zero_lag(&s->dl.entity) - s->now);

	s->ret = stays >= 0;
	s->aux = s->ret ? (u64)stays : 0;
}

static void make_room(struct oracle_state *s)
{
	u64 cpus = 1 + below(64);

	s->dl.limit_bw = chance(10) ? PELTON_DL_LIMIT_NONE : chance(70) ? 996147 : below(1ull << 20);
	s->dl.capacity = chance(50) ? cpus << 10 : 1 + below(cpus << 10);
	s->dl.total_bw = chance(60) ? below(cpus << 20) : (996147 * s->dl.capacity >> 10) - below(4);
	s->dl.old_bw = chance(50) ? 0 : below(s->dl.total_bw + 1);
	s->dl.add_bw = chance(40) ? below(4) : below(1ull << 20);
}

static void run_room(struct oracle_state *s)
{
	s->ret = pelton_dl_overflow(&oracle_policy, s->dl.limit_bw, s->dl.total_bw, s->dl.old_bw, s->dl.add_bw, 0,
				    s->dl.capacity);
}

const struct oracle_op ops_deadline[] = {
	{ "dl_time_before", "pelton_dl_time_before", make_before, k_dl_before, run_before, 0, 0 },
	{ "__setparam_dl", "pelton_setparam_dl", make_setparam, k_dl_setparam, run_setparam, 0, 0 },
	{ "dl_entity_overflow", "pelton_dl_entity_overflow", a_server, k_dl_entity_overflow, run_overflow, 0, 0 },
	{ "update_dl_entity, update_dl_revised_wakeup", "pelton_update_dl_entity", a_server, k_dl_update_entity,
	  run_update_entity, 0, 0 },
	{ "replenish_dl_entity", "pelton_replenish_dl_entity", make_marked, k_dl_replenish, run_replenish, 0, 0 },
	{ "start_dl_timer, dl_next_period", "pelton_dl_timer_starts, pelton_dl_next_period", a_server, k_dl_start_timer,
	  run_start_timer, 0, 0 },
	{ "enqueue_task_dl, dl_check_constrained_dl", "pelton_enqueue_dl", make_enqueue, k_dl_enqueue, run_enqueue, 0,
	  0 },
	{ "update_curr_dl, dl_runtime_exceeded", "pelton_update_curr_dl", make_update_curr, k_dl_update_curr,
	  run_update_curr, 0, 0 },
	{ "dl_scaled_delta_exec", "pelton_dl_scaled_delta_exec", make_update_curr, k_dl_scaled, run_scaled, 0, 0 },
	{ "task_non_contending", "pelton_dl_zero_lag", a_server, k_dl_sleep, run_sleep, 0, 0 },
	{ "__dl_overflow", "pelton_dl_overflow", make_room, k_dl_room, run_room, 0, 0 },
	{ 0 },
};
