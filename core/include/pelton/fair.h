/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fair class: its entities, its queues, its parameters, and what CFS and EEVDF share. fair_cfs.h and
 * fair_eevdf.h have
 * the rest; which entities are on a queue, and a search among them, is the host's.
 *
 *   update_curr        vruntime += calc_delta_fair(time)
 *   min_vruntime       max(itself, least vruntime of the queue, the running entity included)
 *   sysctl_factor      1 + ilog2(min(CPUs, 8)); base slice, latency and granularities are multiplied with it
 *
 *   quantity            unit                    range
 *   weight              1024 << 10 at nice 0    2048 .. 2^28
 *   vruntime, deadline  ns of nice 0            any, compared by their signed difference
 *   slice               ns
 *
 * Source: Linux 4.12.0 .. 7.2.12 kernel/sched/fair.c (update_curr, update_min_vruntime, entity_before,
 * get_update_sysctl_factor,
 * sched_slice's parameters), read in 4.12.0, 4.16, 4.19, 5.4, 5.10.262, 6.1.192, 6.6, 6.12.117, 6.18.2 and 7.2.12.
 * Deviations: none known.
 */
#ifndef PELTON_FAIR_H
#define PELTON_FAIR_H

#include "fair_weight.h"

/* An entity of the fair class: a task, or a group on one CPU. */
struct pelton_fair_se {
	u64 weight;
	s64 vruntime;
	s64 deadline; /* relative to vruntime while rel_deadline is set */
	s64 vlag;     /* how far behind the average it was when it left */
	s64 vprot;    /* running: not preempted before; forms "request" and "short": the deadline it was picked with */
	u64 slice_ns; /* of the present request */
	u64 ran_ns;   /* execution time since it was picked */
	u32 inv_weight;   /* 2^32 / weight of a task by its table; 0 = to be computed */
	u32 custom_slice; /* it asked for slice_ns; else the base slice */
	u32 rel_deadline;
	u32 delayed; /* queued although asleep */
	u32 on_rq;
	u32 idle_policy; /* SCHED_IDLE, or an idle group (idle_group.h) */
} PELTON_ALIGNED64;

/* A fair queue of one CPU, of the root or of a group. */
struct pelton_fair_rq {
	s64 zero_vruntime;  /* min_vruntime, or the average (switch fair_zero); the sums are relative to it */
	s64 sum_w_vruntime; /* of waiting entities: weight * (vruntime - zero) */
	s64 sum_weight;     /* of waiting entities */
	u64 load_weight;    /* of all entities */
	u64 min_slice_ns;   /* shortest and longest slice on the queue, running entity included */
	u64 max_slice_ns;
	u32 nr_queued; /* running entity included */
	u32 nr_idle;   /* of them, those of SCHED_IDLE and idle groups */
} PELTON_ALIGNED64;

/* Numbers that an administrator may set, already multiplied with the factor. */
struct pelton_fair_tunables {
	u64 base_slice_ns;
	u64 tick_ns;
	u64 latency_ns;
	u64 min_granularity_ns;
	u64 idle_min_granularity_ns; /* not multiplied */
	u64 wakeup_granularity_ns;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_fair_se) == 80, "layout");
_Static_assert(sizeof(struct pelton_fair_rq) == 56, "layout");
_Static_assert(sizeof(struct pelton_fair_tunables) == 48, "layout");

#define PELTON_SCHED_LATENCY_NS 6000000u
#define PELTON_MIN_GRANULARITY_NS 750000u
#define PELTON_WAKEUP_GRANULARITY_NS 1000000u
#define PELTON_SYSCTL_CPUS_MAX 8u
/* Shortest time that the timer of a request is started for, and the change that it is started again for. */
#define PELTON_FAIR_HRTICK_MIN_NS 10000u
#define PELTON_FAIR_HRTICK_APART_NS 5000u

PELTON_INLINE u32 pelton_sysctl_factor(u32 nr_cpus)
{
	return pelton_fls(pelton_clamp_u32(nr_cpus, 1, PELTON_SYSCTL_CPUS_MAX));
}

PELTON_INLINE void pelton_fair_tunables_init(const struct pelton_policy *pol, struct pelton_fair_tunables *tun,
					     u32 nr_cpus, u64 tick_ns)
{
	u32 factor = pelton_sysctl_factor(nr_cpus);
	u32 base_ns = pol->base_slice == PELTON_BASE_SLICE_700_US ? 700000u : 750000u;

	tun->base_slice_ns = (u64)base_ns * factor;
	tun->tick_ns = tick_ns;
	tun->latency_ns = (u64)PELTON_SCHED_LATENCY_NS * factor;
	tun->min_granularity_ns = (u64)PELTON_MIN_GRANULARITY_NS * factor;
	tun->idle_min_granularity_ns = PELTON_MIN_GRANULARITY_NS;
	tun->wakeup_granularity_ns = (u64)PELTON_WAKEUP_GRANULARITY_NS * factor;
}

/* Virtual times wrap: all arithmetic on them is modulo 2^64, and a comparison looks at the difference. */
PELTON_INLINE s64 pelton_v_add(s64 v, u64 d)
{
	return (s64)((u64)v + d);
}

PELTON_INLINE s64 pelton_v_sub(s64 a, s64 b)
{
	return (s64)((u64)a - (u64)b);
}

PELTON_INLINE s64 pelton_max_vruntime(s64 a, s64 b)
{
	return pelton_v_sub(b, a) > 0 ? b : a;
}

PELTON_INLINE s64 pelton_min_vruntime(s64 a, s64 b)
{
	return pelton_v_sub(b, a) < 0 ? b : a;
}

PELTON_INLINE u64 pelton_vtime(const struct pelton_policy *pol, u64 delta_ns, const struct pelton_fair_se *se)
{
	return pelton_calc_delta_fair(pol, delta_ns, se->weight, se->inv_weight);
}

/* The running entity ran for `delta_ns`. */
PELTON_INLINE void pelton_update_curr(const struct pelton_policy *pol, struct pelton_fair_se *curr, u64 delta_ns)
{
	curr->vruntime = pelton_v_add(curr->vruntime, pelton_vtime(pol, delta_ns, curr));
	curr->ran_ns += delta_ns;
}

/* n / d towards zero; d > 0, and 0 where it is not. */
PELTON_INLINE s64 pelton_div_s64(s64 n, s64 d)
{
	u64 size = n < 0 ? 0 - (u64)n : (u64)n;
	u64 quotient = d > 0 ? size / (u64)d : 0;

	return n < 0 ? (s64)(0 - quotient) : (s64)quotient;
}

/* v * from / to towards zero, the product modulo 2^64: what was counted with one weight, counted with another. */
PELTON_INLINE s64 pelton_rescale(s64 v, u64 from, u64 to)
{
	return pelton_div_s64((s64)((u64)v * from), (s64)to);
}

/* Weight of an entity in the sums. Its full weight counts parts of a unit of 1024 as well. */
PELTON_INLINE s64 pelton_avg_vruntime_weight(const struct pelton_policy *pol, u64 weight)
{
	return (s64)(pol->fair_weight == PELTON_FAIR_WEIGHT_FULL ? weight : pelton_scale_load_down(weight));
}

PELTON_INLINE s64 pelton_entity_key(const struct pelton_fair_rq *rq, const struct pelton_fair_se *se)
{
	return pelton_v_sub(se->vruntime, rq->zero_vruntime);
}

/* `se` waits now. */
PELTON_INLINE void pelton_avg_vruntime_add(const struct pelton_policy *pol, struct pelton_fair_rq *rq,
					   const struct pelton_fair_se *se)
{
	s64 weight = pelton_avg_vruntime_weight(pol, se->weight);

	rq->sum_w_vruntime = pelton_v_add(rq->sum_w_vruntime, (u64)pelton_entity_key(rq, se) * (u64)weight);
	rq->sum_weight += weight;
}

/* `se` no longer waits. */
PELTON_INLINE void pelton_avg_vruntime_sub(const struct pelton_policy *pol, struct pelton_fair_rq *rq,
					   const struct pelton_fair_se *se)
{
	s64 weight = pelton_avg_vruntime_weight(pol, se->weight);

	rq->sum_w_vruntime = pelton_v_sub(rq->sum_w_vruntime, (s64)((u64)pelton_entity_key(rq, se) * (u64)weight));
	rq->sum_weight -= weight;
}

/* The point that the sums are relative to moves. */
PELTON_INLINE void pelton_move_zero(struct pelton_fair_rq *rq, s64 delta)
{
	rq->sum_w_vruntime = pelton_v_sub(rq->sum_w_vruntime, (s64)((u64)rq->sum_weight * (u64)delta));
	rq->zero_vruntime = pelton_v_add(rq->zero_vruntime, (u64)delta);
}

/* Is the least vruntime of a queue kept? Where the average is the reference of EEVDF nothing is. */
PELTON_INLINE u32 pelton_keeps_min_vruntime(const struct pelton_policy *pol)
{
	return pol->fair_class != PELTON_FAIR_EEVDF || pol->fair_zero != PELTON_FAIR_ZERO_AVERAGE;
}

/*
 * min_vruntime follows the queue and never goes back. `first` is the waiting entity of least vruntime; either may be 0.
 */
PELTON_INLINE void pelton_update_min_vruntime(const struct pelton_policy *pol, struct pelton_fair_rq *rq,
					      const struct pelton_fair_se *curr, const struct pelton_fair_se *first)
{
	s64 v = rq->zero_vruntime;

	if (!pelton_keeps_min_vruntime(pol))
		return;
	if (curr)
		v = curr->vruntime;
	if (first)
		v = curr ? pelton_min_vruntime(v, first->vruntime) : first->vruntime;
	if (pelton_v_sub(v, rq->zero_vruntime) > 0)
		pelton_move_zero(rq, pelton_v_sub(v, rq->zero_vruntime));
}

/* Answers to whether an entity that woke preempts the running one, as far as the policies of both decide. */
#define PELTON_PREEMPT_NO 0u
#define PELTON_PREEMPT_YES 1u
#define PELTON_PREEMPT_COMPARE 2u

/*
 * `curr` and `wakee`: the tasks are of SCHED_IDLE. `curr_at` and `wakee_at`: so are they, or the groups they are in, at
 * the level where they meet. `batch`: the woken task is not SCHED_NORMAL.
 */
PELTON_INLINE u32 pelton_preempt_by_policy(const struct pelton_policy *pol, u32 curr, u32 wakee, u32 curr_at,
					   u32 wakee_at, u32 batch)
{
	u32 never = batch || wakee;

	if (pol->group_idle != PELTON_GROUP_IDLE_LEVELS) {
		if (curr && !wakee)
			return PELTON_PREEMPT_YES;
		if (never)
			return PELTON_PREEMPT_NO;
	}
	if (curr_at && !wakee_at)
		return PELTON_PREEMPT_YES;
	if (!curr_at != !wakee_at)
		return PELTON_PREEMPT_NO;
	return never ? PELTON_PREEMPT_NO : PELTON_PREEMPT_COMPARE;
}

/* Does a running entity that is preempted because it is idle lose its protection with that? */
PELTON_INLINE u32 pelton_idle_unprotected(const struct pelton_policy *pol)
{
	return pol->group_idle == PELTON_GROUP_IDLE_LEVELS;
}

/*
 * Time until the running entity reaches its deadline, when a timer ends its request; interrupts take `util_irq` of 1024
 * of the time. -1: it is past it.
 */
PELTON_INLINE s64 pelton_hrtick_start_fair(const struct pelton_fair_se *se, u32 util_irq)
{
	s64 left = (s64)((u64)se->deadline - (u64)se->vruntime);
	u64 scale = 1024u, delta;

	if (left < 0)
		return -1;
	delta = pelton_div_floor(se->weight * (u64)left, PELTON_NICE_0_LOAD);
	if (util_irq && util_irq < 1024u)
		scale = pelton_div_floor(1024u * 1024u, 1024u - util_irq);
	return (s64)pelton_max_u64(scale * delta / 1024u, PELTON_FAIR_HRTICK_MIN_NS);
}

/* A timer that is this close to where it is wanted stays. */
PELTON_INLINE u32 pelton_hrtick_stays(u64 at_ns, u64 wanted_ns)
{
	u64 apart = at_ns > wanted_ns ? at_ns - wanted_ns : wanted_ns - at_ns;

	return apart <= PELTON_FAIR_HRTICK_APART_NS;
}

#endif
