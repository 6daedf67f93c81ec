/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The idle governor "menu": how long will this CPU be idle, judged from its last eight stays and from the next timer?
 *
 *   typical   = mean of the stays if they agree (standard deviation <= 20 us, or mean > 6 deviations with at least 6 of
 *               the 8); else drop the stay farthest from the mean and try again; with 6 left, no answer
 *   factor_b  = factor_b * 7/8 + measured / timer        per decade b of the next timer: how much of it was slept
 *   predicted = min(typical, timer * factor_b)
 *   state     = deepest with residency <= predicted and exit latency <= limit
 *   tick      = kept while predicted < tick
 *
 *   stays  |12 11 13 12 900 12 11 12|  mean 122, far apart  ->  drop 900  ->  mean 11, deviation below 1  ->  11 us
 *
 *   quantity        unit            range
 *   factor          1 / 8192        1 .. 8192 = the whole time to the timer; 0 = never used, counts as 8192
 *   interval_us     us              0 .. 2^32 - 2; 2^32 - 1 = no sample
 *   next_timer_ns   ns              0 .. 440 s, or PELTON_IDLE_UNKNOWN_NS
 *
 * Source: Linux 7.2 drivers/cpuidle/governors/menu.c (menu_select, menu_update, get_typical_interval). That a stopped tick
 * trusts a timer within two ticks is recollection for the version.
 * Deviations: those of idle.h.
 */
#ifndef PELTON_IDLE_MENU_H
#define PELTON_IDLE_MENU_H

#include "idle.h"

#define PELTON_MENU_BUCKETS 6u
#define PELTON_MENU_INTERVALS 8u
#define PELTON_MENU_RESOLUTION 1024u
#define PELTON_MENU_DECAY 8u
#define PELTON_MENU_UNITY (PELTON_MENU_RESOLUTION * PELTON_MENU_DECAY)
/* A stay this long confirms the timer, whatever the timer said. */
#define PELTON_MENU_INTERESTING_NS 50000000u
#define PELTON_MENU_NO_INTERVAL_US 0xffffffffu
/* Each round but the last drops at least one of the 8 stays, and 6 are the fewest that are looked at. */
#define PELTON_MENU_ROUNDS 3u

struct pelton_menu {
	struct pelton_idle_last last;
	u64 next_timer_ns;
	u32 bucket;
	u32 position;
	u32 factor[PELTON_MENU_BUCKETS];
	u32 interval_us[PELTON_MENU_INTERVALS];
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_menu) == 96, "layout");

/* The stays within a range. */
struct pelton_menu_sample {
	u64 sum;
	u64 square_sum;
	u32 count;
	u32 min;
	u32 max;
};

/* Decade of a time: below 10 us, 100 us, 1 ms, 10 ms, 100 ms, above. */
PELTON_INLINE u32 pelton_menu_bucket(u64 timer_ns)
{
	u64 limit_ns = 10000;
	u32 bucket;

	for (bucket = 0; bucket < PELTON_MENU_BUCKETS - 1u; bucket++) {
		if (timer_ns < limit_ns)
			break;
		limit_ns *= 10;
	}
	return bucket;
}

PELTON_INLINE u32 pelton_menu_factor(const struct pelton_menu *m)
{
	u32 factor = m->factor[pelton_min_u32(m->bucket, PELTON_MENU_BUCKETS - 1u)];

	return factor ? factor : PELTON_MENU_UNITY;
}

/* Collects the stays in low <= stay < high. Squares of stays beyond 71 minutes wrap, as they do in the kernel. */
PELTON_INLINE void pelton_menu_gather(const struct pelton_menu *m, u32 low, u32 high, struct pelton_menu_sample *s)
{
	u32 i, us;

	s->sum = 0;
	s->square_sum = 0;
	s->count = 0;
	s->min = 0xffffffffu;
	s->max = 0;
	for (i = 0; i < PELTON_MENU_INTERVALS; i++) {
		us = m->interval_us[i];
		if (us < low || us >= high)
			continue;
		s->count++;
		s->sum += us;
		s->square_sum += (u64)us * us;
		s->min = pelton_min_u32(s->min, us);
		s->max = pelton_max_u32(s->max, us);
	}
}

/* Do stays with this mean and variance agree? */
PELTON_INLINE u32 pelton_menu_agree(u64 mean, u64 variance, u32 count)
{
	if (variance > 0xffffffffffffffffull / 36)
		return 0;
	return variance <= 400 || (mean * mean > 36 * variance && count * 4 >= PELTON_MENU_INTERVALS * 3);
}

/* The length that most of the last stays had, us; PELTON_MENU_NO_INTERVAL_US when there is no such length. */
PELTON_INLINE u32 pelton_menu_typical(const struct pelton_menu *m)
{
	struct pelton_menu_sample s;
	u32 low = 0, high = PELTON_MENU_NO_INTERVAL_US, round;
	u64 mean, variance;

	for (round = 0; round < PELTON_MENU_ROUNDS; round++) {
		pelton_menu_gather(m, low, high, &s);
		if (!s.max)
			break;
		mean = pelton_div_floor(s.sum, s.count);
		variance = pelton_div_floor(s.square_sum, s.count) - mean * mean;
		if (pelton_menu_agree(mean, variance, s.count))
			return (u32)mean;
		if (s.count * 4 <= PELTON_MENU_INTERVALS * 3)
			break;
		if (mean - s.min > s.max - mean)
			low = s.min + 1;
		else
			high = s.max;
	}
	return PELTON_MENU_NO_INTERVAL_US;
}

/* Half of the exit latency and more passed before the CPU was awake: when did the event come? */
PELTON_INLINE u64 pelton_menu_until_event(u64 residency_ns, u64 exit_ns)
{
	return residency_ns > 2 * exit_ns ? residency_ns - exit_ns : residency_ns / 2;
}

/* How long the last stay was, or would have been without the tick or the limit on polling. */
PELTON_INLINE u64 pelton_menu_measured(const struct pelton_menu *m, const struct pelton_idle_table *t, u64 tick_ns)
{
	u32 state = pelton_min_u32(m->last.state, PELTON_IDLE_STATES_MAX - 1u);
	u64 measured;

	if ((m->last.woke & PELTON_IDLE_WOKE_TICK) && m->next_timer_ns > tick_ns)
		measured = 9ull * PELTON_MENU_INTERESTING_NS / 10;
	else if ((m->last.woke & PELTON_IDLE_WOKE_POLL_LIMIT) && t->polling && !state)
		measured = m->next_timer_ns;
	else
		measured = pelton_menu_until_event(m->last.residency_ns, t->states[state].exit_ns);
	return pelton_min_u64(measured, m->next_timer_ns);
}

PELTON_INLINE void pelton_menu_note(struct pelton_menu *m, u32 interval_us)
{
	m->interval_us[m->position % PELTON_MENU_INTERVALS] = interval_us;
	m->position = (m->position + 1) % PELTON_MENU_INTERVALS;
}

/* Learns from the last stay. */
PELTON_INLINE void pelton_menu_learn(struct pelton_menu *m, const struct pelton_idle_table *t, u64 tick_ns)
{
	u64 measured = pelton_menu_measured(m, t, tick_ns);
	u32 factor = pelton_menu_factor(m);

	factor -= factor / PELTON_MENU_DECAY;
	if (m->next_timer_ns && measured < PELTON_MENU_INTERESTING_NS)
		factor += (u32)pelton_div_floor(PELTON_MENU_RESOLUTION * measured, m->next_timer_ns);
	else
		factor += PELTON_MENU_RESOLUTION;
	m->factor[pelton_min_u32(m->bucket, PELTON_MENU_BUCKETS - 1u)] = factor;
	pelton_menu_note(m, (u32)(measured / PELTON_NSEC_PER_USEC));
	m->last.valid = 0;
}

/* The next timer times the share of it that stays like this one had, rounded to whole us. */
PELTON_INLINE u64 pelton_menu_scaled_timer(const struct pelton_menu *m)
{
	u64 unit = (u64)PELTON_MENU_UNITY * PELTON_NSEC_PER_USEC;
	u64 us = (unit / 2 + m->next_timer_ns * pelton_menu_factor(m)) / unit;

	return us * PELTON_NSEC_PER_USEC;
}

/* How long the CPU will be idle, ns. A short typical length saves the look at the timers. */
PELTON_INLINE u64 pelton_menu_predict(struct pelton_menu *m, const struct pelton_idle_now *now)
{
	u64 predicted = (u64)pelton_menu_typical(m) * PELTON_NSEC_PER_USEC;

	if (predicted <= PELTON_IDLE_SHALLOW_NS && !now->tick_stopped) {
		m->next_timer_ns = PELTON_IDLE_UNKNOWN_NS;
		m->bucket = PELTON_MENU_BUCKETS - 1u;
		return predicted;
	}
	m->next_timer_ns = pelton_idle_sleep(now);
	m->bucket = pelton_menu_bucket(m->next_timer_ns);
	predicted = pelton_min_u64(pelton_menu_scaled_timer(m), predicted);
	if (predicted < now->tick_ns && pelton_idle_may_get_stuck(now, m->next_timer_ns))
		predicted = m->next_timer_ns;
	return predicted;
}

/* Time to the next timer or tick; half a tick when the timers were not looked at. */
PELTON_INLINE u64 pelton_menu_event(const struct pelton_menu *m, const struct pelton_idle_now *now)
{
	return m->next_timer_ns == PELTON_IDLE_UNKNOWN_NS ? now->tick_ns / 2 : now->event_ns;
}

/* Nothing but state 0 comes into question. */
PELTON_INLINE u32 pelton_menu_only_first(const struct pelton_menu *m, const struct pelton_idle_table *t, u64 latency_ns)
{
	return !latency_ns || m->next_timer_ns < t->states[1].residency_ns || latency_ns < t->states[1].exit_ns;
}

/* A real idle state instead of polling, where it costs hardly anything. */
PELTON_INLINE u32 pelton_menu_beats_polling(const struct pelton_menu *m, const struct pelton_idle_state *s,
					    u64 predicted)
{
	return s->residency_ns < PELTON_IDLE_SHALLOW_NS && s->residency_ns <= m->next_timer_ns &&
	       s->exit_ns <= predicted;
}

/* `beyond` is the first state that does not pay: what to do about it when the prediction is a tick or longer? */
PELTON_INLINE u32 pelton_menu_beyond(const struct pelton_menu *m, const struct pelton_idle_table *t,
				     const struct pelton_idle_now *now, u32 beyond, u64 *predicted)
{
	u32 state = beyond - 1u;

	if (*predicted < now->tick_ns)
		return state;
	if (!now->tick_stopped) {
		/* Shallow: waking at the tick does no harm, so keep it. */
		*predicted = t->states[state].residency_ns;
		return state;
	}
	if (t->states[state].residency_ns < now->tick_ns && t->states[beyond].residency_ns <= pelton_menu_event(m, now))
		return beyond;
	return state;
}

/* The deepest state that pays. `predicted` becomes what the tick is decided by. */
PELTON_INLINE u32 pelton_menu_pick(const struct pelton_menu *m, const struct pelton_idle_table *t,
				   const struct pelton_idle_now *now, u64 *predicted)
{
	u32 i, state = 0, count = pelton_idle_count(t);

	for (i = 1; i < PELTON_IDLE_STATES_MAX; i++) {
		const struct pelton_idle_state *s = &t->states[i];

		if (i >= count || s->exit_ns > now->latency_ns)
			break;
		if (s->residency_ns <= *predicted) {
			state = i;
			continue;
		}
		if (!state && t->polling && pelton_menu_beats_polling(m, s, *predicted)) {
			*predicted = s->residency_ns;
			return i;
		}
		return pelton_menu_beyond(m, t, now, i, predicted);
	}
	return state;
}

/* Chooses a state for a CPU that goes idle, and whether its tick stops. */
PELTON_INLINE void pelton_menu_select(struct pelton_menu *m, const struct pelton_idle_table *t,
				      const struct pelton_idle_now *now, struct pelton_idle_choice *out)
{
	u32 state, polls;
	u64 predicted;

	if (m->last.valid)
		pelton_menu_learn(m, t, now->tick_ns);
	else if (!m->last.residency_ns)
		pelton_menu_note(m, PELTON_MENU_NO_INTERVAL_US);
	if (pelton_idle_count(t) < 2) {
		pelton_idle_choose(out, 0, 1);
		return;
	}
	predicted = pelton_menu_predict(m, now);
	if (pelton_menu_only_first(m, t, now->latency_ns)) {
		pelton_idle_choose(out, 0, !t->polling);
		return;
	}
	state = pelton_menu_pick(m, t, now, &predicted);
	polls = !state && t->polling;
	if (now->tick_stopped || (!polls && predicted >= now->tick_ns)) {
		pelton_idle_choose(out, state, 1);
		return;
	}
	if (state && t->states[state].residency_ns > pelton_menu_event(m, now))
		state = pelton_idle_shallower(t, state, pelton_menu_event(m, now));
	pelton_idle_choose(out, state, 0);
}

#endif
