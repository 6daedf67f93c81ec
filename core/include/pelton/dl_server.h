/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The deadline server of the fair class (rq->fair_server): what keeps real-time tasks from starving it since 6.12.
 *
 *   start     a first fair task is queued: bandwidth counts; it may run from d - left on, when nothing is left to wait for
 *   fair time left -= x;   left <= 0 while it waits: fair tasks had enough, a new period, d = t + P, left = Q
 *   timer     at d - left, while fair tasks did not get Q: it runs before every real-time task; d = t + P, left = Q
 *   runs      left -= x;   left <= 0: it waits for its next period, and then runs at once
 *   stop      it may run and finds no fair task: its bandwidth counts until d - left * P / Q
 *
 *   quantity                       unit     range
 *   Q (runtime), P (period)        ns       0 <= Q <= P <= 2^22 us; Q = 0: no server
 *   left, d                        ns       as in deadline.h
 *   timer_ns, inactive_ns          ns       when a timer expires; 0: it is not queued
 *
 * Source: Linux kernel/sched/deadline.c of 6.12.118, 6.18.2, 6.18.9, 6.18.35, 7.2.12 (dl_server_start, dl_server_stop,
 * dl_server_update, dl_server_update_idle_time, dl_server_update_idle, dl_server_timer, inactive_task_timer,
 * task_contending, task_non_contending, enqueue_dl_entity, update_dl_entity, replenish_dl_entity,
 * replenish_dl_new_period, update_curr_dl_se). Deviations: dl_defer is always set, as fair.c leaves it; timers say when
 * they expire, the host lets them.
 */
#ifndef PELTON_DL_SERVER_H
#define PELTON_DL_SERVER_H

#include "deadline.h"

/* Effects on the CPU's running bandwidth: its host adds or takes dl_bw and asks for a frequency. */
#define PELTON_SERVER_ADDS 1u
#define PELTON_SERVER_SUBS 2u

/* Less time than this is not worth another start of the timer (dl_server_min_res). */
#define PELTON_SERVER_RES_MIN_NS 1000000ull

/* The kernel's sched_dl_entity of a server. */
struct pelton_dl_server {
	struct pelton_dl_entity dl;
	u64 timer_ns;
	u64 inactive_ns;
	u32 dl_server_active;
	u32 dl_defer_running;
	u32 dl_defer_armed;
	u32 dl_defer_idle;
	u32 dl_non_contending;
	u32 on_dl_rq;
};

_Static_assert(sizeof(struct pelton_dl_server) == 104, "size of pelton_dl_server");

/* A CPU's server at the start: its parameters, and no period yet. */
PELTON_INLINE void pelton_dl_server_init(const struct pelton_policy *pol, struct pelton_dl_server *s)
{
	u64 period = (u64)pol->fair_server_period_us * PELTON_NSEC_PER_USEC;
	u64 runtime = (u64)pol->fair_server_runtime_us * PELTON_NSEC_PER_USEC;

	if (pol->rt_limit == PELTON_RT_LIMIT_FAIR_SERVER)
		pelton_setparam_dl(&s->dl, runtime < period ? runtime : period, period, period);
}

/* Unless it is there for tasks that starve it waits for its last moment. */
PELTON_INLINE void pelton_dl_server_new_period(struct pelton_dl_server *s, u64 now_ns)
{
	pelton_dl_new_period(&s->dl, now_ns);
	if (!s->dl_defer_running) {
		s->dl.dl_throttled = 1;
		s->dl_defer_armed = 1;
	}
}

/* 1 = it starts, or was started before. */
PELTON_INLINE u32 pelton_dl_server_start_timer(struct pelton_dl_server *s, u64 now_ns)
{
	u64 at = pelton_dl_next_period(&s->dl);

	if (s->dl_defer_armed)
		at = s->dl.deadline_ns - (u64)s->dl.runtime_ns;
	if (!pelton_dl_timer_starts(at, now_ns))
		return 0;
	if (!s->timer_ns)
		s->timer_ns = at;
	return 1;
}

PELTON_INLINE u32 pelton_dl_server_contending(struct pelton_dl_server *s)
{
	if (!s->dl_non_contending)
		return PELTON_SERVER_ADDS;
	s->dl_non_contending = 0;
	s->inactive_ns = 0;
	return 0;
}

PELTON_INLINE u32 pelton_dl_server_non_contending(struct pelton_dl_server *s, u64 now_ns)
{
	u64 at = pelton_dl_zero_lag(&s->dl);

	if ((s64)(at - now_ns) < 0 || s->inactive_ns)
		return PELTON_SERVER_SUBS;
	s->dl_non_contending = 1;
	s->inactive_ns = at;
	return 0;
}

/* More runtime is left than fits, and the deadline is ahead: 1 where the deadline stays. */
PELTON_INLINE u32 pelton_dl_server_revises(const struct pelton_policy *pol, const struct pelton_dl_server *s)
{
	if (pol->server_restart == PELTON_SERVER_RESTART_REVISED_RUNNING)
		return s->dl_defer_running;
	return pol->server_restart == PELTON_SERVER_RESTART_REVISED;
}

PELTON_INLINE void pelton_dl_server_update_entity(const struct pelton_policy *pol, struct pelton_dl_server *s,
						  u64 now_ns)
{
	u32 late = pelton_dl_time_before(s->dl.deadline_ns, now_ns);

	if (!late && !pelton_dl_entity_overflow(&s->dl, now_ns)) {
		if (!s->dl_defer_running)
			s->dl_defer_armed = s->dl.dl_throttled = 1;
		return;
	}
	if (!late && pelton_dl_server_revises(pol, s)) {
		pelton_update_dl_revised_wakeup(&s->dl, now_ns);
		return;
	}
	if (pol->server_restart != PELTON_SERVER_RESTART_ANEW_RUNNING)
		s->dl_defer_running = 0;
	pelton_dl_server_new_period(s, now_ns);
}

/* No fair task starves yet and zero laxity (d - left) is ahead: it waits for that. */
PELTON_INLINE void pelton_dl_server_defer(struct pelton_dl_server *s, u64 now_ns)
{
	if (s->dl_defer_running || !pelton_dl_time_before(now_ns, s->dl.deadline_ns - (u64)s->dl.runtime_ns))
		return;
	s->dl_defer_armed = s->dl.dl_throttled = 1;
	if (!pelton_dl_server_start_timer(s, now_ns))
		s->dl_defer_armed = s->dl.dl_throttled = 0;
}

PELTON_INLINE void pelton_dl_server_replenish(struct pelton_dl_server *s, u64 now_ns)
{
	if (s->dl_defer_armed && pelton_dl_entity_overflow(&s->dl, now_ns))
		pelton_dl_new_period(&s->dl, now_ns);
	pelton_dl_refill(&s->dl);
	if (pelton_dl_time_before(s->dl.deadline_ns, now_ns))
		pelton_dl_server_new_period(s, now_ns);
	s->dl.dl_throttled = 0;
	if (s->dl_defer_armed)
		s->dl_defer_armed = 0;
	else
		pelton_dl_server_defer(s, now_ns);
}

/* The server comes to the queue unless it has to wait for its timer. */
PELTON_INLINE void pelton_dl_server_join(struct pelton_dl_server *s, u64 now_ns)
{
	if (s->dl.dl_throttled) {
		if (pelton_dl_server_start_timer(s, now_ns))
			return;
		s->timer_ns = 0;
		s->dl_defer_armed = s->dl.dl_throttled = 0;
	}
	s->on_dl_rq = 1;
}

/* The first fair task is queued. Returns the effect on the bandwidth. */
PELTON_INLINE u32 pelton_dl_server_start(const struct pelton_policy *pol, struct pelton_dl_server *s, u64 now_ns)
{
	u32 said;

	s->dl_defer_idle = 0;
	if (!s->dl.dl_runtime_ns || s->dl_server_active)
		return 0;
	if (!s->dl.deadline_ns)
		pelton_dl_server_new_period(s, now_ns);
	s->dl_server_active = 1;
	said = pelton_dl_server_contending(s);
	pelton_dl_server_update_entity(pol, s, now_ns);
	pelton_dl_server_join(s, now_ns);
	return said;
}

/* The server was to run, and there is no fair task. Returns the effect on the bandwidth. */
PELTON_INLINE u32 pelton_dl_server_stop(struct pelton_dl_server *s, u64 now_ns)
{
	u32 said;

	if (!s->dl_server_active)
		return 0;
	s->on_dl_rq = 0;
	said = pelton_dl_server_non_contending(s, now_ns);
	s->timer_ns = 0;
	s->dl_defer_armed = s->dl_defer_idle = s->dl_server_active = 0;
	s->dl.dl_throttled = 0;
	return said;
}

/* While it waited others gave the fair class what it stands for: a new period. */
PELTON_INLINE void pelton_dl_server_had_enough(struct pelton_dl_server *s, u64 now_ns, u32 idle)
{
	if (s->dl_defer_idle && idle) {
		s->dl.runtime_ns = 0;
		return;
	}
	s->dl_defer_running = 0;
	s->timer_ns = 0;
	pelton_dl_server_new_period(s, now_ns);
	s->dl_defer_idle = idle;
	pelton_dl_server_start_timer(s, now_ns);
}

/* A server that ran has nothing left. */
PELTON_INLINE void pelton_dl_server_throttle(const struct pelton_policy *pol, struct pelton_dl_server *s, u64 now_ns)
{
	s->dl.dl_throttled = 1;
	s->on_dl_rq = 0;
	if (pelton_dl_server_start_timer(s, now_ns))
		return;
	if (pol->server_late == PELTON_SERVER_LATE_ANEW) {
		pelton_dl_server_new_period(s, now_ns);
		pelton_dl_server_start_timer(s, now_ns);
		return;
	}
	pelton_dl_server_replenish(s, now_ns);
	pelton_dl_server_join(s, now_ns);
}

/* A fair task ran for delta_ns, through the server or not; with `idle` (server_idle = waits) the CPU was idle. */
PELTON_INLINE void pelton_dl_server_update(const struct pelton_policy *pol, struct pelton_dl_server *s, u64 now_ns,
					   u64 delta_ns, u32 idle)
{
	if (!s->dl_server_active || !s->dl.dl_runtime_ns || (s64)delta_ns <= 0)
		return;
	s->dl.runtime_ns = (s64)((u64)s->dl.runtime_ns - delta_ns);
	if (!idle)
		s->dl_defer_idle = 0;
	if (!pelton_dl_runtime_exceeded(&s->dl))
		return;
	if (s->dl.dl_throttled)
		pelton_dl_server_had_enough(s, now_ns, idle);
	else
		pelton_dl_server_throttle(pol, s, now_ns);
}

/* Fair time that may be charged later, all at once, ns. */
PELTON_INLINE u64 pelton_dl_server_slack(const struct pelton_dl_server *s)
{
	return s->dl_server_active && s->dl.runtime_ns > 0 ? (u64)s->dl.runtime_ns : 0;
}

/* The CPU was idle for delta_ns, where that is taken from what is left. */
PELTON_INLINE void pelton_dl_server_update_idle_time(struct pelton_dl_server *s, u64 delta_ns)
{
	if (s->dl.runtime_ns < 0 || (s64)delta_ns < 0)
		return;
	s->dl.runtime_ns = (s64)((u64)s->dl.runtime_ns - delta_ns);
	if (s->dl.runtime_ns < 0) {
		s->dl_defer_running = 0;
		s->dl.runtime_ns = 0;
	}
}

/*
 * Its timer expires. 1 = with server_idle = waits the host has to account for what runs now first; then
 * pelton_dl_server_timer() follows in any case.
 */
PELTON_INLINE u32 pelton_dl_server_expire(const struct pelton_policy *pol, struct pelton_dl_server *s)
{
	s->timer_ns = 0;
	return pol->server_idle == PELTON_SERVER_IDLE_WAITS && s->dl.dl_throttled && s->dl.dl_runtime_ns;
}

/*
 * Effect of the expired timer on the bandwidth. A timer that accounting started meanwhile stays: its handler does not
 * cancel it.
 */
PELTON_INLINE u32 pelton_dl_server_timer(struct pelton_dl_server *s, u64 now_ns)
{
	u64 at = s->dl.deadline_ns - (u64)s->dl.runtime_ns, started = s->timer_ns;
	u32 said;

	if (!s->dl.dl_throttled || !s->dl.dl_runtime_ns)
		return 0;
	if (s->dl_defer_idle) {
		said = pelton_dl_server_stop(s, now_ns);
		s->timer_ns = started;
		return said;
	}
	if (s->dl_defer_armed) {
		if (pelton_dl_time_before(now_ns, at - PELTON_SERVER_RES_MIN_NS)) {
			s->timer_ns = started ? started : at;
			return 0;
		}
		s->dl_defer_running = 1;
	}
	pelton_dl_server_replenish(s, now_ns);
	pelton_dl_server_join(s, now_ns);
	return 0;
}

/* The 0-lag time after a stop is over. Returns the effect on the bandwidth. */
PELTON_INLINE u32 pelton_dl_server_inactive(struct pelton_dl_server *s)
{
	s->inactive_ns = 0;
	if (!s->dl_non_contending)
		return 0;
	s->dl_non_contending = 0;
	return PELTON_SERVER_SUBS;
}

#endif
