// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair class. Each function is the C function of the same name in `fair.h`, `fair_cfs.h`, `fair_eevdf.h` or
//! `fair_reweight.h`. `c` is the running entity of the queue; where that is asked about itself, it is a copy.

use crate::policy::Policy;
use crate::sys;
pub use crate::sys::NICE_LEVELS;
pub use crate::sys::{FairRq, FairSe, FairTunables};

/// Weight of a task by its nice value + 20, scaled down; beyond the last level that of SCHED_IDLE.
#[inline]
#[must_use]
pub fn task_weight(level: u32) -> u32 {
    sys::task_weight(level)
}

/// 2^32 / weight by the kernel's table.
#[inline]
#[must_use]
pub fn task_inv_weight(level: u32) -> u32 {
    sys::task_inv_weight(level)
}

/// `delta * weight / lw_weight` as the kernel rounds it.
#[inline]
#[must_use]
pub fn calc_delta(p: &Policy, delta: u64, weight: u64, lw_weight: u64, lw_inv: u32) -> u64 {
    sys::calc_delta(p, delta, weight, lw_weight, lw_inv)
}

/// Real time as virtual time of an entity.
#[inline]
#[must_use]
pub fn vtime(p: &Policy, delta_ns: u64, s: &FairSe) -> u64 {
    sys::vtime(p, delta_ns, s)
}

/// Slices and granularities of a machine.
#[inline]
pub fn fair_tunables_init(p: &Policy, t: &mut FairTunables, nr_cpus: u32, tick_ns: u64) {
    sys::fair_tunables_init(p, t, nr_cpus, tick_ns);
}

/// The running entity ran.
#[inline]
pub fn update_curr(p: &Policy, s: &mut FairSe, delta_ns: u64) {
    sys::update_curr(p, s, delta_ns);
}

/// The entity waits now.
#[inline]
pub fn avg_vruntime_add(p: &Policy, q: &mut FairRq, s: &FairSe) {
    sys::avg_vruntime_add(p, q, s);
}

/// The entity no longer waits.
#[inline]
pub fn avg_vruntime_sub(p: &Policy, q: &mut FairRq, s: &FairSe) {
    sys::avg_vruntime_sub(p, q, s);
}

/// Is the least virtual time of a queue kept at all?
#[inline]
#[must_use]
pub fn keeps_min_vruntime(p: &Policy) -> bool {
    sys::keeps_min_vruntime(p) != 0
}

/// The least virtual time follows the running entity and the first that waits.
#[inline]
pub fn update_min_vruntime(p: &Policy, q: &mut FairRq, c: Option<&FairSe>, f: Option<&FairSe>) {
    sys::update_min_vruntime(p, q, c, f);
}

/// Whether a wakee preempts, where policies decide: 0 = no, 1 = yes, 2 = entities are compared. `idle`: the running
/// task and the wakee are of SCHED_IDLE; `at`: so are they, or the groups they are in, where they meet.
#[inline]
#[must_use]
pub fn preempt_by_policy(p: &Policy, idle: [bool; 2], at: [bool; 2], batch: bool) -> u32 {
    let ([curr, wakee], [curr_at, wakee_at]) = (idle.map(u32::from), at.map(u32::from));
    sys::preempt_by_policy(p, curr, wakee, curr_at, wakee_at, batch.into())
}

/// Does a running entity that gives way because it is idle lose its protection with that?
#[inline]
#[must_use]
pub fn idle_unprotected(p: &Policy) -> bool {
    sys::idle_unprotected(p) != 0
}

/// CFS: the period that an entity shares in.
#[inline]
#[must_use]
pub fn slice_period(p: &Policy, t: &FairTunables, q: &FairRq, s: &FairSe, all: u32) -> u64 {
    sys::slice_period(p, t, q, s, all)
}

/// CFS: part of a slice that belongs to an entity at its level.
#[inline]
#[must_use]
pub fn slice_share(p: &Policy, q: &FairRq, s: &FairSe, slice_ns: u64) -> u64 {
    sys::slice_share(p, q, s, slice_ns)
}

/// CFS: the slice, not below the minimum.
#[inline]
#[must_use]
pub fn slice_floor(p: &Policy, t: &FairTunables, s: &FairSe, idle_only: u32, slice_ns: u64) -> u64 {
    sys::slice_floor(p, t, s, idle_only, slice_ns)
}

/// CFS: places an entity that joins.
#[inline]
pub fn place_entity_cfs(
    p: &Policy,
    t: &FairTunables,
    q: &FairRq,
    s: &mut FairSe,
    initial: u32,
    slice_ns: u64,
    slept_ns: u64,
) {
    sys::place_entity_cfs(p, t, q, s, initial, slice_ns, slept_ns);
}

/// CFS: -1 = not behind, 0 = not enough, 1 = preempts.
#[inline]
#[must_use]
pub fn wakeup_preempt_entity(p: &Policy, t: &FairTunables, c: &FairSe, s: &FairSe) -> i32 {
    sys::wakeup_preempt_entity(p, t, c, s)
}

/// CFS: does the running entity give way at the tick?
#[inline]
#[must_use]
pub fn check_preempt_tick(t: &FairTunables, c: &FairSe, f: &FairSe, slice_ns: u64) -> u32 {
    sys::check_preempt_tick(t, c, f, slice_ns)
}

/// CFS: which is first.
#[inline]
#[must_use]
pub fn entity_before_cfs(s: &FairSe, o: &FairSe) -> u32 {
    sys::entity_before_cfs(s, o)
}

/// CFS: after a yield of the first, is the second taken?
#[inline]
#[must_use]
pub fn skip_takes_second(p: &Policy, t: &FairTunables, s: &FairSe, f: &FairSe) -> u32 {
    sys::skip_takes_second(p, t, s, f)
}

/// Average virtual time.
#[inline]
#[must_use]
pub fn avg_vruntime(p: &Policy, q: &mut FairRq, c: Option<&FairSe>) -> i64 {
    sys::avg_vruntime(p, q, c)
}

/// Time until the running entity's request is over, for the timer that ends it; `None`: it is over. Interrupts take
/// `util_irq` of 1024 of the time.
#[inline]
#[must_use]
pub fn hrtick_start_fair(s: &FairSe, util_irq: u32) -> Option<u64> {
    u64::try_from(sys::hrtick_start_fair(s, util_irq)).ok()
}

/// Does a timer that expires at `at_ns` stay when it is wanted at `wanted_ns`?
#[inline]
#[must_use]
pub fn hrtick_stays(at_ns: u64, wanted_ns: u64) -> bool {
    sys::hrtick_stays(at_ns, wanted_ns) != 0
}

/// Had it no more than its share?
#[inline]
#[must_use]
pub fn entity_eligible(p: &Policy, q: &FairRq, c: Option<&FairSe>, s: &FairSe) -> u32 {
    sys::entity_eligible(p, q, c, s)
}

/// Is its deadline before the other's?
#[inline]
#[must_use]
pub fn entity_before(s: &FairSe, o: &FairSe) -> u32 {
    sys::entity_before(s, o)
}

/// The entity wants to sleep: is its dequeue delayed?
#[inline]
#[must_use]
pub fn delay_dequeue(p: &Policy, t: &FairTunables, q: &mut FairRq, c: Option<&FairSe>, s: &mut FairSe) -> u32 {
    sys::delay_dequeue(p, t, q, c, s)
}

/// A delayed entity wakes: is it placed anew?
#[inline]
#[must_use]
pub fn requeue_delayed(p: &Policy, t: &FairTunables, q: &mut FairRq, c: Option<&FairSe>, s: &mut FairSe) -> u32 {
    sys::requeue_delayed(p, t, q, c, s)
}

/// A delayed entity left.
#[inline]
pub fn finish_delayed_dequeue(s: &mut FairSe) {
    sys::finish_delayed_dequeue(s);
}

/// The entity leaves its queue.
#[inline]
pub fn leave_entity(p: &Policy, t: &FairTunables, q: &mut FairRq, c: Option<&FairSe>, s: &mut FairSe, sleeps: u32) {
    sys::leave_entity(p, t, q, c, s, sleeps);
}

/// The entity joins.
#[inline]
pub fn place_entity(p: &Policy, t: &FairTunables, q: &mut FairRq, c: Option<&FairSe>, s: &mut FairSe, initial: u32) {
    sys::place_entity(p, t, q, c, s, initial);
}

/// Did a new request begin?
#[inline]
#[must_use]
pub fn update_deadline(p: &Policy, t: &FairTunables, q: &mut FairRq, c: Option<&FairSe>, s: &mut FairSe) -> u32 {
    sys::update_deadline(p, t, q, c, s)
}

/// The running entity yields.
#[inline]
pub fn yield_entity(p: &Policy, t: &FairTunables, q: &mut FairRq, s: &mut FairSe) {
    sys::yield_entity(p, t, q, s);
}

/// Is the running entity protected from wake-ups?
#[inline]
#[must_use]
pub fn protect_slice(p: &Policy, s: &FairSe) -> u32 {
    sys::protect_slice(p, s)
}

/// No longer.
#[inline]
pub fn cancel_protect_slice(p: &Policy, s: &mut FairSe) {
    sys::cancel_protect_slice(p, s);
}

/// An entity begins to run.
#[inline]
pub fn set_protect_slice(p: &Policy, q: &FairRq, s: &mut FairSe) {
    sys::set_protect_slice(p, q, s);
}

/// Does a wakee pass the protection?
#[inline]
#[must_use]
pub fn preempt_short(p: &Policy, q: &FairRq, c: &FairSe, s: &FairSe) -> u32 {
    sys::preempt_short(p, q, c, s)
}

/// Is a wakee looked at?
#[inline]
#[must_use]
pub fn wakee_may_preempt(p: &Policy, s: &FairSe, passes: u32, is_new: u32) -> u32 {
    sys::wakee_may_preempt(p, s, passes, is_new)
}

/// It was, and is not next.
#[inline]
pub fn wakee_waits(p: &Policy, q: &FairRq, s: &mut FairSe, passes: u32) {
    sys::wakee_waits(p, q, s, passes);
}

/// Does the running entity give way, once time was accounted?
#[inline]
#[must_use]
pub fn curr_gives_way(p: &Policy, q: &FairRq, c: &FairSe, renewed: u32) -> u32 {
    sys::curr_gives_way(p, q, c, renewed)
}

/// EEVDF: the running entity ran for `delta_ns`; does it give way?
#[inline]
#[must_use]
pub fn update_curr_eevdf(p: &Policy, t: &FairTunables, q: &mut FairRq, s: &mut FairSe, delta_ns: u64) -> bool {
    sys::update_curr_eevdf(p, t, q, s, delta_ns) != 0
}

/// Is the running entity picked without a look at the others?
#[inline]
#[must_use]
pub fn keeps_curr(p: &Policy, q: &FairRq, c: Option<&FairSe>, protect: u32) -> u32 {
    sys::keeps_curr(p, q, c, protect)
}

/// The running entity rather than the best that waits?
#[inline]
#[must_use]
pub fn picks_curr(p: &Policy, c: &FairSe, s: &FairSe) -> u32 {
    sys::picks_curr(p, c, s)
}

/// Another weight for an entity that runs (`c` is not read then), waits, or is not queued.
#[inline]
pub fn reweight_entity_fair(
    p: &Policy,
    t: &FairTunables,
    q: &mut FairRq,
    c: Option<&FairSe>,
    s: &mut FairSe,
    runs: bool,
    (weight, inv_weight): (u64, u32),
) {
    sys::reweight_entity_of(p, t, q, c, s, runs.into(), weight, inv_weight);
}
