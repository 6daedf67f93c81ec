/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conservative governor; its common part is in k_ondemand.c. */
#include "../../drivers/cpufreq/cpufreq_conservative.c"
#include "k.h"
#include "dbs_domain.h"

void k_conservative(struct oracle_state *s)
{
	static struct cs_policy_dbs_info info;
	static struct cs_dbs_tuners tuners;
	static struct dbs_data data = { .tuners = &tuners };

	dbs_in(s, &info.policy_dbs, &data);
	tuners.down_threshold = s->tune.down_threshold;
	tuners.freq_step = s->tune.freq_step;
	info.down_skip = s->dbs.down_skip;
	info.requested_freq = s->dbs.requested_khz;
	s->dbs.delay_us = cs_dbs_update(&o_dbs_policy);
	dbs_out(s, &info.policy_dbs);
	s->dbs.down_skip = info.down_skip;
	s->dbs.requested_khz = info.requested_freq;
}
