// SPDX-License-Identifier: GPL-2.0-or-later
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

/* The answer about the tick is not read when it is stopped already. */
static void settle_idle(struct oracle_state *k, struct oracle_state *p)
{
	if (k->idle_now.tick_stopped)
		k->choice.stop_tick = p->choice.stop_tick;
}

/* What only some forms remember. */
static void a_teo_form(struct oracle_state *s)
{
	struct pelton_teo *t = &s->teo;
	u64 typical = below(1ull << below(34));
	u32 i, bin;

	t->position = (u32)below(PELTON_TEO_INTERVALS);
	t->tick_hits = oracle_policy.teo_form == PELTON_TEO_FORM_6_12 ? (u32)below(8192) : 0;
	t->total += t->tick_hits;
	for (i = 0; i < PELTON_IDLE_STATES_MAX; i++)
		t->misses[i] = chance(40) ? t->hits[i] : (u32)below(8192);
	for (i = 0; i < PELTON_TEO_INTERVALS; i++)
		t->early[i] = chance(20) ? 0 : (chance(70) ? typical : below(1ull << below(36))) + below(5000);
	for (i = 0; i < PELTON_TEO_RECENT; i++) {
		bin = t->recent_bin[i] = (u32)below(1 + s->table.count);
		if (bin)
			t->recent[bin - 1]++;
	}
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
	a_teo_form(s);
	if (oracle_policy.teo_form <= PELTON_TEO_FORM_5_10)
		t->total = 1;
}

static void run_teo(struct oracle_state *s)
{
	pelton_teo_select(&oracle_policy, &s->teo, &s->table, &s->idle_now, &s->choice);
}

#define IDLE_STAYS 200

/* A case is a seed: both sides get the same table, timers and ends of stays. */
static void make_idle_life(struct oracle_state *s)
{
	s->h_load = below(1ull << 62);
	s->events = IDLE_STAYS;
}

/* As menu_enable_device() leaves it. */
static void make_menu_life(struct oracle_state *s)
{
	u32 i;

	make_idle_life(s);
	for (i = 0; i < PELTON_MENU_FACTORS; i++)
		s->menu.factor[i] = PELTON_MENU_UNITY;
}

/* How long a stay lasts: often as the ones before, at times to its timer, or a tick ends it. */
static void end_stay(const struct oracle_state *s, u64 usual, struct pelton_idle_last *last)
{
	u64 stay = usual + below(1 + usual / 8);
	u32 woke = 0;

	if (chance(20))
		stay = below(1ull << below(34));
	if (chance(40) && s->idle_now.sleep_ns < stay)
		stay = s->idle_now.sleep_ns;
	if (!s->choice.stop_tick && !s->idle_now.tick_stopped && stay > s->idle_now.event_ns && chance(70)) {
		stay = s->idle_now.event_ns + below(2000);
		woke = PELTON_IDLE_WOKE_TICK;
	}
	if (!s->choice.state && s->table.polling && chance(10))
		woke |= PELTON_IDLE_WOKE_POLL_LIMIT;
	pelton_idle_woke(last, stay, s->choice.state, woke);
}

static void live_idle(struct oracle_state *s, oracle_call *select, struct pelton_idle_last *last)
{
	u64 usual = 0;
	u32 n;

	rng_seed(s->h_load);
	a_table(s);
	for (n = 0; n < s->events; n++) {
		if (chance(5) || !n)
			usual = below(1ull << below(34));
		a_moment(s);
		select(s);
		if (s->idle_now.tick_stopped)
			s->choice.stop_tick = 0;
		s->aux = s->aux * 31 + 2 * s->choice.state + s->choice.stop_tick;
		if (!chance(3))
			end_stay(s, usual, last);
	}
}

static void kernel_menu_life(struct oracle_state *s)
{
	live_idle(s, k_menu, &s->menu.last);
}

static void core_menu_life(struct oracle_state *s)
{
	live_idle(s, run_menu, &s->menu.last);
}

static void kernel_teo_life(struct oracle_state *s)
{
	live_idle(s, k_teo, &s->teo.last);
}

static void core_teo_life(struct oracle_state *s)
{
	live_idle(s, run_teo, &s->teo.last);
}

void menu_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	pelton_menu_select(pol, &s->menu, &s->table, &s->idle_now, &s->choice);
}

void teo_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	pelton_teo_select(pol, &s->teo, &s->table, &s->idle_now, &s->choice);
}

const struct oracle_op ops_idle[] = {
	{ "menu_select", "pelton_menu_select", make_menu, k_menu, run_menu, settle_idle, 0 },
	{ "teo_select", "pelton_teo_select", make_teo, k_teo, run_teo, settle_idle, 0 },
	{ "menu_select, menu_reflect: 200 stays", "pelton_menu_select, pelton_idle_woke", make_menu_life,
	  kernel_menu_life, core_menu_life, 0, 2 },
	{ "teo_select, teo_reflect: 200 stays", "pelton_teo_select, pelton_idle_woke", make_idle_life, kernel_teo_life,
	  core_teo_life, 0, 2 },
	{ 0 },
};
