/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One wake-up, placed by both sides; their instructions are counted (scripts/bench-placement.sh). */
#ifndef ORACLE_BENCH_H
#define ORACLE_BENCH_H

#include "../../bench/placement_machine.h"
#include "state.h"

/* The machine, once for its sizes; then what changes from case to case. */
void k_bench_domains(const struct place_machine *machine);
void k_bench_case(void);
/* The same with the machine of oracle_place, which has an energy model. */
void k_bench_energy(void);
/* The placement itself; its instructions are counted. */
u32 k_bench_call(void);

#endif
