/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fair.c, and calls of its functions on the core's records. */
#include "newidle_hook.h"
#include "fair.c"
#include "k.h"

#include "fair_records.h"
#include "fair_pelt.h"
#include "fair_group.h"
#include "fair_quota.h"
#include "fair_util.h"
#include "fair_place.h"
#include "fair_select.h"
#include "fair_others.h"
#include "fair_levels.h"
#include "fair_cache.h"
#include "fair_balance.h"
#include "fair_newidle.h"
#include "fair_class.h"
#include "fair_idle.h"
#if CONFIG_NR_CPUS > 64
#include "fair_bench.h"
#endif
