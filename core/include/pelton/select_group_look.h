/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One more group, or one more CPU of the chosen group: is it better than the best so far?
 *
 *   groups   a lower type; of equals less load, larger CPUs, or more idle CPUs and then less utilization
 *   CPUs     idle: the shallowest state, of equals the one that became idle last; else the least loaded
 *
 *   quantity   unit       range
 *   load       weight     0 .. 88761 * tasks
 *   latency    ns         PELTON_NO_IDLE_STATE: not in an idle state
 *
 * Source: Linux 7.2 kernel/sched/fair.c (update_pick_idlest, sched_balance_find_dst_group_cpu); 4.12 to 5.4
 * (find_idlest_group, find_idlest_cpu). Deviations: those of select_group.h.
 */
#ifndef PELTON_SELECT_GROUP_LOOK_H
#define PELTON_SELECT_GROUP_LOOK_H

#include "select_group_sums.h"

/* Is `g` a better place than the best one so far? Without a best one it must be better than the worst. */
PELTON_INLINE u32 pelton_update_pick_idlest(const struct pelton_group_sums *best, const struct pelton_group_sums *g)
{
	u32 known = pelton_span_any(best->cpus), type = known ? best->type : (u32)PELTON_GROUP_OVERLOADED;

	if (g->type != type)
		return g->type < type;
	if (type == PELTON_GROUP_OVERLOADED || type == PELTON_GROUP_FULLY_BUSY)
		return (known ? best->avg_load : 0xffffffffull) > g->avg_load;
	if (type == PELTON_GROUP_MISFIT_TASK)
		return best->max_capacity < g->max_capacity;
	if (type == PELTON_GROUP_HAS_SPARE)
		return g->idle_cpus > best->idle_cpus || (g->idle_cpus == best->idle_cpus && best->util > g->util);
	return 0;
}

/* Takes the group that was summed up last as the local one, which has `cpu`, or as the best other one so far. */
PELTON_INLINE void pelton_dst_group_look(const struct pelton_placement *s, struct pelton_placed *out, u32 cpu)
{
	if (!pelton_span_meets(s, out->group.cpus, s->task.allowed))
		return;
	if (pelton_span_has(s, out->group.cpus, cpu))
		out->local = out->group;
	else if (pelton_update_pick_idlest(&out->idlest, &out->group))
		out->idlest = out->group;
}

/* A CPU that is not idle has less load than the least so far; 4.12: or as much, and is the one that asks. */
PELTON_INLINE u32 pelton_loaded_less(const struct pelton_policy *pol, u64 load, u64 least, u32 is_asking)
{
	return load < least || (load == least && is_asking && pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG);
}

/* The CPU of a group so far. */
struct pelton_dst_cpu {
	u64 stamp; /* when the idle one became idle */
	u64 least; /* load of the loaded one */
	u32 idle;
	u32 second; /* runs SCHED_IDLE tasks only */
	u32 latency;
	u32 loaded;
};

/* Looks at one that is idle: the shallowest state wins, among equals the one that became idle last. */
PELTON_INLINE void pelton_dst_cpu_idle(struct pelton_dst_cpu *best, const struct pelton_place_cpu *c, u32 cpu)
{
	u32 unknown = c->exit_latency_ns == PELTON_NO_IDLE_STATE;

	if (!unknown && c->exit_latency_ns < best->latency)
		best->latency = c->exit_latency_ns;
	else if (!(unknown || c->exit_latency_ns == best->latency) || c->idle_stamp_ns <= best->stamp)
		return;
	best->stamp = c->idle_stamp_ns;
	best->idle = cpu;
}

/* Looks at one CPU; 1 = it is taken at once. `asking`: the CPU that looks for another. */
PELTON_INLINE u32 pelton_dst_cpu_look(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_dst_cpu *best, u32 asking, u32 cpu)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (pelton_choose_sched_idle(pol, s, cpu)) {
		if (pol->dst_group != PELTON_DST_GROUP_LOAD_EST)
			return 1;
		best->second = best->second == PELTON_NO_CPU ? cpu : best->second;
	} else if (pelton_available_idle_cpu(s, cpu)) {
		pelton_dst_cpu_idle(best, c, cpu);
	} else if (best->second == PELTON_NO_CPU && pelton_loaded_less(pol, c->load, best->least, cpu == asking)) {
		best->least = c->load;
		best->loaded = cpu;
	}
	return 0;
}

/* State that the walk over the groups carries along. */
struct pelton_idlest {
	u64 min_runnable;
	u64 min_load;
	u64 most_spare;
	pelton_span idlest; /* CPUs of the idlest group, and of the one with most room; none = no group */
	pelton_span roomiest;
	u64 margin; /* m, weight */
	u64 scale;  /* k, percent */
};

/* Is another group idler than those before, or has more room? */
PELTON_INLINE void pelton_idlest_look(struct pelton_idlest *best, struct pelton_placed *out,
				      const struct pelton_group_sums *g)
{
	u32 less = best->min_runnable > g->runnable + best->margin;
	u32 close = g->runnable < best->min_runnable + best->margin && 100u * best->min_load > best->scale * g->load;

	if (less)
		best->min_runnable = g->runnable;
	if (less || close) {
		best->min_load = g->load;
		best->idlest = g->cpus;
		out->idlest = *g;
	}
	if (best->most_spare < g->max_spare) {
		best->most_spare = g->max_spare;
		best->roomiest = g->cpus;
	}
}

#endif
