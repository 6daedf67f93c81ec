// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recorder inside the kernel: one program per tracepoint, which copies what the tracepoint shows into the buffer of
 * its CPU. Programs whose tracepoint the kernel does not have are left out by the loader (crates/live/src/programs.rs
 * lists them all). It computes nothing: every number is the kernel's own.
 *
 * A tracepoint of load tracking fires only when a period was crossed. The updates in between are seen by reading the
 * same structures at switches, wake-ups, timer ends and migrations.
 */
#include "common.h"

char LICENSE[] SEC("license") = "GPL";

/* Values of task_struct.on_rq and of soft interrupts. */
enum { TASK_ON_RQ_MIGRATING = 2, SCHED_SOFTIRQ = 7 };

HIDDEN int put_values(u32 kind, u32 first, u32 second, u32 third, u32 fourth)
{
	struct note *note = NOTE(kind);

	if (!note)
		return 0;
	note->a[0] = first;
	note->a[1] = second;
	note->a[2] = third;
	note->a[3] = fourth;
	submit(note);
	return 0;
}

HIDDEN int put_pair(u32 kind, u32 first, u32 second)
{
	return put_values(kind, first, second, 0, 0);
}

HIDDEN int on_switch(int preempt, struct task_struct *prev, struct task_struct *next, u32 prev_state)
{
	struct note *note;

	tell_task(next);
	note = NOTE(KIND_SWITCH);
	if (note) {
		note->a[0] = prev->pid;
		note->a[1] = prev->prio;
		note->a[2] = preempt ? 0 : prev_state;
		note->a[3] = next->pid;
		note->a[4] = next->prio;
		submit(note);
	}
	if (!may_look(1))
		return 0;
	snapshot_task(AT_SWITCH, prev);
	snapshot_task(AT_SWITCH, next);
	snapshot_classes(AT_SWITCH, next);
	return 0;
}

/* The state of the previous task moved: no argument before 5.18, the second in some of 5.18, the last since. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_last, bool preempt, struct task_struct *prev, struct task_struct *next, u32 prev_state)
{
	return on_switch(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_second, bool preempt, u32 prev_state, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_without, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, task_state(prev));
}

HIDDEN void put_wake(u32 kind, struct task_struct *p)
{
	tell_task(p);
	put_values(kind, p->pid, p->prio, task_cpu(p), 0);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	put_wake(KIND_WAKING, p);
	/*
	 * Still queued, as a delayed task is: its runqueue is not locked here, and its CPU may be about to change the
	 * entity.
	 */
	if (may_look(0) && is_fair(p) && !p->on_rq)
		put_entity(AT_WAKING, &p->se);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(wakeup, struct task_struct *p)
{
	put_wake(KIND_WAKEUP, p);
	/* A task that wakes itself, about to sleep, takes no lock. */
	if (may_look((u32)bpf_get_current_pid_tgid() != p->pid))
		snapshot_task(AT_WAKEUP, p);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(wakeup_new, struct task_struct *p)
{
	put_wake(KIND_WAKEUP_NEW, p);
	if (may_look(1))
		snapshot_task(AT_FORK, p);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(migrate, struct task_struct *p, int dest_cpu)
{
	put_values(KIND_MIGRATE, p->pid, p->prio, task_cpu(p), dest_cpu);
	/* A sleeper's old runqueue is not locked: its queues may be read half way through an update. */
	if (p->on_rq == TASK_ON_RQ_MIGRATING && may_look(1))
		snapshot_task(AT_MIGRATE, p);
	else if (p->on_rq != TASK_ON_RQ_MIGRATING && may_look(0) && is_fair(p))
		put_entity(AT_MIGRATE, &p->se);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	tell_task(child);
	return put_pair(KIND_FORK, parent->pid, child->pid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *p)
{
	return put_pair(KIND_EXIT, p->pid, p->prio);
}

/* A new program: the task's name changes, and is told here. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *p)
{
	tell_task(p);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(frequency, u32 khz, u32 cpu)
{
	return put_pair(KIND_FREQUENCY, cpu, khz);
}

SEC("tp_btf/cpu_frequency_limits")
int BPF_PROG(limits, struct cpufreq_policy *policy)
{
	return put_values(KIND_LIMITS, policy->cpu, policy->min, policy->max, 0);
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(idle, u32 state, u32 cpu)
{
	return put_pair(KIND_IDLE, cpu, state);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_entry, int irq)
{
	return put_pair(KIND_IRQ_ENTRY, irq, 0);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_exit, int irq)
{
	return put_pair(KIND_IRQ_EXIT, irq, 0);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, u32 vec)
{
	return put_pair(KIND_SOFTIRQ_ENTRY, vec, 0);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, u32 vec)
{
	return put_pair(KIND_SOFTIRQ_EXIT, vec, 0);
}

/* Is there a way to the task that runs? Since 5.11; before, the verifier would refuse the program. */
HIDDEN int has_current_task(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id___current, BPF_FUNC_get_current_task_btf___current);
}

/*
 * The end of any high-resolution timer. The scheduler's tick is one; it updates the running task. Before 5.11
 * nothing is looked at.
 */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(tick)
{
	struct task_struct *p;

	if (!may_look(0) || !has_current_task())
		return 0;
	p = bpf_get_current_task_btf();
	snapshot_task(AT_TICK, p);
	snapshot_classes(AT_TICK, p);
	return 0;
}

SEC("tp_btf/pelt_se_tp")
int BPF_PROG(pelt_se, struct sched_entity *se)
{
	put_entity(FROM_TRACEPOINT, se);
	return 0;
}

SEC("tp_btf/pelt_cfs_tp")
int BPF_PROG(pelt_cfs, struct cfs_rq *queue)
{
	put_queue(FROM_TRACEPOINT, queue);
	return 0;
}

SEC("tp_btf/pelt_rt_tp")
int BPF_PROG(pelt_rt, struct rq *rq)
{
	put_class(FROM_TRACEPOINT, SIGNAL_RT, rq, &rq->avg_rt);
	return 0;
}

SEC("tp_btf/pelt_dl_tp")
int BPF_PROG(pelt_dl, struct rq *rq)
{
	put_class(FROM_TRACEPOINT, SIGNAL_DL, rq, &rq->avg_dl);
	return 0;
}

SEC("tp_btf/pelt_irq_tp")
int BPF_PROG(pelt_irq, struct rq *rq)
{
	if (bpf_core_field_exists(rq->avg_irq))
		put_class(FROM_TRACEPOINT, SIGNAL_IRQ, rq, &rq->avg_irq);
	return 0;
}

SEC("tp_btf/pelt_hw_tp")
int BPF_PROG(pelt_hw, struct rq *rq)
{
	if (bpf_core_field_exists(rq->avg_hw))
		put_class(FROM_TRACEPOINT, SIGNAL_HW, rq, &rq->avg_hw);
	return 0;
}

SEC("tp_btf/pelt_thermal_tp")
int BPF_PROG(pelt_thermal, struct rq *rq)
{
	struct rq___thermal *old = (struct rq___thermal *)rq;

	if (bpf_core_field_exists(old->avg_thermal))
		put_class(FROM_TRACEPOINT, SIGNAL_HW, rq, &old->avg_thermal);
	return 0;
}

/* An estimate, as the state of the record it belongs to: the reader makes two events of it. */
SEC("tp_btf/sched_util_est_se_tp")
int BPF_PROG(estimate_se, struct sched_entity *se)
{
	put_entity(AT_ESTIMATE, se);
	return 0;
}

SEC("tp_btf/sched_util_est_cfs_tp")
int BPF_PROG(estimate_cfs, struct cfs_rq *queue)
{
	put_queue(AT_ESTIMATE, queue);
	return 0;
}

SEC("tp_btf/sched_cpu_capacity_tp")
int BPF_PROG(capacity, struct rq *rq)
{
	return put_pair(KIND_CAPACITY, rq->cpu, rq->cpu_capacity);
}

SEC("tp_btf/sched_overutilized_tp")
int BPF_PROG(overutilized, struct root_domain *rd, bool is)
{
	return put_pair(KIND_OVERUTILIZED, is, 0);
}

SEC("tp_btf/sched_update_nr_running_tp")
int BPF_PROG(nr_running, struct rq *rq, int change)
{
	struct note *note = NOTE(KIND_NR_RUNNING);

	if (!note)
		return 0;
	note->a[0] = rq->cpu;
	note->a[1] = rq->nr_running;
	note->w[0] = (s64)change;
	submit(note);
	if (may_look(1))
		put_queue(AT_COUNT, &rq->cfs);
	return 0;
}

/* Balancing has updated sleeping CPUs, this one with them. */
SEC("tp_btf/softirq_exit")
int BPF_PROG(balance, u32 vec)
{
	struct rq *rq;

	if (vec != SCHED_SOFTIRQ || !may_look(0) || !has_current_task())
		return 0;
	rq = rq_of_queue(queue_of(&bpf_get_current_task_btf()->se));
	if (rq)
		put_queue(AT_BALANCE, &rq->cfs);
	return 0;
}

SEC("tp_btf/sched_compute_energy_tp")
int BPF_PROG(energy, struct task_struct *p, int dst_cpu, u64 cost, u64 max_util, u64 busy_time)
{
	struct note *note = NOTE(KIND_ENERGY);

	if (!note)
		return 0;
	note->a[0] = p->pid;
	note->a[1] = dst_cpu;
	note->w[0] = cost;
	note->w[1] = max_util;
	note->w[2] = busy_time;
	submit(note);
	return 0;
}

#include "calls.h"
