// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle groups: what a change of one counts, and who preempts whom where groups meet. */
#include <errno.h>

#include "host.h"

/* Groups of the running and the woken task, which of them are idle, which tasks are; the woken one may be batch. */
void an_idle_meeting(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->group = (u32)below(4);
	s->idle = chance(50) ? 0 : (u32)below(4) & s->group;
	s->sleeps = chance(60) ? 0 : (u32)below(4);
	s->iowait = chance(10) && !(s->sleeps & 2);
	if (!pelton_has_idle_groups(&oracle_policy))
		s->idle = 0;
	f->se[f->curr].idle_policy = s->group & 1 ? 0 : s->sleeps & 1;
	f->se[s->cpu].idle_policy = s->group & 2 ? 0 : s->sleeps >> 1 & 1;
}

/* What the woken task may do to the running one as far as it depends on SCHED_IDLE. */
u32 idle_meeting(const struct oracle_state *s)
{
	u32 groups = pelton_has_idle_groups(&oracle_policy) ? s->group & s->idle : 0;
	u32 at = groups | (s->sleeps & ~s->group);

	return pelton_preempt_by_policy(&oracle_policy, s->sleeps & 1, s->sleeps >> 1 & 1, at & 1, at >> 1 & 1,
					s->iowait);
}

/* Two groups, one below the other, on the root queue: each queue counts its own tasks and those below. */
static void make_set_idle(struct oracle_state *s)
{
	struct oracle_level *root = &s->level[0], *outer = &s->level[1], *inner = &s->level[2];
	u32 own = (u32)below(4), others = (u32)below(4);

	s->now = (1ull << 40) + below(1ull << 40);
	s->group = 1 + (u32)below(2);
	s->into = (u32)below(2);
	s->flags = chance(20);
	s->weight = 1 + below(10000);
	s->tg.shares = chance(30) ? pelton_shares_when_idle(s->into) : 2 + below(10000);
	inner->idle = (u32)below(2);
	outer->idle = (u32)below(2);
	inner->h_nr_queued = (u32)below(5);
	inner->h_nr_idle = (u32)below(inner->h_nr_queued + 1);
	/* A throttled queue's entity is not on the one above, whatever it has. */
	inner->on_rq = inner->h_nr_queued && chance(90);
	outer->h_nr_queued = own + (inner->on_rq ? inner->h_nr_queued : 0);
	outer->h_nr_idle = (u32)below(own + 1);
	if (inner->on_rq)
		outer->h_nr_idle += inner->idle ? inner->h_nr_queued : inner->h_nr_idle;
	outer->nr_idle = inner->on_rq && inner->idle;
	outer->on_rq = outer->h_nr_queued && chance(90);
	root->h_nr_queued = others + (outer->on_rq ? outer->h_nr_queued : 0);
	root->h_nr_idle = (u32)below(others + 1);
	if (outer->on_rq)
		root->h_nr_idle += outer->idle ? outer->h_nr_queued : outer->h_nr_idle;
	root->nr_idle = outer->on_rq && outer->idle;
}

static u64 limited_shares(u64 shares)
{
	return pelton_max_u64(shares, PELTON_MIN_SHARES);
}

static void set_idle(struct oracle_state *s, u32 walks_on)
{
	struct oracle_level *own = &s->level[s->group];
	s32 delta = pelton_set_idle_delta(s->into, own->h_nr_queued, own->h_nr_idle);
	u32 at = s->group;

	if (own->idle == s->into)
		return;
	own->idle = s->into;
	if (own->on_rq && oracle_version < 614)
		own[-1].nr_idle += s->into ? 1 : ~0u;
	for (; at && s->level[at].on_rq; at--) {
		s->level[at - 1].h_nr_idle += (u32)delta;
		delta = pelton_h_nr_idle_above(s->level[at - 1].idle && !walks_on, 0, delta);
	}
	s->tg.shares = pelton_shares_when_idle(s->into);
}

static void run_set_idle(struct oracle_state *s)
{
	if (!s->flags)
		set_idle(s, 0);
	else if (pelton_shares_writable(s->level[s->group].idle))
		s->tg.shares = limited_shares(s->weight);
	else
		s->ret = (u64)(s64)-EINVAL;
}

/* Canary: the walk does not stop above an idle group. */
void idle_group_walks_on(struct oracle_state *s)
{
	if (s->flags)
		run_set_idle(s);
	else
		set_idle(s, 1);
}

const struct oracle_op ops_idle_group[] = {
	{ "sched_group_set_idle, sched_group_set_shares",
	  "pelton_set_idle_delta, pelton_h_nr_idle_above, pelton_shares_when_idle, pelton_shares_writable",
	  make_set_idle, k_set_idle, run_set_idle, 0, 0 },
	{ 0 },
};
