// SPDX-License-Identifier: GPL-2.0-or-later
//! Power that CPUs and their shared parts draw. The kernel believes another figure, the power of an operating point
//! ([`Opp::power_uw`](crate::machine::Opp)): its decisions rest on that one, energy is charged by this one.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::machine::{FreqDomain, Machine};

/// Power of a domain's CPUs and of what they share at one level of their supply, microwatts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rail {
    /// One busy CPU, by operating point.
    pub busy_uw: Vec<u64>,
    /// One idle CPU, by idle state and operating point; an empty row = not known.
    pub idle_uw: Vec<Vec<u64>>,
    /// The shared part while one of the CPUs is awake, by operating point; empty = not known.
    pub shared_uw: Vec<u64>,
    /// The shared part while all are idle, by the shallowest idle state and operating point; empty = nothing.
    pub shared_idle_uw: Vec<Vec<u64>>,
}

/// Another domain on the same supply: its clock asks for a voltage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Vote {
    /// The other domain.
    pub domain: u32,
    /// First idle state in which a CPU of it is off; the domain asks for nothing while all are in such states.
    pub off_from: u32,
    /// The rail that each of its operating points asks for.
    pub rails: Vec<u32>,
}

/// Power that a domain draws: the rail that the highest vote asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Draws {
    /// From the lowest level of the supply to the highest; one where nothing else is on it. Empty = as the operating
    /// points, the idle states and the cluster say.
    pub rails: Vec<Rail>,
    /// The others on the supply.
    pub votes: Vec<Vote>,
}

impl Draws {
    /// Nothing is said beside the operating points.
    pub fn is_empty(&self) -> bool {
        self.rails.is_empty()
    }

    /// The rail while no other domain asks for any.
    pub fn quiet_rail(&self) -> u32 {
        self.votes.iter().filter_map(|vote| vote.rails.first()).min().copied().unwrap_or(0)
    }
}

/// CPUs of a cluster that share what has a power of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// The cluster.
    pub cluster: u32,
    /// The CPUs.
    pub cpus: Vec<u32>,
}

impl Machine {
    /// Power that domain `d` draws.
    pub fn drawn(&self, d: usize) -> Draws {
        let domain = &self.domains[d];
        if domain.draws.is_empty() {
            Draws { rails: vec![self.plain(domain)], votes: Vec::new() }
        } else {
            domain.draws.clone()
        }
    }

    /// Power of a busy CPU of domain `d` by operating point, microwatts, while no other domain asks for a voltage.
    pub fn busy_uw(&self, d: usize) -> Vec<u64> {
        let mut draws = self.drawn(d);
        let quiet = draws.quiet_rail() as usize;
        draws.rails.swap_remove(quiet).busy_uw
    }

    /// Power as the operating points, the idle states and the cluster say: the same at any voltage.
    fn plain(&self, domain: &FreqDomain) -> Rail {
        let busy_uw: Vec<u64> = domain.opps.iter().map(|opp| opp.power_uw).collect();
        let everywhere = |uw: u64| vec![uw; busy_uw.len()];
        let idle = |(i, state): (usize, &crate::machine::IdleState)| match state.power_uw {
            _ if i == 0 && domain.polling => busy_uw.clone(),
            Some(uw) => everywhere(uw),
            None => Vec::new(),
        };
        let first = domain.cpus.first().and_then(|&c| self.cpus.get(c as usize));
        let cluster = first.and_then(|cpu| self.clusters.get(cpu.cluster as usize));
        Rail {
            idle_uw: domain.idle_states.iter().enumerate().map(idle).collect(),
            shared_uw: cluster.map_or_else(Vec::new, |c| c.active_power_uw.clone()),
            shared_idle_uw: cluster
                .map_or_else(Vec::new, |c| c.idle_power_uw.iter().map(|&uw| everywhere(uw)).collect()),
            busy_uw,
        }
    }

    /// Parts of clusters with a power of their own: a domain's CPUs where it says what it draws, else the cluster.
    pub fn shared_parts(&self) -> Vec<Shared> {
        let domain_of = |c: u32| self.cpus[c as usize].domain;
        let mut parts = Vec::new();
        for (cluster, all) in (0..).zip(&self.clusters) {
            let says = |&c: &u32| !self.domains[domain_of(c) as usize].draws.is_empty();
            let apart = all.cpus.iter().any(says);
            let mut by_domain = BTreeMap::<_, Vec<u32>>::new();
            for &c in &all.cpus {
                by_domain.entry(apart.then(|| domain_of(c))).or_default().push(c);
            }
            parts.extend(by_domain.into_values().map(|cpus| Shared { cluster, cpus }));
        }
        parts
    }
}
