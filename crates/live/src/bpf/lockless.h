/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at queues whose lock is not held: what may be half-way through a change is not recorded. Part of common.h. */
#ifndef PELTON_LIVE_LOCKLESS_H
#define PELTON_LIVE_LOCKLESS_H

/* A copy takes a fraction of this; a longer one was interrupted. */
#define COPY_NS_MAX 2000

/*
 * A tick and the end of balancing look without the lock of the runqueue. Another CPU that holds it may be half-way
 * through a change: what was copied then is no state the queue ever had. Asked right after copying: a change takes
 * longer than a copy. A copy that was interrupted may be younger than its time says.
 */
HIDDEN int is_changing(struct state *state, struct cfs_rq *queue)
{
	struct rq *rq = rq_of_queue(queue);
	u32 word = 0;

	if ((state->source != AT_TICK && state->source != AT_BALANCE) || !rq)
		return 0;
	if (bpf_ktime_get_ns() - state->head.time_ns > COPY_NS_MAX)
		return 1;
	if (!bpf_core_type_exists(struct qspinlock) || !bpf_core_field_exists(rq->__lock))
		return 0;
	bpf_probe_read_kernel(&word, sizeof(word), &rq->__lock);
	return word != 0;
}

/*
 * Without the lock of the queue an interrupt, or another CPU, may change and record it between reservation and reading:
 * that must not come after this look. The reader sorts by time.
 */
HIDDEN void finish(struct head *head, u32 source, int told)
{
	if (!told) {
		bpf_ringbuf_discard(head, BPF_RB_NO_WAKEUP);
		return;
	}
	if (may_be_unlocked(source))
		head->time_ns = bpf_ktime_get_ns();
	submit(head);
}

#endif
