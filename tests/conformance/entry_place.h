/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of placement and of the energy model; everything is in the arguments. Included by entry.c only. */

/* Loads of this and of the previous CPU, of the task and of the waker; capacities; marks and runnable tasks. */
TEST_OP op_wake_affine(u64 *w)
{
	struct pelton_wake wake = {
		.this_load = w[1],
		.prev_load = w[2],
		.task_load = w[3],
		.waker_load = w[4],
		.this_capacity = (u32)w[5],
		.prev_capacity = (u32)(w[5] >> 32),
		.siblings = w[6] & 1,
		.sync = w[6] >> 1 & 1,
		.this_idle = w[6] >> 2 & 1,
		.prev_idle = w[6] >> 3 & 1,
		.this_running = (u32)(w[6] >> 32),
		.far = w[6] >> 4 & 1,
	};

	return pelton_wake_affine(POLICY, &wake);
}

TEST_OP op_wake_wide(u64 *w)
{
	return pelton_wake_wide((u32)w[1], (u32)w[2], (u32)w[3]);
}

/*
 * Times and runtimes of two CPUs; number of CPUs and, from bit 32, throttled; overrun. A tick and the end of periods.
 */
TEST_OP op_rt_limit(u64 *w)
{
	struct pelton_rt_limit own = { .time_ns = w[1], .runtime_ns = w[2], .throttled = w[5] >> 32 & 1 };
	struct pelton_rt_limit other = { .time_ns = w[3], .runtime_ns = w[4] };
	u64 said;

	if (POLICY->rt_runtime_share && !own.throttled && pelton_rt_over(&own))
		pelton_rt_borrow(&own, &other, (u32)w[5]);
	said = pelton_rt_exceeded(&own);
	pelton_rt_equal(POLICY, &own);
	said |= (u64)pelton_rt_replenish(&own, w[6]) << 1 | (u64)own.throttled << 2;
	return said + 8 * own.runtime_ns + 5 * other.runtime_ns + 3 * own.time_ns;
}

/* Mean, longest search, its domain, last fading; stay, cost, now. */
TEST_OP op_newidle(u64 *w)
{
	struct pelton_newidle n = {
		.avg_idle_ns = w[1], .max_cost_ns = w[2], .domain_cost_ns = w[3], .decayed_at_ns = w[4]
	};
	u64 said = pelton_newidle_skips(POLICY, &n);

	pelton_newidle_woke(&n, w[5]);
	pelton_newidle_searched(POLICY, &n, w[6], w[7]);
	said |= (u64)pelton_newidle_skips(POLICY, &n) << 1;
	pelton_newidle_decay(&n, w[7] + (w[7] >> 1));
	return said + 4 * n.avg_idle_ns + 5 * n.max_cost_ns + 3 * n.domain_cost_ns + 7 * n.decayed_at_ns;
}

/* Ticks: now, next for load, next for balance; marks, from bit 8 tasks, from bit 16 busy CPUs; mean idle time; tick. */
TEST_OP op_idle_walk(u64 *w)
{
	struct pelton_idle_walk walk = {
		.now_ticks = w[1],
		.next_blocked_ticks = w[2],
		.next_balance_ticks = w[3],
		.has_blocked = w[4] & 1,
		.asymmetric = w[4] >> 1 & 1,
		.wants = w[4] >> 2 & 1,
		.running = w[4] >> 8 & 0xff,
		.busy_cpus = w[4] >> 16 & 0xff,
	};
	struct pelton_newidle n = { .avg_idle_ns = w[5] };

	return pelton_idle_walk_kick(POLICY, &walk) | pelton_idle_walk_newly(POLICY, &walk, &n) << 2 |
	       pelton_idle_walk_next(w[1], w[6]) << 3;
}

/* Ticks: now, last; tick length, mean idle time, cost of the domain. */
TEST_OP op_blocked_due(u64 *w)
{
	struct pelton_newidle n = { .avg_idle_ns = w[4], .domain_cost_ns = w[5] };
	u64 said = pelton_blocked_due(POLICY, w[1], w[2], w[3], 0) | pelton_blocked_due(POLICY, w[1], w[2], w[3], 1)
									     << 1;

	said |= pelton_blocked_scans(POLICY) << 2 | pelton_blocked_walks(POLICY) << 3;
	return said | pelton_newidle_closed(POLICY, &n) << 4;
}

#define EM_STATES 4

/* Words 1 to 4: frequency in MHz of a state, from bit 24 its power. Word 5: capacity; from bit 16 how many states. */
static inline __attribute__((always_inline)) u32 em_table(const u64 *w, struct pelton_em_state *states)
{
	u32 i;

	for (i = 0; i < EM_STATES; i++) {
		struct pelton_em_state state = { .power_uw = w[i + 1] >> 24,
						 .freq_khz = 1000 * (u32)(w[i + 1] & 0xffffff) };

		states[i] = state;
	}
	pelton_em_fill(states, w[5] >> 16 & 3, w[5] & 0xffff);
	return w[5] >> 16 & 3;
}

/* Word 6: state. */
TEST_OP op_em_state(u64 *w)
{
	struct pelton_em_state states[EM_STATES];

	em_table(w, states);
	return states[w[6] & 3].cost ^ states[w[6] & 3].performance << 40 ^ (u64)states[w[6] & 3].inefficient << 63;
}

/*
 * Word 5 from bit 24: slowest and fastest allowed state; word 6: largest and from bit 32 summed utilization; word 7:
 * allowed.
 */
TEST_OP op_em_energy(u64 *w)
{
	struct pelton_em_state states[EM_STATES];
	u32 n = em_table(w, states);

	return pelton_em_cpu_energy(states, n, w[5] >> 24 & 0xff, w[5] >> 32 & 0xff, (u32)w[6], w[6] >> 32, w[7]);
}
