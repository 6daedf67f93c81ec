/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-entity load tracking: one record's geometric sums and averages.
 *
 * A sum is the time something was true, older time counting less: y^32 = 1/2 per period of 1024 units of 1024 ns.
 *
 *      last update                                               now
 *          |   d1   |           d2: p - 1 full periods            | d3 |
 *   -------*--------|-------------|-------------|-------------|---------*---->
 *     pc   ^        ^ period boundary                             new pc = d3
 *
 *   sum' = decay(sum, p) + value * c
 *   c    = decay(d1, p)  +  (MAX - decay(MAX, p) - 1024)  +  d3           (p = 0: c = elapsed units)
 *   avg  = W * sum / (MAX - 1024 + pc)                                    only when p > 0
 *
 *   quantity       unit                     range
 *   last update    ns, whole units added    u64
 *   pc             1024 ns                  0 .. 1023
 *   util_sum       1024 ns << 10            0 .. 47788 << 10
 *   util_avg       capacity                 0 .. 1025
 *   runnable_avg   capacity per task        0 .. 1024 * tasks
 *   load_avg       weight                   0 .. sum of weights
 * Up to 5.4 runnable_avg is a load (runnable_load.h): its sum has no shift, its average the runnable weight.
 *
 * Source: Linux 7.2 kernel/sched/pelt.c (decay_load, __accumulate_pelt_segments, accumulate_sum,
 * ___update_load_sum, ___update_load_avg, __update_load_avg_se, __update_load_avg_blocked_se); 4.12-5.0 for
 * contribution scaling and the constant divisor.
 * The constants 47742 and 46718 were computed with truncation, the sums lose less: updates at awkward moments can carry
 * a busy record to 1025, in the kernel as here. Readers limit to the capacity.
 *
 * Deviations: 4.12 multiplied the weight into an entity's load sum, here the weight enters at the average in every
 * profile; 4.12 started a record at position 1023, here at 0.
 */
#ifndef PELTON_PELT_H
#define PELTON_PELT_H

#include "arith.h"
#include "asked.h"
#include "pelt_table.h"
#include "runnable_load.h"

#define PELTON_PERIOD_UNITS 1024u
#define PELTON_UNIT_SHIFT 10 /* a unit is 1024 ns */
#define PELTON_MIN_DIVISOR (PELTON_LOAD_AVG_MAX - PELTON_PERIOD_UNITS)
#define PELTON_DECAY_ZERO_PERIODS (63u * PELTON_HALF_LIFE_PERIODS)

/* util_est did not change since it was stored: the averages were not published in between. Up to 5.4 in bit 0. */
#define PELTON_UTIL_EST_UNCHANGED 0x80000000u
#define PELTON_UTIL_EST_UNCHANGED_LOW 1u

/* Inputs of an update beside the record: rules, the record's own clock, the speed of the CPU. */
struct pelton_ctx {
	const struct pelton_policy *pol;
	u64 now;
	u32 cap_orig;
	u32 freq_scale;
};

/* v * y^n, truncated as the kernel truncates it. */
PELTON_INLINE u64 pelton_decay_load(u64 v, u64 n)
{
	u32 periods;

	if (n > PELTON_DECAY_ZERO_PERIODS)
		return 0;
	periods = (u32)n;
	v >>= periods / PELTON_HALF_LIFE_PERIODS;
	return pelton_mul_u64_u32_shr32(v, pelton_decay_inverse[periods % PELTON_HALF_LIFE_PERIODS]);
}

/* Contribution of d1 old units, p - 1 full periods and d3 new units, as of now. */
PELTON_INLINE u32 pelton_accumulate_pelt_segments(u64 p, u32 d1, u32 d3)
{
	u32 tail = (u32)pelton_decay_load(d1, p);
	u32 full = PELTON_LOAD_AVG_MAX - (u32)pelton_decay_load(PELTON_LOAD_AVG_MAX, p) - PELTON_PERIOD_UNITS;

	return tail + full + d3;
}

/* The largest sum a record can have at its position: what an average is relative to. */
PELTON_INLINE u32 pelton_divisor(const struct pelton_policy *pol, const struct pelton_avg *avg)
{
	const struct pelton_asked *asked = PELTON_ASKED(pol);

	if (asked && asked->divider)
		return asked->divider(avg->period_contrib);
	if (pol->divisor == PELTON_DIVISOR_CONSTANT)
		return PELTON_LOAD_AVG_MAX;
	return PELTON_MIN_DIVISOR + avg->period_contrib;
}

PELTON_INLINE void pelton_decay_sums(struct pelton_avg *avg, u64 periods)
{
	avg->load_sum = pelton_decay_load(avg->load_sum, periods);
	avg->runnable_sum = pelton_decay_load(avg->runnable_sum, periods);
	avg->util_sum = (u32)pelton_decay_load(avg->util_sum, periods);
}

/* Add c units of the three inputs; before 5.1 each unit is scaled by the speed it was spent at. */
PELTON_INLINE void pelton_add_units(const struct pelton_ctx *ctx, struct pelton_avg *avg, u32 c, u64 load, u64 runnable,
				    u64 running)
{
	u32 runnable_shift = pelton_keeps_runnable_load(ctx->pol) ? 0 : PELTON_CAPACITY_SHIFT;
	u32 util_scale = PELTON_CAPACITY_SCALE;

	if (ctx->pol->invariance == PELTON_INVARIANCE_CONTRIBUTION) {
		c = (u32)pelton_cap_scale(c, ctx->freq_scale);
		util_scale = ctx->cap_orig;
	}
	avg->load_sum += load * c;
	avg->runnable_sum += (runnable * c) << runnable_shift;
	if (running)
		avg->util_sum += c * util_scale;
}

/* Age the sums over `units` in which the three inputs held. Returns the number of period boundaries crossed. */
PELTON_INLINE u64 pelton_accumulate_sum(const struct pelton_ctx *ctx, struct pelton_avg *avg, u64 units, u64 load,
					u64 runnable, u64 running)
{
	u32 pc = avg->period_contrib;
	u64 total = units + pc;
	u64 periods = total / PELTON_PERIOD_UNITS;
	u32 rest = (u32)(total % PELTON_PERIOD_UNITS);
	u32 c = (u32)units;

	PELTON_ASSERT(pc < PELTON_PERIOD_UNITS);
	if (periods) {
		pelton_decay_sums(avg, periods);
		if (load)
			c = pelton_accumulate_pelt_segments(periods, PELTON_PERIOD_UNITS - pc, rest);
	}
	avg->period_contrib = rest;
	if (load)
		pelton_add_units(ctx, avg, c, load, runnable, running);
	return periods;
}

/*
 * Bring a record's sums up to ctx->now. `load`, `runnable` and `running` describe the state that held since the last
 * update; without load there is neither of the others. Returns the number of period boundaries crossed: 0 means there
 * is nothing to publish.
 */
PELTON_INLINE u64 pelton_update_load_sum(const struct pelton_ctx *ctx, struct pelton_avg *avg, u64 load, u64 runnable,
					 u64 running)
{
	const struct pelton_asked *asked = PELTON_ASKED(ctx->pol);
	u64 delta = ctx->now - avg->last_update_time_ns;

	if (asked && asked->load_sum)
		return asked->load_sum(ctx->now, avg, load, runnable, running);
	if ((s64)delta < 0) {
		avg->last_update_time_ns = ctx->now;
		return 0;
	}
	delta >>= PELTON_UNIT_SHIFT;
	if (!delta)
		return 0;
	avg->last_update_time_ns += delta << PELTON_UNIT_SHIFT;
	return pelton_accumulate_sum(ctx, avg, delta, load, runnable, running);
}

/* Turn sums into averages, `weight` times the load's and `runnable` times the runnable one. */
PELTON_INLINE void pelton_publish_weighted(const struct pelton_policy *pol, struct pelton_avg *avg, u64 weight,
					   u64 runnable)
{
	const struct pelton_asked *asked = PELTON_ASKED(pol);
	u32 divisor;

	if (asked && asked->load_avg && runnable == 1) {
		asked->load_avg(avg, weight);
		return;
	}
	divisor = pelton_divisor(pol, avg);
	avg->load_avg = pelton_div_floor(weight * avg->load_sum, divisor);
	avg->runnable_avg = pelton_div_floor(runnable * avg->runnable_sum, divisor);
	avg->util_avg = avg->util_sum / divisor;
}

PELTON_INLINE void pelton_publish(const struct pelton_policy *pol, struct pelton_avg *avg, u64 weight)
{
	pelton_publish_weighted(pol, avg, weight, 1);
}

/* Bring a weightless record (RT, DL, interrupts, hardware) up to ctx->now. Returns PELTON_EV_DECAYED or 0. */
PELTON_INLINE u32 pelton_update_avg(const struct pelton_ctx *ctx, struct pelton_avg *avg, u32 value)
{
	if (!pelton_update_load_sum(ctx, avg, value, value, value))
		return 0;
	pelton_publish(ctx->pol, avg, 1);
	return PELTON_EV_DECAYED;
}

/* Part that the entity itself contributes to a runnable average while it is queued. */
PELTON_INLINE u64 pelton_se_runnable(const struct pelton_policy *pol, const struct pelton_se *se)
{
	if (!se->on_rq || pol->runnable_signal == PELTON_RUNNABLE_OFF)
		return 0;
	return pelton_keeps_runnable_load(pol) ? 1 : se->nr_runnable;
}

/* Bit of the stored estimate that is the mark. */
PELTON_INLINE u32 pelton_util_est_mark(const struct pelton_policy *pol)
{
	u32 low = pol->util_est == PELTON_UTIL_EST_U1 || pol->util_est == PELTON_UTIL_EST_U1_ANY;

	return low ? PELTON_UTIL_EST_UNCHANGED_LOW : PELTON_UTIL_EST_UNCHANGED;
}

PELTON_INLINE u64 pelton_age_se(const struct pelton_ctx *ctx, struct pelton_se *se, u64 load, u64 runnable, u64 running)
{
	u64 periods = pelton_update_load_sum(ctx, &se->avg, load, runnable, running);

	if (periods)
		pelton_publish_weighted(ctx->pol, &se->avg, se->weight, pelton_se_runnable_factor(ctx->pol, se));
	return periods;
}

/* Bring an entity up to ctx->now from its own state. Returns the number of period boundaries crossed. */
PELTON_INLINE u64 pelton_update_load_avg_se(const struct pelton_ctx *ctx, struct pelton_se *se)
{
	u64 periods = pelton_age_se(ctx, se, se->on_rq != 0, pelton_se_runnable(ctx->pol, se), se->running);

	if (periods)
		se->avg.util_est_enqueued &= ~pelton_util_est_mark(ctx->pol);
	return periods;
}

/*
 * Updates an entity that is known to be blocked. Its estimate keeps the mark: averages that only decayed are no news.
 */
PELTON_INLINE u64 pelton_update_load_avg_blocked_se(const struct pelton_ctx *ctx, struct pelton_se *se)
{
	return pelton_age_se(ctx, se, 0, 0, 0);
}

#endif
