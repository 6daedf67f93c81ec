// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair class: CFS and EEVDF. The queue is a list, every sum is made anew, and nothing wraps.

use crate::rules::{
    BaseSlice, CfsSlice, CustomSlice, DelayedDequeue, DelayedLag, FairClass, FairReweight, FairWeight, FairYield,
    FairZero, ForkPreempts, GroupIdle, IdleCredit, InitialSlice, LagLimit, LongSleeper, RelDeadline, Rules,
    RunToParity, VirtualTime,
};

/// Weight of nice 0, as stored.
const NICE_0: i128 = 1024 * 1024;

/// An entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Weight as stored, and 2^32 / weight where a table has it.
    pub weight: i128,
    /// See `weight`.
    pub inverse: i128,
    /// Virtual run time.
    pub vruntime: i128,
    /// Deadline; relative while `moves`.
    pub deadline: i128,
    /// Lag it left with.
    pub lag: i128,
    /// Protection of the running one.
    pub protection: i128,
    /// Slice of its request.
    pub slice: i128,
    /// Run time since it was picked.
    pub ran: i128,
    /// True when it asked for its slice.
    pub custom: bool,
    /// True when it moves with the rest of a request.
    pub moves: bool,
    /// Its dequeue is delayed.
    pub delayed: bool,
    /// SCHED_IDLE, or an idle group.
    pub idle: bool,
    /// True when it is queued, or runs.
    pub queued: bool,
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Entities on it, and others.
    pub entities: Vec<Entity>,
    /// The one that runs.
    pub curr: Option<usize>,
    /// Zero of the vruntimes.
    pub zero: i128,
    /// CPUs of the machine.
    pub cpus: i128,
    /// Time between ticks.
    pub tick: i128,
}

/// Time as virtual time of a weight: the factor keeps its upper 32 bits.
pub fn calc_delta(rules: &Rules, delta: i128, weight: i128, total: i128, inverse: i128) -> i128 {
    let units = |w: i128| (w / 1024).max(2);
    if rules.virtual_time == VirtualTime::Divide {
        return delta * weight / total;
    }
    let inverse = if inverse == 0 { (0xffff_ffff / units(total)).max(1) } else { inverse };
    let mut factor = units(weight) * inverse;
    let mut shift = 32;
    while factor >> 32 != 0 {
        (factor, shift) = (factor >> 1, shift - 1);
    }
    (delta * factor) >> shift
}

fn virtual_time(rules: &Rules, delta: i128, e: &Entity) -> i128 {
    if e.weight == NICE_0 { delta } else { calc_delta(rules, delta, NICE_0, e.weight, e.inverse) }
}

/// Preemption where it depends on SCHED_IDLE; `None` = entities are compared. `tasks`: the running one and the woken
/// one are of SCHED_IDLE; `meeting`: so is what of either meets; `batch`: the woken one is SCHED_BATCH.
pub fn idle_decides(rules: &Rules, tasks: [bool; 2], meeting: [bool; 2], batch: bool) -> Option<bool> {
    let never = batch || tasks[1];
    let levels = rules.group_idle == GroupIdle::Levels;
    match (tasks, meeting) {
        ([true, false], _) if !levels => Some(true),
        _ if !levels && never => Some(false),
        (_, [true, false]) => Some(true),
        (_, [false, true]) => Some(false),
        _ if never => Some(false),
        _ => None,
    }
}

/// Does what gives way because it is idle lose its protection?
pub fn idle_is_unprotected(rules: &Rules) -> bool {
    rules.group_idle == GroupIdle::Levels
}

fn between(v: i128, low: i128, high: i128) -> i128 {
    v.max(low).min(high)
}

impl Queue {
    fn factor(&self) -> i128 {
        1 + i128::from(self.cpus.min(8).ilog2())
    }

    fn base_slice(&self, rules: &Rules) -> i128 {
        self.factor() * if rules.base_slice == BaseSlice::Us700 { 700_000 } else { 750_000 }
    }

    fn queued(&self) -> impl Iterator<Item = &Entity> {
        self.entities.iter().filter(|e| e.queued)
    }

    fn sum_weight(&self, rules: &Rules, e: &Entity) -> i128 {
        if rules.fair_weight == FairWeight::Full { e.weight } else { (e.weight / 1024).max(2) }
    }

    fn total(&self, rules: &Rules) -> i128 {
        self.queued().map(|e| self.sum_weight(rules, e)).sum()
    }

    fn moment(&self, rules: &Rules) -> i128 {
        self.queued().map(|e| self.sum_weight(rules, e) * (e.vruntime - self.zero)).sum()
    }

    /// Average virtual time; it becomes the reference where the rules say so.
    pub fn average(&mut self, rules: &Rules) -> i128 {
        let total = self.total(rules);
        let v = self.zero + if total == 0 { 0 } else { self.moment(rules).div_euclid(total) };
        if rules.fair_zero == FairZero::Average {
            self.zero = v;
        }
        v
    }

    /// The average without entity `i`, unless that runs.
    fn average_of_others(&mut self, rules: &Rules, i: usize) -> i128 {
        self.entities[i].queued = self.curr == Some(i);
        let average = self.average(rules);
        self.entities[i].queued = true;
        average
    }

    /// Had it no more than its share?
    pub fn eligible(&self, rules: &Rules, i: usize) -> bool {
        self.moment(rules) >= (self.entities[i].vruntime - self.zero) * self.total(rules)
    }

    fn limited_lag(&self, rules: &Rules, i: usize, average: i128) -> i128 {
        let e = &self.entities[i];
        let longest = self.queued().map(|e| e.slice).max().unwrap_or(0);
        let time = match rules.lag_limit {
            LagLimit::OwnSlice => (2 * e.slice).max(self.tick),
            LagLimit::LongestSlice => longest + self.tick,
        };
        let limit = virtual_time(rules, time, e);
        between(average - e.vruntime, -limit, limit)
    }

    fn note_lag(&mut self, rules: &Rules, i: usize) -> bool {
        let average = self.average(rules);
        let mut lag = self.limited_lag(rules, i, average);
        let e = &mut self.entities[i];
        if e.delayed && rules.delayed_lag == DelayedLag::Kept {
            lag = lag.max(e.lag).min(0);
        }
        e.lag = lag;
        average - lag != e.vruntime
    }

    /// True when the dequeue of an entity that wants to sleep is delayed.
    pub fn delay(&mut self, rules: &Rules, i: usize) -> bool {
        if rules.delayed_dequeue == DelayedDequeue::Off || self.eligible(rules, i) {
            return false;
        }
        if rules.delayed_lag == DelayedLag::Kept {
            self.note_lag(rules, i);
        }
        self.entities[i].delayed = true;
        true
    }

    /// Requeues an entity that wakes while delayed; true: it is placed anew.
    pub fn requeue(&mut self, rules: &Rules, i: usize) -> bool {
        let changed = self.note_lag(rules, i);
        if rules.delayed_lag == DelayedLag::Kept {
            return changed;
        }
        let positive = self.entities[i].lag > 0;
        if positive {
            self.entities[i].lag = 0;
        }
        positive
    }

    /// Takes an entity off the queue.
    pub fn leave(&mut self, rules: &Rules, i: usize, sleeps: bool) {
        self.note_lag(rules, i);
        let e = &mut self.entities[i];
        if rules.rel_deadline == RelDeadline::On && !sleeps {
            e.deadline -= e.vruntime;
            e.moves = true;
        }
        if e.delayed {
            (e.delayed, e.lag) = (false, e.lag.min(0));
        }
    }

    fn refresh_slice(&mut self, rules: &Rules, i: usize) {
        let base = self.base_slice(rules);
        let e = &mut self.entities[i];
        if !e.custom || rules.custom_slice == CustomSlice::Off {
            e.slice = base;
        }
    }

    /// Puts an entity on the queue; `others` are there.
    pub fn place(&mut self, rules: &Rules, i: usize, initial: bool, others: bool) {
        let average = self.average(rules);
        self.refresh_slice(rules, i);
        let (total, own) = (self.total(rules), self.sum_weight(rules, &self.entities[i]));
        let e = &mut self.entities[i];
        let lag = if others { e.lag * (total + own) / total.max(1) } else { 0 };
        let mut request = virtual_time(rules, e.slice, e);
        e.vruntime = average - lag;
        if rules.rel_deadline == RelDeadline::On && e.moves {
            (e.deadline, e.moves) = (e.deadline + e.vruntime, false);
            return;
        }
        if initial && rules.initial_slice == InitialSlice::Half {
            request /= 2;
        }
        e.deadline = e.vruntime + request;
    }

    /// Did a new request begin?
    pub fn renew(&mut self, rules: &Rules, i: usize) -> bool {
        if self.entities[i].vruntime < self.entities[i].deadline {
            return false;
        }
        self.refresh_slice(rules, i);
        let e = &mut self.entities[i];
        e.deadline = e.vruntime + virtual_time(rules, e.slice, e);
        self.average(rules);
        true
    }

    /// The running one yields.
    pub fn give_up(&mut self, rules: &Rules, i: usize) {
        if rules.fair_yield == FairYield::Deadline {
            let e = &mut self.entities[i];
            e.deadline += virtual_time(rules, e.slice, e);
        } else if self.eligible(rules, i) {
            self.entities[i].vruntime = self.entities[i].deadline;
            self.renew(rules, i);
        }
    }

    /// The running one ran; bit 0: a new request began, bit 1: it gives way.
    pub fn run(&mut self, rules: &Rules, i: usize, time: i128) -> u64 {
        let e = &mut self.entities[i];
        e.vruntime += virtual_time(rules, time, e);
        e.ran += time;
        let renewed = self.renew(rules, i);
        let lost = !self.is_protected(rules, i);
        let gives_way = renewed
            || match rules.run_to_parity {
                RunToParity::Request => false,
                RunToParity::Short => lost && !self.eligible(rules, i),
                RunToParity::Shortest | RunToParity::ShortestEach => lost,
            };
        u64::from(renewed) | u64::from(gives_way && self.queued().count() > 1) << 1
    }

    fn protects_slice(rules: &Rules) -> bool {
        matches!(rules.run_to_parity, RunToParity::Shortest | RunToParity::ShortestEach)
    }

    /// Is the running one safe from wake-ups?
    pub fn is_protected(&self, rules: &Rules, i: usize) -> bool {
        let e = &self.entities[i];
        if Self::protects_slice(rules) { e.vruntime < e.protection } else { e.protection == e.deadline }
    }

    fn shortest(&self) -> Option<i128> {
        self.queued().map(|e| e.slice).min()
    }

    /// Starts the protection of an entity that begins to run.
    pub fn protect(&mut self, rules: &Rules, i: usize) {
        let shortest = self.shortest();
        let e = &mut self.entities[i];
        e.protection = match shortest {
            Some(slice) if Self::protects_slice(rules) && slice < e.slice => {
                e.deadline.min(e.vruntime + virtual_time(rules, slice, e))
            }
            _ => e.deadline,
        };
    }

    /// Does `wakee` pass the protection of `curr`?
    pub fn passes(&self, rules: &Rules, curr: usize, wakee: usize) -> bool {
        let (c, w) = (&self.entities[curr], &self.entities[wakee]);
        let first = || w.deadline < c.deadline || !self.eligible(rules, curr);
        w.slice < c.slice
            && match rules.run_to_parity {
                RunToParity::Request => false,
                RunToParity::Short => self.eligible(rules, wakee) && first(),
                RunToParity::Shortest | RunToParity::ShortestEach => true,
            }
    }

    /// Is a wakee looked at?
    pub fn may_preempt(&self, rules: &Rules, wakee: usize, passes: bool, new: bool) -> bool {
        rules.fork_preempts == ForkPreempts::On || passes || !(new || self.entities[wakee].delayed)
    }

    /// Shortens the protection of the running entity, where the rule does, because a woken one has to wait.
    pub fn wakee_waits(&mut self, rules: &Rules, curr: usize, passes: bool) {
        let shortens = match rules.run_to_parity {
            RunToParity::Request => false,
            RunToParity::Short => {
                if passes && self.is_protected(rules, curr) {
                    self.entities[curr].protection = self.entities[curr].deadline + 1;
                }
                false
            }
            RunToParity::Shortest => passes,
            RunToParity::ShortestEach => true,
        };
        if let (true, Some(slice)) = (shortens, self.shortest()) {
            let e = &mut self.entities[curr];
            e.protection = e.protection.min(e.vruntime + virtual_time(rules, slice, e));
        }
    }

    /// The running one is picked without a look at the others.
    pub fn keeps(&self, rules: &Rules, curr: usize, protect: bool) -> bool {
        let alone = self.queued().count() == 1 && rules.run_to_parity != RunToParity::Request;
        self.entities[curr].queued
            && (alone || (protect && self.eligible(rules, curr) && self.is_protected(rules, curr)))
    }

    /// The running one rather than `other`?
    pub fn picks(&self, rules: &Rules, curr: usize, other: usize) -> bool {
        let [c, o] = [curr, other].map(|i| self.entities[i].deadline);
        if rules.run_to_parity == RunToParity::Request { c <= o } else { c < o }
    }

    /// Another weight.
    pub fn reweight(&mut self, rules: &Rules, i: usize, weight: i128, inverse: i128) {
        let old = self.entities[i].weight;
        let scaled = |v: i128| v * old / weight;
        let around = |v: i128, at: i128| at + scaled(v - at);
        let eevdf = rules.fair_class == FairClass::Eevdf;
        let queued = self.entities[i].queued;
        match rules.fair_reweight {
            _ if !eevdf => {}
            FairReweight::Anew | FairReweight::AnewProtected if queued => {
                return self.reweight_anew(rules, i, weight, inverse);
            }
            FairReweight::Request if queued => {
                let e = &mut self.entities[i];
                e.deadline = around(e.deadline, e.vruntime);
            }
            form if queued => {
                let others = form == FairReweight::Others;
                let average = if others { self.average_of_others(rules, i) } else { self.average(rules) };
                let own = self.entities[i].vruntime;
                let lag = scaled(if others { average - own } else { self.limited_lag(rules, i, average) });
                let protected = self.curr == Some(i) && self.is_protected(rules, i);
                let e = &mut self.entities[i];
                e.deadline = around(e.deadline, average);
                if form == FairReweight::Lag {
                    e.lag = lag;
                    e.protection = if protected { around(e.protection, average) } else { e.protection };
                }
                e.vruntime = average - lag;
            }
            form => {
                let rest = self.entities[i].moves
                    && matches!(form, FairReweight::Anew | FairReweight::Lag | FairReweight::AnewProtected);
                let e = &mut self.entities[i];
                e.lag = scaled(e.lag);
                e.deadline = if rest { scaled(e.deadline) } else { e.deadline };
            }
        }
        (self.entities[i].weight, self.entities[i].inverse) = (weight, inverse);
    }

    fn reweight_anew(&mut self, rules: &Rules, i: usize, weight: i128, inverse: i128) {
        let (old, runs) = (self.entities[i].weight, self.curr == Some(i));
        let keeps = rules.fair_reweight == FairReweight::AnewProtected && runs && self.is_protected(rules, i);
        let left = (self.entities[i].protection - self.entities[i].vruntime) * old / weight;
        self.note_lag(rules, i);
        let e = &mut self.entities[i];
        if rules.rel_deadline == RelDeadline::On {
            (e.deadline, e.moves) = (e.deadline - e.vruntime, true);
        }
        e.lag = e.lag * old / weight;
        if e.moves {
            e.deadline = e.deadline * old / weight;
        }
        (e.weight, e.inverse, e.queued) = (weight, 0, runs);
        let others = self.entities.iter().enumerate().any(|(k, e)| k != i && e.queued);
        self.place(rules, i, false, others);
        let e = &mut self.entities[i];
        e.protection = if keeps { e.vruntime + left } else { e.protection };
        (e.inverse, e.queued) = (inverse, true);
    }

    /// CFS: slice of an entity; `all` tasks are on the CPU.
    pub fn slice(&self, rules: &Rules, i: usize, all: i128) -> i128 {
        let e = &self.entities[i];
        let floored = rules.cfs_slice == CfsSlice::Floored;
        let joins = !e.queued;
        let nr = if floored { all } else { self.queued().count() as i128 } + i128::from(joins);
        let granularity = 750_000 * self.factor();
        let period = if nr > 8 { nr * granularity } else { 6_000_000 * self.factor() };
        let total = self.queued().map(|e| e.weight).sum::<i128>() + if joins { e.weight } else { 0 };
        let slice = calc_delta(rules, period, e.weight, total, 0);
        let only_idle = self.queued().count() > 0 && self.queued().all(|e| e.idle);
        let lower = rules.idle_credit == IdleCredit::On && e.idle && !only_idle;
        match (floored, lower) {
            (false, _) => slice,
            (true, true) => slice.max(750_000),
            (true, false) => slice.max(granularity),
        }
    }

    /// CFS: it joins.
    pub fn place_cfs(&mut self, rules: &Rules, i: usize, initial: bool, slice: i128, slept: i128) {
        let e = &self.entities[i];
        let credit =
            if rules.idle_credit == IdleCredit::On && e.idle { 750_000 } else { 6_000_000 } * self.factor() / 2;
        let place = if initial { self.zero + virtual_time(rules, slice, e) } else { self.zero - credit };
        let long = rules.long_sleeper == LongSleeper::On && slept > 1 << 53;
        let e = &mut self.entities[i];
        e.vruntime = if long { place } else { e.vruntime.max(place) };
    }

    /// CFS: -1 where `other` is not behind, 1 where it preempts `i`, 0 between.
    pub fn compare(&self, rules: &Rules, i: usize, other: usize) -> i32 {
        let behind = self.entities[i].vruntime - self.entities[other].vruntime;
        let enough = virtual_time(rules, 1_000_000 * self.factor(), &self.entities[other]);
        match behind {
            ..=0 => -1,
            behind => i32::from(behind > enough),
        }
    }

    /// CFS: does `i` give way to `first` at the tick?
    pub fn tick(&self, i: usize, first: usize, slice: i128) -> bool {
        let (e, behind) = (&self.entities[i], self.entities[i].vruntime - self.entities[first].vruntime);
        e.ran > slice || (e.ran >= 750_000 * self.factor() && behind > slice)
    }
}
