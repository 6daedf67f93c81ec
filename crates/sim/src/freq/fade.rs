// SPDX-License-Identifier: GPL-2.0-or-later
//! Load of idle CPUs that is not refreshed: a CPU that reads it works out how far it has faded.

use pelton_core::{Pressure, runs, value};

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// No CPU walks: a reader of what CPU `c` asks for works out how far it has faded. Of its groups only the root is
    /// read.
    pub(crate) fn fade_for_reader(&mut self, c: u32) {
        let cpu = &self.cpus[c as usize];
        let lazy = self.policy.blocked_update == value::BLOCKED_UPDATE_LAZY;
        if !lazy || !self.nohz.idle().contains(c) || !self.is_blocked(c) || !cpu.is_idle() {
            return;
        }
        self.account(c);
        self.update_clock(c);
        let lost = self.pressure(c).averaged;
        let cpu = &mut self.cpus[c as usize];
        let bits = cpu.rq.update_blocked(self.policy.get(), self.signal_clock.at(self.now), 0, runs::IDLE, lost);
        let is = cpu.rq.has_blocked() || cpu.levels.has_listed();
        self.set_blocked(c, is);
        if S::ACTIVE && bits != 0 {
            self.emit_cfs(c);
        }
        self.request_changes(c);
        self.charge_cost(self.exec, self.m.costs.blocked_queue_ns);
    }

    /// Works out how far the signals of all CPUs have faded, as `fade_for_reader` does for one.
    pub(crate) fn fade_all_for_reader(&mut self) {
        if self.policy.blocked_update == value::BLOCKED_UPDATE_LAZY {
            (0..self.cpus.len() as u32).for_each(|c| self.fade_for_reader(c));
        }
    }

    /// Capacity that limits take from CPU `c`.
    pub(crate) fn pressure(&self, c: u32) -> Pressure {
        self.domains[self.m.cpus[c as usize].domain as usize].freq.limits.pressure
    }
}
