/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From signals to a performance target: what one CPU needs, in capacity units.
 *
 *   cfs = max(util, runnable?, util_est)          the fair class, not above the CPU
 *   u   = cfs + rt? + dl?                         sum, by profile
 *   u   = u * (cap - irq) / cap + irq             time in interrupts cannot be used, but needs speed as well
 *   perf = u + u/4, then min and max              headroom (margins.h), before or after the clamps
 *
 *   form             versions      sum                        clamps        deadline
 *   flags            4.12-4.15     cfs (+ rt with the patch)  -             maximum by flag
 *   bw               4.16-4.18     cfs                        -             + bandwidth
 *   rt_sum           4.19-5.2      cfs + rt, irq              -             + bandwidth
 *   clamp_then_sum   5.3-6.7       clamp(cfs + rt), irq       inside        + bandwidth
 *   sum_then_clamp   6.8-          cfs + rt + dl, irq         after margin  bandwidth is a floor
 *
 *   quantity                    unit       range
 *   signals, clamps, terms      capacity   0 .. 1024
 *   perf                        capacity   0 .. 1280 where the headroom is on the utilization
 *
 * Source: kernel/sched/cpufreq_schedutil.c of Linux 4.12.0 (sugov_get_util), 4.16.13 and 4.17 (sugov_aggregate_util),
 * 4.19 (sugov_get_util), 5.4 and 5.10 (schedutil_cpu_util); kernel/sched/core.c of 6.1, 6.6 and 6.8 and
 * kernel/sched/syscalls.c of 6.12, 6.18 and 7.2 (effective_cpu_util), kernel/sched/cpufreq_schedutil.c from 6.8
 * (sugov_effective_cpu_perf), kernel/sched/fair.c (cpu_util).
 * Deviations: one form per profile row, although stable kernels received parts of later ones.
 */
#ifndef PELTON_PERF_H
#define PELTON_PERF_H

#include "margins.h"
#include "pressure.h"

/* Signals of a CPU as inputs of an evaluation; no clamp is in force. */
PELTON_INLINE void pelton_cpu_state_fill(const struct pelton_rq *rq, u32 bw_dl, u32 rt_nr_running, u64 idle_calls,
					 struct pelton_cpu_state *out)
{
	out->idle_calls = idle_calls;
	out->cap_orig = rq->cap_orig;
	out->util_cfs = (u32)rq->cfs.avg.util_avg;
	out->runnable_cfs = (u32)rq->cfs.avg.runnable_avg;
	out->util_est = rq->cfs.util_est;
	out->util_rt = (u32)rq->rt.util_avg;
	out->util_dl = (u32)rq->dl.util_avg;
	out->util_irq = (u32)rq->irq.util_avg;
	out->bw_dl = bw_dl;
	out->rt_nr_running = rt_nr_running;
	out->uclamp_used = 0;
	out->uclamp_min = 0;
	out->uclamp_max = PELTON_CAPACITY_SCALE;
	out->cfs_nr_running = rq->cfs.h_nr_runnable;
	out->reserved = 0;
}

/* Utilization of the fair class. `boost`: waiting tasks count as demand. */
PELTON_INLINE u32 pelton_cpu_util(const struct pelton_policy *pol, const struct pelton_cpu_state *s, u32 boost)
{
	u32 util = s->util_cfs;

	if (boost)
		util = pelton_max_u32(util, s->runnable_cfs);
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, s->util_est);
	return pelton_min_u32(util, s->cap_orig);
}

/* Are clamps in force on this CPU? Those that add up are in the utilization, its limits are open then. */
PELTON_INLINE u32 pelton_clamps_used(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pol->uclamp != PELTON_UCLAMP_OFF && s->uclamp_used;
}

PELTON_INLINE u32 pelton_clamp_min(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pelton_clamps_used(pol, s) ? s->uclamp_min : 0;
}

PELTON_INLINE u32 pelton_clamp_max(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pelton_clamps_used(pol, s) ? s->uclamp_max : PELTON_CAPACITY_SCALE;
}

/* Does a runnable real-time task alone ask for everything? */
PELTON_INLINE u32 pelton_rt_wants_max(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	if (!s->rt_nr_running)
		return 0;
	if (pol->rt_rule == PELTON_RT_RULE_RUNNABLE_MAX)
		return 1;
	return pol->rt_rule == PELTON_RT_RULE_RUNNABLE_MAX_UNLESS_UCLAMP && !pelton_clamps_used(pol, s);
}

/* `util` of the time that interrupts leave, plus the interrupts. */
PELTON_INLINE u32 pelton_scale_irq(u32 util, u32 irq, u32 cap)
{
	return pelton_mul_div_floor(util, pelton_sub_floor_u32(cap, irq), cap) + irq;
}

/* The terms that every form starts from. */
PELTON_INLINE void pelton_perf_inputs(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				      struct pelton_perf_terms *t)
{
	t->cfs = pol->cfs_if_queued && !s->cfs_nr_running ? 0 : pelton_cpu_util(pol, s, pol->runnable_boost);
	t->rt = pol->rt_in_sum ? s->util_rt : 0;
	t->irq = s->util_irq;
	t->dl = 0;
	t->min = 0;
	t->max = s->cap_orig;
}

/* Bandwidth that deadline reservations add on top of the sum. */
PELTON_INLINE u32 pelton_bw_on_top(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pol->dl_rule == PELTON_DL_RULE_BW_ON_TOP ? s->bw_dl : 0;
}

/* Bandwidth that deadline reservations demand as a floor. */
PELTON_INLINE u32 pelton_bw_floor(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pol->dl_rule == PELTON_DL_RULE_BW_FLOOR ? s->bw_dl : 0;
}

/* 4.12-4.18: no interrupts, no clamps. */
PELTON_INLINE u32 pelton_effective_plain(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
					 struct pelton_perf_terms *t)
{
	if (pelton_rt_wants_max(pol, s))
		return s->cap_orig;
	t->dl = pelton_bw_on_top(pol, s);
	t->min = pelton_bw_floor(pol, s);
	return pelton_min_u32(s->cap_orig, pelton_max_u32(t->cfs + t->rt + t->dl, t->min));
}

/* 4.19-6.7: fair and real-time utilization, from 5.3 on within the clamps. */
PELTON_INLINE u32 pelton_fair_rt_within(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
					const struct pelton_perf_terms *t)
{
	u32 util = t->cfs + t->rt;

	if (pol->perf_form == PELTON_PERF_CLAMP_THEN_SUM)
		return pelton_clamp_u32(util, pelton_clamp_min(pol, s), pelton_clamp_max(pol, s));
	return util;
}

/* 4.19-6.7: the deadline signal decides saturation only, its bandwidth is added last. */
PELTON_INLINE u32 pelton_effective_clamped(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
					   struct pelton_perf_terms *t)
{
	u32 cap = s->cap_orig;
	u32 util = pelton_fair_rt_within(pol, s, t);

	if (pelton_rt_wants_max(pol, s) || t->irq >= cap)
		return cap;
	if (util + s->util_dl >= cap)
		return cap;
	t->dl = pelton_bw_on_top(pol, s);
	t->min = pelton_bw_floor(pol, s);
	util = pelton_scale_irq(util, t->irq, cap) + t->dl;
	return pelton_min_u32(cap, pelton_max_u32(util, t->min));
}

/* 6.8 and later: everything in the sum, minimum and maximum beside it. */
PELTON_INLINE u32 pelton_effective_sum(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
				       struct pelton_perf_terms *t)
{
	u32 cap = s->cap_orig;
	u32 util;

	if (t->irq >= cap) {
		t->min = cap;
		return cap;
	}
	t->min = pelton_max_u32(t->irq + pelton_bw_floor(pol, s), pelton_clamp_min(pol, s));
	if (pelton_rt_wants_max(pol, s))
		t->min = pelton_max_u32(t->min, cap);
	t->max = pelton_min_u32(cap, pelton_clamp_max(pol, s));
	t->dl = s->util_dl + pelton_bw_on_top(pol, s);
	util = t->cfs + t->rt + t->dl;
	if (util >= cap)
		return cap;
	return pelton_min_u32(cap, pelton_scale_irq(util, t->irq, cap));
}

/* Effective utilization of a CPU, by the form of the profile. Fills all terms up to `effective`. */
PELTON_INLINE u32 pelton_effective_cpu_util(const struct pelton_policy *pol, const struct pelton_cpu_state *s,
					    struct pelton_perf_terms *t)
{
	pelton_perf_inputs(pol, s, t);
	if (pol->perf_form == PELTON_PERF_FLAGS || pol->perf_form == PELTON_PERF_BW)
		t->effective = pelton_effective_plain(pol, s, t);
	else if (pol->perf_form == PELTON_PERF_SUM_THEN_CLAMP)
		t->effective = pelton_effective_sum(pol, s, t);
	else
		t->effective = pelton_effective_clamped(pol, s, t);
	return t->effective;
}

/* Utilization that teo of 6.6 reads of a CPU (sched_cpu_util): without clamps, boosts and demands of reservations. */
PELTON_INLINE u32 pelton_sched_cpu_util(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	u32 cap = s->cap_orig, util = pelton_cpu_util(pol, s, 0) + s->util_rt + s->util_dl;

	if (s->util_irq >= cap || util >= cap)
		return cap;
	return pelton_min_u32(cap, pelton_scale_irq(util, s->util_irq, cap));
}

/* Above 1/64 of the capacity: teo of 6.6 goes one state up. */
PELTON_INLINE u32 pelton_is_utilized(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	return pelton_sched_cpu_util(pol, s) > s->cap_orig >> 6;
}

/* Headroom first, then the clamps: a clamp is an exact limit, a floor passes without headroom. */
PELTON_INLINE u32 pelton_perf_clamped(u32 util, u32 min, u32 max)
{
	return pelton_max_u32(min, pelton_min_u32(util + (util >> 2), max));
}

/* The performance target for a utilization; the quarter on the frequency side is added by the frequency mapping. */
PELTON_INLINE u32 pelton_apply_headroom(const struct pelton_policy *pol, u32 util, u32 min, u32 max)
{
	if (pol->headroom == PELTON_HEADROOM_BEFORE_CLAMPS)
		return pelton_perf_within(pol, util, min, max);
	if (pol->headroom == PELTON_HEADROOM_UTILIZATION)
		return pelton_with_headroom(pol, util);
	return util;
}

/* The boost of I/O waiters is itself clamped in 6.1 and 6.6, one that rounds to nothing too; not in 5.4 and 5.10. */
PELTON_INLINE u32 pelton_clamp_iowait(const struct pelton_policy *pol, const struct pelton_cpu_state *s, u32 boost,
				      u32 iowait)
{
	if (!boost || !pol->uclamp_iowait || !pelton_clamps_used(pol, s))
		return iowait;
	return pelton_clamp_u32(iowait, pelton_clamp_min(pol, s), pelton_clamp_max(pol, s));
}

/* Everything from signals to target, every term kept. `iowait`: boost in capacity units. */
PELTON_INLINE u32 pelton_perf_eval(const struct pelton_policy *pol, const struct pelton_cpu_state *s, u32 iowait,
				   struct pelton_perf_terms *t)
{
	u32 util = pelton_effective_cpu_util(pol, s, t);

	t->iowait = pelton_clamp_iowait(pol, s, iowait, iowait);
	util = pelton_max_u32(util, t->iowait);
	t->perf = pelton_apply_headroom(pol, util, t->min, t->max);
	t->headroom = pelton_sub_floor_u32(pelton_with_headroom(pol, util), util);
	if (pol->headroom == PELTON_HEADROOM_FREQUENCY)
		t->headroom = 0;
	t->request = t->perf;
	t->scale = s->cap_orig;
	return t->perf;
}

#endif
