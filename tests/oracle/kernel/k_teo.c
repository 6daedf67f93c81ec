/* SPDX-License-Identifier: GPL-2.0-only */
/* The teo governor. */
#include "../../drivers/cpuidle/governors/teo.c"
#include "k.h"

#if ORACLE_VERSION >= 700
#include "idle_in.h"

static void teo_in(struct teo_cpu *d, const struct pelton_teo *m)
{
	u32 i;

	d->tick_wakeup = m->last.woke & PELTON_IDLE_WOKE_TICK;
	d->sleep_length_ns = m->sleep_ns;
	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		d->state_bins[i].hits = m->hits[i];
		d->state_bins[i].intercepts = m->intercepts[i];
	}
	d->total = m->total;
	d->total_tick = m->total_tick;
	d->tick_intercepts = m->tick_intercepts;
	d->short_idles = m->short_idles;
}

static void teo_out(const struct teo_cpu *d, struct pelton_teo *m)
{
	u32 i;

	m->sleep_ns = d->sleep_length_ns;
	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++) {
		m->hits[i] = d->state_bins[i].hits;
		m->intercepts[i] = d->state_bins[i].intercepts;
	}
	m->total = d->total;
	m->total_tick = d->total_tick;
	m->tick_intercepts = d->tick_intercepts;
	m->short_idles = d->short_idles;
}

void k_teo(struct oracle_state *s)
{
	static struct cpuidle_driver drv;
	static struct cpuidle_device dev;
	struct teo_cpu *d = this_cpu_ptr(&teo_cpus);
	bool stop = true;

	idle_in(&drv, &dev, s, &s->teo.last);
	if (!s->teo.last.valid)
		dev.last_state_idx = -1;
	teo_in(d, &s->teo);
	s->choice.state = teo_select(&drv, &dev, &stop);
	s->choice.stop_tick = stop;
	s->teo.last.valid = dev.last_state_idx >= 0;
	teo_out(d, &s->teo);
}
#endif
