// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of the scheduler from tracepoints, beside the kernel's own scheduler: the same calls of the core, and what
 * would be asked for is counted beside what is. Nothing is changed.
 */
#include "kernel_ext.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "live_core.h"
#include "vars.h"
#include "live_state.h"

char LICENSE[] SEC("license") = "GPL";

#define SCHED_DEADLINE_CLASS 100 /* priorities below are of other classes */
#define SCHED_EXT 7u

LIVE_RECORD(live_seen, LIVE_SEEN);
struct live_seen seen[PELTON_PLACE_CPUS_MAX] SEC(".bss.seen");

#include "metered.h"

HIDDEN struct live_seen *seen_of(const struct live_cpu *c)
{
	return &seen[index_of(c)];
}

/* Time since the last look at a frequency, in MHz times us. */
HIDDEN u64 area(u64 now, u64 since, u64 khz)
{
	return (now - since) / 1000u * (khz / 1000u);
}

HIDDEN u64 clock_of(struct live_cpu *c)
{
	u64 khz = seen_of(c)->is_khz;

	c->rq.freq_scale =
		khz ? pelton_mul_div_floor(khz, PELTON_CAPACITY_SCALE, c->sp.ref_khz) : PELTON_CAPACITY_SCALE;
	return bpf_ktime_get_ns();
}

/* What would be set from now on. */
HIDDEN void set_target(struct live_cpu *c)
{
	struct live_seen *s = seen_of(c);
	u64 now = bpf_ktime_get_ns();

	s->would_sum += area(now, s->would_since_ns, s->would_khz);
	s->would_since_ns = now;
	s->would_khz = c->sp.next_freq_khz;
	s->would_changes++;
	meter_request(index_of(c), now);
}

#include "live_freq.h"
#include "live_place.h"

/* Fair tasks alone are followed. */
HIDDEN struct live_task *follow(struct task_struct *p, u32 create)
{
	struct live_task *t;

	if (p->prio < SCHED_DEADLINE_CLASS || !p->pid || p->policy == SCHED_EXT)
		return 0;
	t = task_of(p);
	if (t || !create)
		return t;
	t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 0;
	t->limits = NO_LIMITS;
	learn(p, t);
	pelton_se_init(&t->se, t->clamps.weight);
	t->se.avg.load_avg = p->se.avg.load_avg;
	t->se.avg.runnable_avg = p->se.avg.runnable_avg;
	t->se.avg.util_avg = p->se.avg.util_avg;
	t->se.avg.last_update_time_ns = 0;
	return t;
}

HIDDEN u32 cpu_of_task(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return BPF_CORE_READ((struct task_struct___cpu *)p, cpu);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(seen_waking, struct task_struct *p)
{
	struct live_task *t = follow(p, 1);

	if (t && SETTINGS->placing && !t->se.on_rq && p->nr_cpus_allowed > 1)
		t->place = (u32)place(p, (s32)cpu_of_task(p), PELTON_WF_TTWU) + 1u;
	return 0;
}

HIDDEN int woken(struct task_struct *p)
{
	u32 cpu = cpu_of_task(p), ev;
	struct live_cpu *c = cpu_of(cpu);
	struct live_task *t = follow(p, 1);
	u64 now;

	if (!t)
		return 0;
	COUNT(c, wakeups);
	if (t->place) {
		seen_of(c)->placed++;
		seen_of(c)->agreed += t->place == cpu + 1u;
		t->place = 0;
	}
	if (t->se.on_rq)
		return 0;
	now = clock_of(c);
	if (t->known && t->cpu != cpu)
		leave_asleep(cpu_of(t->cpu), t, now);
	ev = join(c, p, t, now);
	publish(c);
	frequency_of_wake(c, p, t, now, ev);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(seen_wakeup, struct task_struct *p)
{
	return woken(p);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(seen_new, struct task_struct *p)
{
	return woken(p);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(seen_migrate, struct task_struct *p, int dest)
{
	struct live_task *t = follow(p, 0);
	struct live_cpu *c;
	u64 now;

	if (!t || !t->known || t->cpu == (u32)dest)
		return 0;
	c = cpu_of(t->cpu);
	now = bpf_ktime_get_ns();
	if (t->se.on_rq)
		leave(c, t, now, PELTON_DEQUEUE_MIGRATE);
	else
		leave_asleep(c, t, now);
	publish(c);
	return 0;
}

/* The task that is switched from. */
APART u32 switched_from(struct task_struct *prev __arg_trusted, u32 cpu, u32 sleeps)
{
	struct live_cpu *c = cpu_of(cpu);
	struct live_task *t = follow(prev, 0);
	u64 now;
	u32 ev;

	if (!t || !t->se.on_rq || t->cpu != index_of(c))
		return 0;
	now = clock_of(c);
	if (sleeps) {
		ev = leave(c, t, now, PELTON_DEQUEUE_SLEEP);
	} else {
		ev = pelton_rq_switch_fair(POLICY, &c->rq, &t->se, 0, now, 0, 0);
		follow_clamps(c, t);
		c->has_curr = 0;
	}
	frequency_after(c, now, ev, 0);
	return ev;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(seen_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct live_cpu *c = cpu_of(bpf_get_smp_processor_id());
	struct live_task *t;
	u64 now = clock_of(c);
	u32 ev = 0;

	if (c->idle)
		pelton_clock_update(POLICY, &c->rq, now, 0, 1);
	c->idle = 0;
	meter_busy(index_of(c), now, next->pid != 0);
	switched_from(prev, index_of(c), prev->__state && !preempt);
	t = next->pid ? follow(next, 1) : 0;
	if (t) {
		if (!t->se.on_rq)
			ev = join(c, next, t, now);
		ev |= pelton_rq_switch_fair(POLICY, &c->rq, 0, &t->se, now, 0, 0);
		c->has_curr = 1;
		frequency_after(c, now, ev, 0);
	} else if (!next->pid) {
		take_left(c);
		pelton_rq_switch_idle(POLICY, &c->rq, 0, now, 0, 0);
		c->state.idle_calls++;
		c->idle = 1;
	}
	publish(c);
	return 0;
}

/* Ticks are not told: run time that is accounted a tick after the last is one. */
SEC("tp_btf/sched_stat_runtime")
int BPF_PROG(seen_runtime, struct task_struct *p)
{
	struct live_task *t = follow(p, 0);
	struct live_cpu *c;
	u64 now;
	u32 ev;

	if (!t || !t->se.running)
		return 0;
	c = cpu_of(t->cpu);
	now = clock_of(c);
	if (now - c->curr_at_ns < SETTINGS->tick_ns)
		return 0;
	c->curr_at_ns = now;
	take_left(c);
	ev = pelton_rq_tick_fair(POLICY, &c->rq, &t->se, now, 0);
	follow_clamps(c, t);
	publish(c);
	frequency_after(c, now, ev, PELTON_HOW_TICK);
	if (SETTINGS->frequencies)
		frequency(index_of(c), now, PELTON_SITE_TICK, PELTON_HOW_TICK);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(seen_frequency, unsigned int khz, unsigned int cpu)
{
	struct live_cpu *c = cpu_of(cpu);
	struct live_seen *s = seen_of(c);
	u64 now = bpf_ktime_get_ns();

	s->is_sum += area(now, s->is_since_ns, s->is_khz);
	s->is_since_ns = now;
	s->is_changes += khz != s->is_khz;
	if (khz != s->is_khz)
		meter_change(cpu, now, khz, 0);
	s->is_khz = khz;
	return 0;
}

#include "compared_programs.h"

/* Asked for once, before the others are attached: CPUs as they are now. */
SEC("syscall")
int seen_begin(void *context)
{
	u64 now = bpf_ktime_get_ns();
	u32 i;

	(void)context;
	able = can_compare();
	pelton_fair_tunables_init(POLICY, &tunables, (u32)SETTINGS->nr_cpus, SETTINGS->tick_ns);
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		struct live_cpu *c = cpu_of(i);
		struct live_seen *s;

		c->id = i;
		s = seen_of(c);
		pelton_rq_init(POLICY, &c->rq, now, (u32)setups[index_of(c)].capacity, PELTON_CAPACITY_SCALE);
		machine.cpus[index_of(c)].state.cap_orig = c->rq.cap_orig;
		start_governor(c);
		start_question(i);
		s->begin_ns = s->would_since_ns = s->is_since_ns = now;
		s->is_khz = s->would_khz = setups[index_of(c)].now_khz;
		meter_of(i)->is_khz = meter_of(i)->would_khz = s->is_khz;
	}
	return 0;
}
