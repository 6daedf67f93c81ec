/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Governors that look at the CPUs' idle time once in a while: ondemand and conservative.
 *
 *   load of a CPU      100 * (wall - idle) / wall since its last sample, percent; the largest of the domain counts
 *   idle               with io_is_busy without I/O wait; with ignore_nice_load the time of tasks with nice above 0 too
 *   after a long sleep the load before it, once: a burst that follows an idle time must not begin slowly
 *                      long: 4_5 wall, 6_12 idle > 2 * period * multiplier
 *
 *   ondemand           load > up_threshold: the limit, and the next sampling_down_factor periods are one
 *                      else min + load * (max - min) / 100, the nearest operating point; min, max: of the hardware
 *   powersave_bias     so many thousandths less on the average: a share of each period at the operating point above,
 *                      the rest at the one below
 *   conservative       load > up_threshold: a step up;  load < down_threshold: a step down, looked at in every
 *                      sampling_down_factor-th sample; a step is freq_step percent of the upper limit; 6_12: and a step
 *                      down for each period without a sample
 *     stops            nothing is asked for at a limit; a step down is one although it leads below the lower limit
 *     stops_below      and the steps of unseen periods may lead there too; a position outside of the limits is not kept
 *     steps            a step ends at the limit, and is asked for there too
 *     steps_if_idle    and steps for unseen periods are taken only when this sample's own load is below down_threshold
 *
 *   period             4_5  max(10 ms, latency * 1000);   6_12 max(2 ticks, the driver's delay as in schedutil's default)
 *
 *   450 .. 850 MHz, load 46: 450 + 46 * 4 = 634 MHz, 575 is nearer than 700; load 47: 638, 700 is
 *   the same with powersave_bias 100: 575 - 57.5 = 517.5: 5.4 ms of 10 at 575, 4.6 ms at 450
 *
 *   quantity       unit      range
 *   wall, idle     us        totals; differences are taken in 32 bits, as products and sums of what follows
 *   nice           ns        total
 *   load           percent   0 .. 100
 *   frequencies    kHz       32 bits
 *
 * Source: drivers/cpufreq/cpufreq_governor.c (dbs_update, cpufreq_dbs_governor_init), cpufreq_ondemand.c
 * (od_dbs_update, od_update, dbs_freq_increase, generic_powersave_bias_target), cpufreq_conservative.c (cs_dbs_update),
 * cpufreq.c (get_cpu_idle_time, __cpufreq_driver_target), include/linux/cpufreq.h (cpufreq_table_find_index_ac) of
 * Linux 5.10.262, 6.1.192, 6.12.117 and 7.2.12; 4_5 of Linux 4.5; conservative_form=stops of 5.4 and 6.6, stops_below
 * of 4.12 and 4.16.13 (cs_dbs_update).
 * Deviations: 4_5's lowest period is that of micro-accounting; inefficient operating points (6.1) are not left out.
 */
#ifndef PELTON_ONDEMAND_H
#define PELTON_ONDEMAND_H

#include "schedutil.h"

#define PELTON_UP_THRESHOLD_ONDEMAND 95u /* micro-accounting of idle time */
#define PELTON_UP_THRESHOLD_CONSERVATIVE 80u
#define PELTON_SAMPLING_US_MIN 10000u
#define PELTON_FREQ_STEP_KHZ 5u /* where the step comes to nothing */
#define PELTON_IDLE_PERIODS_NONE 0xffffffffu
#define PELTON_BIAS_SCALE 1000u

/* A sampling governor's record of a frequency domain. */
struct pelton_dbs {
	u64 last_ns; /* of the last sample that counted */
	u32 sampling_us;
	u32 cur_khz;
	u32 min_khz; /* limits */
	u32 max_khz;
	u32 hw_min_khz;
	u32 hw_max_khz;
	u32 rate_mult;     /* ondemand: periods until the next sample */
	u32 idle_periods;  /* 6_12: periods without a sample, PELTON_IDLE_PERIODS_NONE: none */
	u32 load;          /* of this sample, the largest of the domain's CPUs */
	u32 sample_load;   /* the same without what is remembered of the time before a sleep */
	u32 requested_khz; /* conservative: where its steps are */
	u32 down_skip;     /* conservative: samples since it looked whether to go down */
	u32 low_khz;       /* powersave_bias: the rest of the period; 0 = all of it at one frequency */
	u32 low_us;
	u32 high_us;
	u32 at_high;  /* the rest of the period comes next */
	u32 delay_us; /* until the next sample; 0 = a sample, whatever comes next */
	u32 descends; /* the driver's own table begins with the highest frequency */
} PELTON_ALIGNED64;

/* Values of a CPU's last sample. */
struct pelton_dbs_cpu {
	u64 prev_wall_us;
	u64 prev_idle_us;
	u64 prev_nice_ns;
	u32 prev_load;
	u32 reserved;
} PELTON_ALIGNED64;

/*
 * Times of a CPU, totals: all, idle, idle while a task of it waits for I/O (not part of `idle_us`), tasks with nice >
 * 0.
 */
struct pelton_dbs_times {
	u64 wall_us;
	u64 idle_us;
	u64 iowait_us;
	u64 nice_ns;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_dbs) == 80, "layout");
_Static_assert(sizeof(struct pelton_dbs_cpu) == 32, "layout");
_Static_assert(sizeof(struct pelton_dbs_times) == 32, "layout");

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
	return now - d->last_ns >= (u64)d->sampling_us * PELTON_NSEC_PER_USEC / 2;
}

/* The distance between samples that was last chosen, us. */
PELTON_INLINE u32 pelton_dbs_period_us(const struct pelton_dbs *d)
{
	return d->sampling_us * pelton_max_u32(d->rate_mult, 1);
}

/* The load is looked at, unless the domain only changes to the lower of two frequencies. */
PELTON_INLINE u32 pelton_dbs_measures(const struct pelton_dbs *d)
{
	return !d->at_high || !d->delay_us;
}

/* Was the CPU asleep for so long that its load says nothing about what comes now? */
PELTON_INLINE u32 pelton_dbs_slept(const struct pelton_policy *pol, const struct pelton_dbs *d, u32 wall_us,
				   u32 idle_us)
{
	return (pol->sampling_form == PELTON_SAMPLING_4_5 ? wall_us : idle_us) > 2 * pelton_dbs_period_us(d);
}

/* 6_12: how many periods had no sample, the least of the domain's CPUs that slept long. */
PELTON_INLINE void pelton_dbs_note_idle(const struct pelton_policy *pol, struct pelton_dbs *d, u32 idle_us)
{
	u32 period_us = pelton_dbs_period_us(d);

	if (pol->sampling_form == PELTON_SAMPLING_4_5 || idle_us <= 2 * period_us)
		return;
	d->idle_periods = pelton_min_u32(d->idle_periods, (u32)pelton_div_floor(idle_us, period_us));
}

/* Load of a time of which so much was idle, percent. */
PELTON_INLINE u32 pelton_dbs_share(u32 wall_us, u32 idle_us)
{
	return wall_us > idle_us ? (u32)pelton_div_floor(100 * (wall_us - idle_us), wall_us) : 0;
}

/* 4_5: no load is known without time, or when more was idle than there was. */
PELTON_INLINE u32 pelton_dbs_is_void(const struct pelton_policy *pol, u32 wall_us, u32 idle_us)
{
	return pol->sampling_form == PELTON_SAMPLING_4_5 && (!wall_us || wall_us < idle_us);
}

/* Idle time since the last sample, us. */
PELTON_INLINE u32 pelton_dbs_idle_us(const struct pelton_policy *pol, struct pelton_dbs_cpu *c,
				     const struct pelton_dbs_times *t)
{
	u64 total_us = t->idle_us + (pol->io_is_busy ? 0 : t->iowait_us);
	u32 idle_us = (u32)pelton_sub_floor(total_us, c->prev_idle_us);

	if (pol->ignore_nice_load)
		idle_us += (u32)((t->nice_ns - c->prev_nice_ns) / PELTON_NSEC_PER_USEC);
	c->prev_idle_us = total_us;
	c->prev_nice_ns = t->nice_ns;
	return idle_us;
}

/* The load that counts, of a CPU whose load in this sample is `load`; what is remembered for the next. */
PELTON_INLINE u32 pelton_dbs_counts(const struct pelton_policy *pol, struct pelton_dbs *d, struct pelton_dbs_cpu *c,
				    u32 load, u32 wall_us, u32 idle_us)
{
	u32 before = c->prev_load, again = before && pelton_dbs_slept(pol, d, wall_us, idle_us);

	if (!wall_us)
		return before;
	c->prev_load = again ? 0 : load;
	return again ? before : load;
}

/*
 * A CPU's load since its last sample, percent; the record of the domain keeps the largest. Call it for every CPU of the
 * domain after pelton_dbs_begin().
 */
PELTON_INLINE u32 pelton_dbs_load(const struct pelton_policy *pol, struct pelton_dbs *d, struct pelton_dbs_cpu *c,
				  const struct pelton_dbs_times *t)
{
	u32 wall_us = (u32)(t->wall_us - c->prev_wall_us);
	u32 idle_us = pelton_dbs_idle_us(pol, c, t);
	u32 load = wall_us ? pelton_dbs_share(wall_us, idle_us) : c->prev_load;

	c->prev_wall_us = t->wall_us;
	pelton_dbs_note_idle(pol, d, idle_us);
	if (pelton_dbs_is_void(pol, wall_us, idle_us))
		return 0;
	d->sample_load = pelton_max_u32(d->sample_load, load);
	load = pelton_dbs_counts(pol, d, c, load, wall_us, idle_us);
	d->load = pelton_max_u32(d->load, load);
	return load;
}

/* A sample of the domain's load begins. */
PELTON_INLINE void pelton_dbs_begin(struct pelton_dbs *d, u64 now)
{
	d->last_ns = now;
	d->idle_periods = PELTON_IDLE_PERIODS_NONE;
	d->load = 0;
	d->sample_load = 0;
}

/*
 * The operating point nearest to `target`; of two as near the one that the driver's table has first. `khz` ascends,
 * whatever the driver has.
 */
PELTON_INLINE u32 pelton_dbs_nearest(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	u32 wanted = pelton_clamp_u32(target, d->min_khz, d->max_khz);
	u32 best = wanted, near = 0xffffffffu, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		u32 away = (u32)pelton_distance(khz[i], wanted);

		if (away > near || (away == near && !d->descends))
			continue;
		near = away;
		best = khz[i];
	}
	return best;
}

/* The highest operating point at or below `wanted`, else the lowest of the table. `khz` ascends. */
PELTON_INLINE u32 pelton_khz_below(const u32 *khz, u32 n, u32 wanted)
{
	u32 best = wanted, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++)
		if (!i || khz[i] <= wanted)
			best = khz[i];
	return best;
}

/* The lowest operating point at or above `wanted`, else the highest of the table. `khz` ascends. */
PELTON_INLINE u32 pelton_khz_above(const u32 *khz, u32 n, u32 wanted)
{
	u32 best = wanted, i;

	for (i = 0; i < n && i < PELTON_OPP_MAX; i++) {
		best = khz[i];
		if (best >= wanted)
			break;
	}
	return best;
}

/* The highest operating point at or below `target` within the limits. */
PELTON_INLINE u32 pelton_dbs_below(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	return pelton_khz_below(khz, n, pelton_clamp_u32(target, d->min_khz, d->max_khz));
}

/* The lowest operating point at or above `target` within the limits. */
PELTON_INLINE u32 pelton_dbs_above(const struct pelton_dbs *d, const u32 *khz, u32 n, u32 target)
{
	return pelton_khz_above(khz, n, pelton_clamp_u32(target, d->min_khz, d->max_khz));
}

/*
 * powersave_bias: the frequency on the average instead of `target`, and how the period is shared. Returns the higher
 * one.
 */
PELTON_INLINE u32 pelton_ondemand_split(const struct pelton_policy *pol, struct pelton_dbs *d, u32 target,
					const u32 *khz, u32 n)
{
	u32 average, low, high;

	d->low_us = 0;
	if (!n)
		return target;
	average = target - target * pol->powersave_bias / PELTON_BIAS_SCALE;
	low = pelton_dbs_below(d, khz, n, average);
	high = pelton_dbs_above(d, khz, n, average);
	if (high == low)
		return low;
	d->high_us = (average - low) * d->sampling_us + (high - low) / 2;
	d->high_us = (u32)pelton_div_floor(d->high_us, high - low);
	d->low_khz = low;
	d->low_us = d->sampling_us - d->high_us;
	return high;
}

/* ondemand: to the upper limit. */
PELTON_INLINE u32 pelton_ondemand_increase(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz, u32 n)
{
	u32 target = pelton_dbs_below(d, khz, n, d->max_khz);

	if (pol->powersave_bias)
		return pelton_dbs_above(d, khz, n, pelton_ondemand_split(pol, d, target, khz, n));
	return d->cur_khz == d->max_khz ? d->cur_khz : target;
}

/* ondemand: in proportion to the load. */
PELTON_INLINE u32 pelton_ondemand_proportional(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz,
					       u32 n)
{
	u32 target = d->hw_min_khz + d->load * (d->hw_max_khz - d->hw_min_khz) / 100;

	if (pol->powersave_bias)
		target = pelton_ondemand_split(pol, d, pelton_dbs_above(d, khz, n, target), khz, n);
	return pelton_dbs_nearest(d, khz, n, target);
}

/* ondemand: the frequency after a look at the load. */
PELTON_INLINE u32 pelton_ondemand_sampled(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz, u32 n)
{
	d->low_khz = 0;
	if (d->load > pelton_dbs_up_threshold(pol)) {
		if (d->cur_khz < d->max_khz)
			d->rate_mult = pelton_max_u32(pol->sampling_down_factor, 1);
		return pelton_ondemand_increase(pol, d, khz, n);
	}
	d->rate_mult = 1;
	return pelton_ondemand_proportional(pol, d, khz, n);
}

/* ondemand: the frequency, and the time until the next sample. */
PELTON_INLINE u32 pelton_ondemand_target(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz, u32 n)
{
	u32 target;

	if (!pelton_dbs_measures(d)) {
		d->at_high = 0;
		d->delay_us = d->low_us;
		return pelton_dbs_below(d, khz, n, d->low_khz);
	}
	target = pelton_ondemand_sampled(pol, d, khz, n);
	d->at_high = d->low_khz != 0;
	d->delay_us = d->at_high ? d->high_us : pelton_dbs_period_us(d);
	return target;
}

/* conservative: one step, kHz. */
PELTON_INLINE u32 pelton_conservative_step(const struct pelton_policy *pol, const struct pelton_dbs *d)
{
	u32 step = pol->freq_step * d->max_khz / 100;

	return step ? step : PELTON_FREQ_STEP_KHZ;
}

/* Do steps for periods without sample count in this sample? */
PELTON_INLINE u32 pelton_conservative_catches_up(const struct pelton_policy *pol, const struct pelton_dbs *d)
{
	if (d->idle_periods == PELTON_IDLE_PERIODS_NONE)
		return 0;
	return pol->conservative_form != PELTON_CONSERVATIVE_FORM_STEPS_IF_IDLE || d->sample_load < pol->down_threshold;
}

/* Does it ask for nothing at a limit? */
PELTON_INLINE u32 pelton_conservative_stops(const struct pelton_policy *pol)
{
	return pol->conservative_form == PELTON_CONSERVATIVE_FORM_STOPS ||
	       pol->conservative_form == PELTON_CONSERVATIVE_FORM_STOPS_BELOW;
}

/* Frequency that steps of unseen periods do not lead below: the lower limit, or in the oldest form nothing. */
PELTON_INLINE u32 pelton_conservative_floor(const struct pelton_policy *pol, const struct pelton_dbs *d)
{
	return pol->conservative_form == PELTON_CONSERVATIVE_FORM_STOPS_BELOW ? 0 : d->min_khz;
}

/*
 * conservative: where its steps stand. Outside of the limits they begin anew at the present frequency; 6_12: one step
 * down for each period without sample.
 */
PELTON_INLINE u32 pelton_conservative_at(const struct pelton_policy *pol, struct pelton_dbs *d, u32 step)
{
	u32 at = d->requested_khz, down;

	if (at > d->max_khz || at < d->min_khz)
		at = d->cur_khz;
	if (pol->conservative_form != PELTON_CONSERVATIVE_FORM_STOPS_BELOW)
		d->requested_khz = at;
	if (!pelton_conservative_catches_up(pol, d))
		return at;
	down = d->idle_periods * step;
	d->idle_periods = PELTON_IDLE_PERIODS_NONE;
	return at > pelton_conservative_floor(pol, d) + down ? at - down : d->min_khz;
}

/* conservative: too much to do, a step up. */
PELTON_INLINE u32 pelton_conservative_up(const struct pelton_policy *pol, struct pelton_dbs *d, u32 at, u32 step,
					 const u32 *khz, u32 n)
{
	d->down_skip = 0;
	if (at == d->max_khz && pelton_conservative_stops(pol))
		return d->cur_khz;
	d->requested_khz = pelton_min_u32(at + step, d->max_khz);
	return pelton_dbs_below(d, khz, n, d->requested_khz);
}

/* conservative: the position one step below. */
PELTON_INLINE u32 pelton_conservative_lower(const struct pelton_policy *pol, const struct pelton_dbs *d, u32 at,
					    u32 step)
{
	u32 lowest = pelton_conservative_stops(pol) ? step : d->min_khz + step;

	return at > lowest ? at - step : d->min_khz;
}

/* conservative: a step down, when there is little to do and it is the sample for it. */
PELTON_INLINE u32 pelton_conservative_down(const struct pelton_policy *pol, struct pelton_dbs *d, u32 at, u32 step,
					   const u32 *khz, u32 n)
{
	if (++d->down_skip < pol->sampling_down_factor)
		return d->cur_khz;
	d->down_skip = 0;
	if (d->load >= pol->down_threshold)
		return d->cur_khz;
	if (at == d->min_khz && pelton_conservative_stops(pol))
		return d->cur_khz;
	d->requested_khz = pelton_conservative_lower(pol, d, at, step);
	return pelton_dbs_above(d, khz, n, d->requested_khz);
}

/*
 * conservative: the frequency after a look at the load, a step from the last; the present one = nothing is asked for.
 */
PELTON_INLINE u32 pelton_conservative_target(const struct pelton_policy *pol, struct pelton_dbs *d, const u32 *khz,
					     u32 n)
{
	u32 step = pelton_conservative_step(pol, d), at;

	d->delay_us = d->sampling_us;
	if (!pol->freq_step)
		return d->cur_khz;
	at = pelton_conservative_at(pol, d, step);
	if (d->load > pelton_dbs_up_threshold(pol))
		return pelton_conservative_up(pol, d, at, step, khz, n);
	return pelton_conservative_down(pol, d, at, step, khz, n);
}

#endif
