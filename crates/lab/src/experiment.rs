// SPDX-License-Identifier: GPL-2.0-or-later
//! Experiments as data: what a file in `scenarios/published/` may say.
//!
//! A file names one platform, workloads, variants (switches on top of a profile), and the printed rows with their
//! tolerances. Printed numbers live in `published` fields only; nothing reads those to build a run.

use crate::measure::quantity::Read;
use crate::missing;
use crate::no_effect;
use crate::place::Wrong;
use crate::plan::MachineChanges;
use crate::probe::{self, Probe};
use crate::sensitivity::Sensitivity;
use crate::table::Role;
use pelton_scenario::platform::HZ_ALLOWED;
use pelton_scenario::policy::RATE_LIMIT_US_MAX;
use pelton_scenario::{Diagnostics, SourceFile, reading};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
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
    let mut experiment: Experiment = toml::from_str(text).map_err(|e| {
        let missing: String = missing::all(text).iter().map(|table| format!("; {}", table.why())).collect();
        ExperimentError(format!("{file}: {e}{missing}"))
    })?;
    check(&experiment).map_err(|wrong| ExperimentError(format!("{file}: {}", wrong.why())))?;
    no_effect::fill(&mut experiment);
    Ok(experiment)
}

/// Reads and checks an experiment file that is not embedded.
pub fn read(path: &Path) -> Result<Experiment, Diagnostics> {
    let experiment = of_file(SourceFile::read(path)?)?;
    inside(&experiment, path.parent().unwrap_or(Path::new(""))).map(|()| experiment)
}

/// Words of a part of a workload's specification that may be paths.
fn paths(part: &str) -> [&str; 2] {
    [part, part.rsplit(':').next().unwrap_or(part)]
}

/// Refuses paths out of the table's folder: a table of others must not show what else is on this machine.
fn inside(experiment: &Experiment, folder: &Path) -> Result<(), Diagnostics> {
    let of_workloads = experiment.workload.values().flat_map(|w| [Some(&w.spec), w.platform.as_ref()]);
    let of_variants = experiment.variant.values().map(|v| v.with.as_ref());
    let named = of_workloads.chain(of_variants).chain([Some(&experiment.platform), experiment.background.as_ref()]);
    let mut all = named.flatten().flat_map(|text| text.split(['+', '=', ',']).flat_map(paths));
    let is_named = |path: &str| [".toml", ".json"].iter().any(|end| path.ends_with(end));
    let is_path = |path: &str| path.contains('/') || is_named(path);
    let is_there = |path: &str| Path::new(path).metadata().is_ok_and(|there| !there.is_dir());
    let is_file = |path: &str| path == "-" || (is_path(path) && is_there(path));
    // Where everything is below, nothing is outside.
    let here = std::env::current_dir().ok().filter(|here| here.parent().is_some());
    let is_here = |path: &str| here.as_ref().is_some_and(|here| reading::stays_in(here, Path::new(path)));
    let stays = |path: &str| reading::stays_in(folder, Path::new(path)) || (is_named(path) && is_here(path));
    let outside = |path: &&str| is_file(path) && !stays(path);
    let Some(path) = all.by_ref().map(str::trim).find(outside) else { return Ok(()) };
    let Some(file) = &experiment.file else { return Ok(()) };
    let at = file.text().find(path).unwrap_or(0);
    let error = file
        .error(at..at + path.len(), "a path that leads out of the folder of this table, and out of the present one");
    Err(error.help("put the file beside the table, or name what is built in").into())
}

/// Reads an experiment from bytes; `name` stands for the file in messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Experiment, Diagnostics> {
    of_file(SourceFile::from_bytes(name, bytes)?)
}

fn of_file(file: SourceFile) -> Result<Experiment, Diagnostics> {
    let mut experiment: Experiment = toml::from_str(file.text()).map_err(|e| misread(&file, &e))?;
    check(&experiment).map_err(|wrong| wrong.message(&file))?;
    no_effect::fill(&mut experiment);
    experiment.file = Some(file);
    Ok(experiment)
}

/// Errors in the form of a file: all keys that are missing, or the first one that is wrong.
fn misread(file: &SourceFile, error: &toml::de::Error) -> Diagnostics {
    let missing = missing::all(file.text());
    let mut found = Diagnostics::new();
    missing.iter().for_each(|table| found.push(table.message(file)));
    if missing.is_empty() {
        found.push(match error.span() {
            Some(span) => file.error(span, error.message()),
            None => file.about(error.message()),
        });
    }
    found
}

fn check(experiment: &Experiment) -> Result<(), Wrong> {
    if experiment.schema != 1 {
        let why = format!("schema {} is not known, this program reads 1", experiment.schema);
        return Err(Wrong::at(&["schema"], why));
    }
    if !(1..=SEEDS_MAX).contains(&experiment.seeds) {
        return Err(Wrong::at(&["seeds"], format!("seeds must be 1 to {SEEDS_MAX}")));
    }
    if experiment.printed_runs.is_some_and(|runs| !(1..=SEEDS_MAX).contains(&runs)) {
        return Err(Wrong::at(&["printed_runs"], format!("printed_runs must be 1 to {SEEDS_MAX}")));
    }
    check_duration(experiment.duration_s)?;
    check_hz(experiment.hz)?;
    check_machine(&experiment.machine)?;
    let of_workload = |(name, w): (&String, &WorkloadRef)| check_workload(w).map_err(|e| e.inside(&["workload", name]));
    experiment.workload.iter().try_for_each(of_workload)?;
    let of_variant =
        |(name, v): (&String, &Variant)| check_base(experiment, v).map_err(|e| e.inside(&["variant", name]));
    experiment.variant.iter().try_for_each(of_variant)?;
    let ids = check_rows(experiment)?;
    for (i, claim) in experiment.claim.iter().enumerate() {
        let name = format!("claim `{}`", claim.id);
        check_claim(&ids, claim).map_err(|wrong| wrong.within(&["claim", &i.to_string()], &name))?;
    }
    for (i, beyond) in experiment.beyond.iter().enumerate() {
        let name = format!("beyond `{}`", beyond.id);
        check_beyond(experiment, beyond).map_err(|wrong| wrong.within(&["beyond", &i.to_string()], &name))?;
    }
    check_changes(experiment, "sensitivity", &experiment.sensitivity)?;
    check_changes(experiment, "wrong_world", &experiment.wrong_world)
}

fn check_hz(hz: u32) -> Result<(), Wrong> {
    let why = || format!("hz must be one of {}", HZ_ALLOWED.map(|hz| hz.to_string()).join(", "));
    if HZ_ALLOWED.contains(&hz) { Ok(()) } else { Err(Wrong::at(&["hz"], why())) }
}

fn check_rate_limit(us: Option<u64>) -> Result<(), Wrong> {
    match us.filter(|us| *us > RATE_LIMIT_US_MAX) {
        Some(_) => Err(Wrong::at(&["rate_limit_us"], format!("rate_limit_us must be at most {RATE_LIMIT_US_MAX}"))),
        None => Ok(()),
    }
}

fn check_machine(changes: &MachineChanges) -> Result<(), Wrong> {
    match changes.impossible() {
        Some((name, most)) => Err(Wrong::at(&["machine", name], format!("{name} must be at most {most}"))),
        None => Ok(()),
    }
}

fn check_duration(seconds: f64) -> Result<(), Wrong> {
    let good = seconds > 0.0 && seconds <= DURATION_S_MAX;
    let why = || format!("duration_s must be above 0 and at most {DURATION_S_MAX}");
    if good { Ok(()) } else { Err(Wrong::at(&["duration_s"], why())) }
}

fn check_workload(workload: &WorkloadRef) -> Result<(), Wrong> {
    if workload.seeds.is_some_and(|seeds| !(1..=SEEDS_MAX).contains(&seeds)) {
        return Err(Wrong::at(&["seeds"], format!("seeds of a workload must be 1 to {SEEDS_MAX}")));
    }
    workload.duration_s.map_or(Ok(()), check_duration)?;
    match workload.delay_s.iter().find(|(_, s)| !(0.0..=DURATION_S_MAX).contains(*s)) {
        Some((task, _)) => Err(Wrong::at(&["delay_s", task], format!("delay_s must be 0 to {DURATION_S_MAX}"))),
        None => Ok(()),
    }
}

/// Rows and probes; their ids.
fn check_rows(experiment: &Experiment) -> Result<BTreeSet<&str>, Wrong> {
    let mut ids = BTreeSet::new();
    for (i, row) in experiment.row.iter().enumerate() {
        let (i, name) = (i.to_string(), format!("row `{}`", row.id));
        check_row(experiment, row).map_err(|wrong| wrong.within(&["row", &i], &name))?;
        if !ids.insert(row.id.as_str()) {
            return Err(Wrong::at(&["row", &i, "id"], format!("row id `{}` is used twice", row.id)));
        }
    }
    for (i, probe) in experiment.probe.iter().enumerate() {
        let (i, name) = (i.to_string(), format!("probe `{}`", probe.id));
        check_probe(experiment, probe).map_err(|wrong| wrong.within(&["probe", &i], &name))?;
        if !ids.insert(probe.id.as_str()) {
            return Err(Wrong::at(&["probe", &i, "id"], format!("row id `{}` is used twice", probe.id)));
        }
    }
    Ok(ids)
}

fn check_changes(experiment: &Experiment, table: &str, changes: &[Sensitivity]) -> Result<(), Wrong> {
    let unused = |(i, s): (usize, &Sensitivity)| match s.unused(experiment) {
        Some(text) => {
            let why = format!("changed assumption `{}`: nothing in the table has `{text}`", s.name);
            let key = if s.option.contains_key(text) { "option" } else { "only" };
            Err(Wrong::at(&[table, &i.to_string(), key], why))
        }
        None => Ok(()),
    };
    let rate = |(i, s): (usize, &Sensitivity)| {
        let at = [table, &i.to_string()];
        s.hz.map_or(Ok(()), check_hz)
            .and_then(|()| check_machine(&s.machine))
            .and_then(|()| check_rate_limit(s.rate_limit_us))
            .map_err(|wrong| wrong.within(&at, &format!("changed assumption `{}`", s.name)))
    };
    changes.iter().enumerate().try_for_each(rate)?;
    changes.iter().enumerate().try_for_each(unused)
}

fn check_variant(experiment: &Experiment, name: &str) -> Result<(), Wrong> {
    match experiment.variant.contains_key(name) {
        true => Ok(()),
        false => Err(Wrong::at(&["variant"], format!("no variant is called `{name}`"))),
    }
}

fn check_base(experiment: &Experiment, variant: &Variant) -> Result<(), Wrong> {
    match variant.base.as_ref().filter(|name| !experiment.variant.contains_key(*name)) {
        Some(name) => Err(Wrong::at(&["base"], format!("no variant is called `{name}`"))),
        None => Ok(()),
    }
}

fn check_probe(experiment: &Experiment, probe: &Probe) -> Result<(), Wrong> {
    check_workloads(experiment, std::slice::from_ref(&probe.workload))?;
    check_variant(experiment, &probe.variant)?;
    match probe::unit(&probe.quantity) {
        Some(_) => Ok(()),
        None => Err(Wrong::at(&["quantity"], format!("no quantity is called `{}`", probe.quantity))),
    }
}

fn check_workloads(experiment: &Experiment, names: &[String]) -> Result<(), Wrong> {
    if names.is_empty() {
        return Err(Wrong::at(&["workload"], "needs a workload"));
    }
    names.iter().try_for_each(|name| match experiment.workload.contains_key(name) {
        true => Ok(()),
        false => Err(Wrong::at(&["workload"], format!("no workload is called `{name}`"))),
    })
}

fn check_beyond(experiment: &Experiment, beyond: &Beyond) -> Result<(), Wrong> {
    check_workloads(experiment, &beyond.workload)?;
    beyond.variant.iter().try_for_each(|name| check_variant(experiment, name))?;
    let readable = |read: &Read| matches!(read, Read::Run(_) | Read::Domain(_) | Read::Share(_));
    let unknown = |name: &&String| !crate::measure::quantity::find(name).is_some_and(|q| readable(&q.read));
    match beyond.quantity.iter().find(unknown) {
        Some(name) => {
            let why = format!("no quantity of the whole run or of frequency domains is called `{name}`");
            Err(Wrong::at(&["quantity"], why))
        }
        None => Ok(()),
    }
}

fn check_row(experiment: &Experiment, row: &Row) -> Result<(), Wrong> {
    check_variant(experiment, &row.variant)?;
    check_workloads(experiment, row.workload.names())?;
    if row.against.is_some() != row.by.is_some() {
        return Err(Wrong::at(&["against"], "`against` and `by` come together"));
    }
    if let Some(name) = row.against.as_ref().filter(|name| !experiment.variant.contains_key(*name)) {
        return Err(Wrong::at(&["against"], format!("no variant is called `{name}`")));
    }
    if crate::measure::quantity::find(&row.quantity).is_none() && row.not_modelled.is_none() {
        return Err(Wrong::at(&["quantity"], format!("no quantity is called `{}`", row.quantity)));
    }
    Ok(())
}

fn check_claim(ids: &BTreeSet<&str>, claim: &Claim) -> Result<(), Wrong> {
    if let Some(row) = claim.rows().find(|row| !ids.contains(row)) {
        let key = if claim.row == row { "row" } else { "against" };
        let key = if claim.against.as_deref() == Some(row) || key == "row" { key } else { "than" };
        return Err(Wrong::at(&[key], format!("no row is called `{row}`")));
    }
    if claim.against.is_some() != claim.by.is_some() {
        let key = if claim.by.is_some() { "by" } else { "against" };
        return Err(Wrong::at(&[key], "`against` and `by` come together"));
    }
    if claim.than.is_some() && claim.by.is_none() {
        return Err(Wrong::at(&["than"], "`than` needs `against` and `by`"));
    }
    if claim.min.is_none() && claim.max.is_none() {
        return Err(Wrong::at(&["id"], "needs `min`, `max` or both"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "experiment_test.rs"]
mod tests;
