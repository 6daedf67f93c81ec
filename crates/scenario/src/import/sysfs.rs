// SPDX-License-Identifier: GPL-2.0-or-later
//! A machine from its sysfs: which CPUs there are, their policies of cpufreq, their idle states. What CPUs share:
//! `topology.rs`; what a driver's name says: `drivers.rs`; when x86 is frequency-invariant: `invariance.rs`.

use super::draft::{Domain, Draft, Idle, in_order, ranges};
use super::files::Files;
use super::{driver, frequencies, invariance, topology, unused};
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile};
use crate::platform::CPUS_MAX;
use std::path::Path;

/// A policy of cpufreq: its CPUs, and its folder when it has one.
pub struct Policy {
    /// CPUs that are there.
    pub cpus: Vec<u32>,
    /// Path of the folder.
    pub folder: Option<String>,
}

/// Reads `/sys`, a copy of it or of its `devices/system/cpu`, or a text that shows files of it.
pub fn read(path: &Path) -> Result<Draft, Diagnostics> {
    let files = open(path)?;
    let mut draft = Draft { name: "imported".to_owned(), ..Draft::default() };
    draft.assumed.extend(files.left_out());
    let cpus = cpus(&files, &mut draft)?;
    if cpus.len() > CPUS_MAX {
        let at = files.error("cpu/present", &format!("the machine has {} CPUs", cpus.len()));
        return Err(at.allowed(format!("1..={CPUS_MAX} CPUs")).into());
    }
    let policies = groups(&files, &cpus, &mut draft)?;
    for policy in &policies {
        let domain = domain(&files, policy, &mut draft)?;
        draft.domains.push(domain);
    }
    draft.arch = invariance::arch(&files, &cpus);
    driver::read(&files, &policies, &mut draft);
    invariance::read(&files, &cpus, &mut draft);
    topology::read(&files, &cpus, &mut draft)?;
    capacities(&mut draft);
    unused::list(&files, &policies, &cpus, &mut draft);
    if files.has_folder("model") {
        draft.fill(super::energy_model::draft(&files, false)?);
    }
    Ok(draft)
}

/// The source's files; an error where it has no CPU.
fn open(path: &Path) -> Result<Files, Diagnostics> {
    if !path.is_dir() {
        return Files::of_text(path);
    }
    let inner = ["sys/devices/system/cpu", "devices/system/cpu", "cpu", ""].map(|inner| path.join(inner));
    let files = |cpu: std::path::PathBuf| {
        let node = cpu.join("../node");
        Files::of_folders(vec![("cpu", cpu), ("node", node)])
    };
    let found = inner.into_iter().filter(|cpu| cpu.is_dir()).map(files).find(has_cpus);
    let missing = || SourceFile::new(path.display().to_string(), "").about("there is no devices/system/cpu/cpu0 in it");
    Ok(found.ok_or_else(missing)?)
}

/// True if a folder has CPUs, or policies of some.
pub fn has_cpus(files: &Files) -> bool {
    !files.numbered("cpu", "cpu").is_empty() || !files.numbered("cpu/cpufreq", "policy").is_empty()
}

/// Folders that may be a policy's, in the order of CPU numbers.
fn policy_folders(files: &Files) -> Vec<(u32, String)> {
    let of_cpu = |cpu: u32| (cpu, format!("cpu/cpu{cpu}/cpufreq"));
    let mut found: Vec<(u32, String)> = files.numbered("cpu", "cpu").into_iter().map(of_cpu).collect();
    found.retain(|(_, folder)| files.has_folder(folder));
    let own = |number: u32| (number, format!("cpu/cpufreq/policy{number}"));
    found.extend(files.numbered("cpu/cpufreq", "policy").into_iter().map(own));
    found
}

/// CPUs of a policy; the one of its name where it names none.
fn cpus_of(files: &Files, number: u32, folder: &str) -> Result<Vec<u32>, Diagnostic> {
    let related = files.cpus(&format!("{folder}/related_cpus"))?;
    let affected = files.cpus(&format!("{folder}/affected_cpus"))?;
    Ok(related.or(affected).unwrap_or_else(|| vec![number]))
}

/// CPUs that are there and switched on.
fn cpus(files: &Files, draft: &mut Draft) -> Result<Vec<u32>, Diagnostic> {
    let mut cpus = files.numbered("cpu", "cpu");
    for (number, folder) in policy_folders(files) {
        cpus.extend(cpus_of(files, number, &folder)?);
    }
    let present = files.cpus("cpu/present")?;
    let online = files.cpus("cpu/online")?;
    if let Some(present) = &present {
        cpus.retain(|cpu| present.contains(cpu));
    }
    cpus.sort_unstable();
    cpus.dedup();
    let has_topology = |cpu: u32| files.has_folder(&format!("cpu/cpu{cpu}/topology"));
    let some_have = cpus.iter().any(|&cpu| has_topology(cpu));
    // Both folders go with a CPU that is switched off.
    let is_gone = |cpu: u32| {
        let is_shown = files.has_folder(&format!("cpu/cpu{cpu}"));
        is_shown && some_have && !has_topology(cpu) && !files.has_folder(&format!("cpu/cpu{cpu}/cpufreq"))
    };
    let is_off = |cpu: &u32| match &online {
        Some(online) => !online.contains(cpu),
        None => files.number(&format!("cpu/cpu{cpu}/online")) == Some(0) || is_gone(*cpu),
    };
    let mut off: Vec<u32> = cpus.iter().chain(present.iter().flatten()).copied().filter(is_off).collect();
    off.sort_unstable();
    off.dedup();
    let missing: Vec<u32> =
        present.iter().flatten().copied().filter(|cpu| !cpus.contains(cpu) && !off.contains(cpu)).collect();
    cpus.retain(|cpu| !off.contains(cpu));
    if !missing.is_empty() {
        draft.assume(format!("CPUs that are present and not in this source are left out: {}", ranges(&missing)));
    }
    if !off.is_empty() {
        draft.assume(format!("CPUs that were switched off are left out: {}", ranges(&off)));
    }
    Ok(cpus)
}

/// CPUs by policy; those that have none together, without a folder.
fn groups(files: &Files, cpus: &[u32], draft: &mut Draft) -> Result<Vec<Policy>, Diagnostic> {
    let mut policies: Vec<Policy> = Vec::new();
    let mut left = cpus.to_vec();
    for (number, folder) in policy_folders(files) {
        let mut own = cpus_of(files, number, &folder)?;
        own.retain(|cpu| left.contains(cpu));
        left.retain(|cpu| !own.contains(cpu));
        if !own.is_empty() {
            policies.push(Policy { cpus: own, folder: Some(folder) });
        }
    }
    if policies.is_empty() {
        draft.assume("this kernel sets no frequencies (no cpufreq): operating points are not known");
    } else if !left.is_empty() {
        let verb = if left.len() == 1 { "CPU {} is" } else { "CPUs {} are" };
        let who = verb.replace("{}", &ranges(&left));
        draft.assume(format!("{who} of no policy of cpufreq (switched off when it was read?): frequencies not known"));
    }
    if !left.is_empty() {
        policies.push(Policy { cpus: left, folder: None });
    }
    policies.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    Ok(policies)
}

fn domain(files: &Files, policy: &Policy, draft: &mut Draft) -> Result<Domain, Diagnostic> {
    let first = policy.cpus.first().copied().unwrap_or(0);
    let capacity_of = |cpu: u32| files.known(&format!("cpu/cpu{cpu}/cpu_capacity")).filter(|c| *c <= 1024);
    let mut capacities: Vec<u32> = policy.cpus.iter().filter_map(|&cpu| capacity_of(cpu)).collect();
    let capacity = capacities.first().copied();
    capacities.dedup();
    if let Some(first) = capacity.filter(|_| capacities.len() > 1) {
        let cpus = ranges(&policy.cpus);
        draft.assume(format!("CPUs {cpus} share a frequency and differ in cpu_capacity: {first} is taken for all"));
    }
    let mut domain = Domain {
        cpus: policy.cpus.clone(),
        capacity,
        idle: idle(files, first, draft),
        source: "sysfs".to_owned(),
        ..Domain::default()
    };
    if let Some(folder) = &policy.folder {
        frequencies::read(files, first, folder, &mut domain, draft)?;
    }
    domain.hwp = ["highest", "nominal", "lowest_nonlinear"]
        .map(|level| files.known(&format!("cpu/cpu{first}/acpi_cppc/{level}_perf")).filter(|&level| level <= 255));
    Ok(domain)
}

/// States below state 0 that are not switched off.
fn idle(files: &Files, cpu: u32, draft: &mut Draft) -> Vec<Idle> {
    let mut states: Vec<Idle> = Vec::new();
    for state in files.numbered(&format!("cpu/cpu{cpu}/cpuidle"), "state").into_iter().filter(|state| *state > 0) {
        let folder = format!("cpu/cpu{cpu}/cpuidle/state{state}");
        let name = files.value(&format!("{folder}/name")).unwrap_or_else(|| format!("state{state}"));
        let number = |file: &str| files.number(&format!("{folder}/{file}"));
        let (exit_us, residency_us, off) = (number("latency"), number("residency"), number("disable"));
        let Some(exit_us) = exit_us.filter(|us| *us <= LATENCY_US_MAX) else {
            draft.assume(format!("idle state {name} has no latency of {LATENCY_US_MAX} us or less: left out"));
            continue;
        };
        if off.is_some_and(|off| off != 0) {
            draft.assume(format!("idle state {name} was switched off (`disable`): left out"));
            continue;
        }
        let before = states.last().map_or(0, |state| state.residency_us);
        let told = residency_us.filter(|us| *us <= LATENCY_US_MAX);
        if told.is_none() {
            draft.assume(format!("this kernel tells no residency of idle state {name}: {before} here"));
        }
        states.push(Idle { name, exit_us, residency_us: told.unwrap_or(before), ..Idle::default() });
    }
    let sorted = in_order(states.clone());
    if sorted != states {
        draft.assume(format!("idle states of CPU {cpu} are put in the order of their residencies"));
    }
    sorted
}

/// Longest latency that a file can state, us.
const LATENCY_US_MAX: u64 = 10_000_000;

/// Capacities: 1024 for all CPUs when the kernel states none.
fn capacities(draft: &mut Draft) {
    if draft.domains.iter().all(|domain| domain.capacity.is_none()) {
        draft.assume("no cpu_capacity: the kernel treats all CPUs alike, capacity 1024");
        draft.domains.iter_mut().for_each(|domain| domain.capacity = Some(1024));
    }
    draft.assume("sysfs has no entry latencies (0 here), voltages and power");
}
