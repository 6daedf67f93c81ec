// SPDX-License-Identifier: GPL-2.0-only
//! The estimate that survives sleep (SPEC A.15).

use crate::pelt::Avg;
use crate::rq::{CfsRq, Se};
use crate::rules::{Rules, UtilEst};

/// Top bit of the stored value: averages were not published since the last sample.
pub const UNCHANGED: u64 = 0x8000_0000;
/// Differences below this do not move the estimate.
pub const MARGIN: u64 = 1024 / 100;

/// The averages were published: the next sample counts again.
pub fn clear_mark(avg: &mut Avg) {
    avg.util_est_enqueued &= !UNCHANGED;
}

/// A task's estimate.
fn estimate(rules: &Rules, se: &Se) -> u64 {
    let enqueued = se.avg.util_est_enqueued & !UNCHANGED;
    match rules.util_est {
        UtilEst::Off => 0,
        UtilEst::U1 | UtilEst::U2 => enqueued.max(se.avg.util_est_ewma),
        UtilEst::U3 | UtilEst::U4 => enqueued,
    }
}

/// A task's utilization for placement.
pub fn task_util_est(rules: &Rules, se: &Se) -> u64 {
    se.avg.util_avg.max(estimate(rules, se))
}

/// Adds a task's estimate to its root queue.
pub fn enqueue(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.util_est += estimate(rules, se);
}

/// Takes a task's estimate off its root queue.
pub fn dequeue(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.util_est -= cfs.util_est.min(estimate(rules, se));
}

/// `old` moved a quarter of the way towards `sample`, which lies below it or above it.
fn quarter_step(old: u64, sample: u64) -> u64 {
    (3 * old + sample) / 4
}

/// Takes one sample when a task goes to sleep.
pub fn sample(rules: &Rules, avg: &mut Avg, cap_orig: u64) {
    if avg.util_est_enqueued & UNCHANGED != 0 {
        return;
    }
    match rules.util_est {
        UtilEst::Off => {}
        UtilEst::U1 => sample_u1(avg, cap_orig),
        UtilEst::U2 => sample_u2(avg, cap_orig),
        UtilEst::U3 => sample_single(avg, Some(cap_orig)),
        UtilEst::U4 => sample_single(avg, None),
    }
}

fn sample_u1(avg: &mut Avg, cap_orig: u64) {
    let util = avg.util_avg;
    if util.abs_diff(avg.util_est_ewma) < MARGIN || util > cap_orig {
        return;
    }
    avg.util_est_enqueued = util | UNCHANGED;
    avg.util_est_ewma = quarter_step(avg.util_est_ewma, util);
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
