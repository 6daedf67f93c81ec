// SPDX-License-Identifier: GPL-2.0-or-later
/* Machines of cases of placement: one is held and printed, where its seed alone says nothing. */
#include <stdio.h>
#include <string.h>

#include "machine.h"

#define FIELD(type, name, field, plain) { name, offsetof(type, field), sizeof(((type *)0)->field), plain }
#define M(name, field, plain) FIELD(struct pelton_placement, name, field, plain)
#define T(name, field, plain) FIELD(struct pelton_place_task, name, field, plain)
#define W(name, field) FIELD(struct pelton_place_waker, name, field, 0)
#define C(name, field, plain) FIELD(struct pelton_place_cpu, name, field, plain)
#define END { 0, 0, 0, 0 }

const struct machine_field machine_facts[] = {
	M("flags", flags, PELTON_WF_TTWU), M("overutilized", overutilized, 0),         M("uclamp_used", uclamp_used, 0),
	M("avg_idle_ns", avg_idle_ns, 0),  M("avg_scan_cost_ns", avg_scan_cost_ns, 0), END,
};

const struct machine_field machine_task[] = {
	T("util_avg", se.avg.util_avg, 0),
	T("runnable_avg", se.avg.runnable_avg, 0),
	T("load_avg", se.avg.load_avg, 0),
	T("util_est", se.avg.util_est_enqueued, 0),
	T("util_est_ewma", se.avg.util_est_ewma, 0),
	T("util_sum", se.avg.util_sum, 0),
	T("runnable_sum", se.avg.runnable_sum, 0),
	T("load_sum", se.avg.load_sum, 0),
	T("weight", se.weight, 1024),
	T("uclamp_min", uclamp_min, 0),
	T("uclamp_max", uclamp_max, 1024),
	T("sched_idle", sched_idle, 0),
	T("recent_cpu", recent_cpu, 0),
	T("wakee_flips", wakee_flips, 0),
	T("queue_load", queue_load, 0),
	T("queue_h_load", queue_h_load, 0),
	END,
};

const struct machine_field machine_waker[] = {
	W("load", load),
	W("queue_load", queue_load),
	W("queue_h_load", queue_h_load),
	W("wakee_flips", wakee_flips),
	W("flips_expired", flips_expired),
	W("same_wakee", same_wakee),
	W("exiting", exiting),
	W("pinned_kthread", pinned_kthread),
	END,
};

const struct machine_field machine_cpu[] = {
	C("capacity_left", capacity, 0),
	C("hw_pressure", hw_pressure, 0),
	C("cpufreq_pressure", cpufreq_pressure, 0),
	C("util_cfs", state.util_cfs, 0),
	C("runnable_cfs", state.runnable_cfs, 0),
	C("util_est", state.util_est, 0),
	C("util_rt", state.util_rt, 0),
	C("util_dl", state.util_dl, 0),
	C("util_irq", state.util_irq, 0),
	C("bw_dl", state.bw_dl, 0),
	C("load", load, 0),
	C("uclamp_min", state.uclamp_min, 0),
	C("uclamp_max", state.uclamp_max, 1024),
	C("uclamp_idle", uclamp_idle, 0),
	C("nr_running", nr_running, 0),
	C("rt_nr_running", state.rt_nr_running, 0),
	C("h_nr_runnable", h_nr_runnable, 0),
	C("h_nr_idle", h_nr_idle, 0),
	C("ttwu_pending", ttwu_pending, 0),
	C("exit_latency_ns", exit_latency_ns, PELTON_NO_IDLE_STATE),
	C("idle_stamp_ns", idle_stamp_ns, 0),
	C("nr_idle_scan_llc", nr_idle_scan_llc, 0),
	C("nr_idle_scan_asym", nr_idle_scan_asym, 0),
	C("has_idle_cores", has_idle_cores, 0),
	C("misfit_load", misfit_load, 0),
	END,
};

struct pelton_placement machine_held;
static struct pelton_placement last;
static u32 is_held, watches, made;

/* Models in the form of the side that asks. */
static void remake_models(void)
{
	u32 i;

	for (i = 0; i < oracle_place.nr_perf_domains; i++) {
		const struct pelton_perf_domain *d = &oracle_place.perf_domains[i];

		pelton_em_create(&oracle_policy, &oracle_place.states[d->first_state], d->nr_states,
				 oracle_place.cpus[pelton_cpus_lowest(d->cpus)].state.cap_orig);
	}
}

/* Puts the machine that is held in the place of the one that would be made now. */
u32 machine_begin(void)
{
	made++;
	if (!is_held)
		return 0;
	oracle_place = machine_held;
	remake_models();
	return 1;
}

void machine_made(void)
{
	if (watches)
		last = oracle_place;
}

void machine_drop(void)
{
	is_held = 0;
}

/* Holds the machine of a case that differs. Returns 0 where it has none, or does not differ on the one that is held. */
u32 machine_hold(const struct oracle_op *op, const struct oracle_state *in)
{
	static struct oracle_state k, p;

	machine_drop();
	watches = 1;
	made = 0;
	case_differs(op, in, &k, &p);
	watches = 0;
	if (!made)
		return 0;
	machine_held = last;
	is_held = 1;
	is_held = case_differs(op, in, &k, &p) != 0;
	return is_held;
}

u64 machine_get(const void *record, const struct machine_field *f)
{
	u32 narrow;
	u64 wide;

	if (f->size == sizeof(wide)) {
		memcpy(&wide, (const char *)record + f->at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)record + f->at, sizeof(narrow));
	return narrow;
}

void machine_set(void *record, const struct machine_field *f, u64 v)
{
	u32 narrow = (u32)v;

	if (f->size == sizeof(v))
		memcpy((char *)record + f->at, &v, sizeof(v));
	else
		memcpy((char *)record + f->at, &narrow, sizeof(narrow));
}

/* Number of fields with something to say. */
static u64 said(const void *record, const struct machine_field *f)
{
	u64 out = 0;

	for (; f->name; f++)
		out += machine_get(record, f) != f->plain;
	return out;
}

/* Size of the machine that is held; a CPU is more than any field. */
u64 machine_size(void)
{
	u64 out = said(&machine_held, machine_facts) + said(&machine_held.task, machine_task) +
		  said(&machine_held.waker, machine_waker);
	u32 cpu;

	if (!is_held)
		return 0;
	for (cpu = 0; cpu < machine_held.nr_cpus; cpu++)
		out += 100 + said(&machine_held.cpus[cpu], machine_cpu);
	return out;
}

static void one(const char *name, u64 value, u32 follows)
{
	printf("%s{\"name\":\"%s\",\"value\":%lld}", follows ? "," : "", name, (s64)value);
}

/* Fields with something to say, after others if `follows`. */
static void list(const void *record, const struct machine_field *f, u32 follows)
{
	for (; f->name; f++)
		if (machine_get(record, f) != f->plain) {
			one(f->name, machine_get(record, f), follows);
			follows = 1;
		}
}

static void print_cpu(u32 cpu)
{
	const struct pelton_place_cpu *c = &machine_held.cpus[cpu];

	printf("%s[", cpu ? "," : "");
	one("capacity", c->state.cap_orig, 0);
	one("llc", c->llc, 1);
	if (machine_held.clusters)
		one("cluster", c->cluster, 1);
	if (machine_held.smt)
		one("core", pelton_cpus_lowest(c->threads), 1);
	one("idle", c->curr_idle, 1);
	if (c->curr_is_task)
		one("runs_task", 1, 1);
	list(c, machine_cpu, 1);
	printf("]");
}

static void print_model(u32 i)
{
	const struct pelton_perf_domain *d = &machine_held.perf_domains[i];
	u32 k;

	printf("%s[", i ? "," : "");
	one("cpus", d->cpus, 0);
	for (k = 0; k < d->nr_states; k++) {
		one("freq_khz", machine_held.states[d->first_state + k].freq_khz, 1);
		one("power_uw", machine_held.states[d->first_state + k].power_uw, 1);
	}
	printf("]");
}

void machine_print(void)
{
	const struct pelton_placement *m = &machine_held;
	u32 i;

	if (!is_held) {
		printf("null");
		return;
	}
	printf("{\"facts\":[");
	one("prev_cpu", m->prev_cpu, 0);
	one("energy_aware", m->energy_aware, 1);
	list(m, machine_facts, 1);
	printf("],\"task\":[");
	one("allowed", m->task.allowed, 0);
	list(&m->task, machine_task, 1);
	printf("],\"waker\":[");
	list(&m->waker, machine_waker, 0);
	printf("],\"cpus\":[");
	for (i = 0; i < m->nr_cpus; i++)
		print_cpu(i);
	printf("],\"models\":[");
	for (i = 0; i < m->nr_perf_domains; i++)
		print_model(i);
	printf("]}");
}
