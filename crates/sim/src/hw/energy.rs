// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy totals in femtojoules (microwatts times nanoseconds), so that sums are exact; reports give microjoules.
//!
//! A CPU is charged the power of its operating point while it executes anything and the power of its idle state
//! otherwise, threads of one core share it. A cluster is charged its active power while any of its CPUs is awake, else
//! the power of the shallowest idle state.

use pelton_schema::{Event, Sink};

use crate::hw::power::Power;
use crate::state::Engine;

/// Femtojoules per microjoule.
pub(crate) const FJ_PER_UJ: u128 = 1_000_000_000;

/// Energy of a cluster's shared rail.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterEnergy {
    pub energy_fj: u128,
    pub accounted_ns: u64,
}

/// Energy of a CPU.
#[derive(Clone, Debug)]
pub(crate) struct CpuEnergy {
    active_fj: u128,
    /// By idle state, the way in and out included.
    idle_fj: Vec<u128>,
    /// What it draws.
    power_uw: u64,
}

impl CpuEnergy {
    pub(crate) fn new(idle_states: usize) -> CpuEnergy {
        CpuEnergy { active_fj: 0, idle_fj: vec![0; idle_states], power_uw: 0 }
    }

    /// Of its idle states.
    pub(crate) fn idle_fj(&self) -> &[u128] {
        &self.idle_fj
    }

    pub(crate) fn active_fj(&self) -> u128 {
        self.active_fj
    }

    pub(crate) fn all_fj(&self) -> u128 {
        self.active_fj + self.idle_fj.iter().sum::<u128>()
    }
}

impl<S: Sink> Engine<'_, S> {
    /// The power state of CPU `c` is another: threads of a core share its power.
    pub(crate) fn state_changes_power(&mut self, c: u32) {
        let m = self.m;
        m.cpus[c as usize].smt.iter().for_each(|&thread| self.speed_changes_power(thread));
    }

    /// The operating point of CPU `c` is another.
    pub(crate) fn speed_changes_power(&mut self, c: u32) {
        self.cpus[c as usize].hw.energy.power_uw = self.cpu_power_uw(c);
    }

    /// Charges `delta` ns of the present state of CPU `c`; what that comes to.
    #[inline]
    pub(crate) fn charge_power(&mut self, c: u32, delta: u64) -> u128 {
        debug_assert_eq!(self.cpus[c as usize].hw.energy.power_uw, self.cpu_power_uw(c), "kept power of CPU {c}");
        let hw = &mut self.cpus[c as usize].hw;
        let energy_fj = u128::from(hw.energy.power_uw) * u128::from(delta);
        match hw.power {
            Power::Awake => hw.energy.active_fj += energy_fj,
            Power::Idle { state } | Power::Exiting { state } => hw.energy.idle_fj[state as usize] += energy_fj,
        }
        energy_fj
    }

    /// Power a CPU draws in its present state, microwatts.
    pub(crate) fn cpu_power_uw(&self, c: u32) -> u64 {
        let d = self.m.cpus[c as usize].domain as usize;
        let cpu = &self.cpus[c as usize];
        match cpu.power() {
            Power::Awake => self.m.domains[d].opps[cpu.hw.power_opp as usize].power_uw / self.power_sharers(c),
            Power::Idle { state } | Power::Exiting { state } => self.idle_power_uw(c, state),
        }
    }

    /// Power of an idle CPU. While a sibling thread is awake the core's power is that thread's; when all are idle they
    /// share the power of the state their core is in.
    fn idle_power_uw(&self, c: u32, state: u32) -> u64 {
        let threads = &self.m.cpus[c as usize].smt;
        if threads.len() < 2 {
            return self.state_power_uw(c, state);
        }
        if threads.iter().any(|&s| self.cpus[s as usize].is_awake()) {
            return 0;
        }
        self.state_power_uw(c, self.core_idle_state(c, state)) / threads.len() as u64
    }

    /// Power of an idle state; polling is running.
    fn state_power_uw(&self, c: u32, state: u32) -> u64 {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        if state == 0 && domain.polling {
            return domain.opps[self.cpus[c as usize].hw.power_opp as usize].power_uw;
        }
        domain.idle_states.get(state as usize).and_then(|s| s.power_uw).unwrap_or(0)
    }

    /// Charges the way into a state and out of it. Platforms do not state that energy, but the residency implies it: a
    /// stay of just the residency costs as much as the same stay in the next shallower state.
    pub(crate) fn charge_idle_entry(&mut self, c: u32, state: u32) {
        let states = &self.m.domains[self.m.cpus[c as usize].domain as usize].idle_states;
        let step = |i: u32| {
            let saved_uw = self.state_power_uw(c, i - 1).saturating_sub(self.state_power_uw(c, i));
            u128::from(saved_uw) * states.get(i as usize).map_or(0, |s| u128::from(s.min_residency_ns))
        };
        let (all_fj, threads) = ((1..=state).map(step).sum::<u128>(), self.m.cpus[c as usize].smt.len());
        // A division of 128 bits takes as long as all the rest.
        let energy_fj = if threads > 1 { all_fj / threads as u128 } else { all_fj };
        self.cpus[c as usize].hw.energy.idle_fj[state as usize] += energy_fj;
    }

    /// Power of the cluster rail in its present state, microwatts.
    fn cluster_power_uw(&self, cluster: usize) -> u64 {
        let spec = &self.m.clusters[cluster];
        let mut shallowest = u32::MAX;
        for &c in &spec.cpus {
            match self.cpus[c as usize].power() {
                Power::Awake => {
                    let d = self.m.cpus[c as usize].domain as usize;
                    return spec.active_power_uw.get(self.domains[d].hw.opp() as usize).copied().unwrap_or(0);
                }
                Power::Idle { state } | Power::Exiting { state } => shallowest = shallowest.min(state),
            }
        }
        spec.idle_power_uw.get(shallowest as usize).copied().unwrap_or(0)
    }

    /// Closes the cluster's totals before a power or frequency change of CPU `c`.
    #[inline]
    pub(crate) fn cluster_power_changes(&mut self, c: u32) {
        let cluster = self.m.cpus[c as usize].cluster as usize;
        if self.m.clusters.get(cluster).is_none_or(|s| s.active_power_uw.is_empty() && s.idle_power_uw.is_empty()) {
            return;
        }
        let delta = self.now - self.hw.cluster_energy[cluster].accounted_ns;
        if delta > 0 {
            let power = self.cluster_power_uw(cluster);
            let total = &mut self.hw.cluster_energy[cluster];
            total.energy_fj += u128::from(power) * u128::from(delta);
            total.accounted_ns = self.now;
        }
    }

    /// Energy of a cluster's shared rail so far, femtojoules.
    pub(crate) fn cluster_energy_fj(&self, cluster: usize) -> u128 {
        let total = &self.hw.cluster_energy[cluster];
        let spec = &self.m.clusters[cluster];
        if spec.active_power_uw.is_empty() && spec.idle_power_uw.is_empty() {
            return 0;
        }
        total.energy_fj + u128::from(self.cluster_power_uw(cluster)) * u128::from(self.now - total.accounted_ns)
    }

    /// Tells the sink a domain's power (all its CPUs; cluster rails are separate).
    pub(crate) fn emit_power(&mut self, d: u32) {
        if S::ACTIVE {
            let power_uw = self.m.domains[d as usize].cpus.iter().map(|&c| self.cpu_power_uw(c)).sum();
            self.emit(Event::DomainPower { domain: d, power_uw });
        }
    }
}
