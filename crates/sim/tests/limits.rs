// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of frequency domains that change during a run: what runs at which frequency when.

use crate::common::random::{Dice, random_machine, random_workload};
use crate::common::*;
use pelton_core::Policy;
use pelton_model::workload::{CpuSet, LimitChange, LimitSource, TaskSpec};
use pelton_model::{Machine, Workload};
use pelton_schema::Event;

const USER: LimitSource = LimitSource::User;
const COOLING: LimitSource = LimitSource::Cooling;

/// `changes`: from when on, ms, lower and upper limit of CPU 0's domain, kHz, and whose.
fn limited(tasks: Vec<TaskSpec>, changes: &[(u64, u32, u32, LimitSource)]) -> Workload {
    let change = |&(at_ms, min_khz, max_khz, by): &(u64, u32, u32, LimitSource)| LimitChange {
        at_ns: at_ms * MS,
        cpus: CpuSet::of([0]),
        min_khz,
        max_khz,
        by,
    };
    Workload { limits: changes.iter().map(change).collect(), ..workload(tasks) }
}

/// Two CPUs, 500, 1000 and 2000 MHz; a fast switch, or a driver that sleeps for 1 ms.
fn board(fast: bool) -> Machine {
    let mut m = machine(&[(2, 1024)]);
    m.domains[0].fast_switch = fast;
    if !fast {
        (m.domains[0].driver_sleeps, m.domains[0].switch_time_ns) = (true, MS);
    }
    m
}

fn policy(profile_name: &str, governor: &str) -> Policy {
    let mut policy = profile(profile_name);
    policy.set("governor", governor).expect("a governor");
    policy
}

/// Frequencies of CPU 0, and since when, us.
fn frequencies(m: &Machine, w: &Workload, policy: &Policy, ms: u64) -> Vec<(u64, u32)> {
    let mut keep = Keep::default();
    pelton_sim::run(m, w, policy, &config(ms), &mut keep).expect("runs");
    let of = |(at, event): &(u64, Event)| match *event {
        Event::CpuFrequency { cpu: 0, freq_khz } => Some((at / 1000, freq_khz)),
        _ => None,
    };
    keep.0.iter().filter_map(of).collect()
}

/// The frequency at a moment, ms.
fn at(frequencies: &[(u64, u32)], ms: u64) -> u32 {
    frequencies.iter().rev().find(|(since, _)| *since <= ms * 1000).map_or(0, |(_, khz)| *khz)
}

const EVERY: [&str; 12] = ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

#[test]
fn a_busy_cpu_keeps_to_its_limits_while_they_hold() {
    let w = limited(vec![on(busy("b"), 0)], &[(100, 0, 1_000_000, USER), (200, 0, u32::MAX, USER)]);
    for (name, fast) in EVERY.iter().flat_map(|name| [(name, true), (name, false)]) {
        let all = frequencies(&board(fast), &w, &policy(name, "schedutil"), 300);
        // A fast switch waits for a call of the governor: at the latest the tick after next.
        let seen = [99, 108, 199, 208, 299].map(|ms| at(&all, ms));
        assert_eq!(seen, [2_000_000, 1_000_000, 1_000_000, 2_000_000, 2_000_000], "{name} {fast}: {all:?}");
        assert!(all.iter().all(|&(us, khz)| !(108_000..200_000).contains(&us) || khz <= 1_000_000), "{name}: {all:?}");
    }
}

/// 4.12 forgets its last request when limits are new, and a busy CPU that is alone in its domain holds what was
/// forgotten.
#[test]
fn a_busy_cpu_alone_in_its_domain_misses_new_limits_in_4_12() {
    let w = limited(vec![busy("b")], &[(100, 0, 1_000_000, USER)]);
    let m = machine(&[(1, 1024)]);
    for (name, khz) in [("4.12", 2_000_000), ("4.16", 1_000_000), ("6.6", 1_000_000), ("7.2", 1_000_000)] {
        let all = frequencies(&m, &w, &policy(name, "schedutil"), 300);
        assert_eq!(at(&all, 299), khz, "{name}: {all:?}");
    }
}

#[test]
fn an_idle_cpu_with_a_slow_driver_follows_at_once_and_one_with_a_fast_switch_later() {
    // Its start leaves the CPU at the highest frequency, where it sleeps.
    let sleeper = on(task("s", Some(1), vec![run_ms(50), timer_ms(250), run_ms(1)]), 0);
    let w = limited(vec![sleeper], &[(100, 0, 1_000_000, USER)]);
    for name in ["4.12", "5.4", "6.6", "7.2"] {
        let slow = frequencies(&board(false), &w, &policy(name, "schedutil"), 350);
        assert_eq!((at(&slow, 99), at(&slow, 100)), (2_000_000, 1_000_000), "{name}: {slow:?}");
        let fast = frequencies(&board(true), &w, &policy(name, "schedutil"), 350);
        assert_eq!((at(&fast, 99), at(&fast, 249)), (2_000_000, 2_000_000), "{name}: {fast:?}");
        assert!(at(&fast, 349) <= 1_000_000, "{name}: {fast:?}");
    }
}

#[test]
fn the_strictest_source_counts_and_a_lower_limit_gives_way() {
    let changes = [
        (50, 2_000_000, u32::MAX, USER),
        (100, 0, 1_000_000, COOLING),
        (150, 0, 500_000, USER),
        (200, 0, u32::MAX, USER),
        (250, 0, u32::MAX, COOLING),
    ];
    let m = board(false);
    let (w, pol) = (limited(vec![busy("b")], &changes), policy("7.2", "performance"));
    let mut keep = Keep::default();
    pelton_sim::run(&m, &w, &pol, &config(300), &mut keep).expect("runs");
    let of = |(at, event): &(u64, Event)| match *event {
        Event::CpuFrequencyLimits { cpu, min_khz, max_khz } => Some((at / MS, cpu, min_khz / 1000, max_khz / 1000)),
        _ => None,
    };
    let told: Vec<_> = keep.0.iter().filter_map(of).collect();
    let expected =
        [(50, 0, 2000, 2000), (100, 0, 1000, 1000), (150, 0, 500, 500), (200, 0, 500, 1000), (250, 0, 500, 2000)];
    assert_eq!(told, expected);
    let all = frequencies(&m, &w, &pol, 300);
    assert_eq!([60, 110, 160, 210, 260].map(|ms| at(&all, ms) / 1000), [2000, 1000, 500, 1000, 2000]);
}

#[test]
fn governors_of_one_frequency_move_with_the_limits() {
    let w = limited(vec![periodic("p", 100, 10_000)], &[(55, 1_000_000, 1_000_000, USER), (105, 0, u32::MAX, USER)]);
    for (governor, told, seen) in [
        ("performance", "2000000", [2_000_000, 1_000_000, 2_000_000]),
        ("powersave", "500000", [500_000, 1_000_000, 500_000]),
        ("userspace", "2000000", [2_000_000, 1_000_000, 2_000_000]),
        ("userspace", "500000", [500_000, 1_000_000, 500_000]),
    ] {
        let mut pol = policy("7.2", governor);
        if governor == "userspace" {
            pol.set("userspace_khz", told).expect("a frequency");
        }
        let all = frequencies(&board(true), &w, &pol, 150);
        assert_eq!([54, 56, 106].map(|ms| at(&all, ms)), seen, "{governor} {told}: {all:?}");
    }
}

#[test]
fn sampling_governors_obey_at_once_and_look_again_soon() {
    let w = limited(vec![busy("b")], &[(101, 0, 1_000_000, USER), (201, 0, u32::MAX, USER)]);
    for governor in ["ondemand", "conservative"] {
        for name in ["4.12", "6.12", "7.2"] {
            let mut pol = policy(name, governor);
            pol.set("sampling_rate_us", "40000").expect("a period");
            let all = frequencies(&board(true), &w, &pol, 2000);
            assert!([101, 120, 199].iter().all(|&ms| at(&all, ms) <= 1_000_000), "{name} {governor}: {all:?}");
            assert!(at(&all, 1999) == 2_000_000, "{name} {governor}: {all:?}");
        }
    }
    // ondemand goes up with the next tick and not after the rest of the period.
    let mut pol = policy("7.2", "ondemand");
    pol.set("sampling_rate_us", "90000").expect("a period");
    let all = frequencies(&board(true), &w, &pol, 500);
    assert_eq!(at(&all, 206), 2_000_000, "{all:?}");
}

#[test]
fn votes_end_at_the_limit() {
    let w = limited(vec![busy("b")], &[(100, 0, 1_000_000, USER), (300, 0, u32::MAX, USER)]);
    for governor in ["sched_dvfs", "sched_dvfs_v7"] {
        let all = frequencies(&board(false), &w, &policy("4.12", governor), 600);
        assert_eq!([99, 101, 299].map(|ms| at(&all, ms)), [2_000_000, 1_000_000, 1_000_000], "{governor}: {all:?}");
    }
}

#[test]
fn limits_that_come_while_the_driver_works_hold_when_it_returns() {
    let mut m = board(false);
    m.domains[0].switch_time_ns = 20 * MS;
    for sleeps in [true, false] {
        m.domains[0].driver_sleeps = sleeps;
        let w = limited(vec![busy("b")], &[(10, 0, 500_000, USER)]);
        let all = frequencies(&m, &w, &policy("7.2", "schedutil"), 200);
        assert!(at(&all, 100) == 500_000 && at(&all, 199) == 500_000, "{sleeps}: {all:?}");
    }
}

#[test]
fn limits_that_limit_nothing_change_nothing() {
    let tasks = || vec![busy("b"), periodic("p", 300, 4000)];
    for name in EVERY {
        let plain = run_on(&board(true), &workload(tasks()), name, 500);
        let open = run_on(&board(true), &limited(tasks(), &[(100, 0, u32::MAX, USER)]), name, 500);
        assert_eq!(plain.tasks, open.tasks, "{name}");
        assert_eq!(plain.domains, open.domains, "{name}");
    }
}

/// The last average of pressure on CPU 0.
fn averaged(name: &str, by: LimitSource) -> u64 {
    let w = limited(vec![on(busy("b"), 0)], &[(50, 0, 1_000_000, by)]);
    let (_, events) = events_of(&board(true), &w, name, &config(500));
    let of = |(_, event): &(u64, Event)| match *event {
        Event::PeltHw { cpu: 0, load_avg } => Some(load_avg),
        _ => None,
    };
    events.iter().filter_map(of).next_back().unwrap_or(0)
}

#[test]
fn cooling_is_averaged_from_5_10_to_6_9_and_users_never_are() {
    for name in EVERY {
        let cools = ["5.10", "5.15", "6.1", "6.6", "6.8"].contains(&name);
        // 1.0 of 2.0 GHz: 512 of 1024 are lost.
        let (cooling, user) = (averaged(name, COOLING), averaged(name, USER));
        assert!(if cools { near(cooling, 512, 4) } else { cooling == 0 }, "{name}: {cooling}");
        assert_eq!(user, 0, "{name}");
    }
}

/// CPU 0 has 1024, three others 700: of two CPUs so few are searched in 7.2 that the other one is not found. A task of
/// 22 % of the big one, while its domain is limited to a quarter of it: too much with the margin.
fn share_of_the_big_cpu(name: &str, by: LimitSource) -> u64 {
    let m = machine(&[(1, 1024), (3, 700)]);
    let task = periodic("p", 2200, 10_000);
    let r = run_on(&m, &limited(vec![task], &[(10, 0, 500_000, by)]), name, 3000);
    100 * r.cpus[0].busy_ns / r.cpus.iter().map(|cpu| cpu.busy_ns).sum::<u64>()
}

#[test]
fn a_limited_big_cpu_is_left_where_the_release_knows_of_the_limit() {
    for (name, user, cooling) in
        [("5.4", true, true), ("6.6", true, false), ("6.12", false, false), ("7.2", false, false)]
    {
        for (by, stays) in [(USER, user), (COOLING, cooling)] {
            let share = share_of_the_big_cpu(name, by);
            assert!(if stays { share > 60 } else { share < 20 }, "{name} {by:?}: {share} %");
        }
    }
}

/// Changes at random moments, of random domains.
fn random_limits(d: &mut Dice, cpus: u32) -> Vec<LimitChange> {
    let khz = |d: &mut Dice| 400_000 + d.below(1_700_000) as u32;
    let change = |d: &mut Dice| LimitChange {
        at_ns: d.below(200 * MS),
        cpus: CpuSet::of([d.below(u64::from(cpus)) as u32]),
        min_khz: if d.below(2) == 0 { 0 } else { khz(d) },
        max_khz: if d.below(3) == 0 { u32::MAX } else { khz(d) },
        by: if d.below(2) == 0 { USER } else { COOLING },
    };
    (0..1 + d.below(12)).map(|_| change(d)).collect()
}

/// Every frequency that is left standing at some moment was within the limits of that moment when it was set.
fn outside(m: &Machine, events: &[(u64, Event)]) -> Vec<String> {
    let mut limits: Vec<(u32, u32)> = vec![(0, u32::MAX); m.domains.len()];
    let mut wrong = Vec::new();
    for (i, (at, event)) in events.iter().enumerate().filter(|(_, (at, _))| *at > 0) {
        match *event {
            Event::CpuFrequencyLimits { cpu, min_khz, max_khz } => {
                limits[m.cpus[cpu as usize].domain as usize] = (min_khz, max_khz);
            }
            Event::CpuFrequency { cpu, freq_khz } => {
                let same = |(then, later): &&(u64, Event)| {
                    then == at && matches!(later, Event::CpuFrequency { cpu: other, .. } if *other == cpu)
                };
                let (min, max) = limits[m.cpus[cpu as usize].domain as usize];
                if !(min..=max).contains(&freq_khz) && events[i + 1..].iter().find(same).is_none() {
                    wrong.push(format!("{at}: CPU {cpu} at {freq_khz}, limits {min} .. {max}"));
                }
            }
            _ => {}
        }
    }
    wrong
}

/// Frequencies outside of new limits after a driver that sleeps has returned, where limits are followed at once.
fn late(m: &Machine, governor: &str, events: &[(u64, Event)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (d, domain) in m.domains.iter().enumerate().filter(|(_, domain)| domain.driver_sleeps) {
        if governor == "schedutil" && domain.fast_switch {
            continue;
        }
        let (mut now_khz, mut limits, mut due) = (0, (0, u32::MAX), u64::MAX);
        for (at, event) in events {
            let is_within = (limits.0..=limits.1).contains(&now_khz);
            if *at > due && !is_within {
                wrong.push(format!("{at}: domain {d} at {now_khz}, limits {limits:?}"));
            }
            due = if is_within { u64::MAX } else { due };
            match *event {
                Event::CpuFrequency { cpu, freq_khz } if cpu == domain.cpus[0] => now_khz = freq_khz,
                Event::CpuFrequencyLimits { cpu, min_khz, max_khz } if cpu == domain.cpus[0] => {
                    (limits, due) = ((min_khz, max_khz), due.min(at + domain.switch_time_ns));
                }
                _ => {}
            }
        }
    }
    wrong
}

#[test]
fn no_governor_leaves_a_frequency_outside_of_its_limits() {
    let governors = [
        "schedutil",
        "ondemand",
        "conservative",
        "performance",
        "powersave",
        "userspace",
        "sched_dvfs",
        "sched_dvfs_v7",
    ];
    let mut changes = 0;
    for seed in 0..400 {
        let mut d = Dice(seed);
        let mut m = random_machine(&mut d);
        m.domains.iter_mut().for_each(|domain| domain.no_table = d.below(4) == 0);
        let mut w = random_workload(&mut d, m.cpus.len() as u32);
        w.limits = random_limits(&mut d, m.cpus.len() as u32);
        let (name, governor) = (EVERY[d.below(10) as usize], governors[d.below(8) as usize]);
        let run = || {
            let mut keep = Keep::default();
            let r = pelton_sim::run(&m, &w, &policy(name, governor), &config(250), &mut keep);
            r.map(|report| (report, keep.0))
        };
        let Ok((report, events)) = run() else { continue };
        changes += events.iter().filter(|(_, e)| matches!(e, Event::CpuFrequencyLimits { .. })).count();
        let wrong = [outside(&m, &events), late(&m, governor, &events)].concat();
        assert_eq!(wrong, Vec::<String>::new(), "seed {seed}, {name} {governor}");
        let (again, _) = run().expect("it ran before");
        assert_eq!(report, again, "seed {seed}");
    }
    assert!(changes > 1000, "{changes}");
}
