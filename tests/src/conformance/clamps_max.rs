// SPDX-License-Identifier: GPL-2.0-or-later
//! Clamps by maximum: their part of the twin, and random questions for the grammar.

use pelton_reference::rules::Rules;
use pelton_reference::uclamp_max::{self, Asks, BUCKETS, Cpu, Limits, effective};

use super::grammar::Grammar;
use super::knob::{STEPS, Story};
use super::ops::Op;
use super::world::World;

const TASKS: usize = 6;
const GROUPS: usize = 3;

/// One CPU, its tasks and their groups; `struct max_story` of `entry_clamps_max.h`.
struct Clamps {
    rules: Rules,
    cpu: Cpu,
    asks: [Asks; TASKS],
    group_of: [usize; TASKS],
    groups: [[u64; 2]; GROUPS],
    system: [u64; 2],
}

fn pair(s: &mut Story) -> [u64; 2] {
    let (a, b) = (s.draw(1025), s.draw(1025));
    [a.min(b), a.max(b)]
}

fn request(s: &mut Story) -> Asks {
    let (mut value, own) = (pair(s), [s.draw(4) != 0, s.draw(4) != 0]);
    if !own[0] {
        value[0] = if s.draw(2) != 0 { 0 } else { 1024 };
    }
    if !own[1] {
        value[1] = 1024;
    }
    Asks { value, own }
}

impl Clamps {
    fn new(rules: &Rules, s: &mut Story) -> Self {
        let (cpu, system, groups) = (Cpu::new(rules), [1024; 2], [[0; 2]; GROUPS]);
        let mut story =
            Clamps { rules: *rules, cpu, asks: [Asks::default(); TASKS], group_of: [0; TASKS], groups, system };
        for id in 0..TASKS {
            (story.asks[id], story.group_of[id]) = (request(s), s.draw(GROUPS as u64) as usize);
        }
        story.groups[1..].iter_mut().for_each(|group| *group = pair(s));
        story
    }

    fn limits(&self, id: usize) -> Limits {
        let group = self.group_of[id];
        Limits { group: (group > 0).then(|| self.groups[group]), system: self.system }
    }

    fn step(&mut self, s: &mut Story) {
        let (id, kind) = (s.draw(TASKS as u64) as usize, s.draw(8));
        let queued = self.cpu.of(id as u32).is_some();
        match kind {
            0 => self.asks[id] = request(s),
            1 => self.group_of[id] = s.draw(GROUPS as u64) as usize,
            2 => {
                let side = s.draw(2) as usize;
                self.system[side] = if s.draw(3) != 0 { 1024 } else { s.draw(1025) };
            }
            3 | 4 => return self.regroup(s),
            _ => {}
        }
        if queued {
            self.cpu.leave(id as u32);
        }
        if queued != (kind > 4) {
            self.cpu.join(id as u32, &self.asks[id], &self.limits(id));
        }
    }

    fn regroup(&mut self, s: &mut Story) {
        let group = 1 + s.draw(GROUPS as u64 - 1) as usize;
        let (above, asked) = (pair(s), pair(s));
        let now = uclamp_max::group(&self.rules, above, asked, s.draw(2) != 0);
        let before = std::mem::replace(&mut self.groups[group], now);
        let changed = [now[0] != before[0], now[1] != before[1]];
        for id in (0..TASKS).filter(|&id| self.group_of[id] == group) {
            if self.cpu.of(id as u32).is_some() {
                self.cpu.limits_change(id as u32, &self.asks[id], &self.limits(id), changed);
            }
        }
    }

    fn say(&self, s: &mut Story) {
        let id = s.draw(TASKS as u64) as usize;
        s.say(told(&self.cpu));
        let would = [0, 1].map(|side| effective(&self.rules, &self.asks[id], &self.limits(id), side));
        self.cpu.of(id as u32).unwrap_or(would).iter().for_each(|&value| s.say(value));
        let asked = s.draw(2) != 0;
        s.say(uclamp_max::used(&self.rules, asked).into());
        for bucket in 0..BUCKETS {
            for side in 0..2 {
                let (tasks, value) = self.cpu.bucket(side, bucket);
                s.say(tasks | value << 8);
            }
        }
    }
}

/// Both clamps and the mark, in one word.
fn told(cpu: &Cpu) -> u64 {
    let [min, max] = cpu.value();
    min | max << 16 | u64::from(cpu.idle) << 32
}

fn largest(rules: &Rules, seed: u64) -> u64 {
    let mut s = Story { seed, said: 0, now: 0 };
    let mut story = Clamps::new(rules, &mut s);
    for _ in 0..STEPS {
        story.say(&mut s);
        story.step(&mut s);
    }
    story.say(&mut s);
    s.said
}

fn bits(word: u64, at: u32) -> u64 {
    word >> at & 0xffff
}

fn of_request(rules: &Rules, a: &[u64; 7]) -> u64 {
    let asks = Asks { value: [bits(a[0], 0), bits(a[0], 16)], own: [a[0] >> 32 & 1 != 0, a[0] >> 33 & 1 != 0] };
    let group = (a[0] >> 34 & 1 != 0).then(|| [bits(a[1], 0), bits(a[1], 16)]);
    let limits = Limits { group, system: [bits(a[1], 32), bits(a[1], 48)] };
    effective(rules, &asks, &limits, 0) | effective(rules, &asks, &limits, 1) << 16
}

impl World {
    pub(super) fn clamps_by_maximum(&self, op: Op, a: &[u64; 7]) -> u64 {
        match op {
            Op::ClampLargest => largest(&self.rules, a[0]),
            Op::ClampScript => {
                let [min, max, idle] = uclamp_max::script(&self.rules, a[0]);
                min | max << 16 | idle << 32
            }
            _ => of_request(&self.rules, a),
        }
    }
}

impl Grammar {
    /// Stories of tasks that come, go, and are limited otherwise.
    pub(super) fn clamps_by_maximum(&mut self) {
        let seed = self.below(u64::from(u32::MAX)) << 20 | self.below(1 << 20);
        self.call(Op::ClampLargest, &[seed]);
        let script = self.below(1 << 20) << 20 | self.below(1 << 20);
        self.call(Op::ClampScript, &[script]);
        let asked = self.below(1025) | self.below(1025) << 16;
        let system = self.below(1025) | self.below(1025) << 16;
        let (a, b) = (self.below(1025), self.below(1025));
        let flags = self.below(8) << 32;
        self.call(Op::ClampEffective, &[asked | flags, a.min(b) | a.max(b) << 16 | system << 32]);
    }
}
