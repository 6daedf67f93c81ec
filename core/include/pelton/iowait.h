/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iowait boost: a task that wakes from I/O again and again is given speed before its utilization shows it.
 *
 *   capacity (5.1-)     request: 128, 256, 512, 1024     one doubling between two evaluations
 *                       evaluation without request: halved, gone below 128
 *   frequency (4.13-)   the same between the lowest and the highest frequency
 *   jump (to 4.12)      request: highest frequency; halved at every evaluation
 *   A CPU that made no hook call for more than a tick starts over. With hook_filter=h3 halved at most once per ms.
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
 * Source: Linux 6.12 and 7.2 kernel/sched/cpufreq_schedutil.c (sugov_iowait_boost, sugov_iowait_apply,
 * sugov_iowait_reset); 4.12-5.0 from public trees.
 * Deviations: the kHz eras compared fractions of two scales, here the boost is turned into capacity units, truncated.
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

PELTON_INLINE void pelton_iowait_request_capacity(struct pelton_sugov_cpu *sc, u32 waits, u32 silent)
{
	if (sc->iowait_boost && silent)
		pelton_iowait_clear(sc);
	if (waits)
		pelton_iowait_double(sc, PELTON_IOWAIT_BOOST_MIN, PELTON_CAPACITY_SCALE);
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
	u32 waits = flags & PELTON_HOOK_FLAG_IOWAIT;
	u32 silent = pelton_cpu_silent(sc, now, tick_ns);

	if (pol->iowait_boost == PELTON_IOWAIT_CAPACITY)
		pelton_iowait_request_capacity(sc, waits, silent);
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

PELTON_INLINE u32 pelton_iowait_apply_khz(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					  struct pelton_sugov_cpu *sc, u32 cap_orig, u64 now)
{
	u32 khz = sc->iowait_boost;

	if (pol->iowait_boost == PELTON_IOWAIT_JUMP)
		sc->iowait_boost >>= 1;
	else
		khz = pelton_iowait_fade(pol, sc, sp->min_khz, now);
	return pelton_mul_div_floor(khz, cap_orig, pelton_hw_max_khz(sp));
}

/* An evaluation: the boost in capacity units, and its fading. */
PELTON_INLINE u32 pelton_iowait_apply(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				      struct pelton_sugov_cpu *sc, u32 cap_orig, u64 now, u64 tick_ns)
{
	if (!sc->iowait_boost || pol->iowait_boost == PELTON_IOWAIT_OFF)
		return 0;
	if (pol->iowait_boost != PELTON_IOWAIT_CAPACITY)
		return pelton_iowait_apply_khz(pol, sp, sc, cap_orig, now);
	if (pelton_cpu_silent(sc, now, tick_ns)) {
		pelton_iowait_clear(sc);
		return 0;
	}
	return (u32)pelton_cap_scale(pelton_iowait_fade(pol, sc, PELTON_IOWAIT_BOOST_MIN, now), cap_orig);
}

#endif
