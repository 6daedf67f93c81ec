/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates of utilization. After fair_records.h. */

#ifndef WITHOUT_UTIL_EST_UPDATE
void k_util_est_update(struct oracle_state *s)
{
	struct sched_entity *k;

	oracle_cap[0] = s->cap;
#if ORACLE_VERSION < 608
	cpu_rq(0)->cpu_capacity_orig = s->cap;
#endif
	current_of(ROOT, NULL);
#ifdef PELTON_IMAGE
	memset(&o_task, 0, sizeof(o_task));
#endif
	k = se_in(&s->se, ROOT, 0);
#if ORACLE_VERSION >= 700
	if (s->sleeps)
		util_est_update(k);
#else
	util_est_update(ROOT, &o_task, s->sleeps);
#endif
	se_out(k, &s->se);
}
#endif

#ifndef PELTON_IMAGE
/* The task joins (`into`) or leaves the queue's sum of estimates. */
void k_util_est_move(struct oracle_state *s)
{
	cfs_in(ROOT, &s->q);
	se_in(&s->se, ROOT, 0);
	if (s->into)
		util_est_enqueue(ROOT, &o_task);
	else
		util_est_dequeue(ROOT, &o_task);
	cfs_out(ROOT, &s->q);
}
#endif
