/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the choice of place.h reads when tasks are in groups: the load that a task's coming or going moves at the root.
 *
 *   4.12: shift of the load of a group's entity when its queue gets wl more and its group wg more
 *     W = wg + T - contrib + L,  w = L + wl         T = the group's load, L = its queue's load average on this CPU
 *     weight' = shares * w / W   when 0 < W and w < W, else shares; at least 2
 *     shift   = weight' - load average of the entity                the next level up: wl = shift, wg = 0
 *
 *   later: a task's part of its CPU's load
 *     H(root) = L(root),  H(g) = H(q) * load average of g's entity / (L(q) + 1),  h(task) = H(g) * load / (L(g) + 1)
 *
 *   quantity       unit      range
 *   load           weight    0 .. 88761 * tasks
 *   shift          weight    signed
 *
 * Source: Linux 4.12 kernel/sched/fair.c (effective_load); 4.16 to 7.2 the same file (update_cfs_rq_h_load,
 * task_h_load).
 * Deviations: H is worked out anew each time, the kernel keeps it for a jiffy. A task of the root has h = load.
 */
#ifndef PELTON_PLACE_GROUP_H
#define PELTON_PLACE_GROUP_H

#include "pelt_group.h"
#include "place.h"

/* Shift of what the entity `se` of group queue `g` brings to the queue above. */
PELTON_INLINE s64 pelton_effective_load(const struct pelton_cfs_rq *g, const struct pelton_tg *tg,
					const struct pelton_se *se, s64 wl, s64 wg)
{
	s64 own = (s64)g->avg.load_avg;
	s64 total = wg + (s64)pelton_sub_floor(tg->load_avg, g->tg_load_avg_contrib) + own;
	s64 moved = own + wl;
	u64 weight = tg->shares;

	if (total > 0 && moved < total)
		weight = moved > 0 ? pelton_div_floor(tg->shares * (u64)moved, (u64)total) : 0;
	return (s64)pelton_max_u64(weight, PELTON_MIN_SHARES) - (s64)se->avg.load_avg;
}

/*
 * Load of something of load average `load` on a queue of load average `queue`, when all of the queue counts for `part`.
 */
PELTON_INLINE u64 pelton_h_load(u64 part, u64 load, u64 queue)
{
	return pelton_div_floor(part * load, queue + 1);
}

/* `load` after a signed shift, not below `least`. */
PELTON_INLINE u64 pelton_shift_load(u64 load, s64 shift, u64 least)
{
	if (shift >= 0)
		return load + (u64)shift;
	return pelton_max_u64(pelton_sub_floor(load, (u64)-shift), least);
}

/*
 * The comparison by runnable load with groups: `waker_*` is what its sleep shifts on the waking (here) and on the
 * previous CPU (there), `task_*` what the wakee's coming shifts. What stays here stays more than nothing.
 */
PELTON_INLINE void pelton_wake_in_groups(struct pelton_wake *w, s64 waker_here, s64 waker_there, s64 task_here,
					 s64 task_there)
{
	if (w->sync) {
		w->this_load = pelton_shift_load(w->this_load, waker_here, 0);
		w->prev_load = pelton_shift_load(w->prev_load, waker_there, 0);
	}
	w->waker_load = 0;
	w->prev_load = pelton_shift_load(w->prev_load, task_there, 0);
	w->task_load = task_here > 0 ? (u64)task_here : 0;
	if (task_here < 0 && w->this_load)
		w->this_load = pelton_shift_load(w->this_load, task_here, 1);
}

#endif
