// SPDX-License-Identifier: GPL-2.0-or-later
//! The utilization estimate: when it is sampled, filtered, marked and counted.

use pelton_core::{Ctx, Policy, Rq, Se, dequeue};

const MARK: u32 = 0x8000_0000;
const MS: u64 = 1_000_000;
const PERIOD_NS: u64 = 1024 * 1024;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("the profile exists")
}

fn task(enqueued: u32, ewma: u32, util_avg: u64) -> Se {
    let mut se = Se::new(1024);
    (se.avg.util_est_enqueued, se.avg.util_est_ewma, se.avg.util_avg) = (enqueued, ewma, util_avg);
    se
}

fn sampled(profile: &str, cap: u32, mut se: Se) -> (u32, u32) {
    se.util_est_update(&policy(profile), cap, true);
    (se.avg.util_est_enqueued, se.avg.util_est_ewma)
}

/// cfs_se_util_change is called by __update_load_avg_se and not by __update_load_avg_blocked_se, in every release read
/// from 4.19 to 7.2.12. The mark is bit 0 to 5.4, bit 31 from 5.10.262.
#[test]
fn the_mark_survives_an_update_while_blocked() {
    for (profile, mark) in [
        ("4.19", 1),
        ("5.4", 1),
        ("5.10", MARK),
        ("5.15", MARK),
        ("6.1", MARK),
        ("6.6", MARK),
        ("6.8", MARK),
        ("6.12", MARK),
    ]
    .into_iter()
    .chain([("6.18", MARK), ("7.2", MARK)])
    {
        let pol = policy(profile);
        let ctx = Ctx { pol: &pol, now: PERIOD_NS, cap_orig: 1024, freq_scale: 1024 };
        let (mut blocked, mut queued) = (task(236 | mark, 0, 0), task(236 | mark, 0, 0));
        assert_eq!(blocked.update_blocked(&ctx), 1);
        assert_eq!(blocked.avg.util_est_enqueued, 236 | mark, "{profile}");
        queued.on_rq = 1;
        assert_eq!(queued.update(&ctx), 1);
        assert_eq!(queued.avg.util_est_enqueued, 236, "{profile}");
    }
}

/// remove_entity_load_avg ages a sleeper with __update_load_avg_blocked_se: after a migration in its sleep and a run of
/// less than a period it is not sampled.
#[test]
fn a_task_that_migrated_asleep_and_ran_shortly_is_not_sampled() {
    for profile in ["4.19", "5.10", "5.15", "6.1", "6.12", "7.2"] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        let mut se = Se::new(1024);
        rq.enqueue_task(&pol, &mut se, 0, 0, true);
        rq.switch_fair(&pol, None, Some(&mut se), 0, 0, true);
        rq.tick_fair(&pol, &mut se, 20 * MS, 0);
        rq.dequeue_task(&pol, &mut se, 20 * MS, 0, false, dequeue::SLEEP);
        rq.switch_idle(&pol, Some(&mut se), 20 * MS, 0, false);
        let stored = se.avg.util_est_enqueued;
        rq.update_blocked(&pol, 60 * MS, 0, pelton_core::runs::IDLE, 0);
        rq.migrate_sleeping_task(&pol, &mut se, true, 60 * MS);
        assert_eq!(se.avg.util_est_enqueued, stored, "{profile}");
    }
}

/// 4.17 and 4.19 util_est_dequeue: no test against the capacity. 5.4 has it: 300 > 200 stores nothing. The marked
/// sample 301 enters the filter: (4 * 100 + 201) >> 2 = 150.
#[test]
fn util_est_u1_filters_the_marked_sample_and_tests_the_capacity_from_5_4() {
    assert_eq!(sampled("4.19", 200, task(0, 100, 300)), (301, 150));
    assert_eq!(sampled("5.4", 200, task(0, 100, 300)), (0, 100));
    assert_eq!(sampled("5.4", 1024, task(0, 100, 300)), (301, 150));
    assert_eq!(sampled("5.4", 1024, task(0, 400, 300)), (301, (4 * 400 - 99) >> 2), "down with the same weight");
    assert_eq!(sampled("4.19", 1024, task(0, 310, 300)), (0, 310), "301 is within the margin of 310");
}

/// 4.19 util_est_enqueue counts _task_util_est | 1, the task itself does not; 5.4 has the | 1 in _task_util_est.
#[test]
fn the_mark_in_bit_0_makes_estimates_odd() {
    for (profile, own, counted) in [("4.19", 300, 301), ("5.4", 301, 301), ("5.10", 300, 300)] {
        let (pol, se) = (policy(profile), task(300, 150, 0));
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        rq.cfs.util_est_enqueue(&pol, &se);
        assert_eq!((se.task_util_est(&pol), rq.cfs.util_est), (own, counted), "{profile}");
        rq.cfs.util_est_dequeue(&pol, &se);
        assert_eq!(rq.cfs.util_est, 0, "{profile}");
    }
}

/// 5.10.262, 6.1.192 and 6.6 util_est_update: up at once (UTIL_EST_FASTUP), down by a quarter: (4 * 400 - 100) >> 2 =
/// 375.
#[test]
fn util_est_u2_rises_at_once() {
    for profile in ["5.10", "5.15", "6.1", "6.6"] {
        assert_eq!(sampled(profile, 1024, task(0, 100, 300)), (300 | MARK, 300), "{profile}");
        assert_eq!(sampled(profile, 1024, task(0, 400, 300)), (300 | MARK, 375), "{profile}");
        assert_eq!(sampled(profile, 200, task(0, 400, 300)), (0, 400), "{profile}: too large for this CPU");
    }
}

/// One field. 6.12.117 returns when the sample is above the CPU's capacity; 6.18.2 and 7.2.12 do not test it.
/// (4 * 400 - 100) >> 2 = 375; not lowered when util + 10 < runnable.
#[test]
fn util_est_is_one_field_from_6_12_and_without_capacity_test_from_6_18() {
    let waiting = |runnable_avg| {
        let mut se = task(400, 0, 300);
        se.avg.runnable_avg = runnable_avg;
        se
    };
    for (profile, above_capacity) in [("6.8", 400), ("6.12", 400), ("6.18", 375 | MARK), ("7.2", 375 | MARK)] {
        assert_eq!(sampled(profile, 1024, waiting(310)), (375 | MARK, 0), "{profile}");
        assert_eq!(sampled(profile, 1024, waiting(311)), (400 | MARK, 0), "{profile}: kept waiting");
        assert_eq!(sampled(profile, 1024, task(100, 0, 300)), (300 | MARK, 0), "{profile}: up at once");
        assert_eq!(sampled(profile, 200, waiting(310)).0, above_capacity, "{profile}");
    }
    for profile in ["4.12", "4.16"] {
        assert_eq!(sampled(profile, 1024, task(0, 100, 300)), (0, 100), "{profile}: no estimates before 4.17");
    }
}

/// dequeue_task_fair: 6.12.117 and 6.18.2 call util_est_update before dequeue_entities, so a task that ran 8 ms without
/// a tick shows the 0 it began with; to 6.6 the call comes last, in 7.2.12 it is inside update_load_avg.
#[test]
fn the_sample_is_stale_in_6_12_and_6_18() {
    for (profile, stale) in [
        ("5.10", false),
        ("5.15", false),
        ("6.1", false),
        ("6.6", false),
        ("6.8", false),
        ("6.12", true),
        ("6.18", true),
        ("7.2", false),
    ] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        let mut se = Se::new(1024);
        rq.enqueue_task(&pol, &mut se, 0, 0, true);
        rq.switch_fair(&pol, None, Some(&mut se), 0, 0, true);
        rq.dequeue_task(&pol, &mut se, 8 * MS, 0, false, dequeue::SLEEP);
        assert!(se.avg.util_avg > 100);
        assert_eq!(u64::from(se.util_est(&pol)), if stale { 0 } else { se.avg.util_avg }, "{profile}");
    }
}

/// dequeue_task_fair: 4.19 and 5.4 call util_est_dequeue after the walk over the entities, and with it the hook;
/// 5.10.262 before it. The CPU's estimate falls by the value of before the sample.
#[test]
fn the_cpus_estimate_is_lowered_last_up_to_5_4() {
    for (profile, during) in [("4.19", 301), ("5.4", 301), ("5.10", 0), ("5.15", 0), ("6.1", 0), ("7.2", 0)] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        let mut se = task(300, 0, 0);
        rq.enqueue_task(&pol, &mut se, 0, 0, true);
        let how = dequeue::SLEEP | dequeue::ESTIMATE_LATER;
        rq.dequeue_task(&pol, &mut se, 8 * MS, 0, true, how);
        assert_eq!(rq.cfs.util_est, during, "{profile}");
        rq.estimate_last(&pol, &mut se, true);
        assert_eq!(rq.cfs.util_est, 0, "{profile}");
    }
}

/// 5.10.0 util_est_update: the sample is `task_util(p) | UTIL_AVG_UNCHANGED` with the mark in bit 0, and takes part in the
/// arithmetic: up to 311 from 310, (3 * 311 + 255) / 4 = 297, (3 * 297 + 191) / 4 = 270.
#[test]
fn the_low_mark_of_5_10_0_takes_part_in_the_arithmetic() {
    let sampled = |ewma, util| {
        let mut se = task(0, ewma, util);
        se.util_est_update_u2_low(1024);
        (se.avg.util_est_enqueued, se.avg.util_est_ewma)
    };
    assert_eq!((sampled(0, 310), sampled(311, 255), sampled(297, 190)), ((311, 311), (255, 297), (191, 270)));
    let capped = |util| {
        let mut se = task(0, 900, util);
        se.util_est_update_u2_low(400);
        se.avg.util_est_ewma
    };
    assert_eq!((capped(400), capped(402)), (775, 900), "not from a sample above the capacity");
}

/// util_est_update() before 5.13: `abs(last_ewma_diff) < SCHED_CAPACITY_SCALE / 100` is true up to 9 away; then the
/// sample is stored only if it is as far from the last one, without its mark, as 10. Of 300 with the mark 301 is
/// stored; (3 * 311 + 301) / 4 = 308.
#[test]
fn an_estimate_with_the_low_mark_moves_from_ten_away_on() {
    for (ewma, last, stored) in [
        (310, 0, (301, 310)),
        (310, 291, (301, 310)),
        (310, 293, (293, 310)),
        (310, 309, (309, 310)),
        (310, 311, (311, 310)),
        (310, 313, (301, 310)),
        (311, 293, (301, 308)),
    ] {
        let mut se = task(last, ewma, 300);
        se.util_est_update_u2_low(1024);
        assert_eq!((se.avg.util_est_enqueued, se.avg.util_est_ewma), stored, "{ewma} after {last}");
    }
}
