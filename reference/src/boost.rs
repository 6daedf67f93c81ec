// SPDX-License-Identifier: GPL-2.0-or-later
//! SchedTune (docs/rules/boost.md): margins, boost groups of a CPU, and the filter of placements.

/// Boost groups at most.
pub const GROUPS: usize = 5;
const HOLD_NS: u64 = 50_000_000;

/// Tree that a boost is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The posting of 2015.
    Rfc,
    /// Android 4.4.
    Later,
    /// Android 4.14.
    Hold,
}

impl Form {
    /// By the name of the switch's value.
    pub fn of(name: &str) -> Option<Form> {
        match name {
            "rfc" => Some(Form::Rfc),
            "later" => Some(Form::Later),
            "hold" => Some(Form::Hold),
            _ => None,
        }
    }

    /// Full scale from which the missing part is measured; hold knows the CPU's capacity.
    pub fn full(self, cap_orig: u64) -> u64 {
        if self == Form::Hold { cap_orig } else { 1024 }
    }

    /// Margin that a boost adds: its percentage of what the signal lacks of `full`; a negative one takes its percentage
    /// of the signal, or nothing in the posting.
    pub fn margin(self, full: u64, signal: u64, boost: i64) -> i64 {
        let missing = i128::from(full) - i128::from(signal);
        let missing = if missing < 0 { 0 } else { missing };
        let margin = match (self, boost < 0) {
            (Form::Rfc, true) => 0,
            (Form::Rfc, false) => missing * i128::from(boost) * 1311 / 131_072,
            // Rust's division drops the fraction on both sides of 0.
            (_, true) => i128::from(signal) * i128::from(boost) / 100,
            (_, false) => missing * i128::from(boost) / 100,
        };
        margin as i64
    }

    /// Signal and margin.
    pub fn boosted(self, full: u64, signal: u64, boost: i64) -> u64 {
        (signal as i64 + self.margin(full, signal, boost)).max(0) as u64
    }
}

/// A group on a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    /// Percent.
    pub boost: i64,
    /// Runnable tasks.
    pub tasks: u64,
    stamp: u64,
}

/// The groups of a CPU.
#[derive(Clone, Debug)]
pub struct Cpu {
    form: Form,
    /// Groups; the first is the root.
    pub groups: [Group; GROUPS],
    /// Boost that counts.
    pub max: i64,
    stamp: u64,
}

impl Cpu {
    /// No tasks, no boosts.
    pub fn new(form: Form) -> Cpu {
        Cpu { form, groups: [Group::default(); GROUPS], max: 0, stamp: 0 }
    }

    fn held(&self, stamp: u64, now: u64) -> bool {
        now.wrapping_sub(stamp) <= HOLD_NS
    }

    fn active(&self, i: usize, now: u64) -> bool {
        self.groups[i].tasks > 0 || (self.form == Form::Hold && self.held(self.groups[i].stamp, now))
    }

    fn look(&mut self, now: u64) {
        let root = self.form != Form::Later || self.groups[0].tasks > 0;
        let others = (1..GROUPS).filter(|&i| self.active(i, now));
        let counting: Vec<usize> = root.then_some(0).into_iter().chain(others).collect();
        // Of equals the last; the root has no stamp of its own.
        let winner = counting.iter().copied().max_by_key(|&i| self.groups[i].boost);
        self.max = winner.map_or(0, |i| self.groups[i].boost);
        self.stamp = winner.filter(|&i| i > 0).map_or(now, |i| self.groups[i].stamp);
        if self.form == Form::Hold && self.max < 0 {
            self.max = 0;
        }
    }

    /// A task comes or goes.
    pub fn count(&mut self, i: usize, comes: bool, stamps: bool, now: u64) {
        let group = &mut self.groups[i];
        group.tasks = if comes { group.tasks + 1 } else { group.tasks.saturating_sub(1) };
        if self.form == Form::Hold {
            if comes && stamps {
                group.stamp = now;
            }
            if comes && group.tasks == 1 {
                self.look(now);
            }
        } else if group.tasks < 2 {
            self.look(now);
        }
    }

    /// A boost is written.
    pub fn write(&mut self, i: usize, boost: i64, now: u64) {
        let old = std::mem::replace(&mut self.groups[i].boost, boost);
        if boost > self.max && self.active(i, now) {
            self.max = boost;
            self.stamp = self.groups[i].stamp;
        } else if self.max == old && boost < old {
            self.look(now);
        }
    }

    /// A runnable task changes its group.
    pub fn relocate(&mut self, from: usize, to: usize, now: u64) {
        if from == to || self.form == Form::Rfc {
            return;
        }
        self.groups[from].tasks = self.groups[from].tasks.saturating_sub(1);
        self.groups[to].tasks += 1;
        if self.form == Form::Later {
            return self.look(now);
        }
        self.groups[to].stamp = now;
        // So long ago that the next question looks again.
        self.stamp = now.wrapping_sub(HOLD_NS + 1);
    }

    /// Boost that counts now.
    pub fn boost(&mut self, now: u64) -> i64 {
        if self.form == Form::Hold && !self.held(self.stamp, now) {
            self.look(now);
        }
        self.max
    }
}

/// Tables of the filter: what energy and capacity weigh, by row.
fn gain(form: u64, row: usize) -> (i64, i64) {
    const OLD: [(i64, i64); 10] = [(0, 4), (0, 4), (1, 4), (2, 4), (3, 4), (4, 3), (4, 2), (4, 1), (4, 0), (4, 0)];
    const NEW: [(i64, i64); 10] = [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 4), (5, 3), (5, 2), (5, 1), (5, 0)];
    if form == 2 { NEW[row.min(9)] } else { OLD[row.min(9)] }
}

/// Payoff of the change; the posting's sign is wrong where capacity is won.
pub fn payoff(form: u64, row: usize, e: i64, c: i64) -> i64 {
    let (of_energy, of_capacity) = gain(form, row);
    let payoff = c * of_energy - e * of_capacity;
    if form == 0 && c > 0 { -payoff } else { payoff }
}

/// Accepted by these rows?
pub fn accepts_by(form: u64, boost_row: usize, constrain_row: usize, e: i64, c: i64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (form == 0, e.cmp(&0), c.cmp(&0)) {
        (_, Less, Greater) => true,
        (_, Greater, Greater) | (false, Equal, Greater) => payoff(form, boost_row, e, c) > 0,
        (_, Less, Less) | (false, Less, Equal) => payoff(form, constrain_row, e, c) > 0,
        _ => false,
    }
}

/// Accepted under this boost?
pub fn accepts(form: u64, boost: u64, e: i64, c: i64) -> bool {
    if boost == 0 {
        return e < 0;
    }
    let row = |percent: u64| (percent / 10).min(9) as usize;
    let second = if form == 2 { row(boost) } else { row(100 - boost.min(100)) };
    accepts_by(form, row(boost), second, e, c)
}

/// A change of power as a share; the numerator has 32 bits.
pub fn normalize(power: i64, min: u64, max: u64) -> i64 {
    let size = (power.unsigned_abs() << 10) & 0xffff_ffff;
    let share = if max > min { size / (max - min) } else { 0 };
    if power < 0 { -(share as i64) } else { share as i64 }
}

/// A CPU that a task of a prefer_idle group might go to (Android 4.4, `find_best_target`).
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Capacity of the CPU.
    pub capacity: u64,
    /// Utilization of the others.
    pub util: u64,
    /// Is it idle, and how deep?
    pub state: Option<u64>,
}

/// The position of the one it goes to: the biggest for a boosted task, else the smallest; of those the shallowest, the
/// first.
pub fn prefer_idle(boosted: bool, task: u64, with_boost: u64, cpus: &[Idle]) -> Option<usize> {
    let has_room = |c: &Idle| with_boost.max(c.util.min(c.capacity) + task) <= c.capacity;
    let can: Vec<(usize, u64, u64)> = (0..cpus.len())
        .filter(|&i| has_room(&cpus[i]))
        .filter_map(|i| Some((i, cpus[i].capacity, cpus[i].state?)))
        .collect();
    let capacities = can.iter().map(|c| c.1);
    let wanted = if boosted { capacities.max() } else { capacities.min() }?;
    can.iter().filter(|c| c.1 == wanted).min_by_key(|c| (c.2, c.0)).map(|c| c.0)
}
