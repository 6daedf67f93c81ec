/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers, and how kernel structures become records. */
#ifndef PELTON_LIVE_COMMON_H
#define PELTON_LIVE_COMMON_H

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record.h"

/* Entities of nested groups that one snapshot follows upwards. */
#define LEVELS_MAX 6

#define HIDDEN static __always_inline

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One buffer per CPU: no CPU waits for another, and the order within a CPU is the order of the buffer. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct loss {
	u64 lost;
	u64 told;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct loss);
} losses SEC(".maps");

/* What was last told about a task, in one word. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u64);
} told_tasks SEC(".maps");

/*
 * Are load-tracking records read at switches, wake-ups and ticks too? Where the queue's lock is not held another CPU,
 * or an interrupt, may be half-way through a change, or be recorded in between: where every call is recorded such a
 * look tells nothing new and may be wrong.
 */
enum { NO_SNAPSHOTS, ALL_SNAPSHOTS, LOCKED_SNAPSHOTS };
const volatile u32 want_snapshots = ALL_SNAPSHOTS;

/* Is a look wanted that is made with or without the lock? */
HIDDEN int may_look(int locked)
{
	return want_snapshots == ALL_SNAPSHOTS || (locked && want_snapshots == LOCKED_SNAPSHOTS);
}

/* Moments at which the lock may not be held. */
HIDDEN int may_be_unlocked(u32 source)
{
	return source == AT_WAKING || source == AT_WAKEUP || source == AT_TICK || source == AT_MIGRATE ||
	       source == AT_BALANCE;
}

HIDDEN void *reserve_in(void *ring, u32 kind, u64 bytes, u32 cpu)
{
	struct head *head = bpf_ringbuf_reserve(ring, bytes, 0);

	if (!head)
		return 0;
	head->time_ns = bpf_ktime_get_ns();
	head->kind = kind;
	head->cpu = cpu;
	return head;
}

HIDDEN void submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Says how many records had no room, at the place where they are missing. False when that has no room either. */
HIDDEN int tell_loss(void *ring, struct loss *loss, u32 cpu)
{
	struct note *note;

	if (loss->lost == loss->told)
		return 1;
	note = reserve_in(ring, KIND_LOST, sizeof(*note), cpu);
	if (!note)
		return 0;
	note->w[0] = loss->lost - loss->told;
	loss->told = loss->lost;
	submit(note);
	return 1;
}

HIDDEN void *reserve(u32 kind, u64 bytes)
{
	u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	void *ring = bpf_map_lookup_elem(&rings, &cpu), *record = 0;
	struct loss *loss = bpf_map_lookup_elem(&losses, &zero);

	if (!ring || !loss)
		return 0;
	if (tell_loss(ring, loss, cpu))
		record = reserve_in(ring, kind, bytes, cpu);
	if (!record)
		loss->lost++;
	return record;
}

#define NOTE(kind) ((struct note *)reserve(kind, sizeof(struct note)))

HIDDEN u32 task_cpu(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return ((struct task_struct___cpu *)p)->cpu;
}

HIDDEN u32 task_state(struct task_struct *p)
{
	if (bpf_core_field_exists(p->__state))
		return p->__state;
	return ((struct task_struct___state *)p)->state;
}

HIDDEN void copy_avg(struct avg *to, struct sched_avg *from)
{
	to->last_update_time = from->last_update_time;
	to->load_sum = from->load_sum;
	to->runnable_sum = from->runnable_sum;
	to->load_avg = from->load_avg;
	to->runnable_avg = from->runnable_avg;
	to->util_sum = from->util_sum;
	to->period_contrib = from->period_contrib;
	to->util_avg = from->util_avg;
	to->ewma = 0;
	to->zero = 0;
	if (bpf_core_field_exists(((struct sched_avg___pair *)from)->util_est.enqueued)) {
		to->util_est = ((struct sched_avg___pair *)from)->util_est.enqueued;
		to->ewma = ((struct sched_avg___pair *)from)->util_est.ewma;
	} else {
		to->util_est = from->util_est;
	}
}

HIDDEN void copy_clocks(struct state *state, struct rq *rq)
{
	if (!rq)
		return;
	state->queue_cpu = rq->cpu;
	state->clocks.clock = rq->clock;
	state->clocks.clock_task = rq->clock_task;
	state->clocks.clock_pelt = rq->clock_pelt;
	state->clocks.lost_idle = rq->lost_idle_time;
}

HIDDEN void clear_state(struct state *state, u32 signal, u32 source)
{
	struct head head = state->head;

	__builtin_memset(state, 0, sizeof(*state));
	state->head = head;
	state->signal = signal;
	state->source = source;
	state->queue_cpu = head.cpu;
}

HIDDEN struct rq *rq_of_queue(struct cfs_rq *queue)
{
	if (queue && bpf_core_field_exists(queue->rq))
		return queue->rq;
	return 0;
}

HIDDEN u32 queue_runnable(struct cfs_rq *queue)
{
	u32 running;

	if (bpf_core_field_exists(queue->h_nr_runnable))
		return queue->h_nr_runnable;
	running = ((struct cfs_rq___running *)queue)->h_nr_running;
	if (bpf_core_field_exists(((struct cfs_rq___delayed *)queue)->h_nr_delayed))
		running -= ((struct cfs_rq___delayed *)queue)->h_nr_delayed;
	return running;
}

HIDDEN struct cfs_rq *queue_of(struct sched_entity *se)
{
	return bpf_core_field_exists(se->cfs_rq) ? se->cfs_rq : 0;
}

HIDDEN struct cfs_rq *own_queue(struct sched_entity *se)
{
	return bpf_core_field_exists(se->my_q) ? se->my_q : 0;
}

HIDDEN struct sched_entity *parent_of(struct sched_entity *se)
{
	return bpf_core_field_exists(se->parent) ? se->parent : 0;
}

/* The task an entity is part of; the verifier follows no pointer backwards, so its number is copied out. */
HIDDEN u32 task_of_entity(struct sched_entity *se)
{
	void *task = (void *)se - bpf_core_field_offset(struct task_struct, se);

	return BPF_CORE_READ((struct task_struct *)task, pid);
}

HIDDEN void fill_entity(struct state *state, struct sched_entity *se, struct cfs_rq *queue)
{
	state->object = (u64)se;
	state->queue = (u64)queue;
	state->weight = se->load.weight;
	if (se->on_rq)
		state->flags |= FLAG_ON_RQ;
	if (bpf_core_field_exists(se->sched_delayed) && se->sched_delayed)
		state->flags |= FLAG_DELAYED;
	if (!parent_of(se))
		state->flags |= FLAG_ROOT;
	if (queue && queue->curr == se)
		state->flags |= FLAG_RUNNING;
	if (own_queue(se)) {
		state->runnable = se->runnable_weight;
	} else {
		state->tid = task_of_entity(se);
		state->runnable = (state->flags & FLAG_ON_RQ) && !(state->flags & FLAG_DELAYED);
	}
	copy_clocks(state, rq_of_queue(queue));
	copy_avg(&state->avg, &se->avg);
}

HIDDEN void fill_queue(struct state *state, struct cfs_rq *queue)
{
	struct rq *rq = rq_of_queue(queue);

	state->object = state->queue = (u64)queue;
	state->weight = queue->load.weight;
	state->runnable = queue_runnable(queue);
	if (queue->curr)
		state->flags |= FLAG_RUNNING;
	if (state->runnable)
		state->flags |= FLAG_ON_RQ;
	if (rq && queue == &rq->cfs)
		state->flags |= FLAG_ROOT;
	copy_clocks(state, rq);
	copy_avg(&state->avg, &queue->avg);
}

/* A class of a CPU: the object is its average. */
HIDDEN void fill_class(struct state *state, struct rq *rq, struct sched_avg *avg)
{
	state->object = (u64)avg;
	copy_clocks(state, rq);
	copy_avg(&state->avg, avg);
}

HIDDEN struct state *reserve_state(u32 signal, u32 source)
{
	struct state *state = reserve(KIND_STATE, sizeof(*state));

	if (state)
		clear_state(state, signal, source);
	return state;
}

#include "lockless.h"

HIDDEN void put_entity(u32 source, struct sched_entity *se)
{
	struct cfs_rq *queue = queue_of(se);
	struct state *state = reserve_state(SIGNAL_ENTITY, source);

	if (!state)
		return;
	fill_entity(state, se, queue);
	finish(&state->head, source, !is_changing(state, queue));
}

/* The entity that stands for a group's queue on the level above. */
HIDDEN u64 entity_of_queue(struct cfs_rq *queue, u32 cpu)
{
	struct sched_entity **entities, *se = 0;
	struct rq *rq = rq_of_queue(queue);

	/* From 7.x on a group's queue and entity of a CPU are one allocation; the root's queue is not. */
	if (bpf_core_type_exists(struct cfs_tg_state))
		return rq && queue == &rq->cfs ? 0 : (u64)queue + bpf_core_field_offset(struct cfs_tg_state, se);
	if (!bpf_core_field_exists(queue->tg) || !bpf_core_field_exists(queue->tg->se))
		return 0;
	entities = BPF_CORE_READ(queue, tg, se);
	if (entities)
		bpf_probe_read_kernel(&se, sizeof(se), entities + cpu);
	return (u64)se;
}

HIDDEN void fill_pending(struct pending *pending, struct cfs_rq *queue)
{
	struct rq *rq = rq_of_queue(queue);
	u32 cpu = rq ? rq->cpu : pending->head.cpu;

	pending->queue_cpu = cpu;
	pending->queue = (u64)queue;
	pending->entity = entity_of_queue(queue, cpu);
	pending->removed_nr = queue->removed.nr;
	pending->removed_load = queue->removed.load_avg;
	pending->removed_util = queue->removed.util_avg;
	pending->removed_runnable = 0;
	if (bpf_core_field_exists(queue->removed.runnable_avg))
		pending->removed_runnable = queue->removed.runnable_avg;
	pending->propagate = queue->propagate;
	pending->prop_runnable_sum = queue->prop_runnable_sum;
}

/* Nothing pending is the rule, and is not recorded. What a root queue would propagate is never taken from it. */
HIDDEN int has_pending(struct cfs_rq *queue)
{
	struct rq *rq = rq_of_queue(queue);

	if (!bpf_core_field_exists(queue->removed.nr) || !bpf_core_field_exists(queue->propagate))
		return 0;
	return queue->removed.nr || (queue->propagate && !(rq && queue == &rq->cfs));
}

/* What is pending belongs to the state after it: it is told just before, or not at all. */
HIDDEN void put_pending(struct state *state, struct cfs_rq *queue)
{
	struct pending *pending;

	if (!has_pending(queue))
		return;
	pending = reserve(KIND_QUEUE, sizeof(*pending));
	if (!pending)
		return;
	fill_pending(pending, queue);
	pending->head.time_ns = state->head.time_ns - 1;
	submit(pending);
}

HIDDEN void put_queue(u32 source, struct cfs_rq *queue)
{
	struct state *state = reserve_state(SIGNAL_QUEUE, source);
	int told;

	if (!state)
		return;
	fill_queue(state, queue);
	told = !is_changing(state, queue);
	if (told)
		put_pending(state, queue);
	finish(&state->head, source, told);
}

HIDDEN void put_class(u32 source, u32 signal, struct rq *rq, struct sched_avg *avg)
{
	struct state *state = reserve_state(signal, source);

	if (!state)
		return;
	fill_class(state, rq, avg);
	finish(&state->head, source, 1);
}

HIDDEN int is_fair(struct task_struct *p)
{
	u32 policy = p->policy;

	return p->pid && (policy == 0 || policy == 3 || policy == 5);
}

/* A task's entity and those of the groups above it, each with the queue it is on. */
HIDDEN void snapshot_task(u32 source, struct task_struct *p)
{
	struct sched_entity *se = &p->se;
	struct cfs_rq *queue;
	int level;

	if (!is_fair(p))
		return;
	for (level = 0; level < LEVELS_MAX && se; level++) {
		put_entity(source, se);
		queue = queue_of(se);
		if (queue)
			put_queue(source, queue);
		se = parent_of(se);
	}
}

/*
 * What the other classes left on the CPU of a task. Every task, the idle one too, has a fair queue and through it a
 * runqueue; the per-CPU variable itself is not to be found on kernels that hide addresses.
 */
HIDDEN void snapshot_classes(u32 source, struct task_struct *p)
{
	struct rq *rq = rq_of_queue(queue_of(&p->se));

	if (!rq)
		return;
	put_class(source, SIGNAL_RT, rq, &rq->avg_rt);
	put_class(source, SIGNAL_DL, rq, &rq->avg_dl);
	if (bpf_core_field_exists(rq->avg_irq))
		put_class(source, SIGNAL_IRQ, rq, &rq->avg_irq);
}

HIDDEN u64 mix(u64 hash, u64 word)
{
	return (hash ^ word) * 0x100000001b3ull;
}

HIDDEN void fill_group(struct task *task, struct task_group *group)
{
	struct cgroup *cgroup;
	struct autogroup *autogroup;

	if (!group)
		return;
	task->group = (u64)group;
	task->is_root = !group->parent;
	cgroup = group->css.cgroup;
	if (cgroup && cgroup->kn)
		task->cgroup = cgroup->kn->id;
	if (bpf_core_field_exists(group->autogroup)) {
		autogroup = group->autogroup;
		if (autogroup)
			task->autogroup = autogroup->id + 1;
	}
}

HIDDEN void fill_task(struct task *task, struct task_struct *p)
{
	struct head head = task->head;

	__builtin_memset(task, 0, sizeof(*task));
	task->head = head;
	task->tid = p->pid;
	task->tgid = p->tgid;
	task->policy = p->policy;
	task->prio = p->prio;
	task->uclamp_max = 1024;
	if (bpf_core_field_exists(p->uclamp_req)) {
		task->uclamp_min = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[0].value);
		task->uclamp_max = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[1].value);
	}
	task->cpus_allowed = BPF_CORE_READ(p, cpus_ptr, bits[0]);
	if (bpf_core_field_exists(p->sched_task_group))
		fill_group(task, p->sched_task_group);
	bpf_probe_read_kernel(task->comm, sizeof(task->comm), &p->comm);
}

HIDDEN u64 task_signature(struct task_struct *p)
{
	u64 hash = mix(mix(1, p->policy), p->prio), name[2] = {};

	bpf_probe_read_kernel(name, sizeof(name), &p->comm);
	if (bpf_core_field_exists(p->sched_task_group))
		hash = mix(hash, (u64)BPF_CORE_READ(p, sched_task_group));
	hash = mix(hash, BPF_CORE_READ(p, cpus_ptr, bits[0]));
	return mix(mix(hash, name[0]), name[1]);
}

/* Tells what a task is, once and when it changed. */
HIDDEN void tell_task(struct task_struct *p)
{
	u64 signature = task_signature(p), *told;
	u32 tid = p->pid;
	struct task *task;

	if (!tid)
		return;
	told = bpf_map_lookup_elem(&told_tasks, &tid);
	if (told && *told == signature)
		return;
	task = reserve(KIND_TASK, sizeof(*task));
	if (!task)
		return;
	fill_task(task, p);
	submit(task);
	bpf_map_update_elem(&told_tasks, &tid, &signature, BPF_ANY);
}

#endif
