/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of a process run on four CPUs with two caches, and one of them looks now and then. Included by entry.c only,
 * after entry_knob.h.
 */

#define CACHE_CPUS 4u

struct cache_story {
	struct pelton_cache_cpu cpus[CACHE_CPUS];
	struct pelton_cache_time times[CACHE_CPUS];
	struct pelton_cache_group g;
};

static inline __attribute__((always_inline)) void cache_ran(struct story *s, struct cache_story *c, u32 period)
{
	u32 cpu = (u32)draw(s, CACHE_CPUS), own = draw(s, 3) != 0;
	u64 ns = draw(s, 10000000);

	pelton_update_mm_sched(&c->cpus[cpu], &c->times[cpu], s->now, period);
	c->cpus[cpu].runtime_ns += ns;
	if (own)
		c->times[cpu].runtime_ns += ns;
	say(s, c->cpus[cpu].runtime_ns);
	say(s, c->times[cpu].runtime_ns);
	say(s, c->cpus[cpu].epoch);
	say(s, c->cpus[cpu].epoch_next_ticks);
	say(s, pelton_task_tick_cache(&c->g, &c->cpus[cpu], draw(s, 4) == 0));
	say(s, c->g.epoch);
}

static inline __attribute__((always_inline)) void cache_looked(struct story *s, struct cache_story *c, u32 period)
{
	struct pelton_cache_scan scan = { .most = 0, .cpu = PELTON_NO_CPU };
	u32 i;

	for (i = 0; i < CACHE_CPUS; i++)
		c->cpus[i].runs = (u32)draw(s, 2);
	for (i = 0; i < 2; i++)
		pelton_cache_scan_llc(c->cpus, c->times, &scan, pelton_walk_of(3ull << 2 * i), c->g.cpu / 2 == i,
				      s->now, period);
	pelton_cache_scan_ends(&c->g, &scan, 1u << draw(s, 7));
	say(s, c->g.cpu);
	say(s, c->g.nr_running_avg);
}

/* seed, tick */
TEST_OP op_cache_look(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct cache_story c = { 0 };
	u32 i, period = 1 + (u32)draw(&s, 10);

	c.g.cpu = PELTON_NO_CPU;
	c.g.nr_running_avg = draw(&s, 40);
	for (i = 0; i < CACHE_CPUS; i++)
		c.cpus[i].epoch_next_ticks = s.now;
	for (i = 0; i < STORY_STEPS; i++) {
		s.now += draw(&s, 2) * draw(&s, 40);
		if (draw(&s, 4))
			cache_ran(&s, &c, period);
		else
			cache_looked(&s, &c, period);
	}
	return s.said;
}

/*
 * Utilization and, from bit 32, capacity of two caches; of the task, from bit 32 whether the second is preferred, from
 * bit 40 threads of a core; mean of running threads, from bit 32 threads that live; CPUs of a cache.
 */
TEST_OP op_cache_move(u64 *w)
{
	struct pelton_llc_stats src = { (u32)w[1], w[1] >> 32 }, dst = { (u32)w[2], w[2] >> 32 };
	struct pelton_cache_group g = { .nr_running_avg = (u32)w[4], .threads = (u32)(w[4] >> 32) };
	u32 threads = (u32)(w[3] >> 40);

	return pelton_can_migrate_llc(threads, src, dst, (u32)w[3], w[3] >> 32 & 1) |
	       pelton_invalid_llc_nr(threads, &g, (u32)w[5]) << 2;
}
