// SPDX-License-Identifier: GPL-2.0-or-later
/* Every number of a case by name: to compare, to print, to make simpler. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

struct field {
	const char *name;
	u32 at;
	u32 size;
};

#define F(field) { #field, offsetof(struct oracle_state, field), sizeof(((struct oracle_state *)0)->field) }
#define AVG(r) \
	F(r.last_update_time_ns), F(r.load_sum), F(r.runnable_sum), F(r.util_sum), F(r.period_contrib), F(r.load_avg), \
		F(r.runnable_avg), F(r.util_avg), F(r.util_est_enqueued), F(r.util_est_ewma)
#define CFS(r) \
	AVG(r.avg), F(r.load_weight), F(r.weight_rest), F(r.h_nr_runnable), F(r.nr_queued), F(r.has_curr), \
		F(r.propagate), F(r.prop_runnable_sum), F(r.removed_load), F(r.removed_util), F(r.removed_runnable), \
		F(r.removed_nr), F(r.util_est), F(r.tg_load_avg_contrib), F(r.tg_update_ns), F(r.throttle_count), \
		F(r.throttled_at_ns), F(r.throttled_clock_pelt_ns)
#define SE(r) AVG(r.avg), F(r.weight), F(r.weight_rest), F(r.on_rq), F(r.running), F(r.nr_runnable), F(r.delayed)
#define CLOCK(r) \
	F(r.clock_ns), F(r.clock_task_ns), F(r.clock_pelt_ns), F(r.lost_idle_ns), F(r.clock_idle_ns), \
		F(r.clock_pelt_idle_ns)
#define SC(i) \
	F(sc[i].last_update_ns), F(sc[i].saved_idle_calls), F(sc[i].iowait_boost), F(sc[i].iowait_pending), \
		F(sc[i].util), F(sc[i].bw_min)
#define CS(i) \
	F(cs[i].idle_calls), F(cs[i].cap_orig), F(cs[i].util_cfs), F(cs[i].runnable_cfs), F(cs[i].util_est), \
		F(cs[i].util_rt), F(cs[i].util_dl), F(cs[i].util_irq), F(cs[i].bw_dl), F(cs[i].rt_nr_running), \
		F(cs[i].uclamp_used), F(cs[i].uclamp_min), F(cs[i].uclamp_max)
#define BIN(i) F(teo.hits[i]), F(teo.intercepts[i]), F(teo.misses[i]), F(teo.recent[i])
#define IDLE(i) F(table.states[i].exit_ns), F(table.states[i].residency_ns)
#define LAST(r) F(r.last.valid), F(r.last.residency_ns), F(r.last.state), F(r.last.woke)
#define EM(i) F(em[i].power_uw), F(em[i].performance), F(em[i].cost), F(em[i].freq_khz), F(em[i].inefficient)
#define LEVEL(i) \
	F(level[i].idle), F(level[i].on_rq), F(level[i].h_nr_queued), F(level[i].h_nr_idle), F(level[i].nr_idle)
#define FSE(i) \
	F(fair.se[i].weight), F(fair.se[i].vruntime), F(fair.se[i].deadline), F(fair.se[i].vlag), F(fair.se[i].vprot), \
		F(fair.se[i].slice_ns), F(fair.se[i].ran_ns), F(fair.se[i].inv_weight), F(fair.se[i].custom_slice), \
		F(fair.se[i].rel_deadline), F(fair.se[i].delayed), F(fair.se[i].on_rq), F(fair.se[i].idle_policy)
#define FRQ \
	F(fair.rq.zero_vruntime), F(fair.rq.sum_w_vruntime), F(fair.rq.sum_weight), F(fair.rq.load_weight), \
		F(fair.rq.nr_queued), F(fair.rq.nr_idle)
#define DC(i) \
	F(dc[i].prev_wall_us), F(dc[i].prev_idle_us), F(dc[i].prev_nice_ns), F(dc[i].prev_load), F(dt[i].wall_us), \
		F(dt[i].idle_us), F(dt[i].iowait_us), F(dt[i].nice_ns)
#define CC(i) F(class_cpu[i].deadline_ns), F(class_cpu[i].prio), F(class_cpu[i].capacity)
#define LBD(i) \
	F(remembered[i].newidle_calls), F(remembered[i].newidle_hits), F(remembered[i].newidle_ratio), \
		F(remembered[i].newidle_since_ns), F(remembered[i].newidle_cost_ns), \
		F(remembered[i].newidle_decayed_ns)
#define CA(i) \
	F(cache_cpu[i].runtime_ns), F(cache_cpu[i].epoch), F(cache_cpu[i].epoch_next_ticks), F(cache_cpu[i].runs), \
		F(cache_time[i].runtime_ns), F(cache_time[i].epoch)
#define EIGHT(X) X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7)

static const struct field fields[] = {
	F(now),
	F(irq),
	F(weight),
	F(h_load),
	F(group),
	F(flags),
	F(running),
	F(idle),
	F(lost),
	F(cap),
	F(sleeps),
	F(into),
	F(cpu),
	F(local),
	F(opps),
	F(iowait),
	F(util),
	F(lowest),
	F(highest),
	F(events),
	F(r.cap_orig),
	F(r.freq_scale),
	CLOCK(r.clock),
	AVG(r.rt),
	AVG(r.dl),
	AVG(r.irq),
	AVG(r.hw),
	CFS(r.cfs),
	CFS(q),
	CFS(g),
	SE(se),
	SE(gse),
	F(tg.load_avg),
	F(tg.shares),
	F(sp.last_ns),
	F(sp.rate_limit_ns),
	F(sp.next_freq_khz),
	F(sp.cached_raw_khz),
	F(sp.work_in_progress),
	F(sp.limits_changed),
	F(sp.need_update),
	F(sp.nr_cpus),
	F(sp.min_khz),
	F(sp.max_khz),
	F(sp.ref_khz),
	F(sp.cur_khz),
	F(sp.fast_switch),
	F(sp.remote_ok),
	F(sp.freq_invariant),
	F(sp.need_update_limits),
	SC(0),
	SC(1),
	SC(2),
	SC(3),
	CS(0),
	CS(1),
	CS(2),
	CS(3),
	F(wake.this_load),
	F(wake.prev_load),
	F(wake.task_load),
	F(wake.waker_load),
	F(wake.this_capacity),
	F(wake.prev_capacity),
	F(wake.siblings),
	F(wake.sync),
	F(wake.this_idle),
	F(wake.prev_idle),
	F(wake.this_running),
	LAST(menu),
	F(menu.next_timer_ns),
	F(menu.bucket),
	F(menu.position),
	F(menu.factor[0]),
	F(menu.factor[1]),
	F(menu.factor[2]),
	F(menu.factor[3]),
	F(menu.factor[4]),
	F(menu.factor[5]),
	F(menu.factor[6]),
	F(menu.factor[7]),
	F(menu.factor[8]),
	F(menu.factor[9]),
	F(menu.factor[10]),
	F(menu.factor[11]),
	F(menu.interval_us[0]),
	F(menu.interval_us[1]),
	F(menu.interval_us[2]),
	F(menu.interval_us[3]),
	F(menu.interval_us[4]),
	F(menu.interval_us[5]),
	F(menu.interval_us[6]),
	F(menu.interval_us[7]),
	LAST(teo),
	F(teo.sleep_ns),
	F(teo.total),
	F(teo.total_tick),
	F(teo.tick_intercepts),
	F(teo.short_idles),
	F(teo.position),
	F(teo.early[0]),
	F(teo.early[1]),
	F(teo.early[2]),
	F(teo.early[3]),
	F(teo.early[4]),
	F(teo.early[5]),
	F(teo.early[6]),
	F(teo.early[7]),
	F(teo.recent_bin[0]),
	F(teo.recent_bin[1]),
	F(teo.recent_bin[2]),
	F(teo.recent_bin[3]),
	F(teo.recent_bin[4]),
	F(teo.recent_bin[5]),
	F(teo.recent_bin[6]),
	F(teo.recent_bin[7]),
	F(teo.recent_bin[8]),
	F(teo.tick_hits),
	EIGHT(BIN),
	BIN(8),
	BIN(9),
	F(table.count),
	F(table.polling),
	EIGHT(IDLE),
	IDLE(8),
	IDLE(9),
	F(idle_now.sleep_ns),
	F(idle_now.event_ns),
	F(idle_now.tick_ns),
	F(idle_now.latency_ns),
	F(idle_now.tick_stopped),
	F(idle_now.iowaiters),
	F(idle_now.utilized),
	F(choice.state),
	F(choice.stop_tick),
	F(em_count),
	EIGHT(EM),
	FRQ,
	F(fair.curr),
	F(fair.n),
	F(fair.all),
	EIGHT(FSE),
	LEVEL(0),
	LEVEL(1),
	LEVEL(2),
	FSE(8),
	FSE(9),
	FSE(10),
	FSE(11),
	F(dl.entity.runtime_ns),
	F(dl.entity.deadline_ns),
	F(dl.entity.dl_runtime_ns),
	F(dl.entity.dl_deadline_ns),
	F(dl.entity.dl_period_ns),
	F(dl.entity.dl_bw),
	F(dl.entity.dl_density),
	F(dl.entity.dl_throttled),
	F(dl.entity.dl_yielded),
	F(server.dl.runtime_ns),
	F(server.dl.deadline_ns),
	F(server.dl.dl_runtime_ns),
	F(server.dl.dl_deadline_ns),
	F(server.dl.dl_period_ns),
	F(server.dl.dl_bw),
	F(server.dl.dl_density),
	F(server.dl.dl_throttled),
	F(server.dl.dl_yielded),
	F(server.timer_ns),
	F(server.inactive_ns),
	F(server.dl_server_active),
	F(server.dl_defer_running),
	F(server.dl_defer_armed),
	F(server.dl_defer_idle),
	F(server.dl_non_contending),
	F(server.on_dl_rq),
	F(dl.limit_bw),
	F(dl.total_bw),
	F(dl.old_bw),
	F(dl.add_bw),
	F(dl.capacity),
	F(quota.quota_ns),
	F(quota.period_ns),
	F(quota.burst_ns),
	F(quota.runtime_ns),
	F(quota.runtime_snap_ns),
	F(quota.runtime_expires_ns),
	F(quota.expires_seq),
	F(quota.period_end_ns),
	F(quota.slack_end_ns),
	F(quota.throttled_time_ns),
	F(quota.burst_time_ns),
	F(quota.nr_periods),
	F(quota.nr_throttled),
	F(quota.nr_burst),
	F(quota.nr_waiting),
	F(quota.idle),
	F(quota.period_active),
	F(quota.slack_started),
	F(runtime.remaining_ns),
	F(runtime.expires_ns),
	F(runtime.throttled_clock_ns),
	F(runtime.throttled),
	F(class_task.deadline_ns),
	F(class_task.dl_runtime_ns),
	F(class_task.dl_deadline_ns),
	F(class_task.dl_density),
	F(class_task.prio),
	F(class_task.uclamp_min),
	F(class_task.uclamp_max),
	F(class_task.last_found),
	F(class_task.asymmetric),
	F(class_curr.deadline_ns),
	F(class_curr.prio),
	F(class_curr.nr_cpus_allowed),
	EIGHT(CC),
	F(tune.up_threshold),
	F(tune.down_threshold),
	F(tune.sampling_down_factor),
	F(tune.freq_step),
	F(tune.powersave_bias),
	F(tune.ignore_nice_load),
	F(tune.io_is_busy),
	F(dbs.sampling_us),
	F(dbs.cur_khz),
	F(dbs.min_khz),
	F(dbs.max_khz),
	F(dbs.hw_min_khz),
	F(dbs.hw_max_khz),
	F(dbs.rate_mult),
	F(dbs.idle_periods),
	F(dbs.load),
	F(dbs.sample_load),
	F(dbs.requested_khz),
	F(dbs.down_skip),
	F(dbs.low_khz),
	F(dbs.low_us),
	F(dbs.high_us),
	F(dbs.at_high),
	F(dbs.delay_us),
	F(dbs.descends),
	DC(0),
	DC(1),
	DC(2),
	DC(3),
	F(khz[0]),
	F(khz[1]),
	F(khz[2]),
	F(khz[3]),
	F(khz[4]),
	F(khz[5]),
	F(khz[6]),
	F(khz[7]),
	F(khz[8]),
	F(khz[9]),
	LBD(0),
	LBD(1),
	LBD(2),
	F(newidle.avg_idle_ns),
	F(newidle.max_cost_ns),
	EIGHT(CA),
	F(cache_group.epoch),
	F(cache_group.nr_running_avg),
	F(cache_group.next_scan_ticks),
	F(cache_group.cpu),
	F(cache_group.threads),
	F(ret),
	F(aux),
	F(aux2),
};

u32 field_count(void)
{
	return sizeof(fields) / sizeof(fields[0]);
}

const char *field_name(u32 i)
{
	return fields[i].name;
}

u64 field_get(const struct oracle_state *s, u32 i)
{
	const char *at = (const char *)s + fields[i].at;
	u32 narrow;
	u64 wide;

	if (fields[i].size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

void field_set(struct oracle_state *s, u32 i, u64 v)
{
	char *at = (char *)s + fields[i].at;
	u32 narrow = (u32)v;

	if (fields[i].size == sizeof(v))
		memcpy(at, &v, sizeof(v));
	else
		memcpy(at, &narrow, sizeof(narrow));
}

/* Number of the first field that differs, from 1; 0 = none. */
u32 first_difference(const struct oracle_state *a, const struct oracle_state *b)
{
	u32 i;

	if (!memcmp(a, b, sizeof(*a)))
		return 0;
	for (i = 0; i < field_count(); i++)
		if (field_get(a, i) != field_get(b, i))
			return i + 1;
	return 0;
}

void print_case(const struct oracle_state *in, const struct oracle_state *k, const struct oracle_state *p)
{
	u32 i;

	for (i = 0; i < field_count(); i++)
		if (field_get(k, i) != field_get(p, i))
			printf("    %-28s kernel %lld core %lld\n", field_name(i), (s64)field_get(k, i),
			       (s64)field_get(p, i));
	printf("    of:");
	for (i = 0; i < field_count(); i++)
		if (field_get(in, i))
			printf(" %s=%lld", field_name(i), (s64)field_get(in, i));
	printf("\n");
}
