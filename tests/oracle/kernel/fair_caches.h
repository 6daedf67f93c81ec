/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of caches that tasks prefer (7.2), on the machine of fair_select.h. After it. */

#if ORACLE_VERSION >= 702
#include <linux/cpu_smt.h>

unsigned int cpu_smt_num_threads;
static unsigned int o_llc_counts[PLACE_CPUS][PLACE_CPUS];

/* All CPUs of a cache have one record of it. Counts of other caches than that of `dst` mean nothing. */
static void caches_in(u32 dst)
{
	int cpu, llc;

	k_key(&sched_cache_active.key, o_place.cache_aware);
	cpu_smt_num_threads = o_place.smt_threads;
	for (cpu = 0; cpu < (int)o_place.nr_cpus; cpu++) {
		const struct pelton_place_cpu *c = &o_place.cpus[cpu];
		struct sched_domain_shared *shared = &o_llc_shared[c->llc];
		struct sched_domain *sd = cpu_rq(cpu)->sd;

		rcu_assign_pointer(per_cpu(sd_llc_shared, cpu), c->llc_domain < LEVELS ? shared : NULL);
		shared->util_avg = c->llc_util;
		shared->capacity = c->llc_capacity;
		cpu_rq(cpu)->nr_pref_llc_running = c->nr_pref_llc_running;
		if (!sd)
			continue;
		for (llc = 0; llc < PLACE_CPUS; llc++)
			o_llc_counts[cpu][llc] = llc + cpu;
		o_llc_counts[cpu][o_place.cpus[dst].llc] = c->nr_pref_dst_llc;
		sd->llc_max = PLACE_CPUS;
		sd->llc_counts = o_llc_counts[cpu];
	}
}

static void caches_end(void)
{
	k_key(&sched_cache_active.key, 0);
}
#else
static void caches_in(u32 dst)
{
}

static void caches_end(void)
{
}
#endif
