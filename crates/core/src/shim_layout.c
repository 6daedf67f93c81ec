// SPDX-License-Identifier: GPL-2.0-only
/* What C thinks of the shared records, for comparison with the Rust mirrors (tests/layout.rs). */
#include "pelton/schedutil.h"

struct pelton_layout_row {
	const char *record;
	const char *field; /* empty: the record itself */
	u32 offset;
	u32 size;
};

#define REC(s) \
	{ \
#s, "", 0, (u32)sizeof(struct s) \
	}
#define FLD(s, f) \
	{ \
#s, #f, (u32) __builtin_offsetof(struct s, f), (u32)sizeof(((struct s *)0)->f) \
	}

static const struct pelton_layout_row layout[] = {
	REC(pelton_avg),
	FLD(pelton_avg, last_update_time_ns),
	FLD(pelton_avg, load_sum),
	FLD(pelton_avg, runnable_sum),
	FLD(pelton_avg, util_sum),
	FLD(pelton_avg, period_contrib),
	FLD(pelton_avg, load_avg),
	FLD(pelton_avg, runnable_avg),
	FLD(pelton_avg, util_avg),
	FLD(pelton_avg, util_est_enqueued),
	FLD(pelton_avg, util_est_ewma),
	REC(pelton_se),
	FLD(pelton_se, avg),
	FLD(pelton_se, weight),
	FLD(pelton_se, on_rq),
	FLD(pelton_se, running),
	FLD(pelton_se, nr_runnable),
	FLD(pelton_se, delayed),
	REC(pelton_cfs_rq),
	FLD(pelton_cfs_rq, avg),
	FLD(pelton_cfs_rq, load_weight),
	FLD(pelton_cfs_rq, h_nr_runnable),
	FLD(pelton_cfs_rq, nr_queued),
	FLD(pelton_cfs_rq, has_curr),
	FLD(pelton_cfs_rq, propagate),
	FLD(pelton_cfs_rq, prop_runnable_sum),
	FLD(pelton_cfs_rq, removed_load),
	FLD(pelton_cfs_rq, removed_util),
	FLD(pelton_cfs_rq, removed_runnable),
	FLD(pelton_cfs_rq, removed_nr),
	FLD(pelton_cfs_rq, util_est),
	FLD(pelton_cfs_rq, tg_load_avg_contrib),
	FLD(pelton_cfs_rq, throttled_clock_pelt_ns),
	FLD(pelton_cfs_rq, throttled_at_ns),
	FLD(pelton_cfs_rq, tg_update_ns),
	FLD(pelton_cfs_rq, throttle_count),
	FLD(pelton_cfs_rq, reserved),
	REC(pelton_tg),
	FLD(pelton_tg, load_avg),
	FLD(pelton_tg, shares),
	REC(pelton_clock),
	FLD(pelton_clock, clock_ns),
	FLD(pelton_clock, clock_task_ns),
	FLD(pelton_clock, clock_pelt_ns),
	FLD(pelton_clock, lost_idle_ns),
	FLD(pelton_clock, clock_idle_ns),
	FLD(pelton_clock, clock_pelt_idle_ns),
	REC(pelton_rq),
	FLD(pelton_rq, clock),
	FLD(pelton_rq, cfs),
	FLD(pelton_rq, rt),
	FLD(pelton_rq, dl),
	FLD(pelton_rq, irq),
	FLD(pelton_rq, hw),
	FLD(pelton_rq, cap_orig),
	FLD(pelton_rq, freq_scale),
	REC(pelton_cpu_state),
	FLD(pelton_cpu_state, idle_calls),
	FLD(pelton_cpu_state, cap_orig),
	FLD(pelton_cpu_state, util_cfs),
	FLD(pelton_cpu_state, runnable_cfs),
	FLD(pelton_cpu_state, util_est),
	FLD(pelton_cpu_state, util_rt),
	FLD(pelton_cpu_state, util_dl),
	FLD(pelton_cpu_state, util_irq),
	FLD(pelton_cpu_state, bw_dl),
	FLD(pelton_cpu_state, rt_nr_running),
	FLD(pelton_cpu_state, uclamp_used),
	FLD(pelton_cpu_state, uclamp_min),
	FLD(pelton_cpu_state, uclamp_max),
	REC(pelton_perf_terms),
	FLD(pelton_perf_terms, cfs),
	FLD(pelton_perf_terms, rt),
	FLD(pelton_perf_terms, dl),
	FLD(pelton_perf_terms, irq),
	FLD(pelton_perf_terms, effective),
	FLD(pelton_perf_terms, iowait),
	FLD(pelton_perf_terms, min),
	FLD(pelton_perf_terms, max),
	FLD(pelton_perf_terms, headroom),
	FLD(pelton_perf_terms, perf),
	FLD(pelton_perf_terms, forced_max),
	FLD(pelton_perf_terms, stale),
	REC(pelton_sugov_policy),
	FLD(pelton_sugov_policy, last_ns),
	FLD(pelton_sugov_policy, rate_limit_ns),
	FLD(pelton_sugov_policy, next_freq_khz),
	FLD(pelton_sugov_policy, cached_raw_khz),
	FLD(pelton_sugov_policy, work_in_progress),
	FLD(pelton_sugov_policy, limits_changed),
	FLD(pelton_sugov_policy, need_update),
	FLD(pelton_sugov_policy, nr_cpus),
	FLD(pelton_sugov_policy, min_khz),
	FLD(pelton_sugov_policy, max_khz),
	FLD(pelton_sugov_policy, ref_khz),
	FLD(pelton_sugov_policy, cur_khz),
	FLD(pelton_sugov_policy, fast_switch),
	FLD(pelton_sugov_policy, remote_ok),
	FLD(pelton_sugov_policy, freq_invariant),
	FLD(pelton_sugov_policy, hw_max_khz),
	REC(pelton_sugov_cpu),
	FLD(pelton_sugov_cpu, last_update_ns),
	FLD(pelton_sugov_cpu, saved_idle_calls),
	FLD(pelton_sugov_cpu, iowait_boost),
	FLD(pelton_sugov_cpu, iowait_pending),
	FLD(pelton_sugov_cpu, util),
	FLD(pelton_sugov_cpu, bw_min),
	FLD(pelton_sugov_cpu, flags),
	FLD(pelton_sugov_cpu, reserved),
	REC(pelton_decision),
	FLD(pelton_decision, perf),
	FLD(pelton_decision, cpu),
	FLD(pelton_decision, forced_max),
	FLD(pelton_decision, raw_khz),
	FLD(pelton_decision, resolved_khz),
	FLD(pelton_decision, commit),
	REC(pelton_policy),
};

const struct pelton_layout_row *pelton_x_layout(u32 index);

const struct pelton_layout_row *pelton_x_layout(u32 index)
{
	return index < sizeof(layout) / sizeof(layout[0]) ? &layout[index] : 0;
}
