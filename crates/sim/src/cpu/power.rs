// SPDX-License-Identifier: GPL-2.0-or-later
//! A CPU changes between executing, idle, and the way out of idle.

use pelton_schema::Sink;

use crate::engine::queue::Ev;
use crate::hw::power::Power;
use crate::state::Engine;

impl<S: Sink> Engine<'_, S> {
    /// Changes the power state, closing the energy and time totals of the old one.
    pub(crate) fn set_power(&mut self, c: u32, power: Power) {
        self.account(c);
        self.row_changes(c);
        self.cluster_power_changes(c);
        let before = self.cpus[c as usize].power();
        if self.hw.is_shared() {
            self.account_core(c);
        }
        self.cpus[c as usize].hw.becomes(power);
        self.state_changes_power(c);
        if self.hw.is_shared() {
            self.core_changes(c, before, power);
        }
    }

    /// An idle CPU is needed: it can run after what is left of its entry, and its exit latency.
    pub(crate) fn leave_idle(&mut self, c: u32) {
        let Power::Idle { state } = self.cpus[c as usize].power() else { return };
        let (reached, shared) = self.reached_idle_state(c, state);
        let spec = &self.m.cpus[c as usize];
        let states = &self.m.domains[spec.domain as usize].idle_states;
        let ghz_ns = |ns: u64| if ns == 0 { 0 } else { ns * u64::from(self.core_khz(c)) / 1_000_000 };
        let of_state =
            |s: &pelton_model::machine::IdleState| (s.entry_latency_ns, s.exit_latency_ns + ghz_ns(s.exit_ns_per_ghz));
        let (entry_ns, exit_ns) = states.get(reached as usize).map_or((0, 0), of_state);
        self.set_power(c, Power::Exiting { state });
        let cpu = &mut self.cpus[c as usize];
        cpu.line.idle_generation += 1;
        let generation = cpu.line.idle_generation;
        let entered_ns = cpu.line.idle_since_ns + entry_ns;
        let ready_ns = self.now.max(entered_ns) + exit_ns;
        let at_ns = self.hw.cluster_is_up(spec.cluster, ready_ns, shared);
        self.queue.push(at_ns, Ev::IdleExit { cpu: c, generation });
    }

    /// Energy of these CPUs and clusters so far, femtojoules. Changes nothing.
    pub(crate) fn energy_so_far_fj(&self, cpus: &[u32], clusters: &[u32]) -> u128 {
        let of_cpu = |&c: &u32| {
            let cpu = &self.cpus[c as usize];
            let open_fj = u128::from(self.cpu_power_uw(c)) * u128::from(self.now - cpu.line.accounted_ns);
            cpu.hw.drawn().all_fj() + open_fj
        };
        cpus.iter().map(of_cpu).sum::<u128>()
            + clusters.iter().map(|&i| self.cluster_energy_fj(i as usize)).sum::<u128>()
    }
}
