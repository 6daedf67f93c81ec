/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy core behind one function, so that one suite can run over every build of it: native at two optimization
 * levels, with the undefined-behaviour sanitizer, 32-bit, and as BPF bytecode.
 *
 *   words[0]        opcode
 *   words[1..7]     arguments; a record is named by the index of its first word, 0 = no record
 *   words[8..]      state, changed in place
 *
 * The entry function comes first in the object: the bytecode interpreter starts at instruction 0. A program in bytecode
 * has the operations of one list only (-DPELTON_TEST_HAS=PELTON_TEST_PELT), because jumps in the interpreter reach
 * 32,767 instructions.
 */
#include "canary.h"
#include "pelton.h"
#include "ops.h"

#ifdef __bpf__
#define TEST_OP static __attribute__((noinline, unused)) u64
#else
#define TEST_OP static u64
#endif

#ifndef PELTON_TEST_HAS
#define PELTON_TEST_HAS PELTON_TEST_OPS
#endif

#define PELTON_TEST_DECLARE(name, function) TEST_OP function(u64 *w);
PELTON_TEST_OPS(PELTON_TEST_DECLARE)

enum {
#define PELTON_TEST_NUMBER(name, function) OP_##name,
	PELTON_TEST_OPS(PELTON_TEST_NUMBER)
};

/* Runs the operation in words[0]. Returns its result, or all ones for an opcode that is not in this program. */
u64 pelton_test_entry(u64 *words)
{
	switch (words[0]) {
#define PELTON_TEST_CASE(name, function) \
	case OP_##name: \
		return function(words);
		PELTON_TEST_HAS(PELTON_TEST_CASE)
	}
	return ~0ull;
}

static inline __attribute__((always_inline)) void *record(u64 *w, u64 index)
{
	return index ? w + index : 0;
}

#define POLICY ((const struct pelton_policy *)(w + PELTON_TEST_POLICY_WORD))
#define RQ(i) ((struct pelton_rq *)record(w, w[i]))
#define CFS(i) ((struct pelton_cfs_rq *)record(w, w[i]))
#define SE(i) ((struct pelton_se *)record(w, w[i]))
#define AVG(i) ((struct pelton_avg *)record(w, w[i]))
#define TG(i) ((struct pelton_tg *)record(w, w[i]))

/* The policy always sits at the start of the state. */
#define PELTON_TEST_POLICY_WORD 8

#include "entry_pelt.h"
#include "entry_rq.h"
#include "entry_governor.h"
#include "entry_fair.h"
#include "entry_idle.h"
#include "entry_place.h"
#include "entry_deadline.h"
#include "entry_knob.h"
#include "entry_interactive.h"
#include "entry_clamps.h"
#include "entry_clamps_max.h"
#include "entry_bandwidth.h"
#include "entry_newidle.h"
#include "entry_cache.h"
