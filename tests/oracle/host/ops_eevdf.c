// SPDX-License-Identifier: GPL-2.0-or-later
/* EEVDF: average, lag, requests, protection, choice. */
#include "fair.h"

static void make_queue(struct oracle_state *s)
{
	a_fair_queue(&s->fair, (u32)below(2), 0);
}

static void run_avg(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	u32 i;

	for (i = 0; i < ORACLE_FAIR_MAX; i++)
		s->aux |= (u64)pelton_entity_eligible(&oracle_policy, &f->rq, fair_running(f), &f->se[i]) << i;
	s->ret = (u64)pelton_avg_vruntime(&oracle_policy, &f->rq, fair_running(f));
}

/* The waiting entity with the earliest deadline among those that may be picked; -1 = none. */
static s32 earliest(const struct oracle_fair *f)
{
	const struct pelton_fair_se *curr = fair_running(f);
	s32 best = -1;
	u32 i;

	for (i = 0; i < f->n; i++) {
		u32 may = f->rq.nr_queued == 1 || pelton_entity_eligible(&oracle_policy, &f->rq, curr, &f->se[i]);

		if ((s32)i != f->curr && may && (best < 0 || pelton_entity_before(&f->se[i], &f->se[best])))
			best = (s32)i;
	}
	return best;
}

/* The search, by the core's decisions. */
static s32 search(const struct oracle_fair *f, u32 protect)
{
	const struct pelton_fair_se *curr = fair_running(f);
	s32 best;

	if (pelton_keeps_curr(&oracle_policy, &f->rq, curr, protect))
		return f->curr;
	best = earliest(f);
	if (!curr || !pelton_entity_eligible(&oracle_policy, &f->rq, curr, curr))
		return best;
	return best < 0 || pelton_picks_curr(&oracle_policy, curr, &f->se[best]) ? f->curr : best;
}

static void make_pick(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->flags = oracle_version < 618 || chance(50);
	a_fair_queue(f, 1, 0);
	if (f->curr >= 0 && f->n > 1 && chance(20))
		f->se[f->curr].deadline = f->se[((u32)f->curr + 1) % f->n].deadline;
	fair_distinct(f);
}

static void run_pick(struct oracle_state *s)
{
	s->ret = (u64)(search(&s->fair, s->flags) + 1);
}

static void make_place(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se *se = &f->se[ORACLE_FAIR_NEW];

	s->flags = (u32)below(2);
	a_fair_queue(f, 0, 0);
	se->rel_deadline = chance(30);
	if (se->rel_deadline)
		se->deadline = (s64)below(6000000) - 1000000;
	if (chance(20))
		se->vlag = 0;
	if (f->n && chance(10)) {
		f->n = 0;
		f->curr = -1;
		fair_sums(f);
	}
}

static void run_place(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	pelton_place_entity(&oracle_policy, &f->tun, &f->rq, fair_running(f), &f->se[ORACLE_FAIR_NEW], s->flags);
}

static void make_running(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 1, 1);
}

static void run_deadline(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->ret = pelton_update_deadline(&oracle_policy, &f->tun, &f->rq, fair_running(f), &f->se[f->curr]);
}

/* An entity that leaves; one whose dequeue was delayed owes. */
static void make_leaver(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	a_fair_queue(f, 1, 0);
	s->cpu = (u32)below(f->n);
	f->se[s->cpu].delayed = chance(40);
	if (f->se[s->cpu].delayed && f->se[s->cpu].vlag > 0)
		f->se[s->cpu].vlag = -f->se[s->cpu].vlag;
}

static void run_lag(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->ret = pelton_update_entity_lag(&oracle_policy, &f->tun, &f->rq, fair_running(f), &f->se[s->cpu]);
	if (oracle_version < 700)
		s->ret = 0;
}

static void make_reweight(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se heavy = { 0 };

	a_fair_queue(f, 1, 0);
	a_fair_weight(&heavy);
	s->cpu = chance(20) ? ORACLE_FAIR_NEW : (u32)below(f->n);
	f->se[ORACLE_FAIR_NEW].rel_deadline = chance(50);
	s->weight = heavy.weight;
}

static void run_reweight(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	pelton_reweight_entity_fair(&oracle_policy, &f->tun, &f->rq, fair_running(f), &f->se[s->cpu], s->weight, 0);
}

/* The inverse is worked out when it is needed. */
static void settle_reweight(struct oracle_state *k, struct oracle_state *p)
{
	p->fair.se[k->cpu].inv_weight = k->fair.se[k->cpu].inv_weight;
}

/* A task whose dequeue was delayed is woken. */
static void make_requeue(struct oracle_state *s)
{
	make_leaver(s);
	s->fair.se[s->cpu].delayed = 1;
	if (s->fair.se[s->cpu].vlag > 0)
		s->fair.se[s->cpu].vlag = -s->fair.se[s->cpu].vlag;
}

static void place_anew(struct oracle_fair *f, struct pelton_fair_se *se, u32 waits)
{
	f->rq.nr_queued--;
	if (waits)
		pelton_avg_vruntime_sub(&oracle_policy, &f->rq, se);
	pelton_place_entity(&oracle_policy, &f->tun, &f->rq, fair_running(f), se, 0);
	if (waits)
		pelton_avg_vruntime_add(&oracle_policy, &f->rq, se);
	f->rq.nr_queued++;
}

static void run_requeue(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se *se = &f->se[s->cpu];

	if (pelton_requeue_delayed(&oracle_policy, &f->tun, &f->rq, fair_running(f), se))
		place_anew(f, se, (s32)s->cpu != f->curr);
	se->delayed = 0;
}

static void run_yield(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	pelton_yield_entity(&oracle_policy, &f->tun, &f->rq, &f->se[f->curr]);
}

static void make_yield(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 2, 1);
}

static void make_ran(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 1, 1);
	s->now = 1 + below(chance(50) ? 100000 : 8000000);
}

static void run_curr(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se *se = &f->se[f->curr];
	u32 renewed;

	pelton_update_curr(&oracle_policy, se, s->now);
	renewed = pelton_update_deadline(&oracle_policy, &f->tun, &f->rq, se, se);
	s->ret = pelton_curr_gives_way(&oracle_policy, &f->rq, se, renewed);
}

static void make_protect(struct oracle_state *s)
{
	a_fair_queue(&s->fair, 0, 0);
	s->fair.curr = -1;
	fair_sums(&s->fair);
}

static void run_protect(struct oracle_state *s)
{
	pelton_set_protect_slice(&oracle_policy, &s->fair.rq, &s->fair.se[ORACLE_FAIR_NEW]);
}

static void make_wakeup(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;

	s->flags = chance(20);
	a_fair_queue(f, 2, 1);
	fair_distinct(f);
	if (f->n < 2 || f->curr < 0) {
		a_fair_queue(f, 2, 1);
		f->n = 2;
		f->curr = (s32)below(2);
		fair_sums(f);
	}
	s->cpu = ((u32)f->curr + 1 + (u32)below(f->n - 1)) % f->n;
	an_idle_meeting(s);
}

static void run_wakeup(struct oracle_state *s)
{
	struct oracle_fair *f = &s->fair;
	struct pelton_fair_se *curr = &f->se[f->curr], *se = &f->se[s->cpu];
	u32 by_policy = idle_meeting(s), passes;

	if (by_policy == PELTON_PREEMPT_YES) {
		s->ret = 1;
		if (pelton_idle_unprotected(&oracle_policy))
			pelton_cancel_protect_slice(&oracle_policy, curr);
		return;
	}
	passes = pelton_preempt_short(&oracle_policy, &f->rq, curr, se);
	if (by_policy == PELTON_PREEMPT_NO || !pelton_wakee_may_preempt(&oracle_policy, se, passes, s->flags))
		return;
	if (passes && !pelton_protects_slice(&oracle_policy))
		pelton_cancel_protect_slice(&oracle_policy, curr);
	s->ret = search(f, !passes) == (s32)s->cpu;
	if (!s->ret)
		pelton_wakee_waits(&oracle_policy, &f->rq, curr, passes);
	else if (passes)
		pelton_cancel_protect_slice(&oracle_policy, curr);
}

const struct oracle_op ops_eevdf[] = {
	{ "avg_vruntime, entity_eligible", "pelton_avg_vruntime, pelton_entity_eligible", make_queue, k_avg_vruntime,
	  run_avg, 0, 0 },
	{ "pick_eevdf", "pelton_keeps_curr, pelton_picks_curr", make_pick, k_pick_eevdf, run_pick, 0, 0 },
	{ "place_entity", "pelton_place_entity", make_place, k_place_eevdf, run_place, 0, 0 },
	{ "update_deadline", "pelton_update_deadline", make_running, k_update_deadline, run_deadline, 0, 0 },
	{ "update_entity_lag", "pelton_update_entity_lag", make_leaver, k_entity_lag, run_lag, 0, 0 },
	{ "reweight_entity (EEVDF)", "pelton_reweight_entity_fair", make_reweight, k_reweight_eevdf, run_reweight,
	  settle_reweight, 0 },
	{ "requeue_delayed_entity", "pelton_requeue_delayed", make_requeue, k_requeue, run_requeue, 0, 0 },
	{ "yield_task_fair", "pelton_yield_entity", make_yield, k_yield, run_yield, 0, 0 },
	{ "update_curr", "pelton_update_curr", make_ran, k_update_curr, run_curr, 0, 0 },
	{ "set_protect_slice", "pelton_set_protect_slice", make_protect, k_set_protect, run_protect, 0, 0 },
	{ "wakeup_preempt_fair", "pelton_preempt_short, pelton_wakee_may_preempt", make_wakeup, k_wakeup_eevdf,
	  run_wakeup, 0, 0 },
	{ 0 },
};
