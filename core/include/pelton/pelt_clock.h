/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks of one CPU: wall time, time not taken by interrupts, and time as load tracking sees it.
 *
 *   clock       += d
 *   clock_task  += d - irq
 *   clock_pelt  += (d - irq) * cap_orig * freq_scale     busy: slow CPUs age slowly
 *   clock_pelt   = clock_task                            idle: catch up, at once or at the next update (idle_clock)
 *
 *   clock_task  ----------------------------------------->
 *   clock_pelt  ------------.  (busy at half speed)  .---->   the jump is seen as idle time, so a task that needs
 *                           '-----.     .-----'               twice as long is followed by less idle time
 *                                 '-----'
 *
 * A CPU that was saturated when it goes idle owes work, not idle time: the jump is then subtracted from the published
 * clock for ever (lost_idle_ns).
 *
 *   quantity      unit   range
 *   every clock   ns     u64, differences are signed 64 bits
 *   irq           ns     0 .. the time since the last update
 *
 * Source: Linux 7.2 kernel/sched/core.c (update_rq_clock, update_rq_clock_task), kernel/sched/pelt.h
 * (update_rq_clock_pelt, update_idle_rq_clock_pelt, rq_clock_pelt, cfs_rq_clock_pelt); 5.4 and 5.10.262 for idle_clock.
 * In 4.19 the task clock serves.
 * Deviations: interrupt and stolen time arrive as one number.
 */
#ifndef PELTON_PELT_CLOCK_H
#define PELTON_PELT_CLOCK_H

#include "pelt.h"
#include "rt_share.h"

/* util_sum of a CPU that had no idle time worth the name. */
#define PELTON_SATURATED_UTIL_SUM ((PELTON_MIN_DIVISOR << PELTON_CAPACITY_SHIFT) - PELTON_LOAD_AVG_MAX)

/*
 * Time at which the two scheduler clocks start, so that no record is ever "last updated at 0", which means not
 * attached.
 */
#define PELTON_CLOCK_ORIGIN_NS (1ull << 30)

/* The published PELT clock of the CPU: what RT and DL records and the root queue are updated at. */
PELTON_INLINE u64 pelton_clock_pelt(const struct pelton_policy *pol, const struct pelton_rq *rq)
{
	if (pol->invariance == PELTON_INVARIANCE_CONTRIBUTION)
		return rq->clock.clock_task_ns;
	return rq->clock.clock_pelt_ns - rq->clock.lost_idle_ns;
}

/* The clock of one fair queue: it does not see the time the queue was throttled. */
PELTON_INLINE u64 pelton_cfs_rq_clock_pelt(const struct pelton_policy *pol, const struct pelton_rq *rq,
					   const struct pelton_cfs_rq *cfs)
{
	u64 now = cfs->throttle_count ? cfs->throttled_at_ns : pelton_clock_pelt(pol, rq);

	return now - cfs->throttled_clock_pelt_ns;
}

/* Clock that the time of a throttled queue is taken from. */
PELTON_INLINE u64 pelton_throttle_time(const struct pelton_policy *pol, const struct pelton_rq *rq)
{
	return pol->throttle_clock == PELTON_THROTTLE_CLOCK_TASK ? rq->clock.clock_task_ns : pelton_clock_pelt(pol, rq);
}

/* The queue or an ancestor was throttled: its clock stops. */
PELTON_INLINE void pelton_throttle_clock(const struct pelton_policy *pol, const struct pelton_rq *rq,
					 struct pelton_cfs_rq *cfs)
{
	if (!cfs->throttle_count)
		cfs->throttled_at_ns = pelton_throttle_time(pol, rq);
	cfs->throttle_count++;
}

/* The reverse: the time in between never happened for this queue. */
PELTON_INLINE void pelton_unthrottle_clock(const struct pelton_policy *pol, const struct pelton_rq *rq,
					   struct pelton_cfs_rq *cfs)
{
	if (!cfs->throttle_count)
		return;
	cfs->throttle_count--;
	if (!cfs->throttle_count)
		cfs->throttled_clock_pelt_ns += pelton_throttle_time(pol, rq) - cfs->throttled_at_ns;
}

/* An idle CPU's PELT clock catches up; the moment is remembered for tasks that migrate away in their sleep. */
PELTON_INLINE void pelton_clock_sync_idle(struct pelton_clock *c)
{
	c->clock_pelt_ns = c->clock_task_ns;
	c->clock_idle_ns = c->clock_ns;
	c->clock_pelt_idle_ns = c->clock_pelt_ns - c->lost_idle_ns;
}

/* The CPU switches to the idle task. */
PELTON_INLINE void pelton_update_idle_rq_clock_pelt(const struct pelton_policy *pol, struct pelton_rq *rq)
{
	struct pelton_clock *c = &rq->clock;
	u32 util_sum = rq->cfs.avg.util_sum + rq->rt.util_sum + rq->dl.util_sum;

	if (pol->invariance == PELTON_INVARIANCE_CONTRIBUTION)
		return;
	if (util_sum >= PELTON_SATURATED_UTIL_SUM)
		c->lost_idle_ns += c->clock_task_ns - c->clock_pelt_ns;
	if (pol->idle_clock == PELTON_IDLE_CLOCK_AT_ONCE)
		pelton_clock_sync_idle(c);
}

/* Advance the PELT clock by `delta` ns of task time. */
PELTON_INLINE void pelton_update_rq_clock_pelt(struct pelton_rq *rq, u64 delta, u32 is_idle)
{
	if (is_idle) {
		pelton_clock_sync_idle(&rq->clock);
		return;
	}
	delta = pelton_cap_scale(delta, rq->cap_orig);
	rq->clock.clock_pelt_ns += pelton_cap_scale(delta, rq->freq_scale);
}

/* Interrupt time as a signal: `irq_ns` just elapsed; when exactly is unknown, so it is put at the end. */
PELTON_INLINE u32 pelton_update_irq(const struct pelton_policy *pol, struct pelton_rq *rq, u64 irq_ns)
{
	struct pelton_ctx ctx = { pol, rq->clock.clock_ns, rq->cap_orig, rq->freq_scale };
	u64 before, after;

	if (!pol->irq_signal)
		return 0;
	if (pol->invariance == PELTON_INVARIANCE_CLOCK)
		irq_ns = pelton_cap_scale(pelton_cap_scale(irq_ns, rq->freq_scale), rq->cap_orig);
	ctx.now = rq->clock.clock_ns - irq_ns;
	before = pelton_update_load_sum(&ctx, &rq->irq, 0, 0, 0);
	ctx.now = rq->clock.clock_ns;
	after = pelton_update_load_sum(&ctx, &rq->irq, 1, 1, 1);
	if (!(before | after))
		return 0;
	pelton_publish(pol, &rq->irq, 1);
	return PELTON_EV_DECAYED;
}

/*
 * Advance all clocks of a CPU to `now`. `irq_ns` of the time since the last update went to interrupts; `is_idle` says
 * that the CPU runs the idle task. Returns 1 if the interrupt signal changed.
 */
PELTON_INLINE u32 pelton_clock_update(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now, u64 irq_ns,
				      u32 is_idle)
{
	u64 delta = now - rq->clock.clock_ns;
	u32 decayed = 0;

	if ((s64)delta < 0)
		return 0;
	rq->clock.clock_ns = now;
	irq_ns = pelton_min_u64(irq_ns, delta);
	rq->clock.clock_task_ns += delta - irq_ns;
	if (irq_ns) {
		pelton_rt_share_add(pol, rq, irq_ns);
		decayed = pelton_update_irq(pol, rq, irq_ns) != 0;
	}
	if (pol->invariance == PELTON_INVARIANCE_CLOCK)
		pelton_update_rq_clock_pelt(rq, delta - irq_ns, is_idle);
	return decayed;
}

/* A CPU that starts at `now`, idle, with all records up to date. */
PELTON_INLINE void pelton_rq_init(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now, u32 cap_orig,
				  u32 freq_scale)
{
	rq->cap_orig = cap_orig;
	rq->freq_scale = freq_scale;
	rq->clock.clock_ns = now;
	rq->clock.clock_task_ns = now + PELTON_CLOCK_ORIGIN_NS;
	rq->clock.lost_idle_ns = 0;
	pelton_clock_sync_idle(&rq->clock);
	rq->cfs.avg.last_update_time_ns = pelton_clock_pelt(pol, rq);
	rq->rt.last_update_time_ns = pelton_clock_pelt(pol, rq);
	rq->dl.last_update_time_ns = pelton_clock_pelt(pol, rq);
	rq->hw.last_update_time_ns = rq->clock.clock_task_ns;
	rq->irq.last_update_time_ns = now;
	rq->rt_share.age_stamp_ns = now;
	rq->rt_share.counted_to_ns = rq->clock.clock_task_ns;
}

#endif
