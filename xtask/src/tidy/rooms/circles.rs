// SPDX-License-Identifier: GPL-2.0-or-later
//! Circles of a graph: its strongly connected components (Tarjan).

use std::collections::{BTreeMap, BTreeSet};

struct Search<'g> {
    graph: &'g BTreeMap<String, BTreeSet<String>>,
    order: BTreeMap<&'g str, usize>,
    low: BTreeMap<&'g str, usize>,
    stack: Vec<&'g str>,
    found: Vec<Vec<String>>,
}

/// All components, each sorted; a node that nothing leads back to is one of its own.
pub fn of(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let (order, low) = (BTreeMap::new(), BTreeMap::new());
    let mut search = Search { graph, order, low, stack: Vec::new(), found: Vec::new() };
    for node in graph.keys() {
        if !search.order.contains_key(node.as_str()) {
            search.visit(node);
        }
    }
    search.found
}

impl<'g> Search<'g> {
    fn visit(&mut self, node: &'g str) {
        let at = self.order.len();
        self.order.insert(node, at);
        self.low.insert(node, at);
        self.stack.push(node);
        for next in self.graph.get(node).into_iter().flatten() {
            self.step(node, next);
        }
        if self.low[node] == at {
            self.close(node);
        }
    }

    fn step(&mut self, node: &'g str, next: &'g str) {
        let seen = if !self.order.contains_key(next) {
            self.visit(next);
            self.low[next]
        } else if self.stack.contains(&next) {
            self.order[next]
        } else {
            return;
        };
        let low = self.low[node].min(seen);
        self.low.insert(node, low);
    }

    fn close(&mut self, node: &'g str) {
        let first = self.stack.iter().position(|&other| other == node).unwrap_or(0);
        let mut circle: Vec<String> = self.stack.drain(first..).map(str::to_owned).collect();
        circle.sort_unstable();
        self.found.push(circle);
    }
}
