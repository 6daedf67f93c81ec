/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frequency domain and its CPUs, from the core's records and back. After util_perf.h. */

static const unsigned int o_khz[ORACLE_OPPS] = { 200000,  403200,  614400,  825600,  1036800,
						 1248000, 1516800, 1804800, 2112000, 2400000 };

static void table_in(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		o_table[i] = (struct cpufreq_frequency_table){ .frequency = o_khz[i], .driver_data = i };
	o_table[n].frequency = CPUFREQ_TABLE_END;
	o_pol.freq_table = n ? o_table : NULL;
	o_pol.freq_table_sorted = CPUFREQ_TABLE_SORTED_ASCENDING;
}

/* Hooks are executed by CPU 0; the domain begins with it (`local`) or with the next one. */
static int first_cpu(const struct oracle_state *s)
{
	return s->local ? 0 : 1;
}

static void policy_in(const struct oracle_state *s)
{
	const struct pelton_sugov_policy *sp = &s->sp;

	table_in(s->opps);
	o_pol.min = sp->min_khz;
	o_pol.max = sp->max_khz;
	o_pol.cur = sp->cur_khz;
	o_pol.cpuinfo.max_freq = sp->ref_khz;
	o_pol.fast_switch_enabled = sp->fast_switch;
	o_pol.dvfs_possible_from_any_cpu = sp->remote_ok;
	o_pol.cpu = first_cpu(s);
	o_pol.cpus->bits[0] = ((1ul << sp->nr_cpus) - 1) << first_cpu(s);
	o_pol.related_cpus->bits[0] = o_pol.cpus->bits[0];
	o_pol.governor_data = &o_sp;
	o_sp.policy = &o_pol;
	o_sp.tunables = &o_tun;
	o_sp.last_freq_update_time = sp->last_ns;
	o_sp.freq_update_delay_ns = sp->rate_limit_ns;
	o_sp.next_freq = sp->next_freq_khz;
	o_sp.cached_raw_freq = sp->cached_raw_khz;
	o_sp.work_in_progress = sp->work_in_progress;
	o_sp.limits_changed = sp->limits_changed;
	o_sp.need_freq_update = sp->need_update;
	raw_spin_lock_init(&o_sp.update_lock);
	k_freq_key(sp->freq_invariant);
}

static void policy_out(struct oracle_state *s)
{
	struct pelton_sugov_policy *sp = &s->sp;

	sp->last_ns = o_sp.last_freq_update_time;
	sp->next_freq_khz = o_sp.next_freq;
	sp->cached_raw_khz = o_sp.cached_raw_freq;
	sp->work_in_progress = o_sp.work_in_progress;
	sp->limits_changed = o_sp.limits_changed;
	sp->need_update = o_sp.need_freq_update;
	k_freq_key(1);
}

static struct sugov_cpu *cpu_in(const struct oracle_state *s, u32 i)
{
	const struct pelton_sugov_cpu *p = &s->sc[i];
	int cpu = first_cpu(s) + i;
	struct sugov_cpu *sc = &per_cpu(sugov_cpu, cpu);

	sc->sg_policy = &o_sp;
	sc->cpu = cpu;
	sc->iowait_boost = p->iowait_boost;
	sc->iowait_boost_pending = p->iowait_pending;
	sc->last_update = p->last_update_ns;
#if ORACLE_VERSION >= 511
	sc->util = p->util;
#endif
	sc->saved_idle_calls = p->saved_idle_calls;
#if ORACLE_VERSION >= 608
	sc->bw_min = p->bw_min;
#else
	sc->bw_dl = p->bw_min;
	sc->max = s->cs[i].cap_orig;
#endif
	state_in(&s->cs[i], cpu);
	return sc;
}

/* Before 5.11 the utilization is not kept. Before 6.8 it is kept without the quarter that the core's has. */
static void cpu_out(struct oracle_state *s, u32 i)
{
	const struct sugov_cpu *sc = &per_cpu(sugov_cpu, first_cpu(s) + i);
	struct pelton_sugov_cpu *p = &s->sc[i];

	p->iowait_boost = sc->iowait_boost;
	p->iowait_pending = sc->iowait_boost_pending;
	p->last_update_ns = sc->last_update;
	p->saved_idle_calls = sc->saved_idle_calls;
#if ORACLE_VERSION >= 608
	p->bw_min = sc->bw_min;
	p->util = sc->util;
#else
	p->bw_min = sc->bw_dl;
#endif
}

static void domain_in(const struct oracle_state *s)
{
	static struct update_util_data some_hook;
	u32 i;

	k_driver(s->opps != 0, s->sp.need_update_limits != 0);
	per_cpu(cpufreq_update_util_data, 0) = &some_hook;
	policy_in(s);
	for (i = 0; i < s->sp.nr_cpus; i++)
		cpu_in(s, i);
}

static void domain_out(struct oracle_state *s)
{
	u32 i;

	for (i = 0; i < s->sp.nr_cpus; i++)
		cpu_out(s, i);
	policy_out(s);
	per_cpu(cpufreq_update_util_data, 0) = NULL;
}
