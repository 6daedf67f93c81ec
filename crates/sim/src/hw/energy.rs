// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy totals in femtojoules (microwatts times nanoseconds), so that sums are exact; reports give microjoules.
//!
//! A CPU is charged the power of its operating point while it executes anything and the power of its idle state
//! otherwise, threads of one core share it. What a cluster's CPUs share is charged its active power while any of them
//! is awake, else the power of the shallowest idle state. All of it at the voltage that the supply has (`supply.rs`).
//!
//! Beside that stands what the kernel's Energy Model would say: the power that it has for a busy CPU, and nothing else.

use pelton_model::machine::Machine;
use pelton_schema::Event;

use crate::hw::power::Power;
use crate::hw::supply::{Supply, at};
use crate::shape::Run;
use crate::state::Engine;

/// Femtojoules per microjoule.
pub(crate) const FJ_PER_UJ: u128 = 1_000_000_000;

/// Energy of what CPUs share.
#[derive(Clone, Debug)]
pub(crate) struct SharedEnergy {
    cluster: u32,
    cpus: Vec<u32>,
    /// True where a power of the part is known.
    counts: bool,
    energy_fj: u128,
    accounted_ns: u64,
}

impl SharedEnergy {
    /// Of a machine.
    pub(crate) fn of_all(m: &Machine, supplies: &[Supply]) -> Vec<SharedEnergy> {
        let rail = |c: u32| supplies[m.cpus[c as usize].domain as usize].rail();
        let has_power = |c: &u32| !rail(*c).shared_uw.is_empty() || !rail(*c).shared_idle_uw.is_empty();
        let energy = |part: pelton_model::draws::Shared| SharedEnergy {
            cluster: part.cluster,
            counts: part.cpus.iter().any(has_power),
            cpus: part.cpus,
            energy_fj: 0,
            accounted_ns: 0,
        };
        m.shared_parts().into_iter().map(energy).collect()
    }

    pub(crate) fn cluster(&self) -> u32 {
        self.cluster
    }

    pub(crate) fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    pub(crate) fn drew_fj(&self) -> u128 {
        self.energy_fj
    }

    fn accumulate(&mut self, now: u64, power_uw: u64) {
        self.energy_fj += u128::from(power_uw) * u128::from(now - self.accounted_ns);
        self.accounted_ns = now;
    }
}

/// Energy of a CPU.
#[derive(Clone, Debug)]
pub(crate) struct CpuEnergy {
    active_fj: u128,
    /// By idle state, the way in and out included.
    idle_fj: Vec<u128>,
    /// Power that it draws now.
    power_uw: u64,
    /// Correction of the energy since it was last charged, for the time in which its power was not the present one.
    carry_fj: i128,
    /// Power that the kernel believes the CPU draws, and energy by that belief, where this is another figure.
    model_uw: u64,
    model_fj: u128,
}

impl CpuEnergy {
    pub(crate) fn new(idle_states: usize) -> CpuEnergy {
        CpuEnergy { active_fj: 0, idle_fj: vec![0; idle_states], power_uw: 0, carry_fj: 0, model_uw: 0, model_fj: 0 }
    }

    /// Changes the power that the CPU draws to `power_uw`, `open_ns` after it was last charged.
    fn power_becomes(&mut self, power_uw: u64, open_ns: u64) {
        if open_ns > 0 {
            self.carry_fj += (i128::from(self.power_uw) - i128::from(power_uw)) * i128::from(open_ns);
        }
        self.power_uw = power_uw;
    }

    /// Energy of the last `delta_ns`, which are not charged yet, femtojoules.
    #[inline]
    fn open_fj(&self, delta_ns: u64) -> u128 {
        // All of the carry is from within that time, so that the sum is never negative.
        (u128::from(self.power_uw) * u128::from(delta_ns)).wrapping_add_signed(self.carry_fj)
    }

    /// Power that it is charged now.
    #[cfg(test)]
    pub(crate) fn power_uw(&self) -> u64 {
        self.power_uw
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

impl<S: Run> Engine<'_, S> {
    /// Updates the power of all threads of the core of CPU `c` after its power state changed: they share that power.
    pub(crate) fn state_changes_power(&mut self, c: u32) {
        let m = self.m;
        m.cpus[c as usize].smt.iter().for_each(|&thread| self.speed_changes_power(thread));
    }

    /// Updates the power of CPU `c` after its operating point changed; all time before is charged.
    pub(crate) fn speed_changes_power(&mut self, c: u32) {
        self.supply_changes_power(c, 0);
        if self.model_differs(c) {
            self.cpus[c as usize].hw.energy.model_uw = self.model_uw(c);
        }
    }

    /// Updates the power of CPU `c` after its voltage changed, `open_ns` after it was last charged.
    pub(crate) fn supply_changes_power(&mut self, c: u32, open_ns: u64) {
        let power_uw = self.cpu_power_uw(c);
        self.cpus[c as usize].hw.energy.power_becomes(power_uw, open_ns);
    }

    /// Charges `delta` ns of the present state of CPU `c`; what that comes to.
    #[inline]
    pub(crate) fn charge_power(&mut self, c: u32, delta: u64) -> u128 {
        debug_assert_eq!(self.cpus[c as usize].hw.energy.power_uw, self.cpu_power_uw(c), "kept power of CPU {c}");
        let hw = &mut self.cpus[c as usize].hw;
        let energy_fj = hw.energy.open_fj(delta);
        hw.energy.carry_fj = 0;
        match hw.power {
            Power::Awake => {
                hw.energy.active_fj += energy_fj;
                hw.energy.model_fj += u128::from(hw.energy.model_uw) * u128::from(delta);
            }
            Power::Idle { state } | Power::Exiting { state } => hw.energy.idle_fj[state as usize] += energy_fj,
        }
        energy_fj
    }

    /// Energy that CPU `c` drew until now, `open_ns` after it was last charged, femtojoules.
    pub(crate) fn drew_fj(&self, c: u32, open_ns: u64) -> u128 {
        let energy = &self.cpus[c as usize].hw.energy;
        energy.all_fj() + energy.open_fj(open_ns)
    }

    /// Energy that CPU `c` drew until now while it was awake, as the kernel believes, femtojoules.
    pub(crate) fn model_fj(&self, c: u32, open_ns: u64) -> u128 {
        let (awake, energy) = (self.cpus[c as usize].is_awake(), &self.cpus[c as usize].hw.energy);
        if self.model_differs(c) {
            return energy.model_fj + u128::from(if awake { energy.model_uw } else { 0 }) * u128::from(open_ns);
        }
        energy.active_fj + if awake { energy.open_fj(open_ns) } else { 0 }
    }

    fn model_differs(&self, c: u32) -> bool {
        self.hw.supply(self.m.cpus[c as usize].domain).model_differs()
    }

    /// The power that the kernel has for CPU `c` at its operating point.
    fn model_uw(&self, c: u32) -> u64 {
        let domain = &self.m.domains[self.m.cpus[c as usize].domain as usize];
        domain.opps[self.cpus[c as usize].hw.power_opp as usize].power_uw / self.power_sharers(c)
    }

    /// Power a CPU draws in its present state, microwatts.
    pub(crate) fn cpu_power_uw(&self, c: u32) -> u64 {
        let cpu = &self.cpus[c as usize];
        match cpu.power() {
            Power::Awake => {
                let rail = self.hw.supply(self.m.cpus[c as usize].domain).rail();
                rail.busy_uw[cpu.hw.power_opp as usize] / self.power_sharers(c)
            }
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

    /// Power of an idle state at the present operating point.
    fn state_power_uw(&self, c: u32, state: u32) -> u64 {
        let rail = self.hw.supply(self.m.cpus[c as usize].domain).rail();
        at(&rail.idle_uw, state, self.cpus[c as usize].hw.power_opp)
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

    /// Power of what CPUs share in its present state, microwatts.
    fn shared_power_uw(&self, part: &SharedEnergy) -> u64 {
        let mut shallowest = u32::MAX;
        for &c in &part.cpus {
            match self.cpus[c as usize].power() {
                Power::Awake => {
                    let (d, rail) = self.rail_of(c);
                    return rail.shared_uw.get(self.domains[d as usize].hw.opp() as usize).copied().unwrap_or(0);
                }
                Power::Idle { state } | Power::Exiting { state } => shallowest = shallowest.min(state),
            }
        }
        part.cpus.first().map_or(0, |&c| {
            let (d, rail) = self.rail_of(c);
            at(&rail.shared_idle_uw, shallowest, self.domains[d as usize].hw.opp())
        })
    }

    fn rail_of(&self, c: u32) -> (u32, &pelton_model::draws::Rail) {
        let d = self.m.cpus[c as usize].domain;
        (d, self.hw.supply(d).rail())
    }

    /// Closes the totals of what CPU `c` shares before a change of its power or frequency.
    #[inline]
    pub(crate) fn cluster_power_changes(&mut self, c: u32) {
        let i = self.hw.part_of[c as usize] as usize;
        if let Some(part) = self.hw.shared_parts.get(i).filter(|part| part.counts && part.accounted_ns < self.now) {
            let power_uw = self.shared_power_uw(part);
            self.hw.shared_parts[i].accumulate(self.now, power_uw);
        }
    }

    /// Energy of what a cluster's CPUs share so far, femtojoules.
    pub(crate) fn cluster_energy_fj(&self, cluster: u32) -> u128 {
        let of_cluster = |part: &&SharedEnergy| part.cluster == cluster;
        self.hw.shared_parts.iter().filter(of_cluster).map(|part| self.shared_fj(part, self.now)).sum()
    }

    /// Energy of a part that CPUs share up to `time_ns`, before which nothing changes any more, femtojoules.
    fn shared_fj(&self, part: &SharedEnergy, time_ns: u64) -> u128 {
        if !part.counts {
            return 0;
        }
        part.energy_fj + u128::from(self.shared_power_uw(part)) * u128::from(time_ns - part.accounted_ns)
    }

    /// Energy of all parts that CPUs share up to `time_ns`, femtojoules.
    pub(crate) fn all_shared_fj(&self, time_ns: u64) -> u128 {
        self.hw.shared_parts.iter().map(|part| self.shared_fj(part, time_ns)).sum()
    }

    /// Emits the power of a domain (all its CPUs; cluster rails are separate).
    pub(crate) fn emit_power(&mut self, d: u32) {
        if S::ACTIVE {
            let power_uw = self.m.domains[d as usize].cpus.iter().map(|&c| self.cpu_power_uw(c)).sum();
            self.emit(Event::DomainPower { domain: d, power_uw });
        }
    }
}
