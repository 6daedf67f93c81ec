// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps that add up: every sum is made anew from a list of all queued tasks.

use std::collections::BTreeMap;

use crate::pelt::{Avg, MIN_DIVIDER, decay, divider};
use crate::rules::{Rules, Uclamp};

/// Weight of a task and its inverse times 2^32, as the kernel's tables have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Nice 0 = 1024.
    pub weight: u64,
    /// 2^32 / weight.
    pub inverse: u64,
}

/// A task on a CPU's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Lower and upper clamp.
    pub clamps: (i64, i64),
    /// Real utilization, as last passed.
    pub util: i64,
    /// Estimate within the clamps it came with; `None` once its dequeue has begun.
    pub estimate: Option<i64>,
    /// Upper clamp in force when it was last looked at: others may have raised it.
    pub cap: i64,
    /// Weight.
    pub weight: Weight,
}

impl Queued {
    /// Utilization within the clamps.
    pub fn clamped(&self) -> i64 {
        within(self.util, self.clamps.0, self.cap)
    }
}

/// Value that is left after so many period boundaries.
pub fn faded(value: i64, periods: u64) -> i64 {
    if periods == 0 { value } else { decay(value as u64, periods) as i64 }
}

fn within(util: i64, min: i64, max: i64) -> i64 {
    util.max(min).min(max)
}

/// One CPU.
#[derive(Clone, Debug)]
pub struct Cpu {
    form: Uclamp,
    /// Queued tasks by number.
    pub queued: BTreeMap<u32, Queued>,
    /// Sum as frequency and placement see it, `sum` only.
    pub root: i64,
    /// Rest that sleepers left, `debt` only.
    pub debt: i64,
    removed: i64,
    /// The hungriest task and its utilization over its weight, times 2^32.
    record: Option<(u32, u128)>,
    /// Time of the last look, in units of 1024 ns since some period boundary; `None`: never.
    last: Option<u64>,
}

impl Cpu {
    /// CPU without tasks.
    pub fn new(form: Uclamp) -> Cpu {
        Cpu { form, queued: BTreeMap::new(), root: 0, debt: 0, removed: 0, record: None, last: None }
    }

    /// Sum of clamped utilizations.
    pub fn sum(&self) -> i64 {
        if self.form == Uclamp::Sum { self.queued.values().map(Queued::clamped).sum() } else { 0 }
    }

    /// Sum of what clamps change.
    pub fn bias(&self) -> i64 {
        if self.form == Uclamp::Sum { 0 } else { self.queued.values().map(|t| t.clamped() - t.util).sum() }
    }

    /// Sum of estimates within clamps.
    pub fn estimate(&self) -> i64 {
        self.queued.values().filter_map(|t| t.estimate).sum()
    }

    /// The root queue is at `units`; no task that left waits to be taken out when `none_left`; it has utilization
    /// `util`.
    pub fn follow(&mut self, units: u64, none_left: bool, util: i64) {
        let periods = self.last.map_or(0, |last| (units / 1024).saturating_sub(last / 1024));
        if none_left {
            self.root = (self.root - self.removed).max(0);
            self.debt = (self.debt - self.removed).max(0);
            self.removed = 0;
        }
        let over = (self.root - self.sum()).max(0);
        self.root = self.sum() + faded(over, periods);
        self.debt = if util == 0 { 0 } else { faded(self.debt, periods) };
        self.last = Some(units);
    }

    /// A queued task's real utilization, or its clamps, are others.
    pub fn told(&mut self, id: u32, clamps: (i64, i64), util: i64) {
        let mut cap = if clamps.1 == 1024 && self.form != Uclamp::Sum { i64::MAX } else { clamps.1 };
        let mut task = Queued { clamps, util, cap, ..self.queued[&id] };
        if self.form == Uclamp::BiasWeighted {
            let need = u128::from(task.weight.inverse) * task.clamped() as u128;
            match self.record {
                Some((other, record)) if other != id && need <= record => {
                    let entitled = (record * u128::from(task.weight.weight)) >> 32;
                    cap = cap.max(entitled.min(1024) as i64);
                }
                _ => self.record = Some((id, need)),
            }
        }
        task.cap = cap;
        self.queued.insert(id, task);
    }

    /// A task joins; `left` = what it left as debt when it went to sleep, aged.
    pub fn join(&mut self, id: u32, weight: Weight, estimate: i64, clamps: (i64, i64), util: i64, left: i64) {
        if self.form == Uclamp::Debt {
            self.debt = (self.debt - left).max(0);
        }
        let estimate = Some(within(estimate, clamps.0, clamps.1));
        self.queued.insert(id, Queued { clamps, util, estimate, cap: clamps.1, weight });
        self.told(id, clamps, util);
        self.root = self.root.max(self.sum());
    }

    /// A task leaves; what has to come out of the averages, and what it leaves behind.
    pub fn part(&mut self, id: u32, migrates: bool) -> (i64, i64) {
        let task = self.queued.remove(&id).expect("it is queued");
        if self.record.is_some_and(|(holder, _)| holder == id) {
            self.record = None;
        }
        let over = if migrates { 0 } else { (task.util - task.clamped()).max(0) };
        match self.form {
            Uclamp::Sum => (0, task.clamped()),
            Uclamp::Debt => {
                self.debt += over;
                (0, over)
            }
            _ => (over, 0),
        }
    }

    /// A sleeper leaves for good.
    pub fn left(&mut self, value: i64) {
        self.removed += value;
    }

    /// Clamped utilization of the CPU.
    pub fn util(&self, real: i64) -> i64 {
        match self.form {
            Uclamp::Sum => self.root,
            Uclamp::Debt => (real + self.bias() - self.debt).max(0),
            _ => (real + self.bias()).max(0),
        }
    }

    /// Does a task that joined have the governor asked? Its look before was without this task's clamps.
    pub fn asks(&self, id: u32) -> bool {
        let task = &self.queued[&id];
        match self.form {
            Uclamp::BiasWeighted => task.clamped() > task.util,
            Uclamp::Debt => task.clamped() != task.util,
            _ => true,
        }
    }

    /// Clamped utilization with waiting tasks: they are no demand of a CPU that is capped.
    pub fn boosted(&self, clamped: i64, real: i64, runnable: i64) -> i64 {
        match self.form {
            Uclamp::Sum | Uclamp::Debt if clamped < 1024 && real > clamped + 80 => clamped,
            Uclamp::Sum => clamped.max(runnable),
            Uclamp::Debt if real == 0 => clamped.max(runnable),
            _ if real == 0 => clamped,
            _ => clamped.max(clamped * runnable / real),
        }
    }
}

/// Takes what a cap had cut off out of averages: the sum keeps at least what the average is worth at a period's start.
pub fn take_bias(rules: &Rules, avg: &mut Avg, cut: u64) {
    let sum = avg.util_sum.saturating_sub(cut * divider(rules, avg));
    avg.util_avg = avg.util_avg.saturating_sub(cut);
    avg.util_sum = sum.max(avg.util_avg * MIN_DIVIDER);
}

/// Android's form with a task that comes or goes: the groups of a CPU, each (utilization, throttle), `task` added to
/// (or taken from) the one it is in, and what is in no group; estimates stand beside that.
pub fn throttled_with(
    root: i64,
    groups: &[(i64, i64)],
    task: (Option<usize>, i64),
    (estimate, capacity): (i64, i64),
) -> i64 {
    let (own, delta) = task;
    let nobodys = root - groups.iter().map(|group| group.0).sum::<i64>();
    let limited = |(at, &(util, throttle)): (usize, &(i64, i64))| {
        let util = if own == Some(at) { (util + delta).max(0) } else { util };
        util.min(throttle * capacity / 1024)
    };
    let all = nobodys + groups.iter().enumerate().map(limited).sum::<i64>() + if own.is_none() { delta } else { 0 };
    all.max(0).max(estimate).min(capacity)
}

/// Android's form: groups of (utilization, throttle) are limited one by one, what is in none of them is not.
pub fn throttled(root: u64, estimate: u64, groups: &[(u64, u64)], capacity: u64) -> u64 {
    let inside: u64 = groups.iter().map(|group| group.0).sum();
    let limited: u64 = groups.iter().map(|&(util, throttle)| util.min(throttle * capacity / 1024)).sum();
    (limited + root.saturating_sub(inside)).max(estimate).min(capacity)
}
