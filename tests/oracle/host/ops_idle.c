// SPDX-License-Identifier: GPL-2.0-only
/* The idle governors. */
#include "host.h"

static void a_table(struct oracle_state *s)
{
	struct pelton_idle_table *t = &s->table;
	u64 exit_ns = 0, residency_ns = 0;
	u32 i;

	t->count = 2 + (u32)below(5);
	t->polling = chance(40);
	for (i = 0; i < t->count; i++) {
		if (i || !t->polling) {
			exit_ns += below(1ull << below(22));
			residency_ns += exit_ns + below(1ull << below(24));
		}
		t->states[i].exit_ns = exit_ns;
		t->states[i].residency_ns = residency_ns;
	}
}

static void a_moment(struct oracle_state *s)
{
	struct pelton_idle_now *now = &s->idle_now;

	now->tick_ns = ORACLE_TICK_NS;
	now->tick_stopped = chance(30);
	now->sleep_ns = below(1ull << below(38));
	now->event_ns = now->sleep_ns;
	if (!now->tick_stopped)
		now->event_ns = below(now->sleep_ns < ORACLE_TICK_NS ? now->sleep_ns + 1 : ORACLE_TICK_NS + 1);
	else if (chance(30))
		now->event_ns = below(now->sleep_ns + 1);
	now->iowaiters = chance(40) ? (u32)below(6) : 0;
	now->latency_ns = chance(70) ? ~0ull : below(1ull << below(24));
}

static void a_stay(struct oracle_state *s, struct pelton_idle_last *last)
{
	last->residency_ns = chance(10) ? 0 : below(1ull << below(36));
	last->state = (u32)below(s->table.count);
	last->woke = (chance(30) ? PELTON_IDLE_WOKE_TICK : 0) | (chance(10) ? PELTON_IDLE_WOKE_POLL_LIMIT : 0);
	last->valid = chance(85);
}

static void make_menu(struct oracle_state *s)
{
	struct pelton_menu *m = &s->menu;
	u32 i, typical = (u32)below(1ull << below(20));
	u32 factors = oracle_policy.menu_form <= PELTON_MENU_FORM_6_6 ? PELTON_MENU_FACTORS : PELTON_MENU_BUCKETS;

	a_table(s);
	a_moment(s);
	a_stay(s, &m->last);
	m->next_timer_ns = chance(10) ? PELTON_IDLE_UNKNOWN_NS : below(1ull << below(38));
	m->bucket = (u32)below(factors);
	m->position = (u32)below(PELTON_MENU_INTERVALS);
	for (i = 0; i < PELTON_MENU_FACTORS; i++)
		m->factor[i] = 1 + (u32)below(8192);
	for (i = 0; i < PELTON_MENU_INTERVALS; i++) {
		m->interval_us[i] = typical + (u32)below(1 + typical / 16);
		if (chance(40))
			m->interval_us[i] = chance(10) ? ~0u : (u32)below(1ull << below(32));
	}
}

static void run_menu(struct oracle_state *s)
{
	pelton_menu_select(&oracle_policy, &s->menu, &s->table, &s->idle_now, &s->choice);
}

/* Nobody reads the answer about the tick when it is stopped already. */
static void settle_idle(struct oracle_state *k, struct oracle_state *p)
{
	if (k->idle_now.tick_stopped)
		k->choice.stop_tick = p->choice.stop_tick;
}

static void make_teo(struct oracle_state *s)
{
	struct pelton_teo *t = &s->teo;
	u32 i;

	a_table(s);
	a_moment(s);
	a_stay(s, &t->last);
	t->sleep_ns = chance(30) ? PELTON_IDLE_UNKNOWN_NS : below(1ull << below(38));
	for (i = 0; i < s->table.count; i++) {
		t->hits[i] = (u32)below(chance(30) ? 8192 : 100);
		t->intercepts[i] = (u32)below(chance(30) ? 8192 : 100);
		t->total += t->hits[i] + t->intercepts[i];
	}
	t->total += !t->total;
	t->total_tick = (u32)below(8192);
	t->tick_intercepts = (u32)below(8192);
	t->short_idles = (u32)below(8192);
}

static void run_teo(struct oracle_state *s)
{
	pelton_teo_select(&s->teo, &s->table, &s->idle_now, &s->choice);
}

const struct oracle_op ops_idle[] = {
	{ "menu_select", "pelton_menu_select", make_menu, k_menu, run_menu, settle_idle, 0 },
	{ "teo_select", "pelton_teo_select", make_teo, k_teo, run_teo, settle_idle, 0 },
	{ 0 },
};
