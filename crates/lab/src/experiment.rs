// SPDX-License-Identifier: GPL-2.0-only
//! Experiments as data: what a file in `scenarios/published/` may say.
//!
//! A file names one platform, workloads, variants (switches on top of a profile), and the printed rows with their
//! tolerances. Printed numbers live in `published` fields only; nothing reads those to build a run.

use crate::probe::{self, Probe};
use crate::quantity::Read;
use crate::sensitivity::Sensitivity;
use crate::table::Role;
use pelton_scenario::{Diagnostics, SourceFile};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

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
    /// Who published the numbers, where and when.
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
    /// Switches set on top of the profile in every variant: what sets a release without a profile of its own apart.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// What the source leaves open and what we chose, by topic.
    pub assumptions: BTreeMap<String, String>,
    /// Which inputs were inferred from which rows, in words.
    pub calibration: String,
    /// Models that run beside every workload that is not `alone`, joined by `+`.
    pub background: Option<String>,
    /// What runs, by name.
    pub workload: BTreeMap<String, WorkloadRef>,
    /// What differs, by name.
    pub variant: BTreeMap<String, Variant>,
    /// Printed rows.
    pub row: Vec<Row>,
    /// Printed statements.
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
}

/// A workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRef {
    /// What it stands for.
    pub why: String,
    /// Models with options, joined by `+`, as after `--workload`.
    pub spec: String,
    /// Tasks that start later, by name, s; the run is longer by the longest of these delays.
    #[serde(default)]
    pub delay_s: BTreeMap<String, f64>,
    /// Length of one run, s, where it differs from the table's.
    pub duration_s: Option<f64>,
    /// Repetitions, where they are more than the table's: what differs much from run to run.
    pub seeds: Option<u64>,
    /// Without the background.
    #[serde(default)]
    pub alone: bool,
}

/// One side of the comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What it stands for.
    pub why: String,
    /// Kernel profile, where it is not the table's.
    pub profile: Option<String>,
    /// Switches set on top of the profile.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
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
    /// What is to be seen.
    pub why: String,
    /// Workloads.
    pub workload: Vec<String>,
    /// Variants, in order; the first is the base of every change.
    pub variant: Vec<String>,
    /// Quantities of the whole run, in order.
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
    /// Quantity, see [`crate::quantity::QUANTITIES`].
    pub quantity: String,
    /// Task or domain the quantity is read from.
    pub of: Option<String>,
    /// Variant it is compared with, seed by seed, where the source prints a change.
    pub against: Option<String>,
    /// How it is compared; needs `against`.
    pub by: Option<Comparison>,
    /// The printed number, in the quantity's unit, or percent of a change. For display and verdict only.
    pub published: f64,
    /// Largest distance from `published` that counts as a match: `"10 %"` or an absolute number.
    pub tolerance: Tolerance,
    /// Whether an input was inferred from this row.
    pub role: Role,
    /// Set when the model cannot produce the row: why.
    pub not_modelled: Option<String>,
}

/// How far our number may be from the printed one.
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
    /// True when `simulated` is close enough to `published`.
    pub fn accepts(self, published: f64, simulated: f64) -> bool {
        let distance = (simulated - published).abs();
        match self {
            Tolerance::Absolute(limit) => distance <= limit,
            Tolerance::Percent(pct) => distance <= published.abs() * pct / 100.0,
        }
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
    /// How it is compared; needs `against`.
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

/// How two rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Change from `against` to `row`, percent.
    ChangePercent,
    /// `row` minus `against`.
    Difference,
}

/// A file in `scenarios/published/` that cannot be used, or a name that is none.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentError(pub String);

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExperimentError {}

impl Experiment {
    /// The rows whose id contains one of these, and the claims about them alone. What goes beyond the posting goes.
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
    fn rows(&self) -> impl Iterator<Item = &str> {
        let than = self.than.iter().flat_map(|than| [&than.row, &than.against]);
        std::iter::once(&self.row).chain(&self.against).chain(than).map(String::as_str)
    }
}

/// Most seeds of a table.
pub const SEEDS_MAX: u64 = 10_000;
/// Longest run of a table, s.
const DURATION_S_MAX: f64 = 86_400.0;

/// File name and text of every embedded experiment.
const EXPERIMENT_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// Names of all embedded experiments, sorted.
pub fn names() -> Vec<&'static str> {
    EXPERIMENT_FILES.iter().map(|(file, _)| file.strip_suffix(".toml").unwrap_or(file)).collect()
}

/// The embedded experiment called `name`.
pub fn load(name: &str) -> Result<Experiment, ExperimentError> {
    let found = EXPERIMENT_FILES.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    let (file, text) = found.ok_or_else(|| unknown(name))?;
    parse(file, text)
}

fn unknown(name: &str) -> ExperimentError {
    ExperimentError(format!("no published table is called `{name}`; there are: {}", names().join(", ")))
}

/// Reads and checks the text of an experiment file.
pub fn parse(file: &str, text: &str) -> Result<Experiment, ExperimentError> {
    let experiment: Experiment = toml::from_str(text).map_err(|e| ExperimentError(format!("{file}: {e}")))?;
    check(&experiment).map_err(|why| ExperimentError(format!("{file}: {why}")))?;
    Ok(experiment)
}

/// Reads and checks an experiment file that is not embedded.
pub fn read(path: &Path) -> Result<Experiment, Diagnostics> {
    let file = SourceFile::read(path)?;
    let experiment: Experiment = toml::from_str(file.text()).map_err(|e| match e.span() {
        Some(span) => file.error(span, e.message()),
        None => file.about(e.message()),
    })?;
    check(&experiment).map_err(|why| file.about(why))?;
    Ok(experiment)
}

fn check(experiment: &Experiment) -> Result<(), String> {
    if experiment.schema != 1 {
        return Err(format!("schema {} is not known, this program reads 1", experiment.schema));
    }
    if !(1..=SEEDS_MAX).contains(&experiment.seeds) {
        return Err(format!("seeds must be 1 to {SEEDS_MAX}"));
    }
    if experiment.workload.values().filter_map(|w| w.seeds).any(|seeds| !(1..=SEEDS_MAX).contains(&seeds)) {
        return Err(format!("seeds of a workload must be 1 to {SEEDS_MAX}"));
    }
    let durations = experiment.workload.values().filter_map(|w| w.duration_s).chain([experiment.duration_s]);
    if durations.into_iter().any(|s| !(s > 0.0 && s <= DURATION_S_MAX)) {
        return Err(format!("duration_s must be above 0 and at most {DURATION_S_MAX}"));
    }
    if experiment.workload.values().flat_map(|w| w.delay_s.values()).any(|s| !(0.0..=DURATION_S_MAX).contains(s)) {
        return Err(format!("delay_s must be 0 to {DURATION_S_MAX}"));
    }
    let mut ids = std::collections::BTreeSet::new();
    for row in &experiment.row {
        check_row(experiment, row)?;
        if !ids.insert(row.id.as_str()) {
            return Err(format!("row id `{}` is used twice", row.id));
        }
    }
    for probe in &experiment.probe {
        check_probe(experiment, probe).map_err(|why| format!("probe `{}`: {why}", probe.id))?;
        if !ids.insert(probe.id.as_str()) {
            return Err(format!("row id `{}` is used twice", probe.id));
        }
    }
    experiment.claim.iter().try_for_each(|claim| check_claim(&ids, claim))?;
    experiment.beyond.iter().try_for_each(|beyond| {
        check_beyond(experiment, beyond).map_err(|why| format!("beyond `{}`: {why}", beyond.id))
    })?;
    let unused = |s: &Sensitivity| match s.unused(experiment) {
        Some(text) => Err(format!("changed assumption `{}`: nothing in the table has `{text}`", s.name)),
        None => Ok(()),
    };
    experiment.sensitivity.iter().chain(&experiment.wrong_world).try_for_each(unused)
}

fn check_probe(experiment: &Experiment, probe: &Probe) -> Result<(), String> {
    check_workloads(experiment, std::slice::from_ref(&probe.workload))?;
    if !experiment.variant.contains_key(&probe.variant) {
        return Err(format!("no variant is called `{}`", probe.variant));
    }
    match probe::unit(&probe.quantity) {
        Some(_) => Ok(()),
        None => Err(format!("no quantity is called `{}`", probe.quantity)),
    }
}

fn check_workloads(experiment: &Experiment, names: &[String]) -> Result<(), String> {
    if names.is_empty() {
        return Err("needs a workload".into());
    }
    names.iter().try_for_each(|name| match experiment.workload.contains_key(name) {
        true => Ok(()),
        false => Err(format!("no workload is called `{name}`")),
    })
}

fn check_beyond(experiment: &Experiment, beyond: &Beyond) -> Result<(), String> {
    check_workloads(experiment, &beyond.workload)?;
    if let Some(name) = beyond.variant.iter().find(|name| !experiment.variant.contains_key(*name)) {
        return Err(format!("no variant is called `{name}`"));
    }
    let unknown = |name: &&String| !crate::quantity::find(name).is_some_and(|q| matches!(q.read, Read::Run(_)));
    match beyond.quantity.iter().find(unknown) {
        Some(name) => Err(format!("no quantity of the whole run is called `{name}`")),
        None => Ok(()),
    }
}

fn check_row(experiment: &Experiment, row: &Row) -> Result<(), String> {
    let id = &row.id;
    if !experiment.variant.contains_key(&row.variant) {
        return Err(format!("row `{id}`: no variant is called `{}`", row.variant));
    }
    check_workloads(experiment, row.workload.names()).map_err(|why| format!("row `{id}`: {why}"))?;
    if row.against.is_some() != row.by.is_some() {
        return Err(format!("row `{id}`: `against` and `by` come together"));
    }
    if let Some(name) = row.against.as_ref().filter(|name| !experiment.variant.contains_key(*name)) {
        return Err(format!("row `{id}`: no variant is called `{name}`"));
    }
    if crate::quantity::find(&row.quantity).is_none() && row.not_modelled.is_none() {
        return Err(format!("row `{id}`: no quantity is called `{}`", row.quantity));
    }
    Ok(())
}

fn check_claim(ids: &std::collections::BTreeSet<&str>, claim: &Claim) -> Result<(), String> {
    let id = &claim.id;
    for row in claim.rows() {
        if !ids.contains(row) {
            return Err(format!("claim `{id}`: no row is called `{row}`"));
        }
    }
    if claim.against.is_some() != claim.by.is_some() {
        return Err(format!("claim `{id}`: `against` and `by` come together"));
    }
    if claim.than.is_some() && claim.by.is_none() {
        return Err(format!("claim `{id}`: `than` needs `against` and `by`"));
    }
    if claim.min.is_none() && claim.max.is_none() {
        return Err(format!("claim `{id}`: needs `min`, `max` or both"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "experiment_test.rs"]
mod tests;
