/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs on a CPU, and the task that wakes another. After fair_records.h. */

static struct task_struct o_waker;

static void wake_run(struct rq *rq, struct task_struct *p, unsigned int running)
{
	rq->curr = p;
	rq->nr_running = running;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, p);
	rq->cfs.h_nr_queued = rq->cfs.h_nr_runnable = running;
#endif
}
