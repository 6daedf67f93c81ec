// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the core answers in made-up states, as one number for each operation: kept where the kernel's own code answers
 * the same, asked again where no kernel is. Every state comes from its own number, so that neither side's use of random
 * numbers changes the next one.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

/* The first so many states have a number of their own: a quick look. */
#define FEW 1000
#define MANY 20000
/* States for each rule that is not the release's. */
#define OTHER 200

/* What a number of answers stands for. */
struct look {
	u64 few; /* hashes[0] is taken after so many states */
	u64 cases;
	u32 asks_kernel;
	u32 with_terms; /* the terms of an answer belong to it */
	u64 hashes[2];
};

u64 folded(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

/* Continues a hash by a record without gaps. */
u64 record_hash(u64 before, const void *record, size_t size)
{
	const u32 *word = record;
	size_t at;

	for (at = 0; at < size / sizeof(*word); at++)
		before = folded(before, word[at]);
	return before;
}

/* Every field that the core changed, with its place in the list of fields. */
static u64 with_answer(u64 hash, const struct oracle_state *in, const struct oracle_state *out)
{
	u32 i, count = field_count();
	u64 value;

	for (i = 0; i < count; i++) {
		value = field_get(out, i);
		if (value != field_get(in, i))
			hash = folded(folded(hash, i), value);
	}
	return folded(hash, count);
}

static u32 kernel_differs(const struct oracle_op *op, const struct oracle_state *in, struct oracle_state *p)
{
	static struct oracle_state k;

	k = *in;
	op->kernel(&k);
	if (op->settle)
		op->settle(&k, p);
	return first_difference(&k, p) != 0;
}

/* Number of states in which the kernel differs, if it is asked. */
static u64 op_answers(const struct oracle_op *op, struct look *look)
{
	static struct oracle_state in, p;
	u64 i, different = 0, hash = 0;

	for (i = 1; i <= look->cases; i++) {
		memset(&in, 0, sizeof(in));
		rng_seed(i);
		op->make(&in);
		p = in;
		op->run(&p);
		hash = with_answer(hash, &in, &p);
		if (look->with_terms)
			hash = folded(hash, p.terms);
		if (i == look->few)
			look->hashes[0] = hash;
		different += look->asks_kernel && kernel_differs(op, &in, &p);
	}
	look->hashes[1] = hash;
	return different;
}

/* Prints a line of an operation: release, name, the number of FEW states, and that of MANY, or `few` again. */
u64 print_answers(const struct oracle_op *op, const char *release, u32 few)
{
	u64 share = op->share ? op->share : 100, different;
	struct look look = { .few = FEW * share / 100, .cases = (few ? FEW : MANY) * share / 100 };

	look.asks_kernel = !&oracle_alone;
	different = op_answers(op, &look);
	printf("%s\t%s\t%016llx\t%016llx\n", release, op->name, look.hashes[0], look.hashes[1]);
	return different;
}

/* The number of the answers with their terms: in FEW states, or, under another rule, in OTHER. */
u64 own_answers(const struct oracle_op *op, u32 under_other)
{
	struct look look = { .cases = under_other ? OTHER : FEW, .with_terms = 1 };

	op_answers(op, &look);
	return look.hashes[1];
}
