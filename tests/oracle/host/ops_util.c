// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates and effective utilization. */
#include <stddef.h>
#include <string.h>

#include "host.h"
#include "governor.h"

static void make_util_est(struct oracle_state *s)
{
	s->cap = 1 + (u32)below(1024);
	s->sleeps = chance(90);
	an_se(&s->se, 0);
	s->se.running = 0;
}

static void run_util_est(struct oracle_state *s)
{
	pelton_util_est_update(&oracle_policy, &s->se, s->cap, s->sleeps);
}

static void make_util_est_move(struct oracle_state *s)
{
	s->into = chance(50);
	a_cfs(&s->q);
	an_se(&s->se, 0);
}

static void run_util_est_move(struct oracle_state *s)
{
	if (s->into)
		pelton_util_est_enqueue(&oracle_policy, &s->q, &s->se);
	else
		pelton_util_est_dequeue(&oracle_policy, &s->q, &s->se);
}

void a_cpu_state(struct pelton_cpu_state *s)
{
	memset(s, 0, sizeof(*s));
	/*
	 * Below 8 a boost of I/O waiters rounds to nothing, and the kernel of 5.11 to 6.7 raises nothing to the lower
	 * clamp.
	 */
	s->cap_orig = chance(40) ? 1024 : 1 + (u32)below(chance(10) ? 16 : 1024);
	s->util_cfs = chance(30) ? 0 : (u32)below(1026);
	s->runnable_cfs = (u32)below(3000) * chance(50);
	s->util_est = (u32)below(2000) * chance(50);
	s->util_rt = (u32)below(1025) * chance(30);
	s->util_dl = (u32)below(1025) * chance(30);
	s->util_irq = (u32)below(300) * chance(40);
	s->bw_dl = (u32)below(1000) * chance(40);
	s->rt_nr_running = chance(15);
	s->uclamp_used = chance(50);
	s->uclamp_min = s->uclamp_used ? (u32)below(1025) * chance(50) : 0;
	s->uclamp_max = s->uclamp_used && chance(50) ? s->uclamp_min + (u32)below(1025 - s->uclamp_min) : 1024;
	s->idle_calls = below(4);
}

static void make_state(struct oracle_state *s)
{
	a_cpu_state(&s->cs[0]);
	s->iowait = oracle_version >= 605 && chance(50);
}

static void run_cpu_util(struct oracle_state *s)
{
	s->ret = pelton_cpu_util(&oracle_policy, &s->cs[0], s->iowait);
}

/* The kernel's function is handed the fair class's part, with the boost or without. */
static void run_effective_util(struct oracle_state *s)
{
	struct pelton_policy pol = oracle_policy;
	struct pelton_perf_terms t = { 0 };

	pol.runnable_boost = oracle_made_for()->runnable_boost;
	s->ret = pelton_effective_cpu_util(&pol, &s->cs[0], &t);
	s->terms = record_hash(0, &t, offsetof(struct pelton_perf_terms, scale));
	if (oracle_version >= 608) {
		s->aux = t.min;
		s->aux2 = t.max;
	}
}

/* The kernel has no limit to give where interrupts take the whole CPU. */
static void settle_effective_util(struct oracle_state *k, struct oracle_state *p)
{
	if (k->cs[0].util_irq >= k->cs[0].cap_orig)
		p->aux2 = k->aux2;
}

/* Before 6.8 the boost of I/O waiters is added elsewhere. */
static void make_get_util(struct oracle_state *s)
{
	make_state(s);
	s->iowait = oracle_version >= 608 && chance(30) ? (u32)below(1025) : 0;
}

static void run_get_util(struct oracle_state *s)
{
	struct pelton_perf_terms t = { 0 };

	pelton_perf_eval(&oracle_policy, &s->cs[0], s->iowait, &t);
	s->terms = record_hash(0, &t, offsetof(struct pelton_perf_terms, scale));
	s->terms = folded(s->terms, pelton_sum_why(&oracle_policy, &s->cs[0], &t));
	s->terms = folded(s->terms, pelton_asks_why(&oracle_policy, &s->cs[0], &t));
	s->ret = oracle_version >= 608 ? t.perf : t.effective;
	s->aux = oracle_version >= 608 ? t.min : s->cs[0].bw_dl;
}

static void make_effective_perf(struct oracle_state *s)
{
	s->util = (u32)below(1200);
	s->lowest = (u32)below(1025) * chance(70);
	s->highest = chance(50) ? 1024 : (u32)below(1025);
}

static void run_effective_perf(struct oracle_state *s)
{
	s->ret = pelton_perf_clamped(s->util, s->lowest, s->highest);
}

static void make_ratio(struct oracle_state *s)
{
	s->now = chance(2) ? 0 : 1024 + below(1ull << below(36));
	s->irq = below(s->now + 1);
}

static void run_ratio(struct oracle_state *s)
{
	s->ret = pelton_dl_bw(s->irq, s->now);
}

static void make_bw(struct oracle_state *s)
{
	s->weight = below(1ull << below(24));
}

static void run_bw(struct oracle_state *s)
{
	s->ret = pelton_cpu_bw_dl(s->weight);
}

const struct oracle_op ops_util[] = {
	{ "util_est_update", "pelton_util_est_update", make_util_est, k_util_est_update, run_util_est, 0, 0 },
	{ "util_est_enqueue, util_est_dequeue", "pelton_util_est_enqueue, pelton_util_est_dequeue", make_util_est_move,
	  k_util_est_move, run_util_est_move, 0, 0 },
	{ "cpu_util_cfs, cpu_util_cfs_boost", "pelton_cpu_util", make_state, k_cpu_util, run_cpu_util, 0, 0 },
	{ "effective_cpu_util", "pelton_effective_cpu_util", make_state, k_effective_util, run_effective_util,
	  settle_effective_util, 0 },
	{ "sugov_get_util", "pelton_perf_eval", make_get_util, k_get_util, run_get_util, 0, 0 },
	{ "sugov_effective_cpu_perf", "pelton_perf_clamped", make_effective_perf, k_effective_perf, run_effective_perf,
	  0, 0 },
	{ "to_ratio", "pelton_dl_bw", make_ratio, k_to_ratio, run_ratio, 0, 0 },
	{ "cpu_bw_dl", "pelton_cpu_bw_dl", make_bw, k_bw_dl, run_bw, 0, 0 },
	{ 0 },
};
