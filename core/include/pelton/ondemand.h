/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Governors that look at the CPUs' idle time once in a while: ondemand and conservative.
 *
 *   load of a CPU      100 * (wall - idle) / wall since its last sample, percent; the largest of the domain counts
 *   after a long sleep the load before it, once: a burst that follows an idle time must not begin slowly
 *                      long: 4_5 wall, 6_12 idle > 2 * period * multiplier
 *
 *   ondemand           load > up_threshold: the limit, and the next sampling_down_factor periods are one
 *                      else min + load * (max - min) / 100, the nearest operating point; min, max: of the hardware
 *   conservative       load > up_threshold: a step up;  load < down_threshold: a step down, looked at in every
 *                      sampling_down_factor-th sample; a step is freq_step percent of the upper limit; 6_12: and a step
 *                      down for each period without a sample
 *
 *   period             4_5  max(10 ms, latency * 1000);   6_12 max(2 ticks, the driver's delay as in schedutil's default)
 *
 *   450 .. 850 MHz, load 46: 450 + 46 * 4 = 634 MHz, 575 is nearer than 700; load 47: 638, 700 is
 *
 *   quantity       unit      range
 *   wall, idle     us        since the last sample; idle <= wall
 *   load           percent   0 .. 100
 *   frequencies    kHz       32 bits
 *
 * Source: drivers/cpufreq/cpufreq_governor.c (dbs_update, dbs_check_cpu, cpufreq_dbs_governor_init),
 * cpufreq_ondemand.c (od_update, od_check_cpu, dbs_freq_increase), cpufreq_conservative.c (cs_dbs_update),
 * include/linux/cpufreq.h (cpufreq_table_find_index_ac) of Linux 4.5 and 6.12. I/O wait counts as idle (io_is_busy 0), as
 * on Arm.
 * Deviations: powersave_bias and ignore_nice_load are 0; 4_5's lowest period is that of micro-accounting; inefficient
 * operating points (6.1) are not left out; conservative has 6.12's order in both forms.
 */
#ifndef PELTON_ONDEMAND_H
#define PELTON_ONDEMAND_H

#include "schedutil.h"

#define PELTON_UP_THRESHOLD_ONDEMAND 95u /* micro-accounting of idle time */
#define PELTON_UP_THRESHOLD_CONSERVATIVE 80u
#define PELTON_SAMPLING_US_MIN 10000u
#define PELTON_FREQ_STEP_KHZ 5u /* where the step comes to nothing */
#define PELTON_IDLE_PERIODS_NONE 0xffffffffu

/* A sampling governor's record of a frequency domain. */
struct pelton_dbs {
	u64 sampling_us;
	u64 last_ns; /* of the last sample that counted */
	u32 cur_khz;
	u32 min_khz; /* limits */
	u32 max_khz;
	u32 hw_min_khz;
	u32 hw_max_khz;
	u32 rate_mult;     /* ondemand: periods until the next sample */
	u32 requested_khz; /* conservative: where its steps are */
	u32 down_skip;     /* conservative: samples since it looked whether to go down */
	u32 idle_periods;  /* 6_12: periods without a sample, PELTON_IDLE_PERIODS_NONE: none */
	u32 reserved;
} PELTON_ALIGNED64;

/* What a CPU remembers of its last sample. */
struct pelton_dbs_cpu {
	u64 prev_wall_us;
	u64 prev_idle_us;
	u32 prev_load;
	u32 reserved;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_dbs) == 56, "layout");
_Static_assert(sizeof(struct pelton_dbs_cpu) == 24, "layout");

/* Time between two samples, us: as set, else what the release works out. */
PELTON_INLINE u64 pelton_dbs_sampling_us(const struct pelton_policy *pol, u64 latency_ns, u32 transition_delay_us,
					 u64 tick_ns)
{
	u64 latency_us = latency_ns / PELTON_NSEC_PER_USEC;

	if (pol->sampling_rate_us != PELTON_FROM_PLATFORM)
		return pol->sampling_rate_us;
	if (pol->sampling_form == PELTON_SAMPLING_4_5)
		return pelton_max_u64(PELTON_SAMPLING_US_MIN, (latency_us ? latency_us : 1) * 1000u);
	return pelton_max_u64(2 * tick_ns / PELTON_NSEC_PER_USEC,
			      pelton_default_rate_limit_us(pol, latency_ns, transition_delay_us));
}

/* The load above which more is asked for. */
PELTON_INLINE u32 pelton_dbs_up_threshold(const struct pelton_policy *pol)
{
	if (pol->up_threshold != PELTON_FROM_PLATFORM)
		return pol->up_threshold;
	return pol->governor == PELTON_GOVERNOR_CONSERVATIVE ? PELTON_UP_THRESHOLD_CONSERVATIVE
							     : PELTON_UP_THRESHOLD_ONDEMAND;
}

/* A domain with several CPUs leaves out a sample that comes less than half a period after the last. */
PELTON_INLINE u32 pelton_dbs_is_due(const struct pelton_dbs *d, u64 now)
{
	return now - d->last_ns >= d->sampling_us * PELTON_NSEC_PER_USEC / 2;
}

/* The distance between samples that was last chosen, us. */
PELTON_INLINE u64 pelton_dbs_period_us(const struct pelton_dbs *d)
{
	return d->sampling_us * pelton_max_u32(d->rate_mult, 1);
}

/* Was the CPU asleep for so long that its load says nothing about what comes now? */
PELTON_INLINE u32 pelton_dbs_slept(const struct pelton_policy *pol, const struct pelton_dbs *d, u64 wall_us,
				   u64 idle_us)
{
	return (pol->sampling_form == PELTON_SAMPLING_4_5 ? wall_us : idle_us) > 2 * pelton_dbs_period_us(d);
}

/* 6_12: how many periods nobody looked, the least of the domain's CPUs that slept long. */
PELTON_INLINE void pelton_dbs_note_idle(const struct pelton_policy *pol, struct pelton_dbs *d, u64 idle_us)
{
	u64 period_us = pelton_dbs_period_us(d);

	if (pol->sampling_form == PELTON_SAMPLING_4_5 || idle_us <= 2 * period_us)
		return;
	d->idle_periods = (u32)pelton_min_u64(d->idle_periods, pelton_div_floor(idle_us, period_us));
}

/* Load of a time of which so much was idle, percent; remembered. */
PELTON_INLINE u32 pelton_dbs_measure(const struct pelton_policy *pol, struct pelton_dbs_cpu *c, u64 wall_us,
				     u64 idle_us)
{
	if (pol->sampling_form == PELTON_SAMPLING_4_5 && (!wall_us || wall_us < idle_us))
		return 0;
	if (wall_us)
		c->prev_load = (u32)pelton_div_floor(100 * pelton_sub_floor(wall_us, idle_us), wall_us);
	return c->prev_load;
}

/*
 * Load of a CPU since its last sample, percent. `wall_us`, `idle_us`: totals that only grow. Call it for every CPU of the
 * domain after pelton_dbs_begin() and take the largest.
 */
PELTON_INLINE u32 pelton_dbs_load(const struct pelton_policy *pol, struct pelton_dbs *d, struct pelton_dbs_cpu *c,
				  u64 wall_us, u64 idle_us)
{
	u64 wall = pelton_sub_floor(wall_us, c->prev_wall_us);
	u64 idle = pelton_sub_floor(idle_us, c->prev_idle_us);
	u32 load = c->prev_load;

	c->prev_wall_us = wall_us;
	c->prev_idle_us = idle_us;
	pelton_dbs_note_idle(pol, d, idle);
	if (!load || !wall || wall < idle || !pelton_dbs_slept(pol, d, wall, idle))
		return pelton_dbs_measure(pol, c, wall, idle);
	c->prev_load = 0;
	return load;
}

/* A sample of the domain begins. */
PELTON_INLINE void pelton_dbs_begin(struct pelton_dbs *d, u64 now)
{
	d->last_ns = now;
	d->idle_periods = PELTON_IDLE_PERIODS_NONE;
}

/* The operating point nearest to `target`; of two as near the lower. The table ascends. */
PELTON_INLINE u32 pelton_dbs_nearest(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	u32 wanted = pelton_clamp_u32(target, d->min_khz, d->max_khz);
	u32 best = wanted, near = 0xffffffffu, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		u32 away = (u32)pelton_distance(khz[i], wanted);

		if (away >= near)
			continue;
		near = away;
		best = khz[i];
	}
	return best;
}

/* The highest operating point at or below `target`, else the lowest of the table. */
PELTON_INLINE u32 pelton_dbs_below(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	u32 wanted = pelton_clamp_u32(target, d->min_khz, d->max_khz);
	u32 best = wanted, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++)
		if (!i || khz[i] <= wanted)
			best = khz[i];
	return best;
}

/* The lowest operating point at or above `target`, else the highest of the table. */
PELTON_INLINE u32 pelton_dbs_above(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	u32 wanted = pelton_clamp_u32(target, d->min_khz, d->max_khz);
	u32 best = wanted, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		best = khz[i];
		if (best >= wanted)
			break;
	}
	return best;
}

/* ondemand: the frequency for a load. */
PELTON_INLINE u32 pelton_ondemand_target(const struct pelton_policy *pol, struct pelton_dbs *d, u32 load,
					 const u32 *khz, u32 n)
{
	u32 room = pelton_sub_floor_u32(d->hw_max_khz, d->hw_min_khz);

	if (load <= pelton_dbs_up_threshold(pol)) {
		d->rate_mult = 1;
		return pelton_dbs_nearest(d, khz, n, d->hw_min_khz + pelton_mul_div_floor(load, room, 100));
	}
	if (d->cur_khz < d->max_khz)
		d->rate_mult = pelton_max_u32(pol->sampling_down_factor, 1);
	return d->cur_khz == d->max_khz ? d->cur_khz : pelton_dbs_below(d, khz, n, d->max_khz);
}

/* conservative: one step, kHz. */
PELTON_INLINE u32 pelton_conservative_step(const struct pelton_policy *pol, const struct pelton_dbs *d)
{
	u32 step = pelton_mul_div_floor(pol->freq_step, d->max_khz, 100);

	return step ? step : PELTON_FREQ_STEP_KHZ;
}

/*
 * conservative: where its steps stand. Outside of the limits they begin anew at the present frequency; 6_12: one step down
 * for each period that nobody looked.
 */
PELTON_INLINE u32 pelton_conservative_at(struct pelton_dbs *d, u32 step)
{
	u64 down;

	if (d->requested_khz > d->max_khz || d->requested_khz < d->min_khz)
		d->requested_khz = d->cur_khz;
	if (d->idle_periods == PELTON_IDLE_PERIODS_NONE)
		return d->requested_khz;
	down = (u64)d->idle_periods * step;
	return d->requested_khz > d->min_khz + down ? d->requested_khz - (u32)down : d->min_khz;
}

/* conservative: too much to do, a step up. */
PELTON_INLINE u32 pelton_conservative_up(struct pelton_dbs *d, u32 at, u32 step, const u32 *khz, u32 n)
{
	d->down_skip = 0;
	if (at == d->max_khz)
		return d->cur_khz;
	d->requested_khz = pelton_min_u32(at + step, d->max_khz);
	return pelton_dbs_below(d, khz, n, d->requested_khz);
}

/* conservative: a step down, when there is little to do and it is the sample for it. */
PELTON_INLINE u32 pelton_conservative_down(const struct pelton_policy *pol, struct pelton_dbs *d, u32 load, u32 at,
					   u32 step, const u32 *khz, u32 n)
{
	if (++d->down_skip < pol->sampling_down_factor)
		return d->cur_khz;
	d->down_skip = 0;
	if (load >= pol->down_threshold || at == d->min_khz)
		return d->cur_khz;
	d->requested_khz = at > step ? at - step : d->min_khz;
	return pelton_dbs_above(d, khz, n, d->requested_khz);
}

/* conservative: the frequency for a load, a step from the last; the present one = nothing is asked for. */
PELTON_INLINE u32 pelton_conservative_target(const struct pelton_policy *pol, struct pelton_dbs *d, u32 load,
					     const u32 *khz, u32 n)
{
	u32 step = pelton_conservative_step(pol, d), at;

	if (!pol->freq_step)
		return d->cur_khz;
	at = pelton_conservative_at(d, step);
	if (load > pelton_dbs_up_threshold(pol))
		return pelton_conservative_up(d, at, step, khz, n);
	return pelton_conservative_down(pol, d, load, at, step, khz, n);
}

#endif
