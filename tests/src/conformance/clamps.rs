// SPDX-License-Identifier: GPL-2.0-or-later
//! Clamps that add up: their part of the twin, and random questions for the grammar.

use pelton_reference::pelt::Avg;
use pelton_reference::rules::Uclamp;
use pelton_reference::uclamp_sum::{self, Cpu, Weight, faded};

use super::grammar::Grammar;
use super::knob::{STEPS, Story, low};
use super::ops::Op;
use super::world::World;

const TASKS: usize = 6;
const GROUPS: usize = 8;
const FORMS: [Uclamp; 4] = [Uclamp::Sum, Uclamp::Bias, Uclamp::BiasWeighted, Uclamp::Debt];
/// Of nice 19, 0 and -20.
const WEIGHTS: [(u64, u64); 3] = [(15, 286_331_153), (1024, 4_194_304), (88_761, 48_388)];
const VALUES: [i64; 8] = [0, 1, 120, 200, 383, 600, 1023, 1024];
const SPANS: [u64; 5] = [0, 1, 300, 1024, 40_000];

#[derive(Clone, Copy, PartialEq)]
enum At {
    Away,
    Queued,
    Asleep,
}

/// One CPU and what it does not know of tasks that are not queued; `struct clamp_story` of `entry_clamps.h`.
struct Clamps {
    cpu: Cpu,
    at: [At; TASKS],
    /// Value of a task that left, and when it was aged, units.
    left: [(i64, u64); TASKS],
    units: u64,
    /// Utilization of the root queue.
    real: i64,
}

fn clamps(s: &mut Story) -> (i64, i64) {
    let (a, b) = (VALUES[s.draw(8) as usize], VALUES[s.draw(8) as usize]);
    if s.draw(16) == 0 { (a, b) } else { (a.min(b), a.max(b)) }
}

impl Clamps {
    fn pass(&mut self, s: &mut Story) {
        self.units += SPANS[s.draw(5) as usize];
        self.real = if s.draw(10) > 0 { s.draw(1100) as i64 } else { 0 };
        let none_left = s.draw(3) != 0;
        self.cpu.follow(self.units, none_left, self.real);
    }

    fn step(&mut self, s: &mut Story) {
        let (id, kind) = (s.draw(TASKS as u64) as usize, s.draw(4));
        match (self.at[id], kind) {
            (At::Queued, 0) => self.part(s, id),
            (At::Queued, _) => {
                let clamps = clamps(s);
                self.cpu.told(id as u32, clamps, s.draw(1100) as i64);
            }
            (At::Asleep, 0) => {
                self.age(s, id);
                self.cpu.left(self.left[id].0);
                (self.at[id], self.left[id].0) = (At::Away, 0);
            }
            (At::Asleep, 1) => self.age(s, id),
            _ => {
                self.age(s, id);
                self.join(s, id);
            }
        }
    }

    fn age(&mut self, s: &mut Story, id: usize) {
        let (value, since) = self.left[id];
        // A record that was never updated has no time that could have passed.
        let periods = if since == 0 { 0 } else { self.units / 1024 - since / 1024 };
        self.left[id] = (faded(value, periods), self.units);
        s.say(low(self.left[id].0));
    }

    fn part(&mut self, s: &mut Story, id: usize) {
        let migrates = s.draw(3) == 0;
        let (cut, left) = self.cpu.part(id as u32, migrates);
        s.say(low(cut));
        self.left[id] = (left, self.units);
        self.at[id] = if migrates { At::Away } else { At::Asleep };
    }

    fn join(&mut self, s: &mut Story, id: usize) {
        let clamps = clamps(s);
        let (estimate, util) = (s.draw(1100) as i64, s.draw(1100) as i64);
        let (weight, inverse) = WEIGHTS[id % 3];
        self.cpu.join(id as u32, Weight { weight, inverse }, estimate, clamps, util, self.left[id].0);
        s.say(self.cpu.asks(id as u32).into());
        (self.at[id], self.left[id].0) = (At::Queued, 0);
    }

    fn say(&self, s: &mut Story) {
        let clamped = self.cpu.util(self.real);
        for value in [self.cpu.sum(), self.cpu.root, self.cpu.debt, self.cpu.estimate(), self.cpu.bias(), clamped] {
            s.say(low(value));
        }
        let runnable = s.draw(3000) as i64;
        s.say(low(self.cpu.boosted(clamped, self.real, runnable)));
    }
}

fn sums(seed: u64) -> u64 {
    let mut s = Story { seed, said: 0, now: 0 };
    let cpu = Cpu::new(FORMS[s.draw(4) as usize]);
    let mut story = Clamps { cpu, at: [At::Away; TASKS], left: [(0, 0); TASKS], units: 1 << 20, real: 0 };
    for _ in 0..STEPS {
        story.pass(&mut s);
        story.step(&mut s);
        story.say(&mut s);
    }
    s.said
}

fn throttled(a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: 0 };
    let groups: Vec<(u64, u64)> = (0..GROUPS).map(|_| (s.draw(600), s.draw(1025))).collect();
    let (root, estimate, capacity) = (s.draw(2000), s.draw(700), 1 + s.draw(1024));
    uclamp_sum::throttled(root, estimate, &groups[..GROUPS.min(a[1] as usize)], capacity)
}

impl World {
    pub(super) fn clamp_sums(&self, op: Op, a: &[u64; 7]) -> u64 {
        match op {
            Op::ClampSums => sums(a[0]),
            Op::TakeBias => {
                let mut avg = Avg { util_avg: a[0], util_sum: a[1], period_contrib: a[2], ..Avg::default() };
                uclamp_sum::take_bias(&self.rules, &mut avg, a[3]);
                avg.util_avg + (avg.util_sum << 32)
            }
            _ => throttled(a),
        }
    }
}

impl Grammar {
    /// Stories of clamped tasks, a bias taken out of averages, and groups limited to parts of a CPU.
    pub(super) fn clamps(&mut self) {
        let seed = self.below(u64::from(u32::MAX)) << 20 | self.below(1 << 20);
        self.call(Op::ClampSums, &[seed]);
        let (util, contrib, cut) = (self.below(1100), self.below(1024), self.below(1100));
        let sum = util * 46_718 + self.below(1024 * (1 + contrib));
        self.call(Op::TakeBias, &[util, sum, contrib, cut]);
        let groups = self.below(GROUPS as u64 + 1);
        self.call(Op::GroupThrottled, &[seed, groups]);
    }
}
