// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a task that wakes is put, and EEVDF's choice. */
#include "host.h"

static void make_wake(struct oracle_state *s)
{
	struct pelton_wake *w = &s->wake;

	w->this_load = below(chance(50) ? 3000 : 200000);
	w->prev_load = below(chance(50) ? 3000 : 200000);
	w->task_load = below(2000);
	w->waker_load = below(2000);
	w->this_capacity = 1 + (u32)below(1024);
	w->prev_capacity = chance(50) ? w->this_capacity : 1 + (u32)below(1024);
	w->siblings = chance(30);
	w->far = chance(30);
	w->sync = chance(40);
	w->this_running = 1 + (u32)below(3);
	w->this_idle = chance(20);
	w->prev_idle = chance(20);
}

/* The loads of single tasks are what a root queue makes of them. */
static void run_wake_affine(struct oracle_state *s)
{
	struct pelton_wake w = s->wake;

	s->aux = w.waker_load = pelton_h_load(w.this_load, w.waker_load, w.this_load);
	s->aux2 = w.task_load = pelton_h_load(w.prev_load, w.task_load, w.prev_load);
	s->ret = pelton_wake_affine(&oracle_policy, &w);
}

static void make_wake_wide(struct oracle_state *s)
{
	s->cap = 1 + (u32)below(64);
	s->now = below(chance(50) ? 100 : 5000);
	s->irq = below(chance(50) ? 100 : 5000);
}

static void run_wake_wide(struct oracle_state *s)
{
	s->ret = pelton_wake_wide((u32)s->now, (u32)s->irq, s->cap);
}

const struct oracle_op ops_place[] = {
	{ "wake_affine", "pelton_wake_affine, pelton_h_load", make_wake, k_wake_affine, run_wake_affine, 0, 0 },
	{ "wake_wide", "pelton_wake_wide", make_wake_wide, k_wake_wide, run_wake_wide, 0, 0 },
	{ 0 },
};
