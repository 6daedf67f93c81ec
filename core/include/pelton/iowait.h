/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iowait boost: a task that wakes from I/O again and again is given speed before its utilization shows it.
 *
 *   capacity (5.1-)     request: 128, 256, 512, 1024     one doubling between two evaluations
 *                       evaluation without request: halved, gone below 128
 *   frequency (4.13-)   the same between the policy's lowest and the hardware's highest frequency
 *     _shared           4.14-4.16: a domain with a single CPU never sees the request
 *     _reset            4.19: after more than a tick of silence the boost starts over at a request and is gone at an
 *                       evaluation, as in the capacity form
 *   jump (to 4.12)      request: highest frequency; used first, halved after, no lower end
 *   To 4.18 more than a tick of silence clears the boost only at a call without a request; a request doubles what was
 *   there. With hook_filter=h3 halved at most once per ms.
 *
 *   boost  1024 |          .---.
 *           512 |      .---'   '---.
 *           128 |  .---'           '---.___
 *                  r   r   r   e   e   e          r = request and evaluation, e = evaluation only
 *
 *   quantity         unit                                    range
 *   iowait_boost     capacity (capacity), kHz (the others)   0 or 128 .. 1024; 0 or lowest .. highest kHz
 *   value            capacity                                0 .. cap_orig
 *
 * Source: kernel/sched/cpufreq_schedutil.c of Linux 4.12.0, 4.16.13 and 4.17 (sugov_set_iowait_boost,
 * sugov_iowait_boost), 4.19, 5.4, 5.10, 6.1, 6.6, 6.12, 6.18 and 7.2 (sugov_iowait_boost, sugov_iowait_apply,
 * sugov_iowait_reset).
 * Deviations: none known. 5.0 was not read.
 */
#ifndef PELTON_IOWAIT_H
#define PELTON_IOWAIT_H

#include "arith.h"
#include "policy.h"

#define PELTON_IOWAIT_BOOST_MIN (PELTON_CAPACITY_SCALE / 8u)

/* The highest frequency the hardware offers. */
PELTON_INLINE u32 pelton_hw_max_khz(const struct pelton_sugov_policy *sp)
{
	return sp->hw_max_khz ? sp->hw_max_khz : sp->max_khz;
}

/* Has the CPU been silent for more than a tick? */
PELTON_INLINE u32 pelton_cpu_silent(const struct pelton_sugov_cpu *sc, u64 now, u64 tick_ns)
{
	return (s64)(now - sc->last_update_ns) > (s64)tick_ns;
}

PELTON_INLINE void pelton_iowait_clear(struct pelton_sugov_cpu *sc)
{
	sc->iowait_boost = 0;
	sc->iowait_pending = 0;
}

/* One request: start at `first` or double up to `last`; at most once between two evaluations. */
PELTON_INLINE void pelton_iowait_double(struct pelton_sugov_cpu *sc, u32 first, u32 last)
{
	if (sc->iowait_pending)
		return;
	sc->iowait_pending = 1;
	sc->iowait_boost = sc->iowait_boost ? pelton_min_u32(2 * sc->iowait_boost, last) : first;
}

/* From 4.19 a silent CPU starts over, with or without a request. */
PELTON_INLINE void pelton_iowait_request_reset(struct pelton_sugov_cpu *sc, u32 waits, u32 silent, u32 first, u32 last)
{
	if (sc->iowait_boost && silent)
		pelton_iowait_clear(sc);
	if (waits)
		pelton_iowait_double(sc, first, last);
}

PELTON_INLINE void pelton_iowait_request_khz(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					     struct pelton_sugov_cpu *sc, u32 waits, u32 silent)
{
	if (waits && pol->iowait_boost == PELTON_IOWAIT_JUMP)
		sc->iowait_boost = pelton_hw_max_khz(sp);
	else if (waits)
		pelton_iowait_double(sc, sp->min_khz, pelton_hw_max_khz(sp));
	else if (sc->iowait_boost && silent)
		pelton_iowait_clear(sc);
}

/* A hook call: note a request, forget an old boost. Before last_update_ns is moved. */
PELTON_INLINE void pelton_iowait_request(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, u64 now, u64 tick_ns, u32 flags)
{
	u32 hidden = pol->iowait_boost == PELTON_IOWAIT_FREQUENCY_SHARED && sp->nr_cpus == 1;
	u32 waits = hidden ? 0 : flags & PELTON_HOOK_FLAG_IOWAIT;
	u32 silent = pelton_cpu_silent(sc, now, tick_ns);

	if (pol->iowait_boost == PELTON_IOWAIT_FREQUENCY_RESET)
		pelton_iowait_request_reset(sc, waits, silent, sp->min_khz, pelton_hw_max_khz(sp));
	else if (pol->iowait_boost == PELTON_IOWAIT_CAPACITY)
		pelton_iowait_request_reset(sc, waits, silent, PELTON_IOWAIT_BOOST_MIN, PELTON_CAPACITY_SCALE);
	else if (pol->iowait_boost != PELTON_IOWAIT_OFF)
		pelton_iowait_request_khz(pol, sp, sc, waits, silent);
}

/* hook_filter=h3 evaluates often: there the boost is halved at most once in this time. */
#define PELTON_IOWAIT_FADE_NS 1000000u

/* An evaluation without a request in between halves the boost. Returns what is left. */
PELTON_INLINE u32 pelton_iowait_fade(const struct pelton_policy *pol, struct pelton_sugov_cpu *sc, u32 lowest, u64 now)
{
	if (pol->hook_filter == PELTON_HOOK_FILTER_H3 && !sc->iowait_pending &&
	    !pelton_elapsed(now, sc->iowait_faded_ns, PELTON_IOWAIT_FADE_NS))
		return sc->iowait_boost;
	if (!sc->iowait_pending) {
		sc->iowait_faded_ns = now;
		sc->iowait_boost >>= 1;
		if (sc->iowait_boost < lowest)
			sc->iowait_boost = 0;
	}
	sc->iowait_pending = 0;
	return sc->iowait_boost;
}

/* Is the boost a frequency? */
PELTON_INLINE u32 pelton_iowait_is_khz(const struct pelton_policy *pol)
{
	return pol->iowait_boost != PELTON_IOWAIT_OFF && pol->iowait_boost != PELTON_IOWAIT_CAPACITY;
}

/* Is the boost of a silent CPU forgotten when it is used? */
PELTON_INLINE u32 pelton_iowait_resets(const struct pelton_policy *pol)
{
	return pol->iowait_boost == PELTON_IOWAIT_FREQUENCY_RESET || pol->iowait_boost == PELTON_IOWAIT_CAPACITY;
}

/* An evaluation: the boost in its own unit (kHz or capacity), and its fading. */
PELTON_INLINE u32 pelton_iowait_apply(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				      struct pelton_sugov_cpu *sc, u64 now, u64 tick_ns)
{
	u32 boost = sc->iowait_boost;

	if (!boost || pol->iowait_boost == PELTON_IOWAIT_OFF)
		return 0;
	if (pol->iowait_boost == PELTON_IOWAIT_JUMP) {
		sc->iowait_boost >>= 1;
		return boost;
	}
	if (pelton_iowait_resets(pol) && pelton_cpu_silent(sc, now, tick_ns)) {
		pelton_iowait_clear(sc);
		return 0;
	}
	return pelton_iowait_fade(pol, sc, pelton_iowait_is_khz(pol) ? sp->min_khz : PELTON_IOWAIT_BOOST_MIN, now);
}

/* A boost in capacity units. */
PELTON_INLINE u32 pelton_iowait_capacity(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					 u32 boost, u32 cap_orig)
{
	if (pelton_iowait_is_khz(pol))
		return boost ? pelton_mul_div_floor(boost, cap_orig, pelton_hw_max_khz(sp)) : 0;
	return (u32)pelton_cap_scale(boost, cap_orig);
}

#endif
