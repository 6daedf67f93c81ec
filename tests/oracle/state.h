/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One case of a comparison: what a kernel function and the core's form of it get and give. Both sides include this; the
 * records are the core's own. The kernel side has one function of this form for each operation, and no such function
 * where the release has none: the symbol is weak, the table of operations asks whether it is there.
 */
#ifndef ORACLE_STATE_H
#define ORACLE_STATE_H

#include "pelton/types.h"
#include "pelton/balance_move.h"
#include "pelton/cache_aware.h"
#include "pelton/cfs_bandwidth.h"
#include "pelton/deadline.h"
#include "pelton/dl_server.h"
#include "pelton/energy.h"
#include "pelton/fair.h"
#include "pelton/idle_menu.h"
#include "pelton/idle_teo.h"
#include "pelton/ondemand.h"
#include "pelton/place.h"
#include "pelton/placement.h"
#include "pelton/select_class.h"

#define ORACLE_CPUS 4
#define ORACLE_EM_STATES 8
#define ORACLE_OPPS 10
#define ORACLE_FAIR_MAX 12
#define ORACLE_FAIR_NEW (ORACLE_FAIR_MAX - 1) /* the entity that is not queued */
#define ORACLE_TICK_NS 4000000u
#define ORACLE_CLAMPED 6
#define ORACLE_CLASS_CPUS 8
#define ORACLE_DOMAINS 3

/* A root queue of the fair class: the first `n` entities are on it, `curr` of them runs (-1: none). */
struct oracle_fair {
	struct pelton_fair_rq rq;
	struct pelton_fair_se se[ORACLE_FAIR_MAX];
	struct pelton_fair_tunables tun;
	s32 curr;
	u32 n;
	u32 all; /* tasks of the CPU */
};

/* A deadline reservation, and what of a CPU may be reserved. */
struct oracle_deadline {
	struct pelton_dl_entity entity;
	u64 limit_bw;
	u64 total_bw;
	u64 old_bw;
	u64 add_bw;
	u64 capacity;
};

/* What a user sets of a sampling governor. */
struct oracle_tunables {
	u32 up_threshold;
	u32 down_threshold;
	u32 sampling_down_factor;
	u32 freq_step;
	u32 powersave_bias;
	u32 ignore_nice_load;
	u32 io_is_busy;
	u32 reserved;
};

/* One level of groups: what its queue counts, whether its group is idle, and whether that is queued above. */
struct oracle_level {
	u32 idle;
	u32 on_rq;
	u32 h_nr_queued;
	u32 h_nr_idle;
	u32 nr_idle;
	u32 reserved;
};

struct oracle_state {
	/* Arguments; each operation says which it reads. */
	u64 now;
	u64 irq;
	u64 weight;
	u64 h_load;
	u32 group;
	u32 flags;
	u32 running;
	u32 idle;
	u32 lost;
	u32 cap;
	u32 sleeps;
	u32 into;
	u32 cpu;
	u32 local;
	u32 opps;
	u32 iowait;
	u32 util;
	u32 lowest;
	u32 highest;
	u32 events; /* of a life */
	/* Records. */
	struct pelton_rq r;
	struct pelton_cfs_rq q;
	struct pelton_cfs_rq g;
	struct pelton_se se;
	struct pelton_se gse;
	struct pelton_tg tg;
	struct pelton_sugov_policy sp;
	struct pelton_sugov_cpu sc[ORACLE_CPUS];
	struct pelton_cpu_state cs[ORACLE_CPUS];
	struct pelton_wake wake;
	struct pelton_menu menu;
	struct pelton_teo teo;
	struct pelton_idle_table table;
	struct pelton_idle_now idle_now;
	struct pelton_idle_choice choice;
	u32 em_count;
	struct pelton_em_state em[ORACLE_EM_STATES];
	struct oracle_fair fair;
	struct oracle_deadline dl;
	struct pelton_dl_server server;
	struct pelton_cfs_bandwidth quota;
	struct pelton_cfs_runtime runtime;
	struct pelton_class_task class_task;
	struct pelton_class_curr class_curr;
	struct pelton_class_cpu class_cpu[ORACLE_CLASS_CPUS];
	struct oracle_tunables tune;
	struct pelton_dbs dbs;
	struct pelton_dbs_cpu dc[ORACLE_CPUS];
	struct pelton_dbs_times dt[ORACLE_CPUS];
	u32 khz[ORACLE_OPPS];
	struct oracle_level level[3];
	struct pelton_lb_domain remembered[ORACLE_DOMAINS];
	struct pelton_newidle newidle;
	struct pelton_cache_cpu cache_cpu[ORACLE_CLASS_CPUS];
	struct pelton_cache_time cache_time[ORACLE_CLASS_CPUS];
	struct pelton_cache_group cache_group;
	/* Results beside the records. */
	u64 ret;
	u64 aux;
	u64 aux2;
	/* Of the core alone: a hash of the terms of its answer. */
	u64 terms;
};

/* Both sides of a life draw its events from here. */
static inline u32 oracle_step(u64 *rng)
{
	*rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*rng >> 33);
}

/* What a search of a domain by a CPU that goes idle comes to. */
struct oracle_search {
	u64 cost_ns;
	u32 found;
	u32 stops; /* the CPU has got something to do meanwhile */
};

/* The case's search of its domain `level`. */
static inline struct oracle_search oracle_search(const struct oracle_state *s, u32 level)
{
	u64 rng = s->weight + level;
	u32 size = oracle_step(&rng) % 4;
	struct oracle_search out = {
		.cost_ns = size ? oracle_step(&rng) % (size == 1 ? 5000u : 400000u) : 0,
		.found = oracle_step(&rng) % 3 == 0,
		.stops = oracle_step(&rng) % 8 == 0,
	};

	return out;
}

/* One side of an operation. */
typedef void oracle_call(struct oracle_state *s);

/* The kernel's sides. */
extern __attribute__((weak)) oracle_call k_update_se, k_update_blocked_se, k_age_cfs_rq, k_update_rt, k_update_dl,
	k_update_hw, k_update_irq, k_others, k_capacity_of;
extern __attribute__((weak)) oracle_call k_clock_update, k_enter_idle, k_cfs_clock, k_throttle_clock,
	k_unthrottle_clock;
extern __attribute__((weak)) oracle_call k_update_cfs_rq, k_attach, k_detach, k_attach_to_fair, k_detach_from_fair,
	k_post_init, k_remove_sleeping, k_migrate;
extern __attribute__((weak)) oracle_call k_reweight, k_propagate, k_update_load_avg, k_group_shares, k_update_cfs_group,
	k_tg_contrib, k_is_decayed, k_h_load;
extern __attribute__((weak)) oracle_call k_util_est_update, k_util_est_move, k_cpu_util, k_effective_util, k_get_util,
	k_effective_perf;
extern __attribute__((weak)) oracle_call k_hook, k_hook_perf, k_next_freq, k_iowait_request, k_iowait_apply, k_work,
	k_limits, k_can_update, k_rate_limit, k_dbs_update, k_ondemand, k_conservative;
extern __attribute__((weak)) oracle_call k_uclamp_life, k_select, k_util_fits, k_misfit;
extern __attribute__((weak)) oracle_call k_find_src, k_need_active_balance, k_can_migrate, k_balance_interval;
extern __attribute__((weak)) oracle_call k_account_mm, k_cache_work;
extern __attribute__((weak)) oracle_call k_newidle, k_newidle_stats, k_newidle_cost;
extern __attribute__((weak)) oracle_call k_wake_affine, k_wake_wide, k_em_energy, k_em_fill, k_to_ratio, k_bw_dl,
	k_menu, k_teo;

/* The deadline class. */
extern __attribute__((weak)) oracle_call k_dl_before, k_dl_setparam, k_dl_entity_overflow, k_dl_update_entity,
	k_dl_replenish, k_dl_start_timer, k_dl_enqueue, k_dl_update_curr, k_dl_scaled, k_dl_sleep, k_dl_room,
	k_server_start, k_server_stop, k_server_update, k_server_idle, k_server_timer, k_server_inactive;

/* The other classes. */
extern __attribute__((weak)) oracle_call k_select_rt, k_select_dl;

/* Limits. */
extern __attribute__((weak)) oracle_call k_new_limits;

/* Levels of groups. */
extern __attribute__((weak)) oracle_call k_enqueue_task, k_dequeue_task, k_set_idle, k_wakeup_cfs;

/* Quotas. */
extern __attribute__((weak)) oracle_call k_quota_refill, k_quota_assign, k_quota_account, k_quota_enqueue,
	k_quota_throttle, k_quota_unthrottle, k_quota_return, k_quota_slack, k_quota_period;

/* The machine of the calls of select_task_rq_fair() and util_fits_cpu(). */
extern struct pelton_placement oracle_place;

/* Makes the machine of a case that the kernel's side begins with itself. */
extern oracle_call *oracle_begin;

/* The fair class. */
extern __attribute__((weak)) oracle_call k_calc_delta_fair, k_avg_vruntime, k_pick_eevdf, k_place_eevdf,
	k_update_deadline, k_entity_lag, k_reweight_eevdf, k_requeue, k_yield, k_update_curr, k_set_protect,
	k_wakeup_eevdf;
extern __attribute__((weak)) oracle_call k_sched_slice, k_place_cfs, k_preempt_cfs, k_tick_cfs, k_min_vruntime,
	k_pick_skipped;

/* Only where no kernel is: alone.c. */
extern __attribute__((weak)) const u32 oracle_alone;

void k_boot(void);
const char *k_release(void);
/* Is the instruction at `ip` a warning (2) or a BUG (1) of the kernel's, and of which line? 0: neither. */
u32 k_bug(u64 ip, const char **file, u32 *line);

#endif
