/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the search for an idle CPU asks of one CPU, and by what the search is limited.
 *
 *   unequal CPUs, best first      core idle              a thread of its core is busy
 *     fits                        taken at once          -2
 *     floor lost                  -4                     -1
 *     does not fit                -3                      0       among equals the largest capacity
 *
 *   quantity       unit       range
 *   nr_idle_scan   CPUs       PELTON_NO_LIMIT: this domain keeps no such number
 *
 * Source: Linux 7.2 kernel/sched/fair.c (select_idle_capacity, select_idle_core, asym_fits_cpu); 5.10.262 and older
 * (select_idle_cpu). Deviations: those of select_idle.h.
 */
#ifndef PELTON_SELECT_IDLE_CPU_H
#define PELTON_SELECT_IDLE_CPU_H

#include "feec.h"

/* State that the scan of a cache group carries along. */
struct pelton_idle_scan {
	pelton_cpus cpus; /* not yet ruled out */
	u32 thread;       /* an idle thread of a core that is not */
	u32 by_cores;     /* whole cores are looked for */
	s32 left;         /* CPUs that may still be looked at */
	u32 seen;         /* CPUs or cores that were */
	u32 done;
};

/* On a machine with unequal CPUs: does the task fit, and is the core its own? */
PELTON_INLINE u32 pelton_asym_fits_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				       const struct pelton_placed *out, u32 cpu)
{
	u32 whole_core = s->smt && pol->capacity_search == PELTON_CAPACITY_SEARCH_CORES;

	if (!s->asymmetric || pol->capacity_search == PELTON_CAPACITY_SEARCH_OFF)
		return 1;
	return (!whole_core || pelton_is_core_idle(s, cpu)) && pelton_task_fits(pol, s, out, cpu) > 0;
}

/* Rank of an idle CPU of an unequal machine; lower is better, 1 = take it. */
PELTON_INLINE s32 pelton_capacity_rank(s32 fits, u32 core_idle)
{
	if (fits > 0)
		return core_idle ? 1 : -2;
	return core_idle ? fits - 3 : fits;
}

/* Capacity by which CPUs of equal rank are compared. */
PELTON_INLINE u32 pelton_ranked_capacity(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
					 s32 fits)
{
	const struct pelton_place_cpu *c = pelton_place_cpu_of(s, cpu);

	if (fits >= 0)
		return c->capacity;
	if (pol->energy_aware == PELTON_ENERGY_AWARE_ACTUAL)
		return pelton_actual_capacity(pol, s, cpu);
	return pelton_sub_floor_u32(c->state.cap_orig, c->hw_pressure);
}

/* Best CPU that the scan of unequal CPUs has found. */
struct pelton_ranked {
	u32 cpu;
	u32 capacity;
	s32 rank;
	s32 left; /* CPUs that may still be looked at */
};

/* Looks at one CPU; 1 = the scan ends with what was found. */
PELTON_INLINE u32 pelton_rank_cpu(const struct pelton_policy *pol, const struct pelton_placement *s,
				  struct pelton_placed *out, struct pelton_ranked *best, u32 cpu, u32 by_cores)
{
	s32 fits, rank;
	u32 capacity;

	if (!by_cores && --best->left <= 0)
		return 1;
	out->scan_seen++;
	if (!pelton_choose_idle_cpu(pol, s, cpu))
		return 0;
	fits = pelton_task_fits(pol, s, out, cpu);
	rank = pelton_capacity_rank(fits, !by_cores || pelton_is_core_idle(s, cpu));
	capacity = pelton_ranked_capacity(pol, s, cpu, fits);
	if (rank > 0 || rank < best->rank || (rank == best->rank && capacity > best->capacity)) {
		best->cpu = cpu;
		best->capacity = capacity;
		best->rank = rank;
	}
	return rank > 0;
}

/* Is the CPU's whole core idle? If not, remembers an idle thread of it. */
PELTON_INLINE u32 pelton_select_idle_core(const struct pelton_policy *pol, const struct pelton_placement *s,
					  struct pelton_idle_scan *scan, u32 cpu)
{
	pelton_members m = pelton_members_core(s, cpu);
	u32 idle = 1;

	for (; pelton_members_more(&m); pelton_members_step(&m)) {
		u32 thread = pelton_members_at(&m);
		u32 free = pelton_cpus_has(scan->cpus, thread);

		if (!pelton_available_idle_cpu(s, thread)) {
			idle = 0;
			if (scan->thread != PELTON_NO_CPU)
				break;
			if (free && pelton_choose_sched_idle(pol, s, thread)) {
				scan->thread = thread;
				break;
			}
		} else if (scan->thread == PELTON_NO_CPU && free) {
			scan->thread = thread;
		}
	}
	if (!idle)
		scan->cpus = pelton_cpus_without(scan->cpus, pelton_place_core(s, cpu));
	return idle ? cpu : PELTON_NO_CPU;
}

/* Looks at one CPU; `scan->done` ends the search with what is returned. */
PELTON_INLINE u32 pelton_scan_step(const struct pelton_policy *pol, const struct pelton_placement *s,
				   struct pelton_idle_scan *scan, u32 cpu)
{
	u32 core;

	if (scan->by_cores) {
		if (!pelton_cpus_has(scan->cpus, cpu))
			return PELTON_NO_CPU;
		scan->seen++;
		core = pelton_select_idle_core(pol, s, scan, cpu);
		scan->done = core != PELTON_NO_CPU;
		return core;
	}
	if (--scan->left <= 0) {
		scan->done = 1;
		return PELTON_NO_CPU;
	}
	scan->seen++;
	scan->done = pelton_choose_idle_cpu(pol, s, cpu);
	return scan->done ? cpu : PELTON_NO_CPU;
}

/* 2 and 4: an idle CPU near target that the task has been on. Beyond the cluster it is only remembered in `beyond`. */
PELTON_INLINE u32 pelton_select_known(const struct pelton_policy *pol, const struct pelton_placement *s,
				      const struct pelton_placed *out, u32 cpu, u32 target, u32 *beyond)
{
	if (!pelton_cpus_share_cache(s, cpu, target) || !pelton_choose_idle_cpu(pol, s, cpu) ||
	    !pelton_asym_fits_cpu(pol, s, out, cpu))
		return 0;
	if (pol->idle_search != PELTON_IDLE_SEARCH_CLUSTERS || !s->clusters ||
	    pelton_cpus_share_resources(s, cpu, target))
		return 1;
	*beyond = cpu;
	return 0;
}

/* 3: the kernel thread that woke it is about to sleep. */
PELTON_INLINE u32 pelton_select_beside_kthread(const struct pelton_policy *pol, const struct pelton_placement *s,
					       const struct pelton_placed *out)
{
	return pol->idle_search >= PELTON_IDLE_SEARCH_PASSES && s->waker.pinned_kthread && s->prev_cpu == s->this_cpu &&
	       pelton_place_cpu_of(s, s->this_cpu)->nr_running <= 1 && pelton_asym_fits_cpu(pol, s, out, s->prev_cpu);
}

/* Would the task run on a CPU at once? 5.4 keeps the first that runs SCHED_IDLE tasks only as a second choice. */
PELTON_INLINE u32 pelton_pass_takes(const struct pelton_policy *pol, const struct pelton_placement *s, u32 cpu,
				    u32 *second)
{
	if (pol->idle_search != PELTON_IDLE_SEARCH_SECOND)
		return pelton_choose_idle_cpu(pol, s, cpu);
	if (*second == PELTON_NO_CPU && pelton_choose_sched_idle(pol, s, cpu))
		*second = cpu;
	return pelton_available_idle_cpu(s, cpu);
}

/* As many CPUs as there are. */
#define PELTON_SCAN_UNLIMITED 0x7fffffff

/* Number of CPUs that a scan looks at, and one. */
PELTON_INLINE s32 pelton_scan_limit(const struct pelton_sched_domain *d, u32 nr_idle_scan)
{
	if (!d->has_shared || nr_idle_scan == PELTON_NO_LIMIT)
		return PELTON_SCAN_UNLIMITED;
	return (s32)pelton_min_u32(nr_idle_scan, PELTON_SCAN_UNLIMITED - 1u) + 1;
}

/* Keeps by what a search is limited, and to how many CPUs; `left`: one more than that. */
PELTON_INLINE void pelton_scan_limited(struct pelton_placed *out, u32 rule, s32 left)
{
	out->scan_rule = left == PELTON_SCAN_UNLIMITED ? (u32)PELTON_SCAN_ALL : rule;
	out->scan_limit = left == PELTON_SCAN_UNLIMITED ? PELTON_NO_LIMIT : (u32)left - 1u;
}

/* To 5.10: how many CPUs the second pass looks at, from the mean idle time and the mean cost of a scan; 4.12: all. */
PELTON_INLINE s32 pelton_scan_in_proportion(const struct pelton_policy *pol, const struct pelton_placement *s,
					    pelton_span span)
{
	u64 cost = s->avg_scan_cost_ns + 1;
	u64 idle = pelton_span_weight(s, span) * (s->avg_idle_ns / 512u);

	if (pol->idle_search == PELTON_IDLE_SEARCH_ALL)
		return PELTON_SCAN_UNLIMITED;
	if (idle <= 4u * cost)
		return 4;
	return (s32)pelton_min_u64(pelton_div_floor(idle, cost), PELTON_SCAN_UNLIMITED);
}

/* Mean time of a CPU's searches after one of `ns`: an eighth of the difference is taken over, towards 0. */
PELTON_INLINE u64 pelton_update_scan_cost(u64 avg, u64 ns)
{
	return avg + (u64)((s64)(ns - avg) / 8);
}

/* Span of the largest domain of a CPU that is smaller than one with `weight` CPUs; the CPU alone when there is none. */
PELTON_INLINE pelton_span pelton_group_of(const struct pelton_placement *s, u32 cpu, u32 weight, u32 *level)
{
	u32 i, levels = pelton_place_levels(s, cpu);
	pelton_span span = pelton_span_alone(cpu);

	for (i = 0; i < levels; i++) {
		pelton_span of = pelton_place_domain(s, cpu, i)->span;

		if (pelton_span_weight(s, of) >= weight)
			break;
		span = of;
	}
	*level = i;
	return span;
}

#endif
