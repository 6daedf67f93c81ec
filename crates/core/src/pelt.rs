// SPDX-License-Identifier: GPL-2.0-or-later
//! Load tracking: records, entities, queues. Each method is the C function of the same name.

use crate::policy::Policy;
use crate::sys::{self, Avg, CfsRq, Ctx, Rq, Se, TaskGroup};
pub use crate::sys::{decay_load, ramp, shares_of_weight, time_to, weight_of_shares};

/// Flags of an entity update; bits.
pub mod update {
    pub use crate::sys::{DO_ATTACH, DO_DETACH, SKIP_AGE_LOAD, UPDATE_TG as TG, UPDATE_UTIL_EST as UTIL_EST};
}

impl Avg {
    /// Bring the sums up to `ctx.now`; returns period boundaries crossed.
    #[inline]
    pub fn accumulate(&mut self, ctx: &Ctx<'_>, load: u64, runnable: u64, running: u64) -> u64 {
        sys::update_load_sum(ctx, self, load, runnable, running)
    }

    /// Turn sums into averages.
    #[inline]
    pub fn publish(&mut self, pol: &Policy, weight: u64) {
        sys::publish(pol, self, weight);
    }

    /// Average of runnable tasks without their weights, capacity units; 0 where the release keeps none.
    #[must_use]
    #[inline]
    pub fn runnable_util(&self, pol: &Policy) -> u32 {
        if pol.runnable_signal == crate::value::RUNNABLE_SIGNAL_ON { self.runnable_avg as u32 } else { 0 }
    }

    /// Accumulate one value and publish; `ev::DECAYED` or 0.
    #[inline]
    pub fn update(&mut self, ctx: &Ctx<'_>, value: u32) -> u32 {
        sys::update_avg(ctx, self, value)
    }
}

impl Se {
    /// A new task: full load, no utilization, not attached.
    #[must_use]
    pub fn new(weight: u64) -> Self {
        let mut se = Self::default();
        sys::se_init(&mut se, weight);
        se
    }

    /// Weight as a 64-bit kernel stores it.
    #[inline]
    #[must_use]
    pub fn full_weight(&self) -> u64 {
        sys::se_full_weight(self)
    }

    /// Bring the record up to `ctx.now` from the entity's own state; returns period boundaries crossed.
    #[inline]
    pub fn update(&mut self, ctx: &Ctx<'_>) -> u64 {
        sys::update_load_avg_se(ctx, self)
    }

    /// Update of an entity that is known to be blocked, otherwise as [`Se::update`].
    #[inline]
    pub fn update_blocked(&mut self, ctx: &Ctx<'_>) -> u64 {
        sys::update_load_avg_blocked_se(ctx, self)
    }

    /// Utilization at first placement on `cfs`.
    #[inline]
    pub fn post_init(&mut self, pol: &Policy, cfs: &CfsRq, cap_orig: u32) {
        sys::post_init_entity_util_avg(pol, cfs, self, cap_orig);
    }

    /// The estimate itself.
    #[inline]
    #[must_use]
    pub fn util_est(&self, pol: &Policy) -> u32 {
        sys::se_util_est(pol, self)
    }

    /// Utilization as placement sees it: the larger of average and estimate.
    #[inline]
    #[must_use]
    pub fn task_util_est(&self, pol: &Policy) -> u32 {
        sys::task_util_est(pol, self)
    }

    /// Sample the estimate.
    #[inline]
    pub fn util_est_update(&mut self, pol: &Policy, cap_orig: u32, task_sleeps: bool) {
        sys::util_est_update(pol, self, cap_orig, u32::from(task_sleeps));
    }

    /// Sample the estimate by the rule `u2` of the kernels that kept the mark in bit 0 (5.5 to 5.12), at a sleep.
    #[inline]
    pub fn util_est_update_u2_low(&mut self, cap_orig: u32) {
        let util = self.avg.util_avg as u32;
        sys::util_est_update_u2_low(&mut self.avg, util, cap_orig);
    }

    /// True when the dequeue of this task was delayed and is done now; `flags` as of [`crate::Rq::dequeue_task`].
    #[inline]
    #[must_use]
    pub fn delay_ends(&self, flags: u32) -> bool {
        sys::delay_ends(self, flags) != 0
    }

    /// Change of runnable tasks at the levels above this task when it leaves, asked before it does.
    #[inline]
    #[must_use]
    pub fn leave_delta(&self, flags: u32) -> i32 {
        sys::leave_delta(self, flags)
    }

    /// The task was created in another class.
    #[inline]
    pub fn init_other_class(&mut self, ctx: &Ctx<'_>) {
        sys::init_other_class(ctx, self);
    }
}

impl CfsRq {
    /// Bring the queue up to `ctx.now`; `ev` bits.
    #[inline]
    pub fn update(&mut self, ctx: &Ctx<'_>) -> u32 {
        sys::update_cfs_rq_load_avg(ctx, self)
    }

    /// Entity and queue up to `ctx.now`, attach or detach by `flags`; `ev` bits.
    #[inline]
    pub fn update_load_avg(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>, flags: u32) -> u32 {
        sys::update_load_avg(ctx, self, se, owned, flags)
    }

    /// The entity's averages become part of the queue's.
    #[inline]
    pub fn attach(&mut self, pol: &Policy, se: &mut Se) {
        sys::attach_entity_load_avg(pol, self, se);
    }

    /// The entity's averages leave the queue's.
    #[inline]
    pub fn detach(&mut self, pol: &Policy, se: &Se) {
        sys::detach_entity_load_avg(pol, self, se);
    }

    /// Load of what is queued, where the release keeps an average of it (to 5.4).
    #[must_use]
    #[inline]
    pub fn runnable_load_avg(&self, pol: &Policy) -> Option<u64> {
        (sys::keeps_runnable_load(pol) != 0).then_some(self.avg.runnable_avg)
    }

    /// Weight of what is queued, as a 64-bit kernel stores it.
    #[must_use]
    pub fn full_weight(&self) -> u64 {
        sys::full_weight(self.load_weight, self.weight_rest)
    }

    /// Change an entity's weight, which is given as a 64-bit kernel stores it.
    #[inline]
    pub fn reweight_entity(&mut self, pol: &Policy, se: &mut Se, weight: u64) {
        sys::reweight_entity(pol, self, se, weight, weight);
    }

    /// Change an entity's weight to whole units.
    #[inline]
    pub fn reweight(&mut self, pol: &Policy, se: &mut Se, weight: u64) {
        sys::reweight(pol, self, se, weight);
    }

    /// Age a sleeping entity to this queue's last update.
    #[inline]
    pub fn sync_blocked(&self, ctx: &Ctx<'_>, se: &mut Se) {
        sys::sync_blocked(ctx, self, se);
    }

    /// Carry what changed in the group's own queue up to this one; `true` if anything did.
    #[inline]
    pub fn propagate(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: &mut CfsRq) -> bool {
        sys::propagate_entity_load_avg(ctx, self, se, owned) != 0
    }

    /// Weight of the entity of this group queue, as a 64-bit kernel stores it; so is `present`.
    #[inline]
    #[must_use]
    pub fn group_shares(&self, pol: &Policy, tg: &TaskGroup, present: u64) -> u64 {
        sys::calc_group_shares(pol, self, tg, present)
    }

    /// Refresh the group's load total from this queue; `true` if it changed.
    #[inline]
    pub fn tg_contrib(&mut self, pol: &Policy, tg: &mut TaskGroup, now: u64) -> bool {
        sys::update_tg_load_avg(pol, tg, self, now) != 0
    }

    /// Give the entity of group queue `owned` on this queue the weight that is its share now; `true` if it changed.
    #[inline]
    pub fn refresh_shares(&mut self, pol: &Policy, se: &mut Se, owned: &CfsRq, tg: &TaskGroup) -> bool {
        sys::update_cfs_group(pol, self, se, owned, tg) != 0
    }

    /// One group queue of the blocked walk: `owned` and its part of the group's load, then its entity here; `ev` bits.
    #[inline]
    pub fn walk_group(
        &mut self,
        ctxs: (&Ctx<'_>, &Ctx<'_>),
        se: &mut Se,
        owned: &mut CfsRq,
        tg: &mut TaskGroup,
        wall_now: u64,
    ) -> u32 {
        sys::walk_group(ctxs.0, ctxs.1, self, se, owned, tg, wall_now)
    }

    /// Nothing of this group queue is left.
    #[inline]
    #[must_use]
    pub fn group_is_decayed(&self, pol: &Policy) -> bool {
        sys::cfs_rq_is_decayed(pol, self) != 0
    }

    /// A task ends in its sleep.
    #[inline]
    pub fn remove_sleeping(&mut self, ctx: &Ctx<'_>, se: &mut Se) {
        sys::remove_sleeping(ctx, self, se);
    }

    /// A task leaves the fair class.
    #[inline]
    pub fn switched_from_fair(&mut self, ctx: &Ctx<'_>, se: &mut Se) -> u32 {
        sys::switched_from_fair(ctx, self, se)
    }

    /// A task joins the fair class with averages of the past.
    #[inline]
    pub fn switched_to_fair(&mut self, ctx: &Ctx<'_>, se: &mut Se) -> u32 {
        sys::switched_to_fair(ctx, self, se)
    }

    /// A group comes into being: its entity is attached to this queue, empty.
    #[inline]
    pub fn group_online(&mut self, ctx: &Ctx<'_>, se: &mut Se) {
        sys::group_online(ctx, self, se);
    }

    /// An entity is queued; `delta` is the change of runnable tasks below.
    #[inline]
    pub fn enqueue_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>, delta: i32) -> u32 {
        sys::enqueue_entity(ctx, self, se, owned, delta)
    }

    /// An ancestor that stays queued while a task below is queued or leaves.
    #[inline]
    pub fn update_ancestor(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>, delta: i32) -> u32 {
        sys::update_ancestor(ctx, self, se, owned, delta)
    }

    /// An entity leaves the queue.
    #[inline]
    pub fn dequeue_entity(
        &mut self,
        ctx: &Ctx<'_>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
        flags: u32,
    ) -> u32 {
        sys::dequeue_entity(ctx, self, se, owned, delta, flags)
    }

    /// A queued entity becomes current at its level.
    #[inline]
    pub fn set_next_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>) -> u32 {
        sys::set_next_entity(ctx, self, se, owned)
    }

    /// The current entity is put back.
    #[inline]
    pub fn put_prev_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>) -> u32 {
        sys::put_prev_entity(ctx, self, se, owned)
    }

    /// The periodic tick, per level.
    #[inline]
    pub fn tick_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se, owned: Option<&mut CfsRq>) -> u32 {
        sys::tick_entity(ctx, self, se, owned)
    }

    /// The task wants to sleep but stays queued.
    #[inline]
    pub fn delay_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se) -> u32 {
        sys::delay_entity(ctx, self, se)
    }

    /// A level above a task counts this many runnable tasks more: -1 when its dequeue is delayed, 1 when it is woken
    /// or, before the level is walked, leaves at last.
    #[inline]
    pub fn count_runnable(&mut self, delta: i32) {
        sys::count_runnable(self, delta);
    }

    /// A delayed task is woken before it left.
    #[inline]
    pub fn requeue_entity(&mut self, ctx: &Ctx<'_>, se: &mut Se) -> u32 {
        sys::requeue_entity(ctx, self, se)
    }

    /// The task's estimate joins this root queue's.
    #[inline]
    pub fn util_est_enqueue(&mut self, pol: &Policy, se: &Se) {
        sys::util_est_enqueue(pol, self, se);
    }

    /// The task's estimate leaves this root queue's.
    #[inline]
    pub fn util_est_dequeue(&mut self, pol: &Policy, se: &Se) {
        sys::util_est_dequeue(pol, self, se);
    }
}

impl Rq {
    /// A sleeping task of queue `cfs` of this CPU (`None` = the root queue) is woken on another one; `wall_now` is the
    /// waker's clock.
    #[inline]
    pub fn migrate_sleeping(
        &mut self,
        pol: &Policy,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        is_idle: bool,
        wall_now: u64,
    ) {
        sys::rq_migrate_sleeping_at(pol, self, cfs, se, u32::from(is_idle), wall_now);
    }

    /// A sleeping task of the root queue is woken on another CPU; `wall_now` is the waker's clock.
    #[inline]
    pub fn migrate_sleeping_task(&mut self, pol: &Policy, se: &mut Se, is_idle: bool, wall_now: u64) {
        sys::rq_migrate_sleeping(pol, self, se, u32::from(is_idle), wall_now);
    }
}
