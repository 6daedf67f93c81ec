/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the search for an idle CPU asks of a CPU, and its walks, each a function.
 */
#ifndef PELTON_LIVE_DECIDE_IDLE_H
#define PELTON_LIVE_DECIDE_IDLE_H

#include "decide_energy.h"

#include "pelton/select_idle_cpu.h"

APART s32 apart_proportion(u64 span)
{
	return pelton_scan_in_proportion(POLICY, RECORD, span);
}
#define pelton_scan_in_proportion(pol, s, span) apart_proportion(span)

APART u64 apart_group_of(u32 cpu, u32 weight, u32 *level)
{
	return level ? pelton_group_of(RECORD, cpu, weight, level) : 0;
}
#define pelton_group_of(s, cpu, weight, level) apart_group_of(cpu, weight, level)

APART u32 apart_takes(u32 cpu, u32 *second)
{
	return second ? pelton_pass_takes(POLICY, RECORD, cpu, second) : 0;
}
#define pelton_pass_takes(pol, s, cpu, second) apart_takes(cpu, second)

APART u32 apart_rank(struct pelton_ranked *best, u32 cpu, u32 by_cores)
{
	return best ? pelton_rank_cpu(POLICY, RECORD, PLACED, best, cpu, by_cores) : 1;
}
#define pelton_rank_cpu(pol, s, out, best, cpu, by_cores) apart_rank(best, cpu, by_cores)

APART u32 apart_scan(struct pelton_idle_scan *scan, u32 cpu)
{
	return scan ? pelton_scan_step(POLICY, RECORD, scan, cpu) : 0;
}
#define pelton_scan_step(pol, s, scan, cpu) apart_scan(scan, cpu)

#include "pelton/select_idle_scan.h"

APART u32 apart_capacity(u32 level, u32 target)
{
	return pelton_select_idle_capacity(POLICY, RECORD, PLACED, level, target);
}
#define pelton_select_idle_capacity(pol, s, out, level, target) apart_capacity(level, target)

APART u32 apart_smt(u64 span, u32 prev)
{
	return pelton_select_idle_smt(POLICY, RECORD, PLACED, span, prev);
}
#define pelton_select_idle_smt(pol, s, out, span, prev) apart_smt(span, prev)

APART u32 apart_set(struct pelton_idle_scan *scan, u64 set, u32 target)
{
	return scan ? pelton_scan_set(POLICY, RECORD, scan, set, target) : 0;
}
#define pelton_scan_set(pol, s, scan, set, target) apart_set(scan, set, target)

APART u32 apart_pass_cores(u64 cpus, u32 target)
{
	return pelton_pass_cores(RECORD, PLACED, cpus, target);
}
#define pelton_pass_cores(s, out, cpus, target) apart_pass_cores(cpus, target)

APART u32 apart_pass_cpus(u64 span, u32 target)
{
	return pelton_pass_cpus(POLICY, RECORD, PLACED, span, target);
}
#define pelton_pass_cpus(pol, s, out, span, target) apart_pass_cpus(span, target)

APART u32 apart_pass_threads(u32 target)
{
	return pelton_pass_threads(POLICY, RECORD, PLACED, target);
}
#define pelton_pass_threads(pol, s, out, target) apart_pass_threads(target)

#include "pelton/select_idle.h"

APART u32 apart_idle_sibling(u32 target)
{
	return pelton_select_idle_sibling(POLICY, RECORD, PLACED, target);
}
#define pelton_select_idle_sibling(pol, s, out, target) apart_idle_sibling(target)

#endif
