/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's placement, cut where a kernel's verifier needs it.
 *
 * A verifier follows a program path by path, and a loop step by step. A function with global linkage it verifies once,
 * for any arguments, and takes its result for any number. So what a walk asks at each step becomes such a function: it
 * is defined here from the core's own, and the core's walks, whose headers come behind, call it by its name.
 *
 * All work on the policy, the record and the result that a program calls POLICY, RECORD and PLACED. They are in maps:
 * their addresses need no arguments, which are five at most, and no check for null.
 */
#ifndef PELTON_LIVE_DECIDE_H
#define PELTON_LIVE_DECIDE_H

#include "pelton/placement.h"
#include "pelton/margins.h"

#ifndef APART
#define APART __attribute__((noinline))
#endif

/* The bound is a comparison of the register that is used: compilers like to compare a copy. */
static inline const struct pelton_sched_domain *apart_domain_of(u32 cpu, u32 level)
{
	u64 l = level;

	asm volatile("if %0 < %1 goto +1\n%0 = %2" : "+r"(l) : "i"(PELTON_DOMAINS_MAX), "i"(PELTON_DOMAINS_MAX - 1));
	return &pelton_rows(RECORD)->cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)].domains[l];
}
#define pelton_place_domain(s, cpu, level) apart_domain_of(cpu, level)

APART u32 apart_larger(u32 capacity, u32 cpu)
{
	return pelton_place_larger(RECORD, capacity, cpu);
}
#define pelton_place_larger(s, capacity, cpu) apart_larger(capacity, cpu)

APART u32 apart_sched_idle(u32 cpu)
{
	return pelton_choose_sched_idle(POLICY, RECORD, cpu);
}
#define pelton_choose_sched_idle(pol, s, cpu) apart_sched_idle(cpu)

APART u32 apart_idle(u32 cpu)
{
	return pelton_choose_idle_cpu(POLICY, RECORD, cpu);
}
#define pelton_choose_idle_cpu(pol, s, cpu) apart_idle(cpu)

APART u32 apart_available(u32 cpu)
{
	return pelton_available_idle_cpu(RECORD, cpu);
}
#define pelton_available_idle_cpu(s, cpu) apart_available(cpu)

APART u32 apart_core_idle(u32 cpu)
{
	return pelton_is_core_idle(RECORD, cpu);
}
#define pelton_is_core_idle(s, cpu) apart_core_idle(cpu)

APART u32 apart_fits(u32 util, u32 capacity, u32 cap_orig)
{
	return pelton_fits(POLICY, util, capacity, cap_orig);
}
#define pelton_fits(pol, util, capacity, cap_orig) apart_fits(util, capacity, cap_orig)

#include "pelton/energy.h"

/* The compiler is not told the bound, so that it keeps the constant one of each loop: Linux 6.1 knows no other. */
static inline u32 apart_em_count(u32 n)
{
	n = pelton_em_count(n);
	asm volatile("" : "+r"(n));
	return n;
}
#define pelton_em_count(n) apart_em_count(n)

/* The states of a performance domain from its first on, and one of them: masks that every verifier follows. */
static inline const struct pelton_em_state *apart_states(u32 first)
{
	return &pelton_rows(RECORD)->states[first & (PELTON_PLACE_STATES_MAX - 1u)];
}

static inline u32 apart_state(u32 i)
{
	return i & (PELTON_EM_STATES_MAX - 1u);
}

APART u32 apart_serves(u32 first, u32 i, u32 lowest, u64 max_util)
{
	return pelton_em_serves(apart_states(first), apart_state(i), lowest, max_util);
}
#define pelton_em_serves(states, i, lowest, max_util) \
	apart_serves((u32)((states) - pelton_rows(RECORD)->states), i, lowest, max_util)

APART u32 apart_reaches(u32 first, u32 i, u64 khz, u32 passes_over)
{
	return pelton_em_reaches(apart_states(first), apart_state(i), khz, passes_over);
}
#define pelton_em_reaches(states, i, khz, passes_over) \
	apart_reaches((u32)((states) - pelton_rows(RECORD)->states), i, khz, passes_over)

#endif
