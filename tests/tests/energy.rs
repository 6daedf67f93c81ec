// SPDX-License-Identifier: GPL-2.0-only
//! The energy model of the core against its slow twin.

use pelton_core::EnergyModel;
use pelton_reference::energy::{self, State};

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

#[test]
fn an_empty_table_has_no_energy() {
    assert_eq!(EnergyModel::new(&[], 1024).energy(10, 10, 1024), 0);
}
