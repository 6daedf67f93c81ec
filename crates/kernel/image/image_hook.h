/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedutil with its structures kept, one policy for each domain: a field that a patch adds is zeroed before the
 * kernel's own sugov_start() and then left alone. What the host may change (limits, present frequency, abilities of the
 * driver) is written before each call, nothing else. Included by k_util.c, after util_state.h.
 */
#include "image.h"

#ifndef WITHOUT_SUGOV_START
static struct image_domain {
	struct cpufreq_policy pol;
	struct sugov_policy sp;
	struct sugov_tunables tun;
	struct cpufreq_frequency_table table[PELTON_KERNEL_OPPS + 1];
	u32 cpus[PELTON_KERNEL_CPUS]; /* by place */
	u32 nr_cpus;
} image_domains[PELTON_KERNEL_DOMAINS];

/* What the governor of a slow driver asks for. */
static u32 image_target_khz;

/* Called by the governor in the place of __cpufreq_driver_target(): the rest of that is the host's. */
int k_image_target(struct cpufreq_policy *policy, unsigned int khz, unsigned int relation)
{
	image_target_khz = khz;
	return 0;
}

static void image_policy_in(struct image_domain *d, const struct pelton_sugov_policy *sp)
{
	struct cpufreq_policy *pol = &d->pol;

	pol->min = sp->min_khz;
	pol->max = sp->max_khz;
	pol->cur = sp->cur_khz;
	pol->cpuinfo.max_freq = sp->ref_khz;
	pol->fast_switch_enabled = sp->fast_switch;
	pol->dvfs_possible_from_any_cpu = sp->remote_ok;
	oracle_ref[pol->cpu] = sp->scale_khz;
	k_freq_key(sp->freq_invariant);
}

static void image_policy_out(const struct image_domain *d, struct pelton_sugov_policy *sp)
{
	const struct sugov_policy *k = &d->sp;

	sp->last_ns = k->last_freq_update_time;
	sp->rate_limit_ns = k->freq_update_delay_ns;
	sp->next_freq_khz = k->next_freq;
	sp->cached_raw_khz = k->cached_raw_freq;
	sp->work_in_progress = k->work_in_progress;
	sp->limits_changed = k->limits_changed;
	sp->need_update = k->need_freq_update;
	k_freq_key(1);
}

/* Before 6.8 the utilization is kept without the quarter that the core's has. */
static void image_cpu_out(u32 cpu, struct pelton_sugov_cpu *sc)
{
	const struct sugov_cpu *k = &per_cpu(sugov_cpu, cpu);

	sc->last_update_ns = k->last_update;
	sc->saved_idle_calls = k->saved_idle_calls;
	sc->iowait_boost = k->iowait_boost;
	sc->iowait_pending = k->iowait_boost_pending;
#if ORACLE_VERSION >= 608
	sc->bw_min = k->bw_min;
	sc->util = k->util;
#else
	sc->bw_min = k->bw_dl;
#endif
}

static void image_table_in(struct image_domain *d, const u32 *khz, u32 opps)
{
	u32 i;

	BUG_ON(opps > PELTON_KERNEL_OPPS);
	for (i = 0; i < opps; i++) {
		d->table[i].frequency = pelton_khz_entry(khz[i]);
		d->table[i].driver_data = i;
#if ORACLE_VERSION >= 516
		if (khz[i] & PELTON_KHZ_INEFFICIENT) {
			d->table[i].flags = CPUFREQ_INEFFICIENT_FREQ;
			d->pol.efficiencies_available = true;
		}
#endif
	}
	d->table[opps].frequency = CPUFREQ_TABLE_END;
	d->pol.freq_table = opps ? d->table : NULL;
	d->pol.freq_table_sorted = CPUFREQ_TABLE_SORTED_ASCENDING;
}

static void image_cpus_in(struct image_domain *d, u64 cpus)
{
	u64 left;

	for (left = cpus; left; left &= left - 1)
		d->cpus[d->nr_cpus++] = pelton_cpus_lowest(left);
	BUG_ON(!d->nr_cpus);
	d->pol.cpu = d->cpus[0];
	d->pol.cpus->bits[0] = cpus;
	d->pol.related_cpus->bits[0] = cpus;
	k_image_cpus_at_least(d->cpus[d->nr_cpus - 1] + 1);
}

/* Of an earlier start: its CPUs have no hook now, unless they are another domain's. */
static void image_domain_stop(const struct image_domain *d)
{
	u32 i;

	for (i = 0; i < d->nr_cpus; i++)
		if (per_cpu(sugov_cpu, d->cpus[i]).sg_policy == &d->sp)
			per_cpu(cpufreq_update_util_data, d->cpus[i]) = NULL;
}

static void image_driver(const struct image_domain *d, const struct pelton_sugov_policy *sp)
{
	k_driver(d->pol.freq_table != NULL, sp->need_update_limits);
	k_driver_frequencies();
	image_target_khz = 0;
}

void k_image_sugov_start(u32 domain, u64 cpus, const struct pelton_sugov_policy *sp, const u32 *khz, u32 opps)
{
	struct image_domain *d = &image_domains[domain];
	u32 i;

	image_domain_stop(d);
	memset(d, 0, sizeof(*d));
	image_table_in(d, khz, opps);
	image_cpus_in(d, cpus);
	d->pol.governor_data = &d->sp;
	d->sp.policy = &d->pol;
	d->sp.tunables = &d->tun;
	d->tun.rate_limit_us = sp->rate_limit_ns / NSEC_PER_USEC;
	raw_spin_lock_init(&d->sp.update_lock);
	image_driver(d, sp);
	image_policy_in(d, sp);
	for (i = 0; i < d->nr_cpus; i++)
		per_cpu(cpufreq_update_util_data, d->cpus[i]) = NULL;
	sugov_start(&d->pol);
	k_freq_key(1);
}
#endif

#if !defined(WITHOUT_SUGOV_START) && !defined(WITHOUT_SUGOV_HOOK)
/* A CPU of a domain that is not started yet will have a hook too, which is what cpufreq_this_cpu_can_update() asks. */
static void image_hooked(u32 cpu)
{
	static struct update_util_data later;

	if (!per_cpu(cpufreq_update_util_data, cpu))
		per_cpu(cpufreq_update_util_data, cpu) = &later;
}

static void image_signals_in(const struct image_domain *d, const struct pelton_cpu_state *cs)
{
	u32 i;

	for (i = 0; i < d->nr_cpus; i++)
		state_in(&cs[i], d->cpus[i]);
}

/* The call that the scheduler makes: of the hook that the governor registered. */
void k_image_sugov_hook(u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags, const struct pelton_cpu_state *cs,
			struct pelton_sugov_policy *sp, struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out)
{
	struct image_domain *d = &image_domains[domain];
	struct update_util_data *hook = per_cpu(cpufreq_update_util_data, d->cpus[place]);
	u32 i;

	image_hooked(exec_cpu);
	image_driver(d, sp);
	image_policy_in(d, sp);
	image_signals_in(d, cs);
	out->pending = d->sp.work_in_progress;
	k_image_on(exec_cpu);
	hook->func(hook, now, flags & PELTON_HOOK_FLAG_IOWAIT ? SCHED_CPUFREQ_IOWAIT : 0);
	k_image_on(0);
	out->drove = oracle_driven;
	out->kicked = oracle_irq_work;
	out->khz = oracle_driven_khz;
	image_policy_out(d, sp);
	for (i = 0; i < d->nr_cpus; i++)
		image_cpu_out(d->cpus[i], &sc[i]);
}
#endif

#if !defined(WITHOUT_SUGOV_START) && !defined(WITHOUT_SUGOV_WORK)
u32 k_image_sugov_work(u32 domain, struct pelton_sugov_policy *sp)
{
	struct image_domain *d = &image_domains[domain];

	image_driver(d, sp);
	image_policy_in(d, sp);
	sugov_work(&d->sp.work);
	image_policy_out(d, sp);
	return image_target_khz;
}
#endif

#if !defined(WITHOUT_SUGOV_START) && !defined(WITHOUT_SUGOV_LIMITS)
/* The host moves a slow driver itself when the new limits exclude the present frequency. */
void k_image_sugov_limits(u32 domain, struct pelton_sugov_policy *sp)
{
	struct image_domain *d = &image_domains[domain];

	image_driver(d, sp);
	image_policy_in(d, sp);
	sugov_limits(&d->pol);
	image_policy_out(d, sp);
}
#endif
