/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedutil: the governor as a state machine over signals, headroom, boost and gate.
 *
 *   hook(cpu) --> begin: iowait request, flags, deadline override, gate --> refused
 *                   | open
 *                   v
 *                 cpu: perf of every CPU of the domain (boosts fade here), U = max
 *                   v
 *                 raw = ref * U / cap, resolve = lowest table frequency >= raw, within limits
 *                   v
 *                 commit: hold filter (single CPU), nothing new? --> no action
 *                   |                                        \ slow driver: worker --> work_start --> driver
 *                   v
 *                 driver (fast switch)
 *
 *   quantity                 unit     range
 *   next, cached raw, ref    kHz      32 bits
 *   util, cap                capacity 0 .. 1280, 1 .. 1024
 *
 * Source: Linux 7.2 kernel/sched/cpufreq_schedutil.c (sugov_update_shared, sugov_update_single_freq,
 * sugov_update_single_perf, get_next_freq, sugov_hold_freq, ignore_dl_rate_limit, sugov_work),
 * drivers/cpufreq/cpufreq.c (cpufreq_policy_transition_delay_us); 5.10, 6.1 and 6.12 for the older rows; 4.12-5.4 from
 * public trees and recollection (see policy.h).
 * Deviations: 4.12-4.15 kept the utilization of the other CPUs as of their last hook, here it is read at evaluation; a
 * change of limits re-evaluates but does not repeat an unchanged driver call; the hold filter knows no sched_ext.
 */
#ifndef PELTON_SCHEDUTIL_H
#define PELTON_SCHEDUTIL_H

#include "gate.h"
#include "hook.h"
#include "iowait.h"
#include "perf.h"

/* What commit asks of the host. */
#define PELTON_COMMIT_NONE 0u    /* nothing changed */
#define PELTON_COMMIT_DRIVE 1u   /* fast switch: program the driver; slow: wake the worker */
#define PELTON_COMMIT_PENDING 2u /* slow, the worker is already pending and will find the new value */

/* Longest frequency table and largest domain: bounds of the loops. */
#define PELTON_OPP_MAX 256u
#define PELTON_DOMAIN_CPUS_MAX 1024u

/* Default rate limit, us. `transition_delay_us`: what the driver asks for, 0 = nothing. */
PELTON_INLINE u32 pelton_default_rate_limit_us(const struct pelton_policy *pol, u64 latency_ns, u32 transition_delay_us)
{
	u64 latency_us = latency_ns / PELTON_NSEC_PER_USEC;
	u64 scaled = latency_us * 1000u;

	if (transition_delay_us)
		return transition_delay_us;
	if (!latency_us)
		return 1000;
	if (pol->rate_limit_default == PELTON_RATE_ONE_AND_HALF)
		scaled = latency_us + latency_us / 2;
	else if (pol->rate_limit_default == PELTON_RATE_CAPPED_10MS)
		scaled = pelton_min_u64(scaled, 10000);
	else if (pol->rate_limit_default == PELTON_RATE_CAPPED_2MS)
		scaled = pelton_min_u64(scaled, 2000);
	return (u32)pelton_min_u64(scaled, 0xffffffffu);
}

/* Start governing. Limits, reference and driver properties were filled in by the host. */
PELTON_INLINE void pelton_sugov_init(struct pelton_sugov_policy *sp, u32 rate_limit_us)
{
	sp->last_ns = 0;
	sp->rate_limit_ns = (u64)rate_limit_us * PELTON_NSEC_PER_USEC;
	sp->next_freq_khz = 0;
	sp->cached_raw_khz = 0;
	sp->work_in_progress = 0;
	sp->limits_changed = 0;
	sp->need_update = 0;
}

/* New limits from user space or the hardware: re-evaluate at the next hook, whatever the window says. */
PELTON_INLINE void pelton_sugov_limits(struct pelton_sugov_policy *sp, u32 min_khz, u32 max_khz)
{
	sp->min_khz = min_khz;
	sp->max_khz = max_khz;
	sp->limits_changed = 1;
}

/* May the CPU that executes the hook drive this domain? `local`: it belongs to it. */
PELTON_INLINE u32 pelton_sugov_can_drive(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					 u32 local)
{
	if (local)
		return 1;
	if (pol->remote == PELTON_REMOTE_LOCAL_ONLY)
		return 0;
	return sp->remote_ok || (pol->remote == PELTON_REMOTE_FAST_ONLY && !sp->fast_switch);
}

/* The gate, in the kernel's order. Returns PELTON_GATE_OPEN or why not. */
PELTON_INLINE u32 pelton_sugov_should_update(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now,
					     u32 local)
{
	if (!pelton_sugov_can_drive(pol, sp, local))
		return PELTON_GATE_REMOTE;
	if (pol->while_busy == PELTON_BUSY_REFUSE && sp->work_in_progress)
		return PELTON_GATE_BUSY;
	if (sp->limits_changed) {
		sp->limits_changed = 0;
		sp->need_update = 1;
	}
	if (sp->need_update || pelton_gate_window_open(pol, sp, now))
		return PELTON_GATE_OPEN;
	return PELTON_GATE_WINDOW;
}

/* A raised deadline reservation must not wait for the window. */
PELTON_INLINE void pelton_sugov_dl_override(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					    const struct pelton_sugov_cpu *sc, u32 bw_dl)
{
	if (pol->dl_bypass != PELTON_DL_BYPASS_OFF && bw_dl > sc->bw_min)
		sp->limits_changed = 1;
}

/* A hook call for the CPU of `sc`. Returns the verdict of the gate; go on only when it is PELTON_GATE_OPEN. */
PELTON_INLINE u32 pelton_sugov_begin(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				     struct pelton_sugov_cpu *sc, u32 bw_dl, u64 now, u64 tick_ns, u32 flags, u32 local)
{
	pelton_iowait_request(pol, sp, sc, now, tick_ns, flags);
	sc->last_update_ns = now;
	sc->flags = flags;
	sp->gate.flags = flags;
	pelton_sugov_dl_override(pol, sp, sc, bw_dl);
	return pelton_sugov_should_update(pol, sp, now, local);
}

/* Did the last hook call of this CPU carry a flag that means "maximum"? */
PELTON_INLINE u32 pelton_sugov_forced_by_flags(const struct pelton_policy *pol, const struct pelton_sugov_cpu *sc)
{
	u32 flags = pol->rt_rule == PELTON_RT_RULE_FLAG_MAX ? PELTON_HOOK_FLAG_RT : 0;

	if (pol->dl_rule == PELTON_DL_RULE_FLAG_MAX)
		flags |= PELTON_HOOK_FLAG_DL;
	return (sc->flags & flags) != 0;
}

/* To 4.16 a shared domain leaves out CPUs that were silent for more than a tick. */
PELTON_INLINE u32 pelton_sugov_is_stale(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					const struct pelton_sugov_cpu *sc, u64 now, u64 tick_ns)
{
	return pol->stale_cpu == PELTON_STALE_SKIP && sp->nr_cpus > 1 && pelton_cpu_silent(sc, now, tick_ns);
}

/*
 * The request of one CPU of the domain. Returns its performance target; 0 when it is left out (terms->stale). When
 * terms->forced_max is set the domain goes to its maximum and the remaining CPUs need not be asked.
 */
PELTON_INLINE u32 pelton_sugov_cpu(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				   struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now, u64 tick_ns,
				   struct pelton_perf_terms *terms)
{
	struct pelton_perf_terms none = { 0 };
	u32 iowait = 0;

	*terms = none;
	if (pelton_sugov_is_stale(pol, sp, sc, now, tick_ns)) {
		pelton_iowait_clear(sc);
		terms->stale = 1;
		return 0;
	}
	terms->forced_max = pelton_sugov_forced_by_flags(pol, sc);
	if (!terms->forced_max)
		iowait = pelton_iowait_apply(pol, sp, sc, s->cap_orig, now, tick_ns);
	sc->util = pelton_perf_eval(pol, s, iowait, terms);
	sc->util_evaluated = pelton_hook_util(pol, s->util_cfs, s->runnable_cfs, s->util_est);
	sc->khz_evaluated = sp->cur_khz;
	sc->bw_min = pol->dl_bypass == PELTON_DL_BYPASS_FLOOR ? terms->min : s->bw_dl;
	return terms->perf;
}

/* The frequency that delivers cap_orig. Without invariance the kernel only knows the present one. */
PELTON_INLINE u32 pelton_sugov_ref_khz(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	if (sp->freq_invariant)
		return sp->ref_khz;
	return pol->headroom == PELTON_HEADROOM_BEFORE_CLAMPS ? sp->cur_khz + (sp->cur_khz >> 2) : sp->cur_khz;
}

/* Frequency for a performance target, before limits and table. */
PELTON_INLINE u32 pelton_sugov_raw_freq(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp, u32 perf,
					u32 cap_orig, u32 forced_max)
{
	u32 ref = pelton_sugov_ref_khz(pol, sp);

	if (forced_max)
		return pelton_hw_max_khz(sp);
	if (pol->headroom == PELTON_HEADROOM_FREQUENCY)
		ref += ref >> 2;
	return pelton_mul_div_floor(ref, perf, cap_orig);
}

/* Lowest table frequency at or above `raw` within the limits; `khz` ascends. A driver without table gets `raw`. */
PELTON_INLINE u32 pelton_sugov_resolve(const struct pelton_sugov_policy *sp, const u32 *khz, u32 n, u32 raw)
{
	u32 target = pelton_clamp_u32(raw, sp->min_khz, sp->max_khz);
	u32 best = target, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		if (khz[i] > sp->max_khz && i)
			break;
		best = khz[i];
		if (best >= target)
			break;
	}
	return best;
}

/* "Do not lower while never idle": 1 if the CPU had no idle entry since this was last asked. */
PELTON_INLINE u32 pelton_sugov_hold(const struct pelton_policy *pol, struct pelton_sugov_cpu *sc,
				    const struct pelton_cpu_state *s)
{
	u32 umax = pelton_clamp_max(pol, s);
	u32 never_idle = s->idle_calls == sc->saved_idle_calls;

	if (pol->hold == PELTON_HOLD_OFF)
		return 0;
	if (pol->hold == PELTON_HOLD_RESTORE_UNLESS_CAPPED && umax != PELTON_CAPACITY_SCALE &&
	    pelton_cpu_util(pol, s, 0) + s->util_rt >= umax)
		return 0;
	sc->saved_idle_calls = s->idle_calls;
	return never_idle;
}

/* Apply the hold filter to a new frequency of a single-CPU domain. */
PELTON_INLINE u32 pelton_sugov_hold_freq(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u32 freq,
					 u32 cached_raw_before)
{
	if (!pelton_sugov_hold(pol, sc, s) || freq >= sp->next_freq_khz || sp->need_update)
		return freq;
	sp->cached_raw_khz = pol->hold == PELTON_HOLD_DROP_CACHE ? 0 : cached_raw_before;
	return sp->next_freq_khz;
}

/* An unchanged raw request keeps the frequency; a forced maximum does not touch the cache. */
PELTON_INLINE u32 pelton_sugov_cached(struct pelton_sugov_policy *sp, u32 raw, u32 resolved, u32 forced_max)
{
	if (forced_max)
		return resolved;
	if (raw == sp->cached_raw_khz && !sp->need_update)
		return sp->next_freq_khz;
	sp->cached_raw_khz = raw;
	return resolved;
}

/* Hand a changed frequency to the driver, or to its worker. */
PELTON_INLINE u32 pelton_sugov_drive(struct pelton_sugov_policy *sp)
{
	if (sp->fast_switch)
		return PELTON_COMMIT_DRIVE;
	if (sp->work_in_progress)
		return PELTON_COMMIT_PENDING;
	sp->work_in_progress = 1;
	return PELTON_COMMIT_DRIVE;
}

/*
 * End of an evaluation: cache, hold filter, gate, driver. `sc` is the only CPU of the domain, or NULL for a shared
 * domain. Returns a PELTON_COMMIT value; sp->next_freq_khz is then the frequency requested.
 */
PELTON_INLINE u32 pelton_sugov_commit(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				      struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now, u32 raw,
				      u32 resolved, u32 forced_max)
{
	u32 cached_raw_before = sp->cached_raw_khz;
	u32 want = pelton_sugov_cached(sp, raw, resolved, forced_max);
	u32 freq = want, proposed;

	pelton_gate_note(pol, sp, now, want);
	if (sc)
		freq = pelton_sugov_hold_freq(pol, sp, sc, s, freq, cached_raw_before);
	proposed = freq;
	freq = pelton_gate_decide(pol, sp, now, s->cap_orig, raw, proposed);
	if (freq != proposed)
		sp->cached_raw_khz = 0;
	sp->need_update = 0;
	pelton_gate_evaluated(pol, sp, now, freq, want);
	if (freq == sp->next_freq_khz)
		return PELTON_COMMIT_NONE;
	sp->next_freq_khz = freq;
	return pelton_sugov_drive(sp);
}

/*
 * End of an evaluation for a driver that takes performance instead of frequency. `previous`, `target`: sc->util before
 * and after it. Returns the target to hand over; every call restarts the window.
 */
PELTON_INLINE u32 pelton_sugov_commit_perf(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					   struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
					   u32 previous, u32 target)
{
	if (pelton_sugov_hold(pol, sc, s) && target < previous)
		target = previous;
	sc->util = target;
	sp->need_update = 0;
	sp->last_ns = now;
	return target;
}

/* The slow-path worker runs: the frequency it must set. */
PELTON_INLINE u32 pelton_sugov_work_start(struct pelton_sugov_policy *sp)
{
	sp->work_in_progress = 0;
	return sp->next_freq_khz;
}

/* What one evaluation came to. */
struct pelton_decision {
	u32 perf; /* largest request of the domain */
	u32 cpu;  /* index of the CPU that made it */
	u32 forced_max;
	u32 raw_khz;
	u32 resolved_khz;
	u32 commit; /* a PELTON_COMMIT value */
};

/* Largest request of the domain. */
PELTON_INLINE void pelton_sugov_aggregate(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					  struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
					  u64 tick_ns, struct pelton_perf_terms *terms, struct pelton_decision *out)
{
	u32 i, perf;

	out->perf = 0;
	out->cpu = 0;
	out->forced_max = 0;
	for (i = 0; i < sp->nr_cpus && i < PELTON_DOMAIN_CPUS_MAX && !out->forced_max; i++) {
		perf = pelton_sugov_cpu(pol, sp, &sc[i], &s[i], now, tick_ns, &terms[i]);
		out->forced_max = terms[i].forced_max;
		if (perf > out->perf || out->forced_max) {
			out->perf = perf;
			out->cpu = i;
		}
	}
}

/* A whole evaluation after the gate opened; `sc`, `s` and `terms` have sp->nr_cpus entries, `khz` has n. */
PELTON_INLINE void pelton_sugov_evaluate(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
					 u64 tick_ns, const u32 *khz, u32 n, struct pelton_perf_terms *terms,
					 struct pelton_decision *out)
{
	pelton_sugov_aggregate(pol, sp, sc, s, now, tick_ns, terms, out);
	out->raw_khz = pelton_sugov_raw_freq(pol, sp, out->perf, s[0].cap_orig, out->forced_max);
	out->resolved_khz = pelton_sugov_resolve(sp, khz, n, out->raw_khz);
	out->commit = pelton_sugov_commit(pol, sp, sp->nr_cpus == 1 ? sc : 0, s, now, out->raw_khz, out->resolved_khz,
					  out->forced_max);
}

#endif
