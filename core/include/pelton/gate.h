/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May the frequency change now?
 *
 *            change        refused     refused   evaluation
 *   ---------|----x---------x-----------|--------x--------->
 *            |<------- rate limit ----->|
 *
 *   r0a (4.7-4.11)  the window restarts at every evaluation, even one that changes nothing
 *   r0b             the window restarts when the requested frequency changes
 *   r1_*            W = kappa * cost, within limits; M = largest frequency wanted in it
 *     trailing        when W has passed: M, and a new window begins
 *     sliding         M of the last W, not more often than once in W
 *     asym            up after W / 4 what is wanted, down to M of the last W
 *   r2_*            waiting time D by the error e = |need - request| in capacity
 *     linear          D_max at e = E0 falling to D_min at E1; nothing below E0
 *     hyperbolic      32 * D_max / e, within D_min and D_max
 *   up_down         one limit for increases, one for decreases
 *
 *   Beside any gate: gate_peak lowers only to M of the last W; gate_bypass lets the RT and deadline classes raise at
 *   once, r3a restarting the window, r3b not. A forced call and new limits pass every window; a forced call restarts
 *   none. A request that is refused before it is evaluated is forgotten; one that is held afterwards is worked out anew
 *   at the next event.
 *
 *   quantity              unit       range
 *   rate_limit, windows   ns         0 .. 10^10
 *   last, until           ns         hook clock
 *   error                 capacity   0 .. 1280
 *   M                     kHz        32 bits
 *
 * Source: Linux 7.2 kernel/sched/cpufreq_schedutil.c (sugov_should_update_freq, sugov_update_next_freq); r0b:
 * 4.12.0 (sugov_update_commit) and later; r0a: not read by this project (4.11 is no profile); r1, r2 and r3 were
 * proposed on the list in 2017 without code, the definitions are ours; up_down: vendor kernels. Deviations: M covers
 * the filling half window and two full ones, so never less than W and at most 1.5 W; utilization that leaves a CPU
 * forgets M at once, also when W has just passed.
 */
#ifndef PELTON_GATE_H
#define PELTON_GATE_H

#include "arith.h"
#include "policy.h"

/*
 * Cost of one transition for a CPU, ns: the driver's time, and on the slow path the two switches to and from the
 * worker.
 */
PELTON_INLINE u32 pelton_gate_cost_ns(u32 fast_switch, u64 switch_time_ns, u64 context_switch_ns)
{
	u64 cost = fast_switch ? switch_time_ns : switch_time_ns + 2 * context_switch_ns;

	return (u32)pelton_min_u64(cost, PELTON_FROM_PLATFORM - 1);
}

/* A parameter in ns, or what the platform says. */
PELTON_INLINE u64 pelton_gate_us(u32 parameter_us, u64 platform_ns)
{
	return parameter_us == PELTON_FROM_PLATFORM ? platform_ns : (u64)parameter_us * PELTON_NSEC_PER_USEC;
}

/* The share 1 / kappa of time that transitions may take, as a window; a quarter of it for increases. */
PELTON_INLINE u64 pelton_gate_cost_window(const struct pelton_policy *pol, u32 cost_ns, u32 shift)
{
	u64 cost = pol->gate_cost_ns == PELTON_FROM_PLATFORM ? cost_ns : pol->gate_cost_ns;
	u64 window = (cost * pol->gate_kappa) >> shift;

	window = pelton_max_u64(window, (u64)pol->gate_window_min_us * PELTON_NSEC_PER_USEC);
	return pelton_min_u64(window, (u64)pol->gate_window_max_us * PELTON_NSEC_PER_USEC);
}

/* r2: does the waiting time follow the error? */
PELTON_INLINE u32 pelton_gate_by_error(const struct pelton_policy *pol)
{
	return pol->gate == PELTON_GATE_R2_LINEAR || pol->gate == PELTON_GATE_R2_HYPERBOLIC;
}

/* Windows of a domain; after pelton_sugov_init(). */
PELTON_INLINE void pelton_gate_init(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u32 cost_ns)
{
	struct pelton_gate fresh = { 0 };
	u64 full = pelton_gate_cost_window(pol, cost_ns, 0);
	u64 quarter = pelton_gate_cost_window(pol, cost_ns, 2);

	fresh.window_ns = full;
	fresh.spacing_ns = quarter;
	fresh.half_length_ns = (u32)(full / 2);
	if (pelton_gate_by_error(pol)) {
		fresh.spacing_ns = pelton_gate_us(pol->gate_spacing_min_us, quarter);
		fresh.window_ns =
			pelton_max_u64(pelton_gate_us(pol->gate_spacing_max_us, sp->rate_limit_ns), fresh.spacing_ns);
	}
	if (pol->gate == PELTON_GATE_UP_DOWN) {
		fresh.window_ns = pelton_gate_us(pol->up_rate_limit_us, sp->rate_limit_ns);
		fresh.spacing_ns = pelton_gate_us(pol->down_rate_limit_us, sp->rate_limit_ns);
	}
	sp->gate = fresh;
}

/* Gates that know before the evaluation that nothing can change. */
PELTON_INLINE u64 pelton_gate_cheap_window(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	if (pol->gate <= PELTON_GATE_R0B)
		return sp->rate_limit_ns;
	if (pol->gate == PELTON_GATE_UP_DOWN)
		return pelton_min_u64(sp->gate.window_ns, sp->gate.spacing_ns);
	return 0;
}

/* May the class that called ignore the window? */
PELTON_INLINE u32 pelton_gate_may_bypass(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	return pol->gate_bypass != PELTON_GATE_BYPASS_OFF && (sp->gate.flags & PELTON_HOOK_FLAG_CLASS);
}

/* Is an evaluation worth its time? */
PELTON_INLINE u32 pelton_gate_window_open(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					  u64 now)
{
	if ((sp->gate.flags & PELTON_HOOK_FLAG_FORCE) || pelton_gate_may_bypass(pol, sp))
		return 1;
	return pelton_gate_cheap_window(pol, sp) == 0 ||
	       pelton_elapsed(now, sp->last_ns, pelton_gate_cheap_window(pol, sp));
}

/* Does anything use the maximum of the last window? */
PELTON_INLINE u32 pelton_gate_slides(const struct pelton_policy *pol)
{
	return pol->gate_peak || pol->gate == PELTON_GATE_R1_SLIDING || pol->gate == PELTON_GATE_R1_ASYM;
}

/* Full halves move on. */
PELTON_INLINE void pelton_gate_rotate(struct pelton_gate *g, u64 now)
{
	u64 half = g->half_length_ns;

	if (!pelton_elapsed(now, g->half_ns, half))
		return;
	if (pelton_elapsed(now, g->half_ns, 3 * half)) {
		g->peak_khz[2] = 0;
		g->peak_khz[1] = 0;
		g->half_ns = now;
	} else if (pelton_elapsed(now, g->half_ns, 2 * half)) {
		g->peak_khz[2] = g->peak_khz[0];
		g->peak_khz[1] = 0;
		g->half_ns += 2 * half;
	} else {
		g->peak_khz[2] = g->peak_khz[1];
		g->peak_khz[1] = g->peak_khz[0];
		g->half_ns += half;
	}
	g->peak_khz[0] = 0;
}

/* An evaluation wants `want`: the maximum learns it. */
PELTON_INLINE void pelton_gate_note(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now, u32 want)
{
	struct pelton_gate *g = &sp->gate;

	if (!pelton_gate_slides(pol) && pol->gate != PELTON_GATE_R1_TRAILING)
		return;
	if (g->flags & PELTON_HOOK_FLAG_DETACH) {
		g->peak_khz[0] = 0;
		g->peak_khz[1] = 0;
		g->peak_khz[2] = 0;
		g->half_ns = now;
	} else if (pol->gate != PELTON_GATE_R1_TRAILING) {
		pelton_gate_rotate(g, now);
	}
	g->peak_khz[0] = pelton_max_u32(g->peak_khz[0], want);
	g->maximum_khz = pelton_max_u32(g->peak_khz[0], pelton_max_u32(g->peak_khz[1], g->peak_khz[2]));
}

/* Frequency that the gate would set if it may. */
PELTON_INLINE u32 pelton_gate_target(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp, u32 want)
{
	u32 most = pelton_max_u32(pelton_min_u32(sp->gate.maximum_khz, sp->max_khz), want);

	if (pol->gate == PELTON_GATE_R1_TRAILING || pol->gate == PELTON_GATE_R1_SLIDING)
		return most;
	if (pelton_gate_slides(pol) && want < sp->next_freq_khz)
		return pelton_min_u32(most, sp->next_freq_khz);
	return want;
}

/* D(e). */
PELTON_INLINE u64 pelton_gate_error_spacing(const struct pelton_policy *pol, const struct pelton_gate *g)
{
	u64 span = g->window_ns - g->spacing_ns;

	if (pol->gate == PELTON_GATE_R2_HYPERBOLIC)
		return pelton_min_u64(
			g->window_ns,
			pelton_max_u64(g->spacing_ns, g->error ? g->window_ns * 32 / g->error : g->window_ns));
	if (g->error >= pol->gate_error_high)
		return g->spacing_ns;
	if (g->error <= pol->gate_error_low)
		return g->window_ns;
	return g->window_ns -
	       pelton_div_floor(span * (g->error - pol->gate_error_low), pol->gate_error_high - pol->gate_error_low);
}

/* Is this an increase that r2 lets pass at once? */
PELTON_INLINE u32 pelton_gate_falls_only(const struct pelton_policy *pol, u32 raises)
{
	return raises && pol->gate_asymmetry == PELTON_GATE_ASYMMETRY_FALLS;
}

/* Time that must have passed since the last change. */
PELTON_INLINE u64 pelton_gate_spacing(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp, u32 raises)
{
	if (pol->gate <= PELTON_GATE_R0B)
		return sp->rate_limit_ns;
	if (pol->gate == PELTON_GATE_R1_ASYM)
		return sp->gate.spacing_ns;
	if (pol->gate == PELTON_GATE_UP_DOWN)
		return raises ? sp->gate.window_ns : sp->gate.spacing_ns;
	if (pelton_gate_by_error(pol))
		return pelton_gate_falls_only(pol, raises)
			       ? 0
			       : pelton_gate_error_spacing(pol, &sp->gate)
					 << (pol->gate_asymmetry == PELTON_GATE_ASYMMETRY_ON && !raises);
	return sp->gate.window_ns;
}

/* The shortest time that the gate ever lets pass between two changes. */
PELTON_INLINE u64 pelton_gate_least_spacing(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	if (pelton_gate_by_error(pol))
		return pelton_gate_falls_only(pol, 1) ? 0 : sp->gate.spacing_ns;
	return pelton_min_u64(pelton_gate_spacing(pol, sp, 0), pelton_gate_spacing(pol, sp, 1));
}

/* From when an unforced change may pass, by the hook clock. */
PELTON_INLINE u64 pelton_gate_next_allowed_ns(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp)
{
	return sp->last_ns + pelton_gate_least_spacing(pol, sp);
}

/* Is the error too small to act on? */
PELTON_INLINE u32 pelton_gate_is_dead(const struct pelton_policy *pol, const struct pelton_gate *g, u32 raises)
{
	return pelton_gate_by_error(pol) && !pelton_gate_falls_only(pol, raises) && g->error < pol->gate_error_low;
}

/* Distance of need and request, capacity. */
PELTON_INLINE u32 pelton_gate_error(const struct pelton_sugov_policy *sp, u32 cap_orig, u32 raw)
{
	if (sp->next_freq_khz == PELTON_KHZ_NONE)
		return 0;
	return pelton_mul_div_floor((u32)pelton_distance(raw, sp->next_freq_khz), cap_orig, sp->ref_khz);
}

/* Must a change wait? Sets verdict and until. */
PELTON_INLINE u32 pelton_gate_holds(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now,
				    u32 target)
{
	struct pelton_gate *g = &sp->gate;
	u32 raises = target > sp->next_freq_khz;
	u64 spacing = pelton_gate_spacing(pol, sp, raises);

	/* The window of r0 was open before the evaluation, unless a class came past it. */
	if (pol->gate <= PELTON_GATE_R0B && !pelton_gate_may_bypass(pol, sp))
		return 0;
	if (pelton_gate_is_dead(pol, g, raises)) {
		g->verdict = PELTON_VERDICT_DEAD;
		return 1;
	}
	if (pelton_elapsed(now, sp->last_ns, spacing))
		return 0;
	g->verdict = PELTON_VERDICT_HELD;
	g->until_ns = sp->last_ns + spacing;
	return 1;
}

/*
 * An evaluation wants `want` (after the hold filter), for a need of `raw`. Returns what may be requested now;
 * sp->gate says why it is something else.
 */
PELTON_INLINE u32 pelton_gate_decide(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now,
				     u32 cap_orig, u32 raw, u32 want)
{
	struct pelton_gate *g = &sp->gate;
	u32 new_limits = sp->need_update || sp->next_freq_khz == PELTON_KHZ_NONE;
	u32 urgent = new_limits || (g->flags & PELTON_HOOK_FLAG_FORCE);
	u32 passes = pelton_gate_may_bypass(pol, sp) && want > sp->next_freq_khz;
	u32 plain = passes || (urgent && pol->gate == PELTON_GATE_R1_TRAILING);
	u32 target = plain ? want : pelton_gate_target(pol, sp, want);

	g->verdict = PELTON_VERDICT_OPEN;
	g->until_ns = 0;
	g->error = pelton_gate_error(sp, cap_orig, raw);
	if (target == sp->next_freq_khz) {
		g->verdict = want == target ? PELTON_VERDICT_OPEN : PELTON_VERDICT_PEAK;
		return target;
	}
	if (urgent || passes || !pelton_gate_holds(pol, sp, now, target))
		return target;
	return sp->next_freq_khz;
}

/* Does the call that ends leave the window alone? */
PELTON_INLINE u32 pelton_gate_keeps_window(const struct pelton_policy *pol, const struct pelton_sugov_policy *sp,
					   u32 freq)
{
	u32 raises = freq > sp->next_freq_khz;

	if ((sp->gate.flags & PELTON_HOOK_FLAG_FORCE) || sp->gate.verdict == PELTON_VERDICT_HELD)
		return 1;
	return raises && pol->gate_bypass == PELTON_GATE_BYPASS_R3B && (sp->gate.flags & PELTON_HOOK_FLAG_CLASS);
}

/*
 * An evaluation ended; `freq` is about to become the requested frequency if it is `changed` or asked for once more,
 * `want` was the wish of this moment.
 */
PELTON_INLINE void pelton_gate_evaluated(const struct pelton_policy *pol, struct pelton_sugov_policy *sp, u64 now,
					 u32 freq, u32 want, u32 changed)
{
	if (pelton_gate_keeps_window(pol, sp, freq))
		return;
	if (pol->gate == PELTON_GATE_R1_TRAILING && (changed || pelton_elapsed(now, sp->last_ns, sp->gate.window_ns))) {
		sp->gate.peak_khz[0] = want;
		sp->last_ns = now;
	}
	if (changed || pol->gate == PELTON_GATE_R0A)
		sp->last_ns = now;
}

#endif
