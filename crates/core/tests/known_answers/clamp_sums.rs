// SPDX-License-Identifier: GPL-2.0-or-later
//! Clamps that add up, worked out by hand from the postings that `uclamp_sum.h` names. No release has them.

use pelton_core::{
    Avg, CfsRq, CpuState, NO_GROUP, Policy, THROTTLED_GROUPS_MAX, ThrottledGroup, UclampSumRq, UclampSumTask, fair,
    group_est, group_limited, group_rest, group_throttled_util, value,
};

const DIVISOR: u64 = 47742 - 1024;

fn policy(uclamp: u32) -> Policy {
    Policy { uclamp, ..Policy::profile("6.12").expect("a profile") }
}

fn task(id: u32, min: u32, max: u32) -> UclampSumTask {
    let (weight, inv_weight) = (fair::task_weight(20), fair::task_inv_weight(20));
    UclampSumTask { id, min, max, weight, inv_weight, ..UclampSumTask::default() }
}

/// The root queue `periods` whole periods after time 1 << 30, with this utilization.
fn root(periods: u64, util_avg: u64) -> CfsRq {
    let avg = Avg { last_update_time_ns: (1 << 30) + (periods << 20), util_avg, ..Avg::default() };
    CfsRq { avg, ..CfsRq::default() }
}

/// R 600, S 200: 600 at first, then 200 + 400 * y^p: 591, 522, 399, 299 after 1, 10, 32, 64 periods
/// (___decay_util_avg_uclamp_towards).
#[test]
fn the_first_posting_lets_the_sum_fall_as_utilization_does() {
    for (periods, left) in [(0, 600), (1, 591), (10, 522), (32, 399), (64, 299)] {
        let mut rq = UclampSumRq { queued: 200, root: 600, ..UclampSumRq::default() };
        rq.follow(&root(0, 1));
        rq.follow(&root(periods, 1));
        assert_eq!(rq.root, left, "after {periods} periods");
    }
}

/// v 200 asleep: 195 after a period, 99 after 32; a period ends within 500 us when 600 of 1024 units of it had passed,
/// and nothing ends within 1023 ns (__update_load_avg_blocked_se).
#[test]
fn what_a_sleeper_leaves_halves_every_32_periods() {
    for (delta_ns, period_contrib, left) in
        [(1_048_575, 0, 200), (1_048_576, 0, 195), (500_000, 600, 195), (1023, 1023, 200), (32 << 20, 0, 99)]
    {
        let avg = Avg { last_update_time_ns: 1 << 30, period_contrib, ..Avg::default() };
        let mut sleeper = UclampSumTask { value: 200, ..task(1, 0, 200) };
        sleeper.age(&avg, (1 << 30) + delta_ns);
        assert_eq!(sleeper.value, left, "{delta_ns} ns from {period_contrib}");
    }
}

/// S 400, R 400: a queued task of 200 moves. It stays in R, which falls to 299 within 32 periods; the new CPU has S 300
/// and R 300 at once. A sleeper of 150 leaves R 500 at the pass over removed tasks (remove_entity_load_avg).
#[test]
fn migrants_of_the_first_posting() {
    let p = policy(value::UCLAMP_SUM);
    let mut source = UclampSumRq { queued: 200, root: 200, ..UclampSumRq::default() };
    let mut target = UclampSumRq { queued: 100, root: 300, ..UclampSumRq::default() };
    let mut mover = task(1, 0, 200);
    source.enqueue(&p, &mut mover, 900);
    assert_eq!((source.queued, source.root), (400, 400));
    assert_eq!(source.dequeue(&p, &mut mover, true), 0);
    assert_eq!((source.queued, source.root), (200, 400), "the value of who left fades away");
    source.follow(&root(0, 1));
    source.follow(&root(32, 1));
    assert_eq!(source.root, 299);
    target.enqueue(&p, &mut mover, 900);
    assert_eq!((target.queued, target.root), (300, 300));

    let mut left = UclampSumRq { queued: 300, root: 500, ..UclampSumRq::default() };
    left.leave(&mut UclampSumTask { value: 150, ..task(2, 0, 1024) });
    left.follow(&root(0, 1));
    assert_eq!(left.root, 350);
}

/// A hog capped to 200: b = 200 - 1024. It sleeps with 512 units of the period over: 48,363,520 - 824 * 47230 =
/// 9,446,000; the floor 200 * 46718 = 9,343,600 is lower (propagate_negative_bias). Moving leaves the averages alone. A
/// lower clamp of 300 at 100 adds 200, and utilization of 1025 without a cap is not cut (util_bias_update).
#[test]
fn the_bias_of_the_later_postings() {
    let p = policy(value::UCLAMP_BIAS);
    let (mut rq, mut hog) = (UclampSumRq::default(), task(1, 0, 200));
    rq.enqueue(&p, &mut hog, 1024);
    assert_eq!((rq.bias, rq.util(&p, 1024)), (-824, 200));
    assert_eq!(rq.dequeue(&p, &mut hog, false), 824);
    let mut avg = Avg { util_avg: 1024, util_sum: 48_363_520, period_contrib: 512, ..Avg::default() };
    avg.take_bias(&p, 824);
    assert_eq!((avg.util_avg, avg.util_sum), (200, 9_446_000));
    let mut low = Avg { util_avg: 1024, util_sum: 47_800_000, period_contrib: 512, ..Avg::default() };
    low.take_bias(&p, 824);
    assert_eq!(u64::from(low.util_sum), 200 * DIVISOR, "not so low that it would reach zero first");

    rq.enqueue(&p, &mut hog, 1024);
    assert_eq!(rq.dequeue(&p, &mut hog, true), 0);
    assert_eq!(rq.bias, 0);
    for (min, util, bias) in [(300, 100, 200), (0, 1025, 0)] {
        let (mut rq, mut task) = (UclampSumRq::default(), task(2, min, 1024));
        rq.enqueue(&p, &mut task, util);
        assert_eq!(rq.bias, bias);
    }
}

/// Two hogs of nice 0 at 512, one capped to 1: 513 by the plain sum; A's record is 4,194,304 * 512 = 2^31, which
/// entitles the other to 2^31 * 1024 >> 32 = 512, at nice 19 to 2^31 * 15 >> 32 = 7. Beside A at nice -5 and 600:
/// 1,376,151 * 600 * 1024 >> 32 = 196 (v2 8/8).
#[test]
fn a_cap_does_not_starve_others_of_their_share() {
    for (nice_a, util_a, nice_b, entitled) in [(20, 512, 20, 512), (20, 512, 39, 7), (15, 600, 20, 196)] {
        let p = policy(value::UCLAMP_BIAS_WEIGHTED);
        let of_level = |id, level, max| UclampSumTask {
            weight: fair::task_weight(level),
            inv_weight: fair::task_inv_weight(level),
            ..task(id, 0, max)
        };
        let (mut rq, mut a, mut b) = (UclampSumRq::default(), of_level(1, nice_a, 1024), of_level(2, nice_b, 1));
        rq.enqueue(&p, &mut a, util_a);
        rq.enqueue(&p, &mut b, 512);
        assert_eq!(rq.util(&p, util_a + 512), util_a + entitled);
        assert_eq!(rq.dequeue(&p, &mut a, false), 0);
        rq.update(&p, &mut b, 512);
        assert_eq!(rq.util(&p, 512), 1, "alone it is capped");
    }
    let p = policy(value::UCLAMP_BIAS);
    let (mut rq, mut a, mut b) = (UclampSumRq::default(), task(1, 0, 1024), task(2, 0, 1));
    rq.enqueue(&p, &mut a, 512);
    rq.enqueue(&p, &mut b, 512);
    assert_eq!(rq.util(&p, 1024), 513);
}

/// Util 1024, capped to 200, goes to sleep: the debt of 824 keeps the CPU at 200 while both halve; waking takes it
/// back.
#[test]
fn a_debt_stands_beside_the_averages() {
    let p = policy(value::UCLAMP_DEBT);
    let (mut rq, mut hog) = (UclampSumRq::default(), task(1, 0, 200));
    rq.follow(&root(0, 1024));
    rq.enqueue(&p, &mut hog, 1024);
    assert_eq!(rq.dequeue(&p, &mut hog, false), 0, "the averages are left alone");
    assert_eq!((rq.debt, rq.util(&p, 1024)), (824, 200));
    let before = root(0, 1024).avg;
    rq.follow(&root(32, 512));
    assert_eq!((rq.debt, rq.util(&p, 512)), (411, 101));
    hog.age(&before, before.last_update_time_ns + (32 << 20));
    rq.enqueue(&p, &mut hog, 512);
    assert_eq!((rq.debt, rq.bias, rq.util(&p, 512)), (0, -312, 200));
}

/// The inputs of an evaluation: clamped utilization and estimates; waiting tasks raise it in proportion
/// (cpu_util_uclamp), in the first posting only on a CPU that is not capped (uclamp_rq_is_capped, 80 above).
#[test]
fn what_the_governor_sees() {
    let state = |p: &Policy, rq: &UclampSumRq, util_cfs, runnable_cfs| {
        let mut s = CpuState { cap_orig: 1024, util_cfs, runnable_cfs, util_est: 999, ..CpuState::default() };
        rq.apply(p, 700, &mut s);
        s
    };
    let bias = UclampSumRq { bias: -824, est: 150, ..UclampSumRq::default() };
    let p = policy(value::UCLAMP_BIAS);
    let s = state(&p, &bias, 1024, 1536);
    assert_eq!((s.util_cfs, s.runnable_cfs, s.util_est), (200, 300, 150));
    assert_eq!((s.uclamp_used, s.uclamp_min, s.uclamp_max), (1, 0, 1024));
    let sum = UclampSumRq { root: 400, ..UclampSumRq::default() };
    let p = policy(value::UCLAMP_SUM);
    assert_eq!(state(&p, &sum, 480, 900).runnable_cfs, 900);
    assert_eq!(state(&p, &sum, 481, 900).runnable_cfs, 400, "capped");
    let p = policy(value::UCLAMP_DEBT);
    // Two hogs capped to 300 each: their waiting is what the caps want.
    let hogs = UclampSumRq { bias: 2 * 300 - 1024, ..UclampSumRq::default() };
    assert_eq!(state(&p, &hogs, 1024, 2048).runnable_cfs, 600, "capped");
    assert_eq!(state(&p, &UclampSumRq { bias: -80, ..hogs }, 1024, 2048).runnable_cfs, 1888, "80 below: not capped");
    assert_eq!(state(&p, &bias, 1024, 0).uclamp_min, 700, "real-time tasks keep their lower clamp");
    // Without clamps in use debt is what none is: a waiting task on a CPU without utilization is demand (cpu_util).
    assert_eq!(state(&p, &UclampSumRq::default(), 0, 1).runnable_cfs, 1);
    assert_eq!(state(&policy(value::UCLAMP_BIAS), &UclampSumRq::default(), 0, 1).runnable_cfs, 0, "as posted");
}

/// Android: CPU of 383, root 600, a group of 400 throttled to a half: min(400, 191) + 200 = 391, not above the CPU.
#[test]
fn throttled_groups_for_comparison() {
    let groups = [ThrottledGroup { util: 400, throttle: 512 }];
    assert_eq!(group_throttled_util(600, 0, &groups, 383), 383);
    assert_eq!(group_throttled_util(600, 0, &groups, 1024), 600);
    assert_eq!(group_throttled_util(400, 0, &groups, 383), 191);
    assert_eq!(group_throttled_util(400, 300, &[], 383), 383);
    let none: [ThrottledGroup; 0] = [];
    assert_eq!((group_limited(600, &none, 383), group_limited(600, &groups, 383)), (600, 391));
    // Two groups of which one is cut down: min(400, 512) + min(600, 307) + 24 of no task; without the second 24 + 400.
    let groups = [ThrottledGroup { util: 400, throttle: 512 }, ThrottledGroup { util: 600, throttle: 307 }];
    assert_eq!((group_limited(1024, &groups, 1024), group_rest(1024, &groups, Some(1), 1024)), (731, 424));
    // Groups that have more than the root by rounding: below 0 without them.
    assert_eq!(group_rest(399, &groups[..1], Some(0), 1024), -1);
    // An estimate of 700 within a clamp of 600, a half of 383, nothing.
    let est = |max, throttle, capacity| group_est(700, max, throttle, capacity);
    assert_eq!((est(600, 1024, 1024), est(1024, 512, 383), est(1024, NO_GROUP, 383)), (600, 191, 700));
}

/// A CPU with a limited group asks for 391; waiting tasks, 900, count where nothing is cut off only.
#[test]
fn waiting_tasks_are_no_demand_of_a_cpu_whose_groups_are_cut_down() {
    let state = |throttle| {
        let mut state = CpuState { cap_orig: 383, util_cfs: 600, runnable_cfs: 900, ..CpuState::default() };
        state.limit_groups(&[ThrottledGroup { util: 300, throttle }], 77);
        (state.util_cfs, state.runnable_cfs, state.util_est)
    };
    assert_eq!((state(244), state(1024)), ((391, 0, 77), (600, 900, 77)));
}

/// An estimate leaves with its task once: a task that is dequeued again, or joins without one, takes nothing more.
#[test]
fn an_estimate_leaves_once() {
    let (mut rq, mut one) = (UclampSumRq { est: 70, ..UclampSumRq::default() }, task(1, 0, 100));
    rq.est_enqueue(&mut one, 300);
    assert_eq!((rq.est, one.est), (170, 100));
    rq.est_dequeue(&mut one);
    assert_eq!((rq.est, one.est), (70, 0));
    rq.est_dequeue(&mut one);
    assert_eq!(rq.est, 70);
}

/// Groups beyond the most that there are belong to the rest of the queue: ten of it are left uncut.
#[test]
fn groups_beyond_the_most_are_not_limited() {
    let groups = [ThrottledGroup { util: 10, throttle: 0 }; THROTTLED_GROUPS_MAX + 1];
    let root = 10 * groups.len() as u32;
    assert_eq!(group_limited(root, &groups, 1024), 10);
    assert_eq!(group_limited(root, &groups[1..], 1024), 10);
    assert_eq!(group_limited(root - 10, &groups[1..], 1024), 0);
}
