/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Governors other than schedutil, distinguished in one place: what a domain runs at when nothing happens, and after a
 * sample.
 *
 *   governor       at its start          afterwards
 *   performance    the upper limit       nothing
 *   powersave      the lower limit       nothing
 *   userspace      the frequency set     nothing
 *   ondemand, conservative               a sample (ondemand.h)
 *   interactive                          a timer of a CPU (interactive.h)
 *   sched_dvfs, sched_dvfs_v7            a vote (sched_dvfs.h)
 *
 *   quantity       unit   range
 *   frequencies    kHz    32 bits; 0 = stays as it is
 *
 * Source: drivers/cpufreq/cpufreq_performance.c (cpufreq_gov_performance_limits), cpufreq_powersave.c
 * (cpufreq_gov_powersave_limits), cpufreq_userspace.c (cpufreq_set) of Linux 6.12.
 * Deviations: none known.
 */
#ifndef PELTON_GOVERNOR_H
#define PELTON_GOVERNOR_H

#include "interactive.h"
#include "ondemand.h"
#include "sched_dvfs.h"

/* The frequency a governor sets when it starts, kHz; 0 = none. */
PELTON_INLINE u32 pelton_governor_start_khz(const struct pelton_policy *pol, const struct pelton_dbs *d, const u32 *khz,
					    u32 n)
{
	if (pol->governor == PELTON_GOVERNOR_PERFORMANCE)
		return pelton_dbs_below(d, khz, n, d->max_khz);
	if (pol->governor == PELTON_GOVERNOR_POWERSAVE)
		return pelton_dbs_above(d, khz, n, d->min_khz);
	if (pol->governor == PELTON_GOVERNOR_USERSPACE && pol->userspace_khz != PELTON_FROM_PLATFORM)
		return pelton_dbs_above(d, khz, n, pol->userspace_khz);
	return 0;
}

/* Does the governor take samples? */
PELTON_INLINE u32 pelton_governor_samples(const struct pelton_policy *pol)
{
	return pol->governor == PELTON_GOVERNOR_ONDEMAND || pol->governor == PELTON_GOVERNOR_CONSERVATIVE;
}

/* Do its CPUs have timers? */
PELTON_INLINE u32 pelton_governor_timers(const struct pelton_policy *pol)
{
	return pol->governor == PELTON_GOVERNOR_INTERACTIVE;
}

/* Does it take votes? */
PELTON_INLINE u32 pelton_governor_votes(const struct pelton_policy *pol)
{
	return pol->governor == PELTON_GOVERNOR_SCHED_DVFS || pol->governor == PELTON_GOVERNOR_SCHED_DVFS_V7;
}

/*
 * The frequency after a sample; the record knows the load, if it was looked at, and afterwards when the next one is
 * due.
 */
PELTON_INLINE u32 pelton_governor_sampled(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz, u32 n)
{
	if (pol->governor == PELTON_GOVERNOR_CONSERVATIVE)
		return pelton_conservative_target(pol, d, khz, n);
	return pelton_ondemand_target(pol, d, khz, n);
}

#endif
