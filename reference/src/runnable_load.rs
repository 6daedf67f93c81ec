// SPDX-License-Identifier: GPL-2.0-or-later
//! Runnable load of 4.12 to 5.4: what is queued on a CPU weighs, what sleeps there does not.

use crate::group::SHARES_MIN;
use crate::rq::{CfsRq, Se};
use crate::rules::{Rules, RunnableSignal};

/// Do the runnable records hold load?
pub fn is_kept(rules: &Rules) -> bool {
    matches!(rules.runnable_signal, RunnableSignal::Load | RunnableSignal::LoadWhole)
}

/// A stored runnable weight in whole units.
pub fn whole_units(stored: u64) -> u64 {
    stored / 1024
}

/// The factor between an entity's runnable sum and its average.
pub fn factor(rules: &Rules, se: &Se) -> u64 {
    if is_kept(rules) { whole_units(se.runnable_weight) } else { 1 }
}

fn weighted_sum(se: &Se) -> u64 {
    whole_units(se.runnable_weight) * se.avg.runnable_sum
}

/// An entity is on its queue from now on.
pub fn join(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    if is_kept(rules) {
        cfs.runnable_weight += se.runnable_weight;
        cfs.avg.runnable_avg += se.avg.runnable_avg;
        cfs.avg.runnable_sum += weighted_sum(se);
    }
}

/// Takes an entity off the runnable load.
pub fn leave(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    if is_kept(rules) {
        cfs.runnable_weight = cfs.runnable_weight.saturating_sub(se.runnable_weight);
        cfs.avg.runnable_avg = cfs.avg.runnable_avg.saturating_sub(se.avg.runnable_avg);
        cfs.avg.runnable_sum = cfs.avg.runnable_sum.saturating_sub(weighted_sum(se));
    }
}

/// Runnable weight of the entity of `owned`, whose weight is `stored`.
pub fn of_group(rules: &Rules, owned: &CfsRq, stored: u64) -> u64 {
    if rules.runnable_signal != RunnableSignal::Load {
        return stored;
    }
    let queued = owned.avg.runnable_avg.max(whole_units(owned.runnable_weight));
    let everything = owned.avg.load_avg.max(owned.load_weight());
    let part = stored * queued / everything.max(1);
    part.max(SHARES_MIN).min(stored)
}

/// The load sum of a group's entity was changed from below, to `sum`. What leaves the queue's sum is the old sum times
/// the weight, not times the runnable weight: so it stands in these releases.
pub fn carried(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, sum: u64, div: u64) {
    if !is_kept(rules) {
        return;
    }
    let weighted = whole_units(se.runnable_weight) * sum;
    let (old_sum, old_avg) = (se.weight() * se.avg.runnable_sum, se.avg.runnable_avg);
    (se.avg.runnable_sum, se.avg.runnable_avg) = (sum, weighted / div);
    if se.on_rq != 0 {
        cfs.avg.runnable_avg = (cfs.avg.runnable_avg + se.avg.runnable_avg).saturating_sub(old_avg);
        cfs.avg.runnable_sum = (cfs.avg.runnable_sum + weighted).saturating_sub(old_sum);
    }
}
