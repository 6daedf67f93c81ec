/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cache the threads of a process prefer: what is kept of a process and of CPUs, and the look that chooses.
 *
 *   record                what it holds
 *   pelton_cache_cpu      what all fair tasks ran on a CPU, halved each epoch
 *   pelton_cache_time     the same of the threads of one process
 *   pelton_cache_group    the process: preferred CPU, last epoch in which one of its threads asked for a look, mean
 *                         number of running threads
 *   pelton_cache_scan     a look in progress
 *
 *   epoch                 HZ / 100 ticks, at least one: 10 ms, 8 ms at 250 Hz
 *   occupancy             of a CPU 2^20 * process's runtime / (CPU's runtime + 1), of a cache the sum over its CPUs
 *   choice                the first cache with most, its CPU with most, where that is more than twice the present one's
 *   mean                  avg += (running - avg) / d towards zero, d = CPUs of a cache / 4, 2 to 8
 *   too many              one thread, or mean * threads of a core * 1280 >= CPUs of a cache * 1024
 *   forgotten             too many, or more than 5 epochs without a look
 *
 *   quantity     unit
 *   runtime_ns   ns, halved each epoch
 *   epoch        epochs since the host began to count
 *   *_ticks      ticks (jiffies)
 *
 * Source: Linux 7.2.12 kernel/sched/fair.c (mm_init_sched, __update_mm_sched, fraction_mm_sched, account_mm_sched,
 * get_pref_llc, invalid_llc_nr, task_tick_cache, task_cache_work, update_avg_scale), of CONFIG_SCHED_CACHE.
 * Deviations: no NUMA balancing, so neither footprints (exceed_llc_capacity) nor preferred nodes; llc_aggr_tolerance is
 * 1 and llc_epoch_period HZ / 100, as they are at first.
 */
#ifndef PELTON_CACHE_AWARE_H
#define PELTON_CACHE_AWARE_H

#include "bandwidth.h"
#include "placement.h"
#include "policy.h"

#define PELTON_LLC_EPOCHS_PER_S 100u
#define PELTON_LLC_AFFINITY_TIMEOUT 5    /* epochs */
#define PELTON_LLC_OCCUPIED (1ull << 20) /* a CPU on which no other thread runs */

struct pelton_cache_cpu {
	u64 runtime_ns;
	u64 epoch;
	u64 epoch_next_ticks; /* the epoch ends after this tick */
	u32 runs;             /* in a look: a thread of the process that looks */
	u32 reserved;
};

struct pelton_cache_time {
	u64 runtime_ns;
	u64 epoch;
};

/* pelton_mm_init_sched() starts it. */
struct pelton_cache_group {
	u64 epoch;
	u64 nr_running_avg;
	u64 next_scan_ticks;
	u32 cpu;     /* in the preferred cache; PELTON_NO_CPU: none is preferred */
	u32 threads; /* that live */
};

struct pelton_cache_scan {
	u64 most;    /* occupancy of the fullest cache so far */
	u64 present; /* of the preferred cache */
	u32 cpu;     /* of the fullest cache: with most */
	u32 nr_running;
};

_Static_assert(sizeof(struct pelton_cache_cpu) == 32, "layout");
_Static_assert(sizeof(struct pelton_cache_time) == 16, "layout");
_Static_assert(sizeof(struct pelton_cache_group) == 32, "layout");

/* Does the kernel ask where tasks prefer to be? */
PELTON_INLINE u32 pelton_sched_cache_enabled(const struct pelton_policy *pol, const struct pelton_placement *s)
{
	return pol->cache_aware && pol->balance >= PELTON_BALANCE_TYPES && s->cache_aware;
}

/* Ticks of an epoch. */
PELTON_INLINE u32 pelton_llc_epoch_ticks(u64 tick_ns)
{
	u64 ticks = pelton_div_floor(pelton_div_floor(1000000000ull, tick_ns), PELTON_LLC_EPOCHS_PER_S);

	return (u32)pelton_max_u64(ticks, 1);
}

/* Halves a runtime once for each epoch that ended. */
PELTON_INLINE u64 pelton_cache_fades(u64 runtime_ns, u64 epochs)
{
	return epochs < 64 ? runtime_ns >> epochs : 0;
}

/* Brings the runtimes of a CPU, and of a process there, up to this tick. */
PELTON_INLINE void pelton_update_mm_sched(struct pelton_cache_cpu *c, struct pelton_cache_time *t, u64 now_ticks,
					  u32 period_ticks)
{
	s64 past = (s64)(now_ticks - c->epoch_next_ticks);
	u64 epochs;

	if (past > 0) {
		epochs = pelton_div_floor((u64)past + period_ticks - 1, period_ticks);
		c->epoch += epochs;
		c->epoch_next_ticks += epochs * period_ticks;
		c->runtime_ns = pelton_cache_fades(c->runtime_ns, epochs);
	}
	epochs = c->epoch - t->epoch;
	t->epoch += epochs;
	t->runtime_ns = pelton_cache_fades(t->runtime_ns, epochs);
}

/* The process's part of what the CPU ran. */
PELTON_INLINE u64 pelton_fraction_mm_sched(struct pelton_cache_cpu *c, struct pelton_cache_time *t, u64 now_ticks,
					   u32 period_ticks)
{
	pelton_update_mm_sched(c, t, now_ticks, period_ticks);
	return pelton_div_floor(PELTON_LLC_OCCUPIED * t->runtime_ns, c->runtime_ns + 1);
}

/* A process starts to exist, in the epoch of a CPU. */
PELTON_INLINE void pelton_mm_init_sched(struct pelton_cache_group *g, const struct pelton_cache_cpu *c, u64 now_ticks)
{
	struct pelton_cache_group fresh = { .epoch = c->epoch, .next_scan_ticks = now_ticks, .cpu = PELTON_NO_CPU };

	*g = fresh;
}

/* Has a process too few threads to gather, or too many for a cache of so many CPUs? `smt_threads`: of a core. */
PELTON_INLINE u32 pelton_invalid_llc_nr(u32 smt_threads, const struct pelton_cache_group *g, u32 llc_size)
{
	if (g->threads <= 1)
		return 1;
	return !pelton_fits_capacity(g->nr_running_avg * pelton_max_u32(smt_threads, 1), llc_size);
}

/* A thread of the process ran for `delta_ns` on CPU `cpu`. */
PELTON_INLINE void pelton_account_mm_sched(const struct pelton_placement *s, struct pelton_cache_group *g,
					   struct pelton_cache_cpu *c, struct pelton_cache_time *t, u32 cpu,
					   u64 delta_ns, u64 now_ticks, u32 period_ticks)
{
	pelton_update_mm_sched(c, t, now_ticks, period_ticks);
	t->runtime_ns += delta_ns;
	c->runtime_ns += delta_ns;
	if ((s64)(c->epoch - g->epoch) > PELTON_LLC_AFFINITY_TIMEOUT ||
	    pelton_invalid_llc_nr(s->smt_threads, g, pelton_place_cpu_of(s, cpu)->llc_size))
		g->cpu = PELTON_NO_CPU;
}

/* The cache that threads of the process prefer, as CPUs' records number it; PELTON_NO_CPU: none. */
PELTON_INLINE u32 pelton_get_pref_llc(const struct pelton_placement *s, const struct pelton_cache_group *g)
{
	return g->cpu == PELTON_NO_CPU ? PELTON_NO_CPU : pelton_place_cpu_of(s, g->cpu)->llc;
}

/* At a tick of a thread: does it ask for a look? `asked`: it has, and has not returned to user space since. */
PELTON_INLINE u32 pelton_task_tick_cache(struct pelton_cache_group *g, const struct pelton_cache_cpu *c, u32 asked)
{
	if ((s64)(c->epoch - g->epoch) <= 0 || asked)
		return 0;
	g->epoch = c->epoch;
	return 1;
}

/* Adds the cache with the CPUs `span`: the first of those with most is kept. */
PELTON_INLINE void pelton_cache_scan_llc(struct pelton_cache_cpu *c, struct pelton_cache_time *t,
					 struct pelton_cache_scan *scan, pelton_members span, u32 preferred,
					 u64 now_ticks, u32 period_ticks)
{
	u64 all = 0, most = 0;
	u32 cpu = PELTON_NO_CPU;

	for (; pelton_members_more(&span); pelton_members_step(&span)) {
		u32 i = pelton_members_at(&span);
		u64 own = pelton_fraction_mm_sched(&c[i], &t[i], now_ticks, period_ticks);

		all += own;
		if (own > most) {
			most = own;
			cpu = i;
		}
		scan->nr_running += c[i].runs;
	}
	if (all > scan->most) {
		scan->most = all;
		scan->cpu = cpu;
	}
	if (preferred)
		scan->present = all;
}

/* The mean number of running threads follows the number of now; smaller caches follow faster. */
PELTON_INLINE void pelton_update_avg_scale(u64 *avg, u64 now, u32 llc_size)
{
	u32 divisor = pelton_clamp_u32(llc_size >> 2, 2, 8);

	if (now >= *avg)
		*avg += pelton_div_floor(now - *avg, divisor);
	else
		*avg -= pelton_div_floor(*avg - now, divisor);
}

/* All caches were added, by a thread in one of `llc_size` CPUs. */
PELTON_INLINE void pelton_cache_scan_ends(struct pelton_cache_group *g, const struct pelton_cache_scan *scan,
					  u32 llc_size)
{
	if (scan->most > 2 * scan->present)
		g->cpu = scan->cpu;
	pelton_update_avg_scale(&g->nr_running_avg, scan->nr_running, llc_size);
}

/*
 * The look, by a thread on CPU `cpu` that returns to user space: at most one an epoch. `c` and `t` have a record for
 * each CPU. How many CPUs it read.
 */
PELTON_INLINE u32 pelton_task_cache_work(const struct pelton_placement *s, struct pelton_cache_group *g,
					 struct pelton_cache_cpu *c, struct pelton_cache_time *t, u32 cpu,
					 u64 now_ticks, u32 period_ticks)
{
	struct pelton_cache_scan scan = { .most = 0, .cpu = PELTON_NO_CPU };
	u32 i, read = 0, preferred = pelton_get_pref_llc(s, g);

	if ((s64)(now_ticks - g->next_scan_ticks) < 0)
		return 0;
	g->next_scan_ticks = now_ticks + period_ticks;
	if (pelton_invalid_llc_nr(s->smt_threads, g, pelton_place_cpu_of(s, cpu)->llc_size)) {
		g->cpu = PELTON_NO_CPU;
		return 0;
	}
	for (i = 0; i < PELTON_PLACE_CPUS_MAX && i < s->nr_cpus; i++) {
		pelton_span span = pelton_place_domain(s, i, pelton_rows(s)->cpus[i].llc_domain)->span;

		if (pelton_rows(s)->cpus[i].llc_domain == PELTON_NO_DOMAIN || pelton_span_first(s, span) != i)
			continue;
		pelton_cache_scan_llc(c, t, &scan, pelton_members_of(s, span, span),
				      pelton_rows(s)->cpus[i].llc == preferred, now_ticks, period_ticks);
		read += pelton_rows(s)->cpus[i].llc_size;
	}
	pelton_cache_scan_ends(g, &scan, pelton_place_cpu_of(s, cpu)->llc_size);
	return read;
}

#endif
