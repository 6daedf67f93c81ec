// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions of one wake-up placement, the kernel's and the core's, on the machines of bench/placement.h:
 *   bench list                  names of the cases
 *   bench kernel CASE N         N placements by the kernel's function; a count of k_bench_call() is theirs
 *   bench core CASE N           the same by the core's; of core_call()
 *   bench both CASE N           both, and the number of placements that came out otherwise; exit 1 when there are any
 * fork-*: new tasks. Compiled twice: with records of 64 CPUs, where the core places no new task among more, and with
 * records of 1024 (PELTON_PLACE_CPUS_MAX), for the machines of more than 64 alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "bench.h"
#include "../../../bench/placement.h"

struct pelton_policy oracle_policy;
u32 oracle_version;
static struct pelton_placed placed;
#if PELTON_PLACE_CPUS_MAX > 64u
/* The kernel's side has its own, of 64 CPUs, and reads nothing of its rows on these machines. */
static struct pelton_placement own_record;
#else
#define own_record oracle_place
#endif

static void find_profile(void)
{
	char series[16] = { 0 };
	u32 n;
	int major, minor;

	if (sscanf(k_release(), "%d.%d", &major, &minor) != 2)
		exit(70);
	oracle_version = (u32)(major * 100 + minor);
	snprintf(series, sizeof(series), "%d.%d", major, minor);
	for (n = 0; n < PELTON_PROFILE_COUNT; n++)
		if (!strcmp(pelton_profile_names[n], series))
			pelton_policy_for_profile(n, &oracle_policy);
}

__attribute__((noinline)) u32 core_call(void);
u32 core_call(void)
{
	return pelton_select_task_rq_fair(&oracle_policy, &own_record, &placed);
}

/* Machines with an energy model have few CPUs. */
static void fill(const struct place_size *size)
{
#if PELTON_PLACE_CPUS_MAX <= 64u
	if (size->energy) {
		fill_energy();
		return;
	}
#endif
	(void)size;
	fill_record();
}

static u32 by_kernel(const struct place_size *size)
{
	if (size->energy) {
		fill(size);
		k_bench_energy();
	} else {
		k_bench_case();
	}
	return k_bench_call();
}

/* New tasks may go anywhere: there must be room for all CPUs. */
static u32 by_core(const struct place_size *size)
{
	if (board.fork && board.cpus > PELTON_PLACE_CPUS_MAX)
		return PELTON_NO_CPU;
	fill(size);
	return number_of[core_call()];
}

/* Sum of the CPUs, or how many of the core's are others than the kernel's. */
static u64 run(const char *what, const struct place_size *size, u32 state, u32 fork, u64 count)
{
	u64 i, sum = 0;

	make_place_machine(size);
	k_bench_domains(&board);
	for (i = 0; i < count; i++) {
		u32 one = 0, other = 0;

		make_place_case(state, fork);
		if (*what != 'c')
			one = by_kernel(size);
		if (*what != 'k')
			other = by_core(size);
		sum += *what == 'b' ? one != other && other != PELTON_NO_CPU : one + other;
	}
	return sum;
}

static int is_case(const char *name, const struct place_size *size, u32 state, u32 fork)
{
	char own[32];

	snprintf(own, sizeof(own), "%s%s-%s", fork ? "fork-" : "", size->name, place_states[state]);
	return !strcmp(name, own);
}

#define EACH_CASE(size, state, fork) \
	for (const struct place_size *size = place_sizes; size < place_sizes + PLACE_SIZES; size++) \
		if (size->cpus > 64 || PELTON_PLACE_CPUS_MAX <= 64u) \
			for (u32 fork = 0; fork < (size->energy ? 1 : 2); fork++) \
				for (u32 state = 0; state < PLACE_KINDS; state++)

int main(int argc, char **argv)
{
	u64 count = argc > 3 ? strtoull(argv[3], 0, 0) : 100, sum;

	find_profile();
	place_record = &own_record;
	place_policy = &oracle_policy;
	trap_install();
	k_boot();
	EACH_CASE(size, state, fork)
	{
		if (argc == 2 && !strcmp(argv[1], "list"))
			printf("%s%s-%s\n", fork ? "fork-" : "", size->name, place_states[state]);
		if (argc < 4 || !is_case(argv[2], size, state, fork))
			continue;
		sum = run(argv[1], size, state, fork, count);
		printf("%s %s %llu\n", argv[1], argv[2], sum);
		return *argv[1] == 'b' && sum;
	}
	return argc != 2;
}
