// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors as the exceptions of `python/pelton/errors.py`.

use pelton_lab::run::{Fault, LabError};
use pelton_scenario::Diagnostics;
use pelton_trace::import::ImportError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// Place of an error in an input, and what would be right.
#[derive(Default)]
struct Place {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    allowed: Option<String>,
    hint: Option<String>,
}

/// The exception of an error.
pub fn raised(py: Python<'_>, error: LabError) -> PyErr {
    let message = error.to_string();
    match error {
        LabError::Input(diagnostics) => input_error(py, message.trim_end(), place_of(&diagnostics)),
        LabError::Trace(why) if why.is_stop() => made(py, "Interrupted", &message, Place::default()),
        LabError::Trace(why) if why.io.is_some() => os_error(py, &message, &why),
        LabError::Trace(why) => input_error(py, &message, place_in_trace(*why)),
        LabError::Refused(refusal) => {
            let name = match refusal.fault {
                Fault::Request | Fault::Input => "InputError",
                Fault::Machine => "Unavailable",
            };
            made(py, name, &message, Place { hint: refusal.hint, ..Place::default() })
        }
        LabError::Experiment(_) => input_error(py, &message, Place::default()),
        LabError::Kernel(_) => made(py, "Error", &message, Place::default()),
        LabError::Sim(_) => made(py, "Misfit", &message, Place::default()),
        LabError::Interrupted { .. } | LabError::Stopped(_) => made(py, "Interrupted", &message, Place::default()),
        LabError::Output(why) => why.into(),
        LabError::Caller => made(py, "Error", &message, Place::default()),
    }
}

/// Wrong input, beside what is right.
pub fn input(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    input_error(py, message, Place { hint: hint.map(str::to_owned), ..Place::default() })
}

/// A mistake of ours.
pub fn bug(py: Python<'_>, reason: &str) -> PyErr {
    let message =
        format!("bug: {reason}\nThis is our mistake, not yours. Please report it with the call and its inputs.");
    made(py, "Bug", &message, Place::default())
}

fn input_error(py: Python<'_>, message: &str, place: Place) -> PyErr {
    made(py, "InputError", message, place)
}

fn os_error(py: Python<'_>, message: &str, why: &ImportError) -> PyErr {
    let number = why.io.as_ref().and_then(std::io::Error::raw_os_error);
    match number {
        // OSError of two arguments chooses FileNotFoundError and its like by itself.
        Some(number) => pyo3::exceptions::PyOSError::new_err((number, message.to_owned())),
        None => input_error(py, message, Place { file: name(&why.path), ..Place::default() }),
    }
}

fn name(path: &Path) -> Option<String> {
    Some(path.display().to_string())
}

fn place_in_trace(why: ImportError) -> Place {
    let (line, column) = why.line.as_deref().map(|(line, column, _)| (*line as usize, *column)).unzip();
    Place { file: name(&why.path), line, column, allowed: None, hint: why.help }
}

/// Place of the first error.
fn place_of(diagnostics: &Diagnostics) -> Place {
    let Some(first) = diagnostics.iter().next() else { return Place::default() };
    Place {
        file: Some(first.source().name().to_owned()),
        line: first.line(),
        column: first.column(),
        allowed: first.allowed_values().map(str::to_owned),
        hint: first.hint().map(str::to_owned),
    }
}

fn made(py: Python<'_>, name: &str, message: &str, place: Place) -> PyErr {
    let exception = || -> PyResult<PyErr> {
        let fields = PyDict::new(py);
        fields.set_item("file", place.file)?;
        fields.set_item("line", place.line)?;
        fields.set_item("column", place.column)?;
        fields.set_item("allowed", place.allowed)?;
        fields.set_item("hint", place.hint)?;
        let class = py.import("pelton.errors")?.getattr(name)?;
        Ok(PyErr::from_value(class.call((message,), Some(&fields))?))
    };
    exception().unwrap_or_else(|why| why)
}
