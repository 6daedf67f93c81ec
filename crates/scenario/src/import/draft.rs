// SPDX-License-Identifier: GPL-2.0-or-later
//! A platform in the making, and its text.

use super::thermal::Zone;
use crate::diagnostic::hides;
use crate::platform::CPUS_MAX;
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
    /// The kernel's Energy Model passes over it; `None` = it does not say.
    pub inefficient: Option<bool>,
}

/// Regular grid of frequencies, of a driver that has no list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Lowest frequency, kHz.
    pub min: u32,
    /// Guaranteed frequency, kHz.
    pub base: Option<u32>,
    /// Highest frequency, kHz.
    pub max: u32,
    /// Step, kHz.
    pub step: u32,
    /// Origin of the step.
    pub why: String,
}

/// First release in which the kernel reports the frequency to its scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariance {
    /// From a release on.
    Since(&'static str),
    /// In no release.
    Never,
}

impl Invariance {
    /// Line of the platform file.
    pub fn words(self) -> String {
        match self {
            Invariance::Since(release) => format!("freq_invariant_since = \"{release}\""),
            Invariance::Never => "freq_invariant = false".to_owned(),
        }
    }
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
    /// Grid, where there are no points.
    pub grid: Option<Grid>,
    /// Highest, nominal and lowest nonlinear performance level.
    pub hwp: [Option<u32>; 3],
    /// Idle states.
    pub idle: Vec<Idle>,
    /// Origin of the figures.
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
    /// Spacing of changes that the driver asks for, us.
    pub transition_delay_us: Option<u64>,
    /// Rate limit of schedutil, us.
    pub rate_limit_us: Option<u64>,
    /// The driver switches from the scheduler's own context; `None` = not known.
    pub fast_switch: Option<bool>,
    /// The driver has no list of frequencies.
    pub no_table: bool,
    /// The driver wants every change of limits.
    pub every_limit_change: bool,
    /// From when on signals are frequency-invariant; `None` = as the architecture is.
    pub freq_invariant: Option<Invariance>,
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
    /// Assumptions where the sources leave something open.
    pub assumed: Vec<String>,
    /// Files and folders it was read from.
    pub sources: Vec<String>,
}

impl Draft {
    /// Says what was assumed, once.
    pub fn assume(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.assumed.contains(&line) {
            self.assumed.push(line);
        }
    }

    /// Takes over what another source knows and this one does not. Domains are matched by their CPUs.
    pub fn fill(&mut self, other: Draft) {
        let empty = |groups: &Vec<Vec<u32>>| groups.is_empty();
        self.arch = self.arch.or(other.arch);
        self.driver = self.driver.take().or(other.driver);
        self.transition_latency_ns = self.transition_latency_ns.or(other.transition_latency_ns);
        self.transition_delay_us = self.transition_delay_us.or(other.transition_delay_us);
        self.rate_limit_us = self.rate_limit_us.or(other.rate_limit_us);
        self.fast_switch = self.fast_switch.or(other.fast_switch);
        self.no_table |= other.no_table;
        self.every_limit_change |= other.every_limit_change;
        self.freq_invariant = self.freq_invariant.or(other.freq_invariant);
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
        let sources = other.sources.join(", ");
        for theirs in other.domains {
            self.fill_domain(theirs, &sources);
        }
        self.domains.sort_by(|a, b| a.cpus.cmp(&b.cpus));
        self.fill_zones(other.zones);
        let new = other.assumed.into_iter().filter(|line| !self.assumed.contains(line)).collect::<Vec<_>>();
        self.assumed.extend(new);
        self.sources.extend(other.sources);
    }

    /// A domain of another source: it is one of these, or several of these make it up as far as its CPUs are here, or
    /// it is new.
    fn fill_domain(&mut self, theirs: Domain, sources: &str) {
        let is_in = |domain: &Domain| domain.cpus.iter().all(|cpu| theirs.cpus.contains(cpu));
        let touches = |domain: &Domain| domain.cpus.iter().any(|cpu| theirs.cpus.contains(cpu));
        if !self.domains.iter().any(touches) {
            self.domains.push(theirs);
        } else if self.domains.iter().all(|domain| is_in(domain) || !touches(domain)) {
            let mut said = Vec::new();
            self.domains
                .iter_mut()
                .filter(|domain| is_in(domain))
                .for_each(|mine| said.extend(mine.fill(theirs.clone())));
            said.into_iter().for_each(|line| self.assume(line));
        } else {
            let own = self.sources.join(", ");
            self.assume(format!("CPUs {:?} of {sources} are no domain of {own}: left out", theirs.cpus));
        }
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
        let mut finished = self.clone();
        finished.finish();
        finished.text()
    }

    fn text(&self) -> String {
        let mut out = String::from("# SPDX-License-Identifier: CC0-1.0\n");
        let _ = writeln!(
            out,
            "# Imported from {}; look through it: what is not here was not known there.",
            one_line(&self.sources.join(", "))
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
        let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} = {value}"));
        // A list that another source gives is not the driver's.
        let by_name =
            |name: &str, value: bool| format!("{name} = {value}  # source: the driver's name, in drivers/cpufreq");
        let lines = [
            self.driver.as_ref().map(|driver| format!("driver = {}", quoted(driver))),
            self.fast_switch.map(|fast| by_name("fast_switch", fast)),
            number("transition_latency_ns", self.transition_latency_ns),
            number("transition_delay_us", self.transition_delay_us),
            number("rate_limit_us", self.rate_limit_us),
            self.no_table.then(|| by_name("frequency_table", false)),
            self.every_limit_change.then(|| by_name("every_limit_change", true)),
            self.freq_invariant.map(Invariance::words),
        ];
        if lines.iter().any(Option::is_some) {
            out.push_str("\n[cpufreq]\n");
            lines.into_iter().flatten().for_each(|line| out.push_str(&(line + "\n")));
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
    /// Takes over what another source knows; what it does not take, in words.
    fn fill(&mut self, other: Domain) -> Vec<String> {
        self.capacity = self.capacity.or(other.capacity);
        self.dmips_mhz = self.dmips_mhz.or(other.dmips_mhz);
        self.coefficient = self.coefficient.or(other.coefficient);
        if self.core.is_empty() {
            self.core = other.core;
        }
        if self.idle.is_empty() {
            self.idle = other.idle;
        }
        for (mine, theirs) in self.hwp.iter_mut().zip(other.hwp) {
            *mine = mine.or(theirs);
        }
        self.source = format!("{}; {}", self.source, other.source);
        if self.opps.is_empty() && self.grid.is_none() {
            (self.opps, self.grid) = (other.opps, other.grid);
            return Vec::new();
        }
        self.fill_points(&other.opps)
    }

    fn fill_points(&mut self, theirs: &[Opp]) -> Vec<String> {
        for opp in &mut self.opps {
            let Some(theirs) = theirs.iter().find(|other| other.khz == opp.khz) else { continue };
            opp.uv = opp.uv.or(theirs.uv);
            opp.power_mw = opp.power_mw.or(theirs.power_mw);
            opp.cluster_mw = opp.cluster_mw.or(theirs.cluster_mw);
            opp.inefficient = opp.inefficient.or(theirs.inefficient);
        }
        let is_new = |other: &&Opp| self.opps.iter().all(|opp| opp.khz != other.khz);
        let left: Vec<String> = theirs.iter().filter(is_new).map(|opp| opp.khz.to_string()).collect();
        let cpus = ranges(&self.cpus);
        let mut said = Vec::new();
        if !left.is_empty() {
            said.push(format!(
                "points of another source that CPUs {cpus} do not have are left out: {} kHz",
                left.join(", ")
            ));
        }
        // A domain's powers are those of all points, or of none.
        let known = self.opps.iter().filter(|opp| opp.power_mw.is_some()).count();
        if known > 0 && known < self.opps.len() {
            said.push(format!("powers of CPUs {cpus} are left out: {known} of {} points have one", self.opps.len()));
            self.opps.iter_mut().for_each(|opp| opp.power_mw = None);
        }
        said
    }

    /// Lowest frequency, kHz.
    pub fn lowest_khz(&self) -> Option<u32> {
        self.opps.first().map(|opp| opp.khz).or(self.grid.as_ref().map(|grid| grid.min))
    }

    /// Highest frequency, kHz.
    pub fn highest_khz(&self) -> Option<u32> {
        self.opps.last().map(|opp| opp.khz).or(self.grid.as_ref().map(|grid| grid.max))
    }

    fn frequencies(&self, source: &str, out: &mut String) {
        if let Some(grid) = self.grid.as_ref().filter(|_| self.opps.is_empty()) {
            let _ = writeln!(out, "# kHz: source: {source}, of the ends\nkhz_min = {}", grid.min);
            if let Some(base) = grid.base {
                let _ = writeln!(out, "khz_base = {base}  # source: {source}");
            }
            let _ = writeln!(out, "khz_max_turbo = {}  # source: {source}", grid.max);
            let _ = writeln!(out, "khz_step = {}  # ESTIMATE: {}", grid.step, one_line(&grid.why));
        }
        if !self.opps.is_empty() {
            let _ = writeln!(out, "# OPPs: source: {source}\nopps = [");
            self.opps.iter().for_each(|opp| out.push_str(&opp.toml()));
            out.push_str("]\n");
        }
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
        for (level, value) in ["highest", "nominal", "lowest_nonlinear"].into_iter().zip(self.hwp) {
            if let Some(value) = value {
                let _ = writeln!(out, "hwp_{level}_perf = {value}");
            }
        }
        self.frequencies(&source, out);
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
        parts.extend(self.inefficient.map(|inefficient| format!("inefficient = {inefficient}")));
        format!("  {{ {} }},\n", parts.join(", "))
    }
}

/// Ascending, and each frequency once.
pub fn sorted(mut opps: Vec<Opp>) -> Vec<Opp> {
    opps.sort_by_key(|opp| opp.khz);
    opps.dedup_by_key(|opp| opp.khz);
    opps
}

/// From shallow to deep, whatever order the source has, and each with a name of its own.
pub fn in_order(mut states: Vec<Idle>) -> Vec<Idle> {
    states.sort_by_key(|state| (state.residency_us, state.exit_us));
    let names: Vec<String> = states.iter().map(|state| state.name.clone()).collect();
    for (at, state) in states.iter_mut().enumerate() {
        let before = names[..at].iter().filter(|name| **name == state.name).count();
        if before > 0 {
            state.name = format!("{}-{}", state.name, before + 1);
        }
    }
    states
}

/// Frequencies that CPUs have, kHz.
pub const KHZ: &str = "1000..=20000000 kHz";

/// A frequency that a CPU can have.
pub fn khz_of(khz: u64) -> Option<u32> {
    u32::try_from(khz).ok().filter(|khz| (1_000..=20_000_000).contains(khz))
}

/// Largest CPU number that a source may name; files number CPUs anew.
pub const CPU_NUMBER_MAX: u32 = 65_535;

/// CPU numbers of a list as the kernel prints it: `0-3,6`, or `0 1 2`.
pub fn list(text: &str) -> Option<Vec<u32>> {
    // A list may name the same CPUs again and again.
    let mut is_named = vec![false; CPU_NUMBER_MAX as usize + 1];
    for part in text.trim().split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last > CPU_NUMBER_MAX || first > last {
            return None;
        }
        is_named[first as usize..=last as usize].fill(true);
    }
    let cpus: Vec<u32> = (0..).zip(is_named).filter_map(|(cpu, named)| named.then_some(cpu)).collect();
    (1..=CPUS_MAX).contains(&cpus.len()).then_some(cpus)
}

/// Numbers in ascending order as the kernel prints a list: `0-3,6`.
pub fn ranges(cpus: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => runs.push((cpu, cpu)),
        }
    }
    let words = |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(words).collect::<Vec<_>>().join(",")
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

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn a_list_of_cpus_is_as_long_as_there_are_cpus() {
        assert_eq!(list("6,0-3 2-4\n"), Some(vec![0, 1, 2, 3, 4, 6]));
        assert_eq!([list("3-1"), list("0-65536"), list("a"), list(",")], [None, None, None, None]);
        assert_eq!(list(&"64512-65535,".repeat(5_000)).map(|cpus| cpus.len()), Some(1024));
        assert_eq!([list("0-1024"), list(&"0-65535,".repeat(8_000))], [None, None]);
    }
}
