// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cache the threads of a process prefer, on the machines of ops_select.c. */
#include "host.h"

static u64 a_runtime(void)
{
	return chance(20) ? 0 : below(chance(80) ? 40000000 : 1ull << 40);
}

static void begin_process(struct oracle_state *s)
{
	do
		place_machine(s->irq++);
	while (!oracle_place.cpus[0].nr_domains);
	rng_seed(s->irq);
	s->irq = 0;
	make_caches();
	oracle_place.cache_aware = 1;
	s->cpu = (u32)below(oracle_place.nr_cpus);
	if (s->cache_group.cpu != PELTON_NO_CPU)
		s->cache_group.cpu %= oracle_place.nr_cpus;
}

/* A process at a moment `now`; `cap` ticks are an epoch, the case's machine is made from `irq`. */
static void make_process(struct oracle_state *s)
{
	u64 epoch = below(chance(50) ? 10 : 1ull << 40);
	u32 cpu;

	oracle_begin = begin_process;
	s->irq = rng_next();
	s->now = (1ull << 20) + below(1ull << 40);
	s->cap = 1 + (u32)below(10);
	s->weight = a_runtime();
	s->running = chance(20);
	for (cpu = 0; cpu < ORACLE_CLASS_CPUS; cpu++) {
		struct pelton_cache_cpu *c = &s->cache_cpu[cpu];
		u64 late = below(chance(70) ? 30 : 2000);

		c->epoch = epoch + below(3);
		c->epoch_next_ticks = s->now + s->cap - late;
		c->runtime_ns = a_runtime();
		c->runs = chance(40);
		s->cache_time[cpu].runtime_ns = chance(80) ? below(c->runtime_ns + 1) : a_runtime();
		s->cache_time[cpu].epoch = c->epoch - pelton_min_u64(c->epoch, below(chance(80) ? 4 : 200));
	}
	s->cache_group.epoch = epoch + below(8) - pelton_min_u64(epoch, below(8));
	s->cache_group.nr_running_avg = below(chance(70) ? 6 : 40);
	s->cache_group.next_scan_ticks = s->now + below(3) - 2;
	s->cache_group.cpu = chance(25) ? PELTON_NO_CPU : (u32)below(8);
	s->cache_group.threads = 1 + (u32)below(4);
}

static void run_account(struct oracle_state *s)
{
	struct pelton_cache_cpu *c;

	begin_process(s);
	c = &s->cache_cpu[s->cpu];
	pelton_account_mm_sched(&oracle_place, &s->cache_group, c, &s->cache_time[s->cpu], s->cpu, s->weight, s->now,
				s->cap);
	s->ret = pelton_get_pref_llc(&oracle_place, &s->cache_group);
	s->aux = pelton_task_tick_cache(&s->cache_group, c, s->running);
}

static void run_work(struct oracle_state *s)
{
	begin_process(s);
	s->cpu = 0;
	pelton_task_cache_work(&oracle_place, &s->cache_group, s->cache_cpu, s->cache_time, 0, s->now, s->cap);
}

/* A mean that follows the number of now whatever the cache. */
void cache_fast_mean(struct oracle_state *s)
{
	u64 before = s->cache_group.nr_running_avg, scan = s->cache_group.next_scan_ticks, running = 0;
	u32 cpu;

	run_work(s);
	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++)
		running += s->cache_cpu[cpu].runs;
	if (s->cache_group.next_scan_ticks == scan)
		return;
	s->cache_group.nr_running_avg = before;
	pelton_update_avg_scale(&s->cache_group.nr_running_avg, running, 64);
}

/* Another cache is preferred as soon as it has more. */
void cache_always_moves(struct oracle_state *s)
{
	u32 preferred = s->cache_group.cpu;

	s->cache_group.cpu = PELTON_NO_CPU;
	run_work(s);
	if (s->cache_group.cpu == PELTON_NO_CPU)
		s->cache_group.cpu = preferred;
}

/* A preference that outlives its process's looks. */
void cache_never_forgets(struct oracle_state *s)
{
	s->cache_group.epoch += 1ull << 41;
	run_account(s);
	s->cache_group.epoch -= 1ull << 41;
}

const struct oracle_op ops_cache[] = {
	{ "account_mm_sched, task_tick_cache", "pelton_account_mm_sched, pelton_task_tick_cache, pelton_get_pref_llc",
	  make_process, k_account_mm, run_account, 0, 0 },
	{ "task_cache_work", "pelton_task_cache_work, pelton_fraction_mm_sched", make_process, k_cache_work, run_work,
	  0, 0 },
	{ 0 },
};
