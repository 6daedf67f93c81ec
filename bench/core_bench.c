/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of the policy core alone: core_bench CASE|all ITERATIONS. One JSON line per case on standard output.
 *
 * Goal: notice when an update gets dearer. Not a goal: absolute claims about a kernel, or about other machines.
 * `hash` folds in every result, so that the work cannot be optimised away or changed unseen: equal iterations give
 * equal hashes on every machine and at every optimisation level. Each case is one function that is never inlined, so
 * that `valgrind --tool=callgrind --toggle-collect=case_NAME` counts its instructions and nothing else.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pelton/pelton.h"
#include "pelton/policy_table.h"
#include "placement.h"

#define NOINLINE __attribute__((noinline))
#define NS_PER_MS 1000000ull
#define REPETITIONS 5
#define DOMAIN_CPUS 4
#define TICK_NS (4 * NS_PER_MS)
#define CLAMPED_TASKS 1000

static const u32 opps_khz[] = { 208000, 432000, 729000, 960000, 1200000 };
#define OPPS (sizeof(opps_khz) / sizeof(opps_khz[0]))

/* One CPU with one task in a domain of four, reused by every case. */
struct bench {
	struct pelton_policy policy;
	struct pelton_rq rq;
	struct pelton_se task;
	struct pelton_sugov_policy domain;
	struct pelton_sugov_cpu cpus[DOMAIN_CPUS];
	struct pelton_cpu_state states[DOMAIN_CPUS];
	struct pelton_perf_terms terms[DOMAIN_CPUS];
	struct pelton_uclamp_sum_rq clamps;
	struct pelton_uclamp_sum_task clamped[CLAMPED_TASKS];
	struct pelton_uclamp_rq buckets;
	struct pelton_uclamp_task bucketed[CLAMPED_TASKS];
	struct pelton_throttled_group groups[PELTON_THROTTLED_GROUPS_MAX];
	u32 clamped_tasks;
	u64 now_ns;
	u64 hash;
};

static void fold(struct bench *b, u64 value)
{
	b->hash = (b->hash ^ value) * 0x100000001b3ull;
}

static void setup_domain(struct bench *b)
{
	pelton_sugov_init(&b->policy, &b->domain, 0);
	b->domain.nr_cpus = DOMAIN_CPUS;
	b->domain.min_khz = opps_khz[0];
	b->domain.max_khz = opps_khz[OPPS - 1];
	b->domain.ref_khz = opps_khz[OPPS - 1];
	b->domain.fast_switch = 1;
	b->domain.freq_invariant = 1;
	for (u32 i = 0; i < DOMAIN_CPUS; i++)
		pelton_cpu_state_fill(&b->rq, 0, 0, 0, &b->states[i]);
}

static void setup(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->hash = 0xcbf29ce484222325ull;
	b->now_ns = 1000 * NS_PER_MS;
	pelton_policy_for_profile(pelton_profile_count() - 1, &b->policy);
	pelton_rq_init(&b->policy, &b->rq, b->now_ns, 512, 700);
	b->task.weight = 1024;
	pelton_rq_enqueue_task(&b->policy, &b->rq, &b->task, b->now_ns, 0, 1);
	pelton_rq_switch_fair(&b->policy, &b->rq, 0, &b->task, b->now_ns, 0, 1);
	setup_domain(b);
}

static void update_task(struct bench *b, u64 step_ns)
{
	struct pelton_ctx ctx = { &b->policy, 0, b->rq.cap_orig, b->rq.freq_scale };

	b->now_ns += step_ns;
	ctx.now = b->now_ns;
	fold(b, pelton_update_load_avg_se(&ctx, &b->task) + b->task.avg.util_avg);
}

NOINLINE void case_pelt_update_same_period(struct bench *b)
{
	update_task(b, 100);
}

NOINLINE void case_pelt_update_next_period(struct bench *b)
{
	update_task(b, NS_PER_MS + 50000);
}

NOINLINE void case_tick(struct bench *b)
{
	b->now_ns += NS_PER_MS;
	fold(b, pelton_rq_tick_fair(&b->policy, &b->rq, &b->task, b->now_ns, 0) + b->rq.cfs.avg.util_avg);
}

/* The running task goes to sleep, the CPU idles, the task comes back. */
NOINLINE void case_sleep_and_wake(struct bench *b)
{
	const struct pelton_policy *pol = &b->policy;

	b->now_ns += 2 * NS_PER_MS;
	fold(b, pelton_rq_dequeue_task(pol, &b->rq, &b->task, b->now_ns, 0, 0, PELTON_DEQUEUE_SLEEP));
	pelton_rq_switch_idle(pol, &b->rq, &b->task, b->now_ns, 0, 0);
	b->now_ns += 6 * NS_PER_MS;
	fold(b, pelton_rq_enqueue_task(pol, &b->rq, &b->task, b->now_ns, 0, 1));
	pelton_rq_switch_fair(pol, &b->rq, 0, &b->task, b->now_ns, 0, 1);
	fold(b, b->rq.cfs.avg.util_avg + b->rq.cfs.util_est);
}

/* The governor is called for one CPU and decides for its domain of four. */
NOINLINE void case_schedutil_decision(struct bench *b)
{
	struct pelton_decision out;

	b->now_ns += NS_PER_MS;
	b->states[0].util_cfs = (b->states[0].util_cfs + 37) % 512;
	if (pelton_sugov_begin(&b->policy, &b->domain, &b->cpus[0], 0, b->now_ns, TICK_NS, 0, 1) != PELTON_VERDICT_OPEN)
		return;
	pelton_sugov_evaluate(&b->policy, &b->domain, b->cpus, b->states, 0, b->now_ns, TICK_NS, opps_khz, OPPS,
			      b->terms, &out);
	fold(b, out.perf ^ ((u64)out.resolved_khz << 20) ^ out.commit);
}

/* From an event of a CPU to the decision for its domain of four: filter, gate, evaluation when both let it through. */
static void event(struct bench *b)
{
	struct pelton_decision out;
	u32 told;

	b->now_ns += NS_PER_MS / 4;
	b->rq.cfs.avg.util_avg = (b->rq.cfs.avg.util_avg + 7) % 512;
	b->states[0].util_cfs = (u32)b->rq.cfs.avg.util_avg;
	told = pelton_hook_event(&b->policy, &b->domain, &b->cpus[0], &b->rq, b->now_ns, PELTON_SITE_DECAY, 0);
	fold(b, told);
	if (!(told & PELTON_HOOK_DELIVERED))
		return;
	if (pelton_sugov_begin(&b->policy, &b->domain, &b->cpus[0], 0, b->now_ns, TICK_NS,
			       told >> PELTON_HOOK_FLAGS_SHIFT, 1) != PELTON_VERDICT_OPEN)
		return;
	pelton_sugov_evaluate(&b->policy, &b->domain, b->cpus, b->states, 0, b->now_ns, TICK_NS, opps_khz, OPPS,
			      b->terms, &out);
	fold(b, out.perf ^ ((u64)out.resolved_khz << 20) ^ out.commit);
}

static void prepare_mainline(struct bench *b)
{
	b->domain.rate_limit_ns = NS_PER_MS;
}

static void prepare_composite(struct bench *b)
{
	prepare_mainline(b);
	b->policy.hook_filter = PELTON_HOOK_FILTER_COMPOSITE;
	b->policy.gate = PELTON_GATE_UP_DOWN;
	b->policy.up_rate_limit_us = 0;
	b->policy.down_rate_limit_us = 20000;
	b->policy.gate_bypass = PELTON_GATE_BYPASS_R3B;
	b->policy.gate_peak = 1;
	b->policy.gate_window_min_us = 20000;
	b->policy.gate_window_max_us = 20000;
	pelton_gate_init(&b->policy, &b->domain, 5000);
}

NOINLINE void case_event_mainline(struct bench *b)
{
	event(b);
}

NOINLINE void case_event_composite(struct bench *b)
{
	event(b);
}

static const struct pelton_uclamp_limits no_limits = {
	0, 0, PELTON_CAPACITY_SCALE, { PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE }
};

static void prepare_clamps(struct bench *b, u32 uclamp, u32 tasks)
{
	b->policy.uclamp = uclamp;
	b->clamped_tasks = tasks;
	pelton_uclamp_init_rq(&b->policy, &b->buckets);
	for (u32 i = 0; i < tasks; i++) {
		b->clamped[i].id = i;
		b->clamped[i].weight = 1024;
		b->clamped[i].inv_weight = 1 << 22;
		b->clamped[i].max = 100 + i % 900;
		b->bucketed[i].requested[0] = i % 1024;
		b->bucketed[i].requested[1] = PELTON_CAPACITY_SCALE;
		pelton_uclamp_sum_enqueue(&b->policy, &b->clamps, &b->clamped[i], 300 + i % 700);
		pelton_uclamp_rq_inc(&b->policy, &b->buckets, &b->bucketed[i], &no_limits);
	}
}

static void prepare_groups(struct bench *b, u32 groups)
{
	b->clamped_tasks = groups;
	for (u32 i = 0; i < groups; i++) {
		b->groups[i].throttle = 16;
		b->groups[i].util = 10 + i;
	}
}

/* One of the queued tasks is updated, sleeps and wakes; then the CPU is read. */
static void sum_event(struct bench *b)
{
	struct pelton_uclamp_sum_task *t = &b->clamped[b->now_ns++ % b->clamped_tasks];
	struct pelton_cpu_state state = b->states[0];
	u32 util = (u32)(b->now_ns * 37 % 1000);

	pelton_uclamp_sum_update(&b->policy, &b->clamps, t, util);
	fold(b, pelton_uclamp_sum_dequeue(&b->policy, &b->clamps, t, 0));
	pelton_uclamp_sum_enqueue(&b->policy, &b->clamps, t, util);
	state.util_cfs = 900;
	pelton_uclamp_sum_state(&b->policy, &b->clamps, 0, &state);
	fold(b, state.util_cfs);
}

/* The same where the largest holds: its bucket is left and joined again. */
static void max_event(struct bench *b)
{
	struct pelton_uclamp_task *t = &b->bucketed[b->now_ns++ % b->clamped_tasks];

	pelton_uclamp_rq_dec(&b->buckets, t);
	fold(b, b->buckets.value[0]);
	pelton_uclamp_rq_inc(&b->policy, &b->buckets, t, &no_limits);
	fold(b, b->buckets.value[0] + b->now_ns);
}

/* Android: the CPU is read, group by group. */
static void throttled_read(struct bench *b)
{
	b->groups[0].util = (u32)(b->now_ns++ % 500);
	fold(b, pelton_group_throttled_util(900, 200, b->groups, b->clamped_tasks, 1024));
}

/* Cases of a form with so many tasks queued: X(name in the case, event, value of the switch, tasks). */
#define CLAMP_SIZES(X, name, event, value) \
	X(name, event, value, 1) X(name, event, value, 10) X(name, event, value, 100) X(name, event, value, 1000)
#define CLAMP_CASES(X) \
	CLAMP_SIZES(X, max, max_event, PELTON_UCLAMP_MAX) \
	CLAMP_SIZES(X, sum, sum_event, PELTON_UCLAMP_SUM) \
	CLAMP_SIZES(X, bias, sum_event, PELTON_UCLAMP_BIAS) \
	CLAMP_SIZES(X, bias_weighted, sum_event, PELTON_UCLAMP_BIAS_WEIGHTED) \
	CLAMP_SIZES(X, debt, sum_event, PELTON_UCLAMP_DEBT)
#define GROUP_CASES(X) X(1) X(10) X(64)

#define DEFINE_CLAMP_CASE(name, event, value, tasks) \
	static void prepare_clamps_##name##_##tasks(struct bench *b) \
	{ \
		prepare_clamps(b, value, tasks); \
	} \
	NOINLINE void case_clamps_##name##_##tasks(struct bench *b) \
	{ \
		event(b); \
	}
#define DEFINE_GROUP_CASE(groups) \
	static void prepare_groups_##groups(struct bench *b) \
	{ \
		prepare_groups(b, groups); \
	} \
	NOINLINE void case_groups_throttled_##groups(struct bench *b) \
	{ \
		throttled_read(b); \
	}
CLAMP_CASES(DEFINE_CLAMP_CASE)
GROUP_CASES(DEFINE_GROUP_CASE)

/* Wake-ups on the machines of placement.h, made in advance. */
#define PLACE_RECORDS 64

static struct pelton_placement place_records[PLACE_RECORDS];

static void prepare_place(struct bench *b, u32 size, u32 state, u32 fork)
{
	u32 i;

	place_rng = 1;
	place_policy = &b->policy;
	make_place_machine(&place_sizes[size]);
	for (i = 0; i < PLACE_RECORDS; i++) {
		place_record = &place_records[i];
		make_place_case(state, fork);
		if (place_sizes[size].energy)
			fill_energy();
		else
			fill_record();
	}
}

static void place(struct bench *b)
{
	struct pelton_placed placed;

	b->now_ns++;
	fold(b, b->now_ns + pelton_select_task_rq_fair(&b->policy, &place_records[b->now_ns % PLACE_RECORDS], &placed));
}

/* X(name in the case, size, state, new task) */
#define PLACE_STATES(X, name, size) X(name##_idle, size, 0, 0) X(name##_half, size, 1, 0) X(name##_busy, size, 2, 0)
#define PLACE_CASES(X) \
	PLACE_STATES(X, smt_8, 0) \
	PLACE_STATES(X, smt_64, 1) \
	PLACE_STATES(X, smt_384, 2) \
	PLACE_STATES(X, energy_8, 3) \
	X(fork_smt_8_half, 0, 1, 1) \
	X(fork_smt_64_half, 1, 1, 1)

#define DEFINE_PLACE_CASE(name, size, state, fork) \
	static void prepare_place_##name(struct bench *b) \
	{ \
		prepare_place(b, size, state, fork); \
	} \
	NOINLINE void case_place_##name(struct bench *b) \
	{ \
		place(b); \
	}
PLACE_CASES(DEFINE_PLACE_CASE)

static const struct bench_case {
	const char *name;
	void (*run)(struct bench *b);
	void (*prepare)(struct bench *b);
} cases[] = { { "pelt_update_same_period", case_pelt_update_same_period, 0 },
	      { "pelt_update_next_period", case_pelt_update_next_period, 0 },
	      { "tick", case_tick, 0 },
	      { "sleep_and_wake", case_sleep_and_wake, 0 },
	      { "schedutil_decision", case_schedutil_decision, 0 },
	      { "event_mainline", case_event_mainline, prepare_mainline },
	      { "event_composite", case_event_composite, prepare_composite },
#define LIST_CLAMP_CASE(name, event, value, tasks) \
	{ "clamps_" #name "_" #tasks, case_clamps_##name##_##tasks, prepare_clamps_##name##_##tasks },
#define LIST_GROUP_CASE(groups) \
	{ "groups_throttled_" #groups, case_groups_throttled_##groups, prepare_groups_##groups },
#define LIST_PLACE_CASE(name, size, state, fork) { "place_" #name, case_place_##name, prepare_place_##name },
	      CLAMP_CASES(LIST_CLAMP_CASE) GROUP_CASES(LIST_GROUP_CASE) PLACE_CASES(LIST_PLACE_CASE) };

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/* Fastest of a few repetitions: the others were disturbed. */
static void measure(const struct bench_case *c, u64 iterations)
{
	u64 best_ns = ~0ull, hash = 0;

	for (int repetition = 0; repetition < REPETITIONS; repetition++) {
		struct bench b;
		u64 start_ns, spent_ns;

		setup(&b);
		if (c->prepare)
			c->prepare(&b);
		start_ns = clock_ns();
		for (u64 i = 0; i < iterations; i++)
			c->run(&b);
		spent_ns = clock_ns() - start_ns;
		best_ns = spent_ns < best_ns ? spent_ns : best_ns;
		hash = b.hash;
	}
	printf("{\"bench\": \"core/%s\", \"repetitions\": %d, \"ops\": %llu, \"ns\": %llu, \"hash\": \"%016llx\"}\n",
	       c->name, REPETITIONS, iterations, best_ns, hash);
}

int main(int argc, char **argv)
{
	u64 iterations = argc == 3 ? strtoull(argv[2], 0, 10) : 0;
	u32 found = 0;

	for (u32 i = 0; iterations && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], "all") && strcmp(argv[1], cases[i].name))
			continue;
		measure(&cases[i], iterations);
		found++;
	}
	if (!found)
		fprintf(stderr, "usage: core_bench CASE|all ITERATIONS\n");
	return found ? 0 : 2;
}
