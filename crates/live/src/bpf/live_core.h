/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core for the scheduler and the observer: CPUs place at the same time, so that the rows of the machine are apart
 * from questions; the loop over frequencies is a function of its own, which the verifier follows once in each program.
 */
#ifndef PELTON_LIVE_CORE_H
#define PELTON_LIVE_CORE_H

#define PELTON_MACHINE machine
#define HIDDEN static __always_inline
#define APART __attribute__((noinline))

#include "live.h"

#include "pelton/types.h"

/* A table of frequencies. */
struct live_khz {
	u32 of[LIVE_OPPS_MAX];
};

#include "pelton/resolve.h"

APART u32 apart_resolve(const struct pelton_sugov_policy *sp, const struct live_khz *khz, u32 n, u32 raw)
{
	return sp && khz ? pelton_sugov_resolve(sp, khz->of, pelton_min_u32(n, LIVE_OPPS_MAX), raw) : raw;
}
#define pelton_sugov_resolve(sp, khz, n, raw) apart_resolve(sp, (const struct live_khz *)(khz), n, raw)

#include "pelton/rq_event.h"
#include "pelton/schedutil.h"
#include "pelton/cpuperf.h"
#include "pelton/uclamp_sum.h"
#include "pelton/boost.h"
#include "pelton/fair_eevdf.h"
#include "pelton/fair_reweight.h"
#include "pelton/scx_balance.h"
#include "pelton/scx_group.h"
#include "pelton/placement.h"

#endif
