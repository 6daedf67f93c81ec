/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle governor "menu": how long will this CPU be idle, judged from its last eight stays and from the next timer?
 *
 *   factor_b  = factor_b * 7/8 + measured / timer        per decade b of the next timer: how much of it was slept
 *   predicted = min(typical, timer * factor_b)           typical: idle_menu_stays.h
 *   state     = deepest with residency <= predicted and exit latency <= limit
 *   tick      = kept while predicted < tick
 *
 *   menu_form       what it has
 *   4.12            whole us; limit <= predicted / (1 + 10 * tasks that wait for I/O), and factors of their own while there
 *                   are some; polling only when the timer or the limit rules state 1 out; nothing about the tick
 *   4.16            the same, state 1 is no more taken untested
 *   4.19            the tick; a stopped one trusts no prediction below a tick, and no wait for I/O then
 *   5.4             polling gives way to state 1 when that is allowed; the end of polling by time limit is known
 *   5.10            ns; a rejected choice is noted
 *   6.1             a stopped tick trusts the next timer, not the next event
 *   6.6             typical comes first, and a short one saves the look at the timers
 *   6.12            no more I/O; only a shallow state replaces polling
 *   6.18            any state replaces polling; the timers are not looked at for a stopped tick
 *   7.2             a stopped tick trusts a timer within two ticks; the rest as in 6.12
 *
 *   quantity        unit            range
 *   predicted       ns              0 .. 2^63 - 1
 *
 * Source: Linux drivers/cpuidle/governors/menu.c menu_select, menu_update: 4.12, 4.16, 4.19, 5.4, 5.10.262, 6.1.192,
 * 6.6, 6.12.117, 6.18, 7.2.12. The load that 4.12 to 4.19 multiply with is the weight of the queued tasks
 * (get_iowait_load of kernel/sched/core.c), which is 0 on a CPU that goes idle.
 * Deviations: those of idle.h.
 */
#ifndef PELTON_IDLE_MENU_H
#define PELTON_IDLE_MENU_H

#include "idle_menu_stays.h"

#define PELTON_MENU_RESOLUTION 1024u
#define PELTON_MENU_DECAY 8u
#define PELTON_MENU_UNITY (PELTON_MENU_RESOLUTION * PELTON_MENU_DECAY)
/* A stay this long confirms the timer, whatever the timer said. */
#define PELTON_MENU_INTERESTING_NS 50000000u
/* Up to 4.19 a state that is entered sooner than this is not taken for polling's sake. */
#define PELTON_MENU_POLL_NS 20000u

/* A time as the form counts it: up to 5.4 in whole us. */
PELTON_INLINE u64 pelton_menu_time(const struct pelton_policy *pol, u64 ns)
{
	return pol->menu_form <= PELTON_MENU_FORM_5_4 ? ns - ns % PELTON_NSEC_PER_USEC : ns;
}

PELTON_INLINE u64 pelton_menu_exit(const struct pelton_policy *pol, const struct pelton_idle_state *s)
{
	return pelton_menu_time(pol, s->exit_ns);
}

PELTON_INLINE u64 pelton_menu_residency(const struct pelton_policy *pol, const struct pelton_idle_state *s)
{
	return pelton_menu_time(pol, s->residency_ns);
}

/* A choice that the driver rejected is noted (late 5.10 and 6.1 have that, 6.6.0 has not). */
PELTON_INLINE u32 pelton_menu_notes_rejected(const struct pelton_policy *pol)
{
	return pol->menu_form >= PELTON_MENU_FORM_5_10 && pol->menu_form != PELTON_MENU_FORM_6_6;
}

/* Tasks that wait for I/O and ran here last, as far as the form cares. */
PELTON_INLINE u32 pelton_menu_waiters(const struct pelton_policy *pol, const struct pelton_idle_now *now)
{
	return pol->menu_form <= PELTON_MENU_FORM_6_6 ? now->iowaiters : 0;
}

/* Decade of a time: below 10 us, 100 us, 1 ms, 10 ms, 100 ms, above; another six while tasks wait for I/O. */
PELTON_INLINE u32 pelton_menu_bucket(u64 timer_ns, u32 waiters)
{
	u64 limit_ns = 10000;
	u32 bucket;

	for (bucket = 0; bucket < PELTON_MENU_BUCKETS - 1u; bucket++) {
		if (timer_ns < limit_ns)
			break;
		limit_ns *= 10;
	}
	return waiters ? bucket + PELTON_MENU_BUCKETS : bucket;
}

PELTON_INLINE u32 pelton_menu_factor(const struct pelton_menu *m)
{
	u32 factor = m->factor[pelton_min_u32(m->bucket, PELTON_MENU_FACTORS - 1u)];

	return factor ? factor : PELTON_MENU_UNITY;
}

/* Time from the begin of a stay to the event that ended it, ns: half of the stay if the state was never reached. */
PELTON_INLINE u64 pelton_menu_until_event(u64 residency_ns, u64 exit_ns)
{
	return residency_ns > 2 * exit_ns ? residency_ns - exit_ns : residency_ns / 2;
}

/* Length of the last stay, or the one that it would have had without the tick or the limit on polling. */
PELTON_INLINE u64 pelton_menu_measured(const struct pelton_policy *pol, const struct pelton_menu *m,
				       const struct pelton_idle_table *t, u64 tick_ns)
{
	u32 state = pelton_min_u32(m->last.state, PELTON_IDLE_STATES_MAX - 1u), woke = m->last.woke;
	u64 stay_ns = pelton_menu_time(pol, m->last.residency_ns), exit_ns = pelton_menu_exit(pol, &t->states[state]);
	u64 measured = pelton_menu_time(pol, pelton_menu_until_event(stay_ns, exit_ns));

	if (pol->menu_form <= PELTON_MENU_FORM_4_16)
		woke = 0;
	if (pol->menu_form <= PELTON_MENU_FORM_4_19)
		woke &= PELTON_IDLE_WOKE_TICK;
	if ((woke & PELTON_IDLE_WOKE_TICK) && m->next_timer_ns > pelton_menu_time(pol, tick_ns))
		measured = 9ull * PELTON_MENU_INTERESTING_NS / 10;
	else if ((woke & PELTON_IDLE_WOKE_POLL_LIMIT) && t->polling && !state)
		measured = m->next_timer_ns;
	return pelton_min_u64(measured, m->next_timer_ns);
}

PELTON_INLINE void pelton_menu_note(struct pelton_menu *m, u32 interval_us)
{
	m->interval_us[m->position % PELTON_MENU_INTERVALS] = interval_us;
	m->position = (m->position + 1) % PELTON_MENU_INTERVALS;
}

/* Learns from the last stay. */
PELTON_INLINE void pelton_menu_learn(const struct pelton_policy *pol, struct pelton_menu *m,
				     const struct pelton_idle_table *t, u64 tick_ns)
{
	u64 measured = pelton_menu_measured(pol, m, t, tick_ns);
	u32 factor = pelton_menu_factor(m);

	factor -= factor / PELTON_MENU_DECAY;
	if (m->next_timer_ns && measured < PELTON_MENU_INTERESTING_NS)
		factor += (u32)pelton_div_floor(PELTON_MENU_RESOLUTION * measured, m->next_timer_ns);
	else
		factor += PELTON_MENU_RESOLUTION;
	m->factor[pelton_min_u32(m->bucket, PELTON_MENU_FACTORS - 1u)] = factor;
	pelton_menu_note(m, (u32)(measured / PELTON_NSEC_PER_USEC));
	m->last.valid = 0;
}

/* The next timer times the share of it that stays like this one had, rounded to whole us. */
PELTON_INLINE u32 pelton_menu_scaled_timer_us(const struct pelton_menu *m)
{
	u64 unit = (u64)PELTON_MENU_UNITY * PELTON_NSEC_PER_USEC;

	return (u32)((unit / 2 + m->next_timer_ns * pelton_menu_factor(m)) / unit);
}

/*
 * Time for which the CPU will be idle, ns, from timer and typical length. A short typical length saves the look at the
 * timers.
 */
PELTON_INLINE u64 pelton_menu_expect(const struct pelton_policy *pol, struct pelton_menu *m,
				     const struct pelton_idle_now *now)
{
	u32 waiters = pelton_menu_waiters(pol, now), first = pol->menu_form >= PELTON_MENU_FORM_6_6;
	u32 looks = pol->menu_form == PELTON_MENU_FORM_6_12 || pol->menu_form >= PELTON_MENU_FORM_7_2;
	u32 typical_us = first ? pelton_menu_typical(pol, m, 0) : 0, timer_us;

	if (first && (u64)typical_us * PELTON_NSEC_PER_USEC <= PELTON_IDLE_SHALLOW_NS &&
	    !(looks && now->tick_stopped)) {
		m->next_timer_ns = PELTON_IDLE_UNKNOWN_NS;
		m->bucket = pelton_menu_bucket(PELTON_IDLE_UNKNOWN_NS, waiters);
		return (u64)typical_us * PELTON_NSEC_PER_USEC;
	}
	m->next_timer_ns = pelton_menu_time(pol, pelton_idle_sleep(now));
	m->bucket = pelton_menu_bucket(m->next_timer_ns, waiters);
	timer_us = pelton_menu_scaled_timer_us(m);
	if (!first)
		typical_us = pelton_menu_typical(pol, m, timer_us);
	return (u64)pelton_min_u32(timer_us, typical_us) * PELTON_NSEC_PER_USEC;
}

/* The tick is stopped and the prediction short: what to go by so that the CPU does not get stuck in a shallow state. */
PELTON_INLINE u64 pelton_menu_unstuck(const struct pelton_policy *pol, const struct pelton_menu *m,
				      const struct pelton_idle_now *now, u64 predicted)
{
	if (pol->menu_form <= PELTON_MENU_FORM_5_10)
		return pelton_menu_time(pol, now->event_ns);
	if (pol->menu_form >= PELTON_MENU_FORM_7_2 && !pelton_idle_may_get_stuck(now, m->next_timer_ns))
		return predicted;
	return m->next_timer_ns;
}

/* Time to the next timer or tick; half a tick when the timers were not looked at. */
PELTON_INLINE u64 pelton_menu_event(const struct pelton_policy *pol, const struct pelton_menu *m,
				    const struct pelton_idle_now *now)
{
	u64 event_ns = m->next_timer_ns == PELTON_IDLE_UNKNOWN_NS ? now->tick_ns / 2 : now->event_ns;

	return pelton_menu_time(pol, event_ns);
}

/* Nothing but state 0 comes into question. */
PELTON_INLINE u32 pelton_menu_only_first(const struct pelton_policy *pol, const struct pelton_menu *m,
					 const struct pelton_idle_table *t, u64 latency_ns)
{
	return !latency_ns || m->next_timer_ns < pelton_menu_residency(pol, &t->states[1]) ||
	       latency_ns < pelton_menu_exit(pol, &t->states[1]);
}

/* Inputs of the search for a state. */
struct pelton_menu_search {
	u64 predicted; /* becomes what the tick is decided by */
	u64 latency_ns;
	u64 event_ns;
	u64 tick_ns;
	u32 tick_stopped;
	u32 count;
};

/* The prediction, and below 6.12 the longest exit latency that does not delay tasks that wait for I/O. */
PELTON_INLINE void pelton_menu_predict(const struct pelton_policy *pol, struct pelton_menu *m,
				       const struct pelton_idle_now *now, struct pelton_menu_search *s)
{
	u64 waiters = pelton_menu_waiters(pol, now);

	s->predicted = pelton_menu_expect(pol, m, now);
	s->event_ns = pelton_menu_event(pol, m, now);
	s->tick_ns = pelton_menu_time(pol, now->tick_ns);
	s->tick_stopped = pol->menu_form >= PELTON_MENU_FORM_4_19 && now->tick_stopped;
	if (s->tick_stopped && s->predicted < s->tick_ns)
		s->predicted = pelton_menu_unstuck(pol, m, now, s->predicted);
	if (!s->tick_stopped && pol->menu_form <= PELTON_MENU_FORM_6_6)
		s->latency_ns = pelton_min_u64(s->latency_ns,
					       pelton_menu_time(pol, pelton_div_floor(s->predicted, 1 + 10 * waiters)));
}

/* A real idle state instead of polling, where it costs hardly anything. */
PELTON_INLINE u32 pelton_menu_beats_polling(const struct pelton_policy *pol, const struct pelton_menu *m,
					    const struct pelton_idle_state *s, const struct pelton_menu_search *find)
{
	if (pelton_menu_residency(pol, s) > m->next_timer_ns)
		return 0;
	if (pol->menu_form <= PELTON_MENU_FORM_6_6)
		return pol->menu_form >= PELTON_MENU_FORM_5_4 && pelton_menu_exit(pol, s) <= find->latency_ns;
	return s->exit_ns <= find->predicted &&
	       (pol->menu_form == PELTON_MENU_FORM_6_18 || s->residency_ns < PELTON_IDLE_SHALLOW_NS);
}

/* `beyond` is the first state that does not pay: what to do about it when the prediction is a tick or longer? */
PELTON_INLINE u32 pelton_menu_beyond(const struct pelton_policy *pol, const struct pelton_idle_table *t,
				     struct pelton_menu_search *find, u32 state, u32 beyond)
{
	u64 residency_ns = pelton_menu_residency(pol, &t->states[state % PELTON_IDLE_STATES_MAX]);

	if (pol->menu_form <= PELTON_MENU_FORM_4_16 || find->predicted < find->tick_ns)
		return state;
	if (!find->tick_stopped) {
		/* Shallow: waking at the tick does no harm, so keep it. */
		find->predicted = residency_ns;
		return state;
	}
	if (residency_ns < find->tick_ns && pelton_menu_residency(pol, &t->states[beyond]) <= find->event_ns)
		return beyond;
	return state;
}

/* The first state that comes into question. Up to 4.19 polling does only when state 1 does not. */
PELTON_INLINE u32 pelton_menu_start(const struct pelton_policy *pol, const struct pelton_menu *m,
				    const struct pelton_idle_table *t, u64 latency_ns)
{
	if (pol->menu_form > PELTON_MENU_FORM_4_19 || !t->polling)
		return 0;
	return m->next_timer_ns > pelton_max_u64(PELTON_MENU_POLL_NS, pelton_menu_residency(pol, &t->states[1])) &&
	       latency_ns > pelton_menu_exit(pol, &t->states[1]);
}

PELTON_INLINE u32 pelton_menu_too_slow(const struct pelton_policy *pol, const struct pelton_idle_state *s,
				       const struct pelton_menu_search *find)
{
	return pelton_menu_exit(pol, s) > find->latency_ns;
}

/* The deepest state that pays. */
PELTON_INLINE u32 pelton_menu_pick(const struct pelton_policy *pol, const struct pelton_menu *m,
				   const struct pelton_idle_table *t, struct pelton_menu_search *find, u32 start)
{
	u32 i, state = start, untested = pol->menu_form <= PELTON_MENU_FORM_4_12;
	u32 latency_first = pol->menu_form >= PELTON_MENU_FORM_6_12;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		const struct pelton_idle_state *s = &t->states[i];

		if (i >= find->count || (latency_first && pelton_menu_too_slow(pol, s, find)))
			break;
		if (i < start + untested)
			continue;
		if (pelton_menu_residency(pol, s) > find->predicted) {
			if (state || !t->polling || !pelton_menu_beats_polling(pol, m, s, find))
				return pelton_menu_beyond(pol, t, find, state, i);
			find->predicted = pelton_menu_residency(pol, s);
			return i;
		}
		if (pelton_menu_too_slow(pol, s, find)) {
			if (pol->menu_form == PELTON_MENU_FORM_4_19)
				find->predicted = pelton_menu_residency(pol, &t->states[state]);
			break;
		}
		state = i;
	}
	return state;
}

/* The tick goes on: the state has to pay until the next timer or tick. */
PELTON_INLINE u32 pelton_menu_until_tick(const struct pelton_policy *pol, const struct pelton_idle_table *t, u32 state,
					 u64 event_ns)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		if (i >= state ||
		    pelton_menu_residency(pol, &t->states[(state - i) % PELTON_IDLE_STATES_MAX]) <= event_ns)
			break;
	}
	return state - i;
}

/* Learns from the last stay, if there was one. */
PELTON_INLINE void pelton_menu_update(const struct pelton_policy *pol, struct pelton_menu *m,
				      const struct pelton_idle_table *t, u64 tick_ns)
{
	if (m->last.valid)
		pelton_menu_learn(pol, m, t, tick_ns);
	else if (!m->last.residency_ns && pelton_menu_notes_rejected(pol))
		pelton_menu_note(m, PELTON_MENU_NO_INTERVAL_US);
}

/* Chooses a state for a CPU that goes idle, and whether its tick stops. */
PELTON_INLINE void pelton_menu_select(const struct pelton_policy *pol, struct pelton_menu *m,
				      const struct pelton_idle_table *t, const struct pelton_idle_now *now,
				      struct pelton_idle_choice *out)
{
	struct pelton_menu_search find;
	u32 state, old = pol->menu_form <= PELTON_MENU_FORM_4_19;
	u64 limit_ns = pelton_menu_time(pol, now->latency_ns);

	find.count = pelton_idle_count(t);
	find.latency_ns = limit_ns;
	pelton_menu_update(pol, m, t, now->tick_ns);
	if (find.count < 2 || (old && !limit_ns)) {
		pelton_idle_choose(out, 0, find.count < 2 || pol->menu_form <= PELTON_MENU_FORM_4_16);
		return;
	}
	pelton_menu_predict(pol, m, now, &find);
	if (!old && pelton_menu_only_first(pol, m, t, limit_ns)) {
		pelton_idle_choose(out, 0, !t->polling);
		return;
	}
	state = pelton_menu_pick(pol, m, t, &find, pelton_menu_start(pol, m, t, limit_ns));
	if (pol->menu_form <= PELTON_MENU_FORM_4_16 || find.tick_stopped ||
	    ((state || !t->polling) && find.predicted >= find.tick_ns)) {
		pelton_idle_choose(out, state, 1);
		return;
	}
	pelton_idle_choose(out, pelton_menu_until_tick(pol, t, state, find.event_ns), 0);
}

#endif
