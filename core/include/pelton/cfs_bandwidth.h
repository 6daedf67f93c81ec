/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bandwidth of task groups in the fair class: a quota per period for all CPUs together, handed to their queues in
 * slices.
 *
 *   pool of the group   --slice - remaining-->  queue on CPU 0   remaining -= time that its entities ran
 *     ^ quota per period                        queue on CPU 1   remaining <= 0 and an empty pool: throttled
 *     |                                           |
 *     '------- slack: remaining - 1 ms -----------'  when the last entity leaves the queue
 *
 *   refill:      pool = quota;  with burst pool = min(pool + quota, quota + burst)
 *   distribute:  in the order of the list, remaining += min(1 - remaining, pool); > 0: no longer throttled
 *   expiry:      to 5.3 what a queue holds is lost when the period that it was handed out in is over
 *   bound:       the time used in n periods <= n * quota + burst + pool and queues' remains at their start + per CPU the time
 *                between two updates of its clock
 *
 *   quantity       unit      range
 *   quota          ns        10^6 .. 2^44 (about 4.9 h per period), or PELTON_RUNTIME_INF: no limit
 *   period         ns        10^6 .. 10^9
 *   burst          ns        0 .. quota
 *   slice          us        sched_cfs_bandwidth_slice_us: 5000
 *   remaining      ns        below 0 after an overrun, which the next refill pays first
 *
 * Source: Linux kernel/sched/fair.c of 4.12.3, 4.16.13, 4.19.48, 5.4, 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2, 7.2.12
 * (__refill_cfs_bandwidth_runtime, __assign_cfs_rq_runtime, assign_cfs_rq_runtime, expire_cfs_rq_runtime,
 * __account_cfs_rq_runtime, check_enqueue_throttle, throttle_cfs_rq, unthrottle_cfs_rq, distribute_cfs_runtime,
 * do_sched_cfs_period_timer,
 * start_cfs_slack_bandwidth, __return_cfs_rq_runtime, do_sched_cfs_slack_timer, start_cfs_bandwidth),
 * kernel/sched/core.c (tg_set_cfs_bandwidth). docs/rules/bandwidth.md has the rule per release.
 * Deviations: a period is never made longer (sched_cfs_period_timer does when its handler cannot keep up); one clock
 * for all CPUs.
 */
#ifndef PELTON_CFS_BANDWIDTH_H
#define PELTON_CFS_BANDWIDTH_H

#include "arith.h"
#include "policy.h"

#define PELTON_RUNTIME_INF 0xffffffffffffffffull
#define PELTON_MIN_CFS_RQ_RUNTIME_NS 1000000ll
#define PELTON_MIN_BANDWIDTH_EXPIRATION_NS 2000000ull
#define PELTON_CFS_BANDWIDTH_SLACK_PERIOD_NS 5000000ull

/* Requests of a step to its host. */
#define PELTON_BANDWIDTH_START 1u       /* arm the period timer for period_end_ns */
#define PELTON_BANDWIDTH_SLACK 2u       /* arm the slack timer for slack_end_ns */
#define PELTON_BANDWIDTH_EXHAUSTED 4u   /* nothing is left: the CPU has to reschedule */
#define PELTON_BANDWIDTH_THROTTLED 8u   /* the queue is throttled now */
#define PELTON_BANDWIDTH_DISTRIBUTE 16u /* hand the pool to throttled queues, in the order of the list */

/* State that the queues of a group share. */
struct pelton_cfs_bandwidth {
	u64 quota_ns;
	u64 period_ns;
	u64 burst_ns;
	u64 runtime_ns;      /* the pool */
	u64 runtime_snap_ns; /* the same after the last refill */
	u64 runtime_expires_ns;
	u64 period_end_ns; /* when the period timer expires, or last expired */
	u64 slack_end_ns;
	u64 throttled_time_ns; /* sum over CPUs */
	u64 burst_time_ns;
	u32 nr_periods;
	u32 nr_throttled;
	u32 nr_burst;
	u32 nr_waiting; /* queues that are throttled */
	u32 expires_seq;
	u32 idle; /* no queue took from the pool since the last refill */
	u32 period_active;
	u32 slack_started;
};

/* State of a group's queue on one CPU. */
struct pelton_cfs_runtime {
	s64 remaining_ns;
	u64 expires_ns;
	u64 throttled_clock_ns; /* since when its time counts as throttled; 0 = it does not */
	u32 expires_seq;
	u32 throttled;
};

_Static_assert(sizeof(struct pelton_cfs_bandwidth) == 112, "size of pelton_cfs_bandwidth");
_Static_assert(sizeof(struct pelton_cfs_runtime) == 32, "size of pelton_cfs_runtime");

/* One portion for a queue. */
PELTON_INLINE u64 pelton_bandwidth_slice_ns(const struct pelton_policy *pol)
{
	return (u64)pol->bandwidth_slice_us * PELTON_NSEC_PER_USEC;
}

PELTON_INLINE u32 pelton_runtime_expires(const struct pelton_policy *pol)
{
	return pol->bandwidth_refill <= PELTON_BANDWIDTH_REFILL_EXPIRES;
}

/* hrtimer_forward_now(): the next end of a period after `now`; returns how many have ended. */
PELTON_INLINE u64 pelton_forward_period(struct pelton_cfs_bandwidth *b, u64 now)
{
	u64 overrun;

	if (now < b->period_end_ns)
		return 0;
	overrun = pelton_div_floor(now - b->period_end_ns, b->period_ns) + 1;
	b->period_end_ns += overrun * b->period_ns;
	return overrun;
}

PELTON_INLINE void pelton_refill_burst(struct pelton_cfs_bandwidth *b)
{
	b->runtime_ns += b->quota_ns;
	if (b->runtime_snap_ns > b->runtime_ns) {
		b->burst_time_ns += b->runtime_snap_ns - b->runtime_ns;
		b->nr_burst++;
	}
	b->runtime_ns = pelton_min_u64(b->runtime_ns, b->quota_ns + b->burst_ns);
	b->runtime_snap_ns = b->runtime_ns;
}

/* __refill_cfs_bandwidth_runtime() */
PELTON_INLINE void pelton_refill_cfs_bandwidth(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b, u64 now)
{
	if (b->quota_ns == PELTON_RUNTIME_INF)
		return;
	if (pol->bandwidth_refill == PELTON_BANDWIDTH_REFILL_BURST) {
		pelton_refill_burst(b);
		return;
	}
	b->runtime_ns = b->quota_ns;
	if (pelton_runtime_expires(pol)) {
		b->runtime_expires_ns = now + b->period_ns;
		b->expires_seq++;
	}
}

/* start_cfs_bandwidth(): the period timer runs. */
PELTON_INLINE u32 pelton_start_cfs_bandwidth(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b, u64 now)
{
	u64 overrun;

	if (b->period_active)
		return 0;
	b->period_active = 1;
	overrun = pelton_forward_period(b, now);
	if (pol->bandwidth_refill == PELTON_BANDWIDTH_REFILL_EXPIRES) {
		b->runtime_expires_ns += (overrun + 1) * b->period_ns;
		b->expires_seq++;
	}
	return PELTON_BANDWIDTH_START;
}

/* tg_set_cfs_bandwidth(): another limit; the queues' own part is pelton_set_cfs_runtime(). */
PELTON_INLINE u32 pelton_set_cfs_bandwidth(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
					   const u64 limit[3], u64 now)
{
	b->quota_ns = limit[0];
	b->period_ns = limit[1];
	b->burst_ns = limit[2];
	pelton_refill_cfs_bandwidth(pol, b, now);
	return b->quota_ns == PELTON_RUNTIME_INF ? 0 : pelton_start_cfs_bandwidth(pol, b, now);
}

/* The queue knows of no runtime when the limit changes; 7.2 leaves it 1 ns, for there it would be throttled at once. */
PELTON_INLINE void pelton_set_cfs_runtime(const struct pelton_policy *pol, struct pelton_cfs_runtime *q)
{
	q->remaining_ns = pol->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_AT_ONCE;
}

PELTON_INLINE void pelton_take_expiry(const struct pelton_policy *pol, const struct pelton_cfs_bandwidth *b,
				      struct pelton_cfs_runtime *q)
{
	u32 late = pol->bandwidth_refill == PELTON_BANDWIDTH_REFILL_EXPIRES_LATE;

	if (!pelton_runtime_expires(pol))
		return;
	if (late ? (s64)(b->runtime_expires_ns - q->expires_ns) <= 0 : b->expires_seq == q->expires_seq)
		return;
	q->expires_ns = b->runtime_expires_ns;
	q->expires_seq = b->expires_seq;
}

/* __assign_cfs_rq_runtime(): fills the queue up to `target`; what it has afterwards says whether that succeeded. */
PELTON_INLINE u32 pelton_assign_cfs_rq_runtime(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
					       struct pelton_cfs_runtime *q, u64 target, u64 now)
{
	u64 amount = target - (u64)q->remaining_ns;
	u32 said = 0;

	if (b->quota_ns != PELTON_RUNTIME_INF) {
		said = pelton_start_cfs_bandwidth(pol, b, now);
		amount = pelton_min_u64(b->runtime_ns, amount);
		b->runtime_ns -= amount;
		if (amount)
			b->idle = 0;
	}
	q->remaining_ns += (s64)amount;
	pelton_take_expiry(pol, b, q);
	return said;
}

/* expire_cfs_rq_runtime() */
PELTON_INLINE void pelton_expire_cfs_rq_runtime(const struct pelton_policy *pol, const struct pelton_cfs_bandwidth *b,
						struct pelton_cfs_runtime *q, u64 now, u64 tick_ns)
{
	u32 drifted;

	if (!pelton_runtime_expires(pol) || (s64)(now - q->expires_ns) < 0 || q->remaining_ns < 0)
		return;
	/* To 4.17 the question is the wrong way round: what is over is taken for a clock that runs fast. */
	if (pol->bandwidth_refill == PELTON_BANDWIDTH_REFILL_EXPIRES_LATE)
		drifted = q->expires_ns != b->runtime_expires_ns;
	else
		drifted = q->expires_seq == b->expires_seq;
	if (drifted)
		q->expires_ns += tick_ns;
	else
		q->remaining_ns = 0;
}

/* A queue that has nothing left asks for `target`. */
PELTON_INLINE u32 pelton_extend_cfs_rq_runtime(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
					       struct pelton_cfs_runtime *q, u64 target, u64 now, u64 tick_ns)
{
	u32 said;

	pelton_expire_cfs_rq_runtime(pol, b, q, now, tick_ns);
	if (q->remaining_ns > 0 || (q->throttled && !pelton_runtime_expires(pol)))
		return 0;
	said = pelton_assign_cfs_rq_runtime(pol, b, q, target, now);
	return said | (q->remaining_ns > 0 ? 0 : PELTON_BANDWIDTH_EXHAUSTED);
}

/* __account_cfs_rq_runtime(): entities of the queue ran for `delta`. */
PELTON_INLINE u32 pelton_account_cfs_rq_runtime(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
						struct pelton_cfs_runtime *q, u64 delta, u64 now, u64 tick_ns)
{
	q->remaining_ns -= (s64)delta;
	return pelton_extend_cfs_rq_runtime(pol, b, q, pelton_bandwidth_slice_ns(pol), now, tick_ns);
}

/* check_enqueue_throttle(): the queue gets its first entity. In 7.2 it gets 1 ns; the running task asks for a slice. */
PELTON_INLINE u32 pelton_enqueue_cfs_rq_runtime(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
						struct pelton_cfs_runtime *q, u64 now, u64 tick_ns)
{
	u32 at_once = pol->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_AT_ONCE;
	u64 target = at_once ? 1 : pelton_bandwidth_slice_ns(pol);

	return pelton_extend_cfs_rq_runtime(pol, b, q, target, now, tick_ns);
}

/*
 * throttle_cfs_rq(): a queue without runtime is throttled, unless some came meanwhile. `queued`: entities are on it.
 * The host puts it at the end of the group's list (bandwidth_throttle=head: at its head) and takes it off its parent.
 */
PELTON_INLINE u32 pelton_throttle_cfs_rq(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
					 struct pelton_cfs_runtime *q, u32 queued, u64 now)
{
	u32 said;

	if (pol->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_RETRY)
		said = pelton_assign_cfs_rq_runtime(pol, b, q, 1, now);
	else
		said = b->nr_waiting ? 0 : pelton_start_cfs_bandwidth(pol, b, now);
	if (q->remaining_ns > 0)
		return said;
	q->throttled = 1;
	q->throttled_clock_ns = queued || !pol->bandwidth_time ? now : 0;
	b->nr_waiting++;
	return said | PELTON_BANDWIDTH_THROTTLED;
}

/* A task waits for the throttled queue: from now on its time counts. */
PELTON_INLINE void pelton_note_throttled(struct pelton_cfs_runtime *q, u64 now)
{
	if (q->throttled && !q->throttled_clock_ns)
		q->throttled_clock_ns = now;
}

/* unthrottle_cfs_rq() */
PELTON_INLINE void pelton_unthrottle_cfs_rq(struct pelton_cfs_bandwidth *b, struct pelton_cfs_runtime *q, u64 now)
{
	q->throttled = 0;
	b->nr_waiting--;
	if (q->throttled_clock_ns)
		b->throttled_time_ns += now - q->throttled_clock_ns;
	q->throttled_clock_ns = 0;
}

/*
 * distribute_cfs_runtime(), one queue of the list: 1 = it may run again. To 5.3 a queue may have come by runtime while
 * it was throttled; what it lacks has no sign there, and it gets all there is.
 */
PELTON_INLINE u32 pelton_distribute_cfs_runtime(struct pelton_cfs_bandwidth *b, struct pelton_cfs_runtime *q)
{
	u64 runtime = pelton_min_u64((u64)(1 - q->remaining_ns), b->runtime_ns);

	b->runtime_ns -= runtime;
	q->remaining_ns += (s64)runtime;
	q->expires_ns = b->runtime_expires_ns;
	return q->remaining_ns > 0;
}

/* runtime_refresh_within() */
PELTON_INLINE u32 pelton_refresh_within(const struct pelton_cfs_bandwidth *b, u64 least, u64 now)
{
	return (s64)(b->period_end_ns - now) < (s64)least;
}

PELTON_INLINE u32 pelton_start_cfs_slack(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b, u64 now)
{
	u64 least = PELTON_CFS_BANDWIDTH_SLACK_PERIOD_NS + PELTON_MIN_BANDWIDTH_EXPIRATION_NS;

	if (pelton_refresh_within(b, least, now))
		return 0;
	if (b->slack_started && pol->bandwidth_slack == PELTON_BANDWIDTH_SLACK_KEPT)
		return 0;
	b->slack_started = 1;
	b->slack_end_ns = now + PELTON_CFS_BANDWIDTH_SLACK_PERIOD_NS;
	return PELTON_BANDWIDTH_SLACK;
}

/* __return_cfs_rq_runtime(): the last entity left the queue, which keeps 1 ms. */
PELTON_INLINE u32 pelton_return_cfs_rq_runtime(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b,
					       struct pelton_cfs_runtime *q, u64 now)
{
	s64 slack = q->remaining_ns - PELTON_MIN_CFS_RQ_RUNTIME_NS;
	u32 said = 0;

	if (slack <= 0)
		return 0;
	q->remaining_ns -= slack;
	if (b->quota_ns == PELTON_RUNTIME_INF)
		return 0;
	if (pelton_runtime_expires(pol) && q->expires_ns != b->runtime_expires_ns)
		return 0;
	b->runtime_ns += (u64)slack;
	if (b->runtime_ns > pelton_bandwidth_slice_ns(pol) && b->nr_waiting)
		said = pelton_start_cfs_slack(pol, b, now);
	return said;
}

/* do_sched_cfs_slack_timer() */
PELTON_INLINE u32 pelton_cfs_slack_timer(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b, u64 now)
{
	b->slack_started = 0;
	if (pelton_refresh_within(b, PELTON_MIN_BANDWIDTH_EXPIRATION_NS, now) || b->quota_ns == PELTON_RUNTIME_INF)
		return 0;
	return b->runtime_ns > pelton_bandwidth_slice_ns(pol) ? PELTON_BANDWIDTH_DISTRIBUTE : 0;
}

/* sched_cfs_period_timer(), do_sched_cfs_period_timer(): the period timer expired. Without START it stops. */
PELTON_INLINE u32 pelton_cfs_period_timer(const struct pelton_policy *pol, struct pelton_cfs_bandwidth *b, u64 now)
{
	u64 overrun = pelton_forward_period(b, now);
	u32 bursts = pol->bandwidth_refill == PELTON_BANDWIDTH_REFILL_BURST, stops;

	if (!overrun)
		return PELTON_BANDWIDTH_START;
	if (b->quota_ns == PELTON_RUNTIME_INF) {
		b->period_active = 0;
		return 0;
	}
	stops = b->idle && !b->nr_waiting;
	b->nr_periods += (u32)overrun;
	if (bursts || !stops)
		pelton_refill_cfs_bandwidth(pol, b, now);
	b->period_active = !stops;
	b->idle = !b->nr_waiting;
	if (!b->nr_waiting)
		return stops ? 0 : PELTON_BANDWIDTH_START;
	b->nr_throttled += (u32)overrun;
	return PELTON_BANDWIDTH_START | PELTON_BANDWIDTH_DISTRIBUTE;
}

#endif
