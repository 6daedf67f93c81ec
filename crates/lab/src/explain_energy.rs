// SPDX-License-Identifier: GPL-2.0-or-later
//! Energies that a placement compared: each domain with the task on a CPU of it and without, so that every energy
//! follows from the figures beside it.

use pelton_core::{NO_CPU, PlaceEnergy, Placed, Policy, Record};
use schemars::JsonSchema;
use serde::Serialize;

/// Energy of a domain: `cost` x `sum` / `divisor`, rounded down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Energy {
    /// CPUs of the domain.
    pub cpus: Vec<u32>,
    /// CPU that has the task; `None`: none of them.
    pub task_on: Option<u32>,
    /// The largest that one of its CPUs asks for, at most `allowed`.
    pub largest: u32,
    /// Capacity that limits leave of each of its CPUs; up to 5.15 1024, limits do not count.
    pub allowed: u32,
    /// Operating point that serves it, kHz.
    pub freq_khz: u32,
    /// Cost of that operating point, in the unit of the release.
    pub cost: u64,
    /// Utilization of its CPUs together.
    pub sum: u32,
    /// 1, or up to 6.7 the capacity of its CPUs.
    pub divisor: u32,
    /// Its energy, in the kernel's unit.
    pub energy: u64,
    /// Energy that the task adds; `None`: the domain without it.
    pub added: Option<i128>,
}

/// Terms of a CPU in the comparison of energy, of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CpuEnergy {
    /// Utilization without the task.
    pub busy: u32,
    /// Utilization with the task; `None`: not worked out, the task adds the same everywhere (from 5.16 on).
    pub busy_with_task: Option<u32>,
    /// Request to its domain without the task.
    pub asks: u32,
    /// Request to its domain with the task on it.
    pub asks_with_task: u32,
}

/// A comparison of energy.
#[derive(Debug, Default)]
pub(crate) struct Energies {
    pub(crate) asked: Vec<Energy>,
    pub(crate) task_busy: Option<u64>,
    cpus: Vec<(u32, CpuEnergy)>,
}

impl Energies {
    /// Energies that a decision compared; empty when it compared none.
    pub(crate) fn of(read: &Record, placed: &Placed, policy: &Policy) -> Energies {
        if placed.energies().is_empty() {
            return Energies::default();
        }
        let anew = crate::rules::value_of(policy, "energy_aware") == "margin";
        let domains = &read.perf_domains[..(read.nr_perf_domains as usize).min(read.perf_domains.len())];
        let one = |cpu: u32| {
            let busy = |dst| read.busy_with_task_on(policy, placed, cpu, dst);
            let asks = |dst| read.asks_with_task_on(policy, placed, cpu, dst);
            let busy_with_task = anew.then(|| busy(cpu));
            (cpu, CpuEnergy { busy: busy(NO_CPU), busy_with_task, asks: asks(NO_CPU), asks_with_task: asks(cpu) })
        };
        Energies {
            asked: placed.energies().iter().map(|e| energy(read, placed, policy, e)).collect(),
            task_busy: (!anew).then(|| read.task_busy(policy, placed)),
            cpus: domains.iter().flat_map(|domain| read.span_cpus(domain.cpus)).map(one).collect(),
        }
    }

    pub(crate) fn of_cpu(&self, cpu: u32) -> Option<CpuEnergy> {
        self.cpus.iter().find(|(of, _)| *of == cpu).map(|(_, energy)| *energy)
    }
}

fn energy(read: &Record, placed: &Placed, policy: &Policy, e: &PlaceEnergy) -> Energy {
    let priced = read.priced(policy, e);
    Energy {
        cpus: read.span_cpus(read.perf_domains[e.perf_domain as usize].cpus).collect(),
        task_on: (e.cpu != NO_CPU).then_some(e.cpu),
        largest: e.max_util,
        allowed: priced.allowed,
        freq_khz: priced.freq_khz,
        cost: priced.cost,
        sum: e.busy,
        divisor: priced.divisor,
        energy: e.energy,
        added: placed.energy_added(e.cpu),
    }
}
