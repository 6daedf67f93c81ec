// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switches that explain what differs: under which other value, or two, does the core answer what a kernel's code does?
 * Each alone, and pairs of those with which something differs less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define OPS_MAX 200
#define HELPS_MAX 60
#define LIMIT_S 120
/* States of each operation in which a switch must be of help to be tried beside others. */
#define KEPT 12
/* Explanations that are printed. */
#define FOUND_MAX 12

struct change {
	u32 index;
	u32 value;
};

static const struct oracle_op *ops[OPS_MAX];
/* States that differ without a switch. */
static struct oracle_state kept[OPS_MAX][KEPT];
static u32 kept_count[OPS_MAX];
static u32 op_count, helps_count, found_count;
static struct change helps[HELPS_MAX];
static u64 cases, seed;
static struct pelton_policy asked, plain;

/* Number of states that differ: with `keeps` the first few, which are kept, else one is enough. */
static u32 look(u32 op, u32 keeps)
{
	static struct oracle_state in, k, p;
	u64 i, todo = share_of(ops[op], cases), next;
	u32 out = 0;

	rng_seed(seed);
	for (i = 0; i < todo && out < (keeps ? KEPT : 1); i++) {
		memset(&in, 0, sizeof(in));
		ops[op]->make(&in);
		next = rng_next();
		if (case_differs(ops[op], &in, &k, &p)) {
			if (keeps)
				kept[op][out] = in;
			out++;
		}
		rng_seed(next);
	}
	return out;
}

/* Number of the kept states of an operation that differ no more. */
static u32 gained(u32 op)
{
	static struct oracle_state k, p;
	u32 i, out = 0;

	for (i = 0; i < kept_count[op]; i++)
		out += !case_differs(ops[op], &kept[op][i], &k, &p);
	return out;
}

/* Nothing differs any more: the kept states are asked first. */
static u32 explains(void)
{
	u32 i;

	for (i = 0; i < op_count; i++)
		if (gained(i) < kept_count[i])
			return 0;
	for (i = 0; i < op_count; i++)
		if (look(i, 0))
			return 0;
	return 1;
}

/* Some state differs no more. */
static u32 is_of_help(void)
{
	u32 i;

	for (i = 0; i < op_count; i++)
		if (gained(i))
			return 1;
	return 0;
}

static void print_change(const struct change *c)
{
	char name[64];

	printf("{\"switch\":\"%s\",\"value\":\"%s\"}", pelton_switch_table[c->index].name,
	       value_name(c->index, c->value, name, sizeof(name)));
}

static void print_found(const struct change *a, const struct change *b)
{
	printf("{\"switches\":[");
	print_change(a);
	if (b) {
		printf(",");
		print_change(b);
	}
	printf("]}\n");
	found_count++;
}

static u32 set(const struct change *c)
{
	return !pelton_policy_set(&asked, c->index, c->value);
}

static u32 is_possible(void)
{
	u32 first, second;

	return !pelton_policy_check(&asked, &first, &second);
}

static void try_alone(struct change c)
{
	asked = plain;
	if (pelton_policy_get(&plain, c.index) == c.value || !set(&c) || !is_possible())
		return;
	if (explains())
		print_found(&c, 0);
	else if (helps_count < HELPS_MAX && is_of_help())
		helps[helps_count++] = c;
}

static void try_all_alone(void)
{
	struct change c;

	for (c.index = 0; c.index < PELTON_SWITCH_COUNT; c.index++)
		for (c.value = 0; c.value < pelton_switch_value_count(c.index); c.value++)
			try_alone(c);
}

static void try_pairs(void)
{
	u32 i, j;

	for (i = 0; i < helps_count; i++)
		for (j = 0; j < i && found_count < FOUND_MAX; j++) {
			asked = plain;
			if (helps[i].index == helps[j].index || !set(&helps[i]) || !set(&helps[j]) || !is_possible())
				continue;
			if (explains())
				print_found(&helps[j], &helps[i]);
		}
}

int search_switches(u64 case_count, u64 first_seed, char *rules)
{
	struct pelton_policy made_for = oracle_policy;
	char line[256];
	u32 i;

	if (!set_rules(rules))
		return 70;
	asked = plain = oracle_policy;
	oracle_policy = made_for;
	oracle_asked = &asked;
	cases = case_count;
	seed = first_seed;
	trap_forgives = 1;
	alarm(LIMIT_S);
	while (op_count < OPS_MAX && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		ops[op_count++] = find_op(line);
	}
	for (i = 0; i < op_count; i++)
		kept_count[i] = look(i, 1);
	try_all_alone();
	if (!found_count)
		try_pairs();
	return 0;
}
