// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones: answers of the governors of nine releases, compiled outside of the project, and examples worked out
//! by hand from their sources.

use pelton_core::{
    COOLING_MAX, Cooling, CoolingTable, CpuState, NO_TARGET, Policy, ThermalInstance, Trip, Zone, cooling_load,
    profiles,
};

/// 4.12.0, 4.19.48, 5.4.195, 5.10.262, 6.1.192, 6.6.0, 6.12.118, 6.18.35 and 7.2.12.
const ANSWERS: &str = include_str!("data/thermal.txt");

fn policy(profile: &str, set: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::profile(profile).expect("the profile exists");
    set.iter().for_each(|(name, value)| policy.set(name, value).expect("a value"));
    policy
}

/// A zone as a line of the answers has it; whether power_allocator cools it.
fn zone(line: &str) -> (Zone, bool) {
    let mut words = line.split(' ').skip(1);
    let by_power = words.next() == Some("power_allocator");
    let mut numbers = words.map(|word| word.parse::<i64>().expect("a number"));
    let mut next = move || numbers.next().expect("enough numbers");
    let [trips, domains, passive_ms, sustainable] = [(); 4].map(|()| next() as u32);
    let mut zone = Zone { trips, domains, passive_ms, ..Zone::default() };
    zone.ipa.sustainable_mw = sustainable;
    for trip in &mut zone.trip[..trips as usize] {
        let [temp_mc, hyst_mc, cools] = [(); 3].map(|()| next());
        *trip = Trip { temp_mc: temp_mc as i32, hyst_mc: hyst_mc as i32, cools: cools as u32, ..Trip::default() };
        trip.instance.iter_mut().for_each(|instance| instance.target = NO_TARGET);
    }
    for cooling in &mut zone.cooling[..domains as usize] {
        let [max_state, weight] = [(); 2].map(|()| next() as u32);
        *cooling = Cooling { max_state, weight, ..Cooling::default() };
    }
    (zone, by_power)
}

/// Answer of the core to a reading, in the form of the recorded answers.
fn answer(policy: &Policy, zone: &mut Zone, by_power: bool, told: &[i64]) -> Vec<i64> {
    zone.read(policy, told[0] as i32);
    let domains = zone.domains as usize;
    if !by_power {
        zone.step_wise(policy);
        let states = zone.cooling[..domains].iter().map(|c| i64::from(c.state));
        return std::iter::once(i64::from(zone.passive)).chain(states).collect();
    }
    let mut least = 0;
    for (cooling, power) in zone.cooling[..domains].iter_mut().zip(told[1..].chunks(3)) {
        (cooling.req_mw, cooling.max_mw) = (power[0] as u32, power[1] as u32);
        least += power[2] as u32;
    }
    let on = zone.allocate(policy, least);
    let granted = zone.cooling[..domains].iter().map(|c| if on { i64::from(c.granted_mw) } else { -1 });
    let mut all: Vec<i64> = std::iter::once(i64::from(zone.passive)).chain(granted).collect();
    all.push(zone.ipa.err_integral);
    all
}

/// Readings of a release, and how many of them the rules of `policy` answer otherwise. A zone ends with its first
/// difference.
fn differences(release: &str, policy: &Policy) -> (u32, u32) {
    let (mut here, mut current, mut readings, mut differ) = (false, None, 0, 0);
    for line in ANSWERS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("release ") {
            here = name == release;
        } else if !here {
        } else if line.starts_with("zone") {
            current = Some(zone(line));
        } else if let Some((state, by_power)) = &mut current {
            let (told, expected) = line.split_once(" : ").expect("a reading and its answer");
            let numbers = |text: &str| text.split(' ').map(|n| n.parse().expect("a number")).collect::<Vec<i64>>();
            readings += 1;
            if answer(policy, state, *by_power, &numbers(told)) != numbers(expected) {
                differ += 1;
                current = None;
            }
        }
    }
    (readings, differ)
}

/// Profile, and the release whose code gave the answers; the rules of 5.15 are those of 6.1, the texts of 6.8 those of
/// 6.6.
const RELEASES: [(&str, &str); 11] = [
    ("4.12", "4.12"),
    ("4.19", "4.19"),
    ("5.4", "5.4"),
    ("5.10", "5.10"),
    ("5.15", "6.1"),
    ("6.1", "6.1"),
    ("6.6", "6.6"),
    ("6.8", "6.6"),
    ("6.12", "6.12"),
    ("6.18", "6.18"),
    ("7.2", "7.2"),
];

#[test]
fn zones_are_cooled_as_the_kernels_own_code_does() {
    for (profile, release) in RELEASES {
        let (readings, differ) = differences(release, &policy(profile, &[]));
        assert_eq!(differ, 0, "{profile}");
        assert_eq!(readings, 280, "{profile}");
    }
}

/// Every value of every switch that is not the release's own is noticed, where the releases differ in it.
#[test]
fn another_release_s_rule_is_noticed() {
    let others = [
        ("4.12", "step_wise", "hold"),
        ("5.4", "step_wise", "down"),
        ("6.6", "step_wise", "release"),
        ("6.18", "step_wise", "hold"),
        ("7.2", "step_wise", "hold"),
        ("6.6", "thermal_trips", "core"),
        ("6.12", "thermal_trips", "governor"),
        ("5.10", "ipa", "rounds"),
        ("6.1", "ipa", "truncates"),
        ("6.12", "ipa", "idle_max"),
        ("6.18", "ipa", "rounds"),
    ];
    for (release, switch, value) in others {
        let (_, differ) = differences(release, &policy(release, &[(switch, value)]));
        assert!(differ > 0, "{release} {switch}={value} goes unnoticed");
    }
}

/// Trips at 70 and 85 C, hysteresis 2 C; one domain of ten states.
fn example(sustainable_mw: u32) -> Zone {
    let mut zone = Zone { trips: 2, domains: 1, passive_ms: 100, ..Zone::default() };
    zone.ipa.sustainable_mw = sustainable_mw;
    for (trip, temp_mc) in zone.trip.iter_mut().zip([70_000, 85_000]) {
        *trip = Trip { temp_mc, hyst_mc: 2000, cools: 1, ..Trip::default() };
        trip.instance[0].target = NO_TARGET;
    }
    zone.cooling[0].max_state = 9;
    zone
}

/// get_target_state: from 69 C to 73 C and back. 6.6 goes down a state at a time below the trip; 6.18 above it, then to
/// the lowest; 7.2 is free at once below the hysteresis.
#[test]
fn step_wise_climbs_a_state_a_reading_and_comes_down_by_its_form() {
    let readings = [69_000, 70_000, 71_000, 72_000, 73_000, 72_000, 71_000, 69_000, 68_500, 67_900, 67_000];
    let rows: [(&str, [u32; 11]); 6] = [
        ("4.12", [0, 1, 2, 3, 4, 3, 2, 1, 0, 0, 0]),
        ("6.6", [0, 1, 2, 3, 4, 4, 4, 3, 2, 1, 0]),
        ("6.8", [0, 1, 2, 3, 4, 4, 4, 3, 2, 1, 0]),
        ("6.12", [0, 1, 2, 3, 4, 3, 2, 1, 1, 0, 0]),
        ("6.18", [0, 1, 2, 3, 4, 3, 2, 1, 1, 0, 0]),
        ("7.2", [0, 1, 2, 3, 4, 3, 2, 1, 1, 0, 0]),
    ];
    for (profile, states) in rows {
        let (mut zone, policy) = (example(0), policy(profile, &[]));
        let state = |&temp_mc: &i32| {
            zone.read(&policy, temp_mc);
            zone.step_wise(&policy);
            zone.cooling[0].state
        };
        assert_eq!(readings.iter().map(state).collect::<Vec<_>>(), states, "{profile}");
    }
}

/// 4 states above the trip, then far below it: 6.18 first asks for the lowest, 7.2 for nothing; both are state 0 at
/// once.
#[test]
fn below_the_trip_newer_kernels_let_go_at_once() {
    for (profile, after, target) in
        [("6.6", 3, 3), ("6.8", 3, 3), ("6.12", 0, NO_TARGET), ("6.18", 0, 0), ("7.2", 0, NO_TARGET)]
    {
        let (mut zone, policy) = (example(0), policy(profile, &[]));
        for temp_mc in [70_000, 71_000, 72_000, 73_000, 60_000] {
            zone.read(&policy, temp_mc);
            zone.step_wise(&policy);
        }
        assert_eq!((zone.cooling[0].state, zone.trip[0].instance[0].target), (after, target), "{profile}");
    }
}

/// pid_controller at 80 C of 85 C: k_pu = 2 * 1000 * 1024 / 15000 = 136; P = 136 * 5000 / 1024 = 664 (in 22.10:
/// 680,000); the first error is summed when it is below the cut-off of 0, so here it is not: 1664 mW. At 90 C: k_po =
/// 68, P = -332, and the sum of -5 C counts k_i = 10 or 13 (a tenth of 136): -48.8 or -63.5 mW.
#[test]
fn the_budget_is_the_sustainable_power_and_what_the_error_is_worth() {
    for (profile, at_80, at_90) in [("5.10", 1664, 619), ("5.15", 1664, 604), ("6.1", 1664, 604), ("7.2", 1664, 604)] {
        for (temp_mc, budget_mw) in [(80_000, at_80), (90_000, at_90)] {
            let (mut zone, policy) = (example(1000), policy(profile, &[]));
            (zone.cooling[0].req_mw, zone.cooling[0].max_mw) = (2000, 4000);
            zone.read(&policy, temp_mc);
            assert!(zone.allocate(&policy, 100));
            assert_eq!(zone.ipa.range_mw, budget_mw, "{profile} at {temp_mc}");
            assert_eq!(zone.cooling[0].granted_mw, budget_mw, "one domain gets all of it");
        }
    }
}

/// Below the first trip there is no limit and no sum of errors.
#[test]
fn the_controller_is_off_below_its_first_trip() {
    let (mut zone, policy) = (example(1000), policy("7.2", &[]));
    for (temp_mc, on) in [(69_999, false), (70_000, true), (90_000, true), (69_999, false)] {
        zone.read(&policy, temp_mc);
        assert_eq!(zone.allocate(&policy, 100), on, "{temp_mc}");
        assert!(on || zone.ipa.err_integral == 0);
    }
}

/// cpu_freq_to_power, cpu_power_to_freq, get_level: 100, 200, 400 mW; two CPUs half busy are a load of 100 %.
#[test]
fn a_granted_power_is_the_state_that_keeps_to_it_at_the_present_load() {
    let points = [(500_000, 100_999), (1_000_000, 200_000), (2_000_000, 400_000)];
    let table = CoolingTable::new(points.into_iter(), 2);
    assert_eq!((table.max_state(), table.khz(0), table.khz(2)), (2, 2_000_000, 500_000));
    assert_eq!((table.state2power(0), table.state2power(1), table.state2power(2)), (800, 400, 200));
    let mut cooling = Cooling::default();
    table.requested(&mut cooling, 1_000_000, 100);
    assert_eq!((cooling.req_mw, cooling.max_mw), (200, 800));
    table.requested(&mut cooling, 1_500_000, 50);
    assert_eq!(cooling.req_mw, 200, "of the point at or above the frequency");
    for (load, granted_mw, state) in
        [(100, 400, 0), (100, 399, 1), (200, 400, 1), (200, 399, 2), (0, 3, 1), (100, 50, 2)]
    {
        table.requested(&mut cooling, 1_000_000, load);
        cooling.granted_mw = granted_mw;
        assert_eq!(table.power2state(&cooling), state, "{load} % {granted_mw} mW");
    }
}

/// get_load: of 10 ms 2.5 idle; or utilization 200 of 400.
#[test]
fn the_load_is_time_to_5_10_and_utilization_from_6_1() {
    let state = CpuState { util_cfs: 200, cap_orig: 400, ..CpuState::default() };
    for (profile, load) in [("4.12", 75), ("5.10", 75), ("5.15", 50), ("6.1", 50), ("7.2", 50)] {
        assert_eq!(cooling_load(&policy(profile, &[]), &state, 10_000, 2_500), load, "{profile}");
    }
    assert_eq!(cooling_load(&policy("5.10", &[]), &state, 10, 11), 0, "more idle time than time");
}

/// thermal_zone_trip_update() looks at instances of the trip only. That of a domain which the trip does not cool, here
/// one below the domain that it does, stays as it was made: THERMAL_NO_TARGET and not initialized. When the trip begins
/// to cool it, at 87 C that rise no more, it is new: state 2 of the other trip and one more. The other domain stays in
/// state 2.
#[test]
fn a_domain_that_joins_a_trip_begins_as_a_new_one() {
    for profile in profiles() {
        let policy = policy(profile, &[]);
        let mut zone = Zone { domains: 2, ..example(0) };
        let new = ThermalInstance { target: NO_TARGET, initialized: 0 };
        zone.trip.iter_mut().for_each(|trip| trip.instance.fill(new));
        (zone.trip[0].cools, zone.trip[1].cools) = (0b10, 0b01);
        zone.cooling.iter_mut().for_each(|cooling| cooling.max_state = 9);
        let states = |zone: &mut Zone, temp_mc| {
            zone.read(&policy, temp_mc);
            zone.step_wise(&policy);
            (zone.cooling[0].state, zone.cooling[1].state)
        };
        assert_eq!([86_000, 87_000].map(|temp_mc| states(&mut zone, temp_mc)), [(1, 1), (2, 2)], "{profile}");
        assert_eq!((zone.trip[0].instance[0], zone.trip[1].instance[1]), (new, new), "{profile}");
        zone.trip[0].cools = 0b11;
        assert_eq!(states(&mut zone, 87_000), (3, 2), "{profile}");
    }
}

/// A zone cools 16 domains at most (bounds.h): bits of a trip beyond them have no domain, whatever number of them a
/// zone is said to have. What stands behind the instances of the first trip is the second one.
#[test]
fn a_trip_has_no_instance_beyond_the_most_domains() {
    for profile in ["4.12", "5.10", "6.6", "6.12", "7.2"] {
        let (most, pol) = (COOLING_MAX as u32, policy(profile, &[]));
        let mut zone = Zone { trips: 2, domains: most + 1, ..Zone::default() };
        for (trip, temp_mc) in zone.trip.iter_mut().zip([70_000, 85_000]) {
            *trip = Trip { temp_mc, hyst_mc: 2000, cools: 1 << most, ..Trip::default() };
        }
        zone.read(&pol, 71_000);
        let before = zone;
        zone.step_wise(&pol);
        assert_eq!((zone.trip, zone.cooling), (before.trip, before.cooling), "{profile}");
    }
}

/// The kernel's lists of a zone end with its last trip and device; a record has room for more of both, and what
/// stands there belongs to none, whatever a trip that counts says it cools: it changes nothing, and stays as it was.
/// The one domain goes a state deeper with each reading above the one trip.
#[test]
fn places_beyond_a_zone_s_trips_and_domains_are_not_read() {
    let left = ThermalInstance { target: 7, initialized: 1 };
    for profile in profiles() {
        let policy = policy(profile, &[]);
        let mut clean = Zone { trips: 1, ..example(1000) };
        (clean.cooling[0].req_mw, clean.cooling[0].max_mw) = (2000, 4000);
        let mut full = clean;
        full.trip[0].cools = u32::MAX;
        full.trip[0].instance[1..].fill(left);
        full.trip[1..].fill(Trip { reached: 1, cools: u32::MAX, instance: [left; COOLING_MAX], ..Trip::default() });
        let other = Cooling { state: 3, max_state: 9, weight: 512, req_mw: 500, max_mw: 600, ..Cooling::default() };
        full.cooling[1..].fill(other);
        let mut expected = full;
        for (temp_mc, state) in [(70_000, 1), (71_000, 2), (72_000, 3)] {
            for zone in [&mut clean, &mut full] {
                zone.read(&policy, temp_mc);
                zone.step_wise(&policy);
                assert!(zone.allocate(&policy, 100), "one trip never switches the controller off");
            }
            assert_eq!(clean.cooling[0].state, state, "{profile}");
            (expected.trip[0].reached, expected.trip[0].instance[0]) = (1, clean.trip[0].instance[0]);
            expected.cooling[0] = clean.cooling[0];
            let expected = Zone { trip: expected.trip, cooling: expected.cooling, ..clean };
            assert_eq!(full, expected, "{profile} at {temp_mc}");
        }
    }
}
