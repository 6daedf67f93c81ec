// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of a frequency domain: the core against its slow twin.

use pelton_core::{Limits, Policy, Pressure};
use pelton_reference::limits::{Answer, asked, in_force, lost, pressure};
use pelton_reference::rules::{PROFILES, Rules};

/// Numbers of a fixed sequence.
fn next(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

const GOVERNORS: [(&str, bool, Answer); 8] = [
    ("schedutil", true, Answer::Later),
    ("schedutil", false, Answer::Inside),
    ("performance", true, Answer::Upper),
    ("powersave", false, Answer::Lower),
    ("userspace", true, Answer::Wanted),
    ("ondemand", true, Answer::Inside),
    ("conservative", false, Answer::Inside),
    ("sched_dvfs", false, Answer::Wanted),
];

#[test]
fn core_and_twin_limit_the_same() {
    let seed = &mut 7;
    for _ in 0..100_000 {
        let mut khz = vec![0u32];
        for _ in 0..=next(seed, 8) {
            khz.push(khz[khz.len() - 1] + 1 + next(seed, 5) as u32);
        }
        khz.remove(0);
        let any = |seed: &mut u64| next(seed, u64::from(khz[khz.len() - 1]) + 4) as u32;
        let (min, max, cur, wanted) = (any(seed), any(seed), any(seed), any(seed));
        let (governor, fast, answer) = GOVERNORS[next(seed, 8) as usize];
        let mut policy = Policy::profile("7.2").expect("it exists");
        policy.set("governor", governor).expect("a governor");
        let table: Vec<u64> = khz.iter().map(|&k| k.into()).collect();
        let (limits, twin) = (Limits::of(&khz, min, max), in_force(&table, min.into(), max.into()));
        assert_eq!((u64::from(limits.min_khz), u64::from(limits.max_khz)), twin, "{khz:?} {min} {max}");
        let said = limits.target(&policy, &khz, cur, wanted, fast).map(u64::from);
        let told = asked(answer, &table, twin, cur.into(), wanted.into());
        assert_eq!(said, told, "{governor} {khz:?} {min} {max}, {cur} {wanted}");
    }
}

#[test]
fn core_and_twin_lose_the_same_capacity() {
    let seed = &mut 11;
    for profile in PROFILES {
        let (pol, rules) = (Policy::profile(profile).expect("it exists"), Rules::profile(profile).expect("it exists"));
        for _ in 0..10_000 {
            let full = 1 + next(seed, 1024) as u32;
            let khz = |seed: &mut u64| 1 + next(seed, 3_000_000) as u32;
            let (reference, policy, cooling) = (khz(seed), khz(seed), khz(seed));
            let of = |limit: u32| lost(full.into(), limit.into(), reference.into());
            let twin = pressure(&rules, of(policy), of(cooling));
            let core = Pressure::of(&pol, full, reference, policy, cooling);
            assert_eq!((u64::from(core.now), u64::from(core.averaged)), twin, "{profile} {full} {reference}");
        }
    }
}
