// SPDX-License-Identifier: GPL-2.0-or-later
//! Thermal zones: what gets hot, what is limited when, and what the scheduler sees of it.

use crate::common::*;
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::thermal::{HeatStage, ThermalZone, TripPoint};
use pelton_schema::Event;
use pelton_sim::report::ZoneReport;

/// Two CPUs of 2 W at 2 GHz, 1 W at 1 GHz, 0.3 W at 500 MHz; 20 K/W and 0.1 J/K (2 s), trips at 50 and 60 C.
fn board() -> Machine {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].fast_switch = true;
    for (opp, power_uw) in m.domains[0].opps.iter_mut().zip([300_000, 1_000_000, 2_000_000]) {
        opp.power_uw = power_uw;
    }
    let trip = |temp_mc, cools| TripPoint { temp_mc, hysteresis_mc: 2000, cools };
    m.thermal_zones = vec![ThermalZone {
        name: "soc".into(),
        domains: vec![0],
        weights: vec![0],
        ambient_mc: 25_000,
        start_mc: 25_000,
        stages: vec![HeatStage { mk_per_w: 20_000, mj_per_k: 100 }],
        trips: vec![trip(50_000, vec![]), trip(60_000, vec![0])],
        passive_ms: 100,
        polling_ms: 1000,
        sustainable_mw: 1750,
        ..ThermalZone::default()
    }];
    m
}

fn policy(profile_name: &str, thermal: &str) -> Policy {
    let mut policy = profile(profile_name);
    policy.set("thermal", thermal).expect("a governor");
    policy
}

struct Run {
    zone: ZoneReport,
    events: Vec<(u64, Event)>,
}

fn run(m: &Machine, policy: &Policy, ms: u64) -> Run {
    let mut keep = Keep::default();
    let w = workload(vec![on(busy("a"), 0), on(busy("b"), 1)]);
    let report = pelton_sim::run(m, &w, policy, &config(ms), &mut keep).expect("runs");
    Run { zone: report.zones[0].clone(), events: keep.0 }
}

impl Run {
    /// Readings: when, ms, and mC.
    fn readings(&self) -> Vec<(u64, i64)> {
        let of = |(at, event): &(u64, Event)| match *event {
            Event::ThermalTemperature { temp_mc, .. } => Some((at / MS, temp_mc)),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }
}

/// Nothing is cooled: 4 W and 20 K/W end at 105 C. Cooled, both governors of every release hold the zone near its trip,
/// but step_wise of 4.12: it gives a state back whenever the temperature drops, above the trip too, and swings between
/// no limit and the first.
#[test]
fn a_zone_that_would_get_much_too_hot_is_held_near_its_trip() {
    for name in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        for governor in ["step_wise", "power_allocator"] {
            let run = run(&board(), &policy(name, governor), 20_000);
            let zone = &run.zone;
            if (name, governor) == ("4.12", "step_wise") {
                assert!(zone.temp_mc_end > 80_000 && zone.domains[0].state_max == 1, "{zone:?}");
                continue;
            }
            // Readings are a second apart until it is cooled: a zone of 2 s gets past the trip before.
            // The controller may hold it below, states are coarse here.
            assert!((55_000..90_000).contains(&zone.temp_mc_max), "{name} {governor}: {zone:?}");
            assert!((52_000..68_000).contains(&zone.temp_mc_end), "{name} {governor}: {zone:?}");
            let cooled = &zone.domains[0];
            assert!(cooled.throttled_ns > 15_000 * MS && cooled.state_max >= 1, "{name} {governor}: {cooled:?}");
        }
    }
}

#[test]
fn temperature_follows_power_resistance_and_capacity() {
    // A trip that is never reached: 2 CPUs at 2 GHz, 4 W: 25 + 80 (1 - exp(-t / 2 s)).
    let mut m = board();
    m.thermal_zones[0].trips = vec![TripPoint { temp_mc: 190_000, hysteresis_mc: 0, cools: vec![0] }];
    let run = run(&m, &policy("7.2", "step_wise"), 5_001);
    for (ms, mc) in run.readings().into_iter().filter(|(ms, _)| *ms >= 1000) {
        // The governor takes some milliseconds to the highest frequency.
        let expected = 25_000.0 + 80_000.0 * (1.0 - (-(ms as f64) / 2000.0).exp());
        assert!((mc as f64 - expected).abs() < 1_000.0, "{mc} mC at {ms} ms, {expected}");
    }
    assert_eq!(run.readings().iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [0, 1000, 2000, 3000, 4000, 5000]);
    assert_eq!((run.zone.domains[0].throttled_ns, run.zone.domains[0].state_max), (0, 0));
}

/// polling_ms = 0: the sensor interrupts within a step of the temperature; then the passive rate holds.
#[test]
fn a_sensor_that_interrupts_is_read_when_a_trip_is_crossed() {
    let mut m = board();
    m.thermal_zones[0].polling_ms = 0;
    let run = run(&m, &policy("7.2", "step_wise"), 4_000);
    let readings = run.readings();
    assert_eq!(readings[0], (0, 25_000));
    assert!((50_000..50_700).contains(&readings[1].1), "the first trip: {readings:?}");
    let gap = readings[2].0 - readings[1].0;
    assert!(gap <= 100, "passive from there on: {readings:?}");
}

/// step_wise climbs one state with each reading above the trip, and every limit is emitted as one of the policy.
#[test]
fn states_are_limits_of_the_domain() {
    let run = run(&board(), &policy("6.6", "step_wise"), 8_000);
    let mut state = 0u32;
    let mut limits = Vec::new();
    for (_, event) in &run.events {
        match *event {
            Event::CdevUpdate { state: now, max_khz, .. } => {
                assert_eq!(state.abs_diff(now), 1, "one state at a time");
                state = now;
                limits.push(max_khz);
            }
            Event::CpuFrequencyLimits { max_khz, .. } => assert_eq!(Some(&max_khz), limits.last()),
            _ => {}
        }
    }
    assert!(limits.contains(&1_000_000), "{limits:?}");
}

/// Capacity that a limit of cooling takes is averaged in 5.10 to 6.9 and counts in the moment from 6.10 on; before
/// there is no signal.
#[test]
fn pressure_reaches_the_scheduler_as_in_each_release() {
    let told = |name: &str| {
        let run = run(&board(), &policy(name, "step_wise"), 6_000);
        let of = |(_, event): &(u64, Event)| match *event {
            Event::PeltHw { load_avg, .. } => Some(load_avg),
            _ => None,
        };
        run.events.iter().filter_map(of).max().unwrap_or(0)
    };
    assert_eq!(told("5.4"), 0);
    for name in ["5.10", "5.15", "6.1", "6.6"] {
        assert!(told(name) > 200, "{name}: half of the capacity for a while, {}", told(name));
    }
    assert_eq!(told("7.2"), 0, "cooling is a limit of the policy there");
}

#[test]
fn what_cannot_be_cooled_is_refused_with_the_reason() {
    let refused = |m: &Machine, w: &pelton_model::Workload| {
        let failed = pelton_sim::run(m, w, &policy("7.2", "step_wise"), &config(10), pelton_schema::NullSink);
        failed.expect_err("refused").to_string()
    };
    let w = workload(vec![busy("a")]);
    let without = Machine { thermal_zones: Vec::new(), ..board() };
    assert!(refused(&without, &w).contains("has no [[thermal_zone]]"));
    let mut unknown = board();
    unknown.thermal_zones[0].stages.clear();
    assert!(refused(&unknown, &w).contains("how fast zone `soc` heats"));
    let mut powerless = board();
    powerless.domains[0].opps.iter_mut().for_each(|opp| opp.power_uw = 0);
    assert!(refused(&powerless, &w).contains("the power of domain"));
    use pelton_model::workload::{CpuSet, LimitChange, LimitSource};
    let given = LimitChange { cpus: CpuSet::of([0]), max_khz: 1, by: LimitSource::Cooling, ..LimitChange::default() };
    let both = pelton_model::Workload { limits: vec![given], ..w };
    assert!(refused(&board(), &both).contains("by=cooling"));
}

/// A machine with zones that are not cooled runs as if it had none.
#[test]
fn zones_that_nobody_cools_change_nothing() {
    let w = workload(vec![on(busy("a"), 0), on(busy("b"), 1)]);
    let of = |m: &Machine| {
        let mut keep = Keep::default();
        let report = pelton_sim::run(m, &w, &profile("7.2"), &config(200), &mut keep).expect("runs");
        (report, keep.0)
    };
    assert_eq!(of(&board()), of(&Machine { thermal_zones: Vec::new(), ..board() }));
}
