// SPDX-License-Identifier: GPL-2.0-or-later
//! Last steps of all sources before they become a file: CPU numbers without a gap, in every group; capacities whose
//! largest is 1024.

use super::draft::{Domain, Draft, ranges};
use std::collections::{BTreeMap, BTreeSet};

/// Most tables of domains before those that are alike are joined.
const TABLES_MAX: usize = 64;

impl Draft {
    /// Makes the draft what a file can hold, and says what was changed. A second time it changes nothing.
    pub fn finish(&mut self) {
        self.one_domain_each();
        self.number_anew();
        self.whole_groups();
        self.scale_capacities();
        self.join_alike();
        if self.arch.is_none() && !self.domains.is_empty() {
            self.assume(
                "no source names Arm or x86: idle state 0 and timers are as on Arm, on x86 behind drivers of its own",
            );
        }
    }

    /// Of many CPUs with a frequency each, those that are alike in all else are one table: a file has a limit.
    fn join_alike(&mut self) {
        if self.domains.len() <= TABLES_MAX {
            return;
        }
        let mut joined: Vec<Domain> = Vec::new();
        for domain in std::mem::take(&mut self.domains) {
            let is_alike = |other: &&mut Domain| {
                let own = Domain { cpus: other.cpus.clone(), per_cpu: other.per_cpu, ..domain.clone() };
                **other == own && other.per_cpu
            };
            match joined.iter_mut().find(is_alike).filter(|_| domain.cpus.len() == 1) {
                Some(other) => other.cpus.extend(&domain.cpus),
                None => joined.push(Domain { per_cpu: domain.per_cpu || domain.cpus.len() == 1, ..domain }),
            }
        }
        self.domains = joined;
    }

    /// A CPU of two domains stays in the first.
    fn one_domain_each(&mut self) {
        let mut taken = BTreeSet::new();
        let mut twice = BTreeSet::new();
        for domain in &mut self.domains {
            twice.extend(domain.cpus.iter().copied().filter(|cpu| taken.contains(cpu)));
            domain.cpus.retain(|&cpu| taken.insert(cpu));
        }
        self.domains.retain(|domain| !domain.cpus.is_empty());
        if !twice.is_empty() {
            let twice: Vec<u32> = twice.into_iter().collect();
            self.assume(format!("CPUs {} are named by two domains: they are in the first", ranges(&twice)));
        }
    }

    /// CPU numbers have no gap here.
    fn number_anew(&mut self) {
        let mut cpus: Vec<u32> = self.domains.iter().flat_map(|domain| domain.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        let numbers: BTreeMap<u32, u32> = cpus.iter().copied().zip(0..).collect();
        let lists = [&mut self.smt, &mut self.clusters, &mut self.llc, &mut self.nodes];
        for group in lists.into_iter().flatten() {
            renumber(group, &numbers);
        }
        self.domains.iter_mut().for_each(|domain| renumber(&mut domain.cpus, &numbers));
        for zone in &mut self.zones {
            renumber(&mut zone.cpus, &numbers);
            for trip in &mut zone.trips {
                trip.cools = trip.cools.iter().filter_map(|cpu| numbers.get(cpu).copied()).collect();
            }
        }
        if numbers.iter().any(|(old, new)| old != new) {
            self.assume(format!("CPUs are numbered without gaps: {}", renamed(&cpus)));
        }
    }

    /// Groups without a CPU are gone; threads of one core share its caches.
    fn whole_groups(&mut self) {
        for groups in [&mut self.clusters, &mut self.llc] {
            groups.retain(|group| !group.is_empty());
        }
        self.smt.retain(|group| group.len() > 1);
        let count: usize = self.domains.iter().map(|domain| domain.cpus.len()).sum();
        let is_whole = |groups: &[Vec<u32>]| {
            let all: BTreeSet<u32> = groups.iter().flatten().copied().collect();
            groups.is_empty() || (all.len() == count && groups.iter().map(Vec::len).sum::<usize>() == count)
        };
        let bad: Vec<&str> = [("clusters", &self.clusters), ("llc", &self.llc), ("nodes", &self.nodes)]
            .into_iter()
            .filter_map(|(name, groups)| (!is_whole(groups)).then_some(name))
            .collect();
        for name in bad {
            match name {
                "clusters" => self.clusters.clear(),
                "llc" => self.llc.clear(),
                _ => {
                    self.nodes.clear();
                    self.node_distances.clear();
                }
            }
            self.assume(format!("not every CPU is in one group of `{name}`: left out"));
        }
        self.threads_in_caches();
    }

    fn threads_in_caches(&mut self) {
        let llc = self.llc.clone();
        let is_split =
            |group: &[u32]| !llc.is_empty() && !llc.iter().any(|llc| group.iter().all(|cpu| llc.contains(cpu)));
        let split: Vec<Vec<u32>> = self.smt.iter().filter(|group| is_split(group)).cloned().collect();
        self.smt.retain(|group| !split.contains(group));
        for group in split {
            self.assume(format!(
                "CPUs {} are threads of a core without a common cache: taken as cores",
                ranges(&group)
            ));
        }
    }

    /// The largest capacity here is 1024, also where the largest CPUs are switched off.
    fn scale_capacities(&mut self) {
        let known: Vec<u32> = self.domains.iter().filter_map(|domain| domain.capacity).collect();
        let Some(&largest) = known.iter().max() else { return };
        if known.len() < self.domains.len() {
            let lacks = |domain: &&Domain| domain.capacity.is_none();
            let without: Vec<u32> = self.domains.iter().filter(lacks).flat_map(|d| d.cpus.clone()).collect();
            self.assume(format!("CPUs {} have no capacity: those of the others are left out", ranges(&without)));
            self.domains.iter_mut().for_each(|domain| domain.capacity = None);
        } else if largest != 1024 {
            self.assume(format!("the largest capacity is {largest}: all are scaled so that it is 1024"));
            let scaled = |capacity: u32| (capacity * 1024 / largest).max(1);
            self.domains.iter_mut().for_each(|domain| domain.capacity = domain.capacity.map(scaled));
        }
    }
}

fn renumber(cpus: &mut Vec<u32>, numbers: &BTreeMap<u32, u32>) {
    *cpus = cpus.iter().filter_map(|cpu| numbers.get(cpu).copied()).collect();
    cpus.sort_unstable();
}

/// Old and new numbers, in runs: `4-7 were 8-11`.
fn renamed(cpus: &[u32]) -> String {
    let mut runs: Vec<Vec<(u32, u32)>> = Vec::new();
    for (&old, new) in cpus.iter().zip(0u32..) {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|(before, _)| before + 1 == old) => run.push((old, new)),
            _ => runs.push(vec![(old, new)]),
        }
    }
    let words = |run: &Vec<(u32, u32)>| {
        let [old, new] =
            [run.iter().map(|p| p.0).collect::<Vec<_>>(), run.iter().map(|p| p.1).collect()].map(|n| ranges(&n));
        if old == new { format!("{new} as they were") } else { format!("{new} were {old}") }
    };
    runs.iter().map(words).collect::<Vec<_>>().join(", ")
}
