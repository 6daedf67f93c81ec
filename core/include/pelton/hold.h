/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hold filter: a CPU that was not idle since it was last asked keeps its frequency.
 *
 *   idle entries  --+--       --+--                       counter 7       8       8
 *   evaluation          x             x       x           lower? yes      yes     no: same counter as last time
 *
 *   form                    releases    after holding, the cached request is   new limits, deadline override
 *   keep_cache              4.12        untouched                              held at the forgotten frequency
 *   drop_cache              4.16-4.19   0                                      to 4.17 not held, 4.19 held
 *   drop_unless_needed      5.4         0                                      not held, counter not read
 *   restore_cache           5.10        the one before                         held
 *   restore_unless_capped   6.1-        the one before                         not held
 *
 *   The counter is read in every evaluation, to 4.16 before the flags are looked at, but not in those that 5.4 exempts,
 *   nor from 6.1 while the CPU is at its upper clamp.
 *
 *   quantity     unit   range
 *   idle calls   1      64 bits
 *   frequency    kHz    32 bits
 *
 * Source: kernel/sched/cpufreq_schedutil.c of Linux 4.12.0, 4.16.13, 4.17, 4.19, 5.4 and 5.10.262 (sugov_update_single,
 * sugov_cpu_is_busy), 6.1.192, 6.6 and 6.8 (sugov_update_single_freq), 6.12.117, 6.18.2 and 7.2.12 (sugov_hold_freq);
 * kernel/sched/sched.h (uclamp_rq_is_capped). Deviations: sched_ext, which switches the filter off, is unknown.
 */
#ifndef PELTON_HOLD_H
#define PELTON_HOLD_H

#include "perf.h"

/* Do clamps hold the CPU at its highest utilization? */
PELTON_INLINE u32 pelton_sugov_is_capped(const struct pelton_policy *pol, const struct pelton_cpu_state *s)
{
	u32 umax = pelton_clamp_max(pol, s);

	return umax != PELTON_CAPACITY_SCALE && pelton_cpu_util(pol, s, 0) + s->util_rt >= umax;
}

/* Is the counter of idle entries read in this evaluation? What is not read counts until the next time. */
PELTON_INLINE u32 pelton_sugov_reads_idle_calls(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
						const struct pelton_cpu_state *s)
{
	if (pol->hold == PELTON_HOLD_OFF)
		return 0;
	if (pol->hold == PELTON_HOLD_DROP_UNLESS_NEEDED)
		return !sp->need_update;
	return pol->hold != PELTON_HOLD_RESTORE_UNLESS_CAPPED || !pelton_sugov_is_capped(pol, s);
}

/* "Do not lower while never idle": 1 if the CPU had no idle entry since this was last asked. */
PELTON_INLINE u32 pelton_sugov_hold(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				    struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s)
{
	u32 never_idle = s->idle_calls == sc->saved_idle_calls;

	if (!pelton_sugov_reads_idle_calls(pol, sp, s))
		return 0;
	sc->saved_idle_calls = s->idle_calls;
	return never_idle;
}

/* 1 where the filter must let a frequency through although the CPU was never idle. */
PELTON_INLINE u32 pelton_sugov_hold_exempts(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	if (sp->next_freq_khz == PELTON_KHZ_NONE)
		return pol->hold != PELTON_HOLD_KEEP_CACHE;
	return pol->hold == PELTON_HOLD_RESTORE_UNLESS_CAPPED && sp->need_update;
}

/* Apply the hold filter to a new frequency of a single-CPU domain. 4.12 holds even what new limits made it forget. */
PELTON_INLINE u32 pelton_sugov_hold_freq(const struct pelton_policy *pol, struct pelton_sugov_policy *sp,
					 struct pelton_sugov_cpu *sc, const struct pelton_cpu_state *s, u32 freq,
					 u32 cached_raw_before, u32 forced_max)
{
	u32 holds = pelton_sugov_hold(pol, sp, sc, s);

	if (!holds || forced_max || freq >= sp->next_freq_khz || pelton_sugov_hold_exempts(pol, sp))
		return freq;
	if (pol->hold == PELTON_HOLD_DROP_CACHE || pol->hold == PELTON_HOLD_DROP_UNLESS_NEEDED)
		sp->cached_raw_khz = 0;
	else if (pol->hold != PELTON_HOLD_KEEP_CACHE)
		sp->cached_raw_khz = cached_raw_before;
	return sp->next_freq_khz;
}

#endif
