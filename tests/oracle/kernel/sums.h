/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and averages of load tracking, from the core's record to the kernel's and back. Estimates are not among them. */

static void sums_in(struct sched_avg *k, const struct pelton_avg *p)
{
	k->last_update_time = p->last_update_time_ns;
	k->load_sum = p->load_sum;
	k->runnable_sum = p->runnable_sum;
	k->util_sum = p->util_sum;
	k->period_contrib = p->period_contrib;
	k->load_avg = p->load_avg;
	k->runnable_avg = p->runnable_avg;
	k->util_avg = p->util_avg;
}

static void sums_out(const struct sched_avg *k, struct pelton_avg *p)
{
	p->last_update_time_ns = k->last_update_time;
	p->load_sum = k->load_sum;
	p->runnable_sum = k->runnable_sum;
	p->util_sum = k->util_sum;
	p->period_contrib = k->period_contrib;
	p->load_avg = k->load_avg;
	p->runnable_avg = k->runnable_avg;
	p->util_avg = k->util_avg;
}
