// SPDX-License-Identifier: GPL-2.0-only
/* The rules of placement and balance for records of more than 64 CPUs. No arithmetic here. */
#define PELTON_PLACE_CPUS_MAX 1024u
#include "pelton/pelton.h"
#include "pelton/policy_table.h"

typedef const struct pelton_policy *policy_t;
typedef const struct pelton_placement *place_t;
typedef const struct pelton_placed *placed_t;
typedef const struct pelton_lb_env *env_t;

const struct pelton_policy *pelton_x_policy_newest(void);

#define APART static __attribute__((noinline))

#define FN(ret, name, params, args) \
	ret pelton_w_##name params; \
	ret pelton_w_##name params \
	{ \
		return pelton_##name args; \
	}

/* For any policy, and for the newest kernel's (shim.c). */
#define POLICY_FN(ret, name, params, args) \
	APART ret pelton_any_##name params \
	{ \
		return pelton_##name args; \
	} \
	ret pelton_w_##name params; \
	ret pelton_w_##name params \
	{ \
		if (p != pelton_x_policy_newest()) \
			return pelton_any_##name args; \
		{ \
			policy_t p = &pelton_policy_newest; \
			return pelton_##name args; \
		} \
	}

POLICY_FN(u32, select_task_rq_fair, (policy_t p, place_t s, struct pelton_placed *out), (p, s, out))
POLICY_FN(s32, util_fits_cpu, (policy_t p, place_t s, u32 util, u32 min, u32 max, u32 cpu), (p, s, util, min, max, cpu))
FN(void, placed_start, (place_t s, struct pelton_placed *out), (s, out))
FN(u64, misfit_load, (policy_t p, place_t s, placed_t out, u32 cpu, u32 biggest), (p, s, out, cpu, biggest))
POLICY_FN(u32, cpu_overutilized, (policy_t p, place_t s, u32 cpu), (p, s, cpu))
POLICY_FN(u32, should_we_balance, (policy_t p, place_t s, env_t e), (p, s, e))
FN(void, lb_activated, (policy_t p, place_t s, struct pelton_lb_domain *st, env_t e, u32 migration),
   (p, s, st, e, migration))
POLICY_FN(pelton_span, find_src_group, (policy_t p, place_t s, env_t e, struct pelton_lb *lb), (p, s, e, lb))
POLICY_FN(u32, find_src_rq, (policy_t p, place_t s, env_t e, struct pelton_lb *lb), (p, s, e, lb))
POLICY_FN(u32, can_migrate_task,
	  (policy_t p, place_t s, struct pelton_lb_env *e, const struct pelton_lb_task *t, u32 migration),
	  (p, s, e, t, migration))
POLICY_FN(u32, detach_task,
	  (policy_t p, place_t s, struct pelton_lb_env *e, struct pelton_lb *lb, const struct pelton_lb_task *t),
	  (p, s, e, lb, t))
POLICY_FN(u32, need_active_balance, (policy_t p, place_t s, env_t e, u32 migration), (p, s, e, migration))
FN(void, record_sg_llc_stats, (policy_t p, struct pelton_placement *s, env_t e), (p, s, e))
typedef struct pelton_cache_group *cache_group_t;
typedef struct pelton_cache_cpu *cache_cpu_t;
typedef struct pelton_cache_time *cache_time_t;
FN(u32, sched_cache_enabled, (policy_t p, place_t s), (p, s))
FN(void, account_mm_sched,
   (place_t s, cache_group_t g, cache_cpu_t c, cache_time_t t, u32 cpu, u64 delta, u64 now, u32 period),
   (s, g, c, t, cpu, delta, now, period))
FN(u32, get_pref_llc, (place_t s, const struct pelton_cache_group *g), (s, g))
FN(u32, task_cache_work, (place_t s, cache_group_t g, cache_cpu_t c, cache_time_t t, u32 cpu, u64 now, u32 period),
   (s, g, c, t, cpu, now, period))

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
	default:
		return (u32)sizeof(struct pelton_placement);
	}
}
