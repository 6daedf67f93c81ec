/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scheduler events in the kernel's order of updates: per entity, and for a whole CPU without task groups.
 *
 *   wake     queue estimate += e   enqueue: update(TG, ATTACH), count         1 hook, + 1 for an I/O waiter before it
 *   pick     update(TG)            becomes current
 *   tick     update(TG)
 *   put      update                no longer current
 *   sleep    queue estimate -= e   dequeue: update(TG, UTIL_EST), count       1 hook if a period ended
 *            (estimate_leaves=last: after everything else, the hook included)
 *
 * All clocks of one event are equal: only its first update can cross a period boundary.
 *
 * With task groups the host calls the rq_*_on functions for the task's own queue, then walks the levels above with the
 * *_entity functions; `delta` is the change of runnable tasks below (+1, -1, 0), the same at every level. When a
 * delayed task leaves at last (delay_ends), every level above counts one more before it is walked and `delta` takes it
 * away again (7.2 fair.c, clear_delayed and dequeue_entities). Without groups the rq_* functions do everything at once.
 *
 * Source: Linux 7.2 kernel/sched/fair.c (enqueue_task_fair, dequeue_task_fair, dequeue_entities, enqueue_entity,
 * dequeue_entity, set_next_entity, put_prev_entity, entity_tick), kernel/sched/rt.c, deadline.c, idle.c; 4.12
 * (migrate_task_rq_fair) and 4.19, 5.4, 5.10.262 (dequeue_task_fair) for what differs.
 * Deviations: run time, preemption and picking are the host's.
 */
#ifndef PELTON_RQ_EVENT_H
#define PELTON_RQ_EVENT_H

#include "pelt_group.h"

#define PELTON_DEQUEUE_SLEEP 1u
#define PELTON_DEQUEUE_MIGRATE 2u
#define PELTON_DEQUEUE_ESTIMATE_LATER 4u /* the host calls pelton_rq_estimate_last() after the hooks of this event */

PELTON_INLINE struct pelton_ctx pelton_cfs_ctx(const struct pelton_policy *pol, const struct pelton_rq *rq,
					       const struct pelton_cfs_rq *cfs)
{
	struct pelton_ctx ctx = { pol, pelton_cfs_rq_clock_pelt(pol, rq, cfs), rq->cap_orig, rq->freq_scale };

	return ctx;
}

PELTON_INLINE void pelton_count_runnable(struct pelton_cfs_rq *cfs, s32 delta)
{
	cfs->h_nr_runnable += (u32)delta;
}

/* Notes the number of runnable tasks below a group entity, taken when a task is queued or leaves. */
PELTON_INLINE void pelton_record_runnable(struct pelton_se *se, const struct pelton_cfs_rq *owned)
{
	se->nr_runnable = owned ? owned->h_nr_runnable : !se->delayed;
}

/* An entity is queued. */
PELTON_INLINE u32 pelton_enqueue_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					struct pelton_cfs_rq *owned, s32 delta)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, owned, PELTON_UPDATE_TG | PELTON_DO_ATTACH);

	pelton_record_runnable(se, owned);
	pelton_enqueue_weight(ctx->pol, cfs, se);
	cfs->nr_queued++;
	se->on_rq = 1;
	pelton_count_runnable(cfs, delta);
	return ev;
}

/* An ancestor that stays queued while a task below is queued or leaves. */
PELTON_INLINE u32 pelton_update_ancestor(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					 struct pelton_cfs_rq *owned, s32 delta)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, owned, PELTON_UPDATE_TG);

	pelton_record_runnable(se, owned);
	pelton_count_runnable(cfs, delta);
	return ev;
}

/* An entity leaves the queue. `flags`: PELTON_DO_DETACH, PELTON_UPDATE_UTIL_EST. */
PELTON_INLINE u32 pelton_dequeue_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					struct pelton_cfs_rq *owned, s32 delta, u32 flags)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, owned, PELTON_UPDATE_TG | flags);

	pelton_record_runnable(se, owned);
	pelton_dequeue_weight(ctx->pol, cfs, se);
	cfs->nr_queued = pelton_sub_floor_u32(cfs->nr_queued, 1);
	se->on_rq = 0;
	se->delayed = 0;
	pelton_count_runnable(cfs, delta);
	return ev;
}

/* A queued entity becomes current at its level. */
PELTON_INLINE u32 pelton_set_next_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					 struct pelton_cfs_rq *owned)
{
	u32 ev = se->on_rq ? pelton_update_load_avg(ctx, cfs, se, owned, PELTON_UPDATE_TG) : 0;

	se->running = 1;
	cfs->has_curr = 1;
	return ev;
}

/* The current entity is put back; one that left the queue was already updated when it did. */
PELTON_INLINE u32 pelton_put_prev_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					 struct pelton_cfs_rq *owned)
{
	u32 ev = se->on_rq ? pelton_update_load_avg(ctx, cfs, se, owned, 0) : 0;

	se->running = 0;
	cfs->has_curr = 0;
	return ev;
}

/* The periodic tick, per level. */
PELTON_INLINE u32 pelton_tick_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
				     struct pelton_cfs_rq *owned)
{
	return pelton_update_load_avg(ctx, cfs, se, owned, PELTON_UPDATE_TG);
}

/* Is the estimate sampled inside the entity's update? */
PELTON_INLINE u32 pelton_samples_inside(const struct pelton_policy *pol)
{
	return pol->util_est == PELTON_UTIL_EST_U4 && !pol->util_est_stale;
}

/* The task wants to sleep but stays queued. The host takes 1 from h_nr_runnable of every level above. */
PELTON_INLINE u32 pelton_delay_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	u32 inside = pelton_samples_inside(ctx->pol);
	u32 ev = pelton_update_load_avg(ctx, cfs, se, 0, inside ? PELTON_UPDATE_UTIL_EST : 0);

	se->delayed = 1;
	se->nr_runnable = 0;
	pelton_count_runnable(cfs, -1);
	return ev;
}

/* A delayed task is woken before it left. The host adds 1 to h_nr_runnable of every level above. */
PELTON_INLINE u32 pelton_requeue_entity(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, 0, 0);

	se->delayed = 0;
	se->nr_runnable = 1;
	pelton_count_runnable(cfs, 1);
	return ev;
}

/* A task that sleeps on the root queue is woken on another CPU, or ends. `is_idle`: this CPU runs the idle task. */
PELTON_INLINE void pelton_rq_migrate_sleeping(const struct pelton_policy *pol, struct pelton_rq *rq,
					      struct pelton_se *se, u32 is_idle, u64 wall_now)
{
	pelton_migrate_sleeping(pol, rq, &rq->cfs, se, is_idle, wall_now);
}

/* First half of a wake-up: clock and queue estimate. The IOWAIT hook belongs between the halves. */
PELTON_INLINE void pelton_rq_enqueue_begin(const struct pelton_policy *pol, struct pelton_rq *rq,
					   const struct pelton_se *se, u64 now, u64 irq_ns, u32 is_idle)
{
	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	pelton_util_est_enqueue(pol, &rq->cfs, se);
}

/* Second half: the entity, on its queue; a delayed task is taken back. */
PELTON_INLINE u32 pelton_rq_enqueue_finish_on(const struct pelton_policy *pol, const struct pelton_rq *rq,
					      struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, cfs);

	if (se->delayed)
		return pelton_requeue_entity(&ctx, cfs, se);
	return pelton_enqueue_entity(&ctx, cfs, se, 0, 1);
}

/*
 * A task whose dequeue is delayed was taken from another queue and comes to this one, still asleep: it counts for load
 * and not as runnable, and brings no estimate. The host adds nothing to h_nr_runnable of the levels above.
 */
PELTON_INLINE u32 pelton_rq_enqueue_delayed_on(const struct pelton_policy *pol, const struct pelton_rq *rq,
					       struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, cfs);

	se->delayed = 1;
	return pelton_enqueue_entity(&ctx, cfs, se, 0, 0);
}

PELTON_INLINE u32 pelton_rq_enqueue_finish(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se)
{
	return pelton_rq_enqueue_finish_on(pol, rq, &rq->cfs, se);
}

/* A task is queued on the root queue. */
PELTON_INLINE u32 pelton_rq_enqueue_task(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se,
					 u64 now, u64 irq_ns, u32 is_idle)
{
	pelton_rq_enqueue_begin(pol, rq, se, now, irq_ns, is_idle);
	return pelton_rq_enqueue_finish(pol, rq, se);
}

/* The two estimate steps before an entity leaves: the queue's, and the task's where it is sampled too early. */
PELTON_INLINE void pelton_rq_estimate_before(const struct pelton_policy *pol, struct pelton_rq *rq,
					     struct pelton_se *se, u32 sleeps)
{
	if (se->delayed)
		return;
	if (pol->estimate_leaves == PELTON_ESTIMATE_LEAVES_FIRST)
		pelton_util_est_dequeue(pol, &rq->cfs, se);
	if (pol->util_est_stale)
		pelton_util_est_update(pol, se, rq->cap_orig, sleeps);
}

/* The step after it left: the variants that sample once the entity was brought up to now. */
PELTON_INLINE void pelton_rq_estimate_after(const struct pelton_policy *pol, const struct pelton_rq *rq,
					    struct pelton_se *se, u32 sleeps)
{
	if (!pol->util_est_stale && pol->util_est != PELTON_UTIL_EST_U4)
		pelton_util_est_update(pol, se, rq->cap_orig, sleeps);
}

/*
 * Kernels in which the CPU's estimate is lowered at the very end of the event (estimate_leaves=last), and with the
 * value of before the sample. Not for a task whose dequeue was delayed. `sleeps`: it goes to sleep.
 */
PELTON_INLINE void pelton_rq_estimate_last(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se,
					   u32 sleeps)
{
	if (pol->estimate_leaves != PELTON_ESTIMATE_LEAVES_LAST)
		return;
	pelton_util_est_dequeue(pol, &rq->cfs, se);
	pelton_rq_estimate_after(pol, rq, se, sleeps);
}

/* Both, for a host that fires its hooks later or never. */
PELTON_INLINE void pelton_rq_estimate_end(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se,
					  u32 sleeps, u32 was_delayed)
{
	if (pol->estimate_leaves == PELTON_ESTIMATE_LEAVES_FIRST)
		pelton_rq_estimate_after(pol, rq, se, sleeps);
	else if (!was_delayed)
		pelton_rq_estimate_last(pol, rq, se, sleeps);
}

/* The task's dequeue was delayed and is done now. */
PELTON_INLINE u32 pelton_delay_ends(const struct pelton_se *se, u32 flags)
{
	return se->delayed && (flags & PELTON_DEQUEUE_SLEEP);
}

/* `delta` of the levels above a task that leaves, asked before it does. */
PELTON_INLINE s32 pelton_leave_delta(const struct pelton_se *se, u32 flags)
{
	return se->delayed && !pelton_delay_ends(se, flags) ? 0 : -1;
}

/* A runnable task goes to another CPU: its averages leave at once, or are left to be removed at the next update. */
PELTON_INLINE void pelton_leave_queued(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	if (ctx->pol->queued_migrant == PELTON_QUEUED_MIGRANT_REMOVED)
		pelton_remove_sleeping(ctx, cfs, se);
	se->avg.last_update_time_ns = 0;
}

/* Work of the update of a task that leaves, besides aging. */
PELTON_INLINE u32 pelton_leave_update(const struct pelton_policy *pol, u32 sleeps, u32 flags)
{
	u32 detached = pol->queued_migrant == PELTON_QUEUED_MIGRANT_DETACHED && flags & PELTON_DEQUEUE_MIGRATE;
	u32 sampled = sleeps && pelton_samples_inside(pol);

	return (detached ? PELTON_DO_DETACH : 0) | (sampled ? PELTON_UPDATE_UTIL_EST : 0);
}

/* A task leaves its queue `cfs`. `flags`: PELTON_DEQUEUE_SLEEP or PELTON_DEQUEUE_MIGRATE or 0. */
PELTON_INLINE u32 pelton_rq_dequeue_task_on(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se, u64 now, u64 irq_ns,
					    u32 is_idle, u32 flags)
{
	u32 was_delayed = se->delayed;
	u32 sleeps = (flags & PELTON_DEQUEUE_SLEEP) && !was_delayed;
	struct pelton_ctx ctx;
	u32 ev;

	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	pelton_rq_estimate_before(pol, rq, se, sleeps);
	ctx = pelton_cfs_ctx(pol, rq, cfs);
	ev = pelton_dequeue_entity(&ctx, cfs, se, 0, was_delayed ? 0 : -1, pelton_leave_update(pol, sleeps, flags));
	if (flags & PELTON_DEQUEUE_MIGRATE)
		pelton_leave_queued(&ctx, cfs, se);
	if (!(flags & PELTON_DEQUEUE_ESTIMATE_LATER) || pol->estimate_leaves == PELTON_ESTIMATE_LEAVES_FIRST)
		pelton_rq_estimate_end(pol, rq, se, sleeps, was_delayed);
	return ev;
}

PELTON_INLINE u32 pelton_rq_dequeue_task(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se,
					 u64 now, u64 irq_ns, u32 is_idle, u32 flags)
{
	return pelton_rq_dequeue_task_on(pol, rq, &rq->cfs, se, now, irq_ns, is_idle, flags);
}

/* A task wants to sleep but stays queued on `cfs` until its lag is paid (delayed dequeue). */
PELTON_INLINE u32 pelton_rq_delay_task_on(const struct pelton_policy *pol, struct pelton_rq *rq,
					  struct pelton_cfs_rq *cfs, struct pelton_se *se, u64 now, u64 irq_ns,
					  u32 is_idle)
{
	struct pelton_ctx ctx;
	u32 ev;

	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	pelton_rq_estimate_before(pol, rq, se, 1);
	ctx = pelton_cfs_ctx(pol, rq, cfs);
	ev = pelton_delay_entity(&ctx, cfs, se);
	pelton_rq_estimate_end(pol, rq, se, 1, 0);
	return ev;
}

PELTON_INLINE u32 pelton_rq_delay_task(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *se,
				       u64 now, u64 irq_ns, u32 is_idle)
{
	return pelton_rq_delay_task_on(pol, rq, &rq->cfs, se, now, irq_ns, is_idle);
}

/* Put `prev` back and make `next` current; either may be NULL. `is_idle`: the CPU ran idle until now. */
PELTON_INLINE u32 pelton_rq_switch_fair(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *prev,
					struct pelton_se *next, u64 now, u64 irq_ns, u32 is_idle)
{
	struct pelton_ctx ctx;
	u32 ev = 0;

	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	ctx = pelton_cfs_ctx(pol, rq, &rq->cfs);
	if (prev)
		ev |= pelton_put_prev_entity(&ctx, &rq->cfs, prev, 0);
	if (next)
		ev |= pelton_set_next_entity(&ctx, &rq->cfs, next, 0);
	return ev;
}

/* The tick of a CPU that runs the fair task `curr`. */
PELTON_INLINE u32 pelton_rq_tick_fair(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *curr,
				      u64 now, u64 irq_ns)
{
	struct pelton_ctx ctx;

	pelton_clock_update(pol, rq, now, irq_ns, 0);
	ctx = pelton_cfs_ctx(pol, rq, &rq->cfs);
	return pelton_tick_entity(&ctx, &rq->cfs, curr, 0);
}

/* The CPU picked the idle task; `prev` is the fair task that was current until now, or NULL. */
PELTON_INLINE u32 pelton_rq_switch_idle(const struct pelton_policy *pol, struct pelton_rq *rq, struct pelton_se *prev,
					u64 now, u64 irq_ns, u32 is_idle)
{
	u32 ev = pelton_rq_switch_fair(pol, rq, prev, 0, now, irq_ns, is_idle);

	pelton_update_idle_rq_clock_pelt(pol, rq);
	return ev;
}

/* Clock, then the real-time record. `running`: 0 when such a task was just picked, 1 when it is put or ticks. */
PELTON_INLINE u32 pelton_rq_update_rt(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now, u64 irq_ns,
				      u32 is_idle, u32 running)
{
	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	return pelton_update_rt(pol, rq, running);
}

/* Clock, then the deadline record. `running`: 0 when such a task was just picked, 1 when it is put or ticks. */
PELTON_INLINE u32 pelton_rq_update_dl(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now, u64 irq_ns,
				      u32 is_idle, u32 running)
{
	pelton_clock_update(pol, rq, now, irq_ns, is_idle);
	return pelton_update_dl(pol, rq, running);
}

/* Classes that run on a CPU whose blocked load is refreshed. */
#define PELTON_RUNS_FAIR 0u
#define PELTON_RUNS_RT 1u
#define PELTON_RUNS_DL 2u
#define PELTON_RUNS_IDLE 3u

/* First part of the blocked walk: the clock and the records of the other classes. Returns their event bits. */
PELTON_INLINE u32 pelton_rq_update_blocked_others(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now,
						  u64 irq_ns, u32 runs, u32 lost_capacity)
{
	pelton_clock_update(pol, rq, now, irq_ns, runs == PELTON_RUNS_IDLE);
	return pelton_update_others(pol, rq, runs == PELTON_RUNS_RT, runs == PELTON_RUNS_DL, lost_capacity);
}

/* The blocked walk of a CPU without groups: all records up to `now`. Returns the event bits of the root queue. */
PELTON_INLINE u32 pelton_rq_update_blocked(const struct pelton_policy *pol, struct pelton_rq *rq, u64 now, u64 irq_ns,
					   u32 runs, u32 lost_capacity)
{
	u32 ev = pelton_rq_update_blocked_others(pol, rq, now, irq_ns, runs, lost_capacity);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, &rq->cfs);

	return ev | pelton_update_cfs_rq_load_avg(&ctx, &rq->cfs);
}

/* Does anything on this CPU still have to decay? */
PELTON_INLINE u32 pelton_rq_has_blocked(const struct pelton_rq *rq)
{
	return (rq->cfs.avg.load_avg | rq->cfs.avg.util_avg) != 0 || pelton_others_have_blocked(rq);
}

#endif
