/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of quotas of task groups. Included by entry.c only, after entry_knob.h, which has the stories. */

#define QUOTA_QUEUES 4

struct quota_story {
	struct pelton_cfs_bandwidth b;
	struct pelton_cfs_runtime q[QUOTA_QUEUES];
	u32 waiting; /* numbers of queues, four bits each, the first lowest */
	u32 tick_ns;
};

/* Larger than the stack of a program in bytecode. */
static struct quota_story quota_story;

static const u64 quota_span[6] = { 1, 999999, 1000000, 4000000, 5000001, 61000000 };
static const u64 quota_limit[4][3] = {
	{ 20000000, 100000000, 0 },
	{ 3000000, 10000000, 2000000 },
	{ 250000000, 100000000, 250000000 },
	{ PELTON_RUNTIME_INF, 50000000, 0 },
};

static inline __attribute__((always_inline)) void quota_wait(u64 *w, struct quota_story *v, u32 id)
{
	if (POLICY->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_HEAD)
		v->waiting = v->waiting << 4 | id;
	else
		v->waiting |= id << 4 * (v->b.nr_waiting - 1);
}

static inline __attribute__((always_inline)) void quota_distribute(struct story *s, struct quota_story *v)
{
	u32 count = v->b.nr_waiting, stay = 0, kept = 0, i;

	for (i = 0; i < QUOTA_QUEUES && i < count; i++) {
		u32 id = (v->waiting >> 4 * i) % QUOTA_QUEUES;

		if ((!i || v->b.runtime_ns) && pelton_distribute_cfs_runtime(&v->b, &v->q[id])) {
			pelton_unthrottle_cfs_rq(&v->b, &v->q[id], s->now);
			say(s, id);
			continue;
		}
		stay |= id << 4 * kept;
		kept++;
	}
	v->waiting = stay;
}

/*
 * Entities of a queue ran, or its first one comes. The interpreter cannot compare with 64 bits of ones, which the
 * compiler would write where two copies of the function leave it too few registers: bytecode has one, and the rule once
 * more.
 */
static inline __attribute__((always_inline)) u32 quota_ask(const struct pelton_policy *pol, struct quota_story *v,
							   u32 id, u32 first, u64 delta, u64 now)
{
#ifdef __bpf__
	u32 at_once = first && pol->bandwidth_throttle == PELTON_BANDWIDTH_THROTTLE_AT_ONCE;
	u64 target = at_once ? 1 : pelton_bandwidth_slice_ns(pol);

	v->q[id].remaining_ns -= first ? 0 : (s64)delta;
	return pelton_extend_cfs_rq_runtime(pol, &v->b, &v->q[id], target, now, v->tick_ns);
#else
	if (first)
		return pelton_enqueue_cfs_rq_runtime(pol, &v->b, &v->q[id], now, v->tick_ns);
	return pelton_account_cfs_rq_runtime(pol, &v->b, &v->q[id], delta, now, v->tick_ns);
#endif
}

static inline __attribute__((always_inline)) void quota_run(u64 *w, struct story *s, struct quota_story *v, u32 id,
							    u32 first)
{
	u64 delta = quota_span[draw(s, 6)];

	delta /= 1 + draw(s, 3);
	say(s, quota_ask(POLICY, v, id, first, delta, s->now));
	if (v->q[id].throttled || v->q[id].remaining_ns > 0)
		return;
	if (draw(s, 3)) {
		u32 said = pelton_throttle_cfs_rq(POLICY, &v->b, &v->q[id], draw(s, 2) != 0, s->now);

		say(s, said);
		if (said & PELTON_BANDWIDTH_THROTTLED)
			quota_wait(w, v, id);
	}
}

static inline __attribute__((always_inline)) void quota_step(u64 *w, struct story *s, struct quota_story *v)
{
	u32 id = (u32)draw(s, QUOTA_QUEUES), kind = (u32)draw(s, 8);

	s->now += quota_span[draw(s, 6)];
	if (v->b.period_active && v->b.period_end_ns <= s->now) {
		if (pelton_cfs_period_timer(POLICY, &v->b, s->now) & PELTON_BANDWIDTH_DISTRIBUTE)
			quota_distribute(s, v);
	}
	if (v->b.slack_started && v->b.slack_end_ns <= s->now) {
		if (pelton_cfs_slack_timer(POLICY, &v->b, s->now) & PELTON_BANDWIDTH_DISTRIBUTE)
			quota_distribute(s, v);
	}
	if (kind < 5)
		quota_run(w, s, v, id, kind == 4);
	else if (kind < 7 && !v->q[id].throttled)
		say(s, pelton_return_cfs_rq_runtime(POLICY, &v->b, &v->q[id], s->now));
	else
		pelton_note_throttled(&v->q[id], s->now);
	say(s, (u64)v->q[id].remaining_ns);
}

static inline __attribute__((always_inline)) void quota_set(u64 *w, struct story *s, struct quota_story *v)
{
	u64 row = draw(s, 4);
	u32 id;

	say(s, pelton_set_cfs_bandwidth(POLICY, &v->b, quota_limit[row], s->now));
	for (id = 0; id < QUOTA_QUEUES; id++)
		pelton_set_cfs_runtime(POLICY, &v->q[id]);
}

static inline __attribute__((always_inline)) void quota_say(struct story *s, const struct quota_story *v)
{
	say(s, v->b.runtime_ns);
	say(s, v->b.period_end_ns);
	say(s, v->b.throttled_time_ns);
	say(s, v->b.burst_time_ns);
	say(s, v->b.nr_periods);
	say(s, v->b.nr_throttled);
	say(s, v->b.nr_burst);
	say(s, v->b.nr_waiting + 16 * v->b.period_active + 32 * v->b.slack_started);
}

static inline __attribute__((always_inline)) void quota_form(struct story *s, struct pelton_policy *pol)
{
	pol->bandwidth_refill = (u32)draw(s, 4);
	pol->bandwidth_throttle = (u32)draw(s, 4);
	pol->bandwidth_slack = (u32)draw(s, 2);
	pol->bandwidth_time = (u32)draw(s, 2);
}

/* seed, tick */
TEST_OP op_cfs_bandwidth(u64 *w)
{
	struct pelton_policy *pol = (struct pelton_policy *)(w + PELTON_TEST_POLICY_WORD);
	const struct quota_story none = { 0 };
	struct story s = { w[1], 0, 1ull << 40 };
	u32 i, refill = pol->bandwidth_refill, throttle = pol->bandwidth_throttle;
	u32 slack = pol->bandwidth_slack, time = pol->bandwidth_time;

	quota_story = none;
	quota_story.tick_ns = (u32)w[2];
	quota_form(&s, pol);
	quota_set(w, &s, &quota_story);
	for (i = 0; i < STORY_STEPS; i++) {
		quota_step(w, &s, &quota_story);
		quota_say(&s, &quota_story);
	}
	pol->bandwidth_refill = refill;
	pol->bandwidth_throttle = throttle;
	pol->bandwidth_slack = slack;
	pol->bandwidth_time = time;
	return s.said;
}
