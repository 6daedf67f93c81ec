/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of the idle governors. Included by entry.c only. */

#define TABLE(i) ((const struct pelton_idle_table *)record(w, w[i]))
#define MENU(i) ((struct pelton_menu *)record(w, w[i]))
#define TEO(i) ((struct pelton_teo *)record(w, w[i]))

/* Arguments 3 to 7: sleep_ns, event_ns, tick_ns, latency_ns, tick_stopped. */
static inline __attribute__((always_inline)) struct pelton_idle_now idle_now(const u64 *w)
{
	struct pelton_idle_now now = { w[3], w[4], w[5], w[6], (u32)w[7], 0 };

	return now;
}

static inline __attribute__((always_inline)) u64 idle_answer(const struct pelton_idle_choice *choice)
{
	return choice->state | (u64)choice->stop_tick << 32;
}

/* menu, residency_ns, state, woke */
TEST_OP op_menu_woke(u64 *w)
{
	pelton_idle_woke(&MENU(1)->last, w[2], (u32)w[3], (u32)w[4]);
	return 0;
}

/* menu, table, what is known */
TEST_OP op_menu_select(u64 *w)
{
	struct pelton_idle_now now = idle_now(w);
	struct pelton_idle_choice choice;

	pelton_menu_select(MENU(1), TABLE(2), &now, &choice);
	return idle_answer(&choice);
}

/* teo, residency_ns, state, woke */
TEST_OP op_teo_woke(u64 *w)
{
	pelton_idle_woke(&TEO(1)->last, w[2], (u32)w[3], (u32)w[4]);
	return 0;
}

/* teo, table, what is known */
TEST_OP op_teo_select(u64 *w)
{
	struct pelton_idle_now now = idle_now(w);
	struct pelton_idle_choice choice;

	pelton_teo_select(TEO(1), TABLE(2), &now, &choice);
	return idle_answer(&choice);
}
