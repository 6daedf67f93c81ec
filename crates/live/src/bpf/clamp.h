/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a decision about clamps reads, and what comes out: the record that clamp.bpf.c fills. The reader
 * (crates/live/src/clamps.rs) takes the names from this list, in this order; they are the columns of the table.
 *
 * order     number of the record among those of its runqueue
 * req_      clamps that the task asks for            val_, bkt_, act_  in force, their bucket, counted
 * g_, gr_   of its group: in force, asked for        u_                in force of the group above
 * d_        the system's                             v_, n_, b_        runqueue: clamp; tasks and value of a bucket
 * t_        what a performance target reads          o_                what it comes to
 * changed   something that was read changed meanwhile; of a task, it was on its way between two groups
 * All words are 64 bits.
 */
#ifndef PELTON_LIVE_CLAMP_H
#define PELTON_LIVE_CLAMP_H

#define CLAMP_CPUS_MAX 64u

enum { CLAMP_ENQUEUE = 1, CLAMP_DEQUEUE, CLAMP_UPDATE, CLAMP_UTIL, CLAMP_PERF };

/* clang-format off */
#define CLAMP_WORDS(X) \
	X(ts) X(kind) X(cpu) X(order) X(flags) X(used) X(updating) X(buckets) X(pid) X(rt) X(delayed) \
	X(req_min) X(req_max) X(val_min) X(val_max) X(bkt_min) X(bkt_max) X(act_min) X(act_max) \
	X(in_group) X(g_min) X(g_max) X(gr_min) X(gr_max) X(u_min) X(u_max) X(d_min) X(d_max) \
	X(v_min) X(v_max) X(idle) \
	X(n_min0) X(n_min1) X(n_min2) X(n_min3) X(n_min4) X(n_max0) X(n_max1) X(n_max2) X(n_max3) X(n_max4) \
	X(b_min0) X(b_min1) X(b_min2) X(b_min3) X(b_min4) X(b_max0) X(b_max1) X(b_max2) X(b_max3) X(b_max4) \
	X(t_util) X(t_scale) X(t_irq) X(t_rt) X(t_dl) X(t_dl_bw) X(t_rt_nr) X(t_min) X(t_max) X(changed) \
	X(o_util) X(o_min) X(o_max)
/* clang-format on */

#define CLAMP_WORD(name) u64 name;

struct clamp {
	CLAMP_WORDS(CLAMP_WORD)
};

/* What the recorder reads at the end: records that had no room. */
struct clamp_globals {
	u64 lost;
};

#endif
