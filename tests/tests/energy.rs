// SPDX-License-Identifier: GPL-2.0-or-later
//! The energy model of the core against its slow twin.

use pelton_core::{EnergyModel, KHZ_INEFFICIENT, SugovPolicy};
use pelton_reference::energy::{self, State};
use pelton_reference::schedutil;

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

/// A table whose power need not grow with the frequency, so that inefficient states occur.
fn table(seed: &mut u64) -> Vec<(u32, u64)> {
    let mut khz = 100_000;
    (0..=next(seed, 12))
        .map(|_| {
            khz += 1_000 + u32::try_from(next(seed, 300_000)).expect("small");
            (khz, 1_000 + next(seed, 900_000) * u64::from(khz) / 100_000)
        })
        .collect()
}

#[test]
fn core_and_twin_agree_on_tables_with_inefficient_states() {
    let seed = &mut 7;
    let (mut skipped, mut compared) = (0, 0);
    for _ in 0..2_000 {
        let opps = table(seed);
        let cap = 1 + u32::try_from(next(seed, 1024)).expect("small");
        let model = EnergyModel::new(&opps, cap);
        let twin: Vec<State> = opps.iter().map(|&(k, p)| State { khz: k.into(), power_uw: p.into() }).collect();
        for (index, state) in model.states().iter().enumerate() {
            assert_eq!(u128::from(state.performance), energy::performance(&twin, index, cap.into()), "{opps:?}");
            assert_eq!(u128::from(state.cost), energy::cost(&twin, index, cap.into()), "{opps:?}");
            let inefficient = energy::is_inefficient(&twin, index, cap.into());
            assert_eq!(state.inefficient != 0, inefficient, "{opps:?}");
            skipped += u32::from(inefficient);
        }
        for _ in 0..20 {
            let [max, sum, allowed] = [1200, 6000, 1025].map(|below| next(seed, below));
            let wanted = energy::energy(&twin, [0, usize::MAX], cap.into(), max.into(), sum.into(), allowed.into());
            assert_eq!(u128::from(model.energy(max, sum, allowed)), wanted, "{opps:?} {cap} {max} {sum} {allowed}");
            compared += 1;
        }
    }
    assert!(skipped > 1_000 && compared == 40_000, "{skipped} inefficient states, {compared} energies");
}

/// A table of a governor, some entries marked, and limits that need not be entries.
fn marked(seed: &mut u64) -> (Vec<u32>, u32, u32) {
    let points = table(seed);
    let mark = |seed: &mut u64| if next(seed, 3) == 0 { KHZ_INEFFICIENT } else { 0 };
    let khz: Vec<u32> = points.iter().map(|&(khz, _)| khz | mark(seed)).collect();
    let entry = |seed: &mut u64| points[next(seed, points.len() as u64) as usize].0;
    let (a, b) = (entry(seed), entry(seed));
    (khz, a.min(b), a.max(b))
}

#[test]
fn core_and_twin_choose_the_same_of_marked_frequencies_and_no_marked_one_without_need() {
    let seed = &mut 11;
    let mut passed_over = 0;
    for _ in 0..20_000 {
        let (khz, min, max) = marked(seed);
        let raw = next(seed, 4_500_000) as u32;
        let sp = SugovPolicy { min_khz: min, max_khz: max, ..SugovPolicy::default() };
        let twin = schedutil::SugovPolicy { min_khz: min.into(), max_khz: max.into(), ..Default::default() };
        let wide: Vec<u64> = khz.iter().copied().map(u64::from).collect();
        let chosen = sp.resolve(&khz, raw);
        assert_eq!(u64::from(chosen), schedutil::resolve(&twin, &wide, raw.into()), "{khz:?} {min} {max} {raw}");
        let within = |khz: &u32| (min..=max).contains(khz);
        if !khz.contains(&chosen) {
            // One that is marked: no unmarked one at or above the request is within the limits.
            let wanted = raw.clamp(min, max);
            assert!(!khz.iter().any(|k| *k >= wanted && within(k)), "{khz:?} {min} {max} {raw}");
        }
        let plain: Vec<u32> = khz.iter().map(|k| k & !KHZ_INEFFICIENT).collect();
        passed_over += u32::from(sp.resolve(&plain, raw) != chosen);
    }
    assert!(passed_over > 1_000, "{passed_over}");
}

#[test]
fn an_empty_table_has_no_energy() {
    assert_eq!(EnergyModel::new(&[], 1024).energy(10, 10, 1024), 0);
}
