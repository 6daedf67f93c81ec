// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules for memory nodes and their distances.

use std::collections::BTreeSet;

use pelton_model::machine::NODE_DISTANCE_LOCAL;

use super::file::{Groups, PlatformFile};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::tree::At;

/// Distances to other nodes that a machine may have: with threads, clusters, caches and nodes they fill the levels that
/// the scheduler's record has.
const REMOTE_DISTANCES_MAX: usize = 2;

/// Checks `nodes` and `node_distances`; whether each CPU is in one node is checked with the other groups.
pub(super) fn check(file: &PlatformFile, found: &mut Diagnostics) {
    let topology = &file.topology;
    let caches = if topology.llc.is_empty() { &topology.clusters } else { &topology.llc };
    in_one_node(&file.source, &topology.nodes, caches, found);
    let Some(first) = topology.node_distances.first() else { return };
    let nodes = topology.nodes.len();
    if nodes == 0 {
        let at = file.source.error(first.span.clone(), "`node_distances` without `nodes`");
        found.push(at.help("add `nodes`, the CPUs of each node"));
        return;
    }
    let rows = &topology.node_distances;
    if let Some(row) = rows.iter().find(|row| row.value.len() != nodes).or((rows.len() != nodes).then_some(first)) {
        let what = format!("`node_distances` has {} rows, and {} numbers in this one", rows.len(), row.value.len());
        found.push(file.source.error(row.span.clone(), what).allowed(format!("{nodes} rows of {nodes} numbers")));
        return;
    }
    if distances(&file.source, rows, found) {
        nested(&file.source, rows, found);
    }
}

/// No cache is shared between nodes.
fn in_one_node(source: &SourceFile, nodes: &Groups, caches: &Groups, found: &mut Diagnostics) {
    let node_of = |cpu: u32| nodes.iter().position(|node| node.value.iter().any(|c| c.value == cpu));
    for cache in caches.iter().filter(|_| !nodes.is_empty()) {
        let of: BTreeSet<_> = cache.value.iter().map(|cpu| node_of(cpu.value)).collect();
        if of.len() > 1 {
            let at = source.error(cache.span.clone(), "CPUs of two nodes share this cache");
            found.push(at.help("a last-level cache belongs to one node: split the cache or join the nodes"));
        }
    }
}

/// A node's distance to itself is 10, any other is more, and it is the same there and back. False when something is
/// wrong.
fn distances(source: &SourceFile, rows: &Groups, found: &mut Diagnostics) -> bool {
    let mut good = true;
    for (a, row) in rows.iter().enumerate() {
        for (b, distance) in row.value.iter().enumerate() {
            let at = || source.error(distance.span.clone(), format!("distance from node {a} to node {b}"));
            let back = rows[b].value[a].value;
            if (distance.value == NODE_DISTANCE_LOCAL) != (a == b) {
                found.push(at().allowed("10 for the node itself, more for any other"));
            } else if distance.value != back {
                found.push(at().label(format!("the way back has {back}")).allowed("the same there and back"));
            } else {
                continue;
            }
            good = false;
        }
    }
    good
}

/// The nodes within any distance are groups that do not overlap.
fn nested(source: &SourceFile, rows: &Groups, found: &mut Diagnostics) {
    let all: BTreeSet<u32> = rows.iter().flat_map(|row| &row.value).map(|d| d.value).collect();
    if all.len() > REMOTE_DISTANCES_MAX + 1 {
        let at = source.error(rows[0].span.clone(), format!("{} different distances", all.len()));
        found.push(at.allowed(format!("10 and at most {REMOTE_DISTANCES_MAX} more")).help("make near distances equal"));
        return;
    }
    let within = |row: &At<Vec<At<u32>>>, far: u32| -> Vec<bool> { row.value.iter().map(|d| d.value <= far).collect() };
    for (a, row) in rows.iter().enumerate() {
        let overlaps = |&far: &u32| {
            rows.iter()
                .enumerate()
                .any(|(b, other)| row.value[b].value <= far && within(row, far) != within(other, far))
        };
        if let Some(far) = all.iter().copied().find(overlaps) {
            let at = source.error(row.span.clone(), format!("nodes within {far} of node {a} have other neighbours"));
            found.push(
                at.help("rings and meshes of nodes, whose groups overlap, are not modelled: make distances nested"),
            );
            return;
        }
    }
}
