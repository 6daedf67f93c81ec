/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of the comparison of load tracking that the observer in the kernel and its loader share, as those of live.h.
 *
 *   LIVE_SIGNALS      signals that are compared, in this order
 *   LIVE_SITES        moments at which a state is read
 *   LIVE_COMPARED     of a CPU and signal. `looks`: states read between published ones that were not the last known
 *   LIVE_DIFFERENCE   of a signal: how many were not as expected, looks included, and the first of them
 */
#ifndef PELTON_LIVE_COMPARED_WORDS_H
#define PELTON_LIVE_COMPARED_WORDS_H

#include "live.h"

/* clang-format off */
#define LIVE_SIGNALS(X) \
	X(TASK) X(RT) X(DL)

#define LIVE_SITES(X) \
	X(PUBLISHED) X(SWITCH) X(RUNTIME) X(WAKING) X(WAKEUP) X(NEW) X(MIGRATE) X(JOIN)

#define LIVE_COMPARED(X) \
	X(events) X(equal) X(first) X(different) X(unseen) X(looks)

#define LIVE_DIFFERENCE(X) \
	X(nr) X(cpu) X(site) X(weight) X(flags) X(flags_before) X(moved) \
	X(before_last_update_time) X(before_load_sum) X(before_runnable_sum) X(before_util_sum) \
	X(before_period_contrib) \
	X(before_load_avg) X(before_runnable_avg) X(before_util_avg) \
	X(core_last_update_time) X(core_load_sum) X(core_runnable_sum) X(core_util_sum) X(core_period_contrib) \
	X(core_load_avg) X(core_runnable_avg) X(core_util_avg) \
	X(kernel_last_update_time) X(kernel_load_sum) X(kernel_runnable_sum) X(kernel_util_sum) \
	X(kernel_period_contrib) \
	X(kernel_load_avg) X(kernel_runnable_avg) X(kernel_util_avg)
/* clang-format on */

#define LIVE_SIGNAL_(name) SIGNAL_##name,
enum { LIVE_SIGNALS(LIVE_SIGNAL_) SIGNALS };
#define LIVE_SITE_(name) AT_##name,
enum { LIVE_SITES(LIVE_SITE_) SITES };

#endif
