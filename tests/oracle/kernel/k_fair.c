/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fair.c, and calls of its functions on the core's records. */
#ifndef PELTON_IMAGE
#include "newidle_hook.h"
#endif
#include "fair.c"
#include "k.h"

#include "fair_records.h"
#include "fair_running.h"
#ifdef PELTON_IMAGE
#include "fair_util.h"
#include "image_select.h"
#include "image_balance.h"
#else /* A file that does not compile with a changed tree is left out (crates/kernel/image/oracle.sh). */
#ifndef WITHOUT_FAIR_PELT
#include "fair_pelt.h"
#endif
#ifndef WITHOUT_FAIR_GROUP
#include "fair_group.h"
#endif
#ifndef WITHOUT_FAIR_QUOTA
#include "fair_quota.h"
#endif
#ifndef WITHOUT_FAIR_UTIL
#include "fair_util.h"
#endif
#ifndef WITHOUT_FAIR_PLACE
#include "fair_place.h"
#endif
#ifndef WITHOUT_FAIR_SELECT
#include "fair_select.h"
#endif
#ifndef WITHOUT_FAIR_OTHERS
#include "fair_others.h"
#endif
#ifndef WITHOUT_FAIR_LEVELS
#include "fair_levels.h"
#endif
#ifndef WITHOUT_FAIR_CACHE
#include "fair_cache.h"
#endif
#ifndef WITHOUT_FAIR_BALANCE
#include "fair_balance.h"
#endif
#ifndef WITHOUT_FAIR_NEWIDLE
#include "fair_newidle.h"
#endif
#ifndef WITHOUT_FAIR_CLASS
#include "fair_class.h"
#endif
#ifndef WITHOUT_FAIR_IDLE
#include "fair_idle.h"
#endif
#if CONFIG_NR_CPUS > 64
#include "fair_bench.h"
#endif
#endif
