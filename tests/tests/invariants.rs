// SPDX-License-Identifier: GPL-2.0-or-later
//! Invariants (docs/rules/README.md#invariants), on the compiled core. Numbers in brackets are those of that list.

use crate::kept::kept;
use pelton_core::{Avg, CpuState, Ctx, Policy, Rq, Se, SugovCpu, SugovPolicy, decay_load};
use pelton_reference::vectors::governor::TABLE_KHZ;
use proptest::prelude::*;

const START_NS: u64 = 1 << 40;
/// No busy record exceeds this: the constants of the divisor lose more to truncation than the sums do.
const BUSY_UTIL_MAX: u64 = 1025;
/// `PELTON_VERDICT_OPEN`.
const OPEN: u32 = 0;

fn policy(index: usize) -> Policy {
    let profiles = pelton_core::profiles();
    Policy::profile(profiles[index % profiles.len()]).expect("the profile is in the list")
}

fn at(policy: &Policy, now: u64, cap_orig: u32, freq_scale: u32) -> Ctx<'_> {
    Ctx { pol: policy, now, cap_orig, freq_scale }
}

/// Spans of time: inside a unit, inside a period, around it, many periods.
fn span() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..3000, 0u64..1 << 20, (1u64 << 20) - 2000..(1 << 20) + 2000, 0u64..1 << 26]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: kept(), ..ProptestConfig::default() })]

    /// [1] with the bound that rounding leaves.
    #[test]
    fn utilization_of_one_record_stays_in_range(
        steps in prop::collection::vec((span(), any::<bool>()), 1..400),
        index in 0..pelton_core::profiles().len(), cap in 1u32..=1024, freq in 1u32..=1024,
    ) {
        let policy = policy(index);
        let (mut avg, mut now) = (Avg { last_update_time_ns: START_NS, ..Avg::default() }, START_NS);
        for (span, running) in steps {
            now += span;
            avg.update(&at(&policy, now, cap, freq), u32::from(running));
            prop_assert!(avg.util_avg <= BUSY_UTIL_MAX, "{avg:?}");
            prop_assert!(u64::from(avg.util_sum) <= 47_788 * 1024, "{avg:?}");
            prop_assert!(avg.period_contrib < 1024);
        }
    }

    /// [3]
    #[test]
    fn splitting_an_interval_costs_only_truncation(
        before in 0u64..1 << 22, first in 0u64..1 << 24, second in 0u64..1 << 24, sum in 0u32..46_718 * 1024,
    ) {
        let policy = policy(9);
        let mut whole = Avg { last_update_time_ns: START_NS, util_sum: sum, ..Avg::default() };
        whole.update(&at(&policy, START_NS + before, 1024, 1024), 1);
        let mut parts = whole;
        let end = START_NS + before + first + second;
        whole.update(&at(&policy, end, 1024, 1024), 1);
        parts.update(&at(&policy, START_NS + before + first, 1024, 1024), 1);
        parts.update(&at(&policy, end, 1024, 1024), 1);
        prop_assert_eq!(whole.period_contrib, parts.period_contrib);
        prop_assert_eq!(whole.last_update_time_ns, parts.last_update_time_ns);
        let periods = 1 + u64::from((first + second) as u32 >> 20) + 1;
        prop_assert!(u64::from(whole.util_sum.abs_diff(parts.util_sum)) < 2 * 1024 * periods);
    }

    /// [5] 350 ms of load-tracking time; on a slow CPU that is longer on the wall.
    #[test]
    fn a_cpu_that_never_sleeps_saturates_at_any_speed(cap in 64u32..=1024, freq in 64u32..=1024, step in 100_000u64..4_000_000) {
        let policy = policy(9);
        let mut rq = Rq::new(&policy, START_NS, cap, freq);
        let mut se = Se { avg: Avg::default(), ..Se::new(1024) };
        rq.enqueue_task(&policy, &mut se, START_NS, 0, true);
        rq.switch_fair(&policy, None, Some(&mut se), START_NS, 0, true);
        let from = rq.clock_pelt(&policy);
        let mut now = START_NS;
        while rq.clock_pelt(&policy) - from < 350_000_000 {
            now += step;
            rq.tick_fair(&policy, &mut se, now, 0);
        }
        prop_assert!((1022..=BUSY_UTIL_MAX).contains(&se.avg.util_avg), "{}", se.avg.util_avg);
        prop_assert!((1022..=BUSY_UTIL_MAX).contains(&rq.cfs.avg.util_avg), "{}", rq.cfs.avg.util_avg);
    }

    #[test]
    fn decay_halves_every_32_periods_and_never_grows(value in 0u64..1 << 62, periods in 1u64..2100) {
        let half = decay_load(value, 32);
        prop_assert!(half <= value / 2 && value / 2 - half <= 1 + (value >> 33));
        prop_assert!(decay_load(value, periods + 1) <= decay_load(value, periods));
        prop_assert!(decay_load(value, periods) <= value);
    }

    /// More utilization never asks for less, and the answer is in the table and within the limits.
    #[test]
    fn requests_grow_with_utilization(
        index in 0..pelton_core::profiles().len(), cap in 1u32..=1024, low in 0u32..=1024, more in 0u32..=1024,
        rt in 0u32..=1024, irq in 0u32..=1024, clamps in (0u32..=1024, 0u32..=1024), limits in (0usize..8, 0usize..8),
    ) {
        let policy = policy(index);
        let table: Vec<u32> = TABLE_KHZ.iter().map(|&khz| khz as u32).collect();
        let (min_khz, max_khz) = (table[limits.0.min(limits.1)], table[limits.0.max(limits.1)]);
        let sp = SugovPolicy { min_khz, max_khz, ref_khz: table[7], freq_invariant: 1, ..SugovPolicy::default() };
        let ask = |util_cfs| {
            let state = CpuState {
                cap_orig: cap, util_cfs, util_rt: rt, util_irq: irq, uclamp_used: 1,
                uclamp_min: clamps.0, uclamp_max: clamps.1, ..CpuState::default()
            };
            let perf = state.perf_eval(&policy, 0).perf;
            (perf, sp.resolve(&table, sp.raw_freq(&policy, perf, cap, false)))
        };
        let (few, many) = (ask(low), ask(low + more));
        prop_assert!(few.0 <= many.0 && few.1 <= many.1, "{few:?} {many:?}");
        prop_assert!(table.contains(&few.1) && (min_khz..=max_khz).contains(&few.1));
    }

    /// [8] Changes keep their distance, except after new limits or a raised reservation.
    #[test]
    fn changes_keep_their_distance(
        hooks in prop::collection::vec((0u64..3_000_000, 0u32..=1024, 0u32..=300, 0u8..20), 1..200),
        index in 0..pelton_core::profiles().len(), rate_limit_us in 0u32..20_000,
    ) {
        let policy = policy(index);
        let table: Vec<u32> = TABLE_KHZ.iter().map(|&khz| khz as u32).collect();
        let mut sp = SugovPolicy {
            nr_cpus: 1, max_khz: table[7], ref_khz: table[7], cur_khz: table[0], freq_invariant: 1, fast_switch: 1,
            ..SugovPolicy::default()
        };
        sp.init(&policy, rate_limit_us);
        sp.limits(table[0], table[7]);
        let (mut sc, mut now, mut last) = (SugovCpu::default(), START_NS, None);
        for (idle_calls, (span, util, bw_dl, kind)) in hooks.into_iter().enumerate() {
            now += span;
            if kind == 0 {
                sp.limits(table[0], table[5]);
            }
            let excused = sp.limits_changed != 0 || bw_dl > sc.bw_min;
            let state = CpuState {
                cap_orig: 1024, util_cfs: util, bw_dl, uclamp_max: 1024, idle_calls: idle_calls as u64,
                ..CpuState::default()
            };
            if sp.begin(&policy, &mut sc, bw_dl, now, 4_000_000, 0, true) != OPEN {
                continue;
            }
            let before = sp.next_freq_khz;
            let terms = sp.cpu(&policy, &mut sc, &state, now, 4_000_000).1;
            let raw = sp.raw_freq(&policy, terms.perf, 1024, false);
            let resolved = sp.resolve(&table, raw);
            sp.commit(&policy, Some(&mut sc), &state, now, raw, resolved, false);
            if sp.next_freq_khz != before {
                let distance = last.map(|last: u64| now - last);
                let kept = distance.is_none_or(|distance| distance >= u64::from(rate_limit_us) * 1000);
                prop_assert!(kept || excused, "{distance:?}");
                last = Some(now);
            }
        }
    }
}
