// SPDX-License-Identifier: GPL-2.0-only
//! The deadline class: its part of the twin, and random questions for the grammar.

use pelton_reference::deadline::{self, Rules, Server};

use super::grammar::Grammar;
use super::ops::Op;
use super::world::{World, value_of};

const MS: u64 = 1_000_000;

fn said(s: &Server) -> u64 {
    let marks = 16 * u64::from(s.throttled) + 32 * u64::from(s.yielded);
    (s.left as u64).wrapping_mul(3).wrapping_add(s.deadline.wrapping_mul(5)).wrapping_add(marks)
}

impl World {
    pub(super) fn deadline(&mut self, op: Op, a: &[u64; 7]) -> u64 {
        let is = |name, value| value_of(&self.policy, name) == value;
        let rules = Rules {
            scaled: is("dl_runtime", "scaled"),
            revised: is("dl_constrained", "revised"),
            by_capacity: is("dl_admission", "capacity"),
        };
        match op {
            Op::DlWake => wake(rules, a),
            Op::DlRan => ran(rules, a),
            _ => deadline::refused(rules, a[0], [a[1], a[2], a[3]], a[4], a[5]).into(),
        }
    }
}

fn wake(rules: Rules, a: &[u64; 7]) -> u64 {
    let mut s = Server {
        left: a[0] as i64,
        deadline: a[1],
        budget: a[2],
        relative: a[3],
        period: if a[4] == 0 { a[3] } else { a[4] },
        throttled: a[6] & 1 != 0,
        yielded: a[6] & 2 != 0,
    };
    let now = a[5];
    let mut sum = u64::from(s.too_dense(now));
    sum = sum.wrapping_add(s.zero_lag().wrapping_mul(7)).wrapping_add(s.hrtick().wrapping_mul(11));
    sum = sum.wrapping_add(2 * u64::from(s.enqueue(rules, now, a[6] & 4 != 0))).wrapping_add(said(&s));
    s.replenish(now);
    sum.wrapping_mul(13).wrapping_add(said(&s))
}

fn ran(rules: Rules, a: &[u64; 7]) -> u64 {
    let (left, yielded) = (a[0] as i64, a[6] & 1 != 0);
    let mut s =
        Server { left, deadline: a[1], budget: a[2], relative: a[3], period: a[3], yielded, ..Server::default() };
    let stops = s.ran(rules, a[4], a[5] & 0xffff_ffff, a[5] >> 32);
    let now = a[1].wrapping_add(a[6] >> 1).wrapping_sub(2000);
    let starts = i128::from(s.next()) - i128::from(now) > -1000;
    (u64::from(stops) + 2 * u64::from(starts)).wrapping_add(said(&s))
}

impl Grammar {
    /// A deadline task wakes up, runs and wants more.
    pub(super) fn deadline(&mut self) {
        let period = 100_000 + self.below(100 * MS);
        let relative = if self.one_in(2) { period } else { 2048 + self.below(period - 2048) };
        let budget = 1024 + self.below(relative - 1024);
        let deadline = 1000 * MS + self.below(400 * MS);
        let left = if self.one_in(4) { self.below(2 * budget).wrapping_neg() } else { self.below(budget + 1) };
        let now = [
            deadline,
            deadline - self.below(relative),
            deadline + self.below(period),
            1000 * MS + self.below(500 * MS),
        ][self.below(4) as usize];
        let marks = [4, 4, 4, 0, 1, 2, 5, 7][self.below(8) as usize];
        self.call(Op::DlWake, &[left, deadline, budget, relative, period, now, marks]);
        let speed = (1 + self.below(1024)) | ((1 + self.below(1024)) << 32);
        let time = [0, self.below(4 * MS), self.below(2 * budget)][self.below(3) as usize];
        let late = self.below(2) | self.below(4000) << 1;
        self.call(Op::DlRan, &[left, deadline, budget, relative, time, speed, late]);
        let limit = [996_147, 996_147, 1 << 20, u64::MAX][self.below(4) as usize];
        let cpus = 1 + self.below(8);
        let reserved = self.below(cpus << 20);
        let goes = self.below(2) * self.below(reserved + 1);
        let comes = self.below(1 << 20);
        let capacity = cpus * (1 + self.below(1024));
        self.call(Op::DlRoom, &[limit, reserved, goes, comes, cpus, capacity]);
    }
}
