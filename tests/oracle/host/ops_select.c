// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a fair task goes, as a whole, on machines of up to eight CPUs. */
#include <string.h>

#include "host.h"

/* A machine: CPUs of each cluster, threads of a core, whether the clusters share the cache and differ in size. */
struct shape {
	u32 clusters[3];
	u32 threads;
	u32 one_cache;
	u32 unequal;
};

static const struct shape shapes[] = {
	{ { 4, 2 }, 1, 1, 1 }, { { 4, 3, 1 }, 1, 1, 1 }, { { 4, 4 }, 1, 0, 1 }, { { 4, 4 }, 2, 1, 1 },
	{ { 8 }, 1, 1, 0 },    { { 8 }, 2, 1, 0 },       { { 4, 4 }, 1, 0, 0 }, { { 4, 4 }, 2, 0, 0 },
	{ { 2, 2 }, 1, 1, 0 }, { { 3 }, 1, 1, 0 },       { { 1 }, 1, 1, 0 },    { { 4, 4 }, 1, 1, 0 },
};

static const struct shape *shape;
static u32 first_of[3], clusters;
static u32 by_energy; /* only machines, tasks and moments in which energy decides */

static u32 cluster_of(u32 cpu)
{
	u32 i = clusters;

	while (i > 1 && cpu < first_of[i - 1])
		i--;
	return i - 1;
}

static u64 cluster_cpus(u32 i)
{
	return (pelton_cpus_of(shape->clusters[i]) - 1) << first_of[i];
}

static u64 all_cpus(void)
{
	return oracle_place.nr_cpus < 64 ? pelton_cpus_of(oracle_place.nr_cpus) - 1 : ~0ull;
}

static void choose_shape(void)
{
	u32 i, cpus = 0;

	shape = &shapes[below(by_energy ? 2 : sizeof(shapes) / sizeof(shapes[0]))];
	clusters = 0;
	for (i = 0; i < 3 && shape->clusters[i]; i++) {
		first_of[i] = cpus;
		cpus += shape->clusters[i];
		clusters++;
	}
	oracle_place.nr_cpus = cpus;
	oracle_place.smt = shape->threads > 1;
	oracle_place.asymmetric = shape->unequal;
	oracle_place.clusters =
		clusters > 1 && shape->one_cache && oracle_made_for()->idle_search == PELTON_IDLE_SEARCH_CLUSTERS;
}

/* Adds a domain unless it is no larger than the one below. */
static void add_domain(struct pelton_place_cpu *c, u64 span, u32 flags, u32 pct)
{
	u64 below_it = c->nr_domains ? c->domains[c->nr_domains - 1].span : 0;

	if (span == below_it || pelton_cpus_weight(span) == 1)
		return;
	c->domains[c->nr_domains++] = (struct pelton_sched_domain){
		.span = span,
		.flags = flags | PELTON_SD_PREFER_SIBLING | PELTON_SD_BALANCE_EXEC | PELTON_SD_BALANCE_FORK |
			 PELTON_SD_WAKE_AFFINE,
		.imbalance_pct = pct,
	};
}

static u32 domain_with(const struct pelton_place_cpu *c, u64 span)
{
	u32 i;

	for (i = 0; i < c->nr_domains; i++)
		if (c->domains[i].span == span)
			return i;
	return PELTON_NO_DOMAIN;
}

static void make_domains(u32 cpu)
{
	struct pelton_place_cpu *c = &oracle_place.cpus[cpu];
	u64 cluster = cluster_cpus(cluster_of(cpu)), cache = shape->one_cache ? all_cpus() : cluster;
	u32 asym = shape->unequal ? PELTON_SD_ASYM_CPUCAPACITY : 0;

	c->threads = ((1ull << shape->threads) - 1) << cpu / shape->threads * shape->threads;
	if (shape->threads > 1)
		add_domain(c, c->threads, PELTON_SD_SHARE_CPUCAPACITY | PELTON_SD_SHARE_LLC, 110);
	if (shape->one_cache && clusters > 1)
		add_domain(c, cluster, PELTON_SD_CLUSTER | PELTON_SD_SHARE_LLC, 117);
	add_domain(c, cache, PELTON_SD_SHARE_LLC | (cache == all_cpus() ? asym : 0), 117);
	add_domain(c, all_cpus(), asym, 117);
	if (asym && c->nr_domains > 1)
		c->domains[c->nr_domains - 2].flags &= ~PELTON_SD_PREFER_SIBLING;
	c->llc = pelton_cpus_lowest(cache);
	c->llc_size = pelton_cpus_weight(cache);
	c->llc_domain = domain_with(c, cache);
	c->asym_domain = shape->unequal ? domain_with(c, all_cpus()) : PELTON_NO_DOMAIN;
	c->cluster = oracle_place.clusters ? pelton_cpus_lowest(cluster) : c->llc;
	if (c->llc_domain != PELTON_NO_DOMAIN)
		c->domains[c->llc_domain].has_shared = 1;
	if (c->asym_domain != PELTON_NO_DOMAIN)
		c->domains[c->asym_domain].has_shared = 1;
}

static u32 seldom(u32 percent, u32 n)
{
	return chance(percent) ? (u32)below(n) : 0;
}

static void make_signals(struct pelton_place_cpu *c, u32 cap_orig)
{
	struct pelton_cpu_state *s = &c->state;

	s->cap_orig = cap_orig;
	c->hw_pressure = seldom(20, cap_orig / 2 + 1);
	c->cpufreq_pressure = seldom(20, cap_orig / 2 + 1);
	c->capacity = chance(60) ? cap_orig : 1 + (u32)below(cap_orig);
	s->util_cfs = chance(30) ? 0 : (u32)below(by_energy ? cap_orig * 2 / 3 : cap_orig + 50);
	s->runnable_cfs = s->util_cfs + seldom(40, by_energy ? cap_orig : 1500);
	s->util_est = seldom(50, by_energy ? cap_orig * 2 / 3 : cap_orig + 50);
	s->util_rt = seldom(20, 400);
	s->util_dl = seldom(15, 300);
	s->util_irq = seldom(20, 100);
	s->bw_dl = seldom(20, 500);
	c->load = chance(30) ? 0 : below(chance(80) ? 4000 : 200000);
	s->uclamp_max = oracle_place.uclamp_used && chance(60) ? (u32)below(1025) : 1024;
	s->uclamp_min = oracle_place.uclamp_used && chance(50) ? (u32)below(s->uclamp_max + 1) : 0;
	s->uclamp_used = oracle_place.uclamp_used;
	c->uclamp_idle = oracle_place.uclamp_used && chance(30);
}

static void make_running(struct pelton_place_cpu *c)
{
	u32 rt;

	c->nr_running = seldom(55, 4);
	rt = c->nr_running && chance(10) && !oracle_place.uclamp_used;
	c->state.rt_nr_running = rt;
	c->h_nr_queued = c->nr_running - rt;
	c->h_nr_runnable = oracle_version >= 612 ? c->h_nr_queued - (c->h_nr_queued && chance(20)) : c->h_nr_queued;
	c->h_nr_idle = chance(20) ? c->h_nr_queued : 0;
	c->curr_idle = c->nr_running ? chance(5) : chance(95);
	c->ttwu_pending = chance(8);
	c->exit_latency_ns = chance(40) ? PELTON_NO_IDLE_STATE : 10 * (u32)below(3);
	c->idle_stamp_ns = below(4);
	c->nr_idle_scan_llc = (u32)below(oracle_place.nr_cpus + 1);
	c->nr_idle_scan_asym = (u32)below(oracle_place.nr_cpus + 1);
	c->has_idle_cores = chance(50);
	c->misfit_load = c->nr_running && chance(25) ? 1 + (u32)below(2000) : 0;
}

/* What a group is said to have, the same for all its CPUs; it lags behind the truth. */
static void make_groups(u32 cpu)
{
	struct pelton_place_cpu *c = &oracle_place.cpus[cpu];
	u32 i;

	for (i = 0; i < c->nr_domains; i++) {
		u64 group = i ? c->domains[i - 1].span : pelton_cpus_of(cpu), left;
		struct pelton_sched_domain *d = &c->domains[i];
		u32 sum = 0, max = 0, min = ~0u, lag = (u32)(group * 2654435761u >> 7) % 3;

		for (left = group; left; left &= left - 1) {
			u32 capacity = oracle_place.cpus[pelton_cpus_lowest(left)].capacity;

			sum += capacity;
			max = pelton_max_u32(max, capacity);
			min = pelton_min_u32(min, capacity);
		}
		d->group_capacity = lag ? sum : 1 + sum / 2;
		d->group_max_capacity = max;
		d->group_min_capacity = min;
		d->group_imbalance = (group * 2654435761u >> 11) % 16 == oracle_place.avg_idle_ns % 16;
	}
}

/* One performance domain for each cluster, the last cluster's first, as the kernel lists them. */
static void make_models(void)
{
	u32 i, k, first = 0;

	oracle_place.energy_aware = shape->unequal && shape->threads == 1 && (by_energy || chance(75));
	oracle_place.nr_perf_domains = oracle_place.energy_aware ? clusters : 0;
	for (i = 0; i < oracle_place.nr_perf_domains; i++) {
		u32 cluster = clusters - 1 - i, n = 1 + (u32)below(5);
		struct pelton_em_state *states = &oracle_place.states[first];
		u32 khz = 0, mw = 0;

		for (k = 0; k < n; k++) {
			khz += 1000 * (100 + (u32)below(600));
			mw += 1 + (u32)below(400);
			states[k] = (struct pelton_em_state){ .freq_khz = khz, .power_uw = 1000ull * mw };
		}
		oracle_place.perf_domains[i] = (struct pelton_perf_domain){
			.cpus = cluster_cpus(cluster), .first_state = first, .nr_states = n, .max_state = n - 1
		};
		pelton_em_create(&oracle_policy, states, n, oracle_place.cpus[first_of[cluster]].state.cap_orig);
		first += n;
	}
}

static void make_machine(void)
{
	static const u32 sizes[3][3] = { { 1024 }, { 446, 1024 }, { 300, 700, 1024 } };
	u32 cpu;

	memset(&oracle_place, 0, sizeof(oracle_place));
	choose_shape();
	oracle_place.uclamp_used = chance(40);
	oracle_place.avg_idle_ns = below(chance(50) ? 2000000 : 100000);
	oracle_place.avg_scan_cost_ns = below(3000);
	oracle_place.overutilized = !by_energy && chance(25);
	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++) {
		make_domains(cpu);
		make_signals(&oracle_place.cpus[cpu], shape->unequal ? sizes[clusters - 1][cluster_of(cpu)] : 1024);
		make_running(&oracle_place.cpus[cpu]);
	}
	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++)
		make_groups(cpu);
	make_models();
}

static void make_kind(void)
{
	struct pelton_place_task *t = &oracle_place.task;
	u32 kind = (u32)below(100);

	t->on_rq = 0;
	oracle_place.flags = PELTON_WF_TTWU | (chance(40) ? PELTON_WF_SYNC : 0);
	if (oracle_version >= 606 && chance(3))
		oracle_place.flags |= PELTON_WF_CURRENT_CPU;
	if (by_energy)
		return;
	if (kind >= 65 && kind < 82)
		oracle_place.flags = PELTON_WF_FORK;
	if (kind >= 82) {
		struct pelton_place_cpu *c = &oracle_place.cpus[0];

		oracle_place.flags = PELTON_WF_EXEC;
		t->on_rq = 1;
		c->curr_is_task = 1;
		c->curr_idle = 0;
		c->nr_running += !c->nr_running;
		c->h_nr_queued = c->nr_running - c->state.rt_nr_running;
		c->h_nr_runnable = c->h_nr_queued;
	}
}

/* The load of the queue that a task is on, and what counts of it at the root: a third are queues of groups. */
static void a_queue(const struct pelton_place_cpu *cpu, u64 *load, u64 *h_load)
{
	*load = *h_load = cpu->load;
	if (chance(67))
		return;
	*load = below(chance(50) ? 4000 : 200000);
	*h_load = below(*load + 1);
}

static void make_task(void)
{
	struct pelton_place_task *t = &oracle_place.task;
	u32 wakes = oracle_place.flags & PELTON_WF_TTWU;

	an_se(&t->se, 0);
	t->se.running = t->se.delayed = 0;
	t->se.on_rq = t->on_rq;
	if (oracle_place.flags & PELTON_WF_FORK)
		memset(&t->se.avg, 0, sizeof(t->se.avg));
	else if (!t->se.avg.last_update_time_ns)
		t->se.avg.last_update_time_ns = 1 << 20;
	if (by_energy) {
		/* Small enough for the little CPUs most of the time. */
		t->se.avg.util_avg = below(chance(70) ? 200 : 800);
		t->se.avg.runnable_avg = t->se.avg.util_avg + seldom(50, 400);
		t->se.avg.util_est_enqueued = seldom(50, 300);
		t->se.avg.util_est_ewma = oracle_version < 608 ? seldom(30, 300) : 0;
	}
	t->queue_update_ns = t->se.avg.last_update_time_ns + (chance(60) ? below(1 << 24) : 0);
	do
		t->allowed = chance(by_energy ? 90 : 60) ? all_cpus() : below(all_cpus() + 1);
	while (!t->allowed);
	if (!wakes)
		t->allowed |= 1;
	oracle_place.prev_cpu = wakes ? (u32)below(oracle_place.nr_cpus) : 0;
	t->cpu = oracle_place.prev_cpu;
	t->recent_cpu = (u32)below(oracle_place.nr_cpus);
	t->wakee_flips = (u32)below(40);
	t->sched_idle = chance(10);
	t->uclamp_max = oracle_place.uclamp_used && chance(60) ? (u32)below(1025) : 1024;
	t->uclamp_min = oracle_place.uclamp_used && chance(50) ? (u32)below(t->uclamp_max + 1) : 0;
	a_queue(&oracle_place.cpus[t->cpu], &t->queue_load, &t->queue_h_load);
	t->numa_cpu = PELTON_NO_CPU;
}

static void make_waker(void)
{
	struct pelton_place_waker *w = &oracle_place.waker;

	w->load = below(2000);
	a_queue(&oracle_place.cpus[0], &w->queue_load, &w->queue_h_load);
	w->wakee_flips = (u32)below(chance(50) ? 10 : 400);
	w->flips_expired = chance(20);
	w->same_wakee = chance(50);
	w->exiting = chance(5);
	w->pinned_kthread = chance(10);
}

/* The case is its seed: the record is too large to be carried along with every state. */
static void make_place(u64 seed)
{
	if (machine_begin())
		return;
	rng_seed(seed);
	make_machine();
	make_kind();
	make_task();
	make_waker();
	machine_made();
}

void place_machine(u64 seed)
{
	by_energy = 0;
	make_place(seed);
}

static void make_case(struct oracle_state *s)
{
	s->now = rng_next();
	s->weight = rng_next();
}

static void make_energy_case(struct oracle_state *s)
{
	make_case(s);
	s->group = 1;
}

static void begin(struct oracle_state *s)
{
	by_energy = s->group;
	make_place(s->now);
	s->se = oracle_place.task.se;
	rng_seed(s->weight);
}

static void kernel_select(struct oracle_state *s)
{
	begin(s);
	k_select(s);
}

static u64 idle_cores_after(const struct pelton_placed *placed)
{
	u64 out = 0;
	u32 cpu;

	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++) {
		const struct pelton_place_cpu *c = &oracle_place.cpus[cpu];
		u32 shared = c->llc_domain != PELTON_NO_DOMAIN ||
			     (c->asym_domain != PELTON_NO_DOMAIN && oracle_version >= 702);

		if (shared && c->has_idle_cores && cpu != placed->no_idle_core)
			out |= 1ull << (32 + cpu);
	}
	return out;
}

void select_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	static struct pelton_placed placed;

	begin(s);
	memset(&placed, 0, sizeof(placed));
	s->ret = pelton_select_task_rq_fair(pol, &oracle_place, &placed);
	s->terms = record_hash(0, &placed, sizeof(placed));
	s->aux = placed.recent_cpu;
	s->aux2 = oracle_place.cpus[0].curr_is_task ? 0 : placed.waker_flips;
	s->aux2 |= idle_cores_after(&placed);
	s->irq = oracle_place.cpus[0].curr_is_task || placed.waker_recent ? 0 : 7;
	s->se = placed.se;
}

static void run_select(struct oracle_state *s)
{
	select_under(s, &oracle_policy);
}

static void make_fits(struct oracle_state *s)
{
	make_case(s);
	s->util = (u32)below(1100);
	s->highest = chance(50) ? 1024 : (u32)below(1025);
	s->lowest = chance(50) ? 0 : (u32)below(s->highest + 1);
	s->cpu = (u32)below(8);
}

static void kernel_fits(struct oracle_state *s)
{
	begin(s);
	s->cpu %= oracle_place.nr_cpus;
	k_util_fits(s);
}

void fits_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	begin(s);
	s->cpu %= oracle_place.nr_cpus;
	s->ret = (u64)(s64)pelton_util_fits_cpu(pol, &oracle_place, s->util, s->lowest, s->highest, s->cpu);
	s->aux = pelton_cpu_overutilized(pol, &oracle_place, s->cpu);
}

static void run_fits(struct oracle_state *s)
{
	fits_under(s, &oracle_policy);
}

/* The biggest CPU that the task may use, and the CPU it runs on. */
static void begin_misfit(struct oracle_state *s)
{
	u64 left;

	begin(s);
	s->cpu = oracle_place.task.cpu;
	s->cap = 0;
	for (left = oracle_place.task.allowed; left; left &= left - 1)
		s->cap = pelton_max_u32(s->cap, oracle_place.cpus[pelton_cpus_lowest(left)].state.cap_orig);
}

static void kernel_misfit(struct oracle_state *s)
{
	begin_misfit(s);
	k_misfit(s);
}

void misfit_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	static struct pelton_placed placed;

	begin_misfit(s);
	placed.se = oracle_place.task.se;
	s->ret = pelton_misfit_load(pol, &oracle_place, &placed, s->cpu, s->cap);
}

static void run_misfit(struct oracle_state *s)
{
	misfit_under(s, &oracle_policy);
}

const struct oracle_op ops_select[] = {
	{ "select_task_rq_fair", "pelton_select_task_rq_fair", make_case, kernel_select, run_select, 0, 0 },
	{ "find_energy_efficient_cpu, compute_energy", "pelton_find_energy_efficient_cpu, pelton_compute_energy",
	  make_energy_case, kernel_select, run_select, 0, 0 },
	{ "util_fits_cpu, cpu_overutilized", "pelton_util_fits_cpu, pelton_cpu_overutilized", make_fits, kernel_fits,
	  run_fits, 0, 0 },
	{ "update_misfit_status", "pelton_misfit_load", make_case, kernel_misfit, run_misfit, 0, 0 },
	{ 0 },
};
