/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another weight for an entity of the fair class: a task's nice value, or a group's shares. fair_eevdf.h has the forms.
 *
 *   request   deadline' = v + (deadline - v) w / w'
 *   average   v' = V - lag w / w';  deadline' = V + (deadline - V) w / w'
 *   others    the same, V without the entity when it waits, and no limit of its lag
 *   anew      lag' = lag w / w', rest' = (deadline - v) w / w', then placed as one that joins
 *   anew_protected  anew, and (vprot - v) w / w' is what is left of the protection
 *   lag       v' = V - lag w / w';  deadline' and vprot' = V + (. - V) w / w'
 *   asleep    lag' = lag w / w'; a rest of a request likewise (6.18)
 *
 * Units: ns of nice 0; weight 1024 << 10 at nice 0.
 * Source: Linux kernel/sched/fair.c (reweight_entity, reweight_eevdf, rescale_entity) of 6.6, 6.8, 6.12.117,
 * 6.18.2, 6.18.17 and 7.2.12; CFS (to 6.1.192, the same function) changes the weight alone. Deviations: none known.
 */
#ifndef PELTON_FAIR_REWEIGHT_H
#define PELTON_FAIR_REWEIGHT_H

#include "fair_eevdf.h"

/* v is `around` plus something that was counted with weight `from`. */
PELTON_INLINE s64 pelton_rescale_around(s64 v, s64 around, u64 from, u64 to)
{
	return pelton_v_add(around, (u64)pelton_rescale(pelton_v_sub(v, around), from, to));
}

PELTON_INLINE void pelton_reweight_asleep(const struct pelton_policy *pol, struct pelton_fair_se *se, u64 weight)
{
	if (pol->fair_class == PELTON_FAIR_CFS)
		return;
	se->vlag = pelton_rescale(se->vlag, se->weight, weight);
	if (pol->fair_reweight >= PELTON_FAIR_REWEIGHT_ANEW && pol->fair_reweight != PELTON_FAIR_REWEIGHT_OTHERS &&
	    se->rel_deadline)
		se->deadline = pelton_rescale(se->deadline, se->weight, weight);
}

/* 6.12: around the average, which does not move; 6.8: around that of the others. */
PELTON_INLINE void pelton_reweight_eevdf(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					 const struct pelton_fair_rq *rq, struct pelton_fair_se *se, s64 average,
					 u64 weight)
{
	s64 lag = pelton_v_sub(average, se->vruntime);

	if (lag) {
		if (pol->fair_reweight != PELTON_FAIR_REWEIGHT_OTHERS)
			lag = pelton_entity_lag(pol, tun, rq, se, average);
		se->vruntime = pelton_v_sub(average, pelton_rescale(lag, se->weight, weight));
	}
	se->deadline = pelton_rescale_around(se->deadline, average, se->weight, weight);
}

/* 7.2: the same, with the lag left behind in the entity and the protection of the running one. */
PELTON_INLINE void pelton_reweight_by_lag(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					  const struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					  struct pelton_fair_se *se, s64 average, u64 weight)
{
	u32 protected = curr == se && pelton_protect_slice(pol, se);

	se->vlag = pelton_rescale(pelton_entity_lag(pol, tun, rq, se, average), se->weight, weight);
	se->deadline = pelton_rescale_around(se->deadline, average, se->weight, weight);
	if (protected)
		se->vprot = pelton_rescale_around(se->vprot, average, se->weight, weight);
	se->vruntime = pelton_v_sub(average, se->vlag);
}

/* Queued, in the forms that need no place in the queue: everything but the weight itself. */
PELTON_INLINE void pelton_reweight_queued(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					  struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					  struct pelton_fair_se *se, s64 average, u64 weight)
{
	if (pol->fair_class == PELTON_FAIR_CFS)
		return;
	if (pol->fair_reweight == PELTON_FAIR_REWEIGHT_REQUEST)
		se->deadline = pelton_rescale_around(se->deadline, se->vruntime, se->weight, weight);
	else if (pol->fair_reweight == PELTON_FAIR_REWEIGHT_AVERAGE ||
		 pol->fair_reweight == PELTON_FAIR_REWEIGHT_OTHERS)
		pelton_reweight_eevdf(pol, tun, rq, se, average, weight);
	else if (pol->fair_reweight == PELTON_FAIR_REWEIGHT_LAG)
		pelton_reweight_by_lag(pol, tun, rq, curr, se, average, weight);
}

/* Does it leave and join again? */
PELTON_INLINE u32 pelton_reweights_anew(const struct pelton_policy *pol)
{
	return pol->fair_class == PELTON_FAIR_EEVDF && (pol->fair_reweight == PELTON_FAIR_REWEIGHT_ANEW ||
							pol->fair_reweight == PELTON_FAIR_REWEIGHT_ANEW_PROTECTED);
}

/* 6.18: leaves and joins again; from 6.18.17 what is left of the running one's protection stays. */
PELTON_INLINE void pelton_reweight_anew(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					struct pelton_fair_se *se, u64 weight)
{
	u32 waits = curr != se, old = pol->fair_reweight == PELTON_FAIR_REWEIGHT_ANEW;
	u32 protected = !old && !waits && pelton_protect_slice(pol, se);
	s64 rest;

	pelton_leave_entity(pol, tun, rq, curr, se, 0);
	rest = pelton_rescale(pelton_v_sub(se->vprot, se->vruntime), se->weight, weight);
	if (waits)
		pelton_avg_vruntime_sub(pol, rq, se);
	rq->nr_queued--;
	pelton_reweight_asleep(pol, se, weight);
	se->weight = weight;
	se->inv_weight = 0;
	pelton_place_entity(pol, tun, rq, curr, se, 0);
	if (protected)
		se->vprot = pelton_v_add(se->vruntime, (u64)rest);
	rq->nr_queued++;
	if (waits)
		pelton_avg_vruntime_add(pol, rq, se);
}

/* Time was accounted. `inv_weight` is the new one of a task's table, 0 of a group. */
PELTON_INLINE void pelton_reweight_entity_fair(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					       struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					       struct pelton_fair_se *se, u64 weight, u32 inv_weight)
{
	u32 waits = se->on_rq && curr != se, others = pol->fair_reweight == PELTON_FAIR_REWEIGHT_OTHERS;
	s64 average = 0;

	if (!se->on_rq) {
		pelton_reweight_asleep(pol, se, weight);
	} else if (pelton_reweights_anew(pol)) {
		rq->load_weight += weight - se->weight;
		pelton_reweight_anew(pol, tun, rq, curr, se, weight);
		waits = 0;
	} else {
		rq->load_weight += weight - se->weight;
		if (waits && others)
			pelton_avg_vruntime_sub(pol, rq, se);
		if (pol->fair_class == PELTON_FAIR_EEVDF && pol->fair_reweight != PELTON_FAIR_REWEIGHT_REQUEST)
			average = pelton_avg_vruntime(pol, rq, curr);
		if (waits && !others)
			pelton_avg_vruntime_sub(pol, rq, se);
		pelton_reweight_queued(pol, tun, rq, curr, se, average, weight);
	}
	se->weight = weight;
	se->inv_weight = inv_weight;
	if (waits)
		pelton_avg_vruntime_add(pol, rq, se);
}

#endif
