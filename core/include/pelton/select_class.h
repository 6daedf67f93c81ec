/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a real-time or a deadline task goes when it wakes, or when it has to wait where it is.
 *
 *   real-time        asks when what runs here is as strong, or a task that may not move, or when it does not fit
 *     level of a CPU = priority of its strongest real-time task, 0 without one; a deadline task is above all (6.1)
 *     the CPUs of the lowest level below its own, of those on which it fits; if it fits nowhere, of all
 *     is moved later only from a CPU with two real-time tasks, one of which may move; from 6.12 on one that waits is
 *     enough a CPU that loses its real-time or deadline task asks for others when what it has left is weaker
 *   deadline         asks when a deadline that is not later, or a task that may not move, runs here, or when it does not fit
 *     the CPUs without a deadline task on which it fits, or the largest of them; if there are none, the one whose
 *     earliest deadline is the latest of all, when the task's is before it
 *   among several    the CPU that it last ran on; then, in the smallest domain around that, the CPU that asks, or the next
 *                    one in the order of the search
 *
 *   fits, real-time   capacity >= min(lower clamp, upper clamp)                 5.10 and later
 *   fits, deadline    D * capacity >> 10 >= Q (5.10), capacity >= density >> 10 (6.1 and later)
 *   order             by number; from 6.1 on those behind the last one that this CPU's searches found come first
 *
 *   quantity               unit      range
 *   priority               1         1 .. 99, higher is stronger; 0 = none
 *   capacity, clamps       capacity  0 .. 1024
 *   deadline, Q, D         ns
 *   density                Q20
 *
 * Source: Linux 4.12.3, 4.16.13, 4.19.48, 5.4, 5.10.262, 6.1.192, 6.6.0, 6.12.117, 7.2.12: kernel/sched/rt.c
 * (select_task_rq_rt, find_lowest_rq, find_lock_lowest_rq, rt_task_fits_capacity, update_rt_migration,
 * enqueue_pushable_task, need_pull_rt_task, push_rt_task), kernel/sched/cpupri.c (convert_prio, cpupri_find_fitness),
 * kernel/sched/deadline.c (select_task_rq_dl, find_later_rq, find_lock_later_rq, inc_dl_deadline),
 * kernel/sched/cpudeadline.c (cpudl_find), kernel/sched/sched.h (dl_task_fits_capacity), lib/cpumask.c
 * (cpumask_any_and_distribute).
 * Deviations: of several CPUs with the latest deadline the first counts, where the kernel's heap knows another order.
 */
#ifndef PELTON_SELECT_CLASS_H
#define PELTON_SELECT_CLASS_H

#include "cpus.h"
#include "deadline.h"

/* Level of a CPU with a deadline task. */
#define PELTON_CPUPRI_HIGHER 100u
/* No deadline task. */
#define PELTON_NO_DEADLINE (~0ull)
/* Behind every candidate. */
#define PELTON_KEY_NONE (~0ull)

/* The task, and the CPU that asks. */
struct pelton_class_task {
	u64 deadline_ns;
	u64 dl_runtime_ns;
	u64 dl_deadline_ns;
	u64 dl_density;
	u32 prio;
	u32 uclamp_min;
	u32 uclamp_max;
	u32 nr_cpus_allowed;
	u32 cpu;        /* it last ran there */
	u32 this_cpu;   /* asks */
	u32 last_found; /* by searches of this_cpu that go on where the last one ended */
	u32 nr_cpus;
	u32 asymmetric; /* CPUs differ in capacity */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_class_task) == 72, "size of pelton_class_task");

/* One CPU as the search sees it. */
struct pelton_class_cpu {
	u64 deadline_ns; /* earliest of its deadline tasks, or PELTON_NO_DEADLINE */
	u32 cpu;
	u32 allowed;
	u32 prio; /* of its strongest real-time task, 0 = none */
	u32 capacity;
	u32 distance; /* number of the smallest wake-affine domain around the task's CPU that spans this one too, or how many there are */
	u32 reserved;
};

_Static_assert(sizeof(struct pelton_class_cpu) == 32, "size of pelton_class_cpu");

/* The task that runs where the placed task last ran. */
struct pelton_class_curr {
	u64 deadline_ns; /* PELTON_NO_DEADLINE: not of the deadline class */
	u32 prio;
	u32 nr_cpus_allowed;
};

_Static_assert(sizeof(struct pelton_class_curr) == 16, "size of pelton_class_curr");

/* The best of the CPUs looked at: key, and the CPU. */
struct pelton_class_best {
	struct pelton_class_cpu at;
	u64 key;
	u32 level;
	u32 reserved;
};

/* A search that begins: zero, with all keys PELTON_KEY_NONE. */
struct pelton_class_search {
	struct pelton_class_best fits;
	struct pelton_class_best any;
	struct pelton_class_best latest;
};

_Static_assert(sizeof(struct pelton_class_search) == 144, "size of pelton_class_search");

PELTON_INLINE void pelton_class_begin(struct pelton_class_search *s)
{
	s->fits.key = s->any.key = s->latest.key = PELTON_KEY_NONE;
}

PELTON_INLINE u32 pelton_rt_task_fits(const struct pelton_policy *pol, const struct pelton_class_task *t, u32 capacity)
{
	if (pol->rt_search == PELTON_RT_SEARCH_FIRST || !t->asymmetric)
		return 1;
	return capacity >= pelton_min_u32(t->uclamp_min, t->uclamp_max);
}

PELTON_INLINE u32 pelton_dl_task_fits(const struct pelton_policy *pol, const struct pelton_class_task *t, u32 capacity)
{
	if (pol->dl_search <= PELTON_DL_SEARCH_FIRST || !t->asymmetric)
		return 1;
	if (pol->dl_search == PELTON_DL_SEARCH_FITS)
		return pelton_cap_scale(t->dl_deadline_ns, capacity) >= t->dl_runtime_ns;
	return capacity >= t->dl_density >> (PELTON_BW_SHIFT - PELTON_CAPACITY_SHIFT);
}

/* Priority of the strongest that a CPU has to run, as seen by real-time tasks. */
PELTON_INLINE u32 pelton_cpupri(const struct pelton_policy *pol, const struct pelton_class_cpu *c)
{
	if (pol->rt_search >= PELTON_RT_SEARCH_SPREAD && c->deadline_ns != PELTON_NO_DEADLINE)
		return PELTON_CPUPRI_HIGHER;
	return c->prio;
}

/* Order of candidates that are equally good. */
PELTON_INLINE u64 pelton_class_key(const struct pelton_class_task *t, const struct pelton_class_cpu *c, u32 spread)
{
	u64 next = c->cpu;

	if (c->cpu == t->cpu)
		return 0;
	if (spread)
		next = c->cpu > t->last_found ? c->cpu - t->last_found - 1 : c->cpu + t->nr_cpus - t->last_found - 1;
	return 1ull << 63 | (u64)c->distance << 33 | (u64)(c->cpu != t->this_cpu) << 32 | next;
}

PELTON_INLINE void pelton_class_keep(struct pelton_class_best *best, const struct pelton_class_cpu *c, u32 level,
				     u64 key)
{
	if (best->key != PELTON_KEY_NONE && (level > best->level || (level == best->level && key >= best->key)))
		return;
	best->at = *c;
	best->level = level;
	best->key = key;
}

/* The search for a CPU with nothing as strong as a real-time task looks at one CPU. */
PELTON_INLINE void pelton_find_lowest(const struct pelton_policy *pol, const struct pelton_class_task *t,
				      const struct pelton_class_cpu *c, struct pelton_class_search *s)
{
	u32 level = pelton_cpupri(pol, c);
	u64 key;

	if (!c->allowed || level >= t->prio)
		return;
	key = pelton_class_key(t, c, pol->rt_search >= PELTON_RT_SEARCH_SPREAD);
	pelton_class_keep(&s->any, c, level, key);
	if (pelton_rt_task_fits(pol, t, c->capacity))
		pelton_class_keep(&s->fits, c, level, key);
}

/* A free CPU where only one is known beside the two that are asked for by name; the others are behind it. */
PELTON_INLINE void pelton_find_latest(const struct pelton_class_task *t, const struct pelton_class_cpu *c,
				      struct pelton_class_search *s)
{
	if (c->cpu == t->cpu || c->cpu == t->this_cpu)
		pelton_class_keep(&s->fits, c, 0, pelton_class_key(t, c, 0));
	pelton_class_keep(&s->any, c, 0, c->cpu);
}

/* A free CPU; of those on which the task does not fit the largest is the best. */
PELTON_INLINE void pelton_find_free(const struct pelton_policy *pol, const struct pelton_class_task *t,
				    const struct pelton_class_cpu *c, struct pelton_class_search *s)
{
	if (pol->dl_search == PELTON_DL_SEARCH_LATEST)
		pelton_find_latest(t, c, s);
	else if (pelton_dl_task_fits(pol, t, c->capacity))
		pelton_class_keep(&s->fits, c, 0, pelton_class_key(t, c, pol->dl_search >= PELTON_DL_SEARCH_SPREAD));
	else
		pelton_class_keep(&s->any, c, ~c->capacity, c->cpu == t->cpu ? 0 : 1 + (u64)c->cpu);
}

/* The search for a CPU with no deadline before a task's looks at one CPU. */
PELTON_INLINE void pelton_find_later(const struct pelton_policy *pol, const struct pelton_class_task *t,
				     const struct pelton_class_cpu *c, struct pelton_class_search *s)
{
	if (c->deadline_ns == PELTON_NO_DEADLINE) {
		if (c->allowed)
			pelton_find_free(pol, t, c, s);
	} else if (s->latest.key == PELTON_KEY_NONE ||
		   pelton_dl_time_before(s->latest.at.deadline_ns, c->deadline_ns)) {
		s->latest.at = *c;
		s->latest.key = 0;
	}
}

/* Result of the search of a real-time task; its key is PELTON_KEY_NONE when there is no CPU. */
PELTON_INLINE const struct pelton_class_best *pelton_lowest_found(const struct pelton_class_search *s)
{
	return s->fits.key != PELTON_KEY_NONE ? &s->fits : &s->any;
}

PELTON_INLINE u32 pelton_dl_earliest_at(const struct pelton_class_task *t, const struct pelton_class_cpu *c)
{
	return c->deadline_ns == PELTON_NO_DEADLINE || pelton_dl_time_before(t->deadline_ns, c->deadline_ns);
}

/* Result of the search of a deadline task: a CPU without a deadline task, or the one with the latest of all. */
PELTON_INLINE const struct pelton_class_best *pelton_later_found(const struct pelton_policy *pol,
								 const struct pelton_class_task *t,
								 struct pelton_class_search *s)
{
	if (pol->dl_search == PELTON_DL_SEARCH_LATEST && s->any.key != PELTON_KEY_NONE)
		pelton_class_keep(&s->fits, &s->any.at, 0, pelton_class_key(t, &s->any.at, 0));
	if (s->fits.key != PELTON_KEY_NONE)
		return &s->fits;
	if (s->any.key == PELTON_KEY_NONE && s->latest.key != PELTON_KEY_NONE && s->latest.at.allowed &&
	    pelton_dl_earliest_at(t, &s->latest.at))
		return &s->latest;
	return &s->any;
}

/* CPU that a real-time task may be moved to, or PELTON_NO_CPU. */
PELTON_INLINE u32 pelton_lowest_rq(const struct pelton_class_task *t, const struct pelton_class_search *s)
{
	const struct pelton_class_best *best = pelton_lowest_found(s);

	if (t->nr_cpus_allowed == 1 || best->key == PELTON_KEY_NONE || best->at.prio >= t->prio)
		return PELTON_NO_CPU;
	return best->at.cpu;
}

/* CPU that a deadline task may be moved to, or PELTON_NO_CPU. */
PELTON_INLINE u32 pelton_later_rq(const struct pelton_policy *pol, const struct pelton_class_task *t,
				  struct pelton_class_search *s)
{
	const struct pelton_class_best *best = pelton_later_found(pol, t, s);

	if (t->nr_cpus_allowed == 1 || best->key == PELTON_KEY_NONE || !pelton_dl_earliest_at(t, &best->at))
		return PELTON_NO_CPU;
	return best->at.cpu;
}

/* Did the search end at a CPU from which the next one goes on? Not at one that was asked for by name. */
PELTON_INLINE u32 pelton_class_spreads(const struct pelton_policy *pol, const struct pelton_class_task *t, u32 found,
				       u32 deadline)
{
	u32 spread = deadline ? pol->dl_search >= PELTON_DL_SEARCH_SPREAD : pol->rt_search >= PELTON_RT_SEARCH_SPREAD;

	return spread && found != PELTON_NO_CPU && found != t->cpu && found != t->this_cpu;
}

/* Is what runs there as strong as a real-time task that wakes, or unable to make room? */
PELTON_INLINE u32 pelton_rt_is_blocked(const struct pelton_policy *pol, const struct pelton_class_task *t,
				       const struct pelton_class_curr *curr)
{
	if (curr->deadline_ns != PELTON_NO_DEADLINE)
		return pol->rt_search != PELTON_RT_SEARCH_PUSH;
	return curr->prio && (curr->nr_cpus_allowed < 2 || curr->prio >= t->prio);
}

/* Does a real-time task that wakes look for another CPU than the one it last ran on, whose capacity is `capacity`? */
PELTON_INLINE u32 pelton_rt_looks(const struct pelton_policy *pol, const struct pelton_class_task *t,
				  const struct pelton_class_curr *curr, u32 capacity)
{
	return pelton_rt_is_blocked(pol, t, curr) || !pelton_rt_task_fits(pol, t, capacity);
}

/* CPU of a real-time task that looked. It does not move from one CPU that is too small to another. */
PELTON_INLINE u32 pelton_select_rt(const struct pelton_policy *pol, const struct pelton_class_task *t,
				   const struct pelton_class_curr *curr, const struct pelton_class_search *s)
{
	const struct pelton_class_best *best = pelton_lowest_found(s);
	u32 found = pelton_lowest_rq(t, s);

	if (found == PELTON_NO_CPU)
		return t->cpu;
	if (!pelton_rt_is_blocked(pol, t, curr) && !pelton_rt_task_fits(pol, t, best->at.capacity))
		return t->cpu;
	return found;
}

/*
 * May real-time tasks of a CPU be moved away? nr: its real-time tasks, nr_waiting: those of them that wait and may
 * move.
 */
PELTON_INLINE u32 pelton_rt_overloaded(const struct pelton_policy *pol, u32 nr, u32 nr_waiting)
{
	return nr_waiting && (nr > 1 || pol->rt_search == PELTON_RT_SEARCH_PUSH);
}

/*
 * Does a CPU whose task of strength `prev` leaves ask others for real-time tasks? prio: of the strongest it has, 0 =
 * none.
 */
PELTON_INLINE u32 pelton_need_pull_rt(u32 prev, u32 prio)
{
	return prio < prev;
}

/* Does a deadline task that wakes look for another CPU? */
PELTON_INLINE u32 pelton_dl_looks(const struct pelton_policy *pol, const struct pelton_class_task *t,
				  const struct pelton_class_curr *curr, u32 capacity)
{
	u32 behind = curr->deadline_ns != PELTON_NO_DEADLINE &&
		     (curr->nr_cpus_allowed < 2 || !pelton_dl_time_before(t->deadline_ns, curr->deadline_ns));

	return (behind && t->nr_cpus_allowed > 1) || !pelton_dl_task_fits(pol, t, capacity);
}

#endif
