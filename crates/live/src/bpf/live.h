/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that the scheduler in the kernel and its loader share; the loader takes the names from these lists, in this
 * order. All words are 64 bits.
 *
 *   LIVE_SETTINGS   what holds for the whole run
 *   LIVE_SETUP      a CPU as the loader describes it; `khz_*` follow, ascending, and boosts of the groups are elsewhere
 *   LIVE_COUNTS     events of a CPU
 *   LIVE_SEEN       observed of a CPU: what would have been set and what was, kHz, and sums in MHz times us
 *   LIVE_TERMS      the last decision about its frequency, as they follow from each other
 */
#ifndef PELTON_LIVE_LIVE_H
#define PELTON_LIVE_LIVE_H

#define LIVE_OPPS_MAX 64u

/* clang-format off */
#define LIVE_SETTINGS(X) \
	X(nr_cpus) X(tick_ns) X(frequencies) X(placing) X(own_clamps) X(energy_aware) X(asymmetric) X(smt) X(smt_threads) \
	X(clusters) X(nr_perf_domains) X(uclamp) X(invariant) X(balance_ns) X(record)

#define LIVE_SETUP(X) \
	X(capacity) X(ref_khz) X(min_khz) X(max_khz) X(rate_limit_us) X(nr_domain_cpus) X(domain) X(llc) X(nr_khz) X(switch_ns) X(now_khz)

#define LIVE_COUNTS(X) \
	X(events) X(offered) X(delivered) X(evaluated) X(targets) X(again) X(refreshed) \
	X(wakeups) X(by_energy) X(by_idle) X(on_prev) X(picks) X(later) X(kept) X(preempts) X(steals) X(balanced) X(misfits) \
	X(parked) X(unrecorded)

#define LIVE_TERMS(X) \
	X(at_ns) X(util_avg) X(runnable_avg) X(estimate) X(boost) X(util_cfs) X(cfs) X(iowait) X(effective) X(headroom) \
	X(perf) X(raw_khz) X(resolved_khz) X(next_khz) X(target)

#define LIVE_SEEN(X) \
	X(begin_ns) X(would_since_ns) X(would_sum) X(would_khz) X(would_changes) X(is_since_ns) X(is_sum) X(is_khz) \
	X(is_changes) X(placed) X(agreed)
/* clang-format on */

#define LIVE_WORD_(name) u64 name;
#define LIVE_RECORD(name, list) \
	struct name { \
		list(LIVE_WORD_) \
	}

#endif
