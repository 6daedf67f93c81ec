/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EEVDF, from 6.6: of the entities that had no more than their share, the one of earliest virtual deadline runs.
 *
 *   V            zero + floor(sum w (v - zero) / sum w) over the queue, the running entity included
 *   eligible     sum w (v - zero) >= (v_i - zero) sum w, that is V >= v_i without the division
 *   lag          V - v_i, at most limit either way
 *     own_slice      limit = virtual time of max(2 slice, tick)               6.6 .. 6.18
 *     longest_slice  limit = virtual time of the longest slice queued + tick  7.2
 *   place        v_i = V - lag (W + w_i) / W, so that the lag is right once the entity moved V by joining
 *                deadline = v_i + slice (half of it when new), or what was left of the request (rel_deadline, 6.12)
 *   deadline     once v_i reached it: v_i + slice
 *   protection   what keeps the running entity from being preempted at a wake-up
 *     request        while it has the deadline it was picked with              6.6
 *     short          the same; lost to an eligible wakee of shorter slice that comes first, or if it is not eligible
 *      6.12
 *     shortest       for the shortest slice queued; a wakee of shorter slice passes it, or shortens it  6.18
 *     shortest_each  the same, shortened by every wakee; a new or delayed one is not looked at  7.2
 *   reweight     request: vruntime stays, the rest of the request is scaled    6.6
 *                average: lag and deadline scaled around V                     6.12
 *                anew:    lag and the rest of the request scaled, then placed  6.18
 *                lag:     lag, deadline and protection scaled around V         7.2
 *   delayed      zero: lag above 0 is dropped (6.12).  kept: neither above 0 nor below what it was (7.2)
 *
 * Units: ns; virtual times in ns of nice 0, compared by their signed difference.
 * Source: Linux kernel/sched/fair.c (avg_vruntime, update_zero_vruntime, entity_eligible, vruntime_eligible,
 * entity_lag,
 * update_entity_lag, place_entity, update_deadline, set_protect_slice, protect_slice, cancel_protect_slice,
 * update_protect_slice,
 * pick_eevdf, do_preempt_short, did_preempt_short, update_curr, check_preempt_wakeup_fair, wakeup_preempt_fair,
 * reweight_eevdf,
 * rescale_entity, reweight_entity, requeue_delayed_entity, finish_delayed_dequeue_entity, yield_task_fair) of 6.6,
 * 6.12.117,
 * 6.18.2 and 7.2.12.
 * Deviations: features at their defaults (PLACE_LAG, PLACE_DEADLINE_INITIAL, RUN_TO_PARITY, PREEMPT_SHORT,
 * DELAY_ZERO on;
 * NEXT_BUDDY, PARANOID_AVG off); no next buddy.
 */
#ifndef PELTON_FAIR_EEVDF_H
#define PELTON_FAIR_EEVDF_H

#include "fair.h"

/* Sums over the queue with the running entity. */
struct pelton_fair_sums {
	s64 w_vruntime;
	s64 weight;
};

PELTON_INLINE struct pelton_fair_sums pelton_fair_sums(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
						       const struct pelton_fair_se *curr)
{
	struct pelton_fair_sums sums = { rq->sum_w_vruntime, rq->sum_weight };
	s64 weight;

	if (curr && curr->on_rq) {
		weight = pelton_avg_vruntime_weight(pol, curr->weight);
		sums.w_vruntime = pelton_v_add(sums.w_vruntime, (u64)pelton_entity_key(rq, curr) * (u64)weight);
		sums.weight += weight;
	}
	return sums;
}

/* floor(n / d), d > 0. */
PELTON_INLINE s64 pelton_div_s64_floor(s64 n, s64 d)
{
	if (n < 0)
		n = pelton_v_sub(n, d - 1);
	return pelton_div_s64(n, d);
}

/* V; it becomes the reference of the sums where that is the average. `curr` runs, or is 0. */
PELTON_INLINE s64 pelton_avg_vruntime(const struct pelton_policy *pol, struct pelton_fair_rq *rq,
				      const struct pelton_fair_se *curr)
{
	struct pelton_fair_sums sums = pelton_fair_sums(pol, rq, curr);
	s64 delta = 0;

	if (sums.weight)
		delta = pelton_div_s64_floor(sums.w_vruntime, sums.weight);
	if (pol->fair_zero == PELTON_FAIR_ZERO_MIN_VRUNTIME)
		return pelton_v_add(rq->zero_vruntime, (u64)delta);
	/* One element is the average, however far it is: a product could wrap. */
	if (!rq->sum_weight && curr && curr->on_rq)
		delta = pelton_entity_key(rq, curr);
	pelton_move_zero(rq, delta);
	return rq->zero_vruntime;
}

/* Upper 64 bits of a product. */
PELTON_INLINE u64 pelton_mul_high(u64 a, u64 b)
{
	u64 low = (a & 0xffffffffu) * (b & 0xffffffffu);
	u64 mid = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
	u64 mid2 = (a & 0xffffffffu) * (b >> 32) + (mid & 0xffffffffu);

	return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
}

/* sum >= key * weight without losing what is above 64 bits; weight >= 0. Two factors of 32 bits have nothing above. */
PELTON_INLINE u32 pelton_sum_reaches(s64 sum, s64 key, s64 weight)
{
	u64 size = key < 0 ? 0 - (u64)key : (u64)key, w = (u64)weight, low = size * w;
	u64 high = (size | w) >> 32 ? pelton_mul_high(size, w) : 0;

	if (high || low >> 63)
		return key < 0;
	return key < 0 ? sum >= -(s64)low : sum >= (s64)low;
}

PELTON_INLINE u32 pelton_vruntime_eligible(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
					   const struct pelton_fair_se *curr, s64 vruntime)
{
	struct pelton_fair_sums sums = pelton_fair_sums(pol, rq, curr);
	s64 key = pelton_v_sub(vruntime, rq->zero_vruntime);

	if (pol->fair_weight == PELTON_FAIR_WEIGHT_FULL)
		return pelton_sum_reaches(sums.w_vruntime, key, sums.weight);
	return sums.w_vruntime >= (s64)((u64)key * (u64)sums.weight);
}

PELTON_INLINE u32 pelton_entity_eligible(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
					 const struct pelton_fair_se *curr, const struct pelton_fair_se *se)
{
	return pelton_vruntime_eligible(pol, rq, curr, se->vruntime);
}

PELTON_INLINE u32 pelton_entity_before(const struct pelton_fair_se *a, const struct pelton_fair_se *b)
{
	return pelton_v_sub(a->deadline, b->deadline) < 0;
}

PELTON_INLINE u64 pelton_lag_limit(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				   const struct pelton_fair_rq *rq, const struct pelton_fair_se *se)
{
	u64 limit_ns = pelton_max_u64(2 * se->slice_ns, tun->tick_ns);

	if (pol->lag_limit == PELTON_LAG_LIMIT_LONGEST_SLICE)
		limit_ns = rq->max_slice_ns + tun->tick_ns;
	return pelton_vtime(pol, limit_ns, se);
}

PELTON_INLINE s64 pelton_entity_lag(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				    const struct pelton_fair_rq *rq, const struct pelton_fair_se *se, s64 average)
{
	s64 lag = pelton_v_sub(average, se->vruntime), limit = (s64)pelton_lag_limit(pol, tun, rq, se);

	if (lag > limit)
		return limit;
	return lag < -limit ? -limit : lag;
}

/*
 * Before `se` leaves, which is still on the queue. Returns 1 when its lag is another than its place says: where it
 * stays, it
 * has to be placed anew.
 */
PELTON_INLINE u32 pelton_update_entity_lag(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					   struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					   struct pelton_fair_se *se)
{
	s64 average = pelton_avg_vruntime(pol, rq, curr);
	s64 lag = pelton_entity_lag(pol, tun, rq, se, average);

	if (pol->delayed_lag == PELTON_DELAYED_LAG_KEPT && se->delayed) {
		lag = lag > se->vlag ? lag : se->vlag;
		lag = lag < 0 ? lag : 0;
	}
	se->vlag = lag;
	return pelton_v_sub(average, lag) != se->vruntime;
}

/* `se` wants to sleep. Returns 1 when its dequeue is delayed. */
PELTON_INLINE u32 pelton_delay_dequeue(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				       struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
				       struct pelton_fair_se *se)
{
	if (pol->delayed_dequeue == PELTON_OFF || pelton_entity_eligible(pol, rq, curr, se))
		return 0;
	if (pol->delayed_lag == PELTON_DELAYED_LAG_KEPT)
		pelton_update_entity_lag(pol, tun, rq, curr, se);
	se->delayed = 1;
	return 1;
}

/* A delayed entity wakes. Returns 1 when it has to be placed anew. */
PELTON_INLINE u32 pelton_requeue_delayed(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					 struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					 struct pelton_fair_se *se)
{
	u32 changed = pelton_update_entity_lag(pol, tun, rq, curr, se);

	if (pol->delayed_lag == PELTON_DELAYED_LAG_KEPT)
		return changed;
	if (se->vlag <= 0)
		return 0;
	se->vlag = 0;
	return 1;
}

/* A delayed entity left. */
PELTON_INLINE void pelton_finish_delayed_dequeue(struct pelton_fair_se *se)
{
	se->delayed = 0;
	if (se->vlag > 0)
		se->vlag = 0;
}

/* `se` leaves its queue, from which it is not taken yet. */
PELTON_INLINE void pelton_leave_entity(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				       struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
				       struct pelton_fair_se *se, u32 sleeps)
{
	pelton_update_entity_lag(pol, tun, rq, curr, se);
	if (pol->rel_deadline == PELTON_ON && !sleeps) {
		se->deadline = pelton_v_sub(se->deadline, se->vruntime);
		se->rel_deadline = 1;
	}
}

PELTON_INLINE void pelton_refresh_slice(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					struct pelton_fair_se *se)
{
	if (!se->custom_slice || pol->custom_slice == PELTON_OFF)
		se->slice_ns = tun->base_slice_ns;
}

/* The virtual lag that `se` must join with so that it has `se->vlag` afterwards. */
PELTON_INLINE s64 pelton_inflated_lag(const struct pelton_policy *pol, struct pelton_fair_rq *rq,
				      const struct pelton_fair_se *curr, const struct pelton_fair_se *se)
{
	s64 load = pelton_fair_sums(pol, rq, curr).weight, weight = pelton_avg_vruntime_weight(pol, se->weight);

	return pelton_div_s64((s64)((u64)se->vlag * (u64)(load + weight)), load ? load : 1);
}

/* `se` joins; `nr_queued` of `rq` does not count it, and `curr` may be itself. */
PELTON_INLINE void pelton_place_entity(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				       struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
				       struct pelton_fair_se *se, u32 initial)
{
	s64 average = pelton_avg_vruntime(pol, rq, curr), lag = 0;
	u32 heavy = 0;
	u64 vslice;

	pelton_refresh_slice(pol, tun, se);
	vslice = pelton_vtime(pol, se->slice_ns, se);
	if (rq->nr_queued && se->vlag) {
		lag = pelton_inflated_lag(pol, rq, curr, se);
		heavy = pelton_avg_vruntime_weight(pol, se->weight) > pelton_fair_sums(pol, rq, curr).weight;
	}
	se->vruntime = pelton_v_sub(average, lag);
	/* The average is about to be near this entity. */
	if (heavy && pol->fair_weight == PELTON_FAIR_WEIGHT_FULL)
		pelton_move_zero(rq, pelton_v_sub(0, lag));
	if (pol->rel_deadline == PELTON_ON && se->rel_deadline) {
		se->deadline = pelton_v_add(se->deadline, (u64)se->vruntime);
		se->rel_deadline = 0;
		return;
	}
	if (initial && pol->initial_slice == PELTON_INITIAL_SLICE_HALF)
		vslice /= 2;
	se->deadline = pelton_v_add(se->vruntime, vslice);
}

/* Returns 1 when a new request began. */
PELTON_INLINE u32 pelton_update_deadline(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					 struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					 struct pelton_fair_se *se)
{
	if (pelton_v_sub(se->vruntime, se->deadline) < 0)
		return 0;
	pelton_refresh_slice(pol, tun, se);
	se->deadline = pelton_v_add(se->vruntime, pelton_vtime(pol, se->slice_ns, se));
	if (pol->fair_zero == PELTON_FAIR_ZERO_AVERAGE)
		pelton_avg_vruntime(pol, rq, curr);
	return 1;
}

/* sched_yield() of the running entity. */
PELTON_INLINE void pelton_yield_entity(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
				       struct pelton_fair_rq *rq, struct pelton_fair_se *curr)
{
	if (pol->fair_yield == PELTON_FAIR_YIELD_DEADLINE) {
		curr->deadline = pelton_v_add(curr->deadline, pelton_vtime(pol, curr->slice_ns, curr));
		return;
	}
	if (!pelton_entity_eligible(pol, rq, curr, curr))
		return;
	curr->vruntime = curr->deadline;
	pelton_update_deadline(pol, tun, rq, curr, curr);
}

PELTON_INLINE u32 pelton_protects_slice(const struct pelton_policy *pol)
{
	return pol->run_to_parity >= PELTON_RUN_TO_PARITY_SHORTEST;
}

PELTON_INLINE u32 pelton_protect_slice(const struct pelton_policy *pol, const struct pelton_fair_se *curr)
{
	if (pelton_protects_slice(pol))
		return pelton_v_sub(curr->vruntime, curr->vprot) < 0;
	return curr->vprot == curr->deadline;
}

PELTON_INLINE void pelton_cancel_protect_slice(const struct pelton_policy *pol, struct pelton_fair_se *curr)
{
	if (!pelton_protect_slice(pol, curr))
		return;
	curr->vprot = pelton_protects_slice(pol) ? curr->vruntime : pelton_v_add(curr->deadline, 1);
}

/* `se` begins to run; `min_slice_ns` of `rq` is that of the others, all ones where there are none. */
PELTON_INLINE void pelton_set_protect_slice(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
					    struct pelton_fair_se *se)
{
	s64 vprot = se->deadline;

	if (pelton_protects_slice(pol) && rq->min_slice_ns < se->slice_ns)
		vprot = pelton_min_vruntime(vprot, pelton_v_add(se->vruntime, pelton_vtime(pol, rq->min_slice_ns, se)));
	se->vprot = vprot;
}

/* `min_slice_ns` of `rq` is that of all entities. */
PELTON_INLINE void pelton_update_protect_slice(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
					       struct pelton_fair_se *curr)
{
	s64 vprot = pelton_v_add(curr->vruntime, pelton_vtime(pol, rq->min_slice_ns, curr));

	curr->vprot = pelton_min_vruntime(curr->vprot, vprot);
}

/* Does the wakee pass the protection of the running entity? */
PELTON_INLINE u32 pelton_preempt_short(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
				       const struct pelton_fair_se *curr, const struct pelton_fair_se *wakee)
{
	if (pol->run_to_parity == PELTON_RUN_TO_PARITY_REQUEST || wakee->slice_ns >= curr->slice_ns)
		return 0;
	if (pelton_protects_slice(pol))
		return 1;
	return pelton_entity_eligible(pol, rq, curr, wakee) &&
	       (pelton_entity_before(wakee, curr) || !pelton_entity_eligible(pol, rq, curr, curr));
}

/* Is a wakee looked at at all? `is_new`: it was just made. */
PELTON_INLINE u32 pelton_wakee_may_preempt(const struct pelton_policy *pol, const struct pelton_fair_se *wakee,
					   u32 passes, u32 is_new)
{
	return pol->fork_preempts == PELTON_ON || passes || !(is_new || wakee->delayed);
}

/* The wakee was looked at and not picked. `passes` is the answer of pelton_preempt_short(). */
PELTON_INLINE void pelton_wakee_waits(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
				      struct pelton_fair_se *curr, u32 passes)
{
	if (pol->run_to_parity == PELTON_RUN_TO_PARITY_SHORT && passes)
		pelton_cancel_protect_slice(pol, curr);
	if (pol->run_to_parity == PELTON_RUN_TO_PARITY_SHORTEST_EACH ||
	    (pol->run_to_parity == PELTON_RUN_TO_PARITY_SHORTEST && passes))
		pelton_update_protect_slice(pol, rq, curr);
}

/* Once time was accounted: does the running entity give way? `renewed` is the answer of pelton_update_deadline(). */
PELTON_INLINE u32 pelton_curr_gives_way(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
					const struct pelton_fair_se *curr, u32 renewed)
{
	if (rq->nr_queued <= 1)
		return 0;
	if (renewed || pol->run_to_parity == PELTON_RUN_TO_PARITY_REQUEST)
		return renewed;
	if (pelton_protect_slice(pol, curr))
		return 0;
	return pelton_protects_slice(pol) || !pelton_entity_eligible(pol, rq, curr, curr);
}

/* The running entity ran for `delta_ns`, and time is accounted. Returns 1 when it gives way. */
PELTON_INLINE u32 pelton_update_curr_eevdf(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					   struct pelton_fair_rq *rq, struct pelton_fair_se *curr, u64 delta_ns)
{
	pelton_update_curr(pol, curr, delta_ns);
	return pelton_curr_gives_way(pol, rq, curr, pelton_update_deadline(pol, tun, rq, curr, curr));
}

/* The running entity is picked without a look at the others. */
PELTON_INLINE u32 pelton_keeps_curr(const struct pelton_policy *pol, const struct pelton_fair_rq *rq,
				    const struct pelton_fair_se *curr, u32 protect)
{
	if (!curr || !curr->on_rq)
		return 0;
	if (rq->nr_queued == 1 && pol->run_to_parity != PELTON_RUN_TO_PARITY_REQUEST)
		return 1;
	return protect && pelton_entity_eligible(pol, rq, curr, curr) && pelton_protect_slice(pol, curr);
}

/* The eligible running entity, or `best`, the eligible waiting one of earliest deadline? 1 = the running one. */
PELTON_INLINE u32 pelton_picks_curr(const struct pelton_policy *pol, const struct pelton_fair_se *curr,
				    const struct pelton_fair_se *best)
{
	if (pol->run_to_parity == PELTON_RUN_TO_PARITY_REQUEST)
		return !pelton_entity_before(best, curr);
	return pelton_entity_before(curr, best);
}

#endif
