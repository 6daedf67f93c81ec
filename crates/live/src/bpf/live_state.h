/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the scheduler to the core. Each function but leave_asleep() is called with the run queue of the CPU locked
 * by the kernel, as the core's own events are. No arithmetic of a policy here.
 */
#ifndef PELTON_LIVE_STATE_H
#define PELTON_LIVE_STATE_H

LIVE_RECORD(live_settings, LIVE_SETTINGS);
LIVE_RECORD(live_counts, LIVE_COUNTS);
LIVE_RECORD(live_terms, LIVE_TERMS);

struct live_setup {
	LIVE_SETUP(LIVE_WORD_)
	u64 khz[LIVE_OPPS_MAX];
};

/* A boost group, or clamps, of a cgroup. */
struct live_group {
	u32 boost_group;
	u32 min;
	u32 max;
	u32 reserved;
};

/* Frozen when it is loaded: the verifier follows only what this policy can do. */
const volatile struct pelton_policy policy_given SEC(".rodata.policy");
const volatile struct live_settings settings_given SEC(".rodata.settings");
const volatile struct live_setup setups[PELTON_PLACE_CPUS_MAX] SEC(".rodata.setup");

#define FAULT_STALL 1 /* nothing is dispatched */
#define FAULT_COUNT 2 /* a number is wrong */

/* Written by the loader at any time: boosts of the groups, and how often groups were changed. */
struct {
	s64 boosts[PELTON_BOOST_GROUPS];
	u64 generation;
	u64 any_group;
	u64 fault; /* FAULT_*, for tests */
} given SEC(".data.given");

struct pelton_machine machine SEC(".bss.machine");
struct pelton_fair_tunables tunables SEC(".bss.tunables");
struct live_counts counts[PELTON_PLACE_CPUS_MAX] SEC(".bss.counts");
struct live_terms decided[PELTON_PLACE_CPUS_MAX] SEC(".bss.decided");

/* A CPU: what the core keeps of it. */
struct live_cpu {
	struct pelton_rq rq;
	struct pelton_sugov_policy sp; /* of this CPU alone; the kernel takes the largest target of a shared domain */
	struct pelton_sugov_cpu sc;
	struct pelton_uclamp_sum_rq clamps;
	struct pelton_boost_cpu boost;
	struct pelton_fair_rq fair;
	struct pelton_fair_se curr; /* copy of the running task's, as of its last account */
	struct pelton_cpu_state state;
	struct pelton_perf_terms terms;
	struct pelton_decision decision;
	u64 curr_at_ns; /* when that was */
	u64 generation; /* of the boosts it follows */
	u64 balance_ns; /* when it looks for a longer queue again */
	u32 has_curr;
	u32 idle;   /* nothing runs or waits here */
	u32 target; /* as last handed over */
	u32 id;
	u32 pulls; /* CPU whose queue is so much longer that a task of it is taken, + 1 */
	u32 idles; /* it runs the idle task, perhaps for a moment only */
	/* Shares of sleepers that woke elsewhere: added by any CPU, taken by this one. */
	u64 left_util;
	u64 left_load;
	u64 left_runnable;
	u32 left_nr;
	u32 left_clamps;
	struct live_khz khz;
	u64 handed_ns;   /* when a target was handed over */
	u64 insisted_ns; /* the same, of one that was handed over again */
} __attribute__((aligned(64)));

/* Twice as many as CPUs, so that a mask is a bound; one of the others is a copy to work on. */
struct live_cpu cpus[2u * PELTON_PLACE_CPUS_MAX] SEC(".bss.cpus");
#define SCRATCH PELTON_PLACE_CPUS_MAX

/* A task; counted on `cpu` from its first wake-up on. */
struct live_task {
	struct pelton_se se;
	struct pelton_fair_se fair;
	struct pelton_uclamp_sum_task clamps;
	u64 ran_ns;      /* sum_exec_runtime when it was last looked at */
	u64 cgroup;      /* number of its cgroup */
	u64 generation;  /* of the groups that it knows */
	u64 clamp_words; /* the kernel's clamps that its own follow from; 0: not known */
	u64 share;       /* group whose load it is part of; 0: the root */
	u64 parked_ns;   /* since when it waits for time of its group */
	u32 cpu;
	u32 known; /* its CPU's queue has its average */
	u32 group;
	u32 group_here;   /* group as counted on its CPU */
	u32 boosts;       /* it is counted there: groups were given something */
	u32 is_new;       /* it was forked and did not run yet */
	u32 misfit;       /* CPU that it should be on, + 1 */
	u32 nice;         /* static priority and policy that its weight follows from */
	u32 place;        /* observed: CPU that the core would choose, + 1 */
	u32 limits;       /* what its groups were given: lower clamp, upper clamp << 16 */
	u32 share_weight; /* its part of that group's load */
	u32 limited;      /* a group of it has a quota */
	u32 held;         /* whose time is used up */
};

#define NO_LIMITS (PELTON_CAPACITY_SCALE << 16)

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct live_task);
} tasks SEC(".maps");

/* By the number of a cgroup. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct live_group);
} groups SEC(".maps");

/* Const for the verifier, which would else take each read of a field for a volatile one. */
HIDDEN const struct pelton_policy *policy_as_given(void)
{
	const struct pelton_policy *p = (const struct pelton_policy *)&policy_given;

	asm("" : "+r"(p));
	return p;
}

#ifdef LIVE_USUAL
#include "live_usual.h"
#else
#define POLICY policy_as_given()
#endif
#define SETTINGS (&settings_given)

/* As one pointer: the compiler would else compute it anew for each field. */
HIDDEN struct live_cpu *kept(struct live_cpu *c)
{
	asm("" : "+r"(c));
	return c;
}

HIDDEN struct live_cpu *cpu_of(u32 cpu)
{
	return kept(&cpus[cpu & (PELTON_PLACE_CPUS_MAX - 1u)]);
}

HIDDEN struct live_cpu *record_of(u32 at)
{
	return kept(&cpus[at & (2u * PELTON_PLACE_CPUS_MAX - 1u)]);
}

HIDDEN u32 index_of(const struct live_cpu *c)
{
	return c->id & (PELTON_PLACE_CPUS_MAX - 1u);
}
#define COUNT(c, what) (counts[index_of(c)].what++)

HIDDEN struct live_task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

/* The running task as the fair queue sees it: its copy. */
HIDDEN struct pelton_fair_se *curr_of(struct live_cpu *c)
{
	return c->has_curr ? &c->curr : 0;
}

/* What left this CPU in its sleep. */
HIDDEN void take_left(struct live_cpu *c)
{
	struct pelton_removed left;
	u32 nr;

	if (!c->left_nr)
		return;
	nr = __sync_lock_test_and_set(&c->left_nr, 0);
	left.util = __sync_lock_test_and_set(&c->left_util, 0);
	left.load = __sync_lock_test_and_set(&c->left_load, 0);
	left.runnable = __sync_lock_test_and_set(&c->left_runnable, 0);
	pelton_add_removed(&c->rq.cfs, &left, nr);
	c->clamps.removed += __sync_lock_test_and_set(&c->left_clamps, 0);
}

/* A sleeping task leaves, from any CPU. */
HIDDEN void leave_asleep(struct live_cpu *c, struct live_task *t, u64 now)
{
	struct pelton_removed left;

	pelton_uclamp_sum_age_task(&t->clamps, &t->se.avg, c->rq.cfs.avg.last_update_time_ns);
	pelton_leave_sleeping(POLICY, &c->rq, &c->rq.cfs, &t->se, c->idle, now, &left);
	__sync_fetch_and_add(&c->left_util, left.util);
	__sync_fetch_and_add(&c->left_load, left.load);
	__sync_fetch_and_add(&c->left_runnable, left.runnable);
	if (t->clamps.value)
		__sync_fetch_and_add(&c->left_clamps, t->clamps.value);
	t->clamps.value = 0;
	__sync_fetch_and_add(&c->left_nr, 1);
	t->known = 0;
}

/* What placements of all CPUs and the loader see of this one. */
HIDDEN void publish(struct live_cpu *c)
{
	struct pelton_place_cpu *to = &machine.cpus[index_of(c)];
	const struct pelton_cfs_rq *cfs = &c->rq.cfs;
	u32 util = (u32)cfs->avg.util_avg;

	to->state.util_cfs = util;
	to->state.runnable_cfs = (u32)cfs->avg.runnable_avg;
	to->state.util_est = cfs->util_est;
	to->state.cfs_nr_running = cfs->h_nr_runnable;
	to->load = cfs->avg.load_avg;
	to->h_nr_queued = cfs->nr_queued;
	to->h_nr_runnable = cfs->h_nr_runnable;
	to->curr_idle = c->idle;
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM) {
		to->util_clamped = pelton_uclamp_sum_util(POLICY, &c->clamps, util);
		to->est_clamped = c->clamps.est;
	}
}

/* The same where other CPUs place by it; elsewhere what the loader reads is as of the last tick. */
HIDDEN void show(struct live_cpu *c)
{
	if (SETTINGS->placing)
		publish(c);
}

/* The nearest cgroup above a task, itself included, that was given something. */
APART u32 learn_group(struct task_struct *p __arg_trusted)
{
	struct live_task *t = task_of(p);
	struct cgroup_subsys_state *css = &p->cgroups->dfl_cgrp->self;
	u32 i;

	if (!t)
		return NO_LIMITS;
	t->group = 0;
	for (i = 0; i < 8 && css; i++) {
		u64 key = BPF_CORE_READ(css, cgroup, kn, id);
		struct live_group *g = bpf_map_lookup_elem(&groups, &key);

		if (g) {
			t->group = g->boost_group;
			return g->min | g->max << 16;
		}
		css = BPF_CORE_READ(css, parent);
	}
	return NO_LIMITS;
}

/* Both clamps of one of the kernel's pairs: the lower one, the upper one << 16. */
HIDDEN u32 clamp_pair(const struct uclamp_se *lower)
{
	const struct uclamp_se *upper = next_limit(lower);

	return (u32)BPF_CORE_READ_BITFIELD(lower, value) | (u32)BPF_CORE_READ_BITFIELD(upper, value) << 16;
}

/* Both of a pair as the kernel keeps them. */
HIDDEN u64 clamp_words(const struct uclamp_se *lower)
{
	const u32 *low = (const u32 *)lower, *high = (const u32 *)next_limit(lower);

	return (u64)*high << 32 | *low;
}

/*
 * Clamps in force: what the kernel made of the task's own and its groups', within what was given here. A kernel in
 * which no clamp was ever set made nothing of them. Most of the time they are as they were.
 */
HIDDEN void learn_clamps(struct task_struct *p, struct live_task *t)
{
	u32 pair = NO_LIMITS;
	u64 words = 0;

	if (SETTINGS->uclamp && !SETTINGS->own_clamps) {
		words = clamp_words(&p->uclamp[0]);
		if (!words)
			words = clamp_words(&p->uclamp_req[0]);
		if (words && words == t->clamp_words)
			return;
		pair = clamp_pair(&p->uclamp[0]);
		if (!(pair >> 16))
			pair = clamp_pair(&p->uclamp_req[0]);
	}
	t->clamp_words = words;
	t->clamps.min = pelton_max_u32(pair & 0xffffu, t->limits & 0xffffu);
	t->clamps.max = pelton_min_u32(pair >> 16, t->limits >> 16);
}

/* What the weight of a task follows from. */
HIDDEN u32 nice_of(struct task_struct *p)
{
	return (u32)p->static_prio << 8 | p->policy;
}

HIDDEN void learn_weight(struct task_struct *p, struct live_task *t)
{
	u32 level = p->policy == SCHED_IDLE ? PELTON_NICE_LEVELS : (u32)(p->static_prio - 100) & 63u;

	t->nice = nice_of(p);
	t->clamps.id = (u32)p->pid;
	t->clamps.weight = pelton_task_weight(level);
	t->clamps.inv_weight = pelton_task_inv_weight(level);
	t->se.weight = t->clamps.weight;
	if (!t->fair.weight)
		t->fair.weight = pelton_scale_load((u64)t->clamps.weight);
}

#include "live_share.h"

/* What a task is: clamps, boost group, weight, slice. Most of it is as it was. */
HIDDEN void learn(struct task_struct *p, struct live_task *t)
{
	if (given.any_group) {
		u64 cgroup = p->cgroups->dfl_cgrp->kn->id;

		if (t->cgroup != cgroup || t->generation != given.generation) {
			t->limits = learn_group(p);
			t->cgroup = cgroup;
			t->generation = given.generation;
			t->clamp_words = 0;
		}
	}
	learn_clamps(p, t);
	if (!t->se.on_rq && t->nice != nice_of(p))
		learn_weight(p, t);
	if (bpf_core_field_exists(p->se.custom_slice)) {
		t->fair.custom_slice = p->se.custom_slice;
		if (t->fair.custom_slice)
			t->fair.slice_ns = p->se.slice;
	}
}

/* The CPU follows boosts that were given meanwhile. */
HIDDEN void follow_boosts(struct live_cpu *c, u64 now)
{
	u32 i;

	if (c->generation == given.generation)
		return;
	c->generation = given.generation;
	for (i = 0; i < PELTON_BOOST_GROUPS; i++)
		pelton_boost_write(POLICY, &c->boost, i, (s32)given.boosts[i], now);
}

/* A running task may have been moved, or its clamps changed. */
HIDDEN void follow_task(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 now)
{
	learn(p, t);
	if (!given.any_group)
		return;
	follow_boosts(c, now);
	if (!t->boosts) {
		t->boosts = 1;
		t->group_here = t->group;
		pelton_boost_tasks_update(POLICY, &c->boost, t->group, 1, 0, now);
	}
	if (t->group != t->group_here) {
		/* As if it slept in one and woke in the other: a move by itself is noticed by some forms alone. */
		pelton_boost_tasks_update(POLICY, &c->boost, t->group_here, 0, 0, now);
		pelton_boost_tasks_update(POLICY, &c->boost, t->group, 1, 0, now);
		t->group_here = t->group;
	}
}

/* A task comes to a CPU, runnable. Returns the events of its averages. */
HIDDEN u32 join(struct live_cpu *c, struct task_struct *p, struct live_task *t, u64 now)
{
	u32 ev;

	take_left(c);
	learn(p, t);
	t->cpu = index_of(c);
	pelton_rq_enqueue_begin(POLICY, &c->rq, &t->se, now, 0, c->idle);
	ev = pelton_rq_enqueue_finish(POLICY, &c->rq, &t->se);
	t->known = 1;
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM) {
		pelton_uclamp_sum_follow(&c->clamps, &c->rq.cfs);
		pelton_uclamp_sum_est_enqueue(&c->clamps, &t->clamps, pelton_se_util_est(POLICY, &t->se));
		pelton_uclamp_sum_enqueue(POLICY, &c->clamps, &t->clamps, (u32)t->se.avg.util_avg);
	}
	t->boosts = given.any_group != 0;
	if (t->boosts) {
		t->group_here = t->group;
		follow_boosts(c, now);
		pelton_boost_tasks_update(POLICY, &c->boost, t->group, 1, 0, now);
	}
	return ev;
}

/* A task joins the order of its queue. */
HIDDEN void join_fair(struct live_cpu *c, struct task_struct *p, struct live_task *t, u32 is_new)
{
	u64 weight;

	enter_shares(p);
	weight = share_weight(p);
	if (t->fair.weight != weight)
		pelton_reweight_asleep(POLICY, &t->fair, weight);
	t->fair.weight = weight;
	t->fair.inv_weight = inv_weight_of(t, weight);
	pelton_place_entity(POLICY, &tunables, &c->fair, curr_of(c), &t->fair, is_new);
	if (!c->fair.nr_queued) {
		c->fair.min_slice_ns = ~0ull;
		c->fair.max_slice_ns = 0;
	}
	c->fair.nr_queued++;
	c->fair.load_weight += weight;
	c->fair.min_slice_ns = pelton_min_u64(c->fair.min_slice_ns, t->fair.slice_ns);
	c->fair.max_slice_ns = pelton_max_u64(c->fair.max_slice_ns, t->fair.slice_ns);
	pelton_avg_vruntime_add(POLICY, &c->fair, &t->fair);
	t->fair.on_rq = 1;
}

/* The running task ran on. */
HIDDEN void account(struct live_cpu *c, struct task_struct *p, struct live_task *t)
{
	u64 ran = p->se.sum_exec_runtime;

	pelton_update_curr(POLICY, &t->fair, ran - t->ran_ns);
	t->held = t->limited && spend(p, ran - t->ran_ns);
	t->ran_ns = ran;
}

/* A task leaves the order of its queue. `waits`: it is not the running one. */
HIDDEN void leave_fair(struct live_cpu *c, struct live_task *t, u32 waits, u32 sleeps)
{
	if (!t->fair.on_rq)
		return;
	pelton_leave_entity(POLICY, &tunables, &c->fair, waits ? curr_of(c) : &t->fair, &t->fair, sleeps);
	if (waits)
		pelton_avg_vruntime_sub(POLICY, &c->fair, &t->fair);
	t->fair.on_rq = 0;
	leave_shares(t);
	c->fair.load_weight -= t->fair.weight;
	c->fair.nr_queued = pelton_sub_floor_u32(c->fair.nr_queued, 1);
}

/* What clamps make of averages that were just updated. */
HIDDEN void follow_clamps(struct live_cpu *c, struct live_task *t)
{
	if (POLICY->uclamp < PELTON_UCLAMP_SUM)
		return;
	pelton_uclamp_sum_follow(&c->clamps, &c->rq.cfs);
	pelton_uclamp_sum_update(POLICY, &c->clamps, &t->clamps, (u32)t->se.avg.util_avg);
}

/* The same of a queue alone, when it was updated since. */
HIDDEN void follow_queue(struct live_cpu *c)
{
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM &&
	    (c->clamps.last_update_time_ns != c->rq.cfs.avg.last_update_time_ns || c->clamps.removed))
		pelton_uclamp_sum_follow(&c->clamps, &c->rq.cfs);
}

HIDDEN void leave_clamps(struct live_cpu *c, struct live_task *t, u32 migrates)
{
	u32 cut;

	if (POLICY->uclamp < PELTON_UCLAMP_SUM)
		return;
	follow_clamps(c, t);
	cut = pelton_uclamp_sum_dequeue(POLICY, &c->clamps, &t->clamps, migrates);
	if (!cut)
		return;
	pelton_uclamp_take_bias(POLICY, &c->rq.cfs.avg, cut);
	pelton_uclamp_take_bias(POLICY, &t->se.avg, cut);
}

/* A task leaves its CPU: it sleeps, or moves while it is runnable. `flags`: PELTON_DEQUEUE_*. */
HIDDEN u32 leave(struct live_cpu *c, struct live_task *t, u64 now, u32 flags)
{
	u32 runs = t->se.running, ev;

	take_left(c);
	leave_fair(c, t, !runs, flags & PELTON_DEQUEUE_SLEEP);
	if (POLICY->uclamp >= PELTON_UCLAMP_SUM)
		pelton_uclamp_sum_est_dequeue(&c->clamps, &t->clamps);
	ev = pelton_rq_dequeue_task(POLICY, &c->rq, &t->se, now, 0, c->idle, flags);
	leave_clamps(c, t, flags & PELTON_DEQUEUE_MIGRATE);
	if (t->boosts)
		pelton_boost_tasks_update(POLICY, &c->boost, t->group_here, 0, 0, now);
	if (runs) {
		t->se.running = 0;
		c->rq.cfs.has_curr = 0;
		c->has_curr = 0;
	}
	if (flags & PELTON_DEQUEUE_MIGRATE)
		t->known = 0;
	return ev;
}

#endif
