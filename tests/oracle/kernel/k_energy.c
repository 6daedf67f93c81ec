/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The energy model's table, made from frequencies and powers. */
#if ORACLE_VERSION >= 612
#include "../../kernel/power/energy_model.c"
#include "k.h"

/* The domain's mask of CPUs follows it in memory. */
static struct {
	struct em_perf_domain pd;
	unsigned long cpus[1];
} o_domain = { .cpus = { 1 } };

void k_em_fill(struct oracle_state *s)
{
	static struct em_perf_state table[ORACLE_EM_STATES];
	static struct device dev = { .bus = &cpu_subsys };
	u32 i;

	oracle_cap[0] = s->cap;
	o_domain.pd.nr_perf_states = s->em_count;
	for (i = 0; i < s->em_count; i++)
		table[i] = (struct em_perf_state){ .frequency = s->em[i].freq_khz, .power = s->em[i].power_uw };
	em_init_performance(&dev, &o_domain.pd, table, s->em_count);
	em_compute_costs(&dev, table, NULL, s->em_count, 0);
	for (i = 0; i < s->em_count; i++) {
		s->em[i].performance = table[i].performance;
		s->em[i].cost = table[i].cost;
		s->em[i].inefficient = !!(table[i].flags & EM_PERF_STATE_INEFFICIENT);
	}
}
#endif
