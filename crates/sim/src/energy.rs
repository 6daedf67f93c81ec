// SPDX-License-Identifier: GPL-2.0-only
//! Energy totals in femtojoules (microwatts times nanoseconds), so that sums are exact; reports give microjoules.
//!
//! A CPU is charged the power of its operating point while it executes anything and the power of its idle state otherwise.
//! A cluster is charged its active power while any of its CPUs is awake, else the power of the shallowest idle state.

use pelton_schema::{Event, Sink};

use crate::engine::Engine;
use crate::state::{NO_TASK, Power};

/// Femtojoules per microjoule.
pub(crate) const FJ_PER_UJ: u128 = 1_000_000_000;

/// Energy of a cluster's shared rail.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterEnergy {
    pub energy_fj: u128,
    pub accounted_ns: u64,
}

impl<S: Sink> Engine<'_, S> {
    /// Power a CPU draws in its present state, microwatts.
    pub(crate) fn cpu_power_uw(&self, c: u32) -> u64 {
        let d = self.m.cpus[c as usize].domain as usize;
        let cpu = &self.cpus[c as usize];
        match cpu.power {
            Power::Awake => self.m.domains[d].opps[self.domains[d].opp as usize].power_uw,
            Power::Idle { .. } | Power::Exiting { .. } if cpu.irq_depth > 0 => {
                self.m.domains[d].opps[self.domains[d].opp as usize].power_uw
            }
            Power::Idle { state } | Power::Exiting { state } => {
                self.m.domains[d].idle_states.get(state as usize).map_or(0, |s| s.power_uw)
            }
        }
    }

    /// Charges `delta` ns of the present state to the CPU and to its running task.
    pub(crate) fn charge_energy(&mut self, c: u32, delta: u64) {
        let energy_fj = u128::from(self.cpu_power_uw(c)) * u128::from(delta);
        let cpu = &mut self.cpus[c as usize];
        if cpu.power == Power::Awake || cpu.irq_depth > 0 {
            cpu.energy_active_fj += energy_fj;
        } else {
            cpu.energy_idle_fj += energy_fj;
        }
        if cpu.curr != NO_TASK {
            self.tasks[cpu.curr as usize].energy_fj += energy_fj;
        }
    }

    /// Power of the cluster rail in its present state, microwatts.
    fn cluster_power_uw(&self, cluster: usize) -> u64 {
        let spec = &self.m.clusters[cluster];
        let mut shallowest = u32::MAX;
        for &c in &spec.cpus {
            match self.cpus[c as usize].power {
                Power::Awake => {
                    let d = self.m.cpus[c as usize].domain as usize;
                    return spec.active_power_uw.get(self.domains[d].opp as usize).copied().unwrap_or(0);
                }
                Power::Idle { state } | Power::Exiting { state } => shallowest = shallowest.min(state),
            }
        }
        spec.idle_power_uw.get(shallowest as usize).copied().unwrap_or(0)
    }

    /// Closes the cluster's totals before a power or frequency change of CPU `c`.
    pub(crate) fn cluster_power_changes(&mut self, c: u32) {
        let cluster = self.m.cpus[c as usize].cluster as usize;
        if self.m.clusters.get(cluster).is_none_or(|s| s.active_power_uw.is_empty() && s.idle_power_uw.is_empty()) {
            return;
        }
        let delta = self.now - self.cluster_energy[cluster].accounted_ns;
        if delta > 0 {
            let power = self.cluster_power_uw(cluster);
            let total = &mut self.cluster_energy[cluster];
            total.energy_fj += u128::from(power) * u128::from(delta);
            total.accounted_ns = self.now;
        }
    }

    /// Tells the sink a domain's power (all its CPUs; cluster rails are separate).
    pub(crate) fn emit_power(&mut self, d: u32) {
        if S::ACTIVE {
            let power_uw = self.m.domains[d as usize].cpus.iter().map(|&c| self.cpu_power_uw(c)).sum();
            self.emit(Event::DomainPower { domain: d, power_uw });
        }
    }
}
