// SPDX-License-Identifier: GPL-2.0-only
//! A CPU changes between executing, idle, and the way out of idle.

use pelton_schema::Sink;

use crate::engine::Engine;
use crate::engine::queue::Ev;
use crate::engine::state::Power;

impl<S: Sink> Engine<'_, S> {
    /// Changes the power state, closing the energy and time totals of the old one.
    pub(crate) fn set_power(&mut self, c: u32, power: Power) {
        self.account(c);
        self.row_changes(c);
        self.cluster_power_changes(c);
        let before = self.cpus[c as usize].power;
        if self.shared_hardware {
            self.account_core(c);
            self.cpus[c as usize].power = power;
            self.core_changes(c, before, power);
        } else {
            self.cpus[c as usize].power = power;
            self.power_changes(c);
        }
    }

    /// An idle CPU is needed: it can run after what is left of its entry, and its exit latency.
    pub(crate) fn leave_idle(&mut self, c: u32) {
        let Power::Idle { state } = self.cpus[c as usize].power else { return };
        let (reached, shared) = self.reached_idle_state(c, state);
        let spec = &self.m.cpus[c as usize];
        let states = &self.m.domains[spec.domain as usize].idle_states;
        let ghz_ns = |ns: u64| ns * u64::from(self.core_khz(c)) / 1_000_000;
        let of_state =
            |s: &pelton_model::machine::IdleState| (s.entry_latency_ns, s.exit_latency_ns + ghz_ns(s.exit_ns_per_ghz));
        let (entry_ns, exit_ns) = states.get(reached as usize).map_or((0, 0), of_state);
        self.set_power(c, Power::Exiting { state });
        let cpu = &mut self.cpus[c as usize];
        cpu.idle_generation += 1;
        let generation = cpu.idle_generation;
        let entered_ns = cpu.idle_since_ns + entry_ns;
        let up_ns = &mut self.cluster_up_ns[spec.cluster as usize];
        // Nobody executes before what all share is up.
        let at_ns = (self.now.max(entered_ns) + exit_ns).max(*up_ns);
        if shared {
            *up_ns = at_ns;
        }
        self.queue.push(at_ns, Ev::IdleExit { cpu: c, generation });
    }
}
