/* SPDX-License-Identifier: GPL-2.0-only */
/* EEVDF: lag, eligibility, choice. After fair_place.h. */

#if ORACLE_VERSION >= 606
static struct sched_entity o_ee[ORACLE_ENTITIES + 1];

static void eevdf_reset(struct cfs_rq *q)
{
	q->tasks_timeline = RB_ROOT_CACHED;
	current_of(q, NULL);
	q->next = NULL;
	q->load.weight = 0;
#if ORACLE_VERSION >= 700
	q->sum_w_vruntime = q->sum_weight = q->sum_shift = 0;
#else
	q->avg_vruntime = q->avg_load = 0;
#endif
}

static void eevdf_entity(struct sched_entity *k, const struct oracle_entity *e, struct cfs_rq *q)
{
	memset(k, 0, sizeof(*k));
	k->vruntime = e->vruntime;
	k->deadline = e->deadline;
	k->vlag = e->vlag;
	k->slice = e->slice;
	k->custom_slice = 1;
	k->load.weight = scale_load(e->weight);
	k->cfs_rq = q;
}

/* The entities of the case on the root queue; number `curr` of them, from 1, is running. */
static void eevdf_in(const struct oracle_state *s)
{
	struct cfs_rq *q = ROOT;
	u32 i;

	eevdf_reset(q);
	q->zero_vruntime = s->entities ? s->e[0].vruntime : 0;
	for (i = 0; i < s->entities; i++) {
		eevdf_entity(&o_ee[i], &s->e[i], q);
		o_ee[i].on_rq = 1;
		update_load_add(&q->load, o_ee[i].load.weight);
		if (i + 1 == s->curr)
			current_of(q, &o_ee[i]);
		else
			__enqueue_entity(q, &o_ee[i]);
	}
#if ORACLE_VERSION >= 614
	q->nr_queued = s->entities;
#else
	q->nr_running = s->entities;
#endif
}

/* ret: average run time, aux: who is eligible, one bit each, aux2: deadline of the chosen one. */
void k_eevdf_pick(struct oracle_state *s)
{
	struct sched_entity *k;
	u32 i;

	eevdf_in(s);
	s->ret = avg_vruntime(ROOT);
	s->aux = 0;
	for (i = 0; i < s->entities; i++)
		s->aux |= (u64) !!entity_eligible(ROOT, &o_ee[i]) << i;
#if ORACLE_VERSION >= 700
	k = pick_eevdf(ROOT, false);
#else
	k = pick_eevdf(ROOT);
#endif
	s->aux2 = k ? k->deadline : 0;
	eevdf_reset(ROOT);
}
#endif
