/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time and capacity that the fair class does not get: real-time, deadline, interrupts, hardware limits.
 *
 *   RT       ....|#####|..........|#####|....     one update where a run begins (running = 0 so far)
 *                0     1          0     1         and one where it ends or ticks (running = 1 so far)
 *
 *   capacity left  actual:   A = cap_orig - max(hw, cpufreq pressure)
 *                            (A - rt - dl) * (A - irq) / A, at least 1
 *                  used:     (cap_orig - rt - dl - hw) * (cap_orig - irq) / cap_orig, at least 1
 *                  rt_share: rt_share.h
 *
 *   a limit takes   cap_orig - cap_orig * limit / ref, 0 where the limit is not below the reference
 *                   cooling: of the moment and averaged (hw), 5.10 to 6.9; nothing else counts there
 *                   any upper limit of the policy: of the moment (cpufreq pressure), from 6.10 on
 *
 *   quantity        unit       range
 *   rt, dl, irq     capacity   0 .. 1024 (util_avg)
 *   hw              capacity   0 .. 1024 (load_avg: time-weighted lost capacity)
 *
 * Source: Linux 4.19 to 7.2.12 kernel/sched/pelt.c (update_rt_rq_load_avg, update_dl_rq_load_avg, update_irq_load_avg,
 * update_hw_load_avg), kernel/sched/fair.c (scale_rt_capacity, others_have_blocked), sched.h (scale_irq_capacity). The
 * interrupt signal is updated by the clock (pelt_clock.h). What limits take: drivers/cpufreq/cpufreq.c
 * (cpufreq_update_pressure) of 6.12.117 and 7.2.12, drivers/thermal/cpufreq_cooling.c (cpufreq_set_cur_state) and
 * drivers/base/arch_topology.c (topology_update_thermal_pressure) of 6.6.
 * Deviations: topology_update_thermal_pressure counts in whole MHz; what firmware takes by itself is the host's to say.
 */
#ifndef PELTON_PRESSURE_H
#define PELTON_PRESSURE_H

#include "pelt_clock.h"

PELTON_INLINE struct pelton_ctx pelton_rq_ctx(const struct pelton_policy *pol, const struct pelton_rq *rq)
{
	struct pelton_ctx ctx = { pol, pelton_clock_pelt(pol, rq), rq->cap_orig, rq->freq_scale };

	return ctx;
}

/* The record of the real-time class alone. */
PELTON_INLINE u32 pelton_age_rt(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	struct pelton_ctx ctx = pelton_rq_ctx(pol, rq);

	return pol->rt_signal ? pelton_update_avg(&ctx, &rq->rt, running != 0) : 0;
}

/* The record of the deadline class alone. */
PELTON_INLINE u32 pelton_age_dl(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	struct pelton_ctx ctx = pelton_rq_ctx(pol, rq);

	return pol->dl_signal ? pelton_update_avg(&ctx, &rq->dl, running != 0) : 0;
}

/* `running`: a real-time task was running since the last update. Returns PELTON_EV_DECAYED or 0. */
PELTON_INLINE u32 pelton_update_rt(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	pelton_rt_share_run(pol, rq, running);
	return pelton_age_rt(pol, rq, running);
}

/* `running`: a deadline task was running since the last update. Returns PELTON_EV_DECAYED or 0. */
PELTON_INLINE u32 pelton_update_dl(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	pelton_rt_share_run(pol, rq, running);
	return pelton_age_dl(pol, rq, running);
}

/* `lost_capacity`: what the hardware takes away at this moment. Not scaled by the CPU's speed. */
PELTON_INLINE u32 pelton_update_hw(const struct pelton_policy *pol, struct pelton_rq *rq, u32 lost_capacity)
{
	struct pelton_ctx ctx = { pol, rq->clock.clock_task_ns, PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE };

	if (!pol->hw_signal)
		return 0;
	return pelton_update_avg(&ctx, &rq->hw, pelton_min_u32(lost_capacity, PELTON_CAPACITY_SCALE));
}

/* Capacity that a limit takes from a CPU. `ref_khz`: frequency at which `cap_orig` holds. */
PELTON_INLINE u32 pelton_lost_capacity(u32 cap_orig, u32 limit_khz, u32 ref_khz)
{
	if (ref_khz <= limit_khz)
		return 0;
	return cap_orig - pelton_mul_div_floor(cap_orig, limit_khz, ref_khz);
}

/* Capacity that placement takes off a CPU in this moment. `policy`, `cooling`: lost to the upper limit, to cooling. */
PELTON_INLINE u32 pelton_pressure_now(const struct pelton_policy *pol, u32 policy, u32 cooling)
{
	if (pol->capacity_left == PELTON_CAPACITY_LEFT_ACTUAL)
		return policy;
	return pol->hw_signal ? cooling : 0;
}

/* Input of the average that the hw record keeps. From 6.10 on cooling is a limit of the policy like any other. */
PELTON_INLINE u32 pelton_pressure_averaged(const struct pelton_policy *pol, u32 cooling)
{
	return pol->capacity_left == PELTON_CAPACITY_LEFT_ACTUAL || !pol->hw_signal ? 0 : cooling;
}

/* The refresh of the blocked walk. `rt_running`, `dl_running`: class of the task that runs now. */
PELTON_INLINE u32 pelton_update_others(const struct pelton_policy *pol, struct pelton_rq *rq, u32 rt_running,
				       u32 dl_running, u32 lost_capacity)
{
	u32 decayed = pelton_age_rt(pol, rq, rt_running);

	decayed |= pelton_age_dl(pol, rq, dl_running);
	decayed |= pelton_update_hw(pol, rq, lost_capacity);
	return decayed | pelton_update_irq(pol, rq, 0);
}

/* Is there anything outside the fair class that still has to decay on this CPU? */
PELTON_INLINE u32 pelton_others_have_blocked(const struct pelton_rq *rq)
{
	return (rq->rt.util_avg | rq->dl.util_avg | rq->irq.util_avg | rq->hw.load_avg) != 0;
}

/* Capacity left for the fair class. `hw`, `cpufreq_pressure`: lost capacity; the larger one counts, up to 6.6 `hw`. */
PELTON_INLINE u32 pelton_capacity_of(const struct pelton_policy *pol, const struct pelton_rq *rq, u32 hw,
				     u32 cpufreq_pressure)
{
	u32 max = rq->cap_orig;
	u32 irq = (u32)rq->irq.util_avg;
	u32 used = (u32)(rq->rt.util_avg + rq->dl.util_avg);

	if (pol->capacity_left == PELTON_CAPACITY_LEFT_RT_SHARE)
		return pelton_rt_share_capacity(rq);
	if (pol->capacity_left == PELTON_CAPACITY_LEFT_USED)
		used += hw;
	else
		max = pelton_sub_floor_u32(max, pelton_max_u32(hw, cpufreq_pressure));
	if (irq >= max || used >= max)
		return 1;
	return pelton_max_u32(1, pelton_mul_div_floor(max - used, max - irq, max));
}

#endif
