/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks of groups whose time is used up: they wait in one queue for all CPUs, oldest first, and are asleep for the
 * averages of their CPUs. A CPU that looks for work takes one whose group has time again; the timer wakes CPUs for it.
 */
#ifndef PELTON_LIVE_PARK_H
#define PELTON_LIVE_PARK_H

#define PARKED PELTON_PLACE_CPUS_MAX /* behind the queues of CPUs */
#define PARKED_LOOK 64
/* A task that waits longer runs all the same: the kernel ends a scheduler that lets one wait for timeout_ms. */
#define PARKED_NS 3000000000ull

/* A task that should wait in the queue of a CPU waits here. */
HIDDEN u32 park(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 enq_flags)
{
	u64 now;

	if (p->flags & PF_EXITING || !spend(p, 0))
		return 0;
	now = clock_of(c);
	if (t->se.on_rq) {
		u32 ev = leave(c, t, now, 0);

		show(c);
		frequency_after(c, now, ev, 0);
	}
	t->parked_ns = now;
	COUNT(c, parked);
	scx_bpf_dsq_insert(p, PARKED, SLICE_NS, enq_flags);
	/* Its wake-up took the CPU from those that are idle: it says so again. */
	if (enq_flags & SCX_ENQ_WAKEUP)
		scx_bpf_kick_cpu((s32)index_of(c), SCX_KICK_IDLE);
	return 1;
}

/* Has its group time again? */
HIDDEN u32 is_free(struct task_struct *p, u64 now)
{
	struct live_task *t = task_of(p);

	return !t || pelton_elapsed(now, t->parked_ns, PARKED_NS) || !spend(p, 0);
}

HIDDEN u32 may_run(struct task_struct *p, u32 cpu)
{
	if ((u32)scx_bpf_task_cpu(p) == cpu)
		return 1;
	return !p->migration_disabled && bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* A CPU looks for work. */
HIDDEN u32 unpark(struct live_cpu *c)
{
	struct bpf_iter_scx_dsq it;
	u64 now = scx_bpf_now();
	struct task_struct *p;
	u32 seen = 0, done = 0;

	if (!scx_bpf_dsq_nr_queued(PARKED))
		return 0;
	if (!bpf_iter_scx_dsq_new(&it, PARKED, 0))
		while (!done && (p = bpf_iter_scx_dsq_next(&it)) && seen++ < PARKED_LOOK)
			if (may_run(p, index_of(c)) && is_free(p, now))
				done = scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL, 0);
	bpf_iter_scx_dsq_destroy(&it);
	return done;
}

/* An idle CPU looks for each that is free, or its own. */
HIDDEN void wake_for_parked(void)
{
	struct bpf_iter_scx_dsq it;
	u64 now = scx_bpf_now();
	struct task_struct *p;
	u32 seen = 0;

	if (!bpf_iter_scx_dsq_new(&it, PARKED, 0))
		while ((p = bpf_iter_scx_dsq_next(&it)) && seen++ < PARKED_LOOK) {
			s32 cpu;

			if (!is_free(p, now))
				continue;
			cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
			scx_bpf_kick_cpu(cpu < 0 ? scx_bpf_task_cpu(p) : cpu,
					 cpu < 0 ? SCX_KICK_PREEMPT : SCX_KICK_IDLE);
		}
	bpf_iter_scx_dsq_destroy(&it);
}

#endif
