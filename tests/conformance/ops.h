/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every operation of the entry function: X(name, function in entry_*.h, SPEC rule), one list per such header.
 *
 * The position in all of them is the opcode; src/conformance/ops.rs lists the same names, and a test compares the two.
 */
#ifndef PELTON_TEST_OPS_H
#define PELTON_TEST_OPS_H

#define PELTON_TEST_PELT(X) \
	X(DECAY, op_decay, "A.3") \
	X(ACCUMULATE, op_accumulate, "A.4, A.5") \
	X(UPDATE_SE, op_update_se, "A.6, A.9 step 2") \
	X(UPDATE_CFS_RQ, op_update_cfs_rq, "A.8") \
	X(UPDATE_LOAD_AVG, op_update_load_avg, "A.9") \
	X(ATTACH, op_attach, "A.10") \
	X(DETACH, op_detach, "A.10") \
	X(REWEIGHT, op_reweight, "A.10, A.12") \
	X(GROUP_SHARES, op_group_shares, "A.12") \
	X(TG_CONTRIB, op_tg_contrib, "A.12") \
	X(REFRESH_SHARES, op_refresh_shares, "A.12") \
	X(WALK_GROUP, op_walk_group, "A.14") \
	X(GROUP_IS_DECAYED, op_group_is_decayed, "A.12, A.14") \
	X(UTIL_EST_ENQUEUE, op_util_est_enqueue, "A.15") \
	X(UTIL_EST_DEQUEUE, op_util_est_dequeue, "A.15") \
	X(UTIL_EST_UPDATE, op_util_est_update, "A.15") \
	X(TASK_UTIL_EST, op_task_util_est, "A.15") \
	X(SE_INIT, op_se_init, "A.13") \
	X(POST_INIT, op_post_init, "A.13") \
	X(DL_BW, op_dl_bw, "F.6") \
	X(CPU_BW_DL, op_cpu_bw_dl, "F.6") \
	X(FITS_CAPACITY, op_fits_capacity, "H.5") \
	X(FREQ_SCALE, op_freq_scale, "0.2") \
	X(RAMP, op_ramp, "C.8") \
	X(TIME_TO, op_time_to, "A.18, C.8") \
	X(POKE, op_poke, "the harness writes one word")

#define PELTON_TEST_RQ(X) \
	X(ENQUEUE_ENTITY, op_enqueue_entity, "A.9, B.15") \
	X(UPDATE_ANCESTOR, op_update_ancestor, "A.9, B.15") \
	X(DEQUEUE_ENTITY, op_dequeue_entity, "A.9, B.15") \
	X(SET_NEXT_ENTITY, op_set_next_entity, "A.9, B.15") \
	X(PUT_PREV_ENTITY, op_put_prev_entity, "A.9, B.15") \
	X(TICK_ENTITY, op_tick_entity, "A.9, B.15") \
	X(RQ_ENQUEUE_TASK, op_rq_enqueue_task, "A.9, A.15, B.15") \
	X(RQ_DEQUEUE_TASK, op_rq_dequeue_task, "A.9, A.15, B.15") \
	X(RQ_ESTIMATE_LAST, op_rq_estimate_last, "A.15") \
	X(RQ_DELAY_TASK, op_rq_delay_task, "A.9, A.15") \
	X(RQ_ENQUEUE_DELAYED, op_rq_enqueue_delayed, "A.9, A.15") \
	X(RQ_SWITCH_FAIR, op_rq_switch_fair, "A.9, B.15") \
	X(RQ_SWITCH_IDLE, op_rq_switch_idle, "A.7.2, A.9") \
	X(RQ_TICK_FAIR, op_rq_tick_fair, "A.9, B.15") \
	X(RQ_UPDATE_BLOCKED, op_rq_update_blocked, "A.14, F.2") \
	X(CLOCK_UPDATE, op_clock_update, "A.7.1, A.7.2") \
	X(CLOCK_ENTER_IDLE, op_clock_enter_idle, "A.7.2") \
	X(THROTTLE, op_throttle, "A.7.3") \
	X(UNTHROTTLE, op_unthrottle, "A.7.3") \
	X(UPDATE_RT, op_update_rt, "F.2") \
	X(UPDATE_DL, op_update_dl, "F.2") \
	X(UPDATE_HW, op_update_hw, "F.2") \
	X(UPDATE_OTHERS, op_update_others, "F.2, F.5") \
	X(CAPACITY_OF, op_capacity_of, "F.4") \
	X(RT_SHARE_AGE, op_rt_share_age, "F.1") \
	X(MIGRATE_SLEEPING, op_migrate_sleeping, "A.13") \
	X(REMOVE_SLEEPING, op_remove_sleeping, "A.13") \
	X(SWITCHED_FROM_FAIR, op_switched_from_fair, "A.13") \
	X(SWITCHED_TO_FAIR, op_switched_to_fair, "A.13") \
	X(GROUP_ONLINE, op_group_online, "A.9, A.10")

#define PELTON_TEST_GOVERNOR(X) \
	X(CPU_STATE_FILL, op_cpu_state_fill, "A.17") \
	X(HOOK_EVENT, op_hook_event, "B.13, C.1, C.10") \
	X(HOOK_SWITCH, op_hook_switch, "C.6") \
	X(GATE_INIT, op_gate_init, "C.3, C.4, C.7") \
	X(SUGOV_KEEP_UTIL, op_sugov_keep_util, "B.12") \
	X(SUGOV_BEGIN, op_sugov_begin, "B.2, B.3, B.7, B.8") \
	X(SUGOV_EVALUATE, op_sugov_evaluate, "B.2-B.7, B.9, B.12") \
	X(SUGOV_COMMIT_PERF, op_sugov_commit_perf, "B.2.3, B.9") \
	X(SUGOV_WORK_START, op_sugov_work_start, "B.10") \
	X(SUGOV_WORK_DONE, op_sugov_work_done, "B.10") \
	X(SUGOV_LIMITS, op_sugov_limits, "B.3") \
	X(RATE_LIMIT, op_rate_limit, "B.11") \
	X(PERF_EVAL, op_perf_eval, "B.4, B.5")

#define PELTON_TEST_IDLE(X) \
	X(MENU_WOKE, op_menu_woke, "J.5") \
	X(MENU_SELECT, op_menu_select, "J.5") \
	X(TEO_WOKE, op_teo_woke, "J.5") \
	X(TEO_SELECT, op_teo_select, "J.5")

#define PELTON_TEST_PLACE(X) \
	X(WAKE_AFFINE, op_wake_affine, "H.7") \
	X(WAKE_WIDE, op_wake_wide, "H.7") \
	X(RT_LIMIT, op_rt_limit, "J.3") \
	X(DL_WAKE, op_dl_wake, "J.3") \
	X(DL_RAN, op_dl_ran, "J.3") \
	X(DL_ROOM, op_dl_room, "J.3") \
	X(DL_SERVER, op_dl_server, "J.3") \
	X(NEWIDLE, op_newidle, "I") \
	X(IDLE_WALK, op_idle_walk, "I.2") \
	X(EM_STATE, op_em_state, "H.1") \
	X(EM_ENERGY, op_em_energy, "H.1") \
	X(BLOCKED_DUE, op_blocked_due, "I.3") \
	X(NEWIDLE_DICE, op_newidle_dice, "I.1") \
	X(NEWIDLE_COUNT, op_newidle_count, "I.1") \
	X(CACHE_LOOK, op_cache_look, "I") \
	X(CACHE_MOVE, op_cache_move, "I")

#define PELTON_TEST_FAIR(X) \
	X(FAIR_LOOK, op_fair_look, "J.2") \
	X(FAIR_PLACE, op_fair_place, "J.2") \
	X(FAIR_LEAVE, op_fair_leave, "J.2") \
	X(FAIR_RUN, op_fair_run, "J.2") \
	X(FAIR_WAKE, op_fair_wake, "J.2") \
	X(FAIR_REWEIGHT, op_fair_reweight, "J.2") \
	X(FAIR_IDLE, op_fair_idle, "J.2") \
	X(FAIR_CFS, op_fair_cfs, "J.2") \
	X(FAIR_DELTA, op_fair_delta, "J.2")

#define PELTON_TEST_KNOB(X) \
	X(BOOST_MARGIN, op_boost_margin, "E.1") \
	X(BOOST_FILTER, op_boost_filter, "E.6") \
	X(BOOST_STATE, op_boost_state, "E.1") \
	X(BOOST_GROUPS, op_boost_groups, "E.3, E.4") \
	X(PREFER_IDLE, op_prefer_idle, "E.4") \
	X(SCHED_DVFS, op_sched_dvfs, "D.3-D.6") \
	X(SAMPLING, op_sampling, "D.7") \
	X(INTERACTIVE, op_interactive, "D.7")

#define PELTON_TEST_CLAMPS(X) \
	X(CLAMP_LARGEST, op_clamp_largest, "G.1") \
	X(CLAMP_SCRIPT, op_clamp_script, "G.1") \
	X(CLAMP_EFFECTIVE, op_clamp_effective, "G.1") \
	X(CLAMP_SUMS, op_clamp_sums, "G.4, G.6, G.9") \
	X(TAKE_BIAS, op_take_bias, "G.6") \
	X(GROUP_THROTTLED, op_group_throttled, "G.7") \
	X(CFS_BANDWIDTH, op_cfs_bandwidth, "I.7")

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
