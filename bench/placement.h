/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines on which one wake-up is placed: the core's bench counts its instructions, and scripts/bench-placement.sh
 * those of the kernel's compiled function on the same machines.
 *
 * smt-8, smt-64, smt-384: equal CPUs, two threads a core; 8, 16 and 16 CPUs to a cache, nodes of 192. energy-8: four
 * small and four large CPUs that are placed on by energy. Each idle, half and all busy, and full. A record of 64 CPUs
 * gets those of 384 that a wake-up can look at, the caches of waker and sleeper; a larger one (PELTON_PLACE_CPUS_MAX)
 * gets all.
 */
#ifndef PLACEMENT_BENCH_H
#define PLACEMENT_BENCH_H

#include <string.h>

#include "pelton/pelton.h"
#include "placement_machine.h"

struct place_size {
	const char *name;
	u32 cpus, llc, node;
	u32 energy;
};

static const struct place_size place_sizes[] = {
	{ "smt-8", 8, 8, 8, 0 },
	{ "smt-64", 64, 16, 64, 0 },
	{ "smt-384", 384, 16, 192, 0 },
	{ "energy-8", 8, 8, 8, 1 },
};
#define PLACE_SIZES (sizeof(place_sizes) / sizeof(place_sizes[0]))
static const char *const place_states[] = { "idle", "half", "busy", "full" };
#define PLACE_KINDS (sizeof(place_states) / sizeof(place_states[0]))
/* imbalance_pct of threads of a core, and of larger domains (sd_init of all four releases). */
#define PLACE_SMT_PCT 110u
#define PLACE_LLC_PCT 117u

static struct place_machine board;
static struct pelton_placement *place_record; /* that is filled */
static const struct pelton_policy *place_policy;
static u32 number_of[PELTON_PLACE_CPUS_MAX]; /* of the machine's CPU behind the record's */
static u64 place_rng = 1;

static u64 place_next(void)
{
	place_rng ^= place_rng << 13;
	place_rng ^= place_rng >> 7;
	place_rng ^= place_rng << 17;
	return place_rng * 0x2545f4914f6cdd1dull;
}

static u64 place_below(u64 n)
{
	return (place_next() >> 11) % n;
}

/* A busy CPU has one task, which takes three to nine tenths of it; when full, all of it. CPU 0 runs the waker. */
static void load_cpus(u32 state)
{
	u32 cpu;

	for (cpu = 0; cpu < board.cpus; cpu++) {
		struct place_machine_cpu *c = &board.cpu[cpu];

		c->running = !cpu || state >= 2 || (state == 1 && place_below(2));
		c->util = c->running ? 300 + (u32)place_below(600) : (u32)place_below(30);
		if (state == 3)
			c->util = 1000 + (u32)place_below(20);
		c->load = c->util;
	}
}

/* What a cache group remembers: how far a search may go, and whether a whole core is idle. */
static void remember(void)
{
	u32 first, cpu;

	for (first = 0; first < board.cpus; first += board.llc) {
		u64 util = 0;

		board.has_idle_cores[first] = 0;
		for (cpu = first; cpu < first + board.llc; cpu++) {
			util += board.cpu[cpu].util;
			if (!(cpu % board.threads) && !board.cpu[cpu].running && !board.cpu[cpu + 1].running)
				board.has_idle_cores[first] = 1;
		}
		board.nr_idle_scan[first] = pelton_nr_idle_scan(util, board.llc, PLACE_LLC_PCT);
	}
}

static void make_place_machine(const struct place_size *size)
{
	memset(&board, 0, sizeof(board));
	board.cpus = size->cpus;
	board.threads = 2;
	board.llc = size->llc;
	board.node = size->node;
}

static void make_place_case(u32 state, u32 fork)
{
	load_cpus(state);
	remember();
	board.fork = fork;
	board.prev_cpu = fork ? 0 : (u32)place_below(board.cpus);
	board.recent_cpu = (u32)place_below(board.cpus);
	board.task_util = 20 + (u32)place_below(200);
}

#if PELTON_PLACE_CPUS_MAX > 64u

/* Row of the table of sets: levels follow each other, the smallest first. */
static u32 set_row(u32 cpu, u32 size)
{
	u32 rows = 0;

	if (size > board.threads)
		rows += board.cpus / board.threads;
	if (size > board.llc)
		rows += board.cpus / board.llc;
	if (size > board.node)
		rows += board.cpus / board.node;
	return rows + cpu / size;
}

/* The CPUs of a level around a CPU. */
static pelton_span span_of(u32 cpu, u32 size, u32 of)
{
	struct pelton_place_set *set = &place_record->sets[set_row(cpu, size)];
	u32 i, first = cpu / size * size;

	(void)of;
	if (!set->weight)
		for (i = first; i < first + size; i++)
			set->cpus.words[i / 64] |= 1ull << i % 64;
	set->weight = size;
	set->cores = size / board.threads;
	set->first = first;
	set->last = first + size - 1;
	set->group.group_capacity = size * PELTON_CAPACITY_SCALE;
	set->group.group_max_capacity = set->group.group_min_capacity = PELTON_CAPACITY_SCALE;
	return (pelton_span){ 1u + PELTON_PLACE_CPUS_MAX + set_row(cpu, size) };
}

#else

static pelton_span span_of(u32 cpu, u32 size, u32 of)
{
	u32 first = cpu / size * size;

	return (size >= of ? (of == 64 ? ~0ull : (1ull << of) - 1) : ((1ull << size) - 1) << first);
}

#endif

static void add_domain(struct pelton_place_cpu *c, u32 at, u32 size, u32 of, u32 flags)
{
	struct pelton_sched_domain *d = &c->domains[c->nr_domains];
	u32 group = c->nr_domains ? pelton_span_weight(place_record, c->domains[c->nr_domains - 1].span) : 1;

	if (size <= group)
		return;
	*d = (struct pelton_sched_domain){
		.span = span_of(at, size, of),
		.flags = flags | PELTON_SD_BALANCE_EXEC | PELTON_SD_BALANCE_FORK | PELTON_SD_WAKE_AFFINE |
			 (flags & PELTON_SD_NUMA ? 0 : PELTON_SD_PREFER_SIBLING),
		.imbalance_pct = size == board.threads ? PLACE_SMT_PCT : PLACE_LLC_PCT,
		.imb_numa_nr = flags & PELTON_SD_NUMA ? board.node / 8 : 1,
		.has_shared = size == board.llc,
		.group_capacity = group * PELTON_CAPACITY_SCALE,
		.group_max_capacity = PELTON_CAPACITY_SCALE,
		.group_min_capacity = PELTON_CAPACITY_SCALE,
	};
	if (size == board.llc)
		c->llc_domain = c->nr_domains;
	c->nr_domains++;
}

/* Row `at` of a record of `of` CPUs. */
static void row(u32 at, u32 of)
{
	struct pelton_place_cpu *c = &place_record->cpus[at];
	u32 cpu = number_of[at], first = cpu / board.llc * board.llc;
	const struct place_machine_cpu *b = &board.cpu[cpu];

	c->threads = span_of(at, board.threads, of);
	c->llc_domain = c->asym_domain = PELTON_NO_DOMAIN;
	add_domain(c, at, board.threads, of, PELTON_SD_SHARE_CPUCAPACITY | PELTON_SD_SHARE_LLC);
	add_domain(c, at, board.llc, of, PELTON_SD_SHARE_LLC);
	if (of > 64)
		add_domain(c, at, board.node, of, 0);
	add_domain(c, at, of, of, of > board.node ? PELTON_SD_NUMA : 0);
	c->state.cap_orig = c->capacity = PELTON_CAPACITY_SCALE;
	c->state.uclamp_max = PELTON_CAPACITY_SCALE;
	c->state.util_cfs = c->state.runnable_cfs = b->util;
	c->state.cfs_nr_running = b->running;
	c->load = b->load;
	c->nr_running = c->h_nr_queued = c->h_nr_runnable = b->running;
	c->curr_idle = !b->running;
	c->exit_latency_ns = PELTON_NO_IDLE_STATE;
	c->nr_idle_scan_llc = board.nr_idle_scan[first];
	c->nr_idle_scan_asym = PELTON_NO_LIMIT;
	c->has_idle_cores = board.has_idle_cores[first];
	c->llc = c->cluster = at / board.llc;
	c->llc_size = board.llc;
}

static u32 row_of(u32 cpu, u32 rows)
{
	u32 at;

	for (at = 0; at < rows; at++)
		if (number_of[at] == cpu)
			return at;
	return rows - 1; /* a CPU that was recent, out of reach */
}

/* Which CPUs have rows: all, or the waker's cache, the sleeper's and one more, for what is out of reach. */
static u32 choose_rows(void)
{
	u32 firsts[3] = { 0, board.prev_cpu / board.llc * board.llc, 0 }, rows = 0, i, cpu;

	if (board.cpus <= PELTON_PLACE_CPUS_MAX) {
		for (rows = 0; rows < board.cpus; rows++)
			number_of[rows] = rows;
		return rows;
	}
	if (!firsts[1])
		firsts[1] = board.llc;
	while (firsts[2] == firsts[0] || firsts[2] == firsts[1])
		firsts[2] += board.llc;
	for (i = 0; i < 3; i++)
		for (cpu = 0; cpu < board.llc; cpu++)
			number_of[rows++] = firsts[i] + cpu;
	return rows;
}

static void fill_record(void)
{
	struct pelton_place_task *t = &place_record->task;
	u32 rows = choose_rows(), at;

	memset(place_record, 0, sizeof(*place_record));
	place_record->nr_cpus = rows;
	place_record->smt = board.threads > 1;
	place_record->flags = board.fork ? PELTON_WF_FORK : PELTON_WF_TTWU;
	place_record->prev_cpu = row_of(board.prev_cpu, rows);
	place_record->avg_idle_ns = 1000000;
	place_record->avg_scan_cost_ns = 1000;
	for (at = 0; at < rows; at++)
		row(at, rows);
	t->allowed = span_of(0, rows, rows);
	t->se.weight = 1024;
	t->se.avg.util_avg = t->se.avg.runnable_avg = t->se.avg.load_avg = board.task_util;
	t->se.avg.last_update_time_ns = t->queue_update_ns = 1 << 20;
	t->cpu = place_record->prev_cpu;
	t->queue_load = t->queue_h_load = board.cpu[board.prev_cpu].load;
	t->recent_cpu = row_of(board.recent_cpu, rows);
	t->uclamp_max = PELTON_CAPACITY_SCALE;
	t->numa_cpu = PELTON_NO_CPU;
	place_record->waker = (struct pelton_place_waker){
		.load = 200, .queue_load = board.cpu[0].load, .queue_h_load = board.cpu[0].load, .same_wakee = 1
	};
}

#if PELTON_PLACE_CPUS_MAX <= 64u

/* Four small CPUs and four large ones of one cache, with an energy model. */
static void energy_models(void)
{
	static const u32 sizes_of[2] = { 446, 1024 };
	u32 i, k;

	place_record->asymmetric = place_record->energy_aware = 1;
	place_record->nr_perf_domains = 2;
	for (i = 0; i < 2; i++) {
		struct pelton_em_state *s = &place_record->states[5 * i];
		u32 large = !i;

		for (k = 0; k < 5; k++)
			s[k] = (struct pelton_em_state){ .freq_khz = 400000 * (k + 1),
							 .power_uw = (large ? 60000u : 15000u) * (k + 1) * (k + 2) };
		pelton_em_create(place_policy, s, 5, sizes_of[large]);
		place_record->perf_domains[i] = (struct pelton_perf_domain){
			.cpus = large ? 0xf0 : 0x0f, .first_state = 5 * i, .nr_states = 5, .max_state = 4
		};
	}
}

static void energy_row(u32 cpu)
{
	struct pelton_place_cpu *c = &place_record->cpus[cpu];
	u32 capacity = cpu < 4 ? 446 : 1024;

	c->threads = 1ull << cpu;
	c->nr_domains = 0;
	add_domain(c, cpu, 8, 8, PELTON_SD_SHARE_LLC | PELTON_SD_ASYM_CPUCAPACITY);
	c->asym_domain = 0;
	c->domains[0].has_shared = 1;
	c->domains[0].group_capacity = c->domains[0].group_max_capacity = capacity;
	c->domains[0].group_min_capacity = capacity;
	c->state.cap_orig = c->capacity = capacity;
	c->state.util_cfs = c->state.util_cfs * (capacity / 2) / 1024;
	c->state.runnable_cfs = c->state.util_cfs;
}

static void fill_energy(void)
{
	u32 cpu;

	fill_record();
	place_record->smt = 0;
	energy_models();
	for (cpu = 0; cpu < 8; cpu++)
		energy_row(cpu);
}

#endif

#endif
