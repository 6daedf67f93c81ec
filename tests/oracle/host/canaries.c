// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wrong rules, each found by this comparison in the core's past and put back here in the place of the core's form: the
 * comparison must notice every one of them. Wrong constants are compiled in (tests/conformance/canary.h).
 */
#include "host.h"

/* A: an entity brought up in its sleep lost its mark "not published since". */
static void lost_mark(struct oracle_state *s)
{
	struct pelton_ctx ctx = ctx_at(s->now, 1024);

	s->ret = pelton_update_load_avg_blocked_se(&ctx, &s->se) != 0;
	if (s->ret)
		s->se.avg.util_est_enqueued &= ~PELTON_UTIL_EST_UNCHANGED;
}

/* B: the first estimate of a task used the weight of averages where the kernel used its own, 1024 times as large. */
static void small_weight(struct oracle_state *s)
{
	u64 cap = pelton_sub_floor(s->cap, s->q.avg.util_avg) / 2, util = cap;

	if (cap && s->q.avg.util_avg)
		util = pelton_min_u64(cap, s->q.avg.util_avg * s->se.weight / (s->q.avg.load_avg + 1));
	if (cap)
		s->se.avg.util_avg = util;
	s->se.avg.runnable_avg = s->se.avg.util_avg;
}

/* C: lost capacity taken from the maximum instead of counted as used. */
static void late_pressure(struct oracle_state *s)
{
	u32 cap = pelton_sub_floor_u32(s->r.cap_orig, (u32)s->r.hw.load_avg), irq = (u32)s->r.irq.util_avg;
	u32 used = (u32)(s->r.rt.util_avg + s->r.dl.util_avg);

	s->ret = 1;
	if (irq < cap && used < cap)
		s->ret = pelton_max_u32(1, pelton_mul_div_floor(cap - used, cap - irq, cap));
}

/* D: no floor under a sum that something was added to. */
static void no_floor_after_attach(struct oracle_state *s)
{
	pelton_align_sums(&oracle_policy, &s->q, &s->se);
	s->q.avg.load_avg += s->se.avg.load_avg;
	s->q.avg.load_sum += s->se.weight * s->se.avg.load_sum;
	s->q.avg.util_avg += s->se.avg.util_avg;
	s->q.avg.util_sum += s->se.avg.util_sum;
	s->q.avg.runnable_avg += s->se.avg.runnable_avg;
	s->q.avg.runnable_sum += s->se.avg.runnable_sum;
	pelton_add_propagation(&s->q, (s64)s->se.avg.load_sum);
}

/* Takes `avg` and `sum` out of a signal and keeps the floor of 5.14 and later under it. */
static void take(u64 *q_avg, u64 *q_sum, u64 avg, u64 sum)
{
	*q_avg = pelton_sub_floor(*q_avg, avg);
	*q_sum = pelton_max_u64(pelton_sub_floor(*q_sum, sum), *q_avg * PELTON_MIN_DIVISOR);
}

/* E: the floor of later kernels where 5.10 makes the sum anew. */
static void floor_at_detach(struct oracle_state *s)
{
	u64 util_sum = s->q.avg.util_sum;

	take(&s->q.avg.load_avg, &s->q.avg.load_sum, s->se.avg.load_avg, s->se.weight * s->se.avg.load_sum);
	take(&s->q.avg.util_avg, &util_sum, s->se.avg.util_avg, s->se.avg.util_sum);
	take(&s->q.avg.runnable_avg, &s->q.avg.runnable_sum, s->se.avg.runnable_avg, s->se.avg.runnable_sum);
	s->q.avg.util_sum = (u32)util_sum;
	pelton_add_propagation(&s->q, -(s64)s->se.avg.load_sum);
}

/* F: a floor under the load sum where 5.10 has none. */
static void floor_at_reweight(struct oracle_state *s)
{
	struct pelton_se *se = &s->se;

	if (se->on_rq)
		pelton_update_load_sub(&s->q, se);
	if (se->avg.last_update_time_ns)
		take(&s->q.avg.load_avg, &s->q.avg.load_sum, se->avg.load_avg, se->weight * se->avg.load_sum);
	se->weight = pelton_scale_load_down(s->weight);
	se->weight_rest = pelton_weight_rest(s->weight, se->weight);
	if (se->on_rq)
		pelton_update_load_add(&s->q, se);
	if (!se->avg.last_update_time_ns)
		return;
	se->avg.load_avg = se->weight * se->avg.load_sum / pelton_divisor(&oracle_policy, &se->avg);
	s->q.avg.load_avg += se->avg.load_avg;
	s->q.avg.load_sum += se->weight * se->avg.load_sum;
}

/* G: the clock catches up when the CPU goes idle, not at its next update. */
static void early_clock(struct oracle_state *s)
{
	struct pelton_clock *c = &s->r.clock;
	u32 util_sum = s->r.cfs.avg.util_sum + s->r.rt.util_sum + s->r.dl.util_sum;

	if (util_sum >= PELTON_SATURATED_UTIL_SUM)
		c->lost_idle_ns += c->clock_task_ns - c->clock_pelt_ns;
	c->clock_pelt_ns = c->clock_task_ns;
}

/* H: a raised reservation or new limits lift the hold where 5.10 keeps it. */
static void lifted_hold(struct oracle_state *s)
{
	struct pelton_perf_terms t[ORACLE_CPUS] = { { 0 } };
	struct pelton_decision d = { 0 };
	u32 opps[] = { 200000, 403200, 614400, 825600, 1036800, 1248000, 1516800, 1804800, 2112000, 2400000 };

	if (pelton_sugov_begin(&oracle_policy, &s->sp, &s->sc[s->cpu], s->cs[s->cpu].bw_dl, s->now, ORACLE_TICK_NS,
			       s->flags, s->local) != PELTON_VERDICT_OPEN)
		return;
	if (s->sp.need_update)
		s->sc[0].saved_idle_calls = s->cs[0].idle_calls + 1;
	pelton_sugov_evaluate(&oracle_policy, &s->sp, s->sc, s->cs, s->cpu, s->now, ORACLE_TICK_NS, opps, s->opps, t,
			      &d);
	if (d.commit != PELTON_COMMIT_DRIVE)
		return;
	s->ret = s->sp.fast_switch ? 1 : 2;
	s->aux = s->sp.fast_switch ? pelton_clamp_u32(s->sp.next_freq_khz, s->sp.min_khz, s->sp.max_khz) : 0;
}

/* I: an idle previous CPU is preferred where 5.10 does not ask for it. */
static void idle_prev_first(struct oracle_state *s)
{
	struct pelton_wake w = s->wake;

	s->aux = w.waker_load = pelton_h_load(w.this_load, w.waker_load, w.this_load);
	s->aux2 = w.task_load = pelton_h_load(w.prev_load, w.task_load, w.prev_load);
	if (w.this_idle)
		s->ret = !w.prev_idle;
	else if (w.sync && w.this_running == 1)
		s->ret = 1;
	else
		s->ret = w.prev_idle ? 0 : pelton_wake_affine_weight(&oracle_policy, &w);
}

/* J: a wake-up compared to the nanosecond. */
static void fine_overflow(struct oracle_state *s)
{
	const struct pelton_dl_entity *dl = &s->dl.entity;

	s->ret = (__int128)dl->dl_deadline_ns * dl->runtime_ns >
		 (__int128)(s64)(dl->deadline_ns - s->now) * (s64)dl->dl_runtime_ns;
}

/* K: a short deadline that a new period follows as any other. */
static void plain_wakeup(struct oracle_state *s)
{
	struct pelton_dl_entity *dl = &s->dl.entity;

	if (pelton_dl_time_before(dl->deadline_ns, s->now) || pelton_dl_entity_overflow(dl, s->now))
		pelton_dl_new_period(dl, s->now);
}

/* L: runtime is time. */
static void wall_runtime(struct oracle_state *s)
{
	struct pelton_policy wall = oracle_policy;

	wall.dl_runtime = PELTON_DL_RUNTIME_WALL;
	s->ret = pelton_update_curr_dl(&wall, &s->dl.entity, s->irq, s->util, s->cap);
}

/* SA: a server that runs at its first last moment, whatever fair tasks got meanwhile. */
static void hasty_server(struct oracle_state *s)
{
	s->server.timer_ns = 0;
	if (s->server.dl_defer_armed && !s->server.dl_defer_idle) {
		s->server.dl_defer_running = 1;
		pelton_dl_server_replenish(&s->server, s->now);
		pelton_dl_server_join(&s->server, s->now);
	} else {
		s->ret = pelton_dl_server_timer(&s->server, s->now);
	}
}

/* SB: idle time that is nothing but time of fair tasks. */
static void busy_server(struct oracle_state *s)
{
	pelton_dl_server_update(&oracle_policy, &s->server, s->now, s->irq, 0);
}

/* M: a debt does not move the moment at which bandwidth is free. */
static void no_debt(struct oracle_state *s)
{
	struct pelton_dl_entity dl = s->dl.entity;
	s64 stays;

	if (dl.runtime_ns < 0)
		dl.runtime_ns = 0;
	stays = (s64)(pelton_dl_zero_lag(&dl) - s->now);
	s->ret = stays >= 0;
	s->aux = s->ret ? (u64)stays : 0;
}

/* N: the newest form of the idle governor, whatever the release. */
static void newest_menu(struct oracle_state *s)
{
	struct pelton_policy newest = oracle_policy;

	newest.menu_form = PELTON_MENU_FORM_7_2;
	pelton_menu_select(&newest, &s->menu, &s->table, &s->idle_now, &s->choice);
}

/* One rule of placement is that of another release. */
#define OTHER_RULE(name, under, field, value, instead) \
	static void name(struct oracle_state *s) \
	{ \
		struct pelton_policy wrong = oracle_policy; \
\
		wrong.field = wrong.field == (value) ? (instead) : (value); \
		under(s, &wrong); \
	}

OTHER_RULE(other_teo, teo_under, teo_form, PELTON_TEO_FORM_7_2, PELTON_TEO_FORM_6_12)
OTHER_RULE(older_teo, teo_under, teo_form, PELTON_TEO_FORM_6_1, PELTON_TEO_FORM_5_10)
OTHER_RULE(other_energy, select_under, energy_aware, PELTON_ENERGY_AWARE_RANK, PELTON_ENERGY_AWARE_MARGIN)
OTHER_RULE(other_pressure, select_under, energy_aware, PELTON_ENERGY_AWARE_ACTUAL, PELTON_ENERGY_AWARE_RANK)
OTHER_RULE(other_runnable, select_under, energy_runnable, PELTON_ENERGY_RUNNABLE_WITH_TASK,
	   PELTON_ENERGY_RUNNABLE_BEFORE_TASK)
OTHER_RULE(other_full, select_under, energy_full_cpu, PELTON_ENERGY_FULL_CPU_CANDIDATE, PELTON_ENERGY_FULL_CPU_SKIPPED)
OTHER_RULE(other_model, select_under, energy_model, PELTON_ENERGY_MODEL_MICROWATTS, PELTON_ENERGY_MODEL_SCALED)
OTHER_RULE(other_fits, fits_under, util_fits, PELTON_UTIL_FITS_RANK, PELTON_UTIL_FITS_FLOOR)
OTHER_RULE(other_overutilized, fits_under, overutilized, PELTON_OVERUTILIZED_CLAMPS, PELTON_OVERUTILIZED_MAXIMUM_ENERGY)
OTHER_RULE(other_sched_idle, select_under, sched_idle_cpu, PELTON_SCHED_IDLE_CPU_ON, PELTON_SCHED_IDLE_CPU_YIELDS)
OTHER_RULE(other_search, select_under, idle_search, PELTON_IDLE_SEARCH_SCAN, PELTON_IDLE_SEARCH_CLUSTERS)
OTHER_RULE(other_capacity, select_under, capacity_search, PELTON_CAPACITY_SEARCH_CORES, PELTON_CAPACITY_SEARCH_RANK)
OTHER_RULE(other_group, select_under, dst_group, PELTON_DST_GROUP_TYPES_ENERGY, PELTON_DST_GROUP_TYPES)
OTHER_RULE(other_cpus, select_under, dst_group_cpus, PELTON_DST_GROUP_CPUS_ALL, PELTON_DST_GROUP_CPUS_ALLOWED)

OTHER_RULE(other_misfit, misfit_under, misfit, PELTON_MISFIT_LOAD, PELTON_MISFIT_PINNED)

OTHER_RULE(other_balance, find_under, balance, PELTON_BALANCE_OVERUTILIZED, PELTON_BALANCE_RUNNABLE)
OTHER_RULE(other_capacities, find_under, balance_capacity, PELTON_BALANCE_CAPACITY_BEFORE,
	   PELTON_BALANCE_CAPACITY_AFTER)

/* Threads of one core are not relieved, and tasks are evened out without a look at cores. */
static void no_cores(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.balance = PELTON_BALANCE_REDUCED;
	find_under(s, &wrong);
}

static void other_active(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.balance = wrong.balance == PELTON_BALANCE_TYPES ? PELTON_BALANCE_REDUCED : PELTON_BALANCE_TYPES;
	active_under(s, &wrong);
}

/* No task prefers a cache, or some do where none does. */
static void other_caches(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.cache_aware = !wrong.cache_aware;
	find_under(s, &wrong);
}

static void no_home(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.cache_aware = 0;
	active_under(s, &wrong);
}

static void no_pull_home(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.cache_aware = 0;
	can_migrate_under(s, &wrong);
}

/* The search for an idle CPU in 6.1 is that of 6.12 where there are no clusters, so 5.10's takes its place there. */
static void passes(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.idle_search = PELTON_IDLE_SEARCH_PASSES;
	select_under(s, &wrong);
}

/* A bucket keeps the clamp of the task that came last. */
static void forgetful_bucket(struct oracle_state *s)
{
	clamps_under(s, 1);
}

OTHER_RULE(other_long, ondemand_under, sampling_form, PELTON_SAMPLING_4_5, PELTON_SAMPLING_6_12)
OTHER_RULE(other_stops, conservative_under, conservative_form, PELTON_CONSERVATIVE_FORM_STOPS,
	   PELTON_CONSERVATIVE_FORM_STEPS)
OTHER_RULE(other_steps, conservative_under, conservative_form, PELTON_CONSERVATIVE_FORM_STEPS,
	   PELTON_CONSERVATIVE_FORM_STEPS_IF_IDLE)

/* What a user set is not seen. */
static void busy_wait(struct oracle_state *s)
{
	u32 set = s->tune.io_is_busy;

	s->tune.io_is_busy = 0;
	ondemand_under(s, &oracle_policy);
	s->tune.io_is_busy = set;
}

static void nice_time(struct oracle_state *s)
{
	u32 set = s->tune.ignore_nice_load;

	s->tune.ignore_nice_load = 0;
	conservative_under(s, &oracle_policy);
	s->tune.ignore_nice_load = set;
}

/* The load that is the threshold exceeds it. */
static void low_threshold(struct oracle_state *s)
{
	u32 set = s->tune.up_threshold;

	s->tune.up_threshold = set - 1;
	ondemand_under(s, &oracle_policy);
	s->tune.up_threshold = set;
}

/* The share of a period at the higher frequency is cut off, not rounded. */
static void cut_share(struct oracle_state *s)
{
	struct pelton_dbs *d = &s->dbs;
	u32 i, high = 0;

	ondemand_under(s, &oracle_policy);
	for (i = 0; d->at_high && i < s->opps; i++)
		if (s->khz[i] > d->low_khz && !high)
			high = s->khz[i];
	if (!high || !d->high_us)
		return;
	d->high_us -= (u64)d->high_us * (high - d->low_khz) % d->sampling_us != 0;
	d->low_us = d->sampling_us - d->high_us;
	d->delay_us = d->high_us;
}

/* No dice, or in a release without them those of 6.12; the other release's rate. */
static void other_dice(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;

	wrong.newidle_dice = wrong.newidle_dice ? PELTON_NEWIDLE_DICE_OFF : PELTON_NEWIDLE_DICE_SUCCESS;
	newidle_under(s, &wrong);
}

static void other_rate(struct oracle_state *s)
{
	struct pelton_policy wrong = oracle_policy;
	u32 rate = wrong.newidle_dice == PELTON_NEWIDLE_DICE_RATE;

	wrong.newidle_dice = rate ? PELTON_NEWIDLE_DICE_SUCCESS : PELTON_NEWIDLE_DICE_RATE;
	newidle_stats_under(s, &wrong);
}

#define SELECT "select_task_rq_fair"
#define ENERGY "find_energy_efficient_cpu, compute_energy"
#define FIND_SRC "should_we_balance, find_busiest_group, find_busiest_queue"
#define FITS "util_fits_cpu, cpu_overutilized"

const struct oracle_canary oracle_canaries[] = {
	{ "A", "__update_load_avg_blocked_se", 510, 702, lost_mark, "a mark lost in sleep" },
	{ "B", "post_init_entity_util_avg", 510, 601, small_weight, "the small weight in a task's first utilization" },
	{ "C", "scale_rt_capacity", 510, 601, late_pressure, "lost capacity taken from the maximum" },
	{ "D", "attach_entity_load_avg", 702, 702, no_floor_after_attach, "no floor after an addition" },
	{ "E", "detach_entity_load_avg", 510, 510, floor_at_detach, "a floor instead of a sum made anew" },
	{ "F", "reweight_entity", 510, 510, floor_at_reweight, "a floor under the load sum" },
	{ "G", "update_idle_rq_clock_pelt", 510, 510, early_clock, "the clock catches up too early" },
	{ "H", "sugov_update_single_freq, sugov_update_shared", 510, 510, lifted_hold,
	  "the hold lifted by new limits" },
	{ "N", "menu_select", 510, 612, newest_menu, "the form of 7.2 in an older release" },
	{ "TA", "teo_select", 510, 702, other_teo, "the form of 7.2, or in it that of 6.12" },
	{ "TB", "teo_select", 510, 702, older_teo, "the form of 6.1, or in it that of 5.10" },
	{ "I", "wake_affine", 510, 510, idle_prev_first, "an idle previous CPU first" },
	{ "J", "dl_entity_overflow", 510, 702, fine_overflow, "density to the nanosecond" },
	{ "K", "update_dl_entity, update_dl_revised_wakeup", 510, 702, plain_wakeup,
	  "a new period for a short deadline" },
	{ "L", "update_curr_dl, dl_runtime_exceeded", 510, 702, wall_runtime, "runtime that is time" },
	{ "M", "task_non_contending", 510, 702, no_debt, "a debt that is forgotten in sleep" },
	{ "SA", "dl_server_timer", 612, 702, hasty_server, "a server that runs although fair tasks had something" },
	{ "SB", "dl_server_update", 702, 702, busy_server, "a server that does not know that its CPU is idle" },
	{ "O", ENERGY, 510, 510, other_energy, "no margin" },
	{ "P", ENERGY, 601, 702, other_energy, "a margin where the smallest addition wins, or the other way round" },
	{ "Q", ENERGY, 601, 702, other_pressure, "the other release's pressure" },
	{ "R", ENERGY, 510, 702, other_runnable, "waiting tasks counted otherwise" },
	{ "S", ENERGY, 601, 601, other_model, "a state chosen without margin" },
	{ "T", FITS, 510, 702, other_fits, "a lost floor that is no rank, or one that is" },
	{ "U", FITS, 510, 702, other_overutilized, "the lower clamp left out, or counted" },
	{ "V", SELECT, 510, 702, other_sched_idle, "SCHED_IDLE tasks that push one another, or do not" },
	{ "W", SELECT, 612, 702, other_search, "clusters that are not seen" },
	{ "X", SELECT, 601, 702, passes, "three passes" },
	{ "Y", SELECT, 510, 702, other_capacity, "unequal CPUs searched as in another release" },
	{ "Z", SELECT, 510, 702, other_group, "groups that may be overloaded, or never are" },
	{ "AB", "update_misfit_status", 510, 702, other_misfit, "tasks that wait although they may use one CPU only" },
	{ "AC", "uclamp_rq_inc, uclamp_rq_dec, uclamp_eff_value", 510, 702, forgetful_bucket,
	  "a bucket without memory" },
	{ "AA", SELECT, 510, 702, other_cpus, "CPUs summed that the task may not use" },
	{ "AF", FIND_SRC, 510, 702, other_balance, "groups that are overloaded without need, or the other way round" },
	{ "AG", FIND_SRC, 601, 702, other_capacities, "bigger groups passed over too late, or too early" },
	{ "AH", FIND_SRC, 612, 702, no_cores, "cores that are not counted" },
	{ "AI", "need_active_balance", 510, 702, other_active, "failures that count whatever is moved" },
	{ "AD", ENERGY, 601, 702, other_full, "full CPUs that are no candidates" },
	{ "GA", "od_dbs_update", 510, 702, other_long, "a long time since the last sample although it was busy" },
	{ "GB", "cs_dbs_update", 510, 702, other_stops, "nothing asked for at a limit, a step below the lower one" },
	{ "GC", "cs_dbs_update", 510, 702, other_steps, "the other release's rule for periods without sample" },
	{ "GD", "od_dbs_update", 510, 702, busy_wait, "io_is_busy without effect" },
	{ "GE", "cs_dbs_update", 510, 702, nice_time, "ignore_nice_load without effect" },
	{ "GF", "od_dbs_update", 510, 702, low_threshold, "a threshold that is reached, not exceeded" },
	{ "GG", "od_dbs_update", 510, 702, cut_share, "a share of the period cut off instead of rounded" },
	{ "QA", "check_enqueue_throttle", 702, 702, quota_slice, "a slice for a queue that gets its first entity" },
	{ "QB", "__return_cfs_rq_runtime, start_cfs_slack_bandwidth", 510, 702, quota_keeps_nothing,
	  "a queue that keeps nothing when its last entity leaves" },
	{ "QC", "sched_cfs_period_timer, distribute_cfs_runtime", 510, 702, quota_counts_once,
	  "several periods that count as one" },
	{ "LL", "cpufreq_set_policy, cpufreq_update_pressure", 601, 702, limits_up, "an upper limit that is moved up" },
	{ "LA", "enqueue_task_fair", 510, 702, levels_old_load, "a weight that follows the group's load of before" },
	{ "LF", "update_cfs_group", 510, 702, shares_in_units, "a share that is cut to whole units" },
	{ "LC", "enqueue_task_fair", 601, 702, levels_no_idle_group, "tasks of an idle group that are no idle ones" },
	{ "LD", "sched_group_set_idle, sched_group_set_shares", 601, 702, idle_group_walks_on,
	  "a change of an idle group that counts above another idle one" },
	{ "LB", "dequeue_task_fair", 510, 702, levels_empty_stays, "a group without tasks that stays queued" },
	{ "CA", "select_task_rq_rt, cpupri_find_fitness", 601, 702, class_no_level,
	  "CPUs with deadline tasks that are not above all" },
	{ "DA", "sched_balance_newidle", 510, 702, other_dice, "no dice, or dice where there are none" },
	{ "DB", "sched_balance_newidle", 601, 702, newidle_low_side, "a side too few that lets it search" },
	{ "DC", "sched_balance_newidle", 601, 702, newidle_cut_weight, "a weight that is cut off, not rounded" },
	{ "DD", "update_newidle_stats", 601, 702, other_rate, "the other release's share of searches" },
	{ "EA", FIND_SRC, 510, 702, other_caches, "tasks that prefer a cache and are not asked, or are" },
	{ "EB", "need_active_balance", 702, 702, no_home, "the last task taken out of its cache" },
	{ "EC", "can_migrate_task, task_hot", 702, 702, no_pull_home,
	  "tasks that leave their cache, and others for it" },
	{ "ED", "account_mm_sched, task_tick_cache", 702, 702, cache_never_forgets, "a preference that stays" },
	{ "EE", "task_cache_work", 702, 702, cache_fast_mean, "a mean that is slow in small caches" },
	{ "EF", "task_cache_work", 702, 702, cache_always_moves, "a preference that goes to whatever has more" },
	{ "CB", "select_task_rq_dl, cpudl_find", 510, 702, class_any_size, "CPUs too small for a reservation" },
	{ 0 },
};
