/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one CPU counts for in the sums of its group, without the task that is placed.
 *
 *   load, util, runnable   the CPU's less the task's, where the task is counted there
 *   room (to 5.4)          capacity - utilization without the task
 *
 *   quantity         unit       range
 *   util, capacity   capacity   0 .. 1024
 *   load             weight     0 .. 88761 * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (update_sg_wakeup_stats); 4.12 to 5.4 (capacity_spare_wake,
 * capacity_spare_without). Deviations: those of select_group.h.
 */
#ifndef PELTON_SELECT_GROUP_CPU_H
#define PELTON_SELECT_GROUP_CPU_H

#include "select_idle.h"

/* Is the task counted on this CPU? */
PELTON_INLINE u32 pelton_task_counts_on(const struct pelton_placement *s, const struct pelton_placed *out, u32 cpu)
{
	return s->task.cpu == cpu && out->se.avg.last_update_time_ns;
}

/* Room of a CPU without the task: in what is left of it, in 4.12 in all of it. */
PELTON_INLINE u32 pelton_capacity_spare(const struct pelton_policy *pol, const struct pelton_placement *s,
					const struct pelton_placed *out, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 capacity = pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG ? c->state.cap_orig : c->capacity;

	return pelton_sub_floor_u32(capacity,
				    pelton_cpu_util_without(pol, s, out, cpu, pelton_task_counts_on(s, out, cpu)));
}

/* Adds one CPU, without the task. */
PELTON_INLINE void pelton_group_add(const struct pelton_policy *pol, const struct pelton_placement *s,
				    const struct pelton_placed *out, struct pelton_group_sums *g, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);
	u32 here = pelton_task_counts_on(s, out, cpu);
	u32 running = c->nr_running - (here && s->task.on_rq && c->nr_running);

	g->load += here ? pelton_sub_floor(c->load, pelton_place_h_load(s, out)) : c->load;
	g->util += pelton_cpu_util_without(pol, s, out, cpu, here);
	if (pol->runnable_signal == PELTON_RUNNABLE_ON)
		g->runnable += here ? pelton_sub_floor(c->state.runnable_cfs, out->se.avg.runnable_avg)
				    : c->state.runnable_cfs;
	g->nr_running += running;
	if (!running && (c->curr_idle || c->curr_is_task) && !c->ttwu_pending)
		g->idle_cpus++;
}

/* CPUs of a group that are summed. */
PELTON_INLINE pelton_members pelton_group_counted(const struct pelton_policy *pol, const struct pelton_placement *s,
						  pelton_span cpus)
{
	u32 allowed = pol->dst_group_cpus == PELTON_DST_GROUP_CPUS_ALLOWED;

	return pelton_members_of(s, cpus, allowed ? s->task.allowed : cpus);
}

/* Does the task fit no allowed CPU of the group? Asked on domains of unequal CPUs only. */
PELTON_INLINE u32 pelton_group_misfits(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_placed *out, const struct pelton_sched_domain *d,
				       pelton_span cpus)
{
	pelton_members m;

	if (!(d->flags & PELTON_SD_ASYM_CPUCAPACITY))
		return 0;
	m = pelton_group_counted(pol, s, cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		if (pelton_task_fits(pol, s, out, pelton_members_at(&m)) > 0)
			return 0;
	return 1;
}

#endif
