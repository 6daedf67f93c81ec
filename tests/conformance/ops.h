/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every operation of the entry function: X(name, function in entry_*.h), one list per such header.
 *
 * The position in all of them is the opcode; src/conformance/ops.rs lists the same names, and a test compares the two.
 */
#ifndef PELTON_TEST_OPS_H
#define PELTON_TEST_OPS_H

#define PELTON_TEST_PELT(X) \
	X(DECAY, op_decay) \
	X(ACCUMULATE, op_accumulate) \
	X(UPDATE_SE, op_update_se) \
	X(UPDATE_CFS_RQ, op_update_cfs_rq) \
	X(UPDATE_LOAD_AVG, op_update_load_avg) \
	X(ATTACH, op_attach) \
	X(DETACH, op_detach) \
	X(REWEIGHT, op_reweight) \
	X(GROUP_SHARES, op_group_shares) \
	X(TG_CONTRIB, op_tg_contrib) \
	X(REFRESH_SHARES, op_refresh_shares) \
	X(WALK_GROUP, op_walk_group) \
	X(GROUP_IS_DECAYED, op_group_is_decayed) \
	X(UTIL_EST_ENQUEUE, op_util_est_enqueue) \
	X(UTIL_EST_DEQUEUE, op_util_est_dequeue) \
	X(UTIL_EST_UPDATE, op_util_est_update) \
	X(TASK_UTIL_EST, op_task_util_est) \
	X(SE_INIT, op_se_init) \
	X(POST_INIT, op_post_init) \
	X(DL_BW, op_dl_bw) \
	X(CPU_BW_DL, op_cpu_bw_dl) \
	X(FITS_CAPACITY, op_fits_capacity) \
	X(FREQ_SCALE, op_freq_scale) \
	X(RAMP, op_ramp) \
	X(TIME_TO, op_time_to) \
	X(POKE, op_poke)

#define PELTON_TEST_RQ(X) \
	X(ENQUEUE_ENTITY, op_enqueue_entity) \
	X(UPDATE_ANCESTOR, op_update_ancestor) \
	X(DEQUEUE_ENTITY, op_dequeue_entity) \
	X(SET_NEXT_ENTITY, op_set_next_entity) \
	X(PUT_PREV_ENTITY, op_put_prev_entity) \
	X(TICK_ENTITY, op_tick_entity) \
	X(RQ_ENQUEUE_TASK, op_rq_enqueue_task) \
	X(RQ_DEQUEUE_TASK, op_rq_dequeue_task) \
	X(RQ_ESTIMATE_LAST, op_rq_estimate_last) \
	X(RQ_DELAY_TASK, op_rq_delay_task) \
	X(RQ_ENQUEUE_DELAYED, op_rq_enqueue_delayed) \
	X(RQ_SWITCH_FAIR, op_rq_switch_fair) \
	X(RQ_SWITCH_IDLE, op_rq_switch_idle) \
	X(RQ_TICK_FAIR, op_rq_tick_fair) \
	X(RQ_UPDATE_BLOCKED, op_rq_update_blocked) \
	X(CLOCK_UPDATE, op_clock_update) \
	X(CLOCK_ENTER_IDLE, op_clock_enter_idle) \
	X(THROTTLE, op_throttle) \
	X(UNTHROTTLE, op_unthrottle) \
	X(UPDATE_RT, op_update_rt) \
	X(UPDATE_DL, op_update_dl) \
	X(UPDATE_HW, op_update_hw) \
	X(UPDATE_OTHERS, op_update_others) \
	X(CAPACITY_OF, op_capacity_of) \
	X(RT_SHARE_AGE, op_rt_share_age) \
	X(MIGRATE_SLEEPING, op_migrate_sleeping) \
	X(REMOVE_SLEEPING, op_remove_sleeping) \
	X(SWITCHED_FROM_FAIR, op_switched_from_fair) \
	X(SWITCHED_TO_FAIR, op_switched_to_fair) \
	X(GROUP_ONLINE, op_group_online)

#define PELTON_TEST_GOVERNOR(X) \
	X(CPU_STATE_FILL, op_cpu_state_fill) \
	X(HOOK_EVENT, op_hook_event) \
	X(HOOK_SWITCH, op_hook_switch) \
	X(GATE_INIT, op_gate_init) \
	X(SUGOV_KEEP_UTIL, op_sugov_keep_util) \
	X(SUGOV_BEGIN, op_sugov_begin) \
	X(SUGOV_EVALUATE, op_sugov_evaluate) \
	X(SUGOV_COMMIT_PERF, op_sugov_commit_perf) \
	X(SUGOV_WORK_START, op_sugov_work_start) \
	X(SUGOV_WORK_DONE, op_sugov_work_done) \
	X(SUGOV_LIMITS, op_sugov_limits) \
	X(RATE_LIMIT, op_rate_limit) \
	X(PERF_EVAL, op_perf_eval)

#define PELTON_TEST_IDLE(X) \
	X(MENU_WOKE, op_menu_woke) \
	X(MENU_SELECT, op_menu_select) \
	X(TEO_WOKE, op_teo_woke) \
	X(TEO_SELECT, op_teo_select)

#define PELTON_TEST_PLACE(X) \
	X(WAKE_AFFINE, op_wake_affine) \
	X(WAKE_WIDE, op_wake_wide) \
	X(RT_LIMIT, op_rt_limit) \
	X(DL_WAKE, op_dl_wake) \
	X(DL_RAN, op_dl_ran) \
	X(DL_ROOM, op_dl_room) \
	X(DL_SERVER, op_dl_server) \
	X(NEWIDLE, op_newidle) \
	X(IDLE_WALK, op_idle_walk) \
	X(EM_STATE, op_em_state) \
	X(EM_ENERGY, op_em_energy) \
	X(BLOCKED_DUE, op_blocked_due) \
	X(NEWIDLE_DICE, op_newidle_dice) \
	X(NEWIDLE_COUNT, op_newidle_count) \
	X(CACHE_LOOK, op_cache_look) \
	X(CACHE_MOVE, op_cache_move)

#define PELTON_TEST_FAIR(X) \
	X(FAIR_LOOK, op_fair_look) \
	X(FAIR_PLACE, op_fair_place) \
	X(FAIR_LEAVE, op_fair_leave) \
	X(FAIR_RUN, op_fair_run) \
	X(FAIR_WAKE, op_fair_wake) \
	X(FAIR_REWEIGHT, op_fair_reweight) \
	X(FAIR_IDLE, op_fair_idle) \
	X(FAIR_CFS, op_fair_cfs) \
	X(FAIR_DELTA, op_fair_delta)

#define PELTON_TEST_KNOB(X) \
	X(BOOST_MARGIN, op_boost_margin) \
	X(BOOST_FILTER, op_boost_filter) \
	X(BOOST_STATE, op_boost_state) \
	X(BOOST_GROUPS, op_boost_groups) \
	X(PREFER_IDLE, op_prefer_idle) \
	X(SCHED_DVFS, op_sched_dvfs) \
	X(SAMPLING, op_sampling) \
	X(INTERACTIVE, op_interactive)

#define PELTON_TEST_CLAMPS(X) \
	X(CLAMP_LARGEST, op_clamp_largest) \
	X(CLAMP_SCRIPT, op_clamp_script) \
	X(CLAMP_EFFECTIVE, op_clamp_effective) \
	X(CLAMP_SUMS, op_clamp_sums) \
	X(TAKE_BIAS, op_take_bias) \
	X(GROUP_THROTTLED, op_group_throttled) \
	X(CFS_BANDWIDTH, op_cfs_bandwidth)

#define PELTON_TEST_OPS(X) \
	PELTON_TEST_PELT(X) \
	PELTON_TEST_RQ(X) \
	PELTON_TEST_GOVERNOR(X) \
	PELTON_TEST_IDLE(X) \
	PELTON_TEST_PLACE(X) \
	PELTON_TEST_FAIR(X) \
	PELTON_TEST_KNOB(X) \
	PELTON_TEST_CLAMPS(X)

#endif
