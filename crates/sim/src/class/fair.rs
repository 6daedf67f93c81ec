// SPDX-License-Identifier: GPL-2.0-only
//! Fair runqueue: what CFS and EEVDF share. Times are virtual nanoseconds (wall time scaled by 1024 / weight).
//!
//! The running entity is not in `queue`. The average virtual time is kept as sums relative to a moving zero point, so no
//! operation but picking walks the queue.

use super::{cfs, eevdf};
use crate::state::NO_TASK;

/// Which fair scheduler the profile has, with its base parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FairKind {
    /// Before 6.6.
    Cfs(cfs::Params),
    /// 6.6 and later.
    Eevdf(eevdf::Params),
}

/// Fair part of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct FairEntity {
    pub weight: u64,
    pub vruntime: i64,
    pub deadline: i64,
    pub vlag: i64,
    /// Slice asked for by the task, ns; 0 = the base slice.
    pub custom_slice_ns: u64,
    /// SCHED_BATCH or SCHED_IDLE: does not preempt.
    pub batch: bool,
    /// SCHED_IDLE: is preempted by everybody else.
    pub idle_policy: bool,
    /// `deadline` is relative to `vruntime` (task is moving between queues).
    pub relative_deadline: bool,
    /// Queued although asleep, until its lag is used up.
    pub delayed: bool,
    /// Never enqueued before.
    pub fresh: bool,
    /// The running entity is protected from wake-up preemption until this vruntime.
    pub protected_until: i64,
    /// Execution time since it was picked, ns (CFS slice check).
    pub ran_since_pick_ns: u64,
    /// vruntime is relative to `min_vruntime` of no queue (CFS migration).
    pub detached: bool,
}

/// Fair queue of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct FairRq {
    /// Queued tasks except the running one.
    pub queue: Vec<u32>,
    /// Running fair task or `NO_TASK`.
    pub curr: u32,
    pub(super) zero: i64,
    pub(super) sum_wv: i64,
    pub(super) sum_w: i64,
    pub(super) min_vruntime: i64,
    /// Queued entities with a pending delayed dequeue.
    pub delayed: u32,
    /// Root queue: runnable tasks in groups, less the groups' entities that are queued here and not delayed.
    pub below: i32,
}

impl Default for FairRq {
    fn default() -> Self {
        FairRq { queue: Vec::new(), curr: NO_TASK, zero: 0, sum_wv: 0, sum_w: 0, min_vruntime: 0, delayed: 0, below: 0 }
    }
}

/// Access to the fair part of tasks by number.
pub(crate) trait Entities {
    /// Fair part of a task.
    fn fair(&self, task: u32) -> &FairEntity;
    /// Fair part of a task, writable.
    fn fair_mut(&mut self, task: u32) -> &mut FairEntity;
}

/// Wall time to virtual time.
pub(crate) fn to_virtual(wall_ns: u64, weight: u64) -> i64 {
    if weight == 1024 { wall_ns as i64 } else { (wall_ns.min(1 << 50) * 1024 / weight.max(1)) as i64 }
}

impl FairRq {
    /// Runnable tasks including the running one, without delayed ones; of the root queue.
    pub(crate) fn nr_runnable(&self) -> u32 {
        (self.queue.len() as u32 + u32::from(self.curr != NO_TASK)).wrapping_add_signed(self.below) - self.delayed
    }

    /// A runnable task waits, of the root queue.
    pub(crate) fn has_waiting(&self) -> bool {
        (self.queue.len() as u32).wrapping_add_signed(self.below) > self.delayed
    }

    /// All entities of the queue, the running one included.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.queue.iter().copied().chain((self.curr != NO_TASK).then_some(self.curr))
    }

    /// Weight of the waiting entities.
    #[cfg(test)]
    pub(crate) fn waiting_weight(&self) -> i64 {
        self.sum_w
    }

    /// Entities competing, including the running one and delayed ones.
    pub(crate) fn nr_queued(&self) -> u32 {
        self.queue.len() as u32 + u32::from(self.curr != NO_TASK)
    }

    fn add_weight<E: Entities>(&mut self, e: &E, task: u32) {
        let ent = e.fair(task);
        // Only EEVDF reads this sum and keeps it small; under CFS it may wrap.
        self.sum_wv = self.sum_wv.wrapping_add((ent.weight as i64).wrapping_mul(ent.vruntime - self.zero));
        self.sum_w += ent.weight as i64;
    }

    fn take_weight<E: Entities>(&mut self, e: &E, task: u32) {
        let ent = e.fair(task);
        self.sum_wv = self.sum_wv.wrapping_sub((ent.weight as i64).wrapping_mul(ent.vruntime - self.zero));
        self.sum_w -= ent.weight as i64;
    }

    pub(super) fn insert<E: Entities>(&mut self, e: &E, task: u32) {
        self.add_weight(e, task);
        self.queue.push(task);
    }

    pub(super) fn remove<E: Entities>(&mut self, e: &E, task: u32) {
        if let Some(i) = self.queue.iter().position(|&t| t == task) {
            self.queue.remove(i);
            self.take_weight(e, task);
        }
    }

    /// Puts a task that becomes runnable here in its place.
    pub(crate) fn enqueue<E: Entities>(&mut self, kind: FairKind, e: &mut E, task: u32, wakeup: bool) {
        let slice_ns = self.slice_ns(kind, e, task, true);
        self.enqueue_with(kind, e, task, wakeup, slice_ns);
    }

    /// CFS: slice of an entity of the root queue, or of one about to join it.
    fn slice_ns<E: Entities>(&self, kind: FairKind, e: &E, task: u32, joins: bool) -> u64 {
        if let FairKind::Cfs(p) = kind { p.slice_ns(self, e, task, joins) } else { 0 }
    }

    /// The same at any level, where the slice is known.
    pub(super) fn enqueue_with<E: Entities>(
        &mut self,
        kind: FairKind,
        e: &mut E,
        task: u32,
        wakeup: bool,
        slice_ns: u64,
    ) {
        match kind {
            FairKind::Cfs(p) => cfs::place(self, p, e, task, wakeup, slice_ns),
            FairKind::Eevdf(p) => eevdf::place(self, p, e, task),
        }
        e.fair_mut(task).fresh = false;
        self.insert(e, task);
        self.advance_min(kind, e);
    }

    /// A task is made by the one that runs here. CFS places it on its parent's queue, wherever it will run.
    pub(crate) fn fork<E: Entities>(&self, kind: FairKind, e: &mut E, task: u32) {
        let slice_ns = self.slice_ns(kind, e, task, true);
        self.fork_with(kind, e, task, slice_ns);
    }

    /// The same at any level, where the slice is known.
    pub(super) fn fork_with<E: Entities>(&self, kind: FairKind, e: &mut E, task: u32, slice_ns: u64) {
        if let FairKind::Cfs(_) = kind {
            cfs::fork(self, e, task, slice_ns);
        }
    }

    /// A group's entity gets another weight. EEVDF keeps its lag and the rest of its request in time of the clock.
    pub(super) fn reweight<E: Entities>(&mut self, kind: FairKind, e: &mut E, entity: u32, queued: bool, weight: u64) {
        let waits = queued && self.curr != entity;
        if waits {
            self.take_weight(e, entity);
        }
        match kind {
            FairKind::Cfs(_) => e.fair_mut(entity).weight = weight,
            FairKind::Eevdf(_) => eevdf::reweight(self, e, entity, queued, weight),
        }
        if waits {
            self.add_weight(e, entity);
        }
    }

    /// Takes a task off. `sleeping` keeps its lag for the next wake-up, otherwise it moves to another queue.
    pub(crate) fn dequeue<E: Entities>(&mut self, kind: FairKind, e: &mut E, task: u32, sleeping: bool) {
        match kind {
            FairKind::Cfs(_) => cfs::leave(self, e, task, sleeping),
            FairKind::Eevdf(p) => eevdf::leave(self, p, e, task, sleeping),
        }
        if e.fair(task).delayed {
            e.fair_mut(task).delayed = false;
            self.delayed -= 1;
        }
        if self.curr == task {
            self.curr = NO_TASK;
        } else {
            self.remove(e, task);
        }
        self.advance_min(kind, e);
    }

    /// A task whose dequeue was delayed is woken: it keeps its place, or starts anew when its debt is paid.
    pub(crate) fn requeue<E: Entities>(&mut self, kind: FairKind, e: &mut E, task: u32) {
        e.fair_mut(task).delayed = false;
        self.delayed -= 1;
        if let FairKind::Eevdf(p) = kind
            && self.curr != task
            && eevdf::paid_its_debt(self, e, task)
        {
            self.remove(e, task);
            e.fair_mut(task).vlag = 0;
            eevdf::place(self, p, e, task);
            self.insert(e, task);
        }
    }

    /// A task that sleeps wakes on another queue: CFS takes its place relative to this one along, EEVDF has its lag.
    pub(crate) fn leave_asleep(&self, kind: FairKind, ent: &mut FairEntity) {
        if let FairKind::Cfs(_) = kind {
            cfs::make_relative(self, ent);
        }
    }

    /// The chosen task becomes the running one.
    pub(crate) fn set_curr<E: Entities>(&mut self, kind: FairKind, e: &mut E, task: u32) {
        self.remove(e, task);
        self.curr = task;
        e.fair_mut(task).ran_since_pick_ns = 0;
        if let FairKind::Eevdf(p) = kind {
            eevdf::protect(self, p, e, task);
        }
    }

    /// The running task goes back to the queue, still runnable.
    pub(crate) fn put_curr<E: Entities>(&mut self, e: &E) {
        let task = std::mem::replace(&mut self.curr, NO_TASK);
        if task != NO_TASK {
            self.insert(e, task);
        }
    }

    /// Charges `delta_ns` to the running task; true when its request is used up and somebody else waits.
    pub(crate) fn charge<E: Entities>(&mut self, kind: FairKind, e: &mut E, delta_ns: u64) -> bool {
        if self.curr == NO_TASK || delta_ns == 0 {
            return false;
        }
        let ent = e.fair_mut(self.curr);
        ent.vruntime += to_virtual(delta_ns, ent.weight);
        ent.ran_since_pick_ns += delta_ns;
        let renewed = match kind {
            FairKind::Cfs(_) => false,
            FairKind::Eevdf(p) => eevdf::renew(p, ent),
        };
        self.advance_min(kind, e);
        renewed && !self.queue.is_empty()
    }

    /// At the tick: should the running task give way?
    pub(crate) fn tick_preempts<E: Entities>(&self, kind: FairKind, e: &E) -> bool {
        if self.curr == NO_TASK || self.queue.is_empty() {
            return false;
        }
        self.tick_preempts_with(kind, e, self.slice_ns(kind, e, self.curr, false))
    }

    /// The same at any level, where the slice of the running entity is known.
    pub(super) fn tick_preempts_with<E: Entities>(&self, kind: FairKind, e: &E, slice_ns: u64) -> bool {
        match kind {
            FairKind::Cfs(p) => cfs::tick_preempts(self, p, e, slice_ns),
            FairKind::Eevdf(_) => e.fair(self.curr).vruntime >= e.fair(self.curr).protected_until,
        }
    }

    /// Does the woken task `wakee` preempt the running one?
    pub(crate) fn wakeup_preempts<E: Entities>(&mut self, kind: FairKind, e: &mut E, wakee: u32) -> bool {
        match preempts_by_policy(e.fair(self.curr), e.fair(wakee)) {
            Some(decided) => decided,
            None => self.entity_preempts(kind, e, wakee),
        }
    }

    /// The same between entities of this level, policies aside.
    pub(super) fn entity_preempts<E: Entities>(&mut self, kind: FairKind, e: &mut E, wakee: u32) -> bool {
        match kind {
            FairKind::Cfs(p) => cfs::wakeup_preempts(p, e.fair(self.curr), e.fair(wakee)),
            FairKind::Eevdf(p) => eevdf::wakeup_preempts(self, p, e, wakee),
        }
    }

    /// The task to run next, which may be the running one or a delayed one; `NO_TASK` when empty.
    pub(crate) fn pick<E: Entities>(&self, kind: FairKind, e: &E) -> u32 {
        if self.queue.is_empty() {
            return self.curr;
        }
        match kind {
            FairKind::Cfs(_) => cfs::pick(self, e),
            FairKind::Eevdf(_) => eevdf::pick(self, e, true),
        }
    }

    /// Yields: the running task goes behind the others.
    pub(crate) fn yield_curr<E: Entities>(&mut self, kind: FairKind, e: &mut E) {
        let latest = self.queue.iter().map(|&t| e.fair(t).vruntime).max();
        let curr = self.curr;
        if let (FairKind::Cfs(_), Some(v)) = (kind, latest) {
            e.fair_mut(curr).vruntime = e.fair(curr).vruntime.max(v + 1);
        } else if let FairKind::Eevdf(p) = kind {
            eevdf::forfeit(self, p, e, curr);
        }
    }

    /// CFS only: EEVDF has its average, which `leave` keeps when the queue becomes empty.
    fn advance_min<E: Entities>(&mut self, kind: FairKind, e: &E) {
        if let FairKind::Eevdf(_) = kind {
            return;
        }
        let curr = (self.curr != NO_TASK).then(|| e.fair(self.curr).vruntime);
        let queued = self.queue.iter().map(|&t| e.fair(t).vruntime).min();
        if let Some(v) = curr.into_iter().chain(queued).min() {
            self.min_vruntime = self.min_vruntime.max(v);
        }
    }
}

/// Whether a woken task preempts the running one, where their policies say so.
pub(super) fn preempts_by_policy(curr: &FairEntity, new: &FairEntity) -> Option<bool> {
    if curr.idle_policy && !new.idle_policy {
        return Some(true);
    }
    (new.batch || new.idle_policy).then_some(false)
}
