/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scheduler events on one queue of a CPU, at the time that this queue has. `cfs` is the queue of a task group, or NULL
 * for the root queue of the CPU: for hosts that may not pass one record twice.
 *
 * The functions are those of rq_event.h and pelt_group.h without the name of the queue in them.
 *
 * Source: Linux 7.2 kernel/sched/fair.c (enqueue_task_fair, dequeue_entities, task_tick_fair), which walk from a task's
 * entity upwards and take the queue that each entity is on.
 * Deviations: the walk over the levels is the host's.
 */
#ifndef PELTON_RQ_LEVEL_H
#define PELTON_RQ_LEVEL_H

#include "rq_event.h"

PELTON_INLINE struct pelton_cfs_rq *pelton_rq_queue(struct pelton_rq *rq, struct pelton_cfs_rq *cfs)
{
	return cfs ? cfs : &rq->cfs;
}

/* A sleeping task of this queue is woken on another CPU, or ends. `is_idle`: this CPU runs the idle task. */
PELTON_INLINE void pelton_rq_migrate_sleeping_at(const struct pelton_policy *pol, struct pelton_rq *rq,
						 struct pelton_cfs_rq *cfs, struct pelton_se *se, u32 is_idle,
						 u64 wall_now)
{
	pelton_migrate_sleeping(pol, rq, pelton_rq_queue(rq, cfs), se, is_idle, wall_now);
}

PELTON_INLINE u32 pelton_rq_enqueue_finish_at(const struct pelton_policy *pol, struct pelton_rq *rq,
					      struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	return pelton_rq_enqueue_finish_on(pol, rq, pelton_rq_queue(rq, cfs), se);
}

PELTON_INLINE u32 pelton_rq_enqueue_delayed_at(const struct pelton_policy *pol, struct pelton_rq *rq,
					       struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	return pelton_rq_enqueue_delayed_on(pol, rq, pelton_rq_queue(rq, cfs), se);
}

PELTON_INLINE u32 pelton_rq_dequeue_task_at(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se, u64 now, u64 irq_ns,
					    u32 is_idle, u32 flags)
{
	return pelton_rq_dequeue_task_on(pol, rq, pelton_rq_queue(rq, cfs), se, now, irq_ns, is_idle, flags);
}

PELTON_INLINE u32 pelton_rq_delay_task_at(const struct pelton_policy *pol, struct pelton_rq *rq,
					  struct pelton_cfs_rq *cfs, struct pelton_se *se, u64 now, u64 irq_ns,
					  u32 is_idle)
{
	return pelton_rq_delay_task_on(pol, rq, pelton_rq_queue(rq, cfs), se, now, irq_ns, is_idle);
}

PELTON_INLINE u32 pelton_rq_enqueue_entity(const struct pelton_policy *pol, struct pelton_rq *rq,
					   struct pelton_cfs_rq *cfs, struct pelton_se *se, struct pelton_cfs_rq *owned,
					   s32 delta)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_enqueue_entity(&ctx, q, se, owned, delta);
}

PELTON_INLINE u32 pelton_rq_update_ancestor(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se,
					    struct pelton_cfs_rq *owned, s32 delta)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_update_ancestor(&ctx, q, se, owned, delta);
}

PELTON_INLINE u32 pelton_rq_dequeue_entity(const struct pelton_policy *pol, struct pelton_rq *rq,
					   struct pelton_cfs_rq *cfs, struct pelton_se *se, struct pelton_cfs_rq *owned,
					   s32 delta, u32 flags)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_dequeue_entity(&ctx, q, se, owned, delta, flags);
}

PELTON_INLINE u32 pelton_rq_set_next_entity(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se,
					    struct pelton_cfs_rq *owned)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_set_next_entity(&ctx, q, se, owned);
}

PELTON_INLINE u32 pelton_rq_put_prev_entity(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se,
					    struct pelton_cfs_rq *owned)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_put_prev_entity(&ctx, q, se, owned);
}

PELTON_INLINE u32 pelton_rq_tick_entity(const struct pelton_policy *pol, struct pelton_rq *rq,
					struct pelton_cfs_rq *cfs, struct pelton_se *se, struct pelton_cfs_rq *owned)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_tick_entity(&ctx, q, se, owned);
}

/* Entity and queue up to now, attach or detach by `flags`. */
PELTON_INLINE u32 pelton_rq_update_load_avg(const struct pelton_policy *pol, struct pelton_rq *rq,
					    struct pelton_cfs_rq *cfs, struct pelton_se *se,
					    struct pelton_cfs_rq *owned, u32 flags)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_update_load_avg(&ctx, q, se, owned, flags);
}

/* A task leaves the fair class. */
PELTON_INLINE u32 pelton_rq_switched_from_fair(const struct pelton_policy *pol, struct pelton_rq *rq,
					       struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_switched_from_fair(&ctx, q, se);
}

/* A task joins the fair class with averages of the past. */
PELTON_INLINE u32 pelton_rq_switched_to_fair(const struct pelton_policy *pol, struct pelton_rq *rq,
					     struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	struct pelton_cfs_rq *q = pelton_rq_queue(rq, cfs);
	struct pelton_ctx ctx = pelton_cfs_ctx(pol, rq, q);

	return pelton_switched_to_fair(&ctx, q, se);
}

#endif
