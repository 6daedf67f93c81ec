// SPDX-License-Identifier: GPL-2.0-only
//! Recorded placements of a real kernel, decided again by the core from what the kernel read.
//!
//! A recording has the state before a decision and what of it changed until the decision was made. Where nothing changed
//! (`quiet`), the core must choose the same CPU, for the same reason, with the same energies. Elsewhere the kernel may have
//! read either state: a difference proves nothing.

mod fault;
mod table;
mod topology;

pub use fault::Fault;
pub use table::{Decisions, KernelEnergy, Said, is_header};
pub use topology::{Topology, beside};

use std::collections::BTreeMap;
use std::path::Path;

use pelton_core::{Placed, Policy, wf};
use pelton_trace::import::{ImportError, open_bytes};

/// How many differences are kept.
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
}

impl Tally {
    fn count(&mut self, quiet: bool, equal: bool) {
        self.decisions += 1;
        self.quiet += u64::from(quiet);
        self.divergent += u64::from(!equal);
        self.quiet_divergent += u64::from(quiet && !equal);
    }
}

/// A decision that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// The task.
    pub tid: u64,
    /// Nothing changed meanwhile.
    pub quiet: bool,
    /// What differs, with both values.
    pub what: Vec<(&'static str, u64, u64)>,
    /// The rule that decided here.
    pub how: &'static str,
}

/// What came out of a recording.
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
    /// The first differences.
    pub samples: Vec<Difference>,
}

/// Decides a whole recording again, each record first altered by `fault`. `watch` is called now and then; false ends it.
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
    let mut table = Decisions::new(path, open_bytes(path)?, &topology)?;
    let mut report = Report::default();
    let mut placed = Box::<Placed>::default();
    while let Some((record, said)) = table.next_decision()? {
        if report.all.decisions % 1024 == 0 && !watch(said.line) {
            break;
        }
        let mut altered;
        let record = match fault {
            None => &*record,
            Some(fault) => {
                altered = Box::new(*record);
                fault.put(&mut altered);
                &*altered
            }
        };
        record.select(policy, &mut placed);
        report.count(record.flags, &said, &placed);
    }
    Ok(report)
}

impl Report {
    fn count(&mut self, flags: u32, said: &Said, placed: &Placed) {
        let mut what = Vec::new();
        if placed.cpu != said.cpu {
            what.push(("cpu", u64::from(said.cpu), u64::from(placed.cpu)));
        }
        if said.quiet {
            self.side_effects(flags, said, placed, &mut what);
            self.energies(said, placed, &mut what);
        }
        let equal = what.is_empty();
        self.all.count(said.quiet, equal);
        self.by_rule.entry(placed.how()).or_default().count(said.quiet, equal);
        if !equal && (said.quiet || self.samples.len() < SAMPLES_MAX) {
            let difference = Difference {
                line: said.line,
                time_ns: said.time_ns,
                tid: said.tid,
                quiet: said.quiet,
                what,
                how: placed.how(),
            };
            // A quiet difference is worth more than any other: it comes first.
            let at = if said.quiet { self.samples.iter().position(|d| !d.quiet) } else { None };
            self.samples.insert(at.unwrap_or(self.samples.len()), difference);
            self.samples.truncate(SAMPLES_MAX);
        }
    }

    /// What the kernel remembers of a wake-up.
    fn side_effects(&self, flags: u32, said: &Said, placed: &Placed, what: &mut Vec<(&'static str, u64, u64)>) {
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

    fn energies(&mut self, said: &Said, placed: &Placed, what: &mut Vec<(&'static str, u64, u64)>) {
        if said.energies.is_empty() {
            return;
        }
        let ours = placed.energies();
        self.energies += said.energies.len() as u64;
        let equal = |(kernel, e): (&KernelEnergy, &pelton_core::PlaceEnergy)| {
            (kernel.cpu, kernel.energy, kernel.max_util, kernel.busy)
                == (e.cpu, e.energy, u64::from(e.max_util), u64::from(e.busy))
        };
        let same = said.energies.iter().zip(ours).filter(|&pair| equal(pair)).count();
        let differ = said.energies.len().max(ours.len()) - same;
        self.energies_differ += differ as u64;
        if differ > 0 {
            let first = said.energies.iter().zip(ours).find(|&pair| !equal(pair));
            let (kernel, e) =
                first.map_or((said.energies.len() as u64, ours.len() as u64), |(k, e)| (k.energy, e.energy));
            what.push(("energy", kernel, e));
        }
    }
}
