// SPDX-License-Identifier: GPL-2.0-or-later
//! Scheduling domains and performance domains of a machine, as the kernel of a policy builds them.

use std::collections::BTreeSet;

use pelton_core::{
    DOMAINS_MAX, EnergyModel, NO_DOMAIN, NO_IDLE_STATE, NO_LIMIT, PERF_DOMAINS_MAX, PLACE_STATES_MAX, PerfDomain,
    PlaceCpu, Policy, Record, SchedDomain, SdLevel, imb_numa_nr, sd,
};

use pelton_model::machine::Machine;
use pelton_model::workload::CpuSet;

/// A record with everything of the machine that does not change; an empty one when it has more CPUs than a record has
/// room for, with which no run begins.
pub(super) fn record(m: &Machine, policy: &Policy) -> Record {
    let Some(mut record) = Record::new(m.cpus.len()) else { return Record::default() };
    let all = classes(m, &all(m)).len() as u32;
    record.asymmetric = (all > 1).into();
    record.smt = m.cpus.iter().any(|c| c.smt.len() > 1).into();
    for c in 0..m.cpus.len() as u32 {
        record.rows_mut()[c as usize] = cpu(m, policy, &mut record, c, all);
    }
    record.seal();
    let rows = &record.rows()[..m.cpus.len()];
    let (clusters, cache_aware) =
        (rows.iter().any(|c| c.cluster != c.llc), rows.iter().any(PlaceCpu::is_in_multi_llcs));
    (record.clusters, record.cache_aware) = (clusters.into(), cache_aware.into());
    record.smt_threads = m.cpus.iter().map(|c| c.smt.len().max(1) as u32).max().unwrap_or(1);
    record.energy_aware = fill_energy(m, policy, &mut record).into();
    record
}

fn all(m: &Machine) -> Vec<u32> {
    (0..m.cpus.len() as u32).collect()
}

/// Some CPUs, as the record names them.
fn span(record: &mut Record, cpus: &[u32]) -> u64 {
    record.span_of(CpuSet::of(cpus.iter().copied()).words())
}

/// The capacities among some CPUs.
fn classes(m: &Machine, cpus: &[u32]) -> BTreeSet<u32> {
    cpus.iter().map(|&c| m.cpus[c as usize].capacity).collect()
}

/// A level of domains around a CPU.
struct Level {
    cpus: Vec<u32>,
    facts: SdLevel,
}

impl Level {
    fn new(m: &Machine, cpus: Vec<u32>, shared: u32, distance: u32) -> Level {
        let facts = SdLevel { shared, weight: cpus.len() as u32, classes: classes(m, &cpus).len() as u32, distance };
        Level { cpus, facts }
    }
}

/// The levels around a CPU, smallest first: threads, cluster, cache, node, and nodes by distance. Releases up to 5.15
/// know no clusters.
fn levels(m: &Machine, policy: &Policy, c: u32) -> Vec<Level> {
    let of = |c: u32| &m.cpus[c as usize];
    let cache = m.llcs.iter().find(|llc| llc.contains(&c)).cloned().unwrap_or_else(|| vec![c]);
    let in_cluster = |&o: &u32| of(o).cluster == of(c).cluster && policy.has_clusters();
    let mut cluster: Vec<u32> = cache.iter().copied().filter(in_cluster).collect();
    if cluster.len() == cache.len() {
        // What shares no more than the cache is no cluster (cpu_clustergroup_mask).
        cluster.clone_from(&of(c).smt);
    }
    let node = m.node_of(c).map_or_else(|| all(m), |node| m.nodes[node].clone());
    let near = [
        (of(c).smt.clone(), sd::SHARE_CPUCAPACITY | sd::SHARE_LLC),
        (cluster, sd::CLUSTER | sd::SHARE_LLC),
        (cache, sd::SHARE_LLC),
        (node, 0),
    ];
    let near = near.into_iter().map(|(cpus, shared)| Level::new(m, cpus, shared, 0));
    let far = across_nodes(m, c).into_iter().map(|(cpus, distance)| Level::new(m, cpus, sd::NUMA, distance));
    near.chain(far).collect()
}

/// CPUs within each distance of a CPU's node, nearest first.
fn across_nodes(m: &Machine, c: u32) -> Vec<(Vec<u32>, u32)> {
    let Some(own) = m.node_of(c) else { return Vec::new() };
    let distances: BTreeSet<u32> =
        (0..m.nodes.len()).filter(|&other| other != own).map(|other| m.node_distance(own, other)).collect();
    let within = |far: u32| {
        let near = (0..m.nodes.len()).filter(|&other| m.node_distance(own, other) <= far);
        near.flat_map(|node| m.nodes[node].iter().copied()).collect()
    };
    distances.into_iter().map(|far| (within(far), far)).collect()
}

/// Row of a CPU; `all`: how many capacities there are.
fn cpu(m: &Machine, policy: &Policy, record: &mut Record, c: u32, all: u32) -> PlaceCpu {
    let spec = &m.cpus[c as usize];
    let mut out = PlaceCpu {
        threads: if spec.smt.is_empty() { span(record, &[c]) } else { span(record, &spec.smt) },
        capacity: spec.capacity,
        curr_idle: 1,
        exit_latency_ns: NO_IDLE_STATE,
        nr_idle_scan_asym: NO_LIMIT,
        has_idle_cores: (spec.smt.len() > 1).into(),
        llc_domain: NO_DOMAIN,
        asym_domain: NO_DOMAIN,
        ..PlaceCpu::default()
    };
    out.state.cap_orig = spec.capacity;
    out.state.uclamp_max = 1024;
    let levels = levels(m, policy, c);
    let (cluster, cache) = (&levels[1].cpus, &levels[2].cpus);
    (out.llc, out.llc_size) = (first(cache, c), cache.len() as u32);
    let stands = cluster.len() > 1 && *cluster != levels[0].cpus;
    out.cluster = if stands { first(cluster, c) } else { out.llc };
    out.nr_idle_scan_llc = out.llc_size;
    let facts: Vec<SdLevel> = levels.iter().map(|level| level.facts).collect();
    for (at, level) in levels.iter().enumerate() {
        let mut domain = level.facts.domain(policy, span(record, &level.cpus), all);
        domain.imb_numa_nr = imb_numa_nr(&facts, at);
        add_domain(record, &mut out, domain);
    }
    let cache = span(record, cache);
    pointers(policy, record, &mut out, cache);
    out
}

fn first(cpus: &[u32], or: u32) -> u32 {
    cpus.iter().copied().min().unwrap_or(or)
}

/// Adds a domain unless it is no larger than the one below.
fn add_domain(record: &Record, out: &mut PlaceCpu, domain: SchedDomain) {
    let at = out.nr_domains as usize;
    let below = if at > 0 { record.span_weight(out.domains[at - 1].span) } else { 1 };
    if record.span_weight(domain.span) <= below || at == DOMAINS_MAX {
        return;
    }
    if domain.flags & sd::ASYM_CPUCAPACITY != 0 && at > 0 {
        out.domains[at - 1].flags &= !sd::PREFER_SIBLING;
    }
    if domain.flags & sd::BALANCE_WAKE != 0 {
        out.domains.iter_mut().take(at).for_each(|below| below.flags |= sd::BALANCE_WAKE);
    }
    out.domains[at] = domain;
    out.nr_domains += 1;
}

/// Indexes of a CPU's domains: the one of its cache, and the smallest one of unequal CPUs.
fn pointers(policy: &Policy, record: &Record, out: &mut PlaceCpu, cache: u64) {
    let domains = &mut out.domains[..out.nr_domains as usize];
    let flag = policy.asym_searched();
    let place = |at: Option<usize>| at.map_or(NO_DOMAIN, |at| at as u32);
    let near = |d: &SchedDomain| record.span_within(d.span, cache) && d.flags & sd::SHARE_LLC != 0;
    out.llc_domain = place(domains.iter().rposition(near));
    out.asym_domain = place(domains.iter().position(|d| d.flags & flag != 0));
    for at in [out.llc_domain, out.asym_domain] {
        if let Some(domain) = domains.get_mut(at as usize) {
            domain.has_shared = 1;
        }
    }
    if out.asym_domain != NO_DOMAIN {
        out.nr_idle_scan_asym = record.nr_cpus;
    }
}

/// Fills performance domains and their states. False where the kernel does not place by energy: equal CPUs, threads,
/// power not known, no invariance (asked from 6.1 on), or a release that cannot.
fn fill_energy(m: &Machine, policy: &Policy, record: &mut Record) -> bool {
    let known = m.domains.iter().all(|d| d.opps.iter().all(|opp| opp.power_uw > 0));
    let invariant = m.domains.iter().all(|d| d.freq_invariant);
    let states: usize = m.domains.iter().map(|d| d.opps.len()).sum();
    let room = m.domains.len() <= PERF_DOMAINS_MAX && states <= PLACE_STATES_MAX;
    let can = policy.places_by_energy(record.asymmetric != 0, record.smt != 0, invariant);
    if !(can && known && room) {
        return false;
    }
    // The kernel lists the domain with the highest first CPU first.
    let mut domains: Vec<_> = m.domains.iter().filter(|d| !d.cpus.is_empty()).collect();
    domains.sort_by_key(|d| std::cmp::Reverse(d.cpus.iter().min().copied()));
    let mut next = 0;
    for (at, domain) in domains.iter().enumerate() {
        let opps: Vec<(u32, u64)> = domain.opps.iter().map(|opp| (opp.khz, opp.power_uw)).collect();
        let model = EnergyModel::of_release(policy, &opps, m.cpus[domain.cpus[0] as usize].capacity);
        let model = model.told(&domain.inefficient);
        let n = model.states().len();
        record.states[next..next + n].copy_from_slice(model.states());
        record.perf_domains[at] = PerfDomain {
            cpus: span(record, &domain.cpus),
            first_state: next as u32,
            nr_states: n as u32,
            min_state: 0,
            max_state: n as u32 - 1,
        };
        next += n;
    }
    record.nr_perf_domains = domains.len() as u32;
    true
}
