/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interactive governor of Android's kernels: each CPU has a timer, what it finds may wait, and a thread sets the
 * largest of the domain.
 *
 *   load            time not idle, weighted with the frequency it had, over the time since the timer was set: kHz * 100
 *   load, percent   load / present frequency
 *   wanted          the frequency at which `load` is its target load: load / target_load(frequency), looked for from the
 *                   present one until the frequency that gives the target is the frequency that is found
 *                   percent >= go_hispeed_load, or a boost: hispeed_khz at least, and no more from below it
 *                   else from below hispeed_khz no more than it
 *   above_hispeed_delay_us   at hispeed_khz and above a higher one waits so long since the last rise of the domain
 *   min_sample_time_us       a lower one waits so long since the floor was last confirmed
 *   timer_slack_us           an idle CPU that asks for more than the least is woken so long after its timer
 *
 *   450 .. 850 MHz at 450, hispeed 700, 18 of 20 ms busy: 40,500 MHz percent, 90 %: 450 MHz is enough at a target of 90
 *   20 of 20 ms: 99 % and more: 700; 20 ms later the same at 700: 70,000 / 90 = 777, the next is 850
 *
 *   quantity       unit           range
 *   times          us             wall clock and totals; differences of a timer's time are taken in 32 bits
 *   frequencies    kHz            32 bits; times 100 they must fit, so below 42 GHz
 *   loads          percent
 *
 * Source: drivers/cpufreq/cpufreq_interactive.c of Android's 4.4 for the Pixel 2 (update_load, choose_freq,
 * freq_to_targetload, freq_to_above_hispeed_delay, cpufreq_interactive_timer, cpufreq_interactive_timer_resched,
 * cpufreq_interactive_get_policy_info, cpufreq_interactive_adjust_cpu, cpufreq_interactive_boost, store_boost,
 * store_boostpulse, cpufreq_governor_interactive). No Linux release has it.
 * Deviations: target loads and delays have up to three steps, the kernel's any number with a
 * frequency for each; tunables belong to a domain, as with governors per policy.
 */
#ifndef PELTON_INTERACTIVE_H
#define PELTON_INTERACTIVE_H

#include "ondemand.h"

#define PELTON_TIMER_SLACK_NEVER 100000000u

/* The governor's record of a frequency domain. */
struct pelton_interactive {
	u64 pulse_end_us; /* of the boost for a while */
	u32 cur_khz;
	u32 min_khz; /* limits */
	u32 max_khz;
	u32 hispeed_khz;
	u32 boosted; /* as the last timer found it, or since a boost began */
	u32 reserved;
} PELTON_ALIGNED64;

/* Its record of a CPU. */
struct pelton_interactive_cpu {
	u64 idle_us; /* idle time when it was last looked at */
	u64 seen_us;
	u64 busy_khz_us; /* busy time times frequency since the timer was set */
	u64 since_us;
	u64 pol_floor_us;   /* when the floor was last confirmed: on any CPU of the domain, */
	u64 loc_floor_us;   /* and on this one */
	u64 pol_hispeed_us; /* when the domain last changed: the moment this CPU, */
	u64 loc_hispeed_us; /* and what it last found */
	u32 target_khz;
	u32 floor_khz;
	u32 load; /* of the last timer, percent */
	u32 reserved;
} PELTON_ALIGNED64;

_Static_assert(sizeof(struct pelton_interactive) == 32, "layout");
_Static_assert(sizeof(struct pelton_interactive_cpu) == 80, "layout");

/* The value of a table with up to three steps at this frequency: `b` from `b_khz` on, `c` from `c_khz` on. */
PELTON_INLINE u32 pelton_interactive_step(u32 khz, u32 a, u32 b_khz, u32 b, u32 c_khz, u32 c)
{
	if (b_khz == PELTON_FROM_PLATFORM || khz < b_khz)
		return a;
	return c_khz == PELTON_FROM_PLATFORM || khz < c_khz ? b : c;
}

/* The load that a CPU shall have at this frequency, percent. */
PELTON_INLINE u32 pelton_interactive_target_load(const struct pelton_policy *pol, u32 khz)
{
	u32 load = pelton_interactive_step(khz, pol->target_load, pol->target_load_2_from_khz, pol->target_load_2,
					   pol->target_load_3_from_khz, pol->target_load_3);

	return pelton_max_u32(load, 1);
}

/* Time for which a rise from this frequency waits, us. */
PELTON_INLINE u32 pelton_interactive_delay_us(const struct pelton_policy *pol, u32 khz)
{
	return pelton_interactive_step(khz, pol->above_hispeed_delay_us, pol->above_hispeed_delay_2_from_khz,
				       pol->above_hispeed_delay_2_us, pol->above_hispeed_delay_3_from_khz,
				       pol->above_hispeed_delay_3_us);
}

/* The lowest operating point at or above `target` within the limits, else the highest of them. */
PELTON_INLINE u32 pelton_interactive_above(const struct pelton_interactive *d, const u32 *khz, u32 n, u32 target)
{
	return pelton_khz_above(khz, n, pelton_clamp_u32(target, d->min_khz, d->max_khz));
}

/* The highest operating point at or below `target` within the limits, else the lowest of them. */
PELTON_INLINE u32 pelton_interactive_below(const struct pelton_interactive *d, const u32 *khz, u32 n, u32 target)
{
	return pelton_khz_below(khz, n, pelton_clamp_u32(target, d->min_khz, d->max_khz));
}

/* Bounds of the frequency that is looked for: `low` is too little, `high` is enough. */
struct pelton_interactive_search {
	u32 khz;
	u32 low;
	u32 high;
	u32 done;
};

/* The operating point found is higher than the one it was found from, which is too little. */
PELTON_INLINE void pelton_interactive_rise(const struct pelton_interactive *d, struct pelton_interactive_search *s,
					   const u32 *khz, u32 n, u32 before)
{
	s->low = before;
	if (s->khz < s->high)
		return;
	s->khz = pelton_interactive_below(d, khz, n, s->high - 1);
	if (s->khz != s->low)
		return;
	s->khz = s->high;
	s->done = 1;
}

/* The operating point found is lower than the one it was found from, which is enough. */
PELTON_INLINE void pelton_interactive_fall(const struct pelton_interactive *d, struct pelton_interactive_search *s,
					   const u32 *khz, u32 n, u32 before)
{
	s->high = before;
	if (s->khz > s->low)
		return;
	s->khz = pelton_interactive_above(d, khz, n, s->low + 1);
	s->done = s->khz == s->high;
}

/*
 * The operating point at which this load (kHz * 100) is the target load. Each round excludes one, so `n` rounds
 * suffice from an operating point, and one more from between two.
 */
PELTON_INLINE u32 pelton_interactive_choose(const struct pelton_policy *pol, const struct pelton_interactive *d,
					    const u32 *khz, u32 n, u32 load)
{
	struct pelton_interactive_search s = { d->cur_khz, 0, 0xffffffffu, 0 };
	u32 before, i;

	for (i = 0; i < n + 2 && i < PELTON_OPP_MAX + 2 && !s.done; i++) {
		before = s.khz;
		s.khz = pelton_interactive_above(d, khz, n, load / pelton_interactive_target_load(pol, before));
		if (s.khz > before)
			pelton_interactive_rise(d, &s, khz, n, before);
		else if (s.khz < before)
			pelton_interactive_fall(d, &s, khz, n, before);
		s.done |= s.khz == before;
	}
	return s.khz;
}

/* Idle time of a CPU that counts, us. */
PELTON_INLINE u64 pelton_interactive_idle_us(const struct pelton_policy *pol, const struct pelton_dbs_times *t)
{
	return t->idle_us + (pol->io_is_busy ? 0 : t->iowait_us);
}

/* Busy time since it was last looked at, at the frequency it had: before each change of it, and at the timer. */
PELTON_INLINE void pelton_interactive_account(const struct pelton_policy *pol, const struct pelton_interactive *d,
					      struct pelton_interactive_cpu *c, const struct pelton_dbs_times *t)
{
	u64 idle_us = pelton_interactive_idle_us(pol, t);
	u64 busy_us = pelton_sub_floor(t->wall_us - c->seen_us, idle_us - c->idle_us);

	c->busy_khz_us += busy_us * d->cur_khz;
	c->idle_us = idle_us;
	c->seen_us = t->wall_us;
}

/* The timer is set anew. */
PELTON_INLINE void pelton_interactive_rearm(const struct pelton_policy *pol, struct pelton_interactive_cpu *c,
					    const struct pelton_dbs_times *t)
{
	c->idle_us = pelton_interactive_idle_us(pol, t);
	c->seen_us = t->wall_us;
	c->since_us = t->wall_us;
	c->busy_khz_us = 0;
}

/* Is there a second timer, that wakes the CPU from idle? */
PELTON_INLINE u32 pelton_interactive_watches(const struct pelton_policy *pol, const struct pelton_interactive *d,
					     const struct pelton_interactive_cpu *c)
{
	return pol->timer_slack_us != PELTON_TIMER_SLACK_NEVER && c->target_khz > d->min_khz;
}

/* The frequency that a timer wants, before anything waits. */
PELTON_INLINE u32 pelton_interactive_wanted(const struct pelton_policy *pol, const struct pelton_interactive *d,
					    const struct pelton_interactive_cpu *c, const u32 *khz, u32 n, u32 load)
{
	u32 high = c->load >= pol->go_hispeed_load || d->boosted, wanted;

	if (high && d->cur_khz < d->hispeed_khz)
		return d->hispeed_khz;
	wanted = pelton_interactive_choose(pol, d, khz, n, load);
	if (high)
		return pelton_max_u32(wanted, d->hispeed_khz);
	return d->cur_khz < d->hispeed_khz ? pelton_min_u32(wanted, d->hispeed_khz) : wanted;
}

/* A rise beyond hispeed_khz waits. */
PELTON_INLINE u32 pelton_interactive_too_soon(const struct pelton_policy *pol, const struct pelton_interactive *d,
					      const struct pelton_interactive_cpu *c, u32 wanted, u64 now_us)
{
	return d->cur_khz >= d->hispeed_khz && wanted > d->cur_khz &&
	       now_us - c->pol_hispeed_us < pelton_interactive_delay_us(pol, d->cur_khz);
}

/* A fall below the floor waits. */
PELTON_INLINE u32 pelton_interactive_held(const struct pelton_policy *pol, const struct pelton_interactive *d,
					  const struct pelton_interactive_cpu *c, u32 wanted, u64 now_us)
{
	return wanted < c->floor_khz && c->target_khz >= d->cur_khz &&
	       now_us - pelton_max_u64(c->pol_floor_us, c->loc_floor_us) < pol->min_sample_time_us;
}

/* The floor is where the CPU is now, unless a boost brought it there: that falls as soon as it is over. */
PELTON_INLINE void pelton_interactive_confirm(const struct pelton_interactive *d, struct pelton_interactive_cpu *c,
					      u32 wanted, u64 now_us)
{
	if (d->boosted && wanted <= d->hispeed_khz)
		return;
	c->floor_khz = wanted;
	if (c->target_khz >= d->cur_khz || wanted >= d->cur_khz)
		c->loc_floor_us = now_us;
}

/* Applies the frequency that a timer wants; 1 = the thread is woken. */
PELTON_INLINE u32 pelton_interactive_decide(const struct pelton_policy *pol, const struct pelton_interactive *d,
					    struct pelton_interactive_cpu *c, const u32 *khz, u32 n, u32 wanted,
					    u64 now_us)
{
	if (pelton_interactive_too_soon(pol, d, c, wanted, now_us))
		return 0;
	c->loc_hispeed_us = now_us;
	wanted = pelton_interactive_above(d, khz, n, wanted);
	if (pelton_interactive_held(pol, d, c, wanted, now_us))
		return 0;
	pelton_interactive_confirm(d, c, wanted, now_us);
	if (c->target_khz == wanted && c->target_khz <= d->cur_khz)
		return 0;
	c->target_khz = wanted;
	return 1;
}

/* A CPU's timer: 1 = the thread is woken, to look at the domain. The host sets the timer anew afterwards. */
PELTON_INLINE u32 pelton_interactive_timer(const struct pelton_policy *pol, struct pelton_interactive *d,
					   struct pelton_interactive_cpu *c, const struct pelton_dbs_times *t,
					   const u32 *khz, u32 n)
{
	u64 now_us = t->wall_us;
	u32 load;

	pelton_interactive_account(pol, d, c, t);
	if (!(u32)(now_us - c->since_us))
		return 0;
	load = (u32)pelton_div_floor(c->busy_khz_us, (u32)(now_us - c->since_us)) * 100u;
	c->load = (u32)pelton_div_floor(load, d->cur_khz);
	d->boosted = pol->boost_val || now_us < d->pulse_end_us;
	return pelton_interactive_decide(pol, d, c, khz, n, pelton_interactive_wanted(pol, d, c, khz, n, load), now_us);
}

/* The largest frequency that a CPU of the domain asks for, and when the latest that asks for it last found it. */
PELTON_INLINE u32 pelton_interactive_most(const struct pelton_interactive_cpu *cpus, u32 nr, u64 *hispeed_us)
{
	u32 most = 0, i;

	*hispeed_us = ~0ull;
	for (i = 0; i < nr && i < PELTON_DOMAIN_CPUS_MAX; i++) {
		if (cpus[i].target_khz > most)
			*hispeed_us = cpus[i].loc_hispeed_us;
		else if (cpus[i].target_khz == most)
			*hispeed_us = pelton_min_u64(*hispeed_us, cpus[i].loc_hispeed_us);
		most = pelton_max_u32(most, cpus[i].target_khz);
	}
	return most;
}

/* The thread looks at the domain: the frequency that the driver is asked for, 0 = none. */
PELTON_INLINE u32 pelton_interactive_adjust(const struct pelton_interactive *d, struct pelton_interactive_cpu *cpus,
					    u32 nr, const u32 *khz, u32 n)
{
	u64 floor_us = 0, hispeed_us;
	u32 most = pelton_interactive_most(cpus, nr, &hispeed_us), i;

	for (i = 0; i < nr && i < PELTON_DOMAIN_CPUS_MAX; i++)
		floor_us = pelton_max_u64(floor_us, cpus[i].loc_floor_us);
	for (i = 0; i < nr && i < PELTON_DOMAIN_CPUS_MAX; i++) {
		cpus[i].pol_floor_us = floor_us;
		if (most != d->cur_khz)
			cpus[i].pol_hispeed_us = hispeed_us;
	}
	return most == d->cur_khz ? 0 : pelton_interactive_below(d, khz, n, most);
}

/* A boost begins: each CPU of the domain asks for hispeed_khz at least; 1 = the thread is woken. */
PELTON_INLINE u32 pelton_interactive_boost(const struct pelton_interactive *d, struct pelton_interactive_cpu *c,
					   u64 now_us)
{
	if (c->target_khz >= d->hispeed_khz)
		return 0;
	c->target_khz = d->hispeed_khz;
	c->pol_hispeed_us = now_us;
	return 1;
}

/* A program asks for a boost for a while: 1 = it begins, 0 = there is one already, which lasts longer now. */
PELTON_INLINE u32 pelton_interactive_pulse(const struct pelton_policy *pol, struct pelton_interactive *d, u64 now_us)
{
	u32 begins = !d->boosted;

	d->pulse_end_us = now_us + pol->boostpulse_duration_us;
	d->boosted = 1;
	return begins;
}

/* The governor starts on a domain that runs at `cur` within these limits. */
PELTON_INLINE void pelton_interactive_start(const struct pelton_policy *pol, struct pelton_interactive *d, u32 min,
					    u32 max, u32 cur)
{
	d->pulse_end_us = 0;
	d->cur_khz = cur;
	d->min_khz = min;
	d->max_khz = max;
	d->hispeed_khz = pol->hispeed_khz == PELTON_FROM_PLATFORM ? max : pol->hispeed_khz;
	d->boosted = pol->boost_val;
}

/* The governor starts on a CPU of the domain; a boost that is on from then on is written right afterwards. */
PELTON_INLINE void pelton_interactive_join(const struct pelton_policy *pol, const struct pelton_interactive *d,
					   struct pelton_interactive_cpu *c, const struct pelton_dbs_times *t)
{
	pelton_interactive_rearm(pol, c, t);
	c->pol_floor_us = t->wall_us;
	c->loc_floor_us = t->wall_us;
	c->pol_hispeed_us = t->wall_us;
	c->loc_hispeed_us = t->wall_us;
	c->target_khz = d->cur_khz;
	c->floor_khz = d->cur_khz;
	c->load = 0;
}

/* New limits of the domain hold for what a CPU of it asks for. */
PELTON_INLINE void pelton_interactive_limits(const struct pelton_interactive *d, struct pelton_interactive_cpu *c)
{
	c->target_khz = pelton_clamp_u32(c->target_khz, d->min_khz, d->max_khz);
}

#endif
