// SPDX-License-Identifier: GPL-2.0-or-later
/* Load balancing of one domain, on the machines of ops_select.c. */
#include <string.h>

#include "host.h"
#include "pelton/balance_move.h"

/* What tasks prefer, on machines with several caches. */
void make_caches(void)
{
	u32 cpu, i;

	oracle_place.smt_threads = oracle_place.smt ? 2 : 1;
	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++) {
		struct pelton_place_cpu *c = &oracle_place.cpus[cpu];

		oracle_place.cache_aware |= pelton_sd_in_multi_llcs(c);
		c->nr_pref_dst_llc = chance(60) ? 0 : (u32)below(4);
		c->nr_pref_llc_running = chance(50) ? c->h_nr_runnable : (u32)below(3);
		if (c->llc != cpu)
			continue;
		c->llc_capacity = chance(90) ? c->llc_size * (chance(50) ? 1024 : 300 + (u32)below(724)) : 0;
		c->llc_util = (u32)below(c->llc_size * 1100);
		for (i = cpu; i < oracle_place.nr_cpus; i++)
			if (oracle_place.cpus[i].llc == cpu) {
				oracle_place.cpus[i].llc_capacity = c->llc_capacity;
				oracle_place.cpus[i].llc_util = c->llc_util;
			}
	}
	if (chance(10))
		oracle_place.cache_aware = 0;
}

static u64 caches_known(void)
{
	u64 out = 0;
	u32 cpu;

	for (cpu = 0; cpu < oracle_place.nr_cpus; cpu++)
		if (oracle_place.cpus[cpu].llc_domain != PELTON_NO_DOMAIN)
			out = out * 31 + oracle_place.cpus[cpu].llc_util * 8209ull +
			      oracle_place.cpus[cpu].llc_capacity;
	return out;
}

/* The case is its seeds: `now` makes the machine, `irq` the rest. */
static void make_balance(struct oracle_state *s)
{
	s->now = rng_next();
	s->irq = rng_next();
}

static void begin_balance(struct oracle_state *s)
{
	const struct pelton_place_cpu *dst;

	do
		place_machine(s->now++);
	while (!oracle_place.cpus[0].nr_domains);
	rng_seed(s->irq);
	s->irq = 0;
	make_caches();
	s->cpu = (u32)below(oracle_place.nr_cpus);
	dst = &oracle_place.cpus[s->cpu];
	s->local = (u32)below(dst->nr_domains);
	s->idle = (u32)below(3);
	s->flags = chance(50) ? 0 : (u32)below(8);
	s->sleeps = pelton_cache_nice_tries(&dst->domains[s->local]);
	s->weight = chance(80) ? dst->domains[s->local].span : dst->domains[s->local].span & below(256);
	s->weight |= pelton_cpus_of(s->cpu) * chance(95);
}

static struct pelton_lb_env env_of(const struct oracle_state *s)
{
	return (struct pelton_lb_env){
		.cpus = s->weight,
		.dst_cpu = s->cpu,
		.level = s->local,
		.idle = s->idle,
		.nr_balance_failed = s->flags,
		.cache_nice_tries = s->sleeps,
		.src_cpu = PELTON_NO_CPU,
	};
}

/* What a CPU that does not become idle just now works out first: capacities of its group (update_group_capacity). */
static void refresh_group(const struct oracle_state *s)
{
	struct pelton_place_cpu *dst = &oracle_place.cpus[s->cpu];
	struct pelton_sched_domain *d = &dst->domains[s->local];
	struct pelton_rq rq = { .cap_orig = dst->state.cap_orig };
	u64 left;

	if (s->idle == PELTON_CPU_NEWLY_IDLE)
		return;
	rq.rt.util_avg = dst->state.util_rt;
	rq.dl.util_avg = dst->state.util_dl;
	rq.irq.util_avg = dst->state.util_irq;
	if (!s->local) {
		dst->capacity = pelton_capacity_of(&oracle_policy, &rq, dst->hw_pressure, dst->cpufreq_pressure);
		d->group_capacity = d->group_min_capacity = d->group_max_capacity = dst->capacity;
		return;
	}
	d->group_capacity = d->group_max_capacity = 0;
	d->group_min_capacity = ~0u;
	for (left = dst->domains[s->local - 1].span; left;) {
		u32 level, first = pelton_cpus_lowest(left);
		u64 group = pelton_group_of(&oracle_place, first, pelton_cpus_weight(dst->domains[s->local - 1].span),
					    &level);
		const struct pelton_sched_domain *own = &oracle_place.cpus[first].domains[level];

		d->group_capacity += own->group_capacity;
		d->group_min_capacity = pelton_min_u32(d->group_min_capacity, own->group_min_capacity);
		d->group_max_capacity = pelton_max_u32(d->group_max_capacity, own->group_max_capacity);
		left &= ~group;
	}
}

static void kernel_find(struct oracle_state *s)
{
	begin_balance(s);
	k_find_src(s);
}

/* The marks of the root domain: in the largest domain both are set anew, in others over-utilization may only rise. */
static u64 marks_after(const struct pelton_lb_env *env, const struct pelton_lb *lb)
{
	u32 root = pelton_lb_is_root(&oracle_place, env);
	u32 over = root ? lb->overutilized : lb->overutilized || oracle_place.overutilized;

	if (oracle_policy.overutilized >= PELTON_OVERUTILIZED_CLAMPS_ENERGY && !oracle_place.energy_aware)
		over = oracle_place.overutilized;
	return (u64)(root && lb->overloaded) << 1 | over;
}

void find_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	struct pelton_lb_env env;
	static struct pelton_lb lb;

	begin_balance(s);
	env = env_of(s);
	s->running = pelton_should_we_balance(pol, &oracle_place, &env);
	refresh_group(s);
	memset(&lb, 0, sizeof(lb));
	s->ret = pelton_find_src_group(pol, &oracle_place, &env, &lb);
	s->irq = marks_after(&env, &lb);
	s->into = PELTON_NO_CPU;
	if (s->ret) {
		s->aux = (u64)lb.imbalance;
		s->aux2 = lb.migration;
		s->into = pelton_find_src_rq(pol, &oracle_place, &env, &lb);
	}
	s->terms = record_hash(record_hash(0, &lb, sizeof(lb)), &env, sizeof(env));
	pelton_record_sg_llc_stats(pol, &oracle_place, &env);
	s->h_load = caches_known();
}

static void run_find(struct oracle_state *s)
{
	find_under(s, &oracle_policy);
}

/* Under an inverted capacity over-utilization is decided by other numbers in 5.10. */
static void settle_find(struct oracle_state *k, struct oracle_state *p)
{
	if (k->highest)
		*p = *k;
}

static void choose_source(struct oracle_state *s)
{
	begin_balance(s);
	s->into = (u32)below(oracle_place.nr_cpus);
	s->util = (u32)below(oracle_version >= 702 ? 5 : 4);
	s->h_load = below(1025);
}

static void kernel_active(struct oracle_state *s)
{
	choose_source(s);
	k_need_active_balance(s);
}

void active_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	struct pelton_lb_env env;

	choose_source(s);
	env = env_of(s);
	env.src_cpu = s->into;
	if (!oracle_place.cpus[s->into].curr_idle || oracle_place.cpus[s->into].curr_is_task) {
		env.curr_util = (u32)s->h_load;
		env.curr_misfits = pelton_util_fits_cpu(pol, &oracle_place, env.curr_util, 0, 1024, env.src_cpu) > 0 &&
				   pelton_util_fits_cpu(pol, &oracle_place, env.curr_util, 0, 1024, env.dst_cpu) <= 0;
	}
	s->ret = pelton_need_active_balance(pol, &oracle_place, &env, s->util);
	s->h_load = caches_known();
}

static void run_active(struct oracle_state *s)
{
	active_under(s, &oracle_policy);
}

/* Its process: `opps` threads, `iowait` of them run, prefers the cache of CPU `events`; the task `em_count`. */
static void choose_preference(struct oracle_state *s)
{
	s->opps = (u32)below(4);
	s->iowait = (u32)below(8);
	s->events = chance(20) ? PELTON_NO_CPU : (u32)below(oracle_place.nr_cpus);
	s->em_count = chance(20) ? PELTON_NO_CPU : oracle_place.cpus[below(oracle_place.nr_cpus)].llc;
}

/* A task on another CPU than the one that balances. */
static void choose_task(struct oracle_state *s)
{
	choose_source(s);
	s->into = (s->cpu + 1) % oracle_place.nr_cpus;
	s->running = chance(15) || oracle_place.cpus[s->into].curr_is_task;
	s->lost = chance(8);
	s->group = oracle_version >= 612 && chance(20);
	s->h_load = below(1000000);
	s->highest = chance(10);
	s->lowest = PELTON_LBF_ALL_PINNED | (chance(20) ? PELTON_LBF_DST_PINNED : 0);
	if (oracle_version >= 513 && chance(15))
		s->lowest |=
			PELTON_LBF_ACTIVE_LB | (oracle_version >= 702 && chance(50) ? PELTON_LBF_ACTIVE_LB_LLC : 0);
	choose_preference(s);
}

static void kernel_can_migrate(struct oracle_state *s)
{
	choose_task(s);
	if (s->lost)
		oracle_place.task.allowed = pelton_cpus_of(s->into);
	k_can_migrate(s);
}

void can_migrate_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	const struct pelton_place_task *t = &oracle_place.task;
	struct pelton_cache_group process;
	struct pelton_lb_env env;
	struct pelton_lb_task task;
	u32 est;

	choose_task(s);
	process = (struct pelton_cache_group){ .threads = s->opps, .nr_running_avg = s->iowait };
	est = pelton_task_util_est(pol, &t->se);
	env = env_of(s);
	env.src_cpu = s->into;
	env.flags = s->lowest;
	task = (struct pelton_lb_task){
		.allowed = s->lost ? pelton_cpus_of(s->into) : oracle_place.task.allowed,
		.since_ran_ns = (s64)s->h_load,
		.running = s->running,
		.bound = s->lost,
		.sched_idle = oracle_place.task.sched_idle,
		.delayed = s->group,
		.next_buddy = s->highest,
		.fits_src = pelton_util_fits_cpu(pol, &oracle_place, est, t->uclamp_min, t->uclamp_max, s->into) > 0,
		.fits_dst = pelton_util_fits_cpu(pol, &oracle_place, est, t->uclamp_min, t->uclamp_max, s->cpu) > 0,
		.util = (u32)t->se.avg.util_avg,
		.preferred_llc = s->em_count,
		.preferred_cpu = s->opps ? s->events : PELTON_NO_CPU,
		.invalid_llc_nr =
			pelton_invalid_llc_nr(oracle_place.smt_threads, &process, oracle_place.cpus[s->cpu].llc_size),
	};
	s->ret = pelton_can_migrate_task(pol, &oracle_place, &env, &task, s->util);
	s->aux = env.flags & (PELTON_LBF_ALL_PINNED | PELTON_LBF_DST_PINNED | PELTON_LBF_SOME_PINNED |
			      PELTON_LBF_LLC_PINNED | PELTON_LBF_LLC_FORGET);
	s->aux2 = env.flags & PELTON_LBF_DST_PINNED && !(s->lowest & PELTON_LBF_DST_PINNED) ? env.new_dst_cpu : 0;
}

static void run_can_migrate(struct oracle_state *s)
{
	can_migrate_under(s, &oracle_policy);
}

static void make_interval(struct oracle_state *s)
{
	s->util = 1 + (u32)below(600);
	s->cap = 1 + (u32)below(64);
	s->running = chance(50);
}

static void run_interval(struct oracle_state *s)
{
	struct pelton_lb_domain st = { .interval_ms = s->util };

	s->ret = pelton_sd_balance_interval(&oracle_policy, &st, s->running, ORACLE_TICK_NS, s->cap);
}

const struct oracle_op ops_balance[] = {
	{ "should_we_balance, find_busiest_group, find_busiest_queue",
	  "pelton_find_src_group, pelton_find_src_rq, pelton_should_we_balance, pelton_record_sg_llc_stats",
	  make_balance, kernel_find, run_find, settle_find, 0 },
	{ "need_active_balance", "pelton_need_active_balance, pelton_alb_break_llc", make_balance, kernel_active,
	  run_active, 0, 0 },
	{ "can_migrate_task, task_hot", "pelton_can_migrate_task, pelton_migrate_degrades_llc", make_balance,
	  kernel_can_migrate, run_can_migrate, 0, 0 },
	{ "get_sd_balance_interval", "pelton_sd_balance_interval", make_interval, k_balance_interval, run_interval, 0,
	  0 },
	{ 0 },
};
