/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks of a CPU, and bandwidth of the deadline class. Included by k_core.c. */

static void o_running(struct rq *rq, struct task_struct *p)
{
	rq->curr = p;
#if ORACLE_VERSION >= 612
	rcu_assign_pointer(rq->donor, p);
#endif
}

/* update_rq_clock() up to `now`; `irq` of the time since the last update went to interrupts. */
void k_clock_update(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);
	s64 delta = s->now - s->r.clock.clock_ns;

	k_rq_in(&s->r);
	o_running(rq, s->idle ? rq->idle : k_some_task());
	rq->prev_irq_time = 0;
	per_cpu(cpu_irqtime, 0).total = s->irq;
	if (delta >= 0) {
		rq->clock += delta;
		update_rq_clock_task(rq, delta);
	}
	k_rq_out(&s->r);
	o_running(rq, rq->idle);
}

void k_to_ratio(struct oracle_state *s)
{
	s->ret = to_ratio(s->now, s->irq);
}

void k_bw_dl(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);

	rq->dl.running_bw = s->weight;
	s->ret = cpu_bw_dl(rq);
	rq->dl.running_bw = 0;
}
