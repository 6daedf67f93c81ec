// SPDX-License-Identifier: GPL-2.0-only
//! Limits of a frequency domain, from the sources of each release.

use pelton_core::{Dbs, Limits, Policy};

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

/// gov_update_sample_delay(policy_dbs, 0); cs_limits is in 5.10.262, 6.1.192, 6.12.117 and 7.2.12, not in 4.12.3 to 5.4 and
/// 6.6.
#[test]
fn a_sampling_governor_looks_again_and_newer_conservative_steps_from_there() {
    for (profile, steps_from) in
        [("4.12", 2_000_000), ("5.4", 2_000_000), ("5.10", 1_000_000), ("6.6", 2_000_000), ("6.12", 1_000_000)]
    {
        let mut dbs = Dbs { delay_us: 8000, requested_khz: 2_000_000, ..Dbs::default() };
        dbs.limits(&policy(profile, "conservative"), Limits { min_khz: 500_000, max_khz: 1_000_000 }, 1_000_000);
        assert_eq!((dbs.min_khz, dbs.max_khz, dbs.delay_us), (500_000, 1_000_000, 0), "{profile}");
        assert_eq!(dbs.requested_khz, steps_from, "{profile}");
    }
}
