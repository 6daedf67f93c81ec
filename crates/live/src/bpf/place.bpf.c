// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recorder of placements inside the kernel: what select_task_rq_fair() can read when it begins, what it chooses,
 * and what all CPUs look like then. It computes nothing: every number is the kernel's own.
 */
#include "kernel.h"
#include "kernel_place.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "place.h"
#include "vars.h"

char LICENSE[] SEC("license") = "GPL";

#define HIDDEN static __always_inline
/* Neither a state nor a limit. */
#define NONE 0xffffffffull

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} ring SEC(".maps");

/* The decision that each CPU is making. */
struct scratch {
	u64 active;
	struct place place;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACE_CPUS_MAX);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

const volatile u32 ncpu = 1;

struct place_globals globals;

extern struct sched_domain *const sd_llc __ksym __weak;
extern struct sched_domain *const sd_asym_cpucapacity __ksym __weak;
extern const int sd_llc_id __ksym __weak;
extern const int sd_llc_size __ksym __weak;
extern const int sd_share_id __ksym __weak;
extern const unsigned long cpufreq_pressure __ksym __weak;
extern const unsigned long thermal_pressure __ksym __weak;
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern const void sched_asym_cpucapacity __ksym __weak;
extern const void sched_cluster_active __ksym __weak;
extern const void sched_smt_present __ksym __weak;
extern const void sched_energy_present __ksym __weak;

HIDDEN struct rq *rq_of(u32 cpu)
{
	return (struct rq *)bpf_per_cpu_ptr(&runqueues, cpu);
}

HIDDEN u64 queued(struct cfs_rq *q)
{
	if (bpf_core_field_exists(q->h_nr_queued))
		return q->h_nr_queued;
	return ((struct cfs_rq___running *)q)->h_nr_running;
}

HIDDEN u64 runnable(struct cfs_rq *q)
{
	u64 n;

	if (bpf_core_field_exists(q->h_nr_runnable))
		return q->h_nr_runnable;
	n = ((struct cfs_rq___running *)q)->h_nr_running;
	if (bpf_core_field_exists(((struct cfs_rq___delayed *)q)->h_nr_delayed))
		n -= ((struct cfs_rq___delayed *)q)->h_nr_delayed;
	return n;
}

HIDDEN u64 of_idle_policy(struct cfs_rq *q)
{
	if (bpf_core_field_exists(q->h_nr_idle))
		return q->h_nr_idle;
	return ((struct cfs_rq___idle *)q)->idle_h_nr_running;
}

HIDDEN u64 estimate(struct sched_avg *avg)
{
	if (bpf_core_field_exists(((struct sched_avg___pair *)avg)->util_est.enqueued))
		return ((struct sched_avg___pair *)avg)->util_est.enqueued;
	return avg->util_est;
}

HIDDEN u64 cpu_of_task(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return ((struct task_struct___cpu *)p)->cpu;
}

HIDDEN void put_signals(struct place_cpu *c, struct rq *rq, u32 cpu)
{
	c->cap = rq->cpu_capacity;
	c->cap0 = OF_CPU(unsigned long, cpu_scale, cpu, 1024);
	if (bpf_core_field_exists(((struct rq___capacity *)rq)->cpu_capacity_orig))
		c->cap0 = ((struct rq___capacity *)rq)->cpu_capacity_orig;
	c->hw = 0;
	if (bpf_core_field_exists(rq->avg_hw))
		c->hw = rq->avg_hw.load_avg;
	else if (bpf_core_field_exists(((struct rq___thermal *)rq)->avg_thermal))
		c->hw = ((struct rq___thermal *)rq)->avg_thermal.load_avg;
	c->cpufreq_pressure =
		OF_CPU(unsigned long, cpufreq_pressure, cpu, OF_CPU(unsigned long, thermal_pressure, cpu, 0));
	c->util = rq->cfs.avg.util_avg;
	c->load = rq->cfs.avg.load_avg;
	c->runnable = rq->cfs.avg.runnable_avg;
	c->lut = rq->cfs.avg.last_update_time;
	c->util_est = estimate(&rq->cfs.avg);
	c->rt = rq->avg_rt.util_avg;
	c->dl = rq->avg_dl.util_avg;
	c->irq = 0;
	if (bpf_core_field_exists(rq->avg_irq))
		c->irq = rq->avg_irq.util_avg;
	c->dl_bw = rq->dl.running_bw;
}

HIDDEN void put_tasks(struct place_cpu *c, struct rq *rq)
{
	c->nr = rq->nr_running;
	c->hq = queued(&rq->cfs);
	c->hr = runnable(&rq->cfs);
	c->h_idle = of_idle_policy(&rq->cfs);
	c->rt_nr = rq->rt.rt_nr_running;
	c->rt_queued = rq->rt.rt_queued;
	c->pending = rq->ttwu_pending;
	c->curr_idle = rq->curr == rq->idle;
	c->curr_pid = rq->curr->pid;
	c->idle_stamp = rq->idle_stamp;
	c->exit_lat = NONE;
	if (bpf_core_field_exists(rq->idle_state)) {
		struct cpuidle_state *state = rq->idle_state;

		if (state)
			c->exit_lat = state->exit_latency;
	}
	c->misfit = rq->misfit_task_load;
	c->umin = 0;
	c->umax = 1024;
	c->uflags = 0;
	if (bpf_core_field_exists(rq->uclamp)) {
		c->umin = rq->uclamp[0].value;
		c->umax = rq->uclamp[1].value;
		c->uflags = rq->uclamp_flags;
	}
}

HIDDEN u64 scan_of(struct sched_domain *sd)
{
	struct sched_domain_shared *shared = sd ? BPF_CORE_READ(sd, shared) : 0;

	return shared && bpf_core_field_exists(shared->nr_idle_scan) ? (u64)BPF_CORE_READ(shared, nr_idle_scan) : NONE;
}

HIDDEN void put_domains(struct place_cpu *c, struct rq *rq, u32 cpu)
{
	struct sched_domain *sd = OF_CPU(struct sched_domain *, sd_llc, cpu, 0);
	struct sched_domain_shared *shared;
	u32 i;

	c->core_asym = 0;
	c->scan_llc = scan_of(sd);
	shared = sd ? BPF_CORE_READ(sd, shared) : 0;
	if (shared)
		c->core_asym = BPF_CORE_READ(shared, has_idle_cores);
	c->scan_asym = scan_of(OF_CPU(struct sched_domain *, sd_asym_cpucapacity, cpu, 0));
	sd = rq->sd;
	for (i = 0; i < PLACE_LEVELS_MAX; i++) {
		struct sched_group_capacity *g = sd ? BPF_CORE_READ(sd, groups, sgc) : 0;

		c->g_cap[i] = g ? BPF_CORE_READ(g, capacity) : 0;
		c->g_max[i] = g ? BPF_CORE_READ(g, max_capacity) : 0;
		c->g_imb[i] = g ? BPF_CORE_READ(g, imbalance) : 0;
		c->g_min[i] = g ? BPF_CORE_READ(g, min_capacity) : 0;
		sd = sd ? BPF_CORE_READ(sd, parent) : 0;
	}
}

/* A number of a CPU as an index, so that the verifier sees that it is one. */
HIDDEN u64 index_of(u64 cpu)
{
	asm volatile("" : "+r"(cpu));
	return cpu & (PLACE_CPUS_MAX - 1);
}

/* A look at all CPUs. */
struct look {
	struct place_cpu (*cpus)[2];
	u64 after;
};

static long look_at(u32 cpu, void *data)
{
	struct look *look = data;
	struct place_cpu *c;
	struct rq *rq;

	if (cpu >= ncpu || cpu >= PLACE_CPUS_MAX)
		return 1;
	rq = rq_of(cpu);
	if (!rq)
		return 1;
	c = &look->cpus[index_of(cpu)][look->after & 1];
	put_signals(c, rq, cpu);
	put_tasks(c, rq);
	put_domains(c, rq, cpu);
	return 0;
}

HIDDEN void look_around(struct place_cpu (*cpus)[2], u64 after)
{
	struct look look = { .cpus = cpus, .after = after };

	bpf_loop(PLACE_CPUS_MAX, look_at, &look, 0);
}

HIDDEN struct scratch *mine(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

/* What limits the task's clamps. The root group and autogroups do not. */
HIDDEN void put_group_clamps(struct place_head *h, struct task_struct *p)
{
	struct task_group *group = 0;

	h->p_gmin = 0;
	h->p_gmax = 1024;
	if (bpf_core_field_exists(p->sched_task_group))
		group = BPF_CORE_READ(p, sched_task_group);
	if (!group || !bpf_core_field_exists(group->uclamp) || !BPF_CORE_READ(group, parent))
		return;
	if (bpf_core_field_exists(group->autogroup) && BPF_CORE_READ(group, autogroup))
		return;
	h->p_gmin = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp[0].value);
	h->p_gmax = BPF_CORE_READ_BITFIELD_PROBED(group, uclamp[1].value);
}

HIDDEN void put_clamps(struct place_head *h, struct task_struct *p)
{
	h->p_umin_req = h->p_umin_act = h->p_umin_val = h->p_umax_act = 0;
	h->p_umax_req = h->p_umax_val = h->d_umin = h->d_umax = 1024;
	h->uclamp_used = KEY(sched_uclamp_used);
	put_group_clamps(h, p);
	if (!bpf_core_field_exists(p->uclamp_req))
		return;
	h->p_umin_req = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[0].value);
	h->p_umax_req = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp_req[1].value);
	h->p_umin_val = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[0].value);
	h->p_umax_val = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[1].value);
	h->p_umin_act = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[0].active);
	h->p_umax_act = BPF_CORE_READ_BITFIELD_PROBED(p, uclamp[1].active);
	if (&uclamp_default) {
		const struct uclamp_se *lower = &uclamp_default, *upper = next_limit(lower);

		h->d_umin = BPF_CORE_READ_BITFIELD_PROBED(lower, value);
		h->d_umax = BPF_CORE_READ_BITFIELD_PROBED(upper, value);
	}
}

HIDDEN void put_task(struct place_head *h, struct task_struct *p)
{
	h->p_util = p->se.avg.util_avg;
	h->p_run = p->se.avg.runnable_avg;
	h->p_load = p->se.avg.load_avg;
	h->p_load_sum = p->se.avg.load_sum;
	h->p_run_sum = p->se.avg.runnable_sum;
	h->p_util_sum = p->se.avg.util_sum;
	h->p_lut = p->se.avg.last_update_time;
	h->p_contrib = p->se.avg.period_contrib;
	h->p_est = estimate(&p->se.avg);
	h->p_weight = p->se.load.weight;
	h->p_mask = BPF_CORE_READ(p, cpus_ptr, bits[0]);
	h->p_pid = p->pid;
	h->p_policy = p->policy;
	h->p_on_rq = p->on_rq;
	h->p_cpu = cpu_of_task(p);
	h->p_recent = p->recent_used_cpu;
	h->p_flips = p->wakee_flips;
	bpf_probe_read_kernel(h->comm, sizeof(h->comm), &p->comm);
}

/* A task's queue, with what of its load counts at the root. Without groups there is one, and the root counts whole. */
HIDDEN void put_queue_of(struct task_struct *p, u64 *load, u64 *h_load, u64 *h_load_j)
{
	struct cfs_rq *q;

	*load = *h_load = *h_load_j = 0;
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return;
	q = BPF_CORE_READ(p, se.cfs_rq);
	if (!q)
		return;
	*load = BPF_CORE_READ(q, avg.load_avg);
	*h_load = BPF_CORE_READ(q, h_load);
	*h_load_j = BPF_CORE_READ(q, last_h_load_update);
}

HIDDEN u64 update_of_queue(struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return 0;
	return BPF_CORE_READ(p, se.cfs_rq, avg.last_update_time);
}

HIDDEN u64 preempt_count(struct task_struct *current)
{
	if (bpf_core_field_exists(current->thread_info.preempt.count))
		return BPF_CORE_READ(current, thread_info.preempt.count);
	if (&pcpu_hot) {
		const struct pcpu_hot *hot = bpf_this_cpu_ptr(&pcpu_hot);

		return BPF_CORE_READ(hot, preempt_count);
	}
	if (&__preempt_count) {
		const int *count = bpf_this_cpu_ptr(&__preempt_count);

		return *count;
	}
	return 0;
}

HIDDEN void put_current(struct place_head *h, struct task_struct *p)
{
	struct task_struct *current = bpf_get_current_task_btf();

	h->c_pid = current->pid;
	h->c_flips = current->wakee_flips;
	h->c_flip_ts = current->wakee_flip_decay_ts;
	h->c_flags = current->flags;
	h->c_nr_allowed = current->nr_cpus_allowed;
	h->c_preempt = preempt_count(current);
	h->c_last_is_p = current->last_wakee == p;
	h->c_load = current->se.avg.load_avg;
	put_queue_of(current, &h->cq_load, &h->cq_h_load, &h->cq_h_load_j);
	bpf_probe_read_kernel(h->c_comm, sizeof(h->c_comm), &current->comm);
}

HIDDEN u64 is_overutilized(u32 cpu)
{
	struct rq *rq = rq_of(cpu);

	return rq ? rq->rd->overutilized : 0;
}

SEC("fentry/select_task_rq_fair")
int BPF_PROG(place_begin, struct task_struct *p, int prev, int flags)
{
	struct scratch *s = mine();
	struct place_head *h;

	if (!s || !globals.machine.ncpu)
		return 0;
	h = &s->place.head;
	s->active = 1;
	h->ts0 = bpf_ktime_get_ns();
	h->j = bpf_jiffies64();
	h->seq = __sync_fetch_and_add(&globals.begun, 1);
	h->w0 = bpf_get_smp_processor_id();
	h->prev = prev;
	h->flags = flags;
	h->ncpu = ncpu;
	h->energies = 0;
	look_around(s->place.cpus, 0);
	put_task(h, p);
	put_queue_of(p, &h->q_load, &h->q_h_load, &h->q_h_load_j);
	h->q_lut = update_of_queue(p);
	h->p_root = 1;
	if (bpf_core_field_exists(p->se.parent))
		h->p_root = !p->se.parent;
	put_clamps(h, p);
	put_current(h, p);
	h->over = is_overutilized(h->w0);
	return 0;
}

SEC("fexit/select_task_rq_fair")
int BPF_PROG(place_end, struct task_struct *p, int prev, int flags, int ret)
{
	struct scratch *s = mine();
	struct place_head *h;
	u64 load, size, n = ncpu;

	if (!s || !s->active)
		return 0;
	s->active = 0;
	h = &s->place.head;
	h->ts1 = bpf_ktime_get_ns();
	h->ret = ret;
	h->x_util = p->se.avg.util_avg;
	h->x_run = p->se.avg.runnable_avg;
	h->x_load = p->se.avg.load_avg;
	h->x_lut = p->se.avg.last_update_time;
	h->x_q_lut = update_of_queue(p);
	h->x_j = bpf_jiffies64();
	h->x_recent = p->recent_used_cpu;
	h->x_flips = bpf_get_current_task_btf()->wakee_flips;
	h->x_over = is_overutilized(h->w0);
	put_queue_of(p, &load, &h->x_q_h_load, &h->x_q_h_load_j);
	put_queue_of(bpf_get_current_task_btf(), &load, &h->x_cq_h_load, &h->x_cq_h_load_j);
	look_around(s->place.cpus, 1);
	if (n > PLACE_CPUS_MAX)
		n = PLACE_CPUS_MAX;
	size = __builtin_offsetof(struct place, cpus) + n * 2 * sizeof(struct place_cpu);
	if (size > sizeof(struct place) || bpf_ringbuf_output(&ring, &s->place, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&globals.lost, 1);
	return 0;
}

SEC("tp_btf/sched_compute_energy_tp")
int BPF_PROG(place_energy, struct task_struct *p, int dst_cpu, u64 energy, u64 max_util, u64 busy_time)
{
	struct scratch *s = mine();
	struct place_energy *e;
	u64 at;

	if (!s || !s->active)
		return 0;
	at = s->place.head.energies;
	if (at >= PLACE_ENERGIES_MAX)
		return 0;
	s->place.head.energies = at + 1;
	e = &s->place.energies[at];
	e->cpu = (u32)dst_cpu;
	e->energy = energy;
	e->max_util = max_util;
	e->busy = busy_time;
	return 0;
}

HIDDEN void describe_domain(struct sched_domain *sd, struct place_domain *d)
{
	unsigned long span = 0;

	/* A domain's CPUs lie behind it. */
	bpf_probe_read_kernel(&span, sizeof(span), (void *)sd + bpf_core_type_size(struct sched_domain));
	d->span = span;
	d->flags = BPF_CORE_READ(sd, flags);
	d->pct = BPF_CORE_READ(sd, imbalance_pct);
	d->imb_numa = 0;
	if (bpf_core_field_exists(sd->imb_numa_nr))
		d->imb_numa = BPF_CORE_READ(sd, imb_numa_nr);
	d->nr_shared = BPF_CORE_READ(sd, shared) != 0;
}

static long describe_cpu(u32 cpu, void *unused)
{
	struct sched_domain *sd, *asym, *llc;
	struct place_machine_cpu *c;
	struct rq *rq;
	u32 i;

	if (cpu >= PLACE_CPUS_MAX || cpu >= ncpu)
		return 1;
	rq = rq_of(cpu);
	if (!rq)
		return 1;
	c = &globals.machine.cpus[index_of(cpu)];
	c->llc_id = OF_CPU(int, sd_llc_id, cpu, 0);
	c->llc_size = OF_CPU(int, sd_llc_size, cpu, 1);
	c->share_id = OF_CPU(int, sd_share_id, cpu, c->llc_id);
	asym = OF_CPU(struct sched_domain *, sd_asym_cpucapacity, cpu, 0);
	llc = OF_CPU(struct sched_domain *, sd_llc, cpu, 0);
	c->asym_level = c->llc_level = NONE;
	sd = rq->sd;
	for (i = 0; i < PLACE_LEVELS_MAX; i++) {
		if (!sd)
			break;
		if (sd == asym)
			c->asym_level = i;
		if (sd == llc)
			c->llc_level = i;
		describe_domain(sd, &c->dom[i]);
		c->ndom = i + 1;
		sd = BPF_CORE_READ(sd, parent);
	}
	return 0;
}

/* States of the energy model, as from 6.9 on. */
HIDDEN void describe_energy(struct perf_domain *pd, struct place_perf_domain *d)
{
	struct em_perf_domain *em = BPF_CORE_READ(pd, em_pd);
	unsigned long cpus = 0;
	struct em_perf_state *states;
	u32 i;

	bpf_probe_read_kernel(&cpus, sizeof(cpus), &em->cpus);
	d->cpus = cpus;
	d->n = BPF_CORE_READ(em, nr_perf_states);
	d->min = 0;
	d->max = d->n ? d->n - 1 : 0;
	if (bpf_core_field_exists(em->min_perf_state)) {
		d->min = BPF_CORE_READ(em, min_perf_state);
		d->max = BPF_CORE_READ(em, max_perf_state);
	}
	d->flags = BPF_CORE_READ(em, flags);
	states = (void *)BPF_CORE_READ(em, em_table) + bpf_core_field_offset(struct em_perf_table, state);
	for (i = 0; i < PLACE_PERF_STATES_MAX; i++) {
		struct em_perf_state *state = (void *)states + i * bpf_core_type_size(struct em_perf_state);

		if (i >= d->n)
			break;
		d->perf[i] = BPF_CORE_READ(state, performance);
		d->cost[i] = BPF_CORE_READ(state, cost);
		d->sflags[i] = BPF_CORE_READ(state, flags);
	}
}

HIDDEN void describe_energies(struct rq *rq)
{
	struct perf_domain *pd;
	u32 i;

	if (!bpf_core_type_exists(struct em_perf_table) || !bpf_core_field_exists(struct em_perf_domain, em_table))
		return;
	pd = BPF_CORE_READ(rq, rd, pd);
	for (i = 0; i < PLACE_PERF_DOMAINS_MAX; i++) {
		if (!pd)
			break;
		describe_energy(pd, &globals.machine.pd[i]);
		globals.machine.npd = i + 1;
		pd = BPF_CORE_READ(pd, next);
	}
}

/* The first switch of a task describes the machine; decisions are recorded from then on. */
SEC("tp_btf/sched_switch")
int BPF_PROG(place_describe)
{
	struct rq *rq = rq_of(0);

	if (globals.machine.ncpu || !rq)
		return 0;
	bpf_loop(PLACE_CPUS_MAX, describe_cpu, 0, 0);
	globals.machine.key_asym = KEY(sched_asym_cpucapacity);
	globals.machine.key_cluster = KEY(sched_cluster_active);
	globals.machine.key_smt = KEY(sched_smt_present);
	globals.machine.key_energy = KEY(sched_energy_present);
	describe_energies(rq);
	globals.machine.ncpu = ncpu;
	return 0;
}

#include "balance_programs.h"
#include "gate_programs.h"
