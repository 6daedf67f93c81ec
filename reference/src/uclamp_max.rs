// SPDX-License-Identifier: GPL-2.0-or-later
//! Utilization clamps by maximum: a CPU is a list of its tasks' clamps, and of those it has seen.

use crate::rules::{Rules, Uclamp, UclampChange, UclampFirst, UclampLimit, UclampNewGroup, UclampUsed};

/// Buckets of a side.
pub const BUCKETS: usize = 5;
/// Capacities that share a bucket: 1024 / 5, rounded to the nearest.
const WIDTH: u64 = 205;
const FULL: u64 = 1024;

/// Clamps that a task asks for, lower and upper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// Capacity.
    pub value: [u64; 2],
    /// By the task itself, not by default.
    pub own: [bool; 2],
}

/// Limits of these clamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clamps in force of its group; `None` = the root's.
    pub group: Option<[u64; 2]>,
    /// The largest that the system allows.
    pub system: [u64; 2],
}

/// The lower (0) or the upper (1) clamp that a request comes to.
pub fn effective(rules: &Rules, asks: &Asks, limits: &Limits, side: usize) -> u64 {
    let mut value = asks.value[side];
    if let Some([min, max]) = limits.group {
        value = match rules.uclamp_limit {
            UclampLimit::Range if value < min && min <= max => min,
            UclampLimit::Range if value > max => max,
            UclampLimit::Range => value,
            UclampLimit::Ceiling if !asks.own[side] => [min, max][side],
            UclampLimit::Ceiling => value.min([min, max][side]),
        };
    }
    value.min(limits.system[side])
}

/// Clamps in force of a group below one whose are `above`; `written`: its files were written since it was made.
pub fn group(rules: &Rules, above: [u64; 2], asked: [u64; 2], written: bool) -> [u64; 2] {
    if rules.uclamp_new_group == UclampNewGroup::Parents && !written {
        return above;
    }
    let max = asked[1].min(above[1]);
    [asked[0].min(above[0]).min(max), max]
}

/// Are clamps in use?
pub fn used(rules: &Rules, asked: bool) -> bool {
    rules.uclamp != Uclamp::Off && (asked || rules.uclamp_used == UclampUsed::Always)
}

/// The lower or the upper clamps of a CPU.
#[derive(Clone, Debug, Default)]
struct Side {
    /// Tasks that count, with what they count for.
    tasks: Vec<(u32, u64)>,
    /// Clamps that came into each bucket since it was last empty.
    seen: [Vec<u64>; BUCKETS],
    value: u64,
}

fn bucket_of(value: u64) -> usize {
    (value / WIDTH).min(BUCKETS as u64 - 1) as usize
}

impl Side {
    fn count(&self, bucket: usize) -> usize {
        self.tasks.iter().filter(|task| bucket_of(task.1) == bucket).count()
    }

    fn join(&mut self, task: u32, value: u64, anew: bool) {
        self.tasks.push((task, value));
        self.seen[bucket_of(value)].push(value);
        self.value = if anew { value } else { self.value.max(value) };
    }

    /// Takes a task off its bucket. Where the bucket is empty then and was the one that counted, the next lower one
    /// counts. True when there is none: the task's own value stays.
    fn leave(&mut self, task: u32) -> bool {
        let at = self.tasks.iter().position(|queued| queued.0 == task).expect("it counts");
        let (_, value) = self.tasks.remove(at);
        let bucket = bucket_of(value);
        if self.count(bucket) > 0 || self.seen[bucket].drain(..).max() < Some(self.value) {
            return false;
        }
        let next = self.seen.iter().flatten().copied().max();
        self.value = next.unwrap_or(value);
        next.is_none()
    }
}

/// One CPU.
#[derive(Clone, Debug)]
pub struct Cpu {
    rules: Rules,
    sides: [Side; 2],
    /// Its upper clamp is left over.
    pub idle: bool,
}

impl Cpu {
    /// No task yet.
    pub fn new(rules: &Rules) -> Self {
        let mut cpu =
            Self { rules: *rules, sides: Default::default(), idle: rules.uclamp_first == UclampFirst::LeftOver };
        cpu.sides[1].value = if cpu.idle { FULL } else { 0 };
        cpu
    }

    /// Lower and upper clamp.
    pub fn value(&self) -> [u64; 2] {
        [self.sides[0].value, self.sides[1].value]
    }

    /// Clamps that a task which is here counts with.
    pub fn of(&self, task: u32) -> Option<[u64; 2]> {
        let of = |side: &Side| side.tasks.iter().find(|queued| queued.0 == task).map(|queued| queued.1);
        Some([of(&self.sides[0])?, of(&self.sides[1])?])
    }

    /// Tasks of a bucket and the largest clamp it remembers, 0 where it is empty.
    pub fn bucket(&self, side: usize, bucket: usize) -> (u64, u64) {
        let side = &self.sides[side];
        (side.count(bucket) as u64, side.seen[bucket].iter().copied().max().unwrap_or(0))
    }

    /// A task becomes runnable.
    pub fn join(&mut self, task: u32, asks: &Asks, limits: &Limits) {
        for side in 0..2 {
            self.join_side(task, asks, limits, side);
        }
        self.idle = false;
    }

    fn join_side(&mut self, task: u32, asks: &Asks, limits: &Limits, side: usize) {
        self.sides[side].join(task, effective(&self.rules, asks, limits, side), self.idle);
    }

    /// A task is no longer runnable.
    pub fn leave(&mut self, task: u32) {
        self.leave_side(task, 0);
        self.leave_side(task, 1);
    }

    /// The last one takes its lower clamp along; its upper one is left over.
    fn leave_side(&mut self, task: u32, side: usize) {
        let last = self.sides[side].leave(task);
        if last && side == 0 {
            self.sides[0].value = 0;
        }
        self.idle |= last && side == 1;
    }

    /// The clamps of a runnable task's group changed, the lower one, the upper one.
    pub fn limits_change(&mut self, task: u32, asks: &Asks, limits: &Limits, changed: [bool; 2]) {
        for (side, changed) in changed.into_iter().enumerate() {
            if !changed && self.rules.uclamp_limit == UclampLimit::Ceiling {
                continue;
            }
            self.leave_side(task, side);
            self.join_side(task, asks, limits, side);
            if side == 1 && self.rules.uclamp_change == UclampChange::ClearsMark {
                self.idle = false;
            }
        }
    }
}

/// Clamps of the four tasks of a script.
pub const SCRIPT_CLAMPS: [[u64; 2]; 4] = [[100, 300], [180, FULL], [0, 400], [150, 350]];

/// Ten steps of four bits on a CPU without a task, the first in the lowest: the task, and 0 nothing, 1 it comes, 2 it
/// leaves, 3 it is limited to 250..320 from now on, as is whoever comes later. Lower clamp, upper clamp, mark.
pub fn script(rules: &Rules, steps: u64) -> [u64; 3] {
    let mut cpu = Cpu::new(rules);
    let mut limits = Limits { group: Some([0, FULL]), system: [FULL, FULL] };
    for step in (0..10).map(|at| steps >> (4 * at) & 15) {
        let task = (step & 3) as u32;
        let asks = Asks { value: SCRIPT_CLAMPS[task as usize], own: [true, true] };
        if step >> 2 == 3 {
            limits.group = Some([250, 320]);
        }
        match (step >> 2, cpu.of(task).is_some()) {
            (1, false) => cpu.join(task, &asks, &limits),
            (2, true) => cpu.leave(task),
            (3, true) => cpu.limits_change(task, &asks, &limits, [true, true]),
            _ => {}
        }
    }
    let [min, max] = cpu.value();
    [min, max, cpu.idle.into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every release but 5.4 a CPU's clamps are the largest that its buckets remember, however it came to them.
    #[test]
    fn the_value_is_the_largest_that_is_remembered() {
        let rules = Rules::profile("7.2").expect("a profile");
        let (mut cpu, mut seed, mut asks) = (Cpu::new(&rules), 7_u64, [Asks::default(); 5]);
        let mut draw = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % n
        };
        for _ in 0..20_000 {
            let (task, limits) = (draw(5) as usize, Limits { group: None, system: [FULL, FULL] });
            match (cpu.of(task as u32), draw(3)) {
                (None, _) => {
                    asks[task] = Asks { value: [draw(FULL + 1), draw(FULL + 1)], own: [true, true] };
                    cpu.join(task as u32, &asks[task], &limits);
                }
                (Some(_), 0) => cpu.limits_change(task as u32, &asks[task], &limits, [true, true]),
                (Some(_), _) => cpu.leave(task as u32),
            }
            assert_eq!(cpu.idle, cpu.sides[0].tasks.is_empty());
            for side in &cpu.sides {
                let remembered = side.seen.iter().flatten().copied().max();
                assert!(cpu.idle || Some(side.value) == remembered, "{side:?}");
            }
            assert!(!cpu.idle || cpu.value()[0] == 0);
        }
    }
}
