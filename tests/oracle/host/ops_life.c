// SPDX-License-Identifier: GPL-2.0-or-later
/* Lives of four tasks on one root queue, from nothing: only states that can be reached. */
#include "host.h"

#define LIFE_TASKS 4
#define LIFE_EVENTS 200

enum { WAKE, PICK, TICK, PUT, SLEEP, LEAVE, RENICE };

struct life {
	struct pelton_cfs_rq q;
	struct pelton_se se[LIFE_TASKS];
};

/* One event of a life. */
struct event {
	u64 now;
	u64 weight;
	u32 what;
	u32 task;
};

/* The two worlds: the same steps, by the kernel's functions or by the core's. */
struct world {
	void (*update)(struct oracle_state *s);
	void (*estimate)(struct oracle_state *s);
	void (*move)(struct oracle_state *s);
	void (*remove)(struct oracle_state *s);
	void (*reweight)(struct oracle_state *s);
};

static void core_update(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	pelton_update_load_avg(&ctx, &s->q, &s->se, 0, s->flags);
}

static void core_estimate(struct oracle_state *s)
{
	pelton_util_est_update(&oracle_policy, &s->se, s->cap, s->sleeps);
}

static void core_move(struct oracle_state *s)
{
	if (s->into)
		pelton_util_est_enqueue(&oracle_policy, &s->q, &s->se);
	else
		pelton_util_est_dequeue(&oracle_policy, &s->q, &s->se);
}

static void core_remove(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(0, 1024);

	pelton_remove_sleeping(&ctx, &s->q, &s->se);
}

static void core_reweight(struct oracle_state *s)
{
	pelton_reweight_entity(&oracle_policy, &s->q, &s->se, s->weight, s->weight);
}

static const struct world core_world = { core_update, core_estimate, core_move, core_remove, core_reweight };

static void update(const struct world *w, struct oracle_state *s, u32 flags)
{
	s->flags = flags;
	w->update(s);
}

static void wake(const struct world *w, struct oracle_state *s)
{
	s->into = 1;
	w->move(s);
	update(w, s, PELTON_UPDATE_TG | PELTON_DO_ATTACH);
	s->se.on_rq = 1;
	pelton_update_load_add(&s->q, &s->se);
	s->q.nr_queued++;
	s->q.h_nr_runnable++;
}

static void stop_running(struct oracle_state *s)
{
	if (s->se.running)
		s->se.running = s->q.has_curr = 0;
}

/* The estimate is taken before the update, inside it or after it. */
static void sleep(const struct world *w, struct oracle_state *s)
{
	u32 inside = oracle_policy.util_est == PELTON_UTIL_EST_U4;

	s->into = 0;
	w->move(s);
	if (oracle_policy.util_est_stale)
		w->estimate(s);
	update(w, s, PELTON_UPDATE_TG | (inside ? PELTON_UPDATE_UTIL_EST : 0));
	stop_running(s);
	s->se.on_rq = 0;
	pelton_update_load_sub(&s->q, &s->se);
	s->q.nr_queued--;
	s->q.h_nr_runnable--;
	if (!oracle_policy.util_est_stale && !inside)
		w->estimate(s);
}

static void step(const struct world *w, struct oracle_state *s, u32 what)
{
	s->cap = 1024;
	s->sleeps = 1;
	if (what == WAKE)
		wake(w, s);
	else if (what == SLEEP)
		sleep(w, s);
	else if (what == PICK || what == TICK)
		update(w, s, PELTON_UPDATE_TG);
	else if (what == PUT || what == RENICE)
		update(w, s, 0);
	if (what == PICK)
		s->se.running = s->q.has_curr = 1;
	if (what == PUT)
		stop_running(s);
	if (what == RENICE)
		w->reweight(s);
	if (what == LEAVE) {
		w->remove(s);
		s->se.avg.last_update_time_ns = 0;
	}
}

static void apply(const struct world *w, struct life *l, const struct event *e, struct oracle_state *s)
{
	s->now = e->now;
	s->weight = pelton_scale_load(e->weight);
	s->q = l->q;
	s->se = l->se[e->task];
	step(w, s, e->what);
	l->q = s->q;
	l->se[e->task] = s->se;
}

static void next_event(const struct life *l, struct event *e)
{
	const struct pelton_se *se;

	e->task = (u32)below(LIFE_TASKS);
	se = &l->se[e->task];
	e->now += below(4) ? below(chance(50) ? 300000 : 8000000) : below(1ull << below(32));
	e->weight = nice_weight();
	if (!se->on_rq)
		e->what = chance(30) && se->avg.last_update_time_ns ? LEAVE : WAKE;
	else if (se->running)
		e->what = TICK + (u32)below(3);
	else
		e->what = l->q.has_curr ? (chance(20) ? RENICE : TICK) : PICK;
}

static void begin(struct life *l, u64 now)
{
	struct life none = { 0 };
	u32 i;

	*l = none;
	l->q.avg.last_update_time_ns = now;
	for (i = 0; i < LIFE_TASKS; i++) {
		pelton_se_init(&l->se[i], nice_weight());
		l->se[i].avg.util_avg = below(513);
		l->se[i].avg.runnable_avg = l->se[i].avg.util_avg;
	}
}

/* A case is a seed: both sides live the same life. `flags` and `into` are those of its last event. */
static void make_life(struct oracle_state *s)
{
	s->h_load = below(1ull << 62);
	s->events = LIFE_EVENTS;
}

static void live(const struct world *w, struct oracle_state *s)
{
	u64 resume = s->h_load;
	struct event e = { 0 };
	struct life l;
	u32 n;

	rng_seed(resume);
	e.now = (1ull << 30) + below(1 << 30);
	begin(&l, e.now);
	for (n = 0; n < s->events; n++) {
		next_event(&l, &e);
		apply(w, &l, &e, s);
		s->aux = s->aux * 31 + s->se.avg.load_sum + s->se.avg.util_sum + s->q.avg.load_sum + s->q.avg.util_sum +
			 s->se.avg.util_est_enqueued + s->se.avg.util_est_ewma + s->q.removed_util + s->q.util_est;
	}
}

static void kernel_life(struct oracle_state *s)
{
	static const struct world kernel_world = { k_update_load_avg, k_util_est_update, k_util_est_move,
						   k_remove_sleeping, k_reweight };

	live(&kernel_world, s);
}

static void core_life(struct oracle_state *s)
{
	live(&core_world, s);
}

static void settle_life(struct oracle_state *k, struct oracle_state *p)
{
	k->ret = p->ret;
	if (oracle_version < 607)
		p->q.tg_update_ns = k->q.tg_update_ns;
}

const struct oracle_op ops_life[] = {
	{ "lives of 200 events", "pelton_update_load_avg and its like", make_life, kernel_life, core_life, settle_life,
	  2 },
	{ 0 },
};
