/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of the idle governors. Included by entry.c only. */

#define TABLE(i) ((const struct pelton_idle_table *)record(w, w[i]))
#define MENU(i) ((struct pelton_menu *)record(w, w[i]))
#define TEO(i) ((struct pelton_teo *)record(w, w[i]))

/* Arguments 3 to 7: sleep_ns, event_ns, tick_ns, latency_ns, tick_stopped | utilized << 1 | iowaiters << 32. */
static inline __attribute__((always_inline)) struct pelton_idle_now idle_now(const u64 *w)
{
	struct pelton_idle_now now = { w[3], w[4], w[5], w[6], w[7] & 1u, (u32)(w[7] >> 32), (w[7] >> 1) & 1u, 0 };

	return now;
}

static inline __attribute__((always_inline)) u64 idle_answer(const struct pelton_idle_choice *choice)
{
	return choice->state | (u64)choice->stop_tick << 32;
}

/* _woke: governor, residency_ns, state, woke. _select: governor, table, what is known. */
#define IDLE_OPS(governor, RECORD, ...) \
	TEST_OP op_##governor##_woke(u64 *w) \
	{ \
		pelton_idle_woke(&RECORD(1)->last, w[2], (u32)w[3], (u32)w[4]); \
		return 0; \
	} \
	TEST_OP op_##governor##_select(u64 *w) \
	{ \
		struct pelton_idle_now now = idle_now(w); \
		struct pelton_idle_choice choice; \
\
		pelton_##governor##_select(__VA_ARGS__, TABLE(2), &now, &choice); \
		return idle_answer(&choice); \
	}

IDLE_OPS(menu, MENU, POLICY, MENU(1))
IDLE_OPS(teo, TEO, POLICY, TEO(1))
