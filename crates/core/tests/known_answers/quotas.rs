// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups, worked out by hand from the sources of each release.

use pelton_core::{CfsBandwidth, CfsRuntime, Policy, RUNTIME_INF, Rq, quota, value};

const MS: u64 = 1_000_000;
/// The kernel's clock when a test begins; periods of 100 ms end at its multiples.
const T0: u64 = 1000 * MS;
const TICK: u64 = 4 * MS;

fn policy(profile: &str) -> Policy {
    Policy::profile(profile).expect("exists")
}

/// A group whose quota was just set at `T0`, ms of each 100 ms.
fn group(p: &Policy, quota_ms: u64, burst_ms: u64) -> CfsBandwidth {
    let mut b = CfsBandwidth::default();
    assert_eq!(b.set(p, (quota_ms * MS, 100 * MS, burst_ms * MS), T0), quota::START, "the timer runs at once");
    b
}

/// tg_set_cfs_bandwidth() fills the pool; the timer goes to the next multiple of the period (hrtimer_forward_now).
#[test]
fn a_quota_fills_the_pool_and_a_queue_takes_a_slice() {
    for p in ["4.12", "5.4", "7.2"].map(policy) {
        let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
        assert_eq!((b.runtime_ns, b.period_end_ns), (20 * MS, 1100 * MS));
        // check_enqueue_throttle: nothing ran, nothing is left, a slice of 5 ms comes.
        assert_eq!(b.account(&p, &mut q, 0, T0, TICK), 0);
        assert_eq!((q.remaining_ns, b.runtime_ns), (5 * MS as i64, 15 * MS));
        // 6 ms: 1 ms too much, and a slice on top of that: 6 ms out of the pool.
        assert_eq!(b.account(&p, &mut q, 6 * MS, T0 + 6 * MS, TICK), 0);
        assert_eq!((q.remaining_ns, b.runtime_ns), (5 * MS as i64, 9 * MS));
        assert_eq!(b.account(&p, &mut q, 5 * MS, T0 + 11 * MS, TICK), 0);
        assert_eq!(b.account(&p, &mut q, 5 * MS, T0 + 16 * MS, TICK), 0);
        assert_eq!((q.remaining_ns, b.runtime_ns), (4 * MS as i64, 0), "the rest of the pool");
        assert_eq!(b.account(&p, &mut q, 7 * MS, T0 + 23 * MS, TICK), quota::EXHAUSTED);
        assert_eq!(q.remaining_ns, -3 * MS as i64, "3 ms beyond the quota, which the next period pays");
        assert_eq!(b.throttle(&p, &mut q, true, T0 + 23 * MS), quota::THROTTLED);
        assert_eq!((q.throttled, b.nr_waiting), (1, 1));
        assert_eq!(b.period_timer(&p, 1100 * MS), quota::START | quota::DISTRIBUTE);
        assert!(b.distribute(&mut q));
        assert_eq!((q.remaining_ns, b.runtime_ns), (1, 17 * MS - 1), "1 ns more than what it lacked");
        b.unthrottle(&mut q, 1100 * MS);
        assert_eq!((b.throttled_time_ns, b.nr_periods, b.nr_throttled), (77 * MS, 1, 1));
    }
}

/// check_enqueue_throttle(): the queue that gets its first entity takes a slice; in 7.2 throttle_cfs_rq() asks for 1 ns
/// there (its `curr` is NULL), and the first update of who runs asks for the slice.
#[test]
fn a_first_entity_brings_a_slice_and_in_7_2_one_ns() {
    for (name, first) in [("5.10", 5 * MS), ("6.12", 5 * MS), ("6.18", 5 * MS), ("7.2", 1)] {
        let p = policy(name);
        let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
        assert_eq!(b.enqueue(&p, &mut q, T0, TICK), 0);
        assert_eq!((q.remaining_ns as u64, b.runtime_ns), (first, 20 * MS - first), "{name}");
        assert_eq!(b.account(&p, &mut q, 2, T0 + 2, TICK), 0);
        let after = if name == "7.2" { 5 * MS } else { 5 * MS - 2 };
        assert_eq!(q.remaining_ns as u64, after, "{name}");
        assert_eq!(b.enqueue(&p, &mut q, T0 + 2, TICK), 0, "{name}: it has some");
        assert_eq!(q.remaining_ns as u64, after, "{name}");
    }
}

/// do_sched_cfs_period_timer: a period in which no queue took from the pool marks the group idle, the next one stops
/// the timer.
#[test]
fn the_period_timer_stops_after_two_idle_periods() {
    let p = policy("6.12");
    let mut b = group(&p, 20, 0);
    assert_eq!((b.period_timer(&p, 1100 * MS), b.idle), (quota::START, 1));
    assert_eq!((b.period_timer(&p, 1200 * MS), b.period_active, b.nr_periods), (0, 0, 2));
    let mut q = CfsRuntime::default();
    assert_eq!(b.account(&p, &mut q, 0, 1777 * MS, TICK), quota::START, "a queue takes: it goes on");
    assert_eq!((b.period_end_ns, b.idle), (1800 * MS, 0), "at the next multiple of the period");
}

/// 4.12.3 and 4.16.13 expire_cfs_rq_runtime: after the refill the queue's deadline is another than the pool's, which is
/// taken for drift, so it is put off by a tick; 4.19.48 compares the number of the refill. From 5.4 nothing expires.
#[test]
fn slices_expire_with_their_period_from_4_18_to_5_3_only() {
    let left_after_a_period = |profile| {
        let p = policy(profile);
        let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
        let _ = b.account(&p, &mut q, 0, T0, TICK);
        let _ = b.account(&p, &mut q, MS, T0 + 50 * MS, TICK);
        assert_eq!(b.period_timer(&p, 1100 * MS), quota::START);
        let _ = b.account(&p, &mut q, MS, 1201 * MS, TICK);
        (q.remaining_ns, b.runtime_ns)
    };
    for profile in ["4.12", "4.16", "5.4", "5.10", "7.2"] {
        assert_eq!(left_after_a_period(profile), (3 * MS as i64, 20 * MS), "{profile}: what it had, less 1 ms");
    }
    // start_cfs_bandwidth adds (overruns + 1) periods to the deadline: at T0 (11 multiples of 100 ms after 0) it is
    // 1100 + 12 * 100 ms; the slice of the first period is lost only after that.
    let p = policy("4.19");
    let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
    let _ = b.account(&p, &mut q, 0, T0, TICK);
    assert_eq!((q.expires_ns, q.expires_seq), (2300 * MS, 2));
    assert_eq!(b.period_timer(&p, 2300 * MS), quota::START);
    let _ = b.account(&p, &mut q, MS, 2301 * MS, TICK);
    assert_eq!((q.remaining_ns, b.runtime_ns), (5 * MS as i64, 15 * MS), "4 ms are lost, a new slice comes");
    // The same instant in 4.16: drift, a tick more.
    let p = policy("4.16");
    let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
    let _ = b.account(&p, &mut q, 0, T0, TICK);
    assert_eq!(q.expires_ns, 1100 * MS);
    assert_eq!(b.period_timer(&p, 1100 * MS), quota::START);
    let _ = b.account(&p, &mut q, MS, 1101 * MS, TICK);
    assert_eq!((q.remaining_ns, q.expires_ns), (4 * MS as i64, 1104 * MS));
}

/// 5.10.262 __refill_cfs_bandwidth_runtime: runtime = quota; 6.1.192: min(runtime + quota, quota + burst), and what was
/// used beyond the quota is counted against the pool after the last refill.
#[test]
fn bursts_are_kept_from_6_1() {
    let pool_after = |profile, used_ms| {
        let p = policy(profile);
        let mut b = group(&p, 20, 15);
        b.runtime_ns -= used_ms * MS;
        let _ = b.period_timer(&p, 1100 * MS);
        (b.runtime_ns / MS, b.nr_burst, b.burst_time_ns / MS)
    };
    assert_eq!(pool_after("5.10", 8), (20, 0, 0));
    assert_eq!(pool_after("6.1", 8), (32, 0, 0), "12 left and 20");
    assert_eq!(pool_after("6.1", 2), (35, 0, 0), "not above quota and burst");
    let p = policy("6.1");
    let mut b = group(&p, 20, 15);
    let _ = b.period_timer(&p, 1100 * MS);
    assert_eq!(b.runtime_ns, 35 * MS, "nothing was used");
    b.runtime_ns -= 27 * MS;
    let _ = b.period_timer(&p, 1200 * MS);
    assert_eq!((b.runtime_ns / MS, b.nr_burst, b.burst_time_ns / MS), (28, 1, 7), "7 ms more than the quota");
}

/// 6.1.192 do_sched_cfs_period_timer refills before it asks whether the group is idle, 5.10.262 after it.
#[test]
fn an_idle_group_is_refilled_before_its_timer_stops_from_6_1() {
    for (profile, pool_ms) in [("5.10", 12), ("5.15", 20), ("6.1", 20)] {
        let p = policy(profile);
        let mut b = group(&p, 20, 0);
        let _ = b.period_timer(&p, 1100 * MS);
        b.runtime_ns = 12 * MS;
        assert_eq!(b.period_timer(&p, 1200 * MS), 0, "{profile}: stops");
        assert_eq!(b.runtime_ns, pool_ms * MS, "{profile}");
    }
}

/// 5.10.262 throttle_cfs_rq asks for 1 ns before it throttles, 5.4 does not; 7.2.12 throttles in the update that found
/// nothing, which asked for a slice.
#[test]
fn runtime_that_came_meanwhile_saves_a_queue_from_5_10() {
    for (profile, saved) in
        [("4.12", false), ("4.19", false), ("5.4", false), ("5.10", true), ("6.18", true), ("7.2", false)]
    {
        let p = policy(profile);
        let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
        b.runtime_ns = 0;
        assert_eq!(b.account(&p, &mut q, MS, T0 + MS, TICK), quota::EXHAUSTED);
        b.runtime_ns = 3 * MS;
        let said = b.throttle(&p, &mut q, true, T0 + MS);
        assert_eq!((said == 0, q.throttled == 0), (saved, saved), "{profile}");
        assert_eq!(q.remaining_ns, if saved { 1 } else { -(MS as i64) }, "{profile}");
    }
}

/// core.c tg_set_cfs_bandwidth: runtime_remaining = 0 in 6.12.117, 1 in 7.2.12.
#[test]
fn another_quota_leaves_queues_1_ns_in_7_2() {
    for (profile, left) in [("5.10", 0), ("6.12", 0), ("7.2", 1)] {
        let mut q = CfsRuntime { remaining_ns: 5 * MS as i64, ..Default::default() };
        q.set(&policy(profile));
        assert_eq!(q.remaining_ns, left, "{profile}");
    }
}

/// 4.12.3 throttle_cfs_rq: list_add_rcu; 4.19.48: list_add_tail_rcu, unless a distribution is under way.
#[test]
fn the_list_of_waiting_queues_is_first_in_first_out_from_4_19() {
    for (profile, head) in
        [("4.12", true), ("4.16", true), ("4.19", false), ("5.4", false), ("5.10", false), ("7.2", false)]
    {
        assert_eq!(policy(profile).bandwidth_throttle == value::BANDWIDTH_THROTTLE_HEAD, head, "{profile}");
    }
}

/// __return_cfs_rq_runtime keeps 1 ms; start_cfs_slack_bandwidth waits 5 ms, unless the period ends within 7 ms; from
/// 5.4 a second return does not push that moment back.
#[test]
fn returned_runtime_is_handed_out_5_ms_later() {
    for (profile, pushed) in [("4.19", true), ("5.4", false), ("7.2", false)] {
        let p = policy(profile);
        let mut b = group(&p, 20, 0);
        let (mut waits, mut gives) =
            (CfsRuntime::default(), CfsRuntime { remaining_ns: 5 * MS as i64, ..Default::default() });
        (gives.expires_ns, gives.expires_seq) = (b.runtime_expires_ns, b.expires_seq);
        b.runtime_ns = 0;
        let _ = b.account(&p, &mut waits, 0, T0, TICK);
        assert_eq!(b.throttle(&p, &mut waits, true, T0), quota::THROTTLED, "{profile}");
        b.runtime_ns = 3 * MS;
        let mut more = gives;
        assert_eq!(
            b.give_back(&p, &mut gives, T0 + 10 * MS),
            quota::SLACK,
            "{profile}: 3 + 4 ms are more than a slice"
        );
        assert_eq!((gives.remaining_ns, b.runtime_ns, b.slack_end_ns), (MS as i64, 7 * MS, T0 + 15 * MS), "{profile}");
        let again = b.give_back(&p, &mut more, T0 + 12 * MS);
        assert_eq!((again == quota::SLACK, b.slack_end_ns == T0 + 17 * MS), (pushed, pushed), "{profile}");
        let at = b.slack_end_ns;
        assert_eq!(b.slack_timer(&p, at), quota::DISTRIBUTE, "{profile}");
        let mut late = CfsRuntime { remaining_ns: 9 * MS as i64, expires_ns: gives.expires_ns, ..gives };
        assert_eq!(b.give_back(&p, &mut late, T0 + 94 * MS), 0, "{profile}: the period ends in 6 ms");
    }
}

/// 6.6 throttle_cfs_rq sets throttled_clock only if (cfs_rq->nr_running); enqueue_entity does it when the first task
/// comes.
#[test]
fn an_empty_queue_is_not_throttled_time_from_6_6() {
    for (profile, counted_ms) in
        [("5.10", 90), ("5.15", 90), ("6.1", 90), ("6.6", 60), ("6.8", 60), ("6.12", 60), ("7.2", 60)]
    {
        let p = policy(profile);
        let (mut b, mut q) = (group(&p, 20, 0), CfsRuntime::default());
        b.runtime_ns = 0;
        let _ = b.account(&p, &mut q, MS, T0, TICK);
        let _ = b.throttle(&p, &mut q, false, T0 + 10 * MS);
        q.note_throttled(T0 + 40 * MS);
        q.note_throttled(T0 + 50 * MS);
        b.unthrottle(&mut q, T0 + 100 * MS);
        assert_eq!(b.throttled_time_ns, counted_ms * MS, "{profile}");
    }
}

/// init_cfs_bandwidth: hrtimer_set_expires(get_random_u32_below(period)) in 6.6, not in 6.1, where it is 0.
#[test]
fn periods_end_at_multiples_of_the_period_to_6_1() {
    for (profile, random) in
        [("4.12", false), ("6.1", false), ("6.6", true), ("6.8", true), ("6.12", true), ("7.2", true)]
    {
        assert_eq!(policy(profile).bandwidth_phase == value::BANDWIDTH_PHASE_RANDOM, random, "{profile}");
    }
    let p = policy("6.6");
    let mut b = CfsBandwidth { period_end_ns: 37 * MS, ..Default::default() };
    let _ = b.set(&p, (20 * MS, 100 * MS, 0), T0);
    assert_eq!(b.period_end_ns, 1037 * MS);
}

/// 5.18 to 6.12 throttle_cfs_rq dequeues the group's entity; 6.18.2 leaves it and has tasks leave
/// (throttle_cfs_rq_work).
#[test]
fn tasks_leave_one_by_one_from_6_18() {
    for (profile, by_task) in [("4.12", false), ("5.4", false), ("6.12", false), ("6.18", true), ("7.2", true)] {
        assert_eq!(policy(profile).bandwidth == value::BANDWIDTH_TASK, by_task, "{profile}");
    }
    let p = policy("7.2");
    let mut b = CfsBandwidth { quota_ns: RUNTIME_INF, ..Default::default() };
    let mut q = CfsRuntime::default();
    assert_eq!((b.account(&p, &mut q, MS, T0, TICK), q.remaining_ns), (0, 5 * MS as i64), "no limit, no end");
}

/// 5.4 pelt.h cfs_rq_clock_pelt subtracts throttled_clock_task_time, taken from clock_task; 5.10.262 has
/// throttled_clock_pelt. On a CPU at half speed 8 ms of throttling are 8 ms of one clock and 4 ms of the other.
#[test]
fn the_clock_of_a_throttled_queue_is_the_task_clock_in_5_4() {
    for (profile, lost) in [("5.4", 8 * MS), ("5.10", 4 * MS), ("7.2", 4 * MS)] {
        let p = policy(profile);
        let mut rq = Rq::new(&p, T0, 1024, 512);
        let mut cfs = rq.cfs;
        rq.throttle_clock(&p, &mut cfs);
        rq.clock_update(&p, T0 + 8 * MS, 0, false);
        rq.unthrottle_clock(&p, &mut cfs);
        assert_eq!(cfs.throttled_clock_pelt_ns, lost, "{profile}");
    }
}
