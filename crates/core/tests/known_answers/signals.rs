// SPDX-License-Identifier: GPL-2.0-or-later
//! Records, queues and groups. MIN is 46718 (the divisor at the start of a period), FULL is 47742.

use pelton_core::{Avg, CfsRq, Ctx, Policy, Rq, Se, TaskGroup, dequeue, ev, update};

const MS: u64 = 1_000_000;
const MIN: u64 = 46_718;
const FULL: u64 = 47_742;
/// A period: 1024 units of 1024 ns.
const PERIOD_NS: u64 = 1024 * 1024;
/// Sum of one whole period from nothing: 1024 * y truncated to 1002, and nothing of the next.
const ONE_PERIOD: u64 = 1002;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("the profile exists")
}

fn queue(avg: Avg) -> CfsRq {
    CfsRq { avg, ..CfsRq::default() }
}

/// accumulate_sum: 4.19 pelt.c multiplies the contribution by the CPU's capacity, 5.4 pelt.c by 1024.
#[test]
fn speed_is_in_the_contribution_up_to_4_19_and_in_the_clock_from_5_4() {
    for (profile, sum) in [("4.12", 512), ("4.16", 512), ("4.19", 512), ("5.4", 1024), ("7.2", 1024)] {
        let (pol, mut avg) = (policy(profile), Avg::default());
        avg.update(&Ctx { pol: &pol, now: PERIOD_NS, cap_orig: 512, freq_scale: 1024 }, 1);
        assert_eq!(u64::from(avg.util_sum), ONE_PERIOD * sum, "{profile}");
    }
}

/// ___update_load_avg: 4.12 divides by LOAD_AVG_MAX, 4.16 by LOAD_AVG_MAX - 1024 + period_contrib.
#[test]
fn the_divisor_moves_from_4_16() {
    for (profile, util) in [("4.12", 46_718_000 / 47_742), ("4.16", 46_718_000 / 47_230), ("7.2", 989)] {
        let mut avg = Avg { util_sum: 46_718_000, period_contrib: 512, ..Avg::default() };
        avg.publish(&policy(profile), 1);
        assert_eq!(avg.util_avg, util, "{profile}");
    }
}

/// detach_entity_load_avg: util (5, 100000) loses (2, 99000). 5.4: 3 and 1000. 5.10.262: 3 * (MIN + 1), the position in
/// the period being 1. 6.1.192 and 7.2.12: max(1000, 3 * MIN).
#[test]
fn a_detached_sum_is_what_is_left_or_made_anew_or_has_a_floor() {
    let sums = [
        ("4.16", 1000),
        ("4.19", 1000),
        ("5.4", 1000),
        ("5.10", 3 * (MIN + 1)),
        ("5.15", 3 * (MIN + 1)),
        ("6.1", 3 * MIN),
    ];
    for (profile, sum) in
        sums.into_iter().chain([("6.6", 3 * MIN), ("6.8", 3 * MIN), ("6.12", 3 * MIN), ("7.2", 3 * MIN)])
    {
        let mut cfs = queue(Avg { util_avg: 5, util_sum: 100_000, period_contrib: 1, ..Avg::default() });
        let mut se = Se::new(1024);
        (se.avg.util_avg, se.avg.util_sum, se.avg.load_avg) = (2, 99_000, 0);
        cfs.detach(&policy(profile), &se);
        assert_eq!((cfs.avg.util_avg, u64::from(cfs.avg.util_sum)), (3, sum), "{profile}");
    }
}

/// update_cfs_rq_load_avg with 4 of 10 removed from load and utilization, both sums 300000, at the start of a period.
/// 5.4: 300000 - 4 * MIN = 113128 both. 5.10.262: load 6 * MIN; utilization max(113128, 6 * MIN). 6.1.192: floor in
/// both.
#[test]
fn what_sleepers_took_is_subtracted_and_5_10_keeps_only_the_sum_of_utilization() {
    for (profile, load_sum, util_sum) in
        [("5.4", 113_128, 113_128), ("5.10", 6 * MIN, 6 * MIN), ("5.15", 6 * MIN, 6 * MIN), ("6.1", 6 * MIN, 6 * MIN)]
    {
        let (pol, now) = (policy(profile), PERIOD_NS);
        let avg = Avg { last_update_time_ns: now, load_avg: 10, load_sum: 300_000, ..Avg::default() };
        let mut cfs = queue(Avg { util_avg: 10, util_sum: 300_000, ..avg });
        (cfs.removed_nr, cfs.removed_load, cfs.removed_util) = (1, 4, 4);
        let bits = cfs.update(&Ctx { pol: &pol, now, cap_orig: 1024, freq_scale: 1024 });
        assert_eq!(bits, ev::REMOVED | ev::DECAYED);
        assert_eq!((cfs.avg.load_sum, u64::from(cfs.avg.util_sum)), (load_sum, util_sum), "{profile}");
    }
    let (pol, now) = (policy("5.10"), PERIOD_NS);
    let avg = Avg { last_update_time_ns: now, load_avg: 10, load_sum: 900_000, ..Avg::default() };
    let mut cfs = queue(Avg { util_avg: 10, util_sum: 900_000, ..avg });
    (cfs.removed_nr, cfs.removed_load, cfs.removed_util) = (1, 4, 4);
    cfs.update(&Ctx { pol: &pol, now, cap_orig: 1024, freq_scale: 1024 });
    assert_eq!(cfs.avg.load_sum, 6 * MIN, "made anew");
    assert_eq!(u64::from(cfs.avg.util_sum), 900_000 - 4 * MIN, "kept");
}

/// attach_entity_load_avg to an empty queue, weight 15, load 7: the entity's sum is 7 * MIN / 15 = 21801, so 15 * 21801
/// = 327015 is added. 7.2.12 (__update_sa in enqueue_load_avg) raises that to 7 * MIN = 327026; 6.12.117 does not.
#[test]
fn added_load_has_a_floor_in_7_2() {
    for (profile, sum) in [("5.4", 327_015), ("5.10", 327_015), ("6.12", 327_015), ("6.18", 327_015), ("7.2", 327_026)]
    {
        let (mut cfs, mut se) = (CfsRq::default(), Se::new(15));
        se.avg.load_avg = 7;
        cfs.attach(&policy(profile), &mut se);
        assert_eq!((cfs.avg.load_sum, se.avg.load_sum), (sum, 21_801), "{profile}");
    }
}

/// dequeue_load_avg: (4693762308, 99414) loses 15 * 43742 and 13. 6.1 to 6.18 (max_t(u32, ..)): 4693106178 mod 2^32 =
/// 398138882, more than 99401 * MIN mod 2^32 = 348848622. 7.2.12 compares all bits. 5.10.262 has no floor here.
#[test]
fn a_floor_of_32_bits_loses_what_is_above() {
    let kept = 4_693_106_178;
    for (profile, sum) in [
        ("5.10", kept),
        ("6.1", 398_138_882),
        ("6.6", 398_138_882),
        ("6.8", 398_138_882),
        ("6.18", 398_138_882),
        ("7.2", kept),
    ] {
        let mut cfs = queue(Avg { load_sum: 4_693_762_308, load_avg: 99_414, ..Avg::default() });
        let mut se = Se::new(15);
        (se.avg.load_sum, se.avg.load_avg) = (43_742, 13);
        cfs.detach(&policy(profile), &se);
        assert_eq!((cfs.avg.load_sum, cfs.avg.load_avg), (sum, 99_401), "{profile}");
    }
}

/// dequeue_load_avg of 5.15.215 makes the sum anew from the average whenever load leaves: 99401 * 46718.
#[test]
fn load_that_leaves_makes_the_sum_anew_in_5_15() {
    let mut cfs = queue(Avg { load_sum: 4_693_762_308, load_avg: 99_414, ..Avg::default() });
    let mut se = Se::new(15);
    (se.avg.load_sum, se.avg.load_avg) = (43_742, 13);
    cfs.detach(&policy("5.15"), &se);
    assert_eq!((cfs.avg.load_sum, cfs.avg.load_avg), (99_401 * MIN, 99_401));
}

/// reweight_entity of an attached entity of nothing, on a queue of (1, 0): 5.10.262 leaves the sum at 0, 5.15.215 and
/// 6.1.192 raise it.
#[test]
fn a_change_of_weight_has_no_floor_in_5_10() {
    for (profile, sum) in [("5.4", 0), ("5.10", 0), ("5.15", MIN), ("6.1", MIN), ("7.2", MIN)] {
        let mut cfs = queue(Avg { load_avg: 1, ..Avg::default() });
        let mut se = Se { weight: 3, ..Se::default() };
        se.avg.last_update_time_ns = 1;
        cfs.reweight(&policy(profile), &mut se, 820);
        assert_eq!(cfs.avg.load_sum, sum, "{profile}");
    }
}

/// reweight_entity of a sleeping entity, 4.16 fair.c:2785 to 7.2.12: its load (438 = 1024 * 20000 / MIN) is taken out
/// of the queue's and put back for the new weight (876); the queue's weight, which does not contain it, stays.
/// 5.15.215 makes the sum anew when it is taken out.
#[test]
fn the_load_of_a_sleeping_entity_follows_its_weight() {
    for profile in ["4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let mut cfs = queue(Avg { load_avg: 1000, load_sum: 1000 * FULL, ..Avg::default() });
        cfs.load_weight = 55;
        let mut se = Se { weight: 1024, ..Se::default() };
        (se.avg.last_update_time_ns, se.avg.load_sum, se.avg.load_avg) = (1, 20_000, 438);
        cfs.reweight(&policy(profile), &mut se, 2048);
        assert_eq!((se.avg.load_avg, cfs.avg.load_avg, cfs.load_weight), (876, 1438, 55), "{profile}");
        let anew = 562 * MIN + 2048 * 20_000;
        assert_eq!(cfs.avg.load_sum, if profile == "5.15" { anew } else { 1000 * FULL + 1024 * 20_000 }, "{profile}");
    }
}

/// Results of update_tg_cfs_util and update_tg_cfs_load: sum of the entity, then (sum, load, load sum) of the queue.
fn carried_up(profile: &str) -> (u64, (u64, u64, u64)) {
    let (pol, now) = (policy(profile), PERIOD_NS);
    let at = Avg { last_update_time_ns: now, period_contrib: 100, ..Avg::default() };
    let root = Avg { util_avg: 500, util_sum: (500 * MIN) as u32, load_avg: 2000, load_sum: 2000 * MIN, ..at };
    let (mut root, mut group) = (queue(root), queue(Avg { util_avg: 400, ..at }));
    (group.propagate, group.prop_runnable_sum, group.load_weight) = (1, 5000, 1024);
    let entity = Avg { util_avg: 300, util_sum: (300 * MIN) as u32, load_avg: 874, load_sum: 40_000, ..at };
    let mut se = Se { avg: entity, weight: 1024, on_rq: 1, ..Se::default() };
    let ctx = Ctx { pol: &pol, now, cap_orig: 1024, freq_scale: 1024 };
    root.update_load_avg(&ctx, &mut se, Some(&mut group), update::TG);
    assert_eq!((se.avg.util_avg, root.avg.util_avg, se.avg.load_sum), (400, 600, 45_000), "{profile}");
    (se.avg.util_sum.into(), (root.avg.util_sum.into(), root.avg.load_avg, root.avg.load_sum))
}

/// A group's utilization goes from 300 to 400 and 5000 of load comes up, weight 1024, 100 units into a period (divisor
/// 46818). 4.16 to 5.4: sums are averages * 47742; load 1024 * 45000 / 47742 = 965, the sum changes by 1024 * 5000.
/// 5.10.262: all sums are averages * 46818; load 984. 6.1.192: the queue takes the difference 400 * 46818 - 300 * 46718
/// = 4711800 for utilization, 1024 * 5000 for load (then raised to 2110 * 46718).
#[test]
fn sums_that_are_carried_up_are_of_a_full_period_or_made_anew_or_differences() {
    for profile in ["4.16", "4.19", "5.4"] {
        assert_eq!(carried_up(profile), (400 * FULL, (600 * FULL, 2000 + 965 - 874, 98_556_000)), "{profile}");
    }
    assert_eq!(carried_up("5.15"), carried_up("5.10"), "the average changes");
    assert_eq!(carried_up("5.10"), (400 * 46_818, (600 * 46_818, 2110, 2110 * 46_818)));
    for profile in ["6.1", "6.6", "6.8", "6.12", "6.18", "7.2"] {
        let (util_sum, load_sum) = (500 * MIN + 4_711_800, 2110 * MIN);
        assert_eq!(carried_up(profile), (400 * 46_818, (util_sum, 2110, load_sum)), "{profile}");
    }
}

/// 4.12 update_tg_cfs_util: sums are util_avg * LOAD_AVG_MAX there too.
#[test]
fn utilization_is_carried_up_as_a_full_period_in_4_12() {
    let (util_sum, (root_sum, ..)) = carried_up("4.12");
    assert_eq!((util_sum, root_sum), (400 * FULL, 600 * FULL));
}

/// 4.12, 4.16 and 4.19 age the fair records by cfs_rq_clock_task: an idle CPU has nothing to catch up with.
#[test]
fn no_clock_is_slowed_up_to_4_19() {
    for profile in ["4.12", "4.16", "4.19"] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 512, 1024);
        rq.clock_update(&pol, 10 * MS, 0, false);
        assert_eq!(rq.clock_pelt(&pol), rq.clock.clock_task_ns, "{profile}");
        rq.clock_enter_idle(&pol);
        assert_eq!(rq.clock_pelt(&pol), rq.clock.clock_task_ns, "{profile}");
    }
}

fn first_util(profile: &str, (util_avg, load_avg): (u64, u64), weight: u64, cap: u32) -> u64 {
    let mut se = Se::new(weight);
    se.post_init(&policy(profile), &queue(Avg { util_avg, load_avg, ..Avg::default() }), cap);
    se.avg.util_avg
}

/// post_init_entity_util_avg on an empty queue: half of SCHED_CAPACITY_SCALE to 4.16, of the CPU's capacity from 4.19.
#[test]
fn a_first_task_gets_half_of_1024_or_of_its_cpu() {
    for (profile, util) in [("4.12", 512), ("4.16", 512), ("4.19", 200), ("5.4", 200), ("7.2", 200)] {
        assert_eq!(first_util(profile, (0, 0), 1024, 400), util, "{profile}");
    }
}

/// post_init_entity_util_avg: se->load.weight to 6.8 (1024 * 1024 for nice 0), se_weight(se) from 6.12. Queue 100,
/// 2000: min(462, 100 * 1048576 / 2001) = 462, or 100 * 1024 / 2001 = 51. Queue 1, 43, weight 3: 3072 / 44 = 69, or 3 /
/// 44 = 0.
#[test]
fn a_new_task_is_as_large_as_it_may_be_up_to_6_8() {
    for profile in ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8"] {
        assert_eq!(first_util(profile, (100, 2000), 1024, 1024), 462, "{profile}");
    }
    for profile in ["4.19", "5.10", "5.15", "6.1", "6.6", "6.8"] {
        assert_eq!(first_util(profile, (1, 43), 3, 841), 69, "{profile}");
    }
    for profile in ["6.12", "6.18", "7.2"] {
        assert_eq!(first_util(profile, (100, 2000), 1024, 1024), 51, "{profile}");
        assert_eq!(first_util(profile, (1, 43), 3, 841), 0, "{profile}");
    }
}

/// update_idle_rq_clock_pelt after 10 ms at half speed: 5.4 and 5.10.262 leave the clock 5 ms behind until the next
/// update_rq_clock_pelt; 6.1.192 has _update_idle_rq_clock_pelt in it.
#[test]
fn the_clock_of_an_idle_cpu_catches_up_at_once_from_6_1() {
    for (profile, behind) in [
        ("5.4", 5 * MS),
        ("5.10", 5 * MS),
        ("5.15", 5 * MS),
        ("6.1", 0),
        ("6.6", 0),
        ("6.8", 0),
        ("6.12", 0),
        ("7.2", 0),
    ] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 512, 1024);
        rq.clock_update(&pol, 10 * MS, 0, false);
        rq.clock_enter_idle(&pol);
        assert_eq!(rq.clock.clock_task_ns - rq.clock.clock_pelt_ns, behind, "{profile}");
        rq.clock_update(&pol, 12 * MS, 0, true);
        assert_eq!(rq.clock.clock_task_ns, rq.clock.clock_pelt_ns, "{profile}");
    }
}

/// migrate_se_pelt_lag (6.1.192, 6.6, 6.12.117, 6.18.2, 7.2.12; no such function to 5.10.262): 32 periods that an idle
/// CPU did not account. 400 * MIN halves to 9343600, times (2^32 - 1) / 2^32 is 9343599, and / MIN 199.
#[test]
fn a_sleeper_loses_what_its_idle_cpu_did_not_account_from_6_1() {
    for (profile, util) in [
        ("5.4", 400),
        ("5.10", 400),
        ("5.15", 400),
        ("6.1", 199),
        ("6.6", 199),
        ("6.8", 199),
        ("6.12", 199),
        ("7.2", 199),
    ] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        rq.clock_enter_idle(&pol);
        let mut se = Se::new(1024);
        (se.avg.util_avg, se.avg.util_sum) = (400, (400 * MIN) as u32);
        se.avg.last_update_time_ns = rq.cfs.avg.last_update_time_ns;
        rq.migrate_sleeping_task(&pol, &mut se, true, 32 * PERIOD_NS);
        assert_eq!((se.avg.util_avg, rq.cfs.removed_util), (util, 400), "{profile}");
    }
}

/// migrate_task_rq_fair: 4.12 calls remove_entity_load_avg for every migrant; 4.16 detaches one with
/// on_rq == TASK_ON_RQ_MIGRATING at once.
#[test]
fn a_queued_migrant_is_removed_later_in_4_12_and_detached_from_4_16() {
    for (profile, detached) in [("4.12", false), ("4.16", true), ("4.19", true), ("5.4", true), ("7.2", true)] {
        let pol = policy(profile);
        let mut rq = Rq::new(&pol, 0, 1024, 1024);
        let mut se = Se::new(1024);
        se.avg.util_avg = 300;
        rq.enqueue_task(&pol, &mut se, 0, 0, true);
        let bits = rq.dequeue_task(&pol, &mut se, 0, 0, true, dequeue::MIGRATE);
        assert_eq!(bits & ev::DETACH != 0, detached, "{profile}");
        let left = if detached { (0, 0, 0) } else { (300, 1, 300) };
        assert_eq!((rq.cfs.avg.util_avg, rq.cfs.removed_nr, rq.cfs.removed_util), left, "{profile}");
        assert_eq!(se.avg.last_update_time_ns, 0, "{profile}");
    }
}

/// update_tg_load_avg: 6.12.117 returns within NSEC_PER_MSEC of the last refresh; 6.6 has no such test.
#[test]
fn a_groups_load_is_refreshed_once_per_ms_from_6_12() {
    for (profile, refreshed) in
        [("4.12", true), ("5.4", true), ("6.6", true), ("6.8", false), ("6.12", false), ("6.18", false)]
    {
        let mut tg = TaskGroup { load_avg: 6400, shares: 1024 };
        let mut group = queue(Avg { load_avg: 6501, ..Avg::default() });
        (group.tg_load_avg_contrib, group.tg_update_ns) = (6400, 10 * MS);
        assert_eq!(group.tg_contrib(&policy(profile), &mut tg, 10 * MS + 999_999), refreshed, "{profile}");
    }
}

/// cfs_rq_is_decayed: 6.12.117, 6.18.2 and 7.2.12 ask for tg_load_avg_contrib last; 4.16 to 6.8 and 6.18.0 do not.
/// update_blocked_averages of 4.12 takes no queue out of the walk.
#[test]
fn a_queue_leaves_the_walk_with_its_part_of_the_load_or_without() {
    let stays = [
        ("4.12", true),
        ("4.16", false),
        ("4.19", false),
        ("5.4", false),
        ("5.10", false),
        ("5.15", false),
        ("6.1", false),
    ];
    for (profile, stays) in stays.into_iter().chain([
        ("6.6", false),
        ("6.8", false),
        ("6.12", true),
        ("6.18.0", false),
        ("6.18", true),
        ("7.2", true),
    ]) {
        let mut group = queue(Avg::default());
        group.tg_load_avg_contrib = 7;
        assert_eq!(group.group_is_decayed(&policy(profile)), !stays, "{profile}");
        group.tg_load_avg_contrib = 0;
        assert!(group.group_is_decayed(&policy(profile)), "{profile}");
    }
}

/// calc_cfs_shares (4.12): load is the queued weight 1024, 1048576 * 1024 / (5000 - 3000 + 1024) = 355073, 346 units.
/// calc_group_shares (4.16 on): max(1024, 3000), 1048576 * 3000 / 5000 = 629145, 614 units.
#[test]
fn shares_count_sleepers_from_4_16() {
    let later = ["4.16", "4.19", "5.4", "6.12", "7.2"].map(|profile| (profile, 629_145));
    for (profile, shares) in later.into_iter().chain([("4.12", 355_073)]) {
        let tg = TaskGroup { load_avg: 5000, shares: 1024 };
        let mut group = queue(Avg { load_avg: 3000, ..Avg::default() });
        (group.load_weight, group.tg_load_avg_contrib) = (1024, 3000);
        assert_eq!(group.group_shares(&policy(profile), &tg, 77), shares, "{profile}");
    }
}

/// update_cfs_group: 6.12.117, 6.18.2 and 7.2.12 return when gcfs_rq->load.weight is 0; 6.6 computes MIN_SHARES.
#[test]
fn an_empty_group_keeps_its_weight_from_6_12() {
    for (profile, weight) in
        [("4.12", 2), ("5.4", 2), ("6.1", 2), ("6.6", 2), ("6.8", 2), ("6.12", 77), ("6.18", 77), ("7.2", 77)]
    {
        let (group, tg) = (CfsRq::default(), TaskGroup { load_avg: 3000, shares: 1024 });
        assert_eq!(group.group_shares(&policy(profile), &tg, 77), weight, "{profile}");
    }
}

/// update_cfs_group: up to 6.6 reweight_entity is called whatever the weight, and the load average becomes
/// 1024 * 46000 / MIN = 1008; 6.12.117 compares se->load.weight first.
#[test]
fn the_same_weight_is_set_again_up_to_6_6() {
    for (profile, load) in
        [("4.16", 1008), ("5.4", 1008), ("6.1", 1008), ("6.6", 1008), ("6.8", 1000), ("6.12", 1000), ("7.2", 1000)]
    {
        let (mut root, tg) =
            (queue(Avg { load_avg: 5000, load_sum: 5000 * MIN, ..Avg::default() }), TaskGroup::default());
        let group = CfsRq { load_weight: 1024, ..CfsRq::default() };
        let mut se = Se { weight: 1024, on_rq: 1, ..Se::default() };
        (se.avg.last_update_time_ns, se.avg.load_sum, se.avg.load_avg) = (1, 46_000, 1000);
        root.load_weight = 1024;
        root.refresh_shares(&policy(profile), &mut se, &group, &TaskGroup { shares: 1024, ..tg });
        assert_eq!((se.weight, se.avg.load_avg), (1024, load), "{profile}");
    }
}

/// accumulate_sum: runnable_sum += runnable * contrib << 10 from 5.10; up to 5.4 runnable_load_sum, without a shift.
#[test]
fn time_on_the_queue_is_averaged_from_5_10() {
    for (profile, sum) in [
        ("4.12", ONE_PERIOD),
        ("4.19", ONE_PERIOD),
        ("5.4", ONE_PERIOD),
        ("5.10", ONE_PERIOD << 10),
        ("7.2", ONE_PERIOD << 10),
    ] {
        let pol = policy(profile);
        let mut se = Se { weight: 1024, on_rq: 1, nr_runnable: 1, ..Se::default() };
        se.update(&Ctx { pol: &pol, now: PERIOD_NS, cap_orig: 1024, freq_scale: 1024 });
        assert_eq!(se.avg.runnable_sum, sum, "{profile}");
    }
}
