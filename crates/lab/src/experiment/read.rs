// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading of experiment files, those that are embedded and others.

use super::check::check;
use super::file::Experiment;
use super::{missing, no_effect};
use crate::run::ExperimentError;
use pelton_scenario::{Diagnostics, SourceFile, reading};
use std::path::Path;

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
