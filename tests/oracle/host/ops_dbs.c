// SPDX-License-Identifier: GPL-2.0-or-later
/* The sampling governors: ondemand and conservative. */
#include "host.h"

/* A policy with what the user of this case set. */
static struct pelton_policy policy_of(const struct oracle_state *s, const struct pelton_policy *rules, u32 governor)
{
	struct pelton_policy pol = *rules;

	pol.governor = governor;
	pol.up_threshold = s->tune.up_threshold;
	pol.down_threshold = s->tune.down_threshold;
	pol.sampling_down_factor = s->tune.sampling_down_factor;
	pol.freq_step = s->tune.freq_step;
	pol.powersave_bias = s->tune.powersave_bias;
	pol.ignore_nice_load = s->tune.ignore_nice_load;
	pol.io_is_busy = s->tune.io_is_busy;
	return pol;
}

static void a_table_of_khz(struct oracle_state *s)
{
	u32 i, khz = 1000 * (100 + (u32)below(900)), step = 1 + (u32)below(400);

	s->opps = chance(8) ? 0 : 1 + (u32)below(ORACLE_OPPS);
	for (i = 0; i < ORACLE_OPPS; i++) {
		s->khz[i] = khz;
		khz += 1000 * (chance(60) ? step : 1 + (u32)below(500));
	}
}

/* A frequency between the ends of the table, mostly one of it. */
static u32 some_khz(const struct oracle_state *s)
{
	u32 n = s->opps ? s->opps : ORACLE_OPPS;

	if (s->opps && chance(80))
		return s->khz[below(n)];
	return s->khz[0] + (u32)below(s->khz[n - 1] - s->khz[0] + 1);
}

static void a_domain(struct oracle_state *s)
{
	struct pelton_dbs *d = &s->dbs;
	u32 a, b;

	a_table_of_khz(s);
	a = some_khz(s);
	b = some_khz(s);
	d->min_khz = chance(50) ? s->khz[0] : pelton_min_u32(a, b);
	d->max_khz = chance(50) ? s->khz[s->opps ? s->opps - 1 : ORACLE_OPPS - 1] : pelton_max_u32(a, b);
	d->hw_min_khz = s->khz[0];
	d->hw_max_khz = s->khz[s->opps ? s->opps - 1 : ORACLE_OPPS - 1];
	d->cur_khz = s->opps ? s->khz[below(s->opps)] : some_khz(s);
	d->sampling_us = chance(40) ? 8000 : 1 + (u32)below(1ull << (10 + below(14)));
	d->delay_us = d->sampling_us;
	d->rate_mult = 1;
	d->descends = chance(50);
	d->idle_periods = chance(70) ? PELTON_IDLE_PERIODS_NONE : (u32)below(100);
}

static u32 a_percent(u32 usual)
{
	return chance(40) ? usual : 1 + (u32)below(100);
}

static void some_tunables(struct oracle_state *s, u32 factor)
{
	s->tune.up_threshold = a_percent(80);
	s->tune.down_threshold = pelton_min_u32(a_percent(20), pelton_max_u32(s->tune.up_threshold, 2) - 1);
	s->tune.sampling_down_factor = chance(50) ? 1 : 1 + (u32)below(factor);
	s->tune.freq_step = chance(50) ? 5 : (u32)below(101);
	s->tune.ignore_nice_load = chance(40);
	s->tune.io_is_busy = chance(40);
}

/* Time since the last sample: none, about a period, many periods, or more than 32 bits of it. */
static u64 some_time(const struct oracle_state *s)
{
	u64 period_us = (u64)s->dbs.sampling_us * s->dbs.rate_mult;

	if (chance(3))
		return 0;
	if (chance(60))
		return period_us + below(period_us / 4 + 2);
	if (chance(5))
		return below(1ull << 35);
	return below(period_us * (1 + below(40)) + 2);
}

static u64 a_share(u64 time)
{
	return chance(20) ? time : below(time + 2);
}

/*
 * What a CPU did since its last sample; idle time may exceed the time, or go back (its parts are read one after
 * another).
 */
static void some_load(struct oracle_state *s, u32 i, u64 wall_us)
{
	struct pelton_dbs_cpu *c = &s->dc[i];
	struct pelton_dbs_times *t = &s->dt[i];
	u64 time = some_time(s), idle = chance(90) ? a_share(time) : 0, iowait = chance(30) ? below(idle + 1) : 0;
	u64 before = s->tune.io_is_busy ? 0 : below(1ull << 20);

	t->wall_us = wall_us;
	c->prev_wall_us = wall_us - time;
	t->iowait_us = before + iowait;
	c->prev_idle_us = below(1ull << 40) + before;
	t->idle_us = c->prev_idle_us - before + idle - iowait - (chance(3) ? below(50) : 0);
	c->prev_nice_ns = below(1ull << 50);
	t->nice_ns = c->prev_nice_ns + (chance(50) ? below(time * 500 + 2) : 0);
	c->prev_load = chance(30) ? 0 : (u32)below(101);
}

static void some_loads(struct oracle_state *s)
{
	u64 wall_us = (1ull << 36) + below(1ull << 40);
	u32 i;

	s->cpu = chance(50) ? 1 : 1 + (u32)below(ORACLE_CPUS);
	for (i = 0; i < s->cpu; i++)
		some_load(s, i, wall_us);
}

static void make_ondemand(struct oracle_state *s)
{
	struct pelton_dbs *d = &s->dbs;

	a_domain(s);
	some_tunables(s, chance(90) ? 100 : 100000);
	if (chance(30))
		s->tune.powersave_bias = 1 + (u32)below(1000);
	if (chance(30))
		d->rate_mult = s->tune.sampling_down_factor;
	if (s->opps && s->tune.powersave_bias && chance(50)) {
		d->at_high = 1;
		d->low_khz = s->khz[below(s->opps)];
		d->low_us = (u32)below(d->sampling_us + 1);
		d->high_us = d->sampling_us - d->low_us;
		d->delay_us = chance(90) ? d->high_us : 0;
	}
	some_loads(s);
}

static void make_conservative(struct oracle_state *s)
{
	struct pelton_dbs *d = &s->dbs;

	a_domain(s);
	some_tunables(s, 10);
	d->down_skip = (u32)below(s->tune.sampling_down_factor);
	d->requested_khz = chance(60) ? some_khz(s) : d->min_khz + (u32)below(d->max_khz - d->min_khz + 1);
	if (chance(30))
		d->requested_khz = chance(50) ? d->min_khz : d->max_khz;
	some_loads(s);
}

static void look(struct oracle_state *s, const struct pelton_policy *pol)
{
	u32 i;

	pelton_dbs_begin(&s->dbs, 0);
	for (i = 0; i < s->cpu; i++)
		pelton_dbs_load(pol, &s->dbs, &s->dc[i], &s->dt[i]);
}

/* One decision as a whole. ret: the driver is called, aux: with this frequency. */
static void decide(struct oracle_state *s, const struct pelton_policy *pol)
{
	u32 khz;

	if (pelton_dbs_measures(&s->dbs))
		look(s, pol);
	khz = pelton_governor_sampled(pol, &s->dbs, s->khz, s->opps);
	if (khz == s->dbs.cur_khz)
		return;
	s->ret = 1;
	s->aux = khz;
}

void ondemand_under(struct oracle_state *s, const struct pelton_policy *rules)
{
	struct pelton_policy pol = policy_of(s, rules, PELTON_GOVERNOR_ONDEMAND);

	decide(s, &pol);
}

void conservative_under(struct oracle_state *s, const struct pelton_policy *rules)
{
	struct pelton_policy pol = policy_of(s, rules, PELTON_GOVERNOR_CONSERVATIVE);

	decide(s, &pol);
}

static void run_load(struct oracle_state *s)
{
	struct pelton_policy pol = policy_of(s, &oracle_policy, PELTON_GOVERNOR_ONDEMAND);

	look(s, &pol);
}

static void run_ondemand(struct oracle_state *s)
{
	ondemand_under(s, &oracle_policy);
}

static void run_conservative(struct oracle_state *s)
{
	conservative_under(s, &oracle_policy);
}

/* Before 7.2 nice time is read only where it counts. */
static void settle_load(struct oracle_state *k, struct oracle_state *p)
{
	u32 i;

	for (i = 0; oracle_version < 702 && !k->tune.ignore_nice_load && i < ORACLE_CPUS; i++)
		p->dc[i].prev_nice_ns = k->dc[i].prev_nice_ns;
	p->dbs.sample_load = k->dbs.sample_load;
}

/* What the record keeps of the load is local to the kernel's function; it tells in the decision. */
static void settle_decision(struct oracle_state *k, struct oracle_state *p)
{
	settle_load(k, p);
	p->dbs.load = k->dbs.load;
}

/* Limits that are requested: operating points or not, within the hardware's or beyond, the lower above the upper. */
static void make_limits(struct oracle_state *s)
{
	a_table_of_khz(s);
	s->opps = s->opps ? s->opps : 1;
	s->flags = chance(50);
	s->cap = chance(30) ? 1024 : 1 + (u32)below(1024);
	s->lowest = chance(50) ? s->khz[below(s->opps)] : (u32)below(s->khz[s->opps - 1] + 200000);
	s->highest = chance(50) ? s->khz[below(s->opps)] : (u32)below(s->khz[s->opps - 1] + 200000);
}

/* What the driver's verify() does first is the host's: both within the hardware's, the upper one decides. */
static void run_limits(struct oracle_state *s)
{
	u32 max = pelton_clamp_u32(s->highest, s->khz[0], s->khz[s->opps - 1]);
	u32 min = pelton_clamp_u32(s->lowest, s->khz[0], max);

	s->aux = pelton_limits_max(s->khz, s->opps, max);
	s->ret = pelton_limits_min(s->khz, s->opps, min, (u32)s->aux);
	if (oracle_version >= 610)
		s->aux2 = pelton_pressure_now(&oracle_policy,
					      pelton_lost_capacity(s->cap, (u32)s->aux, s->khz[s->opps - 1]), 0);
}

/* Canary: an upper limit between two operating points is moved up. */
void limits_up(struct oracle_state *s)
{
	u32 top = s->khz[s->opps - 1], max = pelton_clamp_u32(s->highest, s->khz[0], top);

	run_limits(s);
	s->aux = pelton_limits_min(s->khz, s->opps, max, top);
}

const struct oracle_op ops_dbs[] = {
	{ "cpufreq_set_policy, cpufreq_update_pressure", "pelton_limits_max, pelton_limits_min, pelton_lost_capacity",
	  make_limits, k_new_limits, run_limits, 0, 0 },
	{ "dbs_update, get_cpu_idle_time", "pelton_dbs_load", make_ondemand, k_dbs_update, run_load, settle_load, 0 },
	{ "od_dbs_update", "pelton_dbs_load, pelton_ondemand_target", make_ondemand, k_ondemand, run_ondemand,
	  settle_decision, 0 },
	{ "cs_dbs_update", "pelton_dbs_load, pelton_conservative_target", make_conservative, k_conservative,
	  run_conservative, settle_decision, 0 },
	{ 0 },
};
