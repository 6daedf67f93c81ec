/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load tracking by other code than this: a host that has a kernel's own compiled functions defines PELTON_ASKED before
 * it includes the core, and says under which policies they are asked. Without that nothing of it is compiled.
 *
 *   function      in place of                   kernel
 *   divider       pelton_divisor                get_pelt_divider
 *   load_sum      pelton_update_load_sum        ___update_load_sum
 *   load_avg      pelton_publish_weighted       ___update_load_avg
 *   util_est      pelton_util_est_update        util_est_update
 *
 * Source: Linux 5.10 to 7.2 kernel/sched/pelt.c, pelt.h, fair.c (functions above).
 * Deviations: none, this is our own table.
 */
#ifndef PELTON_ASKED_H
#define PELTON_ASKED_H

#include "types.h"

/* Functions to ask; null where the core computes. */
struct pelton_asked {
	u32 (*divider)(u32 period_contrib);
	u32 (*load_sum)(u64 now, struct pelton_avg *avg, u64 load, u64 runnable, u64 running);
	void (*load_avg)(struct pelton_avg *avg, u64 load);
	void (*util_est)(struct pelton_se *se, u32 cap_orig, u32 sleeps);
};

/* Those that are asked under a policy, null without. */
#ifndef PELTON_ASKED
#define PELTON_ASKED(pol) ((const struct pelton_asked *)0)
#endif

#endif
