/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search for a CPU of a task that is new or loads another program: from the largest domain down, the group with
 * most to spare, in it the CPU that is idle least deeply, else the least loaded.
 *
 *   a group's type        when, all sums without the task
 *     overloaded          more tasks than CPUs, and capacity * 100 < util * pct or capacity * pct < runnable * 100;
 *                         in 7.2 never here while the kernel is energy-aware
 *     imbalanced          pinned tasks kept a balance from succeeding
 *     misfit              unequal CPUs, and the task fits none of them
 *     has spare           fewer tasks than CPUs, or capacity * 100 > util * pct and not capacity * pct < runnable * 100
 *     fully busy          else
 *
 *   local against best other group, of equal type
 *     overloaded, busy    leave when 100 * local load > pct * other load, and the difference is above pct - 100 %
 *     misfit              leave for larger CPUs
 *     has spare           leave when the other has more idle CPUs; between nodes only when enough tasks differ
 *
 *   quantity         unit       range
 *   util, capacity   capacity   sums over the group
 *   load, runnable   weight, capacity * tasks
 *
 * Source: Linux 7.2 kernel/sched/fair.c (sched_balance_find_dst_cpu, sched_balance_find_dst_group,
 * sched_balance_find_dst_group_cpu, update_sg_wakeup_stats, update_pick_idlest, group_classify, adjust_numa_imbalance);
 * 5.10.262, 6.1.192 and 6.6 the same under the names find_idlest_cpu, find_idlest_group, find_idlest_group_cpu; the
 * last one of 4.12 (find_idlest_cpu), 4.16.13, 4.19 and 5.4. select_group_load.h has how releases up to 5.4 compare
 * groups.
 * Deviations: types of asymmetric packing, busy cores and saturated caches do not occur at this moment.
 */
#ifndef PELTON_SELECT_GROUP_H
#define PELTON_SELECT_GROUP_H

#include "select_group_load.h"

enum {
	PELTON_GROUP_HAS_SPARE,
	PELTON_GROUP_FULLY_BUSY,
	PELTON_GROUP_MISFIT_TASK,
	PELTON_GROUP_SMT_BALANCE, /* in balances only */
	PELTON_GROUP_IMBALANCED,
	PELTON_GROUP_LLC_BALANCE, /* the same, 7.2 */
	PELTON_GROUP_OVERLOADED
};

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

/* More tasks than CPUs, and more to do than the group can; what wakes and what balances ask the same. */
PELTON_INLINE u32 pelton_group_is_overloaded(u32 nr_running, u32 weight, u64 capacity, u64 util, u64 runnable,
					     u32 imbalance_pct)
{
	if (nr_running <= weight)
		return 0;
	return capacity * 100u < util * imbalance_pct || capacity * imbalance_pct < runnable * 100u;
}

/* A CPU for each task, or less to do than the group can. */
PELTON_INLINE u32 pelton_group_has_capacity(u32 nr_running, u32 weight, u64 capacity, u64 util, u64 runnable,
					    u32 imbalance_pct)
{
	if (nr_running < weight)
		return 1;
	return capacity * imbalance_pct >= runnable * 100u && capacity * 100u > util * imbalance_pct;
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

PELTON_INLINE u32 pelton_group_classify(const struct pelton_group_sums *g, u32 imbalance_pct, u32 never_overloaded,
					u32 imbalanced, u32 misfits)
{
	u32 spare;

	if (!never_overloaded &&
	    pelton_group_is_overloaded(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct))
		return PELTON_GROUP_OVERLOADED;
	if (imbalanced)
		return PELTON_GROUP_IMBALANCED;
	if (misfits)
		return PELTON_GROUP_MISFIT_TASK;
	spare = pelton_group_has_capacity(g->nr_running, g->weight, g->capacity, g->util, g->runnable, imbalance_pct);
	return spare ? PELTON_GROUP_HAS_SPARE : PELTON_GROUP_FULLY_BUSY;
}

/* Load relative to capacity counts where there is nothing to spare. */
PELTON_INLINE u64 pelton_group_avg_load(const struct pelton_group_sums *g)
{
	if (g->type != PELTON_GROUP_FULLY_BUSY && g->type != PELTON_GROUP_OVERLOADED)
		return 0;
	return pelton_div_floor(g->load * PELTON_CAPACITY_SCALE, g->capacity);
}

/* The group of `cpu` in domain `d`. */
PELTON_INLINE void pelton_update_sg_wakeup_stats(const struct pelton_policy *pol, const struct pelton_placement *s,
						 const struct pelton_placed *out, const struct pelton_sched_domain *d,
						 u32 cpu, struct pelton_group_sums *g)
{
	struct pelton_group_sums empty = { .load = 0 };
	const struct pelton_sched_domain *record;
	u32 never_overloaded = s->energy_aware && pol->dst_group == PELTON_DST_GROUP_TYPES_ENERGY;
	u32 level;
	pelton_members m;

	*g = empty;
	g->cpus = pelton_group_of(s, cpu, pelton_span_weight(s, d->span), &level);
	m = pelton_group_counted(pol, s, g->cpus);
	for (; pelton_members_more(&m); pelton_members_step(&m))
		pelton_group_add(pol, s, out, g, pelton_members_at(&m));
	record = pelton_span_group(s, g->cpus, cpu, level);
	g->capacity = record->group_capacity;
	g->max_capacity = record->group_max_capacity;
	g->weight = pelton_span_weight(s, g->cpus);
	g->type = pelton_group_classify(g, d->imbalance_pct, never_overloaded, record->group_imbalance,
					pelton_group_misfits(pol, s, out, d, g->cpus));
	g->avg_load = pelton_group_avg_load(g);
}

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

/* Between nodes a few tasks more do not count. */
PELTON_INLINE u32 pelton_adjust_numa_imbalance(u32 imbalance, u32 running, u32 imb_numa_nr)
{
	return running <= imb_numa_nr && imbalance <= 2 ? 0 : imbalance;
}

/* Both have idle CPUs and lie on different nodes: 1 = stay, 2 = leave, 0 = let the number of idle CPUs decide. */
PELTON_INLINE u32 pelton_spare_between_nodes(const struct pelton_policy *pol, const struct pelton_placement *s,
					     const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
					     const struct pelton_group_sums *best)
{
	u32 imb_numa_nr = d->imb_numa_nr, differ;

	if (pelton_span_has(s, local->cpus, s->task.numa_cpu))
		return 1;
	if (pelton_span_has(s, best->cpus, s->task.numa_cpu))
		return 2;
	if (pol->dst_group == PELTON_DST_GROUP_TYPES_NEAR)
		return local->idle_cpus != 0;
	if (!pelton_span_is_all(s, s->task.allowed))
		imb_numa_nr = pelton_min_u32(pelton_cpus_count(pelton_span_allowed(s, local->cpus)), imb_numa_nr);
	differ = local->idle_cpus > best->idle_cpus ? local->idle_cpus - best->idle_cpus
						    : best->idle_cpus - local->idle_cpus;
	return !pelton_adjust_numa_imbalance(differ, local->nr_running + 1, imb_numa_nr);
}

PELTON_INLINE u32 pelton_leaves_for_load(const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
					 const struct pelton_group_sums *best)
{
	u64 margin = PELTON_CAPACITY_SCALE * (d->imbalance_pct - 100u) / 100u;

	if ((d->flags & PELTON_SD_NUMA) && best->avg_load + margin >= local->avg_load)
		return 0;
	return best->avg_load < local->avg_load + margin && 100u * local->avg_load > d->imbalance_pct * best->avg_load;
}

/* Does the task go from the local group to the best other one? What decides is kept in `why`. */
PELTON_INLINE u32 pelton_leaves_group(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_sched_domain *d, const struct pelton_group_sums *local,
				      const struct pelton_group_sums *best, u32 *why)
{
	u32 nodes;

	*why = PELTON_DST_TYPE;
	if (local->type != best->type)
		return local->type > best->type;
	*why = PELTON_DST_LOAD;
	if (local->type == PELTON_GROUP_OVERLOADED || local->type == PELTON_GROUP_FULLY_BUSY)
		return pelton_leaves_for_load(d, local, best);
	*why = PELTON_DST_CAPACITY;
	if (local->type == PELTON_GROUP_MISFIT_TASK)
		return local->max_capacity < best->max_capacity;
	*why = PELTON_DST_EQUALS;
	if (local->type != PELTON_GROUP_HAS_SPARE)
		return 0;
	nodes = d->flags & PELTON_SD_NUMA ? pelton_spare_between_nodes(pol, s, d, local, best) : 0;
	*why = nodes ? PELTON_DST_NODES : PELTON_DST_IDLE_CPUS;
	return nodes ? nodes == 2 : local->idle_cpus < best->idle_cpus;
}

/* Are groups compared by their loads, not by types? */
PELTON_INLINE u32 pelton_dst_group_by_load(const struct pelton_policy *pol)
{
	return pol->dst_group <= PELTON_DST_GROUP_LOAD_EST;
}

/* The group of `of` in a domain of `cpu`, as groups are compared. For callers that report a decision. */
PELTON_INLINE void pelton_dst_group_sums(const struct pelton_policy *pol, const struct pelton_placement *s,
					 const struct pelton_placed *out, u32 cpu, u32 level, u32 of,
					 struct pelton_group_sums *g)
{
	const struct pelton_sched_domain *d = pelton_place_domain(s, cpu, level);

	if (pelton_dst_group_by_load(pol))
		pelton_idlest_sums(pol, s, out, d, of, g);
	else
		pelton_update_sg_wakeup_stats(pol, s, out, d, of, g);
}

/* CPUs of the group to go to; 0 = the task stays in the group of `cpu`. */
PELTON_INLINE pelton_span pelton_find_dst_group(const struct pelton_policy *pol, const struct pelton_placement *s,
						struct pelton_placed *out, const struct pelton_sched_domain *d, u32 cpu)
{
	struct pelton_group_sums empty = { .load = 0 };
	pelton_walk walk = pelton_walk_from(pelton_span_cpus(s, d->span), cpu);

	if (pelton_dst_group_by_load(pol))
		return pelton_find_idlest_group(pol, s, out, d, cpu);
	out->local = empty;
	out->idlest = empty;
	for (; pelton_walk_more(&walk);) {
		u32 first = pelton_walk_at(&walk, cpu);

		pelton_update_sg_wakeup_stats(pol, s, out, d, first, &out->group);
		pelton_walk_leave(s, &walk, out->group.cpus, cpu);
		if (!pelton_span_meets(s, out->group.cpus, s->task.allowed))
			continue;
		if (pelton_span_has(s, out->group.cpus, cpu))
			out->local = out->group;
		else if (pelton_update_pick_idlest(&out->idlest, &out->group))
			out->idlest = out->group;
	}
	out->dst_why = PELTON_DST_NO_OTHER;
	if (!pelton_span_any(out->idlest.cpus))
		return PELTON_SPAN_NONE;
	out->dst_why = PELTON_DST_NO_OWN;
	if (pelton_span_any(out->local.cpus) &&
	    !pelton_leaves_group(pol, s, d, &out->local, &out->idlest, &out->dst_why))
		return PELTON_SPAN_NONE;
	return out->idlest.cpus;
}

/* A CPU that is not idle has less load than the least so far; 4.12: or as much, and is the one that asks. */
PELTON_INLINE u32 pelton_loaded_less(const struct pelton_policy *pol, u64 load, u64 least, u32 is_asking)
{
	return load < least || (load == least && is_asking && pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG);
}

/*
 * Shallowest idle CPU of a group, among equals the one that went idle last; else the least loaded. One that runs
 * SCHED_IDLE tasks only is taken at once, in 5.4 when none is idle.
 */
PELTON_INLINE u32 pelton_find_dst_group_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
					    pelton_span group, u32 cpu)
{
	pelton_members m;
	u64 stamp = 0, least = ~0ull;
	u32 idle = PELTON_NO_CPU, second = PELTON_NO_CPU, latency = 0xffffffffu, loaded = cpu;

	if (pelton_span_weight(s, group) == 1)
		return pelton_span_first(s, group);
	m = pelton_members_of(s, group, s->task.allowed);
	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		u32 i = pelton_members_at(&m);
		const struct pelton_place_cpu *c = pelton_place_cpu_of(s, i);
		u32 unknown = c->exit_latency_ns == PELTON_NO_IDLE_STATE;

		if (pelton_choose_sched_idle(pol, s, i)) {
			if (pol->dst_group != PELTON_DST_GROUP_LOAD_EST)
				return i;
			second = second == PELTON_NO_CPU ? i : second;
		} else if (!pelton_available_idle_cpu(s, i)) {
			if (second == PELTON_NO_CPU && pelton_loaded_less(pol, c->load, least, i == cpu)) {
				least = c->load;
				loaded = i;
			}
		} else if (!unknown && c->exit_latency_ns < latency) {
			latency = c->exit_latency_ns;
			stamp = c->idle_stamp_ns;
			idle = i;
		} else if ((unknown || c->exit_latency_ns == latency) && c->idle_stamp_ns > stamp) {
			stamp = c->idle_stamp_ns;
			idle = i;
		}
	}
	loaded = second != PELTON_NO_CPU ? second : loaded;
	return idle != PELTON_NO_CPU ? idle : loaded;
}

/* Highest domain of a CPU that is smaller than `weight` and has the flag; PELTON_NO_DOMAIN = none. */
PELTON_INLINE u32 pelton_domain_below(const struct pelton_placement *s, u32 cpu, u32 weight, u32 flag)
{
	u32 i, found = PELTON_NO_DOMAIN, levels = pelton_place_levels(s, cpu);

	for (i = 0; i < levels; i++) {
		const struct pelton_sched_domain *d = pelton_place_domain(s, cpu, i);

		if (pelton_span_weight(s, d->span) >= weight)
			break;
		if (d->flags & flag)
			found = i;
	}
	return found;
}

/*
 * Updates the task's signals, which room is compared with; not in 4.12. 1 = it may use CPUs of the domain.
 * 4.16 does the former before it asks the latter.
 */
PELTON_INLINE u32 pelton_find_dst_begin(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, pelton_span span)
{
	u32 any = pelton_span_meets(s, span, s->task.allowed);

	if (!(s->flags & PELTON_WF_FORK) && pol->dst_group != PELTON_DST_GROUP_LOAD_ORIG &&
	    (any || pol->dst_group == PELTON_DST_GROUP_LOAD))
		pelton_sync_entity_load_avg(pol, s, out);
	return any;
}

/* Where the way down from a domain has come to. */
struct pelton_dst_walk {
	u32 cpu;
	u32 level; /* PELTON_NO_DOMAIN: it ends */
	u32 result;
	u32 compared;        /* the last step compared the groups of its domain */
	pelton_span stepped; /* that domain's CPUs */
	pelton_span group;   /* the group that it went to; none: it stayed */
};

/* Begins in a domain of `cpu`; 0 = the task may use none of its CPUs. */
PELTON_INLINE u32 pelton_find_dst_start(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, u32 cpu, u32 level, struct pelton_dst_walk *w)
{
	w->cpu = cpu;
	w->level = level;
	w->result = pol->dst_group == PELTON_DST_GROUP_LOAD_ORIG ? s->prev_cpu : cpu;
	w->compared = 0;
	w->stepped = pelton_place_domain(s, cpu, level)->span;
	w->group = PELTON_SPAN_NONE;
	return pelton_find_dst_begin(pol, s, out, w->stepped);
}

/* One domain down. */
PELTON_INLINE void pelton_find_dst_step(const struct pelton_policy *pol, const struct pelton_placement *s,
					struct pelton_placed *out, struct pelton_dst_walk *w)
{
	u32 next, flag = s->flags & PELTON_WF_KIND;
	const struct pelton_sched_domain *d = pelton_place_domain(s, w->cpu, w->level);

	w->compared = (d->flags & flag) != 0;
	w->stepped = d->span;
	w->group = PELTON_SPAN_NONE;
	if (w->compared)
		w->group = pelton_find_dst_group(pol, s, out, d, w->cpu);
	next = pelton_span_any(w->group) ? pelton_find_dst_group_cpu(pol, s, w->group, w->cpu) : w->cpu;
	if (pelton_span_any(w->group))
		w->result = next;
	if (next == w->cpu) {
		w->level = w->level ? w->level - 1 : PELTON_NO_DOMAIN;
		return;
	}
	w->cpu = next;
	w->level = pelton_domain_below(s, w->cpu, pelton_span_weight(s, d->span), flag);
}

/* From a domain of `cpu` down to one CPU. */
PELTON_INLINE u32 pelton_find_dst_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, u32 cpu, u32 level)
{
	struct pelton_dst_walk w;
	u32 rounds;

	if (!pelton_find_dst_start(pol, s, out, cpu, level, &w))
		return s->prev_cpu;
	for (rounds = 0; rounds < 2u * PELTON_DOMAINS_MAX && w.level < PELTON_DOMAINS_MAX; rounds++)
		pelton_find_dst_step(pol, s, out, &w);
	return w.result;
}

#endif
