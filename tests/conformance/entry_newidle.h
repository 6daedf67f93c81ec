/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU that goes idle again and again, and its searches of one domain. Included by entry.c only, after entry_knob.h.
 */

static const u64 newidle_span[6] = { 1, 999, 1000000, 4200000, 600000000, 3000000000ull };

static inline __attribute__((always_inline)) u32 newidle_search(u64 *w, struct pelton_lb_domain *own, u32 rolled,
								u32 found, u64 cost, u64 now)
{
	u32 weight = pelton_lb_newidle_weight(POLICY, own);

	if (pelton_lb_newidle_throws(POLICY, own) && !pelton_lb_newidle_wins(own, rolled)) {
		pelton_update_newidle_stats(POLICY, own, 0, now);
		return 0;
	}
	if (cost)
		pelton_update_newidle_stats(POLICY, own, weight * found, now);
	cost = pelton_lb_newidle_counts_for(POLICY, own, cost, found);
	pelton_lb_newidle_searched(POLICY, own, cost, now - now % 4000000);
	return 1;
}

static inline __attribute__((always_inline)) void newidle_step(u64 *w, struct story *s, struct pelton_lb_domain *own)
{
	u32 rolled, found;
	u64 cost;

	s->now += newidle_span[draw(s, 6)];
	rolled = (u32)draw(s, 1u << 31);
	found = !draw(s, 3);
	cost = draw(s, 4) ? draw(s, 1000000) : 0;
	say(s, newidle_search(w, own, rolled, found, cost, s->now));
	say(s, own->newidle_calls);
	say(s, own->newidle_hits);
	say(s, own->newidle_ratio);
	say(s, own->newidle_since_ns);
	say(s, own->newidle_cost_ns);
	say(s, own->newidle_decayed_ns);
}

/* seed, now */
TEST_OP op_newidle_dice(u64 *w)
{
	struct story s = { w[1], 0, w[2] };
	struct pelton_lb_domain own = { 0 };
	u32 i;

	own.newidle_calls = 1000 + (u32)draw(&s, 24);
	own.newidle_hits = (u32)draw(&s, 1500);
	own.newidle_ratio = (u32)draw(&s, 1100);
	own.newidle_since_ns = s.now + draw(&s, 2) * 1000000;
	own.newidle_cost_ns = draw(&s, 600000);
	own.newidle_decayed_ns = s.now;
	for (i = 0; i < STORY_STEPS; i++)
		newidle_step(w, &s, &own);
	return s.said;
}

/* calls, hits and ratio; hits of one more call, now, and what is asked: ratio, calls, hits, what a find stands for */
TEST_OP op_newidle_count(u64 *w)
{
	struct pelton_lb_domain own = { 0 };

	own.newidle_calls = (u32)w[1];
	own.newidle_hits = (u32)w[2];
	own.newidle_ratio = (u32)w[3];
	pelton_update_newidle_stats(POLICY, &own, (u32)w[4], w[5]);
	if ((w[6] & 3) == 3)
		return pelton_lb_newidle_weight(POLICY, &own);
	return (w[6] & 3) == 2 ? own.newidle_hits : w[6] & 1 ? own.newidle_calls : own.newidle_ratio;
}
