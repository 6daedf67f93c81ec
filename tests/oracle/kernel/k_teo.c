/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The teo governor. */
#include <linux/sched/clock.h>

/* What the governor reads as the time, up to 6.12. */
static unsigned long long teo_clock;
#define local_clock() teo_clock

#include "../../drivers/cpuidle/governors/teo.c"
#include "k.h"
#include "idle_in.h"

#if ORACLE_VERSION < 515
static void teo_in(struct teo_cpu *d, const struct pelton_teo *m)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		d->states[i].hits = m->hits[i];
		d->states[i].early_hits = m->intercepts[i];
		d->states[i].misses = m->misses[i];
	}
	for (i = 0; i < INTERVALS; i++)
		d->intervals[i] = m->early[i] - 1;
	d->interval_idx = m->position;
}

static void teo_out(const struct teo_cpu *d, struct pelton_teo *m)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		m->hits[i] = d->states[i].hits;
		m->intercepts[i] = d->states[i].early_hits;
		m->misses[i] = d->states[i].misses;
	}
	for (i = 0; i < INTERVALS; i++)
		m->early[i] = d->intervals[i] + 1;
	m->position = d->interval_idx;
	m->total = 1;
}
#else
static void teo_in_form(struct teo_cpu *d, const struct pelton_teo *m)
{
#if ORACLE_VERSION < 602
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++)
		d->state_bins[i].recent = m->recent[i];
	for (i = 0; i < NR_RECENT; i++)
		d->recent_idx[i] = (int)m->recent_bin[i] - 1;
	d->next_recent_idx = m->position;
#elif ORACLE_VERSION < 700
	d->tick_hits = m->tick_hits;
#else
	d->total_tick = m->total_tick;
	d->tick_intercepts = m->tick_intercepts;
	d->short_idles = m->short_idles;
#endif
}

static void teo_out_form(const struct teo_cpu *d, struct pelton_teo *m)
{
#if ORACLE_VERSION < 602
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++)
		m->recent[i] = d->state_bins[i].recent;
	for (i = 0; i < NR_RECENT; i++)
		m->recent_bin[i] = (u32)(d->recent_idx[i] + 1);
	m->position = d->next_recent_idx;
#elif ORACLE_VERSION < 700
	m->tick_hits = d->tick_hits;
#else
	m->total_tick = d->total_tick;
	m->tick_intercepts = d->tick_intercepts;
	m->short_idles = d->short_idles;
#endif
}

static void teo_in(struct teo_cpu *d, const struct pelton_teo *m)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		d->state_bins[i].hits = m->hits[i];
		d->state_bins[i].intercepts = m->intercepts[i];
	}
	d->total = m->total;
	teo_in_form(d, m);
}

static void teo_out(const struct teo_cpu *d, struct pelton_teo *m)
{
	u32 i;

	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		m->hits[i] = d->state_bins[i].hits;
		m->intercepts[i] = d->state_bins[i].intercepts;
	}
	m->total = d->total;
	teo_out_form(d, m);
}
#endif

/* The stay ends, teo_reflect() notes it, teo_select() learns from it. */
void k_teo(struct oracle_state *s)
{
	static struct cpuidle_driver drv;
	static struct cpuidle_device dev;
	struct teo_cpu *d = this_cpu_ptr(&teo_cpus);
	bool stop = true;

	idle_in(&drv, &dev, s, &s->teo.last);
	teo_in(d, &s->teo);
	d->sleep_length_ns = s->teo.sleep_ns;
	dev.last_state_idx = -1;
	if (s->teo.last.valid || !s->teo.total) {
		teo_clock += s->teo.last.residency_ns;
#if ORACLE_VERSION < 613
		d->time_span_ns = teo_clock - s->teo.last.residency_ns;
#endif
		teo_reflect(&dev, s->teo.last.state);
	}
	s->choice.state = teo_select(&drv, &dev, &stop);
	s->choice.stop_tick = stop;
	s->teo.last.valid = dev.last_state_idx >= 0;
	s->teo.sleep_ns = d->sleep_length_ns;
	teo_out(d, &s->teo);
}
