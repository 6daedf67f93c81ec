/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle governor "teo" of 5.4 and 5.10: did the state that the next timer speaks for pay, or did stays end early?
 *
 *   candidate  = deepest state with residency <= timer
 *   its hits <= its misses: the state with most early hits that is no deeper, if there is one (5.4: the candidate too)
 *   more than four of the last eight stays shorter than expected: their mean instead, and a state within it
 *   tick       = kept when the CPU is expected back within it, or polls
 *
 *   quantity      unit            range
 *   stay          ns              0 .. 440 s; in 5.4 whole us
 *   total         1               something was learnt; the first choice of all learns from a stay of nothing
 *
 * Source: Linux drivers/cpuidle/governors/teo.c teo_update, teo_select: 5.4, 5.10.262.
 * Deviations: those of idle_teo_state.h.
 */
#ifndef PELTON_IDLE_TEO_EARLY_H
#define PELTON_IDLE_TEO_EARLY_H

#include "idle_teo_state.h"

/* Keeps the length of a stay that ended early. */
PELTON_INLINE void pelton_teo_keep(const struct pelton_policy *pol, struct pelton_teo *c, u64 length)
{
	u32 places = PELTON_TEO_INTERVALS + (pol->teo_form == PELTON_TEO_FORM_5_4);

	if (c->position < PELTON_TEO_INTERVALS)
		c->early[c->position] = length + 1;
	c->position = c->position + 1 < places ? c->position + 1 : 0;
}

/* Learns from the last stay. States are counted from 1; 0 = none. */
PELTON_INLINE void pelton_teo_early_learn(const struct pelton_policy *pol, struct pelton_teo *c,
					  const struct pelton_idle_table *t, u64 tick_ns)
{
	u64 length = pelton_teo_length(pol, c, t, tick_ns), sleep = pelton_teo_until(pol, c->sleep_ns);
	u64 within = pelton_teo_until(pol, length);
	u32 i, count = pelton_idle_count(t), timer = 0, hit = 0;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= count)
			break;
		c->intercepts[i] = pelton_teo_decay(pol, c->intercepts[i]);
		if (t->states[i].residency_ns > sleep)
			continue;
		timer = i + 1;
		if (t->states[i].residency_ns <= within)
			hit = i + 1;
	}
	pelton_teo_keep(pol, c, length);
	c->total = 1;
	if (!timer || timer > PELTON_IDLE_STATES_MAX)
		return;
	c->hits[timer - 1] = pelton_teo_decay(pol, c->hits[timer - 1]);
	c->misses[timer - 1] = pelton_teo_decay(pol, c->misses[timer - 1]);
	if (timer <= hit) {
		c->hits[timer - 1] += PELTON_TEO_PULSE;
		return;
	}
	c->misses[timer - 1] += PELTON_TEO_PULSE;
	if (hit && hit <= PELTON_IDLE_STATES_MAX)
		c->intercepts[hit - 1] += PELTON_TEO_PULSE;
}

/* The states that a timer leaves. Counted from 1 where 0 = none. */
struct pelton_teo_walk {
	u32 state;
	u32 allowed; /* the first whose exit latency is too long */
	u32 early;   /* most early hits */
	u32 before;  /* what that was before */
};

PELTON_INLINE void pelton_teo_early_walk(const struct pelton_policy *pol, const struct pelton_teo *c,
					 const struct pelton_idle_table *t, const struct pelton_idle_now *now, u64 stay,
					 struct pelton_teo_walk *w)
{
	u32 i, count = pelton_idle_count(t), most = 0;

	w->state = 0;
	w->allowed = count;
	w->early = 0;
	w->before = 0;
	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= count || t->states[i].residency_ns > pelton_teo_until(pol, stay))
			break;
		if (t->states[i].exit_ns > pelton_teo_until(pol, now->latency_ns) && w->allowed > i)
			w->allowed = i;
		w->state = i;
		if (c->intercepts[i] <= most || !pelton_teo_deep_enough(pol, now, t->states[i].residency_ns))
			continue;
		most = c->intercepts[i];
		w->before = w->early;
		w->early = i + 1;
	}
}

/* Mean of the last stays below `stay`, or `stay` when they are not the most. */
PELTON_INLINE u64 pelton_teo_early_mean(const struct pelton_policy *pol, const struct pelton_teo *c, u64 stay)
{
	u64 sum = 0;
	u32 i, n = 0;

	for (i = 0; i < PELTON_TEO_INTERVALS; i++) {
		if (!c->early[i] || c->early[i] - 1 >= stay)
			continue;
		sum += c->early[i] - 1;
		n++;
	}
	return n > PELTON_TEO_INTERVALS / 2 ? pelton_teo_time(pol, pelton_div_floor(sum, n)) : stay;
}

PELTON_INLINE void pelton_teo_early_select(const struct pelton_policy *pol, struct pelton_teo *c,
					   const struct pelton_idle_table *t, const struct pelton_idle_now *now,
					   struct pelton_idle_choice *out)
{
	u64 stay, mean;
	struct pelton_teo_walk w;
	u32 state;

	c->sleep_ns = pelton_idle_sleep(now);
	stay = pelton_teo_time(pol, c->sleep_ns);
	pelton_teo_early_walk(pol, c, t, now, stay, &w);
	state = w.state;
	if (state < PELTON_IDLE_STATES_MAX && c->hits[state] <= c->misses[state]) {
		if (pol->teo_form == PELTON_TEO_FORM_5_10 && w.early == state + 1)
			w.early = w.before;
		if (w.early && w.early <= PELTON_IDLE_STATES_MAX) {
			state = w.early - 1;
			stay = pelton_teo_time(pol, t->states[state].residency_ns);
		}
	}
	state = pelton_min_u32(pelton_min_u32(state, w.allowed), PELTON_IDLE_STATES_MAX - 1u);
	mean = state ? pelton_teo_early_mean(pol, c, stay) : stay;
	if (mean != stay && pelton_teo_deep_enough(pol, now, mean)) {
		stay = mean;
		if (t->states[state].residency_ns > pelton_teo_until(pol, mean))
			state = pelton_idle_shallower(t, state, pelton_teo_until(pol, mean));
	}
	pelton_teo_finish(pol, t, now, state, stay, now->event_ns, out);
}

#endif
