// SPDX-License-Identifier: GPL-2.0-or-later
//! Shared parts of CPUs, from sysfs: threads, clusters, caches, memory nodes. A share that a machine here cannot have
//! is replaced by one near it, with a note of its place.

use super::draft::{Draft, ranges};
use super::files::Files;
use super::nesting;
use crate::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// Fills threads, clusters, caches and nodes.
pub fn read(files: &Files, cpus: &[u32], draft: &mut Draft) -> Result<(), Diagnostic> {
    let of_topology = |names: [&'static str; 2]| {
        move |cpu: u32| {
            let paths = names.map(|name| format!("cpu/cpu{cpu}/topology/{name}"));
            paths.into_iter().find(|path| files.has(path))
        }
    };
    let source = Source { files, cpus };
    draft.smt = source.groups("threads", of_topology(["thread_siblings_list", "core_cpus_list"]), draft)?;
    draft.smt.retain(|group| group.len() > 1);
    draft.clusters = source.groups("clusters", of_topology(["cluster_cpus_list", "cluster_cpus_list"]), draft)?;
    draft.llc = source.groups("last-level caches", |cpu| last_level(files, cpu), draft)?;
    if draft.llc.is_empty() {
        let packages = of_topology(["package_cpus_list", "core_siblings_list"]);
        draft.llc = source.groups("packages", packages, draft)?;
        if !draft.llc.is_empty() {
            draft.assume("no caches are here: CPUs of a package are taken to share the last one");
        }
    }
    nodes(&source, draft)
}

/// Path of the CPUs of a CPU's last cache.
fn last_level(files: &Files, cpu: u32) -> Option<String> {
    let folder = format!("cpu/cpu{cpu}/cache");
    let level = |at: &u32| Some((files.number(&format!("{folder}/index{at}/level"))?, *at));
    let (_, at) = files.numbered(&folder, "index").iter().filter_map(level).max()?;
    Some(format!("{folder}/index{at}/shared_cpu_list")).filter(|path| files.has(path))
}

struct Source<'f> {
    files: &'f Files,
    cpus: &'f [u32],
}

impl Source<'_> {
    /// Groups of CPUs that name one another; none where they do not make sense.
    fn groups(
        &self,
        what: &str,
        path: impl Fn(u32) -> Option<String>,
        draft: &mut Draft,
    ) -> Result<Vec<Vec<u32>>, Diagnostic> {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut silent = Vec::new();
        for &cpu in self.cpus {
            let own = path(cpu).map(|path| Ok((self.files.cpus(&path)?, path))).transpose()?;
            let Some((Some(mut group), path)) = own else {
                silent.push(cpu);
                continue;
            };
            group.retain(|cpu| self.cpus.contains(cpu));
            let taken = groups.iter().find(|other| other.iter().any(|cpu| group.contains(cpu)));
            let is_odd = !group.contains(&cpu) || taken.is_some_and(|other| *other != group);
            if is_odd {
                let at = self.files.at(&path);
                draft.assume(format!("{what} of CPU {cpu} and of other CPUs do not agree ({at}): {what} are left out"));
                return Ok(Vec::new());
            }
            if taken.is_none() {
                groups.push(group);
            }
        }
        if !silent.is_empty() && !groups.is_empty() {
            draft.assume(format!("CPUs {} name no {what}: {what} are left out", ranges(&silent)));
            return Ok(Vec::new());
        }
        Ok(groups)
    }
}

/// Memory nodes with CPUs, and how far they are from each other. A machine with one has none.
fn nodes(source: &Source<'_>, draft: &mut Draft) -> Result<(), Diagnostic> {
    let files = source.files;
    let numbers = files.numbered("node", "node");
    let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
    for &node in &numbers {
        let mut list = files.cpus(&format!("node/node{node}/cpulist"))?.unwrap_or_default();
        list.retain(|cpu| source.cpus.contains(cpu));
        if !list.is_empty() {
            found.push((node, list));
        }
    }
    let all: BTreeSet<u32> = found.iter().flat_map(|(_, list)| list).copied().collect();
    let count: usize = found.iter().map(|(_, list)| list.len()).sum();
    if found.len() > 1 && (all.len() != source.cpus.len() || count != all.len()) {
        let at = files.at(&format!("node/node{}/cpulist", found[0].0));
        draft.assume(format!("not each CPU is in one memory node ({at}): nodes are left out"));
        return Ok(());
    }
    if found.len() < 2 {
        return Ok(());
    }
    let rows = distances(files, &numbers, &found)?;
    match rows {
        None => draft.assume("distances between nodes are not there: 20 between any two"),
        Some(rows) => {
            let (rows, changed) = nesting::nested(&rows);
            let at = files.at(&format!("node/node{}/distance", found[0].0));
            changed.into_iter().for_each(|what| draft.assume(format!("distances between nodes ({at}): {what}")));
            draft.node_distances = rows;
        }
    }
    draft.nodes = found.into_iter().map(|(_, list)| list).collect();
    within_nodes(source, draft);
    Ok(())
}

/// A row for each node that has CPUs; `None` when one is not there.
fn distances(files: &Files, numbers: &[u32], found: &[(u32, Vec<u32>)]) -> Result<Option<Vec<Vec<u32>>>, Diagnostic> {
    let place = |node: u32| numbers.iter().position(|&n| n == node);
    let mut rows = Vec::new();
    for &(node, _) in found {
        let path = format!("node/node{node}/distance");
        let Some(text) = files.value(&path) else { return Ok(None) };
        let all: Option<Vec<u32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
        let all = all.ok_or_else(|| files.error(&path, "these are no distances").allowed("numbers, 10..=255"))?;
        let row: Option<Vec<u32>> = found.iter().map(|&(to, _)| all.get(place(to)?).copied()).collect();
        let short = || files.error(&path, "this row is too short").allowed(format!("{} numbers", numbers.len()));
        rows.push(row.ok_or_else(short)?);
    }
    Ok(Some(rows))
}

/// Kernels cut caches at the borders of nodes (`match_llc` of x86, `cpu_coregroup_mask` of Arm), and so does a machine
/// here.
fn within_nodes(source: &Source<'_>, draft: &mut Draft) {
    let domains = || draft.domains.iter().map(|domain| domain.cpus.clone()).collect::<Vec<_>>();
    let caches = match (&draft.llc, &draft.clusters) {
        (llc, _) if !llc.is_empty() => llc.clone(),
        (_, clusters) if !clusters.is_empty() => clusters.clone(),
        _ => domains(),
    };
    let cut = |cache: &Vec<u32>| {
        let inside = |node: &Vec<u32>| cache.iter().copied().filter(|cpu| node.contains(cpu)).collect::<Vec<u32>>();
        draft.nodes.iter().map(inside).filter(|part| !part.is_empty()).collect::<Vec<_>>()
    };
    let parts: Vec<Vec<u32>> = caches.iter().flat_map(cut).collect();
    if let Some(cache) = caches.iter().find(|cache| cut(cache).len() > 1) {
        let path = last_level(source.files, cache[0]).unwrap_or_else(|| format!("cpu/cpu{}", cache[0]));
        let (at, cpus) = (source.files.at(&path), ranges(cache));
        draft.assume(format!("CPUs {cpus} share a cache and are of several nodes ({at}): the cache is cut at nodes"));
        draft.llc = parts;
    }
}
