// SPDX-License-Identifier: GPL-2.0-only
//! CFS (before 6.6, SPEC J.2): run the entity with the smallest virtual runtime; a waking task gets a bounded credit.

use super::fair::{Entities, FairEntity, FairRq, to_virtual};
use crate::state::NO_TASK;

/// Base parameters, already scaled by the CPU count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// Period in which every runnable task runs once, ns.
    pub latency_ns: u64,
    /// Shortest slice, ns.
    pub min_granularity_ns: u64,
    /// How far behind a wakee must be to preempt, ns.
    pub wakeup_granularity_ns: u64,
}

impl Params {
    /// Values grow with the logarithm of the CPU count, up to 8 CPUs.
    pub(crate) fn new(nr_cpus: u32) -> Params {
        let factor = u64::from(1 + nr_cpus.clamp(1, 8).ilog2());
        Params {
            latency_ns: 6_000_000 * factor,
            min_granularity_ns: 750_000 * factor,
            wakeup_granularity_ns: 1_000_000 * factor,
        }
    }

    /// Period of a queue with so many entities.
    pub(super) fn period_ns(self, nr_queued: u32) -> u64 {
        self.latency_ns.max(u64::from(nr_queued) * self.min_granularity_ns)
    }

    /// Share of the period of a task that is on the queue, or about to be (`joins`).
    pub(super) fn slice_ns<E: Entities>(self, rq: &FairRq, e: &E, task: u32, joins: bool) -> u64 {
        share_ns(rq, e, task, joins, self.period_ns(rq.nr_queued() + u32::from(joins)))
    }
}

/// What an entity of the queue, or one about to be (`joins`), gets of a time that belongs to all of them.
pub(super) fn share_ns<E: Entities>(rq: &FairRq, e: &E, entity: u32, joins: bool, whole_ns: u64) -> u64 {
    let own = e.fair(entity).weight;
    let running = if rq.curr == NO_TASK { 0 } else { e.fair(rq.curr).weight };
    let total = rq.sum_w as u64 + running + if joins { own } else { 0 };
    whole_ns * own / total.max(1)
}

/// New tasks start one slice behind; sleepers get at most half a latency period of credit.
pub(super) fn place<E: Entities>(rq: &FairRq, p: Params, e: &mut E, task: u32, wakeup: bool, slice_ns: u64) {
    let min = rq.min_vruntime;
    let ent = e.fair_mut(task);
    if ent.fresh {
        ent.vruntime = min + to_virtual(slice_ns, ent.weight);
    } else if ent.detached {
        ent.vruntime += min;
    }
    ent.detached = false;
    if wakeup {
        ent.vruntime = ent.vruntime.max(min - (p.latency_ns / 2) as i64);
    }
}

/// A new task starts one slice of its parent's queue behind, relative to that queue: on a queue where it is alone it owes
/// no more than a brother between others.
pub(super) fn fork<E: Entities>(rq: &FairRq, e: &mut E, task: u32, slice_ns: u64) {
    if rq.curr != NO_TASK {
        e.fair_mut(task).vruntime = e.fair(rq.curr).vruntime;
    }
    let ent = e.fair_mut(task);
    ent.vruntime = ent.vruntime.max(rq.min_vruntime + to_virtual(slice_ns, ent.weight));
    ent.fresh = false;
    make_relative(rq, ent);
}

/// Leaving for another queue makes vruntime relative.
pub(super) fn leave<E: Entities>(rq: &FairRq, e: &mut E, task: u32, sleeping: bool) {
    if !sleeping {
        make_relative(rq, e.fair_mut(task));
    }
}

/// vruntime relative to this queue's minimum.
pub(crate) fn make_relative(rq: &FairRq, ent: &mut FairEntity) {
    if !ent.detached && !ent.fresh {
        ent.vruntime -= rq.min_vruntime;
        ent.detached = true;
    }
}

/// `ideal`: the slice of the running entity.
pub(super) fn tick_preempts<E: Entities>(rq: &FairRq, p: Params, e: &E, ideal: u64) -> bool {
    let curr = e.fair(rq.curr);
    if curr.ran_since_pick_ns > ideal {
        return true;
    }
    if curr.ran_since_pick_ns < p.min_granularity_ns {
        return false;
    }
    let leftmost = rq.queue.iter().map(|&t| e.fair(t).vruntime).min().unwrap_or(i64::MAX);
    curr.vruntime.saturating_sub(leftmost) > ideal as i64
}

pub(super) fn wakeup_preempts(p: Params, curr: &FairEntity, new: &FairEntity) -> bool {
    curr.vruntime - new.vruntime > to_virtual(p.wakeup_granularity_ns, new.weight)
}

pub(super) fn pick<E: Entities>(rq: &FairRq, e: &E) -> u32 {
    let left = rq.queue.iter().copied().min_by_key(|&t| e.fair(t).vruntime).unwrap_or(NO_TASK);
    if rq.curr != NO_TASK && e.fair(rq.curr).vruntime < e.fair(left).vruntime { rq.curr } else { left }
}
