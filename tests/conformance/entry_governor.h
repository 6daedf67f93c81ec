/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of performance requests and the governor. Included by entry.c only. */

#define PELTON_TEST_OPPS 8

/* What one evaluation reads and leaves behind. */
struct test_domain {
	u32 khz[PELTON_TEST_OPPS];
	struct pelton_perf_terms terms[2];
	struct pelton_decision decision;
};

#define SP(i) ((struct pelton_sugov_policy *)record(w, w[i]))
#define SC(i) ((struct pelton_sugov_cpu *)record(w, w[i]))
#define STATE(i) ((struct pelton_cpu_state *)record(w, w[i]))
#define DOMAIN(i) ((struct test_domain *)record(w, w[i]))

/* rq, state, bw_dl, rt_nr_running, idle_calls, clamps: used | min << 16 | max << 32 */
TEST_OP op_cpu_state_fill(u64 *w)
{
	pelton_cpu_state_fill(RQ(1), (u32)w[3], (u32)w[4], w[5], STATE(2));
	STATE(2)->uclamp_used = w[6] & 0xffff;
	STATE(2)->uclamp_min = (w[6] >> 16) & 0xffff;
	STATE(2)->uclamp_max = (u32)(w[6] >> 32);
	return pelton_cpu_util(POLICY, STATE(2), 0);
}

/* policy, cpu, rq, now, kind, how; offered, delivered and flags */
TEST_OP op_hook_event(u64 *w)
{
	return pelton_hook_event(POLICY, SP(1), SC(2), RQ(3), w[4], (u32)w[5], (u32)w[6]);
}

/* cpu, previous class, next class, how */
TEST_OP op_hook_switch(u64 *w)
{
	return pelton_hook_switch(POLICY, SC(1), (u32)w[2], (u32)w[3], (u32)w[4]);
}

/* policy, driver time, context switch */
TEST_OP op_gate_init(u64 *w)
{
	u32 cost_ns = pelton_gate_cost_ns(SP(1)->fast_switch, w[2], w[3]);

	pelton_gate_init(POLICY, SP(1), cost_ns);
	return cost_ns;
}

/* cpu, state */
TEST_OP op_sugov_keep_util(u64 *w)
{
	pelton_sugov_keep_util(POLICY, SC(1), STATE(2));
	return 0;
}

/* policy, cpu, bw_dl, now, tick_ns, flags, local */
TEST_OP op_sugov_begin(u64 *w)
{
	return pelton_sugov_begin(POLICY, SP(1), SC(2), (u32)w[3], w[4], w[5], (u32)w[6], (u32)w[7]);
}

/*
 * The requests that the last evaluation left, each CPU asked again by itself from CPU `from` on, and decided by what is
 * kept of the largest: as a host does that knows whose inputs changed.
 */
static void evaluate_kept(u64 *w, struct test_domain *d, u32 caller, u32 from)
{
	u32 first = pelton_sugov_first_largest(d->terms, SP(1)->nr_cpus), i, n;

	for (n = 0; n < 2; n++) {
		i = (from + n) & 1;
		if (i < SP(1)->nr_cpus)
			first = pelton_sugov_ask_again(POLICY, SP(1), &SC(2)[i], &STATE(3)[i], w[5], w[6], d->terms, i,
						       first);
	}
	pelton_sugov_decide(POLICY, SP(1), &SC(2)[caller], &STATE(3)[caller], w[5], d->terms, caller, first, d->khz,
			    (u32)w[7], &d->decision);
}

/*
 * policy, cpus, states, domain, now, tick_ns, table length | caller << 32 | how << 40; returns what the driver must do.
 * how: 0 all at once, 1 and 2 by way of kept requests, from the first or the second CPU on
 */
TEST_OP op_sugov_evaluate(u64 *w)
{
	struct test_domain *d = DOMAIN(4);
	u32 caller = (u32)(w[7] >> 32) & 0xff, how = (u32)(w[7] >> 40);

	if (how)
		evaluate_kept(w, d, caller, how - 1);
	else
		pelton_sugov_evaluate(POLICY, SP(1), SC(2), STATE(3), caller, w[5], w[6], d->khz, (u32)w[7], d->terms,
				      &d->decision);
	return d->decision.commit;
}

/* policy, cpu, state, now, previous, target */
TEST_OP op_sugov_commit_perf(u64 *w)
{
	return pelton_sugov_commit_perf(POLICY, SP(1), SC(2), STATE(3), w[4], (u32)w[5], (u32)w[6]);
}

/* policy; the driver then runs at what it was given */
TEST_OP op_sugov_work_start(u64 *w)
{
	u32 khz = pelton_sugov_work_start(POLICY, SP(1));

	if (khz != PELTON_KHZ_NONE)
		SP(1)->cur_khz = khz;
	return khz;
}

/* policy */
TEST_OP op_sugov_work_done(u64 *w)
{
	pelton_sugov_work_done(POLICY, SP(1));
	return 0;
}

/* policy, min, max */
TEST_OP op_sugov_limits(u64 *w)
{
	pelton_sugov_limits(SP(1), (u32)w[2], (u32)w[3]);
	return 0;
}

/* latency_ns, transition_delay_us */
TEST_OP op_rate_limit(u64 *w)
{
	return pelton_default_rate_limit_us(POLICY, w[1], (u32)w[2]);
}

/* state, iowait boost in capacity units, domain */
TEST_OP op_perf_eval(u64 *w)
{
	struct pelton_perf_terms none = { 0 };

	DOMAIN(3)->terms[0] = none;
	return pelton_perf_eval(POLICY, STATE(1), (u32)w[2], &DOMAIN(3)->terms[0]);
}
