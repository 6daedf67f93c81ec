// SPDX-License-Identifier: GPL-2.0-only
//! The real-time limit and idle CPUs: their part of the twin, and random questions for the grammar.

use pelton_reference::balance::{self, Due, Idleness, Refreshes, Share, Skips, Walks};

use super::grammar::Grammar;
use super::ops::Op;
use super::world::{World, value_of};

const MS: u64 = 1_000_000;

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
    }
}
