// SPDX-License-Identifier: GPL-2.0-or-later
//! Other classes, interrupts, lost capacity, and what they leave of a CPU.

use pelton_core::{CpuState, Policy, Rq};

const MS: u64 = 1_000_000;
const PERIOD_NS: u64 = 1024 * 1024;
/// Sum of one whole period from nothing: 1024 * y truncated; as an average 1002 * 1024 / 46718 = 21.
const ONE_PERIOD: u32 = 1002;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("the profile exists")
}

/// update_rt_rq_load_avg and update_dl_rq_load_avg exist in 4.19 (pelt.c:324, 347), not in 4.16.
#[test]
fn real_time_and_deadline_have_records_from_4_19() {
    for (profile, sum) in [("4.12", 0), ("4.16", 0), ("4.19", ONE_PERIOD << 10), ("5.4", ONE_PERIOD << 10)] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        rq.clock_update(&pol, PERIOD_NS, 0, false);
        rq.update_rt(&pol, true);
        rq.update_dl(&pol, true);
        assert_eq!((rq.rt.util_sum, rq.dl.util_sum), (sum, sum), "{profile}");
    }
}

/// update_irq_load_avg exists in 4.19 (pelt.c:371), not in 4.16. One period of interrupts on a CPU of 512: 4.19 scales
/// the contribution, 1002 * 512; 5.4 scales the time to half a period, 512 * y = 501, times 1024. Both 513024, average
/// 10.
#[test]
fn interrupts_have_a_record_from_4_19() {
    for (profile, sum) in [("4.12", 0), ("4.16", 0), ("4.19", 513_024), ("5.4", 513_024), ("7.2", 513_024)] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 512, 1024);
        rq.clock_update(&pol, 4 * PERIOD_NS, PERIOD_NS, false);
        assert_eq!((rq.irq.util_sum, rq.irq.util_avg), (sum, u64::from(sum) / 46_718), "{profile}");
    }
}

/// update_thermal_load_avg exists in 5.10.262 (pelt.c:407), not in 5.4. 512 lost for one period: 512 * 1002 / 46718 =
/// 10.
#[test]
fn lost_capacity_has_a_record_from_5_10() {
    for (profile, load) in [
        ("4.19", 0),
        ("5.4", 0),
        ("5.10", 10),
        ("5.15", 10),
        ("6.1", 10),
        ("6.6", 10),
        ("6.8", 10),
        ("6.12", 10),
        ("7.2", 10),
    ] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        rq.clock_update(&pol, PERIOD_NS, 0, false);
        rq.update_hw(&pol, 512);
        assert_eq!(rq.hw.load_avg, load, "{profile}");
    }
}

/// scale_rt_capacity, capacity 16, interrupts 3, lost 9. 5.10.262 to 6.6: (16 - 9) * (16 - 3) / 16 = 5. 6.12.117 on:
/// the capacity is 7 to begin with, 7 * (7 - 3) / 7 = 4.
#[test]
fn lost_capacity_is_used_capacity_up_to_6_6() {
    for (profile, left) in
        [("5.10", 5), ("5.15", 5), ("6.1", 5), ("6.6", 5), ("6.8", 5), ("6.12", 4), ("6.18", 4), ("7.2", 4)]
    {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 16, 1024);
        rq.irq.util_avg = 3;
        assert_eq!(rq.capacity_of(&pol, 9, 0), left, "{profile}");
    }
    for profile in ["4.19", "5.4", "5.10", "6.6", "7.2"] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1000, 1024);
        (rq.rt.util_avg, rq.dl.util_avg, rq.irq.util_avg) = (200, 100, 500);
        assert_eq!(rq.capacity_of(&pol, 0, 0), 350, "{profile}: 700 * 500 / 1000");
    }
}

/// scale_rt_capacity, 4.12 and 4.16: 100 ms of real-time at full speed. After 100 ms: 1024 * 100 / (500 + 100) = 170
/// used, 854 left. At 1.2 s: halved twice at 1.0 s, 1024 * 25 / (500 + 200) = 36 used, 988 left; on a CPU of 512: 494.
#[test]
fn up_to_4_16_capacity_is_the_part_of_a_second_that_others_left() {
    for profile in ["4.12", "4.16"] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        rq.event_rt(&pol, 0, 0, true, false);
        rq.event_rt(&pol, 100 * MS, 0, false, true);
        assert_eq!(rq.capacity_of(&pol, 0, 0), 854, "{profile}");
        rq.clock_update(&pol, 1200 * MS, 0, true);
        rq.rt_share_age();
        assert_eq!((rq.rt_share.sum, rq.rt_share.age_stamp_ns), (25 * MS * 1024, 1000 * MS), "{profile}");
        assert_eq!(rq.capacity_of(&pol, 0, 0), 988, "{profile}");
        rq.cap_orig = 512;
        assert_eq!(rq.capacity_of(&pol, 0, 0), 494, "{profile}");
    }
}

/// Interrupts count too (update_rq_clock_task); half speed counts half (arch_scale_freq_capacity).
#[test]
fn up_to_4_16_interrupts_and_speed_count() {
    let pol = policy("4.16");
    let mut rq = Rq::new(&pol, 0, 1024, 512);
    rq.clock_update(&pol, 100 * MS, 100 * MS, false);
    assert_eq!(rq.rt_share.sum, 100 * MS * 512);
    assert_eq!(rq.capacity_of(&pol, 0, 0), 1024 - 85);
}

/// sugov_get_util takes cpu_util_cfs in 6.1.192 and cpu_util_cfs_boost in 6.6: the larger of 100 and a runnable 300.
#[test]
fn waiting_tasks_are_demand_from_6_6() {
    for (profile, cfs) in [
        ("5.4", 100),
        ("5.10", 100),
        ("5.15", 100),
        ("6.1", 100),
        ("6.6", 300),
        ("6.8", 300),
        ("6.12", 300),
        ("7.2", 300),
    ] {
        let state =
            CpuState { cap_orig: 1024, util_cfs: 100, runnable_cfs: 300, uclamp_max: 1024, ..CpuState::default() };
        assert_eq!(state.perf_eval(&policy(profile), 0).cfs, cfs, "{profile}");
    }
}
