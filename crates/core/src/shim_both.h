/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the shims of records of at most 64 CPUs and of more have in common. Before it SHIM(name) says how a function is
 * called from outside, and IS_NEWEST(p) whether a policy is the newest kernel's. No arithmetic here.
 */
typedef const struct pelton_policy *policy_t;
typedef const struct pelton_placement *place_t;
typedef const struct pelton_placed *placed_t;
typedef const struct pelton_place_energy *energy_t;
typedef const struct pelton_lb_env *env_t;
typedef struct pelton_cache_group *cache_group_t;
typedef struct pelton_cache_cpu *cache_cpu_t;
typedef struct pelton_cache_time *cache_time_t;

#define FN(ret, name, params, args) \
	ret SHIM(name) params; \
	ret SHIM(name) params \
	{ \
		return pelton_##name args; \
	}

/*
 * What is called at every event is compiled twice: for any policy, and for the newest kernel's, whose values are
 * constants to the compiler there, so that no switch is left. The address of a policy says which of the two it is. The
 * general form is a function of its own: the registers that it needs are not saved on the way to the other one.
 */
#define APART static __attribute__((noinline))

#define POLICY_FN(ret, name, params, args) \
	APART ret pelton_any_##name params \
	{ \
		return pelton_##name args; \
	} \
	ret SHIM(name) params; \
	ret SHIM(name) params \
	{ \
		if (!IS_NEWEST(p)) \
			return pelton_any_##name args; \
		{ \
			policy_t p = &pelton_policy_newest; \
			return pelton_##name args; \
		} \
	}

POLICY_FN(u32, select_task_rq_fair, (policy_t p, place_t s, struct pelton_placed *out), (p, s, out))
POLICY_FN(s32, util_fits_cpu, (policy_t p, place_t s, u32 util, u32 min, u32 max, u32 cpu), (p, s, util, min, max, cpu))
FN(u32, eenv_cpu_max_util, (policy_t p, place_t s, placed_t out, u32 cpu, u32 dst), (p, s, out, cpu, dst))
FN(u32, eenv_cpu_busy_time, (policy_t p, place_t s, placed_t out, u32 cpu, u32 dst), (p, s, out, cpu, dst))
FN(u64, eenv_task_busy_time, (policy_t p, place_t s, placed_t out), (p, s, out))
FN(u64, priced_cost, (policy_t p, place_t s, energy_t e), (p, s, e))
FN(u32, priced_allowed, (policy_t p, place_t s, energy_t e), (p, s, e))
FN(u32, priced_khz, (policy_t p, place_t s, energy_t e), (p, s, e))
FN(u32, priced_divisor, (policy_t p, place_t s, energy_t e), (p, s, e))
FN(void, placed_start, (place_t s, struct pelton_placed *out), (s, out))
FN(u64, wake_cap_load, (policy_t p, place_t s, struct pelton_placed *out), (p, s, out))
FN(u32, find_dst_start,
   (policy_t p, place_t s, struct pelton_placed *out, u32 cpu, u32 level, struct pelton_dst_walk *w),
   (p, s, out, cpu, level, w))
FN(void, find_dst_step, (policy_t p, place_t s, struct pelton_placed *out, struct pelton_dst_walk *w), (p, s, out, w))
FN(void, dst_group_sums, (policy_t p, place_t s, placed_t out, u32 cpu, u32 level, u32 of, struct pelton_group_sums *g),
   (p, s, out, cpu, level, of, g))
FN(u64, misfit_load, (policy_t p, place_t s, placed_t out, u32 cpu, u32 biggest), (p, s, out, cpu, biggest))
POLICY_FN(u32, cpu_overutilized, (policy_t p, place_t s, u32 cpu), (p, s, cpu))
POLICY_FN(u32, should_we_balance, (policy_t p, place_t s, env_t e), (p, s, e))
FN(void, lb_activated, (policy_t p, place_t s, struct pelton_lb_domain *st, env_t e, u32 migration),
   (p, s, st, e, migration))
POLICY_FN(pelton_span, find_src_group, (policy_t p, place_t s, env_t e, struct pelton_lb *lb), (p, s, e, lb))
FN(void, record_sg_llc_stats, (policy_t p, struct pelton_placement *s, env_t e), (p, s, e))
POLICY_FN(u32, find_src_rq, (policy_t p, place_t s, env_t e, struct pelton_lb *lb), (p, s, e, lb))
POLICY_FN(u32, can_migrate_task,
	  (policy_t p, place_t s, struct pelton_lb_env *e, const struct pelton_lb_task *t, u32 migration),
	  (p, s, e, t, migration))
POLICY_FN(u32, detach_task,
	  (policy_t p, place_t s, struct pelton_lb_env *e, struct pelton_lb *lb, const struct pelton_lb_task *t),
	  (p, s, e, lb, t))
POLICY_FN(u32, need_active_balance, (policy_t p, place_t s, env_t e, u32 migration), (p, s, e, migration))
FN(u32, sched_cache_enabled, (policy_t p, place_t s), (p, s))
FN(void, account_mm_sched,
   (place_t s, cache_group_t g, cache_cpu_t c, cache_time_t t, u32 cpu, u64 delta, u64 now, u32 period),
   (s, g, c, t, cpu, delta, now, period))
FN(u32, get_pref_llc, (place_t s, const struct pelton_cache_group *g), (s, g))
FN(u32, task_cache_work, (place_t s, cache_group_t g, cache_cpu_t c, cache_time_t t, u32 cpu, u64 now, u32 period),
   (s, g, c, t, cpu, now, period))
