// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives every inline function of the core that Rust calls an external symbol. No arithmetic here. */
#include "pelton/pelton.h"
#include "pelton/policy_table.h"
#include "pelton/stable.h"

typedef const struct pelton_ctx *ctx_t;
typedef struct pelton_avg *avg_t;
typedef struct pelton_se *se_t;
typedef struct pelton_cfs_rq *cfs_t;
typedef struct pelton_rq *rq_t;
typedef const struct pelton_se *cse_t;
typedef const struct pelton_cfs_rq *ccfs_t;
typedef const struct pelton_rq *crq_t;
typedef struct pelton_sugov_policy *sp_t;
typedef const struct pelton_sugov_policy *csp_t;
typedef struct pelton_sugov_cpu *sc_t;
typedef const struct pelton_cpu_state *state_t;
typedef struct pelton_perf_terms *terms_t;

#define SHIM(name) pelton_x_##name
#define IS_NEWEST(p) ((p) == &pelton_policy_newest)
#include "shim_both.h"

/* The same where the policy is in a context. */
#define CONTEXT_FN(ret, name, params, args) \
	APART ret pelton_any_##name params \
	{ \
		return pelton_##name args; \
	} \
	ret pelton_x_##name params; \
	ret pelton_x_##name params \
	{ \
		if (c->pol != &pelton_policy_newest) \
			return pelton_any_##name args; \
		{ \
			struct pelton_ctx known = { &pelton_policy_newest, c->now, c->cap_orig, c->freq_scale }; \
			ctx_t c = &known; \
			return pelton_##name args; \
		} \
	}

/*
 * The same for a queue of a CPU, at the time that the queue has: `cfs`, or the root queue where that is 0.
 */
#define QUEUE_FN(ret, name, core, params, args) \
	ret pelton_x_##name params; \
	ret pelton_x_##name params \
	{ \
		cfs_t q = cfs ? cfs : &rq->cfs; \
		if (p == &pelton_policy_newest) { \
			policy_t p = &pelton_policy_newest; \
			struct pelton_ctx ctx = pelton_cfs_ctx(p, rq, q); \
			return pelton_##core args; \
		} \
		struct pelton_ctx ctx = pelton_cfs_ctx(p, rq, q); \
		return pelton_any_##core args; \
	}

policy_t pelton_x_policy_newest(void);

policy_t pelton_x_policy_newest(void)
{
	return &pelton_policy_newest;
}

/* policy */
FN(u32, policy_for_profile, (u32 profile, struct pelton_policy *out), (profile, out))
FN(u32, policy_for_stable, (u32 profile, u32 number, struct pelton_policy *out), (profile, number, out))
FN(u32, policy_check, (policy_t p, u32 *a, u32 *b), (p, a, b))
FN(u32, policy_without_effect, (policy_t p, u32 index), (p, index))
FN(u32, policy_reads_rate_limit, (policy_t p), (p))
FN(u32, switch_value_count, (u32 index), (index))

u32 pelton_x_switch_count(void);
const struct pelton_switch_info *pelton_x_switch_info(u32 index);
const struct pelton_parameter_info *pelton_x_parameter_info(u32 index);
const char *pelton_x_profile_name(u32 index);
const struct pelton_stable_series *pelton_x_stable_series(u32 index);
const struct pelton_stable_rule *pelton_x_stable_rule(u32 index);
const char *pelton_x_conflict_reason(u32 code);
const char *pelton_x_condition_reason(u32 row);
const struct pelton_bound *pelton_x_bound(u32 index);

u32 pelton_x_switch_count(void)
{
	return PELTON_SWITCH_COUNT;
}

const struct pelton_switch_info *pelton_x_switch_info(u32 index)
{
	return index < PELTON_SWITCH_COUNT ? &pelton_switch_table[index] : 0;
}

const struct pelton_parameter_info *pelton_x_parameter_info(u32 index)
{
	return index < PELTON_PARAMETER_COUNT ? &pelton_parameter_table[index] : 0;
}

const char *pelton_x_profile_name(u32 index)
{
	return index < pelton_profile_count() ? pelton_profile_names[index] : 0;
}

const struct pelton_stable_series *pelton_x_stable_series(u32 index)
{
	return index < PELTON_STABLE_SERIES_COUNT ? &pelton_stable_table[index] : 0;
}

const struct pelton_stable_rule *pelton_x_stable_rule(u32 index)
{
	return index < PELTON_STABLE_RULE_COUNT ? &pelton_stable_rules[index] : 0;
}

const char *pelton_x_condition_reason(u32 row)
{
	return row && row <= PELTON_CONDITION_COUNT ? pelton_condition_reasons[row - 1] : 0;
}

const char *pelton_x_conflict_reason(u32 code)
{
	return code && code <= PELTON_CONFLICT_COUNT ? pelton_conflict_table[code - 1].reason : 0;
}

const struct pelton_bound *pelton_x_bound(u32 index)
{
	return index < PELTON_BOUND_COUNT ? &pelton_bound_table[index] : 0;
}

/* pelt */
FN(u64, decay_load, (u64 v, u64 n), (v, n))
FN(u64, update_load_sum, (ctx_t c, avg_t a, u64 load, u64 runnable, u64 running), (c, a, load, runnable, running))
FN(void, publish, (policy_t p, avg_t a, u64 weight), (p, a, weight))
CONTEXT_FN(u64, update_load_avg_se, (ctx_t c, se_t se), (c, se))
CONTEXT_FN(u64, update_load_avg_blocked_se, (ctx_t c, se_t se), (c, se))
CONTEXT_FN(u32, update_cfs_rq_load_avg, (ctx_t c, cfs_t cfs), (c, cfs))
FN(u32, update_avg, (ctx_t c, avg_t a, u32 value), (c, a, value))
FN(void, attach_entity_load_avg, (policy_t p, cfs_t cfs, se_t se), (p, cfs, se))
FN(void, detach_entity_load_avg, (policy_t p, cfs_t cfs, cse_t se), (p, cfs, se))
FN(void, reweight, (policy_t p, cfs_t cfs, se_t se, u64 weight), (p, cfs, se, weight))
FN(void, reweight_entity, (policy_t p, cfs_t cfs, se_t se, u64 weight), (p, cfs, se, weight, weight))
FN(u32, keeps_runnable_load, (policy_t p), (p))
FN(u64, se_full_weight, (cse_t se), (se))
FN(u64, full_weight, (u64 units, s32 rest), (units, rest))
FN(u64, scale_load_down, (u64 weight), (weight))
FN(u64, scale_load, (u64 weight), (weight))
CONTEXT_FN(void, sync_blocked, (ctx_t c, ccfs_t cfs, se_t se), (c, cfs, se))
FN(u32, ramp, (u32 util, u32 units), (util, units))
FN(u32, time_to, (u32 util), (util))

/* entities and groups */
CONTEXT_FN(u32, propagate_entity_load_avg, (ctx_t c, cfs_t q, se_t se, cfs_t g), (c, q, se, g))
CONTEXT_FN(u32, update_load_avg, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned, u32 flags), (c, cfs, se, owned, flags))
POLICY_FN(u64, calc_group_shares, (policy_t p, ccfs_t g, const struct pelton_tg *tg, u64 present), (p, g, tg, present))
POLICY_FN(u32, update_tg_load_avg, (policy_t p, struct pelton_tg *tg, cfs_t g, u64 now), (p, tg, g, now))
FN(u64, shares_of_weight, (u32 cpu_weight), (cpu_weight))
FN(u64, weight_of_shares, (u64 shares), (shares))
POLICY_FN(u32, update_cfs_group, (policy_t p, cfs_t q, se_t se, ccfs_t g, const struct pelton_tg *tg),
	  (p, q, se, g, tg))
FN(u32, walk_group, (ctx_t cg, ctx_t cq, cfs_t q, se_t se, cfs_t g, struct pelton_tg *tg, u64 wall),
   (cg, cq, q, se, g, tg, wall))
POLICY_FN(u32, cfs_rq_is_decayed, (policy_t p, ccfs_t g), (p, g))
FN(void, se_init, (se_t se, u64 weight), (se, weight))
FN(void, post_init_entity_util_avg, (policy_t p, ccfs_t cfs, se_t se, u32 cap), (p, cfs, se, cap))
POLICY_FN(void, migrate_sleeping, (policy_t p, rq_t rq, cfs_t cfs, se_t se, u32 idle, u64 wall),
	  (p, rq, cfs ? cfs : &rq->cfs, se, idle, wall))
FN(void, remove_sleeping, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
CONTEXT_FN(u32, switched_from_fair, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
CONTEXT_FN(u32, switched_to_fair, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
FN(void, group_online, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
FN(void, init_other_class, (ctx_t c, se_t se), (c, se))
CONTEXT_FN(u32, enqueue_entity, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned, s32 delta), (c, cfs, se, owned, delta))
CONTEXT_FN(u32, update_ancestor, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned, s32 delta), (c, cfs, se, owned, delta))
CONTEXT_FN(u32, dequeue_entity, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned, s32 delta, u32 flags),
	   (c, cfs, se, owned, delta, flags))
CONTEXT_FN(u32, set_next_entity, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned), (c, cfs, se, owned))
CONTEXT_FN(u32, put_prev_entity, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned), (c, cfs, se, owned))
CONTEXT_FN(u32, tick_entity, (ctx_t c, cfs_t cfs, se_t se, cfs_t owned), (c, cfs, se, owned))
CONTEXT_FN(u32, delay_entity, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
CONTEXT_FN(u32, requeue_entity, (ctx_t c, cfs_t cfs, se_t se), (c, cfs, se))
FN(void, count_runnable, (cfs_t cfs, s32 delta), (cfs, delta))
FN(u32, delay_ends, (cse_t se, u32 flags), (se, flags))
FN(s32, leave_delta, (cse_t se, u32 flags), (se, flags))

/* util_est */
POLICY_FN(u32, se_util_est, (policy_t p, cse_t se), (p, se))
POLICY_FN(u32, task_util_est, (policy_t p, cse_t se), (p, se))
POLICY_FN(void, util_est_enqueue, (policy_t p, cfs_t root, cse_t se), (p, root, se))
POLICY_FN(void, util_est_dequeue, (policy_t p, cfs_t root, cse_t se), (p, root, se))
POLICY_FN(void, util_est_update, (policy_t p, se_t se, u32 cap, u32 sleeps), (p, se, cap, sleeps))
FN(void, util_est_update_u2_low, (se_t se, u32 cap), (&se->avg, (u32)se->avg.util_avg, cap))

/* clock and pressure */
FN(void, rq_init, (policy_t p, rq_t rq, u64 now, u32 cap, u32 freq), (p, rq, now, cap, freq))
POLICY_FN(u64, clock_pelt, (policy_t p, crq_t rq), (p, rq))
POLICY_FN(u64, cfs_rq_clock_pelt, (policy_t p, crq_t rq, ccfs_t cfs), (p, rq, cfs))
FN(void, throttle_clock, (policy_t p, crq_t rq, cfs_t cfs), (p, rq, cfs))
FN(void, unthrottle_clock, (policy_t p, crq_t rq, cfs_t cfs), (p, rq, cfs))
POLICY_FN(u32, clock_update, (policy_t p, rq_t rq, u64 now, u64 irq, u32 idle), (p, rq, now, irq, idle))
POLICY_FN(void, update_idle_rq_clock_pelt, (policy_t p, rq_t rq), (p, rq))
FN(u32, update_rt, (policy_t p, rq_t rq, u32 running), (p, rq, running))
FN(u32, update_dl, (policy_t p, rq_t rq, u32 running), (p, rq, running))
FN(u32, update_irq, (policy_t p, rq_t rq, u64 irq), (p, rq, irq))
POLICY_FN(u32, update_hw, (policy_t p, rq_t rq, u32 lost), (p, rq, lost))
FN(u32, others_have_blocked, (crq_t rq), (rq))
FN(u32, lost_capacity, (u32 cap_orig, u32 limit_khz, u32 ref_khz), (cap_orig, limit_khz, ref_khz))
FN(u32, pressure_now, (policy_t p, u32 policy, u32 cooling), (p, policy, cooling))
FN(u32, pressure_averaged, (policy_t p, u32 cooling), (p, cooling))
POLICY_FN(u32, capacity_of, (policy_t p, crq_t rq, u32 hw, u32 pressure), (p, rq, hw, pressure))
FN(void, rt_share_age, (rq_t rq), (rq))

/* one scheduler event, one call */
POLICY_FN(void, rq_migrate_sleeping, (policy_t p, rq_t rq, se_t se, u32 idle, u64 wall), (p, rq, se, idle, wall))
POLICY_FN(void, rq_enqueue_begin, (policy_t p, rq_t rq, cse_t se, u64 now, u64 irq, u32 idle),
	  (p, rq, se, now, irq, idle))
POLICY_FN(u32, rq_enqueue_finish, (policy_t p, rq_t rq, se_t se), (p, rq, se))
POLICY_FN(u32, rq_enqueue_finish_on, (policy_t p, rq_t rq, cfs_t cfs, se_t se), (p, rq, cfs ? cfs : &rq->cfs, se))
POLICY_FN(u32, rq_enqueue_delayed_on, (policy_t p, rq_t rq, cfs_t cfs, se_t se), (p, rq, cfs ? cfs : &rq->cfs, se))
POLICY_FN(u32, rq_dequeue_task_on, (policy_t p, rq_t rq, cfs_t cfs, se_t se, u64 now, u64 irq, u32 idle, u32 flags),
	  (p, rq, cfs ? cfs : &rq->cfs, se, now, irq, idle, flags))
POLICY_FN(void, rq_estimate_last, (policy_t p, rq_t rq, se_t se, u32 sleeps), (p, rq, se, sleeps))
POLICY_FN(u32, rq_delay_task_on, (policy_t p, rq_t rq, cfs_t cfs, se_t se, u64 now, u64 irq, u32 idle),
	  (p, rq, cfs ? cfs : &rq->cfs, se, now, irq, idle))
QUEUE_FN(u32, rq_enqueue_entity, enqueue_entity, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned, s32 delta),
	 (&ctx, q, se, owned, delta))
QUEUE_FN(u32, rq_update_ancestor, update_ancestor, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned, s32 delta),
	 (&ctx, q, se, owned, delta))
QUEUE_FN(u32, rq_dequeue_entity, dequeue_entity,
	 (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned, s32 delta, u32 flags),
	 (&ctx, q, se, owned, delta, flags))
QUEUE_FN(u32, rq_set_next_entity, set_next_entity, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned),
	 (&ctx, q, se, owned))
QUEUE_FN(u32, rq_put_prev_entity, put_prev_entity, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned),
	 (&ctx, q, se, owned))
QUEUE_FN(u32, rq_tick_entity, tick_entity, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned), (&ctx, q, se, owned))
QUEUE_FN(u32, rq_update_load_avg, update_load_avg, (policy_t p, rq_t rq, cfs_t cfs, se_t se, cfs_t owned, u32 flags),
	 (&ctx, q, se, owned, flags))
QUEUE_FN(u32, rq_switched_from_fair, switched_from_fair, (policy_t p, rq_t rq, cfs_t cfs, se_t se), (&ctx, q, se))
QUEUE_FN(u32, rq_switched_to_fair, switched_to_fair, (policy_t p, rq_t rq, cfs_t cfs, se_t se), (&ctx, q, se))
POLICY_FN(u32, rq_update_blocked_others, (policy_t p, rq_t rq, u64 now, u64 irq, u32 runs, u32 lost),
	  (p, rq, now, irq, runs, lost))
POLICY_FN(u32, rq_enqueue_task, (policy_t p, rq_t rq, se_t se, u64 now, u64 irq, u32 idle), (p, rq, se, now, irq, idle))
POLICY_FN(u32, rq_dequeue_task, (policy_t p, rq_t rq, se_t se, u64 now, u64 irq, u32 idle, u32 flags),
	  (p, rq, se, now, irq, idle, flags))
POLICY_FN(u32, rq_delay_task, (policy_t p, rq_t rq, se_t se, u64 now, u64 irq, u32 idle), (p, rq, se, now, irq, idle))
POLICY_FN(u32, rq_switch_fair, (policy_t p, rq_t rq, se_t prev, se_t next, u64 now, u64 irq, u32 idle),
	  (p, rq, prev, next, now, irq, idle))
POLICY_FN(u32, rq_switch_idle, (policy_t p, rq_t rq, se_t prev, u64 now, u64 irq, u32 idle),
	  (p, rq, prev, now, irq, idle))
POLICY_FN(u32, rq_tick_fair, (policy_t p, rq_t rq, se_t curr, u64 now, u64 irq), (p, rq, curr, now, irq))
POLICY_FN(u32, rq_update_rt, (policy_t p, rq_t rq, u64 now, u64 irq, u32 idle, u32 running),
	  (p, rq, now, irq, idle, running))
POLICY_FN(u32, rq_update_dl, (policy_t p, rq_t rq, u64 now, u64 irq, u32 idle, u32 running),
	  (p, rq, now, irq, idle, running))
POLICY_FN(u32, rq_update_blocked, (policy_t p, rq_t rq, u64 now, u64 irq, u32 runs, u32 lost),
	  (p, rq, now, irq, runs, lost))
FN(u32, rq_has_blocked, (crq_t rq), (rq))

/* performance target and governor */
FN(void, cpu_state_fill, (crq_t rq, u32 bw, u32 rt_nr, u64 idle_calls, struct pelton_cpu_state *out),
   (rq, bw, rt_nr, idle_calls, out))
FN(u32, cpu_util, (policy_t p, state_t s, u32 boost), (p, s, boost))
FN(u32, is_utilized, (policy_t p, state_t s), (p, s))
FN(u32, effective_cpu_util, (policy_t p, state_t s, terms_t t), (p, s, t))
FN(u32, perf_eval, (policy_t p, state_t s, u32 iowait, terms_t t), (p, s, iowait, t))
FN(u32, fair_why, (policy_t p, state_t s), (p, s))
FN(u32, sum_why, (policy_t p, state_t s, const struct pelton_perf_terms *t), (p, s, t))
FN(u32, asks_why, (policy_t p, state_t s, const struct pelton_perf_terms *t), (p, s, t))
FN(u32, fair_rt_within, (policy_t p, state_t s, const struct pelton_perf_terms *t), (p, s, t))
FN(u32, perf_clamped, (u32 util, u32 min, u32 max), (util, min, max))
FN(u32, apply_headroom, (policy_t p, u32 util, u32 min, u32 max), (p, util, min, max))
FN(u64, dl_bw, (u64 runtime, u64 period), (runtime, period))
FN(u32, cpu_bw_dl, (u64 running_bw), (running_bw))
FN(u32, fits_capacity, (u32 util, u32 capacity), (util, capacity))
POLICY_FN(u32, fits, (policy_t p, u32 util, u32 capacity, u32 cap_orig), (p, util, capacity, cap_orig))
FN(u32, freq_scale, (u32 khz, u32 ref), (khz, ref))
FN(u32, scale_irq, (u32 util, u32 irq, u32 cap), (util, irq, cap))
FN(u32, default_rate_limit_us, (policy_t p, u64 latency, u32 delay), (p, latency, delay))
FN(u32, hook_tick_is_long, (u64 tick), (tick))
FN(u64, tick_skew_ns, (policy_t p, u64 tick, u32 cpu, u32 cpus), (p, tick, cpu, cpus))
POLICY_FN(u32, hook_event, (policy_t p, csp_t sp, sc_t sc, crq_t rq, u64 now, u32 kind, u32 how),
	  (p, sp, sc, rq, now, kind, how))
POLICY_FN(u32, hook_switch, (policy_t p, sc_t sc, u32 prev, u32 next, u32 how), (p, sc, prev, next, how))
FN(void, sugov_init, (policy_t p, sp_t sp, u32 rate), (p, sp, rate))
FN(u32, gate_cost_ns, (u32 fast, u64 driver, u64 switches), (fast, driver, switches))
FN(void, gate_init, (policy_t p, sp_t sp, u32 cost), (p, sp, cost))
FN(u64, gate_least_spacing, (policy_t p, csp_t sp), (p, sp))
FN(u64, gate_next_allowed_ns, (policy_t p, csp_t sp), (p, sp))
FN(void, sugov_limits, (sp_t sp, u32 min, u32 max), (sp, min, max))
FN(void, sugov_keep_util, (policy_t p, sc_t sc, state_t s), (p, sc, s))
FN(u32, sugov_knows_last_call, (policy_t p, csp_t sp), (p, sp))
FN(void, sugov_known,
   (policy_t p, csp_t sp, const struct pelton_sugov_cpu *sc, state_t s, struct pelton_cpu_state *known),
   (p, sp, sc, s, known))
FN(u32, sugov_forced_by_flags, (policy_t p, const struct pelton_sugov_cpu *sc), (p, sc))
POLICY_FN(u32, sugov_begin, (policy_t p, sp_t sp, sc_t sc, u32 bw, u64 now, u64 tick, u32 flags, u32 local),
	  (p, sp, sc, bw, now, tick, flags, local))
POLICY_FN(u32, sugov_cpu, (policy_t p, csp_t sp, sc_t sc, state_t s, u64 now, u64 tick, terms_t t),
	  (p, sp, sc, s, now, tick, t))
FN(u32, iowait_is_khz, (policy_t p), (p))
FN(u32, sugov_raw_freq, (policy_t p, csp_t sp, u32 perf, u32 cap, u32 forced), (p, sp, perf, cap, forced))
FN(u32, sugov_resolve, (csp_t sp, const u32 *khz, u32 n, u32 raw), (sp, khz, n, raw))
FN(u32, sugov_commit, (policy_t p, sp_t sp, sc_t sc, state_t s, u64 now, u32 raw, u32 resolved, u32 forced),
   (p, sp, sc, s, now, raw, resolved, forced))
FN(u32, sugov_commit_perf, (policy_t p, sp_t sp, sc_t sc, state_t s, u64 now, u32 previous, u32 target),
   (p, sp, sc, s, now, previous, target))
FN(u32, sugov_work_start, (policy_t p, sp_t sp), (p, sp))
FN(void, sugov_work_done, (policy_t p, sp_t sp), (p, sp))
POLICY_FN(void, sugov_need,
	  (policy_t p, csp_t sp, const struct pelton_perf_terms *t, u32 n, u32 caller, u32 first, const u32 *khz,
	   u32 opps, struct pelton_decision *out),
	  (p, sp, t, n, caller, first, khz, opps, out))
POLICY_FN(void, sugov_decide,
	  (policy_t p, sp_t sp, sc_t sc, state_t s, u64 now, const struct pelton_perf_terms *t, u32 caller, u32 first,
	   const u32 *khz, u32 opps, struct pelton_decision *out),
	  (p, sp, sc, s, now, t, caller, first, khz, opps, out))
FN(u32, sugov_first_largest, (const struct pelton_perf_terms *t, u32 n), (t, n))
POLICY_FN(u32, sugov_ask_again,
	  (policy_t p, csp_t sp, sc_t sc, state_t s, u64 now, u64 tick, terms_t t, u32 i, u32 first),
	  (p, sp, sc, s, now, tick, t, i, first))
FN(void, sugov_evaluate,
   (policy_t p, sp_t sp, sc_t sc, state_t s, u32 caller, u64 now, u64 tick, const u32 *khz, u32 n, terms_t t,
    struct pelton_decision *out),
   (p, sp, sc, s, caller, now, tick, khz, n, t, out))
FN(void, sugov_ask, (policy_t p, csp_t sp, sc_t sc, state_t s, u32 caller, u64 now, u64 tick, terms_t t),
   (p, sp, sc, s, caller, now, tick, t))
FN(u32, sugov_keeps, (policy_t p), (p))

/* balances without a search */
FN(u32, lb_can_be_calm, (policy_t p, u32 flags, u32 energy_aware), (p, flags, energy_aware))

/* schedutil's short way */
FN(u32, sugov_settles, (policy_t p), (p))
POLICY_FN(void, sugov_ask_queues,
	  (policy_t p, csp_t sp, sc_t sc, crq_t rq, u64 bw, u32 rt, u64 now, u64 tick,
	   struct pelton_sugov_request *asked, u32 i, struct pelton_sugov_known *known),
	  (p, sp, sc, rq, bw, rt, now, tick, asked, i, known))
POLICY_FN(void, sugov_known_need,
	  (policy_t p, csp_t sp, const struct pelton_sugov_request *asked, const u32 *khz, u32 opps,
	   struct pelton_sugov_known *known),
	  (p, sp, asked, khz, opps, known))
POLICY_FN(u32, sugov_evaluate_packed,
	  (policy_t p, sp_t sp, sc_t sc, u32 cap, u64 idle_calls, u64 now, const struct pelton_sugov_request *asked,
	   const u32 *khz, u32 opps, struct pelton_sugov_known *known),
	  (p, sp, sc, cap, idle_calls, now, asked, khz, opps, known))

/* energy model */
typedef const struct pelton_em_state *em_t;

FN(u32, em_passes_over, (policy_t p), (p))
FN(u64, em_power_uw, (u64 coefficient, u32 uv, u32 khz), (coefficient, uv, khz))
FN(void, em_create, (policy_t p, struct pelton_em_state *states, u32 n, u32 cap), (p, states, n, cap))
FN(void, em_fill, (struct pelton_em_state * states, u32 n, u32 cap), (states, n, cap))
FN(u64, em_cpu_energy, (em_t states, u32 n, u32 lowest, u32 highest, u64 max_util, u64 sum_util, u64 allowed),
   (states, n, lowest, highest, max_util, sum_util, allowed))

/* placement */
FN(u32, wake_reads_runnable, (policy_t p), (p))
typedef struct pelton_uclamp_rq *max_rq_t;
typedef struct pelton_uclamp_task *max_task_t;
typedef const struct pelton_uclamp_limits *limits_t;
FN(u32, uclamp_is_used, (policy_t p, u32 asked), (p, asked))
FN(u32, uclamp_inherits, (policy_t p, u32 written), (p, written))
FN(void, uclamp_init_rq, (policy_t p, max_rq_t rq), (p, rq))
FN(void, uclamp_rq_inc, (policy_t p, max_rq_t rq, max_task_t t, limits_t l), (p, rq, t, l))
FN(void, uclamp_rq_dec, (max_rq_t rq, max_task_t t), (rq, t))
FN(void, uclamp_update_active, (policy_t p, max_rq_t rq, max_task_t t, limits_t l, u32 changed), (p, rq, t, l, changed))
FN(u32, uclamp_eff_value, (policy_t p, const struct pelton_uclamp_task *t, limits_t l, u32 id), (p, t, l, id))
typedef struct pelton_uclamp_sum_rq *sum_rq_t;
typedef struct pelton_uclamp_sum_task *sum_task_t;
FN(void, uclamp_sum_age_task, (sum_task_t t, const struct pelton_avg *avg, u64 now), (t, avg, now))
FN(void, uclamp_sum_follow, (sum_rq_t rq, const struct pelton_cfs_rq *root), (rq, root))
FN(void, uclamp_sum_update, (policy_t p, sum_rq_t rq, sum_task_t t, u32 util), (p, rq, t, util))
FN(void, uclamp_sum_enqueue, (policy_t p, sum_rq_t rq, sum_task_t t, u32 util), (p, rq, t, util))
FN(u32, uclamp_sum_dequeue, (policy_t p, sum_rq_t rq, sum_task_t t, u32 migrates), (p, rq, t, migrates))
FN(void, uclamp_take_bias, (policy_t p, struct pelton_avg *avg, u32 cut), (p, avg, cut))
FN(void, uclamp_sum_leave, (sum_rq_t rq, sum_task_t t), (rq, t))
FN(u32, uclamp_sum_calls, (policy_t p, const struct pelton_uclamp_sum_task *t), (p, t))
FN(void, uclamp_group, (const u32 *above, const u32 *asked, u32 *out), (above, asked, out))
FN(u32, uclamp_of_percent, (u32 hundredths), (hundredths))
FN(void, uclamp_sum_est_enqueue, (sum_rq_t rq, sum_task_t t, u32 est), (rq, t, est))
FN(void, uclamp_sum_est_dequeue, (sum_rq_t rq, sum_task_t t), (rq, t))
FN(u32, uclamp_sum_util, (policy_t p, const struct pelton_uclamp_sum_rq *rq, u32 util), (p, rq, util))
FN(void, uclamp_sum_state, (policy_t p, const struct pelton_uclamp_sum_rq *rq, u32 rt_min, struct pelton_cpu_state *s),
   (p, rq, rt_min, s))
FN(u32, group_throttled_util,
   (u32 root, u32 util_est, const struct pelton_throttled_group *groups, u32 n, u32 capacity),
   (root, util_est, groups, n, capacity))
FN(u32, group_limited, (u32 root, const struct pelton_throttled_group *groups, u32 n, u32 capacity),
   (root, groups, n, capacity))
FN(s32, group_rest, (u32 root, const struct pelton_throttled_group *groups, u32 n, u32 own, u32 capacity),
   (root, groups, n, own, capacity))
FN(u32, group_est, (u32 est, u32 max, u32 throttle, u32 capacity), (est, max, throttle, capacity))
FN(void, group_throttle_state,
   (const struct pelton_throttled_group *groups, u32 n, u32 est, struct pelton_cpu_state *s), (groups, n, est, s))
FN(s32, task_fits, (policy_t p, place_t s, const struct pelton_placed *out, u32 cpu), (p, s, out, cpu))
FN(u32, place_util_clamped, (policy_t p, place_t s, const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost),
   (p, s, out, cpu, dst, boost))
typedef const struct pelton_sd_level *level_t;
FN(u32, sd_has_clusters, (policy_t p), (p))
FN(u32, sd_imbalance_pct, (policy_t p, level_t l), (p, l))
FN(u32, sd_flags, (policy_t p, level_t l, u32 all), (p, l, all))
FN(u32, sd_asym_searched, (policy_t p), (p))
FN(u32, sd_imb_numa_nr, (level_t levels, u32 n, u32 at), (levels, n, at))
FN(u32, sd_energy_aware, (policy_t p, u32 asymmetric, u32 threads, u32 invariant), (p, asymmetric, threads, invariant))
FN(u32, capacity_greater, (u32 a, u32 b), (a, b))
FN(u64, update_scan_cost, (u64 avg, u64 ns), (avg, ns))
FN(u32, nr_idle_scan, (u64 sum_util, u32 weight, u32 imbalance_pct), (sum_util, weight, imbalance_pct))
POLICY_FN(u32, find_energy_efficient_cpu, (policy_t p, place_t s, struct pelton_placed *out), (p, s, out))
FN(u32, place_util, (policy_t p, place_t s, const struct pelton_placed *out, u32 cpu, u32 dst, u32 boost),
   (p, s, out, cpu, dst, boost))
FN(u32, cache_nice_tries, (const struct pelton_sched_domain *d), (d))
FN(void, lb_domain_init, (struct pelton_lb_domain * st, u32 weight, u64 now), (st, weight, now))
POLICY_FN(u64, sd_balance_interval, (policy_t p, const struct pelton_lb_domain *st, u32 busy, u64 tick_ns, u32 cpus),
	  (p, st, busy, tick_ns, cpus))
FN(u32, lb_is_busy, (policy_t p, u32 idle, u32 idle_tasks_only), (p, idle, idle_tasks_only))
FN(u32, lb_at_once, (policy_t p, u32 idle_only_before, u32 idle_only), (p, idle_only_before, idle_only))
FN(u32, lb_clears_imbalance, (policy_t p, env_t e), (p, e))
FN(u32, dst_group_by_load, (policy_t p), (p))
FN(u32, lb_newest_first, (policy_t p), (p))
FN(void, cpu_load_tick, (struct pelton_cpu_load * l, u64 now, u64 now_ticks), (l, now, now_ticks))
FN(void, cpu_load_nohz_start, (struct pelton_cpu_load * l, u64 now), (l, now))
FN(void, cpu_load_nohz, (struct pelton_cpu_load * l, u64 now, u64 now_ticks), (l, now, now_ticks))
FN(u32, lb_newidle_skips, (const struct pelton_lb_domain *st, u64 avg_idle_ns, u64 spent_ns),
   (st, avg_idle_ns, spent_ns))
POLICY_FN(void, lb_newidle_searched, (policy_t p, struct pelton_lb_domain *st, u64 cost_ns, u64 now),
	  (p, st, cost_ns, now))
FN(u64, lb_newidle_counts_for, (policy_t p, const struct pelton_lb_domain *st, u64 cost_ns, u32 found),
   (p, st, cost_ns, found))
FN(u32, lb_newidle_decay, (struct pelton_lb_domain * st, u64 now), (st, now))
FN(u32, lb_newidle_fades, (policy_t p, u32 before, u32 faded), (p, before, faded))
FN(u32, lb_newidle_throws, (policy_t p, const struct pelton_lb_domain *st), (p, st))
FN(u32, lb_newidle_wins, (const struct pelton_lb_domain *st, u32 draw), (st, draw))
FN(u32, lb_newidle_weight, (policy_t p, const struct pelton_lb_domain *st), (p, st))
FN(void, update_newidle_stats, (policy_t p, struct pelton_lb_domain *st, u32 hits, u64 now), (p, st, hits, now))
FN(void, lb_may_wait, (policy_t p, struct pelton_lb_domain *st, env_t e, u32 migration, u32 weight),
   (p, st, e, migration, weight))
POLICY_FN(void, lb_balanced, (policy_t p, struct pelton_lb_domain *st, env_t e, u32 migration, u32 weight),
	  (p, st, e, migration, weight))
FN(void, lb_moved, (struct pelton_lb_domain * st, u32 weight), (st, weight))
FN(void, lb_failed, (policy_t p, struct pelton_lb_domain *st, env_t e, u32 migration), (p, st, e, migration))
FN(void, lb_again, (struct pelton_lb_domain * st, u32 weight), (st, weight))
FN(u32, check_cpu_capacity, (const struct pelton_place_cpu *c, u32 pct), (c, pct))
FN(void, newidle_spent, (struct pelton_newidle * n, u64 spent_ns), (n, spent_ns))
FN(u32, sd_in_multi_llcs, (const struct pelton_place_cpu *c), (c))
FN(u32, llc_epoch_ticks, (u64 tick_ns), (tick_ns))
FN(void, mm_init_sched, (cache_group_t g, const struct pelton_cache_cpu *c, u64 now), (g, c, now))
FN(u32, invalid_llc_nr, (u32 smt_threads, const struct pelton_cache_group *g, u32 llc_size), (smt_threads, g, llc_size))
FN(u32, task_tick_cache, (cache_group_t g, const struct pelton_cache_cpu *c, u32 asked), (g, c, asked))
FN(u32, wake_affine, (policy_t p, const struct pelton_wake *w), (p, w))
FN(u32, record_wakee, (const struct pelton_place_waker *w), (w))
FN(u32, wake_wide, (u32 waker, u32 wakee, u32 llc), (waker, wakee, llc))
FN(s64, effective_load, (ccfs_t g, const struct pelton_tg *tg, cse_t se, s64 wl, s64 wg), (g, tg, se, wl, wg))
FN(u64, h_load, (u64 part, u64 load, u64 queue), (part, load, queue))
FN(void, wake_in_groups, (struct pelton_wake * w, s64 waker_here, s64 waker_there, s64 task_here, s64 task_there),
   (w, waker_here, waker_there, task_here, task_there))

/* the fair class; where the running entity is asked about itself, `c` may be a copy of it */
typedef const struct pelton_fair_tunables *tun_t;
typedef const struct pelton_fair_rq *cfrq_t;
typedef const struct pelton_fair_se *cfse_t;

FN(u32, task_weight, (u32 level), (level))
FN(u32, task_inv_weight, (u32 level), (level))
FN(u64, calc_delta, (policy_t p, u64 delta, u64 weight, u64 lw_weight, u32 lw_inv),
   (p, delta, weight, lw_weight, lw_inv))
FN(u64, vtime, (policy_t p, u64 delta_ns, cfse_t s), (p, delta_ns, s))
FN(void, fair_tunables_init, (policy_t p, struct pelton_fair_tunables *t, u32 nr_cpus, u64 tick_ns),
   (p, t, nr_cpus, tick_ns))
POLICY_FN(void, update_curr, (policy_t p, struct pelton_fair_se *s, u64 delta_ns), (p, s, delta_ns))
POLICY_FN(void, avg_vruntime_add, (policy_t p, struct pelton_fair_rq *q, cfse_t s), (p, q, s))
POLICY_FN(void, avg_vruntime_sub, (policy_t p, struct pelton_fair_rq *q, cfse_t s), (p, q, s))
POLICY_FN(u32, keeps_min_vruntime, (policy_t p), (p))
POLICY_FN(void, update_min_vruntime, (policy_t p, struct pelton_fair_rq *q, cfse_t c, cfse_t f), (p, q, c, f))
FN(u32, preempt_by_policy, (policy_t p, u32 curr, u32 wakee, u32 curr_at, u32 wakee_at, u32 batch),
   (p, curr, wakee, curr_at, wakee_at, batch))
FN(u32, idle_unprotected, (policy_t p), (p))
FN(u32, has_idle_groups, (policy_t p), (p))
FN(u64, shares_when_idle, (u32 idle), (idle))
FN(u32, shares_writable, (u32 idle), (idle))
FN(s32, h_nr_idle_above, (u32 group_idle, s32 tasks, s32 idle), (group_idle, tasks, idle))
FN(s32, set_idle_delta, (u32 idle, u32 queued, u32 h_nr_idle), (idle, queued, h_nr_idle))
FN(u32, sched_idle_rq, (u32 nr_running, u32 h_nr_idle), (nr_running, h_nr_idle))
FN(u64, slice_period, (policy_t p, tun_t t, cfrq_t q, cfse_t s, u32 all), (p, t, q, s, all))
FN(u64, slice_share, (policy_t p, cfrq_t q, cfse_t s, u64 slice_ns), (p, q, s, slice_ns))
FN(u64, slice_floor, (policy_t p, tun_t t, cfse_t s, u32 idle_only, u64 slice_ns), (p, t, s, idle_only, slice_ns))
FN(void, place_entity_cfs,
   (policy_t p, tun_t t, cfrq_t q, struct pelton_fair_se *s, u32 initial, u64 slice_ns, u64 slept_ns),
   (p, t, q, s, initial, slice_ns, slept_ns))
FN(s32, wakeup_preempt_entity, (policy_t p, tun_t t, cfse_t c, cfse_t s), (p, t, c, s))
FN(u32, check_preempt_tick, (tun_t t, cfse_t c, cfse_t f, u64 slice_ns), (t, c, f, slice_ns))
FN(u32, entity_before_cfs, (cfse_t s, cfse_t o), (s, o))
FN(u32, skip_takes_second, (policy_t p, tun_t t, cfse_t s, cfse_t f), (p, t, s, f))
POLICY_FN(s64, avg_vruntime, (policy_t p, struct pelton_fair_rq *q, cfse_t c), (p, q, c))
FN(s64, hrtick_start_fair, (cfse_t s, u32 util_irq), (s, util_irq))
FN(u32, hrtick_stays, (u64 at_ns, u64 wanted_ns), (at_ns, wanted_ns))
POLICY_FN(u32, entity_eligible, (policy_t p, cfrq_t q, cfse_t c, cfse_t s), (p, q, c, s))
FN(u32, entity_before, (cfse_t s, cfse_t o), (s, o))
POLICY_FN(u32, delay_dequeue, (policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s),
	  (p, t, q, c, s))
POLICY_FN(u32, requeue_delayed, (policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s),
	  (p, t, q, c, s))
FN(void, finish_delayed_dequeue, (struct pelton_fair_se * s), (s))
POLICY_FN(void, leave_entity,
	  (policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s, u32 sleeps),
	  (p, t, q, c, s, sleeps))
POLICY_FN(void, place_entity,
	  (policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s, u32 initial),
	  (p, t, q, c, s, initial))
POLICY_FN(u32, update_deadline, (policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s),
	  (p, t, q, c, s))
FN(void, yield_entity, (policy_t p, tun_t t, struct pelton_fair_rq *q, struct pelton_fair_se *s), (p, t, q, s))
POLICY_FN(u32, protect_slice, (policy_t p, cfse_t s), (p, s))
FN(void, cancel_protect_slice, (policy_t p, struct pelton_fair_se *s), (p, s))
POLICY_FN(void, set_protect_slice, (policy_t p, cfrq_t q, struct pelton_fair_se *s), (p, q, s))
POLICY_FN(u32, preempt_short, (policy_t p, cfrq_t q, cfse_t c, cfse_t s), (p, q, c, s))
POLICY_FN(u32, wakee_may_preempt, (policy_t p, cfse_t s, u32 passes, u32 is_new), (p, s, passes, is_new))
POLICY_FN(void, wakee_waits, (policy_t p, cfrq_t q, struct pelton_fair_se *s, u32 passes), (p, q, s, passes))
POLICY_FN(u32, curr_gives_way, (policy_t p, cfrq_t q, cfse_t c, u32 renewed), (p, q, c, renewed))
POLICY_FN(u32, update_curr_eevdf,
	  (policy_t p, tun_t t, struct pelton_fair_rq *q, struct pelton_fair_se *s, u64 delta_ns),
	  (p, t, q, s, delta_ns))
POLICY_FN(u32, keeps_curr, (policy_t p, cfrq_t q, cfse_t c, u32 protect), (p, q, c, protect))
POLICY_FN(u32, picks_curr, (policy_t p, cfse_t c, cfse_t s), (p, c, s))

void pelton_x_reweight_entity_fair(policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s,
				   u32 runs, u64 weight, u32 inv_weight);

void pelton_x_reweight_entity_fair(policy_t p, tun_t t, struct pelton_fair_rq *q, cfse_t c, struct pelton_fair_se *s,
				   u32 runs, u64 weight, u32 inv_weight)
{
	pelton_reweight_entity_fair(p, t, q, runs ? s : c, s, weight, inv_weight);
}
/* limit of the real-time class */
typedef struct pelton_rt_limit *rt_limit_t;

FN(u32, rt_over, (const struct pelton_rt_limit *own), (own))
FN(void, rt_borrow, (rt_limit_t own, rt_limit_t other, u32 cpus), (own, other, cpus))
FN(u32, rt_exceeded, (rt_limit_t own), (own))
FN(u32, rt_replenish, (rt_limit_t own, u64 overrun), (own, overrun))
FN(void, rt_equal, (policy_t p, rt_limit_t own), (p, own))

/* quotas of task groups */
typedef struct pelton_cfs_bandwidth *cfs_b_t;
typedef struct pelton_cfs_runtime *runtime_t;

u32 pelton_x_set_cfs_bandwidth(policy_t p, cfs_b_t b, u64 quota, u64 period, u64 burst, u64 now);

u32 pelton_x_set_cfs_bandwidth(policy_t p, cfs_b_t b, u64 quota, u64 period, u64 burst, u64 now)
{
	u64 limit[3] = { quota, period, burst };

	return pelton_set_cfs_bandwidth(p, b, limit, now);
}
FN(void, set_cfs_runtime, (policy_t p, runtime_t q), (p, q))
FN(u32, account_cfs_rq_runtime, (policy_t p, cfs_b_t b, runtime_t q, u64 delta, u64 now, u64 tick_ns),
   (p, b, q, delta, now, tick_ns))
FN(u32, enqueue_cfs_rq_runtime, (policy_t p, cfs_b_t b, runtime_t q, u64 now, u64 tick_ns), (p, b, q, now, tick_ns))
FN(u32, throttle_cfs_rq, (policy_t p, cfs_b_t b, runtime_t q, u32 queued, u64 now), (p, b, q, queued, now))
FN(void, note_throttled, (runtime_t q, u64 now), (q, now))
FN(void, unthrottle_cfs_rq, (cfs_b_t b, runtime_t q, u64 now), (b, q, now))
FN(u32, distribute_cfs_runtime, (cfs_b_t b, runtime_t q), (b, q))
FN(u32, return_cfs_rq_runtime, (policy_t p, cfs_b_t b, runtime_t q, u64 now), (p, b, q, now))
FN(u32, cfs_slack_timer, (policy_t p, cfs_b_t b, u64 now), (p, b, now))
FN(u32, cfs_period_timer, (policy_t p, cfs_b_t b, u64 now), (p, b, now))

/* the deadline class */
typedef struct pelton_dl_entity *dl_t;
typedef const struct pelton_dl_entity *cdl_t;

FN(void, setparam_dl, (dl_t d, u64 runtime, u64 deadline, u64 period), (d, runtime, deadline, period))
FN(u32, dl_entity_overflow, (cdl_t d, u64 now), (d, now))
FN(void, dl_new_period, (dl_t d, u64 now), (d, now))
FN(u32, enqueue_dl, (policy_t p, dl_t d, u64 now, u32 wakeup), (p, d, now, wakeup))
FN(void, replenish_dl_entity, (dl_t d, u64 now), (d, now))
FN(u32, update_curr_dl, (policy_t p, dl_t d, u64 delta, u32 freq, u32 cap), (p, d, delta, freq, cap))
FN(u64, dl_next_period, (cdl_t d), (d))
FN(u64, dl_hrtick, (cdl_t d), (d))
FN(u32, dl_timer_starts, (u64 at, u64 now), (at, now))
FN(u64, dl_zero_lag, (cdl_t d), (d))
FN(u32, dl_overflow, (policy_t p, u64 limit, u64 total, u64 old, u64 add, u32 cpus, u64 cap),
   (p, limit, total, old, add, cpus, cap))

/* the server of the fair class */
typedef struct pelton_dl_server *server_t;

FN(void, dl_server_init, (policy_t p, server_t s), (p, s))
FN(u32, dl_server_start, (policy_t p, server_t s, u64 now), (p, s, now))
FN(u32, dl_server_stop, (server_t s, u64 now), (s, now))
FN(void, dl_server_update, (policy_t p, server_t s, u64 now, u64 delta, u32 idle), (p, s, now, delta, idle))
FN(u64, dl_server_slack, (const struct pelton_dl_server *s), (s))
FN(void, dl_server_update_idle_time, (server_t s, u64 delta), (s, delta))
FN(u32, dl_server_expire, (policy_t p, server_t s), (p, s))
FN(u32, dl_server_timer, (server_t s, u64 now), (s, now))
FN(u32, dl_server_inactive, (server_t s), (s))

/* where real-time and deadline tasks go */
typedef const struct pelton_class_task *ctask_t;
typedef const struct pelton_class_cpu *ccpu_t;
typedef const struct pelton_class_curr *ccurr_t;
typedef struct pelton_class_search *search_t;

FN(void, class_begin, (search_t s), (s))
FN(void, find_lowest, (policy_t p, ctask_t t, ccpu_t c, search_t s), (p, t, c, s))
FN(void, find_later, (policy_t p, ctask_t t, ccpu_t c, search_t s), (p, t, c, s))
FN(u32, lowest_rq, (ctask_t t, const struct pelton_class_search *s), (t, s))
FN(u32, later_rq, (policy_t p, ctask_t t, search_t s), (p, t, s))
FN(u32, class_spreads, (policy_t p, ctask_t t, u32 found, u32 deadline), (p, t, found, deadline))
FN(u32, rt_looks, (policy_t p, ctask_t t, ccurr_t curr, u32 cap), (p, t, curr, cap))
FN(u32, select_rt, (policy_t p, ctask_t t, ccurr_t curr, const struct pelton_class_search *s), (p, t, curr, s))
FN(u32, rt_overloaded, (policy_t p, u32 nr, u32 waiting), (p, nr, waiting))
FN(u32, affinity_rank, (policy_t p, u32 cpu, u32 prev), (p, cpu, prev))
FN(u32, need_pull_rt, (u32 prev, u32 prio), (prev, prio))
FN(u32, dl_looks, (policy_t p, ctask_t t, ccurr_t curr, u32 cap), (p, t, curr, cap))

/* CPUs that go idle or are */
typedef const struct pelton_idle_walk *walk_t;
typedef const struct pelton_newidle *cnewidle_t;

FN(void, newidle_init, (struct pelton_newidle * n), (n))
FN(void, newidle_woke, (struct pelton_newidle * n, u64 stay), (n, stay))
FN(u32, newidle_skips, (policy_t p, cnewidle_t n), (p, n))
POLICY_FN(void, newidle_searched, (policy_t p, struct pelton_newidle *n, u64 cost, u64 now), (p, n, cost, now))
FN(u32, newidle_rests, (policy_t p, cnewidle_t n), (p, n))
FN(void, newidle_decay, (struct pelton_newidle * n, u64 now), (n, now))
FN(void, newidle_faded, (struct pelton_newidle * n, u64 lowest_ns, u64 sum_ns), (n, lowest_ns, sum_ns))
POLICY_FN(u32, idle_walk_kick, (policy_t p, walk_t w), (p, w))
POLICY_FN(u32, idle_walk_newly, (policy_t p, walk_t w, cnewidle_t n), (p, w, n))
FN(u32, blocked_walks, (policy_t p), (p))
FN(u32, blocked_scans, (policy_t p), (p))
POLICY_FN(u32, idle_single, (policy_t p, u32 states), (p, states))
POLICY_FN(u32, blocked_due, (policy_t p, u64 now, u64 last, u64 tick, u32 walk), (p, now, last, tick, walk))
FN(u32, newidle_alone, (policy_t p), (p))
POLICY_FN(u32, newidle_closed, (policy_t p, cnewidle_t n), (p, n))
FN(u64, idle_walk_next, (u64 now, u64 tick), (now, tick))

/* idle governors */
typedef const struct pelton_idle_table *table_t;
typedef const struct pelton_idle_now *idle_now_t;
typedef struct pelton_idle_choice *choice_t;

POLICY_FN(void, menu_select, (policy_t p, struct pelton_menu *m, table_t t, idle_now_t now, choice_t out),
	  (p, m, t, now, out))
FN(void, teo_select, (policy_t p, struct pelton_teo *c, table_t t, idle_now_t now, choice_t out), (p, c, t, now, out))
FN(void, idle_woke, (struct pelton_idle_last * last, u64 residency, u32 state, u32 woke),
   (last, residency, state, woke))
FN(u32, menu_typical, (policy_t p, const struct pelton_menu *m, u32 timer_us), (p, m, timer_us))

/* boost */
typedef struct pelton_boost_cpu *boost_t;
FN(u32, boost_group_limit, (policy_t p), (p))
FN(u32, boost_full, (policy_t p, u32 cap), (p, cap))
FN(s32, boost_margin, (policy_t p, u32 full, u32 signal, s32 boost), (p, full, signal, boost))
FN(u32, boosted, (policy_t p, u32 full, u32 signal, s32 boost), (p, full, signal, boost))
FN(void, boost_tasks_update, (policy_t p, boost_t b, u32 idx, u32 comes, u32 stamps, u64 now),
   (p, b, idx, comes, stamps, now))
FN(void, boost_write, (policy_t p, boost_t b, u32 idx, s32 boost, u64 now), (p, b, idx, boost, now))
FN(void, boost_move, (policy_t p, boost_t b, u32 from, u32 to, u64 now), (p, b, from, to, now))
FN(s32, boost_cpu, (policy_t p, boost_t b, u64 now), (p, b, now))
FN(void, boost_state, (policy_t p, struct pelton_cpu_state *s, s32 boost), (p, s, boost))
FN(void, prefer_idle_look, (struct pelton_prefer_idle * s, const struct pelton_idle_candidate *c), (s, c))
FN(s64, filter_payoff, (u32 form, u32 index, s32 e, s32 c), (form, index, e, c))
FN(u32, filter_accepts, (u32 form, u32 boost, s32 e, s32 c), (form, boost, e, c))
FN(u32, filter_accepts_by, (u32 form, u32 boost, u32 constrain, s32 e, s32 c), (form, boost, constrain, e, c))
FN(s32, filter_normalize, (s32 power, u32 min, u32 max), (power, min, max))

/* governors */
typedef struct pelton_sched_dvfs *sd_t;
typedef const struct pelton_sched_dvfs *csd_t;
typedef struct pelton_vote *vote_t;
typedef struct pelton_dbs *dbs_t;
typedef const struct pelton_dbs *cdbs_t;
FN(u32, sched_dvfs_usage, (u64 util, u32 cap), (util, cap))
FN(void, boost_cpu_update, (policy_t p, boost_t b, u64 now), (p, b, now))
FN(u32, sched_dvfs_request, (u32 usage), (usage))
FN(u64, sched_dvfs_window_ns, (policy_t p, u64 latency_ns), (p, latency_ns))
FN(u32, sched_dvfs_tick, (csd_t sd, u32 cap, u32 usage), (sd, cap, usage))
FN(void, sched_dvfs_reset, (vote_t vote), (vote))
FN(u32, sched_dvfs_set_cap, (sd_t sd, vote_t votes, u32 cpu, u32 cap, u32 cap_orig, u64 now),
   (sd, votes, cpu, cap, cap_orig, now))
FN(u32, sched_dvfs_update, (sd_t sd, vote_t votes, u32 cpu, u32 asks, const u32 *khz, u32 n),
   (sd, votes, cpu, asks, khz, n))
FN(u32, sched_dvfs_resolve, (csd_t sd, const u32 *khz, u32 n, u32 raw), (sd, khz, n, raw))
FN(u64, sched_dvfs_due_ns, (policy_t p, csd_t sd, u64 now), (p, sd, now))
FN(void, sched_dvfs_done, (sd_t sd, u32 khz, u64 now), (sd, khz, now))
FN(u64, dbs_sampling_us, (policy_t p, u64 latency_ns, u32 delay_us, u64 tick_ns), (p, latency_ns, delay_us, tick_ns))
FN(u32, dbs_is_due, (cdbs_t d, u64 now), (d, now))
FN(u32, dbs_period_us, (cdbs_t d), (d))
FN(u32, dbs_measures, (cdbs_t d), (d))
FN(void, dbs_begin, (dbs_t d, u64 now), (d, now))
FN(u32, dbs_load, (policy_t p, dbs_t d, struct pelton_dbs_cpu *c, const struct pelton_dbs_times *t), (p, d, c, t))
FN(u32, governor_samples, (policy_t p), (p))
FN(u32, governor_timers, (policy_t p), (p))
FN(u32, governor_votes, (policy_t p), (p))
FN(u32, governor_sampled, (policy_t p, dbs_t d, const u32 *khz, u32 n), (p, d, khz, n))
FN(u32, governor_start_khz, (policy_t p, cdbs_t d, const u32 *khz, u32 n), (p, d, khz, n))
typedef struct pelton_interactive *interactive_t;
typedef const struct pelton_interactive *cinteractive_t;
typedef struct pelton_interactive_cpu *icpu_t;
typedef const struct pelton_interactive_cpu *cicpu_t;
typedef const struct pelton_dbs_times *times_t;
FN(u32, interactive_target_load, (policy_t p, u32 khz), (p, khz))
FN(u32, interactive_delay_us, (policy_t p, u32 khz), (p, khz))
FN(u32, interactive_choose, (policy_t p, cinteractive_t d, const u32 *khz, u32 n, u32 load), (p, d, khz, n, load))
FN(void, interactive_account, (policy_t p, cinteractive_t d, icpu_t c, times_t t), (p, d, c, t))
FN(void, interactive_rearm, (policy_t p, icpu_t c, times_t t), (p, c, t))
FN(u32, interactive_watches, (policy_t p, cinteractive_t d, cicpu_t c), (p, d, c))
FN(u32, interactive_timer, (policy_t p, interactive_t d, icpu_t c, times_t t, const u32 *khz, u32 n),
   (p, d, c, t, khz, n))
FN(u32, interactive_adjust, (cinteractive_t d, icpu_t cpus, u32 nr, const u32 *khz, u32 n), (d, cpus, nr, khz, n))
FN(u32, interactive_boost, (cinteractive_t d, icpu_t c, u64 now_us), (d, c, now_us))
FN(u32, interactive_pulse, (policy_t p, interactive_t d, u64 now_us), (p, d, now_us))
FN(void, interactive_start, (policy_t p, interactive_t d, u32 min, u32 max, u32 cur), (p, d, min, max, cur))
FN(void, interactive_join, (policy_t p, cinteractive_t d, icpu_t c, times_t t), (p, d, c, t))
FN(void, interactive_limits, (cinteractive_t d, icpu_t c), (d, c))
FN(u32, limits_max, (const u32 *khz, u32 n, u32 max), (khz, n, max))
FN(u32, limits_min, (const u32 *khz, u32 n, u32 min, u32 max), (khz, n, min, max))
FN(u32, limits_target, (policy_t p, const u32 *khz, u32 n, u32 min, u32 max, u32 cur, u32 wanted, u32 fast_switch),
   (p, khz, n, min, max, cur, wanted, fast_switch))
FN(void, limits_dbs, (policy_t p, dbs_t d, u32 min, u32 max, u32 cur), (p, d, min, max, cur))

/* thermal zones */
typedef struct pelton_zone *zone_t;

FN(u32, sched_cpu_util, (policy_t p, state_t s), (p, s))
FN(void, zone_read, (policy_t p, zone_t z, s32 temp_mc), (p, z, temp_mc))
FN(u32, zone_crosses, (policy_t p, const struct pelton_zone *z, s32 temp_mc), (p, z, temp_mc))
FN(s32, thermal_trend, (const struct pelton_zone *z), (z))
FN(void, step_wise, (policy_t p, zone_t z), (p, z))
FN(u32, ipa_allocate, (policy_t p, zone_t z, u32 least_mw), (p, z, least_mw))
FN(u32, cooling_state2power, (const u64 *uw, u32 n, u32 state, u32 cpus), (uw, n, state, cpus))
FN(void, cooling_requested, (struct pelton_cooling * c, const u32 *khz, const u64 *uw, u32 n, u32 cur, u32 load),
   (c, khz, uw, n, cur, load))
FN(u32, cooling_power2state, (const struct pelton_cooling *c, const u64 *uw, u32 n), (c, uw, n))
FN(u32, cooling_load, (policy_t p, u32 util, u32 cap, u64 time_us, u64 idle_us), (p, util, cap, time_us, idle_us))
