/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entities on queues: the update that every scheduler event performs, hierarchy propagation, group shares, life cycle.
 *
 *   root queue        q0 <- util, load of everything below
 *                     ^ group entity: averages follow the queue it owns
 *   group queue       q1 <- attach, detach, removal set `propagate`
 *                     ^ task
 *
 *   group util:    se.util_avg := g.util_avg, the difference goes to q
 *   group load:    R = se.load_sum + prop (limited), L = weight * R, A = L / divisor
 *   group weight:  (shares << 10) * load / T,  T = total of the group with this CPU's present load; as stored, weight.h
 *
 *   quantity       unit            range
 *   group weight   weight << 10    2 .. tg.shares << 10, tg.shares 2 .. 262144
 *   tg.load_avg    weight          sum of the queues' contributions
 *
 * Source: Linux 4.16 to 7.2.12 kernel/sched/fair.c (update_load_avg, propagate_entity_load_avg, update_tg_cfs_util,
 * update_tg_cfs_runnable, update_tg_cfs_load, calc_group_shares, update_tg_load_avg, update_cfs_group,
 * __update_blocked_fair, post_init_entity_util_avg, migrate_se_pelt_lag, switched_from_fair, switched_to_fair,
 * online_fair_sched_group); 4.12 (calc_cfs_shares, migrate_task_rq_fair). docs/rules/load-tracking.md has the rule per
 * release.
 * Deviations: 4.12 gave a group's entity the load average of its queue, scaled to the group's shares
 * (update_tg_cfs_load); here the form of 4.16 serves it.
 */
#ifndef PELTON_PELT_GROUP_H
#define PELTON_PELT_GROUP_H

#include "pelt_rq.h"
#include "pressure.h"
#include "util_est.h"

#define PELTON_CPU_WEIGHT_DEFAULT 100u
#define PELTON_CPU_WEIGHT_MAX 10000u
#define PELTON_TG_UPDATE_SHIFT 6 /* the total is refreshed when off by more than 1/64 */

/* Factor from an average that is carried up to its sum. */
PELTON_INLINE u32 pelton_carry_divisor(const struct pelton_policy *pol, const struct pelton_cfs_rq *q)
{
	return pol->propagation == PELTON_PROPAGATION_FULL_PERIOD ? PELTON_LOAD_AVG_MAX : pelton_divisor(pol, &q->avg);
}

/*
 * One signal without weights: the group entity (se) gets the average of the queue it owns, the queue above (q) takes
 * the difference, or a sum made anew.
 */
PELTON_INLINE void pelton_carry(const struct pelton_policy *pol, u64 *q_avg, u64 *q_sum, u64 *se_avg, u64 *se_sum,
				u64 avg, u32 divisor)
{
	u64 sum = avg * divisor;

	if (avg == *se_avg)
		return;
	*q_avg = pelton_shift_by(*q_avg, *se_avg, avg);
	if (pol->propagation == PELTON_PROPAGATION_DIFFERENCE)
		*q_sum = pelton_floor_sum(pol, pelton_shift_by(*q_sum, *se_sum, sum), *q_avg);
	else
		*q_sum = *q_avg * divisor;
	*se_avg = avg;
	*se_sum = sum;
}

PELTON_INLINE void pelton_update_tg_cfs_util(const struct pelton_policy *pol, struct pelton_cfs_rq *q,
					     struct pelton_avg *se, const struct pelton_avg *g)
{
	u64 q_sum = q->avg.util_sum, se_sum = se->util_sum;

	pelton_carry(pol, &q->avg.util_avg, &q_sum, &se->util_avg, &se_sum, g->util_avg, pelton_carry_divisor(pol, q));
	q->avg.util_sum = (u32)q_sum;
	se->util_sum = (u32)se_sum;
}

PELTON_INLINE void pelton_update_tg_cfs_runnable(const struct pelton_policy *pol, struct pelton_cfs_rq *q,
						 struct pelton_avg *se, const struct pelton_avg *g)
{
	pelton_carry(pol, &q->avg.runnable_avg, &q->avg.runnable_sum, &se->runnable_avg, &se->runnable_sum,
		     g->runnable_avg, pelton_carry_divisor(pol, q));
}

/* The group entity's new load sum: never above the full time, never below its running time. */
PELTON_INLINE u64 pelton_group_load_sum(const struct pelton_ctx *ctx, const struct pelton_avg *se,
					const struct pelton_cfs_rq *g, s64 prop, u32 divisor)
{
	u32 util_unit = ctx->pol->invariance == PELTON_INVARIANCE_CLOCK ? PELTON_CAPACITY_SCALE : ctx->cap_orig;
	u64 running = pelton_div_floor(se->util_sum, util_unit);
	u64 sum;

	if (prop >= 0)
		sum = pelton_min_u64(se->load_sum + (u64)prop, divisor);
	else
		sum = pelton_min_u64(se->load_sum, pelton_div_floor(g->avg.load_sum, g->load_weight));
	return pelton_max_u64(sum, running);
}

/* Is a load that stays the same left alone? */
PELTON_INLINE u32 pelton_carries_changes(const struct pelton_policy *pol)
{
	return pol->propagation == PELTON_PROPAGATION_DIFFERENCE ||
	       pol->propagation == PELTON_PROPAGATION_REBUILT_CHANGED;
}

/* Are sums made anew? */
PELTON_INLINE u32 pelton_carries_anew(const struct pelton_policy *pol)
{
	return pol->propagation == PELTON_PROPAGATION_REBUILT || pol->propagation == PELTON_PROPAGATION_REBUILT_CHANGED;
}

PELTON_INLINE void pelton_update_tg_cfs_load(const struct pelton_ctx *ctx, struct pelton_cfs_rq *q,
					     struct pelton_se *se, struct pelton_cfs_rq *g)
{
	u32 divisor = pelton_carry_divisor(ctx->pol, q);
	s64 prop = g->prop_runnable_sum;
	u64 sum, avg, q_sum;

	if (!prop)
		return;
	g->prop_runnable_sum = 0;
	sum = pelton_group_load_sum(ctx, &se->avg, g, prop, divisor);
	avg = se->weight * sum / divisor;
	if (avg == se->avg.load_avg && pelton_carries_changes(ctx->pol)) {
		if (ctx->pol->propagation == PELTON_PROPAGATION_REBUILT_CHANGED)
			se->avg.load_sum = sum;
		return;
	}
	q->avg.load_avg = pelton_shift_by(q->avg.load_avg, se->avg.load_avg, avg);
	q_sum = pelton_shift_by(q->avg.load_sum, se->weight * se->avg.load_sum, se->weight * sum);
	if (pelton_carries_anew(ctx->pol))
		q->avg.load_sum = q->avg.load_avg * divisor;
	else
		q->avg.load_sum = pelton_floor_sum(ctx->pol, q_sum, q->avg.load_avg);
	se->avg.load_sum = sum;
	se->avg.load_avg = avg;
	pelton_carry_runnable_load(ctx->pol, q, se, sum, divisor);
}

/* Carry what changed in the owned queue `g` up to the queue `q` the group entity sits on. Returns 1 if anything did. */
PELTON_INLINE u32 pelton_propagate_entity_load_avg(const struct pelton_ctx *ctx, struct pelton_cfs_rq *q,
						   struct pelton_se *se, struct pelton_cfs_rq *g)
{
	if (!g || !g->propagate)
		return 0;
	g->propagate = 0;
	pelton_add_propagation(q, g->prop_runnable_sum);
	pelton_update_tg_cfs_util(ctx->pol, q, &se->avg, &g->avg);
	if (!pelton_keeps_runnable_load(ctx->pol))
		pelton_update_tg_cfs_runnable(ctx->pol, q, &se->avg, &g->avg);
	pelton_update_tg_cfs_load(ctx, q, se, g);
	return 1;
}

/* Events that an update raises, given what happened in it. */
PELTON_INLINE u32 pelton_update_events(const struct pelton_policy *pol, u32 aged, u32 propagated, u32 moved, u32 flags)
{
	u32 changed = (aged & PELTON_EV_DECAYED) | propagated;
	u32 ev = (aged & PELTON_EV_REMOVED) | moved | (propagated ? PELTON_EV_PROPAGATED : 0);

	if (pol->hook_in_average)
		ev |= aged & PELTON_EV_DECAYED;
	else if (changed && !moved)
		ev |= PELTON_EV_DECAYED;
	if (moved || (changed && flags & PELTON_UPDATE_TG))
		ev |= PELTON_EV_TG_LOAD;
	return ev;
}

/*
 * Bring an entity and its queue up to ctx->now, attach or detach it. `owned` is the group's own queue, or NULL for a
 * task. The caller fires the hook for the returned PELTON_EV bits if `cfs` is the CPU's root queue.
 */
PELTON_INLINE u32 pelton_update_load_avg(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se,
					 struct pelton_cfs_rq *owned, u32 flags)
{
	u32 attached = se->avg.last_update_time_ns != 0;
	u32 aged, propagated, moved = 0;

	if (attached && !(flags & PELTON_SKIP_AGE_LOAD))
		pelton_update_load_avg_se(ctx, se);
	aged = pelton_update_cfs_rq_load_avg(ctx, cfs);
	propagated = pelton_propagate_entity_load_avg(ctx, cfs, se, owned);
	if (!attached && flags & PELTON_DO_ATTACH) {
		pelton_attach_entity_load_avg(ctx->pol, cfs, se);
		moved = PELTON_EV_ATTACH;
	} else if (flags & PELTON_DO_DETACH) {
		pelton_detach_entity_load_avg(ctx->pol, cfs, se);
		moved = PELTON_EV_DETACH;
	}
	if (flags & PELTON_UPDATE_UTIL_EST)
		pelton_util_est_update(ctx->pol, se, ctx->cap_orig, 1);
	return pelton_update_events(ctx->pol, aged, propagated, moved, flags);
}

/* The share of a group's weight that belongs to its entity on the CPU of queue `g`, as stored; so is `present`. */
PELTON_INLINE u64 pelton_calc_group_shares(const struct pelton_policy *pol, const struct pelton_cfs_rq *g,
					   const struct pelton_tg *tg, u64 present)
{
	u32 larger = pol->shares_load == PELTON_SHARES_LOAD_LARGER;
	u64 load = larger ? pelton_max_u64(g->load_weight, g->avg.load_avg) : g->load_weight;
	u64 total = pelton_sub_floor(tg->load_avg, g->tg_load_avg_contrib) + load;
	u64 whole = pelton_scale_load(tg->shares), share = whole * load;

	if (pol->shares_keep_empty && !g->load_weight)
		return present;
	if (total)
		share /= total;
	share = pelton_min_u64(share, whole);
	return pelton_max_u64(share, PELTON_MIN_SHARES);
}

/* Weight in shares of a control group's `cpu.weight`: 100 is 1024. */
PELTON_INLINE u64 pelton_shares_of_weight(u32 cpu_weight)
{
	return (cpu_weight * 1024ull + PELTON_CPU_WEIGHT_DEFAULT / 2u) / PELTON_CPU_WEIGHT_DEFAULT;
}

/*
 * A control group's `cpu.weight` of shares, as the file shows it (sched_weight_to_cgroup of 6.12 and 7.2; 6.1 shows 0
 * for less than half).
 */
PELTON_INLINE u64 pelton_weight_of_shares(u64 shares)
{
	u64 weight = (shares * PELTON_CPU_WEIGHT_DEFAULT + 512u) / 1024u;

	return pelton_max_u64(pelton_min_u64(weight, PELTON_CPU_WEIGHT_MAX), 1);
}

/* Refresh a group's load total from one of its queues. Returns 1 if it changed. Not for the root group. */
PELTON_INLINE u32 pelton_update_tg_load_avg(const struct pelton_policy *pol, struct pelton_tg *tg,
					    struct pelton_cfs_rq *g, u64 now)
{
	u64 contrib = g->tg_load_avg_contrib;

	if (pol->tg_limit && !pelton_elapsed(now, g->tg_update_ns, PELTON_NSEC_PER_MSEC))
		return 0;
	if (pelton_distance(g->avg.load_avg, contrib) <= contrib >> PELTON_TG_UPDATE_SHIFT)
		return 0;
	tg->load_avg = pelton_shift_by(tg->load_avg, contrib, g->avg.load_avg);
	g->tg_load_avg_contrib = g->avg.load_avg;
	g->tg_update_ns = now;
	return 1;
}

/* Give the entity of group queue `g` on queue `q` the weight that is its share now. Returns 1 if it changed. */
PELTON_INLINE u32 pelton_update_cfs_group(const struct pelton_policy *pol, struct pelton_cfs_rq *q,
					  struct pelton_se *se, const struct pelton_cfs_rq *g,
					  const struct pelton_tg *tg)
{
	u64 present = pelton_se_full_weight(se), weight = pelton_calc_group_shares(pol, g, tg, present);

	if (weight == present && !pol->shares_set_same)
		return 0;
	pelton_reweight_entity(pol, q, se, weight, pelton_calc_group_runnable(pol, g, weight));
	return weight != present;
}

/*
 * One group queue of the blocked walk, children before parents: `g` up to `ctx_g->now`, its part of the group's load,
 * and its entity on `q`, unless that has nothing left and nothing to propagate. Returns the event bits of `q`.
 */
PELTON_INLINE u32 pelton_walk_group(const struct pelton_ctx *ctx_g, const struct pelton_ctx *ctx_q,
				    struct pelton_cfs_rq *q, struct pelton_se *se, struct pelton_cfs_rq *g,
				    struct pelton_tg *tg, u64 wall_now)
{
	if (pelton_update_cfs_rq_load_avg(ctx_g, g))
		pelton_update_tg_load_avg(ctx_g->pol, tg, g, wall_now);
	if (!se->avg.load_avg && !se->avg.util_avg && !g->propagate)
		return 0;
	return pelton_update_load_avg(ctx_q, q, se, g, PELTON_UPDATE_TG);
}

/* Nothing is on the group queue, nothing of it is left: the walk need not come here. */
PELTON_INLINE u32 pelton_cfs_rq_is_decayed(const struct pelton_policy *pol, const struct pelton_cfs_rq *g)
{
	return !g->load_weight && !g->avg.load_sum && !g->avg.util_sum && !g->avg.runnable_sum && !g->removed_nr &&
	       !g->propagate && !(pol->decayed_contrib && g->tg_load_avg_contrib);
}

/* A new task: no history; its load is assumed to be full, its utilization is set at first placement. */
PELTON_INLINE void pelton_se_init(struct pelton_se *se, u64 weight)
{
	struct pelton_se fresh = { .weight = weight, .nr_runnable = 1, .avg.load_avg = weight };

	fresh.runnable_weight = (u32)pelton_scale_load(weight);
	*se = fresh;
}

/* First placement: half the capacity that is left, or the queue's average share when it has one. */
PELTON_INLINE void pelton_post_init_entity_util_avg(const struct pelton_policy *pol, const struct pelton_cfs_rq *cfs,
						    struct pelton_se *se, u32 cap_orig)
{
	u64 full = pol->init_util == PELTON_INIT_UTIL_CAPACITY ? cap_orig : PELTON_CAPACITY_SCALE;
	u64 cap = pelton_sub_floor(full, cfs->avg.util_avg) / 2;
	u32 shift = pol->init_weight == PELTON_INIT_WEIGHT_UNSCALED ? PELTON_WEIGHT_SHIFT : 0;
	u64 util = cap;

	if (cap && cfs->avg.util_avg)
		util = pelton_min_u64(cap, cfs->avg.util_avg * (se->weight << shift) / (cfs->avg.load_avg + 1));
	if (cap)
		se->avg.util_avg = util;
	se->avg.runnable_avg = pelton_keeps_runnable_load(pol) ? se->avg.load_avg : se->avg.util_avg;
}

/*
 * Time at which an idle CPU last accounted time, plus the time that a task which left it missed since; 0 = nothing to
 * add.
 */
PELTON_INLINE u64 pelton_migration_clock(const struct pelton_rq *rq, const struct pelton_cfs_rq *cfs, u64 wall_now)
{
	u64 base = rq->clock.clock_pelt_idle_ns - cfs->throttled_clock_pelt_ns;

	if (base < cfs->avg.last_update_time_ns)
		return 0;
	return base + (wall_now - rq->clock.clock_idle_ns);
}

/*
 * A sleeping task is woken on another CPU and becomes unattached. What it leaves on `cfs` of `old_rq`, which are only
 * read here, is `left`: a host that does not hold the lock of that queue adds it up elsewhere first.
 */
PELTON_INLINE void pelton_leave_sleeping(const struct pelton_policy *pol, const struct pelton_rq *old_rq,
					 const struct pelton_cfs_rq *cfs, struct pelton_se *se, u32 old_cpu_is_idle,
					 u64 wall_now, struct pelton_removed *left)
{
	struct pelton_ctx ctx = pelton_rq_ctx(pol, old_rq);

	pelton_sync_blocked(&ctx, cfs, se);
	pelton_removed_of(pol, se, left);
	ctx.now = pelton_migration_clock(old_rq, cfs, wall_now);
	if (pol->migration_lag && pol->invariance == PELTON_INVARIANCE_CLOCK && old_cpu_is_idle && ctx.now)
		pelton_update_load_avg_blocked_se(&ctx, se);
	se->avg.last_update_time_ns = 0;
}

/* The same where the queue is locked: the share is left there at once. */
PELTON_INLINE void pelton_migrate_sleeping(const struct pelton_policy *pol, const struct pelton_rq *old_rq,
					   struct pelton_cfs_rq *cfs, struct pelton_se *se, u32 old_cpu_is_idle,
					   u64 wall_now)
{
	struct pelton_removed left;

	pelton_leave_sleeping(pol, old_rq, cfs, se, old_cpu_is_idle, wall_now, &left);
	pelton_add_removed(cfs, &left, 1);
}

/* A task ends or leaves the fair class in its sleep. */
PELTON_INLINE void pelton_remove_sleeping(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	pelton_sync_blocked(ctx, cfs, se);
	pelton_deposit_removed(ctx->pol, cfs, se);
}

/* A task leaves the fair class: its averages leave the queue, its record keeps them and goes on from there. */
PELTON_INLINE u32 pelton_switched_from_fair(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs,
					    struct pelton_se *se)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, 0, 0);

	pelton_detach_entity_load_avg(ctx->pol, cfs, se);
	return ev | PELTON_EV_DETACH | PELTON_EV_TG_LOAD;
}

/* A task joins the fair class with averages of the past: decayed over the time it was away, then attached. */
PELTON_INLINE u32 pelton_switched_to_fair(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	u32 ev = pelton_update_load_avg(ctx, cfs, se, 0, 0);

	pelton_attach_entity_load_avg(ctx->pol, cfs, se);
	return ev | PELTON_EV_ATTACH | PELTON_EV_TG_LOAD;
}

/*
 * A group comes into being on this CPU: its entity is attached, empty, long before its first task. Without this the
 * first enqueue would both carry up the new queue's averages and attach the entity that already has them.
 */
PELTON_INLINE void pelton_group_online(const struct pelton_ctx *ctx, struct pelton_cfs_rq *cfs, struct pelton_se *se)
{
	struct pelton_avg empty = { 0 };

	se->avg = empty;
	se->runnable_weight = (u32)pelton_se_full_weight(se);
	pelton_update_load_avg(ctx, cfs, se, 0, 0);
	pelton_attach_entity_load_avg(ctx->pol, cfs, se);
}

/* A task created in another class only learns what time it is. */
PELTON_INLINE void pelton_init_other_class(const struct pelton_ctx *ctx, struct pelton_se *se)
{
	se->avg.last_update_time_ns = ctx->now;
	if (pelton_keeps_runnable_load(ctx->pol))
		se->avg.runnable_avg = se->avg.load_avg;
}

#endif
