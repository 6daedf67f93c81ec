/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched-DVFS, the governor "sched" of 2015: each CPU votes a capacity at scheduler events, the domain follows the
 * largest.
 *
 *   event of the fair class       vote
 *   wake-up, new task             usage (boosted) * 1280 >> 10
 *   dequeue to sleep              the same while entities remain on the root queue, else 0 without an evaluation
 *   a balancer moved tasks        the same, source and destination
 *   tick                          usage (not boosted) * 1280 > capacity now * 1024: all of the CPU, i.e. the jump to maximum
 *
 *   form     vote inside the window   who may drive       compared with      the worker sets
 *   e5       kept, nothing else       the largest vote    current frequency  what is there when it runs, and restarts the
 *                                                                            window even when the operating point stays
 *   v7       kept and requested       every CPU           last request       the newest request once the window is over
 *
 *   one CPU, 450 .. 850 MHz, e5, window 50 ms: a vote of 492 asks for 408398 kHz, which is not 450000: the driver is
 *   called, 450 MHz stays, and votes of the next 50 ms are only kept
 *
 *   quantity          unit       range
 *   usage, vote       capacity   0 .. 1280
 *   frequencies       kHz        32 bits
 *
 * Source: Linaro/Arm EAS trees of 2015, kernel/sched/cpufreq_sched.c (cpufreq_sched_set_cap, cpufreq_sched_thread,
 * cpufreq_sched_start) and fair.c (enqueue_task_fair, dequeue_task_fair, task_tick_fair, load_balance) for e5; the
 * posting "sched: scheduler-driven CPU frequency selection" v7 of February 2016 for v7. No Linux release has either.
 * Deviations: the contention of e5's policy lock, which drops a request, is not modelled; v7's real-time request is the
 * caller's.
 */
#ifndef PELTON_SCHED_DVFS_H
#define PELTON_SCHED_DVFS_H

#include "arith.h"
#include "policy.h"
#include "schedutil.h"

#define PELTON_CAPACITY_MARGIN 1280u
#define PELTON_SCHED_DVFS_WINDOW_NS 50000000u

/* Results of a vote. */
#define PELTON_VOTE_DRIVE 0u     /* hand the request to the driver, or to its worker */
#define PELTON_VOTE_THROTTLED 1u /* e5: inside the window */
#define PELTON_VOTE_OTHER 2u     /* e5: another CPU asks for more */
#define PELTON_VOTE_SAME 3u      /* nothing changed */

/* The governor's record of a frequency domain. */
struct pelton_sched_dvfs {
	u64 throttle_ns; /* end of the window */
	u64 window_ns;
	u32 requested_khz; /* e5: not resolved; v7: an operating point, 0 = none yet */
	u32 cur_khz;
	u32 min_khz;
	u32 max_khz;
	u32 nr_cpus;
	u32 reserved;
} PELTON_ALIGNED64;

/* The vote of a CPU. */
struct pelton_vote {
	u32 cfs;
	u32 rt;
	u32 dl;
	u32 total;
};

_Static_assert(sizeof(struct pelton_sched_dvfs) == 40, "layout");

/* Length of the window, ns: as set, else the driver's latency, else 50 ms. */
PELTON_INLINE u64 pelton_sched_dvfs_window_ns(const struct pelton_policy *pol, u64 latency_ns)
{
	if (pol->sched_dvfs_throttle_us != PELTON_FROM_PLATFORM)
		return (u64)pol->sched_dvfs_throttle_us * PELTON_NSEC_PER_USEC;
	return latency_ns ? latency_ns : PELTON_SCHED_DVFS_WINDOW_NS;
}

/* Usage of a CPU: utilization of its root queue, running and blocked, not above the CPU. */
PELTON_INLINE u32 pelton_sched_dvfs_usage(u64 util_avg, u32 cap_orig)
{
	return (u32)pelton_min_u64(util_avg, cap_orig);
}

/* Capacity asked for at this usage. */
PELTON_INLINE u32 pelton_sched_dvfs_request(u32 usage)
{
	return (u32)(((u64)usage * PELTON_CAPACITY_MARGIN) >> PELTON_CAPACITY_SHIFT);
}

/* The capacity that a tick asks for: all, or 0 = it asks for nothing. */
PELTON_INLINE u32 pelton_sched_dvfs_tick(const struct pelton_sched_dvfs *sd, u32 cap_orig, u32 usage)
{
	u32 scale = pelton_mul_div_floor(sd->cur_khz, PELTON_CAPACITY_SCALE, sd->max_khz);
	u64 now = pelton_cap_scale(cap_orig, scale);

	if (now >= cap_orig || now * PELTON_CAPACITY_SCALE >= (u64)usage * PELTON_CAPACITY_MARGIN)
		return 0;
	return cap_orig;
}

/* The largest vote of the domain. */
PELTON_INLINE u32 pelton_sched_dvfs_most(const struct pelton_sched_dvfs *sd, const struct pelton_vote *votes)
{
	u32 most = 0, i;

	for (i = 0; i < sd->nr_cpus && i < PELTON_DOMAIN_CPUS_MAX; i++)
		most = pelton_max_u32(most, votes[i].total);
	return most;
}

/* A CPU has no fair task left: its vote goes, and the rest is not looked at. */
PELTON_INLINE void pelton_sched_dvfs_reset(struct pelton_vote *vote)
{
	vote->cfs = 0;
	vote->total = 0;
}

/* e5: CPU `cpu` of the domain votes `cap`. Returns a PELTON_VOTE value; DRIVE leaves the request in the record. */
PELTON_INLINE u32 pelton_sched_dvfs_set_cap(struct pelton_sched_dvfs *sd, struct pelton_vote *votes, u32 cpu, u32 cap,
					    u32 cap_orig, u64 now)
{
	u32 khz;

	votes[cpu].cfs = cap;
	votes[cpu].total = cap;
	if (now < sd->throttle_ns)
		return PELTON_VOTE_THROTTLED;
	if (pelton_sched_dvfs_most(sd, votes) > cap)
		return PELTON_VOTE_OTHER;
	khz = pelton_mul_div_floor(cap, sd->max_khz, cap_orig);
	if (khz == sd->cur_khz)
		return PELTON_VOTE_SAME;
	sd->requested_khz = khz;
	return PELTON_VOTE_DRIVE;
}

/* Lowest operating point at or above `khz` within the limits. */
PELTON_INLINE u32 pelton_sched_dvfs_resolve(const struct pelton_sched_dvfs *sd, const u32 *khz, u32 n, u32 raw)
{
	u32 target = pelton_clamp_u32(raw, sd->min_khz, sd->max_khz);
	u32 best = target, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		if (khz[i] > sd->max_khz && i)
			break;
		best = khz[i];
		if (best >= target)
			break;
	}
	return best;
}

/*
 * v7: CPU `cpu` has new requests in its vote; `asks`: an evaluation is wanted. Returns a PELTON_VOTE value; DRIVE
 * leaves an operating point in the record.
 */
PELTON_INLINE u32 pelton_sched_dvfs_update(struct pelton_sched_dvfs *sd, struct pelton_vote *votes, u32 cpu, u32 asks,
					   const u32 *khz, u32 n)
{
	struct pelton_vote *v = &votes[cpu];
	u32 total = pelton_sched_dvfs_request(v->cfs + v->rt) + v->dl;
	u32 wanted;

	if (total == v->total)
		return PELTON_VOTE_SAME;
	v->total = total;
	if (!asks)
		return PELTON_VOTE_SAME;
	wanted = (u32)pelton_cap_scale(pelton_sched_dvfs_most(sd, votes), sd->max_khz);
	wanted = pelton_sched_dvfs_resolve(sd, khz, n, wanted);
	if (wanted == sd->requested_khz)
		return PELTON_VOTE_SAME;
	sd->requested_khz = wanted;
	return PELTON_VOTE_DRIVE;
}

/* The earliest moment at which a request may be carried out: e5 at once, v7 when the window is over. */
PELTON_INLINE u64 pelton_sched_dvfs_due_ns(const struct pelton_policy *pol, const struct pelton_sched_dvfs *sd, u64 now)
{
	if (pol->governor != PELTON_GOVERNOR_SCHED_DVFS_V7)
		return now;
	return pelton_max_u64(now, sd->throttle_ns);
}

/* The driver returned at `now` from setting `khz`: the window begins, whether or not anything changed. */
PELTON_INLINE void pelton_sched_dvfs_done(struct pelton_sched_dvfs *sd, u32 khz, u64 now)
{
	sd->cur_khz = khz;
	sd->throttle_ns = now + sd->window_ns;
}

#endif
