// SPDX-License-Identifier: GPL-2.0-only
//! EEVDF (6.6 and later, SPEC J.2): run the eligible entity with the earliest virtual deadline.
//!
//! Eligible means: it has received no more than its fair share, vruntime <= average vruntime V. The comparison is done on
//! sums, without a division.

use super::fair::{Entities, FairEntity, FairRq, to_virtual};
use crate::state::NO_TASK;

/// Base parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// Slice of a task that asked for none, ns.
    pub base_slice_ns: u64,
    /// Tick length, ns (bounds the lag).
    pub tick_ns: u64,
}

impl Params {
    /// Base slice grows with the logarithm of the CPU count, up to 8 CPUs.
    pub(crate) fn new(base_slice_ns: u64, nr_cpus: u32, tick_ns: u64) -> Params {
        Params { base_slice_ns: base_slice_ns * u64::from(1 + nr_cpus.clamp(1, 8).ilog2()), tick_ns }
    }

    fn slice_ns(self, ent: &FairEntity) -> u64 {
        if ent.custom_slice_ns != 0 { ent.custom_slice_ns } else { self.base_slice_ns }
    }

    fn virtual_slice(self, ent: &FairEntity) -> i64 {
        to_virtual(self.slice_ns(ent), ent.weight)
    }
}

/// Sums over queued and running entities: (sum of w * (v - zero), sum of w).
fn sums<E: Entities>(rq: &FairRq, e: &E) -> (i64, i64) {
    if rq.curr == NO_TASK {
        return (rq.sum_wv, rq.sum_w);
    }
    let c = e.fair(rq.curr);
    (rq.sum_wv + c.weight as i64 * (c.vruntime - rq.zero), rq.sum_w + c.weight as i64)
}

/// Average virtual time V; also moves the zero point there so that the sums stay small.
fn average<E: Entities>(rq: &mut FairRq, e: &E) -> i64 {
    let (wv, w) = sums(rq, e);
    let v = if w == 0 { rq.zero } else { rq.zero + wv.div_euclid(w) };
    rq.sum_wv -= rq.sum_w * (v - rq.zero);
    rq.zero = v;
    v
}

fn eligible<E: Entities>(rq: &FairRq, e: &E, task: u32) -> bool {
    let (wv, w) = sums(rq, e);
    wv >= (e.fair(task).vruntime - rq.zero) * w
}

/// True when the task has received more than its share (its dequeue is delayed).
pub(crate) fn over_served<E: Entities>(rq: &FairRq, e: &E, task: u32) -> bool {
    !eligible(rq, e, task)
}

/// True when the task has received less than its share.
pub(super) fn paid_its_debt<E: Entities>(rq: &mut FairRq, e: &E, task: u32) -> bool {
    average(rq, e) > e.fair(task).vruntime
}

/// Places a task so that its lag is what it was when it left.
pub(super) fn place<E: Entities>(rq: &mut FairRq, p: Params, e: &mut E, task: u32) {
    let v = average(rq, e);
    let (_, total) = sums(rq, e);
    let ent = e.fair_mut(task);
    let w = ent.weight as i64;
    let lag = if total > 0 && ent.vlag != 0 { scaled_lag(ent.vlag, total, w) } else { 0 };
    ent.vruntime = v - lag;
    if ent.relative_deadline {
        ent.deadline += ent.vruntime;
        ent.relative_deadline = false;
    } else {
        let vs = p.virtual_slice(ent);
        ent.deadline = ent.vruntime + if ent.fresh { vs / 2 } else { vs };
    }
}

/// Another weight: lag and what is left of the request stay what they are in time of the clock. The entity is the running
/// one, waits (its weight is out of the sums), or is not queued.
pub(super) fn reweight<E: Entities>(rq: &mut FairRq, e: &mut E, entity: u32, queued: bool, weight: u64) {
    let old = e.fair(entity).weight.max(1);
    let scaled = |v: i64| (i128::from(v) * i128::from(old) / i128::from(weight.max(1))) as i64;
    if !queued {
        let ent = e.fair_mut(entity);
        ent.vlag = scaled(ent.vlag);
        if ent.relative_deadline {
            ent.deadline = scaled(ent.deadline);
        }
        ent.weight = weight;
        return;
    }
    let curr = rq.curr;
    rq.curr = if curr == entity { NO_TASK } else { curr };
    let (wv, w) = sums(rq, e);
    rq.curr = curr;
    let ent = e.fair_mut(entity);
    // The average with the entity in it, before and after: its lag does not change.
    let all = |weight: u64| i128::from(w) + i128::from(weight);
    let away = i128::from(ent.vruntime - rq.zero);
    let lag = (i128::from(wv) + i128::from(old) * away).div_euclid(all(old)) - away;
    let inflated = i128::from(scaled(lag as i64)) * all(weight);
    let vruntime = match w {
        0 => ent.vruntime,
        w => rq.zero + (wv.div_euclid(w)) - (inflated / i128::from(w)) as i64,
    };
    let (left, safe) = (scaled(ent.deadline - ent.vruntime), scaled(ent.protected_until - ent.vruntime));
    (ent.vruntime, ent.deadline, ent.protected_until) = (vruntime, vruntime + left, vruntime + safe);
    ent.weight = weight;
}

/// Shortest slice of the queue's entities, ns; 0 when it is empty or all have the base slice.
pub(super) fn min_custom_slice_ns<E: Entities>(rq: &FairRq, p: Params, e: &E) -> u64 {
    let curr = (rq.curr != NO_TASK).then_some(&rq.curr);
    let shortest = rq.queue.iter().chain(curr).map(|&t| p.slice_ns(e.fair(t))).min();
    shortest.filter(|&ns| ns != p.base_slice_ns).unwrap_or(0)
}

/// Joining moves the average; the lag is inflated so that it is right afterwards.
fn scaled_lag(vlag: i64, total: i64, w: i64) -> i64 {
    (i128::from(vlag) * i128::from(total + w) / i128::from(total)) as i64
}

/// Remembers the lag of a task that leaves.
pub(super) fn leave<E: Entities>(rq: &mut FairRq, p: Params, e: &mut E, task: u32, sleeping: bool) {
    let v = average(rq, e);
    let limit = lag_limit(rq, p, e, task);
    let ent = e.fair_mut(task);
    let lag = (v - ent.vruntime).clamp(-limit, limit);
    // An entity that competed while asleep may have paid its debt but earns no credit.
    ent.vlag = if ent.delayed { lag.min(0) } else { lag };
    if !sleeping {
        ent.deadline -= ent.vruntime;
        ent.relative_deadline = true;
    }
}

fn lag_limit<E: Entities>(rq: &FairRq, p: Params, e: &E, task: u32) -> i64 {
    let curr = (rq.curr != NO_TASK).then_some(&rq.curr);
    let longest =
        rq.queue.iter().chain(curr).chain([&task]).map(|&t| p.slice_ns(e.fair(t))).max().unwrap_or(p.base_slice_ns);
    to_virtual(longest + p.tick_ns, e.fair(task).weight)
}

/// Starts a new request when the current one is used up.
pub(super) fn renew(p: Params, ent: &mut FairEntity) -> bool {
    if ent.vruntime < ent.deadline {
        return false;
    }
    ent.deadline = ent.vruntime + p.virtual_slice(ent);
    true
}

/// sched_yield: gives up the rest of the request. An eligible task also gives up the virtual time, or it would be picked
/// again as long as the others are not eligible.
pub(super) fn forfeit<E: Entities>(rq: &FairRq, p: Params, e: &mut E, task: u32) {
    let gives_time = eligible(rq, e, task);
    let ent = e.fair_mut(task);
    if gives_time {
        ent.vruntime = ent.vruntime.max(ent.deadline);
    }
    ent.deadline += p.virtual_slice(ent);
    ent.protected_until = ent.vruntime;
}

/// A picked entity is not preempted at a wake-up before the shortest queued slice (or its own request) has run.
pub(super) fn protect<E: Entities>(rq: &FairRq, p: Params, e: &mut E, task: u32) {
    let shortest = rq.queue.iter().map(|&t| p.slice_ns(e.fair(t))).min().unwrap_or(u64::MAX);
    let ent = e.fair_mut(task);
    let shortest = shortest.min(p.slice_ns(ent));
    ent.protected_until = ent.deadline.min(ent.vruntime + to_virtual(shortest, ent.weight));
}

/// Earliest eligible deadline; the protected running entity first when `keep_curr`.
pub(super) fn pick<E: Entities>(rq: &FairRq, e: &E, keep_curr: bool) -> u32 {
    let curr_ok = rq.curr != NO_TASK && eligible(rq, e, rq.curr);
    if keep_curr && curr_ok && e.fair(rq.curr).vruntime < e.fair(rq.curr).protected_until {
        return rq.curr;
    }
    let best = rq.queue.iter().copied().filter(|&t| eligible(rq, e, t)).min_by_key(|&t| e.fair(t).deadline);
    match best {
        // Among equals the queued one is first: the kernel replaces its choice only by an earlier deadline.
        Some(t) if curr_ok && e.fair(rq.curr).deadline < e.fair(t).deadline => rq.curr,
        Some(t) => t,
        None if rq.curr != NO_TASK => rq.curr,
        None => rq.queue.iter().copied().min_by_key(|&t| e.fair(t).vruntime).unwrap_or(NO_TASK),
    }
}

/// Wake-up preemption: a wakee with a shorter slice cancels the protection.
pub(super) fn wakeup_preempts<E: Entities>(rq: &mut FairRq, p: Params, e: &mut E, wakee: u32) -> bool {
    let shorter = p.slice_ns(e.fair(wakee)) < p.slice_ns(e.fair(rq.curr));
    if pick(rq, e, !shorter) == wakee {
        return true;
    }
    let limit = e.fair(rq.curr).vruntime + to_virtual(p.slice_ns(e.fair(wakee)), e.fair(rq.curr).weight);
    let curr = e.fair_mut(rq.curr);
    curr.protected_until = curr.protected_until.min(limit);
    false
}
