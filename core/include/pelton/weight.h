/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights: in whole units, as averages use them, and with the ten bits more that a 64-bit kernel keeps.
 *
 *   scale_load_down(w)   max(w >> 10, 2), 0 stays 0     a weight as kernels store it, for averages
 *   scale_load(u)        u << 10                        a weight of averages, as they store it
 *   rest                 w - (u << 10)                  0 of a task; of a group's entity, and of a queue, below 1024, and
 *                                                       negative where less than 2 units are stored
 *   queue                w(queue) = sum of w(entity), and only then scaled down
 *
 *   shares 3 in halves on two CPUs: w = 1536, 2 units and a rest of -512; beside nice 0 the queue has 1050112, 1025 units
 *
 * Units: weight 1024 at nice 0, 1024 << 10 as stored.
 * Source: Linux 5.10.262, 6.1.192, 6.12.118, 7.2.12 kernel/sched/sched.h (scale_load, scale_load_down), fair.c
 * (update_load_add, update_load_sub), the same in all four. Deviations: none known.
 */
#ifndef PELTON_WEIGHT_H
#define PELTON_WEIGHT_H

#include "arith.h"

#define PELTON_WEIGHT_SHIFT 10
#define PELTON_WEIGHT_MIN 2u
#define PELTON_MIN_SHARES 2u /* as stored */

PELTON_INLINE u64 pelton_scale_load_down(u64 weight)
{
	return weight ? pelton_max_u64(weight >> PELTON_WEIGHT_SHIFT, PELTON_WEIGHT_MIN) : 0;
}

PELTON_INLINE u64 pelton_scale_load(u64 weight)
{
	return weight << PELTON_WEIGHT_SHIFT;
}

PELTON_INLINE u64 pelton_full_weight(u64 units, s32 rest)
{
	return pelton_scale_load(units) + (u64)(s64)rest;
}

/* Rest of a weight that `units` leave out, as stored. */
PELTON_INLINE s32 pelton_weight_rest(u64 weight, u64 units)
{
	return (s32)(weight - pelton_scale_load(units));
}

PELTON_INLINE u64 pelton_se_full_weight(const struct pelton_se *se)
{
	return pelton_full_weight(se->weight, se->weight_rest);
}

PELTON_INLINE void pelton_set_load(struct pelton_cfs_rq *cfs, u64 weight)
{
	cfs->load_weight = pelton_scale_load_down(weight);
	cfs->weight_rest = pelton_weight_rest(weight, cfs->load_weight);
}

PELTON_INLINE void pelton_update_load_add(struct pelton_cfs_rq *cfs, const struct pelton_se *se)
{
	pelton_set_load(cfs, pelton_full_weight(cfs->load_weight, cfs->weight_rest) + pelton_se_full_weight(se));
}

PELTON_INLINE void pelton_update_load_sub(struct pelton_cfs_rq *cfs, const struct pelton_se *se)
{
	u64 load = pelton_full_weight(cfs->load_weight, cfs->weight_rest);

	pelton_set_load(cfs, pelton_sub_floor(load, pelton_se_full_weight(se)));
}

#endif
