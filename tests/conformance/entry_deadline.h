/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of the deadline class; everything is in the arguments. Included by entry.c only. */

static inline __attribute__((always_inline)) u64 dl_said(const struct pelton_dl_entity *dl)
{
	return 3 * (u64)dl->runtime_ns + 5 * dl->deadline_ns + 16 * (u64)dl->dl_throttled + 32 * (u64)dl->dl_yielded;
}

/* Left, deadline, runtime, relative deadline, period, now; marks: throttled, yielded, is a wake-up. */
TEST_OP op_dl_wake(u64 *w)
{
	struct pelton_dl_entity dl = { .runtime_ns = (s64)w[1], .deadline_ns = w[2] };
	u64 said;

	pelton_setparam_dl(&dl, w[3], w[4], w[5]);
	dl.dl_throttled = w[7] & 1;
	dl.dl_yielded = w[7] >> 1 & 1;
	said = pelton_dl_entity_overflow(&dl, w[6]) + 7 * pelton_dl_zero_lag(&dl) + 11 * pelton_dl_hrtick(&dl);
	said += 2 * pelton_enqueue_dl(POLICY, &dl, w[6], w[7] >> 2 & 1);
	said += dl_said(&dl);
	pelton_replenish_dl_entity(&dl, w[6]);
	return said * 13 + dl_said(&dl);
}

/* Left, deadline, runtime, period, time; frequency scale and, from bit 32, capacity; yielded. */
TEST_OP op_dl_ran(u64 *w)
{
	struct pelton_dl_entity dl = { .runtime_ns = (s64)w[1], .deadline_ns = w[2], .dl_yielded = w[7] & 1 };
	u64 said;

	pelton_setparam_dl(&dl, w[3], w[4], 0);
	said = pelton_update_curr_dl(POLICY, &dl, w[5], (u32)w[6], (u32)(w[6] >> 32));
	said += 2 * pelton_dl_timer_starts(pelton_dl_next_period(&dl), w[2] + (w[7] >> 1) - 2000);
	return said + dl_said(&dl);
}

/* Limit of a CPU, reserved, goes, comes; CPUs; capacity. */
TEST_OP op_dl_room(u64 *w)
{
	return pelton_dl_overflow(POLICY, w[1], w[2], w[3], w[4], (u32)w[5], w[6]);
}

static inline __attribute__((always_inline)) u64 server_said(const struct pelton_dl_server *s)
{
	u64 marks = s->dl_server_active + 2 * s->dl_defer_running + 4 * s->dl_defer_armed + 8 * s->dl_defer_idle;

	marks += 16 * s->dl_non_contending + 32 * s->on_dl_rq;
	return dl_said(&s->dl) + 17 * pelton_dl_server_slack(s) + 7 * s->timer_ns + 11 * s->inactive_ns + (marks << 40);
}

/* Runtime, deadline, budget, period, now; marks; time that passed. */
static inline __attribute__((always_inline)) void server_of(const u64 *w, struct pelton_dl_server *s)
{
	u64 marks = w[6], phase = marks & 7;

	*s = (struct pelton_dl_server){ .dl = { .runtime_ns = (s64)w[1], .deadline_ns = w[2] } };
	pelton_setparam_dl(&s->dl, w[3], w[4], w[4]);
	s->dl_server_active = phase != 0;
	s->dl_defer_armed = phase == 1 || phase == 2;
	s->dl_defer_idle = phase == 2;
	s->on_dl_rq = phase == 3;
	s->dl.dl_throttled = s->dl_defer_armed || phase == 4;
	s->dl_defer_running = marks >> 3 & 1;
	s->dl_non_contending = marks >> 4 & 1;
	if (s->dl_non_contending)
		s->inactive_ns = w[2];
	if (marks >> 5 & 1)
		s->timer_ns = w[2] - 1;
}

static inline __attribute__((always_inline)) u64 server_event(struct pelton_dl_server *s, const u64 *w, u32 event)
{
	u32 idle = w[6] >> 16 & 1, accounts;

	if (event == 0)
		return pelton_dl_server_start(POLICY, s, w[5]);
	if (event == 1)
		return pelton_dl_server_stop(s, w[5]);
	if (event == 2)
		pelton_dl_server_update(POLICY, s, w[5], w[7], idle);
	if (event == 3)
		pelton_dl_server_update_idle_time(s, w[7]);
	if (event == 5)
		return pelton_dl_server_inactive(s);
	if (event != 4)
		return 0;
	accounts = pelton_dl_server_expire(POLICY, s);
	if (accounts)
		pelton_dl_server_update(POLICY, s, w[5], w[7], idle);
	return 8 * accounts + pelton_dl_server_timer(s, w[5]);
}

/* The server of the fair class: two events in a row. */
TEST_OP op_dl_server(u64 *w)
{
	struct pelton_dl_server s;
	u64 said;

	server_of(w, &s);
	said = server_event(&s, w, w[6] >> 8 & 7);
	said += 3 * server_said(&s);
	said += 5 * server_event(&s, w, w[6] >> 12 & 7);
	return said + 13 * server_said(&s);
}
