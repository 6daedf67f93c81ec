/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling governors' common part, and ondemand. */
#include "../../drivers/cpufreq/cpufreq_governor.c"
#undef pr_fmt
#include "../../drivers/cpufreq/cpufreq_ondemand.c"
#include "k.h"
#include "k_driver.h"
#include "dbs_domain.h"

struct cpufreq_policy o_dbs_policy;
static struct cpufreq_frequency_table o_dbs_table[ORACLE_OPPS + 1];

/* The times of a CPU, as the parts of the kernel that are not here would tell them. */
#if ORACLE_VERSION >= 702
static void times_in(int cpu, const struct pelton_dbs_times *t)
{
	k_ktime(t->wall_us * NSEC_PER_USEC);
	kcpustat_cpu(cpu).cpustat[CPUTIME_IDLE] = t->idle_us * NSEC_PER_USEC;
	kcpustat_cpu(cpu).cpustat[CPUTIME_IOWAIT] = t->iowait_us * NSEC_PER_USEC;
	kcpustat_cpu(cpu).cpustat[CPUTIME_NICE] = t->nice_ns;
}
#else
static struct pelton_dbs_times o_times[ORACLE_CPUS];

u64 get_cpu_idle_time_us(int cpu, u64 *last_update_time)
{
	if (last_update_time)
		*last_update_time = o_times[cpu].wall_us;
	return o_times[cpu].idle_us;
}

u64 get_cpu_iowait_time_us(int cpu, u64 *last_update_time)
{
	if (last_update_time)
		*last_update_time = o_times[cpu].wall_us;
	return o_times[cpu].iowait_us;
}

static void times_in(int cpu, const struct pelton_dbs_times *t)
{
	o_times[cpu] = *t;
	kcpustat_cpu(cpu).cpustat[CPUTIME_NICE] = t->nice_ns;
}
#endif

static void dbs_policy_in(const struct oracle_state *s)
{
	const struct pelton_dbs *d = &s->dbs;
	struct cpufreq_policy *policy = &o_dbs_policy;
	u32 i;

	for (i = 0; i < s->opps; i++) {
		u32 at = d->descends ? s->opps - 1 - i : i;

		o_dbs_table[at] = (struct cpufreq_frequency_table){ .frequency = s->khz[i], .driver_data = at };
	}
	o_dbs_table[s->opps].frequency = CPUFREQ_TABLE_END;
	policy->freq_table = s->opps ? o_dbs_table : NULL;
	policy->freq_table_sorted = d->descends ? CPUFREQ_TABLE_SORTED_DESCENDING : CPUFREQ_TABLE_SORTED_ASCENDING;
	policy->min = d->min_khz;
	policy->max = d->max_khz;
	policy->cur = d->cur_khz;
	policy->cpuinfo.min_freq = d->hw_min_khz;
	policy->cpuinfo.max_freq = d->hw_max_khz;
	policy->cpus->bits[0] = (1ul << s->cpu) - 1;
	policy->related_cpus->bits[0] = policy->cpus->bits[0];
}

static void dbs_cpus_in(const struct oracle_state *s)
{
	u32 i;

	for (i = 0; i < s->cpu; i++) {
		struct cpu_dbs_info *c = &per_cpu(cpu_dbs, i);

		c->prev_update_time = s->dc[i].prev_wall_us;
		c->prev_cpu_idle = s->dc[i].prev_idle_us;
		c->prev_cpu_nice = s->dc[i].prev_nice_ns;
		c->prev_load = s->dc[i].prev_load;
		times_in(i, &s->dt[i]);
	}
}

/* `cpu`: how many CPUs the domain has. */
void dbs_in(const struct oracle_state *s, struct policy_dbs_info *info, struct dbs_data *data)
{
	k_driver(s->opps != 0, 0);
	k_driver_silent();
	dbs_policy_in(s);
	dbs_cpus_in(s);
	o_dbs_policy.governor_data = info;
	info->policy = &o_dbs_policy;
	info->dbs_data = data;
	info->rate_mult = s->dbs.rate_mult;
	info->idle_periods = s->dbs.idle_periods;
	info->sample_delay_ns = (s64)s->dbs.delay_us * NSEC_PER_USEC;
	data->sampling_rate = s->dbs.sampling_us;
	data->ignore_nice_load = s->tune.ignore_nice_load;
	data->io_is_busy = s->tune.io_is_busy;
	data->up_threshold = s->tune.up_threshold;
	data->sampling_down_factor = s->tune.sampling_down_factor;
}

/* ret: the driver was called, aux: with this frequency. */
void dbs_out(struct oracle_state *s, const struct policy_dbs_info *info)
{
	u32 i;

	for (i = 0; i < s->cpu; i++) {
		const struct cpu_dbs_info *c = &per_cpu(cpu_dbs, i);

		s->dc[i].prev_wall_us = c->prev_update_time;
		s->dc[i].prev_idle_us = c->prev_cpu_idle;
		s->dc[i].prev_nice_ns = c->prev_cpu_nice;
		s->dc[i].prev_load = c->prev_load;
	}
	s->dbs.rate_mult = info->rate_mult;
	s->dbs.idle_periods = info->idle_periods;
	s->ret = oracle_driven;
	s->aux = oracle_driven_khz;
}

/* dbs_update() alone: its load. */
void k_dbs_update(struct oracle_state *s)
{
	static struct policy_dbs_info info;
	static struct dbs_data data;

	dbs_in(s, &info, &data);
	s->dbs.load = dbs_update(&o_dbs_policy);
	dbs_out(s, &info);
}

void k_ondemand(struct oracle_state *s)
{
	static struct od_policy_dbs_info info;
	static struct od_dbs_tuners tuners;
	static struct dbs_data data = { .tuners = &tuners };

	dbs_in(s, &info.policy_dbs, &data);
	tuners.powersave_bias = s->tune.powersave_bias;
	info.freq_lo = s->dbs.low_khz;
	info.freq_lo_delay_us = s->dbs.low_us;
	info.freq_hi_delay_us = s->dbs.high_us;
	info.sample_type = s->dbs.at_high;
	s->dbs.delay_us = od_dbs_update(&o_dbs_policy);
	dbs_out(s, &info.policy_dbs);
	s->dbs.low_khz = info.freq_lo;
	s->dbs.low_us = info.freq_lo_delay_us;
	s->dbs.high_us = info.freq_hi_delay_us;
	s->dbs.at_high = info.sample_type;
}
