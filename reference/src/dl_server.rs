// SPDX-License-Identifier: GPL-2.0-or-later
//! The deadline server of the fair class, as the states that the kernel's own diagram has.

use crate::deadline::{self, Server, before};

/// Time that is not worth another start of the timer, ns.
const WORTH_NS: u64 = 1_000_000;

/// Treatment of a deadline that is ahead when more is left than fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// New deadline; a server of tasks that starved goes on serving them.
    AnewRunning,
    /// A new one.
    Anew,
    /// Kept deadline for a server of tasks that starved.
    RevisedRunning,
    /// Kept deadline.
    Revised,
}

/// Differences between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// See there.
    pub restart: Restart,
    /// Idle time is charged as if fair tasks had run.
    pub idle_waits: bool,
    /// A server that is late begins a period now.
    pub late_anew: bool,
}

/// Phase of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Stopped.
    Off,
    /// For its last moment; with nothing running since.
    Waits(bool),
    /// Before real-time tasks.
    Serves,
    /// For the next period.
    Spent,
}

/// One CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairServer {
    /// Its reservation.
    pub own: Server,
    /// Phase of the server.
    pub phase: Phase,
    /// Tasks starved.
    pub starving: bool,
    /// Time at which the timer of its phase comes.
    pub timer: Option<u64>,
    /// Time at which its bandwidth is free after a stop.
    pub lag: Option<u64>,
    /// Its bandwidth counts although it stopped.
    pub lingers: bool,
}

impl FairServer {
    fn renew(&mut self, now: u64) {
        self.own.deadline = now.wrapping_add(self.own.period);
        self.own.left = self.own.budget as i64;
    }

    fn last_moment(&self) -> u64 {
        self.own.deadline.wrapping_sub(self.own.left as u64)
    }

    /// True when `at` is no microsecond ago: a timer runs then, an older one if there is one.
    fn sets_timer(&mut self, at: u64, now: u64) -> bool {
        let ahead = at.wrapping_sub(now) as i64 > -1000;
        if ahead {
            self.timer.get_or_insert(at);
        }
        ahead
    }

    /// Waits for its last moment if that is ahead, else serves.
    fn wait(&mut self, now: u64) {
        self.phase = Phase::Waits(false);
        if !self.sets_timer(self.last_moment(), now) {
            self.timer = None;
            self.phase = Phase::Serves;
        }
    }

    /// Fair tasks come to a CPU without any. Change of the bandwidth: 1, 0 or -1.
    pub fn start(&mut self, rules: Rules, now: u64) -> i32 {
        if let Phase::Waits(idle) = &mut self.phase {
            *idle = false;
        }
        if self.own.budget == 0 || self.phase != Phase::Off {
            return 0;
        }
        if self.own.deadline == 0 {
            self.renew(now);
        }
        let change = i32::from(!self.lingers);
        if self.lingers {
            (self.lingers, self.lag) = (false, None);
        }
        let ahead = !before(self.own.deadline, now);
        let stays = match rules.restart {
            Restart::AnewRunning | Restart::Anew => false,
            Restart::RevisedRunning => self.starving,
            Restart::Revised => true,
        };
        if ahead && self.own.too_dense(now) && stays {
            let until = i128::from(self.own.deadline.wrapping_sub(now));
            let density = i128::from(deadline::ratio(self.own.budget, self.own.relative));
            self.own.left = ((density * until) as u64 >> 20) as i64;
            self.phase = Phase::Serves;
            return change;
        }
        if !ahead || self.own.too_dense(now) {
            self.starving &= rules.restart == Restart::AnewRunning;
            self.renew(now);
        }
        if self.starving {
            self.phase = Phase::Serves;
        } else {
            self.wait(now);
        }
        change
    }

    /// Stops the server: no task is left to serve.
    pub fn stop(&mut self, now: u64) -> i32 {
        if self.phase == Phase::Off {
            return 0;
        }
        (self.phase, self.timer) = (Phase::Off, None);
        let free = self.own.zero_lag();
        if before(free, now) || self.lag.is_some() {
            return -1;
        }
        (self.lingers, self.lag) = (true, Some(free));
        0
    }

    /// Fair tasks ran for `time`, or with `idle` the CPU was idle.
    pub fn ran(&mut self, rules: Rules, now: u64, time: u64, idle: bool) {
        if self.phase == Phase::Off || self.own.budget == 0 || (time as i64) <= 0 {
            return;
        }
        self.own.left = self.own.left.wrapping_sub(time as i64);
        let was_idle = self.phase == Phase::Waits(true);
        if was_idle && !idle {
            self.phase = Phase::Waits(false);
        }
        if self.own.left > 0 {
            return;
        }
        match self.phase {
            Phase::Serves => self.spend(rules, now),
            _ if was_idle && idle => self.own.left = 0,
            _ => {
                (self.starving, self.timer) = (false, None);
                self.renew(now);
                self.phase = Phase::Waits(idle);
                self.sets_timer(self.last_moment(), now);
            }
        }
    }

    fn spend(&mut self, rules: Rules, now: u64) {
        self.phase = Phase::Spent;
        if self.sets_timer(self.own.next(), now) {
            return;
        }
        if !rules.late_anew {
            return self.replenish(now);
        }
        self.renew(now);
        let mut at = self.own.next();
        if !self.starving {
            self.phase = Phase::Waits(false);
            at = self.last_moment();
        }
        self.sets_timer(at, now);
    }

    fn replenish(&mut self, now: u64) {
        let mut waited = matches!(self.phase, Phase::Waits(_));
        if waited && self.own.too_dense(now) {
            self.renew(now);
        }
        while self.own.left <= 0 {
            self.own.deadline = self.own.deadline.wrapping_add(self.own.period);
            self.own.left += self.own.budget as i64;
        }
        if before(self.own.deadline, now) {
            self.renew(now);
            waited |= !self.starving;
        }
        if !waited && !self.starving && before(now, self.last_moment()) {
            self.wait(now);
        } else {
            self.phase = Phase::Serves;
        }
    }

    /// Idle time where it is taken.
    pub fn idled(&mut self, time: u64) {
        if self.own.left < 0 || (time as i64) < 0 {
            return;
        }
        self.own.left -= time as i64;
        if self.own.left < 0 {
            (self.starving, self.own.left) = (false, 0);
        }
    }

    /// Its timer expires; true: what runs is accounted first.
    pub fn expire(&mut self, rules: Rules) -> bool {
        self.timer = None;
        rules.idle_waits && self.own.budget > 0 && matches!(self.phase, Phase::Waits(_) | Phase::Spent)
    }

    /// Handles the timer of the phase.
    pub fn timer(&mut self, now: u64) -> i32 {
        if self.own.budget == 0 {
            return 0;
        }
        match self.phase {
            Phase::Off | Phase::Serves => 0,
            Phase::Waits(true) => {
                let started = self.timer;
                let change = self.stop(now);
                self.timer = started;
                change
            }
            Phase::Waits(false) if before(now, self.last_moment().wrapping_sub(WORTH_NS)) => {
                let at = self.last_moment();
                self.timer.get_or_insert(at);
                0
            }
            phase => {
                self.starving |= phase == Phase::Waits(false);
                self.replenish(now);
                0
            }
        }
    }

    /// Its bandwidth is free.
    pub fn inactive(&mut self) -> i32 {
        self.lag = None;
        -i32::from(std::mem::take(&mut self.lingers))
    }
}
