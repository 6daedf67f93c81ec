/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder's program hands to its reader. crates/live/src/record.rs reads the same layout. */
#ifndef PELTON_LIVE_RECORD_H
#define PELTON_LIVE_RECORD_H

/* What happened: the value of head.kind. */
enum kind {
	KIND_SWITCH = 1,
	KIND_WAKING,
	KIND_WAKEUP,
	KIND_WAKEUP_NEW,
	KIND_MIGRATE,
	KIND_FORK,
	KIND_EXIT,

	KIND_FREQUENCY,
	KIND_LIMITS,
	KIND_IDLE,
	KIND_IRQ_ENTRY,
	KIND_IRQ_EXIT,
	KIND_SOFTIRQ_ENTRY,
	KIND_SOFTIRQ_EXIT,
	KIND_CAPACITY,
	KIND_OVERUTILIZED,
	KIND_NR_RUNNING,
	KIND_ENERGY,
	KIND_NEXT_FREQ,
	KIND_EFFECTIVE_PERF,
	KIND_CLOCK_STEP,
	KIND_LOST,
	KIND_TASK,
	KIND_STATE,
	KIND_CALL,
	KIND_QUEUE,
};

/* First bytes of every record. */
struct head {
	u64 time_ns;
	u32 kind;
	u32 cpu;
};

/* Most records: the meaning of a and w depends on the kind. */
struct note {
	struct head head;
	u32 a[6];
	u64 w[4];
};

/* What a task is. */
struct task {
	struct head head;
	u32 tid;
	u32 tgid;
	u32 policy;
	u32 prio;
	u32 uclamp_min;
	u32 uclamp_max;
	u64 cpus_allowed;
	u64 group;     /* kernel object of its task group */
	u64 cgroup;    /* number of the group's directory, 0 for none */
	u64 autogroup; /* number of the autogroup plus one, 0 for none */
	u64 is_root;   /* 1 when the group has no parent */
	char comm[16];
};

/* An average with its sums. */
struct avg {
	u64 last_update_time;
	u64 load_sum;
	u64 runnable_sum;
	u64 load_avg;
	u64 runnable_avg;
	u32 util_sum;
	u32 period_contrib;
	u32 util_avg;
	u32 util_est;
	u32 ewma;
	u32 zero;
};

struct clocks {
	u64 clock;
	u64 clock_task;
	u64 clock_pelt;
	u64 lost_idle;
};

/* State of a load-tracking record. */
struct state {
	struct head head;
	u32 signal;
	u32 source;
	u32 queue_cpu;
	u32 tid;
	u32 flags;
	u32 runnable;
	u64 object;
	u64 queue;
	u64 weight;
	u64 now_ns;
	struct clocks clocks;
	struct avg avg;
};

/* The same, with what was there before the call. */
struct call {
	struct state state;
	struct avg before;
};

/* What a queue has still to take out or to propagate; the state of the queue follows. */
struct pending {
	struct head head;
	u32 queue_cpu;
	u32 removed_nr;
	u64 queue;
	u64 entity; /* the one that stands for it on the level above, 0 for a root queue */
	u64 removed_load;
	u64 removed_runnable;
	u64 removed_util;
	u64 propagate;
	s64 prop_runnable_sum;
};

/* As PeltSignal, PeltSource and the flags of pelt_state in crates/schema/src/codes.rs. */
enum { SIGNAL_ENTITY, SIGNAL_BLOCKED_ENTITY, SIGNAL_QUEUE, SIGNAL_RT, SIGNAL_DL, SIGNAL_IRQ, SIGNAL_HW };
enum {
	FROM_CALL,
	FROM_TRACEPOINT,
	AT_SWITCH,
	AT_WAKING,
	AT_WAKEUP,
	AT_TICK,
	AT_MIGRATE,
	AT_FORK,
	AT_ESTIMATE,
	AT_COUNT,
	AT_BALANCE,
	AT_REWEIGHT,
	AT_HAND_UP,
};
enum { FLAG_ON_RQ = 1, FLAG_RUNNING = 2, FLAG_DELAYED = 4, FLAG_ROOT = 8, FLAG_DECAYED = 16 };

#endif
