/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations of SchedTune and of the governors beside schedutil. Included by entry.c only.
 *
 * A story is a row of steps drawn from a seed, on records of its own; the answer depends on every step.
 */

#define STORY_STEPS 24

struct story {
	u64 seed;
	u64 said;
	u64 now;
};

/* The next number of the story, below `n`. */
static inline __attribute__((always_inline)) u64 draw(struct story *s, u64 n)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (s->seed >> 33) % n;
}

static inline __attribute__((always_inline)) void say(struct story *s, u64 what)
{
	s->said = (s->said ^ what) * 0x100000001b3ull;
}

/* full, signal, boost */
TEST_OP op_boost_margin(u64 *w)
{
	u32 full = (u32)w[1], signal = (u32)w[2];
	s32 boost = (s32)(u32)w[3];

	return (u32)pelton_boost_margin(POLICY, full, signal, boost) | (u64)pelton_boosted(POLICY, full, signal, boost)
									       << 32;
}

/* form, boost, change of energy, of capacity, lowest and highest power, row for the second region */
TEST_OP op_boost_filter(u64 *w)
{
	u32 form = (u32)w[1], boost = (u32)w[2];
	s32 e = (s32)(u32)w[3], c = (s32)(u32)w[4];
	u32 said = pelton_filter_accepts(form, boost, e, c);

	said |= pelton_filter_accepts_by(form, (u32)w[7], 9 - (u32)w[7], e, c) << 1;
	said += 4 * (u32)pelton_filter_normalize(e, (u32)w[5], (u32)w[6]);
	return said + 7 * (u64)pelton_filter_payoff(form, (u32)w[7], e, c);
}

/* state, boost */
TEST_OP op_boost_state(u64 *w)
{
	pelton_boost_state(POLICY, STATE(1), (s32)(u32)w[2]);
	return STATE(1)->util_cfs;
}

static inline __attribute__((always_inline)) void boost_step(u64 *w, struct story *s, struct pelton_boost_cpu *b)
{
	u32 idx = (u32)draw(s, PELTON_BOOST_GROUPS), other = (u32)draw(s, PELTON_BOOST_GROUPS);
	u64 kind = draw(s, 8);

	s->now += draw(s, 30000000);
	if (kind < 2)
		pelton_boost_write(POLICY, b, idx, (s32)draw(s, 201) - 100, s->now);
	else if (kind < 5)
		pelton_boost_tasks_update(POLICY, b, idx, 1, draw(s, 2) != 0, s->now);
	else if (kind < 7)
		pelton_boost_tasks_update(POLICY, b, idx, 0, 0, s->now);
	else
		pelton_boost_move(POLICY, b, idx, other, s->now);
	say(s, (u32)b->boost_max);
	say(s, (u32)pelton_boost_cpu(POLICY, b, s->now) + b->group[idx].tasks);
}

/* seed, now */
TEST_OP op_boost_groups(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct pelton_boost_cpu b = { 0 };
	u32 i;

	for (i = 0; i < STORY_STEPS; i++)
		boost_step(w, &s, &b);
	return s.said;
}

/* seed, utilization of the task, the same with its boost, boosted */
TEST_OP op_prefer_idle(u64 *w)
{
	struct story s = { w[1], 0, 0 };
	struct pelton_prefer_idle search = { (u32)w[4], (u32)w[2], (u32)w[3], 0, 0, 0, 0, 0 };
	u32 i;

	for (i = 0; i < 8; i++) {
		struct pelton_idle_candidate c = { i, 1u << (8 + draw(&s, 3)), 0, 0, 0, 0 };

		c.util = (u32)draw(&s, 1200);
		c.util >>= draw(&s, 4);
		c.idle = draw(&s, 3) > 0;
		c.state = (u32)draw(&s, 3);
		pelton_prefer_idle_look(&search, &c);
		say(&s, search.found ? search.cpu : 64);
	}
	return s.said;
}

#define STORY_CPUS 3

struct vote_story {
	struct pelton_sched_dvfs sd;
	struct pelton_vote votes[STORY_CPUS];
};

static inline __attribute__((always_inline)) void vote_step(u64 *w, struct story *s, struct vote_story *v,
							    const u32 *khz)
{
	u32 cpu = (u32)draw(s, STORY_CPUS), cap = (u32)draw(s, 1281), said;
	u64 kind = draw(s, 8);

	s->now += draw(s, 3 * v->sd.window_ns / 4 + 2);
	if (!kind) {
		pelton_sched_dvfs_reset(&v->votes[cpu]);
		return;
	}
	if (POLICY->governor == PELTON_GOVERNOR_SCHED_DVFS_V7) {
		v->votes[cpu].cfs = cap / 2;
		v->votes[cpu].rt = cap / 8;
		v->votes[cpu].dl = cap / 16;
		said = pelton_sched_dvfs_update(&v->sd, v->votes, cpu, kind > 1, khz, PELTON_TEST_OPPS);
	} else {
		said = pelton_sched_dvfs_set_cap(&v->sd, v->votes, cpu, cap, 1024 >> (kind & 1), s->now);
	}
	say(s, said + 8 * (u64)v->sd.requested_khz);
	if (said == PELTON_VOTE_DRIVE) {
		s->now = pelton_sched_dvfs_due_ns(POLICY, &v->sd, s->now);
		pelton_sched_dvfs_done(
			&v->sd, pelton_sched_dvfs_resolve(&v->sd, khz, PELTON_TEST_OPPS, v->sd.requested_khz), s->now);
	}
	say(s, pelton_sched_dvfs_tick(&v->sd, 1024, cap) + v->sd.throttle_ns);
}

/* seed, now, domain, latency */
TEST_OP op_sched_dvfs(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct vote_story v = { 0 };
	const u32 *khz = DOMAIN(3)->khz;
	u32 i;

	v.sd.window_ns = pelton_sched_dvfs_window_ns(POLICY, w[4]);
	v.sd.cur_khz = khz[draw(&s, PELTON_TEST_OPPS)];
	v.sd.min_khz = khz[draw(&s, 3)];
	v.sd.max_khz = khz[PELTON_TEST_OPPS - 1 - draw(&s, 3)];
	v.sd.nr_cpus = STORY_CPUS;
	for (i = 0; i < STORY_STEPS; i++)
		vote_step(w, &s, &v, khz);
	return s.said;
}

struct sample_story {
	struct pelton_dbs dbs;
	struct pelton_dbs_cpu cpu;
	struct pelton_dbs_times times;
};

static inline __attribute__((always_inline)) void sample_time(struct story *s, struct sample_story *v)
{
	u64 wall_us = draw(s, 6 * (u64)v->dbs.sampling_us), idle_us, waits_us;

	idle_us = draw(s, 4) ? draw(s, wall_us + 2) : wall_us / 16;
	waits_us = draw(s, idle_us + 1);
	v->times.wall_us += wall_us;
	v->times.idle_us += idle_us - waits_us;
	v->times.iowait_us += waits_us;
	v->times.nice_ns += draw(s, 500 * wall_us + 1);
	s->now += wall_us * 1000;
}

static inline __attribute__((always_inline)) void sample_step(u64 *w, struct story *s, struct sample_story *v,
							      const u32 *khz)
{
	sample_time(s, v);
	say(s, pelton_dbs_is_due(&v->dbs, s->now));
	if (pelton_dbs_measures(&v->dbs)) {
		pelton_dbs_begin(&v->dbs, s->now);
		pelton_dbs_load(POLICY, &v->dbs, &v->cpu, &v->times);
	}
	v->dbs.cur_khz = pelton_governor_sampled(POLICY, &v->dbs, khz, PELTON_TEST_OPPS);
	say(s, v->dbs.load + 128 * (u64)v->dbs.cur_khz);
	say(s, (u64)v->dbs.delay_us + v->dbs.requested_khz);
}

/* seed, now, domain, latency, tick_ns */
TEST_OP op_sampling(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct sample_story v = { 0 };
	const u32 *khz = DOMAIN(3)->khz;
	u32 i;

	v.dbs.sampling_us =
		(u32)pelton_min_u64(pelton_dbs_sampling_us(POLICY, w[4], (u32)draw(&s, 2) * 3000, w[5]), 1u << 24);
	v.dbs.delay_us = v.dbs.sampling_us;
	v.dbs.cur_khz = khz[draw(&s, PELTON_TEST_OPPS)];
	v.dbs.min_khz = khz[draw(&s, 3)];
	v.dbs.max_khz = khz[PELTON_TEST_OPPS - 1 - draw(&s, 3)];
	v.dbs.hw_min_khz = khz[0];
	v.dbs.hw_max_khz = khz[PELTON_TEST_OPPS - 1];
	v.dbs.descends = (u32)draw(&s, 2);
	v.dbs.rate_mult = 1;
	v.dbs.requested_khz = v.dbs.cur_khz;
	say(&s, v.dbs.sampling_us + pelton_governor_start_khz(POLICY, &v.dbs, khz, PELTON_TEST_OPPS));
	say(&s,
	    pelton_governor_samples(POLICY) | pelton_governor_votes(POLICY) << 1 | pelton_governor_timers(POLICY) << 2);
	for (i = 0; i < STORY_STEPS; i++)
		sample_step(w, &s, &v, khz);
	return s.said;
}
