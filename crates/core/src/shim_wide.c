// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of placement and balance for records of more than 64 CPUs. No arithmetic here. */
#define PELTON_PLACE_CPUS_MAX PELTON_PLACE_CPUS_LARGEST
#include "pelton/pelton.h"
#include "pelton/policy_table.h"

/* The newest kernel's policy of `shim.c`, by its address. */
const struct pelton_policy *pelton_x_policy_newest(void);

#define SHIM(name) pelton_w_##name
#define IS_NEWEST(p) ((p) == pelton_x_policy_newest())
#include "shim_both.h"

POLICY_FN(void, lb_follow, (policy_t p, struct pelton_placement *s, u32 cpu), (p, s, cpu))
POLICY_FN(void, lb_rank_groups, (policy_t p, struct pelton_placement *s, u32 cpu, u32 level), (p, s, cpu, level))

/* Where the parts of a record of this size lie, for comparison with the Rust mirror. */
u32 pelton_w_layout(u32 part);
u32 pelton_w_layout(u32 part)
{
	switch (part) {
	case 0:
		return (u32) __builtin_offsetof(struct pelton_placement, cpus);
	case 1:
		return (u32) __builtin_offsetof(struct pelton_placement, sets);
	case 2:
		return (u32)sizeof(struct pelton_place_set);
	case 3:
		return (u32) __builtin_offsetof(struct pelton_placement, kept);
	case 4:
		return (u32)sizeof(struct pelton_lb_kept);
	default:
		return (u32)sizeof(struct pelton_placement);
	}
}
