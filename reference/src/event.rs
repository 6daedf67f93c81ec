// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduler events: the updates in the kernel's order, and the bookkeeping that follows
//! (docs/rules/load-tracking.md#a-tasks-life).
//!
//! An update always sees the state that held until now; only afterwards is the entity counted in or out.

use crate::clock::{Rq, cfs_clock, clock_enter_idle, clock_update};
use crate::pelt::Avg;
use crate::pressure::update_others;
use crate::rq::{
    CfsRq, Ctx, Se, attach, deposit_removed, detach, event, flag, sync_blocked, update_cfs_rq, update_load_avg,
};
use crate::rules::{
    EstimateLeaves, InitUtil, InitWeight, Invariance, MigrationLag, QueuedMigrant, Rules, UtilEst, UtilEstStale,
};
use crate::{runnable_load, util_est};

/// Wall time that an event brings, and how it was spent.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Wall time of the event.
    pub now: u64,
    /// Part of the time since the last event that went to interrupts.
    pub irq_ns: u64,
    /// The CPU runs the idle task.
    pub is_idle: bool,
}

/// Reason for which a task leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Sleep.
    Sleep,
    /// Migration to another CPU while runnable.
    Migrate,
    /// Neither.
    Other,
}

/// Context of a queue on a CPU.
pub fn cfs_ctx<'a>(rules: &'a Rules, rq: &Rq, cfs: &CfsRq) -> Ctx<'a> {
    Ctx { rules, now: cfs_clock(rules, rq, cfs), scale: rq.scale() }
}

fn add_runnable(cfs: &mut CfsRq, delta: i64) {
    cfs.h_nr_runnable = (cfs.h_nr_runnable as i64 + delta) as u64;
}

fn record_runnable(se: &mut Se, owned: Option<&CfsRq>) {
    se.nr_runnable = owned.map_or(1 - se.delayed.min(1), |owned| owned.h_nr_runnable);
}

/// An entity is queued; `delta` is the change of runnable tasks at and below it.
pub fn enqueue_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, mut owned: Option<&mut CfsRq>, delta: i64) -> u64 {
    let flags = flag::UPDATE_TG | flag::DO_ATTACH;
    let events = update_load_avg(ctx, cfs, se, owned.as_deref_mut(), flags);
    record_runnable(se, owned.as_deref());
    cfs.full_load += se.full_weight;
    runnable_load::join(ctx.rules, cfs, se);
    cfs.nr_queued += 1;
    se.on_rq = 1;
    add_runnable(cfs, delta);
    events
}

/// An entity stays queued while a task below it comes or goes.
pub fn update_ancestor(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, mut owned: Option<&mut CfsRq>, delta: i64) -> u64 {
    let events = update_load_avg(ctx, cfs, se, owned.as_deref_mut(), flag::UPDATE_TG);
    record_runnable(se, owned.as_deref());
    add_runnable(cfs, delta);
    events
}

/// An entity leaves its queue; `flags` may hold DO_DETACH and UPDATE_UTIL_EST.
pub fn dequeue_entity(
    ctx: &Ctx,
    cfs: &mut CfsRq,
    se: &mut Se,
    mut owned: Option<&mut CfsRq>,
    delta: i64,
    flags: u64,
) -> u64 {
    let events = update_load_avg(ctx, cfs, se, owned.as_deref_mut(), flag::UPDATE_TG | flags);
    record_runnable(se, owned.as_deref());
    cfs.full_load = cfs.full_load.saturating_sub(se.full_weight);
    runnable_load::leave(ctx.rules, cfs, se);
    cfs.nr_queued = cfs.nr_queued.saturating_sub(1);
    se.on_rq = 0;
    se.delayed = 0;
    add_runnable(cfs, delta);
    events
}

/// A queued entity becomes current at its level.
pub fn set_next_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: Option<&mut CfsRq>) -> u64 {
    let events = if se.on_rq != 0 { update_load_avg(ctx, cfs, se, owned, flag::UPDATE_TG) } else { 0 };
    se.running = 1;
    cfs.has_curr = 1;
    events
}

/// The current entity is put back. One that left its queue was updated when it left.
pub fn put_prev_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: Option<&mut CfsRq>) -> u64 {
    let events = if se.on_rq != 0 { update_load_avg(ctx, cfs, se, owned, 0) } else { 0 };
    se.running = 0;
    cfs.has_curr = 0;
    events
}

/// The tick at one level.
pub fn tick_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se, owned: Option<&mut CfsRq>) -> u64 {
    update_load_avg(ctx, cfs, se, owned, flag::UPDATE_TG)
}

/// A task wants to sleep but stays queued; it is not runnable any more.
pub fn delay_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) -> u64 {
    let flags = if sampling(ctx.rules) == Sampling::Inside { flag::UPDATE_UTIL_EST } else { 0 };
    let events = update_load_avg(ctx, cfs, se, None, flags);
    se.delayed = 1;
    se.nr_runnable = 0;
    add_runnable(cfs, -1);
    events
}

/// A delayed task wakes before it left.
pub fn requeue_entity(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) -> u64 {
    let events = update_load_avg(ctx, cfs, se, None, 0);
    se.delayed = 0;
    se.nr_runnable = 1;
    add_runnable(cfs, 1);
    events
}

fn advance(rules: &Rules, rq: &mut Rq, time: Time) {
    clock_update(rules, rq, time.now, time.irq_ns, time.is_idle);
}

/// A task is queued on the root queue.
pub fn rq_enqueue_task(rules: &Rules, rq: &mut Rq, se: &mut Se, time: Time) -> u64 {
    advance(rules, rq, time);
    util_est::enqueue(rules, &mut rq.cfs, se);
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    if se.delayed != 0 { requeue_entity(&ctx, &mut rq.cfs, se) } else { enqueue_entity(&ctx, &mut rq.cfs, se, None, 1) }
}

/// A task that sleeps, and whose dequeue is delayed, comes from another CPU: it weighs, and is not runnable.
pub fn rq_enqueue_delayed(rules: &Rules, rq: &mut Rq, se: &mut Se) -> u64 {
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    let events = enqueue_entity(&ctx, &mut rq.cfs, se, None, 0);
    (se.delayed, se.nr_runnable) = (1, 0);
    events
}

/// Moment at which the variant samples: before the update, inside it, or after it (ordering trap).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sampling {
    Before,
    Inside,
    After,
}

fn sampling(rules: &Rules) -> Sampling {
    match (rules.util_est_stale, rules.util_est) {
        (UtilEstStale::On, _) => Sampling::Before,
        (UtilEstStale::Off, UtilEst::U4) => Sampling::Inside,
        (UtilEstStale::Off, _) => Sampling::After,
    }
}

fn sample_if(now_is: Sampling, rules: &Rules, rq: &Rq, se: &mut Se, sleeps: bool) {
    if sleeps && sampling(rules) == now_is {
        util_est::sample(rules, &mut se.avg, rq.cap_orig);
    }
}

/// The queue's estimate loses the task's, before the update or after it; never for one whose dequeue was delayed.
fn leave_estimate(now_is: EstimateLeaves, rules: &Rules, rq: &mut Rq, se: &Se, was_delayed: bool) {
    if !was_delayed && rules.estimate_leaves == now_is {
        util_est::dequeue(rules, &mut rq.cfs, se);
    }
}

/// A task leaves the root queue. `later`: the last step is made by [`rq_estimate_last`], if the kernel has one.
pub fn rq_dequeue_task(rules: &Rules, rq: &mut Rq, se: &mut Se, time: Time, why: Leave, later: bool) -> u64 {
    advance(rules, rq, time);
    let was_delayed = se.delayed != 0;
    let sleeps = why == Leave::Sleep && !was_delayed;
    leave_estimate(EstimateLeaves::First, rules, rq, se, was_delayed);
    if !was_delayed {
        sample_if(Sampling::Before, rules, rq, se, sleeps);
    }
    let at_once = why == Leave::Migrate && rules.queued_migrant == QueuedMigrant::Detached;
    let detach = if at_once { flag::DO_DETACH } else { 0 };
    let estimate = if sleeps && sampling(rules) == Sampling::Inside { flag::UPDATE_UTIL_EST } else { 0 };
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    let delta = if was_delayed { 0 } else { -1 };
    let events = dequeue_entity(&ctx, &mut rq.cfs, se, None, delta, detach | estimate);
    if why == Leave::Migrate {
        if !at_once {
            remove_sleeping(&ctx, &mut rq.cfs, se);
        }
        se.avg.last_update_time_ns = 0;
    }
    let leaves_last = rules.estimate_leaves == EstimateLeaves::Last;
    if leaves_last && !later && !was_delayed {
        rq_estimate_last(rules, rq, se, sleeps);
    }
    if !leaves_last {
        sample_if(Sampling::After, rules, rq, se, sleeps);
    }
    events
}

/// The end of a dequeue in kernels that lower the queue's estimate last; the sample comes after it.
pub fn rq_estimate_last(rules: &Rules, rq: &mut Rq, se: &mut Se, sleeps: bool) {
    if rules.estimate_leaves == EstimateLeaves::Last {
        leave_estimate(EstimateLeaves::Last, rules, rq, se, false);
        sample_if(Sampling::After, rules, rq, se, sleeps);
    }
}

/// A task wants to sleep but stays queued until its lag is paid.
pub fn rq_delay_task(rules: &Rules, rq: &mut Rq, se: &mut Se, time: Time) -> u64 {
    advance(rules, rq, time);
    leave_estimate(EstimateLeaves::First, rules, rq, se, false);
    sample_if(Sampling::Before, rules, rq, se, true);
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    let events = delay_entity(&ctx, &mut rq.cfs, se);
    leave_estimate(EstimateLeaves::Last, rules, rq, se, false);
    sample_if(Sampling::After, rules, rq, se, true);
    events
}

/// One task is put back, another becomes current.
pub fn rq_switch_fair(rules: &Rules, rq: &mut Rq, prev: Option<&mut Se>, next: Option<&mut Se>, time: Time) -> u64 {
    advance(rules, rq, time);
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    let put = prev.map_or(0, |prev| put_prev_entity(&ctx, &mut rq.cfs, prev, None));
    let set = next.map_or(0, |next| set_next_entity(&ctx, &mut rq.cfs, next, None));
    put | set
}

/// The CPU picks the idle task.
pub fn rq_switch_idle(rules: &Rules, rq: &mut Rq, prev: Option<&mut Se>, time: Time) -> u64 {
    let events = rq_switch_fair(rules, rq, prev, None, time);
    clock_enter_idle(rules, rq);
    events
}

/// The tick of a CPU that runs a fair task of the root queue.
pub fn rq_tick_fair(rules: &Rules, rq: &mut Rq, curr: &mut Se, time: Time) -> u64 {
    advance(rules, rq, time);
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    tick_entity(&ctx, &mut rq.cfs, curr, None)
}

/// Class of the task that runs while blocked load is refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Fair.
    Fair,
    /// Real-time.
    Rt,
    /// Deadline.
    Dl,
    /// No task.
    Idle,
}

/// The blocked walk of a CPU without groups.
pub fn rq_update_blocked(rules: &Rules, rq: &mut Rq, now: u64, irq_ns: u64, runs: Runs, lost: u64) -> u64 {
    advance(rules, rq, Time { now, irq_ns, is_idle: runs == Runs::Idle });
    let others = update_others(rules, rq, runs == Runs::Rt, runs == Runs::Dl, lost);
    let ctx = cfs_ctx(rules, rq, &rq.cfs);
    let fair = update_cfs_rq(&ctx, &mut rq.cfs);
    fair | if others { event::DECAYED } else { 0 }
}

/// A new task without history (fork).
pub fn se_init(weight: u64) -> Se {
    let mut se = Se { full_weight: weight * 1024, runnable_weight: weight * 1024, nr_runnable: 1, ..Se::default() };
    se.avg.load_avg = weight;
    se
}

/// A group appears on a CPU: its entity is attached, empty, before its first task comes.
pub fn group_online(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) -> u64 {
    se.avg = Avg::default();
    se.runnable_weight = se.full_weight;
    update_load_avg(ctx, cfs, se, None, 0);
    attach(ctx.rules, cfs, se);
    0
}

/// First placement of a new task.
pub fn post_init(rules: &Rules, cfs: &CfsRq, se: &mut Se, cap_orig: u64) {
    let full = match rules.init_util {
        InitUtil::Capacity => cap_orig,
        InitUtil::Scale => 1024,
    };
    let cap = (full as i64 - cfs.avg.util_avg as i64) / 2;
    let weight = match rules.init_weight {
        InitWeight::Unscaled => se.weight() * 1024,
        InitWeight::Scaled => se.weight(),
    };
    if cap > 0 {
        let share = cfs.avg.util_avg * weight / (cfs.avg.load_avg + 1);
        se.avg.util_avg = if cfs.avg.util_avg == 0 { cap as u64 } else { share.min(cap as u64) };
    }
    se.avg.runnable_avg = if runnable_load::is_kept(rules) { se.avg.load_avg } else { se.avg.util_avg };
}

/// A sleeping task is woken on another CPU: it leaves its share behind on `cfs`, a queue of `old_rq`.
pub fn migrate_sleeping(rules: &Rules, old_rq: &Rq, cfs: &mut CfsRq, se: &mut Se, old_is_idle: bool, wall_now: u64) {
    let ctx = cfs_ctx(rules, old_rq, cfs);
    remove_sleeping(&ctx, cfs, se);
    let idle_since = old_rq.clock.clock_pelt_idle_ns.wrapping_sub(cfs.throttled_clock_pelt_ns);
    let lags = rules.migration_lag == MigrationLag::On && rules.invariance == Invariance::Clock;
    if lags && old_is_idle && idle_since >= cfs.avg.last_update_time_ns {
        sync_blocked(&ctx, se, idle_since + wall_now.wrapping_sub(old_rq.clock.clock_idle_ns));
    }
    se.avg.last_update_time_ns = 0;
}

/// A task ends, or leaves the class, in its sleep.
pub fn remove_sleeping(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) {
    sync_blocked(ctx, se, cfs.avg.last_update_time_ns);
    deposit_removed(ctx.rules, cfs, se);
}

/// A task leaves the fair class (class change).
pub fn switched_from_fair(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) -> u64 {
    let events = update_load_avg(ctx, cfs, se, None, 0);
    detach(ctx.rules, cfs, se);
    events | event::DETACH | event::TG_LOAD
}

/// A task joins the fair class with averages of the past.
pub fn switched_to_fair(ctx: &Ctx, cfs: &mut CfsRq, se: &mut Se) -> u64 {
    let events = update_load_avg(ctx, cfs, se, None, 0);
    attach(ctx.rules, cfs, se);
    events | event::ATTACH | event::TG_LOAD
}
