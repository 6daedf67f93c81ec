/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedutil's short way: an evaluation whose largest request is what the last decision was made of decides nothing new.
 *
 *   inputs of CPU i changed --> ask: request r_i and scale s_i, packed; the largest r/s of the domain follows
 *                                  |
 *                                  v
 *   r/s, reference and limits as they were? --no--> need: raw and resolved frequency anew
 *                                  | yes              |
 *                                  v                  v
 *   raw = cached raw, no update is demanded, a frequency was asked for? --no--> decide, the long way (schedutil.h)
 *                                  | yes
 *                                  v
 *   settled: the cache answers with the frequency asked for last, the hold filter lets it pass, since it is not lower,
 *            and the gate sees nothing to change. What is left of the evaluation is recorded:
 *              idle calls seen by the hold filter (a single CPU), verdict open, nothing held, the error, r0a's window
 *
 *   Not for gates that learn from every evaluation (maximum of a window, trailing), nor where requests do not hold
 *   (pelton_sugov_keeps). A CPU with clamps or boosts of groups is asked by pelton_sugov_cpu(), not here. A boost of an
 *   I/O waiter is in the request, fades when it is asked, and is asked at every evaluation.
 *
 *   quantity            unit                                 range
 *   request, scale      capacity, kHz where a boost is kHz   0 .. 1280, 1 .. 1024
 *   ref, min, max       kHz                                  32 bits
 *   raw, resolved       kHz                                  32 bits
 *
 * Source: kernel/sched/cpufreq_schedutil.c of Linux 4.17 to 7.2.12 (sugov_update_shared, sugov_next_freq_shared,
 * sugov_update_single_freq, get_next_freq, sugov_update_next_freq), by way of schedutil.h. The kernel asks every CPU in
 * every evaluation.
 * Deviations: none; a host may take either way at any time and gets the same frequencies and records.
 */
#ifndef PELTON_SCHEDUTIL_SETTLED_H
#define PELTON_SCHEDUTIL_SETTLED_H

#include "bandwidth.h"
#include "schedutil.h"

/* Request of a CPU: a share of the highest frequency. */
struct pelton_sugov_request {
	u32 request;
	u32 scale; /* 0: it was not asked yet */
};

/* The need of a domain, and what it was worked out of. */
struct pelton_sugov_known {
	u32 largest; /* CPU with the largest request; PELTON_NO_LARGEST = not known */
	u32 request; /* of it */
	u32 scale;   /* 0: nothing is known */
	u32 ref_khz;
	u32 min_khz;
	u32 max_khz;
	u32 raw_khz;
	u32 resolved_khz;
};

_Static_assert(sizeof(struct pelton_sugov_request) == 8, "layout");
_Static_assert(sizeof(struct pelton_sugov_known) == 32, "layout");

/* Can evaluations be settled? Not by gates that learn from every evaluation. */
PELTON_INLINE u32 pelton_sugov_settles(const struct pelton_policy *pol)
{
	return pelton_sugov_keeps(pol) && !pelton_gate_slides(pol) && pol->gate != PELTON_GATE_R1_TRAILING;
}

/* Is the share of `a` larger than that of `b`? */
PELTON_INLINE u32 pelton_sugov_request_larger(const struct pelton_sugov_request *a,
					      const struct pelton_sugov_request *b)
{
	return (u64)a->request * b->scale > (u64)b->request * a->scale;
}

/* A CPU with the largest of `n` requests. */
PELTON_INLINE u32 pelton_sugov_request_largest(const struct pelton_sugov_request *asked, u32 n)
{
	u32 end = pelton_min_u32(n, PELTON_DOMAIN_CPUS_MAX), most = 0, i;

	for (i = 1; i < end; i++)
		if (pelton_sugov_request_larger(&asked[i], &asked[most]))
			most = i;
	return most;
}

/* CPU `i`, which requested `before`, requests something else: is another the largest? */
PELTON_INLINE void pelton_sugov_follow_request(const struct pelton_sugov_request *asked,
					       struct pelton_sugov_request before, u32 i,
					       struct pelton_sugov_known *known)
{
	if (known->largest == PELTON_NO_LARGEST)
		return;
	if (known->largest == i) {
		if (pelton_sugov_request_larger(&before, &asked[i]))
			known->largest = PELTON_NO_LARGEST;
	} else if (pelton_sugov_request_larger(&asked[i], &asked[known->largest])) {
		known->largest = i;
	}
}

/*
 * The request of CPU `i`, which has neither clamps nor boosts of groups, from its queues; `sc` remembers it as after
 * pelton_sugov_cpu(). `running_bw`: of its deadline tasks, << 20.
 */
PELTON_INLINE void pelton_sugov_ask_queues(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					   struct pelton_sugov_cpu *sc, const struct pelton_rq *rq, u64 running_bw,
					   u32 rt_nr_running, u64 now, u64 tick_ns, struct pelton_sugov_request *asked,
					   u32 i, struct pelton_sugov_known *known)
{
	struct pelton_sugov_request before = asked[i];
	struct pelton_perf_terms terms;
	struct pelton_cpu_state s;

	pelton_cpu_state_fill(rq, pelton_cpu_bw_dl(running_bw), rt_nr_running, 0, &s);
	pelton_sugov_cpu(pol, sp, sc, &s, now, tick_ns, &terms);
	asked[i].request = terms.request;
	asked[i].scale = terms.scale;
	pelton_sugov_follow_request(asked, before, i, known);
}

/* Is the need what it was when it was worked out? */
PELTON_INLINE u32 pelton_sugov_need_holds(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					  const struct pelton_sugov_request *most,
					  const struct pelton_sugov_known *known)
{
	return known->request == most->request && known->scale == most->scale && known->min_khz == sp->min_khz &&
	       known->max_khz == sp->max_khz && known->ref_khz == pelton_get_capacity_ref_freq(pol, sp);
}

/* The need of the domain from the packed requests of its CPUs, kept in `known`. */
PELTON_INLINE void pelton_sugov_known_need(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					   const struct pelton_sugov_request *asked, const u32 *khz, u32 opps,
					   struct pelton_sugov_known *known)
{
	const struct pelton_sugov_request *most;

	if (known->largest == PELTON_NO_LARGEST)
		known->largest = pelton_sugov_request_largest(asked, sp->nr_cpus);
	most = &asked[known->largest];
	if (pelton_sugov_need_holds(pol, sp, most, known))
		return;
	known->request = most->request;
	known->scale = most->scale;
	known->ref_khz = pelton_get_capacity_ref_freq(pol, sp);
	known->min_khz = sp->min_khz;
	known->max_khz = sp->max_khz;
	known->raw_khz = pelton_sugov_raw_freq(pol, sp, most->request, most->scale, 0);
	known->resolved_khz = pelton_sugov_resolve(sp, khz, opps, known->raw_khz);
}

/* Is a need of `raw` what the frequency that was asked for last came from, so that nothing new is decided? */
PELTON_INLINE u32 pelton_sugov_is_settled(const struct pelton_sugov_policy *sp, u32 raw)
{
	return raw == sp->cached_raw_khz && !sp->need_update && sp->next_freq_khz != PELTON_KHZ_NONE;
}

/*
 * State that a settled evaluation leaves behind; `s` belongs to the CPU that called, `sc` as for pelton_sugov_commit().
 */
PELTON_INLINE void pelton_sugov_settle(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				       struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now, u32 raw)
{
	if (sc)
		pelton_sugov_hold(pol, sp, sc, s);
	sp->gate.verdict = PELTON_VERDICT_OPEN;
	sp->gate.until_ns = 0;
	sp->gate.error = pelton_gate_error(sp, s->cap_orig, raw);
	pelton_gate_evaluated(pol, sp, now, sp->next_freq_khz, sp->next_freq_khz, 0);
}

/*
 * An evaluation over the packed requests of a domain, for a hook call of the CPU of `sc`, which has neither clamps nor
 * boosts of groups. Comes to what pelton_sugov_decide() comes to, short where nothing is new. Returns a PELTON_COMMIT
 * value; `known` has the need.
 */
PELTON_INLINE u32 pelton_sugov_evaluate_packed(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					       struct pelton_sugov_cpu *sc, u32 cap_orig, u64 idle_calls, u64 now,
					       const struct pelton_sugov_request *asked, const u32 *khz, u32 opps,
					       struct pelton_sugov_known *known)
{
	struct pelton_sugov_cpu *alone = sp->nr_cpus == 1 ? sc : 0;
	struct pelton_cpu_state s = { 0 };

	s.cap_orig = cap_orig;
	s.idle_calls = idle_calls;
	s.uclamp_max = PELTON_CAPACITY_SCALE;
	pelton_sugov_known_need(pol, sp, asked, khz, opps, known);
	if (pelton_sugov_settles(pol) && pelton_sugov_is_settled(sp, known->raw_khz)) {
		pelton_sugov_settle(pol, sp, alone, &s, now, known->raw_khz);
		return PELTON_COMMIT_NONE;
	}
	return pelton_sugov_commit(pol, sp, alone, &s, now, known->raw_khz, known->resolved_khz, 0);
}

#endif
