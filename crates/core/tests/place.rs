// SPDX-License-Identifier: GPL-2.0-or-later
//! The CPU that a waking task is drawn to, case by case.

use pelton_core::{CfsRq, Policy, Se, TaskGroup, Wake, WakeShift, effective_load, h_load, wake_affine, wake_wide};

fn pulls(profile: &str, wake: Wake) -> bool {
    wake_affine(&Policy::profile(profile).expect("exists"), &wake)
}

/// `n` and `m` tasks of weight 1024 on the waking and on the last CPU; one more wakes.
fn busy(n: u64, m: u64) -> Wake {
    let (this_load, prev_load) = (n * 1024, m * 1024);
    Wake { this_load, prev_load, task_load: 1024, waker_load: 1024, this_running: n as u32, ..Wake::full_capacity() }
}

#[test]
fn in_4_12_the_fuller_cpu_loses_and_the_task_counts_on_the_waking_one() {
    for (n, m, expected) in [(1, 2, true), (2, 2, false), (1, 1, false), (0, 0, true), (3, 4, true), (5, 4, false)] {
        assert_eq!(pulls("4.12", busy(n, m)), expected, "{n} here, {m} there");
    }
}

#[test]
fn a_waker_about_to_sleep_does_not_count() {
    for n in 1..=8 {
        let sync = Wake { sync: 1, ..busy(n, n) };
        assert!(pulls("4.12", sync), "{n} on either CPU: as many afterwards");
        assert!(!pulls("4.12", Wake { sync: 1, ..busy(n + 2, n) }));
    }
    assert!(pulls("4.12", Wake { sync: 1, ..busy(1, 0) }), "no other task here: the scan for an idle CPU decides");
}

#[test]
fn the_margin_is_half_of_the_imbalance() {
    let at = |prev_load| Wake { this_load: 1000, prev_load, task_load: 1000, ..Wake::full_capacity() };
    assert!(pulls("4.12", at(1852)) && !pulls("4.12", at(1851)), "200000 against 108 x 1852 = 200016");
    let smt = |prev_load| Wake { siblings: 1, ..at(prev_load) };
    assert!(pulls("4.12", smt(1905)) && !pulls("4.12", smt(1904)), "105 x 1905 = 200025");
}

#[test]
fn capacity_weighs_in() {
    let wake = |this_capacity, prev_capacity| Wake { this_capacity, prev_capacity, ..busy(1, 2) };
    assert!(pulls("4.12", wake(1024, 512)));
    assert!(!pulls("4.12", wake(512, 1024)));
}

#[test]
fn later_kernels_look_at_idle_cpus_first() {
    let wake = busy(0, 5);
    assert!(!pulls("4.16", Wake { this_idle: 1, prev_idle: 1, ..wake }));
    assert!(pulls("4.16", Wake { this_idle: 1, ..wake }));
    assert!(pulls("7.2", Wake { sync: 1, ..busy(1, 5) }), "the waker is alone");
    assert!(!pulls("7.2", Wake { prev_idle: 1, ..busy(3, 0) }));
    assert!(pulls("4.12", Wake { prev_idle: 1, sync: 1, ..busy(1, 0) }), "idleness is not asked here");
}

#[test]
fn any_input_has_an_answer() {
    let all = Wake { this_load: u64::MAX, prev_load: u64::MAX, ..Wake::default() };
    let _ = (pulls("4.12", all), pulls("7.2", all));
    assert!(!wake_wide(u32::MAX, 1, u32::MAX) && wake_wide(u32::MAX, u32::MAX, 1));
}

#[test]
fn a_group_takes_the_load_that_its_shares_allow() {
    let tg = TaskGroup { load_avg: 3072, shares: 1024 };
    let queue = |load_avg, contrib| {
        let mut cfs = CfsRq { tg_load_avg_contrib: contrib, ..CfsRq::default() };
        cfs.avg.load_avg = load_avg;
        cfs
    };
    let entity = |load_avg| {
        let mut se = Se::default();
        se.avg.load_avg = load_avg;
        se
    };
    // A third of the group's load is here; one more task of 1024 makes it half of it.
    let (own, se) = (queue(1024, 1024), entity(341));
    assert_eq!(effective_load(&own, &tg, &se, 1024, 1024), 1024 * 2048 / 4096 - 341);
    assert_eq!(effective_load(&own, &tg, &se, 0, 1024), 1024 * 1024 / 4096 - 341, "it joins on another CPU");
    assert_eq!(effective_load(&own, &tg, &se, -1024, -1024), 2 - 341, "the only task here goes");
    // All of it is here: more of it changes nothing.
    let (own, se, all) = (queue(3072, 3072), entity(1024), 1024);
    assert_eq!(effective_load(&own, &tg, &se, all, all), 0);
    assert_eq!(effective_load(&CfsRq::default(), &tg, &Se::default(), 1024, 1024), 1024 * 1024 / 4096);
}

#[test]
fn a_tasks_part_of_its_cpus_load_is_its_groups_part() {
    assert_eq!(h_load(2048, 1024, 2048), 1023, "the kernel adds 1 below the line");
    assert_eq!(h_load(1023, 512, 1024), 511);
    assert_eq!(h_load(u64::MAX, 0, 0), 0);
}

#[test]
fn what_groups_shift_enters_the_comparison() {
    let plain = busy(2, 2);
    let mut same = Wake { sync: 1, ..plain };
    same.in_groups(WakeShift { waker_here: -1024, task_here: 1024, ..WakeShift::default() });
    assert_eq!(pulls("4.12", same), pulls("4.12", Wake { sync: 1, ..plain }), "tasks of the root shift themselves");
    let mut none = plain;
    none.in_groups(WakeShift { task_here: 0, ..WakeShift::default() });
    assert!(pulls("4.12", none) && !pulls("4.12", plain), "a task that adds nothing is welcome");
    let mut less = plain;
    less.in_groups(WakeShift { task_here: -4096, task_there: -4096, ..WakeShift::default() });
    assert_eq!((less.this_load, less.task_load, less.prev_load), (1, 0, 0), "what stays, stays more than nothing");
}
