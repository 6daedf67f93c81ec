// SPDX-License-Identifier: GPL-2.0-or-later
//! Published tables with our numbers beside them.

use crate::experiment::file::Sensitivity;
use crate::experiment::reproduce::{self, Options, Seeds, simulated_ns};
use crate::experiment::table::TableResult;
use crate::experiment::worlds::{self, WorldsResult};
use crate::experiment::{self, Experiment};
use crate::run::{ExperimentError, Fault, LabError, Refusal};
use crate::watch::{Watch, watched};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Request: tables to reproduce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReproduceRequest {
    /// Table name, `all`, or an experiment file.
    pub name: String,
    /// Only rows whose id contains one of these, and claims about them; none = all.
    pub only: Vec<String>,
    /// Number of seeds; none = as many as the verdicts need, and at most what the experiment file has a default run
    /// take.
    pub seeds: Option<u64>,
    /// All seeds that the experiment file names; not with `seeds`.
    pub all_seeds: bool,
    /// Also repeat each table under each changed assumption that its experiment lists.
    pub sensitivity: bool,
    /// Also repeat it in worlds that are wrong on purpose.
    pub wrong_worlds: bool,
    /// Runs at the same time; 0 = one per CPU.
    pub jobs: usize,
}

impl Default for ReproduceRequest {
    fn default() -> Self {
        ReproduceRequest {
            name: "all".to_owned(),
            only: Vec::new(),
            seeds: None,
            all_seeds: false,
            sensitivity: false,
            wrong_worlds: false,
            jobs: 0,
        }
    }
}

impl ReproduceRequest {
    fn options(&self) -> Options {
        let seeds = match self.seeds {
            Some(n) => Seeds::Count(n),
            None if self.all_seeds => Seeds::All,
            None => Seeds::Enough,
        };
        Options { seeds, jobs: self.jobs }
    }
}

/// A part of the answer, as soon as there is one.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A table, or the rows of it that a changed assumption touches.
    Table {
        /// Experiment that is repeated.
        experiment: &'a Experiment,
        /// The changed assumption.
        changed: Option<&'a Sensitivity>,
        /// Our numbers.
        table: &'a TableResult,
    },
    /// Results of the worlds that are wrong on purpose.
    Worlds(&'a WorldsResult),
}

/// Everything that came of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproduced {
    /// The tables, each followed by those under changed assumptions.
    pub tables: Vec<TableResult>,
    /// Wrong worlds by table.
    pub worlds: Vec<WorldsResult>,
    /// Every claim holds in every table as it is; a changed assumption shows only what a result rests on.
    pub claims_hold: bool,
}

/// Repeats published tables.
///
/// # Errors
/// When there is no such table or row, or the runs were stopped.
pub fn reproduce(request: &ReproduceRequest, watch: &dyn Watch) -> Result<Reproduced, LabError> {
    reproduce_each(request, watch, &mut |_| Ok(()))
}

/// Repeats published tables and hands on each part when it is done.
///
/// # Errors
/// As [`reproduce()`], and what `seen` returns.
pub fn reproduce_each(
    request: &ReproduceRequest,
    watch: &dyn Watch,
    seen: &mut dyn FnMut(Part<'_>) -> Result<(), LabError>,
) -> Result<Reproduced, LabError> {
    if request.seeds.is_some() && request.all_seeds {
        let hint = "leave one of them out";
        return Err(LabError::refused(Fault::Request, "both `seeds` and `all_seeds`", hint));
    }
    let mut all = Reproduced { claims_hold: true, ..Reproduced::default() };
    for experiment in &chosen(request)? {
        let table = one(request, experiment, None, watch)?;
        all.claims_hold &= table.claims_hold();
        seen(Part::Table { experiment, changed: None, table: &table })?;
        if request.wrong_worlds && !experiment.wrong_world.is_empty() {
            let worlds = wrong_worlds(request, experiment, &table, watch)?;
            seen(Part::Worlds(&worlds))?;
            all.worlds.push(worlds);
        }
        all.tables.push(table);
        for changed in variations(experiment, request) {
            let table = one(request, experiment, Some(changed), watch)?;
            seen(Part::Table { experiment, changed: Some(changed), table: &table })?;
            all.tables.push(table);
        }
    }
    Ok(all)
}

/// The tables that are meant, with the rows that are meant.
fn chosen(request: &ReproduceRequest) -> Result<Vec<Experiment>, LabError> {
    let names = if request.name == "all" { experiment::names() } else { vec![request.name.as_str()] };
    let mut experiments = names.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;
    if !request.only.is_empty() {
        experiments.iter_mut().for_each(|experiment| experiment.keep_rows(&request.only));
        experiments.retain(|experiment| !experiment.row.is_empty());
        if experiments.is_empty() {
            let error = format!("no row of {} has `{}` in its id", request.name, request.only.join("` or `"));
            return Err(LabError::refused(Fault::Request, error, "`pelton reproduce NAME` prints the ids of all rows"));
        }
    }
    Ok(experiments)
}

/// A table by its name, or from a file.
fn load(name: &str) -> Result<Experiment, LabError> {
    if name.ends_with(".toml") || name.contains('/') {
        return Ok(experiment::read(Path::new(name))?);
    }
    experiment::load(name).map_err(|e| unknown(name, &e))
}

fn unknown(name: &str, error: &ExperimentError) -> LabError {
    let near = pelton_scenario::diagnostic::did_you_mean(name, experiment::names());
    let hint = near.map(|n| format!("did you mean `{n}`?"));
    LabError::Refused(Refusal { fault: Fault::Request, reason: error.to_string(), hint })
}

/// Changed assumptions that touch a row; none unless they were requested.
fn variations<'a>(experiment: &'a Experiment, request: &ReproduceRequest) -> impl Iterator<Item = &'a Sensitivity> {
    let touches = |changed: &&Sensitivity| !changed.narrow(experiment).row.is_empty();
    let asked_for = request.sensitivity;
    experiment.sensitivity.iter().filter(move |_| asked_for).filter(touches)
}

fn wrong_worlds(
    request: &ReproduceRequest,
    experiment: &Experiment,
    right: &TableResult,
    watch: &dyn Watch,
) -> Result<WorldsResult, LabError> {
    let options = request.options();
    let of_world = |world: &Sensitivity| simulated_ns(&world.narrow(experiment), options);
    let total_ns = experiment.wrong_world.iter().map(of_world).sum();
    watched(watch, total_ns, "wrong worlds", |control| worlds::judge_worlds(experiment, right, options, control))
}

fn one(
    request: &ReproduceRequest,
    experiment: &Experiment,
    changed: Option<&Sensitivity>,
    watch: &dyn Watch,
) -> Result<TableResult, LabError> {
    let options = request.options();
    let narrow = changed.map(|changed| changed.narrow(experiment));
    let total_ns = simulated_ns(narrow.as_ref().unwrap_or(experiment), options);
    watched(watch, total_ns, &experiment.table, |control| reproduce::reproduce(experiment, changed, options, control))
}
