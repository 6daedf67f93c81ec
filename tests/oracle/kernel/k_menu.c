/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The menu governor. */
#include "../../drivers/cpuidle/governors/menu.c"
#include "k.h"
#include "idle_in.h"

void k_menu(struct oracle_state *s)
{
	static struct cpuidle_driver drv;
	static struct cpuidle_device dev;
	struct menu_device *d = this_cpu_ptr(&menu_devices);
	struct pelton_menu *m = &s->menu;
	bool stop = true;

	idle_in(&drv, &dev, s, &m->last);
	d->needs_update = m->last.valid;
	d->tick_wakeup = m->last.woke & PELTON_IDLE_WOKE_TICK;
	d->next_timer_ns = m->next_timer_ns;
	d->bucket = m->bucket;
	memcpy(d->correction_factor, m->factor, sizeof(d->correction_factor));
	memcpy(d->intervals, m->interval_us, sizeof(m->interval_us));
	d->interval_ptr = m->position;
	s->choice.state = menu_select(&drv, &dev, &stop);
	s->choice.stop_tick = stop;
	m->last.valid = d->needs_update;
	m->next_timer_ns = d->next_timer_ns;
	m->bucket = d->bucket;
	memcpy(m->factor, d->correction_factor, sizeof(d->correction_factor));
	memcpy(m->interval_us, d->intervals, sizeof(m->interval_us));
	m->position = d->interval_ptr;
}
