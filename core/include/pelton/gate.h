/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * May the governor act now? The fixed window of mainline.
 *
 *            change        refused     refused   evaluation
 *   ---------|----x---------x-----------|--------x--------->
 *            |<------- rate limit ----->|
 *
 *   r0a (to 4.12)   the window restarts at every evaluation, even one that changes nothing
 *   r0b             the window restarts when the requested frequency changes
 *
 * A refused request is forgotten: the next event evaluates what is true then.
 *
 *   quantity       unit   range
 *   rate_limit     ns     0 .. 10^10
 *   last           ns     hook clock of the restarting event
 *
 * Source: Linux 7.2 kernel/sched/cpufreq_schedutil.c (sugov_should_update_freq, sugov_update_next_freq); r0a is
 * recollection of 4.12. Deviations: none known.
 */
#ifndef PELTON_GATE_H
#define PELTON_GATE_H

#include "arith.h"
#include "policy.h"

/* Has the window passed? */
PELTON_INLINE u32 pelton_gate_window_open(const struct pelton_sugov_policy *sp, u64 now)
{
	return pelton_elapsed(now, sp->last_ns, sp->rate_limit_ns);
}

/* An evaluation ended. `changed`: with another requested frequency than before. */
PELTON_INLINE void pelton_gate_evaluated(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now,
					 u32 changed)
{
	if (changed || pol->gate == PELTON_GATE_R0A)
		sp->last_ns = now;
}

#endif
