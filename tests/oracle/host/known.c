// SPDX-License-Identifier: GPL-2.0-or-later
/* Differences that are known and not corrected yet. One that has gone is a failure: take the row out. */
#include "host.h"

const struct oracle_known oracle_known[] = {
	{ 0 },
};

const struct oracle_same oracle_same[] = {
	{ "overutilized", "capacity", 510, 510, "one code with clamps; whether there are any says uclamp" },
	{ "overutilized", "maximum_energy", 601, 612, "a lost lower clamp is a rank, and a rank is not 0" },
	{ "overutilized", "clamps_energy", 702, 702, "a lost lower clamp is a rank, and a rank is not 0" },
	{ "energy_full_cpu", "candidate", 510, 510, "the choice with a margin does not read it" },
	{ "capacity_search", "first", 601, 612, "one code with rank; which CPUs fit says util_fits" },
	{ "capacity_search", "rank", 510, 510, "one code with first; which CPUs fit says util_fits" },
	{ "dst_group", "types_near", 601, 612, "they differ between nodes, and few states have nodes" },
	{ "dst_group", "types", 510, 510, "they differ between nodes, and few states have nodes" },
	{ "dst_group", "types_quarter", 510, 612, "they differ between nodes, and few states have nodes" },
	{ "balance", "threads", 612, 612, "they differ in misfits of threads, and few states have both" },
	{ 0 },
};
