/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations of the fair class. Everything is in the arguments, and the result is a hash of everything visible: the
 * average, the entities, the answer. Included by entry.c only.
 *
 * The queue is not on the stack, as it is not in a kernel: BPF has 512 bytes of stack for a whole chain of calls.
 *
 *   word 1       0..3 entities queued, 4..7 the running one + 1, 8..11 the one asked about, 12..15 flags,
 *                16..23 tasks of the CPU, from 24 the reference of the sums, ns
 *   words 2..4   one entity each: 0..5 level, 6..29 vruntime + 2^23, 30..43 slice in 4096 ns, 44..55 lag in 4096 ns
 *   + 2048,
 *                56 custom slice, 57 moves with the rest of a request, 58 delayed, 59 SCHED_IDLE, 60..63 kind of
 *                deadline
 *   word 5       deadline relative to vruntime, 16 bits an entity in 256 ns + 2^15; above: run time since it was picked
 *   words 6, 7   what the operation wants
 */

#define FAIR_ENTITIES 3

struct fair_world {
	struct pelton_fair_rq rq;
	struct pelton_fair_tunables tun;
	struct pelton_fair_se se[FAIR_ENTITIES];
	struct pelton_fair_se *curr;
	struct pelton_fair_se *asked;
	u32 flag;
	u32 all;
};

static struct fair_world fair_world_asked;

static __attribute__((noinline)) void fair_entity(const u64 *w, u32 i, struct pelton_fair_se *se)
{
	u64 word = w[i + 2];

	__builtin_memset(se, 0, sizeof(*se));
	se->weight = pelton_scale_load(pelton_task_weight(word & 63));
	se->inv_weight = pelton_task_inv_weight(word & 63);
	se->vruntime = (s64)(word >> 6 & 0xffffff) - (1 << 23);
	se->slice_ns = (word >> 30 & 0x3fff) << 12;
	se->vlag = ((s64)(word >> 44 & 0xfff) - 2048) * 4096;
	se->custom_slice = word >> 56 & 1;
	se->rel_deadline = word >> 57 & 1;
	se->delayed = word >> 58 & 1;
	se->idle_policy = word >> 59 & 1;
	se->deadline = ((s64)(w[5] >> 16 * i & 0xffff) - (1 << 15)) * 256;
	if (!se->rel_deadline)
		se->deadline += se->vruntime;
	se->vprot = word >> 60 & 1 ? se->deadline : se->vruntime + (s64)(word >> 60 << 16) - (1 << 18);
	se->ran_ns = (w[5] >> 48) << 10;
	se->on_rq = i < (w[1] & 15);
}

static __attribute__((noinline)) struct fair_world *fair_world(const u64 *w)
{
	struct fair_world *f = &fair_world_asked;
	const struct pelton_policy *pol = (const struct pelton_policy *)(w + PELTON_TEST_POLICY_WORD);
	u32 i, running = w[1] >> 4 & 15;

	__builtin_memset(&f->rq, 0, sizeof(f->rq));
	pelton_fair_tunables_init(pol, &f->tun, 1 + (w[1] >> 16 & 15), 4000000);
	f->rq.zero_vruntime = (s64)(w[1] >> 24 & 0xffffff) - (1 << 23);
	f->rq.min_slice_ns = ~0ull;
	for (i = 0; i < FAIR_ENTITIES; i++) {
		fair_entity(w, i, &f->se[i]);
		if (!f->se[i].on_rq)
			continue;
		f->rq.nr_queued++;
		f->rq.nr_idle += f->se[i].idle_policy;
		f->rq.load_weight += f->se[i].weight;
		f->rq.min_slice_ns = pelton_min_u64(f->rq.min_slice_ns, f->se[i].slice_ns);
		f->rq.max_slice_ns = pelton_max_u64(f->rq.max_slice_ns, f->se[i].slice_ns);
		if (i + 1 != running)
			pelton_avg_vruntime_add(pol, &f->rq, &f->se[i]);
	}
	f->curr = running ? &f->se[running - 1] : 0;
	f->asked = &f->se[w[1] >> 8 & 3];
	f->flag = w[1] >> 12 & 15;
	f->all = w[1] >> 16 & 0xff;
	return f;
}

static inline __attribute__((always_inline)) u64 fair_mix(u64 hash, u64 word)
{
	return (hash ^ word) * 0x100000001b3ull;
}

static __attribute__((noinline)) u64 fair_hash(const struct pelton_policy *pol, struct fair_world *f, u64 answer)
{
	u64 hash = fair_mix(0xcbf29ce484222325ull, answer);
	u32 i;

	for (i = 0; i < FAIR_ENTITIES; i++) {
		const struct pelton_fair_se *se = &f->se[i];

		hash = fair_mix(fair_mix(hash, (u64)se->vruntime), (u64)se->deadline);
		hash = fair_mix(fair_mix(hash, (u64)se->vlag), (u64)se->vprot);
		hash = fair_mix(fair_mix(hash, se->weight), se->slice_ns);
		hash = fair_mix(hash, se->rel_deadline | se->delayed << 1);
	}
	return fair_mix(hash, (u64)pelton_avg_vruntime(pol, &f->rq, f->curr));
}

/* Average and who is eligible; which of two comes first. */
TEST_OP op_fair_look(u64 *w)
{
	struct fair_world *f = fair_world(w);
	u64 answer = 0;
	u32 i;

	for (i = 0; i < FAIR_ENTITIES; i++)
		answer |= (u64)pelton_entity_eligible(POLICY, &f->rq, f->curr, &f->se[i]) << i;
	answer |= pelton_entity_before(f->asked, &f->se[0]) << 3;
	if (f->curr) {
		answer |= pelton_keeps_curr(POLICY, &f->rq, f->curr, f->flag & 1) << 4;
		answer |= pelton_picks_curr(POLICY, f->curr, f->asked) << 5;
		answer |= pelton_protect_slice(POLICY, f->curr) << 6;
	}
	return fair_hash(POLICY, f, answer);
}

/* The entity asked about joins; it was not queued. */
TEST_OP op_fair_place(u64 *w)
{
	struct fair_world *f = fair_world(w);

	pelton_place_entity(POLICY, &f->tun, &f->rq, f->curr, f->asked, f->flag & 1);
	return fair_hash(POLICY, f, 0);
}

/* A queued one leaves, wants to sleep, or wakes while its dequeue is delayed. */
TEST_OP op_fair_leave(u64 *w)
{
	struct fair_world *f = fair_world(w);
	u64 answer = 0;

	if (f->flag & 1) {
		answer = pelton_delay_dequeue(POLICY, &f->tun, &f->rq, f->curr, f->asked);
	} else if (f->flag & 2) {
		answer = pelton_requeue_delayed(POLICY, &f->tun, &f->rq, f->curr, f->asked);
	} else {
		pelton_leave_entity(POLICY, &f->tun, &f->rq, f->curr, f->asked, f->flag >> 2 & 1);
		if (f->asked->delayed)
			pelton_finish_delayed_dequeue(f->asked);
	}
	return fair_hash(POLICY, f, answer);
}

/* Word 6: run time. The running one is charged, or yields. */
TEST_OP op_fair_run(u64 *w)
{
	struct fair_world *f = fair_world(w);
	u64 answer = 0;

	if (f->flag & 1) {
		pelton_yield_entity(POLICY, &f->tun, &f->rq, f->curr);
	} else {
		pelton_update_curr(POLICY, f->curr, w[6]);
		answer = pelton_update_deadline(POLICY, &f->tun, &f->rq, f->curr, f->curr);
		answer |= pelton_curr_gives_way(POLICY, &f->rq, f->curr, (u32)answer) << 1;
	}
	return fair_hash(POLICY, f, answer);
}

/* The one asked about begins to run (flag 2), or woke while another runs; `all`: what meets is idle. */
TEST_OP op_fair_wake(u64 *w)
{
	struct fair_world *f = fair_world(w);
	u32 passes;
	u64 answer;

	if (f->flag & 2) {
		pelton_set_protect_slice(POLICY, &f->rq, f->asked);
		return fair_hash(POLICY, f, 0);
	}
	answer = pelton_preempt_by_policy(POLICY, f->curr->idle_policy, f->asked->idle_policy, f->all & 1,
					  f->all >> 1 & 1, f->flag >> 2 & 1);
	answer |= pelton_idle_unprotected(POLICY) << 4;
	passes = pelton_preempt_short(POLICY, &f->rq, f->curr, f->asked);
	answer |= passes << 2 | pelton_wakee_may_preempt(POLICY, f->asked, passes, f->flag & 1) << 3;
	pelton_wakee_waits(POLICY, &f->rq, f->curr, passes);
	return fair_hash(POLICY, f, answer);
}

/* Word 6: level of the new weight. */
TEST_OP op_fair_reweight(u64 *w)
{
	struct fair_world *f = fair_world(w);
	u32 level = w[6] & 63;

	pelton_reweight_entity_fair(POLICY, &f->tun, &f->rq, f->curr, f->asked,
				    pelton_scale_load(pelton_task_weight(level)), pelton_task_inv_weight(level));
	return fair_hash(POLICY, f, 0);
}

/*
 * CFS: slice and what follows from it for one that joins, for the tick, for a wake-up, after a yield. Word 6: sleep,
 * ns.
 */
TEST_OP op_fair_cfs(u64 *w)
{
	struct fair_world *f = fair_world(w);
	struct pelton_fair_se *other;
	u64 slice_ns, answer;

	other = &f->se[0];
	slice_ns = pelton_sched_slice(POLICY, &f->tun, &f->rq, f->asked, f->all);
	answer = slice_ns << 4 | pelton_check_preempt_tick(&f->tun, f->asked, other, slice_ns);
	answer |= (u64)(pelton_wakeup_preempt_entity(POLICY, &f->tun, f->asked, other) + 1) << 1;
	answer |= (u64)pelton_skip_takes_second(POLICY, &f->tun, other, f->asked) << 3;
	pelton_place_entity_cfs(POLICY, &f->tun, &f->rq, f->asked, f->flag & 1, slice_ns, w[6]);
	return fair_mix(fair_mix(0, answer), (u64)f->asked->vruntime);
}

/* Words 1 to 5: the group is idle, tasks that come, idle ones among them, tasks of the group, idle ones among those. */
TEST_OP op_fair_idle(u64 *w)
{
	u32 idle = pelton_has_idle_groups(POLICY) && w[1];
	s32 above = pelton_h_nr_idle_above(idle, (s32)w[2] - 8, (s32)w[3] - 8);
	s32 delta = pelton_set_idle_delta(idle, (u32)w[4], (u32)w[5]);
	u64 hash = fair_mix(fair_mix(0, (u64)(s64)above), (u64)(s64)delta);

	hash = fair_mix(hash, pelton_shares_when_idle(idle) << 1 | pelton_shares_writable(idle));
	return fair_mix(hash, pelton_sched_idle_rq((u32)w[4], (u32)w[5]));
}

/* Time, weight, another weight with its inverse. */
TEST_OP op_fair_delta(u64 *w)
{
	return pelton_calc_delta(POLICY, w[1], w[2], w[3], (u32)w[4]);
}
