/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq_schedutil.c with a made-up frequency domain. */
#if ORACLE_SPLIT
#include "cpufreq_schedutil.c"
#else
#include "build_utility.c"
#endif
#include "k.h"
#include "k_driver.h"

static struct cpufreq_policy o_pol;
static struct sugov_policy o_sp;
static struct sugov_tunables o_tun;
static struct cpufreq_frequency_table o_table[ORACLE_OPPS + 1];

#include "util_perf.h"
#include "util_domain.h"
#include "util_hook.h"
