/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the idle governor "teo" remembers, and what its forms share.
 *
 *   teo_form        what it has
 *   5.4             whole us; hits, misses and early hits of the state that the timer speaks for; the last eight stays
 *   5.10            ns; the second best early state counts when the best is the candidate itself
 *   6.1             bins: hits and intercepts; intercepts of the last nine stays
 *   6.6             the timer is looked up late and seldom; a bin beyond a tick; a busy CPU takes a shallower state
 *   6.12            no recent intercepts, nothing about utilization
 *   6.18            short stays decide whether the timer is looked up; stays beyond a tick keep the tick
 *   7.2             what the tick ended is counted by itself (idle_teo.h)
 *
 *   quantity      unit            range
 *   hits, ...     1024 per stay   0 .. 8192
 *   early         ns + 1          0 = the stay did not end early
 *   recent_bin    bin + 1         0 = the stay was no intercept
 *   sleep_ns      ns              0 .. 440 s, or PELTON_IDLE_UNKNOWN_NS
 *
 * Source: Linux drivers/cpuidle/governors/teo.c teo_update, teo_reflect: 5.4, 5.10.262, 6.1.192, 6.6, 6.12.118, 6.18.2,
 * 7.2.12.
 * Deviations: those of idle.h. The time from choice to reflection, which the kernel measures by itself up to 6.12, is
 * the residency. The ninth sample of 5.4 is lost; the kernel writes it behind its array.
 */
#ifndef PELTON_IDLE_TEO_STATE_H
#define PELTON_IDLE_TEO_STATE_H

#include "idle.h"
#include "policy.h"

#define PELTON_TEO_PULSE 1024u
#define PELTON_TEO_DECAY_SHIFT 3u
#define PELTON_TEO_INTERVALS 8u
#define PELTON_TEO_RECENT 9u
#define PELTON_TEO_ENDLESS 0xffffffffffffffffull

struct pelton_teo {
	struct pelton_idle_last last;
	u64 sleep_ns;
	u32 hits[PELTON_IDLE_STATES_MAX];
	u32 intercepts[PELTON_IDLE_STATES_MAX]; /* to 5.10: early hits */
	u32 total;
	u32 total_tick;      /* stays that the tick ended */
	u32 tick_intercepts; /* intercepts within a tick; 6.18: beyond one */
	u32 short_idles;
	u64 early[PELTON_TEO_INTERVALS];    /* to 5.10 */
	u32 misses[PELTON_IDLE_STATES_MAX]; /* to 5.10 */
	u32 recent[PELTON_IDLE_STATES_MAX]; /* 6.1, 6.6: intercepts among the last stays */
	u32 recent_bin[PELTON_TEO_RECENT];
	u32 position;  /* of the next of `early` or `recent_bin` */
	u32 tick_hits; /* 6.6, 6.12: stays beyond a tick */
	u32 reserved;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_teo) == 320, "layout");

/* A time as the form counts it: in 5.4 whole us. */
PELTON_INLINE u64 pelton_teo_time(const struct pelton_policy *pol, u64 ns)
{
	return pol->teo_form == PELTON_TEO_FORM_5_4 ? ns - ns % PELTON_NSEC_PER_USEC : ns;
}

/* The longest time that counts as no longer than another. */
PELTON_INLINE u64 pelton_teo_until(const struct pelton_policy *pol, u64 ns)
{
	if (pol->teo_form != PELTON_TEO_FORM_5_4 || ns >> 62)
		return ns;
	return pelton_teo_time(pol, ns) + PELTON_NSEC_PER_USEC - 1;
}

/* The stay ended by something that says nothing about it. */
PELTON_INLINE u32 pelton_teo_cut_off(const struct pelton_teo *c, u64 tick_ns)
{
	return (c->last.woke & PELTON_IDLE_WOKE_POLL_LIMIT) ||
	       ((c->last.woke & PELTON_IDLE_WOKE_TICK) && c->sleep_ns > tick_ns);
}

/* Length of the last stay until its event, up to 6.18; endless when it reached its timer or something cut it off. */
PELTON_INLINE u64 pelton_teo_length(const struct pelton_policy *pol, const struct pelton_teo *c,
				    const struct pelton_idle_table *t, u64 tick_ns)
{
	u32 last = pelton_min_u32(c->last.state, PELTON_IDLE_STATES_MAX - 1u);
	u64 exit_ns = pelton_teo_time(pol, t->states[last].exit_ns);
	u64 stay = pelton_teo_time(pol, c->last.residency_ns);

	if (pelton_teo_cut_off(c, tick_ns))
		return PELTON_TEO_ENDLESS;
	if (pol->teo_form <= PELTON_TEO_FORM_6_12 && c->last.residency_ns >= c->sleep_ns)
		return PELTON_TEO_ENDLESS;
	return pelton_teo_time(pol, stay >= exit_ns ? stay - pelton_teo_time(pol, exit_ns / 2) : stay / 2);
}

/* Value of a stay once another has ended. Only 7.2 lets the rest of an old one go. */
PELTON_INLINE u32 pelton_teo_decay(const struct pelton_policy *pol, u32 metric)
{
	u32 delta = metric >> PELTON_TEO_DECAY_SHIFT;

	return delta || pol->teo_form < PELTON_TEO_FORM_7_2 ? metric - delta : 0;
}

/* Bins of timer and stay, and the sum of all metrics without it. */
struct pelton_teo_bins {
	u32 timer;
	u32 duration;
	u32 total;
	u32 slot; /* 6.1, 6.6: of the last intercepts */
};

/* Ages all bins and finds those of timer and stay. */
PELTON_INLINE void pelton_teo_age(const struct pelton_policy *pol, struct pelton_teo *c,
				  const struct pelton_idle_table *t, u64 length, struct pelton_teo_bins *b)
{
	u32 i, count = pelton_idle_count(t);

	b->timer = 0;
	b->duration = 0;
	b->total = 0;
	b->slot = 0;
	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= count)
			break;
		c->hits[i] = pelton_teo_decay(pol, c->hits[i]);
		c->intercepts[i] = pelton_teo_decay(pol, c->intercepts[i]);
		b->total += c->hits[i] + c->intercepts[i];
		if (t->states[i].residency_ns > c->sleep_ns)
			continue;
		b->timer = i;
		if (t->states[i].residency_ns <= length)
			b->duration = i;
	}
}

/* Once the tick is stopped nothing below its length is trusted. */
PELTON_INLINE u32 pelton_teo_deep_enough(const struct pelton_policy *pol, const struct pelton_idle_now *now, u64 ns)
{
	return !now->tick_stopped || ns >= pelton_teo_time(pol, now->tick_ns);
}

/* Keeps the tick for a short stay or a polling state; the event that comes first then must not cut the state short. */
PELTON_INLINE void pelton_teo_finish(const struct pelton_policy *pol, const struct pelton_idle_table *t,
				     const struct pelton_idle_now *now, u32 state, u64 stay, u64 event,
				     struct pelton_idle_choice *out)
{
	if (now->tick_stopped || ((state || !t->polling) && stay >= pelton_teo_time(pol, now->tick_ns))) {
		pelton_idle_choose(out, state, 1);
		return;
	}
	event = pelton_teo_until(pol, event);
	if (state && t->states[state].residency_ns > event)
		state = pelton_idle_shallower(t, state, event);
	pelton_idle_choose(out, state, 0);
}

#endif
