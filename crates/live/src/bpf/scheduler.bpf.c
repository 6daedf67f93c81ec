// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sched_ext scheduler over the policy core: signals, frequency, placement and order are calls of it.
 *
 *   select_cpu   pelton_select_task_rq_fair()       the machine's rows, read as the kernel reads other CPUs'
 *   enqueue      a task joins its CPU; the CPU's queue, by virtual deadline
 *   dispatch     earliest deadline of those eligible, else what another CPU has too much of
 *   running .. quiescent, tick, update_idle         signals, clamps, boosts; then the governor's hook and gate
 *   timer        blocked utilization of idle CPUs, which tell nothing
 */
#include "kernel_ext.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "live_core.h"
#include "vars.h"
#include "live_state.h"

char LICENSE[] SEC("license") = "GPL";

/* As the kernel does, time that went by is counted at the speed of now. */
HIDDEN void follow_speed(struct live_cpu *c)
{
	if (SETTINGS->invariant)
		c->rq.freq_scale = scx_bpf_cpuperf_cur((s32)index_of(c));
}

HIDDEN u64 clock_of(struct live_cpu *c)
{
	follow_speed(c);
	return scx_bpf_now();
}

HIDDEN void set_target(struct live_cpu *c)
{
	if (c == &cpus[SCRATCH])
		return;
	c->handed_ns = c->rq.clock.clock_ns;
	scx_bpf_cpuperf_set((s32)index_of(c), c->target);
}

#include "live_freq.h"
#include "live_place.h"
#include "live_order.h"
#include "live_park.h"

struct live_exit {
	u64 kind;
	s64 code;
	char reason[128];
	char message[256];
} ended SEC(".bss.ended");

/* ---- placement ---- */

SEC("struct_ops/live_select_cpu")
s32 BPF_PROG(live_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool idle = 0;
	s32 cpu;

	COUNT(cpu_of(slot()), wakeups);
	if (!SETTINGS->placing)
		return scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
	cpu = place(p, prev_cpu, wake_flags);
	if (!bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr))
		return prev_cpu;
	/* No other wake-up takes it for idle until it looks for work. */
	scx_bpf_test_and_clear_cpu_idle(cpu);
	return cpu;
}

/* ---- order ---- */

extern struct task_struct *scx_bpf_dsq_peek(u64 dsq_id) __ksym __weak;

HIDDEN struct task_struct *peek(u64 cpu)
{
	return &scx_bpf_dsq_peek ? scx_bpf_dsq_peek(cpu) : 0;
}

/* A task waits here: an idle CPU looks for work, as the kernel has one balance (nohz_balancer_kick()). */
APART u32 kick_idle(u32 cpu)
{
	u32 own = cpu & (PELTON_PLACE_CPUS_MAX - 1u), best = SCRATCH, most = 0, i;
	u64 llc = setups[own].llc, may;
	struct task_struct *waits;

	if (pelton_scx_holds_balance((u32)SETTINGS->energy_aware, overutilized))
		return 0;
	waits = peek(own);
	may = waits ? waits->cpus_ptr->bits[0] : ~0ull;
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		struct live_cpu *c = cpu_of(i);
		u32 room = pelton_scx_idle_room(c->rq.cap_orig, llc >> (i & 63u) & 1u);

		if (c->idle && may >> (i & 63u) & 1u && room > most) {
			most = room;
			best = i;
		}
	}
	if (best != SCRATCH)
		scx_bpf_kick_cpu((s32)best, SCX_KICK_IDLE);
	return 1;
}

/* A running task whose CPU is too small for it was put: it goes where there is room. */
HIDDEN u32 send_on(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 enq_flags)
{
	u32 to = t->misfit - 1u;

	t->misfit = 0;
	if (!bpf_cpumask_test_cpu(to, p->cpus_ptr) || !scx_bpf_test_and_clear_cpu_idle((s32)to))
		return 0;
	COUNT(c, misfits);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | to, SLICE_NS, enq_flags);
	scx_bpf_kick_cpu((s32)to, SCX_KICK_IDLE);
	return 1;
}

/* A task that is not on its CPU yet joins it. Returns 1 when it comes before the running one. */
HIDDEN u32 joins(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 enq_flags)
{
	u64 now = clock_of(c);
	u32 is_new = t->is_new, ev;

	if (t->known && t->cpu != index_of(c)) /* it moved without a word: another class had it */
		leave_asleep(cpu_of(t->cpu), t, now);
	ev = join(c, p, t, now);
	join_fair(c, p, t, is_new);
	t->is_new = 0;
	show(c);
	frequency_of_wake(c, p, t, now, ev);
	return enq_flags & SCX_ENQ_WAKEUP && c->has_curr && comes_first(c, t, now, is_new);
}

SEC("struct_ops/live_enqueue")
void BPF_PROG(live_enqueue, struct task_struct *p, u64 enq_flags)
{
	u32 cpu = (u32)scx_bpf_task_cpu(p), alone, joined = 0;
	struct live_cpu *c = cpu_of(cpu);
	struct live_task *t = task_of(p);

	if (!t)
		return;
	if (t->limited && park(c, p, t, enq_flags))
		return;
	alone = c->idle;
	if (!t->se.on_rq) {
		joined = 1;
		if (joins(c, p, t, enq_flags)) {
			COUNT(c, preempts);
			scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, enq_flags | SCX_ENQ_PREEMPT);
			return;
		}
		if (alone && given.fault != FAULT_STALL) {
			c->idle = 0; /* the next one waits for this one */
			scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, enq_flags);
			return;
		}
	}
	if (t->misfit && send_on(c, p, t, enq_flags))
		return;
	scx_bpf_dsq_insert_vtime(p, cpu, SLICE_NS, (u64)t->fair.deadline, enq_flags);
	/* One that is alone and was put (SCX_ENQ_LAST): its CPU is about to idle, and looks again. */
	if (enq_flags & SCX_ENQ_LAST || (joined && !c->has_curr))
		scx_bpf_kick_cpu((s32)cpu, SCX_KICK_IDLE);
	if (enq_flags & SCX_ENQ_REENQ)
		kick_idle(cpu);
}

/* Takes a task of a longer queue. */
HIDDEN u32 pull(struct live_cpu *c)
{
	u32 from = c->pulls;

	c->pulls = 0;
	if (!from || !scx_bpf_dsq_move_to_local((u64)(from - 1u)))
		return 0;
	COUNT(c, balanced);
	return 1;
}

/* Takes a task of the longest queue; where none of it may run here, of any other that is long. */
HIDDEN void steal(struct live_cpu *c)
{
	u32 from = longest(index_of(c), PELTON_SCX_LONGER_NEWIDLE), i;

	if (!from)
		return;
	if (scx_bpf_dsq_move_to_local((u64)(from - 1u))) {
		COUNT(c, steals);
		return;
	}
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		struct live_cpu *other = cpu_of(i);

		if (i == from - 1u || other == c || !pelton_scx_is_long(other->fair.nr_queued, other->has_curr))
			continue;
		if (scx_bpf_dsq_nr_queued(i) && scx_bpf_dsq_move_to_local(i)) {
			COUNT(c, steals);
			return;
		}
	}
}

/* The running task at the end of a slice: does it go on? */
HIDDEN u32 goes_on(struct live_cpu *c, struct task_struct *p, struct live_task *t, u32 waiting)
{
	if (!t->fair.on_rq || t->misfit)
		return 0;
	account(c, p, t);
	if (t->held)
		return 0;
	pelton_update_deadline(POLICY, &tunables, &c->fair, &t->fair, &t->fair);
	c->curr = t->fair;
	c->curr_at_ns = scx_bpf_now();
	if (waiting && !stays(c, t, peek(index_of(c))))
		return 0;
	COUNT(c, kept);
	set_slice(p, SLICE_NS);
	return 1;
}

SEC("struct_ops/live_dispatch")
void BPF_PROG(live_dispatch, s32 cpu, struct task_struct *prev)
{
	struct live_cpu *c = cpu_of((u32)cpu);
	struct live_task *t = 0;
	u32 waiting;

	if (given.fault == FAULT_STALL)
		return;
	if (prev && ((struct task_struct___ext *)prev)->scx.flags & SCX_TASK_QUEUED && !(prev->flags & PF_IDLE))
		t = task_of(prev);
	if (pull(c) || (quotas && unpark(c)))
		return;
	if (t) {
		waiting = (u32)scx_bpf_dsq_nr_queued(index_of(c));
		if (!goes_on(c, prev, t, waiting) && waiting)
			pick(c);
	} else if (!pick(c)) {
		steal(c);
	}
}

/* sched_yield(): the core says what it costs the task; who is next follows from that. */
SEC("struct_ops/live_yield")
bool BPF_PROG(live_yield, struct task_struct *from, struct task_struct *to)
{
	struct live_task *t = task_of(from);
	struct live_cpu *c;

	if (to || !t || !t->fair.on_rq)
		return 0;
	c = cpu_of(t->cpu);
	account(c, from, t);
	pelton_yield_entity(POLICY, &tunables, &c->fair, &t->fair);
	c->curr = t->fair;
	c->curr_at_ns = scx_bpf_now();
	set_slice(from, 0);
	return 0;
}

/* ---- signals ---- */

/* Time of the locked queue: as of the update that the kernel began with. */
HIDDEN u64 clock_here(struct live_cpu *c)
{
	const struct rq *k = bpf_per_cpu_ptr(&runqueues, index_of(c));

	follow_speed(c);
	return k ? k->clock : scx_bpf_now();
}

/* Another CPU may execute it, which changed something of the running task. */
SEC("struct_ops/live_running")
void BPF_PROG(live_running, struct task_struct *p)
{
	struct live_cpu *c = cpu_of((u32)scx_bpf_task_cpu(p));
	struct live_task *t = task_of(p);
	u64 now = clock_here(c);
	u32 ev = 0;

	if (!t)
		return;
	if (!t->se.on_rq) {
		ev = join(c, p, t, now);
		join_fair(c, p, t, 0);
	}
	ev |= pelton_rq_switch_fair(POLICY, &c->rq, 0, &t->se, now, 0, c->idle);
	follow_queue(c);
	if (t->fair.on_rq)
		pelton_avg_vruntime_sub(POLICY, &c->fair, &t->fair);
	pelton_set_protect_slice(POLICY, &c->fair, &t->fair);
	t->fair.ran_ns = 0;
	t->ran_ns = p->se.sum_exec_runtime;
	c->curr = t->fair;
	c->curr_at_ns = now;
	c->has_curr = 1;
	c->idle = 0;
	c->idles = 0;
	c->pulls = 0;
	t->is_new = 0;
	t->parked_ns = 0;
	COUNT(c, picks);
	show(c);
	frequency_after(c, now, ev, 0);
}

/* The running task is put, and waits. */
HIDDEN u32 put(struct live_cpu *c, struct live_task *t, u64 now)
{
	u32 ev = pelton_rq_switch_fair(POLICY, &c->rq, &t->se, 0, now, 0, 0);

	follow_clamps(c, t);
	c->has_curr = 0;
	if (t->fair.on_rq)
		pelton_avg_vruntime_add(POLICY, &c->fair, &t->fair);
	return ev;
}

/* One that goes to sleep, or of which something is changed, is looked at once, when it is quiescent. */
SEC("struct_ops/live_stopping")
void BPF_PROG(live_stopping, struct task_struct *p, bool runnable)
{
	struct live_task *t;
	struct live_cpu *c;
	u64 now;
	u32 ev;

	if (!runnable)
		return;
	t = task_of(p);
	if (!t || !t->se.running)
		return;
	c = cpu_of(t->cpu);
	now = clock_of(c);
	account(c, p, t);
	ev = put(c, t, now);
	show(c);
	frequency_after(c, now, ev, 0);
}

SEC("struct_ops/live_quiescent")
void BPF_PROG(live_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct live_task *t = task_of(p);
	struct live_cpu *c;
	u64 now;
	u32 ev;

	if (!t || !t->se.on_rq)
		return;
	c = cpu_of(t->cpu);
	now = clock_of(c);
	if (t->se.running)
		account(c, p, t);
	t->misfit = 0;
	ev = leave(c, t, now, deq_flags & SCX_DEQ_SLEEP ? PELTON_DEQUEUE_SLEEP : 0);
	show(c);
	frequency_after(c, now, ev, 0);
}

/* The CPU runs the idle task and nothing is queued: a task that is sent on was put by way of the idle task before. */
HIDDEN void settle_idle(struct live_cpu *c, u64 now)
{
	if (!c->idles || c->idle || c->rq.cfs.nr_queued)
		return;
	take_left(c);
	pelton_rq_switch_idle(POLICY, &c->rq, 0, now, 0, 0);
	c->state.idle_calls++;
	c->has_curr = 0;
	c->idle = 1;
}

/*
 * A task gets another CPU. While it is runnable the old one's queue is locked, as the kernel's own move is; else it
 * sleeps, and its part of the old CPU's average is left behind.
 */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(live_migrate, struct task_struct *p, int dest)
{
	struct live_task *t = task_of(p);
	struct live_cpu *c;
	u64 now;

	if (!t || !t->known || t->cpu == (u32)dest)
		return 0;
	c = cpu_of(t->cpu);
	now = scx_bpf_now();
	if (t->se.on_rq) {
		leave(c, t, now, PELTON_DEQUEUE_MIGRATE);
		settle_idle(c, now);
		show(c);
	} else {
		leave_asleep(c, t, now);
	}
	return 0;
}

SEC("struct_ops/live_update_idle")
void BPF_PROG(live_update_idle, s32 cpu, bool idle)
{
	struct live_cpu *c = cpu_of((u32)cpu);
	u64 now = clock_of(c);

	c->idles = idle;
	if (idle)
		settle_idle(c, now);
	else if (c->idle) {
		pelton_clock_update(POLICY, &c->rq, now, 0, 1);
		c->idle = 0;
	}
	publish(c);
}

/* Does the running task end its slice, for another task, another CPU, or a longer queue elsewhere? */
HIDDEN u32 ends_slice(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 now, u32 renewed)
{
	u32 util = (u32)t->se.avg.util_avg;

	if (p->nr_cpus_allowed > 1 && SETTINGS->placing) {
		t->misfit = roomier(index_of(c), pelton_uclamp_clamped(util, t->clamps.min, t->clamps.max));
		if (t->misfit && bpf_cpumask_test_cpu(t->misfit - 1u, p->cpus_ptr))
			return 1;
		t->misfit = 0;
	}
	if (pelton_elapsed(now, c->balance_ns, 0)) {
		c->balance_ns = now + SETTINGS->balance_ns;
		c->pulls = longest(index_of(c), PELTON_SCX_LONGER_TICK);
		if (c->pulls)
			return 1;
	}
	return pelton_curr_gives_way(POLICY, &c->fair, &t->fair, renewed) && scx_bpf_dsq_nr_queued(index_of(c));
}

/* The running task's weight follows what its groups are entitled to. */
APART u32 follow_shares(u32 cpu, struct task_struct *p __arg_trusted)
{
	struct live_task *t = task_of(p);
	struct live_cpu *c = cpu_of(cpu);
	u64 weight;

	if (!t || !t->fair.on_rq)
		return 0;
	follow_groups(p);
	weight = share_weight(p);
	if (weight == t->fair.weight)
		return 0;
	pelton_reweight_entity_fair(POLICY, &tunables, &c->fair, &t->fair, &t->fair, weight, inv_weight_of(t, weight));
	return 1;
}

/* A number that cannot be: nothing that follows from it can be trusted, and the kernel gets its tasks back. */
HIDDEN void check(struct live_cpu *c, const struct live_task *t)
{
	static char format[] = "CPU %llu: %llu tasks are queued, %llu in averages; utilization %llu, target %llu";
	u64 numbers[] = { index_of(c), c->fair.nr_queued, c->rq.cfs.nr_queued, t->se.avg.util_avg, c->target };

	if (given.fault == FAULT_COUNT)
		numbers[1]++;
	if (numbers[1] != numbers[2] || numbers[3] > 2 * PELTON_CAPACITY_SCALE || numbers[4] > PELTON_CAPACITY_SCALE)
		scx_bpf_error_bstr(format, numbers, sizeof(numbers));
}

SEC("struct_ops/live_tick")
void BPF_PROG(live_tick, struct task_struct *p)
{
	struct live_task *t = task_of(p);
	struct live_cpu *c;
	u64 now;
	u32 ev, renewed;

	if (!t || !t->se.on_rq)
		return;
	c = cpu_of(t->cpu);
	now = clock_of(c);
	take_left(c);
	follow_task(c, p, t, now);
	check(c, t);
	ev = pelton_rq_tick_fair(POLICY, &c->rq, &t->se, now, 0);
	follow_clamps(c, t);
	account(c, p, t);
	renewed = pelton_update_deadline(POLICY, &tunables, &c->fair, &t->fair, &t->fair);
	t->fair.vprot = c->curr.vprot; /* wakees may have shortened it */
	if (t->share)
		follow_shares(index_of(c), p);
	c->curr = t->fair;
	c->curr_at_ns = now;
	publish(c);
	if (SETTINGS->energy_aware)
		overutilized = any_overutilized();
	if (SETTINGS->frequencies) {
		frequency_after(c, now, ev, PELTON_HOW_TICK);
		frequency(index_of(c), now, PELTON_SITE_TICK, PELTON_HOW_TICK);
	}
	if (c->fair.nr_queued > 1)
		kick_idle(index_of(c));
	if (ends_slice(c, p, t, now, renewed) || t->held)
		set_slice(p, 0);
}

/* ---- idle CPUs ---- */

struct ticker {
	struct bpf_timer timer;
	u64 refreshed_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ticker);
} tickers SEC(".maps");

/*
 * An idle CPU's target holds for its whole domain, and no CPU may lock another's queue from here: a copy of its record
 * is brought up to now, and what the copy asks for is handed over.
 */
APART u32 refresh(u32 cpu)
{
	struct live_cpu *c = cpu_of(cpu), *copy = &cpus[SCRATCH];
	struct pelton_removed left = { c->left_load, c->left_util, c->left_runnable };
	u64 now = scx_bpf_now();

	if (!c->idle || !(c->rq.cfs.avg.load_avg | c->sp.next_freq_khz))
		return 0;
	bpf_probe_read_kernel(copy, sizeof(*copy), c); /* clang crashes at a copy of this size */
	pelton_add_removed(&copy->rq.cfs, &left, c->left_nr);
	copy->clamps.removed += c->left_clamps;
	pelton_rq_update_blocked(POLICY, &copy->rq, now, 0, PELTON_RUNS_IDLE, 0);
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM)
		pelton_uclamp_sum_follow(&copy->clamps, &copy->rq.cfs);
	if (!c->idle)
		return 0;
	publish(copy);
	if (!SETTINGS->frequencies || c->sp.next_freq_khz <= c->sp.min_khz ||
	    !frequency(SCRATCH, now, PELTON_SITE_BLOCKED, PELTON_HOW_REMOTE) || !c->idle)
		return 0;
	c->target = copy->target;
	c->handed_ns = now;
	c->sp.next_freq_khz = copy->sp.next_freq_khz;
	c->sp.cached_raw_khz = copy->sp.cached_raw_khz;
	COUNT(c, refreshed);
	scx_bpf_cpuperf_set((s32)index_of(c), c->target);
	return 1;
}

/*
 * The kernel's rate limit refuses a target without a word, and asks no more. Where the domain of a CPU is not at the
 * frequency that the largest request of its CPUs leads to, its target is handed over again; a higher one may be for
 * real-time and deadline tasks.
 */
APART u32 insist(u32 cpu, u64 now)
{
	struct live_cpu *c = cpu_of(cpu);
	u64 domain = setups[cpu & (PELTON_PLACE_CPUS_MAX - 1u)].domain, others = 0;
	u32 i, most = c->sp.min_khz, is = scx_bpf_cpuperf_cur((s32)(cpu & (PELTON_PLACE_CPUS_MAX - 1u)));

	if (!pelton_cpuperf_looks(now, c->handed_ns, c->insisted_ns))
		return 0;
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		const struct rq *k = bpf_per_cpu_ptr(&runqueues, i);

		if (!(domain >> (i & 63u) & 1u) || !k)
			continue;
		most = pelton_max_u32(most, cpu_of(i)->sp.next_freq_khz);
		others = pelton_max_u64(others, k->avg_rt.util_avg + k->avg_dl.util_avg);
	}
	/* The governor's own thread is one of the others and needs next to nothing. */
	if (pelton_cpuperf_is_followed(is, most, c->sp.ref_khz, others))
		return 0;
	COUNT(c, again);
	c->insisted_ns = now;
	scx_bpf_cpuperf_set((s32)index_of(c), c->target);
	return 1;
}

static int on_timer(void *map, int *key, struct ticker *t)
{
	u64 now = scx_bpf_now();
	u32 i;

	if (now - t->refreshed_ns >= PELTON_SCX_REFRESH_NS) {
		t->refreshed_ns = now;
		bpf_for (i, 0, (u32)SETTINGS->nr_cpus)
			refresh(i);
	}
	if (SETTINGS->frequencies)
		bpf_for (i, 0, (u32)SETTINGS->nr_cpus)
			insist(i, now);
	if (quotas)
		wake_for_parked();
	bpf_timer_start(&t->timer, 2 * SETTINGS->tick_ns, 0);
	return 0;
}

/* ---- life of tasks, of groups and of the scheduler ---- */

/* A cgroup is removed, and with it the kernel's group that its weight belongs to. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(live_rmdir, struct cgroup *cgroup, const char *path)
{
	struct cgroup_subsys_state *css;
	u64 at, group;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id))
		return 0;
	at = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	if (bpf_probe_read_kernel(&css, sizeof(css), (void **)&cgroup->subsys + at))
		return 0;
	group = (u64)css - bpf_core_field_offset(struct task_group, css);
	bpf_map_delete_elem(&shares, &group);
	return 0;
}

SEC("struct_ops/live_init_task")
s32 BPF_PROG(live_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct live_task *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -12;
	t->limits = NO_LIMITS;
	t->cpu = (u32)scx_bpf_task_cpu(p);
	t->fair.slice_ns = tunables.base_slice_ns;
	learn(p, t);
	pelton_se_init(&t->se, t->clamps.weight);
	t->is_new = args->fork;
	if (args->fork) {
		struct live_cpu *c = cpu_of(t->cpu);

		pelton_post_init_entity_util_avg(POLICY, &c->rq.cfs, &t->se, c->rq.cap_orig);
	} else { /* what the kernel knew of it */
		t->se.avg.load_avg = p->se.avg.load_avg;
		t->se.avg.runnable_avg = p->se.avg.runnable_avg;
		t->se.avg.util_avg = p->se.avg.util_avg;
		t->se.avg.util_est_enqueued = p->se.avg.util_est;
	}
	t->se.avg.last_update_time_ns = 0;
	return 0;
}

SEC("struct_ops/live_disable")
void BPF_PROG(live_disable, struct task_struct *p)
{
	struct live_task *t = task_of(p);

	if (t && t->known && !t->se.on_rq)
		leave_asleep(cpu_of(t->cpu), t, scx_bpf_now());
}

APART s32 start_cpu(u32 cpu)
{
	struct live_cpu *c = cpu_of(cpu);

	c->id = cpu;
	/* One without domains is offline or isolated: it is not taken for idle before it says so. */
	c->idle = c->idles = machine.cpus[index_of(c)].nr_domains > 0;
	pelton_rq_init(POLICY, &c->rq, scx_bpf_now(), (u32)setups[index_of(c)].capacity, PELTON_CAPACITY_SCALE);
	machine.cpus[index_of(c)].state.cap_orig = c->rq.cap_orig;
	start_governor(c);
	start_question(cpu);
	publish(c);
	c->handed_ns = c->rq.clock.clock_ns;
	if (SETTINGS->frequencies) /* every CPU starts with the largest target there is */
		scx_bpf_cpuperf_set((s32)cpu, 0);
	return scx_bpf_create_dsq(cpu, -1);
}

SEC("struct_ops.s/live_init")
s32 BPF_PROG(live_init)
{
	struct ticker *t;
	u32 i, zero = 0;
	s32 failed = 0;

	pelton_fair_tunables_init(POLICY, &tunables, (u32)SETTINGS->nr_cpus, SETTINGS->tick_ns);
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		failed = start_cpu(i);
		if (failed)
			return failed;
	}
	failed = scx_bpf_create_dsq(PARKED, -1);
	if (failed)
		return failed;
	t = bpf_map_lookup_elem(&tickers, &zero);
	if (!t || bpf_timer_init(&t->timer, &tickers, 1 /* CLOCK_MONOTONIC */))
		return -22;
	bpf_timer_set_callback(&t->timer, on_timer);
	bpf_timer_start(&t->timer, 2 * SETTINGS->tick_ns, 0);
	return 0;
}

SEC("struct_ops/live_exit")
void BPF_PROG(live_exit, struct scx_exit_info *ei)
{
	ended.code = ei->exit_code;
	bpf_probe_read_kernel_str(ended.reason, sizeof(ended.reason), ei->reason);
	bpf_probe_read_kernel_str(ended.message, sizeof(ended.message), ei->msg);
	ended.kind = ei->kind;
}

/* Another class takes the CPU: what was handed to it waits where other CPUs see it. */
SEC("struct_ops/live_cpu_release")
void BPF_PROG(live_cpu_release)
{
	scx_bpf_reenqueue_local();
}

SEC(".struct_ops.link")
struct sched_ext_ops live_ops = {
	.select_cpu = (void (*)(void))live_select_cpu,
	.enqueue = (void (*)(void))live_enqueue,
	.dispatch = (void (*)(void))live_dispatch,
	.tick = (void (*)(void))live_tick,
	.yield = (void (*)(void))live_yield,
	.running = (void (*)(void))live_running,
	.stopping = (void (*)(void))live_stopping,
	.quiescent = (void (*)(void))live_quiescent,
	.update_idle = (void (*)(void))live_update_idle,
	.init_task = (void (*)(void))live_init_task,
	.disable = (void (*)(void))live_disable,
	.init = (void (*)(void))live_init,
	.exit = (void (*)(void))live_exit,
	.cpu_release = (void (*)(void))live_cpu_release,
	/* A running task is put at the end of its slice although it is alone, when it is to be sent on. */
	.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING | SCX_OPS_ENQ_MIGRATION_DISABLED,
	.timeout_ms = 5000,
	.name = "pelton_live",
};
