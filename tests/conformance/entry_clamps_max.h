/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of clamps by maximum. Included by entry.c only, after entry_knob.h, which has the stories. */

#define MAX_TASKS 6
#define MAX_GROUPS 3 /* the first is the root */

struct max_story {
	struct pelton_uclamp_rq rq;
	struct pelton_uclamp_task task[MAX_TASKS];
	u32 group_of[MAX_TASKS];
	u32 group[MAX_GROUPS][PELTON_UCLAMP_IDS];
	u32 system[PELTON_UCLAMP_IDS];
};

/* Larger than the stack of a program in bytecode. */
static struct max_story max_story;

static inline __attribute__((always_inline)) void max_limits(struct max_story *v, u64 id,
							     struct pelton_uclamp_limits *l)
{
	u32 group = v->group_of[id] % MAX_GROUPS;

	l->in_group = group != 0;
	l->group_min = v->group[group][0];
	l->group_max = v->group[group][1];
	l->system[0] = v->system[0];
	l->system[1] = v->system[1];
}

static inline __attribute__((always_inline)) void max_pair(struct story *s, u32 *out)
{
	u32 a = (u32)draw(s, 1025), b = (u32)draw(s, 1025);

	out[0] = pelton_min_u32(a, b);
	out[1] = pelton_max_u32(a, b);
}

/* Its own clamps, or those of its class: a real-time task's lower one is 1024. */
static inline __attribute__((always_inline)) void max_request(struct story *s, struct pelton_uclamp_task *t)
{
	max_pair(s, t->requested);
	t->user_defined[0] = draw(s, 4) != 0;
	t->user_defined[1] = draw(s, 4) != 0;
	if (!t->user_defined[0])
		t->requested[0] = draw(s, 2) ? 0 : 1024;
	if (!t->user_defined[1])
		t->requested[1] = 1024;
}

static inline __attribute__((always_inline)) void max_count_again(u64 *w, struct max_story *v, u64 id)
{
	struct pelton_uclamp_limits l;

	max_limits(v, id, &l);
	pelton_uclamp_rq_dec(&v->rq, &v->task[id]);
	pelton_uclamp_rq_inc(POLICY, &v->rq, &v->task[id], &l);
}

/* A group's clamps become others, and so do those of its tasks. */
static inline __attribute__((always_inline)) void max_regroup(u64 *w, struct story *s, struct max_story *v)
{
	u32 above[PELTON_UCLAMP_IDS], asked[PELTON_UCLAMP_IDS], now[PELTON_UCLAMP_IDS];
	u32 i, changed, group = 1 + (u32)draw(s, MAX_GROUPS - 1);

	max_pair(s, above);
	max_pair(s, asked);
	pelton_uclamp_group(above, asked, now);
	if (pelton_uclamp_inherits(POLICY, (u32)draw(s, 2))) {
		now[0] = above[0];
		now[1] = above[1];
	}
	changed = (now[0] != v->group[group][0]) | (u32)(now[1] != v->group[group][1]) << 1;
	v->group[group][0] = now[0];
	v->group[group][1] = now[1];
	for (i = 0; i < MAX_TASKS; i++) {
		struct pelton_uclamp_limits l;

		if (v->group_of[i] != group)
			continue;
		max_limits(v, i, &l);
		pelton_uclamp_update_active(POLICY, &v->rq, &v->task[i], &l, changed);
	}
}

static inline __attribute__((always_inline)) void max_step(u64 *w, struct story *s, struct max_story *v)
{
	u64 id = draw(s, MAX_TASKS), kind = draw(s, 8);
	u32 queued = v->task[id].active[0];

	if (kind == 0)
		max_request(s, &v->task[id]);
	if (kind == 1)
		v->group_of[id] = (u32)draw(s, MAX_GROUPS);
	if (kind == 2) {
		u64 side = draw(s, 2);

		v->system[side] = draw(s, 3) ? 1024 : (u32)draw(s, 1025);
	}
	if (kind == 3 || kind == 4)
		max_regroup(w, s, v);
	else if (queued && kind > 4)
		pelton_uclamp_rq_dec(&v->rq, &v->task[id]);
	else if (queued || kind > 4)
		max_count_again(w, v, id);
}

static inline __attribute__((always_inline)) void max_say(u64 *w, struct story *s, struct max_story *v)
{
	u64 id = draw(s, MAX_TASKS);
	struct pelton_uclamp_limits l;
	u32 i;

	max_limits(v, id, &l);
	say(s, v->rq.value[0] | (u64)v->rq.value[1] << 16 | (u64)v->rq.idle << 32);
	say(s, pelton_uclamp_eff_value(POLICY, &v->task[id], &l, 0));
	say(s, pelton_uclamp_eff_value(POLICY, &v->task[id], &l, 1));
	say(s, pelton_uclamp_is_used(POLICY, (u32)draw(s, 2)));
	for (i = 0; i < PELTON_UCLAMP_BUCKETS; i++) {
		say(s, v->rq.min[i].tasks ? v->rq.min[i].tasks | (u64)v->rq.min[i].value << 8 : 0);
		say(s, v->rq.max[i].tasks ? v->rq.max[i].tasks | (u64)v->rq.max[i].value << 8 : 0);
	}
}

/* seed */
TEST_OP op_clamp_largest(u64 *w)
{
	const struct max_story none = { 0 };
	struct max_story *v = &max_story;
	struct story s = { w[1], 0, 0 };
	u32 i;

	*v = none;
	v->system[0] = v->system[1] = 1024;
	pelton_uclamp_init_rq(POLICY, &v->rq);
	for (i = 0; i < MAX_TASKS; i++) {
		max_request(&s, &v->task[i]);
		v->group_of[i] = (u32)draw(&s, MAX_GROUPS);
	}
	for (i = 1; i < MAX_GROUPS; i++)
		max_pair(&s, v->group[i]);
	for (i = 0; i < STORY_STEPS; i++) {
		max_say(w, &s, v);
		max_step(w, &s, v);
	}
	max_say(w, &s, v);
	return s.said;
}

#define SCRIPT_TASKS 4
#define SCRIPT_STEPS 10

static const u32 script_clamps[SCRIPT_TASKS][PELTON_UCLAMP_IDS] = {
	{ 100, 300 }, { 180, 1024 }, { 0, 400 }, { 150, 350 }
};

/* Ten steps of four bits, the first in the lowest: task, and 0 nothing, 1 comes, 2 leaves, 3 is limited to 250..320. */
TEST_OP op_clamp_script(u64 *w)
{
	const struct max_story none = { 0 };
	struct max_story *v = &max_story;
	struct pelton_uclamp_limits l = { 1, 0, 1024, { 1024, 1024 } };
	u32 i;

	*v = none;
	pelton_uclamp_init_rq(POLICY, &v->rq);
	for (i = 0; i < SCRIPT_TASKS; i++) {
		v->task[i].requested[0] = script_clamps[i][0];
		v->task[i].requested[1] = script_clamps[i][1];
		v->task[i].user_defined[0] = v->task[i].user_defined[1] = 1;
	}
	for (i = 0; i < SCRIPT_STEPS; i++) {
		struct pelton_uclamp_task *t = &v->task[w[1] >> (4 * i) & 3u];
		u32 what = (u32)(w[1] >> (4 * i + 2)) & 3u;

		if (what == 1 && !t->active[0])
			pelton_uclamp_rq_inc(POLICY, &v->rq, t, &l);
		if (what == 2)
			pelton_uclamp_rq_dec(&v->rq, t);
		if (what == 3) {
			l.group_min = 250;
			l.group_max = 320;
			pelton_uclamp_update_active(POLICY, &v->rq, t, &l, 3);
		}
	}
	return v->rq.value[0] | (u64)v->rq.value[1] << 16 | (u64)v->rq.idle << 32;
}

/* request, 16 bits each, own in bits 32 and 33, in a group in bit 34; group, system: 16 bits each */
TEST_OP op_clamp_effective(u64 *w)
{
	struct pelton_uclamp_limits l = {
		w[1] >> 34 & 1u, w[2] & 0xffffu, w[2] >> 16 & 0xffffu, { w[2] >> 32 & 0xffffu, w[2] >> 48 }
	};
	struct pelton_uclamp_task t = { 0 };

	t.requested[0] = w[1] & 0xffffu;
	t.requested[1] = w[1] >> 16 & 0xffffu;
	t.user_defined[0] = w[1] >> 32 & 1u;
	t.user_defined[1] = w[1] >> 33 & 1u;
	return pelton_uclamp_eff_get(POLICY, &l, &t, 0) | (u64)pelton_uclamp_eff_get(POLICY, &l, &t, 1) << 16;
}
