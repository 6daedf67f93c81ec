// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs and traces that are looked into.

use crate::table::Table;
use crate::{error, work};
use pelton_desk::frames::{self, Question};
use pelton_desk::{files, subject};
use pelton_lab::measure::summary::RunSummary;
use pelton_lab::results::described;
use pelton_lab::run::LabError;
use pelton_lab::verbs::ask;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Names of all events.
pub fn event_names() -> Vec<&'static str> {
    frames::event_names()
}

/// A run or a trace.
#[pyclass(frozen, module = "pelton._pelton")]
pub struct Subject(subject::Subject);

/// Runs a request, JSON: the run, its numbers as JSON, notes, warnings. Events of these names are kept at once; others
/// when they are asked for.
#[pyfunction]
#[pyo3(signature = (request, events, progress = None))]
pub fn run(
    py: Python<'_>,
    request: &str,
    events: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Subject, String, Vec<String>, Vec<String>)> {
    let ((subject, summary), (notes, warnings)) = work::work(py, progress.as_ref(), |watch| {
        let (subject, summary) = subject::Subject::run(&ask::request(request)?, &events, watch)?;
        Ok((subject, written(&summary)?))
    })?;
    Ok((Subject(subject), summary, notes, warnings))
}

/// Request of a CPU when its domain is evaluated.
#[pyclass(frozen, get_all, module = "pelton._pelton")]
pub struct Asked {
    cpu: u32,
    capacity: u32,
    util: u32,
    runnable: u32,
    util_est: u32,
    rt: u32,
    dl: u32,
    irq: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    nr_running: u32,
    rt_nr_running: u32,
    /// `None`: the CPU was not asked.
    iowait: Option<u32>,
    perf: Option<u32>,
}

impl Asked {
    fn of(asked: &pelton_schema::Asked) -> Asked {
        let made_of = &asked.made_of;
        Asked {
            cpu: asked.cpu,
            capacity: made_of.cap_orig,
            util: made_of.util_cfs,
            runnable: made_of.runnable_cfs,
            util_est: made_of.util_est,
            rt: made_of.util_rt,
            dl: made_of.util_dl,
            irq: made_of.util_irq,
            uclamp_min: made_of.uclamp_min,
            uclamp_max: made_of.uclamp_max,
            nr_running: made_of.cfs_nr_running,
            rt_nr_running: made_of.rt_nr_running,
            iowait: asked.terms.map(|terms| terms.iowait),
            perf: asked.terms.map(|terms| terms.perf),
        }
    }
}

/// Runs a request under a governor of the caller's, `governor(time_ns, domain, asked)`, which gives kHz, or None for
/// the kernel's own choice.
#[pyfunction]
#[pyo3(signature = (request, governor, progress = None))]
pub fn prototype(
    py: Python<'_>,
    request: &str,
    governor: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Subject, String, Vec<String>, Vec<String>)> {
    let (raised, thread) = (Mutex::new(None), AtomicU64::new(0));
    // A function that does not return is ended as Ctrl-C ends it in its own thread.
    let ends = |py: Python<'_>| {
        let _ = py;
        // SAFETY: the interpreter's lock is held; a thread that is gone is passed over.
        unsafe {
            pyo3::ffi::PyThreadState_SetAsyncExc(
                thread.load(Ordering::Relaxed) as std::ffi::c_long as _,
                pyo3::ffi::PyExc_KeyboardInterrupt,
            );
        }
    };
    let done = work::work_of(py, progress.as_ref(), &ends, |watch| {
        let mut asks = |time_ns: u64, domain: u32, asked: &[pelton_schema::Asked]| {
            if watch.stop().load(Ordering::Relaxed) {
                return None;
            }
            let asked: Vec<Asked> = asked.iter().map(Asked::of).collect();
            let chosen = Python::attach(|py| {
                if thread.load(Ordering::Relaxed) == 0 {
                    let ident: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
                    thread.store(ident, Ordering::Relaxed);
                }
                khz(governor.bind(py).call1((time_ns, domain, asked))?)
            });
            chosen.unwrap_or_else(|why: PyErr| {
                watch.stop().store(true, Ordering::Relaxed);
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                None
            })
        };
        let (subject, summary) = subject::Subject::prototype(&ask::request(request)?, &mut asks, watch)?;
        Ok((subject, written(&summary)?))
    });
    if let Some(why) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(why);
    }
    let ((subject, summary), (notes, warnings)) = done?;
    Ok((Subject(subject), summary, notes, warnings))
}

/// Frequency that a governor gave, kHz.
fn khz(given: Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if given.is_none() {
        return Ok(None);
    }
    let is_number = !given.is_instance_of::<pyo3::types::PyBool>();
    given.extract().map(Some).ok().filter(|_| is_number).ok_or_else(|| {
        let said = format!(
            "the governor gave {}, which is no frequency",
            given.repr().map_or_else(|_| "?".into(), |r| r.to_string())
        );
        error::input(given.py(), &said, Some("allowed: 0..=4294967295 kHz, or None"))
    })
}

fn written(summary: &RunSummary) -> Result<String, LabError> {
    serde_json::to_string(&described(summary)).map_err(|why| LabError::Output(why.into()))
}

/// Opens a trace.
#[pyfunction]
#[pyo3(signature = (path, format = None))]
pub fn read(py: Python<'_>, path: PathBuf, format: Option<String>) -> PyResult<Subject> {
    let opened = work::work(py, None, |watch| subject::Subject::trace(&path, format.as_deref(), watch))?;
    Ok(Subject(opened.0))
}

#[pymethods]
impl Subject {
    /// Tables of these events, and notes about damage.
    #[pyo3(signature = (names, progress = None))]
    fn events(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Table>, Vec<String>)> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (tables, (notes, _)) = work::work(py, progress.as_ref(), |watch| self.0.events(&names, watch))?;
        Ok((tables.into_iter().map(Table::of).collect::<PyResult<_>>()?, notes))
    }

    /// A table in LISA's words, and notes about damage; `question` is JSON with what it takes: cpu, task, signal.
    #[pyo3(signature = (name, question, progress = None))]
    fn frame(
        &self,
        py: Python<'_>,
        name: &str,
        question: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Vec<String>)> {
        let question: Question =
            serde_json::from_str(question).map_err(|why| error::input(py, &why.to_string(), None))?;
        let (table, (notes, _)) =
            work::work(py, progress.as_ref(), |watch| frames::frame(name, &question, &self.0, watch))?;
        Ok((Table::of(Arc::new(table))?, notes))
    }

    /// Names of tasks by their numbers, as far as they are known.
    #[getter]
    fn tasks(&self) -> BTreeMap<u32, String> {
        self.0.facts().names
    }

    /// Writes the run's log.
    #[pyo3(signature = (path, progress = None))]
    fn write_log(&self, py: Python<'_>, path: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<()> {
        work::work(py, progress.as_ref(), |watch| {
            self.0.has_log()?;
            files::beside(&path, |file| self.0.write_log(BufWriter::new(file), watch))
        })?;
        Ok(())
    }
}
