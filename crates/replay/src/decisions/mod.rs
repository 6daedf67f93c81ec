// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded decisions of the core as a scheduler (`pelton live --record`), taken again by the core here.
//! [`pelton_trace::decided`] says what is recorded. What the running kernel computed must be equal in every number.

mod again;
mod table;

pub use again::{Again, Fault};
pub use table::Table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pelton_core::{Placement, Policy};
use pelton_trace::decided::{Call, MACHINE, Machine, Place};
use pelton_trace::import::ImportError;
use schemars::JsonSchema;
use serde::Serialize;

/// Number of differences that are kept.
const SAMPLES_MAX: usize = 20;

/// Counts of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DecisionTally")]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Decisions while another CPU wrote what they read.
    pub not_decided: u64,
    /// Decisions of which a number comes out otherwise.
    pub divergent: u64,
}

/// A number that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DecisionPart")]
pub struct Part {
    /// Column.
    pub what: String,
    /// Number as recorded.
    pub recorded: u64,
    /// Number of the core.
    pub ours: u64,
}

/// A decision that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DecisionDifference")]
pub struct Difference {
    /// Table.
    pub table: &'static str,
    /// Line of the table.
    pub line: u64,
    /// Time, ns.
    pub time_ns: u64,
    /// CPU.
    pub cpu: u32,
    /// Kind of decision.
    pub kind: &'static str,
    /// Numbers that differ.
    pub what: Vec<Part>,
}

/// Counts of decisions of the core as a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DecisionCounts")]
pub struct Report {
    /// All.
    #[serde(flatten)]
    pub all: Tally,
    /// By kind.
    pub by_kind: BTreeMap<&'static str, Tally>,
    /// The first differences, a list of their own in results.
    #[serde(skip)]
    pub samples: Vec<Difference>,
}

/// Folder of a recording, by its name or by that of its `live.json`; `None`: it is none.
#[must_use]
pub fn folder_of(path: &Path) -> Option<PathBuf> {
    let by_file = path.parent().filter(|_| path.file_name().is_some_and(|name| name == MACHINE));
    by_file.or(Some(path)).filter(|folder| folder.join(MACHINE).is_file()).map(Path::to_owned)
}

/// A recording that is read.
pub struct Recording {
    folder: PathBuf,
    /// The machine.
    pub machine: Machine,
    /// Policy of each program.
    pub policies: Vec<Policy>,
    /// A question about the machine, with nothing else in it.
    question: Box<Placement>,
}

impl Recording {
    /// Reads the machine and the policies, with one `fault` put into them.
    ///
    /// # Errors
    /// When the file is missing, is no such file, or says what cannot be.
    pub fn open(path: &Path, fault: Option<&Fault>) -> Result<Recording, ImportError> {
        let folder = folder_of(path).unwrap_or_else(|| path.to_owned());
        let path = folder.join(MACHINE);
        let machine = Machine::read(&path)?;
        let wrong = |why| ImportError::content(&path, why);
        let (mut policies, question) = (machine.policies().map_err(wrong)?, machine.question().map_err(wrong)?);
        if let Some(Fault { name, value, .. }) = fault {
            policies.iter_mut().try_for_each(|policy| policy.set(name, value)).map_err(|why| wrong(why.to_string()))?;
        }
        Ok(Recording { folder, machine, policies, question })
    }

    /// Passes every record of a table to `each`, with its line; false ends it, and is the result.
    ///
    /// # Errors
    /// When the table cannot be read further, or a record has a number that cannot be.
    pub fn each<R: Again>(&self, mut each: impl FnMut(u64, R) -> bool) -> Result<bool, ImportError> {
        let path = self.folder.join(R::TABLE);
        let mut table = Table::<R>::open(&path, self.machine.cpus())?;
        while let Some((line, record)) = table.next(&self.question)? {
            if let Some(what) = record.fault(self) {
                return Err(table.wrong(0, what));
            }
            if !each(line, record) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Takes all decisions of a recording again, with one `fault` in the rules. `watch` is called now and then; false ends
/// it.
///
/// # Errors
/// When the recording cannot be read.
pub fn validate(
    folder: &Path,
    fault: Option<&Fault>,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Report, ImportError> {
    let recording = Recording::open(folder, fault)?;
    let mut report = Report::default();
    if report.all_of::<Call>(&recording, watch)? {
        report.all_of::<Place>(&recording, watch)?;
    }
    Ok(report)
}

impl Report {
    /// Takes the decisions of a table again; false: `watch` ended it.
    fn all_of<R: Again>(
        &mut self,
        recording: &Recording,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, ImportError> {
        recording.each::<R>(|line, record| {
            let what = record.is_known().then(|| record.differs(recording));
            let (time_ns, cpu, kind) = (record.time_ns(), record.cpu(), record.kind());
            self.count(kind, what, |what| Difference { table: R::TABLE, line, time_ns, cpu, kind, what });
            line % 256 != 0 || watch(line)
        })
    }

    fn count(&mut self, kind: &'static str, what: Option<Vec<Part>>, sample: impl FnOnce(Vec<Part>) -> Difference) {
        let of_kind = self.by_kind.entry(kind).or_default();
        for tally in [&mut self.all, of_kind] {
            tally.decisions += 1;
            tally.not_decided += u64::from(what.is_none());
            tally.divergent += u64::from(what.as_ref().is_some_and(|what| !what.is_empty()));
        }
        if let Some(what) = what.filter(|what| !what.is_empty() && self.samples.len() < SAMPLES_MAX) {
            self.samples.push(sample(what));
        }
    }
}
