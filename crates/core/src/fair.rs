// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair class. Each function is the C function of the same name in `fair.h`, `fair_cfs.h`, `fair_eevdf.h` or
//! `fair_reweight.h`. `c` is the running entity of the queue; where that is asked about itself, it is a copy.

use crate::policy::Policy;
use crate::sys;
pub use crate::sys::NICE_LEVELS;
pub use crate::sys::{
    FairRq, FairSe, FairTunables, avg_vruntime, avg_vruntime_add, avg_vruntime_sub, calc_delta, cancel_protect_slice,
    check_preempt_tick, curr_gives_way, delay_dequeue, entity_before, entity_before_cfs, entity_eligible,
    fair_tunables_init, finish_delayed_dequeue, keeps_curr, leave_entity, picks_curr, place_entity, place_entity_cfs,
    preempt_short, protect_slice, requeue_delayed, set_protect_slice, skip_takes_second, slice_floor, slice_period,
    slice_share, task_inv_weight, task_weight, update_curr, update_deadline, update_min_vruntime, vtime,
    wakee_may_preempt, wakee_waits, wakeup_preempt_entity, yield_entity,
};

/// Is the least virtual time of a queue kept at all?
#[inline]
#[must_use]
pub fn keeps_min_vruntime(p: &Policy) -> bool {
    sys::keeps_min_vruntime(p) != 0
}

/// Preemption by a wakee, where policies decide: 0 = no, 1 = yes, 2 = entities are compared. `idle`: the running task
/// and the wakee are of SCHED_IDLE; `at`: so are they, or the groups they are in, where they meet.
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

/// EEVDF: the running entity ran for `delta_ns`; does it give way?
#[inline]
#[must_use]
pub fn update_curr_eevdf(p: &Policy, t: &FairTunables, q: &mut FairRq, s: &mut FairSe, delta_ns: u64) -> bool {
    sys::update_curr_eevdf(p, t, q, s, delta_ns) != 0
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
