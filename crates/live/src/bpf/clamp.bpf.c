// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recorder of clamps inside the kernel. What counts a task's clamps (uclamp_rq_inc, uclamp_rq_dec) is part of its
 * caller and cannot be traced; the function of the class that is called right after it can. It computes nothing: every
 * number is the kernel's own.
 */
#include "kernel.h"
#include "kernel_place.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "clamp.h"
#include "vars.h"

char LICENSE[] SEC("license") = "GPL";

#define HIDDEN static __always_inline

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} ring SEC(".maps");

struct clamp_globals globals;

/* Records of each runqueue, told under its lock. */
u64 orders[CLAMP_CPUS_MAX];
/* Which task updates the tasks of a group, how many change limits, and how often one began or ended. */
u64 updater, updating, changes;
/* The task that the kernel's walk over the group is at. A lock of any other task is no count of clamps. */
u64 next_updated;
/* The same count when each runqueue's clock was last updated; CHANGING: limits were changing then. */
u64 changes_seen[CLAMP_CPUS_MAX];
#define CHANGING (~0ull)

/* What each CPU's target reads, before it is worked out. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct clamp);
} targets SEC(".maps");

/*
 * 1 while records are made. Programs come and go one after the other: what happens meanwhile would be told in part.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} recording SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct uclamp_bucket {
	unsigned long value : 11;
	unsigned long tasks : 53;
};

struct uclamp_rq___buckets {
	u32 value;
	struct uclamp_bucket bucket[5];
};

#pragma clang attribute pop

HIDDEN int is_recording(void)
{
	u32 zero = 0;
	u64 *on = bpf_map_lookup_elem(&recording, &zero);

	return on && *on;
}

/* Are clamps in use? 0: no. 1: yes. 2: they are just coming into use, at a moment that nothing tells. */
HIDDEN u64 in_use(void)
{
	int enabled = 0;

	if (&sched_uclamp_used)
		bpf_probe_read_kernel(&enabled, sizeof(enabled), &sched_uclamp_used);
	return enabled < 0 ? 2 : enabled > 0;
}

HIDDEN struct clamp *open_record(u64 kind)
{
	struct clamp *c;

	if (!is_recording())
		return 0;
	c = bpf_ringbuf_reserve(&ring, sizeof(*c), 0);
	if (!c) {
		__sync_fetch_and_add(&globals.lost, 1);
		return 0;
	}
	__builtin_memset(c, 0, sizeof(*c));
	c->ts = bpf_ktime_get_ns();
	c->kind = kind;
	c->used = in_use();
	return c;
}

#define PUT_BUCKET(i) \
	do { \
		c->n_min##i = BPF_CORE_READ_BITFIELD_PROBED(low, bucket[i].tasks); \
		c->b_min##i = BPF_CORE_READ_BITFIELD_PROBED(low, bucket[i].value); \
		c->n_max##i = BPF_CORE_READ_BITFIELD_PROBED(high, bucket[i].tasks); \
		c->b_max##i = BPF_CORE_READ_BITFIELD_PROBED(high, bucket[i].value); \
	} while (0)

HIDDEN void put_runqueue(struct clamp *c, struct rq *rq)
{
	struct uclamp_rq___buckets *low = (void *)&rq->uclamp[0], *high = (void *)&rq->uclamp[1];

	c->cpu = BPF_CORE_READ(rq, cpu);
	c->v_min = BPF_CORE_READ(low, value);
	c->v_max = BPF_CORE_READ(high, value);
	c->idle = BPF_CORE_READ(rq, uclamp_flags) & 1;
	c->buckets = bpf_core_field_size(low->bucket) / bpf_core_type_size(struct uclamp_bucket);
	PUT_BUCKET(0);
	PUT_BUCKET(1);
	PUT_BUCKET(2);
	PUT_BUCKET(3);
	PUT_BUCKET(4);
}

/*
 * Is the task moving to another group? The cgroup core has moved it then, and the scheduler has not: `group` is not the
 * one whose limits are being changed, and may still have its old ones.
 */
HIDDEN u64 is_between_groups(struct task_struct *p, struct task_group *group)
{
	struct cgroup_subsys_state *state;
	struct css_set *set;
	u64 at;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id))
		return 0;
	at = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	set = BPF_CORE_READ(p, cgroups);
	if (!set || bpf_probe_read_kernel(&state, sizeof(state), (void **)&set->subsys + at))
		return 0;
	return state != (void *)&group->css &&
	       !(bpf_core_field_exists(group->autogroup) && BPF_CORE_READ(group, autogroup));
}

/* The clamps of a group. Those of the root and of autogroups limit nothing. */
HIDDEN void put_group(struct clamp *c, struct task_struct *p)
{
	struct task_group *group = 0, *above;

	c->g_max = c->gr_max = c->u_min = c->u_max = 1024;
	if (bpf_core_field_exists(p->sched_task_group))
		group = BPF_CORE_READ(p, sched_task_group);
	if (!group || !bpf_core_field_exists(group->uclamp))
		return;
	c->changed = is_between_groups(p, group);
	c->g_min = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp[0].value);
	c->g_max = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp[1].value);
	c->gr_min = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp_req[0].value);
	c->gr_max = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp_req[1].value);
	above = BPF_CORE_READ(group, parent);
	if (!above)
		return;
	c->u_min = BPF_CORE_READ_BITFIELD_PROBED(above, uclamp[0].value);
	c->u_max = BPF_CORE_READ_BITFIELD_PROBED(above, uclamp[1].value);
	c->in_group = 1;
	if (bpf_core_field_exists(group->autogroup) && BPF_CORE_READ(group, autogroup))
		c->in_group = 0;
}

HIDDEN void put_task(struct clamp *c, struct task_struct *p)
{
	const struct uclamp_se *lower = &uclamp_default, *upper = next_limit(lower);

	c->pid = BPF_CORE_READ(p, pid);
	c->delayed = 0;
	if (bpf_core_field_exists(p->se.sched_delayed))
		c->delayed = BPF_CORE_READ(p, se.sched_delayed);
	c->req_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[0].value);
	c->req_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[1].value);
	c->val_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[0].value);
	c->val_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[1].value);
	c->bkt_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[0].bucket_id);
	c->bkt_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[1].bucket_id);
	c->act_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[0].active);
	c->act_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[1].active);
	c->d_min = c->d_max = 1024;
	if (lower) {
		c->d_min = BPF_CORE_READ_BITFIELD_PROBED(lower, value);
		c->d_max = BPF_CORE_READ_BITFIELD_PROBED(upper, value);
	}
}

/*
 * Did limits change after the kernel read them for this task? It updates the clock of the runqueue first,
 * then reads them (enqueue_task), all under the lock of the runqueue.
 */
HIDDEN u64 limits_are_new(u64 at)
{
	return updating || changes_seen[at] != changes;
}

HIDDEN void limits_change(u64 by)
{
	__sync_fetch_and_add(&changes, 1);
	__sync_fetch_and_add(&updating, by);
}

SEC("fentry/update_rq_clock")
int BPF_PROG(clamp_clock, struct rq *rq)
{
	u64 at = BPF_CORE_READ(rq, cpu);

	asm volatile("" : "+r"(at));
	at &= CLAMP_CPUS_MAX - 1;
	changes_seen[at] = updating ? CHANGING : changes;
	return 0;
}

HIDDEN int put(u64 kind, struct rq *rq, struct task_struct *p, u64 flags, u64 rt)
{
	u64 at = BPF_CORE_READ(rq, cpu), order;
	struct clamp *c;

	asm volatile("" : "+r"(at));
	at &= CLAMP_CPUS_MAX - 1;
	order = orders[at] + 1;
	orders[at] = order;
	c = open_record(kind);
	if (!c)
		return 0;
	c->order = order;
	c->flags = flags;
	c->rt = rt;
	put_runqueue(c, rq);
	put_task(c, p);
	put_group(c, p);
	/* Last: they may have changed while they were read here, too. */
	c->updating = limits_are_new(at);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("fentry/enqueue_task_fair")
int BPF_PROG(clamp_enqueue_fair, struct rq *rq, struct task_struct *p, int flags)
{
	return put(CLAMP_ENQUEUE, rq, p, (u32)flags, 0);
}

SEC("fentry/enqueue_task_rt")
int BPF_PROG(clamp_enqueue_rt, struct rq *rq, struct task_struct *p, int flags)
{
	return put(CLAMP_ENQUEUE, rq, p, (u32)flags, 1);
}

SEC("fentry/dequeue_task_fair")
int BPF_PROG(clamp_dequeue_fair, struct rq *rq, struct task_struct *p, int flags)
{
	return put(CLAMP_DEQUEUE, rq, p, (u32)flags, 0);
}

SEC("fentry/dequeue_task_rt")
int BPF_PROG(clamp_dequeue_rt, struct rq *rq, struct task_struct *p, int flags)
{
	return put(CLAMP_DEQUEUE, rq, p, (u32)flags, 1);
}

/* Limits of the system are changing; the function has a mutex, and may call the next one. */
SEC("fentry/sysctl_sched_uclamp_handler")
int BPF_PROG(clamp_limits_in)
{
	limits_change(1);
	return 0;
}

SEC("fexit/sysctl_sched_uclamp_handler")
int BPF_PROG(clamp_limits)
{
	limits_change(-1);
	return 0;
}

/* A group's limits are changing; its runnable tasks are counted again, one after the other. */
SEC("fentry/cpu_util_update_eff")
int BPF_PROG(clamp_group_in)
{
	updater = (u32)bpf_get_current_pid_tgid();
	limits_change(1);
	return 0;
}

SEC("fexit/cpu_util_update_eff")
int BPF_PROG(clamp_group)
{
	updater = 0;
	next_updated = 0;
	limits_change(-1);
	return 0;
}

HIDDEN int is_updater(void)
{
	return updater && updater == (u32)bpf_get_current_pid_tgid();
}

SEC("fexit/css_task_iter_next")
int BPF_PROG(clamp_next, void *it, struct task_struct *p)
{
	if (is_updater())
		next_updated = (u64)p;
	return 0;
}

HIDDEN int put_update(struct task_struct *p, struct rq *rq)
{
	if (!is_updater() || next_updated != (u64)p)
		return 0;
	next_updated = 0;
	return put(CLAMP_UPDATE, rq, p, 0, 0);
}

/* The lock under which a task is counted again, just taken: what is told is the state before. */
SEC("fexit/task_rq_lock")
int BPF_PROG(clamp_locked, struct task_struct *p, void *rf, struct rq *rq)
{
	return put_update(p, rq);
}

/* Its name in 7.2. */
SEC("fexit/_task_rq_lock")
int BPF_PROG(clamp_locked_late, struct task_struct *p, void *rf, struct rq *rq)
{
	return put_update(p, rq);
}

/* What effective_cpu_util() reads. */
HIDDEN void put_inputs(struct clamp *c, u32 cpu)
{
	struct rq *rq = (struct rq *)bpf_per_cpu_ptr(&runqueues, cpu);

	if (!rq)
		return;
	c->t_scale = OF_CPU(unsigned long, cpu_scale, cpu, 1024);
	c->t_irq = 0;
	if (bpf_core_field_exists(rq->avg_irq))
		c->t_irq = BPF_CORE_READ(rq, avg_irq.util_avg);
	c->t_rt = BPF_CORE_READ(rq, avg_rt.util_avg);
	c->t_dl = BPF_CORE_READ(rq, avg_dl.util_avg);
	c->t_dl_bw = BPF_CORE_READ(rq, dl.running_bw);
	c->t_rt_nr = BPF_CORE_READ(rq, rt.rt_nr_running);
	c->t_min = BPF_CORE_READ(rq, uclamp[0].value);
	c->t_max = BPF_CORE_READ(rq, uclamp[1].value);
}

HIDDEN struct clamp *my_target(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&targets, &zero);
}

/* Only callers that ask for limits ask for a target. */
SEC("fentry/effective_cpu_util")
int BPF_PROG(clamp_util_in, int cpu, unsigned long util, unsigned long *min, unsigned long *max)
{
	struct clamp *c = min ? my_target() : 0;

	if (c)
		put_inputs(c, cpu);
	return 0;
}

SEC("fexit/effective_cpu_util")
int BPF_PROG(clamp_util, int cpu, unsigned long util, unsigned long *min, unsigned long *max, unsigned long ret)
{
	struct clamp *before = min && max ? my_target() : 0, *c;
	unsigned long low = 0, high = 0;

	if (!before)
		return 0;
	c = open_record(CLAMP_UTIL);
	if (!c)
		return 0;
	put_inputs(c, cpu);
	c->changed = c->t_irq != before->t_irq || c->t_rt != before->t_rt || c->t_dl != before->t_dl ||
		     c->t_dl_bw != before->t_dl_bw || c->t_rt_nr != before->t_rt_nr || c->t_min != before->t_min ||
		     c->t_max != before->t_max;
	c->cpu = (u32)cpu;
	c->t_util = util;
	bpf_probe_read_kernel(&low, sizeof(low), min);
	bpf_probe_read_kernel(&high, sizeof(high), max);
	c->o_min = low;
	c->o_max = high;
	c->o_util = ret;
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("fexit/sugov_effective_cpu_perf")
int BPF_PROG(clamp_perf, int cpu, unsigned long actual, unsigned long min, unsigned long max, unsigned long ret)
{
	struct clamp *c = open_record(CLAMP_PERF);

	if (!c)
		return 0;
	c->cpu = (u32)cpu;
	c->t_util = actual;
	c->t_min = min;
	c->t_max = max;
	c->o_util = ret;
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	return 0;
}
