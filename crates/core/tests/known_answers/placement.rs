// SPDX-License-Identifier: GPL-2.0-or-later
//! The CPU that a waking task is drawn to, from the sources of each release: `wake_affine_idle()`,
//! `wake_affine_weight()` and, in 4.12, `wake_affine()` of kernel/sched/fair.c; percentages from `sd_init()` of
//! kernel/sched/topology.c.

use pelton_core::{Policy, Wake, wake_affine, wake_reads_runnable};

fn pulls(profile: &str, wake: Wake) -> bool {
    wake_affine(&Policy::profile(profile).expect("exists"), &wake)
}

/// Capacity 1024 twice; the waker stays. 100 * (load + task) here, 108 * (load - task) there (imbalance 117: 100 + 17 /
/// 2).
fn loads(this_load: u64, prev_load: u64, task_load: u64) -> Wake {
    Wake { this_load, prev_load, task_load, this_running: 2, ..Wake::full_capacity() }
}

/// Equal loads: 100 * (980 + 100) = 108,000 here, 108 * (1100 - 100) = 108,000 there.
const EVEN: fn() -> Wake = || loads(980, 1100, 100);

/// 4.12.0 fair.c:5385 wake_affine: `this_eff_load <= prev_eff_load`, and the task is not taken out of the last CPU's
/// load.
#[test]
fn wake_affine_4_12_compares_runnable_load_alone() {
    // 100 * (980 + 100) = 108,000 against 108 * 1000 = 108,000.
    assert!(pulls("4.12", loads(980, 1000, 100)));
    assert!(!pulls("4.12", loads(981, 1000, 100)), "108,100 against 108,000");
    // An idle waking CPU is not asked for: its load is 0, so capacity decides: 102,400 <= 110,592.
    assert!(pulls("4.12", Wake { this_idle: 1, prev_idle: 1, this_running: 0, ..loads(0, 0, 100) }));
}

/// 4.16.13 fair.c:5703 wake_affine_idle and :5721 wake_affine_weight: `<=`, nothing added for a sync wake-up.
#[test]
fn wake_affine_4_16_gives_even_loads_to_the_waker() {
    assert!(pulls("4.16", EVEN()));
    assert!(!pulls("4.16", loads(981, 1100, 100)));
    assert!(!pulls("4.16", Wake { this_idle: 1, prev_idle: 1, ..EVEN() }), "both idle, one cache: the last CPU");
    assert!(pulls("4.16", Wake { sync: 1, this_running: 1, ..loads(5000, 0, 100) }), "the waker is alone");
}

/// 4.17 fair.c:5870, 4.19:5612, 5.4:5476 wake_affine_weight: `<`, and 1 more for the last CPU in a sync wake-up.
#[test]
fn wake_affine_4_17_needs_less_unless_the_waker_sleeps() {
    for profile in ["4.19", "5.4"] {
        assert!(!pulls(profile, EVEN()));
        assert!(pulls(profile, Wake { sync: 1, ..EVEN() }), "108,000 < 108,001");
        assert!(pulls(profile, Wake { sync: 1, waker_load: 981, ..EVEN() }), "the waker is more than the CPU's load");
        assert!(pulls(profile, loads(979, 1100, 100)));
    }
}

/// Up to 5.4 wake_affine_idle() ends after the sync test, and so does 5.10.262's (fair.c:6001): an idle last CPU is
/// compared by load. From 6.1 (fair.c:6419) it is taken.
#[test]
fn wake_affine_takes_an_idle_last_cpu_from_6_1() {
    // Here 100 * (1000 + 100) = 110,000, there 108 * (1200 - 100) = 118,800: the waking CPU wins by load.
    let wake = Wake { prev_idle: 1, ..loads(1000, 1200, 100) };
    for profile in ["4.16", "4.19", "5.4", "5.10"] {
        assert!(pulls(profile, wake), "{profile}");
    }
    for profile in ["5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        assert!(!pulls(profile, wake), "{profile}");
    }
}

/// 4.12 fair.c weighted_cpuload, 5.4 cpu_runnable_load: runnable_load_avg; 5.10 and later cpu_load: load_avg.
#[test]
fn wake_affine_reads_sleeping_tasks_from_5_10() {
    for (profile, runnable) in
        [("4.12", true), ("4.16", true), ("4.19", true), ("5.4", true), ("5.10", false), ("7.2", false)]
    {
        assert_eq!(wake_reads_runnable(&Policy::profile(profile).expect("exists")), runnable, "{profile}");
    }
}

/// topology.c sd_init: imbalance_pct is 110 for SMT and 117 for a cache; else 125 in 4.12 (:870) to 5.4 (:1345), 117 in
/// 5.10 (:1352) and later.
#[test]
fn wake_affine_allows_more_beyond_a_cache_to_5_4() {
    // Here 100 * 1100 = 110,000; there 108 * 1000 = 108,000 or, with 125, 112 * 1000 = 112,000.
    let wake = Wake { far: 1, ..loads(1000, 1100, 100) };
    for (profile, far) in [
        ("4.16", true),
        ("4.19", true),
        ("5.4", true),
        ("5.10", false),
        ("5.15", false),
        ("6.1", false),
        ("7.2", false),
    ] {
        assert_eq!(pulls(profile, wake), far, "{profile}");
        assert!(!pulls(profile, Wake { far: 0, ..wake }));
    }
    assert!(pulls("4.12", Wake { far: 1, ..loads(1000, 983, 100) }), "110,000 <= 112 * 983 = 110,096");
    assert!(!pulls("4.12", Wake { far: 1, ..loads(1000, 982, 100) }), "112 * 982 = 109,984");
}
