/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of equal CPUs, as bench/placement.h makes it and the kernel's side of scripts/bench-placement.sh reads it.
 */
#ifndef PLACEMENT_MACHINE_H
#define PLACEMENT_MACHINE_H

#include "pelton/types.h"

#define PLACE_MACHINE_CPUS 384

struct place_machine_cpu {
	u32 running; /* tasks, all of them fair */
	u32 util;
	u32 load;
};

/* Sizes in CPUs, numbered so that threads of a core, cores of a cache and caches of a node follow each other. */
struct place_machine {
	u32 cpus;
	u32 threads; /* of a core */
	u32 llc;     /* sharing a cache */
	u32 node;
	u32 this_cpu;
	u32 prev_cpu;
	u32 recent_cpu;
	u32 fork;      /* the task is new */
	u32 task_util; /* of 1024 */
	u32 nr_idle_scan[PLACE_MACHINE_CPUS];
	u32 has_idle_cores[PLACE_MACHINE_CPUS]; /* both by the number of the first CPU of a cache */
	struct place_machine_cpu cpu[PLACE_MACHINE_CPUS];
};

#endif
