/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A story of the interactive governor: timers, pulses, limits and changes of frequency on a domain of two CPUs.
 * Included by entry.c only.
 */

/* The stack of a bytecode program has no room for more. */
#define INTERACTIVE_CPUS 2

struct interactive_story {
	struct pelton_interactive d;
	struct pelton_interactive_cpu cpus[INTERACTIVE_CPUS];
	struct pelton_dbs_times times; /* of each of them */
};

/* Time passes, some of it idle. */
static inline __attribute__((always_inline)) void interactive_pass(struct story *s, struct interactive_story *v)
{
	u64 wall_us = draw(s, 4) ? draw(s, 60000) : draw(s, 300000), idle_us;

	idle_us = draw(s, 3) ? draw(s, wall_us + 2) : wall_us / 128;
	v->times.wall_us += wall_us;
	v->times.idle_us += idle_us / 2;
	v->times.iowait_us += idle_us - idle_us / 2;
}

/* The driver changes the frequency: what was done until then was done at the old one. */
static inline __attribute__((always_inline)) void interactive_drive(u64 *w, struct interactive_story *v, u32 khz)
{
	u32 i;

	for (i = 0; i < INTERACTIVE_CPUS; i++)
		pelton_interactive_account(POLICY, &v->d, &v->cpus[i], &v->times);
	v->d.cur_khz = khz;
}

static inline __attribute__((always_inline)) u32 interactive_boosts(u64 *w, struct interactive_story *v)
{
	u64 now_us = v->times.wall_us;
	u32 woken = 0, i;

	if (!pelton_interactive_pulse(POLICY, &v->d, now_us))
		return 0;
	for (i = 0; i < INTERACTIVE_CPUS; i++)
		woken |= pelton_interactive_boost(&v->d, &v->cpus[i], now_us);
	return woken;
}

static inline __attribute__((always_inline)) void interactive_limit(u64 *w, struct story *s,
								    struct interactive_story *v, const u32 *khz)
{
	u32 i;

	v->d.min_khz = khz[draw(s, 3)];
	v->d.max_khz = khz[PELTON_TEST_OPPS - 1 - draw(s, 3)];
	if (v->d.cur_khz > v->d.max_khz || v->d.cur_khz < v->d.min_khz)
		interactive_drive(w, v, v->d.cur_khz > v->d.max_khz ? v->d.max_khz : v->d.min_khz);
	for (i = 0; i < INTERACTIVE_CPUS; i++)
		pelton_interactive_limits(&v->d, &v->cpus[i]);
}

static inline __attribute__((always_inline)) void interactive_expire(u64 *w, struct story *s,
								     struct interactive_story *v, const u32 *khz)
{
	u32 cpu = (u32)draw(s, INTERACTIVE_CPUS), woken, next;
	struct pelton_interactive_cpu *c = &v->cpus[cpu];

	woken = pelton_interactive_timer(POLICY, &v->d, c, &v->times, khz, PELTON_TEST_OPPS);
	pelton_interactive_rearm(POLICY, c, &v->times);
	say(s, c->load + 1024 * (u64)c->target_khz + pelton_interactive_watches(POLICY, &v->d, c));
	say(s, woken + 2 * (u64)c->floor_khz);
	next = woken ? pelton_interactive_adjust(&v->d, v->cpus, INTERACTIVE_CPUS, khz, PELTON_TEST_OPPS) : 0;
	if (next)
		interactive_drive(w, v, next);
	say(s, next + c->pol_hispeed_us + 3 * c->pol_floor_us);
}

static inline __attribute__((always_inline)) void interactive_step(u64 *w, struct story *s, struct interactive_story *v,
								   const u32 *khz)
{
	u64 kind = draw(s, 16);

	interactive_pass(s, v);
	if (kind == 0)
		say(s, interactive_boosts(w, v));
	else if (kind == 1)
		interactive_limit(w, s, v, khz);
	else
		interactive_expire(w, s, v, khz);
}

/* seed, now, domain */
TEST_OP op_interactive(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct interactive_story v = { 0 };
	const u32 *khz = DOMAIN(3)->khz;
	u32 i;

	pelton_interactive_start(POLICY, &v.d, khz[0], khz[PELTON_TEST_OPPS - 1], khz[draw(&s, PELTON_TEST_OPPS)]);
	v.times.wall_us = 1u << 30;
	v.times.idle_us = draw(&s, 1u << 20);
	for (i = 0; i < INTERACTIVE_CPUS; i++)
		pelton_interactive_join(POLICY, &v.d, &v.cpus[i], &v.times);
	for (i = 0; i < STORY_STEPS; i++)
		interactive_step(w, &s, &v, khz);
	return s.said;
}
