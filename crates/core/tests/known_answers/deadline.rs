// SPDX-License-Identifier: GPL-2.0-or-later
//! Deadline reservations, from the sources of each release.

use pelton_core::{
    DL_LIMIT_NONE, DL_LIMIT_PERIOD_NS, DL_LIMIT_RUNTIME_NS, DlEntity, Policy, dl_bw, dl_overflow, profiles,
};

const MS: u64 = 1_000_000;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// 10 ms in `deadline_ms` of every 100 ms.
fn server(deadline_ms: u64) -> DlEntity {
    let mut dl = DlEntity::default();
    dl.set(10 * MS, deadline_ms * MS, 100 * MS);
    dl
}

/// deadline.c __setparam_dl, core.c to_ratio: (10 ms << 20) / 100 ms = 104857, / 40 ms = 262144; a period of 0 is the
/// deadline.
#[test]
fn parameters_give_bandwidth_and_density() {
    let dl = server(40);
    assert_eq!((dl.dl_bw, dl.dl_density), (104_857, 262_144));
    let mut own = DlEntity::default();
    own.set(10 * MS, 40 * MS, 0);
    assert_eq!((own.dl_period_ns, own.dl_bw), (40 * MS, 262_144));
}

/// dl_entity_overflow, all releases: (D >> 10) * (left >> 10) against ((d - t) >> 10) * (Q >> 10).
#[test]
fn overflow_compares_in_units_of_1024_ns() {
    let mut dl = server(100);
    (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, 4 * MS as i64);
    // 97656 * 3906 = 381444336; at 960 ms 39062 * 9765 = 381440430, less; at 959.995904 ms 39066 * 9765 = 381479490.
    assert!(dl.overflows(960 * MS));
    assert!(!dl.overflows(960 * MS - 4096));
    // Less than 1024 ns of runtime is nothing.
    dl.runtime_ns = 1023;
    assert!(!dl.overflows(1000 * MS));
}

/// update_dl_entity: 4.12 starts a period whenever the density is exceeded. 4.16 and later (update_dl_revised_wakeup)
/// give a short deadline what its density allows: 262144 * 20 ms >> 20 = 5 ms.
#[test]
fn dl_constrained_is_revised_since_4_16() {
    for profile in profiles() {
        let mut dl = server(40);
        (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, 9 * MS as i64);
        assert!(dl.enqueue(&policy(profile), 980 * MS, true));
        let expected = if profile == "4.12" { (1020 * MS, 10 * MS as i64) } else { (1000 * MS, 5 * MS as i64) };
        assert_eq!((dl.deadline_ns, dl.runtime_ns), expected, "{profile}");
        // A deadline that is the period: a new period in all of them.
        let mut implicit = server(100);
        (implicit.deadline_ns, implicit.runtime_ns) = (1000 * MS, 9 * MS as i64);
        assert!(implicit.enqueue(&policy(profile), 980 * MS, true));
        assert_eq!((implicit.deadline_ns, implicit.runtime_ns), (1080 * MS, 10 * MS as i64), "{profile}");
    }
}

/// dl_check_constrained_dl: between the deadline (1000 ms) and the next period (1000 - 40 + 100 = 1060 ms) a short
/// deadline waits; 4.16 and later take away what was left, 4.12 does not, and its replenishment then adds nothing.
#[test]
fn dl_constrained_waits_for_the_next_period() {
    for profile in profiles() {
        let mut dl = server(40);
        (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, 3 * MS as i64);
        assert!(!dl.enqueue(&policy(profile), 1010 * MS, true), "{profile}");
        assert_eq!((dl.dl_throttled, dl.next_period_ns()), (1, 1060 * MS));
        let left = if profile == "4.12" { 3 * MS as i64 } else { 0 };
        assert_eq!(dl.runtime_ns, left, "{profile}");
        dl.replenish(1060 * MS);
        // 4.12: 1000 ms is before 1060 ms, a new period; later: 1000 + 100 ms. The same deadline here.
        assert_eq!((dl.dl_throttled, dl.deadline_ns, dl.runtime_ns), (0, 1100 * MS, 10 * MS as i64), "{profile}");
    }
}

/// update_curr_dl: 4.12 takes the time; 4.16 and later time * 512 >> 10 * 768 >> 10 = 3 ms / 8 of 3 ms.
#[test]
fn dl_runtime_is_scaled_since_4_16() {
    for profile in profiles() {
        let mut dl = server(100);
        dl.runtime_ns = 10 * MS as i64;
        assert!(!dl.ran(&policy(profile), 3 * MS, 512, 768));
        let used = if profile == "4.12" { 3_000_000 } else { 1_125_000 };
        assert_eq!(dl.runtime_ns, 10_000_000 - used, "{profile}");
    }
    // Two divisions, each rounded down: 3 * 1023 >> 10 = 2, 2 * 1023 >> 10 = 1.
    let mut dl = server(100);
    dl.runtime_ns = 10;
    assert!(!dl.ran(&policy("7.2"), 3, 1023, 1023));
    assert_eq!(dl.runtime_ns, 9);
}

/// dl_runtime_exceeded: nothing left is enough; a task that yielded stops with what it has, even without having run.
#[test]
fn who_has_nothing_left_or_yielded_is_throttled() {
    let mut dl = server(100);
    dl.runtime_ns = 5;
    assert!(!dl.ran(&policy("7.2"), 4, 1024, 1024) && dl.dl_throttled == 0);
    assert!(dl.ran(&policy("7.2"), 1, 1024, 1024) && dl.dl_throttled == 1);
    let mut yields = server(100);
    (yields.runtime_ns, yields.dl_yielded) = (5, 1);
    assert!(yields.ran(&policy("7.2"), 0, 1024, 1024));
    assert_eq!(yields.runtime_ns, 5);
}

/// replenish_dl_entity, all releases: deadline += period and runtime += Q until something is left; then a deadline that
/// has passed is set anew; a task that yielded keeps nothing.
#[test]
fn a_replenishment_pays_debts_first() {
    let mut dl = server(100);
    (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, -25 * MS as i64);
    dl.replenish(1000 * MS);
    assert_eq!((dl.deadline_ns, dl.runtime_ns), (1300 * MS, 5 * MS as i64));
    (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, 0);
    dl.replenish(1101 * MS);
    assert_eq!((dl.deadline_ns, dl.runtime_ns), (1201 * MS, 10 * MS as i64), "1100 ms has passed");
    (dl.deadline_ns, dl.runtime_ns, dl.dl_yielded) = (2000 * MS, 7 * MS as i64, 1);
    dl.replenish(2000 * MS);
    assert_eq!((dl.deadline_ns, dl.runtime_ns, dl.dl_yielded), (2100 * MS, 10 * MS as i64, 0));
}

/// start_dl_timer: ktime_us_delta() cuts towards zero, so that less than a microsecond ago is not past.
#[test]
fn a_timer_for_just_now_still_starts() {
    let mut dl = server(100);
    dl.deadline_ns = 1000 * MS;
    assert!(dl.timer_starts(1000 * MS + 999));
    assert!(!dl.timer_starts(1000 * MS + 1000));
}

/// task_non_contending (4.16 and later): deadline - runtime * period / Q; a debt moves it behind the deadline.
#[test]
fn bandwidth_is_free_at_the_0_lag_time() {
    let mut dl = server(100);
    (dl.deadline_ns, dl.runtime_ns) = (1000 * MS, 5 * MS as i64);
    assert_eq!(dl.zero_lag_ns(), 950 * MS);
    dl.runtime_ns = -2 * MS as i64;
    assert_eq!(dl.zero_lag_ns(), 1020 * MS);
}

/// __dl_overflow: 4.12 to 5.4 bw * cpus < total, 5.10 and later bw * capacity >> 10 < total. 95 % = 996147.
#[test]
fn dl_admission_is_by_capacity_in_5_10() {
    let limit = dl_bw(DL_LIMIT_RUNTIME_NS, DL_LIMIT_PERIOD_NS);
    assert_eq!(limit, 996_147);
    for profile in profiles() {
        let by_cpus = ["4.12", "4.16", "4.19", "5.4"].contains(&profile);
        // 4 CPUs, capacities 1024 + 1024 + 256 + 256 = 2560: 3984588 or 2490367.
        let refused = |sum| dl_overflow(&policy(profile), limit, [sum, 0, 0], 4, 2560);
        assert_eq!((refused(2_490_367), refused(2_490_368)), (false, !by_cpus), "{profile}");
        assert_eq!((refused(3_984_588), refused(3_984_589)), (!by_cpus, true), "{profile}");
        assert!(!dl_overflow(&policy(profile), DL_LIMIT_NONE, [u64::MAX / 2, 0, 1], 1, 1));
        // What goes makes room.
        assert!(!dl_overflow(&policy(profile), limit, [900_000, 500_000, 500_000], 1, 1024));
        assert!(dl_overflow(&policy(profile), limit, [900_000, 0, 500_000], 1, 1024));
    }
}

/// features.h HRTICK and HRTICK_DL: false to 6.18, true in 7.2 where the programming of timers is deferred.
/// hrtick_start: at least 10 us.
#[test]
fn dl_enforcement_has_a_timer_since_7_2() {
    for profile in profiles() {
        let timer = policy(profile).dl_enforcement == pelton_core::value::DL_ENFORCEMENT_TIMER;
        assert_eq!(timer, profile == "7.2", "{profile}");
    }
    let mut dl = server(100);
    dl.runtime_ns = 5 * MS as i64;
    assert_eq!(dl.hrtick_ns(), 5 * MS);
    dl.runtime_ns = 9_999;
    assert_eq!(dl.hrtick_ns(), 10_000);
}
