/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations on single records, queues and groups. Included by entry.c only. */

TEST_OP op_poke(u64 *w)
{
	w[w[1]] = w[2];
	return 0;
}

TEST_OP op_decay(u64 *w)
{
	return pelton_decay_load(w[1], w[2]);
}

/* avg, now, load, runnable, running, cap_orig << 32 | freq_scale; publishes with weight 1 */
TEST_OP op_accumulate(u64 *w)
{
	struct pelton_ctx ctx = { POLICY, w[2], (u32)(w[6] >> 32), (u32)w[6] };
	u64 periods = pelton_update_load_sum(&ctx, AVG(1), w[3], w[4], w[5]);

	if (periods)
		pelton_publish(POLICY, AVG(1), 1);
	return periods;
}

/* rq, cfs, se */
TEST_OP op_update_se(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_update_load_avg_se(&ctx, SE(3));
}

/* rq, cfs */
TEST_OP op_update_cfs_rq(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_update_cfs_rq_load_avg(&ctx, CFS(2));
}

/* rq, cfs, se, owned, flags */
TEST_OP op_update_load_avg(u64 *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_update_load_avg(&ctx, CFS(2), SE(3), CFS(4), (u32)w[5]);
}

/* cfs, se */
TEST_OP op_attach(u64 *w)
{
	pelton_attach_entity_load_avg(POLICY, CFS(1), SE(2));
	return 0;
}

/* cfs, se */
TEST_OP op_detach(u64 *w)
{
	pelton_detach_entity_load_avg(POLICY, CFS(1), SE(2));
	return 0;
}

/* cfs, se, weight */
TEST_OP op_reweight(u64 *w)
{
	pelton_reweight_entity(POLICY, CFS(1), SE(2), w[3], w[3]);
	return 0;
}

/* owned, tg, present weight */
TEST_OP op_group_shares(u64 *w)
{
	return pelton_calc_group_shares(POLICY, CFS(1), TG(2), w[3]);
}

/* tg, owned, now */
TEST_OP op_tg_contrib(u64 *w)
{
	return pelton_update_tg_load_avg(POLICY, TG(1), CFS(2), w[3]);
}

/* cfs, se, owned, tg */
TEST_OP op_refresh_shares(u64 *w)
{
	return pelton_update_cfs_group(POLICY, CFS(1), SE(2), CFS(3), TG(4));
}

/* rq, cfs, se, owned, tg, wall clock */
TEST_OP op_walk_group(u64 *w)
{
	struct pelton_ctx own = pelton_cfs_ctx(POLICY, RQ(1), CFS(4));
	struct pelton_ctx above = pelton_cfs_ctx(POLICY, RQ(1), CFS(2));

	return pelton_walk_group(&own, &above, CFS(2), SE(3), CFS(4), TG(5), w[6]);
}

/* owned */
TEST_OP op_group_is_decayed(u64 *w)
{
	return pelton_cfs_rq_is_decayed(POLICY, CFS(1));
}

/* se, weight */
TEST_OP op_se_init(u64 *w)
{
	pelton_se_init(SE(1), w[2]);
	return 0;
}

/* cfs, se, cap_orig */
TEST_OP op_post_init(u64 *w)
{
	pelton_post_init_entity_util_avg(POLICY, CFS(1), SE(2), (u32)w[3]);
	return 0;
}

/* cfs, se */
TEST_OP op_util_est_enqueue(u64 *w)
{
	pelton_util_est_enqueue(POLICY, CFS(1), SE(2));
	return 0;
}

/* cfs, se */
TEST_OP op_util_est_dequeue(u64 *w)
{
	pelton_util_est_dequeue(POLICY, CFS(1), SE(2));
	return 0;
}

/* se, cap_orig, task sleeps */
TEST_OP op_util_est_update(u64 *w)
{
	pelton_util_est_update(POLICY, SE(1), (u32)w[2], (u32)w[3]);
	return 0;
}

/* se */
TEST_OP op_task_util_est(u64 *w)
{
	return pelton_task_util_est(POLICY, SE(1));
}

/* util, units */
TEST_OP op_ramp(u64 *w)
{
	return pelton_ramp((u32)w[1], (u32)w[2]);
}

/* util */
TEST_OP op_time_to(u64 *w)
{
	return pelton_time_to((u32)w[1]);
}

/* runtime_ns, period_ns */
TEST_OP op_dl_bw(u64 *w)
{
	return pelton_dl_bw(w[1], w[2]);
}

/* sum of reservations, Q20 */
TEST_OP op_cpu_bw_dl(u64 *w)
{
	return pelton_cpu_bw_dl(w[1]);
}

/* util, capacity */
TEST_OP op_fits_capacity(u64 *w)
{
	return pelton_fits(POLICY, (u32)w[1], (u32)w[2], (u32)w[2]);
}

/* khz, reference khz */
TEST_OP op_freq_scale(u64 *w)
{
	return pelton_freq_scale((u32)w[1], (u32)w[2]);
}
