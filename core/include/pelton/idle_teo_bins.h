/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle governor "teo" of 6.1 to 6.18: how often did stays end before the states that the timer, or the table,
 * allows?
 *
 *   candidate = deepest state; in 6.1 the deepest with residency <= timer
 *   2 * intercepts(shallower) > all - hits(shallower), or to 6.6 more than four of the last nine stays were intercepts
 *     -> the deepest shallower state from which on up to the candidate lie more than half of each
 *        a stopped tick takes the last one passed whose residency (6.1: middle of its bin) is a tick, if there is one
 *   6.6: a CPU whose utilization is above 1/64 of its capacity takes the next shallower state that does not poll
 *   then limited by latency, then by the next timer
 *   timer: 6.1 always looked up; 6.6, 6.12 not for state 0, or below 15 us where state 0 polls; 6.12 for state 0 if
 *   intercepts chose it; 6.18 not for a state below 15 us when most stays were short or the latency limit is 7 us
 *   tick  = kept when the CPU is expected back within it: timer, or more than 5/8 of all stays were intercepts
 *
 *   quantity      unit            range
 *   hits, ...     1024 per stay   0 .. 8192
 *
 * Source: Linux drivers/cpuidle/governors/teo.c teo_update, teo_select: 6.1.192, 6.6, 6.12.118, 6.18.2.
 * Deviations: those of idle_teo_state.h.
 */
#ifndef PELTON_IDLE_TEO_BINS_H
#define PELTON_IDLE_TEO_BINS_H

#include "idle_teo_state.h"

PELTON_INLINE u32 pelton_teo_has_recent(const struct pelton_policy *pol)
{
	return pol->teo_form == PELTON_TEO_FORM_6_1 || pol->teo_form == PELTON_TEO_FORM_6_6;
}

/* The oldest of the last stays gives its place to the newest. */
PELTON_INLINE void pelton_teo_forget(struct pelton_teo *c, struct pelton_teo_bins *b)
{
	u32 bin;

	b->slot = pelton_min_u32(c->position, PELTON_TEO_RECENT - 1u);
	c->position = b->slot + 1 < PELTON_TEO_RECENT ? b->slot + 1 : 0;
	bin = c->recent_bin[b->slot];
	if (bin && bin <= PELTON_IDLE_STATES_MAX)
		c->recent[bin - 1]--;
}

/* The bin beyond a tick, of a table that ends below one. 1: the stay has hit it. */
PELTON_INLINE u32 pelton_teo_beyond(const struct pelton_policy *pol, struct pelton_teo *c, u64 length, u32 count,
				    u64 tick_ns, struct pelton_teo_bins *b)
{
	c->tick_hits = pelton_teo_decay(pol, c->tick_hits);
	b->total += c->tick_hits;
	if (tick_ns > c->sleep_ns)
		return 0;
	b->timer = count;
	if (tick_ns > length)
		return 0;
	c->tick_hits += PELTON_TEO_PULSE;
	return 1;
}

/* 6.18 counts short stays. */
PELTON_INLINE void pelton_teo_count_short(const struct pelton_policy *pol, struct pelton_teo *c,
					  const struct pelton_idle_table *t, u64 length, u64 tick_ns)
{
	u64 exit_ns = t->states[pelton_min_u32(c->last.state, PELTON_IDLE_STATES_MAX - 1u)].exit_ns;

	c->short_idles = pelton_teo_decay(pol, c->short_idles);
	if (!pelton_teo_cut_off(c, tick_ns) && (c->last.residency_ns < exit_ns || length < PELTON_IDLE_SHALLOW_NS))
		c->short_idles += PELTON_TEO_PULSE;
}

/* Counts the stay in its bin. */
PELTON_INLINE void pelton_teo_bins_count(const struct pelton_policy *pol, struct pelton_teo *c,
					 const struct pelton_teo_bins *b, u64 length, u64 tick_ns)
{
	u32 recent = pelton_teo_has_recent(pol), duration = pelton_min_u32(b->duration, PELTON_IDLE_STATES_MAX - 1u);

	if (b->timer == b->duration) {
		c->hits[duration] += PELTON_TEO_PULSE;
	} else {
		c->intercepts[duration] += PELTON_TEO_PULSE;
		c->recent[duration] += recent;
		if (pol->teo_form == PELTON_TEO_FORM_6_18 && tick_ns <= length)
			c->tick_intercepts += PELTON_TEO_PULSE;
	}
	if (recent)
		c->recent_bin[pelton_min_u32(b->slot, PELTON_TEO_RECENT - 1u)] =
			b->timer == b->duration ? 0 : duration + 1;
}

/* Learns from the last stay. */
PELTON_INLINE void pelton_teo_bins_learn(const struct pelton_policy *pol, struct pelton_teo *c,
					 const struct pelton_idle_table *t, u64 tick_ns)
{
	u64 length = pelton_teo_length(pol, c, t, tick_ns);
	u32 count = pelton_idle_count(t), form = pol->teo_form, beyond = 0;
	struct pelton_teo_bins b;

	if (form == PELTON_TEO_FORM_6_18)
		pelton_teo_count_short(pol, c, t, length, tick_ns);
	pelton_teo_age(pol, c, t, length, &b);
	if (pelton_teo_has_recent(pol))
		pelton_teo_forget(c, &b);
	if (form == PELTON_TEO_FORM_6_18)
		c->tick_intercepts = pelton_teo_decay(pol, c->tick_intercepts);
	else if (form != PELTON_TEO_FORM_6_1 && t->states[count - 1u].residency_ns < tick_ns)
		beyond = pelton_teo_beyond(pol, c, length, count, tick_ns, &b);
	if (!beyond)
		pelton_teo_bins_count(pol, c, &b, length, tick_ns);
	if (form == PELTON_TEO_FORM_6_18)
		b.total = pelton_teo_decay(pol, c->total);
	c->total = b.total + PELTON_TEO_PULSE;
}

/* Sums of the bins below the candidate. */
struct pelton_teo_below {
	u32 state;
	u32 allowed; /* deepest state within the latency limit */
	u32 hits;
	u32 intercepts;
	u32 recent;
	u32 all; /* intercepts of all bins */
};

/* Up to the deepest state, or the deepest that pays until a timer. */
PELTON_INLINE void pelton_teo_bins_walk(const struct pelton_teo *c, const struct pelton_idle_table *t, u64 latency_ns,
					u64 until, struct pelton_teo_below *w)
{
	u32 i, count = pelton_idle_count(t), hits = 0, intercepts = 0, recent = 0;

	w->state = 0;
	w->allowed = 0;
	w->hits = 0;
	w->intercepts = 0;
	w->recent = 0;
	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= count)
			break;
		intercepts += c->intercepts[i - 1];
		hits += c->hits[i - 1];
		recent += c->recent[i - 1];
		if (t->states[i].residency_ns > until)
			break;
		w->state = i;
		if (t->states[i].exit_ns <= latency_ns)
			w->allowed = i;
		w->hits = hits;
		w->intercepts = intercepts;
		w->recent = recent;
	}
	w->all = intercepts + c->intercepts[pelton_min_u32(count, PELTON_IDLE_STATES_MAX) - 1u];
}

/* Length that a stay in the bin of a state is taken to have: 6.1 takes the middle of the bin. */
PELTON_INLINE u64 pelton_teo_span(const struct pelton_policy *pol, const struct pelton_idle_table *t, u32 state)
{
	u64 low = t->states[state].residency_ns;

	if (pol->teo_form != PELTON_TEO_FORM_6_1 || state + 1u >= PELTON_IDLE_STATES_MAX)
		return low;
	return (low + t->states[state + 1u].residency_ns) / 2;
}

/* More than half of the reasons lie from a state on up to the candidate. */
PELTON_INLINE u32 pelton_teo_covers(u32 by_all, u32 by_recent, const struct pelton_teo_below *w, u32 intercepts,
				    u32 recent)
{
	return (!by_recent || 2 * recent > w->recent) && (!by_all || 2 * intercepts > w->intercepts);
}

/* The candidate, or the shallower state that earlier stays speak for. */
PELTON_INLINE u32 pelton_teo_bins_candidate(const struct pelton_policy *pol, const struct pelton_teo *c,
					    const struct pelton_idle_table *t, const struct pelton_idle_now *now,
					    const struct pelton_teo_below *w)
{
	u32 by_all = 2 * w->intercepts > c->total - w->hits;
	u32 by_recent = pelton_teo_has_recent(pol) && w->recent > PELTON_TEO_RECENT / 2;
	u32 i, s, intercepts = 0, recent = 0, found = w->state;

	if (!by_all && !by_recent)
		return w->state;
	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		u32 ok;

		if (i > w->state)
			break;
		s = w->state - i;
		intercepts += c->intercepts[s];
		recent += c->recent[s];
		ok = pelton_teo_deep_enough(pol, now, pelton_teo_span(pol, t, s));
		if (pelton_teo_covers(by_all, by_recent, w, intercepts, recent))
			return ok ? s : found;
		if (ok)
			found = s;
		else if (found == w->state)
			break;
	}
	return w->state;
}

PELTON_INLINE void pelton_teo_select_6_1(const struct pelton_policy *pol, struct pelton_teo *c,
					 const struct pelton_idle_table *t, const struct pelton_idle_now *now,
					 struct pelton_idle_choice *out)
{
	struct pelton_teo_below w;
	u32 state;
	u64 stay;

	c->sleep_ns = pelton_idle_sleep(now);
	stay = c->sleep_ns;
	pelton_teo_bins_walk(c, t, now->latency_ns, stay, &w);
	state = w.state ? pelton_teo_bins_candidate(pol, c, t, now, &w) : 0;
	if (state != w.state)
		stay = pelton_teo_span(pol, t, state);
	state = pelton_min_u32(state, w.allowed);
	pelton_teo_finish(pol, t, now, state, stay, now->event_ns, out);
}

/* The timer is known: limits the state, decides about the tick. */
PELTON_INLINE void pelton_teo_bins_timed(const struct pelton_policy *pol, struct pelton_teo *c,
					 const struct pelton_idle_table *t, const struct pelton_idle_now *now,
					 u32 state, u32 all, struct pelton_idle_choice *out)
{
	u32 mostly = c->total / 2 + c->total / 8, shallower;
	u64 stay = c->sleep_ns;

	if (t->states[state].residency_ns > stay) {
		shallower = pelton_idle_shallower(t, state, stay);
		if (pol->teo_form == PELTON_TEO_FORM_6_12 ||
		    pelton_teo_deep_enough(pol, now, t->states[shallower].residency_ns))
			state = shallower;
	}
	if (pol->teo_form == PELTON_TEO_FORM_6_18)
		all = c->tick_intercepts;
	if (t->states[state].residency_ns < now->tick_ns && all > mostly)
		stay = now->tick_ns / 2;
	pelton_teo_finish(pol, t, now, state, stay, now->event_ns, out);
}

/* 1 = the state is taken without a look at the timer. */
PELTON_INLINE u32 pelton_teo_untimed(const struct pelton_policy *pol, const struct pelton_teo *c,
				     const struct pelton_idle_table *t, const struct pelton_idle_now *now, u32 state)
{
	u32 shallow = t->states[state].residency_ns < PELTON_IDLE_SHALLOW_NS;

	if (pol->teo_form <= PELTON_TEO_FORM_6_12)
		return !state || (t->polling && shallow);
	return (!state || shallow) && (2 * c->short_idles >= c->total || now->latency_ns < PELTON_IDLE_SHALLOW_NS / 2u);
}

/* 6.6: a busy CPU goes one state up, unless that polls or is too shallow for a stopped tick. */
PELTON_INLINE u32 pelton_teo_utilized(const struct pelton_policy *pol, const struct pelton_idle_table *t,
				      const struct pelton_idle_now *now, u32 state)
{
	if (pol->teo_form != PELTON_TEO_FORM_6_6 || !now->utilized || !state || (state == 1 && t->polling))
		return state;
	return pelton_teo_deep_enough(pol, now, t->states[state - 1u].residency_ns) ? state - 1 : state;
}

PELTON_INLINE void pelton_teo_bins_select(const struct pelton_policy *pol, struct pelton_teo *c,
					  const struct pelton_idle_table *t, const struct pelton_idle_now *now,
					  struct pelton_idle_choice *out)
{
	struct pelton_teo_below w;
	u32 state, guessed;

	c->sleep_ns = PELTON_IDLE_UNKNOWN_NS;
	if (pol->teo_form == PELTON_TEO_FORM_6_6 && now->utilized && t->count == 2) {
		state = t->polling || !pelton_teo_deep_enough(pol, now, t->states[0].residency_ns);
		pelton_teo_finish(pol, t, now, state, state ? t->states[1].residency_ns : 0, now->tick_ns / 2, out);
		return;
	}
	pelton_teo_bins_walk(c, t, now->latency_ns, PELTON_TEO_ENDLESS, &w);
	state = pelton_teo_bins_candidate(pol, c, t, now, &w);
	guessed = !state;
	state = pelton_min_u32(state, w.allowed);
	state = pelton_min_u32(pelton_teo_utilized(pol, t, now, state), PELTON_IDLE_STATES_MAX - 1u);
	if (pelton_teo_untimed(pol, c, t, now, state)) {
		if (pol->teo_form == PELTON_TEO_FORM_6_12 && guessed)
			c->sleep_ns = pelton_idle_sleep(now);
		pelton_idle_choose(out, state, 0);
		return;
	}
	c->sleep_ns = pelton_idle_sleep(now);
	if (!state) {
		pelton_idle_choose(out, 0, 0);
		return;
	}
	pelton_teo_bins_timed(pol, c, t, now, state, w.all, out);
}

#endif
