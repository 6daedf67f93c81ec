// SPDX-License-Identifier: GPL-2.0-or-later
//! Entities on queues (docs/rules/load-tracking.md).

use crate::group::propagate;
use crate::pelt::{Avg, Input, MIN_DIVIDER, Scale, accumulate, divider, publish, publish_parts};
use crate::rules::{AttachLoadSum, HookInAverage, Rules, RunnableSignal, SumFloor};
use crate::{runnable_load, util_est};

/// Hook reasons an update can return; the values of `types.h`.
pub mod event {
    /// A period boundary was crossed, or removed tasks were taken off.
    pub const DECAYED: u64 = 1;
    /// An entity was attached.
    pub const ATTACH: u64 = 2;
    /// An entity was detached.
    pub const DETACH: u64 = 4;
    /// Removed tasks were taken off.
    pub const REMOVED: u64 = 8;
    /// A change below was passed on to this level.
    pub const PROPAGATED: u64 = 16;
    /// The load of the queue's group must be refreshed; no hook.
    pub const TG_LOAD: u64 = 32;
}

/// Flags of [`update_load_avg`]; the values of `types.h`.
pub mod flag {
    /// The group's load is refreshed as well.
    pub const UPDATE_TG: u64 = 1;
    /// Leave the entity's own sums alone.
    pub const SKIP_AGE_LOAD: u64 = 2;
    /// Attach the entity if it is attached nowhere.
    pub const DO_ATTACH: u64 = 4;
    /// Detach the entity.
    pub const DO_DETACH: u64 = 8;
    /// Take a sample for the utilization estimate (U4).
    pub const UPDATE_UTIL_EST: u64 = 16;
}

/// A task, or a group's presence on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Se {
    /// Its record.
    pub avg: Avg,
    /// Weight as a 64-bit kernel stores it; nice 0 = 1024 * 1024.
    pub full_weight: u64,
    /// Queued, delayed dequeue included.
    pub on_rq: u64,
    /// Current entity at its level.
    pub running: u64,
    /// Task: 1 unless delayed. Group: runnable tasks below, as of its last enqueue or dequeue.
    pub nr_runnable: u64,
    /// A delayed dequeue is pending.
    pub delayed: u64,
    /// Part of the weight that is runnable, as stored; read up to 5.4.
    pub runnable_weight: u64,
}

/// A weight that a 64-bit kernel stores, as averages use it: whole units, at least 2 of any.
pub fn units(full: u64) -> u64 {
    if full == 0 { 0 } else { (full / 1024).max(2) }
}

impl Se {
    /// Weight as averages use it; nice 0 = 1024.
    pub fn weight(&self) -> u64 {
        units(self.full_weight)
    }
}

/// One queue of the fair class: the root of a CPU, or a group's queue on a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfsRq {
    /// Its record.
    pub avg: Avg,
    /// Weights of the queued entities, as a 64-bit kernel stores them.
    pub full_load: u64,
    /// Runnable weights of the queued entities, as stored; kept up to 5.4.
    pub runnable_weight: u64,
    /// Runnable tasks at and below this level.
    pub h_nr_runnable: u64,
    /// Entities queued at this level.
    pub nr_queued: u64,
    /// An entity of this level is running.
    pub has_curr: u64,
    /// A change waits to be handed to the level above.
    pub propagate: u64,
    /// Load sum that goes with it.
    pub prop_runnable_sum: i64,
    /// Averages of entities that left while asleep.
    pub removed: Removed,
    /// Root only: estimates of the queued tasks.
    pub util_est: u64,
    /// Contribution of this queue to the group's load.
    pub tg_load_avg_contrib: u64,
    /// Total time throttled.
    pub throttled_clock_pelt_ns: u64,
    /// Clock at which the present throttling began.
    pub throttled_at_ns: u64,
    /// Time at which the group's load was last refreshed from here.
    pub tg_update_ns: u64,
    /// Not 0 while this queue or one above it is throttled.
    pub throttle_count: u64,
}

impl CfsRq {
    /// Weights of the queued entities as averages use them.
    pub fn load_weight(&self) -> u64 {
        units(self.full_load)
    }
}

/// Averages of tasks that left a queue while asleep (docs/rules/load-tracking.md#what-leaves-a-queue-sum_floor).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Load averages.
    pub load: u64,
    /// Utilization averages.
    pub util: u64,
    /// Runnable averages; load sums in kernels without the runnable signal.
    pub runnable: u64,
    /// Number of tasks.
    pub nr: u64,
}

/// Rules, time and speed of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The kernel's rules.
    pub rules: &'a Rules,
    /// The queue's clock.
    pub now: u64,
    /// Speed; used by contribution scaling only.
    pub scale: Scale,
}

/// Ages an entity's record. Returns the periods crossed.
pub fn update_se(ctx: &Ctx, se: &mut Se) -> u64 {
    let runnable = match ctx.rules.runnable_signal {
        RunnableSignal::On => se.nr_runnable,
        RunnableSignal::Load | RunnableSignal::LoadWhole => 1,
        RunnableSignal::Off => 0,
    };
    let input = Input { load: se.on_rq, runnable: if se.on_rq != 0 { runnable } else { 0 }, running: se.running };
    let periods = age_se(ctx, se, ctx.now, input);
    if periods > 0 {
        util_est::clear_mark(ctx.rules, &mut se.avg);
    }
    periods
}

/// Ages a sleeping entity to `to` (blocked entity). The mark of its estimate stays.
pub fn sync_blocked(ctx: &Ctx, se: &mut Se, to: u64) -> u64 {
    age_se(ctx, se, to, Input::default())
}

fn age_se(ctx: &Ctx, se: &mut Se, to: u64, input: Input) -> u64 {
    let periods = accumulate(ctx.rules, &mut se.avg, to, input, ctx.scale);
    if periods > 0 {
        let (weight, runnable) = (se.weight(), runnable_load::factor(ctx.rules, se));
        publish_parts(ctx.rules, &mut se.avg, weight, runnable);
    }
    periods
}

/// `average -= amount` and the sum with it, both floored at 0.
pub(crate) fn take_off(rules: &Rules, avg: &mut u64, sum: &mut u64, amount: u64, amount_sum: u64) {
    *avg = avg.saturating_sub(amount);
    *sum = sum.saturating_sub(amount_sum);
    raise_sum(rules, *avg, sum);
}

/// Keeps a sum from reaching zero before its average.
pub(crate) fn raise_sum(rules: &Rules, avg: u64, sum: &mut u64) {
    let least = avg * MIN_DIVIDER;
    match rules.sum_floor {
        SumFloor::Off | SumFloor::Rebuilt | SumFloor::RebuiltLoad => {}
        SumFloor::On => *sum = (*sum).max(least),
        // Both sides lose what is beyond 32 bits, and the larger rest stays.
        SumFloor::Wraps => *sum = (*sum % (1 << 32)).max(least % (1 << 32)),
    }
}

/// [`take_off`], after which 5.10 makes the sum anew from the average.
fn take_off_anew(rules: &Rules, avg: &mut u64, sum: &mut u64, amount: u64, amount_sum: u64, div: u64) {
    take_off(rules, avg, sum, amount, amount_sum);
    if matches!(rules.sum_floor, SumFloor::Rebuilt | SumFloor::RebuiltLoad) {
        *sum = *avg * div;
    }
}

/// Takes the utilization of removed tasks off: the one sum that 5.10 keeps, with a floor.
fn take_off_removed_util(rules: &Rules, avg: &mut Avg, amount: u64, div: u64) {
    take_off(rules, &mut avg.util_avg, &mut avg.util_sum, amount, amount * div);
    if matches!(rules.sum_floor, SumFloor::Rebuilt | SumFloor::RebuiltLoad) {
        avg.util_sum = avg.util_sum.max(avg.util_avg * MIN_DIVIDER % (1 << 32));
    }
}

/// Takes the removed tasks off the queue.
fn apply_removed(rules: &Rules, cfs: &mut CfsRq) {
    let div = divider(rules, &cfs.avg);
    let removed = std::mem::take(&mut cfs.removed);
    let avg = &mut cfs.avg;
    take_off_anew(rules, &mut avg.load_avg, &mut avg.load_sum, removed.load, removed.load * div, div);
    take_off_removed_util(rules, avg, removed.util, div);
    if rules.runnable_signal == RunnableSignal::On {
        let runnable = removed.runnable;
        take_off_anew(rules, &mut avg.runnable_avg, &mut avg.runnable_sum, runnable, runnable * div, div);
        add_propagation(cfs, -((removed.runnable * div) as i64) >> 10);
    } else {
        add_propagation(cfs, -(removed.runnable as i64));
    }
}

fn add_propagation(cfs: &mut CfsRq, load_sum: i64) {
    cfs.propagate = 1;
    cfs.prop_runnable_sum += load_sum;
}

/// Ages a queue.
pub fn update_cfs_rq(ctx: &Ctx, cfs: &mut CfsRq) -> u64 {
    let mut events = 0;
    if cfs.removed.nr != 0 {
        apply_removed(ctx.rules, cfs);
        events |= event::REMOVED | event::DECAYED;
    }
    let runnable = match ctx.rules.runnable_signal {
        RunnableSignal::On => cfs.h_nr_runnable,
        RunnableSignal::Load | RunnableSignal::LoadWhole => runnable_load::whole_units(cfs.runnable_weight),
        RunnableSignal::Off => 0,
    };
    let input = Input { load: cfs.load_weight(), runnable, running: cfs.has_curr };
    if accumulate(ctx.rules, &mut cfs.avg, ctx.now, input, ctx.scale) > 0 {
        publish(ctx.rules, &mut cfs.avg, 1);
        events |= event::DECAYED;
    }
    events
}

/// Adds an entity's averages to a queue.
pub fn attach(rules: &Rules, cfs: &mut CfsRq, se: &mut Se) {
    let div = divider(rules, &cfs.avg);
    se.avg.last_update_time_ns = cfs.avg.last_update_time_ns;
    se.avg.period_contrib = cfs.avg.period_contrib;
    se.avg.util_sum = se.avg.util_avg * div;
    let load_sum = se.avg.load_avg * div;
    se.avg.load_sum = match rules.attach_load_sum {
        AttachLoadSum::LeastOne if se.weight() >= load_sum => 1,
        _ => load_sum.checked_div(se.weight()).unwrap_or(div),
    };
    if runnable_load::is_kept(rules) {
        se.avg.runnable_sum = se.avg.load_sum;
    } else {
        se.avg.runnable_sum = se.avg.runnable_avg * div;
        cfs.avg.runnable_avg += se.avg.runnable_avg;
        cfs.avg.runnable_sum += se.avg.runnable_sum;
    }

    cfs.avg.util_avg += se.avg.util_avg;
    cfs.avg.util_sum += se.avg.util_sum;
    add_load(rules, cfs, se);
    add_propagation(cfs, se.avg.load_sum as i64);
}

/// Adds an entity's load to its queue; from 7.2 on the floor holds here too.
pub(crate) fn add_load(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.avg.load_avg += se.avg.load_avg;
    cfs.avg.load_sum += se.weight() * se.avg.load_sum;
    if rules.sum_floor == SumFloor::On {
        raise_sum(rules, cfs.avg.load_avg, &mut cfs.avg.load_sum);
    }
}

/// Takes an entity's load off a queue; 5.15 makes the sum anew, as at the entity's place in the period.
pub(crate) fn take_off_load(rules: &Rules, queue: &mut Avg, se: &Se) {
    let (avg, sum) = (&mut queue.load_avg, &mut queue.load_sum);
    take_off(rules, avg, sum, se.avg.load_avg, se.weight() * se.avg.load_sum);
    if rules.sum_floor == SumFloor::RebuiltLoad {
        *sum = *avg * divider(rules, &se.avg);
    }
}

/// Takes an entity's averages off a queue.
pub fn detach(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    let div = divider(rules, &cfs.avg);
    let (queue, entity) = (&mut cfs.avg, &se.avg);
    take_off_load(rules, queue, se);
    take_off_anew(rules, &mut queue.util_avg, &mut queue.util_sum, entity.util_avg, entity.util_sum, div);
    if !runnable_load::is_kept(rules) {
        let (avg, sum) = (&mut queue.runnable_avg, &mut queue.runnable_sum);
        take_off_anew(rules, avg, sum, entity.runnable_avg, entity.runnable_sum, div);
    }
    add_propagation(cfs, -(se.avg.load_sum as i64));
}

/// The update every scheduler event makes at every level. `owned` is the queue a group entity owns.
pub fn update_load_avg(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: Option<&mut CfsRq>, flags: u64) -> u64 {
    let attached = se.avg.last_update_time_ns != 0;
    if attached && flags & flag::SKIP_AGE_LOAD == 0 {
        update_se(ctx, se);
    }
    let aged = update_cfs_rq(ctx, cfs);
    let propagated = owned.is_some_and(|owned| propagate(ctx, cfs, se, owned));
    let mut moved = 0;
    if !attached && flags & flag::DO_ATTACH != 0 {
        attach(ctx.rules, cfs, se);
        moved = event::ATTACH;
    } else if flags & flag::DO_DETACH != 0 {
        detach(ctx.rules, cfs, se);
        moved = event::DETACH;
    }
    if flags & flag::UPDATE_UTIL_EST != 0 {
        util_est::sample(ctx.rules, &mut se.avg, ctx.scale.cap_orig);
    }
    events(ctx.rules, aged, propagated, moved, flags)
}

/// Hook calls that follow.
fn events(rules: &Rules, aged: u64, propagated: bool, moved: u64, flags: u64) -> u64 {
    let changed = aged & event::DECAYED != 0 || propagated;
    let decay_hook = match rules.hook_in_average {
        HookInAverage::On => aged & event::DECAYED != 0,
        HookInAverage::Off => moved == 0 && changed,
    };
    let refresh = moved != 0 || (changed && flags & flag::UPDATE_TG != 0);
    let mut events = moved | (aged & event::REMOVED);
    for (happened, bit) in [(decay_hook, event::DECAYED), (propagated, event::PROPAGATED), (refresh, event::TG_LOAD)] {
        if happened {
            events |= bit;
        }
    }
    events
}

/// A sleeping entity leaves: its share is taken off at the queue's next update.
pub fn deposit_removed(rules: &Rules, cfs: &mut CfsRq, se: &Se) {
    cfs.removed.nr += 1;
    cfs.removed.load += se.avg.load_avg;
    cfs.removed.util += se.avg.util_avg;
    cfs.removed.runnable += match rules.runnable_signal {
        RunnableSignal::On => se.avg.runnable_avg,
        RunnableSignal::Off | RunnableSignal::Load | RunnableSignal::LoadWhole => se.avg.load_sum,
    };
}
