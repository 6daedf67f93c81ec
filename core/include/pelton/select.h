/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a fair task goes when it wakes, is new, or loads another program.
 *
 *   wakes    asked for the waker's CPU                               -> that one
 *            energy-aware, nothing over-utilized                     -> feec.h
 *            waker and wakee may meet: the first domain that spans both CPUs decides between this CPU and prev
 *                                                                    -> an idle CPU near that one (select_idle.h)
 *   new, program   the largest domain with the flag                  -> down through the groups (select_group.h)
 *
 *   waker's partners  +1 with each other task that it wakes, halved each second
 *
 *   to 5.4: a task for which the smaller of the two CPUs is too small (wake_cap)      -> its last CPU (to 4.19), or
 *           down through the groups as a new one (5.4)
 *
 * Source: Linux 7.2 kernel/sched/fair.c (select_task_rq_fair, record_wakee, wake_wide, wake_affine, wake_affine_idle,
 * wake_affine_weight); 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18 the same; 4.12, 4.16.13, 4.19, 5.4 with wake_cap.
 * Deviations: what a fork or a program's start does to the task's signals is the host's.
 */
#ifndef PELTON_SELECT_H
#define PELTON_SELECT_H

#include "select_wake.h"

/* Changes of partner of the waker, this wake-up included. */
PELTON_INLINE u32 pelton_record_wakee(const struct pelton_place_waker *w)
{
	u32 flips = w->flips_expired ? w->wakee_flips >> 1 : w->wakee_flips;

	return w->same_wakee ? flips : flips + 1;
}

/* 4.12: the task's load once wake_cap has been asked. What groups make of that load is worked out from it. */
PELTON_INLINE u64 pelton_wake_cap_load(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_placed *out)
{
	out->se = s->task.se;
	out->uclamp_value = s->task.uclamp_value;
	pelton_wake_cap(pol, s, out);
	return out->se.avg.load_avg;
}

/* Is the waker about to sleep? To 4.16 one that ends is, too. */
PELTON_INLINE u32 pelton_waker_sleeps(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	u32 exits = s->waker.exiting && pol->wake_affine >= PELTON_WAKE_AFFINE_RUNNABLE_LESS;

	return (s->flags & PELTON_WF_SYNC) && !exits;
}

/* Rule of the event that led to the search through the groups. */
PELTON_INLINE u32 pelton_how_searched(const struct pelton_placement *s)
{
	if (s->flags & PELTON_WF_TTWU)
		return PELTON_HOW_WAKE;
	return s->flags & PELTON_WF_FORK ? PELTON_HOW_FORK : PELTON_HOW_EXEC;
}

/* First part of a wake-up, before any domain is looked at; 1 = out->cpu is chosen. */
PELTON_INLINE u32 pelton_select_wakeup(const struct pelton_policy *pol, const struct pelton_placement *s,
				       struct pelton_placed *out)
{
	u32 llc_size = pelton_place_cpu_of(s, s->this_cpu)->llc_size;

	out->waker_flips = pelton_record_wakee(&s->waker);
	if ((s->flags & PELTON_WF_CURRENT_CPU) && pelton_place_allowed(s, s->this_cpu)) {
		pelton_placed_at(out, s->this_cpu, PELTON_HOW_CURRENT_CPU);
		return 1;
	}
	if (s->energy_aware && !s->overutilized && pelton_find_energy_efficient_cpu(pol, s, out))
		return 1;
	out->wide = pelton_wake_wide(out->waker_flips, s->task.wakee_flips, llc_size);
	out->small = !out->wide && pelton_wake_cap(pol, s, out);
	return 0;
}

PELTON_INLINE void pelton_placed_start(const struct pelton_placement *s, struct pelton_placed *out)
{
	out->se = s->task.se;
	out->uclamp_value = s->task.uclamp_value;
	out->cpu = s->prev_cpu;
	out->how = PELTON_HOW_NONE;
	out->affine = PELTON_AFFINE_NOT_ASKED;
	out->wide = 0;
	out->small = 0;
	out->target = PELTON_NO_CPU;
	out->weighed = PELTON_WEIGHED_NOT;
	out->this_eff = 0;
	out->prev_eff = 0;
	out->scan_rule = PELTON_SCAN_NONE;
	out->scan_limit = PELTON_NO_LIMIT;
	out->scan_seen = 0;
	out->scan_timed = PELTON_NO_LIMIT;
	out->dst_why = PELTON_DST_NONE;
	out->dst_level = PELTON_NO_DOMAIN;
	out->recent_cpu = s->task.recent_cpu;
	out->waker_flips = s->waker.wakee_flips;
	out->no_idle_core = PELTON_NO_CPU;
	out->waker_recent = 0;
	out->nr_energies = 0;
}

/* The CPU for the task; why and what is to be remembered in `out`. */
PELTON_INLINE u32 pelton_select_task_rq_fair(const struct pelton_policy *pol, const struct pelton_placement *s,
					     struct pelton_placed *out)
{
	u32 wakes = s->flags & PELTON_WF_TTWU;
	u32 sync = pelton_waker_sleeps(pol, s);
	u32 target, level, affine;

	pelton_placed_start(s, out);
	if (wakes && pelton_select_wakeup(pol, s, out))
		return out->cpu;
	affine = wakes && !out->wide && !out->small && pelton_place_allowed(s, s->this_cpu);
	target = pelton_select_target(pol, s, out, affine, sync, &level);
	out->dst_level = level;
	out->target = wakes ? target : PELTON_NO_CPU;
	if (level != PELTON_NO_DOMAIN)
		return pelton_placed_at(out, pelton_find_dst_cpu(pol, s, out, s->this_cpu, level),
					pelton_how_searched(s));
	if (wakes) {
		out->waker_recent = affine && pol->idle_search <= PELTON_IDLE_SEARCH_PASSES &&
				    pol->idle_search != PELTON_IDLE_SEARCH_ALL;
		return pelton_select_idle_sibling(pol, s, out, target);
	}
	out->cpu = target;
	return target;
}

#endif
