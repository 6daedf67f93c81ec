/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of bench/placement.h for select_task_rq_fair(). After fair_select.h, where there is room for its CPUs. */
#include "bench.h"

static const struct place_machine *b_machine;

#define B_LEVELS 4
WITH_CPUS(struct sched_domain, b_domains, [PLACE_MACHINE_CPUS][B_LEVELS]);
WITH_CPUS(struct sched_group, b_groups, [B_LEVELS][PLACE_MACHINE_CPUS]);
WITH_CPUS(struct sched_group_capacity, b_group_capacities, [B_LEVELS][PLACE_MACHINE_CPUS]);
static struct sched_domain_shared b_shared[PLACE_MACHINE_CPUS];
static u32 b_sizes[B_LEVELS + 2], b_levels, b_flags;

/* CPUs of a group or domain of so many. */
static void b_span(unsigned long *bits, u32 cpu, u32 size)
{
	bitmap_zero(bits, O_CPUS);
	bitmap_set(bits, cpu / size * size, size);
}

static u32 b_flags_of(u32 size)
{
	u32 flags = PELTON_SD_BALANCE_EXEC | PELTON_SD_BALANCE_FORK | PELTON_SD_WAKE_AFFINE | PELTON_SD_PREFER_SIBLING;

	if (size == b_machine->threads)
		return flags | PELTON_SD_SHARE_CPUCAPACITY | PELTON_SD_SHARE_LLC;
	if (size == b_machine->llc)
		return flags | PELTON_SD_SHARE_LLC;
	return size > b_machine->node ? flags & ~PELTON_SD_PREFER_SIBLING : flags;
}

/* The levels that are larger than the one below. */
static void b_choose_levels(void)
{
	const u32 sizes[] = { b_machine->threads, b_machine->llc, b_machine->node, b_machine->cpus };
	u32 i;

	b_levels = 0;
	b_sizes[0] = 1;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] > b_sizes[b_levels])
			b_sizes[++b_levels] = sizes[i];
}

static void b_group_in(u32 level, u32 index)
{
	u32 size = b_sizes[level], of = b_sizes[level + 1] / size, first = index / of * of;
	struct sched_group *g = &b_groups[level][index].one;
	struct sched_group_capacity *c = &b_group_capacities[level][index].one;

	b_span(g->cpumask, index * size, size);
	b_span(c->cpumask, index * size, size);
	g->group_weight = size;
	g->sgc = c;
	g->next = &b_groups[level][first + (index - first + 1) % of].one;
	c->capacity = (unsigned long)size * SCHED_CAPACITY_SCALE;
	c->max_capacity = c->min_capacity = SCHED_CAPACITY_SCALE;
	c->next_update = jiffies + HZ;
#if ORACLE_VERSION >= 601
	g->flags = level ? kernel_sd_flags(b_flags_of(size)) : 0;
#endif
#if ORACLE_VERSION >= 606
	g->cores = size >= b_machine->threads ? size / b_machine->threads : 1;
#endif
}

static void b_domain_in(u32 cpu, u32 level)
{
	struct sched_domain *sd = &b_domains[cpu][level].one;
	u32 size = b_sizes[level + 1];

	b_span(cpumask_bits(sched_domain_span(sd)), cpu, size);
	sd->span_weight = size;
	sd->flags = kernel_sd_flags(b_flags_of(size)) | (size > b_machine->node ? SD_NUMA : 0);
	sd->imbalance_pct = size == b_machine->threads ? 110 : 117;
	sd->level = level;
	sd->child = level ? &b_domains[cpu][level - 1].one : NULL;
	sd->parent = level + 1 < b_levels ? &b_domains[cpu][level + 1].one : NULL;
	sd->groups = &b_groups[level][cpu / b_sizes[level]].one;
#if ORACLE_VERSION < 603
	sd->avg_scan_cost = 1000;
#endif
#if ORACLE_VERSION >= 601
	sd->imb_numa_nr = size > b_machine->node ? b_machine->node / 8 : 1;
#endif
	if (size == b_machine->llc)
		sd->shared = &b_shared[cpu / size * size];
}

static void b_pointers(u32 cpu)
{
	u32 first = cpu / b_machine->llc * b_machine->llc;
	struct sched_domain *llc = NULL;
	u32 i;

	for (i = 0; i < b_levels; i++)
		if (b_sizes[i + 1] == b_machine->llc)
			llc = &b_domains[cpu][i].one;
	rcu_assign_pointer(cpu_rq(cpu)->sd, &b_domains[cpu][0].one);
	cpu_rq(cpu)->rd = &o_root_domain;
	per_cpu(sd_llc_size, cpu) = b_machine->llc;
	per_cpu(sd_llc_id, cpu) = first;
	rcu_assign_pointer(per_cpu(sd_llc, cpu), llc);
	rcu_assign_pointer(per_cpu(sd_llc_shared, cpu), &b_shared[first]);
	rcu_assign_pointer(per_cpu(sd_asym_cpucapacity, cpu), NULL);
#if ORACLE_VERSION >= 612
	per_cpu(sd_share_id, cpu) = first;
#endif
#if ORACLE_VERSION >= 702
	rcu_assign_pointer(per_cpu(sd_balance_shared, cpu), &b_shared[first]);
#endif
	b_span(cpumask_bits(per_cpu(cpu_sibling_map, cpu)), cpu, b_machine->threads);
}

void k_bench_domains(const struct place_machine *machine)
{
	u32 cpu, level;

	b_machine = machine;
	k_cpus(b_machine->cpus);
	b_choose_levels();
	for (level = 0; level < b_levels; level++)
		for (cpu = 0; cpu < b_machine->cpus / b_sizes[level]; cpu++)
			b_group_in(level, cpu);
	for (cpu = 0; cpu < b_machine->cpus; cpu++) {
		for (level = 0; level < b_levels; level++)
			b_domain_in(cpu, level);
		b_pointers(cpu);
	}
	k_key(&sched_smt_present.key, b_machine->threads > 1);
}

static void b_cpu_in(u32 cpu)
{
	const struct place_machine_cpu *c = &b_machine->cpu[cpu];
	struct rq *rq = cpu_rq(cpu);

	wake_run(rq, c->running ? &o_running : rq->idle, c->running);
#if ORACLE_VERSION < 612
	rq->cfs.h_nr_running = c->running;
#endif
	rq->cfs.avg.util_avg = rq->cfs.avg.runnable_avg = c->util;
	rq->cfs.avg.load_avg = rq->cfs.h_load = c->load;
	rq->cfs.last_h_load_update = jiffies;
	rq->cpu_capacity = SCHED_CAPACITY_SCALE;
#if ORACLE_VERSION < 608
	rq->cpu_capacity_orig = SCHED_CAPACITY_SCALE;
#endif
	rq->avg_idle = 1000000;
}

static void b_task_in(void)
{
	struct cfs_rq *cfs = &cpu_rq(b_machine->prev_cpu)->cfs;

	memset(&o_task.se, 0, sizeof(o_task.se));
	o_task.sched_task_group = &root_task_group;
	__set_task_cpu(&o_task, b_machine->prev_cpu);
	o_task.se.cfs_rq = cfs;
	o_task.se.load.weight = scale_load(1024);
	o_task.se.avg.util_avg = o_task.se.avg.runnable_avg = b_machine->task_util;
	o_task.se.avg.load_avg = b_machine->task_util;
	o_task.se.avg.last_update_time = cfs->avg.last_update_time = 1 << 20;
	cpumask_copy(&o_task.cpus_mask, cpu_possible_mask);
	o_task.cpus_ptr = &o_task.cpus_mask;
	o_task.nr_cpus_allowed = b_machine->cpus;
	o_task.recent_used_cpu = b_machine->recent_cpu;
	o_task.wakee_flips = 0;
	o_task.policy = SCHED_NORMAL;
	o_task.on_rq = 0;
}

/* The waker runs on this CPU, whose per-CPU data is what %gs names; so it is CPU 0. */
static void b_waker_in(void)
{
	o_waker.se.avg.load_avg = 200;
	o_waker.se.cfs_rq = &cpu_rq(0)->cfs;
	o_waker.se.my_q = NULL;
	o_waker.wakee_flips = 0;
	o_waker.wakee_flip_decay_ts = jiffies;
	o_waker.last_wakee = &o_task;
	o_waker.flags = 0;
	o_waker.nr_cpus_allowed = b_machine->cpus;
	k_current(&o_waker);
}

void k_bench_case(void)
{
	u32 cpu;

	for (cpu = 0; cpu < b_machine->cpus; cpu++)
		b_cpu_in(cpu);
	for (cpu = 0; cpu < b_machine->cpus; cpu += b_machine->llc) {
		b_shared[cpu].has_idle_cores = b_machine->has_idle_cores[cpu];
#if ORACLE_VERSION >= 601
		b_shared[cpu].nr_idle_scan = b_machine->nr_idle_scan[cpu];
#endif
	}
	b_task_in();
	b_waker_in();
	b_flags = b_machine->fork ? PELTON_WF_FORK : PELTON_WF_TTWU;
	oracle_place.prev_cpu = b_machine->prev_cpu;
}

void k_bench_energy(void)
{
	machine_in();
	placed_task_in();
	k_current(placing_task_in(0, 7));
	b_flags = oracle_place.flags;
}

noinline u32 k_bench_call(void)
{
	return call_select(b_flags);
}
