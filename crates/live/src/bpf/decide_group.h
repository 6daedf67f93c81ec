/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the way down through the groups asks of a CPU and of a group, and what a wake-up asks first, each a function.
 */
#ifndef PELTON_LIVE_DECIDE_GROUP_H
#define PELTON_LIVE_DECIDE_GROUP_H

#include "decide_idle.h"

#include "pelton/select_group_cpu.h"

APART u32 apart_misfits(const struct pelton_sched_domain *d, u64 cpus)
{
	return d ? pelton_group_misfits(POLICY, RECORD, PLACED, d, cpus) : 0;
}
#define pelton_group_misfits(pol, s, out, d, cpus) apart_misfits(d, cpus)

APART u32 apart_add(u32 cpu)
{
	pelton_group_add(POLICY, RECORD, PLACED, &PLACED->group, cpu);
	return 0;
}
#define pelton_group_add(pol, s, out, g, cpu) ((void)apart_add(cpu))

APART u32 apart_spare(u32 cpu)
{
	return pelton_capacity_spare(POLICY, RECORD, PLACED, cpu);
}
#define pelton_capacity_spare(pol, s, out, cpu) apart_spare(cpu)

#include "pelton/select_group_sums.h"

APART u32 apart_loads(const struct pelton_sched_domain *d, u32 cpu)
{
	if (d)
		pelton_idlest_sums(POLICY, RECORD, PLACED, d, cpu, &PLACED->group);
	return 0;
}
#define pelton_idlest_sums(pol, s, out, d, cpu, g) ((void)apart_loads(d, cpu))

APART u32 apart_sums(const struct pelton_sched_domain *d, u32 cpu)
{
	if (d)
		pelton_update_sg_wakeup_stats(POLICY, RECORD, PLACED, d, cpu, &PLACED->group);
	return 0;
}
#define pelton_update_sg_wakeup_stats(pol, s, out, d, cpu, g) ((void)apart_sums(d, cpu))

#include "pelton/select_group_look.h"

APART u32 apart_idlest_look(struct pelton_idlest *best)
{
	if (best)
		pelton_idlest_look(best, PLACED, &PLACED->group);
	return 0;
}
#define pelton_idlest_look(best, out, g) ((void)apart_idlest_look(best))

APART u32 apart_group_look(u32 cpu)
{
	pelton_dst_group_look(RECORD, PLACED, cpu);
	return 0;
}
#define pelton_dst_group_look(s, out, cpu) ((void)apart_group_look(cpu))

APART u32 apart_dst_look(struct pelton_dst_cpu *best, u32 asking, u32 cpu)
{
	return best ? pelton_dst_cpu_look(POLICY, RECORD, best, asking, cpu) : 1;
}
#define pelton_dst_cpu_look(pol, s, best, asking, cpu) apart_dst_look(best, asking, cpu)

#include "pelton/select_group_load.h"

APART u64 apart_idlest(const struct pelton_sched_domain *d, u32 cpu)
{
	return d ? pelton_find_idlest_group(POLICY, RECORD, PLACED, d, cpu) : 0;
}
#define pelton_find_idlest_group(pol, s, out, d, cpu) apart_idlest(d, cpu)

#include "pelton/select_group_types.h"

APART u64 apart_group(const struct pelton_sched_domain *d, u32 cpu)
{
	return d ? pelton_find_dst_group(POLICY, RECORD, PLACED, d, cpu) : 0;
}
#define pelton_find_dst_group(pol, s, out, d, cpu) apart_group(d, cpu)

APART u32 apart_group_cpu(u64 group, u32 cpu)
{
	return pelton_find_dst_group_cpu(POLICY, RECORD, group, cpu);
}
#define pelton_find_dst_group_cpu(pol, s, group, cpu) apart_group_cpu(group, cpu)

#include "pelton/select_group_step.h"

APART u32 apart_step(struct pelton_dst_walk *w)
{
	if (w)
		pelton_find_dst_step(POLICY, RECORD, PLACED, w);
	return 0;
}
#define pelton_find_dst_step(pol, s, out, w) ((void)apart_step(w))

#include "pelton/select_group.h"

APART u32 apart_dst_cpu(u32 cpu, u32 level)
{
	return pelton_find_dst_cpu(POLICY, RECORD, PLACED, cpu, level);
}
#define pelton_find_dst_cpu(pol, s, out, cpu, level) apart_dst_cpu(cpu, level)

#include "pelton/select_wake.h"

APART u32 apart_wake_cap(void)
{
	return pelton_wake_cap(POLICY, RECORD, PLACED);
}
#define pelton_wake_cap(pol, s, out) apart_wake_cap()

APART u32 apart_target(u32 affine, u32 sync, u32 *level)
{
	return level ? pelton_select_target(POLICY, RECORD, PLACED, affine, sync, level) : 0;
}
#define pelton_select_target(pol, s, out, affine, sync, level) apart_target(affine, sync, level)

#include "pelton/select.h"

#endif
