/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations on CPUs: scheduler events, clocks, pressure. Included by entry.c only. */

/* rq, cfs, se, owned, delta */
TEST_OP op_enqueue_entity(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_enqueue_entity(&ctx, CFS(2), SE(3), CFS(4), (s32)w[5]);
}

/* rq, cfs, se, owned, delta */
TEST_OP op_update_ancestor(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_update_ancestor(&ctx, CFS(2), SE(3), CFS(4), (s32)w[5]);
}

/* rq, cfs, se, owned, delta, flags */
TEST_OP op_dequeue_entity(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_dequeue_entity(&ctx, CFS(2), SE(3), CFS(4), (s32)w[5], (u32)w[6]);
}

/* rq, cfs, se, owned */
TEST_OP op_set_next_entity(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_set_next_entity(&ctx, CFS(2), SE(3), CFS(4));
}

/* rq, cfs, se, owned */
TEST_OP op_put_prev_entity(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_put_prev_entity(&ctx, CFS(2), SE(3), CFS(4));
}

/* rq, cfs, se, owned */
TEST_OP op_tick_entity(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_tick_entity(&ctx, CFS(2), SE(3), CFS(4));
}

/* rq, se, now, irq_ns, is_idle */
TEST_OP op_rq_enqueue_task(u64 *w)
{
	return pelton_rq_enqueue_task(POLICY, RQ(1), SE(2), w[3], w[4], (u32)w[5]);
}

/* rq, se, now, irq_ns, is_idle, flags */
TEST_OP op_rq_dequeue_task(u64 *w)
{
	return pelton_rq_dequeue_task(POLICY, RQ(1), SE(2), w[3], w[4], (u32)w[5], (u32)w[6]);
}

/* rq, se, task sleeps */
TEST_OP op_rq_estimate_last(u64 *w)
{
	pelton_rq_estimate_last(POLICY, RQ(1), SE(2), (u32)w[3]);
	return 0;
}

/* rq, se, now, irq_ns, is_idle */
TEST_OP op_rq_delay_task(u64 *w)
{
	return pelton_rq_delay_task(POLICY, RQ(1), SE(2), w[3], w[4], (u32)w[5]);
}

/* rq, se */
TEST_OP op_rq_enqueue_delayed(u64 *w)
{
	return pelton_rq_enqueue_delayed_on(POLICY, RQ(1), &RQ(1)->cfs, SE(2));
}

/* rq, prev, next, now, irq_ns, is_idle */
TEST_OP op_rq_switch_fair(u64 *w)
{
	return pelton_rq_switch_fair(POLICY, RQ(1), SE(2), SE(3), w[4], w[5], (u32)w[6]);
}

/* rq, prev, now, irq_ns, is_idle */
TEST_OP op_rq_switch_idle(u64 *w)
{
	return pelton_rq_switch_idle(POLICY, RQ(1), SE(2), w[3], w[4], (u32)w[5]);
}

/* rq, se, now, irq_ns */
TEST_OP op_rq_tick_fair(u64 *w)
{
	return pelton_rq_tick_fair(POLICY, RQ(1), SE(2), w[3], w[4]);
}

/* rq, now, irq_ns, runs, lost capacity */
TEST_OP op_rq_update_blocked(u64 *w)
{
	return pelton_rq_update_blocked(POLICY, RQ(1), w[2], w[3], (u32)w[4], (u32)w[5]);
}

/* rq, now, irq_ns, is_idle */
TEST_OP op_clock_update(u64 *w)
{
	return pelton_clock_update(POLICY, RQ(1), w[2], w[3], (u32)w[4]);
}

/* rq */
TEST_OP op_clock_enter_idle(u64 *w)
{
	pelton_update_idle_rq_clock_pelt(POLICY, RQ(1));
	return 0;
}

/* rq, cfs */
TEST_OP op_throttle(u64 *w)
{
	pelton_throttle_clock(POLICY, RQ(1), CFS(2));
	return pelton_cfs_rq_clock_pelt(POLICY, RQ(1), CFS(2));
}

/* rq, cfs */
TEST_OP op_unthrottle(u64 *w)
{
	pelton_unthrottle_clock(POLICY, RQ(1), CFS(2));
	return pelton_cfs_rq_clock_pelt(POLICY, RQ(1), CFS(2));
}

/* rq, running */
TEST_OP op_update_rt(u64 *w)
{
	return pelton_update_rt(POLICY, RQ(1), (u32)w[2]);
}

/* rq, running */
TEST_OP op_update_dl(u64 *w)
{
	return pelton_update_dl(POLICY, RQ(1), (u32)w[2]);
}

/* rq, lost capacity */
TEST_OP op_update_hw(u64 *w)
{
	return pelton_update_hw(POLICY, RQ(1), (u32)w[2]);
}

/* rq, rt running, dl running, lost capacity; the second bit says whether anything is left to decay */
TEST_OP op_update_others(u64 *w)
{
	u64 decayed = pelton_update_others(POLICY, RQ(1), (u32)w[2], (u32)w[3], (u32)w[4]) != 0;

	return decayed | (u64)pelton_others_have_blocked(RQ(1)) << 1;
}

/* rq, hardware pressure, cpufreq pressure */
TEST_OP op_capacity_of(u64 *w)
{
	return pelton_capacity_of(POLICY, RQ(1), (u32)w[2], (u32)w[3]);
}

/* rq */
TEST_OP op_rt_share_age(u64 *w)
{
	pelton_rt_share_age(RQ(1));
	return 0;
}

/* rq, cfs, se, old CPU is idle, wall now */
TEST_OP op_migrate_sleeping(u64 *w)
{
	pelton_migrate_sleeping(POLICY, RQ(1), CFS(2), SE(3), (u32)w[4], w[5]);
	return 0;
}

/* rq, cfs, se */
TEST_OP op_remove_sleeping(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	pelton_remove_sleeping(&ctx, CFS(2), SE(3));
	return 0;
}

/* rq, cfs, se */
TEST_OP op_switched_from_fair(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_switched_from_fair(&ctx, CFS(2), SE(3));
}

/* rq, cfs, se */
TEST_OP op_switched_to_fair(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_switched_to_fair(&ctx, CFS(2), SE(3));
}

/* rq, cfs, se */
TEST_OP op_group_online(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	pelton_group_online(&ctx, CFS(2), SE(3));
	return 0;
}
