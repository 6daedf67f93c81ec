/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations of clamps that add up. Included by entry.c only, after entry_knob.h, which has the stories.
 *
 * Every story draws its form: few policies of a random episode would have one.
 */

#define CLAMP_TASKS 6

enum { CLAMP_AWAY, CLAMP_QUEUED, CLAMP_ASLEEP };

struct clamp_story {
	struct pelton_uclamp_sum_rq rq;
	struct pelton_cfs_rq root;
	struct pelton_uclamp_sum_task task[CLAMP_TASKS];
	u64 aged_units[CLAMP_TASKS];
	u64 units; /* of 1024 ns */
	u32 at[CLAMP_TASKS];
};

/* Larger than the stack of a program in bytecode. */
static struct clamp_story clamp_story;

static const u32 clamp_weight[3][2] = { { 15, 286331153 }, { 1024, 4194304 }, { 88761, 48388 } };
static const u32 clamp_value[8] = { 0, 1, 120, 200, 383, 600, 1023, 1024 };
static const u32 clamp_span[5] = { 0, 1, 300, 1024, 40000 };

static inline __attribute__((always_inline)) void clamp_draw(struct story *s, struct pelton_uclamp_sum_task *t)
{
	u32 a = clamp_value[draw(s, 8)], b = clamp_value[draw(s, 8)];
	u32 crossed = !draw(s, 16);

	t->min = crossed ? a : pelton_min_u32(a, b);
	t->max = crossed ? b : pelton_max_u32(a, b);
}

static inline __attribute__((always_inline)) void clamp_pass(struct story *s, struct clamp_story *v)
{
	v->units += clamp_span[draw(s, 5)];
	v->root.avg.util_avg = draw(s, 10) ? draw(s, 1100) : 0;
	v->root.removed_nr = !draw(s, 3);
	v->root.avg.last_update_time_ns = v->units << 10;
	v->root.avg.period_contrib = (u32)(v->units % 1024);
	pelton_uclamp_sum_follow(&v->rq, &v->root);
}

static inline __attribute__((always_inline)) void clamp_age(struct story *s, struct clamp_story *v, u64 id)
{
	struct pelton_avg slept = { 0 };

	slept.last_update_time_ns = v->aged_units[id] << 10;
	slept.period_contrib = (u32)(v->aged_units[id] % 1024);
	pelton_uclamp_sum_age_task(&v->task[id], &slept, v->units << 10);
	v->aged_units[id] = v->units;
	say(s, v->task[id].value);
}

static inline __attribute__((always_inline)) void clamp_part(u64 *w, struct story *s, struct clamp_story *v, u64 id)
{
	u32 migrates = !draw(s, 3);

	pelton_uclamp_sum_est_dequeue(&v->rq, &v->task[id]);
	say(s, pelton_uclamp_sum_dequeue(POLICY, &v->rq, &v->task[id], migrates));
	v->aged_units[id] = v->units;
	v->at[id] = migrates ? CLAMP_AWAY : CLAMP_ASLEEP;
}

static inline __attribute__((always_inline)) void clamp_join(u64 *w, struct story *s, struct clamp_story *v, u64 id)
{
	clamp_draw(s, &v->task[id]);
	pelton_uclamp_sum_est_enqueue(&v->rq, &v->task[id], (u32)draw(s, 1100));
	pelton_uclamp_sum_enqueue(POLICY, &v->rq, &v->task[id], (u32)draw(s, 1100));
	say(s, pelton_uclamp_sum_calls(POLICY, &v->task[id]));
	v->at[id] = CLAMP_QUEUED;
}

static inline __attribute__((always_inline)) void clamp_step(u64 *w, struct story *s, struct clamp_story *v)
{
	u64 id = draw(s, CLAMP_TASKS), kind = draw(s, 4);

	if (v->at[id] == CLAMP_QUEUED && !kind) {
		clamp_part(w, s, v, id);
		return;
	}
	if (v->at[id] == CLAMP_QUEUED) {
		clamp_draw(s, &v->task[id]);
		pelton_uclamp_sum_update(POLICY, &v->rq, &v->task[id], (u32)draw(s, 1100));
		return;
	}
	clamp_age(s, v, id);
	if (v->at[id] == CLAMP_ASLEEP && !kind) {
		pelton_uclamp_sum_leave(&v->rq, &v->task[id]);
		v->at[id] = CLAMP_AWAY;
	} else if (v->at[id] != CLAMP_ASLEEP || kind != 1) {
		clamp_join(w, s, v, id);
	}
}

static inline __attribute__((always_inline)) void clamp_say(u64 *w, struct story *s, struct clamp_story *v)
{
	u32 util = (u32)v->root.avg.util_avg, clamped = pelton_uclamp_sum_util(POLICY, &v->rq, util);

	say(s, v->rq.queued);
	say(s, v->rq.root);
	say(s, v->rq.debt);
	say(s, v->rq.est);
	say(s, (u32)v->rq.bias);
	say(s, clamped);
	say(s, pelton_uclamp_sum_boost(POLICY, clamped, util, (u32)draw(s, 3000)));
}

static inline __attribute__((always_inline)) void clamp_begin(struct clamp_story *v)
{
	const struct clamp_story none = { 0 };
	u32 id;

	*v = none;
	v->units = 1 << 20;
	for (id = 0; id < CLAMP_TASKS; id++) {
		v->task[id].id = id;
		v->task[id].weight = clamp_weight[id % 3][0];
		v->task[id].inv_weight = clamp_weight[id % 3][1];
	}
}

/* seed */
TEST_OP op_clamp_sums(u64 *w)
{
	struct pelton_policy *pol = (struct pelton_policy *)(w + PELTON_TEST_POLICY_WORD);
	struct story s = { w[1], 0, 0 };
	u32 i, configured = pol->uclamp;

	clamp_begin(&clamp_story);
	pol->uclamp = PELTON_UCLAMP_SUM + (u32)draw(&s, 4);
	for (i = 0; i < STORY_STEPS; i++) {
		clamp_pass(&s, &clamp_story);
		clamp_step(w, &s, &clamp_story);
		clamp_say(w, &s, &clamp_story);
	}
	pol->uclamp = configured;
	return s.said;
}

/* util_avg, util_sum, period_contrib, cut */
TEST_OP op_take_bias(u64 *w)
{
	struct pelton_avg avg = { 0 };

	avg.util_avg = w[1];
	avg.util_sum = (u32)w[2];
	avg.period_contrib = (u32)w[3];
	pelton_uclamp_take_bias(POLICY, &avg, (u32)w[4]);
	return avg.util_avg + 0x100000000ull * avg.util_sum;
}

#define CLAMP_GROUPS 8

/* seed, groups */
TEST_OP op_group_throttled(u64 *w)
{
	struct story s = { w[1], 0, 0 };
	struct pelton_throttled_group groups[CLAMP_GROUPS];
	u32 i, root, util_est, capacity;

	for (i = 0; i < CLAMP_GROUPS; i++) {
		groups[i].util = (u32)draw(&s, 600);
		groups[i].throttle = (u32)draw(&s, 1025);
	}
	root = (u32)draw(&s, 2000);
	util_est = (u32)draw(&s, 700);
	capacity = 1 + (u32)draw(&s, 1024);
	return pelton_group_throttled_util(root, util_est, groups, pelton_min_u32((u32)w[2], CLAMP_GROUPS), capacity);
}
