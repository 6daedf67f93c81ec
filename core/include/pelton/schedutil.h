/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedutil: the governor as a state machine over signals, headroom, boost and gate.
 *
 *   hook(cpu) --> begin: iowait request, flags, deadline override, gate --> refused
 *                   | open
 *                   v
 *                 cpu: perf of every CPU of the domain (boosts fade here), U = max
 *                   v
 *                 raw = ref * U / cap, resolve = lowest table frequency >= raw, within limits, and no needless one
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
 * Source: kernel/sched/cpufreq_schedutil.c of Linux 4.12.0, 4.16.13, 4.17, 4.19, 5.4, 5.10.262, 6.1.192, 6.6, 6.8,
 * 6.12.117, 6.18.2 and 7.2.12 (sugov_should_update_freq, sugov_update_shared, sugov_update_single, later
 * sugov_update_single_freq and sugov_update_single_perf, sugov_update_next_freq or sugov_update_commit, get_next_freq,
 * sugov_cpu_is_busy or sugov_hold_freq, ignore_dl_rate_limit, sugov_work), drivers/cpufreq/cpufreq.c
 * (cpufreq_policy_transition_delay_us, cpufreq_driver_resolve_freq). docs/rules/governor.md has the rules by release.
 * Deviations: a maximum by flag (to 4.16) is limited at once, the kernel's driver limits it; the hold filter knows no
 * sched_ext; 6.18.2 leaves the mark of a raised reservation behind in a driver that takes performance.
 */
#ifndef PELTON_SCHEDUTIL_H
#define PELTON_SCHEDUTIL_H

#include "bounds.h"
#include "gate.h"
#include "hold.h"
#include "hook.h"
#include "iowait.h"
#include "perf.h"
#include "resolve.h"

/* Requests of a commit to the host. */
#define PELTON_COMMIT_NONE 0u    /* nothing changed */
#define PELTON_COMMIT_DRIVE 1u   /* fast switch: program the driver; slow: wake the worker */
#define PELTON_COMMIT_PENDING 2u /* slow, the worker is already pending and will find the new value */

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
PELTON_INLINE void pelton_sugov_init(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u32 rate_limit_us)
{
	u32 asks = pol->limits_update == PELTON_LIMITS_ASK_DRIVER || pol->limits_update == PELTON_LIMITS_REPEAT;

	sp->last_ns = 0;
	sp->rate_limit_ns = (u64)rate_limit_us * PELTON_NSEC_PER_USEC;
	sp->next_freq_khz = pol->limits_update == PELTON_LIMITS_FORGET ? PELTON_KHZ_NONE : 0;
	sp->cached_raw_khz = 0;
	sp->work_in_progress = 0;
	sp->limits_changed = 0;
	sp->need_update = asks && sp->need_update_limits;
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

/*
 * Does a mark that outlived its evaluation open the gate? 6.6 keeps it for drivers that want every change of limits;
 * only the limits themselves open the gate there.
 */
PELTON_INLINE u32 pelton_sugov_needs_update(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	return sp->need_update && pol->limits_update != PELTON_LIMITS_REPEAT;
}

/* The gate, in the kernel's order. Returns PELTON_VERDICT_OPEN or why not. */
PELTON_INLINE u32 pelton_sugov_should_update_freq(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
						  u64 now, u32 local)
{
	if (!pelton_sugov_can_drive(pol, sp, local))
		return PELTON_VERDICT_REMOTE;
	if (pol->while_busy == PELTON_BUSY_REFUSE && sp->work_in_progress)
		return PELTON_VERDICT_BUSY;
	if (sp->limits_changed) {
		sp->limits_changed = 0;
		if (pol->limits_update == PELTON_LIMITS_FORGET)
			sp->next_freq_khz = PELTON_KHZ_NONE;
		else
			sp->need_update = 1;
		return PELTON_VERDICT_OPEN;
	}
	if (pelton_sugov_needs_update(pol, sp) || pelton_gate_window_open(pol, sp, now))
		return PELTON_VERDICT_OPEN;
	return PELTON_VERDICT_WINDOW;
}

/* A raised deadline reservation must not wait for the window. */
PELTON_INLINE void pelton_sugov_dl_override(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					    const struct pelton_sugov_cpu *sc, u32 bw_dl)
{
	if (pol->dl_bypass != PELTON_DL_BYPASS_OFF && bw_dl > sc->bw_min)
		sp->limits_changed = 1;
}

/*
 * A hook call for the CPU of `sc`, before the gate: to 4.16 a domain with several CPUs keeps what each asks for until
 * its next call. Later releases read all CPUs when they evaluate, and nothing happens here.
 */
PELTON_INLINE void pelton_sugov_keep_util(const struct pelton_policy *pol, struct pelton_sugov_cpu *sc,
					  const struct pelton_cpu_state *s)
{
	if (pol->stale_cpu == PELTON_STALE_COUNT)
		return;
	sc->kept_cfs = pelton_cpu_util(pol, s, pol->runnable_boost);
	sc->kept_rt = s->util_rt;
	sc->kept_bw = s->bw_dl;
}

/* A hook call for the CPU of `sc`. Returns the verdict of the gate; go on only when it is PELTON_VERDICT_OPEN. */
PELTON_INLINE u32 pelton_sugov_begin(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				     struct pelton_sugov_cpu *sc, u32 bw_dl, u64 now, u64 tick_ns, u32 flags, u32 local)
{
	pelton_iowait_request(pol, sp, sc, now, tick_ns, flags);
	sc->last_update_ns = now;
	sc->flags = flags;
	sp->gate.flags = flags;
	pelton_sugov_dl_override(pol, sp, sc, bw_dl);
	return pelton_sugov_should_update_freq(pol, sp, now, local);
}

/* Did the last hook call of this CPU carry a flag that means "maximum"? */
PELTON_INLINE u32 pelton_sugov_forced_by_flags(const struct pelton_policy *pol, const struct pelton_sugov_cpu *sc)
{
	u32 flags = pol->rt_rule == PELTON_RT_RULE_FLAG_MAX ? PELTON_HOOK_FLAG_RT : 0;

	if (pol->dl_rule == PELTON_DL_RULE_FLAG_MAX)
		flags |= PELTON_HOOK_FLAG_DL;
	return (sc->flags & flags) != 0;
}

/* To 4.16 a shared domain distrusts CPUs that were silent for more than a tick. */
PELTON_INLINE u32 pelton_sugov_is_stale(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					const struct pelton_sugov_cpu *sc, u64 now, u64 tick_ns)
{
	return pol->stale_cpu != PELTON_STALE_COUNT && sp->nr_cpus > 1 && pelton_cpu_silent(sc, now, tick_ns);
}

/* To 4.16 the governor knows of a CPU of a shared domain what its last hook call passed; else what it reads now. */
PELTON_INLINE u32 pelton_sugov_knows_last_call(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	return pol->stale_cpu != PELTON_STALE_COUNT && sp->nr_cpus > 1;
}

/*
 * Signals of a CPU that the governor knows: to 4.16 those that its last hook call passed, in a domain of several CPUs.
 */
PELTON_INLINE void pelton_sugov_known(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				      const struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s,
				      struct pelton_cpu_state *known)
{
	*known = *s;
	if (!pelton_sugov_knows_last_call(pol, sp))
		return;
	known->util_cfs = sc->kept_cfs;
	known->runnable_cfs = 0;
	known->util_est = 0;
	known->util_rt = sc->kept_rt;
	known->bw_dl = sc->kept_bw;
}

/* The performance target from what the last hook call passed. */
PELTON_INLINE u32 pelton_sugov_eval_kept(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					 const struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s,
					 u32 iowait, struct pelton_perf_terms *terms)
{
	struct pelton_cpu_state known;

	pelton_sugov_known(pol, sp, sc, s, &known);
	return pelton_perf_eval(pol, &known, iowait, terms);
}

/* A silent CPU loses its boost. Is it left out (4.12), or does its deadline bandwidth still count (4.16)? */
PELTON_INLINE u32 pelton_sugov_leaves_out(const struct pelton_policy *pol, struct pelton_sugov_cpu *sc)
{
	pelton_iowait_clear(sc);
	sc->kept_cfs = 0;
	sc->kept_rt = 0;
	return pol->stale_cpu == PELTON_STALE_SKIP || !sc->kept_bw;
}

/*
 * To 5.0 a boost is a share of the highest frequency; when it is larger than the request it takes its place as it is.
 */
PELTON_INLINE void pelton_sugov_boost_request(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					      u32 boost_khz, struct pelton_perf_terms *t)
{
	u32 most = pelton_hw_max_khz(sp);

	if (pol->headroom != PELTON_HEADROOM_FREQUENCY || !pelton_iowait_is_khz(pol))
		return;
	if ((u64)t->effective * most >= (u64)boost_khz * t->scale)
		return;
	t->request = boost_khz;
	t->scale = most;
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
	u32 boost = 0, iowait;

	*terms = none;
	terms->scale = s->cap_orig;
	if (pelton_sugov_is_stale(pol, sp, sc, now, tick_ns) && pelton_sugov_leaves_out(pol, sc)) {
		terms->stale = 1;
		return 0;
	}
	terms->forced_max = pelton_sugov_forced_by_flags(pol, sc);
	if (!terms->forced_max)
		boost = pelton_iowait_apply(pol, sp, sc, now, tick_ns);
	iowait = pelton_clamp_iowait(pol, s, boost, pelton_iowait_capacity(pol, sp, boost, s->cap_orig));
	sc->util = pelton_sugov_knows_last_call(pol, sp) ? pelton_sugov_eval_kept(pol, sp, sc, s, iowait, terms)
							 : pelton_perf_eval(pol, s, iowait, terms);
	pelton_sugov_boost_request(pol, sp, boost, terms);
	sc->util_evaluated = pelton_hook_util(pol, s->util_cfs, s->runnable_cfs, s->util_est);
	sc->khz_evaluated = sp->cur_khz;
	sc->bw_min = pol->dl_bypass == PELTON_DL_BYPASS_FLOOR ? terms->min : s->bw_dl;
	return terms->perf;
}

/*
 * The frequency that a request of 1024 asks for. Without invariance the kernel only knows the present one, unless the
 * architecture tells what its signals are scaled to.
 */
PELTON_INLINE u32 pelton_get_capacity_ref_freq(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	if (pol->ref_freq == PELTON_REF_FREQ_CAPACITY && sp->scale_khz)
		return sp->scale_khz;
	if (sp->freq_invariant)
		return sp->ref_khz;
	return pol->ref_freq == PELTON_REF_FREQ_CAPACITY ? sp->cur_khz + (sp->cur_khz >> 2) : sp->cur_khz;
}

/* Frequency for a performance target, before limits and table. */
PELTON_INLINE u32 pelton_sugov_raw_freq(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp, u32 perf,
					u32 cap_orig, u32 forced_max)
{
	u32 ref = pelton_get_capacity_ref_freq(pol, sp);

	if (forced_max)
		return pelton_hw_max_khz(sp);
	if (pol->headroom == PELTON_HEADROOM_FREQUENCY)
		ref = (u32)pelton_plus_headroom(pol, ref);
	return pelton_mul_div_floor(ref, perf, cap_orig);
}

/* An unchanged raw request keeps the frequency; a forced maximum does not touch the cache. */
PELTON_INLINE u32 pelton_sugov_cached(struct pelton_sugov_policy *sp, u32 raw, u32 resolved, u32 forced_max)
{
	if (forced_max)
		return resolved;
	if (raw == sp->cached_raw_khz && !sp->need_update && sp->next_freq_khz != PELTON_KHZ_NONE)
		return sp->next_freq_khz;
	sp->cached_raw_khz = raw;
	return resolved;
}

/* Is a frequency handed on, and the window restarted? New limits may demand it of an unchanged one. */
PELTON_INLINE u32 pelton_sugov_update_next_freq(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
						u32 freq)
{
	u32 needed = sp->need_update;
	u32 changed = freq != sp->next_freq_khz;

	sp->need_update = needed && pol->limits_update == PELTON_LIMITS_REPEAT && sp->need_update_limits;
	if (needed && pol->limits_update == PELTON_LIMITS_REPEAT)
		return 1;
	if (needed && pol->limits_update == PELTON_LIMITS_ASK_DRIVER)
		return changed || sp->need_update_limits;
	return changed;
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
 * End of an evaluation: cache, hold filter, gate, driver. `sc` is the CPU of the call; in a domain of several
 * CPUs it may be NULL. Returns a PELTON_COMMIT value; sp->next_freq_khz is then the frequency requested.
 */
PELTON_INLINE u32 pelton_sugov_commit(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				      struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now, u32 raw,
				      u32 resolved, u32 forced_max)
{
	u32 cached_raw_before = sp->cached_raw_khz;
	u32 want = pelton_sugov_cached(sp, raw, resolved, forced_max);
	u32 freq = want, proposed, accepted;

	pelton_gate_note(pol, sp, now, want);
	if (sc && sp->nr_cpus == 1)
		freq = pelton_sugov_hold_freq(pol, sp, sc, s, freq, cached_raw_before, forced_max);
	proposed = freq;
	freq = pelton_gate_decide(pol, sp, now, s->cap_orig, raw, proposed);
	if (freq != proposed)
		sp->cached_raw_khz = 0;
	accepted = pelton_sugov_update_next_freq(pol, sp, freq);
	pelton_gate_evaluated(pol, sp, now, freq, want, accepted);
	if (!accepted)
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
	if (pelton_sugov_hold(pol, sp, sc, s) && target < previous)
		target = previous;
	sc->util = target;
	sp->need_update = 0;
	sp->last_ns = now;
	return target;
}

/* The slow-path worker runs: the frequency it must set. From 4.18 the next request may wake it again from here on. */
PELTON_INLINE u32 pelton_sugov_work_start(const struct pelton_policy *pol, struct pelton_sugov_policy *sp)
{
	if (pol->while_busy == PELTON_BUSY_OVERWRITE)
		sp->work_in_progress = 0;
	return sp->next_freq_khz;
}

/* The driver returned to the worker. To 4.17 every evaluation was refused until here. */
PELTON_INLINE void pelton_sugov_work_done(const struct pelton_policy *pol, struct pelton_sugov_policy *sp)
{
	if (pol->while_busy == PELTON_BUSY_REFUSE)
		sp->work_in_progress = 0;
}

/* Result of one evaluation. */
struct pelton_decision {
	u32 perf; /* largest request of the domain */
	u32 cpu;  /* index of the CPU that made it */
	u32 forced_max;
	u32 raw_khz;
	u32 resolved_khz;
	u32 commit;  /* a PELTON_COMMIT value */
	u32 request; /* the request exactly, as a share of the highest frequency (pelton_perf_terms) */
	u32 scale;
};

/* No CPU of the domain is known to have the largest request. */
#define PELTON_NO_LARGEST 0xffffffffu

/* Is the request of `a` larger than that of `b`? One that forces the maximum is larger than all that do not. */
PELTON_INLINE u32 pelton_sugov_larger(const struct pelton_perf_terms *a, const struct pelton_perf_terms *b)
{
	if (a->forced_max || b->forced_max)
		return a->forced_max && !b->forced_max;
	/* CPUs of one size differ by their request alone. */
	if (a->scale == b->scale)
		return a->request > b->request;
	return (u64)a->request * b->scale > (u64)b->request * a->scale;
}

/* The first CPU with the largest request. */
PELTON_INLINE u32 pelton_sugov_first_largest(const struct pelton_perf_terms *terms, u32 n)
{
	u32 end = pelton_min_u32(n, PELTON_DOMAIN_CPUS_MAX), first = 0, i;

	for (i = 1; i < end; i++)
		if (pelton_sugov_larger(&terms[i], &terms[first]))
			first = i;
	return first;
}

/*
 * The request of CPU `i` is another: `first`, which was the first CPU with the largest one, follows. It is not known
 * when that was `i` itself, whose request may have become smaller.
 */
PELTON_INLINE u32 pelton_sugov_follow_largest(const struct pelton_perf_terms *terms, u32 first, u32 i)
{
	if (first == PELTON_NO_LARGEST || first == i)
		return PELTON_NO_LARGEST;
	if (i < first)
		return pelton_sugov_larger(&terms[first], &terms[i]) ? first : i;
	return pelton_sugov_larger(&terms[i], &terms[first]) ? i : first;
}

/*
 * The CPU whose request the domain follows: the first that forces the maximum, else the one with the largest share of
 * the highest frequency, `caller` before its equals. A caller that forces the maximum decides alone: the terms of
 * the other CPUs are not read then. `first`: the first CPU with the largest request, where that is known.
 */
PELTON_INLINE u32 pelton_sugov_largest(const struct pelton_perf_terms *terms, u32 n, u32 caller, u32 first)
{
	if (terms[caller].forced_max)
		return caller;
	if (first >= n || first >= PELTON_DOMAIN_CPUS_MAX)
		first = pelton_sugov_first_largest(terms, n);
	return pelton_sugov_larger(&terms[first], &terms[caller]) ? first : caller;
}

/* Need of a domain that follows the request `most`, to a frequency of the table `khz` with `opps` entries. */
PELTON_INLINE void pelton_sugov_follow(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				       const struct pelton_perf_terms *most, const u32 *khz, u32 opps,
				       struct pelton_decision *out)
{
	out->perf = most->perf;
	out->request = most->request;
	out->scale = most->scale;
	out->forced_max = most->forced_max;
	out->raw_khz = pelton_sugov_raw_freq(pol, sp, out->request, out->scale, out->forced_max);
	out->resolved_khz = pelton_sugov_resolve(sp, khz, opps, out->raw_khz);
	out->commit = PELTON_COMMIT_NONE;
}

/*
 * Need of the domain, from the `n` requests of its CPUs. `first`: the first CPU with the largest request, where that is
 * known.
 */
PELTON_INLINE void pelton_sugov_need(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				     const struct pelton_perf_terms *terms, u32 n, u32 caller, u32 first,
				     const u32 *khz, u32 opps, struct pelton_decision *out)
{
	out->cpu = pelton_sugov_largest(terms, n, caller, first);
	pelton_sugov_follow(pol, sp, &terms[out->cpu], khz, opps, out);
}

/* The need becomes a request to the driver; `sc` and `s` belong to the CPU whose hook call this is. */
PELTON_INLINE void pelton_sugov_finish(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				       struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
				       struct pelton_decision *out)
{
	out->commit = pelton_sugov_commit(pol, sp, sc, s, now, out->raw_khz, out->resolved_khz, out->forced_max);
}

/*
 * An evaluation once the request of every CPU is known: `sc` and `s` belong to `caller`, whose hook call this is. A
 * host that keeps `terms` between evaluations asks only the CPUs whose inputs changed.
 */
PELTON_INLINE void pelton_sugov_decide(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
				       struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
				       const struct pelton_perf_terms *terms, u32 caller, u32 first, const u32 *khz,
				       u32 opps, struct pelton_decision *out)
{
	pelton_sugov_need(pol, sp, terms, sp->nr_cpus, caller, first, khz, opps, out);
	pelton_sugov_finish(pol, sp, sc, s, now, out);
}

/*
 * Requests of the CPUs of the domain, which has one at least, at a hook call of `caller`: all in order, up to one that
 * forces the maximum. To 4.16 a call with a flag that means "maximum" asks its own CPU only. With a caller of nr_cpus
 * no CPU calls: the host just looks. CPUs that are not asked force nothing, whatever they did before.
 */
PELTON_INLINE void pelton_sugov_ask(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				    struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u32 caller, u64 now,
				    u64 tick_ns, struct pelton_perf_terms *terms)
{
	u32 i, ends = 0;

	if (caller < sp->nr_cpus && caller < PELTON_DOMAIN_CPUS_MAX && pelton_sugov_forced_by_flags(pol, &sc[caller])) {
		pelton_sugov_cpu(pol, sp, &sc[caller], &s[caller], now, tick_ns, &terms[caller]);
		return;
	}
	for (i = 0; i < PELTON_DOMAIN_CPUS_MAX && (!i || i < sp->nr_cpus); i++) {
		if (ends) {
			terms[i].forced_max = 0;
			continue;
		}
		pelton_sugov_cpu(pol, sp, &sc[i], &s[i], now, tick_ns, &terms[i]);
		ends = terms[i].forced_max;
	}
}

/*
 * The request of CPU `i` of the domain alone, from inputs `s` that changed: it goes to `terms`. Returns the first CPU
 * with the largest request, which was `first`.
 */
PELTON_INLINE u32 pelton_sugov_ask_again(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
					 u64 tick_ns, struct pelton_perf_terms *terms, u32 i, u32 first)
{
	pelton_sugov_cpu(pol, sp, sc, s, now, tick_ns, &terms[i]);
	return pelton_sugov_follow_largest(terms, first, i);
}

/* Do requests hold until their inputs change? Not where time alone changes them, or one ends the search for others. */
PELTON_INLINE u32 pelton_sugov_keeps(const struct pelton_policy *pol)
{
	return pol->stale_cpu == PELTON_STALE_COUNT && pol->rt_rule != PELTON_RT_RULE_FLAG_MAX &&
	       pol->dl_rule != PELTON_DL_RULE_FLAG_MAX && pol->boost_form != PELTON_BOOST_FORM_HOLD;
}

/*
 * A whole evaluation for a hook call of `caller` after the gate opened; `sc`, `s` and `terms` have sp->nr_cpus entries,
 * `khz` has n. Where pelton_sugov_keeps(), a host may call pelton_sugov_cpu() for the CPUs whose inputs changed and
 * then pelton_sugov_decide(), which comes to the same.
 */
PELTON_INLINE void pelton_sugov_evaluate(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u32 caller,
					 u64 now, u64 tick_ns, const u32 *khz, u32 n, struct pelton_perf_terms *terms,
					 struct pelton_decision *out)
{
	pelton_sugov_ask(pol, sp, sc, s, caller, now, tick_ns, terms);
	pelton_sugov_decide(pol, sp, &sc[caller], &s[caller], now, terms, caller, PELTON_NO_LARGEST, khz, n, out);
}

/*
 * The evaluation of one CPU: what pelton_sugov_evaluate() comes to in a domain where no other CPU asks for more. A host
 * in which the CPUs of a domain ask one by one keeps a domain for each, whose `nr_cpus` is that of the real one.
 */
PELTON_INLINE void pelton_sugov_evaluate_one(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					     struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u64 now,
					     u64 tick_ns, const u32 *khz, u32 n, struct pelton_perf_terms *terms,
					     struct pelton_decision *out)
{
	pelton_sugov_cpu(pol, sp, sc, s, now, tick_ns, terms);
	out->cpu = 0;
	pelton_sugov_follow(pol, sp, terms, khz, n, out);
	pelton_sugov_finish(pol, sp, sc, s, now, out);
}

#endif
