/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What real-time, deadline and interrupts took of a CPU, before they had records of load tracking.
 *
 *   sum += time * speed                          when such a task is accounted, and at each interrupt
 *   sum /= 2                                     for every half second since the stamp
 *   capacity left = capacity * (1024 - sum / (half second + time since the stamp)) / 1024, at least 1
 *
 *   quantity   unit              range
 *   sum        ns * 1024         0 .. 2^31 * 1024
 *   speed      freq_scale        0 .. 1024
 *
 * Source: Linux 4.12 and 4.16 kernel/sched/sched.h (sched_rt_avg_update, sched_avg_period), core.c (sched_avg_update,
 * update_rq_clock_task), rt.c (update_curr_rt), deadline.c (update_curr_dl), fair.c (scale_rt_capacity,
 * update_cpu_capacity). sysctl_sched_time_avg is 1000 ms.
 * Deviations: the sum is aged where it is added to and where it is read at a tick by pelton_rt_share_age(); the
 * kernel's aging at the end of a tickless stretch is the host's.
 */
#ifndef PELTON_RT_SHARE_H
#define PELTON_RT_SHARE_H

#include "arith.h"
#include "policy.h"

#define PELTON_RT_SHARE_PERIOD_NS (500ull * PELTON_NSEC_PER_MSEC)
/* After so many halvings nothing is left of any sum. */
#define PELTON_RT_SHARE_MAX_HALVINGS 63u

/* Halve for every period that is over. */
PELTON_INLINE void pelton_rt_share_age(struct pelton_rq *rq)
{
	struct pelton_rt_share *share = &rq->rt_share;
	u64 elapsed = rq->clock.clock_ns - share->age_stamp_ns;
	u64 periods;

	if ((s64)elapsed <= (s64)PELTON_RT_SHARE_PERIOD_NS)
		return;
	periods = (elapsed - 1) / PELTON_RT_SHARE_PERIOD_NS;
	share->age_stamp_ns += periods * PELTON_RT_SHARE_PERIOD_NS;
	share->sum >>= pelton_min_u64(periods, PELTON_RT_SHARE_MAX_HALVINGS);
}

/* Time that fair tasks did not get. */
PELTON_INLINE void pelton_rt_share_add(const struct pelton_policy *pol, struct pelton_rq *rq, u64 ns)
{
	if (pol->capacity_left != PELTON_CAPACITY_LEFT_RT_SHARE)
		return;
	rq->rt_share.sum += ns * rq->freq_scale;
	pelton_rt_share_age(rq);
}

/* A task of another class begins its run (`running` = 0), or is accounted (1): the run since then is added. */
PELTON_INLINE void pelton_rt_share_run(const struct pelton_policy *pol, struct pelton_rq *rq, u32 running)
{
	u64 delta = rq->clock.clock_task_ns - rq->rt_share.counted_to_ns;

	rq->rt_share.counted_to_ns = rq->clock.clock_task_ns;
	if (running && (s64)delta > 0)
		pelton_rt_share_add(pol, rq, delta);
}

/* Capacity left for the fair class. */
PELTON_INLINE u32 pelton_rt_share_capacity(const struct pelton_rq *rq)
{
	u64 since = rq->clock.clock_ns - rq->rt_share.age_stamp_ns;
	u64 used = rq->rt_share.sum / (PELTON_RT_SHARE_PERIOD_NS + ((s64)since < 0 ? 0 : since));
	u64 left = used < PELTON_CAPACITY_SCALE ? PELTON_CAPACITY_SCALE - used : 1;

	return pelton_max_u32(1, (u32)pelton_cap_scale(left, rq->cap_orig));
}

#endif
