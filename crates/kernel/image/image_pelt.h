/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of load tracking, on a record of the core's. Included by k_policy.c. */
#include "image.h"

#if !defined(WITHOUT_UPDATE_LOAD_SUM) || !defined(WITHOUT_UPDATE_LOAD_AVG)
#include "sums.h"
#endif

#ifndef WITHOUT_UPDATE_LOAD_SUM
u32 k_image_update_load_sum(u64 now, struct pelton_avg *avg, u64 load, u64 runnable, u64 running)
{
	struct sched_avg k = {};
	u32 ret;

	sums_in(&k, avg);
	ret = ___update_load_sum(now, &k, load, runnable, running) != 0;
	sums_out(&k, avg);
	return ret;
}
#endif

#ifndef WITHOUT_UPDATE_LOAD_AVG
void k_image_update_load_avg(struct pelton_avg *avg, u64 load)
{
	struct sched_avg k = {};

	sums_in(&k, avg);
	___update_load_avg(&k, load);
	sums_out(&k, avg);
}
#endif

#ifndef WITHOUT_PELT_DIVIDER
u32 k_image_pelt_divider(u32 period_contrib)
{
	struct sched_avg k = { .period_contrib = period_contrib };

	return get_pelt_divider(&k);
}
#endif
