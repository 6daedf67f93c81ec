// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of a CPU that were met and not used. A file that counts, shows a momentary value, or repeats another file is
//! no property of a machine and is not listed.

use super::draft::Draft;
use super::files::Files;
use super::sysfs::Policy;
use std::collections::BTreeSet;

/// Counters, states of the moment, and other forms of what is read.
const NO_PROPERTY: [&str; 68] = [
    "above",
    "affected_cpus",
    "below",
    "book_id",
    "book_siblings",
    "cluster_cpus",
    "cluster_id",
    "core_cpus",
    "core_cpus_list",
    "core_id",
    "core_siblings",
    "core_siblings_list",
    "cpuinfo_avg_freq",
    "cpuinfo_cur_freq",
    "cpuinfo_max_freq",
    "cpuinfo_min_freq",
    "crash_notes",
    "crash_notes_size",
    "default_status",
    "desc",
    "die_cpus",
    "die_id",
    "disable",
    "drawer_id",
    "drawer_siblings",
    "energy_performance_available_preferences",
    "feedback_ctrs",
    "freqdomain_cpus",
    "hotplug",
    "id",
    "last_cpu_bounced",
    "level",
    "modalias",
    "name",
    "online",
    "package_cpus",
    "package_cpus_list",
    "physical_package_id",
    "power_supply",
    "present",
    "rejected",
    "related_cpus",
    "reset",
    "residency",
    "latency",
    "s2idle",
    "scaling_available_governors",
    "scaling_cur_freq",
    "scaling_driver",
    "scaling_governor",
    "scaling_max_freq",
    "scaling_min_freq",
    "scaling_setspeed",
    "shared_cpu_list",
    "shared_cpu_map",
    "snoop",
    "status",
    "subsystem",
    "thread_siblings",
    "thread_siblings_list",
    "time",
    "time_in_state",
    "total_trans",
    "trans_table",
    "type",
    "uevent",
    "usage",
    "wraparound_time",
];

/// Lists what was met and not used, a line for each kind of file.
pub fn list(files: &Files, policies: &[Policy], cpus: &[u32], draft: &mut Draft) {
    let firsts: Vec<u32> = policies.iter().filter_map(|policy| policy.cpus.first().copied()).collect();
    let of_cpus = |inner: &str| -> Vec<String> { firsts.iter().map(|cpu| format!("cpu/cpu{cpu}{inner}")).collect() };
    let mut cpufreq: Vec<String> = policies.iter().filter_map(|policy| policy.folder.clone()).collect();
    for folder in cpufreq.clone() {
        let below = files.names(&folder).into_iter().map(|name| format!("{folder}/{name}"));
        cpufreq.extend(below.filter(|path| !path.ends_with("/stats") && files.has_folder(path)));
    }
    let inner = |folder: &str, before: &str| -> Vec<String> {
        let numbered = |outer: String| {
            let path = format!("{outer}/{folder}");
            files.numbered(&path, before).into_iter().map(move |number| format!("{path}/{before}{number}"))
        };
        of_cpus("").into_iter().flat_map(numbered).collect()
    };
    let states = inner("cpuidle", "state").into_iter().filter(|path| !path.ends_with("/state0")).collect();
    let whole = ["cpu/intel_pstate", "cpu/amd_pstate", "cpu/smt", "cpu/cpuidle"].map(str::to_owned).to_vec();
    let kinds = [
        ("cpufreq", cpufreq),
        ("cpuidle", states),
        ("acpi_cppc", of_cpus("/acpi_cppc")),
        ("topology", of_cpus("/topology")),
        ("caches", inner("cache", "index")),
        ("each CPU", of_cpus("")),
        ("all CPUs", whole),
    ];
    for (kind, folders) in kinds {
        note(files, kind, &folders, draft);
    }
    differing_levels(files, cpus, draft);
}

fn note(files: &Files, kind: &str, folders: &[String], draft: &mut Draft) {
    let mut names: BTreeSet<String> = folders.iter().flat_map(|folder| files.unread(folder)).collect();
    names.retain(|name| !NO_PROPERTY.contains(&name.as_str()));
    if !names.is_empty() {
        let names: Vec<String> = names.into_iter().collect();
        draft.assume(format!("not used of {kind}: {}", names.join(", ")));
    }
}

/// Kernels from 6.12 on give hybrid x86 CPUs capacities after their highest performance.
fn differing_levels(files: &Files, cpus: &[u32], draft: &mut Draft) {
    let level = |cpu: &u32| files.known(&format!("cpu/cpu{cpu}/acpi_cppc/highest_perf"));
    let levels: BTreeSet<u32> = cpus.iter().filter_map(level).collect();
    let has_capacity = cpus.iter().any(|cpu| files.has(&format!("cpu/cpu{cpu}/cpu_capacity")));
    if levels.len() > 1 && !has_capacity && draft.arch == Some("x86") {
        draft.assume(format!(
            "CPUs differ in highest_perf of acpi_cppc ({levels:?}), from which kernels of 6.12 and later work out capacities \
             of hybrid CPUs: not used, capacities are alike"
        ));
    }
}
