// SPDX-License-Identifier: GPL-2.0-or-later
//! Task groups: propagation from a queue to the entity that stands for it, and shares (docs/rules/groups.md#signals).

use crate::SCALE;
use crate::pelt::{LOAD_AVG_MAX, divider};
use crate::rq::{CfsRq, Ctx, Se, add_load, flag, raise_sum, take_off_load, update_cfs_rq, update_load_avg};
use crate::rules::{
    DecayedContrib, Invariance, Propagation, Rules, SharesKeepEmpty, SharesLoad, SharesSetSame, TgLimit,
};
use crate::runnable_load;

/// Weight of the lightest group entity.
pub const SHARES_MIN: u64 = 2;

/// A group that may be idle (`cpu.idle`).
pub struct IdleGroup {
    /// True for an idle group.
    pub idle: bool,
}

impl IdleGroup {
    /// Tasks come to its queue, `idle` of them idle ones: how many idle ones the queue above gets.
    pub fn idle_above(&self, tasks: i64, idle: i64) -> i64 {
        if self.idle { tasks } else { idle }
    }

    /// Change of the number of idle tasks above, when the group with `tasks`, `own` of them idle ones of themselves,
    /// has just become idle or ceased to be so.
    pub fn changed(&self, tasks: i64, own: i64) -> i64 {
        let [now, before] = [self.idle, !self.idle].map(|idle| if idle { tasks } else { own });
        now - before
    }

    /// Its shares since then.
    pub fn shares(&self) -> i64 {
        if self.idle { 3 } else { 1024 }
    }

    /// May others be written?
    pub fn takes_a_weight(&self) -> bool {
        !self.idle
    }
}

/// `value + delta`, floored at 0.
fn add_signed(value: u64, delta: i128) -> u64 {
    (i128::from(value) + delta).max(0) as u64
}

/// Adds a change of an entity to the average and sum of the queue it sits in.
fn shift(rules: &Rules, avg: &mut u64, sum: &mut u64, avg_delta: i128, sum_delta: i128) {
    *avg = add_signed(*avg, avg_delta);
    *sum = add_signed(*sum, sum_delta);
    raise_sum(rules, *avg, sum);
}

/// Shifts utilization or runnable average: before 6.1 the queue's sum is made anew.
fn shift_unweighted(rules: &Rules, avg: &mut u64, sum: &mut u64, avg_delta: i128, sum_delta: i128, div: u64) {
    shift(rules, avg, sum, avg_delta, sum_delta);
    if rules.propagation != Propagation::Difference {
        *sum = *avg * div;
    }
}

/// Divider that turns an average that is carried up into a sum.
fn carry_divider(rules: &Rules, cfs: &CfsRq) -> u64 {
    match rules.propagation {
        Propagation::FullPeriod => LOAD_AVG_MAX,
        Propagation::Rebuilt | Propagation::RebuiltChanged | Propagation::Difference => divider(rules, &cfs.avg),
    }
}

fn difference(new: u64, old: u64) -> i128 {
    i128::from(new) - i128::from(old)
}

/// Hands what happened in `owned` to its entity `se` and the queue `cfs` that holds it. False when nothing waited.
pub fn propagate(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: &mut CfsRq) -> bool {
    if owned.propagate == 0 {
        return false;
    }
    owned.propagate = 0;
    cfs.propagate = 1;
    cfs.prop_runnable_sum += owned.prop_runnable_sum;
    propagate_util(ctx.rules, cfs, se, owned);
    if !runnable_load::is_kept(ctx.rules) {
        propagate_runnable(ctx.rules, cfs, se, owned);
    }
    propagate_load(ctx, cfs, se, owned);
    true
}

fn propagate_util(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, owned: &CfsRq) {
    let delta = difference(owned.avg.util_avg, se.avg.util_avg);
    if delta == 0 {
        return;
    }
    let div = carry_divider(rules, cfs);
    let new_sum = owned.avg.util_avg * div;
    let sum_delta = difference(new_sum, se.avg.util_sum);
    se.avg.util_avg = owned.avg.util_avg;
    se.avg.util_sum = new_sum;
    shift_unweighted(rules, &mut cfs.avg.util_avg, &mut cfs.avg.util_sum, delta, sum_delta, div);
}

fn propagate_runnable(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, owned: &CfsRq) {
    let delta = difference(owned.avg.runnable_avg, se.avg.runnable_avg);
    if delta == 0 {
        return;
    }
    let div = carry_divider(rules, cfs);
    let new_sum = owned.avg.runnable_avg * div;
    let sum_delta = difference(new_sum, se.avg.runnable_sum);
    se.avg.runnable_avg = owned.avg.runnable_avg;
    se.avg.runnable_sum = new_sum;
    shift_unweighted(rules, &mut cfs.avg.runnable_avg, &mut cfs.avg.runnable_sum, delta, sum_delta, div);
}

/// Load sum of a group entity after `waiting` came from below.
fn propagated_load_sum(ctx: &Ctx, se: &Se, owned: &CfsRq, waiting: i64, div: u64) -> u64 {
    let sum = if waiting >= 0 {
        (se.avg.load_sum + waiting as u64).min(div)
    } else {
        let per_weight = owned.avg.load_sum.checked_div(owned.load_weight()).unwrap_or(0);
        se.avg.load_sum.min(per_weight)
    };
    let unit = match ctx.rules.invariance {
        Invariance::Clock => SCALE,
        Invariance::Contribution => ctx.scale.cap_orig,
    };
    sum.max(se.avg.util_sum.checked_div(unit).unwrap_or(0))
}

fn propagate_load(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: &mut CfsRq) {
    let waiting = std::mem::take(&mut owned.prop_runnable_sum);
    if waiting == 0 {
        return;
    }
    let div = carry_divider(ctx.rules, cfs);
    let sum = propagated_load_sum(ctx, se, owned, waiting, div);
    let weighted_sum = se.weight() * sum;
    let load_avg = weighted_sum / div;
    let delta = difference(load_avg, se.avg.load_avg);
    let propagation = ctx.rules.propagation;
    if delta == 0 && propagation == Propagation::RebuiltChanged {
        se.avg.load_sum = sum;
        return;
    }
    if delta == 0 && propagation == Propagation::Difference {
        return;
    }
    let sum_delta = difference(weighted_sum, se.weight() * se.avg.load_sum);
    se.avg.load_sum = sum;
    se.avg.load_avg = load_avg;
    shift(ctx.rules, &mut cfs.avg.load_avg, &mut cfs.avg.load_sum, delta, sum_delta);
    if matches!(propagation, Propagation::Rebuilt | Propagation::RebuiltChanged) {
        cfs.avg.load_sum = cfs.avg.load_avg * div;
    }
    runnable_load::carried(ctx.rules, cfs, se, sum, div);
}

/// Common record of the queues of one task group; one per group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskGroup {
    /// Sum of the queues' contributions.
    pub load_avg: u64,
    /// Scaled-down shares; 1024 unless set.
    pub shares: u64,
}

/// Weight of a group's entity on one CPU, as a 64-bit kernel stores it. `present` is its weight now.
pub fn group_shares(rules: &Rules, owned: &CfsRq, tg: &TaskGroup, present: u64) -> u64 {
    if rules.shares_keep_empty == SharesKeepEmpty::On && owned.load_weight() == 0 {
        return present;
    }
    let load = match rules.shares_load {
        SharesLoad::Weight => owned.load_weight(),
        SharesLoad::Larger => owned.load_weight().max(owned.avg.load_avg),
    };
    let total = tg.load_avg.saturating_sub(owned.tg_load_avg_contrib) + load;
    let whole = tg.shares * 1024;
    let part = u128::from(whole) * u128::from(load) / u128::from(total.max(1));
    (part.min(whole.into()) as u64).max(SHARES_MIN)
}

/// Shares of a control group's `cpu.weight`, rounded to the nearest.
pub fn shares_of_weight(cpu_weight: u64) -> u64 {
    (cpu_weight * 1024 + 50) / 100
}

/// Gives the entity of `owned` on `cfs` its present share; true if that is another one.
pub fn refresh_shares(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, owned: &CfsRq, tg: &TaskGroup) -> bool {
    let weight = group_shares(rules, owned, tg, se.full_weight);
    let changes = weight != se.full_weight;
    if changes || rules.shares_set_same == SharesSetSame::On {
        reweight_parts(rules, cfs, se, weight, runnable_load::of_group(rules, owned, weight));
    }
    changes
}

/// The blocked walk at one group queue; events of the queue above.
pub fn walk_group(
    owned_ctx: &Ctx,
    ctx: &Ctx,
    cfs: &mut CfsRq,
    se: &mut Se,
    owned: &mut CfsRq,
    tg: &mut TaskGroup,
    wall: u64,
) -> u64 {
    if update_cfs_rq(owned_ctx, owned) != 0 {
        tg_contrib(owned_ctx.rules, tg, owned, wall);
    }
    let nothing = se.avg.load_avg == 0 && se.avg.util_avg == 0 && owned.propagate == 0;
    if nothing { 0 } else { update_load_avg(ctx, cfs, se, Some(owned), flag::UPDATE_TG) }
}

/// Refreshes what the group's load holds of this queue; true if it changed.
pub fn tg_contrib(rules: &Rules, tg: &mut TaskGroup, owned: &mut CfsRq, now: u64) -> bool {
    let recent = (now.wrapping_sub(owned.tg_update_ns) as i64) < 1_000_000;
    if rules.tg_limit == TgLimit::On && recent {
        return false;
    }
    let change = difference(owned.avg.load_avg, owned.tg_load_avg_contrib);
    if change.unsigned_abs() <= (owned.tg_load_avg_contrib / 64).into() {
        return false;
    }
    tg.load_avg = add_signed(tg.load_avg, change);
    owned.tg_load_avg_contrib = owned.avg.load_avg;
    owned.tg_update_ns = now;
    true
}

/// May the walk over blocked load leave this queue out? Nothing is queued or remembered, nothing has to
/// be propagated, and by release the group's load holds nothing of it either.
pub fn is_decayed(rules: &Rules, owned: &CfsRq) -> bool {
    let remembers = [owned.avg.load_sum, owned.avg.runnable_sum, owned.avg.util_sum].iter().any(|&sum| sum != 0);
    let owes = owned.removed.nr != 0 || owned.propagate != 0;
    let is_counted = rules.decayed_contrib == DecayedContrib::On && owned.tg_load_avg_contrib != 0;
    owned.load_weight() == 0 && !remembers && !owes && !is_counted
}

/// Changes the weight of an entity (last paragraph); `weight` is what a 64-bit kernel stores. The queue holds the
/// load of sleeping entities too, so theirs is exchanged as well; utilization is not touched.
pub fn reweight(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, weight: u64) {
    reweight_parts(rules, cfs, se, weight, weight);
}

/// Changes the weight of an entity, with a runnable weight that differs.
fn reweight_parts(rules: &Rules, cfs: &mut CfsRq, se: &mut Se, weight: u64, runnable: u64) {
    let attached = se.avg.last_update_time_ns != 0;
    if se.on_rq != 0 {
        cfs.full_load = add_signed(cfs.full_load, difference(weight, se.full_weight));
        runnable_load::leave(rules, cfs, se);
    }
    se.runnable_weight = runnable;
    if attached {
        take_off_load(rules, &mut cfs.avg, se);
        se.full_weight = weight;
        se.avg.load_avg = se.weight() * se.avg.load_sum / divider(rules, &se.avg);
        add_load(rules, cfs, se);
        if runnable_load::is_kept(rules) {
            let weighted = runnable_load::whole_units(runnable) * se.avg.runnable_sum;
            se.avg.runnable_avg = weighted / divider(rules, &se.avg);
        }
    }
    se.full_weight = weight;
    if se.on_rq != 0 {
        runnable_load::join(rules, cfs, se);
    }
}
