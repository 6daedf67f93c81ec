/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Busy time of each CPU between changes of frequency, the kernel's and the core's. Energy is worked out by the reader
 * of these records, crates/live/src/scheduler/energy.rs.
 *
 * A CPU's own programs note when it is busy; any CPU may end the stretch of another one whose frequency changes with
 * it. Source: kernel/sched/cpufreq_schedutil.c of Linux 7.2 (sugov_next_freq_shared): the largest request of a domain
 * is its frequency.
 */
#ifndef PELTON_LIVE_METERED_H
#define PELTON_LIVE_METERED_H

/* A stretch without a change. Frequencies are 0 where none is known. */
struct live_stretch {
	u64 length_ns;
	u64 busy_ns;
	u32 cpu;
	u32 is_khz;
	u32 would_khz;
	u32 reserved;
};

struct live_meter {
	u64 lock;     /* a stretch is being ended */
	u64 since_ns; /* begin of the stretch; 0: nothing is known of this CPU yet */
	u64 busy_at_ns;
	u64 is_khz;
	u64 would_khz; /* of its domain */
	u64 turns;     /* odd while the next two are written */
	u64 busy_since_ns;
	u64 busy_ns;
	u64 lost; /* stretches that had no room, or were ended by two at once */
} __attribute__((aligned(64)));

struct live_meter meters[PELTON_PLACE_CPUS_MAX] SEC(".bss.meters");

/* Some thousand stretches a second and CPU at the most, looked for several times a second. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} stretches SEC(".maps");

HIDDEN struct live_meter *meter_of(u32 cpu)
{
	return &meters[cpu & (PELTON_PLACE_CPUS_MAX - 1u)];
}

/* Busy time until now, as another CPU may be writing it. */
HIDDEN u64 busy_until(struct live_meter *m, u64 now)
{
	u64 sum = 0, since = 0;
	u32 i;

	for (i = 0; i < 4; i++) {
		u64 turns = *(volatile u64 *)&m->turns;

		sum = *(volatile u64 *)&m->busy_ns;
		since = *(volatile u64 *)&m->busy_since_ns;
		if (!(turns & 1u) && turns == *(volatile u64 *)&m->turns)
			break;
	}
	return sum + (since ? pelton_sub_floor(now, since) : 0);
}

/* This CPU is busy from now on, or idle. */
HIDDEN void meter_busy(u32 cpu, u64 now, u32 busy)
{
	struct live_meter *m = meter_of(cpu);

	if (!m->since_ns)
		m->since_ns = now;
	if (!!m->busy_since_ns == busy)
		return;
	__sync_fetch_and_add(&m->turns, 1);
	if (!busy)
		m->busy_ns += pelton_sub_floor(now, m->busy_since_ns);
	m->busy_since_ns = busy ? now : 0;
	__sync_fetch_and_add(&m->turns, 1);
}

HIDDEN void hand_out_stretch(struct live_meter *m, u32 cpu, u64 now, u64 busy_ns)
{
	struct live_stretch s = {};

	s.length_ns = now - m->since_ns;
	s.busy_ns = pelton_min_u64(pelton_sub_floor(busy_ns, m->busy_at_ns), s.length_ns);
	s.cpu = cpu;
	s.is_khz = (u32)m->is_khz;
	s.would_khz = (u32)m->would_khz;
	if (bpf_ringbuf_output(&stretches, &s, sizeof(s), BPF_RB_NO_WAKEUP))
		m->lost++;
}

/* A CPU's stretch ends with a frequency that changes; 0: that one stays. */
APART u32 meter_change(u32 cpu, u64 now, u32 is_khz, u32 would_khz)
{
	struct live_meter *m = meter_of(cpu);
	u64 busy_ns;

	if (__sync_lock_test_and_set(&m->lock, 1)) {
		m->lost++;
		return 0;
	}
	busy_ns = busy_until(m, now);
	if (m->since_ns && now > m->since_ns)
		hand_out_stretch(m, cpu, now, busy_ns);
	if (m->since_ns)
		m->since_ns = now;
	m->busy_at_ns = busy_ns;
	if (is_khz)
		m->is_khz = is_khz;
	if (would_khz)
		m->would_khz = would_khz;
	__sync_lock_test_and_set(&m->lock, 0);
	return 1;
}

/* This CPU's request changed: its domain gets the largest of those that were made. One lasts until the next. */
APART u32 meter_request(u32 cpu, u64 now)
{
	u64 domain = setups[cpu & (PELTON_PLACE_CPUS_MAX - 1u)].domain;
	u32 i, most = 0;

	bpf_for (i, 0, PELTON_PLACE_CPUS_MAX)
		if (domain >> i & 1u && seen[i & (PELTON_PLACE_CPUS_MAX - 1u)].would_changes)
			most = pelton_max_u32(most, (u32)seen[i & (PELTON_PLACE_CPUS_MAX - 1u)].would_khz);
	if (most == meter_of(cpu)->would_khz)
		return 0;
	bpf_for (i, 0, PELTON_PLACE_CPUS_MAX)
		if (domain >> i & 1u)
			meter_change(i, now, 0, most);
	return 1;
}

#endif
