/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions with all that they were made of, for who asks for a recording (SETTINGS->record): the loader reads the same
 * two records (crates/live/src/scheduler/recorded.rs), and the core decides them again.
 *
 *   live_decision    a call of the governor that the hook delivered; of one that the gate refused what comes behind
 *                    `rq` is as it was
 *   live_placement   a task's CPU; `rows` of `nr_cpus` CPUs. `torn`: another CPU wrote a row meanwhile
 */
#ifndef PELTON_LIVE_RECORD_H
#define PELTON_LIVE_RECORD_H

struct live_decision {
	u64 at_ns; /* CLOCK_MONOTONIC */
	u64 now_ns;
	u32 record; /* LIVE_RECORD_DECISION */
	u32 cpu;
	u32 kind; /* PELTON_SITE_ */
	u32 how;  /* PELTON_HOW_ */
	u32 hooked;
	u32 verdict;
	u32 target; /* 0 where nothing was decided */
	u32 reserved;
	struct pelton_sugov_policy sp;
	struct pelton_sugov_policy sp_after;
	struct pelton_sugov_cpu sc;
	struct pelton_sugov_cpu sc_after;
	struct pelton_rq rq;
	struct pelton_uclamp_sum_rq clamps;
	struct pelton_boost_cpu boost;
	struct pelton_cpu_state state;
	struct pelton_cpu_state state_after;
	struct pelton_perf_terms terms;
	struct pelton_decision decision;
};

struct live_placement {
	u64 at_ns;
	u32 record; /* LIVE_RECORD_PLACEMENT */
	u32 tid;
	u32 torn;
	u32 nr_cpus;
	struct pelton_placement question;
	struct pelton_placed answer;
	struct pelton_place_cpu rows[PELTON_PLACE_CPUS_MAX];
};

#define LIVE_RECORD_DECISION 1u
#define LIVE_RECORD_PLACEMENT 2u

/* The loader makes it as large as what a loaded machine decides between two looks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} recorded SEC(".maps");

/* A decision that is being taken, of each CPU and of the copy to work on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_decision);
} deciding SEC(".maps");

/* A placement that is being made, of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_placement);
} placing SEC(".maps");

#define COPY(to, from) bpf_probe_read_kernel(&(to), sizeof(to), &(from)) /* clang crashes at copies of this size */

HIDDEN void hand_out(const struct live_cpu *c, void *record, u64 size)
{
	if (bpf_ringbuf_output(&recorded, record, size, BPF_RB_NO_WAKEUP))
		COUNT(c, unrecorded);
}

/* Before an event reaches the hook. */
APART u32 record_before(u32 at)
{
	struct live_decision *d = bpf_map_lookup_elem(&deciding, &at);
	struct live_cpu *c = record_of(at);

	if (!d)
		return 0;
	COPY(d->sp, c->sp);
	COPY(d->sc, c->sc);
	return 1;
}

/* The hook delivered it. */
APART u32 record_event(u32 at, u64 now, u32 kind_and_how, u32 hooked)
{
	struct live_decision *d = bpf_map_lookup_elem(&deciding, &at);
	struct live_cpu *c = record_of(at);

	if (!d)
		return 0;
	d->now_ns = now;
	d->kind = kind_and_how >> 16;
	d->how = kind_and_how & 0xffffu;
	d->hooked = hooked;
	COPY(d->rq, c->rq);
	COPY(d->clamps, c->clamps);
	COPY(d->boost, c->boost);
	COPY(d->state, c->state);
	return 1;
}

/* The gate refused it, or what was decided is there. */
APART u32 record_after(u32 at, u32 verdict)
{
	struct live_decision *d = bpf_map_lookup_elem(&deciding, &at);
	struct live_cpu *c = record_of(at);

	if (!d)
		return 0;
	d->at_ns = bpf_ktime_get_ns();
	d->record = LIVE_RECORD_DECISION;
	d->cpu = index_of(c);
	d->verdict = verdict;
	d->target = verdict ? 0 : c->target;
	COPY(d->sp_after, c->sp);
	COPY(d->sc_after, c->sc);
	COPY(d->state_after, c->state);
	COPY(d->terms, c->terms);
	COPY(d->decision, c->decision);
	hand_out(c, d, sizeof(*d));
	return 1;
}

#endif
