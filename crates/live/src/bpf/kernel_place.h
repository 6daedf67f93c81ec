/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder of placements reads beside the structures of kernel.h; see there. */
#ifndef PELTON_LIVE_KERNEL_PLACE_H
#define PELTON_LIVE_KERNEL_PLACE_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cfs_rq___idle {
	u32 idle_h_nr_running; /* before 6.14 */
};

struct rq___capacity {
	unsigned long cpu_capacity_orig; /* before 6.7 */
};

struct pcpu_hot { /* x86, 6.2 to 6.14 */
	int preempt_count;
};

struct cpuidle_state {
	u32 exit_latency;
};

struct sched_group_capacity {
	unsigned long capacity;
	unsigned long min_capacity;
	unsigned long max_capacity;
	int imbalance;
};

struct sched_group {
	struct sched_group_capacity *sgc;
	unsigned long cpumask[1];
};

struct sched_domain_shared {
	u32 has_idle_cores; /* int */
	u32 nr_idle_scan;   /* int, since 6.0 */
};

struct sched_domain {
	struct sched_domain *parent;
	struct sched_group *groups;
	u32 imbalance_pct;
	u32 imb_numa_nr; /* since 5.18 */
	u32 flags;       /* int */
	u32 cache_nice_tries;
	u32 nr_balance_failed;
	struct sched_domain_shared *shared;
	unsigned long last_balance;
	u32 balance_interval;
	u64 max_newidle_lb_cost;
	unsigned long last_decay_max_lb_cost; /* since 5.16 */
	u32 newidle_call;                     /* since 6.19, and in later stable ones */
	u32 newidle_success;                  /* the same */
	u32 newidle_ratio;                    /* the same */
	u64 newidle_stamp;                    /* in 7.2 */
};

struct rnd_state {
	u32 s1, s2, s3, s4;
};

enum cpu_idle_type {
	CPU_IDLE = 1, /* 0 before 6.8 */
	CPU_NEWLY_IDLE = 2,
};

enum migration_type {
	migrate_load = 0,
};

struct lb_env {
	struct sched_domain *sd;
	int src_cpu;
	int dst_cpu;
	enum cpu_idle_type idle;
	long imbalance;
	struct cpumask *cpus;
	u32 flags;
	enum migration_type migration_type;
};

struct em_perf_state {
	unsigned long performance;
	unsigned long cost;
	unsigned long flags;
};

struct em_perf_table { /* since 6.9 */
	struct em_perf_state state[1];
};

struct em_perf_domain {
	struct em_perf_table *em_table; /* since 6.9 */
	u32 nr_perf_states;             /* int */
	u32 min_perf_state;             /* int, since 6.13 */
	u32 max_perf_state;             /* int, since 6.13 */
	unsigned long flags;
	unsigned long cpus[1];
};

struct perf_domain {
	struct em_perf_domain *em_pd;
	struct perf_domain *next;
};

struct root_domain {
	u32 overutilized; /* int, bool since 6.10 */
	u8 overloaded;    /* bool, since 6.10 */
	struct perf_domain *pd;
};

struct root_domain___overload {
	u32 overload; /* int, before 6.10 */
};

#pragma clang attribute pop

#endif
