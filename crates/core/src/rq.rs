// SPDX-License-Identifier: GPL-2.0-or-later
//! One CPU: clocks, pressure, and scheduler events in one call each.

use crate::policy::Policy;
use crate::sys::{self, CfsRq, Ctx, Rq, Se};

impl Rq {
    /// A CPU that starts at `now`, idle, with all records up to date.
    #[must_use]
    pub fn new(pol: &Policy, now: u64, cap_orig: u32, freq_scale: u32) -> Self {
        let mut rq = Self::default();
        sys::rq_init(pol, &mut rq, now, cap_orig, freq_scale);
        rq
    }

    /// Update context of a queue of this CPU, at the queue's clock.
    #[inline]
    #[must_use]
    pub fn ctx<'a>(&self, pol: &'a Policy, cfs: &CfsRq) -> Ctx<'a> {
        Ctx { pol, now: self.cfs_clock(pol, cfs), cap_orig: self.cap_orig, freq_scale: self.freq_scale }
    }

    /// Advance all clocks; `true` if the interrupt signal changed.
    #[inline]
    pub fn clock_update(&mut self, pol: &Policy, now: u64, irq_ns: u64, is_idle: bool) -> bool {
        sys::clock_update(pol, self, now, irq_ns, u32::from(is_idle)) != 0
    }

    /// The CPU switches to the idle task.
    #[inline]
    pub fn clock_enter_idle(&mut self, pol: &Policy) {
        sys::update_idle_rq_clock_pelt(pol, self);
    }

    /// Published PELT clock.
    #[inline]
    #[must_use]
    pub fn clock_pelt(&self, pol: &Policy) -> u64 {
        sys::clock_pelt(pol, self)
    }

    /// Clock of one fair queue of this CPU.
    #[inline]
    #[must_use]
    pub fn cfs_clock(&self, pol: &Policy, cfs: &CfsRq) -> u64 {
        sys::cfs_rq_clock_pelt(pol, self, cfs)
    }

    /// The queue was throttled: its clock stops.
    #[inline]
    pub fn throttle_clock(&self, pol: &Policy, cfs: &mut CfsRq) {
        sys::throttle_clock(pol, self, cfs);
    }

    /// The reverse.
    #[inline]
    pub fn unthrottle_clock(&self, pol: &Policy, cfs: &mut CfsRq) {
        sys::unthrottle_clock(pol, self, cfs);
    }

    /// Real-time record; `running` = such a task ran since the last update.
    #[inline]
    pub fn update_rt(&mut self, pol: &Policy, running: bool) -> u32 {
        sys::update_rt(pol, self, u32::from(running))
    }

    /// Deadline record.
    #[inline]
    pub fn update_dl(&mut self, pol: &Policy, running: bool) -> u32 {
        sys::update_dl(pol, self, u32::from(running))
    }

    /// Interrupt record; `irq_ns` just elapsed.
    #[inline]
    pub fn update_irq(&mut self, pol: &Policy, irq_ns: u64) -> u32 {
        sys::update_irq(pol, self, irq_ns)
    }

    /// Hardware-pressure record.
    #[inline]
    pub fn update_hw(&mut self, pol: &Policy, lost_capacity: u32) -> u32 {
        sys::update_hw(pol, self, lost_capacity)
    }

    /// Does anything outside the fair class still have to decay?
    #[inline]
    #[must_use]
    pub fn others_have_blocked(&self) -> bool {
        sys::others_have_blocked(self) != 0
    }

    /// Does anything still have to decay?
    #[inline]
    #[must_use]
    pub fn has_blocked(&self) -> bool {
        sys::rq_has_blocked(self) != 0
    }

    /// Capacity left for the fair class.
    #[inline]
    #[must_use]
    pub fn capacity_of(&self, pol: &Policy, hw: u32, cpufreq_pressure: u32) -> u32 {
        sys::capacity_of(pol, self, hw, cpufreq_pressure)
    }

    /// Halves the time that the other classes took for every half second that is over (the tick, up to 4.16).
    #[inline]
    pub fn rt_share_age(&mut self) {
        sys::rt_share_age(self);
    }

    /// Last step of a dequeue that was made with [`crate::dequeue::ESTIMATE_LATER`], after its hooks. Not for a task
    /// whose dequeue was delayed.
    #[inline]
    pub fn estimate_last(&mut self, pol: &Policy, se: &mut Se, sleeps: bool) {
        sys::rq_estimate_last(pol, self, se, u32::from(sleeps));
    }

    /// First half of [`Rq::enqueue_task`]: clock and queue estimate; the IOWAIT hook belongs between the halves.
    #[inline]
    pub fn enqueue_begin(&mut self, pol: &Policy, se: &Se, now: u64, irq_ns: u64, is_idle: bool) {
        sys::rq_enqueue_begin(pol, self, se, now, irq_ns, u32::from(is_idle));
    }

    /// Second half for a task whose queue is `cfs` of this CPU, `None` = the root queue; the levels above are the
    /// caller's.
    #[inline]
    pub fn enqueue_finish_on(&mut self, pol: &Policy, cfs: Option<&mut CfsRq>, se: &mut Se) -> u32 {
        sys::rq_enqueue_finish_at(pol, self, cfs, se)
    }

    /// Second half for a task that sleeps, whose dequeue is delayed and that was taken from another CPU; the clock was
    /// updated before. The task stays delayed.
    #[inline]
    pub fn enqueue_delayed_on(&mut self, pol: &Policy, cfs: Option<&mut CfsRq>, se: &mut Se) -> u32 {
        sys::rq_enqueue_delayed_at(pol, self, cfs, se)
    }

    /// [`Rq::dequeue_task`] for a task whose queue is `cfs` of this CPU, `None` = the root queue.
    #[inline]
    pub fn dequeue_task_on(
        &mut self,
        pol: &Policy,
        cfs: Option<&mut CfsRq>,
        se: &mut Se,
        now: u64,
        is_idle: bool,
        flags: u32,
    ) -> u32 {
        sys::rq_dequeue_task_at(pol, self, cfs, se, now, 0, u32::from(is_idle), flags)
    }

    /// [`Rq::delay_task`] for a task whose queue is `cfs` of this CPU, `None` = the root queue.
    #[inline]
    pub fn delay_task_on(&mut self, pol: &Policy, cfs: Option<&mut CfsRq>, se: &mut Se, now: u64) -> u32 {
        sys::rq_delay_task_at(pol, self, cfs, se, now, 0, 0)
    }

    /// [`CfsRq::enqueue_entity`] on queue `at` of this CPU (`None` = the root queue), at that queue's clock.
    #[inline]
    pub fn enqueue_entity(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32 {
        sys::rq_enqueue_entity(pol, self, at, se, owned, delta)
    }

    /// [`CfsRq::update_ancestor`] in the same way.
    #[inline]
    pub fn update_ancestor(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
    ) -> u32 {
        sys::rq_update_ancestor(pol, self, at, se, owned, delta)
    }

    /// [`CfsRq::dequeue_entity`] in the same way.
    #[inline]
    pub fn dequeue_entity(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        delta: i32,
        flags: u32,
    ) -> u32 {
        sys::rq_dequeue_entity(pol, self, at, se, owned, delta, flags)
    }

    /// [`CfsRq::set_next_entity`] in the same way.
    #[inline]
    pub fn set_next_entity(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32 {
        sys::rq_set_next_entity(pol, self, at, se, owned)
    }

    /// [`CfsRq::put_prev_entity`] in the same way.
    #[inline]
    pub fn put_prev_entity(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
    ) -> u32 {
        sys::rq_put_prev_entity(pol, self, at, se, owned)
    }

    /// [`CfsRq::tick_entity`] in the same way.
    #[inline]
    pub fn tick_entity(&mut self, pol: &Policy, at: Option<&mut CfsRq>, se: &mut Se, owned: Option<&mut CfsRq>) -> u32 {
        sys::rq_tick_entity(pol, self, at, se, owned)
    }

    /// [`CfsRq::update_load_avg`] in the same way.
    #[inline]
    pub fn update_load_avg(
        &mut self,
        pol: &Policy,
        at: Option<&mut CfsRq>,
        se: &mut Se,
        owned: Option<&mut CfsRq>,
        flags: u32,
    ) -> u32 {
        sys::rq_update_load_avg(pol, self, at, se, owned, flags)
    }

    /// [`CfsRq::switched_from_fair`] in the same way.
    #[inline]
    pub fn switched_from_fair(&mut self, pol: &Policy, at: Option<&mut CfsRq>, se: &mut Se) -> u32 {
        sys::rq_switched_from_fair(pol, self, at, se)
    }

    /// [`CfsRq::switched_to_fair`] in the same way.
    #[inline]
    pub fn switched_to_fair(&mut self, pol: &Policy, at: Option<&mut CfsRq>, se: &mut Se) -> u32 {
        sys::rq_switched_to_fair(pol, self, at, se)
    }

    /// First part of [`Rq::update_blocked`]: the clock and the other classes; `ev` bits.
    #[inline]
    pub fn update_blocked_others(&mut self, pol: &Policy, now: u64, runs: u32, lost_capacity: u32) -> u32 {
        sys::rq_update_blocked_others(pol, self, now, 0, runs, lost_capacity)
    }

    /// A task is queued on the root queue (a delayed one is taken back); `ev` bits.
    #[inline]
    pub fn enqueue_task(&mut self, pol: &Policy, se: &mut Se, now: u64, irq_ns: u64, is_idle: bool) -> u32 {
        sys::rq_enqueue_task(pol, self, se, now, irq_ns, u32::from(is_idle))
    }

    /// A task leaves the root queue; `flags` from [`crate::dequeue`].
    #[inline]
    pub fn dequeue_task(&mut self, pol: &Policy, se: &mut Se, now: u64, irq_ns: u64, is_idle: bool, flags: u32) -> u32 {
        sys::rq_dequeue_task(pol, self, se, now, irq_ns, u32::from(is_idle), flags)
    }

    /// A task wants to sleep but stays queued (delayed dequeue).
    #[inline]
    pub fn delay_task(&mut self, pol: &Policy, se: &mut Se, now: u64, irq_ns: u64, is_idle: bool) -> u32 {
        sys::rq_delay_task(pol, self, se, now, irq_ns, u32::from(is_idle))
    }

    /// Put `prev` back and make `next` current; `is_idle` = the CPU ran idle until now.
    #[inline]
    pub fn switch_fair(
        &mut self,
        pol: &Policy,
        prev: Option<&mut Se>,
        next: Option<&mut Se>,
        now: u64,
        irq_ns: u64,
        is_idle: bool,
    ) -> u32 {
        sys::rq_switch_fair(pol, self, prev, next, now, irq_ns, u32::from(is_idle))
    }

    /// The CPU picked the idle task; `prev` was the current fair task, if any.
    #[inline]
    pub fn switch_idle(&mut self, pol: &Policy, prev: Option<&mut Se>, now: u64, irq_ns: u64, is_idle: bool) -> u32 {
        sys::rq_switch_idle(pol, self, prev, now, irq_ns, u32::from(is_idle))
    }

    /// Tick of a CPU that runs the fair task `curr`.
    #[inline]
    pub fn tick_fair(&mut self, pol: &Policy, curr: &mut Se, now: u64, irq_ns: u64) -> u32 {
        sys::rq_tick_fair(pol, self, curr, now, irq_ns)
    }

    /// Clock, then the real-time record; `running`: `false` when just picked, `true` when put or at a tick.
    #[inline]
    pub fn event_rt(&mut self, pol: &Policy, now: u64, irq_ns: u64, is_idle: bool, running: bool) -> u32 {
        sys::rq_update_rt(pol, self, now, irq_ns, u32::from(is_idle), u32::from(running))
    }

    /// Clock, then the deadline record.
    #[inline]
    pub fn event_dl(&mut self, pol: &Policy, now: u64, irq_ns: u64, is_idle: bool, running: bool) -> u32 {
        sys::rq_update_dl(pol, self, now, irq_ns, u32::from(is_idle), u32::from(running))
    }

    /// Blocked walk without groups; `runs` from [`crate::runs`]; `ev` bits.
    #[inline]
    pub fn update_blocked(&mut self, pol: &Policy, now: u64, irq_ns: u64, runs: u32, lost_capacity: u32) -> u32 {
        sys::rq_update_blocked(pol, self, now, irq_ns, runs, lost_capacity)
    }
}
