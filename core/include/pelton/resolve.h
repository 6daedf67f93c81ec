/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frequency of a table that serves a target, within limits. Apart from schedutil.h, so that a host may have it as a
 * function of its own.
 *
 *   resolve    lowest entry >= target; above all entries the highest; one that a faster one makes needless only where the
 *              limits leave nothing else
 *
 *   quantity          unit    range
 *   table, limits     kHz     31 bits, ascending
 *
 * Source: drivers/cpufreq/cpufreq.c (cpufreq_driver_resolve_freq) of the releases that schedutil.h names;
 * CPUFREQ_RELATION_LE read in 6.1, not in 5.10.262. Deviations: none known.
 */
#ifndef PELTON_RESOLVE_H
#define PELTON_RESOLVE_H

#include "arith.h"
#include "bounds.h"

/*
 * Mark of a table entry that a faster one makes needless (pelton_em_state.inefficient): it is chosen only where the
 * limits leave nothing else (CPUFREQ_RELATION_LE, read in 6.1, not in 5.10.262).
 */
#define PELTON_KHZ_INEFFICIENT 0x80000000u

PELTON_INLINE u32 pelton_khz_entry(u32 khz)
{
	return khz & ~PELTON_KHZ_INEFFICIENT;
}

/* Lowest unmarked entry at or above `target`, else the highest; 0 where all are marked. */
PELTON_INLINE u32 pelton_sugov_efficient(const u32 *khz, u32 n, u32 target)
{
	u32 best = 0, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX && best < target; i++)
		if (!(khz[i] & PELTON_KHZ_INEFFICIENT))
			best = khz[i];
	return best;
}

/* Lowest table frequency at or above `raw` within the limits; `khz` ascends. A driver without table gets `raw`. */
PELTON_INLINE u32 pelton_sugov_resolve(const struct pelton_sugov_policy *sp, const u32 *khz, u32 n, u32 raw)
{
	u32 target = pelton_clamp_u32(raw, sp->min_khz, sp->max_khz);
	u32 enough = pelton_min_u32(target, sp->max_khz);
	u32 best = pelton_sugov_efficient(khz, n, enough), i;

	if (best && best >= sp->min_khz && best <= sp->max_khz)
		return best;
	best = target;
	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		u32 entry = pelton_khz_entry(khz[i]);

		if (entry >= enough) {
			if (entry <= sp->max_khz || !i)
				best = entry;
			break;
		}
		best = entry;
	}
	return best;
}

#endif
