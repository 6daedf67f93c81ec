// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: one pool per group, and what its queues hold. Times are ns in wide signed numbers.

use crate::rules::{Numbers, Refill, Rules, SlackForm, ThrottleForm, ThrottledTime};

const MS: i128 = 1_000_000;
/// Runtime that a queue keeps when its last task left.
const KEPT: i128 = MS;
/// Time before the end of a period in which no runtime is handed out.
const TOO_LATE: i128 = 2 * MS;
/// Time for which returned runtime is gathered.
const GATHERED: i128 = 5 * MS;

/// Runtime that a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Runtime; below 0 after an overrun.
    pub left: i128,
    /// Time at which that is lost, where it is ever.
    pub lost_at: i128,
    /// Refill that it is from.
    pub from: u64,
    /// True when it has to wait.
    pub throttled: bool,
    /// Since when its waiting counts.
    pub since: Option<i128>,
}

/// A group with `N` queues, and which of them wait, first come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    rules: Rules,
    slice: i128,
    tick: i128,
    /// `None` = no limit.
    pub quota: Option<i128>,
    /// Length of a period.
    pub period: i128,
    /// Runtime that may be kept of earlier periods.
    pub burst: i128,
    /// Runtime that no queue holds.
    pub pool: i128,
    filled: i128,
    lost_at: i128,
    refills: u64,
    /// End of the period.
    pub end: i128,
    /// End of the gathering.
    pub gathered_at: i128,
    /// Timers that run: of the period, of the gathering.
    pub runs: (bool, bool),
    untouched: bool,
    /// Periods; those with waiting queues at their end; those that used more than the quota.
    pub counts: (u64, u64, u64),
    /// Time that queues waited, time used beyond the quota.
    pub times: (i128, i128),
    /// Queues.
    pub queues: Vec<Queue>,
    /// Those that wait.
    pub waiting: Vec<usize>,
}

/// Timers that were started.
pub type Started = (bool, bool);

impl Group {
    /// A group that has no limit yet.
    pub fn new(rules: Rules, numbers: &Numbers, queues: usize, tick: u64) -> Group {
        Group {
            rules,
            slice: i128::from(numbers.bandwidth_slice_us) * 1000,
            tick: tick.into(),
            quota: None,
            period: 0,
            burst: 0,
            pool: 0,
            filled: 0,
            lost_at: 0,
            refills: 0,
            end: 0,
            gathered_at: 0,
            runs: (false, false),
            untouched: false,
            counts: (0, 0, 0),
            times: (0, 0),
            queues: vec![Queue::default(); queues],
            waiting: Vec::new(),
        }
    }

    fn loses(&self) -> bool {
        matches!(self.rules.bandwidth_refill, Refill::ExpiresLate | Refill::Expires)
    }

    /// Another limit; every queue loses what it holds, in 7.2 all but 1 ns. Returns whether the period's timer was
    /// started.
    pub fn limit(&mut self, quota: Option<i128>, period: i128, burst: i128, now: i128) -> bool {
        (self.quota, self.period, self.burst) = (quota, period, burst);
        self.refill(now);
        let left = i128::from(self.rules.bandwidth_throttle == ThrottleForm::AtOnce);
        for queue in &mut self.queues {
            queue.left = left;
        }
        self.quota.is_some() && self.start(now)
    }

    fn refill(&mut self, now: i128) {
        let Some(quota) = self.quota else { return };
        if self.rules.bandwidth_refill == Refill::Burst {
            let used = self.filled - self.pool;
            if used > quota {
                self.times.1 += used - quota;
                self.counts.2 += 1;
            }
            self.pool = (self.pool + quota).min(quota + self.burst);
            self.filled = self.pool;
            return;
        }
        self.pool = quota;
        if self.loses() {
            self.lost_at = now + self.period;
            self.refills += 1;
        }
    }

    /// Periods that ended up to now.
    fn pass(&mut self, now: i128) -> i128 {
        let mut ended = 0;
        while self.end <= now {
            let many = ((now - self.end) / self.period).max(1);
            self.end += many * self.period;
            ended += many;
        }
        ended
    }

    fn start(&mut self, now: i128) -> bool {
        if self.runs.0 {
            return false;
        }
        self.runs.0 = true;
        let ended = self.pass(now);
        if self.rules.bandwidth_refill == Refill::Expires {
            self.lost_at += (ended + 1) * self.period;
            self.refills += 1;
        }
        true
    }

    /// Fills a queue up to `wanted`, as far as the pool has it.
    fn assign(&mut self, q: usize, wanted: i128, now: i128) -> bool {
        let mut amount = wanted - self.queues[q].left;
        let mut started = false;
        if self.quota.is_some() {
            started = self.start(now);
            amount = amount.min(self.pool);
            self.pool -= amount;
            self.untouched &= amount == 0;
        }
        self.queues[q].left += amount;
        self.hand_down_loss(q);
        started
    }

    fn hand_down_loss(&mut self, q: usize) {
        let queue = &mut self.queues[q];
        let newer = match self.rules.bandwidth_refill {
            Refill::ExpiresLate => self.lost_at > queue.lost_at,
            Refill::Expires => self.refills != queue.from,
            _ => false,
        };
        if newer {
            (queue.lost_at, queue.from) = (self.lost_at, self.refills);
        }
    }

    fn lose(&mut self, q: usize, now: i128) {
        let (lost_at, refills) = (self.lost_at, self.refills);
        let (tick, loses) = (self.tick, self.loses());
        let queue = &mut self.queues[q];
        if !loses || now < queue.lost_at || queue.left < 0 {
            return;
        }
        let spared = match self.rules.bandwidth_refill {
            Refill::ExpiresLate => queue.lost_at != lost_at,
            _ => queue.from == refills,
        };
        if spared {
            queue.lost_at += tick;
        } else {
            queue.left = 0;
        }
    }

    /// Entities of a queue ran. Returns whether it has nothing left, and whether the period's timer was started.
    pub fn ran(&mut self, q: usize, time: i128, now: i128) -> (bool, bool) {
        self.queues[q].left -= time;
        self.asks(q, self.slice, now)
    }

    /// Something comes to a queue on which there was nothing. Returns the same.
    pub fn comes(&mut self, q: usize, now: i128) -> (bool, bool) {
        let wanted = if self.rules.bandwidth_throttle == ThrottleForm::AtOnce { 1 } else { self.slice };
        self.asks(q, wanted, now)
    }

    fn asks(&mut self, q: usize, wanted: i128, now: i128) -> (bool, bool) {
        self.lose(q, now);
        let queue = self.queues[q];
        if queue.left > 0 || (queue.throttled && !self.loses()) {
            return (false, false);
        }
        let started = self.assign(q, wanted, now);
        (self.queues[q].left <= 0, started)
    }

    /// A queue without runtime has to wait, if that is still so. Returns whether it has to, and whether the period's
    /// timer was started.
    pub fn throttle(&mut self, q: usize, queued: bool, now: i128) -> (bool, bool) {
        let started = match self.rules.bandwidth_throttle {
            ThrottleForm::Retry => self.assign(q, 1, now),
            _ => self.waiting.is_empty() && self.start(now),
        };
        if self.queues[q].left > 0 {
            return (false, started);
        }
        let counts = queued || self.rules.bandwidth_time == ThrottledTime::Throttled;
        self.queues[q].throttled = true;
        self.queues[q].since = counts.then_some(now);
        match self.rules.bandwidth_throttle {
            ThrottleForm::Head => self.waiting.insert(0, q),
            _ => self.waiting.push(q),
        }
        (true, started)
    }

    /// A task came to a queue that waits.
    pub fn wanted(&mut self, q: usize, now: i128) {
        let queue = &mut self.queues[q];
        if queue.throttled && queue.since.is_none() {
            queue.since = Some(now);
        }
    }

    /// Hands the pool to the queues that wait, in order; those that have some then go on.
    pub fn distribute(&mut self, now: i128) -> Vec<usize> {
        let mut freed = Vec::new();
        for q in self.waiting.clone() {
            // To 5.3 a queue that waits may hold some; what it lacks is then below 0 and, without sign, more than there
            // is.
            let lacks = 1 - self.queues[q].left;
            let amount = if lacks < 0 { self.pool } else { lacks.min(self.pool) };
            self.pool -= amount;
            self.queues[q].left += amount;
            self.queues[q].lost_at = self.lost_at;
            if self.queues[q].left > 0 {
                self.free(q, now);
                freed.push(q);
            }
            if self.pool == 0 {
                break;
            }
        }
        freed
    }

    fn free(&mut self, q: usize, now: i128) {
        self.waiting.retain(|&w| w != q);
        let queue = &mut self.queues[q];
        queue.throttled = false;
        if let Some(since) = queue.since.take() {
            self.times.0 += now - since;
        }
    }

    /// The last task left a queue. Returns whether the gathering began.
    pub fn give_back(&mut self, q: usize, now: i128) -> bool {
        let spare = self.queues[q].left - KEPT;
        if spare <= 0 {
            return false;
        }
        self.queues[q].left = KEPT;
        let lost = self.loses() && self.queues[q].lost_at != self.lost_at;
        if self.quota.is_none() || lost {
            return false;
        }
        self.pool += spare;
        self.pool > self.slice && !self.waiting.is_empty() && self.gather(now)
    }

    fn gather(&mut self, now: i128) -> bool {
        let again = self.runs.1 && self.rules.bandwidth_slack == SlackForm::Kept;
        if self.end - now < GATHERED + TOO_LATE || again {
            return false;
        }
        self.runs.1 = true;
        self.gathered_at = now + GATHERED;
        true
    }

    /// The gathering ends. Returns whether there is something to hand out.
    pub fn gathered(&mut self, now: i128) -> bool {
        self.runs.1 = false;
        self.end - now >= TOO_LATE && self.quota.is_some() && self.pool > self.slice
    }

    /// The period's timer expired. Returns whether there is something to hand out.
    pub fn period_ends(&mut self, now: i128) -> bool {
        let ended = self.pass(now);
        if ended == 0 {
            return false;
        }
        if self.quota.is_none() {
            self.runs.0 = false;
            return false;
        }
        self.counts.0 += ended as u64;
        let nobody_waits = self.waiting.is_empty();
        let stops = self.untouched && nobody_waits;
        if !stops || self.rules.bandwidth_refill == Refill::Burst {
            self.refill(now);
        }
        self.runs.0 = !stops;
        self.untouched = nobody_waits;
        if nobody_waits {
            return false;
        }
        self.counts.1 += ended as u64;
        true
    }
}
