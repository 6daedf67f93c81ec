/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fixed-width types and every state record of the policy core.
 *
 * All records are zero-initialisable (zero = fresh task, idle CPU), contain explicit widths only, and are laid out the
 * same natively, in 32-bit builds and in BPF. Sizes are asserted below and mirrored by crates/core/src/ffi.rs.
 *
 * Units: capacity and utilization 0..1024 (PELTON_CAPACITY_SCALE), time ns, frequency kHz.
 */
#ifndef PELTON_TYPES_H
#define PELTON_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef signed int s32;
typedef unsigned long long u64;
typedef signed long long s64;

#define PELTON_INLINE static inline __attribute__((always_inline, unused))
#define PELTON_ALIGNED64 __attribute__((aligned(8)))

#define PELTON_CAPACITY_SHIFT 10
#define PELTON_CAPACITY_SCALE 1024u

/* One load-tracking record: a task, a group entity, a cfs_rq, or a CPU's RT, DL, IRQ, hardware-pressure signal. */
struct pelton_avg {
	u64 last_update_time_ns; /* advanced in whole units of 1024 ns; 0 = not attached */
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib; /* position in the open period, 0..1023 units */
	u64 load_avg;
	u64 runnable_avg;
	u64 util_avg;
	u32 util_est_enqueued; /* U3/U4: the single estimate; the top bit is the "unchanged" mark */
	u32 util_est_ewma;     /* U1/U2 only */
} PELTON_ALIGNED64;

/* A schedulable entity of the fair class: a task, or a group's presence on one CPU. */
struct pelton_se {
	struct pelton_avg avg;
	u64 weight;      /* scaled-down: nice 0 = 1024 */
	u32 on_rq;       /* queued (including delayed dequeue) */
	u32 running;     /* current entity at its level */
	u32 nr_runnable; /* task: 1 unless delayed; group: runnable tasks below, as of its last enqueue or dequeue */
	u32 delayed;     /* 1 while a delayed dequeue is pending */
	s32 weight_rest; /* of a group: what a 64-bit kernel stores beyond the weight's units, weight.h */
	u32 runnable_weight; /* to 5.4: part of the weight that is runnable, as stored, runnable_load.h */
} PELTON_ALIGNED64;

/* Queue of fair entities, with sums of tasks that left while asleep and changes for the parent level. */
struct pelton_cfs_rq {
	struct pelton_avg avg;
	u64 load_weight; /* sum of weights of queued entities, scaled down */
	u32 h_nr_runnable;
	u32 nr_queued;
	u32 has_curr; /* an entity of this level is running */
	u32 propagate;
	s64 prop_runnable_sum;
	u64 removed_load;
	u64 removed_util;
	u64 removed_runnable;
	u32 removed_nr;
	u32 util_est; /* root only: sum of the queued tasks' estimates */
	u64 tg_load_avg_contrib;
	u64 throttled_clock_pelt_ns; /* total PELT time spent throttled */
	u64 throttled_at_ns;         /* PELT clock at which the present throttling began */
	u64 tg_update_ns;            /* when the group total was last refreshed from here */
	u64 runnable_weight;         /* to 5.4: sum of the queued entities' */
	u32 throttle_count;          /* > 0: this queue or an ancestor is throttled, its clock stands still */
	s32 weight_rest;             /* what a 64-bit kernel stores beyond load_weight's units, weight.h */
} PELTON_ALIGNED64;

/* State that all CPUs' queues of one task group share. */
struct pelton_tg {
	u64 load_avg; /* sum of the contributions */
	u64 shares;   /* scaled-down: default 1024 */
} PELTON_ALIGNED64;

/* The clocks of one CPU (docs/rules/clock.md). */
struct pelton_clock {
	u64 clock_ns;
	u64 clock_task_ns;
	u64 clock_pelt_ns;
	u64 lost_idle_ns;
	u64 clock_idle_ns;      /* clock when the CPU last ran idle */
	u64 clock_pelt_idle_ns; /* published PELT clock at that moment */
} PELTON_ALIGNED64;

/* Up to 4.16: time that real-time, deadline and interrupts took, times speed; halved every half second. */
struct pelton_rt_share {
	u64 sum;
	u64 age_stamp_ns;  /* up to when halvings were made */
	u64 counted_to_ns; /* task clock up to which the run of the present task is in the sum */
} PELTON_ALIGNED64;

/* All signals of one CPU. */
struct pelton_rq {
	struct pelton_clock clock;
	struct pelton_cfs_rq cfs;
	struct pelton_avg rt;
	struct pelton_avg dl;
	struct pelton_avg irq;
	struct pelton_avg hw;
	struct pelton_rt_share rt_share;
	u32 cap_orig;   /* 0..1024 */
	u32 freq_scale; /* 0..1024 = current / reference frequency */
} PELTON_ALIGNED64;

/* Inputs of one CPU for one frequency evaluation. */
struct pelton_cpu_state {
	u64 idle_calls; /* number of idle entries so far */
	u32 cap_orig;
	u32 util_cfs;
	u32 runnable_cfs;
	u32 util_est;
	u32 util_rt;
	u32 util_dl;
	u32 util_irq;
	u32 bw_dl; /* reserved DL bandwidth, 0..1024 */
	u32 rt_nr_running;
	u32 uclamp_used;
	u32 uclamp_min;
	u32 uclamp_max;
	u32 cfs_nr_running; /* runnable fair tasks at all levels */
	u32 reserved;
} PELTON_ALIGNED64;

/* Every term of one CPU's performance request, kept so that a decision can be explained. */
struct pelton_perf_terms {
	u32 cfs; /* fair utilization after boost by runnable and util_est */
	u32 rt;  /* RT utilization that was added */
	u32 dl;  /* DL utilization or bandwidth that was added */
	u32 irq;
	u32 effective; /* after summation, clamps of old kernels and IRQ scaling */
	u32 iowait;    /* iowait boost value, capacity units */
	u32 min;
	u32 max;
	u32 headroom;   /* what the 25 % margin added on the utilization side (0 when it is on the frequency side) */
	u32 perf;       /* the performance target handed to the frequency mapping */
	u32 forced_max; /* 1: the rule for RT/DL asked for the maximum whatever the sum */
	u32 stale;      /* 1: skipped, its last hook is older than a tick (<= 4.16) */
	u32 request;    /* request and scale: the share of the highest frequency that is asked for, exactly */
	u32 scale;      /* perf of cap_orig; the I/O-wait boost of 4.7-5.0 in kHz when that is larger */
} PELTON_ALIGNED64;

/* The gate of one frequency domain: windows worked out at the start, recent maxima, and what it said last. */
struct pelton_gate {
	u64 window_ns;   /* R1: window of the maximum; R2: longest spacing; up/down: limit of increases */
	u64 spacing_ns;  /* R1 asym: spacing of increases; R2: shortest spacing; up/down: limit of decreases */
	u64 half_ns;     /* when the filling half of the window began */
	u64 until_ns;    /* hook clock: when the correction that is held may pass; 0 = none is held */
	u32 peak_khz[3]; /* largest wanted frequency of the filling half and of the two before it */
	u32 maximum_khz; /* M: largest of them, at the last evaluation */
	u32 error;       /* distance of need and request at the last evaluation, capacity */
	u32 flags;       /* of the hook call being evaluated */
	u32 verdict;     /* of the last evaluation: a PELTON_GATE value */
	u32 half_length_ns;
} PELTON_ALIGNED64;

/* schedutil, per frequency domain (cpufreq policy). */
struct pelton_sugov_policy {
	u64 last_ns; /* last accepted change (R0b) or evaluation (R0a) */
	u64 rate_limit_ns;
	u32 next_freq_khz; /* PELTON_KHZ_NONE: nothing was asked for, or it was forgotten (<= 4.17) */
	u32 cached_raw_khz;
	u32 work_in_progress;
	u32 limits_changed;
	u32 need_update;
	u32 nr_cpus;
	u32 min_khz;
	u32 max_khz;
	u32 ref_khz; /* frequency at which cap_orig holds */
	u32 cur_khz;
	u32 fast_switch;
	u32 remote_ok; /* driver can be programmed from any CPU */
	u32 freq_invariant;
	u32 hw_max_khz;         /* what the hardware can do (cpuinfo.max); 0 = same as max_khz */
	u32 need_update_limits; /* driver wants a call for every change of limits (CPUFREQ_NEED_UPDATE_LIMITS, 5.10-) */
	u32 scale_khz;          /* what signals are scaled to, where arch_scale_freq_ref() tells it; 0 = it does not */
	struct pelton_gate gate;
} PELTON_ALIGNED64;

/* schedutil, per CPU. */
struct pelton_sugov_cpu {
	u64 last_update_ns;
	u64 saved_idle_calls;
	u64 iowait_faded_ns; /* when the boost was last halved (hook_filter=h3) */
	u32 iowait_boost;
	u32 iowait_pending;
	u32 util;
	u32 bw_min;         /* DL floor (or bandwidth) at the last evaluation */
	u32 flags;          /* request flags of the last hook call */
	u32 marks;          /* what happened since the last hook call (hook.h) */
	u32 util_evaluated; /* fair utilization at the last evaluation */
	u32 khz_evaluated;  /* frequency at that moment */
	u32 kept_cfs;       /* fair utilization as of the last hook call (<= 4.16) */
	u32 kept_rt;        /* RT utilization, likewise */
	u32 kept_bw;        /* running DL bandwidth, likewise */
	u32 reserved;
} PELTON_ALIGNED64;

/* No frequency: sugov_start() and new limits of 4.7-4.17 set this. */
#define PELTON_KHZ_NONE 0xffffffffu

/* Hook call flags. */
#define PELTON_HOOK_FLAG_IOWAIT 1u
#define PELTON_HOOK_FLAG_RT 2u      /* <= 4.16 only */
#define PELTON_HOOK_FLAG_DL 4u      /* <= 4.16 only; means nothing in 4.16 */
#define PELTON_HOOK_FLAG_FORCE 8u   /* ignore the rate limit and do not restart it */
#define PELTON_HOOK_FLAG_CLASS 16u  /* the RT or DL class changed its demand */
#define PELTON_HOOK_FLAG_DETACH 32u /* utilization left the CPU */

/* Events of an update for the frequency hook; several may be set at once. */
#define PELTON_EV_DECAYED 1u
#define PELTON_EV_ATTACH 2u
#define PELTON_EV_DETACH 4u
#define PELTON_EV_REMOVED 8u
#define PELTON_EV_PROPAGATED 16u
#define PELTON_EV_TG_LOAD 32u /* not a hook: the load of the queue's task group must be refreshed */

/* update flags (docs/rules/load-tracking.md#a-tasks-life). */
#define PELTON_UPDATE_TG 1u
#define PELTON_SKIP_AGE_LOAD 2u
#define PELTON_DO_ATTACH 4u
#define PELTON_DO_DETACH 8u
#define PELTON_UPDATE_UTIL_EST 16u

/* Verdict of the gate. */
#define PELTON_VERDICT_OPEN 0u
#define PELTON_VERDICT_WINDOW 1u /* inside the rate-limit window */
#define PELTON_VERDICT_BUSY 2u   /* slow path still pending and this kernel refuses meanwhile */
#define PELTON_VERDICT_REMOTE 3u /* the executing CPU may not drive this domain */
#define PELTON_VERDICT_HELD 4u   /* evaluated, and inside the window of this gate */
#define PELTON_VERDICT_PEAK 5u   /* evaluated, and not lowered below the recent maximum */
#define PELTON_VERDICT_DEAD 6u   /* evaluated, and the error is in the dead band */

_Static_assert(sizeof(struct pelton_avg) == 64, "layout");
_Static_assert(sizeof(struct pelton_se) == 96, "layout");
_Static_assert(sizeof(struct pelton_cfs_rq) == 176, "layout");
_Static_assert(sizeof(struct pelton_tg) == 16, "layout");
_Static_assert(sizeof(struct pelton_clock) == 48, "layout");
_Static_assert(sizeof(struct pelton_rt_share) == 24, "layout");
_Static_assert(sizeof(struct pelton_rq) == 512, "layout");
_Static_assert(sizeof(struct pelton_cpu_state) == 64, "layout");
_Static_assert(sizeof(struct pelton_perf_terms) == 56, "layout");
_Static_assert(sizeof(struct pelton_gate) == 64, "layout");
_Static_assert(sizeof(struct pelton_sugov_policy) == 144, "layout");
_Static_assert(sizeof(struct pelton_sugov_cpu) == 72, "layout");
_Static_assert(__builtin_offsetof(struct pelton_rq, cap_orig) == 504, "layout");

#endif
