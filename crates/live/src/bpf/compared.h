/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's load tracking beside the core's: a state that a tracepoint publishes has to follow from the one before.
 *
 *   published   pelt_se_tp, pelt_rt_tp, pelt_dl_tp: after an update that crossed the end of a period, and only then
 *   looks       moments between them at which inputs change, or are about to: the state that an update left which
 *               stayed within its period is read there, and has to follow as well
 *
 * What follows is the core's: an update from the last state with the inputs that held since, an update as of a sleeper,
 * a new weight, the position and the sums that a queue gives to what joins it. A look that follows from nothing makes
 * the next published state of its task different, whatever that one follows from.
 *
 * Where a state shows that there was a switch, a wake-up or a move that was not seen, and it does not follow, it is
 * counted as unseen: nothing is known of what happened then.
 *
 * Source: kernel/sched/pelt.c of Linux 5.10, 6.1, 6.12 and 7.2 (__update_load_avg_se, __update_load_avg_blocked_se,
 * update_rt_rq_load_avg, update_dl_rq_load_avg), rt.c (switched_to_rt) and fair.c of the same (attach_entity_load_avg,
 * reweight_entity, migrate_task_rq_fair, set_next_entity, put_prev_entity, dequeue_entity, update_curr).
 */
#ifndef PELTON_LIVE_COMPARED_H
#define PELTON_LIVE_COMPARED_H

#include "compared_words.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq___stop {
	struct task_struct *stop; /* its class is above all others, whatever its priority */
};

#pragma clang attribute pop

/* The rules of the running kernel; decisions have those that were asked for. */
const volatile struct pelton_policy policy_of_kernel SEC(".rodata.kernel");
/* For tests: old time counts as if it were forgotten twice as fast. */
const volatile u32 faulty SEC(".rodata.faulty");

/* Set when every program is attached: before, some of what happens is not seen. */
u64 begun SEC(".bss.begun");
/* Entities say which queue they are on: only with CONFIG_FAIR_GROUP_SCHED. Without, none is known to run. */
u64 able SEC(".bss.able");

HIDDEN u64 can_compare(void)
{
	return bpf_core_field_exists(struct sched_entity, cfs_rq) && bpf_core_field_exists(struct cfs_rq, rq);
}

enum { ENTITY_ON_RQ = 1, ENTITY_RUNNING = 2, ENTITY_DELAYED = 4 };
enum { TASK_ON_RQ_MIGRATING = 2 };

LIVE_RECORD(live_compared, LIVE_COMPARED);
LIVE_RECORD(live_difference, LIVE_DIFFERENCE);

/* A state as it was read. */
struct live_seen_avg {
	struct pelton_avg avg;
	u64 object;
	u64 queue;
	u64 rq;
	u64 weight;
	u32 flags;
	u32 site;
	u32 cpu; /* of the queue */
	u32 reserved;
	u64 clock;
};

/* The state before it. */
struct live_kept {
	struct pelton_avg avg;
	u64 queue;
	u64 weight;
	u32 flags;
	u64 rq;
	u64 clock; /* of its queue when it was looked at */
	u8 open;   /* a look since the last published state followed from nothing */
	u8 gap;    /* a switch, a wake-up or a move since then was not seen */
	u16 reserved;
	u32 reserved_too;
};

/* By the address of the entity: a tracepoint has no task. One that was not seen for long makes room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct live_kept);
} entities SEC(".maps");

/* Entity that was switched to last, of each CPU. */
u64 switched_to[PELTON_PLACE_CPUS_MAX] SEC(".bss.switched");

struct live_kept classes[PELTON_PLACE_CPUS_MAX][2] SEC(".bss.classes");
struct live_compared compared[PELTON_PLACE_CPUS_MAX][SIGNALS] SEC(".bss.compared");
struct live_difference differences[SIGNALS] SEC(".bss.differ");

/* Tasks on their way to a CPU: where they join is seen at its queue's tracepoint. */
#define ARRIVALS 64u
struct {
	u64 expected; /* those of `of` that are on their way, one bit each */
	u64 of[ARRIVALS];
} arrivals[PELTON_PLACE_CPUS_MAX] SEC(".bss.arrivals");

/* Clocks at which tasks left a CPU's queue: a new weight is given to one that is off its queue for that. */
#define MOMENTS 32u
struct {
	u64 next;
	u64 at[MOMENTS];
} moments[PELTON_PLACE_CPUS_MAX] SEC(".bss.moments");

HIDDEN const struct pelton_policy *kernels_policy(void)
{
	const struct pelton_policy *p = (const struct pelton_policy *)&policy_of_kernel;

	asm("" : "+r"(p));
	return p;
}

HIDDEN u32 is_equal(const struct pelton_avg *a, const struct pelton_avg *b)
{
	return a->last_update_time_ns == b->last_update_time_ns && a->load_sum == b->load_sum &&
	       a->runnable_sum == b->runnable_sum && a->util_sum == b->util_sum &&
	       a->period_contrib == b->period_contrib && a->load_avg == b->load_avg &&
	       a->runnable_avg == b->runnable_avg && a->util_avg == b->util_avg;
}

HIDDEN void copy_avg(struct pelton_avg *to, const struct pelton_avg *from)
{
	to->last_update_time_ns = from->last_update_time_ns;
	to->load_sum = from->load_sum;
	to->runnable_sum = from->runnable_sum;
	to->util_sum = from->util_sum;
	to->period_contrib = from->period_contrib;
	to->load_avg = from->load_avg;
	to->runnable_avg = from->runnable_avg;
	to->util_avg = from->util_avg;
}

/* A fault on purpose: the sums of `avg` forget the periods until `now` once more. */
HIDDEN void forget(struct pelton_avg *avg, u64 now)
{
	u64 units = (now - avg->last_update_time_ns) >> PELTON_UNIT_SHIFT;

	if (faulty)
		pelton_decay_sums(avg, (units + avg->period_contrib) / PELTON_PERIOD_UNITS);
}

HIDDEN void begin_again(struct pelton_se *se, u64 weight, u32 flags)
{
	se->weight = weight;
	se->on_rq = !!(flags & ENTITY_ON_RQ);
	se->running = !!(flags & ENTITY_RUNNING);
	se->nr_runnable = se->on_rq && !(flags & ENTITY_DELAYED);
}

HIDDEN void begin_from(struct pelton_se *se, const struct live_kept *k, u64 weight, u32 flags)
{
	copy_avg(&se->avg, &k->avg);
	begin_again(se, weight, flags);
}

HIDDEN void update_to(struct pelton_se *se, u64 now)
{
	struct pelton_ctx ctx = { kernels_policy(), now, PELTON_CAPACITY_SCALE, PELTON_CAPACITY_SCALE };

	forget(&se->avg, now);
	pelton_update_load_avg_se(&ctx, se);
}

/* One update from the state before to the time of the one seen, as the core makes it of these inputs. */
APART u32 updated(const struct live_kept *k, const struct live_seen_avg *s, u32 flags, struct pelton_avg *out)
{
	struct pelton_se se = {};

	if (!k || !s || !out)
		return 0;
	begin_from(&se, k, s->weight, flags);
	update_to(&se, s->avg.last_update_time_ns);
	if (k->weight != s->weight && se.avg.load_avg != s->avg.load_avg)
		pelton_reweight_avg(kernels_policy(), &se);
	copy_avg(out, &se.avg);
	return is_equal(out, &s->avg);
}

/* The same with an update in between, at `at`, after which it has its weight, and from which on other inputs hold. */
APART u32 updated_twice(const struct live_kept *k, const struct live_seen_avg *s, u32 since, u64 at)
{
	struct pelton_se se = {};

	if (!k || !s || at <= k->avg.last_update_time_ns || at >> 10 > s->avg.last_update_time_ns >> 10)
		return 0;
	begin_from(&se, k, k->weight, k->flags);
	update_to(&se, at);
	begin_again(&se, s->weight, since);
	if (k->weight != s->weight)
		pelton_reweight_avg(kernels_policy(), &se);
	update_to(&se, s->avg.last_update_time_ns);
	return is_equal(&se.avg, &s->avg);
}

/*
 * Was it given another weight while it waited, or did its delayed dequeue end between the beginning of a wake-up and
 * its end? Both are at a moment at which something left the queue.
 */
HIDDEN u32 left_meanwhile(const struct live_kept *k, const struct live_seen_avg *s)
{
	u32 i, cpu = s->cpu & (PELTON_PLACE_CPUS_MAX - 1u), weighed = k->weight != s->weight;
	u32 delayed = k->flags & ENTITY_DELAYED;

	if (!weighed && !delayed)
		return 0;
	bpf_for (i, 0, MOMENTS) {
		u64 at = moments[cpu].at[i & (MOMENTS - 1u)];

		if (weighed && updated_twice(k, s, k->flags, at))
			return 1;
		if (delayed && updated_twice(k, s, 0, at))
			return 1;
	}
	return 0;
}

/* The averages of before with the position that was seen: what joins has its queue's. */
APART u32 joined(const struct live_kept *k, const struct live_seen_avg *s, struct pelton_avg *out)
{
	struct pelton_cfs_rq queue = {};
	struct pelton_se se = {};

	if (!k || !s || !out)
		return 0;
	queue.avg.last_update_time_ns = s->avg.last_update_time_ns;
	queue.avg.period_contrib = s->avg.period_contrib;
	copy_avg(&se.avg, &k->avg);
	se.weight = s->weight;
	pelton_align_sums(kernels_policy(), &queue, &se);
	copy_avg(out, &se.avg);
	return is_equal(out, &s->avg);
}

/* Left its queue, and is on none yet: averages are all that it takes along. */
HIDDEN u32 has_left(const struct live_kept *k, const struct live_seen_avg *s)
{
	return !s->avg.last_update_time_ns && k->avg.load_avg == s->avg.load_avg &&
	       k->avg.runnable_avg == s->avg.runnable_avg && k->avg.util_avg == s->avg.util_avg;
}

/*
 * Does a state follow from the one before? A published one has the inputs of its own update, one that is looked at has
 * those that held since the last look. A task that runs is aged as a sleeper when it executes a program and CPUs are
 * compared (sync_entity_load_avg), after the update that the last look came before, or instead of it. `out` is what
 * the core expects first.
 */
HIDDEN u32 follows(const struct live_kept *k, const struct live_seen_avg *s, struct pelton_avg *out)
{
	u32 published = s->site == AT_PUBLISHED, moves = k->queue != s->queue || !k->avg.last_update_time_ns;
	u32 first = published ? s->flags : k->flags, second = published ? k->flags : s->flags;
	struct pelton_avg other;

	if (has_left(k, s))
		return 1;
	if (moves && joined(k, s, out))
		return 1;
	return updated(k, s, first, out) || updated(k, s, 0, &other) || updated(k, s, second, &other) ||
	       joined(k, s, &other) || updated_twice(k, s, 0, k->clock) || left_meanwhile(k, s);
}

/* A period ended since the state before, and every update that ends one publishes its state. */
HIDDEN u32 has_crossed(const struct live_kept *k, const struct live_seen_avg *s)
{
	u64 units = (s->avg.last_update_time_ns - k->avg.last_update_time_ns) >> PELTON_UNIT_SHIFT;

	return s->site != AT_PUBLISHED && k->queue == s->queue && k->avg.last_update_time_ns &&
	       s->avg.last_update_time_ns > k->avg.last_update_time_ns &&
	       units + k->avg.period_contrib >= PELTON_PERIOD_UNITS;
}

/*
 * Nothing is queued without a wake-up, a move or a fork, no dequeue that was delayed is given up without a wake-up,
 * nothing stops running without a switch, no period ends without an event, and nothing is on another CPU without
 * joining a queue there. Where a state shows that it was, that was not seen.
 */
HIDDEN u32 is_unseen(const struct live_kept *k, const struct live_seen_avg *s)
{
	u32 queued = s->flags & ~k->flags & ENTITY_ON_RQ, stopped = k->flags & ~s->flags & ENTITY_RUNNING;
	u32 woken = k->flags & ~s->flags & ENTITY_DELAYED;

	if (s->site == AT_WAKEUP || s->site == AT_JOIN)
		queued = 0;
	if (s->site == AT_WAKEUP || s->site == AT_JOIN || s->site == AT_WAKING)
		woken = 0;
	if (s->site == AT_SWITCH)
		stopped = 0;
	return queued | stopped | woken | has_crossed(k, s) ||
	       (k->rq != s->rq && s->site != AT_JOIN && s->avg.last_update_time_ns);
}

HIDDEN void keep(struct live_kept *k, const struct live_seen_avg *s)
{
	copy_avg(&k->avg, &s->avg);
	k->rq = s->rq;
	k->clock = s->clock;
	k->queue = s->queue;
	k->weight = s->weight;
	k->flags = s->flags;
}

#define AVG_WORDS_OF(to, prefix, from) \
	do { \
		(to)->prefix##_last_update_time = (from)->last_update_time_ns; \
		(to)->prefix##_load_sum = (from)->load_sum; \
		(to)->prefix##_runnable_sum = (from)->runnable_sum; \
		(to)->prefix##_util_sum = (from)->util_sum; \
		(to)->prefix##_period_contrib = (from)->period_contrib; \
		(to)->prefix##_load_avg = (from)->load_avg; \
		(to)->prefix##_runnable_avg = (from)->runnable_avg; \
		(to)->prefix##_util_avg = (from)->util_avg; \
	} while (0)

/* Keeps the first difference of a signal. */
HIDDEN void keep_difference(u32 signal, const struct live_kept *k, const struct live_seen_avg *s,
			    const struct pelton_avg *expected)
{
	struct live_difference *d = &differences[signal];

	if (__sync_fetch_and_add(&d->nr, 1))
		return;
	d->cpu = bpf_get_smp_processor_id();
	d->site = s->site;
	d->weight = s->weight;
	d->flags = s->flags;
	d->flags_before = k->flags;
	d->moved = k->queue != s->queue;
	AVG_WORDS_OF(d, before, &k->avg);
	AVG_WORDS_OF(d, core, expected);
	AVG_WORDS_OF(d, kernel, &s->avg);
}

HIDDEN void count(struct live_compared *n, struct live_kept *k, u32 published, u32 good)
{
	if (!published) {
		n->looks++;
		k->open |= !good;
		return;
	}
	n->events++;
	if (good && !k->open)
		n->equal++;
	else if (k->gap)
		n->unseen++;
	else
		n->different++;
	k->open = 0;
	k->gap = 0;
}

HIDDEN struct live_compared *counts_of(u32 signal)
{
	return &compared[bpf_get_smp_processor_id() & (PELTON_PLACE_CPUS_MAX - 1u)][signal];
}

/* A task seen for the first time. */
HIDDEN void begin_entity(const struct live_seen_avg *s)
{
	struct live_kept k = {};
	u64 key = s->object;

	if (s->site == AT_PUBLISHED) {
		counts_of(SIGNAL_TASK)->events++;
		counts_of(SIGNAL_TASK)->first++;
	}
	keep(&k, s);
	bpf_map_update_elem(&entities, &key, &k, BPF_ANY);
}

APART u32 compare_task(const struct live_seen_avg *s)
{
	struct live_kept *k;
	struct pelton_avg expected = {};
	u32 good;
	u64 key;

	if (!s || !begun || !able)
		return 0;
	key = s->object;
	k = bpf_map_lookup_elem(&entities, &key);
	if (!k || s->site == AT_NEW) {
		begin_entity(s);
		return 0;
	}
	k->gap |= is_unseen(k, s);
	if (s->site != AT_PUBLISHED && is_equal(&k->avg, &s->avg)) {
		keep(k, s);
		return 0;
	}
	good = follows(k, s, &expected);
	if (!good && !k->gap)
		keep_difference(SIGNAL_TASK, k, s, &expected);
	count(counts_of(SIGNAL_TASK), k, s->site == AT_PUBLISHED, good);
	keep(k, s);
	return 0;
}

#endif
