/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's placement. CPUs place at the same time: the machine's rows are one for all, which each CPU keeps up to
 * date (publish()), and each has a question and an answer of its own.
 */
#ifndef PELTON_LIVE_PLACE_H
#define PELTON_LIVE_PLACE_H

struct pelton_placement questions[PELTON_PLACE_CPUS_MAX] SEC(".bss.questions");
struct pelton_placed answers[PELTON_PLACE_CPUS_MAX] SEC(".bss.answers");
u32 overutilized; /* some CPU was, when a task was last placed */

HIDDEN u32 slot(void)
{
	return bpf_get_smp_processor_id() & (PELTON_PLACE_CPUS_MAX - 1u);
}
#define RECORD (&questions[slot()])
#define PLACED (&answers[slot()])

#include "decide_group.h"

/* What other classes do on a CPU, which tells nothing by itself. Returns 1 when the CPU is over-utilized. */
APART u32 look(u32 cpu)
{
	struct pelton_place_cpu *to = &machine.cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
	const struct rq *k = bpf_per_cpu_ptr(&runqueues, cpu);
	u32 others = 0;

	if (k) {
		to->nr_running = k->nr_running;
		to->ttwu_pending = k->ttwu_pending;
		to->state.util_rt = (u32)k->avg_rt.util_avg;
		to->state.util_dl = (u32)k->avg_dl.util_avg;
		others = to->state.util_rt + to->state.util_dl;
	}
	to->capacity = pelton_max_u32(1, pelton_sub_floor_u32(to->state.cap_orig, others));
	return pelton_cpu_overutilized(POLICY, RECORD, cpu);
}

/* Is any CPU over-utilized? Fills in what other classes do. */
HIDDEN u32 any_overutilized(void)
{
	u32 i, over = 0;

	bpf_for (i, 0, (u32)SETTINGS->nr_cpus)
		over |= look(i);
	return over;
}

/* The task as the question has it. */
HIDDEN void ask_for(struct pelton_place_task *q, struct task_struct *p, struct live_task *t, u32 prev)
{
	q->se = t->se;
	q->cpu = prev;
	q->on_rq = 0;
	q->allowed = p->cpus_ptr->bits[0];
	q->queue_update_ns = cpu_of(t->cpu)->rq.cfs.avg.last_update_time_ns;
	q->queue_load = 0;
	q->queue_h_load = 0;
	q->recent_cpu = prev;
	q->sched_idle = p->policy == SCHED_IDLE;
	q->uclamp_min = t->clamps.min;
	q->uclamp_max = t->clamps.max;
	q->uclamp_value = t->clamps.value;
	q->numa_cpu = PELTON_NO_CPU;
	q->throttle = PELTON_NO_GROUP;
}

#define ROW_WORDS (sizeof(struct pelton_place_cpu) / sizeof(u64))

/* Before a placement: the question, and the machine as it is. */
APART u32 record_question(u32 tid)
{
	u32 at = slot(), i;
	struct live_placement *d = bpf_map_lookup_elem(&placing, &at);

	if (!d)
		return 0;
	d->at_ns = bpf_ktime_get_ns();
	d->record = LIVE_RECORD_PLACEMENT;
	d->tid = tid;
	d->nr_cpus = (u32)SETTINGS->nr_cpus;
	COPY(d->question, *RECORD);
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus)
		COPY(d->rows[i & (PELTON_PLACE_CPUS_MAX - 1u)], machine.cpus[i & (PELTON_PLACE_CPUS_MAX - 1u)]);
	return 1;
}

/* Did another CPU write this row meanwhile? */
APART u32 is_torn(u32 at, u32 cpu)
{
	const struct live_placement *d = bpf_map_lookup_elem(&placing, &at);
	const u64 *now = (const u64 *)&machine.cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)], *then;
	u32 word, torn = 0;

	if (!d)
		return 0;
	then = (const u64 *)&d->rows[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
	for (word = 0; word < ROW_WORDS; word++)
		torn |= then[word] != now[word];
	return torn;
}

/* After it: the answer, and whether the machine is as it was. */
APART u32 record_answer(void)
{
	u32 at = slot(), i, torn = 0, n = pelton_min_u32((u32)SETTINGS->nr_cpus, PELTON_PLACE_CPUS_MAX);
	struct live_placement *d = bpf_map_lookup_elem(&placing, &at);

	if (!d)
		return 0;
	bpf_for (i, 0, n)
		torn |= is_torn(at, i);
	d->torn = torn;
	COPY(d->answer, *PLACED);
	hand_out(cpu_of(at), d, __builtin_offsetof(struct live_placement, rows) + n * sizeof(d->rows[0]));
	return 1;
}

/* The CPU for a task that wakes or is new. */
APART s32 place(struct task_struct *p __arg_trusted, s32 prev_cpu, u64 wake_flags)
{
	struct pelton_placement *q = RECORD;
	struct live_task *t = task_of(p);
	u32 cpu, how, over;

	if (!t)
		return prev_cpu;
	learn(p, t);
	over = any_overutilized();
	q->overutilized = over;
	overutilized = over;
	q->this_cpu = slot();
	q->prev_cpu = (u32)prev_cpu;
	q->flags = (u32)wake_flags & (PELTON_WF_KIND | PELTON_WF_SYNC);
	ask_for(&q->task, p, t, (u32)prev_cpu);
	if (SETTINGS->record)
		record_question((u32)p->pid);
	cpu = pelton_select_task_rq_fair(POLICY, q, PLACED);
	if (SETTINGS->record)
		record_answer();
	how = PLACED->how;
	if (how >= PELTON_HOW_ENERGY && how <= PELTON_HOW_ENERGY_FELL)
		COUNT(cpu_of(slot()), by_energy);
	else if (how == PELTON_HOW_PREV || how == PELTON_HOW_NOTHING_IDLE)
		COUNT(cpu_of(slot()), on_prev);
	else
		COUNT(cpu_of(slot()), by_idle);
	return (s32)(cpu & (PELTON_PLACE_CPUS_MAX - 1u));
}

/* What of the machine is the same in every question. */
HIDDEN void start_question(u32 cpu)
{
	struct pelton_placement *q = &questions[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];

	q->nr_cpus = (u32)SETTINGS->nr_cpus;
	q->energy_aware = (u32)SETTINGS->energy_aware;
	q->asymmetric = (u32)SETTINGS->asymmetric;
	q->clusters = (u32)SETTINGS->clusters;
	q->smt = (u32)SETTINGS->smt;
	q->smt_threads = (u32)SETTINGS->smt_threads;
	q->nr_perf_domains = (u32)SETTINGS->nr_perf_domains;
	q->uclamp_used = 1;
	q->avg_idle_ns = PELTON_NSEC_PER_MSEC;
}

#endif
