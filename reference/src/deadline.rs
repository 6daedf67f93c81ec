// SPDX-License-Identifier: GPL-2.0-or-later
//! The constant bandwidth server of a deadline task, and what may be reserved.
//!
//! Times are ns; a moment is a point on a circle of 2^64 ns, and of two moments the one less than half a circle away
//! lies ahead.

const CIRCLE: i128 = 1 << 64;

/// From `b` to `a` along the shorter arc.
fn from_to(b: u64, a: u64) -> i128 {
    let way = (i128::from(a) - i128::from(b)).rem_euclid(CIRCLE);
    if way >= CIRCLE / 2 { way - CIRCLE } else { way }
}

fn moment(t: i128) -> u64 {
    t.rem_euclid(CIRCLE) as u64
}

/// Two moments: is `a` earlier?
pub fn before(a: u64, b: u64) -> bool {
    from_to(b, a) < 0
}

/// Differences between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Runtime is work of the biggest CPU, not time.
    pub scaled: bool,
    /// Short deadlines: density instead of new periods.
    pub revised: bool,
    /// Capacity is what is shared out, not CPUs.
    pub by_capacity: bool,
}

/// A server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Of the present period.
    pub left: i64,
    /// End of the present period's right to run.
    pub deadline: u64,
    /// In each period.
    pub budget: u64,
    /// From the begin of a period.
    pub relative: u64,
    /// From one period to the next.
    pub period: u64,
    /// Waits.
    pub throttled: bool,
    /// Has given the rest away.
    pub yielded: bool,
}

/// Parts of 2^20.
pub fn ratio(part: u64, whole: u64) -> u64 {
    let part = u128::from(part).min(1 << 43);
    if whole == 0 { 0 } else { ((part << 20) / u128::from(whole)) as u64 }
}

/// In units of 1024 ns, rounded down.
fn coarse(t: i128) -> i128 {
    t.div_euclid(1024)
}

impl Server {
    fn renew(&mut self, now: u64) {
        self.deadline = moment(i128::from(now) + i128::from(self.relative));
        self.left = self.budget as i64;
    }

    /// left / (deadline - now) > budget / relative, in units of 1024 ns.
    pub fn too_dense(&self, now: u64) -> bool {
        let until = i128::from(moment(i128::from(self.deadline) - i128::from(now)));
        let has = coarse(self.relative.into()).wrapping_mul(coarse(self.left.into()));
        let may = coarse(until).wrapping_mul(coarse(self.budget.into()));
        before(moment(may), moment(has))
    }

    fn constrained(&self) -> bool {
        self.relative != self.period
    }

    /// Start of the next period.
    pub fn next(&self) -> u64 {
        moment(i128::from(self.deadline) - i128::from(self.relative) + i128::from(self.period))
    }

    /// Runnable at `now`; true: it may run.
    pub fn enqueue(&mut self, rules: Rules, now: u64, wakes: bool) -> bool {
        let between = before(self.deadline, now) && before(now, self.next());
        if !self.throttled && self.constrained() && between {
            self.throttled = true;
            if rules.revised {
                self.left = self.left.min(0);
            }
        }
        if self.throttled {
            return false;
        }
        let late = before(self.deadline, now);
        if wakes && late {
            self.renew(now);
        } else if wakes && self.too_dense(now) && rules.revised && self.constrained() {
            let until = from_to(now, self.deadline);
            let density = i128::from(ratio(self.budget, self.relative));
            self.left = (moment(density.wrapping_mul(until)) >> 20) as i64;
        } else if wakes && self.too_dense(now) {
            self.renew(now);
        }
        true
    }

    /// Its next budget.
    pub fn replenish(&mut self, now: u64) {
        if self.relative == 0 {
            self.renew(now);
        }
        if self.yielded {
            self.left = self.left.min(0);
        }
        let debt = -i128::from(self.left);
        if debt >= 0 {
            let periods = if self.budget == 0 { 1 } else { debt / i128::from(self.budget) + 1 };
            self.deadline = moment(i128::from(self.deadline) + periods * i128::from(self.period) % CIRCLE);
            self.left = (periods * i128::from(self.budget) - debt) as i64;
        }
        if before(self.deadline, now) {
            self.renew(now);
        }
        (self.throttled, self.yielded) = (false, false);
    }

    /// Charges `time` to it; true: it has to stop.
    pub fn ran(&mut self, rules: Rules, time: u64, freq: u64, cap: u64) -> bool {
        if time == 0 && !self.yielded {
            return false;
        }
        let work = u128::from(time) * u128::from(freq) / 1024 * u128::from(cap) / 1024;
        let used = if rules.scaled { work } else { time.into() };
        self.left = (i128::from(self.left) - used as i128) as i64;
        let stops = self.left <= 0 || self.yielded;
        self.throttled |= stops;
        stops
    }

    /// Time at which its bandwidth is no longer in use.
    pub fn zero_lag(&self) -> u64 {
        let product = moment(i128::from(self.left) * i128::from(self.period)) as i64;
        let back = if self.budget == 0 { 0 } else { i128::from(product) / i128::from(self.budget) };
        moment(i128::from(self.deadline) - back)
    }

    /// Until the timer of the running task looks again.
    pub fn hrtick(&self) -> u64 {
        self.left.max(10_000) as u64
    }
}

/// Is there too little of `limit` on each CPU for `[reserved, goes, comes]`?
pub fn refused(rules: Rules, limit: u64, sums: [u64; 3], cpus: u64, capacity: u64) -> bool {
    let [reserved, goes, comes] = sums.map(i128::from);
    let room = if rules.by_capacity {
        moment(i128::from(limit) * i128::from(capacity)) / 1024
    } else {
        moment(i128::from(limit) * i128::from(cpus))
    };
    limit != u64::MAX && room < moment(reserved - goes + comes)
}
