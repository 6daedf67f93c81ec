// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones: the core against its slow twin, on random zones under every profile.

use pelton_core::{Cooling, CpuState, NO_TARGET, Policy, Trip, Zone, cooling_load};
use pelton_reference::rules::{PROFILES, Rules};
use pelton_reference::thermal::{self as twin, Controller};

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below.max(1)
}

fn rules(profile: &str) -> (Policy, Rules) {
    (Policy::profile(profile).expect("it exists"), Rules::profile(profile).expect("it exists"))
}

/// A zone of 1 to 4 trips and 1 to 5 domains, twice.
fn some_zone(seed: &mut u64) -> (Zone, twin::Zone) {
    let (trips, domains) = (1 + next(seed, 4) as usize, 1 + next(seed, 5) as usize);
    let mut zone = Zone { trips: trips as u32, domains: domains as u32, passive_ms: 100, ..Zone::default() };
    let mut slow = twin::Zone { trips: Vec::new(), states: Vec::new(), temperature: None };
    for cooling in &mut zone.cooling[..domains] {
        let max_state = next(seed, 6) as u32;
        *cooling = Cooling { max_state, ..Cooling::default() };
        slow.states.push((0, max_state.into()));
    }
    let mut temp_mc = 40_000;
    for trip in &mut zone.trip[..trips] {
        temp_mc += 1 + next(seed, 9_000) as i32;
        let hyst_mc = next(seed, 3_000) as i32;
        *trip = Trip { temp_mc, hyst_mc, cools: next(seed, 1 << domains) as u32, ..Trip::default() };
        trip.instance.iter_mut().for_each(|instance| instance.target = NO_TARGET);
        let asks = (0..domains).map(|d| (trip.cools >> d & 1 == 1).then_some(None)).collect();
        let (at, hysteresis) = (temp_mc.into(), hyst_mc.into());
        slow.trips.push(twin::Trip { at, hysteresis, reached: false, asks, looked: false });
    }
    (zone, slow)
}

#[test]
fn core_and_twin_step_through_the_same_states() {
    let seed = &mut 3;
    let mut deepest = 0;
    for profile in PROFILES {
        let (policy, slow_rules) = rules(profile);
        for life in 0..3000 {
            let (mut zone, mut slow) = some_zone(seed);
            let mut temp_mc = 38_000 + next(seed, 30_000) as i32;
            for reading in 0..30 {
                temp_mc += next(seed, 4001) as i32 - 2000;
                zone.read(&policy, temp_mc);
                zone.step_wise(&policy);
                let passive = slow.step_wise(&slow_rules, temp_mc.into());
                let states: Vec<u64> = zone.cooling[..slow.states.len()].iter().map(|c| c.state.into()).collect();
                let expected: Vec<u64> = slow.states.iter().map(|(state, _)| *state).collect();
                assert_eq!(
                    (states, zone.passive != 0),
                    (expected, passive),
                    "{profile} life {life}, reading {reading}"
                );
                deepest = deepest.max(zone.cooling[0].state);
            }
        }
    }
    assert_eq!(deepest, 5, "the deepest state occurs");
}

#[test]
fn core_and_twin_divide_the_same_power() {
    let seed = &mut 9;
    let mut limited = 0;
    for profile in PROFILES {
        let (policy, slow_rules) = rules(profile);
        for life in 0..2000 {
            let domains = 1 + next(seed, 4) as usize;
            let sustainable = [0, 3000][next(seed, 2) as usize];
            let mut zone = Zone { trips: 2, domains: domains as u32, passive_ms: 100, ..Zone::default() };
            (zone.trip[0].temp_mc, zone.trip[1].temp_mc) = (60_000, 75_000);
            zone.ipa.sustainable_mw = sustainable;
            let mut slow = Controller { sustainable: sustainable.into(), errors: 0 };
            let least = next(seed, 2000) as u32;
            for reading in 0..20 {
                for cooling in &mut zone.cooling[..domains] {
                    cooling.max_mw = 1 + next(seed, 5000) as u32;
                    cooling.req_mw = if next(seed, 4) == 0 { 0 } else { next(seed, u64::from(cooling.max_mw)) as u32 };
                }
                let temp_mc = 60_000 + next(seed, 25_000) as i32;
                zone.read(&policy, temp_mc);
                assert!(zone.allocate(&policy, least));
                let asked: Vec<(u64, u64)> =
                    zone.cooling[..domains].iter().map(|c| (c.req_mw.into(), c.max_mw.into())).collect();
                let most: u64 = asked.iter().map(|(_, most)| most).sum();
                let error = 75_000 - i64::from(temp_mc);
                let budget = slow.budget(&slow_rules, error, 15_000, most as i64, least.into());
                let granted: Vec<u64> = zone.cooling[..domains].iter().map(|c| c.granted_mw.into()).collect();
                let expected = twin::divide(&slow_rules, &asked, budget as u64);
                let place = format!("{profile} life {life}, reading {reading}");
                assert_eq!(i64::from(zone.ipa.range_mw), budget, "{place}");
                assert_eq!((granted, zone.ipa.err_integral), (expected, slow.errors), "{place}: {asked:?} {budget}");
                limited += u64::from((budget as u64) < most);
            }
        }
    }
    assert!(limited > 100_000, "budgets bind: {limited}");
}

#[test]
fn core_and_twin_see_the_same_load() {
    let seed = &mut 5;
    for profile in PROFILES {
        let (policy, slow_rules) = rules(profile);
        for _ in 0..5000 {
            let cap_orig = 1 + next(seed, 1024) as u32;
            let util_cfs = next(seed, u64::from(cap_orig)) as u32;
            let (time, idle) = (1 + next(seed, 100_000), next(seed, 110_000));
            let state = CpuState { util_cfs, cap_orig, ..CpuState::default() };
            let expected = twin::load(&slow_rules, util_cfs.into(), cap_orig.into(), time, idle);
            assert_eq!(u64::from(cooling_load(&policy, &state, time, idle)), expected, "{profile}");
        }
    }
}
