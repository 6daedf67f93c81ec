/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frequency: an event on a CPU goes through filter, gate and evaluation, and becomes a target of the kernel.
 *
 * The kernel's schedutil takes the largest target of a domain's CPUs.
 *
 * Source: kernel/sched/cpufreq_schedutil.c (sugov_get_util), kernel/sched/ext.c (scx_bpf_cpuperf_set) of Linux 7.2.
 */
#ifndef PELTON_LIVE_FREQ_H
#define PELTON_LIVE_FREQ_H

#include "live_record.h"

/* What this CPU asks for now, boosts and clamps in it. */
HIDDEN void fill_state(struct live_cpu *c, u64 now)
{
	pelton_cpu_state_fill(&c->rq, 0, 0, c->state.idle_calls, &c->state);
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM)
		pelton_uclamp_sum_state(POLICY, &c->clamps, 0, &c->state);
	pelton_boost_state(POLICY, &c->state, pelton_boost_cpu(POLICY, &c->boost, now));
}

APART u32 target_of(u32 at)
{
	struct live_cpu *c = record_of(at);

	return pelton_cpuperf_target(&c->sp, &c->decision, c->rq.cap_orig);
}

/* Keeps what was decided, for who asks why. */
HIDDEN void keep_terms(struct live_cpu *c)
{
	struct live_terms *d = &decided[index_of(c)];

	d->at_ns = bpf_ktime_get_ns(); /* whoever asks has no other clock */
	d->util_avg = c->rq.cfs.avg.util_avg;
	d->runnable_avg = c->rq.cfs.avg.runnable_avg;
	d->estimate = c->rq.cfs.util_est;
	d->boost = (u64)(s64)c->boost.boost_max;
	d->util_cfs = c->state.util_cfs;
	d->cfs = c->terms.cfs;
	d->iowait = c->terms.iowait;
	d->effective = c->terms.effective;
	d->headroom = c->terms.headroom;
	d->perf = c->terms.perf;
	d->raw_khz = c->decision.raw_khz;
	d->resolved_khz = c->decision.resolved_khz;
	d->next_khz = c->sp.next_freq_khz;
	d->target = c->target;
}

/* An evaluation after the gate opened. Returns 1 when there is a new target. */
APART u32 evaluate(u32 at, u64 now)
{
	struct live_cpu *c = record_of(at);
	u32 nr = pelton_min_u32((u32)setups[index_of(c)].nr_khz, LIVE_OPPS_MAX), drives;

	COUNT(c, evaluated);
	fill_state(c, now);
	pelton_sugov_evaluate_one(POLICY, &c->sp, &c->sc, &c->state, now, SETTINGS->tick_ns, c->khz.of, nr, &c->terms,
				  &c->decision);
	drives = c->decision.commit == PELTON_COMMIT_DRIVE;
	if (drives) {
		c->target = target_of(at);
		c->sp.cur_khz = c->sp.next_freq_khz;
	}
	keep_terms(c);
	return drives;
}

/* An event on a CPU: `kind` is a PELTON_SITE_, `how` of PELTON_HOW_. Returns 1 when there is a new target. */
APART u32 frequency(u32 at, u64 now, u32 kind, u32 how)
{
	struct live_cpu *c = record_of(at);
	u32 r, verdict, drives;

	COUNT(c, events);
	if (SETTINGS->record)
		record_before(at);
	r = pelton_hook_event(POLICY, &c->sp, &c->sc, &c->rq, now, kind, how);
	if (r & PELTON_HOOK_OFFERED)
		COUNT(c, offered);
	if (!(r & PELTON_HOOK_DELIVERED))
		return 0;
	COUNT(c, delivered);
	if (SETTINGS->record)
		record_event(at, now, kind << 16 | how, r);
	verdict =
		pelton_sugov_begin(POLICY, &c->sp, &c->sc, 0, now, SETTINGS->tick_ns, r >> PELTON_HOOK_FLAGS_SHIFT, 1);
	drives = !verdict && evaluate(at, now);
	if (SETTINGS->record)
		record_after(at, verdict);
	if (!drives)
		return 0;
	COUNT(c, targets);
	set_target(c);
	return 1;
}

/* What an update of averages means to the governor. */
HIDDEN void frequency_after(struct live_cpu *c, u64 now, u32 ev, u32 how)
{
	u32 attaches = ev & (PELTON_EV_ATTACH | PELTON_EV_DETACH) ? PELTON_HOW_ATTACHES : 0;

	if (!SETTINGS->frequencies || !ev)
		return;
	if (ev & PELTON_EV_DECAYED)
		frequency(index_of(c), now, PELTON_SITE_DECAY, how | attaches);
	if (ev & PELTON_EV_ATTACH)
		frequency(index_of(c), now, PELTON_SITE_ATTACH, how);
	if (ev & PELTON_EV_DETACH)
		frequency(index_of(c), now, PELTON_SITE_DETACH, how);
}

/* Events of a task that joined. */
HIDDEN void frequency_of_wake(struct live_cpu *c, struct task_struct *woken, struct live_task *t, u64 now, u32 ev)
{
	if (!SETTINGS->frequencies)
		return;
	if (BPF_CORE_READ_BITFIELD(woken, in_iowait))
		frequency(index_of(c), now, PELTON_SITE_IOWAIT, 0);
	frequency_after(c, now, ev, 0);
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM && pelton_uclamp_sum_calls(POLICY, &t->clamps))
		frequency(index_of(c), now, PELTON_SITE_UCLAMP, 0);
}

HIDDEN void start_governor(struct live_cpu *c)
{
	const volatile struct live_setup *s = &setups[index_of(c)];
	u32 i;

	c->sp.min_khz = (u32)s->min_khz;
	c->sp.max_khz = (u32)s->max_khz;
	c->sp.hw_max_khz = (u32)s->ref_khz;
	c->sp.ref_khz = (u32)s->ref_khz;
	c->sp.cur_khz = (u32)s->min_khz;
	c->sp.nr_cpus = (u32)s->nr_domain_cpus;
	c->sp.fast_switch = 1;
	c->sp.remote_ok = 1;
	c->sp.freq_invariant = 1;
	bpf_for (i, 0, LIVE_OPPS_MAX)
		c->khz.of[i & (LIVE_OPPS_MAX - 1u)] = (u32)s->khz[i & (LIVE_OPPS_MAX - 1u)];
	pelton_sugov_init(POLICY, &c->sp, (u32)s->rate_limit_us);
	pelton_gate_init(POLICY, &c->sp, pelton_gate_cost_ns(1, s->switch_ns, 2000));
}

#endif
