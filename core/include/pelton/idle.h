/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the idle governors share: the states of a CPU, what is known when it goes idle, what they answer.
 *
 *   entry ----------- stay ------------ event --- exit latency --- awake
 *   |<---------------- residency, as the kernel measures it ---------->|
 *
 *   quantity        unit   range
 *   exit_ns         ns     worst time from event to execution, entry included where it cannot be cut short
 *   residency_ns    ns     shortest stay that pays against the next shallower state
 *   sleep_ns        ns     time to the next timer if the tick were stopped
 *   event_ns        ns     time to the next timer or tick, whichever is armed
 *   latency_ns      ns     longest exit latency that is tolerated; all ones = no limit
 *
 * State 0 is the shallowest; states go deeper with their number. A table with fewer than two states needs no governor:
 * with idle_tick=after_tick the tick is kept then until it came once while the CPU was idle.
 *
 * Source: Linux 7.2 drivers/cpuidle/cpuidle.c, drivers/cpuidle/governors/gov.h; kernel/sched/idle.c (cpuidle_idle_call,
 * do_idle) of 5.10.262, 6.1.192, 6.12.118 and 7.2.12.
 * Deviations: no state is ever disabled. A sleep longer than 440 s counts as 440 s: clocksources allow no longer one,
 * and the products below stay within 64 bits.
 */
#ifndef PELTON_IDLE_H
#define PELTON_IDLE_H

#include "arith.h"
#include "policy.h"

#define PELTON_IDLE_STATES_MAX 10u
/* A state whose residency is below this is shallow: the next timer need not be looked up for it. */
#define PELTON_IDLE_SHALLOW_NS 15000u
#define PELTON_IDLE_SLEEP_NS_MAX 440000000000ull
/* The next timer was not looked up. */
#define PELTON_IDLE_UNKNOWN_NS 0x7fffffffffffffffull

/* Reasons for which an idle CPU woke. */
#define PELTON_IDLE_WOKE_TICK 1u
#define PELTON_IDLE_WOKE_POLL_LIMIT 2u /* nothing came within the time limit of a polling state */

struct pelton_idle_state {
	u64 exit_ns;
	u64 residency_ns;
} PELTON_ALIGNED64;

struct pelton_idle_table {
	u32 count;
	u32 polling; /* state 0 polls */
	struct pelton_idle_state states[PELTON_IDLE_STATES_MAX];
} PELTON_ALIGNED64;

/* Facts that are known when a CPU goes idle. */
struct pelton_idle_now {
	u64 sleep_ns;
	u64 event_ns;
	u64 tick_ns;
	u64 latency_ns;
	u32 tick_stopped; /* already, by an earlier choice of this idle period */
	u32 iowaiters;    /* tasks that ran here last and wait for I/O */
	u32 utilized;     /* utilization above 1/64 of the capacity */
	u32 reserved;
} PELTON_ALIGNED64;

/* The stay that ended last; consumed by the next choice. */
struct pelton_idle_last {
	u64 residency_ns;
	u32 state;
	u32 woke; /* PELTON_IDLE_WOKE_ bits */
	u32 valid;
	u32 reserved;
} PELTON_ALIGNED64;

struct pelton_idle_choice {
	u32 state;
	u32 stop_tick;
};

_Static_assert(sizeof(struct pelton_idle_state) == 16, "layout");
_Static_assert(sizeof(struct pelton_idle_table) == 168, "layout");
_Static_assert(sizeof(struct pelton_idle_now) == 48, "layout");
_Static_assert(sizeof(struct pelton_idle_last) == 24, "layout");
_Static_assert(sizeof(struct pelton_idle_choice) == 8, "layout");

PELTON_INLINE u32 pelton_idle_count(const struct pelton_idle_table *t)
{
	return pelton_min_u32(t->count, PELTON_IDLE_STATES_MAX);
}

PELTON_INLINE u64 pelton_idle_sleep(const struct pelton_idle_now *now)
{
	return pelton_min_u64(now->sleep_ns, PELTON_IDLE_SLEEP_NS_MAX);
}

/* The tick was stopped earlier and the next timer is too far away to save a CPU from a state that is too shallow. */
PELTON_INLINE u32 pelton_idle_may_get_stuck(const struct pelton_idle_now *now, u64 timer_ns)
{
	return now->tick_stopped && timer_ns > 2 * now->tick_ns;
}

/* 1 = with so many states the governor is not asked, and the tick stops once it has come. */
PELTON_INLINE u32 pelton_idle_single(const struct pelton_policy *pol, u32 states)
{
	return pol->idle_tick == PELTON_IDLE_TICK_AFTER_TICK && states < 2;
}

/* The deepest state below `state` that pays within a time; state 0 when none does. */
PELTON_INLINE u32 pelton_idle_shallower(const struct pelton_idle_table *t, u32 state, u64 within_ns)
{
	u32 i;

	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i > state)
			break;
		if (t->states[state - i].residency_ns <= within_ns)
			return state - i;
	}
	return 0;
}

/* The CPU is awake again: keep what the next choice learns from. */
PELTON_INLINE void pelton_idle_woke(struct pelton_idle_last *last, u64 residency_ns, u32 state, u32 woke)
{
	last->residency_ns = residency_ns;
	last->state = pelton_min_u32(state, PELTON_IDLE_STATES_MAX - 1u);
	last->woke = woke;
	last->valid = 1;
}

PELTON_INLINE void pelton_idle_choose(struct pelton_idle_choice *out, u32 state, u32 stop_tick)
{
	out->state = state;
	out->stop_tick = stop_tick;
}

#endif
