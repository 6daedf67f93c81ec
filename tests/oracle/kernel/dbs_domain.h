/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampling governor's frequency domain, from the core's records and back. */
#ifndef ORACLE_DBS_DOMAIN_H
#define ORACLE_DBS_DOMAIN_H

/* In k_ondemand.c: cpufreq_governor.c keeps its records to itself. */
extern struct cpufreq_policy o_dbs_policy;
void dbs_in(const struct oracle_state *s, struct policy_dbs_info *info, struct dbs_data *data);
void dbs_out(struct oracle_state *s, const struct policy_dbs_info *info);

#endif
