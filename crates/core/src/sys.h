/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Rust sees of the core: its headers, and readers of its tables, which are constants of each program. Of all this
 * sys.rs and sys.c have what crates/core names behind `sys::`. No arithmetic here.
 */
#ifndef PELTON_SYS_H
#define PELTON_SYS_H

#include "pelton/types.h"

/* A page is sent over networks: it has no kernel's code. */
#ifndef PELTON_SMALL
struct pelton_policy;
static inline __attribute__((always_inline)) const struct pelton_asked *pelton_asked_under(
	const struct pelton_policy *pol);
#define PELTON_ASKED(pol) pelton_asked_under(pol)
#endif

#include "pelton/pelton.h"
#include "pelton/policy_table.h"
#include "pelton/stable.h"

#ifndef PELTON_SMALL
/* What load tracking asks in this thread (kernel.c). */
extern _Thread_local const struct pelton_asked *pelton_asked_here;

/* The newest kernel's policy is compiled in: no run under a kernel's code has it. */
static inline __attribute__((always_inline)) const struct pelton_asked *pelton_asked_under(
	const struct pelton_policy *pol)
{
	return pol == &pelton_policy_newest ? 0 : pelton_asked_here;
}
#endif

/*
 * The newest kernel's policy is compiled in: its rules are constants. Where room matters more than time they are read
 * as those of any other.
 */
#ifdef PELTON_SMALL
#define IS_NEWEST(policy) 0
#else
extern const struct pelton_policy pelton_newest; /* policy.rs */
#define IS_NEWEST(policy) ((policy) == &pelton_newest)
#endif

PELTON_INLINE u32 pelton_switch_count(void)
{
	return PELTON_SWITCH_COUNT;
}

PELTON_INLINE const struct pelton_switch_info *pelton_switch_at(u32 index)
{
	return index < PELTON_SWITCH_COUNT ? &pelton_switch_table[index] : 0;
}

PELTON_INLINE const struct pelton_parameter_info *pelton_parameter_at(u32 index)
{
	return index < PELTON_PARAMETER_COUNT ? &pelton_parameter_table[index] : 0;
}

PELTON_INLINE const char *pelton_profile_name(u32 index)
{
	return index < pelton_profile_count() ? pelton_profile_names[index] : 0;
}

PELTON_INLINE const struct pelton_stable_series *pelton_stable_series_at(u32 index)
{
	return index < PELTON_STABLE_SERIES_COUNT ? &pelton_stable_table[index] : 0;
}

PELTON_INLINE const struct pelton_stable_rule *pelton_stable_rule_at(u32 index)
{
	return index < PELTON_STABLE_RULE_COUNT ? &pelton_stable_rules[index] : 0;
}

PELTON_INLINE const char *pelton_condition_reason(u32 row)
{
	return row && row <= PELTON_CONDITION_COUNT ? pelton_condition_reasons[row - 1] : 0;
}

PELTON_INLINE const char *pelton_conflict_reason(u32 code)
{
	return code && code <= PELTON_CONFLICT_COUNT ? pelton_conflict_table[code - 1].reason : 0;
}

PELTON_INLINE const struct pelton_bound *pelton_bound_at(u32 index)
{
	return index < PELTON_BOUND_COUNT ? &pelton_bound_table[index] : 0;
}

/* Another weight for an entity: where it runs it is `curr` itself, which Rust may not pass twice. */
PELTON_INLINE void pelton_reweight_entity_of(const struct pelton_policy *pol, const struct pelton_fair_tunables *tun,
					     struct pelton_fair_rq *rq, const struct pelton_fair_se *curr,
					     struct pelton_fair_se *se, u32 runs, u64 weight, u32 inv_weight)
{
	pelton_reweight_entity_fair(pol, tun, rq, runs ? se : curr, se, weight, inv_weight);
}

#endif
