/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of the deadline class; everything is in the arguments. Included by entry.c only. */

static inline __attribute__((always_inline)) u64 dl_said(const struct pelton_dl_entity *dl)
{
	return 3 * (u64)dl->runtime_ns + 5 * dl->deadline_ns + 16 * (u64)dl->dl_throttled + 32 * (u64)dl->dl_yielded;
}

/* Left, deadline, runtime, relative deadline, period, now; marks: throttled, yielded, is a wake-up. */
TEST_OP op_dl_wake(u64 *w)
{
	struct pelton_dl_entity dl = { .runtime_ns = (s64)w[1], .deadline_ns = w[2] };
	u64 said;

	pelton_setparam_dl(&dl, w[3], w[4], w[5]);
	dl.dl_throttled = w[7] & 1;
	dl.dl_yielded = w[7] >> 1 & 1;
	said = pelton_dl_entity_overflow(&dl, w[6]) + 7 * pelton_dl_zero_lag(&dl) + 11 * pelton_dl_hrtick(&dl);
	said += 2 * pelton_enqueue_dl(POLICY, &dl, w[6], w[7] >> 2 & 1);
	said += dl_said(&dl);
	pelton_replenish_dl_entity(&dl, w[6]);
	return said * 13 + dl_said(&dl);
}

/* Left, deadline, runtime, period, time; frequency scale and, from bit 32, capacity; yielded. */
TEST_OP op_dl_ran(u64 *w)
{
	struct pelton_dl_entity dl = { .runtime_ns = (s64)w[1], .deadline_ns = w[2], .dl_yielded = w[7] & 1 };
	u64 said;

	pelton_setparam_dl(&dl, w[3], w[4], 0);
	said = pelton_update_curr_dl(POLICY, &dl, w[5], (u32)w[6], (u32)(w[6] >> 32));
	said += 2 * pelton_dl_timer_starts(pelton_dl_next_period(&dl), w[2] + (w[7] >> 1) - 2000);
	return said + dl_said(&dl);
}

/* Limit of a CPU, reserved, goes, comes; CPUs; capacity. */
TEST_OP op_dl_room(u64 *w)
{
	return pelton_dl_overflow(POLICY, w[1], w[2], w[3], w[4], (u32)w[5], w[6]);
}
