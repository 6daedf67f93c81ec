// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the cases of an operation, and makes the first one that differs simple. */
#include <string.h>

#include "host.h"

struct pelton_policy oracle_policy;
u32 oracle_version;
const struct pelton_policy *oracle_asked;

struct pelton_ctx ctx_at(u64 now, u32 cap)
{
	struct pelton_ctx ctx = { &oracle_policy, now, cap, PELTON_CAPACITY_SCALE };

	return ctx;
}

static struct pelton_policy made_for;
static u32 is_swapped;

/* Rules that states are made for. */
const struct pelton_policy *oracle_made_for(void)
{
	return is_swapped ? &made_for : &oracle_policy;
}

/* The core's side of a case. Returns 0 when it divided by zero. */
static u32 core_run(const struct oracle_op *op, struct oracle_state *p)
{
	u32 done;

	if (!oracle_asked)
		return trap_run(op->run, p);
	made_for = oracle_policy;
	oracle_policy = *oracle_asked;
	is_swapped = 1;
	done = trap_run(op->run, p);
	is_swapped = 0;
	oracle_policy = made_for;
	return done;
}

/* Number of the first field that differs after both sides got the same state. */
u32 case_differs(const struct oracle_op *op, const struct oracle_state *in, struct oracle_state *k,
		 struct oracle_state *p)
{
	*k = *in;
	*p = *in;
	if (!trap_run(op->kernel, k) || !core_run(op, p))
		return 0;
	if (op->settle)
		op->settle(k, p);
	return first_difference(k, p);
}

/* Number of cases that differ; `first` gets the first of them. */
u64 op_run(const struct oracle_op *op, u64 cases, u64 seed, struct oracle_state *first)
{
	static struct oracle_state in, k, p;
	u64 i, different = 0;

	rng_seed(seed);
	for (i = 0; i < cases; i++) {
		memset(&in, 0, sizeof(in));
		op->make(&in);
		k = in;
		p = in;
		op->kernel(&k);
		op->run(&p);
		if (op->settle)
			op->settle(&k, &p);
		if (!first_difference(&k, &p))
			continue;
		if (!different++)
			*first = in;
	}
	return different;
}

/* Does an operation differ when one switch of the core has a wrong value? States are made as for the right one. */
u32 op_notices(const struct oracle_op *op, u64 cases, u64 seed, u32 index, u32 value)
{
	static struct oracle_state in, k, p;
	struct pelton_policy right = oracle_policy, wrong = oracle_policy;
	u32 noticed = 0;
	u64 i;

	if (pelton_policy_set(&wrong, index, value))
		return 0;
	rng_seed(seed);
	for (i = 0; i < cases && !noticed; i++) {
		memset(&in, 0, sizeof(in));
		op->make(&in);
		k = in;
		p = in;
		op->kernel(&k);
		oracle_policy = wrong;
		op->run(&p);
		oracle_policy = right;
		if (op->settle)
			op->settle(&k, &p);
		noticed = first_difference(&k, &p) != 0;
	}
	return noticed;
}

/* A life is a sequence of events: the shortest beginning of it that differs. */
static void shorten(const struct oracle_op *op, struct oracle_state *in)
{
	static struct oracle_state k, p;
	u32 events = in->events;

	for (in->events = 1; in->events < events; in->events++)
		if (case_differs(op, in, &k, &p))
			return;
}

/* Fields that no kernel has small, and those that decide what the case is. */
static u32 may_become(u32 i, u64 v, u32 round)
{
	const char *name = field_name(i);

	if (strstr(name, "weight_rest"))
		return !v;
	if (strstr(name, "weight") || strstr(name, "shares"))
		return v >= 2;
	if (strstr(name, "last_update") || strstr(name, "clock_") || !strcmp(name, "now"))
		return round > 0;
	if (strstr(name, "cap_orig") || strstr(name, "freq_scale") || !strcmp(name, "cap") || strstr(name, "count") ||
	    strstr(name, "nr_cpus") || strstr(name, "capacity") || strstr(name, "_khz") || strstr(name, "em["))
		return v > 0;
	return 1;
}

/* A queued entity is part of its queue, clamps are in order. */
static u32 is_possible(const struct oracle_state *s)
{
	if (s->se.on_rq && s->q.avg.last_update_time_ns && s->q.load_weight < s->se.weight)
		return 0;
	if (s->lowest > s->highest && s->highest)
		return 0;
	return s->cs[0].uclamp_min <= s->cs[0].uclamp_max || !s->cs[0].cap_orig;
}

/* Greedy: every field to 0, then halved, while the same output differs. */
void minimise(const struct oracle_op *op, struct oracle_state *in)
{
	static struct oracle_state k, p, tried;
	u32 what = case_differs(op, in, &k, &p), round, i;

	if (in->events) {
		shorten(op, in);
		return;
	}
	for (round = 0; round < 12; round++) {
		for (i = 0; i < field_count(); i++) {
			u64 v = field_get(in, i), smaller = round ? v / 2 : 0;

			if (!v || !may_become(i, smaller, round))
				continue;
			tried = *in;
			field_set(&tried, i, smaller);
			if (is_possible(&tried) && case_differs(op, &tried, &k, &p) == what)
				*in = tried;
		}
	}
}
