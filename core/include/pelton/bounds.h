/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every quantity of the core: unit, smallest and largest value, words for messages. Inputs are checked against this
 * table once, at the boundary; inside, functions are total.
 *
 *   X(quantity, "unit", min, max, "what it is")
 *
 * Source: derived from docs/rules. Deviations: none, this is our own table.
 */
#ifndef PELTON_BOUNDS_H
#define PELTON_BOUNDS_H

#include "types.h"

/* Most of what a record holds and a loop visits. */
#define PELTON_OPP_MAX 256u          /* frequencies of a domain */
#define PELTON_DOMAIN_CPUS_MAX 1024u /* CPUs of a frequency domain */
#define PELTON_PLACE_SETS_MAX 2048u  /* sets of several CPUs among more than 64 */
#define PELTON_DOMAINS_MAX 6u        /* scheduling domains of one of them */
#define PELTON_RANKS_MAX 8192u       /* groups of all domains among more than 64 CPUs */
#define PELTON_PERF_DOMAINS_MAX 16u  /* domains of the energy model */
#define PELTON_PLACE_STATES_MAX 512u /* their operating points together */
#define PELTON_SD_LEVELS_MAX 16u     /* levels before those no larger than the one below are left out */
#define PELTON_TRIPS_MAX 4u          /* trips of a thermal zone */
#define PELTON_COOLING_MAX 16u       /* domains that it cools */

/* CPUs that a decision about a place or a balance reads: 64, or a power of two up to 1024 that a host sets before. */
#ifndef PELTON_PLACE_CPUS_MAX
#define PELTON_PLACE_CPUS_MAX 64u
#endif
#define PELTON_PLACE_CPUS_LARGEST 1024u

_Static_assert(PELTON_PLACE_CPUS_MAX % 64u == 0 && PELTON_PLACE_CPUS_MAX <= PELTON_PLACE_CPUS_LARGEST, "whole words");
_Static_assert((PELTON_PLACE_CPUS_MAX & (PELTON_PLACE_CPUS_MAX - 1u)) == 0, "numbers of CPUs are masked");

#define PELTON_BOUNDS(X) \
	X(capacity, "of 1024", 1, 1024, "capacity of a CPU, 1024 = the biggest CPU at its highest frequency") \
	X(freq_scale, "of 1024", 1, 1024, "current frequency relative to the reference frequency") \
	X(util, "of 1024", 0, 1024, "utilization; rounding lets a busy record reach 1025") \
	X(period_contrib, "1024 ns", 0, 1023, "position in the open period") \
	X(util_sum, "1024 ns << 10", 0, 48934912, "utilization sum: 1024 * y / (1 - y), and the open period") \
	X(weight, "weight", 2, 88761, "load weight of a task, nice 0 = 1024") \
	X(shares, "weight", 2, 262144, "weight of a task group") \
	X(bandwidth, "of 1024", 0, 1024, "reserved deadline bandwidth") \
	X(clamp, "of 1024", 0, 1024, "utilization clamp") \
	X(frequency_khz, "kHz", 1, 16000000, "frequency") \
	X(power_uw, "uW", 0, 17592186044416, "power of a busy CPU at one frequency") \
	X(rate_limit_us, "us", 0, 10000000, "rate limit of the governor") \
	X(transition_latency_ns, "ns", 0, 10000000000, "transition latency that the driver reports") \
	X(tick_ns, "ns", 1000000, 10000000, "time between timer interrupts") \
	X(time_ns, "ns", 0, 4611686018427387904, "a point in time") \
	X(cpu, "number", 0, 65535, "number of a CPU; no kernel is built for more") \
	X(tasks, "count", 0, 8388608, "runnable tasks of a queue; there are fewer task ids") \
	X(cpu_signal, "of 1024", 0, 1048576, "utilization of a whole queue, which passes 1024 while tasks join it") \
	X(queue_weight, "weight", 0, 68719476736, "sum of weights on one queue") \
	X(queue_average, "weight", 0, 1099511627776, "load or runnable average of a queue") \
	X(queue_sum, "1024 ns << 10", 0, 288230376151711744, "load or runnable sum of a queue of the heaviest groups") \
	X(entity_load_sum, "1024 ns", 0, 17179869184, "load sum of an entity; before 4.13 it was weighted")

#define PELTON_BOUND_ENUM(quantity, unit, min, max, words) PELTON_BOUND_##quantity,
enum { PELTON_BOUNDS(PELTON_BOUND_ENUM) PELTON_BOUND_COUNT };
#undef PELTON_BOUND_ENUM

/* One row as data. */
struct pelton_bound {
	const char *quantity;
	const char *unit;
	u64 min;
	u64 max;
	const char *words;
};

#ifndef __bpf__
#define PELTON_BOUND_ROW(quantity, unit, min, max, words) { #quantity, unit, min, max, words },
__attribute__((unused)) static const struct pelton_bound pelton_bound_table[PELTON_BOUND_COUNT] = { PELTON_BOUNDS(
	PELTON_BOUND_ROW) };
#undef PELTON_BOUND_ROW
#endif

#endif
