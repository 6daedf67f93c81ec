// SPDX-License-Identifier: GPL-2.0-or-later
//! The deadline class: its part of the twin, and random questions for the grammar.

use pelton_reference::deadline::{self, Rules, Server};
use pelton_reference::dl_server::{self, FairServer, Phase, Restart};

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
            Op::DlServer => serves(self.server_rules(), a),
            _ => deadline::refused(rules, a[0], [a[1], a[2], a[3]], a[4], a[5]).into(),
        }
    }
}

impl World {
    fn server_rules(&self) -> dl_server::Rules {
        let value = |name| value_of(&self.policy, name);
        dl_server::Rules {
            restart: match value("server_restart") {
                "anew_running" => Restart::AnewRunning,
                "anew" => Restart::Anew,
                "revised_running" => Restart::RevisedRunning,
                _ => Restart::Revised,
            },
            idle_waits: value("server_idle") == "waits",
            late_anew: value("server_late") == "anew",
        }
    }
}

fn server_said(s: &FairServer) -> u64 {
    let waits = matches!(s.phase, Phase::Waits(_));
    let (active, serves) = (s.phase != Phase::Off, s.phase == Phase::Serves);
    let marks = [active, s.starving, waits, s.phase == Phase::Waits(true), s.lingers, serves];
    let marks = marks.iter().rev().fold(0, |sum, &mark| 2 * sum + u64::from(mark));
    let own = said(&Server { throttled: waits || s.phase == Phase::Spent, ..s.own });
    let timers = s.timer.unwrap_or(0).wrapping_mul(7).wrapping_add(s.lag.unwrap_or(0).wrapping_mul(11));
    let slack = if s.phase == Phase::Off { 0 } else { s.own.left.max(0) as u64 };
    own.wrapping_add(slack.wrapping_mul(17)).wrapping_add(timers).wrapping_add(marks << 40)
}

/// 1 for bandwidth that is added, 2 for bandwidth that is taken off.
fn change(change: i32) -> u64 {
    [2, 0, 1][(change + 1) as usize]
}

fn server_event(rules: dl_server::Rules, s: &mut FairServer, a: &[u64; 7], event: u64) -> u64 {
    let (now, idle, time) = (a[4], a[5] >> 16 & 1 != 0, a[6]);
    match event {
        0 => change(s.start(rules, now)),
        1 => change(s.stop(now)),
        2 => {
            s.ran(rules, now, time, idle);
            0
        }
        3 => {
            s.idled(time);
            0
        }
        4 => {
            let accounts = s.expire(rules);
            if accounts {
                s.ran(rules, now, time, idle);
            }
            8 * u64::from(accounts) + change(s.timer(now))
        }
        _ => change(s.inactive()),
    }
}

fn serves(rules: dl_server::Rules, a: &[u64; 7]) -> u64 {
    let own =
        Server { left: a[0] as i64, deadline: a[1], budget: a[2], relative: a[3], period: a[3], ..Server::default() };
    let is = |bit: u32| a[5] >> bit & 1 != 0;
    let phase = match a[5] & 7 {
        0 => Phase::Off,
        1 => Phase::Waits(false),
        2 => Phase::Waits(true),
        3 => Phase::Serves,
        _ => Phase::Spent,
    };
    let (timer, lag) = (is(5).then(|| a[1].wrapping_sub(1)), is(4).then_some(a[1]));
    let mut s = FairServer { own, phase, starving: is(3), timer, lag, lingers: is(4) };
    let first = server_event(rules, &mut s, a, a[5] >> 8 & 7);
    let first = first.wrapping_add(server_said(&s).wrapping_mul(3));
    let then = server_event(rules, &mut s, a, a[5] >> 12 & 7).wrapping_mul(5);
    first.wrapping_add(then).wrapping_add(server_said(&s).wrapping_mul(13))
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
        self.fair_server();
    }

    /// A CPU's fair server in any of its states, and two things that happen to it.
    fn fair_server(&mut self) {
        let period = [1000 * MS, 100_000 + self.below(4000 * MS)][self.below(2) as usize];
        let budget = if self.one_in(20) { 0 } else { 1024 + self.below(period - 1023) };
        let deadline = 5000 * MS + self.below(400 * MS);
        let left = match self.below(4) {
            0 => 0,
            1 => self.below(2 * budget + 1).wrapping_neg(),
            _ => self.below(budget + 1),
        };
        let fresh = self.one_in(20);
        let deadline = if fresh { 0 } else { deadline };
        let now = [
            deadline,
            deadline.wrapping_sub(left),
            deadline.wrapping_sub(left).wrapping_sub(self.below(4 * MS)).wrapping_add(2 * MS),
            deadline.wrapping_sub(self.below(period)),
            deadline.wrapping_add(self.below(2 * period)),
        ][self.below(5) as usize];
        let time = [self.below(4 * MS), self.below(2 * budget + 2), 0][self.below(3) as usize];
        let lingers = if !fresh && self.one_in(3) { 16 } else { 0 };
        let phase = if fresh { 0 } else { self.below(5) };
        let marks = phase | self.below(2) << 3 | lingers | self.below(2) << 5;
        let events = self.below(6) << 8 | self.below(6) << 12 | self.below(2) << 16;
        self.call(Op::DlServer, &[left, deadline, budget, period, now, marks | events, time]);
    }
}
