/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which scheduler events call the governor.
 *
 *   event --> offered: does this kernel have a call here (hook_* switches)?
 *         --> filter:  hook_filter, this page
 *         --> gate.h:  may the frequency change now?
 *
 *   filter     delivered events
 *   h0         every offered one: mainline
 *   h1         attach, detach (of the root queue), tick of a running fair task, and the offered ones of iowait, RT, DL
 *   h2         offered, but not when fair utilization moved by less than epsilon since the last evaluation
 *              (iowait, RT, DL, limits, clamps that add up always)
 *   h3         one call per context switch, see below; tick, class change, blocked walk, limits
 *   h4         tick of a running fair task alone
 *   composite  offered, but not averages that moved by less than epsilon outside of the tick
 *
 *   h3, at a switch to     called
 *   fair                   woke from I/O: yes, forced; else only when the root average changed since the last call
 *   FIFO, RR               forced, unless FIFO/RR with the same lower clamp ran before; never for the stop class
 *   deadline               forced, not for the governor's own worker
 *   idle                   no
 *
 *   A forced call ignores the rate limit and does not restart it. While a correction is held by the gate and its time
 *   has come, no event counts as small; nor, without frequency invariance, when the frequency has changed.
 *
 *   quantity       unit       range
 *   hook_epsilon   capacity   0 .. 1024
 *   tick           ns         10^6 .. 10^7
 *
 * Source: Linux 5.10, 6.1, 6.12 and 7.2 kernel/sched/fair.c, rt.c, deadline.c (call sites of cpufreq_update_util); h1:
 * a posting of 2017; h3: "sched: Consolidate cpufreq updates" of 24 March 2024 (RFC) and 12 May 2024 (v3),
 * update_cpufreq_ctx_switch; h2 and composite are our own.
 * Deviations of h3: it calls early, when a second task is queued, where the tick is 4 ms or longer; the postings had no
 * number. It keeps the flags of 4.12-4.16 alive: a CPU whose last call carried one calls at the next fair task. Tasks
 * of SCHED_IDLE call as fair tasks do (only from v7 on). Not here: v6's silence after the governor's worker ran, v7's
 * calls at every enqueue and after a switch from RT or deadline to fair, and the shorter life of the I/O boost.
 */
#ifndef PELTON_HOOK_H
#define PELTON_HOOK_H

#include "arith.h"
#include "policy.h"

/* Kinds of events; the numbers of HookSite in the event schema. */
#define PELTON_SITE_DECAY 0u
#define PELTON_SITE_ATTACH 1u
#define PELTON_SITE_DETACH 2u
#define PELTON_SITE_IOWAIT 3u
#define PELTON_SITE_TICK 4u
#define PELTON_SITE_RT 5u
#define PELTON_SITE_DL 6u
#define PELTON_SITE_BLOCKED 7u
#define PELTON_SITE_LIMITS 8u
#define PELTON_SITE_ENQUEUE 9u
#define PELTON_SITE_SWITCH 10u
#define PELTON_SITE_UCLAMP 11u

/* Circumstances of an event; bits. */
#define PELTON_HOW_REMOTE 1u       /* another CPU executes it */
#define PELTON_HOW_ACCOUNTING 2u   /* run time of an RT or DL task was accounted */
#define PELTON_HOW_ATTACHES 4u     /* an average changed because an entity comes or goes: attach or detach follows */
#define PELTON_HOW_TICK 8u         /* part of the tick */
#define PELTON_HOW_LEFTOVER 16u    /* attach or detach that is no wake-up, sleep or migration */
#define PELTON_HOW_REMOVED 32u     /* what sleeping tasks took along was subtracted */
#define PELTON_HOW_LONG_TICK 64u   /* the next tick is far away */
#define PELTON_HOW_IOWAIT 128u     /* switch: the next task woke from I/O */
#define PELTON_HOW_SAME_CLAMP 256u /* switch: both tasks have the same lower clamp */
#define PELTON_HOW_PROPAGATED 512u /* an average changed because a group's did, not by time */

/* Classes that run before and after a context switch. The first four equal PELTON_RUNS_*. */
#define PELTON_CLASS_FAIR 0u
#define PELTON_CLASS_RT 1u
#define PELTON_CLASS_DL 2u
#define PELTON_CLASS_IDLE 3u
#define PELTON_CLASS_WORKER 4u
#define PELTON_CLASS_STOP 5u

/* Results of an event; the flags of the call follow from bit 8 on. */
#define PELTON_HOOK_OFFERED 1u
#define PELTON_HOOK_DELIVERED 2u
#define PELTON_HOOK_FLAGS_SHIFT 8

/* Events on a CPU since its last call; bits of pelton_sugov_cpu.marks. */
#define PELTON_MARK_CHANGED 1u
#define PELTON_MARK_DETACHED 2u

#define PELTON_LONG_TICK_NS 4000000u

PELTON_INLINE u32 pelton_hook_tick_is_long(u64 tick_ns)
{
	return tick_ns >= PELTON_LONG_TICK_NS ? PELTON_HOW_LONG_TICK : 0;
}

/* A change of the averages, in the kernels that call for it. */
PELTON_INLINE u32 pelton_hook_offers_decay(const struct pelton_policy *pol, u32 how)
{
	if (pol->hook_decay == PELTON_HOOK_DECAY_OFF)
		return 0;
	if (pol->hook_decay == PELTON_HOOK_DECAY_LOCAL && (how & PELTON_HOW_REMOTE))
		return 0;
	if (pol->hook_in_average)
		return !(how & PELTON_HOW_PROPAGATED);
	return !(how & PELTON_HOW_ATTACHES);
}

PELTON_INLINE u32 pelton_hook_offers_rt(const struct pelton_policy *pol, u32 how)
{
	return pol->hook_rt == (how & PELTON_HOW_ACCOUNTING ? PELTON_HOOK_RT_ACCOUNTING : PELTON_HOOK_RT_ENQUEUE);
}

PELTON_INLINE u32 pelton_hook_offers_dl(const struct pelton_policy *pol, u32 how)
{
	return pol->hook_dl == (how & PELTON_HOW_ACCOUNTING ? PELTON_HOOK_DL_ACCOUNTING : PELTON_HOOK_DL_BANDWIDTH);
}

/* Does this kernel call the governor here? */
PELTON_INLINE u32 pelton_hook_offered(const struct pelton_policy *pol, u32 kind, u32 how)
{
	if (kind == PELTON_SITE_DECAY)
		return pelton_hook_offers_decay(pol, how);
	if (kind == PELTON_SITE_ATTACH || kind == PELTON_SITE_DETACH)
		return pol->hook_attach;
	if (kind == PELTON_SITE_RT)
		return pelton_hook_offers_rt(pol, how);
	if (kind == PELTON_SITE_DL)
		return pelton_hook_offers_dl(pol, how);
	if (kind == PELTON_SITE_TICK)
		return pol->hook_tick;
	if (kind == PELTON_SITE_BLOCKED)
		return pol->hook_blocked != PELTON_HOOK_BLOCKED_OFF;
	if (kind == PELTON_SITE_IOWAIT)
		return pol->hook_iowait;
	if (kind == PELTON_SITE_UCLAMP)
		return pol->uclamp >= PELTON_UCLAMP_SUM;
	return kind == PELTON_SITE_LIMITS;
}

/* Kernels before 4.14 call for the CPU that executes and for no other. */
PELTON_INLINE u32 pelton_hook_is_out_of_reach(const struct pelton_policy *pol, u32 kind, u32 how)
{
	return pol->remote == PELTON_REMOTE_LOCAL_ONLY && (how & PELTON_HOW_REMOTE) && kind != PELTON_SITE_LIMITS;
}

/* Utilization of the fair class, as the filter for small changes sees it. */
PELTON_INLINE u32 pelton_hook_util(const struct pelton_policy *pol, u32 util_avg, u32 runnable_avg, u32 util_est)
{
	u32 util = util_avg;

	if (pol->runnable_boost)
		util = pelton_max_u32(util, runnable_avg);
	if (pol->util_est != PELTON_UTIL_EST_OFF)
		util = pelton_max_u32(util, util_est);
	return util;
}

/*
 * Did utilization hardly move since the last evaluation? Without frequency invariance the need is worked out from the
 * present frequency: when that has changed, so has the need.
 */
PELTON_INLINE u32 pelton_hook_is_small(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				       const struct pelton_sugov_cpu *sc, const struct pelton_rq *rq, u64 now)
{
	u32 util = pelton_hook_util(pol, (u32)rq->cfs.avg.util_avg, (u32)rq->cfs.avg.runnable_avg, rq->cfs.util_est);

	if (sp->gate.until_ns && pelton_elapsed(now, sp->gate.until_ns, 0))
		return 0;
	if (!sp->freq_invariant && sc->khz_evaluated != sp->cur_khz)
		return 0;
	return pelton_distance(util, sc->util_evaluated) < pol->hook_epsilon;
}

/* h1: attach, detach and tick whatever the kernel has; the other classes as it has them. */
PELTON_INLINE u32 pelton_hook_h1(u32 kind, u32 offered)
{
	if (kind == PELTON_SITE_ATTACH || kind == PELTON_SITE_DETACH || kind == PELTON_SITE_TICK)
		return 1;
	return offered && kind != PELTON_SITE_DECAY && kind != PELTON_SITE_BLOCKED;
}

/* h3 outside of context switches. */
PELTON_INLINE u32 pelton_hook_h3(u32 kind, u32 how)
{
	if (kind == PELTON_SITE_ATTACH || kind == PELTON_SITE_DETACH)
		return (how & PELTON_HOW_LEFTOVER) != 0;
	if (kind == PELTON_SITE_ENQUEUE)
		return (how & PELTON_HOW_LONG_TICK) != 0;
	return kind == PELTON_SITE_TICK || kind == PELTON_SITE_BLOCKED || kind == PELTON_SITE_LIMITS;
}

/* Events that h2 never drops. */
PELTON_INLINE u32 pelton_hook_never_small(u32 kind)
{
	return kind == PELTON_SITE_IOWAIT || kind == PELTON_SITE_RT || kind == PELTON_SITE_DL ||
	       kind == PELTON_SITE_LIMITS || kind == PELTON_SITE_UCLAMP;
}

/* Does the filter let the event through? */
PELTON_INLINE u32 pelton_hook_passes(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				     const struct pelton_sugov_cpu *sc, const struct pelton_rq *rq, u64 now, u32 kind,
				     u32 how, u32 offered)
{
	if (pol->hook_filter == PELTON_HOOK_FILTER_H0)
		return offered;
	if (pol->hook_filter == PELTON_HOOK_FILTER_H1)
		return pelton_hook_h1(kind, offered);
	if (pol->hook_filter == PELTON_HOOK_FILTER_H3)
		return pelton_hook_h3(kind, how);
	if (pol->hook_filter == PELTON_HOOK_FILTER_H4)
		return kind == PELTON_SITE_TICK || kind == PELTON_SITE_LIMITS;
	if (!offered)
		return 0;
	if (pol->hook_filter == PELTON_HOOK_FILTER_H2)
		return pelton_hook_never_small(kind) || !pelton_hook_is_small(pol, sp, sc, rq, now);
	return kind != PELTON_SITE_DECAY || (how & PELTON_HOW_TICK) || !pelton_hook_is_small(pol, sp, sc, rq, now);
}

/* Remember the flags that a call which does not happen would have passed. */
PELTON_INLINE void pelton_hook_mark(struct pelton_sugov_cpu *sc, u32 kind, u32 how)
{
	if (kind <= PELTON_SITE_DETACH || kind == PELTON_SITE_BLOCKED)
		sc->marks |= PELTON_MARK_CHANGED;
	if (kind == PELTON_SITE_DETACH || (how & PELTON_HOW_REMOVED))
		sc->marks |= PELTON_MARK_DETACHED;
}

/* Flags of the call that an event makes; the marks are used up. */
PELTON_INLINE u32 pelton_hook_flags(struct pelton_sugov_cpu *sc, u32 kind, u32 how)
{
	u32 flags = sc->marks & PELTON_MARK_DETACHED ? PELTON_HOOK_FLAG_DETACH : 0;

	sc->marks = 0;
	if (kind == PELTON_SITE_IOWAIT)
		flags |= PELTON_HOOK_FLAG_IOWAIT;
	if (kind == PELTON_SITE_RT || kind == PELTON_SITE_DL)
		flags |= PELTON_HOOK_FLAG_CLASS;
	if (kind == PELTON_SITE_RT && (how & PELTON_HOW_ACCOUNTING))
		flags |= PELTON_HOOK_FLAG_RT;
	if (kind == PELTON_SITE_DL && (how & PELTON_HOW_ACCOUNTING))
		flags |= PELTON_HOOK_FLAG_DL;
	return flags;
}

/*
 * An event on the CPU of `sc` and `rq`. Returns PELTON_HOOK_OFFERED and _DELIVERED; a delivered event is a call of
 * pelton_sugov_begin() with the flags above bit 8.
 */
PELTON_INLINE u32 pelton_hook_event(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
				    struct pelton_sugov_cpu *sc, const struct pelton_rq *rq, u64 now, u32 kind, u32 how)
{
	u32 offered = pelton_hook_offered(pol, kind, how);

	pelton_hook_mark(sc, kind, how);
	if (pelton_hook_is_out_of_reach(pol, kind, how))
		return 0;
	if (!pelton_hook_passes(pol, sp, sc, rq, now, kind, how, offered))
		return offered ? PELTON_HOOK_OFFERED : 0;
	return (offered ? PELTON_HOOK_OFFERED : 0) | PELTON_HOOK_DELIVERED |
	       pelton_hook_flags(sc, kind, how) << PELTON_HOOK_FLAGS_SHIFT;
}

/* Flags of h3's call at a switch to another class than fair; 0 = no call. */
PELTON_INLINE u32 pelton_hook_switch_class(u32 prev, u32 next, u32 how)
{
	if (next == PELTON_CLASS_DL)
		return PELTON_HOOK_FLAG_FORCE | PELTON_HOOK_FLAG_CLASS | PELTON_HOOK_FLAG_DL;
	if (next != PELTON_CLASS_RT || (prev == PELTON_CLASS_RT && (how & PELTON_HOW_SAME_CLAMP)))
		return 0;
	return PELTON_HOOK_FLAG_FORCE | PELTON_HOOK_FLAG_CLASS | PELTON_HOOK_FLAG_RT;
}

/* A context switch, after the next task is known; the result is that of pelton_hook_event(). Only h3 calls. */
PELTON_INLINE u32 pelton_hook_switch(const struct pelton_policy *pol, struct pelton_sugov_cpu *sc, u32 prev, u32 next,
				     u32 how)
{
	u32 flagged = sc->flags & (PELTON_HOOK_FLAG_RT | PELTON_HOOK_FLAG_DL);
	u32 flags;

	if (pol->hook_filter != PELTON_HOOK_FILTER_H3)
		return 0;
	if (next != PELTON_CLASS_FAIR)
		flags = pelton_hook_switch_class(prev, next, how);
	else
		flags = how & PELTON_HOW_IOWAIT ? PELTON_HOOK_FLAG_FORCE | PELTON_HOOK_FLAG_IOWAIT : 0;
	if (!flags && (next != PELTON_CLASS_FAIR || !(flagged || (sc->marks & PELTON_MARK_CHANGED))))
		return 0;
	flags |= pelton_hook_flags(sc, PELTON_SITE_SWITCH, how);
	return PELTON_HOOK_DELIVERED | flags << PELTON_HOOK_FLAGS_SHIFT;
}

#endif
