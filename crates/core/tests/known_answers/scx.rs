// SPDX-License-Identifier: GPL-2.0-or-later
//! Balance and task groups under sched_ext, and targets that were not followed: answers worked out by hand at the
//! edges.

use pelton_core::{
    cpuperf_is_followed, cpuperf_looks, scx_holds_balance, scx_idle_room, scx_is_long, scx_is_longer, scx_periods,
    scx_refill, scx_share, uclamp_clamped,
};

const MS: u64 = 1_000_000;

#[test]
fn tasks_stay_where_energy_decides_and_no_cpu_has_too_much() {
    let held =
        [(true, false), (true, true), (false, false), (false, true)].map(|(em, over)| scx_holds_balance(em, over));
    assert_eq!(held, [true, false, false, false]);
}

#[test]
fn a_queue_is_long_with_one_task_beside_the_running_one() {
    let long = [(0, false), (1, false), (1, true), (2, true)].map(|(nr, runs)| scx_is_long(nr, runs));
    assert_eq!(long, [false, true, false, true]);
}

#[test]
fn the_longest_queue_is_taken_from_and_one_of_the_same_cache_before_any_other() {
    let none = (0, false);
    assert!(!scx_is_longer(1, true, true, 1, none), "its only task runs");
    assert!(scx_is_longer(1, false, false, 1, none), "its only task waits");
    assert!(!scx_is_longer(2, true, true, 3, none), "too few more than the taker has");
    assert!(scx_is_longer(3, true, true, 3, none), "as many more as there must be");
    assert!(!scx_is_longer(3, true, false, 1, (3, false)), "as long as the best so far");
    assert!(scx_is_longer(4, true, false, 1, (3, false)) && scx_is_longer(4, true, true, 1, (3, true)));
    assert!(scx_is_longer(2, true, true, 1, (9, false)), "of the taker's cache");
    assert!(!scx_is_longer(9, true, false, 1, (2, true)), "the best so far is of the taker's cache");
}

#[test]
fn a_cpu_of_the_same_cache_has_more_room_than_the_largest_of_another() {
    assert_eq!((scx_idle_room(446, false), scx_idle_room(446, true)), (446, 65_982));
    assert!(scx_idle_room(1, true) > scx_idle_room(1024, false));
}

#[test]
fn a_utilization_within_its_clamps_stays() {
    let clamped = [99, 100, 200, 300, 301].map(|util| uclamp_clamped(util, (100, 300)));
    assert_eq!(clamped, [100, 100, 200, 300, 300]);
}

/// For 64 ms after it was handed over at each look, later once in 256 ms.
#[test]
fn a_target_is_looked_after_often_at_first_and_seldom_later() {
    let looks = |since_handed_ns: u64, since_insisted_ns: u64| {
        let now = 1_000 * MS;
        cpuperf_looks(now, now - since_handed_ns, now - since_insisted_ns)
    };
    assert!(looks(64 * MS, MS) && !looks(64 * MS + 1, MS));
    assert!(looks(500 * MS, 256 * MS) && !looks(500 * MS, 256 * MS - 1));
}

/// 1,200,000 of 2,400,000 kHz are 512 of 1024: two less or more are rounding, and each unit of other classes' need is
/// worth two.
#[test]
fn a_target_is_followed_by_the_speed_that_it_leads_to() {
    let followed = |is: u32, others: u64| cpuperf_is_followed(is, 1_200_000, 2_400_000, others);
    assert_eq!([509, 510, 514, 515].map(|is| followed(is, 0)), [false, true, true, false]);
    assert_eq!([509, 614, 615].map(|is| followed(is, 50)), [false, true, false]);
}

#[test]
fn a_task_has_its_part_of_what_its_group_is_entitled_to() {
    let nice_0 = 1024 << 10;
    assert_eq!(scx_share(nice_0, 1024, 1024), nice_0, "alone");
    assert_eq!(scx_share(nice_0, 3072, 1024), 3 * nice_0);
    assert_eq!([1023, 0, -4096].map(|load| scx_share(nice_0, 1024, load)), [nice_0; 3], "it is a part of the load");
    assert_eq!((scx_share(nice_0, 1024, 1025), scx_share(nice_0, 1024, 3072)), (1_047_552, 349_525));
    assert_eq!(scx_share(2, 2, 1 << 40), 2);
    // Level by level: a quarter of half.
    assert_eq!(scx_share(scx_share(nice_0, 1024, 4096), 1024, 2048), nice_0 / 8);
}

#[test]
fn a_quota_comes_once_a_period_and_nothing_is_saved_beyond_the_burst() {
    assert_eq!([99, 100, 199, 200, 350].map(|now| scx_periods(now, 100, 100)), [0, 1, 1, 2, 3]);
    let (quota, burst) = (20 * MS, 10 * MS);
    let refill = |left_ms: i64, periods| scx_refill(left_ms * MS as i64, quota, burst, periods) / MS;
    assert_eq!([-25, 5, 10, 12, 30, 31].map(|left| refill(left, 1)), [20, 20, 20, 18, 0, 0]);
    assert_eq!([(-25, 2), (-25, 3), (5, 4), (5, u64::MAX)].map(|(left, n)| refill(left, n)), [40, 55, 25, 25]);
}
