// SPDX-License-Identifier: GPL-2.0-only
//! A platform in the making, and its text.

use super::thermal::Zone;
use crate::diagnostic::hides;
use std::fmt::Write as _;

/// Operating point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opp {
    /// Frequency, kHz.
    pub khz: u32,
    /// Voltage, uV.
    pub uv: Option<u32>,
    /// Power of one busy CPU, mW.
    pub power_mw: Option<f64>,
    /// Power of what its cluster shares, mW.
    pub cluster_mw: Option<f64>,
}

/// Idle state below state 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idle {
    /// Name.
    pub name: String,
    /// Time to enter, us.
    pub entry_us: u64,
    /// Time to leave, us.
    pub exit_us: u64,
    /// Shortest stay that pays, us.
    pub residency_us: u64,
    /// Worst time from event to execution, us.
    pub wakeup_us: Option<u64>,
    /// One of a whole power domain, not of a CPU.
    pub shared: bool,
}

/// CPUs at one frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Domain {
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Kind of CPU; empty = not known.
    pub core: String,
    /// Capacity at the highest frequency.
    pub capacity: Option<u32>,
    /// Device tree: capacity-dmips-mhz.
    pub dmips_mhz: Option<u64>,
    /// Device tree: dynamic-power-coefficient.
    pub coefficient: Option<u64>,
    /// Each CPU has its own frequency.
    pub per_cpu: bool,
    /// Operating points.
    pub opps: Vec<Opp>,
    /// Idle states.
    pub idle: Vec<Idle>,
    /// Where the figures come from.
    pub source: String,
}

/// A platform in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Short name.
    pub name: String,
    /// One line; empty = not known.
    pub title: String,
    /// `arm64` or `x86`; `None` = not known.
    pub arch: Option<&'static str>,
    /// Frequency driver.
    pub driver: Option<String>,
    /// Its reported latency, ns.
    pub transition_latency_ns: Option<u64>,
    /// Hardware threads of one core.
    pub smt: Vec<Vec<u32>>,
    /// CPUs that power down together.
    pub clusters: Vec<Vec<u32>>,
    /// CPUs that share a last-level cache.
    pub llc: Vec<Vec<u32>>,
    /// CPUs of each memory node, when there are several.
    pub nodes: Vec<Vec<u32>>,
    /// Distances between them, a row each.
    pub node_distances: Vec<Vec<u32>>,
    /// Domains.
    pub domains: Vec<Domain>,
    /// Thermal zones.
    pub zones: Vec<Zone>,
    /// What the sources leave open and what was taken.
    pub assumed: Vec<String>,
    /// Files and folders it was read from.
    pub sources: Vec<String>,
}

impl Draft {
    /// Takes over what another source knows and this one does not. Domains are matched by their CPUs.
    pub fn fill(&mut self, other: Draft) {
        let empty = |groups: &Vec<Vec<u32>>| groups.is_empty();
        self.arch = self.arch.or(other.arch);
        self.driver = self.driver.take().or(other.driver);
        self.transition_latency_ns = self.transition_latency_ns.or(other.transition_latency_ns);
        for (mine, theirs) in [
            (&mut self.smt, other.smt),
            (&mut self.clusters, other.clusters),
            (&mut self.llc, other.llc),
            (&mut self.nodes, other.nodes),
            (&mut self.node_distances, other.node_distances),
        ] {
            if empty(mine) {
                *mine = theirs;
            }
        }
        if self.title.is_empty() {
            self.title = other.title;
        }
        for theirs in other.domains {
            let is_new = theirs.cpus.iter().all(|cpu| self.domains.iter().all(|d| !d.cpus.contains(cpu)));
            match self.domains.iter_mut().find(|d| d.cpus == theirs.cpus) {
                Some(mine) => mine.fill(theirs),
                None if is_new => {
                    self.domains.push(theirs);
                }
                None => self.assumed.push(format!(
                    "CPUs {:?} of {} are no domain of {}: left out",
                    theirs.cpus,
                    other.sources.join(", "),
                    self.sources.join(", ")
                )),
            }
        }
        self.domains.sort_by(|a, b| a.cpus.cmp(&b.cpus));
        self.fill_zones(other.zones);
        let new = other.assumed.into_iter().filter(|line| !self.assumed.contains(line)).collect::<Vec<_>>();
        self.assumed.extend(new);
        self.sources.extend(other.sources);
    }

    /// Zones of another source, where this one has none and has their domains.
    fn fill_zones(&mut self, theirs: Vec<Zone>) {
        if !self.zones.is_empty() {
            return;
        }
        let is_whole = |zone: &Zone, domain: &Domain| {
            let inside = domain.cpus.iter().filter(|cpu| zone.cpus.contains(cpu)).count();
            inside == 0 || inside == domain.cpus.len() || domain.per_cpu
        };
        for zone in theirs {
            if self.domains.iter().all(|domain| is_whole(&zone, domain)) {
                self.zones.push(zone);
            } else {
                self.assumed.push(format!("thermal zone {} is no union of domains here: left out", zone.id));
            }
        }
    }

    /// The platform file.
    pub fn toml(&self) -> String {
        let mut out = String::from("# SPDX-License-Identifier: CC0-1.0\n");
        let _ = writeln!(
            out,
            "# Imported from {}; look through it: what is not here was not known there.",
            self.sources.join(", ")
        );
        for line in &self.assumed {
            let _ = writeln!(out, "# ASSUMED: {}", one_line(line));
        }
        let _ = writeln!(out, "schema = 1\nname = {}", quoted(&short_name(&self.name)));
        let title = if self.title.is_empty() { &self.name } else { &self.title };
        let _ = writeln!(out, "title = {}\nsoc = \"not known\"\nkind = \"imported\"", quoted(title));
        if let Some(arch) = self.arch {
            let _ = writeln!(out, "arch = \"{arch}\"");
        }
        let _ = writeln!(out, "\n[provenance]\nimported_from = {}", quoted(&self.sources.join(", ")));
        self.cpufreq(&mut out);
        self.topology(&mut out);
        for (at, domain) in self.domains.iter().enumerate() {
            domain.toml(at, &mut out);
        }
        self.zones.iter().for_each(|zone| zone.toml("device tree", &mut out));
        out
    }

    fn cpufreq(&self, out: &mut String) {
        if self.driver.is_none() && self.transition_latency_ns.is_none() {
            return;
        }
        out.push_str("\n[cpufreq]\n");
        if let Some(driver) = &self.driver {
            let _ = writeln!(out, "driver = {}", quoted(driver));
        }
        if let Some(ns) = self.transition_latency_ns {
            let _ = writeln!(out, "transition_latency_ns = {ns}");
        }
    }

    fn topology(&self, out: &mut String) {
        let groups = [
            ("smt", &self.smt),
            ("clusters", &self.clusters),
            ("llc", &self.llc),
            ("nodes", &self.nodes),
            ("node_distances", &self.node_distances),
        ];
        if groups.iter().all(|(_, groups)| groups.is_empty()) {
            return;
        }
        out.push_str("\n[topology]\n");
        for (name, groups) in groups.into_iter().filter(|(_, groups)| !groups.is_empty()) {
            let _ = writeln!(out, "{name} = {groups:?}");
        }
    }
}

impl Domain {
    fn fill(&mut self, other: Domain) {
        self.capacity = self.capacity.or(other.capacity);
        self.dmips_mhz = self.dmips_mhz.or(other.dmips_mhz);
        self.coefficient = self.coefficient.or(other.coefficient);
        if self.core.is_empty() {
            self.core = other.core;
        }
        if self.idle.is_empty() {
            self.idle = other.idle;
        }
        if self.opps.is_empty() {
            self.opps = other.opps;
        } else {
            for opp in &mut self.opps {
                let Some(theirs) = other.opps.iter().find(|o| o.khz == opp.khz) else { continue };
                opp.uv = opp.uv.or(theirs.uv);
                opp.power_mw = opp.power_mw.or(theirs.power_mw);
                opp.cluster_mw = opp.cluster_mw.or(theirs.cluster_mw);
            }
        }
        self.source = format!("{}; {}", self.source, other.source);
    }

    fn toml(&self, at: usize, out: &mut String) {
        let core = if self.core.is_empty() { "not known" } else { &self.core };
        let _ = writeln!(out, "\n[[perf_domain]]\nid = \"d{at}\"\ncpus = {:?}\ncore = {}", self.cpus, quoted(core));
        let source = one_line(&self.source);
        let mut figure = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                let _ = writeln!(out, "{name} = {value}  # source: {source}");
            }
        };
        figure("capacity", self.capacity.map(u64::from));
        figure("capacity_dmips_mhz", self.dmips_mhz);
        figure("dynamic_power_coefficient", self.coefficient);
        if self.per_cpu {
            out.push_str("per_cpu_policy = true\n");
        }
        if !self.opps.is_empty() {
            let _ = writeln!(out, "# OPPs: source: {source}\nopps = [");
            self.opps.iter().for_each(|opp| out.push_str(&opp.toml()));
            out.push_str("]\n");
        }
        for state in &self.idle {
            let _ = writeln!(out, "\n  [[perf_domain.idle_state]]\n  name = {}", quoted(&state.name));
            let _ = writeln!(out, "  entry_latency_us = {}\n  exit_latency_us = {}", state.entry_us, state.exit_us);
            let _ = writeln!(out, "  min_residency_us = {}  # source: {source}", state.residency_us);
            if let Some(us) = state.wakeup_us {
                let _ = writeln!(out, "  wakeup_latency_us = {us}");
            }
            if state.shared {
                out.push_str("  scope = \"power-domain\"\n");
            }
        }
    }
}

impl Opp {
    fn toml(&self) -> String {
        let mut parts = vec![format!("khz = {}", self.khz)];
        parts.extend(self.uv.map(|uv| format!("uv = {uv}")));
        parts.extend(self.power_mw.map(|mw| format!("power_mw = {mw:?}")));
        parts.extend(self.cluster_mw.map(|mw| format!("cluster_power = {mw:?}")));
        format!("  {{ {} }},\n", parts.join(", "))
    }
}

/// Ascending, and each frequency once.
pub fn sorted(mut opps: Vec<Opp>) -> Vec<Opp> {
    opps.sort_by_key(|opp| opp.khz);
    opps.dedup_by_key(|opp| opp.khz);
    opps
}

/// CPU numbers of a list as the kernel prints it: `0-3,6`, or `0 1 2`.
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last >= crate::platform::CPUS_MAX as u32 || first > last {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

fn one_line(text: &str) -> String {
    let shown = |c: char| match c {
        _ if c.is_control() => " ".to_owned(),
        _ if hides(c) => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    };
    text.chars().map(shown).collect()
}

fn quoted(text: &str) -> String {
    toml::Value::String(one_line(text)).to_string()
}

/// Lower case, digits and `-`, as platform names are.
fn short_name(text: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(word).collect();
    let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    if name.is_empty() { "imported".to_owned() } else { name }
}
