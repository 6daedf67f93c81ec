// SPDX-License-Identifier: GPL-2.0-or-later
//! Capacity, reference frequency and domain of the CPUs of a trace. From a platform, or read off the trace.

use std::collections::{BTreeMap, BTreeSet};

use pelton_model::Machine;

use crate::validate::survey::Survey;

/// Capacities and reference frequencies.
#[derive(Clone, Debug, Default)]
pub struct CpuTable {
    capacity: BTreeMap<u32, u32>,
    reference: BTreeMap<u32, u32>,
    domain: BTreeMap<u32, Vec<u32>>,
    /// CPUs with frequency events of their own.
    own: BTreeSet<u32>,
}

impl CpuTable {
    /// Without a platform every CPU has capacity 1024 at the highest frequency the trace shows for it.
    pub fn new(machine: Option<&Machine>, survey: &Survey) -> CpuTable {
        let own = survey.max_khz.keys().copied().collect();
        let mut table = CpuTable { reference: survey.max_khz.clone(), own, ..CpuTable::default() };
        for (cpu, spec) in machine.iter().flat_map(|m| (0..).zip(&m.cpus)) {
            let domain = machine.and_then(|m| m.domains.get(spec.domain as usize));
            table.capacity.insert(cpu, spec.capacity);
            if let Some(domain) = domain {
                // Where the kernel does not know the frequency, signals do not scale with it: every one is the highest.
                let reference = if domain.freq_invariant { domain.ref_khz } else { 1 };
                table.reference.insert(cpu, reference);
                table.domain.insert(cpu, domain.cpus.clone());
            }
        }
        table
    }

    /// Capacity of a CPU.
    pub fn capacity(&self, cpu: u32) -> u32 {
        self.capacity.get(&cpu).copied().unwrap_or(1024)
    }

    /// Frequency at which it has this capacity, kHz; 0 = not known.
    pub fn reference(&self, cpu: u32) -> u32 {
        self.reference.get(&cpu).copied().unwrap_or(0)
    }

    /// True when the trace has the frequency of a CPU.
    pub fn has_frequencies(&self, cpu: u32) -> bool {
        self.own.contains(&cpu) || self.mates(cpu).any(|mate| self.own.contains(&mate))
    }

    /// True when no CPU has frequencies.
    pub fn has_assumed_frequencies(&self) -> bool {
        self.own.is_empty()
    }

    fn mates(&self, cpu: u32) -> impl Iterator<Item = u32> + '_ {
        self.domain.get(&cpu).into_iter().flatten().copied()
    }

    /// CPUs that an event of this one is about: itself, and neighbours without events of their own.
    pub fn follow(&self, cpu: u32) -> Vec<u32> {
        std::iter::once(cpu).chain(self.mates(cpu).filter(|mate| *mate != cpu && !self.own.contains(mate))).collect()
    }
}
