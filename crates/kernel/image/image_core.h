/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPU executes kernel code. Included by k_core.c. */
#include "image.h"

_Static_assert(HZ == PELTON_KERNEL_HZ, "an image has this tick");

static u32 image_cpus;

/*
 * %gs:symbol is the executing CPU's copy of per-CPU data: the base of %gs says which. A program leaves it at 0, which
 * is where CPU 0 has its data.
 */
void k_image_on(u32 cpu)
{
	unsigned long base = __per_cpu_offset[cpu];

	asm volatile("wrgsbase %0" ::"r"(base) : "memory");
}

void k_image_current(u32 cpu, struct task_struct *p)
{
#if ORACLE_VERSION >= 602 && ORACLE_VERSION < 615
	per_cpu(pcpu_hot, cpu).current_task = p;
#else
	per_cpu(*(struct task_struct **)&current_task, cpu) = p;
#endif
}

static void image_number(u32 cpu)
{
#if ORACLE_VERSION >= 602 && ORACLE_VERSION < 615
	per_cpu(pcpu_hot, cpu).cpu_number = cpu;
#else
	per_cpu(*(int *)&cpu_number, cpu) = cpu;
#endif
}

void k_image_cpus_at_least(u32 count)
{
	if (count <= image_cpus)
		return;
	image_cpus = count;
	k_cpus(count);
}

/* Clocks of the kernel that is simulated: the governor's time is all of them. */
void k_image_at(u64 now)
{
	oracle_now = now;
}

ktime_t ktime_get(void)
{
	return oracle_now;
}

u64 ktime_get_mono_fast_ns(void)
{
	return oracle_now;
}

void k_image_boot(void)
{
	u32 cpu;

	k_boot();
	k_image_cpus_at_least(1);
	for (cpu = 0; cpu < O_CPUS; cpu++) {
		image_number(cpu);
		k_image_current(cpu, &init_task);
	}
}
