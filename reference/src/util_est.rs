// SPDX-License-Identifier: GPL-2.0-or-later
//! The estimate that survives sleep (docs/rules/load-tracking.md#estimate).

use crate::pelt::Avg;
use crate::rq::{CfsRq, Se};
use crate::rules::{Rules, UtilEst};

/// Top bit of the stored value: averages were not published since the last sample.
pub const UNCHANGED: u64 = 0x8000_0000;
/// Differences below this do not move the estimate.
pub const MARGIN: u64 = 1024 / 100;

/// The bit in which a variant keeps the mark: the first two overwrite the last bit of the sample.
fn mark(rules: &Rules) -> u64 {
    match rules.util_est {
        UtilEst::U1 | UtilEst::U1Any => 1,
        UtilEst::Off | UtilEst::U2 | UtilEst::U3 | UtilEst::U4 => UNCHANGED,
    }
}

/// The averages were published while the task was not asleep: the next sample counts again.
pub fn clear_mark(rules: &Rules, avg: &mut Avg) {
    avg.util_est_enqueued &= !mark(rules);
}

/// A task's estimate.
fn estimate(rules: &Rules, se: &Se) -> u64 {
    let enqueued = se.avg.util_est_enqueued & !UNCHANGED;
    match rules.util_est {
        UtilEst::Off => 0,
        UtilEst::U1 => enqueued.max(se.avg.util_est_ewma) | 1,
        UtilEst::U1Any | UtilEst::U2 => enqueued.max(se.avg.util_est_ewma),
        UtilEst::U3 | UtilEst::U4 => enqueued,
    }
}

/// Estimate with which the root queue counts a task.
fn counted(rules: &Rules, se: &Se) -> u64 {
    match rules.util_est {
        UtilEst::U1Any => estimate(rules, se) | 1,
        _ => estimate(rules, se),
    }
}

/// A task's utilization for placement.
pub fn task_util_est(rules: &Rules, se: &Se) -> u64 {
    se.avg.util_avg.max(estimate(rules, se))
}

/// Adds a task's estimate to its root queue.
pub fn enqueue(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.util_est += counted(rules, se);
}

/// Takes a task's estimate off its root queue.
pub fn dequeue(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.util_est -= cfs.util_est.min(counted(rules, se));
}

/// `old` moved a quarter of the way towards `sample`, which lies below it or above it.
fn quarter_step(old: u64, sample: u64) -> u64 {
    (3 * old + sample) / 4
}

/// Takes one sample when a task goes to sleep.
pub fn sample(rules: &Rules, avg: &mut Avg, cap_orig: u64) {
    if avg.util_est_enqueued & mark(rules) != 0 {
        return;
    }
    match rules.util_est {
        UtilEst::Off => {}
        UtilEst::U1 => sample_u1(avg, Some(cap_orig)),
        UtilEst::U1Any => sample_u1(avg, None),
        UtilEst::U2 => sample_u2(avg, cap_orig),
        UtilEst::U3 => sample_single(avg, Some(cap_orig)),
        UtilEst::U4 => sample_single(avg, None),
    }
}

/// The sample is marked first, and the marked value is what the filter sees.
fn sample_u1(avg: &mut Avg, capacity_check: Option<u64>) {
    let sample = avg.util_avg | 1;
    let too_large = capacity_check.is_some_and(|cap_orig| avg.util_avg > cap_orig);
    if sample.abs_diff(avg.util_est_ewma) < MARGIN || too_large {
        return;
    }
    avg.util_est_enqueued = sample;
    avg.util_est_ewma = quarter_step(avg.util_est_ewma, sample);
}

fn sample_u2(avg: &mut Avg, cap_orig: u64) {
    let (util, previous) = (avg.util_avg, avg.util_est_enqueued);
    if avg.util_est_ewma < util {
        avg.util_est_ewma = util;
        avg.util_est_enqueued = util | UNCHANGED;
    } else if avg.util_est_ewma - util < MARGIN {
        if previous.abs_diff(util) >= MARGIN {
            avg.util_est_enqueued = util | UNCHANGED;
        }
    } else if util <= cap_orig {
        avg.util_est_ewma = quarter_step(avg.util_est_ewma, util);
        avg.util_est_enqueued = util | UNCHANGED;
    }
}

/// U3, with the check against the CPU's capacity, and U4, without it.
fn sample_single(avg: &mut Avg, capacity_check: Option<u64>) {
    let (util, old) = (avg.util_avg, avg.util_est_enqueued);
    let new = if old <= util {
        util
    } else if old - util < MARGIN {
        old
    } else if capacity_check.is_some_and(|cap_orig| util > cap_orig) {
        return;
    } else if util + MARGIN < avg.runnable_avg {
        old
    } else {
        quarter_step(old, util)
    };
    avg.util_est_enqueued = new | UNCHANGED;
}
