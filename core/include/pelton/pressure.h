/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and capacity that the fair class does not get: real-time, deadline, interrupts, hardware limits.
 *
 *   RT       ....|#####|..........|#####|....     one update where a run begins (running = 0 so far)
 *                0     1          0     1         and one where it ends or ticks (running = 1 so far)
 *
 *   capacity left  A = cap_orig - max(hw, cpufreq pressure)
 *                  (A - rt - dl) * (A - irq) / A, at least 1
 *
 *   quantity        unit       range
 *   rt, dl, irq     capacity   0 .. 1024 (util_avg)
 *   hw              capacity   0 .. 1024 (load_avg: time-weighted lost capacity)
 *
 * Source: Linux 7.2 kernel/sched/pelt.c (update_rt_rq_load_avg, update_dl_rq_load_avg, update_irq_load_avg,
 * update_hw_load_avg), kernel/sched/fair.c (scale_rt_capacity, others_have_blocked). The interrupt signal is updated
 * by the clock (pelt_clock.h).
 * Deviations: none known.
 */
#ifndef PELTON_PRESSURE_H
#define PELTON_PRESSURE_H

#include "pelt_clock.h"

PELTON_INLINE struct pelton_ctx pelton_rq_ctx(const struct pelton_policy *pol, const struct pelton_rq *rq)
{
	struct pelton_ctx ctx = { pol, pelton_clock_pelt(pol, rq), rq->cap_orig, rq->freq_scale };

	return ctx;
}

/* `running`: a real-time task was running since the last update. Returns PELTON_EV_DECAYED or 0. */
PELTON_INLINE u32 pelton_update_rt(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	struct pelton_ctx ctx = pelton_rq_ctx(pol, rq);

	return pol->rt_signal ? pelton_update_avg(&ctx, &rq->rt, running != 0) : 0;
}

/* `running`: a deadline task was running since the last update. Returns PELTON_EV_DECAYED or 0. */
PELTON_INLINE u32 pelton_update_dl(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	struct pelton_ctx ctx = pelton_rq_ctx(pol, rq);

	return pol->dl_signal ? pelton_update_avg(&ctx, &rq->dl, running != 0) : 0;
}

/* `lost_capacity`: what the hardware takes away at this moment. Not scaled by the CPU's speed. */
PELTON_INLINE u32 pelton_update_hw(const struct pelton_policy *pol, struct pelton_rq *rq, u32 lost_capacity)
{
	struct pelton_ctx ctx = { pol, rq->clock.clock_task_ns, PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE };

	if (!pol->hw_signal)
		return 0;
	return pelton_update_avg(&ctx, &rq->hw, pelton_min_u32(lost_capacity, PELTON_CAPACITY_SCALE));
}

/* The refresh of the blocked walk. `rt_running`, `dl_running`: class of the task that runs now. */
PELTON_INLINE u32 pelton_update_others(const struct pelton_policy *pol, struct pelton_rq *rq, u32 rt_running,
				       u32 dl_running, u32 lost_capacity)
{
	u32 decayed = pelton_update_rt(pol, rq, rt_running);

	decayed |= pelton_update_dl(pol, rq, dl_running);
	decayed |= pelton_update_hw(pol, rq, lost_capacity);
	return decayed | pelton_update_irq(pol, rq, 0);
}

/* Is there anything outside the fair class that still has to decay on this CPU? */
PELTON_INLINE u32 pelton_others_have_blocked(const struct pelton_rq *rq)
{
	return (rq->rt.util_avg | rq->dl.util_avg | rq->irq.util_avg | rq->hw.load_avg) != 0;
}

/* Capacity left for the fair class. `hw`, `cpufreq_pressure`: lost capacity, the larger one counts. */
PELTON_INLINE u32 pelton_capacity_of(const struct pelton_rq *rq, u32 hw, u32 cpufreq_pressure)
{
	u32 actual = pelton_sub_floor_u32(rq->cap_orig, pelton_max_u32(hw, cpufreq_pressure));
	u32 irq = (u32)rq->irq.util_avg;
	u32 used = (u32)(rq->rt.util_avg + rq->dl.util_avg);

	if (irq >= actual || used >= actual)
		return 1;
	return pelton_max_u32(1, pelton_mul_div_floor(actual - used, actual - irq, actual));
}

#endif
