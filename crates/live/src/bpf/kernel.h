/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel structures the recorder reads, each with the few members it reads. Where the members are is found when
 * the program is loaded (CO-RE), from the type information of the running kernel; therefore neither a generated header
 * of one kernel nor the tool that makes it is needed to build.
 *
 * A name after three underscores is a flavour: the same structure as another kernel release has it. What is not there
 * must not be touched without asking bpf_core_field_exists first.
 */
#ifndef PELTON_LIVE_KERNEL_H
#define PELTON_LIVE_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

/* What the BPF helpers' declarations need. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef signed char __s8;
typedef _Bool bool;
typedef short __s16;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_F_CURRENT_CPU = 0xffffffff,
};

/* Asked for by name; the number is the kernel's. */
enum bpf_func_id___current {
	BPF_FUNC_get_current_task_btf___current = 158, /* since 5.11 */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct load_weight {
	unsigned long weight;
};

struct sched_avg {
	u64 last_update_time;
	u64 load_sum;
	u64 runnable_sum;
	u32 util_sum;
	u32 period_contrib;
	unsigned long load_avg;
	unsigned long runnable_avg;
	unsigned long util_avg;
	u32 util_est; /* a word since 6.8 */
};

struct util_est {
	u32 enqueued;
	u32 ewma;
};

struct sched_avg___pair {
	struct util_est util_est; /* before 6.8 */
};

struct cfs_rq;

struct sched_entity {
	struct load_weight load;
	u8 on_rq;
	u8 sched_delayed; /* since 6.12 */
	u8 custom_slice;  /* since 6.12 */
	u64 slice;        /* since 6.6 */
	u64 sum_exec_runtime;
	struct sched_entity *parent;
	struct cfs_rq *cfs_rq;
	struct cfs_rq *my_q;
	unsigned long runnable_weight;
	struct sched_avg avg;
};

struct rq;
struct task_group;

struct cfs_rq {
	struct load_weight load;
	u32 h_nr_queued;   /* since 6.14 */
	u32 h_nr_runnable; /* since 6.14 */
	u32 h_nr_idle;     /* since 6.14 */
	struct sched_entity *curr;
	struct sched_avg avg;
	struct {
		int nr;
		unsigned long load_avg;
		unsigned long util_avg;
		unsigned long runnable_avg; /* since 5.7 */
	} removed;
	long propagate;
	long prop_runnable_sum;
	unsigned long h_load;
	u64 last_h_load_update;
	struct rq *rq;
	struct task_group *tg;
};

struct cfs_tg_state { /* in 7.2, not in 6.18 */
	struct cfs_rq cfs_rq;
	struct sched_entity se;
};

struct cfs_rq___running {
	u32 h_nr_running; /* before 6.14 */
};

struct cfs_rq___delayed {
	u32 h_nr_delayed; /* 6.12 and 6.13: counted in h_nr_running */
};

struct task_struct;

/* On kernels that have it a spinlock begins with it: not 0 while a CPU holds the lock or is about to. */
struct qspinlock {
	u32 val;
};

struct raw_spinlock {
	struct qspinlock raw_lock;
};

struct rt_rq {
	u32 rt_nr_running;
	u32 rt_queued; /* int */
};

struct dl_rq {
	u64 running_bw;
};

struct uclamp_rq {
	u32 value;
};

struct cpuidle_state;
struct root_domain;
struct sched_domain;

struct rq {
	struct raw_spinlock __lock; /* since 5.14 */
	u32 nr_running;
	u32 ttwu_pending;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct uclamp_rq uclamp[2];
	u32 uclamp_flags;
	struct root_domain *rd;
	struct sched_domain *sd;
	u64 idle_stamp;
	u64 avg_idle;
	u64 max_idle_balance_cost;
	unsigned long next_balance;
	struct cpuidle_state *idle_state;
	struct task_struct *curr;
	struct task_struct *idle;
	u64 clock;
	u64 clock_task;
	u64 clock_pelt;
	unsigned long lost_idle_time;
	unsigned long cpu_capacity;
	unsigned long misfit_task_load;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
	struct sched_avg avg_irq;
	struct sched_avg avg_hw; /* since 6.10 */
	int cpu;
};

struct rq___thermal {
	struct sched_avg avg_thermal; /* 5.7 to 6.9 */
};

struct cpumask {
	unsigned long bits[1];
};

struct kernfs_node {
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct cgroup_subsys_state *subsys[1];
	struct kernfs_node *kn;
};

struct autogroup {
	unsigned long id;
};

struct uclamp_se {
	u32 value : 11;
	u32 bucket_id : 3;
	u32 active : 1;
};

/* Only the name counts: the number is the kernel's own. */
enum cgroup_subsys_id {
	cpu_cgrp_id,
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct cfs_bandwidth {
	s64 period;
	u64 quota;
	u64 burst; /* since 5.14 */
};

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_bandwidth cfs_bandwidth;
	struct uclamp_se uclamp_req[2];
	struct uclamp_se uclamp[2];
	struct sched_entity **se;
	unsigned long shares;
	int idle; /* since 5.15 */
	struct task_group *parent;
	struct autogroup *autogroup;
};

struct preempt {
	u32 count;
};

struct thread_info {
	u32 cpu;
	struct preempt preempt;
};

struct task_struct {
	struct thread_info thread_info;
	u32 __state; /* since 5.14 */
	u32 on_rq;   /* int to 6.18, u8 in 7.2: only unsigned fields are fitted to their size */
	int prio;
	int static_prio;
	u32 policy;
	u32 in_iowait : 1;
	struct sched_entity se;
	struct task_group *sched_task_group;
	struct css_set *cgroups;
	const struct cpumask *cpus_ptr;
	struct uclamp_se uclamp_req[2];
	struct uclamp_se uclamp[2];
	u32 flags;
	u32 wakee_flips;
	unsigned long wakee_flip_decay_ts;
	struct task_struct *last_wakee;
	u32 recent_used_cpu;    /* int */
	u32 nr_cpus_allowed;    /* int */
	u32 migration_disabled; /* unsigned short */
	int pid;
	int tgid;
	char comm[16];
};

struct task_struct___state {
	long state; /* before 5.14 */
};

struct task_struct___cpu {
	u32 cpu; /* where thread_info has none */
};

struct cpufreq_cpuinfo {
	u32 max_freq;
};

struct cpufreq_policy {
	u32 cpu;
	struct cpufreq_cpuinfo cpuinfo;
	u32 min;
	u32 max;
	u32 cur;
};

struct sugov_policy {
	struct cpufreq_policy *policy;
	u32 next_freq;
	u32 cached_raw_freq;
	bool need_freq_update;
};

struct tick_sched {
	unsigned long idle_calls;
};

struct hrtimer;
struct linux_binprm;
struct irqaction;

#pragma clang attribute pop

#endif
