/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a fair task goes: a made-up machine, and the kernel's choice on it. After fair_running.h.
 *
 * There is room for as many CPUs as a record has, or as the kernel is built for, if these are fewer.
 */

#ifdef PELTON_IMAGE
/* The caller's record is read where it is. */
static const struct pelton_placement *o_record;
#define o_place (*o_record)
#else
struct pelton_placement oracle_place;
#define o_place oracle_place
#endif

#if O_CPUS < 64
#define PLACE_CPUS O_CPUS
#else
#define PLACE_CPUS 64
#endif
_Static_assert(PELTON_PLACE_CPUS_MAX == 64, "sets of CPUs are one word");

/* Objects that end in a set of CPUs. */
#define WITH_CPUS(type, name, dims) \
	static union { \
		type one; \
		char room[sizeof(type) + sizeof(struct cpumask)]; \
	} name dims

#define LEVELS PELTON_DOMAINS_MAX
WITH_CPUS(struct sched_domain, o_domains, [PLACE_CPUS][LEVELS]);
WITH_CPUS(struct sched_group, o_groups, [PLACE_CPUS][LEVELS][PLACE_CPUS]);
WITH_CPUS(struct sched_group_capacity, o_group_capacities, [PLACE_CPUS][LEVELS][PLACE_CPUS]);
WITH_CPUS(struct em_perf_domain, o_models, [PELTON_PERF_DOMAINS_MAX]);
static struct sched_domain_shared o_llc_shared[PLACE_CPUS], o_asym_shared[PLACE_CPUS];
static struct perf_domain o_perf_domains[PELTON_PERF_DOMAINS_MAX];
static struct root_domain o_root_domain;
static struct cpuidle_state o_idle_states[PLACE_CPUS];
static struct task_struct o_running;

static unsigned int kernel_sd_flags(u32 flags)
{
	unsigned int out = 0;

	out |= flags & PELTON_SD_BALANCE_EXEC ? SD_BALANCE_EXEC : 0;
	out |= flags & PELTON_SD_BALANCE_FORK ? SD_BALANCE_FORK : 0;
	out |= flags & PELTON_SD_WAKE_AFFINE ? SD_WAKE_AFFINE : 0;
	out |= flags & PELTON_SD_ASYM_CPUCAPACITY ? SD_ASYM_CPUCAPACITY : 0;
	out |= flags & PELTON_SD_SHARE_CPUCAPACITY ? SD_SHARE_CPUCAPACITY : 0;
	out |= flags & PELTON_SD_PREFER_SIBLING ? SD_PREFER_SIBLING : 0;
	out |= flags & PELTON_SD_NUMA ? SD_NUMA : 0;
#if ORACLE_VERSION >= 609
	out |= flags & PELTON_SD_SHARE_LLC ? SD_SHARE_LLC : 0;
#else
	out |= flags & PELTON_SD_SHARE_LLC ? SD_SHARE_PKG_RESOURCES : 0;
#endif
#if ORACLE_VERSION >= 612
	out |= flags & PELTON_SD_CLUSTER ? SD_CLUSTER : 0;
#endif
	return out;
}

/* How many of a CPU's domains are smaller: in each chain every domain is larger than the one before. */
static u32 levels_below(const struct pelton_place_cpu *c, u64 span)
{
	u32 i;

	for (i = 0; i < c->nr_domains && pelton_cpus_weight(c->domains[i].span) < pelton_cpus_weight(span); i++)
		;
	return i;
}

/* The groups of a CPU's domain: its own first, then by number. */
static struct sched_group *groups_in(int cpu, int level)
{
	const struct pelton_sched_domain *d = &o_place.cpus[cpu].domains[level];
	struct sched_group *first = NULL, *last = NULL;
	unsigned long covered = 0;
	int i, n = 0, n_cpus = o_place.nr_cpus;

	for (i = 0; i < n_cpus; i++) {
		int at = (cpu + i) % n_cpus;
		struct sched_group *g = &o_groups[cpu][level][n].one;
		struct sched_group_capacity *c = &o_group_capacities[cpu][level][n].one;
		const struct pelton_place_cpu *member = &o_place.cpus[at];
		u32 below = levels_below(member, d->span);
		const struct pelton_sched_domain *own = &member->domains[below];

		if (!(d->span >> at & 1) || covered >> at & 1)
			continue;
		g->cpumask[0] = below ? member->domains[below - 1].span : 1ul << at;
		covered |= g->cpumask[0];
		g->group_weight = pelton_cpus_weight(g->cpumask[0]);
		g->sgc = c;
		c->capacity = own->group_capacity;
		c->max_capacity = own->group_max_capacity;
		c->min_capacity = own->group_min_capacity;
		c->cpumask[0] = g->cpumask[0];
		c->next_update = jiffies + HZ;
		c->imbalance = own->group_imbalance;
#if ORACLE_VERSION >= 601
		g->flags = below ? kernel_sd_flags(member->domains[below - 1].flags) : 0;
#endif
#if ORACLE_VERSION >= 606
		g->cores = pelton_span_cores(&o_place, g->cpumask[0]);
#endif
		if (last)
			last->next = g;
		else
			first = g;
		last = g;
		n++;
	}
	last->next = first;
	return first;
}

static void domains_in(int cpu)
{
	const struct pelton_place_cpu *c = &o_place.cpus[cpu];
	u32 i;

	for (i = 0; i < c->nr_domains; i++) {
		struct sched_domain *sd = &o_domains[cpu][i].one;

		cpumask_bits(sched_domain_span(sd))[0] = c->domains[i].span;
		sd->span_weight = pelton_cpus_weight(c->domains[i].span);
		sd->flags = kernel_sd_flags(c->domains[i].flags);
		sd->imbalance_pct = c->domains[i].imbalance_pct;
		sd->level = i;
		sd->child = i ? &o_domains[cpu][i - 1].one : NULL;
		sd->parent = i + 1 < c->nr_domains ? &o_domains[cpu][i + 1].one : NULL;
		sd->groups = groups_in(cpu, i);
		sd->shared = NULL;
#if ORACLE_VERSION >= 518
		sd->imb_numa_nr = c->domains[i].imb_numa_nr;
#endif
	}
	rcu_assign_pointer(cpu_rq(cpu)->sd, c->nr_domains ? &o_domains[cpu][0].one : NULL);
}

/* The pointers that the kernel keeps to some of a CPU's domains. */
static void domain_pointers(int cpu)
{
	const struct pelton_place_cpu *c = &o_place.cpus[cpu];
	struct sched_domain *llc = c->llc_domain < LEVELS ? &o_domains[cpu][c->llc_domain].one : NULL;
	struct sched_domain *asym = c->asym_domain < LEVELS ? &o_domains[cpu][c->asym_domain].one : NULL;

	per_cpu(sd_llc_size, cpu) = c->llc_size;
	per_cpu(sd_llc_id, cpu) = c->llc;
	rcu_assign_pointer(per_cpu(sd_llc, cpu), llc);
#if ORACLE_VERSION < 603
	if (llc)
		llc->avg_scan_cost = o_place.avg_scan_cost_ns;
#endif
	rcu_assign_pointer(per_cpu(sd_asym_cpucapacity, cpu), asym);
	o_llc_shared[cpu].has_idle_cores = c->has_idle_cores;
	o_asym_shared[cpu].has_idle_cores = c->has_idle_cores;
	rcu_assign_pointer(per_cpu(sd_llc_shared, cpu), llc ? &o_llc_shared[cpu] : NULL);
#if ORACLE_VERSION >= 601
	o_llc_shared[cpu].nr_idle_scan = c->nr_idle_scan_llc;
	o_asym_shared[cpu].nr_idle_scan = c->nr_idle_scan_asym;
#endif
#if ORACLE_VERSION >= 612
	per_cpu(sd_share_id, cpu) = c->cluster;
#endif
#if ORACLE_VERSION >= 702
	if (llc)
		llc->shared = &o_llc_shared[cpu];
	if (asym)
		asym->shared = &o_asym_shared[cpu];
	rcu_assign_pointer(per_cpu(sd_balance_shared, cpu), asym ? asym->shared : llc ? llc->shared : NULL);
#endif
	cpumask_bits(per_cpu(cpu_sibling_map, cpu))[0] = c->threads;
}

/* What runs on a CPU. */
static void running_in(int cpu)
{
	const struct pelton_place_cpu *c = &o_place.cpus[cpu];
	struct rq *rq = cpu_rq(cpu);

	wake_run(rq, c->curr_idle ? rq->idle : c->curr_is_task ? &o_task : &o_running, c->nr_running);
#if ORACLE_VERSION >= 612
	rq->cfs.h_nr_queued = c->h_nr_queued;
	rq->cfs.h_nr_runnable = c->h_nr_runnable;
#else
	rq->cfs.h_nr_running = c->h_nr_queued;
#endif
#if ORACLE_VERSION >= 614
	rq->cfs.h_nr_idle = c->h_nr_idle;
#else
	rq->cfs.idle_h_nr_running = c->h_nr_idle;
#endif
	rq->ttwu_pending = c->ttwu_pending;
	rq->rt.rt_nr_running = c->state.rt_nr_running;
	rq->rt.rt_queued = c->state.rt_nr_running != 0;
	rq->idle_stamp = c->idle_stamp_ns;
	o_idle_states[cpu].exit_latency = c->exit_latency_ns;
	rq->idle_state = c->exit_latency_ns == PELTON_NO_IDLE_STATE ? NULL : &o_idle_states[cpu];
}

static void signals_in(int cpu)
{
	const struct pelton_place_cpu *c = &o_place.cpus[cpu];
	struct rq *rq = cpu_rq(cpu);

	oracle_cap[cpu] = c->state.cap_orig;
	oracle_lost[cpu] = c->cpufreq_pressure;
#if ORACLE_VERSION < 608
	rq->cpu_capacity_orig = c->state.cap_orig;
	rq->cfs.avg.util_est.enqueued = c->state.util_est;
	rq->avg_thermal.load_avg = c->hw_pressure;
#else
	rq->cfs.avg.util_est = c->state.util_est;
	rq->avg_hw.load_avg = c->hw_pressure;
	per_cpu(cpufreq_pressure, cpu) = c->cpufreq_pressure;
#endif
	rq->cpu_capacity = c->capacity;
	rq->cfs.avg.util_avg = c->state.util_cfs;
	rq->cfs.avg.runnable_avg = c->state.runnable_cfs;
	rq->cfs.avg.load_avg = c->load;
	rq->cfs.h_load = c->load;
	rq->cfs.last_h_load_update = jiffies;
	rq->cfs.avg.last_update_time = o_place.task.queue_update_ns;
	rq->avg_rt.util_avg = c->state.util_rt;
	rq->avg_dl.util_avg = c->state.util_dl;
	rq->avg_irq.util_avg = c->state.util_irq;
	rq->dl.running_bw = (u64)c->state.bw_dl << (BW_SHIFT - SCHED_CAPACITY_SHIFT);
	k_uclamp(cpu, o_place.uclamp_used, c->state.uclamp_min, c->state.uclamp_max);
	rq->uclamp_flags = c->uclamp_idle ? UCLAMP_FLAG_IDLE : 0;
}

#if ORACLE_VERSION >= 612
#define STATES_HEAD sizeof(struct em_perf_table)
#else
#define STATES_HEAD 0
#endif

/* Room for the next domain's states, from 6.12 on behind the head of their table; `used`: what others have taken. */
static struct em_perf_state *states_room(struct em_perf_domain *em, u32 n, unsigned long *used)
{
	static char room[PELTON_PERF_DOMAINS_MAX * STATES_HEAD +
			 PELTON_PLACE_STATES_MAX * sizeof(struct em_perf_state)] __aligned(8);
	struct em_perf_state *states = (void *)(room + *used + STATES_HEAD);

	*used += STATES_HEAD + n * sizeof(*states);
	BUG_ON(*used > sizeof(room));
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(em->em_table, (struct em_perf_table *)((char *)states - STATES_HEAD));
#else
	em->table = states;
#endif
	return states;
}

/* States of an energy model as this release keeps them. */
static void states_in(struct em_perf_state *out, const struct pelton_perf_domain *pd)
{
	u32 i;

	for (i = 0; i < pd->nr_states; i++) {
		const struct pelton_em_state *s = &o_place.states[pd->first_state + i];

		out[i].frequency = s->freq_khz;
		out[i].power = s->power_uw;
		out[i].cost = s->cost;
#if ORACLE_VERSION >= 601
		out[i].flags = s->inefficient ? EM_PERF_STATE_INEFFICIENT : 0;
#endif
#if ORACLE_VERSION >= 612
		out[i].performance = s->performance;
#endif
	}
}

static void perf_domains_in(void)
{
	unsigned long used = 0;
	u32 i, n = o_place.nr_perf_domains;

	BUG_ON(n > PELTON_PERF_DOMAINS_MAX);
	for (i = 0; i < n; i++) {
		const struct pelton_perf_domain *pd = &o_place.perf_domains[i];
		struct em_perf_domain *em = &o_models[i].one;

		em->cpus[0] = pd->cpus;
		em->nr_perf_states = pd->nr_states;
#if ORACLE_VERSION >= 601
		em->flags = EM_PERF_DOMAIN_SKIP_INEFFICIENCIES;
#endif
#if ORACLE_VERSION >= 613
		em->min_perf_state = pd->min_state;
		em->max_perf_state = pd->max_state;
#endif
		states_in(states_room(em, pd->nr_states, &used), pd);
		o_perf_domains[i].em_pd = em;
		o_perf_domains[i].next = i + 1 < n ? &o_perf_domains[i + 1] : NULL;
	}
	rcu_assign_pointer(o_root_domain.pd, n ? &o_perf_domains[0] : NULL);
	o_root_domain.overutilized = o_place.overutilized;
}

static void keys_in(int on)
{
	const struct pelton_placement *s = &o_place;

	k_key(&sched_asym_cpucapacity.key, on && s->asymmetric);
	k_key(&sched_smt_present.key, on && s->smt);
	k_key(&sched_energy_present.key, on && s->energy_aware);
#if ORACLE_VERSION >= 612
	k_key(&sched_cluster_active.key, on && s->clusters);
#endif
}

static void clamp_in(struct task_struct *p, int id, unsigned int value)
{
	p->uclamp[id].value = value;
	p->uclamp[id].active = 1;
}

/* The queue that a task is on, the root's or a group's: what of its load its CPU sees, without a walk. */
static void place_queue_in(struct task_struct *p, struct cfs_rq *q, int cpu, u64 load, u64 h_load)
{
	q->rq = cpu_rq(cpu);
	q->tg = &root_task_group;
	q->avg.load_avg = load;
	q->avg.last_update_time = o_place.task.queue_update_ns;
	q->h_load = h_load;
	q->last_h_load_update = jiffies;
	p->se.cfs_rq = q;
	p->se.my_q = NULL;
}

static void placed_task_in(void)
{
	static struct cfs_rq queue;
	const struct pelton_place_task *t = &o_place.task;

	o_task.sched_task_group = &root_task_group;
	__set_task_cpu(&o_task, t->cpu);
	se_in(&t->se, &cpu_rq(t->cpu)->cfs, 0);
	place_queue_in(&o_task, &queue, t->cpu, t->queue_load, t->queue_h_load);
	o_task.cpus_mask.bits[0] = t->allowed;
	o_task.cpus_ptr = &o_task.cpus_mask;
	o_task.nr_cpus_allowed = pelton_cpus_weight(t->allowed);
	o_task.on_rq = t->on_rq ? TASK_ON_RQ_QUEUED : 0;
	o_task.recent_used_cpu = t->recent_cpu;
	o_task.wakee_flips = t->wakee_flips;
	o_task.policy = t->sched_idle ? SCHED_IDLE : SCHED_NORMAL;
	clamp_in(&o_task, UCLAMP_MIN, t->uclamp_min);
	clamp_in(&o_task, UCLAMP_MAX, t->uclamp_max);
}

/* The task that runs on CPU `me`, which executes the placement; `recent`: the CPU that it remembers. */
static struct task_struct *placing_task_in(int me, int recent)
{
	static struct cfs_rq queue;
	const struct pelton_place_waker *w = &o_place.waker;
	struct task_struct *p = o_place.cpus[me].curr_is_task ? &o_task : &o_waker;

	if (p == &o_task)
		return p;
	p->se.avg.load_avg = w->load;
	place_queue_in(p, &queue, me, w->queue_load, w->queue_h_load);
	p->wakee_flips = w->wakee_flips;
	p->wakee_flip_decay_ts = w->flips_expired ? jiffies - HZ - 1 : jiffies;
	p->last_wakee = w->same_wakee ? &o_task : NULL;
	p->flags = (w->exiting ? PF_EXITING : 0) | (w->pinned_kthread ? PF_KTHREAD : 0);
	p->nr_cpus_allowed = w->pinned_kthread ? 1 : o_place.nr_cpus;
	p->recent_used_cpu = recent;
	return p;
}

static int call_select(u32 flags)
{
#if ORACLE_VERSION >= 601
	int wf = (flags & PELTON_WF_EXEC ? WF_EXEC : 0) | (flags & PELTON_WF_FORK ? WF_FORK : 0) |
		 (flags & PELTON_WF_TTWU ? WF_TTWU : 0) | (flags & PELTON_WF_SYNC ? WF_SYNC : 0);

#if ORACLE_VERSION >= 612
	wf |= flags & PELTON_WF_CURRENT_CPU ? WF_CURRENT_CPU : 0;
#endif
	return select_task_rq_fair(&o_task, o_place.prev_cpu, wf);
#else
	int sd_flag = flags & PELTON_WF_EXEC   ? SD_BALANCE_EXEC
		      : flags & PELTON_WF_FORK ? SD_BALANCE_FORK
					       : SD_BALANCE_WAKE;

	return select_task_rq_fair(&o_task, o_place.prev_cpu, sd_flag, flags & PELTON_WF_SYNC ? WF_SYNC : 0);
#endif
}

#ifdef PELTON_IMAGE
/* Domains and groups are the same from one record to the next, until a balance counts their capacities again. */
static bool domains_kept(void)
{
	static struct pelton_sched_domain kept[PLACE_CPUS][LEVELS];
	static u32 levels[PLACE_CPUS], cpus;
	bool same = cpus == o_place.nr_cpus;
	u32 cpu;

	cpus = o_place.nr_cpus;
	for (cpu = 0; cpu < cpus; cpu++) {
		const struct pelton_place_cpu *c = &o_place.cpus[cpu];
		unsigned long size = c->nr_domains * sizeof(kept[0][0]);

		if (same && levels[cpu] == c->nr_domains && !memcmp(kept[cpu], c->domains, size))
			continue;
		same = false;
		levels[cpu] = c->nr_domains;
		memcpy(kept[cpu], c->domains, size);
	}
	return same;
}
#else
static bool domains_kept(void)
{
	return false;
}
#endif

static void machine_in(void)
{
	int cpu, n = o_place.nr_cpus;

	BUG_ON(n > PLACE_CPUS);
	if (!domains_kept())
		for (cpu = 0; cpu < n; cpu++)
			domains_in(cpu);
	for (cpu = 0; cpu < n; cpu++) {
		domain_pointers(cpu);
		running_in(cpu);
		signals_in(cpu);
		cpu_rq(cpu)->rd = &o_root_domain;
	}
	cpu_rq(o_place.this_cpu)->avg_idle = o_place.avg_idle_ns;
	perf_domains_in();
	keys_in(1);
}

/* Leaves the CPUs as the other operations expect them. */
static void machine_out(void)
{
	int cpu;

	keys_in(0);
	for (cpu = 0; cpu < (int)o_place.nr_cpus; cpu++) {
		struct rq *rq = cpu_rq(cpu);

		wake_run(rq, rq->idle, 0);
		rq->rt.rt_nr_running = rq->rt.rt_queued = 0;
		rq->avg_rt.util_avg = rq->avg_dl.util_avg = rq->avg_irq.util_avg = 0;
		rq->dl.running_bw = 0;
		rq->idle_state = NULL;
		rq->ttwu_pending = 0;
		oracle_cap[cpu] = 1024;
		oracle_lost[cpu] = 0;
		k_uclamp(cpu, 0, 0, 1024);
	}
	k_current(&init_task);
}

/* Is a CPU's cache group still said to have an idle core? */
static int idle_cores_of(int cpu)
{
#if ORACLE_VERSION >= 702
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_balance_shared, cpu));
#else
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_llc_shared, cpu));
#endif

	return shared && shared->has_idle_cores;
}

#ifndef PELTON_IMAGE
/* `oracle_place` through select_task_rq_fair(): the CPU, what is remembered, and the task's signals afterwards. */
void k_select(struct oracle_state *s)
{
	struct task_struct *placing;
	int i;

	machine_in();
	placed_task_in();
	placing = placing_task_in(0, 7);
	k_current(placing);
	s->ret = call_select(o_place.flags);
	s->aux = o_task.recent_used_cpu;
	s->aux2 = placing == &o_task ? 0 : placing->wakee_flips;
	s->irq = placing == &o_task ? 0 : (u32)placing->recent_used_cpu;
	for (i = 0; i < (int)o_place.nr_cpus; i++)
		s->aux2 |= (u64)idle_cores_of(i) << (32 + i);
	se_out(&o_task.se, &s->se);
	machine_out();
}

/* `util`, `lowest` and `highest` (clamps) on CPU `cpu` of the machine; whether that has more to do than it can. */
void k_util_fits(struct oracle_state *s)
{
	machine_in();
	s->ret = (u64)(s64)util_fits_cpu(s->util, s->lowest, s->highest, s->cpu);
	s->aux = cpu_overutilized(s->cpu) != 0;
	machine_out();
}

/* The task of the machine runs on CPU `cpu`: its load when it waits for a bigger CPU. */
void k_misfit(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(s->cpu);

	machine_in();
	placed_task_in();
#if ORACLE_VERSION >= 612
	o_task.max_allowed_capacity = s->cap;
#endif
	update_misfit_status(&o_task, rq);
	s->ret = rq->misfit_task_load;
	rq->misfit_task_load = 0;
	machine_out();
}
#endif
