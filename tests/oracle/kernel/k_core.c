/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core.c, and what a booted kernel would have set up before the first call. */
#include "core.c"
#include <linux/cpuidle.h>
#include <generated/utsrelease.h>
#include "k.h"

unsigned long oracle_cap[O_CPUS], oracle_lost[O_CPUS], oracle_idle_calls[O_CPUS];
unsigned int oracle_ref[O_CPUS];
u64 oracle_now;
s64 oracle_sleep, oracle_event, oracle_latency;
int oracle_tick_stopped, oracle_got_tick;

extern char __per_cpu_start[], __per_cpu_end[];
static char o_area[O_CPUS][1 << 17] __aligned(4096);

/* Called by inline assembly that expects every register but the result to be kept. */
asm(".globl __sw_hweight32, __sw_hweight64\n"
    "__sw_hweight32: popcnt %edi, %eax\nret\n"
    "__sw_hweight64: popcnt %rdi, %rax\nret\n");

/* What the scheduler asks of parts of the kernel that are not here. */
u64 sched_clock(void)
{
	return oracle_now;
}

u64 sched_clock_noinstr(void)
{
	return oracle_now;
}

unsigned long tick_nohz_get_idle_calls_cpu(int cpu)
{
	return oracle_idle_calls[cpu];
}

ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next)
{
	*delta_next = oracle_event;
	return oracle_sleep;
}

bool tick_nohz_tick_stopped(void)
{
	return oracle_tick_stopped;
}

bool tick_nohz_idle_got_tick(void)
{
	return oracle_got_tick;
}

s64 cpuidle_governor_latency_req(unsigned int cpu)
{
	return oracle_latency;
}

int cpuidle_register_governor(struct cpuidle_governor *gov)
{
	return 0;
}

bool irq_work_queue(struct irq_work *w)
{
	oracle_irq_work++;
	return true;
}

/* Without jump labels a static key is a counter. */
void k_key(struct static_key *key, int on)
{
	atomic_set(&key->enabled, on);
}

void k_freq_key(int on)
{
	k_key(&arch_scale_freq_key.key, on);
}

#if ORACLE_VERSION >= 514
#define o_lock(rq) (&(rq)->__lock)
#else
#define o_lock(rq) (&(rq)->lock)
#endif

static void o_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	rq->cpu = cpu;
	rq->clock_update_flags = RQCF_UPDATED;
	raw_spin_lock_init(o_lock(rq));
	init_cfs_rq(&rq->cfs);
	INIT_LIST_HEAD(&rq->leaf_cfs_rq_list);
	rq->tmp_alone_branch = &rq->leaf_cfs_rq_list;
	rq->curr = rq->idle = &init_task;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, &init_task);
#endif
	rq->cfs.rq = rq;
	rq->cfs.tg = &root_task_group;
	oracle_cap[cpu] = 1024;
	per_cpu(arch_freq_scale, cpu) = 1024;
	k_uclamp(cpu, 0, 0, 1024);
}

void k_current(struct task_struct *p)
{
#if ORACLE_VERSION >= 602 && ORACLE_VERSION < 615
	pcpu_hot.current_task = p;
#else
	*(struct task_struct **)&current_task = p;
#endif
}

/* CPU 0 lives in the linked copy of the per-CPU sections, which is what %gs:symbol finds when %gs is 0. */
static void o_percpu(void)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;
	int cpu;

	BUG_ON(size > sizeof(o_area[0]));
	for (cpu = 1; cpu < O_CPUS; cpu++) {
		__per_cpu_offset[cpu] = o_area[cpu] - __per_cpu_start;
		memcpy(o_area[cpu], __per_cpu_start, size);
		per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
	}
}

static void o_root_group(void)
{
#if ORACLE_VERSION >= 702
	root_task_group.cfs_rq = &runqueues.cfs;
#else
	static struct cfs_rq *cfs[O_CPUS];
	static struct sched_entity *se[O_CPUS];
	int cpu;

	root_task_group.cfs_rq = cfs;
	root_task_group.se = se;
	for (cpu = 0; cpu < O_CPUS; cpu++)
		cfs[cpu] = &cpu_rq(cpu)->cfs;
#endif
	root_task_group.shares = scale_load(1024);
}

static void o_first_cpus(struct cpumask *mask, unsigned int count)
{
	bitmap_zero(cpumask_bits(mask), O_CPUS);
	bitmap_set(cpumask_bits(mask), 0, count);
}

/* So many CPUs are there. */
void k_cpus(unsigned int count)
{
	*(unsigned int *)&nr_cpu_ids = count;
	o_first_cpus(&__cpu_possible_mask, count);
	o_first_cpus(&__cpu_online_mask, count);
	o_first_cpus(&__cpu_active_mask, count);
	o_first_cpus(&__cpu_present_mask, count);
}

void k_boot(void)
{
	int cpu;

	k_cpus(O_CPUS < 8 ? O_CPUS : 8);
	o_percpu();
	o_root_group();
	init_task.flags |= PF_IDLE;
	static_key_initialized = true;
	for (cpu = 0; cpu < O_CPUS; cpu++)
		o_cpu(cpu);
	k_freq_key(1);
	enable_sched_clock_irqtime();
}

const char *k_release(void)
{
	return UTS_RELEASE;
}

/* Readers do not always ask the key first: without clamps the values must be those of init_uclamp_rq(). */
void k_uclamp(int cpu, int used, unsigned int min, unsigned int max)
{
	struct rq *rq = cpu_rq(cpu);

	k_key(&sched_uclamp_used.key, used);
	rq->uclamp[UCLAMP_MIN].value = used ? min : 0;
	rq->uclamp[UCLAMP_MAX].value = used ? max : 1024;
	rq->uclamp_flags = 0;
}

/* Tasks that wait for I/O, as the idle governors count them. */
void k_iowait(int cpu, unsigned int tasks)
{
	atomic_set(&cpu_rq(cpu)->nr_iowait, tasks);
}

#include "core_bug.h"
#ifdef PELTON_IMAGE
#include "image_core.h"
#else
#include "core_clock.h"
#include "core_uclamp.h"
#endif
