/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder of gates: what is read before a search takes place or does not, and what came of it. It computes
 * nothing. Functions have two names: 6.10 renamed them. In 7.2 the search of a CPU that goes idle is part of
 * pick_task_fair().
 */
#ifndef PELTON_LIVE_GATE_PROGRAMS_H
#define PELTON_LIVE_GATE_PROGRAMS_H

#include "balance_programs.h"
#include "gate.h"

#define GATE_NEWIDLE 0
#define GATE_DOMAINS 1

/* The gate that each CPU is at. */
struct gating {
	u64 active, at;
	struct gate gate;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACE_CPUS_MAX);
	__type(key, u32);
	__type(value, struct gating);
} gatings SEC(".maps");

/*
 * 1 while gates are recorded: programs come and go one after the other, and what happens meanwhile would be told in
 * part.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} gate_recording SEC(".maps");

extern const struct rnd_state sched_rnd_state __ksym __weak;

HIDDEN struct gating *gating_here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&gatings, &cpu);
}

HIDDEN u64 is_overloaded(struct rq *rq)
{
	if (bpf_core_field_exists(rq->rd->overloaded))
		return rq->rd->overloaded;
	return ((struct root_domain___overload *)rq->rd)->overload;
}

HIDDEN void look_at_rate(struct sched_domain *sd, struct gate_level *l, u64 after)
{
	u64 ratio = 0, calls = 0, hits = 0, since = 0;

	if (bpf_core_field_exists(sd->newidle_ratio)) {
		ratio = BPF_CORE_READ(sd, newidle_ratio);
		calls = BPF_CORE_READ(sd, newidle_call);
		hits = BPF_CORE_READ(sd, newidle_success);
	}
	if (bpf_core_field_exists(sd->newidle_stamp))
		since = BPF_CORE_READ(sd, newidle_stamp);
	if (after) {
		l->x_ratio = ratio;
		l->x_calls = calls;
		l->x_hits = hits;
		l->x_since = since;
	} else {
		l->ratio = ratio;
		l->calls = calls;
		l->hits = hits;
		l->since = since;
	}
}

HIDDEN void look_at_level(struct sched_domain *sd, struct gate_level *l, u64 after)
{
	u64 decayed = 0;

	if (bpf_core_field_exists(sd->last_decay_max_lb_cost))
		decayed = BPF_CORE_READ(sd, last_decay_max_lb_cost);
	if (after) {
		l->x_last = BPF_CORE_READ(sd, last_balance);
		l->x_interval = BPF_CORE_READ(sd, balance_interval);
		l->x_failed = BPF_CORE_READ(sd, nr_balance_failed);
		l->x_cost = BPF_CORE_READ(sd, max_newidle_lb_cost);
		l->x_decayed = decayed;
	} else {
		l->last = BPF_CORE_READ(sd, last_balance);
		l->interval = BPF_CORE_READ(sd, balance_interval);
		l->failed = BPF_CORE_READ(sd, nr_balance_failed);
		l->cost = BPF_CORE_READ(sd, max_newidle_lb_cost);
		l->decayed = decayed;
		l->began = l->spent = l->moved = l->b_goes_on = l->idle_cpus = l->x_idle_cpus = l->dst_nr =
			l->dst_pending = 0;
		l->group = l->failing = l->flags = l->migration = l->asked = 0;
	}
	look_at_rate(sd, l, after);
}

HIDDEN u64 look_at_levels(struct gate *gate, struct rq *rq, u64 after)
{
	struct sched_domain *sd = rq->sd;
	u32 i;

	for (i = 0; i < PLACE_LEVELS_MAX; i++) {
		if (!sd)
			break;
		look_at_level(sd, &gate->level[i], after);
		sd = BPF_CORE_READ(sd, parent);
	}
	return i;
}

HIDDEN struct rnd_state random_of(u32 cpu)
{
	struct rnd_state state = {};
	const void *at = &sched_rnd_state ? bpf_per_cpu_ptr(&sched_rnd_state, cpu) : 0;

	if (at)
		bpf_probe_read_kernel(&state, sizeof(state), at);
	return state;
}

HIDDEN int begin_gate(struct rq *rq, u64 kind, u64 idle)
{
	struct gating *g = gating_here();
	struct gate_head *h;
	struct rnd_state dice;
	u32 zero = 0;
	u64 *on = bpf_map_lookup_elem(&gate_recording, &zero);

	if (!g || !on || !*on || !globals.machine.ncpu)
		return 0;
	if (g->active)
		__sync_fetch_and_add(&globals.lost, 1);
	h = &g->gate.head;
	g->active = 1;
	h->ts0 = bpf_ktime_get_ns();
	h->j = bpf_jiffies64();
	h->seq = __sync_fetch_and_add(&globals.begun, 1);
	h->kind = kind;
	h->by = bpf_get_smp_processor_id();
	h->cpu = rq->cpu;
	h->idle = idle;
	h->pending = rq->ttwu_pending;
	h->over = is_overloaded(rq);
	h->h_nr = queued(&rq->cfs);
	h->nr = rq->nr_running;
	h->only_idle = rq->nr_running && rq->nr_running == of_idle_policy(&rq->cfs);
	h->avg_idle = rq->avg_idle;
	h->max_cost = rq->max_idle_balance_cost;
	h->next = rq->next_balance;
	h->stamp = rq->idle_stamp;
	dice = random_of(h->by);
	h->s1 = dice.s1;
	h->s2 = dice.s2;
	h->s3 = dice.s3;
	h->s4 = dice.s4;
	h->ran = 0;
	h->goes_on = 1;
	h->levels = look_at_levels(&g->gate, rq, 0);
	return 0;
}

HIDDEN int end_gate(struct rq *rq, u64 kind, u64 ret)
{
	struct gating *g = gating_here();
	struct gate_head *h;
	struct rnd_state dice;

	if (!g || !g->active || g->gate.head.kind != kind)
		return 0;
	g->active = 0;
	h = &g->gate.head;
	h->ts1 = bpf_ktime_get_ns();
	h->x_j = bpf_jiffies64();
	h->x_over = is_overloaded(rq);
	h->x_h_nr = queued(&rq->cfs);
	h->x_max_cost = rq->max_idle_balance_cost;
	h->x_next = rq->next_balance;
	h->x_stamp = rq->idle_stamp;
	dice = random_of(h->by);
	h->x_s1 = dice.s1;
	h->x_s2 = dice.s2;
	h->x_s3 = dice.s3;
	h->x_s4 = dice.s4;
	h->ret = ret;
	look_at_levels(&g->gate, rq, 1);
	if (bpf_ringbuf_output(&ring, &g->gate, sizeof(g->gate), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&globals.lost, 1);
	return 0;
}

/* Idle as idle_cpu() has it. */
struct idle_look {
	u64 cpus;
};

static long look_for_idle(u32 cpu, void *data)
{
	struct idle_look *look = data;
	struct rq *rq;

	if (cpu >= ncpu || cpu >= PLACE_CPUS_MAX)
		return 1;
	rq = rq_of(cpu);
	if (rq && rq->curr == rq->idle && !rq->nr_running && !rq->ttwu_pending)
		look->cpus |= 1ull << (cpu & 63);
	return 0;
}

/* The domain that is being balanced; none where no gate was seen before. */
HIDDEN struct gate_level *level_here(struct gating *g)
{
	u64 at = g ? g->at : PLACE_LEVELS_MAX;

	asm volatile("" : "+r"(at));
	if (!g || !g->active || at >= PLACE_LEVELS_MAX)
		return 0;
	return &g->gate.level[at];
}

HIDDEN int begin_gated(int cpu, struct rq *rq, struct sched_domain *sd)
{
	struct gating *g = gating_here();
	struct idle_look look = {};
	struct gate_level *l;

	if (!g || !g->active)
		return 0;
	g->at = level_of(cpu, sd);
	l = level_here(g);
	if (!l)
		return 0;
	bpf_loop(PLACE_CPUS_MAX, look_for_idle, &look, 0);
	g->gate.head.ran |= 1ull << (g->at & 63);
	l->idle_cpus = look.cpus;
	l->dst_nr = rq->nr_running;
	l->dst_pending = rq->ttwu_pending;
	l->began = bpf_ktime_get_ns();
	return 0;
}

HIDDEN int end_gated(int *goes_on, int ret)
{
	struct gating *g = gating_here();
	struct gate_level *l = level_here(g);
	struct idle_look look = {};
	int on = 1;

	if (!l)
		return 0;
	l->spent = bpf_ktime_get_ns() - l->began;
	bpf_probe_read_kernel(&on, sizeof(on), goes_on);
	bpf_loop(PLACE_CPUS_MAX, look_for_idle, &look, 0);
	l->x_idle_cpus = look.cpus;
	l->moved = ret;
	l->b_goes_on = on;
	g->gate.head.goes_on = on;
	g->at = PLACE_LEVELS_MAX;
	return 0;
}

HIDDEN int note_group(struct lb_env *env, struct sched_group *group)
{
	struct gate_level *l = level_here(gating_here());

	if (l)
		l->group = group ? BPF_CORE_READ(group, cpumask[0]) : 0;
	return 0;
}

/* 7.2: fair tasks that can run are counted apart from those that only lag behind. */
SEC("fentry/pick_task_fair")
int BPF_PROG(gate_pick_begin, struct rq *rq)
{
	return runnable(&rq->cfs) ? 0 : begin_gate(rq, GATE_NEWIDLE, 2);
}

SEC("fexit/pick_task_fair")
int BPF_PROG(gate_pick_end, struct rq *rq, void *rf, struct task_struct *p)
{
	return end_gate(rq, GATE_NEWIDLE, p != 0);
}

SEC("fentry/sched_balance_newidle")
int BPF_PROG(gate_newidle_begin, struct rq *rq)
{
	return begin_gate(rq, GATE_NEWIDLE, 2);
}

SEC("fexit/sched_balance_newidle")
int BPF_PROG(gate_newidle_end, struct rq *rq, void *rf, int ret)
{
	return end_gate(rq, GATE_NEWIDLE, ret != 0);
}

SEC("fentry/newidle_balance")
int BPF_PROG(gate_newidle_begin_before, struct rq *rq)
{
	return begin_gate(rq, GATE_NEWIDLE, 2);
}

SEC("fexit/newidle_balance")
int BPF_PROG(gate_newidle_end_before, struct rq *rq, void *rf, int ret)
{
	return end_gate(rq, GATE_NEWIDLE, ret != 0);
}

SEC("fentry/sched_balance_domains")
int BPF_PROG(gate_domains_begin, struct rq *rq, enum cpu_idle_type idle)
{
	return begin_gate(rq, GATE_DOMAINS, idle_of(idle));
}

SEC("fexit/sched_balance_domains")
int BPF_PROG(gate_domains_end, struct rq *rq, enum cpu_idle_type idle)
{
	return end_gate(rq, GATE_DOMAINS, 0);
}

SEC("fentry/rebalance_domains")
int BPF_PROG(gate_domains_begin_before, struct rq *rq, enum cpu_idle_type idle)
{
	return begin_gate(rq, GATE_DOMAINS, idle_of(idle));
}

SEC("fexit/rebalance_domains")
int BPF_PROG(gate_domains_end_before, struct rq *rq, enum cpu_idle_type idle)
{
	return end_gate(rq, GATE_DOMAINS, 0);
}

SEC("fentry/sched_balance_rq")
int BPF_PROG(gate_balance_begin, int cpu, struct rq *rq, struct sched_domain *sd)
{
	return begin_gated(cpu, rq, sd);
}

SEC("fexit/sched_balance_rq")
int BPF_PROG(gate_balance_end, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle, int *goes_on,
	     int ret)
{
	return end_gated(goes_on, ret);
}

SEC("fentry/load_balance")
int BPF_PROG(gate_balance_begin_before, int cpu, struct rq *rq, struct sched_domain *sd)
{
	return begin_gated(cpu, rq, sd);
}

SEC("fexit/load_balance")
int BPF_PROG(gate_balance_end_before, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle,
	     int *goes_on, int ret)
{
	return end_gated(goes_on, ret);
}

SEC("fexit/sched_balance_find_src_group")
int BPF_PROG(gate_searched, struct lb_env *env, struct sched_group *group)
{
	return note_group(env, group);
}

SEC("fexit/find_busiest_group")
int BPF_PROG(gate_searched_before, struct lb_env *env, struct sched_group *group)
{
	return note_group(env, group);
}

SEC("fexit/need_active_balance")
int BPF_PROG(gate_asked, struct lb_env *env, int ret)
{
	struct gate_level *l = level_here(gating_here());

	if (!l)
		return 0;
	l->failing = 1;
	l->flags = env->flags;
	l->migration = env->migration_type;
	l->asked = ret;
	return 0;
}

#endif
