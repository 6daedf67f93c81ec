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

/// Counts of one kind of decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub decisions: u64,
    /// Those during which nothing changed.
    pub quiet: u64,
    /// Quiet ones that come out otherwise.
    pub quiet_divergent: u64,
    /// All that come out otherwise.
    pub divergent: u64,
    /// Those among them that come out as they did with some of the CPUs as they were afterwards: which CPU was read
    /// when is not recorded.
    pub between: u64,
}

impl Tally {
    fn count(&mut self, quiet: bool, equal: bool) {
        self.decisions += 1;
        self.quiet += u64::from(quiet);
        self.divergent += u64::from(!equal);
        self.quiet_divergent += u64::from(quiet && !equal);
    }

    fn explain(&mut self) {
        self.between += 1;
    }
}

/// Differing value: its name, the kernel's value and ours.
type Part = (&'static str, u64, u64);

/// A decision that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// The task.
    pub tid: u64,
    /// True when nothing changed while the kernel decided.
    pub quiet: bool,
    /// Differing values, with the kernel's and ours.
    pub what: Vec<Part>,
    /// Columns of the table that had another value afterwards, with blanks between them; empty where it has none.
    pub changed: String,
    /// The rule that decided here.
    pub how: &'static str,
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

/// Decisions that could read what many machines do not have. Others prove nothing about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// A CPU was in an idle state that takes time to leave.
    pub idle_states: u64,
    /// A CPU's frequency was limited.
    pub pressure: u64,
    /// A CPU had spent time in interrupts.
    pub interrupts: u64,
    /// The task was of SCHED_IDLE.
    pub sched_idle: u64,
    /// The task's queue had another load than its CPU, so it was a group's; only where nothing changed meanwhile.
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

/// Result of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// All decisions.
    pub all: Tally,
    /// By the rule that decides here.
    pub by_rule: BTreeMap<&'static str, Tally>,
    /// Energies that were compared, in quiet decisions.
    pub energies: u64,
    /// Energies among them that differ.
    pub energies_differ: u64,
    /// Utilizations of CPUs (`cpu_util`) that were compared, in quiet decisions.
    pub utils: u64,
    /// Utilizations among them that differ.
    pub utils_differ: u64,
    /// Such values in all decisions: elsewhere a signal may have moved on before it was read.
    pub utils_all: u64,
    /// Those that differ in all decisions.
    pub utils_all_differ: u64,
    /// Those among them whose CPU or task had other signals afterwards.
    pub utils_all_moved: u64,
    /// Requests of CPUs (`effective_cpu_util`, with its bounds) that were compared, in quiet decisions.
    pub effective_utils: u64,
    /// Those among them that differ.
    pub effective_utils_differ: u64,
    /// Inputs that placements could read.
    pub met: Met,
    /// The first differences.
    pub samples: Vec<Difference>,
    /// Kind of decisions in the table.
    pub of: Of,
    /// True when the table has the state of CPUs afterwards.
    pub tells_later: bool,
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
    let mut report = Report { tells_later: table.tells_later(), ..Report::default() };
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
        let is_source_only = matches!(what[..], [(searches::SOURCE, ..)]);
        report.add(Difference {
            line: search.line,
            time_ns: search.time_ns,
            tid: 0,
            quiet: search.quiet && !is_source_only,
            what,
            changed: String::new(),
            how: search.found.how(),
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
            what: again.what,
            changed: String::new(),
            how,
        });
    }
    Ok(report)
}

impl Report {
    fn count(&mut self, record: &Placement, policy: &Policy, said: &Said, placed: &Placed) {
        let mut what = Vec::new();
        if placed.cpu != said.cpu {
            what.push(("cpu", u64::from(said.cpu), u64::from(placed.cpu)));
        }
        let util = self.utils(record, policy, said, placed);
        if said.quiet {
            self.side_effects(record.flags, said, placed, &mut what);
            self.energies(said, placed, &mut what);
            what.extend(util.into_iter().chain(self.effective_utils(record, policy, said)));
        }
        let &Said { line, time_ns, tid, quiet, .. } = said;
        // Most come out as they did, and are not kept.
        let changed = if what.is_empty() { String::new() } else { said.changed.clone() };
        self.add(Difference { line, time_ns, tid, quiet, what, changed, how: placed.how() });
    }

    /// Counts a decision; `difference` has nothing where there is none.
    fn add(&mut self, difference: Difference) {
        let (quiet, equal) = (difference.quiet, difference.what.is_empty());
        self.all.count(quiet, equal);
        self.by_rule.entry(difference.how).or_default().count(quiet, equal);
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
                what.push((name, kernel.into(), ours.into()));
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
            let (kernel, e) =
                first.map_or((said.inner.energies.len() as u64, ours.len() as u64), |(k, e)| (k.energy, e.energy));
            what.push(("energy", kernel, e));
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
        first.map(|(kernel, ours)| ("utilization of a CPU", kernel, ours))
    }

    /// Compares the requests of CPUs; returns the first that differs.
    fn effective_utils(&mut self, record: &Placement, policy: &Policy, said: &Said) -> Option<Part> {
        let pairs = said.inner.effective.iter().map(|effective| (*effective, effective.again(record, policy)));
        let (compared, differ, first) = compared(pairs);
        self.effective_utils += compared;
        self.effective_utils_differ += differ;
        first.map(|(kernel, ours)| ("what a CPU asks for", kernel.effective, ours.effective))
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
