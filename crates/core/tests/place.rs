// SPDX-License-Identifier: GPL-2.0-only
//! Where a waking task is drawn to, case by case.

use pelton_core::hook::how;
use pelton_core::{Policy, Rq, SugovCpu, SugovPolicy, Wake, wake_affine, wake_wide};

fn pulls(profile: &str, wake: Wake) -> bool {
    wake_affine(&Policy::profile(profile).expect("exists"), &wake)
}

/// `n` and `m` tasks of weight 1024 on the waking and on the last CPU; one more wakes.
fn busy(n: u64, m: u64) -> Wake {
    let (this_load, prev_load) = (n * 1024, m * 1024);
    Wake { this_load, prev_load, task_load: 1024, waker_load: 1024, this_running: n as u32, ..Wake::full_capacity() }
}

#[test]
fn to_4_12_the_fuller_cpu_loses_and_the_task_counts_on_the_waking_one() {
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
    assert!(pulls("4.12", Wake { sync: 1, ..busy(1, 0) }), "nobody else here: the scan for an idle CPU decides");
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

/// What becomes of an event on the executing CPU itself: offered, delivered.
fn outcome(profile: &str, settings: &[(&str, &str)], site: u32, how: u32) -> (bool, bool) {
    let mut policy = Policy::profile(profile).expect("exists");
    settings.iter().for_each(|(name, value)| policy.set(name, value).expect("a switch of the table"));
    let outcome = SugovCpu::default().hook_event(&policy, &SugovPolicy::default(), &Rq::default(), 0, site, how);
    (outcome.offered, outcome.delivered)
}

#[test]
fn a_task_that_joins_a_group_is_the_roots_affair_only_when_propagation_calls() {
    const DECAY: u32 = 0;
    const ATTACH: u32 = 1;
    let grouped = [("autogroup", "on")];
    assert_eq!(outcome("4.12", &[], ATTACH, 0), (true, true));
    assert_eq!(outcome("4.12", &grouped, ATTACH, 0), (false, false));
    assert_eq!(outcome("5.4", &grouped, ATTACH, 0), (false, false));
    assert_eq!(outcome("5.10", &grouped, ATTACH, 0), (true, true));
    let h1 = [("autogroup", "on"), ("hook_filter", "h1")];
    assert_eq!(outcome("4.12", &h1, ATTACH, 0), (false, false));
    assert_eq!(outcome("4.12", &h1[1..], ATTACH, 0), (true, true));
    // What sleeping tasks took along reaches the root in the same way.
    assert_eq!(outcome("4.12", &grouped, DECAY, how::PROPAGATED | how::REMOVED), (false, false));
    assert_eq!(outcome("7.2", &grouped, DECAY, how::PROPAGATED | how::REMOVED), (true, true));
}
