// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of an update of blocked load.

use pelton_schema::{Walk, WalkWhy};

use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
    /// Charges the CPU that makes it for an update of the load of CPU `c`.
    pub(crate) fn charge_blocked(&mut self, c: u32, why: WalkWhy) {
        let now_ticks = self.now_ticks();
        let cpu = &mut self.cpus[c as usize];
        let queues = 1 + cpu.levels.listed() as u64;
        cpu.updates.last_blocked_ticks = now_ticks;
        cpu.report.blocked_updates += 1;
        cpu.report.blocked_queues += queues;
        let costs = &self.m.costs;
        let mut cost_ns = 0;
        if costs.blocked() {
            cost_ns = self.charge_cost(self.exec, costs.blocked_walk_ns + queues * costs.blocked_queue_ns);
            self.cpus[self.exec as usize].report.blocked_ns += cost_ns;
        }
        self.tell_walk(&Walk { cpu: c, by: self.exec, queues, cost_ns, why });
    }
}
