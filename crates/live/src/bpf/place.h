/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a placement reads, and what it decides: the record that place.bpf.c fills. The reader
 * (crates/live/src/placements.rs) takes the names from these lists, in this order; they are the columns of the table.
 *
 * Prefixes: p_ the task, c_ the task that runs where the decision is made, q_ and cq_ their queues, d_ the system's
 * clamps, x_ after the decision. All words are 64 bits.
 */
#ifndef PELTON_LIVE_PLACE_H
#define PELTON_LIVE_PLACE_H

#define PLACE_CPUS_MAX 64u
#define PLACE_LEVELS_MAX 6u
#define PLACE_ENERGIES_MAX 48u
#define PLACE_PERF_DOMAINS_MAX 16u
#define PLACE_PERF_STATES_MAX 32u

/* clang-format off */
#define PLACE_HEAD(X) \
	X(ts0) X(ts1) X(j) X(x_j) X(seq) X(w0) X(prev) X(flags) X(ret) X(over) X(x_over) X(uclamp_used) \
	X(p_pid) X(p_policy) X(p_mask) X(p_cpu) X(p_on_rq) X(p_recent) X(x_recent) X(p_flips) \
	X(p_util) X(p_run) X(p_load) X(p_load_sum) X(p_run_sum) X(p_util_sum) X(p_contrib) X(p_lut) X(p_est) X(p_weight) \
	X(q_lut) X(q_load) X(q_h_load) X(q_h_load_j) X(x_q_h_load) X(x_q_h_load_j) X(p_root) \
	X(p_umin_req) X(p_umax_req) X(p_umin_act) X(p_umax_act) X(p_umin_val) X(p_umax_val) X(p_gmin) X(p_gmax) X(d_umin) X(d_umax) \
	X(c_pid) X(c_flips) X(x_flips) X(c_flip_ts) X(c_flags) X(c_nr_allowed) X(c_preempt) X(c_last_is_p) X(c_load) \
	X(cq_load) X(cq_h_load) X(cq_h_load_j) X(x_cq_h_load) X(x_cq_h_load_j) \
	X(x_util) X(x_run) X(x_load) X(x_lut) X(x_q_lut) X(ncpu) X(energies)

#define PLACE_CPU(X) \
	X(cap) X(cap0) X(hw) X(cpufreq_pressure) X(util) X(load) X(runnable) X(util_est) X(rt) X(dl) X(irq) X(dl_bw) \
	X(nr) X(hq) X(hr) X(h_idle) X(pending) X(curr_idle) X(curr_pid) X(umin) X(umax) X(uflags) X(rt_nr) \
	X(rt_queued) X(idle_stamp) X(exit_lat) X(scan_asym) X(scan_llc) X(core_asym) X(misfit) X(lut)
/* clang-format on */

/* Of the group that a CPU is in, by domain. */
#define PLACE_DOMAIN(X) X(g_cap) X(g_max) X(g_imb) X(g_min)

#define PLACE_WORD(name) u64 name;
#define PLACE_WORDS(name) u64 name[PLACE_LEVELS_MAX];

struct place_head {
	PLACE_HEAD(PLACE_WORD)
	u64 comm[2], c_comm[2];
};

struct place_energy {
	u64 cpu, energy, max_util, busy;
};

struct place_cpu {
	PLACE_CPU(PLACE_WORD)
	PLACE_DOMAIN(PLACE_WORDS)
};

/* Each CPU before and after the decision. */
struct place {
	struct place_head head;
	struct place_energy energies[PLACE_ENERGIES_MAX];
	struct place_cpu cpus[PLACE_CPUS_MAX][2];
};

/* What does not change. */
struct place_domain {
	u64 span, flags, pct, imb_numa, nr_shared;
};

struct place_machine_cpu {
	u64 llc_id, llc_size, share_id, asym_level, llc_level, ndom;
	struct place_domain dom[PLACE_LEVELS_MAX];
};

struct place_perf_domain {
	u64 cpus, n, min, max, flags;
	u64 perf[PLACE_PERF_STATES_MAX], cost[PLACE_PERF_STATES_MAX], sflags[PLACE_PERF_STATES_MAX];
};

struct place_machine {
	u64 ncpu, key_asym, key_cluster, key_smt, key_energy, npd;
	struct place_machine_cpu cpus[PLACE_CPUS_MAX];
	struct place_perf_domain pd[PLACE_PERF_DOMAINS_MAX];
};

/* What the recorder reads at the end: decisions begun, those that had no room, the machine. */
struct place_globals {
	u64 begun, lost;
	struct place_machine machine;
};

#endif
