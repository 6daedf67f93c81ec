// SPDX-License-Identifier: GPL-2.0-or-later
//! Energies a kernel computed while it placed tasks, against the core's energy model of the platform.

use std::collections::BTreeMap;

use pelton_core::{EnergyModel, Policy, value};
use pelton_model::Machine;
use pelton_schema::{CPU_UNKNOWN, Event};

use super::engine::Place;
use super::report::{Divergence, Field, Report};

const SIGNAL: &str = "energy";
/// The energy of a domain without the task is recorded without its CPU; one of the platform's domains has it.
pub const SOME_DOMAIN: &str = "energy without the task, of the domain that fits";

/// One computation.
#[derive(Clone, Copy, Debug)]
struct Computed {
    place: Place,
    cpu: u32,
    tid: u32,
    energy: u64,
    max_util: u64,
    busy_time: u64,
}

/// Models of the domains, and base energies whose domain the next record shows.
#[derive(Debug)]
pub struct Energies {
    models: Vec<(EnergyModel, u64)>,
    domain: BTreeMap<u32, usize>,
    base: BTreeMap<u32, Computed>,
    known_form: bool,
}

impl Energies {
    /// Models of a platform that states the power of its frequencies.
    pub fn new(policy: &Policy, machine: Option<&Machine>) -> Energies {
        let mut energies = Energies {
            models: Vec::new(),
            domain: BTreeMap::new(),
            base: BTreeMap::new(),
            known_form: policy.perf_form == value::PERF_FORM_SUM_THEN_CLAMP,
        };
        let Some(machine) = machine else { return energies };
        for domain in &machine.domains {
            let mut opps: Vec<(u32, u64)> = domain.opps.iter().map(|opp| (opp.khz, opp.power_uw)).collect();
            opps.sort_unstable();
            let capacity =
                domain.cpus.first().and_then(|&cpu| machine.cpus.get(cpu as usize)).map_or(0, |c| c.capacity);
            energies.domain.extend(domain.cpus.iter().map(|&cpu| (cpu, energies.models.len())));
            energies.models.push((EnergyModel::new(&opps, capacity), capacity.into()));
        }
        energies
    }

    /// A recorded computation.
    pub fn event(&mut self, report: &mut Report, place: Place, event: &Event) {
        let Event::ComputeEnergy { cpu, tid, dst_cpu, energy, max_util, busy_time } = *event else { return };
        if self.models.is_empty() {
            report.skip(SIGNAL, "the power of the frequencies is not in the trace: give --platform");
            return;
        }
        if !self.known_form {
            report.skip(SIGNAL, "the energy model of 6.8 and older kernels is not modelled");
            return;
        }
        let computed = Computed { place, cpu, tid, energy, max_util, busy_time };
        if dst_cpu == CPU_UNKNOWN {
            if let Some(before) = self.base.insert(cpu, computed) {
                self.of_some_domain(report, &before);
            }
            return;
        }
        let Some(&domain) = self.domain.get(&dst_cpu) else {
            report.skip(SIGNAL, "the platform does not have the CPU");
            return;
        };
        if let Some(base) = self.base.remove(&cpu) {
            if base.tid == tid {
                self.check(report, &base, domain);
            } else {
                self.of_some_domain(report, &base);
            }
        }
        self.check(report, &computed, domain);
    }

    fn ours(&self, c: &Computed, domain: usize) -> u64 {
        let (model, capacity) = &self.models[domain];
        model.energy(c.max_util, c.busy_time, *capacity)
    }

    fn check(&self, report: &mut Report, c: &Computed, domain: usize) {
        let ours = self.ours(c, domain);
        if ours == c.energy {
            report.agree(SIGNAL, "");
        } else {
            report.differ(divergence(c, ours));
        }
    }

    fn of_some_domain(&self, report: &mut Report, c: &Computed) {
        let fits = (0..self.models.len()).any(|domain| self.ours(c, domain) == c.energy);
        if fits {
            report.agree(SIGNAL, SOME_DOMAIN);
        } else {
            report.differ(divergence(c, self.ours(c, 0)));
        }
    }

    /// The end of the trace.
    pub fn finish(&mut self, report: &mut Report) {
        for base in std::mem::take(&mut self.base).into_values() {
            self.of_some_domain(report, &base);
        }
    }
}

fn divergence(c: &Computed, ours: u64) -> Divergence {
    Divergence {
        event: c.place.event,
        time_ns: c.place.time_ns,
        since_ns: c.place.time_ns,
        cpu: c.cpu,
        tid: c.tid,
        object: 0,
        signal: SIGNAL,
        what: "energy of a placement",
        before: vec![("max_util", c.max_util), ("busy_time", c.busy_time)],
        fields: vec![Field { name: "energy", kernel: c.energy, ours }],
    }
}
