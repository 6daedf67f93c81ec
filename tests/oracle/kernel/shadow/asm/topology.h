/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The architecture's own header, with capacity and hardware pressure of a CPU taken from the oracle. */
#include_next <asm/topology.h>

#ifndef ORACLE_TOPOLOGY_H
#define ORACLE_TOPOLOGY_H
extern unsigned long oracle_cap[], oracle_lost[];
static inline unsigned long oracle_cap_of(int cpu)
{
	return oracle_cap[cpu];
}
static inline unsigned long oracle_lost_of(int cpu)
{
	return oracle_lost[cpu];
}
#undef arch_scale_cpu_capacity
#define arch_scale_cpu_capacity oracle_cap_of
#define arch_scale_thermal_pressure oracle_lost_of
#define arch_scale_hw_pressure oracle_lost_of
#endif
