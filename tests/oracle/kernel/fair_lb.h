/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A balance of one domain of the machine of fair_select.h, as the kernel has it. After it. */

#if ORACLE_VERSION >= 609
#define find_src_group sched_balance_find_src_group
#define find_src_rq sched_balance_find_src_rq
#else
#define find_src_group find_busiest_group
#define find_src_rq find_busiest_queue
#endif

#if ORACLE_VERSION >= 609
static const enum cpu_idle_type idle_types[] = { __CPU_NOT_IDLE, CPU_IDLE, CPU_NEWLY_IDLE };
#else
static const enum cpu_idle_type idle_types[] = { CPU_NOT_IDLE, CPU_IDLE, CPU_NEWLY_IDLE };
#endif

/* Of kernel/time/time.c: whole ticks, rounded up. */
unsigned long __msecs_to_jiffies(const unsigned int ms)
{
	return ((unsigned long)ms * HZ + MSEC_PER_SEC - 1) / MSEC_PER_SEC;
}

#if ORACLE_VERSION >= 702
#define LLC_PINNED LBF_LLC_PINNED
#else
#define LLC_PINNED 0
#endif

static bool o_bound;

/* Of kernel/kthread.c: the task of the case is or is not bound. */
bool kthread_is_per_cpu(struct task_struct *p)
{
	return o_bound;
}

static struct cpumask o_lb_cpus;

/* What a CPU balances, and how far it got. */
static struct lb_env lb_env_of(const struct pelton_lb_env *e)
{
	struct sched_domain *sd = &o_domains[e->dst_cpu][e->level].one;
	struct lb_env env = {
		.sd = sd,
		.dst_cpu = e->dst_cpu,
		.dst_rq = cpu_rq(e->dst_cpu),
		.dst_grpmask = sched_group_span(sd->groups),
		.idle = idle_types[e->idle],
		.cpus = &o_lb_cpus,
		.fbq_type = all,
		.flags = e->flags,
	};

	cpumask_bits(&o_lb_cpus)[0] = e->cpus;
#if ORACLE_VERSION < 513
	nohz.has_blocked = 0; /* a search refreshes no CPU's load */
#endif
	sd->nr_balance_failed = e->nr_balance_failed;
	sd->cache_nice_tries = e->cache_nice_tries;
	if (e->src_cpu != PELTON_NO_CPU) {
		env.src_cpu = e->src_cpu;
		env.src_rq = cpu_rq(e->src_cpu);
	}
	return env;
}

static void misfits_in(int on)
{
	int cpu;

	for (cpu = 0; cpu < (int)o_place.nr_cpus; cpu++)
		cpu_rq(cpu)->misfit_task_load = on ? o_place.cpus[cpu].misfit_load : 0;
}

static u64 marks_of_root(void)
{
#if ORACLE_VERSION >= 609
	return (u64)o_root_domain.overloaded << 1 | o_root_domain.overutilized;
#else
	return (u64) !!o_root_domain.overload << 1 | !!o_root_domain.overutilized;
#endif
}

static u32 migration_out(enum migration_type m)
{
#if ORACLE_VERSION >= 702
	if (m == migrate_llc_task)
		return PELTON_MIGRATE_LLC_TASK;
#endif
	return m == migrate_load   ? PELTON_MIGRATE_LOAD
	       : m == migrate_util ? PELTON_MIGRATE_UTIL
	       : m == migrate_task ? PELTON_MIGRATE_TASK
				   : PELTON_MIGRATE_MISFIT;
}

/* 5.10 remembers that a big CPU was limited below a smaller one (`highest`), which the core does not model. */
static u32 inverted(int forget)
{
	u32 any = 0;
#if ORACLE_VERSION < 601
	int cpu;

	for (cpu = 0; cpu < (int)o_place.nr_cpus; cpu++) {
		any |= cpu_rq(cpu)->cpu_capacity_inverted != 0;
		if (forget)
			cpu_rq(cpu)->cpu_capacity_inverted = 0;
	}
#endif
	return any;
}

static enum migration_type migration_in(u32 m)
{
#if ORACLE_VERSION >= 702
	if (m == PELTON_MIGRATE_LLC_TASK)
		return migrate_llc_task;
#endif
	return m == PELTON_MIGRATE_LOAD   ? migrate_load
	       : m == PELTON_MIGRATE_UTIL ? migrate_util
	       : m == PELTON_MIGRATE_TASK ? migrate_task
					  : migrate_misfit;
}
