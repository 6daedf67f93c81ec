// SPDX-License-Identifier: GPL-2.0-or-later
//! Experiments as data: what a file in `scenarios/published/` may say.
//!
//! A file names one platform, workloads, variants (switches on top of a profile), and the printed rows with their
//! tolerances. Printed numbers live in `published` fields only; nothing reads those to build a run.

use super::table::Role;
use crate::plan::MachineChanges;
use pelton_scenario::SourceFile;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Most seeds of a table.
pub const SEEDS_MAX: u64 = 10_000;

/// One published experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Version of this format.
    pub schema: u32,
    /// Name of the table.
    pub table: String,
    /// One line: what the experiment shows.
    pub why: String,
    /// Author, place and date of the published numbers.
    pub source: String,
    /// Platform name.
    pub platform: String,
    /// Kernel profile of every variant.
    pub profile: String,
    /// Length of one run, s.
    pub duration_s: f64,
    /// Timer interrupts per second.
    pub hz: u32,
    /// Repetitions: seeds 1..=seeds.
    pub seeds: u64,
    /// Most of them in a run that is not asked for all, where a verdict needs so many.
    pub default_seeds: Option<u64>,
    /// Runs that one printed number stands for, where the source says it: 1, or the number that it is the mean of.
    pub printed_runs: Option<u64>,
    /// Switches set on top of the profile in every variant: what sets a release without a profile of its own apart.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Properties of the machine that differ from the platform file.
    #[serde(default)]
    pub machine: MachineChanges,
    /// Our choices where the source leaves something open, by topic.
    pub assumptions: BTreeMap<String, String>,
    /// Inputs that were inferred, and the rows that they were inferred from, in words.
    pub calibration: String,
    /// Models that run beside every workload that is not `alone`, joined by `+`.
    pub background: Option<String>,
    /// Workloads, by name.
    pub workload: BTreeMap<String, WorkloadRef>,
    /// Variants, by name: one difference each.
    pub variant: BTreeMap<String, Variant>,
    /// Printed rows.
    #[serde(default)]
    pub row: Vec<Row>,
    /// Printed statements.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Numbers that no source prints and that claims look at.
    #[serde(default)]
    pub probe: Vec<Probe>,
    /// Columns the posting does not have: other variants and quantities on the same workloads.
    #[serde(default)]
    pub beyond: Vec<Beyond>,
    /// Changed assumptions under which the claims are checked as well, on request.
    #[serde(default)]
    pub sensitivity: Vec<Sensitivity>,
    /// Worlds that are wrong on purpose: how many of them the table notices says what it proves.
    #[serde(default)]
    pub wrong_world: Vec<Sensitivity>,
    /// The file it was read from, when it is not embedded: messages point into it.
    #[serde(skip)]
    pub file: Option<SourceFile>,
}

/// A workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRef {
    /// Situation that the workload stands for.
    pub why: String,
    /// Models with options, joined by `+`, as after `--workload`.
    pub spec: String,
    /// Platform name, where it is not the table's.
    pub platform: Option<String>,
    /// Tasks that start later, by name, s; the run is longer by the longest of these delays.
    #[serde(default)]
    pub delay_s: BTreeMap<String, f64>,
    /// Length of one run, s, where it differs from the table's.
    pub duration_s: Option<f64>,
    /// Repetitions, where they are more than the table's: what differs much from run to run.
    pub seeds: Option<u64>,
    /// Most of them in a run that is not asked for all, where it is not the table's: what costs much.
    pub default_seeds: Option<u64>,
    /// Without the background.
    #[serde(default)]
    pub alone: bool,
}

/// One side of the comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Situation that the variant stands for.
    pub why: String,
    /// Kernel profile, where it is not the table's.
    pub profile: Option<String>,
    /// Switches set on top of the profile.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Variant that this one would equal if what was changed had no effect.
    pub base: Option<String>,
    /// Task group that everything runs in; the root, where it is not given.
    pub group: Option<String>,
    /// Models that are part of every workload of this variant, joined by `+`.
    pub with: Option<String>,
}

/// Numbers beyond the posting: one line per variant, one column per quantity, for each workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// Unique in the table.
    pub id: String,
    /// Finding that the numbers show.
    pub why: String,
    /// Workloads.
    pub workload: Vec<String>,
    /// Variants, in order; the first is the base of every change.
    pub variant: Vec<String>,
    /// Quantities of the whole run, or of frequency domains (a column for each), in order.
    pub quantity: Vec<String>,
}

/// One workload, or several whose numbers are averaged as the source did.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Workloads {
    /// One.
    One(String),
    /// The mean over several.
    MeanOf(Vec<String>),
}

impl Workloads {
    /// Names, at least one in a checked experiment.
    pub fn names(&self) -> &[String] {
        match self {
            Workloads::One(name) => std::slice::from_ref(name),
            Workloads::MeanOf(names) => names,
        }
    }
}

/// One printed number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Unique in the table.
    pub id: String,
    /// Variant the number belongs to.
    pub variant: String,
    /// Workload that produces it, or several whose mean it is.
    pub workload: Workloads,
    /// Quantity, see [`crate::measure::quantity::QUANTITIES`].
    pub quantity: String,
    /// Task or domain the quantity is read from.
    pub of: Option<String>,
    /// Variant it is compared with, seed by seed, where the source prints a change.
    pub against: Option<String>,
    /// Way of comparing; needs `against`.
    pub by: Option<Comparison>,
    /// The printed number, in the quantity's unit, or percent of a change. For display and verdict only.
    pub published: f64,
    /// Largest distance from `published` that counts as a match: `"10 %"` or an absolute number.
    pub tolerance: Tolerance,
    /// Role of the row: an input was inferred from it, or it was predicted.
    pub role: Role,
    /// Set when the model cannot produce the row: why.
    pub not_modelled: Option<String>,
    /// Number of this row in a world without any effect of the change, where it is known.
    #[serde(skip)]
    pub no_effect: Option<f64>,
}

/// Largest distance of our number from the printed one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Tolerance {
    /// In the row's unit.
    Absolute(f64),
    /// Percent of the printed number.
    Percent(f64),
}

impl TryFrom<toml::Value> for Tolerance {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::Float(v) if v >= 0.0 => Ok(Tolerance::Absolute(v)),
            toml::Value::Integer(v) if v >= 0 => Ok(Tolerance::Absolute(v as f64)),
            toml::Value::String(s) => {
                let number = s.strip_suffix('%').and_then(|n| n.trim().parse::<f64>().ok()).filter(|n| *n >= 0.0);
                number.map(Tolerance::Percent).ok_or(format!("tolerance {s:?} is neither a number nor \"<number> %\""))
            }
            other => Err(format!("tolerance {other} is neither a number nor \"<number> %\"")),
        }
    }
}

impl Tolerance {
    /// Largest distance from `published`.
    pub fn distance(self, published: f64) -> f64 {
        match self {
            Tolerance::Absolute(limit) => limit,
            Tolerance::Percent(pct) => published.abs() * pct / 100.0,
        }
    }

    /// True when `simulated` is close enough to `published`.
    pub fn accepts(self, published: f64, simulated: f64) -> bool {
        (simulated - published).abs() <= self.distance(published)
    }
}

/// A printed statement: a row, or the change between two rows, lies in a range.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Unique in the table.
    pub id: String,
    /// The statement, for people.
    pub text: String,
    /// Row the statement is about.
    pub row: String,
    /// Row it is compared with.
    pub against: Option<String>,
    /// Way of comparing; needs `against`.
    pub by: Option<Comparison>,
    /// Least value that fits the statement.
    pub min: Option<f64>,
    /// Largest value that fits the statement.
    pub max: Option<f64>,
    /// Another pair of rows, compared in the same way; the statement is about how much more the first pair differs.
    pub than: Option<Pair>,
}

/// Two rows that are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Row.
    pub row: String,
    /// Row it is compared with.
    pub against: String,
}

/// Way of comparing two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Change from `against` to `row`, percent.
    ChangePercent,
    /// `row` minus `against`.
    Difference,
}

/// A number that claims look at and no source prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Unique in the table, among its rows too.
    pub id: String,
    /// Reason why the mechanism must show it, and where that is written.
    pub why: String,
    /// Variant that is looked at.
    pub variant: String,
    /// Workload that is looked at.
    pub workload: String,
    /// One of [`super::probe::WATCHED`], or a quantity of reports.
    pub quantity: String,
    /// Task, domain or TASK/DOMAIN the quantity is read from.
    pub of: Option<String>,
}

/// One changed assumption.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// Name: appended to the table's name.
    pub name: String,
    /// Change, and why it matters.
    pub why: String,
    /// Other tick rate.
    pub hz: Option<u32>,
    /// Other rate limit.
    pub rate_limit_us: Option<u64>,
    /// Other properties of the machine.
    #[serde(default)]
    pub machine: MachineChanges,
    /// Everything runs in this task group.
    pub group: Option<String>,
    /// Every task starts at once.
    #[serde(default)]
    pub no_delay: bool,
    /// Other switches, in every variant.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Options of workloads: the text they have in the table, and the text they get.
    #[serde(default)]
    pub option: BTreeMap<String, String>,
    /// Rows over several workloads take the first alone.
    #[serde(default)]
    pub first_workload: bool,
    /// Only rows whose id contains one of these, and claims about them; empty = the whole table.
    #[serde(default)]
    pub only: Vec<String>,
}

impl Experiment {
    /// Seeds of a workload, where all are taken.
    pub(super) fn all_seeds(&self, workload: &WorkloadRef) -> u64 {
        self.seeds.max(workload.seeds.unwrap_or(0))
    }

    /// The rows whose id contains one of these, and the claims about them alone. Numbers beyond the posting are
    /// removed.
    pub fn keep_rows(&mut self, parts: &[String]) {
        self.beyond.clear();
        self.row.retain(|row| parts.iter().any(|part| row.id.contains(part.as_str())));
        self.probe.retain(|probe| parts.iter().any(|part| probe.id.contains(part.as_str())));
        let probes = self.probe.iter().map(|probe| probe.id.as_str());
        let kept: Vec<&str> = self.row.iter().map(|row| row.id.as_str()).chain(probes).collect();
        self.claim.retain(|claim| claim.rows().all(|id| kept.contains(&id)));
    }
}

impl Claim {
    /// Ids of the rows it is about.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &str> {
        let than = self.than.iter().flat_map(|than| [&than.row, &than.against]);
        std::iter::once(&self.row).chain(&self.against).chain(than).map(String::as_str)
    }
}

impl Sensitivity {
    /// The rows and claims that are looked at again. What goes beyond the posting is not repeated.
    #[must_use]
    pub fn narrow(&self, experiment: &Experiment) -> Experiment {
        let mut narrow = experiment.clone();
        narrow.beyond.clear();
        if !self.only.is_empty() {
            narrow.keep_rows(&self.only);
        }
        if self.first_workload {
            for row in &mut narrow.row {
                row.workload = Workloads::One(row.workload.names()[0].clone());
            }
        }
        narrow
    }

    /// A workload's text with the changed options.
    #[must_use]
    pub fn spec<'a>(&self, spec: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(spec);
        for (from, to) in &self.option {
            if text.contains(from.as_str()) {
                text = Cow::Owned(text.replace(from.as_str(), to));
            }
        }
        text
    }

    /// An option that no workload has, or a part that no row's id has.
    pub(crate) fn unused<'a>(&'a self, experiment: &Experiment) -> Option<&'a str> {
        let of_background = experiment.background.iter().map(|background| format!(" + {background}"));
        let specs: Vec<String> = experiment.workload.values().map(|w| w.spec.clone()).chain(of_background).collect();
        let in_specs = |from: &str| specs.iter().any(|spec| spec.contains(from));
        let in_ids = |part: &str| experiment.row.iter().any(|row| row.id.contains(part));
        let option = self.option.keys().map(String::as_str).find(|from| !in_specs(from));
        option.or_else(|| self.only.iter().map(String::as_str).find(|part| !in_ids(part)))
    }
}
