/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq_schedutil.c with a made-up frequency domain. */
#ifdef PELTON_IMAGE
/* What the governor's worker and new limits ask of a driver is what the image answers. */
#define __cpufreq_driver_target k_image_target
#endif
#if ORACLE_SPLIT
#include "cpufreq_schedutil.c"
#else
#include "build_utility.c"
#endif
#include "k.h"
#include "k_driver.h"

#include "util_state.h"
#ifdef PELTON_IMAGE
#include "image_hook.h"
#else
static struct cpufreq_policy o_pol;
static struct sugov_policy o_sp;
static struct sugov_tunables o_tun;
static struct cpufreq_frequency_table o_table[ORACLE_OPPS + 1];

#ifndef WITHOUT_UTIL_PERF
#include "util_perf.h"
#endif
#ifndef WITHOUT_UTIL_DOMAIN
#include "util_domain.h"
#endif
#ifndef WITHOUT_UTIL_HOOK
#include "util_hook.h"
#endif
#endif
