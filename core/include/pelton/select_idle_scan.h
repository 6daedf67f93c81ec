/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walks over CPUs of the search for an idle one: unequal CPUs, threads, a cache group, and the passes up to 5.10.
 *
 *   unequal CPUs      the first idle one that fits, else the best rank (select_idle_cpu.h)
 *   threads           of prev's core, the first that is idle
 *   passes to 5.10    whole cores, CPUs as long as the mean idle time allows, threads of target
 *
 *   quantity   unit   range
 *   left       CPUs   PELTON_SCAN_UNLIMITED: nothing limits the walk
 *
 * Source: Linux 7.2 kernel/sched/fair.c (select_idle_capacity, select_idle_smt, select_idle_cpu); 5.10.262, 5.4 and
 * older (select_idle_core, select_idle_cpu, select_idle_smt). Deviations: those of select_idle.h.
 */
#ifndef PELTON_SELECT_IDLE_SCAN_H
#define PELTON_SELECT_IDLE_SCAN_H

#include "select_idle_cpu.h"

/* Idle CPU of the smallest domain of unequal CPUs around target, PELTON_NO_CPU = none. */
PELTON_INLINE u32 pelton_select_idle_capacity(const struct pelton_policy *pol, const struct pelton_placement *s,
					      struct pelton_placed *out, u32 level, u32 target)
{
	const struct pelton_sched_domain *d = pelton_place_domain(s, target, level);
	const struct pelton_place_cpu *t = pelton_place_cpu_of(s, target);
	u32 limited = pol->capacity_search == PELTON_CAPACITY_SEARCH_CORES;
	u32 by_cores = limited && s->smt && t->has_idle_cores;
	struct pelton_ranked best = { .cpu = PELTON_NO_CPU, .left = PELTON_SCAN_UNLIMITED };
	pelton_walk walk;

	if (limited)
		best.left = pelton_scan_limit(d, t->nr_idle_scan_asym);
	pelton_scan_limited(out, by_cores ? PELTON_SCAN_CORES : PELTON_SCAN_UTILIZATION, best.left);
	if (best.left == 1)
		return PELTON_NO_CPU;
	walk = pelton_walk_from(pelton_span_allowed(s, d->span), target);
	for (; pelton_walk_more(&walk); pelton_walk_step(&walk))
		if (pelton_rank_cpu(pol, s, out, &best, pelton_walk_at(&walk, target), by_cores))
			return best.cpu;
	if (by_cores && best.rank > -3)
		out->no_idle_core = target;
	return best.cpu;
}

/* Idle thread of prev's core. */
PELTON_INLINE u32 pelton_select_idle_smt(const struct pelton_policy *pol, const struct pelton_placement *s,
					 struct pelton_placed *out, pelton_span span, u32 prev)
{
	pelton_cpus cpus = pelton_cpus_and(pelton_span_allowed(s, pelton_place_cpu_of(s, prev)->threads),
					   pelton_span_cpus(s, span));
	pelton_walk walk = pelton_walk_from(pelton_cpus_without(cpus, pelton_cpus_alone(prev)), 0);

	for (; pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		out->scan_seen++;
		if (pelton_choose_idle_cpu(pol, s, pelton_walk_at(&walk, 0)))
			return pelton_walk_at(&walk, 0);
	}
	return PELTON_NO_CPU;
}

PELTON_INLINE u32 pelton_scan_set(const struct pelton_policy *pol, const struct pelton_placement *s,
				  struct pelton_idle_scan *scan, pelton_cpus set, u32 target)
{
	pelton_walk walk = pelton_walk_from(set, target + 1);
	u32 found = PELTON_NO_CPU;

	for (; pelton_walk_more(&walk) && !scan->done; pelton_walk_step(&walk))
		found = pelton_scan_step(pol, s, scan, pelton_walk_at(&walk, target + 1));
	return scan->done ? found : PELTON_NO_CPU;
}

/* First pass: a core all of whose threads are idle. */
PELTON_INLINE u32 pelton_pass_cores(const struct pelton_placement *s, struct pelton_placed *out, pelton_cpus cpus,
				    u32 target)
{
	pelton_walk walk = pelton_walk_from(cpus, target);

	for (; pelton_walk_more(&walk);) {
		u32 cpu = pelton_walk_at(&walk, target);

		out->scan_seen++;
		if (pelton_available_idle_cpu(s, cpu) && pelton_is_core_idle(s, cpu))
			return cpu;
		pelton_walk_step(&walk);
		pelton_walk_skip(&walk, pelton_place_core(s, cpu), target);
	}
	out->no_idle_core = target;
	return PELTON_NO_CPU;
}

/*
 * Second pass: an idle CPU among as many as there is time for. The second choice counts when time is up, not at the
 * end. A pass that is cut short does not count for the mean cost.
 */
PELTON_INLINE u32 pelton_pass_cpus(const struct pelton_policy *pol, const struct pelton_placement *s,
				   struct pelton_placed *out, pelton_span span, u32 target)
{
	s32 nr = pelton_scan_in_proportion(pol, s, span);
	u32 cpu = target, seen = 0, second = PELTON_NO_CPU;
	pelton_cpus cpus =
		pol->idle_search < PELTON_IDLE_SEARCH_PASSES ? pelton_span_cpus(s, span) : pelton_span_allowed(s, span);
	pelton_walk walk;

	if (pelton_place_cpu_of(s, s->this_cpu)->llc_domain >= PELTON_DOMAINS_MAX)
		return PELTON_NO_CPU;
	pelton_scan_limited(out, PELTON_SCAN_PROPORTION, nr);
	for (walk = pelton_walk_from(cpus, target); pelton_walk_more(&walk); pelton_walk_step(&walk)) {
		cpu = pelton_walk_at(&walk, target);
		if (!--nr) {
			out->scan_seen += seen;
			return second;
		}
		seen++;
		if (pelton_place_allowed(s, cpu) && pelton_pass_takes(pol, s, cpu, &second))
			break;
	}
	out->scan_seen += seen;
	out->scan_timed = seen;
	return pelton_walk_more(&walk) ? cpu : PELTON_NO_CPU;
}

/* Third pass: a thread of target's core, target among them. */
PELTON_INLINE u32 pelton_pass_threads(const struct pelton_policy *pol, const struct pelton_placement *s,
				      struct pelton_placed *out, u32 target)
{
	pelton_members m = pelton_members_of(s, pelton_place_cpu_of(s, target)->threads, s->task.allowed);
	u32 second = PELTON_NO_CPU;

	for (; s->smt && pelton_members_more(&m); pelton_members_step(&m)) {
		out->scan_seen++;
		if (pelton_pass_takes(pol, s, pelton_members_at(&m), &second))
			return pelton_members_at(&m);
	}
	return second;
}

#endif
