// SPDX-License-Identifier: GPL-2.0-or-later
//! The real-time limit and idle CPUs: their part of the twin, and random questions for the grammar.

use pelton_reference::balance::{self, Due, Idleness, Refreshes, Share, Skips, Walks};
use pelton_reference::dice::{Dice, Fails, SearchRules, Searches};

use super::grammar::Grammar;
use super::knob::{STEPS, Story};
use super::ops::Op;
use super::world::{World, value_of};

const MS: u64 = 1_000_000;
/// Times between two searches.
const SPANS: [u64; 6] = [1, 999, MS, 4_200_000, 600 * MS, 3000 * MS];

impl World {
    pub(super) fn balance(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let value = |name| value_of(&self.policy, name);
        match op {
            Op::RtLimit => rt_limit(value("rt_runtime_share") == "on", a),
            Op::Newidle => newidle(Skips::of(value("newidle")).expect("the twin knows every value"), a),
            Op::BlockedDue => self.blocked_due(a),
            _ => {
                let lazy = value("blocked_update") == "lazy";
                idle_walk(Walks::of(value("idle_walk")).expect("the twin knows every value").unless(lazy), a)
            }
        }
    }

    pub(super) fn newidle_dice(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let value = |name| value_of(&self.policy, name);
        let dice = Dice::of(value("newidle_dice")).expect("the twin knows every value");
        if op == Op::NewidleCount {
            return counted(dice, a);
        }
        let skips = Skips::of(value("newidle")).expect("the twin knows every value");
        let fails = Fails::of(value("newidle_fails")).expect("the twin knows every value");
        searches(SearchRules { dice, skips, fails }, a)
    }

    fn blocked_due(&self, a: &[u64; 7]) -> u64 {
        let value = |name| value_of(&self.policy, name);
        let rule = Refreshes::of(value("blocked_update")).expect("the twin knows every value");
        let every_time = value("idle_walk") != "entry";
        let wait = self.numbers.blocked_update_us.into();
        let [now, last, tick] = [a[0], a[1], a[2]].map(u128::from);
        let due = rule.due(now, last, tick, wait);
        let cpu = Idleness { mean: a[3].into(), longest: 0, domain: a[4].into(), faded_at: 0 };
        let skips = Skips::of(value("newidle")).expect("the twin knows every value");
        let said = u64::from(due) | u64::from(due || every_time) << 1 | u64::from(rule.of_others()) << 2;
        said | u64::from(rule.walks()) << 3 | u64::from(cpu.closed(skips)) << 4
    }
}

fn rt_limit(share: bool, a: &[u64; 7]) -> u64 {
    let mut own = Share { time: a[0].into(), runtime: a[1].into(), throttled: a[4] >> 32 & 1 != 0 };
    let mut other = Share { time: a[2].into(), runtime: a[3].into(), throttled: false };
    let stops = balance::tick(&mut own, &mut other, (a[4] & 0xffff_ffff).into(), share);
    let goes_on = balance::period(&mut own, a[5].into(), share);
    let said = u64::from(stops) | u64::from(goes_on) << 1 | u64::from(own.throttled) << 2;
    said + 8 * own.runtime as u64 + 5 * other.runtime as u64 + 3 * own.time as u64
}

fn newidle(rule: Skips, a: &[u64; 7]) -> u64 {
    let [mean, longest, domain, faded_at] = [a[0], a[1], a[2], a[3]].map(u128::from);
    let mut cpu = Idleness { mean, longest, domain, faded_at };
    let mut said = u64::from(cpu.skips(rule));
    cpu.woke(a[4].into());
    cpu.searched(rule, a[5].into(), a[6].into());
    said |= u64::from(cpu.skips(rule)) << 1;
    cpu.fade((a[6] + a[6] / 2).into());
    said + 4 * cpu.mean as u64 + 5 * cpu.longest as u64 + 3 * cpu.domain as u64 + 7 * cpu.faded_at as u64
}

/// One more call: the share, calls, hits, or what a find stands for after it.
fn counted(dice: Dice, a: &[u64; 7]) -> u64 {
    let [calls, hits, share, more, now, asked] = [a[0], a[1], a[2], a[3], a[4], a[5]].map(u128::from);
    let mut own = Searches { calls, hits, share, ..Searches::default() };
    own.count(dice, more, now);
    [own.share, own.calls, own.hits, own.worth(dice)][asked as usize % 4] as u64
}

/// Searches of one domain by a CPU that goes idle again and again.
fn searches(rules: SearchRules, a: &[u64; 7]) -> u64 {
    let mut s = Story { seed: a[0], said: 0, now: a[1] };
    let mut own = Searches {
        calls: (1000 + s.draw(24)).into(),
        hits: s.draw(1500).into(),
        share: s.draw(1100).into(),
        ..Searches::default()
    };
    own.counted_at = (s.now + s.draw(2) * MS).into();
    own.cost = s.draw(600_000).into();
    own.faded_at = s.now.into();
    for _ in 0..STEPS {
        s.now += SPANS[s.draw(6) as usize];
        let (rolled, found) = (s.draw(1 << 31), s.draw(3) == 0);
        let cost = if s.draw(4) == 0 { 0 } else { s.draw(1_000_000) };
        let tick_start = s.now - s.now % (4 * MS);
        let times = [cost, s.now, tick_start].map(u128::from);
        s.say(own.goes_idle(rules, (rolled.into(), found), times).into());
        for kept in [own.calls, own.hits, own.share, own.counted_at, own.cost, own.faded_at] {
            s.say(kept as u64);
        }
    }
    s.said
}

fn idle_walk(rule: Walks, a: &[u64; 7]) -> u64 {
    let due = Due {
        ticks: [a[0], a[1], a[2]].map(u128::from),
        blocked: a[3] & 1 != 0,
        unequal: a[3] >> 1 & 1 != 0,
        wants: a[3] >> 2 & 1 != 0,
        running: (a[3] >> 8 & 0xff).into(),
        busy: (a[3] >> 16 & 0xff).into(),
    };
    let cpu = Idleness { mean: a[4].into(), longest: 0, domain: 0, faded_at: 0 };
    let next = balance::next_walk(a[0].into(), a[5].into()) as u64;
    due.kick(rule) | u64::from(due.newly(rule, &cpu)) << 2 | next << 3
}

impl Grammar {
    /// A tick asks about limits, searches and walks.
    pub(super) fn balance(&mut self) {
        let around = |grammar: &mut Grammar| 850 * MS + grammar.below(200) * MS + grammar.below(2) * grammar.below(MS);
        let [time, other_time] = [around(self), around(self) * self.below(2)];
        let runtimes = [950 * MS, around(self).min(1000 * MS)];
        let [runtime, other_runtime] = [self.below(2), self.below(2)].map(|i| runtimes[i as usize]);
        let cpus = (1 + self.below(16)) | self.below(2) << 32;
        let overrun = self.below(3);
        self.call(Op::RtLimit, &[time, runtime, other_time, other_runtime, cpus, overrun]);
        let below = [1_000_000, 1_000_000, 1_000_000, 3000 * MS, 2_000_000, 2_000_000, 3000 * MS];
        let newidle = below.map(|below| self.below(below));
        self.call(Op::Newidle, &newidle);
        let ticks = [40, 40, 40].map(|below| self.below(below));
        let marks = self.below(8) | self.below(4) << 8 | self.below(4) << 16;
        let (mean, tick_ns) = (self.below(1_000_000), [MS, 4 * MS, 10 * MS, 3_333_333][self.below(4) as usize]);
        self.call(Op::IdleWalk, &[ticks[0], ticks[1], ticks[2], marks, mean, tick_ns]);
        let (last, cost) = (self.below(100), self.below(1_000_000));
        let now = last + self.below(3) * self.below(60);
        self.call(Op::BlockedDue, &[now, last, tick_ns, mean, cost]);
        let (seed, start) = (self.below(1 << 32), 1000 * MS + self.below(4000 * MS));
        self.call(Op::NewidleDice, &[seed, start]);
        let calls = 1 + self.below(2) * 1022;
        let [hits, share, more] = [1100, 1100, 1025].map(|below| self.below(below));
        let (past, asked) = (self.below(1 << 32) << self.below(30), self.below(4));
        self.call(Op::NewidleCount, &[calls, hits, share, more, past, asked]);
    }
}
