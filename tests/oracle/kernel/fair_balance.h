/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load balancing of one domain of the machine of fair_select.h. After it. */
#include "fair_lb.h"

/*
 * `cpu` balances its domain `local`; `flags` failures so far, `sleeps` how many are borne, `weight` the CPUs
 * considered.
 */
static struct lb_env lb_env_in(const struct oracle_state *s)
{
	const struct pelton_lb_env env = {
		.cpus = s->weight,
		.dst_cpu = s->cpu,
		.level = s->local,
		.idle = s->idle,
		.nr_balance_failed = s->flags,
		.cache_nice_tries = s->sleeps,
		.src_cpu = PELTON_NO_CPU,
	};

	return lb_env_of(&env);
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
