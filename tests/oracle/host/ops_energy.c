// SPDX-License-Identifier: GPL-2.0-or-later
/* The energy model. */
#include "host.h"

static void make_rows(struct oracle_state *s)
{
	u32 i, khz = 100000;
	u64 uw = 0;

	s->em_count = 1 + (u32)below(ORACLE_EM_STATES);
	s->cap = 1 + (u32)below(1024);
	for (i = 0; i < s->em_count; i++) {
		khz += 1000 + (u32)below(300000);
		uw += 100 + below(300000);
		s->em[i].freq_khz = khz;
		s->em[i].power_uw = uw;
	}
}

/* `now`: largest utilization, `irq`: their sum, `weight`: capacity allowed by the hardware. */
static void make_energy(struct oracle_state *s)
{
	make_rows(s);
	pelton_em_fill(s->em, s->em_count, s->cap);
	s->now = below(1200);
	s->irq = below(4096);
	s->weight = chance(50) ? s->cap : below(1025);
	s->highest = s->em_count - 1;
	if (oracle_version >= 613 && chance(40)) {
		s->lowest = (u32)below(s->em_count);
		s->highest = s->lowest + (u32)below(s->em_count - s->lowest);
	}
}

static void run_energy(struct oracle_state *s)
{
	s->ret = pelton_em_cpu_energy(s->em, s->em_count, s->lowest, s->highest, s->now, s->irq, s->weight);
}

/* Above the capacity below which a state has no performance: there the kernel divides by 0. */
static void make_fill(struct oracle_state *s)
{
	make_rows(s);
	s->cap = 32 + (u32)below(993);
}

static void run_fill(struct oracle_state *s)
{
	pelton_em_fill(s->em, s->em_count, s->cap);
}

const struct oracle_op ops_energy[] = {
	{ "em_cpu_energy", "pelton_em_cpu_energy", make_energy, k_em_energy, run_energy, 0, 0 },
	{ "em_init_performance, em_compute_costs", "pelton_em_fill", make_fill, k_em_fill, run_fill, 0, 0 },
	{ 0 },
};
