/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that read the kernel's load tracking for compared.h: at its tracepoints, and at moments between them.
 *
 * Every look is made with the lock held that updates are made with: that of the run queue, or of the task where it is
 * on none.
 */
#ifndef PELTON_LIVE_COMPARED_PROGRAMS_H
#define PELTON_LIVE_COMPARED_PROGRAMS_H

#include "compared.h"

HIDDEN void take_avg(struct pelton_avg *to, struct sched_avg *from)
{
	to->last_update_time_ns = from->last_update_time;
	to->load_sum = from->load_sum;
	to->runnable_sum = from->runnable_sum;
	to->util_sum = from->util_sum;
	to->period_contrib = from->period_contrib;
	to->load_avg = from->load_avg;
	to->runnable_avg = from->runnable_avg;
	to->util_avg = from->util_avg;
}

HIDDEN void look_entity(struct sched_entity *se, u32 site)
{
	struct cfs_rq *queue = bpf_core_field_exists(se->cfs_rq) ? se->cfs_rq : 0;
	struct rq *rq = queue && bpf_core_field_exists(queue->rq) ? queue->rq : 0;
	struct live_seen_avg s = {};

	take_avg(&s.avg, &se->avg);
	s.object = (u64)se;
	s.queue = (u64)queue;
	s.rq = (u64)rq;
	s.cpu = rq ? (u32)rq->cpu : 0;
	s.clock = rq ? rq->clock_pelt : 0;
	s.weight = pelton_scale_load_down(se->load.weight);
	s.site = site;
	if (se->on_rq)
		s.flags |= ENTITY_ON_RQ;
	if (bpf_core_field_exists(se->sched_delayed) && se->sched_delayed)
		s.flags |= ENTITY_DELAYED;
	if (queue && queue->curr == se)
		s.flags |= ENTITY_RUNNING;
	compare_task(&s);
}

/* The entity of a task that the fair class may have. */
HIDDEN void look_task(struct task_struct *p, u32 site)
{
	if (p->pid && p->prio >= SCHED_DEADLINE_CLASS && p->policy != SCHED_EXT)
		look_entity(&p->se, site);
}

/* Class of a task on a CPU, as the kernel takes it from a priority: SIGNALS for one that is not followed. */
HIDDEN u32 class_of(struct rq *rq, struct task_struct *p)
{
	if (!p || p->prio >= SCHED_DEADLINE_CLASS || p == ((struct rq___stop *)rq)->stop)
		return SIGNALS;
	return p->prio < 0 ? SIGNAL_DL : SIGNAL_RT;
}

HIDDEN u32 class_updated(const struct live_kept *k, const struct pelton_avg *to, u32 runs, struct pelton_avg *out)
{
	struct pelton_ctx ctx = { kernels_policy(), to->last_update_time_ns, PELTON_CAPACITY_SCALE,
				  PELTON_CAPACITY_SCALE };

	copy_avg(out, &k->avg);
	forget(out, ctx.now);
	pelton_update_avg(&ctx, out, runs);
	return is_equal(out, to);
}

/*
 * The same with an update before it that stayed within its period, as balancing makes them of both classes at once
 * (__update_blocked_others): the deadline class, which comes second, still has that moment, in its own units.
 */
HIDDEN u32 class_updated_twice(const struct live_kept *k, const struct live_seen_avg *s, u32 runs)
{
	u64 at = s->clock, to = s->avg.last_update_time_ns;
	struct live_kept middle = {};
	struct pelton_avg last;
	u32 i;

	for (i = 0; i < 2; i++, at += (1u << PELTON_UNIT_SHIFT) - 1u) {
		struct pelton_ctx ctx = { kernels_policy(), at, PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE };

		if (at <= k->avg.last_update_time_ns || at > to)
			continue;
		copy_avg(&middle.avg, &k->avg);
		pelton_update_avg(&ctx, &middle.avg, runs);
		if (class_updated(&middle, &s->avg, runs, &last))
			return 1;
	}
	return 0;
}

/*
 * A class of a CPU. A published state has the input of its own update: whether a task of the class runs; where the one
 * that runs came into the class meanwhile, it was updated without (switched_to_rt). One that is looked at has the input
 * that held since the last switch.
 */
APART u32 compare_class(const struct live_seen_avg *s, u32 signal)
{
	struct pelton_avg expected = {}, other;
	struct live_kept *k;
	u32 good, published;

	if (!s || !begun || signal < SIGNAL_RT || signal > SIGNAL_DL)
		return 0;
	published = s->site == AT_PUBLISHED;
	k = &classes[s->object & (PELTON_PLACE_CPUS_MAX - 1u)][signal - SIGNAL_RT];
	if (!k->queue) {
		counts_of(signal)->events += published;
		counts_of(signal)->first += published;
	} else if (published || !is_equal(&k->avg, &s->avg)) {
		k->gap |= has_crossed(k, s);
		good = class_updated(k, &s->avg, published ? s->flags : k->flags, &expected) ||
		       class_updated(k, &s->avg, k->flags, &other) || class_updated_twice(k, s, k->flags);
		if (!good && !k->gap)
			keep_difference(signal, k, s, &expected);
		count(counts_of(signal), k, published, good);
	}
	copy_avg(&k->avg, &s->avg);
	k->queue = s->queue;
	if (!published)
		k->flags = s->flags;
	return 0;
}

HIDDEN void look_class(struct rq *rq, u32 signal, struct task_struct *runs, u32 site)
{
	struct live_seen_avg s = {};

	if (signal == SIGNAL_RT)
		take_avg(&s.avg, &rq->avg_rt);
	else
		take_avg(&s.avg, &rq->avg_dl);
	s.object = (u32)rq->cpu;
	s.queue = (u64)rq;
	s.clock = rq->avg_dl.last_update_time;
	s.weight = 1;
	s.flags = class_of(rq, runs) == signal;
	s.site = site;
	compare_class(&s, signal);
}

/* The classes of the CPU that a task runs on, or will. */
HIDDEN void look_classes(struct task_struct *runs, u32 site)
{
	struct cfs_rq *queue = bpf_core_field_exists(runs->se.cfs_rq) ? runs->se.cfs_rq : 0;
	struct rq *rq = queue && bpf_core_field_exists(queue->rq) ? queue->rq : 0;

	if (!rq)
		return;
	look_class(rq, SIGNAL_RT, runs, site);
	look_class(rq, SIGNAL_DL, runs, site);
}

SEC("tp_btf/pelt_se_tp")
int BPF_PROG(pelt_se, struct sched_entity *se)
{
	if (!bpf_core_field_exists(se->my_q) || !se->my_q)
		look_entity(se, AT_PUBLISHED);
	return 0;
}

SEC("tp_btf/sched_update_nr_running_tp")
int BPF_PROG(pelt_moments, struct rq *rq, int change)
{
	u32 at = (u32)rq->cpu & (PELTON_PLACE_CPUS_MAX - 1u);

	if (change < 0)
		moments[at].at[moments[at].next++ & (MOMENTS - 1u)] = rq->clock_pelt;
	return 0;
}

SEC("tp_btf/pelt_rt_tp")
int BPF_PROG(pelt_rt, struct rq *rq)
{
	look_class(rq, SIGNAL_RT, rq->curr, AT_PUBLISHED);
	return 0;
}

SEC("tp_btf/pelt_dl_tp")
int BPF_PROG(pelt_dl, struct rq *rq)
{
	look_class(rq, SIGNAL_DL, rq->curr, AT_PUBLISHED);
	return 0;
}

HIDDEN void note_gap(u64 key)
{
	struct live_kept *k = bpf_map_lookup_elem(&entities, &key);

	if (k)
		k->gap = 1;
}

/* The one that leaves a CPU is the one that came last, or a switch was not published. */
HIDDEN void follow_switches(struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id() & (PELTON_PLACE_CPUS_MAX - 1u);
	u64 *last = &switched_to[cpu];
	u64 key = *last, own = (u64)&prev->se;

	if (key && key != own) {
		note_gap(key);
		note_gap(own);
		classes[cpu][0].gap = classes[cpu][1].gap = 1;
	}
	*last = (u64)&next->se;
}

/* The one that ran was updated with that, the one that runs next without. */
SEC("tp_btf/sched_switch")
int BPF_PROG(pelt_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	follow_switches(prev, next);
	look_task(prev, AT_SWITCH);
	look_task(next, AT_SWITCH);
	look_classes(next, AT_SWITCH);
	return 0;
}

/* Time is accounted to the running task before its average is updated: what the update before left is read here. */
SEC("tp_btf/sched_stat_runtime")
int BPF_PROG(pelt_runtime, struct task_struct *p)
{
	look_task(p, AT_RUNTIME);
	look_classes(p, AT_RUNTIME);
	return 0;
}

/* A task whose dequeue was delayed left its queue unseen; on none, nothing but its own lock is needed. */
SEC("tp_btf/sched_waking")
int BPF_PROG(pelt_waking, struct task_struct *p)
{
	if (!p->on_rq)
		look_task(p, AT_WAKING);
	return 0;
}

/* A task that wakes itself, about to sleep, holds no lock. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(pelt_wakeup, struct task_struct *p)
{
	if ((u32)bpf_get_current_pid_tgid() != p->pid)
		look_task(p, AT_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(pelt_new, struct task_struct *p)
{
	look_task(p, AT_NEW);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(pelt_migrate, struct task_struct *p, int dest)
{
	u32 at = (u32)dest & (PELTON_PLACE_CPUS_MAX - 1u), slot = (u32)p->pid & (ARRIVALS - 1u);

	if (p->on_rq == TASK_ON_RQ_MIGRATING)
		look_task(p, AT_MIGRATE);
	if (p->prio < SCHED_DEADLINE_CLASS)
		return 0;
	arrivals[at].of[slot] = (u64)&p->se;
	__sync_fetch_and_or(&arrivals[at].expected, 1ull << slot);
	return 0;
}

/* An entity on its way: is it on this queue by now? */
HIDDEN u32 look_arrival(u64 at, struct cfs_rq *queue)
{
	struct sched_entity *se = (struct sched_entity *)at;
	struct live_seen_avg s = {};

	s.queue = (u64)BPF_CORE_READ(se, cfs_rq);
	s.avg.last_update_time_ns = BPF_CORE_READ(se, avg.last_update_time);
	s.avg.period_contrib = BPF_CORE_READ(se, avg.period_contrib);
	if (s.queue != (u64)queue || s.avg.last_update_time_ns != queue->avg.last_update_time ||
	    s.avg.period_contrib != queue->avg.period_contrib)
		return 0;
	s.avg.load_sum = BPF_CORE_READ(se, avg.load_sum);
	s.avg.runnable_sum = BPF_CORE_READ(se, avg.runnable_sum);
	s.avg.util_sum = BPF_CORE_READ(se, avg.util_sum);
	s.avg.load_avg = BPF_CORE_READ(se, avg.load_avg);
	s.avg.runnable_avg = BPF_CORE_READ(se, avg.runnable_avg);
	s.avg.util_avg = BPF_CORE_READ(se, avg.util_avg);
	s.weight = pelton_scale_load_down(BPF_CORE_READ(se, load.weight));
	s.object = at;
	s.site = AT_JOIN;
	s.rq = (u64)queue->rq;
	s.flags = ENTITY_ON_RQ; /* from here on; it waits */
	if (bpf_core_field_exists(se->sched_delayed) && BPF_CORE_READ(se, sched_delayed))
		s.flags |= ENTITY_DELAYED;
	compare_task(&s);
	return 1;
}

/* Published too when something joins or leaves a queue. */
SEC("tp_btf/pelt_cfs_tp")
int BPF_PROG(pelt_cfs, struct cfs_rq *queue)
{
	struct rq *rq = bpf_core_field_exists(queue->rq) ? queue->rq : 0;
	u64 expected;
	u32 i, at;

	if (!rq || !bpf_core_field_exists(struct sched_entity, cfs_rq))
		return 0;
	at = (u32)rq->cpu & (PELTON_PLACE_CPUS_MAX - 1u);
	expected = arrivals[at].expected;
	if (!expected)
		return 0;
	bpf_for (i, 0, ARRIVALS)
		if (expected >> i & 1u && look_arrival(arrivals[at].of[i & (ARRIVALS - 1u)], queue))
			__sync_fetch_and_and(&arrivals[at].expected, ~(1ull << i));
	return 0;
}

#endif
