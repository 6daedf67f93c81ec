// SPDX-License-Identifier: GPL-2.0-or-later
/* Where real-time and deadline tasks go: eight CPUs of one size or several, in two domains, and what runs there. */
#include "host.h"

static u64 a_deadline(const struct oracle_state *s)
{
	return s->now + below(100000000);
}

static u32 a_prio(void)
{
	return chance(40) ? 0 : 1 + (u32)below(chance(50) ? 4 : 99);
}

static void some_cpu(struct oracle_state *s, u32 i, u32 deadlines)
{
	struct pelton_class_cpu *c = &s->class_cpu[i];
	static const u32 sizes[4] = { 1024, 446, 250, 870 };

	c->cpu = i;
	c->allowed = s->aux >> i & 1;
	c->prio = a_prio();
	c->deadline_ns = chance(deadlines) ? a_deadline(s) : PELTON_NO_DEADLINE;
	c->capacity = s->class_task.asymmetric ? sizes[below(4)] : 1024;
	c->distance = 0;
	if (!(s->flags & 1) || !(s->h_load >> i & 1))
		c->distance = pelton_cpus_weight(s->flags & 3) - (s->flags >> 1 & 1);
}

/* `h_load`: the smaller domain around the task's CPU; `flags`: which of the two count; `aux`: the CPUs allowed. */
static void a_task(struct oracle_state *s)
{
	struct pelton_class_task *t = &s->class_task;

	s->now = (1ull << 40) + below(1ull << 40);
	t->cpu = (u32)below(ORACLE_CLASS_CPUS);
	s->h_load = chance(50) ? 15ull << t->cpu / 4 * 4 : 3ull << t->cpu / 2 * 2;
	s->flags = chance(60) ? 3 : (u32)below(4);
	s->aux = chance(30) ? 255 : below(255) + 1;
	if (chance(80))
		s->aux |= 1ull << t->cpu;
	t->nr_cpus_allowed = pelton_cpus_weight(s->aux);
	t->nr_cpus = ORACLE_CLASS_CPUS;
	t->last_found = (u32)below(ORACLE_CLASS_CPUS);
	t->asymmetric = (u32)below(2);
	t->prio = 1 + (u32)below(chance(50) ? 5 : 99);
	t->uclamp_min = chance(30) ? 0 : (u32)below(1025);
	t->uclamp_max = chance(50) ? 1024 : (u32)below(1025);
	t->deadline_ns = a_deadline(s);
	t->dl_runtime_ns = 1024 + below(10000000);
	t->dl_deadline_ns = t->dl_runtime_ns + below(30000000);
	t->dl_density = pelton_dl_bw(t->dl_deadline_ns, t->dl_runtime_ns);
}

static void a_running(struct oracle_state *s)
{
	const struct pelton_class_cpu *c = &s->class_cpu[s->class_task.cpu];

	s->class_curr.deadline_ns = c->deadline_ns;
	s->class_curr.prio = c->deadline_ns == PELTON_NO_DEADLINE ? c->prio : 0;
	s->class_curr.nr_cpus_allowed = 1 + (u32)below(4);
}

/* The kernel's heap has its own order of CPUs with equal deadlines. */
static void different_deadlines(struct oracle_state *s)
{
	u32 i;

	for (i = 0; i < ORACLE_CLASS_CPUS; i++)
		if (s->class_cpu[i].deadline_ns != PELTON_NO_DEADLINE)
			s->class_cpu[i].deadline_ns = s->class_cpu[i].deadline_ns / 8 * 8 + i;
}

static void make(struct oracle_state *s, u32 deadlines)
{
	u32 i;

	a_task(s);
	for (i = 0; i < ORACLE_CLASS_CPUS; i++)
		some_cpu(s, i, deadlines);
	different_deadlines(s);
	a_running(s);
}

static void make_rt(struct oracle_state *s)
{
	make(s, 15);
}

static void make_dl(struct oracle_state *s)
{
	make(s, chance(50) ? 100 : 60);
}

static void note(struct oracle_state *s, u32 found, u32 deadline)
{
	if (pelton_class_spreads(&oracle_policy, &s->class_task, found, deadline))
		s->aux2 = found;
}

/* Where the search of a real-time task ends is the next one's beginning even if the task does not go there. */
static void run_rt(struct oracle_state *s)
{
	const struct pelton_class_task *t = &s->class_task;
	struct pelton_class_search search = { 0 };
	u32 i;

	s->ret = t->cpu;
	s->aux2 = t->last_found;
	if (!pelton_rt_looks(&oracle_policy, t, &s->class_curr, s->class_cpu[t->cpu].capacity))
		return;
	pelton_class_begin(&search);
	for (i = 0; i < ORACLE_CLASS_CPUS; i++)
		pelton_find_lowest(&oracle_policy, t, &s->class_cpu[i], &search);
	note(s, pelton_lowest_rq(t, &search), 0);
	s->ret = pelton_select_rt(&oracle_policy, t, &s->class_curr, &search);
}

static void run_dl(struct oracle_state *s)
{
	const struct pelton_class_task *t = &s->class_task;
	struct pelton_class_search search = { 0 };
	u32 i, found;

	s->ret = t->cpu;
	s->aux2 = t->last_found;
	if (!pelton_dl_looks(&oracle_policy, t, &s->class_curr, s->class_cpu[t->cpu].capacity))
		return;
	pelton_class_begin(&search);
	for (i = 0; i < ORACLE_CLASS_CPUS; i++)
		pelton_find_later(&oracle_policy, t, &s->class_cpu[i], &search);
	found = pelton_later_rq(&oracle_policy, t, &search);
	note(s, found, 1);
	if (found != PELTON_NO_CPU)
		s->ret = found;
}

/* Canaries: a deadline task that is no level of its CPU; capacities that are not asked for. */
void class_no_level(struct oracle_state *s)
{
	struct oracle_state seen = *s;
	u32 i;

	for (i = 0; i < ORACLE_CLASS_CPUS; i++)
		seen.class_cpu[i].deadline_ns = PELTON_NO_DEADLINE;
	run_rt(&seen);
	s->ret = seen.ret;
	s->aux2 = seen.aux2;
}

void class_any_size(struct oracle_state *s)
{
	struct oracle_state seen = *s;

	seen.class_task.asymmetric = 0;
	run_dl(&seen);
	s->ret = seen.ret;
	s->aux2 = seen.aux2;
}

const struct oracle_op ops_class[] = {
	{ "select_task_rq_rt, cpupri_find_fitness", "pelton_rt_looks, pelton_find_lowest, pelton_select_rt", make_rt,
	  k_select_rt, run_rt, 0, 0 },
	{ "select_task_rq_dl, cpudl_find", "pelton_dl_looks, pelton_find_later, pelton_later_rq", make_dl, k_select_dl,
	  run_dl, 0, 0 },
	{ 0 },
};
