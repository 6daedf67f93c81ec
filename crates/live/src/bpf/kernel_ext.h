/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched_ext as the scheduler uses it: members of its structures, and the kernel's functions. A kernel's own are found
 * by name when the program is loaded.
 *
 * Source: include/linux/sched/ext.h, kernel/sched/ext.c of Linux 6.18 and 7.2 (type information of both).
 */
#ifndef PELTON_LIVE_KERNEL_EXT_H
#define PELTON_LIVE_KERNEL_EXT_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#define SCX_DSQ_LOCAL ((1ull << 63) | 2u)
#define SCX_DSQ_LOCAL_ON ((1ull << 63) | (1ull << 62))

#define SCX_ENQ_WAKEUP 0x1ull
#define SCX_ENQ_REENQ (1ull << 40)
#define SCX_ENQ_PREEMPT (1ull << 32)
#define SCX_ENQ_LAST (1ull << 41)
#define SCX_DEQ_SLEEP 0x1ull
#define SCX_KICK_IDLE 1ull
#define SCX_KICK_PREEMPT 2ull
#define SCX_TASK_QUEUED 1u

#define SCX_OPS_KEEP_BUILTIN_IDLE 1ull
#define SCX_OPS_ENQ_LAST 2ull
#define SCX_OPS_ENQ_EXITING 4ull
#define SCX_OPS_ENQ_MIGRATION_DISABLED 16ull

#define BPF_NOEXIST 1

#define PF_IDLE 0x2u
#define PF_EXITING 0x4u
#define SCHED_IDLE 5u

/* Only the name counts. */
enum scx_exit_kind {
	SCX_EXIT_NONE,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_ext_entity {
	u32 flags;
	u64 slice;
};

struct task_struct___ext {
	struct sched_ext_entity scx;
};

struct scx_init_task_args {
	bool fork;
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
};

#pragma clang attribute pop

/* The callbacks that are given; those that are not stay the kernel's own. */
struct sched_ext_ops {
	void (*select_cpu)(void);
	void (*enqueue)(void);
	void (*dispatch)(void);
	void (*tick)(void);
	void (*yield)(void);
	void (*running)(void);
	void (*stopping)(void);
	void (*quiescent)(void);
	void (*update_idle)(void);
	void (*init_task)(void);
	void (*disable)(void);
	void (*init)(void);
	void (*exit)(void);
	void (*cpu_release)(void);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));

struct bpf_iter_num {
	u64 opaque;
} __attribute__((aligned(8)));

struct bpf_timer {
	u64 opaque[2];
} __attribute__((aligned(8)));

extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;

extern s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq_id, u64 flags) __ksym;
extern bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym;
extern s32 scx_bpf_pick_idle_cpu(const struct cpumask *cpus_allowed, u64 flags) __ksym;
extern s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle) __ksym;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern u32 scx_bpf_cpuperf_cur(s32 cpu) __ksym;
extern void scx_bpf_cpuperf_set(s32 cpu, u32 perf) __ksym;
extern u64 scx_bpf_now(void) __ksym;
extern u32 scx_bpf_reenqueue_local(void) __ksym;
extern void scx_bpf_error_bstr(char *fmt, unsigned long long *data, u32 data__sz) __ksym;
/* Since 7.0; before, the slice of a task is written directly. */
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;

#endif
