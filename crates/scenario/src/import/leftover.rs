// SPDX-License-Identifier: GPL-2.0-or-later
//! Facts of a device tree about CPUs that a platform file does not have: listed by name, so that nothing is left out in
//! silence. Of `sched-energy-costs`, the tables of phones' kernels before the Energy Model, capacities are used.

use super::cells::{Node, Tree};
use std::collections::BTreeSet;

/// Properties that every node has.
const STRUCTURE: [&str; 12] = [
    "#address-cells",
    "#cooling-cells",
    "#power-domain-cells",
    "#size-cells",
    "compatible",
    "device_type",
    "linux,phandle",
    "name",
    "phandle",
    "ranges",
    "reg",
    "status",
];
const OF_CPUS: [&str; 9] = [
    "capacity-dmips-mhz",
    "cpu-idle-states",
    "dynamic-power-coefficient",
    "operating-points",
    "operating-points-v2",
    "power-domain-names",
    "power-domains",
    "sched-energy-costs",
    "cpu",
];
/// Names of the clock that CPUs share, where the tree has no table.
const CLOCKS: [&str; 3] = ["clocks", "performance-domains", "qcom,freq-domain"];
const OF_POINTS: [&str; 7] =
    ["clock-latency-ns", "opp-hz", "opp-microvolt", "opp-microwatt", "opp-shared", "opp-supported-hw", "turbo-mode"];
const OF_STATES: [&str; 5] =
    ["entry-latency-us", "exit-latency-us", "idle-state-name", "min-residency-us", "wakeup-latency-us"];

/// Nodes of one machine by their kind.
pub struct Nodes<'a> {
    /// Root of the tree's CPUs.
    pub root: &'a Node,
    /// CPUs that are available.
    pub cpus: Vec<&'a Node>,
    /// Tables of operating points.
    pub tables: Vec<&'a Node>,
    /// Idle states.
    pub states: Vec<&'a Node>,
}

/// A line for each kind of node with what is not used of it.
pub fn list(nodes: &Nodes<'_>) -> Vec<String> {
    let points: Vec<&Node> = nodes.tables.iter().flat_map(|table| table.children.iter().chain([*table])).collect();
    let map = nodes.root.children.iter().filter(|node| node.name == "cpu-map");
    let mut clusters = Vec::new();
    map.for_each(|map| map.walk(&mut clusters));
    let mut costs = Vec::new();
    nodes.root.children.iter().filter(|node| node.name.contains("cost")).for_each(|node| node.walk(&mut costs));
    let of_states = nodes.root.children.iter().filter(|node| node.name == "idle-states");
    let states: Vec<&Node> = nodes.states.iter().copied().chain(of_states).collect();
    let clocked: Vec<&str> = if points.is_empty() { CLOCKS.to_vec() } else { Vec::new() };
    let kinds = [
        ("CPUs", &nodes.cpus, [&OF_CPUS[..], &clocked].concat()),
        ("operating points", &points, OF_POINTS.to_vec()),
        ("idle states", &states, OF_STATES.to_vec()),
        ("clusters", &clusters, vec!["cpu"]),
        ("sched-energy-costs", &costs, Vec::new()),
    ];
    let mut lines: Vec<String> = kinds.iter().filter_map(|(kind, nodes, used)| unused(kind, nodes, used)).collect();
    let turbo = points.iter().filter(|point| point.property("turbo-mode").is_some()).count();
    if turbo > 0 {
        lines.push(format!("operating points for turbo only (turbo-mode) are left out: {turbo}"));
    }
    lines
}

fn unused(kind: &str, nodes: &[&Node], used: &[&str]) -> Option<String> {
    let names = nodes.iter().flat_map(|node| &node.properties).map(|property| property.name.as_str());
    let is_unused = |name: &&str| {
        !STRUCTURE.contains(name) && !used.contains(name) && !name.starts_with("opp-microvolt-") && !name.is_empty()
    };
    let names: BTreeSet<&str> = names.filter(is_unused).collect();
    (!names.is_empty()).then(|| format!("not used of {kind}: {}", names.into_iter().collect::<Vec<_>>().join(", ")))
}

/// Capacity of a CPU by its `sched-energy-costs`: the last of the pairs of capacity and energy of its core. Newer ones
/// have frequencies instead of capacities.
pub fn capacity_by_costs(tree: &Tree, all: &[&Node], cpu: &Node) -> Option<u32> {
    let core = tree.referred_first(all, cpu, "sched-energy-costs")?;
    let data = tree.numbers(core, "busy-cost-data").ok()?;
    let (pairs, rest) = data.as_chunks::<2>();
    let is_ascending = pairs.windows(2).all(|pair| pair[0][0] < pair[1][0]);
    let top = pairs.last().filter(|_| rest.is_empty() && is_ascending)?[0];
    u32::try_from(top).ok().filter(|top| (1..=1024).contains(top))
}
