// SPDX-License-Identifier: GPL-2.0-or-later
/* CFS: slices, places, who gives way. And virtual time, which both classes have. */
#include "fair.h"

/* `now`: a time, `weight` of a queue of weight `h_load`. */
static void make_delta(struct oracle_state *s)
{
	struct pelton_fair_se *se = &s->fair.se[0];

	a_fair_weight(se);
	s->now = rng_next() >> (20 + below(44));
	s->h_load = se->weight + below(1ull << 30);
	s->weight = chance(50) ? se->weight : PELTON_NICE_0_LOAD;
}

static void run_delta(struct oracle_state *s)
{
	const struct pelton_fair_se *se = &s->fair.se[0];

	s->ret = pelton_calc_delta_fair(&oracle_policy, s->now, se->weight, se->inv_weight);
	s->aux = pelton_calc_delta(&oracle_policy, s->now, s->weight, s->h_load, 0);
}

static void make_slice(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	u32 i;

	a_fair_queue(f, 1, 0);
	s->cpu = chance(40) ? ORACLE_FAIR_NEW : (u32)below(f->n);
	for (i = 0; i < f->n; i++)
		f->se[i].idle_policy = chance(30);
	f->se[s->cpu].idle_policy |= chance(20);
	fair_sums(f);
}

static void run_slice(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->ret = pelton_sched_slice(&oracle_policy, &f->tun, &f->rq, &f->se[s->cpu], f->all);
}

static void make_place(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 0, 0);
	s->flags = (u32)below(2);
	s->now = chance(10) ? (1ull << 53) - 2 + below(5) : below(1ull << 39);
	s->fair.se[ORACLE_FAIR_NEW].idle_policy = chance(20);
}

static void run_place(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se *se = &f->se[ORACLE_FAIR_NEW];
	u64 slice = pelton_sched_slice(&oracle_policy, &f->tun, &f->rq, se, f->all);

	pelton_place_entity_cfs(&oracle_policy, &f->tun, &f->rq, se, s->flags, slice, s->now);
}

static void make_two(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 2, 1);
}

static void run_preempt(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->ret = (u64)(s64)pelton_wakeup_preempt_entity(&oracle_policy, &f->tun, &f->se[0], &f->se[1]);
}

static void make_wakeup(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	a_fair_queue(f, 2, 1);
	s->cpu = ((u32)f->curr + 1 + (u32)below(f->n - 1)) % f->n;
	an_idle_meeting(s);
	fair_sums(f);
}

static void run_wakeup(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	u32 decided = idle_meeting(s);

	s->ret = decided;
	if (decided == PELTON_PREEMPT_COMPARE)
		s->ret = pelton_wakeup_preempt_entity(&oracle_policy, &f->tun, &f->se[f->curr], &f->se[s->cpu]) > 0;
}

/* The waiting entity that is farthest left; -1 = nothing waits. */
static s32 leftmost(const struct oracle_fair *f)
{
	s32 best = -1;
	u32 i;

	for (i = 0; i < f->n; i++)
		if ((s32)i != f->curr && (best < 0 || pelton_entity_before_cfs(&f->se[i], &f->se[best])))
			best = (s32)i;
	return best;
}

static void run_tick(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	const struct pelton_fair_se *curr = &f->se[f->curr];
	u64 slice = pelton_sched_slice(&oracle_policy, &f->tun, &f->rq, curr, f->all);

	s->ret = pelton_check_preempt_tick(&f->tun, curr, &f->se[leftmost(f)], slice);
}

static void make_min(struct oracle_state *s)
{
	a_fair_queue(&s->fair, (u32)below(2), 0);
}

static void run_min(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	s32 first = leftmost(f);

	pelton_update_min_vruntime(&oracle_policy, &f->rq, fair_running(f), first >= 0 ? &f->se[first] : 0);
}

/* The running entity yielded: it is passed over if the first of the others is not too far ahead, or next anyway. */
static void run_skip(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	const struct pelton_fair_se *curr = &f->se[f->curr];
	s32 first = leftmost(f), next = first;

	if (pelton_entity_before_cfs(curr, &f->se[first]) &&
	    !pelton_skip_takes_second(&oracle_policy, &f->tun, &f->se[first], curr))
		next = f->curr;
	s->ret = (u64)next + 1;
}

/* Of equals the tree decides. */
static void settle_skip(struct oracle_state *k, struct oracle_state *p)
{
	if (k->ret && p->ret && k->fair.se[k->ret - 1].vruntime == k->fair.se[p->ret - 1].vruntime)
		p->ret = k->ret;
}

const struct oracle_op ops_cfs[] = {
	{ "calc_delta_fair, __calc_delta", "pelton_calc_delta_fair, pelton_calc_delta", make_delta, k_calc_delta_fair,
	  run_delta, 0, 0 },
	{ "sched_slice", "pelton_sched_slice", make_slice, k_sched_slice, run_slice, 0, 0 },
	{ "place_entity (CFS)", "pelton_place_entity_cfs", make_place, k_place_cfs, run_place, 0, 0 },
	{ "wakeup_preempt_entity", "pelton_wakeup_preempt_entity", make_two, k_preempt_cfs, run_preempt, 0, 0 },
	{ "check_preempt_wakeup", "pelton_preempt_by_policy, pelton_wakeup_preempt_entity", make_wakeup, k_wakeup_cfs,
	  run_wakeup, 0, 0 },
	{ "check_preempt_tick", "pelton_check_preempt_tick", make_two, k_tick_cfs, run_tick, 0, 0 },
	{ "update_min_vruntime", "pelton_update_min_vruntime", make_min, k_min_vruntime, run_min, 0, 0 },
	{ "pick_next_entity", "pelton_skip_takes_second", make_two, k_pick_skipped, run_skip, settle_skip, 0 },
	{ 0 },
};
