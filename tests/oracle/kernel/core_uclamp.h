/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A life of clamps on one CPU: tasks come, go and change what they ask for. Included by k_core.c. */

static struct task_struct o_clamped[ORACLE_CLAMPED];
static struct task_group o_clamp_group;

static void request_clamps(struct task_struct *p, u64 *rng)
{
	unsigned int max = oracle_step(rng) % 1025, min = oracle_step(rng) % (max + 1);

	uclamp_se_set(&p->uclamp_req[UCLAMP_MIN], min, true);
	uclamp_se_set(&p->uclamp_req[UCLAMP_MAX], max, true);
}

static u64 clamps_hash(struct rq *rq, u64 hash)
{
	int id, i;

	for (id = 0; id < 2; id++) {
		hash = hash * 31 + rq->uclamp[id].value;
		for (i = 0; i < UCLAMP_BUCKETS; i++)
			hash = (hash * 31 + rq->uclamp[id].bucket[i].tasks) * 31 +
			       (rq->uclamp[id].bucket[i].tasks ? rq->uclamp[id].bucket[i].value : 0);
	}
	return hash * 31 + (rq->uclamp_flags & UCLAMP_FLAG_IDLE ? 1 : 0);
}

static void clamp_event(struct rq *rq, struct task_struct *p, unsigned int kind, u64 *rng)
{
	if (!p->uclamp[UCLAMP_MIN].active) {
#if ORACLE_VERSION >= 618
		uclamp_rq_inc(rq, p, 0);
#else
		uclamp_rq_inc(rq, p);
#endif
	} else if (kind % 4) {
		uclamp_rq_dec(rq, p);
	} else {
		request_clamps(p, rng);
		uclamp_rq_reinc_id(rq, p, UCLAMP_MIN);
		uclamp_rq_reinc_id(rq, p, UCLAMP_MAX);
	}
}

void k_uclamp_life(struct oracle_state *s)
{
	struct rq *rq = cpu_rq(0);
	u64 rng = s->now;
	u32 i;

	init_uclamp_rq(rq);
	k_key(&sched_uclamp_used.key, 1);
	memset(&o_clamp_group, 0, sizeof(o_clamp_group));
	uclamp_se_set(&o_clamp_group.uclamp[UCLAMP_MIN], s->lowest, false);
	uclamp_se_set(&o_clamp_group.uclamp[UCLAMP_MAX], s->highest, false);
	uclamp_se_set(&uclamp_default[UCLAMP_MIN], s->cap, false);
	uclamp_se_set(&uclamp_default[UCLAMP_MAX], s->util, false);
	for (i = 0; i < ORACLE_CLAMPED; i++) {
		memset(o_clamped[i].uclamp, 0, sizeof(o_clamped[i].uclamp));
		o_clamped[i].sched_class = &fair_sched_class;
		o_clamped[i].sched_task_group = i % 2 ? &o_clamp_group : &root_task_group;
		request_clamps(&o_clamped[i], &rng);
	}
	s->ret = clamps_hash(rq, s->ret);
	for (i = 0; i < s->events; i++) {
		struct task_struct *p = &o_clamped[oracle_step(&rng) % ORACLE_CLAMPED];

		clamp_event(rq, p, oracle_step(&rng), &rng);
		s->ret = clamps_hash(rq, s->ret);
		s->aux = s->aux * 31 + uclamp_eff_value(p, UCLAMP_MIN) * 1025 + uclamp_eff_value(p, UCLAMP_MAX);
	}
	uclamp_se_set(&uclamp_default[UCLAMP_MIN], 1024, false);
	uclamp_se_set(&uclamp_default[UCLAMP_MAX], 1024, false);
	init_uclamp_rq(rq);
	k_uclamp(0, 0, 0, 1024);
}
