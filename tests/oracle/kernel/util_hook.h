/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schedutil from the hook to the driver. After util_domain.h. */

#if ORACLE_VERSION < 511
#define sugov_update_single_freq sugov_update_single
#endif

static unsigned int hook_flags(const struct oracle_state *s)
{
	return s->flags & PELTON_HOOK_FLAG_IOWAIT ? SCHED_CPUFREQ_IOWAIT : 0;
}

/* ret: 1 = the driver was called, 2 = its worker was asked for; aux: the frequency a driver was given. */
void k_hook(struct oracle_state *s)
{
	struct sugov_cpu *sc;

	domain_in(s);
	sc = &per_cpu(sugov_cpu, first_cpu(s) + s->cpu);
	if (s->sp.nr_cpus == 1)
		sugov_update_single_freq(&sc->update_util, s->now, hook_flags(s));
	else
		sugov_update_shared(&sc->update_util, s->now, hook_flags(s));
	s->ret = oracle_driven | oracle_irq_work << 1;
	s->aux = oracle_driven_khz;
	domain_out(s);
}

#if ORACLE_VERSION >= 511
/* A driver that takes performance. ret: it was called, aux: floor, aux2: target. */
void k_hook_perf(struct oracle_state *s)
{
	struct sugov_cpu *sc;

	domain_in(s);
	sc = &per_cpu(sugov_cpu, first_cpu(s));
	sugov_update_single_perf(&sc->update_util, s->now, hook_flags(s));
	s->ret = oracle_driven;
	s->aux = oracle_perf[0];
	s->aux2 = oracle_perf[1];
	domain_out(s);
}
#endif

void k_iowait_request(struct oracle_state *s)
{
	domain_in(s);
	sugov_iowait_boost(&per_cpu(sugov_cpu, first_cpu(s)), s->now, hook_flags(s));
	domain_out(s);
}

/* ret: the boost in capacity units. */
void k_iowait_apply(struct oracle_state *s)
{
	struct sugov_cpu *sc;

	domain_in(s);
	sc = &per_cpu(sugov_cpu, first_cpu(s));
#if ORACLE_VERSION >= 608
	s->ret = sugov_iowait_apply(sc, s->now, s->cs[0].cap_orig);
#elif ORACLE_VERSION >= 511
	sc->util = 0;
	sugov_iowait_apply(sc, s->now);
	s->ret = sc->util;
#else
	s->ret = sugov_iowait_apply(sc, s->now, 0, s->cs[0].cap_orig);
#endif
	domain_out(s);
}

/* Frequency for `util` of a CPU of capacity `cap`. */
void k_next_freq(struct oracle_state *s)
{
	domain_in(s);
	s->ret = get_next_freq(&o_sp, s->util, s->cap);
	domain_out(s);
}

void k_can_update(struct oracle_state *s)
{
	domain_in(s);
	s->ret = cpufreq_this_cpu_can_update(&o_pol) != 0;
	domain_out(s);
}

/* The worker of a slow driver. ret: the frequency it asks for. */
void k_work(struct oracle_state *s)
{
	domain_in(s);
	k_driver(0, 0);
	o_pol.freq_table = NULL;
	o_pol.cur = 0;
	o_pol.min = 0;
	o_pol.max = ~0u;
	sugov_work(&o_sp.work);
	s->ret = oracle_driven_khz;
	domain_out(s);
}

/* New limits; the driver of the domain switches fast, a slow one is called by the cpufreq core. */
void k_limits(struct oracle_state *s)
{
	s->sp.fast_switch = 1;
	s->sp.min_khz = s->lowest;
	s->sp.max_khz = s->highest;
	domain_in(s);
	sugov_limits(&o_pol);
	domain_out(s);
}
