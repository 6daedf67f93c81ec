// SPDX-License-Identifier: GPL-2.0-or-later
//! The fair class: its part of the twin, and random questions for the grammar. `entry_fair.h` has the words of a call.

use pelton_reference::fair::{self, Entity, Queue};
use pelton_reference::group::IdleGroup;
use pelton_reference::rules::{GroupIdle, Rules};

use super::grammar::Grammar;
use super::ops::Op;
use super::world::World;

/// Entities of a question.
const ENTITIES: usize = 3;
/// Weights of the nice levels and of SCHED_IDLE, and 2^32 / weight where the kernel's table is not the nearest number.
const WEIGHTS: [u64; 41] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501,
    1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15, 3,
];
const ROUNDED_DOWN: [u64; 5] = [56, 45, 29, 23, 3];

fn weight(level: u64) -> (i128, i128) {
    let weight = WEIGHTS[(level as usize).min(40)];
    let nearest = ((1u64 << 32) + weight / 2) / weight;
    let inverse = if ROUNDED_DOWN.contains(&weight) { (1u64 << 32) / weight } else { nearest };
    (i128::from(weight) * 1024, inverse.into())
}

fn entity(a: &[u64; 7], i: usize) -> Entity {
    let word = a[i + 1];
    let (weight, inverse) = weight(word & 63);
    let (vruntime, moves) = (i128::from(word >> 6 & 0xff_ffff) - (1 << 23), word >> 57 & 1 != 0);
    let rest = (i128::from(a[4] >> (16 * i) & 0xffff) - (1 << 15)) * 256;
    let deadline = if moves { rest } else { rest + vruntime };
    let kind = word >> 60;
    let protection = if kind & 1 != 0 { deadline } else { vruntime + (i128::from(kind) << 16) - (1 << 18) };
    Entity {
        weight,
        inverse,
        vruntime,
        deadline,
        lag: (i128::from(word >> 44 & 0xfff) - 2048) * 4096,
        protection,
        slice: i128::from(word >> 30 & 0x3fff) << 12,
        ran: i128::from(a[4] >> 48) << 10,
        custom: word >> 56 & 1 != 0,
        moves,
        delayed: word >> 58 & 1 != 0,
        idle: word >> 59 & 1 != 0,
        queued: (i as u64) < a[0] & 15,
    }
}

fn queue(a: &[u64; 7]) -> Queue {
    Queue {
        entities: (0..ENTITIES).map(|i| entity(a, i)).collect(),
        curr: ((a[0] >> 4 & 15) as usize).checked_sub(1),
        zero: i128::from(a[0] >> 24 & 0xff_ffff) - (1 << 23),
        cpus: 1 + i128::from(a[0] >> 16 & 15),
        tick: 4_000_000,
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0100_0000_01b3)
}

/// Everything visible.
fn hash(rules: &Rules, mut q: Queue, answer: u64) -> u64 {
    let mut hash = mix(0xcbf2_9ce4_8422_2325, answer);
    for e in &q.entities {
        let numbers = [e.vruntime, e.deadline, e.lag, e.protection, e.weight, e.slice];
        hash = numbers.into_iter().fold(hash, |hash, number| mix(hash, number as u64));
        hash = mix(hash, u64::from(e.moves) | u64::from(e.delayed) << 1);
    }
    mix(hash, q.average(rules) as u64)
}

fn look(rules: &Rules, q: &Queue, asked: usize, flag: u64) -> u64 {
    let mut answer = (0..ENTITIES).map(|i| u64::from(q.eligible(rules, i)) << i).sum::<u64>();
    answer |= u64::from(q.entities[asked].deadline < q.entities[0].deadline) << 3;
    if let Some(curr) = q.curr {
        answer |= u64::from(q.keeps(rules, curr, flag & 1 != 0)) << 4;
        answer |= u64::from(q.picks(rules, curr, asked)) << 5;
        answer |= u64::from(q.is_protected(rules, curr)) << 6;
    }
    answer
}

fn wake(rules: &Rules, q: &mut Queue, asked: usize, flag: u64, all: u64) -> u64 {
    let Some(curr) = q.curr.filter(|_| flag & 2 == 0) else {
        q.protect(rules, asked);
        return 0;
    };
    let idle = [curr, asked].map(|i| q.entities[i].idle);
    let by_policy = match fair::idle_decides(rules, idle, [all & 1 != 0, all & 2 != 0], flag & 4 != 0) {
        None => 2,
        Some(preempts) => u64::from(preempts),
    };
    let passes = q.passes(rules, curr, asked);
    let looked_at = q.may_preempt(rules, asked, passes, flag & 1 != 0);
    q.wakee_waits(rules, curr, passes);
    by_policy | u64::from(passes) << 2 | u64::from(looked_at) << 3 | u64::from(fair::idle_is_unprotected(rules)) << 4
}

/// Idle groups: see `op_fair_idle`.
fn idle_group(rules: &Rules, a: &[u64; 7]) -> u64 {
    let group = IdleGroup { idle: rules.group_idle != GroupIdle::Off && a[0] != 0 };
    let [comes, idle, tasks, own] = [a[1], a[2], a[3], a[4]].map(|n| n as i64);
    let above = group.idle_above(comes - 8, idle - 8);
    let answers = [above, group.changed(tasks, own), group.shares() << 1 | i64::from(group.takes_a_weight())];
    let hash = answers.into_iter().fold(0, |hash, answer| mix(hash, answer as u64));
    mix(hash, u64::from(tasks > 0 && tasks == own))
}

fn cfs(rules: &Rules, q: &mut Queue, asked: usize, a: &[u64; 7]) -> u64 {
    let slice = q.slice(rules, asked, (a[0] >> 16 & 0xff).into());
    let mut answer = (slice as u64) << 4 | u64::from(q.tick(asked, 0, slice));
    answer |= ((q.compare(rules, asked, 0) + 1) as u64) << 1;
    answer |= u64::from(q.compare(rules, 0, asked) < 1) << 3;
    q.place_cfs(rules, asked, a[0] >> 12 & 1 != 0, slice, a[5].into());
    mix(mix(0, answer), q.entities[asked].vruntime as u64)
}

impl World {
    pub(super) fn fair(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let rules = &self.rules;
        if op == Op::FairDelta {
            let [delta, weight, total, inverse] = [a[0], a[1], a[2], a[3]].map(i128::from);
            return fair::calc_delta(rules, delta, weight, total, inverse) as u64;
        }
        if op == Op::FairIdle {
            return idle_group(rules, a);
        }
        let mut q = queue(a);
        let (asked, flag) = ((a[0] >> 8 & 3) as usize, a[0] >> 12 & 15);
        let answer = match op {
            Op::FairLook => look(rules, &q, asked, flag),
            Op::FairPlace => {
                let others = q.entities.iter().any(|e| e.queued);
                q.place(rules, asked, flag & 1 != 0, others);
                0
            }
            Op::FairLeave if flag & 1 != 0 => q.delay(rules, asked).into(),
            Op::FairLeave if flag & 2 != 0 => q.requeue(rules, asked).into(),
            Op::FairLeave => {
                q.leave(rules, asked, flag & 4 != 0);
                0
            }
            Op::FairRun if flag & 1 != 0 => {
                q.give_up(rules, q.curr.unwrap_or(0));
                0
            }
            Op::FairRun => q.run(rules, q.curr.unwrap_or(0), a[5].into()),
            Op::FairWake => wake(rules, &mut q, asked, flag, a[0] >> 16 & 3),
            Op::FairReweight => {
                let (weight, inverse) = weight(a[5] & 63);
                q.reweight(rules, asked, weight, inverse);
                0
            }
            _ => return cfs(rules, &mut q, asked, a),
        };
        hash(rules, q, answer)
    }
}

impl Grammar {
    /// One question of each kind about a random queue.
    pub(super) fn fair_class(&mut self) {
        let delta = [1 << 20, 1 << 33, 1 << 43][self.below(3) as usize];
        let (delta, level, more) = (self.below(delta), self.below(41), self.below(1 << 20));
        let (own, inverse) = weight(level);
        let (own, inverse) = (own as u64, inverse as u64);
        let total = own + more * 1024;
        self.call(Op::FairDelta, &[delta, 1 << 20, own, inverse]);
        self.call(Op::FairDelta, &[delta, own, total, 0]);
        let tasks = self.below(6);
        let idle = [self.below(2), self.below(16), self.below(16), tasks, self.below(tasks + 1)];
        self.call(Op::FairIdle, &idle);
        for op in [Op::FairLook, Op::FairPlace, Op::FairLeave, Op::FairRun, Op::FairWake, Op::FairReweight, Op::FairCfs]
        {
            self.fair_question(op);
        }
    }

    fn fair_question(&mut self, op: Op) {
        // The last entity is the one that joins or begins to run.
        let begins = matches!(op, Op::FairPlace) || (op == Op::FairWake && self.one_in(4));
        let runs = matches!(op, Op::FairRun | Op::FairWake) && !begins;
        let least = u64::from(!matches!(op, Op::FairPlace | Op::FairCfs)) + u64::from(runs && op == Op::FairWake);
        let most = if begins { 2 } else { 3 };
        let queued = least + self.below(most + 1 - least);
        let curr = if queued > 0 && (runs || self.one_in(2)) { 1 + self.below(queued) } else { 0 };
        let asked = match op {
            _ if begins => 2,
            Op::FairWake => curr % queued,
            Op::FairReweight | Op::FairCfs | Op::FairLook => self.below(3),
            _ => self.below(queued),
        };
        let flag = match op {
            Op::FairWake => self.below(8) & !2 | if begins { 2 } else { 0 },
            _ => self.below(8),
        };
        let moving = matches!(op, Op::FairPlace | Op::FairReweight);
        let entities = [0, 1, 2].map(|i| self.fair_entity(moving && i >= queued));
        let first = queued | (if begins && op == Op::FairWake { 0 } else { curr }) << 4 | asked << 8 | flag << 12;
        let first = first | self.below(16) << 16 | self.below(1 << 24) << 24;
        let deadlines = self.below(1 << 32) | self.below(1 << 32) << 32;
        let want =
            if op == Op::FairCfs && self.one_in(4) { (1 << 53) - 1 + self.below(3) } else { self.below(1 << 24) };
        let [a, b, c] = entities;
        self.call(op, &[first, a, b, c, deadlines, want]);
    }

    /// Vruntimes within 16 ms or close together, slices to 67 ms.
    fn fair_entity(&mut self, may_move: bool) -> u64 {
        let vruntime = if self.one_in(3) { (1 << 23) + self.below(16) } else { self.below(1 << 24) };
        let slice = if self.one_in(3) { 171 } else { (1 + self.below(1 << 14)) & 0x3fff };
        let lag = if self.one_in(4) { 2048 } else { self.below(1 << 12) };
        let flags = self.below(16) & !(u64::from(!may_move) << 1);
        self.below(41) | vruntime << 6 | slice << 30 | lag << 44 | flags << 56 | self.below(16) << 60
    }
}
