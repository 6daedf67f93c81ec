/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder of balances: counts, and looks at all CPUs before and after each search for a group to take from. It
 * computes nothing but sums of times. Functions have two names: 6.10 renamed them.
 */
#ifndef PELTON_LIVE_BALANCE_PROGRAMS_H
#define PELTON_LIVE_BALANCE_PROGRAMS_H

#include "balance.h"

#define LBF_ACTIVE_LB 0x10

/* The balance that each CPU is making. */
struct balancing {
	u64 kind, moved, asked, begun_ns;
	u64 found; /* a search is kept in `balance` and not handed over yet */
	struct balance balance;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACE_CPUS_MAX);
	__type(key, u32);
	__type(value, struct balancing);
} balancings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACE_CPUS_MAX);
	__type(key, u32);
	__type(value, struct balance_cpu);
} balance_cpus SEC(".maps");

HIDDEN struct balancing *balancing_here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&balancings, &cpu);
}

HIDDEN struct balance_cpu *counts_of(u32 cpu)
{
	return bpf_map_lookup_elem(&balance_cpus, &cpu);
}

/* The kernel's numbers of idle and busy changed places in 6.8. */
HIDDEN u64 idle_of(enum cpu_idle_type idle)
{
	if (idle == CPU_NEWLY_IDLE)
		return 2;
	return idle == bpf_core_enum_value(enum cpu_idle_type, CPU_IDLE);
}

/* How many runnable tasks a CPU has from now on; its lock is held. */
HIDDEN void note_runnable(struct rq *rq)
{
	u32 cpu = rq->cpu;
	struct balance_cpu *c = counts_of(cpu);
	u64 now = bpf_ktime_get_ns(), n;

	if (!c)
		return;
	n = c->n < BALANCE_TASKS_MAX ? c->n : BALANCE_TASKS_MAX;
	if (c->since_ns)
		c->runnable_ns[n] += now - c->since_ns;
	c->since_ns = now;
	c->n = rq->nr_running - (queued(&rq->cfs) - runnable(&rq->cfs));
}

SEC("tp_btf/sched_update_nr_running_tp")
int BPF_PROG(balance_nr, struct rq *rq, int change)
{
	note_runnable(rq);
	return 0;
}

/* A task that goes to sleep may stay queued: only the switch shows that it is not runnable. */
SEC("tp_btf/sched_switch")
int BPF_PROG(balance_switch)
{
	struct rq *rq = rq_of(bpf_get_smp_processor_id());

	if (rq)
		note_runnable(rq);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(balance_wakeup, struct task_struct *p)
{
	struct rq *rq = rq_of(cpu_of_task(p));

	if (rq)
		note_runnable(rq);
	return 0;
}

HIDDEN int begin_balance(int cpu, enum cpu_idle_type idle)
{
	struct balancing *b = balancing_here();

	if (!b)
		return 0;
	/* It begins in an interrupt in the middle of another one, whose search is not told. */
	if (b->found)
		__sync_fetch_and_add(&globals.lost, 1);
	b->kind = BALANCE_KIND_periodic;
	if (idle == CPU_NEWLY_IDLE)
		b->kind = BALANCE_KIND_newidle;
	else if (cpu != bpf_get_smp_processor_id())
		b->kind = BALANCE_KIND_nohz_idle;
	b->moved = b->asked = b->found = 0;
	b->begun_ns = bpf_ktime_get_ns();
	return 0;
}

/* Hands over what the last search found and what came of it. */
HIDDEN void put_balance(struct balancing *b, u64 moved)
{
	u64 n = ncpu, size;

	if (!b->found)
		return;
	b->found = 0;
	b->balance.head.moved = moved;
	b->balance.head.asked = b->asked;
	if (n > PLACE_CPUS_MAX)
		n = PLACE_CPUS_MAX;
	size = __builtin_offsetof(struct balance, cpus) + n * 2 * sizeof(struct place_cpu);
	if (size > sizeof(struct balance) || bpf_ringbuf_output(&ring, &b->balance, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&globals.lost, 1);
}

HIDDEN int end_balance(int moved)
{
	struct balancing *b = balancing_here();
	struct balance_cpu *c = counts_of(bpf_get_smp_processor_id());
	u64 kind;

	if (!b || !c)
		return 0;
	kind = b->kind & 3;
	c->kinds[kind].balances++;
	c->kinds[kind].pulls += moved > 0;
	c->kinds[kind].spent_ns += bpf_ktime_get_ns() - b->begun_ns;
	put_balance(b, moved);
	return 0;
}

SEC("fentry/sched_balance_rq")
int BPF_PROG(balance_begin, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle)
{
	return begin_balance(cpu, idle);
}

SEC("fexit/sched_balance_rq")
int BPF_PROG(balance_end, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle, int *goes_on,
	     int ret)
{
	return end_balance(ret);
}

SEC("fentry/load_balance")
int BPF_PROG(balance_begin_before, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle)
{
	return begin_balance(cpu, idle);
}

SEC("fexit/load_balance")
int BPF_PROG(balance_end_before, int cpu, struct rq *rq, struct sched_domain *sd, enum cpu_idle_type idle, int *goes_on,
	     int ret)
{
	return end_balance(ret);
}

SEC("fentry/detach_task")
int BPF_PROG(balance_detach, struct task_struct *p, struct lb_env *env)
{
	struct balancing *b = balancing_here();
	struct balance_cpu *c = counts_of(bpf_get_smp_processor_id());
	u64 kind;

	if (!b || !c)
		return 0;
	kind = env->flags & LBF_ACTIVE_LB ? BALANCE_KIND_active : b->kind & 3;
	c->kinds[kind & 3].detached++;
	return 0;
}

SEC("fexit/need_active_balance")
int BPF_PROG(balance_asked, struct lb_env *env, int ret)
{
	struct balancing *b = balancing_here();
	struct balance_cpu *c = counts_of(bpf_get_smp_processor_id());

	if (!b || !c)
		return 0;
	if (b->found)
		b->balance.head.src = (s64)env->src_cpu;
	if (ret) {
		b->asked = 1;
		c->asked++;
	}
	return 0;
}

/* The first task that is looked at tells the CPU that was chosen. */
SEC("fentry/can_migrate_task")
int BPF_PROG(balance_look, struct task_struct *p, struct lb_env *env)
{
	struct balancing *b = balancing_here();

	if (b && b->found)
		b->balance.head.src = (s64)env->src_cpu;
	return 0;
}

HIDDEN u64 level_of(u32 cpu, struct sched_domain *searched)
{
	struct rq *rq = rq_of(cpu);
	struct sched_domain *sd = rq ? rq->sd : 0;
	u32 i;

	for (i = 0; i < PLACE_LEVELS_MAX; i++) {
		if (!sd || (u64)sd == (u64)searched)
			break;
		sd = BPF_CORE_READ(sd, parent);
	}
	return i;
}

HIDDEN int begin_search(struct lb_env *env)
{
	struct balancing *b = balancing_here();
	struct balance_head *h;

	if (!b || !globals.machine.ncpu)
		return 0;
	/* It was searched before, and nothing could be moved from there. */
	put_balance(b, 0);
	h = &b->balance.head;
	h->ts0 = bpf_ktime_get_ns();
	h->j = bpf_jiffies64();
	h->seq = __sync_fetch_and_add(&globals.begun, 1);
	h->by = bpf_get_smp_processor_id();
	h->dst = env->dst_cpu;
	h->level = level_of(env->dst_cpu, env->sd);
	h->idle = idle_of(env->idle);
	h->cpus = BPF_CORE_READ(env, cpus, bits[0]);
	h->failed = BPF_CORE_READ(env, sd, nr_balance_failed);
	h->tries = BPF_CORE_READ(env, sd, cache_nice_tries);
	h->eflags = env->flags;
	h->over = is_overutilized(h->by);
	h->ncpu = ncpu;
	look_around(b->balance.cpus, 0);
	return 0;
}

HIDDEN int end_search(struct lb_env *env, struct sched_group *group)
{
	struct balancing *b = balancing_here();
	struct balance_head *h;

	if (!b || !globals.machine.ncpu)
		return 0;
	h = &b->balance.head;
	h->ts1 = bpf_ktime_get_ns();
	h->x_j = bpf_jiffies64();
	h->x_over = is_overutilized(h->by);
	h->group = group ? BPF_CORE_READ(group, cpumask[0]) : 0;
	h->imbalance = env->imbalance;
	h->migration = env->migration_type;
	h->src = -1;
	look_around(b->balance.cpus, 1);
	b->found = 1;
	return 0;
}

SEC("fentry/sched_balance_find_src_group")
int BPF_PROG(balance_search, struct lb_env *env)
{
	return begin_search(env);
}

SEC("fexit/sched_balance_find_src_group")
int BPF_PROG(balance_searched, struct lb_env *env, struct sched_group *group)
{
	return end_search(env, group);
}

SEC("fentry/find_busiest_group")
int BPF_PROG(balance_search_before, struct lb_env *env)
{
	return begin_search(env);
}

SEC("fexit/find_busiest_group")
int BPF_PROG(balance_searched_before, struct lb_env *env, struct sched_group *group)
{
	return end_search(env, group);
}

#endif
