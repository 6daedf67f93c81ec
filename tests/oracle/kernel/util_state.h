/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the governor reads of a CPU. After cpufreq_schedutil.c. */

static void state_in(const struct pelton_cpu_state *s, int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	oracle_idle_calls[cpu] = s->idle_calls;
	oracle_cap[cpu] = s->cap_orig;
	rq->cfs.avg.util_avg = s->util_cfs;
	rq->cfs.avg.runnable_avg = s->runnable_cfs;
#if ORACLE_VERSION >= 608
	rq->cfs.avg.util_est = s->util_est;
#else
	rq->cfs.avg.util_est.enqueued = s->util_est;
	rq->cpu_capacity_orig = s->cap_orig;
#endif
	rq->avg_rt.util_avg = s->util_rt;
	rq->avg_dl.util_avg = s->util_dl;
	rq->avg_irq.util_avg = s->util_irq;
	rq->dl.running_bw = (u64)s->bw_dl << (BW_SHIFT - SCHED_CAPACITY_SHIFT);
	rq->rt.rt_queued = s->rt_nr_running != 0;
	rq->rt.rt_nr_running = s->rt_nr_running;
	k_uclamp(cpu, s->uclamp_used, s->uclamp_min, s->uclamp_max);
}
