/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deadline reservations as bandwidth, capacity fit, and the frequency scale: small conversions every host needs.
 *
 *   dl_bw(runtime, period) = runtime * 2^20 / period          one reservation, Q20
 *   cpu_bw_dl(running_bw)  = running_bw * 1024 >> 20          the active reservations of a CPU, capacity units
 *   fits(util, capacity)   = util * 1280 < capacity * 1024    80 % of the capacity
 *   freq_scale(f, f_ref)   = f * 1024 / f_ref                 what the architecture tells the scheduler
 *
 * Units: time ns (any, as long as both are equal), bandwidth Q20, capacity 0..1024, frequency kHz.
 * Source: Linux 7.2 kernel/sched/core.c (to_ratio), sched.h (cpu_bw_dl), fair.c (fits_capacity),
 * drivers/base/arch_topology.c (topology_set_freq_scale). Deviations: a runtime is cut to 2^43 ns (2.4 h) so that the
 * shift cannot overflow.
 */
#ifndef PELTON_BANDWIDTH_H
#define PELTON_BANDWIDTH_H

#include "weight.h"

#define PELTON_BW_SHIFT 20
#define PELTON_RUNTIME_MAX_NS (1ull << 43)

PELTON_INLINE u64 pelton_dl_bw(u64 runtime_ns, u64 period_ns)
{
	if (!period_ns)
		return 0;
	return (pelton_min_u64(runtime_ns, PELTON_RUNTIME_MAX_NS) << PELTON_BW_SHIFT) / period_ns;
}

PELTON_INLINE u32 pelton_cpu_bw_dl(u64 running_bw)
{
	return (u32)((running_bw << PELTON_CAPACITY_SHIFT) >> PELTON_BW_SHIFT);
}

PELTON_INLINE u32 pelton_fits_capacity(u64 util, u32 capacity)
{
	return util * 1280u < (u64)capacity * 1024u;
}

/* Is one capacity more than a twentieth above another? */
PELTON_INLINE u32 pelton_capacity_greater(u32 a, u32 b)
{
	return (u64)a * 1024u > (u64)b * 1078u;
}

PELTON_INLINE u32 pelton_freq_scale(u32 khz, u32 ref_khz)
{
	if (!ref_khz)
		return PELTON_CAPACITY_SCALE;
	return pelton_mul_div_floor(khz, PELTON_CAPACITY_SCALE, ref_khz);
}

#endif
