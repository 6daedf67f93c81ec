/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CFS, to 6.1: the entity of least vruntime runs, for its share of a period.
 *
 *   period    latency, or min_granularity * entities where more than latency / min_granularity wait
 *   slice     period * weight / weight of the queue, times the same of every group above
 *     floored (5.10)    the period counts the tasks of the whole CPU, and a slice is at least min_granularity
 *   vslice    slice in virtual time
 *   place     a new entity:  max(own, min_vruntime + vslice)
 *             a sleeper:     max(own, min_vruntime - latency / 2)
 *     long_sleeper      asleep for 2^63 / 1024 ns: the second alone, a comparison could wrap
 *     idle_credit       SCHED_IDLE: half of min_granularity instead of latency
 *   wake-up   preempts when it is more than wakeup_granularity, in its own virtual time, behind the running entity
 *   tick      gives way after its slice, or after min_granularity when the first waits by more than the slice
 *   yield     the second is taken when that is not more than wakeup_granularity ahead of the first
 *
 * Units: ns; vruntime in ns of nice 0.
 * Source: Linux kernel/sched/fair.c (__sched_period, sched_slice, sched_vslice, place_entity, entity_is_long_sleeper,
 * check_preempt_tick, wakeup_gran, wakeup_preempt_entity, pick_next_entity) of 4.12.0, 4.16, 4.19, 5.4, 5.10.262,
 * 6.1.192.
 * Deviation: the buddies next and last are the host's; the simulator has none.
 */
#ifndef PELTON_FAIR_CFS_H
#define PELTON_FAIR_CFS_H

#include "fair.h"

PELTON_INLINE u64 pelton_sched_period(const struct pelton_fair_tunables *tun, u64 nr_running)
{
	u64 granularity = pelton_max_u64(tun->min_granularity_ns, 1);
	u64 nr_latency = pelton_div_floor(tun->latency_ns + granularity - 1, granularity);

	return nr_running > nr_latency ? nr_running * tun->min_granularity_ns : tun->latency_ns;
}

/*
 * The period that an entity of `rq` shares in; `all` are the runnable tasks of the CPU, in groups as well.
 */
PELTON_INLINE u64 pelton_slice_period(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				      const struct pelton_fair_rq *rq, const struct pelton_fair_se *se, u32 all)
{
	u32 nr = pol->cfs_slice == PELTON_CFS_SLICE_FLOORED ? all : rq->nr_queued;

	return pelton_sched_period(tun, (u64)nr + !se->on_rq);
}

/* Part of `slice_ns` that belongs to `se`, at its level: applied at every level up to the root. */
PELTON_INLINE u64 pelton_slice_share(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
				     const struct pelton_fair_se *se, u64 slice_ns)
{
	u64 total = rq->load_weight + (se->on_rq ? 0 : se->weight);

	return pelton_calc_delta(pol, slice_ns, se->weight, total, 0);
}

/* The shortest a slice may be; `idle_only`: nothing but SCHED_IDLE is on the queue of `se`. */
PELTON_INLINE u64 pelton_slice_floor(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				     const struct pelton_fair_se *se, u32 idle_only, u64 slice_ns)
{
	u64 floor_ns = tun->min_granularity_ns;

	if (pol->cfs_slice == PELTON_CFS_SLICE_PLAIN)
		return slice_ns;
	if (pol->idle_credit == PELTON_ON && se->idle_policy && !idle_only)
		floor_ns = tun->idle_min_granularity_ns;
	return pelton_max_u64(slice_ns, floor_ns);
}

/* Slice of an entity of the root queue. */
PELTON_INLINE u64 pelton_sched_slice(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				     const struct pelton_fair_rq *rq, const struct pelton_fair_se *se, u32 all)
{
	u64 slice_ns = pelton_slice_period(pol, tun, rq, se, all);
	u32 idle_only = rq->nr_queued && rq->nr_idle == rq->nr_queued;

	return pelton_slice_floor(pol, tun, se, idle_only, pelton_slice_share(pol, rq, se, slice_ns));
}

/* A sleeper's credit. */
PELTON_INLINE u64 pelton_sleeper_credit(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					const struct pelton_fair_se *se)
{
	u64 whole = pol->idle_credit == PELTON_ON && se->idle_policy ? tun->min_granularity_ns : tun->latency_ns;

	return whole >> 1;
}

/* Longest sleep after which vruntimes are compared, ns. */
#define PELTON_LONG_SLEEP_NS (1ull << 53)

/*
 * `slice_ns` is the slice of a new entity (`initial`), read only then; `slept_ns` the time since a sleeper last ran,
 * 0 where
 * it never did.
 */
PELTON_INLINE void pelton_place_entity_cfs(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					   const struct pelton_fair_rq *rq, struct pelton_fair_se *se, u32 initial,
					   u64 slice_ns, u64 slept_ns)
{
	s64 v = rq->zero_vruntime;

	if (initial)
		v = pelton_v_add(v, pelton_vtime(pol, slice_ns, se));
	else
		v = pelton_v_sub(v, (s64)pelton_sleeper_credit(pol, tun, se));
	if (pol->long_sleeper == PELTON_ON && slept_ns > PELTON_LONG_SLEEP_NS)
		se->vruntime = v;
	else
		se->vruntime = pelton_max_vruntime(se->vruntime, v);
}

PELTON_INLINE u64 pelton_wakeup_gran(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				     const struct pelton_fair_se *se)
{
	return pelton_vtime(pol, tun->wakeup_granularity_ns, se);
}

/* -1: `se` is not behind `curr`; 0: it is, but not by enough; 1: it preempts. */
PELTON_INLINE s32 pelton_wakeup_preempt_entity(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					       const struct pelton_fair_se *curr, const struct pelton_fair_se *se)
{
	s64 behind = pelton_v_sub(curr->vruntime, se->vruntime);

	if (behind <= 0)
		return -1;
	return behind > (s64)pelton_wakeup_gran(pol, tun, se);
}

/* Does the running entity give way at the tick? `first` is the waiting entity of least vruntime. */
PELTON_INLINE u32 pelton_check_preempt_tick(const struct pelton_fair_tunables *tun, const struct pelton_fair_se *curr,
					    const struct pelton_fair_se *first, u64 slice_ns)
{
	s64 ahead = pelton_v_sub(curr->vruntime, first->vruntime);

	if (curr->ran_ns > slice_ns)
		return 1;
	if (curr->ran_ns < tun->min_granularity_ns || ahead < 0)
		return 0;
	return (u64)ahead > slice_ns;
}

/* The running entity before the first that waits. */
PELTON_INLINE u32 pelton_entity_before_cfs(const struct pelton_fair_se *a, const struct pelton_fair_se *b)
{
	return pelton_v_sub(a->vruntime, b->vruntime) < 0;
}

/* After a yield of the entity that would be next, `first`: is `second` taken in its place? */
PELTON_INLINE u32 pelton_skip_takes_second(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					   const struct pelton_fair_se *second, const struct pelton_fair_se *first)
{
	return pelton_wakeup_preempt_entity(pol, tun, second, first) < 1;
}

#endif
