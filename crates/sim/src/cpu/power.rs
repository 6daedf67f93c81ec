// SPDX-License-Identifier: GPL-2.0-or-later
//! A CPU changes between executing, idle, and the way out of idle.

use pelton_schema::Drawn;

use crate::engine::queue::Ev;
use crate::hw::power::Power;
use crate::shape::Run;
use crate::state::Engine;

impl<S: Run> Engine<'_, S> {
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
        self.vote_changes(self.m.cpus[c as usize].domain);
    }

    /// The clock of domain `d`, or what its CPUs do, is another: others on its supply may get another voltage. Tasks
    /// make no progress by that, so that the totals of their CPUs are not closed.
    #[inline]
    pub(crate) fn vote_changes(&mut self, d: u32) {
        for i in 0..self.hw.supply(d).dependents().len() {
            let dependent = self.hw.supply(d).dependents()[i];
            if let Some(rail) = self.next_rail(dependent) {
                self.rail_changes(dependent, rail);
            }
        }
    }

    fn rail_changes(&mut self, d: u32, rail: u32) {
        let m = self.m;
        let cpus = &m.domains[d as usize].cpus;
        cpus.iter().for_each(|&c| self.cluster_power_changes(c));
        self.hw.rail_becomes(d, rail);
        for &c in cpus {
            let open_ns = self.now - self.cpus[c as usize].line.accounted_ns;
            self.supply_changes_power(c, open_ns);
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

    /// Energy of these CPUs and clusters so far that heats them, femtojoules. Changes nothing.
    ///
    /// Zones were given their way of heat with the power of busy CPUs alone: where a platform says what else is drawn,
    /// that is not in here (F-480).
    pub(crate) fn heat_so_far_fj(&self, cpus: &[u32], clusters: &[u32]) -> u128 {
        let says = |c: u32| !self.m.domains[self.m.cpus[c as usize].domain as usize].draws.is_empty();
        let of_cpu = |&c: &u32| {
            let open_ns = self.now - self.cpus[c as usize].line.accounted_ns;
            if says(c) { self.model_fj(c, open_ns) } else { self.drew_fj(c, open_ns) }
        };
        let plain = |i: &&u32| self.m.clusters[**i as usize].cpus.first().is_none_or(|&c| !says(c));
        cpus.iter().map(of_cpu).sum::<u128>()
            + clusters.iter().filter(plain).map(|&i| self.cluster_energy_fj(i)).sum::<u128>()
    }

    /// Passes to the sink the energy that was drawn up to `time_ns`, before which nothing changes any more.
    pub(crate) fn emit_drawn(&mut self, time_ns: u64) {
        let of_cpu = |&c: &u32| self.drew_fj(c, time_ns - self.cpus[c as usize].line.accounted_ns);
        let domains_fj: Vec<u128> = self.m.domains.iter().map(|d| d.cpus.iter().map(of_cpu).sum()).collect();
        let shared_fj = self.all_shared_fj(time_ns);
        self.sink.drawn(time_ns, &Drawn { domains_fj: &domains_fj, shared_fj });
    }
}
