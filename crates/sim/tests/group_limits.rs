// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups that count for a part of each CPU at most, as Android has them (`uclamp=group_throttle`).

use crate::common::*;
use pelton_core::Policy;
use pelton_model::Machine;
use pelton_model::workload::{GroupSpec, TaskSpec, Workload};
use pelton_schema::Event;
use pelton_sim::Report;

fn limited() -> Policy {
    let mut policy = profile("6.12");
    policy.set("uclamp", "group_throttle").expect("a form");
    policy.check().expect("no contradiction");
    policy
}

fn inside(path: &str, task: TaskSpec) -> TaskSpec {
    TaskSpec { taskgroup: path.into(), ..task }
}

/// Tasks, and how much of a CPU the group `/bg` counts for.
fn with_limit(tasks: Vec<TaskSpec>, throttle: u32) -> Workload {
    let group = |path: &str, throttle| GroupSpec { path: path.into(), throttle, ..GroupSpec::default() };
    Workload { groups: vec![group("/bg", throttle), group("/other", 1024)], ..workload(tasks) }
}

/// Fair utilization in the last decision about CPU 0.
fn last_asked(m: &Machine, w: &Workload) -> u32 {
    let mut events = Keep::default();
    pelton_sim::run(m, w, &limited(), &config(1500), &mut events).expect("runs");
    let of = |(_, event): &(u64, Event)| match *event {
        Event::FreqDecision { max_cpu: 0, gate: 0, cfs, .. } => Some(cfs),
        _ => None,
    };
    events.0.iter().rev().find_map(of).expect("a decision")
}

#[test]
fn a_group_counts_for_its_part_however_many_tasks_it_has() {
    let hog = |name: &str| inside("/bg", on(busy(name), 0));
    for capacity in [1024, 400] {
        for throttle in [0, 100, 512] {
            let part = throttle * capacity / 1024;
            let m = machine(&[(1, capacity)]);
            assert_eq!(last_asked(&m, &with_limit(vec![hog("a")], throttle)), part, "{throttle} of {capacity}");
            let two = with_limit(vec![hog("a"), hog("b")], throttle);
            assert_eq!(last_asked(&m, &two), part, "two tasks, {throttle} of {capacity}");
        }
    }
}

#[test]
fn what_is_in_no_limited_group_counts_in_full() {
    let hog = inside("/bg", on(busy("hog"), 0));
    let m = machine(&[(1, 1024)]);
    for path in ["", "/other"] {
        let free = inside(path, on(periodic("free", 500, 2_000), 0));
        let asked = last_asked(&m, &with_limit(vec![hog.clone(), free], 100));
        assert!((300..500).contains(&asked), "{asked} in {path:?}");
    }
}

#[test]
fn a_group_below_a_limited_one_counts_in_its_own_queue_and_above() {
    // As the kernel walks every queue: 1024 in /bg/deep, limited to 1024, and in /bg, limited to 100.
    let hog = inside("/bg/deep", on(busy("hog"), 0));
    assert_eq!(last_asked(&machine(&[(1, 1024)]), &with_limit(vec![hog], 100)), 1024);
}

/// Four little and two big CPUs.
fn board() -> Machine {
    let mut m = machine(&[(4, 446), (2, 1024)]);
    m.domains[0].opps.iter_mut().for_each(|opp| opp.power_uw /= 5);
    m
}

fn on_big_ms(r: &Report) -> u64 {
    r.cpus[4..].iter().map(|c| c.busy_ns).sum::<u64>() / MS
}

#[test]
fn a_hog_of_a_limited_group_fits_a_little_cpu() {
    let run = |throttle| {
        let w = with_limit(vec![inside("/bg", busy("hog"))], throttle);
        on_big_ms(&pelton_sim::run(&board(), &w, &limited(), &config(1000), pelton_schema::NullSink).expect("runs"))
    };
    assert_eq!(run(512), 0, "223 of 446 leave a fifth of it");
    assert!(run(1000) > 800, "435 of 446 do not");
    assert!(run(1024) > 800, "no limit");
}

#[test]
fn limits_are_in_force_under_this_form_alone() {
    let m = machine(&[(1, 1024)]);
    let run = |form: &str, throttle| {
        let mut policy = profile("7.2");
        policy.set("uclamp", form).expect("a form");
        let w = with_limit(vec![inside("/bg", on(busy("hog"), 0))], throttle);
        let r = pelton_sim::run(&m, &w, &policy, &config(500), pelton_schema::NullSink).expect("runs");
        format!("{r:?}")
    };
    for form in ["off", "max", "sum", "bias", "bias_weighted", "debt"] {
        assert_eq!(run(form, 100), run(form, 1024), "{form}");
    }
    assert_ne!(run("group_throttle", 100), run("group_throttle", 1024));
    assert_eq!(run("group_throttle", 1024), run("max", 1024));
}

#[test]
fn more_groups_than_the_form_looks_at_are_refused() {
    let groups = (0..65).map(|i| GroupSpec { path: format!("/g{i}"), throttle: 512, ..GroupSpec::default() }).collect();
    let w = Workload { groups, ..workload(vec![busy("a")]) };
    let error = pelton_sim::run(&machine(&[(1, 1024)]), &w, &limited(), &config(10), pelton_schema::NullSink);
    let text = error.expect_err("too many").to_string();
    assert!(text.contains("looks at 64 task groups"), "{text}");
}
