// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties of the signals under arbitrary sequences of events.

use crate::kept::kept;
use pelton_core::{Avg, Ctx, Policy, Rq, Se, dequeue, profiles, value};
use proptest::prelude::*;

/// Largest distance of the root from the sum of its tasks, per task and in units of the average: one of truncation, and
/// two because one long update of a sleeper rounds differently from the queue's many short ones.
const SLACK_PER_TASK: u64 = 3;
/// Gain of a running task's average in one period, 1024 * (1 - 0.5^(1/32)), and one for truncation.
const ASTRAY_PER_TASK: f64 = 23.0;
/// Time in which a sum halves.
const HALF_LIFE_NS: f64 = 32.0 * 1024.0 * 1024.0;

/// A unit of the average in units of the sum, at most.
const UNIT: u64 = 46_718;
const UNIT_CONSTANT: u64 = 47_742;

/// Limit of a sum at the start of a period in exact arithmetic, rounded up: 1024 * y / (1 - y). The divisor there is
/// 46718, because the kernel's constants were computed with truncation; so an always running record can show 1025.
const SUM_LIMIT: u64 = 46_765;

fn policy(name: &str) -> Policy {
    Policy::profile(name).expect("profile exists")
}

fn ctx(pol: &Policy, now: u64) -> Ctx<'_> {
    Ctx { pol, now, cap_orig: 1024, freq_scale: 1024 }
}

/// One CPU with a few tasks, driven as a host would, without rules of its own.
struct World {
    pol: Policy,
    rq: Rq,
    tasks: Vec<Se>,
    curr: Option<usize>,
    now: u64,
    /// Error that departures of runnable tasks may have left in the root's sum, where the profile takes them out by
    /// averages.
    astray: f64,
}

impl World {
    fn new(pol: Policy, tasks: usize, cap_orig: u32) -> Self {
        let rq = Rq::new(&pol, 0, cap_orig, 1024);
        let tasks = vec![Se::new(1024); tasks];
        Self { pol, rq, tasks, curr: None, now: 0, astray: 0.0 }
    }

    fn idle(&self) -> bool {
        self.curr.is_none()
    }

    fn wake(&mut self, i: usize) {
        let idle = self.idle();
        if self.tasks[i].on_rq == 0 {
            self.rq.enqueue_task(&self.pol, &mut self.tasks[i], self.now, 0, idle);
        }
    }

    fn put_current(&mut self) {
        if let Some(i) = self.curr.take() {
            self.rq.switch_fair(&self.pol, Some(&mut self.tasks[i]), None, self.now, 0, false);
        }
    }

    fn pick(&mut self, i: usize) {
        let idle = self.idle();
        if self.tasks[i].on_rq == 1 && self.curr != Some(i) {
            self.put_current();
            self.rq.switch_fair(&self.pol, None, Some(&mut self.tasks[i]), self.now, 0, idle);
            self.curr = Some(i);
        }
    }

    /// The task sleeps (or, with `MIGRATE`, leaves); the CPU goes idle when it was the current one.
    fn leave(&mut self, i: usize, flags: u32) {
        let idle = self.idle();
        if self.tasks[i].on_rq == 0 {
            return;
        }
        if flags & dequeue::MIGRATE != 0 {
            self.astray += ASTRAY_PER_TASK * UNIT_CONSTANT as f64;
        }
        self.rq.dequeue_task(&self.pol, &mut self.tasks[i], self.now, 0, idle, flags);
        if self.curr == Some(i) {
            self.curr = None;
            self.rq.switch_idle(&self.pol, Some(&mut self.tasks[i]), self.now, 0, false);
        }
    }

    fn tick(&mut self) {
        if let Some(i) = self.curr {
            self.rq.tick_fair(&self.pol, &mut self.tasks[i], self.now, 0);
        }
    }

    fn step(&mut self, gap_ns: u64, action: u8, who: usize) {
        self.now += gap_ns;
        self.astray *= 0.5f64.powf(gap_ns as f64 / HALF_LIFE_NS);
        let who = who % self.tasks.len();
        match action {
            0 | 1 => self.wake(who),
            2 | 3 => self.pick(who),
            4 => self.leave(who, dequeue::SLEEP),
            5 => self.leave(who, dequeue::MIGRATE),
            _ => self.tick(),
        }
    }

    /// The attached tasks' utilization sums added up, all brought to the queue's last update. Sums, because a queue and
    /// a task publish their averages at different moments of a period, between which a task can gain 21.
    fn task_sum(&self) -> u64 {
        let attached = self.tasks.iter().filter(|se| se.avg.last_update_time_ns != 0);
        attached
            .map(|se| {
                let mut at_queue = *se;
                let now = self.rq.cfs.avg.last_update_time_ns;
                at_queue.update(&Ctx { now, ..self.rq.ctx(&self.pol, &self.rq.cfs) });
                u64::from(at_queue.avg.util_sum)
            })
            .sum()
    }
}

impl World {
    /// The root's sum without what waits to be removed (4.12).
    fn root_sum(&self) -> u64 {
        u64::from(self.rq.cfs.avg.util_sum).saturating_sub(self.rq.cfs.removed_util * UNIT_CONSTANT)
    }

    /// 4.12 takes a task that leaves out by its average; 5.10 and 5.15 make the sum anew from it. An average is that of
    /// the last change of period, and tasks and queues change periods at different moments.
    fn slack(&self) -> u64 {
        let rebuilt = [value::SUM_FLOOR_REBUILT, value::SUM_FLOOR_REBUILT_LOAD].contains(&self.pol.sum_floor);
        let inexact = self.pol.queued_migrant == value::QUEUED_MIGRANT_REMOVED || rebuilt;
        let per_task = SLACK_PER_TASK * self.tasks.len() as u64 * UNIT;
        per_task + if inexact { self.astray as u64 } else { 0 }
    }
}

fn steps() -> impl Strategy<Value = Vec<(u64, u8, usize)>> {
    prop::collection::vec((1u64..20_000_000, 0u8..8, 0usize..5), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: kept(), ..ProptestConfig::default() })]

    #[test]
    fn utilization_never_exceeds_its_range(gaps in prop::collection::vec((0u64..100_000_000, 0u32..2), 1..200)) {
        let pol = policy("7.2");
        let (mut avg, mut now) = (Avg::default(), 0);
        for (gap, running) in gaps {
            now += gap;
            avg.update(&ctx(&pol, now), running);
            prop_assert!(avg.util_avg <= 1025);
            prop_assert!(u64::from(avg.util_sum) <= (SUM_LIMIT + u64::from(avg.period_contrib)) * 1024);
            prop_assert!(avg.period_contrib < 1024);
        }
    }

    #[test]
    fn the_root_is_the_sum_of_its_tasks(steps in steps(), profile in 0..profiles().len(), cap in 100u32..=1024) {
        let mut world = World::new(policy(profiles()[profile]), 5, cap);
        for (gap, action, who) in steps {
            world.step(gap, action, who);
            let (root, tasks, slack) = (world.root_sum(), world.task_sum(), world.slack());
            prop_assert!(root.abs_diff(tasks) <= slack, "{}: root {root}, tasks {tasks}", profiles()[profile]);
            prop_assert!(world.rq.cfs.avg.util_avg <= 5 * 1025);
            prop_assert!(world.rq.cfs.removed_util <= 5 * 1025);
        }
    }

    #[test]
    fn splitting_an_interval_moves_no_clock_and_little_sum(
        start in 0u64..2_000_000, first in 0u64..40_000_000, second in 0u64..40_000_000, running in 0u32..2
    ) {
        let pol = policy("7.2");
        let mut whole = Avg::default();
        whole.update(&ctx(&pol, start), 1);
        let mut split = whole;
        whole.update(&ctx(&pol, start + first + second), running);
        split.update(&ctx(&pol, start + first), running);
        split.update(&ctx(&pol, start + first + second), running);
        prop_assert_eq!(whole.period_contrib, split.period_contrib);
        prop_assert_eq!(whole.last_update_time_ns, split.last_update_time_ns);
        let crossed = (first + second) / (1024 * 1024) + 2;
        prop_assert!(u64::from(whole.util_sum.abs_diff(split.util_sum)) < 2 * 1024 * crossed);
    }

    #[test]
    fn time_shift_changes_nothing(steps in steps(), shift in 0u64..1 << 40) {
        let mut here = World::new(policy("7.2"), 5, 1024);
        let mut there = World::new(policy("7.2"), 5, 1024);
        let shift = shift << 10;
        there.now = shift;
        there.rq = Rq::new(&there.pol, shift, 1024, 1024);
        for (gap, action, who) in steps {
            here.step(gap, action, who);
            there.step(gap, action, who);
            prop_assert_eq!(here.rq.cfs.avg.util_sum, there.rq.cfs.avg.util_sum);
            prop_assert_eq!(here.rq.cfs.util_est, there.rq.cfs.util_est);
        }
    }

    #[test]
    fn queue_counters_return_to_zero(steps in steps(), profile in 0..profiles().len()) {
        let mut world = World::new(policy(profiles()[profile]), 5, 700);
        for (gap, action, who) in steps {
            world.step(gap, action, who);
        }
        for i in 0..5 {
            world.leave(i, dequeue::SLEEP);
        }
        let cfs = &world.rq.cfs;
        let left = (cfs.load_weight, cfs.nr_queued, cfs.h_nr_runnable, cfs.has_curr, cfs.util_est);
        prop_assert_eq!(left, (0, 0, 0, 0, 0));
    }

    #[test]
    fn always_busy_saturates_at_any_capacity(cap in 64u32..=1024, tick_ms in 1u64..=10) {
        let mut world = World::new(policy("7.2"), 1, cap);
        world.wake(0);
        world.pick(0);
        let busy_ms = 350 * 1024 / u64::from(cap) + 20;
        while world.now < busy_ms * 1_000_000 {
            world.now += tick_ms * 1_000_000;
            world.tick();
        }
        prop_assert!(world.rq.cfs.avg.util_avg >= 1022, "{}", world.rq.cfs.avg.util_avg);
    }
}

/// Highest utilization of a task that does `work_ns` at full speed every `period_ns`, on a CPU of `cap`.
fn peak(cap: u32, work_ns: u64, period_ns: u64) -> u64 {
    let mut world = World::new(policy("7.2"), 1, cap);
    let run_ns = work_ns * 1024 / u64::from(cap);
    let mut peak = 0;
    for i in 0..200 {
        world.now = (i + 1) * period_ns;
        world.wake(0);
        world.pick(0);
        world.now += run_ns;
        world.leave(0, dequeue::SLEEP);
        if i > 100 {
            peak = peak.max(world.tasks[0].avg.util_avg);
        }
    }
    peak
}

#[test]
fn an_always_running_record_can_show_1025() {
    let pol = policy("7.2");
    let mut avg = Avg::default();
    for period in 0..2000u64 {
        avg.update(&ctx(&pol, (period * 1024 + 44) * 1024), 1);
        avg.update(&ctx(&pol, (period + 1) * 1024 * 1024), 1);
    }
    assert_eq!((avg.util_avg, avg.util_sum), (1025, 47_886_341));
}

#[test]
fn the_same_work_has_the_same_peak_at_half_speed() {
    for (work_us, period_us) in [(1000, 16_000), (2000, 10_000), (4000, 16_000), (6000, 33_000)] {
        let full = peak(1024, work_us * 1000, period_us * 1000);
        let half = peak(512, work_us * 1000, period_us * 1000);
        assert!(
            full.abs_diff(half) * 50 <= full + 50,
            "{work_us}/{period_us} us: {full} at full, {half} at half speed"
        );
    }
}

/// Load of an idle CPU that is brought to now in one step is what many steps make of it, each longer than a period:
/// `blocked_update=lazy` rests on it.
#[test]
fn one_long_decay_is_as_good_as_many() {
    let start = 1u64 << 40;
    for (p, (busy_ms, steps, step_us)) in
        [("5.4", (30, 12, 4000)), ("5.10", (200, 30, 1100)), ("7.2", (7, 50, 10_000)), ("4.19", (90, 100, 1333))]
    {
        let policy = self::policy(p);
        let mut walked = Rq::new(&policy, start, 1024, 1024);
        let mut se = Se::new(1024);
        walked.enqueue_task(&policy, &mut se, start, 0, true);
        let ctx = walked.ctx(&policy, &walked.cfs);
        walked.cfs.set_next_entity(&ctx, &mut se, None);
        let stop = start + busy_ms * 1_000_000;
        walked.dequeue_task(&policy, &mut se, stop, 0, false, dequeue::SLEEP);
        walked.clock_enter_idle(&policy);
        let mut lazy = walked;
        assert!(lazy.cfs.avg.util_avg > 0, "{p}");
        for i in 1..=steps {
            walked.update_blocked(&policy, stop + i * step_us * 1000, 0, pelton_core::runs::IDLE, 0);
        }
        lazy.update_blocked(&policy, stop + steps * step_us * 1000, 0, pelton_core::runs::IDLE, 0);
        let (a, b) = (walked.cfs.avg, lazy.cfs.avg);
        assert!(a.util_avg.abs_diff(b.util_avg) <= 1, "{p}: util {} {}", a.util_avg, b.util_avg);
        assert!(a.load_avg.abs_diff(b.load_avg) <= 1, "{p}: load {} {}", a.load_avg, b.load_avg);
        assert!(a.runnable_avg.abs_diff(b.runnable_avg) <= 1, "{p}: runnable");
    }
}
