// SPDX-License-Identifier: GPL-2.0-or-later
//! The module `pelton._pelton`: requests as JSON, results as JSON, columns as Arrow tables. What people write stands in
//! `python/pelton`; nothing is computed here.

// Arguments that come from Python belong to the function.
#![allow(clippy::needless_pass_by_value)]

mod core;
mod error;
mod place;
mod subject;
mod table;
mod work;

use pelton_desk::dataset::{Folder, Opened};
use pelton_lab::compare::mail;
use pelton_lab::plan::PolicySpec;
use pelton_lab::verbs::ask;
use pelton_lab::verbs::compare::{CompareRequest, compare_all};
use pelton_lab::verbs::sweep::{self as verbs_sweep, Keep as _, Share, SweepRequest};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;

/// Remarks about a result and warnings about its inputs, in the order in which they came.
type Said = (Vec<String>, Vec<String>);

/// Answers a request, JSON, as the verb would print it: the text, notes, warnings.
#[pyfunction]
#[pyo3(signature = (verb, request, progress = None))]
fn ask_json(
    py: Python<'_>,
    verb: &str,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let (text, (notes, warnings)) = work::work(py, progress.as_ref(), |watch| ask::ask(verb, request, watch))?;
    Ok((text, notes, warnings))
}

/// Compares: the result as JSON, its answers as text for a mail, notes, warnings.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
fn compare(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, Vec<String>, Vec<String>)> {
    let (texts, (notes, warnings)) = work::work(py, progress.as_ref(), |watch| {
        let request: CompareRequest = ask::request(request)?;
        let mut all = compare_all(&request, watch)?;
        let mail = mail::table(&all, &request.only);
        request.narrow(&mut all);
        Ok((ask::value(&all)?, mail))
    })?;
    Ok((texts.0, texts.1, notes, warnings))
}

/// Makes a report page, HTML, of a request: the text, notes, warnings.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
fn report_html(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let (page, (notes, warnings)) =
        work::work(py, progress.as_ref(), |watch| pelton_report::report(&ask::request(request)?, watch))?;
    Ok((page, notes, warnings))
}

/// Runs the chunks of a sweep, JSON, that its folder does not have: counts as JSON, notes, warnings.
#[pyfunction]
#[pyo3(signature = (request, folder, jobs = 0, progress = None))]
fn sweep(
    py: Python<'_>,
    request: &str,
    folder: PathBuf,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let (swept, (notes, warnings)) = work::work(py, progress.as_ref(), |watch| {
        let request: SweepRequest = ask::request(request)?;
        let Opened { folder, grid, plans } = Folder::plan(&folder, &request, watch)?;
        ask::value(&verbs_sweep::sweep(&grid, &plans, Share { part: 0, of: 1 }, jobs, &folder, watch)?)
    })?;
    Ok((swept, notes, warnings))
}

/// Numbers of the chunks of a sweep that its folder does not have, how many chunks and points there are, warnings.
#[pyfunction]
fn sweep_missing(py: Python<'_>, request: &str, folder: PathBuf) -> PyResult<(Vec<u64>, u64, u64, Vec<String>)> {
    let ((missing, chunks, points), (_, warnings)) = work::work(py, None, |watch| {
        let request: SweepRequest = ask::request(request)?;
        let Opened { folder, grid, plans } = Folder::plan(&folder, &request, watch)?;
        let is_missing = |number: &u64| !folder.has(&grid.id(*number, plans[grid.point_of(*number)]));
        let missing: Vec<u64> = (0..grid.chunks()).filter(is_missing).collect();
        Ok((missing, grid.chunks(), grid.points()))
    })?;
    Ok((missing, chunks, points, warnings))
}

/// Runs one chunk of the sweep of a folder; the name of its file.
#[pyfunction]
fn sweep_chunk(py: Python<'_>, folder: PathBuf, number: u64) -> PyResult<PathBuf> {
    let (file, _) = work::work(py, None, |watch| {
        let Opened { folder, grid, plans } = Folder::open(&folder)?;
        let chunk = grid.chunk(number, &plans)?;
        folder.keep(&chunk.id, &grid.run(&chunk, watch)?)?;
        Ok(folder.file(&chunk.id))
    })?;
    Ok(file)
}

/// Makes a page of a result that was kept as JSON.
#[pyfunction]
fn result_html(py: Python<'_>, result: &str) -> PyResult<String> {
    let page = serde_json::from_str(result).map_err(|why| why.to_string());
    page.and_then(|value| pelton_report::of_result(&value)).map_err(|why| error::input(py, &why, None))
}

/// Nanoseconds of a time such as 15s or 250ms.
#[pyfunction]
fn time_ns(py: Python<'_>, text: &str) -> PyResult<u64> {
    pelton_lab::time::parse_time_ns(text).map_err(|why| error::input(py, &format!("{text}: {why}"), None))
}

/// The policy that a text such as `7.2,rate_limit_us=500` names, as requests have it: JSON.
#[pyfunction]
fn policy_spec(text: &str) -> String {
    serde_json::to_string(&PolicySpec::parse(text)).unwrap_or_default()
}

/// Names of the verbs that [`ask_json`] knows.
#[pyfunction]
fn verbs(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, ask::names().collect::<Vec<_>>())
}

/// The compiled part of the package.
#[pymodule]
fn _pelton(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CORE_HASH", pelton_core::CORE_HASH)?;
    module.add("PROFILES", PyTuple::new(module.py(), pelton_core::profiles())?)?;
    module.add("EVENTS", PyTuple::new(module.py(), subject::event_names())?)?;
    module.add("FRAMES", PyTuple::new(module.py(), pelton_desk::frames::names())?)?;
    module.add_class::<table::Table>()?;
    module.add_class::<subject::Subject>()?;
    module.add_function(wrap_pyfunction!(ask_json, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(report_html, module)?)?;
    module.add_function(wrap_pyfunction!(result_html, module)?)?;
    module.add_function(wrap_pyfunction!(verbs, module)?)?;
    module.add_function(wrap_pyfunction!(sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_missing, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_chunk, module)?)?;
    module.add_function(wrap_pyfunction!(time_ns, module)?)?;
    module.add_function(wrap_pyfunction!(policy_spec, module)?)?;
    module.add_function(wrap_pyfunction!(subject::run, module)?)?;
    module.add_class::<subject::Asked>()?;
    module.add_function(wrap_pyfunction!(subject::prototype, module)?)?;
    module.add_function(wrap_pyfunction!(subject::read, module)?)?;
    module.add_function(wrap_pyfunction!(table::rows, module)?)?;
    core::add(module)
}
