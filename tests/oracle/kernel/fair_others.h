/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where real-time and deadline tasks go when they wake: the classes' own functions on eight CPUs, whose levels and
 * deadlines are set with cpupri_set() and cpudl_set(). CPU 0 asks. After fair_select.h, for the domains' type.
 */

#define CLASS_CPUS ORACLE_CLASS_CPUS

static struct root_domain o_class_domain;
static struct cpudl_item o_class_items[CLASS_CPUS];
static int o_class_pri[CLASS_CPUS];
static struct task_struct o_class_task, o_class_curr;
WITH_CPUS(struct sched_domain, o_class_domains, [2]);

#if ORACLE_VERSION >= 511
#define CLASS_PRIO_NONE (MAX_RT_PRIO - 1)
#else
#define CLASS_PRIO_NONE MAX_RT_PRIO
#endif

/* 1 .. 99, higher is stronger, to the kernel's 98 .. 0. */
static int class_prio(u32 prio)
{
	return prio ? (int)(99 - prio) : CLASS_PRIO_NONE;
}

static void class_cpu_in(const struct pelton_class_cpu *c)
{
	struct rq *rq = cpu_rq(c->cpu);
	u32 deadlines = c->deadline_ns != PELTON_NO_DEADLINE;

	oracle_cap[c->cpu] = c->capacity;
#if ORACLE_VERSION < 608
	rq->cpu_capacity_orig = c->capacity;
#endif
	rq->rd = &o_class_domain;
	rq->rt.highest_prio.curr = class_prio(c->prio);
	rq->dl.dl_nr_running = deadlines;
	rq->dl.earliest_dl.curr = deadlines ? c->deadline_ns : 0;
	cpupri_set(&o_class_domain.cpupri, c->cpu, class_prio(c->prio));
	if (!deadlines)
		return;
	cpudl_set(&o_class_domain.cpudl, c->cpu, c->deadline_ns);
#if ORACLE_VERSION >= 511
	cpupri_set(&o_class_domain.cpupri, c->cpu, CPUPRI_HIGHER);
#endif
}

static void class_machine_in(const struct oracle_state *s)
{
	int i;

	memset(&o_class_domain, 0, sizeof(o_class_domain));
	o_class_domain.cpudl.elements = o_class_items;
	o_class_domain.cpupri.cpu_to_pri = o_class_pri;
	o_class_domain.cpudl.free_cpus->bits[0] = (1ul << CLASS_CPUS) - 1;
	for (i = 0; i < CLASS_CPUS; i++) {
		o_class_items[i].idx = IDX_INVALID;
		o_class_pri[i] = CPUPRI_INVALID;
	}
	for (i = 0; i < CLASS_CPUS; i++)
		class_cpu_in(&s->class_cpu[i]);
	k_key(&sched_asym_cpucapacity.key, s->class_task.asymmetric);
}

/* Two domains around the task's CPU; `flags`: 1 and 2, the smaller and the larger count for wake-ups. */
static void class_domains_in(const struct oracle_state *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct sched_domain *sd = &o_class_domains[i].one;

		cpumask_bits(sched_domain_span(sd))[0] = i ? (1ul << CLASS_CPUS) - 1 : s->h_load;
		sd->flags = s->flags >> i & 1 ? SD_WAKE_AFFINE : 0;
		sd->parent = i ? NULL : &o_class_domains[1].one;
	}
	rcu_assign_pointer(cpu_rq(s->class_task.cpu)->sd, &o_class_domains[0].one);
}

static void class_clamp(struct task_struct *p, int id, u32 value)
{
	p->uclamp[id].value = value;
	p->uclamp[id].active = 1;
}

static void class_task_in(const struct oracle_state *s, int deadline)
{
	struct task_struct *p = &o_class_task;
	const struct pelton_class_task *t = &s->class_task;

	p->prio = deadline ? -1 : class_prio(t->prio);
	p->nr_cpus_allowed = t->nr_cpus_allowed;
	p->cpus_mask.bits[0] = s->aux;
	p->cpus_ptr = &p->cpus_mask;
#if ORACLE_VERSION >= 516
	task_thread_info(p)->cpu = t->cpu;
#else
	p->cpu = t->cpu;
#endif
	p->dl.deadline = t->deadline_ns;
	p->dl.dl_runtime = t->dl_runtime_ns;
	p->dl.dl_deadline = t->dl_deadline_ns;
	p->dl.dl_density = t->dl_density;
	class_clamp(p, UCLAMP_MIN, t->uclamp_min);
	class_clamp(p, UCLAMP_MAX, t->uclamp_max);
	k_key(&sched_uclamp_used.key, 1);
}

static void class_runs(struct rq *rq, struct task_struct *p)
{
	rq->curr = p;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, p);
#endif
}

static void class_curr_in(const struct oracle_state *s)
{
	const struct pelton_class_curr *c = &s->class_curr;
	struct task_struct *p = &o_class_curr;

	p->nr_cpus_allowed = c->nr_cpus_allowed;
	p->dl.deadline = c->deadline_ns;
	p->prio = c->deadline_ns != PELTON_NO_DEADLINE ? -1 : c->prio ? class_prio(c->prio) : 120;
	class_runs(cpu_rq(s->class_task.cpu), p);
}

/* ret: the CPU, aux2: where this CPU's next search goes on. */
static void class_select(struct oracle_state *s, const struct sched_class *class, int deadline)
{
	struct rq *rq = cpu_rq(s->class_task.cpu);

	class_machine_in(s);
	class_domains_in(s);
	class_task_in(s, deadline);
	class_curr_in(s);
	k_last_found(s->class_task.last_found);
#if ORACLE_VERSION >= 511
	s->ret = class->select_task_rq(&o_class_task, s->class_task.cpu, WF_TTWU);
#else
	s->ret = class->select_task_rq(&o_class_task, s->class_task.cpu, SD_BALANCE_WAKE, 0);
#endif
	s->aux2 = k_last_found(0);
	class_runs(rq, rq->idle);
	rcu_assign_pointer(rq->sd, NULL);
	k_key(&sched_asym_cpucapacity.key, 0);
	k_key(&sched_uclamp_used.key, 0);
}

void k_select_rt(struct oracle_state *s)
{
	class_select(s, &rt_sched_class, 0);
}

void k_select_dl(struct oracle_state *s)
{
	class_select(s, &dl_sched_class, 1);
}
