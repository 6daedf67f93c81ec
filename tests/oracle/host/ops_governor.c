// SPDX-License-Identifier: GPL-2.0-or-later
/* schedutil from the hook to the driver. */
#include "host.h"
#include "governor.h"

static const u32 opps[ORACLE_OPPS] = { 200000,  403200,  614400,  825600,  1036800,
				       1248000, 1516800, 1804800, 2112000, 2400000 };

static void a_policy(struct oracle_state *s)
{
	struct pelton_sugov_policy *sp = &s->sp;

	sp->nr_cpus = chance(50) ? 1 : 1 + (u32)below(ORACLE_CPUS);
	sp->rate_limit_ns = 1000 * below(20000);
	sp->last_ns = s->now - below(2 * sp->rate_limit_ns + 1000);
	sp->next_freq_khz = chance(90) ? opps[below(ORACLE_OPPS)] : 0;
	sp->cached_raw_khz = chance(90) ? (u32)below(3000000) : 0;
	sp->limits_changed = chance(10);
	sp->need_update = oracle_version >= 700 && chance(5); /* before, it never outlives a call */
	sp->min_khz = opps[below(3)];
	sp->max_khz = opps[5 + below(5)];
	sp->ref_khz = sp->hw_max_khz = opps[ORACLE_OPPS - 1];
	sp->cur_khz = opps[below(ORACLE_OPPS)];
	sp->fast_switch = chance(50);
	sp->work_in_progress = !sp->fast_switch && chance(20);
	sp->remote_ok = chance(50);
	sp->freq_invariant = chance(70);
	sp->need_update_limits = chance(20);
}

static void a_cpu(struct oracle_state *s, u32 i)
{
	struct pelton_sugov_cpu *c = &s->sc[i];

	a_cpu_state(&s->cs[i]);
	s->cs[i].cap_orig = s->cs[0].cap_orig;
	/* One key for the whole system. */
	s->cs[i].uclamp_used = s->cs[0].uclamp_used;
	if (!s->cs[i].uclamp_used) {
		s->cs[i].uclamp_min = 0;
		s->cs[i].uclamp_max = 1024;
	}
	c->last_update_ns = s->now - below(10000000);
	c->saved_idle_calls = below(4);
	c->iowait_boost = chance(40) ? 128u << below(4) : 0;
	c->iowait_pending = c->iowait_boost && chance(40);
	c->bw_min = (u32)below(1000) * chance(60);
}

static void make_domain(struct oracle_state *s)
{
	u32 i;

	s->now = (1ull << 40) + below(1ull << 40);
	s->local = chance(75);
	s->opps = chance(90) ? ORACLE_OPPS : 0;
	s->flags = chance(20) ? PELTON_HOOK_FLAG_IOWAIT : 0;
	a_policy(s);
	for (i = 0; i < s->sp.nr_cpus; i++)
		a_cpu(s, i);
	s->cpu = (u32)below(s->sp.nr_cpus);
}

static void make_single(struct oracle_state *s)
{
	make_domain(s);
	s->sp.nr_cpus = 1;
	s->cpu = 0;
}

static u32 hook_begin(struct oracle_state *s)
{
	return pelton_sugov_begin(&oracle_policy, &s->sp, &s->sc[s->cpu], s->cs[s->cpu].bw_dl, s->now, ORACLE_TICK_NS,
				  s->flags, s->local);
}

/* The cpufreq core keeps what it hands to the driver within the limits. */
static u32 within_limits(const struct pelton_sugov_policy *sp)
{
	return pelton_clamp_u32(sp->next_freq_khz, sp->min_khz, sp->max_khz);
}

static void run_hook(struct oracle_state *s)
{
	struct pelton_perf_terms t[ORACLE_CPUS] = { { 0 } };
	struct pelton_decision d = { 0 };

	if (hook_begin(s) != PELTON_VERDICT_OPEN)
		return;
	pelton_sugov_evaluate(&oracle_policy, &s->sp, s->sc, s->cs, s->cpu, s->now, ORACLE_TICK_NS, opps, s->opps, t,
			      &d);
	if (d.commit != PELTON_COMMIT_DRIVE)
		return;
	s->ret = s->sp.fast_switch ? 1 : 2;
	s->aux = s->sp.fast_switch ? within_limits(&s->sp) : 0;
}

/* From 7.0 a raised reservation sets the one of two notes that the core has in the other; either opens the gate. */
static void one_note(struct oracle_state *s)
{
	s->sp.need_update |= s->sp.limits_changed;
	s->sp.limits_changed = 0;
}

/* Before 6.8 the kernel keeps utilization without its quarter, before 5.11 not at all. */
static void settle_hook(struct oracle_state *k, struct oracle_state *p)
{
	u32 i;

	for (i = 0; oracle_version < 608 && i < ORACLE_CPUS; i++)
		p->sc[i].util = k->sc[i].util;
	if (oracle_version >= 700) {
		one_note(k);
		one_note(p);
	}
}

/* Before 7.0 nothing on this way reads or clears the note; before 6.8 the core gives no floor. */
static void settle_perf(struct oracle_state *k, struct oracle_state *p)
{
	settle_hook(k, p);
	if (oracle_version < 700)
		p->sp.need_update = k->sp.need_update;
	if (oracle_version < 608)
		p->aux = k->aux;
}

/* A driver without performance interface is one that is not frequency-invariant; it takes the way of run_hook(). */
static void make_perf_driver(struct oracle_state *s)
{
	make_single(s);
	s->sp.freq_invariant = 1;
	s->sp.fast_switch = 1;
	s->sp.work_in_progress = 0;
	s->sc[0].util = (u32)below(1281);
}

static void run_hook_perf(struct oracle_state *s)
{
	struct pelton_perf_terms t = { 0 };
	u32 previous = s->sc[0].util;

	/* The kernel keeps it without the quarter. */
	if (oracle_version < 608)
		previous += previous >> 2;
	if (hook_begin(s) != PELTON_VERDICT_OPEN)
		return;
	pelton_sugov_cpu(&oracle_policy, &s->sp, s->sc, s->cs, s->now, ORACLE_TICK_NS, &t);
	s->ret = 1;
	s->aux = t.min;
	s->aux2 = pelton_sugov_commit_perf(&oracle_policy, &s->sp, s->sc, s->cs, s->now, previous, t.perf);
}

static void make_iowait(struct oracle_state *s)
{
	make_single(s);
	s->flags = chance(50) ? PELTON_HOOK_FLAG_IOWAIT : 0;
	s->cs[0].uclamp_used = s->cs[0].uclamp_min = 0;
	s->cs[0].uclamp_max = 1024;
	if (chance(10))
		s->sc[0].last_update_ns = s->now - ORACLE_TICK_NS + below(3) - 1;
}

static void run_iowait_request(struct oracle_state *s)
{
	pelton_iowait_request(&oracle_policy, &s->sp, s->sc, s->now, ORACLE_TICK_NS, s->flags);
}

static void run_iowait_apply(struct oracle_state *s)
{
	u32 boost = pelton_iowait_apply(&oracle_policy, &s->sp, s->sc, s->now, ORACLE_TICK_NS);

	s->ret = pelton_iowait_capacity(&oracle_policy, &s->sp, boost, s->cs[0].cap_orig);
}

static void make_next_freq(struct oracle_state *s)
{
	make_single(s);
	s->cap = s->cs[0].cap_orig;
	s->util = (u32)below(chance(80) ? s->cap + 1 : 1281);
}

/* get_next_freq() of 5.11 to 6.7 adds the quarter to the utilization it is given. */
static void run_next_freq(struct oracle_state *s)
{
	u32 perf = s->util, raw;

	if (oracle_policy.headroom == PELTON_HEADROOM_UTILIZATION)
		perf = pelton_apply_headroom(&oracle_policy, perf, 0, ~0u);
	raw = pelton_sugov_raw_freq(&oracle_policy, &s->sp, perf, s->cap, 0);
	s->ret = pelton_sugov_cached(&s->sp, raw, pelton_sugov_resolve(&s->sp, opps, s->opps, raw), 0);
}

static void run_can_update(struct oracle_state *s)
{
	s->ret = pelton_sugov_can_drive(&oracle_policy, &s->sp, s->local);
}

static void run_work(struct oracle_state *s)
{
	s->ret = pelton_sugov_work_start(&oracle_policy, &s->sp);
}

static void make_limits(struct oracle_state *s)
{
	make_single(s);
	s->sp.fast_switch = 1;
	s->lowest = opps[below(ORACLE_OPPS)];
	s->highest = s->lowest + (u32)below(1000000);
}

static void run_limits(struct oracle_state *s)
{
	pelton_sugov_limits(&s->sp, s->lowest, s->highest);
}

static void make_rate_limit(struct oracle_state *s)
{
	s->now = below(1ull << below(34));
	s->now &= 0xffffffff;
	s->cap = (u32)below(100000) * chance(20);
}

static void run_rate_limit(struct oracle_state *s)
{
	s->ret = pelton_default_rate_limit_us(&oracle_policy, s->now, s->cap);
}

const struct oracle_op ops_governor[] = {
	{ "sugov_update_single_freq, sugov_update_shared", "pelton_sugov_begin, pelton_sugov_evaluate", make_domain,
	  k_hook, run_hook, settle_hook, 0 },
	{ "sugov_update_single_perf", "pelton_sugov_begin, pelton_sugov_commit_perf", make_perf_driver, k_hook_perf,
	  run_hook_perf, settle_perf, 0 },
	{ "sugov_iowait_boost", "pelton_iowait_request", make_iowait, k_iowait_request, run_iowait_request, settle_hook,
	  0 },
	{ "sugov_iowait_apply", "pelton_iowait_apply", make_iowait, k_iowait_apply, run_iowait_apply, settle_hook, 0 },
	{ "get_next_freq", "pelton_sugov_raw_freq, pelton_sugov_resolve, pelton_sugov_cached", make_next_freq,
	  k_next_freq, run_next_freq, settle_hook, 0 },
	{ "cpufreq_this_cpu_can_update", "pelton_sugov_can_drive", make_domain, k_can_update, run_can_update,
	  settle_hook, 0 },
	{ "sugov_work", "pelton_sugov_work_start", make_single, k_work, run_work, settle_hook, 0 },
	{ "sugov_limits", "pelton_sugov_limits", make_limits, k_limits, run_limits, settle_hook, 0 },
	{ "cpufreq_policy_transition_delay_us", "pelton_default_rate_limit_us", make_rate_limit, k_rate_limit,
	  run_rate_limit, 0, 0 },
	{ 0 },
};
