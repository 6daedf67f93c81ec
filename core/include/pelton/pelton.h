/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole policy core. See ARCHITECTURE.md for the map, docs/rules for the rules.
 */
#ifndef PELTON_H
#define PELTON_H

#include "affinity.h"
#include "balance_calm.h"
#include "balance_move.h"
#include "bandwidth.h"
#include "boost.h"
#include "boost_filter.h"
#include "bounds.h"
#include "cache_aware.h"
#include "cfs_bandwidth.h"
#include "cpu_load.h"
#include "deadline.h"
#include "dl_server.h"
#include "energy_domain.h"
#include "fair_cfs.h"
#include "fair_reweight.h"
#include "feec_priced.h"
#include "governor.h"
#include "hook.h"
#include "idle_group.h"
#include "idle_menu.h"
#include "idle_teo.h"
#include "idle_walk.h"
#include "limits.h"
#include "margins.h"
#include "rq_event.h"
#include "pelt_ramp.h"
#include "perf_why.h"
#include "place_group.h"
#include "prefer_idle.h"
#include "rt_limit.h"
#include "sched_domain.h"
#include "schedutil_settled.h"
#include "select.h"
#include "select_class.h"
#include "thermal.h"
#include "tick.h"
#include "uclamp_max.h"
#include "group_throttle.h"
#include "uclamp_sum.h"
#include "weight.h"

#endif
