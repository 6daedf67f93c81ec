/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What placement by energy asks of a CPU, a state of the energy model and a performance domain, each a function.
 */
#ifndef PELTON_LIVE_DECIDE_ENERGY_H
#define PELTON_LIVE_DECIDE_ENERGY_H

#include "decide.h"

#include "pelton/cpu_util.h"

APART u32 apart_util(u32 cpu, u32 dst, u32 boost)
{
	return pelton_place_util(POLICY, RECORD, PLACED, cpu, dst, boost);
}
#define pelton_place_util(pol, s, out, cpu, dst, boost) apart_util(cpu, dst, boost)

APART u32 apart_clamped(u32 cpu, u32 dst, u32 boost)
{
	return pelton_place_util_clamped(POLICY, RECORD, PLACED, cpu, dst, boost);
}
#define pelton_place_util_clamped(pol, s, out, cpu, dst, boost) apart_clamped(cpu, dst, boost)

APART u32 apart_without(u32 cpu, u32 here)
{
	return pelton_cpu_util_without(POLICY, RECORD, PLACED, cpu, here);
}
#define pelton_cpu_util_without(pol, s, out, cpu, here) apart_without(cpu, here)

#include "pelton/fits.h"

APART u32 apart_util_fits(u32 util, u32 min, u32 max, u32 cpu)
{
	return pelton_util_fits_cpu(POLICY, RECORD, util, min, max, cpu);
}
#define pelton_util_fits_cpu(pol, s, util, min, max, cpu) (s32) apart_util_fits(util, min, max, cpu)

APART u32 apart_clamped_fits(u32 util, u32 clamped, u32 cpu)
{
	return pelton_clamped_fits_cpu(POLICY, RECORD, util, clamped, cpu);
}
#define pelton_clamped_fits_cpu(pol, s, util, clamped, cpu) (s32) apart_clamped_fits(util, clamped, cpu)

APART u32 apart_task_fits(u32 cpu)
{
	return pelton_task_fits(POLICY, RECORD, PLACED, cpu);
}
#define pelton_task_fits(pol, s, out, cpu) (s32) apart_task_fits(cpu)

#include "pelton/feec_cpu.h"

APART u32 apart_cpu_max(u32 cpu, u32 dst)
{
	return pelton_eenv_cpu_max_util(POLICY, RECORD, PLACED, cpu, dst);
}
#define pelton_eenv_cpu_max_util(pol, s, out, cpu, dst) apart_cpu_max(cpu, dst)

APART u32 apart_limited_busy(u32 cpu, u32 dst)
{
	return pelton_limited_busy(POLICY, RECORD, PLACED, cpu, dst);
}
#define pelton_limited_busy(pol, s, out, cpu, dst) apart_limited_busy(cpu, dst)

#include "pelton/feec_energy.h"

APART u64 apart_busy_time(u32 index, u32 dst)
{
	return pelton_eenv_pd_busy_time(POLICY, RECORD, PLACED, index, dst);
}
#define pelton_eenv_pd_busy_time(pol, s, out, index, dst) apart_busy_time(index, dst)

APART u32 apart_max_util(u32 index, u32 dst)
{
	return pelton_eenv_pd_max_util(POLICY, RECORD, PLACED, index, dst);
}
#define pelton_eenv_pd_max_util(pol, s, out, index, dst) apart_max_util(index, dst)

APART u64 apart_em_energy(u32 index, u32 max_util, u64 busy, u32 allowed)
{
	return pelton_place_em_energy(POLICY, RECORD, index, max_util, busy, allowed);
}
#define pelton_place_em_energy(pol, s, index, max_util, busy, allowed) apart_em_energy(index, max_util, busy, allowed)

APART u32 apart_sync(void)
{
	pelton_sync_entity_load_avg(POLICY, RECORD, PLACED);
	return 0;
}
#define pelton_sync_entity_load_avg(pol, s, out) ((void)apart_sync())

#include "pelton/feec_candidate.h"

APART u32 apart_consider(struct pelton_feec_domain *d, struct pelton_feec_clamps *clamps, u32 cpu)
{
	if (d && clamps)
		pelton_feec_consider(POLICY, RECORD, PLACED, d, clamps, cpu);
	return 0;
}
#define pelton_feec_consider(pol, s, out, d, clamps, cpu) ((void)apart_consider(d, clamps, cpu))

APART u32 apart_margin_consider(struct pelton_feec_margin *f, struct pelton_margin_domain *at, u32 cpu)
{
	if (f && at)
		pelton_margin_consider(POLICY, RECORD, PLACED, f, at, cpu);
	return 0;
}
#define pelton_margin_consider(pol, s, out, f, at, cpu) ((void)apart_margin_consider(f, at, cpu))

APART u64 apart_energy_limited(u32 index, u32 dst)
{
	return pelton_energy_limited(POLICY, RECORD, PLACED, index, dst);
}
#define pelton_energy_limited(pol, s, out, index, dst) apart_energy_limited(index, dst)

APART u32 apart_limited_consider(struct pelton_feec_limited *f, struct pelton_feec_clamps *clamps, u32 cpu)
{
	if (f && clamps)
		pelton_limited_consider(POLICY, RECORD, PLACED, f, clamps, cpu);
	return 0;
}
#define pelton_limited_consider(pol, s, out, f, clamps, cpu) ((void)apart_limited_consider(f, clamps, cpu))

#include "pelton/feec_domain.h"

APART u32 apart_domain(struct pelton_feec *f, u32 index, u64 span)
{
	if (f)
		pelton_feec_domain(POLICY, RECORD, PLACED, f, index, span);
	return 0;
}
#define pelton_feec_domain(pol, s, out, f, index, span) ((void)apart_domain(f, index, span))

APART u32 apart_margin(struct pelton_feec_margin *f, u32 index, u64 span)
{
	if (f)
		pelton_margin_domain(POLICY, RECORD, PLACED, f, index, span);
	return 0;
}
#define pelton_margin_domain(pol, s, out, f, index, span) ((void)apart_margin(f, index, span))

APART u32 apart_limited(struct pelton_feec_limited *f, u32 index, u64 span)
{
	if (f)
		pelton_limited_domain(POLICY, RECORD, PLACED, f, index, span);
	return 0;
}
#define pelton_limited_domain(pol, s, out, f, index, span) ((void)apart_limited(f, index, span))

#include "pelton/feec.h"

APART u32 apart_energy(void)
{
	return pelton_find_energy_efficient_cpu(POLICY, RECORD, PLACED);
}
#define pelton_find_energy_efficient_cpu(pol, s, out) apart_energy()

#endif
