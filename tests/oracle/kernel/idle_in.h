/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up cpuidle driver. */
static void idle_in(struct cpuidle_driver *drv, struct cpuidle_device *dev, const struct oracle_state *s,
		    const struct pelton_idle_last *last)
{
	const struct pelton_idle_table *t = &s->table;
	const struct pelton_idle_now *now = &s->idle_now;
	u32 i;

	drv->state_count = t->count;
	for (i = 0; i < t->count; i++) {
		drv->states[i].exit_latency_ns = t->states[i].exit_ns;
		drv->states[i].target_residency_ns = t->states[i].residency_ns;
		drv->states[i].flags = 0;
	}
	if (t->polling)
		drv->states[0].flags = CPUIDLE_FLAG_POLLING;
	dev->last_residency_ns = last->residency_ns;
	dev->last_state_idx = last->state;
	dev->poll_time_limit = !!(last->woke & PELTON_IDLE_WOKE_POLL_LIMIT);
	oracle_sleep = now->sleep_ns;
	oracle_event = now->event_ns;
	oracle_latency = now->latency_ns > S64_MAX ? S64_MAX : now->latency_ns;
	oracle_tick_stopped = now->tick_stopped;
	k_iowait(0, now->iowaiters);
	oracle_got_tick = last->woke & PELTON_IDLE_WOKE_TICK;
}
