// SPDX-License-Identifier: GPL-2.0-only
//! A machine from its sysfs: topology, cpu_capacity, cpufreq, cpuidle.

use super::draft::{Domain, Draft, Idle, Opp, cpu_list, sorted};
use crate::diagnostic::{Diagnostics, SourceFile};
use crate::reading;
use std::path::{Path, PathBuf};

/// Longest value that is read, bytes.
const VALUE_BYTES_MAX: usize = 65_536;

/// Reads `/sys`, a copy of it, or of its `devices/system/cpu`.
pub fn read(path: &Path) -> Result<Draft, Diagnostics> {
    let inner = ["sys/devices/system/cpu", "devices/system/cpu", ""];
    let root = inner.map(|inner| path.join(inner)).into_iter().find(|root| root.join("cpu0").is_dir());
    let missing = || SourceFile::new(path.display().to_string(), "").about("there is no devices/system/cpu/cpu0 in it");
    let root = root.ok_or_else(missing)?;
    let folders: Vec<u32> = entries(&root).iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    let mut cpus = value(&root.join("present")).and_then(|list| cpu_list(&list)).unwrap_or(folders);
    cpus.retain(|cpu| root.join(format!("cpu{cpu}")).is_dir());
    cpus.sort_unstable();
    let mut draft = Draft { name: "imported".to_owned(), ..Draft::default() };
    let policies = policies(&root, &cpus);
    if policies.is_empty() {
        draft.assumed.push("this kernel sets no frequencies (no cpufreq): operating points are not known".to_owned());
    }
    let mut groups = if policies.is_empty() { vec![(cpus.clone(), None)] } else { policies };
    let left: Vec<u32> =
        cpus.iter().copied().filter(|cpu| !groups.iter().any(|(cpus, _)| cpus.contains(cpu))).collect();
    if !left.is_empty() {
        draft.assumed.push(format!(
            "{} of no policy of cpufreq (switched off when it was read?): their frequencies are not known",
            cpu_names(&left)
        ));
        groups.push((left, None));
    }
    let assumed = &mut draft.assumed;
    draft.domains = groups.iter().map(|(cpus, policy)| domain(&root, cpus, policy.as_deref(), assumed)).collect();
    let policy = groups.iter().find_map(|(_, policy)| policy.clone());
    if let Some(policy) = policy {
        draft.driver = value(&policy.join("scaling_driver"));
        // CPUFREQ_ETERNAL stands for "not known".
        let ns = number(&policy.join("cpuinfo_transition_latency"));
        draft.transition_latency_ns = ns.filter(|&ns| ns > 0 && ns <= 1_000_000_000);
    }
    draft.arch = arch(&root, draft.driver.as_deref());
    draft.smt = shared(&root, &cpus, "topology/thread_siblings_list", true);
    draft.clusters = shared(&root, &cpus, "topology/cluster_cpus_list", false);
    draft.llc = last_level(&root, &cpus);
    nodes(&root.join("../node"), &cpus, &mut draft);
    capacities(&mut draft);
    Ok(draft)
}

/// CPUs of each policy, and its folder.
fn policies(root: &Path, cpus: &[u32]) -> Vec<(Vec<u32>, Option<PathBuf>)> {
    let mut found = Vec::new();
    let mut taken = Vec::new();
    for &cpu in cpus {
        let folder = root.join(format!("cpu{cpu}/cpufreq"));
        let folder = if folder.is_dir() { folder } else { root.join(format!("cpufreq/policy{cpu}")) };
        let related = value(&folder.join("related_cpus")).and_then(|list| cpu_list(&list));
        if let Some(related) = related.filter(|_| !taken.contains(&cpu)) {
            taken.extend(&related);
            found.push((related, Some(folder)));
        }
    }
    found
}

fn cpu_names(cpus: &[u32]) -> String {
    let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
    if let [cpu] = &numbers[..] { format!("CPU {cpu} is") } else { format!("CPUs {} are", numbers.join(", ")) }
}

/// Operating points of a policy. Those of boost are the kernel's as long as they are not above its present maximum
/// (`cpufreq_frequency_table_cpuinfo`).
fn points(policy: &Path, assumed: &mut Vec<String>) -> Vec<Opp> {
    let listed = |name: &str| value(&policy.join(name)).unwrap_or_default();
    let numbers =
        |name: &str| -> Vec<u32> { listed(name).split_whitespace().filter_map(|khz| khz.parse().ok()).collect() };
    let highest = numbers("cpuinfo_max_freq").first().copied().unwrap_or(u32::MAX);
    let (boost, off): (Vec<u32>, Vec<u32>) =
        numbers("scaling_boost_frequencies").into_iter().partition(|&khz| khz <= highest);
    if !off.is_empty() {
        assumed.push(format!("boost was off: {} of {off:?} kHz left out", listed("related_cpus")));
    }
    let mut khz = numbers("scaling_available_frequencies");
    khz.extend(boost);
    if khz.is_empty() {
        // A driver without a list tells its ends only.
        let ends = ["cpuinfo_min_freq", "cpuinfo_max_freq"].map(|name| numbers(name).first().copied());
        khz = ends.into_iter().flatten().filter(|&khz| khz > 0).collect();
    }
    khz.into_iter().map(opp).collect()
}

fn domain(root: &Path, cpus: &[u32], policy: Option<&Path>, assumed: &mut Vec<String>) -> Domain {
    let first = cpus.first().copied().unwrap_or(0);
    let cpu = root.join(format!("cpu{first}"));
    Domain {
        cpus: cpus.to_vec(),
        capacity: number(&cpu.join("cpu_capacity"))
            .and_then(|c| u32::try_from(c).ok())
            .filter(|c| (1..=1024).contains(c)),
        opps: sorted(policy.map_or_else(Vec::new, |policy| points(policy, assumed))),
        idle: idle(&cpu, assumed),
        source: "sysfs".to_owned(),
        ..Domain::default()
    }
}

fn opp(khz: u32) -> Opp {
    Opp { khz, ..Opp::default() }
}

/// States below state 0 that are not switched off.
fn idle(cpu: &Path, assumed: &mut Vec<String>) -> Vec<Idle> {
    let mut note = |text: String| {
        if !assumed.contains(&text) {
            assumed.push(text);
        }
    };
    let mut states = Vec::new();
    for folder in (1..=9).map(|at| cpu.join(format!("cpuidle/state{at}"))) {
        let (Some(name), Some(exit_us)) = (value(&folder.join("name")), number(&folder.join("latency"))) else { break };
        if number(&folder.join("disable")).is_some_and(|off| off != 0) {
            note(format!("idle state {name} was switched off (`disable`): left out"));
            continue;
        }
        let residency_us = number(&folder.join("residency"));
        if residency_us.is_none() {
            note(format!("this kernel tells no residency of idle state {name}: 0 here"));
        }
        states.push(Idle { name, exit_us, residency_us: residency_us.unwrap_or(0), ..Idle::default() });
    }
    states
}

fn arch(root: &Path, driver: Option<&str>) -> Option<&'static str> {
    let modalias = value(&root.join("modalias")).unwrap_or_default();
    let x86 = modalias.contains("x86") || driver.is_some_and(|d| d.contains("pstate"));
    if x86 { Some("x86") } else { modalias.contains("aarch64").then_some("arm64") }
}

/// Groups of CPUs that name one another; `pairs`: nothing where each CPU is alone.
fn shared(root: &Path, cpus: &[u32], file: &str, pairs: bool) -> Vec<Vec<u32>> {
    let list = |cpu: &u32| cpu_list(&value(&root.join(format!("cpu{cpu}/{file}")))?);
    let Some(mut groups) = cpus.iter().map(list).collect::<Option<Vec<_>>>() else { return Vec::new() };
    groups.sort();
    groups.dedup();
    groups.retain(|group| !pairs || group.len() > 1);
    let in_groups: usize = groups.iter().map(Vec::len).sum();
    if !pairs && in_groups != cpus.len() { Vec::new() } else { groups }
}

/// CPUs by the cache of the highest level.
fn last_level(root: &Path, cpus: &[u32]) -> Vec<Vec<u32>> {
    let Some(first) = cpus.first() else { return Vec::new() };
    let level = |at: u32| number(&root.join(format!("cpu{first}/cache/index{at}/level")));
    let highest = (0..8).filter_map(|at| Some((level(at)?, at))).max();
    highest.map_or_else(Vec::new, |(_, at)| shared(root, cpus, &format!("cache/index{at}/shared_cpu_list"), false))
}

/// Memory nodes with CPUs, and how far they are from each other. A machine with one has none.
fn nodes(root: &Path, cpus: &[u32], draft: &mut Draft) {
    let mut numbers: Vec<u32> =
        entries(root).iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    numbers.sort_unstable();
    let list = |node: &u32| cpu_list(&value(&root.join(format!("node{node}/cpulist")))?).map(|list| (*node, list));
    let mut found: Vec<(u32, Vec<u32>)> = numbers.iter().filter_map(list).collect();
    found.iter_mut().for_each(|(_, list)| list.retain(|cpu| cpus.contains(cpu)));
    found.retain(|(_, list)| !list.is_empty());
    if found.len() < 2 {
        return;
    }
    let place = |node: u32| numbers.iter().position(|&n| n == node);
    let row = |node: u32| -> Option<Vec<u32>> {
        let text = value(&root.join(format!("node{node}/distance")))?;
        let all: Vec<u32> = text.split_whitespace().filter_map(|d| d.parse().ok()).collect();
        found.iter().map(|&(to, _)| all.get(place(to)?).copied()).collect()
    };
    let distances: Option<Vec<_>> = found.iter().map(|&(node, _)| row(node)).collect();
    if distances.is_none() {
        draft.assumed.push("distances between nodes are not there: 20 between any two".to_owned());
    }
    draft.node_distances = distances.unwrap_or_default();
    draft.nodes = found.into_iter().map(|(_, list)| list).collect();
}

/// What the kernel says of none, it says of all: 1024.
fn capacities(draft: &mut Draft) {
    let known = draft.domains.iter().filter(|d| d.capacity.is_some()).count();
    if known == 0 {
        draft.assumed.push("no cpu_capacity: the kernel treats all CPUs alike, capacity 1024".to_owned());
        draft.domains.iter_mut().for_each(|d| d.capacity = Some(1024));
    }
    let ends_only = draft.domains.iter().any(|d| (1..=2).contains(&d.opps.len()));
    if ends_only {
        draft.assumed.push("the driver lists no frequencies: only the lowest and the highest are known".to_owned());
    }
    draft.assumed.push("sysfs has no entry latencies (0 here), voltages and power".to_owned());
}

fn entries(path: &Path) -> Vec<String> {
    let name = |path: std::path::PathBuf| path.file_name()?.to_str().map(str::to_owned);
    reading::names(path).into_iter().filter_map(name).collect()
}

/// A file's first line; `None` when it cannot be read.
pub(super) fn value(path: &Path) -> Option<String> {
    let text = reading::text(path, VALUE_BYTES_MAX).ok()?;
    let line = text.lines().next().unwrap_or("").trim().to_owned();
    (!line.is_empty()).then_some(line)
}

pub(super) fn number(path: &Path) -> Option<u64> {
    value(path)?.parse().ok()
}
