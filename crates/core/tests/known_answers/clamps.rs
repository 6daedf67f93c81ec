// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps: which release looks at what the runnable tasks of a CPU are clamped to.

use pelton_core::{CpuState, Policy, UclampLimits, UclampRq, UclampTask, uclamp_inherits, uclamp_is_used};

/// A fair CPU of capacity 1024 at 600, its tasks clamped to this range.
fn clamped(min: u32, max: u32) -> CpuState {
    let range = CpuState { uclamp_used: 1, uclamp_min: min, uclamp_max: max, ..CpuState::default() };
    CpuState { cap_orig: 1024, util_cfs: 600, ..range }
}

fn perf(profile: &str, state: &CpuState) -> u32 {
    state.perf_eval(&Policy::profile(profile).expect("a profile"), 0).perf
}

/// 4.12, 4.16 and 4.19 have no uclamp in kernel/sched: 600 as it is. 5.4 (schedutil_cpu_util, uclamp_util_with) and
/// 5.10 (uclamp_rq_util_with): min(600, 100) = 100, and max(600, 800) = 800. 6.1 and 6.6 the same, then a quarter
/// (map_util_perf): 100 + 25 = 125, 800 + 200 = 1000. From 6.12 (effective_cpu_util, sugov_effective_cpu_perf) the
/// quarter is inside: min(600 + 150, 100) = 100, max(600 + 150, 800) = 800.
#[test]
fn the_clamps_of_a_queue_count_from_5_4() {
    for (profiles, capped, boosted) in [
        (&["4.12", "4.16", "4.19"][..], 600, 600),
        (&["5.4", "5.10"], 100, 800),
        (&["5.15", "6.1", "6.6"], 125, 1000),
        (&["6.8", "6.12", "6.18", "7.2"], 100, 800),
    ] {
        for profile in profiles {
            assert_eq!(perf(profile, &clamped(0, 100)), capped, "{profile}, at most 100");
            assert_eq!(perf(profile, &clamped(800, 1024)), boosted, "{profile}, at least 800");
        }
    }
}

const LATER: [&str; 8] = ["5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"];

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("a profile")
}

/// A task that chose neither clamp.
fn unset(min: u32, max: u32) -> UclampTask {
    UclampTask { user_defined: [0, 0], ..UclampTask::asking(min, max) }
}

/// 5.4 uclamp_tg_restrict, for each clamp by itself: the group's where the task's is larger or not user_defined. A
/// group of 300..600: 100 of its own stays 100, a default of 0 becomes 300; 700 becomes 600; a real-time default of
/// 1024 becomes 300. From 5.10.262 on clamp(value, 300, 600).
#[test]
fn a_group_is_a_ceiling_in_5_4_and_a_range_later() {
    let group = UclampLimits::of_group((300, 600));
    for (task, in_5_4, later) in [
        (UclampTask::asking(100, 1024), (100, 600), (300, 600)),
        (unset(0, 1024), (300, 600), (300, 600)),
        (UclampTask::asking(0, 200), (0, 200), (300, 300)),
        (UclampTask::asking(700, 1024), (300, 600), (600, 600)),
        (unset(1024, 1024), (300, 600), (600, 600)),
    ] {
        assert_eq!(task.effective(&policy("5.4"), &group), in_5_4, "{task:?}");
        for profile in LATER {
            assert_eq!(task.effective(&policy(profile), &group), later, "{profile}, {task:?}");
        }
    }
    let open = UclampLimits::of_group((0, 1024));
    assert_eq!(unset(1024, 1024).effective(&policy("5.4"), &open), (0, 1024), "a real-time task in a group");
    assert_eq!(unset(1024, 1024).effective(&policy("5.4"), &UclampLimits::NONE), (1024, 1024), "at the root");
    assert_eq!(unset(1024, 1024).effective(&policy("5.10"), &open), (1024, 1024));
}

/// 5.4 has no sched_uclamp_used.
#[test]
fn clamps_count_from_the_start_in_5_4() {
    assert!(uclamp_is_used(&policy("5.4"), false));
    for profile in LATER {
        assert!(!uclamp_is_used(&policy(profile), false) && uclamp_is_used(&policy(profile), true), "{profile}");
    }
    assert!(!uclamp_is_used(&policy("4.19"), true), "no clamps");
}

/// 5.4 init_uclamp leaves zeros; later ones begin with 0, 1024 and UCLAMP_FLAG_IDLE. The first task's clamps replace
/// both.
#[test]
fn a_cpu_without_a_task_yet_has_no_clamps_from_5_10() {
    let first = |profile: &str| {
        let (policy, mut task) = (policy(profile), UclampTask::asking(100, 300));
        let mut cpu = UclampRq::new(&policy);
        let before = (cpu.value, cpu.idle);
        cpu.inc(&policy, &mut task, &UclampLimits::NONE);
        assert_eq!((cpu.value, cpu.idle), ([100, 300], 0), "{profile}");
        before
    };
    assert_eq!(first("5.4"), ([0, 0], 0));
    LATER.iter().for_each(|profile| assert_eq!(first(profile), ([0, 1024], 1), "{profile}"));
}

/// 5.4.0 alloc_uclamp_sched_group copies what is in force above; from 5.4.40 on cpu_cgroup_css_online works it out.
#[test]
fn a_new_group_has_its_parents_clamps_in_5_4_0_alone() {
    let mut first = policy("5.4");
    first.set("uclamp_new_group", "parents").expect("a value");
    assert!(uclamp_inherits(&first, false) && !uclamp_inherits(&first, true));
    LATER.iter().chain(&["5.4"]).for_each(|profile| assert!(!uclamp_inherits(&policy(profile), false), "{profile}"));
}

/// The only task's upper clamp, 500 by its group, becomes 800; then a task of 200 comes. 5.4 uclamp_update_active: when
/// the old one is taken off the CPU is marked as idle and stays so, and uclamp_idle_reset() takes 200 for both. From
/// 5.10.262 on uclamp_rq_reinc_id() clears the mark: max(800, 200).
#[test]
fn a_change_of_the_only_tasks_group_keeps_the_mark_in_5_4() {
    let second_comes = |profile: &str| {
        let (policy, mut task, mut other) = (policy(profile), unset(0, 1024), UclampTask::asking(0, 200));
        let mut cpu = UclampRq::new(&policy);
        cpu.inc(&policy, &mut task, &UclampLimits::of_group((0, 500)));
        cpu.update(&policy, &mut task, &UclampLimits::of_group((0, 800)), [false, true]);
        let marked = cpu.idle;
        cpu.inc(&policy, &mut other, &UclampLimits::NONE);
        assert_eq!(cpu.idle, 0, "{profile}");
        (marked, cpu.value)
    };
    assert_eq!(second_comes("5.4"), (1, [0, 200]));
    LATER.iter().for_each(|profile| assert_eq!(second_comes(profile), (0, [0, 800]), "{profile}"));
}
