/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches that tasks prefer (7.2), on the machine of fair_select.h. After it. */
#include "fair_caches.h"

oracle_call *oracle_begin;

#if ORACLE_VERSION >= 702
static struct sched_cache_group o_cache_group;
static DEFINE_PER_CPU(struct sched_cache_time, o_cache_times);
static struct signal_struct o_signal;
static struct task_struct o_cache_running[8];

void cpus_read_lock(void)
{
}

void cpus_read_unlock(void)
{
}

/* Of kernel/task_work.c: the work is on a list. */
int task_work_add(struct task_struct *task, struct callback_head *work, enum task_work_notify_mode notify)
{
	work->next = NULL;
	return 0;
}

/* What is known of caches, as one number. */
static u64 caches_out(void)
{
	u64 out = 0;
	int cpu;

	for (cpu = 0; cpu < (int)oracle_place.nr_cpus; cpu++) {
		struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_llc_shared, cpu));

		if (shared)
			out = out * 31 + shared->util_avg * 8209 + shared->capacity;
	}
	caches_end();
	return out;
}

/* The running task of CPU `into`, of utilization `h_load`. */
static void running_task_in(const struct oracle_state *s)
{
	struct task_struct *p = cpu_rq(s->into)->curr;

	if (!p)
		return;
	p->sched_task_group = &root_task_group;
	if (p == cpu_rq(s->into)->idle)
		return;
	p->sched_class = &fair_sched_class;
	p->se.avg.util_avg = s->h_load;
	p->se.avg.util_est = 0;
	clamp_in(p, UCLAMP_MIN, 0);
	clamp_in(p, UCLAMP_MAX, 1024);
}

/* The task is one of `opps` threads, of which `iowait` run, and prefers `em_count`; its process CPU `events`. */
static void preference_in(const struct oracle_state *s)
{
	o_task.preferred_llc = (int)s->em_count;
	o_task.signal = &o_signal;
	o_signal.nr_threads = s->opps;
	o_cache_group.cpu = (int)s->events;
	o_cache_group.nr_running_avg = s->iowait;
	RCU_INIT_POINTER(o_task.sched_cache_grp, s->opps ? &o_cache_group : NULL);
}

/* Did its process forget the cache? */
static u32 preference_out(const struct oracle_state *s)
{
	RCU_INIT_POINTER(o_task.sched_cache_grp, NULL);
	o_task.signal = NULL;
	o_task.preferred_llc = -1;
	return s->opps && s->events != PELTON_NO_CPU && o_cache_group.cpu == -1 ? PELTON_LBF_LLC_FORGET : 0;
}

static void cache_times_in(const struct oracle_state *s)
{
	int cpu;

	for (cpu = 0; cpu < 8; cpu++) {
		cpu_rq(cpu)->cpu_runtime = s->cache_cpu[cpu].runtime_ns;
		cpu_rq(cpu)->cpu_epoch = s->cache_cpu[cpu].epoch;
		cpu_rq(cpu)->cpu_epoch_next = s->cache_cpu[cpu].epoch_next_ticks;
		per_cpu(o_cache_times, cpu).runtime = s->cache_time[cpu].runtime_ns;
		per_cpu(o_cache_times, cpu).epoch = s->cache_time[cpu].epoch;
	}
}

static void cache_times_out(struct oracle_state *s)
{
	int cpu;

	for (cpu = 0; cpu < 8; cpu++) {
		s->cache_cpu[cpu].runtime_ns = cpu_rq(cpu)->cpu_runtime;
		s->cache_cpu[cpu].epoch = cpu_rq(cpu)->cpu_epoch;
		s->cache_cpu[cpu].epoch_next_ticks = cpu_rq(cpu)->cpu_epoch_next;
		s->cache_time[cpu].runtime_ns = per_cpu(o_cache_times, cpu).runtime;
		s->cache_time[cpu].epoch = per_cpu(o_cache_times, cpu).epoch;
	}
}

static void process_in(const struct oracle_state *s)
{
	memset(&o_cache_group, 0, sizeof(o_cache_group));
	o_cache_group.pcpu_sched = &o_cache_times;
	o_cache_group.epoch = s->cache_group.epoch;
	o_cache_group.nr_running_avg = s->cache_group.nr_running_avg;
	o_cache_group.next_scan = s->cache_group.next_scan_ticks;
	o_cache_group.cpu = (int)s->cache_group.cpu;
	refcount_set(&o_cache_group.refcnt, 1);
	cache_times_in(s);
	o_signal.nr_threads = s->cache_group.threads;
	o_task.signal = &o_signal;
	o_task.sched_class = &fair_sched_class;
	o_task.flags = 0;
	o_task.sched_task_group = &root_task_group;
	__set_task_cpu(&o_task, s->cpu);
	RCU_INIT_POINTER(o_task.sched_cache_grp, &o_cache_group);
	*(volatile unsigned long *)&jiffies = s->now;
	llc_epoch_period = s->cap;
}

static void process_out(struct oracle_state *s)
{
	s->cache_group.epoch = o_cache_group.epoch;
	s->cache_group.nr_running_avg = o_cache_group.nr_running_avg;
	s->cache_group.next_scan_ticks = o_cache_group.next_scan;
	s->cache_group.cpu = (u32)o_cache_group.cpu;
	cache_times_out(s);
	RCU_INIT_POINTER(o_task.sched_cache_grp, NULL);
	o_task.signal = NULL;
	k_key(&sched_cache_active.key, 0);
	*(volatile unsigned long *)&jiffies = INITIAL_JIFFIES;
}

/* The task ran for `weight` ns on CPU `cpu`, and ticks. `running`: it asked for a look before. */
void k_account_mm(struct oracle_state *s)
{
	struct rq *rq;

	oracle_begin(s);
	rq = cpu_rq(s->cpu);
	machine_in();
	caches_in(s->cpu);
	process_in(s);
	o_task.preferred_llc = -1;
	o_task.pref_llc_queued = 0;
	o_task.on_rq = TASK_ON_RQ_QUEUED;
	o_task.se.sched_delayed = 0;
	o_task.se.avg.last_update_time = 1;
	account_mm_sched(rq, &o_task, s->weight);
	s->ret = (u32)o_task.preferred_llc;
	/* The list of work is not the kernel's here: one that is under way points elsewhere. */
	o_task.cache_work.next = s->running ? NULL : &o_task.cache_work;
	task_tick_cache(rq, &o_task);
	s->aux = !s->running && o_task.cache_work.next != &o_task.cache_work;
	o_task.preferred_llc = -1;
	o_task.on_rq = 0;
	process_out(s);
	machine_out();
}

/* The task looks at all caches from CPU 0. */
void k_cache_work(struct oracle_state *s)
{
	int cpu;

	oracle_begin(s);
	s->cpu = 0;
	machine_in();
	caches_in(s->cpu);
	process_in(s);
	cpumask_bits(&__cpu_online_mask)[0] = (1ul << oracle_place.nr_cpus) - 1;
	for (cpu = 0; cpu < (int)oracle_place.nr_cpus; cpu++) {
		RCU_INIT_POINTER(o_cache_running[cpu].sched_cache_grp, s->cache_cpu[cpu].runs ? &o_cache_group : NULL);
		rcu_assign_pointer(cpu_rq(cpu)->curr, &o_cache_running[cpu]);
	}
	o_task.cache_work.next = NULL;
	k_current(&o_task);
	task_cache_work(&o_task.cache_work);
	k_current(&init_task);
	process_out(s);
	machine_out();
}
#else
static u64 caches_out(void)
{
	u64 out = 0;
	int cpu;

	for (cpu = 0; cpu < (int)oracle_place.nr_cpus; cpu++)
		if (oracle_place.cpus[cpu].llc_domain < LEVELS)
			out = out * 31 + oracle_place.cpus[cpu].llc_util * 8209ull +
			      oracle_place.cpus[cpu].llc_capacity;
	caches_end();
	return out;
}

static void running_task_in(const struct oracle_state *s)
{
}

static void preference_in(const struct oracle_state *s)
{
}

static u32 preference_out(const struct oracle_state *s)
{
	return 0;
}
#endif
