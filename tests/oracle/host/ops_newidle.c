// SPDX-License-Identifier: GPL-2.0-or-later
/* A CPU that goes idle: dice, searches, and what it remembers of them. */
#include "host.h"
#include "pelton/balance.h"

static u64 tick_of(u64 ns)
{
	return ns / ORACLE_TICK_NS * ORACLE_TICK_NS;
}

/* Time since the calls were counted: short, seconds, days, years, and backwards, as clocks of two CPUs may differ. */
static u64 since_count(void)
{
	switch (below(8)) {
	case 0:
		return below(1 << 24);
	case 1:
		return -below(1 << 20);
	case 2:
		return below(1ull << 50);
	case 3:
		return below(1ull << 62);
	default:
		return below(1ull << 33);
	}
}

static void a_memory(struct pelton_lb_domain *own, u64 now)
{
	own->newidle_calls = chance(40) ? 1023 : (u32)below(1024);
	own->newidle_hits = chance(90) ? (u32)below(1100) : (u32)below(1 << 20);
	own->newidle_ratio = chance(90) ? (u32)below(1060) : (u32)below(1 << 20);
	own->newidle_since_ns = now - since_count();
	own->newidle_cost_ns = chance(50) ? below(300000) : below(3000);
	own->newidle_decayed_ns = tick_of(now) - below(chance(50) ? 3 : 400) * ORACLE_TICK_NS;
	if (chance(40))
		own->newidle_decayed_ns -= 249 * (u64)ORACLE_TICK_NS;
	if (oracle_version < 702)
		own->newidle_since_ns = 0;
	else if (chance(1))
		own->newidle_ratio = 1u << 31 | (u32)rng_next();
}

static void make_newidle(struct oracle_state *s)
{
	u32 i;

	s->now = (1ull << 41) + below(1ull << 40);
	s->irq = rng_next();
	s->weight = rng_next();
	s->group = chance(97) ? 1 + (u32)below(ORACLE_DOMAINS) : 0;
	s->lost = chance(97);
	s->newidle.avg_idle_ns = chance(70) ? 300000 + below(700001) : below(400000);
	s->newidle.max_cost_ns = chance(50) ? PELTON_MIGRATION_COST_NS : below(800000);
	for (i = 0; i < s->group; i++)
		a_memory(&s->remembered[i], s->now);
}

/* A wrong rule may answer in the place of the core. */
struct dice {
	u32 (*wins)(const struct pelton_lb_domain *own, u32 draw);
	u32 (*weight)(const struct pelton_policy *pol, const struct pelton_lb_domain *own);
};

/* Is the domain searched? */
static u32 looks(struct oracle_state *s, const struct pelton_policy *pol, const struct dice *dice,
		 struct pelton_lb_domain *own, u64 now)
{
	if (!pelton_lb_newidle_throws(pol, own))
		return 1;
	s->aux2++;
	if (dice->wins(own, oracle_step(&s->irq)))
		return 1;
	pelton_update_newidle_stats(pol, own, 0, now);
	return 0;
}

static void searched(struct oracle_state *s, const struct pelton_policy *pol, struct pelton_lb_domain *own,
		     const struct oracle_search *found, u32 weight, u64 now)
{
	if (found->cost_ns)
		pelton_update_newidle_stats(pol, own, weight * found->found, now);
	pelton_lb_newidle_searched(pol, own, found->cost_ns, tick_of(s->now));
}

static void domains(struct oracle_state *s, const struct pelton_policy *pol, const struct dice *dice)
{
	u64 spent_ns = 0;
	u32 level;

	for (level = 0; level < s->group; level++) {
		struct pelton_lb_domain *own = &s->remembered[level];
		struct oracle_search found = oracle_search(s, level);
		u32 weight;

		if (pelton_lb_newidle_skips(own, s->newidle.avg_idle_ns, spent_ns))
			break;
		if (!looks(s, pol, dice, own, s->now + spent_ns))
			continue;
		weight = dice->weight(pol, own);
		spent_ns += found.cost_ns;
		s->aux |= 1ull << level;
		searched(s, pol, own, &found, weight, s->now + spent_ns);
		s->ret = found.found;
		if (found.found || found.stops)
			break;
	}
	pelton_newidle_spent(&s->newidle, spent_ns);
}

static void newidle_with(struct oracle_state *s, const struct pelton_policy *pol, const struct dice *dice)
{
	struct pelton_newidle gate = s->newidle;
	u64 seed = s->irq;

	gate.domain_cost_ns = s->group ? s->remembered[0].newidle_cost_ns : 0;
	if (s->group && s->lost && !pelton_newidle_closed(pol, &gate))
		domains(s, pol, dice);
	s->irq = seed;
}

static u32 right_wins(const struct pelton_lb_domain *own, u32 draw)
{
	return pelton_lb_newidle_wins(own, draw);
}

static u32 right_weight(const struct pelton_policy *pol, const struct pelton_lb_domain *own)
{
	return pelton_lb_newidle_weight(pol, own);
}

void newidle_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	newidle_with(s, pol, &(struct dice){ right_wins, right_weight });
}

static void run_newidle(struct oracle_state *s)
{
	newidle_under(s, &oracle_policy);
}

static u32 one_side_less(const struct pelton_lb_domain *own, u32 draw)
{
	return draw % PELTON_NEWIDLE_CALLS <= own->newidle_ratio;
}

void newidle_low_side(struct oracle_state *s)
{
	newidle_with(s, &oracle_policy, &(struct dice){ one_side_less, right_weight });
}

static u32 cut_weight(const struct pelton_policy *pol, const struct pelton_lb_domain *own)
{
	return pelton_lb_newidle_throws(pol, own) ? PELTON_NEWIDLE_CALLS / (1u + own->newidle_ratio) : 1;
}

void newidle_cut_weight(struct oracle_state *s)
{
	newidle_with(s, &oracle_policy, &(struct dice){ right_wins, cut_weight });
}

static void make_stats(struct oracle_state *s)
{
	s->now = (1ull << 41) + below(1ull << 40);
	/* Above what 6.18.2 makes of searches at most as well. */
	s->irq = chance(30) ? 0 : below(chance(50) ? 400000 : 2 * PELTON_NEWIDLE_DEAREST_NS);
	s->flags = chance(50) ? 0 : 1 + (u32)below(1024);
	a_memory(&s->remembered[0], s->now);
}

void newidle_stats_under(struct oracle_state *s, const struct pelton_policy *pol)
{
	pelton_update_newidle_stats(pol, &s->remembered[0], s->flags, s->now);
}

static void run_stats(struct oracle_state *s)
{
	newidle_stats_under(s, &oracle_policy);
}

/* Without a search the core has the fading alone, which the periodic balance asks for. */
static void run_cost(struct oracle_state *s)
{
	struct pelton_lb_domain *own = &s->remembered[0];
	u64 now = tick_of(s->now);

	s->ret = s->irq <= own->newidle_cost_ns && now > own->newidle_decayed_ns + PELTON_NEWIDLE_DECAY_NS;
	if (!s->irq) {
		s->ret = pelton_lb_newidle_decay(own, now);
		return;
	}
	pelton_update_newidle_stats(&oracle_policy, own, s->flags, s->now);
	pelton_lb_newidle_searched(&oracle_policy, own, s->irq, now);
}

const struct oracle_op ops_newidle[] = {
	{ "sched_balance_newidle",
	  "pelton_newidle_closed, pelton_lb_newidle_skips, pelton_lb_newidle_throws, pelton_lb_newidle_wins, "
	  "pelton_lb_newidle_weight, pelton_newidle_spent",
	  make_newidle, k_newidle, run_newidle, 0, 200 },
	{ "update_newidle_stats", "pelton_update_newidle_stats", make_stats, k_newidle_stats, run_stats, 0, 200 },
	{ "update_newidle_cost", "pelton_lb_newidle_searched, pelton_lb_newidle_decay", make_stats, k_newidle_cost,
	  run_cost, 0, 200 },
	{ 0 },
};
