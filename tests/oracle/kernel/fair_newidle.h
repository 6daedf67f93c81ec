/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU that goes idle: which of its domains it searches, and what it remembers of that. After fair_select.h. */

static const struct oracle_state *o_newly;
static u32 o_searched, o_draws;
static u64 o_dice;

/* Of lib/random32.c: the dice of the case. */
u32 prandom_u32_state(struct rnd_state *state)
{
	o_draws++;
	return oracle_step(&o_dice);
}

static int oracle_newly_search(int cpu, struct rq *rq, struct sched_domain *sd, int idle, int *goes_on)
{
	struct oracle_search found = oracle_search(o_newly, sd->level);

	o_searched |= 1u << sd->level;
	oracle_now += found.cost_ns;
	if (found.stops) {
		*goes_on = 0;
		/* By which older releases see that there is work here; a find is none until it is queued. */
		rq->nr_running = !found.found;
	}
	return found.found;
}

#if ORACLE_VERSION >= 601
static void dice_in(struct sched_domain *sd, const struct pelton_lb_domain *own)
{
	sd->newidle_call = own->newidle_calls;
	sd->newidle_success = own->newidle_hits;
	sd->newidle_ratio = own->newidle_ratio;
#if ORACLE_VERSION >= 702
	sd->newidle_stamp = own->newidle_since_ns;
#endif
}

static void dice_out(const struct sched_domain *sd, struct pelton_lb_domain *own)
{
	own->newidle_calls = sd->newidle_call;
	own->newidle_hits = sd->newidle_success;
	own->newidle_ratio = sd->newidle_ratio;
#if ORACLE_VERSION >= 702
	own->newidle_since_ns = sd->newidle_stamp;
#endif
}
#else
static void dice_in(struct sched_domain *sd, const struct pelton_lb_domain *own)
{
}

static void dice_out(const struct sched_domain *sd, struct pelton_lb_domain *own)
{
}
#endif

static void remembered_in(struct sched_domain *sd, const struct pelton_lb_domain *own)
{
	sd->max_newidle_lb_cost = own->newidle_cost_ns;
#if ORACLE_VERSION >= 601
	sd->last_decay_max_lb_cost = own->newidle_decayed_ns / ORACLE_TICK_NS;
#else
	sd->next_decay_max_lb_cost = own->newidle_decayed_ns / ORACLE_TICK_NS + HZ;
#endif
	dice_in(sd, own);
}

static void remembered_out(const struct sched_domain *sd, struct pelton_lb_domain *own)
{
	own->newidle_cost_ns = sd->max_newidle_lb_cost;
#if ORACLE_VERSION >= 601
	own->newidle_decayed_ns = (u64)sd->last_decay_max_lb_cost * ORACLE_TICK_NS;
#else
	own->newidle_decayed_ns = ((u64)sd->next_decay_max_lb_cost - HZ) * ORACLE_TICK_NS;
#endif
	dice_out(sd, own);
}

static void newly_domains_in(const struct oracle_state *s)
{
	u32 i;

	for (i = 0; i < s->group; i++) {
		struct sched_domain *sd = &o_domains[0][i].one;

		memset(sd, 0, sizeof(*sd));
		sd->flags = SD_BALANCE_NEWIDLE;
		sd->level = i;
		sd->parent = i + 1 < s->group ? &o_domains[0][i + 1].one : NULL;
		remembered_in(sd, &s->remembered[i]);
	}
	rcu_assign_pointer(cpu_rq(0)->sd, s->group ? &o_domains[0][0].one : NULL);
}

static void overload_in(u32 overloaded)
{
#if ORACLE_VERSION >= 609
	o_root_domain.overloaded = overloaded;
#else
	o_root_domain.overload = overloaded;
#endif
}

static void o_tick(u64 now_ns)
{
	*(volatile unsigned long *)&jiffies = now_ns / ORACLE_TICK_NS;
}

/* CPU 0, of `group` domains, goes idle at `now`; `lost`: some CPU has more than one task. */
void k_newidle(struct oracle_state *s)
{
	static struct rq before;
	struct rq *rq = cpu_rq(0);
	struct rq_flags rf = {};
	u32 i;

	before = *rq;
	newly_domains_in(s);
	rq->rd = &o_root_domain;
	overload_in(s->lost);
	wake_run(rq, rq->idle, 0);
#if ORACLE_VERSION < 612
	rq->cfs.h_nr_running = 0;
#endif
	rq->avg_idle = s->newidle.avg_idle_ns;
	rq->max_idle_balance_cost = s->newidle.max_cost_ns;
	oracle_now = s->now;
	o_tick(s->now);
	o_newly = s;
	o_dice = s->irq;
	o_searched = o_draws = 0;
	s->ret = sched_balance_newidle(rq, &rf) > 0;
	s->aux = o_searched;
	s->aux2 = o_draws;
	s->newidle.max_cost_ns = rq->max_idle_balance_cost;
	for (i = 0; i < s->group; i++)
		remembered_out(&o_domains[0][i].one, &s->remembered[i]);
	*rq = before;
	rcu_assign_pointer(rq->sd, NULL);
	o_tick(0);
}

#if ORACLE_VERSION >= 601
/* One more call of the first domain, with `flags` hits. */
void k_newidle_stats(struct oracle_state *s)
{
	struct sched_domain *sd = &o_domains[0][0].one;

	oracle_now = s->now;
	remembered_in(sd, &s->remembered[0]);
	update_newidle_stats(sd, s->flags);
	remembered_out(sd, &s->remembered[0]);
}

/* A search that took `irq` ns, or none: what is remembered fades. */
void k_newidle_cost(struct oracle_state *s)
{
	struct sched_domain *sd = &o_domains[0][0].one;

	oracle_now = s->now;
	o_tick(s->now);
	remembered_in(sd, &s->remembered[0]);
	s->ret = update_newidle_cost(sd, s->irq, s->flags);
	remembered_out(sd, &s->remembered[0]);
	o_tick(0);
}
#endif
