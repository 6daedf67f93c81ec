/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the search of a balance for the group to take from reads, and what it finds; and what is counted beside that.
 * The reader (crates/live/src/balances.rs) takes the names from these lists, in this order. All words are 64 bits.
 *
 *   by         CPU that does the work           dst, level   CPU it is done for, and which of its domains, from 0
 *   idle       0 busy, 1 idle, 2 newly idle     cpus         that are considered, one bit each
 *   failed, tries, eflags   of the domain and of the balance, as the kernel has them
 *   group      CPUs of the group found, 0 none  imbalance, migration   what is to be moved, in what
 *   src        CPU to take from, -1: it was not looked at             moved   tasks that came
 *   asked      1 when the running task of src was to be stopped      x_        after the search
 */
#ifndef PELTON_LIVE_BALANCE_H
#define PELTON_LIVE_BALANCE_H

#include "place.h"

/* Tasks of a CPU are told apart up to this many. */
#define BALANCE_TASKS_MAX 15u

/* clang-format off */
#define BALANCE_HEAD(X) \
	X(ts0) X(ts1) X(j) X(x_j) X(seq) X(by) X(dst) X(level) X(idle) X(cpus) X(failed) X(tries) X(eflags) X(over) X(x_over) \
	X(group) X(imbalance) X(migration) X(src) X(moved) X(asked) X(ncpu)

/* Who balanced; X(name) in the order of the array. */
#define BALANCE_KINDS(X) X(periodic) X(nohz_idle) X(newidle) X(active)

/* Of each kind: domains balanced, those that had tasks moved, tasks that moved, time in it. */
#define BALANCE_COUNTS(X) X(balances) X(pulls) X(detached) X(spent_ns)
/* clang-format on */

#define BALANCE_KIND(name) BALANCE_KIND_##name,
enum { BALANCE_KINDS(BALANCE_KIND) BALANCE_KINDS_N };

struct balance_head {
	BALANCE_HEAD(PLACE_WORD)
};

/* Each CPU before and after the search. */
struct balance {
	struct balance_head head;
	struct place_cpu cpus[PLACE_CPUS_MAX][2];
};

struct balance_count {
	BALANCE_COUNTS(PLACE_WORD)
};

/* Of one CPU: what it did, and for how long it had how many runnable tasks; `n` and `since_ns` are what is going on. */
struct balance_cpu {
	struct balance_count kinds[BALANCE_KINDS_N];
	u64 asked; /* running tasks that were to be stopped */
	u64 n, since_ns;
	u64 runnable_ns[BALANCE_TASKS_MAX + 1];
};

#endif
