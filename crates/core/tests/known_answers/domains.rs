// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduling domains, worked out by hand from kernel/sched/topology.c (sd_init, build_sched_domains) of the releases
//! named; the flags of the big.LITTLE board are those that Linux 7.2.12 had in
//! tests/trace/kernel-placement/arm64-mixed.topo.json.

use pelton_core::{Policy, SdLevel, imb_numa_nr, sd};

const CLUSTER: SdLevel = level(sd::CLUSTER | sd::SHARE_LLC, 4, 1, 0);
const CACHE: SdLevel = level(sd::SHARE_LLC, 6, 2, 0);
const NODE: SdLevel = level(0, 6, 2, 0);
const THREADS: SdLevel = level(sd::SHARE_CPUCAPACITY | sd::SHARE_LLC, 2, 1, 0);
/// Newly idle CPUs balance in every domain: not a flag of ours.
const BALANCE_NEWIDLE: u32 = 0x1;

const fn level(shared: u32, weight: u32, classes: u32, distance: u32) -> SdLevel {
    SdLevel { shared, weight, classes, distance }
}

fn flags(profile: &str, level: SdLevel) -> u32 {
    level.domain(&policy(profile), 1, 2).flags
}

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

#[test]
fn flags_are_those_of_a_recorded_kernel() {
    assert_eq!(flags("7.2", CACHE) | BALANCE_NEWIDLE, 4727);
    // build_sched_domains takes the spread away from the level below unequal CPUs, as the host does.
    assert_eq!((flags("7.2", CLUSTER) & !sd::PREFER_SIBLING) | BALANCE_NEWIDLE, 791);
}

/// Linux 7.2.12 on two packages with memory of their own, distance 20, of two cores with two threads each: domains of
/// threads, cache and nodes as `pelton record --placements` recorded them (board `server` of scripts/live/boot.sh).
#[test]
fn a_recorded_server_has_these_domains() {
    // Only one CPU of a domain balances across nodes at a time: not a flag of ours.
    const SERIALIZE: u32 = 0x400;
    let levels = [THREADS, level(sd::SHARE_LLC, 4, 1, 0), level(0, 4, 1, 0), level(sd::NUMA, 8, 1, 20)]
        .map(|l| (l, l.domain(&policy("7.2"), 1, 1)));
    let told = |at: usize| (levels[at].1.flags | BALANCE_NEWIDLE, levels[at].1.imbalance_pct);
    assert_eq!([told(0), told(1)], [(4759, 110), (4631, 117)]);
    assert_eq!((told(3).0 | SERIALIZE, told(3).1), (9239, 117));
    let facts = levels.map(|(level, _)| level);
    assert_eq!([0, 1, 3].map(|at| imb_numa_nr(&facts, at)), [0, 0, 1]);
}

#[test]
fn percentages_by_release() {
    // 4.12 :870, 5.4 :1345: 125; 5.10 and later 117.
    for (profile, far) in [
        ("4.12", 125),
        ("4.16", 125),
        ("4.19", 125),
        ("5.4", 125),
        ("5.10", 117),
        ("5.15", 117),
        ("6.1", 117),
        ("6.12", 117),
        ("7.2", 117),
    ] {
        let pct = |level: SdLevel| level.domain(&policy(profile), 1, 2).imbalance_pct;
        assert_eq!([pct(THREADS), pct(CLUSTER), pct(CACHE), pct(NODE)], [110, 117, 117, far], "{profile}");
    }
}

#[test]
fn unequal_cpus_are_found_from_5_0_on() {
    let asym = sd::ASYM_CPUCAPACITY | sd::ASYM_CPUCAPACITY_FULL;
    for (profile, found) in [("4.12", 0), ("4.16", 0), ("4.19", 0), ("5.4", asym), ("5.10", asym), ("7.2", asym)] {
        assert_eq!(flags(profile, NODE) & asym, found, "{profile}");
        assert_eq!(flags(profile, CLUSTER) & asym, 0, "{profile}: equal CPUs");
    }
    let one_of_three = NODE.domain(&policy("7.2"), 1, 3).flags & asym;
    assert_eq!(one_of_three, sd::ASYM_CPUCAPACITY, "another capacity lies outside");
}

/// 5.4 sd_init; for_each_lower_domain, which the host does. 5.10.262 has no such flag any more.
#[test]
fn waking_tasks_are_balanced_over_unequal_cpus_in_5_4() {
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "6.6", "7.2"] {
        assert_eq!(flags(profile, NODE) & sd::BALANCE_WAKE != 0, profile == "5.4", "{profile}");
        assert_eq!(flags(profile, CLUSTER) & sd::BALANCE_WAKE, 0, "{profile}: equal CPUs");
    }
}

#[test]
fn only_4_12_does_not_spread_over_a_cache() {
    let spread = |profile, level| flags(profile, level) & sd::PREFER_SIBLING != 0;
    for profile in ["4.12", "4.16", "5.4", "5.10", "6.6", "7.2"] {
        assert_eq!(spread(profile, CACHE), profile != "4.12", "{profile}");
        assert!(spread(profile, THREADS) && spread(profile, NODE), "{profile}");
        assert!(!spread(profile, level(sd::NUMA, 64, 1, 20)), "{profile}: nodes");
    }
}

#[test]
fn tasks_are_placed_across_nodes_up_to_a_distance_of_30() {
    let events = sd::BALANCE_EXEC | sd::BALANCE_FORK | sd::WAKE_AFFINE;
    for (distance, placed) in [(20, events), (30, events), (31, 0), (40, 0)] {
        assert_eq!(flags("7.2", level(sd::NUMA, 64, 1, distance)) & events, placed, "{distance}");
    }
}

/// build_sched_domains: caches of a node, an eighth of its CPUs where one cache is the whole node, grown by the span
/// above the first level of nodes.
#[test]
fn tasks_that_may_differ_between_nodes() {
    let (cache, node, nodes) =
        (|n| level(sd::SHARE_LLC, n, 1, 0), |n| level(0, n, 1, 0), |n| level(sd::NUMA, n, 1, 20));
    let all = |levels: &[SdLevel]| (0..levels.len()).map(|at| imb_numa_nr(levels, at)).collect::<Vec<_>>();
    assert_eq!(all(&[cache(8), node(32), nodes(64)]), [0, 4, 4]);
    assert_eq!(all(&[cache(16), node(16), nodes(32), nodes(64)]), [0, 2, 2, 4]);
    assert_eq!(all(&[cache(4), node(4), nodes(8)]), [0, 1, 1], "at least one");
    assert_eq!(all(&[THREADS, cache(8), node(64)]), [0, 0, 8]);
    assert_eq!(all(&[cache(8)]), [0]);
    assert_eq!(all(&[]), [0; 0]);
}

#[test]
fn placement_by_energy_asks_for_invariance_from_6_1_on() {
    for (profile, without) in
        [("4.19", false), ("5.4", true), ("5.10", true), ("5.15", false), ("6.1", false), ("7.2", false)]
    {
        let can = |asymmetric, threads, invariant| policy(profile).places_by_energy(asymmetric, threads, invariant);
        assert_eq!(can(true, false, false), without, "{profile}");
        assert_eq!(can(true, false, true), profile != "4.19", "{profile}");
        assert!(!can(false, false, true) && !can(true, true, true), "{profile}");
    }
}
