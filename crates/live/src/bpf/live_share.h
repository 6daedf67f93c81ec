/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights and quotas of task groups: a CPU's queue has no groups in it, so that a task waits there with its part of
 * what the groups above it are entitled to (scx_group.h). The kernel's own groups say their weights, whoever set them.
 *
 *   a task begins to wait or run   its group's load grows; a group without load before begins to count one level up
 *   a tick                         the running task's weight follows, and a group's that was written meanwhile
 *
 * A group with a quota has a pool of time, from which its running tasks take at each look at them. While it is empty
 * they wait in a queue of their own, and are part of no CPU's averages.
 *
 * CPUs count with atomic additions. A weight that is written at the moment at which its group ends to count can leave
 * the difference in the load above: pelton_scx_share() does not let a load fall below the task's own part.
 */
#ifndef PELTON_LIVE_SHARE_H
#define PELTON_LIVE_SHARE_H

#define SHARE_DEPTH 16 /* levels that are looked at */

u32 quotas; /* some group had one */

struct live_share {
	s64 load;  /* weights of tasks and groups in it that run or wait, anywhere */
	u64 above; /* the group above; 0: the root */
	u32 nr;    /* how many they are */
	u32 own;   /* weight with which it counts above */
	u32 idle;
	u32 reserved;
	s64 left_ns;  /* of its pool */
	u64 quota_ns; /* 0: none */
	u64 burst_ns;
	u64 period_ns;
	u64 ends_ns; /* the pool's period */
};

/* By the address of the kernel's group; removed with its cgroup. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct live_share);
} shares SEC(".maps");

HIDDEN struct live_share *share_of(u64 group)
{
	return bpf_map_lookup_elem(&shares, &group);
}

HIDDEN struct live_share *share_made(u64 group)
{
	struct live_share fresh = {}, *s = share_of(group);

	if (s)
		return s;
	bpf_map_update_elem(&shares, &group, &fresh, BPF_NOEXIST);
	return share_of(group);
}

/* The group of a task; 0 where the kernel has no groups. */
HIDDEN struct task_group *group_of(struct task_struct *p)
{
	struct task_group *group = p->sched_task_group;

	return bpf_core_field_exists(group->shares) ? group : 0;
}

/* The group above; 0 at the root. */
HIDDEN struct task_group *group_above(struct task_group *group)
{
	return group ? group->parent : 0;
}

HIDDEN u32 group_weight(struct task_group *group)
{
	return (u32)pelton_scale_load_down(group->shares);
}

HIDDEN u32 group_is_idle(struct task_group *group)
{
	return bpf_core_field_exists(group->idle) && group->idle > 0;
}

/* The quota as it is written; another one begins with a full pool (tg_set_cfs_bandwidth()). */
HIDDEN void follow_quota(struct live_share *s, struct task_group *group)
{
	u64 quota, period;

	if (!bpf_core_field_exists(group->cfs_bandwidth))
		return;
	quota = group->cfs_bandwidth.quota;
	period = (u64)group->cfs_bandwidth.period;
	if (quota == ~0ull)
		quota = 0;
	s->burst_ns = bpf_core_field_exists(group->cfs_bandwidth.burst) ? group->cfs_bandwidth.burst : 0;
	if (quota == s->quota_ns && period == s->period_ns)
		return;
	s->quota_ns = quota;
	s->period_ns = period;
	s->left_ns = (s64)quota;
	s->ends_ns = bpf_ktime_get_ns() + period;
	quotas |= quota > 0;
}

/* What of a task follows from its groups. */
struct live_part {
	u64 weight; /* in its CPU's queue */
	u32 idle;
	u32 limited; /* some group has a quota */
};

/* One level up. */
HIDDEN void part_in(struct live_part *part, const struct live_share *s, struct task_group *group)
{
	part->weight = pelton_scx_share(part->weight, group_weight(group), s->load);
	part->idle |= s->idle;
	part->limited |= s->quota_ns > 0;
}

/* Counts in its group: one more that waits or runs. Returns 1 when it is the first, and the group counts above. */
HIDDEN u32 counts_in(struct live_share *s, struct task_group *group, u32 weight)
{
	struct task_group *above = group_above(group);

	__sync_fetch_and_add(&s->load, weight);
	if (__sync_fetch_and_add(&s->nr, 1))
		return 0;
	s->above = group_above(above) ? (u64)above : 0;
	s->own = group_weight(group);
	s->idle = group_is_idle(group);
	follow_quota(s, group);
	return 1;
}

/* A task begins to wait or run. */
APART u32 enter_shares(struct task_struct *p __arg_trusted)
{
	struct live_task *t = task_of(p);
	struct task_group *group = group_of(p);
	u32 weight, i;

	if (!t)
		return 0;
	t->share = group_above(group) ? (u64)group : 0;
	t->share_weight = weight = t->clamps.weight;
	bpf_for (i, 0, SHARE_DEPTH) {
		struct live_share *s = group_above(group) ? share_made((u64)group) : 0;

		if (!s || !counts_in(s, group, weight))
			break;
		weight = group_weight(group);
		group = group_above(group);
	}
	return 1;
}

/* Weight of a task that waits or runs, in its CPU's queue. */
APART u64 share_weight(struct task_struct *p __arg_trusted)
{
	struct live_task *t = task_of(p);
	struct task_group *group = group_of(p);
	struct live_part part = { .idle = p->policy == SCHED_IDLE };
	u32 i;

	if (!t)
		return PELTON_SCX_WEIGHT_MIN;
	part.weight = pelton_scale_load((u64)t->share_weight);
	bpf_for (i, 0, SHARE_DEPTH) {
		struct live_share *s = group_above(group) ? share_of((u64)group) : 0;

		if (!s)
			break;
		part_in(&part, s, group);
		group = group_above(group);
	}
	t->fair.idle_policy = part.idle;
	t->limited = part.limited;
	return part.weight;
}

/* A task ends to wait or run. */
HIDDEN void leave_shares(struct live_task *t)
{
	u64 group = t->share;
	s64 weight = t->share_weight;
	u32 i;

	t->share = 0;
	bpf_for (i, 0, SHARE_DEPTH) {
		struct live_share *s = group ? share_of(group) : 0;
		u32 own;

		if (!s)
			break;
		/* As long as this task counts no other makes the group begin anew. */
		own = s->own;
		group = s->above;
		__sync_fetch_and_add(&s->load, -weight);
		if (__sync_fetch_and_add(&s->nr, -1) != 1)
			break;
		weight = own;
	}
}

/* A weight that was written since the group began to count. */
HIDDEN void follow_weight(struct live_share *s, struct task_group *group)
{
	u32 is = group_weight(group), was = s->own;
	struct live_share *above;

	s->idle = group_is_idle(group);
	if (is == was || __sync_val_compare_and_swap(&s->own, was, is) != was)
		return;
	above = share_of(s->above);
	if (above)
		__sync_fetch_and_add(&above->load, (s64)is - (s64)was);
}

/* Follows what was written into the files of a task's groups meanwhile. */
APART u32 follow_groups(struct task_struct *p __arg_trusted)
{
	struct task_group *group = group_of(p);
	u32 i;

	bpf_for (i, 0, SHARE_DEPTH) {
		struct live_share *s = group_above(group) ? share_of((u64)group) : 0;

		if (!s)
			break;
		follow_weight(s, group);
		follow_quota(s, group);
		group = group_above(group);
	}
	return 1;
}

HIDDEN void refill(struct live_share *s, u64 now)
{
	u64 ends = s->ends_ns, periods = pelton_scx_periods(now, ends, s->period_ns);

	if (!periods || __sync_val_compare_and_swap(&s->ends_ns, ends, ends + periods * s->period_ns) != ends)
		return;
	__sync_fetch_and_add(&s->left_ns, pelton_scx_refill(s->left_ns, s->quota_ns, s->burst_ns, periods));
}

/* A task ran so long. Returns 1 when the pool of one of its groups is empty. */
APART u32 spend(struct task_struct *p __arg_trusted, u64 ran)
{
	struct task_group *group = group_of(p);
	u64 now = bpf_ktime_get_ns();
	u32 i, empty = 0;

	bpf_for (i, 0, SHARE_DEPTH) {
		struct live_share *s = group_above(group) ? share_of((u64)group) : 0;

		if (!s)
			break;
		if (s->quota_ns) {
			refill(s, now);
			__sync_fetch_and_add(&s->left_ns, -(s64)ran);
			empty |= s->left_ns <= 0;
		}
		group = group_above(group);
	}
	return empty;
}

/* 2^32 / weight, where the table of tasks has it. */
HIDDEN u32 inv_weight_of(const struct live_task *t, u64 weight)
{
	return weight == pelton_scale_load((u64)t->clamps.weight) ? t->clamps.inv_weight : 0;
}

#endif
