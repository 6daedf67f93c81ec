// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading what an idle CPU has left late, or walking over it again and again: what is the same to the bit, and by how
//! much the rest differs. `blocked_update=lazy` rests on it.

use crate::kept::kept;
use pelton_core::{Avg, Policy, Rq, Se, decay_load, dequeue, profiles, runs};
use proptest::prelude::*;

const START_NS: u64 = 1 << 40;
const PERIOD_UNITS: u64 = 1024;
/// A unit of a record's clock, ns.
const UNIT_NS: u64 = 1024;
/// Largest loss of a sum to truncation in one step: one by the shift, one by the product, and what the 32 bits of the
/// factor lack of a sum of less than 2^31.
const LOST_PER_STEP: u64 = 3;
/// A loss decays as well: after any number of steps, of a period or more each, no more than this many are left.
const STEPS_LEFT: u64 = 47;

/// Tasks that ran on a CPU before it went idle: (weight, microseconds to the next, runs, leaves for another CPU).
type Past = Vec<(u64, u64, bool, bool)>;

fn past() -> impl Strategy<Value = Past> {
    let weight = prop::sample::select(vec![15u64, 110, 820, 1024, 3121]);
    prop::collection::vec((weight, 1u64..60_000, any::<bool>(), any::<bool>()), 1..12)
}

/// A CPU that just went idle, with whatever `past` left on it; and when.
fn left_by(policy: &Policy, capacity: u32, past: &Past) -> (Rq, u64) {
    let (mut rq, mut now) = (Rq::new(policy, START_NS, capacity, 1024), START_NS);
    for &(weight, span_us, runs, leaves) in past {
        let mut se = Se { avg: Avg::default(), ..Se::new(weight) };
        let idle = rq.cfs.nr_queued == 0;
        rq.enqueue_task(policy, &mut se, now, 0, idle);
        if runs {
            rq.switch_fair(policy, None, Some(&mut se), now, 0, idle);
        }
        now += span_us * 1000 / 2;
        if runs {
            rq.tick_fair(policy, &mut se, now, 0);
        }
        now += span_us * 1000 / 2;
        let flags = if leaves { dequeue::MIGRATE } else { dequeue::SLEEP };
        rq.dequeue_task(policy, &mut se, now, 0, false, flags);
        rq.event_rt(policy, now, 0, false, false);
        now += span_us * 100;
        rq.event_rt(policy, now, 0, false, true);
        rq.switch_idle(policy, None, now, 0, true);
    }
    rq.update_blocked(policy, now, 0, runs::IDLE, 0);
    (rq, now)
}

fn walk(rq: &mut Rq, policy: &Policy, now: u64) {
    rq.update_blocked(policy, now, 0, runs::IDLE, 0);
}

/// The records of a CPU that fade while it is idle.
fn records(rq: &Rq) -> [Avg; 3] {
    [rq.cfs.avg, rq.rt, rq.dl]
}

fn sums(avg: &Avg) -> [u64; 3] {
    [avg.load_sum, avg.runnable_sum, avg.util_sum.into()]
}

fn averages(avg: &Avg) -> [u64; 3] {
    [avg.load_avg, avg.runnable_avg, avg.util_avg]
}

/// Position of a record's clock, which is the same however often it was read.
fn position(avg: &Avg) -> (u64, u32) {
    (avg.last_update_time_ns, avg.period_contrib)
}

/// Periods of a record that begin in `units` behind position `at`, and the position after them.
fn crosses(at: u64, units: u64) -> (u64, u64) {
    ((at + units) / PERIOD_UNITS, (at + units) % PERIOD_UNITS)
}

/// Gaps between walks, ns: within a period, ticks, the 32 ms of walks, long.
fn gaps() -> impl Strategy<Value = Vec<u64>> {
    let gap = prop_oneof![1u64..1_048_576, 1_000_000u64..11_000_000, 30_000_000u64..40_000_000, 1u64..3_000_000_000];
    prop::collection::vec(gap, 1..60)
}

fn policy(profile: usize) -> Policy {
    Policy::profile(profiles()[profile]).expect("profile exists")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: kept(), ..ProptestConfig::default() })]

    /// A reader that decays by the periods between the walks' moments, one after another, needs nothing else of them:
    /// its sums are the walks' to the bit, and so are clock and position.
    #[test]
    fn a_reader_that_takes_the_walks_periods_has_their_sums(
        past in past(), gaps in gaps(), profile in 0..profiles().len(), capacity in 100u32..=1024
    ) {
        let policy = policy(profile);
        let (start, mut now) = left_by(&policy, capacity, &past);
        let mut walked = start;
        let mut read = records(&start).map(|avg| (sums(&avg), u64::from(avg.period_contrib), avg.last_update_time_ns));
        for gap in gaps {
            now += gap;
            walk(&mut walked, &policy, now);
            // The clock that the records of an idle CPU go by does not wait: it is the walk's, and any reader's.
            let clock_ns = walked.ctx(&policy, &walked.cfs).now;
            for (sums, at, since_ns) in &mut read {
                let units = (clock_ns - *since_ns) / UNIT_NS;
                let (periods, position) = crosses(*at, units);
                (*at, *since_ns) = (position, *since_ns + units * UNIT_NS);
                if periods > 0 {
                    *sums = sums.map(|sum| decay_load(sum, periods));
                }
            }
        }
        for ((avg, before), (read, at, since_ns)) in records(&walked).iter().zip(records(&start)).zip(read) {
            if *avg == before && sums(avg) == [0; 3] {
                // A signal that this release has not.
                continue;
            }
            prop_assert_eq!(sums(avg), read);
            prop_assert_eq!(position(avg), (since_ns, at as u32));
        }
    }

    /// Only the number of periods that each walk crosses counts, not when in them it comes: walks at other moments of
    /// the same periods leave the same record behind, averages included.
    #[test]
    fn walks_at_other_moments_of_the_same_periods_leave_the_same(
        past in past(), steps in prop::collection::vec((1u64..40, 0u64..1023, 0u64..1023), 1..60),
        profile in 0..profiles().len(), capacity in 100u32..=1024
    ) {
        let policy = policy(profile);
        let (start, idle_ns) = left_by(&policy, capacity, &past);
        let (mut one, mut other) = (start, start);
        // The first unit of the record's next period, on the wall clock.
        let (since_ns, at) = position(&start.cfs.avg);
        let ahead_ns = start.ctx(&policy, &start.cfs).now - since_ns;
        let mut period_ns = idle_ns - ahead_ns + (PERIOD_UNITS - u64::from(at)) * UNIT_NS;
        for (periods, first, second) in steps {
            period_ns += periods * PERIOD_UNITS * UNIT_NS;
            walk(&mut one, &policy, period_ns + first * UNIT_NS);
            walk(&mut other, &policy, period_ns + second * UNIT_NS);
        }
        let end_ns = period_ns + 2 * PERIOD_UNITS * UNIT_NS;
        [&mut one, &mut other].into_iter().for_each(|rq| walk(rq, &policy, end_ns));
        prop_assert_eq!(one.cfs.avg, other.cfs.avg);
    }

    /// One step instead of many is not the same to the bit, for each step truncates. Clock and position are; a sum is
    /// off by at most 3 for each step and 141 for any number of steps. Averages are off by at most 1 where the last
    /// walk crossed a period; one that did not leaves the averages of the walk before it, and a late reader has newer
    /// ones.
    #[test]
    fn one_step_is_off_by_the_truncations_of_many(
        past in past(), gaps in gaps(), profile in 0..profiles().len(), capacity in 100u32..=1024
    ) {
        let policy = policy(profile);
        let (start, mut now) = left_by(&policy, capacity, &past);
        let (mut walked, mut lazy, steps) = (start, start, gaps.len() as u64);
        for gap in gaps {
            now += gap;
            walk(&mut walked, &policy, now);
        }
        now += PERIOD_UNITS * UNIT_NS;
        walk(&mut walked, &policy, now);
        walk(&mut lazy, &policy, now);
        for (many, one) in records(&walked).iter().zip(records(&lazy)) {
            prop_assert_eq!(position(many), position(&one));
            let may = LOST_PER_STEP * steps.min(STEPS_LEFT);
            for (many, one) in sums(many).into_iter().zip(sums(&one)) {
                prop_assert!(many <= one + LOST_PER_STEP && one <= many + may, "sum {} {}, {} steps", many, one, steps);
            }
            for (many, one) in averages(many).into_iter().zip(averages(&one)) {
                prop_assert!(many.abs_diff(one) <= 1, "average {} {}", many, one);
            }
        }
    }
}

/// A CPU that was busy for a second, walked over every `walk_us` for two: the largest distance of a late reader's
/// utilization sum and average at any walk, over eight phases.
fn largest_distance(walk_us: u64) -> (u64, u64) {
    let policy = Policy::profile("7.2").expect("profile exists");
    let mut largest = (0, 0);
    for phase in 0..8 {
        let (start, idle_ns) = left_by(&policy, 1024, &vec![(1024, 1_000_000 + 131 * phase, true, false)]);
        let mut walked = start;
        for i in 1..=2_000_000 / walk_us {
            let (now, mut lazy) = (idle_ns + i * walk_us * 1000, start);
            walk(&mut walked, &policy, now);
            walk(&mut lazy, &policy, now);
            let (many, one) = (walked.cfs.avg, lazy.cfs.avg);
            largest.0 = largest.0.max(u64::from(many.util_sum.abs_diff(one.util_sum)));
            largest.1 = largest.1.max(many.util_avg.abs_diff(one.util_avg));
        }
    }
    largest
}

/// Largest distances for ticks of three lengths and the 32 ms of walks, which the bounds above leave open: of a sum of
/// up to 48.9 million.
#[test]
fn how_far_a_late_reader_is_from_walks_of_each_length() {
    let all = [1100, 4000, 10_000, 32_000].map(largest_distance);
    assert_eq!(all, [(25, 0), (8, 0), (3, 0), (1, 0)]);
}
