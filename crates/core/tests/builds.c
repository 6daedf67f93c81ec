/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives the core through pseudo-random scheduler events in every profile and prints a hash of all state: equal for
 * every compiler, word size and optimisation level. A checked build stops when an assertion of the core fails.
 */
#include <stdio.h>
#include <stdlib.h>

#define PELTON_ASSERT(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "assertion failed: %s\n", #condition); \
			exit(1); \
		} \
	} while (0)

#include "pelton/pelton.h"
#include "pelton/policy_table.h"

#define TASKS 4
#define STEPS 5000
#define PLACEMENTS 300
#define TICK_NS 4000000u

struct world {
	struct pelton_policy pol;
	struct pelton_rq rq;
	struct pelton_cfs_rq group;
	struct pelton_se group_se;
	struct pelton_tg tg;
	struct pelton_se task[TASKS];
	struct pelton_sugov_policy sp;
	struct pelton_sugov_cpu sc;
	u64 now, seed, hash;
	s32 curr;
};

static const u32 khz[] = { 208000, 432000, 729000, 960000, 1200000 };

static u32 next(struct world *w, u32 below)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(w->seed >> 33) % below;
}

static void fold(struct world *w, u64 value)
{
	w->hash = (w->hash ^ value) * 0x100000001b3ull;
}

static void fold_avg(struct world *w, const struct pelton_avg *a)
{
	fold(w, a->util_avg + a->load_avg + a->runnable_avg);
	fold(w, a->util_sum + a->load_sum + a->runnable_sum);
	fold(w, a->last_update_time_ns + a->period_contrib + a->util_est_enqueued + a->util_est_ewma);
}

static void setup_group(struct world *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(&w->pol, &w->rq, &w->rq.cfs);

	pelton_se_init(&w->group_se, 1024);
	pelton_group_online(&ctx, &w->rq.cfs, &w->group_se);
}

static void setup(struct world *w, u32 profile)
{
	struct world fresh = { .seed = profile, .hash = 0xcbf29ce484222325ull, .curr = -1, .tg = { 0, 1024 } };
	u32 i;

	*w = fresh;
	pelton_policy_for_profile(profile, &w->pol);
	pelton_rq_init(&w->pol, &w->rq, 0, 700, 1024);
	for (i = 0; i < TASKS; i++)
		pelton_se_init(&w->task[i], 512u << i);
	setup_group(w);
	w->sp.nr_cpus = 1;
	w->sp.min_khz = khz[0];
	w->sp.max_khz = w->sp.ref_khz = w->sp.cur_khz = khz[4];
	w->sp.fast_switch = w->sp.freq_invariant = 1;
	pelton_sugov_init(&w->pol, &w->sp, pelton_default_rate_limit_us(&w->pol, 40000, 0));
}

static void wake(struct world *w, struct pelton_se *se)
{
	if (!se->on_rq && !se->avg.last_update_time_ns)
		pelton_post_init_entity_util_avg(&w->pol, &w->rq.cfs, se, w->rq.cap_orig);
	if (!se->on_rq || se->delayed)
		fold(w, pelton_rq_enqueue_task(&w->pol, &w->rq, se, w->now, next(w, 2000), w->curr < 0));
}

static void pick(struct world *w, s32 who)
{
	struct pelton_se *prev = w->curr < 0 ? 0 : &w->task[w->curr];

	if (!w->task[who].on_rq || w->task[who].delayed || w->curr == who)
		return;
	fold(w, pelton_rq_switch_fair(&w->pol, &w->rq, prev, &w->task[who], w->now, 0, w->curr < 0));
	w->curr = who;
}

static void leave(struct world *w, s32 who, u32 flags)
{
	if (!w->task[who].on_rq)
		return;
	fold(w, pelton_rq_dequeue_task(&w->pol, &w->rq, &w->task[who], w->now, 0, w->curr < 0, flags));
	if (w->curr == who) {
		fold(w, pelton_rq_switch_idle(&w->pol, &w->rq, &w->task[who], w->now, 0, 0));
		w->curr = -1;
	}
}

static void delay(struct world *w, s32 who)
{
	if (w->task[who].on_rq && !w->task[who].delayed && w->curr != who && w->pol.delayed_dequeue)
		fold(w, pelton_rq_delay_task(&w->pol, &w->rq, &w->task[who], w->now, 0, w->curr < 0));
}

/* A group on the same CPU gains or loses an imaginary task: weight, propagation, shares. */
static void group(struct world *w)
{
	struct pelton_ctx ctx = pelton_cfs_ctx(&w->pol, &w->rq, &w->rq.cfs);

	w->group.load_weight = next(w, 3) * 1024;
	w->group.h_nr_runnable = w->group.load_weight != 0;
	pelton_update_cfs_rq_load_avg(&ctx, &w->group);
	if (!w->group_se.on_rq)
		fold(w, pelton_enqueue_entity(&ctx, &w->rq.cfs, &w->group_se, &w->group, 1));
	else
		fold(w, pelton_dequeue_entity(&ctx, &w->rq.cfs, &w->group_se, &w->group, -1, 0));
	fold(w, pelton_update_tg_load_avg(&w->pol, &w->tg, &w->group, w->now));
	pelton_reweight(&w->pol, &w->rq.cfs, &w->group_se,
			pelton_calc_group_shares(&w->pol, &w->group, &w->tg, w->group_se.weight));
}

static void govern(struct world *w)
{
	struct pelton_cpu_state s = { 0 };
	/* Of the domain's one CPU; a compiler that does not know the number looks for a second one. */
	struct pelton_perf_terms terms[2];
	struct pelton_decision out = { 0 };
	u32 bw_dl = next(w, 200), rt_nr = next(w, 8) == 0, flags = next(w, 8);

	pelton_cpu_state_fill(&w->rq, bw_dl, rt_nr, next(w, 3), &s);
	if (pelton_sugov_begin(&w->pol, &w->sp, &w->sc, s.bw_dl, w->now, TICK_NS, flags, 1) == PELTON_VERDICT_OPEN)
		pelton_sugov_evaluate(&w->pol, &w->sp, &w->sc, &s, 0, w->now, TICK_NS, khz, 5, terms, &out);
	fold(w, out.perf + out.raw_khz + w->sp.next_freq_khz);
	w->rq.freq_scale = w->sp.next_freq_khz ? pelton_mul_div_floor(w->sp.next_freq_khz, 1024, khz[4]) : 1024;
}

static void step(struct world *w)
{
	s32 who = (s32)next(w, TASKS);

	w->now += next(w, 8) ? next(w, 3000000) : next(w, 900000000);
	switch (next(w, 11)) {
	case 0 ... 2:
		wake(w, &w->task[who]);
		break;
	case 3 ... 4:
		pick(w, who);
		break;
	case 5:
		leave(w, who, PELTON_DEQUEUE_SLEEP);
		break;
	case 6:
		leave(w, who, PELTON_DEQUEUE_MIGRATE);
		break;
	case 7:
		delay(w, who);
		break;
	case 8:
		group(w);
		break;
	case 9:
		fold(w, pelton_rq_update_blocked(&w->pol, &w->rq, w->now, 0,
						 w->curr < 0 ? PELTON_RUNS_IDLE : next(w, 3), 50));
		break;
	default:
		govern(w);
	}
}

/* Records that no kernel need have: every build must answer alike, and stay within the record. */
static void fill_record(struct world *w, u32 *at, u32 words)
{
	u32 i;

	for (i = 0; i < words; i++)
		at[i] = next(w, 4) ? next(w, 1100) : next(w, 0x7fffffff);
}

static void place(struct world *w)
{
	static struct pelton_placement s;
	static struct pelton_placed out;
	u32 c, i, cpus = 1 + next(w, 8);

	fill_record(w, (u32 *)&s, sizeof(s) / sizeof(u32));
	s.nr_cpus = cpus;
	s.this_cpu = next(w, cpus);
	s.prev_cpu = s.task.cpu = next(w, cpus);
	s.task.se = w->task[next(w, TASKS)];
	s.task.queue_update_ns = s.task.se.avg.last_update_time_ns + next(w, 50000000);
	s.task.allowed = next(w, 256);
	s.flags = 1u << (1 + next(w, 3));
	s.energy_aware = next(w, 2);
	s.overutilized = next(w, 4) == 0;
	s.nr_perf_domains = next(w, 4);
	for (i = 0; i < PELTON_PERF_DOMAINS_MAX; i++)
		s.perf_domains[i].nr_states = next(w, 9);
	for (c = 0; c < cpus; c++) {
		s.cpus[c].nr_domains = next(w, 4);
		s.cpus[c].asym_domain = next(w, 4);
		s.cpus[c].llc_domain = next(w, 4);
		s.cpus[c].nr_running = next(w, 3);
		s.cpus[c].state.rt_nr_running = next(w, 2);
		s.cpus[c].curr_idle = next(w, 2);
		for (i = 0; i < PELTON_DOMAINS_MAX; i++)
			s.cpus[c].domains[i].span = (next(w, 256) | 1u << c) & ((1u << cpus) - 1u);
	}
	fold(w, pelton_select_task_rq_fair(&w->pol, &s, &out));
	fold(w, out.how + out.recent_cpu + out.waker_flips + out.nr_energies);
	for (i = 0; i < out.nr_energies; i++)
		fold(w, out.energies[i].energy + out.energies[i].max_util);
	i = next(w, 1025);
	fold(w, (u64)pelton_util_fits_cpu(&w->pol, &s, next(w, 1100), i, 1024, s.this_cpu));
}

static u64 deadline(struct world *w)
{
	return next(w, 3) ? 1 + next(w, 1000000) : PELTON_NO_DEADLINE;
}

static void search(struct world *w)
{
	struct pelton_class_task t = { .prio = 1 + next(w, 99) };
	struct pelton_class_curr curr = { .deadline_ns = deadline(w), .nr_cpus_allowed = 2 };
	static struct pelton_class_search rt, dl;
	u32 c;

	curr.prio = next(w, 99);
	t.nr_cpus = 1 + next(w, 8);
	t.asymmetric = next(w, 2);
	t.deadline_ns = 1 + next(w, 1000000);
	t.dl_deadline_ns = 1024 + next(w, 1000000);
	t.dl_runtime_ns = 1 + next(w, (u32)t.dl_deadline_ns);
	t.dl_density = pelton_dl_bw(t.dl_runtime_ns, t.dl_deadline_ns);
	t.uclamp_min = next(w, 1025);
	t.uclamp_max = next(w, 1025);
	t.nr_cpus_allowed = 1 + next(w, 4);
	t.cpu = next(w, t.nr_cpus);
	t.this_cpu = next(w, t.nr_cpus);
	t.last_found = next(w, t.nr_cpus);
	pelton_class_begin(&rt);
	pelton_class_begin(&dl);
	for (c = 0; c < t.nr_cpus; c++) {
		struct pelton_class_cpu cpu = { .cpu = c, .allowed = next(w, 2) };

		cpu.prio = next(w, 99);
		cpu.deadline_ns = deadline(w);
		cpu.capacity = next(w, 1025);
		cpu.distance = next(w, 4);
		pelton_find_lowest(&w->pol, &t, &cpu, &rt);
		pelton_find_later(&w->pol, &t, &cpu, &dl);
	}
	c = pelton_later_rq(&w->pol, &t, &dl);
	fold(w, c + pelton_class_spreads(&w->pol, &t, c, 1) + pelton_dl_looks(&w->pol, &t, &curr, 512));
	fold(w, pelton_lowest_rq(&t, &rt) + pelton_select_rt(&w->pol, &t, &curr, &rt));
}

static void fold_all(struct world *w)
{
	u32 i;

	fold_avg(w, &w->rq.cfs.avg);
	fold_avg(w, &w->rq.rt);
	fold_avg(w, &w->rq.dl);
	fold_avg(w, &w->rq.irq);
	fold_avg(w, &w->rq.hw);
	fold_avg(w, &w->group_se.avg);
	for (i = 0; i < TASKS; i++)
		fold_avg(w, &w->task[i].avg);
	fold(w, w->rq.cfs.util_est + w->rq.cfs.load_weight + w->rq.clock.clock_pelt_ns + w->rq.clock.lost_idle_ns);
}

int main(void)
{
	static struct world w;
	u32 profile, i;

	for (profile = 0; profile < pelton_profile_count(); profile++) {
		setup(&w, profile);
		for (i = 0; i < STEPS; i++) {
			step(&w);
			fold_all(&w);
		}
		for (i = 0; i < PLACEMENTS; i++)
			place(&w);
		for (i = 0; i < PLACEMENTS; i++)
			search(&w);
		printf("%s %016llx\n", pelton_profile_names[profile], w.hash);
	}
	return 0;
}
