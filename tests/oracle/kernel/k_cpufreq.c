/* SPDX-License-Identifier: GPL-2.0-only */
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
