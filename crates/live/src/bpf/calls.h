/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complete recording, where the kernel lets functions be traced (fentry, fexit): every update of load tracking with its
 * inputs, before and after, every step of a runqueue's clocks, and what the governor made of it.
 */

/* One record per signal: an update does not sleep, and is not interrupted by another of the same kind on its CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 8);
	__type(key, u32);
	__type(value, struct avg);
} befores SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct clocks);
} clocks_before SEC(".maps");

extern const unsigned long arch_freq_scale __ksym __weak;
extern const unsigned long cpu_scale __ksym __weak;
extern const struct tick_sched tick_cpu_sched __ksym __weak;

HIDDEN int keep_before(u32 signal, struct sched_avg *avg)
{
	struct avg *before = bpf_map_lookup_elem(&befores, &signal);

	if (before)
		copy_avg(before, avg);
	return 0;
}

HIDDEN struct call *reserve_call(u32 signal, u64 now, int ret)
{
	struct avg *before = bpf_map_lookup_elem(&befores, &signal);
	struct call *call = reserve(KIND_CALL, sizeof(*call));

	if (!call)
		return 0;
	clear_state(&call->state, signal, FROM_CALL);
	call->state.now_ns = now;
	if (ret)
		call->state.flags |= FLAG_DECAYED;
	if (before)
		call->before = *before;
	else
		__builtin_memset(&call->before, 0, sizeof(call->before));
	return call;
}

HIDDEN int put_entity_call(u32 signal, u64 now, struct cfs_rq *queue, struct sched_entity *se, int ret)
{
	struct call *call = reserve_call(signal, now, ret);

	if (!call)
		return 0;
	fill_entity(&call->state, se, queue);
	submit(call);
	return 0;
}

HIDDEN int put_class_call(u32 signal, u64 now, int running, struct rq *rq, struct sched_avg *avg, int ret)
{
	struct call *call = reserve_call(signal, now, ret);

	if (!call)
		return 0;
	if (running)
		call->state.flags |= FLAG_RUNNING;
	call->state.runnable = running;
	fill_class(&call->state, rq, avg);
	submit(call);
	return 0;
}

/*
 * Between the updates of a group's entity and of the queue above, the entity takes over what its own queue has: nothing
 * changes that until then.
 */
HIDDEN void put_owned(struct sched_entity *se)
{
	struct cfs_rq *own = own_queue(se);

	if (own && bpf_core_field_exists(own->propagate) && own->propagate)
		put_queue(AT_HAND_UP, own);
}

SEC("fentry/__update_load_avg_se")
int BPF_PROG(call_se_in, u64 now, struct cfs_rq *queue, struct sched_entity *se)
{
	return keep_before(SIGNAL_ENTITY, &se->avg);
}

SEC("fexit/__update_load_avg_se")
int BPF_PROG(call_se, u64 now, struct cfs_rq *queue, struct sched_entity *se, int ret)
{
	put_owned(se);
	return put_entity_call(SIGNAL_ENTITY, now, queue, se, ret);
}

/* Bit of task_struct.__state: the task has switched away for good. */
#define STATE_DEAD 0x80

/* The entity whose update by __update_load_avg_blocked_se has begun and is not recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} blocked_open SEC(".maps");

/* A task that ended: the last update of its entity is made with interrupts on. */
HIDDEN int is_dead(struct sched_entity *se)
{
	struct task_struct *p = (void *)se - bpf_core_field_offset(struct task_struct, se);

	if (bpf_core_field_exists(p->__state))
		return BPF_CORE_READ(p, __state) & STATE_DEAD;
	return BPF_CORE_READ((struct task_struct___state *)p, state) & STATE_DEAD;
}

/*
 * A program that an interrupt finds running on its CPU is not run a second time: a call in the interrupt would be
 * missing, or have the state before another one. Only a dead task is updated with interrupts on; nothing refers to it
 * any more, and what it leaves behind is told as pending of its queue, so it is not recorded. And each of these
 * programs is there twice: only one of the two can be the one that was interrupted, and the first that runs records.
 */
HIDDEN int open_blocked(struct sched_entity *se, int again)
{
	u32 zero = 0;
	u64 *open = bpf_map_lookup_elem(&blocked_open, &zero);

	if (!open || is_dead(se) || (again && *open == (u64)se))
		return 0;
	*open = (u64)se;
	return keep_before(SIGNAL_BLOCKED_ENTITY, &se->avg);
}

HIDDEN int close_blocked(u64 now, struct sched_entity *se, int ret)
{
	u32 zero = 0;
	u64 *open = bpf_map_lookup_elem(&blocked_open, &zero);

	if (!open || *open != (u64)se)
		return 0;
	*open = 0;
	return put_entity_call(SIGNAL_BLOCKED_ENTITY, now, queue_of(se), se, ret);
}

SEC("fentry/__update_load_avg_blocked_se")
int BPF_PROG(call_blocked_in, u64 now, struct sched_entity *se)
{
	return open_blocked(se, 0);
}

SEC("fentry/__update_load_avg_blocked_se")
int BPF_PROG(call_blocked_in_again, u64 now, struct sched_entity *se)
{
	return open_blocked(se, 1);
}

SEC("fexit/__update_load_avg_blocked_se")
int BPF_PROG(call_blocked, u64 now, struct sched_entity *se, int ret)
{
	return close_blocked(now, se, ret);
}

SEC("fexit/__update_load_avg_blocked_se")
int BPF_PROG(call_blocked_again, u64 now, struct sched_entity *se, int ret)
{
	return close_blocked(now, se, ret);
}

SEC("fentry/__update_load_avg_cfs_rq")
int BPF_PROG(call_cfs_in, u64 now, struct cfs_rq *queue)
{
	return keep_before(SIGNAL_QUEUE, &queue->avg);
}

SEC("fexit/__update_load_avg_cfs_rq")
int BPF_PROG(call_cfs, u64 now, struct cfs_rq *queue, int ret)
{
	struct call *call = reserve_call(SIGNAL_QUEUE, now, ret);

	if (!call)
		return 0;
	fill_queue(&call->state, queue);
	submit(call);
	return 0;
}

/* An entity got another weight, and its queue its new load; neither is an update. */
SEC("fexit/reweight_entity")
int BPF_PROG(call_reweight, struct cfs_rq *queue, struct sched_entity *se)
{
	put_entity(AT_REWEIGHT, se);
	put_queue(AT_REWEIGHT, queue);
	return 0;
}

SEC("fentry/update_rt_rq_load_avg")
int BPF_PROG(call_rt_in, u64 now, struct rq *rq)
{
	return keep_before(SIGNAL_RT, &rq->avg_rt);
}

SEC("fexit/update_rt_rq_load_avg")
int BPF_PROG(call_rt, u64 now, struct rq *rq, int running, int ret)
{
	return put_class_call(SIGNAL_RT, now, running, rq, &rq->avg_rt, ret);
}

SEC("fentry/update_dl_rq_load_avg")
int BPF_PROG(call_dl_in, u64 now, struct rq *rq)
{
	return keep_before(SIGNAL_DL, &rq->avg_dl);
}

SEC("fexit/update_dl_rq_load_avg")
int BPF_PROG(call_dl, u64 now, struct rq *rq, int running, int ret)
{
	return put_class_call(SIGNAL_DL, now, running, rq, &rq->avg_dl, ret);
}

SEC("fentry/update_rq_clock")
int BPF_PROG(call_clock_in, struct rq *rq)
{
	u32 zero = 0;
	struct clocks *before = bpf_map_lookup_elem(&clocks_before, &zero);

	if (!before)
		return 0;
	before->clock = rq->clock;
	before->clock_task = rq->clock_task;
	before->clock_pelt = rq->clock_pelt;
	before->lost_idle = rq->curr == rq->idle;
	return 0;
}

HIDDEN u32 scale_of(const unsigned long *scales, u32 cpu)
{
	const unsigned long *scale = bpf_per_cpu_ptr(scales, cpu);

	return scale ? *scale : 1024;
}

SEC("fexit/update_rq_clock")
int BPF_PROG(call_clock, struct rq *rq)
{
	u32 zero = 0, cpu = rq->cpu;
	struct clocks *before = bpf_map_lookup_elem(&clocks_before, &zero);
	struct call *call = before ? reserve(KIND_CLOCK_STEP, sizeof(*call)) : 0;

	if (!call)
		return 0;
	clear_state(&call->state, 0, FROM_CALL);
	__builtin_memset(&call->before, 0, sizeof(call->before));
	copy_clocks(&call->state, rq);
	call->state.flags = before->lost_idle;
	call->state.tid = bpf_ksym_exists(&cpu_scale) ? scale_of(&cpu_scale, cpu) : 1024;
	call->state.runnable = bpf_ksym_exists(&arch_freq_scale) ? scale_of(&arch_freq_scale, cpu) : 1024;
	call->before.last_update_time = before->clock;
	call->before.load_sum = before->clock_task;
	call->before.runnable_sum = before->clock_pelt;
	submit(call);
	return 0;
}

/* A domain of one CPU keeps its frequency while that CPU has not been idle. */
HIDDEN u64 idle_calls(u32 cpu)
{
	const struct tick_sched *tick = bpf_ksym_exists(&tick_cpu_sched) ? bpf_per_cpu_ptr(&tick_cpu_sched, cpu) : 0;

	return tick ? tick->idle_calls : 0;
}

SEC("fexit/get_next_freq")
int BPF_PROG(call_next_freq, struct sugov_policy *sg_policy, unsigned long util, unsigned long max, u32 ret)
{
	struct cpufreq_policy *policy = sg_policy->policy;
	struct note *note = policy ? NOTE(KIND_NEXT_FREQ) : 0;

	if (!note)
		return 0;
	note->a[0] = policy->cpu;
	note->a[1] = util;
	note->a[2] = max;
	note->a[3] = ret;
	note->a[4] = policy->cur;
	note->a[5] = policy->cpuinfo.max_freq;
	note->w[0] = sg_policy->cached_raw_freq;
	note->w[1] = sg_policy->next_freq;
	note->w[2] = sg_policy->need_freq_update;
	note->w[3] = idle_calls(policy->cpu);
	submit(note);
	return 0;
}

SEC("fexit/sugov_effective_cpu_perf")
int BPF_PROG(call_effective_perf, int cpu, unsigned long actual, unsigned long min, unsigned long max,
	     unsigned long ret)
{
	struct note *note = NOTE(KIND_EFFECTIVE_PERF);

	if (!note)
		return 0;
	note->a[0] = cpu;
	note->a[1] = actual;
	note->a[2] = min;
	note->a[3] = max;
	note->a[4] = ret;
	submit(note);
	return 0;
}
