/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle groups (`cpu.idle`, from 5.15 on): a group that stands behind all that is not idle, as a task of SCHED_IDLE
 * does. Its entities are idle ones (fair.h, fair_cfs.h), it weighs what such a task weighs, and what is on a CPU
 * because of it counts as idle there.
 *
 *   shares        3 while cpu.idle is 1; 1024 once it is 0 again, whatever they were before
 *   h_nr_idle     of a queue: tasks of SCHED_IDLE on it; of a group below: all its tasks when it is idle, else its own
 *                 h_nr_idle
 *   sched idle    a CPU whose tasks, of all classes, are all counted in the root's h_nr_idle
 *
 *   quantity   unit     range
 *   tasks      tasks    those whose dequeue is delayed included
 *
 * Source: Linux 6.1.192, 6.6.0, 6.12.118, 6.18.2, 7.2.12 kernel/sched/fair.c (sched_group_set_idle,
 * sched_group_set_shares, enqueue_task_fair, dequeue_task_fair, dequeue_entities,
 * throttle_cfs_rq, unthrottle_cfs_rq, sched_idle_rq); 5.10.262 has the counts without idle groups.
 * Deviations: none known.
 */
#ifndef PELTON_IDLE_GROUP_H
#define PELTON_IDLE_GROUP_H

#include "fair_weight.h"
#include "policy.h"

/* Are there idle groups? */
PELTON_INLINE u32 pelton_has_idle_groups(const struct pelton_policy *pol)
{
	return pol->group_idle != PELTON_GROUP_IDLE_OFF;
}

/* Shares of a group whose `cpu.idle` is written. */
PELTON_INLINE u64 pelton_shares_when_idle(u32 idle)
{
	return idle ? PELTON_WEIGHT_IDLEPRIO : PELTON_NICE_0_LOAD >> PELTON_WEIGHT_SHIFT;
}

/* `cpu.weight` and `cpu.shares` of an idle group cannot be written. */
PELTON_INLINE u32 pelton_shares_writable(u32 idle)
{
	return !idle;
}

/*
 * `tasks` come to a queue or leave it, negative, `idle` of them idle ones there: how many are idle ones of the queue
 * above? `group_idle`: of the group of the queue.
 */
PELTON_INLINE s32 pelton_h_nr_idle_above(u32 group_idle, s32 tasks, s32 idle)
{
	return group_idle ? tasks : idle;
}

/* A group has `queued` tasks on a CPU, `h_nr_idle` of them idle ones, and becomes idle or not: what comes above. */
PELTON_INLINE s32 pelton_set_idle_delta(u32 idle, u32 queued, u32 h_nr_idle)
{
	s32 delta = (s32)(queued - h_nr_idle);

	return idle ? delta : -delta;
}

/* Does a CPU run idle tasks only? */
PELTON_INLINE u32 pelton_sched_idle_rq(u32 nr_running, u32 h_nr_idle)
{
	return nr_running && nr_running == h_nr_idle;
}

#endif
