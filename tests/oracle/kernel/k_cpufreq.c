/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drivers/cpufreq/cpufreq.c with a made-up driver that notes what it is told. */
#include "../../drivers/cpufreq/cpufreq.c"
#include "k.h"
#include "k_driver.h"

unsigned int oracle_irq_work, oracle_driven, oracle_driven_khz;
unsigned long oracle_perf[3];

static unsigned int o_fast_switch(struct cpufreq_policy *policy, unsigned int khz)
{
	oracle_driven++;
	oracle_driven_khz = khz;
	return khz;
}

static int o_target_index(struct cpufreq_policy *policy, unsigned int index)
{
	oracle_driven++;
	oracle_driven_khz = policy->freq_table[index].frequency;
	return 0;
}

static int o_target(struct cpufreq_policy *policy, unsigned int khz, unsigned int relation)
{
	oracle_driven++;
	oracle_driven_khz = khz;
	return 0;
}

#if ORACLE_VERSION >= 511
#if ORACLE_VERSION >= 700
#define o_subject struct cpufreq_policy *subject
#else
#define o_subject unsigned int subject
#endif

static void o_adjust_perf(o_subject, unsigned long min, unsigned long target, unsigned long cap)
{
	oracle_driven++;
	oracle_perf[0] = min;
	oracle_perf[1] = target;
	oracle_perf[2] = cap;
}
#endif

static struct cpufreq_driver o_driver = { .name = "oracle", .fast_switch = o_fast_switch };

void k_driver(int has_table, int need_update_limits)
{
	o_driver.flags = need_update_limits ? CPUFREQ_NEED_UPDATE_LIMITS : 0;
	o_driver.target_index = has_table ? o_target_index : NULL;
	o_driver.target = has_table ? NULL : o_target;
#if ORACLE_VERSION >= 511
	o_driver.adjust_perf = o_adjust_perf;
#endif
	cpufreq_driver = &o_driver;
	oracle_irq_work = oracle_driven = oracle_driven_khz = 0;
	memset(oracle_perf, 0, sizeof(oracle_perf));
}

/* The driver takes frequencies, as all of the simulator's do. */
void k_driver_frequencies(void)
{
#if ORACLE_VERSION >= 511
	o_driver.adjust_perf = NULL;
#endif
}

#ifndef PELTON_IMAGE
void k_driver_silent(void)
{
	o_driver.flags |= CPUFREQ_ASYNC_NOTIFICATION;
}

/* `now`: latency the driver reports, ns; `cap`: what it asks for itself, us. */
void k_rate_limit(struct oracle_state *s)
{
	static struct cpufreq_policy policy;

	policy.cpuinfo.transition_latency = s->now;
	policy.transition_delay_us = s->cap;
	s->ret = cpufreq_policy_transition_delay_us(&policy);
}

/* Limits before 6.1 are not moved to operating points (5.14). */
#if ORACLE_VERSION >= 601
static s32 o_wanted[2];

s32 freq_qos_read_value(struct freq_constraints *qos, enum freq_qos_req_type type)
{
	return o_wanted[type == FREQ_QOS_MAX];
}

static int o_verify(struct cpufreq_policy_data *policy)
{
	cpufreq_verify_within_cpu_limits(policy);
	return 0;
}

/*
 * `lowest` to `highest` are requested. ret, aux: the limits in force; aux2: the capacity that they take from each CPU.
 */
void k_new_limits(struct oracle_state *s)
{
	static struct cpufreq_frequency_table table[ORACLE_OPPS + 1];
	static struct cpufreq_governor governor;
	static struct cpufreq_policy policy;
	u32 i;

	k_driver(1, 0);
	o_driver.verify = o_verify;
	for (i = 0; i < s->opps; i++)
		table[s->flags ? s->opps - 1 - i : i].frequency = s->khz[i];
	table[s->opps].frequency = CPUFREQ_TABLE_END;
	policy.freq_table = table;
	policy.freq_table_sorted = s->flags ? CPUFREQ_TABLE_SORTED_DESCENDING : CPUFREQ_TABLE_SORTED_ASCENDING;
	policy.cpuinfo.min_freq = s->khz[0];
	policy.cpuinfo.max_freq = s->khz[s->opps - 1];
	policy.governor = &governor;
	policy.related_cpus->bits[0] = 1;
	oracle_cap[0] = s->cap;
	o_wanted[0] = s->lowest;
	o_wanted[1] = s->highest;
	cpufreq_set_policy(&policy, &governor, 0);
	s->ret = policy.min;
	s->aux = policy.max;
#if ORACLE_VERSION >= 610
	s->aux2 = per_cpu(cpufreq_pressure, 0);
	per_cpu(cpufreq_pressure, 0) = 0;
#endif
	oracle_cap[0] = 1024;
}
#endif
#endif
