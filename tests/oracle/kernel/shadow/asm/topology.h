/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The architecture's header, with a CPU's capacity, hardware pressure and reference frequency from the oracle. */
#include_next <asm/topology.h>

#ifndef ORACLE_TOPOLOGY_H
#define ORACLE_TOPOLOGY_H
extern unsigned long oracle_cap[], oracle_lost[];
extern unsigned int oracle_ref[];
static inline unsigned long oracle_cap_of(int cpu)
{
	return oracle_cap[cpu];
}
static inline unsigned long oracle_lost_of(int cpu)
{
	return oracle_lost[cpu];
}
static inline unsigned int oracle_ref_of(int cpu)
{
	return oracle_ref[cpu];
}
#undef arch_scale_cpu_capacity
#define arch_scale_cpu_capacity oracle_cap_of
#define arch_scale_thermal_pressure oracle_lost_of
#define arch_scale_hw_pressure oracle_lost_of
#define arch_scale_freq_ref oracle_ref_of
#endif
