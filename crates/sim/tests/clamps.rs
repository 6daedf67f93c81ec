// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps by maximum: what they do to frequency and to where tasks run.

use crate::common::*;
use pelton_model::Machine;
use pelton_model::workload::{Op, Phase, SchedPolicy, TaskSpec};
use pelton_schema::Event;
use pelton_sim::Report;

/// Releases that have clamps.
const CLAMPING: [&str; 9] = ["5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

fn clamped(task: TaskSpec, min: u32, max: u32) -> TaskSpec {
    TaskSpec { uclamp: Some((min, max)), ..task }
}

/// Time at each operating point of the first domain, ms.
fn at_opps(r: &Report) -> Vec<u64> {
    r.domains[0].time_in_state_ns.iter().map(|ns| ns / MS).collect()
}

/// Two CPUs of one domain: 500, 1000, 2000 MHz.
fn pair() -> Machine {
    machine(&[(2, 1024)])
}

#[test]
fn an_upper_clamp_is_the_most_that_a_task_asks_for() {
    for profile in CLAMPING {
        // 200 of 1024 with the quarter that releases up to 6.7 add is 250: 488 MHz.
        let r = run_on(&pair(), &workload(vec![clamped(on(busy("b"), 0), 0, 200)]), profile, 1000);
        assert!(at_opps(&r)[0] > 980, "{profile}: {:?}", at_opps(&r));
        let free = run_on(&pair(), &workload(vec![on(busy("b"), 0)]), profile, 1000);
        assert!(at_opps(&free)[2] > 800, "{profile}: {:?}", at_opps(&free));
    }
}

#[test]
fn a_lower_clamp_holds_while_its_task_runs_or_waits() {
    for profile in CLAMPING {
        let run_ns = |min| {
            let task = clamped(on(periodic("p", 1000, 10_000), 0), min, 1024);
            run_on(&pair(), &workload(vec![task]), profile, 1000).tasks[0].run_ns
        };
        // At 500 MHz 1 ms of work takes four times as long.
        assert!(run_ns(512) * 3 < run_ns(0) * 2, "{profile}: {} ns of {} without", run_ns(512), run_ns(0));
    }
}

#[test]
fn without_clamps_in_the_policy_they_do_nothing() {
    let w = |task: TaskSpec| workload(vec![on(task, 0)]);
    let mut off = profile("7.2");
    off.set("uclamp", "off").expect("a switch");
    let run = |task: TaskSpec| {
        let r = pelton_sim::run(&pair(), &w(task), &off, &config(500), pelton_schema::NullSink).expect("runs");
        format!("{r:?}")
    };
    assert_eq!(run(clamped(busy("b"), 0, 100)), run(busy("b")));
    assert_eq!(
        at_opps(&run_on(&pair(), &w(clamped(busy("b"), 0, 100)), "4.19", 500)),
        at_opps(&run_on(&pair(), &w(busy("b")), "4.19", 500)),
        "4.19 has none"
    );
}

#[test]
fn the_largest_clamp_of_a_cpu_wins_and_is_kept_by_its_bucket() {
    // A capped hog beside an uncapped task that runs for a moment: while that is runnable the CPU is not capped.
    let w = workload(vec![clamped(on(busy("hog"), 0), 0, 200), on(periodic("free", 3000, 10_000), 0)]);
    let capped =
        workload(vec![clamped(on(busy("hog"), 0), 0, 200), clamped(on(periodic("p", 3000, 10_000), 0), 0, 200)]);
    for profile in CLAMPING {
        let (mixed, all) = (run_on(&pair(), &w, profile, 1000), run_on(&pair(), &capped, profile, 1000));
        assert!(at_opps(&mixed)[2] > 200, "{profile}: {:?}", at_opps(&mixed));
        assert!(at_opps(&all)[0] > 980, "{profile}: {:?}", at_opps(&all));
    }
}

#[test]
fn a_real_time_task_asks_for_the_maximum_only_until_it_says_less() {
    let rt = |name: &str| with_policy(on(periodic(name, 1000, 10_000), 0), SchedPolicy::Fifo { priority: 10 });
    // Another task's clamp switches the default of real-time tasks on.
    let other = clamped(on(periodic("other", 100, 10_000), 1), 0, 1024);
    for profile in ["5.10", "5.15", "6.1", "7.2"] {
        let free = run_on(&pair(), &workload(vec![rt("rt"), other.clone()]), profile, 1000);
        let low = run_on(&pair(), &workload(vec![clamped(rt("rt"), 0, 100), other.clone()]), profile, 1000);
        assert!(at_opps(&free)[2] > 3 * at_opps(&low)[2], "{profile}: {:?} {:?}", at_opps(&free), at_opps(&low));
    }
}

#[test]
fn clamps_that_a_phase_sets_are_told_and_in_force() {
    let mut task = on(task("t", Some(1), vec![run_ms(100)]), 0);
    let ops: Vec<Op> = task.phases[0].ops.clone();
    task.phases.push(Phase { ops, loops: Some(1), uclamp: Some((0, 200)), ..Phase::default() });
    let (_, events) = events_of(&pair(), &workload(vec![task]), "7.2", &config(1000));
    let told = events.iter().find_map(|&(at, e)| match e {
        Event::TaskAttributes { uclamp_max: 200, .. } => Some(at),
        _ => None,
    });
    let at = told.expect("it is told");
    let slow = events.iter().any(|&(time, e)| time >= at && matches!(e, Event::CpuFrequency { freq_khz: 500_000, .. }));
    assert!(slow, "the CPU slows down while the task goes on running");
}

/// Four little and two big CPUs.
fn board() -> Machine {
    let mut m = machine(&[(4, 446), (2, 1024)]);
    m.domains[0].opps.iter_mut().for_each(|opp| opp.power_uw /= 5);
    m
}

fn busy_on_big_ms(r: &Report) -> u64 {
    r.cpus[4..].iter().map(|c| c.busy_ns).sum::<u64>() / MS
}

#[test]
fn a_hog_capped_below_a_little_cpu_stays_there() {
    for profile in ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let capped = run_on(&board(), &workload(vec![clamped(busy("b"), 0, 400)]), profile, 1000);
        assert_eq!(busy_on_big_ms(&capped), 0, "{profile}: it fits by its clamp");
        let free = run_on(&board(), &workload(vec![busy("b")]), profile, 1000);
        assert!(busy_on_big_ms(&free) > 800, "{profile}: {} ms", busy_on_big_ms(&free));
    }
}

#[test]
fn a_small_boosted_task_is_placed_where_its_floor_is_kept() {
    let small = || periodic("p", 300, 10_000);
    for profile in ["6.1", "6.12", "7.2"] {
        let boosted = run_on(&board(), &workload(vec![clamped(small(), 700, 1024)]), profile, 1000);
        let free = run_on(&board(), &workload(vec![small()]), profile, 1000);
        assert!(busy_on_big_ms(&boosted) > 10, "{profile}: {} ms on big CPUs", busy_on_big_ms(&boosted));
        assert!(busy_on_big_ms(&free) < 3, "{profile}: {} ms on big CPUs", busy_on_big_ms(&free));
    }
}

/// A task that chose 100 as its lower clamp, in a group of which it is 600: 5.4 leaves it its own.
#[test]
fn a_groups_lower_clamp_raises_tasks_that_chose_less_from_5_10() {
    use pelton_model::workload::{GroupSpec, Workload};
    let run = |profile: &str, own: Option<(u32, u32)>| {
        let small = TaskSpec { uclamp: own, taskgroup: "/g".into(), ..on(periodic("p", 1000, 10_000), 0) };
        let groups = vec![GroupSpec { path: "/g".into(), clamps: (600, 1024), ..GroupSpec::default() }];
        run_on(&pair(), &Workload { groups, ..workload(vec![small]) }, profile, 1000).tasks[0].run_ns
    };
    for profile in CLAMPING {
        let (chose, did_not) = (run(profile, Some((100, 1024))), run(profile, None));
        // 1 ms of work at 500 MHz takes 4 ms, at the group's clamp 1 or 2.
        assert!(did_not < 250 * MS, "{profile}: {did_not} ns");
        assert_eq!(chose > 350 * MS, profile == "5.4", "{profile}: {chose} ns");
    }
}

/// The group's files were not written: 5.4.0 lends it the root's lower clamp of 1024, all others none.
#[test]
fn a_task_in_a_new_group_runs_at_the_highest_frequency_in_5_4_0_alone() {
    let run = |profile: &str, group: &str| {
        let task = TaskSpec { taskgroup: group.into(), ..on(periodic("p", 1000, 10_000), 0) };
        run_on(&pair(), &workload(vec![task]), profile, 1000).tasks[0].run_ns
    };
    for profile in CLAMPING {
        assert!(run(profile, "") > 350 * MS, "{profile}, at the root");
        assert!(run(profile, "/g") > 350 * MS, "{profile}");
    }
    let mut first = profile("5.4");
    first.set("uclamp_new_group", "parents").expect("a value");
    let task = TaskSpec { taskgroup: "/g".into(), ..on(periodic("p", 1000, 10_000), 0) };
    let r = pelton_sim::run(&pair(), &workload(vec![task]), &first, &config(1000), pelton_schema::NullSink);
    assert!(r.expect("runs").tasks[0].run_ns < 150 * MS);
}

/// A real-time hog runs for 5 ms when another task asks for a clamp. Where clamps begin to count then, its lower one
/// of 1024 waits for its next enqueue, which never comes, and its CPU asks for what 5 ms make; in 5.4 it counted
/// before.
#[test]
fn clamps_of_5_4_count_before_anybody_asks() {
    use pelton_model::workload::Start;
    let slow_ms = |set: &str| {
        let mut policy = profile("5.4");
        policy.set("uclamp_used", set).expect("a value");
        let rt = with_policy(on(busy("rt"), 0), SchedPolicy::Fifo { priority: 10 });
        let late = TaskSpec { start: Start::After(5 * MS), ..clamped(on(periodic("p", 100, 10_000), 1), 0, 1024) };
        let w = workload(vec![rt, late]);
        let r = pelton_sim::run(&pair(), &w, &policy, &config(200), pelton_schema::NullSink).expect("runs");
        at_opps(&r)[..2].iter().sum::<u64>()
    };
    assert!(slow_ms("always") <= 1 && slow_ms("once_asked") > 20, "{} {}", slow_ms("always"), slow_ms("once_asked"));
}
