/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions of a balance of one domain, on the machine of the caller's record. Included by k_fair.c, after
 * image_select.h.
 */
#include "image.h"

#if !defined(WITHOUT_SHOULD_WE_BALANCE) || !defined(WITHOUT_FIND_SRC) || !defined(WITHOUT_NEED_ACTIVE_BALANCE) || \
	!defined(WITHOUT_CAN_MIGRATE_TASK)
#ifndef IMAGE_MACHINE
#include "fair_select.h"
#endif
#include "fair_caches.h"
#include "fair_lb.h"

/* An active balance has a flag of its own from 5.13 on; before, it says that another CPU was found already. */
#if ORACLE_VERSION >= 513
#define ACTIVE_AS PELTON_LBF_ACTIVE_LB
#else
#define ACTIVE_AS PELTON_LBF_DST_PINNED
#endif
#define IMAGE_LBF (PELTON_LBF_ALL_PINNED | PELTON_LBF_DST_PINNED | PELTON_LBF_SOME_PINNED | LLC_PINNED)

/* The machine, and its CPU's balance. */
static struct lb_env image_lb_in(const struct pelton_placement *s, const struct pelton_lb_env *e)
{
	struct lb_env env;

	image_machine_in(s);
	misfits_in(1);
	caches_in(e->dst_cpu);
	env = lb_env_of(e);
	if (e->flags & PELTON_LBF_ACTIVE_LB)
		env.flags = (env.flags & ~PELTON_LBF_ACTIVE_LB) | ACTIVE_AS;
	return env;
}

static void image_lb_out(void)
{
	caches_end();
	misfits_in(0);
	machine_out();
}
#endif

#ifndef WITHOUT_SHOULD_WE_BALANCE
u32 k_image_should_we_balance(const struct pelton_placement *s, const struct pelton_lb_env *e)
{
	struct lb_env env = image_lb_in(s, e);
	u32 ret = should_we_balance(&env) != 0;

	image_lb_out();
	return ret;
}
#endif

#ifndef WITHOUT_FIND_SRC
void k_image_find_src(const struct pelton_placement *s, const struct pelton_lb_env *e, struct pelton_kernel_src *out)
{
	struct sched_group *group;
	struct rq *busiest = NULL;
	struct lb_env env;
	u64 marks;

#if ORACLE_VERSION >= 609
	o_root_domain.overloaded = 0;
#else
	o_root_domain.overload = 0;
#endif
	env = image_lb_in(s, e);
	group = find_src_group(&env);
	marks = marks_of_root();
	inverted(1);
	if (group)
		busiest = find_src_rq(&env, group);
	out->group = group ? group->cpumask[0] : 0;
	out->imbalance = group ? env.imbalance : 0;
	out->migration = group ? migration_out(env.migration_type) : PELTON_MIGRATE_LOAD;
	out->src_cpu = busiest ? (u32)busiest->cpu : PELTON_NO_CPU;
	out->overloaded = marks >> 1 & 1;
	out->overutilized = marks & 1;
	image_lb_out();
}
#endif

#ifndef WITHOUT_NEED_ACTIVE_BALANCE
/* In 7.2 the running task is looked at where caches are preferred, which a caller does not ask. */
u32 k_image_need_active_balance(const struct pelton_placement *s, const struct pelton_lb_env *e, u32 migration)
{
	struct lb_env env = image_lb_in(s, e);
	u32 ret;

	env.migration_type = migration_in(migration);
	ret = need_active_balance(&env) != 0;
	image_lb_out();
	return ret;
}
#endif

#ifndef WITHOUT_CAN_MIGRATE_TASK
/* The task waits on, or is executed by, the CPU to take from. */
static void image_lb_task_in(const struct pelton_lb_env *e, const struct pelton_lb_task *t)
{
	struct rq *src = cpu_rq(e->src_cpu);

	image_fresh(&o_task);
	o_task.sched_task_group = &root_task_group;
	__set_task_cpu(&o_task, e->src_cpu);
	o_task.se.cfs_rq = &src->cfs;
	o_task.se.avg.util_avg = t->util;
	o_task.cpus_mask.bits[0] = t->allowed;
	o_task.cpus_ptr = &o_task.cpus_mask;
	o_task.nr_cpus_allowed = pelton_cpus_weight(t->allowed);
	o_task.on_rq = TASK_ON_RQ_QUEUED;
	o_task.on_cpu = t->running;
	o_task.policy = t->sched_idle ? SCHED_IDLE : SCHED_NORMAL;
	o_bound = t->bound;
	src->clock_task = 1ull << 40;
	o_task.se.exec_start = src->clock_task - (u64)t->since_ran_ns;
	src->cfs.next = t->next_buddy ? &o_task.se : NULL;
#if ORACLE_VERSION >= 612
	o_task.se.sched_delayed = t->delayed;
	if (!t->running && rcu_dereference_raw(src->donor) == &o_task)
		rcu_assign_pointer(src->donor, &o_running); /* the record's task runs there, this one does not */
#endif
}

/* Whether a task would have to wait was found before: it is given as a place behind the average, or at it. */
static void image_ineligible_in(const struct pelton_lb_env *e, u32 ineligible)
{
#if ORACLE_VERSION >= 613
	struct cfs_rq *q = &cpu_rq(e->src_cpu)->cfs;

	cpu_rq(e->dst_cpu)->cfs.nr_queued = ineligible;
	q->curr = NULL;
	q->zero_vruntime = 0;
#if ORACLE_VERSION >= 700
	q->sum_w_vruntime = q->sum_shift = 0;
	q->sum_weight = 1024;
#else
	q->avg_vruntime = 0;
	q->avg_load = 1024;
#endif
	o_task.se.vruntime = ineligible;
#endif
}

u32 k_image_can_migrate_task(const struct pelton_placement *s, struct pelton_lb_env *e, const struct pelton_lb_task *t,
			     u32 migration)
{
	struct lb_env env = image_lb_in(s, e);
	u32 ret;

	image_lb_task_in(e, t);
	image_ineligible_in(e, t->ineligible);
	env.migration_type = migration_in(migration);
	ret = can_migrate_task(&o_task, &env) != 0;
	if (!(e->flags & PELTON_LBF_ACTIVE_LB)) {
		e->flags = (e->flags & ~IMAGE_LBF) | (env.flags & IMAGE_LBF);
		if (env.flags & LBF_DST_PINNED)
			e->new_dst_cpu = env.new_dst_cpu;
	}
	o_task.on_cpu = 0;
	o_bound = false;
	cpu_rq(e->src_cpu)->cfs.next = NULL;
	image_lb_out();
	return ret;
}
#endif
