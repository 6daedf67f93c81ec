/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a task that wakes is put. After fair_running.h. */

static void wake_queue(struct rq *rq, unsigned long load, unsigned long capacity)
{
	rq->cfs.avg.load_avg = load;
	rq->cfs.h_load = load;
	rq->cfs.last_h_load_update = jiffies;
	rq->cpu_capacity = capacity;
}

/* Loads are set by way of h_load, so that nothing is walked. Puts into `wake` what the kernel saw as task loads. */
void k_wake_affine(struct oracle_state *s)
{
	static struct sched_domain sd;
	static struct task_struct other;
	struct rq *here = cpu_rq(0), *there = cpu_rq(1);
	struct pelton_wake *w = &s->wake;

	sd.imbalance_pct = w->siblings ? 110 : 117;
	wake_queue(here, w->this_load, w->this_capacity);
	wake_queue(there, w->prev_load, w->prev_capacity);
	o_task.se.avg.load_avg = w->task_load;
	o_task.se.cfs_rq = &there->cfs;
	o_task.se.my_q = NULL;
	o_waker.se.avg.load_avg = w->waker_load;
	o_waker.se.cfs_rq = &here->cfs;
	wake_run(here, w->this_idle ? here->idle : &o_waker, w->this_idle ? 0 : w->this_running);
	wake_run(there, w->prev_idle ? there->idle : &other, !w->prev_idle);
	k_current(&o_waker);
	s->ret = wake_affine(&sd, &o_task, 0, 1, w->sync) == 0;
	s->aux = task_h_load(&o_waker);
	s->aux2 = task_h_load(&o_task);
	wake_run(here, here->idle, 0);
	wake_run(there, there->idle, 0);
	k_current(&init_task);
}

/* `now`, `irq`: changes of partner of waker and wakee, `cap`: CPUs that share a cache. */
void k_wake_wide(struct oracle_state *s)
{
	o_waker.wakee_flips = s->now;
	o_task.wakee_flips = s->irq;
	per_cpu(sd_llc_size, 0) = s->cap;
	k_current(&o_waker);
	s->ret = wake_wide(&o_task) != 0;
	k_current(&init_task);
}

#if ORACLE_VERSION >= 612
/* The table's rows as the kernel keeps them. */
void k_em_energy(struct oracle_state *s)
{
	static struct {
		struct em_perf_table t;
		struct em_perf_state s[ORACLE_EM_STATES];
	} table;
	static struct em_perf_domain pd;
	u32 i;

	for (i = 0; i < s->em_count; i++)
		table.t.state[i] = (struct em_perf_state){
			.performance = s->em[i].performance,
			.frequency = s->em[i].freq_khz,
			.power = s->em[i].power_uw,
			.cost = s->em[i].cost,
			.flags = s->em[i].inefficient ? EM_PERF_STATE_INEFFICIENT : 0,
		};
	pd.em_table = &table.t;
	pd.nr_perf_states = s->em_count;
#if ORACLE_VERSION >= 613
	pd.min_perf_state = s->lowest;
	pd.max_perf_state = s->highest;
#endif
	pd.flags = EM_PERF_DOMAIN_SKIP_INEFFICIENCIES;
	s->ret = em_cpu_energy(&pd, s->now, s->irq, s->weight);
}
#endif
