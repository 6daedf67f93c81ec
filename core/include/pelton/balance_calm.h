/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest domain of a CPU where nothing is to be taken, which shows without a look at any load.
 *
 *   its groups are single CPUs, so a group of at most one task
 *     is not overloaded           tasks <= CPUs
 *     is not imbalanced           nothing is pinned below
 *     is no core of two tasks     no domain is below
 *     has no task for this cache  all of them share it, or no cache is preferred
 *     has no misfit               CPUs are equal, and none has lost capacity
 *   what is left has something to spare or is fully busy with one task: balanced for a busy CPU, and for an idle one
 *
 *   can be calm   balances by types of groups, equal CPUs, not by energy, one cache or none that counts
 *   is calm       no CPU of the domain has two tasks (those of the CPU that becomes idle are not counted); none
 *                 lost a noticeable part of its capacity; no group was said to be kept out of balance
 *
 *   quantity       unit
 *   flags          PELTON_SD_*, of the domain
 *
 * Source: that of balance_group.h (group_classify, update_sd_pick_busiest, sched_balance_find_src_group).
 * Deviations: none; a balance of a calm domain comes to the same, and leaves the same behind.
 */
#ifndef PELTON_BALANCE_CALM_H
#define PELTON_BALANCE_CALM_H

#include "policy.h"
#include "sched_domain.h"

/* Can a count of tasks alone say that the smallest domain of a CPU is balanced? */
PELTON_INLINE u32 pelton_lb_can_be_calm(const struct pelton_policy *pol, u32 flags, u32 energy_aware)
{
	if (pol->balance < PELTON_BALANCE_TYPES || energy_aware || flags & PELTON_SD_ASYM_CPUCAPACITY)
		return 0;
	return flags & PELTON_SD_SHARE_LLC || !pol->cache_aware;
}

#endif
