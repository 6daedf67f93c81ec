// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits of a frequency domain, from the sources of each release.

use pelton_core::{Dbs, Limits, Policy, Pressure, Rq};

const KHZ: [u32; 4] = [500_000, 1_000_000, 1_500_000, 2_000_000];

fn policy(profile: &str, governor: &str) -> Policy {
    let mut policy = Policy::profile(profile).expect("the profile exists");
    policy.set("governor", governor).expect("a governor");
    policy
}

/// cpufreq_set_policy: min by CPUFREQ_RELATION_L, max by CPUFREQ_RELATION_H, and min is never above max.
#[test]
fn limits_move_to_operating_points_inside_of_them() {
    let rows = [
        ((0, u32::MAX), (500_000, 2_000_000)),
        ((600_000, 1_600_000), (1_000_000, 1_500_000)),
        ((1_000_000, 1_000_000), (1_000_000, 1_000_000)),
        ((1_800_000, 1_200_000), (1_000_000, 1_000_000)),
        ((0, 100_000), (500_000, 500_000)),
        ((3_000_000, u32::MAX), (2_000_000, 2_000_000)),
    ];
    for ((min, max), (lower, upper)) in rows {
        let limits = Limits::of(&KHZ, min, max);
        assert_eq!((limits.min_khz, limits.max_khz), (lower, upper), "{min}..{max}");
    }
}

/// cpufreq_policy_apply_limits; sugov_limits leaves out fast switches; cpufreq_userspace_policy_limits and
/// cpufreq_sched_limits go back to what was asked for.
#[test]
fn governors_answer_new_limits_at_once_or_at_the_next_call() {
    // governor, fast switch, present, wanted, answer to 1.0 .. 1.5 GHz
    let rows = [
        ("schedutil", true, 2_000_000, 0, None),
        ("schedutil", false, 2_000_000, 0, Some(1_500_000)),
        ("schedutil", false, 500_000, 0, Some(1_000_000)),
        ("schedutil", false, 1_000_000, 0, None),
        ("ondemand", true, 2_000_000, 0, Some(1_500_000)),
        ("conservative", false, 500_000, 0, Some(1_000_000)),
        ("performance", true, 1_000_000, 0, Some(1_500_000)),
        ("powersave", true, 1_500_000, 0, Some(1_000_000)),
        ("userspace", true, 1_000_000, 2_000_000, Some(1_500_000)),
        ("userspace", true, 1_500_000, 500_000, Some(1_000_000)),
        ("userspace", true, 1_500_000, 1_200_000, Some(1_500_000)),
        ("sched_dvfs", true, 500_000, 400_000, Some(1_000_000)),
        ("sched_dvfs_v7", false, 2_000_000, 2_000_000, Some(1_500_000)),
    ];
    let limits = Limits::of(&KHZ, 1_000_000, 1_500_000);
    for profile in ["4.12", "5.4", "6.6", "7.2"] {
        for (governor, fast, cur, wanted, answer) in rows {
            let said = limits.target(&policy(profile, governor), &KHZ, cur, wanted, fast);
            assert_eq!(said, answer, "{profile} {governor} at {cur}");
        }
    }
}

/// gov_update_sample_delay(policy_dbs, 0); cs_limits is in 5.10.262, 6.1.192, 6.12.117 and 7.2.12, not in 4.12.3 to 5.4
/// and 6.6.
#[test]
fn a_sampling_governor_looks_again_and_newer_conservative_steps_from_there() {
    for (profile, steps_from) in [
        ("4.12", 2_000_000),
        ("5.4", 2_000_000),
        ("5.10", 1_000_000),
        ("6.6", 2_000_000),
        ("6.8", 2_000_000),
        ("6.12", 1_000_000),
    ] {
        let mut dbs = Dbs { delay_us: 8000, requested_khz: 2_000_000, ..Dbs::default() };
        dbs.limits(&policy(profile, "conservative"), Limits { min_khz: 500_000, max_khz: 1_000_000 }, 1_000_000);
        assert_eq!((dbs.min_khz, dbs.max_khz, dbs.delay_us), (500_000, 1_000_000, 0), "{profile}");
        assert_eq!(dbs.requested_khz, steps_from, "{profile}");
    }
}

/// A CPU of 800 at 2.0 GHz. To 5.4 the scheduler does not learn of it; 5.10.262 to 6.6 arch_set_thermal_pressure and
/// topology_update_thermal_pressure by the cooling device: 1.5 GHz leaves 600; 6.12.117 and 7.2.12
/// cpufreq_update_pressure by the policy's limit: 1.0 GHz leaves 400. A limit above the reference takes nothing.
#[test]
fn a_limit_takes_capacity_by_whom_the_release_listens_to() {
    for (profile, now, averaged) in [
        ("4.12", 0, 0),
        ("4.19", 0, 0),
        ("5.4", 0, 0),
        ("5.10", 200, 200),
        ("5.15", 200, 200),
        ("6.1", 200, 200),
        ("6.6", 200, 200),
        ("6.8", 200, 200),
        ("6.12", 400, 0),
        ("6.18", 400, 0),
        ("7.2", 400, 0),
    ] {
        let policy = policy(profile, "schedutil");
        let taken = Pressure::of(&policy, 800, 2_000_000, 1_000_000, 1_500_000);
        assert_eq!((taken.now, taken.averaged), (now, averaged), "{profile}");
        assert_eq!(Pressure::of(&policy, 800, 2_000_000, 2_100_000, 2_000_000), Pressure::default(), "{profile}");
    }
}

/// mult_frac(1024, 1200000, 1800000) = 682; the average of it after 32 periods is half: thermal pressure rises as
/// slowly as any load.
#[test]
fn averaged_pressure_rises_with_the_half_life_of_load() {
    let policy = policy("6.6", "schedutil");
    let lost = Pressure::of(&policy, 1024, 1_800_000, 1_200_000, 1_200_000).averaged;
    assert_eq!(lost, 342);
    let mut rq = Rq::new(&policy, 0, 1024, 1024);
    for period in 1..=32u64 {
        rq.clock_update(&policy, period << 20, 0, false);
        rq.update_hw(&policy, lost);
    }
    assert!(rq.hw.load_avg.abs_diff(u64::from(lost) / 2) <= 2, "{}", rq.hw.load_avg);
}
