// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded placements of a real kernel, decided again by the core from what the kernel read.
//!
//! A recording has the state before a decision and what of it changed until the decision was made. Where nothing
//! changed (`quiet`), the core must choose the same CPU, for the same reason, with the same energies. Elsewhere the
//! kernel may have read either state: a difference proves nothing.

mod fault;
mod gates;
mod inner;
mod searches;
mod table;
mod topology;

pub use fault::Fault;
pub use gates::{Gate, Gates, Head, Level};
pub use inner::{Inner, KernelEffective, KernelEnergy, KernelUtil};
pub use searches::{Found, Search, Searches};
pub use table::{Decisions, Said};
pub use topology::{Topology, beside};

use std::collections::BTreeMap;
use std::path::Path;

use pelton_core::{Lb, NO_IDLE_STATE, PlaceCpu, Placed, Placement, Policy, sd, wf};
use pelton_trace::import::{ImportError, open_bytes};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::BufRead;

/// Is this the first line of a table of placements, of searches of balances, or of gates?
#[must_use]
pub fn is_header(first_bytes: &[u8]) -> bool {
    table::is_header(first_bytes) || searches::is_header(first_bytes) || gates::is_header(first_bytes)
}

/// Of CPUs that changed the first so many are taken as they were before or afterwards, in all ways.
const LATER_MAX: usize = 10;
/// Number of differences that are kept.
const SAMPLES_MAX: usize = 20;

/// Counts of placements of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlacementTally")]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Those while nothing that was recorded changed.
    pub quiet: u64,
    /// Quiet ones that differ.
    pub quiet_divergent: u64,
    /// All that differ.
    pub divergent: u64,
    /// Those among them that come out as they did with some of the CPUs as they were afterwards; null where the table
    /// does not show that.
    pub between: Option<u64>,
}

impl Tally {
    fn count(&mut self, quiet: bool, equal: bool) {
        self.decisions += 1;
        self.quiet += u64::from(quiet);
        self.divergent += u64::from(!equal);
        self.quiet_divergent += u64::from(quiet && !equal);
    }

    /// Counts one that comes out with CPUs as they were afterwards: which CPU was read when is not recorded.
    fn explain(&mut self) {
        *self.between.get_or_insert(0) += 1;
    }
}

/// A part of a placement that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlacementPart")]
pub struct Part {
    /// Name of the part.
    pub what: &'static str,
    /// The kernel's.
    pub kernel: u64,
    /// Ours.
    pub ours: u64,
}

/// A placement that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlacementDifference")]
pub struct Difference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns on the trace's clock.
    pub time_ns: u64,
    /// Task.
    pub tid: u64,
    /// Nothing that was recorded changed meanwhile.
    pub quiet: bool,
    /// Rule that decides here.
    pub rule: &'static str,
    /// Parts that differ.
    pub what: Vec<Part>,
    /// Columns of the table that had another value afterwards; empty where it does not show that.
    pub changed: Vec<String>,
}

/// Kind of decisions in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Placements.
    #[default]
    Placements,
    /// Searches of balances.
    Searches,
    /// Gates of balances.
    Gates,
}

impl Of {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Of::Placements => "placements",
            Of::Searches => "searches",
            Of::Gates => "gates",
        }
    }
}

/// Placements that could read what many machines do not have; the others prove nothing about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlacementsMet")]
pub struct Met {
    /// Some CPU was in an idle state that takes time to leave.
    pub idle_states: u64,
    /// Some CPU's frequency was limited.
    pub pressure: u64,
    /// Some CPU had spent time in interrupts.
    pub interrupts: u64,
    /// The task was of SCHED_IDLE.
    pub sched_idle: u64,
    /// The task's queue had another load than its CPU, so it was a group's; counted in quiet decisions only.
    pub groups: u64,
    /// A domain of the executing CPU spans nodes.
    pub nodes: u64,
}

impl Met {
    fn count(&mut self, record: &Placement, quiet: bool) {
        let any = |has: fn(&PlaceCpu) -> bool| u64::from(record.cpus[..record.nr_cpus as usize].iter().any(has));
        self.idle_states += any(|c| ![0, NO_IDLE_STATE].contains(&c.exit_latency_ns));
        self.pressure += any(|c| c.cpufreq_pressure > 0 || c.hw_pressure > 0);
        self.interrupts += any(|c| c.state.util_irq > 0);
        self.sched_idle += u64::from(record.task.sched_idle != 0);
        // Looks of a moment in which loads change do not distinguish queues.
        let own = record.cpus[record.task.cpu as usize].load;
        self.groups += u64::from(quiet && record.task.queue_load != own);
        let here = &record.cpus[record.this_cpu as usize];
        let mut domains = here.domains[..here.nr_domains as usize].iter();
        self.nodes += u64::from(domains.any(|domain| domain.flags & sd::NUMA != 0));
    }
}

/// Counts of placements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlacementCounts")]
pub struct Report {
    /// All.
    #[serde(flatten)]
    pub all: Tally,
    /// By the rule that decides.
    pub by_rule: BTreeMap<&'static str, Tally>,
    /// Energies compared.
    pub energies: u64,
    /// Energies that differ.
    pub energies_differ: u64,
    /// Utilizations of CPUs (`cpu_util`) compared, in quiet decisions.
    pub utils: u64,
    /// Those that differ.
    pub utils_differ: u64,
    /// Utilizations of CPUs compared, in all decisions.
    pub utils_all: u64,
    /// Those that differ.
    pub utils_all_differ: u64,
    /// Those that differ and whose CPU or task had other signals afterwards.
    pub utils_all_moved: u64,
    /// Requests of CPUs, with their bounds (`effective_cpu_util`), compared, in quiet decisions.
    pub effective_utils: u64,
    /// Those that differ.
    pub effective_utils_differ: u64,
    /// Those that could read what many machines do not have.
    pub met: Met,
    /// The first differences, a list of their own in results.
    #[serde(skip)]
    pub samples: Vec<Difference>,
    /// Kind of decisions in the table, a word in results.
    #[serde(skip)]
    pub of: Of,
}

/// Decides a whole recording again, each record first altered by `fault`. `watch` is called now and then; false ends
/// it.
///
/// # Errors
/// When the recording or its machine cannot be read.
pub fn validate(
    path: &Path,
    policy: &Policy,
    fault: Option<Fault>,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let topology = Topology::read(&beside(path))?;
    let mut bytes = open_bytes(path)?;
    if bytes.fill_buf().is_ok_and(searches::is_header) {
        return search_again(Searches::new(path, bytes, &topology, policy)?, policy, fault, watch);
    }
    if bytes.fill_buf().is_ok_and(gates::is_header) {
        return gates_again(Gates::new(path, bytes, &topology, policy)?, *policy, fault, watch);
    }
    let mut table = Decisions::new(path, bytes, &topology, policy)?;
    let mut report = Report::default();
    let mut placed = Box::<Placed>::default();
    let mut altered = Box::default();
    while let Some((record, said)) = table.next_decision()? {
        if report.all.decisions.is_multiple_of(1024) && !watch(said.line) {
            break;
        }
        let record = with(record, fault, &mut altered);
        report.met.count(record, said.quiet);
        record.select(policy, &mut placed);
        report.count(record, policy, &said, &placed);
        let how = placed.how();
        if placed.cpu != said.cpu && fault.is_none() && is_between(record, &said, policy, &mut placed) {
            report.all.explain();
            report.by_rule.entry(how).or_default().explain();
        }
    }
    if table.tells_later() {
        let tallies = report.by_rule.values_mut().chain([&mut report.all]);
        tallies.for_each(|tally| _ = tally.between.get_or_insert(0));
    }
    Ok(report)
}

/// Does the task go where it went with some of the CPUs as they were afterwards?
fn is_between(record: &Placement, said: &Said, policy: &Policy, placed: &mut Placed) -> bool {
    let later = &said.later[..said.later.len().min(LATER_MAX)];
    let mut mixed = Box::new(*record);
    (1..1u32 << later.len()).any(|chosen| {
        mixed.cpus = record.cpus;
        for (_, (cpu, row)) in later.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1) {
            mixed.cpus[*cpu as usize] = *row;
        }
        mixed.select(policy, placed);
        placed.cpu == said.cpu
    })
}

/// The record, or what a fault makes of it.
fn with<'a>(record: &'a Placement, fault: Option<Fault>, altered: &'a mut Box<Placement>) -> &'a Placement {
    let Some(fault) = fault else { return record };
    **altered = *record;
    fault.put(altered);
    altered
}

/// Decides searches of balances again.
fn search_again(
    mut table: Searches,
    policy: &Policy,
    fault: Option<Fault>,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let mut report = Report { of: Of::Searches, ..Report::default() };
    let (mut altered, mut lb) = (Box::default(), Lb::default());
    while let Some((record, search)) = table.next_search()? {
        if report.all.decisions.is_multiple_of(1024) && !watch(search.line) {
            break;
        }
        let ours = searches::again(with(record, fault, &mut altered), &search, policy, &mut lb);
        let what = search.found.differs(&ours);
        // The CPU is chosen behind the second look: nothing shows that what it read was still so.
        let is_source_only = matches!(what[..], [Part { what: searches::SOURCE, .. }]);
        report.add(Difference {
            line: search.line,
            time_ns: search.time_ns,
            tid: 0,
            quiet: search.quiet && !is_source_only,
            rule: search.found.how(),
            what,
            changed: Vec::new(),
        });
    }
    Ok(report)
}

/// Decides gates again.
fn gates_again(
    mut table: Gates,
    mut policy: Policy,
    fault: Option<Fault>,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let mut report = Report { of: Of::Gates, ..Report::default() };
    if let Some(fault) = fault {
        fault.put_rules(&mut policy);
    }
    while let Some(mut gate) = table.next_gate()? {
        if report.all.decisions.is_multiple_of(1024) && !watch(gate.line) {
            break;
        }
        let how = gate.how();
        if let Some(fault) = fault {
            fault.put_gate(&mut gate);
        }
        let (machine, hz) = table.machine();
        let again = gates::Again::of(&gate, &policy, machine, hz);
        let (line, time_ns, tid) = (gate.line, gate.head.ts0, gate.head.cpu);
        report.add(Difference {
            line,
            time_ns,
            tid,
            quiet: again.quiet,
            rule: how,
            what: again.what,
            changed: Vec::new(),
        });
    }
    Ok(report)
}

impl Report {
    fn count(&mut self, record: &Placement, policy: &Policy, said: &Said, placed: &Placed) {
        let mut what = Vec::new();
        if placed.cpu != said.cpu {
            what.push(Part { what: "cpu", kernel: said.cpu.into(), ours: placed.cpu.into() });
        }
        let util = self.utils(record, policy, said, placed);
        if said.quiet {
            self.side_effects(record.flags, said, placed, &mut what);
            self.energies(said, placed, &mut what);
            what.extend(util.into_iter().chain(self.effective_utils(record, policy, said)));
        }
        let &Said { line, time_ns, tid, quiet, .. } = said;
        // Most come out as they did, and are not kept.
        let changed = if what.is_empty() { "" } else { said.changed.as_str() };
        let changed = changed.split_ascii_whitespace().map(str::to_owned).collect();
        self.add(Difference { line, time_ns, tid, quiet, rule: placed.how(), what, changed });
    }

    /// Counts a decision; `difference` has nothing where there is none.
    fn add(&mut self, difference: Difference) {
        let (quiet, equal) = (difference.quiet, difference.what.is_empty());
        self.all.count(quiet, equal);
        self.by_rule.entry(difference.rule).or_default().count(quiet, equal);
        if !equal && (quiet || self.samples.len() < SAMPLES_MAX) {
            // A quiet difference is worth more than any other: it comes first.
            let at = if quiet { self.samples.iter().position(|d| !d.quiet) } else { None };
            self.samples.insert(at.unwrap_or(self.samples.len()), difference);
            self.samples.truncate(SAMPLES_MAX);
        }
    }

    /// Compares what the kernel remembers of a wake-up.
    fn side_effects(&self, flags: u32, said: &Said, placed: &Placed, what: &mut Vec<Part>) {
        if flags & wf::TTWU == 0 {
            return;
        }
        for (name, kernel, ours) in [
            ("recent CPU afterwards", said.recent_cpu, placed.recent_cpu),
            ("partners of the waker afterwards", said.waker_flips, placed.waker_flips),
        ] {
            if kernel != ours {
                what.push(Part { what: name, kernel: kernel.into(), ours: ours.into() });
            }
        }
    }

    fn energies(&mut self, said: &Said, placed: &Placed, what: &mut Vec<Part>) {
        if said.inner.energies.is_empty() {
            return;
        }
        let ours = placed.energies();
        self.energies += said.inner.energies.len() as u64;
        let equal = |(kernel, e): (&KernelEnergy, &pelton_core::PlaceEnergy)| {
            (kernel.cpu, kernel.energy, kernel.max_util, kernel.busy)
                == (e.cpu, e.energy, u64::from(e.max_util), u64::from(e.busy))
        };
        let same = said.inner.energies.iter().zip(ours).filter(|&pair| equal(pair)).count();
        let differ = said.inner.energies.len().max(ours.len()) - same;
        self.energies_differ += differ as u64;
        if differ > 0 {
            let first = said.inner.energies.iter().zip(ours).find(|&pair| !equal(pair));
            let (kernel, ours) =
                first.map_or((said.inner.energies.len() as u64, ours.len() as u64), |(k, e)| (k.energy, e.energy));
            what.push(Part { what: "energy", kernel, ours });
        }
    }

    /// Utilizations; the first that differs.
    fn utils(&mut self, record: &Placement, policy: &Policy, said: &Said, placed: &Placed) -> Option<Part> {
        let pairs = said.inner.utils.iter().map(|util| (util.util, util.again(record, policy, placed)));
        let (compared, differ, first) = compared(pairs);
        self.utils_all += compared;
        self.utils_all_differ += differ;
        let moved = |util: &&KernelUtil| util.is_moving(said) && util.again(record, policy, placed) != util.util;
        self.utils_all_moved += said.inner.utils.iter().filter(moved).count() as u64;
        if said.quiet {
            self.utils += compared;
            self.utils_differ += differ;
        }
        first.map(|(kernel, ours)| Part { what: "utilization of a CPU", kernel, ours })
    }

    /// Compares the requests of CPUs; returns the first that differs.
    fn effective_utils(&mut self, record: &Placement, policy: &Policy, said: &Said) -> Option<Part> {
        let pairs = said.inner.effective.iter().map(|effective| (*effective, effective.again(record, policy)));
        let (compared, differ, first) = compared(pairs);
        self.effective_utils += compared;
        self.effective_utils_differ += differ;
        first.map(|(kernel, ours)| Part { what: "what a CPU asks for", kernel: kernel.effective, ours: ours.effective })
    }
}

/// Number of pairs, number of unequal ones among them, and the first of those.
fn compared<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> (u64, u64, Option<(T, T)>) {
    let (mut all, mut differ, mut first) = (0, 0, None);
    for (kernel, ours) in pairs {
        all += 1;
        if kernel != ours {
            differ += 1;
            first.get_or_insert((kernel, ours));
        }
    }
    (all, differ, first)
}
