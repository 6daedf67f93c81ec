// SPDX-License-Identifier: GPL-2.0-or-later
//! From birth to exit, up and down the hierarchy: attach, removed, propagation, shares, throttling.

use pelton_core::{Avg, CfsRq, Policy, Rq, Se, TaskGroup, dequeue, ev, update};

const MS: u64 = 1_000_000;
/// 32 periods.
const HALF_LIFE_NS: u64 = 32 * 1024 * 1024;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

/// A queued, running task of utilization about 576 after 40 ms, on a CPU that started at 0.
fn busy(pol: &Policy) -> (Rq, Se) {
    let mut rq = Rq::new(pol, 0, 1024, 1024);
    let mut se = Se::new(1024);
    rq.enqueue_task(pol, &mut se, 0, 0, true);
    rq.switch_fair(pol, None, Some(&mut se), 0, 0, true);
    for tick in 1..=10u64 {
        rq.tick_fair(pol, &mut se, tick * 4 * MS, 0);
    }
    (rq, se)
}

#[test]
fn first_placement_takes_half_of_what_is_left() {
    let cfs = |util, load| CfsRq {
        avg: pelton_core::Avg { util_avg: util, load_avg: load, ..Default::default() },
        ..CfsRq::default()
    };
    let start = |profile: &str, cfs: &CfsRq, cap| {
        let mut se = Se::new(1024);
        se.post_init(&policy(profile), cfs, cap);
        let runnable = if profile == "7.2" { se.avg.util_avg } else { se.avg.load_avg };
        assert_eq!(se.avg.runnable_avg, runnable);
        se.avg.util_avg
    };
    assert_eq!(start("7.2", &cfs(0, 0), 400), 200, "empty queue: half of the capacity");
    assert_eq!(start("4.12", &cfs(0, 0), 400), 512, "then half of 1024");
    assert_eq!(start("7.2", &cfs(300, 2048), 1024), 149, "the queue's average share");
    assert_eq!(start("7.2", &cfs(600, 100), 1024), 212, "limited to half of what is left");
    assert_eq!(start("7.2", &cfs(500, 2048), 400), 0, "nothing left");
}

/// Integers of `pelton record --full` on 6.1.192 and 6.18.15: a queue of a nice -20 task that another one leaves.
#[test]
fn from_6_1_to_6_18_a_load_sum_loses_what_is_beyond_32_bits() {
    let leave = |profile: &str, (load_sum, load_avg), (weight, se_sum, se_avg)| {
        let avg = pelton_core::Avg { load_sum, load_avg, ..Default::default() };
        let mut cfs = CfsRq { avg, ..CfsRq::default() };
        let mut se = Se::new(weight);
        (se.avg.load_sum, se.avg.load_avg) = (se_sum, se_avg);
        cfs.detach(&policy(profile), &se);
        (cfs.avg.load_sum, cfs.avg.load_avg)
    };
    let (queue, task) = ((4_693_762_308, 99_414), (15, 43_742, 13));
    assert_eq!(leave("6.1", queue, task), (398_138_882, 99_401));
    assert_eq!(leave("7.2", queue, task), (4_693_106_178, 99_401));
    let (queue, task) = ((4_315_703_382, 90_853), (15, 46_971, 14));
    assert_eq!(leave("6.18", queue, task), (90_839 * 46_718, 90_839), "the floor is larger than what is left");
    assert_eq!(leave("7.2", queue, task), (4_314_998_817, 90_839));
}

#[test]
fn attach_adds_and_detach_takes_away() {
    let pol = policy("7.2");
    let (mut rq, mut se) = busy(&pol);
    let mut other = Se::new(1024);
    other.post_init(&pol, &rq.cfs, 1024);
    let before = rq.cfs.avg;
    let bits = rq.enqueue_task(&pol, &mut other, 40 * MS, 0, false);
    assert_eq!(bits & (ev::ATTACH | ev::DECAYED), ev::ATTACH, "the attach call replaces the decay call");
    assert_eq!(rq.cfs.avg.util_avg, before.util_avg + other.avg.util_avg);
    let bits = rq.dequeue_task(&pol, &mut other, 40 * MS, 0, false, dequeue::MIGRATE);
    assert_eq!(bits & ev::DETACH, ev::DETACH);
    assert_eq!((rq.cfs.avg.util_avg, other.avg.last_update_time_ns), (before.util_avg, 0));
    rq.tick_fair(&pol, &mut se, 44 * MS, 0);
    assert!(rq.cfs.avg.util_avg > before.util_avg);
}

#[test]
fn up_to_5_4_the_decay_call_comes_before_attach() {
    let pol = policy("5.4");
    let (mut rq, _) = busy(&pol);
    let mut other = Se::new(1024);
    let bits = rq.enqueue_task(&pol, &mut other, 44 * MS, 0, false);
    assert_eq!(bits & (ev::ATTACH | ev::DECAYED), ev::ATTACH | ev::DECAYED);
}

#[test]
fn a_task_woken_elsewhere_is_removed_at_the_next_update() {
    let pol = policy("7.2");
    let (mut rq, mut se) = busy(&pol);
    rq.dequeue_task(&pol, &mut se, 40 * MS, 0, false, dequeue::SLEEP);
    rq.switch_idle(&pol, Some(&mut se), 40 * MS, 0, false);
    let util = se.avg.util_avg;
    assert!(util > 500 && rq.cfs.avg.util_avg == util, "asleep, but still part of the queue");
    rq.migrate_sleeping_task(&pol, &mut se, true, 40 * MS + HALF_LIFE_NS);
    assert_eq!((rq.cfs.removed_nr, rq.cfs.removed_util), (1, util));
    assert!(se.avg.util_avg.abs_diff(util / 2) <= 2, "time that the idle CPU did not account");
    assert_eq!(se.avg.last_update_time_ns, 0);
    let bits = rq.update_blocked(&pol, 40 * MS + HALF_LIFE_NS, 0, pelton_core::runs::IDLE, 0);
    assert_eq!(bits & (ev::REMOVED | ev::DECAYED), ev::REMOVED | ev::DECAYED);
    assert_eq!((rq.cfs.avg.util_avg, rq.cfs.removed_nr), (0, 0));
}

#[test]
fn before_5_19_the_idle_time_of_the_old_cpu_is_forgotten() {
    let pol = policy("5.10");
    let (mut rq, mut se) = busy(&pol);
    rq.dequeue_task(&pol, &mut se, 40 * MS, 0, false, dequeue::SLEEP);
    rq.switch_idle(&pol, Some(&mut se), 40 * MS, 0, false);
    let util = se.avg.util_avg;
    rq.migrate_sleeping_task(&pol, &mut se, true, 40 * MS + HALF_LIFE_NS);
    assert_eq!(se.avg.util_avg, util);
}

#[test]
fn a_task_deep_in_the_hierarchy_reaches_the_root_at_its_wake_up() {
    let pol = policy("7.2");
    let mut rq = Rq::new(&pol, 0, 1024, 1024);
    let mut group = CfsRq { avg: rq.cfs.avg, ..CfsRq::default() };
    let (mut group_se, mut task) = (Se::new(1024), Se::new(1024));
    task.avg.util_avg = 300;
    task.avg.runnable_avg = 320;
    let ctx = rq.ctx(&pol, &rq.cfs);
    rq.cfs.group_online(&ctx, &mut group_se);
    rq.clock_update(&pol, 5 * MS, 0, true);
    let ctx = rq.ctx(&pol, &group);
    assert_eq!(group.enqueue_entity(&ctx, &mut task, None, 1) & ev::ATTACH, ev::ATTACH);
    let bits = rq.cfs.enqueue_entity(&ctx, &mut group_se, Some(&mut group), 1);
    assert_eq!(bits & (ev::PROPAGATED | ev::DECAYED), ev::PROPAGATED | ev::DECAYED);
    assert_eq!((group_se.avg.util_avg, rq.cfs.avg.util_avg, rq.cfs.avg.runnable_avg), (300, 300, 320));
    assert_eq!((rq.cfs.h_nr_runnable, group_se.nr_runnable, group.propagate), (1, 1, 0));

    let bits = group.dequeue_entity(&ctx, &mut task, None, -1, pelton_core::update::DO_DETACH);
    assert_eq!(bits & ev::DETACH, ev::DETACH);
    rq.cfs.dequeue_entity(&ctx, &mut group_se, Some(&mut group), -1, 0);
    assert_eq!((group_se.avg.util_avg, rq.cfs.avg.util_avg, rq.cfs.h_nr_runnable), (0, 0, 0));
}

/// Recorded in 6.1.192: the weight is the same, and the load average follows its sum.
#[test]
fn up_to_6_1_a_group_gets_the_weight_it_has_once_more() {
    let at = Avg { last_update_time_ns: 9_736_309_760, period_contrib: 275, ..Avg::default() };
    let avg = Avg { load_sum: 39_917, load_avg: 1240, runnable_avg: 1388, util_avg: 834, ..at };
    let avg = Avg { runnable_sum: 65_395_324, util_sum: 39_239_353, ..avg };
    let queue = Avg { load_sum: 70_839_161, load_avg: 1508, runnable_avg: 1650, util_avg: 955, ..at };
    let queue = Avg { runnable_sum: 77_642_975, util_sum: 44_921_927, ..queue };
    let weight = 1_496_504 >> 10;
    let owned = CfsRq { load_weight: 2048, ..CfsRq::default() };
    let tg = TaskGroup { load_avg: 0, shares: weight };
    for (profile, loads) in [("6.1", (1241, 1509)), ("6.12", (1240, 1508))] {
        let mut se = Se { avg, weight, on_rq: 1, ..Se::default() };
        let mut above = CfsRq { avg: queue, load_weight: 2 * weight, ..CfsRq::default() };
        assert!(!above.refresh_shares(&policy(profile), &mut se, &owned, &tg), "{profile}: the weight is the same");
        assert_eq!((se.avg.load_avg, above.avg.load_avg), loads, "{profile}");
    }
}

#[test]
fn group_shares_follow_the_part_of_the_load() {
    let pol = policy("7.2");
    let tg = TaskGroup { load_avg: 3000, shares: 1024 };
    let g = CfsRq { load_weight: 1024, tg_load_avg_contrib: 1000, ..CfsRq::default() };
    assert_eq!(g.group_shares(&pol, &tg, 77), (1024 << 10) * 1024 / 3024);
    let empty = CfsRq { load_weight: 0, ..g };
    assert_eq!(empty.group_shares(&pol, &tg, 77), 77, "an empty queue keeps its weight");
    assert_eq!(empty.group_shares(&policy("6.6"), &tg, 77), 2, "or falls to the minimum");
}

#[test]
fn a_groups_total_is_refreshed_when_off_by_a_sixty_fourth_and_once_per_ms() {
    let (new, old) = (policy("7.2"), policy("5.10"));
    let mut tg = TaskGroup { load_avg: 6400, shares: 1024 };
    let mut g = CfsRq { tg_load_avg_contrib: 6400, tg_update_ns: 10 * MS, ..CfsRq::default() };
    g.avg.load_avg = 6500;
    assert!(!g.tg_contrib(&new, &mut tg, 20 * MS), "100 of 6400 is not more than 1/64");
    g.avg.load_avg = 6501;
    assert!(!g.tg_contrib(&new, &mut tg, 10 * MS + 999_999), "too early");
    assert!(g.tg_contrib(&old, &mut tg, 10 * MS + 999_999));
    assert_eq!((tg.load_avg, g.tg_load_avg_contrib), (6501, 6501));
}

#[test]
fn reweighting_exchanges_the_load_and_leaves_utilization_alone() {
    let pol = policy("7.2");
    let (mut rq, mut se) = busy(&pol);
    let (util, load) = (rq.cfs.avg.util_avg, rq.cfs.avg.load_avg);
    rq.cfs.reweight(&pol, &mut se, 2048);
    assert_eq!(rq.cfs.avg.util_avg, util);
    assert_eq!((rq.cfs.load_weight, se.weight), (2048, 2048));
    assert!(rq.cfs.avg.load_avg.abs_diff(2 * load) <= 2, "{} from {load}", rq.cfs.avg.load_avg);
}

#[test]
fn throttled_time_does_not_exist_for_the_queue() {
    let pol = policy("7.2");
    let mut rq = Rq::new(&pol, 0, 1024, 1024);
    let mut group = CfsRq::default();
    rq.clock_update(&pol, 10 * MS, 0, false);
    let before = rq.cfs_clock(&pol, &group);
    rq.throttle_clock(&pol, &mut group);
    rq.throttle_clock(&pol, &mut group);
    rq.clock_update(&pol, 30 * MS, 0, false);
    assert_eq!(rq.cfs_clock(&pol, &group), before);
    rq.unthrottle_clock(&pol, &mut group);
    assert_eq!(rq.cfs_clock(&pol, &group), before, "an ancestor is still throttled");
    rq.unthrottle_clock(&pol, &mut group);
    rq.clock_update(&pol, 35 * MS, 0, false);
    assert_eq!(rq.cfs_clock(&pol, &group), before + 5 * MS);
}

#[test]
fn leaving_the_fair_class_keeps_the_averages_and_returning_decays_them() {
    let pol = policy("7.2");
    let (mut rq, mut se) = busy(&pol);
    rq.dequeue_task(&pol, &mut se, 40 * MS, 0, false, 0);
    rq.switch_idle(&pol, Some(&mut se), 40 * MS, 0, false);
    let ctx = rq.ctx(&pol, &rq.cfs);
    assert_eq!(rq.cfs.switched_from_fair(&ctx, &mut se) & ev::DETACH, ev::DETACH);
    let util = se.avg.util_avg;
    assert_eq!(rq.cfs.avg.util_avg, 0);
    rq.clock_update(&pol, 40 * MS + HALF_LIFE_NS, 0, true);
    let ctx = rq.ctx(&pol, &rq.cfs);
    assert_eq!(rq.cfs.switched_to_fair(&ctx, &mut se) & ev::ATTACH, ev::ATTACH);
    assert!(se.avg.util_avg.abs_diff(util / 2) <= 2);
    assert_eq!(rq.cfs.avg.util_avg, se.avg.util_avg);
}

#[test]
fn a_delayed_task_is_queued_but_not_runnable() {
    let pol = policy("7.2");
    let (mut rq, mut se) = busy(&pol);
    let estimate = rq.cfs.util_est;
    rq.delay_task(&pol, &mut se, 44 * MS, 0, false);
    assert_eq!((rq.cfs.nr_queued, rq.cfs.h_nr_runnable, rq.cfs.util_est), (1, 0, 0));
    assert!(se.util_est(&pol) > estimate, "sampled when it became delayed");
    let sampled = se.util_est(&pol);
    rq.enqueue_task(&pol, &mut se, 45 * MS, 0, false);
    assert_eq!((rq.cfs.nr_queued, rq.cfs.h_nr_runnable, rq.cfs.util_est), (1, 1, sampled));
    rq.delay_task(&pol, &mut se, 46 * MS, 0, false);
    let sampled = se.util_est(&pol);
    rq.dequeue_task(&pol, &mut se, 60 * MS, 0, false, dequeue::SLEEP);
    assert_eq!((rq.cfs.nr_queued, rq.cfs.h_nr_runnable, rq.cfs.util_est, se.util_est(&pol)), (0, 0, 0, sampled));
}

/// A queue with a runnable and a delayed task below the root, at 60 ms.
fn group_with_a_delayed_task(pol: &Policy) -> (Rq, CfsRq, [Se; 3]) {
    let mut rq = Rq::new(pol, 0, 1024, 1024);
    let (mut own, mut group, mut stays, mut leaves) = (CfsRq::default(), Se::new(1024), Se::new(1024), Se::new(1024));
    for se in [&mut stays, &mut leaves] {
        rq.enqueue_finish_on(pol, Some(&mut own), se);
        let ctx = rq.ctx(pol, &rq.cfs);
        if group.on_rq == 0 {
            rq.cfs.enqueue_entity(&ctx, &mut group, Some(&mut own), 1);
        } else {
            rq.cfs.update_ancestor(&ctx, &mut group, Some(&mut own), 1);
        }
    }
    rq.delay_task_on(pol, Some(&mut own), &mut leaves, 60 * MS);
    rq.cfs.count_runnable(-1);
    (rq, own, [group, stays, leaves])
}

#[test]
fn a_delayed_task_that_leaves_a_group_is_runnable_above_it_until_that_level_is_brought_up() {
    let pol = policy("7.2");
    let (mut rq, mut own, [mut group, _, mut leaves]) = group_with_a_delayed_task(&pol);
    assert_eq!((own.h_nr_runnable, rq.cfs.h_nr_runnable, group.nr_runnable), (1, 1, 2));
    assert_eq!((leaves.delay_ends(dequeue::MIGRATE), leaves.leave_delta(dequeue::MIGRATE)), (false, 0));
    assert_eq!((leaves.delay_ends(dequeue::SLEEP), leaves.leave_delta(dequeue::SLEEP)), (true, -1));
    let (mut root, mut above) = (rq.cfs, group);
    let delta = leaves.leave_delta(dequeue::SLEEP);
    rq.cfs.count_runnable(1);
    rq.dequeue_task_on(&pol, Some(&mut own), &mut leaves, 70 * MS, false, dequeue::SLEEP);
    let ctx = rq.ctx(&pol, &rq.cfs);
    rq.cfs.update_ancestor(&ctx, &mut group, Some(&mut own), delta);
    root.h_nr_runnable = 2;
    root.update_load_avg(&ctx, &mut above, Some(&mut own), update::TG);
    assert_eq!(rq.cfs.avg, root.avg, "two counted for the ten milliseconds before");
    assert_eq!((own.h_nr_runnable, rq.cfs.h_nr_runnable, group.nr_runnable), (1, 1, 1));
    assert_eq!(leaves.leave_delta(dequeue::SLEEP), -1);
}
