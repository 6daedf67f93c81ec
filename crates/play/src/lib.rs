// SPDX-License-Identifier: GPL-2.0-or-later
//! The simulator as a module of a page: a request in, a report page out. No files, no clock, no network.
//!
//! The face is plain: [`room`] makes room for a request, [`answer`] takes it and leaves a text, which lies at
//! [`text`]. Natively [`answered`] is the same function.

use pelton_lab::results::lists::WorkloadModel;
use pelton_lab::watch::Unwatched;
use pelton_report::{ReportRequest, report};
use pelton_scenario::bench::MODELS;
use pelton_scenario::platform;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Request that is being written, and the last answer.
static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());

/// rt-app files to begin with.
const EXAMPLES: [(&str, &str); 2] = [
    ("mp3-short.json", include_str!("../../../scenarios/workloads/rt-app/mp3-short.json")),
    ("video-long.json", include_str!("../../../scenarios/workloads/rt-app/video-long.json")),
];

/// Question of a page.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    /// Names that can be chosen.
    Catalogue,
    /// A page of runs.
    Report(Box<ReportRequest>),
}

/// Answer to a question, as JSON: the catalogue, `page`, or `error` with the message that the command line prints.
pub fn answered(question: &str) -> Value {
    match serde_json::from_str(question) {
        Ok(Question::Catalogue) => catalogue(),
        Ok(Question::Report(request)) => match report(&request, &Unwatched) {
            Ok(page) => json!({ "page": page }),
            Err(error) => json!({ "error": error.to_string() }),
        },
        Err(error) => json!({ "error": format!("this is no question: {error}") }),
    }
}

fn catalogue() -> Value {
    let boards: Vec<Value> = platform::list()
        .iter()
        .filter(|board| board.simulated)
        .map(|board| json!({ "name": board.name, "title": board.title, "cpus": board.cpus }))
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "core": pelton_core::CORE_HASH,
        "boards": boards,
        "kernels": pelton_core::profiles(),
        "models": MODELS.iter().map(WorkloadModel::from).collect::<Vec<_>>(),
        "examples": EXAMPLES,
    })
}

/// Room for a request of so many bytes; its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    let mut request = REQUEST.lock().expect("one thread");
    *request = vec![0; bytes];
    request.as_mut_ptr()
}

/// Answers the request that was written; bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let request = std::mem::take(&mut *REQUEST.lock().expect("one thread"));
    let mut answer = ANSWER.lock().expect("one thread");
    *answer = answered(&String::from_utf8_lossy(&request)).to_string();
    answer.len()
}

/// Address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    ANSWER.lock().expect("one thread").as_ptr()
}
