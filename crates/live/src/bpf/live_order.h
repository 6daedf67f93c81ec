/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order: each CPU has a queue by virtual deadline; the first eligible task runs. A slice ends when the core says so, at
 * a tick; a wakee comes first when the core's rules of wake-up preemption say so.
 */
#ifndef PELTON_LIVE_ORDER_H
#define PELTON_LIVE_ORDER_H

/*
 * Longest slice by the kernel's own count. Slices end where the core says so; this ends those that no tick sees, and
 * gives way to what the kernel itself put before the queue.
 */
#define SLICE_NS 20000000ull
#define LOOK 8 /* tasks whose eligibility is asked before the first is taken */

HIDDEN void set_slice(struct task_struct *p, u64 slice)
{
	if (&scx_bpf_task_set_slice)
		scx_bpf_task_set_slice(p, slice);
	else
		((struct task_struct___ext *)p)->scx.slice = slice;
}

/* Does a task that just woke come before the running one? */
HIDDEN u32 comes_first(struct live_cpu *c, struct live_task *t, u64 now, u32 is_new)
{
	struct pelton_fair_se curr = c->curr;
	u32 passes;

	/* The copy is as of the last account. */
	if (pelton_elapsed(now, c->curr_at_ns, 0))
		pelton_update_curr(POLICY, &curr, now - c->curr_at_ns);
	passes = pelton_preempt_short(POLICY, &c->fair, &curr, &t->fair);
	if (!pelton_wakee_may_preempt(POLICY, &t->fair, passes, is_new))
		return 0;
	if (!pelton_keeps_curr(POLICY, &c->fair, &curr, !passes) &&
	    pelton_entity_eligible(POLICY, &c->fair, &curr, &t->fair) &&
	    (!pelton_entity_eligible(POLICY, &c->fair, &curr, &curr) || !pelton_picks_curr(POLICY, &curr, &t->fair)))
		return 1;
	pelton_wakee_waits(POLICY, &c->fair, &c->curr, passes);
	return 0;
}

/* Is the running task, whose slice ended, the one to go on? */
HIDDEN u32 stays(struct live_cpu *c, struct live_task *t, struct task_struct *first)
{
	struct live_task *f = first ? task_of(first) : 0;

	if (!f || !pelton_entity_eligible(POLICY, &c->fair, &t->fair, &t->fair))
		return 0;
	return !pelton_entity_eligible(POLICY, &c->fair, &t->fair, &f->fair) ||
	       pelton_picks_curr(POLICY, &t->fair, &f->fair);
}

/* Hands the first eligible task of a CPU's queue to that CPU. */
HIDDEN u32 pick(struct live_cpu *c)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	u32 seen = 0, done = 0;

	if (c->fair.nr_queued <= 1)
		return scx_bpf_dsq_move_to_local(index_of(c));
	if (!bpf_iter_scx_dsq_new(&it, index_of(c), 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it)) && seen++ < LOOK) {
			struct live_task *t = task_of(p);

			if (!t || !pelton_entity_eligible(POLICY, &c->fair, curr_of(c), &t->fair))
				continue;
			done = scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL, 0);
			if (done && seen > 1)
				COUNT(c, later);
			break;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	return done || scx_bpf_dsq_move_to_local(index_of(c));
}

/*
 * The CPU with the longest queue, of those with at least `longer` tasks more than this one and one that waits beside
 * another; of the same cache first. 0: none, else its number + 1. As in the kernel tasks are left where energy put them
 * while no CPU is over-utilized.
 */
APART u32 longest(u32 cpu, u32 longer)
{
	struct live_cpu *c = cpu_of(cpu);
	u64 llc = setups[cpu & (PELTON_PLACE_CPUS_MAX - 1u)].llc;
	u32 i, found = 0, most = 0, near = 0;

	if (pelton_scx_holds_balance((u32)SETTINGS->energy_aware, overutilized))
		return 0;
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		u32 at = i & (PELTON_PLACE_CPUS_MAX - 1u), nr = cpu_of(at)->fair.nr_queued, here = llc >> at & 1u;

		if (at == index_of(c) ||
		    !pelton_scx_is_longer(nr, cpu_of(at)->has_curr, here, c->fair.nr_queued + longer, most, near))
			continue;
		if (!scx_bpf_dsq_nr_queued(at))
			continue;
		found = at + 1u;
		most = nr;
		near = here;
	}
	return found;
}

/* An idle CPU that a task fits, for one that its own is too small for; 0, or its number + 1. */
APART u32 roomier(u32 cpu, u32 util)
{
	u32 own = cpu_of(cpu)->rq.cap_orig, best = 0, most = own, i;

	if (!SETTINGS->asymmetric ||
	    pelton_fits(POLICY, util, machine.cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)].capacity, own))
		return 0;
	bpf_for (i, 0, (u32)SETTINGS->nr_cpus) {
		struct live_cpu *c = cpu_of(i);

		if (c->idle && c->rq.cap_orig > most) {
			most = c->rq.cap_orig;
			best = i + 1u;
		}
	}
	return best;
}

#endif
