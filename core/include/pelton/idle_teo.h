/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle governor "teo" (timer events oriented): did earlier stays end at their timer or before, and between which
 * states' residencies? This is 7.2's form; idle_teo_early.h has those of 5.4 and 5.10, idle_teo_bins.h those of 6.1 to
 * 6.18.
 *
 *   bins     0      T1         T2                 T3                    time
 *            |  0   |    1     |        2         |   3 ...
 *   hit        the stay ended in the bin of the next timer, at the timer
 *   intercept  it ended in an earlier bin, or well before the timer
 *   every stay: all metrics lose an eighth, the right one gains 1024
 *
 *   candidate = deepest state
 *   2 * intercepts(shallower) > all - hits(shallower)
 *     -> the deepest shallower state, no deeper than the bin with most intercepts, from which on up to the candidate
 *     lie more than half of those intercepts
 *   then limited by latency, then by the next timer
 *   tick = kept when the CPU is expected back within it
 *
 *   quantity      unit            range
 *   hits, ...     1024 per stay   0 .. 8192
 *
 * Source: Linux 7.2.12 drivers/cpuidle/governors/teo.c (teo_select, teo_update).
 * Deviations: those of idle.h. The first choice learns from a stay of 0 in state 0, as the kernel's does.
 */
#ifndef PELTON_IDLE_TEO_H
#define PELTON_IDLE_TEO_H

#include "idle_teo_bins.h"
#include "idle_teo_early.h"

/* Length of the last stay until its event; notes whether it was a short one. */
PELTON_INLINE u64 pelton_teo_measured(struct pelton_teo *c, u64 exit_ns)
{
	u64 measured = c->last.residency_ns;

	if (c->last.woke & PELTON_IDLE_WOKE_POLL_LIMIT)
		return PELTON_IDLE_UNKNOWN_NS;
	if (measured < exit_ns) {
		c->short_idles += PELTON_TEO_PULSE;
		return measured / 2;
	}
	measured -= exit_ns / 2;
	if (measured < PELTON_IDLE_SHALLOW_NS)
		c->short_idles += PELTON_TEO_PULSE;
	return measured;
}

/* The tick ended the stay: which bin has hit? Returns the number of states when it counts like any other event. */
PELTON_INLINE u32 pelton_teo_tick_hit(struct pelton_teo *c, u32 count, const struct pelton_teo_bins *b)
{
	if (!(c->last.woke & PELTON_IDLE_WOKE_TICK))
		return count;
	c->total_tick += PELTON_TEO_PULSE;
	if (3 * c->total_tick > 2 * c->total)
		return count - 1u;
	return 3 * c->tick_intercepts < 2 * b->total ? b->timer : count;
}

/* Learns from the last stay. */
PELTON_INLINE void pelton_teo_learn(const struct pelton_policy *pol, struct pelton_teo *c,
				    const struct pelton_idle_table *t, u64 tick_ns)
{
	u32 last = pelton_min_u32(c->last.state, PELTON_IDLE_STATES_MAX - 1u), count = pelton_idle_count(t), hit;
	u64 exit_ns = t->states[last].exit_ns, measured;
	struct pelton_teo_bins b;

	c->last.valid = 0;
	c->short_idles = pelton_teo_decay(pol, c->short_idles);
	measured = pelton_teo_measured(c, exit_ns);
	pelton_teo_age(pol, c, t, measured, &b);
	c->total = b.total + PELTON_TEO_PULSE;
	c->tick_intercepts = pelton_teo_decay(pol, c->tick_intercepts);
	c->total_tick = pelton_teo_decay(pol, c->total_tick);
	hit = pelton_teo_tick_hit(c, count, &b);
	if (hit == count && b.timer == b.duration && (s64)(c->sleep_ns - measured) < (s64)(exit_ns / 2))
		hit = b.timer;
	if (hit < PELTON_IDLE_STATES_MAX && hit < count) {
		c->hits[hit] += PELTON_TEO_PULSE;
		return;
	}
	c->intercepts[pelton_min_u32(b.duration, PELTON_IDLE_STATES_MAX - 1u)] += PELTON_TEO_PULSE;
	if (measured <= tick_ns)
		c->tick_intercepts += PELTON_TEO_PULSE;
}

/* Sums of the bins below the deepest state. */
struct pelton_teo_sums {
	u32 hits;
	u32 intercepts;
	u32 most;    /* bin with most intercepts, the deepest of equals */
	u32 allowed; /* deepest state within the latency limit */
};

PELTON_INLINE void pelton_teo_sum(const struct pelton_teo *c, const struct pelton_idle_table *t, u64 latency_ns,
				  struct pelton_teo_sums *s)
{
	u32 i, max = 0, count = pelton_idle_count(t);

	s->hits = 0;
	s->intercepts = 0;
	s->most = 0;
	s->allowed = 0;
	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= count)
			break;
		s->hits += c->hits[i - 1];
		s->intercepts += c->intercepts[i - 1];
		if (c->intercepts[i - 1] >= max) {
			max = c->intercepts[i - 1];
			s->most = i - 1;
		}
		if (t->states[i].exit_ns <= latency_ns)
			s->allowed = i;
	}
}

/* Most stays ended before the deepest state pays: the state that covers more than half of those. */
PELTON_INLINE u32 pelton_teo_intercepted(const struct pelton_teo *c, const struct pelton_teo_sums *s, u32 deepest)
{
	u32 i, sum = 0;

	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i > deepest)
			break;
		sum += c->intercepts[deepest - i];
		if (2 * sum > s->intercepts && deepest - i <= s->most)
			return deepest - i;
	}
	return 0;
}

/* Shallow, and short stays or the latency limit leave no doubt: the next timer need not be known. */
PELTON_INLINE u32 pelton_teo_clear(const struct pelton_teo *c, const struct pelton_idle_table *t,
				   const struct pelton_idle_now *now, u32 state)
{
	if (now->tick_stopped || (state && t->states[state].residency_ns >= PELTON_IDLE_SHALLOW_NS))
		return 0;
	return 2 * c->short_idles >= c->total || now->latency_ns < PELTON_IDLE_SHALLOW_NS / 2u;
}

/* The tick is stopped and the timer far away: the deepest allowed state that pays until then. */
PELTON_INLINE u32 pelton_teo_deepest(const struct pelton_idle_table *t, u32 state, u32 allowed, u64 sleep_ns)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i + state >= allowed)
			break;
		if (t->states[allowed - i].residency_ns <= sleep_ns)
			return allowed - i;
	}
	return state;
}

/* The timer is known: limits the state, decides about the tick. */
PELTON_INLINE void pelton_teo_timed(struct pelton_teo *c, const struct pelton_idle_table *t,
				    const struct pelton_idle_now *now, u32 state, u32 allowed,
				    struct pelton_idle_choice *out)
{
	u64 stay = c->sleep_ns;

	if (pelton_idle_may_get_stuck(now, stay) && t->states[state].residency_ns < now->tick_ns) {
		pelton_idle_choose(out, pelton_teo_deepest(t, state, allowed, stay), 1);
		return;
	}
	if (!state) {
		pelton_idle_choose(out, 0, 0);
		return;
	}
	if (t->states[state].residency_ns > stay)
		state = pelton_idle_shallower(t, state, stay);
	if (t->states[state].residency_ns < now->tick_ns && 3 * c->tick_intercepts >= 2 * c->total)
		stay = now->tick_ns / 2;
	if (now->tick_stopped || ((state || !t->polling) && stay >= now->tick_ns)) {
		pelton_idle_choose(out, state, 1);
		return;
	}
	if (state && t->states[state].residency_ns > now->event_ns)
		state = pelton_idle_shallower(t, state, now->event_ns);
	pelton_idle_choose(out, state, 0);
}

PELTON_INLINE void pelton_teo_select_7_2(struct pelton_teo *c, const struct pelton_idle_table *t,
					 const struct pelton_idle_now *now, struct pelton_idle_choice *out)
{
	u32 state = pelton_idle_count(t) - 1u;
	struct pelton_teo_sums s;

	c->sleep_ns = PELTON_IDLE_UNKNOWN_NS;
	pelton_teo_sum(c, t, now->latency_ns, &s);
	if (2 * s.intercepts > c->total - s.hits)
		state = pelton_teo_intercepted(c, &s, state);
	state = pelton_min_u32(state, s.allowed);
	if (pelton_teo_clear(c, t, now, state)) {
		pelton_idle_choose(out, state, 0);
		return;
	}
	c->sleep_ns = pelton_idle_sleep(now);
	pelton_teo_timed(c, t, now, state, s.allowed, out);
}

/* Learns from the last stay as the form does. */
PELTON_INLINE void pelton_teo_update(const struct pelton_policy *pol, struct pelton_teo *c,
				     const struct pelton_idle_table *t, u64 tick_ns)
{
	c->last.valid = 0;
	if (pol->teo_form <= PELTON_TEO_FORM_5_10)
		pelton_teo_early_learn(pol, c, t, tick_ns);
	else if (pol->teo_form <= PELTON_TEO_FORM_6_18)
		pelton_teo_bins_learn(pol, c, t, tick_ns);
	else
		pelton_teo_learn(pol, c, t, tick_ns);
}

/* Chooses a state for a CPU that goes idle, and whether its tick stops. */
PELTON_INLINE void pelton_teo_select(const struct pelton_policy *pol, struct pelton_teo *c,
				     const struct pelton_idle_table *t, const struct pelton_idle_now *now,
				     struct pelton_idle_choice *out)
{
	if (pelton_idle_count(t) < 2) {
		c->last.valid = 0;
		pelton_idle_choose(out, 0, 1);
		return;
	}
	if (c->last.valid || !c->total)
		pelton_teo_update(pol, c, t, now->tick_ns);
	if (pol->teo_form <= PELTON_TEO_FORM_5_10)
		pelton_teo_early_select(pol, c, t, now, out);
	else if (pol->teo_form == PELTON_TEO_FORM_6_1)
		pelton_teo_select_6_1(pol, c, t, now, out);
	else if (pol->teo_form <= PELTON_TEO_FORM_6_18)
		pelton_teo_bins_select(pol, c, t, now, out);
	else
		pelton_teo_select_7_2(c, t, now, out);
}

#endif
