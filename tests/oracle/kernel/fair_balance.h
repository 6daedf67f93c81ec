/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load balancing of one domain of the machine of fair_select.h. After it. */

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

/*
 * `cpu` balances its domain `local`; `flags` failures so far, `sleeps` how many are borne, `weight` the CPUs
 * considered.
 */
static struct lb_env lb_env_in(const struct oracle_state *s)
{
	struct sched_domain *sd = &o_domains[s->cpu][s->local].one;
	struct lb_env env = {
		.sd = sd,
		.dst_cpu = s->cpu,
		.dst_rq = cpu_rq(s->cpu),
		.dst_grpmask = sched_group_span(sd->groups),
		.idle = idle_types[s->idle],
		.cpus = &o_lb_cpus,
		.fbq_type = all,
	};

	cpumask_bits(&o_lb_cpus)[0] = s->weight;
#if ORACLE_VERSION < 513
	nohz.has_blocked = 0; /* a search refreshes no CPU's load */
#endif
	sd->nr_balance_failed = s->flags;
	sd->cache_nice_tries = s->sleeps;
	return env;
}

static void misfits_in(int on)
{
	int cpu;

	for (cpu = 0; cpu < (int)oracle_place.nr_cpus; cpu++)
		cpu_rq(cpu)->misfit_task_load = on ? oracle_place.cpus[cpu].misfit_load : 0;
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

	for (cpu = 0; cpu < 8; cpu++) {
		any |= cpu_rq(cpu)->cpu_capacity_inverted != 0;
		if (forget)
			cpu_rq(cpu)->cpu_capacity_inverted = 0;
	}
#endif
	return any;
}

/*
 * Whether it is up to this CPU; the group, the CPU in it, what is to be moved; the marks of the root domain after that.
 */
void k_find_src(struct oracle_state *s)
{
	struct sched_group *group;
	struct rq *busiest = NULL;
	struct lb_env env;

	machine_in();
	misfits_in(1);
	caches_in(s->cpu);
#if ORACLE_VERSION >= 609
	o_root_domain.overloaded = 0;
#else
	o_root_domain.overload = 0;
#endif
	env = lb_env_in(s);
	s->running = should_we_balance(&env);
	group = find_src_group(&env);
	s->ret = group ? group->cpumask[0] : 0;
	s->irq = marks_of_root();
	s->highest = inverted(1);
	if (group) {
		s->aux = env.imbalance;
		s->aux2 = migration_out(env.migration_type);
		busiest = find_src_rq(&env, group);
	}
	s->into = busiest ? busiest->cpu : PELTON_NO_CPU;
	s->h_load = caches_out();
	misfits_in(0);
	machine_out();
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

/* The running task of CPU `into` is to be moved? `util` what was to be moved. */
void k_need_active_balance(struct oracle_state *s)
{
	struct lb_env env;

	machine_in();
	env = lb_env_in(s);
	env.src_cpu = s->into;
	env.src_rq = cpu_rq(s->into);
	env.migration_type = migration_in(s->util);
	caches_in(s->cpu);
	running_task_in(s);
	s->ret = need_active_balance(&env) != 0;
	s->h_load = caches_out();
	machine_out();
}

/*
 * The task of the machine on CPU `into`: it ran `now` ns ago, runs (`running`), is bound (`lost`), waits delayed
 * (`group`), is to run next (`highest`). No task waits on the other CPU, so that it is eligible there. */
void k_can_migrate(struct oracle_state *s)
{
	struct rq *src;
	struct lb_env env;

	machine_in();
	placed_task_in();
	env = lb_env_in(s);
	src = cpu_rq(s->into);
	env.src_cpu = s->into;
	env.src_rq = src;
	env.flags = s->lowest;
	env.migration_type = migration_in(s->util);
	__set_task_cpu(&o_task, s->into);
	/* As it was: with groups the change of CPU ages it. */
	avg_in(&o_task.se.avg, &oracle_place.task.se.avg);
	o_task.sched_class = &fair_sched_class;
	o_task.se.cfs_rq = &src->cfs;
	o_task.se.my_q = NULL;
	o_task.on_cpu = s->running;
	o_bound = s->lost;
	src->cfs.next = s->highest ? &o_task.se : NULL;
#if ORACLE_VERSION >= 613
	cpu_rq(s->cpu)->cfs.nr_queued = 0;
#endif
#if ORACLE_VERSION >= 612
	o_task.se.sched_delayed = s->group;
#endif
	src->clock_task = (1ull << 40) + s->h_load;
	o_task.se.exec_start = src->clock_task - s->h_load;
	caches_in(s->cpu);
	preference_in(s);
	s->ret = can_migrate_task(&o_task, &env) != 0;
	s->aux = env.flags & (LBF_ALL_PINNED | LBF_DST_PINNED | LBF_SOME_PINNED | LLC_PINNED);
	s->aux |= preference_out(s);
	caches_out();
	s->aux2 = env.flags & LBF_DST_PINNED && !(s->lowest & LBF_DST_PINNED) ? env.new_dst_cpu : 0;
	o_task.on_cpu = 0;
	o_bound = false;
	src->cfs.next = NULL;
#if ORACLE_VERSION >= 612
	o_task.se.sched_delayed = 0;
#endif
	machine_out();
}

/* `weight` CPUs of a domain whose interval is `util` ms, of `cap` CPUs in all; `running`: the CPU is busy. */
void k_balance_interval(struct oracle_state *s)
{
	struct sched_domain *sd = &o_domains[0][0].one;

	sd->balance_interval = s->util;
	sd->busy_factor = 16;
	max_load_balance_interval = HZ * s->cap / 10;
	s->ret = get_sd_balance_interval(sd, s->running);
}
