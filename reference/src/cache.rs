// SPDX-License-Identifier: GPL-2.0-or-later
//! Preferred cache of the threads of a process, and the moves away from it that are allowed.

/// Time that a process or a CPU ran, halved each epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Time.
    pub ns: u128,
    /// Epoch.
    pub epoch: u128,
}

impl Ran {
    fn until(&mut self, epoch: u128) {
        while self.epoch < epoch {
            self.epoch += 1;
            self.ns /= 2;
        }
    }
}

/// A CPU: what all ran, and what the process ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// All.
    pub all: Ran,
    /// The process.
    pub own: Ran,
    /// The last tick of the epoch.
    pub ends: u128,
}

impl Cpu {
    /// Advances to the tick `now`.
    pub fn until(&mut self, now: u128, period: u128) {
        while now > self.ends {
            self.ends += period;
            self.all.until(self.all.epoch + 1);
        }
        self.own.until(self.all.epoch);
    }

    /// Share of it that the process has.
    fn occupied(&self) -> u128 {
        (self.own.ns << 20) / (self.all.ns + 1)
    }
}

/// A process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// CPU of the preferred cache.
    pub prefers: Option<usize>,
    /// Mean number of running threads.
    pub running: u128,
    /// Epoch in which a thread last asked for a look.
    pub asked: u128,
}

impl Process {
    /// A thread ticks: does it ask for a look?
    pub fn asks(&mut self, epoch: u128, has_asked: bool) -> bool {
        let asks = epoch > self.asked && !has_asked;
        if asks {
            self.asked = epoch;
        }
        asks
    }

    /// A thread looks; `caches`: CPUs of each.
    pub fn looks(&mut self, cpus: &[Cpu], caches: &[std::ops::Range<usize>], running: u128, size: u128) {
        let sum = |cache: &std::ops::Range<usize>| cpus[cache.clone()].iter().map(Cpu::occupied).sum::<u128>();
        let present: u128 =
            caches.iter().filter(|cache| self.prefers.is_some_and(|cpu| cache.contains(&cpu))).map(sum).sum();
        // Of equal ones the first.
        let best = caches.iter().rev().max_by_key(|cache| sum(cache)).filter(|cache| sum(cache) > 0);
        if let Some(cache) = best
            && sum(cache) > 2 * present
        {
            self.prefers = cache.clone().rev().max_by_key(|&cpu| cpus[cpu].occupied());
        }
        let slowness = (size / 4).clamp(2, 8) as i128;
        self.running = (self.running as i128 + (running as i128 - self.running as i128) / slowness) as u128;
    }
}

/// Usage of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Utilization.
    pub util: u128,
    /// Capacity.
    pub capacity: u128,
}

/// Verdict of a preference on a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Not that.
    Forbidden = 0,
    /// For the sake of the cache.
    Wanted = 1,
    /// Free: the preference has no say.
    Free = 2,
}

/// A task of utilization `util` moves, to the cache that it prefers or from there.
pub fn may_move(threads: u128, src: Used, dst: Used, util: u128, there: bool) -> Move {
    let per_mille = if threads > 1 { 500 } else { 750 };
    let (from, to) = (src.util.saturating_sub(util), dst.util + util);
    let room = |util: u128, capacity: u128| 1000 * util < per_mille * capacity;
    let busier = |a: u128, b: u128| 5 * a > 6 * b;
    match (room(from, src.capacity), room(to, dst.capacity), there) {
        (false, false, _) => Move::Free,
        (_, false, true) if busier(to, from) => Move::Forbidden,
        (_, _, true) => Move::Wanted,
        (false, _, false) if busier(from, to) => Move::Wanted,
        (_, _, false) => Move::Forbidden,
    }
}

/// Has a process too few threads to gather, or more that run than four fifths of a cache's cores?
pub fn is_no_crowd(threads: u128, living: u128, running: u128, size: u128) -> bool {
    living <= 1 || 5 * running * threads.max(1) >= 4 * size
}
