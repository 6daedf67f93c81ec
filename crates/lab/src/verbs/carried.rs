// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine that a recording carries in its header, as a platform.

use super::recorded::{Platform, machine};
use pelton_trace::RunHeader;
use std::fmt::Write as _;

/// CPUs and operating points of a description; more is no machine.
const CPUS_MAX: usize = 1024;
const OPPS_MAX: usize = 512;
/// Stands for the frequency of CPUs whose frequencies the kernel does not show, kHz.
const KHZ_UNKNOWN: u32 = 1_000_000;

/// Platform described by a recording of this program; `None` for other traces, and for one that describes no machine.
pub fn platform(header: &RunHeader) -> Option<Platform> {
    if header.kernel.is_empty() { None } else { described(header) }
}

/// The machine that the header of a run describes: the built-in one it names while that is still the same, else its
/// CPUs and frequencies; `None` for recordings.
pub fn of_run(header: &RunHeader) -> Option<Platform> {
    if !header.is_simulated() {
        return None;
    }
    let named = pelton_scenario::platform::names().find(|name| *name == header.platform).map(Platform::named);
    named.filter(|named| machine(named).is_ok_and(|built| is_of(header, &built.machine))).or_else(|| described(header))
}

/// True when a machine has the CPUs and frequencies of a header.
fn is_of(header: &RunHeader, machine: &pelton_model::Machine) -> bool {
    let cpus = machine.cpus.iter().map(|cpu| (cpu.capacity, cpu.domain));
    let khz = machine.domains.iter().map(|domain| domain.opps.iter().map(|opp| opp.khz));
    cpus.eq(header.cpus.iter().map(|cpu| (cpu.capacity, cpu.domain)))
        && khz.zip(&header.domains).all(|(khz, layout)| khz.eq(layout.opps_khz.iter().copied()))
        && machine.domains.len() == header.domains.len()
}

/// CPUs, frequencies and idle states as the header has them.
fn described(header: &RunHeader) -> Option<Platform> {
    let fits =
        (1..=CPUS_MAX).contains(&header.cpus.len()) && header.domains.iter().all(|d| d.opps_khz.len() <= OPPS_MAX);
    if !fits {
        return None;
    }
    let mut text = String::from(
        "schema = 1\nname = \"recorded\"\ntitle = \"the recorded machine\"\nsoc = \"not known\"\nkind = \"recorded\"\n",
    );
    let told = |name: &str| header.remarks.iter().find_map(|r| r.strip_prefix(name)?.strip_prefix(": "));
    let arch = if header.platform.starts_with("x86") { "x86" } else { "arm64" };
    let _ = writeln!(text, "arch = \"{arch}\"");
    if let Some(ns) = told("cpufreq transition latency ns").and_then(|ns| ns.parse::<u32>().ok()).filter(|&ns| ns > 0) {
        let _ = writeln!(text, "[cpufreq]\ntransition_latency_ns = {ns}");
    }
    for (domain, layout) in header.domains.iter().enumerate() {
        let cpus: Vec<usize> =
            (0..header.cpus.len()).filter(|&cpu| header.cpus[cpu].domain as usize == domain).collect();
        let capacity = cpus.first().map_or(1024, |&cpu| header.cpus[cpu].capacity);
        let khz = if layout.opps_khz.is_empty() { &[KHZ_UNKNOWN][..] } else { &layout.opps_khz };
        let opps: Vec<String> = khz.iter().map(|khz| format!("{{ khz = {khz} }}")).collect();
        if cpus.is_empty() {
            continue;
        }
        let _ = writeln!(text, "[[perf_domain]]\nid = \"d{domain}\"\ncpus = {cpus:?}\ncore = \"not known\"");
        let _ = writeln!(text, "capacity = {capacity}\nopps = [ {} ]", opps.join(", "));
        header.remarks.iter().filter_map(|remark| idle_state(remark)).for_each(|state| text += &state);
    }
    Some(Platform { name: "the machine of the recording".to_owned(), text: Some(text) })
}

/// `idle state: NAME, exit N us, residency N us`, of any CPU.
fn idle_state(remark: &str) -> Option<String> {
    let mut parts = remark.strip_prefix("idle state: ")?.split(", ");
    let name: String = parts.next()?.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    let mut us = |before: &str| parts.next()?.strip_prefix(before)?.strip_suffix(" us")?.parse::<u32>().ok();
    let (exit, residency) = (us("exit ")?, us("residency ")?);
    Some(format!(
        "[[perf_domain.idle_state]]\nname = \"{name}\"\nentry_latency_us = 0\nexit_latency_us = {exit}\nmin_residency_us = {residency}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pelton_trace::{CpuLayout, DomainLayout};

    fn header() -> RunHeader {
        let cpu = |capacity, domain| CpuLayout { capacity, domain };
        let domain = |name: &str, opps: &[u32]| DomainLayout { name: name.to_owned(), opps_khz: opps.to_vec() };
        RunHeader {
            platform: "aarch64 with 3 CPUs".to_owned(),
            cpus: vec![cpu(400, 0), cpu(400, 0), cpu(1024, 1)],
            domains: vec![domain("policy0", &[500_000, 900_000]), domain("policy2", &[600_000, 2_000_000])],
            kernel: "6.1.0".to_owned(),
            remarks: vec!["idle state: C1-\"x, exit 2 us, residency 20 us".to_owned()],
            ..RunHeader::default()
        }
    }

    #[test]
    fn a_recording_is_its_own_platform() {
        let machine = machine(&platform(&header()).expect("a machine")).expect("good").machine;
        assert_eq!(machine.cpus.iter().map(|cpu| cpu.capacity).collect::<Vec<_>>(), [400, 400, 1024]);
        assert_eq!(machine.domains[1].opps.iter().map(|opp| opp.khz).collect::<Vec<_>>(), [600_000, 2_000_000]);
        assert!(machine.domains.iter().all(|d| d.idle_states.iter().any(|state| state.name == "C1-x")));
    }

    #[test]
    fn what_is_no_recording_of_a_machine_is_no_platform() {
        let without = RunHeader { kernel: String::new(), ..header() };
        let empty = RunHeader { cpus: Vec::new(), ..header() };
        assert_eq!((platform(&without), platform(&empty)), (None, None));
        let mut hidden = header();
        hidden.domains.iter_mut().for_each(|domain| domain.opps_khz.clear());
        assert_eq!(machine(&platform(&hidden).expect("a machine")).expect("good").machine.domains[0].opps.len(), 1);
    }
}
