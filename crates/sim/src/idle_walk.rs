// SPDX-License-Identifier: GPL-2.0-only
//! Idle CPUs without tick: somebody has to bring their load up to date, so that their share of the domain's request fades.
//! A busy CPU's tick wakes one of them for it, and that one walks over all; a CPU that goes idle may do so itself.

use pelton_core::{IdleWalk, WALK_BALANCE, WALK_STATS, runs, value};
use pelton_schema::Sink;

use crate::engine::Engine;
use crate::state::Power;
use crate::tick::IDLE_BALANCE_NS_PER_CPU;

impl<S: Sink> Engine<'_, S> {
    /// Ticks since the start (jiffies).
    fn now_ticks(&self) -> u64 {
        (self.now + self.tick_ns - self.tick_phase_ns) / self.tick_ns
    }

    fn idle_walk(&self, c: u32) -> IdleWalk {
        let busy = |&&n: &&u32| !self.cpus[n as usize].nohz;
        IdleWalk {
            now_ticks: self.now_ticks(),
            next_blocked_ticks: self.chores.next_blocked_ticks,
            next_balance_ticks: self.chores.next_balance_ticks,
            has_blocked: self.chores.idle_blocked.into(),
            running: self.cpus[c as usize].nr_running(),
            busy_cpus: self.llc(c).iter().filter(busy).count() as u32,
            asymmetric: self.asymmetric.into(),
        }
    }

    /// The tick of a CPU with a task: it counts as busy, and sends an idle CPU on its walk when that is due.
    pub(crate) fn kick_walk(&mut self, c: u32) {
        self.cpus[c as usize].nohz = false;
        let due = self.idle_walk(c);
        let why = due.kick(&self.policy);
        if why & WALK_BALANCE != 0 {
            self.chores.next_balance_ticks = due.now_ticks + 1;
        }
        let sleeps = |i: u32| self.cpus[i as usize].nohz && self.cpus[i as usize].power != Power::Awake;
        if why == 0 {
            return;
        }
        let Some(walker) = self.idle.iter().find(|&i| sleeps(i)) else { return };
        if std::mem::replace(&mut self.cpus[walker as usize].walk, why) == 0 {
            // Up to 5.4 a reschedule interrupt, which reaches a polling CPU as well.
            if self.policy.idle_walk != value::IDLE_WALK_ENTRY || self.idle_needs_ipi(walker) {
                self.charge_cost(walker, self.m.costs.ipi_ns);
            }
            self.leave_idle(walker);
        }
    }

    /// CPU `c` is awake: it walks if it was woken for that and has nothing else to do.
    pub(crate) fn walk_if_asked(&mut self, c: u32) {
        let why = std::mem::take(&mut self.cpus[c as usize].walk);
        if why != 0 && self.cpus[c as usize].is_idle() {
            self.walk_idle(c, why);
        }
    }

    /// CPU `c` goes idle: it walks if that is due and it expects to have the time.
    pub(crate) fn walk_newly_idle(&mut self, c: u32) {
        if self.idle_walk(c).newly(&self.policy, &self.cpus[c as usize].newidle) {
            self.walk_idle(c, WALK_STATS);
        }
    }

    fn walk_idle(&mut self, c: u32, why: u32) {
        let exec = std::mem::replace(&mut self.exec, c);
        self.chores.idle_blocked &= why & WALK_STATS == 0;
        for idle in 0..self.cpus.len() as u32 {
            let cpu = &self.cpus[idle as usize];
            if !cpu.nohz || !cpu.is_idle() {
                continue;
            }
            if cpu.has_blocked {
                self.account(idle);
                self.update_clock(idle);
                self.signal_blocked(idle, runs::IDLE);
                self.chores.idle_blocked |= self.cpus[idle as usize].has_blocked;
            }
            if why & WALK_BALANCE != 0 {
                self.cpus[idle as usize].newidle.decay(self.now);
            }
        }
        let now_ticks = self.now_ticks();
        if why & WALK_STATS != 0 {
            self.chores.next_blocked_ticks = IdleWalk::next(now_ticks, self.tick_ns);
        }
        if why & WALK_BALANCE != 0 {
            let interval_ns = IDLE_BALANCE_NS_PER_CPU * self.lowest_domain(c);
            self.chores.next_balance_ticks = now_ticks + (interval_ns / self.tick_ns).max(1);
        }
        self.exec = exec;
    }

    /// CPU `c` goes idle without its tick: it may have load that nobody refreshes.
    pub(crate) fn enters_nohz(&mut self, c: u32) {
        self.cpus[c as usize].nohz = true;
        self.cpus[c as usize].has_blocked = true;
        self.chores.idle_blocked = true;
    }
}
