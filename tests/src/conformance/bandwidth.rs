// SPDX-License-Identifier: GPL-2.0-or-later
//! Quotas of task groups: their part of the twin, and random questions for the grammar.

use pelton_reference::cfs_bandwidth::Group;
use pelton_reference::rules::{Refill, SlackForm, ThrottleForm, ThrottledTime};

use super::grammar::Grammar;
use super::knob::{STEPS, Story};
use super::ops::Op;
use super::world::World;

const QUEUES: u64 = 4;
const SPANS: [u64; 6] = [1, 999_999, 1_000_000, 4_000_000, 5_000_001, 61_000_000];
const MS: i128 = 1_000_000;
const LIMITS: [(Option<i128>, i128, i128); 4] = [
    (Some(20 * MS), 100 * MS, 0),
    (Some(3 * MS), 10 * MS, 2 * MS),
    (Some(250 * MS), 100 * MS, 250 * MS),
    (None, 50 * MS, 0),
];
const START: u64 = 1;
const SLACK: u64 = 2;
const EXHAUSTED: u64 = 4;
const THROTTLED: u64 = 8;

fn bit(set: bool, bit: u64) -> u64 {
    if set { bit } else { 0 }
}

fn step(s: &mut Story, group: &mut Group) {
    let (id, kind) = (s.draw(QUEUES) as usize, s.draw(8));
    s.now += SPANS[s.draw(6) as usize];
    let now = s.now.into();
    if group.runs.0 && group.end <= now && group.period_ends(now) {
        group.distribute(now).iter().for_each(|&freed| s.say(freed as u64));
    }
    if group.runs.1 && group.gathered_at <= now && group.gathered(now) {
        group.distribute(now).iter().for_each(|&freed| s.say(freed as u64));
    }
    match kind {
        0..=4 => run(s, group, id, kind == 4),
        5 | 6 if !group.queues[id].throttled => {
            let gathers = group.give_back(id, now);
            s.say(bit(gathers, SLACK));
        }
        _ => group.wanted(id, now),
    }
    s.say(group.queues[id].left as u64);
}

fn run(s: &mut Story, group: &mut Group, id: usize, first: bool) {
    let now = s.now.into();
    let time = SPANS[s.draw(6) as usize] / (1 + s.draw(3));
    let (exhausted, started) = if first { group.comes(id, now) } else { group.ran(id, time.into(), now) };
    s.say(bit(started, START) | bit(exhausted, EXHAUSTED));
    if group.queues[id].throttled || group.queues[id].left > 0 || s.draw(3) == 0 {
        return;
    }
    let queued = s.draw(2) != 0;
    let (throttled, started) = group.throttle(id, queued, now);
    s.say(bit(started, START) | bit(throttled, THROTTLED));
}

fn say(s: &mut Story, group: &Group) {
    let (periods, throttled, bursts) = group.counts;
    let (waited, beyond) = group.times;
    for value in [group.pool, group.end, waited, beyond] {
        s.say(value as u64);
    }
    for value in [periods, throttled, bursts] {
        s.say(value);
    }
    s.say(group.waiting.len() as u64 + bit(group.runs.0, 16) + bit(group.runs.1, 32));
}

impl World {
    pub(super) fn cfs_bandwidth(&self, a: &[u64; 7]) -> u64 {
        let mut s = Story { seed: a[0], said: 0, now: 1 << 40 };
        let mut rules = self.rules;
        rules.bandwidth_refill =
            [Refill::ExpiresLate, Refill::Expires, Refill::Quota, Refill::Burst][s.draw(4) as usize];
        let forms = [ThrottleForm::Head, ThrottleForm::Tail, ThrottleForm::Retry, ThrottleForm::AtOnce];
        rules.bandwidth_throttle = forms[s.draw(4) as usize];
        rules.bandwidth_slack = [SlackForm::Pushed, SlackForm::Kept][s.draw(2) as usize];
        rules.bandwidth_time = [ThrottledTime::Throttled, ThrottledTime::Waiting][s.draw(2) as usize];
        let mut group = Group::new(rules, &self.numbers, QUEUES as usize, a[1]);
        let (quota, period, burst) = LIMITS[s.draw(4) as usize];
        let started = group.limit(quota, period, burst, s.now.into());
        s.say(bit(started, START));
        for _ in 0..STEPS {
            step(&mut s, &mut group);
            say(&mut s, &group);
        }
        s.said
    }
}

impl Grammar {
    /// A story of a group whose queues use its quota up.
    pub(super) fn cfs_bandwidth(&mut self) {
        let seed = self.below(u64::from(u32::MAX)) << 20 | self.below(1 << 20);
        let tick_ns = [1_000_000, 4_000_000, 10_000_000][self.below(3) as usize];
        self.call(Op::CfsBandwidth, &[seed, tick_ns]);
    }
}
