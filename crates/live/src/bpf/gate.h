/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What decides whether a CPU searches at all before it goes idle, or at its periodic balance: the record that
 * gate_programs.h fills. The reader (crates/live/src/gates.rs) takes the names from these lists, in this order. All
 * words are 64 bits.
 *
 *   kind      0 about to go idle, 1 the balance of all domains       by, cpu  who does the work, and for whom
 *   idle      0 busy, 1 idle, 2 newly idle                          pending  a task was woken to it and is not queued yet
 *   over      some CPU has two tasks                                h_nr, nr fair tasks that can run, tasks of all classes
 *   only_idle it has tasks of SCHED_IDLE alone                      avg_idle, max_cost, next, stamp   as the runqueue has them
 *   s1 .. s4  generator of random numbers of the CPU                ran      domains that were balanced, one bit each
 *   goes_on   the last balance lets larger domains be looked at     ret      tasks came, or were there (newly idle)
 *   x_        afterwards
 *
 * Of each domain (GATE_LEVEL): last, interval, failed, cost (max_newidle_lb_cost), decayed (last_decay_max_lb_cost),
 * ratio, calls, hits, since (newidle_ratio, _call, _success, _stamp), and of the balance of it that took place: began,
 * spent; moved tasks; goes_on; idle CPUs, one bit each, when it began and when it was over; tasks and woken ones of the
 * CPU then; group found, flags and kind of migration when nothing could be moved (failing: 1), and whether the running
 * task was to be stopped.
 */
#ifndef PELTON_LIVE_GATE_H
#define PELTON_LIVE_GATE_H

#include "place.h"

/* clang-format off */
#define GATE_HEAD(X) \
	X(ts0) X(ts1) X(j) X(x_j) X(seq) X(kind) X(by) X(cpu) X(idle) X(pending) X(over) X(x_over) X(h_nr) X(x_h_nr) X(nr) X(only_idle) \
	X(avg_idle) X(max_cost) X(x_max_cost) X(next) X(x_next) X(stamp) X(x_stamp) X(s1) X(s2) X(s3) X(s4) X(x_s1) X(x_s2) X(x_s3) \
	X(x_s4) X(ran) X(goes_on) X(ret) X(levels)

#define GATE_LEVEL(X) \
	X(last) X(x_last) X(interval) X(x_interval) X(failed) X(x_failed) X(cost) X(x_cost) X(decayed) X(x_decayed) X(ratio) X(x_ratio) \
	X(calls) X(x_calls) X(hits) X(x_hits) X(since) X(x_since) X(began) X(spent) X(moved) X(b_goes_on) X(idle_cpus) X(x_idle_cpus) X(dst_nr) \
	X(dst_pending) X(group) X(failing) X(flags) X(migration) X(asked)
/* clang-format on */

struct gate_head {
	GATE_HEAD(PLACE_WORD)
};

struct gate_level {
	GATE_LEVEL(PLACE_WORD)
};

struct gate {
	struct gate_head head;
	struct gate_level level[PLACE_LEVELS_MAX];
};

#endif
