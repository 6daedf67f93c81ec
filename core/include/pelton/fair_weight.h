/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights of tasks, and real time as the virtual time of a weight.
 *
 *   prio_to_weight[nice + 20]   1024 at nice 0, about a factor of 1.25 per step
 *   prio_to_wmult[nice + 20]    2^32 / weight as the kernel has it: rounded to nearest but in four places, so a table
 *   calc_delta(d, w, W)         d * w / W
 *     multiply (to 6.18)          d * (w * inv(W)) >> 32, the factor cut to its upper 32 bits; inv = the table's or
 *                                 (2^32 - 1) / W of the weight scaled down
 *     divide   (7.2)              d * w / W with the full weights
 *   calc_delta_fair(d, se)      d where the weight is that of nice 0, else calc_delta(d, weight of nice 0, weight)
 *
 * Units: time ns; weight as 64-bit kernels store it, 1024 << 10 at nice 0.
 * Source: Linux 4.12.0, 5.10.262, 6.1.192, 6.12.117 kernel/sched/fair.c (__calc_delta, __update_inv_weight,
 * calc_delta_fair), core.c
 * (sched_prio_to_weight, sched_prio_to_wmult), sched.h (WEIGHT_IDLEPRIO); 7.2.12 fair.c (__calc_delta, both forms).
 * Deviation: a weight of 0 gives 0.
 */
#ifndef PELTON_FAIR_WEIGHT_H
#define PELTON_FAIR_WEIGHT_H

#include "bandwidth.h"
#include "policy.h"

#define PELTON_NICE_LEVELS 40u
#define PELTON_NICE_0_LOAD (1024ull << PELTON_WEIGHT_SHIFT)
#define PELTON_WEIGHT_IDLEPRIO 3u
#define PELTON_WMULT_IDLEPRIO 1431655765u
#define PELTON_WMULT_CONST 0xffffffffu
#define PELTON_WMULT_SHIFT 32u

__attribute__((unused)) static const u32 pelton_prio_to_weight[PELTON_NICE_LEVELS] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, /* -20 */
	9548,  7620,  6100,  4904,  3906,  3121,  2501,  1991,  1586,  1277,  /* -10 */
	1024,  820,   655,   526,   423,   335,   272,   215,   172,   137,   /* 0 */
	110,   87,    70,    56,    45,    36,    29,    23,    18,    15,    /* 10 */
};

__attribute__((unused)) static const u32 pelton_prio_to_wmult[PELTON_NICE_LEVELS] = {
	48388,    59856,    76040,    92818,    118348,   147320,    184698,    229616,    287308,    360437,
	449829,   563644,   704093,   875809,   1099582,  1376151,   1717300,   2157191,   2708050,   3363326,
	4194304,  5237765,  6557202,  8165337,  10153587, 12820798,  15790321,  19976592,  24970740,  31350126,
	39045157, 49367440, 61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153,
};

/* Weight of a task by its nice value + 20; beyond the last level that of SCHED_IDLE. */
PELTON_INLINE u32 pelton_task_weight(u32 level)
{
	return level < PELTON_NICE_LEVELS ? pelton_prio_to_weight[level] : PELTON_WEIGHT_IDLEPRIO;
}

PELTON_INLINE u32 pelton_task_inv_weight(u32 level)
{
	return level < PELTON_NICE_LEVELS ? pelton_prio_to_wmult[level] : PELTON_WMULT_IDLEPRIO;
}

/* 2^32 / weight; `known` where the table has it, 0 where not. */
PELTON_INLINE u32 pelton_inv_weight(u64 weight, u32 known)
{
	u64 w = pelton_scale_load_down(weight);

	if (known)
		return known;
	if (w >= PELTON_WMULT_CONST)
		return 1;
	return w ? PELTON_WMULT_CONST / (u32)w : PELTON_WMULT_CONST;
}

/* Position of the highest bit that is set, from 1; 0 where none is. Halves, since BPF has no instruction for it. */
PELTON_INLINE u32 pelton_fls(u32 v)
{
	u32 fls = 0, half;

	for (half = 16; half; half >>= 1) {
		if (v >> half) {
			v >>= half;
			fls += half;
		}
	}
	return fls + v;
}

/* floor(v * m / 2^shift) modulo 2^64, shift 0 .. 32. */
PELTON_INLINE u64 pelton_mul_u64_u32_shr(u64 v, u32 m, u32 shift)
{
	return (((v & 0xffffffffu) * m) >> shift) + (((v >> 32) * m) << (32u - shift));
}

PELTON_INLINE u64 pelton_calc_delta_multiply(u64 delta, u64 weight, u64 lw_weight, u32 lw_inv)
{
	u64 fact = pelton_scale_load_down(weight);
	u32 shift = PELTON_WMULT_SHIFT, fs = pelton_fls((u32)(fact >> 32));

	shift -= fs;
	fact = (fact >> fs) * pelton_inv_weight(lw_weight, lw_inv);
	fs = pelton_fls((u32)(fact >> 32));
	/* Weights that no kernel has would need a shift to the left. */
	if (fs > shift)
		return 0;
	return pelton_mul_u64_u32_shr(delta, (u32)(fact >> fs), shift - fs);
}

PELTON_INLINE u64 pelton_calc_delta(const struct pelton_policy *pol, u64 delta, u64 weight, u64 lw_weight, u32 lw_inv)
{
	if (!lw_weight)
		return 0;
	if (pol->virtual_time == PELTON_VIRTUAL_TIME_DIVIDE)
		return pelton_div_floor(delta * weight, lw_weight);
	return pelton_calc_delta_multiply(delta, weight, lw_weight, lw_inv);
}

PELTON_INLINE u64 pelton_calc_delta_fair(const struct pelton_policy *pol, u64 delta, u64 weight, u32 inv_weight)
{
	if (weight == PELTON_NICE_0_LOAD)
		return delta;
	return pelton_calc_delta(pol, delta, PELTON_NICE_0_LOAD, weight, inv_weight);
}

#endif
