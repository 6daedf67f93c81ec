// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One operation, answered by a kernel's code and by the core under rules of choice: in how many states they differ, and
 * the smallest of those, as a line of JSON. A first line has a state as it was found: what is made simpler may crash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

/* States that are made simple, of which the smallest is shown. */
#define KEPT 6
/* Time for all states, which is at least 2000 a second, and then for the simpler ones, seconds. */
#define LIMIT_S 30
#define CASES_A_SECOND 2000
#define SHRINK_LIMIT_S 30

/* Findings about an operation. */
struct found {
	u64 cases;
	u64 differ;
	unsigned long warned;
	u32 kept;
	struct oracle_state states[KEPT];
};

static u32 is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return 1;
	return 0;
}

/* Notes of a comparison beside the question, and answers. */
static u32 is_note(const char *name)
{
	static const char *const names[] = { "now", "irq", "ret", "aux", "aux2", 0 };

	return is_among(name, names) || !strncmp(name, "se.", 3);
}

/* A field that describes a case; on a machine that is held also what both sides made of its seeds. */
static u32 is_shown(u32 i, u32 on_machine, const struct oracle_state *in, const struct oracle_state *k,
		    const struct oracle_state *p)
{
	u64 value = field_get(in, i);

	if (!on_machine)
		return value != 0;
	if (is_note(field_name(i)) || field_get(k, i) != field_get(p, i))
		return 0;
	/* A weight that stayed is a seed. */
	return field_get(p, i) && (strcmp(field_name(i), "weight") || field_get(p, i) != value);
}

static void print_fields(u32 on_machine, const struct oracle_state *in, const struct oracle_state *k,
			 const struct oracle_state *p)
{
	u32 i, follows = 0;

	for (i = 0; i < field_count(); i++) {
		if (!is_shown(i, on_machine, in, k, p))
			continue;
		printf("%s{\"name\":\"%s\",\"value\":%lld}", follows ? "," : "", field_name(i),
		       (s64)field_get(on_machine ? p : in, i));
		follows = 1;
	}
}

static void print_answers_of(const struct oracle_state *k, const struct oracle_state *p)
{
	u32 i, follows = 0;

	for (i = 0; i < field_count(); i++) {
		if (field_get(k, i) == field_get(p, i))
			continue;
		printf("%s{\"name\":\"%s\",\"kernel\":%lld,\"core\":%lld}", follows ? "," : "", field_name(i),
		       (s64)field_get(k, i), (s64)field_get(p, i));
		follows = 1;
	}
}

/* Line of an operation; `in`: a state that differs, on the machine that is held if there is one. */
static void print_found(const struct oracle_op *op, const struct found *f, const struct oracle_state *in)
{
	static struct oracle_state k, p;

	printf("{\"operation\":\"%s\",\"cases\":%llu,\"differ\":%llu,\"warnings\":%lu,\"state\":", op->name, f->cases,
	       f->differ, f->warned);
	if (!in) {
		printf("null}\n");
		return;
	}
	case_differs(op, in, &k, &p);
	printf("{\"fields\":[");
	print_fields(machine_size() != 0, in, &k, &p);
	printf("],\"answers\":[");
	print_answers_of(&k, &p);
	printf("],\"machine\":");
	machine_print();
	printf("}}\n");
}

static void find(const struct oracle_op *op, u64 cases, u64 seed, struct found *f)
{
	static struct oracle_state in, k, p;
	unsigned long warned = oracle_warnings;

	rng_seed(seed);
	for (f->cases = 0; f->cases < cases; f->cases++) {
		u64 next;

		memset(&in, 0, sizeof(in));
		op->make(&in);
		/* Sides may draw numbers; the next state does not depend on theirs. */
		next = rng_next();
		if (case_differs(op, &in, &k, &p)) {
			if (f->kept < KEPT)
				f->states[f->kept++] = in;
			f->differ++;
		}
		rng_seed(next);
	}
	f->warned = oracle_warnings - warned;
}

static u64 fields_set(const struct oracle_state *in)
{
	u64 out = 0;
	u32 i;

	for (i = 0; i < field_count(); i++)
		out += field_get(in, i) != 0;
	return out;
}

/* Makes a state simple, and says how large it still is. */
static u64 simple(const struct oracle_op *op, struct oracle_state *in)
{
	if (machine_hold(op, in))
		machine_shrink(op, in);
	minimise(op, in);
	return machine_size() + (in->events ? in->events : fields_set(in));
}

/* Prints the smallest of the states that were kept. The machine of the last one is held while it is printed. */
static void print_smallest(const struct oracle_op *op, struct found *f)
{
	static struct oracle_state state;
	u64 size, least = ~0ull;
	u32 i, smallest = 0;

	for (i = 0; i < f->kept; i++) {
		state = f->states[i];
		size = simple(op, &state);
		if (size < least) {
			least = size;
			smallest = i;
		}
	}
	state = f->states[smallest];
	simple(op, &state);
	print_found(op, f, &state);
}

int diff_op(const struct oracle_op *op, u64 cases, u64 seed, char *rules)
{
	static struct found found;
	struct pelton_policy made_for = oracle_policy;
	static struct pelton_policy asked;

	if (!op->kernel || !set_rules(rules))
		return 70;
	asked = oracle_policy;
	oracle_policy = made_for;
	oracle_asked = &asked;
	alarm(LIMIT_S + (unsigned int)(cases / CASES_A_SECOND));
	find(op, share_of(op, cases), seed, &found);
	print_found(op, &found, found.kept ? &found.states[0] : 0);
	fflush(stdout);
	if (!found.kept)
		return 0;
	trap_forgives = 1;
	alarm(SHRINK_LIMIT_S);
	print_smallest(op, &found);
	return 1;
}
